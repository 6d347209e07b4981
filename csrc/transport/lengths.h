/* SPDX-License-Identifier: MIT */
/* How much an NVMe command moves by its own fields. The kernel hands a controller the pages of a buffer and no length:
 * what a command moves beyond them goes wherever the last entry happens to point. */
#ifndef SATED_TRANSPORT_LENGTHS_H
#define SATED_TRANSPORT_LENGTHS_H

#include "transport/command.h"

/* @param path of the drive, for the sentence; may be NULL. @param block bytes of a logical block; 0 unknown: then 512,
 * the least there is. Return: 0, also for commands that are not known here; SATED_PARSE if it moves more than its data
 * has room for. */
int lengths_check(const struct command *c, const char *path, uint32_t block);

#endif
