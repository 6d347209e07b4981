/* SPDX-License-Identifier: MIT */
/* How long to wait for a command: by the drive's own estimate where it gives one. */
#include <inttypes.h>
#include <string.h>

#include "core/bytes.h"
#include "core/error.h"
#include "transport/command.h"

#define S ((uint32_t)1000)
#define HOURS(n) ((n)*3600 * S)
#define USUAL (60 * S)

/* What may take as long as the drive is large, and whose estimate is not known here. */
static bool erases_scsi(const struct sated_scsi_command *c)
{
    switch (c->cdb[0]) {
    case 0x04: /* FORMAT UNIT */
    case 0x38: /* FORMAT WITH PRESET */
    case 0x48: /* SANITIZE */
    case 0x41: /* WRITE SAME(10) */
    case 0x93: /* WRITE SAME(16) */ return true;
    default: return false;
    }
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

uint32_t command_timeout_ms(const struct command *c)
{
    if (c->nvme)
        return sated_nvme_timeout_ms(c->nvme);
    if (c->ata)
        return c->ata->command == 0xf4 ? HOURS(12) : USUAL; /* SECURITY ERASE UNIT: IDENTIFY words 89 and 90 say more */
    return erases_scsi(c->scsi) ? HOURS(12) : USUAL;
}

/* The same rule as for ATA's estimates: the greater of twice the estimate and ten minutes more. */
static uint32_t allow(uint64_t estimate_s)
{
    uint64_t twice = 2 * estimate_s, more = estimate_s + 600, ms = (twice > more ? twice : more) * 1000;
    return ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
}

uint32_t sated_scsi_timeout_ms(uint32_t nominal_s, uint32_t recommended_s, uint32_t otherwise_ms)
{
    uint64_t ms = (uint64_t)recommended_s * 1000;
    if (recommended_s)
        return ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
    return nominal_s ? allow(nominal_s) : otherwise_ms;
}

int sated_scsi_timeout_get(struct sated_drive *d, const struct sated_scsi_command *of, uint32_t *timeout_ms)
{
    /* Opcodes with service actions are asked for by both (SPC-5 6.36.1); REPORTING OPTIONS 3, which needs not know
     * them, is newer than most drives. */
    static const uint8_t with_action[] = {0x48, 0x5e, 0x5f, 0x7e, 0x7f, 0x83, 0x84, 0x94,
                                          0x95, 0x9e, 0x9f, 0xa3, 0xa4, 0xa9, 0xab};
    uint8_t opcode = of->cdb[0];
    bool variable = opcode == 0x7f || opcode == 0x7e, action = memchr(with_action, opcode, sizeof with_action) != NULL;
    struct sated_scsi_command ask;
    struct sated_scsi_one_opcode one;
    uint8_t answer[512];
    struct sated_reply reply;
    *timeout_ms = command_timeout_ms(&(struct command){.set = SATED_COMMANDS_SCSI, .scsi = of});
    int rc = sated_scsi_build_report_opcodes(&ask, action ? 2 : 1, opcode,
                                             variable ? bytes_be16(of->cdb + 8)
                                             : action ? of->cdb[1] & 0x1f
                                                      : 0,
                                             true, sizeof answer);
    if (!rc)
        rc = sated_scsi_raw(d, &ask, answer, &reply);
    if (!rc)
        rc = sated_scsi_decode_one_opcode(answer, reply.data_len, &one);
    if (rc)
        return rc;
    *timeout_ms = sated_scsi_timeout_ms(one.nominal_timeout_s, one.recommended_timeout_s, *timeout_ms);
    return 0;
}
