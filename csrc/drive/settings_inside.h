/* SPDX-License-Identifier: MIT */
/* For the two parts of settings: one for what they are, one for how each protocol says it. */
#ifndef SATED_DRIVE_SETTINGS_INSIDE_H
#define SATED_DRIVE_SETTINGS_INSIDE_H

#include "transport/handle.h"

/* A protocol's own way. */
struct settings_way {
    /* Fills all but the block size. Return: 0 or the drive's error. */
    int (*get)(struct sated_drive *d, struct sated_settings *out);
    /* Whether the drive has such values, before anything is set; NULL: all are right. Return: 0 or SATED_PARSE. */
    int (*check)(struct sated_drive *d, const struct sated_settings *wanted);
    /* Sets one, which is changeable. @param which SATED_SETTING_*, one bit. Return: 0 or an error. */
    int (*set)(struct sated_drive *d, uint32_t which, const struct sated_settings *wanted);
};

extern const struct settings_way settings_ata, settings_scsi, settings_nvme;

#endif
