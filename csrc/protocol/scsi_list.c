/* SPDX-License-Identifier: MIT */
/* Parameter lists: what goes to a drive beside a SCSI command. */
#include <sated/scsi.h>

#include <string.h>

#include "core/bytes.h"
#include "core/error.h"
#include "protocol/known_scsi.h"

#define REFUSE(...) return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, __VA_ARGS__)

/* Clears n bytes of the caller's, or refuses. */
static int room(void *buf, size_t cap, size_t n, const char *what)
{
    if (n > cap)
        REFUSE("%s: %zu bytes are needed, the buffer has %zu", what, n, cap);
    memset(buf, 0, n);
    return 0;
}

int sated_scsi_build_wce_list(void *buf, size_t cap, const void *sense, size_t n, bool ten, bool wce)
{
    const uint8_t *from = sense;
    uint8_t *b = buf;
    struct sated_scsi_mode mode;
    size_t header = ten ? 8 : 4, blocks, length;
    int rc = sated_scsi_decode_mode(sense, n, ten, &mode);
    const struct sated_scsi_mode_page *page = NULL;
    if (rc)
        return rc;
    for (uint32_t i = 0; i < mode.n_pages; i++)
        if (mode.pages[i].page == 0x08 && !mode.pages[i].spf && !page)
            page = &mode.pages[i];
    if (!page || page->truncated || page->length < 3)
        REFUSE("MODE SELECT: no whole caching page (08h) in the %zu bytes of MODE SENSE data", n);
    blocks = mode.block_descriptor_length;
    length = header + blocks + page->length;
    if ((rc = room(buf, cap, length, "MODE SELECT, caching page")))
        return rc;
    /* The header's data length is reserved in MODE SELECT, as are WP and DPOFUA; the block descriptors go back as they
     * came, so that nothing is resized. */
    if (ten) {
        b[2] = from[2];
        b[4] = from[4] & 1;
        bytes_put_be16(b + 6, (uint16_t)blocks);
    } else {
        b[1] = from[1];
        b[3] = (uint8_t)blocks;
    }
    memcpy(b + header, from + header, blocks);
    memcpy(b + header + blocks, from + page->offset, page->length);
    b += header + blocks;
    b[0] &= 0x3f; /* PS is reserved in MODE SELECT */
    b[2] = (uint8_t)(wce ? b[2] | 0x04 : b[2] & ~0x04);
    return (int)length;
}

int sated_scsi_build_resize_list(void *buf, size_t cap, uint64_t blocks, uint32_t block_bytes, bool llbaa)
{
    uint8_t *b = buf;
    size_t length = llbaa ? 24 : 16;
    int rc;
    if (!llbaa && blocks != UINT64_MAX && blocks > 0xfffffffe)
        REFUSE("MODE SELECT, block descriptor: %llu blocks do not fit in its 4 bytes: use the 16-byte descriptor",
               (unsigned long long)blocks);
    if (!llbaa && block_bytes > 0xffffff)
        REFUSE("MODE SELECT, block descriptor: %u bytes a block do not fit in its 3 bytes: use the 16-byte descriptor",
               block_bytes);
    if (!block_bytes)
        REFUSE("MODE SELECT, block descriptor: a block of 0 bytes");
    if ((rc = room(buf, cap, length, "MODE SELECT, block descriptor")))
        return rc;
    b[4] = llbaa ? 1 : 0;
    bytes_put_be16(b + 6, llbaa ? 16 : 8);
    if (llbaa) {
        bytes_put_be64(b + 8, blocks);
        bytes_put_be32(b + 20, block_bytes);
    } else {
        bytes_put_be32(b + 8, (uint32_t)blocks);
        bytes_put_be24(b + 13, block_bytes);
    }
    return (int)length;
}

int sated_scsi_build_overwrite_list(void *buf, size_t cap, uint32_t passes, bool invert, uint32_t test,
                                    const void *pattern, size_t pattern_len)
{
    uint8_t *b = buf;
    int rc;
    if (!passes || passes > 31)
        REFUSE("SANITIZE, overwrite: %u passes, where 1 to 31 was expected (SBC-4 5.30.2.2)", passes);
    if (test > 3)
        REFUSE("SANITIZE, overwrite: TEST is %u, where 3 is the most", test);
    if (!pattern_len || pattern_len > 0xffff - 4)
        REFUSE("SANITIZE, overwrite: a pattern of %zu bytes, where 1 to 65531 was expected, and no more than a block",
               pattern_len);
    if ((rc = room(buf, cap, 4 + pattern_len, "SANITIZE, overwrite")))
        return rc;
    b[0] = (uint8_t)((invert ? 0x80 : 0) | test << 5 | passes);
    bytes_put_be16(b + 2, (uint16_t)pattern_len);
    memcpy(b + 4, pattern, pattern_len);
    return (int)(4 + pattern_len);
}

int sated_scsi_build_format_list(void *buf, size_t cap, uint32_t flags, uint32_t protection, uint32_t exponent,
                                 bool longlist)
{
    uint8_t *b = buf;
    size_t length = longlist ? 8 : 4;
    uint32_t allowed =
        SATED_FORMAT_IMMED | SATED_FORMAT_STPF | SATED_FORMAT_DCRT | SATED_FORMAT_DPRY | SATED_FORMAT_FOV;
    int rc;
    if (flags & ~allowed)
        REFUSE("FORMAT UNIT: flags %Xh have no meaning", flags & ~allowed);
    if (!(flags & SATED_FORMAT_FOV) && flags & (SATED_FORMAT_STPF | SATED_FORMAT_DCRT | SATED_FORMAT_DPRY))
        REFUSE("FORMAT UNIT: DPRY, DCRT and STPF hold only with FOV (SBC-4 5.4)");
    if (protection > 7 || exponent > 15)
        REFUSE("FORMAT UNIT: protection field usage %u or protection interval exponent %u is more than its field holds",
               protection, exponent);
    if (exponent && !longlist)
        REFUSE("FORMAT UNIT: a protection interval exponent of %u needs the long header", exponent);
    if ((rc = room(buf, cap, length, "FORMAT UNIT")))
        return rc;
    b[0] = (uint8_t)protection;
    b[1] = (uint8_t)flags;
    if (longlist)
        b[3] = (uint8_t)exponent;
    return (int)length;
}

int sated_scsi_build_unmap_list(void *buf, size_t cap, const struct sated_scsi_range *ranges, size_t n)
{
    uint8_t *b = buf;
    size_t length = 8 + 16 * n;
    int rc;
    if (!n || n > 4095)
        REFUSE("UNMAP: %zu ranges, where 1 to 4095 was expected; ask for all of it", n);
    for (size_t i = 0; i < n; i++)
        if (ranges[i].blocks && ranges[i].lba > UINT64_MAX - (ranges[i].blocks - 1))
            REFUSE("UNMAP: range %zu of %u blocks from LBA %llu on goes beyond the last LBA there can be", i,
                   ranges[i].blocks, (unsigned long long)ranges[i].lba);
    if ((rc = room(buf, cap, length, "UNMAP")))
        return rc;
    bytes_put_be16(b, (uint16_t)(length - 2));
    bytes_put_be16(b + 2, (uint16_t)(length - 8));
    for (size_t i = 0; i < n; i++) {
        bytes_put_be64(b + 8 + 16 * i, ranges[i].lba);
        bytes_put_be32(b + 16 + 16 * i, ranges[i].blocks);
    }
    return (int)length;
}
