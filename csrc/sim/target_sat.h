/* SPDX-License-Identifier: MIT */
/* The SCSI side of a simulated ATA drive: what Linux' libata makes of it (SAT-4). */
#ifndef SATED_SIM_TARGET_SAT_H
#define SATED_SIM_TARGET_SAT_H

#include "sim/target_ata_inside.h"

struct sat {
    struct sim *s;
    const struct sated_scsi_command *c;
    uint8_t *data;
    struct sated_reply *reply;
    uint32_t moved; /* bytes of data, set where they moved */
};

/* Ends with CHECK CONDITION. */
void sat_sense(struct sat *x, unsigned key, unsigned asc, unsigned ascq);
static inline void sat_invalid_field(struct sat *x)
{
    sat_sense(x, 5, 0x24, 0x00);
}
static inline void sat_invalid_command(struct sat *x)
{
    sat_sense(x, 5, 0x20, 0x00);
}

/* Ends so where a lock of the bridge itself, such as those of portable disks, stands before the drive. Return: whether
 * one does. */
bool sat_bridge_is_locked(struct sat *x);

/* Answers with n bytes, as many of them as the host has room for. */
void sat_answer(struct sat *x, const void *data, uint32_t n);

/* Sends a command to the drive; what it says ends in x->reply. Return: whether it succeeded. */
bool sat_send(struct sat *x, struct ata_task *t);
/* The sense key, ASC and ASCQ of an error of the drive, as libata's table has it. */
void sat_translate(const struct ata_registers *r, uint8_t out[3]);

/* target_sat_pass.c */
void sat_pass_through(struct sat *x);
void sat_pass_failed(struct sat *x, uint8_t error);

/* target_sat_pages.c */
void sat_inquiry(struct sat *x);
void sat_mode_sense(struct sat *x);
void sat_mode_select(struct sat *x);
void sat_read_capacity_10(struct sat *x);
void sat_read_capacity_16(struct sat *x);

#endif
