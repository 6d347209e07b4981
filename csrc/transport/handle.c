/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* O_DIRECT */
#include "transport/handle.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/error.h"
#include "core/retry.h"
#include "sim/sim.h"
#include "transport/node.h"
#include "transport/simulated.h"
#include "transport/use.h"

#define ONLY_FILES "this version writes only to files and simulated drives"

static bool is_opened(const struct sated_drive *d, const struct stat *st)
{
    if (d->kind == HANDLE_COMMANDS)
        return S_ISCHR(st->st_mode) && st->st_rdev == d->device;
    return d->kind == HANDLE_BLOCK ? S_ISBLK(st->st_mode) && st->st_rdev == d->device
                                   : S_ISREG(st->st_mode) && st->st_dev == d->device && st->st_ino == d->inode;
}

static int not_same(const struct sated_drive *d)
{
    return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                     "%s: is no longer what was opened (removed or replaced since); look at it, then open it anew",
                     d->path);
}

int handle_check_same(const struct sated_drive *d)
{
    struct stat st;
    bool placeless = d->kind == HANDLE_SIMULATED || d->kind == HANDLE_REPLAY || d->kind == HANDLE_CALLBACK;
    return placeless || (stat(d->path, &st) == 0 && is_opened(d, &st)) ? 0 : not_same(d);
}

/* Opens once more what the handle stands for. It is never opened by its path: a block device could have taken that, and
 * opening one for writing is more than nothing. */
static int reopen(const struct sated_drive *d, int flags, int *out)
{
    struct stat st;
    int rc = handle_check_same(d);
    if (rc)
        return rc;
    if (d->kind == HANDLE_FILE && fstat(d->fd, &st) == 0 && (uint64_t)st.st_size < d->identity.native_capacity_bytes)
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                         "%s: has become shorter since it was opened, %lld bytes instead of %" PRIu64
                         "; look at it, then open it anew",
                         d->path, (long long)st.st_size, d->identity.native_capacity_bytes);
    int fd = node_reopen(d->fd, flags);
    if (fd < 0) {
        int error = errno;
        return error_set(-error, SATED_LAYER_DRIVE, "%s: cannot open it for %s: %s%s", d->path,
                         (flags & O_ACCMODE) == O_RDONLY ? "reading" : "writing", error_text(error),
                         error == ENOENT ? "; mount /proc" : "");
    }
    *out = fd;
    return 0;
}

int handle_need_blocks(const struct sated_drive *d, const char *what)
{
    if (d->kind != HANDLE_COMMANDS && d->kind != HANDLE_REPLAY && d->kind != HANDLE_CALLBACK)
        return 0;
    return error_set(
        SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
        "%s: %s is not possible: it takes single commands only; give the drive's block device, a file or a "
        "sim: drive",
        d->path, what);
}

int handle_need_permit(struct sated_drive *d, const char *what)
{
    int rc = handle_need_blocks(d, what);
    if (rc || d->permitted)
        return rc;
    if (d->kind == HANDLE_BLOCK)
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                         "%s: %s is refused: " ONLY_FILES "; give it a file (--create 1GiB) or a sim: drive, or let "
                         "the load only read",
                         d->path, what);
    if (d->created)
        return handle_grant(d);
    return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                     "%s: %s needs consent, which has not been given; type its token, %s, as confirm= (--confirm)",
                     d->path, what, d->path);
}

static int locked(const struct sated_drive *d)
{
    long holder = use_lock_holder(d->device, d->inode);
    if (holder == (long)getpid())
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                         "%s: locked by another handle of this very process (pid %ld); close that first", d->path,
                         holder);
    if (holder)
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                         "%s: locked by process %ld; wait until it has ended, or end it", d->path, holder);
    return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE, "%s: locked by another process; wait until it has ended",
                     d->path);
}

int handle_grant(struct sated_drive *d)
{
    if (d->kind == HANDLE_BLOCK)
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                         "%s: " ONLY_FILES "; block devices are opened for reading", d->path);
    if (d->permitted)
        return 0;
    int fd, rc = reopen(d, O_RDWR, &fd);
    if (rc)
        return rc;
    if (RETRY(flock(fd, LOCK_EX | LOCK_NB))) {
        int error = errno;
        close(fd);
        return error == EWOULDBLOCK
                   ? locked(d)
                   : error_set(-error, SATED_LAYER_DRIVE, "%s: cannot be locked: %s", d->path, error_text(error));
    }
    d->write_fd = fd;
    d->permitted = true;
    return 0;
}

int handle_lend(struct sated_drive *d, bool writing, bool *direct, uint32_t *alignment, int *fd)
{
    bool wanted = *direct;
    int rc;
    *fd = -1;
    *direct = false;
    *alignment = 512;
    if (d->kind == HANDLE_SIMULATED)
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                         "%s: a simulated drive has no descriptor; use the simulated engine", d->path);
    rc = writing ? handle_need_permit(d, "writing") : handle_need_blocks(d, "reading");
    if (rc)
        return rc;
    int flags = writing ? O_RDWR : O_RDONLY;
    rc = -EINVAL;
    if (wanted && d->direct) {
        rc = reopen(d, flags | O_DIRECT, fd);
        *direct = rc == 0;
    }
    if (rc == -EINVAL) /* open(2): the file system has no direct I/O */
        rc = reopen(d, flags, fd);
    if (!rc && *direct)
        *alignment = d->alignment;
    return rc;
}

void handle_return(int fd)
{
    if (fd >= 0)
        close(fd);
}

int64_t handle_now_ns(struct sated_drive *d)
{
    if (d->kind == HANDLE_REPLAY)
        return d->replay_ns;
    return d->kind == HANDLE_SIMULATED ? sim_now_ns(d->sim) * (int64_t)sim_scale(d->sim) : clock_now_ns();
}

int64_t sated_drive_now_ns(struct sated_drive *d)
{
    return handle_now_ns(d);
}

int sated_drive_sleep(struct sated_drive *d, int64_t ns)
{
    int64_t end;
    if (ns < 0 || __builtin_add_overflow(handle_now_ns(d), ns, &end))
        return error_set(-EINVAL, SATED_LAYER_ARGUMENT,
                         "%s: cannot be left idle for %" PRId64 " ns; give 0 or more, and less than 292 years in all",
                         d->path, ns);
    if (d->kind == HANDLE_REPLAY) {
        d->replay_ns = end;
        return 0;
    }
    if (d->kind != HANDLE_SIMULATED) {
        clock_sleep_until_ns(end);
        return 0;
    }
    if (d->load)
        return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                         "%s: cannot be left idle while a load runs on it; wait for the load first", d->path);
    simulated_idle(d, end);
    return 0;
}
