/* SPDX-License-Identifier: MIT */
/* The system calls by which commands reach device nodes, in one table, so that a test can stand in for the kernel. All
 * return a negated errno on failure. */
#ifndef SATED_TRANSPORT_CALLS_H
#define SATED_TRANSPORT_CALLS_H

#include <stdint.h>
#include <sys/stat.h>

struct calls {
    int (*open)(const char *path, int flags);
    void (*close)(int fd);
    int (*stat)(const char *path, struct stat *out);
    int (*fstat)(int fd, struct stat *out);
    /* All signals of the thread wait meanwhile: a command that a signal cut short would go on in the drive, and nobody
     * could say whether to send it again. */
    int (*ioctl)(int fd, unsigned long request, void *argument);
};

extern struct calls calls;

#endif
