/* SPDX-License-Identifier: MIT */
/* What happens to I/Os, counted by the thread that does them, in intervals with fixed ends. Times are the drive's own
 * nanoseconds since the start of the load. An I/O belongs to the interval (from, to] in which it completes. */
#ifndef SATED_LOAD_RECORDER_H
#define SATED_LOAD_RECORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <sated/load.h>

#include "core/histogram.h"
#include "load/mix.h"

/* One class in one interval. An I/O is counted once, in the histogram: rows, totals and histograms cannot differ. */
struct tally {
    struct sated_histogram *latency;  /* of the completed; its count is the number of I/Os */
    struct sated_histogram *response; /* of the same from when they were to begin; NULL where nothing has a rate */
    uint64_t errors;
    int64_t late_max_ns;     /* of the submissions of those */
    __int128 late_ns;        /* their sum */
    __int128 outstanding_ns; /* outstanding I/Os, integrated */
};

/* NULL: there is none of that kind. */
static inline struct sated_histogram *tally_histogram(const struct tally *t, uint32_t kind)
{
    return kind == SATED_SERVICE ? t->latency : t->response;
}

/* What one thread, or one drive, counted in one interval. */
struct sheet {
    struct sheet *next;
    uint64_t k;     /* the interval ends at k x interval_ns, counted from 1 */
    uint32_t phase; /* enum sated_phase; an interval in which the load ends has two sheets */
    uint32_t classes;
    uint32_t worker; /* number of the thread that counted, in real loads */
    int64_t from_ns, to_ns;
    uint64_t submissions, submitted, submitted_max; /* system calls that submitted, I/Os in them, most in one */
    uint64_t backlog_max;                           /* most I/Os that a thread had due, but no slot for */
    uint64_t starved;                               /* waits for addresses that ended in it */
    int64_t starved_ns;                             /* how long those were */
    struct tally tally[];
};

/* The order of sheets: within an interval what follows the end comes second. */
static inline uint64_t sheet_order(const struct sheet *s)
{
    return s->k * 2 + (s->phase == SATED_AFTER_STOP);
}

static inline bool sheet_is_empty(const struct sheet *s)
{
    for (uint32_t i = 0; i < s->classes; i++)
        if (s->tally[i].latency->count || s->tally[i].errors)
            return false;
    return s->to_ns == s->from_ns;
}

/* @param responses whether there is a rate; @param bits of its histograms. Return: NULL: no memory. */
struct sheet *sheet_new(uint32_t classes, bool responses, uint32_t bits);
void sheet_free(struct sheet *s);
void sheet_reset(struct sheet *s);
/* Adds what `from` counted. @param into holds the same interval, or is empty. */
void sheet_merge(struct sheet *into, const struct sheet *from);

struct recorder {
    _Atomic int64_t edge_ns; /* where the running sheet ends; others may only bring it forward, under the load's lock */
    bool submitting;         /* the running sheet lies before the end of the measured phase */
    bool limited;            /* I/Os and bytes are counted down in it */
    bool charged;            /* what was outstanding when that began has been counted too */
    int64_t now_ns;          /* of the last event */
    struct sheet *sheet;
    uint32_t outstanding_all;
    uint32_t outstanding[MIX_CLASSES];
    int64_t since_ns[MIX_CLASSES]; /* up to when outstanding is integrated */
    int64_t area[MIX_CLASSES];     /* outstanding x ns since the sheet began */
};

static inline void recorder_change(struct recorder *r, uint32_t class, int64_t now_ns, int32_t change)
{
    r->area[class] += (int64_t)r->outstanding[class] * (now_ns - r->since_ns[class]);
    r->since_ns[class] = now_ns;
    r->outstanding[class] += (uint32_t)change;
    r->outstanding_all += (uint32_t)change;
    r->now_ns = now_ns;
}

static inline int64_t recorder_edge_ns(const struct recorder *r)
{
    return atomic_load_explicit(&r->edge_ns, memory_order_relaxed);
}

/* Times must not go backwards, nor pass the edge: recorder_is_due says when the sheet has to be closed first. */
static inline bool recorder_is_due(const struct recorder *r, int64_t now_ns)
{
    return now_ns > atomic_load_explicit(&r->edge_ns, memory_order_relaxed);
}

static inline void recorder_submit(struct recorder *r, uint32_t class, int64_t now_ns)
{
    recorder_change(r, class, now_ns, 1);
}

static inline void recorder_complete(struct recorder *r, uint32_t class, int64_t now_ns, int64_t latency_ns)
{
    recorder_change(r, class, now_ns, -1);
    struct sated_histogram *h = r->sheet->tally[class].latency;
    histogram_record(h, latency_ns > 0 ? (uint64_t)latency_ns : 0, h->bits);
}

/* One that was to begin at intended_ns, and was submitted at submitted_ns. */
static inline void tally_response(struct tally *t, int64_t intended_ns, int64_t submitted_ns, int64_t now_ns)
{
    if (submitted_ns - intended_ns > t->late_max_ns)
        t->late_max_ns = submitted_ns - intended_ns;
    t->late_ns += submitted_ns - intended_ns;
    histogram_record(t->response, now_ns > intended_ns ? (uint64_t)(now_ns - intended_ns) : 0, t->response->bits);
}

static inline void recorder_fail(struct recorder *r, uint32_t class, int64_t now_ns)
{
    recorder_change(r, class, now_ns, -1);
    r->sheet->tally[class].errors++;
}

/* An I/O that is about to be completed had ended `late_ns` ago: its thread had to wait for its turn, and that was no
 * time outstanding. Taken off the running sheet even if some of it fell into the one before: the sum is right. */
static inline void recorder_was_earlier(struct recorder *r, uint32_t class, int64_t late_ns)
{
    r->area[class] -= late_ns;
}

/* Begins an interval with an empty sheet. */
void recorder_begin(struct recorder *r, struct sheet *s, uint64_t k, uint32_t phase, int64_t from_ns, int64_t edge_ns);

/* Ends it at to_ns and hands the sheet over. */
struct sheet *recorder_close(struct recorder *r, int64_t to_ns);

#endif
