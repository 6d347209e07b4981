/* SPDX-License-Identifier: MIT */
/* Settings: before and after, and set back whatever happens in between. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "drive/journal.h"
#include "drive/provision_inside.h"
#include "drive/settings_inside.h"
#include "transport/refresh.h"

#define OPERATION "settings"

static const struct {
    uint32_t which;
    const char *name; /* in the journal */
} names[] = {
    {SATED_SETTING_WRITE_CACHE, "write_cache"},
    {SATED_SETTING_LOOK_AHEAD, "look_ahead"},
    {SATED_SETTING_APM, "apm"},
    {SATED_SETTING_POWER_STATE, "power_state"},
    {SATED_SETTING_APST, "apst"},
    {SATED_SETTING_BLOCK, "logical_block_bytes"},
};
#define NAMES (sizeof names / sizeof *names)

static uint32_t value_of(const struct sated_settings *s, uint32_t which)
{
    switch (which) {
    case SATED_SETTING_WRITE_CACHE: return s->write_cache;
    case SATED_SETTING_LOOK_AHEAD: return s->look_ahead;
    case SATED_SETTING_APM: return s->apm;
    case SATED_SETTING_POWER_STATE: return s->power_state;
    case SATED_SETTING_APST: return s->apst;
    default: return s->logical_block_bytes;
    }
}

static void take_value(struct sated_settings *s, uint32_t which, uint32_t value)
{
    s->known |= which;
    switch (which) {
    case SATED_SETTING_WRITE_CACHE: s->write_cache = value; break;
    case SATED_SETTING_LOOK_AHEAD: s->look_ahead = value; break;
    case SATED_SETTING_APM: s->apm = value; break;
    case SATED_SETTING_POWER_STATE: s->power_state = value; break;
    case SATED_SETTING_APST: s->apst = value; break;
    default: s->logical_block_bytes = value;
    }
}

/* @param out receives the protocol's way. Return: 0, or why there is none. */
static int way_of(struct sated_drive *d, const struct settings_way **out)
{
    int rc = handle_need_idle(d, "its settings cannot be looked at or changed");
    if (rc)
        return rc;
    if (!provision_way(d))
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE, "%s: has no settings: it takes no commands", d->path);
    *out = d->identity.protocol == SATED_PROTOCOL_ATA    ? &settings_ata
           : d->identity.protocol == SATED_PROTOCOL_SCSI ? &settings_scsi
                                                         : &settings_nvme;
    return 0;
}

int sated_drive_get_settings(struct sated_drive *d, struct sated_settings *out)
{
    const struct settings_way *way;
    memset(out, 0, sizeof *out);
    int rc = way_of(d, &way);
    if (!rc)
        rc = way->get(d, out);
    if (!rc && d->identity.logical_block_bytes) {
        take_value(out, SATED_SETTING_BLOCK, d->identity.logical_block_bytes);
        if (d->identity.protocol != SATED_PROTOCOL_ATA)
            out->changeable |= SATED_SETTING_BLOCK;
    }
    return rc;
}

/* ---- The journal ---- */

/* All that can be set is in it as it was first, so that whatever is changed later is found there too. */
static int begin(struct journal **out, struct sated_drive *d, const struct sated_settings *before)
{
    struct text plan = {0};
    int rc = journal_find(out, d, OPERATION);
    if (rc)
        return rc < 0 ? rc : 0;
    text_say(&plan, "{");
    for (size_t i = 0; i < NAMES; i++)
        if (before->changeable & names[i].which && names[i].which != SATED_SETTING_BLOCK)
            text_say(&plan, "%s\"%s\": %" PRIu32, plan.used > 1 ? ", " : "", names[i].name,
                     value_of(before, names[i].which));
    text_say(&plan, "}");
    rc = plan.failed ? error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for a plan", d->path)
                     : journal_start(out, d, OPERATION, plan.data);
    free(plan.data);
    return rc;
}

static int read_plan(const struct sated_drive *d, struct sated_settings *out, const struct journal *j)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < NAMES; i++) {
        const struct json *at = json_get(journal_plan(j), names[i].name);
        bool is_value = at && at->kind == JSON_NUMBER && at->whole && !at->negative && at->value <= UINT8_MAX;
        if (at && !is_value) /* the others alone would be called all */
            return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                             "%s: the journal of how it was set before, begun %s, has no value of this version for %s; "
                             "look at it, move it away, and set by `sated settings` what is to be set",
                             d->path, journal_began(j), names[i].name);
        if (at)
            take_value(out, names[i].which, (uint32_t)at->value);
    }
    return 0;
}

/* ---- Changing ---- */

static int check(const struct sated_drive *d, const struct sated_settings *now, const struct sated_settings *wanted)
{
    for (size_t i = 0; i < NAMES; i++)
        if (wanted->known & names[i].which && !(now->changeable & names[i].which))
            return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                             "%s: %s cannot be set; `sated settings %s` shows what it has", d->path, names[i].name,
                             d->path);
    if (wanted->known & SATED_SETTING_BLOCK && !wanted->logical_block_bytes)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "%s: blocks of 0 bytes: give a size that it has, such as 512 or 4096", d->path);
    if (wanted->known & SATED_SETTING_APM && wanted->apm > 254)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "%s: apm %" PRIu32 ": give a level from 1, the least power, to 254, or 0 for off", d->path,
                         wanted->apm);
    return 0;
}

/* Those that differ. @param j NULL where nothing keeps what was. */
static int set_each(struct sated_drive *d, const struct settings_way *way, const struct sated_settings *now,
                    const struct sated_settings *wanted, struct journal *j)
{
    char step[64];
    int rc = 0;
    for (size_t i = 0; !rc && i < NAMES; i++) {
        uint32_t which = names[i].which, value = value_of(wanted, which);
        if (which == SATED_SETTING_BLOCK || !(wanted->known & which) || value == value_of(now, which))
            continue;
        snprintf(step, sizeof step, "%s %" PRIu32, names[i].name, value);
        rc = handle_check_same(d);
        if (!rc && j)
            rc = journal_step(j, step);
        if (!rc)
            rc = way->set(d, which, wanted);
    }
    return rc;
}

/* The drive is asked whether it did so: some say yes, and do not. */
static int check_done(struct sated_drive *d, const struct settings_way *way, const struct sated_settings *wanted)
{
    struct sated_settings now = {.known = 0};
    int rc = way->get(d, &now);
    for (size_t i = 0; !rc && i < NAMES; i++) {
        uint32_t which = names[i].which;
        if (which != SATED_SETTING_BLOCK && wanted->known & which && value_of(&now, which) != value_of(wanted, which))
            return error_set(-EIO, SATED_LAYER_DRIVE,
                             "%s: took %s = %" PRIu32 ", but tells %" PRIu32 "; it does not let that be changed",
                             d->path, names[i].name, value_of(wanted, which), value_of(&now, which));
    }
    return rc;
}

int sated_drive_set_settings(struct sated_drive *d, const struct sated_settings *wanted, bool passing)
{
    struct sated_settings now;
    const struct settings_way *way;
    struct journal *j = NULL;
    int rc = handle_need_permit(d, HANDLE_BLOCKS, "changing its settings");
    if (!rc)
        rc = way_of(d, &way);
    if (!rc)
        rc = sated_drive_get_settings(d, &now);
    if (!rc)
        rc = check(d, &now, wanted);
    if (!rc && way->check)
        rc = way->check(d, wanted);
    if (!rc && passing)
        rc = begin(&j, d, &now);
    if (rc)
        return rc;
    rc = set_each(d, way, &now, wanted, j);
    journal_leave(j);
    if (!rc)
        rc = check_done(d, way, wanted);
    if (!rc)
        rc = handle_refresh(d); /* the kernel has a view of its own of the write cache */
    if (rc || !(wanted->known & SATED_SETTING_BLOCK))
        return rc;
    return change_start(d, CHANGE_BLOCK, UINT64_MAX, wanted->logical_block_bytes);
}

int sated_drive_restore_settings(struct sated_drive *d, struct sated_settings *restored)
{
    struct sated_settings now, wanted;
    const struct settings_way *way;
    struct journal *j = NULL;
    if (restored)
        memset(restored, 0, sizeof *restored);
    int rc = journal_find(&j, d, OPERATION);
    if (rc <= 0)
        return rc;
    rc = read_plan(d, &wanted, j);
    if (!rc)
        rc = handle_need_permit(d, HANDLE_BLOCKS, "setting back its settings");
    if (!rc)
        rc = way_of(d, &way);
    if (!rc)
        rc = sated_drive_get_settings(d, &now);
    if (!rc)
        rc = set_each(d, way, &now, &wanted, j);
    if (!rc)
        rc = check_done(d, way, &wanted);
    if (rc) {
        struct sated_detail detail = *error_last();
        journal_leave(j);
        return error_copy(&detail);
    }
    rc = journal_finish(j);
    if (!rc)
        rc = handle_refresh(d);
    if (!rc && restored)
        *restored = wanted;
    return rc ? rc : 1;
}
