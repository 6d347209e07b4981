/* SPDX-License-Identifier: MIT */
/* Whether a state can be gone on with. A state file may come from anybody, and its checksum is no signature: whatever is
 * used as an index, walked as a list or waited for is looked at here, before it is used for the first time. */
#include "sim/sim.h"
#include "sim/whole.h"

static bool in_domain(const struct ftl *f, uint32_t n, uint32_t block)
{
    return block >= n * f->per_domain && block < (n + 1) * f->per_domain;
}

static uint64_t word(const struct ftl *f, const uint64_t *bits, uint32_t block, uint32_t at)
{
    return bits[(uint64_t)block * f->words + at];
}

/* Valid pages of a block from `at` on. */
static uint32_t valid_from(const struct ftl *f, uint32_t block, uint32_t at)
{
    uint32_t n = 0;
    for (uint32_t w = at / 64; w < f->words; w++) {
        uint64_t bits = word(f, f->valid, block, w);
        n += (uint32_t)__builtin_popcountll(w == at / 64 ? bits >> at % 64 : bits);
    }
    return n;
}

/* Map and bitmaps say the same: as many units hold data as pages are valid, and each valid page is that of its unit. */
static const char *check_map(const struct ftl *f)
{
    uint64_t units = 0, pages = 0, lost = 0;
    uint64_t beyond =
        f->np % 64 ? ~(uint64_t)0 << f->np % 64 : 0; /* the bits of a block's last word that stand for none */
    for (uint32_t unit = 0; unit < f->units; unit++) {
        if (ftl_page(f, unit) == FTL_LOST) {
            lost++;
            continue;
        }
        if (f->map[unit] > f->blocks * f->np)
            return "a unit lies beyond the last page";
        units += f->map[unit] != 0;
    }
    for (uint32_t block = 0; block < f->blocks; block++) {
        const uint32_t *back = &f->back[(uint64_t)block * f->np];
        uint32_t count = valid_from(f, block, 0);
        for (uint32_t at = 0; at < f->np; at++) {
            if (back[at] >= f->units)
                return "a page holds a unit beyond the last one";
            bool valid = word(f, f->valid, block, at / 64) >> at % 64 & 1;
            if (valid && f->map[back[at]] != block * f->np + at + 1)
                return "a valid page is not that of its unit";
        }
        if (word(f, f->valid, block, f->words - 1) & beyond)
            return "a block has more pages than it can have";
        if (f->count[block] != count)
            return "a block's count of valid pages is wrong";
        pages += count;
    }
    if (units != pages || units != f->mapped || lost != f->lost || (f->sick & SICK_LOST) != (lost ? SICK_LOST : 0))
        return "its count of mapped units is wrong";
    if (f->log_at - f->log_done > f->log_room)
        return "more pages are in the buffer than fit";
    for (uint32_t at = f->log_done; at != f->log_at; at++)
        if ((f->log[at & (f->log_room - 1)] & ~FTL_MARKS) >= f->blocks * f->np)
            return "a page in the buffer is none";
    return NULL;
}

/* A list by `next` of blocks of one domain and one state. Return: whether it has `n` of them and ends with `last`; one
 * that ends has no block twice. */
static bool is_list(const struct ftl *f, uint32_t domain, uint32_t first, uint32_t last, uint32_t n,
                    enum block_state state)
{
    uint32_t before = FTL_NONE;
    for (; first != FTL_NONE && n; n--) {
        if (!in_domain(f, domain, first) || f->state[first] != state)
            return false;
        before = first;
        first = f->next[first];
    }
    return first == FTL_NONE && !n && before == last;
}

/* The lists that hold the blocks that greedy chooses from, `n_blocks` of them: one for each count. */
static bool are_buckets(const struct ftl *f, uint32_t n, uint32_t n_blocks)
{
    const struct domain *d = &f->domain[n];
    uint32_t closed = 0;
    for (uint32_t count = 0; count <= f->np; count++) {
        uint32_t before = FTL_NONE, block = f->bucket[(uint64_t)n * (f->np + 1) + count];
        if (block != FTL_NONE && count < d->least)
            return false;
        for (; block != FTL_NONE; block = f->next[block]) {
            if (!in_domain(f, n, block) || f->state[block] != BLOCK_CLOSED || f->count[block] != count ||
                f->before[block] != before || closed++ == n_blocks)
                return false;
            before = block;
        }
    }
    return closed == n_blocks && d->brim <= f->np;
}

static uint32_t closed_up_to(const struct ftl *f, uint32_t n, uint32_t count)
{
    uint32_t closed = 0;
    for (uint32_t block = n * f->per_domain; block < (n + 1) * f->per_domain; block++)
        closed += f->state[block] == BLOCK_CLOSED && f->count[block] <= count;
    return closed;
}

/* Each closed block is either in the window, which is full before one waits behind it, or in the queue. */
static bool is_window(const struct ftl *f, uint32_t n)
{
    const struct domain *d = &f->domain[n];
    if (d->brim != f->np || d->window > d->closed || d->window != (d->closed < f->choices ? d->closed : f->choices) ||
        !are_buckets(f, n, d->window) || !is_list(f, n, d->oldest, d->newest, d->closed - d->window, BLOCK_CLOSED))
        return false;
    uint32_t inside = 0;
    for (uint32_t block = n * f->per_domain; block < (n + 1) * f->per_domain; block++)
        inside += f->state[block] == BLOCK_CLOSED && f->place[block];
    for (uint32_t block = d->oldest; block != FTL_NONE; block = f->next[block])
        if (f->place[block])
            return false;
    return inside == d->window;
}

static bool are_closed(const struct ftl *f, uint32_t n)
{
    const struct domain *d = &f->domain[n];
    if (f->policy == GC_GREEDY)
        return are_buckets(f, n, closed_up_to(f, n, d->brim));
    if (f->policy == GC_WINDOWED)
        return is_window(f, n);
    if (f->policy == GC_FIFO)
        return is_list(f, n, d->oldest, d->newest, d->closed, BLOCK_CLOSED);
    for (uint32_t i = 0; i < d->closed; i++) {
        uint32_t block = f->closed[(uint64_t)n * f->per_domain + i];
        if (!in_domain(f, n, block) || f->state[block] != BLOCK_CLOSED || f->place[block] != i)
            return false;
    }
    return true;
}

/* The blocks that are being filled, and the one that is being emptied. */
static const char *check_work(const struct ftl *f, uint32_t n)
{
    const struct domain *d = &f->domain[n];
    for (uint32_t i = 0; i < f->frontiers; i++) {
        struct frontier front = d->front[i];
        if (front.open != FTL_NONE && (!in_domain(f, n, front.open) || f->state[front.open] != BLOCK_OPEN ||
                                       front.at >= f->np || valid_from(f, front.open, front.at)))
            return "a block being filled cannot be that";
        for (uint32_t other = 0; other < i; other++)
            if (front.open != FTL_NONE && front.open == d->front[other].open)
                return "a block is being filled twice";
    }
    if (d->victim != FTL_NONE &&
        (!in_domain(f, n, d->victim) || f->state[d->victim] != BLOCK_VICTIM || d->victim_at >= f->np ||
         valid_from(f, d->victim, d->victim_at) != f->count[d->victim] || f->count[d->victim] > d->step))
        return "the block being emptied cannot be that";
    if (d->step > f->np || d->pace > f->np || d->debt > 2 * f->np)
        return "garbage collection owes more than it can";
    if (f->quota != FTL_UNLIMITED && (d->placed > 2 * f->blocks * f->np || d->moved / f->dies > d->placed))
        return "more was placed into a stripe than there is";
    return NULL;
}

static const char *check_dies(const struct ftl *f, const struct loss *l)
{
    if (l->dead > FTL_DEAD_MAX || l->dead + f->parity >= f->dies || l->rebuilding > 1 || l->block > f->per_domain ||
        l->at > f->np)
        return "more dies have failed than it has";
    if ((l->rebuilding | l->owed) && !(f->sick & SICK_REBUILD))
        return "nobody knows of a die that is to be rebuilt";
    for (uint32_t i = 0; i < l->dead; i++) {
        if (l->dead_die[i] >= f->dies)
            return "a die has failed that is none";
        for (uint32_t k = 0; k < i; k++)
            if (l->dead_die[i] == l->dead_die[k])
                return "a die has failed twice";
    }
    return NULL;
}

/* The blocks in reserve. */
static bool are_spares(const struct ftl *f, uint32_t n, uint32_t spares)
{
    const struct loss *l = &f->domain[n].loss;
    uint32_t block = l->spare_first;
    if (l->spares != spares)
        return false;
    for (; block != FTL_NONE && spares; spares--) {
        if (!in_domain(f, n, block) || f->state[block] != BLOCK_SPARE)
            return false;
        block = f->next[block];
    }
    return !spares && (block == FTL_NONE || !l->spares);
}

static const char *check_domain(const struct ftl *f, const struct model *m, uint32_t n)
{
    const struct domain *d = &f->domain[n];
    uint32_t of[BLOCK_BAD + 1] = {0}, closed_valid = 0, open = 0, rest = 0;
    const char *wrong = check_dies(f, &d->loss);
    if (!wrong)
        wrong = check_work(f, n);
    if (wrong)
        return wrong;
    for (uint32_t block = n * f->per_domain; block < (n + 1) * f->per_domain; block++) {
        if (f->state[block] > BLOCK_BAD || f->laid[block] > d->loss.dead)
            return "a block is in no known state";
        of[f->state[block]]++;
        if ((f->state[block] == BLOCK_FREE || f->state[block] >= BLOCK_SPARE) && f->count[block])
            return "an erased block holds data";
        if (f->state[block] == BLOCK_CLOSED)
            closed_valid += f->count[block];
    }
    for (uint32_t i = 0; i < f->frontiers; i++) {
        open += d->front[i].open != FTL_NONE;
        rest += d->front[i].open != FTL_NONE ? f->np - d->front[i].at : 0;
    }
    if (of[BLOCK_OPEN] != open || of[BLOCK_VICTIM] != (d->victim != FTL_NONE))
        return "blocks are being filled or emptied that nobody knows of";
    if (of[BLOCK_FREE] != d->free_blocks || !is_list(f, n, d->free_first, d->free_last, d->free_blocks, BLOCK_FREE))
        return "the list of erased blocks is broken";
    if (of[BLOCK_CLOSED] != d->closed || closed_valid != d->closed_valid || !are_closed(f, n))
        return "the list of closed blocks is broken";
    if (of[BLOCK_BAD] != d->loss.bad || !are_spares(f, n, of[BLOCK_SPARE]) || d->loss.owed > f->per_domain ||
        !spare_has_room(f, d, 0))
        return "its bad blocks are not as many as there can be";
    if (d->cursor >= f->per_domain)
        return "wear levelling looks at no block of the drive";
    if (d->free_pages != d->free_blocks * f->np + rest || d->free_pages <= f->frontiers * f->np ||
        d->reserve != m->reserve)
        return "its free pages are not as many as there have to be";
    return NULL;
}

/* The list of the map pages in memory, both ways. */
static const char *check_cache(const struct cache *c)
{
    uint32_t held = 0, before = UINT32_MAX, page = c->first;
    for (uint32_t i = 0; i < c->pages; i++)
        held += c->flags[i] & CACHE_HELD;
    if (held != c->held || held > c->room)
        return "its count of map pages in memory is wrong";
    for (; page != UINT32_MAX && held; page = c->next[page], held--) {
        if (page >= c->pages || !(c->flags[page] & CACHE_HELD) || c->before[page] != before)
            return "the list of map pages is broken";
        before = page;
    }
    return page == UINT32_MAX && !held && before == c->last ? NULL : "the list of map pages is broken";
}

static const char *check_slc(const struct ftl *f)
{
    const struct slc *c = &f->slc;
    if (slc_held(c) > c->room || f->log_at - c->seen > (c->room ? f->log_room : UINT32_MAX))
        return "more is in its quick cache than fits";
    for (uint32_t at = c->tail; at != c->head; at++)
        if (c->ring[at & (c->room - 1)] >= f->blocks * f->np)
            return "a page in its quick cache is none";
    return NULL;
}

static bool is_time(int64_t t)
{
    return t >= 0 && t <= SIM_TIME_MAX;
}

static const char *check_timing(const struct timing *t, const struct model *m, const struct ftl *f)
{
    bool good = is_time(t->firmware) && is_time(t->busy);
    for (uint32_t i = 0; i < t->dies * t->planes; i++)
        good &= is_time(t->plane[i]) && is_time(t->reading[i]);
    good &= is_time(t->link[0]) && is_time(t->link[1]);
    for (uint32_t i = 0; i < t->channels; i++)
        good &= is_time(t->channel[i]) && is_time(t->read_out[i]);
    for (uint32_t i = 0; i < m->buffer_stripes; i++)
        good &= is_time(t->slot_end[i]);
    if (!good)
        return "a die, a channel or the firmware is taken for ever";
    if (t->slot >= m->buffer_stripes || t->gathering > 1)
        return "its write buffer has no such stripe";
    for (uint32_t i = 0; i < m->buffer_stripes; i++) {
        int32_t ahead = (int32_t)(t->slot_log[i] - f->log_done);
        if (ahead > 0 && (uint32_t)ahead > f->log_at - f->log_done)
            return "a stripe in the buffer holds what was never written";
    }
    uint32_t missing = 0;
    for (uint32_t n = 0; n < f->domains; n++)
        missing += f->domain[n].placed < f->quota;
    bool stripe =
        m->timing && (f->quota == m->data_dies * m->program_units || f->quota == m->data_dies * m->wide_program_units);
    if (!missing || missing != f->missing || (!stripe && (t->gathering || f->quota != FTL_UNLIMITED)))
        return "the stripe being gathered is not one of this drive";
    return NULL;
}

const char *state_check(const struct sim *s)
{
    const struct ftl *f = &s->ftl;
    const struct model *m = &s->model;
    const char *wrong = check_map(f);
    for (uint32_t n = 0; n < f->domains && !wrong; n++)
        wrong = check_domain(f, m, n);
    if (!wrong)
        wrong = check_cache(&s->cache);
    if (!wrong)
        wrong = check_slc(f);
    if (!wrong)
        wrong = check_timing(&s->timing, m, f);
    if (wrong)
        return wrong;
    if (f->sick > (SICK_LOST | SICK_READ_ONLY | SICK_REBUILD) ||
        !(f->luck.s[0] | f->luck.s[1] | f->luck.s[2] | f->luck.s[3]))
        return "what it suffers from is not known";
    if (f->turn >= f->domains || !(f->random.s[0] | f->random.s[1] | f->random.s[2] | f->random.s[3]))
        return "its garbage collection cannot choose";
    if (s->now < 0 || s->now > SIM_TIME_MAX / (int64_t)m->scale || s->last_command < 0 || s->last_command > s->now ||
        s->power_at < 0 || s->power_at > s->now || s->base_pj >= 1000)
        return "its clock is wrong";
    if (s->heat_at < 0 || s->heat_at > s->now || s->heat_uc < 0 || s->heat_uc > HEAT_MAX_UC ||
        s->heat_nj > (uint64_t)INT64_MAX ||
        (s->slower && s->slower != m->throttle[0].percent && s->slower != m->throttle[1].percent))
        return "its temperature is wrong";
    uint64_t all = m->units * m->unit_bytes;
    if (s->limit_bytes % MODEL_LOGICAL_BLOCK || s->base_bytes % m->unit_bytes || s->limit_bytes > all ||
        (!s->limit_bytes && !s->target.blocked) || s->base_bytes > all - s->limit_bytes)
        return "its accessible capacity is none";
    return target_check(s);
}
