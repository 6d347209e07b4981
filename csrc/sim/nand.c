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
    visit((void **)&f->laid, blocks, user);
    if (f->streams > 2) {
        visit((void **)&f->stream, blocks, user);
        visit((void **)&f->born, blocks * 4, user);
        visit((void **)&f->last, (uint64_t)f->units * 4, user);
    }
    if (f->slc.room) {
        visit((void **)&f->slc.ring, (uint64_t)f->slc.room * 4, user);
        visit((void **)&f->slc.in, words * 8, user);
    }
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

void nand_free(struct ftl *f, struct domain *d, uint32_t block)
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
                             .victim = FTL_NONE,
                             .oldest = FTL_NONE,
                             .newest = FTL_NONE,
                             .reserve = d->reserve,
                             .written = d->written,
                             .brim = f->policy == GC_WINDOWED ? f->np : 0,
                             .least = f->np,
                             .loss = d->loss};
        d->loss.rebuilding = 0;
        for (uint32_t i = 0; i < FTL_FRONTIERS_MAX; i++)
            d->front[i].open = FTL_NONE;
        for (uint32_t b = n * f->per_domain; b < (n + 1) * f->per_domain; b++) {
            d->worn = f->wear[b] > d->worn ? f->wear[b] : d->worn;
            if (f->state[b] < BLOCK_SPARE)
                nand_free(f, d, b);
        }
    }
    f->mapped = f->lost = 0;
    f->sick &= ~(uint64_t)SICK_LOST;
    f->turn = 0;
    f->missing = f->domains;
    f->log_at = f->log_done = 0;
    f->slc.head = f->slc.tail = f->slc.seen = 0;
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
        .choices = shape->policy == GC_D_CHOICES || shape->policy == GC_WINDOWED ? shape->choices : 1,
        .whole = shape->whole,
        .streams = shape->streams,
        .frontiers = shape->frontiers,
        .hot = shape->hot,
        .levelling = shape->levelling,
        .threshold = shape->threshold,
        .least_free = shape->frontiers * shape->np + shape->np / 2,
        .dies = shape->dies,
        .stripe = shape->stripe,
        .parity = shape->parity,
        .wear_limit = shape->wear_limit,
        .grown = shape->grown,
        .inverse = UINT64_MAX / shape->np + 1,
        .lives.mean = UINT32_MAX,
        .quota = FTL_UNLIMITED,
        .log_room = shape->log_room,
        .slc = {.room = shape->slc_room, .fixed = shape->slc_fixed, .share = shape->slc_share, .bits = shape->slc_bits},
    };
    random_seed(&f->random, shape->seed, 0);
    random_seed(&f->luck, shape->seed, 2);
    each_array(f, f->log_room, make, &rc);
    if (rc)
        return rc;
    for (uint32_t n = 0; n < f->domains; n++)
        f->domain[n].reserve = shape->reserve;
    spare_init(f, shape);
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
    visit(&f->lives, sizeof f->lives, user);
    visit(&f->quota, sizeof f->quota, user);
    visit(&f->missing, sizeof f->missing, user);
    visit(&f->turn, sizeof f->turn, user);
    visit(&f->log_at, sizeof f->log_at, user);
    visit(&f->log_done, sizeof f->log_done, user);
    visit(&f->mapped, sizeof f->mapped, user);
    visit(&f->placed, sizeof f->placed, user);
    visit(&f->moved, sizeof f->moved, user);
    visit(&f->erased, sizeof f->erased, user);
    visit(&f->lost, sizeof f->lost, user);
    visit(&f->grown_bad, sizeof f->grown_bad, user);
    visit(&f->sick, sizeof f->sick, user);
    visit(&f->luck, sizeof f->luck, user);
    visit(&f->slc.head, sizeof f->slc.head, user);
    visit(&f->slc.tail, sizeof f->slc.tail, user);
    visit(&f->slc.seen, sizeof f->slc.seen, user);
    visit(&f->slc.written, sizeof f->slc.written, user);
    visit(&f->slc.folded, sizeof f->slc.folded, user);
}

void ftl_purge(struct ftl *f)
{
    for (uint32_t b = 0; b < f->blocks; b++)
        if (f->state[b] != BLOCK_FREE && f->state[b] < BLOCK_SPARE) {
            f->wear[b]++;
            f->erased++;
        }
    uint64_t words = (uint64_t)f->blocks * f->words;
    memset(f->map, 0, (uint64_t)f->units * 4);
    memset(f->valid, 0, words * 8);
    memset(f->pending, 0, words * 8);
    if (f->slc.room)
        memset(f->slc.in, 0, words * 8);
    memset(f->count, 0, (uint64_t)f->blocks * 4);
    empty(f);
}

void nand_open(struct ftl *f, struct domain *d, struct frontier *front)
{
    uint32_t stream = (uint32_t)(front - d->front), before = FTL_NONE, block = d->free_first;
    if (f->levelling)
        block = wear_open(f, d, stream, &before);
    if (before == FTL_NONE)
        d->free_first = f->next[block];
    else
        f->next[before] = f->next[block];
    if (f->next[block] == FTL_NONE)
        d->free_last = before;
    d->free_blocks--;
    *front = (struct frontier){block, 0};
    f->state[block] = BLOCK_OPEN;
    f->laid[block] = (uint8_t)d->loss.dead;
    if (f->streams > 2)
        streams_opened(f, block, stream);
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
void nand_retire(struct ftl *f, uint32_t page)
{
    uint32_t at = f->log_done;
    while ((f->log[at & (f->log_room - 1)] & ~FTL_MARKS) != page)
        at++;
    ftl_log_retire(f, at + 1);
}

void nand_close(struct ftl *f, struct domain *d, struct frontier *front)
{
    uint32_t block = front->open;
    front->open = FTL_NONE;
    gc_close(f, d, block);
}

void nand_erase(struct ftl *f, struct domain *d, uint32_t block)
{
    if (++f->wear[block] > d->worn)
        d->worn = f->wear[block];
    f->erased++;
    if (!(f->wear_limit | f->grown) || !spare_retires(f, d, block))
        nand_free(f, d, block);
}
