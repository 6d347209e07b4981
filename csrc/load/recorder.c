/* SPDX-License-Identifier: MIT */
#include "load/recorder.h"

#include <stdlib.h>

struct sheet *sheet_new(uint32_t classes, bool responses, uint32_t bits)
{
    struct sheet *s = calloc(1, sizeof *s + classes * sizeof *s->tally);
    if (!s)
        return NULL;
    s->classes = classes;
    for (uint32_t i = 0; i < classes; i++) {
        if (histogram_new(&s->tally[i].latency, bits) || (responses && histogram_new(&s->tally[i].response, bits))) {
            sheet_free(s);
            return NULL;
        }
    }
    return s;
}

void sheet_free(struct sheet *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->classes; i++) {
        sated_histogram_free(s->tally[i].latency);
        sated_histogram_free(s->tally[i].response);
    }
    free(s);
}

void sheet_reset(struct sheet *s)
{
    for (uint32_t i = 0; i < s->classes; i++) {
        sated_histogram_reset(s->tally[i].latency);
        if (s->tally[i].response)
            sated_histogram_reset(s->tally[i].response);
        s->tally[i].errors = 0;
        s->tally[i].late_max_ns = 0;
        s->tally[i].late_ns = 0;
        s->tally[i].outstanding_ns = 0;
    }
    s->next = NULL;
    s->submissions = s->submitted = s->submitted_max = s->backlog_max = s->starved = 0;
    s->starved_ns = 0;
}

void sheet_merge(struct sheet *into, const struct sheet *from)
{
    for (uint32_t i = 0; i < into->classes; i++) {
        sated_histogram_merge(into->tally[i].latency, from->tally[i].latency);
        if (from->tally[i].response)
            sated_histogram_merge(into->tally[i].response, from->tally[i].response);
        into->tally[i].late_ns += from->tally[i].late_ns;
        if (from->tally[i].late_max_ns > into->tally[i].late_max_ns)
            into->tally[i].late_max_ns = from->tally[i].late_max_ns;
        into->tally[i].errors += from->tally[i].errors;
        into->tally[i].outstanding_ns += from->tally[i].outstanding_ns;
    }
    into->submissions += from->submissions;
    into->submitted += from->submitted;
    if (from->submitted_max > into->submitted_max)
        into->submitted_max = from->submitted_max;
    if (from->backlog_max > into->backlog_max)
        into->backlog_max = from->backlog_max;
    into->starved += from->starved;
    into->starved_ns += from->starved_ns;
    if (from->to_ns > into->to_ns)
        into->to_ns = from->to_ns;
}

void recorder_begin(struct recorder *r, struct sheet *s, uint64_t k, uint32_t phase, int64_t from_ns, int64_t edge_ns)
{
    s->k = k;
    s->phase = phase;
    s->from_ns = s->to_ns = from_ns;
    r->sheet = s;
    r->now_ns = from_ns;
    for (uint32_t i = 0; i < s->classes; i++) {
        r->since_ns[i] = from_ns;
        r->area[i] = 0;
    }
    atomic_store_explicit(&r->edge_ns, edge_ns, memory_order_relaxed);
}

struct sheet *recorder_close(struct recorder *r, int64_t to_ns)
{
    struct sheet *s = r->sheet;
    for (uint32_t i = 0; i < s->classes; i++) {
        recorder_change(r, i, to_ns, 0);
        s->tally[i].outstanding_ns = r->area[i];
    }
    s->to_ns = to_ns;
    r->sheet = NULL;
    return s;
}
