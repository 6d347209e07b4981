/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* strverscmp */
#include "transport/node.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/error.h"
#include "core/file.h"
#include "core/retry.h"

static char root[PATH_MAX];
static _Thread_local const char *here; /* in place of it */

void node_set_root(const char *to)
{
    snprintf(root, sizeof root, "%s", to ? to : "");
}

const char *node_use_root(const char *to)
{
    const char *was = here;
    here = to;
    return was;
}

static bool path_of(char *out, size_t n, const char *format, va_list args)
{
    int before = snprintf(out, n, "%s", here ? here : root);
    if (before < 0 || (size_t)before >= n)
        return false;
    int rest = vsnprintf(out + before, n - (size_t)before, format, args);
    return rest >= 0 && (size_t)rest < n - (size_t)before;
}

bool node_path(char *out, size_t n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool fits = path_of(out, n, format, args);
    va_end(args);
    return fits;
}

int node_reopen(int fd, int flags)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return file_open(path, flags, 0);
}

static long read_some(const char *path, void *out, size_t n)
{
    int fd = file_open(path, O_RDONLY, 0);
    if (fd < 0)
        return -errno;
    size_t used = 0;
    ssize_t got = 1;
    while (used < n && got > 0) {
        got = RETRY(read(fd, (char *)out + used, n - used));
        used += got > 0 ? (size_t)got : 0;
    }
    long error = got < 0 ? -errno : 0;
    close(fd);
    return error ? error : (long)used;
}

long node_bytes(void *out, size_t n, const char *format, ...)
{
    char path[PATH_MAX];
    va_list args;
    va_start(args, format);
    bool fits = path_of(path, sizeof path, format, args);
    va_end(args);
    return fits ? read_some(path, out, n) : -ENAMETOOLONG;
}

static bool first_line(char *out, size_t n, const char *format, va_list args)
{
    char path[PATH_MAX], text[4096];
    long got = path_of(path, sizeof path, format, args) ? read_some(path, text, sizeof text - 1) : 0;
    out[0] = '\0';
    if (got <= 0)
        return false;
    text[got] = '\0';
    text[strcspn(text, "\n")] = '\0';
    for (char *p = text; *p; p++) /* a drive's words may be anything, such as what moves the cursor of a terminal */
        if (iscntrl((unsigned char)*p) && *p != '\t')
            *p = '?';
    char *from = text, *to = text + strlen(text);
    while (isspace((unsigned char)*from))
        from++;
    while (to > from && isspace((unsigned char)to[-1]))
        to--;
    *to = '\0';
    snprintf(out, n, "%s", from);
    return out[0] != '\0';
}

bool node_text(char *out, size_t n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool found = first_line(out, n, format, args);
    va_end(args);
    return found;
}

bool node_number(uint64_t *out, const char *format, ...)
{
    char text[64], *end;
    va_list args;
    va_start(args, format);
    bool found = first_line(text, sizeof text, format, args);
    va_end(args);
    if (!found || !isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || *end)
        return false;
    *out = value;
    return true;
}

char *node_slurp(const char *path)
{
    char full[PATH_MAX];
    if (!node_path(full, sizeof full, "%s", path))
        return NULL;
    /* procfs tells no length; a table that grew between two readings is read again, whole. */
    for (size_t n = 1 << 16; n <= (size_t)1 << 28; n *= 4) {
        char *text = malloc(n);
        long got = text ? read_some(full, text, n) : -ENOMEM;
        if (got >= 0 && (size_t)got < n) {
            text[got] = '\0';
            return text;
        }
        free(text);
        if (got < 0)
            return NULL;
    }
    return NULL;
}

static int by_version(const struct dirent **a, const struct dirent **b)
{
    return strverscmp((*a)->d_name, (*b)->d_name);
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int node_each(const char *folder, int (*visit)(const char *name, void *user), void *user)
{
    char path[PATH_MAX];
    struct dirent **entries;
    if (!node_path(path, sizeof path, "%s", folder))
        return -ENAMETOOLONG;
    int n = scandir(path, &entries, not_hidden, by_version), rc = 0;
    if (n < 0)
        return -errno;
    for (int i = 0; i < n; i++) {
        if (!rc)
            rc = visit(entries[i]->d_name, user);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

static bool is_disk(const char *name)
{
    static const char *const never[] = {"ram", "zram", "dm-", "fd", "sr"};
    char text[PATH_MAX];
    uint64_t number;
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        size_t n = strlen(never[i]);
        if (!strncmp(name, never[i], n) && isdigit((unsigned char)name[n]))
            return false;
    }
    if (!strncmp(name, "loop", 4) && !node_text(text, sizeof text, "/sys/class/block/%s/loop/backing_file", name))
        return false;
    if (node_number(&number, "/sys/class/block/%s/hidden", name) && number)
        return false;
    return !node_number(&number, "/sys/class/block/%s/size", name) || number > 0;
}

struct disks {
    int (*visit)(const char *name, void *user);
    void *user;
};

static int visit_disk(const char *name, void *user)
{
    const struct disks *disks = user;
    return is_disk(name) ? disks->visit(name, disks->user) : 0;
}

int node_each_disk(int (*visit)(const char *name, void *user), void *user)
{
    return node_each("/sys/block", visit_disk, &(struct disks){visit, user});
}

static bool last_part(char name[NODE_NAME], const char *path)
{
    const char *slash = strrchr(path, '/');
    int n = snprintf(name, NODE_NAME, "%s", slash ? slash + 1 : path);
    return n > 0 && n < NODE_NAME;
}

int node_of(char name[NODE_NAME], uint64_t rdev)
{
    char path[PATH_MAX], real[PATH_MAX];
    if (node_path(path, sizeof path, "/sys/dev/block/%u:%u", major(rdev), minor(rdev)) && realpath(path, real) &&
        last_part(name, real))
        return 0;
    name[0] = '\0';
    return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                     "sysfs does not know the block device %u:%u; mount /sys, or name the device itself", major(rdev),
                     minor(rdev));
}

bool node_folder(char *out, size_t n, const char *name)
{
    char path[PATH_MAX], real[PATH_MAX];
    if (!name[0] || name[0] == '.' || strchr(name, '/') || !node_path(path, sizeof path, "/sys/class/block/%s", name) ||
        !realpath(path, real))
        return false;
    return (size_t)snprintf(out, n, "%s", real) < n;
}

int node_whole(char whole[NODE_NAME], const char *name)
{
    char folder[PATH_MAX];
    uint64_t number;
    whole[0] = '\0';
    if (!node_folder(folder, sizeof folder, name))
        return error_set(-ENOENT, SATED_LAYER_DRIVE,
                         "%s: no block device of that name; `sated list` shows what there is", name);
    if (node_number(&number, "/sys/class/block/%s/partition", name))
        *strrchr(folder, '/') = '\0';
    if (!last_part(whole, folder))
        return error_set(-ENOENT, SATED_LAYER_DRIVE, "%s: its disk in sysfs has a name of more than %d bytes", name,
                         NODE_NAME - 1);
    return 0;
}

struct names {
    char (*out)[NODE_NAME];
    size_t cap;
    int n;
};

static int visit_slave(const char *name, void *user)
{
    struct names *names = user;
    if ((size_t)names->n < names->cap)
        snprintf(names->out[names->n], NODE_NAME, "%s", name);
    names->n++;
    return 0;
}

int node_beneath(char (*out)[NODE_NAME], size_t cap, const char *name)
{
    char whole[NODE_NAME], path[PATH_MAX];
    struct names names = {.out = out, .cap = cap};
    int rc = node_whole(whole, name);
    if (rc)
        return rc;
    if (node_path(path, sizeof path, "/sys/class/block/%s/dm", name) && access(path, F_OK) == 0) {
        snprintf(path, sizeof path, "/sys/class/block/%s/slaves", name);
        node_each(path, visit_slave, &names);
        return names.n;
    }
    visit_slave(whole, &names);
    return names.n;
}

void node_device_path(char *out, size_t n, const char *name)
{
    snprintf(out, n, "/dev/%s", name);
    for (char *p = out; *p; p++)
        if (*p == '!') /* sysfs writes the slash of names such as cciss/c0d0 so */
            *p = '/';
}

struct link {
    const char *folder, *name;
    char *out;
    size_t n;
    int rank;
    char nsid[24]; /* "_2" of an NVMe namespace */
};

/* Links that say model and serial are worth more than numbers made by a bus. Of NVMe's, udev makes two: that without
 * the namespace leads to whichever of a drive's namespaces came last. */
static int rank_of(const char *link, const char *nsid)
{
    size_t length = strlen(link), tail = strlen(nsid);
    static const char *const poor[] = {"wwn-",  "nvme-eui.", "nvme-nvme.", "nvme-uuid.",
                                       "scsi-", "dm-",       "lvm-",       "raid-"};
    for (size_t i = 0; i < sizeof poor / sizeof *poor; i++)
        if (!strncmp(link, poor[i], strlen(poor[i])))
            return 1;
    return tail && length > tail && !strcmp(link + length - tail, nsid) ? 3 : 2;
}

static int visit_link(const char *link, void *user)
{
    struct link *l = user;
    char path[PATH_MAX], target[PATH_MAX];
    if (!node_path(path, sizeof path, "%s/%s", l->folder, link))
        return 0;
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n <= 0)
        return 0;
    target[n] = '\0';
    const char *slash = strrchr(target, '/');
    int rank = rank_of(link, l->nsid);
    if (strcmp(slash ? slash + 1 : target, l->name) || rank <= l->rank)
        return 0;
    l->rank = rank;
    snprintf(l->out, l->n, "%s/%s", l->folder, link);
    return 0;
}

bool node_link(char *out, size_t n, const char *folder, const char *name)
{
    char device[PATH_MAX];
    node_device_path(device, sizeof device, name);
    struct link l = {.folder = folder, .name = strrchr(device, '/') + 1, .out = out, .n = n};
    uint64_t nsid;
    out[0] = '\0';
    if (node_number(&nsid, "/sys/class/block/%s/nsid", name))
        snprintf(l.nsid, sizeof l.nsid, "_%" PRIu64, nsid);
    node_each(folder, visit_link, &l);
    return l.rank > 0;
}
