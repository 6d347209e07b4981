/* SPDX-License-Identifier: MIT */
/* What the host wrote, byte by byte, where it was written by a single command. The map says which units hold data; a
 * load's writes carry none, so that a unit that holds data without an entry here reads as a filler. */
#ifndef SATED_SIM_CONTENT_H
#define SATED_SIM_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct content_entry {
    uint32_t unit;
    uint8_t *data; /* unit_bytes of it; NULL: the place is free */
};

struct content {
    uint32_t unit_bytes;
    uint32_t n, room; /* room is a power of two, or 0 */
    struct content_entry *entries;
    uint64_t fill;        /* what units without an entry are filled with, where `overwritten` is set */
    uint64_t overwritten; /* 1: the last thing that happened to the whole drive was an overwrite */
};

void content_init(struct content *c, uint32_t unit_bytes);
void content_free(struct content *c);

/* Forgets all of it; what is mapped later reads as the filler. */
void content_clear(struct content *c);

/* Forgets one unit's: it was written without data, or trimmed. Costs nothing while nothing is kept. */
void content_drop_kept(struct content *c, uint32_t unit);
static inline void content_drop(struct content *c, uint32_t unit)
{
    if (c->n)
        content_drop_kept(c, unit);
}

/* The bytes of a unit that holds data. @param out unit_bytes of room. */
void content_get(const struct content *c, uint32_t unit, uint8_t *out);

/* Whether bytes are kept of it, and what it reads as without. */
bool content_has(const struct content *c, uint32_t unit);
void content_filler(const struct content *c, uint32_t unit, uint8_t *out);

/* Return: 0 or -ENOMEM. */
int content_put(struct content *c, uint32_t unit, const uint8_t *data);

/* As a state file holds it: for each unit, lowest first, its number (4 bytes) and its bytes. @param out of
 * content_bytes(), NULL where there is no memory, the caller frees. */
uint64_t content_bytes(const struct content *c);
uint8_t *content_store(const struct content *c);

/* Takes it back. @param units how many units there are. Return: whether it can be that; c is as it was if not. */
bool content_load(struct content *c, const uint8_t *data, uint64_t bytes, uint32_t units);

#endif
