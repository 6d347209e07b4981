/* SPDX-License-Identifier: MIT */
/* What lies beneath a loop device, by what the kernel has open. Its path alone can mislead: it may be removed since, be of
 * another mount namespace, or that of a device node outside /dev. */
#ifndef SATED_TRANSPORT_LOOPS_H
#define SATED_TRANSPORT_LOOPS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "transport/node.h"

struct loop_backing {
    char path[PATH_MAX];    /* as sysfs has it */
    bool told;              /* what follows: the kernel was asked */
    uint64_t device, inode; /* st_dev and st_ino of the file */
    uint64_t rdev;          /* st_rdev, where it is a block device */
    char node[NODE_NAME];   /* and the name of that in sysfs, "" where there is none */
};

/* @param name in sysfs, such as loop0. Return: false for what is no loop device, or has nothing beneath. */
bool loops_backing(struct loop_backing *out, const char *name);

/* Whether two loop devices lie on the same file or device. */
bool loops_same(const struct loop_backing *a, const struct loop_backing *b);

#endif
