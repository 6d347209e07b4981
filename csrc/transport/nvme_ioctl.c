/* SPDX-License-Identifier: MIT */
/* NVMe commands by ioctl: admin commands on the controller's node, I/O commands on the namespace's. The kernel refuses
 * I/O commands on a controller that has several namespaces, and admin commands on a namespace of several controllers
 * may go to any of them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "core/error.h"
#include "transport/block.h"
#include "transport/calls.h"
#include "transport/command.h"
#include "transport/nvme_tree.h"

#ifndef NVME_IOCTL_ADMIN64_CMD /* Linux 5.4 */
struct nvme_passthru_cmd64 {
    __u8 opcode, flags;
    __u16 rsvd1;
    __u32 nsid, cdw2, cdw3;
    __u64 metadata, addr;
    __u32 metadata_len, data_len, cdw10, cdw11, cdw12, cdw13, cdw14, cdw15, timeout_ms, rsvd2;
    __u64 result;
};
#define NVME_IOCTL_ADMIN64_CMD _IOWR('N', 0x47, struct nvme_passthru_cmd64)
#endif
#ifndef NVME_IOCTL_IO64_CMD
#define NVME_IOCTL_IO64_CMD _IOWR('N', 0x48, struct nvme_passthru_cmd64)
#endif

static int refused(const struct sated_drive *d, const struct command *c, int error)
{
    char text[200];
    command_text(text, sizeof text, c);
    switch (error) {
    case ENOTTY:
    case EOPNOTSUPP:
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                         "%s: takes no NVMe commands (%s), so %s cannot be sent; give the drive itself, not a mapping "
                         "onto it",
                         d->path, error_text(error), text);
    case EINTR: /* so the kernel tells that it cancelled the command: its time was over, or the controller was reset */
    case ETIME:
    case ETIMEDOUT:
        return error_set(SATED_STALLED, SATED_LAYER_DRIVE,
                         "%s: %s was cancelled by the kernel, which allowed it %u ms; the drive may still be at it, so "
                         "look at its state before you send it again",
                         d->path, text, c->timeout_ms);
    case EINVAL:
        return error_set(-error, SATED_LAYER_DRIVE,
                         "%s: the kernel does not take %s with %u bytes of data (%s); check namespace and length, and "
                         "send I/O commands to the namespace's node",
                         d->path, text, c->data_len, error_text(error));
    default: return command_not_sent(d, c, error, "CAP_SYS_ADMIN");
    }
}

/* Linux before 5.4 has no 64-bit form: it says ENOTTY, and told nothing to the drive. */
static int send_32(int fd, bool admin, const struct nvme_passthru_cmd64 *from, uint64_t *result)
{
    struct nvme_passthru_cmd c = {
        .opcode = from->opcode,
        .flags = from->flags,
        .rsvd1 = from->rsvd1,
        .nsid = from->nsid,
        .cdw2 = from->cdw2,
        .cdw3 = from->cdw3,
        .addr = from->addr,
        .data_len = from->data_len,
        .cdw10 = from->cdw10,
        .cdw11 = from->cdw11,
        .cdw12 = from->cdw12,
        .cdw13 = from->cdw13,
        .cdw14 = from->cdw14,
        .cdw15 = from->cdw15,
        .timeout_ms = from->timeout_ms,
    };
    int rc = calls.ioctl(fd, admin ? NVME_IOCTL_ADMIN_CMD : NVME_IOCTL_IO_CMD, &c);
    *result = c.result;
    return rc;
}

int nvme_controller(struct sated_drive *d, int *fd)
{
    char name[NODE_NAME], path[NODE_NAME + 8];
    if (d->command_fd >= 0) {
        *fd = d->command_fd;
        return 0;
    }
    char serial[sizeof d->identity.serial];
    if (block_serial(serial, sizeof serial, d->node) && strcmp(serial, d->identity.serial))
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                         "%s: now belongs to another drive (serial number %s, not %s); look at it, then open it anew",
                         d->path, serial, d->identity.serial);
    int rc = nvme_tree_controller(name, d->node);
    if (rc)
        return rc;
    node_device_path(path, sizeof path, name);
    rc = calls.open(path, O_RDONLY);
    if (rc < 0)
        return error_set(rc, SATED_LAYER_DRIVE, "%s: its controller %s cannot be opened: %s%s", d->path, path,
                         error_text(-rc), rc == -EACCES || rc == -EPERM ? "; run as root" : "; see the kernel's log");
    snprintf(d->command_node, sizeof d->command_node, "%s", name);
    *fd = d->command_fd = rc;
    return 0;
}

/* The namespace's node. */
static int namespace_of(const struct sated_drive *d, int *fd)
{
    *fd = d->fd;
    if (d->fd < 0)
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                         "%s: is a controller, which takes admin commands only; open the node of a namespace, such as "
                         "/dev/nvme0n1, for I/O commands",
                         d->path);
    return 0;
}

static int send_nvme(struct sated_drive *d, const struct command *c, struct sated_reply *reply)
{
    const struct sated_nvme_command *from = c->nvme;
    bool admin = c->set == SATED_COMMANDS_NVME_ADMIN;
    int fd = -1, rc = admin ? nvme_controller(d, &fd) : namespace_of(d, &fd);
    if (rc)
        return rc;
    struct nvme_passthru_cmd64 to = {
        .opcode = from->opcode,
        .flags = from->flags,
        .nsid = from->nsid,
        .cdw2 = from->cdw2,
        .cdw3 = from->cdw3,
        .addr = (uintptr_t)c->data,
        .data_len = c->data_len,
        .cdw10 = from->cdw10,
        .cdw11 = from->cdw11,
        .cdw12 = from->cdw12,
        .cdw13 = from->cdw13,
        .cdw14 = from->cdw14,
        .cdw15 = from->cdw15,
        .timeout_ms = c->timeout_ms,
    };
    rc = calls.ioctl(fd, admin ? NVME_IOCTL_ADMIN64_CMD : NVME_IOCTL_IO64_CMD, &to);
    uint64_t result = to.result;
    if (rc == -ENOTTY)
        rc = send_32(fd, admin, &to, &result);
    if (rc < 0)
        return refused(d, c, -rc);
    reply->nvme_status = (uint16_t)(rc & 0x7fff);
    reply->result = result;
    return 0;
}

const struct command_face nvme_face = {.send = send_nvme};
