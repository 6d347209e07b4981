/* SPDX-License-Identifier: MIT */
#include "transport/calls.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/file.h"

static int open_node(const char *path, int flags)
{
    int fd = file_open(path, flags, 0);
    return fd < 0 ? -errno : fd;
}

static void close_node(int fd)
{
    if (fd >= 0)
        close(fd);
}

static int stat_node(const char *path, struct stat *out)
{
    return stat(path, out) ? -errno : 0;
}

static int fstat_node(int fd, struct stat *out)
{
    return fstat(fd, out) ? -errno : 0;
}

static int ioctl_node(int fd, unsigned long request, void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = ioctl(fd, request, argument);
    if (rc < 0)
        rc = -errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

struct calls calls = {
    .open = open_node,
    .close = close_node,
    .stat = stat_node,
    .fstat = fstat_node,
    .ioctl = ioctl_node,
};
