/* SPDX-License-Identifier: MIT */
/* From what was counted to what is handed over: rows, environment, histogram records, totals, progress. */
#include "load/job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "sim/sim.h"
#include "transport/handle.h"

/* The four percentiles of a row in one pass: nearest rank, clamped to [min, max]; -1 where fewer than one value lies
 * beyond, n (1 - q) < 1. */
static void row_percentiles(const struct sated_histogram *h, int64_t out[4])
{
    static const uint64_t beyond[4] = {2, 100, 1000, 10000}; /* 1 / (1 - q) */
    uint64_t seen = 0;
    int q = 0;
    for (int i = 0; i < 4; i++)
        out[i] = -1;
    for (uint32_t b = histogram_first(h), last = histogram_last(h); q < 4 && h->count >= beyond[q] && b <= last; b++) {
        seen += h->counts[b];
        while (q < 4 && h->count >= beyond[q] && seen >= h->count - h->count / beyond[q]) {
            uint64_t v = histogram_high(b, h->bits);
            out[q++] = (int64_t)(v > h->max ? h->max : v < h->min ? h->min : v);
        }
    }
}

/* Reported time of a moment that is the end of interval k, the end of the measured phase, or neither. */
static int64_t reported_ns(const struct member *m, uint64_t k, int64_t ns)
{
    pthread_mutex_t *lock = &m->load->lock;
    if (ns == load_edge_ns(m, k))
        return (int64_t)k * m->load->options.interval_ns;
    if (ns == load_edge_ns(m, k - 1))
        return (int64_t)(k - 1) * m->load->options.interval_ns;
    pthread_mutex_lock(lock);
    int64_t t_ns = ns == m->end_ns ? m->end_t_ns : ns * m->scale;
    pthread_mutex_unlock(lock);
    return t_ns;
}

static void make_row(const struct member *m, const struct sheet *s, uint32_t class, struct sated_row *row)
{
    const struct mix *mix = &m->load->mix;
    const struct sated_histogram *h = s->tally[class].latency;
    int64_t percentiles[4], duration_ns = s->to_ns - s->from_ns;
    __int128 outstanding_ns = s->tally[class].outstanding_ns;
    row_percentiles(h, percentiles);
    *row = (struct sated_row){
        .t_ns = reported_ns(m, s->k, s->to_ns),
        .duration_ns = duration_ns,
        .ios = h->count,
        .bytes = h->count * mix->bytes[class],
        .errors = s->tally[class].errors,
        .lat_min_ns = h->count ? (int64_t)h->min : -1,
        .lat_max_ns = h->count ? (int64_t)h->max : -1,
        .lat_p50_ns = percentiles[0],
        .lat_p99_ns = percentiles[1],
        .lat_p999_ns = percentiles[2],
        .lat_p9999_ns = percentiles[3],
        .lat_mean_ns = sated_histogram_mean(h),
        .lat_stddev_ns = sated_histogram_stddev(h),
        .queue_mean = duration_ns > 0 && outstanding_ns > 0 ? (double)outstanding_ns / (double)duration_ns : 0,
        .member = m->index,
        .phase = s->phase,
        .op = mix->op[class],
        .size_bytes = mix->bytes[class],
    };
}

static void make_environment(struct member *m, const struct sheet *s, struct sated_environment *e)
{
    *e = (struct sated_environment){
        .t_ns = reported_ns(m, s->k, s->to_ns),
        .duration_ns = s->to_ns - s->from_ns,
        .energy_j = NAN,
        .power_min_w = NAN,
        .power_max_w = NAN,
        .member = m->index,
        .phase = s->phase,
        .temperature_c = NAN,
        .host_bytes_written = NAN,
        .media_bytes_written = NAN,
    };
    if (m->drive->kind != HANDLE_SIMULATED)
        return;
    struct sated_sim_counters c;
    sim_get_counters(m->drive->sim, &c);
    uint64_t energy = sim_energy_nj(m->drive->sim, m->start_ns + s->to_ns);
    e->energy_j = (double)(energy - m->energy_nj) * 1e-9;
    if (e->duration_ns > 0) {
        e->power_min_w = e->power_max_w = (double)(energy - m->energy_nj) / (double)e->duration_ns;
        e->samples = 1;
    }
    e->host_bytes_written = (double)c.host_write_units * c.unit_bytes;
    e->media_bytes_written = (double)c.nand_write_units * c.unit_bytes;
    m->energy_nj = energy;
}

static struct stored *store(const struct member *m, const struct sheet *span, uint32_t class, uint32_t kind,
                            int64_t t_ns)
{
    const struct sated_histogram *h = tally_histogram(&span->tally[class], kind);
    size_t n = sated_histogram_buckets(h, NULL, NULL, 0);
    struct stored *s = malloc(sizeof *s + 2 * n * sizeof *s->values);
    if (!s)
        return NULL;
    s->row = (struct sated_histogram_row){
        .t_ns = t_ns,
        .member = m->index,
        .phase = span->phase,
        .op = m->load->mix.op[class],
        .size_bytes = m->load->mix.bytes[class],
        .kind = kind,
        .bits = h->bits,
    };
    s->n = n;
    s->min = h->min;
    s->max = h->max;
    sated_histogram_sums(h, s->sum, s->squares);
    sated_histogram_buckets(h, s->values, s->values + n, n);
    return s;
}

/* Histogram records of the span, which then begins anew. */
static void flush_span(struct member *m, int64_t t_ns)
{
    struct sated_load *l = m->load;
    struct sheet *span = m->span;
    bool lost = false;
    const uint32_t kinds = l->rates.n ? 2 : 1;
    for (uint32_t i = 0; i < span->classes * kinds && !(l->options.without & SATED_WITHOUT_HISTOGRAMS); i++) {
        if (!tally_histogram(&span->tally[i / kinds], i % kinds)->count)
            continue;
        struct stored *s = store(m, span, i / kinds, i % kinds, t_ns);
        pthread_mutex_lock(&l->lock);
        bool kept = s && outbox_put(&l->histograms, &s);
        pthread_mutex_unlock(&l->lock);
        if (!kept)
            free(s);
        lost |= !kept;
    }
    if (lost) {
        load_no_memory();
        load_failed(l);
    }
    if (span->phase == SATED_MEASURED)
        sheet_merge(m->total, span);
    sheet_reset(span);
}

/* 99th percentile of the last interval over all classes and drives. */
static int64_t pooled_p99(struct member *m, const struct sheet *s)
{
    struct sated_load *l = m->load;
    int64_t percentiles[4];
    if (l->n == 1 && s->classes == 1) {
        row_percentiles(s->tally[0].latency, percentiles);
        return percentiles[1];
    }
    if (l->pooled_order != sheet_order(s))
        sated_histogram_reset(l->pooled);
    l->pooled_order = sheet_order(s);
    for (uint32_t i = 0; i < s->classes; i++)
        sated_histogram_merge(l->pooled, s->tally[i].latency);
    row_percentiles(l->pooled, percentiles);
    return percentiles[1];
}

void collect_sheet(struct member *m, const struct sheet *s)
{
    struct sated_load *l = m->load;
    struct sated_row rows[MIX_CLASSES];
    struct sated_environment e;
    uint64_t ios = 0, bytes = 0, errors = 0;
    struct sheet *span = m->span;

    if (span->phase != s->phase) {
        flush_span(m, reported_ns(m, s->k, s->from_ns));
        span->phase = s->phase;
    }
    for (uint32_t i = 0; i < s->classes; i++) {
        make_row(m, s, i, &rows[i]);
        ios += rows[i].ios;
        bytes += rows[i].bytes;
        errors += rows[i].errors;
    }
    make_environment(m, s, &e);
    sheet_merge(span, s);
    if (s->phase == SATED_MEASURED)
        m->measured_ns += e.duration_ns;
    int64_t p99 = pooled_p99(m, s);
    m->iops = e.duration_ns > 0 ? (double)ios * 1e9 / (double)e.duration_ns : 0;
    m->t_ns = e.t_ns;
    bool whole = s->to_ns == load_edge_ns(m, s->k);
    if (whole)
        m->rows_k = s->k;

    pthread_mutex_lock(&l->lock);
    bool kept = l->options.without & SATED_WITHOUT_ENVIRONMENT || outbox_put(&l->environment, &e);
    for (uint32_t i = 0; kept && i < s->classes; i++)
        kept = outbox_put(&l->rows, &rows[i]);
    struct sated_progress *p = &l->progress;
    p->t_ns = e.t_ns;
    p->phase = s->phase;
    p->ios += ios;
    p->bytes += bytes;
    p->errors += errors;
    p->lat_p99_ns = p99;
    p->iops = 0;
    for (uint32_t i = 0; i < l->n; i++)
        p->iops += l->members[i].iops;
    size_t spill_bytes = l->spill_bytes;
    bool spilled = l->engine != SATED_ENGINE_SIMULATED && outbox_bytes(&l->rows) > spill_bytes;
    if (outbox_bytes(&l->rows) > COLLECT_MUCH)
        pthread_cond_signal(&l->changed);
    pthread_mutex_unlock(&l->lock);

    if (!kept) {
        load_no_memory();
        load_failed(l);
    }
    if (spilled) {
        error_set(SATED_STATE, SATED_LAYER_ARGUMENT,
                  "%s: the load has ended, because %zu KiB of its rows were not taken; take them while it runs",
                  m->name, spill_bytes >> 10);
        load_failed(l);
    }
    if (whole && s->k % l->histogram_k == 0)
        flush_span(m, e.t_ns);
}

void collect_end(struct member *m)
{
    flush_span(m, m->t_ns);
    m->iops = 0;
}
