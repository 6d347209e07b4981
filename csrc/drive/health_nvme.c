/* SPDX-License-Identifier: MIT */
/* Health by NVMe: the SMART log, OCP's, that of the endurance group, self-tests and errors. */
#include "drive/health.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/known_nvme.h"
#include "transport/handle.h"

#define KELVIN 273.15
#define NVME_1_3 0x10300 /* VER; it is 0 before 1.2 */
#define NVME_2_0 0x20000
#define STATUS_SANITIZE_FAILED 0x1c /* of the generic ones */
#define SANITIZES (SATED_NVME_SANICAP_CRYPTO | SATED_NVME_SANICAP_BLOCK | SATED_NVME_SANICAP_OVERWRITE)
#define CTRATT_ENDURANCE_GROUPS 0x10 /* NVMe Base 2.0, 5.17.2.1 */

/* What Identify Controller says of the logs. */
struct abilities {
    bool self_test, told;
    bool rae;        /* the bit is there, from NVMe 1.3 on */
    bool sanitize;   /* it can be sanitized */
    bool ready;      /* it tells whether a namespace is ready, from NVMe 2.0 on */
    uint16_t group;  /* the endurance group that the namespace is in; 0: none, or nobody knows */
    uint32_t groups; /* endurance groups, 0 none */
    uint32_t errors; /* entries of the error log; 0 unknown */
};

/* Looking must not make the drive forget that it has an event for the driver: Retain Asynchronous Event. Vendors' logs are
 * asked for in no other way, whatever the version. */
static bool ask_log(struct health *h, const struct abilities *a, const char *name, bool optional, uint32_t lid,
                    uint32_t nsid, uint32_t n, uint32_t lsi)
{
    struct sated_nvme_command c;
    return sated_nvme_build_get_log(&c, lid, nsid, n, 0, 0, lsi, a->rae || lid >= 0xc0, 0, 0) == 0 &&
           health_ask_nvme(h, name, optional, &c);
}

static void take_controller(struct health *h, struct abilities *a)
{
    struct sated_nvme_command c;
    struct sated_nvme_id_ctrl *ctrl = malloc(sizeof *ctrl);
    if (ctrl && sated_nvme_build_identify(&c, SATED_NVME_CNS_CTRL, 0, 0, 0, 0) == 0 &&
        health_ask_nvme(h, "identify-controller", false, &c) && sated_nvme_decode_id_ctrl(h->page, h->n, ctrl) == 0) {
        a->rae = ctrl->general.ver >= NVME_1_3;
        a->ready = ctrl->general.ver >= NVME_2_0;
        a->told = IS_KNOWN(nvme_id_ctrl_admin, &ctrl->admin, oacs);
        a->sanitize = ctrl->admin.sanicap & SANITIZES;
        if (IS_KNOWN(nvme_id_ctrl_admin, &ctrl->admin, sanicap) && !a->sanitize)
            health_conditions(h, SATED_HEALTH_SANITIZING | SATED_HEALTH_SANITIZE_FAILED, false);
        a->self_test = ctrl->admin.oacs & SATED_NVME_OACS_SELF_TEST;
        if (ctrl->general.ctratt & CTRATT_ENDURANCE_GROUPS)
            a->groups = ctrl->admin.endgidmax ? ctrl->admin.endgidmax : 1;
        if (IS_KNOWN(nvme_id_ctrl_admin, &ctrl->admin, elpe))
            a->errors = ctrl->admin.elpe + 1u;
        if (IS_KNOWN(nvme_id_ctrl_admin, &ctrl->admin, wctemp) && ctrl->admin.wctemp)
            TELL_CELSIUS(h, temperature_warning_c, "warning temperature", ctrl->admin.wctemp - KELVIN);
        if (IS_KNOWN(nvme_id_ctrl_admin, &ctrl->admin, cctemp) && ctrl->admin.cctemp)
            TELL_CELSIUS(h, temperature_critical_c, "critical temperature", ctrl->admin.cctemp - KELVIN);
    }
    free(ctrl);
}

/* Counters of 128 bits: what has more than 64, or all of the low ones set, is none. */
static bool counts(struct health *h, const char *what, const uint64_t count[2])
{
    if (!count[1])
        return health_count(h, what, count[0], 64);
    health_doubt(h, "%s: more than 2^64 are told, which is no count", what);
    return false;
}

#define TELL_COUNT(h, member, of, s, count, what) \
    do { \
        if (IS_KNOWN(of, s, count) && counts(h, what, (s)->count)) \
            TELL(h, member, (s)->count[0]); \
    } while (0)

static void say_doubts(struct health *h, const struct sated_nvme_smart_log *s, const uint8_t *page)
{
    if (s->doubts & SATED_NVME_DOUBT_SPARE)
        health_doubt(h, "available spare: %u %% is told, which is more than all of it", page[3]);
    if (s->doubts & SATED_NVME_DOUBT_SPARE_THRESHOLD)
        health_doubt(h, "spare threshold: %u %% is told, which is more than all of it", page[4]);
    if (s->doubts & SATED_NVME_DOUBT_USED_SATURATED)
        health_doubt(h, "percentage used: 255 is told, which stands for that or more");
    if (s->doubts & SATED_NVME_DOUBT_TEMPERATURE)
        health_doubt(h, "temperature: FFFFh is told, which is none");
    if (s->doubts & SATED_NVME_DOUBT_ZERO_UNITS)
        health_doubt(h, "data units: 0 is told, which stands for none or not reported");
}

/* 5.16.1.3: thousands of 512 bytes, rounded up. */
static void take_units(struct health *h, const struct sated_nvme_smart_log *s)
{
    uint64_t bytes;
    if (IS_KNOWN(nvme_smart_log, s, data_units_read) &&
        health_bytes(h, "data units read", s->data_units_read, 512000, &bytes))
        TELL(h, host_bytes_read, bytes);
    if (IS_KNOWN(nvme_smart_log, s, data_units_written) &&
        health_bytes(h, "data units written", s->data_units_written, 512000, &bytes)) {
        TELL(h, host_bytes_written, bytes);
        if (bytes == 512000)
            health_doubt(h, "data units written: 1 is told, rounded up: at most 512,000 bytes");
    }
}

/* Sensors that are there; one that tells FFFFh has no temperature. */
static void take_sensors(struct health *h, const struct sated_nvme_smart_log *s)
{
    for (uint32_t i = 0; i < s->n_sensors; i++) {
        double celsius = s->sensors[i].kelvin - KELVIN;
        if (IS_KNOWN(nvme_sensor, &s->sensors[i], kelvin) &&
            health_celsius(h, "temperature sensor", celsius, &h->out->sensors_c[h->out->n_sensors_c]))
            h->out->n_sensors_c++;
    }
}

static void take_smart(struct health *h, const struct abilities *a)
{
    struct sated_nvme_smart_log s;
    /* Of the whole drive; some take none but 0 for that. */
    if (!ask_log(h, a, "log-02h", true, SATED_NVME_LID_SMART, SATED_NVME_ALL_NAMESPACES, 512, 0) &&
        !ask_log(h, a, "log-02h", false, SATED_NVME_LID_SMART, 0, 512, 0))
        return;
    if (sated_nvme_decode_smart_log(h->page, h->n, &s)) {
        health_refused(h, "log-02h");
        return;
    }
    if (IS_KNOWN(nvme_smart_log, &s, critical_warning))
        TELL(h, critical_warnings, s.critical_warning & 0x3fu);
    if (IS_KNOWN(nvme_smart_log, &s, avail_spare))
        TELL(h, available_spare, s.avail_spare);
    if (IS_KNOWN(nvme_smart_log, &s, spare_thresh))
        TELL(h, spare_threshold, s.spare_thresh);
    if (IS_KNOWN(nvme_smart_log, &s, percent_used))
        TELL(h, percentage_used, s.percent_used);
    if (IS_KNOWN(nvme_smart_log, &s, temperature))
        TELL_CELSIUS(h, temperature_c, "temperature", s.temperature - KELVIN);
    take_sensors(h, &s);
    take_units(h, &s);
    TELL_COUNT(h, power_on_hours, nvme_smart_log, &s, power_on_hours, "hours of power");
    TELL_COUNT(h, power_cycles, nvme_smart_log, &s, power_cycles, "power cycles");
    TELL_COUNT(h, unsafe_shutdowns, nvme_smart_log, &s, unsafe_shutdowns, "unsafe shutdowns");
    TELL_COUNT(h, media_errors, nvme_smart_log, &s, media_errors, "media errors");
    TELL_COUNT(h, error_log_entries, nvme_smart_log, &s, num_err_log_entries, "error log entries");
    say_doubts(h, &s, h->page);
}

/* OCP Datacenter NVMe SSD 2.0, 4.8.6: physical media units are bytes. */
static void take_ocp(struct health *h, const struct abilities *a)
{
    struct sated_nvme_ocp_smart_log o;
    uint64_t bytes;
    if (!ask_log(h, a, "log-C0h", true, SATED_NVME_LID_OCP_SMART, SATED_NVME_ALL_NAMESPACES, 512, 0) ||
        sated_nvme_decode_ocp_smart_log(h->page, h->n, &o) ||
        !IS_KNOWN(nvme_ocp_smart_log, &o, physical_media_units_written))
        return;
    if (health_bytes(h, "physical media units written", o.physical_media_units_written, 1, &bytes))
        TELL(h, media_bytes_written, bytes);
}

/* FPI: bit 7 says that it is told how much of a format is left, in percent (NVM Command Set 1.0, figure 97). */
static void take_namespace(struct health *h, struct abilities *a)
{
    struct sated_nvme_command c;
    struct sated_nvme_independent_ns independent;
    struct sated_nvme_id_ns *ns = malloc(sizeof *ns);
    if (ns && sated_nvme_build_identify(&c, SATED_NVME_CNS_NS, handle_namespace(h->d), 0, 0, 0) == 0 &&
        health_ask_nvme(h, "identify-namespace", true, &c) && sated_nvme_decode_id_ns(h->page, h->n, ns) == 0) {
        uint32_t left = ns->fpi & 0x7fu;
        if (IS_KNOWN(nvme_id_ns, ns, endgid))
            a->group = ns->endgid;
        if (IS_KNOWN(nvme_id_ns, ns, fpi) && ns->fpi & 0x80)
            health_conditions(h, SATED_HEALTH_FORMATTING, left);
        if (h->out->conditions & SATED_HEALTH_FORMATTING && left <= 100)
            TELL(h, operation_percent, 100 - left);
    }
    free(ns);
    /* NSTAT bit 0 (Base 2.0, figure 280). */
    if (a->ready &&
        sated_nvme_build_identify(&c, SATED_NVME_CNS_INDEPENDENT_NS, handle_namespace(h->d), 0, 0, 0) == 0 &&
        health_ask_nvme(h, "identify-namespace-independent", true, &c) &&
        sated_nvme_decode_independent_ns(h->page, h->n, &independent) == 0 &&
        IS_KNOWN(nvme_independent_ns, &independent, nstat))
        health_conditions(h, SATED_HEALTH_NOT_READY, !(independent.nstat & 1));
}

/* The log keeps a failure for good (5.16.1.25); whether the drive has been taken out of it, it says to what it has to
 * refuse until then, such as the firmware log (8.21). */
static void take_failure(struct health *h, const struct abilities *a)
{
    bool came = ask_log(h, a, "log-03h", true, SATED_NVME_LID_FIRMWARE, SATED_NVME_ALL_NAMESPACES, 512, 0);
    if (came)
        health_doubt(h, "sanitize: the last one failed; as the drive answers, it has been taken out of that failure");
    if (came || (h->reply.nvme_status & 0x7ff) == STATUS_SANITIZE_FAILED)
        health_conditions(h, SATED_HEALTH_SANITIZE_FAILED, !came);
}

static void take_sanitize(struct health *h, const struct abilities *a)
{
    struct sated_nvme_sanitize_log s;
    if (!a->sanitize || !ask_log(h, a, "log-81h", false, SATED_NVME_LID_SANITIZE, SATED_NVME_ALL_NAMESPACES, 512, 0) ||
        sated_nvme_decode_sanitize_log(h->page, h->n, &s) || !IS_KNOWN(nvme_sanitize_log, &s, state))
        return;
    health_conditions(h, SATED_HEALTH_SANITIZING, s.state == SATED_NVME_SANITIZE_RUNNING);
    if (IS_KNOWN(nvme_sanitize_log, &s, progress))
        health_progress(h, s.progress);
    if (s.state == SATED_NVME_SANITIZE_FAILED)
        take_failure(h, a);
    else
        health_conditions(h, SATED_HEALTH_SANITIZE_FAILED, false);
}

/* 5.16.1.10: units are 10^9 bytes, rounded up. Of a drive with several groups the bytes are of one, and those that the
 * host wrote are of all. */
static void take_group(struct health *h, const struct abilities *a)
{
    struct sated_nvme_endurance_group_log g;
    uint64_t bytes;
    uint16_t group = a->group;
    if (!group || !ask_log(h, a, "log-09h", true, SATED_NVME_LID_ENDURANCE_GROUP, 0, 512, group) ||
        sated_nvme_decode_endurance_group_log(h->page, h->n, &g) || TOLD(h, media_bytes_written))
        return;
    if (g.doubts & SATED_NVME_DOUBT_ZERO_UNITS)
        health_doubt(h, "endurance group %u: units of 0 are told, which stands for none or not reported", group);
    if (!IS_KNOWN(nvme_endurance_group_log, &g, media_units_written) ||
        !health_bytes(h, "media units written", g.media_units_written, 1000000000, &bytes))
        return;
    if (a->groups != 1) {
        health_doubt(h, "media units written: those of endurance group %u, one of %u, so not of the whole drive", group,
                     a->groups);
        return;
    }
    TELL(h, media_bytes_written, bytes);
    health_doubt(h, "media bytes written: those of endurance group %u, in units of 10^9 bytes", group);
}

/* No test has ended after more hours than the drive has run. */
static void take_hours(struct health *h, const struct sated_nvme_self_test_result *r)
{
    if (!IS_KNOWN(nvme_self_test_result, r, poh))
        return;
    if (TOLD(h, power_on_hours) && r->poh > h->out->power_on_hours)
        health_doubt(h, "self-test: ended after %" PRIu64 " hours of power, of which the drive has had %" PRIu64,
                     r->poh, h->out->power_on_hours);
    else
        TELL(h, self_test_hours, r->poh);
}

/* Results: 5 to 7 are failures (NVMe Base 2.0, figure 215). */
static void take_self_tests(struct health *h, const struct abilities *a)
{
    struct sated_nvme_self_test_log s;
    if ((a->told && !a->self_test) ||
        !ask_log(h, a, "log-06h", !a->told, SATED_NVME_LID_SELF_TEST, SATED_NVME_ALL_NAMESPACES, 564, 0) ||
        sated_nvme_decode_self_test_log(h->page, h->n, &s))
        return;
    if (IS_KNOWN(nvme_self_test_log, &s, operation)) {
        TELL(h, self_test_running, s.operation != 0);
        if (s.operation && IS_KNOWN(nvme_self_test_log, &s, completion))
            TELL(h, self_test_percent, s.completion);
        else if (s.operation)
            health_doubt(h, "self-test: %u %% is told as done, which is more than all of it", h->page[1] & 127u);
    }
    if (s.n_results && IS_KNOWN(nvme_self_test_result, &s.results[0], result)) {
        if (health_self_test(h, s.results[0].result, (struct health_results){.aborted = 0x031e, .failed = 0x00e0}))
            take_hours(h, &s.results[0]);
    } else if (!s.n_results && !s.truncated) {
        TELL(h, self_test_result, SATED_HEALTH_TEST_NEVER);
    }
}

/* Some drives refuse a part of the error log, and give 64 entries of it. */
static void take_errors(struct health *h, const struct abilities *a)
{
    uint32_t few = a->errors && a->errors < 16 ? a->errors : 16;
    if (!ask_log(h, a, "log-01h", true, SATED_NVME_LID_ERROR, SATED_NVME_ALL_NAMESPACES, few * 64, 0))
        ask_log(h, a, "log-01h", false, SATED_NVME_LID_ERROR, SATED_NVME_ALL_NAMESPACES, 64 * 64, 0);
}

void health_nvme(struct health *h)
{
    struct abilities a = {0};
    take_controller(h, &a);
    take_sanitize(h, &a);
    take_namespace(h, &a);
    take_smart(h, &a);
    take_ocp(h, &a);
    if (a.groups)
        take_group(h, &a);
    take_self_tests(h, &a);
    take_errors(h, &a);
}
