/* SPDX-License-Identifier: MIT */
/* Pages as tables: where each member of a struct stands among a drive's bytes. */
#ifndef SATED_PROTOCOL_FIELDS_H
#define SATED_PROTOCOL_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "protocol/known.h"

enum field_kind {
    FIELD_NUMBER = 0,
    FIELD_NOT_ZERO = 1, /* the standard says that 0 means "not reported" */
    FIELD_TEXT = 2,     /* characters, padded; `bits` counts bytes */
    FIELD_BYTES = 3,    /* as they are; `bits` counts bytes */
    FIELD_WIDE = 4,     /* a little-endian number of 16 bytes for uint64_t x[2], the low half first */
};

struct field {
    uint8_t place; /* its bit in `known` */
    uint8_t kind;  /* enum field_kind */
    uint8_t shift; /* of the lowest bit within the bytes read */
    uint8_t reserved;
    uint16_t bits;
    uint16_t byte; /* the first of them */
    uint16_t size; /* of the member */
    uint16_t at;   /* of the member in the struct */
};

/* FIELD(scsi_inquiry, version, 2, 0, 8): byte 2, from bit 0, 8 bits wide. A number of several bytes has its shift
 * counted from the last of them where it is big-endian, from the first where it is little-endian. */
#define FIELD_OF(kind, of, member, byte, shift, bits) \
    { \
        known_##of##_##member, kind, shift, 0, bits, byte, sizeof(((struct sated_##of *)0)->member), \
            offsetof(struct sated_##of, member) \
    }
#define FIELD(of, member, byte, shift, bits) FIELD_OF(FIELD_NUMBER, of, member, byte, shift, bits)
#define FIELD_UNLESS_0(of, member, byte, shift, bits) FIELD_OF(FIELD_NOT_ZERO, of, member, byte, shift, bits)
#define FIELD_CHARS(of, member, byte, n) FIELD_OF(FIELD_TEXT, of, member, byte, 0, n)
#define FIELD_BLOB(of, member, byte, n) FIELD_OF(FIELD_BYTES, of, member, byte, 0, n)
#define FIELD_U128(of, member, byte) FIELD_OF(FIELD_WIDE, of, member, byte, 0, 16)

/* Fills the members whose bytes are all among the n, and sets their bits in `known`, the struct's first member.
 * @param out a decoded struct, already zero where nothing is known. */
void fields_decode_be(const struct field *f, size_t n_fields, const uint8_t *data, size_t n, void *out);
void fields_decode_le(const struct field *f, size_t n_fields, const uint8_t *data, size_t n, void *out);

/* Characters without leading and trailing blanks, up to the first NUL; what is not printable ASCII becomes '?'.
 * @param out cap bytes, always terminated. */
void fields_text(char *out, size_t cap, const uint8_t *data, size_t n);

#endif
