/* SPDX-License-Identifier: MIT */
/* Every command that the SAS drive has, and the reports about them (SPC-5). */
#include "sim/target_scsi_inside.h"

#include <string.h>

#include "core/bytes.h"

#define EXEMPT (SCSI_EXEMPT | SCSI_SANITIZE | SCSI_FORMAT)
#define REPORT (SCSI_SANITIZE | SCSI_FORMAT)
#define READS SCSI_MEDIUM
#define WRITES (SCSI_MEDIUM | SCSI_WRITE)
#define ERASES (SCSI_MEDIUM | SCSI_REPAIR | SCSI_WRITE)

/* Of fields of whole bytes. */
#define B2 0xff, 0xff
#define B3 B2, 0xff
#define B4 B3, 0xff
#define B8 B4, B4

/* Lowest opcode and service action first, as they are reported. CONTROL is 0 throughout: no NACA. */
static const struct scsi_row rows[] = {
    {0x00, -1, 6, SCSI_MEDIUM, TIME_SHORT, {0x00}, scsi_test_ready},
    {0x03, -1, 6, EXEMPT, TIME_SHORT, {0x03, 0x01, 0, 0, 0xff}, scsi_request_sense},
    {0x04, -1, 6, ERASES, TIME_ERASE, {0x04, 0xff, 0, 0, 0x03}, scsi_format_unit},
    {0x08, -1, 6, READS, TIME_TRANSFER, {0x08, 0x1f, B3}, scsi_read},
    {0x0a, -1, 6, WRITES, TIME_TRANSFER, {0x0a, 0x1f, B3}, scsi_write},
    {0x12, -1, 6, EXEMPT, TIME_SHORT, {0x12, 0x01, B3}, scsi_inquiry},
    {0x15, -1, 6, 0, TIME_SHORT, {0x15, 0x11, 0, 0, 0xff}, scsi_mode_select},
    {0x1a, -1, 6, 0, TIME_SHORT, {0x1a, 0x08, B3}, scsi_mode_sense},
    {0x1b, -1, 6, 0, TIME_SHORT, {0x1b, 0x01, 0, 0x0f, 0xf5}, scsi_start_stop},
    {0x1c, -1, 6, 0, TIME_SHORT, {0x1c, 0x01, B3}, scsi_receive_diagnostic},
    {0x1d, -1, 6, SCSI_MEDIUM | SCSI_REPAIR, TIME_SELF_TEST, {0x1d, 0xf7, 0, B2}, scsi_send_diagnostic},
    {0x25, -1, 10, READS, TIME_SHORT, {0x25}, scsi_read_capacity_10},
    {0x28, -1, 10, READS, TIME_TRANSFER, {0x28, 0x1c, B4, 0, B2}, scsi_read},
    {0x2a, -1, 10, WRITES, TIME_TRANSFER, {0x2a, 0x18, B4, 0, B2}, scsi_write},
    {0x2e, -1, 10, WRITES, TIME_TRANSFER, {0x2e, 0x16, B4, 0, B2}, scsi_write_verify},
    {0x2f, -1, 10, READS, TIME_TRANSFER, {0x2f, 0x16, B4, 0, B2}, scsi_verify},
    {0x35, -1, 10, READS, TIME_TRANSFER, {0x35, 0x02, B4, 0, B2}, scsi_synchronize},
    {0x37, -1, 10, READS, TIME_SHORT, {0x37, 0x00, 0x1f, 0, 0, 0, 0, B2}, scsi_defects_10},
    {0x41, -1, 10, WRITES, TIME_TRANSFER, {0x41, 0x08, B4, 0, B2}, scsi_write_same},
    {0x42, -1, 10, WRITES, TIME_TRANSFER, {0x42, 0x00, 0, 0, 0, 0, 0, B2}, scsi_unmap},
    {0x48,
     SATED_SANITIZE_OVERWRITE,
     10,
     ERASES | SCSI_SANITIZE,
     TIME_OVERWRITE,
     {0x48, 0xff, 0, 0, 0, 0, 0, B2},
     scsi_sanitize},
    {0x48,
     SATED_SANITIZE_BLOCK_ERASE,
     10,
     ERASES | SCSI_SANITIZE,
     TIME_ERASE,
     {0x48, 0xff, 0, 0, 0, 0, 0, B2},
     scsi_sanitize},
    {0x48,
     SATED_SANITIZE_CRYPTO_ERASE,
     10,
     ERASES | SCSI_SANITIZE,
     TIME_ERASE,
     {0x48, 0xff, 0, 0, 0, 0, 0, B2},
     scsi_sanitize},
    {0x48,
     SATED_SANITIZE_EXIT_FAILURE,
     10,
     ERASES | SCSI_SANITIZE,
     TIME_SHORT,
     {0x48, 0xff, 0, 0, 0, 0, 0, B2},
     scsi_sanitize_exit},
    {0x4c, -1, 10, 0, TIME_SHORT, {0x4c, 0x03, B2, 0, 0, 0, B2}, scsi_log_select},
    {0x4d, -1, 10, SCSI_SANITIZE | SCSI_FORMAT, TIME_SHORT, {0x4d, 0x00, B2, 0, B4}, scsi_log_sense},
    {0x55, -1, 10, 0, TIME_SHORT, {0x55, 0x11, 0, 0, 0, 0, 0, B2}, scsi_mode_select},
    {0x5a, -1, 10, 0, TIME_SHORT, {0x5a, 0x18, B2, 0, 0, 0, B2}, scsi_mode_sense},
    {0x5e, 0, 10, 0, TIME_SHORT, {0x5e, 0x1f, 0, 0, 0, 0, 0, B2}, scsi_reserve_in},
    {0x5e, 1, 10, 0, TIME_SHORT, {0x5e, 0x1f, 0, 0, 0, 0, 0, B2}, scsi_reserve_in},
    {0x5e, 2, 10, 0, TIME_SHORT, {0x5e, 0x1f, 0, 0, 0, 0, 0, B2}, scsi_reserve_in},
    {0x5e, 3, 10, 0, TIME_SHORT, {0x5e, 0x1f, 0, 0, 0, 0, 0, B2}, scsi_reserve_in},
    {0x88, -1, 16, READS, TIME_TRANSFER, {0x88, 0x1c, B8, B4}, scsi_read},
    {0x89, -1, 16, WRITES, TIME_TRANSFER, {0x89, 0x18, B8, 0, 0, 0, 0xff}, scsi_compare_write},
    {0x8a, -1, 16, WRITES, TIME_TRANSFER, {0x8a, 0x18, B8, B4}, scsi_write},
    {0x8e, -1, 16, WRITES, TIME_TRANSFER, {0x8e, 0x16, B8, B4}, scsi_write_verify},
    {0x8f, -1, 16, READS, TIME_TRANSFER, {0x8f, 0x16, B8, B4}, scsi_verify},
    {0x91, -1, 16, READS, TIME_TRANSFER, {0x91, 0x02, B8, B4}, scsi_synchronize},
    {0x93, -1, 16, WRITES, TIME_TRANSFER, {0x93, 0x09, B8, B4}, scsi_write_same},
    {0x9e, 0x10, 16, READS, TIME_SHORT, {0x9e, 0x1f, 0, 0, 0, 0, 0, 0, 0, 0, B4}, scsi_read_capacity_16},
    {0x9e, 0x12, 16, READS, TIME_SHORT, {0x9e, 0x1f, B8, B4, 0x0f}, scsi_lba_status},
    {0xa0, -1, 12, EXEMPT, TIME_SHORT, {0xa0, 0, 0xff, 0, 0, 0, B4}, scsi_report_luns},
    {0xa3, 0x0c, 12, REPORT, TIME_SHORT, {0xa3, 0x1f, 0x87, B3, B4}, scsi_report_opcodes},
    {0xa3, 0x0d, 12, REPORT, TIME_SHORT, {0xa3, 0x1f, 0x80, 0, 0, 0, B4}, scsi_report_functions},
    {0xa8, -1, 12, READS, TIME_TRANSFER, {0xa8, 0x1c, B4, B4}, scsi_read},
    {0xaa, -1, 12, WRITES, TIME_TRANSFER, {0xaa, 0x18, B4, B4}, scsi_write},
    {0xae, -1, 12, WRITES, TIME_TRANSFER, {0xae, 0x16, B4, B4}, scsi_write_verify},
    {0xaf, -1, 12, READS, TIME_TRANSFER, {0xaf, 0x16, B4, B4}, scsi_verify},
    {0xb7, -1, 12, READS, TIME_SHORT, {0xb7, 0x1f, B4, B4}, scsi_defects_12},
};

#define ROWS (sizeof rows / sizeof *rows)

static const struct scsi_row *find(uint8_t opcode, int action, bool *known)
{
    *known = false;
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].opcode == opcode) {
            *known = true;
            if (rows[i].action < 0 || rows[i].action == action)
                return &rows[i];
        }
    return NULL;
}

const struct scsi_row *scsi_find(const uint8_t *cdb, bool *opcode)
{
    return find(cdb[0], cdb[1] & 0x1f, opcode);
}

/* Seconds as the host counts them: the drive's own are shorter by the scale. The recommended timeout leaves room for as
 * much again. */
static uint32_t nominal_s(const struct sim *s, uint8_t time)
{
    int64_t ns = 1000000000, scale = (int64_t)s->model.scale;
    switch (time) {
    case TIME_ERASE: ns = scsi_erase_ns(s, OPERATION_FORMAT, 1) * scale; break;
    case TIME_OVERWRITE: ns = scsi_erase_ns(s, OPERATION_SANITIZE_OVERWRITE, 1) * scale; break;
    case TIME_SELF_TEST: ns = SCSI_EXTENDED_TEST_NS; break;
    default: break;
    }
    return (uint32_t)((ns + 999999999) / 1000000000);
}

static uint32_t recommended_s(const struct sim *s, uint8_t time)
{
    switch (time) {
    case TIME_OVERWRITE: return 31 * nominal_s(s, time) + 60;
    case TIME_ERASE:
    case TIME_SELF_TEST: return 2 * nominal_s(s, time) + 60;
    default: return 30;
    }
}

static void put_timeouts(const struct sim *s, const struct scsi_row *row, uint8_t out[12])
{
    bytes_put_be16(out, 10);
    bytes_put_be32(out + 4, nominal_s(s, row->time));
    bytes_put_be32(out + 8, recommended_s(s, row->time));
}

static int report_all(struct scsi_call *k, bool rctd, uint32_t wanted)
{
    uint8_t out[4 + ROWS * 20] = {0};
    uint32_t n = 4;
    for (size_t i = 0; i < ROWS; i++) {
        out[n] = rows[i].opcode;
        bytes_put_be16(out + n + 2, rows[i].action < 0 ? 0 : (uint16_t)rows[i].action);
        out[n + 5] = (uint8_t)((rctd ? 2 : 0) | (rows[i].action >= 0));
        bytes_put_be16(out + n + 6, rows[i].bytes);
        n += 8;
        if (rctd) {
            put_timeouts(k->s, &rows[i], out + n);
            n += 12;
        }
    }
    bytes_put_be32(out, n - 4);
    return scsi_give(k, out, n, wanted);
}

static int report_one(struct scsi_call *k, const struct scsi_row *row, bool rctd, uint32_t wanted)
{
    uint8_t out[4 + 16 + 12] = {0};
    out[1] = row ? 3 : 1;
    if (!row)
        return scsi_give(k, out, 4, wanted);
    uint32_t n = 4u + row->bytes;
    bytes_put_be16(out + 2, row->bytes);
    memcpy(out + 4, row->usage, row->bytes);
    if (row->action >= 0)
        out[5] = (uint8_t)((out[5] & 0xe0) | (uint8_t)row->action);
    if (rctd) {
        out[1] |= 0x80;
        put_timeouts(k->s, row, out + n);
        n += 12;
    }
    return scsi_give(k, out, n, wanted);
}

int scsi_report_opcodes(struct scsi_call *k)
{
    uint8_t options = k->cdb[2] & 7;
    bool rctd = k->cdb[2] & 0x80, known;
    uint32_t wanted = bytes_be32(k->cdb + 6), action = bytes_be16(k->cdb + 4);
    if (!options)
        return report_all(k, rctd, wanted);
    const struct scsi_row *row = find(k->cdb[3], action < 32 ? (int)action : 32, &known);
    bool has_actions = known && !(row && row->action < 0);
    switch (options) {
    case 1: return has_actions ? scsi_bad_cdb(k, 2, 2) : report_one(k, row, rctd, wanted);
    case 2: return known && !has_actions ? scsi_bad_cdb(k, 2, 2) : report_one(k, row, rctd, wanted);
    case 3: return report_one(k, row && (has_actions || !action) ? row : NULL, rctd, wanted);
    default: return scsi_bad_cdb(k, 2, 2);
    }
}

/* ABORT TASK, ABORT TASK SET, CLEAR ACA not, CLEAR TASK SET, LOGICAL UNIT RESET, QUERY TASK; I_T NEXUS RESET, QUERY
 * TASK SET, QUERY ASYNCHRONOUS EVENT. */
int scsi_report_functions(struct scsi_call *k)
{
    uint8_t out[16] = {0xdc, 0x07}, n = 4;
    if (k->cdb[2] & 0x80) { /* REPD: with timeouts, of 100 ms */
        out[3] = 12;
        out[4] = 1; /* TMFTMOV */
        bytes_put_be32(out + 8, 50);
        bytes_put_be32(out + 12, 20);
        n = 16;
    }
    return scsi_give(k, out, n, bytes_be32(k->cdb + 6));
}
