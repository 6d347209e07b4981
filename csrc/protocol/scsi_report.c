/* SPDX-License-Identifier: MIT */
/* READ CAPACITY (SBC-4 5.20, 5.21), REPORT SUPPORTED OPERATION CODES and REPORT LUNS (SPC-5). */
#include <sated/scsi.h>

#include <string.h>

#include "core/bytes.h"
#include "core/error.h"
#include "protocol/fields.h"
#include "protocol/known_scsi.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define REFUSE(...) return error_set(SATED_PARSE, SATED_LAYER_DRIVE, __VA_ARGS__)

/* What follows from the last LBA and the block length. */
static void capacity_sums(struct sated_scsi_capacity *out)
{
    uint64_t bytes;
    if (IS_KNOWN(scsi_capacity, out, block_bytes) && IS_KNOWN(scsi_capacity, out, lbppbe) &&
        !__builtin_mul_overflow(out->block_bytes, 1u << out->lbppbe, &out->physical_block_bytes))
        out->known |= KNOWN_BIT(scsi_capacity, physical_block_bytes);
    if (!IS_KNOWN(scsi_capacity, out, last_lba) || out->last_lba == UINT64_MAX)
        return;
    KNOW(scsi_capacity, out, blocks, out->last_lba + 1);
    if (IS_KNOWN(scsi_capacity, out, block_bytes) &&
        !__builtin_mul_overflow(out->blocks, (uint64_t)out->block_bytes, &bytes))
        KNOW(scsi_capacity, out, bytes, bytes);
}

int sated_scsi_decode_capacity_10(const void *data, size_t n, struct sated_scsi_capacity *out)
{
    const uint8_t *b = data;
    memset(out, 0, sizeof *out);
    if (n < 8)
        REFUSE("READ CAPACITY(10) data: %zu bytes, where 8 were expected; ask for all of it", n);
    /* All ones: more blocks than 32 bits tell; READ CAPACITY(16) does. */
    if (bytes_be32(b) != 0xffffffff)
        KNOW(scsi_capacity, out, last_lba, bytes_be32(b));
    if (bytes_be32(b + 4))
        KNOW(scsi_capacity, out, block_bytes, bytes_be32(b + 4));
    capacity_sums(out);
    return 0;
}

int sated_scsi_decode_capacity_16(const void *data, size_t n, struct sated_scsi_capacity *out)
{
#define F(member, byte, shift, bits) FIELD(scsi_capacity, member, byte, shift, bits)
    static const struct field fields[] = {
        F(last_lba, 0, 0, 64), FIELD_UNLESS_0(scsi_capacity, block_bytes, 8, 0, 32),
        F(rc_basis, 12, 4, 2), F(p_type, 12, 1, 3),
        F(prot_en, 12, 0, 1),  F(p_i_exponent, 13, 4, 4),
        F(lbppbe, 13, 0, 4),   F(lbpme, 14, 7, 1),
        F(lbprz, 14, 6, 1),    F(lowest_aligned_lba, 14, 0, 14),
    };
#undef F
    memset(out, 0, sizeof *out);
    if (n < 12)
        REFUSE("READ CAPACITY(16) data: %zu bytes, where at least 12 were expected; ask for all of it", n);
    fields_decode_be(fields, COUNT(fields), data, n < 32 ? n : 32, out);
    /* The type of protection means something only where protection is on. */
    if (!IS_KNOWN(scsi_capacity, out, prot_en) || !out->prot_en)
        FORGET(scsi_capacity, out, p_type);
    capacity_sums(out);
    return 0;
}

/* The command timeouts descriptor: 0 is "not told". Return: its bytes, or 0 if it is not whole. */
static size_t timeouts(const uint8_t *b, size_t n, uint8_t *specific, uint32_t *nominal, uint32_t *recommended)
{
    size_t whole = n >= 2 ? 2u + bytes_be16(b) : 0;
    if (whole < 12 || whole > n)
        return 0;
    *specific = b[3];
    *nominal = bytes_be32(b + 4);
    *recommended = bytes_be32(b + 8);
    return whole;
}

int sated_scsi_decode_opcodes(const void *data, size_t n, struct sated_scsi_opcodes *out)
{
    const uint8_t *b = data;
    size_t at = 4, end;
    memset(out, 0, sizeof *out);
    if (n < 4)
        REFUSE("REPORT SUPPORTED OPERATION CODES data: %zu bytes, where at least 4 were expected; ask for all of it",
               n);
    end = bytes_be32(b);
    KNOW(scsi_opcodes, out, truncated, end > n - 4);
    end = end > n - 4 ? n : end + 4;
    KNOW_LIST(scsi_opcodes, out, n_commands, commands);
    while (at < end) {
        struct sated_scsi_opcode *c = &out->commands[out->n_commands];
        uint32_t nominal = 0, recommended = 0;
        size_t more = 0;
        uint8_t specific = 0;
        const char *name;
        if (at + 8 > end || out->n_commands == COUNT(out->commands)) {
            out->truncated = true;
            break;
        }
        /* CTDP: a timeouts descriptor follows this one. */
        if (b[at + 5] & 2 && !(more = timeouts(b + at + 8, end - at - 8, &specific, &nominal, &recommended))) {
            out->truncated = true;
            break;
        }
        KNOW(scsi_opcode, c, opcode, b[at]);
        if (b[at + 5] & 1)
            KNOW(scsi_opcode, c, service_action, bytes_be16(b + at + 2));
        KNOW(scsi_opcode, c, cdlp, b[at + 5] >> 2 & 3);
        KNOW(scsi_opcode, c, cdb_length, bytes_be16(b + at + 6));
        if (more)
            KNOW(scsi_opcode, c, command_specific, specific);
        if (nominal)
            KNOW(scsi_opcode, c, nominal_timeout_s, nominal);
        if (recommended)
            KNOW(scsi_opcode, c, recommended_timeout_s, recommended);
        if ((name = sated_scsi_opcode_text(c->opcode, c->service_action))) {
            memcpy(c->name, name, strlen(name) + 1);
            c->known |= KNOWN_BIT(scsi_opcode, name);
        }
        out->n_commands++;
        at += 8 + more;
    }
    return 0;
}

int sated_scsi_decode_one_opcode(const void *data, size_t n, struct sated_scsi_one_opcode *out)
{
    const uint8_t *b = data;
    uint32_t nominal = 0, recommended = 0;
    uint8_t specific = 0;
    size_t size;
    memset(out, 0, sizeof *out);
    if (n < 4)
        REFUSE(
            "REPORT SUPPORTED OPERATION CODES data, one command: %zu bytes, where at least 4 were expected; ask for all of it",
            n);
    KNOW(scsi_one_opcode, out, support, b[1] & 7);
    KNOW(scsi_one_opcode, out, cdlp, b[1] >> 3 & 3);
    out->known |= KNOWN_BIT(scsi_one_opcode, truncated);
    /* Only a supported command has usage data; the rest of the answer is then not of any meaning. */
    if (out->support != 3 && out->support != 5)
        return 0;
    size = bytes_be16(b + 2);
    if (size > n - 4 || size > sizeof out->cdb_usage) {
        out->truncated = true;
        return 0;
    }
    memcpy(out->cdb_usage, b + 4, size);
    KNOW(scsi_one_opcode, out, n_cdb_usage, (uint32_t)size);
    out->known |= KNOWN_BIT(scsi_one_opcode, cdb_usage);
    if (!(b[1] & 0x80))
        return 0;
    if (!timeouts(b + 4 + size, n - 4 - size, &specific, &nominal, &recommended)) {
        out->truncated = true;
        return 0;
    }
    KNOW(scsi_one_opcode, out, command_specific, specific);
    if (nominal)
        KNOW(scsi_one_opcode, out, nominal_timeout_s, nominal);
    if (recommended)
        KNOW(scsi_one_opcode, out, recommended_timeout_s, recommended);
    return 0;
}

int sated_scsi_decode_luns(const void *data, size_t n, struct sated_scsi_luns *out)
{
    const uint8_t *b = data;
    size_t end;
    memset(out, 0, sizeof *out);
    if (n < 8)
        REFUSE("REPORT LUNS data: %zu bytes, where at least 8 were expected; ask for all of it", n);
    end = bytes_be32(b);
    KNOW(scsi_luns, out, truncated, end > n - 8 || end % 8 != 0);
    end = end > n - 8 ? n : end + 8;
    KNOW_LIST(scsi_luns, out, n_luns, luns);
    for (size_t at = 8; at + 8 <= end; at += 8) {
        if (out->n_luns == COUNT(out->luns)) {
            out->truncated = true;
            break;
        }
        out->luns[out->n_luns++] = bytes_be64(b + at);
    }
    return 0;
}
