/* SPDX-License-Identifier: MIT */
/* Namespaces of another size (NVMe Base 2.0 5.22, 5.23), and other block sizes by Format NVM (5.14). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/error.h"
#include "drive/provision_inside.h"
#include "protocol/known_nvme.h"
#include "transport/command.h"

#define PAGE 4096

/* Room for what the drive answers, and for what that means. */
struct answers {
    uint8_t page[PAGE];
    struct sated_nvme_id_ctrl ctrl;
    struct sated_nvme_id_ns ns;
    struct sated_nvme_ns_list list;
    struct sated_nvme_ctrl_list controllers;
};

static struct answers *answers_new(const struct sated_drive *d)
{
    struct answers *a = buffer_new(sizeof *a);
    if (!a)
        error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for its namespaces", d->path);
    return a;
}

static void answers_free(struct answers *a)
{
    buffer_free(a, sizeof *a);
}

static int identify(struct sated_drive *d, struct answers *a, uint32_t cns, uint32_t nsid)
{
    struct sated_nvme_command c;
    int rc = sated_nvme_build_identify(&c, cns, nsid, 0, 0, 0);
    return rc ? rc : sated_nvme_admin_raw(d, &c, a->page, NULL);
}

static int ask_ctrl(struct sated_drive *d, struct answers *a)
{
    int rc = identify(d, a, SATED_NVME_CNS_CTRL, 0);
    return rc ? rc : sated_nvme_decode_id_ctrl(a->page, PAGE, &a->ctrl);
}

static int ask_ns(struct sated_drive *d, struct answers *a, uint32_t cns, uint32_t nsid)
{
    int rc = identify(d, a, cns, nsid);
    return rc ? rc : sated_nvme_decode_id_ns(a->page, PAGE, &a->ns);
}

static int ask_list(struct sated_drive *d, struct answers *a)
{
    int rc = identify(d, a, SATED_NVME_CNS_ALLOCATED_LIST, 0);
    return rc ? rc : sated_nvme_decode_ns_list(a->page, PAGE, &a->list);
}

static int ask_controllers(struct sated_drive *d, struct answers *a, uint32_t nsid)
{
    int rc = identify(d, a, SATED_NVME_CNS_NS_CTRL_LIST, nsid);
    return rc ? rc : sated_nvme_decode_ctrl_list(a->page, PAGE, &a->controllers);
}

static bool manages(const struct answers *a)
{
    return IS_KNOWN(nvme_id_ctrl_admin, &a->ctrl.admin, oacs) && a->ctrl.admin.oacs & SATED_NVME_OACS_NS_MANAGEMENT;
}

/* ---- Looking ---- */

/* What the namespace could have: its own, and all that no namespace has. */
static void look(struct sated_drive *d, struct sated_provision *out)
{
    struct answers *a = answers_new(d);
    if (!a)
        return;
    if (!ask_ctrl(d, a)) {
        bool told = IS_KNOWN(nvme_id_ctrl_admin, &a->ctrl.admin, unvmcap) && manages(a);
        uint64_t left = told && !a->ctrl.admin.unvmcap[1] ? a->ctrl.admin.unvmcap[0] : 0;
        if (!ask_ns(d, a, SATED_NVME_CNS_NS, handle_namespace(d)) && a->ns.block_bytes) {
            out->device_bytes = a->ns.capacity_bytes;
            /* What it takes of the medium beyond its own size goes back with it. */
            if (left && !a->ns.nvmcap[1] && a->ns.nvmcap[0] > a->ns.capacity_bytes)
                left += a->ns.nvmcap[0] - a->ns.capacity_bytes;
            left = left / a->ns.block_bytes * a->ns.block_bytes;
        }
        out->native_bytes = out->device_bytes + left;
        out->hidden_bytes = out->hidden_at_least_bytes = left;
        /* A drive without namespace management has its namespaces as they are. */
        out->flags |= SATED_PROVISION_NATIVE_KNOWN | SATED_PROVISION_HIDDEN_KNOWN;
        if (left)
            out->limits |= 1u << SATED_PROVISION_NAMESPACE;
    }
    answers_free(a);
}

static int able(struct sated_drive *d, uint32_t method)
{
    (void)method;
    struct answers *a = answers_new(d);
    if (!a)
        return -ENOMEM;
    int rc = ask_ctrl(d, a);
    if (!rc && !manages(a))
        rc = error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                       "%s: does not let its namespaces be deleted and created (Identify Controller, OACS bit 3); take "
                       "the method lba",
                       d->path);
    answers_free(a);
    return rc;
}

/* ---- Planning ---- */

static int plan_format(struct change *c, struct answers *a)
{
    uint32_t wanted = c->block_bytes, best = UINT32_MAX;
    c->before_blocks = a->ns.nsze;
    c->before_block_bytes = a->ns.block_bytes;
    c->blocks = ALL_BLOCKS;
    for (uint32_t i = 0; i < a->ns.n_lbaf && i < 64; i++) {
        const struct sated_nvme_lba_format *f = &a->ns.lbaf[i];
        bool fits = IS_KNOWN(nvme_lba_format, f, block_bytes) && f->block_bytes == wanted && f->ms == 0;
        if (fits && (best == UINT32_MAX || f->rp < a->ns.lbaf[best].rp))
            best = i;
    }
    if (best == UINT32_MAX)
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                         "%s: has no format of %" PRIu32
                         "-byte blocks without metadata (Identify Namespace, LBAF); give "
                         "one that `nvme id-ns` lists",
                         c->d->path, wanted);
    return wanted == a->ns.block_bytes;
}

/* 5.23: what of the old namespace the new one takes over. */
static int plan_namespace(struct change *c, struct answers *a, uint64_t bytes)
{
    const struct sated_nvme_id_ns *ns = &a->ns;
    struct sated_provision now = {.device_bytes = 0};
    c->lbaf = ns->format;
    c->extended = ns->extended;
    c->shared = ns->nmic & 1;
    c->dps = ns->dps;
    c->anagrpid = ns->anagrpid;
    c->nvmsetid = ns->nvmsetid;
    c->endgid = ns->endgid;
    c->before_blocks = ns->nsze;
    c->before_block_bytes = c->block_bytes = ns->block_bytes;
    int rc = ask_controllers(c->d, a, c->nsid);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < a->controllers.n_cntlid && i < CHANGE_CONTROLLERS; i++)
        c->controllers[c->n_controllers++] = a->controllers.cntlid[i];
    rc = ask_list(c->d, a);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < a->list.n_nsid; i++)
        if (a->list.nsid[i] != c->nsid && c->n_others < CHANGE_NAMESPACES)
            c->others[c->n_others++] = a->list.nsid[i];
    if (!c->n_controllers || a->controllers.n_cntlid > CHANGE_CONTROLLERS || a->list.n_nsid > CHANGE_NAMESPACES)
        return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                         "%s: its namespace is attached to %" PRIu32 " controllers, among %" PRIu32
                         " namespaces; this version takes 1 to %d and up to %d; use nvme-cli",
                         c->d->path, a->controllers.n_cntlid, a->list.n_nsid, CHANGE_CONTROLLERS, CHANGE_NAMESPACES);
    look(c->d, &now);
    if (bytes == UINT64_MAX)
        c->blocks = now.native_bytes / c->block_bytes;
    else
        rc = provision_blocks(c, bytes, now.native_bytes);
    return rc ? rc : c->blocks == c->before_blocks;
}

static int plan(struct change *c, uint64_t bytes)
{
    if (c->method == SATED_PROVISION_EVERY)
        return 1; /* only the deletion of the namespace would give it more */
    struct answers *a = answers_new(c->d);
    if (!a)
        return -ENOMEM;
    c->nsid = handle_namespace(c->d);
    int rc = ask_ns(c->d, a, SATED_NVME_CNS_NS, c->nsid);
    if (!rc && !a->ns.block_bytes)
        rc = error_set(SATED_STATE, SATED_LAYER_DRIVE,
                       "%s: namespace %" PRIu32 " is not attached to this controller; attach it first (nvme attach-ns)",
                       c->d->path, c->nsid);
    if (!rc)
        rc = c->method == CHANGE_BLOCK ? plan_format(c, a) : plan_namespace(c, a, bytes);
    answers_free(a);
    return rc;
}

/* ---- Formatting ---- */

/* Of a format that was broken off only reading tells: the drive then wants another one. */
static bool reads(struct sated_drive *d, uint32_t nsid, uint32_t block_bytes)
{
    struct sated_nvme_command c;
    uint8_t *block = buffer_new(block_bytes);
    int rc = block ? sated_nvme_build_read(&c, nsid, 0, 1, block_bytes, 0) : -ENOMEM;
    if (!rc)
        rc = sated_nvme_io_raw(d, &c, block, NULL);
    buffer_free(block, block_bytes);
    return rc == 0;
}

static int run_format(struct change *c, struct answers *a)
{
    struct sated_nvme_command command;
    char step[96];
    uint32_t wanted = c->block_bytes, before = c->before_block_bytes;
    int rc = ask_ctrl(c->d, a);
    if (!rc)
        rc = ask_ns(c->d, a, SATED_NVME_CNS_NS, c->nsid);
    if (rc || (a->ns.block_bytes == wanted && reads(c->d, c->nsid, wanted)))
        return rc;
    struct change find = {.d = c->d, .block_bytes = wanted};
    rc = plan_format(&find, a);
    if (rc < 0)
        return rc;
    bool all = a->ctrl.nvm.fna & SATED_NVME_FNA_FORMAT_ALL;
    rc = handle_need_permit(c->d, all ? HANDLE_DRIVE : HANDLE_BLOCKS, "formatting");
    uint32_t lbaf = 0;
    while (!rc && (a->ns.lbaf[lbaf].block_bytes != wanted || a->ns.lbaf[lbaf].ms))
        lbaf++;
    if (!rc)
        rc = sated_nvme_build_format(&command, c->nsid, lbaf, false, 0, false, SATED_NVME_SES_NONE);
    snprintf(step, sizeof step, "Format NVM, from %" PRIu32 " to %" PRIu32 " bytes a block", before, wanted);
    if (!rc)
        rc = change_step(c, step);
    if (!rc)
        rc = change_sent(c, sated_nvme_admin_raw(c->d, &command, NULL, NULL));
    return rc;
}

/* ---- Deleting and creating ---- */

static int send_list(struct change *c, struct answers *a, bool attach, uint32_t nsid, const uint16_t *ids, uint32_t n)
{
    struct sated_nvme_command command;
    int rc = sated_nvme_build_ctrl_list(a->page, PAGE, ids, n);
    if (rc > 0)
        rc = attach ? sated_nvme_build_ns_attach(&command, nsid) : sated_nvme_build_ns_detach(&command, nsid);
    return rc ? rc : change_sent(c, sated_nvme_admin_raw(c->d, &command, a->page, NULL));
}

/* Detaches it from all controllers, then deletes it. */
static int remove_old(struct change *c, struct answers *a, uint32_t nsid)
{
    struct sated_nvme_command command;
    uint16_t ids[CHANGE_CONTROLLERS];
    char step[64];
    int rc = ask_controllers(c->d, a, nsid);
    uint32_t n = 0;
    for (uint32_t i = 0; !rc && i < a->controllers.n_cntlid && n < CHANGE_CONTROLLERS; i++)
        ids[n++] = a->controllers.cntlid[i];
    if (!rc && n) {
        snprintf(step, sizeof step, "Namespace Attachment, detach %" PRIu32, nsid);
        rc = change_step(c, step);
        if (!rc)
            rc = send_list(c, a, false, nsid, ids, n);
        c->d->detached = !rc && c->d->kind == HANDLE_BLOCK; /* the kernel takes its node away */
    }
    if (rc)
        return rc;
    snprintf(step, sizeof step, "Namespace Management, delete %" PRIu32, nsid);
    rc = change_step(c, step);
    if (!rc)
        rc = sated_nvme_build_ns_delete(&command, nsid);
    return rc ? rc : change_sent(c, sated_nvme_admin_raw(c->d, &command, NULL, NULL));
}

static int create(struct change *c, struct answers *a, uint32_t *nsid)
{
    struct sated_nvme_command command;
    struct sated_reply reply;
    char step[96];
    struct sated_nvme_ns_create ns = {.nsze = c->blocks,
                                      .ncap = c->blocks,
                                      .lbaf = c->lbaf,
                                      .dps = c->dps,
                                      .anagrpid = c->anagrpid,
                                      .nvmsetid = (uint16_t)c->nvmsetid,
                                      .endgid = (uint16_t)c->endgid,
                                      .extended = c->extended,
                                      .shared = c->shared};
    int rc = sated_nvme_build_ns_data(a->page, PAGE, &ns);
    if (rc > 0)
        rc = sated_nvme_build_ns_create(&command, 0);
    snprintf(step, sizeof step, "Namespace Management, create %" PRIu64 " blocks", c->blocks);
    if (!rc)
        rc = change_step(c, step);
    if (!rc)
        rc = change_sent(c, sated_nvme_admin_raw(c->d, &command, a->page, &reply));
    *nsid = rc ? 0 : (uint32_t)reply.result;
    return rc;
}

/* To those controllers that the old one was attached to. */
static int attach(struct change *c, struct answers *a, uint32_t nsid)
{
    uint16_t ids[CHANGE_CONTROLLERS];
    char step[64];
    uint32_t n = 0;
    int rc = ask_controllers(c->d, a, nsid);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < c->n_controllers; i++) {
        bool already = false;
        for (uint32_t k = 0; k < a->controllers.n_cntlid; k++)
            already |= a->controllers.cntlid[k] == c->controllers[i];
        if (!already)
            ids[n++] = c->controllers[i];
    }
    if (!n)
        return 0;
    snprintf(step, sizeof step, "Namespace Attachment, attach %" PRIu32, nsid);
    rc = change_step(c, step);
    return rc ? rc : send_list(c, a, true, nsid, ids, n);
}

/* Among the namespaces that were not there beside the old one: that which is as it is to be, and that which has to go for
 * it. Any other is somebody else's. */
static int find(struct change *c, struct answers *a, uint32_t *keep, uint32_t *drop)
{
    *keep = *drop = 0;
    for (uint32_t i = 0; i < a->list.n_nsid; i++) {
        bool other = false;
        for (uint32_t k = 0; k < c->n_others; k++)
            other |= c->others[k] == a->list.nsid[i];
        int rc = other ? 0 : ask_ns(c->d, a, SATED_NVME_CNS_ALLOCATED_NS, a->list.nsid[i]);
        if (rc)
            return rc;
        if (!other && a->ns.nsze == c->blocks)
            *keep = a->list.nsid[i];
        else if (!other && (a->ns.nsze == c->before_blocks || a->ns.nsze == c->planned_blocks))
            *drop = a->list.nsid[i];
    }
    return 0;
}

/* It is the same drive, whatever has become of the namespace's node. */
static int check_drive(struct change *c, struct answers *a)
{
    char serial[sizeof c->d->identity.serial];
    int rc = ask_ctrl(c->d, a);
    if (rc)
        return rc;
    snprintf(serial, sizeof serial, "%s", a->ctrl.general.sn);
    if (!c->d->identity.serial[0] || !strcmp(serial, c->d->identity.serial))
        return 0;
    return error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                     "%s: now belongs to another drive (serial number %s, not %s); look at it, then open it anew",
                     c->d->path, serial, c->d->identity.serial);
}

static int run_namespace(struct change *c, struct answers *a)
{
    uint32_t nsid = 0, drop = 0;
    int rc = check_drive(c, a);
    if (!rc)
        rc = ask_list(c->d, a);
    if (!rc)
        rc = find(c, a, &nsid, &drop);
    if (!rc && drop)
        rc = remove_old(c, a, drop);
    if (!rc && !nsid)
        rc = create(c, a, &nsid);
    if (!rc)
        rc = attach(c, a, nsid);
    if (!rc)
        c->d->nsid = nsid;
    return rc;
}

static int run(struct change *c)
{
    struct answers *a = answers_new(c->d);
    if (!a)
        return -ENOMEM;
    int rc = c->method == CHANGE_BLOCK ? run_format(c, a) : run_namespace(c, a);
    answers_free(a);
    return rc;
}

const struct provision_way provision_nvme = {look, able, plan, run};
