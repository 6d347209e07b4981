/* SPDX-License-Identifier: MIT */
#ifndef SATED_CORE_LOG_H
#define SATED_CORE_LOG_H

#include <sated/base.h>

/* Says something to whoever called sated_log_set(); costs one load when nobody did. Never from an I/O loop. */
void log_say(enum sated_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
