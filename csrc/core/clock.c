/* SPDX-License-Identifier: MIT */
#include "core/clock.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static struct clock_scale scale;
static pthread_once_t once = PTHREAD_ONCE_INIT;

int64_t clock_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void clock_sleep_until_ns(int64_t t_ns)
{
    struct timespec t = {.tv_sec = t_ns / 1000000000, .tv_nsec = t_ns % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

#if defined(__x86_64__)
/* Invariant TSC: CPUID 80000007h EDX bit 8 (constant and nonstop). Whether it also runs along with the kernel's clock is
 * seen by calibrating twice, and by clock_drift_ns() later. */
static bool tsc_invariant(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000000u, &a, &b, &c, &d) && a >= 0x80000007u && __get_cpuid(0x80000007u, &a, &b, &c, &d) &&
           (d & 1u << 8);
}

/* A pair of both clocks, the narrowest of several: the TSC read lies within the width of the other two reads. */
static void pair(uint64_t *ticks, int64_t *ns)
{
    int64_t best = INT64_MAX;
    for (int i = 0; i < 16; i++) {
        int64_t before = clock_now_ns();
        uint64_t t = __rdtsc();
        int64_t after = clock_now_ns();
        if (after - before < best) {
            best = after - before;
            *ticks = t;
            *ns = before + (after - before) / 2;
        }
    }
}

static bool calibrate(void)
{
    uint64_t t[3];
    int64_t n[3];
    pair(&t[0], &n[0]);
    for (int i = 1; i < 3; i++) {
        clock_sleep_until_ns(n[i - 1] + 10000000);
        pair(&t[i], &n[i]);
        if (t[i] <= t[i - 1] || n[i] <= n[i - 1])
            return false;
    }
    /* Both halves must give the same rate within 50 ppm. */
    __int128 a = (__int128)(n[1] - n[0]) * (__int128)(t[2] - t[1]),
             b = (__int128)(n[2] - n[1]) * (__int128)(t[1] - t[0]);
    __int128 difference = a > b ? a - b : b - a;
    if (difference > a / 20000)
        return false;
    scale.mult = (uint64_t)(((unsigned __int128)(n[2] - n[0]) << 32) / (t[2] - t[0]));
    /* The earliest of them: no other processor's ticks are that far behind. */
    scale.base_ticks = t[0];
    scale.base_ns = n[0];
    return true;
}
#endif

static void choose(void)
{
#if defined(__x86_64__)
    scale.tsc = tsc_invariant() && calibrate();
#endif
}

const struct clock_scale *clock_scale_get(void)
{
    pthread_once(&once, choose);
    return &scale;
}

int64_t clock_drift_ns(const struct clock_scale *s)
{
#if defined(__x86_64__)
    if (s->tsc) {
        uint64_t t;
        int64_t n;
        pair(&t, &n);
        return clock_ticks_to_ns(s, t) - n;
    }
#endif
    (void)s;
    return 0;
}
