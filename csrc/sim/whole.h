/* SPDX-License-Identifier: MIT */
/* The parts of a simulated drive together; for sim.c, queue.c and state.c. */
#ifndef SATED_SIM_WHOLE_H
#define SATED_SIM_WHOLE_H

#include <sated/sim.h>
#include <sated/workload.h>

#include "core/file.h"
#include "sim/cache.h"
#include "sim/content.h"
#include "sim/ftl.h"
#include "sim/model.h"
#include "sim/target_state.h"
#include "sim/timing.h"

struct command {
    uint64_t offset;
    uint32_t bytes, tag;
    uint32_t at; /* units of a write that are in the buffer */
    uint32_t op;
};

/* Commands in the order in which they came. */
struct fifo {
    struct command *items;
    uint32_t first, n, room; /* room is a power of two */
};

struct completion {
    int64_t done_ns;
    uint64_t number; /* equal times: the order of execution */
    struct command command;
};

/* What is never set back. */
struct life {
    uint64_t read_commands, write_commands, read_bytes, written_bytes, trimmed_bytes;
    uint64_t placed_units, moved_units, erased_blocks;
};

struct sim {
    struct model model;
    char *model_text;
    char *keys; /* of the URI, but for state and lba */
    char *state_path;
    struct file_lock *lock;
    /* What a state file holds. */
    struct ftl ftl;
    struct cache cache;
    struct timing timing;
    int64_t now;          /* set by sim_at() only: other threads read it */
    int64_t last_command; /* the time at which a command was last outstanding: the drive has been left alone since */
    uint64_t limit_bytes; /* what a load can address, from base_bytes on */
    uint64_t base_bytes;  /* where the drive's first namespace begins; else 0 */
    uint64_t number;
    uint64_t read_units;       /* from flash or its buffer, since the counters were set back */
    uint64_t base_nj, base_pj; /* drawn up to power_at, less what reads and programs took */
    int64_t power_at;
    struct served {
        uint64_t commands[SATED_OPS], bytes[SATED_OPS]; /* by enum sated_op */
    } served;
    struct life life; /* up to when the counters were last set back */
    struct content content;
    struct target target;
    bool changed;     /* see target_changed() */
    bool cut_half;    /* power is about to be cut in the midst of the command being carried out */
    uint8_t *scratch; /* three units, for media.c */
    /* Outstanding commands; there are none while the state is saved. */
    struct fifo waiting;        /* in the host's queue */
    struct fifo writes;         /* in the drive, for want of buffer */
    struct completion *heap;    /* of the commands in the drive, next one first */
    uint32_t done;              /* in the heap */
    uint32_t inside;            /* in the drive */
    int64_t stall_at, stall_ns; /* it will do nothing for so long from then on; 0 = it will not. Not in a state file */
};

/* Outstanding, in the host's queue or in the drive. */
static inline uint32_t sim_outstanding(const struct sim *s)
{
    return s->inside + s->waiting.n;
}

/* The drive's time goes on. The thread that drives it is the only one that sets it, and any may ask for it. */
static inline void sim_at(struct sim *s, int64_t t_ns)
{
    __atomic_store_n(&s->now, t_ns, __ATOMIC_RELAXED);
}

/* queue.c */
int fifo_put(struct fifo *q, const struct command *c);
void queue_admit(struct sim *s);                   /* takes from the host's queue what the drive has room for */
void queue_run(struct sim *s);                     /* writes whose buffer is free before the next completion */
void queue_run_until(struct sim *s, int64_t t_ns); /* the same, before a time */
void queue_take(struct sim *s, struct completion *out);

/* sim.c */
void sim_power_to(struct sim *s, int64_t t_ns);
/* As sim_submit, at an offset of the whole drive, which the caller has checked. */
int sim_submit_at(struct sim *s, uint32_t tag, enum sated_op op, uint64_t offset, uint32_t bytes);
void sim_power_cut(struct sim *s);                        /* what was on its way is lost */
void sim_forget(struct sim *s);                           /* no unit holds data, every block is erased */
void sim_rest(struct sim *s);                             /* dies, channels and firmware have nothing to do */
void sim_get_life(const struct sim *s, struct life *out); /* from the drive's first day on */

/* target.c: the device side of the drive as the rest of it sees it. */
void target_init(struct sim *s);
void target_power_on(struct sim *s);
const char *target_check(const struct sim *s);
void target_identify(const struct sim *s, struct sated_identity *out);
int target_refuse(const struct sim *s); /* why the medium is blocked; never 0 */

/* state.c. state_read takes a file apart as far as saying of which drive it is (the caller frees all four);
 * state_load puts the rest into a drive made of just that, which is as it was where the file is refused. `data` is used
 * up. */
#define STATE_PARTS_MAX 64
struct state_parts {
    struct file_part part[STATE_PARTS_MAX];
    size_t n;
    uint64_t bytes;
};
int state_read(const char *path, void **data, size_t *bytes, char **name, char **model_text, char **keys);
int state_load(struct sim *s, const char *path, void *data, size_t bytes);
bool state_was_in_use(const void *data);
/* @param in_use the drive stays open: found so later, its power was cut. */
int state_save(struct sim *s, const char *path, bool in_use);
int state_mark_in_use(const char *path);
void state_parts(struct sim *s, struct state_parts *p); /* adds all that changes, in a fixed order */

/* check.c: what is wrong with a drive's state, NULL if it can be gone on with. Nothing of it is taken for granted. */
const char *state_check(const struct sim *s);

#endif
