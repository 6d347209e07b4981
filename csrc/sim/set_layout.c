/* SPDX-License-Identifier: MIT */
/* Where the chunks of a set lie, and spans of them as bits. */
#include "sim/set_inside.h"
#include "sim/sim.h"

bool sim_is_set(const struct sim *s)
{
    return s->set != NULL;
}

/* RAID 5 is left-symmetric, as Linux md and most controllers have it: parity moves one member to the left with each row,
 * and data begins on the member behind it, so that as many rows in a row as there are members use all of them. */
uint32_t set_parity(const struct set *t, uint64_t row)
{
    return t->shape.level == SET_RAID5 ? t->shape.n - 1 - (uint32_t)(row % t->shape.n) : SET_NONE;
}

uint32_t set_place(const struct set *t, uint64_t row, uint32_t k, uint32_t copy)
{
    if (t->shape.level == SET_RAID5)
        return (set_parity(t, row) + 1 + k) % t->shape.n;
    return k * t->shape.copies + copy;
}

bool set_has(const struct set *t, uint32_t member, uint64_t row)
{
    uint32_t state = t->k.state[member];
    return state == SATED_MEMBER_ONLINE || (state == SATED_MEMBER_REBUILDING && row < t->k.rebuild_row);
}

bool set_helps(const struct set *t, uint32_t member, uint32_t other)
{
    return other != member && (t->shape.level == SET_RAID5 || member / t->shape.copies == other / t->shape.copies);
}

struct piece set_piece(const struct set *t, uint64_t offset, uint64_t bytes)
{
    uint64_t chunk = t->shape.chunk, n = offset / chunk, at = offset % chunk;
    return (struct piece){
        .row = n / t->shape.data,
        .k = (uint32_t)(n % t->shape.data),
        .at = (uint32_t)at,
        .bytes = (uint32_t)(bytes < chunk - at ? bytes : chunk - at),
    };
}

void bits_set(uint64_t *bits, uint32_t from, uint32_t n)
{
    for (uint32_t take; n; from += take, n -= take) {
        uint32_t at = from % 64;
        take = n < 64 - at ? n : 64 - at;
        bits[from / 64] |= (take == 64 ? ~(uint64_t)0 : ((uint64_t)1 << take) - 1) << at;
    }
}

bool bits_has(const uint64_t *bits, uint32_t from, uint32_t n)
{
    for (; n; from++, n--)
        if (!(bits[from / 64] >> from % 64 & 1))
            return false;
    return true;
}

uint64_t bits_count(const uint64_t *bits, uint32_t words)
{
    uint64_t n = 0;
    for (uint32_t w = 0; w < words; w++)
        n += (uint64_t)__builtin_popcountll(bits[w]);
    return n;
}

/* The first bit from `at` on that is as wanted; n_bits where there is none. */
static uint32_t next_bit(const uint64_t *bits, uint32_t n_bits, uint32_t at, bool wanted)
{
    while (at < n_bits) {
        uint64_t word = (wanted ? bits[at / 64] : ~bits[at / 64]) >> at % 64;
        if (word) {
            at += (uint32_t)__builtin_ctzll(word);
            return at < n_bits ? at : n_bits;
        }
        at += 64 - at % 64;
    }
    return n_bits;
}

bool bits_run(const uint64_t *bits, uint32_t n_bits, uint32_t *from, uint32_t *n)
{
    *from = next_bit(bits, n_bits, *from, true);
    if (*from == n_bits)
        return false;
    *n = next_bit(bits, n_bits, *from, false) - *from;
    return true;
}
