/* SPDX-License-Identifier: MIT */
#include "sim/timing.h"

#include <string.h>

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void timing_walk(struct timing *t, const struct model *m, void (*visit)(void *data, uint64_t bytes, void *user),
                 void *user)
{
    visit(&t->slot, sizeof t->slot, user);
    visit(&t->gathering, sizeof t->gathering, user);
    visit(&t->firmware, sizeof t->firmware, user);
    visit(&t->busy, sizeof t->busy, user);
    visit(t->slot_end, m->buffer_stripes * sizeof *t->slot_end, user);
    visit(t->slot_log, m->buffer_stripes * sizeof *t->slot_log, user);
    visit(t->die, t->dies * sizeof *t->die, user);
    visit(t->channel, t->channels * sizeof *t->channel, user);
}

void timing_init(struct timing *t, const struct model *m)
{
    memset(t, 0, sizeof *t);
    t->channels = (uint32_t)m->channels;
    t->dies = (uint32_t)(m->channels * m->dies);
    t->domain_dies = (uint32_t)m->domain_dies;
}

/* Channels of the dies: a domain of its own takes the dies of one channel; a drive-wide one goes from channel to
 * channel. */
static uint32_t die_of(const struct timing *t, const struct model *m, const struct ftl *f, uint32_t page)
{
    uint32_t block = ftl_block(f, page), at = page - block * f->np;
    uint32_t die = at / (uint32_t)m->program_units % t->domain_dies;
    return f->domains == 1 ? die : block / f->per_domain * t->domain_dies + die;
}

static uint32_t channel_of(const struct timing *t, const struct ftl *f, uint32_t die)
{
    return f->domains == 1 ? die % t->channels : die / t->domain_dies;
}

void timing_settle(struct timing *t, const struct model *m, struct ftl *f, int64_t now)
{
    /* From the oldest slot on; one whose log ends before log_done has been seen already. */
    for (uint32_t i = t->gathering; i < m->buffer_stripes; i++) {
        uint32_t slot = (t->slot + i) % (uint32_t)m->buffer_stripes;
        if (t->slot_end[slot] > now)
            break;
        if ((int32_t)(t->slot_log[slot] - f->log_done) > 0)
            ftl_log_retire(f, t->slot_log[slot]);
    }
}

void timing_gather(struct timing *t, const struct model *m, struct ftl *f, bool wide)
{
    if (t->gathering)
        return;
    timing_settle(t, m, f, t->slot_end[t->slot]);
    t->gathering = 1;
    ftl_stripe_begin(f, t->domain_dies * (uint32_t)(wide ? m->wide_program_units : m->program_units));
}

/* The programs of a channel's dies: first the relocated pages are read from those dies and moved up, then all pages of
 * the stripe are moved down, then the dies program together. Erasing is suspended for each program, so that its time
 * is spent in slices between them. */
static int64_t program_channel(struct timing *t, const struct model *m, const struct ftl *f, uint32_t channel,
                               int64_t at, uint64_t moved, uint64_t pages)
{
    uint32_t dies = (uint32_t)m->dies;
    int64_t ready = later(at, t->channel[channel]), end = 0;
    ready += (int64_t)(moved * m->read_ns / dies + (moved + pages) * m->transfer_ns);
    t->channel[channel] = ready;
    for (uint32_t i = 0; i < dies; i++) {
        int64_t *die = &t->die[f->domains == 1 ? channel + i * t->channels : channel * dies + i];
        *die = later(ready, *die) + (int64_t)(m->program_ns + m->slice_ns);
        end = later(end, *die);
    }
    return end;
}

static void program_all(struct timing *t, const struct model *m, struct ftl *f, int64_t at)
{
    int64_t end = 0;
    for (uint32_t c = 0; c < t->channels; c++) {
        uint64_t moved = f->domains == 1 ? (f->domain->moved + c) / t->channels : f->domain[c].moved;
        uint64_t pages = f->domains == 1 ? f->quota / t->channels : f->quota;
        end = later(end, program_channel(t, m, f, c, at, moved, pages));
    }
    t->slot_end[t->slot] = end;
    t->slot_log[t->slot] = f->log_at;
    t->busy = later(t->busy, end);
}

void timing_program(struct timing *t, const struct model *m, struct ftl *f, int64_t at)
{
    /* A domain that cannot make room keeps its dies idle; the others do not wait for it for ever. */
    while (!f->missing || f->log_at - f->log_done > f->log_room / 2) {
        program_all(t, m, f, at);
        ftl_stripe_end(f);
        t->slot = (t->slot + 1) % (uint32_t)m->buffer_stripes;
        t->gathering = 0;
        if (f->missing)
            return;
        /* A burst of relocations filled the next one as well. */
        at = later(at, t->slot_end[t->slot]);
        timing_gather(t, m, f, false);
    }
}

void timing_flush(struct timing *t, const struct model *m, struct ftl *f, int64_t at)
{
    if (!t->gathering || f->log_at == f->log_done)
        return;
    at = later(at, t->busy);
    program_all(t, m, f, at);
    t->slot_end[t->slot] = 0; /* the rest of the stripe is still to be gathered */
    ftl_log_retire(f, f->log_at);
}

void timing_power_cut(struct timing *t, const struct model *m, struct ftl *f, int64_t now)
{
    timing_settle(t, m, f, now);
    for (uint32_t at = f->log_done; !m->capacitors && at != f->log_at; at++) {
        uint32_t entry = f->log[at & (f->log_room - 1)], page = entry & ~FTL_MARKS;
        /* What was relocated still lies where it was read from. What was overwritten may have been flushed, and the
         * rest of its unit too, so that it is taken to have made it to flash just in time; a unit's first data has not. */
        if (entry & FTL_FRESH && ftl_page(f, f->back[page]) == page)
            ftl_trim(f, f->back[page]);
    }
    ftl_log_retire(f, f->log_at);
}

int64_t timing_read(struct timing *t, const struct model *m, struct ftl *f, uint32_t page, uint32_t last, int64_t at)
{
    uint32_t block = ftl_block(f, page), in = page - block * f->np;
    if (*ftl_word(f, f->pending, block, in) >> in % 64 & 1)
        return at;
    uint32_t die = die_of(t, m, f, page), channel = channel_of(t, f, die);
    if (page != last + 1 || !(in % m->program_units))
        t->die[die] = later(at, t->die[die]) + (int64_t)m->read_ns;
    t->channel[channel] = later(t->die[die], t->channel[channel]) + (int64_t)m->transfer_ns;
    return t->channel[channel];
}
