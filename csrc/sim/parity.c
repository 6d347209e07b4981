/* SPDX-License-Identifier: MIT */
/* Dies that fail. The blocks of a domain lie across all its dies, in rows that are programmed together. With parity one
 * die of each row, another one for each, holds the sum of the others, so that what was on one of them can be told from
 * the rest of the row; pages that are told so are relocated. Blocks that are opened after the failure lie on the dies that
 * are left, of which they take more: the domain has fewer of them.
 *
 * A page that was rebuilt leaves its row incomplete until its block is erased: a second die that fails before takes what
 * it holds of that row with it. */
#include "sim/ftl.h"

/* The n-th die of those that were alive when `laid` had failed. */
static uint32_t alive(const struct loss *l, uint32_t laid, uint32_t n)
{
    if (!laid)
        return n;
    for (uint32_t die = 0;; die++) {
        bool dead = false;
        for (uint32_t i = 0; i < laid; i++)
            dead |= l->dead_die[i] == die;
        if (!dead && !n--)
            return die;
    }
}

static const struct domain *domain_of(const struct ftl *f, uint32_t block)
{
    return &f->domain[block / f->per_domain];
}

uint32_t parity_die(const struct ftl *f, uint32_t block, uint32_t at)
{
    uint32_t laid = f->laid[block], dies = f->dies - laid, slots = dies - f->parity;
    uint32_t i = at / f->stripe, slot = i % slots;
    if (f->parity)
        slot += slot >= (i / slots + block) % dies;
    return alive(&domain_of(f, block)->loss, laid, slot);
}

static bool is_on_dead(const struct ftl *f, const struct loss *l, uint32_t block, uint32_t at)
{
    if (f->laid[block] == l->dead)
        return false;
    return loss_has_die(l, f->laid[block], parity_die(f, block, at));
}

bool parity_is_missing(const struct ftl *f, uint32_t block, uint32_t at)
{
    return is_on_dead(f, &domain_of(f, block)->loss, block, at);
}

static bool is_valid(const struct ftl *f, uint32_t block, uint32_t at)
{
    return *ftl_word(f, f->valid, block, at) >> at % 64 & 1;
}

/* Blocks that are being filled get no more pages: those would lie on the die, too. */
static void close_all(struct ftl *f, struct domain *d)
{
    uint32_t enough = d->reserve + f->frontiers * f->np;
    while (d->free_pages < enough && gc_step(f, d, enough))
        ;
    for (uint32_t i = 0; i < f->frontiers; i++) {
        struct frontier front = d->front[i];
        if (front.open == FTL_NONE)
            continue;
        d->free_pages -= f->np - front.at;
        d->front[i].open = FTL_NONE;
        gc_close(f, d, front.open);
    }
}

/* What the rows that `die` leaves incomplete can tell no more. */
static void lose(struct ftl *f, struct domain *d, uint32_t die, void (*lost)(void *user, uint32_t unit), void *user)
{
    uint32_t first = (uint32_t)(d - f->domain) * f->per_domain;
    for (uint32_t block = first; block < first + f->per_domain; block++) {
        bool incomplete = f->laid[block] < d->loss.dead;
        if ((f->parity && !incomplete) || (f->state[block] != BLOCK_CLOSED && f->state[block] != BLOCK_VICTIM))
            continue;
        for (uint32_t at = 0; at < f->np; at++) {
            if (!is_valid(f, block, at) || (parity_die(f, block, at) != die && !is_on_dead(f, &d->loss, block, at)))
                continue;
            uint32_t page = block * f->np + at, unit = f->back[page];
            nand_drop(f, page);
            f->map[unit] = FTL_LOST + 1;
            f->mapped--;
            f->lost++;
            f->sick |= SICK_LOST;
            lost(user, unit);
        }
    }
}

/* What is left of the pages makes fewer blocks; those in reserve go first. */
static void owe(struct ftl *f, struct domain *d)
{
    struct loss *l = &d->loss;
    uint32_t slots = f->dies - l->dead - f->parity, blocks = f->per_domain - l->bad - l->owed;
    uint32_t fewer = blocks - (uint32_t)((uint64_t)blocks * (slots - 1) / slots);
    for (; fewer && l->spares; fewer--) {
        f->state[l->spare_first] = BLOCK_BAD;
        l->spare_first = f->next[l->spare_first];
        l->spares--;
        l->bad++;
    }
    if (spare_has_room(f, d, fewer))
        l->owed += fewer;
    else
        f->sick |= SICK_READ_ONLY;
}

void parity_fail(struct ftl *f, struct domain *d, uint32_t die, void (*lost)(void *user, uint32_t unit), void *user)
{
    struct loss *l = &d->loss;
    close_all(f, d);
    lose(f, d, die, lost, user);
    owe(f, d);
    l->dead_die[l->dead++] = die;
    l->rebuilding = f->parity;
    l->block = l->at = 0;
    if (l->rebuilding | l->owed)
        f->sick |= SICK_REBUILD;
}

static void give_up_free(struct ftl *f, struct domain *d)
{
    uint32_t block = d->free_first;
    d->free_first = f->next[block];
    if (d->free_first == FTL_NONE)
        d->free_last = FTL_NONE;
    d->free_blocks--;
    d->free_pages -= f->np;
    f->state[block] = BLOCK_BAD;
    d->loss.owed--;
    d->loss.bad++;
}

/* Pages of its row that are read to tell a missing one. */
static uint32_t others(const struct ftl *f, uint32_t block)
{
    return f->dies - f->laid[block] - 1;
}

void parity_victim(const struct ftl *f, struct domain *d)
{
    for (uint32_t at = 0; at < f->np; at++)
        if (is_valid(f, d->victim, at) && parity_is_missing(f, d->victim, at))
            d->moved += others(f, d->victim) - 1;
}

static bool rebuild(struct ftl *f, struct domain *d)
{
    struct loss *l = &d->loss;
    uint32_t first = (uint32_t)(d - f->domain) * f->per_domain;
    for (; l->block < f->per_domain; l->block++, l->at = 0) {
        uint32_t block = first + l->block;
        if (f->laid[block] == l->dead || (f->state[block] != BLOCK_CLOSED && f->state[block] != BLOCK_VICTIM))
            continue;
        while (l->at < f->np) {
            uint32_t at = l->at++, page = block * f->np + at;
            if (!is_valid(f, block, at) || !parity_is_missing(f, block, at))
                continue;
            nand_drop(f, page);
            nand_place(f, d, f->back[page], FTL_MOVED);
            f->moved++;
            d->moved += others(f, block);
            gc_share(f, d);
            return true;
        }
    }
    l->rebuilding = 0;
    return false;
}

bool parity_step(struct ftl *f, struct domain *d)
{
    if (d->loss.rebuilding && rebuild(f, d))
        return true;
    if (!d->loss.owed)
        return false;
    if (d->victim != FTL_NONE || d->free_pages < d->reserve)
        return gc_step(f, d, d->reserve);
    give_up_free(f, d);
    return true;
}
