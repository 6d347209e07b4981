/* SPDX-License-Identifier: MIT */
/* The core: random numbers, histogram, steady state, sizes, clock, errors. */
#include <sated/sated.h>

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "check.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/histogram.h"
#include "core/power.h"
#include "core/random.h"
#include "core/size.h"

static void test_random(void)
{
    /* The authors' xoshiro256plusplus.c started from {1, 2, 3, 4}. */
    static const uint64_t want[] = {41943041ULL,
                                    58720359ULL,
                                    3588806011781223ULL,
                                    3591011842654386ULL,
                                    9228616714210784205ULL,
                                    9973669472204895162ULL,
                                    14011001112246962877ULL,
                                    12406186145184390807ULL,
                                    15849039046786891736ULL,
                                    10450023813501588000ULL};
    struct random r = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        CHECK_EQ(random_next(&r), want[i]);

    /* Each lane is one of those, and so is what any processor draws. */
    struct random_lanes lanes;
    uint64_t drawn[10 * RANDOM_LANES];
    for (size_t lane = 0; lane < RANDOM_LANES; lane++)
        for (size_t i = 0; i < 4; i++)
            lanes.s[i][lane] = i + 1;
    random_draw_choose()(&lanes, drawn, 6 * RANDOM_LANES - 1);
    random_draw_anywhere(&lanes, drawn + 6 * RANDOM_LANES, 4 * RANDOM_LANES);
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
        CHECK_EQ(drawn[i], want[i / RANDOM_LANES]);

    /* Bounded draws are unbiased: for a bound just above 2^63, taking a remainder would hit the lower half twice as
     * often. Chi-square over 16 cells, 15 degrees of freedom: 37.7 is the 99.9 % point. */
    enum { CELLS = 16, DRAWS = 160000 };
    uint64_t bound = (1ULL << 63) + (1ULL << 62), cell[CELLS] = {0};
    random_seed(&r, 7, 0);
    for (int i = 0; i < DRAWS; i++)
        cell[random_below(&r, bound) / (bound / CELLS)]++;
    double chi = 0;
    for (int i = 0; i < CELLS; i++) {
        double d = (double)cell[i] - DRAWS / CELLS;
        chi += d * d / (DRAWS / CELLS);
    }
    CHECK(chi < 37.7);

    struct random a, b, c;
    random_seed(&a, 1, 0);
    random_seed(&b, 1, 1);
    random_seed(&c, 2, 0);
    uint64_t x = random_next(&a), y = random_next(&b), z = random_next(&c);
    CHECK(x != y && y != z && x != z);
    random_seed(&b, 1, 0);
    CHECK_EQ(random_next(&b), x);
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void test_histogram(void)
{
    struct sated_histogram *h, *g;
    CHECK_EQ(sated_histogram_new(&h), 0);
    CHECK_EQ(sated_histogram_new(&g), 0);
    CHECK_EQ(sated_histogram_percentile(h, 50), -1);
    CHECK(isnan(sated_histogram_mean(h)));

    /* Every bucket edge is its own bucket's lowest value, and buckets meet without gap up to 2^64 - 1. */
    for (uint32_t bits = 1; bits <= HISTOGRAM_BITS; bits++) {
        int meets = 1;
        for (uint32_t b = 0; b + 1 < HISTOGRAM_BUCKETS(bits); b++)
            meets &= histogram_bucket(histogram_low(b, bits), bits) == b &&
                     histogram_high(b, bits) + 1 == histogram_low(b + 1, bits) &&
                     histogram_bucket(histogram_high(b, bits), bits) == b;
        CHECK(meets);
        CHECK_EQ(histogram_high(HISTOGRAM_BUCKETS(bits) - 1, bits), UINT64_MAX);
    }

    /* Against sorting: nearest rank, within the bucket's 1/1024, never outside [min, max]. */
    enum { N = 20000 };
    uint64_t *v = malloc(N * sizeof *v);
    struct random r;
    random_seed(&r, 3, 0);
    long double sum = 0, squares = 0;
    for (int i = 0; i < N; i++) {
        v[i] = random_below(&r, 1ULL << (10 + random_below(&r, 30)));
        sated_histogram_record(i % 2 ? h : g, v[i], 1);
        sum += v[i];
    }
    for (int i = 0; i < N; i++)
        squares += ((long double)v[i] - sum / N) * ((long double)v[i] - sum / N);
    sated_histogram_merge(h, g);
    qsort(v, N, sizeof *v, ascending);
    static const double percents[] = {0.01, 1, 25, 50, 90, 99, 99.9, 99.99, 100};
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        uint64_t want = v[(size_t)ceil(percents[i] / 100 * N - 1e-9) - 1];
        int64_t got = sated_histogram_percentile(h, percents[i]);
        CHECK(got >= (int64_t)want && (double)got <= (double)want * (1 + 1 / 1024.0));
    }
    CHECK_EQ(sated_histogram_percentile(h, 100), (int64_t)v[N - 1]);
    CHECK_EQ(sated_histogram_min(h), v[0]);
    CHECK_NEAR(sated_histogram_mean(h), (double)(sum / N), 1e-15);
    CHECK_NEAR(sated_histogram_stddev(h), (double)sqrtl(squares / N), 1e-12);

    /* Stored and loaded again it is the same. */
    size_t n = sated_histogram_buckets(h, NULL, NULL, 0);
    uint64_t *low = malloc(n * sizeof *low), *count = malloc(n * sizeof *count), s[2], q[2];
    CHECK_EQ(sated_histogram_buckets(h, low, count, n), n);
    sated_histogram_sums(h, s, q);
    CHECK_EQ(sated_histogram_load(g, 10, low, count, n, sated_histogram_min(h), sated_histogram_max(h), s, q), 0);
    CHECK_EQ(sated_histogram_count(g), (uint64_t)N);
    CHECK_EQ(sated_histogram_percentile(g, 99.9), sated_histogram_percentile(h, 99.9));
    CHECK(sated_histogram_stddev(g) == sated_histogram_stddev(h));
    low[n - 1]++;
    CHECK_EQ(sated_histogram_load(g, 10, low, count, n, 0, 1, s, q), SATED_PARSE);
    free(low);
    free(count);
    free(v);

    /* A stall of 1,000 s is told as such: no last bucket hides it. */
    sated_histogram_reset(h);
    CHECK_EQ(sated_histogram_count(h), 0u);
    sated_histogram_record(h, 100, 1000000);
    sated_histogram_record(h, 1000000000000ULL, 1);
    CHECK_EQ(sated_histogram_percentile(h, 100), 1000000000000LL);
    CHECK_EQ(sated_histogram_percentile(h, 99.9), 100);
    /* The deviation of a spread of 1 about 1e12 survives: no difference of large squares. */
    sated_histogram_reset(h);
    sated_histogram_record(h, 1000000000001ULL, 500);
    sated_histogram_record(h, 1000000000003ULL, 500);
    CHECK_NEAR(sated_histogram_stddev(h), 1, 1e-12);
    CHECK_EQ(sated_histogram_percentile(h, 50.5), sated_histogram_percentile(h, 100));

    /* Ten values, median, 95 %: order statistics 2 and 9 (David and Nagaraja, Order Statistics, section 7.1). */
    sated_histogram_reset(h);
    for (uint64_t i = 1; i <= 10; i++)
        sated_histogram_record(h, i, 1);
    int64_t from, to;
    CHECK_EQ(sated_histogram_percentile_interval(h, 50, 0.95, &from, &to), 0);
    CHECK_EQ(from, 2);
    CHECK_EQ(to, 9);
    CHECK_EQ(sated_histogram_percentile_interval(h, 99, 0.95, &from, &to), SATED_STATE);
    CHECK_EQ(sated_histogram_percentile_interval(h, 50, 1.5, &from, &to), SATED_PARSE);
    /* 1 to 2000, 90 %: about 1.96 sqrt(n q (1 - q)) = 26.3 ranks on each side of 1800. */
    sated_histogram_reset(h);
    for (uint64_t i = 1; i <= 2000; i++)
        sated_histogram_record(h, i, 1);
    CHECK_EQ(sated_histogram_percentile_interval(h, 90, 0.95, &from, &to), 0);
    CHECK(from >= 1772 && from <= 1775 && to >= 1826 && to <= 1829);
    /* Beyond 2048 a bucket has several values: its least one is the lower bound, and neither leaves [min, max]. */
    sated_histogram_reset(h);
    sated_histogram_record(h, 1048577, 500);
    sated_histogram_record(h, 1048577 + 900, 500);
    CHECK_EQ(sated_histogram_percentile_interval(h, 50, 0.95, &from, &to), 0);
    CHECK_EQ(from, 1048577);
    CHECK_EQ(to, 1048577 + 900);
    sated_histogram_reset(h);
    for (uint64_t i = 0; i < 1000; i++)
        sated_histogram_record(h, 1 << 30 | 700000 * i, 1);
    CHECK_EQ(sated_histogram_percentile_interval(h, 50, 0.95, &from, &to), 0);
    CHECK_EQ(from, (int64_t)histogram_low(histogram_bucket(1 << 30 | 700000 * 468, 10), 10));
    CHECK_EQ(to, (int64_t)histogram_high(histogram_bucket(1 << 30 | 700000 * 531, 10), 10));

    /* A percentile is signed: what does not fit counts as the greatest that does. */
    sated_histogram_reset(h);
    sated_histogram_record(h, UINT64_MAX, 1);
    CHECK_EQ(sated_histogram_percentile(h, 50), INT64_MAX);
    CHECK_EQ(sated_histogram_max(h), (uint64_t)INT64_MAX);
    sated_histogram_free(h);
    sated_histogram_free(g);
    sated_histogram_free(NULL);
}

static void test_steady(void)
{
    /* One-minute IOPS of a slow decline (a public thread, rescaled). */
    static const double iops[] = {24681, 24736, 24695, 24708, 24640, 24631, 24662, 24596,
                                  24505, 24421, 24189, 24187, 24042, 23940, 23853};
    struct sated_verdict v;
    for (size_t n = 1; n <= 15; n++) {
        CHECK_EQ(sated_steady_check(iops, NULL, NULL, n, NULL, &v), 0);
        CHECK_EQ(v.steady, n >= 5);
        if (n == 5) {
            CHECK_NEAR(v.mean, 24692.0, 1e-9);
            CHECK_NEAR(v.range, 0.0039, 0.01);
            CHECK_NEAR(v.slope, -0.0018, 0.05);
        }
    }
    CHECK_NEAR(v.range, 0.0140, 0.005);
    CHECK_NEAR(v.slope, -0.0153, 0.005);
    CHECK_TEXT(v.text, "not checked");

    struct sated_steady_options o;
    sated_steady_options_init(&o);
    double ramp[] = {100, 104, 108, 112, 116};
    CHECK_EQ(sated_steady_check(ramp, NULL, NULL, 5, &o, &v), 0);
    CHECK_EQ(v.reason, SATED_STEADY_SLOPE); /* range 14.8 %, slope 14.8 % */
    o.rule = SATED_STEADY_RANGE_20;
    CHECK_EQ(sated_steady_check(ramp, NULL, NULL, 5, &o, &v), 0);
    CHECK(v.steady);

    /* Gates. */
    double flat[] = {100, 100, 100, 100, 100}, t[] = {1800, 3600, 5400, 7200, 9000}, near[] = {60, 120, 180, 240, 300};
    double little[] = {1, 2, 3, 4, 5}, half[] = {10, 20, 30, 40, 60}, twice[] = {50, 100, 150, 190, 201};
    o.capacity_bytes = 100;
    o.first_minute = 110;
    CHECK_EQ(sated_steady_check(flat, near, half, 5, &o, &v), 0);
    CHECK_EQ(v.reason, SATED_STEADY_TOO_CLOSE);
    CHECK_EQ(sated_steady_check(flat, t, half, 5, &o, &v), 0);
    CHECK_EQ(v.reason, SATED_STEADY_NOT_LOADED);
    CHECK_EQ(sated_steady_check(flat, t, twice, 5, &o, &v), 0);
    CHECK(v.steady);
    o.first_minute = 500;
    CHECK_EQ(sated_steady_check(flat, t, half, 5, &o, &v), 0);
    CHECK(v.steady);
    CHECK_EQ(sated_steady_check(flat, t, little, 5, &o, &v), 0);
    CHECK(v.steady); /* two hours run */
    o.round_s = 0;
    CHECK_EQ(sated_steady_check(flat, near, little, 5, &o, &v), 0);
    CHECK_EQ(v.reason, SATED_STEADY_TOO_EARLY);
    CHECK_TEXT(v.text, "too early: 0.05 x the capacity written, neither 0.5 x nor two hours");
    o.size = 0;
    CHECK_EQ(sated_steady_check(flat, t, half, 5, &o, &v), SATED_PARSE);
    o.size = sizeof o + 8;
    CHECK_EQ(sated_steady_check(flat, t, half, 5, &o, &v), SATED_PARSE);
    o.size = 8; /* of an older caller, who knew of no gates */
    CHECK_EQ(sated_steady_check(ramp, NULL, NULL, 5, &o, &v), 0);
    CHECK(v.steady);
    o.size = sizeof o;
    double bad[] = {1, NAN, 1, 1, 1};
    CHECK_EQ(sated_steady_check(bad, NULL, NULL, 5, &o, &v), SATED_PARSE);
}

static void test_size(void)
{
    static const struct {
        const char *text;
        uint64_t bytes; /* 0: refused */
    } io[] = {{"4k", 4096},   {"4ki", 4096}, {"4KiB", 4096}, {"512", 512}, {"128k", 131072}, {"1m", 1048576},
              {"1.5k", 1536}, {"0", 0},      {"", 0},        {"-1", 0},    {"4kb", 0},       {"12junk", 0},
              {"1.0001k", 0}, {"4 k", 0},    {"k", 0},       {"1e3", 0},   {".", 0},         {"1..5k", 0}},
      capacity[] = {{"4GiB", 4294967296},
                    {"4Gi", 4294967296},
                    {"4GB", 4000000000},
                    {"4gb", 4000000000},
                    {"4G", 0},
                    {"256g", 0},
                    {"100%", 1000},
                    {"80%", 800},
                    {"0.8", 800},
                    {"1.0", 1000},
                    {"1.5GB", 1500000000},
                    {"12junk", 0},
                    {"17179869185GiB", 0},
                    {"-1", 0},
                    {"", 0},
                    {"120%", 0},
                    {"4096", 4096},
                    {"1TB", 1000000000000},
                    {"9223372036854775807", INT64_MAX},
                    {"9223372036854775808", 0}};
    uint64_t bytes;
    for (size_t i = 0; i < sizeof io / sizeof *io; i++) {
        int rc = size_parse_io(io[i].text, &bytes);
        CHECK_EQ(rc, io[i].bytes ? 0 : SATED_PARSE);
        if (!rc)
            CHECK_EQ(bytes, io[i].bytes);
    }
    for (size_t i = 0; i < sizeof capacity / sizeof *capacity; i++) {
        int rc = size_parse_capacity(capacity[i].text, 1000, &bytes);
        CHECK_EQ(rc, capacity[i].bytes ? 0 : SATED_PARSE);
        if (!rc)
            CHECK_EQ(bytes, capacity[i].bytes);
    }
    struct sated_detail d;
    size_parse_capacity("256g", 0, &bytes);
    sated_detail_get(&d);
    CHECK_TEXT(d.text, "256GB");
    CHECK_TEXT(d.text, "256GiB");
    CHECK_EQ(sated_error_exit_code(d.code, d.layer), 2);

    double x;
    CHECK_EQ(size_parse_share("read", "2/3", &x), 0);
    CHECK(x == 2.0 / 3);
    CHECK_EQ(size_parse_share("read", "70%", &x), 0);
    CHECK(x == 0.7);
    CHECK_EQ(size_parse_share("read", "nan", &x), SATED_PARSE);
    CHECK_EQ(size_parse_share("read", "1/0", &x), SATED_PARSE);
    static const char *const numbers[] = {"0.1", "-1.5e-3", "12", "1.0555", "22.8e-6", "240"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        CHECK_EQ(size_parse_number("value", numbers[i], &x), 0);
        CHECK(x == strtod(numbers[i], NULL));
    }
    CHECK_EQ(size_parse_number("value", "1e", &x), SATED_PARSE);
    CHECK_EQ(size_parse_number("value", "inf", &x), SATED_PARSE);
    static const char *const known[] = {"capacity", "scale", "seed", "lba"};
    CHECK(!strcmp(size_nearest("sclae", known, 4), "scale"));
    CHECK(size_nearest("zzzzzz", known, 4) == NULL);
}

/* Numbers are printed as the C locale's printf does (the witness), in a locale with a comma too, if there is one. */
static void test_numbers(void)
{
    static const char *const comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "ru_RU.UTF-8"};
    static const double values[] = {0,    1,       -1,   0.5,       -0.25, 1.0 / 3, 12345.678, 1e6,
                                    1e-7, 2.5e300, 1e15, 123456789, 1e14,  -1234.5, INFINITY,  NAN};
    char want[5][16][2][400], got[SIZE_NUMBER];
    for (int digits = 0; digits < 5; digits++)
        for (size_t i = 0; i < 16; i++) {
            snprintf(want[digits][i][0], 400, "%.*g", 3 * digits, values[i]);
            if (fabs(values[i]) < 1e15)
                snprintf(want[digits][i][1], 400, "%.*f", 3 * digits, values[i]);
            else
                snprintf(want[digits][i][1], 400, "%.15g", values[i]);
        }
    bool found = false;
    for (size_t n = 0; n < sizeof comma / sizeof *comma && !found; n++)
        found = setlocale(LC_ALL, comma[n]) != NULL;
    printf("# locale: %s\n", setlocale(LC_ALL, NULL));
    snprintf(got, sizeof got, "%.1f", 0.5);
    CHECK(!strcmp(got, found ? "0,5" : "0.5"));
    for (int digits = 0; digits < 5; digits++)
        for (size_t i = 0; i < 16; i++) {
            size_print_number(got, sizeof got, values[i], 3 * digits);
            CHECK(!strcmp(got, want[digits][i][0]));
            size_print_fixed(got, sizeof got, values[i], 3 * digits);
            CHECK(!strcmp(got, want[digits][i][1]));
        }
    /* Sentences too. */
    double rounds[] = {100.5, 100.5, 100.5, 100.5, 101};
    struct sated_verdict v;
    CHECK_EQ(sated_steady_check(rounds, NULL, NULL, 5, NULL, &v), 0);
    CHECK_TEXT(v.text, "mean 100.6, range 0.50 % (limit 20 %), slope +0.40 %");
    struct sated_drive *d;
    struct sated_detail detail;
    CHECK_EQ(sated_drive_open(&d, "sim:generic,op=0.0005", NULL), SATED_PARSE);
    sated_detail_get(&detail);
    CHECK_TEXT(detail.text, "op = 0.0005 ");
    CHECK_EQ(sated_drive_open(&d, "sim:./there/is.sim", NULL), -ENOENT);
    sated_detail_get(&detail);
    CHECK_TEXT(detail.text, "No such file or directory");
    setlocale(LC_ALL, "C");
}

static void test_clock(void)
{
    const struct clock_scale *s = clock_scale_get();
    int64_t before = clock_now_ns(), stamp = clock_stamp_ns(s), after = clock_now_ns();
    CHECK(stamp >= before - 20000 && stamp <= after + 20000);
    int64_t later = clock_now_ns() + 2000000;
    clock_sleep_until_ns(later);
    CHECK(clock_now_ns() >= later);
    /* 50 ppm over this test's length, and the width of a pair of reads. */
    CHECK(llabs((long long)clock_drift_ns(s)) < 100000);
    int64_t last = clock_stamp_ns(s), back = 0;
    for (int i = 0; i < 100000; i++) {
        int64_t now = clock_stamp_ns(s);
        back += now < last;
        last = now;
    }
    CHECK_EQ(back, 0);
}

static void test_error(void)
{
    struct sated_detail d;
    CHECK_EQ(error_set(-ENOSPC, SATED_LAYER_FILE, "no room for %s", "x"), -ENOSPC);
    sated_detail_get(&d);
    CHECK_EQ(d.code, -ENOSPC);
    CHECK(!strcmp(d.text, "no room for x"));
    CHECK(!strcmp(sated_error_name(-ENOSPC), "ENOSPC"));
    CHECK(!strcmp(sated_error_name(SATED_UNSAFE), "UNSAFE"));
    static const struct {
        int code, layer, exit;
    } table[] = {{0, 0, 0},
                 {SATED_PARSE, 1, 2},
                 {SATED_UNSAFE, 2, 3},
                 {SATED_SENSE, 2, 4},
                 {SATED_STALLED, 2, 4},
                 {SATED_UNSUPPORTED, 2, 7},
                 {SATED_STATE, 2, 4},
                 {SATED_STATE, 3, 70},
                 {-ENOENT, SATED_LAYER_DRIVE, 2},
                 {-EACCES, SATED_LAYER_DRIVE, 7},
                 {-EBUSY, SATED_LAYER_DRIVE, 3},
                 {-EIO, SATED_LAYER_DRIVE, 4},
                 {-ENOSPC, SATED_LAYER_FILE, 8},
                 {-EIO, SATED_LAYER_FILE, 8},
                 {-EACCES, SATED_LAYER_FILE, 7}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        CHECK_EQ(sated_error_exit_code(table[i].code, table[i].layer), table[i].exit);
    char text[64];
    CHECK_EQ(sated_log_take(text, sizeof text), 0);
}

/* Against libm, whose functions are right to the last bit or so. */
static void test_power(void)
{
    for (double x = 1e-300; x < 1e300; x *= 1.37) {
        CHECK(fabs(power_log(x) - log(x)) <= 1e-15 * fabs(log(x)));
        CHECK(fabs(power_of(x, 0.731) / pow(x, 0.731) - 1) < 2e-13);
    }
    for (double x = 0.5; x < 2; x += 0.001)
        CHECK(fabs(power_log(x) - log(x)) <= 3e-16);
    for (double x = -690; x < 700; x += 0.37)
        CHECK(fabs(power_exp(x) / exp(x) - 1) < 1e-15 + 3e-16 * fabs(x) / 10);
    CHECK_EQ(power_exp(0) == 1, true);
    CHECK_EQ(power_exp(-1000) == 0, true);
}

int main(void)
{
    test_power();
    test_random();
    test_histogram();
    test_steady();
    test_size();
    test_numbers();
    test_clock();
    test_error();
    return check_done();
}
