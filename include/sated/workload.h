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
    SATED_TRIM = 2,
};

enum sated_access {
    SATED_RANDOM = 0,     /* uniform, with replacement: every aligned offset equally likely at each I/O. Aligned to the
                              greatest power of two that divides all sizes of the workload, at least the drive's
                              logical block: 4 KiB for 4k, 512 bytes for 512,4k, 2 KiB for 6144,10240 */
    SATED_SEQUENTIAL = 1, /* thread i of n starts at i/n of the range (aligned down likewise), goes on by the size of
                              each I/O, and wraps in the whole range: an I/O that would cross the end starts at the
                              beginning */
};

enum sated_data {
    SATED_DATA_RANDOM = 0, /* incompressible, different for every write */
    SATED_DATA_ZEROS = 1,
};

#define SATED_SIZES_MAX 32

/* Which keys were set: what sated_workload_set has to know so that they may come in any order. */
#define SATED_GIVEN_OP 1
#define SATED_GIVEN_OP_RANDOM 2 /* op with rand... */
#define SATED_GIVEN_ACCESS 4
#define SATED_GIVEN_READ 8
#define SATED_GIVEN_WRITE 16
#define SATED_GIVEN_TRIM 32
#define SATED_GIVEN_SIZE 64
#define SATED_GIVEN_SIZES 128

struct sated_workload {
    uint32_t size;    /* of this struct */
    uint32_t access;  /* enum sated_access */
    uint32_t threads; /* 1 to 256 */
    uint32_t depth;   /* per thread, 1 to 4096; threads x depth are outstanding at most */
    uint32_t data;    /* enum sated_data */
    uint32_t n_sizes;
    double share[3];         /* of read, write, trim, by enum sated_op; sum 1 or 100 */
    uint64_t offset_bytes;   /* where the range begins */
    uint64_t length_bytes;   /* its length; 0 = to the end of what is accessible */
    uint32_t size_bytes[32]; /* SATED_SIZES_MAX: I/O sizes, multiples of 512 */
    double size_share[32];   /* share of the I/Os of each size; sum 1 or 100 */
    uint32_t given;          /* SATED_GIVEN_*; 0 where the fields are filled by hand */
    uint32_t reserved;
};

/* 4 KiB random reads, one thread, depth 1. */
void sated_workload_init(struct sated_workload *w);

/* Sets one key; they may come in any order. @param key op, access, read, write, trim, size, sizes, threads, depth,
 * offset, length, data; @param text as in TOML: "randwrite", "2/3", "4k", "512:10,4k:60,64k:30".
 * op = read, write or trim is the direction, and sequential unless access says otherwise; randread, randwrite and
 * randtrim are random. read and write are shares (or percentages): one of them alone leaves the rest to the other.
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
