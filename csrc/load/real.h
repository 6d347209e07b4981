/* SPDX-License-Identifier: MIT */
/* What the engines for real drives share: workers that wait for a common start, count by a common clock, and hand their
 * sheets to the load's own thread, which makes rows of them. */
#ifndef SATED_LOAD_REAL_H
#define SATED_LOAD_REAL_H

#include "core/clock.h"
#include "load/data.h"
#include "load/job.h"

struct real;

#define WORKER_ENDED UINT64_MAX

/* One thread of the workload on one drive. */
struct worker {
    _Alignas(128) struct recorder recorder; /* on cache lines of its own */
    struct real *real;
    struct member *member;
    uint32_t depth;
    uint64_t k;         /* the interval it is in */
    uint64_t delivered; /* order of its last sheet; WORKER_ENDED once it has ended */
    struct random random;
    struct address address;
    struct data data;
    struct log_block *log;                          /* what it fills; see log_turn */
    struct pace *pace;                              /* NULL: no rate */
    struct ration ration;                           /* of the caller's addresses */
    void *engine;                                   /* what its thread keeps */
    uint64_t submissions, submitted, submitted_max; /* since the sheet began */
    pthread_mutex_t mutex;                          /* the blocking engine's: its threads share a worker */
    uint32_t next_slot, live;
    uint32_t put_off; /* calls in which the kernel was short of something and took nothing */
};

struct real {
    struct sated_load *load;
    const struct clock_scale *clock;
    int64_t start_ns;
    struct worker *workers; /* by member, then by thread */
    uint32_t n_workers;
    /* Guarded by the load's lock. */
    struct sheet *spare;         /* empty sheets */
    uint32_t spares;             /* so many */
    uint64_t held, held_max;     /* sheets in use: so many, and at most while the load runs */
    struct sheet *first, **last; /* finished sheets on their way to the load's thread */
    uint32_t ready;
    bool open, aborted;
    struct sated_detail failure; /* of a thread's set-up */
    const struct real_engine *engine;
    pthread_t *threads;
    uint32_t n_threads;
    /* The load's thread's own. */
    bool stopping;
    struct sheet *gathered[LOAD_DRIVES]; /* of each drive, by order: not all threads have delivered these yet */
};

struct real_engine {
    enum sated_engine number;
    uint32_t threads_each; /* of a worker; 0 = its depth */
    size_t stack_bytes;
    int (*prepare)(struct real *real); /* before the threads; may be NULL */
    void *(*run)(void *worker);
    /* Sets what was outstanding, and its integral, at the end of a sheet; NULL where each I/O is counted in and out. */
    void (*settle)(struct worker *w, int64_t to_ns);
    /* Closes what is due while the worker's threads may all be blocked; NULL where they wake up by themselves. */
    void (*advance)(struct worker *w, int64_t now_ns);
};

extern const struct real_engine engine_uring;
extern const struct real_engine engine_aio;
extern const struct real_engine engine_threads;

/* Now, since the start of the load. */
static inline int64_t worker_now_ns(const struct worker *w)
{
    return clock_stamp_ns(w->real->clock) - w->real->start_ns;
}

/* Puts the calling thread of a worker where the load wants it. Return: 0, or an errno with the thread's detail. */
int worker_begin(const struct worker *w);

/* Says that a thread is set up, and waits for the start. @param rc 0, or that it failed, with the thread's detail.
 * Return: false if the load does not start. */
bool worker_ready(struct worker *w, int rc);

/* Closes every sheet that ends before now_ns and begins the next. */
void worker_turn(struct worker *w, int64_t now_ns);

static inline void worker_advance(struct worker *w, int64_t now_ns)
{
    if (__builtin_expect(recorder_is_due(&w->recorder, now_ns), 0))
        worker_turn(w, now_ns);
}

/* The worker has nothing outstanding and submits no more. */
void worker_end(struct worker *w);

#endif
