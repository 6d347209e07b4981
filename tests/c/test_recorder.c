/* SPDX-License-Identifier: MIT */
/* What is recorded costs the memory that it touches, and as precisely as its histograms have bits. */
#include "load/recorder.h"

#include <math.h>
#include <sated/sated.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "core/random.h"

static int64_t resident_bytes(void)
{
    long long all, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%lld %lld", &all, &resident) == 2);
    fclose(f);
    return resident * (int64_t)sysconf(_SC_PAGESIZE);
}

#ifdef __SANITIZE_ADDRESS__
static const bool measured = false; /* its own memory is what would be seen */
#else
static const bool measured = true;
#endif

#define KIB 1024

enum { SHEETS = 8 };

static struct sheet *sheets[SHEETS];

static void make(uint32_t classes, uint32_t bits)
{
    for (int i = 0; i < SHEETS; i++) {
        sheets[i] = sheet_new(classes, true, bits);
        CHECK(sheets[i] != NULL);
    }
}

/* Every class of every sheet, all over eight octaves from 64 us on. */
static void fill(uint32_t classes)
{
    for (int i = 0; i < SHEETS; i++)
        for (uint32_t class = 0; class < classes; class ++)
            for (uint64_t ns = 65536; ns < 65536 << 8; ns += ns >> 8) {
                const struct tally *t = &sheets[i]->tally[class];
                histogram_record(t->latency, ns, t->latency->bits);
                histogram_record(t->response, ns, t->response->bits);
            }
}

static void late_ones(uint32_t classes)
{
    for (int i = 0; i < SHEETS; i++)
        for (uint32_t class = 0; class < classes; class ++)
            histogram_record(sheets[i]->tally[class].latency, 100000000000, sheets[i]->tally[class].latency->bits);
}

static void reset(void)
{
    for (int i = 0; i < SHEETS; i++)
        sheet_reset(sheets[i]);
}

static void end(void)
{
    for (int i = 0; i < SHEETS; i++)
        sheet_free(sheets[i]);
}

/* Twice, since it is what has been freed that malloc clears. @param each pages that eight octaves of a histogram take,
 * with one for where they begin */
static void memory(uint32_t classes, uint32_t bits, int64_t each)
{
    const int64_t histograms = (int64_t)2 * SHEETS * classes, slack = 256 * KIB + histograms * 256;
    for (int time = 0; time < 2; time++) {
        int64_t before = resident_bytes();
        make(classes, bits);
        reset();
        int64_t made = resident_bytes() - before;
        late_ones(classes);
        reset();
        int64_t late = resident_bytes() - before;
        fill(classes);
        reset();
        fill(classes);
        sheet_merge(sheets[0], sheets[1]);
        int64_t full = resident_bytes() - before;
        end();
        int64_t left = resident_bytes() - before;
        printf("# %u classes, %u bits, %lld histograms: made %lld KiB, one late value in half of them %lld, eight "
               "octaves %lld, freed %lld\n",
               classes, bits, (long long)histograms, (long long)made / KIB, (long long)late / KIB,
               (long long)full / KIB, (long long)left / KIB);
        if (!measured)
            continue;
        CHECK(made < slack);
        CHECK(late < slack + histograms / 2 * 4 * KIB);
        CHECK(full < slack + histograms * (each + 1) * 4 * KIB);
        CHECK(full > histograms * (each - 1) * 4 * KIB); /* they are in use */
        CHECK(left < slack);
    }
}

static const double percents[] = {0.01, 1, 25, 50, 90, 99, 99.9, 99.99, 100};

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool same(const struct sated_histogram *a, const struct sated_histogram *b)
{
    bool same = a->bits == b->bits && a->count == b->count && a->min == b->min && a->max == b->max &&
                histogram_sum(a) == histogram_sum(b) && a->squares == b->squares;
    for (uint32_t bucket = 0; same && bucket < HISTOGRAM_BUCKETS(a->bits); bucket++)
        same = a->counts[bucket] == b->counts[bucket];
    return same;
}

/* Against sorting, by nearest rank; and whatever is merged with what, in whatever order, is as if recorded so. */
static void precision(void)
{
    enum { N = 20000 };
    static uint64_t v[N];
    struct sated_histogram *fine, *coarse, *half[2][2], *h;
    struct random r;
    random_seed(&r, 4, 0);
    CHECK_EQ(sated_histogram_new(&fine), 0);
    CHECK_EQ(histogram_new(&coarse, HISTOGRAM_BITS_COARSE), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(sated_histogram_new(&half[i][0]), 0);
        CHECK_EQ(histogram_new(&half[i][1], HISTOGRAM_BITS_COARSE), 0);
    }
    for (int i = 0; i < N; i++) {
        v[i] = random_below(&r, 1ULL << (4 + random_below(&r, 38)));
        sated_histogram_record(fine, v[i], 1);
        sated_histogram_record(coarse, v[i], 1);
        for (int j = 0; j < 2; j++)
            sated_histogram_record(half[i % 2][j], v[i], 1);
    }
    CHECK_EQ(sated_histogram_bits(fine), 10);
    CHECK_EQ(sated_histogram_bits(coarse), 7);
    CHECK(sated_histogram_mean(coarse) == sated_histogram_mean(fine));
    CHECK(sated_histogram_stddev(coarse) == sated_histogram_stddev(fine));
    qsort(v, N, sizeof *v, ascending);
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        uint64_t want = v[(size_t)ceil(percents[i] / 100 * N - 1e-9) - 1];
        int64_t got = sated_histogram_percentile(coarse, percents[i]);
        CHECK(got >= (int64_t)want && (double)got <= (double)want * (1 + 1 / 128.0));
        CHECK(want >= 256 || got == (int64_t)want);
    }
    int64_t low, high;
    CHECK_EQ(sated_histogram_percentile_interval(coarse, 50, 0.95, &low, &high), 0);
    CHECK(low <= sated_histogram_percentile(fine, 50) && high >= sated_histogram_percentile(fine, 50));
    /* Fine and coarse, coarse and fine, coarse and coarse; into what a caller has. */
    for (int i = 1; i < 4; i++) {
        CHECK_EQ(sated_histogram_new(&h), 0);
        sated_histogram_merge(h, half[0][i & 1]);
        sated_histogram_merge(h, half[1][i >> 1]);
        CHECK(same(h, coarse));
        sated_histogram_reset(h);
        CHECK_EQ(sated_histogram_bits(h), 10);
        sated_histogram_merge(h, half[0][0]);
        sated_histogram_merge(h, half[1][0]);
        CHECK(same(h, fine));
        sated_histogram_free(h);
    }
    /* Stored and loaded again. */
    size_t n = sated_histogram_buckets(coarse, NULL, NULL, 0);
    uint64_t *lows = malloc(n * sizeof *lows), *counts = malloc(n * sizeof *counts), sum[2], squares[2];
    CHECK_EQ(sated_histogram_buckets(coarse, lows, counts, n), n);
    sated_histogram_sums(coarse, sum, squares);
    CHECK_EQ(sated_histogram_new(&h), 0);
    CHECK_EQ(sated_histogram_load(h, 7, lows, counts, n, coarse->min, coarse->max, sum, squares), 0);
    CHECK(same(h, coarse));
    CHECK_EQ(sated_histogram_load(h, 11, lows, counts, n, coarse->min, coarse->max, sum, squares), SATED_PARSE);
    CHECK_EQ(sated_histogram_load(h, 0, lows, counts, n, coarse->min, coarse->max, sum, squares), SATED_PARSE);
    CHECK_EQ(sated_histogram_buckets(fine, lows, counts, n), sated_histogram_buckets(fine, NULL, NULL, 0));
    CHECK_EQ(sated_histogram_load(h, 7, lows, counts, n, fine->min, fine->max, sum, squares), SATED_PARSE);
    CHECK_EQ(sated_histogram_count(h), 0u);
    CHECK_EQ(sated_histogram_bits(h), 10);
    free(lows);
    free(counts);
    sated_histogram_free(h);
    sated_histogram_free(fine);
    sated_histogram_free(coarse);
    for (int i = 0; i < 4; i++)
        sated_histogram_free(half[i / 2][i % 2]);
}

int main(void)
{
    precision();
    memory(64, HISTOGRAM_BITS, 16);
    memory(MIX_CLASSES, HISTOGRAM_BITS_COARSE, 3);
    return check_done();
}
