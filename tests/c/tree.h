/* SPDX-License-Identifier: MIT */
/* A temporary folder, and trees of sysfs, procfs and /dev built in one. */
#ifndef SATED_TESTS_TREE_H
#define SATED_TESTS_TREE_H

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char tree_root[300]; /* the real path of the temporary folder */

static inline int tree_begin(void)
{
    const char *tmp = getenv("TMPDIR");
    char made[300];
    snprintf(made, sizeof made, "%s/sated-test-XXXXXX", tmp ? tmp : "/tmp");
    char *real = mkdtemp(made) ? realpath(made, NULL) : NULL;
    if (!real || strlen(real) >= sizeof tree_root) {
        free(real);
        return -1;
    }
    strcpy(tree_root, real);
    free(real);
    return 0;
}

static inline int tree_remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static inline void tree_end(void)
{
    nftw(tree_root, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A path in the temporary folder; valid until eight more were asked for. */
static inline char *in(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline char *in(const char *format, ...)
{
    static char paths[8][600];
    static int next;
    char *path = paths[next++ % 8];
    int n = snprintf(path, sizeof paths[0], "%s/", tree_root);
    va_list args;
    va_start(args, format);
    vsnprintf(path + n, sizeof paths[0] - (size_t)n, format, args);
    va_end(args);
    return path;
}

static inline void tree_folders_of(const char *path)
{
    char part[600];
    for (const char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(p - path), path);
        mkdir(part, 0755);
    }
}

/* Makes a file of bytes, and the folders above it. */
static inline void put_bytes(const char *path, const void *data, size_t n)
{
    tree_folders_of(path);
    FILE *f = fopen(path, "w");
    if (!f || fwrite(data, 1, n, f) != n || fclose(f)) {
        perror(path);
        exit(1);
    }
}

static inline void put(const char *path, const char *text)
{
    put_bytes(path, text, strlen(text));
}

static inline void put_folder(const char *path)
{
    char below[600];
    snprintf(below, sizeof below, "%s/", path);
    tree_folders_of(below);
}

static inline void put_link(const char *path, const char *target)
{
    tree_folders_of(path);
    if (symlink(target, path)) {
        perror(path);
        exit(1);
    }
}

/* A block device below `root` of the kind that sysfs shows: its folder under /sys/devices, and the links to it.
 * @param place such as "pci0000:00/ata1/host0/block/sda", or "pci0000:00/ata1/host0/block/sda/sda1" for a partition;
 * @param partition its number, 0 for a disk; @param sectors of 512 bytes. */
static inline void put_device(const char *root, const char *place, const char *number, int partition, long sectors)
{
    char text[64];
    const char *name = strrchr(place, '/') + 1;
    snprintf(text, sizeof text, "%ld\n", sectors);
    put(in("%s/sys/devices/%s/size", root, place), text);
    snprintf(text, sizeof text, "%s\n", number);
    put(in("%s/sys/devices/%s/dev", root, place), text);
    put_folder(in("%s/sys/devices/%s/holders", root, place));
    put_folder(in("%s/sys/devices/%s/slaves", root, place));
    put_link(in("%s/sys/class/block/%s", root, name), in("%s/sys/devices/%s", root, place));
    put_link(in("%s/sys/dev/block/%s", root, number), in("%s/sys/devices/%s", root, place));
    if (partition) {
        snprintf(text, sizeof text, "%d\n", partition);
        put(in("%s/sys/devices/%s/partition", root, place), text);
    } else {
        put_link(in("%s/sys/block/%s", root, name), in("%s/sys/devices/%s", root, place));
    }
}

/* An attribute of such a device. */
static inline void put_attribute(const char *root, const char *name, const char *attribute, const char *text)
{
    put(in("%s/sys/class/block/%s/%s", root, name, attribute), text);
}

#endif
