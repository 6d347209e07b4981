/* SPDX-License-Identifier: MIT */
/* Regular files as drives: making, opening, giving back their blocks. */
#ifndef SATED_TRANSPORT_REGULAR_H
#define SATED_TRANSPORT_REGULAR_H

#include <stdbool.h>
#include <stdint.h>

#include "transport/handle.h"
#include "transport/use.h"

/* Makes a file of `bytes` with real blocks; an existing one is refused. What cannot be finished is removed.
 * @param sparse receives whether the file system had no blocks to reserve; @param fd a descriptor of what was made, so
 * that it can be told from what the path leads to later; the caller closes, -1 on failure. */
int regular_create(const char *path, uint64_t bytes, bool *sparse, int *fd);

/* Whether a handle stands for the file behind a descriptor. */
bool regular_is(const struct sated_drive *d, int fd);

/* Removes a path, if it still leads to the file behind a descriptor. */
void regular_remove(const char *path, int fd);

/* Opens the file at d->path read-only and fills d. Return: 0 or an error; what was opened is left in d->fd. */
int regular_open(struct sated_drive *d);

/* What of the file itself stands against writing to it: its permissions, its file system, locks, other names. */
void regular_obstacles(const struct sated_drive *d, struct use_report *r);

/* Gives all blocks of the file back (holes), on stable storage when it returns. Needs the permit.
 * Return: 0, SATED_UNSUPPORTED where the file system cannot, or an errno. */
int regular_deallocate(struct sated_drive *d);

/* Whether the file holds anything but holes from an offset on; true where the file system cannot tell. */
bool regular_holds_data(const struct sated_drive *d, uint64_t from);

#endif
