/* SPDX-License-Identifier: MIT */
#ifndef SATED_STEADY_H
#define SATED_STEADY_H

#include <sated/base.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifndef SATED_STATIC
#pragma GCC visibility push(default)
#endif

/* cdef: begin */

/* Steady state: pure functions over a series of rounds. A round is the mean of one full minute. */
enum sated_steady_rule {
    SATED_STEADY_PTS = 0,      /* five rounds: range <= 20 % of the mean and |slope| over the window <= 10 % of it
                                  (SNIA SSS PTS) */
    SATED_STEADY_RANGE_20 = 1, /* five rounds: range <= 20 % of the mean (the reviews' rule) */
};

struct sated_steady_options {
    uint32_t size;         /* of this struct */
    uint32_t rule;         /* enum sated_steady_rule */
    double capacity_bytes; /* accessible capacity, for the volume gates; 0 = not known */
    double first_minute;   /* the load's own first minute, in the unit of the values; 0 = not known */
    double round_s;        /* distance that rounds must have at least; 1800 by default, 0 = any */
};

enum sated_steady_reason {
    SATED_STEADY_YES = 0,
    SATED_STEADY_TOO_FEW = 1,    /* fewer rounds than the window */
    SATED_STEADY_RANGE = 2,      /* the range is too wide */
    SATED_STEADY_SLOPE = 3,      /* the slope is too steep */
    SATED_STEADY_TOO_EARLY = 4,  /* neither 0.5 x the capacity written nor two hours run */
    SATED_STEADY_NOT_LOADED = 5, /* less than 2 x the capacity written, and still near the first minute's level */
    SATED_STEADY_TOO_CLOSE = 6,  /* rounds nearer to one another than round_s */
};

struct sated_verdict {
    bool steady;
    uint8_t reserved[3];
    uint32_t reason; /* enum sated_steady_reason */
    uint32_t window; /* rounds in the window, the last of the series */
    uint32_t rounds; /* rounds in all */
    double mean;     /* of the window */
    double range;    /* (max - min) / mean of the window, as a fraction */
    double slope;    /* least-squares slope x (window - 1) / mean, as a signed fraction */
    uint32_t gates;  /* bit 0: spacing was checked, bit 1: volume was checked */
    uint32_t reserved2;
    char text[232]; /* one sentence */
};

/* Sets the defaults: rule PTS, no capacity, rounds at least 1800 s apart. Thread: any. */
void sated_steady_options_init(struct sated_steady_options *opt);

/* Judges the last five of n rounds. @param values the round means, n of them; @param t_s the reported second at which
 * each round ended, or NULL; @param bytes_written what the load had written by then, or NULL; @param opt NULL for the
 * defaults; @param out the verdict. Without t_s and bytes_written the gates are not applied, and the text says so.
 * Return: 0, or SATED_PARSE for a value that is negative or not finite (or 1e300 and more), for t_s or bytes_written that
 * do not ascend, and for options of another version. Thread: any. */
int sated_steady_check(const double *values, const double *t_s, const double *bytes_written, size_t n,
                       const struct sated_steady_options *opt, struct sated_verdict *out);

/* cdef: end */

#ifndef SATED_STATIC
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
