/* SPDX-License-Identifier: MIT */
/* What the kernel's drivers answer to ioctls, from commands to the simulated drive. */
#include "tools/shim.h"

#include <errno.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/hdreg.h>
#include <linux/nvme_ioctl.h>
#include <scsi/sg.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

/* Of the kernel's include/scsi/scsi.h, which the C library does not have. */
#define SCSI_IOCTL_GET_IDLUN 0x5382
#define SCSI_IOCTL_GET_BUS_NUMBER 0x5386

#define DRIVER_SENSE 8
#define SG_VERSION 30536     /* of the sg driver: 3.5.36 */
#define RESERVED_BYTES 32768 /* of its buffer, as it comes */
#define HEADS 255
#define SECTORS 63

/* Whether the process has memory there, as the kernel would find out by copying. */
static bool is_memory(const void *p, size_t bytes)
{
    char first, last;
    struct iovec here[2] = {{&first, 1}, {&last, 1}};
    struct iovec there[2] = {{(void *)(uintptr_t)p, 1}, {(char *)(uintptr_t)p + bytes - 1, 1}};
    return !bytes || process_vm_readv(getpid(), here, 2, there, 2, 0) == 2 || errno != EFAULT;
}

/* ---- SCSI ---- */

static int sg_io(struct sg_io_hdr *h)
{
    struct sated_scsi_command c = {0};
    struct sated_reply reply;
    if (h->interface_id != 'S')
        return -ENOSYS;
    if (h->iovec_count || !h->cmdp || h->cmd_len > sizeof c.cdb || h->cmd_len < 6)
        return -EINVAL;
    if (!is_memory(h->cmdp, h->cmd_len) || !is_memory(h->sbp, h->sbp ? h->mx_sb_len : 0) ||
        (h->dxferp && !is_memory(h->dxferp, h->dxfer_len)))
        return -EFAULT;
    memcpy(c.cdb, h->cmdp, h->cmd_len);
    c.cdb_len = h->cmd_len;
    c.timeout_ms = h->timeout;
    if (h->dxfer_direction == SG_DXFER_FROM_DEV || h->dxfer_direction == SG_DXFER_TO_FROM_DEV)
        c.direction = SATED_DATA_IN;
    else if (h->dxfer_direction == SG_DXFER_TO_DEV)
        c.direction = SATED_DATA_OUT;
    c.data_len = c.direction ? h->dxfer_len : 0;
    if (!c.data_len)
        c.direction = SATED_DATA_NONE;
    int rc = shim_scsi(&c, h->dxferp, &reply);
    if (rc == SATED_PARSE)
        return -EINVAL;
    /* What is wrong with an answer, such as that it has no registers, is for the tool to find. */
    if ((rc > -4096 && rc < 0 && !reply.scsi_status && !reply.host_status) || rc == SATED_STATE)
        return shim_refuse(rc);
    h->status = reply.scsi_status;
    h->masked_status = (reply.scsi_status >> 1) & 0x1f;
    h->msg_status = 0;
    h->host_status = reply.host_status;
    h->driver_status = reply.sense_len ? DRIVER_SENSE : 0;
    h->sb_len_wr = (unsigned char)(reply.sense_len < h->mx_sb_len ? reply.sense_len : h->mx_sb_len);
    if (h->sbp)
        memcpy(h->sbp, reply.sense, h->sb_len_wr);
    h->resid = reply.residual;
    h->duration = (unsigned)(reply.duration_ns / 1000000);
    h->info = h->status || h->host_status || h->driver_status ? SG_INFO_CHECK : SG_INFO_OK;
    return 0;
}

static int put_int(void *argument, int value)
{
    *(int *)argument = value;
    return 0;
}

static int generic_ioctl(unsigned long request, void *argument)
{
    switch (request) {
    case SG_IO: return sg_io(argument);
    case SG_GET_VERSION_NUM: return put_int(argument, SG_VERSION);
    case SG_GET_RESERVED_SIZE: return put_int(argument, RESERVED_BYTES);
    case SG_SET_RESERVED_SIZE:
    case SG_SET_TIMEOUT: return 0;
    case SG_GET_TIMEOUT: return 6000; /* in hundredths of a second */
    case SG_EMULATED_HOST:
    case SCSI_IOCTL_GET_BUS_NUMBER: return put_int(argument, 0);
    case SCSI_IOCTL_GET_IDLUN: memset(argument, 0, 8); return 0;
    case SG_GET_SCSI_ID: memset(argument, 0, sizeof(struct sg_scsi_id)); return 0;
    default: return -ENOTTY;
    }
}

/* ---- Block devices ---- */

static int geometry(struct hd_geometry *g, uint64_t bytes)
{
    uint64_t cylinders = bytes / 512 / HEADS / SECTORS;
    g->heads = HEADS;
    g->sectors = SECTORS;
    g->cylinders = (unsigned short)(cylinders < USHRT_MAX ? cylinders : USHRT_MAX);
    g->start = 0;
    return 0;
}

/* BLKDISCARD: UNMAP or Deallocate, in pieces that every drive takes. */
static int discard(const struct shim_node *node, const uint64_t range[2], uint64_t bytes, uint32_t block)
{
    if (range[0] % block || range[1] % block || range[0] > bytes || range[1] > bytes - range[0])
        return -EINVAL;
    uint64_t lba = range[0] / block, blocks = range[1] / block;
    uint8_t list[4096] = {0};
    for (uint64_t n; blocks; lba += n, blocks -= n) {
        struct sated_reply reply;
        n = blocks < 65536 ? blocks : 65536;
        int rc;
        if (shim_is_nvme()) {
            struct sated_nvme_command c;
            const struct sated_nvme_range one = {.slba = lba, .nlb = (uint32_t)n};
            rc = sated_nvme_build_dsm_ranges(list, sizeof list, &one, 1);
            if (rc >= 0)
                rc = sated_nvme_build_dsm(&c, node->nsid, 1, SATED_NVME_DSM_DEALLOCATE);
            rc = rc ? rc : shim_nvme(node, &c, list, &reply);
        } else {
            struct sated_scsi_command c;
            const struct sated_scsi_range one = {.lba = lba, .blocks = (uint32_t)n};
            rc = sated_scsi_build_unmap_list(list, sizeof list, &one, 1);
            if (rc > 0)
                rc = sated_scsi_build_unmap(&c, false, 0, (uint32_t)rc);
            rc = rc ? rc : shim_scsi(&c, list, &reply);
        }
        if (rc)
            return -EOPNOTSUPP;
    }
    return 0;
}

static int block_ioctl(const struct shim_file *f, unsigned long request, void *argument)
{
    uint64_t bytes;
    uint32_t block;
    int rc;
    switch (request) {
    case BLKRRPART:
    case BLKFLSBUF:
    case BLKBSZSET:
    case BLKRASET: return 0;
    case BLKROGET: return put_int(argument, 0);
    case BLKRAGET: *(long *)argument = 256; return 0;
    case BLKGETSIZE:
    case BLKGETSIZE64:
    case BLKBSZGET:
    case BLKSSZGET:
    case BLKPBSZGET:
    case BLKDISCARD:
    case HDIO_GETGEO: break;
    default: return f->node.kind == SHIM_BLOCK ? generic_ioctl(request, argument) : -ENOTTY;
    }
    rc = shim_size(&f->node, &bytes, &block);
    if (rc)
        return rc;
    switch (request) {
    case BLKGETSIZE: *(unsigned long *)argument = bytes / 512; return 0;
    case BLKGETSIZE64: *(uint64_t *)argument = bytes; return 0;
    case BLKBSZGET: return put_int(argument, 4096);
    case BLKSSZGET: return put_int(argument, (int)block);
    case BLKPBSZGET: *(unsigned *)argument = block < 4096 ? 4096 : block; return 0;
    case BLKDISCARD: return discard(&f->node, argument, bytes, block);
    default: return geometry(argument, bytes);
    }
}

/* ---- NVMe ---- */

/* Both the 32-bit and the 64-bit form of a command: they differ in what lies behind the timeout. */
static int nvme_command(const struct shim_file *f, struct nvme_passthru_cmd64 *p, bool admin, bool wide)
{
    struct sated_reply reply;
    if (p->addr && !is_memory((const void *)(uintptr_t)p->addr, p->data_len))
        return -EFAULT;
    struct sated_nvme_command c = {
        .opcode = p->opcode,
        .flags = p->flags,
        .nsid = p->nsid,
        .cdw2 = p->cdw2,
        .cdw3 = p->cdw3,
        .cdw10 = p->cdw10,
        .cdw11 = p->cdw11,
        .cdw12 = p->cdw12,
        .cdw13 = p->cdw13,
        .cdw14 = p->cdw14,
        .cdw15 = p->cdw15,
        .data_len = p->addr ? p->data_len : 0,
        .timeout_ms = p->timeout_ms,
        .admin = admin,
    };
    /* Bits 1:0 of an opcode say which way its data goes (NVMe 1.4 figure 139 and 346). */
    if (c.data_len)
        c.direction = c.opcode & 1 ? SATED_DATA_OUT : SATED_DATA_IN;
    int rc = shim_nvme(&f->node, &c, (void *)(uintptr_t)p->addr, &reply);
    if (rc && !reply.nvme_status)
        return rc == SATED_PARSE ? -EINVAL : shim_refuse(rc);
    if (wide)
        p->result = reply.result;
    else
        ((struct nvme_passthru_cmd *)(void *)p)->result = (uint32_t)reply.result;
    return reply.nvme_status;
}

static int nvme_user_io(const struct shim_file *f, const struct nvme_user_io *io)
{
    uint64_t bytes;
    uint32_t block;
    int rc = shim_size(&f->node, &bytes, &block);
    if (rc)
        return rc;
    struct nvme_passthru_cmd64 p = {
        .opcode = io->opcode,
        .flags = io->flags,
        .nsid = f->node.nsid,
        .addr = io->addr,
        .data_len = (io->nblocks + 1u) * block,
        .cdw10 = (uint32_t)io->slba,
        .cdw11 = (uint32_t)(io->slba >> 32),
        .cdw12 = io->nblocks | (uint32_t)io->control << 16,
        .cdw13 = io->dsmgmt,
        .cdw14 = io->reftag,
        .cdw15 = io->apptag | (uint32_t)io->appmask << 16,
    };
    return nvme_command(f, &p, false, true);
}

/* As nvme_dev_user_cmd() of the kernel's drivers/nvme/host/ioctl.c has it: on a controller's node only where the
 * controller has one namespace, which is then the only one that may be meant. */
static int io_command(const struct shim_file *f, struct nvme_passthru_cmd64 *p, bool wide)
{
    uint32_t nsid = f->node.nsid;
    if (f->node.kind == SHIM_CONTROLLER) {
        int n = shim_namespaces(&f->node, &nsid);
        if (n < 0)
            return n;
        if (n != 1)
            return n ? -EINVAL : -ENOTTY;
    }
    return p->nsid == nsid ? nvme_command(f, p, false, wide) : -EINVAL;
}

static int nvme_ioctl(const struct shim_file *f, unsigned long request, void *argument)
{
    bool space = f->node.kind == SHIM_NAMESPACE;
    switch (request) {
    case NVME_IOCTL_ID: return space ? (int)f->node.nsid : -ENOTTY;
    case NVME_IOCTL_ADMIN_CMD: return nvme_command(f, argument, true, false);
    case NVME_IOCTL_ADMIN64_CMD: return nvme_command(f, argument, true, true);
    case NVME_IOCTL_IO_CMD: return io_command(f, argument, false);
    case NVME_IOCTL_IO64_CMD: return space ? io_command(f, argument, true) : -ENOTTY;
    case NVME_IOCTL_SUBMIT_IO: return space ? nvme_user_io(f, argument) : -ENOTTY;
    case NVME_IOCTL_RESCAN:
    case NVME_IOCTL_RESET: return space ? -ENOTTY : 0;
    default: return space ? block_ioctl(f, request, argument) : -ENOTTY;
    }
}

int shim_ioctl(struct shim_file *f, unsigned long request, void *argument)
{
    /* The number of an ioctl says how much it copies; those from before that was so copy an int, or a struct sg_io_hdr. */
    size_t bytes = request == SG_IO ? sizeof(struct sg_io_hdr) : _IOC_SIZE(request) ? _IOC_SIZE(request) : sizeof(int);
    bool takes_one = request != NVME_IOCTL_ID && request != BLKRRPART && request != BLKFLSBUF && request != BLKRASET &&
                     request != SG_GET_TIMEOUT && request != NVME_IOCTL_RESET && request != NVME_IOCTL_RESCAN;
    if (takes_one && !is_memory(argument, bytes))
        return -EFAULT;
    switch (f->node.kind) {
    case SHIM_BLOCK: return block_ioctl(f, request, argument);
    case SHIM_GENERIC: return generic_ioctl(request, argument);
    default: return nvme_ioctl(f, request, argument);
    }
}
