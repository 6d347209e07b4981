/* SPDX-License-Identifier: MIT */
/* The libaio engine, by raw system calls: for kernels and containers that refuse io_uring. As there, one call submits a
 * batch, another one takes what has completed, and one clock stamp stands on each side. */
#include "load/inflight.h"

#include <errno.h>
#include <linux/aio_abi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/error.h"
#include "load/kernel.h"

#define PAUSE_NS 100000
#define TAKEN 256u /* completions at once */

struct aio {
    struct inflight f; /* first: see inflight_settle */
    aio_context_t context;
    struct iocb *iocbs;  /* of the slots */
    struct iocb **queue; /* what is to be submitted, from `sent` on */
    uint32_t sent, queued;
};

static int aio_init(struct aio *a, struct worker *w)
{
    static const uint32_t opcodes[SATED_OPS] = {
        [SATED_READ] = IOCB_CMD_PREAD, [SATED_WRITE] = IOCB_CMD_PWRITE, [SATED_FLUSH] = IOCB_CMD_FSYNC};
    memset(a, 0, sizeof *a);
    int rc = kernel.aio_setup(w->depth, &a->context);
    if (rc)
        return error_set(rc, SATED_LAYER_NONE,
                         "libaio is refused here: %s; let the engine be auto or threads, or see fs.aio-max-nr",
                         error_text(-rc));
    rc = inflight_init(&a->f, w, opcodes, true);
    a->iocbs = calloc(w->depth, sizeof *a->iocbs);
    a->queue = calloc(w->depth, sizeof *a->queue);
    if (rc || !a->iocbs || !a->queue)
        return load_no_memory();
    for (uint32_t i = 0; i < w->depth; i++) {
        a->iocbs[i].aio_fildes = (uint32_t)w->member->fd;
        a->iocbs[i].aio_data = (uintptr_t)&a->f.slots[i];
        a->f.slots[i].entry = &a->iocbs[i];
    }
    return 0;
}

/* Waits for what is still out. */
static void aio_free(struct aio *a)
{
    if (a->context)
        kernel.aio_destroy(a->context);
    inflight_free(&a->f);
    free(a->iocbs);
    free(a->queue);
}

static inline void put(void *entry, struct slot *slot, const struct kind *kind, uint8_t *memory, bool carries)
{
    (void)carries;
    struct iocb *iocb = slot->entry;
    *(struct iocb **)entry = iocb;
    iocb->aio_lio_opcode = (uint16_t)kind->opcode;
    iocb->aio_buf = (uintptr_t)memory;
    iocb->aio_nbytes = kind->bytes;
    iocb->aio_offset = (int64_t)slot->offset;
}

/* Up to a batch of I/Os more in the queue, all with one stamp. Return: that stamp. */
static inline __attribute__((always_inline)) int64_t make_as(struct aio *a, struct worker *w, bool extended, bool given)
{
    struct inflight *f = &a->f;
    int64_t now_ns;
    bool limited;
    memmove(a->queue, a->queue + a->sent, (a->queued - a->sent) * sizeof *a->queue);
    a->queued -= a->sent;
    a->sent = 0;
    uint32_t n = inflight_begin(f, w, &limited, extended), made = 0, run, got;
    do {
        run = before_end(n - made, f->free_head, f->mask);
        run = run > INFLIGHT_RUN ? INFLIGHT_RUN : run;
        got = run ? inflight_fill(f, w, run, f->variant, given, a->queue + a->queued + made, sizeof *a->queue, put) : 0;
        made += got;
    } while (made < n && got == run);
    a->queued += inflight_stamp(f, w, n, limited, &now_ns);
    return now_ns;
}

static __attribute__((noinline)) int64_t make_extended(struct aio *a, struct worker *w)
{
    return a->f.ext.given ? make_as(a, w, true, true) : make_as(a, w, true, false);
}

/* Takes completions, with one stamp; waits for so many, until_ns at most. Return: how many, or a negated errno. */
static int reap(struct aio *a, struct worker *w, int64_t now_ns, uint32_t wait, int64_t until_ns)
{
    struct inflight *f = &a->f;
    struct io_event events[TAKEN];
    int64_t left_ns = until_ns - now_ns + 1;
    struct timespec timeout = {.tv_nsec = left_ns > 999999999 ? 999999999 : left_ns < 1 ? 1 : left_ns};
    int n = kernel.aio_getevents(a->context, wait, TAKEN, events, &timeout);
    int64_t done_ns = inflight_completing(f, w);
    for (int i = 0; i < n; i++) {
        struct slot *slot = (struct slot *)(uintptr_t)events[i].data;
        f->free_slots[f->free_tail++ & f->mask] = slot;
        inflight_complete(f, w, slot, (int32_t)events[i].res, done_ns, f->variant.extended, f->bits);
    }
    return n;
}

static bool is_fatal(int rc)
{
    return rc < 0 && rc != -EINTR && rc != -EAGAIN;
}

/* The kernel refuses the first I/O of the queue for what it is: it fails, as it would have later. */
static void refused(struct aio *a, struct worker *w, int rc)
{
    struct slot *slot = (struct slot *)(uintptr_t)a->queue[a->sent++]->aio_data;
    int64_t now_ns = inflight_completing(&a->f, w);
    a->f.free_slots[a->f.free_tail++ & a->f.mask] = slot;
    inflight_failed(&a->f, w, slot, rc, now_ns);
}

/* After a failure: takes back what is queued, and waits for what the kernel has. */
static void drain(struct aio *a, struct worker *w, int rc)
{
    int64_t now_ns = inflight_completing(&a->f, w);
    while (a->queued > a->sent)
        inflight_withdraw(&a->f, (struct slot *)(uintptr_t)a->queue[--a->queued]->aio_data, now_ns);
    rc = is_fatal(rc) ? rc : 0;
    for (int taken = 0; inflight_count(&a->f) && !is_fatal(taken);)
        rc = taken = reap(a, w, worker_now_ns(w), 1, recorder_edge_ns(&w->recorder));
    inflight_give_up(&a->f, w, rc);
}

static void drive(struct aio *a, struct worker *w)
{
    const bool extended = a->f.variant.extended;
    for (;;) {
        uint32_t before = a->f.free_head;
        int64_t now_ns = extended ? make_extended(a, w) : make_as(a, w, false, false),
                until_ns = recorder_edge_ns(&w->recorder);
        if (!inflight_count(&a->f) && !(extended && inflight_rests(&a->f, w)))
            return;
        int sent = 0, taken;
        if (a->queued > a->sent) {
            sent = kernel.aio_submit(a->context, a->queued - a->sent, a->queue + a->sent);
            a->sent += sent > 0 ? (uint32_t)sent : 0;
            if (is_fatal(sent))
                refused(a, w, sent);
        }
        /* A free slot that could still be filled is a reason not to wait, as is an I/O that the kernel did not take. */
        bool more = w->recorder.submitting && sent > 0 && a->f.free_head != a->f.free_tail;
        if (extended)
            more = inflight_wait(&a->f, w, more && a->f.free_head != before, now_ns, &until_ns);
        bool out = inflight_count(&a->f) > a->queued - a->sent || !inflight_count(&a->f);
        taken = reap(a, w, now_ns, more || is_fatal(sent) || !out ? 0 : inflight_least(&a->f), until_ns);
        if (is_fatal(taken)) {
            error_set(taken, SATED_LAYER_DRIVE, "%s: io_getevents failed: %s", w->member->name, error_text(-taken));
            load_failed(w->member->load);
            drain(a, w, taken);
            return;
        }
        w->put_off += sent == -EAGAIN;
        if (taken <= 0 && sent == -EAGAIN) /* asking again at once would only heat the machine */
            clock_sleep_until_ns(clock_now_ns() + PAUSE_NS);
    }
}

static void *run(void *argument)
{
    struct worker *w = argument;
    struct aio a;
    w->engine = &a;
    int rc = worker_begin(w);
    if (rc)
        memset(&a, 0, sizeof a);
    else
        rc = aio_init(&a, w);
    if (worker_ready(w, rc)) {
        drive(&a, w);
        worker_end(w);
    }
    aio_free(&a);
    return NULL;
}

static int prepare(struct real *real)
{
    const struct sated_load *l = real->load;
    const struct mix *mix = &l->mix;
    for (uint32_t i = 0; i < l->n; i++) {
        if (l->members[i].direct)
            continue;
        if (l->options.engine == SATED_ENGINE_AUTO)
            return error_set(SATED_UNSUPPORTED, SATED_LAYER_ARGUMENT, "%s: libaio blocks where there is no direct I/O",
                             l->members[i].name);
        load_note(real->load, "%s: libaio blocks where there is no direct I/O, so that one I/O runs at a time",
                  l->members[i].name);
    }
    for (uint32_t i = 0; i < mix->n; i++)
        if (mix->op[i] == SATED_TRIM || mix->op[i] == SATED_WRITE_ZEROES)
            return error_set(SATED_UNSUPPORTED, SATED_LAYER_ARGUMENT,
                             "libaio has neither trims nor write-zeroes; let the engine be auto, io_uring or threads");
    return 0;
}

const struct real_engine engine_aio = {
    .number = SATED_ENGINE_LIBAIO,
    .threads_each = 1,
    .prepare = prepare,
    .run = run,
    .settle = inflight_settle,
};
