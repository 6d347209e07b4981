/* SPDX-License-Identifier: MIT */
#include "sim/target_inside.h"

static void init(struct sim *s)
{
    (void)s;
}

static void finish(struct sim *s, const struct operation *o)
{
    (void)s;
    (void)o;
}

static const char *check(const struct sim *s)
{
    (void)s;
    return NULL;
}

static void identify(const struct sim *s, struct sated_identity *out)
{
    (void)s;
    (void)out;
}

static void carry_out(struct sim *s, const struct sated_scsi_command *c, void *data, struct sated_reply *reply)
{
    (void)s;
    (void)c;
    (void)data;
    reply->scsi_status = 2;
}

static void fail(struct sim *s, const struct fault *f, const struct sated_scsi_command *c, struct sated_reply *reply)
{
    (void)s;
    (void)f;
    (void)c;
    reply->scsi_status = 2;
}

const struct target_protocol target_protocol_ata = {.name = "ata",
                                                    .init = init,
                                                    .power_on = init,
                                                    .finish = finish,
                                                    .check = check,
                                                    .identify = identify,
                                                    .scsi = carry_out,
                                                    .fail = fail};
