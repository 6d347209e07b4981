/* SPDX-License-Identifier: MIT */
/* Character devices that take commands: SCSI generic, bsg, NVMe controllers and generic namespaces. */
#ifndef SATED_TRANSPORT_DEVICE_H
#define SATED_TRANSPORT_DEVICE_H

#include "transport/handle.h"

/* Opens the character device at d->path read-only, and the block device that it belongs to where it has one and that
 * can be opened. @param rdev its number. Return: 0 or an error; what was opened is left in d. */
int device_open(struct sated_drive *d, uint64_t rdev);

#endif
