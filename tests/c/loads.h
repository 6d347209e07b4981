/* SPDX-License-Identifier: MIT */
/* Running a load to its end and keeping everything it hands over. */
#ifndef SATED_TESTS_LOADS_H
#define SATED_TESTS_LOADS_H

#include <sated/sated.h>
#include <stdlib.h>
#include <time.h>

#include "check.h"

struct outcome {
    int rc;
    struct sated_detail detail;
    struct sated_row *rows;
    size_t n_rows;
    struct sated_environment *environment;
    size_t n_environment;
    struct sated_histogram *histograms; /* all records of service times merged */
    struct sated_histogram_row *records;
    size_t n_records;
    struct sated_totals totals[512];
    int n_totals;
    int n_errors;
    uint64_t error_offsets[16];
    int32_t error_codes[16];
    uint64_t ticks;
    char note[1536];
};

/* What to answer at a check; NULL for a load without. */
typedef int answer(uint64_t tick, void *user);

static inline const char *last_text(void)
{
    static struct sated_detail d;
    sated_detail_get(&d);
    return d.text;
}

static inline void outcome_take(struct sated_load *l, struct outcome *o)
{
    struct sated_row rows[100];
    struct sated_environment environment[100];
    struct sated_histogram_row record;
    struct sated_histogram *h;
    int n;
    while ((n = sated_load_take_rows(l, rows, 100)) > 0) {
        o->rows = realloc(o->rows, (o->n_rows + (size_t)n) * sizeof *rows);
        memcpy(o->rows + o->n_rows, rows, (size_t)n * sizeof *rows);
        o->n_rows += (size_t)n;
    }
    while ((n = sated_load_take_environment(l, environment, 100)) > 0) {
        o->environment = realloc(o->environment, (o->n_environment + (size_t)n) * sizeof *environment);
        memcpy(o->environment + o->n_environment, environment, (size_t)n * sizeof *environment);
        o->n_environment += (size_t)n;
    }
    CHECK_EQ(sated_histogram_new(&h), 0);
    while (sated_load_take_histogram(l, &record, h) == 1) {
        if (record.kind == SATED_SERVICE)
            sated_histogram_merge(o->histograms, h);
        o->records = realloc(o->records, (o->n_records + 1) * sizeof record);
        o->records[o->n_records++] = record;
    }
    sated_histogram_free(h);
}

static inline void outcome_free(struct outcome *o)
{
    free(o->rows);
    free(o->environment);
    free(o->records);
    sated_histogram_free(o->histograms);
}

/* Runs a started load to its end. @param measured receives the measured phase's histogram, may be NULL. */
static inline void outcome_run(struct sated_load *l, struct outcome *o, answer *ask, void *user,
                               struct sated_histogram *measured)
{
    struct sated_progress p;
    memset(o, 0, sizeof *o);
    CHECK_EQ(sated_histogram_new(&o->histograms), 0);
    do {
        o->rc = sated_load_wait(l, 50000000);
        sated_load_get_progress(l, &p);
        outcome_take(l, o);
        if (p.tick && ask) {
            o->ticks = p.tick;
            CHECK_EQ(sated_load_answer(l, p.tick, ask(p.tick, user)), 0);
        }
    } while (o->rc == 1);
    if (o->rc < 0)
        sated_detail_get(&o->detail);
    outcome_take(l, o);
    o->n_totals = sated_load_get_totals(l, o->totals, 512);
    CHECK(o->n_totals > 0);
    o->n_errors = sated_load_get_errors(l, o->error_offsets, o->error_codes, 16);
    snprintf(o->note, sizeof o->note, "%s", sated_load_note(l));
    if (measured)
        CHECK_EQ(sated_load_get_histogram(l, -1, SATED_SERVICE, measured), 0);
    sated_load_free(l);
}

/* I/Os of all rows, or of those of one phase, member or operation; -1 = any. */
static inline uint64_t outcome_ios(const struct outcome *o, int phase, int member, int op)
{
    uint64_t n = 0;
    for (size_t i = 0; i < o->n_rows; i++)
        if ((phase < 0 || o->rows[i].phase == (uint32_t)phase) &&
            (member < 0 || o->rows[i].member == (uint32_t)member) && (op < 0 || o->rows[i].op == (uint32_t)op))
            n += o->rows[i].ios;
    return n;
}

static inline uint64_t outcome_bytes(const struct outcome *o, int phase, int member, int op)
{
    uint64_t n = 0;
    for (size_t i = 0; i < o->n_rows; i++)
        if ((phase < 0 || o->rows[i].phase == (uint32_t)phase) &&
            (member < 0 || o->rows[i].member == (uint32_t)member) && (op < 0 || o->rows[i].op == (uint32_t)op))
            n += o->rows[i].bytes;
    return n;
}

/* Chi-square of counts against expected ones, as a standard normal (Wilson and Hilferty 1931): beyond 4 with a
 * probability of 3e-5, also for few classes. */
static inline double chi_square_z(const uint64_t *counts, const double *expected, size_t n)
{
    double chi = 0, df = (double)n - 1;
    for (size_t i = 0; i < n; i++)
        chi += ((double)counts[i] - expected[i]) * ((double)counts[i] - expected[i]) / expected[i];
    return (cbrt(chi / df) - (1 - 2 / (9 * df))) / sqrt(2 / (9 * df));
}

static inline void nap_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

#define SECONDS(s) ((int64_t)((s)*1e9))

#endif
