/* SPDX-License-Identifier: MIT */
/* What Get Log Page returns (NVM Express Base 2.0c 5.16.1, OCP Datacenter NVMe SSD 2.0). */
#include <sated/nvme.h>

#include <string.h>

#include "core/bytes.h"
#include "core/error.h"
#include "protocol/fields.h"
#include "protocol/known_nvme.h"
#include "protocol/nvme_inside.h"

#define E(member, byte, bits) FIELD(nvme_error, member, byte, 0, bits)
#define S(member, byte, bits) FIELD(nvme_smart_log, member, byte, 0, bits)
#define S128(member, byte) FIELD_U128(nvme_smart_log, member, byte)
#define R(member, byte, bits) FIELD(nvme_self_test_result, member, byte, 0, bits)
#define T(member, byte, bits) FIELD(nvme_telemetry_header, member, byte, 0, bits)
#define G(member, byte, bits) FIELD(nvme_endurance_group_log, member, byte, 0, bits)
#define G128(member, byte) FIELD_U128(nvme_endurance_group_log, member, byte)
#define P(member, byte, bits) FIELD(nvme_persistent_event_header, member, byte, 0, bits)
#define Z(member, byte, shift, bits) FIELD(nvme_sanitize_log, member, byte, shift, bits)
#define O(member, byte, bits) FIELD(nvme_ocp_smart_log, member, byte, 0, bits)
#define O128(member, byte) FIELD_U128(nvme_ocp_smart_log, member, byte)

static const struct field error_entry[] = {
    E(lba, 16, 64),          E(cs, 32, 64),
    E(nsid, 24, 32),         E(sqid, 8, 16),
    E(cmdid, 10, 16),        FIELD(nvme_error, status_field, 12, 1, 15),
    E(parm_err_loc, 14, 16), E(trtype_spec_info, 40, 16),
    E(phase_tag, 12, 1),     E(vs, 28, 8),
    E(trtype, 29, 8),
};

int sated_nvme_decode_error_log(const void *data, size_t n, struct sated_nvme_error_log *out)
{
    memset(out, 0, sizeof *out);
    if (n < 64)
        return nvme_short("Error Information log", n, 64);
    for (; out->n_entries < 256 && 64 * (out->n_entries + 1u) <= n; out->n_entries++) {
        const uint8_t *p = (const uint8_t *)data + 64 * out->n_entries;
        struct sated_nvme_error *entry = &out->entries[out->n_entries];
        /* "A value of 0h indicates an invalid entry": the rest of it says nothing. */
        KNOW(nvme_error, entry, error_count, bytes_le64(p));
        if (!entry->error_count)
            continue;
        fields_decode_le(error_entry, FIELDS(error_entry), p, 64, entry);
        FORGET_IF(entry->parm_err_loc == 0xffff, nvme_error, entry, parm_err_loc);
        FORGET_IF(entry->sqid == 0xffff, nvme_error, entry, sqid);
        FORGET_IF(entry->cmdid == 0xffff, nvme_error, entry, cmdid);
    }
    out->truncated = 64 * (size_t)out->n_entries != n;
    out->known = KNOWN_BIT(nvme_error_log, truncated) | KNOWN_BIT(nvme_error_log, n_entries) |
                 KNOWN_BIT(nvme_error_log, entries);
    return 0;
}

static const struct field smart[] = {
    S(critical_warning, 0, 8),
    S(avail_spare, 3, 8),
    S(spare_thresh, 4, 8),
    S(percent_used, 5, 8),
    S(endu_grp_crit_warn_sumry, 6, 8),
    FIELD_UNLESS_0(nvme_smart_log, temperature, 1, 0, 16),
    S128(data_units_read, 32),
    S128(data_units_written, 48),
    S128(host_reads, 64),
    S128(host_writes, 80),
    S128(ctrl_busy_time, 96),
    S128(power_cycles, 112),
    S128(power_on_hours, 128),
    S128(unsafe_shutdowns, 144),
    S128(media_errors, 160),
    S128(num_err_log_entries, 176),
    S(warning_temp_time, 192, 32),
    S(critical_comp_time, 196, 32),
    S(thm_temp1_trans_count, 216, 32),
    S(thm_temp2_trans_count, 220, 32),
    S(thm_temp1_total_time, 224, 32),
    S(thm_temp2_total_time, 228, 32),
};

/* The sensors that report: 0 is "not implemented"; FFFFh is some 65,000 degrees. */
static uint32_t decode_sensors(const uint8_t *p, size_t n, struct sated_nvme_smart_log *out)
{
    uint32_t doubts = 0;
    for (uint32_t i = 0; i < 8 && 200 + 2 * (i + 1u) <= n; i++) {
        uint32_t kelvin = bytes_le16(p + 200 + 2 * i);
        struct sated_nvme_sensor *sensor = &out->sensors[out->n_sensors];
        if (!kelvin)
            continue;
        KNOW(nvme_sensor, sensor, sensor, (uint16_t)(i + 1));
        if (kelvin == 0xffff)
            doubts |= SATED_NVME_DOUBT_TEMPERATURE;
        else
            KNOW(nvme_sensor, sensor, kelvin, (uint16_t)kelvin);
        out->n_sensors++;
    }
    if (n >= 216)
        KNOW_LIST(nvme_smart_log, out, n_sensors, sensors);
    else
        out->n_sensors = 0;
    return n >= 216 ? doubts : 0;
}

/* Takes back a percentage above 100, and a counter of data units that stands at 0. */
#define DOUBT_IF(cond, of, s, member, doubt) \
    do { \
        if (IS_KNOWN(of, s, member) && (cond)) { \
            (s)->doubts |= (doubt); \
            FORGET_IF(1, of, s, member); \
        } \
    } while (0)
#define DOUBT_UNITS(of, s, member) \
    DOUBT_IF(nvme_zero(&(s)->member, sizeof(s)->member), of, s, member, SATED_NVME_DOUBT_ZERO_UNITS)

int sated_nvme_decode_smart_log(const void *data, size_t n, struct sated_nvme_smart_log *out)
{
    memset(out, 0, sizeof *out);
    if (!n)
        return nvme_short("SMART log", n, 1);
    fields_decode_le(smart, FIELDS(smart), data, n, out);
    KNOW(nvme_smart_log, out, doubts, (uint8_t)decode_sensors(data, n, out));
    DOUBT_IF(out->avail_spare > 100, nvme_smart_log, out, avail_spare, SATED_NVME_DOUBT_SPARE);
    DOUBT_IF(out->spare_thresh > 100, nvme_smart_log, out, spare_thresh, SATED_NVME_DOUBT_SPARE_THRESHOLD);
    DOUBT_IF(out->temperature == 0xffff, nvme_smart_log, out, temperature, SATED_NVME_DOUBT_TEMPERATURE);
    DOUBT_UNITS(nvme_smart_log, out, data_units_read);
    DOUBT_UNITS(nvme_smart_log, out, data_units_written);
    if (out->percent_used == 255)
        out->doubts |= SATED_NVME_DOUBT_USED_SATURATED;
    return 0;
}

int sated_nvme_decode_temperature_threshold(uint32_t dw0, uint32_t *kelvin)
{
    *kelvin = dw0 & 0xffff;
    if (*kelvin && *kelvin != 0xffff)
        return 1;
    *kelvin = 0;
    return 0;
}

int sated_nvme_decode_firmware_log(const void *data, size_t n, struct sated_nvme_firmware_log *out)
{
    const uint8_t *p = data;
    memset(out, 0, sizeof *out);
    if (!n)
        return nvme_short("Firmware Slot Information log", n, 1);
    KNOW(nvme_firmware_log, out, afi, p[0]);
    if (p[0] & 7)
        KNOW(nvme_firmware_log, out, active, p[0] & 7);
    if (p[0] >> 4 & 7)
        KNOW(nvme_firmware_log, out, next, p[0] >> 4 & 7);
    for (uint32_t i = 0; i < 7 && 8 * (i + 2u) <= n; i++) {
        struct sated_nvme_firmware_slot *slot = &out->slots[out->n_slots];
        fields_text(slot->revision, sizeof slot->revision, p + 8 * (i + 1u), 8);
        if (!slot->revision[0])
            continue;
        slot->known |= KNOWN_BIT(nvme_firmware_slot, revision);
        KNOW(nvme_firmware_slot, slot, slot, i + 1);
        out->n_slots++;
    }
    if (n >= 64)
        KNOW_LIST(nvme_firmware_log, out, n_slots, slots);
    return 0;
}

int sated_nvme_decode_effects_log(const void *data, size_t n, struct sated_nvme_effects_log *out)
{
    const uint8_t *p = data;
    memset(out, 0, sizeof *out);
    if (n < 1024)
        return nvme_short("Commands Supported and Effects log", n, 1024);
    for (uint32_t i = 0; i < 256; i++)
        out->acs[i] = bytes_le32(p + 4 * i);
    out->known |= KNOWN_BIT(nvme_effects_log, acs);
    if (n < 2048)
        return 0;
    for (uint32_t i = 0; i < 256; i++)
        out->iocs[i] = bytes_le32(p + 1024 + 4 * i);
    out->known |= KNOWN_BIT(nvme_effects_log, iocs);
    return 0;
}

static const struct field self_test_result[] = {
    R(poh, 4, 64),
    FIELD(nvme_self_test_result, code, 0, 4, 4),
    R(result, 0, 4),
};

/* What "valid diagnostic information" (bits 0 to 3 of byte 2) and the result say is there. */
static void decode_self_test_result(const uint8_t *p, struct sated_nvme_self_test_result *out)
{
    fields_decode_le(self_test_result, FIELDS(self_test_result), p, 28, out);
    if (out->result == 7)
        KNOW(nvme_self_test_result, out, segment, p[1]);
    if (p[2] & 1)
        KNOW(nvme_self_test_result, out, nsid, bytes_le32(p + 12));
    if (p[2] & 2)
        KNOW(nvme_self_test_result, out, flba, bytes_le64(p + 16));
    if (p[2] & 4)
        KNOW(nvme_self_test_result, out, sct, p[24] & 7);
    if (p[2] & 8)
        KNOW(nvme_self_test_result, out, sc, p[25]);
}

int sated_nvme_decode_self_test_log(const void *data, size_t n, struct sated_nvme_self_test_log *out)
{
    const uint8_t *p = data;
    uint32_t i;
    memset(out, 0, sizeof *out);
    if (n < 4)
        return nvme_short("Device Self-test log", n, 4);
    KNOW(nvme_self_test_log, out, operation, p[0] & 15);
    if (out->operation && (p[1] & 127) <= 100)
        KNOW(nvme_self_test_log, out, completion, p[1] & 127);
    for (i = 0; i < 20 && 4 + 28 * (i + 1u) <= n; i++)
        /* Result Fh: the entry is not used; 0 as the code is reserved, as in a page of zeros. */
        if ((p[4 + 28 * i] & 15) != 15 && p[4 + 28 * i] >> 4)
            decode_self_test_result(p + 4 + 28 * i, &out->results[out->n_results++]);
    KNOW(nvme_self_test_log, out, truncated, i < 20);
    KNOW_LIST(nvme_self_test_log, out, n_results, results);
    return 0;
}

static const struct field telemetry[] = {
    T(lid, 0, 8),
    T(ctrl_available, 382, 8),
    T(ctrl_generation, 383, 8),
    FIELD_UNLESS_0(nvme_telemetry_header, ieee, 5, 0, 24),
    T(area1_last, 8, 16),
    T(area2_last, 10, 16),
    T(area3_last, 12, 16),
    T(area4_last, 16, 32),
    FIELD_BLOB(nvme_telemetry_header, reason, 384, 128),
};

int sated_nvme_decode_telemetry_header(const void *data, size_t n, struct sated_nvme_telemetry_header *out)
{
    const uint8_t *p = data;
    memset(out, 0, sizeof *out);
    if (!n)
        return nvme_short("Telemetry log", n, 1);
    if (p[0] != SATED_NVME_LID_TELEMETRY_HOST && p[0] != SATED_NVME_LID_TELEMETRY_CTRL)
        return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                         "Telemetry log: byte 0 is %02Xh, expected the log identifier 07h or 08h", (unsigned)p[0]);
    fields_decode_le(telemetry, FIELDS(telemetry), data, n, out);
    if (p[0] == SATED_NVME_LID_TELEMETRY_HOST && n > 381)
        KNOW(nvme_telemetry_header, out, host_generation, p[381]);
    return 0;
}

static const struct field endurance_group[] = {
    G(critical_warning, 0, 8),
    G(features, 1, 8),
    G(avl_spare, 3, 8),
    G(avl_spare_threshold, 4, 8),
    G(percent_used, 5, 8),
    G(domainid, 6, 16),
    G128(endurance_estimate, 32),
    G128(data_units_read, 48),
    G128(data_units_written, 64),
    G128(media_units_written, 80),
    G128(host_read_cmds, 96),
    G128(host_write_cmds, 112),
    G128(media_data_integrity_err, 128),
    G128(num_err_info_log_entries, 144),
    G128(tegcap, 160),
    G128(uegcap, 176),
};

int sated_nvme_decode_endurance_group_log(const void *data, size_t n, struct sated_nvme_endurance_group_log *out)
{
    memset(out, 0, sizeof *out);
    if (!n)
        return nvme_short("Endurance Group Information log", n, 1);
    fields_decode_le(endurance_group, FIELDS(endurance_group), data, n, out);
    KNOW(nvme_endurance_group_log, out, doubts, 0);
    DOUBT_IF(out->avl_spare > 100, nvme_endurance_group_log, out, avl_spare, SATED_NVME_DOUBT_SPARE);
    DOUBT_IF(out->avl_spare_threshold > 100, nvme_endurance_group_log, out, avl_spare_threshold,
             SATED_NVME_DOUBT_SPARE_THRESHOLD);
    DOUBT_UNITS(nvme_endurance_group_log, out, data_units_read);
    DOUBT_UNITS(nvme_endurance_group_log, out, data_units_written);
    DOUBT_UNITS(nvme_endurance_group_log, out, media_units_written);
    if (out->percent_used == 255)
        out->doubts |= SATED_NVME_DOUBT_USED_SATURATED;
    /* "0h indicates that the controller does not report an estimate"; the capacities came with revision 2.0. */
    FORGET_ZERO(nvme_endurance_group_log, out, endurance_estimate);
    FORGET_ZERO(nvme_endurance_group_log, out, tegcap);
    FORGET_IF(!IS_KNOWN(nvme_endurance_group_log, out, tegcap), nvme_endurance_group_log, out, uegcap);
    return 0;
}

static const struct field persistent_event[] = {
    P(tll, 8, 64),
    P(timestamp, 20, 64),
    FIELD_U128(nvme_persistent_event_header, poh, 28),
    P(pcc, 44, 64),
    P(tnev, 4, 32),
    P(rci, 374, 32),
    P(lhl, 18, 16),
    P(vid, 52, 16),
    P(ssvid, 54, 16),
    P(generation, 372, 16),
    P(lid, 0, 8),
    P(revision, 16, 8),
    FIELD_CHARS(nvme_persistent_event_header, sn, 56, 20),
    FIELD_CHARS(nvme_persistent_event_header, mn, 76, 40),
    FIELD_CHARS(nvme_persistent_event_header, subnqn, 116, 256),
    FIELD_BLOB(nvme_persistent_event_header, supported, 480, 32),
};

int sated_nvme_decode_persistent_event_header(const void *data, size_t n,
                                              struct sated_nvme_persistent_event_header *out)
{
    memset(out, 0, sizeof *out);
    if (!n)
        return nvme_short("Persistent Event log", n, 1);
    if (*(const uint8_t *)data != SATED_NVME_LID_PERSISTENT_EVENT)
        return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                         "Persistent Event log: byte 0 is %02Xh, expected the log identifier 0Dh",
                         (unsigned)*(const uint8_t *)data);
    fields_decode_le(persistent_event, FIELDS(persistent_event), data, n, out);
    FORGET_IF(!out->sn[0], nvme_persistent_event_header, out, sn);
    FORGET_IF(!out->mn[0], nvme_persistent_event_header, out, mn);
    FORGET_IF(!out->subnqn[0], nvme_persistent_event_header, out, subnqn);
    return 0;
}

static const struct field sanitize[] = {
    Z(sprog, 0, 0, 16),
    Z(sstat, 2, 0, 16),
    Z(state, 2, 0, 3),
    Z(passes, 2, 3, 5),
    Z(global_data_erased, 2, 8, 1),
    Z(scdw10, 4, 0, 32),
    Z(eto, 8, 0, 32),
    Z(etbe, 12, 0, 32),
    Z(etce, 16, 0, 32),
    Z(etond, 20, 0, 32),
    Z(etbend, 24, 0, 32),
    Z(etcend, 28, 0, 32),
    FIELD_UNLESS_0(nvme_sanitize_log, etpvds, 32, 0, 32),
    FIELD_UNLESS_0(nvme_sanitize_log, sans, 36, 0, 4),
    FIELD_UNLESS_0(nvme_sanitize_log, fails, 36, 4, 4),
};

/* "FFFFFFFFh indicates that no time period is reported". */
#define FORGET_TIME(member) FORGET_IF(out->member == UINT32_MAX, nvme_sanitize_log, out, member)

int sated_nvme_decode_sanitize_log(const void *data, size_t n, struct sated_nvme_sanitize_log *out)
{
    memset(out, 0, sizeof *out);
    if (!n)
        return nvme_short("Sanitize Status log", n, 1);
    fields_decode_le(sanitize, FIELDS(sanitize), data, n, out);
    if (IS_KNOWN(nvme_sanitize_log, out, state) && out->state == SATED_NVME_SANITIZE_RUNNING)
        KNOW(nvme_sanitize_log, out, progress, out->sprog);
    FORGET_TIME(eto);
    FORGET_TIME(etbe);
    FORGET_TIME(etce);
    FORGET_TIME(etond);
    FORGET_TIME(etbend);
    FORGET_TIME(etcend);
    FORGET_TIME(etpvds);
    return 0;
}

static const struct field ocp_smart[] = {
    O128(physical_media_units_written, 0),
    O128(physical_media_units_read, 16),
    O(bad_user_nand_blocks_raw, 32, 48),
    O(bad_system_nand_blocks_raw, 40, 48),
    O(bad_user_nand_blocks_normalized, 38, 16),
    O(bad_system_nand_blocks_normalized, 46, 16),
    O(xor_recovery_count, 48, 64),
    O(uncorrectable_read_error_count, 56, 64),
    O(soft_ecc_error_count, 64, 64),
    O(end_to_end_detected_errors, 72, 32),
    O(end_to_end_corrected_errors, 76, 32),
    O(system_data_percent_used, 80, 8),
    O(refresh_counts, 81, 56),
    O(max_user_data_erase_count, 88, 32),
    O(min_user_data_erase_count, 92, 32),
    O(thermal_throttling_events, 96, 8),
    O(thermal_throttling_status, 97, 8),
    O(dssd_errata_version, 98, 8),
    O(dssd_major_version, 103, 8),
    O(dssd_point_version, 99, 16),
    O(dssd_minor_version, 101, 16),
    O(pcie_correctable_error_count, 104, 64),
    O(incomplete_shutdowns, 112, 32),
    O(percent_free_blocks, 120, 8),
    O(capacitor_health, 128, 16),
    O(unaligned_io, 136, 64),
    O(security_version_number, 144, 64),
    O(total_nuse, 152, 64),
    O128(plp_start_count, 160),
    O128(endurance_estimate, 176),
    O(pcie_link_retraining_count, 192, 64),
    O(power_state_change_count, 200, 64),
    O(log_page_version, 494, 16),
};

int sated_nvme_decode_ocp_smart_log(const void *data, size_t n, struct sated_nvme_ocp_smart_log *out)
{
    /* AFD514C97C6F4F9CA4F2BFEA2810AFC5h, little-endian as every number. */
    static const uint8_t guid[16] = {0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4,
                                     0x9c, 0x4f, 0x6f, 0x7c, 0xc9, 0x14, 0xd5, 0xaf};
    memset(out, 0, sizeof *out);
    if (n < 512)
        return nvme_short("log C0h", n, 512);
    if (memcmp((const uint8_t *)data + 496, guid, sizeof guid))
        return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                         "log C0h: bytes 496 to 511 are not the GUID of OCP's SMART log: it is this vendor's own page");
    fields_decode_le(ocp_smart, FIELDS(ocp_smart), data, n, out);
    FORGET_IF(out->percent_free_blocks > 100, nvme_ocp_smart_log, out, percent_free_blocks);
    FORGET_IF(out->capacitor_health == 0xffff, nvme_ocp_smart_log, out, capacitor_health);
    /* Reserved before version 2 of the page. */
    if (out->log_page_version < 2) {
        FORGET_IF(1, nvme_ocp_smart_log, out, dssd_errata_version);
        FORGET_IF(1, nvme_ocp_smart_log, out, dssd_point_version);
        FORGET_IF(1, nvme_ocp_smart_log, out, dssd_minor_version);
        FORGET_IF(1, nvme_ocp_smart_log, out, dssd_major_version);
        FORGET_IF(1, nvme_ocp_smart_log, out, pcie_link_retraining_count);
        FORGET_IF(1, nvme_ocp_smart_log, out, power_state_change_count);
    }
    return 0;
}
