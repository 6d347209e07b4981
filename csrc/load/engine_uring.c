/* SPDX-License-Identifier: MIT */
/* The io_uring engine: a ring for each worker, driven by raw system calls. One enter submits a batch and waits for a
 * first completion; one clock stamp stands on each side of it. */
#include "load/inflight.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "core/error.h"
#include "load/kernel.h"
#include "load/uring_abi.h"
#include "transport/tasks.h"

/* tests/bench builds this file with another value: what nothing but the loop costs. */
#ifndef URING_NOP
#define URING_NOP 0 /* 1: reads move nothing */
#endif

#define PAUSE_NS 100000
/* A wait with a limit costs the kernel some 50 ns more than none. After so many batches in a row that brought completions
 * within so short a time, the next one does not wait for any. */
#define PROMPT_TIMES 8
#define PROMPT_NS 5000
#define FIXED_MAX ((uint64_t)1 << 30) /* bytes that one registered buffer may have */

struct uring {
    struct inflight f; /* first: see inflight_settle */
    int fd, enter_fd;  /* of the ring; as enter takes it */
    uint32_t enter_flags;
    uint32_t setup;           /* flags of the set-up, in use */
    const uint32_t *sq_flags; /* the kernel's, where a thread of it polls */
    uint32_t mask, cq_mask;   /* of the submission queue, of completions */
    uint32_t *sq_head, *sq_tail, *cq_head, *cq_tail, *cq_overflow;
    struct io_uring_sqe *sqes;
    struct io_uring_cqe *cqes;
    void *rings;
    size_t rings_bytes, sqes_bytes;
    uint32_t tail;   /* of the submission queue, ours */
    uint32_t prompt; /* batches in a row whose completions came at once */
    bool registered; /* file or memory, with the kernel */
    /* Fills n entries from `at` on, which lie before the end of both rings. Return: how many. */
    uint32_t (*fill)(struct uring *u, struct worker *w, uint32_t n, uint32_t at);
};

/* The newest flags that this kernel has. @param polled SQPOLL and IOPOLL, as wanted */
static int ring_setup(uint32_t entries, uint32_t polled, struct io_uring_params *p)
{
    /* With a thread of the kernel's own there is nobody else to do its work. */
    const uint32_t not_for_it = IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_COOP_TASKRUN;
    static const uint32_t tries[] = {
        IORING_SETUP_NO_SQARRAY | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_COOP_TASKRUN,
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_COOP_TASKRUN,
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN,
        IORING_SETUP_COOP_TASKRUN,
        0,
    };
    int rc = -EINVAL;
    for (size_t i = 0; rc == -EINVAL && i < sizeof tries / sizeof *tries; i++) {
        memset(p, 0, sizeof *p);
        p->flags = (polled & IORING_SETUP_SQPOLL ? tries[i] & ~not_for_it : tries[i]) | polled;
        rc = kernel.ring_setup(entries, p);
    }
    return rc;
}

static bool ring_map(struct uring *u, const struct io_uring_params *p)
{
    size_t sq = p->flags & IORING_SETUP_NO_SQARRAY ? 0 : p->sq_off.array + p->sq_entries * sizeof(uint32_t);
    size_t cq = p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe);
    u->rings_bytes = sq > cq ? sq : cq;
    u->sqes_bytes = p->sq_entries * sizeof *u->sqes;
    u->rings = kernel.ring_map(u->fd, u->rings_bytes, IORING_OFF_SQ_RING);
    u->sqes = kernel.ring_map(u->fd, u->sqes_bytes, IORING_OFF_SQES);
    if (!u->rings || !u->sqes)
        return false;
    uint8_t *base = u->rings;
    u->sq_head = (uint32_t *)(base + p->sq_off.head);
    u->sq_tail = (uint32_t *)(base + p->sq_off.tail);
    u->mask = *(uint32_t *)(base + p->sq_off.ring_mask);
    u->sq_flags = (uint32_t *)(base + p->sq_off.flags);
    u->cq_head = (uint32_t *)(base + p->cq_off.head);
    u->cq_tail = (uint32_t *)(base + p->cq_off.tail);
    u->cq_mask = *(uint32_t *)(base + p->cq_off.ring_mask);
    u->cq_overflow = (uint32_t *)(base + p->cq_off.overflow);
    u->cqes = (struct io_uring_cqe *)(base + p->cq_off.cqes);
    if (!(p->flags & IORING_SETUP_NO_SQARRAY)) {
        uint32_t *array = (uint32_t *)(base + p->sq_off.array);
        for (uint32_t i = 0; i < p->sq_entries; i++)
            array[i] = i;
    }
    return true;
}

static void put_discard(struct io_uring_sqe *sqe, uint64_t offset, uint64_t bytes)
{
    sqe->opcode = OP_URING_CMD;
    sqe->off = CMD_DISCARD;
    sqe->addr = offset;
    sqe->len = 0;
    memcpy((uint8_t *)sqe + ADDR3_AT, &bytes, sizeof bytes);
}

/* Registers file and memory with the kernel, which saves looking them up for each I/O; works without, but says so. */
static void ring_register(struct uring *u, struct worker *w, uint32_t opcodes[SATED_OPS])
{
    struct sated_load *l = w->member->load;
    int32_t fd = w->member->fd;
    int rc = kernel.ring_register(u->fd, IORING_REGISTER_FILES, &fd, 1);
    bool file = rc >= 0, memory = false;
    if (!file)
        load_note(l, "the file is not registered with io_uring: %s", error_text(-rc));
    if (w->data.bytes) {
        struct iovec region = {.iov_base = w->data.memory, .iov_len = w->data.bytes};
        rc = w->data.bytes > FIXED_MAX ? -EFBIG : kernel.ring_register(u->fd, IORING_REGISTER_BUFFERS, &region, 1);
        memory = rc >= 0;
        if (!memory)
            load_note(l, "buffers are not registered with io_uring: %s%s", error_text(-rc),
                      rc == -ENOMEM ? " (see ulimit -l)" : "");
    }
    u->registered = file || memory;
    opcodes[SATED_READ] = URING_NOP ? IORING_OP_NOP : memory ? IORING_OP_READ_FIXED : IORING_OP_READ;
    opcodes[SATED_WRITE] = memory ? IORING_OP_WRITE_FIXED : IORING_OP_WRITE;
    opcodes[SATED_WRITE_ZEROES] = IORING_OP_FALLOCATE;
    opcodes[SATED_TRIM] = w->member->is_block ? OP_URING_CMD : IORING_OP_FALLOCATE;
    opcodes[SATED_FLUSH] = IORING_OP_FSYNC;
    /* What all entries have in common is filled in once; the kernel only reads them. */
    for (uint32_t i = 0; i <= u->mask; i++) {
        memset(&u->sqes[i], 0, sizeof u->sqes[i]);
        u->sqes[i].fd = file ? 0 : fd;
        u->sqes[i].flags = file ? IOSQE_FIXED_FILE : 0;
    }
}

/* What was registered is let go of first: the kernel takes a closed ring apart later, and the file would stay busy. */
static void uring_free(struct uring *u)
{
    if (u->registered) {
        kernel.ring_register(u->fd, IORING_UNREGISTER_FILES, NULL, 0);
        kernel.ring_register(u->fd, IORING_UNREGISTER_BUFFERS, NULL, 0);
    }
    kernel.ring_unmap(u->rings, u->rings_bytes);
    kernel.ring_unmap(u->sqes, u->sqes_bytes);
    kernel.ring_close(u->fd);
    inflight_free(&u->f);
}

static inline void put(void *entry, struct slot *slot, const struct kind *kind, uint8_t *memory, bool carries)
{
    struct io_uring_sqe *sqe = entry;
    sqe->opcode = (uint8_t)kind->opcode;
    /* By itself: gathering it with the next in a vector takes longer than two stores. */
    __atomic_store_n(&sqe->off, slot->offset, __ATOMIC_RELAXED);
    sqe->user_data = (uintptr_t)slot;
    if (carries) {
        sqe->addr = (uintptr_t)memory;
        sqe->len = kind->bytes;
    } else if (kind->opcode == OP_URING_CMD) {
        put_discard(sqe, slot->offset, kind->bytes);
    } else { /* fallocate: the length stands in addr, the mode in len; fsync has neither */
        sqe->addr = kind->bytes;
        sqe->len = kind->mode;
    }
}

static inline __attribute__((always_inline)) uint32_t fill_as(struct uring *u, struct worker *w, uint32_t n,
                                                              uint32_t at, struct variant v)
{
    return inflight_fill(&u->f, w, n, v, false, &u->sqes[at & u->mask], sizeof *u->sqes, put);
}

/* The commonest loads have a loop of their own, in which nothing is asked that is known, and nothing is called. */
static __attribute__((noinline)) uint32_t fill_random_reads(struct uring *u, struct worker *w, uint32_t n, uint32_t at)
{
    return fill_as(u, w, n, at, (struct variant){.one_class = true, .reads_only = true});
}

static __attribute__((noinline)) uint32_t fill_mixed_reads(struct uring *u, struct worker *w, uint32_t n, uint32_t at)
{
    return fill_as(u, w, n, at, (struct variant){.reads_only = true});
}

static __attribute__((noinline)) uint32_t fill_random(struct uring *u, struct worker *w, uint32_t n, uint32_t at)
{
    return fill_as(u, w, n, at, (struct variant){.one_class = u->f.variant.one_class});
}

static __attribute__((noinline)) uint32_t fill_any(struct uring *u, struct worker *w, uint32_t n, uint32_t at)
{
    return fill_as(u, w, n, at, u->f.variant);
}

static __attribute__((noinline)) uint32_t fill_given(struct uring *u, struct worker *w, uint32_t n, uint32_t at)
{
    return inflight_fill(&u->f, w, n, u->f.variant, true, &u->sqes[at & u->mask], sizeof *u->sqes, put);
}

static __attribute__((noinline)) uint32_t fill_sequential(struct uring *u, struct worker *w, uint32_t n, uint32_t at)
{
    struct variant v = {.sequential = true, .one_class = u->f.variant.one_class, .reads_only = u->f.variant.reads_only};
    return fill_as(u, w, n, at, v);
}

static __attribute__((noinline)) uint32_t fill_spread(struct uring *u, struct worker *w, uint32_t n, uint32_t at)
{
    struct variant v = {.spread = true, .one_class = u->f.variant.one_class, .reads_only = u->f.variant.reads_only};
    return fill_as(u, w, n, at, v);
}

static void choose_fill(struct uring *u)
{
    struct variant v = u->f.variant;
    if (u->f.ext.given)
        u->fill = fill_given;
    else if (v.by_bytes || v.flushes || v.extended)
        u->fill = fill_any;
    else if (v.spread)
        u->fill = fill_spread;
    else if (v.sequential)
        u->fill = fill_sequential;
    else if (v.reads_only)
        u->fill = v.one_class ? fill_random_reads : fill_mixed_reads;
    else
        u->fill = fill_random;
}

static void ring_drop(struct uring *u)
{
    kernel.ring_unmap(u->rings, u->rings_bytes);
    kernel.ring_unmap(u->sqes, u->sqes_bytes);
    kernel.ring_close(u->fd);
    memset(u, 0, sizeof *u);
    u->fd = -1;
}

/* Makes a ring and maps it. Return: 0 or a negated errno. */
static int ring_open(struct uring *u, uint32_t entries, uint32_t polled, struct io_uring_params *p)
{
    memset(u, 0, sizeof *u);
    u->fd = ring_setup(entries, polled, p);
    if (u->fd < 0)
        return u->fd;
    u->enter_fd = u->fd;
    u->enter_flags = IORING_ENTER_GETEVENTS;
    u->setup = p->flags;
    if (!ring_map(u, p))
        return load_no_memory();
    u->tail = *u->sq_tail;
    return 0;
}

/* Does one I/O by itself. Return: its result. */
static int try_one(struct uring *u, const struct io_uring_sqe *sqe)
{
    u->sqes[u->tail & u->mask] = *sqe;
    __atomic_store_n(u->sq_tail, ++u->tail, __ATOMIC_RELEASE);
    int rc = 0;
    uint32_t head = *u->cq_head;
    while (rc >= 0 && __atomic_load_n(u->cq_tail, __ATOMIC_ACQUIRE) == head)
        rc = kernel.ring_enter(u->fd, u->tail - __atomic_load_n(u->sq_head, __ATOMIC_ACQUIRE), 1,
                               IORING_ENTER_GETEVENTS | IORING_ENTER_SQ_WAKEUP, NULL, 0);
    if (rc >= 0) {
        rc = u->cqes[head & u->cq_mask].res;
        __atomic_store_n(u->cq_head, head + 1, __ATOMIC_RELEASE);
    }
    return rc;
}

/* Whether completions can be polled for is known only once one has been. Return: 0 or a negated errno. */
static int try_read(struct uring *u, const struct worker *w)
{
    const uint32_t bytes = w->member->load->mix.bytes[0];
    uint8_t *memory = aligned_alloc(4096, (bytes + 4095) & ~4095u);
    if (!memory)
        return load_no_memory();
    struct io_uring_sqe sqe = {.opcode = IORING_OP_READ,
                               .fd = w->member->fd,
                               .off = w->member->range.first,
                               .addr = (uintptr_t)memory,
                               .len = bytes};
    int rc = try_one(u, &sqe);
    free(memory);
    return rc < 0 ? rc : 0;
}

/* Asks for a discard of nothing at an address that is none: a kernel that has discards says that it is invalid. */
static int try_discard(struct uring *u, const struct worker *w)
{
    const struct mix *mix = &w->member->load->mix;
    bool trims = false;
    for (uint32_t i = 0; i < mix->n; i++)
        trims |= mix->op[i] == SATED_TRIM;
    if (!trims || !w->member->is_block)
        return 0;
    struct io_uring_sqe sqe = {.fd = w->member->fd};
    put_discard(&sqe, 1, 0);
    if (try_one(u, &sqe) == -EINVAL)
        return 0;
    return error_set(
        SATED_UNSUPPORTED, SATED_LAYER_NONE,
        "%s: io_uring of this kernel has no trims of it (Linux 6.12 has those of drives that take any); let "
        "the engine be auto, or threads",
        w->member->name);
}

/* A ring that polls as wanted, or, with a note, does less of it. */
static int ring_open_polled(struct uring *u, const struct worker *w, uint32_t entries, struct io_uring_params *p)
{
    struct sated_load *l = w->member->load;
    uint32_t sqpoll = l->options.flags & SATED_LOAD_SQPOLL ? IORING_SETUP_SQPOLL : 0;
    if (l->options.flags & SATED_LOAD_IOPOLL) {
        bool others = false; /* only what moves data can be polled for */
        for (uint32_t i = 0; i < l->mix.n; i++)
            others |= l->mix.op[i] > SATED_WRITE;
        int rc = others ? -EOPNOTSUPP : ring_open(u, entries, sqpoll | IORING_SETUP_IOPOLL, p);
        if (!rc)
            rc = try_read(u, w);
        if (!rc)
            return 0;
        if (!others && u->fd >= 0)
            ring_drop(u);
        load_note(l, "%s: no completions are polled for: %s", w->member->name, error_text(-rc));
    }
    int rc = ring_open(u, entries, sqpoll, p);
    if (rc && sqpoll) {
        load_note(l, "no thread of the kernel polls for submissions: %s", error_text(-rc));
        rc = ring_open(u, entries, 0, p);
    }
    return rc;
}

/* Saves looking the ring up at each call. */
static void ring_register_itself(struct uring *u)
{
    struct io_uring_rsrc_update update = {.offset = UINT32_MAX, .data = (uint64_t)u->fd};
    if (kernel.ring_register(u->fd, IORING_REGISTER_RING_FDS, &update, 1) == 1) {
        u->enter_fd = (int)update.offset;
        u->enter_flags |= IORING_ENTER_REGISTERED_RING;
    }
}

/* With SINGLE_ISSUER the ring belongs to the thread that makes it. */
static int uring_init(struct uring *u, struct worker *w)
{
    struct io_uring_params p;
    uint32_t opcodes[SATED_OPS], room = 1;
    while (room < w->depth)
        room *= 2;
    memset(u, 0, sizeof *u);
    u->fd = -1;
    int rc = worker_begin(w);
    if (rc)
        return rc;
    rc = ring_open_polled(u, w, room, &p);
    if (u->fd < 0)
        return error_set(u->fd, SATED_LAYER_NONE,
                         "io_uring is refused here: %s; let the engine be auto, or see "
                         "kernel.io_uring_disabled and the container's seccomp profile",
                         error_text(-u->fd));
    if (!(p.features & IORING_FEAT_EXT_ARG) || !(p.features & IORING_FEAT_SINGLE_MMAP))
        return error_set(-ENOSYS, SATED_LAYER_NONE,
                         "io_uring of this kernel is too old (5.11 is needed); let the engine be auto");
    if (!rc)
        rc = try_discard(u, w);
    if (rc)
        return rc;
    ring_register(u, w, opcodes);
    ring_register_itself(u);
    rc = inflight_init(&u->f, w, opcodes, !URING_NOP);
    u->f.variant.extended |= (u->setup & (IORING_SETUP_SQPOLL | IORING_SETUP_IOPOLL)) != 0;
    choose_fill(u);
    return rc;
}

/* Up to a batch of I/Os, all with one stamp. Return: that stamp. */
static inline __attribute__((always_inline)) int64_t submit(struct uring *u, struct worker *w, bool extended)
{
    int64_t now_ns;
    bool limited;
    uint32_t n = inflight_begin(&u->f, w, &limited, extended), made = 0, run, got;
    do {
        run = before_end(before_end(n - made, u->tail + made, u->mask), u->f.free_head, u->f.mask);
        run = run > INFLIGHT_RUN ? INFLIGHT_RUN : run;
        got = run ? u->fill(u, w, run, u->tail + made) : 0;
        made += got;
    } while (made < n && got == run);
    made = inflight_stamp(&u->f, w, n, limited, &now_ns);
    if (made) {
        u->tail += made;
        __atomic_store_n(u->sq_tail, u->tail, __ATOMIC_RELEASE);
    }
    return now_ns;
}

/* Submits what is in the queue and waits for so many completions, until_ns at most. */
static inline __attribute__((always_inline)) int enter(struct uring *u, int64_t now_ns, uint32_t wait, int64_t until_ns,
                                                       bool extended)
{
    uint32_t queued = u->tail - __atomic_load_n(u->sq_head, __ATOMIC_ACQUIRE);
    uint32_t flags = u->enter_flags;
    if (extended && u->setup & IORING_SETUP_SQPOLL) {
        __atomic_thread_fence(__ATOMIC_SEQ_CST); /* between our tail and the thread's flag */
        if (__atomic_load_n(u->sq_flags, __ATOMIC_RELAXED) & IORING_SQ_NEED_WAKEUP)
            flags |= IORING_ENTER_SQ_WAKEUP;
        else if (!wait)
            return 0;
    }
    if (!wait)
        return kernel.ring_enter(u->enter_fd, queued, 0, flags, NULL, 0);
    int64_t left_ns = until_ns - now_ns + 1;
    struct __kernel_timespec timeout = {.tv_nsec = left_ns > 999999999 ? 999999999 : left_ns < 1 ? 1 : left_ns};
    struct io_uring_getevents_arg argument = {.ts = (uintptr_t)&timeout};
    return kernel.ring_enter(u->enter_fd, queued, wait, flags | IORING_ENTER_EXT_ARG, &argument, sizeof argument);
}

/* Takes all completions, with one stamp. Return: how many. */
static inline __attribute__((always_inline)) uint32_t reap_as(struct uring *u, struct worker *w, bool extended,
                                                              uint32_t bits)
{
    struct inflight *f = &u->f;
    int64_t now_ns = inflight_completing(f, w);
    const uint32_t from = *u->cq_head, tail = __atomic_load_n(u->cq_tail, __ATOMIC_ACQUIRE);
    for (uint32_t head = from, run; head != tail; head += run) {
        run = before_end(before_end(tail - head, head, u->cq_mask), f->free_tail, f->mask);
        const struct io_uring_cqe *cqe = &u->cqes[head & u->cq_mask], *end = cqe + run;
        struct slot **free_slot = &f->free_slots[f->free_tail & f->mask];
        f->free_tail += run;
        for (; cqe != end; cqe++) {
            struct slot *slot = (struct slot *)(uintptr_t)cqe->user_data;
            *free_slot++ = slot;
            inflight_complete(f, w, slot, cqe->res, now_ns, extended, bits);
        }
    }
    __atomic_store_n(u->cq_head, tail, __ATOMIC_RELEASE);
    return tail - from;
}

static __attribute__((noinline)) uint32_t reap_extended(struct uring *u, struct worker *w)
{
    return reap_as(u, w, true, u->f.bits);
}

/* Completions that the kernel could not keep. */
static inline uint32_t dropped(const struct uring *u)
{
    return __atomic_load_n(u->cq_overflow, __ATOMIC_ACQUIRE);
}

static bool is_fatal(int rc)
{
    return rc < 0 && rc != -EINTR && rc != -EAGAIN && rc != -EBUSY && rc != -ETIME;
}

/* Where the kernel is short of something and nothing comes back, asking again at once would only heat the machine. */
static void pause_after(struct worker *w, int rc, uint32_t reaped)
{
    if (__builtin_expect(rc >= 0, 1) || (rc != -EAGAIN && rc != -EBUSY))
        return;
    w->put_off++;
    if (!reaped)
        clock_sleep_until_ns(clock_now_ns() + PAUSE_NS);
}

static void complain(const struct uring *u, struct worker *w, int rc)
{
    if (dropped(u))
        error_set(-EOVERFLOW, SATED_LAYER_DRIVE,
                  "%s: the kernel dropped %u completions; this must not happen, please report it", w->member->name,
                  dropped(u));
    else
        error_set(rc, SATED_LAYER_DRIVE, "%s: io_uring_enter failed: %s", w->member->name, error_text(-rc));
    load_failed(w->member->load);
}

/* Takes back what is queued and the kernel has not taken. */
static void withdraw(struct uring *u, struct worker *w)
{
    uint32_t head = __atomic_load_n(u->sq_head, __ATOMIC_ACQUIRE);
    int64_t now_ns = worker_now_ns(w);
    worker_advance(w, now_ns);
    while (u->tail != head) {
        struct slot *slot = (struct slot *)(uintptr_t)u->sqes[--u->tail & u->mask].user_data;
        inflight_withdraw(&u->f, slot, now_ns);
    }
    __atomic_store_n(u->sq_tail, u->tail, __ATOMIC_RELEASE);
}

/* After a failure: waits for what the kernel has, since it may still write to our memory. Return: false if that fails
 * too. A dropped completion is one of an I/O that is over. */
static bool drain(struct uring *u, struct worker *w)
{
    int rc = 0;
    if (!(u->setup & IORING_SETUP_SQPOLL)) /* else its thread may be taking it */
        withdraw(u, w);
    while (inflight_count(&u->f) > dropped(u) && !is_fatal(rc)) {
        rc = enter(u, worker_now_ns(w), 1, recorder_edge_ns(&w->recorder), true);
        pause_after(w, rc, reap_extended(u, w));
    }
    bool over = inflight_count(&u->f) <= dropped(u);
    inflight_give_up(&u->f, w, over ? -EOVERFLOW : rc);
    return over;
}

/* Return: whether the kernel is done with our memory. */
static inline __attribute__((always_inline)) bool drive_as(struct uring *u, struct worker *w, const bool extended,
                                                           const uint32_t bits)
{
    for (;;) {
        uint32_t before = u->f.free_head;
        int64_t now_ns = submit(u, w, extended);
        if (!inflight_count(&u->f) && !(extended && inflight_rests(&u->f, w)))
            return true;
        /* A free slot that could still be filled is a reason not to wait. */
        bool more = w->recorder.submitting && u->f.free_head != before && u->f.free_head != u->f.free_tail;
        int64_t until_ns = recorder_edge_ns(&w->recorder);
        if (extended)
            more = inflight_wait(&u->f, w, more, now_ns, &until_ns);
        if (!extended)
            more |= u->prompt >= PROMPT_TIMES;
        int rc = enter(u, now_ns, more ? 0 : extended ? inflight_least(&u->f) : 1, until_ns, extended);
        uint32_t reaped = extended ? reap_extended(u, w) : reap_as(u, w, false, bits);
        u->prompt = reaped && w->recorder.now_ns - now_ns < PROMPT_NS ? u->prompt + 1 : 0;
        if (is_fatal(rc) || dropped(u)) {
            complain(u, w, rc);
            return drain(u, w);
        }
        pause_after(w, rc, reaped);
    }
}

static __attribute__((noinline)) bool drive(struct uring *u, struct worker *w)
{
    return drive_as(u, w, false, HISTOGRAM_BITS);
}

static __attribute__((noinline)) bool drive_coarse(struct uring *u, struct worker *w)
{
    return drive_as(u, w, false, HISTOGRAM_BITS_COARSE);
}

static __attribute__((noinline)) bool drive_extended(struct uring *u, struct worker *w)
{
    return drive_as(u, w, true, 0);
}

static void note_punted(const struct worker *w)
{
    if (tasks_of_io_uring())
        load_note(w->member->load,
                  "%s: the kernel handed I/Os on to threads of its own (io-wq), which is in their latencies",
                  w->member->name);
}

static void *run(void *argument)
{
    struct worker *w = argument;
    struct uring u;
    w->engine = &u;
    int rc = uring_init(&u, w);
    if (worker_ready(w, rc)) {
        bool over = u.f.variant.extended         ? drive_extended(&u, w)
                    : u.f.bits == HISTOGRAM_BITS ? drive(&u, w)
                                                 : drive_coarse(&u, w);
        if (!over) { /* neither is let go of: the kernel may still write there */
            u.registered = false;
            data_leak(&w->data);
        }
        note_punted(w);
        worker_end(w);
    }
    uring_free(&u);
    return NULL;
}

const struct real_engine engine_uring = {
    .number = SATED_ENGINE_IO_URING,
    .threads_each = 1,
    .run = run,
    .settle = inflight_settle,
};
