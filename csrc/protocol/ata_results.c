/* SPDX-License-Identifier: MIT */
/* What the registers say after a command. */
#include <sated/ata.h>

#include <string.h>

#include "protocol/known_ata.h"

enum {
    STATUS_ERR = 0x01,
    STATUS_DF = 0x20,
    STATUS_DRDY = 0x40,
    STATUS_BSY = 0x80,
};

/* LBA 23:8 after SMART RETURN STATUS. */
#define SMART_GOOD UINT64_C(0xc24f00)
#define SMART_EXCEEDED UINT64_C(0x2cf400)

/* Whether the command failed: 1 or 0, -1 where the registers do not say. While BSY is set no other register holds, and
 * without DRDY the drive has not ended well (ACS-5, "STATUS field"): bridges return zeros for registers they never had. */
static int failed(const struct sated_ata_registers *r)
{
    if (!IS_KNOWN(ata_registers, r, status) || r->status & STATUS_BSY)
        return -1;
    if (r->status & (STATUS_ERR | STATUS_DF))
        return 1;
    return r->status & STATUS_DRDY ? 0 : -1;
}

int sated_ata_decode_power_mode(const struct sated_ata_registers *r, struct sated_ata_power_mode *out)
{
    int fail = failed(r);
    memset(out, 0, sizeof *out);
    if (fail < 0)
        return 0;
    KNOW(ata_power_mode, out, failed, (uint32_t)fail);
    if (fail || !IS_KNOWN(ata_registers, r, count_low))
        return 0;
    switch (r->count_low) {
    case SATED_ATA_STANDBY_Z:
    case SATED_ATA_STANDBY_Y:
    case SATED_ATA_NV_CACHE_SPUN_DOWN:
    case SATED_ATA_NV_CACHE_SPUN_UP:
    case SATED_ATA_IDLE:
    case SATED_ATA_IDLE_A:
    case SATED_ATA_IDLE_B:
    case SATED_ATA_IDLE_C:
    case SATED_ATA_ACTIVE_OR_IDLE: KNOW(ata_power_mode, out, mode, r->count_low); break;
    default: break;
    }
    return 0;
}

int sated_ata_decode_smart_status(const struct sated_ata_registers *r, struct sated_ata_smart_status *out)
{
    int fail = failed(r);
    memset(out, 0, sizeof *out);
    if (fail < 0)
        return 0;
    KNOW(ata_smart_status, out, failed, (uint32_t)fail);
    if (fail || !IS_KNOWN(ata_registers, r, lba_low) || r->lba_low_bits < 24)
        return 0;
    if ((r->lba_low & 0xffff00) == SMART_GOOD)
        KNOW(ata_smart_status, out, exceeded, 0);
    else if ((r->lba_low & 0xffff00) == SMART_EXCEEDED)
        KNOW(ata_smart_status, out, exceeded, 1);
    return 0;
}

int sated_ata_decode_native_max(const struct sated_ata_registers *r, struct sated_ata_native_max *out)
{
    int fail = failed(r);
    memset(out, 0, sizeof *out);
    if (fail < 0)
        return 0;
    KNOW(ata_native_max, out, failed, (uint32_t)fail);
    if (fail || !IS_KNOWN(ata_registers, r, lba))
        return 0;
    KNOW(ata_native_max, out, max_lba, r->lba);
    KNOW(ata_native_max, out, sectors, r->lba + 1);
    return 0;
}

int sated_ata_decode_sanitize_status(const struct sated_ata_registers *r, struct sated_ata_sanitize_status *out)
{
    int fail = failed(r);
    memset(out, 0, sizeof *out);
    if (fail < 0)
        return 0;
    KNOW(ata_sanitize_status, out, failed, (uint32_t)fail);
    if (fail) {
        uint32_t reason = r->lba_low & 0xff;
        if (IS_KNOWN(ata_registers, r, lba_low) && r->lba_low_bits >= 8 && reason <= SATED_ATA_SANITIZE_FROZEN)
            KNOW(ata_sanitize_status, out, reason, reason);
        return 0;
    }
    if (!IS_KNOWN(ata_registers, r, count))
        return 0;
    KNOW(ata_sanitize_status, out, completed, r->count >> 15 & 1);
    KNOW(ata_sanitize_status, out, in_progress, r->count >> 14 & 1);
    KNOW(ata_sanitize_status, out, frozen, r->count >> 13 & 1);
    KNOW(ata_sanitize_status, out, antifreeze, r->count >> 12 & 1);
    if (out->in_progress && IS_KNOWN(ata_registers, r, lba_low) && r->lba_low_bits >= 16)
        KNOW(ata_sanitize_status, out, progress, r->lba_low & 0xffff);
    return 0;
}
