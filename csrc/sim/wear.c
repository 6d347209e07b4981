/* SPDX-License-Identifier: MIT */
/* Wear levelling. Dynamic: of the erased blocks the least worn one is filled next. Static: moreover, a block that lags
 * behind the most worn one by more than a threshold is emptied although it may be full, and its data, which has not
 * changed for long, goes to a block of its own, the most worn one. */
#include "sim/ftl.h"

/* Erased blocks that are looked at: all of them, but on a drive that is mostly empty. */
#define ERASED_SEEN 64

/* Of each so many victims one may be chosen for its wear: what levelling can add to the programs is bounded by that. */
#define EVERY 8

/* Blocks that are looked at for each of those; so the whole drive is, in the time of not many erases of each block. */
#define CLOSED_SEEN 64

uint32_t wear_open(struct ftl *f, const struct domain *d, uint32_t frontier, uint32_t *before)
{
    bool most = f->levelling == LEVELLING_STATIC && frontier == f->frontiers - 1;
    uint32_t best = d->free_first, last = FTL_NONE;
    *before = FTL_NONE;
    for (uint32_t i = 0, block = best; i < ERASED_SEEN && block != FTL_NONE; i++, block = f->next[block]) {
        if (most ? f->wear[block] > f->wear[best] : f->wear[block] < f->wear[best]) {
            best = block;
            *before = last;
        }
        last = block;
    }
    return best;
}

uint32_t wear_victim(struct ftl *f, struct domain *d)
{
    if (++d->since_levelled < EVERY)
        return FTL_NONE;
    uint32_t first = (uint32_t)(d - f->domain) * f->per_domain;
    for (uint32_t i = 0; i < CLOSED_SEEN; i++) {
        uint32_t block = first + d->cursor;
        d->cursor = d->cursor + 1 == f->per_domain ? 0 : d->cursor + 1;
        if (f->state[block] == BLOCK_CLOSED && gc_can_take(f, block) && d->worn - f->wear[block] > f->threshold) {
            d->since_levelled = 0;
            return block;
        }
    }
    d->since_levelled = EVERY;
    return FTL_NONE;
}
