/* SPDX-License-Identifier: MIT */
/* Commands on their way through the controller: events in the order of their times, the members' completions among them.
 * A command costs the controller time and its data the host's link; what then waits for members waits for their own
 * completions. Nothing is carried out ahead of the time that the caller lets come. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/set_inside.h"
#include "sim/sim.h"

static bool before(const struct event *a, const struct event *b)
{
    return a->at < b->at || (a->at == b->at && a->number < b->number);
}

/* There is room: one for each command and each row on its way, and two for what goes on by itself. */
void set_event(struct set *t, int64_t at, uint32_t kind, uint32_t order, struct line *line)
{
    struct event new = {at > t->at ? at : t->at, t->number++, line, kind, order};
    uint32_t i = t->n_events++;
    while (i && before(&new, &t->heap[(i - 1) / 2])) {
        t->heap[i] = t->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    t->heap[i] = new;
}

static struct event take(struct set *t)
{
    struct event first = t->heap[0], last = t->heap[--t->n_events];
    uint32_t i = 0, child;
    while ((child = 2 * i + 1) < t->n_events) {
        child += child + 1 < t->n_events && before(&t->heap[child + 1], &t->heap[child]);
        if (!before(&t->heap[child], &last))
            break;
        t->heap[i] = t->heap[child];
        i = child;
    }
    t->heap[i] = last;
    return first;
}

int64_t set_spend(struct set *t, int64_t at, uint64_t cost)
{
    t->k.firmware = (t->k.firmware > at ? t->k.firmware : at) + (int64_t)cost;
    return t->k.firmware;
}

static int64_t transfer(struct set *t, int64_t at, uint64_t bytes)
{
    t->k.link = (t->k.link > at ? t->k.link : at) + (int64_t)(bytes * 1000000000 / t->shape.link_bytes_s);
    return t->k.link;
}

int set_part(struct set *t, uint32_t member, enum sated_op op, uint64_t offset, uint64_t bytes, uint32_t order,
             struct line *line)
{
    if (t->free_part == SET_NONE) {
        uint32_t n = t->n_parts ? 2 * t->n_parts : 64;
        struct part *parts = realloc(t->parts, n * sizeof *parts);
        if (!parts)
            return -ENOMEM;
        for (uint32_t i = t->n_parts; i < n; i++)
            parts[i].next = i + 1 < n ? i + 1 : SET_NONE;
        t->free_part = t->n_parts;
        t->parts = parts;
        t->n_parts = n;
    }
    uint32_t tag = t->free_part;
    struct sim *m = t->member[member];
    sim_idle_until(m, t->at);
    int rc = sim_submit(m, tag, op, offset, (uint32_t)bytes);
    if (rc)
        return rc;
    t->free_part = t->parts[tag].next;
    t->parts[tag] = (struct part){line, order, 0, member};
    t->busy[member]++;
    if (line)
        line->pending++;
    else
        t->orders[order].pending++;
    return 0;
}

/* Members' commands of one command of the host; those that lie one behind the other on a member are one. */
struct batch {
    enum sated_op op;
    uint32_t order;
    struct {
        uint64_t offset, bytes;
    } span[SET_MEMBERS_MAX];
};

static void batch_flush(struct set *t, struct batch *b, uint32_t member)
{
    if (!b->span[member].bytes)
        return;
    int rc = set_part(t, member, b->op, b->span[member].offset, b->span[member].bytes, b->order, NULL);
    if (rc)
        t->orders[b->order].status = rc;
    b->span[member].bytes = 0;
}

static void batch_add(struct set *t, struct batch *b, uint32_t member, uint64_t offset, uint64_t bytes)
{
    if (b->span[member].offset + b->span[member].bytes != offset)
        batch_flush(t, b, member);
    if (!b->span[member].bytes)
        b->span[member].offset = offset;
    b->span[member].bytes += bytes;
}

static void answer(struct set *t, uint32_t order, int64_t at)
{
    set_event(t, at, EVENT_ANSWER, order, NULL);
}

static void order_done(struct set *t, uint32_t order)
{
    const struct command *c = &t->orders[order].c;
    answer(t, order, c->op == SATED_READ ? transfer(t, t->at, c->bytes) : t->at);
}

static void batch_end(struct set *t, struct batch *b)
{
    for (uint32_t m = 0; m < t->shape.n; m++)
        batch_flush(t, b, m);
    if (!t->orders[b->order].pending)
        order_done(t, b->order);
}

/* The mirror with the least to do; of equal ones the one whose last read ended here, else each in its turn. */
static uint32_t mirror(struct set *t, struct piece p, uint64_t offset)
{
    uint32_t best = SET_NONE;
    for (uint32_t i = 0; i < t->shape.copies; i++) {
        uint32_t copy = t->shape.copies == 1 ? 0 : (uint32_t)((t->k.turn + i) % t->shape.copies);
        uint32_t m = set_place(t, p.row, p.k, copy);
        if (!set_has(t, m, p.row))
            continue;
        if (best == SET_NONE || t->busy[m] < t->busy[best] ||
            (t->busy[m] == t->busy[best] && t->k.read_end[m] == offset && t->k.read_end[best] != offset))
            best = m;
    }
    t->k.turn++;
    return best;
}

static bool in_cache(const struct set *t, struct piece p)
{
    struct line *l = cache_line(t, p.row);
    if (!l)
        return false;
    const uint64_t *dirty = line_dirty(t, l, p.k), *flying = line_flying(t, l, p.k);
    for (uint32_t i = p.at / SET_SECTOR; i < (p.at + p.bytes) / SET_SECTOR; i++)
        if (!((dirty[i / 64] | flying[i / 64]) >> i % 64 & 1))
            return false;
    return true;
}

static void order_read(struct set *t, uint32_t order)
{
    struct command c = t->orders[order].c;
    struct batch b = {.op = SATED_READ, .order = order};
    uint32_t chosen[SET_MEMBERS_MAX];
    memset(chosen, 0xff, sizeof chosen);
    for (uint64_t at = 0; at < c.bytes;) {
        struct piece p = set_piece(t, c.offset + at, c.bytes - at);
        uint64_t offset = p.row * t->shape.chunk + p.at;
        at += p.bytes;
        if (in_cache(t, p))
            continue;
        if (t->shape.copies > 1 && (chosen[p.k] == SET_NONE || !set_has(t, chosen[p.k], p.row)))
            chosen[p.k] = mirror(t, p, offset);
        uint32_t m = t->shape.copies > 1 ? chosen[p.k] : set_place(t, p.row, p.k, 0);
        if (set_has(t, m, p.row)) {
            batch_add(t, &b, m, offset, p.bytes);
            t->k.read_end[m] = offset + p.bytes;
            continue;
        }
        for (uint32_t other = 0; other < t->shape.n; other++) /* worked out from all that is left of the row */
            if (other != m)
                batch_add(t, &b, other, offset, p.bytes);
    }
    batch_end(t, &b);
}

static bool takes_whole_rows(const struct set *t)
{
    return t->shape.level == SET_RAID5;
}

/* Only whole rows of RAID 5 are given back: of others the parity would have to be worked out anew. */
static void order_trim(struct set *t, uint32_t order)
{
    struct command c = t->orders[order].c;
    struct batch b = {.op = SATED_TRIM, .order = order};
    uint64_t row_bytes = set_row_bytes(t);
    t->orders[order].halfway = false;
    for (uint64_t at = 0; at < c.bytes;) {
        struct piece p = set_piece(t, c.offset + at, c.bytes - at);
        uint64_t offset = p.row * t->shape.chunk + p.at;
        if (!takes_whole_rows(t)) {
            for (uint32_t copy = 0; copy < t->shape.copies; copy++)
                if (set_has(t, set_place(t, p.row, p.k, copy), p.row))
                    batch_add(t, &b, set_place(t, p.row, p.k, copy), offset, p.bytes);
        } else if (!p.k && !p.at && c.bytes - at >= row_bytes) {
            for (uint32_t m = 0; m < t->shape.n; m++)
                if (set_has(t, m, p.row))
                    batch_add(t, &b, m, offset, t->shape.chunk);
            p.bytes = (uint32_t)row_bytes;
        }
        at += p.bytes;
    }
    batch_end(t, &b);
}

/* After what the cache holds of it. */
static void order_trim_begins(struct set *t, uint32_t order)
{
    const struct command *c = &t->orders[order].c;
    uint64_t row_bytes = set_row_bytes(t), last = (c->offset + c->bytes - 1) / row_bytes;
    t->orders[order].halfway = true;
    for (uint64_t row = c->offset / row_bytes; row <= last; row++) {
        struct line *l = cache_line(t, row);
        if (l && (l->n_dirty || l->n_flying) && !cache_wait(t, l, order))
            cache_put_back(t, l);
    }
    if (!t->orders[order].pending)
        order_trim(t, order);
}

static void order_flush(struct set *t, uint32_t order)
{
    t->orders[order].halfway = false;
    for (uint32_t m = 0; m < t->shape.n; m++)
        if (t->k.state[m] != SATED_MEMBER_FAILED)
            set_part(t, m, SATED_FLUSH, 0, 0, order, NULL);
    if (!t->orders[order].pending)
        order_done(t, order);
}

static bool wait_for_all(struct set *t, const struct line_queue *q, uint32_t order)
{
    for (struct line *l = q->first; l; l = l->newer)
        if (cache_wait(t, l, order))
            return false;
    return true;
}

/* The controller's battery keeps its cache, but not what the members have in theirs: where those lose it without power,
 * what the cache holds goes through them to the flash. */
static void order_flush_begins(struct set *t, uint32_t order)
{
    struct order *o = &t->orders[order];
    if (t->member[0]->model.capacitors && t->shape.write_back) {
        answer(t, order, t->at);
        return;
    }
    o->halfway = true;
    bool good = !t->shape.write_back || (wait_for_all(t, &t->urgent, order) && wait_for_all(t, &t->aging, order));
    for (uint32_t i = 0; good && t->shape.write_back && i < t->hash_room; i++)
        for (struct line *l = t->hash[i]; l && good; l = l->hash_next)
            good = l->list != LINE_NONE || !cache_wait(t, l, order);
    if (!good)
        o->status = -ENOMEM;
    cache_hurry(t);
    if (!o->pending)
        order_flush(t, order);
}

/* Moves a write into the cache until it is in there whole (true), or the cache is full. */
static bool order_write(struct set *t, uint32_t order)
{
    struct order *o = &t->orders[order];
    uint64_t waits_for = UINT64_MAX;
    while (o->c.at < o->c.bytes && !o->status) {
        struct piece p = set_piece(t, o->c.offset + o->c.at, o->c.bytes - o->c.at);
        if (t->shape.write_back && t->used + p.bytes > t->shape.cache_bytes)
            return false;
        struct line *l = cache_need(t, p.row);
        if (l)
            cache_write(t, l, p);
        if (!l || (!t->shape.write_back && waits_for != p.row && cache_wait(t, l, order))) {
            o->status = -ENOMEM;
            break;
        }
        waits_for = p.row;
        cache_put_back(t, l);
        o->c.at += p.bytes;
    }
    if (!o->pending)
        answer(t, order, t->at);
    return true;
}

static void block(struct set *t, uint32_t order)
{
    t->orders[order].next = SET_NONE;
    *(t->blocked_last == SET_NONE ? &t->blocked_first : &t->orders[t->blocked_last].next) = order;
    t->blocked_last = order;
}

void set_unblock(struct sim *s)
{
    struct set *t = s->set;
    while (t->blocked_first != SET_NONE && order_write(t, t->blocked_first)) {
        t->blocked_first = t->orders[t->blocked_first].next;
        if (t->blocked_first == SET_NONE)
            t->blocked_last = SET_NONE;
    }
}

static bool gives_back(const struct set *t, const struct command *c)
{
    uint64_t whole = takes_whole_rows(t) ? set_row_bytes(t) : t->member[0]->model.unit_bytes;
    return c->op == SATED_TRIM || (c->op == SATED_WRITE_ZEROES && !((c->offset | c->bytes) % whole));
}

static void arrive(struct sim *s, uint32_t order)
{
    struct set *t = s->set;
    const struct command *c = &t->orders[order].c;
    if (c->op == SATED_READ)
        order_read(t, order);
    else if (c->op == SATED_FLUSH)
        order_flush_begins(t, order);
    else if (gives_back(t, c))
        order_trim_begins(t, order);
    else if (t->blocked_first != SET_NONE || !order_write(t, order))
        block(t, order);
    cache_destage(s);
}

void set_order_landed(struct sim *s, uint32_t order)
{
    struct order *o = &s->set->orders[order];
    if (--o->pending)
        return;
    if (o->halfway && o->c.op == SATED_FLUSH)
        order_flush(s->set, order);
    else if (o->halfway)
        order_trim(s->set, order);
    else if (o->c.at == o->c.bytes || o->status)
        answer(s->set, order, s->set->at);
}

static void part_done(struct sim *s, uint32_t tag)
{
    struct set *t = s->set;
    struct part p = t->parts[tag];
    t->parts[tag].next = t->free_part;
    t->free_part = tag;
    t->busy[p.member]--;
    if (p.line)
        row_part_done(s, p.line);
    else if (!--t->orders[p.order].pending)
        order_done(t, p.order);
}

/* Who is next: a member, or n_members for the heap; SET_NONE: there is nothing. */
static uint32_t next_of(struct set *t, int64_t *at)
{
    uint32_t who = SET_NONE;
    int64_t done;
    for (uint32_t m = 0; m < t->shape.n; m++)
        if (t->busy[m] && sim_peek(t->member[m], &done) && (who == SET_NONE || done < *at)) {
            *at = done;
            who = m;
        }
    if (t->n_events && (who == SET_NONE || t->heap[0].at < *at)) {
        *at = t->heap[0].at;
        who = t->shape.n;
    }
    return who;
}

bool set_advance(struct sim *s, int64_t until_ns)
{
    struct set *t = s->set;
    int64_t at = 0;
    uint32_t tag, who = next_of(t, &at);
    int status;
    if (who == SET_NONE || at > until_ns || (who == t->shape.n && t->heap[0].kind == EVENT_ANSWER))
        return false;
    t->at = at > t->at ? at : t->at;
    if (who < t->shape.n) {
        if (sim_next(t->member[who], &tag, &at, &status))
            part_done(s, tag);
        return true;
    }
    struct event e = take(t);
    switch ((enum event_kind)e.kind) {
    case EVENT_ARRIVE: arrive(s, e.order); break;
    case EVENT_READY: row_ready(s, e.line); break;
    case EVENT_AGE:
        t->age_set = false;
        cache_destage(s);
        break;
    case EVENT_REBUILD: row_rebuild(s); break;
    case EVENT_ANSWER: break;
    }
    return true;
}

bool set_peek(struct sim *s, int64_t until_ns, int64_t *done_ns)
{
    struct set *t = s->set;
    if (!sim_outstanding(s))
        return false;
    while (set_advance(s, until_ns))
        ;
    if (!t->n_events || t->heap[0].kind != EVENT_ANSWER || t->heap[0].at > until_ns)
        return false;
    *done_ns = t->heap[0].at;
    return true;
}

void set_admit(struct sim *s)
{
    struct set *t = s->set;
    t->at = t->at > s->now ? t->at : s->now;
    while (s->waiting.n && s->inside < t->shape.queue) {
        uint32_t id = t->free_order;
        struct order *o = &t->orders[id];
        t->free_order = o->next;
        *o = (struct order){.c = s->waiting.items[s->waiting.first], .next = SET_NONE};
        s->waiting.first = (s->waiting.first + 1) & (s->waiting.room - 1);
        s->waiting.n--;
        s->inside++;
        int64_t at = set_spend(t, t->at, t->shape.command_ns);
        if (o->c.op == SATED_WRITE || (o->c.op == SATED_WRITE_ZEROES && !gives_back(t, &o->c)))
            at = transfer(t, at, o->c.bytes);
        set_event(t, at, EVENT_ARRIVE, id, NULL);
    }
}

bool set_next(struct sim *s, uint32_t *tag, int64_t *done_ns, int *status)
{
    struct set *t = s->set;
    if (!set_peek(s, INT64_MAX, done_ns))
        return false;
    struct event e = take(t);
    struct order *o = &t->orders[e.order];
    t->at = e.at;
    sim_at(s, e.at);
    s->last_command = e.at;
    *tag = o->c.tag;
    *done_ns = e.at;
    *status = o->status;
    if (!o->status) {
        s->served.commands[o->c.op]++;
        s->served.bytes[o->c.op] += o->c.bytes;
    }
    o->next = t->free_order;
    t->free_order = e.order;
    s->inside--;
    set_admit(s);
    return true;
}

void set_idle_until(struct sim *s, int64_t t_ns)
{
    struct set *t = s->set;
    int64_t done;
    if (t_ns <= s->now)
        return;
    if (set_peek(s, t_ns, &done))
        t_ns = done;
    else
        while (set_advance(s, t_ns))
            ;
    for (uint32_t m = 0; m < t->shape.n; m++)
        sim_idle_until(t->member[m], t_ns);
    t->at = t_ns;
    sim_at(s, t_ns);
}

void set_settle(struct sim *s)
{
    struct set *t = s->set;
    t->hold = true;
    while (t->flying && set_advance(s, INT64_MAX))
        ;
    if (t->rebuilding) { /* not begun yet: it is again, when its time has come */
        struct line *l = t->rebuilding;
        t->rebuilding = NULL;
        l->rebuild = 0;
        cache_unlist(t, l);
        cache_put_back(t, l);
    }
    set_idle_until(s, t->at);
    for (uint32_t m = 0; m < t->shape.n; m++)
        sim_idle_until(t->member[m], s->now);
}

void set_write_out(struct sim *s)
{
    struct set *t = s->set;
    cache_hurry(t);
    cache_destage(s);
    while ((t->urgent.first || t->flying) && set_advance(s, INT64_MAX))
        cache_hurry(t);
    set_settle(s);
}

void set_go_on(struct sim *s)
{
    struct set *t = s->set;
    t->hold = t->age_set = false;
    t->n_events = 0;
    for (uint32_t m = 0; m < t->shape.n; m++)
        if (t->k.state[m] == SATED_MEMBER_REBUILDING)
            set_event(t, t->k.rebuild_due, EVENT_REBUILD, 0, NULL);
    cache_destage(s);
}

void set_forget_run(struct sim *s)
{
    struct set *t = s->set;
    t->n_events = t->flying = 0;
    t->age_set = false;
    t->rebuilding = NULL;
    s->inside = s->waiting.n = 0;
    t->blocked_first = t->blocked_last = SET_NONE;
    for (uint32_t i = 0; i < t->shape.queue; i++)
        t->orders[i].next = i + 1 < t->shape.queue ? i + 1 : SET_NONE;
    t->free_order = 0;
    for (uint32_t i = 0; i < t->n_parts; i++)
        t->parts[i].next = i + 1 < t->n_parts ? i + 1 : SET_NONE;
    t->free_part = t->n_parts ? 0 : SET_NONE;
    memset(t->busy, 0, sizeof t->busy);
}
