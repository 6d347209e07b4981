/* SPDX-License-Identifier: MIT */
/* SCSI commands for a simulated ATA drive, as libata carries them out (SAT-4 clauses 8 to 10). */
#include "sim/target_sat.h"

#include <string.h>

#define RANGES_PER_BLOCK 64u
#define SECTORS_PER_RANGE 65535u

/* ---- Answers ---- */

void sat_sense(struct sat *x, unsigned key, unsigned asc, unsigned ascq)
{
    const struct target_sense sense = {.key = (uint8_t)key, .code = (uint16_t)(asc << 8 | ascq)};
    bool descriptor = x->s->target.ata.descriptors && !fault_stands(x->s, SATED_FAULT_FIXED_SENSE);
    x->moved = 0;
    target_check_condition(x->reply, &sense, descriptor);
}

void sat_answer(struct sat *x, const void *data, uint32_t n)
{
    if (x->c->direction != SATED_DATA_IN)
        return;
    x->moved = n < x->c->data_len ? n : x->c->data_len;
    memcpy(x->data, data, x->moved);
}

/* ata_to_sense_error() of Linux 6.16: bits of ERROR from the top, then of STATUS. */
void sat_translate(const struct ata_registers *r, uint8_t out[3])
{
    static const struct {
        uint8_t mask, key, asc, ascq;
    } table[] = {{ATA_UNC, 0x03, 0x11, 0x04}, {ATA_IDNF, 0x05, 0x21, 0x00}};
    const uint8_t aborted[3] = {0x0b, 0x00, 0x00}, fault[3] = {0x04, 0x44, 0x00};
    memcpy(out, r->status & ATA_STATUS_DF ? fault : aborted, 3);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (r->error & table[i].mask) {
            memcpy(out, &table[i].key, 3);
            return;
        }
}

bool sat_send(struct sat *x, struct ata_task *t)
{
    uint8_t sense[3];
    t->device = 0x40;
    ata_carry_out(x->s, t);
    if (t->silent) {
        x->reply->host_status = DID_TIME_OUT;
        return false;
    }
    if (t->out.status & ATA_STATUS_ERR) {
        sat_translate(&t->out, sense);
        sat_sense(x, sense[0], sense[1], sense[2]);
        return false;
    }
    x->moved = t->moved;
    return true;
}

/* ---- Media ---- */

bool sat_bridge_is_locked(struct sat *x)
{
    if (!fault_stands(x->s, SATED_FAULT_BRIDGE_LOCK))
        return false;
    sat_sense(x, 7, 0x74, 0x71);
    return true;
}

struct span {
    uint64_t lba;
    uint32_t blocks;
    bool fua;
};

static struct span span_of(const uint8_t *cdb)
{
    switch (cdb[0] >> 5) {
    case 0: return (struct span){bytes_be24(cdb + 1) & 0x1fffff, cdb[4] ? cdb[4] : 256, false};
    case 1: return (struct span){bytes_be32(cdb + 2), bytes_be16(cdb + 7), cdb[1] & 8};
    case 5: return (struct span){bytes_be32(cdb + 2), bytes_be32(cdb + 6), cdb[1] & 8};
    default: return (struct span){bytes_be64(cdb + 2), bytes_be32(cdb + 10), cdb[1] & 8};
    }
}

/* Whether a span can be sent; an empty one needs nothing. */
static bool span_is_good(struct sat *x, const struct span *p)
{
    uint64_t sectors = x->s->target.ata.sectors;
    if (p->lba >= sectors || p->blocks > sectors - p->lba)
        sat_sense(x, 5, 0x21, 0x00);
    else if (p->blocks > 65536)
        sat_invalid_field(x); /* one ATA command carries no more */
    else
        return p->blocks != 0;
    return false;
}

static void media(struct sat *x, enum sated_direction direction)
{
    struct span p = span_of(x->c->cdb);
    if (sat_bridge_is_locked(x) || !span_is_good(x, &p))
        return;
    if (x->c->direction != (uint32_t)direction || x->c->data_len < p.blocks * ATA_SECTOR) {
        sat_invalid_field(x);
        return;
    }
    struct ata_task t = {.command = direction == SATED_DATA_IN ? 0x25
                                    : p.fua                    ? 0x3d
                                                               : 0x35,
                         .ext = 1,
                         .direction = (uint8_t)direction,
                         .count = (uint16_t)p.blocks,
                         .lba = p.lba,
                         .data = x->data,
                         .data_len = x->c->data_len};
    sat_send(x, &t);
}

static void without_data(struct sat *x, uint8_t command, uint16_t count, uint64_t lba)
{
    struct ata_task t = {.command = command, .ext = 1, .count = count, .lba = lba};
    sat_send(x, &t);
}

static void verify(struct sat *x)
{
    struct span p = span_of(x->c->cdb);
    if (!sat_bridge_is_locked(x) && span_is_good(x, &p))
        without_data(x, 0x42, (uint16_t)p.blocks, p.lba);
}

/* ---- UNMAP and WRITE SAME become TRIM (SAT-4 9.26, 9.31) ---- */

struct trim {
    uint8_t list[ATA_TRIM_BLOCKS * ATA_SECTOR];
    uint32_t n;
};

static bool trim_send(struct sat *x, struct trim *trim)
{
    uint32_t blocks = (trim->n + RANGES_PER_BLOCK - 1) / RANGES_PER_BLOCK;
    struct ata_task t = {.command = 0x06,
                         .ext = 1,
                         .direction = SATED_DATA_OUT,
                         .features = 1,
                         .count = (uint16_t)blocks,
                         .data = trim->list,
                         .data_len = blocks * ATA_SECTOR};
    bool good = !trim->n || sat_send(x, &t);
    memset(trim, 0, sizeof *trim);
    return good;
}

static bool trim_add(struct sat *x, struct trim *trim, uint64_t lba, uint64_t sectors)
{
    for (uint32_t part; sectors; lba += part, sectors -= part) {
        part = sectors < SECTORS_PER_RANGE ? (uint32_t)sectors : SECTORS_PER_RANGE;
        bytes_put_le64(trim->list + 8 * trim->n++, lba | (uint64_t)part << 48);
        if (trim->n == ATA_TRIM_BLOCKS * RANGES_PER_BLOCK && !trim_send(x, trim))
            return false;
    }
    return true;
}

static void unmap(struct sat *x)
{
    uint32_t length = bytes_be16(x->c->cdb + 7), n;
    struct trim trim = {.n = 0};
    if (sat_bridge_is_locked(x) || !length)
        return;
    if (x->c->direction != SATED_DATA_OUT || x->c->data_len < length || length < 8) {
        sat_invalid_field(x);
        return;
    }
    n = bytes_be16(x->data + 2) / 16;
    if (n > (length - 8) / 16) {
        sat_sense(x, 5, 0x1a, 0x00);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint64_t lba = bytes_be64(x->data + 8 + 16 * i), blocks = bytes_be32(x->data + 16 + 16 * i);
        if (blocks && (lba >= x->s->target.ata.sectors || blocks > x->s->target.ata.sectors - lba)) {
            sat_sense(x, 5, 0x21, 0x00);
            return;
        }
    }
    bool good = true;
    for (uint32_t i = 0; i < n && good; i++)
        good = trim_add(x, &trim, bytes_be64(x->data + 8 + 16 * i), bytes_be32(x->data + 16 + 16 * i));
    if (good && trim_send(x, &trim))
        x->moved = length;
}

static void write_same(struct sat *x)
{
    struct span p = span_of(x->c->cdb);
    uint64_t sectors = x->s->target.ata.sectors;
    struct trim trim = {.n = 0};
    if (sat_bridge_is_locked(x))
        return;
    if (!(x->c->cdb[1] & 8) || !p.blocks || p.blocks > SECTORS_PER_RANGE * RANGES_PER_BLOCK) {
        sat_invalid_field(x); /* libata takes it as a way to unmap only */
    } else if (p.lba >= sectors || p.blocks > sectors - p.lba) {
        sat_sense(x, 5, 0x21, 0x00);
    } else if (trim_add(x, &trim, p.lba, p.blocks) && trim_send(x, &trim)) {
        x->moved = x->c->data_len;
    }
}

/* ---- The rest ---- */

static void start_stop(struct sat *x)
{
    const uint8_t *cdb = x->c->cdb;
    if (cdb[4] & 0x02 || cdb[4] >> 4)
        sat_invalid_field(x); /* LOEJ, power conditions */
    else if (cdb[4] & 1)
        without_data(x, 0x42, 1, 0); /* reading wakes it */
    else
        without_data(x, 0xe0, 0, 0);
}

static void request_sense(struct sat *x)
{
    static const uint8_t fixed[18] = {0x70, 0, 0, 0, 0, 0, 0, 10}, descriptors[8] = {0x72};
    bool desc = x->c->cdb[1] & 1 && !fault_stands(x->s, SATED_FAULT_FIXED_SENSE);
    uint32_t n = desc ? sizeof descriptors : sizeof fixed;
    sat_answer(x, desc ? descriptors : fixed, n < x->c->cdb[4] ? n : x->c->cdb[4]);
}

static void report_luns(struct sat *x)
{
    static const uint8_t one[16] = {0, 0, 0, 8};
    uint32_t room = bytes_be32(x->c->cdb + 6);
    sat_answer(x, one, room < sizeof one ? room : sizeof one);
}

static void service_action_in(struct sat *x)
{
    if ((x->c->cdb[1] & 0x1f) == 0x10)
        sat_read_capacity_16(x);
    else
        sat_invalid_field(x);
}

static void maintenance_in(struct sat *x);
static void read_data(struct sat *x)
{
    media(x, SATED_DATA_IN);
}

static void write_data(struct sat *x)
{
    media(x, SATED_DATA_OUT);
}

static void flush(struct sat *x)
{
    without_data(x, 0xea, 0, 0);
}

static void nothing(struct sat *x)
{
    (void)x;
}

static void variable_length(struct sat *x)
{
    if (x->c->cdb_len == 32 && bytes_be16(x->c->cdb + 8) == 0x1ff0)
        sat_pass_through(x);
    else
        sat_invalid_command(x);
}

static const struct {
    uint8_t opcode;
    void (*run)(struct sat *x);
} commands[] = {
    {0x00, nothing},
    {0x03, request_sense},
    {0x08, read_data},
    {0x0a, write_data},
    {0x12, sat_inquiry},
    {0x15, sat_mode_select},
    {0x1a, sat_mode_sense},
    {0x1b, start_stop},
    {0x1d, nothing},
    {0x25, sat_read_capacity_10},
    {0x28, read_data},
    {0x2a, write_data},
    {0x2f, verify},
    {0x35, flush},
    {0x42, unmap},
    {0x55, sat_mode_select},
    {0x5a, sat_mode_sense},
    {0x7f, variable_length},
    {0x85, sat_pass_through},
    {0x88, read_data},
    {0x8a, write_data},
    {0x8f, verify},
    {0x91, flush},
    {0x93, write_same},
    {0x9e, service_action_in},
    {0xa0, report_luns},
    {0xa1, sat_pass_through},
    {0xa3, maintenance_in},
    {0xa8, read_data},
    {0xaa, write_data},
};

/* REPORT SUPPORTED OPERATION CODES of one command, which is all that libata has of it (SPC-5 6.36). */
static void maintenance_in(struct sat *x)
{
    const uint8_t *cdb = x->c->cdb;
    uint8_t answer[4] = {0, 1}; /* not supported */
    uint32_t room = bytes_be32(cdb + 6);
    if ((cdb[1] & 0x1f) != 0x0c || ((cdb[2] & 7) != 1 && (cdb[2] & 7) != 3)) {
        sat_invalid_field(x);
        return;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (commands[i].opcode == cdb[3])
            answer[1] = 3; /* as the standard has it */
    sat_answer(x, answer, room < sizeof answer ? room : sizeof answer);
}

static void ends(struct sat *x)
{
    x->reply->data_len = x->moved;
    x->reply->residual = (int32_t)(x->c->data_len - x->moved);
}

static void carry_out(struct sim *s, const struct sated_scsi_command *c, void *data, struct sated_reply *reply)
{
    struct sat x = {.s = s, .c = c, .data = data, .reply = reply};
    size_t i = 0, n = sizeof commands / sizeof *commands;
    while (i < n && commands[i].opcode != c->cdb[0])
        i++;
    if (i < n)
        commands[i].run(&x);
    else
        sat_invalid_command(&x);
    ends(&x);
}

static void fail(struct sim *s, const struct fault *f, const struct sated_scsi_command *c, struct sated_reply *reply)
{
    struct sat x = {.s = s, .c = c, .reply = reply};
    struct ata_registers r = {.status = ATA_STATUS_GOOD | ATA_STATUS_ERR, .error = f->ata_error};
    uint8_t sense[3] = {f->key, f->asc, f->ascq};
    bool passes = c->cdb[0] == 0x85 || c->cdb[0] == 0xa1 || (c->cdb[0] == 0x7f && c->cdb_len == 32);
    if (f->ata_error && passes) {
        sat_pass_failed(&x, f->ata_error);
    } else {
        if (f->ata_error)
            sat_translate(&r, sense);
        sat_sense(&x, sense[0], sense[1], sense[2]);
    }
    ends(&x);
}

static void identify(const struct sim *s, struct sated_identity *out)
{
    uint64_t bytes = s->target.ata.sectors * ATA_SECTOR;
    if (out->capacity_bytes > bytes)
        out->capacity_bytes = bytes;
    out->logical_block_bytes = ATA_SECTOR;
}

const struct target_protocol target_protocol_ata = {.name = "ata",
                                                    .init = ata_init,
                                                    .power_on = ata_power_on,
                                                    .finish = ata_finish,
                                                    .check = ata_check,
                                                    .identify = identify,
                                                    .scsi = carry_out,
                                                    .blocked = ata_blocked,
                                                    .fail = fail};
