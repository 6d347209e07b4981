/* SPDX-License-Identifier: MIT */
/* Who uses a block device or a file now: mounts, swap, holders, loop devices, locks. */
#ifndef SATED_TRANSPORT_USE_H
#define SATED_TRANSPORT_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sentences, separated by line feeds; what does not fit is cut off, but counted. */
struct use_report {
    char *text;
    size_t n;
    unsigned count;
    unsigned wipeable; /* of them: partitions and signatures that nothing uses */
    bool blind;        /* what is mounted could not be looked at */
    bool mounted;      /* a file system or swap is on it, or on what lies on it */
};

void use_add(struct use_report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A block device by its sysfs name, its partitions, and whatever holds one of them (RAID, LVM, encryption): mounts in
 * every namespace that can be seen, swap, loop devices, what the machine was booted from. */
void use_of_device(struct use_report *r, const char *name);

/* What a loop device lies on, which is written to with it: a block device, or a file that is another loop device's too. */
void use_beneath(struct use_report *r, const char *name);

/* The partitions of a disk, as a reason by themselves. */
void use_of_partitions(struct use_report *r, const char *name);

/* A regular file by its real path and inode. */
void use_of_file(struct use_report *r, const char *path, uint64_t device, uint64_t inode);

/* The type of the file system that a file is on, such as "ext4". */
void use_file_system(char *out, size_t n, int fd, uint64_t device);

/* Whether a process holds a lock of fcntl(2) on a file, as virtual machines and databases do.
 * @param pid receives which, 0 or less if it cannot be told. */
bool use_is_locked(int fd, long *pid);

/* The process that has a file under flock(2), 0 if it cannot be told. */
long use_lock_holder(uint64_t device, uint64_t inode);

#endif
