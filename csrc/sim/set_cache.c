/* SPDX-License-Identifier: MIT */
/* The controller's cache of what the host wrote: rows with the sectors that the members do not have yet. Behind a cache
 * that writes through they stay for as long as they are on their way; so writes of one row never overtake each other. */
#include <stdlib.h>
#include <string.h>

#include "sim/set_inside.h"

static uint32_t hash_of(const struct set *t, uint64_t row)
{
    return (uint32_t)((row * 0x9e3779b97f4a7c15ULL) >> 32) & (t->hash_room - 1);
}

struct line *cache_line(const struct set *t, uint64_t row)
{
    struct line *l = t->hash_room ? t->hash[hash_of(t, row)] : NULL;
    while (l && l->row != row)
        l = l->hash_next;
    return l;
}

static bool grow(struct set *t)
{
    uint32_t before = t->hash_room, room = before ? 2 * before : 256;
    struct line **hash = calloc(room, sizeof *hash), **old = t->hash;
    if (!hash)
        return false;
    t->hash = hash;
    t->hash_room = room;
    for (uint32_t i = 0; i < before; i++)
        for (struct line *l = old[i], *next; l; l = next) {
            next = l->hash_next;
            struct line **at = &hash[hash_of(t, l->row)];
            l->hash_next = *at;
            *at = l;
        }
    free(old);
    return true;
}

struct line *cache_need(struct set *t, uint64_t row)
{
    struct line *l = cache_line(t, row);
    if (l)
        return l;
    if (t->n_lines >= t->hash_room && !grow(t))
        return NULL;
    l = calloc(1, sizeof *l + 2 * (size_t)t->shape.data * t->words * sizeof *l->bits);
    if (!l)
        return NULL;
    l->row = row;
    struct line **at = &t->hash[hash_of(t, row)];
    l->hash_next = *at;
    *at = l;
    t->n_lines++;
    return l;
}

static struct line_queue *list_of(struct set *t, const struct line *l)
{
    return l->list == LINE_AGING ? &t->aging : &t->urgent;
}

void cache_unlist(struct set *t, struct line *l)
{
    if (l->list == LINE_NONE)
        return;
    struct line_queue *q = list_of(t, l);
    *(l->older ? &l->older->newer : &q->first) = l->newer;
    *(l->newer ? &l->newer->older : &q->last) = l->older;
    l->older = l->newer = NULL;
    l->list = LINE_NONE;
}

static void enlist(struct set *t, struct line *l, enum line_list list)
{
    if (l->list == (uint8_t)list)
        return;
    cache_unlist(t, l);
    l->list = (uint8_t)list;
    struct line_queue *q = list_of(t, l);
    l->older = q->last;
    *(q->last ? &q->last->newer : &q->first) = l;
    q->last = l;
}

static struct wait *free_waits(struct wait *w)
{
    for (struct wait *next; w; w = next) {
        next = w->next;
        free(w);
    }
    return NULL;
}

void cache_drop(struct set *t, struct line *l)
{
    cache_unlist(t, l);
    struct line **at = &t->hash[hash_of(t, l->row)];
    while (*at != l)
        at = &(*at)->hash_next;
    *at = l->hash_next;
    t->n_lines--;
    free(l->parity);
    free_waits(l->waits);
    free_waits(l->flying_waits);
    free(l);
}

void cache_clear_lines(struct set *t)
{
    for (uint32_t i = 0; i < t->hash_room; i++)
        while (t->hash[i])
            cache_drop(t, t->hash[i]);
    t->used = 0;
}

/* A row that is whole goes at once, as does one that somebody waits for; others wait for more to come. */
void cache_put_back(struct set *t, struct line *l)
{
    if (l->phase != LINE_IDLE)
        return;
    if (l->waits || l->rebuild || l->n_dirty * SET_SECTOR == set_row_bytes(t))
        enlist(t, l, LINE_URGENT);
    else if (l->n_dirty && l->list == LINE_NONE)
        enlist(t, l, LINE_AGING);
    else if (!l->n_dirty)
        cache_drop(t, l);
}

void cache_write(struct set *t, struct line *l, struct piece p)
{
    uint64_t before = l->n_dirty;
    if (!before)
        l->since = t->at;
    uint64_t *bits = line_dirty(t, l, p.k);
    uint64_t had = bits_count(bits, t->words);
    bits_set(bits, p.at / (uint32_t)SET_SECTOR, p.bytes / (uint32_t)SET_SECTOR);
    l->n_dirty += bits_count(bits, t->words) - had;
    t->used += (l->n_dirty - before) * SET_SECTOR;
}

int cache_wait(struct set *t, struct line *l, uint32_t order)
{
    struct wait *w = malloc(sizeof *w);
    if (!w)
        return -1;
    struct wait **list = l->n_dirty ? &l->waits : &l->flying_waits;
    *w = (struct wait){*list, order};
    *list = w;
    t->orders[order].pending++;
    return 0;
}

/* Which row is written out next. */
static struct line *choose(struct set *t)
{
    if (t->urgent.first)
        return t->urgent.first;
    struct line *l = t->aging.first;
    if (l && (t->used > t->shape.cache_bytes / 2 || l->since + (int64_t)t->shape.age_ns <= t->at))
        return l;
    return NULL;
}

static void settle_line(struct set *t, struct line *l)
{
    uint32_t half = t->shape.data * t->words;
    for (uint32_t w = 0; w < half; w++) {
        l->bits[w] |= l->bits[half + w];
        l->bits[half + w] = 0;
    }
    free(l->parity);
    l->parity = NULL;
    l->waits = free_waits(l->waits);
    l->flying_waits = free_waits(l->flying_waits);
    l->n_dirty = bits_count(l->bits, half);
    l->n_flying = 0;
    l->phase = LINE_IDLE;
    l->pending = l->rebuild = 0;
    t->used += l->n_dirty * SET_SECTOR;
}

/* Those that are in no list go back into one in the order of their rows: where they lie in the table says nothing. */
void cache_after_cut(struct set *t)
{
    struct line *back[SET_DESTAGE_MAX + 2];
    uint32_t n = 0;
    t->used = 0;
    for (uint32_t i = 0; i < t->hash_room; i++)
        for (struct line *l = t->hash[i]; l; l = l->hash_next) {
            bool was_rebuilt = l->rebuild;
            settle_line(t, l);
            if (l->list != LINE_NONE && !was_rebuilt)
                continue;
            cache_unlist(t, l);
            uint32_t at = n++;
            for (; at && back[at - 1]->row > l->row; at--)
                back[at] = back[at - 1];
            back[at] = l;
        }
    for (uint32_t i = 0; i < n; i++)
        cache_put_back(t, back[i]);
}

void cache_hurry(struct set *t)
{
    while (t->aging.first)
        enlist(t, t->aging.first, LINE_URGENT);
}

void cache_destage(struct sim *s)
{
    struct set *t = s->set;
    struct line *l;
    while (!t->hold && t->flying < SET_DESTAGE_MAX && (l = choose(t)) != NULL) {
        cache_unlist(t, l);
        row_start(s, l);
    }
    if (!t->hold && !t->age_set && t->aging.first) {
        int64_t due = t->aging.first->since + (int64_t)t->shape.age_ns;
        if (due > t->at) { /* else it goes when one that is on its way has arrived */
            t->age_set = true;
            set_event(t, due, EVENT_AGE, 0, NULL);
        }
    }
}
