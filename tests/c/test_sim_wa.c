/* SPDX-License-Identifier: MIT */
/* Write amplification of sim:generic against the closed forms of amplification.h. `test_sim_wa table` measures all of
 * docs/explanation/write-amplification.md and prints it; without, a part that takes seconds. */
#include "amplification.h"
#include "check.h"
#include "closed_loop.h"

/* What is measured, and how. */
struct cell {
    const char *gc;
    int op_percent, np, blocks;
    double r, f;          /* share r of the writes goes to the lowest share f of the addresses; 0: they are uniform */
    const char *more;     /* keys of the URI */
    double warm, measure; /* capacities */
};

static struct sim *open_cell(const struct cell *c)
{
    char spec[200];
    snprintf(spec, sizeof spec, "generic,timing=off,blocks=%d,gc=%s,op=%d%%,pages_per_block=%d,seed=7%s%s", c->blocks,
             c->gc, c->op_percent, c->np, c->more ? "," : "", c->more ? c->more : "");
    return loop_open(spec);
}

static void write_one(struct sim *s, enum sated_op op, uint64_t unit)
{
    uint32_t tag;
    int64_t now;
    int status;
    if (sim_submit(s, 0, op, unit * 4096, 4096) || !sim_next(s, &tag, &now, &status))
        exit(1);
}

static void write_skewed(struct sim *s, struct random *r, const struct cell *c, uint64_t n)
{
    uint64_t units = sim_capacity(s) / 4096, hot = (uint64_t)(c->f * (double)units + 0.5);
    uint64_t share = (uint64_t)(c->r * 1e9);
    for (uint64_t i = 0; i < n; i++) {
        bool is_hot = random_below(r, 1000000000) < share;
        write_one(s, SATED_WRITE, is_hot ? random_below(r, hot) : hot + random_below(r, units - hot));
    }
}

/* Filled sequentially by writes, warmed up, measured. */
static double measured(const struct cell *c)
{
    struct sim *s = open_cell(c);
    struct sated_sim_counters counters;
    struct random r;
    uint64_t units = sim_capacity(s) / 4096;
    random_seed(&r, 7, 0);
    loop_run(s, &r, (struct loop){SATED_WRITE, 4096, units, 1, true});
    for (int i = 0; i < 2; i++) {
        uint64_t n = (uint64_t)((i ? c->measure : c->warm) * (double)units);
        sim_reset_counters(s);
        if (c->r > 0)
            write_skewed(s, &r, c, n);
        else
            loop_run(s, &r, (struct loop){SATED_WRITE, 4096, n, 1, false});
    }
    sim_get_counters(s, &counters);
    sim_free(s);
    return (double)counters.nand_write_units / (double)counters.host_write_units;
}

/* Each request is a TRIM of a unit in use with probability q, else a write anywhere. */
static double measured_trim(const struct cell *c, double q)
{
    struct sim *s = open_cell(c);
    struct sated_sim_counters counters;
    struct random r;
    uint64_t units = sim_capacity(s) / 4096, used = 0, share = (uint64_t)(q * 1e9);
    uint32_t *holder = malloc(units * sizeof *holder), *place = malloc(units * sizeof *place);
    if (!holder || !place)
        exit(1);
    random_seed(&r, 11, 0);
    memset(place, 0xff, units * sizeof *place);
    uint64_t warm = (uint64_t)(c->warm * (double)units), end = warm + (uint64_t)(c->measure * (double)units);
    for (uint64_t i = 0; i < end; i++) {
        bool trim = i > units && random_below(&r, 1000000000) < share;
        uint64_t unit = i < units ? i : trim ? holder[random_below(&r, used)] : random_below(&r, units);
        if (trim) {
            holder[place[unit]] = holder[--used];
            place[holder[used]] = place[unit];
            place[unit] = UINT32_MAX;
        } else if (place[unit] == UINT32_MAX) {
            place[unit] = (uint32_t)used;
            holder[used++] = (uint32_t)unit;
        }
        if (i == warm)
            sim_reset_counters(s);
        write_one(s, trim ? SATED_TRIM : SATED_WRITE, unit);
    }
    sim_get_counters(s, &counters);
    CHECK_EQ(counters.mapped_units, used);
    CHECK_NEAR((double)used / (double)units, (1 - 2 * q) / (1 - q), 0.01);
    free(holder);
    free(place);
    sim_free(s);
    return (double)counters.nand_write_units / (double)counters.host_write_units;
}

/* A row of the table, and whether it is as near as it has to be. */
static void compare(const char *what, double a, double form, double tolerance)
{
    printf("| %s | %.4f | %.4f | %+.2f %% |\n", what, form, a, 100 * (a / form - 1));
    CHECK_NEAR(a, form, tolerance);
}

static void heading(const char *title, const char *columns, const char *rule)
{
    printf("\n### %s\n\n| %s | formula | measured | difference |\n|%s|---|---|---|\n", title, columns, rule);
}

/* Uniform writes: 1.5 alpha capacities and more, for space that is not used at first. Where victims are drawn the blocks'
 * ages take longer to spread, and the spare space of the victims is random itself: 1/sqrt(victims), so that there have
 * to be many. */
static struct cell uniform(const char *gc, int op_percent, int np)
{
    struct cell c = {.gc = gc, .op_percent = op_percent, .np = np};
    c.blocks = np <= 32 ? 16384 : np <= 256 ? 2048 : np <= 1024 ? 1024 : 512;
    c.measure = op_percent > 50 ? 4 : 2;
    c.warm = 1 + 1.5 * (1 + op_percent / 100.0);
    return c;
}

static void table_of_two(void)
{
    static const int ops[] = {5, 7, 10, 15, 20, 28, 40, 50, 65, 80, 100, 115},
                     nps[] = {16, 32, 64, 128, 256, 1024, 4096};
    for (int policy = 0; policy < 2; policy++) {
        heading(policy ? "Greedy" : "FIFO", "OP | Np", "---|---");
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
            for (size_t n = 0; n < sizeof nps / sizeof *nps; n++) {
                char what[40];
                double alpha = 1 + ops[o] / 100.0;
                struct cell c = uniform(policy ? "greedy" : "fifo", ops[o], nps[n]);
                snprintf(what, sizeof what, "%d %% | %d", ops[o], nps[n]);
                compare(what, measured(&c), policy ? greedy_amplification(alpha, nps[n]) : fifo_amplification(alpha),
                        0.005);
            }
    }
}

static void table_of_choices(void)
{
    static const int choices[] = {1, 2, 3, 5, 10, 30}, ops[] = {7, 28, 50, 115}, nps[] = {16, 128};
    heading("Random victim (d = 1) and the best of d", "d | OP | Np", "---|---|---");
    for (size_t d = 0; d < sizeof choices / sizeof *choices; d++)
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
            for (size_t n = 0; n < sizeof nps / sizeof *nps; n++) {
                char what[40], gc[24] = "random";
                double alpha = 1 + ops[o] / 100.0;
                if (choices[d] > 1)
                    snprintf(gc, sizeof gc, "d-choices:%d", choices[d]);
                struct cell c = uniform(gc, ops[o], nps[n]);
                c.blocks = nps[n] == 16 ? 65536 : choices[d] > 2 ? 8192 : 32768;
                c.warm = 6;
                c.measure = 3;
                snprintf(what, sizeof what, "%d | %d %% | %d", choices[d], ops[o], nps[n]);
                compare(what, measured(&c),
                        choices[d] == 1 ? alpha / (alpha - 1) : choices_amplification(alpha, nps[n], choices[d]),
                        choices[d] > 2 ? 0.005 : 0.01);
            }
}

static const struct {
    double r, f;
} skews[] = {{0.6, 0.4}, {0.8, 0.2}, {0.9, 0.1}, {0.95, 0.05}};
#define SKEWS (sizeof skews / sizeof *skews)

static struct cell skewed(const char *gc, int op_percent, size_t skew, const char *more)
{
    struct cell c = uniform(gc, op_percent, 32); /* many blocks: those of the hot data have to be many as well */
    c.r = skews[skew].r;
    c.f = skews[skew].f;
    c.more = more;
    c.warm = 2.5 * (1 + op_percent / 100.0) * (1 - c.f) / (1 - c.r); /* until cold data has been written over twice */
    c.measure = c.warm / 3;
    return c;
}

/* Global greedy over perfectly separated streams: as many pages are spare in each as if it were alone. */
static struct cell separated(int op_percent, size_t skew)
{
    static const char *const hot[] = {"hot=0.4", "hot=0.2", "hot=0.1", "hot=0.05"};
    struct cell c = skewed("greedy", op_percent, skew, hot[skew]);
    if (c.f < 0.1)
        c.blocks *= 2; /* the open blocks and the victim count among the spare ones of few hot blocks */
    return c;
}

static void table_of_skews(void)
{
    static const int ops[] = {7, 28, 60, 115};
    heading("Hot and cold data in the same blocks, FIFO", "writes to hot | hot addresses | OP", "---|---|---");
    for (size_t k = 0; k < SKEWS; k++)
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
            char what[60];
            struct cell c = skewed("fifo", ops[o], k, NULL);
            snprintf(what, sizeof what, "%g %% | %g %% | %d %%", 100 * c.r, 100 * c.f, ops[o]);
            compare(what, measured(&c), hot_cold_amplification(1 + ops[o] / 100.0, c.r, c.f), 0.01);
        }
    heading("Hot and cold data perfectly separated, greedy over all blocks: the uniform value",
            "writes to hot | hot addresses | OP", "---|---|---");
    for (size_t k = 0; k < SKEWS; k++)
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
            char what[60];
            struct cell c = separated(ops[o], k);
            snprintf(what, sizeof what, "%g %% | %g %% | %d %%", 100 * c.r, 100 * c.f, ops[o]);
            compare(what, measured(&c), greedy_amplification(1 + ops[o] / 100.0, c.np), 0.01);
        }
}

static void table_of_trims(void)
{
    static const double shares[] = {0.02, 0.05, 0.1, 0.2, 0.3};
    static const int ops[] = {7, 28, 50};
    heading("TRIM, greedy: the share in use is (1 - 2q) / (1 - q)", "q | OP", "---|---");
    for (size_t q = 0; q < sizeof shares / sizeof *shares; q++)
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
            char what[40];
            double in_use = (1 - 2 * shares[q]) / (1 - shares[q]);
            struct cell c = uniform("greedy", ops[o], 128);
            c.blocks = 4096;
            c.warm = 12;
            c.measure = 6;
            snprintf(what, sizeof what, "%g | %d %%", shares[q], ops[o]);
            compare(what, measured_trim(&c, shares[q]), greedy_amplification((1 + ops[o] / 100.0) / in_use, 128),
                    0.005);
        }
}

static void check_fast(void)
{
    static const int ops[] = {7, 28, 115}, nps[] = {64, 256};
    /* The excerpt that the derivations print, against this test's own arithmetic. */
    CHECK_NEAR(greedy_amplification(1.07, 64), 7.0099, 1e-4);
    CHECK_NEAR(greedy_amplification(1.28, 128), 2.4412, 1e-4);
    CHECK_NEAR(fifo_amplification(1.07), 7.8172, 1e-4);
    CHECK_NEAR(fifo_amplification(1.3), 2.3642, 1e-4);
    for (int o = 0; o < 3; o++)
        for (int n = 0; n < 2; n++) {
            struct cell greedy = uniform("greedy", ops[o], nps[n]), fifo = uniform("fifo", ops[o], nps[n]);
            greedy.blocks = fifo.blocks = 1024;
            compare("greedy", measured(&greedy), greedy_amplification(1 + ops[o] / 100.0, nps[n]), 0.005);
            compare("fifo", measured(&fifo), fifo_amplification(1 + ops[o] / 100.0), 0.005);
        }
    struct cell c = uniform("d-choices:5", 28, 32);
    compare("d = 5", measured(&c), choices_amplification(1.28, 32, 5), 0.005);
    c = uniform("random", 28, 16);
    compare("random", measured(&c), 1.28 / 0.28, 0.01);
    c = skewed("fifo", 28, 1, NULL);
    c.blocks = 4096;
    c.warm = 8;
    compare("hot and cold, fifo", measured(&c), hot_cold_amplification(1.28, 0.8, 0.2), 0.01);
    c = separated(28, 1);
    c.blocks = 4096;
    c.warm = 8;
    compare("perfectly separated", measured(&c), greedy_amplification(1.28, 32), 0.01);
    c = uniform("greedy", 7, 64);
    c.blocks = 1024;
    c.warm = 9; /* the fraction in use approaches its limit as e^-(1 - q)t */
    c.measure = 3;
    compare("TRIM", measured_trim(&c, 0.1), greedy_amplification(1.07 * 0.9 / 0.8, 64), 0.005);
}

/* What has no formula lies where it has to. */
static void check_order(void)
{
    struct cell uniform_cell = uniform("greedy", 28, 128), c = uniform("d-choices:1", 28, 16), random_cell = c;
    double greedy = measured(&uniform_cell);
    random_cell.gc = "random";
    CHECK(measured(&c) == measured(&random_cell)); /* one choice is a random one */
    /* Under uniform writes age says nothing that the count does not: no better than greedy, no worse than fifo. */
    c = uniform("cost-benefit", 28, 128);
    double benefit = measured(&c);
    CHECK(benefit > 0.995 * greedy && benefit < 1.005 * fifo_amplification(1.28));
    /* Greedy among the W oldest blocks (Hu et al. 2009): fifo where W is one, greedy where it is all, and between. */
    static const char *const windows[] = {"fifo",        "windowed:1",   "windowed:16",
                                          "windowed:64", "windowed:256", "windowed:4096"};
    double a[6];
    for (int i = 0; i < 6; i++) {
        c = uniform(windows[i], 28, 128);
        a[i] = measured(&c);
        CHECK(i < 2 || a[i] < a[i - 1]);
    }
    CHECK(a[1] == a[0]);
    CHECK_NEAR(a[5], greedy, 0.002); /* but for the order of equals */
    /* Skew without separation is worse than none; told apart by their lives, hot and cold come nearer to it. */
    struct cell skew = skewed("greedy", 28, 1, NULL), apart = skewed("greedy", 28, 1, "streams=6");
    skew.blocks = apart.blocks = 4096;
    skew.warm = apart.warm = 8;
    double mixed = measured(&skew), lives = measured(&apart);
    CHECK(mixed > 1.1 * greedy_amplification(1.28, 32) && lives < 0.97 * mixed);
    /* With space of their own it takes less than the uniform value (Desnoyers 2012): the coldest blocks are left alone. */
    apart = skewed("cost-benefit", 28, 1, "hot=20%");
    apart.blocks = 1024;
    apart.warm = 8;
    CHECK(measured(&apart) < 0.85 * greedy);
}

/* A filled drive writes on without moving anything until its spare space is used up, then meets blocks that are all as
 * full, overshoots and rings, and is steady soon; one that was erased has more spare space than it will ever have again,
 * and loses it over four to six capacities. */
static void check_starts(void)
{
    double filled[40], erased[24], steady = greedy_amplification(1.28, 128);
    for (int i = 0; i < 2; i++) {
        struct sim *s = loop_open(i ? "generic,timing=off,fill=sequential" : "generic,timing=off");
        uint64_t units = sim_capacity(s) / 4096;
        struct random r;
        random_seed(&r, 5, 0);
        for (int k = 0; k < (i ? 40 : 24); k++)
            (i ? filled : erased)[k] =
                loop_run(s, &r, (struct loop){SATED_WRITE, 4096, units / (i ? 20 : 4), 1, false}).write_amplification;
        sim_free(s);
    }
    double most = 0, dip = 9;
    int peak = 0;
    for (int k = 0; k < 40; k++)
        if (filled[k] > most) {
            most = filled[k];
            peak = k;
        }
    for (int k = peak; k < 40; k++)
        dip = filled[k] < dip ? filled[k] : dip;
    CHECK(filled[4] == 1 && filled[6] > 2); /* 28 % are spare */
    CHECK(peak <= 8 && most > 1.15 * steady && dip < 0.97 * steady);
    for (int k = 26; k < 40; k++) /* alpha - 1 and a capacity more */
        CHECK_NEAR(filled[k], steady, 0.02);
    CHECK(erased[4] == 1 && erased[5] > 1); /* 1.28 capacities, whatever is written over */
    for (int k = 5; k < 23; k++)
        CHECK(erased[k + 1] > 0.995 * erased[k]);
    CHECK(erased[11] < 0.9 * steady); /* after three */
    CHECK(erased[15] < 0.97 * steady);
    CHECK(erased[19] > 0.97 * steady);
    CHECK_NEAR(erased[23], steady, 0.02);
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

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "table")) {
        table_of_two();
        table_of_choices();
        table_of_skews();
        table_of_trims();
    } else {
        check_fast();
        check_order();
        check_starts();
        check_sequential();
    }
    return check_done();
}
