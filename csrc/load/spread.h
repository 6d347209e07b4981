/* SPDX-License-Identifier: MIT */
/* Addresses that are neither uniform over one range nor one sequential stream. What takes floating point is worked out
 * before the start: a draw is a look-up in a table of steps, each of which has places that are equally likely. */
#ifndef SATED_LOAD_SPREAD_H
#define SATED_LOAD_SPREAD_H

#include <stdbool.h>

#include <sated/workload.h>

#include "core/random.h"

struct step {
    uint64_t first, span; /* places */
    uint32_t keep, other; /* alias table over the steps */
};

struct steps {
    uint32_t n;
    struct step *step;
};

/* A bijection of [0, n): of the next power of two, walked on until it falls below n (Black and Rogaway 2002). */
struct shuffle {
    uint64_t n, mask;
    uint32_t shift;
};

struct spread {
    uint32_t access; /* enum sated_access */
    uint32_t unit;   /* bytes from one place to the next */
    uint64_t places; /* where every size fits */
    uint64_t key;    /* of shuffles */
    bool scattered;  /* steps are of ranks, which are shuffled */
    struct shuffle shuffle;
    struct steps steps[2]; /* of reads, of all else */
    /* Segments: `segment` places each (bytes, of a sequential load), which begin `pitch` bytes apart. */
    uint64_t first, segment, pitch, inverse;
    uint32_t segments;
    /* Sequential. */
    uint32_t threads, streams;
    uint64_t active; /* bytes of all segments */
    uint64_t *next;  /* of the streams of each thread, on cache lines of its own */
};

/* What each thread has of its own. */
struct spread_thread {
    uint64_t *next; /* of its streams */
    uint32_t turn;
    uint64_t index, pass, key; /* of a permutation: its next one, and of which pass with which key */
};

/* What there is to be spread over. */
struct spread_range {
    uint64_t first, end; /* bytes */
    uint32_t align;      /* of every offset */
    uint32_t max_bytes;  /* of an I/O */
    uint32_t sizes;      /* how many there are */
    const char *name;    /* of the drive */
};

/* Whether a workload needs all this. */
bool spread_is_needed(const struct sated_workload *w);

/* Return: 0, -ENOMEM, or SATED_PARSE for what the range has no room for. */
int spread_init(struct spread *s, const struct sated_workload *w, const struct spread_range *r, uint64_t seed);
void spread_free(struct spread *s);
void spread_thread_init(struct spread_thread *t, const struct spread *s, uint32_t thread);

/* Makes `shuffle` of n places. */
void shuffle_init(struct shuffle *s, uint64_t n);

/* The place of a rank. Each of the four rounds is a bijection of the bits under the mask. */
static inline uint64_t shuffle_at(const struct shuffle *s, uint64_t x, uint64_t key)
{
    do {
        x = (x ^ key) * 0x9e3779b97f4a7c15u & s->mask;
        x ^= x >> s->shift;
        x = (x + (key >> 21)) * 0xbf58476d1ce4e5b9u & s->mask;
        x ^= x >> s->shift;
        x = (x ^ key >> 42) * 0x94d049bb133111ebu & s->mask;
        x ^= x >> s->shift;
        x = (x + (key >> 11)) * 0xd1b54a32d192ed03u & s->mask;
        x ^= x >> s->shift;
        x &= s->mask;
    } while (x >= s->n);
    return x;
}

/* A pass's own key. */
static inline uint64_t spread_pass_key(const struct spread *s, uint64_t pass)
{
    uint64_t z = s->key + pass * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline uint64_t steps_draw(const struct steps *s, struct random *r)
{
    const struct step *at = s->step;
    if (s->n > 1) {
        unsigned __int128 drawn = (unsigned __int128)random_next(r) * s->n;
        at += (uint64_t)(drawn >> 64);
        if ((uint32_t)((uint64_t)drawn >> 32) >= at->keep)
            at = &s->step[at->other];
    }
    return at->span == 1 ? at->first : at->first + random_below(r, at->span);
}

/* In which segment something lies. The inverse is rounded down, so that the product is right or one too few. */
static inline uint64_t spread_segment(const struct spread *s, uint64_t at)
{
    if (s->segments == 1)
        return 0;
    uint64_t segment = (uint64_t)((unsigned __int128)at * s->inverse >> 64);
    return segment + ((segment + 1) * s->segment <= at);
}

static inline uint64_t spread_at(const struct spread *s, uint64_t place)
{
    uint64_t segment = spread_segment(s, place);
    return s->first + segment * s->pitch + (place - segment * s->segment) * s->unit;
}

/* Each segment is one piece, and so is their sequence: no I/O reaches beyond. */
static inline uint64_t spread_following(const struct spread *s, struct spread_thread *t, uint32_t bytes)
{
    uint64_t *next = &t->next[t->turn], at = *next, segment = spread_segment(s, at);
    if (++t->turn == s->streams)
        t->turn = 0;
    if (at - segment * s->segment + bytes > s->segment) {
        if (++segment >= s->segments)
            segment = 0;
        at = segment * s->segment;
    }
    *next = at + bytes < s->active ? at + bytes : 0;
    return s->first + segment * s->pitch + (at - segment * s->segment);
}

static inline uint64_t spread_once(const struct spread *s, struct spread_thread *t)
{
    while (__builtin_expect(t->index >= s->places, 0)) {
        t->index -= s->places;
        t->key = spread_pass_key(s, ++t->pass);
    }
    uint64_t place = shuffle_at(&s->shuffle, t->index, t->key);
    t->index += s->threads;
    return spread_at(s, place);
}

/* @param op enum sated_op, not a flush */
static inline uint64_t spread_next(const struct spread *s, struct spread_thread *t, struct random *r, uint32_t op,
                                   uint32_t bytes)
{
    if (s->access == SATED_SEQUENTIAL)
        return spread_following(s, t, bytes);
    if (s->access == SATED_PERMUTATION)
        return spread_once(s, t);
    uint64_t place = steps_draw(&s->steps[op != SATED_READ], r);
    return spread_at(s, s->scattered ? shuffle_at(&s->shuffle, place, s->key) : place);
}

#endif
