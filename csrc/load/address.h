/* SPDX-License-Identifier: MIT */
/* Where each I/O goes. */
#ifndef SATED_LOAD_ADDRESS_H
#define SATED_LOAD_ADDRESS_H

#include "load/mix.h"

/* What all threads of a drive share. */
struct address_range {
    bool sequential;
    uint32_t align;               /* of every offset, a power of two */
    uint64_t first;               /* the first offset */
    uint64_t end;                 /* behind the last byte */
    uint64_t places[MIX_CLASSES]; /* offsets at which an I/O of that class fits */
};

/* What each thread has of its own. */
struct address {
    uint64_t next; /* of a sequential thread */
};

/* @param whole_bytes what is accessible; @param block_bytes the least alignment; @param name of the drive.
 * Return: 0, or SATED_PARSE if the range is not inside the drive, not aligned, or too small for one I/O. */
int address_range_init(struct address_range *a, const struct sated_workload *w, const struct mix *m,
                       uint64_t whole_bytes, uint32_t block_bytes, const char *name);

void address_init(struct address *t, const struct address_range *a, uint32_t thread, uint32_t threads);

static inline uint64_t address_next(struct address *t, const struct address_range *a, struct random *r, uint32_t class,
                                    uint32_t bytes)
{
    if (!a->sequential)
        return a->first + random_below(r, a->places[class]) * a->align;
    uint64_t at = t->next;
    if (at + bytes > a->end)
        at = a->first;
    t->next = at + bytes;
    return at;
}

#endif
