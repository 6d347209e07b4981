/* SPDX-License-Identifier: MIT */
/* For the parts of the SAS drive among themselves. */
#ifndef SATED_SIM_TARGET_SCSI_INSIDE_H
#define SATED_SIM_TARGET_SCSI_INSIDE_H

#include "sim/target_inside.h"

enum scsi_key {
    KEY_NONE = 0x0,
    KEY_NOT_READY = 0x2,
    KEY_MEDIUM = 0x3,
    KEY_HARDWARE = 0x4,
    KEY_ILLEGAL = 0x5,
    KEY_ATTENTION = 0x6,
    KEY_PROTECT = 0x7,
    KEY_ABORTED = 0xb,
    KEY_MISCOMPARE = 0xe,
};

/* ASC and ASCQ, as T10's list has them. */
enum scsi_code {
    CODE_NONE = 0x0000,
    CODE_INITIALIZING_NEEDED = 0x0402,
    CODE_FORMAT_IN_PROGRESS = 0x0404,
    CODE_SELF_TEST_IN_PROGRESS = 0x0409,
    CODE_SANITIZE_IN_PROGRESS = 0x041b,
    CODE_LIST_LENGTH = 0x1a00,
    CODE_MISCOMPARE = 0x1d00,
    CODE_INVALID_OPCODE = 0x2000,
    CODE_LBA_OUT_OF_RANGE = 0x2100,
    CODE_INVALID_IN_CDB = 0x2400,
    CODE_INVALID_IN_LIST = 0x2600,
    CODE_WRITE_PROTECTED = 0x2702,
    CODE_POWER_ON = 0x2900,
    CODE_CAPACITY_CHANGED = 0x2a09,
    CODE_FORMAT_CORRUPT = 0x3100,
    CODE_FORMAT_FAILED = 0x3101,
    CODE_SANITIZE_FAILED = 0x3103,
    CODE_SELF_TEST_FAILED = 0x3e03,
    CODE_DATA_PHASE = 0x4b00,
    CODE_FALSE_PREDICTION = 0x5dff,
    CODE_LOW_POWER = 0x5e00,
    CODE_BRIDGE_LOCKED = 0x7471,
};

struct scsi_call;

enum {
    SCSI_EXEMPT = 0x01,   /* carried out while a unit attention is pending (SPC-5) */
    SCSI_SANITIZE = 0x02, /* and while a sanitize operation goes on or has failed (SBC-4 4.11) */
    SCSI_FORMAT = 0x04,   /* and while a format goes on (SBC-4 5.4) */
    SCSI_MEDIUM = 0x08,   /* needs a drive that is ready */
    SCSI_REPAIR = 0x10,   /* but not one that is formatted */
    SCSI_WRITE = 0x20,    /* refused under software write protection */
};

/* How long a command may take, as REPORT SUPPORTED OPERATION CODES tells. */
enum scsi_time { TIME_SHORT, TIME_TRANSFER, TIME_ERASE, TIME_OVERWRITE, TIME_SELF_TEST };

/* A command there is. What a bit of `usage` leaves out is reserved, and has to be 0. */
struct scsi_row {
    uint8_t opcode;
    int8_t action; /* -1: it has none */
    uint8_t bytes; /* of the CDB */
    uint8_t flags;
    uint8_t time; /* enum scsi_time */
    uint8_t usage[16];
    int (*run)(struct scsi_call *k);
};

/* One command on its way. */
struct scsi_call {
    struct sim *s;
    struct scsi_state *t;
    const struct sated_scsi_command *c;
    const uint8_t *cdb;
    const struct scsi_row *row;
    uint8_t *data;
    uint32_t in, out; /* bytes that the host has room for, and that it sent */
    struct sated_reply *reply;
};

/* ---- target_scsi.c. Refusals return -1, so that a command can end with one; it returns 0 where it was carried out. ---- */

int scsi_refuse(struct scsi_call *k, const struct target_sense *sense);
int scsi_fail(struct scsi_call *k, uint8_t key, uint16_t code);
/* INVALID FIELD IN CDB and IN PARAMETER LIST, with where. @param bit 0 to 7, or -1. */
int scsi_bad_cdb(struct scsi_call *k, uint32_t byte, int bit);
int scsi_bad_list(struct scsi_call *k, uint32_t byte, int bit);

/* Answers with n bytes, of which the host wanted up to `wanted`. Return: 0. */
int scsi_give(struct scsi_call *k, const void *bytes, size_t n, size_t wanted);
/* Takes n bytes of a parameter list or of data, which are k->data then. Return: 0, or -1 where the host sent fewer. */
int scsi_take(struct scsi_call *k, size_t n);

/* A unit attention: to be told once, and taken to be told. */
void scsi_attention(struct sim *s, uint16_t code);
uint16_t scsi_take_attention(struct sim *s);

/* What the drive's state has to say by itself: to REQUEST SENSE, and to what is not possible in that state. */
struct target_sense scsi_pollable(const struct sim *s);
bool scsi_descriptor_sense(const struct sim *s);

/* Sets what can be read and written by now; to be called whenever the state behind it has changed.
 * @param resized the limit of what a load can address is lifted too. */
void scsi_window(struct sim *s, bool resized);
uint64_t scsi_largest(const struct sim *s, uint32_t block_bytes); /* blocks that the whole drive has */

/* ---- target_scsi_table.c ---- */

/* Return: NULL where there is none; *opcode says whether there is one with another service action. */
const struct scsi_row *scsi_find(const uint8_t *cdb, bool *opcode);
int scsi_report_opcodes(struct scsi_call *k);
int scsi_report_functions(struct scsi_call *k);

/* ---- target_scsi_inquiry.c ---- */
int scsi_inquiry(struct scsi_call *k);
int scsi_report_luns(struct scsi_call *k);
int scsi_read_capacity_10(struct scsi_call *k);
int scsi_read_capacity_16(struct scsi_call *k);
int scsi_reserve_in(struct scsi_call *k);
uint64_t scsi_address(const struct sim *s, uint32_t port); /* SAS address; 0: the logical unit's name */
#define SCSI_PORTS 2
#define SCSI_TRANSFER_BYTES ((uint32_t)32 << 20)   /* of one command */
#define SCSI_WRITE_SAME_BYTES ((uint32_t)64 << 20) /* what a WRITE SAME may fill */
#define SCSI_COMPARE_BLOCKS 16
#define SCSI_UNMAP_DESCRIPTORS 256
#define SCSI_SHORT_TEST_NS 60000000000
#define SCSI_EXTENDED_TEST_NS 600000000000

/* ---- target_scsi_mode.c ---- */
int scsi_mode_sense(struct scsi_call *k);
int scsi_mode_select(struct scsi_call *k);
void scsi_mode_defaults(uint8_t out[SCSI_MODE_BYTES]);
bool scsi_mode_allowed(const uint8_t mode[SCSI_MODE_BYTES]); /* nothing is set that cannot be */
bool scsi_mode_wce(const struct sim *s);
bool scsi_mode_descriptors(const struct sim *s); /* D_SENSE */
bool scsi_mode_protected(const struct sim *s);
bool scsi_mode_predicts(const struct sim *s); /* TEST of the Informational Exceptions Control page */
uint8_t scsi_mode_mrie(const struct sim *s);

/* ---- target_scsi_log.c ---- */
int scsi_log_sense(struct scsi_call *k);
int scsi_log_select(struct scsi_call *k);
uint16_t scsi_prediction(const struct sim *s); /* the failure that it foresees; 0: none */
#define SCSI_SPARE_PERCENT 10                  /* of the blocks in reserve: with fewer it foresees one */

/* ---- target_scsi_media.c ---- */
int scsi_read(struct scsi_call *k);
int scsi_write(struct scsi_call *k);
int scsi_verify(struct scsi_call *k);
int scsi_write_verify(struct scsi_call *k);
int scsi_synchronize(struct scsi_call *k);
int scsi_compare_write(struct scsi_call *k);
int scsi_unmap(struct scsi_call *k);
int scsi_write_same(struct scsi_call *k);
int scsi_lba_status(struct scsi_call *k);
int scsi_defects_10(struct scsi_call *k);
int scsi_defects_12(struct scsi_call *k);

/* ---- target_scsi_erase.c ---- */
int scsi_format_unit(struct scsi_call *k);
int scsi_sanitize(struct scsi_call *k);
int scsi_sanitize_exit(struct scsi_call *k);
void scsi_erase_finish(struct sim *s, const struct operation *o);
int64_t scsi_erase_ns(const struct sim *s, enum operation_kind kind, uint32_t passes);

/* ---- target_scsi_power.c ---- */
int scsi_test_ready(struct scsi_call *k);
int scsi_request_sense(struct scsi_call *k);
int scsi_start_stop(struct scsi_call *k);
int scsi_send_diagnostic(struct scsi_call *k);
int scsi_receive_diagnostic(struct scsi_call *k);
/* Writes down how a self-test ended (SPC-5, result codes). */
void scsi_self_test_end(struct sim *s, uint8_t code, uint8_t result);
/* Ends one that goes on, for a command that cannot be carried out beside it. */
void scsi_self_test_abort(struct sim *s);

#endif
