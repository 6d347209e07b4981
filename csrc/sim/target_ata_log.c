/* SPDX-License-Identifier: MIT */
/* Logs, by READ LOG EXT and by SMART READ LOG (ACS-4 7.23, 9). */
#include <string.h>

#include "sim/target_ata_inside.h"

enum {
    GENERAL = 1, /* by READ LOG (DMA) EXT */
    SMART = 2,   /* by SMART READ LOG */
    ALWAYS = 4,  /* also while a sanitize operation goes on (ACS-4 4.17.9) */
};

static const struct {
    uint8_t log, pages, access;
} logs[] = {
    {0x00, 1, GENERAL | SMART},  {0x01, 1, SMART},   {0x03, 1, GENERAL},
    {0x04, 8, GENERAL | SMART},  {0x06, 1, SMART},   {0x07, 1, GENERAL},
    {0x10, 1, GENERAL | ALWAYS}, {0x11, 1, GENERAL}, {0x30, 9, GENERAL | SMART | ALWAYS},
};

#define LOGS (sizeof logs / sizeof *logs)

/* Which of them a drive has: an overlay may have taken some away. */
static bool is_there(const struct sim *s, size_t i)
{
    switch (logs[i].log) {
    case 0x01:
    case 0x03: return ata_has(s, ATA_HAS_SMART) && ata_has(s, ATA_HAS_ERROR_LOG);
    case 0x06:
    case 0x07: return ata_has(s, ATA_HAS_SMART) && ata_has(s, ATA_HAS_SELF_TEST);
    case 0x10: return s->target.ata.overlay_sata & 1;
    default: return true;
    }
}

static void put_directory(const struct sim *s, uint8_t *data, unsigned access)
{
    bytes_put_le16(data, 1);
    for (size_t i = 1; i < LOGS; i++)
        if (logs[i].access & access && is_there(s, i))
            bytes_put_le16(data + 2 * logs[i].log, logs[i].pages);
}

/* ---- Device statistics (ACS-4 9.5) ---- */

static void put_statistic(uint8_t *data, unsigned at, uint64_t value, unsigned flags)
{
    bytes_put_le64(data + at, value | (uint64_t)(0xc0 | flags) << 56); /* supported and valid */
}

static void put_general(const struct sim *s, uint8_t *data)
{
    struct life l;
    sim_get_life(s, &l);
    put_statistic(data, 8, s->target.power_cycles & UINT32_MAX, 0);
    put_statistic(data, 16, target_hours(s) & UINT32_MAX, 0);
    put_statistic(data, 24, target_life_written_bytes(s) / ATA_SECTOR & 0xffffffffffff, 0);
    put_statistic(data, 32, l.write_commands * s->model.scale & 0xffffffffffff, 0);
    put_statistic(data, 40, target_life_read_bytes(s) / ATA_SECTOR & 0xffffffffffff, 0);
    put_statistic(data, 48, l.read_commands * s->model.scale & 0xffffffffffff, 0);
}

static void put_statistics(const struct sim *s, uint32_t page, uint8_t *data)
{
    static const uint8_t pages[] = {0, 1, 4, 5, 6, 7};
    if (page > 7 || !memchr(pages, (int)page, sizeof pages))
        return;
    bytes_put_le64(data, page << 16 | 1);
    switch (page) {
    case 0:
        data[8] = sizeof pages;
        memcpy(data + 9, pages, sizeof pages);
        break;
    case 1: put_general(s, data); break;
    case 4:
        put_statistic(data, 8, s->uncorrectable & UINT32_MAX, 0);
        put_statistic(data, 16, 0, 0);
        break;
    case 5:
        put_statistic(data, 8, target_temperature_c(s), 0);
        put_statistic(data, 88, 70, 0);
        put_statistic(data, 104, 0, 0);
        break;
    case 6:
        put_statistic(data, 8, s->target.power_cycles & UINT32_MAX, 0);
        put_statistic(data, 24, 0, 0);
        break;
    default: put_statistic(data, 8, target_used_percent(s), 0x20); /* normalised: it may pass 100 */
    }
}

/* ---- Self-test logs (ACS-4 9.16; SMART log 06h as in ATA8-ACS A.15) ---- */

static void put_tests(const struct sim *s, uint8_t *data, bool extended)
{
    const struct ata_state *a = &s->target.ata;
    uint32_t most = extended ? 19 : ATA_TESTS, n = a->n_tests < most ? a->n_tests : most;
    uint32_t first = extended ? 4 : 2, length = extended ? 26 : 24;
    data[0] = 1;
    for (uint32_t i = 0; i < n; i++) { /* the newest stands last, where the index points */
        const struct ata_test *test = &a->tests[n - 1 - i];
        uint8_t *b = data + first + i * length;
        bool failed = test->status >> 4 == 7;
        b[0] = test->subcommand;
        b[1] = test->status;
        bytes_put_le16(b + 2, test->hours);
        bytes_put_le32(b + 5, failed ? (uint32_t)test->lba : UINT32_MAX);
        if (extended)
            bytes_put_le16(b + 9, failed ? (uint16_t)(test->lba >> 32) : UINT16_MAX);
    }
    if (extended)
        bytes_put_le16(data + 2, (uint16_t)n);
    else
        data[508] = (uint8_t)n;
    ata_put_checksum(data, 512);
}

/* ---- The other logs ---- */

/* SATA Phy event counters (ACS-4 9.15): identifier with the length of its value in words in bits 14:12. */
static void put_phy(uint8_t *data)
{
    static const uint16_t counters[] = {0x1001, 0x1009, 0x100a};
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        bytes_put_le16(data + 4 + 4 * i, counters[i]);
    ata_put_checksum(data, 512);
}

bool ata_put_log(const struct sim *s, uint32_t log, uint32_t page, uint8_t data[512], bool general)
{
    size_t i = 0;
    unsigned access = general ? GENERAL : SMART;
    while (i < LOGS && (logs[i].log != log || !(logs[i].access & access)))
        i++;
    if (i == LOGS || page >= logs[i].pages || !is_there(s, i) ||
        (!(logs[i].access & ALWAYS) && (operation_sanitizes(s) || s->target.ata.sanitize_failed)))
        return false;
    memset(data, 0, 512);
    switch (log) {
    case 0x00: put_directory(s, data, access); break;
    case 0x01: /* no error was ever logged */
    case 0x03:
        data[0] = 1;
        ata_put_checksum(data, 512);
        break;
    case 0x04: put_statistics(s, page, data); break;
    case 0x06: put_tests(s, data, false); break;
    case 0x07: put_tests(s, data, true); break;
    case 0x10:
        data[0] = 0x80; /* NQ: the last error was not one of NCQ */
        ata_put_checksum(data, 512);
        break;
    case 0x11: put_phy(data); break;
    default: ata_capability_page(s, page, data);
    }
    return true;
}

void ata_read_log(struct sim *s, struct ata_task *t)
{
    uint32_t log = t->lba & 0xff, page = (uint32_t)(t->lba >> 8 & 0xff) | (uint32_t)(t->lba >> 32 & 0xff) << 8;
    uint8_t data[512];
    if (!t->count || !ata_put_log(s, log, page + t->count - 1, data, true)) {
        ata_abort(t);
        return;
    }
    if (!ata_data_in(t, t->count * ATA_SECTOR))
        return;
    for (uint32_t i = 0; i < t->count; i++)
        ata_put_log(s, log, page + i, t->data + i * 512, true);
}
