/* SPDX-License-Identifier: MIT */
/* Which controller belongs to which namespace. The first number of nvmeXnY is the subsystem's; only sysfs knows the
 * controllers. */
#ifndef SATED_TRANSPORT_NVME_TREE_H
#define SATED_TRANSPORT_NVME_TREE_H

#include "transport/node.h"

/* The controller of a namespace, one that is live where there are several. @param disk such as nvme1n1.
 * Return: 0, or SATED_UNSUPPORTED where sysfs knows none. */
int nvme_tree_controller(char controller[NODE_NAME], const char *disk);

/* The namespaces that a controller reaches, by the names of their disks. @param controller such as nvme1.
 * Return: how many there are (cap of them are filled in), or -ENOENT for a controller that sysfs does not know. */
int nvme_tree_namespaces(char (*out)[NODE_NAME], size_t cap, const char *controller);

/* Visits every controller that has a path to a namespace, by their names, until `visit` returns other than 0.
 * @param state such as "live"; "" where sysfs does not tell. */
void nvme_tree_each_path(const char *disk, int (*visit)(const char *controller, const char *state, void *user),
                         void *user);

#endif
