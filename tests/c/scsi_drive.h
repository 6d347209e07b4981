/* SPDX-License-Identifier: MIT */
/* What the tests of the simulated SAS drive share: commands by the library's builders, answers by its decoders. */
#ifndef SATED_TESTS_SCSI_DRIVE_H
#define SATED_TESTS_SCSI_DRIVE_H

#include "drives.h"

#define MODEL "sim:s840,scale=1/64"
#define SECOND 1000000000LL

static struct sated_drive *drive;
static struct sated_reply reply;
static struct sated_scsi_sense sense;
static uint8_t page[65536];

/* Sends it. Return: key, ASC and ASCQ as 0x52400, 0 where it is carried out, -1 where it is not answered. */
static inline int ask(const struct sated_scsi_command *c, void *data)
{
    memset(&sense, 0, sizeof sense);
    int rc = sated_scsi_raw(drive, c, data, &reply);
    if (rc != 0 && rc != SATED_SENSE)
        return -1;
    if (reply.scsi_status != 2)
        return rc;
    CHECK_EQ(sated_scsi_decode_sense(reply.sense, reply.sense_len, &sense), 0);
    CHECK(!sense.truncated);
    return sense.key << 16 | sense.asc << 8 | sense.ascq;
}

/* The same, of what a builder makes. */
#define ASK(data, build, ...) \
    __extension__({ \
        struct sated_scsi_command ask_c; \
        sated_scsi_build_##build(&ask_c, ##__VA_ARGS__) ? -1 : ask(&ask_c, (data)); \
    })

/* A command by its bytes. */
static inline int ask_bytes(const char *hex, uint direction, uint n)
{
    struct sated_scsi_command c = {.direction = n ? direction : SATED_DATA_NONE, .data_len = n};
    for (unsigned byte; sscanf(hex, "%2x", &byte) == 1; hex += hex[2] == ' ' ? 3 : 2)
        c.cdb[c.cdb_len++] = (uint8_t)byte;
    return ask(&c, n ? page : NULL);
}

static inline int ready(void)
{
    return ASK(NULL, test_unit_ready);
}

/* What REQUEST SENSE tells. */
static inline int polled(bool desc)
{
    CHECK_EQ(ASK(page, request_sense, desc, 252), 0);
    CHECK_EQ(sated_scsi_decode_sense(page, reply.data_len, &sense), 0);
    CHECK_EQ(sense.descriptor_format, desc);
    return sense.key << 16 | sense.asc << 8 | sense.ascq;
}

static inline uint64_t capacity(uint *block)
{
    struct sated_scsi_capacity c;
    CHECK_EQ(ASK(page, read_capacity_16, 32), 0);
    CHECK_EQ(sated_scsi_decode_capacity_16(page, reply.data_len, &c), 0);
    *block = c.block_bytes;
    return c.blocks;
}

static inline uint64_t mapped(void)
{
    struct sated_sim_counters c;
    CHECK_EQ(sated_sim_get_counters(drive, &c), 0);
    return c.mapped_units;
}

static inline void fault(uint kind, uint count, int opcode, uint outcome)
{
    struct sated_sim_fault f;
    sated_sim_fault_init(&f);
    f.kind = kind;
    f.count = count;
    f.opcode = opcode;
    f.outcome = outcome;
    CHECK_EQ(sated_sim_fail(drive, &f), 0);
}

static inline void power_cycle(void)
{
    CHECK_EQ(sated_sim_power_cycle(drive), 0);
    CHECK_EQ(ready(), 0x62900); /* SPC-5: POWER ON, RESET, OR BUS DEVICE RESET OCCURRED */
}

static inline int write_block(uint64_t lba, uint8_t value)
{
    uint block = 0;
    struct sated_identity id;
    CHECK_EQ(sated_drive_get_identity(drive, &id), 0);
    block = id.logical_block_bytes;
    memset(page, value, block);
    return ASK(page, write_16, lba, 1, block, 0, false, false);
}

/* Return: what all bytes of it are, or -1; where it cannot be read, the sense data as ask() has it. */
static inline int read_block(uint64_t lba)
{
    struct sated_identity id;
    CHECK_EQ(sated_drive_get_identity(drive, &id), 0);
    int rc = ASK(page, read_16, lba, 1, id.logical_block_bytes, 0, false, false);
    if (rc)
        return rc;
    for (uint i = 1; i < id.logical_block_bytes; i++)
        if (page[i] != page[0])
            return -1;
    return page[0];
}

/* ---- What changes all of it ---- */

/* Drive time, by the clock that reports it times the scale. */
static inline void sleep_s(int64_t seconds)
{
    CHECK_EQ(sated_drive_sleep(drive, seconds * SECOND * 64), 0);
}

static inline int resize(uint64_t blocks, uint32_t block_bytes, bool llbaa)
{
    struct sated_scsi_command c;
    uint8_t list[64];
    int n = sated_scsi_build_resize_list(list, sizeof list, blocks, block_bytes, llbaa);
    CHECK_EQ(n, llbaa ? 24 : 16);
    CHECK_EQ(sated_scsi_build_mode_select_10(&c, true, (uint32_t)n), 0);
    return ask(&c, list);
}

static inline int format(uint32_t ffmt, uint32_t flags, bool longlist)
{
    struct sated_scsi_command c;
    uint8_t list[8];
    int n = sated_scsi_build_format_list(list, sizeof list, flags, 0, 0, longlist);
    CHECK_EQ(sated_scsi_build_format_unit(&c, 0, ffmt, true, longlist, (uint32_t)n), 0);
    return ask(&c, list);
}

static inline int sanitize(uint32_t action, bool immed, bool ause)
{
    struct sated_scsi_command c;
    uint8_t list[64];
    int n = action == SATED_SANITIZE_OVERWRITE
                ? sated_scsi_build_overwrite_list(list, sizeof list, 3, true, 0, "\xa5\x5a", 2)
                : 0;
    CHECK_EQ(sated_scsi_build_sanitize(&c, action, immed, false, ause, (uint32_t)n), 0);
    return ask(&c, n ? list : NULL);
}

#endif
