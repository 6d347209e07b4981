/* SPDX-License-Identifier: MIT */
/* Made by known.py from <sated/health.h>: the place of each member, which is its bit in `known`. */
#ifndef SATED_PROTOCOL_KNOWN_HEALTH_H
#define SATED_PROTOCOL_KNOWN_HEALTH_H

#include "protocol/known.h"

/* clang-format off */
enum {
    known_health_temperature_c = 1,
    known_health_temperature_warning_c = 2,
    known_health_temperature_critical_c = 3,
    known_health_percentage_used = 4,
    known_health_available_spare = 5,
    known_health_spare_threshold = 6,
    known_health_host_bytes_read = 7,
    known_health_host_bytes_written = 8,
    known_health_media_bytes_written = 9,
    known_health_power_on_hours = 10,
    known_health_power_cycles = 11,
    known_health_unsafe_shutdowns = 12,
    known_health_media_errors = 13,
    known_health_error_log_entries = 14,
    known_health_lifetime_write_amplification = 15,
    known_health_critical_warnings = 16,
    known_health_self_test_running = 17,
    known_health_self_test_percent = 18,
    known_health_self_test_result = 19,
    known_health_self_test_hours = 20,
    known_health_conditions = 21,
    known_health_conditions_told = 22,
    known_health_operation_percent = 23,
    known_health_n_sensors_c = 24,
    known_health_sensors_c = 25,
    known_health_warnings = 26,
    known_health_doubts = 27,
};

/* clang-format on */

#endif
