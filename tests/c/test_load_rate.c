/* SPDX-License-Identifier: MIT */
/* Loads at a rate, and loads that think: when I/Os begin, and what is told of those that could not begin in time. The
 * expected numbers are arithmetic: a rate times a time, a Poisson process's moments, a queue that a stall leaves. */
#include "core/random.h"
#include "file_loads.h"
#include "load/schedule.h"

static struct sated_workload at_rate(const char *op, const char *rate, const char *arrival, uint32_t threads,
                                     uint32_t depth)
{
    struct sated_workload w = work(op, "4k", threads, depth);
    CHECK_EQ(sated_workload_set(&w, "rate", rate), 0);
    CHECK_EQ(sated_workload_set(&w, "arrival", arrival), 0);
    return w;
}

static struct sated_drive *simulated(const char *uri)
{
    struct sated_drive *d;
    CHECK_EQ(sated_drive_open(&d, uri, NULL), 0);
    return d;
}

/* k of n threads' arrivals are k / rate, to the nanosecond, after 10^9 of them too: the sum of periods with 64 bits
 * behind the point. */
static void evenly(void)
{
    struct schedule s[3];
    for (uint32_t i = 0; i < 3; i++)
        schedule_init(&s[i], 7, false, i, 3, 1, i);
    for (uint64_t k = 0; k < 30000; k++) {
        CHECK_EQ(schedule_at_ns(&s[k % 3]), (int64_t)((k * 1000000000 + 3) / 7));
        schedule_step(&s[k % 3]);
    }
    schedule_init(&s[0], 1e6 / 3, false, 0, 1, 1, 0);
    s[0].at += s[0].period * 999999999; /* as by so many steps */
    schedule_step(&s[0]);
    CHECK_EQ(schedule_at_ns(&s[0]), INT64_C(3000000000000));
}

/* Exponential gaps: mean and deviation 1 / rate, and the fractions beyond 1, 2 and 3 means e^-1, e^-2, e^-3. */
static void at_random(void)
{
    enum { N = 1000000 };
    struct schedule s;
    double sum = 0, squares = 0;
    uint64_t beyond[4] = {0};
    schedule_init(&s, 1000, true, 0, 1, 42, 0);
    for (int i = 0; i < N; i++) {
        int64_t at_ns = schedule_at_ns(&s);
        schedule_step(&s);
        double gap = (double)(schedule_at_ns(&s) - at_ns) / 1e6;
        sum += gap;
        squares += gap * gap;
        for (int b = 1; b < 4; b++)
            beyond[b] += gap > b;
    }
    CHECK(fabs(sum / N - 1) < 4 / sqrt(N));
    CHECK(fabs(squares / N - 2) < 4 * sqrt(20.0 / N)); /* E gap^4 - (E gap^2)^2 = 24 - 4 */
    for (int b = 1; b < 4; b++) {
        double p = exp(-b);
        CHECK(fabs((double)beyond[b] / N - p) < 4 * sqrt(p * (1 - p) / N));
    }
}

/* A simulated drive that is fast enough: every arrival of the time is one I/O, whatever the mix of sizes. */
static void simulated_rates(void)
{
    struct sated_drive *d = simulated("sim:generic");
    struct sated_workload w = at_rate("randread", "5000", "fixed", 3, 8);
    CHECK_EQ(sated_workload_set(&w, "read", "1"), 0);
    w.n_sizes = 2;
    w.size_bytes[1] = 16384;
    w.size_share[0] = w.size_share[1] = 0.5;
    struct outcome o = run(d, w, with(SATED_ENGINE_AUTO, 0, 2, 0.1));
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(outcome_ios(&o, -1, -1, -1), 10000);
    CHECK_EQ(o.totals[0].unsent, 0);
    CHECK_EQ(o.totals[0].backlog_max, 0);
    CHECK(o.totals[0].late_mean_ns == 0 && o.totals[0].late_max_ns == 0);
    for (size_t i = 2; i < 2 * 19; i += 2) /* each of its intervals has 500, give or take those that are out */
        CHECK(llabs((long long)(o.rows[i].ios + o.rows[i + 1].ios) - 500) <= 2);
    outcome_free(&o);

    /* Two directions, each at its rate, to the I/O; a third fills what is left of the slots. */
    w = at_rate("randread", "4000", "fixed", 2, 8);
    sated_workload_init(&w);
    CHECK_EQ(sated_workload_set(&w, "rate", "read:4000,write:250"), 0);
    w.threads = 2;
    w.depth = 8;
    o = run(d, w, with(SATED_ENGINE_AUTO, 0, 2, 0.1));
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(outcome_ios(&o, -1, -1, SATED_READ), 8000);
    CHECK_EQ(outcome_ios(&o, -1, -1, SATED_WRITE), 500);
    outcome_free(&o);
    sated_workload_init(&w);
    CHECK_EQ(sated_workload_set(&w, "read", "0.5"), 0);
    CHECK_EQ(sated_workload_set(&w, "rate", "write:100"), 0);
    w.depth = 4;
    o = run(d, w, with(SATED_ENGINE_AUTO, 0, 2, 0.1));
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(outcome_ios(&o, -1, -1, SATED_WRITE), 200);
    CHECK(outcome_ios(&o, -1, -1, SATED_READ) > 10000);
    CHECK(isnan(o.totals[0].late_mean_ns) && o.totals[1].late_mean_ns >= 0);
    CHECK_NEAR(o.totals[0].queue_mean + o.totals[1].queue_mean, 4, 0.01);
    outcome_free(&o);

    /* Each of the five operations at its own. */
    static const uint64_t wanted[SATED_OPS] = {2000, 200, 100, 40, 20};
    sated_workload_init(&w);
    CHECK_EQ(sated_workload_set(&w, "rate", "read:1000,write:100,trim:50,write_zeroes:20,flush:10"), 0);
    CHECK_NEAR(w.share[SATED_FLUSH], 10.0 / 1180, 1e-12);
    w.depth = 16;
    o = run(d, w, with(SATED_ENGINE_AUTO, 0, 2, 0.1));
    CHECK_EQ(o.rc, 0);
    for (int op = 0; op < SATED_OPS; op++)
        CHECK_EQ(outcome_ios(&o, -1, -1, op), wanted[op]);
    CHECK_EQ(o.totals[0].unsent, 0);
    outcome_free(&o);

    /* Poisson: a count within 4 deviations; a limit ends it exactly. */
    w = at_rate("randread", "5000", "poisson", 4, 16);
    o = run(d, w, with(SATED_ENGINE_AUTO, 0, 4, 0.1));
    CHECK_EQ(o.rc, 0);
    CHECK(fabs((double)outcome_ios(&o, -1, -1, -1) - 20000) < 4 * sqrt(20000));
    outcome_free(&o);
    o = run(d, w, with(SATED_ENGINE_AUTO, 777, 0, 0.1));
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(o.totals[0].ios, 777);
    CHECK_EQ(o.totals[0].unsent, 0);
    outcome_free(&o);
    sated_drive_close(d);
}

/* 200 ms without an answer, in the midst of two seconds at 1000 I/Os per second: each of the 200 that were due meanwhile
 * is once in the response times, spread evenly up to 200 ms, and so is what the queue behind them held up. A closed loop
 * has as many slow I/Os as it has slots. */
static void stalled(void)
{
    struct sated_histogram *response, *service;
    struct sated_load *l;
    CHECK_EQ(sated_histogram_new(&response), 0);
    CHECK_EQ(sated_histogram_new(&service), 0);
    for (int closed = 0; closed < 2; closed++) {
        struct sated_drive *d = simulated("sim:generic");
        struct sated_workload w = closed ? work("randread", "4k", 1, 4) : at_rate("randread", "1000", "fixed", 1, 4);
        struct sated_load_options opt = with(SATED_ENGINE_AUTO, 0, 2, 0.1);
        CHECK_EQ(sated_sim_stall(d, SECONDS(0.9995), SECONDS(0.2)), 0);
        CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), 0);
        while (sated_load_wait(l, -1) == 1)
            ;
        sated_histogram_reset(service);
        CHECK_EQ(sated_load_get_histogram(l, -1, SATED_SERVICE, service), 0);
        struct sated_totals t;
        CHECK_EQ(sated_load_get_totals(l, &t, 1), 1);
        uint64_t slow = 0, low[4096], counts[4096];
        size_t n = sated_histogram_buckets(service, low, counts, 4096);
        for (size_t i = 0; i < n && i < 4096; i++)
            slow += low[i] >= 10000000 ? counts[i] : 0;
        CHECK_EQ(slow, 4);
        if (closed) {
            CHECK_EQ(sated_load_get_histogram(l, -1, SATED_RESPONSE, response), SATED_PARSE);
            CHECK(isnan(t.late_mean_ns) && t.late_max_ns == -1 && t.backlog_max == 0);
        } else {
            CHECK_EQ(sated_load_get_histogram(l, -1, SATED_RESPONSE, response), 0);
            CHECK_EQ(sated_histogram_count(response), 2000);
            CHECK_EQ(t.unsent, 0);
            CHECK_EQ(t.backlog_max, 195); /* 1.000 to 1.199 s, less four in the drive and the one that gets its slot */
            CHECK(t.late_max_ns > 190000000 && t.late_max_ns < 200000000);
            n = sated_histogram_buckets(response, low, counts, 4096);
            /* Responses fall from 200 ms by 1 ms each, but for what the drive needs to catch up. */
            uint64_t beyond[3] = {0};
            for (size_t i = 0; i < n && i < 4096; i++)
                for (int b = 0; b < 3; b++)
                    beyond[b] += low[i] >= 50000000u * (unsigned)(b + 1) ? counts[i] : 0;
            for (int b = 0; b < 3; b++)
                CHECK(beyond[b] >= 150u - 50u * (unsigned)b && beyond[b] <= 160u - 50u * (unsigned)b);
        }
        sated_load_free(l);
        sated_drive_close(d);
    }
    sated_histogram_free(response);
    sated_histogram_free(service);
}

/* More than the drive can do: what was due and not submitted is counted, and with what was done it is the whole rate. */
static void too_fast(void)
{
    struct sated_drive *d = simulated("sim:generic");
    struct outcome o = run(d, at_rate("randread", "1000000", "fixed", 2, 4), with(SATED_ENGINE_AUTO, 0, 0.5, 0.1));
    CHECK_EQ(o.rc, 0);
    CHECK(o.totals[0].unsent > 100000);
    CHECK_EQ(outcome_ios(&o, -1, -1, -1) + o.totals[0].unsent, 500000);
    outcome_free(&o);
    sated_drive_close(d);
}

/* A ramp is in the rows, and in no histogram of the measured phase; the schedule goes through it without a break. */
static void ramped(void)
{
    struct sated_drive *d = simulated("sim:generic");
    struct sated_workload w = at_rate("randread", "1000", "fixed", 1, 4);
    struct sated_load_options opt = with(SATED_ENGINE_AUTO, 0, 1, 0.1);
    struct sated_histogram *h;
    struct sated_load *l;
    struct outcome o;
    opt.ramp_ns = SECONDS(0.5);
    CHECK_EQ(sated_histogram_new(&h), 0);
    CHECK_EQ(sated_sim_stall(d, SECONDS(0.1), SECONDS(0.2)), 0); /* in the ramp */
    CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), 0);
    outcome_run(l, &o, NULL, NULL, h);
    CHECK_EQ(outcome_ios(&o, SATED_RAMP, -1, -1), 500);
    CHECK_EQ(outcome_ios(&o, -1, -1, -1), 1500);
    CHECK_EQ(sated_histogram_count(h), o.totals[0].ios);
    CHECK(o.totals[0].ios >= 999 && o.totals[0].ios <= 1000);
    CHECK(sated_histogram_max(h) < 10000000);
    CHECK_EQ(o.totals[0].late_max_ns, 0);
    int64_t slowest = 0;
    for (size_t i = 0; i < o.n_rows; i++)
        slowest = o.rows[i].phase == SATED_RAMP && o.rows[i].lat_max_ns > slowest ? o.rows[i].lat_max_ns : slowest;
    CHECK(slowest > 190000000);
    uint32_t kinds = 0;
    for (size_t i = 0; i < o.n_records; i++)
        kinds |= 1u << o.records[i].kind;
    CHECK_EQ(kinds, 3);
    outcome_free(&o);
    sated_histogram_free(h);
    sated_drive_close(d);
}

/* Slots that think: IOPS = slots / (think + latency), by Little's law. */
static void thoughtful(void)
{
    struct sated_drive *d = simulated("sim:generic");
    struct sated_workload w = work("randread", "4k", 2, 4);
    CHECK_EQ(sated_workload_set(&w, "think", "1ms"), 0);
    CHECK_EQ(w.think_ns, 1000000);
    struct outcome o = run(d, w, with(SATED_ENGINE_AUTO, 0, 2, 0.1));
    CHECK_EQ(o.rc, 0);
    CHECK_NEAR((double)o.totals[0].ios / 2, 8 / (0.001 + o.totals[0].lat_mean_ns / 1e9), 20);
    outcome_free(&o);
    o = run(d, w, with(SATED_ENGINE_AUTO, 100, 0, 0.1));
    CHECK_EQ(o.totals[0].ios, 100);
    outcome_free(&o);
    sated_drive_close(d);
}

/* The same seed, the same bytes. */
static void repeated(void)
{
    struct outcome o[2];
    for (int i = 0; i < 2; i++) {
        struct sated_drive *d = simulated("sim:generic");
        o[i] = run(d, at_rate("randwrite", "8000", "poisson", 2, 4), with(SATED_ENGINE_AUTO, 0, 0.5, 0.01));
        sated_drive_close(d);
    }
    CHECK(o[0].n_rows == o[1].n_rows && !memcmp(o[0].rows, o[1].rows, o[0].n_rows * sizeof *o[0].rows));
    outcome_free(&o[0]);
    outcome_free(&o[1]);
}

/* The engines for real drives, on a file: the number of I/Os is exact wherever all that is due gets done; how late they
 * are depends on the machine. */
static void real_rates(int engine)
{
    struct sated_drive *d = fresh(4 * MIB);
    struct outcome o = run(d, at_rate("randread", "2000", "fixed", 2, 8), with(engine, 1000, 0, 0.1));
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(o.totals[0].engine, (uint32_t)engine);
    CHECK_EQ(o.totals[0].ios, 1000);
    CHECK(o.totals[0].duration_ns >= SECONDS(0.4995)); /* the last is due at 999 / 2000 s */
    CHECK(o.totals[0].late_mean_ns >= 0 && o.totals[0].late_max_ns >= 0);
    check_sums(&o);
    outcome_free(&o);

    o = run(d, at_rate("randread", "3000", "poisson", 1, 16), with(engine, 0, 0.5, 0.05));
    CHECK_EQ(o.rc, 0);
    double all = (double)(outcome_ios(&o, -1, -1, -1) + o.totals[0].unsent);
    CHECK(fabs(all - 1500) < 4 * sqrt(1500) + 1);
    CHECK(!strstr(o.note, "host-bound"));
    outcome_free(&o);

    struct sated_workload w;
    sated_workload_init(&w);
    CHECK_EQ(sated_workload_set(&w, "rate", "read:1000,write:100"), 0);
    w.depth = 8;
    o = run(d, w, with(engine, 0, 0.5, 0.05));
    CHECK_EQ(o.rc, 0);
    uint64_t reads = outcome_ios(&o, -1, -1, SATED_READ), writes = outcome_ios(&o, -1, -1, SATED_WRITE);
    CHECK(reads <= 500 && writes <= 50);
    CHECK_EQ(reads + writes + o.totals[0].unsent, 550);
    outcome_free(&o);

    w = work("randread", "4k", 1, 4);
    w.think_ns = 5000000;
    o = run(d, w, with(engine, 0, 0.5, 0.05));
    CHECK_EQ(o.rc, 0);
    /* No slot does more than one I/O in 5 ms. */
    CHECK(o.totals[0].ios > 40 && o.totals[0].ios <= 4 * 101);
    outcome_free(&o);
    o = run(d, w, with(engine, 37, 0, 0.05));
    CHECK_EQ(o.totals[0].ios, 37);
    outcome_free(&o);

    /* Far more than any engine does with one slot: nothing is skipped, and all that was due is told. */
    o = run(d, at_rate("randread", "10000000", "fixed", 1, 1), with(engine, 0, 0.2, 0.05));
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(outcome_ios(&o, -1, -1, -1) + o.totals[0].unsent, 2000000);
    CHECK(o.totals[0].backlog_max > 0 && o.totals[0].late_max_ns > 0);
    CHECK_TEXT(o.note, "slower than the rate");
    outcome_free(&o);

    /* Nothing due for a long time: it can be stopped, and every interval has its row. */
    struct sated_load *l;
    w = at_rate("randread", "0.1", "fixed", 1, 1);
    struct sated_load_options opt = with(engine, 0, 60, 0.02);
    CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), 0);
    nap_ms(200);
    sated_load_stop(l);
    outcome_run(l, &o, NULL, NULL, NULL);
    CHECK_EQ(o.rc, 0);
    CHECK(o.n_rows >= 5);
    CHECK_EQ(outcome_ios(&o, -1, -1, -1), 1);
    outcome_free(&o);
    sated_drive_close(d);
}

static void keys(void)
{
    struct sated_workload w;
#define REFUSED(key, text, says) \
    do { \
        int rc = sated_workload_set(&w, key, text); \
        CHECK_EQ(rc ? rc : sated_workload_check(&w), SATED_PARSE); \
        CHECK_TEXT(last_text(), says); \
        sated_workload_init(&w); \
    } while (0)
    sated_workload_init(&w);
    REFUSED("rate", "0", "between 0.1 and 1e9");
    REFUSED("rate", "fast", "rate");
    REFUSED("rate", "read:100,read:5", "each once");
    REFUSED("rate", "reads:100", "no direction");
    REFUSED("rate", "flushes:100", "no direction");
    REFUSED("rate", "write", "rate");
    REFUSED("rate", "read:", "rate");
    REFUSED("arrival", "even", "fixed, poisson");
    REFUSED("arrival", "poisson", "without a rate");
    REFUSED("think", "1 min", "think");
    REFUSED("think", "2h", "think");
    REFUSED("think", "4000", "an hour");
    CHECK_EQ(sated_workload_set(&w, "op", "randread"), 0);
    REFUSED("rate", "write:100", "none of them");
    CHECK_EQ(sated_workload_set(&w, "think", "250us"), 0);
    CHECK_EQ(w.think_ns, 250000);
    REFUSED("rate", "100", "contradicts");
    CHECK_EQ(sated_workload_set(&w, "rate", "read:300,write:100"), 0);
    CHECK_NEAR(w.share[SATED_WRITE], 0.25, 1e-12);
    CHECK_EQ(sated_workload_check(&w), 0);
}

int main(void)
{
    keys();
    evenly();
    at_random();
    simulated_rates();
    stalled();
    too_fast();
    ramped();
    thoughtful();
    repeated();
    if (files_begin())
        real_rates(SATED_ENGINE_IO_URING);
    real_rates(SATED_ENGINE_LIBAIO);
    real_rates(SATED_ENGINE_THREADS);
    files_end();
    return check_done();
}
