/* SPDX-License-Identifier: MIT */
/* A recursive-descent parser of a subset of TOML 1.0. What it takes, any TOML parser takes to the same values: numbers
 * that a double cannot hold exactly as written (before the one final rounding) are refused, as are all forms outside
 * the subset, so that there is never a second reading of a model file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/params_inside.h"

#define TEXT_MAX_BYTES 4096
#define ENTRIES_MAX 8192
#define DEPTH_MAX 16

struct parser {
    struct params *out;
    const char *at;
    int line;
    int depth;
};

static int fail(const struct parser *p, const char *what)
{
    return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "%s:%d: %s", p->out->name, p->line, what);
}

static int no_memory(const struct parser *p)
{
    return error_set(-ENOMEM, SATED_LAYER_NONE, "%s: not enough memory to read it", p->out->name);
}

/* The entry is returned by index, because adding another may move them all. */
static int add(struct parser *p, const char *path, enum params_kind kind, size_t *index)
{
    struct params *o = p->out;
    if (params_find(o, path))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "%s:%d: %s is given twice, first in line %d", o->name,
                         p->line, path, params_find(o, path)->line);
    if (o->n == ENTRIES_MAX)
        return fail(p, "more than 8192 values");
    if (o->n == o->cap) {
        size_t cap = o->cap ? o->cap * 2 : 64;
        struct params_entry *grown = realloc(o->entries, cap * sizeof *grown);
        if (!grown)
            return no_memory(p);
        o->entries = grown;
        o->cap = cap;
    }
    struct params_entry *e = &o->entries[o->n];
    *e = (struct params_entry){.path = strdup(path), .kind = kind, .line = p->line};
    if (!e->path)
        return no_memory(p);
    *index = o->n++;
    return 0;
}

static void skip_blanks(struct parser *p)
{
    while (*p->at == ' ' || *p->at == '\t')
        p->at++;
}

static void skip_comment(struct parser *p)
{
    if (*p->at == '#')
        while (*p->at && *p->at != '\n')
            p->at++;
}

/* Blanks, comments and ends of lines, as arrays may have them between their elements. */
static void skip_lines(struct parser *p)
{
    for (;;) {
        skip_blanks(p);
        skip_comment(p);
        if (*p->at == '\r')
            p->at++;
        if (*p->at != '\n')
            return;
        p->at++;
        p->line++;
    }
}

static bool is_bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* Appends a bare key to a path of `len` bytes; returns the new length or an error. */
static int read_key(struct parser *p, char *path, size_t len)
{
    const char *begin = p->at;
    while (is_bare(*p->at))
        p->at++;
    size_t n = (size_t)(p->at - begin);
    if (!n)
        return fail(p, *begin == '"' || *begin == '\''
                           ? "quoted keys are outside the subset of model files; use a bare key"
                           : "a key was expected here");
    if (len + n + 2 > PARAMS_PATH_BYTES)
        return fail(p, "the key is too long");
    if (len)
        path[len++] = '.';
    memcpy(path + len, begin, n);
    path[len + n] = '\0';
    return (int)(len + n);
}

static int read_value(struct parser *p, char *path, size_t len, bool inside);

static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The part of an escape behind the backslash. Returns the bytes put out, or an error. */
static int read_escape(struct parser *p, char *out)
{
    static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
    char c = *p->at;
    const char *simple = c ? strchr(from, c) : NULL;
    if (simple) {
        p->at++;
        *out = to[simple - from];
        return 1;
    }
    if (c != 'u' && c != 'U')
        return fail(p, "an escape that TOML does not have");
    p->at++;
    uint32_t code = 0;
    for (int left = c == 'u' ? 4 : 8; left; left--) {
        int digit = hex_digit(*p->at);
        if (digit < 0)
            return fail(p, c == 'u' ? "\\u needs four hexadecimal digits" : "\\U needs eight hexadecimal digits");
        code = code << 4 | (uint32_t)digit;
        p->at++;
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000) || !code)
        return fail(p, "an escape that stands for no character a text of ours may hold");
    return (int)put_utf8(out, code);
}

static int read_string(struct parser *p, const char *path)
{
    char quote = *p->at++, text[TEXT_MAX_BYTES];
    size_t n = 0, index;
    if (p->at[0] == quote && p->at[1] == quote)
        return fail(p, "strings over several lines are outside the subset of model files");
    while (*p->at != quote) {
        unsigned char c = (unsigned char)*p->at;
        if (!c || c == '\n' || c == '\r')
            return fail(p, "the string does not end in its line");
        if (n + 5 > sizeof text)
            return fail(p, "the string is longer than 4,000 bytes");
        p->at++;
        if (c != '\\' || quote == '\'') {
            text[n++] = (char)c;
            continue;
        }
        int put = read_escape(p, text + n);
        if (put < 0)
            return put;
        n += (size_t)put;
    }
    p->at++;
    text[n] = '\0';
    int rc = add(p, path, PARAMS_STRING, &index);
    if (rc)
        return rc;
    p->out->entries[index].text = strdup(text);
    return p->out->entries[index].text ? 0 : no_memory(p);
}

/* Copies digits of a base without their underscores, each of which must stand between two digits. */
static const char *take_digits(const char *at, int base, char *out, size_t *n)
{
    int d;
    bool last = false;
    while (((d = hex_digit(*at)) >= 0 && d < base) || (*at == '_' && last)) {
        last = *at != '_';
        if (last)
            out[(*n)++] = *at;
        at++;
    }
    return last ? at : NULL;
}

static int add_whole(struct parser *p, const char *path, const char *digits, size_t n, unsigned base, bool minus)
{
    uint64_t v = 0, most = (uint64_t)INT64_MAX + (minus ? 1 : 0);
    for (size_t i = 0; i < n; i++) {
        unsigned d = (unsigned)hex_digit(digits[i]);
        if (v > (most - d) / base)
            return fail(p, "the whole number does not fit 64 bits");
        v = v * base + d;
    }
    size_t index;
    int rc = add(p, path, PARAMS_WHOLE, &index);
    if (rc)
        return rc;
    p->out->entries[index].whole = minus ? (int64_t)(0 - v) : (int64_t)v;
    return 0;
}

/* mantissa x 10^exponent where both factors are exact doubles: one rounding, the same as everywhere (Clinger 1990). */
static int add_number(struct parser *p, const char *path, const char *digits, size_t n, int exponent, bool minus)
{
    uint64_t mantissa = 0;
    double ten = 1;
    size_t index;
    while (n && digits[n - 1] == '0') {
        n--;
        exponent++;
    }
    for (size_t i = 0; i < n; i++) {
        mantissa = mantissa * 10 + (uint64_t)(digits[i] - '0');
        if (mantissa > (uint64_t)1 << 53)
            return fail(p, "the number has more digits than a model file may use (about 15)");
    }
    if (!mantissa)
        exponent = 0;
    if (exponent > 22 || exponent < -22)
        return fail(p, "the number's exponent is beyond what a model file may use (22)");
    for (int i = 0; i < (exponent < 0 ? -exponent : exponent); i++)
        ten *= 10;
    int rc = add(p, path, PARAMS_NUMBER, &index);
    if (rc)
        return rc;
    double v = exponent < 0 ? (double)mantissa / ten : (double)mantissa * ten;
    p->out->entries[index].number = minus ? -v : v;
    return 0;
}

static int read_based(struct parser *p, const char *path, const char *begin, size_t length)
{
    unsigned base = begin[1] == 'x' ? 16 : begin[1] == 'o' ? 8 : 2;
    char digits[TEXT_MAX_BYTES];
    size_t n = 0;
    const char *end = take_digits(begin + 2, (int)base, digits, &n);
    return end == begin + length ? add_whole(p, path, digits, n, base, false) : fail(p, "not a number");
}

static int read_number(struct parser *p, const char *path)
{
    const char *begin = p->at, *at = begin;
    char digits[TEXT_MAX_BYTES];
    size_t n = 0, exponent_n = 0, length;
    char exponent_digits[TEXT_MAX_BYTES];
    while (is_bare(*p->at) || *p->at == '+' || *p->at == '.' || *p->at == ':')
        p->at++;
    length = (size_t)(p->at - begin);
    if (!length)
        return fail(p, "a value was expected here");
    if (length >= sizeof digits)
        return fail(p, "the number is too long");
    bool minus = *at == '-';
    if (at[0] == '0' && (at[1] == 'x' || at[1] == 'o' || at[1] == 'b'))
        return read_based(p, path, begin, length);
    if (*at == '-' || *at == '+')
        at++;
    const char *whole = at;
    at = take_digits(at, 10, digits, &n);
    if (!at || (*whole == '0' && n > 1))
        return fail(p, "a value that is no string, number, true, false, array or inline table (dates, inf and nan are "
                       "outside the subset of model files)");
    if (at == begin + length)
        return add_whole(p, path, digits, n, 10, minus);
    int exponent = 0;
    if (*at == '.') {
        size_t before = n;
        at = take_digits(at + 1, 10, digits, &n);
        if (!at)
            return fail(p, "digits were expected behind the point");
        exponent = -(int)(n - before);
    }
    if (*at == 'e' || *at == 'E') {
        bool down = at[1] == '-';
        at = take_digits(at + (at[1] == '-' || at[1] == '+' ? 2 : 1), 10, exponent_digits, &exponent_n);
        if (!at)
            return fail(p, "digits were expected behind the e");
        int e = 0;
        for (size_t i = 0; i < exponent_n && e < 10000; i++)
            e = e * 10 + (exponent_digits[i] - '0');
        exponent += down ? -e : e;
    }
    if (at != begin + length)
        return fail(p, "not a number");
    return add_number(p, path, digits, n, exponent, minus);
}

static int read_inline(struct parser *p, char *path, size_t len)
{
    size_t index;
    int rc = add(p, path, PARAMS_TABLE, &index);
    if (rc)
        return rc;
    p->out->entries[index].sealed = p->out->entries[index].inside = true;
    p->at++;
    skip_blanks(p);
    if (*p->at == '}') {
        p->at++;
        return 0;
    }
    for (;;) {
        skip_blanks(p);
        int key = read_key(p, path, len);
        if (key < 0)
            return key;
        skip_blanks(p);
        if (*p->at != '=')
            return fail(p, *p->at == '.' ? "dotted keys are outside the subset of model files" : "= was expected here");
        p->at++;
        rc = read_value(p, path, (size_t)key, true);
        if (rc)
            return rc;
        path[len] = '\0';
        skip_blanks(p);
        if (*p->at == '}') {
            p->at++;
            return 0;
        }
        if (*p->at != ',')
            return fail(p, ", or } was expected here (an inline table stands in one line)");
        p->at++;
    }
}

static int read_array(struct parser *p, char *path, size_t len)
{
    size_t index, n = 0;
    int rc = add(p, path, PARAMS_ARRAY, &index);
    if (rc)
        return rc;
    p->at++;
    for (;;) {
        skip_lines(p);
        if (*p->at == ']')
            break;
        if (len + 24 > PARAMS_PATH_BYTES)
            return fail(p, "the key is too long");
        path[len] = '.';
        size_t grown = len + 1 + (size_t)params_put_index(path + len + 1, n);
        rc = read_value(p, path, grown, true);
        if (rc)
            return rc;
        path[len] = '\0';
        n++;
        skip_lines(p);
        if (*p->at == ']')
            break;
        if (*p->at != ',')
            return fail(p, ", or ] was expected here");
        p->at++;
    }
    p->at++;
    p->out->entries[index].n = n;
    p->out->entries[index].inside = true;
    return 0;
}

static bool word(struct parser *p, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(p->at, text, n) || is_bare(p->at[n]))
        return false;
    p->at += n;
    return true;
}

/* Reads a value into the path, whose buffer is used as scratch and is as before afterwards. */
static int read_value(struct parser *p, char *path, size_t len, bool inside)
{
    size_t first = p->out->n, index;
    int rc;
    skip_blanks(p);
    if (p->depth == DEPTH_MAX)
        return fail(p, "arrays and tables are nested more than 16 deep");
    p->depth++;
    if (*p->at == '"' || *p->at == '\'') {
        rc = read_string(p, path);
    } else if (*p->at == '{') {
        rc = read_inline(p, path, len);
    } else if (*p->at == '[') {
        rc = read_array(p, path, len);
    } else if (word(p, "true") || word(p, "false")) {
        rc = add(p, path, PARAMS_BOOL, &index); /* no parameter is one, so which it is is not kept */
    } else {
        rc = read_number(p, path);
    }
    p->depth--;
    if (!rc && inside)
        p->out->entries[first].inside = true;
    return rc;
}

/* Opens the tables of [a.b.c]; all but the last may exist already, and the last only if it came as a part of a longer
 * header before. */
static int read_header(struct parser *p, char *path, size_t *len)
{
    size_t index = 0;
    int n = 0;
    p->at++;
    if (*p->at == '[')
        return fail(p, "arrays of tables are outside the subset of model files");
    for (;;) {
        skip_blanks(p);
        n = read_key(p, path, (size_t)n);
        if (n < 0)
            return n;
        skip_blanks(p);
        struct params_entry *e = params_find(p->out, path);
        if (e && (e->kind != PARAMS_TABLE || e->inside))
            return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "%s:%d: %s has its value in line %d already",
                             p->out->name, p->line, path, e->line);
        if (!e) {
            int rc = add(p, path, PARAMS_TABLE, &index);
            if (rc)
                return rc;
        } else {
            index = (size_t)(e - p->out->entries);
        }
        if (*p->at != '.')
            break;
        p->at++;
    }
    if (*p->at != ']')
        return fail(p, "] was expected here");
    p->at++;
    if (p->out->entries[index].sealed)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "%s:%d: the table [%s] is given twice, first in line %d",
                         p->out->name, p->line, path, p->out->entries[index].line);
    p->out->entries[index].sealed = true;
    *len = (size_t)n;
    return 0;
}

static int read_document(struct parser *p)
{
    char path[PARAMS_PATH_BYTES] = "";
    size_t table = 0;
    for (;;) {
        skip_lines(p);
        if (!*p->at)
            return 0;
        int rc;
        if (*p->at == '[') {
            rc = read_header(p, path, &table);
        } else {
            rc = read_key(p, path, table);
            if (rc >= 0) {
                size_t len = (size_t)rc;
                skip_blanks(p);
                if (*p->at != '=')
                    return fail(p, *p->at == '.' ? "dotted keys are outside the subset of model files; use a [table]"
                                                 : "= was expected here");
                p->at++;
                rc = read_value(p, path, len, false);
                path[table] = '\0';
            }
        }
        if (rc < 0)
            return rc;
        skip_blanks(p);
        skip_comment(p);
        if (*p->at && *p->at != '\n' && !(*p->at == '\r' && p->at[1] == '\n'))
            return fail(p, "something stands behind the value in its line");
    }
}

/* Length of the UTF-8 character at `at`, 0 if it is none or one that TOML forbids in strings and comments. */
static int character(const unsigned char *at)
{
    uint32_t c = at[0];
    if (c < 0x80)
        return (c < 0x20 && c != '\t' && c != '\n' && !(c == '\r' && at[1] == '\n')) || c == 0x7f ? 0 : 1;
    int n = c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    uint32_t code = n ? c & (0xffU >> (n + 1)) : 0;
    for (int i = 1; i < n; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3f);
    }
    if ((n == 3 && (code < 0x800 || (code >= 0xd800 && code < 0xe000))) ||
        (n == 4 && (code < 0x10000 || code > 0x10ffff)))
        return 0;
    return n;
}

static int check_characters(struct parser *p)
{
    const unsigned char *at = (const unsigned char *)p->at;
    while (*at) {
        int n = character(at);
        if (!n)
            return fail(p, "a byte that is no UTF-8 or a control character");
        p->line += *at == '\n';
        at += n;
    }
    p->line = 1;
    return 0;
}

int params_parse(struct params **out, const char *name, const char *text)
{
    *out = NULL;
    struct params *params = calloc(1, sizeof *params);
    if (!params || !(params->name = strdup(name))) {
        free(params);
        return error_set(-ENOMEM, SATED_LAYER_NONE, "%s: not enough memory to read it", name);
    }
    struct parser p = {.out = params, .at = text, .line = 1};
    int rc = check_characters(&p);
    if (!rc)
        rc = read_document(&p);
    if (rc)
        params_free(params);
    else
        *out = params;
    return rc;
}
