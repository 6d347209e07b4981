/* SPDX-License-Identifier: MIT */
/* Addresses: uniform with replacement (chi-square over all places), aligned as documented, sequential starts and wraps;
 * and what writes carry. */
#include "load/address.h"
#include "load/data.h"
#include "loads.h"

static struct mix m;
static struct address_range range;

static int prepare(struct sated_workload *w, uint64_t whole, uint32_t block)
{
    CHECK_EQ(sated_workload_check(w), 0);
    mix_init(&m, w);
    address_range_free(&range);
    return address_range_init(&range, w, &m, whole, block, 1, "drive");
}

static void uniform(void)
{
    enum { PLACES = 1000, N = 1000000 };
    static uint64_t counts[PLACES];
    static double expected[PLACES];
    struct sated_workload w;
    struct random r;
    struct address a = {0};
    sated_workload_init(&w);
    CHECK_EQ(prepare(&w, PLACES * 4096 + 512, 512), 0);
    random_seed(&r, 11, 0);
    for (int i = 0; i < N; i++) {
        uint64_t at = address_next(&a, &range, &r, SATED_READ, 0, 4096);
        if (at % 4096 || at / 4096 >= PLACES) {
            CHECK(false);
            return;
        }
        counts[at / 4096]++;
    }
    for (int i = 0; i < PLACES; i++)
        expected[i] = (double)N / PLACES;
    CHECK(fabs(chi_square_z(counts, expected, PLACES)) < 4);
    /* With replacement: of N draws from N places a share of 1 - 1/e is seen, 0.632 (a permutation would see all). */
    static bool seen[100000];
    int distinct = 0;
    w.length_bytes = sizeof seen * UINT64_C(4096);
    CHECK_EQ(prepare(&w, UINT64_C(1) << 40, 512), 0);
    for (size_t i = 0; i < sizeof seen; i++) {
        bool *s = &seen[address_next(&a, &range, &r, SATED_READ, 0, 4096) / 4096];
        distinct += !*s;
        *s = true;
    }
    CHECK_NEAR(distinct, sizeof seen * (1 - exp(-1)), 0.01);
}

/* Field case C01: half 6 KiB, half 10 KiB, on 512-byte and on 4096-byte blocks. */
static void two_sizes(void)
{
    struct sated_workload w;
    struct random r;
    struct address a = {0};
    uint64_t counts[2] = {0}, odd = 0;
    sated_workload_init(&w);
    CHECK_EQ(sated_workload_set(&w, "sizes", "6144:50,10240:50"), 0);
    CHECK_EQ(prepare(&w, UINT64_C(1) << 30, 512), 0);
    CHECK_EQ(range.align, 2048);
    random_seed(&r, 12, 0);
    for (int i = 0; i < 20000; i++) {
        uint32_t class = mix_draw(&m, &r);
        uint64_t at = address_next(&a, &range, &r, m.op[class], class, m.bytes[class]);
        counts[class]++;
        CHECK(at % 2048 == 0 && at + m.bytes[class] <= UINT64_C(1) << 30);
        odd += at % 6144 != 0;
    }
    CHECK(counts[0] > 10000 - 283 && counts[0] < 10000 + 283); /* 4 sigma */
    CHECK_NEAR(odd, 20000 * 2 / 3.0, 0.05);                    /* not aligned to the smallest size */
}

static void sequential(void)
{
    struct sated_workload w;
    struct random r;
    struct address a;
    sated_workload_init(&w);
    w.access = SATED_SEQUENTIAL;
    w.size_bytes[0] = 131072;
    w.offset_bytes = 131072;
    CHECK_EQ(prepare(&w, 131072 * 11 + 4096, 512), 0);
    random_seed(&r, 1, 0);
    /* Ten places and a rest; four threads begin at 0, 2, 5 and 7 of them. */
    static const uint64_t starts[] = {0, 2, 5, 7};
    for (uint32_t t = 0; t < 4; t++) {
        address_init(&a, &range, t, 4);
        for (uint64_t i = 0; i < 25; i++)
            CHECK_EQ(address_next(&a, &range, &r, SATED_READ, 0, 131072), 131072 + (starts[t] + i) % 10 * 131072);
    }
    /* Mixed sizes go on by what was drawn and never cross the end. */
    sated_workload_init(&w);
    CHECK_EQ(sated_workload_set(&w, "sizes", "4k:50,12k:50"), 0);
    w.access = SATED_SEQUENTIAL;
    CHECK_EQ(prepare(&w, 10 * 4096, 512), 0);
    address_init(&a, &range, 0, 1);
    uint64_t expected = 0;
    for (int i = 0; i < 1000; i++) {
        uint32_t class = mix_draw(&m, &r), bytes = m.bytes[class];
        if (expected + bytes > 10 * 4096)
            expected = 0;
        CHECK_EQ(address_next(&a, &range, &r, m.op[class], class, bytes), expected);
        expected += bytes;
    }
}

static void refused(void)
{
    struct sated_workload w;
    sated_workload_init(&w);
    w.offset_bytes = 8192;
    CHECK_EQ(prepare(&w, 4096, 512), SATED_PARSE);
    CHECK_TEXT(last_text(), "beyond");
    w.length_bytes = UINT64_MAX - 4095; /* offset + length overflows */
    CHECK_EQ(prepare(&w, 1 << 20, 512), SATED_PARSE);
    w.length_bytes = 2048;
    CHECK_EQ(prepare(&w, 1 << 20, 512), SATED_PARSE);
    CHECK_TEXT(last_text(), "too small for one I/O of 4096");
    w.offset_bytes = 100;
    CHECK_EQ(prepare(&w, 1 << 20, 512), SATED_PARSE);
    CHECK_TEXT(last_text(), "multiples");
}

/* No two sectors written by a load are equal, and they do not compress: over 16 MiB the byte values are uniform. */
static int compare(const void *a, const void *b)
{
    return memcmp(a, b, 512);
}

static void data(void)
{
    enum { WRITES = 2000, SECTORS = WRITES * 8 };
    struct sated_workload w;
    struct random r;
    struct data d, other;
    uint8_t *all = malloc(SECTORS * 512);
    sated_workload_init(&w);
    CHECK_EQ(sated_workload_set(&w, "op", "randwrite"), 0);
    mix_init(&m, &w);
    CHECK_EQ(data_init(&d, &w, &m, 4, 4, 1, 0), 0);
    CHECK_EQ(data_init(&other, &w, &m, 4, 4, 1, 1), 0);
    CHECK(d.bytes - d.pool >= 16u << 20);
    random_seed(&r, 13, 0);
    for (uint32_t i = 0; i < WRITES; i++)
        memcpy(all + i * 4096,
               data_write(i % 2 ? &d : &other, random_next(&r), data_stripe(i % 2 ? &d : &other, i / 2 % 4), 4096),
               4096);
    static uint64_t counts[256];
    static double expected[256];
    for (size_t i = 0; i < SECTORS * 512; i++)
        counts[all[i]]++;
    for (int i = 0; i < 256; i++)
        expected[i] = SECTORS * 2.0;
    CHECK(chi_square_z(counts, expected, 256) < 6);
    qsort(all, SECTORS, 512, compare);
    int equal = 0;
    for (size_t i = 1; i < SECTORS; i++)
        equal += !compare(all + (i - 1) * 512, all + i * 512);
    CHECK_EQ(equal, 0);
    free(all);
    data_free(&d);
    data_free(&other);
}

int main(void)
{
    uniform();
    two_sizes();
    sequential();
    refused();
    data();
    return check_done();
}
