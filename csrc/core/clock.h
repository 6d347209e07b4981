/* SPDX-License-Identifier: MIT */
/* The host's monotonic clock in nanoseconds, cheap enough for two stamps a batch. */
#ifndef SATED_CORE_CLOCK_H
#define SATED_CORE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* How ticks become nanoseconds: base_ns + ((ticks - base_ticks) * mult >> 32). No processor's ticks lie before
 * base_ticks. With `tsc` false a tick is a nanosecond of CLOCK_MONOTONIC. */
struct clock_scale {
    bool tsc;
    uint64_t mult;
    uint64_t base_ticks;
    int64_t base_ns;
};

/* CLOCK_MONOTONIC, by the vDSO. */
int64_t clock_now_ns(void);

/* Sleeps until an absolute CLOCK_MONOTONIC time; EINTR is retried. */
void clock_sleep_until_ns(int64_t t_ns);

/* The scale of this machine, calibrated once per process: the TSC where the CPU says that it is constant and nonstop
 * and two calibrations agree within 50 ppm with CLOCK_MONOTONIC, else the vDSO. */
const struct clock_scale *clock_scale_get(void);

/* How far the TSC has drifted from CLOCK_MONOTONIC since the calibration, in ns; 0 without the TSC. */
int64_t clock_drift_ns(const struct clock_scale *s);

static inline uint64_t clock_ticks(const struct clock_scale *s)
{
#if defined(__x86_64__)
    if (s->tsc)
        return __rdtsc();
#endif
    return (uint64_t)clock_now_ns();
}

static inline int64_t clock_ticks_to_ns(const struct clock_scale *s, uint64_t ticks)
{
    unsigned __int128 scaled = (unsigned __int128)(ticks - s->base_ticks) * s->mult;
    return s->tsc ? s->base_ns + (int64_t)(scaled >> 32) : (int64_t)ticks;
}

/* The hot loop's one call. */
static inline int64_t clock_stamp_ns(const struct clock_scale *s)
{
    return clock_ticks_to_ns(s, clock_ticks(s));
}

#endif
