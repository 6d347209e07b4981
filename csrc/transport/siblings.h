/* SPDX-License-Identifier: MIT */
/* The other disks of a device: what a command that reaches all of it would touch besides the one it is sent to. */
#ifndef SATED_TRANSPORT_SIBLINGS_H
#define SATED_TRANSPORT_SIBLINGS_H

#include "transport/handle.h"
#include "transport/node.h"

#define SIBLINGS_MAX 128

/* Of NVMe all other namespaces of the subsystem on every controller, of SCSI all other logical units of the target.
 * @param out cap of their names in sysfs. Return: how many; SATED_UNSAFE where there are more than cap. */
int siblings_find(char (*out)[NODE_NAME], size_t cap, const struct sated_drive *d);

/* The same of a disk, or an NVMe controller, by its name. */
int siblings_of(char (*out)[NODE_NAME], size_t cap, const char *name);

/* The other disks with the same serial number or world-wide name that may be another path to the same drive.
 * @param out receives the first. Return: whether there is one. */
bool siblings_twin(char out[NODE_NAME], const char *name);

/* How many controllers of an NVMe subsystem this machine sees, by the name of a disk or a controller. */
int siblings_controllers(const char *name);

/* Whether a disk's controllers are reached over a network. */
bool siblings_fabrics(const char *name);

#endif
