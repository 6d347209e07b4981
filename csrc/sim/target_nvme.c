/* SPDX-License-Identifier: MIT */
/* The NVMe drive: who may be asked what now, and what is remembered of commands that failed. */
#include <string.h>

#include "sim/target_nvme_inside.h"

#define NS SATED_NVME_EFFECT_NS_CAPABILITY
#define SCOPE_NAMESPACE 0x100000u /* 5.16.1.6, bits 31:20 */
#define SCOPE_CONTROLLER 0x200000u
#define SCOPE_SUBSYSTEM 0x2000000u
#define HAS SATED_NVME_EFFECT_SUPPORTED
#define CHANGES_DATA SATED_NVME_EFFECT_LBA_CONTENT
#define CHANGES_LIST SATED_NVME_EFFECT_NS_INVENTORY
#define CHANGES_CONTROLLER SATED_NVME_EFFECT_CTRL_CAPABILITY
#define ALONE SATED_NVME_EFFECT_ALONE

/* ---- Namespaces, as all commands see them ---- */

struct nvme_namespace *namespace_at(struct nvme_state *n, uint32_t nsid)
{
    struct nvme_namespace *ns = nsid && nsid <= NVME_NAMESPACES ? &n->ns[nsid - 1] : NULL;
    return ns && ns->held_bytes ? ns : NULL;
}

uint32_t namespace_active(struct nvme_call *x, uint32_t nsid, struct nvme_namespace **out)
{
    *out = namespace_at(x->n, nsid);
    if (!nsid || nsid > NVME_NAMESPACES) {
        x->location = DWORD(1);
        return NVME_INVALID_NAMESPACE;
    }
    return *out && (*out)->attached >> x->controller & 1 ? NVME_OK : invalid(x, DWORD(1));
}

void note_change(struct nvme_state *n, uint32_t controllers, const struct nvme_namespace *ns)
{
    for (uint32_t i = 0; i < NVME_CONTROLLERS; i++)
        if (controllers >> i & 1)
            n->controller[i].changed |= nvme_place((uint32_t)(ns - n->ns));
}

static const struct nvme_namespace *shown(const struct nvme_state *n)
{
    for (uint32_t i = 0; i < NVME_NAMESPACES; i++)
        if (n->ns[i].held_bytes && n->ns[i].attached >> n->view & 1)
            return &n->ns[i];
    return NULL;
}

static bool formatting(const struct sim *s, const struct nvme_namespace *ns)
{
    const struct operation *o = &s->target.operation;
    return o->kind == OPERATION_FORMAT && o->argument[0] >> (ns - s->target.nvme.ns) & 1;
}

static const char *blocked(const struct sim *s)
{
    const struct nvme_state *n = &s->target.nvme;
    const struct nvme_namespace *ns = shown(n);
    if (nvme_sanitizing(s))
        return "it is sanitizing itself; wait for the end of that";
    if (n->failure_mode)
        return "a sanitize operation failed in it; start another one (Sanitize, nvme sanitize)";
    if (!ns)
        return "it has no namespace attached to its controller; create and attach one (nvme create-ns, attach-ns)";
    if (formatting(s, ns))
        return "its namespace is being formatted; wait for the end of that";
    return ns->broken ? "a format of its namespace failed or was broken off; format it again (Format NVM, nvme format)"
                      : NULL;
}

/* The window is only set anew where the namespace is another one or has another size: an LBA limit stays. */
void show(struct sim *s)
{
    struct nvme_state *n = &s->target.nvme;
    const struct nvme_namespace *ns = shown(n);
    uint64_t base = ns ? ns->base_bytes : 0, bytes = ns ? namespace_blocks(ns) << format_shift(ns->format) : 0;
    bool same = base == n->shown_base_bytes && bytes == n->shown_bytes;
    target_set_window(s, base, same ? s->limit_bytes : bytes, blocked(s) != NULL);
    n->shown_base_bytes = base;
    n->shown_bytes = bytes;
}

/* ---- The protocol's life ---- */

bool nvme_has_cache(const struct sim *s)
{
    return !s->model.capacitors;
}

void keep_written(struct nvme_call *x, bool through)
{
    struct sim *s = x->s;
    bool cached = nvme_has_cache(s);
    if (cached && (through || !own(x)->now.value[NVME_VALUE_CACHE]))
        media_flush(s);
    else if (cached)
        return;
    target_changed(s);
}

static void init(struct sim *s)
{
    struct nvme_state *n = &s->target.nvme;
    n->ns[0] = (struct nvme_namespace){.held_bytes = sim_native_capacity(s),
                                       .size_bytes = sim_native_capacity(s),
                                       .number = ++n->made,
                                       .shared = 1,
                                       .attached = nvme_place(NVME_CONTROLLERS) - 1};
    for (uint32_t i = 0; i < NVME_CONTROLLERS; i++)
        features_init(&n->controller[i].saved);
    features_power_on(s);
    show(s);
}

static void power_on(struct sim *s)
{
    struct nvme_state *n = &s->target.nvme;
    const struct operation *o = &s->target.operation;
    features_power_on(s);
    for (uint32_t i = 0; i < NVME_CONTROLLERS; i++) {
        n->controller[i].changed = 0;
        n->controller[i].old_errors = n->controller[i].errors;
    }
    if (o->kind == OPERATION_FORMAT) { /* it does not go on by itself, and what it left is no namespace */
        for (uint32_t i = 0; i < NVME_NAMESPACES; i++)
            n->ns[i].broken |= n->ns[i].held_bytes && o->argument[0] >> i & 1;
        operation_stop(s);
    }
    /* 5.9: a short test ends with the power, an extended one goes on. */
    if (o->kind == OPERATION_SELF_TEST && o->argument[0] == SATED_NVME_SELF_TEST_SHORT)
        end_self_test(s, 2, 0);
    show(s);
}

static void finish(struct sim *s, const struct operation *o)
{
    struct operation done = *o;
    if (done.kind == OPERATION_SELF_TEST) {
        end_self_test(s, done.fails ? 7 : 0, done.fails ? 1 : 0);
        return;
    }
    operation_stop(s);
    if (done.kind == OPERATION_FORMAT)
        finish_format(s, &done);
    else
        finish_sanitize(s, &done);
    show(s);
}

static void identify(const struct sim *s, struct sated_identity *out)
{
    const struct nvme_namespace *ns = shown(&s->target.nvme);
    uint64_t bytes = s->target.nvme.shown_bytes;
    out->capacity_bytes = bytes < out->capacity_bytes ? bytes : out->capacity_bytes;
    out->native_capacity_bytes = bytes;
    if (ns)
        out->logical_block_bytes = 1u << format_shift(ns->format);
    if (out->physical_block_bytes < out->logical_block_bytes)
        out->physical_block_bytes = out->logical_block_bytes;
    target_serial(s, out->serial);
}

/* ---- A state that nobody's target wrote ---- */

static bool is_namespace(const struct sim *s, const struct nvme_namespace *ns)
{
    uint64_t all = sim_native_capacity(s);
    if (ns->format >= FORMATS || ns->shared > 1 || ns->attached >> NVME_CONTROLLERS || ns->broken > 1)
        return false;
    if (!ns->held_bytes)
        return true;
    return ns->held_bytes <= all && ns->base_bytes <= all - ns->held_bytes && !(ns->base_bytes % chunk_bytes(s)) &&
           !(ns->held_bytes % s->model.unit_bytes) && ns->size_bytes <= ns->held_bytes && namespace_blocks(ns) &&
           !(ns->size_bytes % 512);
}

static bool overlap(const struct nvme_namespace *a, const struct nvme_namespace *b)
{
    return a->held_bytes && b->held_bytes && a->base_bytes < b->base_bytes + b->held_bytes &&
           b->base_bytes < a->base_bytes + a->held_bytes;
}

static const char *check_namespaces(const struct sim *s)
{
    const struct nvme_state *n = &s->target.nvme;
    for (uint32_t i = 0; i < NVME_NAMESPACES; i++)
        if (!is_namespace(s, &n->ns[i]))
            return "a namespace lies where none can";
    for (uint32_t i = 0; i < NVME_NAMESPACES; i++)
        for (uint32_t k = 0; k < i; k++)
            if (overlap(&n->ns[i], &n->ns[k]))
                return "two namespaces lie in the same place";
    if (n->view >= NVME_CONTROLLERS)
        return "it has no such controller";
    const struct nvme_namespace *ns = shown(n);
    uint64_t base = ns ? ns->base_bytes : 0, bytes = ns ? namespace_blocks(ns) << format_shift(ns->format) : 0;
    if (n->shown_base_bytes != base || n->shown_bytes != bytes || s->base_bytes != base || s->limit_bytes > bytes)
        return "what loads can address is not the namespace that it shows";
    return NULL;
}

static const char *check_operation(const struct operation *o)
{
    switch (o->kind) {
    case OPERATION_FORMAT:
        return o->argument[0] < nvme_place(NVME_NAMESPACES) && o->argument[1] < FORMATS ? NULL : "its format is none";
    case OPERATION_SELF_TEST:
        return o->argument[0] <= SATED_NVME_SELF_TEST_EXTENDED && o->argument[1] <= UINT32_MAX
                   ? NULL
                   : "its self-test is none";
    default: return NULL;
    }
}

static const char *check(const struct sim *s)
{
    const struct nvme_state *n = &s->target.nvme;
    const char *wrong = check_namespaces(s);
    if (!wrong)
        wrong = check_operation(&s->target.operation);
    if (wrong)
        return wrong;
    for (uint32_t i = 0; i < NVME_CONTROLLERS; i++)
        if (n->controller[i].operational > LAST_OPERATIONAL || n->controller[i].errors < n->controller[i].old_errors)
            return "a controller of it is in no known state";
    if (n->sanitize_status > SATED_NVME_SANITIZE_OK_NO_DEALLOCATE || n->sanitize_passes > 16 || n->failure_mode > 1 ||
        (n->failure_mode && n->sanitize_status != SATED_NVME_SANITIZE_FAILED) ||
        (n->sanitize_status == SATED_NVME_SANITIZE_RUNNING) != nvme_sanitizing(s))
        return "its sanitize status is none";
    for (uint32_t i = 0; i < NVME_BAD_SPANS; i++)
        if (n->bad[i].begin_bytes > n->bad[i].end_bytes || n->bad[i].end_bytes > sim_native_capacity(s))
            return "blocks are uncorrectable that it does not have";
    return NULL;
}

/* ---- Commands ---- */

uint32_t admin_effects(uint8_t opcode)
{
    switch (opcode) {
    case 0x00: /* the four of queues, Abort and Asynchronous Event Request: the driver's own */
    case 0x01:
    case 0x04:
    case 0x05:
    case 0x08:
    case 0x0c:
    case SATED_NVME_ADMIN_GET_LOG_PAGE:
    case SATED_NVME_ADMIN_IDENTIFY:
    case SATED_NVME_ADMIN_GET_FEATURES: return HAS | SCOPE_CONTROLLER;
    case SATED_NVME_ADMIN_SET_FEATURES: return HAS | CHANGES_CONTROLLER | SCOPE_CONTROLLER;
    case SATED_NVME_ADMIN_SELF_TEST: return HAS | SCOPE_CONTROLLER;
    case SATED_NVME_ADMIN_NS_MANAGEMENT: return HAS | CHANGES_DATA | CHANGES_LIST | ALONE | SCOPE_NAMESPACE;
    case SATED_NVME_ADMIN_NS_ATTACHMENT: return HAS | CHANGES_LIST | ALONE | SCOPE_NAMESPACE;
    case SATED_NVME_ADMIN_FORMAT: return HAS | CHANGES_DATA | NS | ALONE | SCOPE_NAMESPACE;
    case SATED_NVME_ADMIN_SANITIZE: return HAS | CHANGES_DATA | ALONE | SCOPE_SUBSYSTEM;
    default: return 0;
    }
}

uint32_t io_effects(uint8_t opcode)
{
    switch (opcode) {
    case SATED_NVME_IO_FLUSH:
    case SATED_NVME_IO_READ:
    case SATED_NVME_IO_COMPARE:
    case SATED_NVME_IO_VERIFY: return HAS | SCOPE_NAMESPACE;
    case SATED_NVME_IO_WRITE:
    case 0x04: /* Write Uncorrectable */
    case SATED_NVME_IO_WRITE_ZEROES:
    case SATED_NVME_IO_DSM: return HAS | CHANGES_DATA | SCOPE_NAMESPACE;
    default: return 0;
    }
}

/* Base 2.0c 8.21, "Sanitize Operations - Admin Commands Allowed". */
static bool allowed_in_sanitize(const struct sated_nvme_command *c)
{
    switch (c->opcode) {
    case SATED_NVME_ADMIN_GET_LOG_PAGE:
        switch (c->cdw10 & 0xff) {
        case SATED_NVME_LID_ERROR:
        case SATED_NVME_LID_SMART:
        case SATED_NVME_LID_CHANGED_NS:
        case SATED_NVME_LID_SANITIZE: return true;
        default: return false;
        }
    case SATED_NVME_ADMIN_SELF_TEST:
    case SATED_NVME_ADMIN_NS_MANAGEMENT:
    case SATED_NVME_ADMIN_NS_ATTACHMENT:
    case SATED_NVME_ADMIN_FORMAT: return false;
    default: return true;
    }
}

/* Whether something that goes on, or did not end well, stands against it. */
static uint32_t refused_now(struct nvme_call *x)
{
    const struct sated_nvme_command *c = x->c;
    bool admin = c->admin;
    if (!(admin && allowed_in_sanitize(c))) {
        if (nvme_sanitizing(x->s))
            return NVME_SANITIZING;
        if (x->n->failure_mode)
            return NVME_SANITIZE_FAILED;
    }
    if (x->s->target.operation.kind != OPERATION_FORMAT)
        return NVME_OK;
    if (!admin) {
        const struct nvme_namespace *ns = namespace_at(x->n, c->nsid);
        return c->nsid == ALL || (ns && formatting(x->s, ns)) ? NVME_FORMATTING : NVME_OK;
    }
    return admin_effects(c->opcode) & (CHANGES_DATA | CHANGES_LIST) || c->opcode == SATED_NVME_ADMIN_SELF_TEST
               ? NVME_FORMATTING
               : NVME_OK;
}

static uint32_t admin(struct nvme_call *x)
{
    switch (x->c->opcode) {
    case SATED_NVME_ADMIN_GET_LOG_PAGE: return nvme_get_log(x);
    case SATED_NVME_ADMIN_IDENTIFY: return nvme_identify(x);
    case SATED_NVME_ADMIN_SET_FEATURES: return nvme_set_features(x);
    case SATED_NVME_ADMIN_GET_FEATURES: return nvme_get_features(x);
    case SATED_NVME_ADMIN_NS_MANAGEMENT: return nvme_manage(x);
    case SATED_NVME_ADMIN_NS_ATTACHMENT: return nvme_attach(x);
    case SATED_NVME_ADMIN_SELF_TEST: return nvme_self_test(x);
    case SATED_NVME_ADMIN_FORMAT: return nvme_format(x);
    case SATED_NVME_ADMIN_SANITIZE: return nvme_sanitize(x);
    /* 5.1: dword 0 says 1: the command was not aborted, as it is answered already. */
    case 0x08: x->reply->result = 1; return NVME_OK;
    /* The driver has sent as many as the drive takes, and waits for their answers itself. */
    case 0x0c: return NVME_EVENT_LIMIT;
    /* Queues are the driver's. */
    default: return NVME_INVALID_QUEUE;
    }
}

static uint32_t carry_out(struct nvme_call *x)
{
    const struct sated_nvme_command *c = x->c;
    if (!(c->admin ? admin_effects(c->opcode) : io_effects(c->opcode)))
        return x->location = 0, NVME_INVALID_OPCODE;
    if (c->flags & 3) /* FUSES says that it has no fused operations */
        return invalid(x, 1);
    uint32_t status = refused_now(x);
    if (status)
        return status;
    return c->admin ? admin(x) : nvme_io(x);
}

uint32_t give(struct nvme_call *x, const uint8_t *page, uint32_t bytes)
{
    /* The buffer is whole pages long, whatever was asked for. */
    uint32_t room = x->data ? (x->c->data_len + PAGE - 1) / PAGE * PAGE : 0;
    if (!room)
        return x->location = DWORD(6), NVME_DATA_TRANSFER;
    if (bytes < PAGE && fault_stands(x->s, SATED_FAULT_DMA_4K))
        bytes = PAGE;
    memcpy(x->data, page, bytes < room ? bytes : room);
    return NVME_OK;
}

/* 5.16.1.2. */
static void remember(struct nvme_call *x, uint16_t status)
{
    struct nvme_controller *k = own(x);
    k->error[k->errors++ % NVME_ERRORS] = (struct nvme_error){.lba = x->lba,
                                                              .specific = x->specific,
                                                              .nsid = x->c->nsid,
                                                              .status = status,
                                                              .location = x->location,
                                                              .queue = !x->c->admin};
}

/* 3.3.3.2.1: Do Not Retry, unless it may go well later. */
static bool is_final(uint32_t status)
{
    return status != NVME_SANITIZING && status != NVME_FORMATTING && status != NVME_SELF_TESTING &&
           status != NVME_INTERNAL;
}

static void view(struct sim *s, uint32_t controller)
{
    if (s->target.nvme.view == controller)
        return;
    s->target.nvme.view = controller;
    show(s);
    target_changed(s);
}

static void nvme(struct sim *s, uint32_t controller, const struct sated_nvme_command *c, void *data,
                 struct sated_reply *reply)
{
    struct nvme_call x = {.s = s,
                          .n = &s->target.nvme,
                          .controller = controller < NVME_CONTROLLERS ? controller : 0,
                          .c = c,
                          .data = data,
                          .reply = reply,
                          .location = BAD_PLACE};
    view(s, x.controller);
    if (c->admin || !c->data_len)
        media_spend(s, c->admin ? 50000 : 20000);
    uint32_t status = carry_out(&x);
    if (!status)
        return;
    if (status == NVME_HOST_ABORTED) { /* the host's own, which the drive knows nothing of */
        reply->nvme_status = NVME_HOST_ABORTED;
        return;
    }
    reply->result = 0;
    reply->nvme_status = (uint16_t)(status | (is_final(status) ? 0x4000 : 0) | 0x2000);
    remember(&x, reply->nvme_status);
    target_changed(s);
}

const struct target_protocol target_protocol_nvme = {.name = "nvme",
                                                     .init = init,
                                                     .power_on = power_on,
                                                     .finish = finish,
                                                     .check = check,
                                                     .blocked = blocked,
                                                     .identify = identify,
                                                     .view = view,
                                                     .nvme = nvme};
