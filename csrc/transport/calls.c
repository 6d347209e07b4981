/* SPDX-License-Identifier: MIT */
#include "transport/calls.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/file.h"
#include "core/retry.h"

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

static ssize_t read_node(int fd, void *data, size_t n, uint64_t offset)
{
    ssize_t got = RETRY(pread(fd, data, n, (off_t)offset));
    return got < 0 ? -errno : got;
}

static ssize_t write_node(int fd, const void *data, size_t n, uint64_t offset)
{
    ssize_t done = RETRY(pwrite(fd, data, n, (off_t)offset));
    return done < 0 ? -errno : done;
}

static int sync_node(int fd)
{
    return RETRY(fsync(fd)) ? -errno : 0;
}

struct calls calls = {
    .open = open_node,
    .close = close_node,
    .stat = stat_node,
    .fstat = fstat_node,
    .ioctl = ioctl_node,
    .read = read_node,
    .write = write_node,
    .sync = sync_node,
    .blkid = blkid_find,
};
