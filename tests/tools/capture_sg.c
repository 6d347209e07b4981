/* SPDX-License-Identifier: MIT */
/* Preloaded into a reference tool: /dev/sgcapture is a drive that takes every SCSI command, answers what a disk would to
 * the few that tools look at first, and writes each command as a line to $SATED_CAPTURE: the CDB, the direction (0 none,
 * 1 in, 2 out), the length, and the bytes sent. */
#include <dlfcn.h>
#include <fcntl.h>
#include <scsi/sg.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int ours = -1;

static int pretend(const char *path)
{
    if (strcmp(path, "/dev/sgcapture"))
        return -1;
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    return ours = real("/dev/null", O_RDWR | O_CLOEXEC);
}

/* Every way in which the tools open a file; those of two arguments are what _FORTIFY_SOURCE makes of them. */
#define OPEN(name) \
    int name(const char *path, int flags, ...) \
    { \
        int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name); \
        va_list args; \
        int fd = pretend(path), mode; \
        va_start(args, flags); \
        mode = flags & O_CREAT ? va_arg(args, int) : 0; \
        va_end(args); \
        return fd >= 0 ? fd : real(path, flags, mode); \
    }
#define OPEN_2(name) \
    int name(const char *path, int flags); \
    int name(const char *path, int flags) \
    { \
        int (*real)(const char *, int) = (int (*)(const char *, int))dlsym(RTLD_NEXT, #name); \
        int fd = pretend(path); \
        return fd >= 0 ? fd : real(path, flags); \
    }
OPEN(open)
OPEN(open64)
OPEN_2(__open_2)
OPEN_2(__open64_2)

/* A character device of sg's major number. */
int stat64(const char *path, struct stat64 *st)
{
    int (*real)(const char *, struct stat64 *) = (int (*)(const char *, struct stat64 *))dlsym(RTLD_NEXT, "stat64");
    if (strcmp(path, "/dev/sgcapture"))
        return real(path, st);
    memset(st, 0, sizeof *st);
    st->st_mode = S_IFCHR | 0600;
    st->st_rdev = makedev(21, 0);
    return 0;
}

static void hex(FILE *to, const uint8_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fprintf(to, "%02x", b[i]);
}

/* What a disk of 1 GiB answers. */
static size_t answer(const uint8_t *cdb, uint8_t *to, size_t n)
{
    static const uint8_t inquiry[] = "\x00\x00\x07\x02\x5b\x00\x00\x02SATED   CAPTURE         0001";
    static const uint8_t vpd[] = {0, 0, 0, 4, 0, 0x80, 0x83, 0xb0};
    static const uint8_t capacity[32] = {0, 0, 0, 0, 0, 0x1f, 0xff, 0xff, 0, 0, 2, 0};
    static const uint8_t caching[] = {0, 26, 0, 0x10, 0, 0, 0, 0, 0x88, 0x12, 0x10, 0, 0xff, 0xff,
                                      0, 0,  0, 0,    0, 0, 0, 0, 0x80, 0x14, 0,    0, 0,    0};
    static const uint8_t recovery[] = {0, 26, 0,    0x10, 0,    0,    0,    8, 0, 0x20, 0, 0, 0,    0,
                                       2, 0,  0x81, 0x0a, 0xc0, 0x0b, 0xf0, 0, 0, 0,    5, 0, 0xff, 0xff};
    const uint8_t *from = NULL;
    size_t length = 0;
#define REPLY(array) (from = (array), length = sizeof(array))
    if (cdb[0] == 0x12 && !(cdb[1] & 1))
        REPLY(inquiry);
    else if (cdb[0] == 0x12)
        REPLY(vpd);
    else if (cdb[0] == 0x25)
        from = capacity + 4, length = 8;
    else if (cdb[0] == 0x9e && cdb[1] == 0x10)
        REPLY(capacity);
    else if (cdb[0] == 0x5a && (cdb[2] & 0x3f) == 8)
        REPLY(caching);
    else if (cdb[0] == 0x5a)
        REPLY(recovery);
    if (length > n)
        length = n;
    memset(to, 0, n);
    if (from)
        memcpy(to, from, length);
    return from ? length : n;
}

int ioctl(int fd, unsigned long request, ...)
{
    int (*real)(int, unsigned long, ...) = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
    va_list args;
    void *pointer;
    va_start(args, request);
    pointer = va_arg(args, void *);
    va_end(args);
    if (ours < 0 || fd != ours)
        return real(fd, request, pointer);
    if (request == SG_GET_VERSION_NUM)
        *(int *)pointer = 30536;
    if (request == SG_GET_RESERVED_SIZE)
        *(int *)pointer = 32768;
    if (request == SG_IO) {
        struct sg_io_hdr *h = pointer;
        int out = h->dxfer_direction == SG_DXFER_TO_DEV, in = h->dxfer_direction == SG_DXFER_FROM_DEV;
        FILE *to = fopen(getenv("SATED_CAPTURE"), "a");
        hex(to, h->cmdp, h->cmd_len);
        fprintf(to, " %d %u ", out ? 2 : in ? 1 : 0, out || in ? h->dxfer_len : 0);
        if (out)
            hex(to, h->dxferp, h->dxfer_len);
        fprintf(to, "\n");
        fclose(to);
        h->status = h->masked_status = 0;
        h->host_status = h->driver_status = 0;
        h->sb_len_wr = 0;
        h->info = 0;
        h->duration = 1;
        h->resid = in ? (int)(h->dxfer_len - answer(h->cmdp, h->dxferp, h->dxfer_len)) : 0;
    }
    return 0;
}
