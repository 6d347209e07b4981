/* SPDX-License-Identifier: MIT */
/* The host's side of the translation layer: writing and dropping mapping units. */
#include "sim/ftl.h"

/* In turn, but none that has its part of the stripe already (so that all dies get the same number of programs), nor one
 * that could not make room for more. */
static struct domain *domain_next(struct ftl *f)
{
    if (f->domains == 1)
        return f->domain;
    struct domain *freest = f->domain;
    for (uint32_t i = 0; i < f->domains; i++) {
        struct domain *d = &f->domain[f->turn];
        f->turn = f->turn + 1 == f->domains ? 0 : f->turn + 1;
        if (d->placed < f->quota &&
            (d->free_pages > f->least_free + f->np / 2 || d->victim != FTL_NONE || gc_can_gain(f, d)))
            return d;
        if (d->free_pages > freest->free_pages)
            freest = d;
    }
    return freest;
}

/* A unit that had lost its data has some again, or is not to have any. */
static void found(struct ftl *f, uint32_t old)
{
    if (old == FTL_LOST && !--f->lost)
        f->sick &= ~(uint64_t)SICK_LOST;
}

void ftl_write(struct ftl *f, uint32_t unit)
{
    struct domain *d = domain_next(f);
    uint32_t old = ftl_page(f, unit);
    if (old >= FTL_LOST) {
        f->mapped++;
        found(f, old);
    } else {
        nand_drop(f, old);
    }
    nand_place(f, d, unit, old >= FTL_LOST ? FTL_FRESH : 0);
    gc_share(f, d);
}

void ftl_write_random(struct ftl *f, uint64_t first, uint64_t n, uint64_t writes)
{
    enum {
        ENTRY = 40,
        PAGE = 12,
        ROOM = 64
    }; /* writes ahead: the map's entry is asked for, and with that the old page */
    uint32_t next[ROOM];
    for (uint32_t i = 0; i < ROOM; i++)
        next[i] = (uint32_t)(first + random_below(&f->random, n));
    for (uint64_t i = 0; i < writes; i++) {
        ftl_expect(f, next[(i + ENTRY) % ROOM]);
        ftl_ask(f, next[(i + PAGE) % ROOM]);
        ftl_write(f, next[i % ROOM]);
        next[i % ROOM] = (uint32_t)(first + random_below(&f->random, n));
    }
}

bool ftl_trim(struct ftl *f, uint32_t unit)
{
    uint32_t old = ftl_page(f, unit);
    if (old == FTL_NONE)
        return false;
    if (old == FTL_LOST) {
        found(f, old);
    } else {
        nand_drop(f, old);
        f->mapped--;
    }
    f->map[unit] = 0;
    return true;
}

static void count_missing(struct ftl *f)
{
    f->missing = 0;
    for (uint32_t n = 0; n < f->domains; n++)
        f->missing += f->domain[n].placed < f->quota;
}

void ftl_stripe_begin(struct ftl *f, uint32_t quota)
{
    f->quota = quota;
    count_missing(f);
}

void ftl_stripe_end(struct ftl *f)
{
    for (uint32_t n = 0; n < f->domains; n++) {
        struct domain *d = &f->domain[n];
        d->placed -= d->placed < f->quota ? d->placed : f->quota;
        d->moved = 0;
    }
    count_missing(f);
}
