/* SPDX-License-Identifier: MIT */
/* For the targets among themselves: what they share, and what each of them offers to target.c. */
#ifndef SATED_SIM_TARGET_INSIDE_H
#define SATED_SIM_TARGET_INSIDE_H

#include "sim/flaw.h"
#include "sim/media.h"
#include "sim/target.h"
#include "sim/whole.h"

/* A protocol's side of it; target_scsi.c, target_sat.c and target_nvme.c each have one. */
struct target_protocol {
    const char *name; /* as models call it */
    /* As it leaves the factory; the rest of struct target is zero. */
    void (*init)(struct sim *s);
    /* Power has come back: what is volatile is as after power-on. An operation goes on from where it was, unless this
     * stops it. */
    void (*power_on)(struct sim *s);
    /* An operation has come to its end (fails: to a bad one); s->target.operation is still that of it. */
    void (*finish)(struct sim *s, const struct operation *o);
    /* What is wrong with the state, or NULL; nothing of it is taken for granted. */
    const char *(*check)(const struct sim *s);
    /* Why nothing can be read or written now, and what helps; NULL where something can. */
    const char *(*blocked)(const struct sim *s);
    /* Adds what only the device knows: capacity_bytes of what a load can address, logical_block_bytes, serial, ... */
    void (*identify)(const struct sim *s, struct sated_identity *out);
    /* Carries out a command that no fault prevents; the one that does not fit is NULL. */
    void (*scsi)(struct sim *s, const struct sated_scsi_command *c, void *data, struct sated_reply *reply);
    void (*nvme)(struct sim *s, uint32_t controller, const struct sated_nvme_command *c, void *data,
                 struct sated_reply *reply);
    /* Shows what this controller has; NULL where there is but one. */
    void (*view)(struct sim *s, uint32_t controller);
    /* The answer of a fault of the kind FAIL. */
    void (*fail)(struct sim *s, const struct fault *f, const struct sated_scsi_command *c, struct sated_reply *reply);
};

extern const struct target_protocol target_protocol_ata, target_protocol_scsi, target_protocol_nvme;

/* ---- Answers ---- */

/* As the kernel tells them: a SCSI status, a driver's, and the host adapter's (its include/scsi/scsi.h, scsi_status.h). */
enum {
    CHECK_CONDITION = 0x02,
    DRIVER_SENSE = 0x08,
    DID_NO_CONNECT = 0x01,
    DID_TIME_OUT = 0x03,
};

/* A text in a field of `room` bytes: cut, or filled up by blanks. */
void target_put_text(uint8_t *out, size_t room, const char *text);

/* The serial number, as identities and commands tell it. @param out 20 bytes of room. */
void target_serial(const struct sim *s, char out[20]);

/* A world-wide name made from the seed: NAA 5, a made-up OUI. */
uint64_t target_wwn(const struct sim *s);

/* ---- What outlasts a cut ---- */

/* To be called by every command that changes struct target, or data that was promised to stay. */
void target_changed(struct sim *s);

/* What a load and the medium can be addressed by now: a window, and whether it is open. */
void target_set_window(struct sim *s, uint64_t base_bytes, uint64_t bytes, bool blocked);

/* ---- Sense data ---- */

struct target_sense {
    uint8_t key;
    uint16_t code;  /* ASC and ASCQ */
    bool specific;  /* SKSV */
    uint8_t sks[3]; /* the sense key specific bytes, SKSV left out */
    bool valid;     /* INFORMATION */
    uint64_t information;
};

/* @param descriptor its format; @param out zeroed first. Return: its length. */
uint32_t target_sense_encode(const struct target_sense *sense, bool descriptor, uint8_t out[32]);

/* The command ends with CHECK CONDITION and this sense data. */
void target_check_condition(struct sated_reply *reply, const struct target_sense *sense, bool descriptor);

/* ---- Operations ---- */

#define OPERATION_LONGEST_NS (INT64_MAX / 65536) /* 39 hours of the drive's own time */

/* One that would take longer than the longest takes that. Where the power is about to be cut in its midst, half of it is
 * done already. */
void operation_start(struct sim *s, enum operation_kind kind, int64_t length_ns);
bool operation_sanitizes(const struct sim *s); /* whether it is a sanitize operation that goes on */
/* Breaks it off; finish is not called. */
void operation_stop(struct sim *s);
/* Progress in 1/65536, 0 to 65535; 65535 where nothing goes on. */
uint32_t operation_progress(const struct sim *s);
/* Ends what has come to its end by now; done before every command. */
void operation_update(struct sim *s);
/* For commands that answer only when what they started has come to its end: lets the time pass, and the operation
 * finish. Return: whether it did; not where it stalls or the power is cut in its midst. */
bool operation_wait(struct sim *s);

/* ---- Faults ---- */

/* Whether a fault of a kind is there: a quirk, which counts nothing down. */
bool fault_stands(const struct sim *s, enum sated_sim_fault_kind kind);

/* Takes a fault of a kind that this opcode meets (-1: whatever it is for), counting it down. Return: whether there was
 * one, which *out then is. */
bool fault_take(struct sim *s, enum sated_sim_fault_kind kind, int opcode, struct fault *out);

/* ---- Numbers for health ---- */

/* Hours that it has been on, in reported time; host bytes and bytes programmed in its life, times the scale. */
uint64_t target_hours(const struct sim *s);
uint64_t target_life_written_bytes(const struct sim *s);
uint64_t target_life_read_bytes(const struct sim *s);
uint64_t target_life_programmed_bytes(const struct sim *s);
/* Mean erases of a block against what the model's flash endures, in percent, 0 to 255. */
uint32_t target_used_percent(const struct sim *s);
/* Blocks in reserve that are left, in percent, where they are fewest; 100 where a model has none, until it takes no more writes. */
uint32_t target_spare_percent(const struct sim *s);
uint64_t target_grown_bad(const struct sim *s); /* blocks that failed, times the scale */
uint32_t target_failed_dies(const struct sim *s);
/* Made up from whether it works: degrees Celsius. */
uint32_t target_temperature_c(const struct sim *s);

#endif
