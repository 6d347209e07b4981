/* SPDX-License-Identifier: MIT */
/* The classes of a workload (operation x size) and drawing one of them for each I/O. */
#ifndef SATED_LOAD_MIX_H
#define SATED_LOAD_MIX_H

#include <sated/workload.h>

#include "core/random.h"

#define MIX_CLASSES (3 * SATED_SIZES_MAX)

struct mix {
    uint32_t n;
    uint32_t align;           /* the greatest power of two that divides all sizes */
    uint32_t max_bytes;       /* of an I/O */
    uint32_t write_bytes;     /* of the greatest write, 0 = none */
    uint32_t op[MIX_CLASSES]; /* enum sated_op; ordered by operation, then as the workload has its sizes */
    uint32_t bytes[MIX_CLASSES];
    double share[MIX_CLASSES];   /* sum 1 */
    uint32_t keep[MIX_CLASSES];  /* alias table (Vose 1991): below it, of 2^32, a column stands for itself */
    uint32_t other[MIX_CLASSES]; /* else for this class */
};

/* Only classes with a share are in it. @param w checked before. */
void mix_init(struct mix *m, const struct sated_workload *w);

/* One draw, and none where there is no choice. */
static inline uint32_t mix_draw(const struct mix *m, struct random *r)
{
    if (m->n == 1)
        return 0;
    uint64_t u = random_next(r);
    uint32_t column = (uint32_t)((u >> 32) * m->n >> 32);
    return (uint32_t)u < m->keep[column] ? column : m->other[column];
}

#endif
