/* SPDX-License-Identifier: MIT */
#ifndef SATED_PURGE_H
#define SATED_PURGE_H

#include <sated/drive.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifndef SATED_STATIC
#pragma GCC visibility push(default)
#endif

/* cdef: begin */

/* Erasing a whole drive: one name for each kind of erase, whichever command the drive's protocol has for it. */
enum sated_purge_method {
    /* The first that the drive has of: NVMe sanitize-block, format, sanitize-crypto, format-crypto; ATA sanitize-block,
     * security-enhanced, security, sanitize-crypto; SCSI sanitize-block, sanitize-crypto, format. A simulated drive
     * without commands is emptied, a file gets holes. */
    SATED_PURGE_AUTO = 0,
    SATED_PURGE_SIMULATED = 1,          /* a simulated drive without commands forgets everything */
    SATED_PURGE_DEALLOCATE = 2,         /* TRIM, UNMAP, Deallocate, the holes of a file; advisory on drives */
    SATED_PURGE_WRITE_SAME = 3,         /* WRITE SAME with UNMAP, Write Zeroes; advisory */
    SATED_PURGE_SANITIZE_BLOCK = 4,     /* all flash is erased */
    SATED_PURGE_SANITIZE_CRYPTO = 5,    /* the key of all data is changed */
    SATED_PURGE_SANITIZE_OVERWRITE = 6, /* all is overwritten, which leaves flash full: never taken by AUTO */
    SATED_PURGE_FORMAT = 7,             /* NVMe Format with user data erase, FORMAT UNIT */
    SATED_PURGE_FORMAT_CRYPTO = 8,      /* NVMe Format with cryptographic erase */
    SATED_PURGE_SECURITY_ENHANCED = 9,  /* ATA SECURITY ERASE UNIT, enhanced */
    SATED_PURGE_SECURITY = 10,          /* the same, normal: what an LBA limit hides stays */
    SATED_PURGE_EXTERNAL = 11,          /* somebody erased it with another tool, which is recorded */
    SATED_PURGE_LAST = 11,
};

/* How far an erase reaches, in the words of IEEE 2883-2022. */
enum sated_purge_level {
    SATED_PURGE_UNKNOWN = 0,  /* as with a tool of somebody else's */
    SATED_PURGE_ADVISORY = 1, /* a hint that the drive may leave alone */
    SATED_PURGE_CLEAR = 2,    /* what can be addressed */
    SATED_PURGE_PURGE = 3,    /* also what cannot be addressed any more */
};

/* A method, and what the drive itself says of it. */
struct sated_purge_way {
    uint32_t method; /* enum sated_purge_method */
    uint32_t level;  /* enum sated_purge_level */
    uint32_t supported;
    uint32_t whole;      /* 1: it reaches every namespace of the subsystem, or the whole device */
    int64_t estimate_ns; /* as the drive says; -1: it does not */
    char why_not[256];   /* where it is not supported; else empty */
    char why[256]; /* where AUTO passed over one that reaches further than consent: which, and what helps; else empty */
};

struct sated_purge_options {
    uint32_t size;               /* of this struct */
    uint32_t method;             /* enum sated_purge_method */
    uint32_t resume;             /* 1: finish what an interrupted purge left; where nothing was left, purge anew */
    uint32_t allow_usb_security; /* 1: ATA Security also behind a USB bridge, which may leave the drive locked */
    int64_t stall_ns;     /* give up after so long without a change of progress, by the drive's clock; 0: twice the
                                  * drive's estimate, at least half an hour */
    uint32_t canaries;    /* blocks that are marked before and looked for afterwards, 0 to 64 */
    uint32_t master;      /* 1: `password` is the master password */
    uint32_t n_password;  /* bytes of `password`; 0: none */
    uint8_t password[32]; /* of a drive that somebody else locked */
    char note[252];       /* EXTERNAL: which tool, when, by whom */
};

/* What an interrupted purge left, or another erase that is not over. */
enum sated_purge_state {
    SATED_PURGE_NOTHING = 0,
    SATED_PURGE_BEGUN = 1,    /* a journal says so; the drive itself shows nothing of it */
    SATED_PURGE_RUNNING = 2,  /* a sanitize or format operation goes on */
    SATED_PURGE_FAILED = 3,   /* a sanitize operation failed: the drive takes little else until it is left */
    SATED_PURGE_PASSWORD = 4, /* an ATA user password is set */
    SATED_PURGE_LOCKED = 5,   /* and the drive is locked by it */
    SATED_PURGE_UNFORMATTED =
        6,                   /* a format was broken off: nothing can be read or written until it is formatted again */
    SATED_PURGE_UNCLEAR = 7, /* it does not read, and a bridge keeps back what would tell whether a sanitize operation
                              * goes on or failed */
};

struct sated_purge_pending {
    uint32_t state;     /* enum sated_purge_state */
    uint32_t journaled; /* 1: a journal of ours is there */
    uint32_t method;    /* by that journal; AUTO: not known */
    uint32_t progress;  /* RUNNING: of 65536 */
    char began[32];     /* by that journal, UTC */
    char step[128];     /* the last one of it */
    char text[1024];    /* what stands, and what to do */
};

enum sated_purge_phase {
    SATED_PURGE_MARKING = 1,  /* canaries are written */
    SATED_PURGE_ERASING = 2,  /* the drive erases */
    SATED_PURGE_CHECKING = 3, /* canaries are looked for, and the drive is asked what it is now */
    SATED_PURGE_ENDED = 4,
};

struct sated_purge_progress {
    uint32_t phase;     /* enum sated_purge_phase */
    uint32_t method;    /* the one in use */
    double fraction;    /* of the erase, 0 to 1, by the drive; NaN: not known */
    int64_t elapsed_ns; /* by the drive's clock, as eta_ns */
    int64_t eta_ns;     /* until its end; -1: not known */
    char notice[512];   /* what a person has to know meanwhile, such as the password; empty: nothing */
};

enum sated_purge_verified {
    SATED_PURGE_NOT_VERIFIED = 0, /* nobody knows: no block was marked, or it cannot be read */
    SATED_PURGE_GONE = 1,         /* none of the marked blocks holds what it held */
    SATED_PURGE_STILL_THERE = 2,  /* at least one does */
};

struct sated_purge_result {
    uint32_t method;       /* the one used */
    uint32_t level;        /* enum sated_purge_level */
    uint32_t done;         /* 1: the drive says that it is done */
    uint32_t verified;     /* enum sated_purge_verified: what reading found, whatever the drive says */
    uint32_t canaries;     /* blocks that were marked, and read back before */
    uint32_t still_there;  /* of these */
    uint32_t unreadable;   /* of these: counts as gone */
    uint32_t resumed;      /* 1: an interrupted one was finished */
    int64_t duration_ns;   /* by the drive's clock */
    uint64_t hidden_bytes; /* behind an LBA limit, where this method may not reach; UINT64_MAX: not known */
    char device_says[256];
    char text[1024]; /* all of it, in sentences */
};

struct sated_purge;

/* Sets the defaults: the method that the drive has, 64 canaries. */
void sated_purge_options_init(struct sated_purge_options *opt);

/* Asks the drive which methods it has, by commands that only read. @param out cap of them in the order of enum
 * sated_purge_method, may be NULL with cap 0. Return: how many there are, or an error. Thread: the handle's. */
int sated_purge_list(struct sated_drive *d, struct sated_purge_way *out, size_t cap);

/* What sated_purge_start would do, or the error that it would refuse with, but for consent; only reads.
 * @param out the method, AUTO resolved: the first that the drive has and, once there is a permit, that this covers.
 * Return: as sated_purge_start. Thread: the handle's. */
int sated_purge_check(struct sated_drive *d, const struct sated_purge_options *opt, struct sated_purge_way *out);

/* Looks for what an interrupted purge left: in the journal, and in the drive's own state. A journal that is lost changes
 * nothing: the drive's state is enough to finish.
 * Return: 1 if there is something, 0 if not, or an error. Thread: the handle's. */
int sated_purge_get_pending(struct sated_drive *d, struct sated_purge_pending *out);

/* Starts erasing. Each step is in a journal below SATED_STATE_DIR before its command is sent, so that whatever interrupts
 * it can be finished by `resume`. ATA Security uses the password "sated-erase", filled up by zeros to 32 bytes, at level
 * high: `hdparm --user-master u --security-unlock sated-erase DEVICE` opens what it locked.
 * @param out receives the job, NULL on failure; @param opt NULL for the defaults.
 * Return: 0; SATED_UNSAFE without a permit as far as the method reaches; SATED_UNSUPPORTED for a method that the drive
 * does not have; SATED_FROZEN and SATED_LOCKED by the drive's state; SATED_STATE while something runs on it, or where an
 * interrupted purge stands and `resume` was not given; SATED_PARSE for options that have no meaning; or another error.
 * Thread: the handle's, which is busy until the end. Owner: the caller frees. */
int sated_purge_start(struct sated_purge **out, struct sated_drive *d, const struct sated_purge_options *opt);

/* Waits. @param timeout_ns -1 = for ever; @param result filled at the end, also of one that failed, may be NULL.
 * Return: 1 still running, 0 ended, < 0 failed: SATED_STALLED without progress, SATED_STATE where it was stopped, ...
 * Thread: the handle's. */
int sated_purge_wait(struct sated_purge *p, int64_t timeout_ns, struct sated_purge_result *result);

/* Where it is. Thread: any, until it is freed. */
void sated_purge_get_progress(struct sated_purge *p, struct sated_purge_progress *out);

/* Lets go of it between two commands. What the drive has begun goes on in it; `resume` finishes it. Thread: any. */
void sated_purge_stop(struct sated_purge *p);

/* Stops it, waits for that, and frees the job; NULL does nothing. Thread: the handle's. */
void sated_purge_free(struct sated_purge *p);

/* cdef: end */

#ifndef SATED_STATIC
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
