/* SPDX-License-Identifier: MIT */
/* Logs read with READ LOG EXT: device statistics 04h and IDENTIFY DEVICE data 30h (ACS-4 9.5, 9.11), the answer of
 * DEVICE CONFIGURATION IDENTIFY, and what such numbers say about hidden sectors. */
#include <sated/ata.h>

#include <string.h>

#include "core/error.h"
#include "protocol/ata_words.h"
#include "protocol/fields.h"
#include "protocol/known_ata.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define PAGE 512u

/* Statistics that have a name: their value's length and, for temperatures, its sign. */
static const struct {
    uint8_t page;
    uint8_t offset;
    uint8_t bytes;
    uint8_t is_signed;
    char name[60];
} statistics[] = {
    {1, 8, 4, 0, "Lifetime Power-On Resets"},
    {1, 16, 4, 0, "Power-on Hours"},
    {1, 24, 6, 0, "Logical Sectors Written"},
    {1, 32, 6, 0, "Number of Write Commands"},
    {1, 40, 6, 0, "Logical Sectors Read"},
    {1, 48, 6, 0, "Number of Read Commands"},
    {1, 56, 6, 0, "Date and Time TimeStamp"},
    {1, 64, 4, 0, "Pending Error Count"},
    {1, 72, 2, 0, "Workload Utilization"},
    {1, 80, 6, 0, "Utilization Usage Rate"},
    {1, 88, 7, 0, "Resource Availability"},
    {1, 96, 1, 0, "Random Write Resources Used"},
    {2, 8, 4, 0, "Number of Free-Fall Events Detected"},
    {2, 16, 4, 0, "Overlimit Shock Events"},
    {3, 8, 4, 0, "Spindle Motor Power-on Hours"},
    {3, 16, 4, 0, "Head Flying Hours"},
    {3, 24, 4, 0, "Head Load Events"},
    {3, 32, 4, 0, "Number of Reallocated Logical Sectors"},
    {3, 40, 4, 0, "Read Recovery Attempts"},
    {3, 48, 4, 0, "Number of Mechanical Start Failures"},
    {3, 56, 4, 0, "Number of Realloc. Candidate Logical Sectors"},
    {3, 64, 4, 0, "Number of High Priority Unload Events"},
    {4, 8, 4, 0, "Number of Reported Uncorrectable Errors"},
    {4, 16, 4, 0, "Resets Between Cmd Acceptance and Completion"},
    {4, 24, 4, 0, "Physical Element Status Changed"},
    {5, 8, 1, 1, "Current Temperature"},
    {5, 16, 1, 1, "Average Short Term Temperature"},
    {5, 24, 1, 1, "Average Long Term Temperature"},
    {5, 32, 1, 1, "Highest Temperature"},
    {5, 40, 1, 1, "Lowest Temperature"},
    {5, 48, 1, 1, "Highest Average Short Term Temperature"},
    {5, 56, 1, 1, "Lowest Average Short Term Temperature"},
    {5, 64, 1, 1, "Highest Average Long Term Temperature"},
    {5, 72, 1, 1, "Lowest Average Long Term Temperature"},
    {5, 80, 4, 0, "Time in Over-Temperature"},
    {5, 88, 1, 1, "Specified Maximum Operating Temperature"},
    {5, 96, 4, 0, "Time in Under-Temperature"},
    {5, 104, 1, 1, "Specified Minimum Operating Temperature"},
    {6, 8, 4, 0, "Number of Hardware Resets"},
    {6, 16, 4, 0, "Number of ASR Events"},
    {6, 24, 4, 0, "Number of Interface CRC Errors"},
    {7, 8, 1, 0, "Percentage Used Endurance Indicator"},
};

/* Flags of a statistic: byte 7 of its quad word. */
enum {
    STAT_SUPPORTED = 0x80,
    STAT_VALID = 0x40,
    STAT_NORMALIZED = 0x20,
    STAT_CONDITION_MET = 0x08,
};

static int no_page(const char *what, size_t n)
{
    return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                     "%s: %zu bytes were received, fewer than the 8 of the header; read it again", what, n);
}

static void decode_statistic(const uint8_t *b, uint32_t page, uint32_t offset, struct sated_ata_statistic *s)
{
    uint64_t value = bytes_le64(b) & UINT64_C(0xffffffffffffff);
    unsigned bytes = 7;
    bool negative = false;
    for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++)
        if (statistics[i].page == page && statistics[i].offset == offset) {
            bytes = statistics[i].bytes;
            negative = statistics[i].is_signed && b[bytes - 1] & 0x80;
            memcpy(s->name, statistics[i].name, sizeof statistics[i].name);
            s->known |= KNOWN_BIT(ata_statistic, name);
        }
    value &= (UINT64_C(1) << 8 * bytes) - 1;
    KNOW(ata_statistic, s, offset, offset);
    KNOW(ata_statistic, s, normalized, (b[7] & STAT_NORMALIZED) != 0);
    KNOW(ata_statistic, s, condition_met, (b[7] & STAT_CONDITION_MET) != 0);
    if (b[7] & STAT_VALID)
        KNOW(ata_statistic, s, value, negative ? (int64_t)value - ((int64_t)1 << 8 * bytes) : (int64_t)value);
}

int sated_ata_decode_statistics(const void *data, size_t n, struct sated_ata_statistics *out)
{
    const uint8_t *b = data;
    memset(out, 0, sizeof *out);
    if (n < 8)
        return no_page("device statistics", n);
    if (!bytes_le16(b))
        return error_set(
            SATED_PARSE, SATED_LAYER_DRIVE,
            "device statistics, page %02Xh: revision 0000h, so this is no page that the drive has; ask page "
            "00h which ones there are",
            b[2]);
    KNOW(ata_statistics, out, revision, bytes_le16(b));
    KNOW(ata_statistics, out, page, b[2]);
    if (!out->page)
        return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                         "device statistics: this is page 00h, the list of pages, and has no statistics; decode it as "
                         "that list");
    for (uint32_t offset = 8; offset + 8 <= PAGE && offset + 8 <= n; offset += 8)
        if (b[offset + 7] & STAT_SUPPORTED)
            decode_statistic(b + offset, out->page, offset, &out->statistics[out->n_statistics++]);
    if (n >= PAGE)
        KNOW_LIST(ata_statistics, out, n_statistics, statistics);
    return 0;
}

/* A header that both logs share, but for bit 63, which log 30h sets (ACS-4 9.5.2, 9.11.2). */
int sated_ata_decode_log_pages(const void *data, size_t n, struct sated_ata_log_pages *out)
{
    const uint8_t *b = data;
    memset(out, 0, sizeof *out);
    if (n < 9)
        return no_page("list of log pages", n);
    if (!bytes_le16(b) || b[2])
        return error_set(
            SATED_PARSE, SATED_LAYER_DRIVE,
            "list of log pages: revision %04Xh of page %02Xh, where page 00h was expected; the drive has no "
            "such log",
            bytes_le16(b), b[2]);
    KNOW(ata_log_pages, out, revision, bytes_le16(b));
    if (b[8] > sizeof out->pages || 9u + b[8] > n)
        return 0;
    KNOW(ata_log_pages, out, n_pages, b[8]);
    memcpy(out->pages, b + 9, b[8]);
    out->known |= KNOWN_BIT(ata_log_pages, pages);
    return 0;
}

int sated_ata_decode_log_directory(const void *data, size_t n, struct sated_ata_log_directory *out)
{
    const uint8_t *b = data;
    memset(out, 0, sizeof *out);
    if (n < 2)
        return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                         "log directory: %zu bytes were received, too few for its version; read it again", n);
    KNOW(ata_log_directory, out, version, bytes_le16(b));
    if (n < PAGE)
        return 0;
    for (size_t i = 1; i < 256; i++)
        out->pages[i] = bytes_le16(b + 2 * i);
    out->pages[0] = 1; /* this one */
    out->known |= KNOWN_BIT(ata_log_directory, pages);
    return 0;
}

/* The header of a page of log 30h: revision, page number, bit 63. */
static int check_page(const uint8_t *b, size_t n, unsigned page)
{
    if (n < 8)
        return no_page("IDENTIFY DEVICE data log", n);
    if (bytes_le16(b) && b[2] == page && b[7] & 0x80)
        return 0;
    return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                     "IDENTIFY DEVICE data log: the header is %02X%02X%02X..%02Xh, where revision 0001h of page %02Xh "
                     "was expected; ask page 00h which ones there are",
                     b[2], b[1], b[0], b[7], page);
}

/* A quad word, if it was received and says that it is valid. */
static bool quad(const uint8_t *b, size_t n, size_t at, uint64_t *value)
{
    if (at + 8 > n || !(b[at + 7] & 0x80))
        return false;
    *value = bytes_le64(b + at) & ~(UINT64_C(1) << 63);
    return true;
}

/* Members that are bits of quad words: a field's byte is that of its quad word, its shift the bit's number. */
static void decode_quads(const struct field *f, size_t n_fields, const uint8_t *b, size_t n, void *out)
{
    uint64_t valid;
    for (; n_fields--; f++)
        if (quad(b, n, f->byte, &valid))
            fields_decode_le(f, 1, b, n, out);
}

int sated_ata_decode_log_capabilities(const void *data, size_t n, struct sated_ata_log_capabilities *out)
{
#define F(member, quad, bit, bits) FIELD(ata_log_capabilities, member, quad, bit, bits)
    static const struct field fields[] = {
        F(capabilities, 8, 0, 63),
        F(definitive_ending, 8, 51, 1),
        F(dsm_xl, 8, 50, 1),
        F(zero_ext, 8, 48, 1),
        F(dsn, 8, 44, 1),
        F(amac, 8, 41, 1),
        F(drat, 8, 39, 1),
        F(rzat, 8, 31, 1),
        F(look_ahead, 8, 25, 1),
        F(write_cache, 8, 24, 1),
        F(smart, 8, 23, 1),
        F(lba48, 8, 20, 1),
        F(puis, 8, 17, 1),
        F(apm, 8, 16, 1),
        F(fua, 8, 12, 1),
        F(gpl, 8, 11, 1),
        F(self_test, 8, 8, 1),
        F(error_log, 8, 7, 1),
        F(epc, 8, 6, 1),
        F(sense_data, 8, 5, 1),
        F(gpl_dma, 8, 2, 1),
        F(trim, 72, 0, 1),
        FIELD_UNLESS_0(ata_log_capabilities, form_factor, 32, 0, 4),
    };
#undef F
    const uint8_t *b = data;
    uint64_t q;
    int rc;
    memset(out, 0, sizeof *out);
    if ((rc = check_page(b, n, 0x03)))
        return rc;
    decode_quads(fields, COUNT(fields), b, n, out);
    if (quad(b, n, 24, &q)) { /* as w217 */
        if ((q & 0xffff) == 1)
            KNOW(ata_log_capabilities, out, rotation_rpm, 0);
        else if ((q & 0xffff) >= 0x0401 && (q & 0xffff) != 0xffff)
            KNOW(ata_log_capabilities, out, rotation_rpm, (uint32_t)(q & 0xffff));
    }
    if (quad(b, n, 136, &q))
        KNOW(ata_log_capabilities, out, queue_depth, (uint32_t)(q & 0x1f) + 1);
    return 0;
}

int sated_ata_decode_log_security(const void *data, size_t n, struct sated_ata_log_security *out)
{
#define F(member, quad, bit) FIELD(ata_log_security, member, quad, bit, 1)
    static const struct field fields[] = {
        F(supported, 16, 6),     F(level, 16, 5),           F(enhanced_erase, 16, 4),
        F(count_expired, 16, 3), F(frozen, 16, 2),          F(locked, 16, 1),
        F(enabled, 16, 0),       F(trusted, 40, 0),         F(sanitize_overrides, 48, 7),
        F(acs3_commands, 48, 6), F(antifreeze_lock, 48, 5), F(block_erase, 48, 4),
        F(overwrite, 48, 3),     F(crypto_scramble, 48, 2), F(sanitize, 48, 1),
        F(encrypts_all, 48, 0),
    };
#undef F
    const uint8_t *b = data;
    uint64_t q;
    uint32_t open;
    int32_t minutes;
    int rc;
    memset(out, 0, sizeof *out);
    if ((rc = check_page(b, n, 0x06)))
        return rc;
    decode_quads(fields, COUNT(fields), b, n, out);
    if (quad(b, n, 8, &q) && (q & 0xffff) && (q & 0xffff) != 0xffff)
        KNOW(ata_log_security, out, master_revision, (uint32_t)(q & 0xffff));
    if (quad(b, n, 24, &q) && (minutes = ata_erase_minutes((uint32_t)(q & 0xffff), &open)) >= 0) {
        KNOW(ata_log_security, out, enhanced_minutes, (uint32_t)minutes);
        KNOW(ata_log_security, out, enhanced_at_least, open);
    }
    if (quad(b, n, 32, &q) && (minutes = ata_erase_minutes((uint32_t)(q & 0xffff), &open)) >= 0) {
        KNOW(ata_log_security, out, erase_minutes, (uint32_t)minutes);
        KNOW(ata_log_security, out, erase_at_least, open);
    }
    return 0;
}

int sated_ata_decode_log_sata(const void *data, size_t n, struct sated_ata_log_sata *out)
{
#define F(member, quad, bit, bits) FIELD(ata_log_sata, member, quad, bit, bits)
    static const struct field fields[] = {
        F(capabilities, 8, 0, 63),
        F(ncq, 8, 7, 1),
        F(phy_counters, 8, 9, 1),
        F(ncq_priority, 8, 11, 1),
        F(read_log_dma_equivalent, 8, 14, 1),
        F(ncq_streaming, 8, 15, 1),
        F(ncq_management, 8, 16, 1),
        F(ncq_send_receive, 8, 17, 1),
        F(dipm, 8, 20, 1),
        F(settings_preservation, 8, 23, 1),
        F(ncq_autosense, 8, 24, 1),
        F(devsleep, 8, 25, 1),
        F(devsleep_to_reduced, 8, 26, 1),
        F(settings, 16, 0, 63),
        FIELD_UNLESS_0(ata_log_sata, speed_current, 16, 0, 3),
    };
#undef F
    const uint8_t *b = data;
    uint64_t q;
    int rc;
    memset(out, 0, sizeof *out);
    if ((rc = check_page(b, n, 0x08)))
        return rc;
    decode_quads(fields, COUNT(fields), b, n, out);
    if (quad(b, n, 8, &q) && q & 7)
        KNOW(ata_log_sata, out, speed_max, q & 4 ? 3 : q & 2 ? 2 : 1);
    return 0;
}

int sated_ata_decode_dco(const void *data, size_t n, struct sated_ata_dco *out)
{
    const uint8_t *b = data;
    memset(out, 0, sizeof *out);
    if (n < PAGE)
        return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                         "DEVICE CONFIGURATION IDENTIFY data: %zu bytes were received, not 512; read it again", n);
    if (b[510] != 0xa5)
        KNOW(ata_dco, out, checksum, SATED_ATA_CHECKSUM_ABSENT);
    else
        KNOW(ata_dco, out, checksum, ata_checksum(b));
    if (out->checksum != SATED_ATA_CHECKSUM_OK)
        return 0;
    KNOW(ata_dco, out, revision, bytes_le16(b));
    KNOW(ata_dco, out, multi_dma, bytes_le16(b + 2));
    KNOW(ata_dco, out, ultra_dma, bytes_le16(b + 4));
    if (bytes_le64(b + 6) && bytes_le64(b + 6) < UINT64_C(1) << 48) {
        KNOW(ata_dco, out, max_lba, bytes_le64(b + 6));
        KNOW(ata_dco, out, sectors, out->max_lba + 1);
    }
    KNOW(ata_dco, out, features, bytes_le16(b + 14));
    KNOW(ata_dco, out, sata_features, bytes_le16(b + 16));
    return 0;
}

int sated_ata_hidden(const struct sated_ata_identify *id, const struct sated_ata_registers *native,
                     const struct sated_ata_dco *dco, struct sated_ata_hidden *out)
{
    struct sated_ata_native_max max = {0};
    const struct sated_ata_areas *areas = &id->areas;
    bool no_dco = !dco && IS_KNOWN(ata_areas, areas, dco_supported) && !areas->dco_supported;
    memset(out, 0, sizeof *out);
    if (IS_KNOWN(ata_capacity, &id->capacity, sectors))
        KNOW(ata_hidden, out, accessible_sectors, id->capacity.sectors);
    if (native)
        sated_ata_decode_native_max(native, &max);
    if (IS_KNOWN(ata_native_max, &max, sectors))
        KNOW(ata_hidden, out, native_sectors, max.sectors);
    if (dco && IS_KNOWN(ata_dco, dco, sectors))
        KNOW(ata_hidden, out, overlay_sectors, dco->sectors);
    /* Numbers that run backwards contradict each other: then nothing is known of the difference. */
    if (IS_KNOWN(ata_hidden, out, native_sectors) && IS_KNOWN(ata_hidden, out, accessible_sectors) &&
        out->native_sectors >= out->accessible_sectors)
        KNOW(ata_hidden, out, hpa_sectors, out->native_sectors - out->accessible_sectors);
    if (IS_KNOWN(ata_hidden, out, overlay_sectors)) {
        if (IS_KNOWN(ata_hidden, out, native_sectors) && out->overlay_sectors >= out->native_sectors)
            KNOW(ata_hidden, out, dco_sectors, out->overlay_sectors - out->native_sectors);
    } else if (no_dco) {
        KNOW(ata_hidden, out, dco_sectors, 0);
    }
    if (IS_KNOWN(ata_hidden, out, hpa_sectors) || IS_KNOWN(ata_hidden, out, dco_sectors))
        KNOW(ata_hidden, out, hidden_at_least_sectors, out->hpa_sectors + out->dco_sectors);
    if (IS_KNOWN(ata_hidden, out, hpa_sectors) && IS_KNOWN(ata_hidden, out, dco_sectors)) {
        KNOW(ata_hidden, out, hidden_sectors, out->hpa_sectors + out->dco_sectors);
        if (IS_KNOWN(ata_capacity, &id->capacity, logical_block_bytes) &&
            out->hidden_sectors <= UINT64_MAX / id->capacity.logical_block_bytes)
            KNOW(ata_hidden, out, hidden_bytes, out->hidden_sectors * id->capacity.logical_block_bytes);
    }
    return 0;
}
