/* SPDX-License-Identifier: MIT */
/* Closed forms of the write amplification A under random writes; alpha = T/U, np pages a block.
 * fifo: A = alpha / (alpha + W0(-alpha e^-alpha)), that is the root of 1/A = 1 - e^(-alpha/A) (Xiang and Kurkoski 2011);
 * greedy: alpha / A = H(np) - H(X), A = np / (np - X) (Desnoyers 2012, Bux and Iliadis 2010);
 * random victim: A = alpha / (alpha - 1);
 * d choices: alpha ((j+1) p_(j+1) - j p_j) = A c_j, c_j = P(>= j)^d - P(>= j+1)^d, sum of j p_j = np / alpha (Van Houdt
 * 2013);
 * hot and cold data in the same blocks under fifo, share r of the writes to the share f of the addresses:
 * A = r / (1 - e^(-r alpha / (f A))) + (1 - r) / (1 - e^(-(1 - r) alpha / ((1 - f) A))) (Desnoyers 2012). */
#ifndef SATED_TESTS_AMPLIFICATION_H
#define SATED_TESTS_AMPLIFICATION_H

#include <math.h>
#include <stdlib.h>

static inline double fifo_amplification(double alpha)
{
    double a = alpha / (alpha - 1);
    for (int i = 0; i < 100000; i++)
        a = 1 / (1 - exp(-alpha / a));
    return a;
}

/* H(n) for whole n, and linear in between. */
static inline double harmonic(double x)
{
    double h = 0;
    int whole = (int)x;
    for (int i = 1; i <= whole; i++)
        h += 1.0 / i;
    return h + (x - whole) / (whole + 1);
}

static inline double greedy_amplification(double alpha, int np)
{
    double low = 0, high = np * (1 - 1e-9);
    for (int i = 0; i < 100; i++) {
        double x = (low + high) / 2, a = np / (np - x);
        if (alpha / a < harmonic(np) - harmonic(x))
            low = x;
        else
            high = x;
    }
    return np / (np - low);
}

/* From the top down: p_np for a guess of A, each p_j from the one above, and the guess is right where they sum to 1. */
static inline double choices_amplification(double alpha, int np, int d)
{
    double low = 1, high = alpha / (alpha - 1) + 1e-9;
    for (int i = 0; i < 60; i++) {
        double a = (low + high) / 2, above = 0, pages = 0;
        for (int j = np; j > 0; j--) {
            double least = above, most = 1; /* of P(>= j), by halving */
            for (int k = 0; k < 60; k++) {
                double p = (least + most) / 2;
                if (alpha * j * (p - above) < a * (1 - pow(p, d)))
                    least = p;
                else
                    most = p;
            }
            above = least;
            pages += above;
        }
        if (pages < np / alpha)
            low = a;
        else
            high = a;
    }
    return low;
}

static inline double hot_cold_amplification(double alpha, double r, double f)
{
    double low = 1, high = 1000;
    for (int i = 0; i < 200; i++) {
        double a = (low + high) / 2;
        double form = r / (1 - exp(-r * alpha / (f * a))) + (1 - r) / (1 - exp(-(1 - r) * alpha / ((1 - f) * a)));
        if (a < form)
            low = a;
        else
            high = a;
    }
    return low;
}

#endif
