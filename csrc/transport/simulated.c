/* SPDX-License-Identifier: MIT */
#include "transport/simulated.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/error.h"
#include "sim/sim.h"

int simulated_open(struct sated_drive *d, const char *spec)
{
    d->kind = HANDLE_SIMULATED;
    int rc = sim_new(&d->sim, spec);
    if (rc)
        return rc;
    sim_identify(d->sim, &d->identity);
    d->identity.flags |= SATED_IDENTITY_SIMULATED;
    d->permitted = true;
    return 0;
}

int simulated_purge(struct sated_drive *d, bool *empty)
{
    struct sated_sim_counters counters;
    int rc = sim_purge(d->sim);
    sim_get_counters(d->sim, &counters);
    *empty = !rc && counters.mapped_units == 0;
    return rc;
}

int simulated_set_capacity(struct sated_drive *d, uint64_t bytes)
{
    int rc = sim_set_capacity(d->sim, bytes);
    d->identity.capacity_bytes = sim_capacity(d->sim);
    return rc;
}

bool simulated_empty_beyond(const struct sated_drive *d)
{
    return sim_mapped_beyond(d->sim) == 0;
}

/* Only what is simulated, and only while no load drives it. */
static int need(const struct sated_drive *d, const char *what)
{
    if (d->kind != HANDLE_SIMULATED)
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                         "%s: cannot %s, which only simulated drives have; open a sim: drive", d->path, what);
    if (d->load)
        return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                         "%s: cannot %s while a load runs on it; wait for the load first", d->path, what);
    return 0;
}

int sated_sim_get_counters(struct sated_drive *d, struct sated_sim_counters *out)
{
    memset(out, 0, sizeof *out);
    int rc = need(d, "read the simulator's counters");
    if (!rc)
        sim_get_counters(d->sim, out);
    return rc;
}

int sated_sim_reset_counters(struct sated_drive *d)
{
    int rc = need(d, "reset the simulator's counters");
    if (!rc)
        sim_reset_counters(d->sim);
    return rc;
}

int sated_sim_save(struct sated_drive *d, const char *path)
{
    int rc = need(d, "save the simulator's state");
    return rc ? rc : sim_save(d->sim, path);
}

int sated_sim_restore(struct sated_drive *d, const char *path)
{
    int rc = need(d, "restore the simulator's state");
    if (!rc)
        rc = sim_restore(d->sim, path);
    if (!rc)
        d->identity.capacity_bytes = sim_capacity(d->sim);
    return rc;
}

int sated_sim_power_cycle(struct sated_drive *d)
{
    int rc = need(d, "switch the simulator's power");
    if (!rc)
        sim_power_cycle(d->sim);
    return rc;
}

int sated_sim_create(const char *uri, const char *path)
{
    struct stat st;
    struct sim *sim;
    if (strncmp(uri, "sim:", 4))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "\"%s\": a state file is made from a simulated drive; give sim:NAME, such as sim:x210", uri);
    if (strstr(uri, ",state="))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "\"%s\": state= names a state file itself; leave it out where one is made", uri);
    if (lstat(path, &st) == 0)
        return error_set(-EEXIST, SATED_LAYER_FILE, "%s: exists already; give another name or remove it first", path);
    int rc = sim_new(&sim, uri + 4);
    if (rc)
        return rc;
    rc = sim_save(sim, path);
    sim_free(sim);
    return rc;
}
