/* SPDX-License-Identifier: MIT */
/* The simulated ATA drive: a command comes as a task file, and goes as registers. */
#ifndef SATED_SIM_TARGET_ATA_INSIDE_H
#define SATED_SIM_TARGET_ATA_INSIDE_H

#include <sated/ata.h>

#include "core/bytes.h"
#include "sim/target_inside.h"

#define ATA_SECTOR 512u
#define ATA_TRIES 5
#define ATA_TRIM_BLOCKS 8 /* w105 */
#define ATA_QUEUE 32
#define ATA_NON_DATA_NS 50000 /* what a command without data takes */

/* STATUS and ERROR (ACS-4 6.2, 6.3). */
enum {
    ATA_STATUS_GOOD = 0x50, /* DRDY, and what was seek complete */
    ATA_STATUS_ERR = 0x01,
    ATA_STATUS_DF = 0x20,
    ATA_ABRT = 0x04,
    ATA_IDNF = 0x10,
    ATA_UNC = 0x40,
};

struct ata_task {
    /* To the drive. */
    uint8_t command, device, ext;
    uint8_t direction; /* enum sated_direction: what the way to the drive was set up for */
    uint16_t features, count;
    uint64_t lba;
    uint8_t *data;
    uint32_t data_len; /* room for data from the drive, or data for it */
    /* From the drive. */
    struct ata_registers {
        uint8_t status, error, device;
        uint16_t count;
        uint64_t lba;
    } out;
    uint32_t moved; /* bytes of data */
    bool silent;    /* it never answered */
};

/* Security of SET MAX ADDRESS (ATA8-ACS 4.10.3). */
enum ata_max_lock {
    ATA_MAX_INACTIVE = 0,
    ATA_MAX_UNLOCKED = 1,
    ATA_MAX_LOCKED = 2,
    ATA_MAX_FROZEN = 3,
};

/* What DCO can take away: word 7 (ACS-2 7.7.3), and bit 0 of word 8. */
enum {
    ATA_HAS_SMART = 1 << 0,
    ATA_HAS_SELF_TEST = 1 << 1,
    ATA_HAS_ERROR_LOG = 1 << 2,
    ATA_HAS_SECURITY = 1 << 3,
    ATA_HAS_HPA = 1 << 7,
    ATA_HAS_FUA = 1 << 11,
    ATA_OVERLAY_FEATURES =
        ATA_HAS_SMART | ATA_HAS_SELF_TEST | ATA_HAS_ERROR_LOG | ATA_HAS_SECURITY | ATA_HAS_HPA | ATA_HAS_FUA,
    ATA_OVERLAY_SATA = 1,
    ATA_OVERLAY_MDMA = 0x07,
    ATA_OVERLAY_UDMA = 0x7f,
};

static inline bool ata_has(const struct sim *s, unsigned feature)
{
    return s->target.ata.overlay_features & feature;
}

/* Whether a drive has AMAC, and with it neither HPA nor DCO, which ACS-3 took out. */
static inline bool ata_has_amac(const struct sim *s)
{
    return s->model.amac;
}

static inline bool ata_has_hpa(const struct sim *s)
{
    return !ata_has_amac(s) && ata_has(s, ATA_HAS_HPA);
}

static inline uint64_t ata_all_sectors(const struct sim *s)
{
    return s->model.units * s->model.unit_bytes / ATA_SECTOR;
}

/* ---- target_ata.c ---- */

void ata_carry_out(struct sim *s, struct ata_task *t);
void ata_init(struct sim *s);
void ata_power_on(struct sim *s);
void ata_finish(struct sim *s, const struct operation *o);
const char *ata_check(const struct sim *s);

void ata_abort(struct ata_task *t);
/* ends with an error that has an address. */
void ata_fail_at(struct ata_task *t, uint8_t error, uint64_t lba);

/* Whether the command moves that many bytes of data; aborts it if not. */
bool ata_no_data(struct ata_task *t);
bool ata_data_in(struct ata_task *t, uint32_t bytes);
bool ata_data_out(struct ata_task *t, uint32_t bytes);

/* The medium can be reached or not, as security and sanitize are now. */
void ata_update_block(struct sim *s);
void ata_set_sectors(struct sim *s, uint64_t sectors);

/* Sets a byte so that n bytes sum to 0. */
void ata_put_checksum(uint8_t *data, size_t n);

/* ---- the commands, a file for each idea ---- */

typedef void ata_run(struct sim *s, struct ata_task *t);

ata_run ata_identify_device;
void ata_identify_data(const struct sim *s, uint8_t data[512]);
void ata_capability_page(const struct sim *s, uint32_t page, uint8_t data[512]); /* log 30h */

ata_run ata_read, ata_write, ata_write_fua, ata_verify, ata_read_queued, ata_write_queued, ata_data_set, ata_flush,
    ata_multiple_mode;
ata_run ata_set_features, ata_check_power, ata_standby, ata_standby_now, ata_idle, ata_idle_now, ata_sleep;
ata_run ata_read_log, ata_smart;
ata_run ata_security_set, ata_security_unlock, ata_security_prepare, ata_security_erase, ata_security_freeze,
    ata_security_disable;
ata_run ata_sanitize;
ata_run ata_read_native, ata_set_max, ata_accessible_max, ata_overlay;

bool ata_put_log(const struct sim *s, uint32_t log, uint32_t page, uint8_t data[512], bool general);
void ata_test_ended(struct sim *s, const struct operation *o, unsigned status);
void ata_security_erased(struct sim *s, const struct operation *o);
void ata_security_broken_off(struct sim *s, const struct operation *o);
void ata_sanitize_ended(struct sim *s, const struct operation *o);
bool ata_is_erasing(const struct sim *s);

#endif
