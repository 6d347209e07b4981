/* SPDX-License-Identifier: MIT */
/* Workloads as text: sizes (field case C06, the native column), contradictions, shares; and the mix that is drawn. */
#include "load/mix.h"
#include "loads.h"

static void size_is(const char *text, uint64_t bytes)
{
    uint64_t v = 0;
    CHECK_EQ(sated_workload_size(text, &v), 0);
    CHECK_EQ(v, bytes);
}

static void capacity_is(const char *text, uint64_t whole, uint64_t bytes)
{
    uint64_t v = 0;
    CHECK_EQ(sated_workload_capacity(text, whole, &v), 0);
    CHECK_EQ(v, bytes);
}

static void size_refused(const char *text)
{
    uint64_t v;
    CHECK_EQ(sated_workload_size(text, &v), SATED_PARSE);
    CHECK(strlen(last_text()) > 10);
}

static void capacity_refused(const char *text, const char *says)
{
    uint64_t v;
    CHECK_EQ(sated_workload_capacity(text, 1000, &v), SATED_PARSE);
    CHECK_TEXT(last_text(), says);
}

static void sizes(void)
{
    size_is("4k", 4096);
    size_is("4ki", 4096);
    size_is("128KiB", 131072);
    size_is("1m", 1048576);
    size_is("512", 512);
    size_is("1.5k", 1536);
    size_refused("4kb");
    size_refused("12junk");
    size_refused("-1");
    size_refused("");
    size_refused("0");
    size_refused("1g");
    capacity_is("4GiB", 0, 4294967296u);
    capacity_is("4Gi", 0, 4294967296u);
    capacity_is("4GB", 0, 4000000000u);
    capacity_is("4kb", 0, 4000);
    capacity_is("4ki", 0, 4096);
    capacity_is("100%", 123456789, 123456789);
    capacity_is("0.5", 1000, 500);
    capacity_is("1.5GiB", 0, 1610612736u);
    capacity_refused("4G", "two readings");
    capacity_refused("4G", "4GB");
    capacity_refused("4G", "4GiB");
    capacity_refused("1.5G", "two readings");
    capacity_refused("12junk", "unit");
    capacity_refused("17179869185GiB", "63 bits");
    capacity_refused("17179869185G", "two readings");
    capacity_refused("-1", "capacity");
    capacity_refused("", "capacity");
}

/* "key=text" pairs, set in that order. Return: the first failure, or that of the check. */
static int set_all(struct sated_workload *w, const char *const *pairs)
{
    sated_workload_init(w);
    for (; *pairs; pairs++) {
        char key[64];
        const char *equals = strchr(*pairs, '=');
        snprintf(key, sizeof key, "%.*s", (int)(equals - *pairs), *pairs);
        int rc = sated_workload_set(w, key, equals + 1);
        if (rc)
            return rc;
    }
    return sated_workload_check(w);
}

#define GOOD(w, ...) CHECK_EQ(set_all(w, (const char *const[]){__VA_ARGS__, NULL}), 0)
#define BAD(says, ...) \
    do { \
        struct sated_workload bad; \
        CHECK_EQ(set_all(&bad, (const char *const[]){__VA_ARGS__, NULL}), SATED_PARSE); \
        CHECK_TEXT(last_text(), says); \
    } while (0)

static void texts(void)
{
    struct sated_workload w;
    GOOD(&w, "op=randwrite", "size=4k", "threads=16", "depth=16");
    CHECK_EQ(w.access, SATED_RANDOM);
    CHECK_EQ(w.share[SATED_WRITE], 1);
    CHECK_EQ(w.share[SATED_READ], 0);
    CHECK_EQ(w.threads, 16);
    GOOD(&w, "op=read");
    CHECK_EQ(w.access, SATED_SEQUENTIAL);
    GOOD(&w, "op=read", "access=random");
    CHECK_EQ(w.access, SATED_RANDOM);
    GOOD(&w, "access=random", "op=trim");
    CHECK_EQ(w.access, SATED_RANDOM);
    CHECK_EQ(w.share[SATED_TRIM], 1);
    GOOD(&w, "read=2/3", "size=8k", "access=random", "depth=32");
    CHECK_NEAR(w.share[SATED_WRITE], 1 / 3.0, 1e-12);
    GOOD(&w, "write=30");
    CHECK_EQ(w.share[SATED_READ], 70);
    GOOD(&w, "read=60%", "write=0.3", "trim=0.1");
    GOOD(&w, "trim=10", "write=30", "read=60");
    GOOD(&w, "op=write", "read=0", "write=100");
    GOOD(&w, "read=0", "op=write");
    GOOD(&w, "sizes=512:10, 1k:5, 2k:5, 4k:60, 8k:2, 16k:4, 32k:4, 64k:10");
    CHECK_EQ(w.n_sizes, 8);
    CHECK_EQ(w.size_bytes[7], 65536);
    GOOD(&w, "offset=1GiB", "length=4096", "data=zeros", "access=sequential");
    CHECK_EQ(w.offset_bytes, 1u << 30);
    CHECK_EQ(w.length_bytes, 4096);
    CHECK_EQ(w.data, SATED_DATA_ZEROS);

    BAD("contradicts", "op=randwrite", "access=sequential");
    BAD("contradicts", "access=sequential", "op=randwrite");
    BAD("contradicts", "op=randwrite", "read=1.0");
    BAD("contradicts", "read=1.0", "op=randwrite");
    BAD("contradicts", "op=read", "read=0.8");
    BAD("contradicts", "read=0.8", "op=read");
    BAD("contradicts", "size=4k", "sizes=4k:1");
    BAD("contradicts", "sizes=4k:1", "size=4k");
    BAD("sum to 0.9", "read=0.7", "write=0.2");
    BAD("sum to 99", "sizes=4k:90,8k:9");
    BAD("sum to", "trim=0.5");
    BAD("twice", "sizes=4k:50,4k:50");
    BAD("did you mean \"threads\"", "thread=4");
    BAD("did you mean \"randwrite\"", "op=randwrit");
    BAD("1 and 256", "threads=0");
    BAD("1 and 256", "threads=257");
    BAD("1 and 4096", "depth=4097");
    BAD("whole number", "depth=-1");
    BAD("multiple of 512", "size=1000");
    BAD("two readings", "length=256g");
    BAD("512:10,4k:60", "sizes=4k");
    BAD("more than the whole", "read=150");

    sated_workload_init(&w);
    w.share[SATED_READ] = 0.5;
    CHECK_EQ(sated_workload_check(&w), SATED_PARSE);
    w.share[SATED_TRIM] = 0.5;
    CHECK_EQ(sated_workload_check(&w), 0);
}

/* Counts of each class over many draws, against the shares. */
static void drawn(const char *const *pairs, uint32_t classes, uint64_t seed)
{
    enum { N = 1000000 };
    static struct mix m;
    struct sated_workload w;
    struct random r;
    uint64_t counts[MIX_CLASSES] = {0};
    double expected[MIX_CLASSES], sum = 0;
    CHECK_EQ(set_all(&w, pairs), 0);
    mix_init(&m, &w);
    CHECK_EQ(m.n, classes);
    random_seed(&r, seed, 0);
    for (int i = 0; i < N; i++)
        counts[mix_draw(&m, &r)]++;
    for (uint32_t i = 0; i < m.n; i++) {
        expected[i] = m.share[i] * N;
        sum += m.share[i];
    }
    CHECK_NEAR(sum, 1, 1e-12);
    if (classes > 1)
        CHECK(chi_square_z(counts, expected, m.n) < 4);
}

static void mixes(void)
{
    drawn((const char *const[]){"op=randread", NULL}, 1, 1);
    drawn((const char *const[]){"read=0.7", NULL}, 2, 2);
    drawn((const char *const[]){"read=0.999", NULL}, 2, 3);
    drawn((const char *const[]){"read=60", "write=30", "trim=10", NULL}, 3, 4);
    drawn((const char *const[]){"read=0.8", "sizes=512:10,1k:5,2k:5,4k:60,8k:2,16k:4,32k:4,64k:10", NULL}, 16, 5);
    struct sated_workload w;
    static struct mix m;
    GOOD(&w, "read=0.8", "sizes=6144:50,10240:50");
    mix_init(&m, &w);
    CHECK_EQ(m.align, 2048);
    CHECK_EQ(m.max_bytes, 10240);
    CHECK_EQ(m.write_bytes, 10240);
    GOOD(&w, "op=randread", "size=128k");
    mix_init(&m, &w);
    CHECK_EQ(m.align, 131072);
    CHECK_EQ(m.write_bytes, 0);
}

int main(void)
{
    sizes();
    texts();
    mixes();
    return check_done();
}
