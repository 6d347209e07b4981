/* SPDX-License-Identifier: MIT */
/* ATA commands inside SCSI commands (SAT-4 clause 12): the three CDBs, and the registers that come back as sense. */
#include <sated/scsi.h>
#include <sated/ata.h>

#include <string.h>

#include "core/bytes.h"
#include "core/error.h"
#include "protocol/known_ata.h"
#include "protocol/sense.h"

#define REFUSE(...) return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, __VA_ARGS__)

#define SECTOR 512u

/* What each PROTOCOL moves: a set of directions, bit by bit. */
static bool allowed(unsigned protocol, unsigned direction)
{
    static const uint8_t directions[16] = {
        [SATED_ATA_HARD_RESET] = 1 << SATED_DATA_NONE,
        [SATED_ATA_SOFT_RESET] = 1 << SATED_DATA_NONE,
        [SATED_ATA_NON_DATA] = 1 << SATED_DATA_NONE,
        [SATED_ATA_PIO_IN] = 1 << SATED_DATA_IN,
        [SATED_ATA_PIO_OUT] = 1 << SATED_DATA_OUT,
        [SATED_ATA_DMA] = 1 << SATED_DATA_IN | 1 << SATED_DATA_OUT,
        [SATED_ATA_DMA_QUEUED] = 1 << SATED_DATA_IN | 1 << SATED_DATA_OUT,
        [SATED_ATA_DIAGNOSTIC] = 1 << SATED_DATA_NONE,
        [SATED_ATA_DEVICE_RESET] = 1 << SATED_DATA_NONE,
        [SATED_ATA_UDMA_IN] = 1 << SATED_DATA_IN,
        [SATED_ATA_UDMA_OUT] = 1 << SATED_DATA_OUT,
        [SATED_ATA_FPDMA] = 1 << SATED_DATA_IN | 1 << SATED_DATA_OUT,
        [SATED_ATA_RETURN_RESPONSE] = 1 << SATED_DATA_NONE,
    };
    return protocol < 16 && direction < 3 && (directions[protocol] >> direction & 1);
}

/* T_DIR, BYT_BLOK, T_TYPE and T_LENGTH: NCQ commands have their number of blocks in FEATURES, all others in COUNT,
 * where 0 is the largest number. With T_TYPE the blocks are logical sectors, whose size is not known here.
 * Return: the bits, or a negative error. */
static int transfer(const struct sated_ata_command *c)
{
    int queued = c->protocol == SATED_ATA_FPDMA;
    uint32_t field = queued ? c->features : c->count, blocks = field ? field : c->ext ? 65536u : 256u;
    if (c->direction == SATED_DATA_NONE) {
        if (c->data_len)
            REFUSE("ATA command %02Xh: %u bytes of data, but its direction is none", c->command, c->data_len);
        return 0;
    }
    if (!c->data_len || c->data_len % SECTOR || c->data_len % blocks ||
        (c->t_type ? c->data_len / blocks < SECTOR : c->data_len / blocks != SECTOR))
        REFUSE("ATA command %02Xh: %u bytes of data, but %s says %u blocks of %s: make them agree", c->command,
               c->data_len, queued ? "FEATURES" : "COUNT", blocks, c->t_type ? "a logical sector" : "512 bytes");
    return (c->t_type ? 0x10 : 0) | (c->direction == SATED_DATA_IN ? 0x08 : 0) | 0x04 | (queued ? 1 : 2);
}

static int check_registers(const struct sated_ata_command *c)
{
    if (!allowed(c->protocol, c->direction))
        REFUSE("ATA command %02Xh: protocol %u does not go with direction %u (SAT-4, PROTOCOL field)", c->command,
               c->protocol, c->direction);
    if (c->ext ? c->lba >> 48 != 0 : c->lba >> 28 != 0)
        REFUSE("ATA command %02Xh: LBA %llXh does not fit in the %u bits of this command", c->command,
               (unsigned long long)c->lba, c->ext ? 48 : 28);
    if (!c->ext && (c->features > 0xff || c->count > 0xff))
        REFUSE("ATA command %02Xh: FEATURES %04Xh or COUNT %04Xh does not fit in the 8 bits of a 28-bit command",
               c->command, c->features, c->count);
    if (!c->ext && c->lba >> 24 && c->device & 15 && (c->device & 15) != c->lba >> 24)
        REFUSE("ATA command %02Xh: DEVICE %02Xh and LBA %07llXh both give LBA 27:24, and differ", c->command, c->device,
               (unsigned long long)c->lba);
    return 0;
}

int sated_ata_build_cdb(const struct sated_ata_command *c, uint32_t cdb_len, struct sated_scsi_command *out)
{
    uint8_t *b = out->cdb, first, second, device;
    int bits, rc;
    memset(out, 0, sizeof *out);
    if ((rc = check_registers(c)))
        return rc;
    if ((bits = transfer(c)) < 0)
        return bits;
    first = (uint8_t)(c->protocol << 1 | (c->ext ? 1 : 0));
    second = (uint8_t)((c->ck_cond ? 0x20 : 0) | bits);
    device = (uint8_t)(c->device | (c->ext ? 0 : c->lba >> 24));
    if (cdb_len != 32 && (c->auxiliary || c->icc))
        REFUSE("ATA command %02Xh: AUXILIARY %Xh and ICC %02Xh need a CDB of 32 bytes, not of %u", c->command,
               c->auxiliary, c->icc, cdb_len);
    switch (cdb_len) {
    case 12:
        if (c->ext)
            REFUSE("ATA command %02Xh: a 48-bit command needs a CDB of 16 or 32 bytes, not of 12", c->command);
        b[0] = 0xa1;
        b[1] = first;
        b[2] = second;
        b[3] = (uint8_t)c->features;
        b[4] = (uint8_t)c->count;
        b[5] = (uint8_t)c->lba;
        b[6] = (uint8_t)(c->lba >> 8);
        b[7] = (uint8_t)(c->lba >> 16);
        b[8] = device;
        b[9] = c->command;
        break;
    case 16:
        b[0] = 0x85;
        b[1] = first;
        b[2] = second;
        bytes_put_be16(b + 3, c->features);
        bytes_put_be16(b + 5, c->count);
        if (c->ext) {
            b[7] = (uint8_t)(c->lba >> 24);
            b[9] = (uint8_t)(c->lba >> 32);
            b[11] = (uint8_t)(c->lba >> 40);
        }
        b[8] = (uint8_t)c->lba;
        b[10] = (uint8_t)(c->lba >> 8);
        b[12] = (uint8_t)(c->lba >> 16);
        b[13] = device;
        b[14] = c->command;
        break;
    case 32:
        b[0] = 0x7f;
        b[7] = 0x18;
        bytes_put_be16(b + 8, 0x1ff0);
        b[10] = first;
        b[11] = second;
        bytes_put_be48(b + 14, c->ext ? c->lba : c->lba & 0xffffff);
        bytes_put_be16(b + 20, c->features);
        bytes_put_be16(b + 22, c->count);
        b[24] = device;
        b[25] = c->command;
        b[27] = c->icc;
        bytes_put_be32(b + 28, c->auxiliary);
        break;
    default: REFUSE("ATA command %02Xh: a CDB of %u bytes, where 12, 16 or 32 was expected", c->command, cdb_len);
    }
    out->cdb_len = cdb_len;
    out->direction = c->direction;
    out->data_len = c->data_len;
    out->timeout_ms = c->timeout_ms;
    return 0;
}

/* `told` low bits of the LBA, and the whole of it unless there were more (`cut`). LBA 27:24 of a 28-bit command stand
 * in DEVICE 3:0 (ACS-4, 28-bit commands). */
static void set_lba(struct sated_ata_registers *out, uint64_t low, uint32_t told, bool cut)
{
    KNOW(ata_registers, out, lba_low, low);
    KNOW(ata_registers, out, lba_low_bits, told);
    if (!cut && told >= 24)
        KNOW(ata_registers, out, lba, out->extend ? low : low | (uint64_t)(out->device & 15) << 24);
}

static void set_count(struct sated_ata_registers *out, uint16_t count, bool cut)
{
    KNOW(ata_registers, out, count_low, (uint8_t)count);
    if (!cut)
        KNOW(ata_registers, out, count, count);
}

#define STATUS_RETURN 0x09 /* the type of the descriptor, and its 14 bytes */
#define STATUS_RETURN_BYTES 14

/* ATA Status Return descriptor (SAT-4), in sense data and in the results log alike. */
static void from_status_return(const uint8_t *p, enum sated_ata_registers_source source,
                               struct sated_ata_registers *out)
{
    uint64_t low = (uint64_t)p[7] | (uint64_t)p[9] << 8 | (uint64_t)p[11] << 16;
    out->source = (uint8_t)source;
    KNOW(ata_registers, out, extend, p[2] & 1);
    KNOW(ata_registers, out, error, p[3]);
    KNOW(ata_registers, out, device, p[12]);
    KNOW(ata_registers, out, status, p[13]);
    set_count(out, out->extend ? bytes_be16(p + 4) : p[5], false);
    if (out->extend)
        low |= (uint64_t)p[6] << 24 | (uint64_t)p[8] << 32 | (uint64_t)p[10] << 40;
    set_lba(out, low, out->extend ? 48 : 24, false);
}

static void from_descriptor(const uint8_t *b, size_t n, struct sated_ata_registers *out)
{
    struct sated_scsi_sense_descriptor d = {0};
    for (size_t at = 8; (at = sense_next_descriptor(b, n, at, &d));)
        if (d.type == STATUS_RETURN && d.length >= STATUS_RETURN_BYTES) {
            from_status_return(b + d.offset, SATED_ATA_REGISTERS_DESCRIPTOR, out);
            return;
        }
}

/* The flags byte of both fixed layouts says whether there is more than fits: EXTEND, COUNT and LBA upper nonzero. */
#define FLAG_EXTEND 0x80
#define FLAG_COUNT 0x40
#define FLAG_LBA 0x20
#define LOG_INDEX 0x0f

/* Fixed format sense data with 00/1D (SAT-4). */
static void from_fixed(const uint8_t *b, struct sated_ata_registers *out)
{
    out->source = SATED_ATA_REGISTERS_FIXED;
    KNOW(ata_registers, out, error, b[3]);
    KNOW(ata_registers, out, status, b[4]);
    KNOW(ata_registers, out, device, b[5]);
    KNOW(ata_registers, out, extend, (b[8] & FLAG_EXTEND) != 0);
    set_count(out, b[6], (b[8] & FLAG_COUNT) != 0);
    set_lba(out, (uint64_t)b[9] | (uint64_t)b[10] << 8 | (uint64_t)b[11] << 16, 24, (b[8] & FLAG_LBA) != 0);
    if (b[8] & LOG_INDEX)
        KNOW(ata_registers, out, log_index, b[8] & LOG_INDEX);
}

/* What libata wrote before Linux 6.11 for commands that failed: the same fields from byte 8 on, the LBA mostly
 * beyond the end of the sense data. ASC and ASCQ stand where they always do, and come from a table, not from the drive. */
static void from_legacy(const uint8_t *b, size_t n, struct sated_ata_registers *out)
{
    uint64_t low = 0;
    uint32_t told = n > 19 ? 3 : n > 17 ? (uint32_t)n - 17 : 0;
    out->source = SATED_ATA_REGISTERS_LEGACY;
    KNOW(ata_registers, out, error, b[8]);
    KNOW(ata_registers, out, status, b[9]);
    KNOW(ata_registers, out, device, b[10]);
    if (n > 16)
        KNOW(ata_registers, out, extend, (b[16] & FLAG_EXTEND) != 0);
    set_count(out, b[11], n <= 16 || (b[16] & FLAG_COUNT));
    for (uint32_t i = 0; i < told; i++)
        low |= (uint64_t)b[17 + i] << 8 * i;
    if (told)
        set_lba(out, low, 8 * told, (b[16] & FLAG_LBA) != 0);
}

int sated_ata_decode_registers(const void *sense, size_t n, struct sated_ata_registers *out)
{
    const uint8_t *b = sense;
    int rc;
    memset(out, 0, sizeof *out);
    if ((rc = sense_check(b, n)))
        return rc;
    KNOW(ata_registers, out, source, SATED_ATA_REGISTERS_NONE);
    if (b[0] & 2) {
        from_descriptor(b, n, out);
        return 0;
    }
    if (n > 7 && n > 8u + b[7])
        n = 8u + b[7];
    if (n < 14)
        return 0;
    if (b[12] == 0x00 && b[13] == 0x1d)
        from_fixed(b, out);
    else if (!b[3] && !b[4] && !b[5] && !b[6] && (b[9] & 0x41) == 0x41 && b[8])
        from_legacy(b, n, out);
    return 0;
}

int sated_ata_decode_results_log(const void *data, size_t n, uint32_t log_index, struct sated_ata_registers *out)
{
    struct sated_scsi_log log;
    int rc = sated_scsi_decode_log(data, n, &log);
    memset(out, 0, sizeof *out);
    if (rc)
        return rc;
    if (log.page != 0x16 || log.subpage)
        return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                         "log page 16h: bytes 0 and 1 say that this is page %02Xh, subpage %02Xh", log.page,
                         log.subpage);
    if (!log_index || log_index > LOG_INDEX)
        REFUSE("ATA PASS-THROUGH Results log: index %u, where 1 to 15 was expected", log_index);
    KNOW(ata_registers, out, source, SATED_ATA_REGISTERS_NONE);
    /* Parameters count from 0, indices from 1; each is a whole descriptor. */
    for (uint32_t i = 0; i < log.n_parameters; i++) {
        const struct sated_scsi_log_parameter *p = &log.parameters[i];
        const uint8_t *d = (const uint8_t *)data + p->offset;
        if (p->code + 1u == log_index && p->length >= STATUS_RETURN_BYTES && d[0] == STATUS_RETURN) {
            from_status_return(d, SATED_ATA_REGISTERS_LOG, out);
            break;
        }
    }
    return 0;
}
