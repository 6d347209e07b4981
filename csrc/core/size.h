/* SPDX-License-Identifier: MIT */
/* Numbers, I/O sizes and capacities in text; no locale. What parses returns 0 or SATED_PARSE with a sentence. */
#ifndef SATED_CORE_SIZE_H
#define SATED_CORE_SIZE_H

#include <stddef.h>
#include <stdint.h>

int size_parse_io(const char *text, uint64_t *bytes);
int size_parse_capacity(const char *text, uint64_t whole_bytes, uint64_t *bytes);

/* "0.8", "80%", "4/5": a finite number that is not negative. A percentage is divided by 100. */
int size_parse_share(const char *what, const char *text, double *out);

/* A whole number without sign or junk. @param what names it in the sentence. */
int size_parse_whole(const char *what, const char *text, uint64_t *out);

/* A decimal number such as "-1.5e-3"; exact to the last bit for what fits 2^53 and |exponent| <= 22. */
int size_parse_number(const char *what, const char *text, double *out);

/* Room for any number that these two print. */
#define SIZE_NUMBER 40

/* A number as "%.*g" prints it in the C locale, whatever the locale is: a point, and `digits` significant digits without
 * zeros at their end. What does not fit is cut off. */
void size_print_number(char *out, size_t room, double value, int digits);

/* The same as "%.*f": `decimals` digits behind the point, 15 at most; from 1e15 on as size_print_number. */
void size_print_fixed(char *out, size_t room, double value, int decimals);

/* The name in `known` (n of them) nearest to `text` by edit distance, NULL if none is near. */
const char *size_nearest(const char *text, const char *const *known, size_t n);

#endif
