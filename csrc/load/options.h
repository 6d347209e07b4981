/* SPDX-License-Identifier: MIT */
#ifndef SATED_LOAD_OPTIONS_H
#define SATED_LOAD_OPTIONS_H

#include "load/job.h"

/* Each checks what the caller asked for and puts it into the load. Return: 0 or an error with its sentence. */
int options_take(struct sated_load *l, const struct sated_load_options *given);
int options_take_workload(struct sated_load *l, const struct sated_workload *w);
int options_take_drive(struct sated_load *l, struct member *m);

#endif
