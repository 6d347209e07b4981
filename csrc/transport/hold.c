/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "transport/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "core/error.h"
#include "transport/block.h"
#include "transport/calls.h"
#include "transport/node.h"
#include "transport/siblings.h"

#ifndef BLKGETDISKSEQ /* Linux 5.15 */
#define BLKGETDISKSEQ _IOR(0x12, 128, uint64_t)
#endif

/* One of the other disks of a device. */
struct held {
    int fd;
    char node[NODE_NAME];
    uint64_t rdev;
    struct stamp stamp;
};

struct hold {
    int n;
    struct held of[SIBLINGS_MAX];
};

static uint64_t sequence_of(int fd)
{
    uint64_t sequence = 0;
    return fd >= 0 && calls.ioctl(fd, BLKGETDISKSEQ, &sequence) == 0 ? sequence : 0;
}

/* Each member by name and sequence number, in the order of names: a sum of FNV-1a. */
static int add_member(const char *name, void *user)
{
    struct stamp *out = user;
    char whole[NODE_NAME], text[NODE_NAME + 24];
    uint64_t sequence = 0;
    if (!node_whole(whole, name) && !node_number(&sequence, "/sys/class/block/%s/diskseq", whole))
        sequence = 0;
    snprintf(text, sizeof text, "%s %" PRIu64, name, sequence);
    out->members = out->members ? out->members : 0xcbf29ce484222325;
    for (const char *p = text; *p; p++)
        out->members = (out->members ^ (unsigned char)*p) * 0x100000001b3;
    return 0;
}

void stamp_take(struct stamp *out, const char *node, int fd)
{
    char whole[NODE_NAME];
    memset(out, 0, sizeof *out);
    if (node_whole(whole, node))
        return;
    block_serial(out->serial, sizeof out->serial, whole);
    out->sequence = sequence_of(fd);
    if (!out->sequence && !node_number(&out->sequence, "/sys/class/block/%s/diskseq", whole))
        out->sequence = 0;
    char folder[NODE_NAME + 24];
    snprintf(folder, sizeof folder, "/sys/class/block/%s/slaves", whole);
    node_each(folder, add_member, out);
}

static int replaced(const char *path, const char *what, const char *now, const char *was)
{
    return error_set(
        SATED_UNSAFE, SATED_LAYER_DRIVE,
        "%.300s: is no longer what was opened (removed or replaced since): its %s is %.64s, not %.64s; look "
        "at it, then open it anew",
        path, what, now[0] ? now : "unknown", was[0] ? was : "unknown");
}

static int other_sequence(const char *path, uint64_t now, uint64_t was)
{
    char texts[2][24];
    snprintf(texts[0], sizeof texts[0], "%" PRIu64, now);
    snprintf(texts[1], sizeof texts[1], "%" PRIu64, was);
    return replaced(path, "sequence number (diskseq)", texts[0], texts[1]);
}

static int other_numbers(const char *path, uint64_t now, uint64_t was)
{
    char texts[2][32];
    snprintf(texts[0], sizeof texts[0], "%u:%u", major(now), minor(now));
    snprintf(texts[1], sizeof texts[1], "%u:%u", major(was), minor(was));
    return replaced(path, "device number", texts[0], texts[1]);
}

int stamp_check(const struct stamp *was, const char *path, const char *node, uint64_t rdev, int fd)
{
    struct sated_detail before = *error_last();
    struct stamp now;
    struct stat st;
    char name[NODE_NAME];
    if (node_of(name, rdev) || strcmp(name, node)) {
        error_copy(&before);
        return replaced(path, "name in sysfs", name, node);
    }
    if (fd >= 0 && (calls.fstat(fd, &st) || !S_ISBLK(st.st_mode) || st.st_rdev != rdev))
        return other_numbers(path, st.st_rdev, rdev);
    stamp_take(&now, node, -1);        /* of what has the name now, */
    uint64_t opened = sequence_of(fd); /* and of what is open */
    if (was->sequence && now.sequence && now.sequence != was->sequence)
        return other_sequence(path, now.sequence, was->sequence);
    if (was->sequence && opened && opened != was->sequence)
        return other_sequence(path, opened, was->sequence);
    if (now.members != was->members)
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                         "%.300s: its members are no longer those of when it was opened; look at the set, then open it "
                         "anew",
                         path);
    /* A drive that is being reset may have no serial number for a while: then its sequence number has to do. */
    bool sure = was->sequence && now.sequence && !now.serial[0];
    if (strcmp(now.serial, was->serial) && !sure)
        return replaced(path, "serial number", now.serial, was->serial);
    return 0;
}

static int cannot_hold(const char *path, int error)
{
    switch (error) {
    case EBUSY:
        return error_set(
            SATED_UNSAFE, SATED_LAYER_DRIVE,
            "%s: may not be written to: it is in use, says the kernel, which cannot open it exclusively (it "
            "or a partition is mounted, part of a set or a pool, or held by another program); find that "
            "with lsblk, zpool status and fuser -v %s",
            path, path);
    case EROFS:
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                         "%s: may not be written to: it is write-protected; take that away first (a switch, or "
                         "blockdev --setrw)",
                         path);
    case EACCES:
    case EPERM:
        return error_set(-error, SATED_LAYER_DRIVE,
                         "%s: cannot be opened for writing: %s; run as root, or as a member of the group that owns it",
                         path, error_text(error));
    case ENOENT:
        return error_set(-error, SATED_LAYER_DRIVE,
                         "%s: cannot be opened for writing: %s; it is gone, or /proc is not mounted", path,
                         error_text(error));
    default:
        return error_set(-error, SATED_LAYER_DRIVE, "%s: cannot be opened for writing: %s; see the kernel's log", path,
                         error_text(error));
    }
}

/* By what is open already and never by the path: another disk could have taken that, and to open one for writing is more
 * than nothing. What was opened is compared once more, as numbers are given away again too. */
static int open_held(int *out, int from, const char *path, const char *node, uint64_t rdev, const struct stamp *stamp)
{
    char name[40];
    int rc = stamp_check(stamp, path, node, rdev, from);
    if (rc)
        return rc;
    snprintf(name, sizeof name, "/proc/self/fd/%d", from);
    int fd = calls.open(name, O_RDWR | O_EXCL);
    if (fd < 0)
        return cannot_hold(path, -fd);
    rc = stamp_check(stamp, path, node, rdev, fd);
    if (rc) {
        calls.close(fd);
        return rc;
    }
    *out = fd;
    return 0;
}

/* What is opened first reads only, until it is known what it is. */
static int hold_sibling(struct held *h, const char *node)
{
    char path[PATH_MAX], number[32];
    unsigned major_number, minor_number;
    struct stat st;
    node_device_path(path, sizeof path, node);
    if (!node_text(number, sizeof number, "/sys/class/block/%s/dev", node) ||
        sscanf(number, "%u:%u", &major_number, &minor_number) != 2)
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE, "%s: cannot be held: sysfs does not tell its numbers", path);
    snprintf(h->node, sizeof h->node, "%s", node);
    h->rdev = makedev(major_number, minor_number);
    char real[PATH_MAX];
    if (!node_path(real, sizeof real, "%s", path))
        return error_set(-ENAMETOOLONG, SATED_LAYER_DRIVE, "%s: cannot be held: its path is too long", path);
    int fd = calls.open(real, O_RDONLY | O_NONBLOCK);
    if (fd < 0)
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                         "%s: cannot be held: %s; it belongs to the same device, so all of it has to be", path,
                         error_text(-fd));
    int rc = 0;
    if (calls.fstat(fd, &st) || !S_ISBLK(st.st_mode) || st.st_rdev != h->rdev)
        rc =
            error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                      "%s: leads to something else than the disk of that name in sysfs; see what made this node", path);
    stamp_take(&h->stamp, node, fd);
    if (!rc)
        rc = open_held(&h->fd, fd, path, node, h->rdev, &h->stamp);
    calls.close(fd);
    return rc;
}

void hold_drop_others(struct sated_drive *d)
{
    for (int i = 0; d->hold && i < d->hold->n; i++)
        calls.close(d->hold->of[i].fd);
    free(d->hold);
    d->hold = NULL;
}

int hold_each_other(struct sated_drive *d, int (*visit)(const char *node, int fd, void *user), void *user)
{
    int rc = 0;
    for (int i = 0; !rc && d->hold && i < d->hold->n; i++)
        rc = visit(d->hold->of[i].node, d->hold->of[i].fd, user);
    return rc;
}

static int hold_siblings(struct sated_drive *d)
{
    char names[SIBLINGS_MAX][NODE_NAME];
    int n = siblings_find(names, SIBLINGS_MAX - 1, d), rc = 0;
    if (n < 0)
        return n;
    if (d->kind == HANDLE_COMMANDS && d->node[0]) /* its own disk could not be opened to be read, but may be held */
        snprintf(names[n++], NODE_NAME, "%s", d->node);
    d->hold = calloc(1, sizeof *d->hold);
    if (!d->hold)
        return error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for holding its device", d->path);
    for (int i = 0; !rc && i < n; i++) {
        rc = hold_sibling(&d->hold->of[i], names[i]);
        d->hold->n += !rc;
    }
    if (rc)
        hold_drop_others(d);
    return rc;
}

int hold_take(struct sated_drive *d, bool whole)
{
    bool took = false;
    int rc = 0;
    if (d->kind == HANDLE_BLOCK && d->write_fd < 0) {
        rc = open_held(&d->write_fd, d->fd, d->path, d->node, d->device, &d->stamp);
        took = !rc;
    }
    if (!rc && whole && !d->hold)
        rc = hold_siblings(d);
    if (rc && took) {
        calls.close(d->write_fd);
        d->write_fd = -1;
    }
    return rc;
}

void hold_drop(struct sated_drive *d)
{
    hold_drop_others(d);
    calls.close(d->write_fd);
    d->write_fd = -1;
    d->permitted = d->permitted_whole = false;
}

struct hold_terms hold_terms(const struct sated_drive *d)
{
    return (struct hold_terms){d->write_fd >= 0, d->hold != NULL, d->permitted, d->permitted_whole};
}

int hold_renew(struct sated_drive *d, struct hold_terms terms)
{
    struct stamp now;
    stamp_take(&now, d->node, d->fd);
    int rc = 0;
    if (!now.serial[0] || strcmp(now.serial, d->stamp.serial))
        rc = replaced(d->path, "serial number", now.serial, d->stamp.serial);
    else if (!strcmp(d->identity.transport, "usb") && (terms.held || terms.whole || terms.permitted))
        rc = error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                       "%.300s: was unplugged or reset, and what came back may be another drive: USB bridges give the "
                       "same serial number, %s, to many; look at it, then open it anew",
                       d->path, now.serial);
    hold_drop(d);
    if (rc)
        return rc;
    d->stamp = now;
    rc = terms.held || terms.whole ? hold_take(d, terms.whole) : 0;
    d->permitted = !rc && terms.permitted;
    d->permitted_whole = !rc && terms.permitted_whole;
    return rc;
}

int hold_check(const struct sated_drive *d)
{
    char names[SIBLINGS_MAX][NODE_NAME], path[PATH_MAX];
    int rc = d->kind == HANDLE_BLOCK && d->write_fd >= 0 && !d->detached
                 ? stamp_check(&d->stamp, d->path, d->node, d->device, d->write_fd)
                 : 0;
    if (rc || !d->hold)
        return rc;
    for (int i = 0; !rc && i < d->hold->n; i++) {
        const struct held *h = &d->hold->of[i];
        node_device_path(path, sizeof path, h->node);
        rc = stamp_check(&h->stamp, path, h->node, h->rdev, h->fd);
    }
    if (rc)
        return rc;
    int n = siblings_find(names, SIBLINGS_MAX, d);
    for (int i = 0; i < n; i++) {
        bool held = false;
        for (int k = 0; k < d->hold->n; k++)
            held |= !strcmp(d->hold->of[k].node, names[i]);
        if (!held)
            return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                             "%s: /dev/%s has appeared on the same device since it was permitted; look at that, then "
                             "open it anew",
                             d->path, names[i]);
    }
    return n < 0 ? n : 0;
}
