/* SPDX-License-Identifier: MIT */
/* The states that a simulated drive can begin with, against the closed forms of docs/explanation/write-amplification.md,
 * against the same states made by writing, and against each other. */
#include <errno.h>
#include <unistd.h>

#include "amplification.h"
#include "check.h"
#include "closed_loop.h"
#include "sim/whole.h"

static double next_capacities(struct sim *s, struct random *r, double n)
{
    uint64_t ios = (uint64_t)(n * (double)(sim_capacity(s) / 4096));
    return loop_run(s, r, (struct loop){SATED_WRITE, 4096, ios, 1, false}).write_amplification;
}

static double after_fill(const char *keys, double capacities)
{
    char spec[200];
    struct random r;
    random_seed(&r, 17, 0);
    snprintf(spec, sizeof spec, "generic,timing=off,fill=steady,%s", keys);
    struct sim *s = loop_open(spec);
    CHECK(state_check(s) == NULL);
    CHECK_EQ(s->ftl.mapped, sim_capacity(s) / 4096);
    CHECK_EQ(s->ftl.placed, 0);
    double a = next_capacities(s, &r, capacities);
    CHECK(state_check(s) == NULL);
    sim_free(s);
    return a;
}

/* The amplification of the half capacity behind a steady fill is the closed form's. What is chosen at random has a spare
 * space that is random itself: 1 / sqrt(victims) of the half capacity is some 2 % for d = 1. */
static void check_steady(void)
{
    static const double ops[] = {0.05, 0.28, 1.15};
    static const int nps[] = {16, 128, 1024};
    static const char *const policies[] = {"greedy", "fifo", "d-choices:10", "d-choices:2", "random"};
    static const double tolerance[] = {0.01, 0.01, 0.01, 0.02, 0.03};
    for (int o = 0; o < 3; o++)
        for (int n = 0; n < 3; n++)
            for (int p = 0; p < (n == 2 ? 2 : 5); p++) {
                double alpha = 1 + ops[o];
                double form = p == 0   ? greedy_amplification(alpha, nps[n])
                              : p == 1 ? fifo_amplification(alpha)
                              : p == 4 ? alpha / (alpha - 1)
                                       : choices_amplification(alpha, nps[n], p == 2 ? 10 : 2);
                char keys[120];
                snprintf(keys, sizeof keys, "gc=%s,op=%g,pages_per_block=%d,blocks=%d", policies[p], ops[o], nps[n],
                         n == 2  ? 512
                         : p < 3 ? 2048
                                 : 8192);
                double a = after_fill(keys, 0.5);
                printf("%s: %.4f (%+.2f %%)\n", keys, a, 100 * (a / form - 1));
                CHECK_NEAR(a, form, tolerance[p]);
            }
    /* Fewer addresses are more spare space, in several domains as in one. */
    CHECK_NEAR(after_fill("op=0.07,lba=80%,domain=channel,blocks=8192", 0.5), greedy_amplification(1.07 / 0.8, 128),
               0.01);
    /* No space to speak of, where filling by writes takes for ever: three blocks of 2,048. */
    CHECK(after_fill("op=0.0015", 0.001) > 100);
}

/* Where no formula tells the distribution, it is that of a drive that was written for long. */
static void check_near(void)
{
    static const char *const policies[] = {"windowed:64", "windowed:400", "cost-benefit"};
    for (int i = 0; i < 3; i++) {
        char keys[64];
        snprintf(keys, sizeof keys, "gc=%s,op=0.15,blocks=1024", policies[i]);
        double a = after_fill(keys, 0.5), later = after_fill(keys, 6);
        printf("%s: %.4f, and later %.4f\n", keys, a, later);
        CHECK_NEAR(a, later, 0.015);
    }
}

/* Of the units that can be addressed, how many lie in the order in which they were written. */
static uint64_t in_order(const struct sim *s, uint64_t units)
{
    uint64_t n = 0;
    for (uint64_t unit = s->ftl.domains; unit < units; unit++) {
        uint32_t page = ftl_page(&s->ftl, (uint32_t)unit);
        n += page != FTL_NONE && page == ftl_page(&s->ftl, (uint32_t)(unit - s->ftl.domains)) + 1;
    }
    return n;
}

static void check_shares(void)
{
    static const struct {
        const char *fill;
        double share;
        bool ordered;
    } fillings[] = {{"fresh", 0, false},        {"sequential", 1, true},           {"sequential:50%", 0.5, true},
                    {"sequential:0", 0, false}, {"sequential:0.001", 0.001, true}, {"random", 1, false},
                    {"random:0.3", 0.3, false}};
    for (size_t i = 0; i < sizeof fillings / sizeof *fillings; i++)
        for (int channels = 0; channels < 2; channels++) {
            char spec[120];
            struct random r;
            snprintf(spec, sizeof spec, "generic,blocks=2048,fill=%s%s", fillings[i].fill,
                     channels ? ",domain=channel" : "");
            struct sim *s = loop_open(spec);
            uint64_t units = s->ftl.units, filled = (uint64_t)(fillings[i].share * (double)units);
            CHECK_EQ(s->ftl.mapped, filled);
            CHECK(state_check(s) == NULL);
            CHECK_EQ(sim_now_ns(s), 0);
            uint64_t ordered = in_order(s, units);
            if (fillings[i].ordered)
                CHECK(ordered + ordered / 64 + 16 * s->ftl.domains >= filled); /* all but the first of each block */
            else
                CHECK(ordered <= 16);
            uint64_t low = 0;
            for (uint64_t unit = 0; unit < units / 10; unit++)
                low += ftl_page(&s->ftl, (uint32_t)unit) != FTL_NONE;
            if (i == 6)
                CHECK_NEAR((double)low, 0.3 * (double)units / 10, 0.03); /* all over */
            sim_power_cycle(s);                                          /* nothing of it is in the write buffer */
            CHECK_EQ(s->ftl.mapped, filled);
            random_seed(&r, 1, 0);
            CHECK(loop_run(s, &r, (struct loop){SATED_WRITE, 4096, units / 10, 32, false}).write_amplification == 1);
            CHECK(state_check(s) == NULL);
            sim_free(s);
        }
}

/* What x210 does at once is what it does after 1.5 capacities of random writes (test_sim_x210.c). */
static void check_timed(void)
{
    struct random r;
    double iops[2];
    for (int i = 0; i < 2; i++) {
        struct sim *s = loop_open(i ? "x210,scale=1/64,fill=steady" : "x210,scale=1/64,fill=sequential");
        uint64_t units = sim_capacity(s) / 4096;
        random_seed(&r, 4, 0);
        if (!i)
            loop_run(s, &r, (struct loop){SATED_WRITE, 4096, 2 * units, 256, false});
        iops[i] = loop_run(s, &r, (struct loop){SATED_WRITE, 4096, units / 4, 256, false}).iops;
        sim_free(s);
    }
    CHECK_NEAR(iops[1], iops[0], 0.02);
}

static void refused(const char *spec, const char *part)
{
    struct sim *s;
    struct sated_detail d = {0};
    CHECK_EQ(sim_new(&s, spec), SATED_PARSE);
    sated_detail_get(&d);
    CHECK_TEXT(d.text, part);
    if (!strstr(d.text, part))
        printf("%s: %s\n", spec, d.text);
}

static void check_call(void)
{
    static const char *const file = "./test_sim_fill.sim";
    struct sim *s, *t;
    struct random r;
    random_seed(&r, 2, 0);
    refused("generic,fill=full", "fresh, sequential, random or steady");
    refused("generic,fill=steady:0.5", "fresh, sequential, random or steady");
    refused("generic,fill=random:1.5", "a share from 0 to 1");
    refused("generic,fill=random,fill=fresh", "given twice");
    s = loop_open("generic,blocks=512,seed=3,fill=steady");
    t = loop_open("generic,blocks=512,seed=3");
    /* By a call as by a key, twice as once; counters and wear go on. */
    CHECK_EQ(sim_fill(t, &(struct filling){SATED_FILL_RANDOM, 0.5}), 0);
    CHECK_EQ(t->ftl.mapped, t->ftl.units / 2);
    random_seed(&t->ftl.random, 3, 0);
    CHECK_EQ(sim_fill(t, &(struct filling){SATED_FILL_STEADY, 1}), 0);
    CHECK_EQ(t->ftl.mapped, t->ftl.units);
    double before = next_capacities(t, &r, 0.2);
    uint64_t placed = t->ftl.placed;
    CHECK(before > 2 && placed);
    CHECK_EQ(sim_fill(t, &(struct filling){SATED_FILL_FRESH, 1}), 0);
    CHECK(t->ftl.mapped == 0 && t->ftl.placed == placed);
    CHECK_EQ(sim_fill(t, &(struct filling){SATED_FILL_LAST + 1, 1}), SATED_PARSE);
    CHECK_EQ(sim_fill(t, &(struct filling){SATED_FILL_RANDOM, NAN}), SATED_PARSE);
    /* Less than a unit can be addressed: there is nothing to fill. */
    uint64_t all = sim_capacity(t);
    CHECK_EQ(sim_set_capacity(t, 512), 0);
    CHECK_EQ(sim_fill(t, &(struct filling){SATED_FILL_STEADY, 1}), 0);
    CHECK(t->ftl.mapped == 0 && state_check(t) == NULL);
    CHECK_EQ(sim_set_capacity(t, all), 0);
    CHECK_EQ(sim_submit(t, 0, SATED_WRITE, 0, 4096), 0);
    CHECK_EQ(sim_fill(t, &(struct filling){SATED_FILL_STEADY, 1}), SATED_STATE);
    sim_free(t);
    sim_free(s);
    /* A state file is filled when it is made, and is what it is from then on. */
    unlink(file);
    s = loop_open("generic,blocks=512,fill=sequential:0.25,state=./test_sim_fill.sim");
    uint64_t mapped = s->ftl.mapped;
    CHECK_EQ(mapped, s->ftl.units / 4);
    CHECK_EQ(sim_submit(s, 0, SATED_WRITE, (uint64_t)(s->ftl.units - 1) * 4096, 4096), 0);
    sim_free(s);
    s = loop_open("generic,blocks=512,fill=sequential:0.25,state=./test_sim_fill.sim");
    CHECK_EQ(s->ftl.mapped, mapped + 1);
    sim_free(s);
    s = loop_open("generic,blocks=512,state=./test_sim_fill.sim");
    CHECK_EQ(s->ftl.mapped, mapped + 1);
    sim_free(s);
    refused("./test_sim_fill.sim,fill=steady", "not fill");
    unlink(file);
}

int main(void)
{
    check_steady();
    check_near();
    check_shares();
    check_timed();
    check_call();
    return check_done();
}
