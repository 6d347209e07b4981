/* SPDX-License-Identifier: MIT */
/* Reading, writing and trimming, the write cache, and the states of power. */
#include <errno.h>
#include <string.h>

#include "sim/target_ata_inside.h"

#define ENTRY 8 /* of DATA SET MANAGEMENT (ACS-4 7.6.3) */

/* Commands of 48 bits that move data; the others count to 256. */
static bool is_long(uint8_t command)
{
    switch (command) {
    case 0x20:
    case 0x21:
    case 0x30:
    case 0x31:
    case 0x40:
    case 0x41:
    case 0xc4:
    case 0xc5:
    case 0xc8:
    case 0xc9:
    case 0xca:
    case 0xcb: return false;
    default: return true;
    }
}

static uint32_t sectors_of(const struct ata_task *t, uint32_t count)
{
    return count ? count : is_long(t->command) ? 65536 : 256;
}

/* Whether the sectors are there. */
static bool reach(struct sim *s, struct ata_task *t, uint32_t sectors)
{
    struct ata_state *a = &s->target.ata;
    a->power = SATED_ATA_ACTIVE_OR_IDLE;
    a->used_ns = s->now;
    if (t->lba < a->sectors && sectors <= a->sectors - t->lba)
        return true;
    ata_fail_at(t, ATA_IDNF, t->lba < a->sectors ? a->sectors : t->lba);
    return false;
}

/* How a command that reached the medium ends (ACS-4 6.2): at the first sector that cannot be read, or with ABRT where
 * nothing can be written any more. */
static void ends(struct sim *s, struct ata_task *t, uint32_t sectors, int rc)
{
    if (rc == -ENODATA) {
        ata_fail_at(t, ATA_UNC, flaw_first_lost(s, t->lba * ATA_SECTOR, (uint64_t)sectors * ATA_SECTOR) / ATA_SECTOR);
    } else if (rc == -EIO) {
        ata_abort(t);
    } else if (rc) {
        t->out.status |= ATA_STATUS_DF;
        ata_abort(t);
    }
}

static void read_sectors(struct sim *s, struct ata_task *t, uint32_t sectors)
{
    if (reach(s, t, sectors) && ata_data_in(t, sectors * ATA_SECTOR))
        ends(s, t, sectors, media_read(s, t->lba * ATA_SECTOR, t->data, sectors * ATA_SECTOR));
}

/* What was written stays when power goes: without a cache or with capacitors. */
static void settle(struct sim *s, bool at_once)
{
    if (at_once || !s->target.ata.write_cache)
        media_flush(s);
    if (at_once || !s->target.ata.write_cache || s->model.capacitors)
        target_changed(s);
}

static void write_sectors(struct sim *s, struct ata_task *t, uint32_t sectors, bool fua)
{
    if (!reach(s, t, sectors) || !ata_data_out(t, sectors * ATA_SECTOR))
        return;
    ends(s, t, sectors, media_write(s, t->lba * ATA_SECTOR, t->data, sectors * ATA_SECTOR));
    settle(s, fua);
}

void ata_read(struct sim *s, struct ata_task *t)
{
    read_sectors(s, t, sectors_of(t, t->count));
}

void ata_write(struct sim *s, struct ata_task *t)
{
    write_sectors(s, t, sectors_of(t, t->count), false);
}

void ata_write_fua(struct sim *s, struct ata_task *t)
{
    if (ata_has(s, ATA_HAS_FUA))
        write_sectors(s, t, sectors_of(t, t->count), true);
    else
        ata_abort(t);
}

/* NCQ: the number of sectors is in FEATURES, and FUA in DEVICE (ACS-4 7.21, 7.56). */
void ata_read_queued(struct sim *s, struct ata_task *t)
{
    if (s->target.ata.overlay_sata & 1)
        read_sectors(s, t, sectors_of(t, t->features));
    else
        ata_abort(t);
}

void ata_write_queued(struct sim *s, struct ata_task *t)
{
    if (s->target.ata.overlay_sata & 1)
        write_sectors(s, t, sectors_of(t, t->features), t->device & 0x80);
    else
        ata_abort(t);
}

void ata_verify(struct sim *s, struct ata_task *t)
{
    uint32_t sectors = sectors_of(t, t->count);
    if (ata_no_data(t) && reach(s, t, sectors))
        ends(s, t, sectors, media_verify(s, t->lba * ATA_SECTOR, (uint64_t)sectors * ATA_SECTOR));
}

void ata_data_set(struct sim *s, struct ata_task *t)
{
    uint32_t blocks = t->count;
    if (t->features != 1 || !blocks || blocks > ATA_TRIM_BLOCKS) {
        ata_abort(t);
        return;
    }
    if (!ata_data_out(t, blocks * ATA_SECTOR))
        return;
    uint32_t entries = blocks * ATA_SECTOR / ENTRY;
    uint64_t end = s->target.ata.sectors;
    /* All of them are looked at before the first is carried out. */
    for (uint32_t i = 0; i < entries; i++) {
        uint64_t entry = bytes_le64(t->data + i * ENTRY), lba = entry & 0xffffffffffff, sectors = entry >> 48;
        if (sectors && (lba >= end || sectors > end - lba)) {
            ata_fail_at(t, ATA_IDNF, lba < end ? end : lba);
            return;
        }
    }
    int rc = 0;
    for (uint32_t i = 0; i < entries && !rc; i++) {
        uint64_t entry = bytes_le64(t->data + i * ENTRY), lba = entry & 0xffffffffffff, sectors = entry >> 48;
        rc = media_trim(s, lba * ATA_SECTOR, sectors * ATA_SECTOR);
    }
    ends(s, t, 0, rc);
    settle(s, false);
}

void ata_flush(struct sim *s, struct ata_task *t)
{
    if (!ata_no_data(t))
        return;
    media_flush(s);
    target_changed(s);
}

void ata_multiple_mode(struct sim *s, struct ata_task *t)
{
    unsigned n = t->count & 0xff;
    if (n > 16 || (n & (n - 1)))
        ata_abort(t);
    else if (ata_no_data(t))
        s->target.ata.multiple = (uint8_t)n;
    target_changed(s);
}

/* ---- Features ---- */

/* SET FEATURES 10h and 90h (ACS-4 7.43.13). */
static bool set_sata(struct ata_state *a, unsigned feature, uint8_t on)
{
    switch (feature) {
    case 3: a->dipm = on; return true;
    case 6: a->preservation = on; return true;
    default: return false;
    }
}

static bool set_feature(struct sim *s, const struct ata_task *t)
{
    struct ata_state *a = &s->target.ata;
    uint8_t count = (uint8_t)t->count;
    switch (t->features & 0xff) {
    case 0x02: a->write_cache = 1; return true;
    case 0x82:
        media_flush(s);
        a->write_cache = 0;
        return true;
    case 0xaa: a->look_ahead = 1; return true;
    case 0x55: a->look_ahead = 0; return true;
    case 0x05:
        if (!count || count == 0xff)
            return false;
        a->apm = count;
        return true;
    case 0x85: a->apm = 0; return true;
    case 0x10: return set_sata(a, count, 1);
    case 0x90: return set_sata(a, count, 0);
    default: return false;
    }
}

void ata_set_features(struct sim *s, struct ata_task *t)
{
    if (!ata_no_data(t))
        return;
    if (!set_feature(s, t))
        ata_abort(t);
    target_changed(s);
}

/* ---- Power ---- */

void ata_check_power(struct sim *s, struct ata_task *t)
{
    struct ata_state *a = &s->target.ata;
    if (!ata_no_data(t))
        return;
    if (a->standby_ns && s->now - a->used_ns >= a->standby_ns)
        a->power = SATED_ATA_STANDBY_Z;
    t->out.count = a->power;
}

static void set_power(struct sim *s, struct ata_task *t, uint8_t power)
{
    if (!ata_no_data(t))
        return;
    if (power == SATED_ATA_STANDBY_Z)
        media_flush(s); /* ACS-4 7.53: the cache goes to the medium first */
    s->target.ata.power = power;
    target_changed(s);
}

/* ACS-4 table 57: what COUNT means to the standby timer. */
static int64_t timer_ns(unsigned code)
{
    int64_t second = 1000000000;
    if (code <= 240)
        return 5 * second * code;
    if (code <= 251)
        return 1800 * second * (code - 240);
    return code == 252 ? 1260 * second : code == 253 ? 8 * 3600 * second : code == 254 ? 0 : 1275 * second;
}

static void set_timer(struct sim *s, struct ata_task *t, uint8_t power)
{
    set_power(s, t, power);
    if (t->out.status & ATA_STATUS_ERR)
        return;
    s->target.ata.standby_ns = timer_ns(t->count & 0xff) / (int64_t)s->model.scale;
    s->target.ata.used_ns = s->now;
}

void ata_standby_now(struct sim *s, struct ata_task *t)
{
    set_power(s, t, SATED_ATA_STANDBY_Z);
}

void ata_standby(struct sim *s, struct ata_task *t)
{
    set_timer(s, t, SATED_ATA_STANDBY_Z);
}

void ata_idle_now(struct sim *s, struct ata_task *t)
{
    set_power(s, t, SATED_ATA_IDLE);
}

void ata_idle(struct sim *s, struct ata_task *t)
{
    set_timer(s, t, SATED_ATA_IDLE);
}

/* Only a reset wakes a drive that sleeps; the host adapter makes one as soon as there is a command. */
void ata_sleep(struct sim *s, struct ata_task *t)
{
    set_power(s, t, SATED_ATA_STANDBY_Z);
}
