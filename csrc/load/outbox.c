/* SPDX-License-Identifier: MIT */
#include "load/outbox.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_ELEMENTS ((size_t)256)

struct outbox_block {
    struct outbox_block *next;
    uint8_t elements[];
};

void outbox_init(struct outbox *r, size_t element_bytes)
{
    *r = (struct outbox){.element_bytes = element_bytes};
}

void outbox_free(struct outbox *r)
{
    for (struct outbox_block *b = r->first, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    outbox_init(r, r->element_bytes);
}

bool outbox_put(struct outbox *r, const void *element)
{
    if (!r->last || r->tail == BLOCK_ELEMENTS) {
        struct outbox_block *b = malloc(sizeof *b + BLOCK_ELEMENTS * r->element_bytes);
        if (!b)
            return false;
        b->next = NULL;
        *(r->last ? &r->last->next : &r->first) = b;
        r->last = b;
        r->tail = 0;
    }
    memcpy(r->last->elements + r->tail++ * r->element_bytes, element, r->element_bytes);
    r->count++;
    return true;
}

size_t outbox_take(struct outbox *r, void *out, size_t cap)
{
    size_t taken = 0;
    while (taken < cap && r->count) {
        struct outbox_block *b = r->first;
        size_t n = b->next ? BLOCK_ELEMENTS - r->head : r->tail - r->head;
        if (n > cap - taken)
            n = cap - taken;
        memcpy((uint8_t *)out + taken * r->element_bytes, b->elements + r->head * r->element_bytes,
               n * r->element_bytes);
        taken += n;
        r->count -= n;
        r->head += n;
        if (!r->count || r->head == BLOCK_ELEMENTS) {
            r->first = b->next;
            r->head = 0;
            free(b);
        }
        if (!r->first)
            r->last = NULL;
    }
    return taken;
}
