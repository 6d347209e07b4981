/* SPDX-License-Identifier: MIT */
/* INQUIRY, vital product data, READ CAPACITY and mode pages of a simulated ATA drive, as libata makes them from IDENTIFY
 * (SAT-4 8.1, 10). */
#include <string.h>

#include "sim/target_sat.h"

#define DRIVER_VERSION "3.00" /* of libata */

/* A string of IDENTIFY in reading order. */
static void text(const uint8_t *identify, unsigned word, unsigned words, uint8_t *out)
{
    for (unsigned i = 0; i < words; i++) {
        out[2 * i] = identify[2 * (word + i) + 1];
        out[2 * i + 1] = identify[2 * (word + i)];
    }
}

/* ---- INQUIRY ---- */

static uint32_t put_standard(const uint8_t *identify, uint8_t *b)
{
    /* SPC-3, response format 2, CMDQUE; claims SAM-3, SBC-2 and SPC-3. */
    static const uint8_t head[8] = {0, 0, 5, 2, 95 - 4, 0, 0, 2}, versions[6] = {0x00, 0x60, 0x03, 0x20, 0x03, 0x00};
    uint8_t firmware[8];
    memcpy(b, head, sizeof head);
    memcpy(b + 8, "ATA     ", 8);
    text(identify, 27, 8, b + 16);
    text(identify, 23, 4, firmware);
    memcpy(b + 32, memcmp(firmware + 4, "    ", 4) ? firmware + 4 : firmware, 4); /* the end of a long one */
    memcpy(b + 58, versions, sizeof versions);
    return 96;
}

static uint32_t put_designators(const uint8_t *identify, uint8_t *b)
{
    uint8_t *d = b + 4;
    d[0] = 2; /* the serial number by itself */
    d[3] = 20;
    text(identify, 10, 10, d + 4);
    d += 24;
    d[0] = 2; /* T10 vendor identification, model and serial number */
    d[1] = 1;
    d[3] = 68;
    memcpy(d + 4, "ATA     ", 8);
    text(identify, 27, 20, d + 12);
    text(identify, 10, 10, d + 52);
    d += 72;
    d[0] = 1; /* NAA: words 108 to 111 */
    d[1] = 3;
    d[3] = 8;
    text(identify, 108, 4, d + 4);
    d += 12;
    return (uint32_t)(d - b);
}

/* ATA Information (SAT-4 12.4.2). */
static uint32_t put_information(const uint8_t *identify, uint8_t *b)
{
    memcpy(b + 8, "linux   ", 8);
    memcpy(b + 16, "libata          ", 16);
    memcpy(b + 32, DRIVER_VERSION, 4);
    b[36] = 0x34; /* the signature, as a device-to-host FIS */
    b[38] = 0x40;
    b[40] = 1;
    b[48] = 1;
    b[56] = 0xec;
    memcpy(b + 60, identify, 512);
    return 572;
}

static uint32_t put_limits(const struct sim *s, uint8_t *b)
{
    uint32_t sectors = (uint32_t)(s->model.unit_bytes / ATA_SECTOR);
    bytes_put_be16(b + 6, (uint16_t)sectors);
    bytes_put_be32(b + 20, 65535 * 64 * ATA_TRIM_BLOCKS); /* maximum unmap LBA count and number of descriptors */
    bytes_put_be32(b + 24, 64 * ATA_TRIM_BLOCKS);
    bytes_put_be32(b + 28, 1);
    bytes_put_be64(b + 36, 65535 * 64); /* maximum WRITE SAME length */
    return 64;
}

static uint32_t put_page(const struct sim *s, const uint8_t *identify, uint8_t page, uint8_t *b)
{
    static const uint8_t pages[] = {0x00, 0x80, 0x83, 0x89, 0xb0, 0xb1, 0xb2};
    switch (page) {
    case 0x00: memcpy(b + 4, pages, sizeof pages); return 4 + sizeof pages;
    case 0x80: text(identify, 10, 10, b + 4); return 24;
    case 0x83: return put_designators(identify, b);
    case 0x89: return put_information(identify, b);
    case 0xb0: return put_limits(s, b);
    case 0xb1:
        bytes_put_be16(b + 4, bytes_le16(identify + 2 * 217));
        b[7] = identify[2 * 168] & 15;
        return 64;
    case 0xb2:
        b[5] = 0xc0; /* UNMAP, and WRITE SAME(16) with it */
        return 8;
    default: return 0;
    }
}

void sat_inquiry(struct sat *x)
{
    const uint8_t *cdb = x->c->cdb;
    uint8_t identify[512], b[600] = {0};
    uint32_t room = bytes_be16(cdb + 3), n;
    bool vital = cdb[1] & 1;
    ata_identify_data(x->s, identify);
    n = vital ? put_page(x->s, identify, cdb[2], b) : cdb[2] ? 0 : put_standard(identify, b);
    if (!n || cdb[1] & ~1) {
        sat_invalid_field(x);
        return;
    }
    if (vital) {
        b[1] = cdb[2];
        bytes_put_be16(b + 2, (uint16_t)(n - 4));
    }
    sat_answer(x, b, n < room ? n : room);
}

/* ---- READ CAPACITY ---- */

void sat_read_capacity_10(struct sat *x)
{
    uint64_t last = x->s->target.ata.sectors - 1;
    uint8_t b[8];
    bytes_put_be32(b, last < UINT32_MAX ? (uint32_t)last : UINT32_MAX);
    bytes_put_be32(b + 4, ATA_SECTOR);
    sat_answer(x, b, sizeof b);
}

void sat_read_capacity_16(struct sat *x)
{
    uint32_t room = bytes_be32(x->c->cdb + 10);
    uint8_t b[32] = {0};
    bytes_put_be64(b, x->s->target.ata.sectors - 1);
    bytes_put_be32(b + 8, ATA_SECTOR);
    b[13] = (uint8_t)__builtin_ctzll(x->s->model.unit_bytes / ATA_SECTOR);
    b[14] = 0xc0; /* LBPME, LBPRZ */
    sat_answer(x, b, room < sizeof b ? room : sizeof b);
}

/* ---- Mode pages ---- */

enum {
    RECOVERY = 0x01,
    CACHING = 0x08,
    CONTROL = 0x0a,
    ALL = 0x3f,
};

/* A page as it is now; what of it can be changed, where `changeable`. Return: bytes, 0 for a page that there is not. */
static uint32_t put_mode(const struct sim *s, unsigned page, bool changeable, uint8_t *b)
{
    const struct ata_state *a = &s->target.ata;
    switch (page) {
    case RECOVERY:
        b[0] = RECOVERY;
        b[1] = 10;
        b[2] = changeable ? 0 : 0x80; /* AWRE */
        return 12;
    case CACHING:
        b[0] = CACHING;
        b[1] = 18;
        b[2] = changeable || a->write_cache ? 4 : 0;    /* WCE */
        b[12] = changeable || a->look_ahead ? 0 : 0x20; /* DRA */
        return 20;
    case CONTROL:
        b[0] = CONTROL;
        b[1] = 10;
        b[2] = (uint8_t)((changeable ? 0 : 2) | (changeable || a->descriptors ? 4 : 0)); /* GLTSD, D_SENSE */
        if (!changeable) {
            b[8] = b[9] = 0xff;
            b[11] = 30;
        }
        return 12;
    default: return 0;
    }
}

void sat_mode_sense(struct sat *x)
{
    static const uint8_t every[] = {RECOVERY, CACHING, CONTROL};
    const uint8_t *cdb = x->c->cdb;
    bool ten = cdb[0] == 0x5a, descriptor = !(cdb[1] & 8), fua = ata_has(x->s, ATA_HAS_FUA);
    unsigned control = cdb[2] >> 6, page = cdb[2] & 0x3f;
    uint8_t b[128] = {0};
    uint32_t head = ten ? 8 : 4, n = head + (descriptor ? 8 : 0), start = n, room = ten ? bytes_be16(cdb + 7) : cdb[4];
    if (control == 3) {
        sat_sense(x, 5, 0x39, 0x00); /* SAVING PARAMETERS NOT SUPPORTED */
        return;
    }
    for (size_t i = 0; i < sizeof every; i++)
        if (page == every[i] || page == ALL)
            n += put_mode(x->s, every[i], control == 1, b + n);
    if (n == start || (cdb[3] && cdb[3] != 0xff)) {
        sat_invalid_field(x);
        return;
    }
    if (ten) {
        bytes_put_be16(b, (uint16_t)(n - 2));
        b[3] = fua ? 0x10 : 0; /* DPOFUA */
        b[7] = descriptor ? 8 : 0;
    } else {
        b[0] = (uint8_t)(n - 1);
        b[2] = fua ? 0x10 : 0;
        b[3] = descriptor ? 8 : 0;
    }
    if (descriptor)
        bytes_put_be24(b + head + 5, ATA_SECTOR);
    sat_answer(x, b, n < room ? n : room);
}

/* Whether a page is as it is now but for the bit that can be changed. */
static bool is_acceptable(const struct sim *s, unsigned page, const uint8_t *given, uint32_t n)
{
    uint8_t now[20] = {0}, mask[20] = {0};
    uint32_t length = put_mode(s, page, false, now);
    put_mode(s, page, true, mask);
    if (length != n)
        return false;
    for (uint32_t i = 2; i < n; i++)
        if ((given[i] ^ now[i]) & ~mask[i])
            return false;
    return true;
}

static void set_page(struct sat *x, unsigned page, const uint8_t *given)
{
    struct ata_state *a = &x->s->target.ata;
    if (page == CONTROL) {
        a->descriptors = given[2] >> 2 & 1;
        target_changed(x->s);
        return;
    }
    struct ata_task t = {.command = 0xef, .features = given[2] & 4 ? 0x02 : 0x82};
    sat_send(x, &t);
}

/* Takes one page, caching or control, as libata does. */
void sat_mode_select(struct sat *x)
{
    const uint8_t *cdb = x->c->cdb, *b = x->data;
    bool ten = cdb[0] == 0x55;
    uint32_t n = ten ? bytes_be16(cdb + 7) : cdb[4], head = ten ? 8 : 4;
    if (!(cdb[1] & 0x10) || cdb[1] & 1) {
        sat_invalid_field(x); /* pages of this standard only, and none can be saved */
        return;
    }
    if (!n)
        return;
    if (x->c->direction != SATED_DATA_OUT || x->c->data_len < n || n < head) {
        sat_sense(x, 5, 0x1a, 0x00);
        return;
    }
    uint32_t descriptors = ten ? bytes_be16(b + 6) : b[3], at = head + descriptors;
    if ((descriptors && descriptors != 8) || at > n) {
        sat_sense(x, 5, 0x26, 0x00);
        return;
    }
    if (at == n)
        return;
    if (n - at < 2 || n - at < 2u + b[at + 1]) {
        sat_sense(x, 5, 0x1a, 0x00);
        return;
    }
    unsigned page = b[at] & 0x3f;
    if (b[at] & 0x40 || (page != CACHING && page != CONTROL) || n - at != 2u + b[at + 1] ||
        !is_acceptable(x->s, page, b + at, n - at)) {
        sat_sense(x, 5, 0x26, 0x00);
        return;
    }
    set_page(x, page, b + at);
    if (!x->reply->scsi_status)
        x->moved = x->c->data_len;
}
