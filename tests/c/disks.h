/* SPDX-License-Identifier: MIT */
/* A machine of disks: a tree of sysfs, a kernel that is played by the table of system calls, and a file behind each disk,
 * so that every byte that is written anywhere can be seen. Its disks can be swapped, replaced and renumbered at any
 * moment. */
#ifndef SATED_TESTS_DISKS_H
#define SATED_TESTS_DISKS_H

#include <sated/sated.h>

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/nvme_ioctl.h>
#include <scsi/sg.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include "check.h"
#include "transport/calls.h"
#include "transport/handle.h"
#include "transport/node.h"
#include "tree.h"

#ifndef BLKGETDISKSEQ
#define BLKGETDISKSEQ _IOR(0x12, 128, uint64_t)
#endif

#define SECTORS 32768L /* 16 MiB */
#define SCSI_SDA "pci0/host0/target0:0:0/0:0:0:0"

static struct sated_detail detail;

/* A disk as the kernel knows it. */
struct disk {
    const char *file; /* what is behind it, whatever its name is */
    char name[16];
    unsigned major, minor;
    uint64_t sequence;
    int holders;                                             /* by exclusive opens of ours */
    int error;                                               /* of opening it for writing: EBUSY, EROFS, ... */
    int changed;                                             /* commands that change something, and reached it */
    uint8_t cmic, nmic, rescap, fna, attached, oacs, unseen; /* of NVMe */
    uint8_t ms, flbas, dps;                                  /* of its LBA format, which has 512 bytes */
    uint32_t keys;                                           /* reservation keys, of SCSI */
    bool character;
};

enum { SDA, SDB, NS1, NS2, CTRL, LOOP, MD, DM, N_DISKS };

static struct disk disks[N_DISKS];

static struct {
    struct disk *disk;
    bool exclusive;
} opened_as[1024];

/* Called with the path and the flags of each open, before it is done, and behind it. */
static void (*before_open)(const char *path, int flags), (*after_open)(const char *path, int flags);

static struct disk *disk_by_number(unsigned major_number, unsigned minor_number)
{
    for (int i = 0; i < N_DISKS; i++)
        if (disks[i].name[0] && disks[i].major == major_number && disks[i].minor == minor_number)
            return &disks[i];
    return NULL;
}

static struct disk *disk_by_path(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    int fd;
    if (sscanf(path, "/proc/self/fd/%d", &fd) == 1) { /* by its number, to whichever disk has that by now */
        struct disk *was = fd >= 0 && fd < 1024 ? opened_as[fd].disk : NULL;
        return was ? disk_by_number(was->major, was->minor) : NULL;
    }
    for (int i = 0; i < N_DISKS; i++)
        if (!strcmp(disks[i].name, name))
            return &disks[i];
    return NULL;
}

static int disks_open(const char *path, int flags)
{
    if (before_open)
        before_open(path, flags);
    struct disk *d = disk_by_path(path);
    bool writes = (flags & O_ACCMODE) != O_RDONLY;
    if (!d)
        return strstr(path, "/dev/") ? -ENOENT : -ENXIO;
    if (writes && d->error)
        return -d->error;
    if (flags & O_EXCL && d->holders)
        return -EBUSY;
    int fd = open(d->file, (flags & O_ACCMODE) | O_CLOEXEC);
    if (fd < 0 || fd >= 1024)
        return -EMFILE;
    d->holders += (flags & O_EXCL) != 0;
    opened_as[fd].disk = d;
    opened_as[fd].exclusive = (flags & O_EXCL) != 0;
    if (after_open)
        after_open(path, flags);
    return fd;
}

static void disks_close(int fd)
{
    if (fd < 0)
        return;
    if (fd < 1024 && opened_as[fd].disk) {
        opened_as[fd].disk->holders -= opened_as[fd].exclusive;
        opened_as[fd].disk = NULL;
    }
    close(fd);
}

static void disk_stat(const struct disk *d, struct stat *out)
{
    memset(out, 0, sizeof *out);
    out->st_mode = (d->character ? S_IFCHR : S_IFBLK) | 0600;
    out->st_rdev = makedev(d->major, d->minor);
}

static int disks_stat(const char *path, struct stat *out)
{
    struct disk *d = strrchr(path, '/') ? disk_by_path(path) : NULL;
    if (!d)
        return stat(path, out) ? -errno : 0;
    disk_stat(d, out);
    return 0;
}

static int disks_fstat(int fd, struct stat *out)
{
    if (fd < 0 || fd >= 1024 || !opened_as[fd].disk)
        return fstat(fd, out) ? -errno : 0;
    disk_stat(opened_as[fd].disk, out);
    return 0;
}

static int nvme_answer(struct disk *d, bool admin, struct nvme_passthru_cmd64 *c)
{
    uint8_t *page = (uint8_t *)(uintptr_t)c->addr;
    const struct disk *ns = c->nsid == 2 ? &disks[NS2] : &disks[NS1]; /* whichever node it was asked by */
    if (admin && c->opcode == 0x06) {
        memset(page, 0, c->data_len);
        switch (c->cdw10 & 0xff) {
        case 0x00:
            page[30] = d->nmic, page[31] = d->rescap;
            if (ns->ms)
                page[26] = ns->flbas, page[29] = ns->dps, page[128] = ns->ms, page[130] = 9;
            break;
        case 0x01: page[76] = d->cmic, page[524] = d->fna, page[256] = d->oacs; break;
        case 0x10: page[0] = 1, page[4] = 2, page[8] = d->unseen; break;
        case 0x12: page[0] = d->attached; break;
        default: break;
        }
        return 0;
    }
    if (!admin && c->opcode == 0x0e) {
        page[5] = (uint8_t)d->keys;
        return 0;
    }
    d->changed += !(c->opcode == 0x02 && (c->cdw10 & 0xff) < 0xc0);
    return 0;
}

static int scsi_answer(struct disk *d, struct sg_io_hdr *h)
{
    static const uint8_t harmless[] = {0x00, 0x12, 0x5e, 0x9e, 0x25, 0xa3};
    if (h->dxfer_direction == SG_DXFER_FROM_DEV)
        memset(h->dxferp, 0, h->dxfer_len);
    if (h->cmdp[0] == 0x5e)
        ((uint8_t *)h->dxferp)[7] = (uint8_t)(8 * d->keys);
    d->changed += memchr(harmless, h->cmdp[0], sizeof harmless) == NULL;
    h->status = h->host_status = h->driver_status = 0;
    h->sb_len_wr = 0;
    h->resid = 0;
    return 0;
}

static int reread; /* partition tables */

static int disks_ioctl(int fd, unsigned long request, void *argument)
{
    struct disk *d = fd >= 0 && fd < 1024 ? opened_as[fd].disk : NULL;
    if (!d)
        return -EBADF;
    switch (request) {
    case BLKGETDISKSEQ:
        memcpy(argument, &d->sequence, sizeof d->sequence);
        return d->sequence && !d->character ? 0 : -ENOTTY;
    case BLKFLSBUF: return 0;
    case BLKRRPART: reread++; return 0;
    case NVME_IOCTL_ADMIN64_CMD: return nvme_answer(d, true, argument);
    case NVME_IOCTL_IO64_CMD: return nvme_answer(d, false, argument);
    case SG_IO: return scsi_answer(d, argument);
    default: return -ENOTTY;
    }
}

static ssize_t disks_read(int fd, void *data, size_t n, uint64_t offset)
{
    ssize_t got = pread(fd, data, n, (off_t)offset);
    return got < 0 ? -errno : got;
}

static ssize_t disks_write(int fd, const void *data, size_t n, uint64_t offset)
{
    ssize_t done = pwrite(fd, data, n, (off_t)offset);
    return done < 0 ? -errno : done;
}

static int disks_sync(int fd)
{
    return fd < 0 ? -EBADF : 0;
}

static struct calls real_calls;
static bool with_blkid = true;

static int disks_blkid(int fd, void (*found)(const char *name, void *user), void *user)
{
    return with_blkid ? real_calls.blkid(fd, found, user) : -ENOSYS;
}

/* ---- The machine ---- */

static void put_block(int i, const char *place, unsigned major_number, unsigned minor_number)
{
    struct disk *d = &disks[i];
    char number[24], text[24];
    snprintf(number, sizeof number, "%u:%u", major_number, minor_number);
    put_device("m", place, number, 0, SECTORS);
    snprintf(d->name, sizeof d->name, "%s", strrchr(place, '/') + 1);
    d->major = major_number;
    d->minor = minor_number;
    d->sequence = 100 + (unsigned)i;
    snprintf(text, sizeof text, "%d\n", 100 + i);
    put_attribute("m", d->name, "diskseq", text);
    put_attribute("m", d->name, "queue/logical_block_size", "512\n");
    put(in("m/dev/%s", d->name), "");
}

static void put_serial(const char *name, const char *serial)
{
    unlink(in("m/sys/class/block/%s/device/serial", name));
    put_attribute("m", name, "device/serial", serial);
}

static void disk_fill(const char *path, int byte)
{
    static char piece[1 << 16];
    FILE *f = fopen(path, "w");
    memset(piece, byte, sizeof piece);
    for (long n = 0; f && byte && n < SECTORS * 512; n += (long)sizeof piece)
        fwrite(piece, 1, sizeof piece, f);
    if (!f || ftruncate(fileno(f), SECTORS * 512) || fclose(f))
        exit(1);
}

/* Whether every byte of a disk is this one. */
static inline bool disk_is(int i, int byte)
{
    static unsigned char piece[1 << 16];
    FILE *f = fopen(disks[i].file, "r");
    bool same = f != NULL;
    size_t n;
    while (same && (n = fread(piece, 1, sizeof piece, f)) > 0)
        for (size_t k = 0; same && k < n; k++)
            same = piece[k] == byte;
    if (f)
        fclose(f);
    return same;
}

#define BYSTANDER 0xb7

static void forget_tree(const char *path)
{
    nftw(path, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* sda, and the bystander sdb; a controller nvme0 with two namespaces. */
static void disks_new(void)
{
    forget_tree(in("m"));
    memset(disks, 0, sizeof disks);
    memset(opened_as, 0, sizeof opened_as);
    before_open = after_open = NULL;
    static char files[N_DISKS][600];
    for (int i = 0; i < N_DISKS; i++) {
        snprintf(files[i], sizeof files[i], "%s", in("disk%d", i));
        disks[i].file = files[i];
        if (i != SDB || access(files[i], F_OK)) /* the bystander is filled once: it never changes */
            disk_fill(files[i], i == SDB ? BYSTANDER : 0);
    }
    put_block(SDA, SCSI_SDA "/block/sda", 8, 0);
    put_link(in("m/sys/devices/" SCSI_SDA "/block/sda/device"), in("m/sys/devices/" SCSI_SDA));
    put(in("m/sys/devices/" SCSI_SDA "/scsi_level"), "6\n");
    put(in("m/sys/devices/" SCSI_SDA "/wwid"), "naa.5000000000000001\n");
    put_serial("sda", "SERIALA1\n");
    put_block(SDB, "pci0/host1/target1:0:0/1:0:0:0/block/sdb", 8, 16);
    put_link(in("m/sys/devices/pci0/host1/target1:0:0/1:0:0:0/block/sdb/device"),
             in("m/sys/devices/pci0/host1/target1:0:0/1:0:0:0"));
    put(in("m/sys/devices/pci0/host1/target1:0:0/1:0:0:0/scsi_level"), "6\n");
    put_serial("sdb", "SERIALB2\n");
    put_folder(in("m/sys/class/nvme"));
    for (int ns = 0; ns < 2; ns++) {
        char place[80];
        snprintf(place, sizeof place, "pci0/nvme/nvme0/nvme0n%d", ns + 1);
        put_block(NS1 + ns, place, 259, (unsigned)ns);
        put_attribute("m", disks[NS1 + ns].name, "nsid", ns ? "2\n" : "1\n");
        put_serial(disks[NS1 + ns].name, "SERIALN3\n");
    }
    put(in("m/sys/devices/pci0/nvme/nvme0/serial"), "SERIALN3\n");
    put(in("m/sys/devices/pci0/nvme/nvme0/model"), "ACME Namespaces\n");
    put(in("m/sys/devices/pci0/nvme/nvme0/transport"), "pcie\n");
    put_link(in("m/sys/class/nvme/nvme0"), in("m/sys/devices/pci0/nvme/nvme0"));
    put_link(in("m/sys/devices/pci0/nvme/nvme0/subsystem"), in("m/sys/class/nvme"));
    put_link(in("m/sys/dev/char/240:0"), in("m/sys/devices/pci0/nvme/nvme0"));
    put(in("m/dev/nvme0"), "");
    snprintf(disks[CTRL].name, sizeof disks[CTRL].name, "nvme0");
    disks[CTRL].major = 240;
    disks[CTRL].character = true;
    put(in("m/proc/self/mountinfo"), "22 1 0:20 / / rw - tmpfs none rw\n");
    put(in("m/proc/swaps"), "Filename Type Size Used Priority\n");
    put(in("m/proc/cmdline"), "quiet\n");
}

static void disks_begin(void)
{
    real_calls = calls;
    node_set_root(in("m"));
    calls = (struct calls){disks_open, disks_close, disks_stat, disks_fstat, disks_ioctl,
                           disks_read, disks_write, disks_sync, disks_blkid};
}

/* Bytes of what is behind a disk. */
static inline void disk_put(int i, long at, const char *bytes, size_t n)
{
    FILE *f = fopen(disks[i].file, "r+");
    if (!f || fseek(f, at < 0 ? SECTORS * 512 + at : at, SEEK_SET) || fwrite(bytes, 1, n, f) != n || fclose(f))
        exit(1);
}

static struct sated_drive *disk_open(const char *name)
{
    struct sated_drive *d = NULL;
    int rc = sated_drive_open(&d, in("m/dev/%s", name), NULL);
    sated_detail_get(&detail);
    if (rc)
        printf("# %s\n", detail.text);
    CHECK_EQ(rc, 0);
    return d;
}

static inline void mounted_as(const char *file, const char *number, const char *source)
{
    char line[300];
    snprintf(line, sizeof line, "22 1 0:20 / / rw - tmpfs none rw\n36 22 %s / /srv rw shared:1 - ext4 %s rw\n", number,
             source);
    put(in("m/proc/%s", file), line);
}

static inline void partition(void)
{
    put_device("m", SCSI_SDA "/block/sda/sda1", "8:1", 1, 2048);
    put_attribute("m", "sda1", "start", "2048\n");
}

/* Everything that could change a drive, tried. Return: how much of it went through. */
static inline int try_everything(struct sated_drive *d)
{
    static uint8_t junk[4096];
    struct sated_reply reply;
    bool direct = false;
    uint32_t alignment;
    int fd, through = 0;
    memset(junk, 0x5a, sizeof junk);
    if (!handle_lend(d, true, &direct, &alignment, &fd)) {
        through += pwrite(fd, junk, sizeof junk, 8192) == (ssize_t)sizeof junk;
        handle_return(fd);
    }
    through += handle_need_permit(d, HANDLE_BLOCKS, "writing") == 0 && handle_check_same(d) == 0;
    through += handle_need_permit(d, HANDLE_DRIVE, "erasing") == 0 && handle_check_same(d) == 0;
    if (d->identity.protocol == SATED_PROTOCOL_NVME) {
        struct sated_nvme_command write = {.opcode = 1,
                                           .nsid = handle_namespace(d),
                                           .direction = SATED_DATA_OUT,
                                           .data_len = 512};
        struct sated_nvme_command format = {.admin = true, .opcode = 0x80, .nsid = handle_namespace(d)};
        struct sated_nvme_command sanitize = {.admin = true, .opcode = 0x84, .cdw10 = 2};
        through += d->kind == HANDLE_BLOCK && !sated_nvme_io_raw(d, &write, junk, &reply);
        through += !sated_nvme_admin_raw(d, &format, NULL, &reply);
        through += !sated_nvme_admin_raw(d, &sanitize, NULL, &reply);
    } else {
        struct sated_scsi_command write = {.cdb = {0x2a, 0, 0, 0, 0, 16, 0, 0, 8, 0},
                                           .cdb_len = 10,
                                           .direction = SATED_DATA_OUT,
                                           .data_len = 4096};
        struct sated_scsi_command format = {.cdb = {0x04}, .cdb_len = 6};
        struct sated_scsi_command sanitize = {.cdb = {0x48, 2}, .cdb_len = 10};
        through += !sated_scsi_raw(d, &write, junk, &reply);
        through += !sated_scsi_raw(d, &format, NULL, &reply);
        through += !sated_scsi_raw(d, &sanitize, NULL, &reply);
    }
    return through;
}

#endif
