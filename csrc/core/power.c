/* SPDX-License-Identifier: MIT */
#include "core/power.h"

#include <stdint.h>
#include <string.h>

/* ln 2 in two parts; a whole number of up to 11 bits times the first one is exact. */
#define LN2_HIGH 0x1.62e42fefap-1
#define LN2_LOW 0x1.cf79abc9e3b3ap-40

double power_log(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int64_t exponent = (int64_t)(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffff) | (uint64_t)1023 << 52;
    memcpy(&x, &bits, sizeof x);
    if (x > 1.4142135623730951) {
        x /= 2;
        exponent++;
    }
    /* ln x = 2 artanh((x - 1) / (x + 1)); |f| < 0.172, so that the next term would be below 2^-60. */
    double f = (x - 1) / (x + 1), square = f * f, sum = 0;
    for (int n = 23; n > 0; n -= 2)
        sum = sum * square + 1.0 / n;
    return (double)exponent * LN2_HIGH + (2 * f * sum + (double)exponent * LN2_LOW);
}

double power_exp(double x)
{
    if (x < -700)
        return 0;
    double scaled = x * 1.4426950408889634;
    int64_t n = (int64_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
    double rest = x - (double)n * LN2_HIGH - (double)n * LN2_LOW, sum = 1;
    for (int i = 18; i > 0; i--) /* |rest| < 0.35: Taylor's next term is below 2^-80 */
        sum = 1 + rest / i * sum;
    uint64_t bits = (uint64_t)(n + 1023) << 52;
    double two_to_n;
    memcpy(&two_to_n, &bits, sizeof bits);
    return sum * two_to_n;
}

double power_of(double x, double y)
{
    return power_exp(y * power_log(x));
}
