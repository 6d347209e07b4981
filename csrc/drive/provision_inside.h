/* SPDX-License-Identifier: MIT */
/* For the parts of provisioning among themselves: a file for each protocol, and one that drives a change. */
#ifndef SATED_DRIVE_PROVISION_INSIDE_H
#define SATED_DRIVE_PROVISION_INSIDE_H

#include <sated/provision.h>

#include "drive/journal.h"

#define ALL_BLOCKS UINT64_MAX /* as many as the drive has, whatever their number is */
#define CHANGE_CONTROLLERS 32
#define CHANGE_NAMESPACES 128

/* What a change is beyond the methods that callers name: to another size of a logical block. */
#define CHANGE_BLOCK (SATED_PROVISION_EVERY + 1)

/* A change that is under way. All from `method` on is the plan: it is in the journal, and each way goes by it
 * and by what the drive says, so that it can begin anew at whatever point it was interrupted. */
struct change {
    struct sated_drive *d;
    struct journal *journal;
    bool touched;     /* a command that may have changed something has been sent */
    unsigned formats; /* that were started by this call */
    bool power_cycle; /* what is left can only be done after one */

    uint32_t method; /* enum sated_provision_method, or CHANGE_BLOCK */
    uint64_t blocks; /* that are to be: those that were planned, or those that were before */
    uint64_t planned_blocks;
    uint32_t block_bytes;
    uint64_t before_blocks;
    uint32_t before_block_bytes;

    /* NVMe: the namespace as it was, the controllers that it was attached to, and the other ones there were. */
    uint32_t nsid, lbaf, dps, anagrpid, nvmsetid, endgid;
    bool extended, shared;
    uint32_t n_controllers, n_others;
    uint16_t controllers[CHANGE_CONTROLLERS];
    uint32_t others[CHANGE_NAMESPACES];
};

/* What a protocol's own ways are. Return of all: 0 or an error, of `run` also 1 where the drive goes on by itself. */
struct provision_way {
    /* Fills native, hidden, device, limits and flags; what the drive does not say stays unknown. */
    void (*look)(struct sated_drive *d, struct sated_provision *out);
    /* Why it cannot be done; 0 where it can. */
    int (*able)(struct sated_drive *d, uint32_t method);
    /* Fills what was, and what is to be: c->blocks is `bytes` of it, or what restores it. */
    int (*plan)(struct change *c, uint64_t bytes);
    /* Brings the drive to c->blocks of c->block_bytes, from wherever it is. */
    int (*run)(struct change *c);
};

extern const struct provision_way provision_ata, provision_scsi, provision_nvme;

/* The one of a drive's protocol; NULL where it takes no commands. */
const struct provision_way *provision_way(struct sated_drive *d);

/* "hpa", ... */
const char *provision_name(uint32_t method);

/* Permitted as far as the method reaches, and idle. */
int provision_need(struct sated_drive *d, uint32_t method);

/* A capacity as blocks. Return: 0 or SATED_PARSE. @param most bytes that there can be. */
int provision_blocks(struct change *c, uint64_t bytes, uint64_t most);

/* Before each command that changes the drive: it is still the same one, and the command is in the journal. */
int change_step(struct change *c, const char *step);

/* After it: a drive that refused it is as it was; after anything else nobody knows. Return: rc. */
int change_sent(struct change *c, int rc);

/* Plans, journals and makes a change. @param bytes as sated_provision_set has it; @param block_bytes of CHANGE_BLOCK.
 * Return: as sated_provision_set(). */
int change_start(struct sated_drive *d, uint32_t method, uint64_t bytes, uint32_t block_bytes);

/* Fills what sated_provision_get() tells of an interrupted one. */
void change_look(struct sated_drive *d, struct sated_provision *out);

#endif
