/* SPDX-License-Identifier: MIT */
#include "load/inflight.h"

#include <errno.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_MAX 4096u

static const uint32_t modes[SATED_OPS] = {
    [SATED_TRIM] = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
    [SATED_WRITE_ZEROES] = FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
};

int inflight_init(struct inflight *f, struct worker *w, const uint32_t opcodes[SATED_OPS], bool moved)
{
    const struct sated_load *l = w->member->load;
    uint32_t depth = w->depth, room = 1;
    while (room < depth)
        room *= 2;
    memset(f, 0, sizeof *f);
    f->slots = calloc(depth, sizeof *f->slots);
    f->free_slots = calloc(room, sizeof *f->free_slots);
    if (!f->slots || !f->free_slots)
        return load_no_memory();
    f->depth = f->free_tail = depth;
    f->bits = l->bits;
    f->mask = room - 1;
    for (uint32_t i = 0; i < depth; i++) {
        f->free_slots[i] = &f->slots[i];
        f->slots[i].read_area = data_read(&w->data, i);
        f->slots[i].stripe = data_stripe(&w->data, i);
    }
    f->ext = (struct extension){.logs = l->options.log_bytes > 0,
                                .given = supply_is_on(&l->options),
                                .pace = w->pace,
                                .think_ns = l->workload.think_ns,
                                .wake_ns = LOAD_NEVER};
    if (w->pace && !(f->ext.intended_ns = calloc(depth, sizeof *f->ext.intended_ns)))
        return load_no_memory();
    f->batch = l->options.batch ? l->options.batch : depth / 4 > 16 ? 16 : depth / 4;
    if (f->batch < 1)
        f->batch = 1;
    if (f->batch > BATCH_MAX)
        f->batch = BATCH_MAX;
    if (l->options.flags & SATED_LOAD_ACCURATE)
        f->batch = 1;
    if (l->options.flags & SATED_LOAD_MAX_IOPS) {
        f->batch = l->options.batch ? l->options.batch : depth / 2 > 32 ? 32 : depth / 2;
        f->batch = f->batch > depth ? depth : f->batch < 1 ? 1 : f->batch;
        f->ext.floor = f->batch;
    }
    f->variant =
        (struct variant){.one_class = l->mix.n == 1,
                         .sequential = w->member->range.sequential && !supply_is_on(&l->options),
                         .spread = w->member->range.spread,
                         .reads_only = true,
                         .by_bytes = l->options.bytes > 0,
                         .extended = f->ext.pace || f->ext.think_ns || f->ext.floor || f->ext.logs || f->ext.given};
    for (uint32_t i = 0; i < l->mix.n; i++) {
        uint32_t op = l->mix.op[i], bytes = l->mix.bytes[i];
        f->variant.reads_only &= op == SATED_READ;
        f->variant.flushes |= op == SATED_FLUSH;
        f->kinds[i] = (struct kind){
            .bytes = bytes,
            .wanted = op > SATED_WRITE || !moved ? 0 : (int32_t)bytes,
            .op = op,
            .opcode = opcodes[op],
            .places = w->member->range.places[i],
            .class = i,
            .mode = modes[op],
        };
    }
    random_lanes_seed(&f->random, &w->random);
    f->draw = random_draw_choose();
    return 0;
}

void inflight_free(struct inflight *f)
{
    free(f->slots);
    free(f->free_slots);
    free(f->ext.intended_ns);
}

/* Finds out which slots are out. @param from the first of free_slots that is not */
static void mark_out(struct inflight *f, uint32_t from)
{
    for (uint32_t i = 0; i < f->depth; i++)
        f->slots[i].out = true;
    for (uint32_t i = from; i != f->free_tail; i++)
        f->free_slots[i & f->mask]->out = false;
}

/* Before the next half of the stamps is used again: slots that are still out since then get a stamp of their own. */
void inflight_keep_stamps(struct inflight *f)
{
    const uintptr_t from = (uintptr_t)&f->stamps[f->batches % INFLIGHT_STAMPS];
    const uintptr_t to = from + INFLIGHT_STAMPS / 2 * sizeof *f->stamps;
    mark_out(f, f->free_head);
    for (struct slot *slot = f->slots; slot < f->slots + f->depth; slot++) {
        if (!slot->out || (uintptr_t)slot->stamp < from || (uintptr_t)slot->stamp >= to)
            continue;
        slot->own_stamp = *slot->stamp;
        slot->stamp = &slot->own_stamp;
    }
}

/* Each I/O stands in the histogram with the time that it was out; those that are out at either end of the interval, or
 * failed in it, make up the rest of the integral. So it costs nothing for each I/O. */
void inflight_settle(struct worker *w, int64_t to_ns)
{
    struct inflight *f = w->engine;
    struct recorder *r = &w->recorder;
    const struct sheet *s = r->sheet;
    int64_t waited_ns[MIX_CLASSES] = {0};
    for (uint32_t class = 0; class < s->classes; class ++)
        r->outstanding[class] = 0;
    mark_out(f, f->filled_from);
    for (const struct slot *slot = f->slots; slot < f->slots + f->depth; slot++) {
        if (!slot->out)
            continue;
        r->outstanding[slot->kind->class]++;
        waited_ns[slot->kind->class] += to_ns - *slot->stamp;
    }
    for (uint32_t class = 0; class < s->classes; class ++) {
        r->area[class] =
            (int64_t)s->tally[class].latency->sum[0] + f->lost_ns[class] + waited_ns[class] - f->carried_ns[class];
        r->since_ns[class] = to_ns;
        f->carried_ns[class] = waited_ns[class];
        f->lost_ns[class] = 0;
    }
}

static void keep(const struct inflight *f, struct worker *w, const struct slot *slot, int error, int64_t now_ns)
{
    int64_t intended_ns = f->ext.pace ? f->ext.intended_ns[slot - f->slots] : PACE_NONE;
    log_add(w->member->load, &w->log, w->member->name,
            &(struct sated_io){
                .intended_ns = intended_ns == PACE_NONE ? -1 : intended_ns,
                .submit_ns = *slot->stamp,
                .complete_ns = now_ns,
                .offset_bytes = slot->offset,
                .size_bytes = slot->kind->bytes,
                .error = error,
                .member = w->member->index,
                .op = slot->kind->op,
            });
}

void inflight_failed(struct inflight *f, struct worker *w, const struct slot *slot, int result, int64_t now_ns)
{
    const struct kind *kind = slot->kind;
    w->recorder.sheet->tally[kind->class].errors++;
    f->lost_ns[kind->class] += now_ns - *slot->stamp;
    if (w->recorder.limited)
        load_limit_give_back(w->member, kind->bytes);
    load_io_failed(w->member, kind->class, slot->offset, result);
    if (f->ext.logs)
        keep(f, w, slot, result < 0 ? result : -EIO, now_ns);
    if (atomic_load(&w->member->load->stop)) /* at once, where a failing drive would only fail more */
        w->recorder.submitting = false;
}

void inflight_withdraw(struct inflight *f, struct slot *slot, int64_t now_ns)
{
    f->lost_ns[slot->kind->class] += now_ns - *slot->stamp;
    f->free_slots[f->free_tail++ & f->mask] = slot;
}

/* Slots become free in the order of their completions, so that the first of them may be used again first. */
static uint32_t rested(struct inflight *f, uint32_t n)
{
    uint32_t ready = 0;
    while (ready < n && ready < f->free_tail - f->free_head &&
           f->free_slots[(f->free_head + ready) & f->mask]->own_stamp <= f->ext.begun_ns)
        ready++;
    if (ready < f->free_tail - f->free_head)
        f->ext.wake_ns = f->free_slots[(f->free_head + ready) & f->mask]->own_stamp;
    return ready;
}

/* Up to n I/Os, for which there are addresses. */
static uint32_t supplied(struct inflight *f, struct worker *w, uint32_t n)
{
    struct extension *e = &f->ext;
    uint32_t got = n ? supply_take(w->member, &w->ration, n, e->begun_ns) : 0;
    if (got == n)
        return n;
    e->more = false;
    if (w->ration.over)
        e->wake_ns = LOAD_NEVER;
    else if (e->begun_ns + SUPPLY_LOOK_NS < e->wake_ns)
        e->wake_ns = e->begun_ns + SUPPLY_LOOK_NS;
    return got;
}

static uint32_t held(struct inflight *f, uint32_t n)
{
    struct extension *e = &f->ext;
    if (e->floor) {
        e->more = f->free_tail - f->free_head >= 2 * e->floor;
        return n < e->floor && inflight_count(f) ? 0 : n;
    }
    uint32_t ready = e->pace ? pace_due(e->pace, e->begun_ns, f->free_tail - f->free_head) : rested(f, n + 1);
    if (e->pace && ready < f->free_tail - f->free_head)
        e->wake_ns = pace_wake_ns(e->pace);
    e->more = ready > n;
    return ready < n ? ready : n;
}

uint32_t inflight_hold(struct inflight *f, struct worker *w, uint32_t n)
{
    struct extension *e = &f->ext;
    int64_t now_ns = worker_now_ns(w);
    e->begun_ns = now_ns > w->recorder.now_ns ? now_ns : w->recorder.now_ns;
    e->wake_ns = LOAD_NEVER;
    n = held(f, n);
    return e->given ? supplied(f, w, n) : n;
}

uint32_t inflight_extend(struct inflight *f, const struct slot *slot, uint32_t class)
{
    if (f->ext.pace)
        f->ext.intended_ns[slot - f->slots] = pace_take(f->ext.pace, f->ext.begun_ns, &class);
    return class;
}

void inflight_after(struct inflight *f, struct worker *w, struct slot *slot, int32_t result, int64_t now_ns)
{
    const struct kind *kind = slot->kind;
    if (f->ext.pace && result == kind->wanted) {
        int64_t intended_ns = f->ext.intended_ns[slot - f->slots];
        if (intended_ns != PACE_NONE)
            tally_response(&w->recorder.sheet->tally[kind->class], intended_ns, *slot->stamp, now_ns);
    }
    if (f->ext.logs && result == kind->wanted)
        keep(f, w, slot, 0, now_ns);
    slot->own_stamp = now_ns + f->ext.think_ns;
}

void inflight_give_up(struct inflight *f, struct worker *w, int rc)
{
    int64_t now_ns = inflight_completing(f, w);
    mark_out(f, f->free_head);
    for (struct slot *slot = f->slots; slot < f->slots + f->depth; slot++)
        if (slot->out)
            inflight_failed(f, w, slot, rc, now_ns);
    f->filled_from = f->free_head = f->free_tail - f->depth;
}

void inflight_take_sheet(struct inflight *f, const struct sheet *s)
{
    f->sheet = s;
    for (uint32_t class = 0; class < s->classes; class ++)
        f->kinds[class].latency = s->tally[class].latency;
}
