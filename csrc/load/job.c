/* SPDX-License-Identifier: MIT */
/* The public face of a load. */
#include "load/job.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/error.h"
#include "load/options.h"
#include "transport/handle.h"

static void release(struct sated_load *l)
{
    if (l->real)
        engine_real_free(l);
    for (uint32_t i = 0; i < l->n; i++) {
        handle_return(l->members[i].fd);
        address_range_free(&l->members[i].range);
        supply_queue_free(&l->members[i].supply);
        sheet_free(l->members[i].span);
        sheet_free(l->members[i].total);
    }
    sated_histogram_free(l->pooled);
    for (struct stored *s; outbox_take(&l->histograms, &s, 1);)
        free(s);
    outbox_free(&l->histograms);
    log_free(&l->log);
    outbox_free(&l->rows);
    outbox_free(&l->environment);
    supply_free(&l->supply);
    pthread_cond_destroy(&l->changed);
    pthread_cond_destroy(&l->go);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

static struct sated_load *make(void)
{
    struct sated_load *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, &attributes);
    pthread_cond_init(&l->go, &attributes);
    pthread_condattr_destroy(&attributes);
    supply_init(&l->supply);
    outbox_init(&l->rows, sizeof(struct sated_row));
    outbox_init(&l->environment, sizeof(struct sated_environment));
    outbox_init(&l->histograms, sizeof(struct stored *));
    l->spill_bytes = COLLECT_SPILL;
    l->progress.lat_p99_ns = -1;
    l->progress.running = 1;
    return l;
}

/* All simulated or none, each once. */
static int check_drives(struct sated_drive *const *drives, size_t n)
{
    if (n < 1 || n > LOAD_DRIVES)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "a load on %zu drives: give between 1 and %d", n,
                         LOAD_DRIVES);
    for (size_t i = 0; i < n; i++) {
        if ((drives[i]->kind == HANDLE_SIMULATED) != (drives[0]->kind == HANDLE_SIMULATED))
            return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                             "%s and %s: simulated and real drives have different clocks; start a load on each",
                             drives[0]->path, drives[i]->path);
        for (size_t j = 0; j < i; j++)
            if (drives[i] == drives[j])
                return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                                 "%s: the same drive twice in one load; use more threads", drives[i]->path);
    }
    return 0;
}

/* Each of these has its histograms in every sheet. */
static void choose_bits(struct sated_load *l, uint32_t drives)
{
    uint32_t n = drives * l->workload.threads * l->mix.n;
    l->bits = n > LOAD_FINE ? HISTOGRAM_BITS_COARSE : HISTOGRAM_BITS;
    if (l->bits != HISTOGRAM_BITS)
        load_note(
            l, "percentiles are exact to 1/%u, not 1/%u, because %u classes in %u threads are more than %d histograms",
            1u << HISTOGRAM_BITS_COARSE, 1u << HISTOGRAM_BITS, l->mix.n, drives * l->workload.threads, LOAD_FINE);
}

static int prepare(struct sated_load *l, struct sated_drive *const *drives, size_t n, const struct sated_workload *w,
                   const struct sated_load_options *opt)
{
    int rc = options_take(l, opt);
    if (!rc)
        rc = options_take_workload(l, w);
    if (!rc)
        rc = check_drives(drives, n);
    if (!rc)
        choose_bits(l, (uint32_t)n);
    if (!rc && sated_histogram_new(&l->pooled))
        rc = load_no_memory();
    for (size_t i = 0; !rc && i < n; i++) {
        struct member *m = &l->members[l->n++];
        m->load = l;
        m->drive = drives[i];
        m->name = drives[i]->path;
        m->index = (uint32_t)i;
        m->fd = -1;
        rc = options_take_drive(l, m);
        if (rc)
            break;
        m->span = load_sheet_new(l);
        m->total = load_sheet_new(l);
        if (!m->span || !m->total)
            rc = load_no_memory();
    }
    if (!rc && !l->options.settle)
        load_measure_from(l, l->ramp_k);
    return rc;
}

int sated_load_start(struct sated_load **out, struct sated_drive *const *drives, size_t n,
                     const struct sated_workload *w, const struct sated_load_options *opt)
{
    *out = NULL;
    struct sated_load *l = make();
    if (!l)
        return load_no_memory();
    int rc = prepare(l, drives, n, w, opt);
    if (!rc) {
        for (uint32_t i = 0; i < l->n; i++)
            l->members[i].drive->busy = HANDLE_LOAD;
        bool simulated = drives[0]->kind == HANDLE_SIMULATED;
        l->engine = simulated ? SATED_ENGINE_SIMULATED : SATED_ENGINE_AUTO;
        rc = simulated ? engine_sim_start(l) : engine_real_start(l);
        for (uint32_t i = 0; rc && i < l->n; i++)
            l->members[i].drive->busy = HANDLE_IDLE;
    }
    if (rc) {
        release(l);
        return rc;
    }
    l->started = true;
    *out = l;
    return 0;
}

int sated_load_wait(struct sated_load *l, int64_t timeout_ns)
{
    int64_t end_ns = 0;
    bool for_ever = timeout_ns < 0 || __builtin_add_overflow(clock_now_ns(), timeout_ns, &end_ns);
    struct timespec end = {.tv_sec = end_ns / 1000000000, .tv_nsec = end_ns % 1000000000};
    int rc = 0;
    pthread_mutex_lock(&l->lock);
    while (!l->ended && !rc && !l->progress.tick && outbox_bytes(&l->rows) <= COLLECT_MUCH && !log_is_much(&l->log)) {
        if (for_ever)
            pthread_cond_wait(&l->changed, &l->lock);
        else
            rc = pthread_cond_timedwait(&l->changed, &l->lock, &end);
    }
    rc = l->ended ? (l->detail.code ? error_copy(&l->detail) : 0) : 1;
    pthread_mutex_unlock(&l->lock);
    return rc;
}

static int take(struct sated_load *l, struct outbox *from, void *out, size_t cap)
{
    pthread_mutex_lock(&l->lock);
    size_t n = outbox_take(from, out, cap < INT32_MAX ? cap : INT32_MAX);
    pthread_cond_broadcast(&l->go);
    pthread_mutex_unlock(&l->lock);
    return (int)n;
}

int sated_load_take_rows(struct sated_load *l, struct sated_row *out, size_t cap)
{
    return take(l, &l->rows, out, cap);
}

int sated_load_take_environment(struct sated_load *l, struct sated_environment *out, size_t cap)
{
    return take(l, &l->environment, out, cap);
}

int sated_load_take_ios(struct sated_load *l, struct sated_io *out, size_t cap)
{
    pthread_mutex_lock(&l->lock);
    size_t n = log_take(&l->log, out, cap < INT32_MAX ? cap : INT32_MAX);
    pthread_cond_broadcast(&l->go);
    pthread_mutex_unlock(&l->lock);
    return (int)n;
}

int sated_load_take_histogram(struct sated_load *l, struct sated_histogram_row *row, struct sated_histogram *into)
{
    struct stored *s = NULL;
    pthread_mutex_lock(&l->lock);
    outbox_take(&l->histograms, &s, 1);
    pthread_mutex_unlock(&l->lock);
    if (!s)
        return 0;
    *row = s->row;
    int rc =
        sated_histogram_load(into, s->row.bits, s->values, s->values + s->n, s->n, s->min, s->max, s->sum, s->squares);
    free(s);
    return rc ? rc : 1;
}

void sated_load_get_progress(struct sated_load *l, struct sated_progress *out)
{
    pthread_mutex_lock(&l->lock);
    *out = l->progress;
    pthread_mutex_unlock(&l->lock);
}

/* From the next interval on: a simulated load has begun none beyond the check. */
static void decide(struct sated_load *l, int answer)
{
    if (answer == SATED_MEASURE && l->settle_k == UINT64_MAX)
        load_measure_from(l, l->begun_k > l->ramp_k ? l->begun_k : l->ramp_k);
    for (uint32_t i = 0; answer == SATED_END && i < l->n; i++)
        load_end_at(&l->members[i], load_edge_ns(&l->members[i], l->begun_k),
                    (int64_t)l->begun_k * l->options.interval_ns);
}

int sated_load_answer(struct sated_load *l, uint64_t tick, int answer)
{
    int rc = 0;
    if (answer < SATED_GO_ON || answer > SATED_END)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "answer %d is none; it is go on, measure or end", answer);
    pthread_mutex_lock(&l->lock);
    if (l->ended) {
        rc = 0; /* it ended while the answer was thought over: there is nothing left to decide */
    } else if (tick <= l->answered || tick > l->tick) {
        rc = error_set(SATED_STATE, SATED_LAYER_ARGUMENT, "check %llu does not wait for an answer",
                       (unsigned long long)tick);
    } else {
        l->answered = tick;
        if (tick == l->tick)
            l->progress.tick = 0;
        if (!atomic_load(&l->stop)) /* a simulated load that is stopped does not stand still any more */
            decide(l, answer);
        pthread_cond_broadcast(&l->go);
    }
    pthread_mutex_unlock(&l->lock);
    return rc;
}

void sated_load_stop(struct sated_load *l)
{
    pthread_mutex_lock(&l->lock);
    atomic_store(&l->stop, 1);
    pthread_cond_broadcast(&l->go);
    pthread_mutex_unlock(&l->lock);
}

static bool still_runs(struct sated_load *l)
{
    pthread_mutex_lock(&l->lock);
    bool runs = !l->ended;
    pthread_mutex_unlock(&l->lock);
    if (runs)
        error_set(SATED_STATE, SATED_LAYER_ARGUMENT, "the load still runs; wait for its end first");
    return runs;
}

/* NaN: no I/O has a rate. */
static double late_mean_ns(const struct tally *t)
{
    if (!t->response || !t->response->count)
        return __builtin_nan("");
    return (double)t->late_ns / (double)t->response->count;
}

int sated_load_get_totals(struct sated_load *l, struct sated_totals *out, size_t cap)
{
    if (still_runs(l))
        return SATED_STATE;
    size_t n = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        const struct member *m = &l->members[i];
        for (uint32_t class = 0; class < l->mix.n; class ++, n++) {
            if (n >= cap)
                continue;
            const struct tally *t = &m->total->tally[class];
            const struct sated_histogram *h = t->latency,
                                         *late = t->response && t->response->count ? t->response : NULL;
            out[n] = (struct sated_totals){
                .duration_ns = m->measured_ns,
                .ios = h->count,
                .bytes = h->count * l->mix.bytes[class],
                .errors = t->errors,
                .lat_min_ns = h->count ? (int64_t)h->min : -1,
                .lat_max_ns = h->count ? (int64_t)h->max : -1,
                .lat_mean_ns = sated_histogram_mean(h),
                .lat_stddev_ns = sated_histogram_stddev(h),
                .queue_mean = m->measured_ns > 0 ? (double)t->outstanding_ns / (double)m->measured_ns : 0,
                .batch_mean = m->total->submissions ? (double)m->total->submitted / (double)m->total->submissions
                                                    : __builtin_nan(""),
                .batch_max = m->total->submitted_max,
                .late_mean_ns = late_mean_ns(t),
                .late_max_ns = late ? t->late_max_ns : -1,
                .backlog_max = m->total->backlog_max,
                .unsent = m->unsent,
                .starved = m->total->starved,
                .starved_ns = m->total->starved_ns,
                .member = i,
                .op = l->mix.op[class],
                .size_bytes = l->mix.bytes[class],
                .engine = l->engine,
            };
        }
    }
    return (int)n;
}

int sated_load_get_histogram(struct sated_load *l, int op, int kind, struct sated_histogram *into)
{
    if (still_runs(l))
        return SATED_STATE;
    if (kind != SATED_SERVICE && (kind != SATED_RESPONSE || !l->rates.n))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "kind %d: it is service = 0 or, of a load with a rate, response = 1", kind);
    for (uint32_t i = 0; i < l->n; i++)
        for (uint32_t class = 0; class < l->mix.n; class ++)
            if (op < 0 || l->mix.op[class] == (uint32_t)op)
                sated_histogram_merge(into, tally_histogram(&l->members[i].total->tally[class], (uint32_t)kind));
    return 0;
}

int sated_load_get_errors(struct sated_load *l, uint64_t *offsets, int32_t *codes, size_t cap)
{
    pthread_mutex_lock(&l->lock);
    uint32_t n = l->errors_kept;
    for (uint32_t i = 0; i < n && i < cap; i++) {
        offsets[i] = l->error_offset[i];
        codes[i] = l->error_code[i];
    }
    pthread_mutex_unlock(&l->lock);
    return (int)n;
}

const char *sated_load_note(struct sated_load *l)
{
    pthread_mutex_lock(&l->lock);
    const char *note = l->ended && l->full_note[0] ? l->full_note : l->note;
    pthread_mutex_unlock(&l->lock);
    return note;
}

void sated_load_free(struct sated_load *l)
{
    if (!l)
        return;
    if (l->started) {
        sated_load_stop(l);
        pthread_join(l->thread, NULL);
    }
    release(l);
}
