/* SPDX-License-Identifier: MIT */
#include "protocol/fields.h"

#include <string.h>

#include "core/bytes.h"

void fields_text(char *out, size_t cap, const uint8_t *data, size_t n)
{
    size_t from = 0, to = 0, length;
    while (to < n && data[to])
        to++;
    while (from < to && data[from] == ' ')
        from++;
    while (to > from && data[to - 1] == ' ')
        to--;
    length = to - from < cap ? to - from : cap - 1;
    for (size_t i = 0; i < length; i++)
        out[i] = data[from + i] >= 0x20 && data[from + i] < 0x7f ? (char)data[from + i] : '?';
    out[length] = 0;
}

/* Stores a number in a member of 1, 2, 4 or 8 bytes, whatever this machine's byte order. */
static void store(void *member, size_t size, uint64_t value)
{
    uint32_t v4 = (uint32_t)value;
    uint16_t v2 = (uint16_t)value;
    uint8_t v1 = (uint8_t)value;
    switch (size) {
    case 1: memcpy(member, &v1, 1); break;
    case 2: memcpy(member, &v2, 2); break;
    case 4: memcpy(member, &v4, 4); break;
    default: memcpy(member, &value, 8); break;
    }
}

static void decode(const struct field *f, size_t n_fields, const uint8_t *data, size_t n, void *out, int little)
{
    uint64_t known;
    memcpy(&known, out, sizeof known);
    for (; n_fields--; f++) {
        char *member = (char *)out + f->at;
        size_t bytes = f->kind >= FIELD_TEXT ? f->bits : (f->shift + f->bits + 7u) / 8;
        uint64_t value = 0;
        if (f->byte + bytes > n)
            continue;
        if (f->kind == FIELD_TEXT) {
            fields_text(member, f->size, data + f->byte, bytes);
        } else if (f->kind == FIELD_BYTES) {
            memcpy(member, data + f->byte, bytes < f->size ? bytes : f->size);
        } else if (f->kind == FIELD_WIDE) {
            uint64_t halves[2] = {bytes_le64(data + f->byte), bytes_le64(data + f->byte + 8)};
            memcpy(member, halves, sizeof halves);
        } else {
            for (size_t i = 0; i < bytes; i++)
                value = value << 8 | data[f->byte + (little ? bytes - 1 - i : i)];
            value >>= f->shift;
            if (f->bits < 64)
                value &= (UINT64_C(1) << f->bits) - 1;
            if (!value && f->kind == FIELD_NOT_ZERO)
                continue;
            store(member, f->size, value);
        }
        known |= UINT64_C(1) << f->place;
    }
    memcpy(out, &known, sizeof known);
}

void fields_decode_be(const struct field *f, size_t n_fields, const uint8_t *data, size_t n, void *out)
{
    decode(f, n_fields, data, n, out, 0);
}

void fields_decode_le(const struct field *f, size_t n_fields, const uint8_t *data, size_t n, void *out)
{
    decode(f, n_fields, data, n, out, 1);
}
