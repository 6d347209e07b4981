/* SPDX-License-Identifier: MIT */
/* Drives that other hosts use as well, as far as the drive itself and the kernel tell. */
#ifndef SATED_DRIVE_SHARED_H
#define SATED_DRIVE_SHARED_H

#include "transport/handle.h"
#include "transport/use.h"

/* Asks by commands that only read. @param name in sysfs of a disk or an NVMe controller; @param nsid of the namespace
 * that is asked about, 0 for other drives. */
void shared_look(struct use_report *r, struct sated_drive *d, const char *name, uint32_t nsid);

/* What sysfs alone tells. */
void shared_look_in_tree(struct use_report *r, const char *name);

/* The namespaces of an NVMe subsystem that this host does not see, while a controller has them: what reaches all of the
 * device would reach them too. @param seen the namespaces that it sees, of which there are `n`. */
void shared_look_unseen(struct use_report *r, struct sated_drive *d, const uint32_t *seen, size_t n);

#endif
