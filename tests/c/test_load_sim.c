/* SPDX-License-Identifier: MIT */
/* Loads on simulated drives. The witness outside of the load are the drive's own served counters; the rest follows from
 * arithmetic: sums of rows, Little's law (L = lambda W), closed loops that keep threads x depth outstanding. */
#include "core/random.h"
#include "load/outbox.h"
#include "loads.h"
#include "transport/handle.h"

struct setup {
    const char *uris[4];
    const char *workload[12]; /* key, text, ... */
    struct sated_load_options options;
};

static void setup_init(struct setup *s)
{
    memset(s, 0, sizeof *s);
    sated_load_options_init(&s->options);
}

static int open_all(const struct setup *s, struct sated_drive **drives, struct sated_workload *w)
{
    int n = 0;
    for (; n < 4 && s->uris[n]; n++)
        CHECK_EQ(sated_drive_open(&drives[n], s->uris[n], NULL), 0);
    sated_workload_init(w);
    for (int i = 0; s->workload[i]; i += 2)
        CHECK_EQ(sated_workload_set(w, s->workload[i], s->workload[i + 1]), 0);
    return n;
}

static void close_all(struct sated_drive **drives, int n)
{
    for (int i = 0; i < n; i++)
        sated_drive_close(drives[i]);
}

/* Rows, totals, histograms and the drives' counters are the same numbers. */
static void check_sums(struct sated_drive **drives, int n, const struct outcome *o,
                       const struct sated_histogram *measured)
{
    uint64_t ios = 0, bytes = 0, in_totals = 0, bytes_in_totals = 0;
    for (int i = 0; i < n; i++) {
        struct sated_sim_counters c;
        CHECK_EQ(sated_sim_get_counters(drives[i], &c), 0);
        CHECK_EQ(outcome_ios(o, -1, i, SATED_READ), c.served_reads);
        CHECK_EQ(outcome_ios(o, -1, i, SATED_WRITE), c.served_writes);
        CHECK_EQ(outcome_ios(o, -1, i, SATED_TRIM), c.served_trims);
        CHECK_EQ(outcome_bytes(o, -1, i, SATED_READ), c.read_bytes);
        CHECK_EQ(outcome_bytes(o, -1, i, SATED_WRITE), c.written_bytes);
        ios += outcome_ios(o, -1, i, -1);
        bytes += outcome_bytes(o, -1, i, -1);
    }
    CHECK_EQ(sated_histogram_count(o->histograms), ios);
    for (int i = 0; i < o->n_totals; i++) {
        in_totals += o->totals[i].ios;
        bytes_in_totals += o->totals[i].bytes;
    }
    CHECK_EQ(outcome_ios(o, SATED_MEASURED, -1, -1), in_totals);
    CHECK_EQ(outcome_bytes(o, SATED_MEASURED, -1, -1), bytes_in_totals);
    CHECK_EQ(sated_histogram_count(measured), in_totals);
    CHECK(bytes >= bytes_in_totals);
}

/* Each interval has a row of each class and drive, at its own tick. */
static void check_ticks(const struct outcome *o, int64_t interval_ns, uint32_t classes, uint32_t members)
{
    size_t whole = 0;
    int64_t last_ns = 0;
    for (size_t i = 0; i < o->n_rows; i++) {
        const struct sated_row *r = &o->rows[i];
        if (members == 1)
            CHECK(r->t_ns >= last_ns);
        last_ns = r->t_ns;
        CHECK(r->duration_ns >= 0);
        CHECK((r->ios == 0) == (r->lat_min_ns == -1));
        CHECK((r->ios < 2) == (r->lat_p50_ns == -1));
        CHECK((r->ios < 100) == (r->lat_p99_ns == -1));
        CHECK((r->ios < 1000) == (r->lat_p999_ns == -1));
        CHECK((r->ios < 10000) == (r->lat_p9999_ns == -1));
        CHECK(r->lat_p50_ns <= r->lat_max_ns && r->lat_p9999_ns <= r->lat_max_ns);
        whole += r->t_ns % interval_ns == 0;
    }
    CHECK_EQ(whole % (classes * members), 0);
    CHECK_EQ(o->n_rows, o->n_environment * classes);
}

static void simple(void)
{
    struct setup s;
    struct sated_drive *drives[4];
    struct sated_workload w;
    struct sated_load *l;
    struct outcome o;
    struct sated_histogram *h;
    setup_init(&s);
    s.uris[0] = "sim:generic";
    memcpy(s.workload, (const char *[]){"read", "0.7", "sizes", "4k:80,16k:20", "threads", "4", "depth", "8"},
           8 * sizeof *s.workload);
    s.options.duration_ns = SECONDS(0.55);
    s.options.interval_ns = SECONDS(0.1);
    s.options.histogram_ns = SECONDS(0.2);
    int n = open_all(&s, drives, &w);
    CHECK_EQ(sated_histogram_new(&h), 0);
    CHECK_EQ(sated_load_start(&l, drives, (size_t)n, &w, &s.options), 0);
    outcome_run(l, &o, NULL, NULL, h);
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(o.n_totals, 4);
    check_sums(drives, n, &o, h);
    check_ticks(&o, s.options.interval_ns, 4, 1);
    /* Five whole rows, a partial one to 0.55 s, then what was outstanding. */
    CHECK_EQ(o.rows[5 * 4].t_ns, SECONDS(0.55));
    CHECK_EQ(o.rows[5 * 4].duration_ns, SECONDS(0.05));
    CHECK_EQ(o.rows[5 * 4].phase, SATED_MEASURED);
    CHECK_EQ(o.rows[6 * 4].phase, SATED_AFTER_STOP);
    CHECK_EQ(outcome_ios(&o, SATED_AFTER_STOP, -1, -1), 32);
    CHECK_EQ(o.totals[0].duration_ns, SECONDS(0.55));
    /* Closed loop: all of threads x depth outstanding, and Little's law for each class. */
    double queue = 0;
    for (int i = 0; i < o.n_totals; i++) {
        const struct sated_totals *t = &o.totals[i];
        queue += t->queue_mean;
        CHECK_NEAR((double)t->ios / (double)t->duration_ns * t->lat_mean_ns, t->queue_mean, 0.01);
        CHECK_EQ(t->engine, SATED_ENGINE_SIMULATED);
        CHECK(isnan(t->batch_mean));
    }
    CHECK_NEAR(queue, 32, 0.001);
    /* Records at 0.2 and 0.4 s, at the end of the measured phase, at the end; each of four classes. */
    CHECK(o.n_records >= 3 * 4 && o.n_records <= 4 * 4);
    CHECK_EQ(o.records[0].t_ns, SECONDS(0.2));
    CHECK_EQ(o.records[8].t_ns, SECONDS(0.55));
    /* The mix that came out, within 4 sigma of the one asked for. */
    double total = (double)sated_histogram_count(h), reads = (double)outcome_ios(&o, SATED_MEASURED, -1, SATED_READ);
    CHECK(fabs(reads - 0.7 * total) < 4 * sqrt(total * 0.7 * 0.3) + 32);
    CHECK(o.environment[0].energy_j > 0);
    CHECK_NEAR(o.environment[0].power_min_w * 0.1, o.environment[0].energy_j, 1e-9);
    CHECK_EQ(o.environment[0].samples, 1);
    CHECK(o.environment[0].host_bytes_written > 0);
    outcome_free(&o);
    sated_histogram_free(h);
    close_all(drives, n);
}

static void limits(void)
{
    static const uint64_t ios[] = {1, 31, 10007};
    for (int round = 0; round < 4; round++) {
        struct setup s;
        struct sated_drive *drives[4];
        struct sated_workload w;
        struct sated_load *l;
        struct outcome o;
        struct sated_histogram *h;
        setup_init(&s);
        s.uris[0] = "sim:generic";
        s.uris[1] = "sim:generic,seed=2";
        memcpy(s.workload, (const char *[]){"op", "write", "size", "8k", "threads", "2", "depth", "16"},
               8 * sizeof *s.workload);
        s.options.interval_ns = SECONDS(0.01);
        if (round < 3)
            s.options.ios = ios[round];
        else
            s.options.bytes = 20000000; /* 2441.4 I/Os of 8 KiB */
        int n = open_all(&s, drives, &w);
        CHECK_EQ(sated_histogram_new(&h), 0);
        CHECK_EQ(sated_load_start(&l, drives, (size_t)n, &w, &s.options), 0);
        outcome_run(l, &o, NULL, NULL, h);
        CHECK_EQ(o.rc, 0);
        check_sums(drives, n, &o, h);
        CHECK_EQ(o.n_totals, 2);
        for (int i = 0; i < 2; i++) {
            CHECK_EQ(o.totals[i].member, (uint32_t)i);
            CHECK_EQ(o.totals[i].ios, round < 3 ? ios[round] : 2442);
        }
        CHECK_EQ(outcome_ios(&o, SATED_AFTER_STOP, -1, -1), 0);
        outcome_free(&o);
        sated_histogram_free(h);
        close_all(drives, n);
    }
}

struct script {
    uint64_t measure_at, end_at;
    bool slowly;
};

static int play(uint64_t tick, void *user)
{
    const struct script *s = user;
    if (s->slowly)
        nap_ms(20);
    return tick == s->measure_at ? SATED_MEASURE : tick == s->end_at ? SATED_END : SATED_GO_ON;
}

/* Ramp, settle, measured, after the stop: the flip is exactly at the tick at which it was answered. */
static void run_phases(struct script *script, struct outcome *o)
{
    struct setup s;
    struct sated_drive *drives[4];
    struct sated_workload w;
    struct sated_load *l;
    struct sated_histogram *h;
    setup_init(&s);
    s.uris[0] = "sim:generic,scale=1/2";
    s.uris[1] = "sim:generic,seed=3";
    memcpy(s.workload, (const char *[]){"read", "50", "write", "40", "trim", "10", "threads", "2", "depth", "4"},
           10 * sizeof *s.workload);
    s.options.interval_ns = SECONDS(0.02);
    s.options.histogram_ns = SECONDS(0.04);
    s.options.ramp_ns = SECONDS(0.04);
    s.options.check_every_ns = SECONDS(0.04);
    s.options.settle = 1;
    s.options.seed = 77;
    s.options.duration_ns = SECONDS(1000);
    int n = open_all(&s, drives, &w);
    CHECK_EQ(sated_histogram_new(&h), 0);
    CHECK_EQ(sated_load_start(&l, drives, (size_t)n, &w, &s.options), 0);
    outcome_run(l, o, play, script, h);
    CHECK_EQ(o->rc, 0);
    check_sums(drives, n, o, h);
    check_ticks(o, s.options.interval_ns, 3, 2);
    sated_histogram_free(h);
    close_all(drives, n);
}

static void phases(void)
{
    struct script quick = {.measure_at = 3, .end_at = 6}, slow = quick;
    struct outcome a, b, c;
    slow.slowly = true;
    run_phases(&quick, &a);
    run_phases(&quick, &b);
    run_phases(&slow, &c);
    CHECK_EQ(a.ticks, 6);
    for (size_t i = 0; i < a.n_rows; i++) {
        const struct sated_row *r = &a.rows[i];
        uint32_t phase = r->t_ns <= SECONDS(0.04)   ? SATED_RAMP
                         : r->t_ns <= SECONDS(0.12) ? SATED_SETTLE
                         : r->t_ns <= SECONDS(0.24) ? SATED_MEASURED
                                                    : SATED_AFTER_STOP;
        CHECK_EQ(r->phase, phase);
        if (phase != SATED_AFTER_STOP)
            CHECK_EQ(r->duration_ns, r->member ? SECONDS(0.02) : SECONDS(0.01));
    }
    CHECK_EQ(a.totals[0].duration_ns, SECONDS(0.06));
    CHECK_EQ(a.totals[3].duration_ns, SECONDS(0.12));
    CHECK_EQ(a.totals[3].member, 1);
    /* Equal bytes, again and with answers that take their time. */
    CHECK_EQ(a.n_rows, b.n_rows);
    CHECK_EQ(a.n_rows, c.n_rows);
    CHECK(!memcmp(a.rows, b.rows, a.n_rows * sizeof *a.rows));
    CHECK(!memcmp(a.rows, c.rows, a.n_rows * sizeof *a.rows));
    CHECK(!memcmp(a.environment, c.environment, a.n_environment * sizeof *a.environment));
    CHECK_EQ(a.n_records, c.n_records);
    CHECK(!memcmp(a.records, c.records, a.n_records * sizeof *a.records));
    outcome_free(&a);
    outcome_free(&b);
    outcome_free(&c);
}

/* Another seed is another order of addresses, and other rows. */
static void seeds(void)
{
    struct outcome o[3];
    for (int i = 0; i < 3; i++) {
        struct setup s;
        struct sated_drive *drives[4];
        struct sated_workload w;
        struct sated_load *l;
        setup_init(&s);
        s.uris[0] = "sim:generic";
        memcpy(s.workload, (const char *[]){"read", "0.5", "size", "4k", "depth", "8"}, 6 * sizeof *s.workload);
        s.options.interval_ns = SECONDS(0.01);
        s.options.duration_ns = SECONDS(0.1);
        s.options.seed = i < 2 ? 5 : 6;
        int n = open_all(&s, drives, &w);
        CHECK_EQ(sated_load_start(&l, drives, (size_t)n, &w, &s.options), 0);
        outcome_run(l, &o[i], NULL, NULL, NULL);
        close_all(drives, n);
    }
    CHECK(o[0].n_rows == o[1].n_rows && !memcmp(o[0].rows, o[1].rows, o[0].n_rows * sizeof *o[0].rows));
    CHECK(o[0].n_rows != o[2].n_rows || memcmp(o[0].rows, o[2].rows, o[0].n_rows * sizeof *o[0].rows));
    for (int i = 0; i < 3; i++)
        outcome_free(&o[i]);
}

/* A caller who is slow gets every row all the same: the drive waits. */
static void waits_for_room(void)
{
    struct setup s;
    struct sated_drive *drives[4];
    struct sated_workload w;
    struct sated_load *l;
    struct outcome o;
    struct sated_progress p;
    setup_init(&s);
    s.uris[0] = "sim:generic";
    memcpy(s.workload, (const char *[]){"op", "randread", "size", "4k"}, 4 * sizeof *s.workload);
    s.options.interval_ns = SECONDS(0.001);
    s.options.duration_ns = SECONDS(60);
    int n = open_all(&s, drives, &w);
    CHECK_EQ(sated_load_start(&l, drives, (size_t)n, &w, &s.options), 0);
    CHECK_EQ(sated_load_start(&(struct sated_load *){NULL}, drives, (size_t)n, &w, &s.options), SATED_STATE);
    CHECK_TEXT(last_text(), "while a load runs on it");
    CHECK_EQ(sated_load_get_totals(l, NULL, 0), SATED_STATE);
    CHECK_EQ(sated_load_answer(l, 1, SATED_END), SATED_STATE);
    uint64_t ios = 0;
    for (int i = 0; i < 200; i++) { /* until it stands still */
        nap_ms(50);
        sated_load_get_progress(l, &p);
        if (p.ios == ios)
            break;
        ios = p.ios;
    }
    CHECK(p.t_ns < SECONDS(60));
    CHECK_EQ(p.running, 1);
    CHECK_EQ(sated_load_wait(l, -1), 1);
    outcome_run(l, &o, NULL, NULL, NULL);
    CHECK_EQ(o.rc, 0);
    CHECK(o.n_rows == 60000 || o.n_rows == 60001);
    outcome_free(&o);
    close_all(drives, n);
}

/* One who only takes rows, and one who stops. */
static void simple_callers(void)
{
    struct setup s;
    struct sated_drive *drives[4];
    struct sated_workload w;
    struct sated_load *l;
    struct sated_row rows[1000];
    int n_rows = 0, n;
    setup_init(&s);
    s.uris[0] = "sim:generic";
    memcpy(s.workload, (const char *[]){"op", "randread", "sizes", "4k:50,8k:50", "depth", "32"},
           6 * sizeof *s.workload);
    s.options.interval_ns = SECONDS(0.001);
    s.options.histogram_ns = SECONDS(0.001);
    s.options.duration_ns = SECONDS(40);
    int drives_n = open_all(&s, drives, &w);
    CHECK_EQ(sated_load_start(&l, drives, (size_t)drives_n, &w, &s.options), 0);
    do {
        n = sated_load_wait(l, -1);
        for (int taken; (taken = sated_load_take_rows(l, rows, 1000)) > 0;)
            n_rows += taken;
    } while (n == 1);
    CHECK_EQ(n, 0);
    CHECK(n_rows == 80000 || n_rows == 80002);
    sated_load_free(l);

    s.options.duration_ns = -1;
    CHECK_EQ(sated_load_start(&l, drives, (size_t)drives_n, &w, &s.options), 0);
    nap_ms(20);
    sated_load_stop(l);
    struct outcome o;
    outcome_run(l, &o, NULL, NULL, NULL);
    CHECK_EQ(o.rc, 0);
    CHECK(outcome_ios(&o, SATED_AFTER_STOP, -1, -1) <= 32);
    outcome_free(&o);
    CHECK_EQ(sated_load_start(&l, drives, (size_t)drives_n, &w, &s.options), 0);
    sated_load_free(l); /* without a word */
    close_all(drives, drives_n);
}

/* What waits for a caller to come and take it: all, but for what was never wanted. */
static void late_callers(void)
{
    struct outcome all, rows_only;
    uint64_t measured = 0;
    for (int i = 0; i < 2; i++) {
        struct outcome *o = i ? &rows_only : &all;
        struct setup s;
        struct sated_drive *drives[4];
        struct sated_workload w;
        struct sated_load *l;
        struct sated_histogram *h;
        struct sated_row rows[1000];
        int n, rc, n_rows = 0;
        setup_init(&s);
        s.uris[0] = "sim:generic";
        memcpy(s.workload, (const char *[]){"op", "randread", "sizes", "4k:50,8k:50", "depth", "8"},
               6 * sizeof *s.workload);
        s.options.interval_ns = s.options.histogram_ns = SECONDS(0.001);
        s.options.duration_ns = SECONDS(5);
        s.options.without = i ? SATED_WITHOUT_ENVIRONMENT | SATED_WITHOUT_HISTOGRAMS : 0;
        n = open_all(&s, drives, &w);
        CHECK_EQ(sated_histogram_new(&h), 0);
        CHECK_EQ(sated_load_start(&l, drives, (size_t)n, &w, &s.options), 0);
        do {
            rc = sated_load_wait(l, -1); /* it returns in between: there are 1.2 MiB of rows */
            for (int taken; (taken = sated_load_take_rows(l, rows, 1000)) > 0;)
                n_rows += taken;
        } while (rc == 1);
        outcome_run(l, o, NULL, NULL, h);
        CHECK_EQ(o->rc, 0);
        CHECK(n_rows == 10000 || n_rows == 10002);
        CHECK_EQ(o->n_environment * 2, (size_t)(i ? 0 : n_rows));
        if (i)
            CHECK(o->n_records == 0 && sated_histogram_count(h) == measured);
        else
            measured = sated_histogram_count(h);
        /* What was outstanding at the end: of eight I/Os, some may have ended with it. */
        uint64_t after = sated_histogram_count(all.histograms) - measured;
        CHECK(all.n_records >= 10000 && after >= 1 && after <= 8);
        sated_histogram_free(h);
        close_all(drives, n);
    }
    outcome_free(&all);
    outcome_free(&rows_only);
}

/* A load that is stopped while an answer is thought over has nothing left to ask. */
static void answered_too_late(void)
{
    struct setup s;
    struct sated_drive *drives[4];
    struct sated_workload w;
    struct sated_load *l;
    struct outcome o;
    struct sated_progress p;
    setup_init(&s);
    s.uris[0] = "sim:generic";
    memcpy(s.workload, (const char *[]){"op", "randwrite", "depth", "8"}, 4 * sizeof *s.workload);
    s.options.interval_ns = s.options.check_every_ns = SECONDS(0.1);
    int n = open_all(&s, drives, &w);
    CHECK_EQ(sated_load_start(&l, drives, (size_t)n, &w, &s.options), 0);
    do {
        CHECK_EQ(sated_load_wait(l, -1), 1);
        sated_load_get_progress(l, &p);
    } while (!p.tick);
    sated_load_stop(l);
    CHECK_EQ(sated_load_answer(l, p.tick, SATED_END), 0);
    outcome_run(l, &o, NULL, NULL, NULL);
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(o.rows[0].t_ns, SECONDS(0.1));
    CHECK_EQ(outcome_ios(&o, SATED_AFTER_STOP, -1, -1), 8);
    outcome_free(&o);
    close_all(drives, n);
}

/* First in, first out, whatever is put and taken in between. */
static void outboxes(void)
{
    struct outbox box;
    struct random r;
    uint64_t put = 0, taken = 0, out[700];
    outbox_init(&box, sizeof put);
    random_seed(&r, 3, 0);
    for (int i = 0; i < 200; i++) {
        for (uint64_t n = random_below(&r, 700); n; n--, put++)
            CHECK(outbox_put(&box, &put));
        CHECK_EQ(outbox_bytes(&box), (put - taken) * sizeof put);
        size_t cap = random_below(&r, 700), n = outbox_take(&box, out, cap);
        CHECK_EQ(n, cap < put - taken ? cap : put - taken);
        for (size_t j = 0; j < n; j++)
            CHECK_EQ(out[j], taken++);
    }
    outbox_free(&box);
    CHECK_EQ(outbox_take(&box, out, 1), 0);
}

/* Field case C01: half of the I/Os 6 KiB, half 10 KiB; within 4 sigma on 512-byte blocks, refused on 4096-byte ones. */
static void two_sizes(void)
{
    struct setup s;
    struct sated_drive *drives[4];
    struct sated_workload w;
    struct sated_load *l;
    struct outcome o;
    struct sated_histogram *h;
    setup_init(&s);
    s.uris[0] = "sim:generic";
    memcpy(s.workload, (const char *[]){"op", "randread", "sizes", "6144:50,10240:50", "depth", "8"},
           6 * sizeof *s.workload);
    s.options.ios = 20000;
    int n = open_all(&s, drives, &w);
    CHECK_EQ(sated_histogram_new(&h), 0);
    CHECK_EQ(sated_load_start(&l, drives, 1, &w, &s.options), 0);
    outcome_run(l, &o, NULL, NULL, h);
    CHECK_EQ(o.rc, 0);
    check_sums(drives, n, &o, h);
    CHECK_EQ(o.totals[0].size_bytes, 6144);
    CHECK(o.totals[0].ios > 10000 - 283 && o.totals[0].ios < 10000 + 283);
    CHECK_EQ(o.totals[0].ios + o.totals[1].ios, 20000);
    outcome_free(&o);
    sated_histogram_free(h);
    drives[0]->identity.logical_block_bytes = 4096;
    CHECK_EQ(sated_load_start(&l, drives, 1, &w, &s.options), SATED_PARSE);
    CHECK_TEXT(last_text(), "size 6144 on sim:generic: its logical blocks have 4096 bytes");
    close_all(drives, n);
}

static void refused(void)
{
    struct sated_drive *d;
    struct sated_workload w;
    struct sated_load_options opt;
    struct sated_load *l;
    CHECK_EQ(sated_drive_open(&d, "sim:generic", NULL), 0);
    sated_workload_init(&w);
#define REFUSED(change, says) \
    do { \
        sated_load_options_init(&opt); \
        change; \
        CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), SATED_PARSE); \
        CHECK(l == NULL); \
        CHECK_TEXT(last_text(), says); \
    } while (0)
    REFUSED(opt.interval_ns = 999999, "1 ms");
    REFUSED(opt.interval_ns = SECONDS(3601), "1 h");
    REFUSED(opt.histogram_ns = SECONDS(1.5), "multiple");
    REFUSED(opt.ramp_ns = SECONDS(1.5), "multiple");
    REFUSED(opt.check_every_ns = 5, "multiple");
    REFUSED(opt.duration_ns = 0, "no limit");
    REFUSED(opt.settle = 1, "check_every_ns");
    REFUSED(opt.engine = SATED_ENGINE_SIMULATED, "cannot be chosen");
    REFUSED(opt.size = 4, "version");
    REFUSED(opt.without = 4, "unknown bits");
    REFUSED(w.offset_bytes = UINT64_C(1) << 60, "beyond");
    w.offset_bytes = 0;
    CHECK_EQ(sated_load_start(&l, &d, 0, &w, NULL), SATED_PARSE);
    struct sated_drive *twice[] = {d, d};
    CHECK_EQ(sated_load_start(&l, twice, 2, &w, NULL), SATED_PARSE);
    CHECK_TEXT(last_text(), "twice");
    sated_drive_close(d);
}

int main(void)
{
    simple();
    limits();
    phases();
    seeds();
    waits_for_room();
    simple_callers();
    late_callers();
    answered_too_late();
    outboxes();
    two_sizes();
    refused();
    return check_done();
}
