/* SPDX-License-Identifier: MIT */
/* A cache of blocks that hold one bit in each cell: quick to program, and a fraction of the data. The host's writes go
 * there first; what is still valid when its turn comes, or when the drive is idle, is folded.
 *
 * A page has the place in the map where it will lie when it is folded, so that the map knows of no cache. With b bits to a
 * cell a page takes the room of b in the cache: n pages of the free ones beyond the reserve may be in it as long as
 * b - 1 free pages are left for each. Wear of the cache itself is not counted. */
#include "sim/ftl.h"

#define WHOLE_SHARE 1000000000ULL

/* Pages that may be in it now. */
static uint32_t limit(const struct ftl *f)
{
    const struct slc *c = &f->slc;
    uint64_t free = 0, most = c->fixed;
    for (const struct domain *d = f->domain; c->share && d < f->domain + f->domains; d++)
        free += d->free_pages > d->reserve ? d->free_pages - d->reserve : 0;
    most += (uint64_t)((unsigned __int128)free * c->share / WHOLE_SHARE / (c->bits - 1));
    return (uint32_t)(most < c->room ? most : c->room);
}

/* Takes the oldest page out. Return: whether its data is still there to be folded. */
static bool take_oldest(struct ftl *f)
{
    struct slc *c = &f->slc;
    uint32_t page = c->ring[c->tail++ & (c->room - 1)], block = ftl_block(f, page), at = page - block * f->np;
    uint64_t bit = (uint64_t)1 << at % 64, *in = ftl_word(f, c->in, block, at);
    bool live = *in & bit && *ftl_word(f, f->valid, block, at) & bit;
    *in &= ~bit;
    c->folded += live;
    return live;
}

uint32_t slc_fold(struct ftl *f, uint32_t most)
{
    uint32_t n = 0;
    while (n < most && slc_held(&f->slc))
        n += take_oldest(f);
    return n;
}

void slc_take(struct ftl *f, struct slc_stripe *out)
{
    struct slc *c = &f->slc;
    uint32_t most = limit(f);
    *out = (struct slc_stripe){.whole = (uint64_t)f->quota * f->domains};
    if (f->log_at - c->seen > f->log_room) /* a burst of relocations */
        c->seen = f->log_at - f->log_room;
    for (; c->seen != f->log_at; c->seen++) {
        uint32_t entry = f->log[c->seen & (f->log_room - 1)], page = entry & ~FTL_MARKS, block = ftl_block(f, page);
        uint32_t at = page - block * f->np;
        uint64_t bit = (uint64_t)1 << at % 64, *in = ftl_word(f, c->in, block, at);
        if (entry & FTL_MOVED || !most) {
            *in &= ~bit;
            out->slow++;
            continue;
        }
        while (slc_held(c) >= most)
            out->folded += take_oldest(f);
        c->ring[c->head++ & (c->room - 1)] = page;
        *in |= bit;
        c->written++;
        out->quick++;
    }
}
