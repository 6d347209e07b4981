/* SPDX-License-Identifier: MIT */
/* What the drive draws, how deep it sleeps when it is left alone, and how warm it gets. */
#include "sim/set.h"
#include "sim/sim.h"
#include "sim/whole.h"

#define HEAT_STEPS 256 /* of a time constant: how often the temperature is worked out */

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Since when it has been left alone; only where nothing is outstanding. */
static int64_t quiet_since(const struct sim *s)
{
    return later(s->timing.busy, s->last_command);
}

/* When it begins to fall into a state of less power; for ever where the model has none. */
static int64_t falls_at(const struct sim *s, int state)
{
    int64_t after = (int64_t)s->model.sleep[state].after_ns;
    return after ? quiet_since(s) + after : INT64_MAX;
}

/* The idle time of [from, to) at the power of each state; entering one still takes that of the one before. In pJ. */
static unsigned __int128 idle_pj(const struct sim *s, int64_t from, int64_t to)
{
    unsigned __int128 pj = 0;
    uint64_t mw = s->model.idle_mw;
    for (int i = 0; i < MODEL_SLEEPS && s->model.sleeps && from < to; i++) {
        int64_t at = falls_at(s, i);
        if (at >= to - (int64_t)s->model.sleep[i].enter_ns)
            continue;
        at += (int64_t)s->model.sleep[i].enter_ns;
        if (at > from) {
            pj += (unsigned __int128)(at - from) * mw;
            from = at;
        }
        mw = s->model.sleep[i].mw;
    }
    return pj + (unsigned __int128)(to - from) * mw;
}

/* Energy of the controller from power_at on: active while a command is outstanding or a program runs. In pJ, which fill
 * 64 bits in a year of idleness. */
static unsigned __int128 base_since(const struct sim *s, int64_t t_ns)
{
    int64_t active = t_ns - s->power_at;
    if (!sim_outstanding(s)) {
        int64_t end = s->timing.busy < t_ns ? s->timing.busy : t_ns;
        active = end > s->power_at ? end - s->power_at : 0;
    }
    return (unsigned __int128)active * s->model.active_mw + idle_pj(s, s->power_at + active, t_ns);
}

void sim_power_to(struct sim *s, int64_t t_ns)
{
    if (t_ns <= s->power_at)
        return;
    unsigned __int128 pj = s->base_pj + base_since(s, t_ns);
    uint64_t nj =
        pj >> 64 ? (uint64_t)(pj / 1000) : (uint64_t)pj / 1000; /* between two commands the short division does */
    s->base_nj += nj;
    s->base_pj = (uint64_t)pj - nj * 1000;
    s->power_at = t_ns;
}

uint64_t sim_energy_nj(struct sim *s, int64_t t_ns)
{
    if (s->set)
        return set_energy_nj(s, t_ns);
    uint64_t base = s->base_nj + (t_ns > s->power_at ? (uint64_t)((s->base_pj + base_since(s, t_ns)) / 1000) : 0);
    return base + sim_programmed(s) * s->model.program_nj + s->read_units * s->model.read_nj;
}

void power_wake(struct sim *s)
{
    for (int i = MODEL_SLEEPS; i--;) {
        int64_t at = falls_at(s, i);
        if (at > s->now)
            continue;
        int64_t awake = later(s->now, at + (int64_t)s->model.sleep[i].enter_ns) + (int64_t)s->model.sleep[i].exit_ns;
        s->timing.firmware = later(s->timing.firmware, awake);
        return;
    }
}

/* One node with a resistance to the ambient and a time constant; backward Euler, which is stable at any step. */
void power_heat(struct sim *s)
{
    const struct model *m = &s->model;
    int64_t dt = s->now - s->heat_at;
    if (dt < (int64_t)m->heat_ns / HEAT_STEPS || dt <= 0)
        return;
    uint64_t nj = sim_energy_nj(s, s->now), used = nj > s->heat_nj ? nj - s->heat_nj : 0;
    /* nJ / ns is W, and 1/1000 K/W of a W is 1/1000 K. */
    __int128 level = (__int128)m->ambient_uc + (__int128)used * m->resistance_mk * 1000 / dt;
    level = level < HEAT_MAX_UC ? level : HEAT_MAX_UC;
    s->heat_uc = (int64_t)(((__int128)s->heat_uc * m->heat_ns + level * dt) / ((__int128)m->heat_ns + dt));
    s->heat_at = s->now;
    s->heat_nj = nj;
    s->slower = 0;
    for (int i = 0; i < MODEL_THROTTLES; i++)
        if (m->throttle[i].uc && s->heat_uc >= (int64_t)m->throttle[i].uc)
            s->slower = m->throttle[i].percent;
}
