/* SPDX-License-Identifier: MIT */
/* Write amplification of sim:generic against closed forms for uniform random writes:
 * fifo: A = alpha / (alpha + W0(-alpha e^-alpha)), that is the root of 1/A = 1 - e^(-alpha/A) (Xiang and Kurkoski 2011);
 * greedy, Np pages a block: alpha / A = H(Np) - H(X), A = Np / (Np - X) (Desnoyers 2012, Bux and Iliadis 2010);
 * random victim: A = alpha / (alpha - 1);
 * TRIM with probability q: alpha over the fraction in use, (1 - 2q) / (1 - q) (Frankie et al. 2012). */
#include "check.h"
#include "closed_loop.h"

static double fifo_amplification(double alpha)
{
    double a = alpha / (alpha - 1);
    for (int i = 0; i < 100000; i++)
        a = 1 / (1 - exp(-alpha / a));
    return a;
}

/* H(n) for whole n, and linear in between. */
static double harmonic(double x)
{
    double h = 0;
    int whole = (int)x;
    for (int i = 1; i <= whole; i++)
        h += 1.0 / i;
    return h + (x - whole) / (whole + 1);
}

static double greedy_amplification(double alpha, int np)
{
    double low = 0, high = np * (1 - 1e-9);
    for (int i = 0; i < 100; i++) {
        double x = (low + high) / 2, a = np / (np - x);
        if (alpha / a < harmonic(np) - harmonic(x))
            low = x;
        else
            high = x;
    }
    return np / (np - low);
}

static double measured(const char *gc, double op, int np, uint64_t seed)
{
    char spec[160];
    struct random r;
    snprintf(spec, sizeof spec, "generic,timing=off,blocks=2048,gc=%s,op=%g,pages_per_block=%d,seed=%d", gc, op, np,
             (int)seed);
    struct sim *s = loop_open(spec);
    uint64_t units = sim_capacity(s) / 4096;
    random_seed(&r, seed, 0);
    loop_run(s, &r, (struct loop){SATED_WRITE, 4096, units, 1, true});
    loop_run(s, &r, (struct loop){SATED_WRITE, 4096, 2 * units, 1, false});
    struct loop_result run = loop_run(s, &r, (struct loop){SATED_WRITE, 4096, 2 * units, 1, false});
    sim_free(s);
    return run.write_amplification;
}

static void check_closed_forms(void)
{
    static const double ops[] = {0.07, 0.28};
    static const int nps[] = {64, 128, 256};
    /* The excerpt that the derivation prints, against this test's own arithmetic. */
    CHECK_NEAR(greedy_amplification(1.07, 64), 7.0099, 1e-4);
    CHECK_NEAR(greedy_amplification(1.28, 128), 2.4412, 1e-4);
    CHECK_NEAR(fifo_amplification(1.07), 7.8172, 1e-4);
    CHECK_NEAR(fifo_amplification(1.3), 2.3642, 1e-4);
    for (int o = 0; o < 2; o++)
        for (int n = 0; n < 3; n++) {
            double greedy = measured("greedy", ops[o], nps[n], 7), fifo = measured("fifo", ops[o], nps[n], 7);
            double greedy_form = greedy_amplification(1 + ops[o], nps[n]), fifo_form = fifo_amplification(1 + ops[o]);
            printf("op %.2f Np %3d: greedy %.4f (%+.3f %%), fifo %.4f (%+.3f %%)\n", ops[o], nps[n], greedy,
                   100 * (greedy / greedy_form - 1), fifo, 100 * (fifo / fifo_form - 1));
            CHECK_NEAR(greedy, greedy_form, 0.005);
            CHECK_NEAR(fifo, fifo_form, 0.005);
        }
}

static void check_other_policies(void)
{
    double greedy = greedy_amplification(1.28, 128), random_victim = 1.28 / 0.28;
    /* A random choice makes the spare space of the victims itself random: two capacities average it to about 1 %. */
    CHECK_NEAR(measured("random", 0.28, 128, 3), random_victim, 0.02);
    CHECK_NEAR(measured("d-choices:1", 0.28, 128, 3), random_victim, 0.02);
    /* The best of very many is the best of all; of two it lies between. */
    CHECK_NEAR(measured("d-choices:1000", 0.28, 128, 3), greedy, 0.005);
    double two = measured("d-choices:2", 0.28, 128, 3);
    CHECK(two > greedy && two < random_victim);
    /* Under uniform writes age says nothing that the count does not: no better than greedy, no worse than fifo. */
    double benefit = measured("cost-benefit", 0.28, 128, 3);
    CHECK(benefit > 0.995 * greedy && benefit < 1.005 * fifo_amplification(1.28));
}

/* Each request is a TRIM of a unit in use with probability q, else a write anywhere. */
static void check_trim(void)
{
    const double q = 0.1, alpha = 1.07, in_use = (1 - 2 * q) / (1 - q);
    struct sim *s = loop_open("generic,timing=off,blocks=2048,op=0.07");
    struct sated_sim_counters c;
    struct random r;
    uint64_t units = sim_capacity(s) / 4096, used = 0;
    uint32_t *holder = malloc(units * sizeof *holder), *place = malloc(units * sizeof *place);
    random_seed(&r, 11, 0);
    memset(place, 0xff, units * sizeof *place);
    for (uint64_t i = 0; holder && i < 12 * units; i++) {
        uint32_t tag, unit;
        int64_t now;
        int status;
        bool trim = i > units && random_below(&r, 1000) < (uint64_t)(q * 1000);
        unit = i < units ? (uint32_t)i : trim ? holder[random_below(&r, used)] : (uint32_t)random_below(&r, units);
        if (trim) {
            holder[place[unit]] = holder[--used];
            place[holder[used]] = place[unit];
            place[unit] = UINT32_MAX;
        } else if (place[unit] == UINT32_MAX) {
            place[unit] = (uint32_t)used;
            holder[used++] = unit;
        }
        if (i == 9 * units) /* the fraction in use approaches its limit as e^-(1 - q)t */
            sim_reset_counters(s);
        sim_submit(s, 0, trim ? SATED_TRIM : SATED_WRITE, (uint64_t)unit * 4096, 4096);
        sim_next(s, &tag, &now, &status);
    }
    sim_get_counters(s, &c);
    CHECK_EQ(c.mapped_units, used);
    CHECK_NEAR((double)used / (double)units, in_use, 0.01);
    CHECK_NEAR((double)c.nand_write_units / (double)c.host_write_units, greedy_amplification(alpha / in_use, 128),
               0.01);
    free(holder);
    free(place);
    sim_free(s);
}

static void check_sequential(void)
{
    struct sim *s = loop_open("generic,timing=off,op=0.07");
    struct random r = {{1, 2, 3, 4}};
    uint64_t units = sim_capacity(s) / 4096;
    struct loop_result run = loop_run(s, &r, (struct loop){SATED_WRITE, 131072, units / 8, 4, true});
    CHECK_NEAR(run.write_amplification, 1, 0.001);
    sim_free(s);
}

int main(void)
{
    check_closed_forms();
    check_other_policies();
    check_trim();
    check_sequential();
    return check_done();
}
