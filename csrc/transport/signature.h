/* SPDX-License-Identifier: MIT */
/* Signatures: by which bytes file systems, volume managers, sets, encryption and partition tables are known. */
#ifndef SATED_TRANSPORT_SIGNATURE_H
#define SATED_TRANSPORT_SIGNATURE_H

#include "transport/handle.h"

/* Names what a disk holds, such as "gpt, zfs_member", each once; "" for nothing. Told by libblkid where it is there, and
 * by our own table in any case. @param fd readable; @param bytes its size.
 * Return: 0, or an error where it could not be read or libblkid failed, and nobody can be sure. */
int signature_find(char *out, size_t n, int fd, uint64_t bytes);

/* Opens a disk by its name in sysfs, to be looked into. @param bytes receives its size; @param fd of it, which is then
 * returned; -1: its node is opened to be read, and the caller closes it. Return: a descriptor or an error. */
int signature_open(uint64_t *bytes, const char *name, int fd);

/* What such a disk holds: see signature_find() and signature_open(). */
int signature_of(char *out, size_t n, const char *name, int fd);

/* Overwrites what signatures are in, 5 MiB at both ends of the disk and of each partition, and has the kernel look for
 * partitions anew. All through the held descriptor. @param d not permitted yet, but held; @param whole the other disks of its device as
 * well. Return: 0 or an error. */
int signature_wipe(struct sated_drive *d, bool whole);

#endif
