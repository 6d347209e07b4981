/* SPDX-License-Identifier: MIT */
/* How long to wait for a command: by the drive's own estimate where it gives one. */
#include <inttypes.h>
#include <string.h>

#include "core/bytes.h"
#include "core/error.h"
#include "protocol/known_ata.h"
#include "transport/timeout.h"

#define S ((uint32_t)1000)
#define HOURS(n) ((n)*3600 * S)
#define USUAL (60 * S)

#define SECURITY_ERASE_UNIT 0xf4
#define ILLEGAL_REQUEST 5 /* a sense key: the drive has no such command, or no such field */

/* SCSI commands that may take long, and how long they get where the drive does not say. */
static const struct {
    uint8_t opcode;
    uint32_t ms;
} long_scsi[] = {
    {0x04, HOURS(12)},  /* FORMAT UNIT */
    {0x38, HOURS(12)},  /* FORMAT WITH PRESET */
    {0x48, HOURS(12)},  /* SANITIZE */
    {0x41, HOURS(12)},  /* WRITE SAME(10) */
    {0x93, HOURS(12)},  /* WRITE SAME(16) */
    {0x1d, USUAL},      /* SEND DIAGNOSTIC; see below */
    {0x07, 10 * USUAL}, /* REASSIGN BLOCKS */
    {0x1b, 2 * USUAL},  /* START STOP UNIT */
    {0x35, 2 * USUAL},  /* SYNCHRONIZE CACHE(10) */
    {0x91, 2 * USUAL},  /* SYNCHRONIZE CACHE(16) */
    {0x3b, 10 * USUAL}, /* WRITE BUFFER: firmware */
    {0x42, 10 * USUAL}, /* UNMAP */
};

static uint32_t usual_scsi(const struct sated_scsi_command *c, bool *may_be_long)
{
    *may_be_long = false;
    for (size_t i = 0; i < sizeof long_scsi / sizeof *long_scsi; i++)
        if (long_scsi[i].opcode == c->cdb[0]) {
            *may_be_long = true;
            /* SPC-6 6.42: self-tests 5 and 6 answer at their end only, the extended one after hours; so does the
             * default one, which takes no longer than two minutes. */
            if (c->cdb[0] == 0x1d)
                return c->cdb[1] >> 5 == 6 ? HOURS(12) : c->cdb[1] >> 5 == 5 || c->cdb[1] & 4 ? 5 * USUAL : USUAL;
            return long_scsi[i].ms;
        }
    return USUAL;
}

/* ACS-4: SMART EXECUTE OFF-LINE IMMEDIATE in captive mode answers at the end of the test. */
static bool is_captive_test(const struct sated_ata_command *c)
{
    return c->command == 0xb0 && (c->features & 0xff) == 0xd4 && c->lba & 0x80;
}

uint32_t sated_nvme_timeout_ms(const struct sated_nvme_command *c)
{
    if (!c->admin)
        return c->opcode == 0x08 || c->opcode == 0x09 ? 10 * USUAL : USUAL; /* Write Zeroes, Dataset Management */
    switch (c->opcode) {
    case 0x80: return 10 * USUAL; /* Format NVM: more than a minute was seen, and the kernel resets what is late */
    case 0x0d:                    /* Namespace Management */
    case 0x15:                    /* Namespace Attachment */
    case 0x10:                    /* Firmware Commit */
    case 0x11: return 2 * USUAL;  /* Firmware Image Download */
    default: return USUAL;
    }
}

static uint32_t usual(const struct command *c)
{
    bool any;
    if (c->nvme)
        return sated_nvme_timeout_ms(c->nvme);
    if (c->ata)
        return c->ata->command == SECURITY_ERASE_UNIT || is_captive_test(c->ata) ? HOURS(12) : USUAL;
    return usual_scsi(c->scsi, &any);
}

static uint32_t saturated(uint64_t ms)
{
    return ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
}

/* The same rule as for ATA's estimates: the greater of twice the estimate and ten minutes more. */
static uint32_t allow(uint64_t estimate_s)
{
    uint64_t twice = 2 * estimate_s, more = estimate_s + 600;
    return saturated((twice > more ? twice : more) * 1000);
}

static uint32_t longer(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

uint32_t sated_scsi_timeout_ms(uint32_t nominal_s, uint32_t recommended_s, uint32_t otherwise_ms)
{
    if (recommended_s && recommended_s >= nominal_s)
        return longer(saturated((uint64_t)recommended_s * 1000), otherwise_ms);
    return nominal_s ? longer(allow(nominal_s), otherwise_ms) : otherwise_ms;
}

/* Opcodes with service actions are asked for by both (SPC-5 6.36.1); REPORTING OPTIONS 3, which needs not know them, is
 * newer than most drives. Return: whether this one has any; *action is it. */
static bool has_action(const struct sated_scsi_command *c, uint16_t *action)
{
    static const uint8_t with_action[] = {0x48, 0x5e, 0x5f, 0x7e, 0x7f, 0x83, 0x84, 0x94,
                                          0x95, 0x9e, 0x9f, 0xa3, 0xa4, 0xa9, 0xab};
    uint8_t opcode = c->cdb[0];
    bool any = memchr(with_action, opcode, sizeof with_action) != NULL;
    *action = !any ? 0 : opcode == 0x7f || opcode == 0x7e ? bytes_be16(c->cdb + 8) : c->cdb[1] & 0x1f;
    return any;
}

int sated_scsi_timeout_get(struct sated_drive *d, const struct sated_scsi_command *of, uint32_t *timeout_ms)
{
    uint16_t action;
    bool any = has_action(of, &action);
    struct sated_scsi_command ask;
    struct sated_scsi_one_opcode one;
    uint8_t answer[512];
    struct sated_reply reply;
    *timeout_ms = usual(&(struct command){.set = SATED_COMMANDS_SCSI, .scsi = of});
    int rc = sated_scsi_build_report_opcodes(&ask, any ? 2 : 1, of->cdb[0], action, true, sizeof answer);
    if (!rc)
        rc = command_ask(d, &ask, answer, &reply);
    if (!rc)
        rc = sated_scsi_decode_one_opcode(answer, reply.data_len, &one);
    if (rc)
        return rc;
    *timeout_ms = sated_scsi_timeout_ms(one.nominal_timeout_s, one.recommended_timeout_s, *timeout_ms);
    return 0;
}

/* What the drive says, or that it says nothing, is asked once for each opcode. Whatever else is in the way, such as that
 * it is busy, may be otherwise the next time. */
static uint32_t estimate_scsi(struct sated_drive *d, const struct sated_scsi_command *c)
{
    struct estimates *e = &d->estimates;
    uint16_t action;
    uint32_t ms;
    has_action(c, &action);
    for (uint32_t i = 0; i < e->n; i++)
        if (e->scsi[i].opcode == c->cdb[0] && e->scsi[i].action == action)
            return e->scsi[i].ms;
    int rc = sated_scsi_timeout_get(d, c, &ms);
    bool told = rc == 0 || (rc == SATED_SENSE && error_last()->sense_key == ILLEGAL_REQUEST);
    if (told && e->n < sizeof e->scsi / sizeof *e->scsi) {
        e->scsi[e->n].opcode = c->cdb[0];
        e->scsi[e->n].action = action;
        e->scsi[e->n++].ms = rc ? 0 : ms;
    }
    return rc ? 0 : ms;
}

/* IDENTIFY DEVICE words 89 and 90; the data says which erase it is (ACS-4 7.46: bit 1 of word 0). */
static uint32_t estimate_erase(struct sated_drive *d, const uint8_t *data, uint32_t n)
{
    struct estimates *e = &d->estimates;
    struct sated_ata_command ask;
    struct sated_reply reply;
    uint8_t page[512];
    if (!e->erase_ms[0] && sated_ata_build_identify_device(&ask) == 0 &&
        sated_ata_raw(d, &ask, page, NULL, &reply) == 0 && reply.data_len == sizeof page)
        for (size_t i = 0; i < 2; i++)
            e->erase_ms[i] = (uint32_t)sated_ata_erase_timeout_ms(bytes_le16(page + 2 * (89 + i)));
    return e->erase_ms[n && data[0] & 2];
}

uint32_t timeout_choose(struct sated_drive *d, const struct command *c, const void *data)
{
    struct sated_detail before = *error_last();
    uint32_t estimate = 0, ms = usual(c);
    bool may_be_long = false;
    /* Nothing waits for these; the questions of a recorded drive are those that were recorded, and what a simulated one
     * has to tell first, such as a unit attention, is for who sends the command. */
    if (d->kind == HANDLE_REPLAY || d->kind == HANDLE_SIMULATED)
        return ms;
    if (c->ata && c->ata->command == SECURITY_ERASE_UNIT)
        estimate = estimate_erase(d, data, c->data_len);
    else if (!c->ata && c->scsi && usual_scsi(c->scsi, &may_be_long) && may_be_long)
        estimate = estimate_scsi(d, c->scsi);
    error_copy(&before); /* what was asked along the way is no part of the command */
    return longer(ms, estimate);
}
