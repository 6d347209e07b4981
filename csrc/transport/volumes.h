/* SPDX-License-Identifier: MIT */
/* Physical volumes of LVM. Of a group that is active the kernel names as its devices those alone that an active logical
 * volume has extents on: the others are part of it all the same. */
#ifndef SATED_TRANSPORT_VOLUMES_H
#define SATED_TRANSPORT_VOLUMES_H

#include "transport/use.h"

/* Adds a reason for the disk and for each of its partitions that is a physical volume of a group which is active here, or
 * which may be. @param name of the disk in sysfs; @param fd of it; -1: its node is opened to be read. */
void volumes_look(struct use_report *r, const char *name, int fd);

#endif
