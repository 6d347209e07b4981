/* SPDX-License-Identifier: MIT */
#include "core/histogram.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/error.h"
#include "core/size.h"

#define PAGE_COUNTS (4096 / (uint32_t)sizeof(uint64_t))

static size_t room_bytes(uint32_t bits)
{
    return HISTOGRAM_BUCKETS(bits) * sizeof(uint64_t);
}

/* Straight from the kernel: memory that malloc has had before would have to be cleared, which touches all of it; and in
 * huge pages one count would cost 2 MiB. NULL: no memory. */
static uint64_t *counts_new(uint32_t bits)
{
    void *p = mmap(NULL, room_bytes(bits), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    madvise(p, room_bytes(bits), MADV_NOHUGEPAGE);
    return p;
}

static void forget(struct sated_histogram *h)
{
    h->bits = h->finest;
    h->count = 0;
    h->min = UINT64_MAX;
    h->max = 0;
    h->sum[0] = h->sum[1] = 0;
    h->squares = 0;
}

/* The end of the page that a bucket lies in, or what lies behind `last`. */
static uint32_t page_end(uint32_t bucket, uint32_t last)
{
    uint32_t end = (bucket / PAGE_COUNTS + 1) * PAGE_COUNTS;
    return end <= last ? end : last + 1;
}

/* Empties it. Pages between that were never written to, as before a single late value, stay so.
 * @param first the touched buckets, none if first > last */
static void empty(struct sated_histogram *h, uint32_t first, uint32_t last)
{
    for (uint32_t from = first, to; from <= last; from = to) {
        uint64_t any = 0;
        to = page_end(from, last);
        for (uint32_t b = from; b < to; b++)
            any |= h->counts[b];
        if (any)
            memset(h->counts + from, 0, (to - from) * sizeof *h->counts);
    }
    forget(h);
}

int histogram_new(struct sated_histogram **out, uint32_t bits)
{
    *out = NULL;
    struct sated_histogram *h = malloc(sizeof *h);
    uint64_t *counts = h ? counts_new(bits) : NULL;
    if (!counts) {
        free(h);
        return error_set(-ENOMEM, SATED_LAYER_NONE,
                         "no memory for a histogram of %zu bytes; close something and try again", room_bytes(bits));
    }
    h->counts = counts;
    h->finest = bits;
    forget(h);
    *out = h;
    return 0;
}

int sated_histogram_new(struct sated_histogram **out)
{
    return histogram_new(out, HISTOGRAM_BITS);
}

void sated_histogram_free(struct sated_histogram *h)
{
    if (!h)
        return;
    munmap(h->counts, room_bytes(h->finest));
    free(h);
}

void sated_histogram_reset(struct sated_histogram *h)
{
    empty(h, histogram_first(h), histogram_last(h));
}

void sated_histogram_record(struct sated_histogram *h, uint64_t value, uint64_t count)
{
    if (!count)
        return;
    if (value > INT64_MAX)
        value = INT64_MAX; /* percentiles are signed, -1 being none */
    histogram_record(h, value, h->bits);
    uint64_t more = count - 1;
    h->counts[histogram_bucket(value, h->bits)] += more;
    h->count += more;
    histogram_sum_add(h, (unsigned __int128)value * more);
    h->squares += (unsigned __int128)value * value * more;
}

uint32_t sated_histogram_bits(const struct sated_histogram *h)
{
    return h->bits;
}

/* In place, from below: a bucket of fewer bits never has a greater number. */
static void coarsen(struct sated_histogram *h, uint32_t bits)
{
    for (uint32_t b = histogram_first(h), last = histogram_last(h); h->count && b <= last; b++) {
        uint64_t n = h->counts[b];
        if (!n)
            continue;
        h->counts[b] = 0;
        h->counts[histogram_bucket(histogram_low(b, h->bits), bits)] += n;
    }
    h->bits = bits;
}

void sated_histogram_merge(struct sated_histogram *into, const struct sated_histogram *from)
{
    if (!from->count)
        return;
    if (from->bits < into->bits)
        coarsen(into, from->bits);
    /* Only what is there: the rest of the pages need not be touched. */
    for (uint32_t b = histogram_first(from), last = histogram_last(from); b <= last; b++)
        if (from->counts[b])
            into->counts[from->bits == into->bits ? b : histogram_bucket(histogram_low(b, from->bits), into->bits)] +=
                from->counts[b];
    into->count += from->count;
    histogram_sum_add(into, histogram_sum(from));
    into->squares += from->squares;
    if (from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
}

uint64_t sated_histogram_count(const struct sated_histogram *h)
{
    return h->count;
}

uint64_t sated_histogram_min(const struct sated_histogram *h)
{
    return h->count ? h->min : 0;
}

uint64_t sated_histogram_max(const struct sated_histogram *h)
{
    return h->max;
}

double sated_histogram_mean(const struct sated_histogram *h)
{
    return h->count ? (double)histogram_sum(h) / (double)h->count : NAN;
}

double sated_histogram_stddev(const struct sated_histogram *h)
{
    if (!h->count)
        return NAN;
    /* n * squares - sum^2 would not fit 128 bits for long runs; sums about the integer mean lose nothing that counts:
     * sum (v - m)^2 = squares - 2 m sum + n m^2, all integers. */
    unsigned __int128 sum = histogram_sum(h), m = sum / h->count, left = sum - m * h->count; /* sum = m n + left */
    unsigned __int128 about = h->squares - m * m * h->count - 2 * m * left;
    double shift = (double)left / (double)h->count, variance = (double)about / (double)h->count - shift * shift;
    return variance > 0 ? sqrt(variance) : 0;
}

/* The bucket that holds the rank-th smallest value, rank from 1 to the count. */
static uint32_t bucket_of_rank(const struct sated_histogram *h, uint64_t rank)
{
    uint32_t b = histogram_first(h), last = histogram_last(h);
    for (uint64_t seen = h->counts[b]; seen < rank && b < last; seen += h->counts[b])
        b++;
    return b;
}

/* The greatest and the least that the rank-th smallest value can have been. */
static int64_t most_at_rank(const struct sated_histogram *h, uint64_t rank)
{
    uint64_t v = histogram_high(bucket_of_rank(h, rank), h->bits);
    return (int64_t)(v > h->max ? h->max : v);
}

static int64_t least_at_rank(const struct sated_histogram *h, uint64_t rank)
{
    uint64_t v = histogram_low(bucket_of_rank(h, rank), h->bits);
    return (int64_t)(v < h->min ? h->min : v);
}

/* ceil(p n / 100) by nearest rank. The product is rounded where it lies within an ulp of an integer, so that 99.9 % of
 * 1000 is 999 and not 1000. */
static uint64_t rank_of(double percent, uint64_t n)
{
    double exact = percent / 100.0 * (double)n, whole = nearbyint(exact);
    double rank = fabs(exact - whole) <= 1e-12 * (exact > 1 ? exact : 1) ? whole : ceil(exact);
    if (rank < 1)
        return 1;
    return rank >= (double)n ? n : (uint64_t)rank;
}

int64_t sated_histogram_percentile(const struct sated_histogram *h, double percent)
{
    if (!h->count || !(percent >= 0 && percent <= 100))
        return -1;
    return most_at_rank(h, rank_of(percent, h->count));
}

/* log of k! by Stirling's series, exact to 1e-10 from 10 on; smaller ones are multiplied out. */
static double log_factorial(double k)
{
    double f = 1;
    if (k < 16) {
        for (double i = 2; i <= k; i++)
            f *= i;
        return log(f);
    }
    double x = k + 1, y = 1 / (x * x);
    return (x - 0.5) * log(x) - x + 0.91893853320467274178 + (1 / 12.0 - y * (1 / 360.0 - y / 1260.0)) / x;
}

/* P(X <= k) for X ~ Binomial(n, q). */
static double binomial_cdf(uint64_t k, uint64_t n, double q)
{
    double n_d = (double)n, spread = sqrt(n_d * q * (1 - q)), at = (double)k;
    if (at >= n_d)
        return 1;
    /* Terms further than 40 standard deviations from the mean are below 1e-300. */
    double from = floor(n_d * q - 40 * spread - 40), sum = 0;
    if (from < 0)
        from = 0;
    if (at < from)
        return 0;
    double base = log_factorial(n_d), lq = log(q), lp = log1p(-q);
    double term = exp(base - log_factorial(at) - log_factorial(n_d - at) + at * lq + (n_d - at) * lp);
    for (double i = at; i >= from && (term > 1e-18 || i > n_d * q); i--) {
        sum += term;
        term *= i / (n_d - i + 1) * (1 - q) / q;
    }
    return sum > 1 ? 1 : sum;
}

/* The least k with P(X <= k) >= p. */
static uint64_t binomial_quantile(double p, uint64_t n, double q)
{
    double spread = sqrt((double)n * q * (1 - q)) * 12 + 12, mean = (double)n * q;
    uint64_t low = mean > spread ? (uint64_t)(mean - spread) : 0;
    uint64_t high = mean + spread < (double)n ? (uint64_t)(mean + spread) : n;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (binomial_cdf(middle, n, q) >= p)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

int sated_histogram_percentile_interval(const struct sated_histogram *h, double percent, double confidence,
                                        int64_t *low, int64_t *high)
{
    char number[SIZE_NUMBER], other[SIZE_NUMBER];
    *low = *high = -1;
    size_print_number(number, sizeof number, percent, 6);
    size_print_number(other, sizeof other, confidence, 6);
    if (!(percent > 0 && percent < 100))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "an interval of the %s th percentile: give a percentage between 0 and 100", number);
    if (!(confidence > 0 && confidence < 1))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "confidence %s: give a fraction between 0 and 1, such as 0.95", other);
    /* Order statistics r < s cover the quantile with probability P(r <= X <= s - 1), X ~ Binomial(n, q). */
    double q = percent / 100, tail = (1 - confidence) / 2;
    uint64_t n = h->count;
    uint64_t r = n ? binomial_quantile(tail, n, q) : 0, s = n ? binomial_quantile(1 - tail, n, q) + 1 : 1;
    if (r < 1 || s > n)
        return error_set(
            SATED_STATE, SATED_LAYER_ARGUMENT,
            "%llu values are too few for an interval of the %s th percentile with confidence %s: measure longer",
            (unsigned long long)n, number, other);
    *low = least_at_rank(h, r);
    *high = most_at_rank(h, s);
    return 0;
}

size_t sated_histogram_buckets(const struct sated_histogram *h, uint64_t *low_values, uint64_t *counts, size_t cap)
{
    size_t n = 0;
    for (uint32_t b = histogram_first(h), last = histogram_last(h); h->count && b <= last; b++) {
        if (!h->counts[b])
            continue;
        if (n < cap) {
            if (low_values)
                low_values[n] = histogram_low(b, h->bits);
            if (counts)
                counts[n] = h->counts[b];
        }
        n++;
    }
    return n;
}

void sated_histogram_sums(const struct sated_histogram *h, uint64_t sum[2], uint64_t squares[2])
{
    sum[0] = h->sum[0];
    sum[1] = h->sum[1];
    squares[0] = (uint64_t)h->squares;
    squares[1] = (uint64_t)(h->squares >> 64);
}

int sated_histogram_load(struct sated_histogram *h, uint32_t bits, const uint64_t *low_values, const uint64_t *counts,
                         size_t n, uint64_t min_value, uint64_t max_value, const uint64_t sum[2],
                         const uint64_t squares[2])
{
    sated_histogram_reset(h);
    if (bits < 1 || bits > h->finest)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "a histogram of %u bits: an octave has 2^1 to 2^%u buckets; give its own number of bits", bits,
                         h->finest);
    uint32_t first = HISTOGRAM_BUCKETS(bits), last = 0;
    h->bits = bits;
    for (size_t i = 0; i < n; i++) {
        uint32_t b = histogram_bucket(low_values[i], bits);
        if (histogram_low(b, bits) != low_values[i]) {
            empty(h, first, last);
            return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                             "bucket %zu begins at %llu, where none of %u bits begins: these counts are of another "
                             "histogram",
                             i, (unsigned long long)low_values[i], bits);
        }
        if (!counts[i])
            continue;
        h->counts[b] += counts[i];
        h->count += counts[i];
        if (b < first)
            first = b;
        if (b > last)
            last = b;
    }
    if (!h->count)
        return 0;
    if (histogram_bucket(min_value, bits) != first || histogram_bucket(max_value, bits) != last) {
        empty(h, first, last);
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "the least and the greatest value, %llu and %llu, are not in the first and the last bucket: "
                         "they are of another histogram",
                         (unsigned long long)min_value, (unsigned long long)max_value);
    }
    h->min = min_value;
    h->max = max_value;
    h->sum[0] = sum[0];
    h->sum[1] = sum[1];
    h->squares = (unsigned __int128)squares[1] << 64 | squares[0];
    return 0;
}
