/* SPDX-License-Identifier: MIT */
/* The handle: what a drive is to the rooms above. It has two faces (commands, data), a clock and a permit. */
#ifndef SATED_TRANSPORT_HANDLE_H
#define SATED_TRANSPORT_HANDLE_H

#include <sys/types.h>

#include <sated/drive.h>

struct sim;
struct command_face;
struct record;
struct hold;
struct tree;

enum handle_kind {
    HANDLE_SIMULATED,
    HANDLE_FILE,
    HANDLE_BLOCK,
    HANDLE_COMMANDS, /* a node that takes commands only */
    HANDLE_REPLAY,
    HANDLE_CALLBACK,
};

/* What tells a block device from another that took its name and its numbers since. */
struct stamp {
    uint64_t sequence; /* diskseq, new with each disk that appears; 0: the kernel does not tell (before Linux 5.15) */
    char serial[64];   /* as sysfs has it */
    uint64_t members;  /* of a set: a hash of which it has; else 0 */
};

/* What runs on a handle beyond the call that started it. */
enum handle_work {
    HANDLE_IDLE = 0,
    HANDLE_LOAD = 1,
    HANDLE_PURGE = 2,
};

/* How long the drive's own commands take, as far as it was asked. */
struct estimates {
    struct {
        uint8_t opcode;
        uint16_t action;
        uint32_t ms; /* 0: it does not say */
    } scsi[16];
    uint32_t n;
    uint32_t erase_ms[2]; /* ATA SECURITY ERASE UNIT: normal, enhanced; 0: not asked yet */
};

struct sated_drive {
    enum handle_kind kind;
    pid_t opener;
    struct sated_identity identity; /* capacity_bytes is what is accessible now; the token is drive/identity's */
    int fd;                         /* read-only; -1 if simulated */
    int write_fd;                   /* read-write and locked, or held, from the permit on; else -1 */
    bool created;                   /* a file made by this open: needs no token */
    bool permitted;                 /* to change its blocks; a simulated drive always is */
    bool permitted_whole;           /* and all of its device */
    bool simulated;                 /* of a callback transport: nothing real stands behind it */
    uint8_t interrupted;            /* a purge (1), a change of its capacity (2): loads do not write to it meanwhile */
    char *untold;                   /* why nobody can tell whether that is so: a sentence, or NULL */
    char *not_whole;                /* why only its blocks are permitted: a sentence, or NULL */
    struct stamp stamp;             /* of a block device */
    bool detached;                  /* its namespace is away by our own command: its controller stands for it */
    struct hold *hold;              /* of the other disks of its device, once all of it is permitted */
    struct tree *tree;              /* of a replayed drive: the machine that the guard judges, or NULL */
    bool direct;                    /* the file system has direct I/O */
    uint32_t alignment;             /* of offsets, sizes and memory for direct I/O */
    uint64_t device;                /* what was opened: st_dev and st_ino of a file, st_rdev of a block device */
    uint64_t inode;
    _Atomic uint32_t busy; /* enum handle_work: what runs on it; its own thread takes that out */
    struct sim *sim;
    uint32_t controller;             /* of a simulated NVMe subsystem: through which commands go */
    const struct command_face *face; /* the way of commands, found when the first one asks for it */
    void *way;                       /* what that way keeps */
    struct record *record;           /* of the commands, while they are recorded */
    struct estimates estimates;
    bool asked;            /* what it is, beyond what sysfs tells */
    uint8_t ata_way;       /* LEARNT_*: how ATA commands get through, as far as answers told */
    char *unfinished[3];   /* drive/journal's, of a drive that nothing outlasts: freed with the handle */
    int64_t replay_ns;     /* the clock of a replayed drive */
    uint32_t nsid;         /* NVMe: the namespace it stands for; 0 unknown, or a controller of several */
    uint64_t whole_bytes;  /* where an LBA limit is kept here: the capacity without it; else 0 */
    char node[64];         /* a block device's name in sysfs, such as sda; "" if there is none */
    char command_node[64]; /* the name of the node that takes commands, where one was opened by itself */
    int command_fd;        /* that node, or an NVMe controller; else -1 */
    char path[512];        /* the real path of what was opened; a simulated or replayed drive's URI */
};

/* The descriptor for a load's I/O, opened by transport, owned by the caller, closed by handle_return.
 * @param writing asks for the permit (SATED_UNSAFE without); @param direct in: wanted, out: in effect.
 * @param alignment receives what offsets, sizes and memory must be a multiple of. */
int handle_lend(struct sated_drive *d, bool writing, bool *direct, uint32_t *alignment, int *fd);
void handle_return(int fd);

/* Refuses to write to a drive to which something unfinished was done. Return: SATED_UNSAFE. */
int handle_unfinished(const struct sated_drive *d);

/* NVMe: the namespace that the handle stands for; of a controller of several, or where nobody told, the first. */
uint32_t handle_namespace(const struct sated_drive *d);

/* Reported nanoseconds of the handle's clock; a replayed drive's goes on by what was recorded. */
int64_t handle_now_ns(struct sated_drive *d);

/* Whether something runs on it that is not the calling thread's own work. @param what is not possible meanwhile, such as
 * "it takes no commands". Return: 0, or SATED_STATE with a sentence. */
int handle_need_idle(const struct sated_drive *d, const char *what);
bool handle_is_busy(const struct sated_drive *d);

/* The calling thread works for what runs on this drive, from now until it says so of another one or of NULL. */
void handle_work_on(const struct sated_drive *d);

/* Whether the drive has blocks that can be read and written here, beyond single commands. @param what as below.
 * Return: 0 or SATED_UNSUPPORTED. */
int handle_need_blocks(const struct sated_drive *d, const char *what);

/* Whether this process opened it: a fork has its locks, what it holds and its permit, but no handle of its own.
 * Return: 0 or SATED_STATE. */
int handle_need_own(const struct sated_drive *d);

/* How far a change reaches. A permit covers one or both. */
enum handle_scope {
    HANDLE_BLOCKS, /* what is read and written through this handle: a disk, a namespace, a file */
    HANDLE_DRIVE,  /* everything of the device behind it: all namespaces of an NVMe subsystem, all logical units */
};

/* Whether it may be changed as far as that. One that needs no token (simulated, or a file made by this open) is
 * permitted by the first call. @param what is about to be done, for the sentence, such as "erasing".
 * Return: 0, or SATED_UNSAFE without a permit. */
int handle_need_permit(struct sated_drive *d, enum handle_scope scope, const char *what);

/* Grants the permit: opens a file for writing and takes its exclusive lock; a block device must be held already. The
 * guard calls it once it has looked and the token was right.
 * Return: 0, or SATED_UNSAFE if another holds the lock. */
int handle_grant(struct sated_drive *d, enum handle_scope scope);

/* Whether the path still leads to what was opened, and what is held is still what it was: asked before each step that
 * destroys something. Return: 0, or SATED_UNSAFE with a sentence. */
int handle_check_same(const struct sated_drive *d);

#endif
