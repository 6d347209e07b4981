/* SPDX-License-Identifier: MIT */
/* The small TOML subset of model files: [tables], bare keys, strings, integers, floats, booleans, inline tables and
 * one-line or multi-line arrays of those. Whatever it takes, a TOML 1.0 parser takes to the same values. */
#ifndef SATED_CORE_PARAMS_H
#define SATED_CORE_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct params;

/* Parses a text. @param name for messages: "NAME:LINE: ...". Return: 0 or SATED_PARSE. */
int params_parse(struct params **out, const char *name, const char *text);
void params_free(struct params *p);

/* Look up by dotted path, such as "flash.program_us.value". Return: 1 found, 0 absent, SATED_PARSE for a wrong type. */
int params_get_string(const struct params *p, const char *path, const char **out);
int params_get_number(const struct params *p, const char *path, double *out); /* integers too */
/* Arrays of numbers; out may be NULL. *n receives the length. */
int params_get_numbers(const struct params *p, const char *path, double *out, size_t cap, size_t *n);
/* Visits every leaf in order: path, line. */
void params_each(const struct params *p, void (*visit)(const char *path, int line, void *user), void *user);

#endif
