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
#define FTL_LOST (UINT32_MAX - 1) /* in place of a page: the unit's data was on a die that failed, and is gone */
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
    GC_WINDOWED,
};

enum levelling {
    LEVELLING_OFF,
    LEVELLING_DYNAMIC,
    LEVELLING_STATIC,
};

enum block_state {
    BLOCK_FREE,
    BLOCK_OPEN,
    BLOCK_CLOSED,
    BLOCK_VICTIM,
    BLOCK_SPARE, /* kept for one that fails */
    BLOCK_BAD,
};

/* What is no longer as it was: most commands need not look further than whether it is 0. */
enum sick {
    SICK_LOST = 1,      /* units have lost their data */
    SICK_READ_ONLY = 2, /* a block failed and there was no spare one for it, or too little is left after a die failed */
    SICK_REBUILD = 4,   /* there is work for parity_step() */
};

/* Host's writes, relocations, hot data, cold data: each kind may have an open block of its own. */
#define FTL_FRONTIERS_MAX 8

/* Dies of a domain that may fail. */
#define FTL_DEAD_MAX 4

/* What a domain has lost. A purge changes nothing of it. */
struct loss {
    uint32_t spare_first, spares; /* blocks in reserve */
    uint32_t bad;                 /* blocks that are used no more */
    uint32_t owed;                /* blocks that have to go, since a die failed */
    uint32_t dead, dead_die[FTL_DEAD_MAX];
    uint32_t rebuilding, block, at; /* 1: pages on dead dies are being looked for, from there on */
};

/* Whether a die of the domain is one of those that failed, but for the first `from` of them. */
static inline bool loss_has_die(const struct loss *l, uint32_t from, uint32_t die)
{
    for (uint32_t i = from; i < l->dead; i++)
        if (l->dead_die[i] == die)
            return true;
    return false;
}

struct frontier {
    uint32_t open, at; /* the block being filled, and its next page */
};

struct domain {
    uint32_t free_first, free_last, free_blocks; /* erased blocks, the one erased first is used first */
    uint32_t free_pages;                         /* of erased blocks and of the rest of the open ones */
    uint32_t reserve;                            /* choose a victim when free_pages is down to this */
    uint32_t victim, victim_at;                  /* the block being emptied, and how far it has been looked through */
    uint32_t debt, step, pace;                   /* each host write adds step; each pace of it is one relocation */
    uint32_t least;                              /* greedy, windowed: no block to choose from has fewer valid pages */
    uint32_t brim;                   /* and of those that may be chosen only blocks up to so full are sorted */
    uint32_t closed;                 /* closed blocks */
    uint32_t closed_valid;           /* valid pages in them */
    uint32_t oldest, newest;         /* fifo, windowed: the ends of the queue of closed blocks */
    uint32_t window;                 /* windowed: the closed blocks before that queue, held as for greedy */
    uint32_t placed, moved;          /* pages placed into the stripe being gathered; relocations of them */
    uint32_t worn;                   /* the most worn block's erases */
    uint32_t levels;                 /* 1: the victim was chosen for its wear */
    uint32_t cursor, since_levelled; /* the next block to be looked at for its wear; victims since then */
    uint64_t written;                /* pages ever placed: the clock of cost-benefit */
    struct frontier front[FTL_FRONTIERS_MAX];
    struct loss loss;
};

/* How long data lives that does not live long, for telling streams apart: in ticks of host writes. */
struct lives {
    uint64_t writes; /* of the host, ever */
    uint64_t mean;   /* UINT32_MAX: not known yet */
    uint64_t sum, n; /* of the lives since the mean was made */
};

/* Data that was programmed one bit to a cell, because that is quick, and is still to be folded: programmed again with all
 * the bits that a cell holds. Its page is the one where it comes to lie (slc.c). */
struct slc {
    /* Fixed. */
    uint32_t room;  /* of the ring, a power of two; 0: there is no such cache */
    uint32_t fixed; /* pages that it always has */
    uint32_t share; /* of the free pages that it may take besides, in 10^-9 */
    uint32_t bits;  /* of a cell */
    /* What changes. */
    uint32_t *ring;            /* pages in the order in which they were programmed */
    uint64_t *in;              /* bit of each page that is in it */
    uint32_t head, tail, seen; /* of the ring, counting on; up to where the log was looked at */
    uint64_t written, folded;  /* pages */
};

struct ftl {
    /* Shape, fixed. */
    uint32_t units;                       /* mapping units the host can address */
    uint32_t np, words;                   /* pages of a block; 64-bit words of its bitmap */
    uint32_t domains, per_domain, blocks; /* blocks of a domain, and of all */
    uint32_t policy, choices;
    uint32_t streams, frontiers;   /* see streams.c */
    uint32_t hot;                  /* the units below have streams of their own */
    uint32_t levelling, threshold; /* enum levelling; erases by which a block may lag behind */
    uint32_t least_free;           /* pages; with no fewer there is always a block to be opened */
    uint32_t dies, stripe,
        parity; /* dies of a domain, pages that each programs at once, 1: one die of each row is parity */
    uint32_t wear_limit, grown; /* a block fails that was erased so often, and each so manieth erase; 0: none does */
    uint32_t whole;             /* all of a victim is moved at once, not along with the host's writes */
    uint64_t inverse;           /* ceil(2^64 / np): page / np is the high half of page x inverse */
    /* The map: units to pages (+1, 0 = holds no data), and back. */
    uint32_t *map;
    uint32_t *back;
    uint64_t *valid;   /* bit of each page */
    uint64_t *pending; /* bit of each page whose data is still in the write buffer */
    /* Of each block. */
    uint32_t *count;         /* valid pages */
    uint32_t *wear;          /* times erased */
    uint32_t *next, *before; /* neighbours in the one list it is in */
    uint32_t *place;     /* its index among the closed blocks of its domain; windowed: whether it is in the window */
    uint64_t *closed_at; /* domain.written when it was closed */
    uint8_t *state;      /* enum block_state */
    uint8_t *laid;       /* how many dies of its domain had failed when it was opened */
    uint8_t *stream;     /* with more than two streams: the one it was opened for, and when */
    uint32_t *born;
    uint32_t *closed; /* the closed blocks of each domain, in no order */
    uint32_t *bucket; /* greedy, windowed: first block for each count of valid pages, np + 1 for each domain */
    struct domain *domain;
    uint32_t *last; /* with more than two streams: when each unit was written */
    struct lives lives;
    struct random random;
    /* The stripe being gathered. */
    uint32_t quota;   /* pages of each domain that it takes */
    uint32_t missing; /* domains that have placed fewer */
    uint32_t turn;    /* the domain whose turn it is */
    /* Counters. */
    uint64_t mapped, placed, moved, erased;
    uint64_t lost;      /* units, now */
    uint64_t grown_bad; /* blocks that failed, ever */
    uint64_t sick;      /* enum sick */
    struct random luck; /* which blocks are bad, and which erases fail */
    /* The pages placed, in order, until the timing layer takes them; only kept where `log_room` is not 0. */
    uint32_t *log;
    uint32_t log_room, log_at; /* room is a power of two, at counts on and wraps */
    struct slc slc;
    uint32_t log_done; /* up to here the pages of the log are on flash; never more than the room behind log_at */
};

struct ftl_shape {
    uint32_t units, np, domains, per_domain, reserve, policy, choices, whole, log_room;
    uint32_t streams, frontiers, hot, levelling, threshold;
    uint32_t dies, stripe, parity, wear_limit, grown, spares, factory_bad; /* the last two of each domain */
    uint32_t slc_room, slc_fixed, slc_share, slc_bits;
    uint64_t seed;
};

/* Return: 0 or -ENOMEM; ftl_free is right after either. */
int ftl_init(struct ftl *f, const struct ftl_shape *shape);
void ftl_free(struct ftl *f);

/* Visits all that changes, in a fixed order: what a state file holds. */
void ftl_walk(struct ftl *f, void (*visit)(void *data, uint64_t bytes, void *user), void *user);

/* Everything unmapped, every block erased and free; wear stays. */
void ftl_purge(struct ftl *f);

/* Puts a unit's new data into an open block of a domain and lets garbage collection do its share. */
void ftl_write(struct ftl *f, uint32_t unit);

/* Writes units of a span at random, so many times; what each needs of the memory is asked for long before. */
void ftl_write_random(struct ftl *f, uint64_t first, uint64_t n, uint64_t writes);

/* Drops a unit's data; false if it held none. */
bool ftl_trim(struct ftl *f, uint32_t unit);

/* Begins a stripe that takes `quota` pages of each domain, counting what was placed beyond the last one. */
void ftl_stripe_begin(struct ftl *f, uint32_t quota);

/* Ends the stripe: its pages are taken off what was placed. */
void ftl_stripe_end(struct ftl *f);

/* The page of a unit, FTL_NONE if it holds no data, FTL_LOST if it held some. */
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
    if (page >= FTL_LOST)
        return;
    uint32_t block = ftl_block(f, page);
    __builtin_prefetch(ftl_word(f, f->valid, block, page - block * f->np), 1);
    __builtin_prefetch(&f->count[block], 1);
}

/* The pages of the log up to there are on flash: no longer in the buffer. */
void ftl_log_retire(struct ftl *f, uint32_t upto);

/* Marks exactly the pages of the log that are in the buffer: `pending` is no part of a state. */
void ftl_log_mark(struct ftl *f);

/* Of garbage collection (gc.c). */
void gc_close(struct ftl *f, struct domain *d, uint32_t block); /* a block has been filled */
void gc_sink(struct ftl *f, struct domain *d,
             uint32_t block); /* sorts a block anew that lost a page, if it is sorted */
bool gc_can_gain(const struct ftl *f, const struct domain *d); /* some block of the domain has a page to give back */
void gc_share(struct ftl *f, struct domain *d);                /* what one host write owes */
/* One relocation or erase for which no host write asks, unless there are `upto` free pages. Return: whether it was done. */
bool gc_step(struct ftl *f, struct domain *d, uint32_t upto);

bool gc_can_take(const struct ftl *f, uint32_t block); /* it can be taken before its turn */

/* A closed block's count went down by one. */
static inline void gc_fell(struct ftl *f, struct domain *d, uint32_t block)
{
    d->closed_valid--;
    if (f->count[block] <= d->brim)
        gc_sink(f, d, block);
}

/* Of open blocks (streams.c): which one a page goes to, where there are several, and what is learnt for that. */
uint32_t streams_choose(struct ftl *f, const struct domain *d, uint32_t unit, uint32_t mark);
void streams_opened(struct ftl *f, uint32_t block, uint32_t stream);
void streams_chosen(struct ftl *f, uint32_t block); /* a block is going to be emptied */

/* Of wear levelling (wear.c): the erased block to be filled next, and the one before it in the list; the block to be
 * emptied because it lags behind, FTL_NONE if there is none. */
uint32_t wear_open(struct ftl *f, const struct domain *d, uint32_t frontier, uint32_t *before);
uint32_t wear_victim(struct ftl *f, struct domain *d);

/* Of the quick cache (slc.c). */
struct slc_stripe {
    uint64_t quick, slow, folded; /* pages: one bit to a cell; all bits; all bits, from the cache */
    uint64_t whole;               /* pages of a full stripe */
};

/* What a stripe that is programmed now consists of; folds what it takes the place of. */
void slc_take(struct ftl *f, struct slc_stripe *out);
uint32_t slc_fold(struct ftl *f, uint32_t most); /* the oldest pages that hold data. Return: how many there were */
static inline uint32_t slc_held(const struct slc *c)
{
    return c->head - c->tail;
}

/* Of blocks in reserve (spare.c). */
void spare_init(struct ftl *f, const struct ftl_shape *shape);       /* before any block is free */
bool spare_retires(struct ftl *f, struct domain *d, uint32_t block); /* whether its erase failed; another is free */
bool spare_has_room(const struct ftl *f, const struct domain *d, uint32_t fewer); /* with so many blocks fewer */
uint32_t spare_pages(const struct ftl *f, const struct domain *d); /* of the blocks of a domain that are in use */
uint32_t spare_in_use(const struct ftl *f);                        /* blocks neither bad nor in reserve */

/* Of dies (parity.c). A row is what the dies of a domain program together; one die of it, another for each row, is parity
 * where there is any. */
uint32_t parity_die(const struct ftl *f, uint32_t block, uint32_t at); /* of its domain */
bool parity_is_missing(const struct ftl *f, uint32_t block, uint32_t at);
/* The die fails. Without parity, or where two of a row are missing now, data is lost, for which lost() is called. */
void parity_fail(struct ftl *f, struct domain *d, uint32_t die, void (*lost)(void *user, uint32_t unit), void *user);
/* Rebuilds one page, or does one step towards giving up a block. Return: whether there was anything to be done. */
bool parity_step(struct ftl *f, struct domain *d);
void parity_victim(const struct ftl *f, struct domain *d); /* what reading its missing pages costs */

/* Of blocks (nand.c). */
void nand_free(struct ftl *f, struct domain *d, uint32_t block); /* an erased one, to the end of the free list */
void nand_open(struct ftl *f, struct domain *d, struct frontier *front);  /* the next erased one, to be filled */
void nand_close(struct ftl *f, struct domain *d, struct frontier *front); /* it is full */
void nand_erase(struct ftl *f, struct domain *d, uint32_t block);         /* and to the end of the free list */
void nand_retire(struct ftl *f, uint32_t page);                           /* it is in the log, and programmed */

/* Into an open block. @param mark FTL_FRESH, FTL_MOVED or 0 */
static inline __attribute__((always_inline)) void nand_place(struct ftl *f, struct domain *d, uint32_t unit,
                                                             uint32_t mark)
{
    struct frontier *front = &d->front[f->frontiers == 1 ? 0 : streams_choose(f, d, unit, mark)];
    if (front->open == FTL_NONE)
        nand_open(f, d, front);
    uint32_t block = front->open, at = front->at++, page = block * f->np + at;
    uint64_t bit = (uint64_t)1 << at % 64;
    *ftl_word(f, f->valid, block, at) |= bit;
    f->map[unit] = page + 1;
    f->back[page] = unit;
    f->count[block]++;
    f->placed++;
    d->free_pages--;
    d->written++;
    if (f->log_room) {
        uint64_t *pending = ftl_word(f, f->pending, block, at);
        if (*pending & bit)
            nand_retire(f, page);
        if (f->log_at - f->log_done == f->log_room) /* a burst of relocations: the oldest has long been programmed */
            ftl_log_retire(f, f->log_done + 1);
        *pending |= bit;
        f->log[f->log_at++ & (f->log_room - 1)] = page | mark;
    }
    if (f->quota != FTL_UNLIMITED && ++d->placed == f->quota)
        f->missing--;
    if (front->at == f->np)
        nand_close(f, d, front);
}

/* A page's data is no longer valid. */
static inline void nand_drop(struct ftl *f, uint32_t page)
{
    uint32_t block = ftl_block(f, page), at = page - block * f->np;
    *ftl_word(f, f->valid, block, at) &= ~((uint64_t)1 << at % 64);
    f->count[block]--;
    if (f->state[block] == BLOCK_CLOSED)
        gc_fell(f, &f->domain[f->domains == 1 ? 0 : block / f->per_domain], block);
}

#endif
