/* SPDX-License-Identifier: MIT */
/* Where each I/O goes. */
#ifndef SATED_LOAD_ADDRESS_H
#define SATED_LOAD_ADDRESS_H

#include "load/mix.h"
#include "load/spread.h"

/* What all threads of a drive share. */
struct address_range {
    bool sequential;              /* in one stream for each thread, over one range */
    bool spread;                  /* neither that nor uniform over one range */
    uint64_t align;               /* of every offset, a power of two */
    uint32_t block;               /* what they have to be a multiple of at least */
    uint64_t first;               /* the first offset */
    uint64_t end;                 /* behind the last byte */
    uint64_t places[MIX_CLASSES]; /* offsets at which an I/O of that class fits */
    struct spread how;            /* where `spread` */
};

/* What each thread has of its own. */
struct address {
    uint64_t next; /* of a sequential thread */
    struct spread_thread spread;
};

/* @param whole_bytes what is accessible; @param block_bytes the least alignment; @param seed of what is shuffled;
 * @param name of the drive. Return: 0, -ENOMEM, or SATED_PARSE if the range is not inside the drive, not aligned, or too
 * small for one I/O. Owner: the caller, by address_range_free, after either. */
int address_range_init(struct address_range *a, const struct sated_workload *w, const struct mix *m,
                       uint64_t whole_bytes, uint32_t block_bytes, uint64_t seed, const char *name);
void address_range_free(struct address_range *a);

void address_init(struct address *t, const struct address_range *a, uint32_t thread, uint32_t threads);

/* @param drawn 64 random bits; @param places of the I/O's class */
static inline uint64_t address_at(const struct address_range *a, struct random *r, uint64_t drawn, uint64_t places)
{
    return a->first + random_below_from(r, drawn, places) * a->align;
}

static inline uint64_t address_following(struct address *t, const struct address_range *a, uint32_t bytes)
{
    uint64_t at = t->next;
    if (at + bytes > a->end)
        at = a->first;
    t->next = at + bytes;
    return at;
}

/* @param op enum sated_op, of which a flush has the address 0 */
static inline uint64_t address_next(struct address *t, const struct address_range *a, struct random *r, uint32_t op,
                                    uint32_t class, uint32_t bytes)
{
    if (op == SATED_FLUSH)
        return 0;
    if (a->spread)
        return spread_next(&a->how, &t->spread, r, op, bytes);
    return a->sequential ? address_following(t, a, bytes) : address_at(a, r, random_next(r), a->places[class]);
}

#endif
