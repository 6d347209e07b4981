/* SPDX-License-Identifier: MIT */
#include "transport/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/buffer.h"
#include "core/error.h"
#include "protocol/known_ata.h"
#include "transport/learn.h"
#include "transport/lengths.h"
#include "transport/node.h"
#include "transport/nvme_tree.h"
#include "transport/record.h"
#include "transport/timeout.h"

#define UNIT_ATTENTION 6             /* sense key */
#define ATTENTIONS_MAX 4             /* that wait at a time: power on, capacity, parameters, ... */
#define LARGEST ((uint32_t)64 << 20) /* of one command; the kernel allows less */
#define ATA_BUSY 0x80                /* STATUS: BSY */
#define ATA_ENDED 0x61               /* STATUS: DRDY of a drive that is done, ERR and DF of one that failed */

static int no_face(const struct sated_drive *d, const char *why)
{
    return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE, "%s: takes no commands: %s", d->path, why);
}

/* SPC-6 table 151: 0 disks, 7 optical memory, 14 simplified disks, 20 zoned disks. With others the same opcode may mean
 * something else: A1h, ATA PASS-THROUGH(12), is BLANK to a CD writer. */
int command_check_type(const struct sated_drive *d, const char *folder)
{
    uint64_t type;
    if (!node_number(&type, "%s/type", folder) || type == 0 || type == 7 || type == 14 || type == 20)
        return 0;
    return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                     "%s: is no disk, but a device of SCSI type %" PRIu64 "; `sated list` shows the drives", d->path,
                     type);
}

/* What a block device's commands go through. */
static int face_of_block(struct sated_drive *d)
{
    char whole[NODE_NAME], folder[NODE_NAME + 32], text[32];
    int rc = node_whole(whole, d->node);
    if (rc)
        return rc;
    snprintf(folder, sizeof folder, "/sys/class/block/%s/device", d->node);
    if (strcmp(whole, d->node))
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                         "%s: takes no commands: it is a partition; open its disk, /dev/%s", d->path, whole);
    if (d->identity.protocol == SATED_PROTOCOL_NVME)
        d->face = &nvme_face;
    else if (!node_text(text, sizeof text, "%s/scsi_level", folder))
        return no_face(d, "it is neither a SCSI, ATA nor NVMe drive; open the drive beneath it");
    else if ((rc = command_check_type(d, folder)) == 0)
        d->face = &sg_face;
    return rc;
}

int command_face_find(struct sated_drive *d)
{
    if (d->face)
        return 0;
    switch (d->kind) {
    case HANDLE_SIMULATED:
        return no_face(d, "its model is that of no drive with commands; `sated sim models` shows those that have");
    case HANDLE_FILE: return no_face(d, "it is a regular file; give a drive");
    case HANDLE_BLOCK: return face_of_block(d);
    default: return no_face(d, "nothing was found that carries them");
    }
}

static int protocol_of(const struct sated_drive *d, const struct command *c)
{
    bool nvme = d->face == &nvme_face ||
                (d->face != &sg_face && d->face != &bsg_face && d->identity.protocol == SATED_PROTOCOL_NVME);
    if (nvme != (c->nvme != NULL))
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE, "%s: takes %s commands, not %s ones", d->path,
                         nvme ? "NVMe" : "SCSI and ATA", nvme ? "SCSI or ATA" : "NVMe");
    return 0;
}

/* SAM-6 5.2.2: the group code of the opcode says how long a CDB is; groups 6 and 7 are the vendor's. */
static bool right_length(const struct sated_scsi_command *c)
{
    static const uint8_t lengths[8] = {6, 10, 10, 0, 16, 12, 0, 0};
    uint8_t group = c->cdb[0] >> 5;
    if (c->cdb_len < 6 || c->cdb_len > sizeof c->cdb)
        return false;
    if (c->cdb[0] == 0x7f)
        return c->cdb_len >= 10 && c->cdb_len == 8u + c->cdb[7];
    return !lengths[group] || c->cdb_len == lengths[group];
}

static int check_arguments(const struct sated_drive *d, const struct command *c, const void *data)
{
    if (c->scsi && !right_length(c->scsi))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "%s: a CDB of %u bytes cannot begin with %02Xh; give all bytes of the command, and no more",
                         d->path, c->scsi->cdb_len, c->scsi->cdb[0]);
    if (c->direction > SATED_DATA_OUT)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "%s: data direction %u: there is none; give 0 none, 1 from or 2 to the drive", d->path,
                         c->direction);
    if ((c->direction == SATED_DATA_NONE) != (c->data_len == 0) || (c->data_len && !data))
        return error_set(
            SATED_PARSE, SATED_LAYER_ARGUMENT,
            "%s: direction %u with %u bytes of data%s: give a direction, a length and a buffer, or none of "
            "them",
            d->path, c->direction, c->data_len, data ? "" : " and no buffer");
    if (c->data_len > LARGEST)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "%s: %u bytes of data in one command: at most %u can go; split it up", d->path, c->data_len,
                         LARGEST);
    /* Lengths count dwords from 0 on, so what is shorter than one would ask for very much. */
    if (c->nvme && c->data_len % 4)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "%s: %u bytes of data in an NVMe command: give a multiple of 4", d->path, c->data_len);
    return 0;
}

/* Replayed drives and simulated transports are permitted from the start; others by the guard. */
static int check_consent(struct sated_drive *d, const struct command *c)
{
    char text[200];
    if (command_reads_only(c))
        return 0;
    command_text(text, sizeof text, c);
    if (!d->permitted && !d->tree)
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                         "%s: %s is refused: it is not in the table of read-only commands, so it needs consent; type "
                         "the drive's token as confirm= (--confirm)",
                         d->path, text);
    int rc = d->permitted_whole ? 0 : handle_need_permit(d, command_scope(d, c), text);
    return rc ? rc : handle_check_same(d);
}

/* Keeps what was told within what was asked for: bridges tell residuals that are negative or larger than all of it. */
static void check_residual(const struct command *c, struct sated_reply *r)
{
    if (r->residual < 0 || (uint32_t)r->residual > c->data_len) {
        r->flags |= SATED_REPLY_RESIDUAL_WRONG;
        r->data_len = c->data_len;
    } else {
        r->data_len = c->data_len - (uint32_t)r->residual;
    }
}

static int send(struct sated_drive *d, struct command *c, void *data, struct sated_reply *reply)
{
    c->data = NULL;
    if (c->data_len) {
        c->data = buffer_new(c->data_len);
        if (!c->data)
            return error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for %u bytes of data", d->path, c->data_len);
        if (c->direction == SATED_DATA_OUT)
            memcpy(c->data, data, c->data_len);
    }
    int64_t start = handle_now_ns(d);
    int rc = d->face->send(d, c, reply);
    reply->duration_ns = handle_now_ns(d) - start;
    if (!rc)
        check_residual(c, reply);
    else
        reply->data_len = 0; /* whatever a transport of the caller's left there */
    record_add(d, c, rc, reply);
    if (c->direction == SATED_DATA_IN) {
        memset(data, 0, c->data_len);
        memcpy(data, c->data, reply->data_len);
    }
    buffer_free(c->data, c->data_len);
    return rc;
}

/* Nothing but that nothing is known. */
static void forget(struct sated_ata_registers *r)
{
    memset(r, 0, sizeof *r);
    KNOW(ata_registers, r, source, SATED_ATA_REGISTERS_NONE);
}

static int dispatch(struct sated_drive *d, struct command *c, void *data, struct sated_reply *reply,
                    struct sated_ata_registers *registers)
{
    struct sated_reply here;
    reply = reply ? reply : &here;
    memset(reply, 0, sizeof *reply);
    int rc = check_arguments(d, c, data);
    if (!rc)
        rc = command_face_find(d);
    if (!rc)
        rc = protocol_of(d, c);
    /* A simulated drive moves no more than there is room for. Of other namespaces than its own a handle knows no block. */
    if (!rc && c->nvme && d->kind != HANDLE_SIMULATED)
        rc = lengths_check(c, d->path, c->nvme->nsid == handle_namespace(d) ? d->identity.logical_block_bytes : 0);
    if (!rc)
        rc = check_consent(d, c);
    if (!rc && d->busy == HANDLE_PURGE)
        rc = handle_need_idle(d, "it takes no commands");
    if (rc)
        return rc;
    if (!c->timeout_ms)
        c->timeout_ms = timeout_choose(d, c, data);
    rc = send(d, c, data, reply);
    if (rc)
        return rc;
    if (!registers)
        return command_status(d, c, reply, NULL);
    /* Bridges make registers up as well: while BSY is set the others mean nothing (ACS-5 6.3), and a drive that is done
     * with a command has DRDY set, or says that it failed. */
    if (reply->sense_len && (sated_ata_decode_registers(reply->sense, reply->sense_len, registers) ||
                             registers->status & ATA_BUSY || !(registers->status & ATA_ENDED)))
        forget(registers);
    rc = command_status(d, c, reply, registers);
    learn_way(d, c, rc, registers);
    return rc;
}

int sated_scsi_raw(struct sated_drive *d, const struct sated_scsi_command *c, void *data, struct sated_reply *reply)
{
    struct command to = {
        .set = SATED_COMMANDS_SCSI,
        .scsi = c,
        .direction = c->direction,
        .data_len = c->data_len,
        .timeout_ms = c->timeout_ms,
    };
    struct sated_ata_command within;
    struct sated_ata_registers registers;
    forget(&registers);
    bool wrapped = command_unwrap_ata(c, &within);
    if (wrapped)
        to.ata = &within; /* so that a failure is told in the drive's own terms */
    return dispatch(d, &to, data, reply, wrapped ? &registers : NULL);
}

static int ata_send(struct sated_drive *d, const struct sated_ata_command *c, uint32_t cdb_len, void *data,
                    struct sated_ata_registers *registers, struct sated_reply *reply)
{
    struct sated_scsi_command scsi;
    forget(registers);
    memset(reply, 0, sizeof *reply);
    int rc = sated_ata_build_cdb(c, cdb_len, &scsi);
    if (rc)
        return rc;
    struct command to = {
        .set = SATED_COMMANDS_ATA,
        .scsi = &scsi,
        .ata = c,
        .direction = scsi.direction,
        .data_len = scsi.data_len,
        .timeout_ms = c->timeout_ms,
    };
    return dispatch(d, &to, data, reply, registers);
}

/* A CDB of 16 bytes was refused by what is in the way. Whatever refuses that of 12 as well takes no ATA commands: then
 * the first refusal stands. */
static int ata_send_shorter(struct sated_drive *d, const struct sated_ata_command *c, void *data,
                            struct sated_ata_registers *registers, struct sated_reply *reply)
{
    struct sated_detail first = *error_last();
    struct sated_reply refusal = *reply;
    int rc = ata_send(d, c, 12, data, registers, reply);
    if (d->ata_way & LEARNT_TAKES_12 || rc != SATED_SENSE)
        return rc;
    *reply = refusal;
    return error_copy(&first);
}

int command_ask(struct sated_drive *d, const struct sated_scsi_command *c, void *data, struct sated_reply *reply)
{
    struct sated_detail detail;
    int rc = sated_scsi_raw(d, c, data, reply);
    for (int again = 0; rc == SATED_SENSE && again < ATTENTIONS_MAX; again++) {
        sated_detail_get(&detail);
        if (detail.sense_key != UNIT_ATTENTION)
            break;
        rc = sated_scsi_raw(d, c, data, reply);
    }
    return rc;
}

int sated_ata_raw(struct sated_drive *d, const struct sated_ata_command *c, void *data,
                  struct sated_ata_registers *registers, struct sated_reply *reply)
{
    struct sated_ata_registers here;
    struct sated_reply answer;
    registers = registers ? registers : &here;
    reply = reply ? reply : &answer;
    forget(registers);
    memset(reply, 0, sizeof *reply);
    uint32_t cdb_len = learn_cdb_len(d, c);
    if (!cdb_len)
        return error_set(
            SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
            "%s: ATA command %02Xh has 48-bit fields, and the bridge or adapter in front of the drive takes "
            "ATA PASS-THROUGH(12) only, which has room for 28; attach the drive to a SATA port",
            d->path, c->command);
    int rc = ata_send(d, c, cdb_len, data, registers, reply);
    bool shorter = cdb_len == 16 && !c->ext && d->ata_way & LEARNT_REFUSES_16 && !(d->ata_way & LEARNT_TAKES_16);
    return rc == SATED_SENSE && shorter ? ata_send_shorter(d, c, data, registers, reply) : rc;
}

static int nvme_raw(struct sated_drive *d, enum sated_command_set set, const struct sated_nvme_command *c, void *data,
                    struct sated_reply *reply)
{
    struct command to = {
        .set = set,
        .nvme = c,
        .direction = c->direction,
        .data_len = c->data_len,
        .timeout_ms = c->timeout_ms,
    };
    return dispatch(d, &to, data, reply, NULL);
}

int sated_nvme_admin_raw(struct sated_drive *d, const struct sated_nvme_command *c, void *data,
                         struct sated_reply *reply)
{
    return nvme_raw(d, SATED_COMMANDS_NVME_ADMIN, c, data, reply);
}

int sated_nvme_io_raw(struct sated_drive *d, const struct sated_nvme_command *c, void *data, struct sated_reply *reply)
{
    return nvme_raw(d, SATED_COMMANDS_NVME_IO, c, data, reply);
}

/* ---- Asking the table beforehand ---- */

static int check_read_only(const struct command *c)
{
    char text[200];
    if (command_reads_only(c))
        return 0;
    command_text(text, sizeof text, c);
    return error_set(SATED_UNSAFE, SATED_LAYER_ARGUMENT,
                     "%s is not in the table of read-only commands; it needs consent (confirm=), where it is sent at "
                     "all",
                     text);
}

int sated_scsi_check_read_only(const struct sated_scsi_command *c)
{
    return check_read_only(
        &(struct command){.set = SATED_COMMANDS_SCSI, .scsi = c, .direction = c->direction, .data_len = c->data_len});
}

int sated_ata_check_read_only(const struct sated_ata_command *c)
{
    struct sated_scsi_command scsi;
    int rc = sated_ata_build_cdb(c, c->icc || c->auxiliary ? 32 : 16, &scsi);
    return rc ? rc
              : check_read_only(
                    &(struct command){.set = SATED_COMMANDS_ATA, .scsi = &scsi, .ata = c, .direction = scsi.direction});
}

int sated_nvme_check_read_only(const struct sated_nvme_command *c)
{
    const struct command of = {.set = c->admin ? SATED_COMMANDS_NVME_ADMIN : SATED_COMMANDS_NVME_IO,
                               .nvme = c,
                               .direction = c->direction,
                               .data_len = c->data_len};
    int rc = check_read_only(&of);
    return rc ? rc : lengths_check(&of, NULL, 0);
}
