/* SPDX-License-Identifier: MIT */
/* SMART (ACS-4 7.44; READ DATA and thresholds as in ATA8-ACS 7.53), self-tests, and the logs (ACS-4 7.23, 9). */
#include <string.h>

#include "sim/target_ata_inside.h"

#define MIB32 ((uint64_t)32 << 20)
#define GIB ((uint64_t)1 << 30)

#define SHORT_NS (60 * (int64_t)1000000000) /* as reported: the scale is still to come */
#define READ_NS_PER_SECTOR 1024             /* of an extended test: 500 MB/s */
#define TEST_RUNNING 15

/* ---- Attributes ---- */

enum source {
    ZERO,
    HOURS,
    CYCLES,
    ERASES,
    UNSAFE,
    TEMPERATURE,
    USED,
    LEFT,
    SPARE,
    BAD,
    UNCORRECTABLE,
    WRITTEN_32MIB,
    READ_32MIB,
    NAND_32MIB,
    WRITTEN_GIB,
    READ_GIB,
    NAND_GIB,
};

struct attribute {
    uint8_t id, flags, threshold, source;
};

/* As the makers' drives have them. Flags: 1 a failure is imminent when it fails, 2 updated always, 10h counts events,
 * 20h keeps itself. */
static const struct attribute sandisk[] = {
    {5, 0x32, 0, BAD},           {9, 0x32, 0, HOURS},         {12, 0x32, 0, CYCLES},    {171, 0x32, 0, ZERO},
    {172, 0x32, 0, BAD},         {173, 0x32, 0, ERASES},      {174, 0x32, 0, UNSAFE},   {187, 0x32, 0, UNCORRECTABLE},
    {194, 0x22, 0, TEMPERATURE}, {199, 0x32, 0, ZERO},        {230, 0x32, 0, USED},     {232, 0x33, 4, SPARE},
    {233, 0x32, 0, NAND_GIB},    {241, 0x30, 0, WRITTEN_GIB}, {242, 0x30, 0, READ_GIB},
};

static const struct attribute intel[] = {
    {5, 0x32, 0, BAD},
    {9, 0x32, 0, HOURS},
    {12, 0x32, 0, CYCLES},
    {187, 0x32, 0, UNCORRECTABLE},
    {192, 0x32, 0, UNSAFE},
    {225, 0x32, 0, WRITTEN_32MIB},
    {232, 0x33, 10, SPARE},
    {233, 0x32, 0, LEFT},
    {241, 0x32, 0, WRITTEN_32MIB},
    {242, 0x32, 0, READ_32MIB},
    {243, 0x32, 0, NAND_32MIB},
};

static const struct attribute *attributes_of(const struct sim *s, size_t *n)
{
    bool is_intel = !strcmp(s->model.vendor, "INTEL");
    *n = is_intel ? sizeof intel / sizeof *intel : sizeof sandisk / sizeof *sandisk;
    return is_intel ? intel : sandisk;
}

static uint64_t mean_erases(const struct sim *s)
{
    struct life l;
    sim_get_life(s, &l);
    return l.erased_blocks / spare_in_use(&s->ftl);
}

static uint64_t raw_of(const struct sim *s, unsigned source)
{
    switch (source) {
    case HOURS: return target_hours(s);
    case CYCLES: return s->target.power_cycles;
    case ERASES: return mean_erases(s);
    case UNSAFE: return s->target.unsafe_shutdowns;
    case TEMPERATURE: return target_temperature_c(s);
    case USED: return target_used_percent(s);
    case SPARE: return target_spare_percent(s);
    case BAD: return target_grown_bad(s);
    case UNCORRECTABLE: return s->uncorrectable;
    case WRITTEN_32MIB: return target_life_written_bytes(s) / MIB32;
    case READ_32MIB: return target_life_read_bytes(s) / MIB32;
    case NAND_32MIB: return target_life_programmed_bytes(s) / MIB32;
    case WRITTEN_GIB: return target_life_written_bytes(s) / GIB;
    case READ_GIB: return target_life_read_bytes(s) / GIB;
    case NAND_GIB: return target_life_programmed_bytes(s) / GIB;
    default: return 0;
    }
}

static uint8_t value_of(const struct sim *s, unsigned source)
{
    uint32_t used = target_used_percent(s);
    if (source == LEFT)
        return (uint8_t)(used < 99 ? 100 - used : 1);
    if (source == SPARE) {
        uint32_t spare = target_spare_percent(s);
        return (uint8_t)(spare ? spare : 1);
    }
    return (uint8_t)(source == TEMPERATURE ? 100 - target_temperature_c(s) : 100);
}

static bool is_exceeded(const struct sim *s)
{
    size_t n;
    const struct attribute *a = attributes_of(s, &n);
    for (size_t i = 0; i < n; i++)
        if (a[i].flags & 1 && value_of(s, a[i].source) <= a[i].threshold)
            return true;
    return false;
}

/* ---- Self-tests ---- */

/* In the drive's own time; the extended test reads all of the medium too. */
static int64_t test_ns(const struct sim *s, unsigned subcommand)
{
    bool extended = (subcommand & 0x7f) == SATED_ATA_TEST_EXTENDED;
    return SHORT_NS / (int64_t)s->model.scale + (extended ? (int64_t)ata_all_sectors(s) * READ_NS_PER_SECTOR : 0);
}

static unsigned minutes(const struct sim *s, unsigned subcommand)
{
    uint64_t whole = (uint64_t)test_ns(s, subcommand) * s->model.scale, m = (whole + 59999999999ULL) / 60000000000ULL;
    return m < 0xffff ? (unsigned)m : 0xffff;
}

/* Tens of percent that are left, upwards. */
static unsigned remaining(const struct sim *s)
{
    return (65535 - operation_progress(s)) * 10 / 65536 + 1;
}

static bool is_testing(const struct sim *s)
{
    return s->target.operation.kind == OPERATION_SELF_TEST;
}

static unsigned test_status(const struct sim *s)
{
    const struct ata_state *a = &s->target.ata;
    if (is_testing(s))
        return TEST_RUNNING << 4 | (remaining(s) > 9 ? 9 : remaining(s));
    return a->n_tests ? a->tests[0].status : 0;
}

/* @param status of a test that ends; what is left to do is added to it where it is broken off. */
void ata_test_ended(struct sim *s, const struct operation *o, unsigned status)
{
    struct ata_state *a = &s->target.ata;
    bool failed = status >> 4 == 7;
    if (status >> 4 == 1 || status >> 4 == 2)
        status |= remaining(s) > 9 ? 9 : remaining(s);
    memmove(a->tests + 1, a->tests, (ATA_TESTS - 1) * sizeof *a->tests);
    a->tests[0] = (struct ata_test){.subcommand = (uint8_t)o->argument[0],
                                    .status = (uint8_t)status,
                                    .hours = (uint16_t)target_hours(s),
                                    .lba = failed ? a->sectors / 2 : 0};
    if (a->n_tests < ATA_TESTS)
        a->n_tests++;
}

static void test(struct sim *s, struct ata_task *t, unsigned subcommand)
{
    bool captive = subcommand & SATED_ATA_TEST_CAPTIVE;
    operation_start(s, OPERATION_SELF_TEST, test_ns(s, subcommand));
    s->target.operation.argument[0] = subcommand;
    if (!captive)
        return;
    if (!operation_wait(s)) {
        t->silent = true;
    } else if (s->target.ata.tests[0].status >>
               4) { /* ATA8-ACS 7.53.5.3: the registers tell how a captive test ended */
        ata_fail_at(t, ATA_ABRT, 0x2cf400);
    } else {
        t->out.lba = 0xc24f00;
    }
}

static void execute_offline(struct sim *s, struct ata_task *t)
{
    unsigned subcommand = t->lba & 0xff, kind = subcommand & 0x7f;
    bool tests = ata_has(s, ATA_HAS_SELF_TEST) && (kind == SATED_ATA_TEST_SHORT || kind == SATED_ATA_TEST_EXTENDED);
    if ((!tests && subcommand != SATED_ATA_TEST_OFFLINE && subcommand != SATED_ATA_TEST_ABORT) || !ata_no_data(t)) {
        ata_abort(t);
        return;
    }
    if (is_testing(s)) { /* a new command ends the one before */
        struct operation o = s->target.operation;
        ata_test_ended(s, &o, 1 << 4);
        operation_stop(s);
    }
    if (subcommand == SATED_ATA_TEST_OFFLINE)
        s->target.ata.offline = 1;
    else if (tests)
        test(s, t, subcommand);
}

/* ---- SMART ---- */

static void put_data(const struct sim *s, uint8_t *data)
{
    size_t n;
    const struct attribute *a = attributes_of(s, &n);
    unsigned extended = minutes(s, SATED_ATA_TEST_EXTENDED);
    data[0] = 16;
    for (size_t i = 0; i < n; i++) {
        uint8_t *b = data + 2 + 12 * i;
        uint64_t raw = raw_of(s, a[i].source);
        b[0] = a[i].id;
        b[1] = a[i].flags;
        b[3] = b[4] = value_of(s, a[i].source);
        bytes_put_le32(b + 5, (uint32_t)raw);
        bytes_put_le16(b + 9, (uint16_t)(raw >> 32));
    }
    data[362] = s->target.ata.offline ? 2 : 0;
    data[363] = (uint8_t)test_status(s);
    data[367] = 0x11; /* EXECUTE OFF-LINE IMMEDIATE, self-tests */
    data[368] = 3;    /* saves its attributes */
    data[370] = 1;    /* error logging */
    data[372] = (uint8_t)minutes(s, SATED_ATA_TEST_SHORT);
    data[373] = (uint8_t)(extended < 0xff ? extended : 0xff);
    if (extended >= 0xff)
        bytes_put_le16(data + 375, (uint16_t)extended);
    ata_put_checksum(data, 512);
}

static void put_thresholds(const struct sim *s, uint8_t *data)
{
    size_t n;
    const struct attribute *a = attributes_of(s, &n);
    data[0] = 16;
    for (size_t i = 0; i < n; i++) {
        data[2 + 12 * i] = a[i].id;
        data[3 + 12 * i] = a[i].threshold;
    }
    ata_put_checksum(data, 512);
}

static void switch_smart(struct sim *s, struct ata_task *t, uint8_t on)
{
    if (ata_no_data(t))
        s->target.ata.smart = on;
    target_changed(s);
}

static void read_smart_log(struct sim *s, struct ata_task *t)
{
    uint32_t pages = t->count & 0xff, log = t->lba & 0xff;
    uint8_t data[512];
    if (!pages || !ata_put_log(s, log, pages - 1, data, false)) {
        ata_abort(t);
        return;
    }
    if (!ata_data_in(t, pages * ATA_SECTOR))
        return;
    for (uint32_t i = 0; i < pages; i++)
        ata_put_log(s, log, i, t->data + i * 512, false);
}

/* RETURN STATUS (ACS-4 7.44.7). */
static void return_status(struct sim *s, struct ata_task *t)
{
    if (ata_no_data(t))
        t->out.lba = is_exceeded(s) ? 0x2cf400 : 0xc24f00;
}

void ata_smart(struct sim *s, struct ata_task *t)
{
    unsigned what = t->features & 0xff;
    bool busy = operation_sanitizes(s) || s->target.ata.sanitize_failed; /* only RETURN STATUS then */
    if (!ata_has(s, ATA_HAS_SMART) || (t->lba >> 8 & 0xffff) != 0xc24f || (!s->target.ata.smart && what != 0xd8) ||
        (busy && what != 0xda)) {
        ata_abort(t);
        return;
    }
    switch (what) {
    case 0xd0:
        if (ata_data_in(t, 512))
            put_data(s, t->data);
        break;
    case 0xd1:
        if (ata_data_in(t, 512))
            put_thresholds(s, t->data);
        break;
    case 0xd2: /* attribute autosave, SAVE ATTRIBUTE VALUES, automatic off-line: it does all of it by itself */
    case 0xd3:
    case 0xdb: ata_no_data(t); break;
    case 0xd4: execute_offline(s, t); break;
    case 0xd5: read_smart_log(s, t); break;
    case 0xd8: switch_smart(s, t, 1); break;
    case 0xd9: switch_smart(s, t, 0); break;
    case 0xda: return_status(s, t); break;
    default: ata_abort(t);
    }
}
