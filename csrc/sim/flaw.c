/* SPDX-License-Identifier: MIT */
/* What a command meets on flash that is no longer whole, and the work that is done beside the host's. */
#include "sim/flaw.h"

#include <errno.h>

#include "core/error.h"
#include "sim/sim.h"

uint64_t flaw_first_lost(const struct sim *s, uint64_t offset, uint64_t bytes)
{
    uint64_t unit_bytes = s->model.unit_bytes, end = offset + bytes;
    for (uint64_t unit = offset / unit_bytes; s->ftl.sick & SICK_LOST && unit * unit_bytes < end; unit++)
        if (ftl_page(&s->ftl, (uint32_t)unit) == FTL_LOST)
            return unit * unit_bytes > offset ? unit * unit_bytes : offset;
    return UINT64_MAX;
}

/* The rest of a unit of which a write covers a part has to be read. */
static bool part_is_lost(const struct sim *s, uint64_t offset, uint64_t bytes)
{
    uint64_t mask = s->model.unit_bytes - 1, end = offset + bytes;
    return (offset & mask && flaw_first_lost(s, offset, 1) != UINT64_MAX) ||
           (end & mask && flaw_first_lost(s, end - 1, 1) != UINT64_MAX);
}

static int status_of(struct sim *s, const struct command *c)
{
    bool writes = c->op == SATED_WRITE || c->op == SATED_WRITE_ZEROES;
    if (s->ftl.sick & SICK_READ_ONLY && (writes || c->op == SATED_TRIM))
        return -EIO;
    if (c->op == SATED_READ ? flaw_first_lost(s, c->offset, c->bytes) == UINT64_MAX
                            : !writes || !part_is_lost(s, c->offset, c->bytes))
        return 0;
    s->uncorrectable++;
    return -ENODATA;
}

/* One step in a domain that the stripe has room for, or in any. Return: whether there was one. */
static bool step(struct ftl *f, bool with_room)
{
    bool left = false;
    for (struct domain *d = f->domain; d < f->domain + f->domains; d++) {
        if (!d->loss.rebuilding && !d->loss.owed)
            continue;
        left = true;
        if ((!with_room || d->placed < f->quota) && parity_step(f, d))
            return true;
    }
    if (!left)
        f->sick &= ~(uint64_t)SICK_REBUILD;
    return false;
}

bool flaw_rebuild(struct sim *s)
{
    return s->ftl.sick & SICK_REBUILD && !(s->ftl.sick & SICK_READ_ONLY) && step(&s->ftl, s->model.timing);
}

int flaw_meets(struct sim *s, const struct command *c)
{
    int status = status_of(s, c);
    uint64_t units = c->op == SATED_WRITE && !status ? (c->bytes + s->model.unit_bytes - 1) / s->model.unit_bytes : 0;
    while (units-- && s->ftl.sick & SICK_REBUILD && step(&s->ftl, false)) /* a page for each that the host writes */
        ;
    return status;
}

static void lost(void *user, uint32_t unit)
{
    struct sim *s = user;
    content_drop(&s->content, unit);
}

int sim_fail_die(struct sim *s, uint32_t die)
{
    uint32_t dies = (uint32_t)(s->model.channels * s->model.dies);
    if (s->set)
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                         "sim:%s: a set has no dies of its own; let one of its members fail", s->model.name);
    if (die >= dies)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "sim:%s: there is no die %u; its dies are 0 to %u",
                         s->model.name, die, dies - 1);
    if (sim_outstanding(s))
        return sim_refuse_while_busy(s, "the failure of a die");
    struct domain *d = &s->ftl.domain[die / s->model.domain_dies];
    uint32_t in = die % (uint32_t)s->model.domain_dies, left = (uint32_t)s->model.data_dies - d->loss.dead;
    if (loss_has_die(&d->loss, 0, in))
        return error_set(SATED_STATE, SATED_LAYER_DRIVE, "sim:%s: die %u has failed already; name another",
                         s->model.name, die);
    if (d->loss.dead == FTL_DEAD_MAX || left < 2)
        return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                         "sim:%s: %u of the %u dies that share their blocks have failed already, and without die %u "
                         "no block could be laid out; restore an earlier state, or make the drive anew",
                         s->model.name, d->loss.dead, (uint32_t)s->model.domain_dies, die);
    sim_power_to(s, s->now);
    if (s->model.timing)
        timing_flush(&s->timing, &s->model, &s->ftl, s->now);
    parity_fail(&s->ftl, d, in, lost, s);
    if (s->model.timing)
        timing_program(&s->timing, &s->model, &s->ftl, s->now);
    return 0;
}
