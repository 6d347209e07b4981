/* SPDX-License-Identifier: MIT */
/* LOG SENSE data (SPC-5) and the log pages of disks (SPC-5, SBC-4 6.4). */
#include <sated/scsi.h>

#include <string.h>

#include "core/bytes.h"
#include "core/error.h"
#include "protocol/fields.h"
#include "protocol/known_scsi.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define REFUSE(...) return error_set(SATED_PARSE, SATED_LAYER_DRIVE, __VA_ARGS__)

/* One parameter: its value and how much of it there is. */
struct parameter {
    uint16_t code;
    uint8_t control;
    bool truncated;
    const uint8_t *value;
    size_t length;
};

/* The header of a page. It ends where its PAGE LENGTH says, whatever stands behind.
 * Return: bytes of the page that there are, header included, or a negative error. */
static int64_t page_begin(const uint8_t *b, size_t n, bool *truncated)
{
    size_t whole;
    if (n < 4)
        REFUSE("log page: %zu bytes, where at least 4 were expected; ask for all of it", n);
    whole = 4u + bytes_be16(b + 2);
    *truncated = whole > n;
    return (int64_t)(whole < n ? whole : n);
}

/* The same, for one page of the standard's. */
static int64_t page_of(const uint8_t *b, size_t n, uint8_t page, bool *truncated)
{
    int64_t length = page_begin(b, n, truncated);
    if (length < 0)
        return length;
    if ((b[0] & 0x3f) != page || (b[0] & 0x40 && b[1]))
        REFUSE("log page %02Xh: bytes 0 and 1 say that this is page %02Xh, subpage %02Xh", page, b[0] & 0x3f,
               b[0] & 0x40 ? b[1] : 0);
    return length;
}

#define PAGE(of, page) \
    const uint8_t *b = data; \
    int64_t length; \
    memset(out, 0, sizeof *out); \
    if ((length = page_of(b, n, page, &out->truncated)) < 0) \
        return (int)length; \
    out->known |= KNOWN_BIT(of, truncated); \
    n = (size_t)length

/* Steps to the next parameter. Return: false at the end. A header that is cut ends the page. */
static bool next(const uint8_t *b, size_t n, size_t *at, struct parameter *p, bool *truncated)
{
    size_t whole;
    if (*at >= n)
        return false;
    if (*at + 4 > n) {
        *truncated = true;
        return false;
    }
    whole = b[*at + 3];
    p->code = bytes_be16(b + *at);
    p->control = b[*at + 2];
    p->value = b + *at + 4;
    p->truncated = whole > n - *at - 4;
    p->length = p->truncated ? n - *at - 4 : whole;
    if (p->truncated)
        *truncated = true;
    *at += 4 + p->length;
    return true;
}

/* A counter of any length. Return: false if it is cut, empty, or more than 64 bits hold. */
static bool counter(const struct parameter *p, uint64_t *value)
{
    *value = 0;
    if (p->truncated || !p->length)
        return false;
    for (size_t i = 0; i < p->length; i++) {
        if (*value >> 56)
            return false;
        *value = *value << 8 | p->value[i];
    }
    return true;
}

int sated_scsi_decode_log(const void *data, size_t n, struct sated_scsi_log *out)
{
    const uint8_t *b = data;
    struct parameter p;
    int64_t length;
    size_t at = 4;
    memset(out, 0, sizeof *out);
    if ((length = page_begin(b, n, &out->truncated)) < 0)
        return (int)length;
    KNOW(scsi_log, out, page, b[0] & 0x3f);
    KNOW(scsi_log, out, spf, (b[0] & 0x40) != 0);
    KNOW(scsi_log, out, ds, (b[0] & 0x80) != 0);
    KNOW(scsi_log, out, subpage, out->spf ? b[1] : 0);
    out->known |= KNOWN_BIT(scsi_log, truncated);
    /* The pages that list pages have no parameters. */
    if (out->page == 0 || out->subpage == 0xff)
        return 0;
    KNOW_LIST(scsi_log, out, n_parameters, parameters);
    while (next(b, (size_t)length, &at, &p, &out->truncated)) {
        struct sated_scsi_log_parameter *to = &out->parameters[out->n_parameters];
        if (out->n_parameters == COUNT(out->parameters)) {
            out->truncated = true;
            break;
        }
        to->code = p.code;
        to->control = p.control;
        to->truncated = p.truncated;
        to->offset = (uint32_t)(p.value - b);
        to->length = (uint32_t)p.length;
        out->n_parameters++;
    }
    return 0;
}

int sated_scsi_decode_log_supported(const void *data, size_t n, struct sated_scsi_log_supported *out)
{
    const uint8_t *b = data;
    int64_t length;
    size_t step;
    memset(out, 0, sizeof *out);
    if ((length = page_begin(b, n, &out->truncated)) < 0)
        return (int)length;
    step = b[0] & 0x40 && b[1] == 0xff ? 2 : 1;
    if (step == 1 && (b[0] & 0x3f || (b[0] & 0x40 && b[1])))
        REFUSE("log page 00h: bytes 0 and 1 say that this is page %02Xh, subpage %02Xh", b[0] & 0x3f,
               b[0] & 0x40 ? b[1] : 0);
    KNOW_LIST(scsi_log_supported, out, n_pages, pages);
    out->known |= KNOWN_BIT(scsi_log_supported, truncated);
    for (size_t at = 4; at < (size_t)length; at += step) {
        if (at + step > (size_t)length || out->n_pages == COUNT(out->pages)) {
            out->truncated = true;
            break;
        }
        out->pages[out->n_pages].page = b[at] & 0x3f;
        out->pages[out->n_pages++].subpage = step == 2 ? b[at + 1] : 0;
    }
    return 0;
}

int sated_scsi_decode_log_errors(const void *data, size_t n, struct sated_scsi_log_errors *out)
{
    uint8_t page = n ? ((const uint8_t *)data)[0] & 0x3f : 0x02;
    struct parameter p;
    uint64_t value;
    size_t at = 4;
    if (page != 0x02 && page != 0x03 && page != 0x05) {
        memset(out, 0, sizeof *out);
        REFUSE("log page: byte 0 says that this is page %02Xh, where 02h, 03h or 05h was expected; ask for all of it",
               page);
    }
    PAGE(scsi_log_errors, page);
    KNOW(scsi_log_errors, out, page, page);
#define COUNTER(at_code, member) \
    case at_code: \
        if (!IS_KNOWN(scsi_log_errors, out, member)) \
            KNOW(scsi_log_errors, out, member, value); \
        break
    while (next(b, n, &at, &p, &out->truncated)) {
        if (!counter(&p, &value))
            continue;
        switch (p.code) {
            COUNTER(0, corrected_without_substantial_delay);
            COUNTER(1, corrected_with_possible_delays);
            COUNTER(2, total_rewrites_or_rereads);
            COUNTER(3, total_errors_corrected);
            COUNTER(4, total_times_correction_algorithm_processed);
            COUNTER(5, total_bytes_processed);
            COUNTER(6, total_uncorrected_errors);
        default: break;
        }
    }
#undef COUNTER
    return 0;
}

int sated_scsi_decode_log_temperature(const void *data, size_t n, struct sated_scsi_log_temperature *out)
{
    struct parameter p;
    size_t at = 4;
    PAGE(scsi_log_temperature, 0x0d);
    while (next(b, n, &at, &p, &out->truncated)) {
        /* FFh: not to be had (SPC-5, Temperature log page). */
        if (p.length < 2 || p.value[1] == 0xff)
            continue;
        if (p.code == 0 && !IS_KNOWN(scsi_log_temperature, out, temperature_c))
            KNOW(scsi_log_temperature, out, temperature_c, p.value[1]);
        else if (p.code == 1 && !IS_KNOWN(scsi_log_temperature, out, reference_temperature_c))
            KNOW(scsi_log_temperature, out, reference_temperature_c, p.value[1]);
    }
    return 0;
}

int sated_scsi_decode_log_start_stop(const void *data, size_t n, struct sated_scsi_log_start_stop *out)
{
    struct parameter p;
    size_t at = 4;
    PAGE(scsi_log_start_stop, 0x0e);
#define COUNTER(at_code, member) \
    case at_code: \
        if (p.length >= 4 && !IS_KNOWN(scsi_log_start_stop, out, member)) \
            KNOW(scsi_log_start_stop, out, member, bytes_be32(p.value)); \
        break
    while (next(b, n, &at, &p, &out->truncated)) {
        switch (p.code) {
        case 1: /* characters, blank where not told */
            if (p.length < 6)
                break;
            fields_text(out->manufacture_year, sizeof out->manufacture_year, p.value, 4);
            fields_text(out->manufacture_week, sizeof out->manufacture_week, p.value + 4, 2);
            if (out->manufacture_year[0])
                out->known |= KNOWN_BIT(scsi_log_start_stop, manufacture_year);
            if (out->manufacture_week[0])
                out->known |= KNOWN_BIT(scsi_log_start_stop, manufacture_week);
            break;
            COUNTER(3, specified_cycle_count);
            COUNTER(4, accumulated_start_stop_cycles);
            COUNTER(5, specified_load_unload_count);
            COUNTER(6, accumulated_load_unload_cycles);
        default: break;
        }
    }
#undef COUNTER
    return 0;
}

static void self_test(const uint8_t *v, struct sated_scsi_self_test *t)
{
    KNOW(scsi_self_test, t, code, v[0] >> 5);
    KNOW(scsi_self_test, t, result, v[0] & 15);
    if (v[1])
        KNOW(scsi_self_test, t, number, v[1]);
    KNOW(scsi_self_test, t, power_on_hours, bytes_be16(v + 2));
    /* Of a test that did not fail there is nothing to tell, whatever stands there. */
    if (t->result < 3 || t->result > 7)
        return;
    if (bytes_be64(v + 4) != UINT64_MAX)
        KNOW(scsi_self_test, t, first_failure_lba, bytes_be64(v + 4));
    KNOW(scsi_self_test, t, key, v[12] & 15);
    KNOW(scsi_self_test, t, asc, v[13]);
    KNOW(scsi_self_test, t, ascq, v[14]);
}

int sated_scsi_decode_log_self_tests(const void *data, size_t n, struct sated_scsi_log_self_tests *out)
{
    static const uint8_t unused[15];
    struct parameter p;
    size_t at = 4;
    PAGE(scsi_log_self_tests, 0x10);
    KNOW_LIST(scsi_log_self_tests, out, n_tests, tests);
    while (next(b, n, &at, &p, &out->truncated)) {
        if (!p.code || p.code > COUNT(out->tests) || p.length < 16 || !memcmp(p.value, unused, sizeof unused))
            continue;
        if (out->n_tests == COUNT(out->tests)) {
            out->truncated = true;
            break;
        }
        self_test(p.value, &out->tests[out->n_tests++]);
    }
    return 0;
}

int sated_scsi_decode_log_endurance(const void *data, size_t n, struct sated_scsi_log_endurance *out)
{
    struct parameter p;
    size_t at = 4;
    PAGE(scsi_log_endurance, 0x11);
    while (next(b, n, &at, &p, &out->truncated))
        if (p.code == 1 && p.length >= 4 && !IS_KNOWN(scsi_log_endurance, out, percentage_used))
            KNOW(scsi_log_endurance, out, percentage_used, p.value[3]);
    return 0;
}

static void scan_status(const uint8_t *v, struct sated_scsi_log_background_scan *out)
{
    KNOW(scsi_log_background_scan, out, power_on_minutes, bytes_be32(v));
    KNOW(scsi_log_background_scan, out, status, v[5]);
    KNOW(scsi_log_background_scan, out, scans_performed, bytes_be16(v + 6));
    KNOW(scsi_log_background_scan, out, progress, bytes_be16(v + 8));
    /* 0: not told (SBC-4 6.4, Background Scan log page). */
    if (bytes_be16(v + 10))
        KNOW(scsi_log_background_scan, out, medium_scans_performed, bytes_be16(v + 10));
}

int sated_scsi_decode_log_background_scan(const void *data, size_t n, struct sated_scsi_log_background_scan *out)
{
    struct parameter p;
    size_t at = 4;
    PAGE(scsi_log_background_scan, 0x15);
    KNOW_LIST(scsi_log_background_scan, out, n_results, results);
    while (next(b, n, &at, &p, &out->truncated)) {
        struct sated_scsi_scan_result *r = &out->results[out->n_results];
        if (!p.code && p.length >= 12 && !IS_KNOWN(scsi_log_background_scan, out, status))
            scan_status(p.value, out);
        if (!p.code || p.code > 0x800 || p.length < 20)
            continue;
        if (out->n_results == COUNT(out->results)) {
            out->truncated = true;
            break;
        }
        out->n_results++;
        KNOW(scsi_scan_result, r, code, p.code);
        KNOW(scsi_scan_result, r, power_on_minutes, bytes_be32(p.value));
        KNOW(scsi_scan_result, r, reassign_status, p.value[4] >> 4);
        KNOW(scsi_scan_result, r, key, p.value[4] & 15);
        KNOW(scsi_scan_result, r, asc, p.value[5]);
        KNOW(scsi_scan_result, r, ascq, p.value[6]);
        KNOW(scsi_scan_result, r, lba, bytes_be64(p.value + 12));
    }
    return 0;
}

/* A SAS phy log descriptor of n bytes, 48 or more. */
static void phy(const uint8_t *d, uint16_t port, struct sated_scsi_phy *out)
{
#define F(member, byte, shift, bits) FIELD(scsi_phy, member, byte, shift, bits)
    static const struct field fields[] = {
        F(phy, 1, 0, 8),           F(attached_type, 4, 4, 3),    F(reason, 5, 4, 4),
        F(rate, 5, 0, 4),          F(sas_address, 8, 0, 64),     F(attached_sas_address, 16, 0, 64),
        F(attached_phy, 24, 0, 8), F(invalid_dwords, 32, 0, 32), F(disparity_errors, 36, 0, 32),
        F(sync_losses, 40, 0, 32), F(reset_problems, 44, 0, 32),
    };
#undef F
    KNOW(scsi_phy, out, port, port);
    fields_decode_be(fields, COUNT(fields), d, 48, out);
    /* Whom it is attached to means something only where it is attached. */
    if (!out->attached_type) {
        FORGET(scsi_phy, out, attached_sas_address);
        FORGET(scsi_phy, out, attached_phy);
    }
}

int sated_scsi_decode_log_phys(const void *data, size_t n, struct sated_scsi_log_phys *out)
{
    struct parameter p;
    size_t at = 4;
    PAGE(scsi_log_phys, 0x18);
    KNOW_LIST(scsi_log_phys, out, n_phys, phys);
    while (next(b, n, &at, &p, &out->truncated)) {
        size_t in = 4;
        if (p.length < 4 || (p.value[0] & 15) != 6) /* PROTOCOL IDENTIFIER: SAS */
            continue;
        for (unsigned left = p.value[3]; left; left--) {
            /* SAS 1 has no length in the descriptor, and it is 48. */
            size_t whole = in + 4 <= p.length && p.value[in + 3] >= 44 ? 4u + p.value[in + 3] : 48;
            if (in + whole > p.length || out->n_phys == COUNT(out->phys)) {
                out->truncated = true;
                break;
            }
            phy(p.value + in, p.code, &out->phys[out->n_phys++]);
            in += whole;
        }
    }
    return 0;
}

int sated_scsi_decode_log_exceptions(const void *data, size_t n, struct sated_scsi_log_exceptions *out)
{
    struct parameter p;
    size_t at = 4;
    PAGE(scsi_log_exceptions, 0x2f);
    while (next(b, n, &at, &p, &out->truncated)) {
        if (p.code || p.length < 2 || IS_KNOWN(scsi_log_exceptions, out, asc))
            continue;
        KNOW(scsi_log_exceptions, out, asc, p.value[0]);
        KNOW(scsi_log_exceptions, out, ascq, p.value[1]);
        sated_scsi_asc_text(out->asc, out->ascq, out->text, sizeof out->text);
        out->known |= KNOWN_BIT(scsi_log_exceptions, text);
        if (p.length > 2 && p.value[2] != 0xff)
            KNOW(scsi_log_exceptions, out, temperature_c, p.value[2]);
        if (p.length > 3 && p.value[3] && p.value[3] != 0xff)
            KNOW(scsi_log_exceptions, out, threshold_temperature_c, p.value[3]);
    }
    return 0;
}
