/* SPDX-License-Identifier: MIT */
#include "transport/integrity.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sated/nvme.h>

#include "core/buffer.h"
#include "core/error.h"
#include "protocol/known.h"
#include "protocol/known_nvme.h"
#include "transport/node.h"

#define PAGE 4096

static bool is_on(const char *disk, const char *attribute)
{
    uint64_t number;
    return node_number(&number, "/sys/class/block/%s/integrity/%s", disk, attribute) && number;
}

/* Documentation/ABI/stable/sysfs-block: integrity/. The kernel names a format by who made it and what the reference tag
 * is: T10-DIF-TYPE1-CRC, T10-DIF-TYPE3-IP, EXT-DIF-TYPE1-CRC64; "nop" is metadata that is no protection information. */
static void tell_carried(char *out, size_t n, const char *disk, const char *format)
{
    const char *tags = strstr(format, "TYPE3") ? "the guard" : "guard and reference tag";
    bool made = is_on(disk, "write_generate"), checked = is_on(disk, "read_verify");
    if (!strcmp(format, "nop"))
        snprintf(out, n,
                 "blocks have metadata without protection information, which the kernel fills and nobody checks");
    else if (made && checked)
        snprintf(out, n,
                 "blocks have protection information (%s): the kernel makes %s of what is written and checks them of "
                 "what is read, which is in the latencies",
                 format, tags);
    else
        snprintf(out, n,
                 "blocks have protection information (%s): the kernel %s, and leaves %s to the controller "
                 "(integrity/write_generate and read_verify)",
                 format,
                 made      ? "makes it of what is written"
                 : checked ? "checks it of what is read"
                           : "neither makes nor checks it",
                 made || checked ? "the rest" : "both");
}

static int take_name(const char *name, void *user)
{
    snprintf(user, NODE_NAME, "%s", name);
    return 1;
}

/* A SCSI disk whose adapter hands no protection information on to the kernel: sd(4)'s protection_mode is "dif" and the
 * type where the adapter makes and takes off what the disk checks, "none" where the disk keeps it to itself. */
static bool tell_scsi(char *out, size_t n, const char *disk)
{
    char folder[200], address[NODE_NAME] = "", mode[20];
    uint64_t type;
    snprintf(folder, sizeof folder, "/sys/class/block/%s/device/scsi_disk", disk);
    node_each(folder, take_name, address);
    if (!address[0] || !node_number(&type, "%s/%s/protection_type", folder, address) || !type)
        return false;
    node_text(mode, sizeof mode, "%s/%s/protection_mode", folder, address);
    snprintf(out, n, "blocks have protection information of type %" PRIu64 ", which %s", type,
             strncmp(mode, "dif", 3) ? "the drive keeps to itself: its host adapter has none to send"
                                     : "the host adapter makes and takes off, and the drive checks");
    return true;
}

bool integrity_tell(char *out, size_t n, const char *name)
{
    char disk[NODE_NAME], format[40];
    uint64_t bytes;
    out[0] = '\0';
    if (node_whole(disk, name))
        return false;
    if (node_text(format, sizeof format, "/sys/class/block/%s/integrity/format", disk) && strcmp(format, "none"))
        tell_carried(out, n, disk, format);
    else if (node_number(&bytes, "/sys/class/block/%s/metadata_bytes", disk) && bytes)
        snprintf(out, n,
                 "blocks have %" PRIu64
                 " bytes of protection information, which the controller makes, checks and takes "
                 "off",
                 bytes);
    else
        return tell_scsi(out, n, disk);
    return true;
}

/* Of the namespace itself; 0 where it does not tell. */
static uint32_t ask(struct sated_drive *d, bool *extended, bool *protection)
{
    struct sated_nvme_command c;
    struct sated_reply reply;
    uint32_t bytes = 0;
    struct sated_nvme_id_ns *ns = malloc(sizeof *ns);
    uint8_t *page = buffer_new(PAGE);
    if (ns && page && !sated_nvme_build_identify(&c, SATED_NVME_CNS_NS, handle_namespace(d), 0, 0, 0) &&
        !sated_nvme_admin_raw(d, &c, page, &reply) && !sated_nvme_decode_id_ns(page, reply.data_len, ns) &&
        IS_KNOWN(nvme_id_ns, ns, metadata_bytes)) {
        bytes = ns->metadata_bytes;
        *extended = ns->flbas >> 4 & 1;
        *protection = ns->dps & 7;
    }
    buffer_free(page, PAGE);
    free(ns);
    return bytes;
}

/* NVM Command Set 1.0, 5.1 and 2.1.4: metadata is a buffer of its own or the end of each block (FLBAS bit 4). Linux has the
 * former where it has a use for it, and lets a controller make and take off protection information that is all of it. */
int integrity_refused(struct sated_drive *d)
{
    bool extended = false, protection = false;
    uint64_t told;
    if (d->identity.protocol != SATED_PROTOCOL_NVME)
        return 0;
    uint32_t bytes = ask(d, &extended, &protection);
    if (!bytes && node_number(&told, "/sys/class/block/%s/metadata_bytes", d->node))
        bytes = (uint32_t)told;
    if (!bytes)
        return 0;
    return error_set(
        SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
        "%s: the kernel gives it no capacity, because each of its blocks has %" PRIu32
        " bytes of metadata%s%s, which it does not carry; format the namespace without metadata (LBA format "
        "and MSET of Format NVM), by way of its controller",
        d->path, bytes, extended ? " at its end" : "", protection ? " that are more than protection information" : "");
}
