/* SPDX-License-Identifier: MIT */
/* xoshiro256++ 1.0 (Blackman and Vigna, 2019), seeded by splitmix64. */
#ifndef SATED_CORE_RANDOM_H
#define SATED_CORE_RANDOM_H

#include <stdint.h>

struct random {
    uint64_t s[4];
};

/* Seeds stream number `stream` of `seed`: the same pair gives the same draws on every machine. */
void random_seed(struct random *r, uint64_t seed, uint64_t stream);

static inline uint64_t random_next(struct random *r)
{
    uint64_t *s = r->s, sum = s[0] + s[3];
    uint64_t out = ((sum << 23) | (sum >> 41)) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return out;
}

/* Uniform in [0, bound), without bias (Lemire 2019); bound > 0. */
static inline uint64_t random_below(struct random *r, uint64_t bound)
{
    unsigned __int128 m = (unsigned __int128)random_next(r) * bound;
    if ((uint64_t)m < bound) {
        uint64_t least = -bound % bound;
        while ((uint64_t)m < least)
            m = (unsigned __int128)random_next(r) * bound;
    }
    return (uint64_t)(m >> 64);
}

#endif
