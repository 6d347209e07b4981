/* SPDX-License-Identifier: MIT */
/* The inside of struct sated_histogram, for the loops that record. */
#ifndef SATED_CORE_HISTOGRAM_H
#define SATED_CORE_HISTOGRAM_H

#include <sated/histogram.h>

enum {
    HISTOGRAM_BITS = 10,                                             /* 1024 buckets an octave */
    HISTOGRAM_BUCKETS = (64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS, /* up to 2^64 - 1 */
};

/* Only touched pages of `counts` cost memory. Outside of the buckets of min and max all counts are zero. */
struct sated_histogram {
    uint64_t *counts;
    uint64_t count;
    uint64_t min, max; /* min > max when empty */
    uint64_t sum[2];   /* 128 bits in two halves, the lower one first: so the carry takes one instruction */
    unsigned __int128 squares;
};

static inline uint32_t histogram_bucket(uint64_t value)
{
    /* No shift up to 2047; 63 ^ clz is one instruction of x86, and no branch is to be foreseen. */
    unsigned shift = (63u ^ (unsigned)__builtin_clzll(value | 1u << HISTOGRAM_BITS)) - HISTOGRAM_BITS;
    return (uint32_t)(shift << HISTOGRAM_BITS) + (uint32_t)(value >> shift);
}

static inline uint64_t histogram_low(uint32_t bucket)
{
    if (bucket < (2u << HISTOGRAM_BITS))
        return bucket;
    unsigned shift = (bucket >> HISTOGRAM_BITS) - 1;
    return (uint64_t)(bucket - (shift << HISTOGRAM_BITS)) << shift;
}

/* The greatest value of a bucket. */
static inline uint64_t histogram_high(uint32_t bucket)
{
    unsigned shift = bucket < (2u << HISTOGRAM_BITS) ? 0 : (bucket >> HISTOGRAM_BITS) - 1;
    return histogram_low(bucket) + ((1ULL << shift) - 1);
}

/* The touched buckets: every count is in them; first > last when empty. */
static inline uint32_t histogram_first(const struct sated_histogram *h)
{
    return histogram_bucket(h->min);
}

static inline uint32_t histogram_last(const struct sated_histogram *h)
{
    return histogram_bucket(h->max);
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

static inline void histogram_record(struct sated_histogram *h, uint64_t value)
{
    h->counts[histogram_bucket(value)]++;
    h->count++;
    h->sum[1] += __builtin_add_overflow(h->sum[0], value, &h->sum[0]);
    h->squares += (unsigned __int128)value * value;
    if (value < h->min)
        h->min = value;
    if (value > h->max)
        h->max = value;
}

#endif
