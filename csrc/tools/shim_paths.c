/* SPDX-License-Identifier: MIT */
/* The calls that take a path and open nothing, streams, and sleeping. */
#include "tools/shim_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* ---- fopen ---- */

/* What stdio does with a stream of ours: the calls above. */
static ssize_t stream_read(void *cookie, char *data, size_t bytes)
{
    return read((int)(intptr_t)cookie, data, bytes);
}

static ssize_t stream_write(void *cookie, const char *data, size_t bytes)
{
    ssize_t n = write((int)(intptr_t)cookie, data, bytes);
    return n < 0 ? 0 : n; /* by fopencookie(3) */
}

static int stream_seek(void *cookie, off64_t *at, int whence)
{
    off64_t to = lseek64((int)(intptr_t)cookie, *at, whence);
    if (to < 0)
        return -1;
    *at = to;
    return 0;
}

static int stream_close(void *cookie)
{
    return close((int)(intptr_t)cookie);
}

static bool try_fopen(const char *path, const char *mode, FILE **out)
{
    int fd, flags = strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
    if (!shim_try_open(path, flags | O_CLOEXEC, &fd))
        return false;
    const cookie_io_functions_t calls = {stream_read, stream_write, stream_seek, stream_close};
    *out = fd < 0 ? NULL : fopencookie((void *)(intptr_t)fd, mode, calls);
    if (fd >= 0 && !*out)
        close(fd);
    return true;
}

EXPORT FILE *fopen(const char *path, const char *mode)
{
    FILE *stream;
    REAL(fopen);
    return try_fopen(path, mode, &stream) ? stream : real(path, mode);
}

EXPORT FILE *fopen64(const char *path, const char *mode)
{
    FILE *stream;
    REAL(fopen64);
    return try_fopen(path, mode, &stream) ? stream : real(path, mode);
}

/* ---- stat and its kin ---- */

static bool try_stat(const char *path, struct stat *st, int *out)
{
    struct shim_node node;
    if (!shim_path(path, &node) || !shim_enter())
        return false;
    int rc = shim_use();
    if (!rc) {
        rc = shim_find(&node);
        shim_release();
    }
    shim_leave();
    if (!rc)
        shim_stat(&node, st);
    *out = rc ? shim_fail(rc) : 0;
    return true;
}

static bool try_fstat(int fd, struct stat *st)
{
    struct shim_file *f = shim_inside() ? NULL : shim_file_of(fd);
    if (!f)
        return false;
    shim_stat(&f->node, st);
    return true;
}

/* On 64-bit machines both structs are one. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "a 64-bit machine is needed");

#define STAT(name, type) \
    EXPORT int name(const char *path, struct type *st) \
    { \
        int rc; \
        REAL(name); \
        return try_stat(path, (struct stat *)(void *)st, &rc) ? rc : real(path, st); \
    }
STAT(stat, stat)
STAT(stat64, stat64)
STAT(lstat, stat)
STAT(lstat64, stat64)

EXPORT int fstat(int fd, struct stat *st)
{
    REAL(fstat);
    return try_fstat(fd, st) ? 0 : real(fd, st);
}

EXPORT int fstat64(int fd, struct stat64 *st)
{
    REAL(fstat64);
    return try_fstat(fd, (struct stat *)(void *)st) ? 0 : real(fd, st);
}

static bool try_fstatat(int folder, const char *path, struct stat *st, int flags, int *out)
{
    *out = 0;
    return (!*path && flags & AT_EMPTY_PATH && try_fstat(folder, st)) || try_stat(path, st, out);
}

EXPORT int fstatat(int folder, const char *path, struct stat *st, int flags)
{
    int rc;
    REAL(fstatat);
    return try_fstatat(folder, path, st, flags, &rc) ? rc : real(folder, path, st, flags);
}

EXPORT int fstatat64(int folder, const char *path, struct stat64 *st, int flags)
{
    int rc;
    REAL(fstatat64);
    return try_fstatat(folder, path, (struct stat *)(void *)st, flags, &rc) ? rc : real(folder, path, st, flags);
}

/* What programs of before glibc 2.33 call. */
#define OLD_STAT(name, type) \
    int name(int version, const char *path, struct type *st); \
    EXPORT int name(int version, const char *path, struct type *st) \
    { \
        int rc; \
        REAL(name); \
        return try_stat(path, (struct stat *)(void *)st, &rc) ? rc : real(version, path, st); \
    }
OLD_STAT(__xstat, stat)
OLD_STAT(__xstat64, stat64)
OLD_STAT(__lxstat, stat)
OLD_STAT(__lxstat64, stat64)

#define OLD_FSTAT(name, type) \
    int name(int version, int fd, struct type *st); \
    EXPORT int name(int version, int fd, struct type *st) \
    { \
        REAL(name); \
        return try_fstat(fd, (struct stat *)(void *)st) ? 0 : real(version, fd, st); \
    }
OLD_FSTAT(__fxstat, stat)
OLD_FSTAT(__fxstat64, stat64)

EXPORT int statx(int folder, const char *path, int flags, unsigned mask, struct statx *out)
{
    struct stat st;
    int rc;
    REAL(statx);
    if (!try_fstatat(folder, path, &st, flags, &rc))
        return real(folder, path, flags, mask, out);
    if (rc)
        return rc;
    memset(out, 0, sizeof *out);
    out->stx_mask = STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_INO;
    out->stx_mode = (uint16_t)st.st_mode;
    out->stx_nlink = 1;
    out->stx_blksize = 4096;
    out->stx_ino = st.st_ino;
    out->stx_rdev_major = (uint32_t)(st.st_rdev >> 8 & 0xfff);
    out->stx_rdev_minor = (uint32_t)(st.st_rdev & 0xff);
    return 0;
}

EXPORT int access(const char *path, int mode)
{
    struct stat st;
    int rc;
    REAL(access);
    if (!try_stat(path, &st, &rc))
        return real(path, mode);
    return rc || !(mode & X_OK) ? rc : shim_fail(-EACCES);
}

EXPORT int faccessat(int folder, const char *path, int mode, int flags)
{
    struct shim_node node;
    REAL(faccessat);
    return shim_path(path, &node) && !shim_inside() ? access(path, mode) : real(folder, path, mode, flags);
}

EXPORT char *realpath(const char *path, char *out)
{
    struct stat st;
    int rc;
    REAL(realpath);
    if (!try_stat(path, &st, &rc))
        return real(path, out);
    return rc ? NULL : out ? strcpy(out, path) : strdup(path);
}

EXPORT ssize_t readlink(const char *path, char *out, size_t bytes)
{
    struct shim_node node;
    REAL(readlink);
    return shim_path(path, &node) && !shim_inside() ? shim_fail(-EINVAL) : real(path, out, bytes);
}

/* ---- Time ---- */

/* Sleeping is the drive's: false where that failed, and the process sleeps itself. */
static bool try_sleep(int64_t ns)
{
    if (ns <= 0 || !shim_enter())
        return false;
    int rc = shim_sleep(ns);
    shim_leave();
    return rc == 0;
}

static int64_t ns_of(time_t s, int64_t ns)
{
    return s > 9000000000 ? INT64_MAX : (int64_t)s * 1000000000 + ns;
}

EXPORT unsigned sleep(unsigned seconds)
{
    REAL(sleep);
    return try_sleep(ns_of(seconds, 0)) ? 0 : real(seconds);
}

EXPORT int usleep(useconds_t us)
{
    REAL(usleep);
    return try_sleep((int64_t)us * 1000) ? 0 : real(us);
}

EXPORT int nanosleep(const struct timespec *t, struct timespec *rest)
{
    REAL(nanosleep);
    return try_sleep(ns_of(t->tv_sec, t->tv_nsec)) ? 0 : real(t, rest);
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *rest)
{
    REAL(clock_nanosleep);
    int64_t ns = ns_of(t->tv_sec, t->tv_nsec);
    struct timespec now = {0};
    if (flags & TIMER_ABSTIME && !clock_gettime(clock, &now))
        ns -= ns_of(now.tv_sec, now.tv_nsec);
    return try_sleep(ns) ? 0 : real(clock, flags, t, rest);
}

EXPORT int select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t)
{
    REAL(select);
    return !n && t && try_sleep(ns_of(t->tv_sec, (int64_t)t->tv_usec * 1000)) ? 0 : real(n, r, w, e, t);
}
