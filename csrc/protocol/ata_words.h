/* SPDX-License-Identifier: MIT */
/* The words of IDENTIFY DEVICE data, and whether they may be believed. */
#ifndef SATED_PROTOCOL_ATA_WORDS_H
#define SATED_PROTOCOL_ATA_WORDS_H

#include <sated/ata.h>

#include "core/bytes.h"

struct ata_words {
    const uint8_t *data;
    unsigned n; /* words that were received, 256 at most */
};

/* Whether a word was received and, where the standard has a mark for it, is marked valid (ACS-4, IDENTIFY DEVICE). */
bool ata_word_valid(const struct ata_words *w, unsigned word);

/* A bit as 1 or 0, -1 where its word is not valid. Bits of feature sets that are newer than the drive are 0: the drive
 * says that it does not use those words. */
int ata_bit(const struct ata_words *w, unsigned word, unsigned bit);

/* Any word as it is, 0 where it was not received. */
static inline uint16_t ata_word(const struct ata_words *w, unsigned word)
{
    return word < w->n ? bytes_le16(w->data + 2 * word) : 0;
}

static inline uint32_t ata_two_words(const struct ata_words *w, unsigned word)
{
    return ata_word(w, word) | (uint32_t)ata_word(w, word + 1) << 16;
}

static inline uint64_t ata_four_words(const struct ata_words *w, unsigned word)
{
    return ata_two_words(w, word) | (uint64_t)ata_two_words(w, word + 2) << 32;
}

/* The sum of n bytes, which is 0 where their checksum is good. */
static inline uint8_t ata_sum(const uint8_t *data, size_t n)
{
    uint8_t sum = 0;
    while (n--)
        sum = (uint8_t)(sum + *data++);
    return sum;
}

/* enum sated_ata_checksum of a page of 512 bytes whose last one makes the sum 0. */
static inline uint32_t ata_checksum(const uint8_t *page)
{
    return ata_sum(page, 512) ? SATED_ATA_CHECKSUM_BAD : SATED_ATA_CHECKSUM_OK;
}

/* Minutes of w89, w90 and of log 30h page 06h: -1 where the drive gives none; *open says that it takes longer. */
int32_t ata_erase_minutes(uint32_t word, uint32_t *open);

void ata_features_decode(const struct ata_words *w, struct sated_ata_identify *out);
void ata_versions_decode(const struct ata_words *w, struct sated_ata_identify *out);

#endif
