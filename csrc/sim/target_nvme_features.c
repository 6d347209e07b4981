/* SPDX-License-Identifier: MIT */
/* Get Features and Set Features (5.15, 5.27). */
#include <string.h>

#include "sim/target_nvme_inside.h"

#define QUEUES 64
#define TABLE_BYTES (8 * NVME_TRANSITIONS)
#define SCOPE_NAMESPACE 0x100000u /* 5.16.1.18, bits 31:20 */
#define SCOPE_CONTROLLER 0x200000u
#define SCOPE_SUBSYSTEM 0x2000000u
#define FID_MARKER 0x80

enum trait {
    SAVED = 1, /* as bits 2:0 of what SEL = 3 returns */
    BY_NAMESPACE = 2,
    CHANGED = 4,
    OF_SUBSYSTEM = 8,
    STORED = 16, /* in nvme_features, under `value` */
};

static const struct feature {
    uint8_t fid, traits;
    uint8_t value; /* enum nvme_value */
    uint32_t bits; /* that dword 11 may have */
    uint32_t first;
} features[] = {
    {0x01, CHANGED | STORED, NVME_VALUE_ARBITRATION, 0xffffff07, 0},
    {SATED_NVME_FID_POWER, SAVED | CHANGED | STORED, NVME_VALUE_POWER, 0xff, 0},
    {SATED_NVME_FID_TEMPERATURE, SAVED | CHANGED, 0, 0x3fffff, 0},
    {0x05, BY_NAMESPACE | CHANGED, 0, 0xffff, 0},
    {SATED_NVME_FID_WRITE_CACHE, SAVED | CHANGED | STORED, NVME_VALUE_CACHE, 1, 1},
    {0x07, CHANGED, 0, UINT32_MAX, 0},
    {0x08, CHANGED | STORED, NVME_VALUE_COALESCING, 0xffff, 0},
    {0x09, 0, 0, 0x1ffff, 0},
    {0x0a, SAVED | CHANGED | STORED, NVME_VALUE_ATOMICITY, 1, 0},
    {0x0b, SAVED | CHANGED | STORED, NVME_VALUE_EVENTS, EVENTS, 0},
    {SATED_NVME_FID_APST, SAVED | CHANGED | STORED, NVME_VALUE_APST, 1, 0},
    {0x0e, CHANGED, 0, 0, 0},
    {0x10, SAVED | CHANGED | STORED, NVME_VALUE_THERMAL, UINT32_MAX, 0},
    {0x11, SAVED | CHANGED | STORED, NVME_VALUE_PERMISSIVE, 1, 0},
    {SATED_NVME_FID_SANITIZE_CONFIG, SAVED | CHANGED | OF_SUBSYSTEM | STORED, NVME_VALUE_SANITIZE, 1, 0},
    {FID_MARKER, SAVED | CHANGED | STORED, NVME_VALUE_MARKER, 0xff, 0},
};

#define FEATURES (sizeof features / sizeof *features)

static const struct feature *find(const struct sim *s, uint32_t fid)
{
    if ((fid == SATED_NVME_FID_WRITE_CACHE && !nvme_has_cache(s)) ||
        (fid == SATED_NVME_FID_SANITIZE_CONFIG && !s->model.sanitize))
        return NULL;
    for (size_t i = 0; i < FEATURES; i++)
        if (features[i].fid == fid)
            return &features[i];
    return NULL;
}

uint32_t feature_effects(const struct sim *s, uint32_t fid)
{
    const struct feature *f = find(s, fid);
    if (!f)
        return 0;
    return 1 | (f->traits & CHANGED ? SATED_NVME_EFFECT_CTRL_CAPABILITY : 0) |
           (f->traits & BY_NAMESPACE   ? SCOPE_NAMESPACE
            : f->traits & OF_SUBSYSTEM ? SCOPE_SUBSYSTEM
                                       : SCOPE_CONTROLLER);
}

/* As it leaves the factory. */
void features_init(struct nvme_features *f)
{
    memset(f, 0, sizeof *f);
    for (size_t i = 0; i < FEATURES; i++)
        if (features[i].traits & STORED)
            f->value[features[i].value] = features[i].first;
    f->value[NVME_VALUE_OVER] = WARNING_KELVIN;
    for (uint32_t i = 1; i <= SENSORS; i++)
        f->value[NVME_VALUE_OVER + i] = 0xffff;
}

static void note_power_state(struct nvme_controller *k)
{
    uint32_t state = k->now.value[NVME_VALUE_POWER] & 31;
    if (state <= LAST_OPERATIONAL)
        k->operational = state;
}

void features_power_on(struct sim *s)
{
    for (uint32_t i = 0; i < NVME_CONTROLLERS; i++) {
        struct nvme_controller *k = &s->target.nvme.controller[i];
        k->now = k->saved;
        k->time_ms = k->time_set = 0;
        k->time_at_ms = reported_ms(s);
        k->operational = 0;
        note_power_state(k);
        for (uint32_t n = 0; n < NVME_NAMESPACES; n++)
            s->target.nvme.ns[n].error_recovery = 0;
    }
}

/* 5.27.1.4: which of the thresholds; NVME_VALUES where there is no such sensor. */
static uint32_t threshold(uint32_t sensor, uint32_t under)
{
    return sensor <= SENSORS && under < 2 ? (under ? NVME_VALUE_UNDER : NVME_VALUE_OVER) + sensor : NVME_VALUES;
}

/* ---- Get Features ---- */

/* 5.27.1.14: milliseconds 47:0, then whether they stopped (bit 0) and who set them (bits 3:1). */
static uint32_t give_time(struct nvme_call *x, bool first)
{
    const struct nvme_controller *k = own(x);
    uint64_t ms = first ? 0 : k->time_ms + (reported_ms(x->s) - k->time_at_ms);
    uint8_t data[PAGE] = {0};
    bytes_put_le64(data, (ms & 0xffffffffffff) | (uint64_t)(!first && k->time_set) << 49);
    return give(x, data, 8);
}

static uint32_t give_table(struct nvme_call *x, const struct nvme_features *from)
{
    uint8_t data[PAGE] = {0};
    for (uint32_t i = 0; i < NVME_TRANSITIONS; i++)
        bytes_put_le64(data + 8 * i, from->transition[i]);
    return give(x, data, TABLE_BYTES);
}

static uint32_t get_value(struct nvme_call *x, const struct feature *f, const struct nvme_features *from, bool first)
{
    const struct sated_nvme_command *c = x->c;
    struct nvme_namespace *ns;
    uint32_t status, at;
    switch (f->fid) {
    case SATED_NVME_FID_TEMPERATURE:
        at = threshold(c->cdw11 >> 16 & 15, c->cdw11 >> 20 & 3);
        if (at == NVME_VALUES)
            return invalid(x, DWORD(11) + 2);
        x->reply->result = from->value[at];
        return NVME_OK;
    case 0x05:
        status = c->nsid == ALL ? NVME_INVALID_NAMESPACE : namespace_active(x, c->nsid, &ns);
        if (!status)
            x->reply->result = first ? 0 : ns->error_recovery;
        return status;
    case 0x07: x->reply->result = (QUEUES - 1) << 16 | (QUEUES - 1); return NVME_OK;
    case 0x09: /* coalescing is on for no vector's sake */
        if ((c->cdw11 & 0xffff) > QUEUES)
            return invalid(x, DWORD(11));
        x->reply->result = c->cdw11 & 0xffff;
        return NVME_OK;
    case 0x0e: return give_time(x, first);
    case SATED_NVME_FID_APST: x->reply->result = from->value[f->value]; return give_table(x, from);
    default: x->reply->result = from->value[f->value]; return NVME_OK;
    }
}

uint32_t nvme_get_features(struct nvme_call *x)
{
    const struct feature *f = find(x->s, x->c->cdw10 & 0xff);
    uint32_t select = x->c->cdw10 >> 8 & 7;
    struct nvme_features first;
    if (!f)
        return invalid(x, DWORD(10));
    features_init(&first);
    bool saves = f->traits & SAVED;
    switch (select) {
    case SATED_NVME_SEL_CURRENT: return get_value(x, f, &own(x)->now, false);
    case SATED_NVME_SEL_DEFAULT: return get_value(x, f, &first, true);
    case SATED_NVME_SEL_SAVED: return get_value(x, f, saves ? &own(x)->saved : &first, true);
    case SATED_NVME_SEL_SUPPORTED: x->reply->result = f->traits & (SAVED | BY_NAMESPACE | CHANGED); return NVME_OK;
    default: return invalid(x, DWORD(10) + 1);
    }
}

/* ---- Set Features ---- */

/* 5.27.1.12: ITPT 31:8 ms until ITPS 7:3, a state that does no I/O. */
static uint32_t take_table(struct nvme_call *x, struct nvme_features *to)
{
    uint64_t table[NVME_TRANSITIONS];
    if (!x->data || x->c->data_len < TABLE_BYTES)
        return x->location = DWORD(6), NVME_DATA_TRANSFER;
    for (uint32_t i = 0; i < NVME_TRANSITIONS; i++) {
        table[i] = bytes_le64(x->data + 8 * i);
        uint32_t state = table[i] >> 3 & 31;
        if (table[i] >> 8 & 0xffffff && (state <= LAST_OPERATIONAL || state > LAST_POWER_STATE))
            return NVME_INVALID_FIELD;
    }
    memcpy(to->transition, table, sizeof table);
    return NVME_OK;
}

static uint32_t take_time(struct nvme_call *x)
{
    struct nvme_controller *k = own(x);
    if (!x->data || x->c->data_len < 8)
        return x->location = DWORD(6), NVME_DATA_TRANSFER;
    k->time_ms = bytes_le64(x->data) & 0xffffffffffff;
    k->time_at_ms = reported_ms(x->s);
    k->time_set = 1;
    return NVME_OK;
}

static uint32_t take_thresholds(struct nvme_call *x, struct nvme_features *to)
{
    uint32_t sensor = x->c->cdw11 >> 16 & 15, under = x->c->cdw11 >> 20 & 3,
             at = threshold(sensor == 15 ? 0 : sensor, under);
    if (at == NVME_VALUES)
        return invalid(x, DWORD(11) + 2);
    for (uint32_t i = 0; i <= (sensor == 15 ? SENSORS : 0); i++)
        to->value[at + i] = x->c->cdw11 & 0xffff;
    return NVME_OK;
}

static uint32_t take_error_recovery(struct nvme_call *x)
{
    struct nvme_namespace *ns;
    uint32_t nsid = x->c->nsid, status = nsid == ALL ? NVME_OK : namespace_active(x, nsid, &ns);
    for (uint32_t i = 0; !status && i < NVME_NAMESPACES; i++) {
        struct nvme_namespace *each = &x->n->ns[i];
        if (nsid == ALL ? each->attached >> x->controller & 1 : each == ns)
            each->error_recovery = x->c->cdw11;
    }
    return status;
}

/* 5.27.1.16: two steps, the first one lower; 0 is none. */
static bool are_steps(uint32_t first, uint32_t second)
{
    uint32_t least = THERMAL_LEAST_KELVIN, most = CRITICAL_KELVIN;
    return (!first || (first >= least && first <= most)) && (!second || (second >= least && second <= most)) &&
           (!first || !second || first < second);
}

static uint32_t set_value(struct nvme_call *x, const struct feature *f, struct nvme_features *to)
{
    uint32_t d = x->c->cdw11;
    switch (f->fid) {
    case SATED_NVME_FID_POWER:
        if ((d & 31) > LAST_POWER_STATE)
            return invalid(x, DWORD(11));
        break;
    case SATED_NVME_FID_TEMPERATURE: return take_thresholds(x, to);
    case 0x05: return take_error_recovery(x);
    case 0x07: return NVME_SEQUENCE; /* 5.27.1.5: queues were made */
    case 0x0e: return take_time(x);
    case 0x10:
        if (!are_steps(d >> 16, d & 0xffff))
            return invalid(x, DWORD(11));
        break;
    case SATED_NVME_FID_APST: {
        uint32_t status = take_table(x, to);
        if (status)
            return status;
        break;
    }
    default: break;
    }
    to->value[f->value] = d;
    return NVME_OK;
}

uint32_t nvme_set_features(struct nvme_call *x)
{
    const struct sated_nvme_command *c = x->c;
    const struct feature *f = find(x->s, c->cdw10 & 0xff);
    bool save = c->cdw10 >> 31;
    if (!f)
        return invalid(x, DWORD(10));
    if (save && !(f->traits & SAVED))
        return NVME_NOT_SAVEABLE;
    if (!(f->traits & CHANGED))
        return NVME_NOT_CHANGEABLE;
    if (c->nsid && c->nsid != ALL && !(f->traits & BY_NAMESPACE))
        return NVME_NOT_NAMESPACE_SPECIFIC;
    if (c->cdw11 & ~f->bits)
        return invalid(x, DWORD(11));
    uint32_t status = set_value(x, f, &own(x)->now);
    /* The marker of a loader's progress stays whether it is saved or not (5.27.1.22). */
    if (!status && (save || f->fid == FID_MARKER))
        status = set_value(x, f, &own(x)->saved);
    for (uint32_t i = 0; !status && f->traits & OF_SUBSYSTEM && i < NVME_CONTROLLERS; i++) {
        x->n->controller[i].now.value[f->value] = own(x)->now.value[f->value];
        x->n->controller[i].saved.value[f->value] = own(x)->saved.value[f->value];
    }
    note_power_state(own(x));
    target_changed(x->s);
    return status;
}
