/* SPDX-License-Identifier: MIT */
/* The states of the simulated SAS drive: mode pages, another size, FORMAT UNIT, SANITIZE. By SPC-5 and SBC-4; what lies
 * on its flash is asked of the simulator. */
#define _GNU_SOURCE 1
#include "scsi_drive.h"

/* ---- Mode pages ---- */

static struct sated_scsi_mode mode;

/* One page of MODE SENSE(10). Return: where it begins in `page`, NULL if there is none. */
static uint8_t *mode_page(uint32_t pc, uint32_t code, uint32_t subpage)
{
    int rc = ASK(page, mode_sense_10, pc, code, subpage, false, false, 1024);
    if (rc || sated_scsi_decode_mode(page, reply.data_len, true, &mode) || mode.truncated)
        return NULL;
    return page + mode.pages[0].offset;
}

/* MODE SELECT(10) of the page that MODE SENSE answered last, with one byte of it changed. */
static int set_byte(uint32_t code, uint32_t at, uint8_t value, bool sp)
{
    struct sated_scsi_command c;
    uint8_t *p = mode_page(0, code, 0), list[64] = {0};
    uint32_t n = mode.pages[0].length;
    memcpy(list + 8, p, n);
    list[8] &= 0x7f;
    list[8 + at] = value;
    CHECK_EQ(sated_scsi_build_mode_select_10(&c, sp, 8 + n), 0);
    return ask(&c, list);
}

static void check_mode_sense(void)
{
    static const uint8_t codes[][2] = {{0x01, 0}, {0x02, 0}, {0x07, 0}, {0x08, 0}, {0x0a, 0}, {0x0a, 1},
                                       {0x18, 0}, {0x19, 0}, {0x19, 1}, {0x1a, 0}, {0x1c, 0}, {0x1c, 1}};
    struct sated_scsi_mode_caching caching;
    struct sated_scsi_mode_control control;
    uint32_t block;
    uint64_t blocks = capacity(&block);
    CHECK_EQ(ASK(page, mode_sense_10, 0, 0x3f, 0xff, false, true, 1024), 0);
    CHECK_EQ(sated_scsi_decode_mode(page, reply.data_len, true, &mode), 0);
    CHECK(!mode.truncated && mode.longlba && mode.dpofua && !mode.wp && mode.n_blocks == 1);
    CHECK(mode.blocks[0].number_of_blocks == blocks && mode.blocks[0].block_bytes == block);
    CHECK_EQ(mode.n_pages, sizeof codes / sizeof *codes);
    for (uint32_t i = 0; i < mode.n_pages; i++)
        CHECK(mode.pages[i].page == codes[i][0] && mode.pages[i].subpage == codes[i][1] && mode.pages[i].ps);
    CHECK_EQ(ASK(page, mode_sense_6, 0, 0x3f, 0, false, 255), 0);
    CHECK_EQ(sated_scsi_decode_mode(page, reply.data_len, false, &mode), 0);
    CHECK(!mode.truncated && mode.n_pages == 9 && mode.blocks[0].number_of_blocks == blocks);
    CHECK_EQ(ASK(page, mode_sense_6, 0, 0x3f, 0xff, false, 255), 0x52400); /* too much for the length of (6) */
    for (uint32_t code = 0; code < 0x3f; code++) {
        bool known = false;
        for (uint32_t i = 0; i < sizeof codes / sizeof *codes; i++)
            known |= codes[i][0] == code;
        CHECK_EQ(ASK(page, mode_sense_10, 0, code, 0, true, false, 1024), known ? 0 : 0x52400);
    }
    CHECK_EQ(sated_scsi_decode_mode_caching(mode_page(0, 8, 0), 20, &caching), 0);
    CHECK(caching.wce && !caching.rcd && caching.ps && !caching.truncated);
    CHECK_EQ(sated_scsi_decode_mode_control(mode_page(0, 0xa, 0), 12, &control), 0);
    CHECK(!control.d_sense && !control.swp && control.extended_self_test_completion_time == 600);
}

/* WCE by the library's own list, as `sated` will set it; not saved, it is gone after a power cycle. */
static void check_write_cache(void)
{
    struct sated_scsi_command c;
    uint8_t list[64];
    for (int sp = 0; sp < 2; sp++) {
        for (int ten = 0; ten < 2; ten++) {
            bool wce = ten;
            CHECK_EQ(ten ? ASK(page, mode_sense_10, 0, 8, 0, false, false, 255)
                         : ASK(page, mode_sense_6, 0, 8, 0, false, 255),
                     0);
            int n = sated_scsi_build_wce_list(list, sizeof list, page, reply.data_len, ten, wce);
            CHECK(n > 0);
            CHECK_EQ(ten ? sated_scsi_build_mode_select_10(&c, sp, (uint32_t)n)
                         : sated_scsi_build_mode_select_6(&c, sp, (uint32_t)n),
                     0);
            CHECK_EQ(ask(&c, list), 0);
            CHECK_EQ(ready(), 0); /* MODE PARAMETERS CHANGED is for other hosts */
            CHECK_EQ(mode_page(0, 8, 0)[2] >> 2 & 1, wce);
            CHECK_EQ(mode_page(3, 8, 0)[2] >> 2 & 1, !sp || wce);
            CHECK_EQ(mode_page(2, 8, 0)[2] >> 2 & 1, 1);
        }
        CHECK_EQ(set_byte(8, 2, 0x10, sp), 0);
        power_cycle();
        CHECK_EQ(mode_page(0, 8, 0)[2], sp ? 0x10 : 0x14);
    }
    CHECK_EQ(mode_page(1, 8, 0)[2], 0x15);
    CHECK_EQ(set_byte(8, 2, 0x14, true), 0);
}

static void check_mode_select(void)
{
    struct sated_scsi_command c;
    /* A bit that cannot be set, and where it stands in the list. */
    CHECK_EQ(set_byte(8, 2, 0x16, false), 0x52600);
    CHECK(!sense.field_in_cdb && sense.field_pointer == 8 + 2 && sense.bit_pointer == 1);
    CHECK_EQ(mode_page(0, 8, 0)[2], 0x14);
    CHECK_EQ(set_byte(0x1c, 3, 0x01, false), 0x52600); /* MRIE 1 */
    CHECK_EQ(set_byte(0x1c, 2, 0x0c, false), 0x52600); /* TEST with DEXCPT */
    CHECK_EQ(set_byte(0x1a, 3, 0x02, false), 0x52600);
    CHECK_EQ(sated_scsi_build_mode_select_10(&c, false, 0), 0);
    CHECK_EQ(ask(&c, NULL), 0);
    CHECK_EQ(sated_scsi_build_mode_select_10(&c, false, 12), 0);
    memset(page, 0, 12);
    page[8] = 0x08;
    page[9] = 0x12; /* a page that is cut */
    CHECK_EQ(ask(&c, page), 0x51a00);
    page[9] = 0x02; /* and one of a wrong length */
    CHECK_EQ(ask(&c, page), 0x52600);
    CHECK_EQ(sense.field_pointer, 9);
    /* D_SENSE chooses the format of sense data, until the power cycle. */
    CHECK_EQ(set_byte(0x0a, 2, 0x04, false), 0);
    CHECK_EQ(read_block(UINT64_MAX - 1), 0x52100);
    CHECK(sense.descriptor_format && reply.sense[0] == 0x72);
    CHECK_EQ(ask_bytes("12 00 80 00 ff 00", SATED_DATA_IN, 255), 0x52400);
    CHECK(sense.descriptor_format && sense.field_pointer == 2);
    fault(SATED_FAULT_FIXED_SENSE, 0, -1, 0);
    CHECK_EQ(read_block(UINT64_MAX - 1), 0x52100);
    CHECK(!sense.descriptor_format);
    CHECK_EQ(sated_sim_clear_faults(drive), 0);
    power_cycle();
    CHECK_EQ(read_block(UINT64_MAX - 1), 0x52100);
    CHECK(!sense.descriptor_format && reply.sense[0] == 0x70); /* an LBA of more than 32 bits does not fit there */
    /* SWP */
    CHECK_EQ(set_byte(0x0a, 4, 0x08, false), 0);
    CHECK_EQ(write_block(0, 1), 0x72702);
    CHECK_EQ(ask_bytes("48 02 00 00 00 00 00 00 00 00", SATED_DATA_NONE, 0), 0x72702);
    CHECK(mode_page(0, 8, 0) && mode.wp);
    CHECK_EQ(set_byte(0x0a, 4, 0, false), 0);
    CHECK_EQ(write_block(0, 1), 0);
    /* TEST of the informational exceptions: on request, in page 2Fh, and as a unit attention with MRIE 2. */
    CHECK_EQ(set_byte(0x1c, 2, 0x14, false), 0);
    CHECK_EQ(polled(false), 0x05dff);
    CHECK_EQ(ASK(page, log_sense, 1, 0x2f, 0, 0, 64), 0);
    CHECK(page[8] == 0x5d && page[9] == 0xff);
    CHECK_EQ(set_byte(0x1c, 2, 0x10, false), 0);
    CHECK_EQ(set_byte(0x1c, 3, 0x02, false), 0);
    CHECK_EQ(set_byte(0x1c, 2, 0x14, false), 0);
    CHECK_EQ(ready(), 0x65dff);
    CHECK_EQ(ready(), 0);
    power_cycle();
}

/* ---- Another size ---- */

static void check_resize(void)
{
    struct sated_identity id;
    uint32_t block;
    uint64_t all = capacity(&block), half = all / 2;
    CHECK_EQ(write_block(half - 1, 7), 0);
    CHECK_EQ(write_block(all - 1, 8), 0);
    CHECK_EQ(resize(half, 512, true), 0);
    CHECK_EQ(ready(), 0);
    CHECK_EQ(capacity(&block), half);
    CHECK_EQ(sated_drive_get_identity(drive, &id), 0);
    CHECK_EQ(id.capacity_bytes, half * 512);
    CHECK_EQ(read_block(half - 1), 7);
    CHECK_EQ(read_block(half), 0x52100);
    CHECK_EQ(read_block(all - 1), 0x52100);
    power_cycle(); /* it is kept */
    CHECK_EQ(capacity(&block), half);
    CHECK_EQ(resize(0, 512, false), 0); /* 0: as it is */
    CHECK_EQ(capacity(&block), half);
    CHECK_EQ(resize(all + 1, 512, true), 0x52600);
    CHECK_EQ(sense.field_pointer, 8);
    CHECK_EQ(resize(UINT64_MAX, 520, true), 0x52600);
    CHECK_EQ(sense.field_pointer, 20);
    CHECK_EQ(resize(UINT64_MAX, 512, false), 0);
    CHECK_EQ(capacity(&block), all);
    CHECK(read_block(half - 1) == 7 && read_block(all - 1) == 8);
}

/* With another block length the medium cannot be read until it is formatted, and then has as many blocks as there are. */
static void check_block_length(void)
{
    struct sated_identity id;
    uint32_t block;
    uint64_t all = capacity(&block);
    CHECK_EQ(resize(0, 4096, true), 0);
    CHECK_EQ(ready(), 0x33100);
    CHECK_EQ(polled(false), 0x33100);
    CHECK_EQ(read_block(0), 0x33100);
    CHECK(mode_page(0, 1, 0) && mode.blocks[0].block_bytes == 4096 && mode.blocks[0].number_of_blocks == all / 8);
    CHECK_EQ(resize(0, 512, true), 0); /* back */
    CHECK_EQ(read_block(all - 1), 8);
    CHECK_EQ(resize(1000000, 4096, true), 0);
    CHECK_EQ(format(0, 0, false), 0);
    CHECK_EQ(ready(), 0x62a09);
    CHECK_EQ(ready(), 0);
    CHECK_EQ(capacity(&block), 1000000);
    CHECK_EQ(block, 4096);
    CHECK_EQ(mapped(), 0);
    CHECK_EQ(sated_drive_get_identity(drive, &id), 0);
    CHECK(id.logical_block_bytes == 4096 && id.capacity_bytes == 4096000000 && id.physical_block_bytes == 8192);
    CHECK_EQ(write_block(999999, 9), 0);
    CHECK_EQ(read_block(999999), 9);
    CHECK_EQ(read_block(1000000), 0x52100);
    CHECK_EQ(resize(0, 512, false), 0);
    CHECK_EQ(format(1, SATED_FORMAT_FOV | SATED_FORMAT_DCRT, true), 0);
    CHECK_EQ(ready(), 0x62a09);
    CHECK_EQ(capacity(&block), all);
}

/* ---- FORMAT UNIT ---- */

static void check_format(void)
{
    struct sated_scsi_command c;
    CHECK_EQ(write_block(0, 5), 0);
    int64_t before = sated_drive_now_ns(drive);
    CHECK_EQ(sated_scsi_build_format_unit(&c, 0, 0, false, false, 0), 0);
    CHECK_EQ(ask(&c, NULL), 0);
    int64_t full = sated_drive_now_ns(drive) - before;
    CHECK(read_block(0) == 0 && mapped() == 0 && ready() == 0); /* nothing of the capacity has changed */
    before = sated_drive_now_ns(drive);
    CHECK_EQ(format(1, 0, false), 0);
    CHECK((sated_drive_now_ns(drive) - before) * 8 < full);
    /* Fields that make no sense, of the CDB and of the list. */
    CHECK_EQ(ask_bytes("04 48 00 00 00 00", SATED_DATA_NONE, 0), 0x52400);
    CHECK_EQ(ask_bytes("04 00 00 00 03 00", SATED_DATA_NONE, 0), 0x52400);
    CHECK_EQ(ask_bytes("04 08 00 00 00 00", SATED_DATA_NONE, 0), 0x52400);
    memset(page, 0, 4);
    page[1] = 0x20; /* DCRT without FOV */
    CHECK_EQ(ask_bytes("04 18 00 00 00 00", SATED_DATA_OUT, 4), 0x52600);
    page[1] = 0x88; /* IP */
    CHECK_EQ(ask_bytes("04 18 00 00 00 00", SATED_DATA_OUT, 4), 0x52600);
    CHECK(sense.field_pointer == 1 && sense.bit_pointer == 3);
    CHECK_EQ(ask_bytes("04 18 00 00 00 00", SATED_DATA_OUT, 3), 0x51a00);
    /* In the background: what is answered meanwhile, and how far it is. */
    CHECK_EQ(write_block(0, 5), 0);
    CHECK_EQ(format(0, SATED_FORMAT_IMMED, false), 0);
    CHECK_EQ(ready(), 0x20404);
    CHECK_EQ(read_block(0), 0x20404);
    uint32_t first = sense.progress;
    CHECK_EQ(ASK(page, mode_sense_6, 0, 8, 0, false, 64), 0x20404);
    CHECK_EQ(ASK(page, inquiry, -1, 96), 0);
    CHECK_EQ(sated_drive_sleep(drive, full / 2), 0);
    CHECK_EQ(polled(true), 0x20404);
    CHECK(first < 1000 && sense.progress > 30000 && sense.progress < 36000);
    CHECK_EQ(sated_drive_sleep(drive, full), 0);
    CHECK(polled(false) == 0 && ready() == 0 && read_block(0) == 0 && mapped() == 0);
}

/* Ended before the cut, though nobody had asked. */
static void check_format_ended(void)
{
    CHECK_EQ(format(0, SATED_FORMAT_IMMED, false), 0);
    sleep_s(1000);
    power_cycle();
    CHECK(ready() == 0 && read_block(0) == 0);
}

/* Broken off, or failed: corrupt until it has been formatted. */
static void check_format_broken(void)
{
    CHECK_EQ(write_block(0, 5), 0);
    CHECK_EQ(format(0, SATED_FORMAT_IMMED, false), 0);
    power_cycle();
    CHECK_EQ(ready(), 0x33100);
    CHECK_EQ(polled(false), 0x33100);
    CHECK_EQ(read_block(0), 0x33100);
    CHECK_EQ(ASK(page, read_capacity_16, 32), 0x33100);
    CHECK_EQ(ASK(page, mode_sense_6, 0, 8, 0, false, 64), 0);
    CHECK_EQ(ASK(page, inquiry, -1, 96), 0);
    power_cycle();
    CHECK_EQ(ready(), 0x33100);
    fault(SATED_FAULT_OPERATION_FAILS, 1, -1, 0);
    CHECK_EQ(format(0, 0, false), 0x33101);
    CHECK_EQ(ready(), 0x33101);
    /* Power lost halfway. */
    fault(SATED_FAULT_POWER_CUT, 1, 0x04, SATED_FAULT_HALF);
    CHECK_EQ(format(0, 0, false), -1);
    CHECK_EQ(reply.host_status, 1);
    CHECK_EQ(ready(), -1);
    power_cycle();
    CHECK_EQ(ready(), 0x33100);
    CHECK_EQ(format(0, 0, false), 0);
    CHECK(ready() == 0 && read_block(0) == 0 && mapped() == 0);
    /* A drive that stalls in a format is one that never answers. */
    fault(SATED_FAULT_STALL, 0, -1, 0);
    CHECK_EQ(format(0, 0, false), -1);
    CHECK_EQ(reply.host_status, 3);
    sleep_s(100000);
    CHECK_EQ(ready(), 0x20404);
    CHECK_EQ(sense.progress, 0);
    CHECK_EQ(sated_sim_clear_faults(drive), 0);
    sleep_s(100000);
    CHECK_EQ(ready(), 0);
}

/* ---- SANITIZE ---- */

/* Which commands are carried out while one goes on (SBC-4 4.11), and what all others are told. */
static void check_during(int answer)
{
    static const struct {
        const char *cdb;
        uint32_t in;
    } others[] = {{"00 00 00 00 00 00", 0},
                  {"1a 00 08 00 40 00", 64},
                  {"25 00 00 00 00 00 00 00 00 00", 8},
                  {"28 00 00 00 00 00 00 00 01 00", 512},
                  {"4d 00 42 00 00 00 00 00 40 00", 64},
                  {"1b 00 00 00 01 00", 0},
                  {"35 00 00 00 00 00 00 00 00 00", 0},
                  {"9e 10 00 00 00 00 00 00 00 00 00 00 00 20 00 00", 32}},
      allowed[] = {{"12 00 00 00 60 00", 96},
                   {"a0 00 00 00 00 00 00 00 00 40 00 00", 64},
                   {"4d 00 4d 00 00 00 00 00 40 00", 64},
                   {"a3 0c 00 00 00 00 00 00 10 00 00 00", 4096},
                   {"a3 0d 00 00 00 00 00 00 00 04 00 00", 4}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK_EQ(ask_bytes(others[i].cdb, SATED_DATA_IN, others[i].in), answer);
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        CHECK_EQ(ask_bytes(allowed[i].cdb, SATED_DATA_IN, allowed[i].in), 0);
    CHECK_EQ(polled(false), answer);
    CHECK_EQ(polled(true), answer);
}

static void check_sanitize(void)
{
    for (uint32_t action = SATED_SANITIZE_OVERWRITE; action <= SATED_SANITIZE_CRYPTO_ERASE; action++) {
        CHECK_EQ(write_block(0, 5), 0);
        CHECK_EQ(write_block(12345, 6), 0);
        CHECK_EQ(sanitize(action, true, false), 0);
        check_during(0x2041b);
        CHECK_EQ(sanitize(action, true, false), 0x2041b);
        CHECK_EQ(format(0, 0, false), 0x2041b);
        CHECK_EQ(polled(false), 0x2041b);
        uint32_t before = sense.progress;
        power_cycle(); /* it goes on from where it was */
        check_during(0x2041b);
        CHECK(sense.progress >= before);
        sleep_s(1000);
        CHECK(ready() == 0 && polled(false) == 0);
        if (action != SATED_SANITIZE_OVERWRITE) {
            CHECK(mapped() == 0 && read_block(0) == 0 && read_block(12345) == 0);
            continue;
        }
        CHECK_EQ(ASK(page, read_16, 12345, 1, 512, 0, false, false), 0);
        for (int i = 0; i < 512; i++)
            if (page[i] != (i & 1 ? 0x5a : 0xa5))
                CHECK(!"the pattern of the last pass");
    }
}

/* A failure is left by another one, or by EXIT FAILURE MODE where AUSE allowed that. */
static void check_sanitize_failed(void)
{
    for (int ause = 0; ause < 2; ause++) {
        fault(SATED_FAULT_OPERATION_FAILS, 1, -1, 0);
        CHECK_EQ(sanitize(SATED_SANITIZE_BLOCK_ERASE, true, ause), 0);
        sleep_s(100);
        check_during(0x33103);
        CHECK_EQ(format(0, 0, false), 0x33103);
        power_cycle();
        check_during(0x33103);
        /* SBC-4 5.30.1: in the restricted mode the unrestricted one cannot be asked for. */
        if (!ause)
            CHECK_EQ(sanitize(SATED_SANITIZE_CRYPTO_ERASE, false, true), 0x52400);
        CHECK_EQ(sanitize(SATED_SANITIZE_EXIT_FAILURE, false, false), ause ? 0 : 0x52400);
        CHECK_EQ(ready(), ause ? 0 : 0x33103);
        fault(SATED_FAULT_OPERATION_FAILS, 1, -1, 0);
        CHECK_EQ(sanitize(SATED_SANITIZE_BLOCK_ERASE, false, ause), 0x33103);
        CHECK_EQ(sanitize(SATED_SANITIZE_BLOCK_ERASE, false, ause), 0);
        CHECK_EQ(ready(), 0);
        CHECK_EQ(sanitize(SATED_SANITIZE_EXIT_FAILURE, false, false), 0); /* nothing to leave */
    }
    /* Lists and lengths. */
    memset(page, 0, 512);
    CHECK_EQ(ask_bytes("48 02 00 00 00 00 00 00 04 00", SATED_DATA_OUT, 4), 0x52400);
    CHECK_EQ(ask_bytes("48 01 00 00 00 00 00 00 04 00", SATED_DATA_OUT, 4), 0x52400);
    CHECK_EQ(ask_bytes("48 01 00 00 00 00 00 02 05 00", SATED_DATA_OUT, 517), 0x52400);
    CHECK_EQ(ask_bytes("48 01 00 00 00 00 00 00 08 00", SATED_DATA_OUT, 8), 0x52600); /* no passes */
    page[0] = 1;
    CHECK_EQ(ask_bytes("48 01 00 00 00 00 00 00 08 00", SATED_DATA_OUT, 8), 0x52600); /* no pattern */
    CHECK_EQ(sense.field_pointer, 2);
    page[3] = 5;
    CHECK_EQ(ask_bytes("48 01 00 00 00 00 00 00 08 00", SATED_DATA_OUT, 8), 0x52600); /* more than there is */
    page[3] = 4;
    CHECK_EQ(ask_bytes("48 81 00 00 00 00 00 00 08 00", SATED_DATA_OUT, 8), 0);
    sleep_s(1000);
    CHECK_EQ(ready(), 0);
    /* What was overwritten is not format corrupt. */
    CHECK_EQ(format(0, SATED_FORMAT_IMMED, false), 0);
    power_cycle();
    CHECK_EQ(ready(), 0x33100);
    CHECK_EQ(sanitize(SATED_SANITIZE_OVERWRITE, false, false), 0);
    CHECK_EQ(ready(), 0);
    CHECK_EQ(format(0, 0, false), 0);
}

int main(void)
{
    drive = open_drive(MODEL);
    check_mode_sense();
    check_write_cache();
    check_mode_select();
    check_resize();
    check_block_length();
    check_format();
    check_format_ended();
    check_format_broken();
    check_sanitize();
    check_sanitize_failed();
    sated_drive_close(drive);
    return check_done();
}
