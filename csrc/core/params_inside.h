/* SPDX-License-Identifier: MIT */
/* What params_read.c leaves and params.c looks up. */
#ifndef SATED_CORE_PARAMS_INSIDE_H
#define SATED_CORE_PARAMS_INSIDE_H

#include "core/params.h"

#define PARAMS_PATH_BYTES 256

enum params_kind {
    PARAMS_STRING,
    PARAMS_WHOLE,
    PARAMS_NUMBER,
    PARAMS_BOOL,
    PARAMS_ARRAY,
    PARAMS_TABLE,
};

struct params_entry {
    char *path;
    char *text; /* PARAMS_STRING */
    int64_t whole;
    double number;
    size_t n; /* PARAMS_ARRAY: elements, which follow as path.0, path.1, ... */
    int line;
    enum params_kind kind;
    bool sealed; /* a table that has had its [header], or an inline one: neither may be opened again */
    bool inside; /* an inline table or a part of one: no [header] may add to it */
};

struct params {
    char *name;
    struct params_entry *entries;
    size_t n;
    size_t cap;
};

/* The entry of a path, or NULL. */
struct params_entry *params_find(const struct params *params, const char *path);

/* Writes a whole number and a NUL; returns the digits. */
int params_put_index(char *out, size_t v);

#endif
