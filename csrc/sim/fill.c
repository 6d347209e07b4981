/* SPDX-License-Identifier: MIT */
/* Initial states, laid out block by block instead of written: the time is that of going through the drive once, however
 * little spare space it has. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/size.h"
#include "sim/occupancy.h"
#include "sim/set.h"
#include "sim/sim.h"
#include "sim/whole.h"

/* Host writes, in capacities, that follow where the steady distribution is not known by a formula but near to one. */
#define SETTLING 2

static const char *const names[] = {"fresh", "sequential", "random", "steady"};
#define NAMES (sizeof names / sizeof *names)

static int parse(const char *text, struct filling *out)
{
    size_t n = strcspn(text, ":");
    *out = (struct filling){.share = 1};
    while (out->how < NAMES && (strlen(names[out->how]) != n || strncmp(text, names[out->how], n)))
        out->how++;
    bool takes_share = out->how == SATED_FILL_SEQUENTIAL || out->how == SATED_FILL_RANDOM;
    if (out->how == NAMES || (text[n] && !takes_share))
        return error_set(
            SATED_PARSE, SATED_LAYER_ARGUMENT,
            "fill = %s has no meaning; it is fresh, sequential, random or steady, and the two in the middle "
            "may be of a part, such as sequential:50%%",
            text);
    return text[n] ? size_parse_share("fill", text + n + 1, &out->share) : 0;
}

/* The pages that will hold data get the units first, first + domains, ... */
struct layer {
    struct ftl *f;
    struct domain *d;
    uint64_t unit;
};

/* Takes a block off the erased ones and lets `count` of its first `pages` pages hold data, any of them. */
static void lay_block(struct layer *l, uint32_t pages, uint32_t count)
{
    struct ftl *f = l->f;
    struct domain *d = l->d;
    if (!pages)
        return;
    nand_open(f, d, d->front);
    uint32_t block = d->front->open;
    for (uint32_t at = 0, left = count; left; at++) {
        if (left < pages - at && random_below(&f->random, pages - at) >= left)
            continue;
        *ftl_word(f, f->valid, block, at) |= (uint64_t)1 << at % 64;
        f->back[block * f->np + at] = (uint32_t)l->unit;
        f->map[l->unit] = block * f->np + at + 1;
        l->unit += f->domains;
        left--;
    }
    f->count[block] = count;
    f->mapped += count;
    d->front->at = pages;
    d->free_pages -= pages;
    d->written += pages;
    if (pages == f->np) {
        d->front->open = FTL_NONE;
        gc_close(f, d, block);
    }
}

static void lay_full(struct layer *l, uint64_t count)
{
    for (; count >= l->f->np; count -= l->f->np)
        lay_block(l, l->f->np, l->f->np);
    lay_block(l, (uint32_t)count, (uint32_t)count);
}

/* All pages but the reserve are used: the first write has a victim chosen. */
static int lay_steady(struct layer *l, uint64_t count, double alpha)
{
    struct ftl *f = l->f;
    uint32_t used = spare_pages(f, l->d) - l->d->reserve, n = used / f->np, open = used % f->np;
    uint32_t fresh = open < count ? open : (uint32_t)count, *counts = malloc(n * sizeof *counts);
    int rc = counts ? occupancy_make(f, alpha, n, count - fresh, counts) : -ENOMEM;
    for (uint32_t i = 0; i < n && !rc; i++)
        lay_block(l, f->np, counts[i]);
    if (!rc)
        lay_block(l, open, fresh);
    free(counts);
    return rc;
}

/* Lets the units of a span change places. */
static void shuffle(struct ftl *f, uint64_t first, uint64_t n)
{
    uint32_t *map = f->map + first;
    for (uint64_t i = n; i > 1; i--) {
        uint64_t other = random_below(&f->random, i);
        uint32_t held = map[i - 1];
        map[i - 1] = map[other];
        map[other] = held;
    }
    for (uint64_t i = 0; i < n; i++)
        if (map[i])
            f->back[map[i] - 1] = (uint32_t)(first + i);
}

/* Where garbage collection chooses by what no formula here tells, it goes on from near there. */
static void write_on(struct ftl *f, uint64_t first, uint64_t n)
{
    uint32_t log_room = f->log_room; /* without time nothing waits to be programmed */
    f->log_room = 0;
    ftl_write_random(f, first, n, SETTLING * n);
    f->log_room = log_room;
}

/* Of `n` units that can be addressed, behind others that a namespace may leave out; none holds data now. */
static int lay(struct sim *s, const struct filling *how, uint64_t first, uint64_t n)
{
    struct ftl *f = &s->ftl;
    bool steady = how->how == SATED_FILL_STEADY;
    uint64_t filled = steady ? n : (uint64_t)((double)n * how->share);
    for (uint32_t i = 0; i < f->domains; i++) {
        struct layer l = {f, &f->domain[i], first + i};
        uint64_t count = (filled + f->domains - 1 - i) / f->domains, used = spare_pages(f, l.d) - l.d->reserve;
        if (!steady)
            lay_full(&l, count);
        else if (lay_steady(&l, count, (double)used * f->domains / (double)n))
            return error_set(-ENOMEM, SATED_LAYER_DRIVE, "sim:%s: not enough memory to fill it", s->model.name);
    }
    if (how->how != SATED_FILL_SEQUENTIAL)
        shuffle(f, first, n);
    if (steady && f->policy == GC_WINDOWED)
        write_on(f, first, n);
    for (uint64_t page = first / s->model.entries; page <= (first + n - 1) / s->model.entries; page++)
        cache_store(&s->cache, (uint32_t)page);
    return 0;
}

int sim_fill(struct sim *s, const struct filling *how)
{
    struct ftl *f = &s->ftl;
    uint64_t n = s->limit_bytes / s->model.unit_bytes;
    if (how->how >= NAMES || !(how->share >= 0 && how->share <= 1))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s: a drive is filled fresh, sequential, random or steady, and to a share from 0 to 1",
                         s->model.name);
    if (sim_outstanding(s))
        return sim_refuse_while_busy(s, "filling it");
    if (s->target.blocked || s->target.off)
        return target_refuse(s);
    if (s->set)
        return set_fill(s, how);
    uint64_t placed = f->placed, moved = f->moved;
    sim_power_to(s, s->now);
    sim_forget(s);
    f->quota = FTL_UNLIMITED;
    int rc = n && how->how != SATED_FILL_FRESH ? lay(s, how, s->base_bytes / s->model.unit_bytes, n) : 0;
    f->placed = placed;
    f->moved = moved;
    if (rc)
        sim_forget(s);
    return rc;
}

int fill_new(struct sim *s, const char *text)
{
    struct filling how;
    int rc = parse(text, &how);
    if (!rc)
        rc = sim_fill(s, &how);
    return rc ? rc : sim_save(s, NULL);
}
