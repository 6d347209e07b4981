/* SPDX-License-Identifier: MIT */
/* MODE SENSE data (SPC-5) and the mode pages of disks (SPC-5, SBC-4 6.5). */
#include <sated/scsi.h>

#include <string.h>

#include "core/bytes.h"
#include "core/error.h"
#include "protocol/fields.h"
#include "protocol/known_scsi.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define REFUSE(...) return error_set(SATED_PARSE, SATED_LAYER_DRIVE, __VA_ARGS__)

static void block_descriptors(const uint8_t *b, size_t n, struct sated_scsi_mode *out)
{
    size_t size = out->longlba ? 16 : 8;
    for (size_t at = 0; at + size <= n; at += size) {
        struct sated_scsi_mode_block *d = &out->blocks[out->n_blocks];
        if (out->n_blocks == COUNT(out->blocks)) {
            out->truncated = true;
            return;
        }
        out->n_blocks++;
        if (out->longlba) {
            KNOW(scsi_mode_block, d, number_of_blocks, bytes_be64(b + at));
            KNOW(scsi_mode_block, d, block_bytes, bytes_be32(b + at + 12));
        } else {
            if (bytes_be32(b + at) != 0xffffffff)
                KNOW(scsi_mode_block, d, number_of_blocks, bytes_be32(b + at));
            KNOW(scsi_mode_block, d, density_code, b[at + 4]);
            KNOW(scsi_mode_block, d, block_bytes, bytes_be24(b + at + 5));
        }
    }
}

/* Bytes of a page by its own header, of which n are there; 0 if not even the header is. */
static size_t page_length(const uint8_t *b, size_t n)
{
    if (n < 2)
        return 0;
    if (!(b[0] & 0x40))
        return 2u + b[1];
    return n < 4 ? 0 : 4u + bytes_be16(b + 2);
}

static void pages(const uint8_t *b, size_t at, size_t end, struct sated_scsi_mode *out)
{
    while (at < end) {
        size_t whole = page_length(b + at, end - at);
        struct sated_scsi_mode_page *p = &out->pages[out->n_pages];
        if (!whole || out->n_pages == COUNT(out->pages)) {
            out->truncated = true;
            return;
        }
        out->n_pages++;
        p->page = b[at] & 0x3f;
        p->spf = (b[at] & 0x40) != 0;
        p->ps = (b[at] & 0x80) != 0;
        p->subpage = p->spf ? b[at + 1] : 0;
        p->offset = (uint16_t)at;
        p->truncated = whole > end - at;
        p->length = (uint16_t)(p->truncated ? end - at : whole);
        if (p->truncated)
            out->truncated = true;
        at += p->length;
    }
}

int sated_scsi_decode_mode(const void *data, size_t n, bool ten, struct sated_scsi_mode *out)
{
    const uint8_t *b = data;
    size_t header = ten ? 8 : 4, end, descriptors;
    memset(out, 0, sizeof *out);
    if (n < header)
        REFUSE("MODE SENSE(%d) data: %zu bytes, where at least %zu were expected; ask for all of it", ten ? 10 : 6, n,
               header);
    end = ten ? 2u + bytes_be16(b) : 1u + b[0];
    if (end < header)
        REFUSE(
            "MODE SENSE(%d) data: %zu bytes by its own length in byte 0, where at least %zu were expected; ask for all of it",
            ten ? 10 : 6, end, header);
    KNOW(scsi_mode, out, mode_data_length, (uint32_t)end - (ten ? 2 : 1));
    KNOW(scsi_mode, out, medium_type, b[ten ? 2 : 1]);
    KNOW(scsi_mode, out, wp, (b[ten ? 3 : 2] & 0x80) != 0);
    KNOW(scsi_mode, out, dpofua, (b[ten ? 3 : 2] & 0x10) != 0);
    KNOW(scsi_mode, out, longlba, ten && (b[4] & 1));
    KNOW(scsi_mode, out, block_descriptor_length, ten ? bytes_be16(b + 6) : b[3]);
    KNOW(scsi_mode, out, truncated, end > n);
    if (end > n)
        end = n;
    out->known |= KNOWN_BIT(scsi_mode, n_blocks) | KNOWN_BIT(scsi_mode, blocks) | KNOWN_BIT(scsi_mode, n_pages) |
                  KNOWN_BIT(scsi_mode, pages);
    descriptors = out->block_descriptor_length;
    if (header + descriptors > end) {
        /* Where the pages begin is then beyond the answer. */
        out->truncated = true;
        block_descriptors(b + header, end - header, out);
        return 0;
    }
    if (descriptors % (out->longlba ? 16 : 8))
        out->truncated = true;
    block_descriptors(b + header, descriptors, out);
    pages(b, header + descriptors, end, out);
    return 0;
}

/* The header of one page. Return: bytes of the page that there are, or a negative error. */
static int page_begin(const uint8_t *b, size_t n, uint8_t page, bool *truncated)
{
    size_t whole;
    if (n < 2)
        REFUSE("mode page %02Xh: %zu bytes, where at least 2 were expected; ask for all of it", page, n);
    if ((b[0] & 0x7f) != page)
        REFUSE("mode page %02Xh: byte 0 says that this is %s %02Xh", page, b[0] & 0x40 ? "a subpage of page" : "page",
               b[0] & 0x3f);
    whole = 2u + b[1];
    *truncated = whole > n;
    return (int)(whole < n ? whole : n);
}

#define PAGE(of, page) \
    int length; \
    memset(out, 0, sizeof *out); \
    if ((length = page_begin(data, n, page, &out->truncated)) < 0) \
        return length; \
    out->known |= KNOWN_BIT(of, truncated)

int sated_scsi_decode_mode_caching(const void *data, size_t n, struct sated_scsi_mode_caching *out)
{
#define F(member, byte, shift, bits) FIELD(scsi_mode_caching, member, byte, shift, bits)
    static const struct field fields[] = {
        F(ps, 0, 7, 1),
        F(ic, 2, 7, 1),
        F(abpf, 2, 6, 1),
        F(cap, 2, 5, 1),
        F(disc, 2, 4, 1),
        F(size, 2, 3, 1),
        F(wce, 2, 2, 1),
        F(mf, 2, 1, 1),
        F(rcd, 2, 0, 1),
        F(demand_read_retention_priority, 3, 4, 4),
        F(write_retention_priority, 3, 0, 4),
        F(disable_prefetch_transfer_length, 4, 0, 16),
        F(minimum_prefetch, 6, 0, 16),
        F(maximum_prefetch, 8, 0, 16),
        F(maximum_prefetch_ceiling, 10, 0, 16),
        F(fsw, 12, 7, 1),
        F(lbcss, 12, 6, 1),
        F(dra, 12, 5, 1),
        F(sync_prog, 12, 1, 2),
        F(nv_dis, 12, 0, 1),
        F(number_of_cache_segments, 13, 0, 8),
        F(cache_segment_size, 14, 0, 16),
    };
#undef F
    PAGE(scsi_mode_caching, 0x08);
    fields_decode_be(fields, COUNT(fields), data, (size_t)length, out);
    return 0;
}

int sated_scsi_decode_mode_control(const void *data, size_t n, struct sated_scsi_mode_control *out)
{
#define F(member, byte, shift, bits) FIELD(scsi_mode_control, member, byte, shift, bits)
    static const struct field fields[] = {
        F(ps, 0, 7, 1),
        F(tst, 2, 5, 3),
        F(tmf_only, 2, 4, 1),
        F(dpicz, 2, 3, 1),
        F(d_sense, 2, 2, 1),
        F(gltsd, 2, 1, 1),
        F(rlec, 2, 0, 1),
        F(queue_algorithm_modifier, 3, 4, 4),
        F(nuar, 3, 3, 1),
        F(qerr, 3, 1, 2),
        F(rac, 4, 6, 1),
        F(ua_intlck_ctrl, 4, 4, 2),
        F(swp, 4, 3, 1),
        F(ato, 5, 7, 1),
        F(tas, 5, 6, 1),
        F(atmpe, 5, 5, 1),
        F(rwwp, 5, 4, 1),
        F(sblp, 5, 3, 1),
        F(autoload_mode, 5, 0, 3),
        F(busy_timeout_period, 8, 0, 16),
        FIELD_UNLESS_0(scsi_mode_control, extended_self_test_completion_time, 10, 0, 16),
    };
#undef F
    PAGE(scsi_mode_control, 0x0a);
    fields_decode_be(fields, COUNT(fields), data, (size_t)length, out);
    return 0;
}

int sated_scsi_decode_mode_power(const void *data, size_t n, struct sated_scsi_mode_power *out)
{
#define F(member, byte, shift, bits) FIELD(scsi_mode_power, member, byte, shift, bits)
#define F0(member, byte, shift, bits) FIELD_UNLESS_0(scsi_mode_power, member, byte, shift, bits)
    static const struct field fields[] = {
        F(ps, 0, 7, 1),
        F(pm_bg_precedence, 2, 6, 2),
        F(standby_y, 2, 0, 1),
        F(idle_c, 3, 3, 1),
        F(idle_b, 3, 2, 1),
        F(idle_a, 3, 1, 1),
        F(standby_z, 3, 0, 1),
        F(idle_a_timer, 4, 0, 32),
        F(standby_z_timer, 8, 0, 32),
        F(idle_b_timer, 12, 0, 32),
        F(idle_c_timer, 16, 0, 32),
        F(standby_y_timer, 20, 0, 32),
        F0(ccf_idle, 39, 6, 2),
        F0(ccf_standby, 39, 4, 2),
        F0(ccf_stopped, 39, 2, 2),
    };
#undef F
#undef F0
    PAGE(scsi_mode_power, 0x1a);
    fields_decode_be(fields, COUNT(fields), data, (size_t)length, out);
    return 0;
}
