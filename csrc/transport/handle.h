/* SPDX-License-Identifier: MIT */
/* The handle: what a drive is to the rooms above. It has two faces (commands, data), a clock and a permit. */
#ifndef SATED_TRANSPORT_HANDLE_H
#define SATED_TRANSPORT_HANDLE_H

#include <sated/drive.h>

struct sim;
struct sated_load;
struct command_face;
struct record;

enum handle_kind {
    HANDLE_SIMULATED,
    HANDLE_FILE,
    HANDLE_BLOCK,
    HANDLE_COMMANDS, /* a node that takes commands only */
    HANDLE_REPLAY,
    HANDLE_CALLBACK,
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
    struct sated_identity identity; /* capacity_bytes is what is accessible now; the token is drive/identity's */
    int fd;                         /* read-only; -1 if simulated */
    int write_fd;                   /* read-write and locked, from the permit on; else -1 */
    bool created;                   /* a file made by this open: needs no token */
    bool permitted;                 /* a simulated drive always is */
    bool direct;                    /* the file system has direct I/O */
    uint32_t alignment;             /* of offsets, sizes and memory for direct I/O */
    uint64_t device;                /* what was opened: st_dev and st_ino of a file, st_rdev of a block device */
    uint64_t inode;
    const void *_Atomic load; /* the load that runs on it, or NULL; a load's own thread takes itself out */
    struct sim *sim;
    uint32_t controller;             /* of a simulated NVMe subsystem: through which commands go */
    const struct command_face *face; /* the way of commands, found when the first one asks for it */
    void *way;                       /* what that way keeps */
    struct record *record;           /* of the commands, while they are recorded */
    struct estimates estimates;
    bool asked;            /* what it is, beyond what sysfs tells */
    uint8_t ata_way;       /* LEARNT_*: how ATA commands get through, as far as answers told */
    int64_t replay_ns;     /* the clock of a replayed drive */
    uint32_t nsid;         /* NVMe: the namespace it stands for; 0 unknown, or a controller of several */
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

/* NVMe: the namespace that the handle stands for; of a controller of several, or where nobody told, the first. */
uint32_t handle_namespace(const struct sated_drive *d);

/* Reported nanoseconds of the handle's clock; a replayed drive's goes on by what was recorded. */
int64_t handle_now_ns(struct sated_drive *d);

/* Whether the drive has blocks that can be read and written here, beyond single commands. @param what as below.
 * Return: 0 or SATED_UNSUPPORTED. */
int handle_need_blocks(const struct sated_drive *d, const char *what);

/* Whether the drive's blocks may be changed. One that needs no token (simulated, or a file made by this open) is
 * permitted by the first call. @param what is about to be done, for the sentence, such as "erasing".
 * Return: 0, SATED_UNSAFE without a permit, SATED_UNSUPPORTED for a block device. */
int handle_need_permit(struct sated_drive *d, const char *what);

/* Grants the permit: opens the file for writing and takes its exclusive lock. The guard calls it once it has looked and
 * the token was right.
 * Return: 0, SATED_UNSAFE if another holds the lock, SATED_UNSUPPORTED for a block device. */
int handle_grant(struct sated_drive *d);

/* Whether the path still leads to what was opened. Return: 0, or SATED_UNSAFE with a sentence. */
int handle_check_same(const struct sated_drive *d);

#endif
