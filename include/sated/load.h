/* SPDX-License-Identifier: MIT */
#ifndef SATED_LOAD_H
#define SATED_LOAD_H

#include <sated/drive.h>
#include <sated/histogram.h>
#include <sated/workload.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifndef SATED_STATIC
#pragma GCC visibility push(default)
#endif

/* cdef: begin */

/* A load on one or several drives: start, wait, take rows, stop. */
struct sated_load;

enum sated_engine {
    SATED_ENGINE_AUTO = 0, /* the first of the three that this machine lets us have, announced in the note */
    SATED_ENGINE_IO_URING = 1,
    SATED_ENGINE_LIBAIO = 2,    /* neither trims nor write-zeroes */
    SATED_ENGINE_THREADS = 3,   /* one blocking thread for each outstanding I/O */
    SATED_ENGINE_SIMULATED = 4, /* told, never asked for */
};

enum sated_phase {
    SATED_RAMP = 0,   /* not counted, by time */
    SATED_SETTLE = 1, /* not counted, until answered otherwise */
    SATED_MEASURED = 2,
    SATED_AFTER_STOP = 3, /* I/Os that were outstanding when the load ended */
};

/* What a load may be told not to keep. */
enum sated_without {
    SATED_WITHOUT_ENVIRONMENT = 1,
    SATED_WITHOUT_HISTOGRAMS = 2, /* records of spans; sated_load_get_histogram has its own */
};

/* How a load works, beside what it does. */
enum sated_load_flag {
    SATED_LOAD_ACCURATE = 1, /* one I/O per submission, with a stamp of its own; costs a system call for each */
    SATED_LOAD_MAX_IOPS = 2, /* nothing but throughput: `batch` is a floor too, both of what is submitted at once and of
                                what is waited for, so that latencies are those of batches, and called so in the note;
                                batch is half the depth by default, 32 at most */
    SATED_LOAD_SQPOLL = 4,   /* io_uring: a kernel thread takes what is submitted; said in the note where refused */
    SATED_LOAD_IOPOLL = 8,   /* io_uring: completions are polled for; likewise. Tried by one read */
    SATED_LOAD_ADDRESSES =
        16, /* addresses are the caller's, by sated_load_add_addresses; the load begins with the first */
};

#define SATED_ERRORS_ANY 4294967295

struct sated_load_options {
    uint32_t size;          /* of this struct */
    uint32_t engine;        /* enum sated_engine */
    int64_t duration_ns;    /* of the measured phase, reported time; -1 = no limit */
    uint64_t bytes;         /* of the measured phase, each drive; 0 = no limit */
    uint64_t ios;           /* likewise */
    int64_t interval_ns;    /* a row each; reported time, 1 s by default, 1 ms to 1 h */
    int64_t histogram_ns;   /* a histogram each, a multiple of interval_ns; 0 = 60 s, rounded up to one */
    int64_t ramp_ns;        /* before the measured phase, a multiple of interval_ns; 0 = none */
    int64_t check_every_ns; /* ask at these ticks (a multiple of interval_ns) and, if simulated, halt until
                                  answered; 0 = never */
    uint64_t seed;
    uint32_t settle;     /* 1: begin in the settle phase, which sated_load_answer ends; needs check_every_ns */
    uint32_t max_errors; /* failed I/Os after which the load gives up: 1 = at the first, 100 by default,
                            SATED_ERRORS_ANY = never */
    uint32_t batch;      /* I/Os submitted at once at most; 0 = chosen from the depth */
    uint32_t without;    /* enum sated_without, added: what is never taken; 0 = nothing */
    uint32_t flags;      /* enum sated_load_flag, added */
    uint32_t reserved;
    uint64_t log_bytes; /* keep every I/O for sated_load_take_ios, of which so much may wait, at least 4 MiB; 0 = not */
    uint64_t
        cpus[16]; /* processors, a bit each, for the threads of a real load: the i-th has the i-th of them, and round
                          again; none = wherever the kernel puts them */
};

/* A row per interval, drive and class (operation x size). Nothing pooled. */
struct sated_row {
    int64_t t_ns;        /* reported time since the start of the load at which the interval ends */
    int64_t duration_ns; /* the drive's own time that the interval took; after the stop it may be 0 */
    uint64_t ios;
    uint64_t bytes;
    uint64_t errors;
    int64_t lat_min_ns; /* of the I/Os completed in it; -1 = none */
    int64_t lat_max_ns;
    int64_t lat_p50_ns; /* -1 where n (1 - q) < 1 */
    int64_t lat_p99_ns;
    int64_t lat_p999_ns;
    int64_t lat_p9999_ns;
    double lat_mean_ns; /* NaN = none */
    double lat_stddev_ns;
    /* Outstanding I/Os of the class, integrated over the interval. Over a span that is long against a latency it is
     * IOPS x mean latency (Little's law). */
    double queue_mean;
    uint32_t member;     /* index of the drive */
    uint32_t phase;      /* enum sated_phase */
    uint32_t op;         /* enum sated_op */
    uint32_t size_bytes; /* of an I/O; 0 of a flush */
};

/* A row per interval and drive: its surroundings. */
struct sated_environment {
    int64_t t_ns;        /* reported time, as of a row */
    int64_t duration_ns; /* the drive's own time, as of a row */
    double energy_j;     /* NaN = not measured */
    double power_min_w;
    double power_max_w;
    uint32_t samples; /* of power in the interval */
    uint32_t member;
    uint32_t phase;
    uint32_t throttle;         /* 0 none, 1 throttled */
    double temperature_c;      /* NaN = not measured */
    double host_bytes_written; /* since the drive was made, by its own counters; NaN = not told */
    double media_bytes_written;
};

/* What a latency counts from. */
enum sated_kind {
    SATED_SERVICE = 0, /* from submission */
    SATED_RESPONSE =
        1, /* from the moment at which the I/O was to begin; where there is a rate, of the I/Os that have one */
};

struct sated_histogram_row {
    int64_t t_ns; /* end of the span */
    uint32_t member;
    uint32_t phase;
    uint32_t op;
    uint32_t size_bytes;
    uint32_t kind; /* enum sated_kind */
    uint32_t bits; /* as of sated_histogram_bits: 10; 7 where drives x threads x classes are more than 64 */
};

/* One I/O. Times are the drive's own since the start of the load. */
struct sated_io {
    int64_t intended_ns; /* when it was to begin; -1 = it has no rate */
    int64_t submit_ns;
    int64_t complete_ns;
    uint64_t offset_bytes;
    uint32_t size_bytes;
    int32_t error; /* 0, or a negated errno: EIO also for one that did only a part */
    uint32_t member;
    uint32_t op; /* enum sated_op */
};

struct sated_progress {
    int64_t t_ns; /* reported time of the last finished interval */
    uint64_t ios; /* so far, all phases */
    uint64_t bytes;
    uint64_t errors;
    double iops;        /* of the last interval, by the drive's own time */
    int64_t lat_p99_ns; /* of the last interval, pooled; -1 = none */
    uint64_t tick;      /* the check that waits for an answer, counted from 1; 0 = none waits */
    uint32_t phase;     /* enum sated_phase */
    uint32_t running;   /* 1 or 0 */
};

struct sated_totals {
    int64_t duration_ns; /* the drive's own time in the measured phase */
    uint64_t ios;
    uint64_t bytes;
    uint64_t errors;
    int64_t lat_min_ns; /* -1 = no I/O */
    int64_t lat_max_ns;
    double lat_mean_ns;
    double lat_stddev_ns;
    double queue_mean;
    double batch_mean; /* I/Os per submission; NaN if simulated */
    uint64_t batch_max;
    /* At a rate: how late I/Os were submitted, which is response less service; NaN and -1 = no rate, or no I/O. */
    double late_mean_ns;
    int64_t late_max_ns;
    uint64_t backlog_max; /* most I/Os that one thread had due without a free slot, all classes */
    uint64_t unsent;      /* due by the end, but never submitted, all classes */
    /* Of a load with SATED_LOAD_ADDRESSES: how often, and for how long, a thread had free slots but no address for any;
     * all threads and classes. */
    uint64_t starved;
    int64_t starved_ns;
    uint32_t member;
    uint32_t op;
    uint32_t size_bytes;
    uint32_t engine; /* enum sated_engine in use */
};

#define SATED_OP_ANY 4294967295

/* Where an I/O goes; and what it does, if that is said. */
struct sated_address {
    uint64_t offset_bytes; /* from the beginning of the drive, within the range of the workload; of a flush: any */
    uint32_t size_bytes;   /* 0 = the only one that the workload has or, if op is not said either, one that is drawn */
    uint32_t op;           /* enum sated_op, or SATED_OP_ANY: likewise */
};

enum sated_answer {
    SATED_GO_ON = 0,
    SATED_MEASURE = 1, /* the settle phase is over */
    SATED_END = 2,
};

/* Sets the defaults named above, and no limit. @param opt filled whole. Thread: any. */
void sated_load_options_init(struct sated_load_options *opt);

/* Starts a load. @param out receives it, NULL on failure; @param drives n of them (1 to 64), all simulated or none,
 * which must stay open until the load is freed; @param w what to do; @param opt NULL for the defaults.
 * Return: 0; SATED_UNSAFE where it writes or trims and a drive is not permitted; SATED_PARSE for an option, size or
 * alignment the drive cannot take; SATED_STATE for a drive with a load on it; an errno of the drive. Thread: the
 * handles'. Owner: the caller frees. */
int sated_load_start(struct sated_load **out, struct sated_drive *const *drives, size_t n,
                     const struct sated_workload *w, const struct sated_load_options *opt);

/* Waits until the load ended, a check waits for its answer, or much waits to be taken: more than 1 MiB of rows or of the
 * log. A
 * simulated load stands still while more than 4 MiB of rows wait; a real one goes on, and ends with SATED_STATE at 64
 * MiB. Environment and histograms are kept without a limit: who never takes them says so in `without`.
 * @param timeout_ns -1 = for ever.
 * Return: 1 running; 0 ended: what can still be taken is all there is; < 0 the load's error (likewise). Thread: one at
 * a time. */
int sated_load_wait(struct sated_load *l, int64_t timeout_ns);

/* Take what is finished, in order. @param out cap of them. Return: how many were taken, 0 if none waits.
 * Thread: any. */
int sated_load_take_rows(struct sated_load *l, struct sated_row *out, size_t cap);
int sated_load_take_environment(struct sated_load *l, struct sated_environment *out, size_t cap);

/* Takes I/Os of a load with `log_bytes`: those of a thread in the order of their completions, or, of blocking threads, in
 * that in which they came to note them down. A simulated load stands still while `log_bytes` of them wait; a real one
 * ends with SATED_STATE. Return and Thread: as of sated_load_take_rows. */
int sated_load_take_ios(struct sated_load *l, struct sated_io *out, size_t cap);

/* Takes the next finished histogram. @param row what it is of, filled whole; @param into emptied, then filled.
 * Return: 1; 0 if none waits, which leaves both alone; < 0 an error of sated_histogram_load. Thread: any. */
int sated_load_take_histogram(struct sated_load *l, struct sated_histogram_row *row, struct sated_histogram *into);

/* How far it is. @param out filled whole. Thread: any. */
void sated_load_get_progress(struct sated_load *l, struct sated_progress *out);

/* Answers a check. @param tick as told by sated_load_get_progress; @param answer enum sated_answer, which takes effect
 * at the check itself if simulated, else at the end of the interval that runs. A real load that was not answered
 * announces its next check all the same. Return: 0, also where the load has ended or was stopped meanwhile and nothing
 * is left to decide; SATED_STATE if that check does not wait. Thread: any. */
int sated_load_answer(struct sated_load *l, uint64_t tick, int answer);

/* Checks addresses as sated_load_add_addresses does, without adding any: so that all are known to be good before the
 * first I/O. @param addresses n of them; @param first what the first one counts as in the sentence.
 * Return: 0; SATED_PARSE with the number of the first that is not aligned, out of range, or of an operation and size
 * that the workload does not have; SATED_STATE for a load that takes none. Thread: any. */
int sated_load_check_addresses(struct sated_load *l, const struct sated_address *addresses, size_t n, uint64_t first);

/* Waits until addresses are wanted. A real drive wants some while fewer than 131,072 wait, and is not kept up; a
 * simulated one when it has none left, and stands still until there are. sated_load_wait does not return for it: ask
 * between two calls of it with a timeout, or in a thread of its own.
 * @param timeout_ns -1 = for ever. Return: 1 they are wanted; 0 not within that time, or never again; SATED_STATE as
 * above. Thread: one at a time. */
int sated_load_wait_addresses(struct sated_load *l, int64_t timeout_ns);

/* Adds a chunk of addresses, which every drive of the load takes from in this order, all of its threads together. Without
 * size and op, both are drawn as the workload has them; the shares of the workload mean nothing for what says both.
 * @param addresses n of them, which are copied; n may be 0; @param last no more will come: the load ends when they are
 * used up. Return: 1; 0 if there is no room for them now, and none are kept; SATED_PARSE as above, for none of the
 * chunk; SATED_STATE, also after the last; -ENOMEM. Thread: one at a time. */
int sated_load_add_addresses(struct sated_load *l, const struct sated_address *addresses, size_t n, bool last);

/* Asks the load to end: nothing more is submitted, what is outstanding is waited for. It takes effect at once; on a
 * real drive that completes nothing, within 1 s. Thread: any. */
void sated_load_stop(struct sated_load *l);

/* Totals of the measured phase, one per drive and class; after the end. @param out cap of them, may be NULL with cap 0.
 * Return: how many there are, or SATED_STATE while it runs. Thread: any. */
int sated_load_get_totals(struct sated_load *l, struct sated_totals *out, size_t cap);

/* The latencies of the measured phase, over all drives. @param op enum sated_op, or -1 for all; @param kind enum
 * sated_kind; @param into added to. Return: 0, SATED_STATE while it runs, or SATED_PARSE for responses without a rate.
 * Thread: any. */
int sated_load_get_histogram(struct sated_load *l, int op, int kind, struct sated_histogram *into);

/* The first failed I/Os. @param offsets, @param codes (negated errno) receive up to cap of them. Return: how many are
 * kept (16 at most). Thread: any. */
int sated_load_get_errors(struct sated_load *l, uint64_t *offsets, int32_t *codes, size_t cap);

/* What has to be said of this load: an engine that stood in for another, direct I/O that could not be had.
 * Return: a text, "" if there is nothing; more may be said once it has ended. Thread: any. Owner: the load. */
const char *sated_load_note(struct sated_load *l);

/* Stops, waits and frees; NULL does nothing. Thread: the last that uses it. */
void sated_load_free(struct sated_load *l);

/* cdef: end */

#ifndef SATED_STATIC
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
