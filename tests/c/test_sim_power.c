/* SPDX-License-Identifier: MIT */
/* Power states and the temperature, each against what arithmetic says. */
#include <string.h>

#include "check.h"
#include "closed_loop.h"

#define STATES \
    "generic,idle_w=0.5,slumber_w=0.1,slumber_after_ms=100,slumber_enter_ms=10,slumber_exit_ms=1,devslp_w=0.005," \
    "devslp_after_ms=1000,devslp_enter_ms=50,devslp_exit_ms=20"

static double read_alone(struct sim *s)
{
    uint32_t tag;
    int64_t done, now = sim_now_ns(s);
    int status;
    if (sim_submit(s, 0, SATED_READ, 0, 4096) || !sim_next(s, &tag, &done, &status) || status)
        exit(1);
    return (double)(done - now) / 1e9;
}

/* A drive at rest draws idle power until it has entered a state, and a command waits until it has left it. */
static void test_states(void)
{
    struct sim *s = loop_open(STATES);
    read_alone(s);
    int64_t quiet = sim_now_ns(s);
    uint64_t begun = sim_energy_nj(s, quiet);
    sim_idle_until(s, quiet + 10000000000);
    /* 110 ms of idle, then slumber up to 1,050 ms, then DEVSLP. */
    double joules = 0.5 * 0.110 + 0.1 * (1.050 - 0.110) + 0.005 * (10 - 1.050);
    CHECK_NEAR((double)(sim_energy_nj(s, sim_now_ns(s)) - begun) / 1e9, joules, 1e-6);
    CHECK_NEAR(read_alone(s), 20e-3 + 3e-6, 1e-6); /* a page that holds nothing: DEVSLP's exit, and the command */
    CHECK_NEAR(read_alone(s), 3e-6, 1e-6);
    sim_idle_until(s, sim_now_ns(s) + 500000000);
    CHECK_NEAR(read_alone(s), 1e-3 + 3e-6, 1e-6); /* slumber's */
    sim_idle_until(s, sim_now_ns(s) + 1010000000);
    CHECK_NEAR(read_alone(s), 40e-3 + 20e-3 + 3e-6, 1e-6); /* it first falls asleep, and then wakes */
    sim_idle_until(s, sim_now_ns(s) + 50000000);
    CHECK_NEAR(read_alone(s), 3e-6, 1e-6);
    sim_free(s);
    /* The times after which a scaled drive falls asleep are reported ones; those of waking are latencies. */
    s = loop_open(STATES ",scale=1/8");
    read_alone(s);
    sim_idle_until(s, sim_now_ns(s) + 1000000000 / 8 + 50000000);
    CHECK_NEAR(read_alone(s), 20e-3 + 3e-6, 1e-6);
    sim_free(s);
}

/* In the end ambient + R P, and slower by what the steps say. */
static void test_heat(void)
{
    struct random r;
    struct loop_result cool, warm;
    struct loop l = {SATED_READ, 4096, 300000, 32, false};
    struct sim *s = loop_open("generic");
    random_seed(&r, 9, 0);
    cool = loop_run(s, &r, l);
    sim_free(s);
    double watts = cool.watts;
    for (int step = 0; step < 3; step++) {
        /* 25 C and 10 K/W; the steps are 1 K below what it comes to, or above. */
        double level = 25 + 10 * watts;
        char spec[256];
        snprintf(spec, sizeof spec,
                 "generic,ambient_c=25,resistance_k_w=10,time_constant_s=0.05,throttle_1_c=%.3f,throttle_1_percent=50,"
                 "throttle_2_c=%.3f,throttle_2_percent=300",
                 level + (step > 0 ? -1 : 1), level + (step > 1 ? -1 : 1));
        s = loop_open(spec);
        loop_run(s, &r, l);
        warm = loop_run(s, &r, l);
        static const double slower[] = {1, 1.5, 4};
        printf("step %d: %.0f of %.0f IOPS\n", step, warm.iops, cool.iops);
        CHECK_NEAR(warm.iops, cool.iops / slower[step], 0.002); /* it draws as much, and so stays as warm */
        sim_free(s);
    }
}

int main(void)
{
    test_states();
    test_heat();
    return check_done();
}
