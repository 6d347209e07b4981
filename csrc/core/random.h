/* SPDX-License-Identifier: MIT */
/* xoshiro256++ 1.0 (Blackman and Vigna, 2019), seeded by splitmix64. */
#ifndef SATED_CORE_RANDOM_H
#define SATED_CORE_RANDOM_H

#include <stdint.h>
#include <string.h>

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

/* Two generators side by side, in the two halves of vectors: for those who need many numbers. */
typedef uint64_t random_lanes __attribute__((vector_size(16)));
struct random_pair {
    random_lanes s[4];
};

/* Seeded by what another one draws. */
void random_pair_seed(struct random_pair *p, struct random *by);

/* Draws n numbers. @param out has room for one more */
static inline void random_pair_draw(struct random_pair *p, uint64_t *out, uint32_t n)
{
    random_lanes a = p->s[0], b = p->s[1], c = p->s[2], d = p->s[3];
    for (uint64_t *end = out + n; out < end; out += 2) {
        random_lanes sum = a + d, next = ((sum << 23) | (sum >> 41)) + a, t = b << 17;
        memcpy(out, &next, sizeof next);
        c ^= a;
        d ^= b;
        b ^= c;
        a ^= d;
        c ^= t;
        d = (d << 45) | (d >> 19);
    }
    p->s[0] = a;
    p->s[1] = b;
    p->s[2] = c;
    p->s[3] = d;
}

#endif
