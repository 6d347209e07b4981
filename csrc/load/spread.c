/* SPDX-License-Identifier: MIT */
#include "load/spread.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/power.h"
#include "load/alias.h"

/* Ranks: below 2048 each has a step of its own, and above there are 1024 steps in each power of two. Within one, which is
 * taken as uniform, likelihoods differ by a factor of 1 + theta/1024 at most. */
#define FINE UINT64_C(1024)
#define NORMAL_STEPS 16384
#define NORMAL_REACH 8 /* standard deviations; what lies beyond has 1e-15 of all */
#define LINE 16        /* places of 8 bytes on the cache lines of a thread */

#define refused(...) error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, __VA_ARGS__)

bool spread_is_needed(const struct sated_workload *w)
{
    return w->access > SATED_SEQUENTIAL || w->streams > 1 || w->segments > 1 || w->active_bytes ||
           w->active_fraction > 0;
}

/* Steps while they are made: `left` has the share of each, in any unit. */
struct making {
    struct steps *steps;
    double *left;
    uint32_t room;
};

static bool begin(struct making *m, struct steps *s, uint32_t room)
{
    *m = (struct making){.steps = s, .room = room};
    s->n = 0;
    s->step = calloc(room, sizeof *s->step);
    m->left = calloc(room, sizeof *m->left);
    return s->step && m->left;
}

static void add(struct making *m, uint64_t first, uint64_t span, double share)
{
    m->steps->step[m->steps->n] = (struct step){.first = first, .span = span};
    m->left[m->steps->n++] = share;
}

/* The alias table. Return: 0 or -ENOMEM. */
static int end(struct making *m)
{
    uint32_t n = m->steps->n;
    double sum = 0;
    uint32_t *room = calloc(3 * (size_t)n, sizeof *room);
    if (!room) {
        free(m->left);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < n; i++)
        sum += m->left[i];
    for (uint32_t i = 0; i < n; i++)
        m->left[i] /= sum;
    alias_make(m->left, room, n, room + n, room + 2 * (size_t)n);
    for (uint32_t i = 0; i < n; i++) {
        m->steps->step[i].keep = room[n + i];
        m->steps->step[i].other = room[2 * (size_t)n + i];
    }
    free(room);
    free(m->left);
    return 0;
}

static int give_up(struct making *m)
{
    free(m->left);
    return -ENOMEM;
}

/* --- laws over ranks, which are counted from 1 --- */

/* The sum of k^-theta over [first, first + span): one term, or the integral from half a rank before the first to half a
 * rank before the end, by Simpson's rule. With spans of k/1024 both are exact to some 1e-7. */
static double zipf_share(uint64_t first, uint64_t span, double theta)
{
    if (span == 1)
        return power_of((double)first, -theta);
    double a = (double)first - 0.5, n = (double)span;
    return n / 6 * (power_of(a, -theta) + 4 * power_of(a + n / 2, -theta) + power_of(a + n, -theta));
}

/* Of the addresses up to a fraction x there are x^slope of the I/Os. */
static double pareto_share(uint64_t first, uint64_t span, double slope, double places)
{
    double below = first > 1 ? power_of((double)(first - 1) / places, slope) : 0;
    return power_of((double)(first - 1 + span) / places, slope) - below;
}

static int ranked(struct spread *s, const struct sated_workload *w)
{
    struct making m;
    double theta = w->theta > 0 ? w->theta : 1.1, h = w->h > 0 ? w->h : 0.2;
    double slope = power_log(1 - h) / power_log(h);
    uint32_t powers = 64 - (uint32_t)__builtin_clzll(s->places);
    if (!begin(&m, &s->steps[0], (uint32_t)FINE * (powers + 1)))
        return give_up(&m);
    for (uint64_t rank = 1, span = 1; rank <= s->places; rank += span) {
        if (rank >= 2 * FINE && !(rank & (rank - 1)))
            span *= 2;
        uint64_t n = span < s->places - rank + 1 ? span : s->places - rank + 1;
        add(&m, rank - 1, n,
            s->access == SATED_ZIPF ? zipf_share(rank, n, theta) : pareto_share(rank, n, slope, (double)s->places));
    }
    return end(&m);
}

/* The integral of the density over [from, to), by Simpson's rule; in standard deviations, and not normalised. */
static double normal_share(double from, double to)
{
    double middle = (from + to) / 2;
    return (to - from) / 6 *
           (power_exp(-from * from / 2) + 4 * power_exp(-middle * middle / 2) + power_exp(-to * to / 2));
}

static int normal(struct spread *s, const struct sated_workload *w)
{
    struct making m;
    double sigma = (w->stddev > 0 ? w->stddev : 0.1) * (double)s->places, center = (double)s->places / 2;
    if (sigma < 0.25) /* places; narrower than one is one */
        sigma = 0.25;
    double reach = sigma * NORMAL_REACH;
    uint64_t from = reach < center ? (uint64_t)(center - reach) : 0, to = s->places - from;
    uint64_t span = (to - from + NORMAL_STEPS - 1) / NORMAL_STEPS;
    if (!begin(&m, &s->steps[0], NORMAL_STEPS))
        return give_up(&m);
    for (; from < to; from += span) {
        uint64_t n = span < to - from ? span : to - from;
        /* Where there are few places, one step may be wide against sigma. */
        uint32_t parts = 1 + (uint32_t)((double)n / sigma * 64);
        double share = 0, width = (double)n / parts / sigma, at = ((double)from - center) / sigma;
        for (uint32_t i = 0; i < parts; i++)
            share += normal_share(at + i * width, at + (i + 1) * width);
        add(&m, from, n, share);
    }
    return end(&m);
}

static int uniform(struct spread *s, struct steps *steps)
{
    struct making m;
    if (!begin(&m, steps, 1))
        return give_up(&m);
    add(&m, 0, s->places, 1);
    return end(&m);
}

/* How many of `units` places the zones behind zone i need. */
static uint64_t zones_behind(const struct spread *s, const struct sated_zone *z, uint32_t i, uint32_t n, uint64_t units)
{
    double fraction = 0;
    uint64_t bytes = 0;
    while (++i < n) {
        fraction += z[i].fraction;
        bytes += (z[i].bytes + s->unit - 1) / s->unit;
    }
    uint64_t need = (uint64_t)(fraction * (double)units + 0.5) + bytes;
    return need < units ? need : units;
}

/* @param units places in all, also those at the end at which the greatest I/O does not fit */
static int zones(struct spread *s, const struct sated_workload *w, uint32_t direction, uint64_t units,
                 const struct spread_range *r)
{
    struct making m;
    const struct sated_zone *z = w->zones[direction];
    uint32_t n = w->n_zones[direction];
    uint64_t from = 0, to;
    double exact = 0; /* so that rounding does not add up */
    if (!n)
        return uniform(s, &s->steps[direction]);
    if (!begin(&m, &s->steps[direction], n))
        return give_up(&m);
    for (uint32_t i = 0; i < n; i++, from = to) {
        if (z[i].bytes)
            exact = (double)(from + (z[i].bytes + s->unit - 1) / s->unit);
        else if (z[i].fraction > 0)
            exact += z[i].fraction * (double)units;
        else
            exact = (double)(units - zones_behind(s, z, i, n, units));
        to = (uint64_t)(exact + 0.5);
        if (to > s->places && to <= units)
            to = s->places;
        if (to > s->places || to <= from) {
            free(m.left);
            return refused("%s: zone %" PRIu32 " of %s has no room: an I/O may begin at %" PRIu64 " places, every "
                           "%" PRIu32 " bytes; give it more of the range, or less to the others",
                           r->name, i + 1, direction ? "writes" : "reads", s->places, s->unit);
        }
        add(&m, from, to - from, z[i].share);
    }
    return end(&m);
}

/* --- ranges --- */

void shuffle_init(struct shuffle *s, uint64_t n)
{
    uint32_t bits = n > 1 ? 64 - (uint32_t)__builtin_clzll(n - 1) : 0;
    *s = (struct shuffle){.n = n, .mask = ((uint64_t)1 << bits) - 1, .shift = bits > 1 ? (bits + 1) / 2 : 1};
}

static uint64_t align_down(uint64_t bytes, uint32_t align)
{
    return bytes / align * align;
}

/* Segments of `bytes` each. */
static int cut(struct spread *s, const struct sated_workload *w, const struct spread_range *r, uint64_t *bytes)
{
    uint64_t whole = r->end - r->first, active = whole;
    s->segments = w->segments ? w->segments : 1;
    if (w->active_bytes)
        active = w->active_bytes;
    else if (w->active_fraction > 0)
        active = (uint64_t)(w->active_fraction * (double)whole);
    if (active > whole)
        return refused("%s: an active range of %" PRIu64 " bytes is more than the %" PRIu64
                       " of the range; make it smaller",
                       r->name, active, whole);
    s->pitch = align_down(whole / s->segments, r->align);
    *bytes = align_down(active / s->segments, r->align);
    if (*bytes < r->max_bytes || !*bytes)
        return refused("%s: an active range of %" PRIu64 " bytes in %" PRIu32 " segments has no room for one I/O of "
                       "%" PRIu32 " bytes in each; give more bytes or fewer segments",
                       r->name, active, s->segments, r->max_bytes);
    if (*bytes > s->pitch)
        *bytes = s->pitch;
    s->first = r->first;
    return 0;
}

static int sequential(struct spread *s, uint64_t bytes, uint32_t align)
{
    uint64_t all = (uint64_t)s->threads * s->streams;
    s->segment = bytes;
    s->active = bytes * s->segments;
    s->next = aligned_alloc(LINE * sizeof *s->next,
                            (size_t)s->threads * ((s->streams + LINE - 1) / LINE * LINE) * sizeof *s->next);
    if (!s->next)
        return -ENOMEM;
    for (uint32_t t = 0; t < s->threads; t++) {
        struct spread_thread thread;
        spread_thread_init(&thread, s, t);
        for (uint32_t i = 0; i < s->streams; i++)
            thread.next[i] =
                align_down((uint64_t)((unsigned __int128)s->active * ((uint64_t)t * s->streams + i) / all), align);
    }
    return 0;
}

static int once(struct spread *s, const struct spread_range *r, uint64_t bytes)
{
    if (r->sizes != 1)
        return refused("%s: access = \"permutation\" takes each block once, so there is one size of blocks, not "
                       "%" PRIu32 "; give size, or another access",
                       r->name, r->sizes);
    s->unit = r->max_bytes;
    s->segment = bytes / s->unit;
    return 0;
}

static int make(struct spread *s, const struct sated_workload *w, const struct spread_range *r)
{
    uint64_t bytes = 0;
    int rc = cut(s, w, r, &bytes);
    if (rc)
        return rc;
    s->unit = r->align;
    s->segment = (bytes - r->max_bytes) / r->align + 1;
    if (s->access == SATED_SEQUENTIAL)
        rc = sequential(s, bytes, r->align);
    else if (s->access == SATED_PERMUTATION)
        rc = once(s, r, bytes);
    if (rc)
        return rc;
    s->inverse = UINT64_MAX / s->segment;
    s->places = s->segment * s->segments;
    shuffle_init(&s->shuffle, s->places);
    switch (s->access) {
    case SATED_RANDOM: rc = uniform(s, &s->steps[0]); break;
    case SATED_ZIPF:
    case SATED_PARETO:
        s->scattered = true;
        rc = ranked(s, w);
        break;
    case SATED_NORMAL: rc = normal(s, w); break;
    case SATED_ZONES:
        for (uint32_t d = 0; !rc && d < 2; d++)
            rc = zones(s, w, d, s->segments > 1 ? s->places : bytes / s->unit, r);
        break;
    }
    if (!rc && s->access != SATED_ZONES)
        s->steps[1] = s->steps[0];
    return rc;
}

int spread_init(struct spread *s, const struct sated_workload *w, const struct spread_range *r, uint64_t seed)
{
    struct random random;
    memset(s, 0, sizeof *s);
    random_seed(&random, seed ^ 0x706c61636573u, 0);
    s->key = random_next(&random);
    s->access = w->access;
    s->threads = w->threads;
    s->streams = w->streams ? w->streams : 1;
    int rc = make(s, w, r);
    return rc == -ENOMEM ? error_set(rc, SATED_LAYER_NONE, "%s: not enough memory for its addresses", r->name) : rc;
}

void spread_free(struct spread *s)
{
    if (s->steps[1].step != s->steps[0].step)
        free(s->steps[1].step);
    free(s->steps[0].step);
    free(s->next);
    memset(s->steps, 0, sizeof s->steps);
    s->next = NULL;
}

void spread_thread_init(struct spread_thread *t, const struct spread *s, uint32_t thread)
{
    *t = (struct spread_thread){
        .next = s->next ? s->next + (size_t)thread * ((s->streams + LINE - 1) / LINE * LINE) : NULL,
        .index = thread,
        .key = spread_pass_key(s, 0),
    };
}
