/* SPDX-License-Identifier: MIT */
/* A quick cache in front of the flash: rates, the moment when it is full, and what idle time gives back, all from the
 * programs, reads and transfers that they are made of. */
#include <unistd.h>

#include "check.h"
#include "closed_loop.h"
#include "sim/whole.h"

#define MS ((int64_t)1000000)
/* 16 dies that program 8 pages in 1.8 ms, or a bit to a cell three times as fast. A seventh of the drive is cache. */
#define SPEC "generic,blocks=1024,program_us=1800,slc_program_us=200,slc_read_us=25,flush_ms=10,slc_idle_ms=20"
#define FIXED SPEC ",slc_static=0.14"

static struct sated_sim_counters counters(const struct sim *s)
{
    struct sated_sim_counters c;
    sim_get_counters(s, &c);
    return c;
}

/* Pages a second, of 32 pages each, in sequence from a unit on. */
static double write_from(struct sim *s, uint64_t unit, uint64_t pages)
{
    uint32_t tag;
    int64_t done = 0, begin = sim_now_ns(s);
    int status;
    for (uint64_t i = 0; i < pages / 32; i++) {
        uint64_t at = (unit + i * 32) % (s->ftl.units / 32 * 32);
        if (i >= 16)
            CHECK(sim_next(s, &tag, &done, &status) && !status);
        CHECK_EQ(sim_submit(s, 0, SATED_WRITE, at * 4096, 131072), 0);
    }
    while (sim_next(s, &tag, &done, &status))
        ;
    return (double)(pages / 32 * 32) * 1e9 / (double)(done - begin);
}

static bool adds_up(const struct sim *s)
{
    const struct ftl *f = &s->ftl;
    struct sated_sim_counters c = counters(s);
    return c.nand_write_units == c.host_write_units + c.gc_write_units + c.folded_units &&
           c.slc_write_units <= c.host_write_units && c.mapped_units == f->mapped && state_check(s) == NULL;
}

/* Bound by programs: a stripe of all dies, in three quick programs, or in those and one of all three bits. */
static void check_cliff(void)
{
    struct sim *s = loop_open(FIXED);
    const struct model *m = &s->model;
    uint64_t stripe = 16 * m->program_units, room = s->ftl.slc.fixed;
    double quick_ns = (double)(3 * m->slc_program_ns + m->slice_ns), slow_ns = quick_ns + (double)m->program_ns;
    CHECK_NEAR((double)room, 0.14 * (double)s->ftl.units, 1e-4);
    /* Four stripes are in the buffer when the last write is answered. */
    double quick_rate = (double)stripe * 1e9 / quick_ns * (double)(room / stripe) / (double)(room / stripe - 4);
    double quick = write_from(s, 0, room / stripe * stripe);
    CHECK_NEAR(quick, quick_rate, 0.01);
    CHECK_EQ(counters(s).folded_units, 0);
    CHECK_EQ(counters(s).slc_write_units, room / stripe * stripe);
    CHECK_EQ(counters(s).slc_held_units, room / stripe * stripe);
    write_from(s, room / stripe * stripe, 2 * stripe);
    CHECK(counters(s).folded_units > 0 && counters(s).folded_units <= 2 * stripe);
    write_from(s, room / stripe * stripe + 2 * stripe, 40 * stripe); /* what the buffer holds */
    double slow = write_from(s, room / stripe * stripe + 42 * stripe, 400 * stripe);
    CHECK_NEAR(slow, (double)stripe * 1e9 / slow_ns, 0.02);
    CHECK(adds_up(s));
    printf("quick %.0f, slow %.0f pages a second\n", quick, slow);

    /* Left alone it folds a stripe at a time: the pages are read, moved twice and programmed. */
    uint64_t of_channel = stripe / m->channels, held = counters(s).slc_held_units;
    int64_t fold_ns = (int64_t)(of_channel * m->slc_read_ns / m->dies + 2 * of_channel * m->transfer_ns +
                                m->program_ns + m->slice_ns);
    sim_reset_counters(s);
    int64_t begin = s->last_command + 20 * MS;
    sim_idle_until(s, begin);
    CHECK_EQ(counters(s).folded_units, 0);
    begin = s->timing.busy > begin ? s->timing.busy : begin;
    sim_idle_until(s, begin + 10 * fold_ns);
    CHECK_EQ(counters(s).folded_units, 10 * stripe);
    CHECK_EQ(s->timing.busy, begin + 10 * fold_ns);
    sim_idle_until(s, begin + 4000 * fold_ns);
    CHECK_EQ(counters(s).folded_units, held);
    CHECK_EQ(counters(s).slc_held_units, 0);
    int64_t took = s->timing.busy - begin, whole = (int64_t)(held / stripe) * fold_ns;
    CHECK(took >= whole && took <= whole + fold_ns);
    CHECK(adds_up(s));
    /* And is quick again for as long as at first. */
    CHECK_NEAR(write_from(s, 64 * stripe, room / stripe * stripe), quick_rate, 0.01);
    CHECK_EQ(counters(s).folded_units, held);
    sim_free(s);
}

/* What is overwritten before its turn comes is never folded, however often. */
static void check_overwritten(void)
{
    struct sim *s = loop_open(FIXED);
    const struct model *m = &s->model;
    uint64_t stripe = 16 * m->program_units, half = s->ftl.slc.fixed / 2 / stripe * stripe;
    write_from(s, 0, half);
    for (int i = 0; i < 10; i++)
        CHECK_NEAR(write_from(s, 0, half), (double)stripe * 1e9 / (double)(3 * m->slc_program_ns + m->slice_ns), 0.02);
    CHECK_EQ(counters(s).folded_units, 0);
    CHECK(adds_up(s));
    /* Trimmed as well. */
    uint32_t tag;
    int64_t done;
    int status;
    CHECK_EQ(sim_submit(s, 0, SATED_TRIM, 0, (uint32_t)(half * 4096)), 0);
    CHECK(sim_next(s, &tag, &done, &status));
    sim_idle_until(s, sim_now_ns(s) + 1000 * MS);
    CHECK_EQ(counters(s).folded_units, 0);
    CHECK_EQ(counters(s).slc_held_units, 0);
    CHECK(adds_up(s));
    sim_free(s);
}

/* All free space lent: with three bits to a cell it is full when a third of the pages is written. */
static void check_dynamic(void)
{
    struct sim *s = loop_open(SPEC ",slc_dynamic=100%");
    const struct ftl *f = &s->ftl;
    uint64_t stripe = 16 * s->model.program_units, third = (uint64_t)(f->domain->free_pages - f->domain->reserve) / 3;
    write_from(s, 0, third / stripe * stripe - stripe);
    CHECK_EQ(counters(s).folded_units, 0);
    write_from(s, third / stripe * stripe - stripe, 3 * stripe);
    CHECK(counters(s).folded_units > 0 && counters(s).folded_units < 4 * stripe);
    /* As the drive fills up the cache shrinks: each page has room of three until it is folded. */
    for (uint64_t at = third; at < f->units * 9 / 10; at += 100 * stripe) {
        write_from(s, at, 100 * stripe);
        CHECK(3 * counters(s).slc_held_units <=
              f->domain->free_pages - f->domain->reserve + counters(s).slc_held_units + 2 * stripe);
    }
    CHECK(adds_up(s));
    sim_idle_until(s, sim_now_ns(s) + 60000 * MS);
    CHECK_EQ(counters(s).slc_held_units, 0);
    CHECK(adds_up(s));
    sim_free(s);
}

static int64_t read_one(struct sim *s, uint64_t unit)
{
    uint32_t tag;
    int64_t begin, done;
    int status;
    sim_idle_until(s, s->timing.busy);
    begin = sim_now_ns(s);
    CHECK_EQ(sim_submit(s, 0, SATED_READ, unit * 4096, 4096), 0);
    CHECK(sim_next(s, &tag, &done, &status));
    return done - begin;
}

/* Read where it is: quickly before it is folded, and as ever after. A state file and a cut of power change nothing. */
static void check_reads(void)
{
    static const char *const file = "./test_sim_slc.sim";
    struct sim *s = loop_open("generic,blocks=1024,slc_static=0.1,slc_idle_ms=100000,flush_ms=1");
    const struct model *m = &s->model;
    write_from(s, 0, 4096);
    sim_idle_until(s, sim_now_ns(s) + 100 * MS);
    CHECK_EQ(read_one(s, 77), (int64_t)(m->command_read_ns + m->slc_read_ns + m->transfer_ns));
    CHECK_EQ(sim_save(s, file), 0);
    sim_free(s);
    s = loop_open(file);
    m = &s->model;
    sim_power_cycle(s);
    CHECK_EQ(counters(s).slc_held_units, 4096);
    CHECK_EQ(read_one(s, 77), (int64_t)(m->command_read_ns + m->slc_read_ns + m->transfer_ns));
    sim_idle_until(s, sim_now_ns(s) + 200000 * MS);
    CHECK_EQ(counters(s).slc_held_units, 0);
    CHECK_EQ(read_one(s, 77), (int64_t)(m->command_read_ns + m->read_ns + m->transfer_ns));
    sim_purge(s);
    CHECK(state_check(s) == NULL);
    sim_free(s);
    unlink(file);
    unlink("./test_sim_slc.sim.lock");
}

int main(void)
{
    check_cliff();
    check_overwritten();
    check_dynamic();
    check_reads();
    return check_done();
}
