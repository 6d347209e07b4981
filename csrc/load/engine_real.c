/* SPDX-License-Identifier: MIT */
/* What the engines for real drives share. Workers never wait: at the end of an interval they hand over what they
 * counted and go on; the load's own thread adds it up and makes rows once all workers of a drive have delivered. */
#include "load/real.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/error.h"
#include "core/size.h"
#include "core/thread.h"
#include "load/kernel.h"
#include "transport/handle.h"
#include "transport/topology.h"

#define HELD_BYTES ((uint64_t)256 << 20) /* of sheets that may be on their way */
#define SPARE_EACH 2                     /* empty sheets that are kept for each worker, once the load has caught up */
#define CPUS (64 * (sizeof((struct sated_load_options *)0)->cpus / sizeof(uint64_t)))
#define STOP_LEAD_NS 1000000 /* an end that all workers still have before them */

int worker_begin(const struct worker *w)
{
    const struct sated_load *l = w->real->load;
    const uint64_t *cpus = l->options.cpus;
    uint32_t n = 0, at = (uint32_t)(w - w->real->workers);
    for (uint32_t cpu = 0; cpu < CPUS; cpu++)
        n += cpus[cpu / 64] >> cpu % 64 & 1;
    if (!n)
        return 0;
    uint32_t cpu = 0;
    for (at %= n; !(cpus[cpu / 64] >> cpu % 64 & 1) || at--; cpu++)
        ;
    int rc = kernel.pin(cpu);
    if (rc)
        return error_set(rc, SATED_LAYER_NONE,
                         "processor %" PRIu32 " cannot be used: %s; choose among those that `taskset -p $$` shows", cpu,
                         error_text(-rc));
    return 0;
}

bool worker_ready(struct worker *w, int rc)
{
    struct real *real = w->real;
    struct sated_load *l = real->load;
    if (l->rates.n || l->workload.think_ns || supply_is_on(&l->options))
        kernel.sharpen();
    pthread_mutex_lock(&l->lock);
    if (rc && !real->failure.code)
        sated_detail_get(&real->failure);
    real->ready++;
    pthread_cond_broadcast(&l->go);
    while (!real->open)
        pthread_cond_wait(&l->go, &l->lock);
    bool starts = !real->aborted;
    pthread_mutex_unlock(&l->lock);
    return starts;
}

/* An empty sheet, under the lock. NULL, with the thread's detail: no memory, or too many are on their way. */
static struct sheet *empty_sheet(const struct worker *w)
{
    struct real *real = w->real;
    const struct sated_load *l = real->load;
    struct sheet *s = real->spare;
    if (real->held >= real->held_max && !atomic_load(&l->stop)) {
        error_set(SATED_STATE, SATED_LAYER_NONE,
                  "%s: the load has ended, because this machine cannot keep up with a row each %" PRId64
                  " us for %u classes and %u threads; use a longer interval",
                  w->member->name, l->options.interval_ns / 1000, l->mix.n, real->n_workers);
        return NULL;
    }
    if (s) {
        real->spare = s->next;
        real->spares--;
    } else {
        s = load_sheet_new(l);
    }
    if (s) {
        s->next = NULL;
        real->held++;
    } else {
        load_no_memory();
    }
    return s;
}

/* Begins the sheet that follows from_ns, under the lock. */
static void begin(struct worker *w, struct sheet *s, int64_t from_ns)
{
    struct sated_load *l = w->member->load;
    if (!w->k || from_ns >= load_edge_ns(w->member, w->k))
        w->k++;
    if (w->k > l->begun_k)
        l->begun_k = w->k;
    load_begin(w->member, &w->recorder, s, w->k, from_ns);
}

/* Hands the running sheet over, under the lock. */
static void deliver(struct worker *w, int64_t to_ns)
{
    struct real *real = w->real;
    if (real->engine->settle)
        real->engine->settle(w, to_ns);
    struct sheet *s = recorder_close(&w->recorder, to_ns);
    s->submissions = w->submissions;
    s->submitted = w->submitted;
    s->submitted_max = w->submitted_max;
    w->submissions = w->submitted = w->submitted_max = 0;
    if (w->pace) {
        s->backlog_max = w->pace->backlog_max;
        w->pace->backlog_max = 0;
    }
    ration_tell(&w->ration, to_ns);
    s->starved = w->ration.starved;
    s->starved_ns = w->ration.starved_ns;
    w->ration.starved = 0;
    w->ration.starved_ns = 0;
    log_put(&real->load->log, &w->log);
    s->worker = (uint32_t)(w - real->workers);
    w->delivered = sheet_order(s);
    *real->last = s;
    real->last = &s->next;
    pthread_cond_broadcast(&real->load->go);
}

void worker_turn(struct worker *w, int64_t now_ns)
{
    struct sated_load *l = w->real->load;
    struct recorder *r = &w->recorder;
    bool failed = false;
    pthread_mutex_lock(&l->lock);
    while (!failed && recorder_is_due(r, now_ns)) {
        struct sheet *next = empty_sheet(w);
        int64_t edge_ns = atomic_load_explicit(&r->edge_ns, memory_order_relaxed);
        if (edge_ns < r->now_ns) /* brought forward, but a little too late for this worker */
            edge_ns = r->now_ns;
        if (next) {
            deliver(w, edge_ns);
            begin(w, next, edge_ns);
        } else { /* it goes on with the sheet that it has, for the little that is left to do */
            atomic_store_explicit(&r->edge_ns, LOAD_NEVER, memory_order_relaxed);
            r->submitting = false;
            failed = true;
        }
    }
    pthread_mutex_unlock(&l->lock);
    if (failed)
        load_failed(l);
}

void worker_end(struct worker *w)
{
    struct sated_load *l = w->real->load;
    pthread_mutex_lock(&l->lock);
    supply_leave(w->member);
    deliver(w, w->recorder.now_ns);
    if (w->pace && !w->ration.over)
        load_unsent(w->member, w->pace, w->recorder.now_ns);
    w->delivered = WORKER_ENDED;
    pthread_mutex_unlock(&l->lock);
}

/* --- the load's own thread --- */

/* The end is a moment from now, for all drives; under the lock. */
static void stop_workers(struct real *real)
{
    struct sated_load *l = real->load;
    int64_t end_ns = clock_stamp_ns(real->clock) - real->start_ns + STOP_LEAD_NS;
    real->stopping = true;
    for (uint32_t i = 0; i < real->n_workers; i++) {
        struct worker *w = &real->workers[i];
        if (end_ns < w->member->end_ns && end_ns < atomic_load(&w->recorder.edge_ns))
            atomic_store(&w->recorder.edge_ns, end_ns);
    }
    for (uint32_t i = 0; i < l->n; i++)
        load_end_at(&l->members[i], end_ns, end_ns);
}

/* Puts a delivered sheet among those of its drive. Return: a sheet that is free now, or NULL. */
static struct sheet *gather(struct real *real, struct sheet *s)
{
    struct sheet **at = &real->gathered[real->workers[s->worker].member->index];
    while (*at && sheet_order(*at) < sheet_order(s))
        at = &(*at)->next;
    if (*at && sheet_order(*at) == sheet_order(s)) {
        sheet_merge(*at, s);
        return s;
    }
    s->next = *at;
    *at = s;
    return NULL;
}

/* Rows of what all workers of a drive have delivered. Return: the sheets that are free now. */
static struct sheet *emit(struct real *real, struct member *m, uint64_t complete, struct sheet *free_ones)
{
    struct sheet *s;
    while ((s = real->gathered[m->index]) && sheet_order(s) <= complete) {
        real->gathered[m->index] = s->next;
        if (!sheet_is_empty(s))
            collect_sheet(m, s);
        sheet_reset(s);
        s->next = free_ones;
        free_ones = s;
    }
    if (complete == WORKER_ENDED && !m->ended) {
        collect_end(m);
        m->ended = true;
    }
    return free_ones;
}

static void sheets_free(struct sheet *s)
{
    for (struct sheet *next; s; s = next) {
        next = s->next;
        sheet_free(s);
    }
}

/* Adds up what was delivered. Under the lock, which it gives up in between. */
static void add_up(struct real *real)
{
    struct sated_load *l = real->load;
    struct sheet *s = real->first, *next, *free_ones = NULL;
    uint64_t complete[LOAD_DRIVES];
    real->first = NULL;
    real->last = &real->first;
    for (uint32_t i = 0; i < l->n; i++)
        complete[i] = WORKER_ENDED;
    for (uint32_t i = 0; i < real->n_workers; i++) {
        const struct worker *w = &real->workers[i];
        if (w->delivered < complete[w->member->index])
            complete[w->member->index] = w->delivered;
    }
    pthread_mutex_unlock(&l->lock);
    for (; s; s = next) {
        next = s->next;
        s->next = NULL;
        struct sheet *free_one = gather(real, s);
        if (free_one) {
            sheet_reset(free_one);
            free_one->next = free_ones;
            free_ones = free_one;
        }
    }
    for (uint32_t i = 0; i < l->n; i++)
        free_ones = emit(real, &l->members[i], complete[i], free_ones);
    pthread_mutex_lock(&l->lock);
    struct sheet *more = NULL, **to;
    for (; free_ones; free_ones = next) {
        next = free_ones->next;
        to = real->spares < SPARE_EACH * real->n_workers ? &real->spare : &more;
        real->spares += to == &real->spare;
        free_ones->next = *to;
        *to = free_ones;
        real->held--;
    }
    if (!more)
        return;
    pthread_mutex_unlock(&l->lock);
    sheets_free(more);
    pthread_mutex_lock(&l->lock);
}

/* Whether all drives have ended; announces the check whose rows are out. Under the lock. */
static bool all_ended(struct sated_load *l)
{
    uint64_t rows_k = UINT64_MAX;
    for (uint32_t i = 0; i < l->n; i++)
        if (!l->members[i].ended && l->members[i].rows_k < rows_k)
            rows_k = l->members[i].rows_k;
    if (rows_k == UINT64_MAX)
        return true;
    if (l->check_k && rows_k / l->check_k > l->tick)
        load_ask(l, rows_k / l->check_k);
    return false;
}

/* Sleeps until something is delivered, or a sheet of a worker is due that may not wake up by itself. */
static void doze(struct real *real)
{
    struct sated_load *l = real->load;
    int64_t due_ns = LOAD_NEVER;
    if (!real->engine->advance) {
        pthread_cond_wait(&l->go, &l->lock);
        return;
    }
    for (uint32_t i = 0; i < real->n_workers; i++) {
        int64_t edge_ns = atomic_load(&real->workers[i].recorder.edge_ns);
        if (real->workers[i].delivered != WORKER_ENDED && edge_ns < due_ns)
            due_ns = edge_ns;
    }
    if (due_ns == LOAD_NEVER) {
        pthread_cond_wait(&l->go, &l->lock);
        return;
    }
    /* The stamps' clock drifts against the one that is slept by: what is left is slept. */
    int64_t now_ns = clock_stamp_ns(real->clock) - real->start_ns, end_ns = clock_now_ns() + due_ns - now_ns + 1;
    struct timespec t = {.tv_sec = end_ns / 1000000000, .tv_nsec = end_ns % 1000000000};
    pthread_cond_timedwait(&l->go, &l->lock, &t);
    pthread_mutex_unlock(&l->lock);
    now_ns = clock_stamp_ns(real->clock) - real->start_ns;
    for (uint32_t i = 0; i < real->n_workers; i++)
        if (recorder_is_due(&real->workers[i].recorder, now_ns))
            real->engine->advance(&real->workers[i], now_ns);
    pthread_mutex_lock(&l->lock);
}

/* In how many calls the kernel took nothing of a drive. */
static uint64_t put_off(const struct real *real, const struct member *m)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < real->n_workers; i++)
        n += real->workers[i].member == m ? real->workers[i].put_off : 0;
    return n;
}

/* What can be said of a load only at its end. */
static void last_words(struct real *real)
{
    struct sated_load *l = real->load;
    size_t room = sizeof l->full_note;
    int64_t elapsed_ns = clock_stamp_ns(real->clock) - real->start_ns, drift_ns = clock_drift_ns(real->clock);
    int64_t off_ns = drift_ns < 0 ? -drift_ns : drift_ns;
    char *to = l->full_note;
    snprintf(to, room, "%s", l->note);
    if (off_ns > 20000 + elapsed_ns / 20000)
        snprintf(to + strlen(to), room - strlen(to), "%sthe clock was off by %" PRId64 " us at the end",
                 *to ? "; " : "", drift_ns / 1000);
    for (uint32_t i = 0; i < l->n; i++) {
        const struct member *m = &l->members[i];
        uint32_t all = l->workload.threads * l->workload.depth;
        double queue = 0;
        char number[SIZE_NUMBER];
        if (handle_check_same(m->drive))
            snprintf(to + strlen(to), room - strlen(to), "%s%s: was removed or replaced while the load ran",
                     *to ? "; " : "", m->name);
        if (put_off(real, m))
            snprintf(to + strlen(to), room - strlen(to),
                     "%s%s: the kernel was too busy and took no I/O in %" PRIu64 " calls, which is in the latencies",
                     *to ? "; " : "", m->name, put_off(real, m));
        if (m->unsent > all) /* what the last moments had due is no backlog */
            snprintf(to + strlen(to), room - strlen(to),
                     "%s%s: slower than the rate, %" PRIu64 " I/Os that were due by the end were not submitted",
                     *to ? "; " : "", m->name, m->unsent);
        if (l->rates.n || l->workload.think_ns || supply_is_on(&l->options)) /* the queue is not meant to be full */
            continue;
        for (uint32_t class = 0; class < l->mix.n; class ++)
            queue += (double)m->total->tally[class].outstanding_ns;
        if (m->measured_ns <= 0 || l->limited || queue >= 0.95 * all * (double)m->measured_ns)
            continue;
        size_print_fixed(number, sizeof number, queue / (double)m->measured_ns, 1);
        snprintf(to + strlen(to), room - strlen(to), "%s%s: host-bound, %s of %u I/Os were outstanding on average",
                 *to ? "; " : "", m->name, number, all);
    }
    supply_last_words(l, to, room);
}

static void *coordinate(void *argument)
{
    struct real *real = argument;
    struct sated_load *l = real->load;
    pthread_mutex_lock(&l->lock);
    supply_await_first(l);
    real->start_ns = clock_stamp_ns(real->clock);
    for (uint32_t i = 0; i < real->n_workers; i++)
        begin(&real->workers[i], empty_sheet(&real->workers[i]), 0);
    real->open = true;
    pthread_cond_broadcast(&l->go);
    for (;;) {
        if (atomic_load(&l->stop) && !real->stopping)
            stop_workers(real);
        add_up(real);
        if (all_ended(l))
            break;
        /* Not where something came, or a stop, while the lock was given up: nobody would wake this thread again. */
        if (!real->first && (!atomic_load(&l->stop) || real->stopping))
            doze(real);
    }
    pthread_mutex_unlock(&l->lock);
    for (uint32_t i = 0; i < real->n_threads; i++)
        pthread_join(real->threads[i], NULL);
    last_words(real);
    load_ended(l);
    return NULL;
}

/* --- start and end --- */

void engine_real_free(struct sated_load *l)
{
    struct real *real = l->real;
    l->real = NULL;
    for (uint32_t i = 0; real->workers && i < real->n_workers; i++) {
        data_free(&real->workers[i].data);
        free(real->workers[i].pace);
        ration_free(&real->workers[i].ration);
        free(real->workers[i].log);
        sheet_free(real->workers[i].recorder.sheet);
    }
    sheets_free(real->spare);
    free(real->threads);
    free(real->workers);
    free(real);
}

static int make_workers(struct sated_load *l, struct real *real)
{
    const struct sated_workload *w = &l->workload;
    uint32_t n = l->n * w->threads;
    real->workers = aligned_alloc(_Alignof(struct worker), n * sizeof *real->workers);
    if (!real->workers)
        return load_no_memory();
    memset(real->workers, 0, n * sizeof *real->workers);
    real->n_workers = n;
    /* Latencies lie in some eight octaves, and what they touch of a histogram is the pages of those. */
    uint64_t histogram_bytes = (UINT64_C(8) << l->bits) * sizeof(uint64_t);
    real->held_max = n * 4 + HELD_BYTES / (l->mix.n * (l->rates.n ? 2 : 1) * histogram_bytes);
    for (uint32_t i = 0; i < n; i++) {
        struct worker *worker = &real->workers[i];
        worker->real = real;
        worker->member = &l->members[i / w->threads];
        worker->depth = w->depth;
        uint32_t thread = i % w->threads, stream = worker->member->index * 256 + thread;
        random_seed(&worker->random, l->options.seed, stream);
        address_init(&worker->address, &worker->member->range, thread, w->threads);
        if (data_init(&worker->data, w, &l->mix, w->depth, (uint64_t)n * w->depth, l->options.seed, stream))
            return load_no_memory();
        worker->ration.dry_ns = -1;
        if (supply_is_on(&l->options)) {
            worker->member->supply.users = w->threads;
            if (!ration_init(&worker->ration, l->options.batch > SUPPLY_AT_ONCE ? l->options.batch : SUPPLY_AT_ONCE))
                return load_no_memory();
        }
        if (l->rates.n && !(worker->pace = malloc(sizeof *worker->pace)))
            return load_no_memory();
        if (worker->pace)
            pace_init(worker->pace, &l->rates, w, l->options.seed, worker->member->index, thread);
        for (int j = 0; j < SPARE_EACH; j++) {
            struct sheet *s = load_sheet_new(l);
            if (!s)
                return load_no_memory();
            s->next = real->spare;
            real->spare = s;
            real->spares++;
        }
    }
    return 0;
}

/* Starts the threads; they wait at the gate. Return: 0 when all are set up. */
static int start_threads(struct sated_load *l, struct real *real)
{
    uint32_t each = real->engine->threads_each ? real->engine->threads_each : l->workload.depth;
    int rc = 0;
    real->threads = calloc((size_t)real->n_workers * each, sizeof *real->threads);
    if (!real->threads)
        return load_no_memory();
    for (uint32_t i = 0; !rc && i < real->n_workers * each; i++) {
        rc = thread_start(&real->threads[i], real->engine->stack_bytes, real->engine->run, &real->workers[i / each]);
        real->n_threads += !rc;
    }
    pthread_mutex_lock(&l->lock);
    while (real->ready < real->n_threads)
        pthread_cond_wait(&l->go, &l->lock);
    pthread_mutex_unlock(&l->lock);
    if (!rc && real->failure.code)
        rc = error_copy(&real->failure);
    return rc;
}

static void abort_threads(struct sated_load *l, struct real *real)
{
    pthread_mutex_lock(&l->lock);
    real->aborted = real->open = true;
    pthread_cond_broadcast(&l->go);
    pthread_mutex_unlock(&l->lock);
    for (uint32_t i = 0; i < real->n_threads; i++)
        pthread_join(real->threads[i], NULL);
}

static int start_with(struct sated_load *l, const struct real_engine *engine)
{
    struct real *real = calloc(1, sizeof *real);
    if (!real)
        return load_no_memory();
    real->load = l;
    real->clock = clock_scale_get();
    real->last = &real->first;
    real->engine = engine;
    l->real = real;
    l->engine = engine->number;
    int rc = make_workers(l, real);
    if (!rc)
        rc = engine->prepare ? engine->prepare(real) : 0;
    if (!rc)
        rc = start_threads(l, real);
    if (!rc)
        rc = thread_start(&l->thread, 0, coordinate, real);
    if (rc) {
        struct sated_detail d;
        sated_detail_get(&d);
        abort_threads(l, real);
        engine_real_free(l);
        error_copy(&d);
    }
    return rc;
}

/* What a kernel or a container that does not want an engine answers. */
static bool is_refusal(int rc)
{
    return rc == -EPERM || rc == -EACCES || rc == -ENOSYS || rc == -ENOMEM || rc == -EAGAIN || rc == SATED_UNSUPPORTED;
}

static const char *reason(int rc)
{
    return rc == SATED_UNSUPPORTED ? "it cannot do this load" : error_text(-rc);
}

/* A drive that is asked for more than the kernel's queues hold has the rest waiting before them. */
static void note_queues(struct sated_load *l)
{
    const uint64_t all = (uint64_t)l->workload.threads * l->workload.depth;
    for (uint32_t i = 0; i < l->n; i++) {
        uint64_t most = topology_queue(l->members[i].drive);
        if (most && most < all)
            load_note(l,
                      "%s: its queues hold %" PRIu64 " of the %" PRIu64 " I/Os that are asked for at a time, and the "
                      "others wait in the kernel, which is in their latencies",
                      l->members[i].name, most, all);
    }
}

int engine_real_start(struct sated_load *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (!l->members[i].direct)
            load_note(l, "%s: no direct I/O there, so that the page cache is measured too", l->members[i].name);
    note_queues(l);
    static const struct real_engine *const engines[] = {&engine_uring, &engine_aio, &engine_threads};
    static const char *const names[] = {"io_uring", "libaio", "threads"};
    if (l->options.flags & SATED_LOAD_MAX_IOPS)
        load_note(l, "max-iops: latencies are those of whole batches");
    int rc = -ENOSYS;
    const char *refused_name = NULL;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        if (l->options.engine != SATED_ENGINE_AUTO && l->options.engine != engines[i]->number)
            continue;
        if (refused_name)
            load_note(l, "%s instead of %s, which is refused here: %s", names[i], refused_name, reason(rc));
        if (l->options.flags & (SATED_LOAD_SQPOLL | SATED_LOAD_IOPOLL) && engines[i] != &engine_uring)
            load_note(l, "%s has nothing to be polled: that is io_uring's", names[i]);
        rc = start_with(l, engines[i]);
        if (l->options.engine != SATED_ENGINE_AUTO || !is_refusal(rc))
            return rc;
        refused_name = names[i];
    }
    return rc;
}
