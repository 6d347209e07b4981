/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* O_DIRECT */
#include "transport/block.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/error.h"
#include "transport/calls.h"
#include "transport/hold.h"
#include "transport/integrity.h"
#include "transport/node.h"
#include "transport/topology.h"
#include "transport/use.h"

#define MOST_BLOCK 4096 /* where sysfs does not tell: no smaller one is an obstacle to it */

/* The unit serial number page: length in bytes 2 and 3, then ASCII (SPC-6, 7.7.20). */
static bool page_80(char *out, size_t n, const char *name)
{
    unsigned char page[256];
    long got = node_bytes(page, sizeof page, "/sys/class/block/%s/device/vpd_pg80", name);
    if (got < 4 || page[1] != 0x80)
        return false;
    size_t length = (size_t)page[2] << 8 | page[3], used = 0;
    if (length > (size_t)got - 4)
        length = (size_t)got - 4;
    for (size_t i = 0; i < length && used + 1 < n; i++)
        if (page[4 + i] > ' ' && page[4 + i] < 0x7f)
            out[used++] = (char)page[4 + i];
    out[used] = '\0';
    return used > 0;
}

bool block_serial(char *out, size_t n, const char *name)
{
    return node_text(out, n, "/sys/class/block/%s/device/serial", name) || /* NVMe, MMC */
           node_text(out, n, "/sys/class/block/%s/serial", name) ||        /* virtio */
           page_80(out, n, name) ||                                        /* SCSI, and ATA through libata */
           node_text(out, n, "/sys/class/block/%s/md/uuid", name) ||
           node_text(out, n, "/sys/class/block/%s/device/wwid", name) ||
           node_text(out, n, "/sys/class/block/%s/wwid", name);
}

/* Whether a part of a path is `prefix` and a digit behind it, such as ata3 in /sys/devices/.../ata3/host2. */
static bool has_part(const char *path, const char *prefix)
{
    size_t n = strlen(prefix);
    for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/'))
        if (!strncmp(p + 1, prefix, n) && isdigit((unsigned char)p[1 + n]))
            return true;
    return false;
}

static void find_transport(struct sated_identity *out, const char *name)
{
    static const struct {
        const char *part, *transport;
    } known[] = {
        {"usb", "usb"},       {"nvme", "nvme"}, {"ata", "sata"},      {"end_device-", "sas"},
        {"virtio", "virtio"}, {"mmc", "mmc"},   {"session", "iscsi"}, {"loop", "loop"},
        {"md", "md"},         {"dm-", "dm"},    {"nbd", "nbd"},
    };
    char folder[PATH_MAX];
    if (!node_folder(folder, sizeof folder, name))
        return;
    for (size_t i = 0; i < sizeof known / sizeof *known && !out->transport[0]; i++)
        if (has_part(folder, known[i].part))
            snprintf(out->transport, sizeof out->transport, "%s", known[i].transport);
}

static void find_names(struct sated_identity *out, const char *name)
{
    char text[200];
    if (node_text(text, sizeof text, "/sys/class/block/%s/loop/backing_file", name)) {
        snprintf(out->vendor, sizeof out->vendor, "Linux");
        snprintf(out->model, sizeof out->model, "loop device");
        snprintf(out->note, sizeof out->note, "a loop device of %s", text);
    } else if (node_text(text, sizeof text, "/sys/class/block/%s/md/level", name)) {
        snprintf(out->vendor, sizeof out->vendor, "Linux");
        snprintf(out->model, sizeof out->model, "md %.40s", text);
    } else {
        /* PCI and virtio devices tell their vendor as a number only. */
        if (node_text(text, sizeof text, "/sys/class/block/%s/device/vendor", name) && strncmp(text, "0x", 2))
            snprintf(out->vendor, sizeof out->vendor, "%.31s", text);
        if (!node_text(out->model, sizeof out->model, "/sys/class/block/%s/device/model", name))
            node_text(out->model, sizeof out->model, "/sys/class/block/%s/device/name", name);
    }
    if (!node_text(out->firmware, sizeof out->firmware, "/sys/class/block/%s/device/firmware_rev", name))
        node_text(out->firmware, sizeof out->firmware, "/sys/class/block/%s/device/rev", name);
    block_serial(out->serial, sizeof out->serial, name);
}

/* Offsets and memory are aligned to it, so that it has to be one. */
static bool block_size(uint64_t *out, const char *name, const char *which)
{
    return node_number(out, "/sys/class/block/%s/queue/%s_block_size", name, which) && *out >= 512 &&
           *out <= UINT32_MAX && (*out & (*out - 1)) == 0;
}

void block_identify(const char *name, struct sated_identity *out)
{
    char whole[NODE_NAME], beneath[1][NODE_NAME], nothing[1] = "", text[64];
    uint64_t number;
    memset(out, 0, sizeof *out);
    out->flags = SATED_IDENTITY_BLOCK;
    out->scale = 1;
    if (node_whole(whole, name))
        snprintf(whole, sizeof whole, "%s", name);
    if (node_number(&number, "/sys/class/block/%s/size", name) && number <= UINT64_MAX / 512)
        out->capacity_bytes = number * 512; /* whatever the block is */
    if (block_size(&number, whole, "logical"))
        out->logical_block_bytes = out->physical_block_bytes = (uint32_t)number;
    if (block_size(&number, whole, "physical"))
        out->physical_block_bytes = (uint32_t)number;
    if (node_number(&number, "/sys/class/block/%s/queue/rotational", whole) && number == 0)
        out->flags |= SATED_IDENTITY_ROTATION_KNOWN; /* sysfs does not tell how fast the others turn */
    find_transport(out, whole);
    find_names(out, whole);
    if (!strcmp(out->transport, "sas") && !strcmp(out->vendor, "ATA"))
        snprintf(out->transport, sizeof out->transport, "sata"); /* behind a SAS adapter, which speaks both */
    topology_identify(whole, out);
    if (!strcmp(out->transport, "nvme"))
        out->protocol = SATED_PROTOCOL_NVME;
    else if (!strcmp(out->vendor, "ATA"))
        out->protocol = SATED_PROTOCOL_ATA;
    else if (node_text(text, sizeof text, "/sys/class/block/%s/device/scsi_level", whole))
        out->protocol = SATED_PROTOCOL_SCSI;
    if (!node_link(out->path, sizeof out->path, "/dev/disk/by-id", name))
        node_device_path(out->path, sizeof out->path, name);
    if (strcmp(whole, name))
        snprintf(out->note, sizeof out->note, "a partition of /dev/%s", whole);
    int n = node_beneath(beneath, 1, name);
    if (n > 0 && strcmp(beneath[0], whole))
        snprintf(out->note, sizeof out->note, "a mapping onto /dev/%s%s", beneath[0], n > 1 ? " and others" : "");
    if (!out->note[0])
        integrity_tell(out->note, sizeof out->note, name);
    struct use_report use = {.text = nothing, .n = sizeof nothing};
    use_of_device(&use, name);
    if (use.mounted)
        out->flags |= SATED_IDENTITY_MOUNTED;
}

int block_open(struct sated_drive *d)
{
    struct stat st;
    d->kind = HANDLE_BLOCK;
    d->fd = calls.open(d->path, O_RDONLY);
    if (d->fd < 0) {
        int error = -d->fd;
        return error_set(-error, SATED_LAYER_DRIVE, "%s: cannot open it for reading: %s%s", d->path, error_text(error),
                         error == EACCES || error == EPERM ? "; run as root, or as a member of the group that owns it"
                         : error == ENOMEDIUM || error == ENXIO ? "; there is no medium in it"
                                                                : "");
    }
    if (calls.fstat(d->fd, &st) || !S_ISBLK(st.st_mode))
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                         "%s: became something else while it was opened; look at it, then try again", d->path);
    d->device = st.st_rdev;
    int rc = node_of(d->node, st.st_rdev);
    if (rc)
        return rc;
    stamp_take(&d->stamp, d->node, d->fd);
    block_identify(d->node, &d->identity);
    uint64_t nsid;
    if (node_number(&nsid, "/sys/class/block/%s/nsid", d->node) && nsid < UINT32_MAX)
        d->nsid = (uint32_t)nsid;
    rc = stamp_check(&d->stamp, d->path, d->node, d->device, d->fd); /* one disk was opened, and that was identified */
    if (rc)
        return rc;
    d->direct = true;
    d->alignment = d->identity.logical_block_bytes ? d->identity.logical_block_bytes : MOST_BLOCK;
    if (d->identity.capacity_bytes == 0 && (rc = integrity_refused(d)))
        return rc;
    if (d->identity.capacity_bytes == 0)
        return error_set(-ENOMEDIUM, SATED_LAYER_DRIVE, "%s: has no capacity; put a medium in, or attach it", d->path);
    return 0;
}
