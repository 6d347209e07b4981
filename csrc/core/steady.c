/* SPDX-License-Identifier: MIT */
#include <sated/steady.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/size.h"

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

/* A number in a sentence: %g of the C locale. */
struct number {
    char text[SIZE_NUMBER];
};

static struct number shown(double value)
{
    struct number n;
    size_print_number(n.text, sizeof n.text, value, 6);
    return n;
}

static struct number fixed(double value, int decimals)
{
    struct number n;
    size_print_fixed(n.text, sizeof n.text, value, decimals);
    return n;
}

static int check_input(const double *values, const double *t_s, const double *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!(values[i] >= 0 && values[i] < 1e300))
            return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                             "round %zu has the value %s: a round is the mean of one minute, finite and not negative",
                             i + 1, shown(values[i]).text);
        if (t_s && (!isfinite(t_s[i]) || (i && t_s[i] <= t_s[i - 1])))
            return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "t_s of round %zu is %s: give ascending seconds", i + 1,
                             shown(t_s[i]).text);
        if (bytes && (!isfinite(bytes[i]) || bytes[i] < 0 || (i && bytes[i] < bytes[i - 1])))
            return error_set(
                SATED_PARSE, SATED_LAYER_ARGUMENT,
                "bytes_written of round %zu is %s: give what the load had written by then, never less than before",
                i + 1, shown(bytes[i]).text);
    }
    return 0;
}

__attribute__((format(printf, 3, 4))) static void conclude(struct sated_verdict *v, enum sated_steady_reason reason,
                                                           const char *format, ...)
{
    va_list args;
    v->reason = reason;
    v->steady = reason == SATED_STEADY_YES;
    va_start(args, format);
    vsnprintf(v->text, sizeof v->text, format, args);
    va_end(args);
    size_t used = strlen(v->text);
    snprintf(v->text + used, sizeof v->text - used, "%s",
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
    memset(out, 0, sizeof *out);
    if (opt && (opt->size < sizeof(uint32_t) || opt->size > sizeof o))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sated_steady_options: size is %u, this library knows up to %zu; fill it by "
                         "sated_steady_options_init()",
                         opt->size, sizeof o);
    if (opt)
        memcpy(&o, opt, opt->size);
    if (o.rule > SATED_STEADY_RANGE_20)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "steady-state rule %u is unknown: use pts or range-20",
                         o.rule);
    if (!(o.capacity_bytes >= 0 && o.capacity_bytes < 1e300 && o.first_minute >= 0 && o.first_minute < 1e300 &&
          o.round_s >= 0 && o.round_s < 1e300))
        return error_set(
            SATED_PARSE, SATED_LAYER_ARGUMENT,
            "capacity %s, first minute %s, rounds %s s apart: give finite numbers, 0 for what is not known",
            shown(o.capacity_bytes).text, shown(o.first_minute).text, shown(o.round_s).text);
    int rc = check_input(values, t_s, bytes_written, n);
    if (rc)
        return rc;
    bool volume = bytes_written && o.capacity_bytes > 0;
    out->gates = (t_s ? 1u : 0u) | (volume ? 2u : 0u);
    out->rounds = (uint32_t)n;
    out->window = WINDOW;
    out->mean = out->range = out->slope = NAN;
    if (n < WINDOW) {
        conclude(out, SATED_STEADY_TOO_FEW, "%zu of the %d rounds that a verdict needs", n, WINDOW);
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
                conclude(out, SATED_STEADY_TOO_CLOSE, "rounds %zu and %zu are %s s apart, and must be %s s", i, i + 1,
                         fixed(t_s[i] - t_s[i - 1], 0).text, fixed(o.round_s, 0).text);
                return 0;
            }
    if (volume && written < EARLY_VOLUME && !(t_s && t >= EARLY_S)) {
        conclude(out, SATED_STEADY_TOO_EARLY, "too early: %s x the capacity written, neither %s x nor two hours",
                 fixed(written, 2).text, shown(EARLY_VOLUME).text);
        return 0;
    }
    if (volume && o.first_minute > 0 && written < LOADED_VOLUME &&
        fabs(mean - o.first_minute) <= NEAR * o.first_minute) {
        conclude(out, SATED_STEADY_NOT_LOADED,
                 "not yet loaded: %s x the capacity written, and still within %s %% of the first minute",
                 fixed(written, 2).text, fixed(NEAR * 100, 0).text);
        return 0;
    }
    enum sated_steady_reason reason = SATED_STEADY_YES;
    if (out->range > RANGE)
        reason = SATED_STEADY_RANGE;
    else if (o.rule == SATED_STEADY_PTS && fabs(out->slope) > SLOPE)
        reason = SATED_STEADY_SLOPE;
    conclude(out, reason, "%s at round %zu: mean %s, range %s %% (limit 20 %%), slope %s%s %%%s",
             reason == SATED_STEADY_YES ? "steady" : "not steady", n, fixed(mean, 1).text,
             fixed(out->range * 100, 2).text, out->slope < 0 ? "" : "+", fixed(out->slope * 100, 2).text,
             o.rule == SATED_STEADY_PTS ? " (limit 10 %)" : "");
    return 0;
}
