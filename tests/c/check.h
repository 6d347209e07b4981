/* SPDX-License-Identifier: MIT */
/* The least that a C test needs: checks that count, and a closing line. */
#ifndef SATED_TESTS_CHECK_H
#define SATED_TESTS_CHECK_H

#include <math.h>
#include <stdio.h>
#include <string.h>

static int check_passed, check_failed;

static inline void check_note(int ok, const char *file, int line, const char *what, double a, double b)
{
    if (ok) {
        check_passed++;
    } else {
        check_failed++;
        printf("%s:%d: %s (%.17g, %.17g)\n", file, line, what, a, b);
    }
}

#define CHECK(cond) check_note(!!(cond), __FILE__, __LINE__, #cond, 0, 0)
#define CHECK_EQ(a, b) \
    do { \
        __typeof__(a) check_a = (a); \
        __typeof__(b) check_b = (b); \
        check_note(check_a == (__typeof__(a))check_b, __FILE__, __LINE__, #a " == " #b, (double)check_a, \
                   (double)check_b); \
    } while (0)
#define CHECK_NEAR(a, b, rel) \
    do { \
        double check_a = (double)(a), check_b = (double)(b); \
        check_note(fabs(check_a - check_b) <= fabs(check_b) * (rel), __FILE__, __LINE__, #a " ~ " #b, check_a, \
                   check_b); \
    } while (0)
#define CHECK_TEXT(text, part) check_note(strstr((text), (part)) != NULL, __FILE__, __LINE__, #text " has " #part, 0, 0)

static inline int check_done(void)
{
    printf("%d passed, %d failed\n", check_passed, check_failed);
    return check_failed || !check_passed;
}

#endif
