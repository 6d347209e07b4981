/* SPDX-License-Identifier: MIT */
/* SMART data and thresholds (layout as in ATA-3 and ATA8-ACS, SMART READ DATA; the attributes themselves are the makers'), and the
 * self-test logs (ATA8-ACS, SMART self-test log and Extended SMART self-test log). */
#include <sated/ata.h>

#include <string.h>

#include "core/error.h"
#include "protocol/ata_words.h"
#include "protocol/fields.h"
#include "protocol/known_ata.h"

#define PAGE 512u

static int too_short(const char *what, size_t n)
{
    return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                     "%s: %zu bytes were received, too few for its revision number; read it again", what, n);
}

static const struct field smart_fields[] = {
    FIELD(ata_smart, revision, 0, 0, 16),
    FIELD(ata_smart, offline_status, 362, 0, 8),
    FIELD(ata_smart, self_test_result, 363, 4, 4),
    FIELD(ata_smart, offline_seconds, 364, 0, 16),
    FIELD(ata_smart, offline_capabilities, 367, 0, 8),
    FIELD(ata_smart, capabilities, 368, 0, 16),
    FIELD(ata_smart, error_logging, 370, 0, 1),
    FIELD(ata_smart, short_minutes, 372, 0, 8),
    FIELD(ata_smart, extended_minutes, 373, 0, 8),
    FIELD(ata_smart, conveyance_minutes, 374, 0, 8),
};

static void decode_attribute(const uint8_t *b, struct sated_ata_smart_attribute *a)
{
    KNOW(ata_smart_attribute, a, id, b[0]);
    KNOW(ata_smart_attribute, a, flags, bytes_le16(b + 1));
    KNOW(ata_smart_attribute, a, value, b[3]);
    KNOW(ata_smart_attribute, a, worst, b[4]);
    memcpy(a->raw, b + 5, 6);
    KNOW(ata_smart_attribute, a, raw48, bytes_le32(b + 5) | (uint64_t)bytes_le16(b + 9) << 32);
    a->known |= KNOWN_BIT(ata_smart_attribute, raw);
}

int sated_ata_decode_smart(const void *data, size_t n, struct sated_ata_smart *out)
{
    const uint8_t *b = data;
    memset(out, 0, sizeof *out);
    if (n < 2)
        return too_short("SMART data", n);
    fields_decode_le(smart_fields, sizeof smart_fields / sizeof *smart_fields, b, n, out);
    if (n > 363)
        KNOW(ata_smart, out, self_test_remaining, (b[363] & 0xf) * UINT32_C(10));
    if (out->extended_minutes == 0xff) { /* the word behind it tells */
        FORGET(ata_smart, out, extended_minutes);
        if (n > 376)
            KNOW(ata_smart, out, extended_minutes, bytes_le16(b + 375));
    }
    if (n >= PAGE)
        KNOW(ata_smart, out, checksum, ata_checksum(b));
    for (size_t i = 0; i < SATED_ATA_ATTRIBUTES && 14 + 12 * i <= n; i++)
        if (b[2 + 12 * i])
            decode_attribute(b + 2 + 12 * i, &out->attributes[out->n_attributes++]);
    if (n >= 2 + 12 * SATED_ATA_ATTRIBUTES)
        KNOW_LIST(ata_smart, out, n_attributes, attributes);
    return 0;
}

int sated_ata_decode_smart_thresholds(const void *data, size_t n, struct sated_ata_smart_thresholds *out)
{
    const uint8_t *b = data;
    memset(out, 0, sizeof *out);
    if (n < 2)
        return too_short("SMART thresholds", n);
    KNOW(ata_smart_thresholds, out, revision, bytes_le16(b));
    if (n >= PAGE)
        KNOW(ata_smart_thresholds, out, checksum, ata_checksum(b));
    for (size_t i = 0; i < SATED_ATA_ATTRIBUTES && 14 + 12 * i <= n; i++)
        if (b[2 + 12 * i]) {
            struct sated_ata_smart_threshold *t = &out->thresholds[out->n_thresholds++];
            t->id = b[2 + 12 * i];
            t->threshold = b[3 + 12 * i];
        }
    if (n >= 2 + 12 * SATED_ATA_ATTRIBUTES)
        KNOW_LIST(ata_smart_thresholds, out, n_thresholds, thresholds);
    return 0;
}

/* 24 bytes with an address of 28 bits, or 26 with one of 48. */
static void decode_entry(const uint8_t *b, bool extended, struct sated_ata_self_test_entry *e)
{
    uint64_t lba = bytes_le32(b + 5);
    KNOW(ata_self_test_entry, e, subcommand, b[0]);
    KNOW(ata_self_test_entry, e, result, b[1] >> 4);
    KNOW(ata_self_test_entry, e, remaining, (b[1] & 0xf) * UINT32_C(10));
    KNOW(ata_self_test_entry, e, hours, bytes_le16(b + 2));
    KNOW(ata_self_test_entry, e, checkpoint, b[4]);
    if (extended)
        lba |= (uint64_t)bytes_le16(b + 9) << 32;
    /* Only a failed read tells where (result 7); without an address all its bits are set. */
    if (e->result == 7 && lba != (extended ? UINT64_C(0xffffffffffff) : UINT32_MAX))
        KNOW(ata_self_test_entry, e, lba, lba);
}

int sated_ata_decode_self_test_log(const void *data, size_t n, bool extended, struct sated_ata_self_test_log *out)
{
    const uint8_t *b = data;
    size_t places = extended ? 19 : 21, length = extended ? 26 : 24, first = extended ? 4 : 2;
    size_t index_at = extended ? 2 : 508, index;
    memset(out, 0, sizeof *out);
    if (n < 2)
        return too_short("self-test log", n);
    KNOW(ata_self_test_log, out, revision, extended ? b[0] : bytes_le16(b));
    if (n < PAGE)
        return 0;
    KNOW(ata_self_test_log, out, checksum, ata_checksum(b));
    index = extended ? bytes_le16(b + index_at) : b[index_at];
    if (index > places) /* the newest one stands on a page that is not here, or nowhere */
        return 0;
    for (size_t i = 0; index && i < places; i++) {
        size_t at = first + (index - 1 + places - i) % places * length;
        if (b[at] || b[at + 1] || bytes_le16(b + at + 2))
            decode_entry(b + at, extended, &out->entries[out->n_entries++]);
    }
    KNOW_LIST(ata_self_test_log, out, n_entries, entries);
    return 0;
}
