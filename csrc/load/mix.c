/* SPDX-License-Identifier: MIT */
#include "load/mix.h"

#include <string.h>

/* Vose's construction: a column that has less than its 1/n is filled up by one that has more. What rounding leaves over
 * in the end stands for itself. */
static void alias(struct mix *m)
{
    double left[MIX_CLASSES];
    uint32_t small[MIX_CLASSES], large[MIX_CLASSES], n_small = 0, n_large = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        left[i] = m->share[i] * m->n;
        m->keep[i] = UINT32_MAX;
        m->other[i] = i;
        if (left[i] < 1)
            small[n_small++] = i;
        else
            large[n_large++] = i;
    }
    while (n_small && n_large) {
        uint32_t s = small[--n_small], l = large[n_large - 1];
        m->keep[s] = (uint32_t)(left[s] * 4294967296.0);
        m->other[s] = l;
        left[l] -= 1 - left[s];
        if (left[l] < 1) {
            n_large--;
            small[n_small++] = l;
        }
    }
}

void mix_init(struct mix *m, const struct sated_workload *w)
{
    double ops = 0, sizes = 0;
    uint32_t bits = 0;
    memset(m, 0, sizeof *m);
    for (uint32_t op = 0; op < 3; op++)
        ops += w->share[op];
    for (uint32_t i = 0; i < w->n_sizes; i++)
        sizes += w->size_share[i];
    for (uint32_t op = 0; op < 3; op++) {
        for (uint32_t i = 0; i < w->n_sizes; i++) {
            double share = w->share[op] / ops * (w->size_share[i] / sizes);
            if (share <= 0)
                continue;
            m->op[m->n] = op;
            m->bytes[m->n] = w->size_bytes[i];
            m->share[m->n++] = share;
            bits |= w->size_bytes[i];
            if (w->size_bytes[i] > m->max_bytes)
                m->max_bytes = w->size_bytes[i];
            if (op == SATED_WRITE && w->size_bytes[i] > m->write_bytes)
                m->write_bytes = w->size_bytes[i];
        }
    }
    m->align = bits & -bits;
    alias(m);
}
