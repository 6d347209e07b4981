/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* fallocate, sched_setaffinity */
#include "load/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int result(long rc)
{
    return rc < 0 ? -errno : (int)rc;
}

static int ring_setup(uint32_t entries, struct io_uring_params *p)
{
    return result(syscall(__NR_io_uring_setup, entries, p)); /* close-on-exec by itself */
}

static int ring_enter(int fd, uint32_t submit, uint32_t min_complete, uint32_t flags, const void *argument,
                      size_t bytes)
{
#ifdef __x86_64__
    /* Once for each batch: syscall(2) would move each argument to another register twice. */
    register uint64_t fourth __asm__("r10") = flags;
    register const void *fifth __asm__("r8") = argument;
    register size_t sixth __asm__("r9") = bytes;
    long rc = __NR_io_uring_enter;
    __asm__ volatile("syscall"
                     : "+a"(rc)
                     : "D"((long)fd), "S"((unsigned long)submit), "d"((unsigned long)min_complete), "r"(fourth),
                       "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return (int)rc;
#else
    return result(syscall(__NR_io_uring_enter, fd, submit, min_complete, flags, argument, bytes));
#endif
}

static int ring_register(int fd, uint32_t opcode, const void *argument, uint32_t n)
{
    return result(syscall(__NR_io_uring_register, fd, opcode, argument, n));
}

static void *ring_map(int fd, size_t bytes, uint64_t offset)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, (off_t)offset);
    return p == MAP_FAILED ? NULL : p;
}

static void ring_unmap(void *p, size_t bytes)
{
    if (p)
        munmap(p, bytes);
}

static void ring_close(int fd)
{
    if (fd >= 0)
        close(fd);
}

static int aio_setup(uint32_t entries, unsigned long *context)
{
    return result(syscall(__NR_io_setup, entries, context));
}

static int aio_submit(unsigned long context, uint32_t n, struct iocb **list)
{
    return result(syscall(__NR_io_submit, context, (long)n, list));
}

static int aio_getevents(unsigned long context, uint32_t least, uint32_t most, struct io_event *out,
                         struct timespec *timeout)
{
    return result(syscall(__NR_io_getevents, context, (long)least, (long)most, out, timeout));
}

static void aio_destroy(unsigned long context)
{
    syscall(__NR_io_destroy, context);
}

static ssize_t read_at(int fd, void *p, size_t bytes, uint64_t offset)
{
    ssize_t n;
    do
        n = pread(fd, p, bytes, (off_t)offset);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

static ssize_t write_at(int fd, const void *p, size_t bytes, uint64_t offset)
{
    ssize_t n;
    do
        n = pwrite(fd, p, bytes, (off_t)offset);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

static int allocate(int fd, int mode, uint64_t offset, uint64_t bytes)
{
    int rc;
    do
        rc = result(fallocate(fd, mode | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes));
    while (rc == -EINTR);
    return rc;
}

static int punch(int fd, uint64_t offset, uint64_t bytes)
{
    return allocate(fd, FALLOC_FL_PUNCH_HOLE, offset, bytes);
}

static int discard(int fd, uint64_t offset, uint64_t bytes)
{
    uint64_t range[2] = {offset, bytes};
    int rc;
    do
        rc = result(ioctl(fd, BLKDISCARD, range));
    while (rc == -EINTR);
    return rc;
}

static int zero(int fd, uint64_t offset, uint64_t bytes)
{
    return allocate(fd, FALLOC_FL_ZERO_RANGE, offset, bytes);
}

static int flush(int fd)
{
    int rc;
    do
        rc = result(fsync(fd));
    while (rc == -EINTR);
    return rc;
}

static int pin(uint32_t cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return result(sched_setaffinity(0, sizeof set, &set));
}

static void sharpen(void)
{
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

struct kernel kernel = {
    .ring_setup = ring_setup,
    .ring_enter = ring_enter,
    .ring_register = ring_register,
    .ring_map = ring_map,
    .ring_unmap = ring_unmap,
    .ring_close = ring_close,
    .aio_setup = aio_setup,
    .aio_submit = aio_submit,
    .aio_getevents = aio_getevents,
    .aio_destroy = aio_destroy,
    .read_at = read_at,
    .write_at = write_at,
    .pin = pin,
    .sharpen = sharpen,
    .punch = punch,
    .discard = discard,
    .zero = zero,
    .flush = flush,
};
