/* SPDX-License-Identifier: MIT */
#include "transport/signature.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/buffer.h"
#include "core/error.h"
#include "transport/calls.h"
#include "transport/hold.h"
#include "transport/node.h"

#define KIB 1024
#define PIECE 4096
#define WIPE_PIECE ((size_t)1 << 20)
#define WIPE ((uint64_t)5 << 20) /* LUKS2 keeps its second header 4 MiB from the front at most */

/* Of each where its bytes stand (util-linux, libblkid/src/superblocks and /partitions). Counted from the end, the place
 * is the distance from it, once the size was rounded down to a multiple of `round`. */
static const struct {
    const char *name;
    bool from_end;
    uint32_t round, at;
    const char *bytes;
    uint8_t n;
} table[] = {
#define MAGIC(text) text, sizeof text - 1
    {"ext4", false, 0, 0x438, MAGIC("\x53\xef")}, /* and ext2, ext3 */
    {"xfs", false, 0, 0, MAGIC("XFSB")},
    {"btrfs", false, 0, 0x10040, MAGIC("_BHRfS_M")},
    {"f2fs", false, 0, 0x400, MAGIC("\x10\x20\xf5\xf2")},
    {"erofs", false, 0, 0x400, MAGIC("\xe2\xe1\xf5\xe0")},
    {"hfsplus", false, 0, 0x400, MAGIC("H+")},
    {"apfs", false, 0, 0x20, MAGIC("NXSB")},
    {"squashfs", false, 0, 0, MAGIC("hsqs")},
    {"iso9660", false, 0, 0x8001, MAGIC("CD001")},
    {"reiserfs", false, 0, 0x10034, MAGIC("ReIsEr")},
    {"jfs", false, 0, 0x8000, MAGIC("JFS1")},
    {"vfat", false, 0, 0x36, MAGIC("FAT1")},
    {"vfat", false, 0, 0x52, MAGIC("FAT32")},
    {"exfat", false, 0, 3, MAGIC("EXFAT   ")},
    {"ntfs", false, 0, 3, MAGIC("NTFS    ")},
    {"LVM2_member", false, 0, 0, MAGIC("LABELONE")},
    {"LVM2_member", false, 0, 0x200, MAGIC("LABELONE")},
    {"LVM2_member", false, 0, 0x400, MAGIC("LABELONE")},
    {"LVM2_member", false, 0, 0x600, MAGIC("LABELONE")},
    {"linux_raid_member", false, 0, 0, MAGIC("\xfc\x4e\x2b\xa9")},             /* md 1.1 */
    {"linux_raid_member", false, 0, 0x1000, MAGIC("\xfc\x4e\x2b\xa9")},        /* md 1.2 */
    {"linux_raid_member", true, 4096, 0x2000, MAGIC("\xfc\x4e\x2b\xa9")},      /* md 1.0 */
    {"linux_raid_member", true, 64 * KIB, 0x10000, MAGIC("\xfc\x4e\x2b\xa9")}, /* md 0.90, little endian */
    {"linux_raid_member", true, 64 * KIB, 0x10000, MAGIC("\xa9\x2b\x4e\xfc")}, /* and big */
    {"isw_raid_member", true, 512, 0x400, MAGIC("Intel Raid ISM Cfg Sig. ")},
    {"ddf_raid_member", true, 512, 0x200, MAGIC("\xde\x11\xde\x11")},
    {"crypto_LUKS", false, 0, 0, MAGIC("LUKS\xba\xbe")},
    {"crypto_LUKS", false, 0, 0x4000, MAGIC("SKUL\xba\xbe")},
    {"BitLocker", false, 0, 3, MAGIC("-FVE-FS-")},
    {"bcache", false, 0, 0x1018, MAGIC("\xc6\x85\x73\xf6\x4e\x1a\x45\xca")},
    {"bcachefs", false, 0, 0x1018, MAGIC("\xc6\x85\x73\xf6\x66\xce\x90\xa9")},
    {"swap", false, 0, 0xff6, MAGIC("SWAPSPACE2")},
    {"swap", false, 0, 0xff6, MAGIC("SWAP-SPACE")},
    {"swap", false, 0, 0x3ff6, MAGIC("SWAPSPACE2")}, /* of pages of 16 KiB, */
    {"swap", false, 0, 0xfff6, MAGIC("SWAPSPACE2")}, /* and of 64 KiB */
    {"swsuspend", false, 0, 0xff6, MAGIC("S1SUSPEND")},
    {"ceph_bluestore", false, 0, 0, MAGIC("bluestore block device")},
    {"oracleasm", false, 0, 0x20, MAGIC("ORCLDISK")},
    {"VMFS", false, 0, 0x100000, MAGIC("\x0d\xd0\x01\xc0")},
    {"VMFS", false, 0, 0x200000, MAGIC("\x5e\xf1\xab\x2f")},
    {"gpt", false, 0, 0x200, MAGIC("EFI PART")},
    {"gpt", false, 0, 0x1000, MAGIC("EFI PART")}, /* blocks of 4 KiB */
    {"gpt", true, 512, 0x200, MAGIC("EFI PART")},
    {"gpt", true, 4096, 0x1000, MAGIC("EFI PART")},
    {"dos", false, 0, 0x1fe, MAGIC("\x55\xaa")}, /* an MBR, or what begins like one: boot sectors of FAT and NTFS */
#undef MAGIC
};

struct names {
    char *text;
    size_t n;
};

static void add_name(const char *name, void *user)
{
    struct names *to = user;
    size_t used = strlen(to->text), length = strlen(name);
    for (const char *at = to->text; (at = strstr(at, name)); at += length)
        if ((at == to->text || at[-1] == ' ') && (at[length] == ',' || !at[length]))
            return;
    snprintf(to->text + used, to->n - used, "%s%s", used ? ", " : "", name);
}

struct window {
    int fd;
    uint64_t bytes, at; /* of the piece that is in memory */
    bool any;
    unsigned char *piece;
};

/* Up to 64 bytes of the disk, which lie within a piece or two. Return: 1, 0 beyond the end, or an error. */
static int look_at(struct window *w, uint64_t at, const char *bytes, size_t n)
{
    if (at + n > w->bytes)
        return 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t piece = (at + i) / PIECE * PIECE;
        if (!w->any || w->at != piece) {
            size_t room = w->bytes - piece < PIECE ? (size_t)(w->bytes - piece) : PIECE;
            ssize_t got = calls.read(w->fd, w->piece, room, piece);
            w->any = got == (ssize_t)room;
            w->at = piece;
            if (!w->any)
                return got < 0 ? (int)got : -EIO;
        }
        if (w->piece[at + i - piece] != (unsigned char)bytes[i])
            return 0;
    }
    return 1;
}

static int find_table(struct window *w, struct names *out)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint64_t at = table[i].at;
        if (table[i].from_end) {
            uint64_t end = w->bytes / table[i].round * table[i].round;
            if (end < at)
                continue;
            at = end - at;
        }
        int rc = look_at(w, at, table[i].bytes, table[i].n);
        if (rc < 0)
            return rc;
        bool told = !strcmp(table[i].name, "ext4") && strstr(out->text, "ext"); /* which of them, libblkid knows */
        if (rc && !told)
            add_name(table[i].name, out);
    }
    return 0;
}

/* Each of the two labels in front and the two at the end has up to 128 places for its uberblock, in either byte order
 * (OpenZFS, module/zfs/vdev_label.c). */
static int find_zfs(struct window *w, struct names *out)
{
    const uint64_t label = 256 * KIB, end = w->bytes / label * label;
    for (unsigned l = 0; l < 4; l++) {
        if (end < 4 * label)
            return 0;
        uint64_t start = l < 2 ? l * label : end - (4 - l) * label;
        for (unsigned i = 0; i < 128; i++) {
            int little = look_at(w, start + 128 * KIB + i * KIB, "\x0c\xb1\xba\0\0\0\0\0", 8);
            int big = little ? 0 : look_at(w, start + 128 * KIB + i * KIB, "\0\0\0\0\0\xba\xb1\x0c", 8);
            if (little < 0 || big < 0)
                return little < 0 ? little : big;
            if (little || big) {
                add_name("zfs_member", out);
                return 0;
            }
        }
    }
    return 0;
}

int signature_find(char *out, size_t n, int fd, uint64_t bytes)
{
    struct names names = {out, n};
    struct window w = {.fd = fd, .bytes = bytes, .piece = buffer_new(PIECE)};
    out[0] = '\0';
    if (!w.piece)
        return -ENOMEM;
    int rc = calls.blkid(fd, add_name, &names);
    if (rc == -ENOSYS)
        rc = 0;
    if (!rc)
        rc = find_table(&w, &names);
    if (!rc)
        rc = find_zfs(&w, &names);
    buffer_free(w.piece, PIECE);
    return rc;
}

int signature_open(uint64_t *bytes, const char *name, int fd)
{
    char path[PATH_MAX], device[PATH_MAX];
    struct stat st;
    uint64_t sectors = 0;
    node_device_path(device, sizeof device, name);
    if (fd < 0)
        fd = node_path(path, sizeof path, "%s", device) ? calls.open(path, O_RDONLY | O_NONBLOCK) : -ENAMETOOLONG;
    if (fd < 0)
        return fd;
    node_number(&sectors, "/sys/class/block/%s/size", name);
    *bytes = sectors * 512;
    if (!calls.fstat(fd, &st) && S_ISREG(st.st_mode)) /* in a recorded tree, which has the beginning at most */
        *bytes = (uint64_t)st.st_size;
    return fd;
}

int signature_of(char *out, size_t n, const char *name, int fd)
{
    uint64_t bytes;
    int from = signature_open(&bytes, name, fd);
    out[0] = '\0';
    if (from < 0)
        return from;
    int rc = signature_find(out, n, from, bytes);
    if (fd < 0)
        calls.close(from);
    return rc;
}

/* ---- Wiping ---- */

struct wiping {
    const char *node;
    int fd;
    void *zeros;
    uint64_t bytes; /* of the disk */
    int rc;
};

static int wipe(struct wiping *w, uint64_t from, uint64_t to)
{
    for (uint64_t at = from; !w->rc && at < to;) {
        size_t n = to - at < WIPE_PIECE ? (size_t)(to - at) : WIPE_PIECE;
        ssize_t done = calls.write(w->fd, w->zeros, n, at);
        if (done <= 0)
            w->rc = done < 0 ? (int)done : -EIO;
        else
            at += (uint64_t)done;
    }
    return w->rc;
}

static int wipe_ends(struct wiping *w, uint64_t from, uint64_t to)
{
    to = to < w->bytes ? to : w->bytes;
    if (from >= to)
        return 0;
    if (to - from <= 2 * WIPE)
        return wipe(w, from, to);
    return wipe(w, from, from + WIPE) ? w->rc : wipe(w, to - WIPE, to);
}

/* Where a partition lies is in 512 bytes, whatever the blocks are (Documentation/ABI/stable/sysfs-block). */
static int visit_partition(const char *name, void *user)
{
    struct wiping *w = user;
    uint64_t number, start, size;
    if (!node_number(&number, "/sys/class/block/%s/%s/partition", w->node, name) ||
        !node_number(&start, "/sys/class/block/%s/start", name) ||
        !node_number(&size, "/sys/class/block/%s/size", name) || start > w->bytes / 512 || size > w->bytes / 512)
        return 0;
    return wipe_ends(w, start * 512, (start + size) * 512);
}

static int wipe_disk(const char *node, int fd, void *zeros)
{
    char folder[NODE_NAME + 24];
    struct wiping w = {.node = node, .fd = fd, .zeros = zeros};
    if (!node_number(&w.bytes, "/sys/class/block/%s/size", node))
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE, "/dev/%s: cannot be cleared: sysfs does not tell its size",
                         node);
    w.bytes *= 512;
    snprintf(folder, sizeof folder, "/sys/class/block/%s", node);
    node_each(folder, visit_partition, &w); /* before the table goes that says where they are */
    wipe_ends(&w, 0, w.bytes);
    if (!w.rc)
        w.rc = calls.sync(fd);
    if (w.rc)
        return error_set(w.rc, SATED_LAYER_DRIVE,
                         "/dev/%s: its old signatures cannot be cleared: %s; see the kernel's log", node,
                         error_text(-w.rc));
    int rc = calls.ioctl(fd, BLKRRPART, NULL);
    if (rc && rc != -EINVAL && rc != -ENOTTY) /* what cannot have partitions, such as a loop device without them */
        return error_set(
            rc == -EBUSY ? SATED_UNSAFE : rc, SATED_LAYER_DRIVE,
            "/dev/%s: its old signatures are cleared, but the kernel does not look at it anew: %s; unplug it "
            "and plug it in again",
            node, error_text(-rc));
    return 0;
}

int signature_wipe(struct sated_drive *d, bool whole)
{
    void *zeros = buffer_new(WIPE_PIECE);
    if (!zeros)
        return error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for clearing it", d->path);
    int rc = hold_check(d);
    if (!rc && d->write_fd >= 0)
        rc = wipe_disk(d->node, d->write_fd, zeros);
    if (!rc && whole)
        rc = hold_each_other(d, wipe_disk, zeros);
    buffer_free(zeros, WIPE_PIECE);
    return rc;
}
