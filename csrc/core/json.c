/* SPDX-License-Identifier: MIT */
#include "core/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"

#define DEEPEST 32
#define BLOCK 256

struct block {
    struct block *next;
    size_t used;
    struct json nodes[BLOCK];
};

struct json_document {
    struct block *blocks;
    struct json *root;
    const char *path;
    char *at, *end;
    unsigned line, depth;
};

static int refuse(const struct json_document *j, const char *what)
{
    return error_set(SATED_PARSE, SATED_LAYER_FILE, "%s:%u: not JSON: %s", j->path, j->line, what);
}

static struct json *node(struct json_document *j, enum json_kind kind)
{
    if (!j->blocks || j->blocks->used == BLOCK) {
        struct block *block = calloc(1, sizeof *block);
        if (!block)
            return NULL;
        block->next = j->blocks;
        j->blocks = block;
    }
    struct json *made = &j->blocks->nodes[j->blocks->used++];
    made->kind = kind;
    made->line = j->line;
    return made;
}

static void skip_blanks(struct json_document *j)
{
    for (; j->at < j->end && (*j->at == ' ' || *j->at == '\t' || *j->at == '\r' || *j->at == '\n'); j->at++)
        j->line += *j->at == '\n';
}

static char next_of(const struct json_document *j)
{
    return j->at < j->end ? *j->at : '\0';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool four_digits(struct json_document *j, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++, j->at++) {
        int digit = hex_digit(next_of(j));
        if (digit < 0)
            return false;
        *out = *out << 4 | (uint32_t)digit;
    }
    return true;
}

static char *put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(lead[more] | c >> 6 * more);
    while (more-- > 0)
        *to++ = (char)(0x80 | (c >> 6 * more & 0x3f));
    return to;
}

static bool read_code(struct json_document *j, char **to)
{
    uint32_t code, low;
    if (!four_digits(j, &code))
        return false;
    if (code >= 0xd800 && code < 0xdc00) { /* the first half of a pair */
        if (next_of(j) != '\\' || j->at[1] != 'u')
            return false;
        j->at += 2;
        if (!four_digits(j, &low) || low < 0xdc00 || low > 0xdfff)
            return false;
        code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
    } else if (code >= 0xdc00 && code < 0xe000) {
        return false;
    }
    *to = put_utf8(*to, code);
    return code != 0;
}

/* Reads a string in place: what it means is never longer than how it is written. */
static int read_text(struct json_document *j, const char **out)
{
    static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char *to = ++j->at;
    *out = to;
    for (;;) {
        char c = next_of(j);
        if (j->at == j->end)
            return refuse(j, "a string has no end");
        if ((unsigned char)c < 0x20)
            return refuse(j, "a string holds a control character; write it as \\u00XX");
        j->at++;
        if (c == '"')
            break;
        if (c != '\\') {
            *to++ = c;
            continue;
        }
        char escape = next_of(j);
        const char *found = escape ? strchr(escapes, escape) : NULL;
        j->at += j->at < j->end;
        if (found)
            *to++ = meant[found - escapes];
        else if (escape != 'u' || !read_code(j, &to))
            return refuse(j, "a backslash is followed by nothing that JSON knows");
    }
    *to = '\0';
    return 0;
}

static int read_number(struct json_document *j, struct json *into)
{
    into->negative = *j->at == '-';
    j->at += into->negative;
    if (!is_digit(next_of(j)) || (*j->at == '0' && j->end - j->at > 1 && is_digit(j->at[1])))
        return refuse(j, "a number begins with a digit, and with 0 only if that is all before the point");
    into->whole = true;
    for (; is_digit(next_of(j)); j->at++)
        if (__builtin_mul_overflow(into->value, 10, &into->value) ||
            __builtin_add_overflow(into->value, (uint64_t)(*j->at - '0'), &into->value))
            into->whole = false;
    if (next_of(j) == '.') {
        into->whole = false;
        if (!is_digit(*++j->at))
            return refuse(j, "a point is followed by a digit");
        while (is_digit(next_of(j)))
            j->at++;
    }
    if (next_of(j) == 'e' || next_of(j) == 'E') {
        into->whole = false;
        j->at++;
        if (next_of(j) == '+' || next_of(j) == '-')
            j->at++;
        if (!is_digit(next_of(j)))
            return refuse(j, "an exponent has a digit");
        while (is_digit(next_of(j)))
            j->at++;
    }
    return 0;
}

static int read_value(struct json_document *j, struct json **out);

static int read_name(struct json_document *j, const struct json *object, const char **name)
{
    if (next_of(j) != '"')
        return refuse(j, "a member of an object begins with its name in \"\"");
    int rc = read_text(j, name);
    if (rc)
        return rc;
    if (json_get(object, *name))
        return refuse(j, "an object has the same name twice");
    skip_blanks(j);
    if (next_of(j) != ':')
        return refuse(j, "a name is followed by a colon");
    j->at++;
    return 0;
}

static int read_members(struct json_document *j, struct json *into)
{
    bool object = into->kind == JSON_OBJECT;
    char close = object ? '}' : ']';
    struct json **last = &into->first;
    j->at++;
    skip_blanks(j);
    if (next_of(j) == close) {
        j->at++;
        return 0;
    }
    for (;;) {
        const char *name = NULL;
        struct json *member;
        skip_blanks(j);
        int rc = object ? read_name(j, into, &name) : 0;
        if (!rc)
            rc = read_value(j, &member);
        if (rc)
            return rc;
        member->name = name;
        *last = member;
        last = &member->next;
        skip_blanks(j);
        char c = next_of(j);
        if (c != ',' && c != close)
            return refuse(j, object ? "a comma or } is missing" : "a comma or ] is missing");
        j->at++;
        if (c == close)
            return 0;
    }
}

static int read_value(struct json_document *j, struct json **out)
{
    static const struct {
        const char *word;
        enum json_kind kind;
    } words[] = {{"null", JSON_NULL}, {"false", JSON_FALSE}, {"true", JSON_TRUE}};
    skip_blanks(j);
    char c = next_of(j);
    struct json *made = *out = node(j, JSON_NULL);
    if (!made)
        return error_set(-ENOMEM, SATED_LAYER_FILE, "%s: no memory for what it holds", j->path);
    if (c == '{' || c == '[') {
        made->kind = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        if (++j->depth > DEEPEST)
            return refuse(j, "more than 32 levels");
        int rc = read_members(j, made);
        j->depth--;
        return rc;
    }
    if (c == '"') {
        made->kind = JSON_TEXT;
        return read_text(j, &made->text);
    }
    if (c == '-' || is_digit(c)) {
        made->kind = JSON_NUMBER;
        return read_number(j, made);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].word);
        if ((size_t)(j->end - j->at) >= n && !memcmp(j->at, words[i].word, n)) {
            made->kind = words[i].kind;
            j->at += n;
            return 0;
        }
    }
    return refuse(j, j->at == j->end ? "it ends where a value should stand" : "no value begins like this");
}

int json_read(struct json_document **out, char *data, size_t n, const char *path)
{
    *out = NULL;
    struct json_document *j = calloc(1, sizeof *j);
    if (!j)
        return error_set(-ENOMEM, SATED_LAYER_FILE, "%s: no memory for what it holds", path);
    j->path = path;
    j->at = data;
    j->end = data + n;
    j->line = 1;
    int rc = read_value(j, &j->root);
    skip_blanks(j);
    if (!rc && j->at != j->end)
        rc = refuse(j, "something follows the value");
    if (rc)
        json_free(j);
    else
        *out = j;
    return rc;
}

const struct json *json_root(const struct json_document *document)
{
    return document->root;
}

void json_free(struct json_document *document)
{
    if (!document)
        return;
    for (struct block *block = document->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(document);
}

const struct json *json_get(const struct json *object, const char *name)
{
    for (const struct json *member = object->first; member; member = member->next)
        if (member->name && !strcmp(member->name, name))
            return member;
    return NULL;
}

const char *json_kind_name(enum json_kind kind)
{
    static const char *const names[] = {"null", "false", "true", "a number", "a text", "a list", "an object"};
    return names[kind];
}
