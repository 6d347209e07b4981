/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* O_DIRECT */
#include "transport/handle.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/error.h"
#include "core/retry.h"
#include "sim/sim.h"
#include "transport/calls.h"
#include "transport/hold.h"
#include "transport/node.h"
#include "transport/simulated.h"
#include "transport/use.h"

static _Thread_local const struct sated_drive *own; /* that this thread works for */

void handle_work_on(const struct sated_drive *d)
{
    own = d;
}

bool handle_is_busy(const struct sated_drive *d)
{
    return d->busy && own != d;
}

int handle_need_idle(const struct sated_drive *d, const char *what)
{
    static const char *const works[] = {
        [HANDLE_IDLE] = "nothing", [HANDLE_LOAD] = "a load", [HANDLE_PURGE] = "a purge"};
    return handle_is_busy(d)
               ? error_set(SATED_STATE, SATED_LAYER_DRIVE, "%s: %s while %s runs on it; wait for the end of that first",
                           d->path, what, works[d->busy])
               : 0;
}

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

int handle_need_own(const struct sated_drive *d)
{
    bool copied = d->kind == HANDLE_SIMULATED || d->kind == HANDLE_REPLAY; /* by the fork, with all there is of it */
    if (copied || d->opener == getpid())
        return 0;
    return error_set(
        SATED_STATE, SATED_LAYER_DRIVE,
        "%s: was opened by process %ld, of which this one (%ld) is a fork, and handles do not survive fork; "
        "open it again here",
        d->path, (long)d->opener, (long)getpid());
}

/* What is left of a drive whose namespace was detached: that the open controller is the one of that name still, and of
 * that drive. */
static int check_controller(const struct sated_drive *d)
{
    char serial[sizeof d->stamp.serial];
    char path[NODE_NAME + 8];
    struct stat opened, named;
    node_device_path(path, sizeof path, d->command_node);
    if (d->command_fd < 0 || calls.fstat(d->command_fd, &opened) || calls.stat(path, &named) ||
        opened.st_rdev != named.st_rdev || !S_ISCHR(named.st_mode) ||
        !node_text(serial, sizeof serial, "/sys/class/nvme/%s/serial", d->command_node) ||
        strcmp(serial, d->stamp.serial) != 0)
        return not_same(d);
    return hold_check(d);
}

int handle_check_same(const struct sated_drive *d)
{
    struct stat st;
    int rc = handle_need_own(d);
    if (rc || d->kind == HANDLE_SIMULATED || d->kind == HANDLE_REPLAY || d->kind == HANDLE_CALLBACK)
        return rc;
    if (d->detached)
        return check_controller(d);
    if (calls.stat(d->path, &st) || !is_opened(d, &st))
        return not_same(d);
    if (d->kind == HANDLE_BLOCK)
        rc = stamp_check(&d->stamp, d->path, d->node, d->device, d->fd);
    return rc ? rc : hold_check(d);
}

/* Opens once more what the handle stands for. It is never opened by its path: a block device could have taken that, and
 * opening one for writing is more than nothing. What is held for itself is shared so by the threads of a load. */
static int reopen(const struct sated_drive *d, int flags, int *out)
{
    char name[40];
    struct stat st;
    int rc = handle_check_same(d);
    if (rc)
        return rc;
    if (d->kind == HANDLE_FILE && fstat(d->fd, &st) == 0 && (uint64_t)st.st_size < d->identity.native_capacity_bytes)
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                         "%s: has become shorter since it was opened, %lld bytes instead of %" PRIu64
                         "; look at it, then open it anew",
                         d->path, (long long)st.st_size, d->identity.native_capacity_bytes);
    snprintf(name, sizeof name, "/proc/self/fd/%d", d->write_fd >= 0 ? d->write_fd : d->fd);
    int fd = calls.open(name, flags);
    if (fd < 0)
        return error_set(fd, SATED_LAYER_DRIVE, "%s: cannot open it for %s: %s%s", d->path,
                         (flags & O_ACCMODE) == O_RDONLY ? "reading" : "writing", error_text(-fd),
                         fd == -ENOENT ? "; mount /proc" : "");
    if (d->kind == HANDLE_BLOCK)
        rc = stamp_check(&d->stamp, d->path, d->node, d->device, fd);
    if (rc) {
        calls.close(fd);
        return rc;
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

int handle_need_permit(struct sated_drive *d, enum handle_scope scope, const char *what)
{
    int rc = handle_need_own(d);
    if (rc || (scope == HANDLE_DRIVE ? d->permitted_whole : d->permitted))
        return rc;
    if (d->created)
        return handle_grant(d, scope);
    if (d->tree)
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE, "%.300s: %s is refused: %.600s", d->path, what,
                         d->not_whole ? d->not_whole : "the guard has not passed it (sated_drive_permit)");
    if (d->permitted)
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                         "%.200s: %s reaches all of the device, and consent covers %.64s alone: %.600s", d->path, what,
                         d->node[0] ? d->node : "its blocks",
                         d->not_whole ? d->not_whole : "type the token of the whole device, SERIAL:all");
    const char *token = d->kind == HANDLE_FILE ? d->path : d->identity.token;
    return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                     "%.300s: %s needs consent, which has not been given; type its token%s%.300s, as confirm= "
                     "(--confirm)",
                     d->path, what, token[0] ? ", " : "", token);
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

int handle_grant(struct sated_drive *d, enum handle_scope scope)
{
    if (d->kind != HANDLE_FILE) {
        d->permitted = true;
        d->permitted_whole |= scope == HANDLE_DRIVE;
        return 0;
    }
    if (d->permitted)
        return 0;
    int fd, rc = reopen(d, O_RDWR, &fd);
    if (rc)
        return rc;
    if (RETRY(flock(fd, LOCK_EX | LOCK_NB))) {
        int error = errno;
        calls.close(fd);
        return error == EWOULDBLOCK ? locked(d)
                                    : error_set(-error, SATED_LAYER_DRIVE,
                                                "%s: cannot be locked: %s; move it to a file system that has flock(2)",
                                                d->path, error_text(error));
    }
    d->write_fd = fd;
    d->permitted = d->permitted_whole = true; /* of a file there is nothing else */
    return 0;
}

/* No lock keeps a file from becoming a loop device after the permit, with a file system on it that is mounted. */
static int check_beneath(const struct sated_drive *d)
{
    char reasons[600] = "";
    struct use_report r = {.text = reasons, .n = sizeof reasons};
    if (d->kind == HANDLE_FILE)
        use_of_file(&r, d->path, d->device, d->inode);
    else if (d->kind == HANDLE_BLOCK)
        use_beneath(&r, d->node);
    reasons[strcspn(reasons, "\n")] = '\0';
    return r.count ? error_set(SATED_UNSAFE, SATED_LAYER_DRIVE, "%.300s: may not be written to any more: %s", d->path,
                               reasons)
                   : 0;
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
    rc = handle_need_blocks(d, writing ? "writing" : "reading");
    if (!rc && writing)
        rc = handle_need_permit(d, HANDLE_BLOCKS, "writing");
    if (!rc && writing && d->interrupted)
        rc = handle_unfinished(d);
    if (!rc && writing)
        rc = check_beneath(d);
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
    calls.close(fd);
}

int handle_unfinished(const struct sated_drive *d)
{
    if (d->untold)
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                         "%.300s: may not be written to: nobody can tell whether an interrupted purge or change of its "
                         "capacity stands: %.600s",
                         d->path, d->untold);
    return error_set(
        SATED_UNSAFE, SATED_LAYER_DRIVE,
        "%s: may not be written to: a purge or a change of its capacity was interrupted and stands; finish "
        "it first (sated purge DRIVE --resume, sated capacity DRIVE --resume)",
        d->path);
}

uint32_t handle_namespace(const struct sated_drive *d)
{
    uint64_t nsid;
    if (d->node[0] && node_number(&nsid, "/sys/class/block/%s/nsid", d->node) && nsid && nsid < UINT32_MAX)
        return (uint32_t)nsid;
    return d->nsid ? d->nsid : 1;
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
    int rc = handle_need_idle(d, "it cannot be left idle");
    if (rc)
        return rc;
    int64_t scale = sim_scale(d->sim);
    return simulated_sleep(d, end / scale + (end % scale > 0)); /* not shorter than asked for */
}
