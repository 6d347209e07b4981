/* SPDX-License-Identifier: MIT */
/* The simulated drive as the rest of the library sees it. No real time in here: the caller's clock is passed in, all
 * times are the drive's own nanoseconds (not reported ones), and they never go backwards. */
#ifndef SATED_SIM_SIM_H
#define SATED_SIM_SIM_H

#include <sated/sim.h>
#include <sated/workload.h>

struct sim;

/* Makes a simulated drive from what stands behind "sim:": "x210,lba=80%,scale=1/64" or "path/my.sim,...". A state file
 * is locked for as long as the drive is open. */
int sim_new(struct sim **out, const char *spec);

/* Saves to the state file if there is one (not in a forked child, whose copy is not the drive), then frees. Return: 0, or
 * why it could not be saved; it is freed all the same. */
int sim_free(struct sim *s);

/* Fills what a model knows: capacities, block sizes, vendor, model, serial, firmware, transport, link, raw, scale. */
void sim_identify(const struct sim *s, struct sated_identity *out);

/* The drive's own time: that of the last event, or later if idle was called. Thread: any, also while another drives it. */
int64_t sim_now_ns(const struct sim *s);
uint32_t sim_scale(const struct sim *s);

/* Times the scale: 73 years, so that no sum of times overflows. A state whose clock is beyond it is refused. */
#define SIM_TIME_MAX ((int64_t)1 << 61)

/* Leaves it idle until its own time `t_ns`. */
void sim_idle_until(struct sim *s, int64_t t_ns);

/* Submits a command at the drive's own time now (that of the last completion taken, or of sim_idle_until). The drive
 * itself takes at most its queue limit; the rest waits in the order of submission, as in a host's queue.
 * @param tag comes back with the completion; @param offset, @param bytes multiples of the logical block, 0 of a flush.
 * Return: 0, or -EINVAL outside what is accessible. */
int sim_submit(struct sim *s, uint32_t tag, enum sated_op op, uint64_t offset, uint32_t bytes);

/* The time of the next completion; false if nothing is outstanding. */
bool sim_peek(struct sim *s, int64_t *done_ns);

/* The same where it is not later than t_ns, and a set carries out nothing that is: a command can still be submitted
 * before. */
bool sim_peek_until(struct sim *s, int64_t t_ns, int64_t *done_ns);

/* Takes the next completion; the drive's time becomes its time. @param status 0 or a negated errno. */
bool sim_next(struct sim *s, uint32_t *tag, int64_t *done_ns, int *status);

/* Bytes of what can be addressed, one command after the other; only while nothing is outstanding.
 * Return: as sim_submit, or -ENOMEM. */
int sim_read(struct sim *s, uint64_t offset, void *out, uint32_t bytes);
int sim_write(struct sim *s, uint64_t offset, const void *data, uint32_t bytes);

/* Whether it is a set of drives; set.h has the rest of that. */
bool sim_is_set(const struct sim *s);

/* For `for_ns` from `at_ns` on the drive takes no command. */
void sim_stall(struct sim *s, int64_t at_ns, int64_t for_ns);

/* As sated_sim_fail_die(). */
int sim_fail_die(struct sim *s, uint32_t die);

/* Energy drawn from the beginning up to the drive's own time `t_ns` (>= the last event's), in nanojoule. */
uint64_t sim_energy_nj(struct sim *s, int64_t t_ns);

void sim_get_counters(const struct sim *s, struct sated_sim_counters *out);
void sim_reset_counters(struct sim *s);

/* Forgets everything: all mapping gone, all blocks erased; takes the model's time by the drive's clock. */
int sim_purge(struct sim *s);

/* What is laid onto the medium, as sated_sim_fill does. */
struct filling {
    uint32_t how; /* enum sated_sim_filling */
    double share; /* of what can be addressed */
};
int sim_fill(struct sim *s, const struct filling *how);

/* The LBA limit. What lies beyond is not deallocated by this. */
int sim_set_capacity(struct sim *s, uint64_t bytes);
uint64_t sim_capacity(const struct sim *s);
uint64_t sim_native_capacity(const struct sim *s);
/* Mapping units beyond the limit that still hold data. */
uint64_t sim_mapped_beyond(const struct sim *s);

/* The real path of its state file; NULL if it has none. */
const char *sim_state_path(const struct sim *s);

/* `path` NULL: to the state file, if there is one. */
int sim_save(struct sim *s, const char *path);
int sim_restore(struct sim *s, const char *path);
void sim_power_cycle(struct sim *s);

#endif
