/* SPDX-License-Identifier: MIT */
#ifndef SATED_SIM_TARGET_SCSI_H
#define SATED_SIM_TARGET_SCSI_H

#include <stdint.h>

struct scsi_state {
    uint64_t reserved;
};

#endif
