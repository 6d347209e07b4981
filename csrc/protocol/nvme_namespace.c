/* SPDX-License-Identifier: MIT */
/* Namespaces are made, attached, read and written: commands and their data (NVM Express Base 2.0c 5.22, 5.23 and 7.1,
 * NVM Command Set 1.0c 3.2 and 4.1.6). */
#include <sated/nvme.h>

#include <string.h>

#include "core/bytes.h"
#include "core/error.h"
#include "protocol/nvme_inside.h"

/* The drive may take a while to lay out a namespace. */
#define NS_TIMEOUT_MS 120000

int sated_nvme_build_ns_create(struct sated_nvme_command *c, uint32_t csi)
{
    int rc = nvme_fits("Namespace Management: CSI", csi, 8);
    if (rc)
        return rc;
    nvme_begin(c, true, SATED_NVME_ADMIN_NS_MANAGEMENT, 0, 4096);
    c->cdw11 = csi << 24;
    c->timeout_ms = NS_TIMEOUT_MS;
    return 0;
}

int sated_nvme_build_ns_delete(struct sated_nvme_command *c, uint32_t nsid)
{
    int rc = nvme_one_namespace("Namespace Management: delete", nsid, true);
    if (rc)
        return rc;
    nvme_begin(c, true, SATED_NVME_ADMIN_NS_MANAGEMENT, nsid, 0);
    c->cdw10 = 1;
    c->timeout_ms = NS_TIMEOUT_MS;
    return 0;
}

int sated_nvme_build_ns_data(void *buf, size_t cap, const struct sated_nvme_ns_create *ns)
{
    uint8_t *p = buf;
    int rc = nvme_fits("new namespace: LBA format", ns->lbaf, 6);
    if (rc || (rc = nvme_fits("new namespace: DPS", ns->dps, 4)))
        return rc;
    if (cap < 4096)
        return REFUSE("new namespace: %zu bytes of room, expected 4096", cap);
    if (!ns->nsze || ns->ncap > ns->nsze)
        return REFUSE("new namespace: size %llu and capacity %llu blocks, expected a size, and a capacity within it",
                      (unsigned long long)ns->nsze, (unsigned long long)ns->ncap);
    memset(p, 0, 4096);
    bytes_put_le64(p, ns->nsze);
    bytes_put_le64(p + 8, ns->ncap);
    /* FLBAS: index 3:0 and 6:5, metadata in the extended LBA 4 */
    p[26] = (uint8_t)((ns->lbaf >> 4) << 5 | (uint32_t)ns->extended << 4 | (ns->lbaf & 15));
    p[29] = (uint8_t)ns->dps;
    p[30] = ns->shared;
    bytes_put_le32(p + 92, ns->anagrpid);
    bytes_put_le16(p + 100, ns->nvmsetid);
    bytes_put_le16(p + 102, ns->endgid);
    return 4096;
}

static int attachment(struct sated_nvme_command *c, uint32_t nsid, uint32_t sel)
{
    int rc = nvme_one_namespace("Namespace Attachment", nsid, false);
    if (rc)
        return rc;
    nvme_begin(c, true, SATED_NVME_ADMIN_NS_ATTACHMENT, nsid, 4096);
    c->cdw10 = sel;
    c->timeout_ms = NS_TIMEOUT_MS;
    return 0;
}

int sated_nvme_build_ns_attach(struct sated_nvme_command *c, uint32_t nsid)
{
    return attachment(c, nsid, 0);
}

int sated_nvme_build_ns_detach(struct sated_nvme_command *c, uint32_t nsid)
{
    return attachment(c, nsid, 1);
}

int sated_nvme_build_ctrl_list(void *buf, size_t cap, const uint16_t *ids, size_t n)
{
    uint8_t *p = buf;
    if (cap < 4096 || !n || n > 2047)
        return REFUSE("controller list: %zu identifiers into %zu bytes, expected 1 to 2047 into 4096", n, cap);
    memset(p, 0, 4096);
    bytes_put_le16(p, (uint16_t)n);
    for (size_t i = 0; i < n; i++) {
        if (i && ids[i] <= ids[i - 1])
            return REFUSE("controller list: identifier %u after %u, expected them in increasing order",
                          (unsigned)ids[i], (unsigned)ids[i - 1]);
        bytes_put_le16(p + 2 + 2 * i, ids[i]);
    }
    return 4096;
}

int sated_nvme_build_dsm(struct sated_nvme_command *c, uint32_t nsid, uint32_t ranges, uint32_t attributes)
{
    int rc = nvme_one_namespace("Dataset Management", nsid, false);
    if (rc || (rc = nvme_fits("Dataset Management: attributes", attributes, 3)))
        return rc;
    if (!ranges || ranges > 256)
        return REFUSE("Dataset Management: %u ranges, expected 1 to 256", (unsigned)ranges);
    nvme_begin(c, false, SATED_NVME_IO_DSM, nsid, 16 * ranges);
    c->cdw10 = ranges - 1; /* 0-based */
    c->cdw11 = attributes;
    return 0;
}

int sated_nvme_build_dsm_ranges(void *buf, size_t cap, const struct sated_nvme_range *ranges, size_t n)
{
    uint8_t *p = buf;
    if (!n || n > 256 || cap < 16 * n)
        return REFUSE("ranges: %zu into %zu bytes, expected 1 to 256, 16 bytes each", n, cap);
    for (size_t i = 0; i < n; i++, p += 16) {
        if (!ranges[i].nlb || ranges[i].slba > UINT64_MAX - ranges[i].nlb)
            return REFUSE("range %zu: %u blocks from block %llu, expected at least one, below block 2^64", i,
                          (unsigned)ranges[i].nlb, (unsigned long long)ranges[i].slba);
        bytes_put_le32(p, ranges[i].attributes);
        bytes_put_le32(p + 4, ranges[i].nlb);
        bytes_put_le64(p + 8, ranges[i].slba);
    }
    return (int)(16 * n);
}

int sated_nvme_build_flush(struct sated_nvme_command *c, uint32_t nsid)
{
    int rc = nvme_one_namespace("Flush", nsid, true);
    if (rc)
        return rc;
    nvme_begin(c, false, SATED_NVME_IO_FLUSH, nsid, 0);
    return 0;
}

/* @param block_bytes 0 for a command without data; @param bits of dword 12 beside count and flags. */
static int blocks_command(struct sated_nvme_command *c, const char *name, uint32_t opcode, uint32_t nsid, uint64_t slba,
                          uint32_t blocks, uint32_t block_bytes, uint32_t flags, uint32_t bits)
{
    int rc = nvme_one_namespace(name, nsid, false);
    if (rc || (rc = nvme_fits("flags of dword 12", flags, 6)))
        return rc;
    if (!blocks || blocks > 65536 || slba > UINT64_MAX - blocks)
        return REFUSE("%s: %u blocks from block %llu, expected 1 to 65536, below block 2^64", name, (unsigned)blocks,
                      (unsigned long long)slba);
    if (block_bytes > UINT32_MAX / blocks)
        return REFUSE("%s: %u blocks of %u bytes are more than one command moves", name, (unsigned)blocks,
                      (unsigned)block_bytes);
    nvme_begin(c, false, opcode, nsid, blocks * block_bytes);
    c->cdw10 = (uint32_t)slba;
    c->cdw11 = (uint32_t)(slba >> 32);
    c->cdw12 = flags << 26 | bits | (blocks - 1); /* NLB is 0-based */
    return 0;
}

static int data_command(struct sated_nvme_command *c, const char *name, uint32_t opcode, uint32_t nsid, uint64_t slba,
                        uint32_t blocks, uint32_t block_bytes, uint32_t flags)
{
    if (block_bytes < 512)
        return REFUSE("%s: a block of %u bytes, expected 512 at least", name, (unsigned)block_bytes);
    return blocks_command(c, name, opcode, nsid, slba, blocks, block_bytes, flags, 0);
}

int sated_nvme_build_read(struct sated_nvme_command *c, uint32_t nsid, uint64_t slba, uint32_t blocks,
                          uint32_t block_bytes, uint32_t flags)
{
    return data_command(c, "Read", SATED_NVME_IO_READ, nsid, slba, blocks, block_bytes, flags);
}

int sated_nvme_build_write(struct sated_nvme_command *c, uint32_t nsid, uint64_t slba, uint32_t blocks,
                           uint32_t block_bytes, uint32_t flags)
{
    return data_command(c, "Write", SATED_NVME_IO_WRITE, nsid, slba, blocks, block_bytes, flags);
}

int sated_nvme_build_compare(struct sated_nvme_command *c, uint32_t nsid, uint64_t slba, uint32_t blocks,
                             uint32_t block_bytes, uint32_t flags)
{
    return data_command(c, "Compare", SATED_NVME_IO_COMPARE, nsid, slba, blocks, block_bytes, flags);
}

int sated_nvme_build_verify(struct sated_nvme_command *c, uint32_t nsid, uint64_t slba, uint32_t blocks, uint32_t flags)
{
    return blocks_command(c, "Verify", SATED_NVME_IO_VERIFY, nsid, slba, blocks, 0, flags, 0);
}

int sated_nvme_build_write_zeroes(struct sated_nvme_command *c, uint32_t nsid, uint64_t slba, uint32_t blocks,
                                  bool deac, uint32_t flags)
{
    return blocks_command(c, "Write Zeroes", SATED_NVME_IO_WRITE_ZEROES, nsid, slba, blocks, 0, flags,
                          (uint32_t)deac << 25);
}
