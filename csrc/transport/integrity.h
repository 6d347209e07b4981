/* SPDX-License-Identifier: MIT */
/* What stands beside the blocks of a drive, metadata and protection information, and who makes and checks it. */
#ifndef SATED_TRANSPORT_INTEGRITY_H
#define SATED_TRANSPORT_INTEGRITY_H

#include <stdbool.h>
#include <stddef.h>

#include "transport/handle.h"

/* What sysfs tells of it now, as a part of a sentence. @param name of a block device or a partition of one.
 * Return: whether there is any; else "". */
bool integrity_tell(char *out, size_t n, const char *name);

/* Why the kernel gives an NVMe namespace no capacity: metadata that it does not carry. Asks sysfs, or the namespace.
 * Return: 0 if that is not it, or SATED_UNSUPPORTED with a sentence. */
int integrity_refused(struct sated_drive *d);

#endif
