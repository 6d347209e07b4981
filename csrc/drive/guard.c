/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "transport/handle.h"
#include "transport/regular.h"
#include "transport/simulated.h"
#include "transport/use.h"

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

static void guard_block(struct sated_drive *d, struct sated_guard *out)
{
    struct use_report r = {.text = out->reasons, .n = sizeof out->reasons};
    use_add(&r, "this version writes only to files and simulated drives");
    if (handle_check_same(d))
        use_add(&r, "%s no longer leads to what was opened; open it anew", d->path);
    if (d->node[0])
        use_of_device(&r, d->node);
    out->needs_token = true;
    snprintf(out->scope, sizeof out->scope, "nothing: %.400s is open for reading only", d->path);
}

static void guard_simulated(struct sated_drive *d, struct sated_guard *out)
{
    const char *why = simulated_blocked(d);
    struct use_report r = {.text = out->reasons, .n = sizeof out->reasons};
    if (why)
        use_add(&r, "%s", why);
    out->safe = !why;
}

static void guard_transport(const struct sated_drive *d, struct sated_guard *out)
{
    struct use_report r = {.text = out->reasons, .n = sizeof out->reasons};
    out->safe = d->permitted;
    out->needs_token = !d->permitted;
    if (!d->permitted)
        use_add(&r, "a transport that is not said to be simulated counts as a real drive, to which this version sends "
                    "read-only commands only");
    snprintf(out->scope, sizeof out->scope, "what the transport %.400s reaches", d->path);
}

int sated_drive_guard(struct sated_drive *d, struct sated_guard *out)
{
    memset(out, 0, sizeof *out);
    switch (d->kind) {
    case HANDLE_SIMULATED:
        guard_simulated(d, out);
        snprintf(out->scope, sizeof out->scope,
                 "the simulated drive %.400s (%" PRIu64 " bytes), and nothing of this machine", d->path,
                 d->identity.capacity_bytes);
        break;
    case HANDLE_FILE: guard_file(d, out); break;
    case HANDLE_COMMANDS:
    case HANDLE_BLOCK: guard_block(d, out); break;
    case HANDLE_REPLAY:
        out->safe = true;
        snprintf(out->scope, sizeof out->scope, "the recorded answers of %.400s, and nothing of this machine", d->path);
        break;
    case HANDLE_CALLBACK: guard_transport(d, out); break;
    }
    return 0;
}

/* The reasons as part of one sentence. */
static void one_line(char *out, size_t n, const char *reasons)
{
    size_t used = 0;
    for (const char *p = reasons; *p && used + 6 < n; p++)
        used += (size_t)snprintf(out + used, n - used, *p == '\n' ? "; and " : "%c", *p);
}

int sated_drive_permit(struct sated_drive *d, const char *token)
{
    struct sated_guard guard;
    if (d->kind == HANDLE_SIMULATED || d->kind == HANDLE_REPLAY || (d->kind == HANDLE_CALLBACK && d->permitted))
        return 0;
    if (d->kind != HANDLE_FILE)
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                         "%s: cannot be given consent: this version writes only to files and simulated drives; give it "
                         "a file (--create 1GiB) or a sim: drive, or do only what reads",
                         d->path);
    int rc = sated_drive_guard(d, &guard);
    if (rc)
        return rc;
    if (!guard.safe) {
        char reasons[sizeof guard.reasons + 64] = "";
        one_line(reasons, sizeof reasons, guard.reasons);
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE, "%.420s: may not be written to: %s", d->path, reasons);
    }
    if (token && token[0] && strcmp(token, d->path))
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                         "%.420s: the token \"%.420s\" is not the one of this file, which is its real path, to the "
                         "letter; type %s",
                         d->path, token, d->path);
    if (guard.needs_token && !(token && token[0]))
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                         "%.420s: holds data that would be overwritten; if it may be lost, type its token as confirm= "
                         "(--confirm): %s",
                         d->path, d->path);
    return handle_grant(d);
}
