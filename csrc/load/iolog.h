/* SPDX-License-Identifier: MIT */
/* Every I/O on its way to the caller, where a load is told to keep them: each thread fills a block of its own, and takes
 * the load's lock once for each block. */
#ifndef SATED_LOAD_IOLOG_H
#define SATED_LOAD_IOLOG_H

#include <stdbool.h>
#include <stddef.h>

#include <sated/load.h>

#define LOG_BLOCK 1024u

struct log_block {
    struct log_block *next;
    uint32_t n;
    struct sated_io io[LOG_BLOCK];
};

/* The load's: full blocks, and how many there are in all. Guarded by the load's lock. */
struct log {
    struct log_block *first, *last;
    uint32_t taken; /* of the first */
    size_t waiting; /* blocks in the list */
    size_t held;    /* and with those that are being filled */
    size_t most;    /* 0 = no log is kept */
};

/* Whether the caller has to be woken. */
static inline bool log_is_much(const struct log *g)
{
    return g->waiting * sizeof *g->first > (size_t)1 << 20;
}

void log_free(struct log *g);

/* Hands over what there is of a block, at the end of an interval. Under the lock. */
void log_put(struct log *g, struct log_block **block);

/* Return: how many of up to cap were taken. Under the lock. */
size_t log_take(struct log *g, struct sated_io *out, size_t cap);

/* A fresh block in place of a full one. A simulated load waits for it while there are too many; a real one ends then, and
 * keeps what it has. Takes the lock. Return: false: no memory, and the load has ended. */
bool log_turn(struct sated_load *l, struct log_block **block, const char *name);

static inline void log_add(struct sated_load *l, struct log_block **block, const char *name, const struct sated_io *io)
{
    if ((!*block || (*block)->n == LOG_BLOCK) && !log_turn(l, block, name))
        return;
    (*block)->io[(*block)->n++] = *io;
}

#endif
