/* SPDX-License-Identifier: MIT */
#ifndef SATED_WORKLOAD_H
#define SATED_WORKLOAD_H

#include <sated/base.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifndef SATED_STATIC
#pragma GCC visibility push(default)
#endif

/* cdef: begin */

/* What a load does: plain data, set by text so that C, Python, TOML and the shell share one spelling. */
enum sated_op {
    SATED_READ = 0,
    SATED_WRITE = 1,
    SATED_TRIM = 2,         /* a discard: NVMe Deallocate, SCSI UNMAP, ATA TRIM; a hole in a file */
    SATED_WRITE_ZEROES = 3, /* no data crosses the link: NVMe Write Zeroes, SCSI WRITE SAME, fallocate of a file */
    SATED_FLUSH = 4,        /* empties the drive's write cache (fsync); has neither address nor size */
};

enum sated_access {
    SATED_RANDOM = 0,      /* uniform, with replacement: every aligned offset equally likely at each I/O. Aligned to the
                              greatest power of two that divides all sizes of the workload, at least the drive's
                              logical block: 4 KiB for 4k, 512 bytes for 512,4k, 2 KiB for 6144,10240 */
    SATED_SEQUENTIAL = 1,  /* thread i of n starts at i/n of the range (aligned down likewise), goes on by the size of
                              each I/O, and wraps in the whole range: an I/O that would cross the end starts at the
                              beginning. With `streams` of them in each thread, they take turns, and stream i of all
                              n starts at i/n */
    SATED_PERMUTATION = 2, /* each block of the one I/O size once in a pass, in another order in each pass; of n
                              threads each has an n-th of a pass and waits for no other, so that a limit ends some of
                              them further on: use one to have each block equally often. Not what an application does: see
                              docs/explanation/random-addresses.md */
    /* The rest is random with replacement, but not uniform. An address is one at which the greatest I/O fits. */
    SATED_ZIPF = 3,   /* the k-th likeliest address is proportional to 1/k^theta (Zipf's law) */
    SATED_PARETO = 4, /* 1 - h of the I/Os go to h of the addresses, and so on within these (the self-similar law of
                         Gray et al. 1994, as fio's pareto). This one and the one before it scatter what is likely over
                         the range */
    SATED_NORMAL = 5, /* around the middle of the range, cut off at its ends and at 8 standard deviations */
    SATED_ZONES = 6,  /* shares of the I/Os go to zones of the range, uniform in each */
};

enum sated_data {
    SATED_DATA_RANDOM = 0, /* different for every write; incompressible unless `compress` says otherwise */
    SATED_DATA_ZEROS = 1,
};

/* How the I/Os of a rate follow each other. */
enum sated_arrival {
    SATED_ARRIVAL_FIXED = 0,   /* evenly, to the nanosecond: the k-th of a second at k / rate */
    SATED_ARRIVAL_POISSON = 1, /* at random and independently, with exponential gaps */
};

#define SATED_OPS 5 /* how many operations there are */
#define SATED_SIZES_MAX 64
#define SATED_ZONES_MAX 16
#define SATED_SEGMENTS_MAX 65536
#define SATED_STREAMS_MAX 1024

/* Which keys were set: what sated_workload_set has to know so that they may come in any order. */
#define SATED_GIVEN_OP 1
#define SATED_GIVEN_OP_RANDOM 2 /* op with rand... */
#define SATED_GIVEN_ACCESS 4
#define SATED_GIVEN_READ 8
#define SATED_GIVEN_WRITE 16
#define SATED_GIVEN_TRIM 32
#define SATED_GIVEN_SIZE 64
#define SATED_GIVEN_SIZES 128
#define SATED_GIVEN_ZONES 256
#define SATED_GIVEN_WRITE_ZEROES 512
#define SATED_GIVEN_FLUSH 1024

/* The zones of a direction follow one another from the beginning of the range. */
struct sated_zone {
    double share;    /* of the I/Os; those of all zones sum to 1 or 100 */
    double fraction; /* of the range, 0 to 1 */
    uint64_t bytes;  /* or so many; neither: all that the others leave */
};

struct sated_workload {
    uint32_t size;    /* of this struct */
    uint32_t access;  /* enum sated_access */
    uint32_t threads; /* 1 to 256 */
    uint32_t depth;   /* per thread, 1 to 4096; threads x depth are outstanding at most */
    uint32_t data;    /* enum sated_data */
    uint32_t n_sizes;
    double share[5];                /* of the operations, by enum sated_op; sum 1 or 100 */
    uint64_t offset_bytes;          /* where the range begins */
    uint64_t length_bytes;          /* its length; 0 = to the end of what is accessible */
    uint32_t size_bytes[64];        /* SATED_SIZES_MAX: I/O sizes, multiples of 512 */
    double size_share[64];          /* share of the I/Os of each size; sum 1 or 100 */
    uint32_t given;                 /* SATED_GIVEN_*; 0 where the fields are filled by hand */
    uint32_t streams;               /* SEQUENTIAL: of each thread, up to 1024; 0 = 1 */
    double theta;                   /* ZIPF: above 0, 10 at most; 0 = 1.1 */
    double h;                       /* PARETO: between 0 and 0.5; 0 = 0.2 */
    double stddev;                  /* NORMAL: a fraction of the range, 10 at most; 0 = 0.1 */
    double compress;                /* RANDOM data: this fraction of every 512 bytes written is zeros, 0.98 at most */
    double dedupe;                  /* RANDOM data: this fraction of the writes has contents that was written before */
    uint64_t active_bytes;          /* active range: only so much of the range is used */
    double active_fraction;         /* or this fraction of it; neither: all of it */
    uint32_t segments;              /* which is spread over it in so many equal parts at equal distances; 0 = 1 */
    uint32_t n_zones[2];            /* ZONES of reads, and of all else; 0 = uniform */
    uint32_t arrival;               /* enum sated_arrival */
    struct sated_zone zones[2][16]; /* SATED_ZONES_MAX */
    /* I/Os per second of each drive, by all threads together, drive time; 0 = as fast as they complete. Of all I/Os, or
     * of operations: one that has none then fills the slots that are left. An I/O that is due while no slot is free
     * waits for one; none is skipped. */
    double rate_total;
    double rate[5];   /* by enum sated_op; each needs a share, and the rates decide instead of the shares */
    int64_t think_ns; /* a slot's pause between an I/O and its next, drive time; not together with a rate */
};

/* 4 KiB random reads, one thread, depth 1. */
void sated_workload_init(struct sated_workload *w);

/* Sets one key; they may come in any order. @param key op, access, read, write, trim, write_zeroes, flush, size, sizes,
 * threads, depth, offset, length, data, streams, theta, h, stddev, zones, read_zones, write_zones, active, segments,
 * compress, dedupe, rate, arrival, think; @param text as in TOML: "randwrite", "2/3", "4k", "512:10,4k:60,64k:30".
 * op = read, write, trim, write_zeroes or flush is the direction, and sequential unless access says otherwise; with rand
 * in front it is random. The operations are also keys, for their shares (or percentages): read or write alone leaves the
 * rest to the other. zones = "50:5,30:15,20:80" sends 50 % of the I/Os to the first 5 % of the range, 30 % to the next
 * 15 %, 20 % to the rest; a zone may also have bytes with a unit ("50:4k"), or nothing, which is what the others leave
 * ("50:4k,50:"). read_zones and write_zones are of one direction, where writes are all that is no read.
 * rate is "5000" (all I/Os) or "read:5000,write:200", which also sets the shares where neither op nor shares do; arrival
 * is fixed or poisson; think is in seconds, or "250us", "1ms".
 * Return: 0, or SATED_PARSE with a sentence that names the nearest known key, the right form or the contradiction. */
int sated_workload_set(struct sated_workload *w, const char *key, const char *text);

/* Checks the whole: contradictions, shares that do not sum to 1 or 100. Return: 0 or SATED_PARSE. */
int sated_workload_check(const struct sated_workload *w);

/* An I/O size: "4k", "128k", "1m", also KiB and MiB: powers of 1024; a bare number is bytes.
 * @param bytes receives it. Return: 0 or SATED_PARSE. */
int sated_workload_size(const char *text, uint64_t *bytes);

/* A capacity: "256GB" (10^9) or "256GiB" (2^30), a bare number is bytes; "256g" is refused with both readings.
 * "80%" or "0.8" are of `whole_bytes`, where that is not 0. Return: 0 or SATED_PARSE. */
int sated_workload_capacity(const char *text, uint64_t whole_bytes, uint64_t *bytes);

/* cdef: end */

#ifndef SATED_STATIC
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
