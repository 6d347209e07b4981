/* SPDX-License-Identifier: MIT */
#ifndef SATED_SIM_TARGET_ATA_H
#define SATED_SIM_TARGET_ATA_H

#include <stdint.h>

struct ata_state {
    uint64_t reserved;
};

#endif
