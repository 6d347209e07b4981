/* SPDX-License-Identifier: MIT */
#include "load/address.h"

#include <inttypes.h>

#include "core/error.h"

int address_range_init(struct address_range *a, const struct sated_workload *w, const struct mix *m,
                       uint64_t whole_bytes, uint32_t block_bytes, uint64_t seed, const char *name)
{
    if (w->offset_bytes > whole_bytes || w->length_bytes > whole_bytes - w->offset_bytes)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "%s: offset %" PRIu64 " and length %" PRIu64 " reach beyond the %" PRIu64
                         " bytes that are accessible; choose a range inside",
                         name, w->offset_bytes, w->length_bytes, whole_bytes);
    if (w->offset_bytes % block_bytes || w->length_bytes % block_bytes)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "%s: offset %" PRIu64 " and length %" PRIu64 " have to be multiples of its block of %" PRIu32
                         " bytes",
                         name, w->offset_bytes, w->length_bytes, block_bytes);
    a->spread = spread_is_needed(w);
    a->sequential = w->access == SATED_SEQUENTIAL && !a->spread;
    a->align = m->align > block_bytes ? m->align : block_bytes;
    a->block = block_bytes;
    a->first = (w->offset_bytes + a->align - 1) / a->align * a->align;
    a->end = w->length_bytes ? w->offset_bytes + w->length_bytes : whole_bytes;
    for (uint32_t i = 0; i < m->n; i++) {
        if (a->first + m->bytes[i] > a->end)
            return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                             "%s: the range of %" PRIu64 " bytes at %" PRIu64 " is too small for one I/O of %" PRIu32
                             " bytes; use a larger one or a smaller I/O size",
                             name, a->end - w->offset_bytes, w->offset_bytes, m->bytes[i]);
        a->places[i] = (a->end - a->first - m->bytes[i]) / a->align + 1;
    }
    if (!a->spread)
        return 0;
    struct spread_range r = {a->first, a->end, a->align, m->max_bytes, w->n_sizes, name};
    return spread_init(&a->how, w, &r, seed);
}

void address_range_free(struct address_range *a)
{
    if (a->spread)
        spread_free(&a->how);
}

void address_init(struct address *t, const struct address_range *a, uint32_t thread, uint32_t threads)
{
    uint64_t skip = (uint64_t)((unsigned __int128)(a->end - a->first) * thread / threads);
    t->next = a->first + skip / a->align * a->align;
    if (a->spread)
        spread_thread_init(&t->spread, &a->how, thread);
}
