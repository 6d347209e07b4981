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

/* Where m's lower half would make a bias: draws again. */
uint64_t random_below_again(struct random *r, unsigned __int128 m, uint64_t bound);

/* Uniform in [0, bound), without bias (Lemire 2019); bound > 0. @param drawn 64 random bits; more are drawn where these
 * would make a bias. */
static inline uint64_t random_below_from(struct random *r, uint64_t drawn, uint64_t bound)
{
    unsigned __int128 m = (unsigned __int128)drawn * bound;
    return __builtin_expect((uint64_t)m < bound, 0) ? random_below_again(r, m, bound) : (uint64_t)(m >> 64);
}

static inline uint64_t random_below(struct random *r, uint64_t bound)
{
    return random_below_from(r, random_next(r), bound);
}

/* Generators side by side, for those who need many numbers at once. */
#define RANDOM_LANES 4
struct random_lanes {
    uint64_t s[4][RANDOM_LANES];
};

/* Seeded by what another one draws. */
void random_lanes_seed(struct random_lanes *l, struct random *by);

/* Draws n numbers, the same on every machine. @param out has room for RANDOM_LANES - 1 more */
typedef void random_draw(struct random_lanes *l, uint64_t *out, uint32_t n);

/* Return: the one that this processor is fastest with. */
random_draw *random_draw_choose(void);
void random_draw_anywhere(struct random_lanes *l, uint64_t *out, uint32_t n);

#endif
