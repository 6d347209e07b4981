/* SPDX-License-Identifier: MIT */
#include "transport/device.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "core/error.h"
#include "transport/block.h"
#include "transport/calls.h"
#include "transport/command.h"
#include "transport/node.h"
#include "transport/nvme_tree.h"

struct found {
    char class[32]; /* scsi_generic, bsg, nvme, nvme-generic */
    char name[NODE_NAME];
    char folder[64]; /* in sysfs, below the root */
};

static bool last_part(char *out, size_t n, const char *path)
{
    char real[PATH_MAX];
    const char *slash = realpath(path, real) ? strrchr(real, '/') : NULL;
    return slash && (size_t)snprintf(out, n, "%s", slash + 1) < n;
}

static int look_up(struct found *f, const char *path, uint64_t rdev)
{
    char full[PATH_MAX];
    snprintf(f->folder, sizeof f->folder, "/sys/dev/char/%u:%u", major(rdev), minor(rdev));
    if (node_path(full, sizeof full, "%s/subsystem", f->folder) && last_part(f->class, sizeof f->class, full) &&
        node_path(full, sizeof full, "%s", f->folder) && last_part(f->name, sizeof f->name, full) &&
        (!strcmp(f->class, "scsi_generic") || !strcmp(f->class, "bsg") || !strcmp(f->class, "nvme") ||
         !strcmp(f->class, "nvme-generic")))
        return 0;
    return error_set(
        SATED_PARSE, SATED_LAYER_DRIVE,
        "%s: is a character device (%u:%u) that takes no drive's commands; give a block device, sg, bsg or "
        "nvme node, which `sated list` shows",
        path, major(rdev), minor(rdev));
}

static int open_node(const struct sated_drive *d, const char *path, uint64_t rdev, int *fd)
{
    struct stat st;
    /* Without O_NONBLOCK sg waits for as long as another has it open exclusively. */
    *fd = calls.open(path, O_RDONLY | O_NONBLOCK);
    if (*fd < 0)
        return error_set(*fd, SATED_LAYER_DRIVE, "%s: cannot open it for reading: %s%s", path, error_text(-*fd),
                         *fd == -EACCES || *fd == -EPERM ? "; run as root, or as a member of the group that owns it"
                         : *fd == -EBUSY ? "; another program has it for itself (lsof), wait until that has ended"
                                         : "; see the kernel's log");
    if (calls.fstat(*fd, &st) || !S_ISCHR(st.st_mode) || st.st_rdev != rdev)
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                         "%s: became something else while it was opened; look at it, then try again", d->path);
    return 0;
}

static int take_name(const char *name, void *user)
{
    snprintf(user, NODE_NAME, "%s", name);
    return 1;
}

/* The disk that belongs to a node of commands, "" if there is none. */
static int disk_of(char disk[NODE_NAME], const struct sated_drive *d, const struct found *f)
{
    char folder[128], names[4][NODE_NAME], scsi_level[32];
    disk[0] = '\0';
    if (!strcmp(f->class, "nvme-generic")) {
        snprintf(disk, NODE_NAME, "nvme%.*s", NODE_NAME - 5, f->name + 2); /* ng1n2 is nvme1n2 */
        return 0;
    }
    if (!strcmp(f->class, "nvme")) {
        int n = nvme_tree_namespaces(names, 4, f->name);
        if (n == 1)
            snprintf(disk, NODE_NAME, "%s", names[0]);
        return n < 0 ? n : 0;
    }
    if (!node_text(scsi_level, sizeof scsi_level, "%s/device/scsi_level", f->folder))
        return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                         "/dev/%s%s: belongs to a host or a port, not to a drive; `sated list` shows the drives",
                         !strcmp(f->class, "bsg") ? "bsg/" : "", f->name);
    snprintf(folder, sizeof folder, "%s/device", f->folder);
    int rc = command_check_type(d, folder);
    if (rc)
        return rc;
    snprintf(folder, sizeof folder, "%s/device/block", f->folder);
    node_each(folder, take_name, disk);
    return 0;
}

/* A controller without just one namespace: what it is, and which ones it has. */
static void identify_controller(struct sated_identity *id, const struct found *f)
{
    char names[8][NODE_NAME];
    size_t used;
    memset(id, 0, sizeof *id);
    id->protocol = SATED_PROTOCOL_NVME;
    snprintf(id->transport, sizeof id->transport, "nvme");
    node_text(id->model, sizeof id->model, "/sys/class/nvme/%s/model", f->name);
    node_text(id->serial, sizeof id->serial, "/sys/class/nvme/%s/serial", f->name);
    node_text(id->firmware, sizeof id->firmware, "/sys/class/nvme/%s/firmware_rev", f->name);
    int n = nvme_tree_namespaces(names, 8, f->name);
    used = (size_t)snprintf(id->note, sizeof id->note, "a controller with %d namespaces%s", n > 0 ? n : 0,
                            n > 0 ? ":" : "");
    for (int i = 0; i < n && i < 8 && used < sizeof id->note; i++)
        used += (size_t)snprintf(id->note + used, sizeof id->note - used, " /dev/%s", names[i]);
}

static void identify_scsi(struct sated_identity *id, const struct found *f)
{
    memset(id, 0, sizeof *id);
    node_text(id->vendor, sizeof id->vendor, "%s/device/vendor", f->folder);
    node_text(id->model, sizeof id->model, "%s/device/model", f->folder);
    node_text(id->firmware, sizeof id->firmware, "%s/device/rev", f->folder);
    id->protocol = strcmp(id->vendor, "ATA") ? SATED_PROTOCOL_SCSI : SATED_PROTOCOL_ATA;
}

/* What the node stands for, once the disk itself cannot be opened, or where there is none. */
static void stand_alone(struct sated_drive *d, const struct found *f, const char *disk)
{
    d->kind = HANDLE_COMMANDS;
    if (disk[0])
        block_identify(disk, &d->identity);
    else if (!strcmp(f->class, "nvme"))
        identify_controller(&d->identity, f);
    else
        identify_scsi(&d->identity, f);
    d->identity.scale = 1;
    d->identity.flags |= SATED_IDENTITY_COMMANDS_ONLY;
    if (!disk[0])
        snprintf(d->identity.path, sizeof d->identity.path, "%s", d->path);
    snprintf(d->node, sizeof d->node, "%s", disk);
}

int device_open(struct sated_drive *d, uint64_t rdev)
{
    struct found f;
    char disk[NODE_NAME];
    struct sated_drive block = {.fd = -1, .write_fd = -1, .command_fd = -1};
    int fd = -1, rc = look_up(&f, d->path, rdev);
    if (!rc)
        rc = disk_of(disk, d, &f);
    if (!rc)
        rc = open_node(d, d->path, rdev, &fd);
    if (rc) {
        calls.close(fd);
        return rc;
    }
    bool generic = !strcmp(f.class, "nvme-generic");
    snprintf(d->command_node, sizeof d->command_node, "%s", f.name);
    d->face = !strcmp(f.class, "scsi_generic") ? &sg_face : !strcmp(f.class, "bsg") ? &bsg_face : &nvme_face;
    if (disk[0]) {
        node_device_path(block.path, sizeof block.path, disk);
        rc = block_open(&block);
    }
    if (disk[0] && !rc && !strcmp(block.node, disk)) {
        char through[sizeof d->path];
        snprintf(through, sizeof through, "%s", d->path);
        d->kind = HANDLE_BLOCK;
        d->fd = block.fd;
        d->device = block.device;
        d->stamp = block.stamp;
        d->direct = block.direct;
        d->alignment = block.alignment;
        d->identity = block.identity;
        snprintf(d->node, sizeof d->node, "%s", block.node);
        snprintf(d->path, sizeof d->path, "%s", block.path);
        if (!d->identity.note[0])
            snprintf(d->identity.note, sizeof d->identity.note, "named by its node %.200s", through);
    } else {
        calls.close(block.command_fd); /* which looking for the reason has opened */
        calls.close(block.fd);
        d->device = rdev;
        stand_alone(d, &f, disk);
    }
    if (!generic) {
        d->command_fd = fd; /* sg and bsg carry all commands, a controller's node the admin commands */
    } else if (d->fd < 0) {
        d->fd = fd;
    } else {
        calls.close(fd);
        d->command_node[0] = '\0';
    }
    return 0;
}
