/* SPDX-License-Identifier: MIT */
/* ATA drives behind bridges and adapters: which ATA PASS-THROUGH gets through, and what is known without registers.
 * CDBs after SAT-4 12.2.2 and 12.2.3; sense after SPC-6. */
#define _GNU_SOURCE 1
#include "core/bytes.h"
#include "protocol/known_health.h"
#include "ata_pages.h"
#include "replays.h"
#include "transport/handle.h"

#define EXCHANGE(cdb, ...) "{\"command\": \"scsi\", \"cdb\": \"" cdb "\", " __VA_ARGS__ "},\n"
#define REFUSAL(asc) "\"status\": 2, \"sense\": \"70 00 05 00 00 00 00 0a 00 00 00 00 " asc " 00 00 00 00 00\""
#define REGISTERS(lba, status) \
    "\"status\": 2, \"sense\": \"72 01 00 1d 00 00 00 0e 09 0c 00 00 00 00 " lba " 00 " status "\""
#define GOOD "\"status\": 0"

/* IDENTIFY DEVICE, CHECK POWER MODE and SMART by both CDBs. */
#define IDENTIFY_16 "85 08 0e 00 00 00 01 00 00 00 00 00 00 40 ec 00"
#define IDENTIFY_12 "a1 08 0e 00 01 00 00 00 40 ec 00 00"
#define POWER_16 "85 06 20 00 00 00 00 00 00 00 00 00 00 40 e5 00"
#define POWER_12 "a1 06 20 00 00 00 00 00 40 e5 00 00"
#define STATUS_12 "a1 06 20 da 00 00 4f c2 40 b0 00 00"
#define DATA_12 "a1 08 0e d0 01 00 4f c2 40 b0 00 00"
#define THRESHOLDS_12 "a1 08 0e d1 01 00 4f c2 40 b0 00 00"
#define STATUS_16 "85 06 20 00 da 00 00 00 00 00 4f 00 c2 40 b0 00"
#define DATA_16 "85 08 0e 00 d0 00 01 00 00 00 4f 00 c2 40 b0 00"
#define THRESHOLDS_16 "85 08 0e 00 d1 00 01 00 00 00 4f 00 c2 40 b0 00"
#define SECURITY_16 "85 0a 06 00 00 00 01 00 00 00 00 00 00 40 f1 00"

static char identify[512 * 3 + 1], smart[512 * 3 + 1], thresholds[512 * 3 + 1];

static void hex_of(char *out, uint8_t *page)
{
    page[511] = 0;
    for (int i = 0; i < 511; i++)
        page[511] = (uint8_t)(page[511] - page[i]);
    for (int i = 0; i < 512; i++)
        sprintf(out + 3 * i, "%02x ", page[i]);
}

static void make_pages(void)
{
    uint8_t page[512];
    identify_page(page, "Model B");
    hex_of(identify, page);
    /* ATA8-ACS 7.53: attribute 5, which foresees failure, at 10; 12, which does not, at 1. */
    memset(page, 0, sizeof page);
    memcpy(page, "\x10\0\x05\x33\0\x0a\x0a\7\0\0\0\0\0\0\x0c\x32\0\x01\x01\x09\0\0\0\0\0\0", 26);
    hex_of(smart, page);
    memset(page, 0, sizeof page);
    memcpy(page, "\x10\0\x05\x0a\0\0\0\0\0\0\0\0\0\0\x0c\x14", 16);
    hex_of(thresholds, page);
}

/* A drive behind what is described by exchanges, of which %I, %S and %T are the pages. */
static struct sated_drive *behind(const char *protocol, const char *exchanges)
{
    char *text = calloc(1, 20000), *to = text;
    to += sprintf(to,
                  "{\"sated_replay\": 1, \"protocol\": \"%s\", \"identity\": {\"transport\": \"usb\"}, "
                  "\"exchanges\": [\n",
                  protocol);
    for (const char *p = exchanges; *p; p++)
        if (*p == '%')
            to += sprintf(to, "%s", *++p == 'I' ? identify : *p == 'S' ? smart : thresholds);
        else
            *to++ = *p;
    strcpy(to, EXCHANGE("00 00 00 00 00 00", GOOD));
    to[strlen(to) - 2] = ']';
    strcat(to, "}");
    struct sated_drive *d = replayed(text);
    free(text);
    return d;
}

static int ask(struct sated_drive *d, int (*build)(struct sated_ata_command *), struct sated_ata_registers *registers)
{
    struct sated_ata_command c;
    build(&c);
    return said(sated_ata_raw(d, &c, c.data_len ? data : NULL, registers, &reply));
}

static const char *note(struct sated_drive *d)
{
    static struct sated_identity id;
    sated_drive_get_identity(d, &id);
    return id.note;
}

/* Only 28-bit commands in CDBs of 12 bytes get through; what was learnt is kept. */
static void test_only_12(void)
{
    struct sated_ata_registers registers;
    struct sated_ata_command c;
    struct sated_drive *d = behind("ata", EXCHANGE(IDENTIFY_16, REFUSAL("20")) EXCHANGE(IDENTIFY_12, "\"data\": \"%I\"")
                                              EXCHANGE(POWER_12, REGISTERS("00 00 00 00 00 00", "50"))
                                                  EXCHANGE(SECURITY_16, REFUSAL("20")));
    CHECK_EQ(d->ata_way, 0);
    CHECK_EQ(ask(d, sated_ata_build_identify_device, &registers), 0);
    CHECK_EQ(reply.data_len, 512u);
    CHECK_EQ(data[54], 'o');
    CHECK_TEXT(note(d), "28-bit");
    /* CHECK POWER MODE by 16 bytes stands in no exchange: it would fail with StateError. */
    CHECK_EQ(ask(d, sated_ata_build_check_power_mode, &registers), 0);
    CHECK_EQ(registers.source, SATED_ATA_REGISTERS_DESCRIPTOR);
    sated_ata_build_read_log(&c, 4, 0, 1, 0, false);
    CHECK_EQ(said(sated_ata_raw(d, &c, data, NULL, &reply)), SATED_UNSUPPORTED);
    CHECK_TEXT(detail.text, "2Fh");
    CHECK_TEXT(detail.text, "ATA PASS-THROUGH(12)");
    sated_drive_close(d);

    /* A 48-bit command has no shorter form, so that its refusal stands and nothing else is sent. */
    d = behind("ata", EXCHANGE("85 09 0e 00 00 00 01 00 04 00 00 00 00 xx 2f 00", REFUSAL("20")));
    CHECK_EQ(said(sated_ata_raw(d, &c, data, NULL, &reply)), SATED_SENSE);
    CHECK(detail.sense_key == 5 && detail.asc == 0x20);
    sated_drive_close(d);
}

/* What refuses both takes no ATA commands: the first refusal is told, with its answer. */
static void test_neither(void)
{
    struct sated_ata_registers registers;
    struct sated_drive *d = behind("ata", EXCHANGE(IDENTIFY_16, REFUSAL("20")) EXCHANGE(IDENTIFY_12, REFUSAL("24"))
                                              EXCHANGE("12 00 00 00 60 00", "\"data\": \"00 00 06 02 1f 00 00 02\""));
    CHECK_EQ(ask(d, sated_ata_build_identify_device, &registers), SATED_SENSE);
    CHECK_EQ(detail.asc, 0x20);
    CHECK_EQ(reply.sense[12], 0x20);
    CHECK_EQ(registers.source, SATED_ATA_REGISTERS_NONE);
    CHECK_EQ(note(d)[0], '\0');
    sated_drive_close(d);
}

/* A refusal that is no sign of a longer CDB's: by the drive itself, of a field of what changes something, or once
 * a CDB of 16 bytes has got through. */
static void test_stays_with_16(void)
{
    struct sated_ata_registers registers;
    struct sated_ata_command c;
    struct sated_drive *d =
        behind("ata",
               EXCHANGE(IDENTIFY_16, "\"status\": 2, \"sense\": \"72 05 20 00 00 00 00 0e 09 0c 00 04 00 00 00 00 "
                                     "00 00 00 00 00 51\"") EXCHANGE(SECURITY_16, REFUSAL("24")));
    CHECK_EQ(ask(d, sated_ata_build_identify_device, &registers), SATED_ATA);
    CHECK_EQ(detail.ata_error, 4);
    sated_drive_close(d);
    d = behind("ata", EXCHANGE(SECURITY_16, REFUSAL("24")));
    memset(data, 0, 512);
    c = (struct sated_ata_command){.command = 0xf1,
                                   .device = 0x40,
                                   .protocol = SATED_ATA_PIO_OUT,
                                   .direction = SATED_ATA_OUT,
                                   .count = 1,
                                   .data_len = 512};
    CHECK_EQ(said(sated_ata_raw(d, &c, data, NULL, &reply)), SATED_SENSE);
    CHECK_EQ(detail.asc, 0x24);
    CHECK_EQ(d->ata_way, 0);
    sated_drive_close(d);
    d = behind("ata", EXCHANGE(IDENTIFY_16, "\"data\": \"%I\"") EXCHANGE(POWER_16, REFUSAL("20")));
    CHECK_EQ(ask(d, sated_ata_build_identify_device, &registers), 0);
    CHECK_EQ(ask(d, sated_ata_build_check_power_mode, &registers), SATED_SENSE);
    CHECK_EQ(detail.asc, 0x20);
    sated_drive_close(d);
}

/* No registers: nothing that only they tell is known, and writing a password has not succeeded. */
static void test_no_registers(void)
{
    struct sated_ata_registers registers;
    struct sated_drive *d =
        behind("ata", EXCHANGE(POWER_16, GOOD) EXCHANGE("85 0a 26 00 00 00 01 00 00 00 00 00 00 40 f1 00", GOOD));
    CHECK_EQ(ask(d, sated_ata_build_check_power_mode, &registers), SATED_UNSUPPORTED);
    CHECK_TEXT(detail.text, "without the drive's registers");
    CHECK_TEXT(note(d), "no ATA registers");
    struct sated_ata_command c = {.command = 0xf1,
                                  .device = 0x40,
                                  .protocol = SATED_ATA_PIO_OUT,
                                  .direction = SATED_ATA_OUT,
                                  .ck_cond = 1,
                                  .count = 1,
                                  .data_len = 512};
    CHECK_EQ(said(sated_ata_raw(d, &c, data, &registers, &reply)), SATED_UNSUPPORTED);
    sated_drive_close(d);
}

static struct sated_health health;

static int ask_health(struct sated_drive *d)
{
    return said(sated_health_get(d, &health, NULL));
}

#define KNOWN(member) IS_KNOWN(health, &health, member)

/* Health of a SATA drive in a USB enclosure, to which the kernel speaks SCSI. */
static void test_usb_health(void)
{
    /* 12 bytes, with registers: the drive's own verdict, C24Fh and 2CF4h. */
    static const char *const verdicts[] = {"00 00 00 4f 00 c2", "00 00 00 f4 00 2c"};
    for (int i = 0; i < 2; i++) {
        char text[2000];
        snprintf(text, sizeof text,
                 EXCHANGE(IDENTIFY_16, REFUSAL("20")) EXCHANGE(IDENTIFY_12, "\"data\": \"%%I\"")
                     EXCHANGE(STATUS_12, "\"status\": 2, \"sense\": \"72 01 00 1d 00 00 00 0e 09 0c 00 00 00 00 %s "
                                         "00 50\"") EXCHANGE(DATA_12, "\"data\": \"%%S\"")
                         EXCHANGE(THRESHOLDS_12, "\"data\": \"%%T\""),
                 verdicts[i]);
        struct sated_drive *d = behind("scsi", text);
        CHECK_EQ(ask_health(d), 0);
        CHECK(KNOWN(critical_warnings));
        CHECK_EQ(health.critical_warnings, i ? (uint32_t)SATED_HEALTH_FAILING : 0u);
        CHECK_EQ(health.power_cycles, 9u);
        CHECK(!strcmp(health.warnings, ""));
        sated_drive_close(d);
    }

    /* 16 bytes, without registers. Attribute 5 is at its threshold of 10: it fails. Attribute 12 is below its own, 20,
     * which says nothing of failure. */
    struct sated_drive *d =
        behind("scsi", EXCHANGE(IDENTIFY_16, "\"data\": \"%I\"") EXCHANGE(STATUS_16, GOOD)
                           EXCHANGE(DATA_16, "\"data\": \"%S\"") EXCHANGE(THRESHOLDS_16, "\"data\": \"%T\""));
    CHECK_EQ(ask_health(d), 0);
    CHECK(KNOWN(critical_warnings));
    CHECK_EQ(health.critical_warnings, (uint32_t)SATED_HEALTH_FAILING);
    CHECK_TEXT(health.warnings, "smart-status");
    CHECK_TEXT(health.doubts, "attribute 5: 10 is at or below its threshold of 10");
    CHECK(!strstr(health.doubts, "attribute 12"));
    sated_drive_close(d);

    /* Nor thresholds: nothing is known, and that is said. */
    d = behind("scsi",
               EXCHANGE(IDENTIFY_16, "\"data\": \"%I\"") EXCHANGE(STATUS_16, GOOD) EXCHANGE(DATA_16, "\"data\": \"%S\"")
                   EXCHANGE(THRESHOLDS_16, REFUSAL("24")) EXCHANGE(THRESHOLDS_12, REFUSAL("24")));
    CHECK_EQ(ask_health(d), 0);
    CHECK(!KNOWN(critical_warnings));
    CHECK_TEXT(health.warnings, "without the drive's registers");
    CHECK_EQ(health.power_cycles, 9u);
    sated_drive_close(d);

    /* A stick: no ATA drive at all, or one that answers IDENTIFY with zeros; SCSI goes on. */
    static const char *const sticks[] = {
        EXCHANGE(IDENTIFY_16, REFUSAL("20")) EXCHANGE(IDENTIFY_12, REFUSAL("20")),
        EXCHANGE(IDENTIFY_16, "\"data_len\": 512"),
    };
    for (size_t i = 0; i < 2; i++) {
        char text[2000];
        snprintf(text, sizeof text, "%s%s", sticks[i],
                 EXCHANGE("4d 00 40 00 00 00 00 10 00 00", "\"data\": \"00 00 00 02 00 0d\"")
                     EXCHANGE("4d 00 4d 00 00 00 00 10 00 00", "\"data\": \"0d 00 00 06 00 00 03 02 00 1e\""));
        d = behind("scsi", text);
        CHECK_EQ(ask_health(d), 0);
        CHECK(KNOWN(temperature_c));
        CHECK_EQ(health.temperature_c, 30);
        CHECK(!KNOWN(critical_warnings));
        sated_drive_close(d);
    }
}

/* A transport of the caller's that takes A1h only is asked for its identity by that. */
static int only_12(void *user, const struct sated_scsi_command *c, void *to, struct sated_reply *r)
{
    (void)user;
    if (c->cdb[0] == 0xa1 && c->cdb[9] == 0xec) {
        for (int i = 0; i < 512; i++)
            ((uint8_t *)to)[i] = (uint8_t)strtoul(identify + 3 * i, NULL, 16);
        return 0;
    }
    r->scsi_status = 2;
    r->driver_status = 8;
    r->sense_len = 18;
    memcpy(r->sense, "\x70\0\5\0\0\0\0\x0a\0\0\0\0\x20\0\0\0\0\0", 18);
    return 0;
}

static void test_identity(void)
{
    struct sated_transport t;
    struct sated_drive *d;
    sated_transport_init(&t);
    t.protocol = SATED_PROTOCOL_ATA;
    t.scsi = only_12;
    CHECK_EQ(sated_drive_open_transport(&d, "mine", &t), 0);
    CHECK(!strcmp(d->identity.model, "Model B"));
    CHECK_TEXT(note(d), "28-bit");
    sated_drive_close(d);
}

int main(void)
{
    if (tree_begin())
        return 1;
    make_pages();
    test_only_12();
    test_neither();
    test_stays_with_16();
    test_no_registers();
    test_usb_health();
    test_identity();
    tree_end();
    return check_done();
}
