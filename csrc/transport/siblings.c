/* SPDX-License-Identifier: MIT */
#include "transport/siblings.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "transport/block.h"
#include "transport/nvme_tree.h"

#define CONTROLLERS_MAX 64

struct family {
    const char *name; /* the disk itself; "" for a controller that has none */
    char (*out)[NODE_NAME];
    size_t cap;
    int n;
    bool found;
    /* NVMe */
    char controllers[CONTROLLERS_MAX][NODE_NAME];
    int n_controllers;
    char nqn[256], serial[64];
    /* SCSI */
    char target[PATH_MAX];
};

static void add(struct family *f, const char *name)
{
    if (!strcmp(name, f->name))
        return;
    for (int i = 0; i < f->n && (size_t)i < f->cap; i++)
        if (!strcmp(f->out[i], name))
            return;
    if ((size_t)f->n < f->cap)
        snprintf(f->out[f->n], NODE_NAME, "%s", name);
    f->n++;
}

static void add_controller(struct family *f, const char *name)
{
    for (int i = 0; i < f->n_controllers; i++)
        if (!strcmp(f->controllers[i], name))
            return;
    if (f->n_controllers < CONTROLLERS_MAX)
        snprintf(f->controllers[f->n_controllers++], NODE_NAME, "%s", name);
}

static int visit_path(const char *controller, const char *state, void *user)
{
    (void)state;
    add_controller(user, controller);
    return 0;
}

/* Another controller of the same subsystem has its name, or at least its serial number. */
static int visit_controller(const char *name, void *user)
{
    struct family *f = user;
    char text[256];
    if (f->nqn[0] && node_text(text, sizeof text, "/sys/class/nvme/%s/subsysnqn", name) && !strcmp(text, f->nqn))
        add_controller(f, name);
    else if (f->serial[0] && node_text(text, sizeof text, "/sys/class/nvme/%s/serial", name) &&
             !strcmp(text, f->serial))
        add_controller(f, name);
    return 0;
}

static bool is_controller(const char *name)
{
    char path[PATH_MAX], real[PATH_MAX];
    return node_path(path, sizeof path, "/sys/class/nvme/%s", name) && realpath(path, real) != NULL;
}

/* @param name a disk or a controller. Return: whether it is of NVMe. */
static bool find_controllers(struct family *f, const char *name)
{
    if (is_controller(name))
        add_controller(f, name);
    else
        nvme_tree_each_path(name, visit_path, f);
    if (!f->n_controllers)
        return false;
    node_text(f->nqn, sizeof f->nqn, "/sys/class/nvme/%s/subsysnqn", f->controllers[0]);
    if (!node_text(f->serial, sizeof f->serial, "/sys/class/nvme/%s/serial", f->controllers[0]))
        block_serial(f->serial, sizeof f->serial, name);
    node_each("/sys/class/nvme", visit_controller, f);
    return true;
}

static void find_namespaces(struct family *f)
{
    for (int i = 0; i < f->n_controllers; i++) {
        char names[SIBLINGS_MAX][NODE_NAME];
        int n = nvme_tree_namespaces(names, SIBLINGS_MAX, f->controllers[i]);
        for (int k = 0; k < n && k < SIBLINGS_MAX; k++)
            add(f, names[k]);
        if (n > SIBLINGS_MAX)
            f->n += n;
    }
}

/* The folder of a SCSI device is named by host, channel, target and unit, and lies in that of its target. */
static bool target_of(char out[PATH_MAX], const char *name)
{
    char path[PATH_MAX], level[16];
    if (!node_text(level, sizeof level, "/sys/class/block/%s/device/scsi_level", name) ||
        !node_path(path, sizeof path, "/sys/class/block/%s/device", name) || !realpath(path, out))
        return false;
    char *slash = strrchr(out, '/');
    if (!slash || !isdigit((unsigned char)slash[1]) || !strchr(slash, ':'))
        return false;
    char *unit = strrchr(slash, ':'); /* by its address, as not every tree has a folder for each target */
    *unit = '\0';
    return true;
}

static int visit_unit(const char *name, void *user)
{
    struct family *f = user;
    char target[PATH_MAX];
    if (target_of(target, name) && !strcmp(target, f->target))
        add(f, name);
    return 0;
}

int siblings_of(char (*out)[NODE_NAME], size_t cap, const char *name)
{
    struct sated_detail before = *error_last();
    struct family f = {.name = is_controller(name) ? "" : name, .out = out, .cap = cap};
    if (find_controllers(&f, name))
        find_namespaces(&f);
    else if (target_of(f.target, name))
        node_each("/sys/block", visit_unit, &f);
    error_copy(&before);
    if ((size_t)f.n > cap)
        return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                         "%s: its device has more than %zu disks, which cannot all be looked after; take some away",
                         name, cap);
    return f.n;
}

int siblings_find(char (*out)[NODE_NAME], size_t cap, const struct sated_drive *d)
{
    const char *name = d->node[0] ? d->node : d->command_node;
    return name[0] ? siblings_of(out, cap, name) : 0;
}

int siblings_controllers(const char *name)
{
    struct sated_detail before = *error_last();
    struct family f = {.name = name};
    find_controllers(&f, name);
    error_copy(&before);
    return f.n_controllers;
}

bool siblings_fabrics(const char *name)
{
    struct sated_detail before = *error_last();
    struct family f = {.name = name};
    char text[32];
    bool network = false;
    find_controllers(&f, name);
    for (int i = 0; i < f.n_controllers; i++)
        network |=
            node_text(text, sizeof text, "/sys/class/nvme/%s/transport", f.controllers[i]) && strcmp(text, "pcie") != 0;
    error_copy(&before);
    return network;
}

/* ---- Other paths ---- */

struct twins {
    const char *name;
    char serial[64], wwid[128], family[SIBLINGS_MAX][NODE_NAME];
    int n;
    char *out;
    bool lone; /* on a bus where a drive has one path only */
};

static bool wwid_of(char *out, size_t n, const char *name)
{
    return node_text(out, n, "/sys/class/block/%s/device/wwid", name) ||
           node_text(out, n, "/sys/class/block/%s/wwid", name);
}

static bool has_one_path(const char *name)
{
    struct sated_identity id;
    block_identify(name, &id);
    return !strcmp(id.transport, "usb") || !strcmp(id.transport, "mmc");
}

static int visit_twin(const char *name, void *user)
{
    struct twins *t = user;
    char serial[64], wwid[128];
    if (!strcmp(name, t->name))
        return 0;
    bool named = wwid_of(wwid, sizeof wwid, name) && t->wwid[0];
    if (named && strcmp(wwid, t->wwid)) /* two units, be they of one device */
        return 0;
    for (int i = 0; !named && i < t->n; i++)
        if (!strcmp(t->family[i], name))
            return 0;
    bool same = block_serial(serial, sizeof serial, name) && t->serial[0] && !strcmp(serial, t->serial);
    if (!named && (!same || t->lone || has_one_path(name)))
        return 0;
    snprintf(t->out, NODE_NAME, "%s", name);
    return 1;
}

bool siblings_twin(char out[NODE_NAME], const char *name)
{
    struct twins t = {.name = name, .out = out, .lone = has_one_path(name)};
    int n = siblings_of(t.family, SIBLINGS_MAX, name);
    out[0] = '\0';
    block_serial(t.serial, sizeof t.serial, name);
    wwid_of(t.wwid, sizeof t.wwid, name);
    t.n = n < 0 ? SIBLINGS_MAX : n;
    return node_each_disk(visit_twin, &t) == 1;
}
