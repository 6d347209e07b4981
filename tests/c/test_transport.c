/* SPDX-License-Identifier: MIT */
/* Transports of the caller's, and recording what went over them. */
#define _GNU_SOURCE 1
#include "core/bytes.h"
#include "replays.h"
#include "transport/handle.h"

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
    if (m->fail == 3) {
        r->data_len = UINT32_MAX;
        return SATED_STATE;
    }
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
    m.fail = 3; /* and claims to have moved more than was asked for */
    memset(data, 0xee, sizeof data);
    CHECK_EQ(scsi(d, "\x12\0\0\0\x60\0", 6, 96), SATED_STATE);
    CHECK_EQ(reply.data_len, 0u);
    CHECK(data[0] == 0 && data[95] == 0 && data[96] == 0xee);
    m.fail = 0;

    /* A transport is a real drive unless it is said to be none. */
    int before = m.calls;
    CHECK_EQ(scsi(d, "\x1b\0\0\0\0\0", 6, 0), SATED_UNSAFE);
    CHECK_EQ(m.calls, before);
    CHECK_EQ(said(sated_drive_permit(d, "S3Z1NB0K123456")), SATED_UNSAFE);
    CHECK_TEXT(detail.text, d->identity.serial);
    CHECK_EQ(said(sated_drive_permit(d, NULL)), SATED_UNSAFE);
    CHECK_EQ(said(sated_drive_permit(d, d->identity.serial)), 0);
    CHECK_EQ(scsi(d, "\x1b\0\0\0\0\0", 6, 0), SATED_SENSE);
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

/* A recording never takes the place of what is there, nor follows a link. */
static void test_no_overwriting(void)
{
    struct made m = {0};
    struct sated_transport t;
    struct sated_drive *d;
    struct stat st;
    sated_transport_init(&t);
    t.scsi = carry;
    t.user = &m;
    put(in("there.json"), "mine");
    put_link(in("link.json"), in("nowhere.json"));
    CHECK_EQ(sated_drive_open_transport(&d, "mine", &t), 0);
    static const char *const names[] = {"there.json", "link.json"};
    for (size_t i = 0; i < 2; i++) {
        CHECK_EQ(sated_drive_record_start(d), 0);
        CHECK_EQ(said(sated_drive_record_stop(d, in("%s", names[i]))), -EEXIST);
        CHECK_TEXT(detail.text, "choose another name");
    }
    CHECK(stat(in("there.json"), &st) == 0 && st.st_size == 4);
    CHECK(stat(in("nowhere.json"), &st) != 0);
    sated_drive_close(d);
}

/* An NVMe drive whose only namespace is the second, with its NGUID in its qualified name, and serial numbers of which one
 * begins with the other. */
static int carry_nvme(void *user, const struct sated_nvme_command *c, void *to, struct sated_reply *r)
{
    uint8_t *p = to;
    (void)user;
    (void)r;
    if (c->opcode != 6)
        return 0;
    if ((c->cdw10 & 0xff) == 1) {
        memset(p + 4, ' ', 60);
        memcpy(p + 4, "ABCD1234", 8);
        memcpy(p + 24, "Model N", 7);
        strcpy((char *)p + 768, "nqn.2020-01.com.example:eui.0025384b31000fa2:ABCD1234EFGH5678");
        memcpy(p + 3072, "ABCD1234EFGH5678", 16);
    } else if ((c->cdw10 & 0xff) == 2) {
        p[0] = 2;
    } else if ((c->cdw10 & 0xff) == 0 && c->nsid == 2) {
        p[0] = p[8] = 64;
        memcpy(p + 104, "\x36\x53\x4b\x30\x54\x50\x01\x23\x00\x25\x38\x4b\x31\x00\x0f\xa2", 16);
        p[128 + 2] = 9;
    } else if ((c->cdw10 & 0xff) == 3) {
        memcpy(p, "\x01\x08\0\0\x00\x25\x38\x4b\x31\x00\x0f\xa2", 12);
    }
    return 0;
}

static void test_nvme_names(void)
{
    struct sated_transport t;
    struct sated_drive *d;
    sated_transport_init(&t);
    t.protocol = SATED_PROTOCOL_NVME;
    t.nvme = carry_nvme;
    CHECK_EQ(sated_drive_open_transport(&d, "n", &t), 0);
    CHECK_EQ(d->nsid, 2u);
    CHECK_EQ(handle_namespace(d), 2u);
    CHECK_EQ(d->identity.capacity_bytes, 64u * 512);
    CHECK_EQ(d->identity.native_capacity_bytes, 0u);
    CHECK_EQ(sated_drive_record_start(d), 0);
    CHECK_EQ(nvme(d, 6, 0, 1, 4096), 0);
    CHECK_EQ(nvme(d, 6, 2, 0, 4096), 0);
    CHECK_EQ(nvme(d, 6, 2, 3, 4096), 0);
    CHECK_EQ(sated_drive_record_stop(d, in("names.json")), 3);
    sated_drive_close(d);
    char uri[700];
    snprintf(uri, sizeof uri, "replay:%s", in("names.json"));
    CHECK_EQ(said(sated_drive_open(&d, uri, NULL)), 0);
    CHECK_EQ(handle_namespace(d), 2u); /* whose answers it has */
    CHECK_EQ(nvme(d, 6, 0, 1, 4096), 0);
    CHECK(memcmp(data + 768, "nqn.2020-01.com.example:eui.", 28) == 0 && !strstr((char *)data + 768, "4b31000fa2"));
    CHECK(!strstr((char *)data + 768, "ABCD1234"));
    sated_drive_close(d);
}

struct slow {
    int asked;
    uint32_t timeout_ms;
};

/* SANITIZE that is said to take 30 hours (SPC-5 6.36.3 and 6.36.4); SECURITY ERASE UNIT, 1000 min and 20 min enhanced. */
static int carry_slow(void *user, const struct sated_scsi_command *c, void *to, struct sated_reply *r)
{
    struct slow *s = user;
    static const uint8_t told[26] = {0, 0x83, 0,    10, 0x48, 0xff, 0,        0, 0,    0,
                                     0, 0xff, 0xff, 0,  0,    10,   [22] = 0, 1, 0xa5, 0xe0};
    if (c->cdb[0] == 0xa3) {
        s->asked++;
        if (c->cdb[3] == 0x48) {
            memcpy(to, told, sizeof told);
            return 0;
        }
    } else if (c->cdb[0] == 0x85 && c->cdb[14] == 0xec) {
        s->asked++;
        make_identify(to);
        bytes_put_le16((uint8_t *)to + 178, 0x8000 | 500);
        bytes_put_le16((uint8_t *)to + 180, 10);
        return 0;
    } else if (c->cdb[0] != 0x12 && c->cdb[0] != 0x9e && c->cdb[0] != 0x25) {
        s->timeout_ms = c->timeout_ms;
        return 0;
    }
    r->scsi_status = 2;
    r->sense_len = 18;
    memcpy(r->sense, "\x70\0\5\0\0\0\0\x0a\0\0\0\0\x20\0\0\0\0\0", 18);
    return 0;
}

/* Commands that may take long get as long as the drive itself says, which is asked once; never less than the usual. */
static void test_estimates(void)
{
    struct slow s = {0};
    struct sated_transport t;
    struct sated_drive *d;
    struct sated_scsi_command c;
    struct sated_ata_command erase;
    sated_transport_init(&t);
    t.scsi = carry_slow;
    t.user = &s;
    t.simulated = true;
    CHECK_EQ(sated_drive_open_transport(&d, "slow", &t), 0);
    s.asked = 0;
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(sated_scsi_build_sanitize(&c, SATED_SANITIZE_BLOCK_ERASE, true, false, false, 0), 0);
        c.timeout_ms = 0;
        CHECK_EQ(said(sated_scsi_raw(d, &c, NULL, NULL)), 0);
        CHECK_EQ(s.timeout_ms, 30u * 3600 * 1000);
        CHECK_EQ(s.asked, 1);
    }
    for (int i = 0; i < 2; i++) { /* of FORMAT UNIT it does not tell */
        c = (struct sated_scsi_command){.cdb = {0x04}, .cdb_len = 6};
        CHECK_EQ(said(sated_scsi_raw(d, &c, NULL, NULL)), 0);
        CHECK_EQ(s.timeout_ms, 12u * 3600 * 1000);
        CHECK_EQ(s.asked, 2);
    }
    c = (struct sated_scsi_command){.cdb = {0x48, 2}, .cdb_len = 10, .timeout_ms = 5000}; /* the caller's own */
    CHECK_EQ(said(sated_scsi_raw(d, &c, NULL, NULL)), 0);
    CHECK_EQ(s.timeout_ms, 5000u);
    c = (struct sated_scsi_command){.cdb = {0x1d, 6 << 5}, .cdb_len = 6}; /* an extended self-test in the foreground */
    CHECK_EQ(said(sated_scsi_raw(d, &c, NULL, NULL)), 0);
    CHECK_EQ(s.timeout_ms, 12u * 3600 * 1000);
    c = (struct sated_scsi_command){.cdb_len = 6};
    CHECK_EQ(said(sated_scsi_raw(d, &c, NULL, NULL)), 0);
    CHECK_EQ(s.timeout_ms, 60000u);

    s.asked = 0;
    memset(data, 0, sizeof data);
    for (int enhanced = 0; enhanced < 2; enhanced++) {
        data[0] = (uint8_t)(enhanced << 1);
        CHECK_EQ(sated_ata_build_security_erase_unit(&erase, 0), 0);
        erase.ck_cond = false;
        CHECK_EQ(said(sated_ata_raw(d, &erase, data, NULL, NULL)), 0);
        CHECK_EQ(s.timeout_ms, enhanced ? 12u * 3600 * 1000 : 2u * 1000 * 60 * 1000);
        CHECK_EQ(s.asked, 1);
    }
    sated_drive_close(d);
}

int main(void)
{
    if (tree_begin())
        return 1;
    test_transport();
    test_recording();
    test_no_overwriting();
    test_nvme_names();
    test_estimates();
    tree_end();
    return check_done();
}
