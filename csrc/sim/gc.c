/* SPDX-License-Identifier: MIT */
/* Which block is emptied next, and how the work is spread over the host's writes. */
#include "sim/ftl.h"

/* How many pages ahead of the one being moved the map's entry is asked for. */
#define AHEAD 8

static uint32_t *buckets(const struct ftl *f, const struct domain *d)
{
    return &f->bucket[(uint64_t)(d - f->domain) * (f->np + 1)];
}

static uint32_t *closed_of(const struct ftl *f, const struct domain *d)
{
    return &f->closed[(uint64_t)(d - f->domain) * f->per_domain];
}

static void bucket_add(struct ftl *f, struct domain *d, uint32_t block)
{
    uint32_t *first = &buckets(f, d)[f->count[block]];
    f->next[block] = *first;
    f->before[block] = FTL_NONE;
    if (*first != FTL_NONE)
        f->before[*first] = block;
    *first = block;
    if (f->count[block] < d->least)
        d->least = f->count[block];
}

static void bucket_remove(struct ftl *f, struct domain *d, uint32_t block, uint32_t count)
{
    uint32_t next = f->next[block], before = f->before[block];
    if (before == FTL_NONE)
        buckets(f, d)[count] = next;
    else
        f->next[before] = next;
    if (next != FTL_NONE)
        f->before[next] = before;
}

static void queue_add(struct ftl *f, struct domain *d, uint32_t block)
{
    f->next[block] = FTL_NONE;
    if (d->newest == FTL_NONE)
        d->oldest = block;
    else
        f->next[d->newest] = block;
    d->newest = block;
}

static uint32_t queue_take_oldest(struct ftl *f, struct domain *d)
{
    uint32_t block = d->oldest;
    d->oldest = f->next[block];
    if (d->oldest == FTL_NONE)
        d->newest = FTL_NONE;
    return block;
}

/* Hu et al. 2009, windowed greedy: only the oldest blocks, `choices` of them, are chosen from. */
static void window_add(struct ftl *f, struct domain *d, uint32_t block)
{
    f->place[block] = 1;
    d->window++;
    bucket_add(f, d, block);
}

void gc_close(struct ftl *f, struct domain *d, uint32_t block)
{
    f->state[block] = BLOCK_CLOSED;
    d->closed++;
    d->closed_valid += f->count[block];
    switch (f->policy) {
    case GC_GREEDY:
        if (f->count[block] <= d->brim)
            bucket_add(f, d, block);
        break;
    case GC_FIFO: queue_add(f, d, block); break;
    case GC_WINDOWED:
        f->place[block] = 0;
        if (d->window < f->choices)
            window_add(f, d, block);
        else
            queue_add(f, d, block);
        break;
    default:
        f->closed_at[block] = d->written;
        f->place[block] = d->closed - 1;
        closed_of(f, d)[d->closed - 1] = block;
    }
}

void gc_sink(struct ftl *f, struct domain *d, uint32_t block)
{
    if (f->policy != GC_GREEDY && (f->policy != GC_WINDOWED || !f->place[block]))
        return;
    if (f->count[block] < d->brim)
        bucket_remove(f, d, block, f->count[block] + 1);
    bucket_add(f, d, block);
}

/* Greedy: most blocks are far from being chosen, and sorting them again for each page that they lose is most of the work.
 * So only the least full are kept sorted, an eighth of the blocks when they were looked through, which is done again when
 * the last of them has been chosen. */
static void sort_least_full(struct ftl *f, struct domain *d)
{
    uint32_t *bucket = buckets(f, d), first = (uint32_t)(d - f->domain) * f->per_domain, end = first + f->per_domain;
    uint32_t sorted = 0, brim = 0;
    for (uint32_t block = first; block < end; block++) /* they are all empty, which is -1 */
        if (f->state[block] == BLOCK_CLOSED)
            bucket[f->count[block]]++;
    for (brim = 0; (sorted += bucket[brim] + 1) <= d->closed / 8; brim++)
        ;
    for (uint32_t count = 0; count <= f->np; count++)
        bucket[count] = FTL_NONE;
    d->brim = brim;
    d->least = f->np;
    for (uint32_t block = first; block < end; block++)
        if (f->state[block] == BLOCK_CLOSED && f->count[block] <= brim)
            bucket_add(f, d, block);
}

static uint32_t fewest_of_some(struct ftl *f, const struct domain *d)
{
    const uint32_t *closed = closed_of(f, d);
    uint32_t best = closed[random_below(&f->random, d->closed)];
    for (uint32_t i = 1; i < f->choices; i++) {
        uint32_t other = closed[random_below(&f->random, d->closed)];
        if (f->count[other] < f->count[best])
            best = other;
    }
    return best;
}

/* Rosenblum and Ousterhout 1992: the greatest (1 - u) x age / (1 + u); compared as products, without a division. */
static uint32_t best_benefit(const struct ftl *f, const struct domain *d)
{
    const uint32_t *closed = closed_of(f, d);
    uint32_t best = closed[0];
    unsigned __int128 gain = 0, cost = 1;
    for (uint32_t i = 0; i < d->closed; i++) {
        uint32_t block = closed[i], valid = f->count[block];
        unsigned __int128 g = (unsigned __int128)(f->np - valid) * (d->written - f->closed_at[block]),
                          c = f->np + valid;
        if (g * cost > gain * c) {
            best = block;
            gain = g;
            cost = c;
        }
    }
    return best;
}

bool gc_can_gain(const struct ftl *f, const struct domain *d)
{
    return d->closed_valid < (uint64_t)d->closed * f->np;
}

static uint32_t fewest(struct ftl *f, struct domain *d)
{
    const uint32_t *bucket = buckets(f, d);
    while (d->least <= d->brim && bucket[d->least] == FTL_NONE)
        d->least++;
    if (d->least > d->brim)
        sort_least_full(f, d);
    return bucket[d->least];
}

bool gc_can_take(const struct ftl *f, uint32_t block)
{
    /* A queue is gone through anyway, and so nothing in it lags behind for long. */
    return f->policy != GC_FIFO && (f->policy != GC_WINDOWED || f->place[block]);
}

/* The next victim among the closed blocks, of which one at least has a page to give back. */
static uint32_t choose(struct ftl *f, struct domain *d)
{
    switch (f->policy) {
    case GC_GREEDY:
    case GC_WINDOWED: return fewest(f, d);
    case GC_FIFO: return d->oldest;
    case GC_COST_BENEFIT: return best_benefit(f, d);
    default: return fewest_of_some(f, d);
    }
}

/* Takes a victim out of the closed blocks. */
static void take_out(struct ftl *f, struct domain *d, uint32_t block)
{
    uint32_t *closed = closed_of(f, d);
    switch (f->policy) {
    case GC_GREEDY:
        if (f->count[block] <= d->brim)
            bucket_remove(f, d, block, f->count[block]);
        break;
    case GC_FIFO: queue_take_oldest(f, d); break;
    case GC_WINDOWED:
        bucket_remove(f, d, block, f->count[block]);
        d->window--;
        if (d->oldest != FTL_NONE)
            window_add(f, d, queue_take_oldest(f, d));
        break;
    default: closed[f->place[block]] = closed[d->closed - 1]; f->place[closed[d->closed - 1]] = f->place[block];
    }
    d->closed--;
    d->closed_valid -= f->count[block];
    f->state[block] = BLOCK_VICTIM;
}

/* The victim's v valid pages are moved while the host writes what the block will give back, np - v, less what the free
 * pages have fallen behind: then they are back where they were when the block is erased. */
static void begin(struct ftl *f, struct domain *d)
{
    uint32_t behind = d->free_pages < d->reserve ? d->reserve - d->free_pages : 0, lagging = FTL_NONE;
    if (f->levelling == LEVELLING_STATIC)
        lagging = wear_victim(f, d);
    d->levels = lagging != FTL_NONE;
    d->victim = d->levels ? lagging : choose(f, d);
    take_out(f, d, d->victim);
    if (f->streams > 2)
        streams_chosen(f, d->victim);
    if (f->sick & SICK_REBUILD)
        parity_victim(f, d);
    d->victim_at = 0;
    d->debt = 0;
    d->step = f->count[d->victim];
    d->pace = f->np - d->step;
    d->pace -= f->whole || behind > d->pace ? d->pace : behind;
}

/* Moves the victim's next valid page, and erases the block behind the last one. */
static inline __attribute__((always_inline)) void move_one(struct ftl *f, struct domain *d)
{
    uint32_t block = d->victim;
    if (f->count[block]) {
        uint32_t at = d->victim_at;
        uint64_t left = *ftl_word(f, f->valid, block, at) >> at % 64;
        while (!left) {
            at = (at / 64 + 1) * 64;
            left = *ftl_word(f, f->valid, block, at);
        }
        at += (uint32_t)__builtin_ctzll(left);
        uint32_t page = block * f->np + at;
        __builtin_prefetch(&f->map[f->back[page + (at + AHEAD < f->np ? AHEAD : 0)]], 1);
        *ftl_word(f, f->valid, block, at) &= ~((uint64_t)1 << at % 64);
        d->victim_at = at;
        nand_place(f, d, f->back[page], FTL_MOVED);
        f->moved++;
        d->moved++;
        if (--f->count[block])
            return;
    }
    nand_erase(f, d, block);
    d->victim = FTL_NONE;
}

void gc_share(struct ftl *f, struct domain *d)
{
    for (;;) {
        if (d->victim == FTL_NONE) {
            if (d->free_pages > d->reserve || !gc_can_gain(f, d))
                return;
            begin(f, d);
        }
        d->debt += d->step;
        while (d->victim != FTL_NONE && (d->debt >= d->pace || d->free_pages < f->least_free)) {
            d->debt -= d->debt < d->pace ? d->debt : d->pace;
            move_one(f, d);
        }
        if (d->victim != FTL_NONE || d->step < f->np)
            return;
        /* A block that was full gave nothing back; the host's write still owes its share. */
    }
}

bool gc_step(struct ftl *f, struct domain *d, uint32_t upto)
{
    if (d->victim == FTL_NONE) {
        if (d->free_pages >= upto || !gc_can_gain(f, d))
            return false;
        begin(f, d);
    }
    move_one(f, d);
    return true;
}
