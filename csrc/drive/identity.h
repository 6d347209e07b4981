/* SPDX-License-Identifier: MIT */
/* The token by which a person consents to changing a drive. */
#ifndef SATED_DRIVE_IDENTITY_H
#define SATED_DRIVE_IDENTITY_H

#include <stdbool.h>

#include <sated/drive.h>

/* Fills the token of a block device: its serial number; SERIAL:nsid for one of several namespaces; else model@by-path.
 * @param name in sysfs; @param unique whether no other whole disk has its serial number. A partition gets none. */
void identity_token(struct sated_identity *id, const char *name, bool unique);

/* Fills why a block device may not be written to, as far as can be seen without opening it. @param name in sysfs. */
void identity_reasons(struct sated_identity *id, const char *name);

#endif
