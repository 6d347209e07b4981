/* SPDX-License-Identifier: MIT */
#include "transport/nvme_tree.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"

/* A name of the family nvme1, nvme1n2, nvme1c4n2; a part that is not there is -1. */
struct parts {
    long first, path, namespace;
};

static const char *take_number(const char *text, long *out)
{
    *out = 0;
    if (!isdigit((unsigned char)*text))
        return NULL;
    for (; isdigit((unsigned char)*text) && *out < 1000000; text++)
        *out = *out * 10 + (*text - '0');
    return text;
}

static bool take_parts(struct parts *out, const char *name)
{
    *out = (struct parts){.path = -1, .namespace = -1};
    const char *at = strncmp(name, "nvme", 4) ? NULL : take_number(name + 4, &out->first);
    if (at && *at == 'c')
        at = take_number(at + 1, &out->path);
    if (at && *at == 'n')
        at = take_number(at + 1, &out->namespace);
    return at && !*at;
}

struct search {
    struct parts disk;
    const char *controller; /* whose children are looked at */
    char *found;
    char (*out)[NODE_NAME];
    size_t cap;
    int n;
};

static int visit_path(const char *name, void *user)
{
    struct search *s = user;
    struct parts p;
    return take_parts(&p, name) && p.path >= 0 && p.first == s->disk.first && p.namespace == s->disk.namespace;
}

static bool is_live(const char *controller)
{
    char state[32];
    return !node_text(state, sizeof state, "/sys/class/nvme/%s/state", controller) || !strcmp(state, "live");
}

static int visit_controller(const char *name, void *user)
{
    struct search *s = user;
    struct parts p;
    char folder[PATH_MAX];
    if (!take_parts(&p, name) || p.path >= 0 || p.namespace >= 0)
        return 0;
    snprintf(folder, sizeof folder, "/sys/class/nvme/%s", name);
    if (node_each(folder, visit_path, s) != 1)
        return 0;
    bool live = is_live(name);
    if (live || !s->found[0])
        snprintf(s->found, NODE_NAME, "%s", name);
    return live;
}

int nvme_tree_controller(char controller[NODE_NAME], const char *disk)
{
    struct search s = {.found = controller};
    char folder[PATH_MAX];
    struct parts parent;
    controller[0] = '\0';
    if (!take_parts(&s.disk, disk) || s.disk.namespace < 0 || !node_folder(folder, sizeof folder, disk))
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                         "%s: no NVMe namespace that sysfs knows; `sated list` shows what there is", disk);
    char *slash = strrchr(folder, '/');
    *slash = '\0';
    const char *name = strrchr(folder, '/') + 1;
    if (take_parts(&parent, name) && parent.path < 0 && parent.namespace < 0) {
        snprintf(controller, NODE_NAME, "%.*s", NODE_NAME - 1, name);
        return 0;
    }
    node_each("/sys/class/nvme", visit_controller, &s);
    if (controller[0])
        return 0;
    return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                     "%s: no controller in /sys/class/nvme has a path to it; see whether the drive is still there",
                     disk);
}

static int visit_child(const char *name, void *user)
{
    struct search *s = user;
    struct parts p;
    char disk[NODE_NAME], folder[PATH_MAX];
    if (!take_parts(&p, name) || p.namespace < 0)
        return 0;
    snprintf(disk, sizeof disk, "nvme%ldn%ld", p.first, p.namespace);
    if (!node_folder(folder, sizeof folder, disk))
        return 0;
    if ((size_t)s->n < s->cap)
        snprintf(s->out[s->n], NODE_NAME, "%s", disk);
    s->n++;
    return 0;
}

int nvme_tree_namespaces(char (*out)[NODE_NAME], size_t cap, const char *controller)
{
    struct search s = {.out = out, .cap = cap};
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "/sys/class/nvme/%s", controller);
    int rc = node_each(folder, visit_child, &s);
    if (rc < 0)
        return error_set(-ENOENT, SATED_LAYER_DRIVE,
                         "%s: no NVMe controller of that name in /sys/class/nvme: %s; `sated list` shows what there is",
                         controller, error_text(-rc));
    return s.n;
}

struct paths {
    const char *disk, *parent; /* the folder that the disk itself is in */
    int (*visit)(const char *controller, const char *state, void *user);
    void *user;
};

static int visit_each_path(const char *name, void *user)
{
    const struct paths *paths = user;
    struct search s = {.n = 0};
    struct parts p;
    char folder[PATH_MAX], state[32];
    if (!take_parts(&p, name) || p.path >= 0 || p.namespace >= 0 || !take_parts(&s.disk, paths->disk))
        return 0;
    snprintf(folder, sizeof folder, "/sys/class/nvme/%s", name);
    if (strcmp(name, paths->parent) && node_each(folder, visit_path, &s) != 1)
        return 0;
    node_text(state, sizeof state, "/sys/class/nvme/%s/state", name);
    return paths->visit(name, state, paths->user);
}

void nvme_tree_each_path(const char *disk, int (*visit)(const char *controller, const char *state, void *user),
                         void *user)
{
    char folder[PATH_MAX];
    if (!node_folder(folder, sizeof folder, disk))
        return;
    *strrchr(folder, '/') = '\0';
    struct paths paths = {disk, strrchr(folder, '/') + 1, visit, user};
    node_each("/sys/class/nvme", visit_each_path, &paths);
}
