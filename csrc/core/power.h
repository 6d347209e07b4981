/* SPDX-License-Identifier: MIT */
/* Logarithm, exponential and power without libm, so that two machines make the same tables of them. Relative errors are
 * below 1e-13 for results that are no tinier than 1e-300. */
#ifndef SATED_CORE_POWER_H
#define SATED_CORE_POWER_H

/* @param x a finite number above 0, not a subnormal one */
double power_log(double x);

/* 0 below -700. @param x up to 700 */
double power_exp(double x);

/* x^y. @param x above 0 */
double power_of(double x, double y);

#endif
