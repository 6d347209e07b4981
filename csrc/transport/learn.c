/* SPDX-License-Identifier: MIT */
#include "transport/learn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/bytes.h"
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
        id->capacity_bytes = a.capacity.bytes;
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
        id->capacity_bytes = c.bytes;
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
                id->capacity_bytes = ns->capacity_bytes;
            if (IS_KNOWN(nvme_id_ns, ns, block_bytes))
                id->logical_block_bytes = id->physical_block_bytes = ns->block_bytes;
        }
        free(ns);
    }
}

uint32_t learn_nsid(const struct sated_nvme_command *c, enum sated_command_set set)
{
    bool asks = set == SATED_COMMANDS_NVME_ADMIN && c->opcode == SATED_NVME_ADMIN_IDENTIFY &&
                (c->cdw10 & 0xff) == SATED_NVME_CNS_NS && c->nsid != SATED_NVME_ALL_NAMESPACES;
    return asks ? c->nsid : 0;
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
    if (command_ask(d, c, page, &reply) == 0)
        learn(&d->identity, &(struct command){.set = SATED_COMMANDS_SCSI, .scsi = c}, page, reply.data_len);
}

/* What can be addressed without the limit that hides sectors, by the set of commands that the drive has for it. Without
 * any nobody tells, for what DEVICE CONFIGURATION hides is no part of either answer. */
static void ask_native(struct sated_drive *d, const uint8_t *page, size_t n)
{
    struct sated_ata_identify a;
    struct sated_ata_command c;
    struct sated_ata_registers registers;
    struct sated_ata_native_max native;
    if (sated_ata_decode_identify(page, n, &a))
        return;
    bool amac = IS_KNOWN(ata_areas, &a.areas, amac_supported) && a.areas.amac_supported;
    bool hpa = IS_KNOWN(ata_areas, &a.areas, hpa_supported) && a.areas.hpa_supported;
    bool ext = IS_KNOWN(ata_capacity, &a.capacity, lba48_sectors) && a.capacity.lba48_sectors;
    if ((!amac && !hpa) || (amac ? sated_ata_build_get_native_max(&c) : sated_ata_build_read_native_max(&c, ext)) ||
        sated_ata_raw(d, &c, NULL, &registers, NULL) || sated_ata_decode_native_max(&registers, &native) ||
        !IS_KNOWN(ata_native_max, &native, sectors) || !d->identity.logical_block_bytes)
        return;
    uint64_t bytes = native.sectors * d->identity.logical_block_bytes;
    if (bytes >= d->identity.capacity_bytes) /* less than what can be addressed is no answer */
        d->identity.native_capacity_bytes = bytes;
}

static void ask_identify(struct sated_drive *d, uint8_t *page)
{
    struct sated_ata_command c;
    struct sated_reply reply;
    if (sated_ata_build_identify_device(&c) || sated_ata_raw(d, &c, page, NULL, &reply))
        return;
    learn_ata(&d->identity, page, reply.data_len);
    ask_native(d, page, reply.data_len);
}

/* The number of bytes that came, 0 if it was refused. */
static uint32_t ask_nvme(struct sated_drive *d, uint32_t cns, uint32_t nsid, uint8_t *page)
{
    struct sated_nvme_command c;
    struct sated_reply reply;
    if (sated_nvme_build_identify(&c, cns, nsid, 0, 0, 0) || sated_nvme_admin_raw(d, &c, page, &reply))
        return 0;
    learn(&d->identity, &(struct command){.set = SATED_COMMANDS_NVME_ADMIN, .nvme = &c}, page, reply.data_len);
    return reply.data_len;
}

/* The first of those that are active; the first of all where the drive has no list of them (before NVMe 1.1). */
static void ask_namespace(struct sated_drive *d, uint8_t *page)
{
    bool listed = ask_nvme(d, SATED_NVME_CNS_NS_LIST, 0, page) >= 4;
    uint32_t nsid = listed ? bytes_le32(page) : 1;
    if (nsid && ask_nvme(d, SATED_NVME_CNS_NS, nsid, page))
        d->nsid = nsid;
}

void learn_by_asking(struct sated_drive *d)
{
    bool ata = d->identity.protocol == SATED_PROTOCOL_ATA;
    uint8_t *page = buffer_new(PAGE);
    if (!page)
        return;
    if (d->identity.protocol == SATED_PROTOCOL_NVME) {
        ask_nvme(d, SATED_NVME_CNS_CTRL, 0, page);
        ask_namespace(d, page);
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

/* The kernel's size is what a load meets, and its serial number what the token is made from: both stay as they are. */
void learn_beyond_sysfs(struct sated_drive *d)
{
    struct sated_identity *id = &d->identity, before = *id;
    struct sated_detail detail = *error_last();
    bool node = d->kind == HANDLE_BLOCK || d->kind == HANDLE_COMMANDS;
    uint8_t *page =
        node && !d->asked && !handle_is_busy(d) && id->protocol == SATED_PROTOCOL_ATA ? buffer_new(PAGE) : NULL;
    if (!page)
        return;
    d->asked = true;
    ask_identify(d, page);
    buffer_free(page, PAGE);
    if (before.serial[0])
        memcpy(id->serial, before.serial, sizeof id->serial);
    if (before.capacity_bytes)
        id->capacity_bytes = before.capacity_bytes;
    if (before.logical_block_bytes) {
        id->logical_block_bytes = before.logical_block_bytes;
        id->physical_block_bytes = before.physical_block_bytes;
    }
    error_copy(&detail);
}
