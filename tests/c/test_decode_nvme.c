/* SPDX-License-Identifier: MIT */
/* Random, truncated and damaged NVMe answers: every decoder ends with 0 or SATED_PARSE, reads no byte past the end (the
 * buffers are as long as the answer, so that the address sanitizer sees it) and makes nothing up.
 * The first argument is the number of answers for each decoder. */
#include <sated/sated.h>

#include <stdlib.h>

#include "check.h"
#include "core/bytes.h"
#include "core/random.h"
#include "protocol/known_nvme.h"

static struct random rng;

/* Reports one failure of a kind, not a million. */
#define HOLDS(cond) \
    do { \
        if (!(cond)) { \
            CHECK(cond); \
            return; \
        } \
    } while (0)

/* A member that is not known is 0. */
static int is_zero(const void *p, size_t n)
{
    const uint8_t *b = p;
    while (n && !*b) {
        b++;
        n--;
    }
    return !n;
}
#define EMPTY_UNLESS_KNOWN(of, s, member) HOLDS(IS_KNOWN(of, s, member) || is_zero(&(s)->member, sizeof(s)->member))

static int printable(const char *s, size_t cap)
{
    const char *end = memchr(s, 0, cap);
    for (; end && s < end; s++)
        if (*s < 0x20 || *s > 0x7e)
            return 0;
    return end != NULL;
}

static void check_id_ctrl(const uint8_t *data, size_t n, int rc)
{
    struct sated_nvme_id_ctrl out;
    HOLDS(sated_nvme_decode_id_ctrl(data, n, &out) == rc);
    HOLDS(printable(out.general.sn, sizeof out.general.sn) && printable(out.general.mn, sizeof out.general.mn));
    HOLDS(printable(out.general.fr, sizeof out.general.fr) && printable(out.nvm.subnqn, sizeof out.nvm.subnqn));
    HOLDS(out.n_psd <= 32 && (!out.n_psd || (n >= 2048 + 32 * (size_t)out.n_psd && out.n_psd <= out.admin.npss + 1u)));
    HOLDS(n >= 512 || !out.nvm.known);
    HOLDS(n > 256 || !out.admin.known);
    EMPTY_UNLESS_KNOWN(nvme_id_ctrl_admin, &out.admin, tnvmcap);
    EMPTY_UNLESS_KNOWN(nvme_id_ctrl_admin, &out.admin, unvmcap);
    HOLDS(!IS_KNOWN(nvme_id_ctrl_admin, &out.admin, wctemp) || out.admin.wctemp);
    HOLDS(n >= 296 || !IS_KNOWN(nvme_id_ctrl_admin, &out.admin, tnvmcap));
}

static void check_id_ns(const uint8_t *data, size_t n, int rc)
{
    struct sated_nvme_id_ns out;
    HOLDS(sated_nvme_decode_id_ns(data, n, &out) == rc);
    HOLDS(out.n_lbaf <= 64 && (!out.n_lbaf || n >= 128 + 4 * (size_t)out.n_lbaf));
    HOLDS(!IS_KNOWN(nvme_id_ns, &out, block_bytes) ||
          (out.block_bytes >= 512 && !(out.block_bytes & (out.block_bytes - 1)) && out.format < out.n_lbaf));
    HOLDS(!IS_KNOWN(nvme_id_ns, &out, capacity_bytes) ||
          (out.nsze && out.capacity_bytes / out.block_bytes == out.nsze && out.capacity_bytes));
    HOLDS(!IS_KNOWN(nvme_id_ns, &out, used_bytes) || out.used_bytes / out.block_bytes == out.nuse);
    HOLDS(rc != SATED_PARSE || !IS_KNOWN(nvme_id_ns, &out, capacity_bytes));
    HOLDS(n >= 132 || !IS_KNOWN(nvme_id_ns, &out, block_bytes));
    EMPTY_UNLESS_KNOWN(nvme_id_ns, &out, capacity_bytes);
    EMPTY_UNLESS_KNOWN(nvme_id_ns, &out, block_bytes);
    EMPTY_UNLESS_KNOWN(nvme_id_ns, &out, format);
    EMPTY_UNLESS_KNOWN(nvme_id_ns, &out, nsze);
}

static void check_independent_ns(const uint8_t *data, size_t n, int rc)
{
    struct sated_nvme_independent_ns out;
    HOLDS(sated_nvme_decode_independent_ns(data, n, &out) == rc);
    HOLDS((n >= 15) == IS_KNOWN(nvme_independent_ns, &out, nstat) &&
          (n >= 8) == IS_KNOWN(nvme_independent_ns, &out, anagrpid));
    EMPTY_UNLESS_KNOWN(nvme_independent_ns, &out, endgid);
}

static void check_nvm_ns(const uint8_t *data, size_t n, int rc)
{
    struct sated_nvme_nvm_ns out;
    HOLDS(sated_nvme_decode_nvm_ns(data, n, &out) == rc);
    HOLDS(out.n_elbaf <= 64 && (!out.n_elbaf || n >= 12 + 4 * (size_t)out.n_elbaf));
    for (uint32_t i = 0; i < out.n_elbaf; i++)
        HOLDS(out.elbaf[i].sts < 128 && out.elbaf[i].pif < 4 && out.elbaf[i].qpif < 16);
    EMPTY_UNLESS_KNOWN(nvme_nvm_ns, &out, lbstm);
}

static void check_nvm_ctrl(const uint8_t *data, size_t n, int rc)
{
    struct sated_nvme_nvm_ctrl out;
    HOLDS(sated_nvme_decode_nvm_ctrl(data, n, &out) == rc);
    HOLDS((n >= 16) == IS_KNOWN(nvme_nvm_ctrl, &out, dmsl) && (n >= 1) == IS_KNOWN(nvme_nvm_ctrl, &out, vsl));
    EMPTY_UNLESS_KNOWN(nvme_nvm_ctrl, &out, dmrsl);
}

static void check_granularity_list(const uint8_t *data, size_t n, int rc)
{
    struct sated_nvme_granularity_list out;
    HOLDS(sated_nvme_decode_granularity_list(data, n, &out) == rc);
    HOLDS(out.n_granularity <= 16 && (!out.n_granularity || n >= 32 + 16 * (size_t)out.n_granularity));
    HOLDS(rc || (out.n_granularity <= data[4] + 1u && out.truncated == (out.n_granularity <= data[4])));
}

static void check_uuid_list(const uint8_t *data, size_t n, int rc)
{
    static struct sated_nvme_uuid_list out;
    HOLDS(sated_nvme_decode_uuid_list(data, n, &out) == rc);
    HOLDS(out.n_uuids <= 127 && 32 * (out.n_uuids + (size_t)(out.n_uuids != 0)) <= n);
    for (uint32_t i = 0; i < out.n_uuids; i++)
        HOLDS(out.uuids[i].association <= 3 && !is_zero(out.uuids[i].uuid, 16));
}

static void check_apst(const uint8_t *data, size_t n, int rc)
{
    struct sated_nvme_apst out;
    HOLDS(sated_nvme_decode_apst(data, n, &out) == rc);
    HOLDS(out.n_transitions <= 32 && 8 * (size_t)out.n_transitions <= n);
    for (uint32_t i = 0; i < out.n_transitions; i++)
        HOLDS(out.transitions[i].idle_ms <= 0xffffff && out.transitions[i].state <= 31);
}

static void check_ns_list(const uint8_t *data, size_t n, int rc)
{
    struct sated_nvme_ns_list out;
    HOLDS(sated_nvme_decode_ns_list(data, n, &out) == rc);
    HOLDS(out.n_nsid <= 1024 && 4 * (size_t)out.n_nsid <= n);
    for (uint32_t i = 0; i < out.n_nsid; i++)
        HOLDS(out.nsid[i] && out.nsid[i] == bytes_le32(data + 4 * i) && (!i || out.nsid[i] > out.nsid[i - 1]));
}

static void check_ctrl_list(const uint8_t *data, size_t n, int rc)
{
    struct sated_nvme_ctrl_list out;
    HOLDS(sated_nvme_decode_ctrl_list(data, n, &out) == rc);
    HOLDS(out.n_cntlid <= 2047 && 2 * (size_t)out.n_cntlid <= n);
    HOLDS(rc || out.truncated == (out.n_cntlid < bytes_le16(data)));
}

static void check_ns_descs(const uint8_t *data, size_t n, int rc)
{
    struct sated_nvme_ns_descs out;
    HOLDS(sated_nvme_decode_ns_descs(data, n, &out) == rc);
    HOLDS(n >= 20 || !IS_KNOWN(nvme_ns_descs, &out, uuid));
    EMPTY_UNLESS_KNOWN(nvme_ns_descs, &out, eui64);
    EMPTY_UNLESS_KNOWN(nvme_ns_descs, &out, nguid);
    EMPTY_UNLESS_KNOWN(nvme_ns_descs, &out, uuid);
}

static void check_error_log(const uint8_t *data, size_t n, int rc)
{
    static struct sated_nvme_error_log out;
    HOLDS(sated_nvme_decode_error_log(data, n, &out) == rc);
    HOLDS(out.n_entries <= 256 && 64 * (size_t)out.n_entries <= n);
    for (uint32_t i = 0; i < out.n_entries; i++) {
        const struct sated_nvme_error *entry = &out.entries[i];
        HOLDS(entry->error_count || entry->known == KNOWN_BIT(nvme_error, error_count));
        HOLDS(entry->status_field <= 0x7fff);
        EMPTY_UNLESS_KNOWN(nvme_error, entry, parm_err_loc);
    }
}

static void check_smart_log(const uint8_t *data, size_t n, int rc)
{
    struct sated_nvme_smart_log out;
    HOLDS(sated_nvme_decode_smart_log(data, n, &out) == rc);
    HOLDS(out.avail_spare <= 100 && out.spare_thresh <= 100 && out.n_sensors <= 8);
    HOLDS(n >= 216 || !out.n_sensors);
    HOLDS(n >= 232 || !IS_KNOWN(nvme_smart_log, &out, thm_temp2_total_time));
    HOLDS(!IS_KNOWN(nvme_smart_log, &out, temperature) || (out.temperature && out.temperature != 0xffff));
    HOLDS(!IS_KNOWN(nvme_smart_log, &out, data_units_read) || out.data_units_read[0] || out.data_units_read[1]);
    for (uint32_t i = 0; i < out.n_sensors; i++)
        HOLDS(out.sensors[i].sensor >= 1 && out.sensors[i].sensor <= 8 && out.sensors[i].kelvin != 0xffff &&
              (!i || out.sensors[i].sensor > out.sensors[i - 1].sensor));
    EMPTY_UNLESS_KNOWN(nvme_smart_log, &out, avail_spare);
    EMPTY_UNLESS_KNOWN(nvme_smart_log, &out, spare_thresh);
    EMPTY_UNLESS_KNOWN(nvme_smart_log, &out, data_units_written);
    EMPTY_UNLESS_KNOWN(nvme_smart_log, &out, power_on_hours);
}

static void check_firmware_log(const uint8_t *data, size_t n, int rc)
{
    struct sated_nvme_firmware_log out;
    HOLDS(sated_nvme_decode_firmware_log(data, n, &out) == rc);
    HOLDS(out.n_slots <= 7 && (!out.n_slots || n >= 16));
    for (uint32_t i = 0; i < out.n_slots; i++)
        HOLDS(out.slots[i].revision[0] && printable(out.slots[i].revision, sizeof out.slots[i].revision));
}

static void check_effects_log(const uint8_t *data, size_t n, int rc)
{
    struct sated_nvme_effects_log out;
    HOLDS(sated_nvme_decode_effects_log(data, n, &out) == rc);
    HOLDS((n >= 1024) == IS_KNOWN(nvme_effects_log, &out, acs) &&
          (n >= 2048) == IS_KNOWN(nvme_effects_log, &out, iocs));
    EMPTY_UNLESS_KNOWN(nvme_effects_log, &out, iocs);
}

static void check_self_test_log(const uint8_t *data, size_t n, int rc)
{
    struct sated_nvme_self_test_log out;
    HOLDS(sated_nvme_decode_self_test_log(data, n, &out) == rc);
    HOLDS(out.completion <= 100 && out.n_results <= 20 && (!out.n_results || n >= 4 + 28 * (size_t)out.n_results));
    HOLDS(rc || out.truncated == (n < 564));
    for (uint32_t i = 0; i < out.n_results; i++) {
        HOLDS(out.results[i].result != 15 && out.results[i].code);
        EMPTY_UNLESS_KNOWN(nvme_self_test_result, &out.results[i], flba);
        EMPTY_UNLESS_KNOWN(nvme_self_test_result, &out.results[i], segment);
    }
}

static void check_telemetry(const uint8_t *data, size_t n, int rc)
{
    struct sated_nvme_telemetry_header out;
    HOLDS(sated_nvme_decode_telemetry_header(data, n, &out) == rc);
    HOLDS(rc || out.lid == 7 || out.lid == 8);
    HOLDS(n >= 512 || !IS_KNOWN(nvme_telemetry_header, &out, reason));
    HOLDS(out.lid == 7 || !IS_KNOWN(nvme_telemetry_header, &out, host_generation));
}

static void check_endurance(const uint8_t *data, size_t n, int rc)
{
    struct sated_nvme_endurance_group_log out;
    HOLDS(sated_nvme_decode_endurance_group_log(data, n, &out) == rc);
    HOLDS(out.avl_spare <= 100 && out.avl_spare_threshold <= 100);
    HOLDS(n >= 96 || !IS_KNOWN(nvme_endurance_group_log, &out, media_units_written));
    HOLDS(n >= 192 || !IS_KNOWN(nvme_endurance_group_log, &out, uegcap));
    EMPTY_UNLESS_KNOWN(nvme_endurance_group_log, &out, media_units_written);
    EMPTY_UNLESS_KNOWN(nvme_endurance_group_log, &out, uegcap);
}

static void check_persistent(const uint8_t *data, size_t n, int rc)
{
    struct sated_nvme_persistent_event_header out;
    HOLDS(sated_nvme_decode_persistent_event_header(data, n, &out) == rc);
    HOLDS(rc || out.lid == 0x0d);
    HOLDS(printable(out.sn, sizeof out.sn) && printable(out.mn, sizeof out.mn) &&
          printable(out.subnqn, sizeof out.subnqn));
    HOLDS(n >= 512 || !IS_KNOWN(nvme_persistent_event_header, &out, supported));
}

static void check_sanitize(const uint8_t *data, size_t n, int rc)
{
    struct sated_nvme_sanitize_log out;
    HOLDS(sated_nvme_decode_sanitize_log(data, n, &out) == rc);
    HOLDS(out.state <= 7 && out.passes <= 31 && out.global_data_erased <= 1);
    HOLDS(!IS_KNOWN(nvme_sanitize_log, &out, progress) ||
          (out.state == SATED_NVME_SANITIZE_RUNNING && out.progress == out.sprog));
    HOLDS(out.eto != UINT32_MAX && out.etbend != UINT32_MAX);
    HOLDS(n >= 32 || !IS_KNOWN(nvme_sanitize_log, &out, etcend));
    EMPTY_UNLESS_KNOWN(nvme_sanitize_log, &out, progress);
    EMPTY_UNLESS_KNOWN(nvme_sanitize_log, &out, etbe);
}

static void check_ocp(const uint8_t *data, size_t n, int rc)
{
    struct sated_nvme_ocp_smart_log out;
    HOLDS(sated_nvme_decode_ocp_smart_log(data, n, &out) == rc);
    HOLDS(!rc == (out.known != 0));
    HOLDS(out.percent_free_blocks <= 100);
    EMPTY_UNLESS_KNOWN(nvme_ocp_smart_log, &out, capacitor_health);
}

/* Runs a decoder once to know its result, so that the check above sees that a second run gives the same. */
#define RUN(struct_name, function) \
    static int run_##struct_name(const uint8_t *data, size_t n) \
    { \
        static struct sated_nvme_##struct_name out; \
        memset(&out, 0xa5, sizeof out); \
        return function(data, n, &out); \
    }
RUN(id_ctrl, sated_nvme_decode_id_ctrl)
RUN(id_ns, sated_nvme_decode_id_ns)
RUN(independent_ns, sated_nvme_decode_independent_ns)
RUN(nvm_ns, sated_nvme_decode_nvm_ns)
RUN(nvm_ctrl, sated_nvme_decode_nvm_ctrl)
RUN(granularity_list, sated_nvme_decode_granularity_list)
RUN(uuid_list, sated_nvme_decode_uuid_list)
RUN(apst, sated_nvme_decode_apst)
RUN(ns_list, sated_nvme_decode_ns_list)
RUN(ctrl_list, sated_nvme_decode_ctrl_list)
RUN(ns_descs, sated_nvme_decode_ns_descs)
RUN(error_log, sated_nvme_decode_error_log)
RUN(smart_log, sated_nvme_decode_smart_log)
RUN(firmware_log, sated_nvme_decode_firmware_log)
RUN(effects_log, sated_nvme_decode_effects_log)
RUN(self_test_log, sated_nvme_decode_self_test_log)
RUN(telemetry_header, sated_nvme_decode_telemetry_header)
RUN(endurance_group_log, sated_nvme_decode_endurance_group_log)
RUN(persistent_event_header, sated_nvme_decode_persistent_event_header)
RUN(sanitize_log, sated_nvme_decode_sanitize_log)
RUN(ocp_smart_log, sated_nvme_decode_ocp_smart_log)

/* Makes a random page look like the one that is expected, so that the decoder gets past its first look. */
static void nothing(uint8_t *p)
{
    (void)p;
}

static void like_ns_list(uint8_t *p)
{
    uint32_t nsid = 0, entries = (uint32_t)random_below(&rng, 1025);
    memset(p, 0, 4096);
    for (uint32_t i = 0; i < entries; i++)
        bytes_put_le32(p + 4 * i, nsid += 1 + (uint32_t)random_below(&rng, 1000));
}

static void like_ctrl_list(uint8_t *p)
{
    p[1] &= 7;
}

static void like_ns_descs(uint8_t *p)
{
    static const uint8_t lengths[] = {5, 8, 16, 16, 1, 40};
    for (size_t at = 0; at + 4 + 40 <= 4096 && random_below(&rng, 6); at += 4u + p[at + 1]) {
        p[at] = (uint8_t)random_below(&rng, 6);
        p[at + 1] = lengths[p[at]];
        p[at + 5 + p[at + 1]] = 0;
    }
}

static void like_smart_log(uint8_t *p)
{
    p[3] %= 102;
    p[4] %= 102;
    for (uint32_t i = 0; i < 8; i++)
        if (random_below(&rng, 2))
            memset(p + 200 + 2 * i, random_below(&rng, 2) ? 0xff : 0, 2);
}

static void like_id_ctrl(uint8_t *p)
{
    p[263] &= 31;
}

static void like_id_ns(uint8_t *p)
{
    p[25] &= 63;
    p[26] &= 0x1f;
    for (uint32_t i = 0; i < 64; i++)
        p[130 + 4 * i] = (uint8_t)(8 + random_below(&rng, 8));
    memset(p + 5, 0, 3);
}

static void like_granularity_list(uint8_t *p)
{
    p[4] &= 15;
}

static void like_uuid_list(uint8_t *p)
{
    memset(p + 32 * random_below(&rng, 128), 0, 32);
}

static void like_self_test_log(uint8_t *p)
{
    p[1] %= 110;
}

static void like_telemetry(uint8_t *p)
{
    p[0] = (uint8_t)(7 + random_below(&rng, 2));
}

static void like_persistent(uint8_t *p)
{
    p[0] = 0x0d;
}

static void like_sanitize(uint8_t *p)
{
    p[2] = (uint8_t)random_below(&rng, 5);
}

static void like_ocp(uint8_t *p)
{
    static const uint8_t guid[16] = {0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4,
                                     0x9c, 0x4f, 0x6f, 0x7c, 0xc9, 0x14, 0xd5, 0xaf};
    memcpy(p + 496, guid, sizeof guid);
}

static const struct {
    const char *name;
    int (*run)(const uint8_t *data, size_t n);
    void (*check)(const uint8_t *data, size_t n, int rc);
    void (*like)(uint8_t *p);
    size_t size; /* of the whole answer */
} decoders[] = {
    {"id_ctrl", run_id_ctrl, check_id_ctrl, like_id_ctrl, 4096},
    {"id_ns", run_id_ns, check_id_ns, like_id_ns, 4096},
    {"independent_ns", run_independent_ns, check_independent_ns, nothing, 4096},
    {"nvm_ns", run_nvm_ns, check_nvm_ns, nothing, 4096},
    {"nvm_ctrl", run_nvm_ctrl, check_nvm_ctrl, nothing, 4096},
    {"granularity_list", run_granularity_list, check_granularity_list, like_granularity_list, 4096},
    {"uuid_list", run_uuid_list, check_uuid_list, like_uuid_list, 4096},
    {"apst", run_apst, check_apst, nothing, 256},
    {"ns_list", run_ns_list, check_ns_list, like_ns_list, 4096},
    {"ctrl_list", run_ctrl_list, check_ctrl_list, like_ctrl_list, 4096},
    {"ns_descs", run_ns_descs, check_ns_descs, like_ns_descs, 4096},
    {"error_log", run_error_log, check_error_log, nothing, 4096},
    {"smart_log", run_smart_log, check_smart_log, like_smart_log, 512},
    {"firmware_log", run_firmware_log, check_firmware_log, nothing, 512},
    {"effects_log", run_effects_log, check_effects_log, nothing, 4096},
    {"self_test_log", run_self_test_log, check_self_test_log, like_self_test_log, 564},
    {"telemetry_header", run_telemetry_header, check_telemetry, like_telemetry, 512},
    {"endurance_group_log", run_endurance_group_log, check_endurance, nothing, 512},
    {"persistent_event_header", run_persistent_event_header, check_persistent, like_persistent, 512},
    {"sanitize_log", run_sanitize_log, check_sanitize, like_sanitize, 512},
    {"ocp_smart_log", run_ocp_smart_log, check_ocp, like_ocp, 512},
};

/* One answer: noise, a likely page, zeros or ones; sometimes with bits flipped; whole or cut. */
static size_t make_answer(size_t which, uint8_t *page)
{
    size_t size = decoders[which].size, n = size;
    uint64_t kind = random_below(&rng, 8);
    if (kind < 2) {
        memset(page, kind ? 0xff : 0, size);
    } else {
        for (size_t i = 0; i < size; i += 4)
            bytes_put_le32(page + i, (uint32_t)random_next(&rng));
        if (kind > 2)
            decoders[which].like(page);
    }
    if (random_below(&rng, 2))
        for (uint64_t flips = 1 + random_below(&rng, 8); flips; flips--)
            page[random_below(&rng, size)] ^= (uint8_t)(1u << random_below(&rng, 8));
    if (random_below(&rng, 2))
        n = random_below(&rng, random_below(&rng, 2) ? 65 : size + 1);
    return n;
}

static void test_decoder(size_t which, long rounds)
{
    uint8_t page[4096 + 64];
    long well = 0, refused = 0;
    for (long i = 0; i < rounds; i++) {
        size_t n = make_answer(which, page);
        uint8_t *exact = malloc(n ? n : 1);
        int rc;
        if (!exact)
            abort();
        memcpy(exact, page, n);
        rc = decoders[which].run(exact, n);
        well += rc == 0;
        refused += rc == SATED_PARSE;
        decoders[which].check(exact, n, rc);
        free(exact);
        if (check_failed > 20)
            break;
    }
    CHECK_EQ(well + refused, rounds);
    CHECK(well > rounds / 20);
    CHECK(refused > 0);
    printf("# %s: %ld decoded, %ld refused\n", decoders[which].name, well, refused);
}

/* The number of the last block, of a status and of a threshold, whatever comes. */
static void test_numbers(long rounds)
{
    for (long i = 0; i < rounds; i++) {
        uint32_t a = (uint32_t)random_next(&rng), index, kelvin;
        struct sated_nvme_status status;
        bool extended;
        int rc = sated_nvme_decode_flbas(a, a >> 24, &index, &extended);
        if ((rc != 0) != (index >= a >> 24) || index > 63)
            CHECK(!"an index that is not listed");
        rc = sated_nvme_decode_status(a & 0xffff, &status);
        if ((rc != 0) != ((a & 0x8000) != 0) || status.sct > 7)
            CHECK(!"a status of more than 15 bits");
        if (!sated_nvme_sc_name(a & 15, a >> 8)[0] || !sated_nvme_sct_name(a)[0])
            CHECK(!"a name is missing");
        rc = sated_nvme_decode_temperature_threshold(a, &kelvin);
        if (rc != (kelvin != 0) || kelvin == 0xffff)
            CHECK(!"a threshold that is none");
    }
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 20000;
    random_seed(&rng, 3, 0);
    for (size_t i = 0; i < sizeof decoders / sizeof *decoders; i++)
        test_decoder(i, rounds);
    test_numbers(rounds);
    return check_done();
}
