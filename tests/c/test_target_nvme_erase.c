/* SPDX-License-Identifier: MIT */
/* Format NVM, Sanitize and Device Self-test on the simulated NVMe drive, with power cuts in between, and states that no
 * drive comes to. Clauses are those of NVM Express Base 2.0c. */
#include "nvme_target.h"

#include "closed_loop.h"
#include "sim/target_inside.h"

#define SANITIZING 0x1d
#define FAILED 0x1c

/* A drive with namespaces 1 (512 bytes, of controller 1), 2 (4096, of both) and 3 (512, of controller 2), all with data. */
static struct sated_drive *open_three(const char *uri)
{
    struct sated_drive *d = open_drive(uri);
    static const struct {
        uint32_t lbaf, set;
    } ns[] = {{0, 1}, {1, 3}, {0, 2}};
    CHECK_EQ(delete_ns(d, ALL), 0);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_EQ(create(d, 5000 + i, 5000 + i, ns[i].lbaf, true), 0);
        CHECK_EQ(attach(d, i + 1, ns[i].set, true), 0);
    }
    via(d, 1);
    CHECK_EQ(write_block(d, 3, 1, 512, 0x33), 0);
    via(d, 0);
    CHECK_EQ(write_block(d, 1, 1, 512, 0x11), 0);
    CHECK_EQ(write_block(d, 2, 1, 4096, 0x22), 0);
    return d;
}

/* Which of the three still have their data: bit i for namespace i + 1, whatever their blocks are now. */
static unsigned kept(struct sated_drive *d)
{
    unsigned set = 0;
    for (uint32_t nsid = 1; nsid <= 3; nsid++) {
        via(d, nsid == 3);
        uint32_t block = id_ns(d, SATED_NVME_CNS_NS, nsid)->block_bytes;
        uint64_t lba = nsid == 2 ? 4096 / block : 512 / block;
        set |= read_block(d, nsid, lba, block) > 0 ? 1u << (nsid - 1) : 0;
    }
    via(d, 0);
    return set;
}

static uint32_t lbaf_of(struct sated_drive *d, uint32_t nsid)
{
    return id_ns(d, SATED_NVME_CNS_ALLOCATED_NS, nsid)->format;
}

/* 5.14 and Identify Controller's FNA: bit 0 is about formats, bit 1 about those with SES. */
static void check_scope(void)
{
    static const struct {
        const char *fna;
        uint32_t nsid, ses;
        unsigned status, kept;
    } cases[] = {
        {"4", 1, 0, 0, 6}, {"4", 1, 2, 0, 6},   {"4", 2, 1, 0, 5},    {"4", ALL, 0, 0, 4},
        {"0", 1, 2, 2, 7}, {"1", 1, 0, 0, 0},   {"1", 1, 1, 0, 6},    {"2", 1, 0, 0, 6},
        {"2", 1, 1, 0, 0}, {"3", ALL, 1, 0, 0}, {"8", ALL, 1, 2, 7},  {"8", 1, 1, 0, 6},
        {"4", 3, 1, 2, 7}, {"4", 4, 1, 2, 7},   {"4", 0, 1, 0x0b, 7}, {"4", 17, 1, 0x0b, 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char uri[100];
        snprintf(uri, sizeof uri, SMALL ",fna=%s", cases[i].fna);
        struct sated_drive *d = open_three(uri);
        uint64_t before = mapped(d);
        CHECK_EQ(format(d, cases[i].nsid, 0, cases[i].ses), cases[i].status);
        CHECK_EQ(kept(d), cases[i].kept);
        CHECK_EQ(mapped(d), before / 3 * (unsigned)__builtin_popcount(cases[i].kept));
        sated_drive_close(d);
    }
}

static void check_format(void)
{
    struct sated_drive *d = open_three(SMALL);
    struct sated_nvme_command c;
    static struct sated_nvme_ns_list changed;
    CHECK_EQ(format(d, 1, 2, 0), 0x10a);
    CHECK_EQ(format(d, 1, 17, 0), 0x10a);
    CHECK_EQ(sated_nvme_build_format(&c, 1, 0, false, 1, false, 0), 0);
    CHECK_EQ(send(d, &c, NULL), 0x10a); /* no metadata for protection information */
    CHECK_EQ(get_log(d, SATED_NVME_LID_CHANGED_NS, 4096, 0), 0);
    CHECK_EQ(format(d, 1, 1, 0), 0);
    const struct sated_nvme_id_ns *ns = id_ns(d, SATED_NVME_CNS_NS, 1);
    CHECK_EQ(ns->nsze, 5000 * 512 / 4096);
    CHECK_EQ(identity(d).logical_block_bytes, 4096);
    CHECK_EQ(identity(d).capacity_bytes, 5000 * 512 / 4096 * 4096);
    CHECK_EQ(get_log(d, SATED_NVME_LID_CHANGED_NS, 4096, 0), 0);
    CHECK_EQ(sated_nvme_decode_ns_list(buffer, 4096, &changed), 0);
    CHECK(changed.n_nsid == 1 && changed.nsid[0] == 1);
    CHECK_EQ(format(d, 1, 0, 0), 0);
    CHECK_EQ(id_ns(d, SATED_NVME_CNS_NS, 1)->nsze, 5000);
    CHECK_EQ(create(d, 7, 7, 0, false), 0); /* less than a block of 4096 bytes */
    CHECK_EQ(result, 4);
    CHECK_EQ(attach(d, 4, 1, true), 0);
    CHECK_EQ(format(d, 4, 1, 0), 0x10a);
    CHECK_EQ(format(d, ALL, 1, 0), 0x10a);
    CHECK_EQ(delete_ns(d, ALL), 0);
    CHECK_EQ(format(d, ALL, 1, 0), 0);
    sated_drive_close(d);
}

/* What a cut of power in a format leaves: the old data, an erased namespace, or one that needs another format. */
static void check_cut_format(void)
{
    for (uint32_t outcome = 0; outcome <= SATED_FAULT_OUTCOME_LAST; outcome++) {
        struct sated_drive *d = open_three(SMALL);
        fault(d, SATED_FAULT_POWER_CUT, SATED_NVME_ADMIN_FORMAT, outcome, 1);
        CHECK_EQ(format(d, 1, 1, SATED_NVME_SES_USER_DATA), 0xffff);
        CHECK_EQ(identify(d, SATED_NVME_CNS_CTRL, 0, 0), 0xffff); /* no power */
        CHECK_EQ(sated_sim_power_cycle(d), 0);
        CHECK_EQ(lbaf_of(d, 1), outcome == SATED_FAULT_AFTER);
        switch (outcome) {
        case SATED_FAULT_BEFORE: CHECK_EQ(kept(d), 7); break;
        case SATED_FAULT_AFTER: CHECK_EQ(kept(d), 6); break;
        default:
            CHECK_EQ(kept(d), 6);
            CHECK_EQ(write_block(d, 1, 0, 512, 1), 0x82);
            CHECK(dnr);
            CHECK_EQ(identify(d, SATED_NVME_CNS_INDEPENDENT_NS, 1, 0), 0);
            CHECK_EQ(buffer[14], 0); /* NSTAT: not ready */
            CHECK_EQ(sated_sim_power_cycle(d), 0);
            CHECK_EQ(write_block(d, 1, 0, 512, 1), 0x82);
            CHECK_EQ(format(d, 1, 1, 0), 0);
            CHECK_EQ(read_block(d, 1, 0, 4096), 0);
        }
        sated_drive_close(d);
    }
    struct sated_drive *d = open_three(SMALL);
    fault(d, SATED_FAULT_OPERATION_FAILS, -1, 0, 1);
    CHECK_EQ(format(d, 2, 0, 0), 0x06);
    CHECK_EQ(write_block(d, 2, 0, 4096, 1), 0x82);
    CHECK_EQ(format(d, 2, 0, 0), 0);
    CHECK_EQ(kept(d), 5);
    /* One that hangs is cancelled by the host, and goes on in the drive. */
    fault(d, SATED_FAULT_STALL, -1, 0, 0);
    CHECK_EQ(format(d, 2, 1, 0), 0x371);
    CHECK_EQ(write_block(d, 2, 0, 512, 1), 0x84);
    CHECK(!dnr);
    CHECK_EQ(write_block(d, 1, 0, 512, 1), 0);
    CHECK_EQ(format(d, 1, 0, 0), 0x84);
    CHECK_EQ(delete_ns(d, 1), 0x84);
    CHECK_EQ(id_ns(d, SATED_NVME_CNS_NS, 2)->fpi, 0x80 | 100);
    CHECK_EQ(sated_sim_clear_faults(d), 0);
    CHECK_EQ(sated_drive_sleep(d, 3600 * INT64_C(1000000000)), 0);
    CHECK_EQ(write_block(d, 2, 0, 4096, 1), 0);
    sated_drive_close(d);
}

static unsigned ask(struct sated_drive *d, bool admin, uint32_t opcode, uint32_t cdw10, uint32_t bytes)
{
    struct sated_nvme_command c;
    uint32_t cdw[6] = {cdw10};
    CHECK_EQ(sated_nvme_build_raw(&c, admin, opcode, 1, cdw, bytes), 0);
    return send(d, &c, buffer);
}

/* Base 8.21: what is answered while a sanitize goes on or has failed; all else is refused by `status`. */
static void check_restricted(struct sated_drive *d, unsigned status)
{
    for (uint32_t i = 0; i < 2; i++) {
        via(d, i);
        CHECK_EQ(read_block(d, 2, 1, 4096), -2);
        CHECK_EQ(result, status);
        CHECK_EQ(dnr, status == FAILED);
        CHECK_EQ(write_block(d, 2, 1, 4096, 1), status);
        CHECK_EQ(ask(d, false, SATED_NVME_IO_FLUSH, 0, 0), status);
        CHECK_EQ(format(d, 1, 0, 0), status);
        CHECK_EQ(create(d, 1, 1, 0, false), status);
        CHECK_EQ(delete_ns(d, 1), status);
        CHECK_EQ(attach(d, 1, 2, true), status);
        CHECK_EQ(ask(d, true, SATED_NVME_ADMIN_SELF_TEST, 1, 0), status);
        CHECK_EQ(get_log(d, SATED_NVME_LID_SELF_TEST, 564, 0), status);
        CHECK_EQ(get_log(d, SATED_NVME_LID_FIRMWARE, 512, 0), status);
        CHECK_EQ(get_log(d, SATED_NVME_LID_SMART, 512, 0), 0);
        CHECK_EQ(get_log(d, SATED_NVME_LID_ERROR, 4096, 0), 0);
        CHECK_EQ(get_log(d, SATED_NVME_LID_CHANGED_NS, 4096, 0), 0);
        CHECK_EQ(identify(d, SATED_NVME_CNS_CTRL, 0, 0), 0);
        CHECK_EQ(ask(d, true, SATED_NVME_ADMIN_GET_FEATURES, 2, 0), 0);
        CHECK_EQ(ask(d, true, 0x08, 0, 0), 0);
        CHECK_EQ(ask(d, true, 0xc0, 0, 0), 0x01);
    }
    via(d, 0);
}

static void finish(struct sated_drive *d)
{
    int i = 0;
    while (sanitize_log(d)->state == SATED_NVME_SANITIZE_RUNNING && i++ < 100000)
        CHECK_EQ(sated_drive_sleep(d, INT64_C(100000000)), 0);
}

static void check_sanitize(void)
{
    static const struct {
        uint32_t sanact;
        bool cut;
    } cases[] = {{SATED_NVME_SANACT_BLOCK_ERASE, false},
                 {SATED_NVME_SANACT_CRYPTO_ERASE, true},
                 {SATED_NVME_SANACT_OVERWRITE, false},
                 {SATED_NVME_SANACT_BLOCK_ERASE, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sated_drive *d = open_three("sim:generic-tlc-nvme,capacity=960GB,scale=1/128");
        const struct sated_nvme_sanitize_log *log = sanitize_log(d);
        bool overwrites = cases[i].sanact == SATED_NVME_SANACT_OVERWRITE;
        CHECK(log->state == SATED_NVME_SANITIZE_NEVER && log->sprog == 0xffff && !log->global_data_erased);
        CHECK(log->eto && log->etbe && log->etce && log->etce < log->etbe && log->etbe < log->eto);
        int64_t start = sated_drive_now_ns(d);
        uint32_t wanted = overwrites                                         ? 2 * log->eto
                          : cases[i].sanact == SATED_NVME_SANACT_BLOCK_ERASE ? log->etbe
                                                                             : log->etce;
        CHECK_EQ(sanitize(d, cases[i].sanact, true, overwrites ? 2 : 1, false, 0, false), 0);
        CHECK_EQ(sanitize(d, cases[i].sanact, true, 1, false, 0, false), SANITIZING);
        CHECK_EQ(sanitize(d, SATED_NVME_SANACT_EXIT_FAILURE, false, 1, false, 0, false), SANITIZING);
        check_restricted(d, SANITIZING);
        CHECK_EQ(sated_drive_sleep(d, wanted * INT64_C(500000000)), 0);
        log = sanitize_log(d);
        CHECK(log->state == SATED_NVME_SANITIZE_RUNNING && log->progress > 0x7000 && log->progress < 0xd000);
        CHECK_EQ(log->passes, overwrites);
        uint32_t before = log->progress;
        if (cases[i].cut) {
            fault(d, SATED_FAULT_POWER_CUT, -1, SATED_FAULT_AFTER, 1);
            CHECK_EQ(get_log(d, SATED_NVME_LID_SANITIZE, 512, 0), 0xffff);
            CHECK_EQ(sated_sim_power_cycle(d), 0);
            log = sanitize_log(d); /* it goes on */
            CHECK(log->state == SATED_NVME_SANITIZE_RUNNING && log->progress >= before && log->progress < 0xe000);
            check_restricted(d, SANITIZING);
        }
        finish(d);
        log = sanitize_log(d);
        CHECK_EQ(log->state, SATED_NVME_SANITIZE_OK);
        CHECK(log->sprog == 0xffff && log->global_data_erased);
        CHECK_EQ(log->scdw10 & 7, cases[i].sanact);
        CHECK_EQ(log->passes, overwrites ? 2 : 0);
        CHECK_NEAR(sated_drive_now_ns(d) - start, wanted * 1e9, 0.5);
        CHECK_EQ(mapped(d), 0);
        CHECK_EQ(kept(d), 0);
        CHECK_EQ(read_block(d, 2, 1, 4096), 0);
        CHECK_EQ(ns_list(d, SATED_NVME_CNS_ALLOCATED_LIST), 7);
        CHECK_EQ(write_block(d, 1, 0, 512, 1), 0);
        CHECK(!sanitize_log(d)->global_data_erased);
        sated_drive_close(d);
    }
}

/* Without deallocation the last pass stays readable. */
static void check_pattern(void)
{
    static const struct {
        uint32_t passes;
        bool inverts;
        int reads;
    } cases[] = {{1, false, 0xa5}, {1, true, 0xa5},  {2, true, 0x5a},
                 {3, true, 0xa5},  {16, true, 0x5a}, {2, false, 0xa5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sated_drive *d = open_three(SMALL);
        CHECK_EQ(sanitize(d, SATED_NVME_SANACT_OVERWRITE, false, cases[i].passes, cases[i].inverts, 0xa5a5a5a5, true),
                 0);
        finish(d);
        CHECK_EQ(sanitize_log(d)->state, SATED_NVME_SANITIZE_OK);
        CHECK_EQ(sanitize_log(d)->passes, cases[i].passes);
        CHECK_EQ(read_block(d, 1, 4999, 512), cases[i].reads);
        CHECK_EQ(read_block(d, 2, 0, 4096), cases[i].reads);
        sated_drive_close(d);
    }
    /* NDI: not to deallocate cannot be had; feature 17h says what becomes of a command that asks for it. */
    struct sated_drive *d = open_three(SMALL ",no_deallocate_inhibited=on");
    struct sated_nvme_command c;
    CHECK_EQ(sanitize(d, SATED_NVME_SANACT_OVERWRITE, false, 1, false, 0xa5a5a5a5, true), 0x02);
    CHECK_EQ(sated_nvme_build_set_sanitize_config(&c, true, false), 0);
    CHECK_EQ(send(d, &c, NULL), 0);
    CHECK_EQ(sanitize(d, SATED_NVME_SANACT_OVERWRITE, false, 1, false, 0xa5a5a5a5, true), 0);
    finish(d);
    CHECK_EQ(sanitize_log(d)->state, SATED_NVME_SANITIZE_OK_NO_DEALLOCATE);
    CHECK_EQ(mapped(d), 0);
    sated_drive_close(d);
    d = open_drive(SMALL ",sanitize=2");
    CHECK_EQ(sanitize(d, SATED_NVME_SANACT_CRYPTO_ERASE, false, 1, false, 0, false), 0x02);
    CHECK_EQ(sanitize_log(d)->etce, 0);
    CHECK_EQ(bytes_le32(buffer + 16), 0xffffffff); /* no estimate of what it cannot do */
    CHECK_EQ(sated_nvme_build_sanitize(&c, SATED_NVME_SANACT_BLOCK_ERASE, false, 0, false, 0, false, false), 0);
    c.nsid = 1;
    CHECK_EQ(send(d, &c, NULL), 0x02);
    sated_drive_close(d);
    d = open_drive(SMALL ",sanitize=0");
    CHECK_EQ(sanitize(d, 2, false, 1, false, 0, false), 0x01);
    CHECK_EQ(get_log(d, SATED_NVME_LID_SANITIZE, 512, 0), 0x109);
    sated_drive_close(d);
}

/* 5.24: out of a failure leads another sanitize, or Exit Failure Mode where the failed one allowed it. */
static void check_failure(void)
{
    for (int ause = 0; ause < 2; ause++) {
        struct sated_drive *d = open_three(SMALL);
        CHECK_EQ(sanitize(d, SATED_NVME_SANACT_EXIT_FAILURE, false, 1, false, 0, false), 0);
        fault(d, SATED_FAULT_OPERATION_FAILS, -1, 0, 1);
        CHECK_EQ(sanitize(d, SATED_NVME_SANACT_BLOCK_ERASE, ause, 1, false, 0, false), 0);
        finish(d);
        CHECK_EQ(sanitize_log(d)->state, SATED_NVME_SANITIZE_FAILED);
        check_restricted(d, FAILED);
        CHECK_EQ(sated_sim_power_cycle(d), 0);
        check_restricted(d, FAILED);
        CHECK_EQ(sanitize(d, SATED_NVME_SANACT_EXIT_FAILURE, false, 1, false, 0, false), ause ? 0 : FAILED);
        if (ause) {
            CHECK_EQ(kept(d), 7);
            CHECK_EQ(sanitize_log(d)->state, SATED_NVME_SANITIZE_FAILED); /* the most recent one */
        } else {
            CHECK_EQ(sanitize(d, SATED_NVME_SANACT_BLOCK_ERASE, true, 1, false, 0, false), FAILED);
            CHECK_EQ(sanitize(d, SATED_NVME_SANACT_CRYPTO_ERASE, false, 1, false, 0, false), 0);
            finish(d);
            CHECK_EQ(kept(d), 0);
            CHECK_EQ(sanitize_log(d)->state, SATED_NVME_SANITIZE_OK);
        }
        sated_drive_close(d);
    }
    struct sated_drive *d = open_three(SMALL);
    fault(d, SATED_FAULT_STALL, -1, 0, 0);
    CHECK_EQ(sanitize(d, SATED_NVME_SANACT_BLOCK_ERASE, false, 1, false, 0, false), 0);
    CHECK_EQ(sated_drive_sleep(d, 86400 * INT64_C(1000000000)), 0);
    CHECK(sanitize_log(d)->state == SATED_NVME_SANITIZE_RUNNING && sanitize_log(d)->progress == 0);
    sated_drive_close(d);
}

static const struct sated_nvme_self_test_log *test_log(struct sated_drive *d)
{
    static struct sated_nvme_self_test_log out;
    CHECK_EQ(get_log(d, SATED_NVME_LID_SELF_TEST, 564, 0), 0);
    CHECK_EQ(sated_nvme_decode_self_test_log(buffer, 564, &out), 0);
    return &out;
}

static unsigned self_test(struct sated_drive *d, uint32_t nsid, uint32_t code)
{
    struct sated_nvme_command c;
    CHECK_EQ(sated_nvme_build_self_test(&c, nsid, code), 0);
    return send(d, &c, NULL);
}

static void check_result(struct sated_drive *d, uint32_t n, uint8_t code, uint8_t value)
{
    const struct sated_nvme_self_test_log *log = test_log(d);
    CHECK(log->operation == 0 && log->n_results == n);
    CHECK_EQ(log->results[0].code, code);
    CHECK_EQ(log->results[0].result, value);
}

static void check_self_tests(void)
{
    struct sated_drive *d = open_three(SMALL);
    const int64_t minute = 60 * INT64_C(1000000000);
    CHECK(test_log(d)->n_results == 0 && test_log(d)->operation == 0);
    CHECK_EQ(self_test(d, ALL, SATED_NVME_SELF_TEST_SHORT), 0);
    CHECK_EQ(self_test(d, ALL, SATED_NVME_SELF_TEST_SHORT), 0x11d);
    CHECK(!dnr);
    CHECK_EQ(sated_drive_sleep(d, minute / 2), 0);
    const struct sated_nvme_self_test_log *log = test_log(d);
    CHECK(log->operation == 1 && log->completion >= 49 && log->completion <= 60);
    CHECK_EQ(sated_drive_sleep(d, minute), 0);
    check_result(d, 1, 1, 0);
    CHECK_EQ(test_log(d)->results[0].nsid, ALL);
    CHECK_EQ(self_test(d, 1, SATED_NVME_SELF_TEST_ABORT), 0);
    check_result(d, 1, 1, 0); /* there was none */
    CHECK_EQ(self_test(d, 1, SATED_NVME_SELF_TEST_EXTENDED), 0);
    CHECK_EQ(self_test(d, 1, SATED_NVME_SELF_TEST_ABORT), 0);
    check_result(d, 2, 2, 1);
    CHECK_EQ(self_test(d, 1, SATED_NVME_SELF_TEST_EXTENDED), 0);
    CHECK_EQ(sated_drive_sleep(d, 5 * minute), 0);
    CHECK_EQ(sated_sim_power_cycle(d), 0);
    CHECK(test_log(d)->operation == 2 && test_log(d)->completion >= 49); /* an extended one goes on */
    CHECK_EQ(sated_drive_sleep(d, id_ctrl(d)->admin.edstt * minute - 5 * minute), 0);
    check_result(d, 3, 2, 0);
    CHECK_EQ(self_test(d, 0, SATED_NVME_SELF_TEST_SHORT), 0);
    CHECK_EQ(sated_sim_power_cycle(d), 0);
    check_result(d, 4, 1, 2); /* a short one does not */
    CHECK_EQ(self_test(d, 1, SATED_NVME_SELF_TEST_SHORT), 0);
    CHECK_EQ(format(d, 1, 0, 0), 0);
    check_result(d, 5, 1, 4);
    CHECK_EQ(self_test(d, 2, SATED_NVME_SELF_TEST_SHORT), 0);
    CHECK_EQ(delete_ns(d, 2), 0);
    check_result(d, 6, 1, 3);
    CHECK_EQ(self_test(d, ALL, SATED_NVME_SELF_TEST_SHORT), 0);
    CHECK_EQ(sanitize(d, SATED_NVME_SANACT_CRYPTO_ERASE, false, 1, false, 0, false), 0);
    finish(d);
    check_result(d, 7, 1, 9);
    fault(d, SATED_FAULT_OPERATION_FAILS, -1, 0, 1);
    CHECK_EQ(self_test(d, 1, SATED_NVME_SELF_TEST_SHORT), 0);
    CHECK_EQ(sated_drive_sleep(d, 2 * minute), 0);
    check_result(d, 8, 1, 7);
    CHECK_EQ(test_log(d)->results[0].segment, 1);
    CHECK_EQ(self_test(d, 2, SATED_NVME_SELF_TEST_SHORT), 0x02);
    CHECK_EQ(self_test(d, 17, SATED_NVME_SELF_TEST_SHORT), 0x0b);
    CHECK_EQ(self_test(d, 1, SATED_NVME_SELF_TEST_VENDOR), 0x02);
    for (int i = 0; i < 15; i++) {
        CHECK_EQ(self_test(d, ALL, SATED_NVME_SELF_TEST_SHORT), 0);
        CHECK_EQ(self_test(d, ALL, SATED_NVME_SELF_TEST_ABORT), 0);
    }
    check_result(d, 20, 1, 1);
    CHECK_EQ(test_log(d)->results[15].result, 7);
    sated_drive_close(d);
}

/* Some drives write a page, however little was asked for; what the host asked for is right all the same. */
static void check_dma(void)
{
    struct sim *s = loop_open(SMALL + 4);
    struct sated_nvme_command c;
    static _Alignas(4096) uint8_t page[4096];
    for (int stands = 0; stands < 2; stands++) {
        struct sated_reply reply = {0};
        struct sated_sim_fault f = {.kind = SATED_FAULT_DMA_4K, .opcode = -1};
        if (stands)
            CHECK_EQ(target_add_fault(s, &f), 0);
        memset(page, 0xee, sizeof page);
        CHECK_EQ(sated_nvme_build_get_log(&c, SATED_NVME_LID_SMART, ALL, 16, 0, 0, 0, false, 0, 0), 0);
        CHECK_EQ(target_nvme(s, 0, &c, page, &reply), 0);
        CHECK(reply.nvme_status == 0 && page[3] == 100);
        CHECK_EQ(page[16] == 0xee, !stands);
        CHECK_EQ(page[4095] == 0xee, !stands);
        /* What is shorter than a page by itself, too; nothing of the drive's own memory comes with it. */
        memset(page, stands ? 0xee : 0, sizeof page);
        c = (struct sated_nvme_command){
            .opcode = 0x0a, .admin = true, .cdw10 = 0x0e, .direction = SATED_DATA_IN, .data_len = 8};
        CHECK_EQ(target_nvme(s, 0, &c, page, &reply), 0);
        for (size_t i = 8; i < sizeof page; i++)
            if (page[i]) {
                CHECK_EQ(page[i], 0);
                break;
            }
    }
    sim_free(s);
}

/* What it is survives its file, and its process. */
static void check_file(void)
{
    static const char file[] = "./test_target_nvme.sim", uri[] = "sim:./test_target_nvme.sim";
    unlink(file);
    CHECK_EQ(sated_sim_create(SMALL, file), 0);
    struct sated_drive *d = open_three(uri);
    CHECK_EQ(sanitize(d, SATED_NVME_SANACT_BLOCK_ERASE, false, 1, false, 0, false), 0);
    uint32_t etbe = sanitize_log(d)->etbe;
    CHECK_EQ(sated_drive_sleep(d, etbe * INT64_C(500000000)), 0);
    uint32_t progress = sanitize_log(d)->progress;
    sated_drive_close(d);
    d = open_drive(uri);
    CHECK(sanitize_log(d)->progress >= progress && sanitize_log(d)->state == SATED_NVME_SANITIZE_RUNNING);
    finish(d);
    sated_drive_close(d);
    d = open_drive(uri);
    CHECK_EQ(sanitize_log(d)->state, SATED_NVME_SANITIZE_OK);
    CHECK_EQ(ns_list(d, SATED_NVME_CNS_NS_LIST), 3);
    CHECK_EQ(kept(d), 0);
    CHECK_EQ(delete_ns(d, 1), 0); /* what is shown now begins behind it */
    sated_drive_close(d);
    d = open_drive("sim:./test_target_nvme.sim,lba=50%");
    CHECK_EQ(identity(d).capacity_bytes, 5001 * 4096 / 2 / 4096 * 4096);
    CHECK_EQ(delete_ns(d, ALL), 0);
    CHECK_EQ(identity(d).capacity_bytes, 0);
    sated_drive_close(d);
    d = open_drive(uri); /* a drive without a namespace is one all the same */
    CHECK_EQ(create(d, 100, 100, 0, false), 0);
    CHECK_EQ(attach(d, 1, 1, true), 0);
    CHECK_EQ(identity(d).capacity_bytes, 51200);
    sated_drive_close(d);
    unlink(file);
    unlink("./test_target_nvme.sim.lock");
}

static void spoil(struct sim *s, int which)
{
    struct nvme_state *n = &s->target.nvme;
    struct operation *o = &s->target.operation;
    switch (which) {
    case 0: n->ns[0].format = 2; break;
    case 1: n->ns[0].held_bytes *= 2; break;
    case 2: n->ns[0].base_bytes = 512; break;
    case 3: n->ns[0].size_bytes = n->ns[0].held_bytes + 512; break;
    case 4: n->ns[0].size_bytes = 0; break;
    case 5: n->ns[1] = n->ns[0]; break; /* in the same place */
    case 6: n->ns[0].attached = 4; break;
    case 7: n->view = 2; break;
    case 8: n->view = UINT64_MAX; break;
    case 9: n->controller[1].operational = 3; break;
    case 10: n->controller[0].old_errors = 1; break;
    case 11: n->sanitize_status = 5; break;
    case 12: n->sanitize_status = SATED_NVME_SANITIZE_RUNNING; break;
    case 13: n->failure_mode = 1; break;
    case 14: n->bad[3] = (struct nvme_span){8192, 4096}; break;
    case 15: n->bad[3] = (struct nvme_span){0, UINT64_MAX}; break;
    case 16: n->shown_bytes = 0; break;
    case 17: s->limit_bytes = 0; break;
    case 18: n->ns[0].broken = 2; break;
    case 19: n->sanitize_passes = 17; break;
    case 20: *o = (struct operation){.kind = OPERATION_SANITIZE_BLOCK, .length_ns = 5}; break;
    case 21: *o = (struct operation){.kind = OPERATION_FORMAT, .length_ns = 5, .argument = {1, 2}}; break;
    case 22: *o = (struct operation){.kind = OPERATION_FORMAT, .length_ns = 5, .argument = {1 << 16, 0}}; break;
    case 23: *o = (struct operation){.kind = OPERATION_SELF_TEST, .length_ns = 5, .argument = {3, 1}}; break;
    default: n->ns[0].base_bytes = UINT64_MAX - 4095;
    }
}

#define SPOILED 25

/* A very small one, so that many states can be looked at. */
static struct sim *open_tiny(void)
{
    char text[16384];
    const char *generic = sated_sim_model_text("generic"), *none = strstr(generic, "\"none\"");
    snprintf(text, sizeof text, "%.*s\"nvme\"%s", (int)(none - generic), generic, none + 6);
    CHECK_EQ(sated_sim_add_model("tiny", text), 0);
    return loop_open("tiny,channels=2,dies=1,pages_per_block=16,blocks=128,op=50%,fna=4,sanitize=7");
}

/* Any bytes in the state are refused, or all commands get along with them. */
static void check_hostile(void)
{
    struct random r;
    int taken = 0, refused = 0;
    for (int i = 0; i < SPOILED; i++) {
        struct sim *s = loop_open(SMALL + 4);
        CHECK(state_check(s) == NULL);
        spoil(s, i);
        if (!state_check(s))
            printf("spoiled by %d and taken\n", i);
        CHECK(state_check(s) != NULL);
        sim_free(s);
    }
    random_seed(&r, 5, 0);
    struct sim *s = open_tiny();
    struct target *good = malloc(sizeof *good);
    memcpy(good, &s->target, sizeof *good);
    uint64_t limit = s->limit_bytes;
    for (int i = 0; i < 20000; i++) {
        uint8_t *p = (uint8_t *)&s->target.nvme;
        for (uint64_t n = 1 + random_below(&r, 4); n; n--)
            p[random_below(&r, sizeof s->target.nvme)] = (uint8_t)random_next(&r);
        if (state_check(s)) {
            refused++;
        } else {
            taken++;
            for (int k = 0; k < 10; k++) {
                struct sated_reply reply = {0};
                struct sated_nvme_command c = {.admin = random_below(&r, 3) != 0, .data_len = 4096};
                static const uint8_t opcodes[] = {0x02, 0x06, 0x09, 0x0a, 0x0d, 0x14, 0x15, 0x80, 0x84,
                                                  0x00, 0x01, 0x02, 0x04, 0x05, 0x08, 0x09, 0x0c};
                c.opcode = opcodes[c.admin ? random_below(&r, 9) : 9 + random_below(&r, 8)];
                c.nsid = random_below(&r, 8) ? (uint32_t)random_below(&r, 18) : ALL;
                c.cdw10 = random_below(&r, 2) ? (uint32_t)random_next(&r) : (uint32_t)random_below(&r, 256);
                c.cdw11 = random_below(&r, 2) ? 0 : (uint32_t)random_next(&r);
                c.cdw12 = random_below(&r, 2) ? 7 : (uint32_t)random_next(&r) & 0xffff00ff;
                for (uint32_t at = 0; at < 4096; at += 8)
                    bytes_put_le64(buffer + at, random_below(&r, 3) ? random_below(&r, 3) : random_next(&r));
                CHECK_EQ(target_nvme(s, (uint32_t)random_below(&r, 2), &c, buffer, &reply), 0);
            }
            const char *wrong = state_check(s);
            if (wrong)
                printf("change %d: %s\n", i, wrong);
            CHECK(wrong == NULL);
            sim_power_cycle(s);
            CHECK(state_check(s) == NULL);
        }
        memcpy(&s->target, good, sizeof *good);
        s->base_bytes = 0;
        s->limit_bytes = limit;
    }
    printf("# %d spoiled states refused, %d gone on with\n", refused, taken);
    CHECK(refused > 1000 && taken > 1000);
    free(good);
    sim_free(s);
}

int main(void)
{
    alarm(300);
    check_scope();
    check_format();
    check_cut_format();
    check_sanitize();
    check_pattern();
    check_failure();
    check_self_tests();
    check_dma();
    check_file();
    check_hostile();
    return check_done();
}
