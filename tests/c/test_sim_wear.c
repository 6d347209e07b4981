/* SPDX-License-Identifier: MIT */
/* Wear levelling and streams of the simulated drive: what has to hold whatever the numbers are. */
#include "check.h"
#include "closed_loop.h"
#include "sim/whole.h"

struct worn {
    uint32_t least, most;
    double variance, amplification;
};

/* A tenth of the addresses is written over and over; the rest was written once. */
static struct worn wear_out(const char *keys, double capacities)
{
    char spec[200];
    struct random r;
    struct sated_sim_counters c;
    snprintf(spec, sizeof spec, "generic,timing=off,blocks=512,pages_per_block=32,op=0.2,%s", keys);
    struct sim *s = loop_open(spec);
    uint64_t units = sim_capacity(s) / 4096;
    random_seed(&r, 9, 0);
    loop_run(s, &r, (struct loop){SATED_WRITE, 4096, units, 1, true});
    sim_reset_counters(s);
    CHECK_EQ(sim_set_capacity(s, units / 10 * 4096), 0);
    loop_run(s, &r, (struct loop){SATED_WRITE, 4096, (uint64_t)(capacities * (double)units), 1, false});
    sim_get_counters(s, &c);
    struct worn w = {UINT32_MAX, 0, 0, (double)c.nand_write_units / (double)c.host_write_units};
    double sum = 0, squares = 0;
    uint64_t erases = 0;
    for (uint32_t b = 0; b < s->ftl.blocks; b++) {
        uint32_t wear = s->ftl.wear[b];
        w.least = wear < w.least ? wear : w.least;
        w.most = wear > w.most ? wear : w.most;
        sum += wear;
        squares += (double)wear * wear;
        erases += wear;
    }
    double mean = sum / s->ftl.blocks;
    w.variance = squares / s->ftl.blocks - mean * mean;
    CHECK(state_check(s) == NULL);
    CHECK_EQ(c.mapped_units, units); /* nothing got lost on the way */
    CHECK_EQ(erases, c.erases);
    CHECK_EQ(c.nand_write_units, c.host_write_units + c.gc_write_units);
    printf("%s: erases %u to %u, variance %.1f, amplification %.3f\n", keys, w.least, w.most, w.variance,
           w.amplification);
    sim_free(s);
    return w;
}

static void check_levelling(void)
{
    static const char *const policies[] = {"greedy", "d-choices:4", "windowed:64", "cost-benefit"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        char off[80], dynamic[80], level[80];
        snprintf(off, sizeof off, "gc=%s", policies[i]);
        snprintf(dynamic, sizeof dynamic, "gc=%s,wear_levelling=dynamic", policies[i]);
        snprintf(level, sizeof level, "gc=%s,wear_levelling=static,wear_threshold=20", policies[i]);
        struct worn o = wear_out(off, 100), d = wear_out(dynamic, 100), l = wear_out(level, 100);
        CHECK(o.most - o.least > 100 && d.most - d.least > 100); /* blocks of data that nobody touches are left alone */
        CHECK(d.variance <= o.variance && d.most <= o.most);
        CHECK_NEAR(d.amplification, o.amplification, 0.01); /* it moves nothing of its own accord */
        CHECK(l.most - l.least <= 20 + 2);
        CHECK(l.amplification > o.amplification && l.amplification < 1.5 * o.amplification);
    }
}

/* Where all data is written alike there is nothing to level, and so next to nothing is moved for it. */
static void check_uniform(void)
{
    double amplification[2];
    for (int i = 0; i < 2; i++) {
        struct sim *s =
            loop_open(i ? "generic,timing=off,wear_levelling=static,wear_threshold=20" : "generic,timing=off");
        struct random r;
        random_seed(&r, 5, 0);
        uint64_t units = sim_capacity(s) / 4096;
        loop_run(s, &r, (struct loop){SATED_WRITE, 4096, units, 1, true});
        loop_run(s, &r, (struct loop){SATED_WRITE, 4096, units, 1, false});
        amplification[i] = loop_run(s, &r, (struct loop){SATED_WRITE, 4096, 2 * units, 1, false}).write_amplification;
        sim_free(s);
    }
    CHECK_NEAR(amplification[1], amplification[0], 0.005);
}

int main(void)
{
    check_levelling();
    check_uniform();
    return check_done();
}
