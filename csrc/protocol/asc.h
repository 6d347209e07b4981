/* SPDX-License-Identifier: MIT */
#ifndef SATED_PROTOCOL_ASC_H
#define SATED_PROTOCOL_ASC_H

#include <stddef.h>
#include <stdint.h>

/* An additional sense code and its qualifier (asc << 8 | ascq), ascending. */
struct asc_entry {
    uint16_t code;
    const char *text;
};

extern const struct asc_entry asc_low[], asc_high[];
extern const size_t asc_low_count, asc_high_count;

#endif
