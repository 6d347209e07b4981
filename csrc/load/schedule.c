/* SPDX-License-Identifier: MIT */
#include "load/schedule.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/power.h"
#include "core/size.h"
#include "load/workload.h"

#define RATE_MIN 0.1
#define RATE_MAX 1e9
#define THINK_MAX_NS INT64_C(3600000000000)

/* --- keys --- */

static int parse_rate(const char *text, double *out)
{
    int rc = size_parse_number("rate", text, out);
    if (!rc && !(*out >= RATE_MIN && *out <= RATE_MAX))
        return refused("rate = %s: give I/Os per second, between 0.1 and 1e9", text);
    return rc;
}

/* "5000", or "read:5000,write:200". */
int schedule_set_rate(struct sated_workload *w, const char *text)
{
    double total = 0, rate[RATES] = {0};
    if (!strchr(text, ':')) {
        int rc = parse_rate(text, &total);
        if (rc)
            return rc;
    }
    for (const char *at = text; !total; at++) {
        char number[32];
        size_t n = strcspn(at, ","), name = strcspn(at, ":"), op = 0;
        while (op < RATES && (strlen(workload_op_names[op]) != name || strncmp(at, workload_op_names[op], name)))
            op++;
        if (op == RATES || name >= n || n - name > sizeof number || rate[op] > 0)
            return refused("rate \"%.*s\" is no direction with its rate; write 5000 for all I/Os, or "
                           "read:5000,write:200, each once",
                           (int)n, at);
        memcpy(number, at + name + 1, n - name - 1);
        number[n - name - 1] = 0;
        int rc = parse_rate(number, &rate[op]);
        if (rc)
            return rc;
        at += n;
        if (!*at)
            break;
    }
    w->rate_total = total;
    memcpy(w->rate, rate, sizeof w->rate);
    if (!total && !(w->given & (SATED_GIVEN_OP | WORKLOAD_GIVEN_SHARES))) {
        double sum = 0;
        for (size_t op = 0; op < RATES; op++)
            sum += rate[op];
        for (size_t op = 0; op < RATES; op++)
            w->share[op] = rate[op] / sum;
    }
    return 0;
}

/* Seconds, or with a unit: "0.001", "1ms", "250us". */
int schedule_set_think(struct sated_workload *w, const char *text)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1e9}};
    char number[32];
    double value;
    size_t n = strlen(text), i = 0;
    while (n < strlen(units[i].name) || strcmp(text + n - strlen(units[i].name), units[i].name))
        i++;
    n -= strlen(units[i].name);
    if (n >= sizeof number)
        return refused("think = %s: give seconds, or a time such as 250us or 1ms", text);
    memcpy(number, text, n);
    number[n] = 0;
    int rc = size_parse_number("think", number, &value);
    if (rc)
        return rc;
    value *= units[i].ns;
    if (!(value >= 0 && value <= (double)THINK_MAX_NS))
        return refused("think = %s: give a time between 0 and an hour, such as 250us or 1ms", text);
    w->think_ns = (int64_t)(value + 0.5);
    return 0;
}

int schedule_check(const struct sated_workload *w)
{
    bool any = w->rate_total != 0;
    for (size_t op = 0; op < RATES; op++) {
        double rate = w->rate[op];
        if (rate == 0)
            continue;
        if (!(rate >= RATE_MIN && rate <= RATE_MAX))
            return refused("rate of %s: it is between 0.1 and 1e9 I/Os per second", workload_op_names[op]);
        if (w->share[op] <= 0)
            return refused("%s has a rate, but the workload has none of them; give %s a share", workload_op_names[op],
                           workload_op_names[op]);
        if (w->rate_total != 0)
            return refused("a rate of all I/Os contradicts one of %s; leave one of them out", workload_op_names[op]);
        any = true;
    }
    if (w->rate_total != 0 && !(w->rate_total >= RATE_MIN && w->rate_total <= RATE_MAX))
        return refused("the rate is between 0.1 and 1e9 I/Os per second");
    if (w->arrival > SATED_ARRIVAL_POISSON || w->think_ns < 0 || w->think_ns > THINK_MAX_NS)
        return refused("the workload was not made by sated_workload_init");
    if (w->arrival && !any)
        return refused("arrival = poisson has no meaning without a rate; add one");
    if (w->think_ns && any)
        return refused("think contradicts rate: a rate says when each I/O begins; leave one of them out");
    return 0;
}

/* --- arrivals --- */

void schedule_init(struct schedule *s, double rate, bool poisson, uint32_t thread, uint32_t threads, uint64_t seed,
                   uint64_t stream)
{
    double period_ns = 1e9 / rate * threads, whole = floor(period_ns);
    s->period = (unsigned __int128)(uint64_t)whole << 64 | (uint64_t)((period_ns - whole) * 18446744073709551616.0);
    s->poisson = poisson;
    s->at = s->period / threads * thread;
    random_seed(&s->random, seed, stream);
    if (poisson) {
        s->at = 0;
        schedule_step(s);
    }
}

/* -ln(u / 2^64), of 2^40, the same on every machine. @param u > 0 */
static uint64_t exponential(uint64_t u)
{
    return (uint64_t)(-power_log((double)u * 0x1p-64) * 0x1p40);
}

void schedule_step(struct schedule *s)
{
    if (!s->poisson)
        s->at += s->period;
    else /* 2^-20 ns x 2^-40 */
        s->at += (unsigned __int128)(uint64_t)(s->period >> 44) * exponential(random_next(&s->random) | 1) << 4;
}

/* --- rates --- */

/* The classes of those operations that `of` has a share of. */
static void part_init(struct part *p, const struct sated_workload *of, const struct mix *m)
{
    mix_init(&p->mix, of);
    for (uint32_t i = 0, j = 0; i < p->mix.n; i++, j++) {
        while (m->op[j] != p->mix.op[i] || m->bytes[j] != p->mix.bytes[i])
            j++;
        p->class[i] = j;
    }
}

void rates_init(struct rates *r, const struct sated_workload *w, const struct mix *m)
{
    struct sated_workload rest = *w;
    memset(r, 0, sizeof *r);
    if (w->rate_total > 0) {
        r->n = 1;
        r->whole = true;
        r->per_s[0] = w->rate_total;
        return;
    }
    for (size_t op = 0; op < RATES; op++) {
        struct sated_workload one = *w;
        if (!(w->rate[op] > 0))
            continue;
        memset(one.share, 0, sizeof one.share);
        one.share[op] = 1;
        rest.share[op] = 0;
        r->per_s[r->n] = w->rate[op];
        part_init(&r->part[r->n++], &one, m);
    }
    for (size_t op = 0; r->n && op < RATES; op++)
        r->has_rest |= rest.share[op] > 0;
    if (r->has_rest)
        part_init(&r->rest, &rest, m);
}

void pace_init(struct pace *p, const struct rates *r, const struct sated_workload *w, uint64_t seed, uint32_t member,
               uint32_t thread)
{
    uint64_t stream = UINT64_C(1) << 32 | (uint64_t)member << 16 | (uint64_t)thread << 4;
    memset(p, 0, sizeof *p);
    p->rates = r;
    for (uint32_t i = 0; i < r->n; i++) {
        schedule_init(&p->due[i], r->per_s[i], w->arrival == SATED_ARRIVAL_POISSON, thread, w->threads, seed,
                      stream + i);
        p->next[i] = p->due[i];
    }
    random_seed(&p->random, seed, stream + 15);
}

uint32_t pace_due(struct pace *p, int64_t now_ns, uint32_t slots)
{
    for (uint32_t i = 0; i < p->rates->n; i++) {
        for (; schedule_at_ns(&p->due[i]) <= now_ns; p->backlog++, p->waiting[i]++)
            schedule_step(&p->due[i]);
    }
    if (p->backlog > slots && p->backlog - slots > p->backlog_max)
        p->backlog_max = p->backlog - slots;
    return p->rates->has_rest || p->backlog > slots ? slots : (uint32_t)p->backlog;
}

int64_t pace_wake_ns(const struct pace *p)
{
    int64_t first = INT64_MAX;
    for (uint32_t i = 0; i < p->rates->n; i++)
        if (schedule_at_ns(&p->due[i]) < first)
            first = schedule_at_ns(&p->due[i]);
    return first;
}

int64_t pace_take(struct pace *p, int64_t now_ns, uint32_t *class)
{
    const struct rates *r = p->rates;
    const struct part *part = &r->rest;
    int64_t at_ns = r->has_rest ? now_ns : INT64_MAX;
    uint32_t from = r->n;
    for (uint32_t i = 0; i < r->n; i++) {
        if (schedule_at_ns(&p->next[i]) <= at_ns) {
            at_ns = schedule_at_ns(&p->next[i]);
            from = i;
        }
    }
    if (from < r->n) {
        part = &r->part[from];
        schedule_step(&p->next[from]);
        if (p->waiting[from]) {
            p->waiting[from]--;
            p->backlog--;
        } else { /* before its time: both go on */
            schedule_step(&p->due[from]);
        }
    }
    if (!r->whole)
        *class = part->class[mix_draw(&part->mix, &p->random)];
    return from < r->n ? at_ns : PACE_NONE;
}
