/* SPDX-License-Identifier: MIT */
/* What a drive keeps of its errors: the error logs 01h and 03h (ATA8-ACS A.7, and as in ATA-5), pending defects 0Ch (ACS-4
 * 9.26), the NCQ command error 10h and the internal status 24h and 25h (ACS-4). */
#include <sated/ata.h>

#include "core/error.h"
#include "protocol/ata_words.h"
#include "protocol/fields.h"
#include "protocol/known_ata.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define PAGE 512u
#define REFUSE(...) return error_set(SATED_PARSE, SATED_LAYER_DRIVE, __VA_ARGS__)

#define F(member, byte, bits) FIELD(ata_error_entry, member, byte, 0, bits)
/* Five commands of 12 bytes each, of which the last one failed, then the registers after it. */
static const struct field error_28[] = {
    F(features, 49, 8), F(command, 55, 8), F(error, 61, 8), F(count, 62, 8),  F(lba, 63, 24),
    F(device, 66, 8),   F(status, 67, 8),  F(state, 87, 4), F(hours, 88, 16),
};

/* Five of 18 bytes. The upper and the lower byte of each register alternate: decode_error() puts the LBA together. */
static const struct field error_48[] = {
    F(features, 73, 16), F(command, 84, 8), F(error, 91, 8),  F(count, 92, 16),
    F(device, 100, 8),   F(status, 101, 8), F(state, 121, 4), F(hours, 122, 16),
};
#undef F

static void decode_error(const uint8_t *b, bool extended, struct sated_ata_error_entry *e)
{
    if (!extended) {
        fields_decode_le(error_28, COUNT(error_28), b, 90, e);
        KNOW(ata_error_entry, e, lba, e->lba | (uint64_t)(e->device & 15) << 24);
        return;
    }
    fields_decode_le(error_48, COUNT(error_48), b, 124, e);
    KNOW(ata_error_entry, e, lba,
         (uint64_t)b[94] | (uint64_t)b[96] << 8 | (uint64_t)b[98] << 16 | (uint64_t)b[95] << 24 |
             (uint64_t)b[97] << 32 | (uint64_t)b[99] << 40);
}

int sated_ata_decode_error_log(const void *data, size_t n, bool extended, struct sated_ata_error_log *out)
{
    static const uint8_t unused[124];
    const uint8_t *b = data;
    size_t places = extended ? 4 : SATED_ATA_ERRORS, length = extended ? 124 : 90, first = extended ? 4 : 2, index;
    memset(out, 0, sizeof *out);
    if (n < 2)
        REFUSE("error log: %zu bytes were received, too few for its version and index; read it again", n);
    KNOW(ata_error_log, out, version, b[0]);
    if (n < PAGE)
        return 0;
    KNOW(ata_error_log, out, checksum, ata_checksum(b));
    KNOW(ata_error_log, out, total, bytes_le16(b + (extended ? 500 : 452)));
    index = extended ? bytes_le16(b + 2) : b[1];
    if (index > places) /* the newest one stands on a page that is not here, or nowhere */
        return 0;
    for (size_t i = 0; index && i < places; i++) {
        size_t at = first + (index - 1 + places - i) % places * length;
        if (memcmp(b + at, unused, length))
            decode_error(b + at, extended, &out->entries[out->n_entries++]);
    }
    KNOW_LIST(ata_error_log, out, n_entries, entries);
    return 0;
}

int sated_ata_decode_pending_defects(const void *data, size_t n, struct sated_ata_pending_defects *out)
{
    const uint8_t *b = data;
    memset(out, 0, sizeof *out);
    if (n < 4)
        REFUSE("pending defects log: %zu bytes were received, too few for the number of defects; read it again", n);
    KNOW(ata_pending_defects, out, total, bytes_le32(b));
    /* The header is as long as an entry, and the entries go on over the pages. */
    for (size_t at = 16; out->n_defects < out->total && out->n_defects < COUNT(out->defects) && at + 16 <= n;
         at += 16) {
        struct sated_ata_pending_defect *d = &out->defects[out->n_defects++];
        KNOW(ata_pending_defect, d, lba, bytes_le64(b + at + 8));
        if (bytes_le32(b + at) != UINT32_MAX)
            KNOW(ata_pending_defect, d, hours, bytes_le32(b + at));
    }
    KNOW(ata_pending_defects, out, truncated, out->n_defects < out->total);
    KNOW_LIST(ata_pending_defects, out, n_defects, defects);
    return 0;
}

int sated_ata_decode_ncq_error(const void *data, size_t n, struct sated_ata_ncq_error *out)
{
#define F(member, byte, bits) FIELD(ata_ncq_error, member, byte, 0, bits)
    static const struct field fields[] = {
        F(tag, 0, 5),    F(status, 2, 8),  F(error, 3, 8),
        F(device, 7, 8), F(count, 12, 16), FIELD_UNLESS_0(ata_ncq_error, key, 14, 0, 4),
        F(asc, 15, 8),   F(ascq, 16, 8),
    };
#undef F
    const uint8_t *b = data;
    memset(out, 0, sizeof *out);
    if (n < PAGE)
        REFUSE("NCQ command error log: %zu bytes were received, not 512; read it again", n);
    KNOW(ata_ncq_error, out, checksum, ata_checksum(b));
    KNOW(ata_ncq_error, out, queued, !(b[0] >> 7));
    /* NQ: the command that failed was none of NCQ, and the rest tells nothing. */
    if (!out->queued)
        return 0;
    fields_decode_le(fields, COUNT(fields), b, n, out);
    KNOW(ata_ncq_error, out, lba,
         (uint64_t)b[4] | (uint64_t)b[5] << 8 | (uint64_t)b[6] << 16 | (uint64_t)b[8] << 24 | (uint64_t)b[9] << 32 |
             (uint64_t)b[10] << 40);
    if (!IS_KNOWN(ata_ncq_error, out, key)) {
        FORGET(ata_ncq_error, out, asc);
        FORGET(ata_ncq_error, out, ascq);
    }
    return 0;
}

int sated_ata_decode_internal_status(const void *data, size_t n, struct sated_ata_internal_status *out)
{
#define F(member, byte, bits) FIELD(ata_internal_status, member, byte, 0, bits)
    static const struct field fields[] = {
        F(log, 0, 8),          FIELD_UNLESS_0(ata_internal_status, organization, 4, 0, 32),
        F(area1_last, 8, 16),  F(area2_last, 10, 16),
        F(area3_last, 12, 16), F(saved, 382, 8),
        F(generation, 383, 8), FIELD_BLOB(ata_internal_status, reason, 384, 128),
    };
#undef F
    const uint8_t *b = data;
    memset(out, 0, sizeof *out);
    if (!n || (b[0] != 0x24 && b[0] != 0x25))
        REFUSE("internal status log: %zu bytes and %02Xh in byte 0, where page 00h of log 24h or 25h was expected", n,
               n ? b[0] : 0);
    fields_decode_le(fields, COUNT(fields), b, n, out);
    return 0;
}
