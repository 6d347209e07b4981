/* SPDX-License-Identifier: MIT */
/* FORMAT UNIT (SBC-4 5.4) and SANITIZE (SBC-4 4.11, 5.30) of the SAS drive. */
#include "sim/target_scsi_inside.h"

#include <string.h>

#include "core/bytes.h"
#include "sim/sim.h"

#define QUICK 16 /* a new key, or a format that leaves the flash alone, takes so much less than erasing it */
#define FILL_NS(bytes) ((bytes)*20 / 9) /* 450 MB/s */

/* What an operation keeps with it. */
enum { ARGUMENT_WORD, ARGUMENT_AUSE };

int64_t scsi_erase_ns(const struct sim *s, enum operation_kind kind, uint32_t passes)
{
    switch (kind) {
    case OPERATION_SANITIZE_CRYPTO: return media_erase_ns(s) / QUICK;
    case OPERATION_SANITIZE_OVERWRITE: return (int64_t)(FILL_NS(sim_native_capacity(s)) * passes);
    default: return media_erase_ns(s);
    }
}

void scsi_erase_finish(struct sim *s, const struct operation *o)
{
    struct scsi_state *t = &s->target.scsi;
    if (o->kind != OPERATION_FORMAT) {
        t->sanitize = !o->fails                    ? SCSI_SANITIZE_GOOD
                      : o->argument[ARGUMENT_AUSE] ? SCSI_SANITIZE_UNRESTRICTED
                                                   : SCSI_SANITIZE_RESTRICTED;
        if (o->fails)
            return;
        if (o->kind == OPERATION_SANITIZE_OVERWRITE) {
            media_overwrite(s, o->argument[ARGUMENT_WORD]);
            t->format = SCSI_FORMAT_GOOD; /* 5.30.2: what was overwritten is not format corrupt */
        } else {
            media_erase(s);
        }
        return;
    }
    t->format = o->fails ? SCSI_FORMAT_FAILED : SCSI_FORMAT_GOOD;
    if (o->fails)
        return;
    media_erase(s);
    bool changed = t->blocks != t->next_blocks || t->block_bytes != t->next_block_bytes;
    t->blocks = t->next_blocks;
    t->block_bytes = t->next_block_bytes;
    scsi_window(s, true);
    if (changed)
        scsi_attention(s, CODE_CAPACITY_CHANGED);
}

/* Starts it, and unless the host is answered at once, goes through it. A drive that stalls in it never answers. */
static int start(struct scsi_call *k, enum operation_kind kind, int64_t ns, uint64_t word, bool ause, bool immed)
{
    scsi_self_test_abort(k->s);
    operation_start(k->s, kind, ns);
    k->s->target.operation.argument[ARGUMENT_WORD] = word;
    k->s->target.operation.argument[ARGUMENT_AUSE] = ause;
    scsi_window(k->s, false);
    if (immed)
        return 0;
    if (!operation_wait(k->s)) {
        k->reply->host_status = DID_TIME_OUT;
        return -1;
    }
    struct target_sense sense = scsi_pollable(k->s);
    return sense.key == KEY_MEDIUM && (kind == OPERATION_FORMAT || k->t->sanitize) ? scsi_refuse(k, &sense) : 0;
}

/* ---- FORMAT UNIT ---- */

/* The header, short or long, and no defects. Return: whether IMMED is set, or -1. */
static int format_list(struct scsi_call *k)
{
    bool longlist = k->cdb[1] & 0x20;
    uint32_t header = longlist ? 8 : 4;
    if (k->out < header)
        return scsi_fail(k, KEY_ILLEGAL, CODE_LIST_LENGTH);
    uint8_t flags = k->data[1];
    if (k->data[0])
        return scsi_bad_list(k, 0, 2); /* PROTECTION FIELD USAGE */
    if (flags & 0x0d)
        return scsi_bad_list(k, 1, 31 - __builtin_clz(flags & 0x0d)); /* IP, and what is reserved */
    if (!(flags & SATED_FORMAT_FOV) && flags & (SATED_FORMAT_DPRY | SATED_FORMAT_DCRT | SATED_FORMAT_STPF))
        return scsi_bad_list(k, 1, 7);
    if (longlist && (k->data[2] || k->data[3]))
        return scsi_bad_list(k, k->data[2] ? 2 : 3, 7);
    if (longlist ? bytes_be32(k->data + 4) : bytes_be16(k->data + 2))
        return scsi_bad_list(k, longlist ? 4 : 2, 7); /* a defect list */
    scsi_take(k, header);
    return (flags & SATED_FORMAT_IMMED) != 0;
}

int scsi_format_unit(struct scsi_call *k)
{
    uint8_t flags = k->cdb[1], ffmt = k->cdb[4] & 3;
    int immed = 0;
    if (flags & 0xc0)
        return scsi_bad_cdb(k, 1, 7); /* FMTPINFO: there is no protection information */
    if (!(flags & 0x10) && flags & 0x2f)
        return scsi_bad_cdb(k, 1, 31 - __builtin_clz(flags & 0x2f)); /* what only a list makes sense of */
    if (ffmt == 3)
        return scsi_bad_cdb(k, 4, 1);
    if (flags & 0x10 && (immed = format_list(k)) < 0)
        return -1;
    int64_t ns = scsi_erase_ns(k->s, OPERATION_FORMAT, 1);
    return start(k, OPERATION_FORMAT, ffmt ? ns / QUICK : ns, 0, false, immed);
}

/* ---- SANITIZE ---- */

/* The pattern begins anew in each block (5.30.2); here it has to repeat itself within 8 bytes, as the medium keeps no
 * more of it. Return: whether it does. */
static bool take_pattern(const uint8_t *pattern, uint32_t n, uint64_t *word)
{
    uint8_t bytes[8];
    for (uint32_t i = 0; i < n; i++)
        if (pattern[i] != pattern[(i + 8) % n])
            return false;
    for (uint32_t i = 0; i < 8; i++)
        bytes[i] = pattern[i % n];
    *word = bytes_le64(bytes);
    return true;
}

/* With INVERT passes take turns with the complement, and the last one writes the pattern itself whatever their number
 * (5.30.2: an even one begins with the complement). */
static int overwrite(struct scsi_call *k)
{
    uint32_t n = bytes_be16(k->cdb + 7);
    uint64_t word;
    if (n <= 4 || n > k->t->block_bytes + 4)
        return scsi_bad_cdb(k, 7, 7);
    if (scsi_take(k, n))
        return -1;
    uint32_t passes = k->data[0] & 0x1f, length = bytes_be16(k->data + 2);
    if (k->data[0] & 0x60)
        return scsi_bad_list(k, 0, 6); /* TEST */
    if (!passes)
        return scsi_bad_list(k, 0, 4);
    if (k->data[1])
        return scsi_bad_list(k, 1, 7);
    if (!length || length > n - 4)
        return scsi_bad_list(k, 2, 7);
    if (!take_pattern(k->data + 4, length, &word))
        return scsi_bad_list(k, 4, -1);
    return start(k, OPERATION_SANITIZE_OVERWRITE, scsi_erase_ns(k->s, OPERATION_SANITIZE_OVERWRITE, passes), word,
                 k->cdb[1] & 0x20, k->cdb[1] & 0x80);
}

/* ZNR means something to zoned drives only. */
int scsi_sanitize(struct scsi_call *k)
{
    uint8_t action = k->cdb[1] & 0x1f;
    bool ause = k->cdb[1] & 0x20;
    if (k->t->sanitize == SCSI_SANITIZE_RESTRICTED && ause)
        return scsi_bad_cdb(k, 1, 5); /* 5.30.1: a failure in the restricted mode is not left by way of the other */
    if (action == SATED_SANITIZE_OVERWRITE)
        return overwrite(k);
    if (bytes_be16(k->cdb + 7))
        return scsi_bad_cdb(k, 7, 7);
    enum operation_kind kind =
        action == SATED_SANITIZE_BLOCK_ERASE ? OPERATION_SANITIZE_BLOCK : OPERATION_SANITIZE_CRYPTO;
    return start(k, kind, scsi_erase_ns(k->s, kind, 1), 0, ause, k->cdb[1] & 0x80);
}

int scsi_sanitize_exit(struct scsi_call *k)
{
    if (bytes_be16(k->cdb + 7))
        return scsi_bad_cdb(k, 7, 7);
    if (k->t->sanitize == SCSI_SANITIZE_RESTRICTED)
        return scsi_bad_cdb(k, 1, 4);
    k->t->sanitize = SCSI_SANITIZE_GOOD;
    scsi_window(k->s, false);
    return 0;
}
