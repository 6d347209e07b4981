/* SPDX-License-Identifier: MIT */
/* Dies that fail, with parity and without: rows, rates, latencies and losses, all of which can be counted. */
#include <errno.h>
#include <unistd.h>

#include "check.h"
#include "closed_loop.h"
#include "sim/media.h"
#include "sim/whole.h"

/* Blocks of four whole rows, so that each die has as much of them as the others. */
#define PARITY "generic,parity=on,blocks=1024,pages_per_block=480,flush_ms=5"
#define MS ((int64_t)1000000)

static bool is_valid(const struct ftl *f, uint32_t block, uint32_t at)
{
    return *ftl_word(f, f->valid, block, at) >> at % 64 & 1;
}

/* Pages with data whose die is one of the two. */
static uint64_t pages_on(const struct ftl *f, uint32_t die, uint32_t other)
{
    uint64_t n = 0;
    for (uint32_t block = 0; block < f->blocks; block++)
        for (uint32_t at = 0; at < f->np; at++)
            n += is_valid(f, block, at) && (parity_die(f, block, at) == die || parity_die(f, block, at) == other);
    return n;
}

/* Each row has each die at most once, and one of them not at all; in turn that is each of them. */
static void check_rows(void)
{
    struct sim *s = loop_open(PARITY);
    const struct ftl *f = &s->ftl;
    uint32_t parities[64] = {0}, rows = f->np / f->stripe / (f->dies - 1);
    int wrong = 0;
    CHECK_EQ(f->dies, 16);
    CHECK_EQ(rows, 4);
    for (uint32_t block = 0; block < 16; block++)
        for (uint32_t row = 0; row < rows; row++) {
            uint64_t seen = 0;
            for (uint32_t i = 0; i < f->stripe * (f->dies - 1); i++) {
                uint32_t die = parity_die(f, block, row * f->stripe * (f->dies - 1) + i);
                wrong += i % f->stripe == 0 && seen >> die & 1; /* a die that was used already */
                seen |= (uint64_t)1 << die;
            }
            wrong += __builtin_popcountll(seen) != 15 || seen >> 16;
            parities[__builtin_ctzll(~seen)]++;
        }
    CHECK_EQ(wrong, 0);
    for (uint32_t die = 0; die < 16; die++)
        CHECK_EQ(parities[die], rows);
    sim_free(s);
}

/* Of 16 dies 15 take data: a drive that is bound by its programs writes 15 x 8 pages in the time of one. */
static void check_rate(void)
{
    struct random r = {{1, 2, 3, 4}};
    struct sated_sim_counters c;
    struct sim *s = loop_open(PARITY);
    const struct model *m = &s->model;
    struct loop_result run = loop_run(s, &r, (struct loop){SATED_WRITE, 131072, sim_capacity(s) / 131072, 32, true});
    double pages = 1e9 / (double)(m->program_ns + m->slice_ns) * (double)(15 * m->program_units);
    CHECK_NEAR(run.iops * 32, pages, 0.01);
    sim_get_counters(s, &c);
    CHECK_EQ(c.parity_units, c.nand_write_units / 15);
    CHECK_EQ(c.parity_units, sim_parity_units(s, c.nand_write_units));
    CHECK_EQ(m->raw_bytes, (s->ftl.blocks * m->np * m->unit_bytes * 16 + 14) / 15);
    sim_free(s);
}

static int64_t read_one(struct sim *s, uint32_t unit, int *status)
{
    uint32_t tag;
    int64_t begin, done;
    sim_idle_until(s, s->timing.busy);
    begin = sim_now_ns(s);
    CHECK_EQ(sim_submit(s, 0, SATED_READ, (uint64_t)unit * 4096, 4096), 0);
    CHECK(sim_next(s, &tag, &done, status));
    return done - begin;
}

/* A unit whose page is on that die. */
static uint32_t unit_on(const struct ftl *f, uint32_t die)
{
    for (uint32_t unit = 0; unit < f->units; unit++) {
        uint32_t page = ftl_page(f, unit);
        if (page < FTL_LOST && parity_die(f, page / f->np, page % f->np) == die)
            return unit;
    }
    return 0;
}

/* Half a drive, written in order: nothing but what was on the die is relocated. */
static void check_rebuild(void)
{
    struct random r = {{1, 2, 3, 4}};
    struct sated_sim_counters c;
    struct sim *s = loop_open(PARITY);
    const struct model *m = &s->model;
    struct ftl *f = &s->ftl;
    int status;
    loop_run(s, &r, (struct loop){SATED_WRITE, 131072, sim_capacity(s) / 131072 / 2, 32, true});
    sim_idle_until(s, sim_now_ns(s) + 100 * MS);
    sim_reset_counters(s);
    uint64_t missing = pages_on(f, 5, 5), mapped = f->mapped;
    uint32_t unit = unit_on(f, 5), blocks = f->blocks;
    /* Read from one die, then from the 15 others: the last of two dies on a channel moves its page after the first. */
    CHECK_EQ(read_one(s, unit, &status), m->command_read_ns + m->read_ns + m->transfer_ns);
    CHECK_EQ(sim_fail_die(s, 5), 0);
    CHECK(state_check(s) == NULL);
    sim_get_counters(s, &c);
    CHECK_EQ(c.degraded_units, missing);
    CHECK_NEAR((double)missing, (double)mapped / 16, 0.02);
    CHECK_EQ(c.failed_dies, 1);
    CHECK_EQ(read_one(s, unit, &status), m->command_read_ns + m->read_ns + 2 * m->transfer_ns);
    CHECK_EQ(status, 0);
    /* Each stripe of 120 pages reads 15 for each, and what 15 dies would have programmed is done by 14. */
    uint64_t moved = 120 / m->channels * 15;
    int64_t stripe_ns = (int64_t)(moved * m->read_ns / m->dies + (moved + 16) * m->transfer_ns +
                                  (m->program_ns + m->slice_ns) * 15 / 14);
    int64_t begin = s->last_command;
    sim_idle_until(s, begin + 10 * stripe_ns);
    CHECK(f->moved >= 9 * 120 && f->moved <= 11 * 120);
    sim_idle_until(s, begin + 10000 * MS);
    CHECK_EQ(f->moved, missing);
    CHECK_NEAR((double)(s->timing.busy - begin), (double)missing / 120 * (double)stripe_ns, 0.01);
    sim_get_counters(s, &c);
    CHECK_EQ(c.degraded_units, 0);
    CHECK_EQ(c.mapped_units, mapped);
    CHECK_EQ(f->sick, 0);
    /* What 15 of 15 shares of the pages were is 14 of them now. */
    CHECK_EQ(c.bad_blocks, blocks - blocks * 14 / 15);
    CHECK_EQ(pages_on(f, 5, 5), 0);
    CHECK_EQ(read_one(s, unit, &status), m->command_read_ns + m->read_ns + m->transfer_ns);
    CHECK_EQ(sim_fail_die(s, 5), SATED_STATE);
    CHECK_EQ(sim_fail_die(s, 16), SATED_PARSE);
    CHECK(state_check(s) == NULL);
    sim_free(s);
}

/* It cannot have begun before the die failed, however long the drive has been left alone by then. */
static void check_late(void)
{
    struct random r = {{1, 2, 3, 4}};
    struct sim *s = loop_open(PARITY);
    loop_run(s, &r, (struct loop){SATED_WRITE, 131072, sim_capacity(s) / 131072 / 2, 32, true});
    sim_idle_until(s, sim_now_ns(s) + 60000 * MS);
    int64_t now = sim_now_ns(s);
    CHECK_EQ(sim_fail_die(s, 5), 0);
    sim_idle_until(s, now + 1);
    CHECK_EQ(s->ftl.moved, 120);
    CHECK(s->timing.busy > now);
    sim_free(s);
}

/* Under writes alone, without any idle time: a page is rebuilt for each that the host writes. */
static void check_busy_rebuild(const char *spec)
{
    struct random r = {{1, 2, 3, 4}};
    struct sated_sim_counters c;
    struct sim *s = loop_open(spec);
    loop_fill(s, &r);
    loop_run(s, &r, (struct loop){SATED_WRITE, 4096, sim_capacity(s) / 4096, 32, false});
    CHECK_EQ(sim_fail_die(s, 3), 0);
    sim_get_counters(s, &c);
    uint64_t missing = c.degraded_units, mapped = c.mapped_units;
    loop_run(s, &r, (struct loop){SATED_WRITE, 4096, missing / 2, 32, false});
    sim_get_counters(s, &c);
    CHECK(c.degraded_units < missing / 2 && c.degraded_units > missing / 4);
    loop_run(s, &r, (struct loop){SATED_WRITE, 4096, missing, 32, false});
    sim_get_counters(s, &c);
    CHECK_EQ(c.degraded_units, 0);
    CHECK_EQ(c.mapped_units, mapped);
    CHECK_EQ(c.lost_units, 0);
    CHECK_EQ(c.read_only, 0);
    loop_run(s, &r, (struct loop){SATED_WRITE, 4096, sim_capacity(s) / 4096, 32, false});
    CHECK_EQ(s->ftl.sick, 0);
    CHECK(state_check(s) == NULL);
    sim_free(s);
}

static int end_of(struct sim *s, enum sated_op op, uint32_t unit, uint32_t bytes)
{
    uint32_t tag;
    int64_t done;
    int status;
    if (sim_submit(s, 0, op, (uint64_t)unit * 4096, bytes) || !sim_next(s, &tag, &done, &status))
        return -1;
    return status;
}

/* Of the lost units each read fails, and no other; writing or trimming them ends it. */
static void check_loss(struct sim *s, uint64_t lost)
{
    struct ftl *f = &s->ftl;
    struct sated_sim_counters c;
    uint64_t failed = 0;
    int wrong = 0;
    sim_get_counters(s, &c);
    CHECK_EQ(c.lost_units, lost);
    CHECK(state_check(s) == NULL);
    for (uint32_t unit = 0; unit < f->units; unit++) {
        bool is_lost = ftl_page(f, unit) == FTL_LOST;
        int status = end_of(s, SATED_READ, unit, 4096);
        failed += status != 0;
        wrong += status != (is_lost ? -ENODATA : 0);
        if (is_lost && failed == 1)
            CHECK_EQ(end_of(s, SATED_WRITE, unit, 512), -ENODATA); /* the rest of it cannot be read */
        else if (is_lost)
            CHECK_EQ(end_of(s, unit % 2 ? SATED_WRITE : SATED_TRIM, unit, 4096), 0);
    }
    CHECK_EQ(failed, lost);
    CHECK_EQ(wrong, 0);
    CHECK_EQ(f->lost, 1);
    CHECK_EQ(s->uncorrectable, lost + 1);
    sim_purge(s);
    CHECK_EQ(f->lost, 0);
    CHECK_EQ(f->sick & SICK_LOST, 0);
    CHECK(state_check(s) == NULL);
    sim_free(s);
}

static struct sim *open_steady(const char *spec)
{
    struct random r = {{1, 2, 3, 4}};
    struct sim *s = loop_open(spec);
    loop_fill(s, &r);
    loop_run(s, &r, (struct loop){SATED_WRITE, 4096, sim_capacity(s) / 4096, 32, false});
    return s;
}

static void check_second_die(void)
{
    struct sim *s = open_steady(PARITY);
    CHECK_EQ(sim_fail_die(s, 5), 0);
    uint64_t both = pages_on(&s->ftl, 5, 9);
    CHECK_EQ(sim_fail_die(s, 9), 0);
    check_loss(s, both);
}

static void check_without(const char *timing)
{
    static const char *const file = "./test_sim_parity.sim";
    char spec[128];
    snprintf(spec, sizeof spec, "generic,blocks=1024,timing=%s", timing);
    struct sim *s = open_steady(spec);
    media_flush(s);
    uint64_t on = pages_on(&s->ftl, 7, 7), mapped = s->ftl.mapped;
    CHECK_EQ(sim_fail_die(s, 7), 0);
    CHECK_EQ(s->ftl.mapped, mapped - on);
    CHECK_EQ(sim_save(s, file), 0);
    sim_free(s);
    s = loop_open(file);
    check_loss(s, on);
    unlink(file);
    unlink("./test_sim_parity.sim.lock");
}

/* Of four dies three would have to hold what four held: too little, so that it can only be read. */
static void check_read_only(void)
{
    struct sated_sim_counters c;
    struct sim *s = open_steady("generic,parity=on,channels=2,dies=2,blocks=512");
    CHECK_EQ(sim_fail_die(s, 0), 0);
    sim_get_counters(s, &c);
    CHECK_EQ(c.read_only, 1);
    CHECK_EQ(c.lost_units, 0);
    CHECK_EQ(end_of(s, SATED_WRITE, 1, 4096), -EIO);
    CHECK_EQ(end_of(s, SATED_TRIM, 1, 4096), -EIO);
    CHECK_EQ(end_of(s, SATED_READ, 1, 4096), 0);
    CHECK_EQ(end_of(s, SATED_FLUSH, 0, 0), 0);
    sim_idle_until(s, sim_now_ns(s) + 1000 * MS);
    CHECK(state_check(s) == NULL);
    sim_free(s);
}

int main(void)
{
    check_rows();
    check_rate();
    check_rebuild();
    check_late();
    check_busy_rebuild(PARITY);
    check_busy_rebuild(PARITY ",timing=off,streams=2,wear_levelling=static");
    check_busy_rebuild("generic,parity=on,channels=2,dies=8,domain=channel,blocks=1024,pages_per_block=448");
    check_second_die();
    check_without("on");
    check_without("off");
    check_read_only();
    return check_done();
}
