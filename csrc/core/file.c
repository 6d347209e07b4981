/* SPDX-License-Identifier: MIT */
#include "core/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
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
#include "core/retry.h"

#define CHUNK ((size_t)1 << 30) /* Linux moves at most 2 GiB - 4 KiB at once */
#define MORE_NAMES 100
#define LINKS_MAX 40 /* as the kernel follows */

int file_open(const char *path, int flags, mode_t mode)
{
    return RETRY(open(path, flags | O_CLOEXEC, mode));
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
    case EISDIR: return "; name a file in it";
    case EEXIST: return "; choose another name, or remove what is there";
    default: return "";
    }
}

static int fail(int error, const char *what, const char *path)
{
    return error_set(-error, SATED_LAYER_FILE, "%s: cannot %s: %s%s", path, what, error_text(error), advice(error));
}

int file_read(const char *path, void **data, size_t *bytes)
{
    *data = NULL;
    *bytes = 0;
    int fd =
        file_open(path, O_RDONLY | O_NONBLOCK, 0); /* a pipe that nobody writes to is refused below, not waited for */
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
        ssize_t n = RETRY(read(fd, buffer + used, want));
        if (n == 0)
            break;
        if (n > 0)
            used += (size_t)n;
        else
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
        ssize_t n = RETRY(write(fd, p, bytes < CHUNK ? bytes : CHUNK));
        if (n < 0)
            return errno;
        p += n;
        bytes -= (size_t)n;
    }
    return 0;
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
        int fd = file_open(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (fd >= 0 || errno != EEXIST) /* one that exists is what a killed process with our pid left behind */
            return fd;
    }
    return -1;
}

/* The folder that a path is in, and where in the path its name begins. */
static const char *folder_of(char folder[PATH_MAX], const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + (slash == path) : 0;
    memcpy(folder, n ? path : ".", n ? n : 1);
    folder[n ? n : 1] = '\0';
    return slash ? slash + 1 : path;
}

static int sync_folder_of(const char *path)
{
    char folder[PATH_MAX];
    folder_of(folder, path);
    int fd = file_open(folder, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return errno;
    int error = RETRY(fsync(fd)) ? errno : 0;
    close(fd);
    return error == EINVAL ? 0 : error; /* file systems that cannot sync a folder say EINVAL */
}

/* Where a path leads to, through links, also where nothing is yet. Return: 0 or an errno. */
static int find_real(char real[PATH_MAX], const char *path)
{
    char at[PATH_MAX], folder[PATH_MAX], target[PATH_MAX];
    if ((size_t)snprintf(at, sizeof at, "%s", path) >= sizeof at)
        return ENAMETOOLONG;
    for (int i = 0; i < LINKS_MAX; i++) {
        if (realpath(at, real))
            return 0;
        if (errno != ENOENT)
            return errno;
        const char *name = folder_of(folder, at);
        if (!*name)
            return ENOENT;
        ssize_t n = readlink(at, target, sizeof target - 1);
        if (n < 0) { /* a new file: its folder's real path, and its name */
            char in[PATH_MAX];
            if (!realpath(folder, in))
                return errno;
            bool top = !strcmp(in, "/");
            return (size_t)snprintf(real, PATH_MAX, "%s/%s", top ? "" : in, name) < PATH_MAX ? 0 : ENAMETOOLONG;
        }
        target[n] = '\0'; /* a link that leads to nothing yet */
        if ((size_t)snprintf(at, sizeof at, "%s%s%s", target[0] == '/' ? "" : folder, target[0] == '/' ? "" : "/",
                             target) >= sizeof at)
            return ENAMETOOLONG;
    }
    return ELOOP;
}

int file_real(const char *path, char **out)
{
    char real[PATH_MAX];
    int error = find_real(real, path);
    *out = error ? NULL : strdup(real);
    return *out ? 0 : fail(error ? error : ENOMEM, "find it", path);
}

int file_begins(const char *path, const void *with, size_t bytes)
{
    char begin[64];
    int fd = file_open(path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0)
        return errno == ENOENT ? 1 : fail(errno, "open it", path);
    ssize_t n = RETRY(pread(fd, begin, bytes < sizeof begin ? bytes : sizeof begin, 0));
    int error = n < 0 ? errno : 0;
    close(fd);
    return error ? fail(error, "read it", path) : n == 0 || (n == (ssize_t)bytes && !memcmp(begin, with, bytes));
}

/* Removes what killed processes left of earlier replacements of the same file: PATH.PID-N.new of pids that are gone. */
static void remove_stale(const char *path)
{
    char folder[PATH_MAX];
    const char *name = folder_of(folder, path);
    size_t n = strlen(name);
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        const char *rest = e->d_name + n;
        if (strncmp(e->d_name, name, n) || *rest++ != '.')
            continue;
        size_t digits = strspn(rest, "0123456789"),
               more = rest[digits] == '-' ? strspn(rest + digits + 1, "0123456789") : 0;
        long pid = digits && digits < 10 ? strtol(rest, NULL, 10) : 0;
        if (pid > 0 && more && !strcmp(rest + digits + 1 + more, ".new") && kill((pid_t)pid, 0) && errno == ESRCH)
            unlinkat(dirfd(dir), e->d_name, 0);
    }
    if (dir)
        closedir(dir);
}

static int write_parts(int fd, const struct file_part *parts, size_t n)
{
    int error = 0;
    for (size_t i = 0; i < n && !error; i++)
        error = write_all(fd, parts[i].data, parts[i].bytes);
    if (!error && RETRY(fsync(fd)))
        error = errno;
    if (close(fd) && !error && errno != EINTR)
        error = errno;
    return error;
}

int file_create(const char *path, const struct file_part *parts, size_t n)
{
    int fd = file_open(path, O_WRONLY | O_CREAT | O_EXCL, 0666); /* a link is refused as well, whatever it leads to */
    if (fd < 0)
        return fail(errno, "make it", path);
    int error = write_parts(fd, parts, n);
    if (error) {
        unlink(path);
        return fail(error, "write it", path);
    }
    error = sync_folder_of(path);
    return error ? fail(error, "sync the folder of it", path) : 0;
}

int file_replace(const char *path, const struct file_part *parts, size_t n)
{
    char real[PATH_MAX], beside[PATH_MAX];
    int error = find_real(real, path); /* a link is written through, not replaced */
    if (error)
        return fail(error, "write it", path);
    struct stat old;
    bool existed = stat(real, &old) == 0;
    if (existed && !S_ISREG(old.st_mode))
        return fail(S_ISDIR(old.st_mode) ? EISDIR : EINVAL, "write it", path);
    remove_stale(real);
    int fd = open_beside(real, beside, sizeof beside);
    if (fd < 0)
        return fail(errno, "write it", path);
    int mode_error = existed && fchmod(fd, old.st_mode & 07777) ? errno : 0;
    error = write_parts(fd, parts, n);
    error = mode_error ? mode_error : error;
    if (!error && rename(beside, real))
        error = errno;
    if (error) {
        unlink(beside);
        return fail(error, "write it", path);
    }
    error = sync_folder_of(real);
    return error ? fail(error, "sync the folder of it", path) : 0;
}

int file_patch(const char *path, uint64_t offset, const void *data, size_t bytes)
{
    int fd = file_open(path, O_WRONLY, 0);
    if (fd < 0)
        return fail(errno, "write it", path);
    ssize_t n = RETRY(pwrite(fd, data, bytes, (off_t)offset));
    int error = n < 0 ? errno : (size_t)n < bytes ? EIO : RETRY(fsync(fd)) ? errno : 0;
    if (close(fd) && !error && errno != EINTR)
        error = errno;
    return error ? fail(error, "write it", path) : 0;
}

int file_folder(const char *path, mode_t mode)
{
    char part[PATH_MAX];
    int error = strlen(path) < sizeof part ? 0 : ENAMETOOLONG;
    for (size_t n = strspn(path, "/"); !error && path[n]; n += strspn(path + n, "/")) {
        n += strcspn(path + n, "/");
        snprintf(part, sizeof part, "%.*s", (int)n, path);
        struct stat st;
        if (mkdir(part, mode))
            error = errno != EEXIST ? errno : stat(part, &st) ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    }
    return error ? fail(error, "make the folder", path) : 0;
}

int file_folder_check(const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return fail(errno, "look at the folder", path);
    if (st.st_uid && st.st_uid != geteuid())
        return error_set(SATED_UNSAFE, SATED_LAYER_FILE,
                         "%s: this folder belongs to another user (uid %ld), who could forge or remove what is kept "
                         "there; chown it to root or yourself, and chmod 700 it, or set SATED_STATE_DIR to one of your "
                         "own",
                         path, (long)st.st_uid);
    if (st.st_mode & S_IWOTH)
        return error_set(
            SATED_UNSAFE, SATED_LAYER_FILE,
            "%s: every user may write to this folder (mode %04o), and so could forge or remove what is kept "
            "there; chmod 700 it, or set SATED_STATE_DIR to one of your own",
            path, (unsigned)st.st_mode & 07777);
    return 0;
}

int file_remove(const char *path)
{
    if (unlink(path) && errno != ENOENT)
        return fail(errno, "remove it", path);
    int error = sync_folder_of(path);
    return error ? fail(error, "sync the folder of it", path) : 0;
}

struct file_lock {
    int fd;
    pid_t pid;
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

/* Whether a file is one that file_lock() made, or a new one: nothing of anybody else's is written to. */
static bool is_lock_file(int fd, const struct stat *st)
{
    char text[32] = "";
    if (!S_ISREG(st->st_mode) || st->st_nlink != 1 || st->st_size >= (off_t)sizeof text)
        return false;
    ssize_t n = RETRY(pread(fd, text, sizeof text - 1, 0));
    size_t digits = n > 0 ? strspn(text, "0123456789") : 0;
    return n == 0 || (digits && n == (ssize_t)digits + 1 && text[digits] == '\n');
}

static int not_a_lock(const char *path)
{
    return error_set(SATED_UNSAFE, SATED_LAYER_FILE,
                     "%s: cannot be locked: %s.lock is there and is no lock of ours; look at it, then move it away",
                     path, path);
}

/* Opens and locks PATH.lock. Return: the descriptor, or an error. */
static int take_lock(const char *lock, const char *path)
{
    for (;;) {
        int fd = file_open(lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0666);
        if (fd < 0)
            return errno == ELOOP ? not_a_lock(path) : fail(errno, "lock it", path);
        if (RETRY(flock(fd, LOCK_EX | LOCK_NB))) {
            int error = errno;
            if (error == EWOULDBLOCK)
                return refuse(fd, path);
            close(fd);
            return fail(error, "lock it", path);
        }
        /* Its last holder may have removed the file between our opening and locking it: then the lock is of no use. */
        struct stat ours, now;
        bool same =
            fstat(fd, &ours) == 0 && lstat(lock, &now) == 0 && ours.st_ino == now.st_ino && ours.st_dev == now.st_dev;
        if (same && is_lock_file(fd, &ours))
            return fd;
        close(fd);
        if (same)
            return not_a_lock(path);
    }
}

int file_lock(struct file_lock **out, const char *path)
{
    *out = NULL;
    size_t n = strlen(path) + sizeof ".lock";
    struct file_lock *l = malloc(sizeof *l + n);
    if (!l)
        return fail(ENOMEM, "lock it", path);
    snprintf(l->path, n, "%s.lock", path);
    l->fd = take_lock(l->path, path);
    if (l->fd < 0) {
        int rc = l->fd;
        free(l);
        return rc;
    }
    l->pid = getpid();
    char text[32];
    int length = snprintf(text, sizeof text, "%ld\n", (long)l->pid);
    int error = ftruncate(l->fd, 0) ? errno : write_all(l->fd, text, (size_t)length);
    if (error) {
        file_unlock(l);
        return fail(error, "lock it", path);
    }
    *out = l;
    return 0;
}

bool file_lock_is_ours(const struct file_lock *l)
{
    return l->pid == getpid();
}

void file_unlock(struct file_lock *l)
{
    if (!l)
        return;
    if (file_lock_is_ours(l))
        unlink(l->path); /* still locked, so that nobody else takes the name for free in between */
    close(l->fd);
    free(l);
}
