/* SPDX-License-Identifier: MIT */
#include <sated/sated.h>

#include "check.h"
#include "core/json.h"

static struct sated_detail detail;

static int said(int rc)
{
    sated_detail_get(&detail);
    return rc;
}

/* RFC 8259, and what it leaves open: names twice, depth. */
static void test_json(void)
{
    static const char *const good[] = {
        "{}",
        " [ ] ",
        "null",
        "[true, false, null, 0, -0, 12, 1.5, -2e+10, 1E-3, 18446744073709551615]",
        "{\"a\": {\"b\": [1, {\"c\": \"\\u00e4\\ud83d\\ude00\\n\\\\\\/\"}]}}",
    };
    static const char *const bad[] = {
        "",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "{a: 1}",
        "{\"a\" 1}",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "\"",
        "\"\t\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\u0000\"",
        "tru",
        "nul",
        "1 2",
        "[1] x",
        "// c\n1",
        "{\"a\":1,\"a\":2}",
        "'a'",
        "NaN",
        "-",
        "{\"a\":1 \"b\":2}",
        "\"\\ud83d\\u0041\"",
    };
    struct json_document *j;
    char text[600];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(text, sizeof text, "%s", good[i]);
        CHECK_EQ(json_read(&j, text, strlen(text), "x.json"), 0);
        json_free(j);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "%s", bad[i]);
        int rc = said(json_read(&j, text, strlen(text), "x.json"));
        if (rc != SATED_PARSE)
            printf("taken: %s\n", bad[i]);
        CHECK_EQ(rc, SATED_PARSE);
        CHECK_TEXT(detail.text, "x.json:");
        CHECK(j == NULL);
    }
    memset(text, '[', 500);
    text[500] = '\0';
    CHECK_EQ(said(json_read(&j, text, 500, "x.json")), SATED_PARSE);
    CHECK_TEXT(detail.text, "32 levels");
    snprintf(text, sizeof text,
             "{\"n\": 18446744073709551615, \"t\": \"\\u00e4\\ud83d\\ude00\",\n\"m\": -7, \"f\": 1.0}");
    CHECK_EQ(json_read(&j, text, strlen(text), "x.json"), 0);
    const struct json *root = json_root(j);
    CHECK(json_get(root, "n")->whole && json_get(root, "n")->value == UINT64_MAX);
    CHECK(json_get(root, "m")->negative && json_get(root, "m")->value == 7 && json_get(root, "m")->line == 2);
    CHECK(!json_get(root, "f")->whole);
    CHECK(!strcmp(json_get(root, "t")->text, "\xc3\xa4\xf0\x9f\x98\x80"));
    CHECK(json_get(root, "x") == NULL);
    json_free(j);
}

int main(void)
{
    test_json();
    return check_done();
}
