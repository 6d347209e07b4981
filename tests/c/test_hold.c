/* SPDX-License-Identifier: MIT */
/* Guard and permit on loop devices, where this kernel has them and root runs the test: what is refused live, and what the
 * kernel keeps others from while a disk is held. */
#define _GNU_SOURCE 1
#include <sated/sated.h>

#include <fcntl.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "check.h"
#include "transport/handle.h"
#include "tree.h"

#define MIB (1L << 20)

static struct sated_detail detail;
static char loop[64], first[80]; /* the device, and its partition */
static bool has_partition;

static int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int shell(const char *format, ...)
{
    char command[1500], whole[1600];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    snprintf(whole, sizeof whole, "{ %s ; } >/dev/null 2>&1", command);
    return system(whole);
}

static bool attach(const char *how, const char *file)
{
    char command[900];
    put(file, "");
    if (truncate(file, 32 * MIB))
        return false;
    snprintf(command, sizeof command, "losetup %s -P -f --show '%s' 2>/dev/null", how, file);
    FILE *f = geteuid() == 0 ? popen(command, "r") : NULL;
    bool have = f && fscanf(f, "%63s", loop) == 1;
    if (f)
        pclose(f);
    return have;
}

static void detach(void)
{
    CHECK_EQ(shell("losetup -d %s", loop), 0);
}

static struct sated_drive *opened(const char *path)
{
    struct sated_drive *d;
    int rc = sated_drive_open(&d, path, NULL);
    sated_detail_get(&detail);
    if (rc)
        printf("# %s\n", detail.text);
    CHECK_EQ(rc, 0);
    return d;
}

static int load(struct sated_drive *d, const char *op)
{
    struct sated_workload w;
    struct sated_load_options opt;
    struct sated_load *l = NULL;
    sated_workload_init(&w);
    sated_load_options_init(&opt);
    opt.ios = 64;
    CHECK_EQ(sated_workload_set(&w, "op", op), 0);
    int rc = sated_load_start(&l, &d, 1, &w, &opt);
    if (!rc)
        while ((rc = sated_load_wait(l, 1000000000)) == 1) /* it runs yet */
            ;
    sated_detail_get(&detail);
    sated_load_free(l);
    return rc;
}

/* Neither a write nor an erase nor another capacity, with the token or without; reading goes on. */
static void refused(const char *path, const char *says)
{
    struct sated_drive *d = opened(path);
    struct sated_identity id;
    struct sated_guard guard;
    struct sated_purge *purge;
    if (!d)
        return;
    CHECK_EQ(sated_drive_get_identity(d, &id), 0);
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(!guard.safe);
    CHECK_TEXT(guard.reasons, says);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(sated_drive_permit(d, i ? NULL : id.token), SATED_UNSAFE);
        sated_detail_get(&detail);
        CHECK_TEXT(detail.text, says);
        CHECK_EQ(load(d, "randwrite"), SATED_UNSAFE);
        CHECK(sated_purge_start(&purge, d, NULL) < 0);
        CHECK(sated_provision_set(d, MIB, NULL) < 0);
    }
    CHECK_EQ(load(d, "randread"), 0);
    sated_drive_close(d);
}

/* Case C45 of the field cases: a disk with a mounted partition, by its node, by a link, and by a second node with the
 * same numbers. */
static void test_live_disk(void)
{
    struct stat st;
    put_link(in("by-id-link"), loop);
    CHECK_EQ(stat(loop, &st), 0);
    CHECK_EQ(mknod(in("second-node"), S_IFBLK | 0600, st.st_rdev), 0);
    put_folder(in("mnt"));
    const char *what = has_partition ? first : loop;
    CHECK_EQ(shell("mkfs.ext4 -q %s", what), 0);
    CHECK_EQ(shell("mount %s '%s'", what, in("mnt")), 0);
    char says[200];
    snprintf(says, sizeof says, "%s is mounted on %s", strrchr(what, '/') + 1, in("mnt"));
    refused(loop, says);
    refused(in("by-id-link"), says);
    refused(in("second-node"), says);

    /* In a mount namespace of another process it is mounted as well, and there alone once it is unmounted here. */
    int ready[2], go[2];
    char byte = 0;
    CHECK(pipe(ready) == 0 && pipe(go) == 0);
    pid_t other = fork();
    if (other == 0) {
        byte = system("exit 0") == 0;
        char self[40];
        snprintf(self, sizeof self, "%d", go[0]);
        dup2(go[0], 0);
        dup2(ready[1], 1);
        close(go[1]);
        execlp("unshare", "unshare", "-m", "--propagation", "private", "sh", "-c", "echo; read line", (char *)NULL);
        _exit(127);
    }
    close(ready[1]);
    if (read(ready[0], &byte, 1) == 1) {
        CHECK_EQ(shell("umount '%s'", in("mnt")), 0);
        snprintf(says, sizeof says, "(ext4) in the mount namespace of process %d", (int)other);
        refused(loop, says);
    } else {
        printf("# skipped: no mount namespace can be made here\n");
        CHECK_EQ(shell("umount '%s'", in("mnt")), 0);
    }
    close(go[1]);
    close(go[0]);
    close(ready[0]);
    int status;
    waitpid(other, &status, 0);
}

static void test_swap(void)
{
    const char *what = has_partition ? first : loop;
    if (shell("mkswap %s && swapon %s", what, what)) {
        printf("# skipped: nothing can be swapped to here\n");
        return;
    }
    refused(loop, "is swap space");
    CHECK_EQ(shell("swapoff %s", what), 0);
}

/* What is no longer in use leaves signatures and a partition: they are refused, and wiped when that is asked for. */
static void test_wipe(void)
{
    struct sated_identity id;
    struct sated_guard guard;
    CHECK_EQ(shell("mkfs.ext4 -q -F %s", has_partition ? first : loop), 0);
    refused(loop, has_partition ? "has 1 partition" : "holds signatures (ext");
    struct sated_drive *d = opened(loop);
    CHECK_EQ(sated_drive_get_identity(d, &id), 0);
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(guard.wipeable);
    CHECK_EQ(sated_drive_wipe_signatures(d, "no token"), SATED_UNSAFE);
    int rc = sated_drive_wipe_signatures(d, id.token);
    sated_detail_get(&detail);
    if (rc)
        printf("# %s\n", detail.text);
    CHECK_EQ(rc, 0);
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(guard.safe);
    sated_drive_close(d);
    CHECK(shell("mount %s '%s'", loop, in("mnt")) != 0);
    CHECK(!has_partition || access(first, F_OK) != 0); /* the kernel looked anew */
}

static int blocks_with_data(void)
{
    static char block[4096], zeros[4096];
    int fd = open(loop, O_RDONLY | O_CLOEXEC), n = 0;
    for (long at = 0; at < 32 * MIB; at += 4096)
        n += pread(fd, block, sizeof block, at) > 0 && memcmp(block, zeros, sizeof block) != 0;
    close(fd);
    return n;
}

/* Held, it is written to by a load's threads, and by nobody else. */
static void test_held(void)
{
    struct sated_identity id;
    struct sated_drive *d = opened(loop), *again = opened(loop);
    CHECK_EQ(sated_drive_get_identity(d, &id), 0);
    CHECK(id.token[0] != '\0' && strcmp(id.token, loop));
    CHECK_EQ(load(d, "randwrite"), SATED_UNSAFE);
    CHECK_TEXT(detail.text, "needs consent");
    CHECK_EQ(sated_drive_permit(d, loop), SATED_UNSAFE);
    CHECK_EQ(sated_drive_permit(d, id.token), 0);
    int fd = open(loop, O_RDWR | O_EXCL | O_CLOEXEC);
    CHECK(fd < 0 && errno == EBUSY);
    CHECK_EQ(sated_drive_permit(again, id.token), SATED_UNSAFE);
    sated_detail_get(&detail);
    CHECK_TEXT(detail.text, "it is in use, says the kernel");
    CHECK_EQ(load(again, "randwrite"), SATED_UNSAFE);
    int before = blocks_with_data();
    CHECK_EQ(load(d, "randwrite"), 0);
    CHECK_EQ(handle_check_same(d), 0);
    CHECK_EQ(handle_need_permit(d, HANDLE_DRIVE, "erasing"), 0); /* there is nothing else on its device */
    int written = blocks_with_data() - before;
    CHECK(written >= 32 && written <= 64); /* 64 writes of 4 KiB at random places among 8192 */
    sated_drive_close(d);
    CHECK_EQ(sated_drive_permit(again, id.token), 0);
    sated_drive_close(again);
    fd = open(loop, O_RDWR | O_EXCL | O_CLOEXEC);
    CHECK(fd >= 0); /* let go with the handle */
    close(fd);
}

/* A second loop device, over `backing`. Return: whether there is one. */
static bool attach_other(char other[64], const char *backing)
{
    char command[900];
    snprintf(command, sizeof command, "losetup -f --show '%s' 2>/dev/null", backing);
    FILE *f = popen(command, "r");
    bool have = f && fscanf(f, "%63s", other) == 1;
    if (f)
        pclose(f);
    return have;
}

static void wipe_refused(const char *path, const char *says)
{
    struct sated_drive *d = opened(path);
    struct sated_identity id;
    sated_drive_get_identity(d, &id);
    CHECK_EQ(sated_drive_wipe_signatures(d, id.token), SATED_UNSAFE);
    sated_detail_get(&detail);
    CHECK_TEXT(detail.text, says);
    sated_drive_close(d);
}

/* What lies beneath is told by what the kernel has open, whatever its path says: each of these leads to a file system that
 * is mounted, and another way to the same bytes. */
static void test_beneath(const char *file)
{
    char other[64], *node = strdup(in("node")), *second = strdup(in("second"));
    const char *name = strrchr(loop, '/') + 1;
    struct stat st;
    CHECK_EQ(shell("mkfs.ext4 -q -F %s && mkdir -p '%s' && mount %s '%s'", loop, in("mnt"), loop, in("mnt")), 0);
    if (attach_other(other, file)) { /* the same file */
        wipe_refused(other, "are loop devices of the same file");
        CHECK_EQ(shell("losetup -d %s", other), 0);
    }
    CHECK_EQ(stat(loop, &st), 0);
    CHECK_EQ(mknod(node, S_IFBLK | 0600, st.st_rdev), 0);
    if (attach_other(other, node)) { /* the device, by a node outside /dev */
        wipe_refused(other, "is a loop device of the block device");
        CHECK_TEXT(detail.text, name);
        CHECK_EQ(shell("umount '%s'", in("mnt")), 0);
        refused(loop, "backs the loop device");
        CHECK_EQ(shell("losetup -d %s", other), 0);
        CHECK_EQ(shell("mount %s '%s'", loop, in("mnt")), 0);
    }
    /* The name that the loop device was made by is gone, and the file has another. */
    CHECK_EQ(link(file, second), 0);
    CHECK_EQ(unlink(file), 0);
    refused(second, "backs the loop device");
    CHECK_EQ(rename(second, file), 0);
    CHECK_EQ(shell("umount '%s'", in("mnt")), 0);
    CHECK_EQ(shell("dd if=/dev/zero of=%s bs=1M count=32", loop), 0);
    free(node);
    free(second);
}

/* Nor is a file or a loop device written to once the file became another loop device after the permit. */
static void test_beneath_later(const char *file)
{
    char other[64], *plain = strdup(in("plain"));
    put(plain, "");
    CHECK_EQ(truncate(plain, 32 * MIB), 0);
    const char *const backing[] = {file, plain}, *const drives[] = {loop, plain};
    for (int i = 0; i < 2; i++) {
        struct sated_drive *d = opened(drives[i]);
        struct sated_identity id;
        CHECK_EQ(sated_drive_get_identity(d, &id), 0);
        CHECK_EQ(sated_drive_permit(d, id.token), 0);
        CHECK_EQ(load(d, "randwrite"), 0);
        if (attach_other(other, backing[i])) {
            CHECK_EQ(load(d, "randwrite"), SATED_UNSAFE);
            CHECK_TEXT(detail.text, "may not be written to any more");
            CHECK_EQ(shell("losetup -d %s", other), 0);
        }
        CHECK_EQ(load(d, "randwrite"), 0);
        sated_drive_close(d);
    }
    CHECK_EQ(shell("dd if=/dev/zero of=%s bs=1M count=32", loop), 0);
    free(plain);
}

int main(void)
{
    if (tree_begin())
        return 1;
    setenv("SATED_STATE_DIR", in("state"), 1);
    char *file = strdup(in("backing"));
    if (!attach("", file)) {
        printf("# skipped: no loop device can be made here (needs root and losetup)\n");
        CHECK(true);
    } else {
        snprintf(first, sizeof first, "%sp1", loop);
        has_partition = shell("addpart %s 1 2048 40960 && test -b %s", loop, first) == 0;
        if (!has_partition)
            printf("# this kernel adds no partition to a loop device: the disk itself is mounted instead\n");
        test_live_disk();
        test_swap();
        test_wipe();
        test_held();
        test_beneath(file);
        test_beneath_later(file);

        /* And the file behind it is not written to either, while it is one. */
        struct sated_drive *d = opened(file);
        CHECK_EQ(sated_drive_permit(d, file), SATED_UNSAFE);
        sated_detail_get(&detail);
        CHECK_TEXT(detail.text, "backs the loop device");
        detach();
        CHECK_EQ(sated_drive_permit(d, file), 0);
        sated_drive_close(d);
        CHECK(attach("-r", file));
        refused(loop, "is read-only");
        detach();
    }
    free(file);
    tree_end();
    return check_done();
}
