/* SPDX-License-Identifier: MIT */
#include "sim/cache.h"

#include <errno.h>
#include <string.h>

#include "core/buffer.h"

#define NONE UINT32_MAX

int cache_init(struct cache *c, uint64_t pages, uint64_t room)
{
    *c = (struct cache){.pages = (uint32_t)pages, .room = (uint32_t)(room < pages ? room : pages)};
    c->next = buffer_new(pages * 4);
    c->before = buffer_new(pages * 4);
    c->flags = buffer_new(pages);
    if (!c->next || !c->before || !c->flags)
        return -ENOMEM;
    cache_clear(c);
    return 0;
}

void cache_free(struct cache *c)
{
    buffer_free(c->next, (size_t)c->pages * 4);
    buffer_free(c->before, (size_t)c->pages * 4);
    buffer_free(c->flags, c->pages);
    *c = (struct cache){0};
}

void cache_clear(struct cache *c)
{
    memset(c->flags, 0, c->pages);
    c->held = 0;
    c->first = c->last = NONE;
}

void cache_store(struct cache *c, uint32_t page)
{
    c->flags[page] = CACHE_STORED;
}

void cache_power_cut(struct cache *c)
{
    for (uint32_t page = 0; page < c->pages; page++)
        c->flags[page] = c->flags[page] & (CACHE_CHANGED | CACHE_STORED) ? CACHE_STORED : 0;
    c->held = 0;
    c->first = c->last = NONE;
}

void cache_walk(struct cache *c, void (*visit)(void *data, uint64_t bytes, void *user), void *user)
{
    visit(c->next, (uint64_t)c->pages * 4, user);
    visit(c->before, (uint64_t)c->pages * 4, user);
    visit(c->flags, c->pages, user);
    visit(&c->held, sizeof c->held, user);
    visit(&c->first, sizeof c->first, user);
    visit(&c->last, sizeof c->last, user);
    visit(&c->hits, sizeof c->hits, user);
    visit(&c->misses, sizeof c->misses, user);
}

static void take_out(struct cache *c, uint32_t page)
{
    uint32_t next = c->next[page], before = c->before[page];
    if (before == NONE)
        c->first = next;
    else
        c->next[before] = next;
    if (next == NONE)
        c->last = before;
    else
        c->before[next] = before;
}

static void put_first(struct cache *c, uint32_t page)
{
    c->next[page] = c->first;
    c->before[page] = NONE;
    if (c->first == NONE)
        c->last = page;
    else
        c->before[c->first] = page;
    c->first = page;
}

uint32_t cache_use(struct cache *c, uint32_t page, bool change)
{
    uint32_t cost = CACHE_HIT;
    if (c->room == c->pages) { /* the whole map fits: nothing ever leaves */
        c->hits++;
        return cost;
    }
    if (c->flags[page] & CACHE_HELD) {
        c->hits++;
        if (c->first != page) {
            take_out(c, page);
            put_first(c, page);
        }
    } else {
        c->misses++;
        if (c->held == c->room) {
            uint32_t old = c->last;
            if (c->flags[old] & CACHE_CHANGED)
                cost |= CACHE_EVICT;
            c->flags[old] = c->flags[old] & CACHE_CHANGED ? CACHE_STORED : c->flags[old] & CACHE_STORED;
            take_out(c, old);
            c->held--;
        }
        if (c->flags[page] & CACHE_STORED)
            cost |= CACHE_FETCH;
        c->flags[page] |= CACHE_HELD;
        put_first(c, page);
        c->held++;
    }
    if (change)
        c->flags[page] |= CACHE_CHANGED;
    return cost;
}
