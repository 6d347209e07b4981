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
#include "transport/node.h"

#define DEPTH_MAX 16  /* of devices upon devices; a cycle cannot be built, a longer stack is not known */
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

/* Turns the octal escapes of procfs (\040 for a blank) back into bytes, in place. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; to++) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' && from[2] <= '7' && from[3] >= '0' &&
            from[3] <= '7') {
            *to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + from[3] - '0');
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

struct mount {
    unsigned major, minor;
    char *point, *type, *source;
};

/* Takes a line of /proc/self/mountinfo apart (proc(5)): "36 35 98:0 /root /point options optional... - type source". */
static bool parse_mount(char *line, struct mount *m)
{
    char *separator = strstr(line, " - "), *save = NULL;
    if (!separator)
        return false;
    *separator = '\0';
    char *fields[5];
    for (int i = 0; i < 5; i++) {
        fields[i] = strtok_r(i ? NULL : line, " ", &save);
        if (!fields[i])
            return false;
    }
    if (sscanf(fields[2], "%u:%u", &m->major, &m->minor) != 2)
        return false;
    m->point = fields[4];
    m->type = strtok_r(separator + 3, " ", &save);
    m->source = m->type ? strtok_r(NULL, " ", &save) : NULL;
    if (!m->source)
        return false;
    unescape(m->point);
    unescape(m->source);
    return true;
}

/* The sysfs name behind a path in /dev: through links such as /dev/mapper/x, by its last part. */
static const char *device_name(const char *path, char buffer[PATH_MAX])
{
    char full[PATH_MAX];
    if (strncmp(path, "/dev/", 5))
        return "";
    if (!node_path(full, sizeof full, "%s", path) || !realpath(full, buffer))
        snprintf(buffer, PATH_MAX, "%s", path);
    return strrchr(buffer, '/') + 1;
}

static bool look_mounted(struct use_report *r, const char *name)
{
    bool found = false;
    char number[32] = "", resolved[PATH_MAX], *save = NULL, *text = node_slurp("/proc/self/mountinfo");
    unsigned major_number = 0, minor_number = 0;
    bool numbered = node_text(number, sizeof number, "/sys/class/block/%s/dev", name) &&
                    sscanf(number, "%u:%u", &major_number, &minor_number) == 2;
    for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
        struct mount m;
        /* By number, and by source too: btrfs and its kin give their mounts numbers of their own. */
        if (!parse_mount(line, &m) || (!(numbered && m.major == major_number && m.minor == minor_number) &&
                                       strcmp(device_name(m.source, resolved), name)))
            continue;
        found = r->mounted = true;
        use_add(r, "%s is mounted on %s (%s); unmount it first", name, m.point, m.type);
        break;
    }
    free(text);
    return found;
}

/* Calls back for the first column of /proc/swaps (proc(5)) until it returns true. */
static bool any_swap(bool (*is)(const char *path, const void *user), const void *user)
{
    char *save = NULL, *text = node_slurp("/proc/swaps");
    bool found = false;
    char *line = text ? strtok_r(text, "\n", &save) : NULL; /* the heading */
    while (line && !found && (line = strtok_r(NULL, "\n", &save))) {
        line[strcspn(line, " \t")] = '\0';
        unescape(line);
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
    const char *name;
    int depth;
};

static void look(struct use_report *r, const char *name, int depth);

static int visit_partition(const char *name, void *user)
{
    const struct looking *l = user;
    uint64_t number;
    if (node_number(&number, "/sys/class/block/%s/%s/partition", l->name, name))
        look(l->r, name, l->depth + 1);
    return 0;
}

static int visit_holder(const char *name, void *user)
{
    const struct looking *l = user;
    use_add(l->r, "%s is part of %s; take it out of there first", l->name, name);
    look(l->r, name, l->depth + 1);
    return 0;
}

static void look(struct use_report *r, const char *name, int depth)
{
    char folder[PATH_MAX];
    struct looking l = {r, name, depth};
    if (depth > DEPTH_MAX || r->count > COUNT_MAX)
        return;
    if (!look_mounted(r, name))
        look_in_btrfs(r, name);
    if (any_swap(is_device, name)) {
        r->mounted = true;
        use_add(r, "%s is swap space; swapoff it first", name);
    }
    snprintf(folder, sizeof folder, "/sys/class/block/%s", name);
    node_each(folder, visit_partition, &l);
    snprintf(folder, sizeof folder, "/sys/class/block/%s/holders", name);
    node_each(folder, visit_holder, &l);
}

void use_of_device(struct use_report *r, const char *name)
{
    look(r, name, 0);
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
    char backing[PATH_MAX];
    if (node_text(backing, sizeof backing, "/sys/block/%s/loop/backing_file", name) && is_file(backing, f))
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
    char *save = NULL, *text = node_slurp("/proc/self/mountinfo");
    struct statfs fs;
    out[0] = '\0';
    for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line && !out[0]; line = strtok_r(NULL, "\n", &save)) {
        struct mount m;
        if (parse_mount(line, &m) && m.major == major(device) && m.minor == minor(device))
            snprintf(out, n, "%s", m.type);
    }
    free(text);
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
