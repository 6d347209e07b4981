/* SPDX-License-Identifier: MIT */
/* INQUIRY data (SPC-5) and the vital product data pages of disks (SPC-5, SBC-4 6.6, SAT-4 12.4). */
#include <sated/scsi.h>

#include <stdio.h>
#include <string.h>

#include "core/bytes.h"
#include "core/error.h"
#include "protocol/fields.h"
#include "protocol/known_scsi.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define REFUSE(...) return error_set(SATED_PARSE, SATED_LAYER_DRIVE, __VA_ARGS__)

int sated_scsi_decode_inquiry(const void *data, size_t n, struct sated_scsi_inquiry *out)
{
#define F(member, byte, shift, bits) FIELD(scsi_inquiry, member, byte, shift, bits)
    static const struct field fields[] = {
        F(peripheral_qualifier, 0, 5, 3),
        F(peripheral_device_type, 0, 0, 5),
        F(rmb, 1, 7, 1),
        F(lu_cong, 1, 6, 1),
        FIELD_UNLESS_0(scsi_inquiry, hot_pluggable, 1, 4, 2),
        F(version, 2, 0, 8),
        F(aerc, 3, 7, 1),
        F(trmtsk, 3, 6, 1),
        F(normaca, 3, 5, 1),
        F(hisup, 3, 4, 1),
        F(response_data_format, 3, 0, 4),
        F(additional_length, 4, 0, 8),
        F(sccs, 5, 7, 1),
        F(acc, 5, 6, 1),
        F(tpgs, 5, 4, 2),
        F(third_party_copy, 5, 3, 1),
        F(protect, 5, 0, 1),
        F(bque, 6, 7, 1),
        F(encserv, 6, 6, 1),
        F(vs6, 6, 5, 1),
        F(multip, 6, 4, 1),
        F(mchngr, 6, 3, 1),
        F(ackreqq, 6, 2, 1),
        F(addr16, 6, 0, 1),
        F(reladr, 7, 7, 1),
        F(wbus16, 7, 5, 1),
        F(sync, 7, 4, 1),
        F(linked, 7, 3, 1),
        F(trandis, 7, 2, 1),
        F(cmdque, 7, 1, 1),
        F(vs7, 7, 0, 1),
        FIELD_CHARS(scsi_inquiry, vendor, 8, 8),
        FIELD_CHARS(scsi_inquiry, product, 16, 16),
        FIELD_CHARS(scsi_inquiry, revision, 32, 4),
        FIELD_CHARS(scsi_inquiry, vendor_specific, 36, 20),
        F(clocking, 56, 2, 2),
        F(qas, 56, 1, 1),
        F(ius, 56, 0, 1),
    };
#undef F
    const uint8_t *b = data;
    memset(out, 0, sizeof *out);
    if (n < 5)
        REFUSE("INQUIRY data: %zu bytes, where at least 5 were expected", n);
    KNOW(scsi_inquiry, out, length, 5u + b[4]);
    KNOW(scsi_inquiry, out, truncated, out->length > n);
    if (n > out->length)
        n = out->length;
    fields_decode_be(fields, COUNT(fields), b, n, out);
    if (n >= 60)
        out->known |= KNOWN_BIT(scsi_inquiry, n_versions) | KNOWN_BIT(scsi_inquiry, versions);
    for (size_t at = 58; at + 2 <= n && at < 74; at += 2)
        if (bytes_be16(b + at))
            out->versions[out->n_versions++] = bytes_be16(b + at);
    return 0;
}

/* A VPD page's header. The page ends where its PAGE LENGTH says: an adapter may leave an earlier answer behind it.
 * Return: bytes of the page that there are, header included, or a negative error. */
static int page_begin(const uint8_t *b, size_t n, uint8_t page, size_t least, bool *truncated)
{
    size_t whole;
    if (n < 4)
        REFUSE("VPD page %02Xh: %zu bytes, where at least 4 were expected", page, n);
    if (b[1] != page)
        REFUSE("VPD page %02Xh: byte 1 says that this is page %02Xh", page, b[1]);
    whole = 4u + bytes_be16(b + 2);
    if (whole < least)
        REFUSE("VPD page %02Xh: its length in bytes 2 and 3 is %zu, where at least %zu was expected", page, whole - 4,
               least - 4);
    *truncated = whole > n;
    return (int)(whole < n ? whole : n);
}

#define PAGE(of, page, least) \
    const uint8_t *b = data; \
    int length; \
    memset(out, 0, sizeof *out); \
    if ((length = page_begin(b, n, page, least, &out->truncated)) < 0) \
        return length; \
    out->known |= KNOWN_BIT(of, truncated); \
    n = (size_t)length

int sated_scsi_decode_vpd_supported(const void *data, size_t n, struct sated_scsi_vpd_supported *out)
{
    PAGE(scsi_vpd_supported, 0x00, 4);
    KNOW(scsi_vpd_supported, out, peripheral, b[0]);
    out->known |= KNOWN_BIT(scsi_vpd_supported, n_pages) | KNOWN_BIT(scsi_vpd_supported, pages);
    for (size_t at = 4; at < n; at++) {
        if (out->n_pages == COUNT(out->pages)) {
            out->truncated = true;
            break;
        }
        out->pages[out->n_pages++] = b[at];
    }
    return 0;
}

int sated_scsi_decode_vpd_serial(const void *data, size_t n, struct sated_scsi_vpd_serial *out)
{
    PAGE(scsi_vpd_serial, 0x80, 4);
    if (n - 4 >= sizeof out->serial)
        out->truncated = true;
    fields_text(out->serial, sizeof out->serial, b + 4, n - 4);
    if (out->serial[0] && !out->truncated)
        out->known |= KNOWN_BIT(scsi_vpd_serial, serial);
    return 0;
}

/* What a person reads of a designator: text as it is, a UUID as it is written, anything else in hexadecimal. */
static void designator_text(struct sated_scsi_designator *d, const uint8_t *b, size_t n)
{
    char *to = d->text;
    if (d->code_set == 2 || d->code_set == 3) {
        size_t from = 0, end = 0;
        while (end < n && b[end])
            end++;
        while (end && b[end - 1] == ' ')
            end--;
        while (from < end && b[from] == ' ')
            from++;
        for (; from < end; from++)
            *to++ = b[from] < 0x20 || b[from] == 0x7f || (d->code_set == 2 && b[from] > 0x7f) ? '?' : (char)b[from];
        *to = 0;
        return;
    }
    /* A UUID stands behind a type byte of 10h and a reserved one (RFC 4122 inside). */
    if (d->type == SATED_DESIGNATOR_UUID && n == 18 && b[0] >> 4 == 1) {
        for (size_t i = 2; i < 18; i++)
            to += sprintf(to, i == 6 || i == 8 || i == 10 || i == 12 ? "-%02x" : "%02x", b[i]);
        return;
    }
    /* The number of a port or of a group has two reserved bytes before it. */
    if (d->type >= SATED_DESIGNATOR_PORT && d->type <= SATED_DESIGNATOR_UNIT_GROUP && n == 4) {
        sprintf(to, "0x%x", bytes_be16(b + 2));
        return;
    }
    to += sprintf(to, "0x");
    for (size_t i = 0; i < n; i++)
        to += sprintf(to, "%02x", b[i]);
}

/* One whole designation descriptor of n bytes, header included. */
static void designator(struct sated_scsi_designator *d, const uint8_t *b, size_t n)
{
    KNOW(scsi_designator, d, code_set, b[0] & 15);
    KNOW(scsi_designator, d, association, b[1] >> 4 & 3);
    KNOW(scsi_designator, d, type, b[1] & 15);
    if (b[1] & 0x80 && (d->association == 1 || d->association == 2))
        KNOW(scsi_designator, d, protocol, b[0] >> 4);
    d->n_designator = (uint32_t)(n - 4);
    memcpy(d->designator, b + 4, n - 4);
    d->known |= KNOWN_BIT(scsi_designator, n_designator) | KNOWN_BIT(scsi_designator, designator);
    if (n > 4) {
        designator_text(d, b + 4, n - 4);
        d->known |= KNOWN_BIT(scsi_designator, text);
    }
}

int sated_scsi_decode_vpd_device_id(const void *data, size_t n, struct sated_scsi_vpd_device_id *out)
{
    size_t at = 4;
    PAGE(scsi_vpd_device_id, 0x83, 4);
    KNOW(scsi_vpd_device_id, out, peripheral, b[0]);
    out->known |= KNOWN_BIT(scsi_vpd_device_id, n_designators) | KNOWN_BIT(scsi_vpd_device_id, designators);
    while (at < n) {
        size_t whole = at + 4 <= n ? 4u + b[at + 3] : 4;
        if (at + whole > n || out->n_designators == COUNT(out->designators)) {
            out->truncated = true;
            break;
        }
        designator(&out->designators[out->n_designators++], b + at, whole);
        at += whole;
    }
    return 0;
}

int sated_scsi_decode_vpd_ata(const void *data, size_t n, struct sated_scsi_vpd_ata *out)
{
    static const struct field fields[] = {
        FIELD_CHARS(scsi_vpd_ata, sat_vendor, 8, 8),    FIELD_CHARS(scsi_vpd_ata, sat_product, 16, 16),
        FIELD_CHARS(scsi_vpd_ata, sat_revision, 32, 4), FIELD_BLOB(scsi_vpd_ata, signature, 36, 20),
        FIELD(scsi_vpd_ata, command_code, 56, 0, 8),    FIELD_BLOB(scsi_vpd_ata, identify, 60, 512),
    };
    PAGE(scsi_vpd_ata, 0x89, 4);
    fields_decode_be(fields, COUNT(fields), b, n, out);
    if (IS_KNOWN(scsi_vpd_ata, out, signature))
        KNOW(scsi_vpd_ata, out, sata, out->signature[0] == 0x34);
    /* Command code 0 says that the translator has no IDENTIFY data (SAT-4 12.4.2). */
    if (IS_KNOWN(scsi_vpd_ata, out, command_code) && !out->command_code)
        out->known &= ~KNOWN_BIT(scsi_vpd_ata, identify);
    return 0;
}

int sated_scsi_decode_vpd_limits(const void *data, size_t n, struct sated_scsi_vpd_limits *out)
{
#define F(member, byte, shift, bits) FIELD(scsi_vpd_limits, member, byte, shift, bits)
#define F0(member, byte, shift, bits) FIELD_UNLESS_0(scsi_vpd_limits, member, byte, shift, bits)
    static const struct field fields[] = {
        F(wsnz, 4, 0, 1),
        F(maximum_compare_and_write_length, 5, 0, 8),
        F0(optimal_transfer_length_granularity, 6, 0, 16),
        F0(maximum_transfer_length, 8, 0, 32),
        F0(optimal_transfer_length, 12, 0, 32),
        F0(maximum_prefetch_length, 16, 0, 32),
        F(maximum_unmap_lba_count, 20, 0, 32),
        F(maximum_unmap_block_descriptor_count, 24, 0, 32),
        F0(optimal_unmap_granularity, 28, 0, 32),
        F(ugavalid, 32, 7, 1),
        F(unmap_granularity_alignment, 32, 0, 31),
        F0(maximum_write_same_length, 36, 0, 64),
        F0(maximum_atomic_transfer_length, 44, 0, 32),
        F(atomic_alignment, 48, 0, 32),
        F(atomic_transfer_length_granularity, 52, 0, 32),
        F0(maximum_atomic_transfer_length_with_boundary, 56, 0, 32),
        F(maximum_atomic_boundary_size, 60, 0, 32),
    };
#undef F
#undef F0
    PAGE(scsi_vpd_limits, 0xb0, 4);
    fields_decode_be(fields, COUNT(fields), b, n, out);
    if (!out->ugavalid)
        out->known &= ~KNOWN_BIT(scsi_vpd_limits, unmap_granularity_alignment);
    return 0;
}

int sated_scsi_decode_vpd_characteristics(const void *data, size_t n, struct sated_scsi_vpd_characteristics *out)
{
#define F(member, byte, shift, bits) FIELD(scsi_vpd_characteristics, member, byte, shift, bits)
#define F0(member, byte, shift, bits) FIELD_UNLESS_0(scsi_vpd_characteristics, member, byte, shift, bits)
    static const struct field fields[] = {
        F0(medium_rotation_rate, 4, 0, 16),
        F0(product_type, 6, 0, 8),
        F(wabereq, 7, 6, 2),
        F(wacereq, 7, 4, 2),
        F0(nominal_form_factor, 7, 0, 4),
        F(mact, 8, 6, 1),
        F(zoned, 8, 4, 2),
        F(rbwz, 8, 3, 1),
        F(bocs, 8, 2, 1),
        F(fuab, 8, 1, 1),
        F(vbuls, 8, 0, 1),
        F(depopulation_time, 12, 0, 32),
    };
#undef F
#undef F0
    PAGE(scsi_vpd_characteristics, 0xb1, 4);
    fields_decode_be(fields, COUNT(fields), b, n, out);
    return 0;
}

int sated_scsi_decode_vpd_provisioning(const void *data, size_t n, struct sated_scsi_vpd_provisioning *out)
{
#define F(member, byte, shift, bits) FIELD(scsi_vpd_provisioning, member, byte, shift, bits)
#define F0(member, byte, shift, bits) FIELD_UNLESS_0(scsi_vpd_provisioning, member, byte, shift, bits)
    static const struct field fields[] = {
        F(threshold_exponent, 4, 0, 8),
        F(lbpu, 5, 7, 1),
        F(lbpws, 5, 6, 1),
        F(lbpws10, 5, 5, 1),
        F(lbprz, 5, 2, 3),
        F(anc_sup, 5, 1, 1),
        F(dp, 5, 0, 1),
        F0(minimum_percentage, 6, 3, 5),
        F(provisioning_type, 6, 0, 3),
        F0(threshold_percentage, 7, 0, 8),
    };
#undef F
#undef F0
    PAGE(scsi_vpd_provisioning, 0xb2, 4);
    fields_decode_be(fields, COUNT(fields), b, n, out);
    if (!IS_KNOWN(scsi_vpd_provisioning, out, dp))
        return 0;
    out->known |= KNOWN_BIT(scsi_vpd_provisioning, n_group) | KNOWN_BIT(scsi_vpd_provisioning, group);
    if (out->dp && n >= 12 && 12u + b[11] <= n) {
        designator(out->group, b + 8, 4u + b[11]);
        out->n_group = 1;
    } else if (out->dp) {
        out->truncated = true;
    }
    return 0;
}
