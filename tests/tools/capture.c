/* SPDX-License-Identifier: MIT */
/* Preloaded into a reference tool: $SATED_CAPTURE_NODE is a drive that takes every SCSI, ATA and NVMe command, answers
 * what a drive would to the few that tools look at first, and writes each command as a line to $SATED_CAPTURE: scsi,
 * admin or io; the CDB, or the NVMe command without its pointers; the direction (0 none, 1 in, 2 out); the length; the
 * timeout in ms; and the bytes sent. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/hdreg.h>
#include <linux/nvme_ioctl.h>
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

static int is_ours(const char *path)
{
    const char *node = getenv("SATED_CAPTURE_NODE");
    return node && !strcmp(path, node);
}

static int pretend(const char *path)
{
    if (!is_ours(path))
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

/* sg's major number, for the tools that look; the null device behind the descriptor is a character device too. */
int stat64(const char *path, struct stat64 *st)
{
    int (*real)(const char *, struct stat64 *) = (int (*)(const char *, struct stat64 *))dlsym(RTLD_NEXT, "stat64");
    if (!is_ours(path))
        return real(path, st);
    memset(st, 0, sizeof *st);
    st->st_mode = S_IFCHR | 0600;
    st->st_rdev = makedev(21, 0);
    return 0;
}

static void record(const char *kind, const void *command, size_t n, int direction, size_t length, unsigned timeout,
                   const void *data)
{
    const uint8_t *parts[] = {command, data};
    size_t lengths[] = {n, direction == 2 ? length : 0};
    FILE *to = fopen(getenv("SATED_CAPTURE"), "a");
    fprintf(to, "%s ", kind);
    for (int part = 0; part < 2; part++) {
        for (size_t i = 0; i < lengths[part]; i++)
            fprintf(to, "%02x", parts[part][i]);
        if (!part)
            fprintf(to, " %d %zu %u ", direction, direction ? length : 0, timeout);
    }
    fprintf(to, "\n");
    fclose(to);
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

/* The data of an ATA command: a drive with every feature set, or a device configuration. */
static void ata_answer(const uint8_t *cdb, uint8_t *to, size_t n)
{
    int command = cdb[0] == 0x85 ? cdb[14] : cdb[0] == 0xa1 ? cdb[9] : cdb[25];
    uint16_t words[256] = {0};
    uint8_t sum = 0;
    if (command == 0xec) {
        static const uint16_t set[][2] = {
            {0, 0x40},     {47, 0x8010},  {49, 0x2f00},  {53, 7},       {60, 0xffff}, {61, 0x0fff},  {63, 7},
            {69, 0x4020},  {75, 31},      {76, 0x010e},  {78, 0x4c},    {80, 0x0ff0}, {82, 0x7c6b},  {83, 0x7d09},
            {84, 0x4163},  {85, 0x7c69},  {86, 0xbc01},  {87, 0x4163},  {88, 0x407f}, {89, 10},      {90, 10},
            {91, 0xfe},    {92, 0xfffe},  {100, 0x6db0}, {101, 0x3a38}, {105, 8},     {106, 0x4000}, {119, 0x4100},
            {120, 0x4000}, {128, 0x0021}, {169, 1},      {206, 0x3d},   {217, 1},     {59, 0xf410},  {222, 0x10ff},
        };
        for (size_t i = 0; i < sizeof set / sizeof *set; i++)
            words[set[i][0]] = set[i][1];
        if (strstr(getenv("SATED_CAPTURE_NODE"), "-without-amac"))
            words[119] &= 0xfeff;
        memcpy(words + 10, "ASET D               ", 20);
        memcpy(words + 23, "0000    ", 8);
        memcpy(words + 27, "ASET DACTPRU E                          ", 40);
    } else if (command == 0xb1) {
        words[0] = 2, words[1] = words[2] = 7, words[3] = 0x6daf, words[4] = 0x3a38, words[7] = 0xdf;
    } else {
        return;
    }
    words[255] = 0xa5;
    for (size_t i = 0; i < 511; i++)
        sum += ((uint8_t *)words)[i];
    words[255] |= (uint16_t)((uint8_t)-sum << 8);
    memcpy(to, words, n < 512 ? n : 512);
}

static void sg_io(struct sg_io_hdr *h)
{
    /* ATA Status Return: the registers after a command without errors (SAT-5 12.2.6). */
    static const uint8_t registers[22] = {0x72, 1, 0,    0x1d, 0,    0, 0,    14, 9, 12,   0,
                                          0,    0, 0xff, 0,    0xff, 0, 0xff, 0,  0, 0x40, 0x50};
    int out = h->dxfer_direction == SG_DXFER_TO_DEV, in = h->dxfer_direction == SG_DXFER_FROM_DEV;
    int ata = h->cmdp[0] == 0x85 || h->cmdp[0] == 0xa1 || h->cmdp[0] == 0x7f;
    record("scsi", h->cmdp, h->cmd_len, out ? 2 : in, h->dxfer_len, h->timeout, h->dxferp);
    h->status = h->masked_status = 0;
    h->host_status = h->driver_status = 0;
    h->sb_len_wr = 0;
    h->info = 0;
    h->duration = 1;
    h->resid = in ? (int)(h->dxfer_len - answer(h->cmdp, h->dxferp, h->dxfer_len)) : 0;
    if (ata && in)
        ata_answer(h->cmdp, h->dxferp, h->dxfer_len);
    if (ata && h->cmdp[0] != 0x7f && h->cmdp[2] & 0x20 && h->mx_sb_len >= sizeof registers) {
        memcpy(h->sbp, registers, sizeof registers);
        h->sb_len_wr = sizeof registers;
        h->status = 2;
        h->masked_status = 1;
        h->driver_status = 8;
    }
}

/* What tools look at before they send more: a controller that can do everything, a namespace of blocks of 512 bytes. */
static void nvme_answer(const struct nvme_passthru_cmd *c, uint8_t *to)
{
    memset(to, 0, c->data_len);
    if (c->opcode != 6 || c->data_len < 4096)
        return;
    if ((c->cdw10 & 0xff) == 0) {
        to[2] = to[10] = 0x10; /* NSZE, NCAP */
        to[130] = 9;           /* LBAF0: LBADS */
    } else if ((c->cdw10 & 0xff) == 1) {
        memset(to + 4, ' ', 68);
        to[78] = 1;                  /* CNTLID */
        to[256] = 0xff, to[257] = 7; /* OACS */
        to[261] = 0x3e;              /* LPA */
        to[328] = 7;                 /* SANICAP */
        to[516] = 1;                 /* NN */
        to[520] = 0xff;              /* ONCS */
    }
}

/* The 64-bit form has the same members up to the timeout, and a longer result. */
static void nvme(const char *kind, struct nvme_passthru_cmd *c)
{
    void *data = (void *)(uintptr_t)c->addr;
    uint8_t sqe[64];
    int in = (c->opcode & 3) == 2;
    memcpy(sqe, c, sizeof sqe);
    memset(sqe + 16, 0, 24);
    record(kind, sqe, sizeof sqe, !c->data_len ? 0 : in ? 1 : 2, c->data_len, c->timeout_ms, data);
    if (c->data_len && in)
        nvme_answer(c, data);
    c->result = 0;
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
    if (request == HDIO_SET_WCACHE) { /* so that hdparm sends the command itself */
        errno = EINVAL;
        return -1;
    }
    switch (request) {
    case SG_GET_VERSION_NUM: *(int *)pointer = 30536; break;
    case SG_GET_RESERVED_SIZE: *(int *)pointer = 32768; break;
    case SG_IO: sg_io(pointer); break;
    case BLKGETSIZE64: *(uint64_t *)pointer = 976773168ull * 512; break;
    case BLKGETSIZE: *(unsigned long *)pointer = 976773168ul; break;
    case BLKSSZGET: *(int *)pointer = 512; break;
    case NVME_IOCTL_ID: return 1;
    case NVME_IOCTL_ADMIN_CMD:
    case NVME_IOCTL_ADMIN64_CMD: nvme("admin", pointer); break;
    case NVME_IOCTL_IO_CMD:
    case NVME_IOCTL_IO64_CMD: nvme("io", pointer); break;
    }
    return 0;
}
