/* SPDX-License-Identifier: MIT */
/* The way to a simulated drive: no descriptor, its own clock, always permitted. */
#ifndef SATED_TRANSPORT_SIMULATED_H
#define SATED_TRANSPORT_SIMULATED_H

#include "transport/handle.h"

/* Opens what stands behind "sim:" and fills d. Return: 0 or an error. */
int simulated_open(struct sated_drive *d, const char *spec);

/* Fills its identity anew: a command may have changed it. */
void simulated_identify(struct sated_drive *d);

/* Erases it, in its own time. @param empty receives whether its counters say afterwards that nothing is mapped. */
int simulated_purge(struct sated_drive *d, bool *empty);

/* Why it cannot be written to now, and what helps; NULL where it can. */
const char *simulated_blocked(struct sated_drive *d);

/* @param what is about to be done, such as "a purge". Return: 0, or SATED_STATE where it is blocked. */
int simulated_need_open(struct sated_drive *d, const char *what);

/* Leaves it idle until its own time; what comes to its end meanwhile is seen, and kept. Return: 0 or an error. */
int simulated_sleep(struct sated_drive *d, int64_t until_ns);

/* The LBA limit, kept with the drive's state, UINT64_MAX for none; and whether nothing beyond it holds data. */
uint64_t simulated_device_bytes(const struct sated_drive *d); /* without that limit */
int simulated_set_capacity(struct sated_drive *d, uint64_t bytes);
bool simulated_empty_beyond(const struct sated_drive *d);

/* Puts a saved state back, as sated_sim_restore does, but for what the journals say. */
int simulated_restore(struct sated_drive *d, const char *path);

/* How many drives a set has; 0 of one that is no set. */
uint32_t simulated_members(const struct sated_drive *d);

/* The real path of the file that its state outlasts the process in; NULL if there is none. */
const char *simulated_state_path(const struct sated_drive *d);

#endif
