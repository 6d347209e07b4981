/* SPDX-License-Identifier: MIT */
/* Keeping what goes over a handle, for a replay file. */
#ifndef SATED_TRANSPORT_RECORD_H
#define SATED_TRANSPORT_RECORD_H

#include "transport/command.h"

/* Keeps a command with its answer, if the handle is recorded. @param rc what sending it returned. */
void record_add(struct sated_drive *d, const struct command *c, int rc, const struct sated_reply *reply);
void record_free(struct record *r);

#endif
