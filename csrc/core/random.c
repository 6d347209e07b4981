/* SPDX-License-Identifier: MIT */
#include "core/random.h"

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

void random_pair_seed(struct random_pair *p, struct random *by)
{
    for (int lane = 0; lane < 2; lane++) {
        struct random one;
        random_seed(&one, random_next(by), (uint64_t)lane);
        for (int i = 0; i < 4; i++)
            p->s[i][lane] = one.s[i];
    }
}
