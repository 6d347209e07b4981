/* SPDX-License-Identifier: MIT */
/* Block devices, read-only: their identity as sysfs tells it, and opening them. */
#ifndef SATED_TRANSPORT_BLOCK_H
#define SATED_TRANSPORT_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "transport/handle.h"

/* Fills all that sysfs knows of a block device, down to what is missing; the token is left to who consents. Opens no
 * node. @param name in sysfs. */
void block_identify(const char *name, struct sated_identity *out);

/* The serial number of a whole disk. Return: whether it has one. */
bool block_serial(char *out, size_t n, const char *name);

/* Opens the block device at d->path read-only and fills d. Return: 0 or an error; what was opened is left in d->fd. */
int block_open(struct sated_drive *d);

#endif
