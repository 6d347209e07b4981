/* SPDX-License-Identifier: MIT */
/* The subset of TOML in model files: what is taken means what TOML 1.0.0 (toml.io/en/v1.0.0) says, the rest is refused
 * with its line. */
#include "check.h"
#include "core/error.h"
#include "core/params.h"

static const char text[] = "# a comment with \xc3\xbc\n"
                           "top = 'C:\\no\\escapes'\n"
                           "[a]\n"
                           "plain = \"x\" # behind\n"
                           "escaped = \"\\b\\t\\n\\f\\r\\\"\\\\ \\u00fc \\U0001F600 # none\"\n"
                           "whole = 1_000\n"
                           "least = -9223372036854775808\n"
                           "hex = 0xDEAD_beef\n"
                           "octal = 0o755\n"
                           "binary = 0b1101\n"
                           "tenth = 0.1\n"
                           "large = 6.25e+22\n"
                           "small = -5e-10\n"
                           "digits = 9_007.199_254_740_99\n"
                           "yes = true\n"
                           "no = false\n"
                           "empty = []\n"
                           "many = [ 1, 2.5, # the second\r\n"
                           "  3, ]\n"
                           "words = [\"p\", 'q']\n"
                           "inline = { value = 3, origin = \"fitted\", deep = { er = [1, 2] } }\n"
                           "\t[b . c]\n"
                           "1-2_x = 7\n"
                           "[b]\n"
                           "k = 8";

static void count(const char *path, int line, void *user)
{
    int *seen = user;
    seen[0]++;
    if (!strcmp(path, "a.inline.deep.er.1"))
        seen[1] = line;
}

static void check_values(void)
{
    struct params *p;
    const char *s = NULL;
    double d = 0, many[4] = {0};
    size_t n = 9;
    CHECK_EQ(params_parse(&p, "test", text), 0);
    CHECK(params_get_string(p, "top", &s) == 1 && !strcmp(s, "C:\\no\\escapes"));
    CHECK(params_get_string(p, "a.plain", &s) == 1 && !strcmp(s, "x"));
    CHECK(params_get_string(p, "a.escaped", &s) == 1 && !strcmp(s, "\b\t\n\f\r\"\\ \xc3\xbc \xf0\x9f\x98\x80 # none"));
    CHECK(params_get_number(p, "a.least", &d) == 1 && d == -0x1p63);
    CHECK(params_get_number(p, "a.hex", &d) == 1 && d == 0xdeadbeef);
    CHECK(params_get_number(p, "a.octal", &d) == 1 && d == 493);
    CHECK(params_get_number(p, "a.binary", &d) == 1 && d == 13);
    /* The compiler's own reading of the same digits. */
    CHECK(params_get_number(p, "a.tenth", &d) == 1 && d == 0.1);
    CHECK(params_get_number(p, "a.large", &d) == 1 && d == 6.25e22);
    CHECK(params_get_number(p, "a.small", &d) == 1 && d == -5e-10);
    CHECK(params_get_number(p, "a.digits", &d) == 1 && d == 9007.19925474099);
    CHECK(params_get_number(p, "a.whole", &d) == 1 && d == 1000);
    CHECK_EQ(params_get_number(p, "a.yes", &d), SATED_PARSE);
    CHECK_EQ(params_get_string(p, "a.no", &s), SATED_PARSE);
    CHECK(params_get_numbers(p, "a.empty", NULL, 0, &n) == 1 && n == 0);
    CHECK(params_get_numbers(p, "a.many", many, 4, &n) == 1 && n == 3 && many[0] == 1 && many[1] == 2.5 &&
          many[2] == 3);
    CHECK(params_get_string(p, "a.words.1", &s) == 1 && !strcmp(s, "q"));
    CHECK(params_get_number(p, "a.inline.value", &d) == 1 && d == 3);
    CHECK(params_get_numbers(p, "a.inline.deep.er", many, 1, &n) == 1 && n == 2 && many[0] == 1);
    CHECK(params_get_number(p, "b.c.1-2_x", &d) == 1 && d == 7);
    CHECK(params_get_number(p, "b.k", &d) == 1 && d == 8);
    CHECK_EQ(params_get_number(p, "b.none", &d), 0);
    CHECK_EQ(params_get_string(p, "a.tenth", &s), SATED_PARSE);
    CHECK_EQ(params_get_numbers(p, "a.words", many, 4, &n), SATED_PARSE);
    int seen[2] = {0, 0};
    params_each(p, count, seen);
    CHECK_EQ(seen[0], 25);
    CHECK_EQ(seen[1], 21);
    params_free(p);
    params_free(NULL);
}

static void refused(const char *bad, const char *part)
{
    struct params *p = (struct params *)1;
    struct sated_detail d;
    CHECK_EQ(params_parse(&p, "m", bad), SATED_PARSE);
    CHECK(p == NULL);
    sated_detail_get(&d);
    CHECK_TEXT(d.text, part);
    if (!strstr(d.text, part))
        printf("%s -> %s\n", bad, d.text);
}

static void check_refusals(void)
{
    /* Not TOML at all. */
    refused("a = 1\na = 2\n", "m:2: a is given twice, first in line 1");
    refused("[a]\n[b]\n[a]\n", "m:3: the table [a] is given twice");
    refused("a = { x = 1 }\n[a.b]\n", "m:2: a has its value in line 1");
    refused("a = { x = 1 }\n[a]\n", "m:2: a has its value");
    refused("a = [1]\n[a]\n", "m:2: a has its value");
    refused("[a.b]\n[a]\nb = 1\n", "m:3: a.b is given twice");
    refused("a = 1 2\n", "m:1: something stands behind");
    refused("a = 1, b = 2\n", "m:1: something stands behind");
    refused("\n\na\n", "m:3: = was expected");
    refused("a =\n", "m:1: a value was expected");
    refused("= 1\n", "m:1: a key was expected");
    refused("a = 01\n", "m:1:");
    refused("a = 1__0\n", "m:1:");
    refused("a = 1_\n", "m:1:");
    refused("a = _1\n", "m:1:");
    refused("a = 1.\n", "m:1: digits were expected behind the point");
    refused("a = .5\n", "m:1:");
    refused("a = 1e\n", "m:1: digits were expected behind the e");
    refused("a = +0x1\n", "m:1:");
    refused("a = 0x\n", "m:1: not a number");
    refused("a = truely\n", "m:1:");
    refused("a = \"x\n\"\n", "m:1: the string does not end");
    refused("a = \"\\x\"\n", "m:1: an escape that TOML does not have");
    refused("a = \"\\ud800\"\n", "m:1: an escape that stands for no character");
    refused("a = \"\x01\"\n", "m:1: a byte that is no UTF-8 or a control");
    refused("\na = \"\xc3\x28\"\n", "m:2: a byte that is no UTF-8");
    refused("a = \"\xe0\x80\x80\"\n", "m:1: a byte that is no UTF-8");
    refused("a = 1\rb = 2\n", "m:1: a byte that is no UTF-8 or a control");
    refused("a = { x = 1,\n y = 2 }\n", "m:1:");
    refused("a = { x = 1, }\n", "m:1: a key was expected");
    refused("a = [1 2]\n", "m:1: , or ] was expected");
    refused("a = [1,,2]\n", "m:1: a value was expected");
    refused("a = [1,\n2\n", "m:3: , or ] was expected");
    refused("[a\n", "m:1: ] was expected");
    refused("[]\n", "m:1: a key was expected");
    refused("a = 9223372036854775808\n", "m:1: the whole number does not fit");
    /* TOML, but outside the subset. */
    refused("a.b = 1\n", "dotted keys are outside the subset");
    refused("a = { b.c = 1 }\n", "dotted keys are outside the subset");
    refused("\"a\" = 1\n", "quoted keys are outside the subset");
    refused("[[a]]\n", "arrays of tables are outside the subset");
    refused("a = \"\"\"x\"\"\"\n", "over several lines are outside the subset");
    refused("a = 2024-01-01\n", "m:1:");
    refused("a = inf\n", "inf and nan are outside the subset");
    refused("a = 0.12345678901234567\n", "more digits than a model file may use");
    refused("a = 1e23\n", "exponent is beyond");
    char deep[200] = "a = ";
    for (int i = 0; i < 90; i++)
        strcat(deep, "[");
    refused(deep, "nested more than 16 deep");
}

int main(void)
{
    check_values();
    check_refusals();
    return check_done();
}
