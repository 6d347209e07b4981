/* SPDX-License-Identifier: MIT */
/* For the tests of purges: one purge, and what the drive is afterwards, told by commands and by the simulator. */
#ifndef SATED_TESTS_PURGES_H
#define SATED_TESTS_PURGES_H

#include "core/bytes.h"
#include "drives.h"
#include "transport/command.h"
#include "transport/handle.h"

static struct sated_purge_options options;
static struct sated_purge_result outcome;

static inline void want(uint32_t method)
{
    sated_purge_options_init(&options);
    options.method = method;
}

/* Starts and waits. Return: what either of them did; *outcome is filled where it ended. */
static inline int purge(struct sated_drive *d)
{
    struct sated_purge *p;
    memset(&outcome, 0, sizeof outcome);
    int rc = sated_purge_start(&p, d, &options);
    CHECK((rc == 0) == (p != NULL));
    if (!rc)
        rc = sated_purge_wait(p, -1, &outcome);
    sated_purge_free(p);
    return rc;
}

static inline const char *told(int rc)
{
    sated_detail_get(&detail);
    return rc ? detail.text : "";
}

static inline int purged(struct sated_drive *d, int line)
{
    int rc = purge(d);
    if (rc)
        printf("line %d: %s: %s\n", line, sated_error_name(rc), told(rc));
    CHECK_EQ(rc, 0);
    return rc;
}
#define PURGED(d) purged(d, __LINE__)

static inline uint64_t mapped(struct sated_drive *d)
{
    struct sated_sim_counters c;
    CHECK_EQ(sated_sim_get_counters(d, &c), 0);
    return c.mapped_units;
}

static inline void ruin(struct sated_drive *d, uint32_t kind, uint32_t after, int32_t opcode, uint32_t count,
                        uint32_t how)
{
    struct sated_sim_fault f;
    sated_sim_fault_init(&f);
    f.kind = kind;
    f.after = after;
    f.opcode = opcode;
    f.count = count;
    f.outcome = how;
    CHECK_EQ(sated_sim_fail(d, &f), 0);
}

/* ---- By commands ---- */

static inline struct sated_ata_identify *ata_identity(struct sated_drive *d)
{
    static struct sated_ata_identify id;
    struct sated_ata_command c;
    uint8_t page[512];
    CHECK_EQ(sated_ata_build_identify_device(&c), 0);
    CHECK_EQ(sated_ata_raw(d, &c, page, NULL, NULL), 0);
    CHECK_EQ(sated_ata_decode_identify(page, sizeof page, &id), 0);
    return &id;
}

static inline int ata_security(struct sated_drive *d, uint32_t command, const char *password, bool master, bool maximum)
{
    struct sated_ata_command c;
    struct sated_ata_security_data data = {.command = command,
                                           .master = master,
                                           .maximum = maximum,
                                           .n_password = (uint32_t)strlen(password)};
    uint8_t page[512];
    memcpy(data.password, password, strlen(password));
    data.revision = command == 0xf1 && master ? 7 : 0;
    CHECK_EQ(sated_ata_build_security_data(page, sizeof page, &data), 512);
    CHECK_EQ(command == 0xf1   ? sated_ata_build_security_set_password(&c)
             : command == 0xf2 ? sated_ata_build_security_unlock(&c)
                               : sated_ata_build_security_disable_password(&c),
             0);
    return sated_ata_raw(d, &c, page, NULL, NULL);
}

/* The first of a drive's blocks, as a command reads it. Return: 0, with all of its bytes in *value or -1, or an error. */
static inline int read_first(struct sated_drive *d, int *value)
{
    static uint8_t page[4096];
    struct sated_identity id;
    struct sated_scsi_command s;
    struct sated_ata_command a;
    struct sated_nvme_command n;
    int rc = sated_drive_get_identity(d, &id);
    CHECK_EQ(rc, 0);
    memset(page, 0xee, sizeof page);
    switch (id.protocol) {
    case SATED_PROTOCOL_SCSI:
        CHECK_EQ(sated_scsi_build_read_16(&s, 0, 1, id.logical_block_bytes, 0, false, false), 0);
        rc = command_ask(d, &s, page, NULL);
        break;
    case SATED_PROTOCOL_ATA:
        CHECK_EQ(sated_ata_build_read(&a, 0, 1, id.logical_block_bytes, true, false), 0);
        rc = sated_ata_raw(d, &a, page, NULL, NULL);
        break;
    default:
        CHECK_EQ(sated_nvme_build_read(&n, 1, 0, 1, id.logical_block_bytes, 0), 0);
        rc = sated_nvme_io_raw(d, &n, page, NULL);
    }
    *value = page[0];
    for (uint32_t i = 1; i < id.logical_block_bytes; i++)
        if (page[i] != page[0])
            *value = -1;
    return rc;
}

#endif
