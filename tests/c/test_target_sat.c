/* SPDX-License-Identifier: MIT */
/* The SCSI side of the simulated ATA drive, by libata's conduct and SAT-4; SMART and the logs; quirks of bridges. */
#include <unistd.h>

#include "ata_drive.h"

#define SENSE(key, asc, ascq) (reply.sense[2] == (key) && reply.sense[12] == (asc) && reply.sense[13] == (ascq))

static uint64_t all;

static void check_inquiry(void)
{
    static const uint8_t pages[] = {0x00, 0x80, 0x83, 0x89, 0xb0, 0xb1, 0xb2};
    uint8_t words[512];
    identify();
    memcpy(words, page, 512);
    all = id.capacity.sectors;
    CHECK_EQ(CDB(SATED_DATA_IN, 96, 0x12, 0, 0, 0, 96, 0), 0);
    CHECK_EQ(reply.data_len, 96);
    CHECK(!memcmp(page + 8, "ATA     SanDisk X210 256SIM1", 28)); /* SAT-4 8.1.2 */
    CHECK_EQ(CDB(SATED_DATA_IN, 64, 0x12, 1, 0, 0, 64, 0), 0);
    CHECK_EQ(reply.data_len, 4 + sizeof pages);
    CHECK(!memcmp(page + 4, pages, sizeof pages));
    CHECK_EQ(CDB(SATED_DATA_IN, 64, 0x12, 1, 0x80, 0, 64, 0), 0);
    CHECK(!memcmp(page + 4, id.serial, strlen(id.serial)));
    CHECK_EQ(CDB(SATED_DATA_IN, 1024, 0x12, 1, 0x89, 4, 0, 0), 0);
    CHECK_EQ(reply.data_len, 572);
    CHECK(!memcmp(page + 60, words, 512));
    CHECK_EQ(CDB(SATED_DATA_IN, 255, 0x12, 1, 0x83, 0, 255, 0), 0);
    struct sated_scsi_vpd_device_id ids;
    CHECK_EQ(sated_scsi_decode_vpd_device_id(page, reply.data_len, &ids), 0);
    CHECK_EQ(ids.n_designators, 3);
    CHECK_EQ(CDB(SATED_DATA_IN, 64, 0x12, 1, 0xb1, 0, 64, 0), 0);
    CHECK(page[4] == 0 && page[5] == 1 && page[7] == 3); /* does not rotate, 2.5 inch */
    CHECK_EQ(CDB(SATED_DATA_IN, 64, 0x12, 1, 0xb2, 0, 64, 0), 0);
    CHECK_EQ(page[5], 0xc0);
    CHECK_EQ(CDB(SATED_DATA_IN, 64, 0x12, 1, 0x86, 0, 64, 0), SATED_SENSE); /* libata has none */
    CHECK(SENSE(5, 0x24, 0));
    CHECK_EQ(CDB(SATED_DATA_IN, 4, 0x12, 0, 0, 0, 96, 0), 0);
    CHECK_EQ(reply.data_len, 4);
    CHECK_EQ(CDB(SATED_DATA_IN, 32, 0x9e, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0), 0);
    struct sated_scsi_capacity c;
    CHECK_EQ(sated_scsi_decode_capacity_16(page, 32, &c), 0);
    CHECK_EQ(c.last_lba, all - 1);
    CHECK(c.lbpme && c.lbprz && c.lbppbe == 3);
    CHECK_EQ(CDB(SATED_DATA_IN, 16, 0xa0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0), 0);
    CHECK_EQ(page[3], 8);
    CHECK_EQ(CDB(SATED_DATA_IN, 4, 0xa3, 0x0c, 1, 0x28, 0, 0, 0, 0, 0, 4, 0, 0), 0);
    CHECK_EQ(page[1], 3);
    CHECK_EQ(CDB(SATED_DATA_IN, 4, 0xa3, 0x0c, 1, 0x04, 0, 0, 0, 0, 0, 4, 0, 0), 0);
    CHECK_EQ(page[1], 1);
    CHECK_EQ(CDB(SATED_DATA_IN, 255, 0x4d, 0, 0x40, 0, 0, 0, 0, 0, 255, 0), SATED_SENSE); /* LOG SENSE: not libata's */
    CHECK(SENSE(5, 0x20, 0));
    CHECK_EQ(CDB(SATED_DATA_NONE, 0, 0x00, 0, 0, 0, 0, 0), 0);
    CHECK_EQ(CDB(SATED_DATA_IN, 18, 0x03, 0, 0, 0, 18, 0), 0);
    CHECK(page[0] == 0x70 && page[2] == 0);
}

/* READ and WRITE of 6, 10, 12 and 16 bytes. */
static void check_media(void)
{
    memset(page, 0x6a, 512);
    CHECK_EQ(CDB(SATED_DATA_OUT, 512, 0x0a, 0, 0, 9, 1, 0), 0);
    memset(page, 0x6b, 512);
    CHECK_EQ(CDB(SATED_DATA_OUT, 512, 0x2a, 0, 0, 0, 0, 10, 0, 0, 1, 0), 0);
    memset(page, 0x6c, 512);
    CHECK_EQ(CDB(SATED_DATA_OUT, 512, 0xaa, 0, 0, 0, 0, 11, 0, 0, 0, 1, 0, 0), 0);
    memset(page, 0x6d, 512);
    CHECK_EQ(CDB(SATED_DATA_OUT, 512, 0x8a, 8, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 1, 0, 0), 0);
    CHECK_EQ(CDB(SATED_DATA_NONE, 0, 0x35, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0);
    memset(page, 0, 2048);
    CHECK_EQ(CDB(SATED_DATA_IN, 2048, 0xa8, 0, 0, 0, 0, 9, 0, 0, 0, 4, 0, 0), 0);
    CHECK(page[0] == 0x6a && page[512] == 0x6b && page[1024] == 0x6c && page[1536] == 0x6d);
    CHECK_EQ(CDB(SATED_DATA_IN, 512, 0x08, 0, 0, 12, 1, 0), 0);
    CHECK_EQ(page[511], 0x6d);
    CHECK_EQ(CDB(SATED_DATA_IN, 512, 0x88, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 1, 0, 0), 0);
    CHECK_EQ(page[0], 0x6b);
    CHECK_EQ(CDB(SATED_DATA_IN, 512, 0x28, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 1, 0), SATED_SENSE);
    CHECK(SENSE(5, 0x21, 0));
    CHECK_EQ(CDB(SATED_DATA_NONE, 0, 0x2f, 0, 0, 0, 0, 0, 0, 0, 8, 0), 0);
    /* UNMAP and WRITE SAME(16) with UNMAP take pages away. */
    fill(800, 64, 0x33);
    uint64_t before = mapped();
    memset(page, 0, 24);
    page[1] = 22;
    page[3] = 16;
    page[8 + 7] = 800 & 255;
    page[8 + 6] = 800 >> 8;
    page[8 + 11] = 32;
    CHECK_EQ(CDB(SATED_DATA_OUT, 24, 0x42, 0, 0, 0, 0, 0, 0, 0, 24, 0), 0);
    CHECK_EQ(mapped(), before - 4);
    memset(page, 0, 512);
    CHECK_EQ(CDB(SATED_DATA_OUT, 512, 0x93, 8, 0, 0, 0, 0, 0, 0, 3, 64, 0, 0, 0, 32, 0, 0), 0);
    CHECK_EQ(mapped(), before - 8);
    CHECK_EQ(CDB(SATED_DATA_OUT, 512, 0x93, 0, 0, 0, 0, 0, 0, 0, 3, 64, 0, 0, 0, 32, 0, 0), SATED_SENSE);
    CHECK(holds(800, 64, 0));
}

static void check_modes(void)
{
    uint8_t sense[64], list[64];
    CHECK_EQ(CDB(SATED_DATA_IN, 64, 0x1a, 0, 0x08, 0, 64, 0), 0);
    memcpy(sense, page, 64);
    CHECK(page[0] == 3 + 8 + 20 && page[3] == 8 && page[4 + 6] == 2 && page[12] == 8 && page[14] == 4);
    int n = sated_scsi_build_wce_list(list, sizeof list, sense, 32, false, false);
    CHECK(n > 0);
    memcpy(page, list, (size_t)n);
    CHECK_EQ(CDB(SATED_DATA_OUT, (uint32_t)n, 0x15, 0x10, 0, 0, (uint8_t)n, 0), 0);
    CHECK_EQ(identify()->settings.write_cache_enabled, 0);
    CHECK_EQ(ATA(set_write_cache, true), 0);
    CHECK_EQ(CDB(SATED_DATA_IN, 64, 0x5a, 8, 0x3f, 0, 0, 0, 0, 0, 64, 0), 0);
    CHECK(page[1] == 8 + 12 + 20 + 12 - 2 && page[8] == 1 && page[20] == 8 && page[22] == 4 && page[40] == 0x0a);
    CHECK_EQ(CDB(SATED_DATA_IN, 64, 0x1a, 8, 0xc8, 0, 64, 0), SATED_SENSE); /* saved values */
    CHECK(SENSE(5, 0x39, 0));
    CHECK_EQ(CDB(SATED_DATA_IN, 64, 0x1a, 8, 0x48, 0, 64, 0), 0); /* what can be changed: WCE */
    CHECK(page[6] == 4 && page[16] == 0);
    /* D_SENSE */
    CHECK_EQ(CDB(SATED_DATA_IN, 64, 0x1a, 8, 0x0a, 0, 64, 0), 0);
    page[6] |= 4;
    page[0] = 0;
    CHECK_EQ(CDB(SATED_DATA_OUT, 16, 0x15, 0x10, 0, 0, 16, 0), 0);
    CHECK_EQ(CDB(SATED_DATA_IN, 64, 0x4d, 0, 0, 0, 0, 0, 0, 0, 64, 0), SATED_SENSE);
    CHECK(reply.sense[0] == 0x72 && reply.sense[1] == 5 && reply.sense[2] == 0x20);
    CHECK_EQ(CDB(SATED_DATA_IN, 64, 0x1a, 8, 0x0a, 0, 64, 0), 0);
    page[4 + 8]++; /* BUSY TIMEOUT PERIOD cannot be changed */
    page[0] = 0;
    CHECK_EQ(CDB(SATED_DATA_OUT, 16, 0x15, 0x10, 0, 0, 16, 0), SATED_SENSE);
    CHECK(reply.sense[2] == 0x26);
    cycle();
    CHECK_EQ(CDB(SATED_DATA_NONE, 0, 0x1b, 0, 0, 0, 0, 0), 0); /* STOP: standby */
    struct sated_ata_power_mode mode;
    CHECK_EQ(ATA(check_power_mode), 0);
    sated_ata_decode_power_mode(&regs, &mode);
    CHECK_EQ(mode.mode, SATED_ATA_STANDBY_Z);
    CHECK_EQ(CDB(SATED_DATA_NONE, 0, 0x1b, 0, 0, 0, 1, 0), 0);
    CHECK_EQ(ATA(check_power_mode), 0);
    sated_ata_decode_power_mode(&regs, &mode);
    CHECK_EQ(mode.mode, SATED_ATA_ACTIVE_OR_IDLE);
    CHECK_EQ(ATA(idle, 12), 0); /* a minute */
    CHECK_EQ(ATA(check_power_mode), 0);
    sated_ata_decode_power_mode(&regs, &mode);
    CHECK_EQ(mode.mode, SATED_ATA_IDLE);
    pass_s(61);
    CHECK_EQ(ATA(check_power_mode), 0);
    sated_ata_decode_power_mode(&regs, &mode);
    CHECK_EQ(mode.mode, SATED_ATA_STANDBY_Z);
    CHECK_EQ(ATA(set_apm, 0x40), 0);
    CHECK_EQ(identify()->settings.apm_level, 0x40);
    CHECK_EQ(ATA(set_apm, 0), 0);
    CHECK_EQ(identify()->settings.apm_enabled, 0);
}

static struct sated_ata_self_test_log tests(bool extended)
{
    struct sated_ata_self_test_log log;
    CHECK_EQ(extended ? ATA(read_log, 0x07, 0, 1, 0, false) : ATA(smart_read_log, 0x06, 1), 0);
    CHECK_EQ(sated_ata_decode_self_test_log(page, 512, extended, &log), 0);
    CHECK_EQ(log.checksum, SATED_ATA_CHECKSUM_OK);
    return log;
}

static struct sated_ata_smart smart_data(void)
{
    struct sated_ata_smart smart;
    CHECK_EQ(ATA(smart_read_data), 0);
    CHECK_EQ(sated_ata_decode_smart(page, 512, &smart), 0);
    CHECK_EQ(smart.checksum, SATED_ATA_CHECKSUM_OK);
    return smart;
}

static uint64_t raw(uint32_t number)
{
    struct sated_ata_smart smart = smart_data();
    for (uint32_t i = 0; i < smart.n_attributes; i++)
        if (smart.attributes[i].id == number)
            return smart.attributes[i].raw48;
    return UINT64_MAX;
}

static void check_smart(void)
{
    struct sated_ata_smart_status status;
    struct sated_ata_smart_thresholds thresholds;
    uint64_t cycles = raw(12), unsafe = raw(174);
    CHECK_EQ(ATA(smart_return_status), 0);
    sated_ata_decode_smart_status(&regs, &status);
    CHECK_EQ(status.exceeded, 0);
    CHECK_EQ(ATA(smart_read_thresholds), 0);
    CHECK_EQ(sated_ata_decode_smart_thresholds(page, 512, &thresholds), 0);
    CHECK(thresholds.checksum == SATED_ATA_CHECKSUM_OK && thresholds.n_thresholds == smart_data().n_attributes);
    CHECK_EQ(tests(false).n_entries, 0);
    CHECK_EQ(ATA(smart_offline, SATED_ATA_TEST_SHORT), 0);
    CHECK_EQ(smart_data().self_test_result, 15);
    CHECK(holds(0, 1, 0)); /* in the background */
    pass_s(30);
    CHECK_EQ(smart_data().self_test_remaining, 50);
    CHECK_EQ(ATA(smart_offline, SATED_ATA_TEST_ABORT), 0);
    CHECK_EQ(tests(false).entries[0].result, 1);
    CHECK_EQ(ATA(smart_offline, SATED_ATA_TEST_EXTENDED), 0);
    cycle();
    CHECK_EQ(tests(false).entries[0].result, 2); /* by a reset */
    fault(SATED_FAULT_OPERATION_FAILS, -1, 1, 0);
    CHECK_EQ(ATA(smart_offline, SATED_ATA_TEST_EXTENDED), 0);
    pass_s(60.0 * smart_data().extended_minutes);
    CHECK_EQ(smart_data().self_test_result, 7);
    for (int extended = 0; extended < 2; extended++) {
        struct sated_ata_self_test_log log = tests(extended);
        CHECK_EQ(log.n_entries, 3);
        CHECK(log.entries[0].result == 7 && log.entries[0].lba == all / 2);
        CHECK(log.entries[1].result == 2 && log.entries[2].subcommand == SATED_ATA_TEST_SHORT);
    }
    for (int i = 0; i < 25; i++)
        CHECK_EQ(ATA(smart_offline, SATED_ATA_TEST_SHORT | SATED_ATA_TEST_CAPTIVE), 0);
    CHECK_EQ(tests(false).n_entries, 21);
    CHECK_EQ(tests(true).n_entries, 19);
    CHECK_EQ(tests(true).entries[0].subcommand, 0x81);
    CHECK_EQ(ATA(smart_disable), 0);
    CHECK_EQ(ATA(smart_read_data), SATED_ATA);
    CHECK_EQ(identify()->settings.smart_enabled, 0);
    CHECK_EQ(ATA(smart_enable), 0);
    CHECK_EQ(raw(12), cycles + 1);
    CHECK_EQ(raw(174), unsafe);
    fault(SATED_FAULT_POWER_CUT, -1, 1, SATED_FAULT_BEFORE);
    CHECK(ATA(smart_read_data) < 0);
    cycle();
    CHECK_EQ(raw(174), unsafe + 1);
    /* Counters fed by the medium: 32 MiB at 1/64 are 2 GiB. */
    uint64_t written = raw(241);
    for (uint32_t i = 0; i < 32; i++)
        fill(2048 * i, 2048, (uint8_t)i);
    CHECK_EQ(ATA(flush_cache, true), 0);
    CHECK_EQ(raw(241), written + 2);
    CHECK(raw(233) >= raw(241));
}

static void check_logs(void)
{
    struct sated_ata_log_directory directory;
    struct sated_ata_log_pages pages;
    struct sated_ata_statistics statistics;
    struct sated_ata_log_security security_page;
    struct sated_ata_log_capabilities capabilities;
    struct sated_ata_log_sata sata;
    uint8_t words[512];
    CHECK_EQ(ATA(read_log, 0, 0, 1, 0, true), 0);
    CHECK_EQ(sated_ata_decode_log_directory(page, 512, &directory), 0);
    CHECK(directory.pages[0x04] == 8 && directory.pages[0x30] == 9 && directory.pages[0x07] == 1);
    for (uint32_t log = 0; log < 256; log++) /* it lists exactly what can be read */
        CHECK_EQ(ATA(read_log, log, 0, 1, 0, false), directory.pages[log] ? 0 : SATED_ATA);
    CHECK_EQ(ATA(read_log, 0x30, 0, 10, 0, false), SATED_ATA);
    CHECK_EQ(ATA(read_log, 0x30, 0, 1, 0, false), 0);
    CHECK_EQ(sated_ata_decode_log_pages(page, 512, &pages), 0);
    CHECK_EQ(pages.n_pages, 7);
    identify();
    memcpy(words, page, 512);
    CHECK_EQ(ATA(read_log, 0x30, 1, 1, 0, false), 0);
    CHECK(!memcmp(page, words, 512));
    CHECK_EQ(ATA(read_log, 0x30, 3, 1, 0, false), 0);
    CHECK_EQ(sated_ata_decode_log_capabilities(page, 512, &capabilities), 0);
    CHECK(capabilities.trim && capabilities.rzat && capabilities.drat && capabilities.smart && !capabilities.amac);
    CHECK_EQ(capabilities.queue_depth, id.link.queue_depth);
    CHECK_EQ(ATA(read_log, 0x30, 6, 1, 0, false), 0);
    CHECK_EQ(sated_ata_decode_log_security(page, 512, &security_page), 0);
    CHECK_EQ(security_page.master_revision, id.security.master_revision);
    CHECK_EQ(security_page.erase_minutes, id.security.erase_minutes);
    CHECK(security_page.sanitize && security_page.enhanced_erase && !security_page.enabled);
    CHECK_EQ(ATA(read_log, 0x30, 8, 1, 0, false), 0);
    CHECK_EQ(sated_ata_decode_log_sata(page, 512, &sata), 0);
    CHECK(sata.ncq && sata.speed_max == 3 && sata.speed_current == 3);
    CHECK_EQ(ATA(read_log, 0x04, 1, 1, 0, false), 0);
    CHECK_EQ(sated_ata_decode_statistics(page, 512, &statistics), 0);
    CHECK_EQ(statistics.n_statistics, 6);
    CHECK_EQ(statistics.statistics[0].value, raw(12));
    CHECK_EQ(ATA(smart_read_log, 0x01, 1), 0);
    CHECK_EQ(page[0], 1);
}

/* What bridges do to the answers, as the decoder of registers tells them apart. */
static void check_bridges(void)
{
    CHECK_EQ(ATA(read_native_max, true), 0);
    CHECK_EQ(regs.source, SATED_ATA_REGISTERS_DESCRIPTOR);
    CHECK_EQ(reply.sense[0], 0x72);
    fault(SATED_FAULT_FIXED_SENSE, -1, 0, 0);
    CHECK_EQ(ATA(check_power_mode), 0);
    CHECK_EQ(regs.source, SATED_ATA_REGISTERS_FIXED);
    CHECK_EQ(regs.count, 0xff);
    CHECK_EQ(security(0xf6, "no", false, false), SATED_SENSE);
    CHECK(reply.sense[0] == 0xf0 && reply.sense[3] == 0x04 && reply.sense[4] == 0x51);
    CHECK_EQ(sated_sim_clear_faults(drive), 0);
    fault(SATED_FAULT_LEGACY_SENSE, -1, 0, 0);
    CHECK_EQ(security(0xf6, "no", false, false), SATED_ATA);
    CHECK_EQ(regs.source, SATED_ATA_REGISTERS_LEGACY);
    CHECK(regs.error == 0x04 && regs.status == 0x51);
    CHECK_EQ(ATA(read_native_max, true), 0);
    CHECK_EQ(regs.lba, all - 1);
    CHECK_EQ(sated_sim_clear_faults(drive), 0);
    fault(SATED_FAULT_NO_REGISTERS, -1, 0, 0);
    CHECK_EQ(ATA(read_native_max, true), SATED_UNSUPPORTED);
    CHECK_EQ(ATA(identify_device), 0);
    CHECK_EQ(security(0xf6, "no", false, false), SATED_SENSE);
    CHECK_EQ(sated_sim_clear_faults(drive), 0);
    fault(SATED_FAULT_TWELVE_ONLY, -1, 0, 0);
    CHECK_EQ(ATA(identify_device), SATED_SENSE);
    CHECK(SENSE(5, 0x20, 0));
    CHECK_EQ(CDB(SATED_DATA_IN, 512, 0xa1, 0x08, 0x0e, 0, 1, 0, 0, 0, 0x40, 0xec, 0, 0), 0);
    CHECK_EQ(page[510], 0xa5);
    CHECK_EQ(sated_sim_clear_faults(drive), 0);
    fault(SATED_FAULT_NO_ERASE, -1, 0, 0);
    CHECK_EQ(security(0xf1, "b", false, false), 0);
    CHECK_EQ(ATA(security_erase_prepare), 0);
    CHECK_EQ(security(0xf4, "b", false, false), SATED_SENSE);
    CHECK_EQ(security(0xf6, "b", false, false), 0);
    CHECK_EQ(sated_sim_clear_faults(drive), 0);
    fault(SATED_FAULT_BRIDGE_LOCK, -1, 0, 0);
    CHECK_EQ(CDB(SATED_DATA_IN, 512, 0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0), SATED_SENSE);
    CHECK(SENSE(7, 0x74, 0x71));
    CHECK(!holds(0, 1, 0));
    CHECK_EQ(ATA(identify_device), 0);
    CHECK_EQ(sated_sim_clear_faults(drive), 0);
    /* 32 bytes, a protocol that libata refuses, and a length that is not the data's. */
    uint8_t long_cdb[32] = {
        0x7f, [7] = 0x18, [8] = 0x1f, [9] = 0xf0, [10] = 0x08, [11] = 0x0e, [23] = 1, [24] = 0x40, [25] = 0xec};
    CHECK_EQ(send_cdb(long_cdb, 32, SATED_DATA_IN, 512), 0);
    CHECK_EQ(page[510], 0xa5);
    CHECK_EQ(CDB(SATED_DATA_NONE, 0, 0x85, 0x02, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), SATED_SENSE);
    CHECK(SENSE(5, 0x24, 0));
    CHECK_EQ(CDB(SATED_DATA_IN, 512, 0x85, 0x08, 0x0e, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0x40, 0xec, 0), SATED_SENSE);
    CHECK(SENSE(5, 0x24, 0));
    struct sated_sim_fault f;
    sated_sim_fault_init(&f);
    f.kind = SATED_FAULT_FAIL;
    f.opcode = 0x25;
    f.count = 1;
    f.ata_error = 0x40;
    CHECK_EQ(sated_sim_fail(drive, &f), 0);
    CHECK_EQ(ATA(read, 0, 1, 512, true, true), SATED_ATA);
    CHECK_EQ(regs.error, 0x40);
    CHECK_EQ(ATA(read, 0, 1, 512, true, true), 0);
}

/* The write cache: what it held is lost with the power, but not with capacitors. */
static void check_cache(const char *uri, bool keeps)
{
    open_drive(uri);
    fill(0, 8, 0x0a);
    cycle();
    CHECK_EQ(holds(0, 8, 0x0a), keeps);
    fill(0, 8, 0x0b);
    CHECK_EQ(ATA(flush_cache, true), 0);
    cycle();
    CHECK(holds(0, 8, 0x0b));
    CHECK_EQ(ATA(set_write_cache, false), 0);
    fill(0, 8, 0x0c);
    cycle();
    CHECK(holds(0, 8, 0x0c));
    CHECK_EQ(identify()->settings.write_cache_enabled, 1);
    cmd = (struct sated_ata_command){.command = 0x3d,
                                     .device = 0x40,
                                     .protocol = SATED_ATA_DMA,
                                     .ext = 1,
                                     .direction = SATED_ATA_OUT,
                                     .count = 8,
                                     .data_len = 4096};
    memset(page, 0x0d, 4096);
    CHECK_EQ(send_ata(0), 0);
    cycle();
    CHECK(holds(0, 8, 0x0d));
    close_drive();
}

int main(void)
{
    open_drive(X210);
    check_inquiry();
    check_media();
    check_modes();
    check_smart();
    check_logs();
    check_bridges();
    close_drive();
    check_cache(X210, false);
    check_cache("sim:710,scale=1/64", true);
    return check_done();
}
