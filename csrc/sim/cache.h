/* SPDX-License-Identifier: MIT */
/* The part of the map that fits into the controller's memory: map pages of some 1,024 entries each, the one used
 * longest ago leaves first. */
#ifndef SATED_SIM_CACHE_H
#define SATED_SIM_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct cache {
    uint32_t pages, room, held;
    uint32_t first, last;    /* used most recently, and longest ago */
    uint32_t *next, *before; /* of each map page */
    uint8_t *flags;          /* of each map page: enum cache_flags */
    uint64_t hits, misses;
};

/* Of a map page. */
enum cache_flags {
    CACHE_HELD = 1,    /* in memory */
    CACHE_CHANGED = 2, /* since it was read */
    CACHE_STORED = 4,  /* there is a copy on flash; a page that never left memory has none to fetch */
};

/* What a look-up cost. */
enum cache_cost {
    CACHE_HIT = 0,
    CACHE_FETCH = 1, /* the map page had to be read from flash */
    CACHE_EVICT = 2, /* another one, changed since it was read, had to be written to make room */
};

int cache_init(struct cache *c, uint64_t pages, uint64_t room);
void cache_free(struct cache *c);
void cache_clear(struct cache *c);

/* There is a copy of a map page on flash, and none in memory: the map was made elsewhere. */
void cache_store(struct cache *c, uint32_t page);

/* Memory is lost, and what is on flash stays: changed pages are taken to have been rebuilt at power-on. */
void cache_power_cut(struct cache *c);

void cache_walk(struct cache *c, void (*visit)(void *data, uint64_t bytes, void *user), void *user);

/* Uses a map page. @param change the entry is going to be written. Returns enum cache_cost, or'ed. */
uint32_t cache_use(struct cache *c, uint32_t page, bool change);

#endif
