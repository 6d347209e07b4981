/* SPDX-License-Identifier: MIT */
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/error.h"

#define CHUNK ((size_t)1 << 30) /* Linux moves at most 2 GiB - 4 KiB at once */
#define MORE_NAMES 100

static int open_retry(const char *path, int flags, mode_t mode)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static const char *advice(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT: return "; free some space and try again";
    case EACCES:
    case EPERM: return "; check who owns the folder";
    case EROFS: return "; choose a folder on a file system that is writable";
    case ENOENT: return "; check the path";
    default: return "";
    }
}

static int fail(int error, const char *what, const char *path)
{
    return error_set(-error, SATED_LAYER_FILE, "%s: cannot %s: %s%s", path, what, strerror(error), advice(error));
}

int file_read(const char *path, void **data, size_t *bytes)
{
    *data = NULL;
    *bytes = 0;
    int fd = open_retry(path, O_RDONLY, 0);
    if (fd < 0)
        return fail(errno, "open it", path);
    struct stat st;
    int error = fstat(fd, &st) ? errno : S_ISREG(st.st_mode) ? 0 : S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    /* A byte more than the file has: it ends the text for those who read one, and shows growth. */
    size_t room = error ? 0 : (size_t)st.st_size + 1, used = 0;
    char *buffer = error ? NULL : malloc(room);
    if (!error && !buffer)
        error = ENOMEM;
    while (!error) {
        if (used == room) {
            char *more = room <= SIZE_MAX / 2 ? realloc(buffer, room * 2) : NULL;
            if (!more) {
                error = ENOMEM;
                break;
            }
            buffer = more;
            room *= 2;
        }
        size_t want = room - used < CHUNK ? room - used : CHUNK;
        ssize_t n = read(fd, buffer + used, want);
        if (n > 0)
            used += (size_t)n;
        else if (n == 0)
            break;
        else if (errno != EINTR)
            error = errno;
    }
    close(fd);
    if (error) {
        free(buffer);
        return fail(error, "read it", path);
    }
    buffer[used] = '\0';
    *data = buffer;
    *bytes = used;
    return 0;
}

static int write_all(int fd, const void *data, size_t bytes)
{
    const char *p = data;
    while (bytes > 0) {
        ssize_t n = write(fd, p, bytes < CHUNK ? bytes : CHUNK);
        if (n >= 0) {
            p += n;
            bytes -= (size_t)n;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

static int sync_retry(int fd)
{
    int rc;
    do
        rc = fsync(fd);
    while (rc && errno == EINTR);
    return rc ? errno : 0;
}

/* Makes a file beside `path` under a name that no other process and no other call of ours uses. */
static int open_beside(const char *path, char *name, size_t n)
{
    static atomic_uint serial;
    for (int i = 0; i < MORE_NAMES; i++) {
        unsigned number = atomic_fetch_add(&serial, 1);
        if ((size_t)snprintf(name, n, "%s.%ld-%u.new", path, (long)getpid(), number) >= n) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = open_retry(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (fd >= 0 || errno != EEXIST) /* one that exists is what a killed process with our pid left behind */
            return fd;
    }
    return -1;
}

static int sync_folder_of(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + (slash == path) : 0;
    memcpy(folder, n ? path : ".", n ? n : 1);
    folder[n ? n : 1] = '\0';
    int fd = open_retry(folder, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return errno;
    int error = sync_retry(fd);
    close(fd);
    return error == EINVAL ? 0 : error; /* file systems that cannot sync a folder say EINVAL */
}

int file_replace(const char *path, const struct file_part *parts, size_t n)
{
    char real[PATH_MAX], beside[PATH_MAX];
    if (!realpath(path, real)) { /* a link is written through, not replaced */
        if (errno != ENOENT)
            return fail(errno, "write it", path);
        if ((size_t)snprintf(real, sizeof real, "%s", path) >= sizeof real)
            return fail(ENAMETOOLONG, "write it", path);
    }
    struct stat old;
    bool existed = stat(real, &old) == 0;
    if (existed && !S_ISREG(old.st_mode))
        return fail(S_ISDIR(old.st_mode) ? EISDIR : EINVAL, "write it", path);
    int fd = open_beside(real, beside, sizeof beside);
    if (fd < 0)
        return fail(errno, "write it", path);
    int error = existed && fchmod(fd, old.st_mode & 07777) ? errno : 0;
    for (size_t i = 0; i < n && !error; i++)
        error = write_all(fd, parts[i].data, parts[i].bytes);
    if (!error)
        error = sync_retry(fd);
    if (close(fd) && !error && errno != EINTR)
        error = errno;
    if (!error && rename(beside, real))
        error = errno;
    if (error) {
        unlink(beside);
        return fail(error, "write it", path);
    }
    error = sync_folder_of(real);
    return error ? fail(error, "sync the folder of it", path) : 0;
}

struct file_lock {
    int fd;
    char path[];
};

/* The holder writes its pid right after it has the lock; a reader that comes in between waits a moment for it. */
static long holder_of(int fd)
{
    for (int i = 0; i < 50; i++) {
        char text[32] = "";
        ssize_t n = pread(fd, text, sizeof text - 1, 0);
        long pid = n > 0 ? strtol(text, NULL, 10) : 0;
        if (pid > 0)
            return pid;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return 0;
}

static int refuse(int fd, const char *path)
{
    long pid = holder_of(fd);
    close(fd);
    if (!pid)
        return error_set(-EBUSY, SATED_LAYER_FILE,
                         "%s: in use by another process, which holds %s.lock; wait until it has ended", path, path);
    if (pid == (long)getpid())
        return error_set(-EBUSY, SATED_LAYER_FILE,
                         "%s: in use by this very process (pid %ld); close the other handle first", path, pid);
    return error_set(-EBUSY, SATED_LAYER_FILE, "%s: in use by process %ld; wait until it has ended, or end it", path,
                     pid);
}

int file_lock(struct file_lock **out, const char *path)
{
    *out = NULL;
    size_t n = strlen(path) + sizeof ".lock";
    struct file_lock *l = malloc(sizeof *l + n);
    if (!l)
        return fail(ENOMEM, "lock it", path);
    snprintf(l->path, n, "%s.lock", path);
    for (;;) {
        l->fd = open_retry(l->path, O_RDWR | O_CREAT, 0666);
        if (l->fd < 0) {
            int error = errno;
            free(l);
            return fail(error, "lock it", path);
        }
        int rc;
        do
            rc = flock(l->fd, LOCK_EX | LOCK_NB);
        while (rc && errno == EINTR);
        if (rc) {
            int error = errno, fd = l->fd;
            free(l);
            if (error == EWOULDBLOCK)
                return refuse(fd, path);
            close(fd);
            return fail(error, "lock it", path);
        }
        /* Its last holder may have removed the file between our opening and locking it: then the lock is of no use. */
        struct stat ours, now;
        if (fstat(l->fd, &ours) == 0 && stat(l->path, &now) == 0 && ours.st_ino == now.st_ino &&
            ours.st_dev == now.st_dev)
            break;
        close(l->fd);
    }
    char text[32];
    int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    int error = ftruncate(l->fd, 0) ? errno : write_all(l->fd, text, (size_t)length);
    if (error) {
        file_unlock(l);
        return fail(error, "lock it", path);
    }
    *out = l;
    return 0;
}

void file_unlock(struct file_lock *l)
{
    if (!l)
        return;
    unlink(l->path); /* still locked, so that nobody else takes the name for free in between */
    close(l->fd);
    free(l);
}
