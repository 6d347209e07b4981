/* SPDX-License-Identifier: MIT */
/* What answers tell of a drive's identity. */
#ifndef SATED_TRANSPORT_LEARN_H
#define SATED_TRANSPORT_LEARN_H

#include "transport/command.h"

/* Takes from an answer what it says of the identity. Newer knowledge does not replace older, except that ATA's own
 * words replace what a translation layer made of them. @param data n bytes of the answer. */
void learn(struct sated_identity *id, const struct command *c, const void *data, size_t n);

/* Asks a drive the usual questions; what it does not answer stays unknown. */
void learn_by_asking(struct sated_drive *d);

#endif
