/* SPDX-License-Identifier: MIT */
/* Which of the open blocks a page goes to, where there are several: data that dies together should lie together.
 *
 * streams=2 keeps relocations apart from the host's writes. More are told apart by how long data lives, as SepBIT infers
 * it (Wang et al., FAST 2022): the host's write of a unit is short-lived if the data it replaces was, compared with the
 * mean life of a block of short-lived data; a relocated page is the longer-lived the older it is. `hot` is an oracle for
 * questions to the closed forms: the units below it have streams of their own. */
#include "sim/ftl.h"

/* Ages are counted in so many host writes, so that 32 bits last for 2.7e11 of them before one looks young again. */
#define TICK_WRITES 64

/* Blocks of short-lived data whose lives are averaged. */
#define LIVES 16

static uint32_t tick(const struct ftl *f)
{
    return (uint32_t)(f->lives.writes / TICK_WRITES);
}

void streams_opened(struct ftl *f, uint32_t block, uint32_t stream)
{
    f->stream[block] = (uint8_t)stream;
    f->born[block] = tick(f);
}

void streams_chosen(struct ftl *f, uint32_t block)
{
    if (f->stream[block])
        return;
    f->lives.sum += tick(f) - f->born[block];
    if (++f->lives.n >= LIVES) {
        f->lives.mean = f->lives.sum / f->lives.n;
        f->lives.sum = f->lives.n = 0;
    }
}

static uint32_t by_life(struct ftl *f, uint32_t unit, uint32_t mark)
{
    uint32_t age = tick(f) - f->last[unit];
    if (!(mark & FTL_MOVED)) {
        f->last[unit] = tick(f);
        f->lives.writes++;
        return mark & FTL_FRESH || age >= f->lives.mean;
    }
    uint32_t stream = 2;
    for (uint64_t limit = 4 * f->lives.mean; stream + 1 < f->streams && age >= limit; limit *= 4)
        stream++;
    return stream;
}

uint32_t streams_choose(struct ftl *f, const struct domain *d, uint32_t unit, uint32_t mark)
{
    if (d->levels && mark & FTL_MOVED)
        return f->frontiers - 1;
    if (f->streams > 2)
        return by_life(f, unit, mark);
    return (unit < f->hot ? f->streams : 0) + (f->streams == 2 && mark & FTL_MOVED);
}
