/* SPDX-License-Identifier: MIT */
/* What commands are called, for sentences. */
#ifndef SATED_TRANSPORT_NAMES_H
#define SATED_TRANSPORT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* The names of an ATA and an NVMe command, NULL for what the standards do not have. @param features tells apart what
 * has one command code. */
const char *names_ata(uint8_t command, uint16_t features);
const char *names_nvme(bool admin, uint8_t opcode);

#endif
