/* SPDX-License-Identifier: MIT */
/* What health makes of single pages: endurance groups, self-tests and how far they are, and junk, which is unknown and
 * said. Layouts: NVMe Base 2.0 5.16.1 and 5.17.2, SPC-6 7.3.19, ACS-4 9.5 and 9.10. */
#define _GNU_SOURCE 1
#include "core/bytes.h"
#include "protocol/known_health.h"
#include "ata_pages.h"
#include "replays.h"

static char file[60000];
static struct sated_health health;

#define KNOWN(member) IS_KNOWN(health, &health, member)

static void begin(const char *protocol)
{
    sprintf(file, "{\"sated_replay\": 1, \"protocol\": \"%s\", \"exchanges\": [", protocol);
}

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...)
{
    size_t used = strlen(file);
    va_list args;
    if (file[used - 1] != '[')
        file[used++] = ',';
    va_start(args, format);
    vsnprintf(file + used, sizeof file - used, format, args);
    va_end(args);
}

static const char *hex(const uint8_t *page, size_t n)
{
    static char text[3 * 4096 + 1];
    for (size_t i = 0; i < n; i++)
        sprintf(text + 3 * i, "%02x ", page[i]);
    return text;
}

static void ask(void)
{
    strcat(file, "]}");
    struct sated_drive *d = replayed(file);
    CHECK_EQ(said(sated_health_get(d, &health, NULL)), 0);
    sated_drive_close(d);
}

/* ---- NVMe ---- */

static void add_controller(uint32_t ctratt, uint16_t groups)
{
    uint8_t page[512] = {0};
    memset(page + 4, ' ', 60);
    bytes_put_le32(page + 96, ctratt);
    bytes_put_le16(page + 256, 0x10); /* OACS: self-tests */
    bytes_put_le16(page + 340, groups);
    add("{\"command\": \"nvme-admin\", \"opcode\": 6, \"cdw10\": 1, \"data_len\": 4096, \"data\": \"%s\"}",
        hex(page, sizeof page));
}

static void add_log(uint32_t lid, uint32_t nsid, uint32_t cdw11, const uint8_t *page, uint32_t n)
{
    add("{\"command\": \"nvme-admin\", \"opcode\": 2, \"nsid\": \"0x%x\", \"cdw10\": \"0x%x\", \"cdw11\": \"0x%x\", "
        "\"data\": \"%s\"}",
        nsid, (n / 4 - 1) << 16 | lid, cdw11, hex(page, n));
}

static void add_smart(uint64_t written, uint64_t hours)
{
    uint8_t page[512] = {0};
    page[3] = 100;
    bytes_put_le16(page + 1, 300);
    bytes_put_le64(page + 32, 1);
    bytes_put_le64(page + 48, written);
    bytes_put_le64(page + 128, hours);
    add_log(0x02, 0xffffffff, 0, page, sizeof page);
}

static void add_namespace(uint16_t group)
{
    uint8_t page[128] = {0};
    bytes_put_le16(page + 102, group); /* ENDGID */
    add("{\"command\": \"nvme-admin\", \"opcode\": 6, \"nsid\": 1, \"data_len\": 4096, \"data\": \"%s\"}",
        hex(page, sizeof page));
}

/* The page of tests/corpus/nvme_endgrp_synth, which nvme-cli reads as 15308642 media units written. */
static void read_group(uint8_t page[512])
{
    char line[200];
    size_t n = 0;
    FILE *f = fopen(CORPUS "/nvme_endgrp_synth.hex", "r");
    CHECK(f != NULL);
    while (f && fgets(line, sizeof line, f))
        for (char *p = line, *end; line[0] != '#' && n < 512; p = end) {
            unsigned long value = strtoul(p, &end, 16);
            if (end == p)
                break;
            page[n++] = (uint8_t)value;
        }
    if (f)
        fclose(f);
    CHECK_EQ(n, 512u);
}

static void test_group(void)
{
    uint8_t page[512];
    read_group(page);
    begin("nvme");
    add_controller(0x10, 1);
    add_smart(7654321000000 / 512, 9);
    add_namespace(3);
    add_log(0x09, 0, 3 << 16, page, 512);
    ask();
    CHECK(KNOWN(media_bytes_written));
    CHECK_EQ(health.media_bytes_written, UINT64_C(15308642000000000));
    CHECK_NEAR(health.lifetime_write_amplification, 15308642e9 / (7654321000000 / 512 * 512000.), 1e-12);
    CHECK_TEXT(health.doubts, "endurance group 3");

    /* One of several groups: the host's bytes are of all of them. */
    begin("nvme");
    add_controller(0x10, 2);
    add_smart(1000, 9);
    add_namespace(1);
    add_log(0x09, 0, 1 << 16, page, 512);
    ask();
    CHECK(!KNOWN(media_bytes_written) && !KNOWN(lifetime_write_amplification));
    CHECK_TEXT(health.doubts, "endurance group 1, one of 2");

    /* In no group, or in one that cannot be told: no number is guessed, and log 09h is not asked for. */
    for (int told = 0; told < 2; told++) {
        begin("nvme");
        add_controller(0x10, 1);
        add_smart(1000, 9);
        if (told)
            add_namespace(0);
        add_log(0x09, 0, 1 << 16, page, 512);
        ask();
        CHECK(!KNOWN(media_bytes_written));
    }

    /* Units of 0. */
    memset(page + 80, 0, 16);
    begin("nvme");
    add_controller(0x10, 1);
    add_smart(1000, 9);
    add_namespace(1);
    add_log(0x09, 0, 1 << 16, page, 512);
    ask();
    CHECK(!KNOWN(media_bytes_written));
    CHECK_TEXT(health.doubts, "endurance group 1: units of 0");
}

static void test_nvme_self_tests(void)
{
    static const struct {
        uint8_t operation, done, result;
        uint64_t hours;
        int want; /* -1 unknown */
        const char *doubt;
    } cases[] = {
        {0, 0, 0x10, 8, SATED_HEALTH_TEST_PASSED, NULL},
        {0, 0, 0x21, 8, SATED_HEALTH_TEST_ABORTED, NULL},
        {0, 0, 0x14, 8, SATED_HEALTH_TEST_ABORTED, NULL},
        {0, 0, 0x15, 8, SATED_HEALTH_TEST_FAILED, NULL},
        {0, 0, 0x27, 8, SATED_HEALTH_TEST_FAILED, NULL},
        {0, 0, 0x19, 8, SATED_HEALTH_TEST_ABORTED, NULL},
        {0, 0, 0x1b, 8, -1, "result Bh"},
        {1, 40, 0x10, 8, SATED_HEALTH_TEST_PASSED, NULL},
        {1, 101, 0x10, 8, SATED_HEALTH_TEST_PASSED, "101 %"},
        {0, 0, 0x10, UINT64_MAX, SATED_HEALTH_TEST_PASSED, "of which the drive has had 9"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t page[564] = {cases[i].operation, cases[i].done};
        for (int k = 0; k < 20; k++)
            page[4 + 28 * k] = 0x0f;
        page[4] = cases[i].result;
        bytes_put_le64(page + 8, cases[i].hours);
        begin("nvme");
        add_controller(0, 0);
        add_smart(1000, 9);
        add_log(0x06, 0xffffffff, 0, page, sizeof page);
        ask();
        CHECK_EQ(KNOWN(self_test_result), cases[i].want >= 0);
        CHECK_EQ(health.self_test_result, (uint32_t)(cases[i].want > 0 ? cases[i].want : 0));
        CHECK_EQ(KNOWN(self_test_hours), cases[i].want >= 0 && cases[i].hours == 8);
        CHECK_EQ(KNOWN(self_test_percent), cases[i].operation && cases[i].done <= 100);
        CHECK_EQ(health.self_test_running, cases[i].operation);
        CHECK(cases[i].doubt || !health.doubts[0]);
        if (cases[i].doubt)
            CHECK_TEXT(health.doubts, cases[i].doubt);
    }
}

/* ---- SCSI ---- */

static void test_scsi_self_tests(void)
{
    /* Key, ASC and ASCQ of what REQUEST SENSE answers, with a progress of 4000h of 10000h. */
    static const struct {
        const char *sense;
        int percent;
    } progress[] = {
        {"70 00 02 00 00 00 00 0a 00 00 00 00 04 09 00 80 40 00", 25},
        {"70 00 00 00 00 00 00 0a 00 00 00 00 04 09 00 80 40 00", 25},
        {"70 00 02 00 00 00 00 0a 00 00 00 00 04 1b 00 80 40 00", -1}, /* a sanitize */
        {"70 00 02 00 00 00 00 0a 00 00 00 00 04 04 00 80 40 00", -1}, /* a format */
        {"70 00 02 00 00 00 00 0a 00 00 00 00 04 09 00 00 40 00", -1}, /* SKSV is not set */
        {"72 02 04 09 00 00 00 08 02 06 00 00 80 80 00 00", 50},
        {"72 00 00 00 00 00 00 08 0a 06 02 04 09 00 c0 00", 75},
        {"72 00 00 00 00 00 00 08 0a 06 02 04 04 00 c0 00", -1},
    };
    for (size_t i = 0; i < sizeof progress / sizeof *progress; i++) {
        begin("scsi");
        add("{\"command\": \"scsi\", \"cdb\": \"4d 00 40 00 00 00 00 10 00 00\", \"data\": \"00 00 00 02 00 10\"}");
        add("{\"command\": \"scsi\", \"cdb\": \"4d 00 50 00 00 00 00 10 00 00\", \"data\": \"10 00 00 28 "
            "00 01 03 10 2f 00 00 14 ff ff ff ff ff ff ff ff 00 00 00 00 "
            "00 02 03 10 24 00 00 0a ff ff ff ff ff ff ff ff 00 00 00 00\"}");
        add("{\"command\": \"scsi\", \"cdb\": \"03 00 00 00 fc 00\", \"data\": \"%s\"}", progress[i].sense);
        ask();
        CHECK(health.self_test_running == 1);
        CHECK_EQ(KNOWN(self_test_percent), progress[i].percent >= 0);
        CHECK_EQ(health.self_test_percent, (uint32_t)(progress[i].percent >= 0 ? progress[i].percent : 0));
        CHECK_EQ(health.self_test_result, (uint32_t)SATED_HEALTH_TEST_FAILED); /* 4: of the one before */
        CHECK_EQ(health.self_test_hours, 10u);
    }
    /* Result 9 is reserved; a parameter of zeros is a place that is free. */
    begin("scsi");
    add("{\"command\": \"scsi\", \"cdb\": \"4d 00 50 00 00 00 00 10 00 00\", \"data\": \"10 00 00 14 "
        "00 01 03 10 29 00 00 14 ff ff ff ff ff ff ff ff 00 00 00 00\"}");
    ask();
    CHECK(!KNOWN(self_test_result) && !KNOWN(self_test_hours));
    CHECK_TEXT(health.doubts, "result 9h");
    begin("scsi");
    add("{\"command\": \"scsi\", \"cdb\": \"4d 00 50 00 00 00 00 10 00 00\", \"data\": \"10 00 00 14 "
        "00 01 03 10 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\"}");
    ask();
    CHECK(KNOWN(self_test_result));
    CHECK_EQ(health.self_test_result, (uint32_t)SATED_HEALTH_TEST_NEVER);
}

/* ---- ATA ---- */

static uint8_t sum_of(const uint8_t *page)
{
    uint8_t sum = 0;
    for (int i = 0; i < 511; i++)
        sum = (uint8_t)(sum - page[i]);
    return sum;
}

static void add_ata(const char *cdb, uint8_t *page, bool checked)
{
    if (checked)
        page[511] = sum_of(page);
    add("{\"command\": \"scsi\", \"cdb\": \"%s\", \"data\": \"%s\"}", cdb, hex(page, 512));
}

/* SMART, its self-tests, and the general purpose logs. */
static void add_identify(void)
{
    uint8_t page[512];
    identify_page(page, "Model C");
    bytes_put_le16(page + 166, 0x4400);
    bytes_put_le16(page + 168, 0x4022);
    bytes_put_le16(page + 174, 0x4022);
    add_ata("85 08 0e 00 00 00 01 00 00 00 00 00 00 40 ec 00", page, true);
}

static void test_ata_self_tests(void)
{
    static const struct {
        uint8_t now, index, result;
        int want;
        const char *doubt;
    } cases[] = {
        {0x00, 1, 0x00, SATED_HEALTH_TEST_PASSED, NULL}, {0x00, 1, 0x20, SATED_HEALTH_TEST_ABORTED, NULL},
        {0x00, 1, 0x70, SATED_HEALTH_TEST_FAILED, NULL}, {0x00, 1, 0xb0, -1, "result Bh"},
        {0x00, 0, 0x00, SATED_HEALTH_TEST_NEVER, NULL},  {0x00, 200, 0x00, -1, "index leads to no entry"},
        {0xf3, 1, 0x00, SATED_HEALTH_TEST_PASSED, NULL}, {0xfc, 1, 0x00, SATED_HEALTH_TEST_PASSED, "120 %"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t smart[512] = {0x10}, log[512] = {1};
        begin("ata");
        add_identify();
        smart[363] = cases[i].now;
        add_ata("85 08 0e 00 d0 00 01 00 00 00 4f 00 c2 40 b0 00", smart, true);
        log[2] = 1;
        log[3] = cases[i].result;
        bytes_put_le16(log + 4, 77);
        log[508] = cases[i].index;
        add_ata("85 08 0e 00 d5 00 01 00 06 00 4f 00 c2 40 b0 00", log, true);
        ask();
        CHECK_EQ(KNOWN(self_test_result), cases[i].want >= 0);
        CHECK_EQ(health.self_test_result, (uint32_t)(cases[i].want > 0 ? cases[i].want : 0));
        CHECK_EQ(health.self_test_running, cases[i].now >> 4 == 15);
        CHECK_EQ(KNOWN(self_test_percent), cases[i].now == 0xf3);
        CHECK_EQ(health.self_test_percent, cases[i].now == 0xf3 ? 70u : 0u);
        if (cases[i].doubt)
            CHECK_TEXT(health.doubts, cases[i].doubt);
        else
            CHECK(!strstr(health.doubts, "self-test"));
    }
}

/* ACS-4 9.5: each statistic is supported and valid (C0h), and 0 sectors, or 80h degrees, are told. */
static void test_ata_junk(void)
{
    uint8_t list[512] = {0}, general[512] = {0}, warm[512] = {0};
    begin("ata");
    add_identify();
    list[0] = 1;
    memcpy(list + 8, "\3\0\1\5", 4);
    add_ata("85 09 0e 00 00 00 01 00 04 00 00 00 00 40 2f 00", list, false);
    bytes_put_le64(general, 0x010001);
    bytes_put_le64(general + 16, UINT64_C(0xc0) << 56 | 12);
    bytes_put_le64(general + 24, UINT64_C(0xc0) << 56);
    bytes_put_le64(general + 40, UINT64_C(0xc0) << 56 | 5);
    add_ata("85 09 0e 00 00 00 01 00 04 00 01 00 00 40 2f 00", general, false);
    bytes_put_le64(warm, 0x050001);
    bytes_put_le64(warm + 8, UINT64_C(0xc0) << 56 | 0x80);
    bytes_put_le64(warm + 88, UINT64_C(0xc0) << 56 | 70);
    add_ata("85 09 0e 00 00 00 01 00 04 00 05 00 00 40 2f 00", warm, false);
    ask();
    CHECK_EQ(health.power_on_hours, 12u);
    CHECK_EQ(health.host_bytes_read, 5u * 512);
    CHECK(!KNOWN(host_bytes_written));
    CHECK_TEXT(health.doubts, "0 is told, which stands for none or not reported");
    CHECK(!KNOWN(temperature_c));
    CHECK_TEXT(health.doubts, "80h is told");
    CHECK(KNOWN(temperature_warning_c));
    CHECK_EQ(health.temperature_warning_c, 70);
}

/* What no drive can mean is unknown, and said; what did not come is unknown. */
static void test_nvme_junk(void)
{
    uint8_t page[512] = {0};
    begin("nvme");
    add_controller(0, 0);
    page[3] = 100;
    bytes_put_le16(page + 1, 1);
    bytes_put_le16(page + 200, 0xffff);
    bytes_put_le16(page + 202, 310);
    bytes_put_le16(page + 204, 65000);
    memset(page + 112, 0xff, 16); /* power cycles */
    memset(page + 128, 0xff, 8);  /* hours */
    add_log(0x02, 0xffffffff, 0, page, sizeof page);
    ask();
    CHECK(!KNOWN(temperature_c) && !KNOWN(power_cycles) && !KNOWN(power_on_hours));
    CHECK_EQ(health.n_sensors_c, 1u);
    CHECK_NEAR(health.sensors_c[0], 36.85, 1e-9);
    CHECK_TEXT(health.doubts, "temperature: -272 degrees");
    CHECK_TEXT(health.doubts, "sensor: 64727 degrees");
    CHECK_TEXT(health.doubts, "hours of power: all bits are set");
    CHECK_TEXT(health.doubts, "power cycles: more than 2^64");

    begin("nvme");
    add_controller(0, 0);
    add("{\"command\": \"nvme-admin\", \"opcode\": 2, \"nsid\": \"0xffffffff\", \"cdw10\": \"0x7f0002\", "
        "\"data_len\": 100, \"data\": \"%s\"}",
        hex((const uint8_t[4]){0, 44, 1, 90}, 4));
    ask();
    CHECK(KNOWN(temperature_c) && KNOWN(available_spare) && KNOWN(critical_warnings));
    CHECK(!KNOWN(power_on_hours) && !KNOWN(media_errors) && !KNOWN(unsafe_shutdowns) && !KNOWN(power_cycles));
}

/* The endurance group is that of the namespace whose answers there are, not of the first one. */
static void test_second_namespace(void)
{
    uint8_t page[512], identify[128] = {0};
    read_group(page);
    begin("nvme");
    add_controller(0x10, 1);
    add_smart(7654321000000 / 512, 9);
    bytes_put_le16(identify + 102, 3);
    add("{\"command\": \"nvme-admin\", \"opcode\": 6, \"nsid\": 2, \"data_len\": 4096, \"data\": \"%s\"}",
        hex(identify, sizeof identify));
    add_log(0x09, 0, 3 << 16, page, 512);
    ask();
    CHECK_EQ(health.media_bytes_written, UINT64_C(15308642000000000));
}

/* SPC-5 7.3.6: parameters 5 (bytes) and 6 (uncorrected errors), of 8 bytes each. */
static void add_errors(unsigned code, uint64_t bytes, uint64_t errors)
{
    uint8_t page[28] = {(uint8_t)code, 0, 0, 24, 0, 5, 3, 8, [16] = 0, 6, 3, 8};
    bytes_put_be64(page + 8, bytes);
    bytes_put_be64(page + 20, errors);
    add("{\"command\": \"scsi\", \"cdb\": \"4d 00 %02x 00 00 00 00 xx xx 00\", \"data\": \"%s\"}", 0x40 | code,
        hex(page, sizeof page));
}

static void test_scsi_counters(void)
{
    begin("scsi");
    add_errors(2, UINT64_MAX, UINT64_C(1) << 63);
    add_errors(3, 512, UINT64_C(1) << 63);
    ask();
    CHECK(!KNOWN(media_errors)); /* not 0, which is what both come to in 64 bits */
    CHECK(!KNOWN(host_bytes_written));
    CHECK_TEXT(health.doubts, "bytes written: all bits are set");
    CHECK_EQ(health.host_bytes_read, 512u);
}

int main(void)
{
    if (tree_begin())
        return 1;
    test_group();
    test_nvme_self_tests();
    test_scsi_self_tests();
    test_ata_self_tests();
    test_ata_junk();
    test_nvme_junk();
    test_second_namespace();
    test_scsi_counters();
    tree_end();
    return check_done();
}
