/* SPDX-License-Identifier: MIT */
/* What writes carry, and where reads go: the memory of one thread's slots. */
#ifndef SATED_LOAD_DATA_H
#define SATED_LOAD_DATA_H

#include <stdint.h>

#include "core/random.h"
#include "load/mix.h"

/* Each slot reads into an area of its own and writes from a stripe of the random pool that is its own too, so that no
 * memory changes while a drive reads it. All lies in one region, which can be registered with the kernel at once. */
struct data {
    uint8_t *memory;
    uint64_t bytes;
    uint64_t read_bytes;   /* of each slot's read area */
    uint64_t stripe_bytes; /* of each slot's stripe, which begins behind all read areas */
    uint64_t pool;         /* offset of the first stripe */
    uint64_t places;       /* page-aligned offsets in a stripe at which the greatest write fits */
    uint64_t twins;        /* offset of what duplicates are made of, which is the same in all threads */
    uint32_t twin_below;   /* a draw below it, of 2^32, makes a write a duplicate */
    bool unmarked;         /* some writes carry no stamps */
    bool zeros;
    uint64_t key;   /* stamps of different seeds differ */
    uint64_t stamp; /* the next one; never twice in a load */
};

/* @param slots of this thread; @param all_slots of the whole load: together they have at least 16 MiB of pool;
 * @param stream of the thread in the load, below 2^16. Return: 0 or -ENOMEM. */
int data_init(struct data *d, const struct sated_workload *w, const struct mix *m, uint32_t slots, uint64_t all_slots,
              uint64_t seed, uint32_t stream);
void data_free(struct data *d);

/* Forgets the memory, where something may still write to it. */
void data_leak(struct data *d);

static inline uint8_t *data_read(const struct data *d, uint32_t slot)
{
    return d->memory + slot * d->read_bytes;
}

static inline uint8_t *data_stripe(const struct data *d, uint32_t slot)
{
    return d->memory + d->pool + slot * d->stripe_bytes;
}

/* The bytes of one write: from a random offset of a slot's stripe, every 512 bytes stamped; or what another write had
 * too, as it is. @param drawn 64 random bits, which decide all that */
uint8_t *data_write(struct data *d, uint64_t drawn, uint8_t *stripe, uint32_t bytes);

#endif
