/* SPDX-License-Identifier: MIT */
#ifndef SATED_HISTOGRAM_H
#define SATED_HISTOGRAM_H

#include <sated/base.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifndef SATED_STATIC
#pragma GCC visibility push(default)
#endif

/* cdef: begin */

/* A log-linear histogram of 64-bit values, in the layout of HdrHistogram with three significant digits: values below
 * 2048 are exact, above that each octave has 2^10 buckets (relative width at most 1/1024). One that was loaded from, or
 * merged with, a histogram of fewer bits has as few until it is emptied: with 7 bits values below 256 are exact, and the
 * relative width is 1/128. It reaches to 2^63 - 1, so that no last bucket hides a tail. Mean and standard deviation are exact: they come from 128-bit sums, which hold any
 * 2^48 values below 2^40 (18 minutes in ns); where count x value^2 reaches 2^128 the standard deviation has no meaning.
 * One thread at a time uses a histogram; different ones are used by any threads. */
struct sated_histogram;

/* A new, empty histogram. @param out receives it, NULL on failure. Return: 0 or -ENOMEM. Owner: the caller frees. */
int sated_histogram_new(struct sated_histogram **out);

/* Frees a histogram; NULL does nothing. Thread: one at a time. */
void sated_histogram_free(struct sated_histogram *h);

/* Empties a histogram. Thread: one at a time. */
void sated_histogram_reset(struct sated_histogram *h);

/* Records a value. @param value up to 2^63 - 1 (a greater one counts as that), latencies in ns; @param count how often.
 * Thread: one at a time. */
void sated_histogram_record(struct sated_histogram *h, uint64_t value, uint64_t count);

/* Adds what `from` holds to `into`; exact and associative. Of two numbers of bits the smaller one is the sum's. Thread:
 * one at a time, of both. */
void sated_histogram_merge(struct sated_histogram *into, const struct sated_histogram *from);

/* How fine it is: an octave has 2^bits buckets. Return: 10, or fewer. */
uint32_t sated_histogram_bits(const struct sated_histogram *h);

/* How many values are recorded. */
uint64_t sated_histogram_count(const struct sated_histogram *h);

/* The smallest and the greatest value recorded, exactly; 0 when empty. */
uint64_t sated_histogram_min(const struct sated_histogram *h);
uint64_t sated_histogram_max(const struct sated_histogram *h);

/* The exact mean, and the exact standard deviation of the population; NaN when empty. */
double sated_histogram_mean(const struct sated_histogram *h);
double sated_histogram_stddev(const struct sated_histogram *h);

/* A percentile by nearest rank, in the unit of the values, clamped to [min, max]. @param percent 0 to 100 (0.5 is half a percent, not the median).
 * Return: the greatest value that falls into the bucket of that rank, or -1 if the histogram is empty or percent is
 * outside 0 to 100. */
int64_t sated_histogram_percentile(const struct sated_histogram *h, double percent);

/* The distribution-free confidence interval of a percentile, from binomial order statistics.
 * @param percent above 0 and below 100; @param confidence such as 0.95; @param low, @param high receive the bounds in the
 * histogram's unit: the least value of the lower bucket and the greatest of the upper one, so that rounding only widens.
 * Return: 0; SATED_PARSE if a number is out of its range; SATED_STATE if there are too few values for such an interval. */
int sated_histogram_percentile_interval(const struct sated_histogram *h, double percent, double confidence,
                                        int64_t *low, int64_t *high);

/* The buckets that are not empty, ascending. @param low_values receives each bucket's lowest value, @param counts its
 * count, both may be NULL; @param cap how many fit. Return: how many there are in all. */
size_t sated_histogram_buckets(const struct sated_histogram *h, uint64_t *low_values, uint64_t *counts, size_t cap);

/* Exact sums beside the buckets: @param sum low and high half of the 128-bit sum, @param squares likewise of the
 * squares (of the unit, and of its square). They travel with the buckets so that a stored histogram merges exactly. */
void sated_histogram_sums(const struct sated_histogram *h, uint64_t sum[2], uint64_t squares[2]);

/* Puts stored buckets back into an empty histogram. @param bits as told by sated_histogram_bits, 1 to 10;
 * @param low_values, @param counts as told by sated_histogram_buckets, @param n of them; @param min_value,
 * @param max_value, @param sum, @param squares as told. Return: 0, or SATED_PARSE if a value is no bucket's lowest. */
int sated_histogram_load(struct sated_histogram *h, uint32_t bits, const uint64_t *low_values, const uint64_t *counts,
                         size_t n, uint64_t min_value, uint64_t max_value, const uint64_t sum[2],
                         const uint64_t squares[2]);

/* cdef: end */

#ifndef SATED_STATIC
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
