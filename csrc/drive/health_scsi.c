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

/* Sense data may tell of a format or a sanitize as well: 04h/09h is a self-test (SPC-6, SELF-TEST IN PROGRESS). */
static bool progress_of(const struct sated_scsi_sense *s, uint32_t *progress)
{
    if (s->asc == 0x04 && s->ascq == 0x09 && IS_KNOWN(scsi_sense, s, progress)) {
        *progress = s->progress;
        return true;
    }
    for (uint32_t i = 0; i < s->n_other_progress; i++)
        if (s->other_progress[i].asc == 0x04 && s->other_progress[i].ascq == 0x09) {
            *progress = s->other_progress[i].progress;
            return true;
        }
    return false;
}

static void take_progress(struct health *h)
{
    uint32_t progress;
    struct sated_scsi_command c;
    struct sated_scsi_sense *sense = malloc(sizeof *sense);
    if (sense && sated_scsi_build_request_sense(&c, false, 252) == 0 && health_ask_scsi(h, "request-sense", true, &c) &&
        sated_scsi_decode_sense(h->page, h->n, sense) == 0 && progress_of(sense, &progress))
        TELL(h, self_test_percent, progress * 100 / 65536);
    free(sense);
}

static void take_self_tests(struct health *h, const struct supported *s)
{
    struct sated_scsi_log_self_tests t;
    uint32_t first = 0;
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
    if (running)
        take_progress(h);
}

void health_scsi(struct health *h)
{
    struct supported s = {0};
    take_supported(h, &s);
    take_errors(h, &s);
    take_temperature(h, &s);
    take_endurance(h, &s);
    take_scan(h, &s);
    take_exceptions(h, &s);
    take_self_tests(h, &s);
    if (!h->answers && !h->over)
        health_warn(h, "the drive has no log pages");
}
