/* SPDX-License-Identifier: MIT */
/* Between the interposed calls of the C library (shim.c) and the simulated drive (shim_drive.c, shim_ioctl.c). The drive
 * is open while one of its nodes is, so that the next process finds its state file unlocked; in a process that has
 * forked only while something is done with it, so that its children find it so, too. */
#ifndef SATED_TOOLS_SHIM_H
#define SATED_TOOLS_SHIM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <sated/sated.h>

enum shim_kind {
    SHIM_BLOCK,      /* /dev/sim0 */
    SHIM_GENERIC,    /* /dev/sgsim0 */
    SHIM_CONTROLLER, /* /dev/nvmesim0, and /dev/nvmesim1 for the second controller of the subsystem */
    SHIM_NAMESPACE,  /* /dev/nvmesim0n1, ... */
};

struct shim_node {
    enum shim_kind kind;
    uint32_t controller; /* from 0 on */
    uint32_t nsid;
};

/* What an open node is to the process that has it open; shared by descriptors that were duplicated. */
struct shim_file {
    struct shim_node node;
    uint32_t descriptors;
    int flags;  /* of open() */
    int64_t at; /* of read() and write() */
};

/* Whether a path is that of a node; whether there is such a drive or namespace is asked when it is opened. */
bool shim_path(const char *path, struct shim_node *node);

/* All below return 0 or a positive number, or a negated errno. */

/* Takes the drive into use, and gives it back; calls nest. The first waits for another process that has it. */
int shim_use(void);
void shim_release(void);
/* Whether it stays open when nobody uses it. */
void shim_stay(bool stays);

/* Tells the user what went wrong, as the tool itself only gets an errno, which is returned. */
int shim_refuse(int rc);

/* Whether the drive has this node; for a namespace also through which controller. */
int shim_find(struct shim_node *node);
/* How many namespaces a controller's node has, and the first one. */
int shim_namespaces(const struct shim_node *node, uint32_t *first);
void shim_stat(const struct shim_node *node, struct stat *st);

/* Whether it is a block device; the others take commands only, and no reading or writing. */
bool shim_has_blocks(const struct shim_node *node);

int shim_size(const struct shim_node *node, uint64_t *bytes, uint32_t *block_bytes);
int64_t shim_read(const struct shim_file *f, void *data, uint64_t bytes, uint64_t offset);
int64_t shim_write(const struct shim_file *f, const void *data, uint64_t bytes, uint64_t offset);
int shim_flush(const struct shim_file *f);

int shim_ioctl(struct shim_file *f, unsigned long request, void *argument);

/* The drive's clock goes on by so much; ours does not. */
int shim_sleep(int64_t ns);

/* The commands, by the node they were sent to. */
int shim_scsi(const struct sated_scsi_command *c, void *data, struct sated_reply *reply);
int shim_nvme(const struct shim_node *node, const struct sated_nvme_command *c, void *data, struct sated_reply *reply);
bool shim_is_nvme(void);

#endif
