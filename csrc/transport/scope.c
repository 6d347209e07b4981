/* SPDX-License-Identifier: MIT */
/* How far commands reach that change something. */
#include <string.h>

#include "core/buffer.h"
#include "core/bytes.h"
#include "core/error.h"
#include "transport/command.h"

/* SBC-5: the opcodes that change blocks of the logical unit which they are sent to, and nothing else of the device. */
static bool writes_blocks_scsi(const uint8_t *cdb)
{
    static const uint8_t opcodes[] = {
        0x0a, 0x2a, 0xaa, 0x8a, /* WRITE */
        0x2e, 0xae, 0x8e,       /* WRITE AND VERIFY */
        0x41, 0x93,             /* WRITE SAME */
        0x42,                   /* UNMAP */
        0x89, 0x8b, 0x9c,       /* COMPARE AND WRITE, ORWRITE, WRITE ATOMIC */
        0x35, 0x91, 0x34, 0x90, /* SYNCHRONIZE CACHE, PRE-FETCH */
        0x3f,                   /* WRITE LONG */
    };
    if (cdb[0] == 0x7f) { /* variable length: by service action */
        uint16_t action = bytes_be16(cdb + 8);
        return action == 0x000b || action == 0x000c || action == 0x000d; /* WRITE, WRITE AND VERIFY, WRITE SAME (32) */
    }
    return memchr(opcodes, cdb[0], sizeof opcodes) != NULL;
}

/* ACS-5 clause 7: an ATA device has no logical units, but a bridge may have more than one device. */
static bool writes_blocks_ata(const struct sated_ata_command *a)
{
    static const uint8_t commands[] = {
        0x30, 0x34, 0x35, 0x39, 0xca, 0x3d, 0xce, 0xc5, 0x3b, /* WRITE */
        0x61,                                                 /* WRITE FPDMA QUEUED */
        0x06,                                                 /* DATA SET MANAGEMENT */
        0xe7, 0xea,                                           /* FLUSH CACHE */
        0x45,                                                 /* WRITE UNCORRECTABLE */
    };
    return memchr(commands, a->command, sizeof commands) != NULL;
}

/* NVM Command Set: those of I/O queues that change the blocks of the namespace they name. */
static bool writes_blocks_nvme(uint8_t opcode)
{
    static const uint8_t opcodes[] = {0x00, 0x01, 0x04, 0x05, 0x08, 0x09, 0x19, 0x79, 0x7d};
    return memchr(opcodes, opcode, sizeof opcodes) != NULL;
}

/* NVMe Base 2.0, figure 275, FNA: bit 0, a format changes all namespaces; bit 1, so does an erase by it. What the drive
 * does not tell is taken as all. */
static bool format_reaches_one(struct sated_drive *d, const struct sated_nvme_command *c)
{
    struct sated_detail before = *error_last();
    struct sated_nvme_command identify;
    struct sated_reply reply;
    uint8_t fna = 3, *page = buffer_new(4096);
    if (page && !sated_nvme_build_identify(&identify, SATED_NVME_CNS_CTRL, 0, 0, 0, 0) &&
        !sated_nvme_admin_raw(d, &identify, page, &reply) && reply.data_len > 524)
        fna = page[524];
    buffer_free(page, 4096);
    error_copy(&before);
    bool erases = (c->cdw10 >> 9 & 7) != 0;
    return !(fna & 1) && !(erases && fna & 2);
}

enum handle_scope command_scope(struct sated_drive *d, const struct command *c)
{
    bool blocks;
    if (c->nvme) {
        bool own = c->nvme->nsid == handle_namespace(d);
        bool format = c->set == SATED_COMMANDS_NVME_ADMIN && c->nvme->opcode == 0x80;
        blocks = own && (format ? format_reaches_one(d, c->nvme)
                                : c->set == SATED_COMMANDS_NVME_IO && writes_blocks_nvme(c->nvme->opcode));
    } else {
        struct sated_ata_command within;
        blocks = command_unwrap_ata(c->scsi, &within) ? writes_blocks_ata(&within) : writes_blocks_scsi(c->scsi->cdb);
    }
    return blocks ? HANDLE_BLOCKS : HANDLE_DRIVE;
}
