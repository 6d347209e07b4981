/* SPDX-License-Identifier: MIT */
/* Identify (5.17, NVM 4.1.5). */
#include <stdio.h>
#include <string.h>

#include "core/random.h"
#include "sim/target_nvme_inside.h"

#define OUI 0x5a71d0     /* which no maker has */
#define VENDOR 0x5a71    /* of PCI; likewise */
#define VERSION 0x020000 /* 2.0 */
#define TRANSFER_PAGES 8 /* 1 MiB: 2^8 pages */

#define CTRATT_PERMISSIVE 0x2
#define CTRATT_ENDURANCE_GROUPS 0x10
#define CTRATT_GRANULARITY 0x80
#define CTRATT_UUID_LIST 0x200

uint64_t free_bytes(const struct sim *s)
{
    uint64_t bytes = sim_native_capacity(s);
    for (uint32_t i = 0; i < NVME_NAMESPACES; i++)
        bytes -= s->target.nvme.ns[i].held_bytes;
    return bytes;
}

/* Looked for unit by unit only where it is not the only namespace. */
uint64_t used_units(const struct sim *s, const struct nvme_namespace *ns)
{
    uint64_t unit = s->model.unit_bytes, n = 0;
    if (free_bytes(s) + ns->held_bytes == sim_native_capacity(s))
        return s->ftl.mapped;
    for (uint64_t at = 0; at < ns->held_bytes; at += unit)
        n += media_is_mapped(s, ns->base_bytes + at);
    return n;
}

static void put_uuid(const struct sim *s, uint64_t number, uint8_t out[16])
{
    struct random r;
    random_seed(&r, s->model.seed, 1000 + number);
    bytes_put_be64(out, (random_next(&r) & ~0xf000ULL) | 0x4000); /* RFC 9562: version 4 */
    bytes_put_be64(out + 8, random_next(&r) >> 2 | 1ULL << 63);
}

/* ---- Controller ---- */

/* 5.17.2.1, figure 276. Watts x 100; states above LAST_OPERATIONAL do no I/O. */
static void put_power_states(uint8_t *p)
{
    static const struct {
        uint16_t most_cw;
        uint32_t enter_us, leave_us;
        uint8_t rank;
        uint16_t idle_cw, active_cw;
    } states[LAST_POWER_STATE + 1] = {{1200, 0, 0, 0, 350, 1000},
                                      {900, 0, 0, 1, 350, 850},
                                      {700, 0, 0, 2, 350, 650},
                                      {250, 5000, 10000, 3, 200, 0}};
    for (uint32_t i = 0; i <= LAST_POWER_STATE; i++, p += 32) {
        bytes_put_le16(p, states[i].most_cw);
        p[3] = i > LAST_OPERATIONAL ? 2 : 0;
        bytes_put_le32(p + 4, states[i].enter_us);
        bytes_put_le32(p + 8, states[i].leave_us);
        memset(p + 12, states[i].rank, 4);
        bytes_put_le16(p + 16, states[i].idle_cw);
        p[18] = 0x80; /* in 0.01 W */
        bytes_put_le16(p + 20, states[i].active_cw);
        p[22] = states[i].active_cw ? 0x82 : 0; /* likewise, of workload 2 */
    }
}

static void put_name(const struct sim *s, char *out)
{
    uint8_t uuid[16];
    char *at = out;
    put_uuid(s, 0, uuid);
    at += sprintf(at, "nqn.2014-08.org.nvmexpress:uuid:");
    for (int i = 0; i < 16; i++)
        at += sprintf(at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

static void put_controller(const struct nvme_call *x, uint8_t *p)
{
    const struct sim *s = x->s;
    const struct model *m = &s->model;
    char serial[20];
    target_serial(s, serial);
    bytes_put_le16(p, VENDOR);
    bytes_put_le16(p + 2, VENDOR);
    target_put_text(p + 4, 20, serial);
    target_put_text(p + 24, 40, m->product);
    target_put_text(p + 64, 8, m->firmware);
    p[73] = OUI & 0xff;
    p[74] = OUI >> 8 & 0xff;
    p[75] = OUI >> 16;
    p[76] = 3; /* CMIC: several ports and controllers */
    p[77] = TRANSFER_PAGES;
    bytes_put_le16(p + 78, (uint16_t)(x->controller + 1));
    bytes_put_le32(p + 80, VERSION);
    bytes_put_le32(p + 92, SATED_NVME_OAES_NS_CHANGE);
    bytes_put_le32(p + 96, CTRATT_PERMISSIVE | CTRATT_ENDURANCE_GROUPS | CTRATT_GRANULARITY | CTRATT_UUID_LIST);
    p[111] = 1; /* an I/O controller */
    p[253] = 1; /* NVMSR: of a storage device */
    bytes_put_le16(p + 256, SATED_NVME_OACS_FORMAT | SATED_NVME_OACS_NS_MANAGEMENT | SATED_NVME_OACS_SELF_TEST);
    p[258] = 3; /* ACL, AERL: four of each */
    p[259] = 3;
    p[260] = 3; /* FRMW: one slot, read only */
    p[261] = SATED_NVME_LPA_EFFECTS | SATED_NVME_LPA_EXTENDED | SATED_NVME_LPA_TELEMETRY | SATED_NVME_LPA_SCOPE;
    p[262] = NVME_ERRORS - 1;
    p[263] = LAST_POWER_STATE;
    p[265] = 1; /* APSTA */
    bytes_put_le16(p + 266, WARNING_KELVIN);
    bytes_put_le16(p + 268, CRITICAL_KELVIN);
    bytes_put_le64(p + 280, sim_native_capacity(s));
    bytes_put_le64(p + 296, free_bytes(s));
    bytes_put_le16(p + 316, EXTENDED_MINUTES);
    p[318] = 1;                 /* DSTO: one test at a time in the subsystem */
    bytes_put_le16(p + 322, 1); /* HCTMA */
    bytes_put_le16(p + 324, THERMAL_LEAST_KELVIN);
    bytes_put_le16(p + 326, CRITICAL_KELVIN);
    /* NODMMAS 01b: nothing is modified after a sanitize without deallocation. */
    bytes_put_le32(p + 328,
                   m->sanitize ? (uint32_t)m->sanitize | (m->inhibit ? SATED_NVME_SANICAP_NDI : 0) | 1u << 30 : 0);
    bytes_put_le16(p + 340, ENDURANCE_GROUP); /* ENDGIDMAX */
    p[512] = 0x66;
    p[513] = 0x44;
    bytes_put_le32(p + 516, NVME_NAMESPACES);
    bytes_put_le16(p + 520, SATED_NVME_ONCS_COMPARE | SATED_NVME_ONCS_WRITE_UNCORRECTABLE | SATED_NVME_ONCS_DSM |
                                SATED_NVME_ONCS_WRITE_ZEROES | SATED_NVME_ONCS_SAVE_SELECT | SATED_NVME_ONCS_TIMESTAMP |
                                SATED_NVME_ONCS_VERIFY);
    p[524] = (uint8_t)m->fna;
    p[525] = SATED_NVME_VWC_FLUSH_ALL | (nvme_has_cache(s) ? SATED_NVME_VWC_PRESENT : 0);
    bytes_put_le32(p + 540, NVME_NAMESPACES); /* MNAN */
    put_name(s, (char *)p + 768);
    put_power_states(p + 2048);
}

/* ---- Namespaces ---- */

/* What any namespace has: the answer for FFFFFFFFh, too. */
static void put_common(const struct sim *s, uint32_t format, uint8_t *p)
{
    uint32_t unit = (uint32_t)(s->model.unit_bytes >> format_shift(format));
    uint16_t blocks = (uint16_t)(unit ? unit - 1 : 0);
    p[24] = 0x10; /* NSFEAT: the preferred sizes are told */
    p[25] = FORMATS - 1;
    p[33] = 9;                       /* DLFEAT: deallocated blocks read as zeros, and Write Zeroes deallocates */
    for (int i = 64; i < 72; i += 2) /* NPWG, NPWA, NPDG, NPDA */
        bytes_put_le16(p + i, blocks);
    for (uint32_t i = 0; i < FORMATS; i++) {
        p[128 + 4 * i + 2] = (uint8_t)format_shift(i);
        p[128 + 4 * i + 3] = format_shift(i) < 12 ? 2 : 0; /* RP: good, best */
    }
}

static void put_eui64(const struct sim *s, const struct nvme_namespace *ns, uint8_t out[8])
{
    bytes_put_be64(out, (uint64_t)OUI << 40 | (target_wwn(s) & 0xffffff) << 16 | (ns->number & 0xffff));
}

static void put_nguid(const struct sim *s, const struct nvme_namespace *ns, uint8_t out[16])
{
    bytes_put_be64(out, target_wwn(s) << 16 | (ns->number & 0xffff)); /* the maker's extension */
    put_eui64(s, ns, out + 8);
}

static uint8_t format_remaining(const struct sim *s, const struct nvme_namespace *ns)
{
    const struct operation *o = &s->target.operation;
    bool formats = o->kind == OPERATION_FORMAT && o->argument[0] >> (ns - s->target.nvme.ns) & 1;
    return (uint8_t)(0x80 | (formats ? 100 - operation_progress(s) * 100 / 65536 : 0));
}

static void put_namespace(const struct sim *s, const struct nvme_namespace *ns, uint8_t *p)
{
    uint32_t shift = format_shift(ns->format);
    uint64_t blocks = namespace_blocks(ns), used = used_units(s, ns) * s->model.unit_bytes >> shift;
    put_common(s, ns->format, p);
    bytes_put_le64(p, blocks);
    bytes_put_le64(p + 8, blocks);
    bytes_put_le64(p + 16, used < blocks ? used : blocks);
    p[26] = (uint8_t)ns->format;
    p[30] = (uint8_t)ns->shared;
    p[32] = format_remaining(s, ns); /* FPI */
    bytes_put_le64(p + 48, ns->held_bytes);
    bytes_put_le16(p + 102, ENDURANCE_GROUP);
    put_nguid(s, ns, p + 104);
    put_eui64(s, ns, p + 120);
}

/* An inactive one is all zeros (5.17.2.2); `allocated`: whether it is attached does not matter. */
static uint32_t identify_namespace(struct nvme_call *x, uint8_t *p, bool allocated)
{
    uint32_t nsid = x->c->nsid;
    const struct nvme_namespace *ns = namespace_at(x->n, nsid);
    if (nsid == ALL && !allocated)
        return put_common(x->s, 0, p), NVME_OK;
    if (!nsid || nsid > NVME_NAMESPACES)
        return x->location = DWORD(1), NVME_INVALID_NAMESPACE;
    if (ns && (allocated || ns->attached >> x->controller & 1))
        put_namespace(x->s, ns, p);
    return NVME_OK;
}

/* 5.17.2.8 (CNS 08h): what does not depend on the command set. */
static uint32_t identify_independent(struct nvme_call *x, uint8_t *p)
{
    struct nvme_namespace *ns;
    uint32_t status = namespace_active(x, x->c->nsid, &ns);
    if (status)
        return status;
    p[1] = (uint8_t)ns->shared;
    p[3] = format_remaining(x->s, ns);
    bytes_put_le16(p + 12, ENDURANCE_GROUP);
    p[14] = !ns->broken; /* NSTAT: ready */
    return NVME_OK;
}

static uint8_t *descriptor(uint8_t *p, uint8_t type, uint8_t bytes)
{
    p[0] = type;
    p[1] = bytes;
    return p + 4;
}

/* 5.17.2.3. */
static uint32_t identify_descriptors(struct nvme_call *x, uint8_t *p)
{
    struct nvme_namespace *ns;
    uint32_t status = namespace_active(x, x->c->nsid, &ns);
    if (status)
        return status;
    put_eui64(x->s, ns, descriptor(p, 1, 8));
    put_nguid(x->s, ns, descriptor(p + 12, 2, 16));
    put_uuid(x->s, ns->number, descriptor(p + 32, 3, 16));
    *descriptor(p + 52, 4, 1) = 0; /* the NVM command set */
    return NVME_OK;
}

/* ---- Lists ---- */

static uint32_t list_namespaces(struct nvme_call *x, uint8_t *p, bool allocated)
{
    if (x->c->nsid >= ALL - 1)
        return x->location = DWORD(1), NVME_INVALID_NAMESPACE;
    for (uint32_t i = 0; i < NVME_NAMESPACES; i++) {
        const struct nvme_namespace *ns = &x->n->ns[i];
        if (i + 1 > x->c->nsid && ns->held_bytes && (allocated || ns->attached >> x->controller & 1)) {
            bytes_put_le32(p, i + 1);
            p += 4;
        }
    }
    return NVME_OK;
}

/* 4.4.1, from an identifier on. */
static uint32_t list_controllers(const struct nvme_call *x, uint8_t *p, uint32_t set)
{
    uint16_t n = 0;
    for (uint32_t id = 1; id <= NVME_CONTROLLERS; id++)
        if (set >> (id - 1) & 1 && id >= x->c->cdw10 >> 16)
            bytes_put_le16(p + 2 + 2 * n++, (uint16_t)id);
    bytes_put_le16(p, n);
    return NVME_OK;
}

static uint32_t list_attached(struct nvme_call *x, uint8_t *p)
{
    const struct nvme_namespace *ns = namespace_at(x->n, x->c->nsid);
    if (!x->c->nsid || x->c->nsid > NVME_NAMESPACES)
        return x->location = DWORD(1), NVME_INVALID_NAMESPACE;
    return ns ? list_controllers(x, p, ns->attached) : invalid(x, DWORD(1));
}

/* NVM 4.1.5.6: one granularity for all formats. */
static uint32_t identify_granularity(const struct sim *s, uint8_t *p)
{
    bytes_put_le64(p + 32, chunk_bytes(s));
    bytes_put_le64(p + 40, chunk_bytes(s));
    return NVME_OK;
}

/* 5.17.2.13: the one under which log C0h is OCP's (Datacenter NVMe SSD 2.0, 4.8.1). */
static uint32_t identify_uuids(uint8_t *p)
{
    static const uint8_t ocp[16] = {0xc1, 0x94, 0xd5, 0x5b, 0xe0, 0x94, 0x47, 0x94,
                                    0xa2, 0x1d, 0x29, 0x99, 0x8f, 0x56, 0xbe, 0x6f};
    memcpy(p + 32 + 16, ocp, sizeof ocp);
    return NVME_OK;
}

static uint32_t list_groups(const struct nvme_call *x, uint8_t *p)
{
    if ((x->c->cdw11 & 0xffff) <= ENDURANCE_GROUP) {
        bytes_put_le16(p, 1);
        bytes_put_le16(p + 2, ENDURANCE_GROUP);
    }
    return NVME_OK;
}

/* Those that depend on a command set, of which there is only the first, NVM. */
static uint32_t fill_by_set(struct nvme_call *x, uint8_t *p)
{
    struct nvme_namespace *ns;
    if (x->c->cdw11 >> 24)
        return invalid(x, DWORD(11) + 3);
    switch (x->c->cdw10 & 0xff) {
    case SATED_NVME_CNS_CSI_NS: /* of protection information and extended formats, which there are none of */
        return x->c->nsid == ALL ? NVME_OK : namespace_active(x, x->c->nsid, &ns);
    case SATED_NVME_CNS_CSI_CTRL: return NVME_OK; /* no limits but MDTS */
    case SATED_NVME_CNS_CSI_NS_LIST: return list_namespaces(x, p, false);
    case SATED_NVME_CNS_CSI_ALLOCATED_LIST: return list_namespaces(x, p, true);
    default: return invalid(x, DWORD(10));
    }
}

static uint32_t fill(struct nvme_call *x, uint8_t *p)
{
    switch (x->c->cdw10 & 0xff) {
    case SATED_NVME_CNS_NS: return identify_namespace(x, p, false);
    case SATED_NVME_CNS_CTRL: return put_controller(x, p), NVME_OK;
    case SATED_NVME_CNS_NS_LIST: return list_namespaces(x, p, false);
    case SATED_NVME_CNS_NS_DESCS: return identify_descriptors(x, p);
    case SATED_NVME_CNS_INDEPENDENT_NS: return identify_independent(x, p);
    case SATED_NVME_CNS_ALLOCATED_LIST: return list_namespaces(x, p, true);
    case SATED_NVME_CNS_ALLOCATED_NS: return identify_namespace(x, p, true);
    case SATED_NVME_CNS_NS_CTRL_LIST: return list_attached(x, p);
    case SATED_NVME_CNS_CTRL_LIST: return list_controllers(x, p, (1u << NVME_CONTROLLERS) - 1);
    case SATED_NVME_CNS_NS_GRANULARITY: return identify_granularity(x->s, p);
    case SATED_NVME_CNS_UUID_LIST: return identify_uuids(p);
    case SATED_NVME_CNS_ENDURANCE_GROUP_LIST: return list_groups(x, p);
    default: return fill_by_set(x, p);
    }
}

uint32_t nvme_identify(struct nvme_call *x)
{
    uint8_t page[PAGE] = {0};
    uint32_t status = fill(x, page);
    return status ? status : give(x, page, sizeof page);
}
