/* SPDX-License-Identifier: MIT */
/* Blocks and their pages: filling the open one, dropping pages, erasing. */
#include <errno.h>
#include <string.h>

#include "core/buffer.h"
#include "sim/ftl.h"

/* The arrays and their sizes, so that making, freeing and saving cannot disagree. */
static void each_array(struct ftl *f, uint32_t log_room, void (*visit)(void **array, uint64_t bytes, void *user),
                       void *user)
{
    uint64_t pages = (uint64_t)f->blocks * f->np, blocks = f->blocks, words = blocks * f->words;
    visit((void **)&f->map, (uint64_t)f->units * 4, user);
    visit((void **)&f->back, pages * 4, user);
    visit((void **)&f->valid, words * 8, user);
    visit((void **)&f->pending, words * 8, user);
    visit((void **)&f->count, blocks * 4, user);
    visit((void **)&f->wear, blocks * 4, user);
    visit((void **)&f->next, blocks * 4, user);
    visit((void **)&f->before, blocks * 4, user);
    visit((void **)&f->place, blocks * 4, user);
    visit((void **)&f->closed_at, blocks * 8, user);
    visit((void **)&f->state, blocks, user);
    visit((void **)&f->closed, blocks * 4, user);
    visit((void **)&f->bucket, (uint64_t)f->domains * (f->np + 1) * 4, user);
    visit((void **)&f->domain, (uint64_t)f->domains * sizeof *f->domain, user);
    visit((void **)&f->log, (uint64_t)log_room * 4, user);
}

static void make(void **array, uint64_t bytes, void *user)
{
    *array = buffer_new(bytes);
    if (!*array)
        *(int *)user = -ENOMEM;
}

static void drop(void **array, uint64_t bytes, void *user)
{
    (void)user;
    buffer_free(*array, bytes);
    *array = NULL;
}

static void push_free(struct ftl *f, struct domain *d, uint32_t block)
{
    f->state[block] = BLOCK_FREE;
    f->next[block] = FTL_NONE;
    if (d->free_last == FTL_NONE)
        d->free_first = block;
    else
        f->next[d->free_last] = block;
    d->free_last = block;
    d->free_blocks++;
    d->free_pages += f->np;
}

/* Every block erased and in the order of its number. The map and the bits are zero already. */
static void empty(struct ftl *f)
{
    memset(f->bucket, 0xff, (uint64_t)f->domains * (f->np + 1) * 4);
    for (uint32_t n = 0; n < f->domains; n++) {
        struct domain *d = &f->domain[n];
        *d = (struct domain){.free_first = FTL_NONE,
                             .free_last = FTL_NONE,
                             .open = FTL_NONE,
                             .victim = FTL_NONE,
                             .oldest = FTL_NONE,
                             .newest = FTL_NONE,
                             .reserve = d->reserve,
                             .written = d->written,
                             .least = f->np};
        for (uint32_t b = n * f->per_domain; b < (n + 1) * f->per_domain; b++)
            push_free(f, d, b);
    }
    f->mapped = 0;
    f->turn = 0;
    f->missing = f->domains;
    f->log_at = f->log_done = 0;
}

int ftl_init(struct ftl *f, const struct ftl_shape *shape)
{
    int rc = 0;
    *f = (struct ftl){
        .units = shape->units,
        .np = shape->np,
        .words = (shape->np + 63) / 64,
        .domains = shape->domains,
        .per_domain = shape->per_domain,
        .blocks = shape->domains * shape->per_domain,
        .policy = shape->policy,
        .choices = shape->policy == GC_D_CHOICES ? shape->choices : 1,
        .inverse = UINT64_MAX / shape->np + 1,
        .quota = FTL_UNLIMITED,
        .log_room = shape->log_room,
    };
    random_seed(&f->random, shape->seed, 0);
    each_array(f, f->log_room, make, &rc);
    if (rc)
        return rc;
    for (uint32_t n = 0; n < f->domains; n++)
        f->domain[n].reserve = shape->reserve;
    empty(f);
    return 0;
}

void ftl_free(struct ftl *f)
{
    each_array(f, f->log_room, drop, NULL);
}

struct walk {
    const struct ftl *ftl;
    void (*visit)(void *data, uint64_t bytes, void *user);
    void *user;
};

static void walk_array(void **array, uint64_t bytes, void *user)
{
    struct walk *w = user;
    if (array != (void **)&w->ftl->pending) /* which follows from the log */
        w->visit(*array, bytes, w->user);
}

void ftl_walk(struct ftl *f, void (*visit)(void *data, uint64_t bytes, void *user), void *user)
{
    struct walk w = {f, visit, user};
    each_array(f, f->log_room, walk_array, &w);
    visit(&f->random, sizeof f->random, user);
    visit(&f->quota, sizeof f->quota, user);
    visit(&f->missing, sizeof f->missing, user);
    visit(&f->turn, sizeof f->turn, user);
    visit(&f->log_at, sizeof f->log_at, user);
    visit(&f->log_done, sizeof f->log_done, user);
    visit(&f->mapped, sizeof f->mapped, user);
    visit(&f->placed, sizeof f->placed, user);
    visit(&f->moved, sizeof f->moved, user);
    visit(&f->erased, sizeof f->erased, user);
}

void ftl_purge(struct ftl *f)
{
    for (uint32_t b = 0; b < f->blocks; b++)
        if (f->state[b] != BLOCK_FREE) {
            f->wear[b]++;
            f->erased++;
        }
    uint64_t words = (uint64_t)f->blocks * f->words;
    memset(f->map, 0, (uint64_t)f->units * 4);
    memset(f->valid, 0, words * 8);
    memset(f->pending, 0, words * 8);
    memset(f->count, 0, (uint64_t)f->blocks * 4);
    empty(f);
}

static void open_next(struct ftl *f, struct domain *d)
{
    uint32_t block = d->free_first;
    d->free_first = f->next[block];
    if (d->free_first == FTL_NONE)
        d->free_last = FTL_NONE;
    d->free_blocks--;
    d->open = block;
    d->open_at = 0;
    f->state[block] = BLOCK_OPEN;
}

void ftl_log_retire(struct ftl *f, uint32_t upto)
{
    for (; f->log_done != upto; f->log_done++) {
        uint32_t page = f->log[f->log_done & (f->log_room - 1)] & ~FTL_MARKS;
        uint32_t block = ftl_block(f, page), at = page - block * f->np;
        *ftl_word(f, f->pending, block, at) &= ~((uint64_t)1 << at % 64);
    }
}

void ftl_log_mark(struct ftl *f)
{
    memset(f->pending, 0, (uint64_t)f->blocks * f->words * 8);
    for (uint32_t i = f->log_done; i != f->log_at; i++) {
        uint32_t page = f->log[i & (f->log_room - 1)] & ~FTL_MARKS;
        uint32_t block = ftl_block(f, page), at = page - block * f->np;
        *ftl_word(f, f->pending, block, at) |= (uint64_t)1 << at % 64;
    }
}

/* A block that is used again was erased before, and programmed before that, as was all that is older in the log. */
static void retire_through(struct ftl *f, uint32_t page)
{
    uint32_t at = f->log_done;
    while ((f->log[at & (f->log_room - 1)] & ~FTL_MARKS) != page)
        at++;
    ftl_log_retire(f, at + 1);
}

void nand_place(struct ftl *f, struct domain *d, uint32_t unit, uint32_t mark)
{
    if (d->open == FTL_NONE)
        open_next(f, d);
    uint32_t block = d->open, at = d->open_at++, page = block * f->np + at;
    uint64_t bit = (uint64_t)1 << at % 64;
    *ftl_word(f, f->valid, block, at) |= bit;
    f->map[unit] = page + 1;
    f->back[page] = unit;
    f->count[block]++;
    f->placed++;
    d->free_pages--;
    d->written++;
    if (f->log_room) {
        uint64_t *pending = ftl_word(f, f->pending, block, at);
        if (*pending & bit)
            retire_through(f, page);
        if (f->log_at - f->log_done == f->log_room) /* a burst of relocations: the oldest has long been programmed */
            ftl_log_retire(f, f->log_done + 1);
        *pending |= bit;
        f->log[f->log_at++ & (f->log_room - 1)] = page | mark;
    }
    if (f->quota != FTL_UNLIMITED && ++d->placed == f->quota)
        f->missing--;
    if (d->open_at == f->np) {
        d->open = FTL_NONE;
        gc_close(f, d, block);
    }
}

void nand_drop(struct ftl *f, uint32_t page)
{
    uint32_t block = ftl_block(f, page), at = page - block * f->np;
    *ftl_word(f, f->valid, block, at) &= ~((uint64_t)1 << at % 64);
    f->count[block]--;
    if (f->state[block] == BLOCK_CLOSED)
        gc_fell(f, &f->domain[f->domains == 1 ? 0 : block / f->per_domain], block);
}

void nand_erase(struct ftl *f, struct domain *d, uint32_t block)
{
    f->wear[block]++;
    f->erased++;
    push_free(f, d, block);
}
