/* SPDX-License-Identifier: MIT */
/* A text that grows, such as a JSON file before it is written. */
#ifndef SATED_CORE_TEXT_H
#define SATED_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* All zero to begin with. Owner: the caller frees `data`, which ends with a NUL, and is NULL while nothing was said. */
struct text {
    char *data;
    size_t used, room;
    bool failed; /* no memory for it: what is there is not the whole */
};

/* Appends. */
void text_say(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends a string of JSON, in its quotes; what is not ASCII, byte by byte: texts that come from drives may hold
 * anything. */
void text_say_string(struct text *t, const char *value);

/* Appends a member of a JSON object that is a string. */
void text_say_json(struct text *t, const char *name, const char *value);

#endif
