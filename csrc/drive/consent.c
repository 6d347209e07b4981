/* SPDX-License-Identifier: MIT */
/* Consent: the token that a person typed, and the permit that it gives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "drive/guard.h"
#include "drive/identity.h"
#include "transport/hold.h"
#include "transport/siblings.h"
#include "transport/signature.h"

/* The reasons as part of one sentence. */
static void one_line(char *out, size_t n, const char *reasons)
{
    size_t used = 0;
    for (const char *p = reasons; *p && used + 6 < n; p++)
        used += (size_t)snprintf(out + used, n - used, *p == '\n' ? "; and " : "%c", *p);
}

static int unsafe(const struct sated_drive *d, const struct sated_guard *guard)
{
    char reasons[sizeof guard->reasons] = "";
    one_line(reasons, sizeof reasons, guard->reasons);
    return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE, "%.300s: may not be written to: %s", d->path, reasons);
}

static int wrong_token(const struct sated_drive *d, const char *given, const char *right, const char *what)
{
    if (given && given[0])
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                         "%.300s: the token \"%.300s\" is not the one of this %s, to the letter; type %.300s", d->path,
                         given, what, right);
    return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                     "%.420s: holds data that would be overwritten; if it may be lost, type its token as confirm= "
                     "(--confirm): %.420s",
                     d->path, right);
}

static int permit_file(struct sated_drive *d, const char *token)
{
    struct sated_guard guard;
    int rc = guard_ask(d, false, &guard);
    if (rc)
        return rc;
    if (!guard.safe)
        return unsafe(d, &guard);
    bool given = token && token[0];
    if (given ? strcmp(token, d->path) != 0 : guard.needs_token)
        return wrong_token(d, token, d->path, "file, which is its real path");
    return handle_grant(d, HANDLE_BLOCKS);
}

/* Keeps why not all of the device may be changed, for whoever asks for that. */
static void keep_refusal(struct sated_drive *d, const struct sated_guard *guard)
{
    char reasons[sizeof guard->reasons] = "";
    one_line(reasons, sizeof reasons, guard->reasons);
    free(d->not_whole);
    d->not_whole = strdup(reasons);
}

/* A replayed drive needs no token, but the machine that was recorded with it is judged all the same. */
static int permit_tree(struct sated_drive *d)
{
    struct sated_guard guard;
    d->permitted = d->permitted_whole = false;
    int rc = guard_ask(d, false, &guard);
    if (rc || !guard.safe) {
        keep_refusal(d, &guard);
        return rc ? rc : unsafe(d, &guard);
    }
    rc = handle_grant(d, HANDLE_BLOCKS);
    if (!rc)
        rc = guard_ask(d, true, &guard);
    if (rc)
        return rc;
    if (guard.safe)
        return handle_grant(d, HANDLE_DRIVE);
    keep_refusal(d, &guard);
    return 0;
}

struct tokens {
    char own[600], all[128]; /* of its blocks, and of the whole device */
    bool covers_all;         /* that of its blocks does: there is nothing else */
};

static int find_tokens(struct sated_drive *d, struct tokens *t)
{
    struct sated_identity id;
    char names[SIBLINGS_MAX][NODE_NAME];
    int rc = sated_drive_get_identity(d, &id);
    int n = rc ? rc : siblings_find(names, SIBLINGS_MAX, d);
    if (n < 0)
        return n;
    snprintf(t->own, sizeof t->own, "%s", id.token);
    snprintf(t->all, sizeof t->all, "%.64s:all", id.serial[0] ? id.serial : id.model[0] ? id.model : "disk");
    t->covers_all = n == 0 && id.token[0];
    return 0;
}

/* @param all out: whether all of the device is to be permitted or nothing. */
static int check_token(const struct sated_drive *d, const struct tokens *t, const char *token, bool *all)
{
    char right[900];
    *all = d->kind == HANDLE_COMMANDS;
    if (token && !strcmp(token, t->all)) {
        *all = true;
        return 0;
    }
    if (token && t->own[0] && !strcmp(token, t->own) && (!*all || t->covers_all))
        return 0;
    if (t->covers_all)
        snprintf(right, sizeof right, "%s", t->own);
    else if (!t->own[0] || *all)
        snprintf(right, sizeof right, "%s, as it stands for all of the device", t->all);
    else
        snprintf(right, sizeof right, "%s (or %s for all of its device)", t->own, t->all);
    return wrong_token(d, token, right, "drive");
}

/* With the disk held nothing of it can be mounted any more: what is seen now stays so. */
static int look_again(struct sated_drive *d, bool wipe, bool all)
{
    struct sated_guard guard;
    int rc = guard_ask(d, all, &guard);
    if (!rc && !guard.safe && wipe && guard.wipeable) {
        rc = signature_wipe(d, all);
        if (!rc)
            rc = guard_ask(d, all, &guard);
    }
    return rc || guard.safe ? rc : unsafe(d, &guard);
}

/* What the token of a disk that is alone on its device gives beyond its blocks. */
static int permit_rest(struct sated_drive *d)
{
    struct sated_guard guard;
    int rc = hold_take(d, true);
    if (rc) {
        free(d->not_whole);
        d->not_whole = strdup(error_last()->text);
        return 0;
    }
    rc = guard_ask(d, true, &guard);
    if (rc || guard.safe)
        return rc ? rc : handle_grant(d, HANDLE_DRIVE);
    hold_drop_others(d);
    keep_refusal(d, &guard);
    return 0;
}

static int permit_device(struct sated_drive *d, const char *token, bool wipe)
{
    struct tokens t;
    struct sated_guard guard;
    bool all, had = d->permitted;
    int rc = had ? handle_check_same(d) : 0; /* one that is gone has no token that could be right */
    if (rc)
        return rc;
    rc = find_tokens(d, &t);
    if (!rc && !had) { /* why it may not be is told before anybody types a token */
        rc = guard_ask(d, false, &guard);
        if (!rc && !guard.safe && !(wipe && guard.wipeable))
            rc = unsafe(d, &guard);
    }
    if (!rc)
        rc = check_token(d, &t, token, &all);
    if (!rc && had && (!all || d->permitted_whole))
        return 0;
    if (!rc && all) { /* what is wrong with the others is told better than by the kernel, which calls them busy */
        rc = guard_ask(d, true, &guard);
        if (!rc && !guard.safe && !(wipe && guard.wipeable))
            rc = unsafe(d, &guard);
    }
    if (!rc)
        rc = hold_take(d, all);
    if (!rc)
        rc = look_again(d, wipe, all);
    if (!rc)
        rc = handle_grant(d, all ? HANDLE_DRIVE : HANDLE_BLOCKS);
    if (!rc && t.covers_all && !all)
        rc = permit_rest(d);
    if (rc)
        had ? hold_drop_others(d) : hold_drop(d);
    else
        guard_note_unfinished(d);
    return rc;
}

static int permit_transport(struct sated_drive *d, const char *token)
{
    const char *right = d->identity.serial[0] ? d->identity.serial : d->path;
    if (!token || strcmp(token, right))
        return wrong_token(d, token, right, "transport's drive");
    return handle_grant(d, HANDLE_DRIVE);
}

static int permit(struct sated_drive *d, const char *token, bool wipe)
{
    int rc = handle_need_own(d);
    if (rc)
        return rc;
    switch (d->kind) {
    case HANDLE_FILE: return permit_file(d, token);
    case HANDLE_BLOCK:
    case HANDLE_COMMANDS: return permit_device(d, token, wipe);
    case HANDLE_REPLAY: return d->tree ? permit_tree(d) : 0;
    case HANDLE_SIMULATED: break;
    case HANDLE_CALLBACK: rc = d->permitted ? 0 : permit_transport(d, token); break;
    }
    if (!rc)
        guard_note_unfinished(d);
    return rc;
}

int sated_drive_permit(struct sated_drive *d, const char *token)
{
    return permit(d, token, false);
}

int sated_drive_wipe_signatures(struct sated_drive *d, const char *token)
{
    return permit(d, token, true);
}
