/* SPDX-License-Identifier: MIT */
/* A load from the inside: what its engines, its collector and its callers share. */
#ifndef SATED_LOAD_JOB_H
#define SATED_LOAD_JOB_H

#include <pthread.h>
#include <stdatomic.h>

#include <sated/load.h>

#include "load/address.h"
#include "load/recorder.h"
#include "load/iolog.h"
#include "load/outbox.h"
#include "load/schedule.h"
#include "load/supply.h"

#define LOAD_DRIVES 64
#define LOAD_ERRORS 16
#define LOAD_FINE 64 /* threads x classes with histograms of full precision */
#define LOAD_NEVER INT64_MAX

/* One drive of the load. Times are the drive's own since the start of the load. */
struct member {
    struct sated_load *load;
    struct sated_drive *drive;
    uint32_t index;
    uint32_t scale;
    int fd; /* lent by transport; -1 if simulated */
    bool direct;
    bool is_block; /* a block device, not a file */
    struct address_range range;
    const char *name; /* for messages */
    struct supply_queue supply;
    /* When its measured phase ends by time, and that in reported time. Written under the lock. A simulated load's own
     * thread reads it without: others write only while that thread waits for an answer. */
    int64_t end_ns, end_t_ns;
    /* What may still be submitted in the measured phase, where there is a limit. */
    _Atomic int64_t ios_left, bytes_left;
    /* The collector's. */
    uint64_t rows_k;     /* the last interval whose rows are out */
    struct sheet *span;  /* since the last histogram records */
    struct sheet *total; /* of the measured phase */
    int64_t measured_ns; /* how long that was */
    int64_t start_ns;    /* a simulated drive's own time at the start of the load */
    uint64_t energy_nj;  /* at the end of the last interval */
    int64_t t_ns;        /* reported time of its end */
    double iops;         /* in it */
    uint64_t unsent;     /* I/Os that were due at the end, and not submitted */
    bool ended;
};

/* A histogram on its way to the caller. */
struct stored {
    struct sated_histogram_row row;
    size_t n;
    uint64_t min, max, sum[2], squares[2];
    uint64_t values[]; /* n lowest values, then n counts */
};

struct sated_load {
    struct sated_workload workload;
    struct sated_load_options options;
    struct mix mix;
    struct rates rates;
    struct member members[LOAD_DRIVES];
    uint32_t n;
    enum sated_engine engine;
    uint64_t histogram_k, check_k;  /* intervals between histogram records and between checks; 0 = no checks */
    uint32_t bits;                  /* of the histograms */
    bool limited;                   /* by I/Os or bytes */
    struct sated_histogram *pooled; /* the last interval of all classes and drives, for the progress */
    uint64_t pooled_order;

    pthread_mutex_t lock;   /* guards what follows */
    pthread_cond_t changed; /* something for the caller */
    pthread_cond_t go;      /* something for the engine */
    /* Phases: RAMP up to interval ramp_k, SETTLE up to settle_k, then MEASURED. */
    uint64_t ramp_k, settle_k;
    uint64_t begun_k; /* the last interval that any thread has begun: what is decided now holds from the next on */
    uint64_t tick;    /* the last check announced */
    uint64_t answered;
    struct outbox rows, environment, histograms;
    struct log log;
    struct supply supply;
    size_t spill_bytes; /* of rows that nobody takes, at which a real load ends */
    struct sated_progress progress;
    uint64_t errors;
    uint32_t errors_kept;
    uint64_t error_offset[LOAD_ERRORS];
    int32_t error_code[LOAD_ERRORS];
    struct sated_detail detail; /* of the load's own failure; code 0 = none */
    bool ended;

    _Atomic int stop; /* the load shall end now */
    pthread_t thread;
    bool started;
    struct real *real;    /* the workers of a real load */
    char note[1024];      /* what was known at the start */
    char full_note[1536]; /* and at the end */
};

/* --- time and phases --- */

/* Drive time of reported time. */
static inline int64_t load_drive_ns(const struct member *m, int64_t reported_ns)
{
    return reported_ns / m->scale;
}

/* Drive time at which interval k ends. */
static inline int64_t load_edge_ns(const struct member *m, uint64_t k)
{
    return load_drive_ns(m, (int64_t)k * m->load->options.interval_ns);
}

static inline uint32_t load_phase(const struct sated_load *l, uint64_t k)
{
    return k <= l->ramp_k ? SATED_RAMP : k <= l->settle_k ? SATED_SETTLE : SATED_MEASURED;
}

/* The measured phase begins behind interval k; sets where it ends. */
void load_measure_from(struct sated_load *l, uint64_t k);

/* The measured phase of a drive ends at `end_ns`, if that is earlier than it would. Under the lock. */
void load_end_at(struct member *m, int64_t end_ns, int64_t end_t_ns);

/* Begins the part of interval k that follows from_ns, in its phase and up to its end or that of the measured phase.
 * @param s an empty sheet. Under the lock where others may write. */
void load_begin(struct member *m, struct recorder *r, struct sheet *s, uint64_t k, int64_t from_ns);

/* --- limits: what a drive may still be asked for in its measured phase --- */

bool load_limit_take(struct member *m, uint32_t bytes);

/* In two parts, for many I/Os at once. Return: how many of n I/Os there are left; whether any bytes are. */
static inline uint32_t load_limit_take_ios(struct member *m, uint32_t n)
{
    /* Never takes more than there is, not even for a moment: a thread that is refused is done, and does not ask again. */
    int64_t now = atomic_load_explicit(&m->ios_left, memory_order_relaxed);
    while (now > 0) {
        uint32_t got = now < n ? (uint32_t)now : n;
        if (atomic_compare_exchange_weak(&m->ios_left, &now, now - got))
            return got;
    }
    return 0;
}
static inline void load_limit_return_ios(struct member *m, uint32_t n)
{
    if (n)
        atomic_fetch_add(&m->ios_left, n);
}
bool load_limit_take_bytes(struct member *m, uint32_t bytes);

void load_limit_give_back(struct member *m, uint32_t bytes);

/* What is outstanding when the measured phase begins counts too. */
void load_limit_charge(struct member *m, uint32_t n, uint32_t bytes);

/* Adds what a thread had due up to the end, or up to now_ns, and no limit stood against. Under the lock. */
void load_unsent(struct member *m, struct pace *p, int64_t now_ns);

/* --- failures --- */

/* Counts a failed I/O, and ends the load when there are too many. @param result a negated errno, or how many bytes it
 * did instead of all. Takes the lock. */
void load_io_failed(struct member *m, uint32_t class, uint64_t offset, int64_t result);

/* Keeps the calling thread's detail as the load's own, if it is the first, and ends the load. Takes the lock. */
void load_failed(struct sated_load *l);

/* Sets the detail. Return: -ENOMEM. */
int load_no_memory(void);

/* Adds to what is said of the load. Takes the lock. */
void load_note(struct sated_load *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An empty sheet of this load. Return: NULL: no memory. */
static inline struct sheet *load_sheet_new(const struct sated_load *l)
{
    return sheet_new(l->mix.n, l->rates.n > 0, l->bits);
}

/* --- handing over (collect.c) --- */

/* Rows, environment and, where due, histogram records of an interval of one drive. The sheet stays the caller's. */
void collect_sheet(struct member *m, const struct sheet *s);

/* What is left when a drive's load has ended. */
void collect_end(struct member *m);

/* How much may wait to be taken. Rows alone count: a caller may take nothing else. */
#define COLLECT_MUCH ((size_t)1 << 20)   /* the caller is told */
#define COLLECT_FULL ((size_t)4 << 20)   /* a simulated drive waits */
#define COLLECT_SPILL ((size_t)64 << 20) /* a real load ends */

/* Announces a check. Under the lock. */
void load_ask(struct sated_load *l, uint64_t tick);

/* --- engines: each starts its threads, which end with load_ended() --- */

int engine_sim_start(struct sated_load *l);
int engine_real_start(struct sated_load *l);
void engine_real_free(struct sated_load *l);

/* The end: lets go of the drives and wakes the caller. */
void load_ended(struct sated_load *l);

#endif
