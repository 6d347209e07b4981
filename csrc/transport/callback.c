/* SPDX-License-Identifier: MIT */
/* A transport that the caller brings. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "transport/command.h"
#include "transport/learn.h"

void sated_transport_init(struct sated_transport *t)
{
    memset(t, 0, sizeof *t);
    t->size = sizeof *t;
    t->protocol = SATED_PROTOCOL_SCSI;
}

/* What a callback returned: an error without a sentence gets one. */
static int result_of(const struct sated_drive *d, int rc, const struct sated_detail *before)
{
    struct sated_detail after;
    if (rc >= 0)
        return 0;
    sated_detail_get(&after);
    if (after.code == rc && memcmp(&after, before, sizeof after))
        return rc;
    return error_set(rc, SATED_LAYER_DRIVE, "%s: its transport failed with %s (%d) and does not say why; look into it",
                     d->path, sated_error_name(rc), rc);
}

static int send_callback(struct sated_drive *d, const struct command *c, struct sated_reply *reply)
{
    const struct sated_transport *t = d->way;
    struct sated_detail before;
    if (c->nvme ? !t->nvme : !t->scsi)
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE, "%s: its transport carries no %s commands", d->path,
                         c->nvme ? "NVMe" : "SCSI");
    error_set(0, SATED_LAYER_NONE, "%s", "");
    sated_detail_get(&before);
    int rc;
    if (c->nvme) {
        struct sated_nvme_command to = *c->nvme; /* with what was chosen for it */
        to.timeout_ms = c->timeout_ms;
        to.admin = c->set == SATED_COMMANDS_NVME_ADMIN;
        rc = t->nvme(t->user, &to, c->data, reply);
    } else {
        struct sated_scsi_command to = *c->scsi;
        to.timeout_ms = c->timeout_ms;
        rc = t->scsi(t->user, &to, c->data, reply);
    }
    if (reply->sense_len > sizeof reply->sense)
        reply->sense_len = sizeof reply->sense;
    return result_of(d, rc, &before);
}

static void close_callback(struct sated_drive *d)
{
    struct sated_transport *t = d->way;
    if (t->close)
        t->close(t->user);
    free(t);
}

const struct command_face callback_face = {.send = send_callback, .close = close_callback};

static int check(const char *name, const struct sated_transport *t)
{
    if (t->size != sizeof *t)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sated_transport: size is %u, this library knows %zu; fill it by sated_transport_init()",
                         t->size, sizeof *t);
    if (t->protocol < SATED_PROTOCOL_SCSI || t->protocol > SATED_PROTOCOL_NVME)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "%s: protocol %u: give SCSI, ATA or NVMe", name,
                         t->protocol);
    if (t->protocol == SATED_PROTOCOL_NVME ? !t->nvme : !t->scsi)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "%s: a transport of %s commands without the function that carries them; set its %s", name,
                         t->protocol == SATED_PROTOCOL_NVME ? "NVMe" : "SCSI and ATA",
                         t->protocol == SATED_PROTOCOL_NVME ? "nvme" : "scsi");
    return 0;
}

int sated_drive_open_transport(struct sated_drive **out, const char *name, const struct sated_transport *t)
{
    *out = NULL;
    int rc = check(name, t);
    if (rc)
        return rc;
    struct sated_drive *d = calloc(1, sizeof *d);
    struct sated_transport *kept = malloc(sizeof *kept);
    if (!d || !kept) {
        free(d);
        free(kept);
        return error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for a handle", name);
    }
    *kept = *t;
    d->opener = getpid();
    d->fd = d->write_fd = d->command_fd = -1;
    d->kind = HANDLE_CALLBACK;
    d->face = &callback_face;
    d->way = kept;
    d->simulated = d->permitted = d->permitted_whole = t->simulated;
    d->identity.protocol = t->protocol;
    d->identity.flags = SATED_IDENTITY_CALLBACK | SATED_IDENTITY_COMMANDS_ONLY;
    d->identity.scale = 1;
    snprintf(d->path, sizeof d->path, "%s", name);
    snprintf(d->identity.path, sizeof d->identity.path, "%s", name);
    snprintf(d->identity.transport, sizeof d->identity.transport, "callback");
    learn_by_asking(d);
    *out = d;
    return 0;
}
