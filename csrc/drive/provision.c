/* SPDX-License-Identifier: MIT */
#include <sated/provision.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "transport/handle.h"
#include "transport/regular.h"
#include "transport/simulated.h"

#define UNIT 4096

static bool empty_beyond(const struct sated_drive *d)
{
    const struct sated_identity *id = &d->identity;
    if (d->kind == HANDLE_SIMULATED)
        return simulated_empty_beyond(d);
    if (id->capacity_bytes == id->native_capacity_bytes)
        return true; /* the limit is lifted: there is no beyond */
    return d->kind == HANDLE_FILE && !regular_holds_data(d, id->capacity_bytes);
}

int sated_provision_get(struct sated_drive *d, struct sated_provision *out)
{
    const struct sated_identity *id = &d->identity;
    memset(out, 0, sizeof *out);
    if (d->kind == HANDLE_SIMULATED && d->load)
        return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                         "%s: what it holds cannot be looked at while a load runs on it; wait for the load first",
                         d->path);
    out->accessible_bytes = id->capacity_bytes;
    out->native_bytes = id->native_capacity_bytes;
    out->method = SATED_PROVISION_LBA;
    out->purged_beyond = empty_beyond(d);
    out->lba_removed = out->native_bytes ? 1 - (double)out->accessible_bytes / (double)out->native_bytes : NAN;
    out->op_of_user = out->op_of_raw = NAN;
    if (id->flags & SATED_IDENTITY_RAW_KNOWN) {
        out->raw_bytes = id->raw_bytes;
        double spare = (double)out->raw_bytes - (double)out->accessible_bytes;
        out->op_of_user = spare / (double)out->accessible_bytes;
        out->op_of_raw = spare / (double)out->raw_bytes;
    }
    return 0;
}

int sated_provision_set(struct sated_drive *d, uint64_t bytes)
{
    struct sated_identity *id = &d->identity;
    int rc = handle_need_permit(d, "limiting its capacity");
    if (rc)
        return rc;
    if (d->load)
        return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                         "%s: its capacity cannot change while a load runs on it; wait for the load first", d->path);
    rc = d->kind == HANDLE_SIMULATED ? simulated_need_open(d, "another capacity") : 0;
    if (rc)
        return rc;
    if (bytes == UINT64_MAX && d->kind != HANDLE_SIMULATED)
        bytes = id->native_capacity_bytes;
    /* The native capacity itself is always right: it lifts the limit, whatever it is a multiple of. */
    if (bytes == UINT64_MAX)
        return simulated_set_capacity(d, bytes);
    if (bytes == 0 || bytes > id->native_capacity_bytes || (bytes % UNIT && bytes != id->native_capacity_bytes))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "%s: a capacity of %" PRIu64 " bytes cannot be set; give a "
                         "multiple of 4096 from 4096 to %" PRIu64,
                         d->path, bytes, id->native_capacity_bytes);
    if (d->kind == HANDLE_SIMULATED)
        return simulated_set_capacity(d, bytes);
    id->capacity_bytes = bytes;
    return 0;
}
