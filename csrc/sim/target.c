/* SPDX-License-Identifier: MIT */
/* What all targets have in common: power, faults, operations, and who is asked. */
#include "sim/target.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/random.h"
#include "sim/sim.h"
#include "sim/target_inside.h"

static const struct target_protocol *const protocols[] = {&target_protocol_ata, &target_protocol_scsi,
                                                          &target_protocol_nvme};

static const struct target_protocol *protocol_of(const struct sim *s)
{
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++)
        if (!strcmp(s->model.protocol, protocols[i]->name))
            return protocols[i];
    return NULL;
}

bool target_exists(const struct sim *s)
{
    return protocol_of(s) != NULL;
}

void target_init(struct sim *s)
{
    const struct target_protocol *p = protocol_of(s);
    memset(&s->target, 0, sizeof s->target);
    s->target.power_cycles = 1;
    if (p)
        p->init(s);
}

const char *target_check(const struct sim *s)
{
    const struct target_protocol *p = protocol_of(s);
    const struct target *t = &s->target;
    const struct operation *o = &t->operation;
    if (t->off > 1 || t->blocked > 1 || o->kind > OPERATION_LAST || o->fails > 1)
        return "it is in no known state";
    if (o->kind && (o->resumed_ns < 0 || o->resumed_ns > s->now || o->before_ns < 0 || o->length_ns <= 0 ||
                    o->before_ns > o->length_ns || o->length_ns > OPERATION_LONGEST_NS))
        return "what goes on in it has no end";
    for (size_t i = 0; i < FAULTS_MAX; i++)
        if (t->fault[i].kind > SATED_FAULT_LAST || t->fault[i].outcome > SATED_FAULT_OUTCOME_LAST)
            return "it has a fault that is not known";
    if (!p)
        return t->off || t->blocked || o->kind ? "it takes no commands that could lead there" : NULL;
    return p->check(s);
}

void target_identify(const struct sim *s, struct sated_identity *out)
{
    const struct target_protocol *p = protocol_of(s);
    if (p)
        p->identify(s, out);
}

uint64_t target_capacity(const struct sim *s)
{
    struct sated_identity id = {.capacity_bytes = sim_native_capacity(s)};
    target_identify(s, &id);
    return id.capacity_bytes;
}

const char *target_blocked(const struct sim *s)
{
    const struct target_protocol *p = protocol_of(s);
    const char *why = p ? p->blocked(s) : NULL;
    if (s->target.off)
        return "it has no power since it was cut; switch it on again (power_cycle, `sated sim power`)";
    if (why || !s->target.operation.kind || s->target.operation.kind == OPERATION_SELF_TEST)
        return why;
    return "it is erasing or formatting a part of itself; wait for the end of that";
}

void target_set_controller(struct sim *s, uint32_t controller)
{
    const struct target_protocol *p = protocol_of(s);
    if (p && p->view)
        p->view(s, controller);
}

int target_refuse(const struct sim *s)
{
    const char *why = target_blocked(s);
    return error_set(-EIO, SATED_LAYER_DRIVE, "sim:%s: its medium cannot be read or written now: %s", s->model.name,
                     why ? why : "it is closed; ask its health");
}

void target_set_window(struct sim *s, uint64_t base_bytes, uint64_t bytes, bool blocked)
{
    s->base_bytes = base_bytes;
    s->limit_bytes = bytes;
    s->target.blocked = blocked;
}

void target_changed(struct sim *s)
{
    s->changed = true;
}

bool target_take_changed(struct sim *s)
{
    bool changed = s->changed;
    s->changed = false;
    return changed;
}

static int64_t elapsed(const struct sim *s)
{
    const struct operation *o = &s->target.operation;
    bool stands = s->target.off || fault_stands(s, SATED_FAULT_STALL);
    int64_t t = o->before_ns + (stands ? 0 : s->now - o->resumed_ns);
    return t < o->length_ns ? t : o->length_ns;
}

/* What has been done so far stays; the rest counts from now on. */
static void hold(struct sim *s)
{
    if (s->target.operation.kind) {
        s->target.operation.before_ns = elapsed(s);
        s->target.operation.resumed_ns = s->now;
    }
}

void target_power_on(struct sim *s)
{
    const struct target_protocol *p = protocol_of(s);
    target_update(s); /* what had come to its end before the cut, though no command has asked since */
    hold(s);
    s->target.off = 0;
    s->target.power_cycles++;
    if (p)
        p->power_on(s);
    target_changed(s);
}

/* ---- Commands ---- */

/* The command's code by which a fault knows it. */
static int opcode_of(const struct sated_scsi_command *c, const struct sated_nvme_command *n)
{
    if (n)
        return n->opcode;
    switch (c->cdb[0]) {
    case 0x85: return c->cdb[14];
    case 0xa1: return c->cdb[9];
    case 0x7f: return c->cdb_len == 32 ? c->cdb[25] : 0x7f;
    default: return c->cdb[0];
    }
}

static void cut(struct sim *s)
{
    sim_power_cut(s);
    hold(s);
    s->target.unsafe_shutdowns++;
    s->target.off = 1;
    target_changed(s);
}

static int without_power(struct sim *s, bool nvme, struct sated_reply *reply)
{
    if (nvme)
        return error_set(-ENODEV, SATED_LAYER_DRIVE,
                         "sim:%s: it has no power since it was cut; switch it on again (power_cycle)", s->model.name);
    reply->host_status = DID_NO_CONNECT;
    return 0;
}

static void answer(struct sim *s, uint32_t controller, const struct sated_scsi_command *c,
                   const struct sated_nvme_command *n, void *data, struct sated_reply *reply)
{
    const struct target_protocol *p = protocol_of(s);
    struct fault f;
    if (!fault_take(s, SATED_FAULT_FAIL, opcode_of(c, n), &f)) {
        if (n)
            p->nvme(s, controller, n, data, reply);
        else
            p->scsi(s, c, data, reply);
    } else if (n) {
        reply->nvme_status = f.nvme_status;
    } else if (f.host_status) {
        reply->host_status = f.host_status;
    } else {
        p->fail(s, &f, c, reply);
    }
}

static int carry_out(struct sim *s, uint32_t controller, const struct sated_scsi_command *c,
                     const struct sated_nvme_command *n, void *data, struct sated_reply *reply)
{
    struct fault f;
    if (s->target.off)
        return without_power(s, n != NULL, reply);
    operation_update(s);
    bool cuts = fault_take(s, SATED_FAULT_POWER_CUT, opcode_of(c, n), &f);
    s->cut_half = cuts && f.outcome == SATED_FAULT_HALF;
    if (!cuts || f.outcome != SATED_FAULT_BEFORE)
        answer(s, controller, c, n, data, reply);
    s->cut_half = false;
    if (!cuts)
        return 0;
    cut(s);
    memset(reply, 0, sizeof *reply);
    return without_power(s, n != NULL, reply);
}

int target_scsi(struct sim *s, const struct sated_scsi_command *c, void *data, struct sated_reply *reply)
{
    return carry_out(s, 0, c, NULL, data, reply);
}

int target_nvme(struct sim *s, uint32_t controller, const struct sated_nvme_command *c, void *data,
                struct sated_reply *reply)
{
    return carry_out(s, controller, NULL, c, data, reply);
}

/* ---- Operations ---- */

void operation_start(struct sim *s, enum operation_kind kind, int64_t length_ns)
{
    struct fault f;
    bool fails = fault_take(s, SATED_FAULT_OPERATION_FAILS, -1, &f);
    length_ns = length_ns > OPERATION_LONGEST_NS ? OPERATION_LONGEST_NS : length_ns > 0 ? length_ns : 1;
    s->target.operation = (struct operation){.kind = kind,
                                             .resumed_ns = s->now,
                                             .before_ns = s->cut_half ? length_ns / 2 : 0,
                                             .length_ns = length_ns,
                                             .fails = fails};
    target_changed(s);
}

bool operation_sanitizes(const struct sim *s)
{
    uint64_t kind = s->target.operation.kind;
    return kind == OPERATION_SANITIZE_BLOCK || kind == OPERATION_SANITIZE_CRYPTO ||
           kind == OPERATION_SANITIZE_OVERWRITE;
}

void operation_stop(struct sim *s)
{
    memset(&s->target.operation, 0, sizeof s->target.operation);
    target_changed(s);
}

void operation_update(struct sim *s)
{
    struct operation o = s->target.operation;
    if (!o.kind || elapsed(s) < o.length_ns)
        return;
    protocol_of(s)->finish(s, &o);
    if (s->target.operation.kind == o.kind && s->target.operation.resumed_ns == o.resumed_ns)
        operation_stop(s);
    target_changed(s);
}

void target_update(struct sim *s)
{
    if (!s->target.off)
        operation_update(s);
}

uint32_t operation_progress(const struct sim *s)
{
    const struct operation *o = &s->target.operation;
    if (!o->kind)
        return 65535;
    return (uint32_t)((unsigned __int128)elapsed(s) * 65535 / (unsigned __int128)o->length_ns);
}

bool operation_wait(struct sim *s)
{
    const struct operation *o = &s->target.operation;
    if (s->cut_half || fault_stands(s, SATED_FAULT_STALL))
        return false;
    sim_idle_until(s, o->resumed_ns + o->length_ns - o->before_ns);
    operation_update(s);
    return true;
}

/* ---- Faults ---- */

int target_add_fault(struct sim *s, const struct sated_sim_fault *f)
{
    if (!f->kind || f->kind > SATED_FAULT_LAST || f->outcome > SATED_FAULT_OUTCOME_LAST || f->opcode < -1 ||
        f->opcode > 255)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s: fault %u with opcode %d and outcome %u: there is none; kinds are 1 to %d, opcodes -1 "
                         "(any) to 255, outcomes 0 to %d",
                         s->model.name, f->kind, f->opcode, f->outcome, SATED_FAULT_LAST, SATED_FAULT_OUTCOME_LAST);
    if (f->kind == SATED_FAULT_FAIL && f->key > 15)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s: there is no sense key %u; give one from 0 to 15, such as 5, ILLEGAL REQUEST",
                         s->model.name, f->key);
    if (f->kind == SATED_FAULT_FAIL && protocol_of(s) == &target_protocol_nvme &&
        (f->nvme_status > 0x7fff || !(f->nvme_status & 0x7ff)))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s: status %04Xh fails no NVMe command: it has 15 bits, of which the lower 11 are 0 for "
                         "success; give one such as 0006h, Internal Error",
                         s->model.name, f->nvme_status);
    hold(s);
    for (size_t i = 0; i < FAULTS_MAX; i++)
        if (!s->target.fault[i].kind) {
            s->target.fault[i] = (struct fault){
                .kind = f->kind,
                .after = f->after,
                .count = f->count ? f->count : UINT32_MAX,
                .opcode = f->opcode,
                .outcome = f->outcome,
                .key = f->key,
                .asc = f->asc,
                .ascq = f->ascq,
                .ata_error = f->ata_error,
                .nvme_status = f->nvme_status,
                .host_status = f->host_status,
            };
            target_changed(s);
            return 0;
        }
    return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                     "sim:%s: it has %d faults already; clear them before more are ordered", s->model.name, FAULTS_MAX);
}

void target_clear_faults(struct sim *s)
{
    hold(s);
    memset(s->target.fault, 0, sizeof s->target.fault);
    target_changed(s);
}

bool fault_stands(const struct sim *s, enum sated_sim_fault_kind kind)
{
    for (size_t i = 0; i < FAULTS_MAX; i++)
        if (s->target.fault[i].kind == (uint32_t)kind)
            return true;
    return false;
}

bool fault_take(struct sim *s, enum sated_sim_fault_kind kind, int opcode, struct fault *out)
{
    for (size_t i = 0; i < FAULTS_MAX; i++) {
        struct fault *f = &s->target.fault[i];
        if (f->kind != (uint32_t)kind || (f->opcode >= 0 && opcode >= 0 && f->opcode != opcode))
            continue;
        if (f->after) {
            f->after--;
            target_changed(s);
            continue;
        }
        *out = *f;
        if (f->count == UINT32_MAX)
            return true;
        if (!--f->count)
            memset(f, 0, sizeof *f);
        target_changed(s);
        return true;
    }
    return false;
}

/* ---- Texts and numbers ---- */

void target_put_text(uint8_t *out, size_t room, const char *text)
{
    memset(out, ' ', room);
    memcpy(out, text, strnlen(text, room));
}

static uint64_t from_seed(const struct sim *s)
{
    struct random r;
    random_seed(&r, s->model.seed, 1);
    return random_next(&r) >> 16;
}

void target_serial(const struct sim *s, char out[20])
{
    snprintf(out, 20, "SIM%012llX", (unsigned long long)from_seed(s));
}

uint64_t target_wwn(const struct sim *s)
{
    /* NAA 5, and 5A71D0h, which no maker has. */
    return 0x5000000000000000ULL | 0x05a71d0ULL << 36 | (from_seed(s) & 0xfffffffffULL);
}

uint64_t target_hours(const struct sim *s)
{
    return (uint64_t)s->now * s->model.scale / 3600000000000ULL;
}

static struct life life_of(const struct sim *s)
{
    struct life l;
    sim_get_life(s, &l);
    return l;
}

uint64_t target_life_written_bytes(const struct sim *s)
{
    return life_of(s).written_bytes * s->model.scale;
}

uint64_t target_life_read_bytes(const struct sim *s)
{
    return life_of(s).read_bytes * s->model.scale;
}

uint64_t target_life_programmed_bytes(const struct sim *s)
{
    uint64_t placed = life_of(s).placed_units;
    return (placed + sim_parity_units(s, placed)) * s->model.unit_bytes * s->model.scale;
}

uint32_t target_used_percent(const struct sim *s)
{
    uint64_t erases = life_of(s).erased_blocks, blocks = spare_in_use(&s->ftl); /* both to scale: a mean needs none */
    uint64_t percent = erases * 100 / (blocks * s->model.endurance);
    return percent < 255 ? (uint32_t)percent : 255;
}

uint32_t target_spare_percent(const struct sim *s)
{
    uint64_t all = s->model.spares - s->model.factory_bad_blocks, left = all;
    for (uint32_t n = 0; n < s->ftl.domains; n++)
        left = s->ftl.domain[n].loss.spares < left ? s->ftl.domain[n].loss.spares : left;
    if (!all)
        return s->ftl.sick & SICK_READ_ONLY ? 0 : 100;
    return (uint32_t)(left * 100 / all);
}

uint64_t target_grown_bad(const struct sim *s)
{
    return s->ftl.grown_bad * s->model.scale;
}

uint32_t target_failed_dies(const struct sim *s)
{
    uint32_t dies = 0;
    for (uint32_t n = 0; n < s->ftl.domains; n++)
        dies += s->ftl.domain[n].loss.dead;
    return dies;
}

uint32_t target_temperature_c(const struct sim *s)
{
    if (s->model.heat_ns) /* as a byte of a log page takes it */
        return s->heat_uc < 0 ? 0 : s->heat_uc > 127000000 ? 127 : (uint32_t)(s->heat_uc / 1000000);
    return s->target.operation.kind || sim_outstanding(s) ? 38 : 31;
}
