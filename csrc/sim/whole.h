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
    uint16_t op;
    int16_t status; /* of its completion: 0, or a negated errno */
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

#define HEAT_MAX_UC ((int64_t)1000000000000) /* 1,000,000 C: more than any model can give */

struct sim {
    struct set *set; /* of drives, of which this is the common handle; NULL: it is one itself */
    struct model model;
    uint32_t unit_shift; /* log2 of the bytes of a mapping unit */
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
    int64_t heat_uc, heat_at; /* the temperature in 1/1,000,000 C, and when that was */
    uint64_t heat_nj;         /* and the energy then */
    uint64_t slower;          /* firmware times are longer by so many percent */
    struct served {
        uint64_t commands[SATED_OPS], bytes[SATED_OPS]; /* by enum sated_op */
    } served;
    struct life life; /* up to when the counters were last set back */
    struct content content;
    struct target target;
    uint64_t uncorrectable; /* commands that came upon lost data, ever */
    bool changed;           /* see target_changed() */
    bool cut_half;          /* power is about to be cut in the midst of the command being carried out */
    uint8_t *scratch;       /* three units, for media.c */
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
void queue_complete(struct sim *s, const struct command *c, int64_t done_ns, int status);
void queue_untimed(struct sim *s, const struct command *c); /* what it does to the medium, where there is no timing */

/* untimed.c, in place of the above where there is no timing: the commands are all in the host's queue. */
int64_t untimed_end(const struct sim *s); /* of the command outstanding for longest */
void untimed_admit(struct sim *s);        /* one has been put there */
void untimed_take(struct sim *s, struct completion *out);

/* counters.c */
void sim_get_life(const struct sim *s, struct life *out); /* from the drive's first day on */
uint64_t sim_programmed(const struct sim *s);             /* pages, since the counters were set back, parity included */
uint64_t sim_parity_units(const struct sim *s, uint64_t placed); /* programmed for so many */

/* opening.c: a drive from the bytes of a state file, which are used up; `path` names them in errors. */
int sim_of_text(struct sim **out, const char *path, void *data, size_t bytes);

/* sim.c */
int sim_make(struct sim *s); /* all parts of a drive, empty, for s->model */
void sim_drop(struct sim *s);
int sim_no_memory(const struct model *m);
int sim_refuse_while_busy(const struct sim *s, const char *what);
int sim_check(const struct sim *s, enum sated_op op, uint64_t offset, uint32_t bytes); /* whether it can be submitted */
/* As sim_submit, at an offset of the whole drive, which the caller has checked. */
int sim_submit_at(struct sim *s, uint32_t tag, enum sated_op op, uint64_t offset, uint32_t bytes);
void sim_power_cut(struct sim *s); /* what was on its way is lost */
void sim_forget(struct sim *s);    /* no unit holds data, every block is erased */
void sim_rest(struct sim *s);      /* dies, channels and firmware have nothing to do */

/* idle.c: what the drive does by itself from when it was left alone up to a time. */
void idle_until(struct sim *s, int64_t t_ns);

/* fill.c: what fill= says that a new drive holds; its state file is written again. */
int fill_new(struct sim *s, const char *text);

/* energy.c */
void sim_power_to(struct sim *s, int64_t t_ns);
void power_wake(struct sim *s); /* a command comes while nothing is outstanding */
void power_heat(struct sim *s); /* brings the temperature up to now */

/* target.c: the device side of the drive as the rest of it sees it. */
void target_init(struct sim *s);
void target_power_on(struct sim *s);
const char *target_check(const struct sim *s);
void target_identify(const struct sim *s, struct sated_identity *out);
int target_refuse(const struct sim *s); /* why the medium is blocked; never 0 */

/* state.c. state_read takes a file apart as far as saying of which drive it is (the caller frees all four);
 * state_load puts the rest into a drive made of just that, which is as it was where the file is refused. `data` is used
 * up. */
#define STATE_PARTS_MAX 96
struct state_parts {
    struct file_part part[STATE_PARTS_MAX];
    size_t n;
    uint64_t bytes;
};
int state_take(const char *path, const void *data, size_t bytes, char **name, char **model_text, char **keys);
int state_read(const char *path, void **data, size_t *bytes, char **name, char **model_text, char **keys);
int state_load(struct sim *s, const char *path, void *data, size_t bytes);
bool state_was_in_use(const void *data);
/* @param in_use the drive stays open: found so later, its power was cut. */
int state_save(struct sim *s, const char *path, bool in_use);
/* The same in memory, without the writing. state_text_free is right after either. */
struct state_text {
    struct state_parts parts;
    uint8_t header[40], sum[8];
    uint8_t *content;
};
int state_text(struct sim *s, const char *path, bool in_use, struct state_text *out);
void state_text_free(struct state_text *t);
uint64_t state_hash(const struct file_part *part, size_t n);
int state_mark_in_use(const char *path);
void state_parts(struct sim *s, struct state_parts *p); /* adds all that changes, in a fixed order */

/* check.c: what is wrong with a drive's state, NULL if it can be gone on with. Nothing of it is taken for granted. */
const char *state_check(const struct sim *s);

#endif
