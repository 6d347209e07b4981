/* SPDX-License-Identifier: MIT */
/* The io_uring engine: a ring for each worker, driven by raw system calls. One enter submits a batch and waits for a
 * first completion; one clock stamp stands on each side of it. */
#include "load/real.h"

#include <errno.h>
#include <linux/falloc.h>
#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "core/error.h"
#include "load/kernel.h"

/* Newer than the oldest headers we build with. */
#ifndef IORING_SETUP_COOP_TASKRUN
#define IORING_SETUP_COOP_TASKRUN (1U << 8)
#endif
#ifndef IORING_SETUP_SINGLE_ISSUER
#define IORING_SETUP_SINGLE_ISSUER (1U << 12)
#endif
#ifndef IORING_SETUP_DEFER_TASKRUN
#define IORING_SETUP_DEFER_TASKRUN (1U << 13)
#endif
#ifndef IORING_SETUP_NO_SQARRAY
#define IORING_SETUP_NO_SQARRAY (1U << 16)
#endif

#define BATCH_MAX 4096u
#define PAUSE_NS 100000
#define FIXED_MAX ((uint64_t)1 << 30) /* bytes that one registered buffer may have */

struct slot {
    int64_t submitted_ns;
    uint64_t offset;
    uint32_t class;
    uint32_t reserved;
};

struct uring {
    int fd;
    uint32_t sq_mask, cq_mask;
    uint32_t *sq_head, *sq_tail, *cq_head, *cq_tail, *cq_overflow;
    struct io_uring_sqe *sqes;
    struct io_uring_cqe *cqes;
    void *rings;
    size_t rings_bytes, sqes_bytes;
    uint32_t tail;     /* of the submission queue, ours */
    uint32_t batch;    /* I/Os submitted at once at most */
    uint8_t opcode[3]; /* by enum sated_op */
    bool registered;   /* file or memory, with the kernel */
    struct slot *slots;
    /* Free slots, first in first out, so that all of their memory is in use in turn. */
    uint32_t *free_slots;
    uint32_t free_mask, free_head, free_tail;
};

static uint32_t power_of_two(uint32_t n)
{
    uint32_t p = 1;
    while (p < n)
        p *= 2;
    return p;
}

/* The newest flags that this kernel has. */
static int ring_setup(uint32_t entries, struct io_uring_params *p)
{
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
        p->flags = tries[i];
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
    u->sq_mask = *(uint32_t *)(base + p->sq_off.ring_mask);
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

/* Registers file and memory with the kernel, which saves looking them up for each I/O; works without, but says so. */
static void ring_register(struct uring *u, struct worker *w)
{
    struct sated_load *l = w->member->load;
    int32_t fd = w->member->fd;
    int rc = kernel.ring_register(u->fd, IORING_REGISTER_FILES, &fd, 1);
    bool file = rc >= 0, memory = false;
    if (!file)
        real_note(l, "the file is not registered with io_uring: %s", strerror(-rc));
    if (w->data.bytes) {
        struct iovec region = {.iov_base = w->data.memory, .iov_len = w->data.bytes};
        rc = w->data.bytes > FIXED_MAX ? -EFBIG : kernel.ring_register(u->fd, IORING_REGISTER_BUFFERS, &region, 1);
        memory = rc >= 0;
        if (!memory)
            real_note(l, "buffers are not registered with io_uring: %s%s", strerror(-rc),
                      rc == -ENOMEM ? " (see ulimit -l)" : "");
    }
    u->registered = file || memory;
    u->opcode[SATED_READ] = memory ? IORING_OP_READ_FIXED : IORING_OP_READ;
    u->opcode[SATED_WRITE] = memory ? IORING_OP_WRITE_FIXED : IORING_OP_WRITE;
    u->opcode[SATED_TRIM] = IORING_OP_FALLOCATE;
    /* What all entries have in common is filled in once; the kernel only reads them. */
    for (uint32_t i = 0; i <= u->sq_mask; i++) {
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
    free(u->slots);
    free(u->free_slots);
}

/* With SINGLE_ISSUER the ring belongs to the thread that makes it. */
static int uring_init(struct uring *u, struct worker *w)
{
    const struct sated_load *l = w->member->load;
    struct io_uring_params p;
    uint32_t depth = w->depth, room = power_of_two(depth);
    memset(u, 0, sizeof *u);
    u->fd = ring_setup(room, &p);
    if (u->fd < 0)
        return error_set(u->fd, SATED_LAYER_NONE,
                         "io_uring is refused here: %s; let the engine be auto or sync, or see "
                         "kernel.io_uring_disabled and the container's seccomp profile",
                         strerror(-u->fd));
    if (!(p.features & IORING_FEAT_EXT_ARG) || !(p.features & IORING_FEAT_SINGLE_MMAP))
        return error_set(-ENOSYS, SATED_LAYER_NONE,
                         "io_uring of this kernel is too old (5.11 is needed); let the engine be auto or sync");
    u->slots = calloc(depth, sizeof *u->slots);
    u->free_slots = calloc(room, sizeof *u->free_slots);
    if (!u->slots || !u->free_slots || !ring_map(u, &p))
        return load_no_memory();
    u->free_mask = room - 1;
    for (uint32_t i = 0; i < depth; i++)
        u->free_slots[i] = i;
    u->free_tail = depth;
    u->tail = *u->sq_tail;
    u->batch = l->options.batch ? l->options.batch : depth / 4 > 16 ? 16 : depth / 4;
    if (u->batch < 1)
        u->batch = 1;
    if (u->batch > BATCH_MAX)
        u->batch = BATCH_MAX;
    ring_register(u, w);
    return 0;
}

/* Puts one I/O into the submission queue. False: a limit is reached. */
static inline bool fill(struct uring *u, struct worker *w)
{
    struct member *m = w->member;
    const struct mix *mix = &m->load->mix;
    uint32_t class = mix_draw(mix, &w->random), op = mix->op[class], bytes = mix->bytes[class];
    if (w->recorder.limited && !load_limit_take(m, bytes))
        return false;
    uint32_t id = u->free_slots[u->free_head++ & u->free_mask];
    struct slot *slot = &u->slots[id];
    struct io_uring_sqe *sqe = &u->sqes[u->tail++ & u->sq_mask];
    slot->class = class;
    slot->offset = address_next(&w->address, &m->range, &w->random, class, bytes);
    sqe->opcode = u->opcode[op];
    sqe->off = slot->offset;
    sqe->user_data = id;
    if (op == SATED_TRIM) { /* fallocate: the length stands in addr, the mode in len */
        sqe->addr = bytes;
        sqe->len = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    } else {
        uint8_t *p = op == SATED_READ ? data_read(&w->data, id) : data_write(&w->data, &w->random, id, bytes);
        sqe->addr = (uintptr_t)p;
        sqe->len = bytes;
    }
    return true;
}

/* Up to a batch of I/Os, all with one stamp. Return: that stamp. */
static inline int64_t submit(struct uring *u, struct worker *w)
{
    uint32_t from = u->free_head, n = u->free_tail - u->free_head;
    if (n > u->batch)
        n = u->batch;
    if (w->recorder.submitting)
        while (n-- && fill(u, w))
            ;
    bool limited = w->recorder.limited;
    int64_t now_ns = worker_now_ns(w);
    worker_advance(w, now_ns);
    if (!w->recorder.submitting) { /* the end came while they were made up */
        u->tail -= u->free_head - from;
        u->free_head = from;
    }
    n = u->free_head - from;
    for (uint32_t i = from; i != u->free_head; i++) {
        struct slot *slot = &u->slots[u->free_slots[i & u->free_mask]];
        slot->submitted_ns = now_ns;
        recorder_submit(&w->recorder, slot->class, now_ns);
        if (w->recorder.limited && !limited) /* the measured phase began between */
            load_limit_charge(w->member, 1, w->member->load->mix.bytes[slot->class]);
    }
    if (n) {
        w->submissions++;
        w->submitted += n;
        if (n > w->submitted_max)
            w->submitted_max = n;
        __atomic_store_n(u->sq_tail, u->tail, __ATOMIC_RELEASE);
    }
    return now_ns;
}

/* Submits what is in the queue and, if `wait`, waits for a completion or the end of the interval. */
static inline int enter(struct uring *u, struct worker *w, int64_t now_ns, bool wait)
{
    int64_t left_ns = atomic_load_explicit(&w->recorder.edge_ns, memory_order_relaxed) - now_ns + 1;
    struct __kernel_timespec timeout = {.tv_nsec = left_ns > 999999999 ? 999999999 : left_ns < 1 ? 1 : left_ns};
    struct io_uring_getevents_arg argument = {.ts = (uintptr_t)&timeout};
    uint32_t queued = u->tail - __atomic_load_n(u->sq_head, __ATOMIC_ACQUIRE);
    return kernel.ring_enter(u->fd, queued, wait, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &argument,
                             sizeof argument);
}

static void failed(struct worker *w, const struct slot *slot, int result, int64_t now_ns)
{
    recorder_fail(&w->recorder, slot->class, now_ns);
    if (w->recorder.limited)
        load_limit_give_back(w->member, w->member->load->mix.bytes[slot->class]);
    load_io_failed(w->member, slot->class, slot->offset, result);
    if (atomic_load(&w->member->load->stop)) /* at once, where a failing drive would only fail more */
        w->recorder.submitting = false;
}

/* Takes all completions, with one stamp. Return: how many. */
static inline uint32_t reap(struct uring *u, struct worker *w)
{
    const struct mix *mix = &w->member->load->mix;
    int64_t now_ns = worker_now_ns(w);
    worker_advance(w, now_ns);
    uint32_t from = *u->cq_head, head = from, tail = __atomic_load_n(u->cq_tail, __ATOMIC_ACQUIRE);
    for (; head != tail; head++) {
        const struct io_uring_cqe *cqe = &u->cqes[head & u->cq_mask];
        uint32_t id = (uint32_t)cqe->user_data, class = u->slots[id].class;
        int32_t wanted = mix->op[class] == SATED_TRIM ? 0 : (int32_t)mix->bytes[class];
        if (cqe->res == wanted)
            recorder_complete(&w->recorder, class, now_ns, now_ns - u->slots[id].submitted_ns);
        else
            failed(w, &u->slots[id], cqe->res, now_ns);
        u->free_slots[u->free_tail++ & u->free_mask] = id;
    }
    __atomic_store_n(u->cq_head, head, __ATOMIC_RELEASE);
    return head - from;
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
static void pause_after(int rc, uint32_t reaped)
{
    if (!reaped && (rc == -EAGAIN || rc == -EBUSY))
        clock_sleep_until_ns(clock_now_ns() + PAUSE_NS);
}

static void complain(const struct uring *u, struct worker *w, int rc)
{
    if (dropped(u))
        error_set(-EOVERFLOW, SATED_LAYER_DRIVE,
                  "%s: the kernel dropped %u completions; this must not happen, please report it", w->member->name,
                  dropped(u));
    else
        error_set(rc, SATED_LAYER_DRIVE, "%s: io_uring_enter failed: %s", w->member->name, strerror(-rc));
    load_failed(w->member->load);
}

/* Takes back what is queued and the kernel has not taken. */
static void withdraw(struct uring *u, struct worker *w)
{
    uint32_t head = __atomic_load_n(u->sq_head, __ATOMIC_ACQUIRE);
    int64_t now_ns = worker_now_ns(w);
    worker_advance(w, now_ns);
    while (u->tail != head) {
        uint32_t id = (uint32_t)u->sqes[--u->tail & u->sq_mask].user_data;
        recorder_change(&w->recorder, u->slots[id].class, now_ns, -1);
        u->free_slots[u->free_tail++ & u->free_mask] = id;
    }
    __atomic_store_n(u->sq_tail, u->tail, __ATOMIC_RELEASE);
}

/* What never came back counts as failed. */
static void give_up(struct uring *u, struct worker *w, int rc)
{
    int64_t now_ns = worker_now_ns(w);
    worker_advance(w, now_ns);
    for (; u->free_head != u->free_tail; u->free_head++)
        u->slots[u->free_slots[u->free_head & u->free_mask]].submitted_ns = -1;
    for (uint32_t id = 0; id < w->depth; id++)
        if (u->slots[id].submitted_ns >= 0)
            failed(w, &u->slots[id], rc, now_ns);
}

/* After a failure: waits for what the kernel has, since it may still write to our memory. Return: false if that fails
 * too. A dropped completion is one of an I/O that is over. */
static bool drain(struct uring *u, struct worker *w)
{
    int rc = 0;
    withdraw(u, w);
    while (w->recorder.outstanding_all > dropped(u) && !is_fatal(rc)) {
        rc = enter(u, w, worker_now_ns(w), true);
        pause_after(rc, reap(u, w));
    }
    bool over = w->recorder.outstanding_all <= dropped(u);
    give_up(u, w, over ? -EOVERFLOW : rc);
    return over;
}

/* Return: whether the kernel is done with our memory. */
static bool drive(struct uring *u, struct worker *w)
{
    for (;;) {
        uint32_t before = u->free_head;
        int64_t now_ns = submit(u, w);
        if (!w->recorder.outstanding_all)
            return true;
        /* A free slot that could still be filled is a reason not to wait. */
        bool more = w->recorder.submitting && u->free_head != before && u->free_head != u->free_tail;
        int rc = enter(u, w, now_ns, !more);
        uint32_t reaped = reap(u, w);
        if (is_fatal(rc) || dropped(u)) {
            complain(u, w, rc);
            return drain(u, w);
        }
        pause_after(rc, reaped);
    }
}

static void *run(void *argument)
{
    struct worker *w = argument;
    struct uring u;
    int rc = uring_init(&u, w);
    if (worker_ready(w, rc)) {
        if (!drive(&u, w)) { /* neither is let go of: the kernel may still write there */
            u.registered = false;
            data_leak(&w->data);
        }
        worker_end(w);
    }
    uring_free(&u);
    return NULL;
}

const struct real_engine engine_uring = {
    .number = SATED_ENGINE_IO_URING,
    .threads_each = 1,
    .run = run,
};
