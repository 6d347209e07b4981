/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* F_OFD_GETLK */
#include "transport/use.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/retry.h"
#include "transport/loops.h"
#include "transport/mounts.h"
#include "transport/node.h"

#define DEPTH_MAX 16 /* of devices upon devices; a cycle cannot be built, a longer stack is not known */
#define BOOT_MAX 4
#define COUNT_MAX 256 /* of sentences: more have no room, and a broken tree must come to an end */

void use_add(struct use_report *r, const char *format, ...)
{
    size_t used = strlen(r->text);
    char line[600];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    r->count++;
    snprintf(r->text + used, r->n - used, "%s%s", used ? "\n" : "", line);
}

/* The sysfs name behind a path in /dev: through links such as /dev/mapper/x, by its last part. */
static const char *device_name(const char *path, char buffer[PATH_MAX])
{
    char full[PATH_MAX];
    if (strncmp(path, "/dev/", 5))
        return "";
    if (!node_path(full, sizeof full, "%s", path))
        return "";
    if (!realpath(full, buffer)) { /* a link to a node that is not there says at least its name */
        ssize_t n = readlink(full, buffer, PATH_MAX - 1);
        buffer[n > 0 ? n : 0] = '\0';
        if (n <= 0)
            snprintf(buffer, PATH_MAX, "%s", path);
    }
    const char *slash = strrchr(buffer, '/');
    return slash ? slash + 1 : buffer;
}

/* Whether the source of a mount is that device; of several, as bcachefs has, one of them. */
static bool is_source(const char *source, const char *name)
{
    char one[PATH_MAX], resolved[PATH_MAX];
    for (const char *at = source; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        snprintf(one, sizeof one, "%.*s", (int)strcspn(at, ":"), at);
        if (!strcmp(device_name(one, resolved), name) || (at == source && !strcmp(device_name(at, resolved), name)))
            return true;
    }
    return false;
}

static bool look_mounted(struct use_report *r, const struct mounts *mounts, const char *name)
{
    char number[32] = "";
    unsigned major_number = 0, minor_number = 0;
    bool numbered = node_text(number, sizeof number, "/sys/class/block/%s/dev", name) &&
                    sscanf(number, "%u:%u", &major_number, &minor_number) == 2;
    for (size_t i = 0; i < mounts->n; i++) {
        const struct mount *m = &mounts->list[i];
        /* By number, and by source too: btrfs and its kin give their mounts numbers of their own. */
        if (!(numbered && m->major == major_number && m->minor == minor_number) && !is_source(m->source, name))
            continue;
        r->mounted = true;
        if (m->pid)
            use_add(r, "%s is mounted on %s (%s) in the mount namespace of process %ld; unmount it there first", name,
                    m->point, m->type, m->pid);
        else
            use_add(r, "%s is mounted on %s (%s); unmount it first", name, m->point, m->type);
        return true;
    }
    return false;
}

/* Calls back for the first column of /proc/swaps (proc(5)) until it returns true. */
static bool any_swap(bool (*is)(const char *path, const void *user), const void *user)
{
    char *save = NULL, *text = node_slurp("/proc/swaps");
    bool found = false;
    char *line = text ? strtok_r(text, "\n", &save) : NULL; /* the heading */
    while (line && !found && (line = strtok_r(NULL, "\n", &save))) {
        line[strcspn(line, " \t")] = '\0';
        mounts_unescape(line);
        found = is(line, user);
    }
    free(text);
    return found;
}

static bool is_device(const char *path, const void *user)
{
    char resolved[PATH_MAX];
    return !strcmp(device_name(path, resolved), user);
}

struct member {
    const char *name;
    char volume[NODE_NAME];
};

static int visit_volume(const char *volume, void *user)
{
    struct member *m = user;
    char path[PATH_MAX];
    if (!node_path(path, sizeof path, "/sys/fs/btrfs/%s/devices/%s", volume, m->name) || access(path, F_OK))
        return 0;
    snprintf(m->volume, sizeof m->volume, "%s", volume);
    return 1;
}

/* Of a btrfs of several devices only one is named by the mount; sysfs has them all while it is mounted. */
static void look_in_btrfs(struct use_report *r, const char *name)
{
    struct member m = {.name = name};
    if (node_each("/sys/fs/btrfs", visit_volume, &m) != 1)
        return;
    r->mounted = true;
    use_add(r, "%s is part of the mounted btrfs %s; unmount that first", name, m.volume);
}

struct looking {
    struct use_report *r;
    const struct mounts *mounts;
    const char (*boot)[NODE_NAME]; /* BOOT_MAX devices that the kernel was started with */
    const char *name;
    int depth;
};

static void look(const struct looking *above, const char *name);

static int visit_partition(const char *name, void *user)
{
    const struct looking *l = user;
    uint64_t number;
    if (node_number(&number, "/sys/class/block/%s/%s/partition", l->name, name))
        look(l, name);
    return 0;
}

static int visit_holder(const char *name, void *user)
{
    const struct looking *l = user;
    char uuid[160];
    if (node_text(uuid, sizeof uuid, "/sys/class/block/%s/dm/uuid", name) && !strncmp(uuid, "mpath-", 6))
        use_add(l->r, "%s is a path of the multipath device %s; take that apart first (multipath -f)", l->name, name);
    else
        use_add(l->r, "%s is part of %s; take it out of there first", l->name, name);
    look(l, name);
    return 0;
}

static int visit_loop_of(const char *loop, void *user)
{
    const struct looking *l = user;
    char resolved[PATH_MAX];
    struct loop_backing beneath;
    if (loops_backing(&beneath, loop) &&
        (!strcmp(beneath.node, l->name) || !strcmp(device_name(beneath.path, resolved), l->name))) {
        use_add(l->r, "%s backs the loop device /dev/%s; losetup -d /dev/%s first", l->name, loop, loop);
        look(l, loop);
    }
    return 0;
}

static void look(const struct looking *above, const char *name)
{
    char path[PATH_MAX];
    struct use_report *r = above->r;
    struct looking l = *above;
    l.name = name;
    l.depth++;
    if (l.depth > DEPTH_MAX || r->count > COUNT_MAX)
        return;
    if (!look_mounted(r, l.mounts, name))
        look_in_btrfs(r, name);
    if (any_swap(is_device, name)) {
        r->mounted = true;
        use_add(r, "%s is swap space; swapoff it first", name);
    }
    for (int i = 0; i < BOOT_MAX; i++)
        if (!strcmp(l.boot[i], name))
            use_add(r,
                    "%s is what this machine was booted from (root= or resume= in /proc/cmdline); take another drive",
                    name);
    if (node_path(path, sizeof path, "/sys/class/block/%s/bcache", name) && access(path, F_OK) == 0)
        use_add(r, "%s is registered with bcache; stop and unregister it first (/sys/class/block/%s/bcache)", name,
                name);
    snprintf(path, sizeof path, "/sys/class/block/%s", name);
    node_each(path, visit_partition, &l);
    snprintf(path, sizeof path, "/sys/class/block/%s/holders", name);
    node_each(path, visit_holder, &l);
    node_each("/sys/block", visit_loop_of, &l);
}

/* A value of root= or resume= (Documentation/admin-guide/kernel-parameters): a path, or a tag that udev has links for. */
static void boot_device(char out[NODE_NAME], const char *value)
{
    static const struct {
        const char *tag, *folder;
    } tags[] = {{"UUID=", "uuid"}, {"PARTUUID=", "partuuid"}, {"LABEL=", "label"}, {"PARTLABEL=", "partlabel"}};
    char path[PATH_MAX], resolved[PATH_MAX];
    snprintf(path, sizeof path, "%s", value);
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        size_t n = strlen(tags[i].tag);
        if (!strncmp(value, tags[i].tag, n))
            snprintf(path, sizeof path, "/dev/disk/by-%s/%s", tags[i].folder, value + n);
    }
    snprintf(out, NODE_NAME, "%.*s", NODE_NAME - 1, device_name(path, resolved));
}

static void find_boot(char boot[BOOT_MAX][NODE_NAME])
{
    char *save = NULL, *text = node_slurp("/proc/cmdline");
    int n = 0;
    memset(boot, 0, BOOT_MAX * NODE_NAME);
    for (char *word = text ? strtok_r(text, " \n", &save) : NULL; word && n < BOOT_MAX;
         word = strtok_r(NULL, " \n", &save)) {
        if (!strncmp(word, "root=", 5))
            boot_device(boot[n++], word + 5);
        else if (!strncmp(word, "resume=", 7))
            boot_device(boot[n++], word + 7);
    }
    free(text);
}

void use_of_device(struct use_report *r, const char *name)
{
    char boot[BOOT_MAX][NODE_NAME];
    struct mounts mounts;
    mounts_read(&mounts, true);
    find_boot(boot);
    r->blind |= !mounts.told;
    look(&(struct looking){.r = r, .mounts = &mounts, .boot = (const char(*)[NODE_NAME])boot}, name);
    mounts_free(&mounts);
}

struct beneath {
    struct use_report *r;
    const char *name;
    struct loop_backing of;
};

static int visit_other(const char *name, void *user)
{
    const struct beneath *b = user;
    struct loop_backing other;
    if (strcmp(name, b->name) && loops_backing(&other, name) && loops_same(&b->of, &other))
        use_add(b->r, "%s and %s are loop devices of the same file, %s; losetup -d /dev/%s first", b->name, name,
                b->of.path, name);
    return 0;
}

void use_beneath(struct use_report *r, const char *name)
{
    struct beneath b = {.r = r, .name = name};
    char path[PATH_MAX], real[PATH_MAX];
    if (!loops_backing(&b.of, name))
        return;
    if (b.of.rdev) {
        use_add(r, "%s is a loop device of the block device %s; open that", name, b.of.node[0] ? b.of.node : b.of.path);
    } else if (!b.of.told && !strncmp(b.of.path, "/dev/", 5) && strncmp(b.of.path, "/dev/shm/", 9)) {
        if (!node_path(path, sizeof path, "%s", b.of.path) || !realpath(path, real))
            snprintf(real, sizeof real, "%s", b.of.path);
        use_add(r, "%s is a loop device of the block device %s; open that", name, strrchr(real, '/') + 1);
    } else {
        node_each("/sys/block", visit_other, &b);
    }
}

struct partitions {
    const char *disk;
    char names[200];
    int n;
};

static int count_partition(const char *name, void *user)
{
    struct partitions *p = user;
    uint64_t number;
    size_t used = strlen(p->names);
    if (node_number(&number, "/sys/class/block/%s/%s/partition", p->disk, name)) {
        snprintf(p->names + used, sizeof p->names - used, "%s%s", p->n ? ", " : "", name);
        p->n++;
    }
    return 0;
}

void use_of_partitions(struct use_report *r, const char *name)
{
    char folder[NODE_NAME + 24];
    struct partitions p = {.disk = name};
    snprintf(folder, sizeof folder, "/sys/class/block/%s", name);
    node_each(folder, count_partition, &p);
    if (!p.n)
        return;
    use_add(
        r,
        "%s has %d partition%s (%s); where nothing of %s is wanted any more, --wipe-signatures of sated purge or review takes %s away",
        name, p.n, p.n > 1 ? "s" : "", p.names, p.n > 1 ? "them" : "it", p.n > 1 ? "them" : "it");
    r->wipeable++;
}

struct file {
    struct use_report *r;
    const char *path;
    uint64_t device, inode;
};

static bool is_file(const char *path, const void *user)
{
    const struct file *f = user;
    struct stat st;
    return !strcmp(path, f->path) || (stat(path, &st) == 0 && st.st_dev == f->device && st.st_ino == f->inode);
}

static int visit_loop(const char *name, void *user)
{
    const struct file *f = user;
    struct loop_backing beneath;
    if (loops_backing(&beneath, name) &&
        ((beneath.told && beneath.device == f->device && beneath.inode == f->inode) || is_file(beneath.path, f)))
        use_add(f->r, "it backs the loop device /dev/%s; losetup -d /dev/%s first", name, name);
    return 0;
}

void use_of_file(struct use_report *r, const char *path, uint64_t device, uint64_t inode)
{
    struct file f = {r, path, device, inode};
    if (any_swap(is_file, &f))
        use_add(r, "it is swap space; swapoff it first");
    node_each("/sys/block", visit_loop, &f);
}

void use_file_system(char *out, size_t n, int fd, uint64_t device)
{
    /* f_type of statfs(2), from linux/magic.h, where no mount has the number: btrfs subvolumes, overlays. */
    static const struct {
        unsigned long magic;
        const char *name;
    } types[] = {
        {0xef53, "ext4"},        {0x58465342, "xfs"},      {0x9123683e, "btrfs"}, {0x01021994, "tmpfs"},
        {0x794c7630, "overlay"}, {0xf2f52010, "f2fs"},     {0x2fc12fc1, "zfs"},   {0x6969, "nfs"},
        {0x65735546, "fuse"},    {0x01021997, "9p"},       {0x4d44, "vfat"},      {0x2011bab0, "exfat"},
        {0x858458f6, "ramfs"},   {0xca451a4e, "bcachefs"}, {0xff534d42, "cifs"},
    };
    struct mounts mounts;
    struct statfs fs;
    out[0] = '\0';
    mounts_read(&mounts, false);
    for (size_t i = 0; i < mounts.n && !out[0]; i++)
        if (mounts.list[i].major == major(device) && mounts.list[i].minor == minor(device))
            snprintf(out, n, "%s", mounts.list[i].type);
    mounts_free(&mounts);
    if (out[0] || fstatfs(fd, &fs))
        return;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].magic == ((unsigned long)fs.f_type & 0xffffffff))
            snprintf(out, n, "%s", types[i].name);
    if (!out[0])
        snprintf(out, n, "file system %#lx", (unsigned long)fs.f_type);
}

bool use_is_locked(int fd, long *pid)
{
    /* The kernel's own answer, as /proc/locks has other device numbers than stat(2) on some file systems. */
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (RETRY(fcntl(fd, F_OFD_GETLK, &lock)) || lock.l_type == F_UNLCK)
        return false;
    *pid = lock.l_pid; /* -1: of an open file (qemu's), 0: of another pid namespace */
    return true;
}

long use_lock_holder(uint64_t device, uint64_t inode)
{
    /* "1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF" (proc_locks(5)): hexadecimal device, decimal inode. */
    char *save = NULL, *text = node_slurp("/proc/locks");
    long holder = 0;
    for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line && !holder; line = strtok_r(NULL, "\n", &save)) {
        long pid;
        unsigned major_number, minor_number;
        unsigned long long number;
        if (sscanf(line, "%*s FLOCK %*s %*s %ld %x:%x:%llu", &pid, &major_number, &minor_number, &number) == 4 &&
            major_number == major(device) && minor_number == minor(device) && number == inode)
            holder = pid;
    }
    free(text);
    return holder > 0 ? holder : 0;
}
