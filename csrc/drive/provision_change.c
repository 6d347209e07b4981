/* SPDX-License-Identifier: MIT */
/* A change of capacity from its plan to its end, whatever interrupts it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "drive/provision_inside.h"
#include "transport/node.h"
#include "transport/refresh.h"

#define OPERATION "capacity"
#define POWER_CYCLE "power off and on" /* the step at which a change waits for one */
#define POLL_NS 1000000000LL

/* ---- Steps ---- */

int change_step(struct change *c, const char *step)
{
    int rc = handle_check_same(c->d);
    return rc ? rc : journal_step(c->journal, step);
}

int change_sent(struct change *c, int rc)
{
    bool refused = rc == SATED_ATA || rc == SATED_SENSE || rc == SATED_NVME;
    c->touched |= !refused;
    return rc;
}

/* ---- The plan as JSON ---- */

static void say_list(struct text *t, const char *name, const uint32_t *values, uint32_t n)
{
    text_say(t, ", \"%s\": [", name);
    for (uint32_t i = 0; i < n; i++)
        text_say(t, "%s%" PRIu32, i ? ", " : "", values[i]);
    text_say(t, "]");
}

static void say_plan(struct text *t, const struct change *c)
{
    uint32_t ids[CHANGE_CONTROLLERS];
    text_say(t, "{");
    text_say_json(t, "method", provision_name(c->method));
    text_say(t,
             ", \"blocks\": %" PRIu64 ", \"block_bytes\": %" PRIu32 ", \"before_blocks\": %" PRIu64
             ", \"before_block_bytes\": %" PRIu32,
             c->blocks, c->block_bytes, c->before_blocks, c->before_block_bytes);
    if (c->nsid) {
        text_say(t,
                 ", \"nsid\": %" PRIu32 ", \"lbaf\": %" PRIu32 ", \"extended\": %d, \"shared\": %d, \"dps\": %" PRIu32
                 ", \"anagrpid\": %" PRIu32 ", \"nvmsetid\": %" PRIu32 ", \"endgid\": %" PRIu32,
                 c->nsid, c->lbaf, c->extended, c->shared, c->dps, c->anagrpid, c->nvmsetid, c->endgid);
        for (uint32_t i = 0; i < c->n_controllers; i++)
            ids[i] = c->controllers[i];
        say_list(t, "controllers", ids, c->n_controllers);
        say_list(t, "others", c->others, c->n_others);
    }
    text_say(t, "}");
}

static uint64_t number_of(const struct json *plan, const char *name)
{
    const struct json *at = json_get(plan, name);
    return at && at->kind == JSON_NUMBER && at->whole && !at->negative ? at->value : 0;
}

static uint32_t take_list(const struct json *plan, const char *name, uint32_t *out, uint32_t cap)
{
    const struct json *list = json_get(plan, name);
    uint32_t n = 0;
    for (const struct json *at = list ? list->first : NULL; at && n < cap; at = at->next)
        out[n++] = (uint32_t)at->value;
    return n;
}

static uint32_t method_of(const struct json *plan)
{
    const struct json *name = json_get(plan, "method");
    uint32_t method = SATED_PROVISION_HPA;
    while (method <= CHANGE_BLOCK &&
           (!name || name->kind != JSON_TEXT || strcmp(name->text, provision_name(method)) != 0))
        method++;
    return method;
}

static int read_plan(struct change *c)
{
    const struct json *plan = journal_plan(c->journal);
    uint32_t ids[CHANGE_CONTROLLERS];
    c->method = method_of(plan);
    c->blocks = c->planned_blocks = number_of(plan, "blocks");
    c->block_bytes = (uint32_t)number_of(plan, "block_bytes");
    c->before_blocks = number_of(plan, "before_blocks");
    c->before_block_bytes = (uint32_t)number_of(plan, "before_block_bytes");
    c->nsid = (uint32_t)number_of(plan, "nsid");
    c->lbaf = (uint32_t)number_of(plan, "lbaf");
    c->extended = number_of(plan, "extended");
    c->shared = number_of(plan, "shared");
    c->dps = (uint32_t)number_of(plan, "dps");
    c->anagrpid = (uint32_t)number_of(plan, "anagrpid");
    c->nvmsetid = (uint32_t)number_of(plan, "nvmsetid");
    c->endgid = (uint32_t)number_of(plan, "endgid");
    c->n_controllers = take_list(plan, "controllers", ids, CHANGE_CONTROLLERS);
    for (uint32_t i = 0; i < c->n_controllers; i++)
        c->controllers[i] = (uint16_t)ids[i];
    c->n_others = take_list(plan, "others", c->others, CHANGE_NAMESPACES);
    if (c->method <= CHANGE_BLOCK && c->blocks && c->block_bytes && c->before_blocks && c->before_block_bytes)
        return 0;
    return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                     "%s: the journal of a change of its capacity, begun %s, has no plan of this version; look at it, "
                     "move it away, and see `sated capacity %s` for what the drive says by itself",
                     c->d->path, journal_began(c->journal), c->d->path);
}

/* ---- Going through it ---- */

/* Until the drive has done it, or the time is over. Return: 1 where it is still at it. */
static int go_through(struct change *c, const struct provision_way *way, int64_t timeout_ns)
{
    struct sated_drive *d = c->d;
    int64_t begin = handle_now_ns(d);
    int rc = way->run(c);
    while (rc == 1 && (timeout_ns < 0 || handle_now_ns(d) - begin < timeout_ns)) {
        rc = sated_drive_sleep(d, timeout_ns >= 0 && timeout_ns < POLL_NS ? timeout_ns : POLL_NS);
        if (!rc)
            rc = way->run(c);
    }
    return rc;
}

/* A failure stays what it was, with what stands afterwards. */
static int leave(struct change *c, int rc)
{
    struct sated_detail detail = *error_last();
    if (c->power_cycle)
        journal_step(c->journal, POWER_CYCLE);
    journal_leave(c->journal);
    char whole[sizeof detail.text * 2], path[sizeof c->d->path];
    /* A namespace that was detached has no node by which it could be opened. */
    if (c->d->detached)
        node_device_path(path, sizeof path, c->d->command_node);
    else
        snprintf(path, sizeof path, "%s", c->d->path);
    snprintf(
        whole, sizeof whole,
        "%.750s; the change is unfinished: `sated capacity %.80s --resume` goes on with it, `--resume --undo` takes "
        "it back",
        detail.text, path);
    snprintf(detail.text, sizeof detail.text, "%.1000s", whole);
    error_copy(&detail);
    return rc;
}

/* Ends a call: with the journal, where it is over. */
static int settle(struct change *c, int rc)
{
    if (rc == 1) {
        journal_leave(c->journal);
        return 1;
    }
    if (rc < 0 && (c->touched || c->power_cycle))
        return leave(c, rc);
    struct sated_detail detail = *error_last();
    int finished = journal_finish(c->journal);
    if (rc < 0) /* it was refused, and nothing was done */
        return error_copy(&detail);
    return finished ? finished : handle_refresh(c->d);
}

int change_start(struct sated_drive *d, uint32_t method, uint64_t bytes, uint32_t block_bytes)
{
    struct change c = {.d = d, .method = method, .block_bytes = block_bytes};
    const struct provision_way *way = provision_way(d);
    struct text plan = {0};
    if (!way)
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE, "%s: takes no commands that could change it", d->path);
    int rc = journal_find(&c.journal, d, OPERATION);
    if (rc > 0) {
        rc =
            error_set(SATED_STATE, SATED_LAYER_DRIVE,
                      "%s: a change of its capacity, begun %s, was interrupted (%s was the last step); `sated capacity "
                      "%s --resume` goes on with it, `--resume --undo` takes it back",
                      d->path, journal_began(c.journal),
                      journal_last_step(c.journal)[0] ? journal_last_step(c.journal) : "its plan", d->path);
        journal_leave(c.journal);
    }
    if (!rc)
        rc = way->plan(&c, bytes);
    if (rc)
        return rc < 0 ? rc : 0; /* nothing is left to do */
    c.planned_blocks = c.blocks;
    say_plan(&plan, &c);
    rc = plan.failed ? error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for a plan", d->path)
                     : journal_start(&c.journal, d, OPERATION, plan.data);
    free(plan.data);
    return rc ? rc : settle(&c, go_through(&c, way, 0));
}

int sated_provision_wait(struct sated_drive *d, bool undo, int64_t timeout_ns)
{
    struct change c = {.d = d, .touched = true};
    int rc = journal_find(&c.journal, d, OPERATION);
    if (rc <= 0)
        return rc;
    const struct provision_way *way = provision_way(d);
    rc = way ? read_plan(&c)
             : error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE, "%s: takes no commands that could change it", d->path);
    if (!rc)
        rc = provision_need(d, c.method);
    if (rc) {
        journal_leave(c.journal);
        return rc;
    }
    if (undo) {
        c.blocks = c.before_blocks;
        c.block_bytes = c.before_block_bytes;
    }
    return settle(&c, go_through(&c, way, timeout_ns));
}

void change_look(struct sated_drive *d, struct sated_provision *out)
{
    struct change c = {.d = d};
    int rc = journal_find(&c.journal, d, OPERATION);
    if (rc != 1 && rc != SATED_STATE)
        return;
    out->flags |= SATED_PROVISION_INTERRUPTED;
    out->interrupted = UINT32_MAX; /* of a journal that cannot be read: going on with it says why */
    if (rc != 1)
        return;
    if (!strcmp(journal_last_step(c.journal), POWER_CYCLE))
        out->flags |= SATED_PROVISION_NEEDS_POWER_CYCLE;
    out->interrupted = method_of(journal_plan(c.journal));
    journal_leave(c.journal);
}
