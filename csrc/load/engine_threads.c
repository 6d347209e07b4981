/* SPDX-License-Identifier: MIT */
/* The blocking engine: a thread for each outstanding I/O. The threads of a worker share its addresses and its recorder
 * under a mutex; stamps are taken outside of the system call and attributed in the order of that mutex. */
#include "load/real.h"

#include <errno.h>

#include "core/error.h"
#include "load/kernel.h"

#define THREADS_MAX 4096
#define NAP_NS 50000000 /* after which a sleeper looks whether the end has come */

static ssize_t do_io(const struct member *m, uint32_t op, uint8_t *p, uint32_t bytes, uint64_t offset)
{
    if (op == SATED_READ)
        return kernel.read_at(m->fd, p, bytes, offset);
    if (op == SATED_WRITE)
        return kernel.write_at(m->fd, p, bytes, offset);
    int rc;
    if (op == SATED_TRIM) /* a hole in a block device would be zeros written */
        rc = m->is_block ? kernel.discard(m->fd, offset, bytes) : kernel.punch(m->fd, offset, bytes);
    else
        rc = op == SATED_WRITE_ZEROES ? kernel.zero(m->fd, offset, bytes) : kernel.flush(m->fd);
    return rc ? rc : (ssize_t)bytes;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Sleeps without the mutex until t_ns, or until the end comes. Return: false at the end. */
static bool sleep_until(struct worker *w, int64_t t_ns)
{
    for (int64_t now_ns; w->recorder.submitting && !atomic_load(&w->member->load->stop);) {
        now_ns = worker_now_ns(w);
        worker_advance(w, later(now_ns, w->recorder.now_ns));
        if (now_ns >= t_ns)
            return w->recorder.submitting;
        int64_t nap_ns = t_ns - now_ns < NAP_NS ? t_ns - now_ns : NAP_NS;
        pthread_mutex_unlock(&w->mutex);
        clock_sleep_until_ns(clock_now_ns() + nap_ns);
        pthread_mutex_lock(&w->mutex);
    }
    return false;
}

/* An arrival that was this thread's is not submitted any more: it is left over, where it was due before the end. */
static void leave_arrival(struct worker *w, int64_t intended_ns)
{
    if (w->pace)
        w->pace->backlog += intended_ns < w->member->end_ns;
}

/* Takes the next arrival, and waits for it. @param class as the mix has it, then of this I/O; @param intended_ns receives
 * when it was to begin. Return: false at the end. */
static bool await_turn(struct worker *w, uint32_t *class, int64_t *intended_ns)
{
    if (!w->pace)
        return true;
    int64_t now_ns = worker_now_ns(w);
    pace_due(w->pace, now_ns, 1);
    *intended_ns = pace_take(w->pace, now_ns, class);
    if (*intended_ns <= now_ns || sleep_until(w, *intended_ns))
        return true;
    leave_arrival(w, *intended_ns);
    return false;
}

/* Waits for one of the caller's addresses. Return: false at the end. */
static bool await_address(struct worker *w)
{
    for (;;) {
        int64_t now_ns = worker_now_ns(w);
        if (supply_take(w->member, &w->ration, 1, now_ns))
            return true;
        if (w->ration.over || !sleep_until(w, now_ns + SUPPLY_LOOK_NS))
            return false;
    }
}

static void keep(struct worker *w, uint32_t class, uint64_t offset, int64_t intended_ns, int64_t begin_ns,
                 int64_t done_ns, ssize_t n)
{
    const struct mix *mix = &w->member->load->mix;
    log_add(w->member->load, &w->log, w->member->name,
            &(struct sated_io){
                .intended_ns = intended_ns == PACE_NONE ? -1 : intended_ns,
                .submit_ns = begin_ns,
                .complete_ns = done_ns,
                .offset_bytes = offset,
                .size_bytes = mix->bytes[class],
                .error = n == (ssize_t)mix->bytes[class] ? 0
                         : n < 0                         ? (int32_t)n
                                                         : -EIO,
                .member = w->member->index,
                .op = mix->op[class],
            });
}

/* One I/O, with the mutex held except while it runs. Return: false if none may be submitted. */
static bool one(struct worker *w, uint32_t slot)
{
    struct member *m = w->member;
    const struct mix *mix = &m->load->mix;
    uint32_t class = mix_draw(mix, &w->random);
    int64_t intended_ns = PACE_NONE;
    if (!await_turn(w, &class, &intended_ns))
        return false;
    uint64_t offset = 0;
    const bool given = supply_is_on(&m->load->options);
    if (given) {
        if (!await_address(w)) {
            if (!w->ration.over)
                leave_arrival(w, intended_ns);
            return false;
        }
        offset = ration_next(&w->ration, mix, &class);
    }
    uint32_t op = mix->op[class], bytes = mix->bytes[class];
    struct recorder *r = &w->recorder;
    if (r->limited && !load_limit_take(m, bytes))
        return false;
    bool charged = r->limited;
    if (!given)
        offset = address_next(&w->address, &m->range, &w->random, op, class, bytes);
    uint8_t *p = op == SATED_READ ? data_read(&w->data, slot) : NULL;
    if (op == SATED_WRITE)
        p = data_write(&w->data, random_next(&w->random), data_stripe(&w->data, slot), bytes);
    int64_t begin_ns = worker_now_ns(w), now_ns = later(begin_ns, r->now_ns);
    worker_advance(w, now_ns);
    if (!r->submitting) {
        leave_arrival(w, intended_ns);
        return false;
    }
    if (r->limited && !charged && !load_limit_take(m, bytes))
        return false;
    recorder_submit(r, class, now_ns);
    w->submissions++;
    w->submitted++;
    w->submitted_max = 1;
    pthread_mutex_unlock(&w->mutex);

    ssize_t n = do_io(m, op, p, bytes, offset);

    int64_t done_ns = worker_now_ns(w);
    pthread_mutex_lock(&w->mutex);
    now_ns = later(done_ns, r->now_ns);
    worker_advance(w, now_ns);
    recorder_was_earlier(r, class, now_ns - done_ns);
    if (m->load->log.most)
        keep(w, class, offset, intended_ns, begin_ns, done_ns, n);
    if (n == (ssize_t)bytes) {
        recorder_complete(r, class, now_ns, done_ns - begin_ns);
        if (intended_ns != PACE_NONE)
            tally_response(&r->sheet->tally[class], intended_ns, begin_ns, done_ns);
    } else {
        recorder_fail(r, class, now_ns);
        if (r->limited)
            load_limit_give_back(m, bytes);
        load_io_failed(m, class, offset, n);
        if (atomic_load(&m->load->stop))
            return false;
    }
    return !m->load->workload.think_ns || sleep_until(w, done_ns + m->load->workload.think_ns);
}

static void *run(void *argument)
{
    struct worker *w = argument;
    pthread_mutex_lock(&w->mutex);
    uint32_t slot = w->next_slot++;
    w->live++;
    pthread_mutex_unlock(&w->mutex);
    if (!worker_ready(w, worker_begin(w)))
        return NULL;
    pthread_mutex_lock(&w->mutex);
    while (w->recorder.submitting && one(w, slot))
        ;
    if (!--w->live)
        worker_end(w);
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

static void advance(struct worker *w, int64_t now_ns)
{
    pthread_mutex_lock(&w->mutex);
    if (w->delivered != WORKER_ENDED)
        worker_advance(w, now_ns);
    pthread_mutex_unlock(&w->mutex);
}

static int prepare(struct real *real)
{
    const struct sated_load *l = real->load;
    uint64_t threads = (uint64_t)real->n_workers * l->workload.depth;
    if (threads > THREADS_MAX)
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_ARGUMENT,
                         "blocking threads: %llu outstanding I/Os would need as many threads, %d at most; use a "
                         "smaller depth or the io_uring engine",
                         (unsigned long long)threads, THREADS_MAX);
    for (uint32_t i = 0; i < real->n_workers; i++)
        pthread_mutex_init(&real->workers[i].mutex, NULL);
    return 0;
}

const struct real_engine engine_threads = {
    .number = SATED_ENGINE_THREADS,
    .stack_bytes = 256 << 10,
    .prepare = prepare,
    .run = run,
    .advance = advance,
};
