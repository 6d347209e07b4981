/* SPDX-License-Identifier: MIT */
#include "transport/replay.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "transport/exchange.h"
#include "transport/node.h"

struct replay {
    struct exchanges exchanges;
    size_t next; /* in strict order */
    char file[512];
};

static void hex(char *out, size_t n, const uint8_t *bytes, const uint8_t *mask, size_t count)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count && used + 4 < n; i++)
        used += mask && !mask[i] ? (size_t)snprintf(out + used, n - used, "%sxx", i ? " " : "")
                                 : (size_t)snprintf(out + used, n - used, "%s%02x", i ? " " : "", bytes[i]);
}

static const char *set_name(enum sated_command_set set)
{
    return set == SATED_COMMANDS_NVME_ADMIN ? "nvme-admin" : set == SATED_COMMANDS_NVME_IO ? "nvme-io" : "scsi";
}

/* The set under which a command is recorded. */
static enum sated_command_set set_of(const struct command *c)
{
    return c->nvme ? c->set : SATED_COMMANDS_SCSI;
}

static void nvme_hex(char *out, size_t n, uint8_t opcode, const uint32_t *dwords, const uint32_t *masks)
{
    size_t used = (size_t)snprintf(out, n, "opcode %02x", opcode);
    for (size_t i = 0; i < EXCHANGE_DWORDS && used < n; i++)
        if (masks && !masks[i])
            used += (size_t)snprintf(out + used, n - used, " %s any", exchange_dword_names[i]);
        else if (dwords[i])
            used += (size_t)snprintf(out + used, n - used, " %s %08x", exchange_dword_names[i], dwords[i]);
}

static void text_of_exchange(char *out, size_t n, const struct exchange *e)
{
    size_t used = (size_t)snprintf(out, n, "%s ", set_name(e->set));
    if (e->set == SATED_COMMANDS_SCSI)
        hex(out + used, n - used, e->cdb, e->cdb_mask, e->cdb_len);
    else
        nvme_hex(out + used, n - used, e->opcode, e->dwords, e->dword_masks);
}

static void text_of_command(char *out, size_t n, const struct command *c)
{
    size_t used = (size_t)snprintf(out, n, "%s ", set_name(set_of(c)));
    uint32_t dwords[EXCHANGE_DWORDS];
    if (c->nvme) {
        exchange_dwords(dwords, c->nvme);
        nvme_hex(out + used, n - used, c->nvme->opcode, dwords, NULL);
    } else {
        hex(out + used, n - used, c->scsi->cdb, NULL, c->scsi->cdb_len);
    }
}

/* How many of the numbers of a command are those that the exchange expects; all of them is *whole. */
static unsigned agreement(const struct exchange *e, const struct command *c, unsigned *whole)
{
    unsigned same = 0;
    *whole = 1;
    if (e->set != set_of(c))
        return 0;
    if (!c->nvme) {
        *whole = 33;
        same = e->cdb_len == c->scsi->cdb_len;
        for (size_t i = 0; i < 32; i++)
            same += i >= e->cdb_len || i >= c->scsi->cdb_len || !((e->cdb[i] ^ c->scsi->cdb[i]) & e->cdb_mask[i]);
        return same;
    }
    uint32_t dwords[EXCHANGE_DWORDS];
    exchange_dwords(dwords, c->nvme);
    *whole = EXCHANGE_DWORDS + 1;
    same = e->opcode == c->nvme->opcode && e->flags == c->nvme->flags;
    for (size_t i = 0; i < EXCHANGE_DWORDS; i++)
        same += !((e->dwords[i] ^ dwords[i]) & e->dword_masks[i]);
    return same;
}

static bool same_out(const struct exchange *e, const struct command *c)
{
    size_t n = c->direction == SATED_DATA_OUT ? c->data_len : 0;
    return !e->checks_out || (e->out_len == n && (n == 0 || !memcmp(e->out, c->data, n)));
}

static bool matches(const struct exchange *e, const struct command *c)
{
    unsigned whole;
    return agreement(e, c, &whole) == whole && same_out(e, c);
}

/* The command is as expected, the data that goes with it is not: says where. */
static int other_data(const struct replay *r, const struct exchange *e, const struct command *c)
{
    const uint8_t *sent = c->data;
    size_t n = c->direction == SATED_DATA_OUT ? c->data_len : 0, at = 0;
    char command[300], want[60], got[60];
    while (at < n && at < e->out_len && sent[at] == e->out[at])
        at++;
    text_of_command(command, sizeof command, c);
    size_t left = at < e->out_len ? e->out_len - at : 0;
    hex(want, sizeof want, left ? e->out + at : NULL, NULL, left < 16 ? left : 16);
    left = at < n ? n - at : 0;
    hex(got, sizeof got, left ? sent + at : NULL, NULL, left < 16 ? left : 16);
    return error_set(
        SATED_STATE, SATED_LAYER_DRIVE,
        "%s:%u: %s came with other data: from byte %zu on %zu bytes of %s were expected and %zu bytes of %s "
        "sent; send what was recorded, or record it again",
        r->file, e->line, command, at, e->out_len, want, n, got);
}

static int mismatch(const struct replay *r, const struct exchange *near, const struct command *c)
{
    char want[300] = "", got[300];
    unsigned whole;
    if (near && agreement(near, c, &whole) == whole)
        return other_data(r, near, c);
    text_of_command(got, sizeof got, c);
    if (near)
        text_of_exchange(want, sizeof want, near);
    if (r->exchanges.strict && !near)
        return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                         "%s: got %s after the last of its %zu exchanges; record a longer session", r->file, got,
                         r->exchanges.n);
    if (!near)
        return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                         "%s: got %s, and it has no exchanges of that kind; record them, or leave the command out",
                         r->file, got);
    return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                     "%s:%u: expected %s%s, got %s; send what was recorded, or record it again", r->file, near->line,
                     want, r->exchanges.strict ? "" : " (the nearest of all)", got);
}

static int find(struct replay *r, const struct command *c, struct exchange **out)
{
    struct exchanges *x = &r->exchanges;
    struct exchange *last = NULL, *near = NULL;
    unsigned best = 0, whole;
    if (x->strict) {
        near = r->next < x->n ? &x->list[r->next] : NULL;
        if (!near || !matches(near, c))
            return mismatch(r, near, c);
        r->next++;
        *out = near;
        return 0;
    }
    for (size_t i = 0; i < x->n; i++) {
        struct exchange *e = &x->list[i];
        if (matches(e, c)) {
            last = e;
            if (!e->used)
                break;
        }
        unsigned same = agreement(e, c, &whole);
        if (same > best) {
            best = same;
            near = e;
        }
    }
    if (!last)
        return mismatch(r, near, c);
    last->used = true; /* all of them used: the last one goes on answering */
    *out = last;
    return 0;
}

static int send_replay(struct sated_drive *d, const struct command *c, struct sated_reply *reply)
{
    struct replay *r = d->way;
    struct exchange *e = NULL;
    int rc = find(r, c, &e);
    if (rc)
        return rc;
    if (__builtin_add_overflow(d->replay_ns, e->reply.duration_ns, &d->replay_ns))
        d->replay_ns = INT64_MAX;
    if (e->failure)
        return error_set(e->failure, SATED_LAYER_DRIVE,
                         "%s:%u: the way to the drive failed when it was recorded (%s); see what was wrong there",
                         r->file, e->line, sated_error_name(e->failure));
    if (e->error)
        return error_set(-e->error, SATED_LAYER_DRIVE,
                         "%s:%u: the kernel refused this command when it was recorded: %s; see what was wrong there",
                         r->file, e->line, error_text(e->error));
    *reply = e->reply;
    uint32_t moved = c->direction == SATED_DATA_OUT ? c->data_len : 0;
    if (c->direction == SATED_DATA_IN) {
        moved = e->data_len < c->data_len ? (uint32_t)e->data_len : c->data_len;
        if (moved)
            memcpy(c->data, e->data, moved);
    }
    if (!e->has_residual)
        reply->residual = (int32_t)(c->data_len - moved);
    return 0;
}

static void close_replay(struct sated_drive *d)
{
    struct replay *r = d->way;
    exchanges_free(&r->exchanges);
    free(r);
    free(d->tree);
    d->tree = NULL;
}

/* The machine that the file names, relative to the file itself. */
static int find_tree(struct sated_drive *d, const struct replay *r)
{
    const struct exchanges *x = &r->exchanges;
    const char *slash = strrchr(r->file, '/');
    char whole[NODE_NAME], folder[PATH_MAX + 512];
    if (!x->node[0] && !x->root[0])
        return 0;
    if (!x->node[0] || !x->root[0])
        return error_set(SATED_PARSE, SATED_LAYER_FILE,
                         "%s: \"node\" and \"root\" go together: the drive's name in sysfs, and the folder with the "
                         "machine's /sys, /proc and /dev",
                         r->file);
    int before = x->root[0] == '/' || !slash ? 0 : (int)(slash + 1 - r->file);
    d->tree = calloc(1, sizeof *d->tree);
    if (!d->tree)
        return error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for a handle", r->file);
    snprintf(folder, sizeof folder, "%.*s%s", before, r->file, x->root);
    if (!realpath(folder, d->tree->root))
        return error_set(-errno, SATED_LAYER_FILE, "%s: its \"root\", %s, cannot be reached: %s", r->file, folder,
                         error_text(errno));
    snprintf(d->tree->node, sizeof d->tree->node, "%s", x->node);
    const char *was = node_use_root(d->tree->root);
    int rc = node_whole(whole, x->node);
    node_use_root(was);
    return rc ? error_set(SATED_PARSE, SATED_LAYER_FILE, "%s: there is no \"node\" %s in %s/sys/class/block", r->file,
                          x->node, d->tree->root)
              : 0;
}

const struct command_face replay_face = {.send = send_replay, .close = close_replay};

int replay_open(struct sated_drive *d, const char *path)
{
    struct replay *r = calloc(1, sizeof *r);
    if (!r)
        return error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for a handle", path);
    int rc = exchanges_read(&r->exchanges, path);
    if (rc) {
        free(r);
        return rc;
    }
    snprintf(r->file, sizeof r->file, "%s", path);
    d->kind = HANDLE_REPLAY;
    d->way = r;
    d->face = &replay_face;
    rc = find_tree(d, r);
    if (rc)
        return rc;
    d->permitted = d->permitted_whole = !d->tree; /* that machine is judged all the same */
    d->identity = r->exchanges.identity;
    d->nsid = r->exchanges.nsid;
    d->identity.flags |= SATED_IDENTITY_REPLAYED | SATED_IDENTITY_COMMANDS_ONLY;
    d->identity.scale = 1;
    if (!d->identity.transport[0])
        snprintf(d->identity.transport, sizeof d->identity.transport, "replay");
    snprintf(d->identity.path, sizeof d->identity.path, "%s", d->path);
    return 0;
}
