/* SPDX-License-Identifier: MIT */
#ifndef SATED_HEALTH_H
#define SATED_HEALTH_H

#include <sated/drive.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifndef SATED_STATIC
#pragma GCC visibility push(default)
#endif

/* cdef: begin */

/* How a drive is: the same fields over SCSI, ATA, NVMe and simulated drives, and the pages that they come from. */

/* Bits 0 to 5 are those of NVMe's SMART log; the others have no place there. */
enum sated_health_warning {
    SATED_HEALTH_SPARE = 0x1,
    SATED_HEALTH_TEMPERATURE = 0x2,
    SATED_HEALTH_RELIABILITY = 0x4,
    SATED_HEALTH_READ_ONLY = 0x8,
    SATED_HEALTH_BACKUP = 0x10,
    SATED_HEALTH_PMR = 0x20,
    SATED_HEALTH_FAILING = 0x40, /* the drive foresees its failure: SMART status, or an informational exception */
};

/* What stands in the way of using a drive, or of erasing it. */
enum sated_health_condition {
    SATED_HEALTH_SECURITY_ENABLED = 0x1, /* a password is set: it locks when it loses power */
    SATED_HEALTH_LOCKED = 0x2,           /* by that password: its data can be neither read nor written */
    SATED_HEALTH_FROZEN = 0x4,           /* security commands are refused until it has been without power */
    SATED_HEALTH_PASSWORD_EXPIRED = 0x8, /* too many wrong passwords were tried since it got its power */
    SATED_HEALTH_SANITIZING = 0x10,
    SATED_HEALTH_SANITIZE_FAILED = 0x20, /* the last sanitize failed, and it has not been taken out of that */
    SATED_HEALTH_SANITIZE_FROZEN = 0x40, /* sanitize commands are refused until it has been without power */
    SATED_HEALTH_FORMATTING = 0x80,
    SATED_HEALTH_FORMAT_CORRUPT = 0x100,  /* it has to be formatted before it can be read or written */
    SATED_HEALTH_STOPPED = 0x200,         /* it has to be started before it can be read or written */
    SATED_HEALTH_STANDBY = 0x400,         /* it saves power, and wakes by itself */
    SATED_HEALTH_NOT_READY = 0x800,       /* for another reason, which it may or may not tell */
    SATED_HEALTH_HIDDEN_SECTORS = 0x1000, /* HPA, AMAC or DCO: it has more sectors than it shows */
};

/* How the last self-test ended. */
enum sated_health_self_test {
    SATED_HEALTH_TEST_NEVER = 0, /* the log has none */
    SATED_HEALTH_TEST_PASSED = 1,
    SATED_HEALTH_TEST_ABORTED = 2,
    SATED_HEALTH_TEST_FAILED = 3,
};

/* Bit i of `known` says whether the i-th member holds something, `known` being the 0th; what is unknown is never 0. */
struct sated_health {
    uint64_t known;
    double temperature_c;
    double temperature_warning_c; /* from here on the drive says that it is too warm */
    double temperature_critical_c;
    double percentage_used;       /* of the rated endurance; may exceed 100 */
    double available_spare;       /* percent */
    double spare_threshold;       /* percent */
    uint64_t host_bytes_read;     /* in the life of the drive */
    uint64_t host_bytes_written;  /* in the life of the drive */
    uint64_t media_bytes_written; /* to flash, by the host's writes and the drive's own */
    uint64_t power_on_hours;
    uint64_t power_cycles;
    uint64_t unsafe_shutdowns;           /* power went without notice */
    uint64_t media_errors;               /* that could not be corrected */
    uint64_t error_log_entries;          /* NVMe: errors in the life of the controller */
    double lifetime_write_amplification; /* media_bytes_written / host_bytes_written */
    uint32_t critical_warnings;          /* enum sated_health_warning */
    uint32_t self_test_running;          /* 1: one is in progress */
    uint32_t self_test_percent;          /* done, of the one in progress */
    uint32_t self_test_result;           /* enum sated_health_self_test: of the last that ended */
    uint64_t self_test_hours;            /* power-on hours when it ended */
    uint32_t conditions;                 /* enum sated_health_condition: those that hold */
    uint32_t conditions_told;            /* those that the drive told of, whether they hold or not */
    uint32_t operation_percent;          /* done, of the sanitize or the format that goes on */
    uint32_t n_sensors_c;
    double sensors_c[8]; /* further temperatures */
    char warnings[1024]; /* what could not be asked; sentences separated by a line feed */
    char doubts[1024];   /* what was told and cannot be taken as it stands; likewise */
};

/* The pages that an answer comes from, as they came. */
struct sated_health_pages;

/* Asks a drive how it is. A page that it refuses is told in `warnings`, and the rest goes on.
 * @param out filled whole; @param pages receives the pages, may be NULL. Return: 0; else an error, where the drive takes
 * no commands, may not be asked, is gone, or told nothing at all. Thread: the handle's. Owner: the caller frees pages. */
int sated_health_get(struct sated_drive *d, struct sated_health *out, struct sated_health_pages **pages);

/* Page by page. @param i from 0; @param name such as "log-02h" or "identify"; valid as long as the pages are.
 * Return: bytes of the page, or -ENOENT behind the last. */
int sated_health_page(const struct sated_health_pages *pages, size_t i, const char **name, const void **data);
void sated_health_pages_free(struct sated_health_pages *pages);

/* cdef: end */

#ifndef SATED_STATIC
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
