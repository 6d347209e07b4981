/* SPDX-License-Identifier: MIT */
/* Namespace Management and Attachment (5.22, 5.23). Each namespace has a stretch of the medium to itself. */
#include "sim/target_nvme_inside.h"

#define CHUNKS 1024 /* at least so many of them; 1 GiB each on a drive of 2 TB */

uint64_t chunk_bytes(const struct sim *s)
{
    uint64_t bytes = s->model.unit_bytes;
    while (bytes * 2 * CHUNKS <= sim_native_capacity(s))
        bytes *= 2;
    return bytes;
}

/* The end of the namespace that covers a place, or the place itself. */
static uint64_t beyond(const struct nvme_state *n, uint64_t place)
{
    for (uint32_t i = 0; i < NVME_NAMESPACES; i++)
        if (place - n->ns[i].base_bytes < n->ns[i].held_bytes)
            return n->ns[i].base_bytes + n->ns[i].held_bytes;
    return place;
}

static uint64_t gap(const struct sim *s, uint64_t place)
{
    uint64_t end = sim_native_capacity(s);
    for (uint32_t i = 0; i < NVME_NAMESPACES; i++) {
        const struct nvme_namespace *ns = &s->target.nvme.ns[i];
        if (ns->held_bytes && ns->base_bytes >= place && ns->base_bytes < end)
            end = ns->base_bytes;
    }
    return end - place;
}

/* First fit. The last chunk of the drive may be a shorter one. */
static bool find_room(const struct sim *s, uint64_t bytes, struct nvme_namespace *out)
{
    uint64_t chunk = chunk_bytes(s), whole = (bytes + chunk - 1) / chunk * chunk;
    for (uint64_t place = 0; place < sim_native_capacity(s);) {
        uint64_t end = beyond(&s->target.nvme, place);
        if (end != place) {
            place = (end + chunk - 1) / chunk * chunk;
            continue;
        }
        uint64_t room = gap(s, place);
        if (room >= bytes) {
            out->base_bytes = place;
            out->held_bytes = whole < room ? whole : room;
            return true;
        }
        place += room;
    }
    return false;
}

/* NVM 4.1.6: bytes 0 to 383 of the data are laid out as Identify Namespace. */
static uint32_t create(struct nvme_call *x)
{
    const uint8_t *p = x->data;
    struct nvme_namespace ns = {.number = x->n->made + 1};
    uint32_t i = 0;
    if (x->c->cdw11 >> 24)
        return x->location = DWORD(11) + 3, NVME_COMMAND_SET;
    if (x->c->nsid)
        return invalid(x, DWORD(1));
    if (!p || x->c->data_len < 384)
        return x->location = DWORD(6), NVME_DATA_TRANSFER;
    uint64_t nsze = bytes_le64(p), ncap = bytes_le64(p + 8);
    uint32_t flbas = p[26], dps = p[29], nmic = p[30], group = bytes_le16(p + 102);
    ns.format = (flbas & 15) | (flbas >> 5 & 3) << 4;
    ns.shared = nmic & 1;
    if (ns.format >= FORMATS || dps)
        return NVME_INVALID_FORMAT;
    if (!nsze || ncap > nsze || nmic > 1 || bytes_le32(p + 92) || bytes_le16(p + 100) ||
        (group && group != ENDURANCE_GROUP))
        return NVME_INVALID_FIELD;
    if (ncap < nsze)
        return NVME_THIN;
    while (i < NVME_NAMESPACES && x->n->ns[i].held_bytes)
        i++;
    if (i == NVME_NAMESPACES)
        return NVME_NO_IDENTIFIER;
    uint64_t blocks = UINT64_MAX >> format_shift(ns.format);
    x->specific = nsze <= blocks ? nsze << format_shift(ns.format) : UINT64_MAX;
    if (x->specific > sim_native_capacity(x->s) || !find_room(x->s, x->specific, &ns))
        return NVME_NO_CAPACITY; /* the error log tells how much would be needed */
    ns.size_bytes = x->specific;
    x->n->ns[i] = ns;
    x->n->made++;
    x->reply->result = i + 1;
    return NVME_OK;
}

static void drop(struct nvme_call *x, struct nvme_namespace *ns)
{
    const struct operation *o = &x->s->target.operation;
    uint32_t nsid = (uint32_t)(ns - x->n->ns) + 1;
    if (o->kind == OPERATION_SELF_TEST && (o->argument[1] == nsid || o->argument[1] == ALL))
        end_self_test(x->s, 3, 0);
    media_erase_span(x->s, ns->base_bytes, ns->held_bytes);
    clear_bad(x->n, ns->base_bytes, ns->base_bytes + ns->held_bytes);
    note_change(x->n, ns->attached, ns);
    *ns = (struct nvme_namespace){.held_bytes = 0};
}

static uint32_t delete (struct nvme_call *x)
{
    uint32_t nsid = x->c->nsid;
    struct nvme_namespace *ns = namespace_at(x->n, nsid);
    for (uint32_t i = 1; nsid == ALL && i <= NVME_NAMESPACES; i++)
        if (namespace_at(x->n, i))
            drop(x, namespace_at(x->n, i));
    if (nsid == ALL)
        return NVME_OK;
    if (!nsid || nsid > NVME_NAMESPACES)
        return x->location = DWORD(1), NVME_INVALID_NAMESPACE;
    if (!ns)
        return invalid(x, DWORD(1));
    drop(x, ns);
    return NVME_OK;
}

uint32_t nvme_manage(struct nvme_call *x)
{
    uint32_t select = x->c->cdw10 & 15, status = select == 0   ? create(x)
                                                 : select == 1 ? delete (x)
                                                               : invalid(x, DWORD(10));
    if (!status) {
        show(x->s);
        target_changed(x->s);
    }
    return status;
}

/* 4.4.1: ascending identifiers of controllers that there are. @param out a bit for each. */
static bool read_list(const uint8_t *p, uint32_t bytes, uint32_t *out)
{
    uint32_t n = bytes_le16(p), before = 0;
    *out = 0;
    if (!n || n > NVME_CONTROLLERS || bytes < 2 + 2 * n)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id = bytes_le16(p + 2 + 2 * i);
        if (id <= before || id > NVME_CONTROLLERS)
            return false;
        *out |= 1u << (id - 1);
        before = id;
    }
    return true;
}

uint32_t nvme_attach(struct nvme_call *x)
{
    uint32_t select = x->c->cdw10 & 15, nsid = x->c->nsid, list;
    struct nvme_namespace *ns = namespace_at(x->n, nsid);
    if (select > 1)
        return invalid(x, DWORD(10));
    if (!nsid || nsid > NVME_NAMESPACES)
        return x->location = DWORD(1), NVME_INVALID_NAMESPACE;
    if (!ns)
        return invalid(x, DWORD(1));
    if (!x->data || x->c->data_len < 4)
        return x->location = DWORD(6), NVME_DATA_TRANSFER;
    if (!read_list(x->data, x->c->data_len, &list))
        return NVME_CONTROLLER_LIST;
    if (select == 0) {
        uint32_t all = ns->attached | list;
        if (ns->attached & list)
            return NVME_ALREADY_ATTACHED;
        if (!ns->shared && all & (all - 1))
            return NVME_PRIVATE;
        ns->attached = all;
    } else {
        if (list & ~ns->attached)
            return NVME_NOT_ATTACHED;
        ns->attached &= ~list;
    }
    note_change(x->n, list, ns);
    show(x->s);
    target_changed(x->s);
    return NVME_OK;
}
