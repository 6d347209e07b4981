/* SPDX-License-Identifier: MIT */
/* How many valid pages each block holds where uniform random writes have gone on for so long that nothing changes any
 * more: the stationary distributions behind the closed forms of write amplification. */
#ifndef SATED_SIM_OCCUPANCY_H
#define SATED_SIM_OCCUPANCY_H

#include <stdint.h>

#include "sim/ftl.h"

/* Of n closed blocks, the oldest first where age matters. The sum is `total` exactly, which is at most n x np.
 * @param alpha T/U; @param out n counts. Return: 0 or -ENOMEM. */
int occupancy_make(const struct ftl *f, double alpha, uint32_t n, uint64_t total, uint32_t *out);

#endif
