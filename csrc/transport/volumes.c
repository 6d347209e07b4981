/* SPDX-License-Identifier: MIT */
/* What is on the disk is described by LVM2, lib/format_text/layout.h and lib/label/label.c; the text of a group by its
 * lib/format_text/export.c. */
#include "transport/volumes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/buffer.h"
#include "core/bytes.h"
#include "core/error.h"
#include "transport/calls.h"
#include "transport/node.h"
#include "transport/signature.h"

#define SECTOR 512
#define LABELS 4  /* sectors that a label may be in */
#define HEAD 512  /* of a metadata area; its text lies in a ring behind that */
#define TEXT 256  /* of the text: name and id of the group are the first of it, and a name has 127 characters at most */
#define PAGE 4096 /* what is read lies in two of them at most */
#define GROUP_ID 32
#define IGNORED 1u /* of a place of text: it is not kept up to date */

struct volume {
    struct use_report *r;
    const char *name;
    int fd;
    uint64_t from, bytes; /* where on the disk it lies */
    uint8_t *pages;
    char group[128], id[GROUP_ID + 1]; /* "": it is part of none, or that cannot be told */
    bool free;                         /* a metadata area says that it is part of none */
};

/* Return: whether they could be read; they are then at *out, until the next are read. */
static bool bytes_at(const struct volume *v, const uint8_t **out, uint64_t at, size_t n)
{
    if (at > v->bytes || n > v->bytes - at)
        return false;
    uint64_t page = (v->from + at) / PAGE * PAGE;
    size_t skipped = (size_t)(v->from + at - page);
    *out = v->pages + skipped;
    ssize_t got = calls.read(v->fd, v->pages, 2 * (size_t)PAGE, page);
    return got >= 0 && (size_t)got >= skipped + n;
}

/* "NAME {\nid = \"xxxxxx-xxxx-xxxx-xxxx-xxxx-xxxx-xxxxxx\"", of which dm has the id without dashes. */
static void take_group(struct volume *v, const char *text)
{
    char group[sizeof v->group], dashed[39], id[sizeof dashed];
    size_t n = 0;
    if (sscanf(text, "%127[^ {] { id = \"%38[^\"]\"", group, dashed) != 2)
        return;
    for (const char *p = dashed; *p; p++)
        if (*p != '-')
            id[n++] = *p;
    if (n != GROUP_ID)
        return;
    snprintf(v->group, sizeof v->group, "%s", group);
    snprintf(v->id, sizeof v->id, "%.*s", GROUP_ID, id);
}

static void read_area(struct volume *v, uint64_t area, uint64_t size)
{
    char text[TEXT + 1] = "";
    const uint8_t *p;
    if (size <= HEAD || !bytes_at(v, &p, area, HEAD) || memcmp(p + 4, " LVM2 x[5A%r0N*>", 16))
        return;
    uint64_t offset = bytes_le64(p + 40), length = bytes_le64(p + 48);
    if (bytes_le32(p + 60) & IGNORED)
        return;
    if (!offset) {
        v->free = true;
        return;
    }
    if (offset < HEAD || offset >= size)
        return;
    length = length < TEXT ? length : TEXT;
    uint64_t first = size - offset < length ? size - offset : length; /* the rest of the text goes on behind the head */
    if (!bytes_at(v, &p, area + offset, (size_t)first))
        return;
    memcpy(text, p, (size_t)first);
    if (first < length) {
        if (!bytes_at(v, &p, area + HEAD, (size_t)(length - first)))
            return;
        memcpy(text + first, p, (size_t)(length - first));
    }
    take_group(v, text);
}

/* Behind the label its volume's id and size, then two lists of places, each ended by an empty one: of data, of metadata. */
static void read_label(struct volume *v, const uint8_t label[SECTOR])
{
    bool data = true;
    for (uint32_t at = bytes_le32(label + 20); at <= SECTOR - 56 && !v->id[0]; at += 16) {
        uint64_t place = bytes_le64(label + at + 40), size = bytes_le64(label + at + 48);
        if (!place && !data)
            return;
        if (!place)
            data = false;
        else if (!data)
            read_area(v, place, size);
    }
}

struct active {
    const char *id; /* of the group; "" for any */
    char node[NODE_NAME], name[128];
};

static int visit_mapping(const char *node, void *user)
{
    struct active *a = user;
    char uuid[160];
    if (!node_text(uuid, sizeof uuid, "/sys/class/block/%s/dm/uuid", node) || strncmp(uuid, "LVM-", 4) ||
        strncmp(uuid + 4, a->id, strlen(a->id)))
        return 0;
    snprintf(a->node, sizeof a->node, "%s", node);
    node_text(a->name, sizeof a->name, "/sys/class/block/%s/dm/name", node);
    return 1;
}

static void judge(const struct volume *v)
{
    struct active a = {.id = v->id};
    if ((v->free && !v->id[0]) || node_each("/sys/block", visit_mapping, &a) != 1)
        return;
    if (v->id[0])
        use_add(v->r,
                "%s is a physical volume of the LVM group %s, which is active (%s, %s); deactivate that first "
                "(vgchange -an %s), or take it out of there (vgreduce %s /dev/%s)",
                v->name, v->group, a.node, a.name, v->group, v->group, v->name);
    else
        use_add(
            v->r,
            "%s is a physical volume of LVM that does not tell its group, and a group is active (%s, %s), which may "
            "be that one; deactivate all groups first (vgchange -an), or take it out of its group (vgreduce, "
            "pvremove /dev/%s)",
            v->name, a.node, a.name, v->name);
}

static void look(struct use_report *r, const char *name, int fd, uint64_t from, uint64_t bytes)
{
    struct volume v = {.r = r, .name = name, .fd = fd, .from = from, .bytes = bytes, .pages = buffer_new(2 * PAGE)};
    bool found = false;
    if (!v.pages)
        use_add(r, "no memory for looking for physical volumes of LVM on %s; end other programs first", name);
    for (uint32_t i = 0; v.pages && i < LABELS; i++) {
        uint8_t label[SECTOR];
        const uint8_t *p;
        if (!bytes_at(&v, &p, (uint64_t)i * SECTOR, SECTOR) || memcmp(p, "LABELONE", 8))
            continue;
        found = true;
        memcpy(label, p, sizeof label);
        if (!memcmp(label + 24, "LVM2 001", 8))
            read_label(&v, label);
    }
    buffer_free(v.pages, 2 * PAGE);
    if (found)
        judge(&v);
}

struct disk {
    struct use_report *r;
    const char *name;
    int fd;
    uint64_t bytes;
};

/* By the disk's own descriptor: where a partition lies is in 512 bytes (Documentation/ABI/stable/sysfs-block). */
static int visit_partition(const char *name, void *user)
{
    const struct disk *d = user;
    uint64_t number, start, size;
    if (node_number(&number, "/sys/class/block/%s/%s/partition", d->name, name) &&
        node_number(&start, "/sys/class/block/%s/start", name) &&
        node_number(&size, "/sys/class/block/%s/size", name) && start <= d->bytes / 512 && size <= UINT64_MAX / 512)
        look(d->r, name, d->fd, start * 512, size * 512);
    return 0;
}

void volumes_look(struct use_report *r, const char *name, int fd)
{
    char folder[NODE_NAME + 24];
    struct disk d = {.r = r, .name = name};
    d.fd = signature_open(&d.bytes, name, fd);
    if (d.fd < 0) /* as whoever looks for signatures is told */
        return;
    look(r, name, d.fd, 0, d.bytes);
    snprintf(folder, sizeof folder, "/sys/class/block/%s", name);
    node_each(folder, visit_partition, &d);
    if (fd < 0)
        calls.close(d.fd);
}
