/* SPDX-License-Identifier: MIT */
/* MODE SENSE and MODE SELECT of the SAS drive (SPC-5, SBC-4 6.5, SPL-4), and what the pages make it do. */
#include "sim/target_scsi_inside.h"

#include <string.h>

#include "core/bytes.h"

#define ALL_PAGES 0x3f
#define ALL_SUBPAGES 0xff
#define PAGES_BYTES 512 /* room for all of an answer */

enum page_control { PC_CURRENT, PC_CHANGEABLE, PC_DEFAULT, PC_SAVED };

/* A page as it leaves the factory, from its header on, and which of its bits can be set. */
struct page {
    uint8_t code, subpage, n;
    uint8_t values[40], mask[40];
};

static const struct page pages[] = {
    /* Read-Write Error Recovery: AWRE, ARRE; 8 retries each way */
    {0x01, 0, 12, {0x01, 0x0a, 0xc0, 8, 0, 0, 0, 0, 8}, {0, 0, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0, 0xff, 0xff}},
    /* Disconnect-Reconnect: no limits */
    {0x02, 0, 16, {0x02, 0x0e}, {0, 0, 0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff}},
    /* Verify Error Recovery */
    {0x07, 0, 12, {0x07, 0x0a, 0, 8}, {0, 0, 0x0f, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff}},
    /* Caching: DISC, WCE; FSW; WCE, RCD, DISC and DRA can be set */
    {0x08,
     0,
     20,
     {0x08, 0x12, 0x14, 0, 0xff, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x80, 0x20},
     {0, 0, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x20}},
    /* Control: unrestricted reordering, TAS, an extended self-test of 600 s; D_SENSE, GLTSD and SWP can be set */
    {0x0a, 0, 12, {0x0a, 0x0a, 0, 0x10, 0, 0x40, 0, 0, 0xff, 0xff, 0x02, 0x58}, {0, 0, 0x06, 0, 0x08}},
    /* Control Extension */
    {0x0a, 1, 32, {0x4a, 1, 0, 0x1c}, {0}},
    /* Protocol Specific Logical Unit: transport layer retries */
    {0x18, 0, 8, {0x18, 0x06, 0x06}, {0, 0, 0x10}},
    /* Protocol Specific Port: I_T nexus loss time and initiator response timeout of 2 s */
    {0x19, 0, 16, {0x19, 0x0e, 0x06, 0, 0x07, 0xd0, 0x07, 0xd0}, {0, 0, 0x10, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
    /* Power Condition: no timer is enabled; START STOP UNIT leads to the conditions */
    {0x1a, 0, 40, {0x1a, 0x26}, {0}},
    /* Informational Exceptions Control: MRIE 6, on request */
    {0x1c,
     0,
     12,
     {0x1c, 0x0a, 0x10, 0x06, 0, 0, 0, 0, 0, 0, 0, 1},
     {0, 0, 0x9c, 0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
    /* Background Control: no background scan */
    {0x1c, 1, 16, {0x5c, 1, 0, 0x0c}, {0}},
};

#define PAGES (sizeof pages / sizeof *pages)

/* Where a page's bytes begin in struct scsi_state. */
static uint32_t place(uint8_t code, uint8_t subpage)
{
    uint32_t at = 0;
    for (size_t i = 0; i < PAGES; at += pages[i++].n)
        if (pages[i].code == code && pages[i].subpage == subpage)
            break;
    return at;
}

static const uint8_t *page_of(const struct sim *s, uint8_t code)
{
    return s->target.scsi.mode + place(code, 0);
}

void scsi_mode_defaults(uint8_t out[SCSI_MODE_BYTES])
{
    memset(out, 0, SCSI_MODE_BYTES);
    for (size_t i = 0; i < PAGES; out += pages[i++].n)
        memcpy(out, pages[i].values, pages[i].n);
}

/* What may not be set though each bit could be. Return: its byte in the page, or -1. */
static int wrong_value(const struct page *p, const uint8_t *page)
{
    if (p->code != 0x1c || p->subpage)
        return -1;
    uint8_t mrie = page[3] & 0x0f;
    if (mrie != 0 && mrie != 2 && mrie != 6)
        return 3;
    return (page[2] & 0x0c) == 0x0c ? 2 : -1; /* DEXCPT with TEST */
}

bool scsi_mode_allowed(const uint8_t mode[SCSI_MODE_BYTES])
{
    const uint8_t *at = mode;
    for (size_t i = 0; i < PAGES; at += pages[i++].n) {
        for (uint32_t j = 0; j < pages[i].n; j++)
            if ((at[j] ^ pages[i].values[j]) & (uint8_t)~pages[i].mask[j])
                return false;
        if (wrong_value(&pages[i], at) >= 0)
            return false;
    }
    for (; at < mode + SCSI_MODE_BYTES; at++)
        if (*at)
            return false;
    return true;
}

bool scsi_mode_wce(const struct sim *s)
{
    return page_of(s, 0x08)[2] & 0x04;
}

bool scsi_mode_descriptors(const struct sim *s)
{
    return page_of(s, 0x0a)[2] & 0x04;
}

bool scsi_mode_protected(const struct sim *s)
{
    return page_of(s, 0x0a)[4] & 0x08;
}

bool scsi_mode_predicts(const struct sim *s)
{
    return (page_of(s, 0x1c)[2] & 0x0c) == 0x04;
}

uint8_t scsi_mode_mrie(const struct sim *s)
{
    return page_of(s, 0x1c)[3] & 0x0f;
}

/* ---- MODE SENSE ---- */

/* Phy Control And Discover (SPL-4): a phy of each port, of which the first is attached to a host at 6 Gbit/s. */
static uint32_t put_phys(const struct sim *s, enum page_control pc, uint8_t *out)
{
    memcpy(out, (uint8_t[]){0xd9, 1, 0, 4 + 48 * SCSI_PORTS, 0, 0x06, 0, SCSI_PORTS}, 8);
    for (uint8_t i = 0; i < SCSI_PORTS && pc != PC_CHANGEABLE; i++) {
        uint8_t *at = out + 8 + 48 * i;
        at[1] = i;
        if (!i) {
            at[4] = 0x10; /* an end device */
            at[5] = 0x0a;
            at[6] = 0x08; /* SSP initiator */
            bytes_put_be64(at + 16, scsi_address(s, 0) ^ 0x800000000);
        }
        bytes_put_be64(at + 8, scsi_address(s, i + 1u));
        at[32] = 0x88; /* 1.5 Gbit/s */
        at[33] = 0xaa;
    }
    return 8 + 48 * SCSI_PORTS;
}

static uint32_t put_page(const struct sim *s, const struct page *p, const uint8_t *at, enum page_control pc,
                         uint8_t *out)
{
    if (pc == PC_CHANGEABLE) {
        memcpy(out, p->mask, p->n);
        memcpy(out, p->values, p->subpage ? 4 : 2);
    } else {
        memcpy(out,
               pc == PC_DEFAULT ? p->values
               : pc == PC_SAVED ? s->target.scsi.saved + (at - s->target.scsi.mode)
                                : at,
               p->n);
    }
    out[0] |= 0x80; /* PS */
    return p->n;
}

/* Return: bytes of the pages that were asked for; 0 where there is none. */
static uint32_t put_pages(const struct sim *s, uint8_t code, uint8_t subpage, enum page_control pc, uint8_t *out)
{
    const uint8_t *at = s->target.scsi.mode;
    uint32_t n = 0;
    for (size_t i = 0; i < PAGES; at += pages[i++].n) {
        bool code_fits = code == ALL_PAGES || code == pages[i].code;
        if (code_fits && (subpage == ALL_SUBPAGES || subpage == pages[i].subpage))
            n += put_page(s, &pages[i], at, pc, out + n);
        if (code_fits && pages[i].code == 0x19 && (subpage == ALL_SUBPAGES || (subpage == 1 && code == 0x19)))
            n += put_phys(s, pc, out + n);
    }
    return n;
}

/* The number of blocks is that of the last MODE SELECT (SBC-4 6.5.2), in a short descriptor as far as it fits. */
static uint32_t put_block(const struct scsi_state *t, bool lba16, uint8_t *out)
{
    if (lba16) {
        bytes_put_be64(out, t->next_blocks);
        bytes_put_be32(out + 12, t->next_block_bytes);
        return 16;
    }
    bytes_put_be32(out, t->next_blocks < UINT32_MAX ? (uint32_t)t->next_blocks : UINT32_MAX);
    bytes_put_be24(out + 5, t->next_block_bytes);
    return 8;
}

int scsi_mode_sense(struct scsi_call *k)
{
    bool ten = k->cdb[0] == 0x5a, lba16 = ten && k->cdb[1] & 0x10;
    uint8_t out[PAGES_BYTES] = {0}, code = k->cdb[2] & 0x3f, subpage = k->cdb[3];
    uint32_t wanted = ten ? bytes_be16(k->cdb + 7) : k->cdb[4], header = ten ? 8 : 4, block = 0;
    if (!(k->cdb[1] & 0x08))
        block = put_block(k->t, lba16, out + header);
    uint32_t n = put_pages(k->s, code, subpage, k->cdb[2] >> 6, out + header + block);
    if (!n)
        return subpage && put_pages(k->s, code, 0, PC_CURRENT, out + header) ? scsi_bad_cdb(k, 3, 7)
                                                                             : scsi_bad_cdb(k, 2, 5);
    n += header + block;
    if (!ten && n > 256)
        return scsi_bad_cdb(k, 3, 7);                                             /* more than its length can tell */
    uint8_t parameter = (uint8_t)((scsi_mode_protected(k->s) ? 0x80 : 0) | 0x10); /* WP, DPOFUA */
    if (ten) {
        bytes_put_be16(out, (uint16_t)(n - 2));
        out[3] = parameter;
        out[4] = lba16 && block;
        bytes_put_be16(out + 6, (uint16_t)block);
    } else {
        out[0] = (uint8_t)(n - 1);
        out[2] = parameter;
        out[3] = (uint8_t)block;
    }
    return scsi_give(k, out, n, wanted);
}

/* ---- MODE SELECT ---- */

/* What a list asks for, before any of it is done. */
struct selection {
    uint8_t mode[SCSI_MODE_BYTES];
    uint64_t blocks;
    uint32_t block_bytes;
};

/* SBC-4 6.5.2. Return: 0 or -1. */
static int take_block(struct scsi_call *k, struct selection *sel, uint32_t at, bool lba16)
{
    uint64_t blocks = lba16 ? bytes_be64(k->data + at) : bytes_be32(k->data + at),
             all = lba16 ? UINT64_MAX : UINT32_MAX;
    uint32_t bytes = lba16 ? bytes_be32(k->data + at + 12) : bytes_be24(k->data + at + 5);
    if (bytes != 512 && bytes != 4096)
        return scsi_bad_list(k, at + (lba16 ? 12 : 5), -1);
    uint64_t largest = scsi_largest(k->s, bytes);
    if (blocks == all || (!blocks && bytes != sel->block_bytes))
        blocks = largest;
    else if (!blocks)
        blocks = sel->blocks;
    if (blocks > largest)
        return scsi_bad_list(k, at, -1);
    sel->blocks = blocks;
    sel->block_bytes = bytes;
    return 0;
}

/* One page of the list. Return: its bytes, or -1. */
static int take_page(struct scsi_call *k, struct selection *sel, uint32_t at, uint32_t n)
{
    const uint8_t *data = k->data + at;
    bool sub = data[0] & 0x40;
    if (n < (sub ? 4 : 2))
        return scsi_fail(k, KEY_ILLEGAL, CODE_LIST_LENGTH);
    uint32_t whole = sub ? 4u + bytes_be16(data + 2) : 2u + data[1];
    const struct page *p = NULL;
    for (size_t i = 0; i < PAGES && !p; i++)
        if (pages[i].code == (data[0] & 0x3f) && pages[i].subpage == (sub ? data[1] : 0))
            p = &pages[i];
    if (!p || sub != (p->subpage != 0))
        return scsi_bad_list(k, at, 5);
    if (whole != p->n)
        return scsi_bad_list(k, at + (sub ? 2 : 1), -1);
    if (whole > n)
        return scsi_fail(k, KEY_ILLEGAL, CODE_LIST_LENGTH);
    uint8_t *to = sel->mode + place(p->code, p->subpage);
    for (uint32_t i = sub ? 4 : 2; i < whole; i++) {
        uint8_t wrong = (data[i] ^ to[i]) & (uint8_t)~p->mask[i];
        if (wrong)
            return scsi_bad_list(k, at + i, 31 - __builtin_clz(wrong));
    }
    int value = wrong_value(p, data);
    if (value >= 0)
        return scsi_bad_list(k, at + (uint32_t)value, value == 3 ? 3 : 2);
    memcpy(to + 2, data + 2, whole - 2);
    return (int)whole;
}

static int take_list(struct scsi_call *k, struct selection *sel, uint32_t n)
{
    bool ten = k->cdb[0] == 0x55, lba16 = ten && n >= 8 && k->data[4] & 1;
    uint32_t at = ten ? 8 : 4;
    if (n < at)
        return scsi_fail(k, KEY_ILLEGAL, CODE_LIST_LENGTH);
    uint32_t block = ten ? bytes_be16(k->data + 6) : k->data[3];
    if (block && block != (lba16 ? 16 : 8))
        return scsi_bad_list(k, ten ? 6 : 3, -1);
    if (n < at + block)
        return scsi_fail(k, KEY_ILLEGAL, CODE_LIST_LENGTH);
    if (block && take_block(k, sel, at, lba16))
        return -1;
    for (at += block; at < n;) {
        int bytes = take_page(k, sel, at, n - at);
        if (bytes < 0)
            return -1;
        at += (uint32_t)bytes;
    }
    return 0;
}

/* MODE PARAMETERS CHANGED and CAPACITY DATA HAS CHANGED are for every I_T nexus but the one that the command came by
 * (SPC-5, MODE SELECT; SBC-4 6.5.2), so that they are not told to this host. */
int scsi_mode_select(struct scsi_call *k)
{
    struct scsi_state *t = k->t;
    struct selection sel = {.blocks = t->next_blocks, .block_bytes = t->next_block_bytes};
    uint32_t n = k->cdb[0] == 0x55 ? bytes_be16(k->cdb + 7) : k->cdb[4];
    bool predicted = scsi_mode_predicts(k->s);
    memcpy(sel.mode, t->mode, sizeof sel.mode);
    if (scsi_take(k, n))
        return -1;
    if (n && take_list(k, &sel, n)) {
        k->reply->residual = (int32_t)k->c->data_len;
        return -1;
    }
    memcpy(t->mode, sel.mode, sizeof t->mode);
    if (k->cdb[1] & 1)
        memcpy(t->saved, t->mode, sizeof t->saved);
    t->next_blocks = sel.blocks;
    t->next_block_bytes = sel.block_bytes;
    /* With another block length the medium stays as it is, and cannot be read, until FORMAT UNIT. */
    bool resized = sel.block_bytes == t->block_bytes && sel.blocks != t->blocks;
    if (resized)
        t->blocks = sel.blocks;
    scsi_window(k->s, resized);
    if (scsi_mode_predicts(k->s) && !predicted && scsi_mode_mrie(k->s) == 2)
        scsi_attention(k->s, CODE_FALSE_PREDICTION);
    return 0;
}
