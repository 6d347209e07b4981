/* SPDX-License-Identifier: MIT */
#include "drive/shared.h"

#include <string.h>

#include <sated/nvme.h>
#include <sated/scsi.h>

#include "core/buffer.h"
#include "core/bytes.h"
#include "core/error.h"
#include "transport/command.h"
#include "transport/siblings.h"

#define PAGE 4096
#define RESERVATION_CONFLICT 0x18 /* SAM-6 5.3.1 */

static bool identify(struct sated_drive *d, uint32_t cns, uint32_t nsid, uint8_t *page)
{
    struct sated_nvme_command c;
    struct sated_reply reply;
    return !sated_nvme_build_identify(&c, cns, nsid, 0, 0, 0) && !sated_nvme_admin_raw(d, &c, page, &reply) &&
           reply.data_len == PAGE;
}

/* NVM Command Set 1.0, figure 97: NMIC bit 0, more than one controller may have it. NVMe Base 2.0, figure 275: CMIC bit
 * 1, the subsystem may have more than one. */
static void look_nvme(struct use_report *r, struct sated_drive *d, const char *name, uint32_t nsid, uint8_t *page)
{
    if (!identify(d, SATED_NVME_CNS_CTRL, 0, page)) {
        use_add(r, "%s does not say whether other hosts share it (Identify Controller failed); see the kernel's log",
                name);
        return;
    }
    if (!(page[76] & 2) || !nsid)
        return;
    if (!identify(d, SATED_NVME_CNS_NS, nsid, page)) {
        use_add(r, "%s does not say whether other hosts share namespace %u (Identify Namespace failed)", name, nsid);
        return;
    }
    if (!(page[30] & 1))
        return;
    bool reserves = page[31] != 0; /* RESCAP */
    int here = siblings_controllers(name);
    if (!identify(d, SATED_NVME_CNS_NS_CTRL_LIST, nsid, page))
        use_add(r,
                "%s may be shared with other hosts, and does not say which controllers have it; make it private "
                "(NMIC), or take another drive",
                name);
    else if (bytes_le16(page) > here)
        use_add(r,
                "%s is attached to %u controllers, and this host sees %d of them; detach it from the others first "
                "(nvme detach-ns)",
                name, bytes_le16(page), here);
    struct sated_nvme_command report = {
        .opcode = 0x0e, .nsid = nsid, .cdw10 = PAGE / 4 - 1, .direction = SATED_DATA_IN, .data_len = PAGE};
    if (reserves && nsid == handle_namespace(d) && !sated_nvme_io_raw(d, &report, page, NULL) && bytes_le16(page + 5))
        use_add(r, "%s is registered for reservations by %u hosts or controllers; have them give that up first", name,
                bytes_le16(page + 5));
}

/* SPC-6 6.16: a host that shares a unit registers a key. Bridges are not asked: some lose their minds over it. */
static void look_scsi(struct use_report *r, struct sated_drive *d, const char *name, uint8_t *page)
{
    struct sated_scsi_command c = {.cdb = {0x5e, 0, 0, 0, 0, 0, 0, PAGE >> 8, PAGE & 0xff, 0},
                                   .cdb_len = 10,
                                   .direction = SATED_DATA_IN,
                                   .data_len = PAGE};
    struct sated_reply reply;
    int rc = command_ask(d, &c, page, &reply);
    uint32_t length = !rc && reply.data_len >= 8 ? bytes_be32(page + 4) : 0;
    if (rc && reply.scsi_status == RESERVATION_CONFLICT)
        use_add(r, "%s is reserved by another host; have that give it up first", name);
    else if (length)
        use_add(r, "%s has %u registered reservation keys, so other hosts use it; have them give that up first", name,
                length / 8);
}

void shared_look_in_tree(struct use_report *r, const char *name)
{
    if (siblings_fabrics(name))
        use_add(r,
                "%s is reached over a network (NVMe over fabrics), where other hosts may use it; attach the drive "
                "itself",
                name);
}

void shared_look(struct use_report *r, struct sated_drive *d, const char *name, uint32_t nsid)
{
    struct sated_detail before = *error_last();
    uint8_t *page = buffer_new(PAGE);
    shared_look_in_tree(r, name);
    if (page && d->identity.protocol == SATED_PROTOCOL_NVME)
        look_nvme(r, d, name, nsid, page);
    else if (page && d->identity.protocol == SATED_PROTOCOL_SCSI && strcmp(d->identity.transport, "usb") != 0)
        look_scsi(r, d, name, page);
    buffer_free(page, PAGE);
    error_copy(&before);
}

/* NVMe Base 2.0, figure 275: OACS bit 3, namespace management, without which a drive need not list what is not attached
 * (figure 273, CNS 10h). One that no controller has is nobody's: an interrupted change of namespaces leaves such. */
void shared_look_unseen(struct use_report *r, struct sated_drive *d, const uint32_t *seen, size_t n)
{
    struct sated_detail before = *error_last();
    uint8_t *list = buffer_new(PAGE), *page = buffer_new(PAGE);
    bool lists = list && page && identify(d, SATED_NVME_CNS_CTRL, 0, list) &&
                 bytes_le16(list + 256) & SATED_NVME_OACS_NS_MANAGEMENT;
    if (lists && !identify(d, SATED_NVME_CNS_ALLOCATED_LIST, 0, list)) {
        use_add(r, "%s does not say which namespaces its device has (Identify, CNS 10h); see the kernel's log",
                d->path);
        lists = false;
    }
    for (size_t i = 0; lists && i < PAGE / 4 && bytes_le32(list + 4 * i); i++) {
        uint32_t nsid = bytes_le32(list + 4 * i);
        bool is_seen = false;
        for (size_t k = 0; k < n; k++)
            is_seen |= seen[k] == nsid;
        if (!is_seen && (!identify(d, SATED_NVME_CNS_NS_CTRL_LIST, nsid, page) || bytes_le16(page)))
            use_add(r,
                    "%s: its device has namespace %u too, which is attached to a controller and not seen by this host, "
                    "so another host may use it; detach it there first (nvme detach-ns)",
                    d->path, nsid);
    }
    buffer_free(list, PAGE);
    buffer_free(page, PAGE);
    error_copy(&before);
}
