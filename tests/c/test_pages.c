/* SPDX-License-Identifier: MIT */
/* Pages that no drive at hand answers, field by field. The bytes are composed so that neighbours differ; what they say was
 * read from them by sg_vpd, sg_logs (sg3_utils 1.46) where a line names them, else it is the layout of the standard
 * as smartmontools' ata.h and libnvme's types.h have it too. */
#include <sated/sated.h>

#include "check.h"
#include "core/bytes.h"
#include "protocol/known_ata.h"
#include "protocol/known_nvme.h"
#include "protocol/known_scsi.h"

static size_t from_hex(const char *text, uint8_t *to)
{
    size_t n = 0;
    unsigned byte;
    int used;
    while (sscanf(text, " %2x%n", &byte, &used) == 1) {
        to[n++] = (uint8_t)byte;
        text += used;
    }
    return n;
}

/* sg_vpd --page=ei */
static void test_extended(void)
{
    uint8_t b[64] = {0};
    struct sated_scsi_vpd_extended e;
    from_hex("00 86 00 3c 5d 3f 0f 31 b2 05 00 7d f0 fc c7 12 34 56 78", b);
    CHECK_EQ(sated_scsi_decode_vpd_extended(b, sizeof b, &e), 0);
    CHECK(e.activate_microcode == 1 && e.spt == 3 && e.grd_chk && !e.app_chk && e.ref_chk);
    CHECK(e.uask_sup && e.group_sup && e.prior_sup && e.headsup && e.ordsup && e.simpsup);
    CHECK(e.wu_sup && e.crd_sup && e.nv_sup && e.v_sup && e.no_pi_chk && e.p_i_i_sup && e.luiclr);
    CHECK(e.lu_coll_type == 5 && e.r_sup && !e.rtd_sup && e.hssrelef && e.multi_it_nexus_microcode == 5);
    CHECK(e.extended_self_test_minutes == 125 && e.maximum_sense_length == 252);
    CHECK(e.poa_sup && e.hra_sup && e.vsa_sup && e.dms_valid && e.ibs && e.ias && e.sac && e.nrd1 && e.nrd0);
    CHECK(e.maximum_inquiry_change_logs == 0x1234 && e.maximum_mode_page_change_logs == 0x5678 && !e.truncated);
    /* Each flag alone is its own bit. */
    memset(b + 4, 0, 60);
    b[8] = 0x08;
    b[5] = 0x20;
    CHECK_EQ(sated_scsi_decode_vpd_extended(b, sizeof b, &e), 0);
    CHECK(e.rtd_sup && !e.r_sup && !e.hssrelef && e.uask_sup && !e.group_sup);
    CHECK(!IS_KNOWN(scsi_vpd_extended, &e, extended_self_test_minutes));
    CHECK_EQ(sated_scsi_decode_vpd_extended(b, 8, &e), 0);
    CHECK(e.truncated && !IS_KNOWN(scsi_vpd_extended, &e, lu_coll_type));
}

/* sg_vpd --page=mpp */
static void test_mode_policy(void)
{
    uint8_t b[16];
    struct sated_scsi_vpd_mode_policy p;
    size_t n = from_hex("00 87 00 0c 3f ff 00 00 08 00 80 00 18 01 03 00", b);
    CHECK_EQ(sated_scsi_decode_vpd_mode_policy(b, n, &p), 0);
    CHECK_EQ(p.n_policies, 3u);
    CHECK(p.policies[0].page == 0x3f && p.policies[0].subpage == 0xff && !p.policies[0].mlus);
    CHECK(p.policies[1].page == 8 && p.policies[1].mlus && p.policies[1].policy == 0);
    CHECK(p.policies[2].page == 0x18 && p.policies[2].subpage == 1 && p.policies[2].policy == 3 && !p.truncated);
    CHECK_EQ(sated_scsi_decode_vpd_mode_policy(b, n - 1, &p), 0);
    CHECK(p.n_policies == 2 && p.truncated);
}

/* sg_vpd --page=sp */
static void test_ports(void)
{
    uint8_t b[80];
    struct sated_scsi_vpd_ports p;
    size_t n =
        from_hex("00 88 00 48 00 00 00 01 00 00 00 00 00 00 00 0c 61 93 00 08 50 00 c5 00 30 11 cb 29 "
                 "00 00 00 02 00 00 00 18 06 00 00 00 50 05 07 60 5e e2 93 40 00 00 00 00 00 00 00 00 00 00 00 00 "
                 "00 00 00 0c 61 93 00 08 50 00 c5 00 30 11 cb 2a",
                 b);
    CHECK_EQ(n, (size_t)76);
    CHECK_EQ(sated_scsi_decode_vpd_ports(b, n, &p), 0);
    CHECK(p.n_ports == 2 && !p.truncated);
    CHECK(p.ports[0].relative_port == 1 && p.ports[0].initiator_length == 0 && p.ports[0].n_designators == 1);
    CHECK(!IS_KNOWN(scsi_port, &p.ports[0], initiator_offset));
    CHECK_TEXT(p.ports[0].designators[0].text, "0x5000c5003011cb29");
    CHECK(p.ports[1].relative_port == 2 && p.ports[1].initiator_length == 24 && p.ports[1].initiator_offset == 36);
    CHECK_TEXT(p.ports[1].designators[0].text, "0x5000c5003011cb2a");
    /* A TransportID that is said to be longer than the page. */
    b[34] = 0xff;
    CHECK_EQ(sated_scsi_decode_vpd_ports(b, n, &p), 0);
    CHECK(p.n_ports == 1 && p.truncated);
}

/* sg_vpd --page=pc, zbdch, ble */
static void test_power_zoned_extension(void)
{
    uint8_t b[64] = {0};
    struct sated_scsi_vpd_power power;
    struct sated_scsi_vpd_zoned zoned;
    struct sated_scsi_vpd_limits_extension more;
    size_t n = from_hex("00 8a 00 0e 01 05 13 88 27 10 1f 40 00 64 03 e8 00 00", b);
    CHECK_EQ(sated_scsi_decode_vpd_power(b, n, &power), 0);
    CHECK(!power.standby_y && power.standby_z && power.idle_c && !power.idle_b && power.idle_a);
    CHECK(power.stopped_recovery_ms == 5000 && power.standby_z_recovery_ms == 10000);
    CHECK(power.standby_y_recovery_ms == 8000 && power.idle_a_recovery_ms == 100 && power.idle_b_recovery_ms == 1000);
    CHECK(!IS_KNOWN(scsi_vpd_power, &power, idle_c_recovery_ms));
    from_hex("00 b6 00 3c 11 00 00 00 00 00 00 80 ff ff ff ff 00 00 00 40 00 00 00 01 00 00 00 00 00 08 00 00", b);
    CHECK_EQ(sated_scsi_decode_vpd_zoned(b, sizeof b, &zoned), 0);
    CHECK(zoned.zoned_extension == 1 && !zoned.aaorb && zoned.urswrz && zoned.optimal_open_sequential_preferred == 128);
    CHECK(!IS_KNOWN(scsi_vpd_zoned, &zoned, optimal_non_sequential_preferred));
    CHECK(zoned.maximum_open_sequential_required == 64 && zoned.zone_alignment_method == 1);
    CHECK_EQ(zoned.zone_starting_lba_granularity, UINT64_C(524288));
    memset(b, 0, sizeof b);
    from_hex("00 b7 00 3c 00 01 00 10 00 40 00 00 01 00 00 00 00 00 10 00 00 00 00 20 00 01 00 00", b);
    CHECK_EQ(sated_scsi_decode_vpd_limits_extension(b, sizeof b, &more), 0);
    CHECK(more.rscs && more.maximum_number_of_streams == 16 && more.optimal_stream_write_size == 64);
    CHECK(more.stream_granularity_size == 256 && more.maximum_scattered_range_transfer_length == 4096);
    CHECK(more.maximum_scattered_range_descriptors == 32 && more.maximum_scattered_transfer_length == 65536);
}

/* SPC-5, Power Condition mode page: timers in tenths of a second. */
static void test_mode_power(void)
{
    uint8_t b[40] = {0};
    struct sated_scsi_mode_power p;
    from_hex("1a 26 40 0a 00 00 00 14 00 00 23 28 00 00 04 b0 00 00 17 70 00 00 46 50", b);
    b[39] = 0x64;
    CHECK_EQ(sated_scsi_decode_mode_power(b, sizeof b, &p), 0);
    CHECK(p.pm_bg_precedence == 1 && !p.standby_y && p.idle_c && !p.idle_b && p.idle_a && !p.standby_z);
    CHECK(p.idle_a_timer == 20 && p.standby_z_timer == 9000 && p.idle_b_timer == 1200);
    CHECK(p.idle_c_timer == 6000 && p.standby_y_timer == 18000);
    CHECK(p.ccf_idle == 1 && p.ccf_standby == 2 && p.ccf_stopped == 1 && !p.truncated);
    /* The page of SPC-3 had two timers and ends after them. */
    b[1] = 0x0a;
    CHECK_EQ(sated_scsi_decode_mode_power(b, sizeof b, &p), 0);
    CHECK(IS_KNOWN(scsi_mode_power, &p, standby_z_timer) && !IS_KNOWN(scsi_mode_power, &p, idle_b_timer));
}

/* sg_logs --in: page 18h with two phys, of which one is attached to an expander. */
static void test_log_phys(void)
{
    uint8_t b[116] = {0};
    struct sated_scsi_log_phys l;
    from_hex(
        "18 00 00 70 00 01 03 6c 06 00 07 02 00 00 00 30 2a 1b 02 0c 50 00 c5 00 30 11 cb 29 50 05 07 60 5e e2 93 40 "
        "07 00 00 00 00 00 00 00 00 00 00 01 00 00 00 02 00 00 00 03 00 00 00 04 00 00 00 00 "
        "00 01 00 30 00 00 00 0c 50 00 c5 00 30 11 cb 2a",
        b);
    CHECK_EQ(sated_scsi_decode_log_phys(b, sizeof b, &l), 0);
    CHECK(l.n_phys == 2 && !l.truncated);
    CHECK(l.phys[0].port == 1 && l.phys[0].phy == 0 && l.phys[0].attached_type == 2 && l.phys[0].rate == 11);
    CHECK(l.phys[0].reason == 1 && l.phys[0].attached_phy == 7);
    CHECK_EQ(l.phys[0].sas_address, UINT64_C(0x5000c5003011cb29));
    CHECK_EQ(l.phys[0].attached_sas_address, UINT64_C(0x500507605ee29340));
    CHECK(l.phys[0].invalid_dwords == 1 && l.phys[0].disparity_errors == 2 && l.phys[0].sync_losses == 3);
    CHECK(l.phys[0].reset_problems == 4);
    CHECK(l.phys[1].phy == 1 && l.phys[1].sas_address == UINT64_C(0x5000c5003011cb2a));
    CHECK(!IS_KNOWN(scsi_phy, &l.phys[1], attached_sas_address) && !l.phys[1].attached_phy);
    /* More phys are said than there are; another protocol than SAS is passed over. */
    b[11] = 3;
    CHECK_EQ(sated_scsi_decode_log_phys(b, sizeof b, &l), 0);
    CHECK(l.n_phys == 2 && l.truncated);
    b[8] = 0;
    CHECK_EQ(sated_scsi_decode_log_phys(b, sizeof b, &l), 0);
    CHECK_EQ(l.n_phys, 0u);
}

/* The subpages of one page: LOG SENSE with subpage FFh. */
static void test_subpages(void)
{
    uint8_t b[8];
    struct sated_scsi_log_supported s;
    size_t n = from_hex("55 ff 00 04 15 00 15 01", b);
    CHECK_EQ(sated_scsi_decode_log_supported(b, n, &s), 0);
    CHECK(s.n_pages == 2 && s.pages[1].page == 0x15 && s.pages[1].subpage == 1);
    b[1] = 0;
    CHECK_EQ(sated_scsi_decode_log_supported(b, n, &s), SATED_PARSE);
}

/* sg_logs --in: the registers that fixed format sense data cuts. READ NATIVE MAX ADDRESS EXT, then an abort. */
static void test_results_log(void)
{
    uint8_t b[40], sense[18];
    struct sated_ata_registers r;
    size_t n = from_hex("16 00 00 24 00 00 03 0e 09 0c 01 00 00 00 00 ff 00 ff 00 01 e0 50 "
                        "00 01 03 0e 09 0c 00 04 00 05 00 06 00 07 00 08 4a 51",
                        b);
    from_hex("70 00 01 00 50 e0 00 0a a1 ff ff 01 00 1d 00 00 00 00", sense);
    CHECK_EQ(sated_ata_decode_registers(sense, sizeof sense, &r), 0);
    CHECK(r.source == SATED_ATA_REGISTERS_FIXED && r.log_index == 1 && IS_KNOWN(ata_registers, &r, log_index));
    CHECK(!IS_KNOWN(ata_registers, &r, lba)); /* LBA UPPER NONZERO */
    CHECK_EQ(sated_ata_decode_results_log(b, n, r.log_index, &r), 0);
    CHECK(r.source == SATED_ATA_REGISTERS_LOG && r.extend && r.lba == 0x1ffff && r.status == 0x50 && r.device == 0xe0);
    CHECK_EQ(sated_ata_decode_results_log(b, n, 2, &r), 0);
    CHECK(!r.extend && r.error == 4 && r.count == 5 && r.lba == 0xa080706 && r.status == 0x51);
    CHECK_EQ(sated_ata_decode_results_log(b, n, 3, &r), 0);
    CHECK(r.source == SATED_ATA_REGISTERS_NONE && !IS_KNOWN(ata_registers, &r, status));
    CHECK_EQ(sated_ata_decode_results_log(b, n - 1, 2, &r), 0);
    CHECK_EQ(r.source, SATED_ATA_REGISTERS_NONE);
    CHECK_EQ(sated_ata_decode_results_log(b, n, 0, &r), SATED_PARSE);
    CHECK_EQ(sated_ata_decode_results_log(b, n, 16, &r), SATED_PARSE);
    b[0] = 0x15;
    CHECK_EQ(sated_ata_decode_results_log(b, n, 1, &r), SATED_PARSE);
}

static void sum(uint8_t *page)
{
    uint8_t total = 0;
    page[511] = 0;
    for (size_t i = 0; i < 511; i++)
        total = (uint8_t)(total + page[i]);
    page[511] = (uint8_t)-total;
}

/* smartmontools, struct ata_smart_errorlog: five places of 90 bytes from byte 2 on, the newest one in byte 1. */
static void test_error_log(void)
{
    uint8_t b[512] = {1, 2};
    struct sated_ata_error_log l;
    /* Command 5 of 5 at 48: READ DMA of LBA 0x7654321; the registers at 60: UNC at that address. */
    from_hex("00 12 08 21 43 65 e7 c8 10 20 30 40 00 40 07 21 43 65 e7 51", b + 2 + 90 + 48);
    from_hex("03 39 30", b + 2 + 90 + 87);
    from_hex("00 00 00 00 00 00 00 2f", b + 2 + 48); /* place 1: the one before, with an abort */
    from_hex("00 04 01 02 03 04 40 51", b + 2 + 60);
    from_hex("02 00", b + 452);
    sum(b);
    CHECK_EQ(sated_ata_decode_error_log(b, sizeof b, false, &l), 0);
    CHECK(l.version == 1 && l.checksum == SATED_ATA_CHECKSUM_OK && l.total == 2 && l.n_entries == 2);
    CHECK(l.entries[0].command == 0xc8 && l.entries[0].features == 0x12 && l.entries[0].error == 0x40);
    CHECK(l.entries[0].status == 0x51 && l.entries[0].count == 7 && l.entries[0].lba == 0x7654321);
    CHECK(l.entries[0].device == 0xe7 && l.entries[0].state == 3 && l.entries[0].hours == 12345);
    CHECK(l.entries[1].command == 0x2f && l.entries[1].error == 4 && l.entries[1].lba == 0x040302);
    b[1] = 6; /* no such place */
    CHECK_EQ(sated_ata_decode_error_log(b, sizeof b, false, &l), 0);
    CHECK(!IS_KNOWN(ata_error_log, &l, n_entries) && l.checksum == SATED_ATA_CHECKSUM_BAD);
    memset(b, 0, sizeof b);
    b[0] = 1; /* index 0: no error */
    CHECK_EQ(sated_ata_decode_error_log(b, sizeof b, false, &l), 0);
    CHECK(IS_KNOWN(ata_error_log, &l, n_entries) && !l.n_entries);
    /* struct ata_smart_exterrlog: four places of 124 bytes from byte 4 on, registers with their upper bytes. */
    from_hex("01 00 01 00", b);
    from_hex("00 34 12 78 56 21 87 43 a9 65 cb e0 60 00", b + 4 + 72);
    from_hex("00 10 02 01 21 87 43 a9 65 cb 40 41", b + 4 + 90);
    from_hex("04 0a 00", b + 4 + 90 + 31);
    from_hex("07 00", b + 500);
    sum(b);
    CHECK_EQ(sated_ata_decode_error_log(b, sizeof b, true, &l), 0);
    CHECK(l.total == 7 && l.n_entries == 1 && l.checksum == SATED_ATA_CHECKSUM_OK);
    CHECK(l.entries[0].command == 0x60 && l.entries[0].features == 0x1234 && l.entries[0].error == 0x10);
    CHECK(l.entries[0].count == 0x0102 && l.entries[0].device == 0x40 && l.entries[0].status == 0x41);
    CHECK_EQ(l.entries[0].lba, UINT64_C(0xcba987654321));
    CHECK(l.entries[0].state == 4 && l.entries[0].hours == 10);
}

/* ACS-4 9.26; smartmontools reads entry i at 16 x (i + 1) of the first page, and goes on with the next one. */
static void test_pending_defects(void)
{
    uint8_t b[1024] = {0};
    struct sated_ata_pending_defects p;
    b[0] = 33;
    for (uint32_t i = 0; i < 33; i++) {
        bytes_put_le32(b + 16 * (i + 1), i ? i : 0xffffffff);
        bytes_put_le64(b + 16 * (i + 1) + 8, UINT64_C(0x1000000000) + i);
    }
    CHECK_EQ(sated_ata_decode_pending_defects(b, sizeof b, &p), 0);
    CHECK(p.total == 33 && p.n_defects == 33 && !p.truncated);
    CHECK(p.defects[0].lba == UINT64_C(0x1000000000) && !IS_KNOWN(ata_pending_defect, &p.defects[0], hours));
    CHECK(p.defects[32].lba == UINT64_C(0x1000000020) && p.defects[32].hours == 32);
    CHECK_EQ(sated_ata_decode_pending_defects(b, 512, &p), 0);
    CHECK(p.n_defects == 31 && p.truncated);
    memset(b, 0xff, 4); /* more than any log holds */
    CHECK_EQ(sated_ata_decode_pending_defects(b, sizeof b, &p), 0);
    CHECK(p.total == 0xffffffff && p.n_defects == 63 && p.truncated);
}

/* As Linux reads log 10h (ata_eh_read_log_10h). */
static void test_ncq_error(void)
{
    uint8_t b[512] = {0};
    struct sated_ata_ncq_error e;
    from_hex("1f 00 41 40 21 43 65 e0 87 a9 cb 00 34 12 03 11 04", b);
    sum(b);
    CHECK_EQ(sated_ata_decode_ncq_error(b, sizeof b, &e), 0);
    CHECK(e.queued && e.tag == 31 && e.status == 0x41 && e.error == 0x40 && e.device == 0xe0 && e.count == 0x1234);
    CHECK_EQ(e.lba, UINT64_C(0xcba987654321));
    CHECK(e.key == 3 && e.asc == 0x11 && e.ascq == 4 && e.checksum == SATED_ATA_CHECKSUM_OK);
    b[14] = 0; /* no sense data */
    CHECK_EQ(sated_ata_decode_ncq_error(b, sizeof b, &e), 0);
    CHECK(!IS_KNOWN(ata_ncq_error, &e, asc) && !e.asc && e.checksum == SATED_ATA_CHECKSUM_BAD);
    b[0] = 0x80; /* NQ */
    CHECK_EQ(sated_ata_decode_ncq_error(b, sizeof b, &e), 0);
    CHECK(!e.queued && !IS_KNOWN(ata_ncq_error, &e, tag) && !IS_KNOWN(ata_ncq_error, &e, lba));
    CHECK_EQ(sated_ata_decode_ncq_error(b, 511, &e), SATED_PARSE);
}

/* ACS-4, Current Device Internal Status log; openSeaChest reads the sizes of the areas from bytes 8 to 13. */
static void test_internal_status(void)
{
    uint8_t b[512] = {0};
    struct sated_ata_internal_status s;
    from_hex("24 00 00 00 50 0c 00 00 10 00 00 01 00 10", b);
    b[382] = 1;
    b[383] = 9;
    b[384] = 'R';
    CHECK_EQ(sated_ata_decode_internal_status(b, sizeof b, &s), 0);
    CHECK(s.log == 0x24 && s.organization == 0x0c50 && s.area1_last == 16 && s.area2_last == 256);
    CHECK(s.area3_last == 4096 && s.saved == 1 && s.generation == 9 && s.reason[0] == 'R');
    b[0] = 0x30;
    CHECK_EQ(sated_ata_decode_internal_status(b, sizeof b, &s), SATED_PARSE);
}

/* ACS-2: DEVICE CONFIGURATION IDENTIFY and SET DMA, C4h and C5h, SET MAX SET PASSWORD and UNLOCK DMA, 05h and 06h; the
 * numbers are openSeaChest's, too. */
static void test_dma_forms(void)
{
    static const struct {
        int (*build)(struct sated_ata_command *c);
        uint8_t cdb[16];
    } forms[] = {
        {sated_ata_build_dco_identify, {0x85, 0x0c, 0x0e, 0, 0xc4, 0, 1, 0, 0, 0, 0, 0, 0, 0x40, 0xb1, 0}},
        {sated_ata_build_dco_set, {0x85, 0x0c, 0x26, 0, 0xc5, 0, 1, 0, 0, 0, 0, 0, 0, 0x40, 0xb1, 0}},
        {sated_ata_build_set_max_password, {0x85, 0x0c, 0x26, 0, 0x05, 0, 1, 0, 0, 0, 0, 0, 0, 0x40, 0xf9, 0}},
        {sated_ata_build_set_max_unlock, {0x85, 0x0c, 0x26, 0, 0x06, 0, 1, 0, 0, 0, 0, 0, 0, 0x40, 0xf9, 0}},
    };
    struct sated_ata_command c;
    struct sated_scsi_command s;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        CHECK(!forms[i].build(&c) && !sated_ata_dma_form(&c) && !sated_ata_build_cdb(&c, 16, &s));
        CHECK(!memcmp(s.cdb, forms[i].cdb, 16) && s.data_len == 512);
        CHECK_EQ(sated_ata_dma_form(&c), SATED_PARSE);
    }
    CHECK(!sated_ata_build_set_max_lock(&c) && sated_ata_dma_form(&c) == SATED_PARSE);
}

/* libnvme: nvme_id_independent_id_ns, nvme_nvm_id_ns, nvme_id_ctrl_nvm. */
static void test_nvme_identify(void)
{
    static uint8_t b[4096];
    struct sated_nvme_independent_ns i;
    struct sated_nvme_nvm_ns n;
    struct sated_nvme_nvm_ctrl c;
    from_hex("10 01 ff 80 04 03 02 01 01 00 06 05 08 07 01", b);
    CHECK_EQ(sated_nvme_decode_independent_ns(b, sizeof b, &i), 0);
    CHECK(i.nsfeat == 0x10 && i.nmic == 1 && i.rescap == 0xff && i.fpi == 0x80 && i.anagrpid == 0x01020304);
    CHECK(i.nsattr == 1 && i.nvmsetid == 0x0506 && i.endgid == 0x0708 && i.nstat == 1);
    CHECK_EQ(sated_nvme_decode_independent_ns(b, 14, &i), 0);
    CHECK(!IS_KNOWN(nvme_independent_ns, &i, nstat) && IS_KNOWN(nvme_independent_ns, &i, endgid));
    memset(b, 0, sizeof b);
    bytes_put_le64(b, UINT64_C(0xfffffffffffe));
    b[8] = 3;
    bytes_put_le32(b + 12, 48 | 2 << 7 | 1 << 9);
    bytes_put_le32(b + 12 + 4 * 63, 127 | 3 << 7 | 15 << 9);
    CHECK_EQ(sated_nvme_decode_nvm_ns(b, sizeof b, &n), 0);
    CHECK(n.lbstm == UINT64_C(0xfffffffffffe) && n.pic == 3 && n.n_elbaf == 64);
    CHECK(n.elbaf[0].sts == 48 && n.elbaf[0].pif == 2 && n.elbaf[0].qpif == 1);
    CHECK(n.elbaf[63].sts == 127 && n.elbaf[63].pif == 3 && n.elbaf[63].qpif == 15 && !n.elbaf[1].sts);
    CHECK_EQ(sated_nvme_decode_nvm_ns(b, 19, &n), 0);
    CHECK_EQ(n.n_elbaf, 1u);
    from_hex("05 06 07 40 00 00 10 00 01 00 00 00 02 00 00 00", b);
    CHECK_EQ(sated_nvme_decode_nvm_ctrl(b, sizeof b, &c), 0);
    CHECK(c.vsl == 5 && c.wzsl == 6 && c.wusl == 7 && c.dmrl == 64 && c.dmrsl == 0x100000);
    CHECK_EQ(c.dmsl, UINT64_C(0x200000001));
}

/* libnvme: nvme_id_ns_granularity_list, whose number is 0-based, and nvme_id_uuid_list. */
static void test_nvme_lists(void)
{
    static uint8_t b[4096];
    struct sated_nvme_granularity_list g;
    struct sated_nvme_uuid_list u;
    b[0] = 1;
    b[4] = 1;
    bytes_put_le64(b + 32, 1 << 20);
    bytes_put_le64(b + 40, 1 << 21);
    bytes_put_le64(b + 48, 1 << 22);
    CHECK_EQ(sated_nvme_decode_granularity_list(b, sizeof b, &g), 0);
    CHECK(g.attributes == 1 && g.n_granularity == 2 && !g.truncated);
    CHECK(g.granularity[0].nsze == 1 << 20 && g.granularity[0].ncap == 1 << 21 && g.granularity[1].nsze == 1 << 22);
    CHECK_EQ(sated_nvme_decode_granularity_list(b, 63, &g), 0);
    CHECK(g.n_granularity == 1 && g.truncated);
    b[4] = 16;
    CHECK_EQ(sated_nvme_decode_granularity_list(b, sizeof b, &g), SATED_PARSE);
    memset(b, 0, sizeof b);
    b[32] = 2;
    b[48] = 0xaa;
    b[64] = 1;
    b[95] = 0xbb;
    CHECK_EQ(sated_nvme_decode_uuid_list(b, sizeof b, &u), 0);
    CHECK(u.n_uuids == 2 && !u.truncated && u.uuids[0].association == 2 && u.uuids[0].uuid[0] == 0xaa);
    CHECK(u.uuids[1].association == 1 && u.uuids[1].uuid[15] == 0xbb);
    CHECK_EQ(sated_nvme_decode_uuid_list(b, 96, &u), 0);
    CHECK(u.n_uuids == 2 && u.truncated);
}

/* Bytes 32 to 36 came with revision 2.1 (libnvme: nvme_sanitize_log_page, enum nvme_sanitize_ssi). */
static void test_sanitize_2_1(void)
{
    uint8_t b[512] = {0};
    struct sated_nvme_sanitize_log s;
    CHECK_EQ(sated_nvme_decode_sanitize_log(b, sizeof b, &s), 0);
    CHECK(!IS_KNOWN(nvme_sanitize_log, &s, etpvds) && !IS_KNOWN(nvme_sanitize_log, &s, sans));
    bytes_put_le32(b + 32, 77);
    b[36] = 0x35;
    CHECK_EQ(sated_nvme_decode_sanitize_log(b, sizeof b, &s), 0);
    CHECK(s.etpvds == 77 && s.sans == 5 && s.fails == 3);
}

/* What is built is what is decoded, and libnvme's NVME_APST_ENTRY_* place ITPS at 7:3 and ITPT at 31:8. */
static void test_apst(void)
{
    static const struct sated_nvme_transition in[] = {{100, 3}, {0xffffff, 31}};
    uint8_t b[256];
    struct sated_nvme_apst a;
    CHECK_EQ(sated_nvme_build_apst_table(b, sizeof b, in, 2), 256);
    CHECK_EQ(bytes_le64(b), UINT64_C(100) << 8 | 3 << 3);
    CHECK_EQ(sated_nvme_decode_apst(b, sizeof b, &a), 0);
    CHECK(a.n_transitions == 32 && a.transitions[0].idle_ms == 100 && a.transitions[0].state == 3);
    CHECK(a.transitions[1].idle_ms == 0xffffff && a.transitions[1].state == 31 && !a.transitions[2].idle_ms);
}

int main(void)
{
    test_extended();
    test_mode_policy();
    test_ports();
    test_power_zoned_extension();
    test_mode_power();
    test_log_phys();
    test_subpages();
    test_results_log();
    test_error_log();
    test_pending_defects();
    test_ncq_error();
    test_internal_status();
    test_dma_forms();
    test_nvme_identify();
    test_nvme_lists();
    test_sanitize_2_1();
    test_apst();
    return check_done();
}
