/* SPDX-License-Identifier: MIT */
/* The system calls by which device nodes are reached, in one table, so that a test can stand in for the kernel. All
 * return a negated errno on failure. */
#ifndef SATED_TRANSPORT_CALLS_H
#define SATED_TRANSPORT_CALLS_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct calls {
    int (*open)(const char *path, int flags);
    void (*close)(int fd);
    int (*stat)(const char *path, struct stat *out);
    int (*fstat)(int fd, struct stat *out);
    /* All signals of the thread wait meanwhile: a command that a signal cut short would go on in the drive, and nobody
     * could say whether to send it again. */
    int (*ioctl)(int fd, unsigned long request, void *argument);
    ssize_t (*read)(int fd, void *data, size_t n, uint64_t offset);
    ssize_t (*write)(int fd, const void *data, size_t n, uint64_t offset);
    int (*sync)(int fd);
    /* Calls back with the name of each signature that libblkid finds, such as "ext4".
     * Return: 0, or -ENOSYS without that library, or another error. */
    int (*blkid)(int fd, void (*found)(const char *name, void *user), void *user);
};

extern struct calls calls;

/* libblkid.so.1, opened when it is first asked for: the library needs nothing but libc. */
int blkid_find(int fd, void (*found)(const char *name, void *user), void *user);

#endif
