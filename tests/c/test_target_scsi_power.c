/* SPDX-License-Identifier: MIT */
/* The simulated SAS drive's unit attentions, power conditions, self-tests and log pages (SPC-5), and what a state file
 * carries. */
#define _GNU_SOURCE 1
#include "scsi_drive.h"
#include "core/bytes.h"

/* ---- Unit attentions ---- */

static void check_attention(void)
{
    struct sated_health health;
    CHECK_EQ(sated_sim_power_cycle(drive), 0);
    CHECK_EQ(ASK(page, inquiry, -1, 96), 0);
    CHECK_EQ(ASK(page, report_luns, 0, 16), 0);
    CHECK_EQ(read_block(0), 0x62900);
    CHECK_EQ(read_block(0), 0);
    CHECK_EQ(sated_sim_power_cycle(drive), 0);
    CHECK_EQ(sated_sim_power_cycle(drive), 0);
    CHECK_EQ(polled(true), 0x62900); /* one of two, as it is the same */
    CHECK_EQ(polled(true), 0);
    CHECK_EQ(ready(), 0);
    /* Power-on stands for what was pending before. */
    CHECK_EQ(resize(1000, 512, true), 0);
    CHECK_EQ(resize(UINT64_MAX, 4096, true), 0);
    CHECK_EQ(format(1, 0, false), 0);
    power_cycle();
    CHECK_EQ(ready(), 0);
    CHECK_EQ(resize(0, 512, true), 0);
    CHECK_EQ(format(1, 0, false), 0);
    CHECK_EQ(ask_bytes("85 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00", SATED_DATA_NONE, 0), 0x62a09);
    CHECK_EQ(sated_sim_power_cycle(drive), 0);
    CHECK_EQ(sated_health_get(drive, &health, NULL), 0); /* a unit attention does not stand in its way */
    ready();
    CHECK_EQ(ready(), 0);
}

/* ---- Power conditions ---- */

static void check_power(void)
{
    CHECK_EQ(ASK(NULL, start_stop_unit, 0, 0, false, false, false, false), 0);
    CHECK_EQ(ready(), 0x20402);
    CHECK_EQ(read_block(0), 0x20402);
    CHECK_EQ(sanitize(SATED_SANITIZE_BLOCK_ERASE, false, false), 0x20402);
    CHECK_EQ(polled(false), 0x20402);
    CHECK_EQ(ASK(page, mode_sense_6, 0, 8, 0, false, 64), 0);
    CHECK_EQ(ASK(NULL, start_stop_unit, 0, 0, false, false, false, true), 0);
    CHECK_EQ(ready(), 0);
    CHECK_EQ(ASK(NULL, start_stop_unit, 0, 0, false, true, false, false), 0);
    power_cycle(); /* starts by itself */
    CHECK_EQ(ready(), 0);
    /* Idle and standby, by command: 5Eh and a qualifier of T10's list; the medium wakes it. */
    static const uint8_t conditions[][3] = {{2, 0, 3},  {2, 1, 6},  {2, 2, 8}, {3, 0, 4},
                                            {3, 1, 10}, {10, 0, 3}, {11, 0, 4}};
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        CHECK_EQ(ASK(NULL, start_stop_unit, conditions[i][0], conditions[i][1], true, false, false, false), 0);
        CHECK_EQ(polled(false), 0x05e00 | conditions[i][2]);
        CHECK_EQ(ready(), 0);
        CHECK_EQ(polled(false), 0x05e00 | conditions[i][2]);
        CHECK_EQ(read_block(0), 0);
        CHECK_EQ(polled(false), 0);
    }
    CHECK_EQ(ASK(NULL, start_stop_unit, 3, 2, false, false, false, false), 0x52400);
    CHECK_EQ(ASK(NULL, start_stop_unit, 4, 0, false, false, false, false), 0x52400);
    CHECK_EQ(ASK(NULL, start_stop_unit, 0, 0, false, false, true, true), 0x52400); /* LOEJ */
}

/* ---- Self-tests and log pages ---- */

static struct sated_scsi_log_self_tests tests;

static void get_tests(void)
{
    CHECK_EQ(ASK(page, log_sense, 1, 0x10, 0, 0, 512), 0);
    CHECK_EQ(reply.data_len, 4 + 20 * 20);
    CHECK_EQ(sated_scsi_decode_log_self_tests(page, reply.data_len, &tests), 0);
}

static int self_test(uint32_t code)
{
    return ASK(NULL, send_diagnostic, code, false, false, false, 0);
}

static void check_self_test(void)
{
    get_tests();
    CHECK_EQ(tests.n_tests, 0);
    CHECK_EQ(self_test(1), 0);
    get_tests();
    CHECK(tests.n_tests == 1 && tests.tests[0].result == 15 && tests.tests[0].code == 1);
    CHECK_EQ(polled(false), 0x20409);
    CHECK_EQ(read_block(0), 0); /* in the background */
    CHECK_EQ(self_test(2), 0x20409);
    CHECK_EQ(sated_drive_sleep(drive, 30 * SECOND), 0); /* as reported: a test lasts what INQUIRY says */
    CHECK_EQ(polled(false), 0x20409);
    CHECK(sense.progress > 30000 && sense.progress < 40000);
    CHECK_EQ(sated_drive_sleep(drive, 31 * SECOND), 0);
    get_tests();
    CHECK(tests.n_tests == 1 && tests.tests[0].result == 0 && polled(false) == 0);
    CHECK_EQ(self_test(2), 0);
    CHECK_EQ(self_test(4), 0);
    CHECK_EQ(self_test(4), 0x52400); /* none goes on */
    CHECK_EQ(self_test(2), 0);
    power_cycle();
    CHECK_EQ(self_test(2), 0);
    CHECK_EQ(format(1, 0, false), 0);
    fault(SATED_FAULT_OPERATION_FAILS, 1, -1, 0);
    CHECK_EQ(self_test(5), 0x43e03);
    CHECK_EQ(self_test(6), 0);
    CHECK_EQ(ASK(NULL, send_diagnostic, 0, true, false, false, 0), 0);
    get_tests();
    static const uint8_t results[] = {0, 7, 2, 2, 1, 0}, codes[] = {6, 5, 2, 2, 2, 1};
    CHECK_EQ(tests.n_tests, sizeof results);
    for (uint32_t i = 0; i < tests.n_tests; i++)
        CHECK(tests.tests[i].result == results[i] && tests.tests[i].code == codes[i]);
    CHECK(tests.tests[1].key == 4 && tests.tests[1].asc == 0x3e && tests.tests[1].number == 3);
    for (int i = 0; i < 30; i++)
        CHECK_EQ(self_test(5), 0);
    get_tests();
    CHECK(tests.n_tests == 20 && tests.tests[19].code == 5);
    CHECK_EQ(ask_bytes("1c 00 00 00 40 00", SATED_DATA_IN, 64), 0);
    CHECK(reply.data_len == 5 && page[4] == 0);
}

static uint64_t bytes_in(uint32_t code)
{
    struct sated_scsi_log_errors e;
    CHECK_EQ(ASK(page, log_sense, 1, code, 0, 0, 512), 0);
    CHECK_EQ(sated_scsi_decode_log_errors(page, reply.data_len, &e), 0);
    return e.total_bytes_processed;
}

static void check_logs(void)
{
    static struct sated_scsi_log_supported list;
    struct sated_scsi_log_errors e;
    struct sated_scsi_log_temperature t;
    struct sated_scsi_log_endurance used;
    struct sated_scsi_log_exceptions x;
    CHECK_EQ(ASK(page, log_sense, 1, 0, 0xff, 0, 512), 0);
    CHECK_EQ(sated_scsi_decode_log_supported(page, reply.data_len, &list), 0);
    CHECK_EQ(list.n_pages, 12);
    for (uint32_t i = 0; i < list.n_pages; i++)
        CHECK_EQ(ASK(page, log_sense, 1, list.pages[i].page, list.pages[i].subpage, 0, 1024), 0);
    CHECK_EQ(ASK(page, log_sense, 1, 0x33, 0, 0, 64), 0x52400);
    CHECK_EQ(ASK(page, log_sense, 1, 0x0d, 1, 0, 64), 0x52400);
    /* Counted in bytes of the drive that this one stands for. */
    uint64_t written = bytes_in(2), read = bytes_in(3), verified = bytes_in(5);
    CHECK_EQ(write_block(0, 1), 0);
    CHECK_EQ(read_block(0), 1);
    CHECK_EQ(ASK(NULL, verify_16, 0, 2, 0, false), 0);
    CHECK_EQ(bytes_in(2), written + 512 * 64);
    CHECK_EQ(bytes_in(3), read + 512 * 64);
    CHECK_EQ(bytes_in(5), verified + 1024 * 64);
    /* A pointer gives the parameters from there on. */
    CHECK_EQ(ASK(page, log_sense, 1, 2, 0, 5, 512), 0);
    CHECK(bytes_be16(page + 4) == 5 && reply.data_len == 4 + 2 * 12);
    CHECK_EQ(ASK(page, log_sense, 1, 2, 0, 7, 512), 0x52400);
    /* An error that was ordered counts. */
    struct sated_sim_fault f;
    sated_sim_fault_init(&f);
    f.kind = SATED_FAULT_FAIL;
    f.count = 1;
    f.opcode = 0x88;
    f.key = 3;
    f.asc = 0x11;
    CHECK_EQ(sated_sim_fail(drive, &f), 0);
    CHECK_EQ(read_block(0), 0x31100);
    CHECK_EQ(ASK(page, log_sense, 1, 3, 0, 0, 512), 0);
    CHECK_EQ(sated_scsi_decode_log_errors(page, reply.data_len, &e), 0);
    CHECK_EQ(e.total_uncorrected_errors, 1);
    /* LOG SELECT sets back. */
    CHECK_EQ(ask_bytes("4c 02 43 00 00 00 00 00 00 00", SATED_DATA_NONE, 0), 0);
    CHECK(bytes_in(3) == 0 && bytes_in(2) == written + 512 * 64);
    CHECK_EQ(ask_bytes("4c 02 40 00 00 00 00 00 00 00", SATED_DATA_NONE, 0), 0);
    CHECK(bytes_in(2) == 0 && bytes_in(5) == 0);
    CHECK_EQ(ask_bytes("4c 00 42 00 00 00 00 00 04 00", SATED_DATA_OUT, 4), 0x52400);
    CHECK_EQ(ASK(page, log_sense, 1, 0x0d, 0, 0, 64), 0);
    CHECK_EQ(sated_scsi_decode_log_temperature(page, reply.data_len, &t), 0);
    CHECK(t.temperature_c > 20 && t.temperature_c < t.reference_temperature_c);
    CHECK_EQ(ASK(page, log_sense, 1, 0x11, 0, 0, 64), 0);
    CHECK_EQ(sated_scsi_decode_log_endurance(page, reply.data_len, &used), 0);
    CHECK_EQ(used.percentage_used, 0);
    CHECK_EQ(ASK(page, log_sense, 1, 0x2f, 0, 0, 64), 0);
    CHECK_EQ(sated_scsi_decode_log_exceptions(page, reply.data_len, &x), 0);
    CHECK(x.asc == 0 && x.threshold_temperature_c == 70);
}

/* ---- What a state file carries, and what a load may touch ---- */

static void check_load(int code)
{
    struct sated_load *l;
    struct sated_load_options opt;
    struct sated_workload w;
    sated_workload_init(&w);
    CHECK_EQ(sated_workload_set(&w, "op", "randread"), 0);
    sated_load_options_init(&opt);
    opt.ios = 10;
    int rc = sated_load_start(&l, &drive, 1, &w, &opt);
    if (!rc) {
        rc = sated_load_wait(l, -1);
        sated_load_free(l);
    }
    if (code)
        REFUSED(rc, code, "cannot be read or written now");
    else
        CHECK_EQ(rc, 0);
}

static void check_file(void)
{
    char uri[300];
    uint32_t block;
    snprintf(uri, sizeof uri, "%s,state=%s", MODEL, in("s840.sim"));
    drive = open_drive(uri);
    CHECK_EQ(resize(1000000, 4096, true), 0);
    CHECK_EQ(format(0, SATED_FORMAT_IMMED, false), 0);
    sated_drive_close(drive);
    drive = open_drive(uri); /* closed in good order, it has been on all the time */
    CHECK_EQ(ready(), 0x20404);
    sleep_s(1000);
    CHECK_EQ(ready(), 0x62a09);
    CHECK_EQ(capacity(&block), 1000000);
    CHECK_EQ(sanitize(SATED_SANITIZE_BLOCK_ERASE, true, false), 0);
    check_load(-EIO);
    sated_drive_close(drive);
    drive = open_drive(uri);
    CHECK_EQ(ready(), 0x2041b);
    sleep_s(1000);
    CHECK_EQ(ready(), 0);
    check_load(0);
    sated_drive_close(drive);
}

int main(void)
{
    tree_begin();
    drive = open_drive(MODEL);
    check_attention();
    check_power();
    check_self_test();
    check_logs();
    sated_drive_close(drive);
    check_file();
    tree_end();
    return check_done();
}
