/* SPDX-License-Identifier: MIT */
/* INQUIRY data (SPC-5) and the vital product data pages of disks (SPC-5, SBC-4 6.6, SAT-4, ZBC). */
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
        REFUSE("INQUIRY data: %zu bytes, where at least 5 were expected; ask for all of it", n);
    KNOW(scsi_inquiry, out, length, 5u + b[4]);
    KNOW(scsi_inquiry, out, truncated, out->length > n);
    if (n > out->length)
        n = out->length;
    fields_decode_be(fields, COUNT(fields), b, n, out);
    if (n >= 60)
        KNOW_LIST(scsi_inquiry, out, n_versions, versions);
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
        REFUSE("VPD page %02Xh: %zu bytes, where at least 4 were expected; ask for all of it", page, n);
    if (b[1] != page)
        REFUSE("VPD page %02Xh: byte 1 says that this is page %02Xh", page, b[1]);
    whole = 4u + bytes_be16(b + 2);
    if (whole < least)
        REFUSE("VPD page %02Xh: its length in bytes 2 and 3 is %zu, where at least %zu was expected; ask for all of it",
               page, whole - 4, least - 4);
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
    KNOW_LIST(scsi_vpd_supported, out, n_pages, pages);
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
    KNOW_LIST(scsi_designator, d, n_designator, designator);
    if (n > 4) {
        designator_text(d, b + 4, n - 4);
        d->known |= KNOWN_BIT(scsi_designator, text);
    }
}

/* A list of designation descriptors, n bytes of it. Return: how many; *truncated where not all of it is whole, or where
 * there is no room for it. */
static uint32_t designators(struct sated_scsi_designator *list, uint32_t room, const uint8_t *b, size_t n,
                            bool *truncated)
{
    uint32_t count = 0;
    for (size_t at = 0; at < n;) {
        size_t whole = at + 4 <= n ? 4u + b[at + 3] : 4;
        if (at + whole > n || count == room) {
            *truncated = true;
            break;
        }
        designator(&list[count++], b + at, whole);
        at += whole;
    }
    return count;
}

int sated_scsi_decode_vpd_device_id(const void *data, size_t n, struct sated_scsi_vpd_device_id *out)
{
    PAGE(scsi_vpd_device_id, 0x83, 4);
    KNOW(scsi_vpd_device_id, out, peripheral, b[0]);
    KNOW_LIST(scsi_vpd_device_id, out, n_designators, designators);
    out->n_designators = designators(out->designators, COUNT(out->designators), b + 4, n - 4, &out->truncated);
    return 0;
}

int sated_scsi_decode_vpd_extended(const void *data, size_t n, struct sated_scsi_vpd_extended *out)
{
#define F(member, byte, shift, bits) FIELD(scsi_vpd_extended, member, byte, shift, bits)
#define F0(member, byte, shift, bits) FIELD_UNLESS_0(scsi_vpd_extended, member, byte, shift, bits)
    static const struct field fields[] = {
        F(activate_microcode, 4, 6, 2),
        F(spt, 4, 3, 3),
        F(grd_chk, 4, 2, 1),
        F(app_chk, 4, 1, 1),
        F(ref_chk, 4, 0, 1),
        F(uask_sup, 5, 5, 1),
        F(group_sup, 5, 4, 1),
        F(prior_sup, 5, 3, 1),
        F(headsup, 5, 2, 1),
        F(ordsup, 5, 1, 1),
        F(simpsup, 5, 0, 1),
        F(wu_sup, 6, 3, 1),
        F(crd_sup, 6, 2, 1),
        F(nv_sup, 6, 1, 1),
        F(v_sup, 6, 0, 1),
        F(no_pi_chk, 7, 5, 1),
        F(p_i_i_sup, 7, 4, 1),
        F(luiclr, 7, 0, 1),
        F(lu_coll_type, 8, 5, 3),
        F(r_sup, 8, 4, 1),
        F(rtd_sup, 8, 3, 1),
        F(hssrelef, 8, 1, 1),
        F(multi_it_nexus_microcode, 9, 0, 4),
        F0(extended_self_test_minutes, 10, 0, 16),
        F(poa_sup, 12, 7, 1),
        F(hra_sup, 12, 6, 1),
        F(vsa_sup, 12, 5, 1),
        F(dms_valid, 12, 4, 1),
        F0(maximum_sense_length, 13, 0, 8),
        F(ibs, 14, 7, 1),
        F(ias, 14, 6, 1),
        F(sac, 14, 2, 1),
        F(nrd1, 14, 1, 1),
        F(nrd0, 14, 0, 1),
        F(maximum_inquiry_change_logs, 15, 0, 16),
        F(maximum_mode_page_change_logs, 17, 0, 16),
    };
#undef F
#undef F0
    PAGE(scsi_vpd_extended, 0x86, 4);
    fields_decode_be(fields, COUNT(fields), b, n, out);
    return 0;
}

int sated_scsi_decode_vpd_mode_policy(const void *data, size_t n, struct sated_scsi_vpd_mode_policy *out)
{
    PAGE(scsi_vpd_mode_policy, 0x87, 4);
    KNOW_LIST(scsi_vpd_mode_policy, out, n_policies, policies);
    for (size_t at = 4; at < n; at += 4) {
        struct sated_scsi_mode_policy *p = &out->policies[out->n_policies];
        if (at + 4 > n || out->n_policies == COUNT(out->policies)) {
            out->truncated = true;
            break;
        }
        out->n_policies++;
        p->page = b[at] & 0x3f;
        p->subpage = b[at + 1];
        p->mlus = b[at + 2] >> 7;
        p->policy = b[at + 2] & 3;
    }
    return 0;
}

/* One port's descriptor: relative port, TransportID, designators. Return: its bytes, or 0 if it is not whole. */
static size_t port(struct sated_scsi_port *p, const uint8_t *b, size_t at, size_t n, bool *truncated)
{
    size_t initiator, list, target;
    if (at + 8 > n)
        return 0;
    initiator = bytes_be16(b + at + 6);
    list = at + 8 + initiator; /* of the target port's descriptors */
    if (list + 4 > n)
        return 0;
    target = bytes_be16(b + list + 2);
    if (list + 4 + target > n)
        return 0;
    KNOW(scsi_port, p, relative_port, bytes_be16(b + at + 2));
    KNOW(scsi_port, p, initiator_length, (uint16_t)initiator);
    if (initiator)
        KNOW(scsi_port, p, initiator_offset, (uint16_t)(at + 8));
    KNOW_LIST(scsi_port, p, n_designators, designators);
    p->n_designators = designators(p->designators, COUNT(p->designators), b + list + 4, target, truncated);
    return 12 + initiator + target;
}

int sated_scsi_decode_vpd_ports(const void *data, size_t n, struct sated_scsi_vpd_ports *out)
{
    PAGE(scsi_vpd_ports, 0x88, 4);
    KNOW_LIST(scsi_vpd_ports, out, n_ports, ports);
    for (size_t at = 4, whole; at < n; at += whole) {
        whole = out->n_ports < COUNT(out->ports) ? port(&out->ports[out->n_ports], b, at, n, &out->truncated) : 0;
        if (!whole) {
            out->truncated = true;
            break;
        }
        out->n_ports++;
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
    /* Command code 0 says that the translator has no IDENTIFY data (SAT-4, ATA Information VPD page). */
    if (IS_KNOWN(scsi_vpd_ata, out, command_code) && !out->command_code)
        FORGET(scsi_vpd_ata, out, identify);
    return 0;
}

int sated_scsi_decode_vpd_power(const void *data, size_t n, struct sated_scsi_vpd_power *out)
{
#define F(member, byte, shift, bits) FIELD(scsi_vpd_power, member, byte, shift, bits)
#define F0(member, byte, shift, bits) FIELD_UNLESS_0(scsi_vpd_power, member, byte, shift, bits)
    static const struct field fields[] = {
        F(standby_y, 4, 1, 1),
        F(standby_z, 4, 0, 1),
        F(idle_c, 5, 2, 1),
        F(idle_b, 5, 1, 1),
        F(idle_a, 5, 0, 1),
        F0(stopped_recovery_ms, 6, 0, 16),
        F0(standby_z_recovery_ms, 8, 0, 16),
        F0(standby_y_recovery_ms, 10, 0, 16),
        F0(idle_a_recovery_ms, 12, 0, 16),
        F0(idle_b_recovery_ms, 14, 0, 16),
        F0(idle_c_recovery_ms, 16, 0, 16),
    };
#undef F
#undef F0
    PAGE(scsi_vpd_power, 0x8a, 4);
    fields_decode_be(fields, COUNT(fields), b, n, out);
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
        FORGET(scsi_vpd_limits, out, unmap_granularity_alignment);
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
    KNOW_LIST(scsi_vpd_provisioning, out, n_group, group);
    if (out->dp && n >= 12 && 12u + b[11] <= n) {
        designator(out->group, b + 8, 4u + b[11]);
        out->n_group = 1;
    } else if (out->dp) {
        out->truncated = true;
    }
    return 0;
}

int sated_scsi_decode_vpd_zoned(const void *data, size_t n, struct sated_scsi_vpd_zoned *out)
{
#define F(member, byte, shift, bits) FIELD(scsi_vpd_zoned, member, byte, shift, bits)
#define F0(member, byte, shift, bits) FIELD_UNLESS_0(scsi_vpd_zoned, member, byte, shift, bits)
    static const struct field fields[] = {
        F(zoned_extension, 4, 4, 4),
        F(aaorb, 4, 1, 1),
        F(urswrz, 4, 0, 1),
        F(optimal_open_sequential_preferred, 8, 0, 32),
        F(optimal_non_sequential_preferred, 12, 0, 32),
        F(maximum_open_sequential_required, 16, 0, 32),
        F0(zone_alignment_method, 23, 0, 4),
        F0(zone_starting_lba_granularity, 24, 0, 64),
    };
#undef F
#undef F0
    PAGE(scsi_vpd_zoned, 0xb6, 4);
    fields_decode_be(fields, COUNT(fields), b, n, out);
    if (out->optimal_open_sequential_preferred == UINT32_MAX)
        FORGET(scsi_vpd_zoned, out, optimal_open_sequential_preferred);
    if (out->optimal_non_sequential_preferred == UINT32_MAX)
        FORGET(scsi_vpd_zoned, out, optimal_non_sequential_preferred);
    return 0;
}

int sated_scsi_decode_vpd_limits_extension(const void *data, size_t n, struct sated_scsi_vpd_limits_extension *out)
{
#define F(member, byte, shift, bits) FIELD(scsi_vpd_limits_extension, member, byte, shift, bits)
#define F0(member, byte, shift, bits) FIELD_UNLESS_0(scsi_vpd_limits_extension, member, byte, shift, bits)
    static const struct field fields[] = {
        F(rscs, 5, 0, 1),
        F(maximum_number_of_streams, 6, 0, 16),
        F0(optimal_stream_write_size, 8, 0, 16),
        F0(stream_granularity_size, 10, 0, 32),
        F0(maximum_scattered_range_transfer_length, 16, 0, 32),
        F0(maximum_scattered_range_descriptors, 22, 0, 16),
        F0(maximum_scattered_transfer_length, 24, 0, 32),
    };
#undef F
#undef F0
    PAGE(scsi_vpd_limits_extension, 0xb7, 4);
    fields_decode_be(fields, COUNT(fields), b, n, out);
    return 0;
}
