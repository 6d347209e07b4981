/* SPDX-License-Identifier: MIT */
/* Which ways there are to erase a drive, and which one to take. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "drive/purge.h"
#include "transport/simulated.h"

const char *const purge_names[SATED_PURGE_LAST + 1] = {
    [SATED_PURGE_AUTO] = "auto",
    [SATED_PURGE_SIMULATED] = "simulated",
    [SATED_PURGE_DEALLOCATE] = "deallocate",
    [SATED_PURGE_WRITE_SAME] = "write-same",
    [SATED_PURGE_SANITIZE_BLOCK] = "sanitize-block",
    [SATED_PURGE_SANITIZE_CRYPTO] = "sanitize-crypto",
    [SATED_PURGE_SANITIZE_OVERWRITE] = "sanitize-overwrite",
    [SATED_PURGE_FORMAT] = "format",
    [SATED_PURGE_FORMAT_CRYPTO] = "format-crypto",
    [SATED_PURGE_SECURITY_ENHANCED] = "security-enhanced",
    [SATED_PURGE_SECURITY] = "security",
    [SATED_PURGE_EXTERNAL] = "external",
};

/* What `auto` tries, in this order. Never what leaves flash full, nor what is advisory. */
static const uint8_t orders[][5] = {
    [SATED_PROTOCOL_NONE] = {SATED_PURGE_SIMULATED, SATED_PURGE_DEALLOCATE},
    [SATED_PROTOCOL_SCSI] = {SATED_PURGE_SANITIZE_BLOCK, SATED_PURGE_SANITIZE_CRYPTO, SATED_PURGE_FORMAT},
    [SATED_PROTOCOL_ATA] = {SATED_PURGE_SANITIZE_BLOCK, SATED_PURGE_SECURITY_ENHANCED, SATED_PURGE_SECURITY,
                            SATED_PURGE_SANITIZE_CRYPTO},
    [SATED_PROTOCOL_NVME] = {SATED_PURGE_SANITIZE_BLOCK, SATED_PURGE_FORMAT, SATED_PURGE_SANITIZE_CRYPTO,
                             SATED_PURGE_FORMAT_CRYPTO},
};

/* Of a drive with a password: what was begun by setting it. */
static const uint8_t secured_order[] = {SATED_PURGE_SECURITY_ENHANCED, SATED_PURGE_SECURITY, 0};

const struct purge_protocol *purge_protocol_of(const struct sated_drive *d)
{
    if (d->kind == HANDLE_FILE || (d->kind == HANDLE_SIMULATED && !d->face))
        return NULL;
    switch (d->identity.protocol) {
    case SATED_PROTOCOL_SCSI: return &purge_scsi;
    case SATED_PROTOCOL_ATA: return &purge_ata;
    case SATED_PROTOCOL_NVME: return &purge_nvme;
    default: return NULL;
    }
}

void purge_has(struct purge_look *l, uint32_t method, uint32_t level, int64_t estimate_ns, bool whole)
{
    l->way[method] = (struct sated_purge_way){
        .method = method, .level = level, .supported = 1, .whole = whole, .estimate_ns = estimate_ns};
    l->refusal[method] = 0;
}

void purge_has_not(struct purge_look *l, uint32_t method, int code, const char *format, ...)
{
    struct sated_purge_way *w = &l->way[method];
    w->supported = 0;
    l->refusal[method] = code;
    va_list args;
    va_start(args, format);
    vsnprintf(w->why_not, sizeof w->why_not, format, args);
    va_end(args);
}

void purge_finds(struct purge_look *l, uint32_t state, const char *format, ...)
{
    l->state = state;
    va_list args;
    va_start(args, format);
    vsnprintf(l->what, sizeof l->what, format, args);
    va_end(args);
}

/* What needs no command. */
static void look_without(struct sated_drive *d, struct purge_look *l)
{
    const char *why = d->kind == HANDLE_SIMULATED ? simulated_blocked(d) : NULL;
    if (d->kind == HANDLE_FILE)
        purge_has(l, SATED_PURGE_DEALLOCATE, SATED_PURGE_CLEAR, -1, false);
    else if (d->kind == HANDLE_SIMULATED && why)
        purge_has_not(l, SATED_PURGE_SIMULATED, SATED_STATE, "%s", why);
    else if (d->kind == HANDLE_SIMULATED)
        purge_has(l, SATED_PURGE_SIMULATED, SATED_PURGE_PURGE, -1, true);
}

int purge_look(struct sated_drive *d, const struct sated_purge_options *opt, struct purge_look *l)
{
    const struct purge_protocol *protocol = purge_protocol_of(d);
    memset(l, 0, sizeof *l);
    for (uint32_t m = 1; m <= SATED_PURGE_LAST; m++) {
        l->way[m] = (struct sated_purge_way){.method = m, .estimate_ns = -1};
        purge_has_not(l, m, SATED_UNSUPPORTED, "%s",
                      m == SATED_PURGE_SIMULATED ? "only simulated drives without commands have it"
                      : protocol                 ? "its protocol does not have it"
                      : d->kind == HANDLE_FILE   ? "it is a file"
                                                 : "it takes no commands that erase");
    }
    purge_has(l, SATED_PURGE_EXTERNAL, SATED_PURGE_UNKNOWN, -1, false);
    if (!protocol) {
        look_without(d, l);
        return 0;
    }
    return protocol->look(d, l, opt && opt->allow_usb_security, opt && (opt->resume || opt->n_password));
}

static int refuse(const struct sated_drive *d, const struct purge_look *l, uint32_t method)
{
    int code = l->refusal[method] ? l->refusal[method] : SATED_UNSUPPORTED;
    return error_set(code, SATED_LAYER_DRIVE, "%s: cannot be purged by the method %s: %s; see `sated purge %s --list`",
                     d->path, purge_names[method], l->way[method].why_not, d->path);
}

/* None of them: where one is there and only not now, that says more than that others are missing. */
static int refuse_all(const struct sated_drive *d, const struct purge_look *l, const uint8_t *order)
{
    uint32_t named = order[0];
    for (const uint8_t *m = order; *m; m++)
        if (l->refusal[*m] != SATED_UNSUPPORTED && l->refusal[*m] && l->refusal[named] == SATED_UNSUPPORTED)
            named = *m;
    if (l->refusal[named] != SATED_UNSUPPORTED && l->refusal[named])
        return refuse(d, l, named);
    return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                     "%s: nothing erases it by itself: %s: %s; name a method of `sated purge %s --list`", d->path,
                     purge_names[named], l->way[named].why_not, d->path);
}

/* What was passed over, since consent does not reach as far. */
static void say_why(const struct sated_drive *d, struct sated_purge_way *way, uint32_t passed)
{
    snprintf(way->why, sizeof way->why,
             "%s comes first, but reaches all of the device, and consent covers %.64s alone: %s", purge_names[passed],
             d->node[0] ? d->node : "its blocks",
             d->not_whole ? d->not_whole : "type the token of the whole device, SERIAL:all, for that");
}

int purge_choose(struct sated_drive *d, struct purge_look *l, const struct sated_purge_options *opt, uint32_t *method)
{
    bool narrow = d->permitted && !d->permitted_whole; /* without any, what could be done with all of it is told */
    uint32_t passed = 0;
    *method = opt->method;
    if (opt->method != SATED_PURGE_AUTO)
        return l->way[*method].supported || !l->refusal[*method] ? 0 : refuse(d, l, *method);
    const uint8_t *order = !purge_protocol_of(d) ? orders[SATED_PROTOCOL_NONE] : orders[d->identity.protocol];
    if (l->state == SATED_PURGE_PASSWORD || l->state == SATED_PURGE_LOCKED)
        order = secured_order;
    for (const uint8_t *m = order; *m; m++) {
        if (!l->way[*m].supported)
            continue;
        if (narrow && l->way[*m].whole) {
            passed = passed ? passed : *m;
            continue;
        }
        *method = *m;
        if (passed)
            say_why(d, &l->way[*m], passed);
        return 0;
    }
    return passed ? handle_need_permit(d, HANDLE_DRIVE, "purging it by any method that it has")
                  : refuse_all(d, l, order);
}
