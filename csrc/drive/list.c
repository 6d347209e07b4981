/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "drive/identity.h"
#include "transport/block.h"
#include "transport/node.h"

struct list {
    struct sated_identity *out;
    size_t cap, n;
    char (*names)[NODE_NAME]; /* of all disks, */
    char (*serials)[64];      /* and their serial numbers: a token must be unique among all, not among those told */
    size_t room;
};

static int visit(const char *name, void *user)
{
    struct list *l = user;
    if (l->n == l->room) {
        size_t room = l->room ? l->room * 2 : 16;
        void *names = realloc(l->names, room * sizeof *l->names);
        if (names)
            l->names = names;
        void *serials = names ? realloc(l->serials, room * sizeof *l->serials) : NULL;
        if (!serials)
            return -ENOMEM;
        l->serials = serials;
        l->room = room;
    }
    snprintf(l->names[l->n], NODE_NAME, "%s", name);
    block_serial(l->serials[l->n], sizeof *l->serials, name);
    if (l->n < l->cap)
        block_identify(name, &l->out[l->n]);
    l->n++;
    return 0;
}

static bool is_unique(const struct list *l, size_t which)
{
    for (size_t i = 0; i < l->n; i++)
        if (i != which && !strcmp(l->serials[i], l->serials[which]))
            return false;
    return true;
}

int sated_drive_list(struct sated_identity *out, size_t cap)
{
    struct list l = {.out = out, .cap = out ? cap : 0};
    int rc = node_each_disk(visit, &l);
    for (size_t i = 0; !rc && i < l.n && i < l.cap; i++) {
        identity_token(&out[i], l.names[i], is_unique(&l, i));
        identity_reasons(&out[i], l.names[i]);
    }
    free(l.names);
    free(l.serials);
    if (rc == -ENOMEM)
        return error_set(rc, SATED_LAYER_DRIVE, "no memory for the list of drives");
    if (rc)
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                         "/sys/block: cannot be read: %s; mount sysfs to see this machine's drives (files and sim: "
                         "drives need none)",
                         error_text(-rc));
    return (int)l.n;
}
