/* SPDX-License-Identifier: MIT */
/* Purging ATA drives: the Sanitize Device and Security feature sets (ACS-4 4.17, 4.18), and TRIM. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sated/ata.h>

#include "core/buffer.h"
#include "drive/purge.h"
#include "protocol/known_ata.h"

#define MINUTE (60 * PURGE_SECOND)
#define TRIM_RANGES 64 /* in one block of 512 bytes */
#define MEDIUM_ERROR 3 /* sense key: how an adapter tells UNC, where it keeps the registers back */

enum { SET_PASSWORD = 0xf1, UNLOCK = 0xf2, ERASE_UNIT = 0xf4, DISABLE_PASSWORD = 0xf6 };

/* ---- Looking ---- */

static int identify(struct sated_drive *d, struct sated_ata_identify *out)
{
    struct sated_ata_command c;
    struct sated_reply reply;
    uint8_t data[512];
    int rc = sated_ata_build_identify_device(&c);
    if (!rc)
        rc = sated_ata_raw(d, &c, data, NULL, &reply);
    return rc ? rc : sated_ata_decode_identify(data, reply.data_len, out);
}

/* Return: 0 where the registers came, whatever they say; else an error. @param cut NULL, or set where they came in fixed
 * format, which has no room for COUNT 15:8 (SAT-4), and with it for all that tells how far a sanitize is. */
static int sanitize_status(struct sated_drive *d, bool clear, struct sated_ata_sanitize_status *out, bool *cut)
{
    struct sated_ata_command c;
    struct sated_ata_registers registers;
    int rc = sated_ata_build_sanitize_status(&c, clear);
    if (!rc)
        rc = sated_ata_raw(d, &c, NULL, &registers, NULL);
    if (rc && rc != SATED_ATA)
        return rc;
    if (cut)
        *cut = registers.source == SATED_ATA_REGISTERS_FIXED;
    return sated_ata_decode_sanitize_status(&registers, out);
}

static const uint32_t sanitizes[] = {SATED_PURGE_SANITIZE_BLOCK, SATED_PURGE_SANITIZE_CRYPTO,
                                     SATED_PURGE_SANITIZE_OVERWRITE};
static const uint32_t securities[] = {SATED_PURGE_SECURITY_ENHANCED, SATED_PURGE_SECURITY};

static void none_of(struct purge_look *l, const uint32_t *methods, size_t n, int code, const char *why)
{
    for (size_t i = 0; i < n; i++)
        if (l->way[methods[i]].supported)
            purge_has_not(l, methods[i], code, "%s", why);
}
#define NONE_OF(l, methods, code, why) none_of(l, methods, sizeof(methods) / sizeof *(methods), code, why)

/* What tells of a sanitize operation comes in registers; where a bridge keeps those back, a read tells at least that none
 * goes on or has failed, as then it is aborted (ACS-4 4.17.9). Return: 1 if it was, 0 if none does, or an error. */
static int ask_by_reading(struct sated_drive *d, const struct purge_look *l)
{
    struct sated_ata_command c;
    struct sated_detail before = *error_last();
    uint8_t *block = buffer_new(PURGE_PAGE);
    int rc = block ? sated_ata_build_read(&c, 0, 1, l->block_bytes, true, false)
                   : error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for a block", d->path);
    if (!rc)
        rc = sated_ata_raw(d, &c, block, NULL, NULL);
    buffer_free(block, PURGE_PAGE);
    const struct sated_detail *why = error_last();
    bool unreadable = rc == SATED_SENSE
                          ? why->sense_key == MEDIUM_ERROR
                          : rc == SATED_ATA && why->ata_error & 0x40 && !(why->ata_error & 4); /* UNC, ABRT */
    if (!rc || unreadable || purge_is_answer(rc)) {
        rc = rc && !unreadable;
        error_copy(&before);
    }
    return rc;
}

/* @param locked what aborts reads then is the lock. */
static int look_by_reading(struct sated_drive *d, struct purge_look *l, bool locked)
{
    int rc = locked || l->state || !l->blocks || l->block_bytes > PURGE_PAGE ? 0 : ask_by_reading(d, l);
    if (rc > 0)
        purge_finds(
            l, SATED_PURGE_UNCLEAR,
            "it does not read, as while a sanitize operation goes on or after one failed, and which, the registers "
            "would tell, which come back cut");
    return rc < 0 ? rc : 0;
}

static int take_sanitize(struct sated_drive *d, struct purge_look *l, const struct sated_ata_identify *id)
{
    const struct sated_ata_sanitize *s = &id->sanitize;
    const uint32_t has[] = {s->block_erase, s->crypto_scramble, s->overwrite};
    struct sated_ata_sanitize_status status = {0};
    bool cut = false;
    for (size_t i = 0; i < sizeof has / sizeof *has; i++)
        if (s->supported && has[i])
            purge_has(l, sanitizes[i], SATED_PURGE_PURGE, -1, true);
        else
            purge_has_not(l, sanitizes[i], SATED_UNSUPPORTED, "the drive does not have it (IDENTIFY word 59 is %04Xh)",
                          id->words[59]);
    int rc = s->supported ? sanitize_status(d, false, &status, &cut) : 0;
    if (rc && rc != SATED_UNSUPPORTED && purge_is_answer(rc)) /* without registers: see look_registers() */
        NONE_OF(l, sanitizes, SATED_UNSUPPORTED,
                "SANITIZE STATUS EXT does not get through, so nobody could tell its end");
    if (rc && !purge_is_answer(rc))
        return rc;
    if (rc)
        return look_by_reading(d, l, id->security.locked);
    if (!s->supported)
        return 0;
    if (status.failed && status.reason == SATED_ATA_SANITIZE_UNSUCCESSFUL)
        purge_finds(l, SATED_PURGE_FAILED, "a sanitize operation failed in it");
    else if (status.in_progress)
        purge_finds(l, SATED_PURGE_RUNNING, "a sanitize operation goes on in it (%u of 65536)", status.progress);
    l->progress = status.progress;
    if (cut)
        NONE_OF(l, sanitizes, SATED_UNSUPPORTED,
                "the registers of SANITIZE STATUS EXT come back cut (fixed format sense data), so that nobody could "
                "tell its end: attach the drive to a SATA port, or to another adapter");
    if (status.frozen)
        NONE_OF(
            l, sanitizes, SATED_FROZEN,
            "its Sanitize set is frozen (SANITIZE FREEZE LOCK) until it is switched off: power-cycle the drive, then "
            "try again");
    return cut ? look_by_reading(d, l, id->security.locked) : 0;
}

static int64_t minutes(bool known, uint32_t at_least, uint32_t value)
{
    return known && !at_least ? value * MINUTE : -1;
}

static void take_security(struct purge_look *l, const struct sated_ata_identify *id, bool usb_too, bool usb,
                          bool password)
{
    const struct sated_ata_security *s = &id->security;
    l->ata.enabled = s->enabled;
    l->ata.locked = s->locked;
    l->ata.maximum = s->level;
    if (!s->supported) {
        for (size_t i = 0; i < 2; i++)
            purge_has_not(l, securities[i], SATED_UNSUPPORTED,
                          "the drive has no Security set (IDENTIFY word 128 is %04Xh)", id->words[128]);
        return;
    }
    purge_has(l, SATED_PURGE_SECURITY, SATED_PURGE_CLEAR,
              minutes(IS_KNOWN(ata_security, s, erase_minutes), s->erase_at_least, s->erase_minutes), true);
    if (s->enhanced_erase)
        purge_has(l, SATED_PURGE_SECURITY_ENHANCED, SATED_PURGE_PURGE,
                  minutes(IS_KNOWN(ata_security, s, enhanced_minutes), s->enhanced_at_least, s->enhanced_minutes),
                  true);
    else
        purge_has_not(l, SATED_PURGE_SECURITY_ENHANCED, SATED_UNSUPPORTED,
                      "the drive has no enhanced erase (IDENTIFY word 128 bit 5)");
    if (usb && !usb_too)
        NONE_OF(l, securities, SATED_UNSAFE,
                "it is behind a USB bridge, and bridges are known that set the password but do not erase, which leaves "
                "the drive locked: attach it to a SATA port, or give --allow-usb-security (allow_usb_security)");
    if (s->frozen)
        NONE_OF(l, securities, SATED_FROZEN,
                "the drive is frozen (IDENTIFY word 128 bit 3): suspend and resume the machine or re-plug the drive, "
                "then try again");
    else if (s->count_expired)
        NONE_OF(l, securities, SATED_LOCKED,
                "five wrong passwords were tried (IDENTIFY word 128 bit 4): power-cycle the drive, then give the right "
                "one");
    else if (s->enabled && !password)
        NONE_OF(l, securities, SATED_LOCKED,
                "a user password is set (IDENTIFY word 128 bit 1): give it (--password), or --resume where an "
                "interrupted purge set it");
}

/* A locked drive sanitizes only where it says so in log 30h, which few do: the lock has to go first. */
static void look_lock(struct purge_look *l, const struct sated_ata_identify *id)
{
    char why[160];
    if (!l->ata.enabled || l->state)
        return;
    snprintf(l->what, sizeof l->what, "%s by a user password, level %s%s (IDENTIFY word 128 is %04Xh)",
             l->ata.locked ? "it is locked" : "it is not locked, but will be when it is switched on next,",
             l->ata.maximum ? "maximum" : "high", id->security.frozen ? ", and frozen" : "", id->words[128]);
    l->state = l->ata.locked ? SATED_PURGE_LOCKED : SATED_PURGE_PASSWORD;
    if (!l->ata.locked)
        return;
    snprintf(why, sizeof why, "it is locked by a user password (IDENTIFY word 128 is %04Xh)", id->words[128]);
    NONE_OF(l, sanitizes, SATED_LOCKED, why);
    NONE_OF(l, ((const uint32_t[]){SATED_PURGE_DEALLOCATE}), SATED_LOCKED, why);
}

static void take_trim(struct purge_look *l, const struct sated_ata_identify *id)
{
    l->ata.trim_blocks = id->trim.max_blocks ? id->trim.max_blocks : 1;
    if (id->trim.supported)
        purge_has(l, SATED_PURGE_DEALLOCATE, SATED_PURGE_ADVISORY, -1, false);
    else
        purge_has_not(l, SATED_PURGE_DEALLOCATE, SATED_UNSUPPORTED, "the drive has no TRIM (IDENTIFY word 169 bit 0)");
}

/* Bridges and adapters are known that hand no registers back: then nobody could tell what became of a command, and a
 * password would be set that nobody knows of. */
static void look_registers(struct sated_drive *d, struct purge_look *l)
{
    static const char why[] = "no registers come back from the drive (asked by CHECK POWER MODE), so that nobody could "
                              "tell what becomes of it: attach the drive to a SATA port, or to another adapter";
    struct sated_ata_command c;
    if (sated_ata_build_check_power_mode(&c) || sated_ata_raw(d, &c, NULL, NULL, NULL) != SATED_UNSUPPORTED)
        return;
    NONE_OF(l, sanitizes, SATED_UNSUPPORTED, why);
    NONE_OF(l, securities, SATED_UNSUPPORTED, why);
}

static int look(struct sated_drive *d, struct purge_look *l, bool usb_too, bool password)
{
    struct sated_ata_identify *id = malloc(sizeof *id);
    int rc = id ? identify(d, id) : error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for its identity", d->path);
    if (!rc) {
        l->blocks = id->capacity.sectors;
        l->block_bytes = (uint32_t)id->capacity.logical_block_bytes;
        l->ata.lba48 = IS_KNOWN(ata_capacity, &id->capacity, lba48_sectors);
        l->ata.erase_word[0] = id->words[89];
        l->ata.erase_word[1] = id->words[90];
        take_trim(l, id);
        rc = take_sanitize(d, l, id);
        take_security(l, id, usb_too, !strcmp(d->identity.transport, "usb"), password);
        look_lock(l, id);
    }
    if (!rc)
        look_registers(d, l);
    free(id);
    return rc;
}

/* ---- Security ---- */

/* With the password that was given, where the drive came with one; else with ours. */
static int security(struct sated_purge *p, uint32_t command, bool enhanced)
{
    struct sated_ata_command c;
    struct sated_ata_security_data data = {.command = command, .enhanced = enhanced};
    bool given = p->options.n_password && p->look.ata.enabled && command != SET_PASSWORD;
    data.n_password = given ? p->options.n_password : sizeof PURGE_PASSWORD - 1;
    data.master = given && p->options.master;
    memcpy(data.password, given ? (const void *)p->options.password : PURGE_PASSWORD, data.n_password);
    int rc = sated_ata_build_security_data(p->page, PURGE_PAGE, &data);
    memset(&data, 0, sizeof data);
    if (rc < 0)
        return rc;
    switch (command) {
    case SET_PASSWORD: rc = sated_ata_build_security_set_password(&c); break;
    case UNLOCK: rc = sated_ata_build_security_unlock(&c); break;
    case DISABLE_PASSWORD: rc = sated_ata_build_security_disable_password(&c); break;
    default:
        rc =
            sated_ata_build_security_erase_unit(&c,
                                                (uint32_t)sated_ata_erase_timeout_ms(p->look.ata.erase_word[enhanced]));
    }
    if (!rc)
        rc = sated_ata_raw(p->d, &c, p->page, NULL, NULL);
    memset(p->page, 0, 512);
    return rc;
}

static int not_ours(const struct sated_purge *p, const char *what)
{
    struct sated_detail detail = *error_last();
    int rc = error_set(SATED_LOCKED, SATED_LAYER_DRIVE,
                       "%s: %s: %s does not fit (level %s); give the right one (--password, with --master if it is the "
                       "master password); after five wrong ones the drive takes none until it is power-cycled",
                       p->d->path, what,
                       p->options.n_password ? "the password that was given"
                                             : "the lock is not one of a purge by sated: \"" PURGE_PASSWORD "\"",
                       p->look.ata.maximum ? "maximum" : "high");
    error_last()->ata_status = detail.ata_status;
    error_last()->ata_error = detail.ata_error;
    return rc;
}

/* With level maximum the master password unlocks nothing; it erases all the same (ACS-4 4.18). */
static int unlock(struct sated_purge *p)
{
    if (!p->look.ata.locked || (p->look.ata.maximum && p->options.n_password && p->options.master))
        return 0;
    int rc = purge_step(p, "SECURITY UNLOCK");
    if (!rc)
        rc = security(p, UNLOCK, false);
    return rc == SATED_ATA ? not_ours(p, "it stays locked") : rc;
}

static int disable(struct sated_purge *p)
{
    int rc = purge_step(p, "SECURITY DISABLE PASSWORD");
    return rc ? rc : security(p, DISABLE_PASSWORD, false);
}

static int set_password(struct sated_purge *p)
{
    purge_notice(p,
                 "%s: for the erase the user password is set to \"" PURGE_PASSWORD
                 "\", filled up by zeros to 32 bytes, at level high; it goes with the end of the erase. If it stays: "
                 "`sated purge %.100s --resume`, or: hdparm --user-master u --security-unlock " PURGE_PASSWORD
                 " DEVICE && hdparm --user-master u --security-disable " PURGE_PASSWORD " DEVICE",
                 p->d->path, p->d->path);
    int rc = purge_step(p, "SECURITY SET PASSWORD");
    return rc ? rc : security(p, SET_PASSWORD, false);
}

/* Nothing may come between the two (ACS-4 7.38). */
static int erase_unit(struct sated_purge *p, bool enhanced)
{
    struct sated_ata_command c;
    int rc = purge_step(p, enhanced ? "SECURITY ERASE PREPARE, SECURITY ERASE UNIT (enhanced)"
                                    : "SECURITY ERASE PREPARE, SECURITY ERASE UNIT");
    if (!rc)
        rc = sated_ata_build_security_erase_prepare(&c);
    if (!rc)
        rc = sated_ata_raw(p->d, &c, NULL, NULL, NULL);
    return rc ? rc : security(p, ERASE_UNIT, enhanced);
}

/* It was refused: a password that we set must not stay. */
static int take_back(struct sated_purge *p, struct sated_ata_identify *id)
{
    struct sated_detail detail = *error_last();
    bool off = !identify(p->d, id) && (!id->security.enabled || !disable(p));
    error_set(detail.code, SATED_LAYER_DRIVE, "%.600s%s", detail.text,
              off ? "; the password that was to be set for it is off again"
                  : "; the password \"" PURGE_PASSWORD "\" may be set: `--resume` tries again");
    error_last()->ata_status = detail.ata_status;
    error_last()->ata_error = detail.ata_error;
    return detail.code;
}

/* The erase gave no error, and then the drive no identity. */
static int ended_untold(const struct sated_purge *p)
{
    struct sated_detail detail = *error_last();
    return error_set(
        detail.code, SATED_LAYER_DRIVE,
        "%.200s: SECURITY ERASE UNIT ended without an error, but the drive does not tell whether its password "
        "\"" PURGE_PASSWORD "\" is off: %.400s; re-plug the drive, then `sated purge %.200s --resume`",
        p->d->path, detail.text, p->d->path);
}

static int erase_by_security(struct sated_purge *p)
{
    struct sated_ata_identify *id = malloc(sizeof *id);
    bool enhanced = p->result.method == SATED_PURGE_SECURITY_ENHANCED, ours = !p->look.ata.enabled;
    int rc = id ? 0 : error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for its identity", p->d->path);
    if (!rc && ours)
        rc = set_password(p);
    if (!rc)
        rc = erase_unit(p, enhanced);
    if (rc == SATED_ATA && !ours)
        rc = not_ours(p, "SECURITY ERASE UNIT was refused");
    else if (rc && purge_is_answer(rc) && ours)
        rc = take_back(p, id);
    if (!rc && identify(p->d, id))
        rc = ended_untold(p);
    /* ACS-4 7.39: the erase ends with the password off; with drives that leave it on it has to be taken off. */
    if (!rc && id->security.enabled)
        rc = disable(p);
    if (!rc)
        purge_says(p, "SECURITY ERASE UNIT%s ended without an error; no password is set",
                   enhanced ? " (enhanced)" : "");
    free(id);
    return rc;
}

/* ---- Sanitize ---- */

static int ask_sanitize(struct sated_purge *p, uint32_t *progress)
{
    struct sated_ata_sanitize_status s;
    int rc = sanitize_status(p->d, false, &s, NULL);
    if (rc)
        return rc;
    *progress = IS_KNOWN(ata_sanitize_status, &s, progress) ? s.progress : UINT32_MAX;
    if (!s.failed && s.in_progress)
        return 1;
    if (!s.failed && s.completed) {
        purge_says(p, "SANITIZE STATUS EXT: the operation ended without an error (COUNT bit 15)");
        /* It does not say which one it was. */
        p->settled = p->options.method ? p->options.method : SATED_PURGE_SANITIZE_BLOCK;
        return 0;
    }
    if (!s.failed && !IS_KNOWN(ata_sanitize_status, &s, completed))
        return error_set(
            SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
            "%s: the registers of SANITIZE STATUS EXT come back cut, so that nobody can tell whether the "
            "sanitize operation has ended; attach the drive to a SATA port, then `sated purge %s --resume`",
            p->d->path, p->d->path);
    return error_set(
        SATED_ATA, SATED_LAYER_DRIVE,
        "%s: the sanitize operation failed (SANITIZE STATUS EXT, reason %u); `sated purge %s --resume` leaves "
        "the failure and erases again, by --method security if you say so",
        p->d->path, s.reason, p->d->path);
}

/* With FAILURE MODE a failure can be left; one that somebody else started without it is left by another sanitize only. */
static int sanitize(struct sated_purge *p)
{
    struct sated_ata_command c;
    const char *step = "SANITIZE, BLOCK ERASE EXT";
    int rc;
    if (p->result.method == SATED_PURGE_SANITIZE_CRYPTO) {
        step = "SANITIZE, CRYPTO SCRAMBLE EXT";
        rc = sated_ata_build_sanitize_crypto_scramble(&c, true, false);
    } else if (p->result.method == SATED_PURGE_SANITIZE_OVERWRITE) {
        step = "SANITIZE, OVERWRITE EXT";
        rc = sated_ata_build_sanitize_overwrite(&c, 0, 1, false, false, true, false);
    } else {
        rc = sated_ata_build_sanitize_block_erase(&c, true, false);
    }
    if (!rc)
        rc = purge_step(p, step);
    if (!rc)
        rc = sated_ata_raw(p->d, &c, NULL, NULL, NULL);
    return rc ? rc : purge_poll(p, "the sanitize operation", ask_sanitize);
}

/* ---- TRIM ---- */

static int send_trim(struct sated_purge *p, uint64_t at, uint64_t sectors)
{
    struct sated_ata_range range = {.lba = at, .sectors = sectors};
    struct sated_ata_command c;
    int n = sated_ata_build_trim_list(p->page, PURGE_PAGE, &range, 1);
    int rc = n < 0 ? n : sated_ata_build_trim(&c, (uint32_t)n / 512);
    return rc ? rc : sated_ata_raw(p->d, &c, p->page, NULL, NULL);
}

static int trim(struct sated_purge *p)
{
    uint32_t blocks = p->look.ata.trim_blocks < PURGE_PAGE / 512 ? p->look.ata.trim_blocks : PURGE_PAGE / 512;
    int rc =
        purge_sweep(p, "DATA SET MANAGEMENT, TRIM", (uint64_t)blocks * TRIM_RANGES * SATED_ATA_TRIM_SECTORS, send_trim);
    if (!rc)
        purge_says(p, "it took the hint for all of its %llu sectors", (unsigned long long)p->look.blocks);
    return rc;
}

static int erase(struct sated_purge *p)
{
    switch (p->result.method) {
    case SATED_PURGE_SECURITY:
    case SATED_PURGE_SECURITY_ENHANCED: return erase_by_security(p);
    case SATED_PURGE_DEALLOCATE: return trim(p);
    default: return sanitize(p);
    }
}

/* ---- What was left ---- */

static int leave_failure(struct sated_purge *p)
{
    struct sated_ata_sanitize_status s;
    int rc = purge_step(p, "SANITIZE STATUS EXT, clear failure");
    if (!rc)
        rc = sanitize_status(p->d, true, &s, NULL);
    return rc; /* whether it is left is seen when the drive is looked at again */
}

static int ask_unclear(struct sated_purge *p, uint32_t *progress)
{
    *progress = UINT32_MAX;
    return ask_by_reading(p->d, &p->look);
}

static int settle(struct sated_purge *p)
{
    bool secures = p->result.method == SATED_PURGE_SECURITY || p->result.method == SATED_PURGE_SECURITY_ENHANCED;
    int rc = 0;
    switch (p->look.state) {
    case SATED_PURGE_RUNNING: rc = purge_poll(p, "the sanitize operation", ask_sanitize); break;
    case SATED_PURGE_FAILED: rc = leave_failure(p); break;
    case SATED_PURGE_UNCLEAR: rc = purge_poll(p, "what keeps it from reading", ask_unclear); break;
    case SATED_PURGE_LOCKED:
    case SATED_PURGE_PASSWORD:
        rc = unlock(p);
        if (!rc && !secures)
            rc = disable(p);
        break;
    default: break;
    }
    return rc;
}

static int move(struct sated_purge *p, bool writes, uint64_t lba)
{
    struct sated_ata_command c;
    uint32_t bytes = p->look.block_bytes;
    bool ext = p->look.ata.lba48 && lba >> 28;
    int rc = writes ? sated_ata_build_write(&c, lba, 1, bytes, true, ext)
                    : sated_ata_build_read(&c, lba, 1, bytes, true, ext);
    return rc ? rc : sated_ata_raw(p->d, &c, p->page, NULL, NULL);
}

static int flush(struct sated_purge *p)
{
    struct sated_ata_command c;
    int rc = sated_ata_build_flush_cache(&c, p->look.ata.lba48);
    return rc ? rc : sated_ata_raw(p->d, &c, NULL, NULL, NULL);
}

/* Behind HPA or AMAC, and what an overlay hides, as far as the drive tells. */
static uint64_t hidden(struct sated_purge *p)
{
    struct sated_ata_identify *id = malloc(sizeof *id);
    struct sated_ata_hidden h = {0};
    struct sated_ata_registers registers;
    struct sated_ata_command c;
    struct sated_ata_dco dco;
    uint64_t bytes = UINT64_MAX;
    if (id && !identify(p->d, id)) {
        bool native = id->areas.amac_supported  ? !sated_ata_build_get_native_max(&c)
                      : id->areas.hpa_supported ? !sated_ata_build_read_native_max(&c, p->look.ata.lba48)
                                                : false;
        native = native && !sated_ata_raw(p->d, &c, NULL, &registers, NULL);
        bool overlay = id->areas.dco_supported && !sated_ata_build_dco_identify(&c) &&
                       !sated_ata_raw(p->d, &c, p->page, NULL, NULL) && !sated_ata_decode_dco(p->page, 512, &dco);
        sated_ata_hidden(id, native ? &registers : NULL, overlay ? &dco : NULL, &h);
        if (IS_KNOWN(ata_hidden, &h, hidden_bytes))
            bytes = h.hidden_bytes;
    }
    free(id);
    return bytes;
}

const struct purge_protocol purge_ata = {
    .look = look, .settle = settle, .erase = erase, .move = move, .flush = flush, .hidden = hidden};
