/* SPDX-License-Identifier: MIT */
/* A = write amplification, alpha = T/U, Np = pages of a block.
 *
 * FIFO: 1/A = 1 - e^(-alpha/A) (Desnoyers, SYSTOR 2012); what was written x pages ago is valid with e^(-x / (A U)).
 * Greedy: a block loses pages at a rate that goes with their number j, so that Little's law gives the share of blocks
 * with j pages, A / (alpha j), from the victim's X pages on up, and their sum is 1 for A = Np / (Np - X).
 * d choices and random (d = 1): with F_j the share of blocks that hold j or more,
 * alpha j (F_j - F_(j+1)) = A (1 - F_j^d) and the sum of all F_j is Np / alpha (Van Houdt, SIGMETRICS 2013).
 *
 * Only sums, products and quotients of IEEE numbers, so that every machine makes the same counts. */
#include "sim/occupancy.h"

#include <errno.h>
#include <stdlib.h>

#include "core/power.h"

#define HALVINGS 60

static double fifo_amplification(double alpha)
{
    double low = 1, high = alpha / (alpha - 1);
    for (int i = 0; i < HALVINGS; i++) {
        double a = (low + high) / 2;
        if (1 / a < 1 - power_exp(-alpha / a < -700 ? -700 : -alpha / a))
            high = a;
        else
            low = a;
    }
    return (low + high) / 2;
}

/* Expected counts by age; each is rounded so that the sum up to there is. */
static void by_age(const struct ftl *f, double alpha, uint32_t n, uint32_t *out)
{
    double pages = (double)n * f->np, scale = fifo_amplification(alpha) * pages / alpha, carried = 0;
    for (uint32_t i = 0; i < n; i++) {
        double age = (pages - ((double)i + 0.5) * f->np) / scale;
        carried += age < 700 ? f->np * power_exp(-age) : 0;
        out[i] = (uint32_t)carried;
        carried -= out[i];
    }
}

/* The share of blocks with j pages, for greedy. `weight` sums to 1 but for rounding. */
static void greedy_shares(double alpha, uint32_t np, double *weight)
{
    double rest = 0; /* of the sum: what is above k */
    uint32_t k = np;
    while (k && alpha * (np - (k - 1)) / np > rest + 1.0 / k)
        rest += 1.0 / k--;
    /* X lies between k - 1 and k. */
    double low = k ? k - 1 : 0, high = k;
    for (int i = 0; i < HALVINGS && k; i++) {
        double x = (low + high) / 2;
        if (alpha * (np - x) / np > rest + (k - x) / k)
            high = x;
        else
            low = x;
    }
    double share = np / (np - low) / alpha, sum = 0;
    for (uint32_t j = np; j; j--) {
        weight[j] = j > k ? share / j : j == k ? share * (k - low) / k : 0;
        sum += weight[j];
    }
    weight[0] = sum < 1 ? 1 - sum : 0;
}

static double whole_power(double x, uint32_t n)
{
    double out = 1;
    for (; n; n >>= 1, x *= x)
        if (n & 1)
            out *= x;
    return out;
}

/* F_1 to F_np for an amplification; returns their sum. */
static double at_least(double alpha, double a, uint32_t np, uint32_t d, double *share)
{
    double above = 0, sum = 0;
    for (uint32_t j = np; j; j--) {
        double x = 1, rate = alpha * j;
        for (int i = 0; i < HALVINGS; i++) { /* Newton from the right of a convex function: never beyond the root */
            double power = whole_power(x, d - 1),
                   step = (rate * (x - above) - a * (1 - power * x)) / (rate + a * d * power);
            x -= step;
            if (step < 1e-15)
                break;
        }
        share[j] = above = x < above ? above : x;
        sum += x;
    }
    return sum;
}

static void choice_shares(double alpha, uint32_t np, uint32_t d, double *weight)
{
    double low = 1, high = 1.01 * alpha / (alpha - 1);
    for (int i = 0; i < HALVINGS; i++) {
        double a = (low + high) / 2;
        if (at_least(alpha, a, np, d, weight) < np / alpha)
            low = a;
        else
            high = a;
    }
    at_least(alpha, high, np, d, weight);
    weight[0] = 1;
    for (uint32_t j = 0; j < np; j++)
        weight[j] -= weight[j + 1];
}

/* The block in the middle of each n-th of the distribution; fewest pages first, as what is oldest has fewest. */
static void by_share(const double *weight, uint32_t np, uint32_t n, uint32_t *out)
{
    double sum = weight[0];
    uint32_t j = 0;
    for (uint32_t i = 0; i < n; i++) {
        while (j < np && sum < (i + 0.5) / n)
            sum += weight[++j];
        out[i] = j;
    }
}

/* One more or less in blocks all over, until the sum is right. Each pass does some of it: where all blocks that were to
 * give or take are empty or full, the next one asks every block. */
static void settle(uint32_t np, uint32_t n, uint64_t total, uint32_t *out)
{
    uint64_t sum = 0, missing, before = UINT64_MAX;
    for (uint32_t i = 0; i < n; i++)
        sum += out[i];
    for (bool more = sum < total; (missing = more ? total - sum : sum - total); before = missing) {
        uint64_t asked = missing < n && missing != before ? missing : n;
        for (uint32_t i = 0; i < n && sum != total; i++)
            if ((i + 1) * asked / n != i * asked / n && (more ? out[i] < np : out[i] > 0)) {
                out[i] = more ? out[i] + 1 : out[i] - 1;
                sum = more ? sum + 1 : sum - 1;
            }
    }
}

int occupancy_make(const struct ftl *f, double alpha, uint32_t n, uint64_t total, uint32_t *out)
{
    double *weight = malloc((f->np + 2) * sizeof *weight);
    if (!weight)
        return -ENOMEM;
    switch (f->policy) {
    case GC_GREEDY:
        greedy_shares(alpha, f->np, weight);
        by_share(weight, f->np, n, out);
        break;
    case GC_RANDOM:
    case GC_D_CHOICES:
        choice_shares(alpha, f->np, f->choices, weight);
        by_share(weight, f->np, n, out);
        break;
    default: by_age(f, alpha, n, out);
    }
    settle(f->np, n, total, out);
    free(weight);
    return 0;
}
