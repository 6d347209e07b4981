/* SPDX-License-Identifier: MIT */
/* What answers tell: of a drive's identity, and of the bridge or adapter that ATA commands go through. */
#ifndef SATED_TRANSPORT_LEARN_H
#define SATED_TRANSPORT_LEARN_H

#include "transport/command.h"

/* Takes from an answer what it says of the identity. Newer knowledge does not replace older, except that ATA's own
 * words replace what a translation layer made of them. @param data n bytes of the answer. */
void learn(struct sated_identity *id, const struct command *c, const void *data, size_t n);

/* The namespace that a command which identifies one asks about; 0 for any other command, or for all namespaces. */
uint32_t learn_nsid(const struct sated_nvme_command *c, enum sated_command_set set);

/* How ATA commands get through. What refuses ATA PASS-THROUGH(16), as some USB bridges do, is offered the (12). */
#define LEARNT_TAKES_16 1
#define LEARNT_REFUSES_16 2
#define LEARNT_TAKES_12 4

/* Takes from the answer to an ATA command what it says of the way there. @param rc what the command ended with, its
 * detail being the thread's; @param registers that came. */
void learn_way(struct sated_drive *d, const struct command *c, int rc, const struct sated_ata_registers *registers);

/* Which ATA PASS-THROUGH carries a command: 12, 16 or 32 bytes; 0 if it needs more room than what is in the way takes. */
uint32_t learn_cdb_len(const struct sated_drive *d, const struct sated_ata_command *c);

/* Asks an ATA drive, once, what sysfs cuts off (a model after 16 characters, a firmware after 4) or does not have (the
 * native capacity). Where it may not be asked, the identity stays that of sysfs. */
void learn_beyond_sysfs(struct sated_drive *d);

/* Asks a drive the usual questions; what it does not answer stays unknown. */
void learn_by_asking(struct sated_drive *d);

#endif
