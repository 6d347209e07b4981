/* SPDX-License-Identifier: MIT */
#include "core/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local struct sated_detail last;

/* What a drive or a file system may answer; glibc's own table is younger than the C libraries we build on. */
#define E(name) \
    { \
        name, #name \
    }
static const struct {
    int code;
    const char *name;
} errnos[] = {
    E(EPERM),     E(ENOENT),    E(EINTR),   E(EIO),     E(ENXIO),     E(E2BIG),     E(EBADF),        E(EAGAIN),
    E(ENOMEM),    E(EACCES),    E(EFAULT),  E(ENOTBLK), E(EBUSY),     E(EEXIST),    E(EXDEV),        E(ENODEV),
    E(ENOTDIR),   E(EISDIR),    E(EINVAL),  E(ENFILE),  E(EMFILE),    E(ENOTTY),    E(ETXTBSY),      E(EFBIG),
    E(ENOSPC),    E(ESPIPE),    E(EROFS),   E(EPIPE),   E(ERANGE),    E(EDEADLK),   E(ENAMETOOLONG), E(ENOLCK),
    E(ENOSYS),    E(ELOOP),     E(ENODATA), E(ETIME),   E(EREMOTEIO), E(EOVERFLOW), E(EILSEQ),       E(EOPNOTSUPP),
    E(ETIMEDOUT), E(ECANCELED), E(ESTALE),  E(EDQUOT),  E(ENOMEDIUM), E(EPROTO),    E(ENOLINK),      E(EBADE),
};
#undef E

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
    case SATED_STATE: return 70;
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
