/* SPDX-License-Identifier: MIT */
/* Commands on flash that is no longer whole: pages without data, a drive that takes no more writes, a die to be rebuilt. */
#ifndef SATED_SIM_FLAW_H
#define SATED_SIM_FLAW_H

#include "sim/whole.h"

/* To be asked where ftl.sick is not 0. Return: 0, or the status that the command ends with, and nothing is done. */
int flaw_meets(struct sim *s, const struct command *c);

/* One step of rebuilding, in a domain that the stripe being gathered has room for. Return: whether there was one. */
bool flaw_rebuild(struct sim *s);

/* Where in the span the first byte is that was lost; UINT64_MAX: nowhere. */
uint64_t flaw_first_lost(const struct sim *s, uint64_t offset, uint64_t bytes);

#endif
