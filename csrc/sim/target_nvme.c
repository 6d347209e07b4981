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

static void carry_out(struct sim *s, uint32_t controller, const struct sated_nvme_command *c, void *data,
                      struct sated_reply *reply)
{
    (void)s;
    (void)controller;
    (void)c;
    (void)data;
    reply->nvme_status = 1;
}

const struct target_protocol target_protocol_nvme = {.name = "nvme",
                                                     .init = init,
                                                     .power_on = init,
                                                     .finish = finish,
                                                     .check = check,
                                                     .identify = identify,
                                                     .nvme = carry_out};
