/* SPDX-License-Identifier: MIT */
#include "transport/simulated.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/error.h"
#include "sim/set.h"
#include "sim/sim.h"
#include "sim/target.h"
#include "transport/command.h"

void simulated_identify(struct sated_drive *d)
{
    sim_identify(d->sim, &d->identity);
}

/* Saved at once, so that a process that is killed leaves what a cut of power leaves. */
static int keep(struct sated_drive *d)
{
    simulated_identify(d);
    return target_take_changed(d->sim) ? sim_save(d->sim, NULL) : 0;
}

static int send_simulated(struct sated_drive *d, const struct command *c, struct sated_reply *reply)
{
    int rc = handle_need_idle(d, "it takes no commands");
    if (rc)
        return rc;
    rc = c->nvme ? target_nvme(d->sim, d->controller, c->nvme, c->data, reply)
                 : target_scsi(d->sim, c->scsi, c->data, reply);
    int saved = keep(d);
    return rc ? rc : saved;
}

const struct command_face simulated_face = {.send = send_simulated};

int simulated_open(struct sated_drive *d, const char *spec)
{
    d->kind = HANDLE_SIMULATED;
    int rc = sim_new(&d->sim, spec);
    if (rc)
        return rc;
    simulated_identify(d);
    d->permitted = d->permitted_whole = true;
    if (target_exists(d->sim))
        d->face = &simulated_face;
    return 0;
}

int simulated_sleep(struct sated_drive *d, int64_t until_ns)
{
    /* Half of what its clock can tell: the other half is for what it does afterwards. */
    if (until_ns > SIM_TIME_MAX / 2 / sim_scale(d->sim))
        return error_set(
            -EINVAL, SATED_LAYER_ARGUMENT,
            "%s: cannot be left idle for so long: a simulated drive's clock goes on for 36 years; give less", d->path);
    sim_idle_until(d->sim, until_ns);
    target_update(d->sim);
    return keep(d);
}

int simulated_purge(struct sated_drive *d, bool *empty)
{
    struct sated_sim_counters counters;
    int rc = sim_purge(d->sim);
    sim_get_counters(d->sim, &counters);
    *empty = !rc && counters.mapped_units == 0;
    return rc ? rc : sim_save(d->sim, NULL);
}

uint64_t simulated_device_bytes(const struct sated_drive *d)
{
    return target_capacity(d->sim);
}

int simulated_set_capacity(struct sated_drive *d, uint64_t bytes)
{
    int rc = sim_set_capacity(d->sim, bytes == UINT64_MAX ? target_capacity(d->sim) : bytes);
    d->identity.capacity_bytes = sim_capacity(d->sim);
    return rc ? rc : sim_save(d->sim, NULL);
}

const char *simulated_blocked(struct sated_drive *d)
{
    if (!handle_is_busy(d)) /* else it is the load's, and open */
        target_update(d->sim);
    return target_blocked(d->sim);
}

int simulated_need_open(struct sated_drive *d, const char *what)
{
    const char *why = simulated_blocked(d);
    return why ? error_set(SATED_STATE, SATED_LAYER_DRIVE, "%s: %s is not possible now: %s", d->path, what, why) : 0;
}

const char *simulated_state_path(const struct sated_drive *d)
{
    return sim_state_path(d->sim);
}

bool simulated_empty_beyond(const struct sated_drive *d)
{
    return sim_mapped_beyond(d->sim) == 0;
}

uint32_t simulated_members(const struct sated_drive *d)
{
    return sim_is_set(d->sim) ? set_members(d->sim) : 0;
}

/* Only what is simulated, and only while no load drives it. */
static int need(const struct sated_drive *d, const char *what)
{
    if (d->kind != HANDLE_SIMULATED)
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                         "%s: cannot %s, which only simulated drives have; open a sim: drive", d->path, what);
    if (!handle_is_busy(d))
        return 0;
    char text[128];
    snprintf(text, sizeof text, "it cannot %s", what);
    return handle_need_idle(d, text);
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

int simulated_restore(struct sated_drive *d, const char *path)
{
    int rc = need(d, "restore the simulator's state");
    if (!rc)
        rc = sim_restore(d->sim, path);
    if (rc)
        return rc;
    target_set_controller(d->sim, d->controller);
    simulated_identify(d);
    return sim_save(d->sim, NULL);
}

int sated_sim_fill(struct sated_drive *d, uint32_t filling, double share)
{
    int rc = need(d, "fill it");
    if (rc)
        return rc;
    struct filling how = {filling, share};
    rc = sim_fill(d->sim, &how);
    return rc ? rc : sim_save(d->sim, NULL);
}

int sated_sim_power_cycle(struct sated_drive *d)
{
    int rc = need(d, "switch the simulator's power");
    if (rc)
        return rc;
    sim_power_cycle(d->sim);
    return keep(d);
}

void sated_sim_fault_init(struct sated_sim_fault *f)
{
    *f = (struct sated_sim_fault){.size = sizeof *f, .opcode = -1};
}

int sated_sim_fail(struct sated_drive *d, const struct sated_sim_fault *f)
{
    struct sated_sim_fault fault;
    int rc = need(d, "order a fault");
    if (rc)
        return rc;
    if (f->size < sizeof(uint32_t) || f->size > sizeof fault)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sated_sim_fault: size is %u, this library knows up to %zu; fill it by sated_sim_fault_init()",
                         f->size, sizeof fault);
    sated_sim_fault_init(&fault);
    memcpy(&fault, f, f->size);
    rc = target_add_fault(d->sim, &fault);
    return rc ? rc : keep(d);
}

int sated_sim_clear_faults(struct sated_drive *d)
{
    int rc = need(d, "clear faults");
    if (rc)
        return rc;
    target_clear_faults(d->sim);
    return keep(d);
}

int sated_sim_stall(struct sated_drive *d, int64_t in_ns, int64_t for_ns)
{
    const int64_t hour_ns = INT64_C(3600000000000);
    int rc = need(d, "stall it");
    if (rc)
        return rc;
    if (in_ns < 0 || in_ns > hour_ns || for_ns < 0 || for_ns > hour_ns)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "%s: a stall begins within an hour and takes no longer",
                         d->path);
    sim_stall(d->sim, sim_now_ns(d->sim) + in_ns, for_ns);
    return 0;
}

int sated_sim_fail_die(struct sated_drive *d, uint32_t die)
{
    int rc = need(d, "fail a die");
    if (!rc)
        rc = sim_fail_die(d->sim, die);
    return rc ? rc : sim_save(d->sim, NULL);
}

int sated_sim_set_controller(struct sated_drive *d, uint32_t controller)
{
    int rc = need(d, "choose a controller");
    if (rc)
        return rc;
    if (d->identity.protocol != SATED_PROTOCOL_NVME || controller > 1)
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE, "%s: has no controller %u; NVMe ones have 0 and 1",
                         d->path, controller);
    d->controller = controller;
    target_set_controller(d->sim, controller);
    simulated_identify(d);
    return 0;
}

/* ---- Sets ---- */

static int need_set(const struct sated_drive *d, const char *what)
{
    int rc = need(d, what);
    if (rc || sim_is_set(d->sim))
        return rc;
    return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                     "%s: cannot %s: it is one drive; open a set, such as sim:raid5,members=3,of=710", d->path, what);
}

int sated_sim_count_members(struct sated_drive *d, uint32_t *out)
{
    *out = 0;
    int rc = need(d, "list members");
    if (!rc && sim_is_set(d->sim))
        *out = set_members(d->sim);
    return rc;
}

int sated_sim_get_member(struct sated_drive *d, uint32_t index, struct sated_sim_member *out)
{
    memset(out, 0, sizeof *out);
    int rc = need_set(d, "show a member");
    return rc ? rc : set_get_member(d->sim, index, out);
}

/* What has changed is kept at once, as after a command. */
static int kept(struct sated_drive *d, int rc)
{
    simulated_identify(d);
    return rc ? rc : sim_save(d->sim, NULL);
}

int sated_sim_fail_member(struct sated_drive *d, uint32_t index)
{
    int rc = need_set(d, "lose a member");
    return rc ? rc : kept(d, set_fail_member(d->sim, index));
}

int sated_sim_replace_member(struct sated_drive *d, uint32_t index, uint64_t bytes_per_s)
{
    int rc = need_set(d, "replace a member");
    return rc ? rc : kept(d, set_replace_member(d->sim, index, bytes_per_s));
}

int sated_sim_read(struct sated_drive *d, uint64_t offset, void *out, uint32_t bytes)
{
    int rc = need(d, "read its bytes");
    return rc ? rc : sim_read(d->sim, offset, out, bytes);
}

int sated_sim_write(struct sated_drive *d, uint64_t offset, const void *data, uint32_t bytes)
{
    int rc = need(d, "write bytes");
    return rc ? rc : sim_write(d->sim, offset, data, bytes);
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
