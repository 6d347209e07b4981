/* SPDX-License-Identifier: MIT */
/* The Intel SSD 710 review of StorageReview (2011) on simulated drives: one, RAID 1 of two and RAID 5 of three behind a
 * controller with a 128 KiB chunk and write-back. What sets make of a drive, the ratio to the single one, is held within
 * 20 % for sequential and 4 KiB reads and writes; other rows are printed beside what is published.
 *
 * Sequential and 2 MB rows: transfers of 2 MB one at a time, on a written drive. 4 KiB rows: one at a time; the writes are
 * those of a fresh drive, for the review's single drive does 13,269 of them in a second there, and 2,778 in steady state. */
#include "check.h"
#include "closed_loop.h"

static const char *const configs[] = {"710,scale=1/64", "raid1,members=2,of=710,chunk=128k,cache=write-back,scale=1/64",
                                      "raid5,members=3,of=710,chunk=128k,cache=write-back,scale=1/64"};

enum row { SEQUENTIAL_READ, SEQUENTIAL_WRITE, SMALL_READ, SMALL_WRITE, LARGE_READ, LARGE_WRITE, ROWS };

static const struct {
    const char *name;
    double published[3]; /* MB/s or IOPS; 0 = not published */
    bool held;
} rows[ROWS] = {
    [SEQUENTIAL_READ] = {"sequential read, MB/s", {277, 284, 589}, true},
    [SEQUENTIAL_WRITE] = {"sequential write, MB/s", {216, 197, 423}, true},
    [SMALL_READ] = {"4 KiB random read, IOPS", {3727, 4036, 4100}, true}, /* RAID 5: "less than 4,100" */
    [SMALL_WRITE] = {"4 KiB random write, IOPS", {13269, 14631, 8472}, true},
    [LARGE_READ] = {"2 MB random read, MB/s", {0, 232, 478}, false},
    [LARGE_WRITE] = {"2 MB random write, MB/s", {0, 187, 320}, false},
};

static double megabytes(struct sim *s, struct random *r, enum sated_op op, bool sequential)
{
    uint64_t most = sim_capacity(s) >> 21;
    return loop_run(s, r, (struct loop){op, 2 << 20, sequential || most < 500 ? most : 500, 1, sequential}).iops *
           (2 << 20) / 1e6;
}

static void measure(const char *spec, double *out)
{
    struct random r;
    struct sim *s = loop_open(spec);
    random_seed(&r, 1, 0);
    out[SMALL_WRITE] = loop_run(s, &r, (struct loop){SATED_WRITE, 4096, 60000, 1, false}).iops;
    loop_fill(s, &r);
    out[SEQUENTIAL_WRITE] = megabytes(s, &r, SATED_WRITE, true);
    sim_idle_until(s, sim_now_ns(s) + 1000000000);
    out[SEQUENTIAL_READ] = megabytes(s, &r, SATED_READ, true);
    out[SMALL_READ] = loop_run(s, &r, (struct loop){SATED_READ, 4096, 20000, 1, false}).iops;
    out[LARGE_READ] = megabytes(s, &r, SATED_READ, false);
    out[LARGE_WRITE] = megabytes(s, &r, SATED_WRITE, false);
    sim_free(s);
}

/* The review's server profiles: 67 % reads of 8 KiB; 80 % of 512 B to 64 KiB; reads of 512 B to 512 KiB; 80 % reads of
 * 8 KiB. Shares of sizes in percent. */
static const struct profile {
    const char *name;
    uint32_t read, bytes[10], share[10];
} profiles[] = {
    {"database", 67, {8192}, {100}},
    {"file server", 80, {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}, {10, 5, 5, 60, 2, 4, 4, 10}},
    {"web server",
     100,
     {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 524288},
     {22, 15, 8, 23, 15, 2, 6, 7, 1, 1}},
    {"workstation", 80, {8192}, {100}},
};

static void submit(struct sim *s, struct random *r, const struct profile *p)
{
    uint32_t at = (uint32_t)random_below(r, 100), size = 0;
    while (at >= p->share[size])
        at -= p->share[size++];
    uint64_t slots = (sim_capacity(s) - p->bytes[size]) / 4096;
    enum sated_op op = random_below(r, 100) < p->read ? SATED_READ : SATED_WRITE;
    if (sim_submit(s, 0, op, random_below(r, slots) * 4096, p->bytes[size]))
        exit(1);
}

static double serve(struct sim *s, struct random *r, const struct profile *p, uint32_t depth, uint64_t ios)
{
    int64_t start = sim_now_ns(s), now = start;
    uint32_t tag;
    int status;
    for (uint32_t i = 0; i < depth; i++)
        submit(s, r, p);
    for (uint64_t done = 0; done < 2 * ios; done++) {
        if (!sim_next(s, &tag, &now, &status) || status)
            exit(1);
        start = done == ios ? now : start; /* until then the cache took in what it had room for */
        submit(s, r, p);
    }
    double iops = (double)(ios - 1) * 1e9 / (double)(now - start);
    while (sim_next(s, &tag, &now, &status))
        ;
    return iops;
}

/* More outstanding I/Os are never fewer served (5 % are the chance of which victims come), and 16 are more than one. */
static void check_profiles(const char *spec)
{ /* in steady state from the beginning: else what is slower later would seem to be deeper */
    static const uint32_t depths[] = {1, 4, 16, 64, 128};
    struct random r;
    struct sim *s = loop_open(spec);
    random_seed(&r, 2, 0);
    CHECK_EQ(sim_fill(s, &(struct filling){SATED_FILL_STEADY, 1}), 0);
    printf("%s\n", spec);
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++) {
        double iops[5];
        printf("  %-12s", profiles[i].name);
        for (size_t d = 0; d < 5; d++) {
            iops[d] = serve(s, &r, &profiles[i], depths[d], 40000);
            printf(" %8.0f at %u", iops[d], depths[d]);
            CHECK(!d || iops[d] > 0.95 * iops[d - 1]);
        }
        printf("\n");
        CHECK(iops[2] > 1.2 * iops[0]);
    }
    sim_free(s);
}

int main(void)
{
    double measured[3][ROWS];
    for (int i = 0; i < 3; i++)
        measure(configs[i], measured[i]);
    for (int row = 0; row < ROWS; row++) {
        printf("%-26s", rows[row].name);
        for (int i = 0; i < 3; i++) {
            double published = rows[row].published[i], ratio = measured[i][row] / measured[0][row];
            printf("  %7.0f (published %5.0f", measured[i][row], published);
            if (i && rows[row].held) {
                printf(", ratio %.2f of %.2f", ratio, published / rows[row].published[0]);
                CHECK_NEAR(ratio, published / rows[row].published[0], 0.2);
            }
            printf(")");
        }
        printf("\n");
    }
    for (int i = 0; i < 3; i++)
        check_profiles(configs[i]);
    return check_done();
}
