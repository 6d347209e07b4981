/* SPDX-License-Identifier: MIT */
/* The blocking engine: a thread for each outstanding I/O. The threads of a worker share its addresses and its recorder
 * under a mutex; stamps are taken outside of the system call and attributed in the order of that mutex. */
#include "load/real.h"

#include "core/error.h"
#include "load/kernel.h"

#define THREADS_MAX 4096

static ssize_t do_io(const struct member *m, uint32_t op, uint8_t *p, uint32_t bytes, uint64_t offset)
{
    if (op == SATED_READ)
        return kernel.read_at(m->fd, p, bytes, offset);
    if (op == SATED_WRITE)
        return kernel.write_at(m->fd, p, bytes, offset);
    int rc = op == SATED_TRIM           ? kernel.punch(m->fd, offset, bytes)
             : op == SATED_WRITE_ZEROES ? kernel.zero(m->fd, offset, bytes)
                                        : kernel.flush(m->fd);
    return rc ? rc : (ssize_t)bytes;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* One I/O, with the mutex held except while it runs. Return: false if none may be submitted. */
static bool one(struct worker *w, uint32_t slot)
{
    struct member *m = w->member;
    const struct mix *mix = &m->load->mix;
    uint32_t class = mix_draw(mix, &w->random), op = mix->op[class], bytes = mix->bytes[class];
    struct recorder *r = &w->recorder;
    if (r->limited && !load_limit_take(m, bytes))
        return false;
    bool charged = r->limited;
    uint64_t offset = address_next(&w->address, &m->range, &w->random, op, class, bytes);
    uint8_t *p = op == SATED_READ ? data_read(&w->data, slot) : NULL;
    if (op == SATED_WRITE)
        p = data_write(&w->data, random_next(&w->random), data_stripe(&w->data, slot), bytes);
    int64_t begin_ns = worker_now_ns(w), now_ns = later(begin_ns, r->now_ns);
    worker_advance(w, now_ns);
    if (!r->submitting)
        return false;
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
    if (n == (ssize_t)bytes) {
        recorder_complete(r, class, now_ns, done_ns - begin_ns);
        return true;
    }
    recorder_fail(r, class, now_ns);
    if (r->limited)
        load_limit_give_back(m, bytes);
    load_io_failed(m, class, offset, n);
    return !atomic_load(&m->load->stop);
}

static void *run(void *argument)
{
    struct worker *w = argument;
    pthread_mutex_lock(&w->mutex);
    uint32_t slot = w->next_slot++;
    w->live++;
    pthread_mutex_unlock(&w->mutex);
    if (!worker_ready(w, 0))
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
