/* SPDX-License-Identifier: MIT */
/* The Security feature set (ACS-4 4.18, 7.37 to 7.42). The master password that the maker set is 32 bytes of zero. */
#include <string.h>

#include "sim/target_ata_inside.h"

#define PASSWORD 32

/* Word 0 of the data (ACS-4 7.41.3, 7.39.3). */
static bool is_master(const struct ata_task *t)
{
    return t->data[0] & 1;
}

/* Whether the data's password is the one that it says it is. A user password that was never set fits nothing. */
static bool fits(const struct ata_state *a, const struct ata_task *t)
{
    if (!is_master(t))
        return a->enabled && !memcmp(t->data + 2, a->user_password, PASSWORD);
    return !memcmp(t->data + 2, a->master_password, PASSWORD);
}

/* With level maximum the master password opens nothing; it can only erase. */
static bool opens(const struct ata_state *a, const struct ata_task *t)
{
    return fits(a, t) && !(is_master(t) && a->enabled && a->maximum);
}

static bool takes_data(const struct ata_state *a, struct ata_task *t)
{
    if (!a->frozen)
        return ata_data_out(t, 512);
    ata_abort(t);
    return false;
}

void ata_security_set(struct sim *s, struct ata_task *t)
{
    struct ata_state *a = &s->target.ata;
    if (!takes_data(a, t))
        return;
    if (is_master(t)) {
        uint16_t revision = bytes_le16(t->data + 34);
        memcpy(a->master_password, t->data + 2, PASSWORD);
        if (revision && revision != 0xffff)
            a->master_revision = revision;
    } else {
        memcpy(a->user_password, t->data + 2, PASSWORD);
        a->maximum = t->data[1] & 1;
        a->enabled = 1;
    }
    target_changed(s);
}

/* A wrong password counts only while the drive is locked (ACS-4 4.18.9). */
void ata_security_unlock(struct sim *s, struct ata_task *t)
{
    struct ata_state *a = &s->target.ata;
    if (!takes_data(a, t))
        return;
    if (!a->tries || !opens(a, t)) {
        if (a->locked && a->tries)
            a->tries--;
        ata_abort(t);
    } else {
        a->locked = 0;
        ata_update_block(s);
    }
    target_changed(s);
}

void ata_security_prepare(struct sim *s, struct ata_task *t)
{
    if (s->target.ata.frozen)
        ata_abort(t);
    else
        ata_no_data(t);
}

static void user_password_off(struct ata_state *a)
{
    memset(a->user_password, 0, sizeof a->user_password);
    a->enabled = a->maximum = a->locked = 0;
}

void ata_security_erase(struct sim *s, struct ata_task *t)
{
    struct ata_state *a = &s->target.ata;
    if (!takes_data(a, t))
        return;
    bool enhanced = t->data[0] & 2;
    if (a->previous != 0xf3 || !a->tries || !fits(a, t)) {
        ata_abort(t);
        return;
    }
    if (s->target.operation.kind == OPERATION_SELF_TEST)
        ata_test_ended(s, &s->target.operation, 1 << 4);
    operation_start(s, OPERATION_SECURITY_ERASE, media_erase_ns(s));
    s->target.operation.argument[0] = enhanced;
    s->target.operation.argument[1] = a->sectors;
    bool fails = s->target.operation.fails;
    ata_update_block(s);
    if (!operation_wait(s))
        t->silent = true;
    else if (fails)
        ata_abort(t);
}

/* The normal erase reaches what can be addressed (ACS-4 7.39.2), the enhanced one all there is. */
static void erase(struct sim *s, bool enhanced, uint64_t sectors)
{
    uint64_t bytes = sectors * ATA_SECTOR, rest = bytes % s->model.unit_bytes;
    if (enhanced || sectors == ata_all_sectors(s)) {
        media_erase(s);
        return;
    }
    media_erase_span(s, 0, bytes);
    media_trim(s, bytes - rest, rest); /* of a unit that is not wholly within, the part that is reads as zeros */
}

void ata_security_erased(struct sim *s, const struct operation *o)
{
    if (o->fails)
        return;
    erase(s, o->argument[0], o->argument[1]);
    user_password_off(&s->target.ata);
}

/* Power went meanwhile: part of it is gone, and the password still stands. */
void ata_security_broken_off(struct sim *s, const struct operation *o)
{
    uint64_t bytes = o->argument[0] ? ata_all_sectors(s) * ATA_SECTOR : o->argument[1] * ATA_SECTOR;
    uint64_t done = (uint64_t)((unsigned __int128)bytes * (uint64_t)o->before_ns / (uint64_t)o->length_ns);
    media_erase_span(s, 0, done / s->model.unit_bytes * s->model.unit_bytes);
}

void ata_security_freeze(struct sim *s, struct ata_task *t)
{
    if (ata_no_data(t))
        s->target.ata.frozen = 1;
    target_changed(s);
}

void ata_security_disable(struct sim *s, struct ata_task *t)
{
    struct ata_state *a = &s->target.ata;
    if (!takes_data(a, t))
        return;
    if (opens(a, t))
        user_password_off(a);
    else
        ata_abort(t);
    target_changed(s);
}
