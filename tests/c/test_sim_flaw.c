/* SPDX-License-Identifier: MIT */
/* Lost data and a drive without blocks to spare, as each protocol tells it: ACS-4 6.2 (UNC, ABRT), SBC-4 4.18 and SPC-5
 * (03/11h, 03/0Ch, 07/27h, and 5Dh of the informational exceptions), NVM Express Base 2.0c figure 207 and NVM 3.1.2. */
#include <errno.h>
#include <stdlib.h>

#include <sated/sated.h>

#include "check.h"
#include "core/bytes.h"
#include "core/random.h"
#include "sim/flaw.h"
#include "sim/sim.h"
#include "transport/handle.h"

static struct sated_drive *drive;
static uint8_t page[65536];

static void open_drive(const char *uri)
{
    struct sated_detail d;
    if (!sated_drive_open(&drive, uri, NULL))
        return;
    sated_detail_get(&d);
    printf("%s: %s\n", uri, d.text);
    exit(1);
}

static struct sated_health health(void)
{
    struct sated_health h;
    CHECK_EQ(sated_health_get(drive, &h, NULL), 0);
    return h;
}

/* How a command ended: 0, or ATA's ERROR register, or key, ASC and ASCQ, or NVMe's type and code; and the LBA told. */
static unsigned send(bool write, uint64_t lba, uint32_t blocks, uint64_t *told)
{
    struct sated_reply reply;
    *told = 0;
    if (drive->identity.protocol == SATED_PROTOCOL_NVME) {
        struct sated_nvme_command c;
        CHECK_EQ(write ? sated_nvme_build_write(&c, 1, lba, blocks, 512, 0)
                       : sated_nvme_build_read(&c, 1, lba, blocks, 512, 0),
                 0);
        sated_nvme_io_raw(drive, &c, page, &reply);
        return reply.nvme_status & 0x7ff;
    }
    if (drive->identity.protocol == SATED_PROTOCOL_ATA) {
        struct sated_ata_command c;
        struct sated_ata_registers regs;
        CHECK_EQ(write ? sated_ata_build_write(&c, lba, blocks, 512, true, true)
                       : sated_ata_build_read(&c, lba, blocks, 512, true, true),
                 0);
        int rc = sated_ata_raw(drive, &c, page, &regs, &reply);
        *told = rc ? regs.lba : 0;
        return rc ? regs.error : 0;
    }
    struct sated_scsi_command c;
    struct sated_scsi_sense sense;
    CHECK_EQ(write ? sated_scsi_build_write_16(&c, lba, blocks, 512, 0, false, false)
                   : sated_scsi_build_read_16(&c, lba, blocks, 512, 0, false, false),
             0);
    if (sated_scsi_raw(drive, &c, page, &reply) != SATED_SENSE)
        return 0;
    CHECK_EQ(sated_scsi_decode_sense(reply.sense, reply.sense_len, &sense), 0);
    *told = sense.information;
    return (unsigned)(sense.key << 16 | sense.asc << 8 | sense.ascq);
}

struct face {
    const char *uri;
    unsigned lost, lost_part, protected; /* a read of lost data, a write of part of it, a write where none is taken */
    bool tells_lba;
    double errors; /* that health tells; -1: it does not */
};

static const struct face faces[] = {
    {"sim:x210,scale=1/64,domain=drive", 0x40, 0x40, 0x04, true, -1},
    {"sim:s840,scale=1/64", 0x31100, 0x30c00, 0x72700, true, 3},
    {"sim:generic-tlc-nvme,capacity=960GB,scale=1/1024", 0x281, 0x281, 0x182, false, 3},
};

/* A load knows it as the kernel's errno of a medium error, and goes on. */
static void check_load(void)
{
    struct sim *s = drive->sim;
    uint32_t tag;
    int64_t done;
    int status, failed = 0;
    uint64_t before = s->uncorrectable;
    for (uint32_t unit = 0; unit < 2000; unit++) {
        CHECK_EQ(sim_submit(s, 0, SATED_READ, unit * s->model.unit_bytes, (uint32_t)s->model.unit_bytes), 0);
        CHECK(sim_next(s, &tag, &done, &status));
        CHECK(!status || status == -ENODATA);
        failed += status != 0;
    }
    CHECK(failed > 0 && failed < 2000);
    CHECK_EQ(s->uncorrectable, before + (uint64_t)failed);
}

static void check_lost(const struct face *f)
{
    uint64_t told, unit, blocks;
    open_drive(f->uri);
    struct sim *s = drive->sim;
    unit = s->model.unit_bytes;
    blocks = unit / 512;
    for (uint64_t lba = 0; lba < 32768; lba += 128)
        CHECK_EQ(send(true, lba, 128, &told), 0);
    CHECK_EQ(sated_sim_fail_die(drive, 1), 0);
    uint64_t first = flaw_first_lost(s, 0, (uint64_t)32768 * 512) / 512;
    CHECK(first < 32768 && first % blocks == 0);
    CHECK_EQ(send(false, first + 1, 1, &told), f->lost);
    CHECK_EQ(told, f->tells_lba ? first + 1 : 0);
    /* From before it the first block of it is told. */
    uint64_t from = first ? first - 1 : 0;
    CHECK_EQ(send(false, from, 2, &told), f->lost);
    CHECK_EQ(told, f->tells_lba ? first : 0);
    CHECK_EQ(send(true, first + 1, 1, &told), f->lost_part);
    if (f->errors >= 0)
        CHECK_EQ(health().media_errors, f->errors);
    CHECK_EQ(s->uncorrectable, 3);
    if (drive->identity.protocol == SATED_PROTOCOL_NVME)
        CHECK(health().critical_warnings & SATED_HEALTH_RELIABILITY);
    memset(page, 0x5a, sizeof page);
    CHECK_EQ(send(true, first, (uint32_t)blocks, &told), 0);
    memset(page, 0, sizeof page);
    CHECK_EQ(send(false, first + 1, 1, &told), 0);
    CHECK(page[0] == 0x5a && page[511] == 0x5a);
    check_load();
    CHECK_EQ(sated_drive_close(drive), 0);
}

/* Writes at random until a write is refused, or there were so many erases. Return: the status of the last one. */
static int wear_out(struct sim *s, struct random *r, uint64_t erases)
{
    uint32_t tag;
    int64_t done;
    int status = 0;
    uint64_t units = sim_capacity(s) / s->model.unit_bytes;
    while (!status && s->ftl.erased < erases) {
        uint64_t unit = random_below(r, units);
        if (sim_submit(s, 0, SATED_WRITE, unit * s->model.unit_bytes, (uint32_t)s->model.unit_bytes) ||
            !sim_next(s, &tag, &done, &status))
            return -1;
    }
    return status;
}

static void check_read_only(const struct face *f)
{
    char uri[160];
    uint64_t told;
    snprintf(uri, sizeof uri, "%s,timing=off,fill=steady,spare_blocks=0.5%%,grown_bad=50", f->uri);
    open_drive(uri);
    struct sim *s = drive->sim;
    struct sated_health h = health();
    CHECK(!(h.critical_warnings & (SATED_HEALTH_SPARE | SATED_HEALTH_READ_ONLY | SATED_HEALTH_FAILING)));
    struct random r;
    random_seed(&r, 1, 0);
    CHECK_EQ(wear_out(s, &r, UINT64_MAX), -EIO);
    CHECK_EQ(send(true, 8, 8, &told), f->protected);
    CHECK_EQ(send(false, 8, 8, &told), 0);
    h = health();
    switch (drive->identity.protocol) {
    case SATED_PROTOCOL_NVME:
        CHECK_EQ(h.critical_warnings, SATED_HEALTH_SPARE | SATED_HEALTH_READ_ONLY);
        CHECK_EQ(h.available_spare, 0);
        break;
    default: CHECK(h.critical_warnings & SATED_HEALTH_FAILING);
    }
    if (drive->identity.protocol == SATED_PROTOCOL_ATA) {
        struct sated_ata_command c;
        struct sated_reply reply;
        struct sated_ata_registers regs;
        struct sated_ata_smart smart;
        uint64_t bad = 0;
        CHECK_EQ(sated_ata_build_smart_read_data(&c), 0);
        CHECK_EQ(sated_ata_raw(drive, &c, page, &regs, &reply), 0);
        CHECK_EQ(sated_ata_decode_smart(page, 512, &smart), 0);
        for (uint32_t i = 0; i < smart.n_attributes; i++)
            if (smart.attributes[i].id == 5)
                bad = bytes_le32(smart.attributes[i].raw);
        CHECK_EQ(bad, s->ftl.grown_bad * 64);
    }
    CHECK_EQ(sated_drive_close(drive), 0);
}

/* What endures 10 erases and has had 10 of each block is used up. */
static void check_used(const struct face *f)
{
    char uri[160];
    snprintf(uri, sizeof uri, "%s,timing=off,fill=steady,endurance=10,wear_levelling=dynamic", f->uri);
    open_drive(uri);
    struct sim *s = drive->sim;
    struct random r;
    random_seed(&r, 1, 0);
    CHECK_EQ(wear_out(s, &r, 5 * (uint64_t)s->ftl.blocks), 0);
    CHECK_EQ(health().percentage_used, 50);
    CHECK_EQ(wear_out(s, &r, 10 * (uint64_t)s->ftl.blocks), 0);
    CHECK_EQ(health().percentage_used, 100);
    if (drive->identity.protocol == SATED_PROTOCOL_SCSI)
        CHECK(health().critical_warnings & SATED_HEALTH_FAILING);
    CHECK_EQ(sated_drive_close(drive), 0);
}

int main(void)
{
    for (size_t i = 0; i < sizeof faces / sizeof *faces; i++) {
        check_lost(&faces[i]);
        check_read_only(&faces[i]);
        check_used(&faces[i]);
    }
    return check_done();
}
