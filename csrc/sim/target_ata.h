/* SPDX-License-Identifier: MIT */
/* What a simulated ATA drive remembers. See target_state.h for the rules of such a struct. */
#ifndef SATED_SIM_TARGET_ATA_H
#define SATED_SIM_TARGET_ATA_H

#include <stdint.h>

#define ATA_TESTS 21 /* of a self-test log (ACS-4 A.14: SMART Self-Test log) */

struct ata_test {
    uint8_t subcommand, status; /* status: result in bits 7:4, what was left to do in tens of percent in bits 3:0 */
    uint16_t hours;
    uint32_t reserved;
    uint64_t lba; /* of the first failure */
};

/* Members that hold a yes or no are 0 or 1. Sizes are in sectors of 512 bytes. */
struct ata_state {
    /* How far it can be addressed: IDENTIFY's, what IDENTIFY will be after power-on, and what DEVICE CONFIGURATION SET
     * left of the medium. */
    uint64_t sectors, kept_sectors, overlay_sectors;
    int64_t used_ns;    /* when the medium was last used, for the standby timer */
    int64_t standby_ns; /* 0: the timer is off */
    uint8_t user_password[32], master_password[32], max_password[32];
    struct ata_test tests[ATA_TESTS]; /* newest first */
    uint32_t n_tests;
    uint16_t master_revision;
    uint16_t overlay_features; /* words 7, 8, 1 and 2 of the overlay: what it leaves */
    uint16_t overlay_sata, overlay_mdma, overlay_udma;
    uint8_t previous; /* the last command, if it was one that the next may have to come directly after */
    /* Security (ACS-4 4.18). */
    uint8_t enabled, maximum, locked, frozen;
    uint8_t tries; /* left for SECURITY UNLOCK */
    /* Sanitize (ACS-4 4.17). */
    uint8_t sanitized, sanitize_failed, sanitize_may_end, sanitize_frozen, sanitize_antifreeze;
    /* HPA and AMAC (ATA8-ACS 4.10, ACS-4 4.4), DCO (ACS-2 4.8). */
    uint8_t max_ext, kept_ext; /* whether the 48-bit form made the area that there is, and that will be at power-on */
    uint8_t max_kept;          /* it was set to stay since power-on, which goes once */
    uint8_t max_lock;          /* enum ata_max_lock */
    uint8_t max_tries;
    uint8_t max_frozen; /* AMAC */
    uint8_t overlay_set, overlay_frozen;
    /* Features. */
    uint8_t smart, write_cache, look_ahead, dipm, preservation;
    uint8_t apm;         /* level; 0: off */
    uint8_t multiple;    /* sectors of READ MULTIPLE */
    uint8_t power;       /* as CHECK POWER MODE tells it */
    uint8_t offline;     /* SMART off-line data collection was started */
    uint8_t descriptors; /* SCSI: D_SENSE of the control mode page */
};

#endif
