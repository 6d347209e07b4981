/* SPDX-License-Identifier: MIT */
/* The parts of a set; for set*.c. */
#ifndef SATED_SIM_SET_INSIDE_H
#define SATED_SIM_SET_INSIDE_H

#include "sim/set.h"
#include "sim/whole.h"

#define SET_MEMBERS_MAX 32
#define SET_SECTOR ((uint64_t)MODEL_LOGICAL_BLOCK)
#define SET_DESTAGE_MAX 32 /* rows on their way to the members at a time */
#define SET_NONE UINT32_MAX

enum set_level { SET_RAID0, SET_RAID1, SET_RAID5, SET_RAID10 };

/* What a URI says of the set and its controller; zeroed before it is filled, so that two can be compared as bytes. Times
 * in ns. */
struct set_shape {
    uint32_t level, n;
    uint32_t data;   /* chunks of data in a row */
    uint32_t copies; /* of each */
    uint64_t chunk;
    uint64_t queue, command_ns, parity_ns, link_bytes_s;
    uint64_t cache_bytes, age_ns; /* at its scale */
    uint64_t write_back;
    uint64_t seed, failed; /* failed: the member that is from the beginning, or SET_NONE */
};

/* What changes, and a state file holds, beside the members and the cache. */
struct set_state {
    uint32_t state[SET_MEMBERS_MAX];    /* enum sated_sim_member_state */
    uint32_t replaced[SET_MEMBERS_MAX]; /* how often: each spare is another drive */
    uint64_t read_end[SET_MEMBERS_MAX]; /* where its last read ended: a mirror goes on there */
    uint64_t rebuild_row, rebuild_bytes_s;
    int64_t rebuild_due, firmware, link;
    uint64_t turn; /* of the mirrors */
};

/* A command of the host. */
struct order {
    struct command c;
    uint32_t pending; /* members' commands, or rows, that it waits for */
    uint32_t next;    /* free, or blocked */
    int status;
    bool halfway; /* waits for rows to be written out, then goes on */
};

/* One who waits for a row to be on the members. */
struct wait {
    struct wait *next;
    uint32_t order;
};

enum line_list { LINE_NONE, LINE_AGING, LINE_URGENT };
enum line_phase { LINE_IDLE, LINE_READY, LINE_READING, LINE_WRITING };
enum line_mode { MODE_PLAIN, MODE_RECONSTRUCT, MODE_MODIFY, MODE_ALL, MODE_REBUILD };

/* A row of the set in the cache: what of it the members do not have yet, sector by sector. While it is on its way to them
 * it is in no list, and what comes meanwhile waits in `dirty`; so no two go to one row at a time. */
struct line {
    struct line *hash_next, *older, *newer;
    uint64_t row;
    int64_t since;
    uint64_t n_dirty, n_flying; /* sectors */
    struct wait *waits, *flying_waits;
    uint8_t *
        parity; /* what its write leaves in the chunk of parity, where bytes are kept; behind it a flag for each unit */
    uint32_t pending;
    uint8_t list, phase, mode, rebuild;
    uint64_t bits[]; /* dirty, then flying: of each chunk of data `words` */
};

/* A member's command: for an order, or for a line. */
struct part {
    struct line *line;
    uint32_t order, next, member;
};

enum event_kind { EVENT_ARRIVE, EVENT_ANSWER, EVENT_READY, EVENT_AGE, EVENT_REBUILD };
struct event {
    int64_t at;
    uint64_t number;
    struct line *line;
    uint32_t kind, order;
};

struct set {
    struct set_shape shape;
    char *of; /* the members' model and keys, as stands behind "sim:" */
    struct sim *member[SET_MEMBERS_MAX];
    uint64_t rows;
    uint32_t words; /* of a chunk's bits */
    struct set_state k;
    /* The rest is not in a state file, but for the lines' dirty bits. */
    int64_t at; /* of the last event */
    uint64_t number;
    struct event *heap;
    uint32_t n_events, room_events;
    struct order *orders;
    uint32_t free_order, blocked_first, blocked_last;
    struct part *parts;
    uint32_t n_parts, free_part;
    uint32_t busy[SET_MEMBERS_MAX];
    struct line **hash;
    uint32_t n_lines, hash_room;
    struct line_queue {
        struct line *first, *last;
    } aging, urgent;
    uint32_t flying;
    uint64_t used; /* bytes in the cache, on their way included */
    bool hold;     /* no further row is written out */
    bool age_set;
    struct line *rebuilding;
    int64_t rebuild_began;
    uint64_t *rebuild_bits; /* sectors of the row's chunk that hold anything */
};

static inline uint64_t set_row_bytes(const struct set *t)
{
    return t->shape.chunk * t->shape.data;
}

static inline uint64_t *line_dirty(const struct set *t, struct line *l, uint32_t k)
{
    return &l->bits[k * t->words];
}

static inline uint64_t *line_flying(const struct set *t, struct line *l, uint32_t k)
{
    return &l->bits[(t->shape.data + k) * t->words];
}

/* set_spec.c. @param of the caller frees. Return: 0 or SATED_PARSE. */
int set_shape_read(struct set_shape *out, char **of, const struct spec *spec);

/* set.c */
int set_work_out(struct sim *s, uint64_t rows); /* what follows from the members */
int set_new_member(const struct set *t, uint32_t n, uint32_t replaced, struct sim **out);

/* set_layout.c: where things lie. */
uint32_t set_place(const struct set *t, uint64_t row, uint32_t k, uint32_t copy); /* the member of a chunk of data */
uint32_t set_parity(const struct set *t, uint64_t row);                           /* SET_NONE: there is none */
bool set_has(const struct set *t, uint32_t member, uint64_t row);                 /* it is in use, and rebuilt so far */
bool set_helps(const struct set *t, uint32_t member, uint32_t other); /* `other` has a part in what `member` holds */
/* A span of the set within one chunk. */
struct piece {
    uint64_t row;
    uint32_t k, at, bytes; /* chunk of data, and where in it */
};
struct piece set_piece(const struct set *t, uint64_t offset, uint64_t bytes);
void bits_set(uint64_t *bits, uint32_t from, uint32_t n);
bool bits_has(const uint64_t *bits, uint32_t from, uint32_t n);
uint64_t bits_count(const uint64_t *bits, uint32_t words);
/* The next run of set bits from *from on; false: there is none. */
bool bits_run(const uint64_t *bits, uint32_t n_bits, uint32_t *from, uint32_t *n);

/* set_run.c */
void set_event(struct set *t, int64_t at, uint32_t kind, uint32_t order, struct line *line);
int64_t set_spend(struct set *t, int64_t at, uint64_t cost);
int set_part(struct set *t, uint32_t member, enum sated_op op, uint64_t offset, uint64_t bytes, uint32_t order,
             struct line *line);
/* Lets what is on its way to the members arrive there, and nothing follow; the clock goes on. Nothing may be outstanding.
 * Then set_go_on, as after a state was read. */
void set_settle(struct sim *s);
void set_write_out(struct sim *s); /* the same after all that the cache holds is on the members */
void set_go_on(struct sim *s);
void set_order_landed(struct sim *s, uint32_t order);
void set_forget_run(struct sim *s);                /* all that is on its way is lost, but for what the cache holds */
bool set_advance(struct sim *s, int64_t until_ns); /* carries out one event; false: none by then, or an answer's */
void set_unblock(struct sim *s);                   /* writes that wait for room in the cache */

/* set_cache.c */
struct line *cache_line(const struct set *t, uint64_t row);
struct line *cache_need(struct set *t, uint64_t row); /* made where it is not there; NULL: no memory */
void cache_write(struct set *t, struct line *l, struct piece p);
int cache_wait(struct set *t, struct line *l, uint32_t order); /* also hurries it */
void cache_put_back(struct set *t, struct line *l);            /* into the list where it belongs, or it goes */
void cache_hurry(struct set *t);                               /* no row waits for more */
void cache_destage(struct sim *s);
void cache_unlist(struct set *t, struct line *l);
void cache_drop(struct set *t, struct line *l);
void cache_clear_lines(struct set *t);
void cache_after_cut(struct set *t); /* what was on its way is in the cache again */

/* set_row.c: a row is written out, or rebuilt. */
void row_start(struct sim *s, struct line *l);
void row_ready(struct sim *s, struct line *l);
void row_part_done(struct sim *s, struct line *l);
void row_rebuild(struct sim *s); /* the next row of a rebuild */

/* set_bytes.c */
void bytes_row_parity(struct sim *s, struct line *l); /* what its write leaves, worked out before */
void bytes_row_landed(struct sim *s, struct line *l);
void bytes_rebuilt(struct sim *s, uint64_t row, uint32_t member, const uint64_t *touched);

#endif
