/* SPDX-License-Identifier: MIT */
/* A simulated ATA drive as its host sees it: commands by the library's builders, answers by its decoders. */
#ifndef SATED_TESTS_ATA_DRIVE_H
#define SATED_TESTS_ATA_DRIVE_H

#include <stdlib.h>

#include <sated/sated.h>

#include "check.h"

#define X210 "sim:x210,scale=1/64"
#define KEPT "./test_target.sim"

static struct sated_drive *drive;
static struct sated_ata_command cmd;
static struct sated_ata_registers regs;
static struct sated_reply reply;
static struct sated_ata_identify id;
static uint8_t page[1 << 20];

static inline void open_drive(const char *uri)
{
    struct sated_detail d;
    if (sated_drive_open(&drive, uri, NULL)) {
        sated_detail_get(&d);
        printf("%s: %s\n", uri, d.text);
        exit(1);
    }
}

static inline void close_drive(void)
{
    CHECK_EQ(sated_drive_close(drive), 0);
}

/* Sends what a builder made, with `page` as its data. */
static inline int send_ata(int built)
{
    CHECK_EQ(built, 0);
    return sated_ata_raw(drive, &cmd, cmd.data_len ? page : NULL, &regs, &reply);
}

#define ATA(name, ...) send_ata(sated_ata_build_##name(&cmd, ##__VA_ARGS__))

static inline int send_cdb(const void *cdb, uint32_t n, enum sated_direction direction, uint32_t bytes)
{
    struct sated_scsi_command c = {.cdb_len = n, .direction = direction, .data_len = bytes};
    memcpy(c.cdb, cdb, n);
    return sated_scsi_raw(drive, &c, bytes ? page : NULL, &reply);
}

#define CDB(direction, bytes, ...) \
    send_cdb((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), direction, bytes)

static inline const struct sated_ata_identify *identify(void)
{
    CHECK_EQ(ATA(identify_device), 0);
    CHECK_EQ(sated_ata_decode_identify(page, 512, &id), 0);
    CHECK_EQ(id.checksum, SATED_ATA_CHECKSUM_OK);
    return &id;
}

/* A Security command with its password. */
static inline int security(uint32_t command, const char *password, bool master, bool flag)
{
    struct sated_ata_security_data data = {.command = command,
                                           .master = master,
                                           .n_password = (uint32_t)strlen(password)};
    memcpy(data.password, password, strlen(password));
    data.maximum = command == 0xf1 && flag;
    data.enhanced = command == 0xf4 && flag;
    data.revision = command == 0xf1 && master ? 7 : 0;
    int built = command == 0xf1   ? sated_ata_build_security_set_password(&cmd)
                : command == 0xf2 ? sated_ata_build_security_unlock(&cmd)
                : command == 0xf4 ? sated_ata_build_security_erase_unit(&cmd, 1000)
                                  : sated_ata_build_security_disable_password(&cmd);
    CHECK_EQ(sated_ata_build_security_data(page, sizeof page, &data), 512);
    return send_ata(built);
}

static inline void fill(uint64_t lba, uint32_t sectors, uint8_t byte)
{
    memset(page, byte, sectors * 512);
    CHECK_EQ(ATA(write, lba, sectors, 512, true, true), 0);
}

/* Whether sectors read as one byte throughout. */
static inline bool holds(uint64_t lba, uint32_t sectors, uint8_t byte)
{
    memset(page, 0xee, sectors * 512);
    if (ATA(read, lba, sectors, 512, true, true))
        return false;
    for (uint32_t i = 0; i < sectors * 512; i++)
        if (page[i] != byte)
            return false;
    return true;
}

static inline uint64_t mapped(void)
{
    struct sated_sim_counters c;
    CHECK_EQ(sated_sim_get_counters(drive, &c), 0);
    return c.mapped_units;
}

static inline void cycle(void)
{
    CHECK_EQ(sated_sim_power_cycle(drive), 0);
}

static inline void fault(enum sated_sim_fault_kind kind, int32_t opcode, uint32_t count, uint32_t outcome)
{
    struct sated_sim_fault f;
    sated_sim_fault_init(&f);
    f.kind = kind;
    f.opcode = opcode;
    f.count = count;
    f.outcome = outcome;
    CHECK_EQ(sated_sim_fail(drive, &f), 0);
}

static inline void pass_s(double seconds)
{
    CHECK_EQ(sated_drive_sleep(drive, (int64_t)(seconds * 1e9)), 0);
}

static inline struct sated_ata_sanitize_status sanitize_status(bool clear)
{
    struct sated_ata_sanitize_status s;
    ATA(sanitize_status, clear);
    CHECK_EQ(sated_ata_decode_sanitize_status(&regs, &s), 0);
    return s;
}

#endif
