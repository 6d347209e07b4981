/* SPDX-License-Identifier: MIT */
/* The page-mapped flash translation layer, without any time: where each mapping unit lies, which blocks are free, and
 * which block garbage collection empties next.
 *
 * A block here is a reclaim unit: the smallest thing that is erased, striped over all dies of its domain. A domain is
 * the set of blocks among which one victim is chosen. T, the pages usable for data and garbage collection, is what the
 * closed-form write amplifications mean by it: all pages but `reserve`, the free pages at the moment a victim is
 * chosen. Relocations are spread evenly over the host writes that use up what the victim will give back, so free pages
 * swing between reserve and one block less. By Little's law over page slots the half block by which that swing lowers
 * the mean of the free pages and the half victim in progress cancel, and T is exact to the first order. */
#ifndef SATED_SIM_FTL_H
#define SATED_SIM_FTL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/random.h"

#define FTL_NONE UINT32_MAX
#define FTL_UNLIMITED UINT32_MAX
#define FTL_PAGES_MAX ((uint32_t)1 << 30)
/* In the log, beside the page. */
#define FTL_FRESH FTL_PAGES_MAX       /* the host's write of a unit that held no data before */
#define FTL_MOVED ((uint32_t)1 << 31) /* not the host's write, but a relocation */
#define FTL_MARKS (FTL_FRESH | FTL_MOVED)

enum gc_policy {
    GC_GREEDY,
    GC_FIFO,
    GC_RANDOM,
    GC_D_CHOICES,
    GC_COST_BENEFIT,
};

enum block_state {
    BLOCK_FREE,
    BLOCK_OPEN,
    BLOCK_CLOSED,
    BLOCK_VICTIM,
};

struct domain {
    uint32_t free_first, free_last, free_blocks; /* erased blocks, the one erased first is used first */
    uint32_t open, open_at;                      /* the block being filled, and its next page */
    uint32_t free_pages;                         /* of erased blocks and of the rest of the open one */
    uint32_t reserve;                            /* choose a victim when free_pages is down to this */
    uint32_t victim, victim_at;                  /* the block being emptied, and how far it has been looked through */
    uint32_t debt, step, pace;                   /* each host write adds step; each pace of it is one relocation */
    uint32_t least;                              /* greedy: no closed block has fewer valid pages */
    uint32_t closed;                             /* closed blocks */
    uint32_t closed_valid;                       /* valid pages in them */
    uint32_t oldest, newest;                     /* fifo: the ends of the queue of closed blocks */
    uint32_t placed, moved;                      /* pages placed into the stripe being gathered; relocations of them */
    uint64_t written;                            /* pages ever placed: the clock of cost-benefit */
};

struct ftl {
    /* Shape, fixed. */
    uint32_t units;                       /* mapping units the host can address */
    uint32_t np, words;                   /* pages of a block; 64-bit words of its bitmap */
    uint32_t domains, per_domain, blocks; /* blocks of a domain, and of all */
    uint32_t policy, choices;
    uint64_t inverse; /* ceil(2^64 / np): page / np is the high half of page x inverse */
    /* The map: units to pages (+1, 0 = holds no data), and back. */
    uint32_t *map;
    uint32_t *back;
    uint64_t *valid;   /* bit of each page */
    uint64_t *pending; /* bit of each page whose data is still in the write buffer */
    /* Of each block. */
    uint32_t *count;         /* valid pages */
    uint32_t *wear;          /* times erased */
    uint32_t *next, *before; /* neighbours in the one list it is in */
    uint32_t *place;         /* its index among the closed blocks of its domain */
    uint64_t *closed_at;     /* domain.written when it was closed */
    uint8_t *state;          /* enum block_state */
    uint32_t *closed;        /* the closed blocks of each domain, in no order */
    uint32_t *bucket;        /* greedy: first closed block for each count of valid pages, np + 1 for each domain */
    struct domain *domain;
    struct random random;
    /* The stripe being gathered. */
    uint32_t quota;   /* pages of each domain that it takes */
    uint32_t missing; /* domains that have placed fewer */
    uint32_t turn;    /* the domain whose turn it is */
    /* Counters. */
    uint64_t mapped, placed, moved, erased;
    /* The pages placed, in order, until the timing layer takes them; only kept where `log_room` is not 0. */
    uint32_t *log;
    uint32_t log_room, log_at; /* room is a power of two, at counts on and wraps */
    uint32_t log_done; /* up to here the pages of the log are on flash; never more than the room behind log_at */
};

struct ftl_shape {
    uint32_t units, np, domains, per_domain, reserve, policy, choices, log_room;
    uint64_t seed;
};

/* Return: 0 or -ENOMEM; ftl_free is right after either. */
int ftl_init(struct ftl *f, const struct ftl_shape *shape);
void ftl_free(struct ftl *f);

/* Visits all that changes, in a fixed order: what a state file holds. */
void ftl_walk(struct ftl *f, void (*visit)(void *data, uint64_t bytes, void *user), void *user);

/* Everything unmapped, every block erased and free; wear stays. */
void ftl_purge(struct ftl *f);

/* Puts a unit's new data into the open block of a domain and lets garbage collection do its share. */
void ftl_write(struct ftl *f, uint32_t unit);

/* Drops a unit's data; false if it held none. */
bool ftl_trim(struct ftl *f, uint32_t unit);

/* Begins a stripe that takes `quota` pages of each domain, counting what was placed beyond the last one. */
void ftl_stripe_begin(struct ftl *f, uint32_t quota);

/* Ends the stripe: its pages are taken off what was placed. */
void ftl_stripe_end(struct ftl *f);

/* The page of a unit, FTL_NONE if it holds no data. */
static inline uint32_t ftl_page(const struct ftl *f, uint32_t unit)
{
    return f->map[unit] - 1;
}

static inline uint32_t ftl_block(const struct ftl *f, uint32_t page)
{
    return (uint32_t)((unsigned __int128)f->inverse * page >> 64);
}

static inline uint64_t *ftl_word(const struct ftl *f, uint64_t *bits, uint32_t block, uint32_t at)
{
    return &bits[(uint64_t)block * f->words + at / 64];
}

/* Asks the memory for what writing a unit will need: the map's entry, and once that has come, what drops the old page.
 * On a whole drive most of the time of a write is waiting for the two. */
static inline void ftl_expect(const struct ftl *f, uint32_t unit)
{
    __builtin_prefetch(&f->map[unit], 1);
}

static inline void ftl_ask(const struct ftl *f, uint32_t unit)
{
    uint32_t page = ftl_page(f, unit);
    if (page == FTL_NONE)
        return;
    uint32_t block = ftl_block(f, page);
    __builtin_prefetch(ftl_word(f, f->valid, block, page - block * f->np), 1);
    __builtin_prefetch(&f->count[block], 1);
    __builtin_prefetch(&f->next[block], 1);
    __builtin_prefetch(&f->before[block], 1);
}

/* The pages of the log up to there are on flash: no longer in the buffer. */
void ftl_log_retire(struct ftl *f, uint32_t upto);

/* Marks exactly the pages of the log that are in the buffer: `pending` is no part of a state. */
void ftl_log_mark(struct ftl *f);

/* Of garbage collection (gc.c). */
void gc_close(struct ftl *f, struct domain *d, uint32_t block); /* a block has been filled */
void gc_fell(struct ftl *f, struct domain *d, uint32_t block);  /* a closed block's count went down by one */
bool gc_can_gain(const struct ftl *f, const struct domain *d);  /* some block of the domain has a page to give back */
void gc_share(struct ftl *f, struct domain *d);                 /* what one host write owes */

/* Of blocks (nand.c). */
void nand_place(struct ftl *f, struct domain *d, uint32_t unit,
                uint32_t mark);                                   /* into the open block; FTL_FRESH, FTL_MOVED or 0 */
void nand_drop(struct ftl *f, uint32_t page);                     /* its data is no longer valid */
void nand_erase(struct ftl *f, struct domain *d, uint32_t block); /* and to the end of the free list */

#endif
