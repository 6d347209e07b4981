/* SPDX-License-Identifier: MIT */
/* Page-aligned memory that goes to drives. */
#ifndef SATED_CORE_BUFFER_H
#define SATED_CORE_BUFFER_H

#include <stddef.h>

/* Zeroed memory, page-aligned, rounded up to a multiple of 4 KiB, in huge pages where it is large enough. NULL: no
 * memory. Freed by buffer_free with the same size. */
void *buffer_new(size_t bytes);
void buffer_free(void *p, size_t bytes);

#endif
