/* SPDX-License-Identifier: MIT */
#include "load/mix.h"

#include <string.h>

#include "load/alias.h"

void mix_init(struct mix *m, const struct sated_workload *w)
{
    double ops = 0, sizes = 0, left[MIX_COLUMNS] = {0};
    uint32_t bits = 0, room[MIX_COLUMNS], columns = 1;
    memset(m, 0, sizeof *m);
    for (uint32_t op = 0; op < SATED_OPS; op++)
        ops += w->share[op];
    for (uint32_t i = 0; i < w->n_sizes; i++)
        sizes += w->size_share[i];
    for (uint32_t op = 0; op < SATED_FLUSH; op++) {
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
    if (w->share[SATED_FLUSH] > 0) {
        m->op[m->n] = SATED_FLUSH;
        m->share[m->n++] = w->share[SATED_FLUSH] / ops;
    }
    m->align = bits & -bits;
    while (columns < m->n)
        columns *= 2;
    m->mask = columns - 1;
    memcpy(left, m->share, sizeof m->share);
    alias_make(left, room, columns, m->keep, m->other);
}
