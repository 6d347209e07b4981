/* SPDX-License-Identifier: MIT */
/* What a SAS drive remembers. */
#ifndef SATED_SIM_TARGET_SCSI_H
#define SATED_SIM_TARGET_SCSI_H

#include <stdint.h>

#define SCSI_MODE_BYTES 200 /* of all mode pages with something to set, one behind the other */
#define SCSI_SELF_TESTS 20  /* SPC-5, Self-Test Results log page */
#define SCSI_ATTENTIONS 4

enum scsi_format {
    SCSI_FORMAT_GOOD = 0,
    SCSI_FORMAT_CORRUPT = 1, /* a format was broken off: 31h/00h */
    SCSI_FORMAT_FAILED = 2,  /* 31h/01h */
};

enum scsi_sanitize {
    SCSI_SANITIZE_GOOD = 0,
    SCSI_SANITIZE_RESTRICTED = 1,   /* failed, and only another one leads out of it */
    SCSI_SANITIZE_UNRESTRICTED = 2, /* failed, and EXIT FAILURE MODE may follow: AUSE was set */
};

enum scsi_power {
    SCSI_ACTIVE = 0,
    SCSI_IDLE_A = 1,
    SCSI_IDLE_B = 2,
    SCSI_IDLE_C = 3,
    SCSI_STANDBY_Z = 4,
    SCSI_STANDBY_Y = 5,
    SCSI_STOPPED = 6,
};

struct scsi_self_test {
    uint16_t hours;
    uint8_t code, result, number, key, asc, ascq;
};

struct scsi_state {
    uint64_t blocks;      /* that can be addressed, each of block_bytes */
    uint64_t next_blocks; /* as the block descriptor has it: the next FORMAT UNIT makes it so */
    uint32_t block_bytes, next_block_bytes;
    /* Counted; since_* is what LOG SELECT set back to 0. */
    uint64_t verified_bytes, since_written, since_read, since_verified;
    uint64_t uncorrected[3]; /* of writes, reads, verifies */
    uint64_t starts;
    uint8_t format;   /* enum scsi_format */
    uint8_t sanitize; /* enum scsi_sanitize */
    uint8_t power;    /* enum scsi_power */
    uint8_t attentions;
    uint8_t self_tests;
    uint8_t reserved[3];
    uint16_t attention[SCSI_ATTENTIONS];              /* unit attentions to be told, oldest first: ASC and ASCQ */
    struct scsi_self_test self_test[SCSI_SELF_TESTS]; /* newest first */
    uint8_t mode[SCSI_MODE_BYTES], saved[SCSI_MODE_BYTES];
};

#endif
