/* SPDX-License-Identifier: MIT */
/* The parts of the timing model by themselves, each against what arithmetic says of a drive that has little else. */
#include <string.h>

#include "check.h"
#include "closed_loop.h"

/* One die whose firmware takes next to nothing. */
#define BARE "generic,channels=1,dies=1,command_read_us=0.1,extra_read_us=0,transfer_us=0"

static double read_iops(const char *keys)
{
    char spec[256];
    struct random r;
    snprintf(spec, sizeof spec, BARE "%s", keys);
    struct sim *s = loop_open(spec);
    random_seed(&r, 5, 0);
    loop_fill(s, &r);
    sim_idle_until(s, sim_now_ns(s) + 1000000000);
    double iops = loop_run(s, &r, (struct loop){SATED_READ, 4096, 40000, 256, false}).iops;
    sim_free(s);
    return iops;
}

/* A die serves one read after the other; one with planes, a read of each. */
static void test_planes(void)
{
    CHECK_NEAR(read_iops(""), 1 / 60e-6, 0.005);
    CHECK_NEAR(read_iops(",planes=2"), 2 / 60e-6, 0.005);
    CHECK_NEAR(read_iops(",planes=4"), 4 / 60e-6, 0.02);
    struct sim *s;
    CHECK_EQ(sim_new(&s, "generic,planes=3"), SATED_PARSE);
    CHECK_EQ(sim_new(&s, "generic,channels=64,dies=64,planes=8"), SATED_PARSE);
}

/* The times of the presets, as their sources have them. */
static void test_nand(void)
{
    static const struct {
        const char *name;
        double read_us;
    } presets[] = {{"slc", 25}, {"mlc-2x", 50}, {"mlc-19nm", 75}, {"tlc-planar", 75}, {"tlc-3d", 50}, {"qlc", 122}};
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        char keys[64];
        snprintf(keys, sizeof keys, ",nand=%s", presets[i].name);
        CHECK_NEAR(read_iops(keys), 1e6 / presets[i].read_us, 0.005);
    }
    CHECK_NEAR(read_iops(",read_us=40,nand=qlc"), 1 / 40e-6, 0.005); /* the key says more, wherever it stands */
    struct sim *s;
    CHECK_EQ(sim_new(&s, "generic,nand=plc"), SATED_PARSE);
    struct sated_detail d;
    sated_detail_get(&d);
    CHECK(strstr(d.text, "plc") && strstr(d.text, "sated sim show nand"));
    CHECK_EQ(sim_new(&s, "nand"), SATED_PARSE); /* no drive */
    CHECK_EQ(sated_sim_add_model("nand", sated_sim_model_text("generic")), SATED_PARSE);
    CHECK(strstr(sated_sim_model_text("nand"), "[qlc]"));
}

/* No more than the link carries, in one direction or in both. */
static void test_link(void)
{
    static const uint32_t sizes[] = {4096, 131072};
    for (int i = 0; i < 2; i++) {
        struct random r;
        struct sim *s = loop_open("generic,link_mb_s=100");
        random_seed(&r, 6, 0);
        loop_fill(s, &r);
        struct loop_result read = loop_run(s, &r, (struct loop){SATED_READ, sizes[i], 4000, 32, true});
        CHECK_NEAR(read.iops * sizes[i], 100e6, 0.01);
        struct loop_result write = loop_run(s, &r, (struct loop){SATED_WRITE, sizes[i], 4000, 32, true});
        CHECK_NEAR(write.iops * sizes[i], 100e6, 0.02);
        sim_free(s);
    }
    struct sim *s = loop_open("generic,link_mb_s=100"); /* one command alone takes its time on the link, too */
    struct random r;
    random_seed(&r, 6, 0);
    double alone = loop_run(s, &r, (struct loop){SATED_READ, 131072, 100, 1, true}).seconds / 100;
    CHECK_NEAR(alone, 131072 / 100e6 + 3e-6 + 31e-6,
               0.001); /* the link, the command, 31 further pages; none holds data */
    sim_free(s);
}

struct mixed {
    double read_s, read_max_s, seconds;
};

/* Random writes at depth 64, and one read among 50 of them. */
static struct mixed mixed(const char *spec, uint64_t capacities, bool fill)
{
    struct random r;
    struct sim *s = loop_open(spec);
    uint64_t units = sim_capacity(s) / 4096, reads = 0, ios = capacities * units, submitted = 0;
    int64_t begun[64], start, now;
    struct mixed out = {0};
    random_seed(&r, 7, 0);
    if (fill)
        loop_fill(s, &r);
    else
        loop_run(s, &r, (struct loop){SATED_WRITE, 4096, units / 16, 64, true});
    start = now = sim_now_ns(s);
    for (uint64_t done = 0; done < ios;) {
        uint32_t tag = (uint32_t)submitted;
        int status;
        if (submitted >= 64 || submitted == ios) {
            if (!sim_next(s, &tag, &now, &status) || status)
                exit(1);
            if (tag == 0) {
                double seconds = (double)(now - begun[0]) / 1e9;
                out.read_s += seconds;
                out.read_max_s = seconds > out.read_max_s ? seconds : out.read_max_s;
                reads++;
            }
            done++;
        }
        if (submitted < ios) {
            begun[tag] = now;
            uint64_t unit = fill       ? random_below(&r, units)
                            : tag == 0 ? random_below(&r, units / 16)
                                       : submitted % units;
            if (sim_submit(s, tag, tag ? SATED_WRITE : SATED_READ, unit * 4096, 4096))
                exit(1);
            submitted++;
        }
    }
    out.read_s /= (double)reads;
    out.seconds = (double)(now - start) / 1e9;
    sim_free(s);
    return out;
}

/* Before garbage collection A is 1: a read waits (read_behind + 1) / 2 programs in the mean, each with its transfers, and
 * is read then. */
static void test_read_behind(void)
{
    static const double bases[] = {1, 3, 7};
    for (int i = 0; i < 3; i++) {
        char spec[128];
        snprintf(spec, sizeof spec, "generic,capacitors=on,buffer_stripes=1,read_behind=%g", bases[i]);
        struct mixed m = mixed(spec, 1, false);
        double program = 600e-6 + 3500e-6 * 8 / 4096 + 8 * 2 * 5e-6, mean = (bases[i] + 1) / 2 * program + 65e-6;
        printf("read_behind %g: %.1f us, the rule says %.1f and the command\n", bases[i], m.read_s * 1e6, mean * 1e6);
        CHECK(m.read_s > mean && m.read_s < 1.1 * mean + 100e-6);
        CHECK(m.read_max_s < 2 * mean + 300e-6);
    }
    double longest =
        mixed("generic,capacitors=on,buffer_stripes=1,read_behind=30,read_behind_ms=3", 1, true).read_max_s;
    CHECK(longest > 2.5e-3 && longest < 3.5e-3); /* the cap, and what a read costs besides */
}

/* Wu and He (FAST 2012): reads need not wait for programs that can be suspended, and writes pay little for it. */
static void test_suspend(void)
{
    struct mixed wait = mixed("generic", 2, true), stop = mixed("generic,suspend_us=50", 2, true),
                 once = mixed("generic,suspend_us=50,suspend_limit=1,channels=1,dies=1", 2, true),
                 often = mixed("generic,suspend_us=50,suspend_limit=255,channels=1,dies=1", 2, true);
    printf("reads: %.0f us behind programs, %.0f us suspending them; writes take %+.2f %%\n", wait.read_s * 1e6,
           stop.read_s * 1e6, 100 * (stop.seconds / wait.seconds - 1));
    CHECK(stop.read_s < 0.5 * wait.read_s);
    CHECK(stop.seconds < 1.04 * wait.seconds); /* their bound */
    CHECK(often.read_s <= once.read_s);
}

/* Moving a whole victim at once writes as much, and makes the longest write longer. */
static void test_whole_victim(void)
{
    struct loop_result result[2];
    for (int i = 0; i < 2; i++) {
        struct random r;
        struct sim *s = loop_open(i ? "generic,incremental=off,op=15%,pages_per_block=1024"
                                    : "generic,op=15%,pages_per_block=1024");
        random_seed(&r, 8, 0);
        loop_fill(s, &r);
        uint64_t units = sim_capacity(s) / 4096;
        loop_run(s, &r, (struct loop){SATED_WRITE, 4096, 2 * units, 16, false});
        result[i] = loop_run(s, &r, (struct loop){SATED_WRITE, 4096, units, 16, false});
        sim_free(s);
    }
    printf("whole victims: amplification %.3f for %.3f, longest write %.2f ms for %.2f\n",
           result[1].write_amplification, result[0].write_amplification, 1e3 * result[1].latency_max_s,
           1e3 * result[0].latency_max_s);
    CHECK_NEAR(result[1].write_amplification, result[0].write_amplification, 0.02);
    CHECK(result[1].latency_max_s > 1.5 * result[0].latency_max_s);
}

int main(void)
{
    test_planes();
    test_nand();
    test_link();
    test_read_behind();
    test_suspend();
    test_whole_victim();
    return check_done();
}
