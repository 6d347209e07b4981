/* SPDX-License-Identifier: MIT */
/* Health by ATA: SMART, the device statistics, which are the standard's own, and the self-test log. */
#include "drive/health.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "protocol/known_ata.h"
#include "transport/handle.h"

struct ata {
    char model[64];
    int32_t rotating; /* as sated_ata_attribute_info takes it */
    uint64_t block_bytes;
    bool smart, logs, self_tests;
};

/* w128 (ACS-4 7.12.7.66). Without the feature set nothing of it can be. */
static void take_security(struct health *h, const struct sated_ata_security *s)
{
    const struct {
        uint32_t condition, holds;
        bool known;
    } told[] = {
        {SATED_HEALTH_SECURITY_ENABLED, s->enabled, IS_KNOWN(ata_security, s, enabled)},
        {SATED_HEALTH_LOCKED, s->locked, IS_KNOWN(ata_security, s, locked)},
        {SATED_HEALTH_FROZEN, s->frozen, IS_KNOWN(ata_security, s, frozen)},
        {SATED_HEALTH_PASSWORD_EXPIRED, s->count_expired, IS_KNOWN(ata_security, s, count_expired)},
    };
    bool without = IS_KNOWN(ata_security, s, supported) && !s->supported;
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (told[i].known || without)
            health_conditions(h, told[i].condition, told[i].known && told[i].holds);
}

/* SANITIZE STATUS EXT (ACS-4 7.36.8), which a drive whose last operation failed aborts with that reason. */
static void take_sanitize(struct health *h, const struct sated_ata_sanitize *able)
{
    struct sated_ata_command c;
    struct sated_ata_registers registers = {.known = 0};
    struct sated_ata_sanitize_status s;
    if (!IS_KNOWN(ata_sanitize, able, supported))
        return;
    if (!able->supported) {
        health_conditions(h, SATED_HEALTH_SANITIZING | SATED_HEALTH_SANITIZE_FAILED | SATED_HEALTH_SANITIZE_FROZEN,
                          false);
        return;
    }
    if (sated_ata_build_sanitize_status(&c, false))
        return;
    health_ask_ata(h, "sanitize-status", true, &c, &registers);
    sated_ata_decode_sanitize_status(&registers, &s);
    if (IS_KNOWN(ata_sanitize_status, &s, reason) && s.reason == SATED_ATA_SANITIZE_UNSUCCESSFUL)
        health_conditions(h, SATED_HEALTH_SANITIZE_FAILED, true);
    if (!IS_KNOWN(ata_sanitize_status, &s, in_progress))
        return;
    health_conditions(h, SATED_HEALTH_SANITIZING, s.in_progress);
    health_conditions(h, SATED_HEALTH_SANITIZE_FAILED, false);
    health_conditions(h, SATED_HEALTH_SANITIZE_FROZEN, s.frozen);
    if (IS_KNOWN(ata_sanitize_status, &s, progress))
        health_progress(h, s.progress);
}

static void take_power(struct health *h)
{
    struct sated_ata_command c;
    struct sated_ata_registers registers;
    struct sated_ata_power_mode p;
    if (sated_ata_build_check_power_mode(&c) == 0 && health_ask_ata(h, "power-mode", true, &c, &registers) &&
        sated_ata_decode_power_mode(&registers, &p) == 0 && IS_KNOWN(ata_power_mode, &p, mode))
        health_conditions(h, SATED_HEALTH_STANDBY, p.mode == SATED_ATA_STANDBY_Z || p.mode == SATED_ATA_STANDBY_Y);
}

/* More sectors than IDENTIFY has are hidden, whoever tells of them. That none are takes an answer, or the word that
 * there is none, of both: what limits the address (HPA, AMAC), and the overlay. */
static void take_hidden(struct health *h, const struct sated_ata_identify *id)
{
    const struct sated_ata_areas *areas = &id->areas;
    struct sated_ata_command c;
    struct sated_ata_registers registers;
    struct sated_ata_dco dco;
    struct sated_ata_hidden hidden;
    bool amac = IS_KNOWN(ata_areas, areas, amac_supported) && areas->amac_supported;
    bool hpa = IS_KNOWN(ata_areas, areas, hpa_supported) && areas->hpa_supported;
    bool overlay = IS_KNOWN(ata_areas, areas, dco_supported) && areas->dco_supported;
    bool extended = IS_KNOWN(ata_capacity, &id->capacity, lba48_sectors);
    bool native = (amac  ? sated_ata_build_get_native_max(&c) == 0
                   : hpa ? sated_ata_build_read_native_max(&c, extended) == 0
                         : false) &&
                  health_ask_ata(h, "native-max", true, &c, &registers);
    bool restorable = overlay && sated_ata_build_dco_identify(&c) == 0 &&
                      health_ask_ata(h, "dco-identify", true, &c, NULL) &&
                      sated_ata_decode_dco(h->page, h->n, &dco) == 0 && dco.checksum != SATED_ATA_CHECKSUM_BAD;
    if (sated_ata_hidden(id, native ? &registers : NULL, restorable ? &dco : NULL, &hidden) ||
        !IS_KNOWN(ata_hidden, &hidden, accessible_sectors))
        return;
    bool by_native = IS_KNOWN(ata_hidden, &hidden, native_sectors);
    bool by_overlay = IS_KNOWN(ata_hidden, &hidden, overlay_sectors);
    bool hides = (by_native && hidden.native_sectors > hidden.accessible_sectors) ||
                 (by_overlay && hidden.overlay_sectors > hidden.accessible_sectors);
    bool no_limit =
        IS_KNOWN(ata_areas, areas, amac_supported) && IS_KNOWN(ata_areas, areas, hpa_supported) && !amac && !hpa;
    bool no_overlay = IS_KNOWN(ata_areas, areas, dco_supported) && !overlay;
    if (hides || ((by_native || no_limit) && (by_overlay || no_overlay)))
        health_conditions(h, SATED_HEALTH_HIDDEN_SECTORS, hides);
}

static void take_conditions(struct health *h, const struct sated_ata_identify *id)
{
    take_power(h);
    take_security(h, &id->security);
    take_sanitize(h, &id->sanitize);
    if (!(h->out->conditions & SATED_HEALTH_SANITIZING)) /* else it would abort these (ACS-4 4.17.9) */
        take_hidden(h, id);
}

static bool take_identify(struct health *h, struct ata *a)
{
    struct sated_ata_command c;
    struct sated_ata_identify *id = malloc(sizeof *id);
    bool came = id && sated_ata_build_identify_device(&c) == 0 &&
                health_ask_ata(h, "identify", h->d->identity.protocol != SATED_PROTOCOL_ATA, &c, NULL) &&
                sated_ata_decode_identify(h->page, h->n, id) == 0 && IS_KNOWN(ata_identify, id, model);
    a->rotating = -1;
    a->block_bytes = 512;
    if (came) {
        snprintf(a->model, sizeof a->model, "%s", id->model);
        if (IS_KNOWN(ata_identify, id, rotation_rpm))
            a->rotating = id->rotation_rpm != 0;
        if (IS_KNOWN(ata_capacity, &id->capacity, logical_block_bytes))
            a->block_bytes = id->capacity.logical_block_bytes;
        a->smart = IS_KNOWN(ata_settings, &id->settings, smart_supported) && id->settings.smart_supported;
        a->logs = IS_KNOWN(ata_settings, &id->settings, gpl_supported) && id->settings.gpl_supported;
        a->self_tests = IS_KNOWN(ata_settings, &id->settings, self_test_supported) && id->settings.self_test_supported;
        if (a->smart && IS_KNOWN(ata_settings, &id->settings, smart_enabled) && !id->settings.smart_enabled) {
            a->smart = false;
            health_warn(h, "SMART is switched off in this drive; what only SMART tells is left out");
        }
        take_conditions(h, id);
    }
    free(id);
    return came;
}

static void take_status(struct health *h)
{
    struct sated_ata_command c;
    struct sated_ata_registers registers;
    struct sated_ata_smart_status status;
    if (sated_ata_build_smart_return_status(&c) || !health_ask_ata(h, "smart-status", false, &c, &registers) ||
        sated_ata_decode_smart_status(&registers, &status) || !IS_KNOWN(ata_smart_status, &status, exceeded))
        return;
    TELL(h, critical_warnings, status.exceeded ? SATED_HEALTH_FAILING : 0);
}

/* Bytes by an attribute whose unit is known only for known families. */
static bool bytes_of(struct health *h, const struct sated_ata_smart_attribute *s,
                     const struct sated_ata_attribute_info *info, uint64_t value, uint64_t *bytes)
{
    if (IS_KNOWN(ata_attribute_info, info, unit_bytes))
        return health_bytes(h, info->name, (const uint64_t[2]){value, 0}, info->unit_bytes, bytes);
    health_doubt(h, "attribute %u (%s): counts %" PRIu64 " in a unit that is not known of this model", (unsigned)s->id,
                 info->name, value);
    return false;
}

/* A percentage as the normalised value or the raw one has it. */
static void take_share(struct health *h, const struct sated_ata_smart_attribute *s,
                       const struct sated_ata_attribute_info *info, uint64_t share)
{
    if (share > 100) {
        health_doubt(h, "attribute %u (%s): %" PRIu64 " is told as a percentage", (unsigned)s->id, info->name, share);
    } else if (info->meaning == SATED_ATA_MEANS_SPARE_LEFT) {
        TELL(h, available_spare, (double)share);
    } else if (!TOLD(h, percentage_used)) {
        TELL(h, percentage_used, 100 - (double)share);
    }
}

static void take_attribute(struct health *h, const struct ata *a, const struct sated_ata_smart_attribute *s)
{
    struct sated_ata_attribute_info info;
    struct sated_ata_attribute_raw raw;
    uint64_t bytes;
    if (sated_ata_attribute_info(a->model[0] ? a->model : NULL, a->rotating, s->id, &info) ||
        sated_ata_decode_attribute_raw(s->raw, sizeof s->raw, info.format, &raw))
        return;
    if (info.meaning != SATED_ATA_MEANS_NOTHING && info.meaning != SATED_ATA_MEANS_LIFE_LEFT &&
        info.meaning != SATED_ATA_MEANS_SPARE_LEFT && !health_count(h, info.name, bytes_be48(s->raw), 48))
        return;
    switch (info.meaning) {
    case SATED_ATA_MEANS_TEMPERATURE:
        if (IS_KNOWN(ata_attribute_raw, &raw, temperature_c) && (s->id == 194 || !TOLD(h, temperature_c)))
            TELL_CELSIUS(h, temperature_c, "temperature", raw.temperature_c);
        break;
    case SATED_ATA_MEANS_POWER_ON_HOURS:
        if (health_count(h, info.name, raw.value, 32))
            TELL(h, power_on_hours, raw.value);
        break;
    case SATED_ATA_MEANS_POWER_CYCLES:
        if (health_count(h, info.name, raw.value, 32))
            TELL(h, power_cycles, raw.value);
        break;
    case SATED_ATA_MEANS_UNSAFE_SHUTDOWNS:
        if (health_count(h, info.name, raw.value, 32))
            TELL(h, unsafe_shutdowns, raw.value);
        break;
    case SATED_ATA_MEANS_UNCORRECTABLE: TELL(h, media_errors, raw.value); break;
    case SATED_ATA_MEANS_HOST_WRITES:
        if (bytes_of(h, s, &info, raw.value, &bytes))
            TELL(h, host_bytes_written, bytes);
        break;
    case SATED_ATA_MEANS_HOST_READS:
        if (bytes_of(h, s, &info, raw.value, &bytes))
            TELL(h, host_bytes_read, bytes);
        break;
    case SATED_ATA_MEANS_MEDIA_WRITES:
        if (bytes_of(h, s, &info, raw.value, &bytes))
            TELL(h, media_bytes_written, bytes);
        break;
    case SATED_ATA_MEANS_LIFE_LEFT:
    case SATED_ATA_MEANS_SPARE_LEFT: take_share(h, s, &info, s->value); break;
    case SATED_ATA_MEANS_LIFE_LEFT_RAW: take_share(h, s, &info, raw.value); break;
    default: break;
    }
}

/* Where the registers with the drive's own verdict do not get through: an attribute of the kind that foresees failure
 * has fallen to its threshold (ATA-3 8.48: 0 never fails). That none has is no verdict: then it stays unknown. */
static void judge(struct health *h, const struct sated_ata_smart *smart)
{
    struct sated_ata_smart_thresholds limits;
    if (sated_ata_decode_smart_thresholds(h->page, h->n, &limits) || limits.checksum == SATED_ATA_CHECKSUM_BAD)
        return;
    for (uint32_t i = 0; i < smart->n_attributes; i++)
        for (uint32_t k = 0; k < limits.n_thresholds; k++) {
            const struct sated_ata_smart_attribute *s = &smart->attributes[i];
            uint32_t limit = limits.thresholds[k].id == s->id ? limits.thresholds[k].threshold : 0;
            if (s->flags & 1 && s->value >= 1 && s->value <= 253 && limit <= 253 && s->value <= limit) {
                TELL(h, critical_warnings, SATED_HEALTH_FAILING);
                health_doubt(h,
                             "attribute %u: %u is at or below its threshold of %u, by which the drive fails; its own "
                             "verdict could not be had",
                             (unsigned)s->id, (unsigned)s->value, (unsigned)limit);
            }
        }
}

static void take_progress(struct health *h, const struct sated_ata_smart *smart)
{
    bool running = smart->self_test_result == 15;
    TELL(h, self_test_running, running);
    if (!running || !IS_KNOWN(ata_smart, smart, self_test_remaining))
        return;
    if (smart->self_test_remaining <= 100)
        TELL(h, self_test_percent, 100 - smart->self_test_remaining);
    else
        health_doubt(h, "self-test: %u %% is told as what remains of it, which is more than all",
                     (unsigned)smart->self_test_remaining);
}

static void take_smart(struct health *h, const struct ata *a)
{
    struct sated_ata_command c;
    struct sated_ata_smart smart;
    if (sated_ata_build_smart_read_data(&c) || !health_ask_ata(h, "smart-data", false, &c, NULL) ||
        sated_ata_decode_smart(h->page, h->n, &smart))
        return;
    if (smart.checksum == SATED_ATA_CHECKSUM_BAD) {
        health_doubt(h, "SMART data: its checksum is wrong, so that nothing of it is taken");
        return;
    }
    for (uint32_t i = 0; i < smart.n_attributes; i++)
        take_attribute(h, a, &smart.attributes[i]);
    if (IS_KNOWN(ata_smart, &smart, self_test_result) && a->self_tests)
        take_progress(h, &smart);
    if (sated_ata_build_smart_read_thresholds(&c) == 0 && health_ask_ata(h, "smart-thresholds", true, &c, NULL) &&
        !TOLD(h, critical_warnings))
        judge(h, &smart);
}

static void take_self_tests(struct health *h)
{
    struct sated_ata_command c;
    struct sated_ata_self_test_log log;
    if (sated_ata_build_smart_read_log(&c, 0x06, 1) || !health_ask_ata(h, "smart-log-06h", true, &c, NULL) ||
        sated_ata_decode_self_test_log(h->page, h->n, false, &log) || log.checksum == SATED_ATA_CHECKSUM_BAD)
        return;
    if (!IS_KNOWN(ata_self_test_log, &log, n_entries)) {
        health_doubt(h, "self-test log: its index leads to no entry, so that the last test is not known");
        return;
    }
    uint32_t i = 0;
    while (i < log.n_entries && log.entries[i].result == 15)
        i++;
    const struct sated_ata_self_test_entry *last = i < log.n_entries ? &log.entries[i] : NULL;
    /* ACS-4 9.10 (byte 363 of SMART READ DATA): 3 to 8 are failures. */
    if (!last)
        TELL(h, self_test_result, SATED_HEALTH_TEST_NEVER);
    else if (IS_KNOWN(ata_self_test_entry, last, result) &&
             health_self_test(h, last->result, (struct health_results){.aborted = 0x0006, .failed = 0x01f8}) &&
             IS_KNOWN(ata_self_test_entry, last, hours))
        TELL(h, self_test_hours, last->hours);
}

/* ACS-4 9.5.8: signed bytes, of which 80h is none. */
static void take_celsius(struct health *h, const struct sated_ata_statistic *s, double *out, uint64_t known)
{
    if (s->value == -128) {
        health_doubt(h, "%s: 80h is told, which is none", s->name);
        return;
    }
    if (health_celsius(h, s->name, (double)s->value, out))
        h->out->known |= known;
}

/* ACS-4 9.5: what the standard itself defines goes before attributes. */
static void take_statistic(struct health *h, const struct ata *a, uint32_t page, const struct sated_ata_statistic *s)
{
    uint64_t value = (uint64_t)s->value, bytes;
    if (!IS_KNOWN(ata_statistic, s, value))
        return;
    if ((page == 1 || page == 4) && !health_count(h, s->name, value, page == 1 && s->offset >= 24 ? 48 : 32))
        return;
    switch (page << 16 | s->offset) {
    case 1 << 16 | 8: TELL(h, power_cycles, value); break;
    case 1 << 16 | 16: TELL(h, power_on_hours, value); break;
    case 1 << 16 | 24:
        if (health_bytes(h, s->name, (const uint64_t[2]){value, 0}, a->block_bytes, &bytes))
            TELL(h, host_bytes_written, bytes);
        break;
    case 1 << 16 | 40:
        if (health_bytes(h, s->name, (const uint64_t[2]){value, 0}, a->block_bytes, &bytes))
            TELL(h, host_bytes_read, bytes);
        break;
    case 4 << 16 | 8: TELL(h, media_errors, value); break;
    case 5 << 16 | 8: take_celsius(h, s, &h->out->temperature_c, KNOWN_BIT(health, temperature_c)); break;
    case 5 << 16 | 88:
        take_celsius(h, s, &h->out->temperature_warning_c, KNOWN_BIT(health, temperature_warning_c));
        break;
    case 7 << 16 | 8:
        TELL(h, percentage_used, (double)s->value);
        if (value == 255)
            health_doubt(h, "percentage used: 255 is told, which stands for that or more");
        break;
    default: break;
    }
}

static bool ask_statistics(struct health *h, uint32_t page)
{
    struct sated_ata_command c;
    char name[32];
    snprintf(name, sizeof name, "log-04h-page-%02Xh", (unsigned)page);
    return sated_ata_build_read_log(&c, 0x04, page, 1, 0, false) == 0 && health_ask_ata(h, name, true, &c, NULL);
}

static void take_statistics(struct health *h, const struct ata *a)
{
    struct sated_ata_log_pages list;
    bool there[8] = {false};
    if (!ask_statistics(h, 0) || sated_ata_decode_log_pages(h->page, h->n, &list))
        return;
    for (uint32_t i = 0; i < list.n_pages; i++)
        if (list.pages[i] < 8)
            there[list.pages[i]] = true;
    struct sated_ata_statistics *s = malloc(sizeof *s);
    for (uint32_t page = 1; s && page < 8; page++) {
        bool wanted = page == 1 || page == 4 || page == 5 || page == 7;
        if (!wanted || !there[page] || !ask_statistics(h, page) || sated_ata_decode_statistics(h->page, h->n, s) ||
            s->page != page)
            continue;
        for (uint32_t i = 0; i < s->n_statistics; i++)
            take_statistic(h, a, page, &s->statistics[i]);
    }
    free(s);
}

bool health_ata(struct health *h)
{
    struct ata a = {.rotating = -1};
    if (!take_identify(h, &a))
        return false;
    if (a.smart) {
        take_status(h);
        take_smart(h, &a);
        if (a.self_tests)
            take_self_tests(h);
    }
    if (a.logs)
        take_statistics(h, &a);
    return true;
}
