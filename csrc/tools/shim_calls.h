/* SPDX-License-Identifier: MIT */
/* What the interposed calls share. */
#ifndef SATED_TOOLS_SHIM_CALLS_H
#define SATED_TOOLS_SHIM_CALLS_H

#include <dlfcn.h>

#include "tools/shim.h"

#define EXPORT __attribute__((visibility("default")))

/* The call of the C library's own, looked up once. */
#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) \
    real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* Takes the lock of the nodes and the drive; false in the library's own calls, and where no drive is set up: these go on
 * to the C library. */
bool shim_enter(void);
void shim_leave(void);
bool shim_inside(void);

/* What a descriptor stands for; NULL where it is none of ours. */
struct shim_file *shim_file_of(int fd);

/* Sets errno from a negated one. Return: -1. */
int shim_fail(int64_t error);

/* Return: whether the path was that of a node; *out is then what open() returns, and errno is set. */
bool shim_try_open(const char *path, int flags, int *out);

#endif
