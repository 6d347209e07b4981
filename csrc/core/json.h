/* SPDX-License-Identifier: MIT */
/* JSON as RFC 8259 has it, and nothing beside: no comments, no trailing commas, no name twice in an object. */
#ifndef SATED_CORE_JSON_H
#define SATED_CORE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_TEXT,
    JSON_ARRAY,
    JSON_OBJECT,
};

struct json {
    enum json_kind kind;
    unsigned line;
    bool whole;        /* a number without fraction and exponent that fits 64 bits, */
    bool negative;     /* and its sign */
    uint64_t value;    /* its magnitude */
    const char *text;  /* UTF-8 that ends with a NUL, and holds none */
    const char *name;  /* of a member of an object, else NULL */
    struct json *next; /* the following member or element */
    struct json *first;
};

struct json_document;

/* Reads a text, which is overwritten and must outlive the document.
 * @param data n bytes and a NUL behind them; @param path names it in the sentence.
 * Return: 0, SATED_PARSE with the line, or -ENOMEM. Owner: the caller frees the document. */
int json_read(struct json_document **out, char *data, size_t n, const char *path);
const struct json *json_root(const struct json_document *document);
void json_free(struct json_document *document);

/* The member of an object, NULL if it has none of that name. */
const struct json *json_get(const struct json *object, const char *name);

/* What stands there, for a sentence, such as "a number". */
const char *json_kind_name(enum json_kind kind);

#endif
