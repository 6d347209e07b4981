/* SPDX-License-Identifier: MIT */
/* The SAS drive's commands that read, write and deallocate (SBC-4 5). */
#include "sim/target_scsi_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

#define PIECE 65536
#define DEALLOCATED 1
#define STATUS_DESCRIPTORS 256

/* LBA and length, which stand where the length of the CDB says. */
struct extent {
    uint64_t lba;
    uint32_t blocks;
};

static struct extent extent_of(const struct scsi_call *k)
{
    const uint8_t *c = k->cdb;
    switch (k->row->bytes) {
    case 6: return (struct extent){bytes_be24(c + 1) & 0x1fffff, c[4] ? c[4] : 256};
    case 10: return (struct extent){bytes_be32(c + 2), bytes_be16(c + 7)};
    case 12: return (struct extent){bytes_be32(c + 2), bytes_be32(c + 6)};
    default: return (struct extent){bytes_be64(c + 2), bytes_be32(c + 10)};
    }
}

static uint32_t length_byte(const struct scsi_call *k)
{
    return k->row->bytes == 6 ? 4 : k->row->bytes == 10 ? 7 : k->row->bytes == 12 ? 6 : 10;
}

/* Whether all of it can be addressed; if not, INFORMATION says from where on. */
static int check_extent(struct scsi_call *k, uint64_t lba, uint64_t blocks)
{
    uint64_t all = k->t->blocks;
    if (lba <= all && blocks <= all - lba)
        return 0;
    return scsi_refuse(k, &(struct target_sense){.key = KEY_ILLEGAL,
                                                 .code = CODE_LBA_OUT_OF_RANGE,
                                                 .valid = true,
                                                 .information = lba < all ? all : lba});
}

/* A lock of the bridge stands before all that reads or changes the medium. */
static int check_bridge(struct scsi_call *k)
{
    return fault_stands(k->s, SATED_FAULT_BRIDGE_LOCK) ? scsi_fail(k, KEY_PROTECT, CODE_BRIDGE_LOCKED) : 0;
}

/* The same as check_extent(), and that one command may move so much. */
static int check_transfer(struct scsi_call *k, struct extent e)
{
    if (check_bridge(k) || check_extent(k, e.lba, e.blocks))
        return -1;
    return e.blocks > SCSI_TRANSFER_BYTES / k->t->block_bytes ? scsi_bad_cdb(k, length_byte(k), 7) : 0;
}

static int no_memory(struct scsi_call *k)
{
    return scsi_fail(k, KEY_HARDWARE, 0x4400); /* INTERNAL TARGET FAILURE */
}

/* The error counters of the log pages. */
enum { WRITES, READS, VERIFIES };

/* Why the medium did not do what it was to do, with the first block that cannot be read (SBC-4 4.18). */
static int medium_error(struct scsi_call *k, struct extent e, unsigned counter, int rc)
{
    uint32_t block = k->t->block_bytes;
    if (rc == -EIO)
        return scsi_fail(k, KEY_PROTECT, 0x2700); /* WRITE PROTECTED */
    if (rc != -ENODATA)
        return no_memory(k);
    k->t->uncorrected[counter]++;
    target_changed(k->s);
    return scsi_refuse(k, &(struct target_sense){
                              .key = KEY_MEDIUM,
                              .code = counter == WRITES ? 0x0c00 : 0x1100, /* WRITE, UNRECOVERED READ ERROR */
                              .valid = true,
                              .information = flaw_first_lost(k->s, e.lba * block, (uint64_t)e.blocks * block) / block});
}

static bool fua(const struct scsi_call *k)
{
    return k->row->bytes != 6 && k->cdb[1] & 0x08;
}

/* What was written stays whatever happens if nothing of it is in a cache that a cut of power empties. */
static void written(struct scsi_call *k, bool forced)
{
    bool through = forced || !scsi_mode_wce(k->s);
    if (through && !k->s->model.capacitors)
        media_flush(k->s);
    if (through || k->s->model.capacitors)
        target_changed(k->s);
}

static int write_bytes(struct scsi_call *k, uint64_t lba, const uint8_t *data, uint32_t bytes)
{
    int rc = bytes ? media_write(k->s, lba * k->t->block_bytes, data, bytes) : 0;
    return rc ? medium_error(k, (struct extent){lba, bytes / k->t->block_bytes}, WRITES, rc) : 0;
}

/* ---- Reading and writing ---- */

int scsi_read(struct scsi_call *k)
{
    struct extent e = extent_of(k);
    if (check_transfer(k, e))
        return -1;
    uint32_t bytes = e.blocks * k->t->block_bytes, n = bytes < k->in ? bytes : k->in;
    /* The buffer has room up to the next 4 KiB. */
    uint32_t whole = (n + MODEL_LOGICAL_BLOCK - 1) / MODEL_LOGICAL_BLOCK * MODEL_LOGICAL_BLOCK;
    int rc = whole ? media_read(k->s, e.lba * k->t->block_bytes, k->data, whole) : 0;
    if (rc)
        return medium_error(k, e, READS, rc);
    k->reply->residual = (int32_t)(k->c->data_len - n);
    return 0;
}

int scsi_write(struct scsi_call *k)
{
    struct extent e = extent_of(k);
    uint32_t bytes;
    if (check_transfer(k, e))
        return -1;
    bytes = e.blocks * k->t->block_bytes;
    if (scsi_take(k, bytes) || write_bytes(k, e.lba, k->data, bytes))
        return -1;
    written(k, fua(k));
    return 0;
}

static int miscompare(struct scsi_call *k, uint64_t at)
{
    return scsi_refuse(
        k, &(struct target_sense){.key = KEY_MISCOMPARE, .code = CODE_MISCOMPARE, .valid = true, .information = at});
}

/* Reads a span and compares it with `with`, which is `period` bytes again and again; NULL compares nothing. */
static int compare(struct scsi_call *k, struct extent e, const uint8_t *with, uint32_t period)
{
    uint8_t *piece = malloc(PIECE);
    uint64_t bytes = (uint64_t)e.blocks * k->t->block_bytes, at = 0, wrong = UINT64_MAX;
    bool good = piece;
    int rc = 0;
    while (good && at < bytes && wrong == UINT64_MAX) {
        uint32_t n = bytes - at < PIECE ? (uint32_t)(bytes - at) : PIECE;
        rc = media_read(k->s, e.lba * k->t->block_bytes + at, piece, n);
        good = rc == 0;
        for (uint32_t i = 0; with && good && i < n && wrong == UINT64_MAX; i++)
            if (piece[i] != with[(at + i) % period])
                wrong = at + i;
        at += n;
    }
    free(piece);
    k->t->verified_bytes += at;
    return !good ? medium_error(k, e, VERIFIES, rc) : wrong != UINT64_MAX ? miscompare(k, wrong) : 0;
}

/* BYTCHK: 0 reads only, 1 compares with as many blocks from the host, 3 with one (SBC-4 5.36). */
int scsi_verify(struct scsi_call *k)
{
    struct extent e = extent_of(k);
    uint8_t bytchk = k->cdb[1] >> 1 & 3;
    uint32_t block = k->t->block_bytes;
    if (bytchk == 2)
        return scsi_bad_cdb(k, 1, 2);
    if (bytchk ? check_transfer(k, e) : check_bridge(k) || check_extent(k, e.lba, e.blocks))
        return -1;
    if (!e.blocks || !bytchk)
        return compare(k, e, NULL, 1);
    uint32_t bytes = bytchk == 1 ? e.blocks * block : block;
    return scsi_take(k, bytes) || compare(k, e, k->data, bytes) ? -1 : 0;
}

int scsi_write_verify(struct scsi_call *k)
{
    struct extent e = extent_of(k);
    if (k->cdb[1] >> 1 & 2) /* BYTCHK 2 and 3 are none of this command */
        return scsi_bad_cdb(k, 1, 2);
    if (check_transfer(k, e))
        return -1;
    uint32_t bytes = e.blocks * k->t->block_bytes;
    if (scsi_take(k, bytes) || write_bytes(k, e.lba, k->data, bytes))
        return -1;
    written(k, true);
    return e.blocks ? compare(k, e, k->cdb[1] & 2 ? k->data : NULL, bytes) : 0;
}

int scsi_compare_write(struct scsi_call *k)
{
    struct extent e = {bytes_be64(k->cdb + 2), k->cdb[13]};
    uint32_t bytes = e.blocks * k->t->block_bytes;
    if (check_transfer(k, e))
        return -1;
    if (e.blocks > SCSI_COMPARE_BLOCKS)
        return scsi_bad_cdb(k, 13, 7);
    if (scsi_take(k, (size_t)2 * bytes) || (bytes && compare(k, e, k->data, bytes)))
        return -1;
    if (write_bytes(k, e.lba, k->data + bytes, bytes))
        return -1;
    written(k, fua(k));
    return 0;
}

int scsi_synchronize(struct scsi_call *k)
{
    struct extent e = extent_of(k);
    if (check_extent(k, e.lba, e.blocks))
        return -1;
    media_flush(k->s);
    target_changed(k->s);
    return 0;
}

/* ---- Provisioning ---- */

static int deallocate(struct scsi_call *k, uint64_t lba, uint64_t blocks)
{
    int rc = blocks ? media_trim(k->s, lba * k->t->block_bytes, blocks * k->t->block_bytes) : 0;
    return rc ? medium_error(k, (struct extent){lba, (uint32_t)blocks}, WRITES, rc) : 0;
}

/* SBC-4 5.35: a list of 8 bytes and descriptors of 16, of which an incomplete one at the end is left out. Nothing is
 * deallocated unless all of them are good. */
int scsi_unmap(struct scsi_call *k)
{
    uint32_t n = bytes_be16(k->cdb + 7);
    if (check_bridge(k) || scsi_take(k, n))
        return -1;
    if (!n)
        return 0;
    if (n < 8)
        return scsi_fail(k, KEY_ILLEGAL, CODE_LIST_LENGTH);
    uint32_t length = bytes_be16(k->data + 2), count = (length < n - 8 ? length : n - 8) / 16;
    if (count > SCSI_UNMAP_DESCRIPTORS)
        return scsi_bad_list(k, 2, -1);
    for (uint32_t i = 0; i < count; i++)
        if (check_extent(k, bytes_be64(k->data + 8 + 16 * i), bytes_be32(k->data + 16 + 16 * i)))
            return -1;
    for (uint32_t i = 0; i < count; i++)
        if (deallocate(k, bytes_be64(k->data + 8 + 16 * i), bytes_be32(k->data + 16 + 16 * i)))
            return -1;
    written(k, false);
    return 0;
}

static bool is_zero(const uint8_t *data, uint32_t n)
{
    while (n && !*data)
        data++, n--;
    return !n;
}

static int fill(struct scsi_call *k, struct extent e, const uint8_t *block)
{
    uint32_t size = k->t->block_bytes, room = PIECE / size;
    uint8_t *piece = calloc(1, PIECE);
    int rc = piece ? 0 : no_memory(k);
    for (uint32_t i = 0; block && piece && i < room; i++)
        memcpy(piece + i * size, block, size);
    for (uint32_t n; !rc && e.blocks; e.lba += n, e.blocks -= n) {
        n = e.blocks < room ? e.blocks : room;
        rc = write_bytes(k, e.lba, piece, n * size);
    }
    free(piece);
    return rc;
}

/* With UNMAP blocks are deallocated if they read as what was sent afterwards, that is as zeros (SBC-4 5.52); else they
 * are written. 0 blocks are all up to the last one. */
int scsi_write_same(struct scsi_call *k)
{
    struct extent e = extent_of(k);
    uint32_t block = k->t->block_bytes;
    bool ndob = k->row->bytes == 16 && k->cdb[1] & 1, unmap = k->cdb[1] & 8;
    if (check_bridge(k) || check_extent(k, e.lba, e.blocks))
        return -1;
    uint64_t blocks = e.blocks ? e.blocks : k->t->blocks - e.lba;
    if (blocks > SCSI_WRITE_SAME_BYTES / block)
        return scsi_bad_cdb(k, length_byte(k), 7);
    if (!ndob && scsi_take(k, block))
        return -1;
    e.blocks = (uint32_t)blocks;
    int rc =
        unmap && (ndob || is_zero(k->data, block)) ? deallocate(k, e.lba, blocks) : fill(k, e, ndob ? NULL : k->data);
    if (!rc)
        written(k, false);
    return rc;
}

/* Extents of one state each, from the LBA on, as many as the host has room for (SBC-4 5.6). */
int scsi_lba_status(struct scsi_call *k)
{
    uint8_t out[8 + 16 * STATUS_DESCRIPTORS] = {0};
    uint64_t lba = bytes_be64(k->cdb + 2), all = k->t->blocks;
    uint32_t wanted = bytes_be32(k->cdb + 10), block = k->t->block_bytes, n = 8;
    uint32_t unit = (uint32_t)k->s->model.unit_bytes, room = wanted < sizeof out ? wanted : (uint32_t)sizeof out;
    if (k->cdb[14])
        return scsi_bad_cdb(k, 14, 3);
    if (check_extent(k, lba, 1))
        return -1;
    while (lba < all && (n == 8 || n + 16 <= room)) {
        uint64_t end = lba, first = lba * block / unit;
        bool mapped = media_is_mapped(k->s, lba * block);
        do
            end = (++first * unit + block - 1) / block;
        while (end < all && end - lba < UINT32_MAX - unit && media_is_mapped(k->s, end * block) == mapped);
        end = end < all ? end : all;
        bytes_put_be64(out + n, lba);
        bytes_put_be32(out + n + 8, (uint32_t)(end - lba));
        out[n + 12] = mapped ? 0 : DEALLOCATED;
        lba = end;
        n += 16;
    }
    bytes_put_be32(out, n - 4);
    return scsi_give(k, out, n, wanted);
}

/* ---- Defects: none, in whatever format is asked for ---- */

int scsi_defects_10(struct scsi_call *k)
{
    uint8_t out[4] = {0, k->cdb[2]};
    return scsi_give(k, out, sizeof out, bytes_be16(k->cdb + 7));
}

int scsi_defects_12(struct scsi_call *k)
{
    uint8_t out[8] = {0, k->cdb[1]};
    return scsi_give(k, out, sizeof out, bytes_be32(k->cdb + 6));
}
