/* SPDX-License-Identifier: MIT */
/* What a drive is, asked anew once something changed it: its capacity, its blocks, its namespaces. */
#ifndef SATED_TRANSPORT_REFRESH_H
#define SATED_TRANSPORT_REFRESH_H

#include "transport/handle.h"

/* Makes the kernel look at the drive again, follows it where its node has another name since, and fills the identity
 * anew; the permit stays. Return: 0, SATED_UNSAFE if another drive stands in its place, or another error. */
int handle_refresh(struct sated_drive *d);

#endif
