/* SPDX-License-Identifier: MIT */
#include "core/params.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/params_inside.h"

static const char *const kind_name[] = {"a string",      "a whole number", "a number",
                                        "true or false", "an array",       "a table"};

struct params_entry *params_find(const struct params *params, const char *path)
{
    for (size_t i = 0; i < params->n; i++)
        if (!strcmp(params->entries[i].path, path))
            return &params->entries[i];
    return NULL;
}

int params_put_index(char *out, size_t v)
{
    char digits[24];
    int n = 0;
    do
        digits[n++] = (char)('0' + v % 10);
    while ((v /= 10));
    for (int i = 0; i < n; i++)
        out[i] = digits[n - 1 - i];
    out[n] = '\0';
    return n;
}

void params_free(struct params *params)
{
    if (!params)
        return;
    for (size_t i = 0; i < params->n; i++) {
        free(params->entries[i].path);
        free(params->entries[i].text);
    }
    free(params->entries);
    free(params->name);
    free(params);
}

/* Return: 1 and the entry, 0 absent, SATED_PARSE for another kind than the two that are taken. */
static int look_up(const struct params *params, const char *path, enum params_kind kind, enum params_kind also,
                   const struct params_entry **out)
{
    const struct params_entry *e = params_find(params, path);
    if (!e)
        return 0;
    if (e->kind != kind && e->kind != also)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "%s:%d: %s is %s, and %s is needed", params->name, e->line,
                         path, kind_name[e->kind], kind_name[kind]);
    *out = e;
    return 1;
}

int params_get_string(const struct params *p, const char *path, const char **out)
{
    const struct params_entry *e;
    int rc = look_up(p, path, PARAMS_STRING, PARAMS_STRING, &e);
    if (rc == 1)
        *out = e->text;
    return rc;
}

int params_get_number(const struct params *p, const char *path, double *out)
{
    const struct params_entry *e;
    int rc = look_up(p, path, PARAMS_NUMBER, PARAMS_WHOLE, &e);
    if (rc == 1)
        *out = e->kind == PARAMS_WHOLE ? (double)e->whole : e->number;
    return rc;
}

int params_get_numbers(const struct params *p, const char *path, double *out, size_t cap, size_t *n)
{
    const struct params_entry *e;
    int rc = look_up(p, path, PARAMS_ARRAY, PARAMS_ARRAY, &e);
    if (rc != 1)
        return rc;
    *n = e->n;
    for (size_t i = 0; i < e->n; i++) {
        char element[PARAMS_PATH_BYTES + 24];
        size_t len = strlen(path);
        double v;
        memcpy(element, path, len);
        element[len] = '.';
        params_put_index(element + len + 1, i);
        rc = params_get_number(p, element, &v);
        if (rc != 1)
            return rc;
        if (out && i < cap)
            out[i] = v;
    }
    return 1;
}

void params_each(const struct params *p, void (*visit)(const char *path, int line, void *user), void *user)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->entries[i].kind != PARAMS_TABLE && p->entries[i].kind != PARAMS_ARRAY)
            visit(p->entries[i].path, p->entries[i].line, user);
}
