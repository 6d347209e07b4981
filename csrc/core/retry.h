/* SPDX-License-Identifier: MIT */
#ifndef SATED_CORE_RETRY_H
#define SATED_CORE_RETRY_H

#include <errno.h>

/* The result of a system call that was not cut short by a signal. */
#define RETRY(call) \
    ({ \
        __typeof__(call) retry_result; \
        do \
            retry_result = (call); \
        while (retry_result < 0 && errno == EINTR); \
        retry_result; \
    })

#endif
