/* SPDX-License-Identifier: MIT */
/* Lets unmodified tools talk to a simulated drive: preloaded, it takes the place of the C library's calls that reach
 * device nodes. A path that is none of the drive's nodes, and a descriptor that is none of theirs, goes on to the C
 * library. `sated sim exec` sets it up. */
#include "tools/shim_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define DESCRIPTORS 1024

static struct shim_file *files[DESCRIPTORS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool inside; /* the library's own calls go on to the C library */
/* A call that succeeds leaves errno as it is: libnvme looks at it after an ioctl. */
static _Thread_local int errno_before;
static pid_t owner;    /* a child that has yet to call exec, in its parent's memory, has no drive */
static uint32_t nodes; /* that are open */
static bool forked;    /* there may be children that want the drive */

bool shim_enter(void)
{
    if (inside || !getenv("SATED_SIM_EXEC"))
        return false;
    pthread_mutex_lock(&lock);
    inside = true;
    errno_before = errno;
    return true;
}

void shim_leave(void)
{
    shim_stay(nodes && !forked);
    inside = false;
    errno = errno_before;
    pthread_mutex_unlock(&lock);
}

bool shim_inside(void)
{
    return inside;
}

int shim_fail(int64_t error)
{
    errno = (int)-error;
    return -1;
}

struct shim_file *shim_file_of(int fd)
{
    return fd >= 0 && fd < DESCRIPTORS && owner == getpid() ? files[fd] : NULL;
}

/* The same, to do something with it until shim_leave(). Return: NULL where it is none of ours. */
static struct shim_file *enter_file(int fd)
{
    if (!shim_file_of(fd) || !shim_enter())
        return NULL;
    struct shim_file *f = shim_file_of(fd);
    if (!f) /* another thread has closed it meanwhile */
        shim_leave();
    return f;
}

/* As enter_file, with the drive in use until leave_drive(). @param rc receives 0, or why it cannot be used. */
static struct shim_file *enter_drive(int fd, int *rc)
{
    struct shim_file *f = enter_file(fd);
    *rc = f ? shim_use() : 0;
    return f;
}

static void leave_drive(int rc)
{
    if (!rc)
        shim_release();
    shim_leave();
}

static void keep(int fd, struct shim_file *f)
{
    files[fd] = f;
    f->descriptors++;
}

/* A descriptor that is only a number: calls that are not interposed, and programs that inherit it, get EBADF. */
static int number(int flags)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_PATH | (flags & O_CLOEXEC));
    if (fd >= DESCRIPTORS) {
        syscall(SYS_close, fd);
        errno = EMFILE;
        return -1;
    }
    return fd;
}

static void drop(int fd)
{
    struct shim_file *f = files[fd];
    files[fd] = NULL;
    if (--f->descriptors)
        return;
    free(f);
    nodes--;
}

/* The C library closed a node's descriptor by itself, as fclose() does, and the number stands for something else now. */
static int fresh(int fd)
{
    if (enter_file(fd)) {
        drop(fd);
        shim_leave();
    }
    return fd;
}

static int64_t open_node(struct shim_node node, int flags)
{
    if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
        return -EEXIST;
    if (flags & O_DIRECTORY)
        return -ENOTDIR;
    int rc = shim_use();
    if (rc)
        return rc;
    rc = shim_find(&node);
    shim_release();
    if (rc)
        return rc;
    owner = getpid();
    struct shim_file *f = calloc(1, sizeof *f);
    int fd = f ? number(flags) : -1;
    if (fd < 0) {
        rc = f ? -errno : -ENOMEM;
        free(f);
        return rc;
    }
    *f = (struct shim_file){.node = node, .flags = flags};
    if (files[fd])
        drop(fd);
    keep(fd, f);
    nodes++;
    return fd;
}

bool shim_try_open(const char *path, int flags, int *out)
{
    struct shim_node node;
    if (!shim_path(path, &node) || !shim_enter())
        return false;
    int64_t rc = open_node(node, flags);
    shim_leave();
    *out = rc < 0 ? shim_fail(rc) : (int)rc;
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
    return shim_try_open(path, flags, &fd) ? fd : fresh(real(path, flags, mode));
}

EXPORT int open64(const char *path, int flags, ...)
{
    int fd;
    MODE_OF(flags);
    REAL(open64);
    return shim_try_open(path, flags, &fd) ? fd : fresh(real(path, flags, mode));
}

EXPORT int openat(int folder, const char *path, int flags, ...)
{
    int fd;
    MODE_OF(flags);
    REAL(openat);
    return shim_try_open(path, flags, &fd) ? fd : fresh(real(folder, path, flags, mode));
}

EXPORT int openat64(int folder, const char *path, int flags, ...)
{
    int fd;
    MODE_OF(flags);
    REAL(openat64);
    return shim_try_open(path, flags, &fd) ? fd : fresh(real(folder, path, flags, mode));
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

EXPORT int close(int fd)
{
    REAL(close);
    if (enter_file(fd)) {
        drop(fd);
        shim_leave();
    }
    return real(fd);
}

/* Return: `to`, which now stands for what `from` does. */
static int duplicated(int from, int to)
{
    if (to < 0 || to >= DESCRIPTORS || to == from || !(shim_file_of(from) || shim_file_of(to)) || !shim_enter())
        return to;
    if (shim_file_of(to))
        drop(to);
    if (shim_file_of(from))
        keep(to, files[from]);
    shim_leave();
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
    struct shim_file *f = shim_file_of(fd);
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
    int unusable;
    struct shim_file *f = enter_drive(fd, &unusable);
    if (!f)
        return real(fd, request, argument);
    int rc = unusable ? unusable : shim_ioctl(f, request, argument);
    leave_drive(unusable);
    return rc < 0 ? shim_fail(rc) : rc;
}

/* ---- read and write ---- */

enum way { READ, WRITE };

/* Return: whether it was a node's; *out is then what the call returns. @param at -1: where the file stands. */
static bool try_move(int fd, enum way way, void *data, size_t bytes, int64_t at, ssize_t *out)
{
    int unusable;
    struct shim_file *f = enter_drive(fd, &unusable);
    if (!f)
        return false;
    int64_t rc = unusable;
    bool allowed = (f->flags & O_ACCMODE) == O_RDWR || (f->flags & O_ACCMODE) == (way == READ ? O_RDONLY : O_WRONLY);
    uint64_t from = (uint64_t)(at < 0 ? f->at : at);
    if (!rc)
        rc = !allowed ? -EBADF : at < -1 ? -EINVAL : 0;
    if (!rc)
        rc = way == READ ? shim_read(f, data, bytes, from) : shim_write(f, data, bytes, from);
    if (rc > 0 && at < 0)
        f->at += rc;
    if (rc > 0 && way == WRITE && f->flags & O_DSYNC && shim_flush(f))
        rc = -EIO;
    leave_drive(unusable);
    *out = rc < 0 ? shim_fail(rc) : (ssize_t)rc;
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

static ssize_t move_vector(int fd, enum way way, const struct iovec *v, int n, int64_t at)
{
    ssize_t done = 0, moved;
    for (int i = 0; i < n; i++) {
        if (!try_move(fd, way, v[i].iov_base, v[i].iov_len, at < 0 ? at : at + done, &moved))
            return shim_fail(-EBADF);
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
    return shim_file_of(fd) && !inside ? move_vector(fd, READ, v, n, -1) : real(fd, v, n);
}

EXPORT ssize_t writev(int fd, const struct iovec *v, int n)
{
    REAL(writev);
    return shim_file_of(fd) && !inside ? move_vector(fd, WRITE, v, n, -1) : real(fd, v, n);
}

#define MOVE_VECTOR(name, way) \
    EXPORT ssize_t name(int fd, const struct iovec *v, int n, off_t at) \
    { \
        REAL(name); \
        return shim_file_of(fd) && !inside ? move_vector(fd, way, v, n, offset_of(at)) : real(fd, v, n, at); \
    }
MOVE_VECTOR(preadv, READ)
MOVE_VECTOR(preadv64, READ)
MOVE_VECTOR(pwritev, WRITE)
MOVE_VECTOR(pwritev64, WRITE)

#define MOVE_VECTOR_2(name, way) \
    EXPORT ssize_t name(int fd, const struct iovec *v, int n, off_t at, int flags) \
    { \
        REAL(name); \
        int64_t from = at == -1 ? -1 : offset_of(at); \
        return shim_file_of(fd) && !inside ? move_vector(fd, way, v, n, from) : real(fd, v, n, at, flags); \
    }
MOVE_VECTOR_2(preadv2, READ)
MOVE_VECTOR_2(preadv64v2, READ)
MOVE_VECTOR_2(pwritev2, WRITE)
MOVE_VECTOR_2(pwritev64v2, WRITE)

static bool try_seek(int fd, int64_t offset, int whence, int64_t *out)
{
    uint64_t size = 0;
    uint32_t block;
    int64_t to;
    int unusable;
    struct shim_file *f = enter_drive(fd, &unusable);
    if (!f)
        return false;
    int64_t rc = unusable ? unusable : shim_has_blocks(&f->node) ? shim_size(&f->node, &size, &block) : -ESPIPE;
    int64_t from = whence == SEEK_CUR ? f->at : whence == SEEK_END ? (int64_t)size : 0;
    if (!rc && (whence < 0 || whence > SEEK_END || __builtin_add_overflow(from, offset, &to) || to < 0))
        rc = -EINVAL;
    if (!rc)
        rc = f->at = to;
    leave_drive(unusable);
    *out = rc < 0 ? shim_fail(rc) : rc;
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
    int unusable;
    struct shim_file *f = enter_drive(fd, &unusable);
    if (!f)
        return false;
    int rc = unusable ? unusable : shim_flush(f);
    leave_drive(unusable);
    *out = rc ? shim_fail(rc) : 0;
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

/* ---- Forks and the end ---- */

/* The drive is given back before, so that neither has a copy of what the other changes. */
static void before_fork(void)
{
    if (inside)
        return;
    pthread_mutex_lock(&lock);
    inside = true;
    forked = true;
    shim_stay(false);
}

static void after_fork(void)
{
    inside = false;
    pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
    if (owner)
        owner = getpid();
    after_fork();
}

__attribute__((constructor)) static void begin(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}

/* An orderly end gives the drive back; any other is a cut of its power. */
static void end(void)
{
    if (owner != getpid() || !shim_enter())
        return;
    memset(files, 0, sizeof files); /* what is still called afterwards finds none of its nodes */
    nodes = 0;
    shim_leave();
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
