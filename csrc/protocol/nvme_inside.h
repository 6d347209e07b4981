/* SPDX-License-Identifier: MIT */
/* What the NVMe builders share, and what the decoders do. */
#ifndef SATED_PROTOCOL_NVME_INSIDE_H
#define SATED_PROTOCOL_NVME_INSIDE_H

#include <sated/nvme.h>

#include <string.h>

#include "core/error.h"
#include "protocol/known.h"

/* Refuses an argument. */
#define REFUSE(...) error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, __VA_ARGS__)

/* Begins a command; bits 1:0 of the opcode say which way the data goes: 01 to the drive, 10 from it. */
void nvme_begin(struct sated_nvme_command *c, bool admin, uint32_t opcode, uint32_t nsid, uint32_t data_len);

/* Whether a value fits into so many bits: 0 or SATED_PARSE. */
int nvme_fits(const char *name, uint32_t value, unsigned bits);

/* Whether NSID is one namespace or, where that has a meaning, all of them: 0 or SATED_PARSE. */
int nvme_one_namespace(const char *command, uint32_t nsid, bool all);

#define FIELDS(table) (sizeof(table) / sizeof *(table))

#define FORGET_IF(cond, of, s, member) \
    do { \
        if (cond) \
            FORGET(of, s, member); \
    } while (0)
#define FORGET_ZERO(of, s, member) FORGET_IF(nvme_zero(&(s)->member, sizeof(s)->member), of, s, member)

/* Whether n bytes are all zero. */
static inline int nvme_zero(const void *p, size_t n)
{
    const unsigned char *b = p;
    while (n && !*b) {
        b++;
        n--;
    }
    return !n;
}

/* An answer that is too short to say anything. */
static inline int nvme_short(const char *what, size_t n, size_t least)
{
    return error_set(SATED_PARSE, SATED_LAYER_DRIVE, "%s: %zu bytes came, expected %zu at least: read it again", what,
                     n, least);
}

#endif
