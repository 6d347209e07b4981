/* SPDX-License-Identifier: MIT */
/* The Sanitize Device feature set (ACS-4 4.17, 7.36). */
#include "sim/target_ata_inside.h"

/* LBA 7:0 of a SANITIZE command that was aborted (ACS-4 7.36, Sanitize Device Error Reason). */
enum {
    REASON_NONE = SATED_ATA_SANITIZE_NOT_REPORTED,
    REASON_FAILED = SATED_ATA_SANITIZE_UNSUCCESSFUL,
    REASON_UNSUPPORTED = SATED_ATA_SANITIZE_UNSUPPORTED,
    REASON_FROZEN = SATED_ATA_SANITIZE_FROZEN,
};

#define OVERWRITE_NS_PER_SECTOR 1024 /* 500 MB/s */

static void put_status(const struct sim *s, struct ata_task *t)
{
    const struct ata_state *a = &s->target.ata;
    bool busy = operation_sanitizes(s);
    t->out.count =
        (uint16_t)(a->sanitized << 15 | busy << 14 | a->sanitize_frozen << 13 | a->sanitize_antifreeze << 12);
    t->out.lba = busy ? operation_progress(s) : 0xffff;
}

static void refuse(struct sim *s, struct ata_task *t, unsigned reason)
{
    put_status(s, t);
    ata_fail_at(t, ATA_ABRT, reason);
}

/* SANITIZE STATUS EXT; COUNT 0 asks to end a failure, which goes only where the operation had allowed it. */
static void status(struct sim *s, struct ata_task *t)
{
    struct ata_state *a = &s->target.ata;
    if (a->sanitize_failed && t->count & 1 && a->sanitize_may_end) {
        a->sanitize_failed = 0;
        ata_update_block(s);
        target_changed(s);
    }
    if (a->sanitize_failed)
        refuse(s, t, REASON_FAILED);
    else
        put_status(s, t);
}

static uint64_t last_pattern(const struct ata_task *t, unsigned passes)
{
    uint32_t pattern = (uint32_t)t->lba;
    bool inverts = t->count & 0x80, definitive = t->count & 0x40;
    if (inverts && !definitive && passes % 2 == 0)
        pattern = ~pattern;
    return (uint64_t)pattern << 32 | pattern;
}

static void start(struct sim *s, struct ata_task *t, enum operation_kind kind, int64_t length_ns)
{
    struct ata_state *a = &s->target.ata;
    unsigned passes = t->count & 15 ? t->count & 15u : 16;
    if (s->target.operation.kind == OPERATION_SELF_TEST)
        ata_test_ended(s, &s->target.operation, 1 << 4);
    if (kind == OPERATION_SANITIZE_OVERWRITE)
        length_ns = (int64_t)ata_all_sectors(s) * OVERWRITE_NS_PER_SECTOR * passes;
    operation_start(s, kind, length_ns);
    s->target.operation.argument[0] = last_pattern(t, passes);
    a->sanitized = a->sanitize_failed = 0;
    a->sanitize_may_end = t->count >> 4 & 1; /* FAILURE MODE */
    ata_update_block(s);
    put_status(s, t);
}

static void freeze(struct sim *s, struct ata_task *t, uint8_t *set, const uint8_t *other)
{
    if (*other || s->target.ata.sanitize_failed) {
        refuse(s, t, other == &s->target.ata.sanitize_frozen && *other ? REASON_FROZEN : REASON_NONE);
        return;
    }
    *set = 1;
    put_status(s, t);
    target_changed(s);
}

void ata_sanitize(struct sim *s, struct ata_task *t)
{
    struct ata_state *a = &s->target.ata;
    /* A word that only who means it would send stands in LBA. */
    static const struct {
        uint16_t features;
        uint64_t key, mask;
    } keys[] = {{0x0000, 0, 0},
                {0x0011, 0x43727970, 0xffffffffffff},
                {0x0012, 0x426b4572, 0xffffffffffff},
                {0x0014, 0x4f5700000000, 0xffff00000000},
                {0x0020, 0x46724c6b, 0xffffffffffff},
                {0x0040, 0x416e7469, 0xffffffffffff}};
    size_t i = 0, n = sizeof keys / sizeof *keys;
    while (i < n && keys[i].features != t->features)
        i++;
    if (t->direction != SATED_DATA_NONE || i == n || (t->lba & keys[i].mask) != keys[i].key) {
        refuse(s, t, i == n ? REASON_UNSUPPORTED : REASON_NONE);
        return;
    }
    if (t->features && (a->locked || operation_sanitizes(s))) {
        refuse(s, t, REASON_NONE);
        return;
    }
    if (a->sanitize_frozen && t->features & 0x10) {
        refuse(s, t, REASON_FROZEN);
        return;
    }
    int64_t erase_ns = media_erase_ns(s);
    switch (t->features) {
    case 0x0011: start(s, t, OPERATION_SANITIZE_CRYPTO, erase_ns / 8); break;
    case 0x0012: start(s, t, OPERATION_SANITIZE_BLOCK, erase_ns); break;
    case 0x0014: start(s, t, OPERATION_SANITIZE_OVERWRITE, 0); break;
    case 0x0020: freeze(s, t, &a->sanitize_frozen, &a->sanitize_antifreeze); break;
    case 0x0040: freeze(s, t, &a->sanitize_antifreeze, &a->sanitize_frozen); break;
    default: status(s, t);
    }
}

void ata_sanitize_ended(struct sim *s, const struct operation *o)
{
    struct ata_state *a = &s->target.ata;
    if (o->fails) {
        a->sanitize_failed = 1;
        return;
    }
    a->sanitized = 1;
    if (o->kind == OPERATION_SANITIZE_OVERWRITE)
        media_overwrite(s, o->argument[0]);
    else
        media_erase(s);
}
