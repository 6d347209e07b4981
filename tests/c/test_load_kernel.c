/* SPDX-License-Identifier: MIT */
/* Loads on a regular file when something fails: system calls, by their table, memory, and moments that seldom come. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <linux/io_uring.h>
#include <sched.h>

#include "core/clock.h"
#include "file_loads.h"
#include "load/real.h"

static int refuse_setup(uint32_t entries, struct io_uring_params *p)
{
    (void)entries;
    (void)p;
    return -EPERM;
}

static int refuse_register(int fd, uint32_t opcode, const void *argument, uint32_t n)
{
    (void)fd;
    (void)opcode;
    (void)argument;
    (void)n;
    return -ENOMEM;
}

static int moody_enter(int fd, uint32_t submit, uint32_t min_complete, uint32_t flags, const void *argument,
                       size_t bytes)
{
    static const int moods[] = {-EINTR, 0, -EAGAIN, 0, -EBUSY, 0, 0};
    static unsigned n;
    int mood = moods[n++ % 7];
    if (submit > 1 && n % 5 == 0)
        submit = 1; /* a short submission */
    return mood ? mood : real_kernel.ring_enter(fd, submit, min_complete, flags, argument, bytes);
}

static int64_t silent_until_ns; /* 0: from the first call on for half a second */

static bool silent(void)
{
    if (!silent_until_ns)
        silent_until_ns = clock_now_ns() + SECONDS(0.5);
    return clock_now_ns() < silent_until_ns;
}

static int silent_enter(int fd, uint32_t submit, uint32_t min_complete, uint32_t flags, const void *argument,
                        size_t bytes)
{
    if (silent()) {
        nap_ms(5);
        return -ETIME;
    }
    return real_kernel.ring_enter(fd, submit, min_complete, flags, argument, bytes);
}

static int silent_getevents(unsigned long context, uint32_t least, uint32_t most, struct io_event *out,
                            struct timespec *timeout)
{
    if (silent()) {
        nap_ms(5);
        return 0;
    }
    return real_kernel.aio_getevents(context, least, most, out, timeout);
}

static ssize_t slow_read(int fd, void *p, size_t bytes, uint64_t offset)
{
    while (silent())
        nap_ms(5);
    return real_kernel.read_at(fd, p, bytes, offset);
}

static ssize_t half_read(int fd, void *p, size_t bytes, uint64_t offset)
{
    return real_kernel.read_at(fd, p, offset % 8192 ? bytes : bytes / 2, offset);
}

static ssize_t full_disk(int fd, const void *p, size_t bytes, uint64_t offset)
{
    return offset >= MIB ? -ENOSPC : real_kernel.write_at(fd, p, bytes, offset);
}

static int refuse_aio(uint32_t entries, unsigned long *context)
{
    (void)entries;
    (void)context;
    return -ENOSYS;
}

/* What seccomp filters of containers refuse: the next engine stands in, and it is said. */
static void fallback(void)
{
    struct sated_drive *d = fresh(MIB);
    struct sated_workload w = work("randread", "4k", 2, 4);
    struct sated_load_options opt = with(SATED_ENGINE_AUTO, 500, 0, 0.1);
    struct sated_load *l;
    kernel.ring_setup = refuse_setup;
    struct outcome o = run(d, w, opt);
    bool direct = !strstr(o.note, "no direct I/O");
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(o.totals[0].engine, direct ? SATED_ENGINE_LIBAIO : SATED_ENGINE_THREADS);
    CHECK_EQ(o.totals[0].ios, 500);
    CHECK_TEXT(o.note, "libaio instead of io_uring, which is refused here");
    outcome_free(&o);
    kernel.aio_setup = refuse_aio;
    o = run(d, w, opt);
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(o.totals[0].engine, SATED_ENGINE_THREADS);
    CHECK_EQ(o.totals[0].ios, 500);
    CHECK_TEXT(o.note, "threads instead of libaio");
    outcome_free(&o);
    opt.engine = SATED_ENGINE_IO_URING;
    CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), -EPERM);
    CHECK(l == NULL);
    CHECK_TEXT(last_text(), "io_uring");
    opt.engine = SATED_ENGINE_LIBAIO;
    CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), -ENOSYS);
    CHECK_TEXT(last_text(), "libaio");
    w.depth = 4096;
    opt.engine = SATED_ENGINE_AUTO;
    CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), SATED_UNSUPPORTED);
    kernel = real_kernel;
    w = work("randtrim", "4k", 1, 4);
    opt.engine = SATED_ENGINE_LIBAIO;
    CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), SATED_UNSUPPORTED);
    CHECK_TEXT(last_text(), "neither trims");
    sated_drive_close(d);
}

static int moody_submit(unsigned long context, uint32_t n, struct iocb **list)
{
    static const int moods[] = {0, -EAGAIN, 0, -EINTR, 0};
    static unsigned calls;
    int mood = moods[calls++ % 5];
    return mood ? mood : real_kernel.aio_submit(context, n > 1 && calls % 3 == 0 ? 1 : n, list);
}

static int moody_getevents(unsigned long context, uint32_t least, uint32_t most, struct io_event *out,
                           struct timespec *timeout)
{
    static unsigned calls;
    return calls++ % 3 == 0 ? -EINTR : real_kernel.aio_getevents(context, least, most, out, timeout);
}

static int refuse_submit(unsigned long context, uint32_t n, struct iocb **list)
{
    (void)context;
    (void)n;
    (void)list;
    return -EBADF;
}

static int dead_getevents(unsigned long context, uint32_t least, uint32_t most, struct io_event *out,
                          struct timespec *timeout)
{
    static unsigned calls;
    return calls++ > 20 && calls < 40 ? -EINVAL : real_kernel.aio_getevents(context, least, most, out, timeout);
}

/* libaio with a kernel that takes part of a batch, none of it, or gives up. */
static void aio_moods(void)
{
    struct sated_drive *d = fresh(8 * MIB);
    kernel.aio_submit = moody_submit;
    kernel.aio_getevents = moody_getevents;
    struct outcome o = run(d, work("randread", "4k", 1, 32), with(SATED_ENGINE_LIBAIO, 5003, 0, 0.1));
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(o.totals[0].ios, 5003);
    CHECK_EQ(o.totals[0].errors, 0);
    outcome_free(&o);
    kernel = real_kernel;
    kernel.aio_submit = refuse_submit;
    o = run(d, work("randread", "4k", 1, 32), with(SATED_ENGINE_LIBAIO, 5003, 0, 0.1));
    CHECK_EQ(o.rc, -EBADF);
    CHECK_EQ(o.totals[0].ios, 0);
    CHECK(o.totals[0].errors >= 100);
    outcome_free(&o);
    kernel = real_kernel;
    kernel.aio_getevents = dead_getevents;
    o = run(d, work("randread", "4k", 1, 32), with(SATED_ENGINE_LIBAIO, 500000, 0, 0.1));
    CHECK_EQ(o.rc, -EINVAL);
    CHECK_TEXT(o.detail.text, "io_getevents");
    outcome_free(&o);
    kernel = real_kernel;
    sated_drive_close(d);
}

static void moody(void)
{
    struct sated_drive *d = fresh(8 * MIB);
    kernel.ring_enter = moody_enter;
    struct outcome o = run(d, work("randread", "4k", 1, 32), with(SATED_ENGINE_IO_URING, 5003, 0, 0.1));
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(o.totals[0].ios, 5003);
    CHECK_EQ(o.totals[0].errors, 0);
    outcome_free(&o);
    kernel = real_kernel;
    kernel.ring_register = refuse_register;
    o = run(d, work("randread", "4k", 1, 32), with(SATED_ENGINE_IO_URING, 5003, 0, 0.1));
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(o.totals[0].ios, 5003);
    CHECK_TEXT(o.note, "buffers are not registered");
    outcome_free(&o);
    kernel = real_kernel;
    sated_drive_close(d);
}

/* A second without I/O is a row of zeros, on time, with everything outstanding. */
static void silence(int engine)
{
    struct sated_drive *d = fresh(MIB);
    kernel.ring_enter = silent_enter;
    kernel.aio_getevents = silent_getevents;
    kernel.read_at = slow_read;
    silent_until_ns = 0;
    struct outcome o = run(d, work("randread", "4k", 1, 1), with(engine, 3, 0, 0.1));
    kernel = real_kernel;
    CHECK_EQ(o.rc, 0);
    CHECK(o.n_rows >= 4);
    for (size_t i = 0; i < 3; i++) {
        CHECK_EQ(o.rows[i].t_ns, (int64_t)(i + 1) * SECONDS(0.1));
        CHECK_EQ(o.rows[i].ios, 0);
        CHECK_EQ(o.rows[i].lat_max_ns, -1);
        CHECK(isnan(o.rows[i].lat_mean_ns));
        CHECK_NEAR(o.rows[i].queue_mean, 1, i ? 1e-9 : 0.5);
    }
    CHECK_EQ(o.totals[0].ios, 3);
    CHECK(o.totals[0].lat_max_ns > SECONDS(0.2));
    outcome_free(&o);
    sated_drive_close(d);
}

static void failures(void)
{
    struct sated_drive *d = fresh(2 * MIB);
    struct sated_load_options opt = with(SATED_ENGINE_THREADS, 1000, 0, 0.1);
    kernel.read_at = half_read;
    opt.max_errors = 1000000;
    struct outcome o = run(d, work("read", "4k", 1, 2), opt);
    CHECK_EQ(o.rc, 0); /* every second I/O was short: a failed one each, and never counted as served */
    CHECK_EQ(o.totals[0].ios, 1000);
    CHECK(o.totals[0].errors >= 999 && o.totals[0].errors <= 1002);
    CHECK_EQ(o.n_errors, 16);
    for (int i = 0; i < 16; i++) {
        CHECK_EQ(o.error_offsets[i] % 8192, 0);
        CHECK_EQ(o.error_codes[i], -EIO);
    }
    check_sums(&o);
    outcome_free(&o);
    kernel = real_kernel;

    kernel.write_at = full_disk;
    opt.max_errors = 10;
    o = run(d, work("write", "4k", 1, 1), opt);
    kernel = real_kernel;
    CHECK_EQ(o.rc, -ENOSPC);
    CHECK_EQ(o.detail.layer, SATED_LAYER_DRIVE);
    CHECK_TEXT(o.detail.text, "write of 4096 bytes at offset");
    CHECK_TEXT(o.detail.text, path);
    CHECK_EQ(outcome_ios(&o, -1, -1, -1), 256); /* what came before is kept */
    CHECK_EQ(o.n_errors, 10);
    CHECK_EQ(o.error_offsets[0], MIB);
    outcome_free(&o);
    sated_drive_close(d);
}

/* --- rings that fail --- */

static struct {
    atomic_int calls, late_submits;
    atomic_uint taken; /* I/Os that the kernel has */
    int fail_at, fail_code, fail_times;
    bool shared; /* some of a call's I/Os the kernel has, some not */
    uint8_t *ring;
    struct io_cqring_offsets cq;
} ring;

static int watch_setup(uint32_t entries, struct io_uring_params *p)
{
    int fd = real_kernel.ring_setup(entries, p);
    ring.cq = p->cq_off;
    return fd;
}

static void *watch_map(int fd, size_t bytes, uint64_t offset)
{
    void *at = real_kernel.ring_map(fd, bytes, offset);
    if (offset == IORING_OFF_SQ_RING)
        ring.ring = at;
    return at;
}

/* The call numbered fail_at, and some after it, fail although the first has handed half of its I/Os to the kernel. */
static int failing_enter(int fd, uint32_t submit, uint32_t min_complete, uint32_t flags, const void *argument,
                         size_t bytes)
{
    int call = atomic_fetch_add(&ring.calls, 1) + 1;
    if (call > ring.fail_at && submit)
        ring.late_submits++;
    if (call > ring.fail_at && call < ring.fail_at + ring.fail_times)
        return ring.fail_code;
    if (call == ring.fail_at) {
        ring.shared = submit > 1;
        submit /= 2;
        flags &= ~IORING_ENTER_GETEVENTS;
    }
    int rc = real_kernel.ring_enter(fd, submit, min_complete, flags, argument, bytes);
    if (rc > 0)
        atomic_fetch_add(&ring.taken, (unsigned)rc);
    return call == ring.fail_at ? ring.fail_code : rc;
}

/* Drops the first completion of that call, as a kernel without memory does. */
static int dropping_enter(int fd, uint32_t submit, uint32_t min_complete, uint32_t flags, const void *argument,
                          size_t bytes)
{
    int rc = real_kernel.ring_enter(fd, submit, min_complete, flags, argument, bytes);
    uint32_t *head = (uint32_t *)(ring.ring + ring.cq.head), *tail = (uint32_t *)(ring.ring + ring.cq.tail);
    if (rc > 0)
        atomic_fetch_add(&ring.taken, (unsigned)rc);
    if (atomic_fetch_add(&ring.calls, 1) < ring.fail_at || ring.fail_times == 0 ||
        *head == __atomic_load_n(tail, __ATOMIC_ACQUIRE))
        return rc;
    ring.fail_times--;
    __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    ++*(uint32_t *)(ring.ring + ring.cq.overflow);
    return ring.fail_code;
}

/* A ring that fails hands no memory back before the kernel is done with it: all that it took is accounted for. */
static void broken_ring(int times, bool drops)
{
    struct sated_drive *d = fresh(8 * MIB);
    memset(&ring, 0, sizeof ring);
    ring.fail_at = drops ? 50 : 3; /* while the ring is filled, 8 at once */
    ring.fail_times = times;
    ring.fail_code = -EBADR;
    kernel.ring_setup = watch_setup;
    kernel.ring_map = watch_map;
    kernel.ring_enter = drops ? dropping_enter : failing_enter;
    struct outcome o = run(d, work("randwrite", "16k", 1, 32), with(SATED_ENGINE_IO_URING, 0, 10, 0.1));
    kernel = real_kernel;
    uint64_t errors = 0;
    for (size_t i = 0; i < o.n_rows; i++)
        errors += o.rows[i].errors;
    CHECK_EQ(outcome_ios(&o, -1, -1, -1) + errors, (uint64_t)ring.taken);
    CHECK(ring.late_submits == 0);
    CHECK(drops || ring.shared);
    check_sums(&o);
    if (drops) {
        CHECK_EQ(o.rc, -EOVERFLOW);
        CHECK_TEXT(o.detail.text, "dropped 1 completions");
        CHECK_EQ(errors, 1);
    } else {
        CHECK_EQ(o.rc, -EBADR);
        CHECK_TEXT(o.detail.text, "io_uring_enter failed");
        CHECK(times > 1 || errors == 0);
        CHECK_EQ(o.n_errors, errors < 16 ? (int)errors : 16);
    }
    outcome_free(&o);
    sated_drive_close(d);
}

static int64_t busy_until_ns;

static int busy_enter(int fd, uint32_t submit, uint32_t min_complete, uint32_t flags, const void *argument,
                      size_t bytes)
{
    atomic_fetch_add(&ring.calls, 1);
    if (!busy_until_ns)
        busy_until_ns = clock_now_ns() + SECONDS(0.05);
    return clock_now_ns() < busy_until_ns ? -EAGAIN
                                          : real_kernel.ring_enter(fd, submit, min_complete, flags, argument, bytes);
}

/* A kernel that is short of something is asked again every 100 us, not in a circle. */
static void busy_ring(void)
{
    struct sated_drive *d = fresh(MIB);
    memset(&ring, 0, sizeof ring);
    kernel.ring_enter = busy_enter;
    struct outcome o = run(d, work("randread", "4k", 1, 1), with(SATED_ENGINE_IO_URING, 1, 0, 0.1));
    kernel = real_kernel;
    CHECK_EQ(o.rc, 0);
    CHECK_EQ(o.totals[0].ios, 1);
    CHECK(ring.calls <= 500 + 5);
    outcome_free(&o);
    sated_drive_close(d);
}

static uint32_t first_waits; /* completions that the first submission waits for */

static int first_enter(int fd, uint32_t submit, uint32_t min_complete, uint32_t flags, const void *argument,
                       size_t bytes)
{
    if (submit && !ring.calls++)
        first_waits = min_complete;
    return real_kernel.ring_enter(fd, submit, min_complete, flags, argument, bytes);
}

/* A batch is a ceiling: with slots left over the next one goes out before anything is waited for. */
static void free_slots_go_first(void)
{
    static const uint32_t depths[] = {8, 32};
    for (int i = 0; i < 2; i++) {
        struct sated_drive *d = fresh(MIB);
        struct sated_load_options opt = with(SATED_ENGINE_IO_URING, 100, 0, 0.1);
        opt.batch = 8;
        memset(&ring, 0, sizeof ring);
        kernel.ring_enter = first_enter;
        struct outcome o = run(d, work("randread", "4k", 1, depths[i]), opt);
        kernel = real_kernel;
        CHECK_EQ(o.rc, 0);
        CHECK_EQ(first_waits, depths[i] > 8 ? 0 : 1);
        outcome_free(&o);
        sated_drive_close(d);
    }
}

/* --- moments --- */

static struct sated_load *_Atomic watched;

/* The end comes 30 us after a completion: while the next write, which takes longer to make up, is on its way. */
static int ending_enter(int fd, uint32_t submit, uint32_t min_complete, uint32_t flags, const void *argument,
                        size_t bytes)
{
    int rc = real_kernel.ring_enter(fd, submit, min_complete, flags, argument, bytes);
    struct sated_load *l = watched;
    if (l && submit) {
        struct worker *w = &l->real->workers[0];
        int64_t end_ns = worker_now_ns(w) + 30000;
        pthread_mutex_lock(&l->lock);
        load_end_at(w->member, end_ns, end_ns);
        atomic_store(&w->recorder.edge_ns, end_ns);
        pthread_mutex_unlock(&l->lock);
        watched = NULL;
    }
    return rc;
}

/* Nothing is submitted after the end: of one I/O at a time, what completes after it was outstanding all the while. */
static void nothing_after_the_end(void)
{
    for (int round = 0; round < 4; round++) {
        struct sated_drive *d = fresh(32 * MIB);
        struct sated_workload w = work("randwrite", "16m", 1, 1);
        struct sated_load_options opt = with(SATED_ENGINE_IO_URING, 0, 60, 1);
        struct sated_load *l;
        struct outcome o;
        kernel.ring_enter = ending_enter;
        CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), 0);
        watched = l;
        outcome_run(l, &o, NULL, NULL, NULL);
        kernel = real_kernel;
        CHECK_EQ(o.rc, 0);
        for (size_t i = 0; i < o.n_rows; i++)
            if (o.rows[i].phase == SATED_AFTER_STOP)
                CHECK_NEAR(o.rows[i].queue_mean, 1, 1e-9);
        outcome_free(&o);
        sated_drive_close(d);
    }
}

/* A load whose threads find no sheet to go on with ends, and stops for good: it does not wait for itself. */
static void no_sheets(int engine)
{
    struct sated_drive *d = fresh(MIB);
    struct sated_workload w = work("randread", "4k", 2, 2);
    struct sated_load_options opt = with(engine, 0, 60, 0.02);
    struct sated_load *l;
    struct outcome o;
    kernel.ring_enter = silent_enter;
    kernel.aio_getevents = silent_getevents;
    kernel.read_at = slow_read;
    silent_until_ns = clock_now_ns() + SECONDS(0.1);
    CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), 0);
    for (bool begun = false; !begun; nap_ms(1)) {
        pthread_mutex_lock(&l->lock);
        begun = l->begun_k > 0;
        l->real->held_max = begun ? 0 : l->real->held_max;
        pthread_mutex_unlock(&l->lock);
    }
    outcome_run(l, &o, NULL, NULL, NULL);
    kernel = real_kernel;
    CHECK_EQ(o.rc, SATED_STATE);
    CHECK_TEXT(o.detail.text, "cannot keep up with a row each 20000 us");
    check_sums(&o);
    outcome_free(&o);
    sated_drive_close(d);
}

/* A thread that is refused is done for good, so that none may be refused what another gives back just then. */
static struct sated_load limited;
static atomic_int succeeded, limit_round, rounds_done;
enum { LIMIT_ROUNDS = 6000, LIMIT = 40 };

static void use_up(struct random *r)
{
    struct member *m = &limited.members[0];
    while (load_limit_take(m, 4096)) {
        if (random_next(r) % 16)
            load_limit_give_back(m, 4096);
        else
            atomic_fetch_add(&succeeded, 1);
    }
}

/* Both begin at the same moment. */
static void spin_until(atomic_int *count, int least)
{
    for (int i = 1; *count < least; i++)
        if (i % 4096 == 0)
            sched_yield();
}

static void *use_up_too(void *argument)
{
    struct random r;
    random_seed(&r, 1, 1);
    for (int round = 1; round <= LIMIT_ROUNDS; round++) {
        spin_until(&limit_round, round);
        use_up(&r);
        rounds_done++;
    }
    return argument;
}

static void limits_are_exact(void)
{
    struct member *m = &limited.members[0];
    struct random r;
    pthread_t thread;
    int inexact = 0;
    m->load = &limited;
    random_seed(&r, 1, 0);
    CHECK_EQ(pthread_create(&thread, NULL, use_up_too, NULL), 0);
    for (int round = 1; round <= LIMIT_ROUNDS; round++) {
        succeeded = 0;
        limited.options.ios = LIMIT;
        limited.options.bytes = round % 2 ? LIMIT * 4096 : 0;
        m->ios_left = LIMIT;
        m->bytes_left = LIMIT * 4096;
        limit_round = round;
        use_up(&r);
        spin_until(&rounds_done, round);
        inexact += succeeded != LIMIT;
    }
    pthread_join(thread, NULL);
    CHECK_EQ(inexact, 0);
}

/* --- the gap in which the load's own thread has given up its lock --- */

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER 1
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define THREAD_SANITIZER 1
#endif

#ifndef THREAD_SANITIZER           /* which has a pthread_mutex_unlock of its own */
static _Thread_local bool is_ours; /* main, or a thread that does I/O */
static atomic_bool watching, in_gap, released;
static atomic_int holding;

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    static int (*_Atomic next)(pthread_mutex_t *);
    if (!next)
        next = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    int rc = next(mutex);
    if (watching && !is_ours && !in_gap) {
        in_gap = true;
        nap_ms(50);
    }
    return rc;
}

static void hold(void)
{
    is_ours = true;
    holding++;
    while (!released)
        nap_ms(1);
}

static int held_enter(int fd, uint32_t submit, uint32_t min_complete, uint32_t flags, const void *argument,
                      size_t bytes)
{
    hold();
    return real_kernel.ring_enter(fd, submit, min_complete, flags, argument, bytes);
}

static ssize_t held_read(int fd, void *p, size_t bytes, uint64_t offset)
{
    hold();
    return real_kernel.read_at(fd, p, bytes, offset);
}

static int held_submit(unsigned long context, uint32_t n, struct iocb **list)
{
    hold();
    return real_kernel.aio_submit(context, n, list);
}

/* Everything ends just there; the load has to notice. */
static void gap(int engine)
{
    struct sated_drive *d = fresh(MIB);
    struct sated_workload w = work("randread", "4k", 1, 1);
    struct sated_load_options opt = with(engine, 1, 0, 10);
    struct sated_load *l;
    is_ours = true;
    watching = in_gap = released = false;
    holding = 0;
    kernel.ring_enter = held_enter;
    kernel.aio_submit = held_submit;
    kernel.read_at = held_read;
    CHECK_EQ(sated_load_start(&l, &d, 1, &w, &opt), 0);
    while (!holding)
        nap_ms(1);
    nap_ms(10); /* it sleeps now; taking something wakes it up */
    watching = true;
    while (!in_gap) {
        sated_load_take_rows(l, NULL, 0);
        nap_ms(1);
    }
    released = true;
    int rc = sated_load_wait(l, SECONDS(5));
    watching = false;
    kernel = real_kernel;
    CHECK_EQ(rc, 0);
    if (rc == 1) /* it cannot be freed either */
        exit(check_done());
    sated_load_free(l);
    sated_drive_close(d);
}
#endif

int main(void)
{
    bool has_uring = files_begin();
    for (int engine = has_uring ? SATED_ENGINE_IO_URING : SATED_ENGINE_THREADS; engine <= SATED_ENGINE_THREADS;
         engine++) {
        silence(engine);
        no_sheets(engine);
#ifndef THREAD_SANITIZER
        gap(engine);
#endif
    }
    fallback();
    aio_moods();
    failures();
    limits_are_exact();
    if (has_uring) {
        moody();
        broken_ring(1, false);
        broken_ring(1000000, false);
        broken_ring(1, true);
        busy_ring();
        free_slots_go_first();
        nothing_after_the_end();
    }
    files_end();
    return check_done();
}
