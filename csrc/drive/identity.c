/* SPDX-License-Identifier: MIT */
#include "drive/identity.h"

#include <stdio.h>
#include <string.h>

#include "drive/guard.h"
#include "transport/block.h"
#include "transport/handle.h"
#include "transport/learn.h"
#include "transport/node.h"
#include "transport/simulated.h"
#include "transport/use.h"

void identity_token(struct sated_identity *id, const char *name, bool unique)
{
    char whole[NODE_NAME], link[512];
    uint64_t nsid;
    id->token[0] = '\0';
    if (node_whole(whole, name) || strcmp(whole, name))
        return;
    if (id->serial[0] && unique) {
        snprintf(id->token, sizeof id->token, "%s", id->serial);
    } else if (id->serial[0] && id->protocol == SATED_PROTOCOL_NVME &&
               node_number(&nsid, "/sys/class/block/%s/nsid", name)) {
        snprintf(id->token, sizeof id->token, "%s:%llu", id->serial, (unsigned long long)nsid);
    } else {
        const char *model = id->model[0] ? id->model : "disk";
        bool placed = node_link(link, sizeof link, "/dev/disk/by-path", name);
        snprintf(id->token, sizeof id->token, "%s@%s", model, placed ? strrchr(link, '/') + 1 : name);
    }
}

void identity_reasons(struct sated_identity *id, const char *name)
{
    struct use_report r = {.text = id->reasons, .n = sizeof id->reasons};
    id->reasons[0] = '\0';
    guard_look(&r, name);
    if (r.mounted)
        id->flags |= SATED_IDENTITY_MOUNTED;
    else
        id->flags &= ~(uint32_t)SATED_IDENTITY_MOUNTED;
}

struct same {
    const char *serial;
    int n;
};

static int visit_same(const char *name, void *user)
{
    struct same *s = user;
    char serial[64];
    s->n += block_serial(serial, sizeof serial, name) && !strcmp(serial, s->serial);
    return 0;
}

int sated_drive_get_identity(struct sated_drive *d, struct sated_identity *out)
{
    if (d->kind == HANDLE_SIMULATED) {
        const char *why = simulated_blocked(d);
        snprintf(d->identity.reasons, sizeof d->identity.reasons, "%s", why ? why : "");
    } else if (d->kind == HANDLE_FILE) {
        snprintf(d->identity.token, sizeof d->identity.token, "%s", d->path);
    } else if (d->kind == HANDLE_COMMANDS && !d->node[0]) {
        learn_beyond_sysfs(d);
        if (d->identity.protocol == SATED_PROTOCOL_NVME && d->identity.serial[0])
            snprintf(d->identity.token, sizeof d->identity.token, "%s:all", d->identity.serial);
    } else if (d->kind == HANDLE_CALLBACK && !d->simulated) {
        snprintf(d->identity.token, sizeof d->identity.token, "%s",
                 d->identity.serial[0] ? d->identity.serial : d->path);
    } else if (d->kind == HANDLE_BLOCK || d->kind == HANDLE_COMMANDS) {
        learn_beyond_sysfs(d);
        struct same same = {.serial = d->identity.serial};
        node_each_disk(visit_same, &same);
        identity_token(&d->identity, d->node, same.n <= 1);
        identity_reasons(&d->identity, d->node);
    }
    *out = d->identity;
    return 0;
}
