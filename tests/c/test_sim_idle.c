/* SPDX-License-Identifier: MIT */
/* Garbage collection of a drive that is left alone, against the arithmetic of its stripes and of its pages. */
#include "check.h"
#include "closed_loop.h"
#include "sim/whole.h"

#define SPEC "generic,blocks=1024,flush_ms=50,idle_gc_ms=200,idle_gc_free=0.5"
#define MS ((int64_t)1000000)

static uint64_t free_pages(const struct sim *s)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->ftl.domains; i++)
        n += s->ftl.domain[i].free_pages;
    return n;
}

static struct sim *open_steady(const char *spec, struct random *r)
{
    struct sim *s = loop_open(spec);
    random_seed(r, 5, 0);
    loop_fill(s, r);
    loop_run(s, r, (struct loop){SATED_WRITE, 4096, 2 * sim_capacity(s) / 4096, 32, false});
    sim_reset_counters(s);
    return s;
}

/* A stripe of relocations takes its reads, two transfers of each page, and a program: all of them known. */
static void check_rate(void)
{
    struct random r;
    struct sim *s = open_steady(SPEC, &r);
    const struct model *m = &s->model;
    uint64_t of_channel = m->program_units * m->dies, of_stripe = of_channel * m->channels;
    int64_t stripe_ns =
        (int64_t)(of_channel * m->read_ns / m->dies + 2 * of_channel * m->transfer_ns + m->program_ns + m->slice_ns);
    int64_t begin = sim_now_ns(s), work = 100 * MS;
    uint64_t host = s->ftl.domain->placed; /* is in the first of them already */
    sim_idle_until(s, begin + 200 * MS);
    CHECK_EQ(s->ftl.moved, 0); /* not before it has been idle for so long */
    /* In two steps, as whoever samples its power does. */
    sim_idle_until(s, begin + 200 * MS + work / 3);
    sim_idle_until(s, begin + 200 * MS + work);
    CHECK_EQ(s->ftl.moved, (uint64_t)((work + stripe_ns - 1) / stripe_ns) * of_stripe - host);
    CHECK(s->timing.busy >= sim_now_ns(s) && s->timing.busy < sim_now_ns(s) + stripe_ns);
    CHECK(state_check(s) == NULL);
    sim_free(s);
}

/* What the erased blocks give and the relocations take is what there is more of; until that is used up nothing is
 * relocated for the host. */
static void check_burst(const char *spec)
{
    struct random r;
    struct sim *s = open_steady(spec, &r);
    const struct model *m = &s->model;
    int64_t steady = sim_now_ns(s);
    struct loop_result before = loop_run(s, &r, (struct loop){SATED_WRITE, 4096, 20000, 32, false});
    sim_idle_until(s, sim_now_ns(s) + 60 * MS); /* what is in the buffer is programmed */
    sim_reset_counters(s);
    uint64_t had = free_pages(s), mapped = s->ftl.mapped;
    sim_idle_until(s, sim_now_ns(s) + 3600000 * MS);
    CHECK_EQ(free_pages(s) - had, s->ftl.erased * m->np - s->ftl.moved);
    CHECK_EQ(s->ftl.mapped, mapped);
    for (uint32_t n = 0; n < s->ftl.domains; n++) {
        uint32_t pages = s->ftl.domain[n].free_pages;
        CHECK(pages >= m->idle_pages && pages < m->idle_pages + m->np);
    }
    CHECK(state_check(s) == NULL);
    uint64_t energy = sim_energy_nj(s, sim_now_ns(s)), idle_nj = 3600 * m->idle_mw * 1000000;
    /* Idle all the time but while it collected, and each page that it placed. */
    CHECK(energy > idle_nj + s->ftl.placed * m->program_nj && energy < 2 * (idle_nj + s->ftl.placed * m->program_nj));
    uint64_t burst = (m->idle_pages - m->reserve) * m->domains / 4 * 3;
    struct loop_result after = loop_run(s, &r, (struct loop){SATED_WRITE, 4096, burst, 32, false});
    CHECK_EQ(s->ftl.moved, 0);
    CHECK(after.write_amplification == 1 && before.write_amplification > 2);
    CHECK(after.iops > 1.5 * before.iops);
    CHECK(sim_now_ns(s) > steady && state_check(s) == NULL);
    sim_free(s);
}

int main(void)
{
    check_rate();
    check_burst(SPEC);
    check_burst("generic,blocks=4096,domain=channel,streams=2,flush_ms=50,idle_gc_ms=200,idle_gc_free=0.5");
    check_burst("x210,scale=1/64,devslp_after_ms=0,idle_gc_ms=6400,idle_gc_free=30%,flush_ms=10");
    return check_done();
}
