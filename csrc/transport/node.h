/* SPDX-License-Identifier: MIT */
/* Nodes: what sysfs, procfs and /dev say about this machine's block devices, by the names that sysfs gives them. All of
 * it is read below one root, so that a recorded tree can stand in. */
#ifndef SATED_TRANSPORT_NODE_H
#define SATED_TRANSPORT_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NODE_NAME 64

/* What stands before /sys, /proc and /dev; "" or NULL for this machine. For tests; set before any thread starts. */
void node_set_root(const char *root);

/* Another root for this thread, until it is set back: a recorded machine that a replayed drive is part of.
 * @param root kept, not copied; NULL for the one of node_set_root. Return: what it was. */
const char *node_use_root(const char *root);

/* A path below the root. Return: false if it does not fit. */
bool node_path(char *out, size_t n, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Opens once more what a descriptor stands for, whatever its path leads to by now, by /proc/self/fd. Return: the
 * descriptor, or -1 and errno. */
int node_reopen(int fd, int flags);

/* Up to n bytes of a file below the root, given by its path from there. Return: how many, or a negated errno. */
long node_bytes(void *out, size_t n, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The first line of such a file, without the blanks around it; "" if it cannot be read.
 * Return: whether there is any. */
bool node_text(char *out, size_t n, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A whole number in such a file. */
bool node_number(uint64_t *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The whole of a text file below the root, such as /proc/self/mountinfo. NULL if it cannot be read. Owner: the caller
 * frees. */
char *node_slurp(const char *path);

/* Visits the entries of a folder below the root in the order of their names (sda before sdb, nvme2n1 before nvme10n1)
 * until `visit` returns other than 0. Return: what it returned last, or a negated errno for the folder. */
int node_each(const char *folder, int (*visit)(const char *name, void *user), void *user);

/* Visits every whole disk: what is in /sys/block without memory disks (ram, zram), loop devices that nothing backs,
 * device-mapper targets, optical and floppy drives, hidden paths and slots without a medium. */
int node_each_disk(int (*visit)(const char *name, void *user), void *user);

/* The sysfs name of a block device. Return: 0 or SATED_UNSUPPORTED where sysfs does not know it. */
int node_of(char name[NODE_NAME], uint64_t rdev);

/* The whole disk that a block device is part of, by the tree of sysfs and never by the digits of its name: of a
 * partition its parent, else itself. Return: 0, or -ENOENT for a name that sysfs does not know. */
int node_whole(char whole[NODE_NAME], const char *name);

/* What a block device lies on: of a device-mapper target its slaves, else its whole disk.
 * Return: how many there are (cap of them are filled in), or -ENOENT. */
int node_beneath(char (*out)[NODE_NAME], size_t cap, const char *name);

/* The real folder of a device in sysfs. Return: whether it is there. */
bool node_folder(char *out, size_t n, const char *name);

/* The /dev path of a device: nothing is looked up. */
void node_device_path(char *out, size_t n, const char *name);

/* The most telling link to a device in a folder of udev's, such as /dev/disk/by-id. Return: whether there is one. */
bool node_link(char *out, size_t n, const char *folder, const char *name);

#endif
