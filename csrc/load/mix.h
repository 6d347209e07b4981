/* SPDX-License-Identifier: MIT */
/* The classes of a workload (operation x size) and drawing one of them for each I/O. */
#ifndef SATED_LOAD_MIX_H
#define SATED_LOAD_MIX_H

#include <sated/workload.h>

#include "core/random.h"

#define MIX_CLASSES (4 * SATED_SIZES_MAX + 1) /* a flush has no size */
#define MIX_COLUMNS (8 * SATED_SIZES_MAX)     /* a power of two */

struct mix {
    uint32_t n;
    uint32_t align;              /* the greatest power of two that divides all sizes; 0 where nothing has a size */
    uint32_t max_bytes;          /* of an I/O */
    uint32_t write_bytes;        /* of the greatest write, 0 = none */
    uint32_t op[MIX_CLASSES];    /* enum sated_op; ordered by operation, then as the workload has its sizes */
    uint32_t bytes[MIX_CLASSES]; /* 0 of a flush */
    double share[MIX_CLASSES];   /* sum 1 */
    /* Alias table of a power of two of columns, those beyond n with no share. */
    uint32_t mask, keep[MIX_COLUMNS], other[MIX_COLUMNS];
};

/* Only classes with a share are in it. @param w checked before. */
void mix_init(struct mix *m, const struct sated_workload *w);

/* @param u 32 random bits: the lowest are the column, the highest decide within it */
static inline uint32_t mix_choose(const struct mix *m, uint32_t u)
{
    uint32_t column = u & m->mask;
    return u < m->keep[column] ? column : m->other[column];
}

/* One draw, and none where there is no choice. */
static inline uint32_t mix_draw(const struct mix *m, struct random *r)
{
    return m->n == 1 ? 0 : mix_choose(m, (uint32_t)(random_next(r) >> 32));
}

#endif
