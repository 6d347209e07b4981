/* SPDX-License-Identifier: MIT */
#ifndef SATED_SIM_TARGET_NVME_H
#define SATED_SIM_TARGET_NVME_H

#include <stdint.h>

struct nvme_state {
    uint64_t reserved;
};

#endif
