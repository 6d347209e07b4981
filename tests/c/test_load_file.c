/* SPDX-License-Identifier: MIT */
/* Loads on a regular file: both engines, and the file as witness. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "file_loads.h"
#include "load/job.h"
#include "transport/handle.h"

static void reads(int engine)
{
    struct sated_drive *d = fresh(32 * MIB);
    struct outcome o = run(d, work("randread", "4k:50,8k:50", 3, 8), with(engine, 20011, 0, 0.05));
    CHECK_EQ(o.rc, 0);
    check_sums(&o);
    CHECK_EQ(o.totals[0].engine, (uint32_t)engine);
    CHECK_EQ(o.totals[0].ios + o.totals[1].ios, 20011);
    CHECK_EQ(outcome_ios(&o, SATED_AFTER_STOP, -1, -1), 0);
    double queue = 0;
    for (int i = 0; i < 2; i++) {
        /* All I/Os began and ended in the measured phase: the integral of what was outstanding is the sum of the
         * latencies, although it was not made from them. */
        CHECK_NEAR(o.totals[i].queue_mean * (double)o.totals[i].duration_ns,
                   o.totals[i].lat_mean_ns * (double)o.totals[i].ios, engine == SATED_ENGINE_IO_URING ? 1e-9 : 0.001);
        queue += o.totals[i].queue_mean;
    }
    CHECK(queue <= 24 * 1.001);
    CHECK(o.totals[0].batch_max >= 1 && o.totals[0].batch_max <= (engine == SATED_ENGINE_THREADS ? 1 : 2));
    outcome_free(&o);

    o = run(d, work("randread", "4k", 1, 8), with(engine, 0, 0.35, 0.1));
    check_sums(&o);
    CHECK(o.n_rows >= 4);
    for (size_t i = 0; i < 4; i++) {
        CHECK_EQ(o.rows[i].t_ns, i < 3 ? (int64_t)(i + 1) * 100000000 : 350000000);
        CHECK_EQ(o.rows[i].duration_ns, i < 3 ? 100000000 : 50000000);
        CHECK_EQ(o.rows[i].phase, SATED_MEASURED);
        CHECK(o.rows[i].queue_mean <= 8 * 1.001);
    }
    CHECK_EQ(o.totals[0].duration_ns, 350000000);
    CHECK(outcome_ios(&o, SATED_AFTER_STOP, -1, -1) <= 8);
    CHECK(isnan(o.environment[0].energy_j) && o.environment[0].samples == 0);
    outcome_free(&o);
    sated_drive_close(d);
}

/* The file is the witness: a sequential write of all of it leaves no sector as it was and no two alike. */
static int compare(const void *a, const void *b)
{
    return memcmp(a, b, 512);
}

static void writes(int engine)
{
    enum { BYTES = 4 << 20 };
    struct sated_drive *d = fresh(BYTES);
    struct sated_load_options opt = with(engine, 0, 0, 0.1);
    opt.bytes = BYTES;
    struct outcome o = run(d, work("write", "64k", 1, 4), opt);
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(o.totals[0].bytes, BYTES);
    outcome_free(&o);
    uint8_t *all = malloc(BYTES), zeros[512] = {0};
    int fd = open(path, O_RDONLY), equal = 0;
    CHECK_EQ(pread(fd, all, BYTES, 0), BYTES);
    qsort(all, BYTES / 512, 512, compare);
    for (size_t i = 1; i < BYTES / 512; i++)
        equal += !compare(all + (i - 1) * 512, all + i * 512);
    CHECK_EQ(equal, 0);
    CHECK(compare(all, zeros) != 0);
    close(fd);
    free(all);
    sated_drive_close(d);
}

/* A real load does not wait for its answers, and some checks may be over before they are seen: the answers count. */
static int measure_then_end(uint64_t tick, void *user)
{
    int *answers = user;
    (void)tick;
    return ++*answers < 2 ? SATED_GO_ON : *answers < 5 ? SATED_MEASURE : SATED_END;
}

static void phases(int engine)
{
    struct sated_drive *d = fresh(8 * MIB), *both[2] = {d, NULL};
    struct sated_workload w = work("randread", "4k", 2, 4);
    struct sated_load_options opt = with(engine, 0, 0, 0.02);
    struct sated_load *l;
    struct outcome o;
    int answers = 0;
    opt.ramp_ns = SECONDS(0.02);
    opt.settle = 1;
    opt.check_every_ns = SECONDS(0.04);
    CHECK_EQ(sated_drive_open(&both[1], path, NULL), 0);
    CHECK_EQ(sated_load_start(&l, both, 2, &w, &opt), 0);
    outcome_run(l, &o, measure_then_end, &answers, NULL);
    CHECK_EQ(o.rc, 0);
    check_sums(&o);
    uint32_t last[2] = {0};
    int64_t t_ns[2] = {0}, measured_ns[2] = {0};
    for (size_t i = 0; i < o.n_rows; i++) {
        const struct sated_row *r = &o.rows[i];
        CHECK(r->phase >= last[r->member]);
        /* What ended just before the end, and was counted just after it, is a row of no time. */
        CHECK(r->t_ns > t_ns[r->member] || (r->phase == SATED_AFTER_STOP && r->duration_ns == 0 && r->ios));
        CHECK_EQ(r->t_ns - r->duration_ns, t_ns[r->member]); /* without a gap, never shifted */
        if (r->phase != SATED_AFTER_STOP)
            CHECK_EQ(r->t_ns % SECONDS(0.02), 0);
        measured_ns[r->member] += r->phase == SATED_MEASURED ? r->duration_ns : 0;
        last[r->member] = r->phase;
        t_ns[r->member] = r->t_ns;
    }
    CHECK_EQ(o.rows[0].phase, SATED_RAMP);
    CHECK(measured_ns[0] > 0 && measured_ns[0] == measured_ns[1]); /* both flip at the same boundary */
    CHECK_EQ(o.totals[0].duration_ns, measured_ns[0]);
    outcome_free(&o);
    sated_drive_close(both[1]);
    sated_drive_close(d);
}

/* Trims make holes. */
static void trims(int engine)
{
    enum { BYTES = 4 << 20 };
    struct sated_drive *d = fresh(BYTES);
    struct sated_load_options opt = with(engine, 0, 0, 0.1);
    opt.bytes = BYTES;
    struct outcome o = run(d, work("trim", "64k", 1, 4), opt);
    if (o.rc) {
        printf("# trims skipped: %s\n", o.detail.text);
    } else {
        struct stat st;
        uint8_t *all = malloc(BYTES);
        int fd = open(path, O_RDONLY);
        CHECK_EQ(o.totals[0].bytes, BYTES);
        CHECK_EQ(fstat(fd, &st), 0);
        CHECK(st.st_blocks * 512 < BYTES / 8);
        CHECK_EQ(st.st_size, BYTES);
        CHECK_EQ(pread(fd, all, BYTES, 0), BYTES);
        CHECK(all[0] == 0 && !memcmp(all, all + 1, BYTES - 1));
        close(fd);
        free(all);
    }
    outcome_free(&o);
    sated_drive_close(d);
}

static int cutting_setup(uint32_t entries, struct io_uring_params *p)
{
    if (truncate(path, MIB))
        abort();
    return real_kernel.ring_setup(entries, p);
}

static int cutting_aio_setup(uint32_t entries, unsigned long *context)
{
    if (truncate(path, MIB))
        abort();
    return real_kernel.aio_setup(entries, context);
}

static ssize_t cutting_read(int fd, void *p, size_t bytes, uint64_t offset)
{
    if (!offset && truncate(path, MIB))
        abort();
    return real_kernel.read_at(fd, p, bytes, offset);
}

/* Cut short behind the load's back: reads beyond the end are short, by the kernel's own answer. */
static void short_file(int engine)
{
    struct sated_drive *d = fresh(2 * MIB);
    struct sated_load_options opt = with(engine, 0, 10, 0.1);
    opt.max_errors = 20;
    kernel.ring_setup = cutting_setup;
    kernel.aio_setup = cutting_aio_setup;
    kernel.read_at = cutting_read;
    struct outcome o = run(d, work("read", "4k", 1, 1), opt);
    kernel = real_kernel;
    CHECK_EQ(o.rc, -EIO);
    CHECK_TEXT(o.detail.text, "only 0 of 4096 bytes");
    CHECK_EQ(outcome_ios(&o, -1, -1, -1), 256);
    CHECK_EQ(o.error_offsets[0], MIB);
    outcome_free(&o);
    sated_drive_close(d);
}

static void full_file_system(int engine)
{
    char mount_point[64], file[80];
    struct sated_drive *d;
    snprintf(mount_point, sizeof mount_point, "%s/full", folder);
    mkdir(mount_point, 0700);
    /* In a mount namespace of our own, so that a killed test leaves nothing mounted. */
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("none", mount_point, "tmpfs", 0, "size=1m")) {
        printf("# full file system skipped: no tmpfs can be mounted (%s)\n", strerror(errno));
        return;
    }
    snprintf(file, sizeof file, "%s/sparse", mount_point);
    int fd = open(file, O_CREAT | O_RDWR, 0600);
    CHECK_EQ(ftruncate(fd, 16 << 20), 0);
    close(fd);
    CHECK_EQ(sated_drive_open(&d, file, NULL), 0);
    CHECK_EQ(sated_drive_permit(d, file), 0);
    struct outcome o = run(d, work("write", "64k", 1, 4), with(engine, 0, 10, 0.1));
    CHECK_EQ(o.rc, -ENOSPC);
    CHECK_EQ(sated_error_exit_code(o.rc, o.detail.layer), 4);
    CHECK_TEXT(o.detail.text, "free some space");
    CHECK(outcome_bytes(&o, -1, -1, -1) <= MIB);
    outcome_free(&o);
    sated_drive_close(d);
    CHECK_EQ(umount(mount_point), 0); /* nothing holds the file any more */
}

/* --- what is refused before it begins --- */

static void refused(void)
{
    struct sated_drive *d = fresh(MIB), *small, *simulated, *plain;
    struct sated_workload w = work("randread", "512", 1, 1);
    struct sated_load *l;
    uint32_t alignment = d->alignment;
    bool direct = d->direct;
    d->direct = true;
    d->alignment = 4096;
    if (direct) {
        CHECK_EQ(sated_load_start(&l, &d, 1, &w, NULL), SATED_PARSE);
        CHECK_TEXT(last_text(), "size 512 on ");
        CHECK_TEXT(last_text(), "direct I/O there needs multiples of 4096; use size=4k");
    }
    d->direct = direct;
    d->alignment = alignment;

    CHECK_EQ(sated_drive_open(&plain, path, NULL), 0);
    w = work("randwrite", "4k", 1, 1);
    CHECK_EQ(sated_load_start(&l, &plain, 1, &w, NULL), SATED_UNSAFE);
    CHECK_EQ(sated_drive_open(&simulated, "sim:generic", NULL), 0);
    struct sated_drive *mixed[] = {d, simulated};
    CHECK_EQ(sated_load_start(&l, mixed, 2, &w, NULL), SATED_PARSE);
    CHECK_TEXT(last_text(), "different clocks");
    sated_drive_close(simulated);
    sated_drive_close(plain);

    char file[128];
    snprintf(file, sizeof file, "%s/small", folder);
    int fd = open(file, O_CREAT | O_RDWR, 0600);
    CHECK_EQ(ftruncate(fd, 2048), 0);
    close(fd);
    w = work("randread", "4k", 1, 1);
    if (sated_drive_open(&small, file, NULL) == 0) {
        CHECK_EQ(sated_load_start(&l, &small, 1, &w, NULL), SATED_PARSE);
        CHECK_TEXT(last_text(), "too small for one I/O of 4096");
        sated_drive_close(small);
    }

    /* One load at a time; a load that is let go of without a word ends. */
    CHECK_EQ(sated_load_start(&l, &d, 1, &w, NULL), 0);
    struct sated_load *second;
    CHECK_EQ(sated_load_start(&second, &d, 1, &w, NULL), SATED_STATE);
    sated_load_free(l);
    CHECK(d->busy == HANDLE_IDLE);
    sated_drive_close(d);
}

/* Rows that nobody takes: the load ends when so many wait, and keeps them. */
static void spill(void)
{
    struct sated_drive *d = fresh(MIB);
    struct sated_workload w = work("randread", "4k:25,8k:25,12k:25,16k:25", 1, 4);
    struct sated_load_options opt = with(SATED_ENGINE_AUTO, 0, 120, 0.001);
    struct sated_load *l;
    struct outcome o;
    CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), 0);
    pthread_mutex_lock(&l->lock);
    l->spill_bytes = 128 << 10;
    pthread_mutex_unlock(&l->lock);
    int rc;
    while ((rc = sated_load_wait(l, 1000000000)) == 1)
        ;
    CHECK_EQ(rc, SATED_STATE);
    CHECK_TEXT(last_text(), "128 KiB of its rows were not taken");
    outcome_run(l, &o, NULL, NULL, NULL);
    CHECK_EQ(o.rc, SATED_STATE);
    CHECK(o.n_rows * sizeof *o.rows > 128 << 10);
    check_sums(&o);
    outcome_free(&o);
    sated_drive_close(d);
}

/* Flushes and write-zeroes that the kernel refuses are counted as what they are, and named. */
static int broken_flush(int fd)
{
    (void)fd;
    return -EIO;
}

static int no_zero(int fd, uint64_t offset, uint64_t bytes)
{
    (void)fd;
    (void)offset;
    (void)bytes;
    return -EOPNOTSUPP;
}

static void failures_without_data(void)
{
    struct sated_drive *d = fresh(MIB);
    struct sated_workload w = work("write_zeroes", "4k", 1, 2);
    struct sated_load_options opt = with(SATED_ENGINE_THREADS, 1000, 0, 0.1);
    opt.max_errors = 10;
    kernel.flush = broken_flush;
    kernel.zero = no_zero;
    struct outcome o = run(d, w, opt);
    CHECK_EQ(o.rc, -EOPNOTSUPP);
    CHECK_TEXT(o.detail.text, "the last a write_zeroes of 4096 bytes at offset");
    CHECK_EQ(o.totals[0].op, SATED_WRITE_ZEROES);
    outcome_free(&o);
    sated_workload_init(&w);
    CHECK_EQ(sated_workload_set(&w, "read", "0.5"), 0);
    CHECK_EQ(sated_workload_set(&w, "write", "0"), 0);
    CHECK_EQ(sated_workload_set(&w, "flush", "0.5"), 0);
    o = run(d, w, opt);
    CHECK_EQ(o.rc, -EIO);
    CHECK_EQ(o.n_totals, 2);
    CHECK_EQ(o.totals[0].errors, 0);
    CHECK_EQ(o.totals[1].op, SATED_FLUSH);
    CHECK_EQ(o.totals[1].size_bytes, 0);
    CHECK_EQ(o.totals[1].ios, 0);
    CHECK_EQ(o.totals[1].errors, 10);
    CHECK_TEXT(o.detail.text, "the last a flush");
    outcome_free(&o);
    kernel = real_kernel;
    sated_drive_close(d);
}

int main(void)
{
    bool has_uring = files_begin();
    for (int engine = has_uring ? SATED_ENGINE_IO_URING : SATED_ENGINE_THREADS; engine <= SATED_ENGINE_THREADS;
         engine++) {
        reads(engine);
        writes(engine);
        if (engine != SATED_ENGINE_LIBAIO) /* has none */
            trims(engine);
        phases(engine);
        short_file(engine);
        full_file_system(engine);
    }
    failures_without_data();
    refused();
    spill();
    files_end();
    return check_done();
}
