/* SPDX-License-Identifier: MIT */
/* Recorded answers in a drive's place. */
#define _GNU_SOURCE 1
#include "core/bytes.h"
#include "replays.h"
#include "transport/handle.h"

static int refused(const char *text)
{
    struct sated_drive *d;
    char uri[700];
    put(in("bad.json"), text);
    snprintf(uri, sizeof uri, "replay:%s", in("bad.json"));
    int rc = said(sated_drive_open(&d, uri, NULL));
    CHECK(d == NULL);
    sated_drive_close(d);
    return rc;
}

static int refused_or_taken(const char *text)
{
    struct sated_drive *d;
    char uri[700];
    put(in("damaged.json"), text);
    snprintf(uri, sizeof uri, "replay:%s", in("damaged.json"));
    int rc = said(sated_drive_open(&d, uri, NULL));
    sated_drive_close(d);
    return rc;
}

static void test_match(void)
{
    struct sated_drive *d = replayed(
        HEAD
        "{\"command\": \"scsi\", \"cdb\": \"12 00 00 00 60 00\","
        "  \"data\": [\"00 00 06 02 5b 00 00 02\", \"41434d45 20202020 4469736b 20202020 20202020 20202020 30303031\"]},\n"
        "{\"command\": \"scsi\", \"cdb\": \"00 00 00 00 00 00\", \"status\": 2, \"sense\": \"70 00 06 00 00 00 00 0a\"},\n"
        "{\"command\": \"scsi\", \"cdb\": \"00 00 00 00 00 00\", \"duration_ns\": 5000},\n"
        "{\"command\": \"scsi\", \"cdb\": \"12 01 xx 00 xx 00\", \"status\": 2, \"sense\": "
        "\"70 00 05 00 00 00 00 0a 00 00 00 00 24 00 00 00 00 00\"},\n"
        "{\"command\": \"scsi\", \"cdb\": \"4d 00 40 00 00 00 00 00 ff 00\", \"data\": \"00\", \"residual\": -3},\n"
        "{\"command\": \"scsi\", \"cdb\": \"a0 00 00 00 00 00 00 00 00 10 00 00\", \"host_status\": 3},\n"
        "{\"command\": \"scsi\", \"cdb\": \"25 00 00 00 00 00 00 00 00 00\", \"errno\": 5}\n"
        "]}");
    struct sated_identity id;
    CHECK(d != NULL);
    CHECK_EQ(sated_drive_get_identity(d, &id), 0);
    CHECK_EQ(id.protocol, (uint32_t)SATED_PROTOCOL_SCSI);
    CHECK(!strcmp(id.vendor, "ACME") && !strcmp(id.model, "Disk") && !strcmp(id.firmware, "0001"));
    CHECK(id.flags & SATED_IDENTITY_REPLAYED);
    CHECK(!(id.flags & SATED_IDENTITY_ROTATION_KNOWN));

    CHECK_EQ(scsi(d, "\x12\0\0\0\x60\0", 6, 96), 0);
    CHECK_EQ(reply.data_len, 36u);
    CHECK_EQ(data[4], 0x5b);
    CHECK_EQ(reply.residual, 60);
    CHECK_EQ(data[95], 0);
    /* The same command twice: one answer after the other, the last one for ever. */
    CHECK_EQ(scsi(d, "\0\0\0\0\0\0", 6, 0), SATED_SENSE);
    CHECK_EQ(detail.sense_key, 6);
    int64_t before = sated_drive_now_ns(d);
    CHECK_EQ(scsi(d, "\0\0\0\0\0\0", 6, 0), 0);
    CHECK_EQ(reply.duration_ns, 5000);
    CHECK_EQ(sated_drive_now_ns(d) - before, 5000);
    CHECK_EQ(scsi(d, "\0\0\0\0\0\0", 6, 0), 0);
    CHECK_EQ(scsi(d, "\x12\1\xb0\0\x40\0", 6, 64), SATED_SENSE);
    CHECK(detail.sense_key == 5 && detail.asc == 0x24);
    CHECK_EQ(scsi(d, "\x4d\0\x40\0\0\0\0\0\xff\0", 10, 255), 0);
    CHECK_EQ(reply.flags, (uint32_t)SATED_REPLY_RESIDUAL_WRONG);
    CHECK_EQ(scsi(d, "\xa0\0\0\0\0\0\0\0\0\x10\0\0", 12, 16), SATED_STALLED);
    CHECK_EQ(scsi(d, "\x25\0\0\0\0\0\0\0\0\0", 10, 8), -EIO);

    /* What was not recorded: what was expected, and what came. */
    CHECK_EQ(scsi(d, "\x12\0\0\0\x24\0", 6, 36), SATED_STATE);
    CHECK_TEXT(detail.text, "expected scsi 12 00 00 00 60 00");
    CHECK_TEXT(detail.text, "got scsi 12 00 00 00 24 00");
    CHECK_TEXT(detail.text, ".json:1:");
    CHECK_EQ(nvme(d, 6, 0, 1, 4096), SATED_UNSUPPORTED);

    /* Idling takes none of our time; loads and purges are not for it, and it needs no token. */
    before = sated_drive_now_ns(d);
    CHECK_EQ(sated_drive_sleep(d, 3600000000000), 0);
    CHECK_EQ(sated_drive_now_ns(d) - before, 3600000000000);
    CHECK_EQ(sated_drive_permit(d, NULL), 0);
    struct sated_purge *p;
    CHECK_EQ(said(sated_purge_start(&p, d, NULL)), SATED_STATE); /* it was never asked what it has */
    struct sated_load *l;
    struct sated_workload w;
    sated_workload_init(&w);
    CHECK_EQ(said(sated_load_start(&l, &d, 1, &w, NULL)), SATED_UNSUPPORTED);
    CHECK_TEXT(detail.text, "single commands");
    struct sated_guard g;
    CHECK_EQ(sated_drive_guard(d, &g), 0);
    CHECK(g.safe && !g.needs_token);
    sated_drive_close(d);
}

static void test_strict(void)
{
    struct sated_drive *d =
        replayed("{\"sated_replay\": 1, \"order\": \"strict\", \"protocol\": \"nvme\",\n"
                 "\"identity\": {\"model\": \"X\", \"serial\": \"S1\", \"capacity_bytes\": 512000,\n"
                 "  \"logical_block_bytes\": 512, \"rotation_rpm\": 0},\n"
                 "\"exchanges\": [\n"
                 "{\"command\": \"nvme-admin\", \"opcode\": 6, \"cdw10\": 1, \"data_len\": 4096},\n"
                 "{\"command\": \"nvme-admin\", \"opcode\": \"0x02\", \"nsid\": \"0xffffffff\", "
                 "\"cdw10\": \"any\", \"nvme_status\": \"0x4109\", \"result\": 7},\n"
                 "{\"command\": \"nvme-admin\", \"opcode\": 9, \"cdw10\": 4, \"data_out\": "
                 "\"01 02 03 04\"}]}");
    CHECK(d && d->identity.capacity_bytes == 512000 && !strcmp(d->identity.serial, "S1"));
    CHECK(d->identity.flags & SATED_IDENTITY_ROTATION_KNOWN);
    CHECK_EQ(nvme(d, 2, 0xffffffff, 0x7f0002, 512), SATED_STATE);
    CHECK_TEXT(detail.text, "expected nvme-admin opcode 06 cdw10 00000001");
    CHECK_TEXT(detail.text, "got nvme-admin opcode 02 nsid ffffffff cdw10 007f0002");
    CHECK_EQ(nvme(d, 6, 0, 1, 4096), 0);
    CHECK_EQ(reply.data_len, 4096u);
    CHECK_EQ(nvme(d, 2, 0xffffffff, 0x7f0002, 512), SATED_NVME);
    CHECK(detail.nvme_sct == 1 && detail.nvme_sc == 9);
    CHECK_EQ(reply.nvme_status, 0x4109);
    struct sated_nvme_command c = {.opcode = 9, .cdw10 = 4, .data_len = 4, .direction = 2};
    CHECK_EQ(said(sated_nvme_admin_raw(d, &c, "\1\2\4\4", &reply)), SATED_STATE);
    CHECK_TEXT(detail.text, "from byte 2 on");
    CHECK_EQ(said(sated_nvme_admin_raw(d, &c, "\1\2\3\4", &reply)), 0);
    CHECK_EQ(nvme(d, 6, 0, 1, 4096), SATED_STATE);
    CHECK_TEXT(detail.text, "after the last of its 3 exchanges");
    CHECK_EQ(said(sated_nvme_io_raw(d, &c, "\1\2\3\4", &reply)), SATED_PARSE); /* 16 bytes for each of 5 ranges */
    CHECK_TEXT(detail.text, "moves 80 bytes (by NR), and its data has room for 4");
    sated_drive_close(d);
}

/* What a file may hold: any size of a drive, any time, what failed without an errno, and texts that go to a terminal. */
static void test_extremes(void)
{
    struct sated_drive *d =
        replayed("{\"sated_replay\": 1, \"protocol\": \"nvme\",\n"
                 "\"identity\": {\"model\": \"a\\u001b[31mb\\u00e9\", \"capacity_bytes\": 18446744073709551615},\n"
                 "\"exchanges\": [\n"
                 "{\"command\": \"nvme-admin\", \"opcode\": 10, \"duration_ns\": 9223372036854775807},\n"
                 "{\"command\": \"nvme-admin\", \"opcode\": 2, \"cdw10\": \"0x7f0002\", \"data\": \"01\"},\n"
                 "{\"command\": \"nvme-admin\", \"opcode\": 20, \"failure\": \"STALLED\"}]}");
    CHECK_EQ(d->identity.capacity_bytes, UINT64_MAX);
    CHECK_EQ(d->identity.native_capacity_bytes, 0u); /* nobody told */
    CHECK(!strcmp(d->identity.model, "a?[31mb??"));
    for (int i = 0; i < 3; i++)
        CHECK_EQ(nvme(d, 10, 0, 0, 0), 0);
    CHECK_EQ(sated_drive_now_ns(d), INT64_MAX);
    /* Retaining the event is no part of what a log says (NVMe Base 2.0 5.16.1: RAE is bit 15). */
    CHECK_EQ(nvme(d, 2, 0, 0x7f8002, 512), 0);
    CHECK_EQ(data[0], 1);
    CHECK_EQ(reply.data_len, 1u); /* as much as came, and no zeros made up */
    CHECK_EQ(nvme(d, 20, 0, 0, 0), SATED_STALLED);
    sated_drive_close(d);
    CHECK_EQ(refused(HEAD "{\"command\": \"nvme-admin\", \"opcode\": 2, \"failure\": \"GONE\"}]}"), SATED_PARSE);
    CHECK_TEXT(detail.text, "the name of an error");
    CHECK_EQ(said(sated_drive_open(&d, "replay:", NULL)), SATED_PARSE);
    CHECK_TEXT(detail.text, "the file is missing");
}

static void test_bad_files(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{\"exchanges\": []}", "is not a replay file"},
        {"{\"sated_replay\": 2, \"exchanges\": []}", "schema 2"},
        {"{\"sated_replay\": \"1\", \"exchanges\": []}", "is not a replay file"},
        {"{\"sated_replay\": 1}", "\"exchanges\" is missing"},
        {"{\"sated_replay\": 1, \"exchanges\": [], \"ordr\": \"strict\"}", "did you mean \"order\""},
        {"{\"sated_replay\": 1, \"exchanges\": [], \"order\": \"loose\"}", "\"match\" or \"strict\""},
        {"{\"sated_replay\": 1, \"exchanges\": [], \"protocol\": \"usb\"}", "usb"},
        {HEAD "{}]}", "begins with \"command\""},
        {HEAD "7]}", "an object for each exchange"},
        {HEAD "{\"command\": \"scsi\"}]}", "without \"cdb\""},
        {HEAD "{\"command\": \"scsi\", \"cdb\": \"1\"}]}", "two hexadecimal digits"},
        {HEAD "{\"command\": \"scsi\", \"cdb\": \"zz\"}]}", "byte 0"},
        {HEAD "{\"command\": \"scsi\", \"cdb\": 18}]}", "a number"},
        {HEAD "{\"command\": \"scsi\", \"cdb\": \"12\", \"status\": 256}]}", "from 0 to 255"},
        {HEAD "{\"command\": \"scsi\", \"cdb\": \"12\", \"status\": -1}]}", "from 0 to 255"},
        {HEAD "{\"command\": \"scsi\", \"cdb\": \"12\", \"status\": 0.5}]}", "whole number"},
        {HEAD "{\"command\": \"scsi\", \"cdb\": \"12\", \"nvme_status\": 1}]}", "unknown \"nvme_status\""},
        {HEAD "{\"command\": \"scsi\", \"cdb\": \"12\", \"data\": \"xx\"}]}", "two hexadecimal digits"},
        {HEAD "{\"command\": \"nvme-admin\"}]}", "without \"opcode\""},
        {HEAD "{\"command\": \"nvme-admin\", \"opcode\": 6, \"cdw16\": 0}]}", "did you mean \"cdw1"},
        {HEAD "{\"command\": \"nvme-admin\", \"opcode\": 6, \"cdw10\": 4294967296}]}", "4294967295"},
        {HEAD "{\"command\": \"nvme-admin\", \"opcode\": 6, \"cdw10\": \"0x\"}]}", "hexadecimal"},
        {HEAD "{\"command\": \"nvme-admin\", \"opcode\": 6,,}]}", "not JSON"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_EQ(refused(cases[i].text), SATED_PARSE);
        if (!strstr(detail.text, cases[i].says))
            printf("case %zu: %s\n", i, detail.text);
        CHECK_TEXT(detail.text, cases[i].says);
        CHECK_TEXT(detail.text, "bad.json");
    }
}

/* One log refuses in one length, the rest is fine (case C48 of the field cases, smartctl_exporter#383, smartmontools#193):
 * 16 entries of the error log are refused with 13h, 64 are not; with another drive always. */
static void test_one_log_refuses(void)
{
    static const char sixteen[] = "{\"command\": \"nvme-admin\", \"opcode\": 2, \"nsid\": \"0xffffffff\", "
                                  "\"cdw10\": \"0x00ff0001\", \"nvme_status\": \"0x4013\"}";
    static const char sixty_four[] = "{\"command\": \"nvme-admin\", \"opcode\": 2, \"nsid\": \"0xffffffff\", "
                                     "\"cdw10\": \"0x03ff0001\", \"data_len\": 4096}";
    static const char always[] = "{\"command\": \"nvme-admin\", \"opcode\": 2, \"nsid\": \"0xffffffff\", "
                                 "\"cdw10\": \"any\", \"nvme_status\": \"0x4013\"}";
    static const char smart[] = "{\"command\": \"nvme-admin\", \"opcode\": 2, \"nsid\": \"0xffffffff\", "
                                "\"cdw10\": \"0x007f0002\", \"data_len\": 512, \"data\": \"00 2c 01 64 0a\"}";
    char text[2000];
    snprintf(text, sizeof text, HEAD "%s,%s,%s]}", sixteen, sixty_four, smart);
    struct sated_drive *d = replayed(text);
    CHECK_EQ(nvme(d, 2, 0xffffffff, 0x00ff0001, 1024), SATED_NVME);
    CHECK(detail.nvme_sct == 0 && detail.nvme_sc == 0x13);
    CHECK_EQ(nvme(d, 2, 0xffffffff, 0x03ff0001, 4096), 0);
    CHECK_EQ(nvme(d, 2, 0xffffffff, 0x007f0002, 512), 0);
    CHECK_EQ(bytes_le16(data + 1), 300);
    sated_drive_close(d);
    snprintf(text, sizeof text, HEAD "%s,%s]}", smart, always);
    d = replayed(text);
    CHECK_EQ(nvme(d, 2, 0xffffffff, 0x00ff0001, 1024), SATED_NVME);
    CHECK_EQ(nvme(d, 2, 0xffffffff, 0x03ff0001, 4096), SATED_NVME);
    CHECK_EQ(nvme(d, 2, 0xffffffff, 0x007f0002, 512), 0);
    CHECK_EQ(bytes_le16(data + 1), 300);
    sated_drive_close(d);
}

/* Whatever stands in a file, it is taken or refused, and never more is read than there is. */
static void test_damaged_files(void)
{
    static const char good[] = HEAD
        "{\"command\": \"scsi\", \"cdb\": \"12 00 00 00 xx 00\", \"data\": [\"00 00 06\", \"02\"], \"data_len\": 96},"
        "{\"command\": \"nvme-admin\", \"opcode\": 6, \"cdw10\": \"0x1\", \"data_len\": 4096, \"note\": \"\\u00e4\"},"
        "{\"command\": \"scsi\", \"cdb\": \"00 00 00 00 00 00\", \"status\": 2, \"sense\": \"72 05 24\", \"residual\": -1}]}";
    static const char odd[] = "{}[]\",:\\x0u-9.e ";
    uint32_t seed = 1;
    int taken = 0;
    for (int i = 0; i < 3000; i++) {
        char text[sizeof good];
        size_t n = sizeof good - 1;
        memcpy(text, good, sizeof good);
        for (int k = 0; k <= i % 3; k++) {
            seed = seed * 1664525 + 1013904223;
            text[(seed >> 8) % n] = seed & 0x80 ? odd[(seed >> 3) % (sizeof odd - 1)] : (char)(1 + (seed & 0x7e));
        }
        if (i % 7 == 0)
            text[(seed >> 12) % n] = '\0';
        int rc = refused_or_taken(text);
        CHECK(rc == 0 || rc == SATED_PARSE);
        taken += rc == 0;
    }
    CHECK(taken > 0 && taken < 1500);
}

int main(void)
{
    if (tree_begin())
        return 1;
    test_match();
    test_strict();
    test_extremes();
    test_bad_files();
    test_one_log_refuses();
    test_damaged_files();
    tree_end();
    return check_done();
}
