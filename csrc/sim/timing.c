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
    visit(t->plane, t->dies * t->planes * sizeof *t->plane, user);
    visit(t->channel, t->channels * sizeof *t->channel, user);
    visit(t->read_out, t->channels * sizeof *t->read_out, user);
    visit(t->link, sizeof t->link, user);
    if (m->suspend_ns) {
        visit(t->reading, t->dies * t->planes * sizeof *t->reading, user);
        visit(t->suspended, t->dies * t->planes, user);
    }
}

void timing_init(struct timing *t, const struct model *m)
{
    memset(t, 0, sizeof *t);
    t->channels = (uint32_t)m->channels;
    t->dies = (uint32_t)(m->channels * m->dies);
    t->planes = (uint32_t)m->planes;
    t->domain_dies = (uint32_t)m->domain_dies;
}

/* Channels of the dies: a domain of its own takes the dies of one channel; a drive-wide one goes from channel to
 * channel. */
static uint32_t die_of(const struct timing *t, const struct model *m, const struct ftl *f, uint32_t page)
{
    uint32_t block = ftl_block(f, page), at = page - block * f->np;
    uint32_t die =
        f->parity | f->laid[block] ? parity_die(f, block, at) : at / (uint32_t)m->program_units % t->domain_dies;
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
    ftl_stripe_begin(f, (uint32_t)m->data_dies * (uint32_t)(wide ? m->wide_program_units : m->program_units));
}

/* Where dies have failed, those that are left program what they would have. */
static int64_t program_ns(const struct model *m, const struct ftl *f, uint32_t channel, const struct slc_stripe *slc)
{
    uint64_t ns = m->program_ns, dead = f->domain[f->domains == 1 ? 0 : channel].loss.dead;
    if (slc) { /* each die its part of the one and of the other */
        ns = (slc->quick * m->slc_bits * m->slc_program_ns + (slc->slow + slc->folded) * m->program_ns) / slc->whole;
        ns = ns < m->slc_program_ns ? m->slc_program_ns : ns;
    }
    ns += m->slice_ns;
    return (int64_t)(dead ? ns * m->data_dies / (m->data_dies - dead) : ns);
}

/* The programs of a channel's dies: first the relocated pages are read from those dies and moved up, then all pages of
 * the stripe are moved down, then the dies program together. Erasing is suspended for each program, so that its time
 * is spent in slices between them. */
static int64_t program_channel(struct timing *t, const struct model *m, const struct ftl *f, uint32_t channel,
                               int64_t at, uint64_t moved, uint64_t pages, const struct slc_stripe *slc)
{
    uint32_t dies = (uint32_t)m->dies;
    int64_t program = program_ns(m, f, channel, slc);
    int64_t ready = later(at, t->channel[channel]), end = 0;
    ready += (int64_t)(moved * m->read_ns / (dies * t->planes) + (moved + pages) * m->transfer_ns);
    if (slc) {
        uint64_t folded = (slc->folded + channel) / t->channels;
        ready += (int64_t)(folded * m->slc_read_ns / (dies * t->planes) + 2 * folded * m->transfer_ns);
    }
    t->channel[channel] = ready;
    for (uint32_t i = 0; i < dies; i++) {
        uint32_t die = f->domains == 1 ? channel + i * t->channels : channel * dies + i, first = die * t->planes;
        int64_t until = ready;
        for (uint32_t p = first; p < first + t->planes; p++)
            until = later(until, t->plane[p]);
        until += program;
        for (uint32_t p = first; p < first + t->planes; p++) {
            t->plane[p] = until;
            t->suspended[p] = 0;
        }
        end = later(end, until);
    }
    return end;
}

static void program_all(struct timing *t, const struct model *m, struct ftl *f, int64_t at)
{
    int64_t end = 0;
    struct slc_stripe slc;
    if (f->slc.room)
        slc_take(f, &slc);
    uint64_t quota = m->parity ? f->quota / m->data_dies * t->domain_dies : f->quota;
    for (uint32_t c = 0; c < t->channels; c++) {
        uint64_t moved = f->domains == 1 ? (f->domain->moved + c) / t->channels : f->domain[c].moved;
        uint64_t pages = f->domains == 1 ? quota / t->channels : quota;
        end = later(end, program_channel(t, m, f, c, at, moved, pages, f->slc.room ? &slc : NULL));
    }
    t->slot_end[t->slot] = end;
    t->slot_log[t->slot] = f->log_at;
    t->busy = later(t->busy, end);
}

bool timing_fold(struct timing *t, const struct model *m, struct ftl *f, int64_t at)
{
    uint32_t pages = t->dies / t->domain_dies * (uint32_t)(m->data_dies * m->program_units);
    struct slc_stripe slc = {.folded = slc_fold(f, pages), .whole = pages};
    if (!slc.folded)
        return false;
    for (uint32_t c = 0; c < t->channels; c++)
        t->busy = later(t->busy, program_channel(t, m, f, c, at, 0, 0, &slc));
    return true;
}

void timing_close(struct timing *t, const struct model *m, struct ftl *f, int64_t at)
{
    program_all(t, m, f, at);
    ftl_stripe_end(f);
    t->slot = (t->slot + 1) % (uint32_t)m->buffer_stripes;
    t->gathering = 0;
}

void timing_program(struct timing *t, const struct model *m, struct ftl *f, int64_t at)
{
    /* A domain that cannot make room keeps its dies idle; the others do not wait for it for ever. */
    while (!f->missing || f->log_at - f->log_done > f->log_room / 2) {
        timing_close(t, m, f, at);
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

/* A page whose die has failed: the other dies of its row are read, and all that they hold of it is moved. */
static int64_t read_row(struct timing *t, const struct model *m, const struct ftl *f, uint32_t block, uint32_t row,
                        bool together, int64_t at)
{
    uint32_t n = f->domains == 1 ? 0 : block / f->per_domain;
    const struct loss *l = &f->domain[n].loss;
    int64_t end = at;
    for (uint32_t i = 0; i < t->domain_dies; i++) {
        uint32_t die = n * t->domain_dies + i, channel = channel_of(t, f, die);
        if (loss_has_die(l, 0, i))
            continue;
        int64_t *plane = &t->plane[die * t->planes + row * t->planes / (uint32_t)m->program_units];
        if (!together)
            *plane = later(at, *plane) + (int64_t)m->read_ns;
        t->channel[channel] = later(*plane, t->channel[channel]) + (int64_t)m->transfer_ns;
        end = later(end, t->channel[channel]);
    }
    return end;
}

/* How long a read waits behind garbage collection: it comes at any time of a token of K = read_behind + A programs, with
 * A the write amplification of the victim in hand, and each program with its share of what is read and moved for it;
 * nothing where the last token is over. */
static int64_t behind(const struct timing *t, const struct model *m, struct ftl *f, uint32_t block, int64_t at)
{
    const struct domain *d = &f->domain[f->domains == 1 ? 0 : block / f->per_domain];
    uint64_t np = f->np, moved = d->step, token = m->behind_most_ns;
    if (moved < np) {
        uint64_t program = m->program_ns + m->slice_ns + m->program_units * moved * m->read_ns / np +
                           m->program_units * m->dies * (np + moved) * m->transfer_ns / np;
        uint64_t k = program * m->behind / 1000 + program * np / (np - moved);
        token = !token || k < token ? k : token;
    }
    return at < t->busy + (int64_t)token ? (int64_t)random_below(&f->random, token + 1) : 0;
}

/* A read on a busy plane, where programs (and erasing, which is done in slices beside them) can be suspended: so often
 * for each program, and each time at a cost. Returns when it has been read. */
static int64_t suspend(struct timing *t, const struct model *m, uint32_t plane, uint64_t read_ns, int64_t at)
{
    int64_t from = t->reading[plane];
    if (from <= at && t->suspended[plane] < m->suspend_most) {
        t->suspended[plane]++;
        from = at + (int64_t)m->suspend_ns;
        t->plane[plane] += (int64_t)m->suspend_ns;
    } else if (from <= at) {
        from = t->plane[plane];
    }
    t->plane[plane] += (int64_t)read_ns;
    return t->reading[plane] = from + (int64_t)read_ns;
}

int64_t timing_read(struct timing *t, const struct model *m, struct ftl *f, uint32_t page, uint32_t last, int64_t at)
{
    uint32_t block = ftl_block(f, page), in = page - block * f->np, row = in % (uint32_t)m->program_units;
    if (*ftl_word(f, f->pending, block, in) >> in % 64 & 1)
        return at;
    uint32_t die = die_of(t, m, f, page), channel = channel_of(t, f, die);
    uint32_t plane = die * t->planes + row * t->planes / (uint32_t)m->program_units;
    bool together = page == last + 1 && row;
    if (f->sick & SICK_REBUILD && parity_is_missing(f, block, in))
        return read_row(t, m, f, block, row, together, at);
    uint64_t read_ns = f->slc.room && *ftl_word(f, f->slc.in, block, in) >> in % 64 & 1 ? m->slc_read_ns : m->read_ns;
    if (!m->behind && !m->suspend_ns) {
        if (!together)
            t->plane[plane] = later(at, t->plane[plane]) + (int64_t)read_ns;
        t->channel[channel] = later(t->plane[plane], t->channel[channel]) + (int64_t)m->transfer_ns;
        return t->channel[channel];
    }
    /* It is put between programs that have been given to the die, so that what comes later does not wait for it longer
     * than it takes. */
    int64_t ready = at;
    if (!together && m->suspend_ns && t->plane[plane] > at) {
        ready = suspend(t, m, plane, read_ns, at);
    } else if (!together) {
        ready += (m->behind ? behind(t, m, f, block, at) : 0) + (int64_t)read_ns;
        t->plane[plane] = later(at, t->plane[plane]) + (int64_t)read_ns;
    }
    t->channel[channel] = later(at, t->channel[channel]) + (int64_t)m->transfer_ns;
    t->read_out[channel] = later(at, t->read_out[channel]) + (int64_t)m->transfer_ns;
    return later(ready + (int64_t)m->transfer_ns, t->read_out[channel]);
}

int64_t timing_link(struct timing *t, const struct model *m, bool to_host, uint64_t bytes, int64_t at)
{
    int64_t *link = &t->link[!to_host && m->protocol[0] != 'a']; /* ATA has one for both directions */
    *link = later(at, *link) + link_ns(m, bytes);
    return *link;
}
