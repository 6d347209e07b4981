/* SPDX-License-Identifier: MIT */
/* What a drive does when it is left alone. Garbage collection refills the free blocks, one stripe after the other, so
 * that a command that comes meanwhile waits for one stripe at most, and no more is done than the time allows. */
#include "sim/flaw.h"

/* The domain whose relocations the stripe still has room for, the emptiest first; NULL: there is none. */
static struct domain *domain_in_need(struct ftl *f, const struct model *m)
{
    struct domain *need = NULL;
    for (struct domain *d = f->domain; d < f->domain + f->domains; d++)
        if (d->placed < f->quota && (d->victim != FTL_NONE || (d->free_pages < m->idle_pages && gc_can_gain(f, d))) &&
            (!need || d->free_pages < need->free_pages))
            need = d;
    return need;
}

static bool collect(struct sim *s)
{
    struct domain *d = domain_in_need(&s->ftl, &s->model);
    return d && gc_step(&s->ftl, d, (uint32_t)s->model.idle_pages);
}

/* Fills one stripe with relocations, one with each step, and programs it. Return: whether there was one to be done. */
static bool fill_stripe(struct sim *s, int64_t at, bool (*step)(struct sim *s))
{
    bool any = false;
    timing_gather(&s->timing, &s->model, &s->ftl, false);
    while (s->ftl.missing && step(s))
        any = true;
    if (any)
        timing_close(&s->timing, &s->model, &s->ftl, at);
    return any;
}

static bool rebuild_stripe(struct sim *s, int64_t at)
{
    return fill_stripe(s, at, flaw_rebuild);
}

static bool collect_stripe(struct sim *s, int64_t at)
{
    return fill_stripe(s, at, collect);
}

static bool fold_stripe(struct sim *s, int64_t at)
{
    return timing_fold(&s->timing, &s->model, &s->ftl, at);
}

/* One stripe after the other, as long as there is time to begin one. */
static void work(struct sim *s, uint64_t after_ns, int64_t until, bool (*stripe)(struct sim *s, int64_t at))
{
    int64_t from = s->last_command + (int64_t)after_ns;
    from = from > s->now ? from : s->now; /* what there is to do may have come up only now */
    if (from >= until)
        return;
    sim_power_to(s, from);
    for (;;) {
        int64_t at = s->timing.busy > from ? s->timing.busy : from;
        if (at >= until)
            return;
        timing_settle(&s->timing, &s->model, &s->ftl, at);
        if (!stripe(s, at))
            return;
    }
}

void idle_until(struct sim *s, int64_t t_ns)
{
    const struct model *m = &s->model;
    if (sim_outstanding(s) || s->target.off)
        return;
    if (!m->timing) {
        while (flaw_rebuild(s))
            ;
        return;
    }
    if (s->ftl.sick & SICK_REBUILD)
        work(s, 0, t_ns, rebuild_stripe);
    if (slc_held(&s->ftl.slc))
        work(s, m->slc_idle_ns, t_ns, fold_stripe);
    if (m->idle_gc_ns)
        work(s, m->idle_gc_ns, t_ns, collect_stripe);
}
