/* SPDX-License-Identifier: MIT */
/* Bad blocks, those that take their place, and what a drive endures: counts that have to come out. */
#include <errno.h>

#include "amplification.h"
#include "check.h"
#include "closed_loop.h"
#include "sim/whole.h"

static struct sated_sim_counters counters(const struct sim *s)
{
    struct sated_sim_counters c;
    sim_get_counters(s, &c);
    return c;
}

/* Blocks in reserve lie beside those in use: until one is needed nothing happens otherwise, not even in time. */
static void check_nothing(void)
{
    static const char *const specs[] = {"generic,blocks=512", "generic,blocks=512,domain=channel,channels=4,dies=4"};
    for (int i = 0; i < 2; i++) {
        uint64_t digest[2];
        for (int with = 0; with < 2; with++) {
            struct random r = {{1, 2, 3, 4}};
            char spec[160];
            snprintf(spec, sizeof spec, "%s%s", specs[i], with ? ",spare_blocks=5%,grown_bad=0,wear_limit=0" : "");
            struct sim *s = loop_open(spec);
            digest[with] = loop_run(s, &r, (struct loop){SATED_WRITE, 4096, 300000, 16, false}).digest;
            CHECK_EQ(counters(s).spare_blocks, with ? (uint64_t)s->model.spares * s->ftl.domains : 0);
            CHECK(counters(s).erases > 1000 && !counters(s).bad_blocks);
            sim_free(s);
        }
        CHECK_EQ(digest[0], digest[1]);
    }
}

/* From the factory: as many as the model says in each domain, others for another seed, none of them ever used. */
static void check_factory(void)
{
    uint64_t where[2] = {0};
    for (int seed = 0; seed < 2; seed++) {
        struct random r = {{1, 2, 3, 4}};
        char spec[160];
        snprintf(spec, sizeof spec,
                 "generic,timing=off,blocks=1024,domain=channel,spare_blocks=0.05,factory_bad=0.02,seed=%d", seed + 1);
        struct sim *s = loop_open(spec);
        const struct ftl *f = &s->ftl;
        loop_run(s, &r, (struct loop){SATED_WRITE, 4096, 4 * f->units, 1, false});
        /* Of 131 blocks for 128 blocks of T in each of 8 domains 5 % are 7, and 2 % of 138 are 3. */
        CHECK_EQ(s->model.spares, 7);
        CHECK_EQ(counters(s).bad_blocks, 8 * 3);
        CHECK_EQ(counters(s).spare_blocks, 8 * 4);
        int wrong = 0;
        for (uint32_t block = 0; block < f->blocks; block++) {
            if (f->state[block] == BLOCK_BAD)
                where[seed] = where[seed] * 31 + block;
            wrong += f->state[block] >= BLOCK_SPARE ? f->wear[block] || f->count[block] : !f->wear[block];
        }
        CHECK_EQ(wrong, 0);
        CHECK(state_check(s) == NULL);
        sim_free(s);
    }
    CHECK(where[0] != where[1]);
}

/* Each so manieth erase fails, by chance: of n within four standard deviations. Each takes one from the reserve, so that
 * there are as many blocks to be used as before, until the reserve is used up. */
static void check_grown(void)
{
    struct random r = {{1, 2, 3, 4}};
    struct sim *s = loop_open("generic,timing=off,blocks=1024,spare_blocks=0.3,grown_bad=100");
    const struct ftl *f = &s->ftl;
    uint32_t used = spare_in_use(f), had = (uint32_t)counters(s).spare_blocks;
    while (counters(s).spare_blocks > 20)
        loop_run(s, &r, (struct loop){SATED_WRITE, 4096, 10000, 1, false});
    struct life life;
    sim_get_life(s, &life);
    double n = (double)life.erased_blocks;
    CHECK(fabs((double)f->grown_bad - n / 100) < 4 * sqrt(n / 100));
    CHECK_EQ(counters(s).bad_blocks, f->grown_bad);
    CHECK_EQ(counters(s).bad_blocks + counters(s).spare_blocks, had);
    CHECK_EQ(spare_in_use(f), used);
    CHECK_EQ(counters(s).read_only, 0);
    CHECK(state_check(s) == NULL);
    sim_free(s);
}

static int write_one(struct sim *s, uint64_t unit)
{
    uint32_t tag;
    int64_t done;
    int status;
    if (sim_submit(s, 0, SATED_WRITE, unit * 4096, 4096) || !sim_next(s, &tag, &done, &status))
        return -1;
    return status;
}

/* In order of their age blocks wear evenly: B of them are erased 19 times each, and in the 20th round each fails, until
 * the S in reserve have taken the place of as many and the next has none. What was programmed is what was erased and what
 * is in blocks now; after the first filling that is the host's writes times the write amplification: 1 in sequence, by
 * the closed form at random. */
static void check_worn_out(bool random)
{
    struct random r = {{1, 2, 3, 4}};
    struct sim *s = loop_open("generic,timing=off,blocks=1024,gc=fifo,spare_blocks=0.05,endurance=20,wear_limit=1");
    const struct ftl *f = &s->ftl;
    uint64_t used = spare_in_use(f), spares = counters(s).spare_blocks, written = 0;
    int status;
    while (!(status = write_one(s, random && written >= f->units ? random_below(&r, f->units) : written % f->units)))
        written++;
    CHECK_EQ(status, -EIO);
    CHECK_EQ(counters(s).read_only, 1);
    CHECK_EQ(counters(s).erases, 19 * used + spares + 1);
    CHECK_EQ(counters(s).bad_blocks, spares);
    CHECK_EQ(counters(s).spare_blocks, 0);
    CHECK_EQ(counters(s).wear_most, 20);
    CHECK_EQ(counters(s).host_write_units, written);
    uint64_t placed = (counters(s).erases + used) * f->np - f->domain->free_pages;
    CHECK_EQ(counters(s).nand_write_units, placed);
    if (random)
        CHECK_NEAR((double)written, f->units + (double)(placed - f->units) / fifo_amplification(1.28), 0.02);
    else
        CHECK_EQ(written, placed);
    /* It can still be read, and the next write is refused as well. */
    uint32_t tag;
    int64_t done;
    CHECK_EQ(sim_submit(s, 0, SATED_READ, 0, 4096), 0);
    CHECK(sim_next(s, &tag, &done, &status) && !status);
    CHECK_EQ(write_one(s, 0), -EIO);
    CHECK(state_check(s) == NULL);
    sim_free(s);
}

int main(void)
{
    check_nothing();
    check_factory();
    check_grown();
    check_worn_out(false);
    check_worn_out(true);
    return check_done();
}
