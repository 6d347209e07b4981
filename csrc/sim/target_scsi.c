/* SPDX-License-Identifier: MIT */
/* A SAS drive by SPC-5 and SBC-4: which commands its state lets through, and how it says no. */
#include "sim/target_scsi_inside.h"

#include <string.h>

#include "core/bytes.h"
#include "sim/sim.h"

#define COMMAND_NS 20000 /* of a command without user data */

/* ---- Sense data (SPC-5, sense data) ---- */

int scsi_refuse(struct scsi_call *k, const struct target_sense *sense)
{
    k->reply->residual = (int32_t)k->c->data_len;
    target_check_condition(k->reply, sense, scsi_descriptor_sense(k->s));
    return -1;
}

int scsi_fail(struct scsi_call *k, uint8_t key, uint16_t code)
{
    return scsi_refuse(k, &(struct target_sense){.key = key, .code = code});
}

/* The field pointer (SPC-5, sense key specific data for ILLEGAL REQUEST): C/D, BPV and BIT POINTER, FIELD POINTER. */
static int bad_field(struct scsi_call *k, uint16_t code, bool cdb, uint32_t byte, int bit)
{
    struct target_sense sense = {.key = KEY_ILLEGAL, .code = code, .specific = true};
    sense.sks[0] = (uint8_t)((cdb ? 0x40 : 0) | (bit >= 0 ? 0x08 | bit : 0));
    bytes_put_be16(sense.sks + 1, (uint16_t)byte);
    return scsi_refuse(k, &sense);
}

int scsi_bad_cdb(struct scsi_call *k, uint32_t byte, int bit)
{
    return bad_field(k, CODE_INVALID_IN_CDB, true, byte, bit);
}

int scsi_bad_list(struct scsi_call *k, uint32_t byte, int bit)
{
    return bad_field(k, CODE_INVALID_IN_LIST, false, byte, bit);
}

static void put_progress(const struct sim *s, struct target_sense *sense)
{
    sense->specific = true;
    bytes_put_be16(sense->sks + 1, (uint16_t)operation_progress(s));
}

/* Whether a format or a sanitize operation goes on. */
static bool is_erasing(const struct sim *s)
{
    return s->target.operation.kind && s->target.operation.kind != OPERATION_SELF_TEST;
}

struct target_sense scsi_pollable(const struct sim *s)
{
    static const uint8_t low_power[] = {
        [SCSI_IDLE_A] = 0x03,    [SCSI_IDLE_B] = 0x06,    [SCSI_IDLE_C] = 0x08,
        [SCSI_STANDBY_Z] = 0x04, [SCSI_STANDBY_Y] = 0x0a,
    };
    const struct scsi_state *t = &s->target.scsi;
    struct target_sense sense = {.key = KEY_NOT_READY};
    if (is_erasing(s)) {
        sense.code = operation_sanitizes(s) ? CODE_SANITIZE_IN_PROGRESS : CODE_FORMAT_IN_PROGRESS;
        put_progress(s, &sense);
        return sense;
    }
    if (t->power == SCSI_STOPPED)
        return (struct target_sense){.key = KEY_NOT_READY, .code = CODE_INITIALIZING_NEEDED};
    if (t->sanitize)
        return (struct target_sense){.key = KEY_MEDIUM, .code = CODE_SANITIZE_FAILED};
    if (t->format == SCSI_FORMAT_FAILED)
        return (struct target_sense){.key = KEY_MEDIUM, .code = CODE_FORMAT_FAILED};
    if (t->format || t->next_block_bytes != t->block_bytes)
        return (struct target_sense){.key = KEY_MEDIUM, .code = CODE_FORMAT_CORRUPT};
    if (s->target.operation.kind == OPERATION_SELF_TEST) {
        sense.code = CODE_SELF_TEST_IN_PROGRESS;
        put_progress(s, &sense);
        return sense;
    }
    if (t->power)
        return (struct target_sense){.code = (uint16_t)(CODE_LOW_POWER | low_power[t->power])};
    return (struct target_sense){.code = scsi_mode_mrie(s) == 6 ? scsi_prediction(s) : CODE_NONE};
}

/* ---- Data ---- */

int scsi_give(struct scsi_call *k, const void *bytes, size_t n, size_t wanted)
{
    n = n < wanted ? n : wanted;
    n = n < k->in ? n : k->in;
    if (n)
        memcpy(k->data, bytes, n);
    k->reply->residual = (int32_t)(k->c->data_len - n);
    return 0;
}

int scsi_take(struct scsi_call *k, size_t n)
{
    if (n > k->out)
        return scsi_fail(k, KEY_ABORTED, CODE_DATA_PHASE);
    k->reply->residual = (int32_t)(k->c->data_len - n);
    return 0;
}

/* ---- State ---- */

/* SAM-5: each condition is told once; what came first is told first, and a condition that is pending already is not
 * told twice. */
void scsi_attention(struct sim *s, uint16_t code)
{
    struct scsi_state *t = &s->target.scsi;
    for (uint8_t i = 0; i < t->attentions; i++)
        if (t->attention[i] == code)
            return;
    if (t->attentions < SCSI_ATTENTIONS)
        t->attention[t->attentions++] = code;
    target_changed(s);
}

uint16_t scsi_take_attention(struct sim *s)
{
    struct scsi_state *t = &s->target.scsi;
    uint16_t code = t->attention[0];
    t->attentions--;
    memmove(t->attention, t->attention + 1, t->attentions * sizeof *t->attention);
    t->attention[t->attentions] = 0;
    target_changed(s);
    return code;
}

uint64_t scsi_largest(const struct sim *s, uint32_t block_bytes)
{
    return sim_native_capacity(s) / block_bytes;
}

static const char *blocked(const struct sim *s)
{
    const struct scsi_state *t = &s->target.scsi;
    if (is_erasing(s))
        return "it is erasing or formatting itself; wait for the end of that";
    if (t->sanitize)
        return "a sanitize operation failed in it; start another one (SANITIZE, sg_sanitize)";
    if (t->format)
        return "a format of it failed or was broken off; format it again (FORMAT UNIT, sg_format)";
    if (t->next_block_bytes != t->block_bytes)
        return "its block size was changed by MODE SELECT; format it to that (FORMAT UNIT, sg_format)";
    return t->power == SCSI_STOPPED ? "it is stopped; start it (START STOP UNIT, sg_start)" : NULL;
}

void scsi_window(struct sim *s, bool resized)
{
    const struct scsi_state *t = &s->target.scsi;
    uint64_t bytes = t->blocks * t->block_bytes;
    if (!resized && s->limit_bytes < bytes)
        bytes = s->limit_bytes;
    target_set_window(s, 0, bytes, blocked(s) != NULL);
    target_changed(s);
}

static void init(struct sim *s)
{
    struct scsi_state *t = &s->target.scsi;
    t->block_bytes = t->next_block_bytes = MODEL_LOGICAL_BLOCK;
    t->blocks = t->next_blocks = scsi_largest(s, MODEL_LOGICAL_BLOCK);
    scsi_mode_defaults(t->mode);
    memcpy(t->saved, t->mode, sizeof t->saved);
}

/* A format that is broken off leaves nothing that could be read (SBC-4 5.4); a sanitize operation goes on (4.11). The
 * unit attention of a power-on stands for all others (SAM-5, unit attention precedence). */
static void power_on(struct sim *s)
{
    struct scsi_state *t = &s->target.scsi;
    scsi_self_test_abort(s);
    if (s->target.operation.kind == OPERATION_FORMAT) {
        operation_stop(s);
        t->format = SCSI_FORMAT_CORRUPT;
    }
    t->power = SCSI_ACTIVE;
    memcpy(t->mode, t->saved, sizeof t->mode);
    t->attentions = 0;
    memset(t->attention, 0, sizeof t->attention);
    scsi_attention(s, CODE_POWER_ON);
    scsi_window(s, false);
}

static void finish(struct sim *s, const struct operation *o)
{
    if (o->kind == OPERATION_SELF_TEST) {
        scsi_self_test_end(s, (uint8_t)o->argument[0], o->fails ? 7 : 0);
        return;
    }
    scsi_erase_finish(s, o);
    /* Over, as far as the window is concerned. */
    operation_stop(s);
    scsi_window(s, false);
}

static bool is_block_length(uint32_t bytes)
{
    return bytes == 512 || bytes == 4096;
}

static const char *check(const struct sim *s)
{
    const struct scsi_state *t = &s->target.scsi;
    const struct operation *o = &s->target.operation;
    if (!is_block_length(t->block_bytes) || !is_block_length(t->next_block_bytes) || !t->blocks ||
        t->blocks > scsi_largest(s, t->block_bytes) || !t->next_blocks ||
        t->next_blocks > scsi_largest(s, t->next_block_bytes) || s->base_bytes ||
        s->limit_bytes > t->blocks * t->block_bytes)
        return "its blocks are none that a SAS drive has";
    if (t->format > SCSI_FORMAT_FAILED || t->sanitize > SCSI_SANITIZE_UNRESTRICTED || t->power > SCSI_STOPPED ||
        t->attentions > SCSI_ATTENTIONS || t->self_tests > SCSI_SELF_TESTS)
        return "it is in no state of a SAS drive";
    if (o->kind == OPERATION_SECURITY_ERASE ||
        (o->kind == OPERATION_SELF_TEST ? o->argument[0] < 1 || o->argument[0] > 6 : o->kind && o->argument[1] > 1))
        return "what goes on in it was never asked for";
    if (!scsi_mode_allowed(t->mode) || !scsi_mode_allowed(t->saved))
        return "its mode pages cannot be set so";
    if ((s->target.blocked != 0) != (blocked(s) != NULL))
        return "its medium is open where it is to be shut, or the other way round";
    return NULL;
}

static void identify(const struct sim *s, struct sated_identity *out)
{
    const struct scsi_state *t = &s->target.scsi;
    uint64_t bytes = t->blocks * t->block_bytes;
    if (out->capacity_bytes > bytes)
        out->capacity_bytes = bytes;
    out->logical_block_bytes = t->block_bytes;
    if (out->physical_block_bytes < t->block_bytes)
        out->physical_block_bytes = t->block_bytes;
}

bool scsi_descriptor_sense(const struct sim *s)
{
    return scsi_mode_descriptors(s) && !fault_stands(s, SATED_FAULT_FIXED_SENSE);
}

/* ---- Commands ---- */

/* What stands against it now. Return: whether nothing does. */
static bool let_through(struct scsi_call *k)
{
    const struct scsi_state *t = k->t;
    uint8_t flags = k->row->flags;
    bool erasing = is_erasing(k->s), ready = true;
    if (k->s->target.operation.kind == OPERATION_FORMAT)
        ready = flags & SCSI_FORMAT;
    else if (erasing)
        ready = flags & SCSI_SANITIZE && k->cdb[0] != 0x48;
    else if (t->power == SCSI_STOPPED && flags & SCSI_MEDIUM)
        ready = false;
    else if (t->sanitize)
        ready = flags & SCSI_SANITIZE;
    else if (t->format || t->next_block_bytes != t->block_bytes)
        ready = !(flags & SCSI_MEDIUM) || flags & SCSI_REPAIR;
    /* Of log pages only the temperature's can be had meanwhile (SBC-4 4.11). */
    if (ready && k->cdb[0] == 0x4d && (t->sanitize || erasing))
        ready = (k->cdb[2] & 0x3f) == 0x0d;
    if (!ready) {
        struct target_sense sense = scsi_pollable(k->s);
        scsi_refuse(k, &sense);
    }
    return ready;
}

/* SPC-5: a reserved bit that is set may be refused, and the drive says which one. */
static bool is_clean(struct scsi_call *k)
{
    for (uint32_t i = 1; i < k->row->bytes; i++) {
        uint8_t wrong = k->cdb[i] & (uint8_t)~k->row->usage[i];
        if (wrong) {
            scsi_bad_cdb(k, i, 31 - __builtin_clz(wrong));
            return false;
        }
    }
    return true;
}

/* What needs the medium ends an idle or standby condition (SPC-5, power conditions); asking whether it is ready does
 * not. */
static void wake(struct scsi_call *k)
{
    if (k->t->power && k->t->power != SCSI_STOPPED && k->row->flags & SCSI_MEDIUM && k->cdb[0]) {
        k->t->power = SCSI_ACTIVE;
        target_changed(k->s);
    }
}

static void carry_out(struct sim *s, const struct sated_scsi_command *c, void *data, struct sated_reply *reply)
{
    bool opcode;
    struct scsi_call k = {
        .s = s,
        .t = &s->target.scsi,
        .c = c,
        .cdb = c->cdb,
        .row = scsi_find(c->cdb, &opcode),
        .data = data,
        .in = c->direction == SATED_DATA_IN ? c->data_len : 0,
        .out = c->direction == SATED_DATA_OUT ? c->data_len : 0,
        .reply = reply,
    };
    reply->residual = (int32_t)c->data_len;
    media_spend(s, COMMAND_NS);
    if (k.t->attentions && !(k.row && k.row->flags & SCSI_EXEMPT)) {
        scsi_fail(&k, KEY_ATTENTION, scsi_take_attention(s));
    } else if (!k.row) {
        if (opcode)
            scsi_bad_cdb(&k, 1, 4);
        else
            scsi_fail(&k, KEY_ILLEGAL, CODE_INVALID_OPCODE);
    } else if (let_through(&k) && is_clean(&k)) {
        if (k.row->flags & SCSI_WRITE && scsi_mode_protected(s)) {
            scsi_fail(&k, KEY_PROTECT, CODE_WRITE_PROTECTED);
        } else {
            wake(&k);
            k.row->run(&k);
        }
    }
}

/* Which of the error counters a command's failure counts in: of writes 0, reads 1, verifies 2; -1: in none. */
static int counter_of(const uint8_t *cdb)
{
    bool opcode;
    const struct scsi_row *row = scsi_find(cdb, &opcode);
    if (!row || row->time != TIME_TRANSFER)
        return -1;
    return row->flags & SCSI_WRITE ? 0 : row->run == scsi_read ? 1 : row->run == scsi_verify ? 2 : -1;
}

static void fail(struct sim *s, const struct fault *f, const struct sated_scsi_command *c, struct sated_reply *reply)
{
    struct scsi_call k = {.s = s, .t = &s->target.scsi, .c = c, .reply = reply};
    int counter = counter_of(c->cdb);
    if (f->key == KEY_MEDIUM && counter >= 0) {
        k.t->uncorrected[counter]++;
        target_changed(s);
    }
    scsi_fail(&k, f->key & 15, (uint16_t)(f->asc << 8 | f->ascq));
}

const struct target_protocol target_protocol_scsi = {.name = "scsi",
                                                     .init = init,
                                                     .power_on = power_on,
                                                     .finish = finish,
                                                     .check = check,
                                                     .blocked = blocked,
                                                     .identify = identify,
                                                     .scsi = carry_out,
                                                     .fail = fail};
