/* SPDX-License-Identifier: MIT */
#include "core/size.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Digits, a point, digits: 19 significant ones at most, value = whole x 10^exponent. False: no such number. */
struct decimal {
    uint64_t whole;
    int exponent;
    bool point;
    const char *rest;
};

static bool decimal_parse(const char *text, struct decimal *d)
{
    *d = (struct decimal){0};
    int digits = 0;
    const char *p = text;
    for (; digit(*p) || *p == '.'; p++) {
        if (*p == '.') {
            if (d->point)
                return false;
            d->point = true;
            continue;
        }
        if (d->whole > (UINT64_MAX - 9) / 10)
            return false;
        d->whole = d->whole * 10 + (uint64_t)(*p - '0');
        d->exponent -= d->point;
        digits++;
    }
    d->rest = p;
    return digits > 0;
}

static double power_of_ten(int n)
{
    double p = 1;
    for (int i = 0; i < (n < 0 ? -n : n); i++)
        p *= 10;
    return p;
}

static double decimal_value(const struct decimal *d)
{
    return d->exponent < 0 ? (double)d->whole / power_of_ten(d->exponent)
                           : (double)d->whole * power_of_ten(d->exponent);
}

int size_parse_whole(const char *what, const char *text, uint64_t *out)
{
    struct decimal d;
    if (!decimal_parse(text, &d) || d.point || *d.rest)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "%s \"%s\" is not a whole number: write digits only, such as 16", what, text);
    *out = d.whole;
    return 0;
}

int size_parse_number(const char *what, const char *text, double *out)
{
    bool minus = *text == '-';
    const char *p = text + (*text == '-' || *text == '+');
    struct decimal d;
    bool good = decimal_parse(p, &d);
    if (good && (*d.rest == 'e' || *d.rest == 'E')) {
        bool down = d.rest[1] == '-';
        p = d.rest + 1 + (d.rest[1] == '-' || d.rest[1] == '+');
        int e = 0;
        good = digit(*p);
        for (; digit(*p) && e < 1000; p++)
            e = e * 10 + (*p - '0');
        d.exponent += down ? -e : e;
        d.rest = p;
    }
    if (!good || *d.rest || d.exponent > 300 || d.exponent < -300)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "%s \"%s\" is not a number: write it like 12, 0.5 or 1e-3",
                         what, text);
    *out = minus ? -decimal_value(&d) : decimal_value(&d);
    return 0;
}

int size_parse_share(const char *what, const char *text, double *out)
{
    struct decimal a, b;
    if (decimal_parse(text, &a)) {
        double value = decimal_value(&a);
        if (!*a.rest || *a.rest == 'e' || *a.rest == 'E')
            return size_parse_number(what, text, out);
        if (!strcmp(a.rest, "%")) {
            *out = value / 100;
            return 0;
        }
        if (*a.rest == '/' && decimal_parse(a.rest + 1, &b) && !*b.rest && b.whole) {
            *out = value / decimal_value(&b);
            return 0;
        }
    }
    return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "%s \"%s\" is no share: write it like 0.7, 70%% or 2/3", what,
                     text);
}

/* whole x unit without overflow and, for a fraction, without loss: 1.5k is 1536, 1.0001k is refused. */
static int scaled(const char *kind, const char *text, const struct decimal *d, uint64_t unit, uint64_t *bytes)
{
    unsigned __int128 product = (unsigned __int128)d->whole * unit;
    for (int i = d->exponent; i < 0; i++) {
        if (product % 10)
            return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                             "%s \"%s\" is not a whole number of bytes; write it in a smaller unit", kind, text);
        product /= 10;
    }
    if (product > INT64_MAX)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "%s \"%s\" does not fit 63 bits of bytes; check the unit",
                         kind, text);
    *bytes = (uint64_t)product;
    return 0;
}

static bool same(const char *a, const char *b)
{
    for (; *a && lower(*a) == lower(*b); a++, b++)
        ;
    return !*a && !*b;
}

int size_parse_io(const char *text, uint64_t *bytes)
{
    static const struct {
        const char *name;
        uint64_t unit;
    } units[] = {{"", 1},          {"b", 1},       {"k", 1 << 10},  {"ki", 1 << 10},
                 {"kib", 1 << 10}, {"m", 1 << 20}, {"mi", 1 << 20}, {"mib", 1 << 20}};
    struct decimal d;
    *bytes = 0;
    if (decimal_parse(text, &d))
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (same(d.rest, units[i].name)) {
                int rc = scaled("size", text, &d, units[i].unit, bytes);
                if (!rc && !*bytes)
                    return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                                     "size \"%s\" is zero: an I/O has at least one block", text);
                return rc;
            }
    return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                     "size \"%s\" is no I/O size: write bytes, or 4k, 128KiB, 1m (powers of 1024)", text);
}

int size_parse_capacity(const char *text, uint64_t whole_bytes, uint64_t *bytes)
{
    static const char letters[] = "kMGTP";
    struct decimal d;
    *bytes = 0;
    if (!decimal_parse(text, &d))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "capacity \"%s\" is not understood: write it like 256GB, 1GiB or 80%%", text);
    if (!strcmp(d.rest, "%") || (!*d.rest && d.point)) {
        double share = decimal_value(&d) / (*d.rest ? 100 : 1);
        if (!whole_bytes)
            return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                             "capacity \"%s\": there is no whole to take a share of here; write it like 256GB", text);
        if (!(share > 0 && share <= 1))
            return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                             "capacity \"%s\": a share lies above 0 and up to 100%% (1.0)", text);
        *bytes = share == 1 ? whole_bytes : (uint64_t)(share * (double)whole_bytes + 0.5);
        return 0;
    }
    uint64_t decimal = 1, binary = 1;
    if (!*d.rest || same(d.rest, "b"))
        return scaled("capacity", text, &d, 1, bytes);
    for (size_t i = 0; i < sizeof letters - 1; i++) {
        decimal *= 1000;
        binary *= 1024;
        if (lower(*d.rest) != lower(letters[i]))
            continue;
        if (same(d.rest + 1, "b"))
            return scaled("capacity", text, &d, decimal, bytes);
        if (same(d.rest + 1, "ib") || same(d.rest + 1, "i"))
            return scaled("capacity", text, &d, binary, bytes);
        if (!d.rest[1])
            return error_set(
                SATED_PARSE, SATED_LAYER_ARGUMENT,
                "capacity \"%s\" has two readings: write %.*s%cB (%llu bytes a unit) or %.*s%ciB (%llu bytes a unit)",
                text, (int)(d.rest - text), text, letters[i], (unsigned long long)decimal, (int)(d.rest - text), text,
                letters[i], (unsigned long long)binary);
    }
    return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                     "capacity \"%s\" has no known unit: write it like 256GB, 1GiB or 80%%", text);
}

/* The locale's radix is all that can stand in a printed number beside these; it may have several bytes. */
static void put_point(char *text)
{
    size_t at = strspn(text, "0123456789+-"), rest = at;
    if (at == 0 || !text[at] || strchr("einfa", text[at]))
        return;
    while (text[rest] && !digit(text[rest]))
        rest++;
    text[at] = '.';
    memmove(text + at + 1, text + rest, strlen(text + rest) + 1);
}

void size_print_number(char *out, size_t room, double value, int digits)
{
    snprintf(out, room, "%.*g", digits, value);
    put_point(out);
}

void size_print_fixed(char *out, size_t room, double value, int decimals)
{
    if (!(fabs(value) < 1e15)) {
        size_print_number(out, room, value, 15);
        return;
    }
    snprintf(out, room, "%.*f", decimals, value);
    put_point(out);
}

/* Damerau's distance without transposition of more than neighbours, two rows of at most 64. */
static size_t distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > 63 || m > 63)
        return 64;
    size_t rows[3][64];
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = before[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
            if (before[j] + 1 < best)
                best = before[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && earlier[j - 2] + 1 < best)
                best = earlier[j - 2] + 1;
            now[j] = best;
        }
    }
    return rows[n % 3][m];
}

const char *size_nearest(const char *text, const char *const *known, size_t n)
{
    const char *best = NULL;
    size_t least = strlen(text) / 2 + 2; /* farther than half of it is no likeness */
    for (size_t i = 0; i < n; i++) {
        size_t d = distance(text, known[i]);
        if (d < least) {
            least = d;
            best = known[i];
        }
    }
    return best;
}
