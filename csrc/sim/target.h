/* SPDX-License-Identifier: MIT */
/* The simulated drive as a device: a command goes in, status, sense data, registers and data come out, by the state
 * machines of the standards. Time is the drive's own. */
#ifndef SATED_SIM_TARGET_H
#define SATED_SIM_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sated/nvme.h>
#include <sated/scsi.h>
#include <sated/sim.h>

struct sim;

/* Whether its model is one of a drive that takes commands at all, and which. */
bool target_exists(const struct sim *s);

/* Carries one command out. `data` is page-aligned, and has c->data_len bytes rounded up to 4 KiB. `reply` is zeroed.
 * Return: 0 if it was answered, whatever it says; else an error, such as -ENODEV for one without power. */
int target_scsi(struct sim *s, const struct sated_scsi_command *c, void *data, struct sated_reply *reply);

/* @param controller which of the subsystem's, from 0 on. */
int target_nvme(struct sim *s, uint32_t controller, const struct sated_nvme_command *c, void *data,
                struct sated_reply *reply);

/* Time has passed without a command: what went on meanwhile may have come to its end. */
void target_idle(struct sim *s);

/* Whether the last command changed what outlasts a cut of power, since the last time this was asked. */
bool target_take_changed(struct sim *s);

/* Faults. Return: 0, or SATED_PARSE. */
int target_add_fault(struct sim *s, const struct sated_sim_fault *f);
void target_clear_faults(struct sim *s);

#endif
