/* SPDX-License-Identifier: MIT */
/* IDENTIFY DEVICE data (ACS-4 7.13.7; what it made obsolete as in ACS-2), and the same in the form of log 30h
 * (ACS-4 9.11). */
#include <stdio.h>
#include <string.h>

#include "sim/target_ata_inside.h"

#define SECTORS_28 0x0fffffffu /* the most that 28 bits can tell (ACS-4, words 60 to 61) */
#define SATA_NCQ 0x0100
#define REVISION 1

/* Word 59: block erase, overwrite, crypto scramble, the set itself, ACS-3's commands meanwhile, antifreeze lock. */
#define SANITIZE 0xfc00

/* Words that say of themselves that they are valid. */
#define VALID 0x4000

static unsigned generation_of(const struct sim *s)
{
    return !strncmp(s->model.link, "6", 1) ? 3 : !strncmp(s->model.link, "3", 1) ? 2 : 1;
}

/* The first character of a word stands in its upper byte; blanks fill up. */
static void put_text(uint16_t *w, unsigned words, const char *text)
{
    size_t n = strlen(text);
    for (size_t i = 0; i < words; i++) {
        unsigned high = 2 * i < n ? (uint8_t)text[2 * i] : ' ', low = 2 * i + 1 < n ? (uint8_t)text[2 * i + 1] : ' ';
        w[i] = (uint16_t)(high << 8 | low);
    }
}

static void put_number(uint16_t *w, unsigned words, uint64_t value)
{
    for (unsigned i = 0; i < words; i++)
        w[i] = (uint16_t)(value >> 16 * i);
}

static unsigned bit_if(bool condition, unsigned bit)
{
    return condition ? 1u << bit : 0;
}

static uint32_t erase_word(const struct sim *s)
{
    uint64_t minutes = (uint64_t)media_erase_ns(s) * s->model.scale / 60000000000ULL, units = minutes / 2 + 1;
    return units < 0xff ? (uint32_t)units : 0xff;
}

static unsigned security_word(const struct sim *s)
{
    const struct ata_state *a = &s->target.ata;
    if (!ata_has(s, ATA_HAS_SECURITY))
        return 0;
    return 1 | bit_if(a->enabled, 1) | bit_if(a->locked, 2) | bit_if(a->frozen, 3) | bit_if(!a->tries, 4) | 1 << 5 |
           bit_if(a->maximum, 8);
}

static void put_modes(const struct sim *s, uint16_t w[256])
{
    const struct ata_state *a = &s->target.ata;
    unsigned best = 6;
    while (best && !(a->overlay_udma >> best & 1))
        best--;
    w[49] = 0x2f00; /* DMA, LBA, IORDY, and the standard's standby timer */
    w[50] = VALID;
    w[53] = 7;
    w[63] = a->overlay_mdma;
    w[64] = 3;
    w[65] = w[66] = w[67] = w[68] = 120;
    w[88] = (uint16_t)(a->overlay_udma | (a->overlay_udma ? 1u << (8 + best) : 0));
    w[47] = 0x8010;
    w[59] = (uint16_t)(SANITIZE | bit_if(a->multiple, 8) | a->multiple);
}

static void put_sizes(const struct sim *s, uint16_t w[256])
{
    uint64_t sectors = s->target.ata.sectors;
    w[1] = w[54] = 16383;
    w[3] = w[55] = 16;
    w[6] = w[56] = 63;
    put_number(w + 57, 2, 16383 * 16 * 63);
    put_number(w + 60, 2, sectors < SECTORS_28 ? sectors : SECTORS_28);
    put_number(w + 100, 4, sectors);
    /* Several logical sectors in a physical one, as many as a mapping unit has. */
    w[106] = (uint16_t)(VALID | 0x2000 | (unsigned)__builtin_ctzll(s->model.unit_bytes / ATA_SECTOR));
    if (s->model.unit_bytes == ATA_SECTOR)
        w[106] = VALID;
    w[209] = VALID;
}

/* What there is, and from 85 on what of it is switched on. */
static void put_features(const struct sim *s, uint16_t w[256])
{
    const struct ata_state *a = &s->target.ata;
    bool hpa = ata_has_hpa(s), amac = ata_has_amac(s), security = ata_has(s, ATA_HAS_SECURITY);
    bool smart = ata_has(s, ATA_HAS_SMART);
    unsigned always = 1 << 3 | 1 << 14; /* power management, NOP */
    unsigned more = bit_if(smart && ata_has(s, ATA_HAS_ERROR_LOG), 0) |
                    bit_if(smart && ata_has(s, ATA_HAS_SELF_TEST), 1) | 1 << 5 | bit_if(ata_has(s, ATA_HAS_FUA), 6) |
                    1 << 8;
    w[82] = (uint16_t)(always | bit_if(smart, 0) | bit_if(security, 1) | 1 << 5 | 1 << 6 | bit_if(hpa, 10));
    w[83] = (uint16_t)(VALID | 1 << 3 | bit_if(hpa, 8) | 1 << 10 | bit_if(!amac, 11) | 1 << 12 | 1 << 13);
    w[84] = (uint16_t)(VALID | more);
    w[85] = (uint16_t)(always | bit_if(smart && a->smart, 0) | bit_if(security && a->enabled, 1) |
                       bit_if(a->write_cache, 5) | bit_if(a->look_ahead, 6) | bit_if(hpa, 10));
    w[86] = (uint16_t)(1 << 15 | bit_if(a->apm, 3) | bit_if(hpa && a->max_lock != ATA_MAX_INACTIVE, 8) | 1 << 10 |
                       bit_if(!amac, 11) | 1 << 12 | 1 << 13);
    w[87] = (uint16_t)(VALID | more);
    w[91] = a->apm;
    w[119] = w[120] = (uint16_t)(VALID | 1 << 3 | bit_if(amac, 8)); /* the logs by DMA too */
    if (security) {
        w[89] = w[90] = (uint16_t)erase_word(s);
        w[92] = a->master_revision;
        w[128] = (uint16_t)security_word(s);
    }
    w[69] = 1 << 14 | 1 << 5 | 1 << 4; /* trimmed sectors read as zeros, all user data is encrypted */
    w[105] = ATA_TRIM_BLOCKS;
    w[169] = 1;
}

static void put_link(const struct sim *s, uint16_t w[256])
{
    const struct ata_state *a = &s->target.ata;
    unsigned generation = generation_of(s), speeds = (2u << generation) - 2;
    bool ncq = a->overlay_sata & 1;
    w[75] = ncq ? ATA_QUEUE - 1 : 0;
    w[76] = (uint16_t)(1 << 15 | 1 << 10 | 1 << 9 | (ncq ? SATA_NCQ : 0) | speeds);
    w[77] = (uint16_t)(generation << 1);
    w[78] = 1 << 3 | 1 << 6; /* DIPM, software settings preservation */
    w[79] = (uint16_t)(bit_if(a->dipm, 3) | bit_if(a->preservation, 6));
    w[222] = generation == 3 ? 0x107f : 0x101f; /* serial; SATA 3.1 or 2.6 and all before */
}

static void identify_words(const struct sim *s, uint16_t w[256])
{
    char name[97], serial[20];
    memset(w, 0, 256 * sizeof *w);
    w[0] = 0x0040;
    target_serial(s, serial);
    put_text(w + 10, 10, serial);
    put_text(w + 23, 4, s->model.firmware);
    snprintf(name, sizeof name, "%s %s", s->model.vendor, s->model.product);
    put_text(w + 27, 20, name);
    w[48] = VALID;
    w[80] = ata_has_amac(s) ? 0x0ff0 : 0x03f0; /* up to ACS-4, or to ACS-2, the last with HPA and DCO */
    w[81] = ata_has_amac(s) ? 0x005e : 0x0110; /* ACS-4 revision 5, ACS-2 revision 3 */
    uint64_t wwn = target_wwn(s);
    for (unsigned i = 0; i < 4; i++)
        w[108 + i] = (uint16_t)(wwn >> (48 - 16 * i));
    w[168] = 3; /* 2.5 inch */
    w[217] = 1; /* does not rotate */
    put_modes(s, w);
    put_sizes(s, w);
    put_features(s, w);
    put_link(s, w);
}

void ata_identify_data(const struct sim *s, uint8_t data[512])
{
    uint16_t w[256];
    identify_words(s, w);
    for (unsigned i = 0; i < 256; i++)
        bytes_put_le16(data + 2 * i, w[i]);
    data[510] = 0xa5;
    ata_put_checksum(data, 512);
}

void ata_identify_device(struct sim *s, struct ata_task *t)
{
    if (ata_data_in(t, 512))
        ata_identify_data(s, t->data);
}

/* ---- Log 30h ---- */

static void put_quad(uint8_t *data, unsigned at, uint64_t value)
{
    bytes_put_le64(data + at, 1ULL << 63 | value);
}

static uint64_t quad_if(bool condition, unsigned bit)
{
    return condition ? 1ULL << bit : 0;
}

static void page_capacity(const struct sim *s, uint8_t *data)
{
    uint64_t exponent = (uint64_t)__builtin_ctzll(s->model.unit_bytes / ATA_SECTOR);
    put_quad(data, 8, s->target.ata.sectors);
    put_quad(data, 16, 1ULL << 62 | 1ULL << 61 | exponent << 16);
    put_quad(data, 24, ATA_SECTOR / 2);
}

static void page_capabilities(const struct sim *s, uint8_t *data)
{
    bool smart = ata_has(s, ATA_HAS_SMART);
    put_quad(data, 8,
             1ULL << 51 | quad_if(ata_has_amac(s), 41) | 1ULL << 39 | 1ULL << 31 | 1ULL << 25 | 1ULL << 24 |
                 quad_if(smart, 23) | 1ULL << 20 | 1ULL << 16 | quad_if(ata_has(s, ATA_HAS_FUA), 12) | 1ULL << 11 |
                 quad_if(smart && ata_has(s, ATA_HAS_SELF_TEST), 8) |
                 quad_if(smart && ata_has(s, ATA_HAS_ERROR_LOG), 7) | 1ULL << 2);
    put_quad(data, 16, 0);
    put_quad(data, 24, 1);
    put_quad(data, 32, 3);
    put_quad(data, 72, 1);
    put_quad(data, 136, s->target.ata.overlay_sata & 1 ? ATA_QUEUE - 1 : 0);
}

static void page_strings(const struct sim *s, uint8_t *data)
{
    static const struct {
        uint8_t at, word, words;
    } texts[] = {{8, 10, 10}, {32, 23, 4}, {48, 27, 20}};
    uint8_t identify[512];
    ata_identify_data(s, identify);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        memcpy(data + texts[i].at, identify + 2 * texts[i].word, 2u * texts[i].words);
}

static void page_security(const struct sim *s, uint8_t *data)
{
    const struct ata_state *a = &s->target.ata;
    bool security = ata_has(s, ATA_HAS_SECURITY);
    put_quad(data, 8, security ? a->master_revision : 0);
    put_quad(data, 16,
             quad_if(security, 6) | quad_if(a->maximum, 5) | quad_if(security, 4) | quad_if(security && !a->tries, 3) |
                 quad_if(a->frozen, 2) | quad_if(a->locked, 1) | quad_if(a->enabled, 0));
    put_quad(data, 24, security ? erase_word(s) : 0);
    put_quad(data, 32, security ? erase_word(s) : 0);
    put_quad(data, 40, 0);
    put_quad(data, 48, 0x7f); /* as word 59; and all user data is encrypted */
}

static void page_sata(const struct sim *s, uint8_t *data)
{
    const struct ata_state *a = &s->target.ata;
    unsigned generation = generation_of(s);
    put_quad(data, 8,
             ((1ULL << generation) - 1) | quad_if(a->overlay_sata & 1, 7) | 1ULL << 9 | 1ULL << 14 | 1ULL << 20 |
                 1ULL << 23);
    put_quad(data, 16, generation);
}

void ata_capability_page(const struct sim *s, uint32_t page, uint8_t data[512])
{
    static const uint8_t pages[] = {0, 1, 2, 3, 5, 6, 8};
    memset(data, 0, 512);
    if (page == 1) { /* a copy of IDENTIFY DEVICE data (ACS-4 9.11.3) */
        ata_identify_data(s, data);
        return;
    }
    if (!memchr(pages, (int)page, sizeof pages))
        return;
    bytes_put_le64(data, 1ULL << 63 | (uint64_t)page << 16 | REVISION);
    switch (page) {
    case 0:
        data[8] = sizeof pages;
        memcpy(data + 9, pages, sizeof pages);
        break;
    case 2: page_capacity(s, data); break;
    case 3: page_capabilities(s, data); break;
    case 5: page_strings(s, data); break;
    case 6: page_security(s, data); break;
    default: page_sata(s, data);
    }
}
