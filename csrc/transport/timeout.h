/* SPDX-License-Identifier: MIT */
/* How long a command gets that comes without a timeout. */
#ifndef SATED_TRANSPORT_TIMEOUT_H
#define SATED_TRANSPORT_TIMEOUT_H

#include "transport/command.h"

/* The usual time, or the drive's own estimate where that is longer: of commands that may take long it is asked, once.
 * @param data of the command, NULL without. Return: ms, never 0. */
uint32_t timeout_choose(struct sated_drive *d, const struct command *c, const void *data);

#endif
