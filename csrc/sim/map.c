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
        if (d->placed < f->quota && (d->free_pages > 2 * f->np || d->victim != FTL_NONE || gc_can_gain(f, d)))
            return d;
        if (d->free_pages > freest->free_pages)
            freest = d;
    }
    return freest;
}

void ftl_write(struct ftl *f, uint32_t unit)
{
    struct domain *d = domain_next(f);
    uint32_t old = ftl_page(f, unit);
    if (old == FTL_NONE)
        f->mapped++;
    else
        nand_drop(f, old);
    nand_place(f, d, unit, old == FTL_NONE ? FTL_FRESH : 0);
    gc_share(f, d);
}

bool ftl_trim(struct ftl *f, uint32_t unit)
{
    uint32_t old = ftl_page(f, unit);
    if (old == FTL_NONE)
        return false;
    nand_drop(f, old);
    f->map[unit] = 0;
    f->mapped--;
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
