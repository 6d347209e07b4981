/* SPDX-License-Identifier: MIT */
/* Little- and big-endian loads and stores; the only way bytes become numbers here. */
#ifndef SATED_CORE_BYTES_H
#define SATED_CORE_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint16_t bytes_le16(const void *p)
{
    const uint8_t *b = p;
    return (uint16_t)(b[0] | b[1] << 8);
}

static inline uint32_t bytes_le32(const void *p)
{
    const uint8_t *b = p;
    return (uint32_t)bytes_le16(b) | (uint32_t)bytes_le16(b + 2) << 16;
}

static inline uint64_t bytes_le64(const void *p)
{
    const uint8_t *b = p;
    return (uint64_t)bytes_le32(b) | (uint64_t)bytes_le32(b + 4) << 32;
}

static inline void bytes_put_le16(void *p, uint16_t v)
{
    uint8_t *b = p;
    b[0] = (uint8_t)v;
    b[1] = (uint8_t)(v >> 8);
}

static inline void bytes_put_le32(void *p, uint32_t v)
{
    uint8_t *b = p;
    b[0] = (uint8_t)v;
    b[1] = (uint8_t)(v >> 8);
    b[2] = (uint8_t)(v >> 16);
    b[3] = (uint8_t)(v >> 24);
}

static inline void bytes_put_le64(void *p, uint64_t v)
{
    uint8_t *b = p; /* written out so that compilers see one store in it */
    b[0] = (uint8_t)v;
    b[1] = (uint8_t)(v >> 8);
    b[2] = (uint8_t)(v >> 16);
    b[3] = (uint8_t)(v >> 24);
    b[4] = (uint8_t)(v >> 32);
    b[5] = (uint8_t)(v >> 40);
    b[6] = (uint8_t)(v >> 48);
    b[7] = (uint8_t)(v >> 56);
}

static inline uint16_t bytes_be16(const void *p)
{
    const uint8_t *b = p;
    return (uint16_t)(b[0] << 8 | b[1]);
}

static inline uint32_t bytes_be24(const void *p)
{
    const uint8_t *b = p;
    return (uint32_t)b[0] << 16 | bytes_be16(b + 1);
}

static inline uint32_t bytes_be32(const void *p)
{
    const uint8_t *b = p;
    return (uint32_t)bytes_be16(b) << 16 | bytes_be16(b + 2);
}

static inline uint64_t bytes_be48(const void *p)
{
    const uint8_t *b = p;
    return (uint64_t)bytes_be16(b) << 32 | bytes_be32(b + 2);
}

static inline uint64_t bytes_be64(const void *p)
{
    const uint8_t *b = p;
    return (uint64_t)bytes_be32(b) << 32 | bytes_be32(b + 4);
}

static inline void bytes_put_be16(void *p, uint16_t v)
{
    uint8_t *b = p;
    b[0] = (uint8_t)(v >> 8);
    b[1] = (uint8_t)v;
}

static inline void bytes_put_be24(void *p, uint32_t v)
{
    uint8_t *b = p;
    b[0] = (uint8_t)(v >> 16);
    bytes_put_be16(b + 1, (uint16_t)v);
}

static inline void bytes_put_be32(void *p, uint32_t v)
{
    bytes_put_be16(p, (uint16_t)(v >> 16));
    bytes_put_be16((uint8_t *)p + 2, (uint16_t)v);
}

static inline void bytes_put_be48(void *p, uint64_t v)
{
    bytes_put_be16(p, (uint16_t)(v >> 32));
    bytes_put_be32((uint8_t *)p + 2, (uint32_t)v);
}

static inline void bytes_put_be64(void *p, uint64_t v)
{
    bytes_put_be32(p, (uint32_t)(v >> 32));
    bytes_put_be32((uint8_t *)p + 4, (uint32_t)v);
}

#endif
