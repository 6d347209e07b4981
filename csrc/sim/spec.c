/* SPDX-License-Identifier: MIT */
/* NAME[,key=value]...: what stands behind "sim:". */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/size.h"
#include "sim/model.h"

void spec_free(struct spec *s)
{
    free(s->text);
    *s = (struct spec){0};
}

static int put_lba(struct spec *s, const char *text)
{
    int rc = size_parse_share("lba", text, &s->lba);
    if (rc)
        return rc;
    s->lba_given = true;
    return s->lba > 0 && s->lba <= 1
               ? 0
               : error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                           "lba = %s is no accessible fraction of a drive; write it like 80%% or 0.8", text);
}

static int given_twice(const struct spec *s, const char *key)
{
    return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "sim:%s: the key %s is given twice", s->name, key);
}

static int put_key(struct spec *s, const char *key, const char *value)
{
    if (!strcmp(key, "lba"))
        return s->lba_given ? given_twice(s, key) : put_lba(s, value);
    if (!strcmp(key, "state")) {
        if (s->state)
            return given_twice(s, key);
        s->state = value;
        return *value
                   ? 0
                   : error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "sim:%s: state= needs the path of a file", s->name);
    }
    if (!strcmp(key, "fill")) {
        if (s->fill)
            return given_twice(s, key);
        s->fill = value;
        return 0;
    }
    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->keys[i].key, key))
            return given_twice(s, key);
    if (s->n == sizeof s->keys / sizeof *s->keys)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "sim:%s: more than 64 keys", s->name);
    s->keys[s->n].key = key;
    s->keys[s->n++].value = value;
    return 0;
}

/* The comma before the next key; one between parentheses belongs to a value. */
static char *next_comma(char *at)
{
    int depth = 0;
    for (; *at && (*at != ',' || depth > 0); at++)
        depth += (*at == '(') - (*at == ')');
    return *at ? at : NULL;
}

static bool is_balanced(const char *at)
{
    int depth = 0;
    for (; *at && depth >= 0; at++)
        depth += (*at == '(') - (*at == ')');
    return !depth;
}

int spec_parse(struct spec *s, const char *text)
{
    *s = (struct spec){.lba = 1};
    s->text = strdup(text);
    if (!s->text)
        return error_set(-ENOMEM, SATED_LAYER_NONE, "sim:%s: not enough memory to read it", text);
    char *at = s->text, *comma = next_comma(at);
    s->name = at;
    if (comma)
        *comma = '\0';
    size_t n = strlen(s->name);
    if (!n)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim: needs the name of a model or of a state file, such as sim:x210 or sim:./my.sim");
    s->is_file = strchr(s->name, '/') || (n > 4 && !strcmp(s->name + n - 4, ".sim"));
    while (comma) {
        char *key = comma + 1, *equals;
        comma = next_comma(key);
        if (comma)
            *comma = '\0';
        equals = strchr(key, '=');
        if (!equals || equals == key)
            return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "sim:%s: \"%s\" is no key=value", s->name, key);
        *equals = '\0';
        if (!is_balanced(equals + 1))
            return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                             "sim:%s: %s = %s has a parenthesis without its other one", s->name, key, equals + 1);
        int rc = put_key(s, key, equals + 1);
        if (rc)
            return rc;
    }
    if (s->is_file && (s->state || s->fill || s->n))
        return error_set(
            SATED_PARSE, SATED_LAYER_ARGUMENT,
            "sim:%s is a state file, which knows its model and keys already: only lba may be given, not %s", s->name,
            s->state  ? "state"
            : s->fill ? "fill"
                      : s->keys[0].key);
    return 0;
}
