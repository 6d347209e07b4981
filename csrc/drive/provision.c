/* SPDX-License-Identifier: MIT */
#include <sated/provision.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "drive/provision_inside.h"
#include "transport/command.h"
#include "transport/regular.h"
#include "transport/simulated.h"

#define UNIT 4096

/* What each method does to what is on the drive, and what it asks for afterwards. */
static const struct {
    const char *name, *destroys, *then;
    uint32_t flags;
} methods[SATED_PROVISION_METHODS + 2] = {
    {"lba", "", "", 0},
    {"hpa", "what lies beyond the new size can no longer be read; it stays on the drive",
     "switch the drive's power off and on before anything resets or suspends it: Linux may lift the limit again while it "
     "recovers from an error, and another change takes a power cycle too",
     SATED_PROVISION_ONCE},
    {"amac", "what lies beyond the new size can no longer be read; it stays on the drive",
     "switch the drive's power off and on: the next change needs that", SATED_PROVISION_ONCE},
    {"dco", "what lies beyond the new size can no longer be read, and an overlay that is there already is replaced", "",
     0},
    {"mode-select",
     "what lies beyond the new size; all data of the drive where it takes the size only by being formatted (FORMAT UNIT)",
     "", 0},
    {"namespace", "all data of the namespace: it is deleted, and created anew with the other size", "",
     SATED_PROVISION_WHOLE_DRIVE},
    {"every", "nothing: what was hidden can be read again", "", 0},
    {"block size", "all data", "", 0},
};

const char *provision_name(uint32_t method)
{
    return methods[method].name;
}

const struct provision_way *provision_way(struct sated_drive *d)
{
    struct sated_detail before = *error_last();
    int rc = command_face_find(d);
    if (rc) {
        error_copy(&before);
        return NULL;
    }
    switch (d->identity.protocol) {
    case SATED_PROTOCOL_ATA: return &provision_ata;
    case SATED_PROTOCOL_SCSI: return &provision_scsi;
    case SATED_PROTOCOL_NVME: return &provision_nvme;
    default: return NULL;
    }
}

/* ---- Looking ---- */

static uint64_t device_bytes(const struct sated_drive *d)
{
    if (d->kind == HANDLE_SIMULATED)
        return simulated_device_bytes(d);
    return d->whole_bytes ? d->whole_bytes : d->identity.capacity_bytes;
}

/* What was deleted with a namespace is deallocated (NVMe Base 2.0 5.23); of other limits only a simulator can tell. */
static bool empty_beyond(const struct sated_drive *d, const struct sated_provision *p)
{
    if (d->kind == HANDLE_SIMULATED)
        return simulated_empty_beyond(d);
    if (d->kind == HANDLE_FILE && p->accessible_bytes != p->native_bytes)
        return !regular_holds_data(d, p->accessible_bytes);
    return !(p->limits & ~(1u << SATED_PROVISION_NAMESPACE));
}

int sated_provision_get(struct sated_drive *d, struct sated_provision *out)
{
    const struct sated_identity *id = &d->identity;
    struct sated_detail before = *error_last();
    memset(out, 0, sizeof *out);
    if (d->kind == HANDLE_SIMULATED || d->kind == HANDLE_CALLBACK) {
        int rc = handle_need_idle(d, "what it holds cannot be looked at");
        if (rc)
            return rc;
    }
    out->accessible_bytes = id->capacity_bytes;
    out->device_bytes = device_bytes(d);
    out->native_bytes = id->native_capacity_bytes ? id->native_capacity_bytes : out->device_bytes;
    if (out->accessible_bytes < out->device_bytes)
        out->limits = 1u << SATED_PROVISION_LBA;
    const struct provision_way *way = handle_is_busy(d) ? NULL : provision_way(d);
    if (way)
        way->look(d, out);
    else if (id->native_capacity_bytes)
        out->flags = SATED_PROVISION_NATIVE_KNOWN | SATED_PROVISION_HIDDEN_KNOWN;
    if (way)
        change_look(d, out);
    out->purged_beyond = empty_beyond(d, out);
    bool native = out->flags & SATED_PROVISION_NATIVE_KNOWN && out->native_bytes;
    out->lba_removed = native ? 1 - (double)out->accessible_bytes / (double)out->native_bytes : NAN;
    out->op_of_user = out->op_of_raw = NAN;
    if (id->flags & SATED_IDENTITY_RAW_KNOWN && out->accessible_bytes) {
        out->raw_bytes = id->raw_bytes;
        double spare = (double)out->raw_bytes - (double)out->accessible_bytes;
        out->op_of_user = spare / (double)out->accessible_bytes;
        out->op_of_raw = spare / (double)out->raw_bytes;
    }
    error_copy(&before);
    return 0;
}

/* Why a method cannot be had, as one sentence; 0 where it can. */
static int able(struct sated_drive *d, uint32_t method)
{
    static const uint32_t protocols[SATED_PROVISION_METHODS] = {
        [SATED_PROVISION_HPA] = SATED_PROTOCOL_ATA,        [SATED_PROVISION_AMAC] = SATED_PROTOCOL_ATA,
        [SATED_PROVISION_DCO] = SATED_PROTOCOL_ATA,        [SATED_PROVISION_MODE_SELECT] = SATED_PROTOCOL_SCSI,
        [SATED_PROVISION_NAMESPACE] = SATED_PROTOCOL_NVME,
    };
    if (method == SATED_PROVISION_LBA)
        return handle_need_blocks(d, "limiting its capacity");
    const struct provision_way *way = provision_way(d);
    if (!way)
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                         "%s: takes no commands, so its capacity cannot be set by the method %s; use lba", d->path,
                         provision_name(method));
    if (method >= SATED_PROVISION_METHODS)
        return 0;
    if (d->identity.protocol != protocols[method])
        return error_set(
            SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
            "%s: %s is a method of %s drives, which it is not; `sated capacity DRIVE --methods` shows what "
            "it has",
            d->path, provision_name(method),
            protocols[method] == SATED_PROTOCOL_ATA    ? "ATA"
            : protocols[method] == SATED_PROTOCOL_SCSI ? "SCSI"
                                                       : "NVMe");
    return way->able(d, method);
}

int sated_provision_list(struct sated_drive *d, struct sated_provision_choice *out, size_t cap)
{
    struct sated_detail before = *error_last();
    int rc = handle_need_idle(d, "its methods cannot be asked for");
    if (rc)
        return rc;
    for (uint32_t i = 0; i < SATED_PROVISION_METHODS && i < cap; i++) {
        struct sated_provision_choice *c = &out[i];
        memset(c, 0, sizeof *c);
        c->method = i;
        c->flags = methods[i].flags;
        snprintf(c->name, sizeof c->name, "%s", methods[i].name);
        snprintf(c->destroys, sizeof c->destroys, "%s", methods[i].destroys);
        snprintf(c->then, sizeof c->then, "%s", methods[i].then);
        if (able(d, i))
            snprintf(c->why_not, sizeof c->why_not, "%.255s", error_last()->text);
        else
            c->flags |= SATED_PROVISION_SUPPORTED;
    }
    error_copy(&before);
    return SATED_PROVISION_METHODS;
}

/* ---- Changing ---- */

int provision_need(struct sated_drive *d, uint32_t method)
{
    bool whole = methods[method].flags & SATED_PROVISION_WHOLE_DRIVE;
    int rc = handle_need_permit(d, whole ? HANDLE_DRIVE : HANDLE_BLOCKS,
                                whole                    ? "deleting and creating its namespace"
                                : method == CHANGE_BLOCK ? "formatting it to another block size"
                                                         : "changing its capacity");
    return rc ? rc : handle_need_idle(d, "its capacity cannot change");
}

int provision_blocks(struct change *c, uint64_t bytes, uint64_t most)
{
    if (!c->block_bytes)
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                         "%s: does not say how large its blocks are, so that its capacity cannot be set", c->d->path);
    uint64_t step = c->block_bytes > UNIT ? c->block_bytes : UNIT;
    if (bytes == 0 || bytes > most || (bytes % step && bytes != most))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "%s: a capacity of %" PRIu64 " bytes cannot be set by the method %s; give a multiple of "
                         "%" PRIu64 " from that to %" PRIu64,
                         c->d->path, bytes, provision_name(c->method), step, most);
    c->blocks = bytes / c->block_bytes;
    return 0;
}

static int limit_lba(struct sated_drive *d, uint64_t bytes)
{
    uint64_t whole = device_bytes(d);
    int rc = d->kind == HANDLE_SIMULATED ? simulated_need_open(d, "another capacity") : 0;
    if (rc)
        return rc;
    if (bytes == UINT64_MAX)
        bytes = whole;
    /* A simulated drive says itself why it does not let all that it has be addressed. */
    uint64_t most = d->kind == HANDLE_SIMULATED ? d->identity.native_capacity_bytes : whole;
    /* All there is is always right: it lifts the limit, whatever it is a multiple of. */
    if (bytes == 0 || bytes > most || (bytes % UNIT && bytes != whole))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "%s: a capacity of %" PRIu64 " bytes cannot be set; give a multiple of 4096 from 4096 to "
                         "%" PRIu64,
                         d->path, bytes, most);
    if (d->kind == HANDLE_SIMULATED)
        return simulated_set_capacity(d, bytes);
    d->whole_bytes = bytes < whole ? whole : 0;
    d->identity.capacity_bytes = bytes;
    return 0;
}

void sated_provision_options_init(struct sated_provision_options *opt)
{
    *opt = (struct sated_provision_options){.size = sizeof *opt, .method = SATED_PROVISION_LBA};
}

static int take_options(struct sated_provision_options *out, const struct sated_provision_options *opt)
{
    sated_provision_options_init(out);
    if (opt && (opt->size < sizeof(uint32_t) || opt->size > sizeof *out))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sated_provision_options: size is %u, this library knows up to %zu; fill it by "
                         "sated_provision_options_init()",
                         opt->size, sizeof *out);
    if (opt)
        memcpy(out, opt, opt->size);
    if (out->method > SATED_PROVISION_EVERY)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "capacity method %u: there is none; give one of enum sated_provision_method", out->method);
    return 0;
}

int sated_provision_set(struct sated_drive *d, uint64_t bytes, const struct sated_provision_options *opt)
{
    struct sated_provision_options options;
    int rc = take_options(&options, opt);
    if (rc)
        return rc;
    bool every = options.method == SATED_PROVISION_EVERY;
    if (every && bytes != UINT64_MAX)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "%s: all methods at once only restore a capacity; name one to set it", d->path);
    rc = provision_need(d, options.method);
    if (rc)
        return rc;
    if (options.method == SATED_PROVISION_LBA)
        return limit_lba(d, bytes);
    rc = every ? limit_lba(d, bytes) : able(d, options.method);
    if (rc || (every && !provision_way(d)))
        return rc;
    return change_start(d, options.method, bytes, 0);
}
