/* SPDX-License-Identifier: MIT */
/* What a simulated drive remembers as a device, beyond what lies on its medium. It is kept in the state file as it lies
 * in memory, so that all members are whole numbers of fixed size, and padding is spelled out. */
#ifndef SATED_SIM_TARGET_STATE_H
#define SATED_SIM_TARGET_STATE_H

#include <stdint.h>

#include "sim/target_ata.h"
#include "sim/target_nvme.h"
#include "sim/target_scsi.h"

/* What goes on in the drive by itself, for seconds to hours. */
enum operation_kind {
    OPERATION_NONE = 0,
    OPERATION_SANITIZE_BLOCK = 1,
    OPERATION_SANITIZE_CRYPTO = 2,
    OPERATION_SANITIZE_OVERWRITE = 3,
    OPERATION_FORMAT = 4,
    OPERATION_SELF_TEST = 5,
    OPERATION_SECURITY_ERASE = 6,
    OPERATION_LAST = 6,
};

struct operation {
    uint64_t kind;        /* enum operation_kind; NONE: nothing goes on */
    int64_t resumed_ns;   /* since when it has been going on, in the drive's own time */
    int64_t before_ns;    /* how long it had been going on before that */
    int64_t length_ns;    /* how long it takes */
    uint64_t fails;       /* 1: it will end in a failure */
    uint64_t argument[4]; /* what the protocol keeps with it */
};

/* A fault that was ordered, as struct sated_sim_fault has it. */
struct fault {
    uint32_t kind;  /* enum sated_sim_fault_kind; 0: the place is free */
    uint32_t after; /* matching commands still let through */
    uint32_t count; /* matching commands that it still meets; UINT32_MAX: all, until it is cleared */
    int32_t opcode; /* -1: any */
    uint32_t outcome;
    uint8_t key, asc, ascq, ata_error;
    uint16_t nvme_status, host_status;
};

#define FAULTS_MAX 16

struct target {
    uint64_t off;     /* 1: it has no power since a cut, until it is switched on again */
    uint64_t blocked; /* 1: the medium cannot be read or written now, neither by commands nor by a load */
    uint64_t power_cycles, unsafe_shutdowns;
    struct operation operation;
    struct fault fault[FAULTS_MAX];
    struct ata_state ata;
    struct scsi_state scsi;
    struct nvme_state nvme;
};

#endif
