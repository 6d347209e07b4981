/* SPDX-License-Identifier: MIT */
/* IDENTIFY DEVICE data (ACS-4, IDENTIFY DEVICE; retired words as in ATA8-ACS). */
#include <sated/ata.h>

#include <string.h>

#include "core/error.h"
#include "protocol/ata_words.h"
#include "protocol/fields.h"
#include "protocol/known_ata.h"

/* Sets a member from a bit, unless its word is not valid. */
#define KNOW_BIT(of, s, member, w, word, bit) \
    do { \
        int know_bit = ata_bit(w, word, bit); \
        if (know_bit >= 0) \
            KNOW(of, s, member, (uint32_t)know_bit); \
    } while (0)

/* A word whose bits 15:14 are 01b says itself that it is valid. */
static bool marked(const struct ata_words *w, unsigned word)
{
    return word < w->n && ata_word(w, word) >> 14 == 1;
}

bool ata_word_valid(const struct ata_words *w, unsigned word)
{
    if (word >= w->n)
        return false;
    switch (word) {
    case 48:
    case 50:
    case 93:
    case 106:
    case 209: return marked(w, word);
    case 54:
    case 55:
    case 56:
    case 57:
    case 58: return ata_word(w, 53) & 1;
    case 64:
    case 65:
    case 66:
    case 67:
    case 68: return ata_word(w, 53) & 2;
    case 69: return ata_word(w, 53) != 0xffff && ata_word(w, 69) != 0xffff;
    case 82:
    case 83: return marked(w, 83);
    case 84: return marked(w, 84);
    case 85:
    case 86:
    case 87: return marked(w, 87);
    case 88: return ata_word(w, 53) & 4;
    case 119:
    case 120: return marked(w, 87) && (ata_word(w, 86) & 0x8000) && marked(w, word);
    case 76:
    case 77:
    case 78:
    case 79: return 76 < w->n && ata_word(w, 76) != 0 && ata_word(w, 76) != 0xffff;
    default: return ata_word(w, word) != 0xffff;
    }
}

int ata_bit(const struct ata_words *w, unsigned word, unsigned bit)
{
    if (ata_word_valid(w, word))
        return ata_word(w, word) >> bit & 1;
    if ((word == 119 || word == 120) && word < w->n && marked(w, 87) && !(ata_word(w, 86) & 0x8000))
        return 0;
    if (word >= 76 && word <= 79 && word < w->n)
        return 0; /* a parallel drive: 76 is 0000h or FFFFh */
    if ((word == 48 || word == 69) && word < w->n && !ata_word(w, word))
        return 0;
    return -1;
}

/* Strings have the first character of a word in its upper byte. */
static void text(char *out, size_t cap, const struct ata_words *w, unsigned word, unsigned words)
{
    uint8_t swapped[64];
    for (unsigned i = 0; i < words; i++) {
        swapped[2 * i] = w->data[2 * (word + i) + 1];
        swapped[2 * i + 1] = w->data[2 * (word + i)];
    }
    fields_text(out, cap, swapped, (size_t)2 * words);
}

#define KNOW_TEXT(member, word, words) \
    do { \
        if ((word) + (words) <= w->n) { \
            text(out->member, sizeof out->member, w, word, words); \
            if (out->member[0]) \
                out->known |= KNOWN_BIT(ata_identify, member); \
        } \
    } while (0)

static void decode_capacity(const struct ata_words *w, struct sated_ata_capacity *c)
{
    uint16_t sizes = ata_word(w, 106);
    uint64_t logical = 512;
    int lba48 = ata_bit(w, 83, 10);
    if (lba48 < 0 && w->n > 83 && (ata_word(w, 83) == 0 || ata_word(w, 83) == 0xffff))
        lba48 = 0; /* older than these words */
    if (w->n > 118) {
        bool valid = ata_word_valid(w, 106);
        if (valid && sizes >> 12 & 1)
            logical = 2 * (uint64_t)ata_two_words(w, 117);
        if (logical >= 512 && logical % 512 == 0) {
            KNOW(ata_capacity, c, logical_block_bytes, logical);
            KNOW(ata_capacity, c, physical_block_bytes, valid && sizes >> 13 & 1 ? logical << (sizes & 0xf) : logical);
        }
    }
    if (ata_word_valid(w, 209) && IS_KNOWN(ata_capacity, c, logical_block_bytes))
        KNOW(ata_capacity, c, offset_bytes, (ata_word(w, 209) & 0x3fff) * logical);
    if (w->n > 61 && ata_word(w, 49) >> 9 & 1)
        KNOW(ata_capacity, c, lba28_sectors, ata_two_words(w, 60));
    if (w->n > 103 && lba48 == 1)
        KNOW(ata_capacity, c, lba48_sectors, ata_four_words(w, 100));
    /* w69.3 moves the size to w230-233; a size of 0, or a 48-bit one under the 28-bit one, is no size. */
    if (ata_bit(w, 69, 3) == 1) {
        if (w->n > 233 && ata_four_words(w, 230))
            KNOW(ata_capacity, c, sectors, ata_four_words(w, 230));
    } else if (IS_KNOWN(ata_capacity, c, lba48_sectors)) {
        if (c->lba48_sectors && c->lba48_sectors >= c->lba28_sectors && c->lba48_sectors <= UINT64_C(1) << 48)
            KNOW(ata_capacity, c, sectors, c->lba48_sectors);
    } else if (lba48 == 0 && IS_KNOWN(ata_capacity, c, lba28_sectors)) {
        if (c->lba28_sectors && c->lba28_sectors <= UINT64_C(1) << 28)
            KNOW(ata_capacity, c, sectors, c->lba28_sectors);
    }
    if (IS_KNOWN(ata_capacity, c, sectors) && IS_KNOWN(ata_capacity, c, logical_block_bytes) &&
        c->sectors <= UINT64_MAX / logical)
        KNOW(ata_capacity, c, bytes, c->sectors * logical);
}

static void decode_geometry(const struct ata_words *w, struct sated_ata_geometry *g)
{
    if (w->n > 6) {
        KNOW(ata_geometry, g, cylinders, ata_word(w, 1));
        KNOW(ata_geometry, g, heads, ata_word(w, 3));
        KNOW(ata_geometry, g, sectors_per_track, ata_word(w, 6));
    }
    if (w->n > 58 && ata_word_valid(w, 54)) {
        KNOW(ata_geometry, g, current_cylinders, ata_word(w, 54));
        KNOW(ata_geometry, g, current_heads, ata_word(w, 55));
        KNOW(ata_geometry, g, current_sectors_per_track, ata_word(w, 56));
        KNOW(ata_geometry, g, current_sectors, ata_two_words(w, 57));
    }
}

/* The one bit of a mask as its number, -1 where there is none or more than one. */
static int selected(unsigned mask)
{
    for (int i = 0; i < 8; i++)
        if (mask == 1u << i)
            return i;
    return -1;
}

static void decode_dma(const struct ata_words *w, struct sated_ata_transfer *t)
{
    if (w->n > 63) {
        int one = selected(ata_word(w, 62) >> 8), two = selected(ata_word(w, 63) >> 8);
        KNOW(ata_transfer, t, single_dma_modes, ata_word(w, 62) & 0x07);
        KNOW(ata_transfer, t, multi_dma_modes, ata_word(w, 63) & 0x07);
        if (one >= 0)
            KNOW(ata_transfer, t, single_dma_selected, (uint32_t)one);
        if (two >= 0)
            KNOW(ata_transfer, t, multi_dma_selected, (uint32_t)two);
    }
    if (ata_word_valid(w, 88)) {
        int one = selected(ata_word(w, 88) >> 8 & 0x7f);
        KNOW(ata_transfer, t, ultra_dma_modes, ata_word(w, 88) & 0x7f);
        if (one >= 0)
            KNOW(ata_transfer, t, ultra_dma_selected, (uint32_t)one);
    }
    if (ata_word_valid(w, 68)) {
        KNOW(ata_transfer, t, multi_dma_min_ns, ata_word(w, 65));
        KNOW(ata_transfer, t, multi_dma_recommended_ns, ata_word(w, 66));
        KNOW(ata_transfer, t, pio_min_ns, ata_word(w, 67));
        KNOW(ata_transfer, t, pio_iordy_min_ns, ata_word(w, 68));
    }
    if (w->n > 64) {
        unsigned best = ata_word(w, 51) >> 8 & 0xff, more = ata_word_valid(w, 64) ? ata_word(w, 64) & 3 : 0;
        best = more & 2 ? 4 : more & 1 ? 3 : best <= 2 ? best : 0; /* a mode includes those below it */
        KNOW(ata_transfer, t, pio_modes, (UINT32_C(2) << best) - 1);
    }
}

static void decode_transfer(const struct ata_words *w, struct sated_ata_transfer *t)
{
    if (w->n > 49) {
        KNOW_BIT(ata_transfer, t, lba, w, 49, 9);
        KNOW_BIT(ata_transfer, t, iordy, w, 49, 11);
        KNOW_BIT(ata_transfer, t, iordy_can_be_disabled, w, 49, 10);
        KNOW_BIT(ata_transfer, t, standby_timer_standard, w, 49, 13);
    }
    KNOW_BIT(ata_transfer, t, standby_timer_minimum, w, 50, 0);
    if (w->n > 59) {
        KNOW(ata_transfer, t, multiple_max, ata_word(w, 47) & 0xff);
        if (ata_word(w, 59) >> 8 & 1)
            KNOW(ata_transfer, t, multiple_current, ata_word(w, 59) & 0xff);
    }
    decode_dma(w, t);
    if (w->n > 21 && ata_word(w, 21) && ata_word(w, 21) != 0xffff) {
        KNOW(ata_transfer, t, buffer_bytes, ata_word(w, 21) * UINT32_C(512));
        if (ata_word(w, 20))
            KNOW(ata_transfer, t, buffer_type, ata_word(w, 20));
    }
    if (ata_word_valid(w, 93)) {
        KNOW(ata_transfer, t, cblid_above_vih, ata_word(w, 93) >> 13 & 1);
        if ((ata_word(w, 93) & 1) != (ata_word(w, 93) >> 8 & 1))
            KNOW(ata_transfer, t, device_number, ata_word(w, 93) >> 8 & 1);
    }
}

static void decode_settings(const struct ata_words *w, struct sated_ata_settings *s)
{
    KNOW_BIT(ata_settings, s, smart_supported, w, 82, 0);
    KNOW_BIT(ata_settings, s, smart_enabled, w, 85, 0);
    KNOW_BIT(ata_settings, s, write_cache_supported, w, 82, 5);
    KNOW_BIT(ata_settings, s, write_cache_enabled, w, 85, 5);
    KNOW_BIT(ata_settings, s, look_ahead_supported, w, 82, 6);
    KNOW_BIT(ata_settings, s, look_ahead_enabled, w, 85, 6);
    KNOW_BIT(ata_settings, s, apm_supported, w, 83, 3);
    KNOW_BIT(ata_settings, s, apm_enabled, w, 86, 3);
    if (w->n > 91 && s->apm_supported && s->apm_enabled)
        KNOW(ata_settings, s, apm_level, ata_word(w, 91) & 0xff);
    if (w->n > 94 && ata_bit(w, 83, 9) == 1) {
        KNOW(ata_settings, s, aam_level, ata_word(w, 94) & 0xff);
        KNOW(ata_settings, s, aam_recommended, ata_word(w, 94) >> 8);
    }
    KNOW_BIT(ata_settings, s, epc_supported, w, 119, 7);
    KNOW_BIT(ata_settings, s, epc_enabled, w, 120, 7);
    KNOW_BIT(ata_settings, s, dipm_supported, w, 78, 3);
    KNOW_BIT(ata_settings, s, dipm_enabled, w, 79, 3);
    KNOW_BIT(ata_settings, s, devsleep_supported, w, 78, 8);
    KNOW_BIT(ata_settings, s, devsleep_enabled, w, 79, 8);
    KNOW_BIT(ata_settings, s, puis_supported, w, 83, 5);
    KNOW_BIT(ata_settings, s, puis_enabled, w, 86, 5);
    KNOW_BIT(ata_settings, s, gpl_supported, w, 84, 5);
    KNOW_BIT(ata_settings, s, self_test_supported, w, 84, 1);
    KNOW_BIT(ata_settings, s, error_log_supported, w, 84, 0);
    KNOW_BIT(ata_settings, s, read_log_dma, w, 119, 3);
    KNOW_BIT(ata_settings, s, sct_supported, w, 206, 0);
}

static void decode_link(const struct ata_words *w, struct sated_ata_link *l)
{
    if (ata_word_valid(w, 76)) {
        unsigned speeds = ata_word(w, 76) >> 1 & 7, now = ata_word(w, 77) >> 1 & 7;
        if (speeds)
            KNOW(ata_link, l, speed_max, speeds & 4 ? 3 : speeds & 2 ? 2 : 1);
        if (w->n > 77 && now)
            KNOW(ata_link, l, speed_current, now);
    }
    KNOW_BIT(ata_link, l, ncq, w, 76, 8);
    KNOW_BIT(ata_link, l, phy_counters, w, 76, 10);
    KNOW_BIT(ata_link, l, ncq_priority, w, 76, 12);
    KNOW_BIT(ata_link, l, ncq_streaming, w, 77, 4);
    KNOW_BIT(ata_link, l, ncq_management, w, 77, 5);
    KNOW_BIT(ata_link, l, ncq_send_receive, w, 77, 6);
    KNOW_BIT(ata_link, l, ncq_autosense, w, 78, 7);
    if (ata_word_valid(w, 75) && (l->ncq || ata_bit(w, 83, 1) == 1))
        KNOW(ata_link, l, queue_depth, (ata_word(w, 75) & 0x1f) + UINT32_C(1));
}

int32_t ata_erase_minutes(uint32_t word, uint32_t *open)
{
    bool extended = word >> 15 & 1;
    uint32_t most = extended ? 0x7fff : 0xff, units = word & most;
    *open = units == most;
    if (!units)
        return -1;
    return (int32_t)(2 * (*open ? units - 1 : units)); /* FFh: more than 508, 7FFFh: more than 65532 minutes */
}

static void decode_security(const struct ata_words *w, struct sated_ata_security *s)
{
    uint16_t status = ata_word(w, 128);
    int supported = ata_bit(w, 82, 1), enabled = ata_bit(w, 85, 1);
    uint32_t open;
    int32_t minutes;
    if (!ata_word_valid(w, 128))
        return;
    if (supported < 0 || supported == (status & 1))
        KNOW(ata_security, s, supported, status & 1);
    if (enabled < 0 || enabled == (status >> 1 & 1))
        KNOW(ata_security, s, enabled, status >> 1 & 1);
    KNOW(ata_security, s, locked, status >> 2 & 1);
    KNOW(ata_security, s, frozen, status >> 3 & 1);
    KNOW(ata_security, s, count_expired, status >> 4 & 1);
    KNOW(ata_security, s, enhanced_erase, status >> 5 & 1);
    KNOW(ata_security, s, level, status >> 8 & 1);
    if (!s->supported)
        return;
    if (ata_word(w, 92) && ata_word(w, 92) != 0xffff)
        KNOW(ata_security, s, master_revision, ata_word(w, 92));
    if ((minutes = ata_erase_minutes(ata_word(w, 89), &open)) >= 0) {
        KNOW(ata_security, s, erase_minutes, (uint32_t)minutes);
        KNOW(ata_security, s, erase_at_least, open);
    }
    if (s->enhanced_erase && (minutes = ata_erase_minutes(ata_word(w, 90), &open)) >= 0) {
        KNOW(ata_security, s, enhanced_minutes, (uint32_t)minutes);
        KNOW(ata_security, s, enhanced_at_least, open);
    }
}

static void decode_sanitize(const struct ata_words *w, struct sated_ata_sanitize *s)
{
    uint16_t bits = ata_word(w, 59);
    if (!ata_word_valid(w, 59))
        return;
    KNOW(ata_sanitize, s, supported, bits >> 12 & 1);
    if (!s->supported && bits & 0xec00)
        return;
    KNOW(ata_sanitize, s, crypto_scramble, bits >> 13 & 1);
    KNOW(ata_sanitize, s, overwrite, bits >> 14 & 1);
    KNOW(ata_sanitize, s, block_erase, bits >> 15 & 1);
    KNOW(ata_sanitize, s, antifreeze_lock, bits >> 10 & 1);
    KNOW(ata_sanitize, s, acs3_commands, bits >> 11 & 1);
}

static void decode_areas(const struct ata_words *w, struct sated_ata_areas *a)
{
    KNOW_BIT(ata_areas, a, hpa_supported, w, 82, 10);
    KNOW_BIT(ata_areas, a, hpa_enabled, w, 85, 10);
    KNOW_BIT(ata_areas, a, set_max_security, w, 83, 8);
    KNOW_BIT(ata_areas, a, set_max_locked, w, 86, 8);
    KNOW_BIT(ata_areas, a, set_max_dma, w, 69, 9);
    KNOW_BIT(ata_areas, a, amac_supported, w, 119, 8);
    KNOW_BIT(ata_areas, a, dco_supported, w, 83, 11);
    KNOW_BIT(ata_areas, a, dco_enabled, w, 86, 11);
    KNOW_BIT(ata_areas, a, dco_dma, w, 69, 12);
    KNOW_BIT(ata_areas, a, extended_addresses, w, 69, 3);
}

static void decode_trim(const struct ata_words *w, struct sated_ata_trim *t)
{
    KNOW_BIT(ata_trim, t, supported, w, 169, 0);
    if (t->supported && ata_word_valid(w, 105) && ata_word(w, 105))
        KNOW(ata_trim, t, max_blocks, ata_word(w, 105));
    KNOW_BIT(ata_trim, t, deterministic, w, 69, 14);
    KNOW_BIT(ata_trim, t, zeroed, w, 69, 5);
}

static void decode_device(const struct ata_words *w, struct sated_ata_identify *out)
{
    uint16_t rate = ata_word(w, 217);
    KNOW_TEXT(serial, 10, 10);
    KNOW_TEXT(firmware, 23, 4);
    KNOW_TEXT(model, 27, 20);
    KNOW_TEXT(product, 170, 4);
    KNOW_TEXT(media_serial, 176, 30);
    KNOW(ata_identify, out, atapi, ata_word(w, 0) >> 15 & 1);
    KNOW(ata_identify, out, removable, ata_word(w, 0) >> 7 & 1);
    KNOW(ata_identify, out, incomplete, ata_word(w, 0) >> 2 & 1);
    if (w->n > 111 && ata_bit(w, 84, 8) == 1 && ata_word(w, 108) >> 12) /* an NAA of 0 names nothing */
        KNOW(ata_identify, out, wwn,
             (uint64_t)ata_word(w, 108) << 48 | (uint64_t)ata_word(w, 109) << 32 | (uint64_t)ata_word(w, 110) << 16 |
                 ata_word(w, 111));
    if (w->n > 255) {
        bool has = (ata_word(w, 255) & 0xff) == 0xa5;
        KNOW(ata_identify, out, checksum, has ? ata_checksum(w->data) : (uint32_t)SATED_ATA_CHECKSUM_ABSENT);
    }
    if (rate == 1)
        KNOW(ata_identify, out, rotation_rpm, 0);
    else if (rate >= 0x0401 && rate != 0xffff)
        KNOW(ata_identify, out, rotation_rpm, rate);
    if (ata_word_valid(w, 168) && ata_word(w, 168) & 0xf)
        KNOW(ata_identify, out, form_factor, ata_word(w, 168) & 0xf);
    KNOW_BIT(ata_identify, out, encrypts_all, w, 69, 4);
    KNOW_BIT(ata_identify, out, trusted, w, 48, 0);
}

int sated_ata_decode_identify(const void *data, size_t n, struct sated_ata_identify *out)
{
    struct ata_words words = {data, n < 512 ? (unsigned)(n / 2) : 256};
    uint16_t all_or = 0, all_and = 0xffff;
    memset(out, 0, sizeof *out);
    if (!words.n)
        return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                         "IDENTIFY DEVICE data: %zu bytes were received, not even word 0; read it again", n);
    for (unsigned i = 0; i < words.n; i++) {
        out->words[i] = ata_word(&words, i);
        all_or |= out->words[i];
        all_and &= out->words[i];
    }
    if (!all_or || all_and == 0xffff)
        return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                         "IDENTIFY DEVICE data: all %u words are %04Xh, so no drive has answered; check the cable and "
                         "the adapter, then read it again",
                         words.n, all_or);
    if (words.n == 256)
        out->known |= KNOWN_BIT(ata_identify, words);
    decode_device(&words, out);
    decode_capacity(&words, &out->capacity);
    decode_geometry(&words, &out->geometry);
    decode_transfer(&words, &out->transfer);
    decode_settings(&words, &out->settings);
    decode_link(&words, &out->link);
    decode_security(&words, &out->security);
    decode_sanitize(&words, &out->sanitize);
    decode_areas(&words, &out->areas);
    decode_trim(&words, &out->trim);
    ata_versions_decode(&words, out);
    ata_features_decode(&words, out);
    out->known |= KNOWN_BIT(ata_identify, capacity) | KNOWN_BIT(ata_identify, geometry) |
                  KNOWN_BIT(ata_identify, transfer) | KNOWN_BIT(ata_identify, settings) |
                  KNOWN_BIT(ata_identify, link) | KNOWN_BIT(ata_identify, security) |
                  KNOWN_BIT(ata_identify, sanitize) | KNOWN_BIT(ata_identify, areas) | KNOWN_BIT(ata_identify, trim) |
                  KNOWN_BIT(ata_identify, n_features) | KNOWN_BIT(ata_identify, features);
    return 0;
}
