/* SPDX-License-Identifier: MIT */
#include "core/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local struct sated_detail last;

/* What a drive or a file system may answer. The C library's own texts follow the locale, and its names are younger than
 * the C libraries that we build on. */
#define E(name, text) \
    { \
        name, #name, text \
    }
static const struct {
    int code;
    const char *name, *text;
} errnos[] = {
    E(EPERM, "Operation not permitted"),
    E(ENOENT, "No such file or directory"),
    E(EINTR, "Interrupted system call"),
    E(EIO, "Input/output error"),
    E(ENXIO, "No such device or address"),
    E(E2BIG, "Argument list too long"),
    E(EBADF, "Bad file descriptor"),
    E(EAGAIN, "Resource temporarily unavailable"),
    E(ENOMEM, "Cannot allocate memory"),
    E(EACCES, "Permission denied"),
    E(EFAULT, "Bad address"),
    E(ENOTBLK, "Block device required"),
    E(EBUSY, "Device or resource busy"),
    E(EEXIST, "File exists"),
    E(EXDEV, "Invalid cross-device link"),
    E(ENODEV, "No such device"),
    E(ENOTDIR, "Not a directory"),
    E(EISDIR, "Is a directory"),
    E(EINVAL, "Invalid argument"),
    E(ENFILE, "Too many open files in system"),
    E(EMFILE, "Too many open files"),
    E(ENOTTY, "Inappropriate ioctl for device"),
    E(ETXTBSY, "Text file busy"),
    E(EFBIG, "File too large"),
    E(ENOSPC, "No space left on device"),
    E(ESPIPE, "Illegal seek"),
    E(EROFS, "Read-only file system"),
    E(EPIPE, "Broken pipe"),
    E(ERANGE, "Numerical result out of range"),
    E(EDEADLK, "Resource deadlock avoided"),
    E(ENAMETOOLONG, "File name too long"),
    E(ENOLCK, "No locks available"),
    E(ENOSYS, "Function not implemented"),
    E(ELOOP, "Too many levels of symbolic links"),
    E(ENODATA, "No data available"),
    E(ETIME, "Timer expired"),
    E(EREMOTEIO, "Remote I/O error"),
    E(EOVERFLOW, "Value too large for defined data type"),
    E(EILSEQ, "Invalid or incomplete multibyte or wide character"),
    E(EOPNOTSUPP, "Operation not supported"),
    E(ETIMEDOUT, "Connection timed out"),
    E(ECANCELED, "Operation canceled"),
    E(ESTALE, "Stale file handle"),
    E(EDQUOT, "Disk quota exceeded"),
    E(ENOMEDIUM, "No medium found"),
    E(EPROTO, "Protocol error"),
    E(ENOLINK, "Link has been severed"),
    E(EBADE, "Invalid exchange"),
};
#undef E

const char *error_text(int error)
{
    for (size_t i = 0; i < sizeof errnos / sizeof *errnos; i++)
        if (errnos[i].code == error)
            return errnos[i].text;
    return "an error without a name";
}

int error_set(int code, enum sated_layer layer, const char *format, ...)
{
    va_list args;
    memset(&last, 0, sizeof last);
    last.code = code;
    last.layer = (int32_t)layer;
    va_start(args, format);
    vsnprintf(last.text, sizeof last.text, format, args);
    va_end(args);
    return code;
}

int error_copy(const struct sated_detail *from)
{
    last = *from;
    return last.code;
}

struct sated_detail *error_last(void)
{
    return &last;
}

int sated_detail_set(int code, int layer, const char *text)
{
    return error_set(code, (enum sated_layer)layer, "%s", text);
}

void sated_detail_get(struct sated_detail *out)
{
    *out = last;
}

const char *sated_version(void)
{
    return SATED_VERSION;
}

const char *sated_error_name(int code)
{
    switch (code) {
    case SATED_PARSE: return "PARSE";
    case SATED_UNSAFE: return "UNSAFE";
    case SATED_SENSE: return "SENSE";
    case SATED_NVME: return "NVME";
    case SATED_ATA: return "ATA";
    case SATED_FROZEN: return "FROZEN";
    case SATED_LOCKED: return "LOCKED";
    case SATED_STALLED: return "STALLED";
    case SATED_UNSUPPORTED: return "UNSUPPORTED";
    case SATED_STATE: return "STATE";
    default: break;
    }
    if (code >= 0)
        return "OK";
    for (size_t i = 0; i < sizeof errnos / sizeof *errnos; i++)
        if (errnos[i].code == -code)
            return errnos[i].name;
    return "UNKNOWN";
}

int sated_error_exit_code(int code, int layer)
{
    if (code >= 0)
        return 0;
    switch (code) {
    case SATED_PARSE: return 2;
    case SATED_UNSAFE: return 3;
    case SATED_SENSE:
    case SATED_NVME:
    case SATED_ATA:
    case SATED_FROZEN:
    case SATED_LOCKED:
    case SATED_STALLED: return 4;
    case SATED_UNSUPPORTED: return 7;
    case SATED_STATE:
        return layer == SATED_LAYER_DRIVE ? 4 : 70; /* the drive's, such as answers not recorded: no bug */
    default: break;
    }
    if (code < -4095)
        return 70;
    if (layer == SATED_LAYER_FILE)
        return code == -ENOSPC || code == -EDQUOT || code == -EIO ? 8 : 7;
    if (layer == SATED_LAYER_ARGUMENT)
        return 2;
    switch (-code) {
    case ENOENT: return 2;
    case EACCES:
    case EPERM:
    case ENOSYS: return 7;
    case EBUSY: return 3;
    case ENOMEM: return 7;
    default: return 4;
    }
}
