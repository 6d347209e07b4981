/* SPDX-License-Identifier: MIT */
/* Commands on their way: the host's queue, the drive's, and what each costs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/flaw.h"

int fifo_put(struct fifo *q, const struct command *c)
{
    if (q->n == q->room) {
        uint32_t room = q->room ? q->room * 2 : 64;
        struct command *items = malloc((size_t)room * sizeof *items);
        if (!items)
            return -ENOMEM;
        for (uint32_t i = 0; i < q->n; i++)
            items[i] = q->items[(q->first + i) & (q->room - 1)];
        free(q->items);
        *q = (struct fifo){items, 0, q->n, room};
    }
    q->items[(q->first + q->n++) & (q->room - 1)] = *c;
    return 0;
}

static struct command *fifo_first(struct fifo *q)
{
    return &q->items[q->first];
}

static void fifo_drop(struct fifo *q)
{
    q->first = (q->first + 1) & (q->room - 1);
    q->n--;
}

static bool before(const struct completion *a, const struct completion *b)
{
    return a->done_ns < b->done_ns || (a->done_ns == b->done_ns && a->number < b->number);
}

void queue_complete(struct sim *s, const struct command *c, int64_t done_ns, int status)
{
    struct completion new = {done_ns, s->number++, *c};
    new.command.status = (int16_t)status;
    uint32_t at = s->done++;
    while (at && before(&new, &s->heap[(at - 1) / 2])) {
        s->heap[at] = s->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    s->heap[at] = new;
}

void queue_take(struct sim *s, struct completion *out)
{
    *out = s->heap[0];
    struct completion last = s->heap[--s->done];
    uint32_t at = 0, child;
    while ((child = 2 * at + 1) < s->done) {
        child += child + 1 < s->done && before(&s->heap[child + 1], &s->heap[child]);
        if (!before(&s->heap[child], &last))
            break;
        s->heap[at] = s->heap[child];
        at = child;
    }
    s->heap[at] = last;
    s->inside--;
}

/* The units that a command touches, and whether it covers the first and the last of them whole. */
struct span {
    uint32_t first, last;
    bool first_whole, last_whole;
};

static struct span span_of(const struct sim *s, const struct command *c)
{
    uint32_t shift = (uint32_t)s->unit_shift;
    uint64_t mask = s->model.unit_bytes - 1, end = c->offset + c->bytes;
    struct span p = {
        .first = (uint32_t)(c->offset >> shift),
        .last = (uint32_t)((end - 1) >> shift),
        .first_whole = !(c->offset & mask),
        .last_whole = !(end & mask),
    };
    if (p.first == p.last)
        p.first_whole = p.last_whole = p.first_whole && p.last_whole;
    return p;
}

/* Looks the units up in the map, and returns the time that takes. A write of units that hold nothing has no old page to
 * be found: its entries are merged into the map page later. */
static int64_t look_up(struct sim *s, const struct span *p, bool change)
{
    const struct model *m = &s->model;
    bool known = !change || ftl_page(&s->ftl, p->first) != FTL_NONE || ftl_page(&s->ftl, p->last) != FTL_NONE;
    uint32_t entries = (uint32_t)m->entries;
    uint64_t cost = 0,
             fetch = !known   ? 0
                     : change ? m->fetch_ns
                              : m->miss_read_ns,
             evict = m->miss_write_ns > m->miss_read_ns ? m->miss_write_ns - m->miss_read_ns : 0;
    for (uint32_t page = p->first / entries; page <= p->last / entries; page++) {
        uint32_t what = cache_use(&s->cache, page, change);
        cost += (what & CACHE_FETCH ? fetch : 0) + (what & CACHE_EVICT ? evict : 0);
    }
    return (int64_t)cost;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void spend(struct sim *s, int64_t at, int64_t cost)
{
    if (s->slower)
        cost += cost * (int64_t)s->slower / 100;
    s->timing.firmware = (s->timing.firmware > at ? s->timing.firmware : at) + cost;
}

static void read_now(struct sim *s, const struct command *c, int64_t at)
{
    const struct model *m = &s->model;
    struct span p = span_of(s, c);
    uint32_t n = p.last - p.first + 1;
    spend(s, at,
          (int64_t)(m->command_read_ns + (n - 1) * (n < m->wide_units ? m->extra_read_ns : m->wide_read_ns)) +
              look_up(s, &p, false));
    int64_t done = s->timing.firmware;
    uint32_t last = FTL_NONE;
    for (uint32_t unit = p.first; unit <= p.last; unit++) {
        uint32_t page = ftl_page(&s->ftl, unit);
        if (page == FTL_NONE)
            continue;
        s->read_units++;
        int64_t t = timing_read(&s->timing, m, &s->ftl, page, last, s->timing.firmware);
        last = page;
        done = t > done ? t : done;
    }
    if (m->link_kb_s) {
        int64_t over = timing_link(&s->timing, m, true, c->bytes, at);
        done = later(done + link_ns(m, c->bytes), over);
    }
    queue_complete(s, c, done + (int64_t)m->read_latency_ns, 0);
}

/* Parts of units are kept, as ATA lets a drive do. */
static void trim_units(struct sim *s, const struct span *p)
{
    uint32_t first = p->first + !p->first_whole;
    for (uint32_t unit = first; unit < p->last + p->last_whole; unit++) {
        ftl_trim(&s->ftl, unit);
        content_drop(&s->content, unit);
    }
}

static void trim_now(struct sim *s, const struct command *c, int64_t at)
{
    struct span p = span_of(s, c);
    spend(s, at, (int64_t)s->model.command_trim_ns + look_up(s, &p, true));
    trim_units(s, &p);
    queue_complete(s, c, s->timing.firmware, 0);
}

/* Zeroes of whole units need no flash: the units are given back, and read as zeros; others are written. */
static bool is_trim(const struct sim *s, const struct command *c)
{
    return c->op == SATED_TRIM ||
           (c->op == SATED_WRITE_ZEROES && !((c->offset | c->bytes) & (s->model.unit_bytes - 1)));
}

/* What is in the buffer goes to flash, after what is on its way there, unless capacitors make it safe where it is. Writes
 * that still wait for the buffer are not answered yet, and so not covered. */
static void flush_now(struct sim *s, const struct command *c, int64_t at)
{
    spend(s, at, (int64_t)s->model.command_trim_ns);
    int64_t done = s->timing.firmware;
    if (!s->model.capacitors) {
        timing_flush(&s->timing, &s->model, &s->ftl, done);
        done = s->timing.busy > done ? s->timing.busy : done;
    }
    queue_complete(s, c, done, 0);
}

static void write_unit(struct sim *s, uint32_t unit)
{
    ftl_write(&s->ftl, unit);
    content_drop(&s->content, unit);
}

/* Moves units of the first write into the buffer until it is in there whole (true), or the buffer is full. */
static bool gather(struct sim *s, struct command *c, int64_t at)
{
    const struct model *m = &s->model;
    struct span p = span_of(s, c);
    uint32_t n = p.last - p.first + 1;
    bool wide = n >= m->wide_units;
    for (; c->at < n; c->at++) {
        uint32_t unit = p.first + c->at;
        if (timing_room(&s->timing) > at)
            return false;
        if (!c->at)
            spend(s, m->link_kb_s ? timing_link(&s->timing, m, false, c->bytes, at) : at,
                  (int64_t)m->command_write_ns + look_up(s, &p, true));
        else if (wide)
            spend(s, at, (int64_t)m->wide_write_ns);
        timing_gather(&s->timing, m, &s->ftl, wide);
        if ((unit == p.first && !p.first_whole) || (unit == p.last && !p.last_whole)) {
            uint32_t page = ftl_page(&s->ftl, unit);
            if (page != FTL_NONE) { /* the rest of the unit is read first */
                int64_t read = timing_read(&s->timing, m, &s->ftl, page, FTL_NONE, s->timing.firmware);
                s->timing.firmware = m->modify_ns ? s->timing.firmware + (int64_t)m->modify_ns : read;
            }
        }
        uint64_t moved = s->ftl.moved;
        write_unit(s, unit);
        s->timing.firmware += (int64_t)((s->ftl.moved - moved) * m->move_ns);
        timing_program(&s->timing, m, &s->ftl, s->timing.firmware);
    }
    return true;
}

static void drain(struct sim *s, int64_t at)
{
    while (s->writes.n) {
        struct command *c = fifo_first(&s->writes);
        if (!gather(s, c, at))
            return;
        queue_complete(s, c, s->timing.firmware > at ? s->timing.firmware : at, 0);
        fifo_drop(&s->writes);
    }
}

void queue_untimed(struct sim *s, const struct command *c)
{
    if (c->op == SATED_FLUSH) /* there is no buffer */
        return;
    struct span p = span_of(s, c);
    if (c->op == SATED_WRITE || (c->op == SATED_WRITE_ZEROES && !is_trim(s, c)))
        for (uint32_t unit = p.first; unit <= p.last; unit++)
            write_unit(s, unit);
    else if (c->op != SATED_READ)
        trim_units(s, &p);
    else
        for (uint32_t unit = p.first; unit <= p.last; unit++)
            s->read_units += ftl_page(&s->ftl, unit) != FTL_NONE;
}

/* What is in the drive already comes to its end; the firmware takes nothing more until the stall is over. */
static void stall(struct sim *s)
{
    spend(s, s->stall_at, s->stall_ns);
    s->stall_ns = 0;
}

/* It has tried to read, where it was to read. */
static void refuse(struct sim *s, const struct command *c, int status)
{
    spend(s, s->now, (int64_t)s->model.command_read_ns);
    queue_complete(s, c, s->timing.firmware + (int64_t)(c->op == SATED_READ ? s->model.read_ns : 0), status);
}

void queue_admit(struct sim *s)
{
    if (s->stall_ns && s->now >= s->stall_at)
        stall(s);
    while (s->waiting.n && s->inside < s->model.queue) {
        struct command *c = fifo_first(&s->waiting);
        s->inside++;
        int status = s->ftl.sick ? flaw_meets(s, c) : 0;
        if (status) {
            refuse(s, c, status);
        } else if (c->op == SATED_WRITE || (c->op == SATED_WRITE_ZEROES && !is_trim(s, c))) {
            ftl_ask(&s->ftl, (uint32_t)(c->offset >> s->unit_shift));
            fifo_put(&s->writes, c); /* made with room for all that the drive takes */
            drain(s, s->now);
        } else {
            timing_settle(&s->timing, &s->model, &s->ftl, s->now);
            if (c->op == SATED_READ)
                read_now(s, c, s->now);
            else if (c->op == SATED_FLUSH)
                flush_now(s, c, s->now);
            else
                trim_now(s, c, s->now);
        }
        fifo_drop(&s->waiting);
    }
}

void queue_run_until(struct sim *s, int64_t t_ns)
{
    while (s->writes.n) {
        int64_t room = timing_room(&s->timing);
        if (room > t_ns)
            return;
        drain(s, room > s->now ? room : s->now);
    }
}

void queue_run(struct sim *s)
{
    while (s->writes.n && (!s->done || timing_room(&s->timing) <= s->heap[0].done_ns)) {
        int64_t room = timing_room(&s->timing);
        drain(s, room > s->now ? room : s->now);
    }
}
