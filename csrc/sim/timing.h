/* SPDX-License-Identifier: MIT */
/* When things happen: dies and channels with the time until which each is taken, one firmware that does a thing after
 * the other, and the write buffer. Times are the drive's own nanoseconds.
 *
 * Writes are gathered into a stripe over all dies, host units and relocations alike. A full stripe is programmed on all
 * dies at once, and its part of the buffer is free again when the slowest die is done. With room for a single stripe
 * gathering and programming take turns, so that the time of a write is the sum of firmware and programs; with more
 * room they overlap. */
#ifndef SATED_SIM_TIMING_H
#define SATED_SIM_TIMING_H

#include "sim/ftl.h"
#include "sim/model.h"

#define TIMING_CHANNELS_MAX 64

struct timing {
    uint32_t channels, dies, planes; /* in all; planes of a die */
    uint32_t domain_dies;
    /* What changes. */
    uint32_t slot;                   /* of the stripe being gathered, in the ring */
    uint32_t gathering;              /* a stripe has been begun */
    int64_t firmware;                /* it is free from then on */
    int64_t busy;                    /* the last program ends */
    int64_t slot_end[64];            /* when the stripe that was in the slot before has been programmed */
    uint32_t slot_log[64];           /* up to where the log is on flash then */
    int64_t plane[MODEL_PLANES_MAX]; /* of die 0, then of die 1, ... */
    int64_t channel[TIMING_CHANNELS_MAX];
    int64_t read_out[TIMING_CHANNELS_MAX]; /* of a channel: reads that go ahead of programs are moved */
    int64_t link[2];                       /* towards the host, from it; one and the same of ATA */
    int64_t reading[MODEL_PLANES_MAX];     /* reads that a program makes way for end */
    uint8_t suspended[MODEL_PLANES_MAX];   /* times that the program in progress was */
};

void timing_init(struct timing *t, const struct model *m);

/* Visits all that changes, in a fixed order: what a state file holds. */
void timing_walk(struct timing *t, const struct model *m, void (*visit)(void *data, uint64_t bytes, void *user),
                 void *user);

/* When a stripe can be gathered: the time at which the next slot of the buffer is free. */
static inline int64_t timing_room(const struct timing *t)
{
    return t->gathering ? INT64_MIN : t->slot_end[t->slot];
}

/* Frees what has been programmed by then. */
void timing_settle(struct timing *t, const struct model *m, struct ftl *f, int64_t now);

/* Begins a stripe, if none is being gathered. @param wide for large commands: more pages of each die. */
void timing_gather(struct timing *t, const struct model *m, struct ftl *f, bool wide);

/* Programs the stripe if it is full. */
void timing_program(struct timing *t, const struct model *m, struct ftl *f, int64_t at);

/* Programs the stripe that has been gathered, full or not, and ends it. */
void timing_close(struct timing *t, const struct model *m, struct ftl *f, int64_t at);

/* Folds a stripe of what is in the quick cache. Return: whether there was anything. */
bool timing_fold(struct timing *t, const struct model *m, struct ftl *f, int64_t at);

/* Programs what has been gathered, full or not, because the drive has been left alone since `at`. */
void timing_flush(struct timing *t, const struct model *m, struct ftl *f, int64_t at);

/* What was not on flash by `now` is lost, unless there are capacitors. */
void timing_power_cut(struct timing *t, const struct model *m, struct ftl *f, int64_t now);

/* How long a command's data is on the link. */
static inline int64_t link_ns(const struct model *m, uint64_t bytes)
{
    return (int64_t)(bytes * 1000000 / m->link_kb_s);
}

/* Moves a command's data over the link, behind that of the commands before it. Returns when it is over, at the earliest. */
int64_t timing_link(struct timing *t, const struct model *m, bool to_host, uint64_t bytes, int64_t at);

/* Reads a page from its die and moves it over its channel; `at` if it is still in the buffer. Returns when.
 * @param last the page that the command read before this one (FTL_NONE: none): what was programmed together is read
 * together, and only moved. */
int64_t timing_read(struct timing *t, const struct model *m, struct ftl *f, uint32_t page, uint32_t last, int64_t at);

#endif
