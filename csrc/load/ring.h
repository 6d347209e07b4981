/* SPDX-License-Identifier: MIT */
/* What a load hands over waits here: first in, first out, growing. Guarded by the load's lock. */
#ifndef SATED_LOAD_RING_H
#define SATED_LOAD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring {
    uint8_t *memory;
    size_t element_bytes;
    size_t capacity, head, count;
};

void ring_init(struct ring *r, size_t element_bytes);
void ring_free(struct ring *r);

/* False: no memory. */
bool ring_put(struct ring *r, const void *element);

/* Return: how many of up to cap were taken. */
size_t ring_take(struct ring *r, void *out, size_t cap);

static inline size_t ring_bytes(const struct ring *r)
{
    return r->count * r->element_bytes;
}

#endif
