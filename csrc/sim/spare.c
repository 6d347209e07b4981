/* SPDX-License-Identifier: MIT */
/* Blocks that are bad from the factory or become so, and those that are kept to take their place. A block fails when it
 * is erased. Where none is left to take its place it is used on for what is on its way, but the drive takes no more
 * writes: what it holds can still be read. */
#include "sim/ftl.h"

void spare_init(struct ftl *f, const struct ftl_shape *shape)
{
    for (uint32_t n = 0; n < f->domains; n++) {
        struct loss *l = &f->domain[n].loss;
        uint32_t first = n * f->per_domain, block = first + f->per_domain;
        *l = (struct loss){.spare_first = FTL_NONE};
        while (l->bad < shape->factory_bad) {
            uint8_t *state = &f->state[first + random_below(&f->luck, f->per_domain)];
            l->bad += *state != BLOCK_BAD;
            *state = BLOCK_BAD;
        }
        while (l->spares < shape->spares - shape->factory_bad) {
            if (f->state[--block] == BLOCK_BAD)
                continue;
            f->state[block] = BLOCK_SPARE;
            f->next[block] = l->spare_first;
            l->spare_first = block;
            l->spares++;
        }
    }
}

bool spare_retires(struct ftl *f, struct domain *d, uint32_t block)
{
    struct loss *l = &d->loss;
    if (!(f->wear_limit && f->wear[block] >= f->wear_limit) && !(f->grown && !random_below(&f->luck, f->grown)))
        return false;
    f->grown_bad++;
    if (!l->spares) {
        f->sick |= SICK_READ_ONLY;
        return false;
    }
    uint32_t spare = l->spare_first;
    l->spare_first = f->next[spare];
    l->spares--;
    l->bad++;
    f->state[block] = BLOCK_BAD;
    nand_free(f, d, spare);
    return true;
}

bool spare_has_room(const struct ftl *f, const struct domain *d, uint32_t fewer)
{
    const struct loss *l = &d->loss;
    uint64_t gone = (uint64_t)l->bad + l->spares + l->owed + fewer;
    uint64_t needed = d->reserve + f->units / f->domains + (f->frontiers + 1) * f->np;
    return gone <= f->per_domain && (f->per_domain - gone) * f->np >= needed;
}

uint32_t spare_pages(const struct ftl *f, const struct domain *d)
{
    return (f->per_domain - d->loss.bad - d->loss.spares) * f->np;
}

uint32_t spare_in_use(const struct ftl *f)
{
    uint32_t blocks = f->blocks;
    for (uint32_t n = 0; n < f->domains; n++)
        blocks -= f->domain[n].loss.spares + f->domain[n].loss.bad;
    return blocks;
}
