/* SPDX-License-Identifier: MIT */
/* Lets unmodified tools talk to a simulated drive: preloaded, it takes the place of the C library's calls that reach
 * device nodes. A path that is none of the drive's nodes, and a descriptor that is none of theirs, goes on to the C
 * library. `sated sim exec` sets it up. */
#include "tools/shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define DESCRIPTORS 1024

/* The call of the C library's own, looked up once. */
#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) \
    real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static struct shim_file *files[DESCRIPTORS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool inside; /* the library's own calls go on to the C library */
static pid_t owner;               /* a child that has yet to call exec, in its parent's memory, has no drive */

static bool enter(void)
{
    if (inside || !getenv("SATED_SIM_EXEC"))
        return false;
    pthread_mutex_lock(&lock);
    inside = true;
    return true;
}

static void leave(void)
{
    inside = false;
    pthread_mutex_unlock(&lock);
}

static int fail(int64_t error)
{
    errno = (int)-error;
    return -1;
}

static struct shim_file *file_of(int fd)
{
    return fd >= 0 && fd < DESCRIPTORS && owner == getpid() ? files[fd] : NULL;
}

/* The same, to do something with it until leave(). Return: NULL where it is none of ours. */
static struct shim_file *enter_file(int fd)
{
    if (!file_of(fd) || !enter())
        return NULL;
    struct shim_file *f = file_of(fd);
    if (!f) /* another thread has closed it meanwhile */
        leave();
    return f;
}

static void keep(int fd, struct shim_file *f)
{
    files[fd] = f;
    f->descriptors++;
}

/* A descriptor that is only a number: reading from it by a call that is not interposed gives nothing. */
static int number(int flags)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | (flags & O_CLOEXEC));
    if (fd >= DESCRIPTORS) {
        syscall(SYS_close, fd);
        errno = EMFILE;
        return -1;
    }
    return fd;
}

static int64_t open_node(struct shim_node node, int flags)
{
    if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
        return -EEXIST;
    int rc = shim_use();
    if (rc)
        return rc;
    owner = getpid();
    rc = shim_find(&node);
    struct shim_file *f = rc ? NULL : calloc(1, sizeof *f);
    int fd = f ? number(flags) : -1;
    if (fd < 0) {
        rc = rc ? rc : -errno;
        free(f);
        shim_release();
        return rc;
    }
    *f = (struct shim_file){.node = node, .flags = flags};
    keep(fd, f);
    return fd;
}

/* Return: whether the path was that of a node; *out is then what open() returns, and errno is set. */
static bool try_open(const char *path, int flags, int *out)
{
    struct shim_node node;
    if (!shim_path(path, &node) || !enter())
        return false;
    int64_t rc = open_node(node, flags);
    leave();
    *out = rc < 0 ? fail(rc) : (int)rc;
    return true;
}

/* ---- open ---- */

#define MODE_OF(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | __O_TMPFILE)) { \
        va_list list; \
        va_start(list, flags); \
        mode = va_arg(list, mode_t); \
        va_end(list); \
    }

EXPORT int open(const char *path, int flags, ...)
{
    int fd;
    MODE_OF(flags);
    REAL(open);
    return try_open(path, flags, &fd) ? fd : real(path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...)
{
    int fd;
    MODE_OF(flags);
    REAL(open64);
    return try_open(path, flags, &fd) ? fd : real(path, flags, mode);
}

EXPORT int openat(int folder, const char *path, int flags, ...)
{
    int fd;
    MODE_OF(flags);
    REAL(openat);
    return try_open(path, flags, &fd) ? fd : real(folder, path, flags, mode);
}

EXPORT int openat64(int folder, const char *path, int flags, ...)
{
    int fd;
    MODE_OF(flags);
    REAL(openat64);
    return try_open(path, flags, &fd) ? fd : real(folder, path, flags, mode);
}

/* Of the checked forms, which take no mode. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

EXPORT int __open_2(const char *path, int flags)
{
    return open(path, flags);
}

EXPORT int __open64_2(const char *path, int flags)
{
    return open64(path, flags);
}

/* ---- close and duplicates ---- */

static void drop(int fd)
{
    struct shim_file *f = files[fd];
    files[fd] = NULL;
    if (--f->descriptors)
        return;
    free(f);
    shim_release();
}

EXPORT int close(int fd)
{
    REAL(close);
    if (enter_file(fd)) {
        drop(fd);
        leave();
    }
    return real(fd);
}

/* Return: `to`, which now stands for what `from` does. */
static int duplicated(int from, int to)
{
    if (to < 0 || to >= DESCRIPTORS || to == from || !(file_of(from) || file_of(to)) || !enter())
        return to;
    if (file_of(to))
        drop(to);
    if (file_of(from))
        keep(to, files[from]);
    leave();
    return to;
}

EXPORT int dup(int fd)
{
    REAL(dup);
    return duplicated(fd, real(fd));
}

EXPORT int dup2(int fd, int to)
{
    REAL(dup2);
    return duplicated(fd, real(fd, to));
}

EXPORT int dup3(int fd, int to, int flags)
{
    REAL(dup3);
    return duplicated(fd, real(fd, to, flags));
}

static int control(int fd, int command, void *argument, int (*real)(int, int, ...))
{
    struct shim_file *f = file_of(fd);
    if (f && command == F_GETFL)
        return f->flags & (O_ACCMODE | O_NONBLOCK | O_APPEND | O_DIRECT | O_SYNC);
    if (f && command == F_SETFL)
        return 0;
    int rc = real(fd, command, argument);
    return f && (command == F_DUPFD || command == F_DUPFD_CLOEXEC) ? duplicated(fd, rc) : rc;
}

#define ARGUMENT_BEHIND(last) \
    va_list list; \
    va_start(list, last); \
    void *argument = va_arg(list, void *); \
    va_end(list)

EXPORT int fcntl(int fd, int command, ...)
{
    ARGUMENT_BEHIND(command);
    REAL(fcntl);
    return control(fd, command, argument, real);
}

EXPORT int fcntl64(int fd, int command, ...)
{
    ARGUMENT_BEHIND(command);
    REAL(fcntl64);
    return control(fd, command, argument, real);
}

/* ---- ioctl ---- */

EXPORT int ioctl(int fd, unsigned long request, ...)
{
    ARGUMENT_BEHIND(request);
    REAL(ioctl);
    struct shim_file *f = enter_file(fd);
    if (!f)
        return real(fd, request, argument);
    int rc = shim_ioctl(f, request, argument);
    leave();
    return rc < 0 ? fail(rc) : rc;
}

/* ---- read and write ---- */

enum way { READ, WRITE };

/* Return: whether it was a node's; *out is then what the call returns. @param at -1: where the file stands. */
static bool try_move(int fd, enum way way, void *data, size_t bytes, int64_t at, ssize_t *out)
{
    struct shim_file *f = enter_file(fd);
    if (!f)
        return false;
    int64_t rc = -EBADF;
    bool allowed = (f->flags & O_ACCMODE) == O_RDWR || (f->flags & O_ACCMODE) == (way == READ ? O_RDONLY : O_WRONLY);
    if (allowed && at < -1)
        rc = -EINVAL;
    else if (allowed)
        rc = way == READ ? shim_read(f, data, bytes, (uint64_t)(at < 0 ? f->at : at))
                         : shim_write(f, data, bytes, (uint64_t)(at < 0 ? f->at : at));
    if (rc > 0 && at < 0)
        f->at += rc;
    if (rc > 0 && way == WRITE && f->flags & O_DSYNC && shim_flush(f))
        rc = -EIO;
    leave();
    *out = rc < 0 ? fail(rc) : (ssize_t)rc;
    return true;
}

EXPORT ssize_t read(int fd, void *data, size_t bytes)
{
    ssize_t n;
    REAL(read);
    return try_move(fd, READ, data, bytes, -1, &n) ? n : real(fd, data, bytes);
}

EXPORT ssize_t write(int fd, const void *data, size_t bytes)
{
    ssize_t n;
    REAL(write);
    return try_move(fd, WRITE, (void *)(uintptr_t)data, bytes, -1, &n) ? n : real(fd, data, bytes);
}

static int64_t offset_of(off_t at)
{
    return at < 0 ? INT64_MIN : at; /* -1 means something else above */
}

EXPORT ssize_t pread(int fd, void *data, size_t bytes, off_t at)
{
    ssize_t n;
    REAL(pread);
    return try_move(fd, READ, data, bytes, offset_of(at), &n) ? n : real(fd, data, bytes, at);
}

EXPORT ssize_t pread64(int fd, void *data, size_t bytes, off64_t at)
{
    ssize_t n;
    REAL(pread64);
    return try_move(fd, READ, data, bytes, offset_of(at), &n) ? n : real(fd, data, bytes, at);
}

EXPORT ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at)
{
    ssize_t n;
    REAL(pwrite);
    return try_move(fd, WRITE, (void *)(uintptr_t)data, bytes, offset_of(at), &n) ? n : real(fd, data, bytes, at);
}

EXPORT ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t at)
{
    ssize_t n;
    REAL(pwrite64);
    return try_move(fd, WRITE, (void *)(uintptr_t)data, bytes, offset_of(at), &n) ? n : real(fd, data, bytes, at);
}

static ssize_t move_vector(int fd, enum way way, const struct iovec *v, int n)
{
    ssize_t done = 0, moved;
    for (int i = 0; i < n; i++) {
        if (!try_move(fd, way, v[i].iov_base, v[i].iov_len, -1, &moved))
            return fail(-EBADF);
        if (moved < 0)
            return done ? done : moved;
        done += moved;
        if ((size_t)moved < v[i].iov_len)
            break;
    }
    return done;
}

EXPORT ssize_t readv(int fd, const struct iovec *v, int n)
{
    REAL(readv);
    return file_of(fd) && !inside ? move_vector(fd, READ, v, n) : real(fd, v, n);
}

EXPORT ssize_t writev(int fd, const struct iovec *v, int n)
{
    REAL(writev);
    return file_of(fd) && !inside ? move_vector(fd, WRITE, v, n) : real(fd, v, n);
}

static bool try_seek(int fd, int64_t offset, int whence, int64_t *out)
{
    struct shim_file *f = enter_file(fd);
    uint64_t size = 0;
    uint32_t block;
    int64_t to;
    if (!f)
        return false;
    bool block_device = f->node.kind == SHIM_BLOCK || f->node.kind == SHIM_NAMESPACE;
    int64_t rc = block_device ? shim_size(&f->node, &size, &block) : -ESPIPE;
    int64_t from = whence == SEEK_CUR ? f->at : whence == SEEK_END ? (int64_t)size : 0;
    if (!rc)
        rc = whence < 0 || whence > SEEK_END || __builtin_add_overflow(from, offset, &to) || to < 0 ? -EINVAL
                                                                                                    : (f->at = to);
    leave();
    *out = rc < 0 ? fail(rc) : rc;
    return true;
}

EXPORT off_t lseek(int fd, off_t offset, int whence)
{
    int64_t at;
    REAL(lseek);
    return try_seek(fd, offset, whence, &at) ? at : real(fd, offset, whence);
}

EXPORT off64_t lseek64(int fd, off64_t offset, int whence)
{
    int64_t at;
    REAL(lseek64);
    return try_seek(fd, offset, whence, &at) ? at : real(fd, offset, whence);
}

static bool try_flush(int fd, int *out)
{
    struct shim_file *f = enter_file(fd);
    if (!f)
        return false;
    int rc = shim_flush(f);
    leave();
    *out = rc ? fail(rc) : 0;
    return true;
}

EXPORT int fsync(int fd)
{
    int rc;
    REAL(fsync);
    return try_flush(fd, &rc) ? rc : real(fd);
}

EXPORT int fdatasync(int fd)
{
    int rc;
    REAL(fdatasync);
    return try_flush(fd, &rc) ? rc : real(fd);
}

/* ---- stat and its kin ---- */

static bool try_stat(const char *path, struct stat *st, int *out)
{
    struct shim_node node;
    if (!shim_path(path, &node) || !enter())
        return false;
    int rc = shim_use();
    if (!rc) {
        rc = shim_find(&node);
        shim_release();
    }
    leave();
    if (!rc)
        shim_stat(&node, st);
    *out = rc ? fail(rc) : 0;
    return true;
}

static bool try_fstat(int fd, struct stat *st)
{
    struct shim_file *f = file_of(fd);
    if (!f || inside)
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
    return rc || !(mode & X_OK) ? rc : fail(-EACCES);
}

EXPORT int faccessat(int folder, const char *path, int mode, int flags)
{
    struct shim_node node;
    REAL(faccessat);
    return shim_path(path, &node) && !inside ? access(path, mode) : real(folder, path, mode, flags);
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
    return shim_path(path, &node) && !inside ? fail(-EINVAL) : real(path, out, bytes);
}

/* ---- Time ---- */

/* Sleeping is the drive's: false where that failed, and the process sleeps itself. */
static bool try_sleep(int64_t ns)
{
    if (ns <= 0 || !enter())
        return false;
    int rc = shim_sleep(ns);
    leave();
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

/* ---- Forks and the end ---- */

static void before_fork(void)
{
    if (!inside)
        pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    if (!inside)
        pthread_mutex_unlock(&lock);
}

/* A forked child has copies of the drive and of its nodes, and neither: it opens them anew, as any other process. */
static void in_child(void)
{
    bool was_inside = inside;
    inside = true;
    memset(files, 0, sizeof files);
    shim_forget();
    inside = was_inside;
    after_fork();
}

__attribute__((constructor)) static void begin(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}

/* An orderly end gives the drive back; any other is a cut of its power. */
static void end(void)
{
    if (owner != getpid() || !enter())
        return;
    memset(files, 0, sizeof files); /* what is still called afterwards finds none of its nodes */
    shim_end();
    leave();
}

__attribute__((destructor)) static void finish(void)
{
    end();
}

EXPORT void _exit(int status)
{
    end();
    for (;;)
        syscall(SYS_exit_group, status);
}

EXPORT void _Exit(int status)
{
    _exit(status);
}
