/* SPDX-License-Identifier: MIT */
/* A RAID set of simulated drives as sim.c sees it: the same calls, carried out by members behind a controller, on one
 * clock. A `struct sim` with `set` is the set's own handle; what it has in common with a drive (limit, clock, host's
 * queue, what it served) is in there. */
#ifndef SATED_SIM_SET_H
#define SATED_SIM_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sated/sim.h>
#include <sated/workload.h>

struct sim;
struct set;
struct spec;
struct filling;

/* Whether a name behind "sim:" is that of a kind of set. */
bool set_is_name(const char *name);

/* Makes the members and what is known of the set from a URI; s->name and such are filled. Return: 0 or an error;
 * set_free is right after either. */
int set_make(struct sim *s, const struct spec *spec);
void set_free(struct set *set);

/* As the calls of sim.h. A command has been checked already, and is in the host's queue. */
void set_admit(struct sim *s);
bool set_peek(struct sim *s, int64_t until_ns, int64_t *done_ns);
bool set_next(struct sim *s, uint32_t *tag, int64_t *done_ns, int *status);
void set_idle_until(struct sim *s, int64_t t_ns);
void set_identify(const struct sim *s, struct sated_identity *out);
uint64_t set_energy_nj(struct sim *s, int64_t t_ns);
void set_get_counters(const struct sim *s, struct sated_sim_counters *out);
void set_reset_counters(struct sim *s);
int set_purge(struct sim *s);
int set_fill(struct sim *s, const struct filling *how);
void set_limit(struct sim *s); /* of the members, after that of the set */
uint64_t set_mapped_beyond(const struct sim *s);
void set_power_cycle(struct sim *s);

/* The members. @param n from 0 on. Return of the calls: 0, or SATED_PARSE or SATED_STATE with the reason. */
uint32_t set_members(const struct sim *s);
struct sim *set_member(const struct sim *s, uint32_t n);
int set_get_member(const struct sim *s, uint32_t n, struct sated_sim_member *out);
int set_fail_member(struct sim *s, uint32_t n);
int set_replace_member(struct sim *s, uint32_t n, uint64_t bytes_per_s);

/* Bytes, one command at a time, after what the cache held; offsets and lengths are multiples of 512 within the set.
 * Return: 0 or -ENOMEM. */
int set_read_bytes(struct sim *s, uint64_t offset, void *out, uint32_t bytes);
int set_write_bytes(struct sim *s, uint64_t offset, const void *data, uint32_t bytes);

/* Whether mirrors are alike and parity fits, wherever bytes are kept and all members are in use. */
bool set_is_consistent(const struct sim *s);

/* The state of the whole set in one file. */
bool set_is_file(const char *path); /* whether a file is one */
int set_save(struct sim *s, const char *path, bool in_use);
int set_load(struct sim *s, const char *path, bool *in_use); /* the set is as it was where the file is refused */
int set_open(struct sim *s, const char *path, bool *in_use); /* makes the set from the file alone */

#endif
