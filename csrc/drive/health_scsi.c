/* SPDX-License-Identifier: MIT */
/* Health by SCSI: the log pages of SPC-5 and SBC-4. */
#include "drive/health.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/known_scsi.h"

struct supported {
    bool told;
    bool pages[64];
};

static bool ask_log(struct health *h, const struct supported *s, uint32_t page)
{
    struct sated_scsi_command c;
    char name[32];
    if (s && s->told && !s->pages[page])
        return false;
    snprintf(name, sizeof name, "log-%02Xh", (unsigned)page);
    return sated_scsi_build_log_sense(&c, 1, page, 0, 0, HEALTH_PAGE) == 0 &&
           health_ask_scsi(h, name, !s || !s->told, &c);
}

static void take_supported(struct health *h, struct supported *s)
{
    struct sated_scsi_log_supported *list = malloc(sizeof *list);
    if (list && ask_log(h, NULL, 0x00) && sated_scsi_decode_log_supported(h->page, h->n, list) == 0) {
        s->told = !list->truncated;
        for (uint32_t i = 0; i < list->n_pages; i++)
            s->pages[list->pages[i].page & 63] = true;
    }
    free(list);
}

/* Of what is counted as written or read, 0 may as well be a drive that does not count. */
static void take_errors(struct health *h, const struct supported *s)
{
    static const uint8_t pages[] = {0x02, 0x03, 0x05};
    uint64_t uncorrected = 0;
    bool counted = false;
    for (size_t i = 0; i < sizeof pages; i++) {
        struct sated_scsi_log_errors e;
        if (!ask_log(h, s, pages[i]) || sated_scsi_decode_log_errors(h->page, h->n, &e))
            continue;
        if (IS_KNOWN(scsi_log_errors, &e, total_uncorrected_errors)) {
            if (__builtin_add_overflow(uncorrected, e.total_uncorrected_errors, &uncorrected))
                uncorrected = UINT64_MAX;
            counted = true;
        }
        if (pages[i] == 0x05 || !IS_KNOWN(scsi_log_errors, &e, total_bytes_processed))
            continue;
        if (!e.total_bytes_processed)
            health_doubt(h, "log-%02Xh: total bytes processed is 0, which stands for none or not counted", pages[i]);
        else if (!health_count(h, pages[i] == 0x02 ? "bytes written" : "bytes read", e.total_bytes_processed, 64))
            continue;
        else if (pages[i] == 0x02)
            TELL(h, host_bytes_written, e.total_bytes_processed);
        else
            TELL(h, host_bytes_read, e.total_bytes_processed);
    }
    if (counted && health_count(h, "uncorrected errors", uncorrected, 64))
        TELL(h, media_errors, uncorrected);
}

static void take_temperature(struct health *h, const struct supported *s)
{
    struct sated_scsi_log_temperature t;
    if (!ask_log(h, s, 0x0d) || sated_scsi_decode_log_temperature(h->page, h->n, &t))
        return;
    if (IS_KNOWN(scsi_log_temperature, &t, temperature_c)) {
        TELL_CELSIUS(h, temperature_c, "temperature", t.temperature_c);
        if (!t.temperature_c)
            health_doubt(h, "temperature: 0 is told, which stands for that or below");
    }
    if (IS_KNOWN(scsi_log_temperature, &t, reference_temperature_c) && t.reference_temperature_c)
        TELL_CELSIUS(h, temperature_warning_c, "reference temperature", t.reference_temperature_c);
}

static void take_endurance(struct health *h, const struct supported *s)
{
    struct sated_scsi_log_endurance e;
    if (!ask_log(h, s, 0x11) || sated_scsi_decode_log_endurance(h->page, h->n, &e) ||
        !IS_KNOWN(scsi_log_endurance, &e, percentage_used))
        return;
    TELL(h, percentage_used, e.percentage_used);
    if (e.percentage_used == 255)
        health_doubt(h, "percentage used: 255 is told, which stands for that or more");
}

static void take_scan(struct health *h, const struct supported *s)
{
    struct sated_scsi_log_background_scan *b = malloc(sizeof *b);
    if (b && ask_log(h, s, 0x15) && sated_scsi_decode_log_background_scan(h->page, h->n, b) == 0 &&
        IS_KNOWN(scsi_log_background_scan, b, power_on_minutes) &&
        health_count(h, "minutes of power", b->power_on_minutes, 32))
        TELL(h, power_on_hours, b->power_on_minutes / 60);
    free(b);
}

/* SPC-5: 5Dh foresees a failure, 0Bh warns; of its qualifiers 01h is about temperature. */
static void take_exceptions(struct health *h, const struct supported *s)
{
    struct sated_scsi_log_exceptions e;
    if (!ask_log(h, s, 0x2f) || sated_scsi_decode_log_exceptions(h->page, h->n, &e))
        return;
    if (IS_KNOWN(scsi_log_exceptions, &e, asc) && IS_KNOWN(scsi_log_exceptions, &e, ascq)) {
        uint32_t warnings = e.asc == 0x5d ? SATED_HEALTH_FAILING : 0;
        if (e.asc == 0x0b)
            warnings = e.ascq == 0x01 ? SATED_HEALTH_TEMPERATURE : SATED_HEALTH_RELIABILITY;
        TELL(h, critical_warnings, warnings);
    }
    if (!TOLD(h, temperature_c) && IS_KNOWN(scsi_log_exceptions, &e, temperature_c) && e.temperature_c &&
        e.temperature_c != 0xff)
        TELL_CELSIUS(h, temperature_c, "temperature", e.temperature_c);
}

#define FORMATTING 0x04 /* behind 04h (SPC-6, additional sense codes) */
#define SELF_TESTING 0x09
#define SANITIZING 0x1b

/* How far what goes on is, of 65536; sense data may tell of several. @param ascq behind 04h. */
static bool progress_of(const struct sated_scsi_sense *s, uint8_t ascq, uint32_t *progress)
{
    if (s->asc == 0x04 && s->ascq == ascq && IS_KNOWN(scsi_sense, s, progress)) {
        *progress = s->progress;
        return true;
    }
    for (uint32_t i = 0; i < s->n_other_progress; i++)
        if (s->other_progress[i].asc == 0x04 && s->other_progress[i].ascq == ascq) {
            *progress = s->other_progress[i].progress;
            return true;
        }
    return false;
}

/* What sense data says of the state of the drive; of many a state only one is told, so that none is denied by it. */
static void take_state(struct health *h, const struct sated_scsi_sense *s)
{
    static const struct {
        uint8_t key, asc, ascq;
        uint32_t condition;
    } states[] = {
        {0x2, 0x04, 0x02, SATED_HEALTH_STOPPED}, /* initializing command required */
        {0x2, 0x04, FORMATTING, SATED_HEALTH_FORMATTING},
        {0x2, 0x04, SELF_TESTING, 0},
        {0x2, 0x04, SANITIZING, SATED_HEALTH_SANITIZING},
        {0x3, 0x31, 0x00, SATED_HEALTH_FORMAT_CORRUPT}, /* medium format corrupted */
        {0x3, 0x31, 0x01, SATED_HEALTH_FORMAT_CORRUPT}, /* format command failed */
        {0x3, 0x31, 0x03, SATED_HEALTH_SANITIZE_FAILED},
        {0x0, 0x5e, 0x02, SATED_HEALTH_STANDBY}, /* standby_z by timer, by command; standby_y likewise */
        {0x0, 0x5e, 0x04, SATED_HEALTH_STANDBY},
        {0x0, 0x5e, 0x09, SATED_HEALTH_STANDBY},
        {0x0, 0x5e, 0x0a, SATED_HEALTH_STANDBY},
    };
    size_t i = 0, n = sizeof states / sizeof *states;
    uint32_t progress;
    while (i < n && !(states[i].key == s->key && states[i].asc == s->asc && states[i].ascq == s->ascq))
        i++;
    if (i < n && states[i].condition)
        health_conditions(h, states[i].condition, true);
    else if (i == n && s->key == 0x2)
        health_conditions(h, SATED_HEALTH_NOT_READY, true);
    else if (i == n && s->key == 0x0 && (s->asc == 0x00 || s->asc == 0x5e))
        health_conditions(h, SATED_HEALTH_STANDBY, false);
    /* With progress it goes on, whatever the sense key. */
    bool sanitizes = progress_of(s, SANITIZING, &progress);
    if (sanitizes || progress_of(s, FORMATTING, &progress)) {
        health_conditions(h, sanitizes ? SATED_HEALTH_SANITIZING : SATED_HEALTH_FORMATTING, true);
        health_progress(h, progress);
    }
}

static bool is_state(const struct sated_scsi_sense *s)
{
    return !s->deferred && IS_KNOWN(scsi_sense, s, key) && IS_KNOWN(scsi_sense, s, asc) &&
           IS_KNOWN(scsi_sense, s, ascq);
}

/* A drive that is ready has no trouble with its medium (SBC-4, TEST UNIT READY); one that is not says why there, and
 * how far it is by REQUEST SENSE. @param sense receives that. Return: whether it came. */
static bool take_conditions(struct health *h, struct sated_scsi_sense *sense)
{
    struct sated_scsi_command c;
    sated_scsi_build_test_unit_ready(&c);
    memset(&h->reply, 0, sizeof h->reply);
    if (health_ask_scsi(h, "test-unit-ready", true, &c))
        health_conditions(h,
                          SATED_HEALTH_SANITIZING | SATED_HEALTH_SANITIZE_FAILED | SATED_HEALTH_FORMATTING |
                              SATED_HEALTH_FORMAT_CORRUPT | SATED_HEALTH_STOPPED | SATED_HEALTH_NOT_READY,
                          false);
    else if (sated_scsi_decode_sense(h->reply.sense, h->reply.sense_len, sense) == 0 && is_state(sense))
        take_state(h, sense);
    if (sated_scsi_build_request_sense(&c, false, 252) || !health_ask_scsi(h, "request-sense", true, &c) ||
        sated_scsi_decode_sense(h->page, h->n, sense) || !is_state(sense))
        return false;
    take_state(h, sense);
    return true;
}

static void take_self_tests(struct health *h, const struct supported *s, const struct sated_scsi_sense *sense)
{
    struct sated_scsi_log_self_tests t;
    uint32_t first = 0, progress;
    if (!ask_log(h, s, 0x10) || sated_scsi_decode_log_self_tests(h->page, h->n, &t))
        return;
    bool running = t.n_tests && IS_KNOWN(scsi_self_test, &t.tests[0], result) && t.tests[0].result == 15;
    TELL(h, self_test_running, running);
    first = running;
    if (first < t.n_tests && IS_KNOWN(scsi_self_test, &t.tests[first], result)) {
        /* SPC-6 7.3.19: 3 to 7 are failures; of the hours FFFFh is that or more. */
        if (health_self_test(h, t.tests[first].result, (struct health_results){.aborted = 0x0006, .failed = 0x00f8}) &&
            IS_KNOWN(scsi_self_test, &t.tests[first], power_on_hours) && t.tests[first].power_on_hours != 0xffff)
            TELL(h, self_test_hours, t.tests[first].power_on_hours);
    } else if (first >= t.n_tests && !t.truncated) {
        TELL(h, self_test_result, SATED_HEALTH_TEST_NEVER);
    }
    if (running && sense && progress_of(sense, SELF_TESTING, &progress))
        TELL(h, self_test_percent, progress * 100 / 65536);
}

void health_scsi(struct health *h)
{
    struct supported s = {0};
    struct sated_scsi_sense *sense = malloc(sizeof *sense);
    bool sensed = sense && take_conditions(h, sense);
    unsigned before = h->answers;
    take_supported(h, &s);
    take_errors(h, &s);
    take_temperature(h, &s);
    take_endurance(h, &s);
    take_scan(h, &s);
    take_exceptions(h, &s);
    take_self_tests(h, &s, sensed ? sense : NULL);
    free(sense);
    if (h->answers == before && !h->over)
        health_warn(h, "the drive has no log pages");
}
