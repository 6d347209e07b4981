/* SPDX-License-Identifier: MIT */
/* What the kernel keeps of a drive is what the drive was when the kernel looked last. A SCSI disk's size is read anew by
 * its `rescan`; that of an ATA disk comes from what libata kept, so that the disk has to go and to be found again;
 * namespaces come and go by NVME_IOCTL_RESCAN; partitions by BLKRRPART. Whatever name it has then: the serial number
 * tells that it is the same drive. */
#include "transport/refresh.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/nvme_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "core/error.h"
#include "transport/block.h"
#include "transport/calls.h"
#include "transport/command.h"
#include "transport/hold.h"
#include "transport/learn.h"
#include "transport/node.h"
#include "transport/simulated.h"

#ifndef NVME_IOCTL_RESCAN
#define NVME_IOCTL_RESCAN _IO('N', 0x46)
#endif

#define BACK_NS 30000000000LL /* how long a disk that was taken out may need to be found again */
#define LOOK_NS 100000000LL

/* ---- Asking the kernel to look ---- */

/* Writes to a file of sysfs, below the root. Return: 0 or a negated errno. */
static int tell(const char *text, const char *format, const char *name)
{
    char path[PATH_MAX], folder[PATH_MAX];
    snprintf(folder, sizeof folder, format, name);
    if (!node_path(path, sizeof path, "%s", folder))
        return -ENAMETOOLONG;
    int fd = calls.open(path, O_WRONLY);
    if (fd < 0)
        return fd;
    ssize_t n = calls.write(fd, text, strlen(text), 0);
    calls.close(fd);
    return n < 0 ? (int)n : 0;
}

static int not_told(const struct sated_drive *d, int rc)
{
    return error_set(rc, SATED_LAYER_DRIVE, "%s: the kernel cannot be told to look at it again: %s%s", d->path,
                     error_text(-rc),
                     rc == -EACCES || rc == -EPERM || rc == -EROFS
                         ? "; run as root, where /sys can be written to, or switch the drive's power off and on"
                         : "; switch the drive's power off and on");
}

/* The host of a SCSI device, and whether it is one of libata's, by the folder of the disk. */
static bool host_of(char *host, size_t n, const char *node, bool *libata)
{
    char folder[PATH_MAX];
    *libata = false;
    if (!node_folder(folder, sizeof folder, node))
        return false;
    for (const char *p = strchr(folder, '/'); p; p = strchr(p + 1, '/')) {
        *libata |= !strncmp(p, "/ata", 4) && isdigit((unsigned char)p[4]);
        if (!strncmp(p, "/host", 5) && isdigit((unsigned char)p[5])) {
            snprintf(host, n, "%.*s", (int)strcspn(p + 1, "/"), p + 1);
            return true;
        }
    }
    return false;
}

static uint64_t kernel_bytes(const char *node)
{
    uint64_t sectors;
    return node_number(&sectors, "/sys/class/block/%s/size", node) ? sectors * 512 : 0;
}

/* ---- Following it ---- */

struct search {
    const struct sated_drive *d;
    uint64_t nsid;
    char found[NODE_NAME];
    int n;
};

static int visit(const char *name, void *user)
{
    struct search *s = user;
    char serial[64], model[64];
    uint64_t nsid = 0;
    if (!block_serial(serial, sizeof serial, name) || strcmp(serial, s->d->identity.serial))
        return 0;
    node_number(&nsid, "/sys/class/block/%s/nsid", name);
    node_text(model, sizeof model, "/sys/class/block/%s/device/model", name);
    size_t known = strlen(model); /* sysfs cuts a model off after 16 characters */
    if ((s->nsid && nsid != s->nsid) || strncmp(model, s->d->identity.model, known))
        return 0;
    snprintf(s->found, sizeof s->found, "%s", name);
    s->n++;
    return 0;
}

/* Return: 0, or -ENODEV: it is not there, or cannot be told from another. */
static int find(const struct sated_drive *d, char name[NODE_NAME])
{
    struct search s = {.d = d, .nsid = d->identity.protocol == SATED_PROTOCOL_NVME ? d->nsid : 0};
    if (!d->identity.serial[0])
        return -ENODEV;
    node_each_disk(visit, &s);
    snprintf(name, NODE_NAME, "%s", s.found);
    return s.n == 1 ? 0 : -ENODEV;
}

static void let_go(struct sated_drive *d)
{
    calls.close(d->fd);
    d->fd = -1;
    hold_drop(d);
}

/* Opens what has the drive's serial number now. What was held for this process alone is held again, or the permit is
 * lost: another one was faster. */
static int adopt(struct sated_drive *d, const char *name, struct hold_terms terms)
{
    char path[PATH_MAX];
    struct stat st;
    node_device_path(path, sizeof path, name);
    int fd = calls.open(path, O_RDONLY);
    if (fd < 0 || calls.fstat(fd, &st) || !S_ISBLK(st.st_mode)) {
        calls.close(fd);
        return error_set(fd < 0 ? fd : -ENODEV, SATED_LAYER_DRIVE,
                         "%s: has come back as %s, which cannot be opened: %s; look at it, then open it anew", d->path,
                         path, fd < 0 ? error_text(-fd) : "it is no block device");
    }
    let_go(d);
    calls.close(d->command_fd);
    d->command_fd = -1;
    d->command_node[0] = '\0';
    if (d->face == &sg_face || d->face == &bsg_face || d->face == &nvme_face)
        d->face = NULL; /* the way of commands is found anew */
    d->fd = fd;
    d->device = st.st_rdev;
    d->detached = false;
    snprintf(d->node, sizeof d->node, "%s", name);
    snprintf(d->path, sizeof d->path, "%.511s", path);
    return hold_renew(d, terms);
}

static int gone(const struct sated_drive *d)
{
    return error_set(-ENODEV, SATED_LAYER_DRIVE,
                     "%s: is not there (serial number %s); see the kernel's log, switch its power off and on, and look "
                     "for it by `sated list`",
                     d->path, d->identity.serial);
}

/* Whether its name still leads to it, and to the disk of before: one that was taken out and found again is another. */
static bool stands(const struct sated_drive *d)
{
    char serial[64], folder[PATH_MAX];
    struct stat st;
    if (!node_folder(folder, sizeof folder, d->node) || calls.stat(d->path, &st) || st.st_rdev != d->device ||
        stamp_check(&d->stamp, d->path, d->node, d->device, d->fd))
        return false;
    return !d->identity.serial[0] || !block_serial(serial, sizeof serial, d->node) ||
           !strcmp(serial, d->identity.serial);
}

/* @param wait_ns for as long as that the kernel may be at finding it; @param terms on which it is held. */
static int follow(struct sated_drive *d, int64_t wait_ns, struct hold_terms terms)
{
    char name[NODE_NAME];
    int64_t end = clock_now_ns() + wait_ns;
    if (stands(d)) {
        d->detached = false;
        return 0;
    }
    int rc = find(d, name);
    while (rc && clock_now_ns() < end) {
        clock_sleep_until_ns(clock_now_ns() + LOOK_NS);
        rc = find(d, name);
    }
    return rc ? gone(d) : adopt(d, name, terms);
}

/* ---- Each protocol's way ---- */

/* libata's size is that of when the disk was found: it is taken out, and found again. */
static int find_again(struct sated_drive *d, const char *host)
{
    struct hold_terms terms = hold_terms(d);
    int rc = tell("1", "/sys/class/block/%s/device/delete", d->node);
    if (rc)
        return not_told(d, rc);
    let_go(d); /* so that its name is free again */
    rc = tell("- - -", "/sys/class/scsi_host/%s/scan", host);
    d->device = 0; /* nothing stands for it until it is back */
    return rc ? not_told(d, rc) : follow(d, BACK_NS, terms);
}

/* @param told bytes that the drive itself says it has, 0 unknown. */
static int rescan_scsi(struct sated_drive *d, uint64_t told)
{
    char host[NODE_NAME];
    bool libata;
    int rc = tell("1", "/sys/class/block/%s/device/rescan", d->node);
    if (rc == -ENOENT)
        return 0; /* no SCSI device: nothing is kept of it */
    if (rc)
        return not_told(d, rc);
    bool stale = told && told != kernel_bytes(d->node);
    return stale && host_of(host, sizeof host, d->node, &libata) && libata ? find_again(d, host) : 0;
}

/* The kernel then looks at its leisure. */
static int rescan_nvme(struct sated_drive *d)
{
    int fd, rc = nvme_controller(d, &fd);
    if (!rc)
        rc = calls.ioctl(fd, NVME_IOCTL_RESCAN, NULL);
    return rc == -ENOTTY ? 0 : rc; /* before Linux 4.5: by the drive's own notice */
}

/* Through what is held: no other descriptor may be open for writing meanwhile. */
static int reread_partitions(struct sated_drive *d)
{
    int rc = d->write_fd < 0 ? 0 : calls.ioctl(d->write_fd, BLKRRPART, NULL);
    if (rc != -EBUSY)
        return 0; /* it has none, or can have none */
    return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                     "%s: its partitions cannot be read anew: one of them is in use; unmount it (lsblk shows which), "
                     "then try again",
                     d->path);
}

/* An LBA limit stays where there is still more than that. */
static void keep_limit(struct sated_drive *d, uint64_t limit)
{
    bool holds = d->whole_bytes && limit < d->identity.capacity_bytes;
    d->whole_bytes = holds ? d->identity.capacity_bytes : 0;
    if (holds)
        d->identity.capacity_bytes = limit;
}

/* What the drive itself says of its size, past what the kernel keeps. */
static uint64_t told_bytes(struct sated_drive *d)
{
    struct sated_identity kept = d->identity;
    d->identity.capacity_bytes = d->identity.logical_block_bytes = 0;
    learn_by_asking(d);
    uint64_t bytes = d->identity.capacity_bytes;
    d->identity = kept;
    return bytes;
}

static int refresh_block(struct sated_drive *d)
{
    struct sated_identity before = d->identity;
    bool nvme = before.protocol == SATED_PROTOCOL_NVME;
    bool scsi = before.protocol == SATED_PROTOCOL_SCSI || before.protocol == SATED_PROTOCOL_ATA;
    struct hold_terms terms = hold_terms(d);
    /* A read-only handle changes nothing about what the kernel has. */
    bool rescanned = nvme && d->permitted && !rescan_nvme(d);
    int rc = follow(d, rescanned ? BACK_NS : 0, terms);
    if (!rc && scsi && d->permitted)
        rc = rescan_scsi(d, told_bytes(d));
    /* What commands changed is not in the kernel's cache of the disk, which shows what was there before. */
    if (!rc && d->write_fd >= 0)
        calls.ioctl(d->write_fd, BLKFLSBUF, NULL);
    if (!rc && d->permitted)
        rc = reread_partitions(d);
    if (rc)
        return rc;
    block_identify(d->node, &d->identity);
    if (before.serial[0] && d->identity.serial[0] && strcmp(before.serial, d->identity.serial))
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                         "%s: now belongs to another drive (serial number %s, not %s); look at it, then open it anew",
                         d->path, d->identity.serial, before.serial);
    keep_limit(d, before.capacity_bytes);
    memcpy(d->identity.token, before.token, sizeof d->identity.token);
    d->identity.flags |= before.flags & SATED_IDENTITY_COMMANDS_ONLY;
    d->asked = false;
    learn_beyond_sysfs(d);
    return 0;
}

/* Capacity and blocks are what a change changes; the rest stays as it was told. */
static int refresh_asking(struct sated_drive *d)
{
    d->identity.capacity_bytes = d->identity.native_capacity_bytes = 0;
    d->identity.logical_block_bytes = d->identity.physical_block_bytes = 0;
    learn_by_asking(d);
    return 0;
}

int handle_refresh(struct sated_drive *d)
{
    struct sated_detail before = *error_last();
    int rc = 0;
    switch (d->kind) {
    case HANDLE_SIMULATED: simulated_identify(d); break;
    case HANDLE_FILE: break;
    case HANDLE_BLOCK: rc = refresh_block(d); break;
    case HANDLE_COMMANDS: rc = d->node[0] ? refresh_block(d) : refresh_asking(d); break;
    case HANDLE_REPLAY:
    case HANDLE_CALLBACK: rc = refresh_asking(d); break;
    }
    return rc ? rc : (error_copy(&before), 0);
}

int sated_drive_refresh(struct sated_drive *d)
{
    int rc = handle_need_idle(d, "it cannot be asked anew");
    return rc ? rc : handle_refresh(d);
}
