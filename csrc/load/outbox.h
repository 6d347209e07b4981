/* SPDX-License-Identifier: MIT */
/* What a load hands over waits here: first in, first out, in blocks of its own, so that nothing is copied to grow.
 * Guarded by the load's lock. */
#ifndef SATED_LOAD_OUTBOX_H
#define SATED_LOAD_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outbox_block;

struct outbox {
    struct outbox_block *first, *last;
    size_t element_bytes;
    size_t head; /* elements taken out of the first block */
    size_t tail; /* elements put into the last */
    size_t count;
};

void outbox_init(struct outbox *r, size_t element_bytes);
void outbox_free(struct outbox *r);

/* False: no memory. */
bool outbox_put(struct outbox *r, const void *element);

/* Return: how many of up to cap were taken. */
size_t outbox_take(struct outbox *r, void *out, size_t cap);

static inline size_t outbox_bytes(const struct outbox *r)
{
    return r->count * r->element_bytes;
}

#endif
