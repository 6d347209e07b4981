/* SPDX-License-Identifier: MIT */
/* Commands to device nodes, with the kernel played by a table: what goes out, and what each answer means.
 * Expected numbers: include/scsi/scsi_status.h and include/linux/nvme.h of the kernel, SAM-6, SPC-6, SAT-4, NVMe 2.0. */
#define _GNU_SOURCE 1
#include <unistd.h>

#include "machine.h"

static int check_power_mode(struct sated_drive *d, struct sated_ata_registers *registers)
{
    struct sated_ata_command c;
    sated_ata_build_check_power_mode(&c);
    int rc = sated_ata_raw(d, &c, NULL, registers, &reply);
    sated_detail_get(&detail);
    return rc;
}

/* Every buffer that goes to a drive is page-aligned, and not the caller's. */
static void test_buffers(void)
{
    struct sated_drive *d = opened("sda");
    static const uint8_t answer[96] = {0, 0, 6, 2, 91};
    struct sated_scsi_command c;
    quiet();
    kernel.data = answer;
    kernel.data_len = sizeof answer;
    memset(data, 0xee, sizeof data);
    CHECK_EQ(inquiry(d), 0);
    CHECK_EQ(kernel.request, (unsigned long)SG_IO);
    CHECK(is_device(kernel.fd, "sda"));
    CHECK_EQ(kernel.cdb[0], 0x12);
    CHECK_EQ(kernel.cdb_len, 6u);
    CHECK_EQ(kernel.length, 96u);
    CHECK_EQ(kernel.timeout, 60000u);
    CHECK_EQ(kernel.direction, SG_DXFER_FROM_DEV);
    CHECK_EQ(kernel.buffer % 4096, 0u);
    CHECK(kernel.buffer != (uintptr_t)data);
    CHECK_EQ(reply.data_len, 96u);
    CHECK(!memcmp(data, answer, 96));
    CHECK_EQ(data[96], 0xee);

    /* Only what came is the answer: the rest is zero, whatever the adapter left in the buffer. */
    kernel.resid = 90;
    memset(data, 0xee, sizeof data);
    CHECK_EQ(inquiry(d), 0);
    CHECK_EQ(reply.data_len, 6u);
    CHECK_EQ(data[4], 91);
    CHECK(data[6] == 0 && data[95] == 0);

    /* Residuals that cannot be are told, and not counted on. */
    static const int wrong[] = {-1, -96, 97, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        kernel.resid = wrong[i];
        CHECK_EQ(inquiry(d), 0);
        CHECK_EQ(reply.data_len, 96u);
        CHECK_EQ(reply.residual, wrong[i]);
        CHECK_EQ(reply.flags, (uint32_t)SATED_REPLY_RESIDUAL_WRONG);
    }
    kernel.resid = 96;
    CHECK_EQ(inquiry(d), 0);
    CHECK_EQ(reply.data_len, 0u);
    CHECK_EQ(reply.flags, 0u);

    quiet();
    sated_scsi_build_test_unit_ready(&c);
    c.timeout_ms = 1234;
    CHECK_EQ(sated_scsi_raw(d, &c, NULL, NULL), 0);
    CHECK_EQ(kernel.direction, SG_DXFER_NONE);
    CHECK_EQ(kernel.buffer, 0u);
    CHECK_EQ(kernel.timeout, 1234u);
    sated_drive_close(d);
}

static const uint8_t attention[] = {0x72, 6, 0x29, 0, 0, 0, 0, 0};
static const uint8_t recovered[] = {0x70, 0, 1, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x17, 1, 0, 0, 0, 0};
static const uint8_t deferred[] = {0x71, 0, 1, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x17, 1, 0, 0, 0, 0};
static const uint8_t no_sense[] = {0x72, 0, 0, 0, 0, 0, 0, 0};
static const uint8_t junk[] = {0x12, 0x34, 0x56};

/* Each layer in its turn; what a higher one says makes the lower ones meaningless. */
static void test_status_order(void)
{
    static const struct {
        int rc;
        unsigned short host, driver;
        uint8_t status;
        const uint8_t *sense;
        unsigned sense_len;
        int want;
        const char *text;
    } cases[] = {
        {0, 0, 0, 0x00, NULL, 0, 0, NULL},
        {0, 0, 8, 0x00, NULL, 0, 0, NULL},
        {0, 0, 0x18, 0x00, NULL, 0, 0, NULL}, /* a suggestion of old kernels above DRIVER_SENSE */
        {0, 0, 0x16, 0x00, NULL, 0, SATED_STALLED, "driver status 16h"},
        {0, 0, 8, 0x00, illegal, 18, SATED_SENSE, "5/24/00"}, /* a failure is none with GOOD either */
        {0, 0, 8, 0x00, recovered, 18, 0, NULL},
        {0, 0, 8, 0x00, junk, 3, 0, NULL},
        {0, 0, 0, 0x04, NULL, 0, 0, NULL},
        {0, 0, 8, 0x02, illegal, 18, SATED_SENSE, "5/24/00"},
        {0, 0, 0, 0x02, illegal, 18, SATED_SENSE, "5/24/00"},
        {0, 0, 8, 0x02, attention, 8, SATED_SENSE, "6/29/00"},
        {0, 0, 8, 0x02, recovered, 18, 0, NULL},
        {0, 0, 8, 0x02, deferred, 18, SATED_SENSE, "earlier command"},
        {0, 0, 8, 0x02, no_sense, 8, 0, NULL},
        {0, 0, 8, 0x02, junk, 3, SATED_SENSE, "does not say why"},
        {0, 0, 8, 0x02, illegal, 2, SATED_SENSE, "does not say why"}, /* cut off before the key */
        {0, 0, 8, 0x02, attention, 1, SATED_SENSE, "does not say why"},
        {0, 0, 0, 0x02, NULL, 0, SATED_SENSE, "0 bytes of sense data"},
        {0, 0, 0, 0x08, NULL, 0, -EAGAIN, "BUSY"},
        {0, 0, 0, 0x28, NULL, 0, -EAGAIN, "TASK SET FULL"},
        {0, 0, 0, 0x18, NULL, 0, -EBUSY, "reserved"},
        {0, 0, 0, 0x40, NULL, 0, -EIO, "aborted"},
        {0, 0, 0, 0x55, NULL, 0, -EIO, "55h"},
        {0, 0, 4, 0x02, illegal, 18, -EIO, "driver status 04h"},
        {0, 0, 6, 0x00, NULL, 0, SATED_STALLED, "60000 ms"},
        {0, 3, 8, 0x02, illegal, 18, SATED_STALLED, "DID_TIME_OUT"},
        {0, 1, 0, 0x00, NULL, 0, -ENODEV, "DID_NO_CONNECT"},
        {0, 2, 0, 0x00, NULL, 0, -EAGAIN, "DID_BUS_BUSY"},
        {0, 7, 8, 0x02, illegal, 18, -EIO, "DID_ERROR"},
        {0, 0x0b, 0, 0x00, NULL, 0, -EIO, "DID_SOFT_ERROR"},
        {0, 0x0e, 0, 0x00, NULL, 0, -EIO, "DID_TRANSPORT_DISRUPTED"},
        {0, 0x10, 0, 0x00, NULL, 0, -EREMOTEIO, "DID_TARGET_FAILURE"},
        {0, 0x11, 0, 0x00, NULL, 0, -EBUSY, "DID_NEXUS_FAILURE"},
        {0, 0x77, 0, 0x00, NULL, 0, -EIO, "77h"},
        {-EPERM, 3, 8, 0x02, illegal, 18, -EPERM, "CAP_SYS_RAWIO"},
        {-ENODEV, 0, 0, 0, NULL, 0, -ENODEV, "has gone"},
        {-ENOTTY, 0, 0, 0, NULL, 0, SATED_UNSUPPORTED, "takes no SCSI commands"},
        {-EINVAL, 0, 0, 0, NULL, 0, -EINVAL, "96 bytes"},
        {-EINTR, 0, 0, 0, NULL, 0, -EINTR, "may have done it"},
    };
    struct sated_drive *d = opened("sda");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        quiet();
        kernel.rc = cases[i].rc;
        kernel.host = cases[i].host;
        kernel.driver = cases[i].driver;
        kernel.status = cases[i].status;
        kernel.sense_len = cases[i].sense_len;
        if (cases[i].sense)
            memcpy(kernel.sense, cases[i].sense, cases[i].sense_len);
        int rc = inquiry(d);
        if (rc != cases[i].want)
            printf("case %zu: %s\n", i, detail.text);
        CHECK_EQ(rc, cases[i].want);
        CHECK_EQ(kernel.calls, 1);
        if (!cases[i].want)
            continue;
        CHECK_TEXT(detail.text, cases[i].text);
        CHECK_TEXT(detail.text, "/dev/sda");
        CHECK_TEXT(detail.text, "INQUIRY");
        if (cases[i].want == SATED_SENSE && cases[i].sense == illegal && cases[i].sense_len > 12)
            CHECK(detail.sense_key == 5 && detail.asc == 0x24 && detail.ascq == 0);
    }
    sated_drive_close(d);
}

/* Answers of NVMe drives, and what to do about them (NVMe Base 2.0 3.3.3.2.1, NVM Command Set 1.0 3.1.2). */
static void test_nvme_advice(void)
{
    static const struct {
        int status;
        const char *text;
    } cases[] = {
        {0x10a, "one of the formats"},
        {0x109, "does not have this log"},
        {0x118, "attached already"},
        {0x080, "below its capacity"},
        {0x286, "unlock the range"},
        {0x281, "health"},
        {0x01d, "wait until that has"},
        {0x4002, "does not take these"},
        {0x140, "check the command's fields"},
        {0x4006, "is of no use"},
        {0x006, "try again"},
        {0x7c5, "manual"},
    };
    struct sated_drive *d = opened("nvme1n1");
    struct sated_nvme_command c;
    sated_nvme_build_identify(&c, 1, 0, 0, 0, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        quiet();
        kernel.rc = cases[i].status;
        CHECK_EQ(sated_nvme_admin_raw(d, &c, data, &reply), SATED_NVME);
        sated_detail_get(&detail);
        CHECK_TEXT(detail.text, cases[i].text);
    }
    quiet();
    kernel.rc = -EPERM; /* root in a container is told so, and others to become root */
    CHECK_EQ(sated_nvme_admin_raw(d, &c, data, &reply), -EPERM);
    sated_detail_get(&detail);
    CHECK_EQ(strstr(detail.text, "run as root") == NULL, geteuid() == 0);
    /* What is too short for a command never gets to the kernel. */
    quiet();
    c.data_len = 512;
    CHECK_EQ(sated_nvme_admin_raw(d, &c, data, &reply), SATED_PARSE);
    CHECK_EQ(kernel.calls, 0);
    sated_drive_close(d);
}

/* sysfs has the first 16 characters of an ATA drive's model and the first 4 of its firmware (SPC-6, INQUIRY); IDENTIFY
 * DEVICE has all, and READ NATIVE MAX ADDRESS EXT what a host protected area hides (ACS-3). */
static void test_ata_identity(void)
{
    static const char model[] = "Samsung SSD 870 EVO 250GB               ", firmware[] = "SVT01B6Q";
    static const uint8_t registers[] = {0x72, 1, 0, 0x1d, 0,    0, 0,    14, 9,    12,   1,
                                        0,    0, 0, 0,    0xff, 0, 0x42, 0,  0x0f, 0x40, 0x50};
    uint8_t page[512] = {0};
    struct sated_identity id;
    put_attribute("m", "sda", "device/vendor", "ATA\n");
    put_attribute("m", "sda", "device/model", "Samsung SSD 870\n");
    put_attribute("m", "sda", "device/rev", "1B6Q\n");
    for (size_t i = 0; i < 40; i++)
        page[54 + (i ^ 1)] = (uint8_t)model[i];
    for (size_t i = 0; i < 8; i++)
        page[46 + (i ^ 1)] = (uint8_t)firmware[i];
    page[98 + 1] = 2;                        /* w49: LBA */
    page[120] = page[200] = 1;               /* w60, w100 */
    page[164 + 1] = 4, page[166 + 1] = 0x44; /* w82.10: HPA; w83: valid, 48-bit */
    page[168 + 1] = 0x40;                    /* w84: valid */
    page[434] = 1;                           /* w217: an SSD */
    struct sated_drive *d = opened("sda");
    quiet();
    CHECK_EQ(kernel.calls, 0); /* listing and opening ask nothing */
    kernel.data = page;
    kernel.data_len = sizeof page;
    kernel.status = 2;
    kernel.driver = 8;
    memcpy(kernel.sense, registers, kernel.sense_len = sizeof registers);
    CHECK_EQ(sated_drive_get_identity(d, &id), 0);
    CHECK_TEXT(id.model, "Samsung SSD 870 EVO 250GB");
    CHECK_TEXT(id.firmware, "SVT01B6Q");
    CHECK_EQ(id.capacity_bytes, 1000000u * 512); /* what the kernel made of it is what a load meets */
    CHECK_EQ(id.native_capacity_bytes, (0x0f42ffu + 1) * 512ull);
    CHECK_EQ(kernel.calls, 2);
    CHECK_EQ(sated_drive_get_identity(d, &id), 0);
    CHECK_EQ(kernel.calls, 2);
    sated_drive_close(d);
    /* One that may not be asked stays as sysfs has it. */
    d = opened("sda");
    quiet();
    kernel.rc = -EPERM;
    CHECK_EQ(sated_drive_get_identity(d, &id), 0);
    CHECK(!strcmp(id.model, "Samsung SSD 870") && id.native_capacity_bytes == 0);
    sated_drive_close(d);
}

/* Registers are the answer of an ATA command; without them nothing is known. */
static void test_ata(void)
{
    /* CHECK POWER MODE, active (FFh): SAT-4 12.2.6, as the fixture sense_libata_checkpower_desc has it. */
    static const uint8_t active[] = {0x72, 1, 0, 0x1d, 0, 0, 0, 14, 9, 12, 0, 0, 0, 0xff, 0, 0, 0, 0, 0, 0, 0, 0x50};
    static const uint8_t aborted[] = {0x72, 0x0b, 0, 0, 0, 0, 0, 14, 9, 12, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x51};
    static const uint8_t contradiction[] = {0x72, 0x0b, 0, 0, 0, 0, 0, 14, 9, 12, 0,
                                            0,    0,    0, 0, 0, 0, 0, 0,  0, 0,  0x50};
    static const uint8_t bridge[] = {0x70, 0, 0x0b, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    struct sated_drive *d = opened("sda");
    struct sated_ata_registers registers;
    quiet();
    kernel.status = 2;
    kernel.driver = 8;
    memcpy(kernel.sense, active, kernel.sense_len = sizeof active);
    CHECK_EQ(check_power_mode(d, &registers), 0);
    CHECK_EQ(kernel.cdb[0], 0x85);
    CHECK_EQ(kernel.cdb[14], 0xe5);
    CHECK_EQ(registers.source, SATED_ATA_REGISTERS_DESCRIPTOR);
    CHECK_EQ(registers.count_low, 0xff);

    memcpy(kernel.sense, aborted, kernel.sense_len = sizeof aborted);
    CHECK_EQ(check_power_mode(d, &registers), SATED_ATA);
    CHECK(detail.ata_status == 0x51 && detail.ata_error == 4);
    CHECK_TEXT(detail.text, "CHECK POWER MODE");
    CHECK_TEXT(detail.text, "aborted");

    memcpy(kernel.sense, contradiction, kernel.sense_len = sizeof contradiction);
    CHECK_EQ(check_power_mode(d, &registers), SATED_SENSE);

    memcpy(kernel.sense, bridge, kernel.sense_len = sizeof bridge);
    CHECK_EQ(check_power_mode(d, &registers), SATED_SENSE);
    CHECK_EQ(registers.source, SATED_ATA_REGISTERS_NONE);

    /* A bridge that says nothing but "good": the third state, which is never a success. */
    quiet();
    CHECK_EQ(check_power_mode(d, &registers), SATED_UNSUPPORTED);
    CHECK_TEXT(detail.text, "without the drive's registers");
    CHECK_EQ(registers.source, SATED_ATA_REGISTERS_NONE);

    /* What a bridge made up: BSY, by which nothing else counts, and registers of zeros, by which the drive would be in
     * standby (COUNT 00h). */
    static const uint8_t made_up[] = {0x80, 0x00, 0xd0};
    for (size_t i = 0; i < sizeof made_up; i++) {
        quiet();
        kernel.status = 2;
        memcpy(kernel.sense, active, kernel.sense_len = sizeof active);
        kernel.sense[13] = 0;
        kernel.sense[21] = made_up[i];
        CHECK_EQ(check_power_mode(d, &registers), SATED_UNSUPPORTED);
        CHECK_EQ(registers.source, SATED_ATA_REGISTERS_NONE);
    }
    quiet();

    /* Data is an answer by itself (SAT-4 12.2.5: no registers without CK_COND). */
    struct sated_ata_command c;
    sated_ata_build_identify_device(&c);
    CHECK_EQ(sated_ata_raw(d, &c, data, &registers, &reply), 0);
    CHECK_EQ(kernel.length, 512u);

    /* A failing command in the legacy layout of libata, wrapped by the caller himself. */
    static const uint8_t legacy[] = {0x70, 0, 0x0b, 0, 0, 0, 0, 10, 4, 0x41, 0xe0, 0, 0, 0, 0, 0, 0x80, 0xff};
    struct sated_scsi_command cdb;
    sated_ata_build_cdb(&c, 16, &cdb);
    kernel.status = 2;
    memcpy(kernel.sense, legacy, kernel.sense_len = sizeof legacy);
    CHECK_EQ(sated_scsi_raw(d, &cdb, data, &reply), SATED_ATA);
    sated_detail_get(&detail);
    CHECK(detail.ata_status == 0x41 && detail.ata_error == 4);
    sated_drive_close(d);
}

static int code_of(struct sated_drive *d, const struct sated_scsi_command *c)
{
    int rc = sated_scsi_raw(d, c, c->data_len ? data : NULL, &reply);
    sated_detail_get(&detail);
    return rc;
}

/* What is not in the table is not sent to a real drive, nor what makes no sense. */
static void test_refusals(void)
{
    struct sated_drive *d = opened("sda");
    struct sated_scsi_command c;
    struct sated_ata_command a;
    quiet();
    sated_scsi_build_write_10(&c, 0, 1, 512, 0, false, false);
    CHECK_EQ(code_of(d, &c), SATED_UNSAFE);
    CHECK_TEXT(detail.text, "WRITE(10)");
    CHECK_EQ(sated_scsi_check_read_only(&c), SATED_UNSAFE);
    sated_ata_build_security_erase_unit(&a, 0);
    memset(data, 0, 512);
    CHECK_EQ(sated_ata_raw(d, &a, data, NULL, &reply), SATED_UNSAFE);
    sated_detail_get(&detail);
    CHECK_TEXT(detail.text, "SECURITY ERASE UNIT");
    sated_ata_build_cdb(&a, 16, &c); /* and not as SCSI either */
    CHECK_EQ(code_of(d, &c), SATED_UNSAFE);
    CHECK_EQ(kernel.calls, 0);

    struct sated_nvme_command n = {.opcode = 6, .data_len = 4096, .direction = 1, .cdw10 = 1};
    CHECK_EQ(sated_nvme_admin_raw(d, &n, data, &reply), SATED_UNSUPPORTED);

    c = (struct sated_scsi_command){.cdb = {0x12}, .cdb_len = 10, .direction = 1, .data_len = 96};
    CHECK_EQ(code_of(d, &c), SATED_PARSE);
    c.cdb_len = 6;
    c.direction = 3;
    CHECK_EQ(code_of(d, &c), SATED_PARSE);
    c.direction = 0;
    CHECK_EQ(code_of(d, &c), SATED_PARSE);
    c = (struct sated_scsi_command){.cdb = {0x12}, .cdb_len = 6, .direction = 1, .data_len = 1 << 30};
    CHECK_EQ(code_of(d, &c), SATED_PARSE);
    CHECK_EQ(kernel.calls, 0);
    sated_drive_close(d);

    CHECK_EQ(sated_drive_open(&d, in("m/dev/sda1"), NULL), 0);
    CHECK_EQ(inquiry(d), SATED_UNSUPPORTED);
    CHECK_TEXT(detail.text, "/dev/sda");
    sated_drive_close(d);
    d = opened("vda");
    CHECK_EQ(inquiry(d), SATED_UNSUPPORTED);
    sated_drive_close(d);
    CHECK_EQ(sated_drive_open(&d, "sim:generic", NULL), 0);
    CHECK_EQ(inquiry(d), SATED_UNSUPPORTED);
    sated_drive_close(d);
}

static void test_timeouts(void)
{
    struct sated_drive *d = opened("sda");
    struct sated_scsi_command c;
    uint32_t ms = 0;
    sated_scsi_build_sanitize(&c, SATED_SANITIZE_BLOCK_ERASE, true, false, false, 0);
    /* SPC-5 6.36.3 and 6.36.4: supported, CTDP; 10 bytes of CDB usage; nominal 300 s, recommended 7200 s. */
    static const uint8_t both[26] = {0, 0x83, 0,  10, 0x48, 0xff, 0, 0,    0,    0, 0, 0xff, 0xff,
                                     0, 0,    10, 0,  0,    0,    0, 0x01, 0x2c, 0, 0, 0x1c, 0x20};
    uint8_t nominal[26];
    memcpy(nominal, both, sizeof both);
    nominal[24] = nominal[25] = 0;
    quiet();
    kernel.data = both;
    kernel.data_len = sizeof both;
    CHECK_EQ(sated_scsi_timeout_get(d, &c, &ms), 0);
    CHECK_EQ(ms, 12u * 3600 * 1000); /* never shorter than without */
    CHECK_EQ(kernel.cdb[0], 0xa3);
    CHECK_EQ(kernel.cdb[1], 0x0c);
    CHECK_EQ(kernel.cdb[2], 0x82); /* RCTD, one command with its service action */
    CHECK_EQ(kernel.cdb[3], 0x48);
    CHECK_EQ(kernel.cdb[5], 0x02);
    /* PERSISTENT RESERVE OUT and REPORT ZONES have service actions too; READ(10) has a byte 1, and none. */
    static const struct {
        uint8_t opcode, action, cdb_len, options;
    } asked[] = {{0x5f, 3, 10, 0x82}, {0x95, 0, 16, 0x82}, {0xab, 1, 12, 0x82}, {0x28, 0, 10, 0x81}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct sated_scsi_command of = {.cdb = {asked[i].opcode, asked[i].action}, .cdb_len = asked[i].cdb_len};
        CHECK_EQ(sated_scsi_timeout_get(d, &of, &ms), 0);
        CHECK_EQ(kernel.cdb[2], asked[i].options);
        CHECK_EQ(kernel.cdb[5], asked[i].action);
    }
    kernel.data = nominal;
    CHECK_EQ(sated_scsi_timeout_get(d, &c, &ms), 0);
    CHECK_EQ(ms, 12u * 3600 * 1000);
    quiet();
    kernel.status = 2;
    memcpy(kernel.sense, illegal, kernel.sense_len = sizeof illegal);
    CHECK_EQ(sated_scsi_timeout_get(d, &c, &ms), SATED_SENSE);
    CHECK_EQ(ms, 12u * 3600 * 1000);
    CHECK_EQ(sated_scsi_timeout_ms(0, 0, 7), 7u);
    CHECK_EQ(sated_scsi_timeout_ms(3600, 0, 7), 7200u * 1000);
    CHECK_EQ(sated_scsi_timeout_ms(300, 0, 7), 900u * 1000); /* ten minutes more is more than twice as much */
    CHECK_EQ(sated_scsi_timeout_ms(300, 7200, 7), 7200u * 1000);
    CHECK_EQ(sated_scsi_timeout_ms(5000, 1, 7), 10000u * 1000); /* less than it needs is no recommendation */
    CHECK_EQ(sated_scsi_timeout_ms(5000, 1, 43200000), 43200000u);
    CHECK_EQ(sated_scsi_timeout_ms(1, UINT32_MAX, 7), UINT32_MAX);
    CHECK_EQ(sated_scsi_timeout_ms(UINT32_MAX, 0, 7), UINT32_MAX);
    sated_drive_close(d);

    CHECK(sated_nvme_timeout_ms(&(struct sated_nvme_command){.opcode = 0x80, .admin = true}) >= 600000);
    CHECK_EQ(sated_nvme_timeout_ms(&(struct sated_nvme_command){.opcode = 0x06, .admin = true}), 60000u);
    CHECK_EQ(sated_nvme_timeout_ms(&(struct sated_nvme_command){.opcode = 0x0d, .admin = true}), 120000u);
    CHECK_EQ(sated_nvme_timeout_ms(&(struct sated_nvme_command){.opcode = 0x02}), 60000u);
    /* ACS-4 7.13.7.48: both formats, given, not given, saturated; kept as the greater of 2x and x + 10 min. */
    CHECK_EQ(sated_ata_erase_timeout_ms(0x0001), 12 * 60000);  /* 2 min -> 12 min */
    CHECK_EQ(sated_ata_erase_timeout_ms(0x8050), 320 * 60000); /* 160 min -> 320 min */
    CHECK_EQ(sated_ata_erase_timeout_ms(0x0000), 12 * 3600000);
    CHECK_EQ(sated_ata_erase_timeout_ms(0x00ff), 2 * 508 * 60000); /* more than 508 min */
    CHECK_EQ(sated_ata_erase_timeout_ms(0xffff), UINT32_MAX);      /* more than 65532 min: 49 days are the most */
    CHECK_EQ(sated_ata_erase_timeout_ms(0xfffe), UINT32_MAX);
}

int main(void)
{
    if (machine_begin())
        return 1;
    test_buffers();
    test_status_order();
    test_ata();
    test_nvme_advice();
    test_ata_identity();
    test_refusals();
    test_timeouts();
    tree_end();
    return check_done();
}
