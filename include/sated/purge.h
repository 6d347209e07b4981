/* SPDX-License-Identifier: MIT */
#ifndef SATED_PURGE_H
#define SATED_PURGE_H

#include <sated/drive.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifndef SATED_STATIC
#pragma GCC visibility push(default)
#endif

/* cdef: begin */

/* Erasing a whole drive. */
enum sated_purge_method {
    SATED_PURGE_AUTO = 0,
    SATED_PURGE_SIMULATED = 1,  /* a simulated drive forgets everything: all blocks erased */
    SATED_PURGE_DEALLOCATE = 2, /* a file: all its blocks are given back to the file system (holes) */
};

struct sated_purge_options {
    uint32_t size;   /* of this struct */
    uint32_t method; /* enum sated_purge_method */
};

struct sated_purge_result {
    uint32_t method;     /* the one used */
    uint32_t verified;   /* 1 if the drive was seen to be empty afterwards */
    int64_t duration_ns; /* by the drive's clock */
    char device_says[256];
};

struct sated_purge;

/* Sets the defaults: the method that the drive has. */
void sated_purge_options_init(struct sated_purge_options *opt);

/* Starts erasing; the drive must have been permitted. The methods that there are so far are quick, and all of the work is
 * done by this call. @param out receives the job, NULL on failure; @param opt NULL for the defaults.
 * Return: 0, SATED_UNSAFE without a permit, SATED_UNSUPPORTED where nothing can erase it, SATED_STATE while a load runs on
 * it, SATED_PARSE for a method that there is not, or an errno. Thread: the handle's. Owner: the caller frees. */
int sated_purge_start(struct sated_purge **out, struct sated_drive *d, const struct sated_purge_options *opt);

/* Waits. As the work is done when sated_purge_start returns, it returns at once for now; a program that is to go on
 * working with longer methods calls it all the same. @param timeout_ns -1 = for ever; @param result filled at the end, may
 * be NULL. Return: 1 still running, 0 ended, < 0 failed. Thread: the handle's. */
int sated_purge_wait(struct sated_purge *p, int64_t timeout_ns, struct sated_purge_result *result);

/* Frees the job; NULL does nothing. */
void sated_purge_free(struct sated_purge *p);

/* cdef: end */

#ifndef SATED_STATIC
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
