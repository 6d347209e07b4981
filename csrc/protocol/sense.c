/* SPDX-License-Identifier: MIT */
/* Sense data (SPC-5, "Sense data"): the fixed and the descriptor format, and what each descriptor holds. */
#include <sated/scsi.h>

#include <string.h>

#include "core/bytes.h"
#include "core/error.h"
#include "protocol/known_scsi.h"
#include "protocol/sense.h"

const char *sated_scsi_key_text(uint32_t key)
{
    static const char *const names[] = {
        "No sense",         "Recovered error", "Not ready",   "Medium error",    "Hardware error", "Illegal request",
        "Unit attention",   "Data protect",    "Blank check", "Vendor specific", "Copy aborted",   "Aborted command",
        "Equal (obsolete)", "Volume overflow", "Miscompare",  "Completed",
    };
    return names[key & 15];
}

/* The sense-key specific field (SPC-5, "Sense key specific sense data"); what it means depends on the key. */
static void key_specific(const uint8_t *b, struct sated_scsi_sense *out)
{
    if (!(b[0] & 0x80))
        return;
    switch (out->key) {
    case 0x0:
    case 0x2: KNOW(scsi_sense, out, progress, bytes_be16(b + 1)); break;
    case 0x1:
    case 0x3:
    case 0x4: KNOW(scsi_sense, out, retry_count, bytes_be16(b + 1)); break;
    case 0x5:
        KNOW(scsi_sense, out, field_pointer, bytes_be16(b + 1));
        KNOW(scsi_sense, out, field_in_cdb, (b[0] & 0x40) != 0);
        if (b[0] & 0x08)
            KNOW(scsi_sense, out, bit_pointer, b[0] & 7);
        break;
    case 0x6: KNOW(scsi_sense, out, unit_attention_overflow, (b[0] & 1) != 0); break;
    case 0xa:
        KNOW(scsi_sense, out, segment_pointer, bytes_be16(b + 1));
        KNOW(scsi_sense, out, segment_descriptor, (b[0] & 0x20) != 0);
        if (b[0] & 0x08)
            KNOW(scsi_sense, out, bit_pointer, b[0] & 7);
        break;
    default: break;
    }
}

/* A user data segment referral (SBC-4 4.26): one or more segments, each with its target port groups. */
static void referral(const uint8_t *d, size_t n, struct sated_scsi_sense *out)
{
    size_t at = 4;
    KNOW(scsi_sense, out, not_all_referrals, (d[2] & 1) != 0);
    while (at + 20 <= n) {
        size_t groups = d[at + 3];
        struct sated_scsi_sense_segment *s;
        if (at + 20 + 4 * groups > n || out->n_segments == sizeof out->segments / sizeof *out->segments) {
            out->truncated = true;
            return;
        }
        s = &out->segments[out->n_segments++];
        s->first_lba = bytes_be64(d + at + 4);
        s->last_lba = bytes_be64(d + at + 12);
        for (size_t g = 0; g < groups; g++) {
            const uint8_t *p = d + at + 20 + 4 * g;
            if (g == sizeof s->groups / sizeof *s->groups) {
                out->truncated = true;
                break;
            }
            s->groups[g].state = p[0] & 15;
            s->groups[g].group = bytes_be16(p + 2);
            s->n_groups++;
        }
        at += 20 + 4 * groups;
    }
}

/* One whole descriptor of n bytes. A type that stands twice keeps its first value: the standard allows one of each, but
 * for 0Ah and 0Ch. */
static void descriptor(const uint8_t *d, size_t n, struct sated_scsi_sense *out)
{
    switch (d[0]) {
    case 0x00: /* information */
        if (n >= 12 && (d[2] & 0x80) && !IS_KNOWN(scsi_sense, out, information))
            KNOW(scsi_sense, out, information, bytes_be64(d + 4));
        break;
    case 0x01: /* command specific information */
        if (n >= 12 && !IS_KNOWN(scsi_sense, out, command_specific))
            KNOW(scsi_sense, out, command_specific, bytes_be64(d + 4));
        break;
    case 0x02: /* sense key specific */
        if (n >= 7)
            key_specific(d + 4, out);
        break;
    case 0x03: /* field replaceable unit */
        if (n >= 4 && d[3])
            KNOW(scsi_sense, out, fru, d[3]);
        break;
    case 0x04: /* stream commands */
        if (n >= 4) {
            KNOW(scsi_sense, out, filemark, (d[3] & 0x80) != 0);
            KNOW(scsi_sense, out, eom, (d[3] & 0x40) != 0);
            KNOW(scsi_sense, out, ili, (d[3] & 0x20) != 0);
        }
        break;
    case 0x05: /* block commands */
        if (n >= 4)
            KNOW(scsi_sense, out, ili, (d[3] & 0x20) != 0);
        break;
    case 0x0a: /* another progress indication */
        if (n >= 8) {
            struct sated_scsi_sense_progress *p = &out->other_progress[out->n_other_progress];
            if (out->n_other_progress == sizeof out->other_progress / sizeof *out->other_progress) {
                out->truncated = true;
                break;
            }
            p->key = d[2] & 15;
            p->asc = d[3];
            p->ascq = d[4];
            p->progress = bytes_be16(d + 6);
            out->n_other_progress++;
        }
        break;
    case 0x0b: /* user data segment referral */
        if (n >= 4)
            referral(d, n, out);
        break;
    case 0x0c: /* forwarded sense data */
        if (n >= 4 && !IS_KNOWN(scsi_sense, out, forwarded_status)) {
            KNOW(scsi_sense, out, forwarded_fsdt, (d[2] & 0x80) != 0);
            KNOW(scsi_sense, out, forwarded_source, d[2] & 15);
            KNOW(scsi_sense, out, forwarded_status, d[3]);
            out->n_forwarded = (uint32_t)(n - 4);
            memcpy(out->forwarded, d + 4, n - 4);
            out->known |= KNOWN_BIT(scsi_sense, forwarded);
        }
        break;
    case 0x0d: /* direct-access block device: several of the above in one (SBC-4 4.18) */
        if (n >= 32) {
            if (d[2] & 0x80)
                KNOW(scsi_sense, out, information, bytes_be64(d + 8));
            KNOW(scsi_sense, out, ili, (d[2] & 0x20) != 0);
            KNOW(scsi_sense, out, command_specific, bytes_be64(d + 16));
            key_specific(d + 4, out);
            if (d[7])
                KNOW(scsi_sense, out, fru, d[7]);
        }
        break;
    default: break;
    }
}

size_t sense_next_descriptor(const uint8_t *sense, size_t n, size_t at, struct sated_scsi_sense_descriptor *d)
{
    size_t end = n < 8 ? n : 8u + sense[7], whole;
    if (end > n)
        end = n;
    if (at + 2 > end)
        return 0;
    whole = 2u + sense[at + 1];
    d->type = sense[at];
    d->offset = (uint16_t)at;
    d->truncated = at + whole > end;
    d->length = (uint16_t)(d->truncated ? end - at : whole);
    return at + d->length;
}

static void descriptor_format(const uint8_t *b, size_t n, struct sated_scsi_sense *out)
{
    size_t at = 8;
    struct sated_scsi_sense_descriptor d;
    if (n > 1)
        KNOW(scsi_sense, out, key, b[1] & 15);
    if (n > 2)
        KNOW(scsi_sense, out, asc, b[2]);
    if (n > 3)
        KNOW(scsi_sense, out, ascq, b[3]);
    if (n > 4)
        KNOW(scsi_sense, out, sdat_ovfl, (b[4] & 0x80) != 0);
    if (n < 8) {
        out->truncated = true;
        return;
    }
    KNOW(scsi_sense, out, length, 8u + b[7]);
    out->truncated = out->length > n;
    memset(&d, 0, sizeof d);
    while ((at = sense_next_descriptor(b, n, at, &d))) {
        if (out->n_descriptors == sizeof out->descriptors / sizeof *out->descriptors) {
            out->truncated = true;
            break;
        }
        out->descriptors[out->n_descriptors++] = d;
        if (d.truncated)
            out->truncated = true;
        else
            descriptor(b + d.offset, d.length, out);
    }
}

static void fixed_format(const uint8_t *b, size_t n, struct sated_scsi_sense *out)
{
    size_t end = n;
    if (n > 2) {
        KNOW(scsi_sense, out, key, b[2] & 15);
        KNOW(scsi_sense, out, filemark, (b[2] & 0x80) != 0);
        KNOW(scsi_sense, out, eom, (b[2] & 0x40) != 0);
        KNOW(scsi_sense, out, ili, (b[2] & 0x20) != 0);
        KNOW(scsi_sense, out, sdat_ovfl, (b[2] & 0x10) != 0);
    }
    if (n > 7) {
        KNOW(scsi_sense, out, length, 8u + b[7]);
        out->truncated = out->length > n;
        if (out->length < end)
            end = out->length;
    } else {
        out->truncated = true;
    }
    if ((b[0] & 0x80) && end >= 7)
        KNOW(scsi_sense, out, information, bytes_be32(b + 3));
    if (end > 12)
        KNOW(scsi_sense, out, asc, b[12]);
    if (end > 13)
        KNOW(scsi_sense, out, ascq, b[13]);
    /* With 00/1D these bytes are ATA registers, and nothing else says whether they hold anything. */
    if (end > 13 && bytes_be32(b + 8) && !(b[12] == 0x00 && b[13] == 0x1d))
        KNOW(scsi_sense, out, command_specific, bytes_be32(b + 8));
    if (end > 14 && b[14])
        KNOW(scsi_sense, out, fru, b[14]);
    if (end >= 18)
        key_specific(b + 15, out);
}

int sense_check(const uint8_t *sense, size_t n)
{
    if (!n)
        return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                         "sense data: 0 bytes, where at least 1 was expected; ask for all of it");
    if ((sense[0] & 0x7f) < 0x70 || (sense[0] & 0x7f) > 0x73)
        return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                         "sense data: response code %02Xh in byte 0, where 70h to 73h was expected; ask for all of it",
                         sense[0] & 0x7f);
    return 0;
}

int sated_scsi_decode_sense(const void *data, size_t n, struct sated_scsi_sense *out)
{
    const uint8_t *b = data;
    const char *text;
    int rc;
    memset(out, 0, sizeof *out);
    if ((rc = sense_check(b, n)))
        return rc;
    KNOW(scsi_sense, out, response_code, b[0] & 0x7f);
    KNOW(scsi_sense, out, descriptor_format, (b[0] & 2) != 0);
    KNOW(scsi_sense, out, deferred, (b[0] & 1) != 0);
    out->known |= KNOWN_BIT(scsi_sense, truncated) | KNOWN_BIT(scsi_sense, n_segments) |
                  KNOWN_BIT(scsi_sense, segments) | KNOWN_BIT(scsi_sense, n_other_progress) |
                  KNOWN_BIT(scsi_sense, other_progress) | KNOWN_BIT(scsi_sense, n_descriptors) |
                  KNOWN_BIT(scsi_sense, descriptors);
    if (out->descriptor_format)
        descriptor_format(b, n, out);
    else
        fixed_format(b, n, out);
    if (IS_KNOWN(scsi_sense, out, key)) {
        text = sated_scsi_key_text(out->key);
        memcpy(out->key_text, text, strlen(text) + 1);
        out->known |= KNOWN_BIT(scsi_sense, key_text);
    }
    if (IS_KNOWN(scsi_sense, out, asc) && IS_KNOWN(scsi_sense, out, ascq)) {
        sated_scsi_asc_text(out->asc, out->ascq, out->text, sizeof out->text);
        out->known |= KNOWN_BIT(scsi_sense, text);
    }
    return 0;
}
