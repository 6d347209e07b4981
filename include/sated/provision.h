/* SPDX-License-Identifier: MIT */
#ifndef SATED_PROVISION_H
#define SATED_PROVISION_H

#include <sated/drive.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifndef SATED_STATIC
#pragma GCC visibility push(default)
#endif

/* cdef: begin */

/* How much of a drive can be addressed. */
enum sated_provision_method {
    SATED_PROVISION_LBA = 0, /* an LBA limit kept in this handle (and in a simulated drive's state) */
};

struct sated_provision {
    uint64_t accessible_bytes;
    uint64_t native_bytes;
    uint64_t raw_bytes; /* 0 = unknown */
    uint32_t method;
    uint32_t purged_beyond; /* 1 if nothing beyond the limit holds data: then it is over-provisioning, else an
                                    address range only */
    double lba_removed;     /* fraction of the native LBAs; NAN if these are unknown */
    double op_of_user;      /* (raw - user) / user, NaN if unknown */
    double op_of_raw;       /* (raw - user) / raw, NaN if unknown */
};

/* How much can be addressed now. @param out filled whole. Return: 0, or SATED_STATE while a load runs on a
 * simulated drive. Thread: the handle's. */
int sated_provision_get(struct sated_drive *d, struct sated_provision *out);

/* Limits what can be addressed. @param bytes rounded down to a whole 4 KiB by the caller, else SATED_PARSE; the native
 * capacity lifts the limit, and so does UINT64_MAX, to what a device that hides a part of that itself offers. Return: 0, SATED_UNSAFE without a permit, SATED_PARSE if it is 0, not a multiple of 4096 or
 * above the native capacity, SATED_STATE while a load runs. Thread: the handle's. */
int sated_provision_set(struct sated_drive *d, uint64_t bytes);

/* cdef: end */

#ifndef SATED_STATIC
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
