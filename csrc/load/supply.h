/* SPDX-License-Identifier: MIT */
/* Addresses from the caller, on their way to the threads: each drive of a load has a copy of every chunk, which all of
 * its threads take from, a batch's worth at a time. */
#ifndef SATED_LOAD_SUPPLY_H
#define SATED_LOAD_SUPPLY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include <sated/load.h>

#include "load/mix.h"

struct member;

#define SUPPLY_ROOM 131072u     /* addresses that may wait for a real drive */
#define SUPPLY_DRAWN UINT32_MAX /* a class that is drawn */
#define SUPPLY_LOOK_NS 100000   /* after which a thread without addresses looks again */
#define SUPPLY_AT_ONCE 32u      /* taken at once, where no batch says otherwise */

struct given {
    uint64_t offset;
    uint32_t class; /* of the mix */
    uint32_t reserved;
};

struct chunk;

/* What waits for a drive. Guarded by the load's lock. */
struct supply_queue {
    struct chunk *first, *last;
    size_t taken;   /* of the first */
    size_t waiting; /* addresses in all chunks */
    uint32_t users; /* threads, or the simulated drive, that may still take some */
    bool standing;  /* a simulated drive stands still until there are any */
    bool used_up;   /* a thread found that no more come */
};

/* What all drives of a load have in common; likewise. */
struct supply {
    uint64_t chunks; /* so far */
    bool ended;      /* no more come */
    pthread_cond_t wanted;
};

/* What a thread has taken, and how often and how long it had a free slot and could take nothing. */
struct ration {
    struct given *given;
    uint32_t room, at, n;
    bool over;
    bool told;      /* the wait that goes on stands in `starved` */
    int64_t dry_ns; /* since when it waits, and is not in starved_ns; -1 = it does not wait */
    uint64_t starved;
    int64_t starved_ns;
};

static inline bool supply_is_on(const struct sated_load_options *o)
{
    return o->flags & SATED_LOAD_ADDRESSES;
}

void supply_init(struct supply *s);
void supply_free(struct supply *s);
void supply_queue_free(struct supply_queue *q);

/* Return: false: no memory. */
bool ration_init(struct ration *r, uint32_t room);
void ration_free(struct ration *r);

/* A thread of a real drive has n slots free. Takes the load's lock. Return: for how many of them it has addresses now;
 * sets `over` where there are none and none will come. */
uint32_t supply_take(struct member *m, struct ration *r, uint32_t n, int64_t now_ns);

/* A simulated drive needs an address: its time stands still until there is one. Return: false: there will be none. */
bool supply_stand(struct member *m, struct ration *r);

/* Counts a wait for addresses that goes on, up to now_ns. */
void ration_tell(struct ration *r, int64_t now_ns);

/* The drive's threads take none any more, one after another. Under the lock. */
void supply_leave(struct member *m);

/* Before a real load begins: waits for the first addresses. Under the lock. */
void supply_await_first(struct sated_load *l);

/* What is said of it at the end: appends to a text. */
void supply_last_words(const struct sated_load *l, char *to, size_t room);

/* Where the next I/O goes, of a ration that has any. A flush that was drawn leaves the address to the next.
 * @param class in: as drawn; out: as the caller has it. */
static inline uint64_t ration_next(struct ration *r, const struct mix *m, uint32_t *class)
{
    const struct given *g = &r->given[r->at];
    if (g->class != SUPPLY_DRAWN)
        *class = g->class;
    else if (m->op[*class] == SATED_FLUSH)
        return 0;
    r->at++;
    return g->offset;
}

#endif
