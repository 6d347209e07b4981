/* SPDX-License-Identifier: MIT */
#include "transport/learn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/error.h"
#include "protocol/known_ata.h"
#include "protocol/known_nvme.h"
#include "protocol/known_scsi.h"

#define PAGE 4096

/* What is not blank, without the blanks around it. */
static bool take(char *to, size_t n, const char *from)
{
    while (*from == ' ')
        from++;
    size_t length = strlen(from);
    while (length && from[length - 1] == ' ')
        length--;
    if (!length)
        return false;
    snprintf(to, n, "%.*s", (int)length, from);
    return true;
}

static void take_first(char *to, size_t n, const char *from)
{
    if (!to[0])
        take(to, n, from);
}

static void set_capacity(struct sated_identity *id, uint64_t bytes)
{
    id->capacity_bytes = id->native_capacity_bytes = bytes;
}

static void learn_ata(struct sated_identity *id, const uint8_t *data, size_t n)
{
    struct sated_ata_identify a;
    if (sated_ata_decode_identify(data, n, &a))
        return;
    id->protocol = SATED_PROTOCOL_ATA;
    id->vendor[0] = '\0'; /* a translation layer's word is "ATA"; the model has the maker's name in it */
    if (IS_KNOWN(ata_identify, &a, model))
        take(id->model, sizeof id->model, a.model);
    if (IS_KNOWN(ata_identify, &a, serial))
        take(id->serial, sizeof id->serial, a.serial);
    if (IS_KNOWN(ata_identify, &a, firmware))
        take(id->firmware, sizeof id->firmware, a.firmware);
    if (IS_KNOWN(ata_identify, &a, rotation_rpm)) {
        id->rotation_rpm = a.rotation_rpm;
        id->flags |= SATED_IDENTITY_ROTATION_KNOWN;
    }
    if (IS_KNOWN(ata_capacity, &a.capacity, bytes))
        set_capacity(id, a.capacity.bytes);
    if (IS_KNOWN(ata_capacity, &a.capacity, logical_block_bytes))
        id->logical_block_bytes = (uint32_t)a.capacity.logical_block_bytes;
    if (IS_KNOWN(ata_capacity, &a.capacity, physical_block_bytes))
        id->physical_block_bytes = (uint32_t)a.capacity.physical_block_bytes;
}

static void learn_inquiry(struct sated_identity *id, const uint8_t *data, size_t n)
{
    struct sated_scsi_inquiry i;
    if (sated_scsi_decode_inquiry(data, n, &i))
        return;
    bool ata = id->protocol == SATED_PROTOCOL_ATA;
    if (!ata)
        id->protocol = SATED_PROTOCOL_SCSI;
    if (!ata && IS_KNOWN(scsi_inquiry, &i, vendor))
        take_first(id->vendor, sizeof id->vendor, i.vendor);
    if (IS_KNOWN(scsi_inquiry, &i, product))
        take_first(id->model, sizeof id->model, i.product);
    if (IS_KNOWN(scsi_inquiry, &i, revision))
        take_first(id->firmware, sizeof id->firmware, i.revision);
}

static void learn_vpd(struct sated_identity *id, const uint8_t *data, size_t n)
{
    struct sated_scsi_vpd_serial serial;
    struct sated_scsi_vpd_characteristics disk;
    struct sated_scsi_vpd_ata *ata;
    switch (n > 1 ? data[1] : 0) {
    case 0x80:
        if (!sated_scsi_decode_vpd_serial(data, n, &serial) && IS_KNOWN(scsi_vpd_serial, &serial, serial))
            take_first(id->serial, sizeof id->serial, serial.serial);
        break;
    case 0x89:
        ata = malloc(sizeof *ata);
        if (ata && !sated_scsi_decode_vpd_ata(data, n, ata) && IS_KNOWN(scsi_vpd_ata, ata, identify))
            learn_ata(id, ata->identify, sizeof ata->identify);
        free(ata);
        break;
    case 0xb1:
        if (!sated_scsi_decode_vpd_characteristics(data, n, &disk) && disk.medium_rotation_rate &&
            IS_KNOWN(scsi_vpd_characteristics, &disk, medium_rotation_rate)) {
            id->rotation_rpm = disk.medium_rotation_rate == 1 ? 0 : disk.medium_rotation_rate;
            id->flags |= SATED_IDENTITY_ROTATION_KNOWN;
        }
        break;
    default: break;
    }
}

static void learn_capacity(struct sated_identity *id, const uint8_t *data, size_t n, bool sixteen)
{
    struct sated_scsi_capacity c;
    if (sixteen ? sated_scsi_decode_capacity_16(data, n, &c) : sated_scsi_decode_capacity_10(data, n, &c))
        return;
    if (IS_KNOWN(scsi_capacity, &c, bytes) && !id->capacity_bytes)
        set_capacity(id, c.bytes);
    if (IS_KNOWN(scsi_capacity, &c, block_bytes) && !id->logical_block_bytes)
        id->logical_block_bytes = id->physical_block_bytes = c.block_bytes;
    if (IS_KNOWN(scsi_capacity, &c, physical_block_bytes))
        id->physical_block_bytes = c.physical_block_bytes;
}

static void learn_scsi(struct sated_identity *id, const uint8_t *cdb, const uint8_t *data, size_t n)
{
    switch (cdb[0]) {
    case 0x12: cdb[1] & 1 ? learn_vpd(id, data, n) : learn_inquiry(id, data, n); break;
    case 0x25: learn_capacity(id, data, n, false); break;
    case 0x9e:
        if ((cdb[1] & 0x1f) == 0x10)
            learn_capacity(id, data, n, true);
        break;
    default: break;
    }
}

static void learn_nvme(struct sated_identity *id, const struct sated_nvme_command *c, const uint8_t *data, size_t n)
{
    id->protocol = SATED_PROTOCOL_NVME;
    if (c->opcode == SATED_NVME_ADMIN_IDENTIFY && (c->cdw10 & 0xff) == SATED_NVME_CNS_CTRL) {
        struct sated_nvme_id_ctrl *ctrl = malloc(sizeof *ctrl);
        if (ctrl && !sated_nvme_decode_id_ctrl(data, n, ctrl)) {
            take_first(id->model, sizeof id->model, ctrl->general.mn);
            take_first(id->serial, sizeof id->serial, ctrl->general.sn);
            take_first(id->firmware, sizeof id->firmware, ctrl->general.fr);
        }
        free(ctrl);
    }
    if (c->opcode == SATED_NVME_ADMIN_IDENTIFY && (c->cdw10 & 0xff) == SATED_NVME_CNS_NS &&
        c->nsid != SATED_NVME_ALL_NAMESPACES && !id->capacity_bytes) {
        struct sated_nvme_id_ns *ns = malloc(sizeof *ns);
        if (ns && !sated_nvme_decode_id_ns(data, n, ns)) {
            if (IS_KNOWN(nvme_id_ns, ns, capacity_bytes))
                set_capacity(id, ns->capacity_bytes);
            if (IS_KNOWN(nvme_id_ns, ns, block_bytes))
                id->logical_block_bytes = id->physical_block_bytes = ns->block_bytes;
        }
        free(ns);
    }
}

void learn(struct sated_identity *id, const struct command *c, const void *data, size_t n)
{
    struct sated_ata_command ata;
    if (c->nvme) {
        if (c->set == SATED_COMMANDS_NVME_ADMIN)
            learn_nvme(id, c->nvme, data, n);
    } else if (command_unwrap_ata(c->scsi, &ata)) {
        if (ata.command == 0xec)
            learn_ata(id, data, n);
    } else {
        learn_scsi(id, c->scsi->cdb, data, n);
    }
}

/* ---- The way of ATA commands ---- */

static void add_note(struct sated_identity *id, const char *text)
{
    size_t used = strlen(id->note);
    if (!strstr(id->note, text))
        snprintf(id->note + used, sizeof id->note - used, "%s%s", used ? "; " : "", text);
}

/* SPC-6: 5/20/00 is an opcode that is not known, so that nothing was done, whatever the command; 5/24/00 a field, which
 * may be of the command within: then only what changes nothing may be sent twice. A drive's own refusal has registers. */
static bool way_refuses(const struct command *c, int rc, const struct sated_ata_registers *registers)
{
    const struct sated_detail *detail = error_last();
    return rc == SATED_SENSE && registers->source == SATED_ATA_REGISTERS_NONE && detail->sense_key == 5 &&
           (detail->asc == 0x20 || (detail->asc == 0x24 && command_reads_only(c)));
}

void learn_way(struct sated_drive *d, const struct command *c, int rc, const struct sated_ata_registers *registers)
{
    bool sixteen = c->scsi->cdb_len == 16;
    if (c->scsi->cdb_len == 32)
        return;
    if (way_refuses(c, rc, registers)) {
        if (sixteen && !(d->ata_way & LEARNT_TAKES_16))
            d->ata_way |= LEARNT_REFUSES_16;
        return;
    }
    bool mute = registers->source == SATED_ATA_REGISTERS_NONE;
    if (mute && rc != 0 && rc != SATED_UNSUPPORTED)
        return; /* nobody knows whether the command got that far */
    d->ata_way |= sixteen ? LEARNT_TAKES_16 : LEARNT_TAKES_12;
    if (learn_cdb_len(d, &(struct sated_ata_command){.command = 0}) == 12)
        add_note(&d->identity, "takes 28-bit ATA commands only: what is in the way has no ATA PASS-THROUGH(16)");
    if (c->ata->ck_cond && mute)
        add_note(&d->identity, "what is in the way hands no ATA registers back, so SMART's verdict cannot be had");
}

uint32_t learn_cdb_len(const struct sated_drive *d, const struct sated_ata_command *c)
{
    bool only_12 =
        (d->ata_way & (LEARNT_TAKES_16 | LEARNT_REFUSES_16 | LEARNT_TAKES_12)) == (LEARNT_REFUSES_16 | LEARNT_TAKES_12);
    /* Only the longest CDB has room for ICC and AUXILIARY, and only Linux adapters of 32 bytes take it. */
    if (c->icc || c->auxiliary)
        return 32;
    return !only_12 ? 16 : c->ext ? 0 : 12;
}

/* ---- Asking ---- */

static void ask_scsi(struct sated_drive *d, const struct sated_scsi_command *c, uint8_t *page)
{
    struct sated_reply reply;
    if (sated_scsi_raw(d, c, page, &reply) == 0)
        learn(&d->identity, &(struct command){.set = SATED_COMMANDS_SCSI, .scsi = c}, page, reply.data_len);
}

static void ask_identify(struct sated_drive *d, uint8_t *page)
{
    struct sated_ata_command c;
    struct sated_reply reply;
    if (sated_ata_build_identify_device(&c) == 0 && sated_ata_raw(d, &c, page, NULL, &reply) == 0)
        learn_ata(&d->identity, page, reply.data_len);
}

static void ask_nvme(struct sated_drive *d, uint32_t cns, uint32_t nsid, uint8_t *page)
{
    struct sated_nvme_command c;
    struct sated_reply reply;
    if (sated_nvme_build_identify(&c, cns, nsid, 0, 0, 0) == 0 && sated_nvme_admin_raw(d, &c, page, &reply) == 0)
        learn(&d->identity, &(struct command){.set = SATED_COMMANDS_NVME_ADMIN, .nvme = &c}, page, reply.data_len);
}

void learn_by_asking(struct sated_drive *d)
{
    bool ata = d->identity.protocol == SATED_PROTOCOL_ATA;
    uint8_t *page = buffer_new(PAGE);
    if (!page)
        return;
    if (d->identity.protocol == SATED_PROTOCOL_NVME) {
        ask_nvme(d, SATED_NVME_CNS_CTRL, 0, page);
        ask_nvme(d, SATED_NVME_CNS_NS, 1, page);
    } else {
        struct sated_scsi_command c;
        if (ata)
            ask_identify(d, page);
        if (sated_scsi_build_inquiry(&c, -1, 96) == 0)
            ask_scsi(d, &c, page);
        if (sated_scsi_build_inquiry(&c, 0x80, 252) == 0)
            ask_scsi(d, &c, page);
        if (sated_scsi_build_inquiry(&c, 0xb1, 64) == 0)
            ask_scsi(d, &c, page);
        if (sated_scsi_build_read_capacity_16(&c, 32) == 0)
            ask_scsi(d, &c, page);
        if (!d->identity.capacity_bytes && sated_scsi_build_read_capacity_10(&c) == 0)
            ask_scsi(d, &c, page);
    }
    buffer_free(page, PAGE);
}
