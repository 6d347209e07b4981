/* SPDX-License-Identifier: MIT */
/* When I/Os are to begin: at a rate, fixed or Poisson, whatever the drive does meanwhile. Nothing is skipped: what is
 * due and finds no free slot waits, and its response time counts from when it was due. */
#ifndef SATED_LOAD_SCHEDULE_H
#define SATED_LOAD_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "load/mix.h"

/* --- keys of a workload (schedule.c) --- */

/* Sets rate, arrival or think. Return: 0, or SATED_PARSE. */
int schedule_set_rate(struct sated_workload *w, const char *text);
int schedule_set_think(struct sated_workload *w, const char *text);
int schedule_check(const struct sated_workload *w);

/* --- arrivals --- */

/* A sequence of arrivals, in nanoseconds with 64 bits behind the point: a rate holds to the last I/O of a year. */
struct schedule {
    unsigned __int128 at; /* the next arrival */
    unsigned __int128 period;
    bool poisson;
    struct random random;
};

/* @param rate of all threads together, per second; fixed arrivals go round the threads. */
void schedule_init(struct schedule *s, double rate, bool poisson, uint32_t thread, uint32_t threads, uint64_t seed,
                   uint64_t stream);

static inline int64_t schedule_at_ns(const struct schedule *s)
{
    return (int64_t)((s->at + ((unsigned __int128)1 << 63)) >> 64); /* to the nearest: what a period lacks is no ns */
}

void schedule_step(struct schedule *s);

/* --- what a load has at rates --- */

#define RATES (sizeof((struct sated_workload *)0)->rate / sizeof(double))

/* Some classes of a mix, as a mix of their own. */
struct part {
    struct mix mix;
    uint32_t class[MIX_CLASSES]; /* in the whole mix */
};

struct rates {
    uint32_t n;          /* schedules; 0 = none */
    bool whole;          /* one for everything, whose classes are those of the whole mix */
    bool has_rest;       /* there are I/Os at no rate, which fill the slots that are left */
    double per_s[RATES]; /* of each schedule */
    struct part part[RATES];
    struct part rest;
};

/* @param m of w. */
void rates_init(struct rates *r, const struct sated_workload *w, const struct mix *m);

/* One thread's. Two cursors go through the same arrivals: what lies between them is due, and not submitted yet. */
struct pace {
    const struct rates *rates;
    struct schedule due[RATES], next[RATES];
    uint64_t waiting[RATES]; /* arrivals between the two */
    uint64_t backlog;        /* their sum */
    uint64_t backlog_max;    /* of those that found no free slot, since it was set back */
    struct random random;    /* chooses classes */
};

void pace_init(struct pace *p, const struct rates *r, const struct sated_workload *w, uint64_t seed, uint32_t member,
               uint32_t thread);

/* Lets everything become due that is so by now_ns. @param slots free ones. Return: how many I/Os may be submitted now. */
uint32_t pace_due(struct pace *p, int64_t now_ns, uint32_t slots);

/* When the next arrival will be that is not due yet. */
int64_t pace_wake_ns(const struct pace *p);

/* Takes the earliest arrival that is due, or, if none is, an I/O at no rate, or else the next arrival, before its time.
 * @param class in: as the whole mix has it; out: of this I/O. Return: when it was to begin, PACE_NONE for one at no
 * rate. */
#define PACE_NONE INT64_MIN
int64_t pace_take(struct pace *p, int64_t now_ns, uint32_t *class);

#endif
