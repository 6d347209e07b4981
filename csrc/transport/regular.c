/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* O_DIRECT, fallocate, statx, SEEK_DATA */
#include "transport/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"
#include "core/file.h"
#include "core/retry.h"
#include "transport/node.h"

#define BLOCK 4096

#ifndef STATX_DIOALIGN /* Linux 6.1 */
#define STATX_DIOALIGN 0x2000U
#endif
#ifndef STATX_ATTR_IMMUTABLE
#define STATX_ATTR_IMMUTABLE 0x10
#define STATX_ATTR_APPEND 0x20
#endif

static int reserve(int fd, uint64_t bytes, bool *sparse)
{
    *sparse = false;
    /* Not posix_fallocate: where the file system has no blocks to reserve, glibc would write to each of them. */
    int rc = RETRY(fallocate(fd, 0, 0, (off_t)bytes));
    if (rc && (errno == EOPNOTSUPP || errno == ENOSYS)) {
        *sparse = true;
        rc = RETRY(ftruncate(fd, (off_t)bytes));
    }
    return rc ? errno : 0;
}

static bool same_file(int fd, const struct stat *other)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_dev == other->st_dev && st.st_ino == other->st_ino;
}

bool regular_is(const struct sated_drive *d, int fd)
{
    struct stat st;
    return d->kind == HANDLE_FILE && fstat(d->fd, &st) == 0 && same_file(fd, &st);
}

void regular_remove(const char *path, int fd)
{
    struct stat st;
    if (lstat(path, &st) == 0 && same_file(fd, &st))
        unlink(path);
}

int regular_create(const char *path, uint64_t bytes, bool *sparse, int *out)
{
    *out = -1;
    if (bytes < BLOCK || bytes % BLOCK || bytes > INT64_MAX)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "%s: cannot be made with %" PRIu64 " bytes; give a multiple of 4096, such as 1GiB", path,
                         bytes);
    int fd = file_open(path, O_RDWR | O_CREAT | O_EXCL, 0644);
    if (fd < 0 && errno == EEXIST)
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                         "%s: exists already, and create= only makes new files; give another name, remove it first, or "
                         "open it without create=",
                         path);
    if (fd < 0) {
        int error = errno;
        return error_set(-error, SATED_LAYER_DRIVE,
                         "%s: cannot make it: %s; check that its folder is there and that you may write to it", path,
                         error_text(error));
    }
    int error = reserve(fd, bytes, sparse);
    if (!error) {
        *out = fd;
        return 0;
    }
    regular_remove(path, fd);
    close(fd);
    return error_set(-error, SATED_LAYER_DRIVE, "%s: cannot make it with %" PRIu64 " bytes: %s; %s", path, bytes,
                     error_text(error),
                     error == ENOSPC || error == EDQUOT ? "free some space or make a smaller one"
                                                        : "choose another file system or make a smaller one");
}

/* What the file system says of direct I/O. Return: whether it says anything. */
static bool told_alignment(int fd, uint32_t *memory, uint32_t *offset)
{
    struct statx stx;
    memset(&stx, 0, sizeof stx);
    if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &stx) || !(stx.stx_mask & STATX_DIOALIGN))
        return false;
    /* By their place in the 256 bytes of statx(2), as C libraries older than Linux 6.1 have no names for them:
     * stx_dio_mem_align and stx_dio_offset_align. */
    memcpy(memory, (const char *)&stx + 152, sizeof *memory);
    memcpy(offset, (const char *)&stx + 156, sizeof *offset);
    return true;
}

static void find_direct(struct sated_drive *d)
{
    struct sated_identity *id = &d->identity;
    uint32_t memory = 0, offset = 0;
    bool told = told_alignment(d->fd, &memory, &offset);
    bool in_memory = !strcmp(id->model, "tmpfs") || !strcmp(id->model, "ramfs");
    int fd = node_reopen(d->fd, O_RDONLY | O_DIRECT);
    /* Some file systems take the flag and then go through the page cache all the same: they tell an alignment of 0. */
    d->direct = fd >= 0 && !(told && offset == 0);
    if (fd >= 0)
        close(fd);
    d->alignment = BLOCK;
    id->logical_block_bytes = id->physical_block_bytes = BLOCK;
    if (d->direct && told && offset <= BLOCK) {
        id->logical_block_bytes = offset < 512 ? 512 : offset;
        d->alignment = memory > id->logical_block_bytes && memory <= BLOCK ? memory : id->logical_block_bytes;
    }
    if (in_memory && !d->direct)
        snprintf(id->note, sizeof id->note, "%s: no direct I/O before Linux 6.6; results include the page cache",
                 id->model);
    else if (in_memory)
        snprintf(id->note, sizeof id->note, "%s: is the page cache itself; results are of memory, not of a drive",
                 id->model);
    else if (!d->direct)
        snprintf(id->note, sizeof id->note, "%s: no direct I/O on this file; results include the page cache",
                 id->model);
}

int regular_open(struct sated_drive *d)
{
    struct sated_identity *id = &d->identity;
    struct stat st;
    d->kind = HANDLE_FILE;
    d->fd = file_open(d->path, O_RDONLY | O_NONBLOCK, 0); /* not to hang where a pipe takes the name in between */
    if (d->fd < 0) {
        int error = errno;
        return error_set(-error, SATED_LAYER_DRIVE, "%s: cannot open it for reading: %s%s", d->path, error_text(error),
                         error == EACCES || error == EPERM ? "; check its permissions (ls -l)" : "");
    }
    if (fstat(d->fd, &st) || !S_ISREG(st.st_mode))
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                         "%s: became something else while it was opened; look at it, then try again", d->path);
    if (st.st_size == 0)
        return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                         "%s: is empty; remove it and use create= (--create 1GiB), which makes it with real blocks",
                         d->path);
    if (st.st_size < BLOCK)
        return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                         "%s: is too small with %lld bytes; at least 4096 are needed, see create= (--create 1GiB)",
                         d->path, (long long)st.st_size);
    d->device = st.st_dev;
    d->inode = st.st_ino;
    memset(id, 0, sizeof *id);
    id->flags = SATED_IDENTITY_FILE;
    id->scale = 1;
    id->capacity_bytes = id->native_capacity_bytes = (uint64_t)st.st_size / BLOCK * BLOCK;
    snprintf(id->vendor, sizeof id->vendor, "file");
    use_file_system(id->model, sizeof id->model, d->fd, st.st_dev);
    snprintf(id->transport, sizeof id->transport, "file");
    snprintf(id->path, sizeof id->path, "%s", d->path);
    find_direct(d);
    return 0;
}

/* Files by which a kernel tells and takes settings: what looks like 4 KiB of data may be a PCI device's registers. */
static bool is_of_kernel(const char *type)
{
    static const char *const types[] = {"sysfs",  "proc",    "debugfs",  "tracefs", "configfs",  "securityfs",
                                        "cgroup", "cgroup2", "efivarfs", "bpf",     "selinuxfs", "pstore"};
    bool is = false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        is |= !strcmp(types[i], type);
    return is;
}

void regular_obstacles(const struct sated_drive *d, struct use_report *r)
{
    struct statx stx;
    long pid;
    if (is_of_kernel(d->identity.model))
        use_add(r, "it holds no data, but settings of the kernel (%s); give a file on a disk", d->identity.model);
    if (faccessat(AT_FDCWD, d->path, W_OK, AT_EACCESS)) {
        int error = errno;
        if (error == EROFS)
            use_add(r, "its file system is mounted read-only; remount it, or take a file elsewhere");
        else
            use_add(r, "it may not be written to: %s; check its permissions (ls -l)", error_text(error));
    }
    if (use_is_locked(d->fd, &pid)) {
        if (pid > 0)
            use_add(r, "process %ld has a lock on it (fcntl); wait until it has ended, or end it", pid);
        else
            use_add(r, "a process has a lock on it (fcntl); find it with lsof, and end it");
    }
    memset(&stx, 0, sizeof stx);
    if (statx(d->fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stx))
        return;
    if (stx.stx_nlink > 1)
        use_add(r,
                "it has %u names (hard links), and under each of them the same data would be lost; remove the others",
                stx.stx_nlink);
    if (stx.stx_attributes & STATX_ATTR_IMMUTABLE)
        use_add(r, "it is immutable; chattr -i takes that away");
    if (stx.stx_attributes & STATX_ATTR_APPEND)
        use_add(r, "it can only be appended to; chattr -a takes that away");
}

int regular_deallocate(struct sated_drive *d)
{
    struct stat st;
    /* Up to beyond the end, as the block in which a file ends is only given back whole; the length is kept. */
    const off_t round = 1 << 20;
    if (fstat(d->write_fd, &st))
        return error_set(-errno, SATED_LAYER_DRIVE, "%s: cannot be looked at: %s", d->path, error_text(errno));
    int rc =
        RETRY(fallocate(d->write_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (st.st_size / round + 1) * round));
    if (rc && (errno == EOPNOTSUPP || errno == ENOSYS))
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                         "%s: %s cannot punch holes into files, so nothing here can erase it; go on without a purge, "
                         "or take a file on ext4, xfs, btrfs or tmpfs",
                         d->path, d->identity.model);
    if (rc || RETRY(fsync(d->write_fd))) {
        int error = errno;
        return error_set(-error, SATED_LAYER_DRIVE, "%s: giving back its blocks failed: %s; look into the kernel's log",
                         d->path, error_text(error));
    }
    return 0;
}

bool regular_holds_data(const struct sated_drive *d, uint64_t from)
{
    /* Where a file system cannot tell, the kernel answers that everything up to the end is data. */
    return !(lseek(d->fd, (off_t)from, SEEK_DATA) < 0 && errno == ENXIO);
}
