/* SPDX-License-Identifier: MIT */
/* Drives without timing: each command takes a microsecond, one after the other. It is carried out when its completion is
 * taken, and until then the memory that it needs is on its way: with many outstanding, waiting for it costs next to
 * nothing. */
#include "sim/flaw.h"

#define COMMAND_NS 1000

/* Commands ahead of the one being carried out whose old page is asked for; their entry of the map has come by then. */
#define AHEAD 12

int64_t untimed_end(const struct sim *s)
{
    return s->timing.firmware + COMMAND_NS;
}

static void stall(struct sim *s)
{
    s->timing.firmware = (s->timing.firmware > s->stall_at ? s->timing.firmware : s->stall_at) + s->stall_ns;
    s->stall_ns = 0;
}

void untimed_admit(struct sim *s)
{
    if (s->stall_ns && s->now >= s->stall_at)
        stall(s);
    if (s->waiting.n > 1)
        return;
    s->waiting.n = 0; /* until now it drew power as before */
    sim_power_to(s, s->now);
    s->waiting.n = 1;
    if (s->timing.firmware < s->now)
        s->timing.firmware = s->now;
}

void untimed_take(struct sim *s, struct completion *out)
{
    struct fifo *q = &s->waiting;
    out->command = q->items[q->first];
    out->done_ns = s->timing.firmware = untimed_end(s);
    if (q->n > AHEAD)
        ftl_ask(&s->ftl, (uint32_t)(q->items[(q->first + AHEAD) & (q->room - 1)].offset >> s->unit_shift));
    else
        sim_power_to(s, out->done_ns); /* where few are outstanding it may be the last one */
    if (s->ftl.sick)
        out->command.status = (int16_t)flaw_meets(s, &out->command);
    if (!out->command.status)
        queue_untimed(s, &out->command);
    q->first = (q->first + 1) & (q->room - 1);
    q->n--;
    if (s->stall_ns && out->done_ns >= s->stall_at)
        stall(s);
}
