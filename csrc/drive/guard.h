/* SPDX-License-Identifier: MIT */
/* What stands against changing a disk. */
#ifndef SATED_DRIVE_GUARD_H
#define SATED_DRIVE_GUARD_H

#include "transport/handle.h"
#include "transport/use.h"

/* What sysfs and procfs tell, by its name in sysfs: no node is opened. */
void guard_look(struct use_report *r, const char *name);

/* What sated_drive_guard tells, without what stands there unfinished: a permit is what finishes that.
 * @param whole all of the device. Return: 0 or an error. */
int guard_ask(struct sated_drive *d, bool whole, struct sated_guard *out);

/* Notes whether a purge or a change of its capacity was interrupted and stands. */
void guard_note_unfinished(struct sated_drive *d);

#endif
