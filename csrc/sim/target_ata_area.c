/* SPDX-License-Identifier: MIT */
/* What hides sectors: Host Protected Area with its own security (ATA8-ACS 4.10, 7.31, 7.52), Accessible Max Address
 * Configuration (ACS-4 7.2) and Device Configuration Overlay (ACS-2 4.8, 7.7). */
#include <string.h>

#include "sim/target_ata_inside.h"

#define LAST_28 0x0fffffffULL
#define READ_NATIVE 0xf8
#define READ_NATIVE_EXT 0x27

static void put_last(struct ata_task *t, uint64_t lba)
{
    t->out.lba = lba;
}

void ata_read_native(struct sim *s, struct ata_task *t)
{
    uint64_t last = s->target.ata.overlay_sectors - 1;
    if (!ata_has_hpa(s))
        ata_abort(t);
    else if (ata_no_data(t))
        put_last(t, t->command == READ_NATIVE && last > LAST_28 ? LAST_28 : last);
}

/* ---- Host Protected Area ---- */

static bool is_hidden(const struct ata_state *a)
{
    return a->sectors != a->overlay_sectors;
}

static void set_address(struct sim *s, struct ata_task *t)
{
    struct ata_state *a = &s->target.ata;
    bool ext = t->command == 0x37, keep = t->count & 1;
    if (a->max_lock >= ATA_MAX_LOCKED || a->previous != (ext ? READ_NATIVE_EXT : READ_NATIVE) ||
        (is_hidden(a) && a->max_ext != ext) || t->lba >= a->overlay_sectors) {
        ata_abort(t);
        return;
    }
    if (keep && a->max_kept) { /* once in a power cycle (ATA8-ACS 7.52.2, IDNF) */
        ata_fail_at(t, ATA_IDNF, t->lba);
        return;
    }
    put_last(t, t->lba);
    a->max_ext = ext;
    if (keep) {
        a->kept_sectors = t->lba + 1;
        a->kept_ext = ext;
        a->max_kept = 1;
    }
    ata_set_sectors(s, t->lba + 1);
}

static void set_password(struct ata_state *a, struct ata_task *t)
{
    if (a->max_lock >= ATA_MAX_LOCKED) {
        ata_abort(t);
    } else if (ata_data_out(t, 512)) {
        memcpy(a->max_password, t->data + 2, sizeof a->max_password);
        a->max_lock = ATA_MAX_UNLOCKED;
    }
}

static void lock(struct ata_state *a, struct ata_task *t)
{
    if (a->max_lock != ATA_MAX_UNLOCKED && a->max_lock != ATA_MAX_LOCKED) {
        ata_abort(t);
    } else if (ata_no_data(t)) {
        if (a->max_lock == ATA_MAX_UNLOCKED)
            a->max_tries = ATA_TRIES;
        a->max_lock = ATA_MAX_LOCKED;
    }
}

static void unlock(struct ata_state *a, struct ata_task *t)
{
    if (a->max_lock != ATA_MAX_LOCKED || !a->max_tries) {
        ata_abort(t);
    } else if (ata_data_out(t, 512)) {
        if (!memcmp(a->max_password, t->data + 2, sizeof a->max_password)) {
            a->max_lock = ATA_MAX_UNLOCKED;
        } else {
            a->max_tries--;
            ata_abort(t);
        }
    }
}

static void freeze(struct ata_state *a, struct ata_task *t)
{
    if (a->max_lock != ATA_MAX_UNLOCKED && a->max_lock != ATA_MAX_LOCKED)
        ata_abort(t);
    else if (ata_no_data(t))
        a->max_lock = ATA_MAX_FROZEN;
}

void ata_set_max(struct sim *s, struct ata_task *t)
{
    struct ata_state *a = &s->target.ata;
    bool address = t->command == 0x37 || a->previous == READ_NATIVE; /* ATA8-ACS 7.52.1: whatever FEATURES says */
    if (!ata_has_hpa(s)) {
        ata_abort(t);
        return;
    }
    switch (address ? 0 : t->features & 0xff) {
    case 0:
        if (ata_no_data(t))
            set_address(s, t);
        break;
    case 1: set_password(a, t); break;
    case 2: lock(a, t); break;
    case 3: unlock(a, t); break;
    case 4: freeze(a, t); break;
    default: ata_abort(t);
    }
    target_changed(s);
}

/* ---- Accessible Max Address Configuration ---- */

void ata_accessible_max(struct sim *s, struct ata_task *t)
{
    struct ata_state *a = &s->target.ata;
    if (!ata_has_amac(s) || t->features > 2 || (t->features && a->locked)) {
        ata_abort(t);
        return;
    }
    if (!ata_no_data(t))
        return;
    if (t->features == 0) {
        put_last(t, a->overlay_sectors - 1);
        return;
    }
    if (t->features == 2) {
        a->max_frozen = 1;
    } else if (a->max_frozen || a->max_kept || t->lba >= a->overlay_sectors) {
        ata_abort(t);
    } else {
        put_last(t, t->lba);
        a->max_kept = 1;
        a->kept_sectors = t->lba + 1;
        ata_set_sectors(s, a->kept_sectors);
    }
    target_changed(s);
}

/* ---- Device Configuration Overlay ---- */

static void put_overlay(const struct sim *s, uint8_t *data)
{
    bytes_put_le16(data, 2);
    bytes_put_le16(data + 2, ATA_OVERLAY_MDMA);
    bytes_put_le16(data + 4, ATA_OVERLAY_UDMA);
    bytes_put_le64(data + 6, ata_all_sectors(s) - 1);
    bytes_put_le16(data + 14, ATA_OVERLAY_FEATURES);
    bytes_put_le16(data + 16, ATA_OVERLAY_SATA);
    data[510] = 0xa5;
    ata_put_checksum(data, 512);
}

static bool is_whole(const uint8_t *data)
{
    uint8_t sum = 0;
    for (unsigned i = 0; i < 512; i++)
        sum = (uint8_t)(sum + data[i]);
    return data[510] == 0xa5 && !sum;
}

/* What ACS-2 7.7.6 does not let be changed: anything that IDENTIFY does not list, and security while it is in use. */
static bool may_set(const struct sim *s, const uint8_t *data)
{
    unsigned features = bytes_le16(data + 14);
    return is_whole(data) && (data[0] == 1 || data[0] == 2) && !(bytes_le16(data + 2) & ~ATA_OVERLAY_MDMA) &&
           !(bytes_le16(data + 4) & ~ATA_OVERLAY_UDMA) && bytes_le64(data + 6) < ata_all_sectors(s) &&
           !(features & ~(unsigned)ATA_OVERLAY_FEATURES) && !(bytes_le16(data + 16) & ~ATA_OVERLAY_SATA) &&
           !(s->target.ata.enabled && !(features & ATA_HAS_SECURITY));
}

static void overlay_size(struct sim *s, uint64_t sectors)
{
    struct ata_state *a = &s->target.ata;
    a->overlay_sectors = a->kept_sectors = sectors;
    ata_set_sectors(s, sectors);
}

static void overlay_set(struct sim *s, const uint8_t *data)
{
    struct ata_state *a = &s->target.ata;
    a->overlay_mdma = bytes_le16(data + 2);
    a->overlay_udma = bytes_le16(data + 4);
    a->overlay_features = bytes_le16(data + 14);
    a->overlay_sata = bytes_le16(data + 16);
    a->overlay_set = 1;
    overlay_size(s, bytes_le64(data + 6) + 1);
}

static void overlay_restore(struct sim *s)
{
    struct ata_state *a = &s->target.ata;
    a->overlay_mdma = ATA_OVERLAY_MDMA;
    a->overlay_udma = ATA_OVERLAY_UDMA;
    a->overlay_features = ATA_OVERLAY_FEATURES;
    a->overlay_sata = ATA_OVERLAY_SATA;
    a->overlay_set = 0;
    overlay_size(s, ata_all_sectors(s));
}

void ata_overlay(struct sim *s, struct ata_task *t)
{
    struct ata_state *a = &s->target.ata;
    bool hidden = is_hidden(a) || a->kept_sectors != a->overlay_sectors;
    if (ata_has_amac(s) || a->overlay_frozen) {
        ata_abort(t);
        return;
    }
    switch (t->features & 0xff) {
    case 0xc0: /* RESTORE */
        if (hidden)
            ata_abort(t);
        else if (ata_no_data(t))
            overlay_restore(s);
        break;
    case 0xc1: /* FREEZE LOCK */
        if (ata_no_data(t))
            a->overlay_frozen = 1;
        break;
    case 0xc2: /* IDENTIFY */
        if (ata_data_in(t, 512))
            put_overlay(s, t->data);
        return;
    case 0xc3: /* SET: not on top of another one */
        if (!ata_data_out(t, 512))
            break;
        if (hidden || a->overlay_set || !may_set(s, t->data))
            ata_abort(t);
        else
            overlay_set(s, t->data);
        break;
    default: ata_abort(t);
    }
    target_changed(s);
}
