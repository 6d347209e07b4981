/* SPDX-License-Identifier: MIT */
/* sim:x210 against what TweakTown measured on the real drive (SanDisk X210 over-provisioning review): 4K random at 256
 * outstanding, at 100 % and at 80 % of the LBAs; and the mechanism behind it, so that it is not a table. */
#include "check.h"
#include "closed_loop.h"
#include "core/params.h"

struct steady {
    double write_iops, write_watts, amplification, read_iops;
};

/* Filled twice, then written at random for `warm` accessible capacities, then measured for one more. */
static struct steady steady_state(double lba, double warm, const char *more)
{
    char spec[128];
    struct random r;
    snprintf(spec, sizeof spec, "x210,scale=1/64,lba=%g%s", lba, more);
    struct sim *s = loop_open(spec);
    uint64_t units = sim_capacity(s) / 4096;
    random_seed(&r, 21, (uint64_t)(lba * 100));
    loop_fill(s, &r);
    loop_run(s, &r, (struct loop){SATED_WRITE, 4096, (uint64_t)(warm * (double)units), 256, false});
    struct loop_result before = loop_run(s, &r, (struct loop){SATED_WRITE, 4096, units / 2, 256, false});
    struct loop_result write = loop_run(s, &r, (struct loop){SATED_WRITE, 4096, units, 256, false});
    CHECK_NEAR(before.write_amplification, write.write_amplification, 0.02); /* it is level */
    loop_run(s, &r, (struct loop){SATED_READ, 4096, units / 8, 256, false}); /* changed map pages leave the cache */
    struct loop_result read = loop_run(s, &r, (struct loop){SATED_READ, 4096, units / 2, 256, false});
    /* Little's law in a closed loop; the ends, where fewer are outstanding, are a small part. */
    CHECK_NEAR(write.latency_sum_s / write.seconds, 256, 0.002);
    printf("lba %.1f%s: write %.0f IOPS, %.3f W, %.0f IOPS/W, amplification %.3f; read %.0f IOPS\n", lba, more,
           write.iops, write.watts, write.iops / write.watts, write.write_amplification, read.iops);
    sim_free(s);
    return (struct steady){write.iops, write.watts, write.write_amplification, read.iops};
}

static double of_model(const struct params *p, const char *path)
{
    double v = -1;
    CHECK_EQ(params_get_number(p, path, &v), 1);
    return v;
}

int main(void)
{
    struct params *p;
    CHECK_EQ(params_parse(&p, "x210", sated_sim_model_text("x210")), 0);
    /* The model carries the published figures, as printed in the review. */
    CHECK_EQ(of_model(p, "expected.write_4k_iops.lba_100"), 3871);
    CHECK_EQ(of_model(p, "expected.write_4k_iops.lba_80"), 15908);
    CHECK_EQ(of_model(p, "expected.read_4k_iops.lba_100"), 41826);
    CHECK_EQ(of_model(p, "expected.read_4k_iops.lba_80"), 68903);
    CHECK_EQ(of_model(p, "expected.write_4k_power_w.lba_100"), 2.32);
    CHECK_EQ(of_model(p, "expected.write_4k_power_w.lba_80"), 2.42);
    CHECK_EQ(of_model(p, "expected.write_4k_iops_per_w.lba_100"), 1673);
    CHECK_EQ(of_model(p, "expected.write_4k_iops_per_w.lba_80"), 6302);

    struct steady full = steady_state(1, 1.5, ""), most = steady_state(0.8, 2, "");
    CHECK_NEAR(full.write_iops, 3871, 0.10);
    CHECK_NEAR(most.write_iops, 15908, 0.10);
    CHECK_NEAR(most.write_iops / full.write_iops, 4.11, 0.10);
    CHECK_NEAR(full.read_iops, 41826, 0.05);
    CHECK_NEAR(most.read_iops, 68903, 0.05);
    CHECK(fabs(full.write_watts - 2.32) <= 0.15);
    CHECK(fabs(most.write_watts - 2.42) <= 0.15);
    CHECK_NEAR(full.write_iops / full.write_watts, 1673, 0.10);
    CHECK_NEAR(most.write_iops / most.write_watts, 6302, 0.10);

    /* 1/IOPS = c + s m + p A at other settings, with c and p from the two above. */
    double m = of_model(p, "map.miss_write_us.value") / 1e6, coverage = of_model(p, "map.coverage.value");
    double full_rest = 1 / full.write_iops - (1 - coverage) * m, most_rest = 1 / most.write_iops;
    double slope = (full_rest - most_rest) / (full.amplification - most.amplification);
    double command = most_rest - slope * most.amplification;
    printf("c %.2f us, p %.2f us for each unit programmed, m %.0f us\n", command * 1e6, slope * 1e6, m * 1e6);
    CHECK(command > 0 && slope > 0);
    static const double others[] = {0.9, 0.7};
    for (int i = 0; i < 2; i++) {
        struct steady other = steady_state(others[i], 2, "");
        double share = coverage < others[i] ? 1 - coverage / others[i] : 0;
        CHECK_NEAR(1 / other.write_iops, command + share * m + slope * other.amplification, 0.05);
    }

    /* Programs that take 20 % longer cost something, but not all of it. */
    char slower[64];
    snprintf(slower, sizeof slower, ",program_us=%g", 1.2 * of_model(p, "flash.program_us.value"));
    double full_loss = 1 - steady_state(1, 1.5, slower).write_iops / full.write_iops;
    double most_loss = 1 - steady_state(0.8, 2, slower).write_iops / most.write_iops;
    printf("slower programs: -%.1f %% and -%.1f %%\n", 100 * full_loss, 100 * most_loss);
    CHECK(full_loss >= 0.05 && full_loss <= 0.17);
    CHECK(most_loss >= 0.05 && most_loss <= 0.17);
    params_free(p);
    return check_done();
}
