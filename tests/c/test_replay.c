/* SPDX-License-Identifier: MIT */
/* Recorded answers, transports of the caller's, the table of read-only commands, and recording itself. */
#define _GNU_SOURCE 1
#include <sated/sated.h>

#include "check.h"
#include "core/bytes.h"
#include "core/json.h"
#include "transport/handle.h"
#include "tree.h"

static struct sated_detail detail;
static struct sated_reply reply;
static uint8_t data[8192];

static int said(int rc)
{
    sated_detail_get(&detail);
    return rc;
}

static struct sated_drive *replayed(const char *text)
{
    static int number;
    struct sated_drive *d;
    char uri[700];
    put(in("replay%d.json", ++number), text);
    snprintf(uri, sizeof uri, "replay:%s", in("replay%d.json", number));
    if (said(sated_drive_open(&d, uri, NULL)))
        printf("%s\n", detail.text);
    return d;
}

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

static int scsi(struct sated_drive *d, const char *cdb, uint32_t n, uint32_t data_len)
{
    struct sated_scsi_command c = {.cdb_len = n, .data_len = data_len, .direction = data_len ? 1 : 0};
    memcpy(c.cdb, cdb, n);
    return said(sated_scsi_raw(d, &c, data, &reply));
}

static int nvme(struct sated_drive *d, uint32_t opcode, uint32_t nsid, uint32_t cdw10, uint32_t data_len)
{
    struct sated_nvme_command c = {
        .opcode = (uint8_t)opcode, .nsid = nsid, .cdw10 = cdw10, .data_len = data_len, .direction = data_len ? 1 : 0};
    return said(sated_nvme_admin_raw(d, &c, data, &reply));
}

/* RFC 8259, and what it leaves open: names twice, depth. */
static void test_json(void)
{
    static const char *const good[] = {
        "{}",
        " [ ] ",
        "null",
        "[true, false, null, 0, -0, 12, 1.5, -2e+10, 1E-3, 18446744073709551615]",
        "{\"a\": {\"b\": [1, {\"c\": \"\\u00e4\\ud83d\\ude00\\n\\\\\\/\"}]}}",
    };
    static const char *const bad[] = {
        "",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "{a: 1}",
        "{\"a\" 1}",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "\"",
        "\"\t\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\u0000\"",
        "tru",
        "nul",
        "1 2",
        "[1] x",
        "// c\n1",
        "{\"a\":1,\"a\":2}",
        "'a'",
        "NaN",
        "-",
        "{\"a\":1 \"b\":2}",
        "\"\\ud83d\\u0041\"",
    };
    struct json_document *j;
    char text[600];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(text, sizeof text, "%s", good[i]);
        CHECK_EQ(json_read(&j, text, strlen(text), "x.json"), 0);
        json_free(j);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "%s", bad[i]);
        int rc = said(json_read(&j, text, strlen(text), "x.json"));
        if (rc != SATED_PARSE)
            printf("taken: %s\n", bad[i]);
        CHECK_EQ(rc, SATED_PARSE);
        CHECK_TEXT(detail.text, "x.json:");
        CHECK(j == NULL);
    }
    memset(text, '[', 500);
    text[500] = '\0';
    CHECK_EQ(said(json_read(&j, text, 500, "x.json")), SATED_PARSE);
    CHECK_TEXT(detail.text, "32 levels");
    snprintf(text, sizeof text,
             "{\"n\": 18446744073709551615, \"t\": \"\\u00e4\\ud83d\\ude00\",\n\"m\": -7, \"f\": 1.0}");
    CHECK_EQ(json_read(&j, text, strlen(text), "x.json"), 0);
    const struct json *root = json_root(j);
    CHECK(json_get(root, "n")->whole && json_get(root, "n")->value == UINT64_MAX);
    CHECK(json_get(root, "m")->negative && json_get(root, "m")->value == 7 && json_get(root, "m")->line == 2);
    CHECK(!json_get(root, "f")->whole);
    CHECK(!strcmp(json_get(root, "t")->text, "\xc3\xa4\xf0\x9f\x98\x80"));
    CHECK(json_get(root, "x") == NULL);
    json_free(j);
}

#define HEAD "{\"sated_replay\": 1, \"exchanges\": ["

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
    CHECK_EQ(said(sated_purge_start(&p, d, NULL)), SATED_UNSUPPORTED);
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
    CHECK_EQ(said(sated_nvme_io_raw(d, &c, "\1\2\3\4", &reply)), SATED_STATE);
    sated_drive_close(d);
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

/* ---- Transports of the caller's ---- */

struct made {
    int closed, calls, fail;
    uint32_t timeout_ms;
    uintptr_t buffer;
};

/* IDENTIFY DEVICE with a serial number in words 10 to 19, a name in 108 to 111, the integrity word. */
static void make_identify(uint8_t *p)
{
    static const char serial[] = "S3Z1NB0K123456A     ", model[] = "Model X                                 ";
    memset(p, 0, 512);
    for (int i = 0; i < 20; i++)
        p[20 + (i ^ 1)] = (uint8_t)serial[i];
    for (int i = 0; i < 40; i++)
        p[54 + (i ^ 1)] = (uint8_t)model[i];
    memcpy(p + 46, "VR0110  ", 8);
    bytes_put_le16(p + 98, 0x0200);      /* w49: LBA */
    bytes_put_le32(p + 120, 1000215216); /* w60 */
    bytes_put_le16(p + 166, 0x4400);     /* w83: 48-bit */
    bytes_put_le16(p + 168, 0x4100);     /* w84: World Wide Name */
    bytes_put_le64(p + 200, 1000215216); /* w100 */
    bytes_put_le16(p + 216, 0x5002);     /* w108 */
    bytes_put_le16(p + 218, 0x538e);     /* w109 */
    bytes_put_le16(p + 220, 0x4012);     /* w110 */
    bytes_put_le16(p + 222, 0x3456);     /* w111 */
    bytes_put_le16(p + 434, 1);          /* w217 */
    p[510] = 0xa5;
    for (int i = 0; i < 511; i++)
        p[511] = (uint8_t)(p[511] - p[i]);
}

static int carry(void *user, const struct sated_scsi_command *c, void *to, struct sated_reply *r)
{
    struct made *m = user;
    m->calls++;
    m->timeout_ms = c->timeout_ms;
    m->buffer = (uintptr_t)to;
    if (m->fail == 1)
        return sated_detail_set(-ENOLINK, SATED_LAYER_DRIVE, "the line is down");
    if (m->fail == 2)
        return SATED_STATE;
    if (c->cdb[0] == 0x85 && c->cdb[14] == 0xec) {
        make_identify(to);
    } else if (c->cdb[0] == 0x12 && c->cdb[1] == 1 && c->cdb[2] == 0x80) {
        memcpy(to,
               "\0\x80\0\x14"
               "     S3Z1NB0K123456A",
               24);
        r->residual = (int32_t)c->data_len - 24;
    } else if (c->cdb[0] == 0x12 && c->cdb[1] == 1 && c->cdb[2] == 0x83) {
        /* SPC-6 7.7.6: T10 vendor ID with model and serial number, NAA */
        memcpy(to,
               "\0\x83\0\x38\2\1\0\x28"
               "ATA     Model X         S3Z1NB0K123456A \1\3\0\x08\x50\x02\x53\x8e\x40\x12\x34\x56",
               60);
        r->residual = (int32_t)c->data_len - 60;
    } else if (c->cdb[0] == 0x12) {
        memcpy(to, "\0\0\5\2\x1f\0\0\2ATA     Model X         0110", 36);
        r->residual = (int32_t)c->data_len - 36;
    } else {
        r->scsi_status = 2;
        r->driver_status = 8;
        r->sense_len = 18;
        memcpy(r->sense, "\x70\0\5\0\0\0\0\x0a\0\0\0\0\x20\0\0\0\0\0", 18);
    }
    return 0;
}

static void close_made(void *user)
{
    ((struct made *)user)->closed++;
}

static void test_transport(void)
{
    struct made m = {0};
    struct sated_transport t;
    struct sated_drive *d;
    struct sated_identity id;
    sated_transport_init(&t);
    CHECK_EQ(said(sated_drive_open_transport(&d, "mine", &t)), SATED_PARSE); /* no function */
    t.scsi = carry;
    t.close = close_made;
    t.user = &m;
    t.protocol = SATED_PROTOCOL_ATA;
    t.size = 8;
    CHECK_EQ(said(sated_drive_open_transport(&d, "mine", &t)), SATED_PARSE);
    t.size = sizeof t;
    CHECK_EQ(sated_drive_open_transport(&d, "mine", &t), 0);
    CHECK_EQ(sated_drive_get_identity(d, &id), 0);
    CHECK_EQ(id.protocol, (uint32_t)SATED_PROTOCOL_ATA);
    CHECK(!strcmp(id.model, "Model X") && !strcmp(id.serial, "S3Z1NB0K123456A") && !strcmp(id.firmware, "RV1001"));
    CHECK_EQ(id.capacity_bytes, 1000215216u * UINT64_C(512));
    CHECK(id.flags & SATED_IDENTITY_ROTATION_KNOWN && id.rotation_rpm == 0);

    CHECK_EQ(scsi(d, "\x12\0\0\0\x60\0", 6, 96), 0);
    CHECK_EQ(reply.data_len, 36u);
    CHECK_EQ(m.timeout_ms, 60000u);
    CHECK(m.buffer && m.buffer % 4096 == 0);
    CHECK_EQ(scsi(d, "\0\0\0\0\0\0", 6, 0), SATED_SENSE);
    CHECK(detail.sense_key == 5 && detail.asc == 0x20);
    m.fail = 1;
    CHECK_EQ(scsi(d, "\0\0\0\0\0\0", 6, 0), -ENOLINK);
    CHECK_TEXT(detail.text, "the line is down");
    m.fail = 2;
    CHECK_EQ(scsi(d, "\0\0\0\0\0\0", 6, 0), SATED_STATE);
    CHECK_TEXT(detail.text, "does not say why");
    m.fail = 0;

    /* A transport is a real drive unless it is said to be none. */
    int before = m.calls;
    CHECK_EQ(scsi(d, "\x1b\0\0\0\0\0", 6, 0), SATED_UNSAFE);
    CHECK_EQ(m.calls, before);
    CHECK_EQ(said(sated_drive_permit(d, "S3Z1NB0K123456A")), SATED_UNSUPPORTED);
    sated_drive_close(d);
    CHECK_EQ(m.closed, 1);
    t.simulated = true;
    CHECK_EQ(sated_drive_open_transport(&d, "mine", &t), 0);
    CHECK_EQ(sated_drive_permit(d, NULL), 0);
    CHECK_EQ(scsi(d, "\x1b\0\0\0\0\0", 6, 0), SATED_SENSE);
    sated_drive_close(d);
}

/* What was recorded is what is replayed, without the serial number. */
static void test_recording(void)
{
    struct made m = {0};
    struct sated_transport t;
    struct sated_drive *d;
    struct sated_ata_command identify;
    struct sated_scsi_command write;
    char uri[700], *text;
    sated_transport_init(&t);
    t.protocol = SATED_PROTOCOL_ATA;
    t.scsi = carry;
    t.user = &m;
    t.simulated = true;
    CHECK_EQ(sated_drive_open_transport(&d, "mine", &t), 0);
    CHECK_EQ(said(sated_drive_record_stop(d, NULL)), SATED_STATE);
    CHECK_EQ(sated_drive_record_start(d), 0);
    CHECK_EQ(said(sated_drive_record_start(d)), SATED_STATE);
    sated_ata_build_identify_device(&identify);
    CHECK_EQ(sated_ata_raw(d, &identify, data, NULL, &reply), 0);
    CHECK_EQ(scsi(d, "\x12\0\0\0\x60\0", 6, 96), 0);
    CHECK_EQ(scsi(d, "\x12\1\x80\0\xff\0", 6, 255), 0);
    CHECK_EQ(scsi(d, "\x12\1\x83\0\xff\0", 6, 255), 0);
    CHECK_EQ(scsi(d, "\0\0\0\0\0\0", 6, 0), SATED_SENSE);
    sated_scsi_build_write_10(&write, 0, 1, 512, 0, false, false);
    memset(data, 0x5a, 512);
    CHECK_EQ(said(sated_scsi_raw(d, &write, data, &reply)), SATED_SENSE);
    m.fail = 1;
    CHECK_EQ(scsi(d, "\x03\0\0\0\xfc\0", 6, 252), -ENOLINK);
    CHECK_EQ(sated_drive_record_stop(d, in("recorded.json")), 7);
    sated_drive_close(d);

    size_t n;
    FILE *f = fopen(in("recorded.json"), "r");
    CHECK(f != NULL);
    text = calloc(1, 100000);
    n = fread(text, 1, 99999, f);
    fclose(f);
    CHECK(n > 1000 && !strstr(text, "S3Z1NB0K") && !strstr(text, "53 33 5a 31")); /* "S3Z1" */
    CHECK(!strstr(text, "33 53 31 5a") && !strstr(text, "40 12 34 56") && !strstr(text, "12 40 56 34"));
    free(text);

    snprintf(uri, sizeof uri, "replay:%s", in("recorded.json"));
    CHECK_EQ(said(sated_drive_open(&d, uri, NULL)), 0);
    CHECK(!strcmp(d->identity.model, "Model X"));
    CHECK(!strncmp(d->identity.serial, "SATED", 5) && strlen(d->identity.serial) == 15);
    struct sated_ata_identify *words = malloc(sizeof *words);
    uint8_t original[512], sum = 0;
    make_identify(original);
    CHECK_EQ(sated_ata_raw(d, &identify, data, NULL, &reply), 0);
    CHECK_EQ(sated_ata_decode_identify(data, 512, words), 0);
    CHECK(!strcmp(words->serial, d->identity.serial));
    CHECK_EQ(words->wwn >> 32, 0x5002538eu); /* who made it is kept */
    CHECK(words->wwn != 0x5002538e40123456);
    for (int i = 0; i < 512; i++)
        sum = (uint8_t)(sum + data[i]);
    CHECK_EQ(sum, 0); /* ACS-4 7.13.7.107 */
    memcpy(original + 20, data + 20, 20);
    memcpy(original + 216, data + 216, 8);
    CHECK(!memcmp(original, data, 510));
    CHECK_EQ(scsi(d, "\x12\1\x80\0\xff\0", 6, 255), 0);
    CHECK_EQ(reply.data_len, 24u);
    CHECK(!memcmp(data + 9, words->serial, 15));
    CHECK_EQ(scsi(d, "\x12\1\x83\0\xff\0", 6, 255), 0);
    CHECK(!memcmp(data + 8, "ATA     Model X         ", 24) && !memcmp(data + 32, words->serial, 15));
    CHECK_EQ(bytes_be64(data + 52), words->wwn);
    CHECK_EQ(scsi(d, "\0\0\0\0\0\0", 6, 0), SATED_SENSE);
    CHECK(detail.sense_key == 5 && detail.asc == 0x20);
    memset(data, 0x5a, 512);
    CHECK_EQ(said(sated_scsi_raw(d, &write, data, &reply)), SATED_SENSE);
    data[3] = 0;
    CHECK_EQ(said(sated_scsi_raw(d, &write, data, &reply)), SATED_STATE);
    CHECK_EQ(scsi(d, "\x03\0\0\0\xfc\0", 6, 252), -ENOLINK);
    sated_drive_close(d);
    free(words);

    /* A recording is itself replayed and recorded without loss. */
    CHECK_EQ(said(sated_drive_open(&d, "sim:generic", NULL)), 0);
    CHECK_EQ(said(sated_drive_record_start(d)), SATED_UNSUPPORTED);
    sated_drive_close(d);
}

/* ---- The table ---- */

static bool reads(uint8_t opcode, uint32_t n, int byte, uint8_t value)
{
    struct sated_scsi_command c = {.cdb_len = n, .direction = 1, .data_len = 16};
    c.cdb[0] = opcode;
    c.cdb[byte] = byte ? value : c.cdb[byte];
    return sated_scsi_check_read_only(&c) == 0;
}

static bool ata_reads(uint8_t command, uint8_t protocol, uint16_t features, uint16_t count, uint64_t lba)
{
    struct sated_ata_command c = {.command = command,
                                  .protocol = protocol,
                                  .ext = features > 0xff || count > 0xff || lba > 0xfffffff || command == 0xb4,
                                  .features = features,
                                  .count = count,
                                  .lba = lba};
    c.direction = protocol == SATED_ATA_PIO_OUT || protocol == SATED_ATA_UDMA_OUT ? SATED_ATA_OUT
                  : protocol == SATED_ATA_NON_DATA                                ? SATED_ATA_NO_DATA
                                                                                  : SATED_ATA_IN;
    c.data_len = c.direction == SATED_ATA_NO_DATA ? 0 : 512;
    c.count = c.data_len && !c.count ? 1 : c.count;
    return said(sated_ata_check_read_only(&c)) == 0;
}

static bool nvme_reads(bool admin, uint8_t opcode, uint32_t cdw10, uint32_t cdw11)
{
    struct sated_nvme_command c = {.opcode = opcode, .cdw10 = cdw10, .cdw11 = cdw11, .admin = admin};
    return sated_nvme_check_read_only(&c) == 0;
}

static void test_table(void)
{
    CHECK(reads(0x12, 6, 0, 0) && reads(0x28, 10, 0, 0) && reads(0x5a, 10, 0, 0));
    CHECK(!reads(0x2a, 10, 0, 0) && !reads(0x42, 10, 0, 0) && !reads(0x48, 10, 1, 2) && !reads(0x04, 6, 0, 0));
    CHECK(!reads(0x1b, 6, 0, 0) && !reads(0x35, 10, 0, 0) && !reads(0x55, 10, 0, 0) && !reads(0xc0, 10, 0, 0));
    CHECK(reads(0x4d, 10, 1, 0) && !reads(0x4d, 10, 1, 1)); /* SP saves the counters */
    CHECK(reads(0x9e, 16, 1, 0x10) && reads(0x9e, 16, 1, 0x12) && !reads(0x9e, 16, 1, 0x11));
    CHECK(reads(0xa3, 12, 1, 0x0c) && !reads(0xa4, 12, 1, 0x0a) && !reads(0xa3, 12, 1, 0x1f));
    CHECK(reads(0x2f, 10, 1, 0) && !reads(0x2f, 10, 1, 2)); /* BYTCHK sends data */
    CHECK(reads(0x3c, 10, 1, 3) && !reads(0x3c, 10, 1, 2) && !reads(0x3b, 10, 1, 5));
    CHECK(reads(0xa2, 12, 1, 0) && !reads(0xa2, 12, 1, 1)); /* TCG */
    struct sated_scsi_command c = {.cdb = {0x28}, .cdb_len = 10, .direction = 2, .data_len = 512};
    CHECK_EQ(sated_scsi_check_read_only(&c), SATED_UNSAFE); /* a read does not send data */
    c = (struct sated_scsi_command){.cdb = {0x7f, 0, 0, 0, 0, 0, 0, 0x18, 0, 9}, .cdb_len = 32};
    CHECK_EQ(sated_scsi_check_read_only(&c), 0);
    c.cdb[9] = 0x0b; /* WRITE(32) */
    CHECK_EQ(sated_scsi_check_read_only(&c), SATED_UNSAFE);

    CHECK(ata_reads(0xec, SATED_ATA_PIO_IN, 0, 0, 0) && ata_reads(0xc8, SATED_ATA_DMA, 0, 0, 0));
    CHECK(!ata_reads(0xec, SATED_ATA_PIO_OUT, 0, 0, 0)); /* the protocol belongs to it */
    CHECK(!ata_reads(0xca, SATED_ATA_DMA, 0, 0, 0) && !ata_reads(0x06, SATED_ATA_DMA, 1, 0, 0));
    CHECK(!ata_reads(0xf5, SATED_ATA_NON_DATA, 0, 0, 0) && !ata_reads(0xef, SATED_ATA_NON_DATA, 2, 0, 0));
    CHECK(ata_reads(0xb0, SATED_ATA_PIO_IN, 0xd0, 0, 0xc24f00) && !ata_reads(0xb0, SATED_ATA_PIO_IN, 0xd0, 0, 0));
    CHECK(ata_reads(0xb0, SATED_ATA_NON_DATA, 0xda, 0, 0xc24f00));
    CHECK(!ata_reads(0xb0, SATED_ATA_NON_DATA, 0xd9, 0, 0xc24f00) &&
          !ata_reads(0xb0, SATED_ATA_NON_DATA, 0xd4, 0, 0xc24f00));
    CHECK(ata_reads(0xb4, SATED_ATA_NON_DATA, 0, 0, 0) && !ata_reads(0xb4, SATED_ATA_NON_DATA, 0, 1, 0));
    CHECK(!ata_reads(0xb4, SATED_ATA_NON_DATA, 0x11, 0, 0x43727970));
    CHECK(ata_reads(0x2f, SATED_ATA_PIO_IN, 0, 0, 4) && !ata_reads(0x2f, SATED_ATA_PIO_IN, 1, 0, 0x11));
    CHECK(!ata_reads(0x2f, SATED_ATA_PIO_IN, 0, 0, 0xe1));
    CHECK(ata_reads(0xf8, SATED_ATA_NON_DATA, 0, 0, 0) && !ata_reads(0xf9, SATED_ATA_NON_DATA, 0, 0, 0));
    CHECK(ata_reads(0x78, SATED_ATA_NON_DATA, 0, 0, 0) && !ata_reads(0x78, SATED_ATA_NON_DATA, 1, 0, 0));
    CHECK(ata_reads(0xb1, SATED_ATA_PIO_IN, 0xc2, 0, 0) && !ata_reads(0xb1, SATED_ATA_NON_DATA, 0xc0, 0, 0));
    /* A1h on a disk is ATA PASS-THROUGH(12), never read as another SCSI command; 1FF0h as (32). */
    c = (struct sated_scsi_command){.cdb = {0xa1, 8, 0x0e, 0, 1, 0, 0, 0, 0, 0xec},
                                    .cdb_len = 12,
                                    .direction = 1,
                                    .data_len = 512};
    CHECK_EQ(sated_scsi_check_read_only(&c), 0);
    c.cdb[9] = 0xf4;
    CHECK_EQ(sated_scsi_check_read_only(&c), SATED_UNSAFE);
    c = (struct sated_scsi_command){.cdb = {0x7f, 0, 0, 0, 0, 0, 0, 0x18, 0x1f, 0xf0, 8, 0x0e}, .cdb_len = 32};
    c.cdb[25] = 0xec;
    CHECK_EQ(sated_scsi_check_read_only(&c), 0);
    c.cdb[25] = 0xb1;
    CHECK_EQ(sated_scsi_check_read_only(&c), SATED_UNSAFE);

    CHECK(nvme_reads(true, 0x06, 1, 0) && nvme_reads(true, 0x02, 0x7f0002, 0) && nvme_reads(true, 0x0a, 0x106, 0));
    CHECK(nvme_reads(true, 0x02, 0x81, 0) && nvme_reads(true, 0x02, 0xc0, 0));
    CHECK(!nvme_reads(true, 0x02, 0x107, 0)); /* telemetry: takes a snapshot */
    CHECK(!nvme_reads(true, 0x02, 0x04, 0) && nvme_reads(true, 0x02, 0x8004, 0));
    CHECK(!nvme_reads(true, 0x09, 6, 0) && !nvme_reads(true, 0x80, 0, 0) && !nvme_reads(true, 0x84, 2, 0));
    CHECK(!nvme_reads(true, 0x0d, 0, 0) && !nvme_reads(true, 0x14, 1, 0) && !nvme_reads(true, 0xc1, 0, 0));
    CHECK(nvme_reads(true, 0x82, 0, 0) && !nvme_reads(true, 0x82, 0x01000000, 0));
    CHECK(nvme_reads(false, 0x02, 0, 0) && !nvme_reads(false, 0x01, 0, 0) && !nvme_reads(false, 0x09, 0, 0));
    CHECK(!nvme_reads(false, 0x08, 0, 0) && !nvme_reads(false, 0x00, 0, 0) && !nvme_reads(false, 0x06, 1, 0));
    struct sated_nvme_command fused = {.opcode = 2, .flags = 1};
    CHECK_EQ(sated_nvme_check_read_only(&fused), SATED_UNSAFE);

    int n = sated_read_only_list(NULL, 0);
    struct sated_read_only *rows = calloc((size_t)n, sizeof *rows);
    CHECK(n > 60);
    CHECK_EQ(sated_read_only_list(rows, (size_t)n), n);
    for (int i = 0; i < n; i++)
        CHECK(rows[i].name[0] && rows[i].set <= SATED_COMMANDS_NVME_IO && (i == 0 || rows[i - 1].set <= rows[i].set));
    free(rows);
}

int main(void)
{
    if (tree_begin())
        return 1;
    test_json();
    test_match();
    test_strict();
    test_bad_files();
    test_one_log_refuses();
    test_damaged_files();
    test_transport();
    test_recording();
    test_table();
    tree_end();
    return check_done();
}
