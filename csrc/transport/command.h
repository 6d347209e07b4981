/* SPDX-License-Identifier: MIT */
/* The command face of a handle: one command at a time, whichever way it goes. */
#ifndef SATED_TRANSPORT_COMMAND_H
#define SATED_TRANSPORT_COMMAND_H

#include <sated/ata.h>
#include <sated/nvme.h>
#include <sated/scsi.h>

#include "transport/handle.h"

struct command {
    enum sated_command_set set;            /* ATA: wrapped into SCSI */
    const struct sated_scsi_command *scsi; /* of SCSI and ATA, else NULL */
    const struct sated_ata_command *ata;   /* of ATA, else NULL */
    const struct sated_nvme_command *nvme; /* of NVMe, else NULL */
    uint32_t direction;                    /* enum sated_direction */
    uint32_t data_len;
    uint32_t timeout_ms; /* never 0 */
    void *data;          /* page-aligned, a multiple of 4 KiB; NULL without data */
};

struct command_face {
    /* Return: 0 if the drive or the kernel answered, which `reply` holds as it was told; else an error. */
    int (*send)(struct sated_drive *d, const struct command *c, struct sated_reply *reply);
    void (*close)(struct sated_drive *d); /* may be NULL */
};

/* Finds the way of commands. Return: 0, or SATED_UNSUPPORTED for what takes none. */
int command_face_find(struct sated_drive *d);

/* Whether a SCSI device is a disk. @param folder in sysfs, below the root. Return: 0 or SATED_UNSUPPORTED. */
int command_check_type(const struct sated_drive *d, const char *folder);

/* A question of the library's own: sent once more where a unit attention came in its place, which is told once and says
 * nothing of the question (SAM-6, unit attention conditions). As sated_scsi_raw. */
int command_ask(struct sated_drive *d, const struct sated_scsi_command *c, void *data, struct sated_reply *reply);

/* The command in words and bytes, for sentences: "INQUIRY (12 01 80 00 ff 00)". */
void command_text(char *out, size_t n, const struct command *c);

/* What every ioctl may fail with alike: the command was not sent. @param capability what root has that this process
 * lacks. Return: -error, with its sentence. */
int command_not_sent(const struct sated_drive *d, const struct command *c, int error, const char *capability);

/* What the answer says, in the order host, driver, status, sense. @param registers of an ATA command.
 * Return: 0 or an error whose detail has the drive's numbers. */
int command_status(const struct sated_drive *d, const struct command *c, const struct sated_reply *reply,
                   const struct sated_ata_registers *registers);

/* How far a command outside the table of read-only commands reaches; what is not known, all of the device. A drive may
 * be asked what its formats reach. */
enum handle_scope command_scope(struct sated_drive *d, const struct command *c);

/* Whether the table of read-only commands has it. */
bool command_reads_only(const struct command *c);

/* An ATA PASS-THROUGH CDB of any length as the ATA command that it carries. Return: whether it is one. */
bool command_unwrap_ata(const struct sated_scsi_command *c, struct sated_ata_command *out);

/* The node of an NVMe drive's controller, opened by whoever needs it first. @param fd stays the handle's.
 * Return: 0 or an error. */
int nvme_controller(struct sated_drive *d, int *fd);

/* The ways. */
extern const struct command_face sg_face, bsg_face, nvme_face, replay_face, callback_face, simulated_face;

#endif
