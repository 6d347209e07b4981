/* SPDX-License-Identifier: MIT */
/* Addresses from the caller: every engine does them in their order, each once, and as they say; a load whose source is
 * slow waits, and says how long. Witness is the log of every I/O. */
#include <pthread.h>

#include "file_loads.h"
#include "load/job.h"

#define BLOCKS 1024u
#define WHOLE ((uint64_t)BLOCKS * 4096)
#define MOST 20000u

static const int engines[] = {SATED_ENGINE_IO_URING, SATED_ENGINE_LIBAIO, SATED_ENGINE_THREADS, SATED_ENGINE_SIMULATED};
static bool has_uring;

/* What a source gives: chunks, with pauses between them. */
struct source {
    struct sated_load *load;
    const struct sated_address *addresses;
    size_t n, chunk;
    long pause_ms;
    bool at_once;  /* without being asked */
    int asked, rc; /* how often it was; what the last addition returned */
};

/* A pause counts from when nothing waits any more: how fast the drive is does not matter. */
static void pause_when_dry(struct source *s)
{
    size_t waiting;
    do {
        nap_ms(1);
        pthread_mutex_lock(&s->load->lock);
        waiting = s->load->members[0].supply.waiting;
        pthread_mutex_unlock(&s->load->lock);
    } while (waiting);
    nap_ms(s->pause_ms);
}

static void *give(void *argument)
{
    struct source *s = argument;
    for (size_t at = 0; at < s->n && s->rc >= 0; at += s->chunk) {
        size_t n = s->chunk < s->n - at ? s->chunk : s->n - at;
        struct sated_progress p = {.running = 1};
        while (!s->at_once && p.running && !sated_load_wait_addresses(s->load, 20000000))
            sated_load_get_progress(s->load, &p);
        if (!p.running)
            break;
        s->asked++;
        if (at && s->pause_ms)
            pause_when_dry(s);
        s->rc = sated_load_add_addresses(s->load, s->addresses + at, n, at + n == s->n);
    }
    return NULL;
}

static struct sated_io ios[MOST];
static size_t n_ios;

/* Runs a load on what a source gives, and keeps its log in `ios`. */
static struct outcome run_given(struct sated_drive *const *drives, size_t n, struct sated_workload w,
                                struct sated_load_options opt, struct source *s)
{
    pthread_t thread;
    struct outcome o = {0};
    struct sated_progress p;
    opt.flags |= SATED_LOAD_ADDRESSES;
    opt.log_bytes = 8 * MIB;
    n_ios = 0;
    o.rc = sated_load_start(&s->load, drives, n, &w, &opt);
    CHECK_EQ(o.rc, 0);
    if (o.rc) {
        printf("%s\n", last_text());
        return o;
    }
    pthread_create(&thread, NULL, give, s);
    do { /* the log, before outcome_run frees the load */
        o.rc = sated_load_wait(s->load, 5000000);
        n_ios += (size_t)sated_load_take_ios(s->load, ios + n_ios, MOST - n_ios);
        sated_load_get_progress(s->load, &p);
    } while (o.rc == 1 && p.running);
    pthread_join(thread, NULL);
    outcome_run(s->load, &o, NULL, NULL, NULL);
    return o;
}

static struct sated_drive *drive_for(int engine)
{
    struct sated_drive *d;
    if (engine != SATED_ENGINE_SIMULATED)
        return fresh(WHOLE);
    CHECK_EQ(sated_drive_open(&d, "sim:generic", NULL), 0);
    return d;
}

static struct sated_load_options options_for(int engine)
{
    return with(engine == SATED_ENGINE_SIMULATED ? SATED_ENGINE_AUTO : engine, 0, 0, 0.1);
}

/* Every block once, in an order of its own: i x 397 modulo 1024, of which 397 is no divisor. */
static void fill(struct sated_address *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] = (struct sated_address){.offset_bytes = i * 397 % BLOCKS * 4096, .op = SATED_OP_ANY};
}

static void order(int engine)
{
    static struct sated_address a[3000];
    struct sated_drive *d = drive_for(engine);
    fill(a, 3000);
    for (size_t chunk = 1; chunk <= 4096; chunk *= 64) {
        struct source s = {.addresses = a, .n = 3000, .chunk = chunk};
        struct outcome o = run_given(&d, 1, work("randread", "4k", 1, 1), options_for(engine), &s);
        CHECK_EQ(o.rc, 0);
        CHECK_EQ(o.totals[0].ios, 3000);
        CHECK_EQ(n_ios, 3000);
        bool same = true;
        for (size_t i = 0; i < n_ios; i++)
            same &= ios[i].offset_bytes == a[i].offset_bytes && ios[i].op == SATED_READ && ios[i].size_bytes == 4096;
        CHECK(same);
        CHECK_TEXT(o.note, "the addresses are used up");
        if (chunk == 4096) /* all were there from the start */
            CHECK_EQ(o.totals[0].starved, 0);
        check_sums(&o);
        outcome_free(&o);
    }
    sated_drive_close(d);
}

/* Many threads: what is taken is taken once. */
static void each_once(int engine)
{
    static struct sated_address a[4 * BLOCKS];
    uint32_t seen[BLOCKS] = {0};
    struct sated_drive *d = drive_for(engine);
    fill(a, 4 * BLOCKS);
    struct source s = {.addresses = a, .n = 4 * BLOCKS, .chunk = 100};
    struct outcome o = run_given(&d, 1, work("randwrite", "4k", 3, 8), options_for(engine), &s);
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(n_ios, 4 * BLOCKS);
    for (size_t i = 0; i < n_ios; i++)
        seen[ios[i].offset_bytes / 4096]++;
    bool four = true;
    for (size_t i = 0; i < BLOCKS; i++)
        four &= seen[i] == 4;
    CHECK(four);
    outcome_free(&o);
    sated_drive_close(d);
}

/* What an address says is done; what it leaves open is drawn, or the only one. A flush that is drawn takes no address. */
static void what_is_said(int engine)
{
    static struct sated_address a[1500];
    struct sated_drive *d = drive_for(engine);
    struct sated_workload w;
    sated_workload_init(&w);
    CHECK_EQ(sated_workload_set(&w, "read", "45"), 0);
    CHECK_EQ(sated_workload_set(&w, "write", "45"), 0);
    CHECK_EQ(sated_workload_set(&w, "flush", "10"), 0);
    CHECK_EQ(sated_workload_set(&w, "sizes", "4k:50,8k:50"), 0);
    CHECK_EQ(sated_workload_set(&w, "access", "random"), 0);
    for (size_t i = 0; i < 1500; i++) {
        a[i] = (struct sated_address){.offset_bytes = i * 397 % 512 * 4096, .op = SATED_OP_ANY};
        if (i % 3 == 0)
            a[i].op = SATED_FLUSH, a[i].offset_bytes = 1;
        else if (i % 3 == 1)
            a[i].op = i % 2 ? SATED_WRITE : SATED_READ, a[i].size_bytes = i % 5 ? 8192 : 4096;
    }
    struct source s = {.addresses = a, .n = 1500, .chunk = 1000};
    struct outcome o = run_given(&d, 1, w, options_for(engine), &s);
    CHECK_EQ(o.rc, 0);
    size_t at = 0, drawn = 0, flushes = 0, reads = 0, small = 0;
    bool good = true;
    for (size_t i = 0; i < n_ios; i++) {
        const struct sated_io *io = &ios[i];
        bool open = a[at].op == SATED_OP_ANY;
        if (open && io->op == SATED_FLUSH) { /* drawn */
            flushes++;
            continue;
        }
        if (open) {
            drawn++;
            reads += io->op == SATED_READ;
            small += io->size_bytes == 4096;
        } else {
            good &= io->op == a[at].op && io->size_bytes == a[at].size_bytes;
        }
        good &= io->offset_bytes == (io->op == SATED_FLUSH ? 0 : a[at].offset_bytes);
        at++;
    }
    CHECK(good);
    CHECK_EQ(at, 1500);
    CHECK_EQ(drawn, 500);
    /* Of 500 at a half: a standard deviation of 11. Flushes before 500 others: 500 / 9 on average, a deviation of 8. */
    CHECK_NEAR((double)reads, 250, 55);
    CHECK_NEAR((double)small, 250, 55);
    CHECK_NEAR((double)flushes, 55.6, 40);
    outcome_free(&o);

    w = work("randread", "4k:50,8k:50", 1, 1); /* one operation: the size is enough */
    for (size_t i = 0; i < 100; i++)
        a[i] = (struct sated_address){.offset_bytes = i * 4096, .size_bytes = i % 2 ? 4096 : 8192, .op = SATED_OP_ANY};
    s = (struct source){.addresses = a, .n = 100, .chunk = 100};
    o = run_given(&d, 1, w, options_for(engine), &s);
    CHECK_EQ(n_ios, 100);
    for (size_t i = 0; i < n_ios; i++)
        CHECK_EQ(ios[i].size_bytes, a[i].size_bytes);
    outcome_free(&o);
    sated_drive_close(d);
}

/* Pauses of 100 ms between chunks: one wait each, of about that; at a rate, what was due meanwhile is late, not lost. */
static void starvation(int engine)
{
    static struct sated_address a[300];
    struct sated_drive *d = drive_for(engine);
    fill(a, 300);
    struct source s = {.addresses = a, .n = 300, .chunk = 100, .pause_ms = 100};
    struct outcome o = run_given(&d, 1, work("randread", "4k", 1, 4), options_for(engine), &s);
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(o.totals[0].ios, 300);
    CHECK_EQ(o.totals[0].starved, 2);
    CHECK(o.totals[0].starved_ns >= 2 * 50000000);
    CHECK(o.totals[0].starved_ns <= 2 * 1000000000LL);
    CHECK_TEXT(o.note, "waited 2 times for them, ");
    outcome_free(&o);

    struct sated_workload w = work("randread", "4k", 1, 4);
    CHECK_EQ(sated_workload_set(&w, "rate", "5000"), 0);
    s = (struct source){.addresses = a, .n = 300, .chunk = 150, .pause_ms = 200};
    o = run_given(&d, 1, w, options_for(engine), &s);
    CHECK_EQ(o.totals[0].ios, 300);
    CHECK_EQ(o.totals[0].unsent, 0);             /* there was nothing to send */
    CHECK(o.totals[0].late_max_ns >= 150000000); /* 150 I/Os are due in 30 ms, those behind them wait */
    outcome_free(&o);
    sated_drive_close(d);
}

/* Virtual time stands still meanwhile: the same rows, whatever the pauses, and each chunk is asked for when it is needed. */
static void stands_still(void)
{
    static struct sated_address a[3000];
    struct outcome o[2];
    fill(a, 3000);
    for (int i = 0; i < 2; i++) {
        struct sated_drive *d = drive_for(SATED_ENGINE_SIMULATED);
        struct source s = {.addresses = a, .n = 3000, .chunk = i ? 1000 : 300, .pause_ms = i ? 30 : 0};
        struct sated_load_options opt = options_for(SATED_ENGINE_SIMULATED);
        opt.interval_ns = SECONDS(0.002);
        o[i] = run_given(&d, 1, work("randwrite", "4k", 2, 4), opt, &s);
        CHECK_EQ(o[i].rc, 0);
        CHECK_EQ(s.asked, i ? 3 : 10);
        CHECK_EQ(o[i].totals[0].starved, 0);
        sated_drive_close(d);
    }
    CHECK(o[0].n_rows > 2);
    CHECK_EQ(o[0].n_rows, o[1].n_rows);
    CHECK(!memcmp(o[0].rows, o[1].rows, o[0].n_rows * sizeof *o[0].rows));
    outcome_free(&o[0]);
    outcome_free(&o[1]);
}

/* Each drive does all of them. */
static void two_drives(int engine)
{
    static struct sated_address a[1000];
    struct sated_drive *d[2] = {drive_for(engine), NULL};
    struct sated_drive_options opt;
    char second[160];
    snprintf(second, sizeof second, "%s2", path);
    sated_drive_options_init(&opt);
    opt.create_bytes = engine == SATED_ENGINE_SIMULATED ? 0 : WHOLE;
    unlink(second);
    CHECK_EQ(sated_drive_open(&d[1], engine == SATED_ENGINE_SIMULATED ? "sim:generic,seed=2" : second, &opt), 0);
    fill(a, 1000);
    struct source s = {.addresses = a, .n = 1000, .chunk = 64};
    struct outcome o = run_given(d, 2, work("randread", "4k", 2, 2), options_for(engine), &s);
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(o.n_totals, 2);
    CHECK_EQ(o.totals[0].ios, 1000);
    CHECK_EQ(o.totals[1].ios, 1000);
    outcome_free(&o);
    sated_drive_close(d[0]);
    sated_drive_close(d[1]);
}

/* A limit ends a load before its addresses; a source that never answers holds nothing up. */
static void ends(int engine)
{
    static struct sated_address a[3000];
    struct sated_drive *d = drive_for(engine);
    struct sated_load *l;
    fill(a, 3000);
    struct sated_load_options opt = options_for(engine);
    struct source s = {.addresses = a, .n = 3000, .chunk = 3000};
    opt.ios = 77;
    struct outcome o = run_given(&d, 1, work("randread", "4k", 2, 4), opt, &s);
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(o.totals[0].ios, 77);
    outcome_free(&o);

    opt = options_for(engine);
    opt.flags = SATED_LOAD_ADDRESSES;
    struct sated_workload w = work("randread", "4k", 2, 4);
    for (int chunks = 0; chunks < 2; chunks++) {
        CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), 0);
        if (chunks)
            CHECK_EQ(sated_load_add_addresses(l, a, 50, false), 1);
        nap_ms(300);
        sated_load_stop(l);
        CHECK_EQ(sated_load_wait(l, 5000000000), 0);
        CHECK_EQ(sated_load_wait_addresses(l, -1), 0);
        struct sated_totals t;
        struct sated_progress p;
        CHECK_EQ(sated_load_get_totals(l, &t, 1), 1);
        sated_load_get_progress(l, &p);
        CHECK_EQ(p.ios, chunks ? 50 : 0);
        if (chunks && engine != SATED_ENGINE_SIMULATED)
            CHECK(t.starved >= 1 && t.starved_ns > 100000000);
        sated_load_free(l);
    }
    sated_drive_close(d);
}

/* As many wait as there is room for, and a chunk more. */
static void bounded(void)
{
    static struct sated_address a[65537];
    struct sated_drive *d = drive_for(SATED_ENGINE_THREADS);
    struct sated_load *l;
    struct sated_load_options opt = options_for(SATED_ENGINE_AUTO);
    struct sated_workload w = work("randread", "4k", 1, 1);
    opt.flags = SATED_LOAD_ADDRESSES;
    CHECK_EQ(sated_workload_set(&w, "rate", "1"), 0);
    fill(a, 65537);
    CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), 0);
    int taken = 0;
    while (taken < 10 && sated_load_wait_addresses(l, 0) && sated_load_add_addresses(l, a, 65537, false) > 0)
        taken++;
    CHECK_EQ(taken, 2);
    CHECK_EQ(sated_load_add_addresses(l, a, 1, false), 0);
    CHECK_EQ(sated_load_add_addresses(l, NULL, 0, true), 1); /* the end has room */
    CHECK_EQ(sated_load_add_addresses(l, a, 1, false), SATED_STATE);
    sated_load_free(l);
    sated_drive_close(d);
}

static void check_refused(struct sated_load *l, const struct sated_address *a, size_t n, const char *sentence)
{
    CHECK_EQ(sated_load_check_addresses(l, a, n, 100), SATED_PARSE);
    CHECK_TEXT(last_text(), "address 102, counted from 0, ");
    CHECK_TEXT(last_text(), sentence);
    CHECK_EQ(sated_load_add_addresses(l, a, n, false), SATED_PARSE);
    CHECK_TEXT(last_text(), "address 2 of chunk 0, counted from 0, ");
    CHECK_TEXT(last_text(), sentence);
}

/* The third is wrong: nothing of its chunk is done. */
static void refusals(void)
{
    struct sated_address a[4] = {{0, 0, SATED_OP_ANY}, {4096, 0, SATED_OP_ANY}, {0}, {8192, 0, SATED_OP_ANY}};
    struct sated_drive *d = drive_for(SATED_ENGINE_THREADS);
    struct sated_load *l;
    struct sated_load_options opt = options_for(SATED_ENGINE_AUTO);
    struct sated_workload w = work("randread", "4k:50,8k:50", 1, 1);
    CHECK_EQ(sated_workload_set(&w, "offset", "8192"), 0);
    a[0].offset_bytes = a[1].offset_bytes = 8192;
    opt.flags = SATED_LOAD_ADDRESSES;
    CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), 0);
    a[2] = (struct sated_address){8193, 0, SATED_OP_ANY};
    check_refused(l, a, 4, "is offset 8193, which is no multiple of the ");
    a[2] = (struct sated_address){WHOLE - 4096, 0, SATED_OP_ANY}; /* the size might be 8 KiB */
    check_refused(l, a, 4, "an I/O of 8192 bytes is outside the range of ");
    a[2] = (struct sated_address){UINT64_MAX - 4095, 4096, SATED_READ};
    check_refused(l, a, 4, "an I/O of 4096 bytes is outside the range of ");
    a[2] = (struct sated_address){4096, 4096, SATED_READ};
    check_refused(l, a, 4, "is outside the range of ");
    a[2] = (struct sated_address){8192, 0, SATED_READ};
    check_refused(l, a, 4, "the workload has several sizes; say both");
    a[2] = (struct sated_address){8192, 4096, SATED_WRITE};
    check_refused(l, a, 4, "is a write of 4096 bytes, which the workload has none of");
    a[2] = (struct sated_address){8192, 512, SATED_OP_ANY};
    check_refused(l, a, 4, "is a read of 512 bytes, which the workload has none of");
    a[2] = (struct sated_address){8192, 4096, 77};
    check_refused(l, a, 4, "has the operation 77, which is none");
    struct sated_progress p;
    sated_load_get_progress(l, &p);
    CHECK_EQ(p.ios, 0);
    a[2] = (struct sated_address){WHOLE - 4096, 4096, SATED_READ};
    CHECK_EQ(sated_load_check_addresses(l, a, 4, 0), 0);
    CHECK_EQ(sated_load_add_addresses(l, a, 4, true), 1);
    CHECK_EQ(sated_load_wait(l, 5000000000), 0);
    sated_load_get_progress(l, &p);
    CHECK_EQ(p.ios, 4);
    sated_load_free(l);

    w = work("randread", "4k", 1, 1);
    opt.flags = 0;
    opt.ios = 1;
    CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), 0);
    CHECK_EQ(sated_load_add_addresses(l, a, 1, true), SATED_STATE);
    CHECK_EQ(sated_load_wait_addresses(l, 0), SATED_STATE);
    sated_load_free(l);

    opt.flags = SATED_LOAD_ADDRESSES;
    CHECK_EQ(sated_workload_set(&w, "access", "zipf"), 0);
    CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), SATED_PARSE);
    CHECK_TEXT(last_text(), "addresses of the caller's contradict access");
    w = work("flush", "4k", 1, 1);
    CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), SATED_PARSE);
    CHECK_TEXT(last_text(), "only flushes never uses its addresses up");

    sated_workload_init(&w);
    CHECK_EQ(sated_workload_set(&w, "read", "50"), 0);
    CHECK_EQ(sated_workload_set(&w, "write", "50"), 0);
    CHECK_EQ(sated_workload_set(&w, "size", "4k"), 0);
    CHECK_EQ(sated_workload_set(&w, "rate", "read:1000"), 0);
    CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), 0);
    a[2] = (struct sated_address){8192, 4096, SATED_WRITE};
    check_refused(l, a, 4, "the workload has rates for single operations");
    sated_load_free(l);
    sated_drive_close(d);
}

int main(void)
{
    has_uring = files_begin();
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        if (engines[i] == SATED_ENGINE_IO_URING && !has_uring)
            continue;
        order(engines[i]);
        each_once(engines[i]);
        what_is_said(engines[i]);
        two_drives(engines[i]);
        ends(engines[i]);
        if (engines[i] != SATED_ENGINE_SIMULATED)
            starvation(engines[i]);
    }
    stands_still();
    bounded();
    refusals();
    files_end();
    return check_done();
}
