/* SPDX-License-Identifier: MIT */
#include "load/ring.h"

#include <stdlib.h>
#include <string.h>

void ring_init(struct ring *r, size_t element_bytes)
{
    memset(r, 0, sizeof *r);
    r->element_bytes = element_bytes;
}

void ring_free(struct ring *r)
{
    free(r->memory);
    r->memory = NULL;
    r->capacity = r->head = r->count = 0;
}

/* Moves `n` of the oldest elements to `out`, which does not overlap. */
static void copy_out(const struct ring *r, uint8_t *out, size_t n)
{
    size_t first = r->capacity - r->head < n ? r->capacity - r->head : n;
    if (!n)
        return;
    memcpy(out, r->memory + r->head * r->element_bytes, first * r->element_bytes);
    memcpy(out + first * r->element_bytes, r->memory, (n - first) * r->element_bytes);
}

bool ring_put(struct ring *r, const void *element)
{
    if (r->count == r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : 64;
        uint8_t *memory = malloc(capacity * r->element_bytes);
        if (!memory)
            return false;
        copy_out(r, memory, r->count);
        free(r->memory);
        r->memory = memory;
        r->capacity = capacity;
        r->head = 0;
    }
    memcpy(r->memory + (r->head + r->count) % r->capacity * r->element_bytes, element, r->element_bytes);
    r->count++;
    return true;
}

size_t ring_take(struct ring *r, void *out, size_t cap)
{
    size_t n = r->count < cap ? r->count : cap;
    copy_out(r, out, n);
    if (n)
        r->head = (r->head + n) % r->capacity;
    r->count -= n;
    return n;
}
