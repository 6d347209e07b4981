/* SPDX-License-Identifier: MIT */
/* SG_IO: version 3 on sg and block nodes, version 4 on bsg nodes. */
#include <errno.h>
#include <linux/bsg.h>
#include <scsi/sg.h>
#include <string.h>

#include "core/error.h"
#include "transport/calls.h"
#include "transport/command.h"

#define SENSE_ROOM 252 /* SPC-5 4.4.1: the most that sense data can have */

/* What the ioctl itself failed with: the command was not sent, or nobody knows. */
static int refused(const struct sated_drive *d, const struct command *c, int error)
{
    char text[200];
    command_text(text, sizeof text, c);
    switch (error) {
    case ENOTTY:
    case EOPNOTSUPP:
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                         "%s: takes no SCSI commands (SG_IO: %s), so %s cannot be sent; give the drive itself, not a "
                         "mapping onto it",
                         d->path, error_text(error), text);
    case EINTR:
        return error_set(-error, SATED_LAYER_DRIVE,
                         "%s: waiting for %s was cut short (%s), and the drive may have done it; look at its state "
                         "before you send it again",
                         d->path, text, error_text(error));
    case EINVAL:
    case ENOMEM:
        return error_set(-error, SATED_LAYER_DRIVE,
                         "%s: the kernel does not take %s with %u bytes of data (%s); ask for less at once", d->path,
                         text, c->data_len, error_text(error));
    default: return command_not_sent(d, c, error, "CAP_SYS_RAWIO");
    }
}

static int node_of_commands(const struct sated_drive *d)
{
    return d->command_fd >= 0 ? d->command_fd : d->fd;
}

static int send_v3(struct sated_drive *d, const struct command *c, struct sated_reply *reply)
{
    static const int directions[] = {SG_DXFER_NONE, SG_DXFER_FROM_DEV, SG_DXFER_TO_DEV};
    struct sg_io_hdr h = {
        .interface_id = 'S',
        .dxfer_direction = directions[c->direction],
        .cmd_len = (unsigned char)c->scsi->cdb_len,
        .mx_sb_len = SENSE_ROOM,
        .dxfer_len = c->data_len,
        .dxferp = c->data,
        .cmdp = (unsigned char *)(uintptr_t)c->scsi->cdb,
        .sbp = reply->sense,
        .timeout = c->timeout_ms,
    };
    int rc = calls.ioctl(node_of_commands(d), SG_IO, &h);
    if (rc < 0)
        return refused(d, c, -rc);
    reply->host_status = h.host_status;
    reply->driver_status = h.driver_status;
    reply->scsi_status = h.status;
    reply->sense_len = h.sb_len_wr <= SENSE_ROOM ? h.sb_len_wr : SENSE_ROOM;
    reply->residual = h.resid;
    return 0;
}

static int send_v4(struct sated_drive *d, const struct command *c, struct sated_reply *reply)
{
    struct sg_io_v4 h = {
        .guard = 'Q',
        .protocol = BSG_PROTOCOL_SCSI,
        .subprotocol = BSG_SUB_PROTOCOL_SCSI_CMD,
        .request_len = c->scsi->cdb_len,
        .request = (uintptr_t)c->scsi->cdb,
        .max_response_len = SENSE_ROOM,
        .response = (uintptr_t)reply->sense,
        .timeout = c->timeout_ms,
    };
    if (c->direction == SATED_DATA_IN) {
        h.din_xfer_len = c->data_len;
        h.din_xferp = (uintptr_t)c->data;
    } else if (c->direction == SATED_DATA_OUT) {
        h.dout_xfer_len = c->data_len;
        h.dout_xferp = (uintptr_t)c->data;
    }
    int rc = calls.ioctl(node_of_commands(d), SG_IO, &h);
    if (rc < 0)
        return refused(d, c, -rc);
    reply->host_status = (uint16_t)h.transport_status;
    reply->driver_status = (uint16_t)h.driver_status;
    reply->scsi_status = (uint8_t)h.device_status;
    reply->sense_len = h.response_len <= SENSE_ROOM ? h.response_len : SENSE_ROOM;
    reply->residual = c->direction == SATED_DATA_OUT ? h.dout_resid : h.din_resid;
    return 0;
}

const struct command_face sg_face = {.send = send_v3};
const struct command_face bsg_face = {.send = send_v4};
