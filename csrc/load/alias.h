/* SPDX-License-Identifier: MIT */
/* Drawing one of n things by their shares with one look-up (Walker 1977, built as Vose 1991 does). */
#ifndef SATED_LOAD_ALIAS_H
#define SATED_LOAD_ALIAS_H

#include <stdint.h>

/* Makes the table: below keep[i], of 2^32, column i stands for itself, else for other[i].
 * @param left the shares, which sum to 1; used up. @param room for n numbers */
void alias_make(double *left, uint32_t *room, uint32_t n, uint32_t *keep, uint32_t *other);

#endif
