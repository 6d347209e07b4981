/* SPDX-License-Identifier: MIT */
#include "core/random.h"

#include <string.h>

static uint64_t splitmix64(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

void random_seed(struct random *r, uint64_t seed, uint64_t stream)
{
    /* Both words go through splitmix64, so that neighbouring seeds and streams share nothing. Jumping 2^128 draws once
     * for each stream would promise disjoint streams but costs 256 draws a jump; with 256 bits of state two random
     * starts overlap with a probability below 2^-128. */
    uint64_t a = seed, b = stream ^ 0xd1b54a32d192ed03ULL;
    for (int i = 0; i < 4; i++)
        r->s[i] = splitmix64(&a) ^ splitmix64(&b);
    if (!(r->s[0] | r->s[1] | r->s[2] | r->s[3]))
        r->s[0] = 1;
}

uint64_t random_below_again(struct random *r, unsigned __int128 m, uint64_t bound)
{
    uint64_t least = -bound % bound;
    while ((uint64_t)m < least)
        m = (unsigned __int128)random_next(r) * bound;
    return (uint64_t)(m >> 64);
}

void random_lanes_seed(struct random_lanes *l, struct random *by)
{
    for (int lane = 0; lane < RANDOM_LANES; lane++) {
        struct random one;
        random_seed(&one, random_next(by), (uint64_t)lane);
        for (int i = 0; i < 4; i++)
            l->s[i][lane] = one.s[i];
    }
}

typedef uint64_t lanes __attribute__((vector_size(8 * RANDOM_LANES)));

/* xoshiro256++ in every lane. */
static inline __attribute__((always_inline)) void draw(struct random_lanes *l, uint64_t *out, uint32_t n)
{
    lanes a, b, c, d;
    memcpy(&a, l->s[0], sizeof a);
    memcpy(&b, l->s[1], sizeof b);
    memcpy(&c, l->s[2], sizeof c);
    memcpy(&d, l->s[3], sizeof d);
    for (uint64_t *end = out + n; out < end; out += RANDOM_LANES) {
        lanes sum = a + d, next = ((sum << 23) | (sum >> 41)) + a, t = b << 17;
        memcpy(out, &next, sizeof next);
        c ^= a;
        d ^= b;
        b ^= c;
        a ^= d;
        c ^= t;
        d = (d << 45) | (d >> 19);
    }
    memcpy(l->s[0], &a, sizeof a);
    memcpy(l->s[1], &b, sizeof b);
    memcpy(l->s[2], &c, sizeof c);
    memcpy(l->s[3], &d, sizeof d);
}

void random_draw_anywhere(struct random_lanes *l, uint64_t *out, uint32_t n)
{
    draw(l, out, n);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void draw_avx2(struct random_lanes *l, uint64_t *out, uint32_t n)
{
    draw(l, out, n);
}
#endif

random_draw *random_draw_choose(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        return draw_avx2;
#endif
    return random_draw_anywhere;
}
