/* SPDX-License-Identifier: MIT */
#include "core/buffer.h"

#include <sys/mman.h>

static size_t rounded(size_t bytes)
{
    size_t page = bytes >= (2u << 20) ? (2u << 20) : 4096;
    return (bytes + page - 1) / page * page;
}

void *buffer_new(size_t bytes)
{
    size_t n = rounded(bytes ? bytes : 1);
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (n >= (2u << 20))
        madvise(p, n, MADV_HUGEPAGE);
    return p;
}

void buffer_free(void *p, size_t bytes)
{
    if (p)
        munmap(p, rounded(bytes ? bytes : 1));
}
