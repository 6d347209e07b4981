/* SPDX-License-Identifier: MIT */
#ifndef SATED_BASE_H
#define SATED_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if UINTPTR_MAX < 0xffffffffffffffffULL
#error "sated needs a 64-bit machine"
#endif

#ifdef __cplusplus
extern "C" {
#endif
#ifndef SATED_STATIC
#pragma GCC visibility push(default)
#endif

/* cdef: begin */

/* Results of every call: 0 or positive is success, -1 to -4095 is a negated errno, and at or below -5000
 * stands one of these. */
enum sated_error {
    SATED_PARSE = -5000,       /* a text, a number or a combination that has no meaning */
    SATED_UNSAFE = -5001,      /* refused, because it could destroy something */
    SATED_SENSE = -5002,       /* the drive answered with SCSI sense data */
    SATED_NVME = -5003,        /* the drive answered with an NVMe status */
    SATED_ATA = -5004,         /* the drive answered with an ATA error */
    SATED_FROZEN = -5005,      /* the drive's security is frozen */
    SATED_LOCKED = -5006,      /* the drive is locked by a password */
    SATED_STALLED = -5007,     /* no progress within the time allowed */
    SATED_UNSUPPORTED = -5008, /* this drive, kernel or build cannot do it */
    SATED_STATE = -5009,       /* not now: the object is in the wrong state */
};

/* What an error happened to; it decides the exit code of an errno. */
enum sated_layer {
    SATED_LAYER_NONE = 0,
    SATED_LAYER_ARGUMENT = 1, /* what the caller passed */
    SATED_LAYER_DRIVE = 2,    /* the drive or the file under test */
    SATED_LAYER_FILE = 3,     /* one of our own files: results, journal, state */
};

enum sated_log_level {
    SATED_LOG_OFF = 0,
    SATED_LOG_ERROR = 1,
    SATED_LOG_WARNING = 2,
    SATED_LOG_INFO = 3,
    SATED_LOG_DEBUG = 4,
};

/* The last failure of the calling thread, in full. */
struct sated_detail {
    int32_t code;  /* as returned by the call that failed */
    int32_t layer; /* enum sated_layer */
    uint8_t sense_key;
    uint8_t asc;
    uint8_t ascq;
    uint8_t ata_status;
    uint8_t ata_error;
    uint8_t nvme_sct;
    uint8_t nvme_sc;
    uint8_t reserved;
    char text[1008]; /* one sentence: what, on which object, with which number, and what to do next */
};

/* The library's version, such as "0.1.0". Return: a static string. Thread: any. */
const char *sated_version(void);

/* Copies the calling thread's last failure. @param out where to. Thread: any, its own failures only. */
void sated_detail_get(struct sated_detail *out);

/* Sets the calling thread's last failure: for callbacks that fail. @param text one sentence.
 * Return: the code. Thread: any. */
int sated_detail_set(int code, int layer, const char *text);

/* The name of a code, such as "PARSE" or "ENOSPC". @param code as returned by a failed call.
 * Return: a static string, "UNKNOWN" where there is none. Thread: any. */
const char *sated_error_name(int code);

/* The exit code of the command line for a failure, from the one table that C, Python and the shell share.
 * @param code as returned by a failed call; @param layer enum sated_layer. Return: 0 to 70. Thread: any. */
int sated_error_exit_code(int code, int layer);

/* Sets how much is logged and where to; silent until called. @param level enum sated_log_level;
 * @param sink called with level, text and user, from whichever thread has something to say, or NULL: messages then
 * wait (the last 256) for sated_log_take(). Thread: any. */
void sated_log_set(int level, void (*sink)(int level, const char *text, void *user), void *user);

/* Takes the oldest waiting message. @param text where to, @param n bytes there are.
 * Return: its enum sated_log_level, or 0 if none waits. Thread: any. */
int sated_log_take(char *text, size_t n);

/* cdef: end */

#ifndef SATED_STATIC
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
