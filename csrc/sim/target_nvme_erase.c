/* SPDX-License-Identifier: MIT */
/* Format NVM (5.14) and Sanitize (5.24, 8.21). */
#include "sim/target_nvme_inside.h"

#define LONGEST_PASS_NS 8000000000000ULL /* 16 of them are less than the longest operation */

bool nothing_written(const struct sim *s)
{
    struct life life;
    sim_get_life(s, &life);
    return life.written_bytes == s->target.nvme.written_bytes;
}

/* ---- Format NVM ---- */

/* Which namespaces it is for, a bit each: FNA bit 1 decides about erasing ones, bit 0 about others. */
static uint32_t format_scope(struct nvme_call *x, uint32_t ses, uint32_t *out)
{
    bool all = x->s->model.fna & (ses ? SATED_NVME_FNA_ERASE_ALL : SATED_NVME_FNA_FORMAT_ALL);
    uint32_t nsid = x->c->nsid;
    struct nvme_namespace *ns = NULL;
    if (nsid == ALL && x->s->model.fna & SATED_NVME_FNA_NO_BROADCAST)
        return invalid(x, DWORD(1));
    uint32_t status = nsid == ALL ? NVME_OK : namespace_active(x, nsid, &ns);
    *out = 0;
    for (uint32_t i = 0; !status && i < NVME_NAMESPACES; i++) {
        const struct nvme_namespace *each = &x->n->ns[i];
        bool meant = ns ? each == ns : each->attached >> x->controller & 1;
        if (each->held_bytes && (all || meant))
            *out |= 1u << i;
    }
    return status;
}

static uint64_t held_by(const struct nvme_state *n, uint64_t set)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < NVME_NAMESPACES; i++)
        bytes += set >> i & 1 ? n->ns[i].held_bytes : 0;
    return bytes;
}

static int64_t format_ns(const struct sim *s, uint32_t ses, uint64_t set)
{
    int64_t whole = ses == SATED_NVME_SES_CRYPTO ? media_erase_ns(s) / 8 : media_erase_ns(s);
    uint64_t held = held_by(&s->target.nvme, set);
    return (int64_t)((unsigned __int128)(uint64_t)whole * held / sim_native_capacity(s)) + 1000000;
}

static bool is_tested(const struct operation *o, uint32_t set)
{
    uint64_t nsid = o->argument[1];
    return o->kind == OPERATION_SELF_TEST && (nsid == ALL ? set != 0 : nsid && set >> (nsid - 1) & 1);
}

uint32_t nvme_format(struct nvme_call *x)
{
    struct sim *s = x->s;
    uint32_t d = x->c->cdw10, format = (d & 15) | (d >> 12 & 3) << 4, pi = d >> 5 & 7, ses = d >> 9 & 7, set;
    if (ses > SATED_NVME_SES_CRYPTO || (ses == SATED_NVME_SES_CRYPTO && !(s->model.fna & SATED_NVME_FNA_CRYPTO)))
        return invalid(x, DWORD(10) + 1);
    if (format >= FORMATS || pi) /* no format has metadata that could hold protection information */
        return x->location = DWORD(10), NVME_INVALID_FORMAT;
    uint32_t status = format_scope(x, ses, &set);
    for (uint32_t i = 0; !status && i < NVME_NAMESPACES; i++)
        if (set >> i & 1 && !(x->n->ns[i].size_bytes >> format_shift(format)))
            status = NVME_INVALID_FORMAT; /* it has not even one such block */
    if (status || !set)
        return status;
    if (is_tested(&s->target.operation, set))
        end_self_test(s, 4, 0);
    else if (s->target.operation.kind)
        return NVME_SELF_TESTING; /* of the controller, or of other namespaces: one thing at a time goes on */
    operation_start(s, OPERATION_FORMAT, format_ns(s, ses, set));
    s->target.operation.argument[0] = set;
    s->target.operation.argument[1] = format;
    bool fails = s->target.operation.fails;
    show(s);
    if (!operation_wait(s))
        return NVME_HOST_ABORTED;
    return fails ? NVME_INTERNAL : NVME_OK;
}

void finish_format(struct sim *s, const struct operation *o)
{
    struct nvme_state *n = &s->target.nvme;
    uint64_t all = held_by(n, nvme_place(NVME_NAMESPACES) - 1), set = o->argument[0];
    if (!o->fails && held_by(n, set) == all)
        media_erase(s);
    for (uint32_t i = 0; i < NVME_NAMESPACES; i++) {
        struct nvme_namespace *ns = &n->ns[i];
        if (!(set >> i & 1) || !ns->held_bytes)
            continue;
        ns->broken = (uint32_t)o->fails;
        if (o->fails)
            continue;
        if (ns->format != o->argument[1])
            note_change(n, ns->attached, ns);
        ns->format = (uint32_t)o->argument[1];
        media_erase_span(s, ns->base_bytes, ns->held_bytes);
        clear_bad(n, ns->base_bytes, ns->base_bytes + ns->held_bytes);
    }
}

/* ---- Sanitize ---- */

int64_t sanitize_ns(const struct sim *s, uint32_t sanact, uint32_t passes)
{
    const struct model *m = &s->model;
    uint64_t pass;
    switch (sanact) {
    case SATED_NVME_SANACT_CRYPTO_ERASE: return media_erase_ns(s) / 8 + 1000000;
    case SATED_NVME_SANACT_BLOCK_ERASE: return media_erase_ns(s);
    default: /* all dies program all the time */
        pass = m->units * m->program_ns / (m->wide_program_units * m->channels * m->dies);
        return (int64_t)(pass < LONGEST_PASS_NS ? passes * pass + m->purge_ns : passes * LONGEST_PASS_NS);
    }
}

static uint32_t passes_of(uint32_t cdw10)
{
    uint32_t passes = cdw10 >> 4 & 15;
    return passes ? passes : 16;
}

static uint32_t exit_failure(struct nvme_call *x)
{
    if (!x->n->failure_mode)
        return NVME_OK;
    if (!(x->n->sanitize_command & 8)) /* it was started in the restricted completion mode */
        return NVME_SANITIZE_FAILED;
    x->n->failure_mode = 0; /* the log still says that the most recent one failed */
    show(x->s);
    target_changed(x->s);
    return NVME_OK;
}

/* 5.24: in the restricted completion mode only another one in that mode leads out of a failure. */
static uint32_t may_start(struct nvme_call *x, uint32_t sanact)
{
    static const struct {
        uint32_t sanact, able;
    } actions[] = {{SATED_NVME_SANACT_BLOCK_ERASE, SATED_NVME_SANICAP_BLOCK},
                   {SATED_NVME_SANACT_OVERWRITE, SATED_NVME_SANICAP_OVERWRITE},
                   {SATED_NVME_SANACT_CRYPTO_ERASE, SATED_NVME_SANICAP_CRYPTO}};
    bool ause = x->c->cdw10 & 8, ndas = x->c->cdw10 & 0x200, able = false;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        able |= actions[i].sanact == sanact && x->s->model.sanitize & actions[i].able;
    if (!able)
        return invalid(x, DWORD(10));
    if (ndas && x->s->model.inhibit && !own(x)->now.value[NVME_VALUE_SANITIZE])
        return invalid(x, DWORD(10) + 1);
    if (x->n->failure_mode && !(x->n->sanitize_command & 8) && ause)
        return NVME_SANITIZE_FAILED;
    return NVME_OK;
}

uint32_t nvme_sanitize(struct nvme_call *x)
{
    static const enum operation_kind kinds[] = {[SATED_NVME_SANACT_BLOCK_ERASE] = OPERATION_SANITIZE_BLOCK,
                                                [SATED_NVME_SANACT_OVERWRITE] = OPERATION_SANITIZE_OVERWRITE,
                                                [SATED_NVME_SANACT_CRYPTO_ERASE] = OPERATION_SANITIZE_CRYPTO};
    struct sim *s = x->s;
    uint32_t sanact = x->c->cdw10 & 7, passes = passes_of(x->c->cdw10);
    if (!s->model.sanitize)
        return x->location = 0, NVME_INVALID_OPCODE;
    if (x->c->nsid)
        return invalid(x, DWORD(1));
    if (operation_sanitizes(s))
        return NVME_SANITIZING;
    if (sanact == SATED_NVME_SANACT_EXIT_FAILURE)
        return exit_failure(x);
    uint32_t status = may_start(x, sanact);
    if (status)
        return status;
    if (s->target.operation.kind == OPERATION_SELF_TEST)
        end_self_test(s, 9, 0);
    operation_start(s, kinds[sanact], sanitize_ns(s, sanact, passes));
    s->target.operation.argument[0] = x->c->cdw10;
    s->target.operation.argument[1] = x->c->cdw11;
    x->n->sanitize_status = SATED_NVME_SANITIZE_RUNNING;
    x->n->sanitize_passes = 0;
    x->n->failure_mode = 0;
    x->n->sanitize_command = x->c->cdw10;
    show(s);
    return NVME_OK;
}

/* What the last pass wrote stays readable only where nothing is to be deallocated afterwards. */
static void erase_all(struct sim *s, const struct operation *o, bool deallocates)
{
    uint32_t cdw10 = (uint32_t)o->argument[0], pattern = (uint32_t)o->argument[1];
    bool inverted = cdw10 & 0x100 && passes_of(cdw10) % 2 == 0;
    pattern = inverted ? ~pattern : pattern;
    if (o->kind == OPERATION_SANITIZE_OVERWRITE && !deallocates)
        media_overwrite(s, (uint64_t)pattern << 32 | pattern);
    else
        media_erase(s);
}

void finish_sanitize(struct sim *s, const struct operation *o)
{
    struct nvme_state *n = &s->target.nvme;
    struct life life;
    bool ndas = o->argument[0] & 0x200;
    if (o->fails) {
        n->sanitize_status = SATED_NVME_SANITIZE_FAILED;
        n->failure_mode = 1;
        n->written_bytes = UINT64_MAX;
        return;
    }
    erase_all(s, o, !ndas || s->model.inhibit);
    for (uint32_t i = 0; i < NVME_BAD_SPANS; i++)
        n->bad[i] = (struct nvme_span){.end_bytes = 0};
    n->sanitize_status = ndas && s->model.inhibit ? SATED_NVME_SANITIZE_OK_NO_DEALLOCATE : SATED_NVME_SANITIZE_OK;
    if (o->kind == OPERATION_SANITIZE_OVERWRITE)
        n->sanitize_passes = passes_of((uint32_t)o->argument[0]);
    sim_get_life(s, &life);
    n->written_bytes = life.written_bytes;
}
