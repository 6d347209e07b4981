/* SPDX-License-Identifier: MIT */
/* Taking what names one single drive out of recorded answers: serial numbers and world-wide names. */
#ifndef SATED_TRANSPORT_SCRUB_H
#define SATED_TRANSPORT_SCRUB_H

#include <stdint.h>

#include "transport/command.h"

#define SCRUB_NAMES 192 /* a binary name is there as text, too */
#define SCRUB_LONGEST 64

struct scrub {
    size_t n;
    struct scrub_name {
        uint8_t from[SCRUB_LONGEST], to[SCRUB_LONGEST];
        size_t length;
    } names[SCRUB_NAMES];
    unsigned serials; /* seen so far: the same one becomes the same again */
};

/* Finds the names that an answer tells. */
void scrub_learn(struct scrub *s, const struct command *c, const uint8_t *data, size_t n);

/* Replaces every name that was found, wherever it stands, and makes checksums right again. */
void scrub_apply(const struct scrub *s, const struct command *c, uint8_t *data, size_t n);

/* The same for a text that ends with a NUL. */
void scrub_text(const struct scrub *s, char *text);

#endif
