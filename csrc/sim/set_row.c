/* SPDX-License-Identifier: MIT */
/* A row of a set is written out: what must be read first, what is written, and which is the shorter way to the parity.
 * And a row of a member that is being rebuilt. */
#include <stdlib.h>
#include <string.h>

#include "sim/set_inside.h"
#include "sim/sim.h"

#define WORDS_MAX 32 /* of a chunk of 1 MiB */

static uint32_t sectors(const struct set *t)
{
    return (uint32_t)(t->shape.chunk / SET_SECTOR);
}

static uint32_t runs(const struct set *t, const uint64_t *bits)
{
    uint32_t count = 0;
    for (uint32_t from = 0, n; bits_run(bits, sectors(t), &from, &n); from += n)
        count++;
    return count;
}

/* Where anything of the row is written: there parity changes. */
static void touched(const struct set *t, struct line *l, uint64_t *out)
{
    memset(out, 0, t->words * sizeof *out);
    for (uint32_t k = 0; k < t->shape.data; k++)
        for (uint32_t w = 0; w < t->words; w++)
            out[w] |= line_flying(t, l, k)[w];
}

/* What of a chunk is not written though others are written there. */
static void rest_of(const struct set *t, struct line *l, uint32_t k, const uint64_t *all, uint64_t *out)
{
    for (uint32_t w = 0; w < t->words; w++)
        out[w] = all[w] & ~line_flying(t, l, k)[w];
}

/* The shorter way to the new parity. Read-modify-write needs what is overwritten and the old parity; reconstruct-write
 * needs what is not overwritten. Of a member that is lost neither can be read: where it is written only in part, all the
 * others are read. */
static enum line_mode choose_mode(const struct set *t, struct line *l)
{
    uint32_t parity = set_parity(t, l->row), lost = SET_NONE, modify = 0, reconstruct = 0;
    uint64_t all[WORDS_MAX], rest[WORDS_MAX];
    if (parity == SET_NONE || !set_has(t, parity, l->row))
        return MODE_PLAIN;
    touched(t, l, all);
    modify = runs(t, all);
    for (uint32_t k = 0; k < t->shape.data; k++) {
        rest_of(t, l, k, all, rest);
        modify += runs(t, line_flying(t, l, k));
        reconstruct += runs(t, rest);
        if (!set_has(t, set_place(t, l->row, k, 0), l->row))
            lost = k;
    }
    if (lost == SET_NONE || !reconstruct)
        return reconstruct < modify ? MODE_RECONSTRUCT : MODE_MODIFY;
    if (!bits_count(line_flying(t, l, lost), t->words))
        return MODE_MODIFY;
    rest_of(t, l, lost, all, rest);
    return bits_count(rest, t->words) ? MODE_ALL : MODE_RECONSTRUCT;
}

/* A command for each run of bits, or only how many they are. */
static uint32_t send_runs(struct set *t, struct line *l, uint32_t member, enum sated_op op, const uint64_t *bits,
                          bool count)
{
    uint32_t commands = 0;
    for (uint32_t from = 0, n; bits_run(bits, sectors(t), &from, &n); from += n) {
        commands++;
        if (!count)
            set_part(t, member, op, l->row * t->shape.chunk + from * SET_SECTOR, n * SET_SECTOR, 0, l);
    }
    return commands;
}

/* The same, of a member that has the row; none of another. */
static uint32_t send(struct set *t, struct line *l, uint32_t member, enum sated_op op, const uint64_t *bits, bool count)
{
    return set_has(t, member, l->row) ? send_runs(t, l, member, op, bits, count) : 0;
}

static uint32_t send_reads(struct set *t, struct line *l, bool count)
{
    uint32_t parity = set_parity(t, l->row), commands = 0;
    uint64_t all[WORDS_MAX], rest[WORDS_MAX];
    if (l->mode == MODE_PLAIN)
        return 0;
    touched(t, l, all);
    for (uint32_t k = 0; k < t->shape.data; k++) {
        rest_of(t, l, k, all, rest);
        commands += send(t, l, set_place(t, l->row, k, 0), SATED_READ,
                         l->mode == MODE_MODIFY        ? line_flying(t, l, k)
                         : l->mode == MODE_RECONSTRUCT ? rest
                                                       : all,
                         count);
    }
    if (l->mode != MODE_RECONSTRUCT)
        commands += send(t, l, parity, SATED_READ, all, count);
    return commands;
}

static uint32_t send_writes(struct set *t, struct line *l, bool count)
{
    uint32_t parity = set_parity(t, l->row), commands = 0;
    uint64_t all[WORDS_MAX];
    for (uint32_t k = 0; k < t->shape.data; k++)
        for (uint32_t copy = 0; copy < t->shape.copies; copy++)
            commands += send(t, l, set_place(t, l->row, k, copy), SATED_WRITE, line_flying(t, l, k), count);
    touched(t, l, all);
    return commands + (parity == SET_NONE ? 0 : send(t, l, parity, SATED_WRITE, all, count));
}

/* ---- Rebuilding ---- */

static uint32_t rebuilt_member(const struct set *t)
{
    for (uint32_t m = 0; m < t->shape.n; m++)
        if (t->k.state[m] == SATED_MEMBER_REBUILDING)
            return m;
    return SET_NONE;
}

static uint32_t send_rebuild(struct set *t, struct line *l, bool reads, bool count)
{
    uint32_t member = rebuilt_member(t), commands = 0;
    if (!reads)
        return send_runs(t, l, member, SATED_WRITE, t->rebuild_bits, count);
    for (uint32_t m = 0; m < t->shape.n; m++) {
        if (!set_helps(t, member, m) || !set_has(t, m, l->row))
            continue;
        commands += send(t, l, m, SATED_READ, t->rebuild_bits, count);
        if (t->shape.level != SET_RAID5)
            break; /* one mirror is enough */
    }
    return commands;
}

/* What of a row those that are left hold: the rest need not be written, for the spare reads as zeros there, too. */
static bool find_held(struct set *t, uint32_t member, uint64_t row)
{
    uint64_t unit_bytes = t->member[0]->model.unit_bytes, units = t->shape.chunk / unit_bytes;
    bool any = false;
    memset(t->rebuild_bits, 0, t->words * sizeof *t->rebuild_bits);
    for (uint64_t u = 0; u < units; u++) {
        bool held = false;
        for (uint32_t m = 0; m < t->shape.n && !held; m++)
            held = set_helps(t, member, m) && set_has(t, m, row) &&
                   ftl_page(&t->member[m]->ftl, (uint32_t)(row * units + u)) != FTL_NONE;
        if (held)
            bits_set(t->rebuild_bits, (uint32_t)(u * unit_bytes / SET_SECTOR), (uint32_t)(unit_bytes / SET_SECTOR));
        any |= held;
    }
    return any;
}

void row_rebuild(struct sim *s)
{
    struct set *t = s->set;
    uint32_t member = rebuilt_member(t);
    if (member == SET_NONE || t->rebuilding || t->hold)
        return;
    while (t->k.rebuild_row < t->rows && !find_held(t, member, t->k.rebuild_row)) {
        struct line *l = cache_line(t, t->k.rebuild_row);
        if (l && l->phase != LINE_IDLE)
            break; /* what is on its way there does not reach the spare */
        t->k.rebuild_row++;
    }
    if (t->k.rebuild_row == t->rows) {
        t->k.state[member] = SATED_MEMBER_ONLINE;
        return;
    }
    struct line *l = cache_need(t, t->k.rebuild_row);
    if (!l)
        return;
    l->rebuild = 1;
    t->rebuilding = l;
    t->rebuild_began = t->at;
    cache_put_back(t, l);
    cache_destage(s);
}

static void rebuilt(struct sim *s, struct line *l)
{
    struct set *t = s->set;
    bytes_rebuilt(s, l->row, rebuilt_member(t), t->rebuild_bits);
    t->k.rebuild_row++;
    l->rebuild = 0;
    t->rebuilding = NULL;
    t->k.rebuild_due = t->rebuild_began + (int64_t)(t->shape.chunk * 1000000000 / t->k.rebuild_bytes_s);
    set_event(t, t->k.rebuild_due, EVENT_REBUILD, 0, NULL);
}

/* ---- On its way ---- */

void row_start(struct sim *s, struct line *l)
{
    struct set *t = s->set;
    uint64_t half = t->shape.data * t->words, cost;
    if (l->n_dirty) {
        memcpy(&l->bits[half], l->bits, half * sizeof *l->bits);
        memset(l->bits, 0, half * sizeof *l->bits);
        l->n_flying = l->n_dirty;
        l->n_dirty = 0;
        l->flying_waits = l->waits;
        l->waits = NULL;
        l->mode = (uint8_t)choose_mode(t, l);
        uint32_t reads = send_reads(t, l, true);
        cost = (reads + send_writes(t, l, true)) * t->shape.command_ns + (reads ? t->shape.parity_ns : 0);
    } else {
        find_held(t, rebuilt_member(t), l->row);
        l->mode = MODE_REBUILD;
        cost = (send_rebuild(t, l, true, true) + send_rebuild(t, l, false, true)) * t->shape.command_ns;
    }
    t->flying++;
    l->phase = LINE_READY;
    set_event(t, set_spend(t, t->at, cost), EVENT_READY, 0, l);
}

static void landed(struct sim *s, struct line *l)
{
    struct set *t = s->set;
    struct wait *waits = l->flying_waits;
    uint64_t half = t->shape.data * t->words;
    if (l->mode == MODE_REBUILD)
        rebuilt(s, l);
    else
        bytes_row_landed(s, l);
    t->flying--;
    t->used -= l->n_flying * SET_SECTOR;
    memset(&l->bits[half], 0, half * sizeof *l->bits);
    l->n_flying = 0;
    l->flying_waits = NULL;
    l->phase = LINE_IDLE;
    cache_put_back(t, l);
    for (struct wait *next; waits; waits = next) {
        next = waits->next;
        set_order_landed(s, waits->order);
        free(waits);
    }
    set_unblock(s);
    cache_destage(s);
}

static void write_out(struct sim *s, struct line *l)
{
    struct set *t = s->set;
    l->phase = LINE_WRITING;
    if (l->mode == MODE_REBUILD)
        send_rebuild(t, l, false, false);
    else
        send_writes(t, l, false);
    if (!l->pending)
        landed(s, l);
}

void row_ready(struct sim *s, struct line *l)
{
    struct set *t = s->set;
    l->phase = LINE_READING;
    if (l->mode == MODE_REBUILD)
        send_rebuild(t, l, true, false);
    else
        send_reads(t, l, false);
    if (!l->pending)
        write_out(s, l);
}

void row_part_done(struct sim *s, struct line *l)
{
    if (--l->pending)
        return;
    if (l->phase == LINE_READING) {
        bytes_row_parity(s, l);
        write_out(s, l);
    } else {
        landed(s, l);
    }
}
