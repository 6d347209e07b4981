/* SPDX-License-Identifier: MIT */
/* Holding block devices: each whole disk that a permit covers stays open O_RDWR | O_EXCL for as long as the permit does,
 * also where commands go through another node of it. The kernel then lets nobody mount it or a partition of it, put it
 * into a set or hold it likewise. */
#ifndef SATED_TRANSPORT_HOLD_H
#define SATED_TRANSPORT_HOLD_H

#include "transport/handle.h"

/* What tells a disk from one that took its name and numbers since, as of now. @param fd of it, or -1. */
void stamp_take(struct stamp *out, const char *node, int fd);

/* Whether a block device is still the one of that stamp. @param path for sentences; @param fd of it, or -1.
 * Return: 0, or SATED_UNSAFE. */
int stamp_check(const struct stamp *was, const char *path, const char *node, uint64_t rdev, int fd);

/* Takes hold of the disk that a handle stands for, and with `whole` of all others of its device. What is held already
 * stays. Return: 0; SATED_UNSAFE where the kernel says that it is in use, or another drive stands there; or the error of
 * opening it. Then nothing more is held than before. */
int hold_take(struct sated_drive *d, bool whole);

/* How far a drive is held and permitted: to be noted before it goes. */
struct hold_terms {
    bool held, whole, permitted, permitted_whole;
};
struct hold_terms hold_terms(const struct sated_drive *d);

/* The drive was found again: d->fd, d->node and d->device are those of now. What tells it apart is taken anew, and it is
 * held again as far as the terms say. Return: 0, or SATED_UNSAFE where the serial number is not the one of before, is
 * missing, or was told by a USB bridge; on failure nothing is held or permitted any more. */
int hold_renew(struct sated_drive *d, struct hold_terms terms);

/* Lets go; of the other disks of the device alone. */
void hold_drop(struct sated_drive *d);
void hold_drop_others(struct sated_drive *d);

/* Visits those others until `visit` returns other than 0. Return: what it returned last. */
int hold_each_other(struct sated_drive *d, int (*visit)(const char *node, int fd, void *user), void *user);

/* Whether all that is held is still what it was, by its numbers, its sequence and its serial number, and so the other
 * disks of the device, with none added. Return: 0 or SATED_UNSAFE. */
int hold_check(const struct sated_drive *d);

#endif
