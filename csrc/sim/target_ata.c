/* SPDX-License-Identifier: MIT */
/* The simulated ATA drive: which commands there are, and what they have in common. */
#include <string.h>

#include "sim/sim.h"
#include "sim/target_ata_inside.h"

/* When a command is refused whatever it says. */
enum {
    LOCKED = 1,   /* while security is locked (ACS-4 4.18.6, table of security command actions) */
    SANITIZE = 2, /* not even while a sanitize operation goes on, or has failed (ACS-4 4.17.9) */
    SECURITY = 4, /* the drive has no Security feature set: an overlay took it away */
};

static const struct {
    uint8_t command, flags;
    ata_run *run;
} commands[] = {
    {0x06, LOCKED, ata_data_set},
    {0x20, LOCKED, ata_read},
    {0x21, LOCKED, ata_read},
    {0x24, LOCKED, ata_read},
    {0x25, LOCKED, ata_read},
    {0x27, 0, ata_read_native},
    {0x29, LOCKED, ata_read},
    {0x2f, SANITIZE, ata_read_log},
    {0x30, LOCKED, ata_write},
    {0x31, LOCKED, ata_write},
    {0x34, LOCKED, ata_write},
    {0x35, LOCKED, ata_write},
    {0x37, LOCKED, ata_set_max},
    {0x39, LOCKED, ata_write},
    {0x3d, LOCKED, ata_write_fua},
    {0x40, LOCKED, ata_verify},
    {0x41, LOCKED, ata_verify},
    {0x42, LOCKED, ata_verify},
    {0x47, SANITIZE, ata_read_log},
    {0x60, LOCKED, ata_read_queued},
    {0x61, LOCKED, ata_write_queued},
    {0x78, 0, ata_accessible_max},
    {0xb0, SANITIZE, ata_smart},
    {0xb1, LOCKED, ata_overlay},
    {0xb4, SANITIZE, ata_sanitize},
    {0xc4, LOCKED, ata_read},
    {0xc5, LOCKED, ata_write},
    {0xc6, 0, ata_multiple_mode},
    {0xc8, LOCKED, ata_read},
    {0xc9, LOCKED, ata_read},
    {0xca, LOCKED, ata_write},
    {0xcb, LOCKED, ata_write},
    {0xce, LOCKED, ata_write_fua},
    {0xe0, 0, ata_standby_now},
    {0xe1, 0, ata_idle_now},
    {0xe2, 0, ata_standby},
    {0xe3, 0, ata_idle},
    {0xe5, SANITIZE, ata_check_power},
    {0xe6, 0, ata_sleep},
    {0xe7, LOCKED, ata_flush},
    {0xea, LOCKED, ata_flush},
    {0xec, SANITIZE, ata_identify_device},
    {0xef, 0, ata_set_features},
    {0xf1, LOCKED | SECURITY, ata_security_set},
    {0xf2, SECURITY, ata_security_unlock},
    {0xf3, SECURITY, ata_security_prepare},
    {0xf4, SECURITY, ata_security_erase},
    {0xf5, LOCKED | SECURITY, ata_security_freeze},
    {0xf6, LOCKED | SECURITY, ata_security_disable},
    {0xf8, 0, ata_read_native},
    {0xf9, LOCKED, ata_set_max},
};

void ata_abort(struct ata_task *t)
{
    ata_fail_at(t, ATA_ABRT, 0);
}

void ata_fail_at(struct ata_task *t, uint8_t error, uint64_t lba)
{
    t->out.status |= ATA_STATUS_ERR;
    t->out.error = error;
    t->out.lba = lba;
    t->moved = 0;
}

static bool moves(struct ata_task *t, uint32_t direction, uint32_t bytes)
{
    if (t->direction == direction && t->data_len >= bytes)
        return true;
    ata_abort(t);
    return false;
}

bool ata_no_data(struct ata_task *t)
{
    return moves(t, SATED_DATA_NONE, 0);
}

bool ata_data_in(struct ata_task *t, uint32_t bytes)
{
    if (!moves(t, SATED_DATA_IN, bytes))
        return false;
    memset(t->data, 0, bytes);
    t->moved = bytes;
    return true;
}

bool ata_data_out(struct ata_task *t, uint32_t bytes)
{
    if (!moves(t, SATED_DATA_OUT, bytes))
        return false;
    t->moved = bytes;
    return true;
}

void ata_put_checksum(uint8_t *data, size_t n)
{
    uint8_t sum = 0;
    for (size_t i = 0; i + 1 < n; i++)
        sum = (uint8_t)(sum + data[i]);
    data[n - 1] = (uint8_t)-sum;
}

void ata_update_block(struct sim *s)
{
    const struct ata_state *a = &s->target.ata;
    target_set_window(s, 0, s->limit_bytes, a->locked || a->sanitize_failed || ata_is_erasing(s));
}

void ata_set_sectors(struct sim *s, uint64_t sectors)
{
    s->target.ata.sectors = sectors;
    s->limit_bytes = sectors * ATA_SECTOR;
    ata_update_block(s);
}

bool ata_is_erasing(const struct sim *s)
{
    return operation_sanitizes(s) || s->target.operation.kind == OPERATION_SECURITY_ERASE;
}

void ata_carry_out(struct sim *s, struct ata_task *t)
{
    struct ata_state *a = &s->target.ata;
    t->out = (struct ata_registers){.status = ATA_STATUS_GOOD, .device = t->device & 0xf0};
    t->moved = 0;
    /* A SECURITY ERASE UNIT that its host no longer waits for: the drive is busy with it. */
    if (s->target.operation.kind == OPERATION_SECURITY_ERASE) {
        t->silent = true;
        return;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (commands[i].command != t->command)
            continue;
        unsigned flags = commands[i].flags;
        if ((flags & LOCKED && a->locked) || (flags & SECURITY && !ata_has(s, ATA_HAS_SECURITY)) ||
            (!(flags & SANITIZE) && (operation_sanitizes(s) || a->sanitize_failed)))
            break;
        media_spend(s, ATA_NON_DATA_NS);
        commands[i].run(s, t);
        a->previous = t->out.status & ATA_STATUS_ERR ? 0 : t->command;
        return;
    }
    media_spend(s, ATA_NON_DATA_NS);
    a->previous = 0;
    ata_abort(t);
}

/* What power-on leaves, and a new drive has (ACS-4: the power-on defaults of each feature). */
static void reset(struct sim *s)
{
    struct ata_state *a = &s->target.ata;
    a->locked = a->enabled;
    a->frozen = a->previous = 0;
    a->tries = ATA_TRIES;
    a->sanitize_frozen = a->sanitize_antifreeze = 0;
    a->max_ext = a->kept_ext;
    a->max_kept = a->max_lock = a->max_tries = a->max_frozen = a->overlay_frozen = 0;
    memset(a->max_password, 0, sizeof a->max_password);
    a->write_cache = a->look_ahead = a->preservation = 1;
    a->dipm = a->offline = a->descriptors = 0;
    a->apm = 0xfe;
    a->multiple = 16;
    a->power = SATED_ATA_ACTIVE_OR_IDLE;
    a->standby_ns = 0;
    a->used_ns = s->now;
}

void ata_init(struct sim *s)
{
    struct ata_state *a = &s->target.ata;
    a->sectors = a->kept_sectors = a->overlay_sectors = ata_all_sectors(s);
    a->overlay_features = ATA_OVERLAY_FEATURES;
    a->overlay_sata = ATA_OVERLAY_SATA;
    a->overlay_mdma = ATA_OVERLAY_MDMA;
    a->overlay_udma = ATA_OVERLAY_UDMA;
    a->master_revision = 0xfffe; /* the password is still the maker's, here 32 bytes of zero */
    a->smart = 1;
    reset(s);
}

void ata_power_on(struct sim *s)
{
    struct operation o = s->target.operation;
    reset(s);
    if (o.kind == OPERATION_SECURITY_ERASE)
        ata_security_broken_off(s, &o);
    else if (o.kind == OPERATION_SELF_TEST)
        ata_test_ended(s, &o, 2 << 4);
    if (!operation_sanitizes(s))
        operation_stop(s);
    if (s->target.ata.sectors != s->target.ata.kept_sectors)
        ata_set_sectors(s, s->target.ata.kept_sectors);
    ata_update_block(s);
}

void ata_finish(struct sim *s, const struct operation *o)
{
    switch (o->kind) {
    case OPERATION_SECURITY_ERASE: ata_security_erased(s, o); break;
    case OPERATION_SELF_TEST: ata_test_ended(s, o, o->fails ? 7 << 4 : 0); break;
    default: ata_sanitize_ended(s, o);
    }
    operation_stop(s);
    ata_update_block(s);
}

const char *ata_check(const struct sim *s)
{
    const struct ata_state *a = &s->target.ata;
    const struct operation *o = &s->target.operation;
    const uint8_t flags[] = {a->enabled,
                             a->maximum,
                             a->locked,
                             a->frozen,
                             a->sanitized,
                             a->sanitize_failed,
                             a->sanitize_may_end,
                             a->sanitize_frozen,
                             a->sanitize_antifreeze,
                             a->max_ext,
                             a->kept_ext,
                             a->max_kept,
                             a->max_frozen,
                             a->overlay_set,
                             a->overlay_frozen,
                             a->smart,
                             a->write_cache,
                             a->look_ahead,
                             a->dipm,
                             a->preservation,
                             a->offline,
                             a->descriptors};
    for (size_t i = 0; i < sizeof flags; i++)
        if (flags[i] > 1)
            return "a setting of it is neither on nor off";
    if (!a->sectors || !a->kept_sectors || a->sectors > a->overlay_sectors || a->kept_sectors > a->overlay_sectors ||
        a->overlay_sectors > ata_all_sectors(s) || s->base_bytes || s->limit_bytes > a->sectors * ATA_SECTOR)
        return "it has more sectors than there are, or none";
    if (a->n_tests > ATA_TESTS || a->tries > ATA_TRIES || a->max_tries > ATA_TRIES || a->max_lock > ATA_MAX_FROZEN ||
        a->multiple > 16 || a->used_ns < 0 || a->used_ns > s->now || a->standby_ns < 0)
        return "a count or a time of it is out of range";
    if (a->overlay_features & ~ATA_OVERLAY_FEATURES || a->overlay_sata & ~ATA_OVERLAY_SATA ||
        a->overlay_mdma & ~ATA_OVERLAY_MDMA || a->overlay_udma & ~ATA_OVERLAY_UDMA)
        return "its overlay has features that it never had";
    if (a->locked && !a->enabled)
        return "it is locked without a password";
    if (o->kind == OPERATION_SECURITY_ERASE && o->argument[1] > ata_all_sectors(s))
        return "it erases more than there is";
    if (o->kind == OPERATION_FORMAT || (ata_is_erasing(s) && a->sanitize_failed) ||
        (s->target.blocked != 0) != (a->locked || a->sanitize_failed || ata_is_erasing(s)))
        return "what goes on in it is nothing that an ATA drive does";
    return NULL;
}
