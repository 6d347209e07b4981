/* SPDX-License-Identifier: MIT */
/* The system calls of the engines, in one table, so that a test can let each of them fail. All return a negated errno
 * on failure. */
#ifndef SATED_LOAD_KERNEL_H
#define SATED_LOAD_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct io_uring_params;
struct iocb;
struct io_event;
struct timespec;

struct kernel {
    int (*ring_setup)(uint32_t entries, struct io_uring_params *p);
    int (*ring_enter)(int fd, uint32_t submit, uint32_t min_complete, uint32_t flags, const void *argument,
                      size_t bytes);
    int (*ring_register)(int fd, uint32_t opcode, const void *argument, uint32_t n);
    void *(*ring_map)(int fd, size_t bytes, uint64_t offset); /* NULL on failure */
    void (*ring_unmap)(void *p, size_t bytes);
    void (*ring_close)(int fd);
    int (*aio_setup)(uint32_t entries, unsigned long *context);
    int (*aio_submit)(unsigned long context, uint32_t n, struct iocb **list); /* how many were taken */
    int (*aio_getevents)(unsigned long context, uint32_t least, uint32_t most, struct io_event *out,
                         struct timespec *timeout);
    void (*aio_destroy)(unsigned long context); /* waits for what is out */
    ssize_t (*read_at)(int fd, void *p, size_t bytes, uint64_t offset);
    ssize_t (*write_at)(int fd, const void *p, size_t bytes, uint64_t offset);
    int (*pin)(uint32_t cpu); /* this thread */
    void (*sharpen)(void);    /* this thread's sleeps end when they are to, not up to 50 us later */
    int (*punch)(int fd, uint64_t offset, uint64_t bytes);   /* a hole in a file */
    int (*discard)(int fd, uint64_t offset, uint64_t bytes); /* of a block device */
    int (*zero)(int fd, uint64_t offset, uint64_t bytes);    /* keeps the blocks */
    int (*flush)(int fd);
};

extern struct kernel kernel;

#endif
