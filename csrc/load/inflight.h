/* SPDX-License-Identifier: MIT */
/* The I/Os that one thread has with the kernel, for the engines that submit in batches: a slot for each, and what is
 * counted of it. Nothing here is a call, a division or floating point for each I/O. */
#ifndef SATED_LOAD_INFLIGHT_H
#define SATED_LOAD_INFLIGHT_H

#include "load/real.h"

/* tests/bench builds an engine with other values: what recording adds. */
#ifndef INFLIGHT_RECORDS
#define INFLIGHT_RECORDS 1 /* 0: I/Os are counted; no clock is read, and no latency recorded */
#endif

#define INFLIGHT_RUN 32u     /* I/Os that are made up at once */
#define INFLIGHT_STAMPS 512u /* a power of two */

/* What all I/Os of a class have in common. */
struct kind {
    struct sated_histogram *latency; /* of the running sheet */
    uint32_t bytes;
    int32_t wanted;  /* result of one that did what it was to do */
    uint32_t op;     /* enum sated_op */
    uint32_t opcode; /* the engine's */
    uint64_t places; /* as in the range of addresses */
    uint32_t class;
    uint32_t mode; /* fallocate's, of what carries no data */
} __attribute__((aligned(64)));

struct slot {
    const int64_t *stamp; /* of the batch in which it was submitted */
    uint64_t offset;
    uint8_t *read_area, *stripe; /* its memory */
    const struct kind *kind;
    void *entry;       /* the engine's own of it, where it keeps any */
    int64_t own_stamp; /* for one that outlasts many batches; of a free one, when it may be used again */
    bool out;          /* of use where all are looked at */
};

/* What is known of a load's I/Os from the start. */
struct variant {
    bool one_class, sequential, reads_only;
    bool spread; /* addresses as in load/spread.h */
    bool flushes;
    bool by_bytes; /* limited so */
    bool extended; /* by anything of struct extension */
};

/* What most loads do without, and the loop of those does not look at. */
struct extension {
    bool logs;            /* every I/O is kept */
    bool given;           /* addresses are the caller's */
    struct pace *pace;    /* NULL: no rate */
    int64_t *intended_ns; /* by slot: when it was to begin */
    uint32_t floor;       /* no fewer are submitted, or waited for, unless there are no more; 0 = none */
    int64_t think_ns;     /* between two I/Os of a slot */
    int64_t begun_ns;     /* when the batch was begun */
    int64_t wake_ns;      /* when there will be more to submit without a completion; LOAD_NEVER = then only */
    bool more;            /* more might be submitted than the batch takes */
};

struct inflight {
    struct slot *slots;
    /* Free slots, first in first out, so that all of their memory is in use in turn. */
    struct slot **free_slots;
    uint32_t depth, mask, free_head, free_tail;
    uint32_t batch; /* I/Os submitted at once at most */
    /* One stamp for each batch, so that it need not be written into each slot. */
    int64_t stamps[INFLIGHT_STAMPS];
    uint32_t batches;
    uint32_t filled_from; /* of free_slots, the first that is filled but not submitted yet */
    struct random_lanes random;
    random_draw *draw;
    struct variant variant;
    struct extension ext;
    const struct sheet *sheet; /* whose histograms stand in `kinds` */
    uint32_t bits;             /* of those */
    /* For the time that I/Os were outstanding, which is added up at the end of each interval: what those that are out
     * had waited when it began, and what those waited that are in no histogram. */
    int64_t carried_ns[MIX_CLASSES], lost_ns[MIX_CLASSES];
    struct kind kinds[MIX_CLASSES];
};

/* @param opcodes the engine's, by enum sated_op; @param moved whether reads and writes tell how many bytes they moved
 * (else 0). Return: 0 or -ENOMEM. Owner: the caller, by inflight_free. */
int inflight_init(struct inflight *f, struct worker *w, const uint32_t opcodes[SATED_OPS], bool moved);
void inflight_free(struct inflight *f);

/* For real_engine.settle of an engine whose struct begins with its inflight. */
void inflight_settle(struct worker *w, int64_t to_ns);

/* One that did not do what it was to do. @param result as in load_io_failed */
void inflight_failed(struct inflight *f, struct worker *w, const struct slot *slot, int result, int64_t now_ns);

/* One that was made up, but never reached the kernel, goes back. Last in first out. */
void inflight_withdraw(struct inflight *f, struct slot *slot, int64_t now_ns);

/* What never came back counts as failed. */
void inflight_give_up(struct inflight *f, struct worker *w, int rc);

void inflight_take_sheet(struct inflight *f, const struct sheet *s);
void inflight_keep_stamps(struct inflight *f);

/* --- what an extension adds: to the beginning of a batch, to each of its I/Os, and to each completion --- */

/* Return: how many of n free slots are to be filled now; sets when there will be more. */
uint32_t inflight_hold(struct inflight *f, struct worker *w, uint32_t n);
/* @param class as the mix has it. Return: the class of this I/O. */
uint32_t inflight_extend(struct inflight *f, const struct slot *slot, uint32_t class);
void inflight_after(struct inflight *f, struct worker *w, struct slot *slot, int32_t result, int64_t now_ns);

/* Nothing is more exact than to ask again and again; a sleep wakes up some microseconds late. */
#define INFLIGHT_SPIN_NS 20000

/* Whether there will be more to submit though nothing is out. */
static inline bool inflight_rests(const struct inflight *f, const struct worker *w)
{
    return w->recorder.submitting && f->ext.wake_ns != LOAD_NEVER;
}

/* @param more whether a free slot could still be filled; @param until_ns up to when to wait for a completion, brought
 * forward. Return: whether not to wait at all. */
static inline bool inflight_wait(const struct inflight *f, const struct worker *w, bool more, int64_t now_ns,
                                 int64_t *until_ns)
{
    if ((more && f->ext.more) || !w->recorder.submitting)
        return more && f->ext.more;
    if (f->ext.wake_ns < *until_ns)
        *until_ns = f->ext.wake_ns - INFLIGHT_SPIN_NS;
    return *until_ns <= now_ns;
}

static inline uint32_t inflight_count(const struct inflight *f)
{
    return f->depth - (f->free_tail - f->free_head);
}

/* How many completions to wait for. */
static inline uint32_t inflight_least(const struct inflight *f)
{
    uint32_t n = f->ext.floor < inflight_count(f) ? f->ext.floor : inflight_count(f);
    return n ? n : 1;
}

/* How many of n entries from `at` on lie before the end of a ring. */
static inline uint32_t before_end(uint32_t n, uint32_t at, uint32_t mask)
{
    uint32_t left = mask + 1 - (at & mask);
    return n < left ? n : left;
}

/* Makes up to n I/Os: INFLIGHT_RUN at most, and no more than lie before the end of the ring of free slots; fewer where a
 * limit is reached. @param given as in ext, known to the caller; @param put what the engine writes down of each, into the next of its entries; @param memory where
 * its data lies, NULL where it has none. Return: how many. */
static inline __attribute__((always_inline)) uint32_t
inflight_fill(struct inflight *f, struct worker *w, uint32_t n, struct variant v, bool given, void *entries,
              size_t entry_bytes,
              void (*put)(void *entry, struct slot *slot, const struct kind *kind, uint8_t *memory, bool carries))
{
    /* What does not change stands in variables of its own, or it would be read again after each store. */
    struct member *m = w->member;
    const struct address_range *range = &m->range;
    const struct mix *mix = &m->load->mix;
    const struct kind *kinds = f->kinds;
    struct slot *const *free_slot = &f->free_slots[f->free_head & f->mask];
    const int64_t *stamp = &f->stamps[f->batches % INFLIGHT_STAMPS];
    uint8_t *entry = entries;
    union {
        uint64_t whole[5 * INFLIGHT_RUN / 2 + RANDOM_LANES];
        uint32_t half[5 * INFLIGHT_RUN + 2 * RANDOM_LANES];
    } drawn;
    uint32_t i = 0, for_places = v.sequential || v.spread || given ? 0 : n, for_data = v.reads_only ? 0 : n;
    const uint64_t *places = drawn.whole, *data = places + for_places;
    const uint32_t *classes = drawn.half + 2 * (for_places + for_data); /* two of a number */
    f->draw(&f->random, drawn.whole, for_places + for_data + (v.one_class ? 0 : (n + 1) / 2));
    for (; i < n; i++, entry += entry_bytes) {
        const struct kind *kind = &kinds[v.one_class ? 0 : mix_choose(mix, classes[i])];
        if (v.extended)
            kind = &kinds[inflight_extend(f, free_slot[i], kind->class)];
        uint64_t told = 0;
        if (given) {
            uint32_t class = kind->class;
            told = ration_next(&w->ration, mix, &class);
            kind = &kinds[class];
        }
        if (v.by_bytes && w->recorder.limited && !load_limit_take_bytes(m, kind->bytes))
            break;
        struct slot *slot = free_slot[i];
        slot->kind = kind;
        slot->stamp = stamp;
        if (given)
            slot->offset = told;
        else if (v.flushes && kind->op == SATED_FLUSH)
            slot->offset = 0;
        else if (v.spread)
            slot->offset = spread_next(&range->how, &w->address.spread, &w->random, kind->op, kind->bytes);
        else
            slot->offset = v.sequential ? address_following(&w->address, range, kind->bytes)
                                        : address_at(range, &w->random, places[i], kind->places);
        if (v.reads_only || kind->op == SATED_READ)
            put(entry, slot, kind, slot->read_area, true);
        else if (kind->op == SATED_WRITE)
            put(entry, slot, kind, data_write(&w->data, data[i], slot->stripe, kind->bytes), true);
        else
            put(entry, slot, kind, NULL, false);
    }
    f->free_head += i;
    return i;
}

static inline int64_t inflight_now_ns(const struct worker *w)
{
    return INFLIGHT_RECORDS ? worker_now_ns(w) : 0;
}

/* A batch is about to be made up. @param limited receives whether limits hold for it; @param extended as the variant has
 * it. Return: of how many I/Os. */
static inline uint32_t inflight_begin(struct inflight *f, struct worker *w, bool *limited, bool extended)
{
    uint32_t n = f->free_tail - f->free_head;
    if (n > f->batch)
        n = f->batch;
    f->filled_from = f->free_head;
    *limited = w->recorder.limited;
    if (!w->recorder.submitting)
        return 0;
    if (extended)
        n = inflight_hold(f, w, n);
    uint32_t got = *limited ? load_limit_take_ios(w->member, n) : n;
    if (extended && n && !got)
        f->ext.wake_ns = LOAD_NEVER;
    return got;
}

/* It has been made up, of n I/Os at most: stamps it. @param limited as told at its beginning; @param now_ns receives
 * the stamp. Return: how many I/Os are to be submitted: none of them if the end came meanwhile. */
static inline __attribute__((always_inline)) uint32_t inflight_stamp(struct inflight *f, struct worker *w, uint32_t n,
                                                                     bool limited, int64_t *now_ns)
{
    struct recorder *r = &w->recorder;
    uint32_t from = f->filled_from, made = f->free_head - from;
    if (limited)
        load_limit_return_ios(w->member, n - made);
    *now_ns = inflight_now_ns(w);
    worker_advance(w, *now_ns);
    if (!r->submitting) {
        if (f->ext.pace)
            f->ext.pace->backlog += made;
        made = 0;
        f->free_head = from;
    }
    f->filled_from = f->free_head;
    if (!made) {
        if (n) /* a limit, or the end */
            f->ext.wake_ns = LOAD_NEVER;
        return 0;
    }
    f->stamps[f->batches++ % INFLIGHT_STAMPS] = *now_ns;
    if (f->batches % (INFLIGHT_STAMPS / 2) == 0)
        inflight_keep_stamps(f);
    if (r->limited && !limited) /* the measured phase began between */
        for (uint32_t i = from; i != f->free_head; i++)
            load_limit_charge(w->member, 1, f->free_slots[i & f->mask]->kind->bytes);
    r->now_ns = *now_ns;
    w->submissions++;
    w->submitted += made;
    if (made > w->submitted_max)
        w->submitted_max = made;
    return made;
}

/* Completions are about to be taken. Return: their stamp. */
static inline int64_t inflight_completing(struct inflight *f, struct worker *w)
{
    int64_t now_ns = inflight_now_ns(w);
    if (now_ns < w->recorder.now_ns) /* the clocks of two processors: no latency may be below nothing */
        now_ns = w->recorder.now_ns;
    worker_advance(w, now_ns);
    if (f->sheet != w->recorder.sheet)
        inflight_take_sheet(f, w->recorder.sheet);
    w->recorder.now_ns = now_ns;
    return now_ns;
}

static inline __attribute__((always_inline)) void inflight_record(struct sated_histogram *h, uint64_t latency_ns,
                                                                  uint32_t bits)
{
    if (INFLIGHT_RECORDS) {
        histogram_record(h, latency_ns, bits);
    } else {
        h->counts[0]++;
        h->count++;
        h->min = 0;
    }
}

/* One of them. Its slot is the caller's to put among the free ones. @param bits of the histograms */
static inline __attribute__((always_inline)) void inflight_complete(struct inflight *f, struct worker *w,
                                                                    struct slot *slot, int32_t result, int64_t now_ns,
                                                                    bool extended, uint32_t bits)
{
    const struct kind *kind = slot->kind;
    if (__builtin_expect(result == kind->wanted, 1))
        inflight_record(kind->latency, (uint64_t)(now_ns - *slot->stamp), bits);
    else
        inflight_failed(f, w, slot, result, now_ns);
    if (extended)
        inflight_after(f, w, slot, result, now_ns);
}

#endif
