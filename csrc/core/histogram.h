/* SPDX-License-Identifier: MIT */
/* The inside of struct sated_histogram, for the loops that record. */
#ifndef SATED_CORE_HISTOGRAM_H
#define SATED_CORE_HISTOGRAM_H

#include <sated/histogram.h>

/* An octave has 2^bits buckets. */
enum {
    HISTOGRAM_BITS = 10,
    HISTOGRAM_BITS_COARSE = 7, /* where there are many of them */
};

#define HISTOGRAM_BUCKETS(bits) ((64u - (bits) + 1) << (bits)) /* up to 2^64 - 1 */

/* Only touched pages of `counts` cost memory. Outside of the buckets of min and max all counts are zero. */
struct sated_histogram {
    uint64_t *counts;
    uint32_t bits;   /* of what is in it */
    uint32_t finest; /* what `counts` has room for, and an empty one has */
    uint64_t count;
    uint64_t min, max; /* min > max when empty */
    uint64_t sum[2];   /* 128 bits in two halves, the lower one first: so the carry takes one instruction */
    unsigned __int128 squares;
};

/* @param bits of the histogram; a constant, where it is known, saves looking it up */
static inline __attribute__((always_inline)) uint32_t histogram_bucket(uint64_t value, uint32_t bits)
{
    /* No shift below two octaves' worth; 63 ^ clz is one instruction of x86, and no branch is to be foreseen. */
    unsigned shift = (63u ^ (unsigned)__builtin_clzll(value | 1u << bits)) - bits;
    return (uint32_t)(shift << bits) + (uint32_t)(value >> shift);
}

static inline uint64_t histogram_low(uint32_t bucket, uint32_t bits)
{
    if (bucket < (2u << bits))
        return bucket;
    unsigned shift = (bucket >> bits) - 1;
    return (uint64_t)(bucket - (shift << bits)) << shift;
}

/* The greatest value of a bucket. */
static inline uint64_t histogram_high(uint32_t bucket, uint32_t bits)
{
    unsigned shift = bucket < (2u << bits) ? 0 : (bucket >> bits) - 1;
    return histogram_low(bucket, bits) + ((1ULL << shift) - 1);
}

/* The touched buckets: every count is in them; first > last when empty. */
static inline uint32_t histogram_first(const struct sated_histogram *h)
{
    return histogram_bucket(h->min, h->bits);
}

static inline uint32_t histogram_last(const struct sated_histogram *h)
{
    return histogram_bucket(h->max, h->bits);
}

static inline unsigned __int128 histogram_sum(const struct sated_histogram *h)
{
    return (unsigned __int128)h->sum[1] << 64 | h->sum[0];
}

static inline void histogram_sum_add(struct sated_histogram *h, unsigned __int128 more)
{
    more += histogram_sum(h);
    h->sum[0] = (uint64_t)more;
    h->sum[1] = (uint64_t)(more >> 64);
}

/* @param bits h->bits, or the constant that it is known to be */
static inline __attribute__((always_inline)) void histogram_record(struct sated_histogram *h, uint64_t value,
                                                                   uint32_t bits)
{
    h->counts[histogram_bucket(value, bits)]++;
    h->count++;
    h->sum[1] += __builtin_add_overflow(h->sum[0], value, &h->sum[0]);
    h->squares += (unsigned __int128)value * value;
    if (value < h->min)
        h->min = value;
    if (value > h->max)
        h->max = value;
}

/* A new one of at most 2^bits buckets an octave. Return and Owner: as of sated_histogram_new. */
int histogram_new(struct sated_histogram **out, uint32_t bits);

#endif
