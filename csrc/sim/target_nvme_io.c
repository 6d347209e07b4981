/* SPDX-License-Identifier: MIT */
/* The commands of the NVM Command Set (NVM 3.2). */
#include <errno.h>
#include <string.h>

#include "sim/target_nvme_inside.h"

#define WRITE_UNCORRECTABLE 0x04
#define TRANSFER_MAX ((uint32_t)1 << 20) /* MDTS */
#define RANGE_BYTES 16

/* Blocks of a namespace, and where they are on the medium. */
struct extent {
    uint64_t begin, bytes; /* on the medium */
};

/* ---- Uncorrectable blocks ---- */

static bool is_bad(const struct nvme_state *n, struct extent e)
{
    for (uint32_t i = 0; i < NVME_BAD_SPANS; i++)
        if (n->bad[i].begin_bytes < e.begin + e.bytes && e.begin < n->bad[i].end_bytes)
            return true;
    return false;
}

static struct nvme_span *free_span(struct nvme_state *n)
{
    for (uint32_t i = 0; i < NVME_BAD_SPANS; i++)
        if (n->bad[i].begin_bytes == n->bad[i].end_bytes)
            return &n->bad[i];
    return NULL;
}

bool clear_bad(struct nvme_state *n, uint64_t begin, uint64_t end)
{
    for (uint32_t i = 0; i < NVME_BAD_SPANS; i++) {
        struct nvme_span *b = &n->bad[i], *rest;
        if (b->begin_bytes >= end || b->end_bytes <= begin)
            continue;
        if (b->begin_bytes < begin && b->end_bytes > end) { /* the only one that it can meet: they do not overlap */
            rest = free_span(n);
            if (!rest)
                return false;
            *rest = (struct nvme_span){end, b->end_bytes};
            b->end_bytes = begin;
        } else if (b->begin_bytes < begin) {
            b->end_bytes = begin;
        } else if (b->end_bytes > end) {
            b->begin_bytes = end;
        } else {
            *b = (struct nvme_span){0, 0};
        }
    }
    return true;
}

/* NVM 3.2.7. The list is short: as many spans as NVME_BAD_SPANS at a time. */
static uint32_t write_uncorrectable(struct nvme_call *x, struct extent e)
{
    struct nvme_span *span = NULL;
    if (clear_bad(x->n, e.begin, e.begin + e.bytes))
        span = free_span(x->n);
    if (!span)
        return NVME_INTERNAL;
    *span = (struct nvme_span){e.begin, e.begin + e.bytes};
    target_changed(x->s);
    return NVME_OK;
}

static uint32_t unrecovered(struct nvme_call *x)
{
    x->n->media_errors++;
    return NVME_UNRECOVERED;
}

static uint32_t readable(struct nvme_call *x, struct extent e)
{
    return is_bad(x->n, e) || media_verify(x->s, e.begin, e.bytes) ? unrecovered(x) : NVME_OK;
}

/* ---- Reading and writing ---- */

static uint32_t ended(struct nvme_call *x, int rc)
{
    switch (rc) {
    case 0: return NVME_OK;
    case -ENODATA: return unrecovered(x);
    case -EIO: return NVME_READ_ONLY;
    default: return NVME_INTERNAL;
    }
}

/* The data of a command is within one transfer, and the host has a buffer for all of it. */
static uint32_t check_data(struct nvme_call *x, uint64_t bytes)
{
    if (bytes > TRANSFER_MAX)
        return invalid(x, DWORD(12));
    if (!x->data || bytes > x->c->data_len)
        return x->location = DWORD(6), NVME_DATA_TRANSFER;
    return NVME_OK;
}

static uint32_t read_blocks(struct nvme_call *x, struct extent e)
{
    uint32_t status = check_data(x, e.bytes);
    if (!status)
        status = readable(x, e);
    return status ? status : ended(x, media_read(x->s, e.begin, x->data, (uint32_t)e.bytes));
}

static uint32_t write_blocks(struct nvme_call *x, struct extent e)
{
    uint32_t status = check_data(x, e.bytes);
    if (!status && !clear_bad(x->n, e.begin, e.begin + e.bytes))
        status = NVME_INTERNAL;
    if (!status)
        status = ended(x, media_write(x->s, e.begin, x->data, (uint32_t)e.bytes));
    if (!status)
        keep_written(x, x->c->cdw12 >> 30 & 1);
    return status;
}

static uint32_t compare(struct nvme_call *x, struct extent e)
{
    uint8_t piece[PAGE];
    uint32_t status = check_data(x, e.bytes);
    if (!status)
        status = readable(x, e);
    for (uint64_t at = 0; !status && at < e.bytes; at += sizeof piece) {
        uint32_t n = e.bytes - at < sizeof piece ? (uint32_t)(e.bytes - at) : (uint32_t)sizeof piece;
        status = ended(x, media_read(x->s, e.begin + at, piece, n));
        if (!status && memcmp(piece, x->data + at, n))
            status = NVME_COMPARE_FAILURE;
    }
    return status;
}

/* NVM 3.2.8: with DEAC the blocks are deallocated, which reads as zeros, too (DLFEAT). */
static uint32_t write_zeroes(struct nvme_call *x, struct extent e)
{
    bool deallocate = x->c->cdw12 >> 25 & 1;
    if (!clear_bad(x->n, e.begin, e.begin + e.bytes))
        return NVME_INTERNAL;
    uint32_t status = ended(x, deallocate ? media_trim(x->s, e.begin, e.bytes) : media_fill(x->s, e.begin, e.bytes, 0));
    if (!status)
        keep_written(x, x->c->cdw12 >> 30 & 1);
    return status;
}

/* The commands of one range of blocks: dwords 10 to 12. */
static uint32_t by_blocks(struct nvme_call *x, const struct nvme_namespace *ns)
{
    const struct sated_nvme_command *c = x->c;
    uint64_t slba = (uint64_t)c->cdw11 << 32 | c->cdw10, blocks = (uint64_t)(c->cdw12 & 0xffff) + 1;
    uint64_t all = namespace_blocks(ns);
    x->lba = slba;
    if (slba >= all || blocks > all - slba)
        return x->location = DWORD(10), NVME_LBA_RANGE;
    uint32_t shift = format_shift(ns->format);
    struct extent e = {ns->base_bytes + (slba << shift), blocks << shift};
    switch (c->opcode) {
    case SATED_NVME_IO_READ: return read_blocks(x, e);
    case SATED_NVME_IO_WRITE: return write_blocks(x, e);
    case SATED_NVME_IO_COMPARE: return compare(x, e);
    case SATED_NVME_IO_WRITE_ZEROES: return write_zeroes(x, e);
    case WRITE_UNCORRECTABLE: return write_uncorrectable(x, e);
    default: return readable(x, e); /* Verify */
    }
}

/* ---- Dataset Management, NVM 3.2.3 ---- */

/* The range at i. Return: whether it is within the namespace. */
static bool range_at(const struct nvme_call *x, const struct nvme_namespace *ns, uint32_t i, struct extent *out)
{
    const uint8_t *p = x->data + RANGE_BYTES * i;
    uint64_t slba = bytes_le64(p + 8), blocks = bytes_le32(p + 4), all = namespace_blocks(ns);
    uint32_t shift = format_shift(ns->format);
    *out = (struct extent){ns->base_bytes + (slba << shift), blocks << shift};
    return slba <= all && blocks <= all - slba;
}

static uint32_t manage_dataset(struct nvme_call *x, const struct nvme_namespace *ns)
{
    uint32_t ranges = (x->c->cdw10 & 0xff) + 1, status = check_data(x, (uint64_t)ranges * RANGE_BYTES);
    struct extent e;
    for (uint32_t i = 0; !status && i < ranges; i++)
        if (!range_at(x, ns, i, &e)) {
            x->lba = bytes_le64(x->data + RANGE_BYTES * i + 8);
            status = NVME_LBA_RANGE;
        }
    if (status || !(x->c->cdw11 & SATED_NVME_DSM_DEALLOCATE)) /* the others are hints */
        return status;
    for (uint32_t i = 0; !status && i < ranges; i++) {
        range_at(x, ns, i, &e);
        if (e.bytes && !clear_bad(x->n, e.begin, e.begin + e.bytes))
            status = NVME_INTERNAL;
        else
            status = ended(x, media_trim(x->s, e.begin, e.bytes));
    }
    if (!status)
        keep_written(x, false);
    return status;
}

static uint32_t flush(struct nvme_call *x)
{
    if (nvme_has_cache(x->s))
        media_flush(x->s);
    target_changed(x->s);
    return NVME_OK;
}

uint32_t nvme_io(struct nvme_call *x)
{
    const struct sated_nvme_command *c = x->c;
    struct nvme_controller *k = own(x);
    struct nvme_namespace *ns;
    /* 8.15.1: it does no I/O in a state that does none, and goes back to the last one that does. */
    k->now.value[NVME_VALUE_POWER] = (k->now.value[NVME_VALUE_POWER] & ~31u) | k->operational;
    if (c->opcode == SATED_NVME_IO_FLUSH && c->nsid == ALL)
        return flush(x);
    uint32_t status = namespace_active(x, c->nsid, &ns);
    if (status)
        return status;
    if (ns->broken)
        return NVME_NOT_READY;
    switch (c->opcode) {
    case SATED_NVME_IO_FLUSH: return flush(x);
    case SATED_NVME_IO_DSM: return manage_dataset(x, ns);
    default: return by_blocks(x, ns);
    }
}
