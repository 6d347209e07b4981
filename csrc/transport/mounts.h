/* SPDX-License-Identifier: MIT */
/* What is mounted on this machine, in every mount namespace that can be seen. */
#ifndef SATED_TRANSPORT_MOUNTS_H
#define SATED_TRANSPORT_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>

struct mount {
    unsigned major, minor;
    long pid; /* of a process in whose namespace it is; 0: in this one */
    const char *point, *type, *source;
};

struct mounts {
    bool told; /* /proc could be read at all */
    size_t n;
    struct mount *list; /* this namespace's first */
    char **texts;       /* that they point into */
    size_t n_texts;
};

/* Reads them. @param everywhere also those of other namespaces. Owner: the caller frees, also where nothing was told. */
void mounts_read(struct mounts *out, bool everywhere);
void mounts_free(struct mounts *m);

/* Turns the octal escapes of procfs (\040 for a blank) back into bytes, in place. */
void mounts_unescape(char *text);

#endif
