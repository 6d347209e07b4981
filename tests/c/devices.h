/* SPDX-License-Identifier: MIT */
/* Device nodes that are none: the table of system calls leads here, so that a test answers for kernel and drive. */
#ifndef SATED_TESTS_DEVICES_H
#define SATED_TESTS_DEVICES_H

#include <errno.h>
#include <fcntl.h>
#include <linux/bsg.h>
#include <linux/nvme_ioctl.h>
#include <scsi/sg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "transport/calls.h"

struct device {
    const char *name; /* the last part of its path */
    mode_t mode;
    unsigned major, minor;
    int open_error;
};

static struct device *devices;
static size_t n_devices;

#define DEVICE_FD 1000 /* + its place in the table: no descriptor of ours */

static struct device *device_named(const char *path)
{
    const char *slash = strrchr(path, '/');
    for (size_t i = 0; i < n_devices; i++)
        if (!strcmp(devices[i].name, slash ? slash + 1 : path))
            return &devices[i];
    return NULL;
}

static void device_stat(const struct device *d, struct stat *out)
{
    memset(out, 0, sizeof *out);
    out->st_mode = d->mode | 0600;
    out->st_rdev = makedev(d->major, d->minor);
}

static int devices_flags; /* of the last open */

/* What is written to sysfs, told to the test where it wants to know: the path is below the root of its tree. */
static int (*devices_told)(const char *path, const char *text);
static char devices_file[512];
static bool devices_may_hold; /* a disk may be opened for itself alone, and for writing */

static int fake_open(const char *path, int flags)
{
    devices_flags = flags;
    if (devices_told && (flags & O_ACCMODE) == O_WRONLY && strstr(path, "/sys/")) {
        snprintf(devices_file, sizeof devices_file, "%s", strstr(path, "/sys/"));
        return DEVICE_FD - 1;
    }
    if (flags & O_EXCL && (flags & O_ACCMODE) == O_RDWR) {
        if (!devices_may_hold)
            return -EBUSY;
        flags &= ~O_ACCMODE;
    }
    /* Nothing ever opens a device for writing: udev would look at it anew, and md assemble it, once it is closed. */
    if ((flags & O_ACCMODE) != O_RDONLY)
        return -EROFS;
    int again; /* what is open already, once more */
    bool open = sscanf(path, "/proc/self/fd/%d", &again) == 1 && again >= DEVICE_FD;
    struct device *d = open ? &devices[again - DEVICE_FD] : device_named(path);
    return !d ? -ENOENT : d->open_error ? -d->open_error : DEVICE_FD + (int)(d - devices);
}

static int devices_closed;

static void fake_close(int fd)
{
    devices_closed += fd >= DEVICE_FD;
}

static int fake_stat(const char *path, struct stat *out)
{
    struct device *d = device_named(path);
    if (!d)
        return stat(path, out) ? -errno : 0;
    device_stat(d, out);
    return 0;
}

static int fake_fstat(int fd, struct stat *out)
{
    if (fd < DEVICE_FD)
        return fstat(fd, out) ? -errno : 0;
    device_stat(&devices[fd - DEVICE_FD], out);
    return 0;
}

/* The answer to come, and what came in. */
static struct {
    int rc;    /* of the ioctl: 0, an NVMe status, or a negated errno */
    int rc_64; /* of the 64-bit NVMe forms, if not 0 */
    unsigned char status;
    unsigned short host, driver;
    int resid;
    unsigned char sense[64];
    unsigned sense_len;
    const void *data;
    size_t data_len;
    uint64_t result;

    int calls, fd;
    unsigned long request;
    unsigned char cdb[32];
    unsigned cdb_len, timeout, length;
    int direction;
    uintptr_t buffer;
    unsigned char first_out;
    struct nvme_passthru_cmd64 nvme;
} kernel;

static void kernel_fill(void *to, size_t room)
{
    if (to && kernel.data)
        memcpy(to, kernel.data, kernel.data_len < room ? kernel.data_len : room);
}

static int fake_sg(struct sg_io_hdr *h)
{
    memcpy(kernel.cdb, h->cmdp, h->cmd_len);
    kernel.cdb_len = h->cmd_len;
    kernel.timeout = h->timeout;
    kernel.length = h->dxfer_len;
    kernel.direction = h->dxfer_direction;
    kernel.buffer = (uintptr_t)h->dxferp;
    if (h->dxfer_direction == SG_DXFER_FROM_DEV)
        kernel_fill(h->dxferp, h->dxfer_len);
    if (h->dxfer_direction == SG_DXFER_TO_DEV)
        kernel.first_out = *(unsigned char *)h->dxferp;
    h->status = kernel.status;
    h->host_status = kernel.host;
    h->driver_status = kernel.driver;
    h->resid = kernel.resid;
    h->sb_len_wr = (unsigned char)kernel.sense_len;
    memcpy(h->sbp, kernel.sense, kernel.sense_len);
    return kernel.rc;
}

static int fake_bsg(struct sg_io_v4 *h)
{
    memcpy(kernel.cdb, (void *)(uintptr_t)h->request, h->request_len);
    kernel.cdb_len = h->request_len;
    kernel.timeout = h->timeout;
    kernel.length = h->din_xfer_len;
    kernel.buffer = (uintptr_t)h->din_xferp;
    kernel_fill((void *)(uintptr_t)h->din_xferp, h->din_xfer_len);
    h->device_status = kernel.status;
    h->transport_status = kernel.host;
    h->driver_status = kernel.driver;
    h->din_resid = kernel.resid;
    h->response_len = kernel.sense_len;
    memcpy((void *)(uintptr_t)h->response, kernel.sense, kernel.sense_len);
    return kernel.rc;
}

static int fake_nvme_64(struct nvme_passthru_cmd64 *c)
{
    kernel.nvme = *c;
    if (kernel.rc_64)
        return kernel.rc_64;
    kernel_fill((void *)(uintptr_t)c->addr, c->data_len);
    c->result = kernel.result;
    return kernel.rc;
}

static int fake_nvme_32(struct nvme_passthru_cmd *c)
{
    kernel.nvme.opcode = c->opcode;
    kernel.nvme.cdw10 = c->cdw10;
    kernel.nvme.addr = c->addr;
    kernel_fill((void *)(uintptr_t)c->addr, c->data_len);
    c->result = (uint32_t)kernel.result;
    return kernel.rc;
}

/* Other requests than commands, told to the test where it wants to know. Return: 1 for those that it leaves alone. */
static int (*devices_asked)(int fd, unsigned long request);
static int devices_asked_rc;

static int fake_ioctl(int fd, unsigned long request, void *argument)
{
    bool block = _IOC_TYPE(request) == 0x12; /* of block devices: the kernel answers those by itself */
    if (!block) {
        kernel.calls++;
        kernel.fd = fd;
        kernel.request = request;
    }
    if (devices_asked && devices_asked(fd, request) <= 0)
        return devices_asked_rc;
    if (block)
        return -ENOTTY;
    if (request == NVME_IOCTL_ADMIN64_CMD || request == NVME_IOCTL_IO64_CMD)
        return fake_nvme_64(argument);
    if (request == NVME_IOCTL_ADMIN_CMD || request == NVME_IOCTL_IO_CMD)
        return fake_nvme_32(argument);
    if (request != SG_IO)
        return -ENOTTY;
    return *(int *)argument == 'S' ? fake_sg(argument) : fake_bsg(argument);
}

static ssize_t fake_read(int fd, void *to, size_t n, uint64_t offset)
{
    if (fd < DEVICE_FD)
        return pread(fd, to, n, (off_t)offset);
    memset(to, 0, n);
    return (ssize_t)n;
}

static ssize_t fake_write(int fd, const void *bytes, size_t n, uint64_t offset)
{
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)n, (const char *)bytes);
    int rc = fd == DEVICE_FD - 1 && !offset ? devices_told(devices_file, text) : -EROFS;
    return rc ? rc : (ssize_t)n;
}

static int fake_sync(int fd)
{
    (void)fd;
    return 0;
}

static int fake_blkid(int fd, void (*found)(const char *name, void *user), void *user)
{
    (void)fd, (void)found, (void)user;
    return -ENOSYS;
}

static inline void devices_begin(struct device *list, size_t n)
{
    devices = list;
    n_devices = n;
    calls = (struct calls){fake_open, fake_close, fake_stat, fake_fstat, fake_ioctl,
                           fake_read, fake_write, fake_sync, fake_blkid};
}

/* Whether a descriptor is that of a device. */
static inline int is_device(int fd, const char *name)
{
    return fd >= DEVICE_FD && !strcmp(devices[fd - DEVICE_FD].name, name);
}

#endif
