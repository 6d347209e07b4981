/* SPDX-License-Identifier: MIT */
#include "load/supply.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/error.h"
#include "core/size.h"
#include "load/job.h"
#include "load/workload.h"

struct chunk {
    struct chunk *next;
    size_t n;
    struct given given[];
};

void supply_init(struct supply *s)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&s->wanted, &attributes);
    pthread_condattr_destroy(&attributes);
}

void supply_free(struct supply *s)
{
    pthread_cond_destroy(&s->wanted);
}

static void chunks_free(struct chunk *c)
{
    for (struct chunk *next; c; c = next) {
        next = c->next;
        free(c);
    }
}

void supply_queue_free(struct supply_queue *q)
{
    chunks_free(q->first);
    q->first = q->last = NULL;
    q->waiting = q->taken = 0;
}

bool ration_init(struct ration *r, uint32_t room)
{
    *r = (struct ration){.given = calloc(room, sizeof *r->given), .room = room, .dry_ns = -1};
    return r->given != NULL;
}

void ration_free(struct ration *r)
{
    free(r->given);
    r->given = NULL;
}

/* --- what the caller gives --- */

/* Reads addresses by a load's mix. */
struct reader {
    const struct sated_load *load;
    uint32_t op, bytes; /* the only ones of the mix, flushes aside; NONE: there are several */
    uint64_t chunk;     /* of which an address is called a part; NONE: of no chunk */
    uint64_t first;     /* what the first address is counted as */
    struct sated_address last;
    uint32_t last_class; /* of that: what follows is often like it */
};

#define NONE UINT32_MAX

static struct reader reader_of(const struct sated_load *l, uint64_t chunk, uint64_t first)
{
    struct reader r = {.load = l, .op = NONE, .bytes = NONE, .chunk = chunk, .first = first, .last_class = NONE};
    bool one_op = true, one_size = true;
    for (uint32_t i = 0; i < l->mix.n; i++) {
        if (l->mix.op[i] == SATED_FLUSH)
            continue;
        one_op &= r.op == NONE || r.op == l->mix.op[i];
        one_size &= r.bytes == NONE || r.bytes == l->mix.bytes[i];
        r.op = l->mix.op[i];
        r.bytes = l->mix.bytes[i];
    }
    r.op = one_op ? r.op : NONE;
    r.bytes = one_size ? r.bytes : NONE;
    return r;
}

static int __attribute__((format(printf, 3, 4))) wrong(const struct reader *r, size_t i, const char *format, ...)
{
    char why[400], where[64] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (r->chunk != NONE)
        snprintf(where, sizeof where, " of chunk %" PRIu64, r->chunk);
    return refused("address %" PRIu64 "%s, counted from 0, %s", r->first + i, where, why);
}

/* The class of what an address says of its I/O. */
static int find_class(struct reader *r, const struct sated_address *a, size_t i, uint32_t *class)
{
    const struct sated_load *l = r->load;
    uint32_t op = a->op, bytes = a->size_bytes;
    if (op == SATED_OP_ANY && !bytes) {
        *class = SUPPLY_DRAWN;
        return 0;
    }
    if (l->rates.n && !l->rates.whole)
        return wrong(r, i,
                     "says what its I/O does, but the workload has rates for single operations; give one rate for all, "
                     "or offsets alone");
    if (r->last_class != NONE && r->last.op == op && r->last.size_bytes == bytes) {
        *class = r->last_class;
        return 0;
    }
    op = op == SATED_OP_ANY ? r->op : op;
    bytes = op == SATED_FLUSH ? 0 : bytes ? bytes : r->bytes;
    if (op == NONE || bytes == NONE)
        return wrong(r, i, "says only a part of what its I/O does, and the workload has several %s; say both",
                     op == NONE ? "operations" : "sizes");
    for (*class = 0; *class < l->mix.n; ++*class) {
        if (l->mix.op[*class] == op && l->mix.bytes[*class] == bytes) {
            r->last = *a;
            r->last_class = *class;
            return 0;
        }
    }
    if (op >= SATED_OPS)
        return wrong(r, i, "has the operation %" PRIu32 ", which is none", op);
    return wrong(r, i, "is a %s of %" PRIu32 " bytes, which the workload has none of; give it all sizes and operations",
                 workload_op_names[op], bytes);
}

/* Whether every drive has that place. */
static int check_place(const struct reader *r, uint64_t offset, uint32_t bytes, size_t i)
{
    const struct sated_load *l = r->load;
    for (const struct member *m = l->members; m < l->members + l->n; m++) {
        const struct address_range *range = &m->range;
        if (offset % range->block)
            return wrong(r, i, "is offset %" PRIu64 ", which is no multiple of the %" PRIu32 " bytes that %s needs",
                         offset, range->block, m->name);
        if (offset < l->workload.offset_bytes || offset > range->end || range->end - offset < bytes)
            return wrong(r, i,
                         "is offset %" PRIu64 ", where an I/O of %" PRIu32 " bytes is outside the range of %s, %" PRIu64
                         " to %" PRIu64,
                         offset, bytes, m->name, l->workload.offset_bytes, range->end);
    }
    return 0;
}

/* @param out n of them, or NULL: they are only checked */
static int read_all(struct reader *r, const struct sated_address *a, size_t n, struct given *out)
{
    const struct mix *mix = &r->load->mix;
    uint32_t class = SUPPLY_DRAWN;
    for (size_t i = 0; i < n; i++) {
        int rc = find_class(r, &a[i], i, &class);
        if (rc)
            return rc;
        bool flush = class != SUPPLY_DRAWN && mix->op[class] == SATED_FLUSH;
        rc = flush ? 0
                   : check_place(r, a[i].offset_bytes, class == SUPPLY_DRAWN ? mix->max_bytes : mix->bytes[class], i);
        if (rc)
            return rc;
        if (out)
            out[i] = (struct given){.offset = flush ? 0 : a[i].offset_bytes, .class = class};
    }
    return 0;
}

static int need_supply(const struct sated_load *l)
{
    if (supply_is_on(&l->options))
        return 0;
    return error_set(SATED_STATE, SATED_LAYER_ARGUMENT,
                     "this load finds its addresses itself; start it with the flag SATED_LOAD_ADDRESSES to give some");
}

int sated_load_check_addresses(struct sated_load *l, const struct sated_address *addresses, size_t n, uint64_t first)
{
    int rc = need_supply(l);
    struct reader r = reader_of(l, NONE, first);
    return rc ? rc : read_all(&r, addresses, n, NULL);
}

/* Whether there is room for a chunk: at a simulated drive once it asks, so that who makes addresses up sees it as it is
 * then. Under the lock. */
static bool wanted(const struct sated_load *l)
{
    bool any = false, room = true;
    for (const struct member *m = l->members; m < l->members + l->n; m++) {
        if (!m->supply.users)
            continue;
        if (l->engine == SATED_ENGINE_SIMULATED) {
            any |= m->supply.standing && !m->supply.waiting;
        } else {
            any = true;
            room &= m->supply.waiting < SUPPLY_ROOM;
        }
    }
    return any && room && !l->supply.ended && !l->ended && !atomic_load(&l->stop);
}

int sated_load_wait_addresses(struct sated_load *l, int64_t timeout_ns)
{
    int rc = need_supply(l);
    if (rc)
        return rc;
    int64_t end_ns = 0;
    bool for_ever = timeout_ns < 0 || __builtin_add_overflow(clock_now_ns(), timeout_ns, &end_ns);
    struct timespec end = {.tv_sec = end_ns / 1000000000, .tv_nsec = end_ns % 1000000000};
    pthread_mutex_lock(&l->lock);
    while (!wanted(l) && !l->supply.ended && !l->ended && !rc) {
        if (for_ever)
            pthread_cond_wait(&l->supply.wanted, &l->lock);
        else
            rc = pthread_cond_timedwait(&l->supply.wanted, &l->lock, &end);
    }
    rc = wanted(l);
    pthread_mutex_unlock(&l->lock);
    return rc;
}

/* A copy of a chunk for each drive. Return: whether there was memory for all. */
static bool copy(const struct sated_load *l, struct chunk **of, const struct chunk *c)
{
    const size_t bytes = sizeof *c + c->n * sizeof *c->given;
    for (uint32_t i = 1; i < l->n; i++) {
        if (!(of[i] = malloc(bytes)))
            return false;
        memcpy(of[i], c, bytes);
    }
    return true;
}

static void put(struct supply_queue *q, struct chunk *c)
{
    c->next = NULL;
    if (q->last)
        q->last->next = c;
    else
        q->first = c;
    q->last = c;
    q->waiting += c->n;
}

/* Hands them over, and keeps what nobody will take. Return: 1, 0 without room, or SATED_STATE. */
static int hand_over(struct sated_load *l, struct chunk **of, size_t n, bool last)
{
    int rc = 1;
    pthread_mutex_lock(&l->lock);
    if (l->supply.ended)
        rc = error_set(SATED_STATE, SATED_LAYER_ARGUMENT, "the last addresses of this load have been added before");
    for (const struct member *m = l->members; rc > 0 && n && m < l->members + l->n; m++)
        if (m->supply.waiting >= SUPPLY_ROOM && !wanted(l))
            rc = 0;
    for (uint32_t i = 0; rc > 0 && n && i < l->n; i++) {
        if (!l->members[i].supply.users)
            continue;
        put(&l->members[i].supply, of[i]);
        of[i] = NULL;
    }
    if (rc > 0) {
        l->supply.chunks += n > 0;
        l->supply.ended = last;
        pthread_cond_broadcast(&l->go);
        pthread_cond_broadcast(&l->supply.wanted);
    }
    pthread_mutex_unlock(&l->lock);
    return rc;
}

int sated_load_add_addresses(struct sated_load *l, const struct sated_address *addresses, size_t n, bool last)
{
    struct chunk *of[LOAD_DRIVES] = {NULL};
    struct reader r = reader_of(l, l->supply.chunks, 0);
    int rc = need_supply(l);
    if (!rc && n && (of[0] = malloc(sizeof *of[0] + n * sizeof *of[0]->given))) {
        of[0]->n = n;
        rc = read_all(&r, addresses, n, of[0]->given);
    }
    if (!rc && n && (!of[0] || !copy(l, of, of[0])))
        rc = load_no_memory();
    if (!rc)
        rc = hand_over(l, of, n, last);
    for (uint32_t i = 0; i < l->n; i++)
        free(of[i]);
    return rc;
}

/* --- what threads take --- */

/* Return: how many, up to n. Those that are empty then go to `used`. */
static uint32_t take(struct supply_queue *q, struct given *out, uint32_t n, struct chunk **used)
{
    uint32_t taken = 0;
    while (taken < n && q->first) {
        struct chunk *c = q->first;
        size_t some = c->n - q->taken < n - taken ? c->n - q->taken : n - taken;
        memcpy(out + taken, c->given + q->taken, some * sizeof *out);
        taken += (uint32_t)some;
        q->taken += some;
        if (q->taken < c->n)
            break;
        q->taken = 0;
        q->first = c->next;
        if (!q->first)
            q->last = NULL;
        c->next = *used;
        *used = c;
    }
    q->waiting -= taken;
    return taken;
}

uint32_t supply_take(struct member *m, struct ration *r, uint32_t n, int64_t now_ns)
{
    struct sated_load *l = m->load;
    struct supply_queue *q = &m->supply;
    struct chunk *used = NULL;
    n = n < r->room ? n : r->room;
    uint32_t left = r->n - r->at;
    if (left >= n)
        return n;
    memmove(r->given, r->given + r->at, left * sizeof *r->given);
    r->at = 0;
    pthread_mutex_lock(&l->lock);
    bool full = q->waiting >= SUPPLY_ROOM;
    r->n = left + take(q, r->given + left, n - left, &used);
    if (full && q->waiting < SUPPLY_ROOM)
        pthread_cond_broadcast(&l->supply.wanted);
    r->over = !r->n && l->supply.ended;
    q->used_up |= r->over;
    pthread_mutex_unlock(&l->lock);
    chunks_free(used);
    if (!r->n && !r->over) {
        r->dry_ns = r->dry_ns < 0 ? now_ns : r->dry_ns;
        return 0;
    }
    if (r->n) /* else nothing was to come */
        ration_tell(r, now_ns);
    r->dry_ns = -1;
    r->told = false;
    return r->n;
}

void ration_tell(struct ration *r, int64_t now_ns)
{
    if (r->dry_ns < 0 || now_ns <= r->dry_ns)
        return;
    r->starved += !r->told;
    r->told = true;
    r->starved_ns += now_ns - r->dry_ns;
    r->dry_ns = now_ns;
}

bool supply_stand(struct member *m, struct ration *r)
{
    struct sated_load *l = m->load;
    struct supply_queue *q = &m->supply;
    struct chunk *used = NULL;
    if (r->at < r->n)
        return true;
    pthread_mutex_lock(&l->lock);
    q->standing = true;
    pthread_cond_broadcast(&l->supply.wanted);
    while (!q->waiting && !l->supply.ended && !atomic_load(&l->stop))
        pthread_cond_wait(&l->go, &l->lock);
    q->standing = false;
    r->at = 0;
    r->n = take(q, r->given, r->room, &used);
    r->over = !r->n && l->supply.ended;
    q->used_up |= r->over;
    pthread_mutex_unlock(&l->lock);
    chunks_free(used);
    return r->n > 0;
}

void supply_leave(struct member *m)
{
    if (!m->supply.users || --m->supply.users)
        return;
    supply_queue_free(&m->supply);
    pthread_cond_broadcast(&m->load->supply.wanted);
}

void supply_await_first(struct sated_load *l)
{
    while (supply_is_on(&l->options) && !l->supply.chunks && !l->supply.ended && !atomic_load(&l->stop))
        pthread_cond_wait(&l->go, &l->lock);
}

void supply_last_words(const struct sated_load *l, char *to, size_t room)
{
    char seconds[SIZE_NUMBER];
    for (const struct member *m = l->members; m < l->members + l->n; m++) {
        const char *semicolon = *to ? "; " : "";
        if (m->supply.used_up)
            snprintf(to + strlen(to), room - strlen(to), "%s%s: the addresses are used up", semicolon, m->name);
        if (!m->total->starved)
            continue;
        size_print_number(seconds, sizeof seconds, (double)m->total->starved_ns * 1e-9, 3);
        snprintf(to + strlen(to), room - strlen(to),
                 "%s%s: the addresses came too slowly, threads with free slots waited %" PRIu64
                 " times for them, %s s in all",
                 *to ? "; " : "", m->name, m->total->starved, seconds);
    }
}
