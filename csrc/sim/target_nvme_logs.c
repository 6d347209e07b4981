/* SPDX-License-Identifier: MIT */
/* Get Log Page (5.16.1). */
#include <string.h>

#include "sim/target_nvme_inside.h"

#define SPARE_THRESHOLD 10
#define KELVIN 273
#define BLOCK 512 /* of a telemetry log */

/* Room for the longest one, and its length. */
struct page {
    uint8_t data[PAGE];
    uint32_t bytes;
};

static uint64_t in_units(uint64_t bytes, uint64_t unit)
{
    return bytes / unit + (bytes % unit != 0);
}

static uint32_t kelvin(const struct sim *s)
{
    return target_temperature_c(s) + KELVIN;
}

/* ---- 00h, 05h, 12h: what there is ---- */

static const uint8_t logs[] = {SATED_NVME_LID_SUPPORTED,
                               SATED_NVME_LID_ERROR,
                               SATED_NVME_LID_SMART,
                               SATED_NVME_LID_FIRMWARE,
                               SATED_NVME_LID_CHANGED_NS,
                               SATED_NVME_LID_EFFECTS,
                               SATED_NVME_LID_SELF_TEST,
                               SATED_NVME_LID_TELEMETRY_HOST,
                               SATED_NVME_LID_TELEMETRY_CTRL,
                               SATED_NVME_LID_ENDURANCE_GROUP,
                               0x12 /* features and effects */,
                               0x13 /* management commands */,
                               SATED_NVME_LID_SANITIZE,
                               SATED_NVME_LID_OCP_SMART};

static bool has_log(const struct sim *s, uint32_t lid)
{
    return lid == SATED_NVME_LID_SANITIZE ? s->model.sanitize != 0 : memchr(logs, (int)lid, sizeof logs) != NULL;
}

static void put_supported(const struct sim *s, struct page *p)
{
    p->bytes = 1024;
    for (uint32_t lid = 0; lid < 256; lid++)
        bytes_put_le32(p->data + 4 * lid, has_log(s, lid));
}

static void put_effects(const struct sim *s, struct page *p)
{
    p->bytes = PAGE;
    for (uint32_t i = 0; i < 256; i++) {
        bytes_put_le32(p->data + 4 * i, admin_effects((uint8_t)i));
        bytes_put_le32(p->data + 1024 + 4 * i, io_effects((uint8_t)i));
    }
    if (!s->model.sanitize)
        bytes_put_le32(p->data + 4 * SATED_NVME_ADMIN_SANITIZE, 0);
}

static void put_feature_effects(const struct sim *s, struct page *p)
{
    p->bytes = 1024;
    for (uint32_t fid = 0; fid < 256; fid++)
        bytes_put_le32(p->data + 4 * fid, feature_effects(s, fid));
}

/* ---- 01h: errors ---- */

static void put_errors(const struct nvme_call *x, struct page *p)
{
    const struct nvme_controller *k = own(x);
    uint64_t number = k->errors;
    p->bytes = 64 * NVME_ERRORS;
    for (uint32_t i = 0; i < NVME_ERRORS && number > k->old_errors; i++, number--) {
        const struct nvme_error *e = &k->error[(number - 1) % NVME_ERRORS];
        uint8_t *out = p->data + 64 * i;
        bytes_put_le64(out, number);
        bytes_put_le16(out + 8, e->queue);
        bytes_put_le16(out + 10, (uint16_t)number & 0x3ff); /* as drivers number them: over and over */
        bytes_put_le16(out + 12, (uint16_t)(e->status << 1));
        bytes_put_le16(out + 14, e->location);
        bytes_put_le64(out + 16, operation_sanitizes(x->s) ? 0 : e->lba);
        bytes_put_le32(out + 24, e->nsid);
        bytes_put_le64(out + 32, e->specific);
    }
}

/* ---- 02h, 09h, C0h: health ---- */

/* 5.16.1.3: above one threshold or below the other, of any sensor. */
static bool too_hot_or_cold(const struct nvme_call *x)
{
    const uint32_t *v = own(x)->now.value;
    uint32_t k = kelvin(x->s);
    bool warns = false;
    for (uint32_t i = 0; i <= SENSORS; i++)
        warns |= k >= v[NVME_VALUE_OVER + i] || k <= v[NVME_VALUE_UNDER + i];
    return warns;
}

/* Of the flash, bits as in the health log and that of the endurance group. */
static uint8_t warnings(const struct sim *s)
{
    uint8_t w = target_spare_percent(s) < SPARE_THRESHOLD ? SATED_NVME_WARNING_SPARE : 0;
    if (s->ftl.lost || target_failed_dies(s))
        w |= SATED_NVME_WARNING_RELIABILITY;
    return (uint8_t)(w | (s->ftl.sick & SICK_READ_ONLY ? SATED_NVME_WARNING_READ_ONLY : 0));
}

static void put_smart(const struct nvme_call *x, struct page *p)
{
    const struct sim *s = x->s;
    struct life life;
    uint8_t *out = p->data;
    sim_get_life(s, &life);
    p->bytes = 512;
    out[0] = (uint8_t)((too_hot_or_cold(x) ? SATED_NVME_WARNING_TEMPERATURE : 0) | warnings(s));
    bytes_put_le16(out + 1, (uint16_t)kelvin(s));
    out[3] = (uint8_t)target_spare_percent(s);
    out[4] = SPARE_THRESHOLD;
    out[5] = (uint8_t)target_used_percent(s);
    bytes_put_le64(out + 32, in_units(target_life_read_bytes(s), 512000));
    bytes_put_le64(out + 48, in_units(target_life_written_bytes(s), 512000));
    bytes_put_le64(out + 64, life.read_commands * s->model.scale);
    bytes_put_le64(out + 80, life.write_commands * s->model.scale);
    bytes_put_le64(out + 112, s->target.power_cycles);
    bytes_put_le64(out + 128, target_hours(s));
    bytes_put_le64(out + 144, s->target.unsafe_shutdowns);
    bytes_put_le64(out + 160, x->n->media_errors);
    bytes_put_le64(out + 176, own(x)->errors);
    for (uint32_t i = 0; i < SENSORS; i++)
        bytes_put_le16(out + 200 + 2 * i, (uint16_t)kelvin(s));
}

/* 5.16.1.10: units of 10^9 bytes. */
static uint32_t put_group(struct nvme_call *x, struct page *p)
{
    const struct sim *s = x->s;
    struct life life;
    uint8_t *out = p->data;
    if (x->c->cdw11 >> 16 != ENDURANCE_GROUP)
        return invalid(x, DWORD(11) + 2);
    sim_get_life(s, &life);
    p->bytes = 512;
    out[0] = warnings(s);
    out[3] = (uint8_t)target_spare_percent(s);
    out[4] = SPARE_THRESHOLD;
    out[5] = (uint8_t)target_used_percent(s);
    /* What it endures by the erases of its blocks, without write amplification. */
    uint64_t endured = sim_native_capacity(s) * s->model.scale / 1000 * s->model.endurance / 1000000;
    bytes_put_le64(out + 32, endured);
    bytes_put_le64(out + 48, in_units(target_life_read_bytes(s), 1000000000));
    bytes_put_le64(out + 64, in_units(target_life_written_bytes(s), 1000000000));
    bytes_put_le64(out + 80, in_units(target_life_programmed_bytes(s), 1000000000));
    bytes_put_le64(out + 96, life.read_commands * s->model.scale);
    bytes_put_le64(out + 112, life.write_commands * s->model.scale);
    bytes_put_le64(out + 128, x->n->media_errors);
    bytes_put_le64(out + 144, x->n->controller[0].errors + x->n->controller[1].errors);
    bytes_put_le64(out + 160, sim_native_capacity(s));
    bytes_put_le64(out + 176, free_bytes(s));
    return NVME_OK;
}

/* OCP Datacenter NVMe SSD 2.0, 4.8.6. */
static void put_ocp(const struct nvme_call *x, struct page *p)
{
    static const uint8_t guid[16] = {0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4,
                                     0x9c, 0x4f, 0x6f, 0x7c, 0xc9, 0x14, 0xd5, 0xaf};
    const struct sim *s = x->s;
    uint8_t *out = p->data;
    uint64_t blocks = 0;
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < s->ftl.blocks; i++) {
        if (s->ftl.state[i] >= BLOCK_SPARE)
            continue;
        least = s->ftl.wear[i] < least ? s->ftl.wear[i] : least;
        most = s->ftl.wear[i] > most ? s->ftl.wear[i] : most;
    }
    for (uint32_t i = 0; i < s->ftl.domains; i++)
        blocks += s->ftl.domain[i].free_blocks;
    p->bytes = 512;
    bytes_put_le64(out, target_life_programmed_bytes(s));
    bytes_put_le64(out + 32, target_grown_bad(s) & 0xffffffffffff);
    bytes_put_le16(out + 38, (uint16_t)target_spare_percent(s));
    bytes_put_le16(out + 46, 100);
    bytes_put_le64(out + 56, x->n->media_errors);
    out[80] = (uint8_t)target_used_percent(s);
    bytes_put_le32(out + 88, most);
    bytes_put_le32(out + 92, least);
    out[103] = 2; /* of the specification */
    bytes_put_le32(out + 112, (uint32_t)s->target.unsafe_shutdowns);
    out[120] = (uint8_t)(blocks * 100 / s->ftl.blocks);
    bytes_put_le16(out + 128, s->model.capacitors ? 100 : 0xffff);
    bytes_put_le64(out + 152, s->ftl.mapped * s->model.unit_bytes / 512);
    bytes_put_le64(out + 176,
                   sim_native_capacity(s) * s->model.scale / 1000 * s->model.endurance / 1000000 * 1000000000);
    bytes_put_le16(out + 494, 3);
    memcpy(out + 496, guid, sizeof guid);
}

/* ---- 03h, 04h ---- */

static void put_firmware(const struct sim *s, struct page *p)
{
    p->bytes = 512;
    p->data[0] = 1; /* slot 1 runs */
    target_put_text(p->data + 8, 8, s->model.firmware);
}

/* 5.16.1.5: since the log was read; the event stays with RAE. */
static void put_changed(struct nvme_call *x, struct page *p)
{
    uint8_t *out = p->data;
    p->bytes = PAGE;
    for (uint32_t i = 0; i < NVME_NAMESPACES; i++)
        if (own(x)->changed >> i & 1) {
            bytes_put_le32(out, i + 1);
            out += 4;
        }
    if (!(x->c->cdw10 & 0x8000) && own(x)->changed) {
        own(x)->changed = 0;
        target_changed(x->s);
    }
}

/* ---- 06h: self-tests ---- */

static void put_self_tests(const struct nvme_call *x, struct page *p)
{
    const struct nvme_state *n = x->n;
    const struct operation *o = &x->s->target.operation;
    uint64_t number = n->self_tests;
    p->bytes = 4 + 28 * NVME_SELF_TESTS;
    if (o->kind == OPERATION_SELF_TEST) {
        p->data[0] = (uint8_t)o->argument[0];
        p->data[1] = (uint8_t)(operation_progress(x->s) * 100 / 65536);
    }
    for (uint32_t i = 0; i < NVME_SELF_TESTS; i++) {
        uint8_t *out = p->data + 4 + 28 * i;
        if (!number) {
            out[0] = 15; /* not used */
            continue;
        }
        const struct nvme_self_test *t = &n->self_test[(number-- - 1) % NVME_SELF_TESTS];
        out[0] = (uint8_t)(t->code << 4 | (t->result & 15));
        out[1] = t->segment;
        out[2] = t->nsid != 0;
        bytes_put_le64(out + 4, t->hours);
        bytes_put_le32(out + 12, t->nsid);
    }
}

/* ---- 07h, 08h: telemetry, 5.16.1.8 and 9 ---- */

/* One block in area 1: the counters behind the SMART log, as the maker's engineers would get them. */
static uint32_t put_telemetry(struct nvme_call *x, struct page *p, uint32_t lid)
{
    uint8_t *out = p->data;
    struct life life;
    if (x->c->cdw12 % BLOCK)
        return invalid(x, DWORD(12));
    p->bytes = 2 * BLOCK;
    if (lid == SATED_NVME_LID_TELEMETRY_HOST && x->c->cdw10 >> 8 & 1) {
        own(x)->telemetry++;
        target_changed(x->s);
    }
    out[0] = (uint8_t)lid;
    bytes_put_le16(out + 5, 0x71d0);
    out[7] = 0x5a;
    for (int area = 8; area <= 12; area += 2)
        bytes_put_le16(out + area, 1);
    if (lid == SATED_NVME_LID_TELEMETRY_HOST)
        out[381] = (uint8_t)own(x)->telemetry;
    sim_get_life(x->s, &life);
    bytes_put_le64(out + BLOCK, life.read_commands);
    bytes_put_le64(out + BLOCK + 8, life.write_commands);
    bytes_put_le64(out + BLOCK + 16, life.placed_units);
    bytes_put_le64(out + BLOCK + 24, life.moved_units);
    bytes_put_le64(out + BLOCK + 32, life.erased_blocks);
    return NVME_OK;
}

/* ---- 81h: sanitize, 5.16.1.25 ---- */

static void put_sanitize(const struct nvme_call *x, struct page *p)
{
    const struct sim *s = x->s;
    const struct nvme_state *n = x->n;
    const struct operation *o = &s->target.operation;
    uint32_t progress = operation_sanitizes(s) ? operation_progress(s) : 0xffff, passes = (uint32_t)n->sanitize_passes;
    if (o->kind == OPERATION_SANITIZE_OVERWRITE) {
        uint32_t all = n->sanitize_command >> 4 & 15;
        passes = progress * (all ? all : 16) / 65536;
    }
    p->bytes = 512;
    bytes_put_le16(p->data, (uint16_t)progress);
    bytes_put_le16(p->data + 2, (uint16_t)(n->sanitize_status | passes << 3 | (nothing_written(s) ? 0x100 : 0)));
    bytes_put_le32(p->data + 4, (uint32_t)n->sanitize_command);
    /* One pass of overwriting, block erase, crypto erase; then the same without deallocation, which takes no longer. */
    static const uint32_t sanacts[] = {SATED_NVME_SANACT_OVERWRITE, SATED_NVME_SANACT_BLOCK_ERASE,
                                       SATED_NVME_SANACT_CRYPTO_ERASE};
    static const uint32_t able[] = {SATED_NVME_SANICAP_OVERWRITE, SATED_NVME_SANICAP_BLOCK, SATED_NVME_SANICAP_CRYPTO};
    for (uint32_t i = 0; i < 6; i++) {
        int64_t ns = sanitize_ns(s, sanacts[i % 3], 1);
        uint64_t seconds = in_units((uint64_t)ns * s->model.scale, 1000000000);
        bytes_put_le32(p->data + 8 + 4 * i, s->model.sanitize & able[i % 3] ? (uint32_t)seconds : UINT32_MAX);
    }
}

/* ---- The command ---- */

static uint32_t fill(struct nvme_call *x, struct page *p)
{
    uint32_t lid = x->c->cdw10 & 0xff;
    switch (lid) {
    case SATED_NVME_LID_SUPPORTED: put_supported(x->s, p); break;
    case SATED_NVME_LID_ERROR: put_errors(x, p); break;
    case SATED_NVME_LID_SMART: put_smart(x, p); break;
    case SATED_NVME_LID_FIRMWARE: put_firmware(x->s, p); break;
    case SATED_NVME_LID_CHANGED_NS: put_changed(x, p); break;
    case SATED_NVME_LID_EFFECTS: put_effects(x->s, p); break;
    case SATED_NVME_LID_SELF_TEST: put_self_tests(x, p); break;
    case SATED_NVME_LID_TELEMETRY_HOST:
    case SATED_NVME_LID_TELEMETRY_CTRL: return put_telemetry(x, p, lid);
    case SATED_NVME_LID_ENDURANCE_GROUP: return put_group(x, p);
    case 0x12: put_feature_effects(x->s, p); break;
    case 0x13: p->bytes = PAGE; break; /* none come over this way */
    case SATED_NVME_LID_SANITIZE: put_sanitize(x, p); break;
    default: put_ocp(x, p); break;
    }
    return NVME_OK;
}

uint32_t nvme_get_log(struct nvme_call *x)
{
    const struct sated_nvme_command *c = x->c;
    struct page p = {.bytes = 0};
    uint8_t part[PAGE] = {0};
    uint64_t offset = (uint64_t)c->cdw13 << 32 | c->cdw12,
             wanted = 4 * ((uint64_t)(c->cdw11 & 0xffff) << 16 | c->cdw10 >> 16) + 4;
    uint32_t lid = c->cdw10 & 0xff, uuid = c->cdw14 & 0x7f;
    if (!has_log(x->s, lid))
        return x->location = DWORD(10), NVME_INVALID_LOG;
    if (c->nsid && c->nsid != ALL) /* each is the controller's or the subsystem's */
        return invalid(x, DWORD(1));
    if (c->cdw14 >> 24 || c->cdw14 >> 23 & 1 || uuid > 1 || (uuid && lid != SATED_NVME_LID_OCP_SMART))
        return invalid(x, DWORD(14));
    if (offset % 4)
        return invalid(x, DWORD(12));
    uint32_t status = fill(x, &p);
    if (status)
        return status;
    if (offset > p.bytes)
        return invalid(x, DWORD(12));
    memcpy(part, p.data + offset, p.bytes - offset);
    return give(x, part, wanted < PAGE ? (uint32_t)wanted : PAGE);
}
