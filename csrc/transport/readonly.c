/* SPDX-License-Identifier: MIT */
/* The read-only commands: what changes neither the drive's data nor its settings, logs or sessions. Whatever is not in
 * this table counts as changing something. */
#include <stdio.h>
#include <string.h>

#include "core/bytes.h"
#include "transport/command.h"

#define FIELDS 4

/* Which number of a command a rule looks at. */
enum place {
    P_NONE = 0,
    P_BYTE, /* of a CDB: P_BYTE + 1 is byte 1, and so on up to 31 */
    P_FEATURES = P_BYTE + 32,
    P_COUNT,
    P_LBA,
    P_NSID,
    P_CDW10,
    P_CDW11,
    P_CDW12,
    P_CDW13,
    P_CDW14,
    P_CDW15,
};

struct rule {
    uint8_t place; /* enum place */
    uint64_t mask, low, high;
};

struct row {
    uint8_t set, opcode;
    const char *name;
    struct rule rules[FIELDS];
};

#define B(n, mask, value) \
    { \
        P_BYTE + n, mask, value, value \
    }
#define IS(place, mask, value) \
    { \
        place, mask, value, value \
    }
#define FROM(place, mask, low, high) \
    { \
        place, mask, low, high \
    }
#define RAE IS(P_CDW10, 0x8000, 0x8000) /* Retain Asynchronous Event */
/* Get Log Page, with LSP 0; what else must hold comes behind. */
#define LOGS(which, first, last, ...) \
    { \
        SATED_COMMANDS_NVME_ADMIN, 0x02, "Get Log Page " which, \
        { \
            FROM(P_CDW10, 0xff, first, last), IS(P_CDW10, 0x7f00, 0), ##__VA_ARGS__ \
        } \
    }
#define SMART_KEY IS(P_LBA, 0xffff00, 0xc24f00) /* LBA MID 4Fh, HIGH C2h (ACS-4 7.48) */

static const struct row table[] = {
    /* SPC-6, SBC-4, ZBC-2. CONTROL must be 0. */
    {SATED_COMMANDS_SCSI, 0x00, "TEST UNIT READY", {{0}}},
    {SATED_COMMANDS_SCSI, 0x03, "REQUEST SENSE", {{0}}},
    {SATED_COMMANDS_SCSI, 0x08, "READ(6)", {{0}}},
    {SATED_COMMANDS_SCSI, 0x12, "INQUIRY", {{0}}},
    {SATED_COMMANDS_SCSI, 0x1a, "MODE SENSE(6)", {{0}}},
    /* Without PCV the page is that of the last SEND DIAGNOSTIC. */
    {SATED_COMMANDS_SCSI, 0x1c, "RECEIVE DIAGNOSTIC RESULTS", {B(1, 0x01, 0x01)}},
    {SATED_COMMANDS_SCSI, 0x25, "READ CAPACITY(10)", {{0}}},
    {SATED_COMMANDS_SCSI, 0x28, "READ(10)", {{0}}},
    {SATED_COMMANDS_SCSI, 0x2f, "VERIFY(10) by the drive itself (BYTCHK 0)", {B(1, 0x06, 0x00)}},
    {SATED_COMMANDS_SCSI, 0x37, "READ DEFECT DATA(10)", {{0}}},
    {SATED_COMMANDS_SCSI, 0x3c, "READ BUFFER, descriptor", {B(1, 0x1f, 0x03)}},
    {SATED_COMMANDS_SCSI, 0x3c, "READ BUFFER, echo buffer descriptor", {B(1, 0x1f, 0x0b)}},
    {SATED_COMMANDS_SCSI, 0x4d, "LOG SENSE without saving (SP 0)", {B(1, 0x01, 0x00)}},
    {SATED_COMMANDS_SCSI, 0x5a, "MODE SENSE(10)", {{0}}},
    {SATED_COMMANDS_SCSI, 0x5e, "PERSISTENT RESERVE IN", {{0}}},
    {SATED_COMMANDS_SCSI, 0x7f, "READ(32)", {B(8, 0xff, 0x00), B(9, 0xff, 0x09)}},
    {SATED_COMMANDS_SCSI,
     0x7f,
     "VERIFY(32) by the drive itself (BYTCHK 0)",
     {B(8, 0xff, 0x00), B(9, 0xff, 0x0a), B(10, 0x06, 0x00)}},
    {SATED_COMMANDS_SCSI, 0x7f, "GET LBA STATUS(32)", {B(8, 0xff, 0x00), B(9, 0xff, 0x12)}},
    {SATED_COMMANDS_SCSI, 0x88, "READ(16)", {{0}}},
    {SATED_COMMANDS_SCSI, 0x8f, "VERIFY(16) by the drive itself (BYTCHK 0)", {B(1, 0x06, 0x00)}},
    {SATED_COMMANDS_SCSI, 0x95, "REPORT ZONES", {B(1, 0x1f, 0x00)}},
    {SATED_COMMANDS_SCSI, 0x9e, "READ CAPACITY(16)", {B(1, 0x1f, 0x10)}},
    {SATED_COMMANDS_SCSI, 0x9e, "GET LBA STATUS(16)", {B(1, 0x1f, 0x12)}},
    {SATED_COMMANDS_SCSI, 0x9e, "REPORT REFERRALS", {B(1, 0x1f, 0x13)}},
    {SATED_COMMANDS_SCSI, 0x9e, "GET STREAM STATUS", {B(1, 0x1f, 0x16)}},
    {SATED_COMMANDS_SCSI, 0x9e, "GET PHYSICAL ELEMENT STATUS", {B(1, 0x1f, 0x17)}},
    {SATED_COMMANDS_SCSI, 0xa0, "REPORT LUNS", {{0}}},
    {SATED_COMMANDS_SCSI, 0xa2, "SECURITY PROTOCOL IN, information", {B(1, 0xff, 0x00)}},
    {SATED_COMMANDS_SCSI, 0xa2, "SECURITY PROTOCOL IN, ATA security state", {B(1, 0xff, 0xef)}},
    {SATED_COMMANDS_SCSI, 0xa3, "REPORT IDENTIFYING INFORMATION", {B(1, 0x1f, 0x05)}},
    {SATED_COMMANDS_SCSI, 0xa3, "REPORT TARGET PORT GROUPS", {B(1, 0x1f, 0x0a)}},
    {SATED_COMMANDS_SCSI, 0xa3, "REPORT ALIASES", {B(1, 0x1f, 0x0b)}},
    {SATED_COMMANDS_SCSI, 0xa3, "REPORT SUPPORTED OPERATION CODES", {B(1, 0x1f, 0x0c)}},
    {SATED_COMMANDS_SCSI, 0xa3, "REPORT SUPPORTED TASK MANAGEMENT FUNCTIONS", {B(1, 0x1f, 0x0d)}},
    {SATED_COMMANDS_SCSI, 0xa3, "REPORT PRIORITY", {B(1, 0x1f, 0x0e)}},
    {SATED_COMMANDS_SCSI, 0xa3, "REPORT TIMESTAMP", {B(1, 0x1f, 0x0f)}},
    {SATED_COMMANDS_SCSI, 0xa8, "READ(12)", {{0}}},
    {SATED_COMMANDS_SCSI, 0xab, "READ MEDIA SERIAL NUMBER", {B(1, 0x1f, 0x01)}},
    {SATED_COMMANDS_SCSI, 0xaf, "VERIFY(12) by the drive itself (BYTCHK 0)", {B(1, 0x06, 0x00)}},
    {SATED_COMMANDS_SCSI, 0xb7, "READ DEFECT DATA(12)", {{0}}},

    /* ACS-5; ATA PASS-THROUGH is taken as the ATA command within, and its PROTOCOL must not send data. */
    {SATED_COMMANDS_ATA, 0x20, "READ SECTOR(S)", {{0}}},
    {SATED_COMMANDS_ATA, 0x24, "READ SECTOR(S) EXT", {{0}}},
    {SATED_COMMANDS_ATA, 0x25, "READ DMA EXT", {{0}}},
    {SATED_COMMANDS_ATA, 0x27, "READ NATIVE MAX ADDRESS EXT", {{0}}},
    {SATED_COMMANDS_ATA, 0x29, "READ MULTIPLE EXT", {{0}}},
    /* FEATURES asks some logs to reset their counters, others to take a snapshot. Reading 10h ends the state in which a
     * drive refuses commands after one of a queue failed (ACS-5, "NCQ Command Error log"): it belongs to the driver.
     * E1h takes data of SCT commands. */
    {SATED_COMMANDS_ATA, 0x2f, "READ LOG EXT, 00h to 0Fh", {IS(P_FEATURES, 0xffff, 0), FROM(P_LBA, 0xff, 0, 0x0f)}},
    {SATED_COMMANDS_ATA, 0x2f, "READ LOG EXT, 11h to E0h", {IS(P_FEATURES, 0xffff, 0), FROM(P_LBA, 0xff, 0x11, 0xe0)}},
    {SATED_COMMANDS_ATA, 0x40, "READ VERIFY SECTOR(S)", {{0}}},
    {SATED_COMMANDS_ATA, 0x42, "READ VERIFY SECTOR(S) EXT", {{0}}},
    {SATED_COMMANDS_ATA, 0x47, "READ LOG DMA EXT, 00h to 0Fh", {IS(P_FEATURES, 0xffff, 0), FROM(P_LBA, 0xff, 0, 0x0f)}},
    {SATED_COMMANDS_ATA,
     0x47,
     "READ LOG DMA EXT, 11h to E0h",
     {IS(P_FEATURES, 0xffff, 0), FROM(P_LBA, 0xff, 0x11, 0xe0)}},
    {SATED_COMMANDS_ATA, 0x60, "READ FPDMA QUEUED", {{0}}},
    {SATED_COMMANDS_ATA, 0x78, "GET NATIVE MAX ADDRESS EXT", {IS(P_FEATURES, 0xffff, 0)}},
    {SATED_COMMANDS_ATA, 0xb0, "SMART READ DATA", {IS(P_FEATURES, 0xff, 0xd0), SMART_KEY}},
    {SATED_COMMANDS_ATA, 0xb0, "SMART READ THRESHOLDS", {IS(P_FEATURES, 0xff, 0xd1), SMART_KEY}},
    {SATED_COMMANDS_ATA, 0xb0, "SMART READ LOG", {IS(P_FEATURES, 0xff, 0xd5), SMART_KEY, FROM(P_LBA, 0xff, 0, 0xe0)}},
    {SATED_COMMANDS_ATA, 0xb0, "SMART RETURN STATUS", {IS(P_FEATURES, 0xff, 0xda), SMART_KEY}},
    {SATED_COMMANDS_ATA, 0xb1, "DEVICE CONFIGURATION IDENTIFY", {IS(P_FEATURES, 0xff, 0xc2)}},
    {SATED_COMMANDS_ATA, 0xb1, "DEVICE CONFIGURATION IDENTIFY DMA", {IS(P_FEATURES, 0xff, 0xc4)}},
    {SATED_COMMANDS_ATA,
     0xb4,
     "SANITIZE STATUS EXT without clearing a failure",
     {IS(P_FEATURES, 0xffff, 0), IS(P_COUNT, 0x01, 0)}},
    {SATED_COMMANDS_ATA, 0xc4, "READ MULTIPLE", {{0}}},
    {SATED_COMMANDS_ATA, 0xc8, "READ DMA", {{0}}},
    {SATED_COMMANDS_ATA, 0xe5, "CHECK POWER MODE", {{0}}},
    {SATED_COMMANDS_ATA, 0xec, "IDENTIFY DEVICE", {{0}}},
    {SATED_COMMANDS_ATA, 0xf8, "READ NATIVE MAX ADDRESS", {{0}}},

    /* NVM Express Base 2.0, NVM Command Set 1.0, Zoned Namespace Command Set 1.1. FLAGS must be 0. */
    /* LSP makes some logs take a snapshot or open a session. Without RAE a log's event is cleared, and with it what
     * only that log keeps: the list of changed namespaces, by which the kernel learns of them, the controller's own
     * telemetry, the oldest reservation notification; of vendors' logs nobody knows. The first ones keep what they tell,
     * and controllers before NVMe 1.3 have no RAE. */
    LOGS("00h to 03h", 0x00, 0x03),
    LOGS("05h to 07h", 0x05, 0x07),
    LOGS("09h", 0x09, 0x09),
    LOGS("0Dh", 0x0d, 0x0d),
    LOGS("81h", 0x81, 0x81),
    LOGS("with RAE", 0x00, 0xff, RAE),
    {SATED_COMMANDS_NVME_ADMIN, 0x06, "Identify", {FROM(P_CDW10, 0xff, 0x00, 0x1f)}},
    {SATED_COMMANDS_NVME_ADMIN, 0x0a, "Get Features", {FROM(P_CDW10, 0x700, 0x000, 0x300)}},
    {SATED_COMMANDS_NVME_ADMIN, 0x1a, "Directive Receive, Return Parameters", {IS(P_CDW11, 0xff, 0x01)}},
    {SATED_COMMANDS_NVME_ADMIN, 0x82, "Security Receive, information", {IS(P_CDW10, 0xff000000, 0x00000000)}},
    {SATED_COMMANDS_NVME_ADMIN, 0x82, "Security Receive, ATA security state", {IS(P_CDW10, 0xff000000, 0xef000000)}},
    {SATED_COMMANDS_NVME_IO, 0x02, "Read", {{0}}},
    {SATED_COMMANDS_NVME_IO, 0x0c, "Verify", {{0}}},
    {SATED_COMMANDS_NVME_IO, 0x0e, "Reservation Report", {{0}}},
    {SATED_COMMANDS_NVME_IO, 0x7a, "Zone Management Receive", {{0}}},
};

#define ROWS (sizeof table / sizeof *table)

static uint64_t at(const struct command *c, uint8_t place)
{
    const struct sated_nvme_command *n = c->nvme;
    switch (place) {
    case P_FEATURES: return c->ata->features;
    case P_COUNT: return c->ata->count;
    case P_LBA: return c->ata->lba;
    case P_NSID: return n->nsid;
    case P_CDW10: return n->cdw10;
    case P_CDW11: return n->cdw11;
    case P_CDW12: return n->cdw12;
    case P_CDW13: return n->cdw13;
    case P_CDW14: return n->cdw14;
    case P_CDW15: return n->cdw15;
    default: return c->scsi->cdb[place - P_BYTE];
    }
}

static bool holds(const struct rule *r, const struct command *c)
{
    uint64_t value = at(c, r->place) & r->mask;
    return value >= r->low && value <= r->high;
}

static const struct row *find(const struct command *c, uint8_t opcode)
{
    for (const struct row *row = table; row < table + ROWS; row++) {
        bool all = row->set == c->set && row->opcode == opcode;
        for (size_t i = 0; all && i < FIELDS && row->rules[i].place; i++)
            all = holds(&row->rules[i], c);
        if (all)
            return row;
    }
    return NULL;
}

/* PIO in, DMA, UDMA in and FPDMA; DMA and FPDMA go where the CDB says. */
static bool sends_nothing(const struct sated_ata_command *a)
{
    switch (a->protocol) {
    case SATED_ATA_NON_DATA:
    case SATED_ATA_PIO_IN:
    case SATED_ATA_DMA:
    case SATED_ATA_UDMA_IN:
    case SATED_ATA_FPDMA: return a->direction != SATED_DATA_OUT;
    default: return false;
    }
}

/* Under a protocol that is not its own a command that only reads leaves the link hanging until the kernel resets it,
 * and what others have queued with it. */
static bool has_its_protocol(const struct sated_ata_command *a)
{
    static const uint8_t without_data[] = {0x27, 0x40, 0x42, 0x78, 0xb4, 0xe5, 0xf8};
    bool none = memchr(without_data, a->command, sizeof without_data) ||
                (a->command == 0xb0 && (a->features & 0xff) == 0xda); /* SMART RETURN STATUS */
    return none == (a->protocol == SATED_ATA_NON_DATA) && none == (a->direction == SATED_DATA_NONE);
}

bool command_unwrap_ata(const struct sated_scsi_command *c, struct sated_ata_command *out)
{
    const uint8_t *b = c->cdb, *flags;
    memset(out, 0, sizeof *out);
    if (c->cdb_len == 12 && b[0] == 0xa1) { /* SAT-4 12.2.2 */
        flags = b + 1;
        out->features = b[3];
        out->count = b[4];
        out->lba = (uint64_t)b[5] | (uint64_t)b[6] << 8 | (uint64_t)b[7] << 16;
        out->device = b[8];
        out->command = b[9];
    } else if (c->cdb_len == 16 && b[0] == 0x85) { /* SAT-4 12.2.3 */
        flags = b + 1;
        out->features = (uint16_t)(b[3] << 8 | b[4]);
        out->count = (uint16_t)(b[5] << 8 | b[6]);
        out->lba = (uint64_t)b[8] | (uint64_t)b[10] << 8 | (uint64_t)b[12] << 16 | (uint64_t)b[7] << 24 |
                   (uint64_t)b[9] << 32 | (uint64_t)b[11] << 40;
        out->device = b[13];
        out->command = b[14];
    } else if (c->cdb_len == 32 && b[0] == 0x7f && b[8] == 0x1f && b[9] == 0xf0) { /* SAT-4 12.2.4 */
        flags = b + 10;
        out->lba = bytes_be48(b + 14);
        out->features = bytes_be16(b + 20);
        out->count = bytes_be16(b + 22);
        out->device = b[24];
        out->command = b[25];
        out->icc = b[27];
        out->auxiliary = bytes_be32(b + 28);
    } else {
        return false;
    }
    out->protocol = flags[0] >> 1 & 15;
    out->ext = flags[0] & 1;
    out->ck_cond = flags[1] >> 5 & 1;
    out->t_type = flags[1] >> 4 & 1;
    /* T_DIR without a length means nothing (SAT-4 12.2.2.2). */
    out->direction = !(flags[1] & 3) ? SATED_DATA_NONE : flags[1] & 8 ? SATED_DATA_IN : SATED_DATA_OUT;
    out->data_len = c->data_len;
    out->timeout_ms = c->timeout_ms;
    return true;
}

/* Whatever could be ATA PASS-THROUGH is never taken for a SCSI command, whole or not. */
static bool may_be_ata(const struct sated_scsi_command *c)
{
    return c->cdb[0] == 0xa1 || c->cdb[0] == 0x85 || (c->cdb[0] == 0x7f && bytes_be16(c->cdb + 8) >= 0x1ff0);
}

/* SAM-6 5.2.3: NACA has a failure leave the drive in a state of its own, and two bits are the vendor's. */
static uint8_t control_of(const struct sated_scsi_command *c)
{
    return c->cdb[0] == 0x7f ? c->cdb[1] : c->cdb_len && c->cdb_len <= sizeof c->cdb ? c->cdb[c->cdb_len - 1] : 0;
}

bool command_reads_only(const struct command *c)
{
    struct sated_ata_command unwrapped;
    struct command within = *c;
    if (c->direction == SATED_DATA_OUT)
        return false;
    if (c->nvme)
        return c->nvme->flags == 0 && find(c, c->nvme->opcode);
    if (control_of(c->scsi))
        return false;
    if (!may_be_ata(c->scsi))
        return find(&(struct command){.set = SATED_COMMANDS_SCSI, .scsi = c->scsi}, c->scsi->cdb[0]);
    /* What goes out is the CDB, so it is the CDB that is looked at, whatever it was made from. */
    if (!command_unwrap_ata(c->scsi, &unwrapped))
        return false;
    within.set = SATED_COMMANDS_ATA;
    within.ata = &unwrapped;
    return sends_nothing(&unwrapped) && has_its_protocol(&unwrapped) && find(&within, unwrapped.command);
}

/* A rule in words: "byte 1 & 1Fh = 10h". */
static void rule_text(char *out, size_t n, const struct row *row, const struct rule *r)
{
    static const char *const names[] = {"FEATURES", "COUNT", "LBA",   "NSID",  "CDW10",
                                        "CDW11",    "CDW12", "CDW13", "CDW14", "CDW15"};
    char place[24];
    int digits = row->set == SATED_COMMANDS_SCSI ? 2 : row->set == SATED_COMMANDS_ATA ? 4 : 8;
    uint64_t whole = digits == 2 ? 0xff : digits == 4 ? 0xffff : 0xffffffff;
    if (r->place >= P_FEATURES)
        snprintf(place, sizeof place, "%s", names[r->place - P_FEATURES]);
    else
        snprintf(place, sizeof place, "byte %u", r->place - P_BYTE);
    size_t used = (size_t)snprintf(out, n, "%s", place);
    if (r->mask != whole && used < n)
        used += (size_t)snprintf(out + used, n - used, " & %0*llXh", digits, (unsigned long long)r->mask);
    if (used < n && r->low == r->high)
        snprintf(out + used, n - used, " = %0*llXh", digits, (unsigned long long)r->low);
    else if (used < n)
        snprintf(out + used, n - used, " from %0*llXh to %0*llXh", digits, (unsigned long long)r->low, digits,
                 (unsigned long long)r->high);
}

int sated_read_only_list(struct sated_read_only *out, size_t cap)
{
    for (size_t i = 0; out && i < ROWS && i < cap; i++) {
        struct sated_read_only *to = &out[i];
        size_t used = 0;
        memset(to, 0, sizeof *to);
        to->set = table[i].set;
        to->opcode = table[i].opcode;
        snprintf(to->name, sizeof to->name, "%s", table[i].name);
        for (size_t k = 0; k < FIELDS && table[i].rules[k].place; k++) {
            char rule[96];
            rule_text(rule, sizeof rule, &table[i], &table[i].rules[k]);
            used += (size_t)snprintf(to->fields + used, sizeof to->fields - used, "%s%s", k ? "; " : "", rule);
        }
    }
    return (int)ROWS;
}
