/* SPDX-License-Identifier: MIT */
/* What may be written to: files that were made for it, tokens, guards, locks, and whoever is faster than we are. */
#define _GNU_SOURCE 1
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "drives.h"
#include "transport/handle.h"
#include "transport/node.h"

static int no_blocks;          /* what fallocate fails with, 0 = it does not */
static const char *to_swap;    /* a file whose name is given to a link while it is made */
static const char *swap_for;   /* what that link leads to */
static struct stat foreign;    /* nobody's drive: it must not even be opened for writing */
static int opened_for_writing; /* times that it was */

static void swap(const char *path, const char *target)
{
    CHECK_EQ(unlink(path), 0);
    CHECK_EQ(symlink(target, path), 0);
}

/* These stand before libc's: a full disk, a file system that has no such thing, somebody who is faster than we are. */
int fallocate(int fd, int mode, off_t offset, off_t length)
{
    if (to_swap)
        swap(to_swap, swap_for);
    to_swap = NULL;
    if (no_blocks) {
        if (no_blocks == ENOSPC && !mode)
            CHECK_EQ(ftruncate(fd, length / 2), 0);
        errno = no_blocks;
        return -1;
    }
    return (int)syscall(SYS_fallocate, fd, mode, offset, length);
}

int open(const char *path, int flags, ...)
{
    struct stat st;
    va_list args;
    va_start(args, flags);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, flags & O_CREAT ? va_arg(args, mode_t) : 0);
    va_end(args);
    opened_for_writing += fd >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(fd, &st) == 0 &&
                          st.st_dev == foreign.st_dev && st.st_ino == foreign.st_ino;
    return fd;
}

static void test_create(void)
{
    struct sated_drive *d;
    struct sated_drive_options opt;
    struct stat st;
    sated_drive_options_init(&opt);
    opt.create_bytes = 4 * MIB;
    CHECK_EQ(sated_drive_open(&d, in("new"), &opt), 0);
    CHECK_EQ(d->identity.capacity_bytes, 4 * MIB);
    CHECK(stat(in("new"), &st) == 0 && st.st_size == (off_t)(4 * MIB));
    /* fallocate(2): real blocks, unless the note says that there are none. */
    CHECK((uint64_t)st.st_blocks * 512 >= 4 * MIB || strstr(d->identity.note, "sparse"));
    struct sated_guard guard;
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(guard.safe && !guard.needs_token);
    CHECK_EQ(sated_drive_permit(d, NULL), 0);
    sated_drive_close(d);

    REFUSED(open_code(in("new"), MIB), SATED_UNSAFE, "exists already");
    CHECK(stat(in("new"), &st) == 0 && st.st_size == (off_t)(4 * MIB));
    put_link(in("trap"), "elsewhere");
    REFUSED(open_code(in("trap"), MIB), SATED_UNSAFE, "exists already"); /* O_EXCL does not follow */
    REFUSED(open_code(in("odd-size"), MIB + 512), SATED_PARSE, "multiple of 4096");
    REFUSED(open_code(in("no/folder"), MIB), -ENOENT, "folder");
    CHECK(access(in("odd-size"), F_OK) != 0);

    /* Somebody gives the name to another file before it is opened: that one is not taken for ours. */
    make_file("foreign", MIB);
    CHECK_EQ(stat(in("foreign"), &foreign), 0);
    char *swapped = strdup(in("swapped"));
    to_swap = swapped;
    swap_for = "foreign";
    REFUSED(open_code(swapped, MIB), SATED_UNSAFE, "something else than the file that was made");
    unlink(swapped);
    to_swap = swapped;
    swap_for = "/dev/null";
    REFUSED(open_code(swapped, MIB), SATED_PARSE, "is a character device");
    CHECK(lstat(swapped, &st) == 0 && S_ISLNK(st.st_mode));
    free(swapped);
    CHECK(lstat(in("swapped"), &st) == 0 && S_ISLNK(st.st_mode)); /* nor removed */
    CHECK(stat(in("foreign"), &st) == 0 && st.st_size == (off_t)MIB);
    /* The same once it is open: lending and granting refuse, without opening what is there for writing. */
    CHECK_EQ(sated_drive_open(&d, in("later"), &opt), 0);
    swap(in("later"), in("foreign"));
    bool direct = true;
    uint32_t alignment;
    int fd;
    REFUSED(handle_lend(d, true, &direct, &alignment, &fd), SATED_UNSAFE, "no longer what was opened");
    REFUSED(sated_drive_permit(d, NULL), SATED_UNSAFE, "no longer what was opened");
    sated_drive_close(d);
    CHECK_EQ(opened_for_writing, 0);
    unlink(in("swapped"));
    unlink(in("later"));

    /* A full disk: what was begun is removed. */
    no_blocks = ENOSPC;
    REFUSED(open_code(in("huge"), MIB), -ENOSPC, "make a smaller one");
    CHECK_EQ(detail.layer, SATED_LAYER_DRIVE);
    CHECK(access(in("huge"), F_OK) != 0);

    /* A file system without fallocate: the file is made all the same, and it is said what it is. */
    no_blocks = EOPNOTSUPP;
    CHECK_EQ(sated_drive_open(&d, in("sparse"), &opt), 0);
    CHECK_EQ(d->identity.capacity_bytes, 4 * MIB);
    CHECK_TEXT(d->identity.note, "sparse until it is written");
    struct sated_purge *purge;
    CHECK_EQ(sated_purge_start(&purge, d, NULL), 0);
    REFUSED(sated_purge_wait(purge, -1, NULL), SATED_UNSUPPORTED, "cannot punch holes");
    sated_purge_free(purge);
    no_blocks = 0;
    sated_drive_close(d);
}

static void test_consent(void)
{
    char *path = strdup(make_file("consent", MIB)), text[700];
    struct sated_drive *d = open_drive(path), *other = open_drive(path);
    struct sated_guard guard;
    bool direct = false;
    uint32_t alignment;
    int fd;
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(guard.safe && guard.needs_token && guard.reasons[0] == '\0');
    CHECK_TEXT(guard.scope, path);
    CHECK_TEXT(guard.scope, "1048576 bytes");

    REFUSED(handle_lend(d, true, &direct, &alignment, &fd), SATED_UNSAFE, path);
    REFUSED(sated_drive_permit(d, NULL), SATED_UNSAFE, path);
    CHECK_TEXT(detail.text, "--confirm");
    CHECK_EQ(sated_error_exit_code(detail.code, detail.layer), 3);
    REFUSED(sated_drive_permit(d, ""), SATED_UNSAFE, path);

    /* Nothing but the exact real path: each of these leads to the same file. */
    CHECK_EQ(chdir(tree_root), 0);
    put_link(in("consent-link"), "consent");
    snprintf(text, sizeof text, "%s/", path);
    const char *wrong[] = {"consent", "./consent", text, in("./consent"), in("consent-link"), "yes", "x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        REFUSED(sated_drive_permit(d, wrong[i]), SATED_UNSAFE, wrong[i]); /* shows both */
        CHECK_TEXT(detail.text, path);
    }
    CHECK(!d->permitted);
    REFUSED(handle_lend(d, true, &direct, &alignment, &fd), SATED_UNSAFE, path);

    CHECK_EQ(sated_drive_permit(d, path), 0);
    CHECK_EQ(sated_drive_permit(d, path), 0);
    CHECK_EQ(handle_lend(d, true, &direct, &alignment, &fd), 0);
    CHECK((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR);
    handle_return(fd);

    /* One writer at a time, also from another process, which learns who it is. */
    REFUSED(sated_drive_permit(other, path), SATED_UNSAFE, "locked by another");
    pid_t child = fork();
    if (child == 0) {
        struct sated_drive *third;
        int rc = sated_drive_open(&third, path, NULL);
        rc = rc ? rc : sated_drive_permit(third, path);
        sated_detail_get(&detail);
        /* proc_locks(5) has the numbers that stat(2) tells on these file systems; others have made-up ones. */
        bool known = !strcmp(third->identity.model, "ext4") || !strcmp(third->identity.model, "tmpfs");
        snprintf(text, sizeof text, known ? "locked by process %d" : "locked by another process", (int)getppid());
        _exit(rc == SATED_UNSAFE && strstr(detail.text, text) ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    CHECK_EQ(handle_lend(other, false, &direct, &alignment, &fd), 0); /* reading needs no permit */
    handle_return(fd);
    sated_drive_close(d);
    CHECK_EQ(sated_drive_permit(other, path), 0); /* released by closing */
    sated_drive_close(other);

    /* A file that has become shorter since it was opened: writing to all of the drive would make it longer again. */
    other = open_drive(path);
    CHECK_EQ(truncate(path, (off_t)MIB / 2), 0);
    REFUSED(sated_drive_permit(other, path), SATED_UNSAFE, "has become shorter since it was opened, 524288 bytes");
    REFUSED(handle_lend(other, false, &direct, &alignment, &fd), SATED_UNSAFE, "has become shorter");
    CHECK_EQ(truncate(path, (off_t)MIB + 4096), 0);
    CHECK_EQ(sated_drive_permit(other, path), 0);
    sated_drive_close(other);

    d = open_drive("sim:x210,scale=1/64");
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(guard.safe && !guard.needs_token);
    CHECK_EQ(sated_drive_permit(d, NULL), 0);
    REFUSED(handle_lend(d, false, &direct, &alignment, &fd), SATED_UNSUPPORTED, "simulated");
    sated_drive_close(d);
    free(path);
}

/* Virtual machines and databases lock with fcntl(2): by process, or by open file (F_OFD_SETLK). */
static void test_locked(void)
{
    char *path = strdup(make_file("locked", MIB)), text[64];
    struct sated_drive *d = open_drive(path);
    struct sated_guard guard;
    for (int i = 0; i < 4; i++) {
        int up[2], down[2];
        char byte = 0;
        CHECK(pipe(up) == 0 && pipe(down) == 0);
        pid_t child = fork();
        if (child == 0) {
            struct flock lock = {.l_type = i & 1 ? F_RDLCK : F_WRLCK, .l_start = 100, .l_len = 1};
            int fd = open(path, O_RDWR);
            byte = fcntl(fd, i & 2 ? F_OFD_SETLK : F_SETLK, &lock) ? 'n' : 'y';
            _exit(write(up[1], &byte, 1) == 1 && read(down[0], &byte, 1) == 1 ? 0 : 1);
        }
        CHECK(read(up[0], &byte, 1) == 1 && byte == 'y');
        CHECK_EQ(sated_drive_guard(d, &guard), 0);
        CHECK(!guard.safe);
        snprintf(text, sizeof text, i & 2 ? "a process has a lock on it" : "process %d has a lock on it", (int)child);
        CHECK_TEXT(guard.reasons, text);
        REFUSED(sated_drive_permit(d, path), SATED_UNSAFE, text);
        CHECK(write(down[1], "x", 1) == 1);
        waitpid(child, NULL, 0);
        CHECK_EQ(sated_drive_guard(d, &guard), 0);
        CHECK(guard.safe);
        for (int k = 0; k < 2; k++) {
            close(up[k]);
            close(down[k]);
        }
    }
    CHECK_EQ(sated_drive_permit(d, path), 0);
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(guard.safe); /* our own lock is no obstacle */
    sated_drive_close(d);
    free(path);
}

static void test_guard(void)
{
    struct sated_guard guard;
    char *path = strdup(make_file("guarded file", MIB)), text[700];
    struct sated_drive *d = open_drive(path);
    node_set_root(in("root1"));
    put(in("root1/sys/block/loop7/loop/backing_file"), "/somewhere/else\n");
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(guard.safe);
    snprintf(text, sizeof text, "%s\n", path);
    put(in("root1/sys/block/loop8/loop/backing_file"), text);
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(!guard.safe);
    CHECK_TEXT(guard.reasons, "backs the loop device /dev/loop8");
    REFUSED(sated_drive_permit(d, path), SATED_UNSAFE, "loop8");

    /* By another name too: a hard link is the same file. */
    CHECK_EQ(link(path, in("hard")), 0);
    snprintf(text, sizeof text, "%s\n", in("hard"));
    put(in("root1/sys/block/loop8/loop/backing_file"), text);
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(!guard.safe);
    put(in("root1/sys/block/loop8/loop/backing_file"), "/somewhere/else\n");
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(!guard.safe); /* its other name has not consented */
    CHECK_TEXT(guard.reasons, "it has 2 names (hard links)");
    REFUSED(sated_drive_permit(d, path), SATED_UNSAFE, "hard links");
    unlink(in("hard"));

    /* proc_swaps(5): blanks are written \040. */
    snprintf(text, sizeof text, "Filename\tType\tSize\tUsed\tPriority\n%s/guarded\\040file file 1020 0 -2\n",
             tree_root);
    put(in("root1/proc/swaps"), text);
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(!guard.safe);
    CHECK_TEXT(guard.reasons, "swap space");
    put(in("root1/proc/swaps"), "Filename\tType\tSize\tUsed\tPriority\n/dev/sda2 partition 1 0 -2\n");
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(guard.safe);
    node_set_root(NULL);

    CHECK_EQ(chmod(path, 0444), 0);
    pid_t child = fork();
    if (child == 0) { /* root may write to every file only as long as it has this capability */
        struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct none[2] = {{0}};
        syscall(SYS_capset, &header, none);
        sated_drive_guard(open_drive(path), &guard);
        _exit(!guard.safe && strstr(guard.reasons, "may not be written") ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    CHECK_EQ(chmod(path, 0644), 0);

    snprintf(text, sizeof text, "chattr +i '%s' 2>/dev/null", path);
    if (geteuid() == 0 && system(text) == 0) {
        CHECK_EQ(sated_drive_guard(d, &guard), 0);
        CHECK(!guard.safe);
        CHECK_TEXT(guard.reasons, "immutable");
        snprintf(text, sizeof text, "chattr -i '%s'", path);
        CHECK_EQ(system(text), 0);
    } else {
        printf("# skipped: chattr +i does not work here\n");
    }
    sated_drive_close(d);
    free(path);
}

/* What looks like a file of 4 KiB may be settings of the kernel, or registers of a device. */
static void test_kernel_file(void)
{
    static const char path[] = "/sys/kernel/uevent_seqnum";
    struct sated_drive *d = NULL;
    struct sated_guard guard;
    if (access(path, R_OK) || sated_drive_open(&d, path, NULL)) {
        printf("# skipped: there is no %s here\n", path);
        return;
    }
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(!guard.safe);
    CHECK_TEXT(guard.reasons, "settings of the kernel (sysfs)");
    CHECK_EQ(sated_drive_permit(d, path), SATED_UNSAFE);
    sated_drive_close(d);
}

int main(void)
{
    if (tree_begin())
        return 1;
    int before = descriptors();
    test_create();
    test_consent();
    test_locked();
    test_guard();
    test_kernel_file();
    CHECK_EQ(descriptors(), before);
    CHECK_EQ(chdir("/"), 0);
    tree_end();
    return check_done();
}
