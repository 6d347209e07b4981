/* SPDX-License-Identifier: MIT */
/* Failures: a code that is returned, and beside it a thread-local detail with a sentence for a person. */
#ifndef SATED_CORE_ERROR_H
#define SATED_CORE_ERROR_H

#include <sated/base.h>

/* Sets the calling thread's detail and returns `code`, so that one can `return error_set(...)`. The text says what, on
 * which object, with which number, and what to do next. */
int error_set(int code, enum sated_layer layer, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* What an errno means, in English whatever the locale is, such as "No space left on device". Return: a static string. */
const char *error_text(int error);

/* Puts a detail that another thread left (a job's own) into the calling thread's. Returns its code. */
int error_copy(const struct sated_detail *from);

/* The calling thread's detail, for adding what a drive answered to a failure that was just set. */
struct sated_detail *error_last(void);

#endif
