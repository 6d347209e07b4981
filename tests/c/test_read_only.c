/* SPDX-License-Identifier: MIT */
/* The table of read-only commands: what is in it, and above all what is not. */
#include <sated/sated.h>

#include <stdlib.h>

#include "check.h"

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
    return sated_ata_check_read_only(&c) == 0;
}

static bool nvme_reads(bool admin, uint8_t opcode, uint32_t cdw10, uint32_t cdw11)
{
    struct sated_nvme_command c = {
        .opcode = opcode, .cdw10 = cdw10, .cdw11 = cdw11, .admin = admin, .data_len = 65536, .direction = 1};
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
    CHECK(!reads(0x1d, 6, 1, 4) && !reads(0x1d, 6, 1, 0));  /* SEND DIAGNOSTIC: self-tests */
    CHECK(reads(0x1c, 6, 1, 1) && !reads(0x1c, 6, 1, 0));
    CHECK(!reads(0x3c, 10, 1, 0x1c)); /* READ BUFFER of the error history locks it */
    CHECK(reads(0xaf, 12, 1, 0) && !reads(0xaf, 12, 1, 2) && !reads(0xaf, 12, 1, 6));
    CHECK(reads(0xab, 12, 1, 1) && !reads(0xab, 12, 1, 0));
    CHECK(reads(0xa3, 12, 1, 0x0b) && reads(0xa3, 12, 1, 0x0e) && reads(0x9e, 16, 1, 0x13));
    CHECK(!reads(0x9e, 16, 1, 0x14) && !reads(0x9e, 16, 1, 0x18)); /* STREAM CONTROL, REMOVE ELEMENT AND TRUNCATE */
    for (uint32_t opcode = 0xc0; opcode < 256; opcode++)
        CHECK(!reads((uint8_t)opcode, 10, 0, 0));
    /* CONTROL, the last byte: NACA, and the vendor's two bits. */
    CHECK(!reads(0x12, 6, 5, 0x04) && !reads(0x28, 10, 9, 0x40) && !reads(0x88, 16, 15, 0x80));
    CHECK(!reads(0x7f, 32, 1, 0x04));
    struct sated_scsi_command c = {.cdb = {0x28}, .cdb_len = 10, .direction = 2, .data_len = 512};
    CHECK_EQ(sated_scsi_check_read_only(&c), SATED_UNSAFE); /* a read does not send data */
    c = (struct sated_scsi_command){.cdb = {0x7f, 0, 0, 0, 0, 0, 0, 0x18, 0, 9}, .cdb_len = 32};
    CHECK_EQ(sated_scsi_check_read_only(&c), 0);
    c.cdb[9] = 0x0b; /* WRITE(32) */
    CHECK_EQ(sated_scsi_check_read_only(&c), SATED_UNSAFE);
    c.cdb[9] = 0x0a; /* VERIFY(32) */
    CHECK_EQ(sated_scsi_check_read_only(&c), 0);
    c.cdb[10] = 2;
    CHECK_EQ(sated_scsi_check_read_only(&c), SATED_UNSAFE);
    c.cdb[9] = 0x12; /* GET LBA STATUS(32) */
    CHECK_EQ(sated_scsi_check_read_only(&c), 0);
    c.cdb[1] = 4;
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
    CHECK(!ata_reads(0x3f, SATED_ATA_PIO_OUT, 0, 0, 0x80) && !ata_reads(0x57, SATED_ATA_DMA, 0, 0, 0x80));
    CHECK(!ata_reads(0x2f, SATED_ATA_PIO_IN, 1, 0, 0x24)); /* the drive's internal status: takes a snapshot */
    CHECK(ata_reads(0x2f, SATED_ATA_PIO_IN, 0, 0, 0x24) && ata_reads(0x47, SATED_ATA_DMA, 0, 0, 0x30));
    for (unsigned features = 0; features < 256; features++) { /* SMART: data, thresholds, log, status */
        bool known = features == 0xd0 || features == 0xd1 || features == 0xd5;
        CHECK_EQ(ata_reads(0xb0, SATED_ATA_PIO_IN, (uint16_t)features, 0, 0xc24f00), known);
        CHECK_EQ(ata_reads(0xb0, SATED_ATA_NON_DATA, (uint16_t)features, 0, 0xc24f00), features == 0xda);
    }
    CHECK(ata_reads(0xf8, SATED_ATA_NON_DATA, 0, 0, 0) && !ata_reads(0xf9, SATED_ATA_NON_DATA, 0, 0, 0));
    CHECK(ata_reads(0x78, SATED_ATA_NON_DATA, 0, 0, 0) && !ata_reads(0x78, SATED_ATA_NON_DATA, 1, 0, 0));
    CHECK(ata_reads(0xb1, SATED_ATA_PIO_IN, 0xc2, 0, 0) && !ata_reads(0xb1, SATED_ATA_NON_DATA, 0xc0, 0, 0));
    /* ACS-5: each has one kind of protocol, and under another the link hangs. */
    static const struct {
        uint8_t command;
        uint16_t features;
        bool moves;
    } own[] = {{0x20, 0, true},    {0x25, 0, true},  {0x60, 0, true},  {0xc8, 0, true},  {0xec, 0, true},
               {0xb1, 0xc2, true}, {0x2f, 0, true},  {0x27, 0, false}, {0x40, 0, false}, {0x42, 0, false},
               {0x78, 0, false},   {0xb4, 0, false}, {0xe5, 0, false}, {0xf8, 0, false}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        CHECK_EQ(ata_reads(own[i].command, SATED_ATA_PIO_IN, own[i].features, 0, 0), own[i].moves);
        CHECK_EQ(ata_reads(own[i].command, SATED_ATA_NON_DATA, own[i].features, 0, 0), !own[i].moves);
    }
    /* ACS-5, "NCQ Command Error log": reading 10h ends the drive's error state. */
    CHECK(!ata_reads(0x2f, SATED_ATA_PIO_IN, 0, 0, 0x10) && !ata_reads(0x47, SATED_ATA_DMA, 0, 0, 0x10));
    CHECK(ata_reads(0x2f, SATED_ATA_PIO_IN, 0, 0, 0x0f) && ata_reads(0x47, SATED_ATA_DMA, 0, 0, 0x11));
    /* A1h on a disk is ATA PASS-THROUGH(12), never read as another SCSI command; 1FF0h as (32). */
    c = (struct sated_scsi_command){.cdb = {0xa1, 8, 0x0e, 0, 1, 0, 0, 0, 0, 0xec},
                                    .cdb_len = 12,
                                    .direction = 1,
                                    .data_len = 512};
    CHECK_EQ(sated_scsi_check_read_only(&c), 0);
    c.cdb[11] = 4; /* CONTROL */
    CHECK_EQ(sated_scsi_check_read_only(&c), SATED_UNSAFE);
    c.cdb[11] = 0;
    c.cdb[9] = 0xf4;
    CHECK_EQ(sated_scsi_check_read_only(&c), SATED_UNSAFE);
    c = (struct sated_scsi_command){.cdb = {0x7f, 0, 0, 0, 0, 0, 0, 0x18, 0x1f, 0xf0, 8, 0x0e}, .cdb_len = 32};
    c.cdb[25] = 0xec;
    CHECK_EQ(sated_scsi_check_read_only(&c), 0);
    c.cdb[25] = 0xb1;
    CHECK_EQ(sated_scsi_check_read_only(&c), SATED_UNSAFE);

    CHECK(nvme_reads(true, 0x06, 1, 0) && nvme_reads(true, 0x02, 0x7f0002, 0) && nvme_reads(true, 0x0a, 0x106, 0));
    CHECK(nvme_reads(true, 0x02, 0x81, 0) && nvme_reads(true, 0x02, 0x80c0, 0));
    CHECK(!nvme_reads(true, 0x02, 0x107, 0)); /* telemetry: takes a snapshot */
    /* NVMe Base 2.0 5.16: with RAE 0 these logs lose what they told: changed namespaces, the controller's telemetry (its
     * Data Available), predictable latency events and their list, LBA status, endurance group events, reservation
     * notifications, changed zones; of a vendor's own logs nobody knows. */
    static const uint8_t lose[] = {0x04, 0x08, 0x0a, 0x0b, 0x0c, 0x0e, 0x0f, 0x80, 0xbf, 0xc0, 0xff};
    for (size_t i = 0; i < sizeof lose; i++)
        CHECK(!nvme_reads(true, 0x02, 0x7f0000 | lose[i], 0) && nvme_reads(true, 0x02, 0x7f8000 | lose[i], 0));
    static const uint8_t keep[] = {0x00, 0x01, 0x02, 0x03, 0x05, 0x06, 0x07, 0x09, 0x0d, 0x81};
    for (size_t i = 0; i < sizeof keep; i++)
        CHECK(nvme_reads(true, 0x02, 0x7f0000 | keep[i], 0) && nvme_reads(true, 0x02, 0x7f8000 | keep[i], 0));
    /* LSP: telemetry takes a snapshot, the persistent event log opens or closes a session, whatever RAE is. */
    for (uint32_t log = 0; log < 256; log++)
        CHECK(!nvme_reads(true, 0x02, 0x8100 | log, 0) && !nvme_reads(true, 0x02, 0xc000 | log, 0));
    for (uint32_t operation = 0; operation < 256; operation++) /* Directive Receive: only Return Parameters */
        CHECK_EQ(nvme_reads(true, 0x1a, 0, 0x0100 | operation), operation == 1);
    for (uint32_t protocol = 0; protocol < 256; protocol++) /* Security Receive: what there is, and ATA's state */
        CHECK_EQ(nvme_reads(true, 0x82, protocol << 24, 0), protocol == 0 || protocol == 0xef);
    CHECK(nvme_reads(true, 0x0a, 0x306, 0) && !nvme_reads(true, 0x0a, 0x406, 0)); /* Get Features: SEL */
    CHECK(nvme_reads(false, 0x0e, 0, 0) && !nvme_reads(false, 0x0d, 0, 0) && !nvme_reads(false, 0x11, 0, 0));
    CHECK(!nvme_reads(true, 0x1e, 0, 0) && !nvme_reads(true, 0x0c, 0, 0) && !nvme_reads(true, 0x14, 0, 0));
    for (uint32_t opcode = 0xc0; opcode < 256; opcode++)
        CHECK(!nvme_reads(true, (uint8_t)opcode, 0, 0) && !nvme_reads(false, (uint8_t)(opcode - 0x40), 0, 0));
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

/* NVMe Base 2.0 clause 5, NVM Command Set 1.0 clause 3: what a command moves by its own fields goes beyond a buffer that
 * is shorter, for the controller is not told how long that is. */
static void test_lengths(void)
{
    static const struct {
        bool admin;
        uint8_t opcode;
        uint32_t cdw10, cdw11, cdw12, moves;
        const char *by;
    } cases[] = {
        {true, 0x06, 1, 0, 0, 4096, "Identify"},     {true, 0x02, 0x007f0002, 0, 0, 512, "NUMD"},
        {true, 0x02, 0x8002, 1, 0, 0x40004, "NUMD"}, {true, 0x0a, 0x0c, 0, 0, 256, "transitions"},
        {true, 0x0a, 0x81, 1, 0, 16, "EXHID"},       {true, 0x1a, 7, 1, 0, 32, "NUMD"},
        {true, 0x82, 0, 512, 0, 512, "AL"},          {false, 0x02, 0, 0, 7, 8 * 512, "NLB"},
        {false, 0x0e, 15, 0, 0, 64, "NUMD"},         {false, 0x7a, 0, 0, 1023, 4096, "NDW"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sated_nvme_command c = {.admin = cases[i].admin,
                                       .opcode = cases[i].opcode,
                                       .cdw10 = cases[i].cdw10,
                                       .cdw11 = cases[i].cdw11,
                                       .cdw12 = cases[i].cdw12,
                                       .data_len = cases[i].moves,
                                       .direction = 1};
        struct sated_detail detail;
        CHECK_EQ(sated_nvme_check_read_only(&c), 0);
        c.data_len -= 4;
        CHECK_EQ(sated_nvme_check_read_only(&c), SATED_PARSE);
        sated_detail_get(&detail);
        CHECK_TEXT(detail.text, cases[i].by);
        c.data_len = c.direction = 0;
        CHECK_EQ(sated_nvme_check_read_only(&c), SATED_PARSE);
    }
    struct sated_nvme_command none = {.admin = true, .opcode = 0x0a, .cdw10 = 0x30c}; /* SEL: what is supported */
    CHECK_EQ(sated_nvme_check_read_only(&none), 0);
}

int main(void)
{
    test_lengths();
    test_table();
    return check_done();
}
