/* SPDX-License-Identifier: MIT */
/* What an NVMe drive remembers: the namespaces and the sanitize status of its subsystem, and of each of its two
 * controllers features, error log and what changed. Clauses without a name are those of the NVM Express Base
 * Specification 2.0c. */
#ifndef SATED_SIM_TARGET_NVME_H
#define SATED_SIM_TARGET_NVME_H

#include <stdint.h>

#define NVME_CONTROLLERS 2
#define NVME_NAMESPACES 16
#define NVME_ERRORS 64
#define NVME_SELF_TESTS 20
#define NVME_BAD_SPANS 64
#define NVME_TRANSITIONS 32

struct nvme_namespace {
    uint64_t base_bytes;     /* where it begins on the medium: with a chunk */
    uint64_t held_bytes;     /* of the medium, whole chunks; 0: there is no namespace of this identifier */
    uint64_t size_bytes;     /* what it was made to hold, whatever its blocks are by now */
    uint64_t number;         /* the how manieth it is that was made in this subsystem: makes its identifiers unique */
    uint32_t format;         /* index of its LBA format */
    uint32_t shared;         /* 1: may be attached to both controllers */
    uint32_t attached;       /* bit i: to controller i */
    uint32_t broken;         /* 1: a format of it did not come to its end; it needs another one */
    uint32_t error_recovery; /* feature 05h */
    uint32_t reserved;
};

/* The features that are one number; temperature thresholds are three of them: composite, sensor 1, sensor 2. */
enum nvme_value {
    NVME_VALUE_ARBITRATION,
    NVME_VALUE_POWER,
    NVME_VALUE_OVER,
    NVME_VALUE_UNDER = NVME_VALUE_OVER + 3,
    NVME_VALUE_CACHE = NVME_VALUE_UNDER + 3,
    NVME_VALUE_COALESCING,
    NVME_VALUE_ATOMICITY,
    NVME_VALUE_EVENTS,
    NVME_VALUE_APST,
    NVME_VALUE_THERMAL,
    NVME_VALUE_PERMISSIVE,
    NVME_VALUE_MARKER,
    NVME_VALUE_SANITIZE,
    NVME_VALUES,
};

struct nvme_features {
    uint32_t value[NVME_VALUES];
    uint32_t reserved;
    uint64_t transition[NVME_TRANSITIONS]; /* the table of feature 0Ch */
};

/* An entry of the error log, 5.16.1.2. */
struct nvme_error {
    uint64_t lba, specific;
    uint32_t nsid;
    uint16_t status;   /* above the phase bit */
    uint16_t location; /* of the parameter: byte 7:0, bit 10:8; FFFFh none in particular */
    uint16_t queue;
    uint16_t reserved[3];
};

struct nvme_controller {
    struct nvme_features now, saved;
    uint64_t time_ms, time_at_ms;         /* feature 0Eh: what was set, and the drive's own clock then */
    uint64_t time_set;                    /* 1: by a host */
    uint64_t errors, old_errors;          /* ever; those before power-on, which the log does not tell */
    struct nvme_error error[NVME_ERRORS]; /* number n (from 1 on) is at (n - 1) % NVME_ERRORS */
    uint64_t changed;                     /* bit i: namespace i + 1, since the log of that was read */
    uint64_t telemetry;                   /* times that the host had telemetry captured */
    uint32_t operational;                 /* the last power state in which it does I/O */
    uint32_t reserved;
};

/* Of a self-test that ended, 5.16.1.7. */
struct nvme_self_test {
    uint64_t hours;
    uint32_t nsid; /* 0: the controller only */
    uint8_t code, result, segment, reserved;
};

/* Logical blocks marked by Write Uncorrectable, as a span of the medium. */
struct nvme_span {
    uint64_t begin_bytes, end_bytes; /* both 0: the place is free */
};

struct nvme_state {
    struct nvme_namespace ns[NVME_NAMESPACES]; /* by identifier, less one */
    struct nvme_controller controller[NVME_CONTROLLERS];
    uint64_t made;                          /* namespaces, ever */
    uint64_t view;                          /* the controller whose namespace a load addresses */
    uint64_t shown_base_bytes, shown_bytes; /* that namespace on the medium */
    uint64_t sanitize_status;               /* SSTAT 2:0 */
    uint64_t failure_mode;                  /* 1: one failed, and nothing has led out of that yet (8.21) */
    uint64_t sanitize_passes;               /* overwrite passes done by the most recent one */
    uint64_t sanitize_command;              /* its dword 10 */
    uint64_t written_bytes;                 /* in the drive's life, when all user data was last erased */
    uint64_t media_errors;
    uint64_t self_tests; /* ended, ever: number n (from 1 on) is at (n - 1) % NVME_SELF_TESTS */
    struct nvme_self_test self_test[NVME_SELF_TESTS];
    struct nvme_span bad[NVME_BAD_SPANS];
};

#endif
