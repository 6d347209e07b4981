/* SPDX-License-Identifier: MIT */
#include <sated/purge.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "transport/handle.h"
#include "transport/regular.h"
#include "transport/simulated.h"

/* Both ways to erase end within the call that starts them, so the job is its result. */
struct sated_purge {
    struct sated_purge_result result;
};

void sated_purge_options_init(struct sated_purge_options *opt)
{
    memset(opt, 0, sizeof *opt);
    opt->size = sizeof *opt;
}

static int choose(const struct sated_drive *d, const struct sated_purge_options *opt, uint32_t *method)
{
    static const char *const names[] = {"auto", "simulated", "deallocate"};
    struct sated_purge_options options;
    sated_purge_options_init(&options);
    if (opt && (opt->size < sizeof(uint32_t) || opt->size > sizeof options))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sated_purge_options: size is %u, this library knows up to %zu; fill it by "
                         "sated_purge_options_init()",
                         opt->size, sizeof options);
    if (opt)
        memcpy(&options, opt, opt->size);
    *method = d->kind == HANDLE_SIMULATED ? SATED_PURGE_SIMULATED : SATED_PURGE_DEALLOCATE;
    if (options.method > SATED_PURGE_DEALLOCATE)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "purge method %u: there is none; give auto, simulated or deallocate", options.method);
    if (options.method != SATED_PURGE_AUTO && options.method != *method)
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                         "%s: cannot be purged by the method %s; it has %s, which auto takes", d->path,
                         names[options.method], names[*method]);
    return 0;
}

static int purge_simulated(struct sated_drive *d, struct sated_purge_result *out)
{
    bool empty;
    int rc = simulated_need_open(d, "a purge");
    if (!rc)
        rc = simulated_purge(d, &empty);
    if (rc)
        return rc;
    out->verified = empty;
    snprintf(out->device_says, sizeof out->device_says,
             empty ? "all blocks erased, no unit is mapped" : "erased, but units are still mapped");
    return 0;
}

static int purge_file(struct sated_drive *d, struct sated_purge_result *out)
{
    int rc = handle_check_same(d);
    if (!rc)
        rc = regular_deallocate(d);
    if (rc)
        return rc;
    out->verified = !regular_holds_data(d, 0);
    snprintf(out->device_says, sizeof out->device_says,
             out->verified ? "all blocks given back to %s; what is written next is allocated anew"
                           : "%s took the holes, but does not say that the file is empty",
             d->identity.model);
    return 0;
}

int sated_purge_start(struct sated_purge **out, struct sated_drive *d, const struct sated_purge_options *opt)
{
    uint32_t method = SATED_PURGE_AUTO;
    *out = NULL;
    int rc = handle_need_permit(d, "purging");
    if (!rc)
        rc = choose(d, opt, &method);
    if (rc)
        return rc;
    if (d->load)
        return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                         "%s: cannot be purged while a load runs on it; wait for the load first", d->path);
    struct sated_purge *p = calloc(1, sizeof *p);
    if (!p)
        return error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for purging it", d->path);
    int64_t start = handle_now_ns(d);
    p->result.method = method;
    rc = method == SATED_PURGE_SIMULATED ? purge_simulated(d, &p->result) : purge_file(d, &p->result);
    p->result.duration_ns = handle_now_ns(d) - start;
    if (rc) {
        free(p);
        return rc;
    }
    *out = p;
    return 0;
}

int sated_purge_wait(struct sated_purge *p, int64_t timeout_ns, struct sated_purge_result *result)
{
    (void)timeout_ns;
    if (result)
        *result = p->result;
    return 0;
}

void sated_purge_free(struct sated_purge *p)
{
    free(p);
}
