/* SPDX-License-Identifier: MIT */
#include <sated/steady.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"

enum { WINDOW = 5 };              /* SNIA SSS PTS: five rounds */
static const double RANGE = 0.20; /* of the window's mean, PTS and reviews alike */
static const double SLOPE = 0.10; /* of the mean over the window, PTS */
static const double EARLY_VOLUME = 0.5, EARLY_S = 7200, LOADED_VOLUME = 2.0, NEAR = 0.20;

void sated_steady_options_init(struct sated_steady_options *opt)
{
    memset(opt, 0, sizeof *opt);
    opt->size = sizeof *opt;
    opt->rule = SATED_STEADY_PTS;
    opt->round_s = 1800;
}

static int check_input(const double *values, const double *t_s, const double *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i]) || values[i] < 0)
            return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                             "round %zu has the value %g: a round is the mean of one minute, finite and not negative",
                             i + 1, values[i]);
        if (t_s && (!isfinite(t_s[i]) || (i && t_s[i] <= t_s[i - 1])))
            return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "t_s of round %zu is %g: give ascending seconds", i + 1,
                             t_s[i]);
        if (bytes && (!isfinite(bytes[i]) || bytes[i] < 0 || (i && bytes[i] < bytes[i - 1])))
            return error_set(
                SATED_PARSE, SATED_LAYER_ARGUMENT,
                "bytes_written of round %zu is %g: give what the load had written by then, never less than before",
                i + 1, bytes[i]);
    }
    return 0;
}

static void conclude(struct sated_verdict *v, enum sated_steady_reason reason, const char *text)
{
    v->reason = reason;
    v->steady = reason == SATED_STEADY_YES;
    snprintf(v->text, sizeof v->text, "%s%s", text,
             v->gates == 3   ? ""
             : v->gates == 1 ? "; the volume written was not checked"
             : v->gates == 2 ? "; the spacing of the rounds was not checked"
                             : "; spacing and volume were not checked");
}

int sated_steady_check(const double *values, const double *t_s, const double *bytes_written, size_t n,
                       const struct sated_steady_options *opt, struct sated_verdict *out)
{
    struct sated_steady_options o;
    sated_steady_options_init(&o);
    if (opt)
        memcpy(&o, opt, opt->size < sizeof o ? opt->size : sizeof o);
    memset(out, 0, sizeof *out);
    if (o.rule > SATED_STEADY_RANGE_20)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "steady-state rule %u is unknown: use pts or range-20",
                         o.rule);
    int rc = check_input(values, t_s, bytes_written, n);
    if (rc)
        return rc;
    bool volume = bytes_written && o.capacity_bytes > 0;
    out->gates = (t_s ? 1u : 0u) | (volume ? 2u : 0u);
    out->rounds = (uint32_t)n;
    out->window = WINDOW;
    out->mean = out->range = out->slope = NAN;
    char text[160];
    if (n < WINDOW) {
        snprintf(text, sizeof text, "%zu of the %d rounds that a verdict needs", n, WINDOW);
        conclude(out, SATED_STEADY_TOO_FEW, text);
        return 0;
    }
    const double *w = values + n - WINDOW;
    double sum = 0, low = w[0], high = w[0], tilt = 0;
    for (int i = 0; i < WINDOW; i++) {
        sum += w[i];
        low = w[i] < low ? w[i] : low;
        high = w[i] > high ? w[i] : high;
        tilt += (i - 2) * w[i]; /* sum (x - mean x) y; sum (x - mean x)^2 is 10 for 0 to 4 */
    }
    double mean = sum / WINDOW;
    out->mean = mean;
    if (mean <= 0) {
        conclude(out, SATED_STEADY_RANGE, "no I/O in the window");
        return 0;
    }
    out->range = (high - low) / mean;
    out->slope = tilt / 10 * (WINDOW - 1) / mean;
    double t = t_s ? t_s[n - 1] : 0, written = volume ? bytes_written[n - 1] / o.capacity_bytes : 0;
    if (t_s && o.round_s > 0)
        for (size_t i = n - WINDOW + 1; i < n; i++)
            if (t_s[i] - t_s[i - 1] < o.round_s * (1 - 1e-9)) {
                snprintf(text, sizeof text, "rounds %zu and %zu are %.0f s apart, and must be %.0f s", i, i + 1,
                         t_s[i] - t_s[i - 1], o.round_s);
                conclude(out, SATED_STEADY_TOO_CLOSE, text);
                return 0;
            }
    if (volume && written < EARLY_VOLUME && !(t_s && t >= EARLY_S)) {
        snprintf(text, sizeof text, "too early: %.2f x the capacity written, neither %.1f x nor two hours", written,
                 EARLY_VOLUME);
        conclude(out, SATED_STEADY_TOO_EARLY, text);
        return 0;
    }
    if (volume && o.first_minute > 0 && written < LOADED_VOLUME &&
        fabs(mean - o.first_minute) <= NEAR * o.first_minute) {
        snprintf(text, sizeof text,
                 "not yet loaded: %.2f x the capacity written, and still within %.0f %% of the first minute", written,
                 NEAR * 100);
        conclude(out, SATED_STEADY_NOT_LOADED, text);
        return 0;
    }
    enum sated_steady_reason reason = SATED_STEADY_YES;
    if (out->range > RANGE)
        reason = SATED_STEADY_RANGE;
    else if (o.rule == SATED_STEADY_PTS && fabs(out->slope) > SLOPE)
        reason = SATED_STEADY_SLOPE;
    snprintf(text, sizeof text, "%s at round %zu: mean %.1f, range %.2f %% (limit 20 %%), slope %+.2f %%%s",
             reason == SATED_STEADY_YES ? "steady" : "not steady", n, mean, out->range * 100, out->slope * 100,
             o.rule == SATED_STEADY_PTS ? " (limit 10 %)" : "");
    conclude(out, reason, text);
    return 0;
}
