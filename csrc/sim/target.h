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

/* Whether the last command changed what outlasts a cut of power, since the last time this was asked. */
bool target_take_changed(struct sim *s);

/* Why the medium as a whole cannot be changed now (locked, erasing, without power, ...) and what helps, as part of a
 * sentence; NULL where it can. */
const char *target_blocked(const struct sim *s);

/* Bytes that the device lets address. */
uint64_t target_capacity(const struct sim *s);

/* Through which controller of an NVMe subsystem it is seen from outside, until commands go through the other. */
void target_set_controller(struct sim *s, uint32_t controller);

/* Ends what has come to its end by now. */
void target_update(struct sim *s);

/* Faults. Return: 0, or SATED_PARSE. */
int target_add_fault(struct sim *s, const struct sated_sim_fault *f);
void target_clear_faults(struct sim *s);

#endif
