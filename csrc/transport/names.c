/* SPDX-License-Identifier: MIT */
#include "transport/names.h"

#include <stdio.h>
#include <string.h>

#include "transport/command.h"

#define ANY (-1)

/* ACS-5, and what older ones had: commands, and the features that tell them apart. */
static const struct {
    uint8_t command;
    int features;
    const char *name;
} ata_commands[] = {
    {0x06, 0x1, "DATA SET MANAGEMENT TRIM"},
    {0x20, ANY, "READ SECTOR(S)"},
    {0x24, ANY, "READ SECTOR(S) EXT"},
    {0x25, ANY, "READ DMA EXT"},
    {0x27, ANY, "READ NATIVE MAX ADDRESS EXT"},
    {0x29, ANY, "READ MULTIPLE EXT"},
    {0x2f, ANY, "READ LOG EXT"},
    {0x30, ANY, "WRITE SECTOR(S)"},
    {0x34, ANY, "WRITE SECTOR(S) EXT"},
    {0x35, ANY, "WRITE DMA EXT"},
    {0x37, ANY, "SET MAX ADDRESS EXT"},
    {0x3f, ANY, "WRITE LOG EXT"},
    {0x40, ANY, "READ VERIFY SECTOR(S)"},
    {0x42, ANY, "READ VERIFY SECTOR(S) EXT"},
    {0x45, ANY, "WRITE UNCORRECTABLE EXT"},
    {0x47, ANY, "READ LOG DMA EXT"},
    {0x57, ANY, "WRITE LOG DMA EXT"},
    {0x60, ANY, "READ FPDMA QUEUED"},
    {0x61, ANY, "WRITE FPDMA QUEUED"},
    {0x78, 0x0, "GET NATIVE MAX ADDRESS EXT"},
    {0x78, 0x1, "SET ACCESSIBLE MAX ADDRESS EXT"},
    {0x78, 0x2, "FREEZE ACCESSIBLE MAX ADDRESS EXT"},
    {0x92, ANY, "DOWNLOAD MICROCODE"},
    {0xb0, 0xd0, "SMART READ DATA"},
    {0xb0, 0xd1, "SMART READ THRESHOLDS"},
    {0xb0, 0xd4, "SMART EXECUTE OFF-LINE IMMEDIATE"},
    {0xb0, 0xd5, "SMART READ LOG"},
    {0xb0, 0xd6, "SMART WRITE LOG"},
    {0xb0, 0xd8, "SMART ENABLE OPERATIONS"},
    {0xb0, 0xd9, "SMART DISABLE OPERATIONS"},
    {0xb0, 0xda, "SMART RETURN STATUS"},
    {0xb1, 0xc0, "DEVICE CONFIGURATION RESTORE"},
    {0xb1, 0xc1, "DEVICE CONFIGURATION FREEZE LOCK"},
    {0xb1, 0xc2, "DEVICE CONFIGURATION IDENTIFY"},
    {0xb1, 0xc3, "DEVICE CONFIGURATION SET"},
    {0xb4, 0x0, "SANITIZE STATUS EXT"},
    {0xb4, 0x11, "CRYPTO SCRAMBLE EXT"},
    {0xb4, 0x12, "BLOCK ERASE EXT"},
    {0xb4, 0x14, "OVERWRITE EXT"},
    {0xb4, 0x20, "SANITIZE FREEZE LOCK EXT"},
    {0xb4, 0x40, "SANITIZE ANTIFREEZE LOCK EXT"},
    {0xc4, ANY, "READ MULTIPLE"},
    {0xc8, ANY, "READ DMA"},
    {0xca, ANY, "WRITE DMA"},
    {0xe0, ANY, "STANDBY IMMEDIATE"},
    {0xe1, ANY, "IDLE IMMEDIATE"},
    {0xe2, ANY, "STANDBY"},
    {0xe3, ANY, "IDLE"},
    {0xe5, ANY, "CHECK POWER MODE"},
    {0xe6, ANY, "SLEEP"},
    {0xe7, ANY, "FLUSH CACHE"},
    {0xea, ANY, "FLUSH CACHE EXT"},
    {0xec, ANY, "IDENTIFY DEVICE"},
    {0xef, ANY, "SET FEATURES"},
    {0xf1, ANY, "SECURITY SET PASSWORD"},
    {0xf2, ANY, "SECURITY UNLOCK"},
    {0xf3, ANY, "SECURITY ERASE PREPARE"},
    {0xf4, ANY, "SECURITY ERASE UNIT"},
    {0xf5, ANY, "SECURITY FREEZE LOCK"},
    {0xf6, ANY, "SECURITY DISABLE PASSWORD"},
    {0xf8, ANY, "READ NATIVE MAX ADDRESS"},
    {0xf9, ANY, "SET MAX ADDRESS"},
};

/* NVM Express Base 2.0, NVM Command Set 1.0, Zoned Namespace Command Set 1.1. */
static const struct {
    bool admin;
    uint8_t opcode;
    const char *name;
} nvme_commands[] = {
    {true, 0x02, "Get Log Page"},
    {true, 0x06, "Identify"},
    {true, 0x08, "Abort"},
    {true, 0x09, "Set Features"},
    {true, 0x0a, "Get Features"},
    {true, 0x0d, "Namespace Management"},
    {true, 0x10, "Firmware Commit"},
    {true, 0x11, "Firmware Image Download"},
    {true, 0x14, "Device Self-test"},
    {true, 0x15, "Namespace Attachment"},
    {true, 0x19, "Directive Send"},
    {true, 0x1a, "Directive Receive"},
    {true, 0x1c, "Virtualization Management"},
    {true, 0x1d, "NVMe-MI Send"},
    {true, 0x1e, "NVMe-MI Receive"},
    {true, 0x80, "Format NVM"},
    {true, 0x81, "Security Send"},
    {true, 0x82, "Security Receive"},
    {true, 0x84, "Sanitize"},
    {true, 0x86, "Get LBA Status"},
    {false, 0x00, "Flush"},
    {false, 0x01, "Write"},
    {false, 0x02, "Read"},
    {false, 0x04, "Write Uncorrectable"},
    {false, 0x05, "Compare"},
    {false, 0x08, "Write Zeroes"},
    {false, 0x09, "Dataset Management"},
    {false, 0x0c, "Verify"},
    {false, 0x0d, "Reservation Register"},
    {false, 0x0e, "Reservation Report"},
    {false, 0x11, "Reservation Acquire"},
    {false, 0x15, "Reservation Release"},
    {false, 0x19, "Copy"},
    {false, 0x79, "Zone Management Send"},
    {false, 0x7a, "Zone Management Receive"},
    {false, 0x7d, "Zone Append"},
};

const char *names_ata(uint8_t command, uint16_t features)
{
    for (size_t i = 0; i < sizeof ata_commands / sizeof *ata_commands; i++)
        if (ata_commands[i].command == command &&
            (ata_commands[i].features == ANY || ata_commands[i].features == features))
            return ata_commands[i].name;
    return NULL;
}

const char *names_nvme(bool admin, uint8_t opcode)
{
    for (size_t i = 0; i < sizeof nvme_commands / sizeof *nvme_commands; i++)
        if (nvme_commands[i].admin == admin && nvme_commands[i].opcode == opcode)
            return nvme_commands[i].name;
    return NULL;
}

static void scsi_text(char *out, size_t n, const struct sated_scsi_command *c)
{
    const uint8_t *b = c->cdb;
    uint32_t action = b[0] == 0x7f ? (uint32_t)b[8] << 8 | b[9] : b[1] & 0x1f;
    const char *name = sated_scsi_opcode_text(b[0], action);
    size_t used = (size_t)snprintf(out, n, "%s (", name ? name : "the SCSI command");
    for (uint32_t i = 0; i < c->cdb_len && used < n; i++)
        used += (size_t)snprintf(out + used, n - used, "%s%02x", i ? " " : "", b[i]);
    if (used < n)
        snprintf(out + used, n - used, ")");
}

void command_text(char *out, size_t n, const struct command *c)
{
    const struct sated_nvme_command *v = c->nvme;
    bool admin = c->set == SATED_COMMANDS_NVME_ADMIN;
    const char *name = v ? names_nvme(admin, v->opcode) : c->ata ? names_ata(c->ata->command, c->ata->features) : NULL;
    if (v)
        snprintf(out, n, "%s (NVMe %s command %02Xh, namespace %Xh, dwords 10 to 15 %08x %08x %08x %08x %08x %08x)",
                 name ? name : "the command", admin ? "admin" : "I/O", v->opcode, v->nsid, v->cdw10, v->cdw11, v->cdw12,
                 v->cdw13, v->cdw14, v->cdw15);
    else if (c->ata)
        snprintf(out, n, "%s (ATA command %02Xh, features %04Xh, count %04Xh, LBA %llXh)", name ? name : "the command",
                 c->ata->command, c->ata->features, c->ata->count, (unsigned long long)c->ata->lba);
    else
        scsi_text(out, n, c->scsi);
}
