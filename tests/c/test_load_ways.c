/* SPDX-License-Identifier: MIT */
/* How a load works, beside what it does: batches, processors, rings that poll, the log of every I/O, and when it gives
 * up. Witnesses are the table of system calls and the sums of rows. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <linux/io_uring.h>
#include <sched.h>

#include "file_loads.h"
#include "transport/handle.h"

static uint32_t submitted_max, waited_max;
static int setup_flags;

static int watched_enter(int fd, uint32_t submit, uint32_t min_complete, uint32_t flags, const void *argument,
                         size_t bytes)
{
    submitted_max = submit > submitted_max ? submit : submitted_max;
    waited_max = min_complete > waited_max ? min_complete : waited_max;
    return real_kernel.ring_enter(fd, submit, min_complete, flags, argument, bytes);
}

/* accurate: no two I/Os share a submission; max-iops: no fewer than a batch while there are more, and it is said. */
static void batches(void)
{
    struct sated_drive *d = fresh(4 * MIB);
    struct sated_load_options opt = with(SATED_ENGINE_IO_URING, 4000, 0, 0.1);
    kernel.ring_enter = watched_enter;
    opt.flags = SATED_LOAD_ACCURATE;
    submitted_max = waited_max = 0;
    struct outcome o = run(d, work("randread", "4k", 1, 32), opt);
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(o.totals[0].ios, 4000);
    CHECK_EQ(submitted_max, 1);
    CHECK_EQ(o.totals[0].batch_max, 1);
    CHECK_NEAR(o.totals[0].batch_mean, 1, 1e-9);
    outcome_free(&o);
    for (int engine = SATED_ENGINE_IO_URING; engine <= SATED_ENGINE_LIBAIO; engine++) {
        opt.engine = (uint32_t)engine;
        opt.flags = SATED_LOAD_MAX_IOPS;
        submitted_max = waited_max = 0;
        o = run(d, work("randread", "4k", 1, 32), opt);
        CHECK_EQ(o.rc, 0);
        CHECK_EQ(o.totals[0].ios, 4000);
        CHECK_EQ(o.totals[0].batch_max, 16);          /* half the depth */
        CHECK_NEAR(o.totals[0].batch_mean, 16, 1e-9); /* 4000 is 250 of them */
        CHECK_TEXT(o.note, "latencies are those of whole batches");
        if (engine == SATED_ENGINE_IO_URING)
            CHECK_EQ(submitted_max, 16);
        outcome_free(&o);
        opt.batch = 32; /* all that there are: none is left to go on with, so that all are waited for */
        waited_max = 0;
        o = run(d, work("randread", "4k", 1, 32), opt);
        CHECK_EQ(o.totals[0].ios, 4000);
        CHECK_EQ(o.totals[0].batch_max, 32);
        if (engine == SATED_ENGINE_IO_URING)
            CHECK_EQ(waited_max, 32);
        outcome_free(&o);
        opt.batch = 0;
        /* What does not make a batch is done all the same. */
        opt.ios = 4001;
        o = run(d, work("randread", "4k", 1, 3), opt);
        CHECK_EQ(o.totals[0].ios, 4001);
        outcome_free(&o);
        opt.ios = 4000;
    }
    kernel = real_kernel;
    sated_drive_close(d);
}

static int watched_setup(uint32_t entries, struct io_uring_params *p)
{
    int rc = real_kernel.ring_setup(entries, p);
    if (rc >= 0)
        setup_flags |= (int)p->flags;
    return rc;
}

static int no_polling(uint32_t entries, struct io_uring_params *p)
{
    return p->flags & IORING_SETUP_SQPOLL ? -EPERM : real_kernel.ring_setup(entries, p);
}

/* A ring whose submissions a kernel thread takes does the same I/Os; what is refused is said, and done without. */
static void polling(void)
{
    struct sated_drive *d = fresh(4 * MIB);
    struct sated_load_options opt = with(SATED_ENGINE_IO_URING, 3000, 0, 0.1);
    opt.flags = SATED_LOAD_SQPOLL;
    setup_flags = 0;
    kernel.ring_setup = watched_setup;
    struct outcome o = run(d, work("randread", "4k:50,8k:50", 2, 8), opt);
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(o.totals[0].ios + o.totals[1].ios, 3000);
    if (strstr(o.note, "no thread of the kernel polls"))
        printf("# SQPOLL skipped: %s\n", o.note);
    else
        CHECK(setup_flags & (int)IORING_SETUP_SQPOLL);
    outcome_free(&o);
    kernel.ring_setup = no_polling;
    o = run(d, work("randread", "4k", 1, 8), opt);
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(o.totals[0].ios, 3000);
    CHECK_TEXT(o.note, "no thread of the kernel polls");
    outcome_free(&o);
    kernel = real_kernel;
    /* No file system of this test has queues to poll: each says so in its own way. */
    opt.flags = SATED_LOAD_IOPOLL;
    o = run(d, work("randread", "4k", 1, 8), opt);
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(o.totals[0].ios, 3000);
    CHECK_EQ(o.totals[0].errors, 0);
    if (!strstr(o.note, "no completions are polled for"))
        printf("# completions were polled for\n");
    outcome_free(&o);
    /* Nothing but reads and writes can be polled for, wherever it is. */
    static const char *const others[] = {"randtrim", "flush"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        o = run(d, work(others[i], "4k", 1, 8), opt);
        CHECK_EQ(o.rc, 0);
        CHECK_TEXT(o.note, "no completions are polled for");
        outcome_free(&o);
    }
    opt.engine = SATED_ENGINE_THREADS;
    o = run(d, work("randread", "4k", 1, 8), opt);
    CHECK_TEXT(o.note, "nothing to be polled");
    outcome_free(&o);
    sated_drive_close(d);
}

static uint32_t pinned[64];
static _Atomic uint32_t n_pinned;

static int watched_pin(uint32_t cpu)
{
    pinned[n_pinned++ % 64] = cpu;
    return real_kernel.pin(cpu);
}

/* The threads go round the processors that were named; one that there is not is refused by name. */
static void processors(int engine)
{
    struct sated_drive *d = fresh(MIB);
    struct sated_load_options opt = with(engine, 200, 0, 0.1);
    struct sated_load *l;
    cpu_set_t set;
    uint32_t cpus[2] = {0}, n = 0, count[2] = {0};
    CHECK_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    for (uint32_t cpu = 0; cpu < 1024 && n < 2; cpu++)
        if (CPU_ISSET(cpu, &set))
            cpus[n++] = cpu;
    for (uint32_t i = 0; i < n; i++)
        opt.cpus[cpus[i] / 64] |= UINT64_C(1) << cpus[i] % 64;
    n_pinned = 0;
    kernel.pin = watched_pin;
    struct outcome o = run(d, work("randread", "4k", 4, 1), opt);
    kernel = real_kernel;
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(n_pinned, 4);
    for (uint32_t i = 0; i < 4; i++)
        count[n == 2 && pinned[i] == cpus[1]]++;
    CHECK_EQ(count[0], n == 2 ? 2u : 4u);
    outcome_free(&o);
    memset(opt.cpus, 0, sizeof opt.cpus);
    opt.cpus[15] = UINT64_C(1) << 63;
    CHECK_EQ(sated_load_start(&l, &d, 1, &(struct sated_workload){0}, &opt), SATED_PARSE);
    struct sated_workload w = work("randread", "4k", 1, 1);
    CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), -EINVAL);
    CHECK_TEXT(last_text(), "processor 1023 cannot be used");
    sated_drive_close(d);
}

static ssize_t every_other(int fd, void *p, size_t bytes, uint64_t offset)
{
    return offset % 8192 ? -EIO : real_kernel.read_at(fd, p, bytes, offset);
}

static int by_completion(const void *a, const void *b)
{
    const struct sated_io *x = a, *y = b;
    return x->complete_ns < y->complete_ns ? -1 : x->complete_ns > y->complete_ns;
}

/* The log is the rows once more: as many I/Os, bytes and errors, the same latencies, all within the range. */
static void logged(struct sated_drive *d, struct sated_workload w, struct sated_load_options opt, uint64_t whole)
{
    static struct sated_io io[1 << 16];
    struct sated_load *l;
    struct outcome o;
    size_t n = 0;
    uint64_t bytes = 0, errors = 0, rated = 0;
    struct sated_histogram *h;
    CHECK_EQ(sated_histogram_new(&h), 0);
    opt.log_bytes = 4 * MIB;
    CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), 0);
    int rc;
    do {
        rc = sated_load_wait(l, 10000000);
        for (int got; (got = sated_load_take_ios(l, io + n, 777)) > 0;)
            n += (size_t)got;
    } while (rc == 1);
    CHECK_EQ(rc, 0);
    outcome_run(l, &o, NULL, NULL, NULL);
    for (size_t i = 0; i < n; i++) {
        CHECK(io[i].submit_ns >= 0 && io[i].complete_ns >= io[i].submit_ns && io[i].intended_ns <= io[i].submit_ns);
        CHECK(io[i].offset_bytes + io[i].size_bytes <= whole && io[i].member == 0);
        rated += io[i].intended_ns >= 0;
        errors += io[i].error != 0;
        if (io[i].error) {
            CHECK_EQ(io[i].error, -EIO);
        } else {
            bytes += io[i].size_bytes;
            sated_histogram_record(h, (uint64_t)(io[i].complete_ns - io[i].submit_ns), 1);
        }
    }
    CHECK_EQ(sated_histogram_count(h), outcome_ios(&o, -1, -1, -1));
    CHECK_EQ(bytes, outcome_bytes(&o, -1, -1, -1));
    CHECK_EQ(errors, o.totals[0].errors);
    CHECK_EQ(sated_histogram_max(h), sated_histogram_max(o.histograms));
    CHECK_NEAR(sated_histogram_mean(h), sated_histogram_mean(o.histograms), 1e-6);
    CHECK_EQ(rated, w.rate_total > 0 ? n : 0);
    if (w.threads == 1 && opt.engine != SATED_ENGINE_THREADS) { /* whose threads wait for their turn to note it down */
        struct sated_io *sorted = malloc(n * sizeof *sorted);
        memcpy(sorted, io, n * sizeof *sorted);
        qsort(sorted, n, sizeof *sorted, by_completion);
        for (size_t i = 0; i < n; i++)
            CHECK_EQ(sorted[i].complete_ns, io[i].complete_ns);
        free(sorted);
    }
    sated_histogram_free(h);
    outcome_free(&o);
}

static void logs(bool has_uring)
{
    struct sated_drive *d = fresh(MIB);
    for (int engine = has_uring ? SATED_ENGINE_IO_URING : SATED_ENGINE_LIBAIO; engine <= SATED_ENGINE_THREADS;
         engine++) {
        struct sated_workload w = work("randread", "4k", 2, 4);
        CHECK_EQ(sated_workload_set(&w, "rate", "20000"), 0);
        logged(d, w, with(engine, 5000, 0, 0.05), MIB);
        logged(d, work("randread", "4k:50,8k:50", 2, 8), with(engine, 30000, 0, 0.05), MIB);
    }
    struct sated_load_options opt = with(SATED_ENGINE_THREADS, 3000, 0, 0.05);
    opt.max_errors = SATED_ERRORS_ANY;
    kernel.read_at = every_other;
    logged(d, work("randread", "4k", 1, 4), opt, MIB);
    kernel = real_kernel;
    sated_drive_close(d);
    CHECK_EQ(sated_drive_open(&d, "sim:generic", NULL), 0);
    logged(d, work("randread", "4k:50,8k:50", 1, 8), with(SATED_ENGINE_AUTO, 50000, 0, 0.001),
           d->identity.capacity_bytes);
    struct sated_workload w = work("randread", "4k", 2, 4);
    CHECK_EQ(sated_workload_set(&w, "rate", "20000"), 0);
    logged(d, w, with(SATED_ENGINE_AUTO, 20000, 0, 0.1), d->identity.capacity_bytes);
    sated_drive_close(d);
}

/* A log that nobody takes ends a real load, which keeps all of it; a simulated one waits. */
static void nobody_takes_it(int engine)
{
    struct sated_drive *d = fresh(MIB);
    struct sated_workload w = work("randread", "4k", 1, 8);
    struct sated_load_options opt = with(engine, 0, 600, 10);
    static struct sated_io io[4096];
    struct sated_load *l;
    struct outcome o;
    uint64_t n = 0;
    opt.log_bytes = 4 * MIB;
    CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), 0);
    struct sated_progress p;
    do {
        nap_ms(10);
        sated_load_get_progress(l, &p);
    } while (p.running);
    CHECK_EQ(sated_load_wait(l, 0), SATED_STATE);
    CHECK_TEXT(last_text(), "of its log were not taken");
    for (int got; (got = sated_load_take_ios(l, io, 4096)) > 0;)
        n += (uint64_t)got;
    outcome_run(l, &o, NULL, NULL, NULL);
    CHECK_EQ(n, outcome_ios(&o, -1, -1, -1));
    CHECK(n * sizeof *io >= 3 * MIB);
    outcome_free(&o);
    sated_drive_close(d);
}

/* Give up at the first failure, after so many, or never; the first offsets are named in any case. */
static void giving_up(void)
{
    struct sated_drive *d = fresh(MIB);
    static const uint32_t policies[] = {1, 10, SATED_ERRORS_ANY};
    for (int i = 0; i < 3; i++) {
        struct sated_load_options opt = with(SATED_ENGINE_THREADS, 300, 0, 0.1);
        opt.max_errors = policies[i];
        kernel.read_at = every_other;
        struct outcome o = run(d, work("randread", "4k", 1, 1), opt);
        kernel = real_kernel;
        CHECK_EQ(o.rc, i < 2 ? -EIO : 0);
        if (i < 2)
            CHECK_EQ(o.totals[0].errors, policies[i]);
        else
            CHECK(o.totals[0].errors > 200 && o.totals[0].ios == 300);
        CHECK_EQ(o.n_errors, i == 0 ? 1 : i == 1 ? 10 : 16);
        CHECK_EQ(o.error_offsets[0] % 8192, 4096);
        outcome_free(&o);
    }
    sated_drive_close(d);
}

static void refused(void)
{
    struct sated_drive *d = fresh(MIB);
    struct sated_workload w = work("randread", "4k", 1, 1);
    struct sated_load_options opt;
    struct sated_load *l;
#define REFUSED(change, says) \
    do { \
        opt = with(SATED_ENGINE_AUTO, 10, 0, 0.1); \
        change; \
        CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), SATED_PARSE); \
        CHECK_TEXT(last_text(), says); \
    } while (0)
    REFUSED(opt.flags = 32, "unknown bits");
    REFUSED(opt.flags = SATED_LOAD_ACCURATE | SATED_LOAD_MAX_IOPS, "contradicts");
    REFUSED((opt.flags = SATED_LOAD_ACCURATE, opt.batch = 2), "contradicts");
    REFUSED(opt.log_bytes = 1, "4 MiB");
    REFUSED((opt.flags = SATED_LOAD_MAX_IOPS, w.think_ns = 1), "as fast as can be");
    sated_drive_close(d);
}

int main(void)
{
    bool has_uring = files_begin();
    refused();
    giving_up();
    if (has_uring) {
        batches();
        polling();
        processors(SATED_ENGINE_IO_URING);
        nobody_takes_it(SATED_ENGINE_IO_URING);
    }
    processors(SATED_ENGINE_LIBAIO);
    nobody_takes_it(SATED_ENGINE_THREADS);
    logs(has_uring);
    files_end();
    return check_done();
}
