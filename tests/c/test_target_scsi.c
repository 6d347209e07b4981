/* SPDX-License-Identifier: MIT */
/* The simulated SAS drive: what it is, what it reads and writes, what it refuses, by SPC-5 and SBC-4. */
#define _GNU_SOURCE 1
#include "scsi_drive.h"

/* ---- What it is ---- */

static void check_inquiry(void)
{
    struct sated_identity id;
    struct sated_scsi_inquiry q;
    struct sated_scsi_vpd_supported list;
    struct sated_scsi_vpd_serial serial;
    CHECK_EQ(sated_drive_get_identity(drive, &id), 0);
    CHECK_EQ(ASK(page, inquiry, -1, 96), 0);
    CHECK_EQ(sated_scsi_decode_inquiry(page, reply.data_len, &q), 0);
    CHECK(q.peripheral_device_type == 0 && q.version == 7 && q.cmdque && q.multip && !q.protect && !q.truncated);
    CHECK(!strcmp(q.vendor, id.vendor) && !strcmp(q.product, id.model) && !strcmp(q.revision, id.firmware));
    CHECK_EQ(q.n_versions, 4);
    /* An allocation length cuts the answer, not its own length. */
    CHECK_EQ(ASK(page, inquiry, -1, 8), 0);
    CHECK(reply.data_len == 8 && page[4] == 91);
    CHECK_EQ(ASK(page, inquiry, 0, 252), 0);
    CHECK_EQ(sated_scsi_decode_vpd_supported(page, reply.data_len, &list), 0);
    CHECK_EQ(list.n_pages, 10);
    for (uint32_t i = 0, next = 0; i < 256; i++) {
        bool listed = next < list.n_pages && list.pages[next] == i;
        CHECK_EQ(ASK(page, inquiry, (int)i, 512), listed ? 0 : 0x52400);
        if (listed)
            CHECK(page[1] == i && reply.data_len == 4u + (uint32_t)(page[2] << 8 | page[3]));
        else
            CHECK(sense.field_in_cdb && sense.field_pointer == 2);
        next += listed;
    }
    CHECK_EQ(ASK(page, inquiry, 0x80, 252), 0);
    CHECK_EQ(sated_scsi_decode_vpd_serial(page, reply.data_len, &serial), 0);
    CHECK(!strcmp(serial.serial, id.serial));
}

static void check_pages(void)
{
    static struct sated_scsi_vpd_device_id device;
    struct sated_scsi_vpd_limits limits;
    struct sated_scsi_vpd_characteristics characteristics;
    struct sated_scsi_vpd_provisioning provisioning;
    CHECK_EQ(ASK(page, inquiry, 0x83, 252), 0);
    CHECK_EQ(sated_scsi_decode_vpd_device_id(page, reply.data_len, &device), 0);
    CHECK_EQ(device.n_designators, 5);
    /* Logical unit, port, relative port, device twice; NAA 5 throughout (SPC-5, device identification). */
    CHECK(device.designators[0].type == SATED_DESIGNATOR_NAA && device.designators[0].association == 0);
    CHECK(device.designators[1].type == SATED_DESIGNATOR_NAA && device.designators[1].association == 1);
    CHECK(device.designators[2].type == SATED_DESIGNATOR_PORT && device.designators[2].designator[3] == 1);
    CHECK(device.designators[3].type == SATED_DESIGNATOR_NAA && device.designators[3].association == 2);
    CHECK(device.designators[4].type == SATED_DESIGNATOR_NAME);
    CHECK(device.designators[0].designator[0] >> 4 == 5 && device.designators[1].protocol == 6);
    CHECK(!strncmp(device.designators[4].text, "naa.5", 5));
    CHECK_EQ(ASK(page, inquiry, 0xb0, 252), 0);
    CHECK_EQ(sated_scsi_decode_vpd_limits(page, reply.data_len, &limits), 0);
    CHECK_EQ(limits.maximum_transfer_length, 65536);
    CHECK_EQ(limits.maximum_unmap_block_descriptor_count, 256);
    CHECK_EQ(limits.optimal_unmap_granularity, 8192 / 512);
    CHECK(limits.ugavalid && limits.unmap_granularity_alignment == 0);
    CHECK_EQ(ASK(page, inquiry, 0xb1, 252), 0);
    CHECK_EQ(sated_scsi_decode_vpd_characteristics(page, reply.data_len, &characteristics), 0);
    CHECK(characteristics.medium_rotation_rate == 1 && characteristics.nominal_form_factor == 3);
    CHECK_EQ(ASK(page, inquiry, 0xb2, 252), 0);
    CHECK_EQ(sated_scsi_decode_vpd_provisioning(page, reply.data_len, &provisioning), 0);
    CHECK(provisioning.lbpu && provisioning.lbpws && provisioning.lbpws10 && provisioning.lbprz == 1);
    CHECK_EQ(provisioning.provisioning_type, 2);
}

static void check_capacity(void)
{
    struct sated_identity id;
    struct sated_scsi_capacity c10, c16;
    static struct sated_scsi_luns luns;
    CHECK_EQ(sated_drive_get_identity(drive, &id), 0);
    CHECK_EQ(ASK(page, read_capacity_10), 0);
    CHECK_EQ(sated_scsi_decode_capacity_10(page, reply.data_len, &c10), 0);
    CHECK_EQ(ASK(page, read_capacity_16, 32), 0);
    CHECK_EQ(sated_scsi_decode_capacity_16(page, reply.data_len, &c16), 0);
    /* IDEMA LBA1-03: 800 GB are 1,562,824,368 blocks of 512 bytes; of those 1/64, in whole units of 8 KiB. */
    CHECK_EQ(c16.blocks, 1562824368 / 16 / 64 * 16);
    CHECK(c10.last_lba == c16.last_lba && c10.block_bytes == 512 && c16.bytes == id.capacity_bytes);
    CHECK(c16.lbpme && c16.lbprz && c16.physical_block_bytes == 8192 && !c16.prot_en);
    CHECK_EQ(ASK(page, report_luns, 0, 64), 0);
    CHECK_EQ(sated_scsi_decode_luns(page, reply.data_len, &luns), 0);
    CHECK(luns.n_luns == 1 && luns.luns[0] == 0);
    CHECK_EQ(ask_bytes("5e 00 00 00 00 00 00 00 08 00", SATED_DATA_IN, 8), 0);
    CHECK_EQ(page[7], 0); /* no keys */
}

/* ---- Reading and writing ---- */

static void pattern(uint8_t *data, uint32_t n, uint32_t seed)
{
    for (uint32_t i = 0; i < n; i++)
        data[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
}

/* Each length of CDB reads what each has written. */
static void check_transfers(void)
{
    static uint8_t wrote[64 * 512];
    static const char *const writes[] = {"0a 00 10 00 10 00",
                                         "2a 00 00 00 10 00 00 00 10 00",
                                         "aa 00 00 00 10 00 00 00 00 10 00 00",
                                         "8a 00 00 00 00 00 00 00 10 00 00 00 00 10 00 00",
                                         "2e 02 00 00 10 00 00 00 10 00",
                                         "ae 00 00 00 10 00 00 00 00 10 00 00",
                                         "8e 02 00 00 00 00 00 00 10 00 00 00 00 10 00 00"};
    static const char *const reads[] = {"08 00 10 00 10 00", "28 00 00 00 10 00 00 00 10 00",
                                        "a8 00 00 00 10 00 00 00 00 10 00 00",
                                        "88 00 00 00 00 00 00 00 10 00 00 00 00 10 00 00"};
    for (uint32_t w = 0; w < sizeof writes / sizeof *writes; w++) {
        pattern(wrote, 16 * 512, w);
        memcpy(page, wrote, 16 * 512);
        CHECK_EQ(ask_bytes(writes[w], SATED_DATA_OUT, 16 * 512), 0);
        for (uint32_t r = 0; r < sizeof reads / sizeof *reads; r++) {
            memset(page, 0, 16 * 512);
            CHECK_EQ(ask_bytes(reads[r], SATED_DATA_IN, 16 * 512), 0);
            CHECK(!memcmp(page, wrote, 16 * 512));
        }
    }
    /* READ(6) and WRITE(6): 0 blocks are 256 (SBC-4 5.15). */
    pattern(page, 256 * 64, 9);
    CHECK_EQ(ask_bytes("0a 00 10 00 00 00", SATED_DATA_OUT, 64 * 512), 0xb4b00); /* half of the data is missing */
    /* A host that takes less than it asked for. */
    CHECK_EQ(ask_bytes("28 00 00 00 10 00 00 00 10 00", SATED_DATA_IN, 700), 0);
    CHECK(reply.data_len == 700 && !memcmp(page, wrote, 700));
}

static void check_verify(void)
{
    pattern(page, 512, 1);
    page[100] = 1;
    CHECK_EQ(ask_bytes("2a 00 00 00 20 00 00 00 01 00", SATED_DATA_OUT, 512), 0);
    CHECK_EQ(ASK(NULL, verify_10, 0x2000, 1, 0, false), 0);
    CHECK_EQ(ASK(NULL, verify_16, 0, 100000, 0, false), 0);
    CHECK_EQ(ask_bytes("2f 02 00 00 20 00 00 00 01 00", SATED_DATA_OUT, 512), 0);
    page[100] = 2;
    CHECK_EQ(ask_bytes("2f 02 00 00 20 00 00 00 01 00", SATED_DATA_OUT, 512), 0xe1d00);
    CHECK_EQ(sense.information, 100);
    CHECK_EQ(ask_bytes("2f 04 00 00 20 00 00 00 01 00", SATED_DATA_NONE, 0), 0x52400);
    /* Of many blocks with the one that is sent. */
    memset(page, 0x11, 16 * 512);
    CHECK_EQ(ask_bytes("2a 00 00 00 20 00 00 00 10 00", SATED_DATA_OUT, 16 * 512), 0);
    CHECK_EQ(ask_bytes("8f 06 00 00 00 00 00 00 20 00 00 00 00 10 00 00", SATED_DATA_OUT, 512), 0);
    CHECK_EQ(ask_bytes("8f 06 00 00 00 00 00 00 20 00 00 00 00 11 00 00", SATED_DATA_OUT, 512), 0xe1d00);
    CHECK_EQ(sense.information, 16 * 512);
    /* COMPARE AND WRITE: what was there, then what comes there. */
    memset(page, 0x11, 512);
    memset(page + 512, 0x22, 512);
    CHECK_EQ(ask_bytes("89 00 00 00 00 00 00 00 20 00 00 00 00 01 00 00", SATED_DATA_OUT, 1024), 0);
    CHECK_EQ(read_block(0x2000), 0x22);
    memset(page, 0x11, 1024);
    CHECK_EQ(ask_bytes("89 00 00 00 00 00 00 00 20 00 00 00 00 01 00 00", SATED_DATA_OUT, 1024), 0xe1d00);
    CHECK_EQ(read_block(0x2000), 0x22);
    CHECK_EQ(ASK(NULL, synchronize_cache_10, 0, 0, false), 0);
    CHECK_EQ(ASK(NULL, synchronize_cache_16, 0, 0, true), 0);
}

static void check_range(void)
{
    uint32_t block;
    uint64_t blocks = capacity(&block);
    CHECK_EQ(read_block(blocks - 1), 0);
    CHECK_EQ(read_block(blocks), 0x52100);
    CHECK_EQ(sense.information, blocks);
    CHECK_EQ(ASK(page, read_16, blocks - 4, 8, 512, 0, false, false), 0x52100);
    CHECK_EQ(sense.information, blocks);
    CHECK_EQ(ASK(page, read_16, UINT64_MAX, 8, 512, 0, false, false), 0x52100);
    CHECK_EQ(ASK(NULL, synchronize_cache_16, blocks + 1, 0, false), 0x52100);
    CHECK_EQ(ASK(NULL, verify_16, blocks - 1, 2, 0, false), 0x52100);
    CHECK_EQ(ASK(page, get_lba_status, blocks, 0, 24), 0x52100);
    /* More than MAXIMUM TRANSFER LENGTH. */
    CHECK_EQ(ask_bytes("28 00 00 00 00 00 00 ff ff 00", SATED_DATA_IN, 512), 0);
    CHECK_EQ(ask_bytes("a8 00 00 00 00 00 00 01 00 01 00 00", SATED_DATA_IN, 512), 0x52400);
    CHECK_EQ(sense.field_pointer, 6);
}

/* ---- Provisioning: the map of the flash is the witness ---- */

static void check_unmap(void)
{
    static struct sated_scsi_command c;
    struct sated_scsi_range ranges[] = {{0x1000, 16, 0}, {0x1020, 16, 0}};
    memset(page, 0x33, 48 * 512);
    CHECK_EQ(ASK(page, write_16, 0x1000, 48, 512, 0, false, false), 0);
    uint64_t full = mapped();
    int n = sated_scsi_build_unmap_list(page, sizeof page, ranges, 2);
    CHECK_EQ(sated_scsi_build_unmap(&c, false, 0, (uint32_t)n), 0);
    CHECK_EQ(ask(&c, page), 0);
    CHECK_EQ(mapped(), full - 2);
    CHECK(read_block(0x1000) == 0 && read_block(0x1010) == 0x33 && read_block(0x102f) == 0);
    /* GET LBA STATUS: deallocated, mapped, deallocated. */
    CHECK_EQ(ASK(page, get_lba_status, 0x1000, 0, 8 + 3 * 16), 0);
    CHECK_EQ(page[8 + 12], 1);
    CHECK_EQ(page[8 + 16 + 12], 0);
    CHECK(page[8 + 16 + 11] == 16 && page[8 + 32 + 12] == 1 && reply.data_len == 56);
    /* One range too far: none is deallocated. */
    ranges[0] = (struct sated_scsi_range){0x1010, 16, 0};
    ranges[1].lba = (uint64_t)1 << 60;
    n = sated_scsi_build_unmap_list(page, sizeof page, ranges, 2);
    CHECK_EQ(ask(&c, page), 0x52100);
    CHECK_EQ(read_block(0x1010), 0x33);
    /* Part of a unit reads as zeros, and stays mapped. */
    ranges[0].blocks = 1;
    n = sated_scsi_build_unmap_list(page, sizeof page, ranges, 1);
    CHECK_EQ(sated_scsi_build_unmap(&c, false, 0, (uint32_t)n), 0);
    CHECK_EQ(ask(&c, page), 0);
    CHECK(mapped() == full - 2 && read_block(0x1010) == 0 && read_block(0x1011) == 0x33);
    CHECK_EQ(sated_scsi_build_unmap(&c, true, 0, (uint32_t)n), 0);
    CHECK_EQ(ask(&c, page), 0x52400); /* ANC_SUP is 0 */
    CHECK(sense.field_pointer == 1 && sense.bit_pointer == 0);
}

static void check_write_same(void)
{
    uint64_t before = mapped();
    memset(page, 0x44, 512);
    CHECK_EQ(ASK(page, write_same_16, 0x3000, 160, 512, 0, false, false, false, 0), 0);
    CHECK(read_block(0x3000) == 0x44 && read_block(0x309f) == 0x44 && read_block(0x30a0) == 0);
    CHECK_EQ(mapped(), before + 10);
    /* UNMAP with other data than zeros writes them. */
    memset(page, 0x55, 512);
    CHECK_EQ(ASK(page, write_same_10, 0x3000, 160, 512, 0, true, false, 0), 0);
    CHECK(read_block(0x3010) == 0x55 && mapped() == before + 10);
    memset(page, 0, 512);
    CHECK_EQ(ASK(page, write_same_10, 0x3000, 16, 512, 0, true, false, 0), 0);
    CHECK(read_block(0x3000) == 0 && mapped() == before + 9);
    CHECK_EQ(ASK(NULL, write_same_16, 0x3010, 16, 0, 0, true, false, true, 0), 0); /* NDOB */
    CHECK_EQ(mapped(), before + 8);
    CHECK_EQ(ASK(NULL, write_same_16, 0x3020, 16, 0, 0, false, false, true, 0), 0);
    CHECK(read_block(0x3020) == 0 && mapped() == before + 8);
    CHECK_EQ(ASK(NULL, write_same_16, 0, 0, 0, 0, true, false, true, 0), 0x52400); /* MAXIMUM WRITE SAME LENGTH */
    CHECK_EQ(sense.field_pointer, 10);
}

/* ---- Refusals ---- */

static void check_fields(void)
{
    CHECK_EQ(ask_bytes("85 08 0e 00 00 00 01 00 00 00 00 00 00 00 ec 00", SATED_DATA_IN, 512), 0x52000);
    CHECK_EQ(ask_bytes("a1 08 0e 00 01 00 00 00 00 ec 00 00", SATED_DATA_IN, 512), 0x52000);
    CHECK_EQ(ask_bytes("5f 00 00 00 00 00 00 00 18 00", SATED_DATA_OUT, 24), 0x52000);
    CHECK_EQ(ask_bytes("9e 11 00 00 00 00 00 00 00 00 00 00 00 20 00 00", SATED_DATA_IN, 32), 0x52400);
    CHECK(sense.field_in_cdb && sense.field_pointer == 1 && sense.bit_pointer == 4);
    CHECK_EQ(ask_bytes("00 00 00 00 00 04", SATED_DATA_NONE, 0), 0x52400); /* NACA */
    CHECK(sense.field_pointer == 5 && sense.bit_pointer == 2);
    CHECK_EQ(ask_bytes("28 20 00 00 00 00 00 00 01 00", SATED_DATA_IN, 512), 0x52400); /* RDPROTECT */
    CHECK(sense.field_pointer == 1 && sense.bit_pointer == 5);
    CHECK_EQ(ask_bytes("12 00 80 00 ff 00", SATED_DATA_IN, 255), 0x52400); /* a page without EVPD */
    CHECK_EQ(ask_bytes("a0 00 11 00 00 00 00 00 00 10 00 00", SATED_DATA_IN, 16), 0x52400);
}

static void check_opcodes(void)
{
    static struct sated_scsi_opcodes all;
    struct sated_scsi_one_opcode one;
    struct sated_scsi_command c;
    uint32_t timeout_ms;
    CHECK_EQ(ASK(page, report_opcodes, 0, 0, 0, true, 8192), 0);
    CHECK_EQ(sated_scsi_decode_opcodes(page, reply.data_len, &all), 0);
    CHECK(all.n_commands > 45 && !all.truncated);
    for (uint32_t i = 0; i < all.n_commands; i++) {
        const struct sated_scsi_opcode *o = &all.commands[i];
        bool action = page[4 + 20 * i + 5] & 1;
        CHECK(o->recommended_timeout_s >= o->nominal_timeout_s && o->nominal_timeout_s);
        uint8_t held[65536];
        memcpy(held, page, sizeof held);
        CHECK_EQ(ASK(page, report_opcodes, action ? 2 : 1, o->opcode, o->service_action, true, 64), 0);
        CHECK_EQ(sated_scsi_decode_one_opcode(page, reply.data_len, &one), 0);
        CHECK(one.support == 3 && one.n_cdb_usage == o->cdb_length && one.cdb_usage[0] == o->opcode);
        CHECK_EQ(one.recommended_timeout_s, o->recommended_timeout_s);
        /* The other way of asking is refused. */
        CHECK_EQ(ASK(page, report_opcodes, action ? 1 : 2, o->opcode, 0, false, 64), 0x52400);
        memcpy(page, held, sizeof held);
    }
    CHECK_EQ(ASK(page, report_opcodes, 1, 0x85, 0, false, 64), 0);
    CHECK_EQ(sated_scsi_decode_one_opcode(page, reply.data_len, &one), 0);
    CHECK_EQ(one.support, 1);
    CHECK_EQ(ASK(page, report_opcodes, 3, 0x9e, 0x11, false, 64), 0);
    CHECK_EQ(page[1] & 7, 1);
    CHECK_EQ(ASK(page, report_opcodes, 3, 0x9e, 0x10, false, 64), 0);
    CHECK_EQ(page[1] & 7, 3);
    /* It says how long a sanitize takes, by the drive's own clock. */
    CHECK_EQ(sated_scsi_build_sanitize(&c, SATED_SANITIZE_BLOCK_ERASE, false, false, false, 0), 0);
    CHECK_EQ(sated_scsi_timeout_get(drive, &c, &timeout_ms), 0);
    int64_t begin = sated_drive_now_ns(drive);
    CHECK_EQ(ask(&c, NULL), 0);
    int64_t took = (sated_drive_now_ns(drive) - begin) / 64;
    CHECK(took > SECOND / 10 && took < timeout_ms * 1000000LL);
    CHECK_EQ(ask_bytes("a3 0d 80 00 00 00 00 00 00 10 00 00", SATED_DATA_IN, 16), 0);
    CHECK(reply.data_len == 16 && page[0] == 0xdc);
}

int main(void)
{
    drive = open_drive(MODEL);
    check_inquiry();
    check_pages();
    check_capacity();
    check_transfers();
    check_verify();
    check_range();
    check_unmap();
    check_write_same();
    check_fields();
    check_opcodes();
    sated_drive_close(drive);
    return check_done();
}
