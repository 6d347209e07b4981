/* SPDX-License-Identifier: MIT */
#include "drive/guard.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "core/size.h"
#include "drive/journal.h"
#include "drive/shared.h"
#include "transport/block.h"
#include "transport/node.h"
#include "transport/regular.h"
#include "transport/replay.h"
#include "transport/siblings.h"
#include "transport/signature.h"
#include "transport/simulated.h"
#include "transport/volumes.h"

/* ---- What sysfs and procfs tell ---- */

static void look_what_it_is(struct use_report *r, const char *name)
{
    char whole[NODE_NAME], path[PATH_MAX];
    uint64_t number;
    if (node_whole(whole, name)) {
        use_add(r, "%s is not in sysfs (any more), so nobody can tell what uses it; open the drive anew", name);
        return;
    }
    if (strcmp(whole, name))
        use_add(r, "%s is a partition, and only whole disks are written to; open /dev/%s", name, whole);
    if (node_path(path, sizeof path, "/sys/class/block/%s/dm", name) && access(path, F_OK) == 0)
        use_add(r,
                "%s is a mapping (device mapper), and only whole disks and sets are written to; open what it lies on",
                name);
    if (node_number(&number, "/sys/class/block/%s/ro", name) && number)
        use_add(r, "%s is read-only; take its write protection away first (a switch, or blockdev --setrw)", name);
}

static void look_for_twin(struct use_report *r, const char *name)
{
    char twin[NODE_NAME], serial[64];
    if (!siblings_twin(twin, name))
        return;
    block_serial(serial, sizeof serial, name);
    use_add(r,
            "%s may be the same drive by another path: its serial number or name, %s, is that of %s; take all paths "
            "but one away",
            twin, serial, name);
}

void guard_look(struct use_report *r, const char *name)
{
    look_what_it_is(r, name);
    use_of_device(r, name);
    use_beneath(r, name);
    look_for_twin(r, name);
    use_of_partitions(r, name);
}

/* ---- What is on it ---- */

/* @param fd of the disk, or -1; @param real whether a node that is missing stands against it, as it does not in a recorded
 * tree. */
static void look_into(struct use_report *r, const char *name, int fd, bool real)
{
    char names[256];
    int rc = signature_of(names, sizeof names, name, fd);
    if (rc == -ENOENT && !real)
        return;
    if (rc)
        use_add(r, "%s cannot be looked into for file systems: %s; see the kernel's log", name, error_text(-rc));
    else if (names[0]) {
        use_add(
            r,
            "%s holds signatures (%s); where nothing of them is wanted any more, --wipe-signatures of sated purge or review clears them",
            name, names);
        r->wipeable++;
    }
    volumes_look(r, name, fd);
}

/* ---- One disk, and all of a device ---- */

static void judge(struct use_report *r, const char *name, int fd, bool real)
{
    guard_look(r, name);
    if (r->blind)
        use_add(r, "nobody can tell what is mounted: /proc/self/mountinfo cannot be read; mount /proc");
    look_into(r, name, fd, real);
}

static void add_scope(char *scope, size_t n, const char *name)
{
    struct sated_identity id;
    char size[32];
    size_t used = strlen(scope);
    block_identify(name, &id);
    size_print_fixed(size, sizeof size, (double)id.capacity_bytes / 1e9, 1);
    snprintf(scope + used, n - used, "%s/dev/%s (%s%s%s GB%s%s)", used ? ", " : "", name, id.model,
             id.model[0] ? ", " : "", size, id.serial[0] ? ", serial number " : "", id.serial);
}

static void add_paths(struct sated_guard *out, const char *name)
{
    struct sated_identity id;
    char path[PATH_MAX], real[PATH_MAX];
    block_identify(name, &id);
    if (id.controllers[0])
        snprintf(out->paths, sizeof out->paths, "%s", id.controllers);
    else if (node_path(path, sizeof path, "/sys/class/block/%s/device", name) && realpath(path, real))
        snprintf(out->paths, sizeof out->paths, "%.63s%s%s", strrchr(real, '/') + 1, id.link[0] ? " " : "", id.link);
}

struct look {
    struct sated_drive *d;
    const char *name; /* of the disk; "" of a controller that stands for several, or for none */
    const char *controller;
    bool real, whole;
    int fd;
};

static uint32_t nsid_of(const char *name)
{
    uint64_t nsid;
    return node_number(&nsid, "/sys/class/block/%s/nsid", name) && nsid < UINT32_MAX ? (uint32_t)nsid : 0;
}

static void look_shared(struct use_report *r, const struct look *l, const char *name)
{
    if (l->real)
        shared_look(r, l->d, name, nsid_of(name));
    else
        shared_look_in_tree(r, name);
}

static void guard_disks(const struct look *l, struct sated_guard *out)
{
    struct use_report r = {.text = out->reasons, .n = sizeof out->reasons};
    struct sated_detail before = *error_last();
    char names[SIBLINGS_MAX][NODE_NAME];
    uint32_t seen[SIBLINGS_MAX + 1] = {l->name[0] ? nsid_of(l->name) : 0};
    if (l->real && handle_check_same(l->d))
        use_add(&r, "%s", error_last()->text);
    if (l->name[0]) {
        judge(&r, l->name, l->fd, l->real);
        look_shared(&r, l, l->name);
        add_scope(out->scope, sizeof out->scope, l->name);
        add_paths(out, l->name);
    }
    int n = l->whole ? siblings_of(names, SIBLINGS_MAX, l->name[0] ? l->name : l->controller) : 0;
    if (n < 0)
        use_add(&r, "%s", error_last()->text);
    for (int i = 0; i < n; i++) {
        judge(&r, names[i], -1, l->real);
        look_shared(&r, l, names[i]);
        add_scope(out->scope, sizeof out->scope, names[i]);
        seen[i + 1] = nsid_of(names[i]);
    }
    if (l->real && l->whole && n >= 0 && l->d->identity.protocol == SATED_PROTOCOL_NVME)
        shared_look_unseen(&r, l->d, seen, (size_t)n + 1);
    out->safe = r.count == 0;
    out->wipeable = r.count && r.count == r.wipeable;
    error_copy(&before);
}

/* A recorded machine stands in for this one while its disk is judged. */
static void guard_tree(struct sated_drive *d, bool whole, struct sated_guard *out)
{
    const char *was = node_use_root(d->tree->root);
    guard_disks(&(struct look){.d = d, .name = d->tree->node, .fd = -1, .whole = whole}, out);
    node_use_root(was);
    size_t used = strlen(out->scope);
    snprintf(out->scope + used, sizeof out->scope - used, " of the recorded machine, and nothing of this one");
}

static void guard_node(struct sated_drive *d, bool whole, struct sated_guard *out)
{
    struct look l = {.d = d, .name = d->node, .controller = d->command_node, .real = true, .whole = whole};
    l.fd = d->kind == HANDLE_BLOCK ? (d->write_fd >= 0 ? d->write_fd : d->fd) : -1;
    out->needs_token = true;
    if (d->kind == HANDLE_COMMANDS)
        l.whole = true; /* it takes commands alone, and most of those reach everything */
    if (d->kind == HANDLE_COMMANDS && !d->node[0] && d->identity.protocol != SATED_PROTOCOL_NVME) {
        struct use_report r = {.text = out->reasons, .n = sizeof out->reasons};
        use_add(&r, "%s has no block device that could be looked at and held; load the kernel's disk driver (sd_mod)",
                d->path);
        return;
    }
    guard_disks(&l, out);
    if (!l.name[0] && !out->scope[0])
        snprintf(out->scope, sizeof out->scope, "the controller %.63s, which has no namespace here", d->command_node);
}

static void guard_file(struct sated_drive *d, struct sated_guard *out)
{
    struct use_report r = {.text = out->reasons, .n = sizeof out->reasons};
    struct sated_detail detail;
    if (handle_check_same(d)) {
        sated_detail_get(&detail);
        use_add(&r, "%s", detail.text);
    } else {
        regular_obstacles(d, &r);
        use_of_file(&r, d->path, d->device, d->inode);
    }
    out->needs_token = !d->created;
    out->safe = r.count == 0;
    snprintf(out->scope, sizeof out->scope, "the first %" PRIu64 " bytes of the file %.400s, and nothing else",
             d->identity.capacity_bytes, d->path);
}

static void guard_simulated(struct sated_drive *d, struct sated_guard *out)
{
    const char *why = simulated_blocked(d);
    struct use_report r = {.text = out->reasons, .n = sizeof out->reasons};
    if (why)
        use_add(&r, "%s", why);
    out->safe = !why;
    uint32_t n = simulated_members(d);
    if (n)
        snprintf(out->scope, sizeof out->scope,
                 "all %u members of the simulated set %.400s (%" PRIu64
                 " bytes), each of them alike, and nothing of this "
                 "machine",
                 n, d->path, d->identity.capacity_bytes);
    else
        snprintf(out->scope, sizeof out->scope,
                 "the simulated drive %.400s (%" PRIu64 " bytes), and nothing of this machine", d->path,
                 d->identity.capacity_bytes);
}

/* ---- Interrupted before ---- */

void guard_note_unfinished(struct sated_drive *d)
{
    static const char *const operations[] = {"purge", "capacity"};
    struct sated_detail before = *error_last();
    free(d->untold);
    d->untold = NULL;
    for (unsigned i = 0; i < sizeof operations / sizeof *operations; i++) {
        struct journal *j = NULL;
        int rc = journal_find(&j, d, operations[i]);
        journal_leave(j);
        d->interrupted &= ~(1U << i);
        d->interrupted |= (unsigned)(rc != 0) << i; /* also where nobody can tell */
        if (rc < 0 && !d->untold)
            d->untold = strdup(error_last()->text);
    }
    error_copy(&before);
}

static void look_unfinished(struct sated_drive *d, struct sated_guard *out)
{
    struct use_report r = {.text = out->reasons, .n = sizeof out->reasons};
    guard_note_unfinished(d);
    if (!d->interrupted)
        return;
    if (d->untold)
        use_add(&r, "nobody can tell whether an interrupted purge or change of its capacity stands: %s", d->untold);
    else
        use_add(&r, "an interrupted %s of it stands; sated %s DRIVE --resume first",
                d->interrupted & 1 ? "purge" : "change of the capacity", d->interrupted & 1 ? "purge" : "capacity");
    out->safe = out->wipeable = false;
}

int guard_ask(struct sated_drive *d, bool whole, struct sated_guard *out)
{
    memset(out, 0, sizeof *out);
    switch (d->kind) {
    case HANDLE_SIMULATED: guard_simulated(d, out); break;
    case HANDLE_FILE: guard_file(d, out); break;
    case HANDLE_COMMANDS:
    case HANDLE_BLOCK: guard_node(d, whole, out); break;
    case HANDLE_REPLAY:
        if (d->tree) {
            guard_tree(d, whole, out);
            break;
        }
        out->safe = true;
        snprintf(out->scope, sizeof out->scope, "the recorded answers of %.400s, and nothing of this machine", d->path);
        break;
    case HANDLE_CALLBACK:
        out->safe = true;
        out->needs_token = !d->simulated;
        snprintf(out->scope, sizeof out->scope, "what the transport %.400s reaches, which nobody can look at from here",
                 d->path);
        break;
    }
    return 0;
}

static int guard(struct sated_drive *d, bool whole, struct sated_guard *out)
{
    int rc = guard_ask(d, whole, out);
    if (!rc && d->kind != HANDLE_FILE && d->kind != HANDLE_REPLAY)
        look_unfinished(d, out);
    return rc;
}

int sated_drive_guard(struct sated_drive *d, struct sated_guard *out)
{
    return guard(d, false, out);
}

int sated_drive_guard_whole(struct sated_drive *d, struct sated_guard *out)
{
    return guard(d, true, out);
}
