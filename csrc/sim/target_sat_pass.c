/* SPDX-License-Identifier: MIT */
/* ATA PASS-THROUGH (SAT-4 clause 12), and the registers that come back as sense data. */
#include <string.h>

#include "sim/target_sat.h"

/* What the three CDBs have in common. */
struct pass {
    unsigned protocol, transfer; /* byte 1 and byte 2 of the shortest */
    bool ck_cond;
    struct ata_task task;
};

static void unpack(const struct sated_scsi_command *c, struct pass *p)
{
    const uint8_t *b = c->cdb;
    struct ata_task *t = &p->task;
    unsigned first;
    if (b[0] == 0x7f) {
        first = b[10];
        p->transfer = b[11];
        t->lba = bytes_be48(b + 14);
        t->features = bytes_be16(b + 20);
        t->count = bytes_be16(b + 22);
        t->device = b[24];
        t->command = b[25];
    } else if (b[0] == 0x85) {
        first = b[1];
        p->transfer = b[2];
        t->features = bytes_be16(b + 3);
        t->count = bytes_be16(b + 5);
        t->lba = b[8] | (uint64_t)b[10] << 8 | (uint64_t)b[12] << 16 | (uint64_t)b[7] << 24 | (uint64_t)b[9] << 32 |
                 (uint64_t)b[11] << 40;
        t->device = b[13];
        t->command = b[14];
    } else {
        first = b[1] & 0xfe; /* no room for the upper bytes */
        p->transfer = b[2];
        t->features = b[3];
        t->count = b[4];
        t->lba = b[5] | (uint64_t)b[6] << 8 | (uint64_t)b[7] << 16;
        t->device = b[8];
        t->command = b[9];
    }
    p->protocol = first >> 1 & 15;
    p->ck_cond = p->transfer >> 5 & 1;
    t->ext = first & 1;
    if (!t->ext) {
        t->features &= 0xff;
        t->count &= 0xff;
        t->lba = (t->lba & 0xffffff) | (uint64_t)(t->device & 15) << 24;
    }
}

/* What libata lets through: data or none, and no way to change how the link transfers or to Trusted Computing. */
static bool lets_through(const struct pass *p)
{
    const struct ata_task *t = &p->task;
    switch (p->protocol) {
    case SATED_ATA_NON_DATA:
    case SATED_ATA_PIO_IN:
    case SATED_ATA_PIO_OUT:
    case SATED_ATA_DMA:
    case SATED_ATA_UDMA_IN:
    case SATED_ATA_UDMA_OUT:
    case SATED_ATA_FPDMA: break;
    default: return false;
    }
    return !(t->command == 0xef && (t->features & 0xff) == 0x03) && !(t->command >= 0x5c && t->command <= 0x5f);
}

/* The length in the CDB has to be within what the host has room for (SAT-4 12.2.2, T_LENGTH). */
static bool set_data(struct sat *x, struct pass *p)
{
    struct ata_task *t = &p->task;
    unsigned field = p->transfer & 3;
    bool queued = field == 1;
    uint64_t units = queued ? t->features : t->count;
    uint64_t bytes = !(p->transfer & 4) ? units : units * ATA_SECTOR;
    t->direction = field == 0 || p->protocol == SATED_ATA_NON_DATA ? SATED_DATA_NONE
                   : p->transfer & 8                               ? SATED_DATA_IN
                                                                   : SATED_DATA_OUT;
    t->data = x->data;
    t->data_len = x->c->data_len;
    if (t->direction == SATED_DATA_NONE)
        return true;
    return t->direction == x->c->direction && (field == 3 || bytes <= x->c->data_len);
}

/* ---- Registers as sense data ---- */

static void put_descriptor(struct sated_reply *r, const uint8_t sense[3], const struct ata_registers *out, bool ext)
{
    uint8_t *b = r->sense, *d = b + 8;
    b[0] = 0x72;
    memcpy(b + 1, sense, 3);
    b[7] = 14;
    d[0] = 0x09;
    d[1] = 12;
    d[2] = ext;
    d[3] = out->error;
    if (ext) {
        d[4] = (uint8_t)(out->count >> 8);
        d[6] = (uint8_t)(out->lba >> 24);
        d[8] = (uint8_t)(out->lba >> 32);
        d[10] = (uint8_t)(out->lba >> 40);
    }
    d[5] = (uint8_t)out->count;
    d[7] = (uint8_t)out->lba;
    d[9] = (uint8_t)(out->lba >> 8);
    d[11] = (uint8_t)(out->lba >> 16);
    d[12] = out->device;
    d[13] = out->status;
    r->sense_len = 22;
}

/* @param at where the registers begin: byte 3 by the standard (SAT-4 12.2.7), byte 8 before Linux 6.11, where ASC and
 * ASCQ then stand in their midst and the sense data ends before the LBA does. */
static void put_fixed(struct sated_reply *r, const uint8_t sense[3], const struct ata_registers *out, bool ext,
                      unsigned at)
{
    uint8_t *b = r->sense, flags = ext ? 0x80 : 0;
    unsigned more = at + (at == 3 ? 5 : 8);
    if (ext && out->count >> 8)
        flags |= 0x40;
    if (ext && out->lba >> 24)
        flags |= 0x20;
    b[0] = at == 3 ? 0xf0 : 0x70;
    b[2] = sense[0];
    b[7] = 10;
    b[at] = out->error;
    b[at + 1] = out->status;
    b[at + 2] = out->device;
    b[at + 3] = (uint8_t)out->count;
    b[more] = flags;
    for (unsigned i = 0; i < 3 && more + 1 + i < 18; i++)
        b[more + 1 + i] = (uint8_t)(out->lba >> 8 * i);
    b[12] = sense[1];
    b[13] = sense[2];
    r->sense_len = 18;
}

static void put_registers(struct sat *x, const struct ata_registers *out, bool ext)
{
    static const uint8_t available[3] = {0x01, 0x00, 0x1d}; /* ATA PASS-THROUGH INFORMATION AVAILABLE */
    struct sated_reply *r = x->reply;
    uint8_t sense[3];
    bool failed = out->status & ATA_STATUS_ERR;
    memcpy(sense, available, 3);
    if (failed)
        sat_translate(out, sense);
    if (fault_stands(x->s, SATED_FAULT_NO_REGISTERS)) {
        if (failed)
            sat_sense(x, sense[0], sense[1], sense[2]);
        return;
    }
    memset(r->sense, 0, sizeof r->sense);
    r->scsi_status = CHECK_CONDITION;
    r->driver_status = DRIVER_SENSE;
    if (failed && fault_stands(x->s, SATED_FAULT_LEGACY_SENSE))
        put_fixed(r, sense, out, ext, 8);
    else if (fault_stands(x->s, SATED_FAULT_FIXED_SENSE))
        put_fixed(r, sense, out, ext, 3);
    else
        put_descriptor(r, sense, out, ext);
}

void sat_pass_failed(struct sat *x, uint8_t error)
{
    struct pass p = {.protocol = 0};
    unpack(x->c, &p);
    struct ata_registers out = {.status = ATA_STATUS_GOOD | ATA_STATUS_ERR, .error = error, .device = p.task.device};
    put_registers(x, &out, p.task.ext);
}

/* ---- The command ---- */

static bool bridge_refuses(struct sat *x, const struct ata_task *t)
{
    static const uint8_t media[] = {0x06, 0x20, 0x24, 0x25, 0x29, 0x30, 0x34, 0x35, 0x39, 0x3d,
                                    0x40, 0x42, 0x60, 0x61, 0xc4, 0xc5, 0xc8, 0xca, 0xce};
    if (fault_stands(x->s, SATED_FAULT_TWELVE_ONLY) && x->c->cdb[0] != 0xa1)
        sat_invalid_command(x);
    else if (fault_stands(x->s, SATED_FAULT_NO_ERASE) && t->command == 0xf4)
        sat_invalid_field(x);
    else
        return memchr(media, t->command, sizeof media) && sat_bridge_is_locked(x);
    return true;
}

void sat_pass_through(struct sat *x)
{
    struct pass p = {.protocol = 0};
    struct ata_task *t = &p.task;
    unpack(x->c, &p);
    if (bridge_refuses(x, t))
        return;
    if (!lets_through(&p) || !set_data(x, &p)) {
        sat_invalid_field(x);
        return;
    }
    ata_carry_out(x->s, t);
    if (t->silent) {
        x->reply->host_status = DID_TIME_OUT;
        return;
    }
    if (!t->ext)
        t->out.device = (uint8_t)(t->out.device | (t->out.lba >> 24 & 15));
    x->moved = t->moved;
    if (t->out.status & ATA_STATUS_ERR || p.ck_cond)
        put_registers(x, &t->out, t->ext);
}
