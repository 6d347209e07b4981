/* SPDX-License-Identifier: MIT */
/* The way to a simulated drive: no descriptor, its own clock, always permitted. */
#ifndef SATED_TRANSPORT_SIMULATED_H
#define SATED_TRANSPORT_SIMULATED_H

#include "transport/handle.h"

/* Opens what stands behind "sim:" and fills d. Return: 0 or an error. */
int simulated_open(struct sated_drive *d, const char *spec);

/* Leaves it idle up to a moment of reported time; what goes on in it may end meanwhile. */
void simulated_idle(struct sated_drive *d, int64_t end_ns);

/* Erases it, in its own time. @param empty receives whether its counters say afterwards that nothing is mapped. */
int simulated_purge(struct sated_drive *d, bool *empty);

/* The LBA limit, kept with the drive's state; and whether nothing beyond it holds data. */
int simulated_set_capacity(struct sated_drive *d, uint64_t bytes);
bool simulated_empty_beyond(const struct sated_drive *d);

#endif
