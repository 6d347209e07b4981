/* SPDX-License-Identifier: MIT */
/* How a disk is attached, as sysfs tells it: link, host adapter, driver, namespaces, paths, members of a set. */
#ifndef SATED_TRANSPORT_TOPOLOGY_H
#define SATED_TRANSPORT_TOPOLOGY_H

#include "transport/handle.h"

/* Fills link, link_max, hba, driver, namespaces, controllers and members; what sysfs does not tell stays empty.
 * Opens no node. @param name a whole disk's in sysfs; @param out has its transport already. */
void topology_identify(const char *name, struct sated_identity *out);

/* How many I/Os of a block device may be with it at a time: what all queues of the kernel for it hold, or less where the
 * device takes less. Return: 0 where sysfs does not tell, as of files, md and most of device-mapper. */
uint64_t topology_queue(const struct sated_drive *d);

#endif
