/* SPDX-License-Identifier: MIT */
#include "transport/loops.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "core/error.h"
#include "transport/calls.h"

/* Asks the device itself (loop(4)), to which its node has to lead. */
static bool ask(struct loop_info64 *out, const char *name)
{
    char path[PATH_MAX], real[PATH_MAX], number[32];
    unsigned major_number, minor_number;
    struct stat st;
    node_device_path(path, sizeof path, name);
    if (!node_text(number, sizeof number, "/sys/block/%s/dev", name) ||
        sscanf(number, "%u:%u", &major_number, &minor_number) != 2 || !node_path(real, sizeof real, "%s", path))
        return false;
    int fd = calls.open(real, O_RDONLY | O_NONBLOCK);
    bool told = fd >= 0 && !calls.fstat(fd, &st) && S_ISBLK(st.st_mode) &&
                st.st_rdev == makedev(major_number, minor_number) && !calls.ioctl(fd, LOOP_GET_STATUS64, out);
    calls.close(fd);
    return told;
}

bool loops_backing(struct loop_backing *out, const char *name)
{
    struct sated_detail before = *error_last();
    struct loop_info64 info;
    memset(out, 0, sizeof *out);
    if (strncmp(name, "loop", 4) || !node_text(out->path, sizeof out->path, "/sys/block/%s/loop/backing_file", name))
        return false;
    memset(&info, 0, sizeof info);
    out->told = ask(&info, name);
    out->device = info.lo_device; /* packed as dev_t is */
    out->inode = info.lo_inode;
    out->rdev = info.lo_rdevice;
    if (out->rdev)
        node_of(out->node, out->rdev);
    error_copy(&before);
    return true;
}

bool loops_same(const struct loop_backing *a, const struct loop_backing *b)
{
    if (!a->told || !b->told)
        return !strcmp(a->path, b->path);
    return a->rdev || b->rdev ? a->rdev == b->rdev : a->device == b->device && a->inode == b->inode;
}
