/* SPDX-License-Identifier: MIT */
/* The simulated drive from outside: time, counters, energy, capacity, purge. */
#include "sim/sim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "sim/set.h"
#include "sim/target.h"
#include "sim/whole.h"

int sim_no_memory(const struct model *m)
{
    return error_set(-ENOMEM, SATED_LAYER_DRIVE,
                     "sim:%s: not enough memory for %llu mapping units; use a scale such as 1/64", m->name,
                     (unsigned long long)m->units);
}

int sim_refuse_while_busy(const struct sim *s, const char *what)
{
    return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                     "sim:%s: %s is not possible while %u commands are outstanding; wait for them", s->model.name, what,
                     sim_outstanding(s));
}

static uint32_t power_of_two(uint64_t least)
{
    uint64_t room = 1;
    while (room < least)
        room *= 2;
    return (uint32_t)room;
}

/* Room for all that can be between the buffer and the flash, and for most bursts of relocations. */
static uint32_t log_room(const struct model *m)
{
    uint64_t pages = m->wide_program_units > m->program_units ? m->wide_program_units : m->program_units;
    return power_of_two(4 * (m->buffer_stripes + 1) * pages * m->channels * m->dies + 64 * m->np);
}

/* Of the ring of pages in the quick cache; 0: there is none. */
static uint32_t slc_room(const struct model *m, uint64_t fixed)
{
    uint64_t pages = m->per_domain * m->domains * m->np;
    uint64_t most = fixed + (uint64_t)((unsigned __int128)pages * m->slc_dynamic / 1000000000) / (m->slc_bits - 1);
    return m->timing && most ? power_of_two(most < pages ? most : pages) : 0;
}

/* All parts, empty, for s->model. */
int sim_make(struct sim *s)
{
    const struct model *m = &s->model;
    uint64_t fixed = (uint64_t)((unsigned __int128)m->units * m->slc_static / 1000000000);
    struct ftl_shape shape = {
        .units = (uint32_t)m->units,
        .np = (uint32_t)m->np,
        .domains = (uint32_t)m->domains,
        .per_domain = (uint32_t)m->per_domain,
        .reserve = (uint32_t)m->reserve,
        .policy = (uint32_t)m->policy,
        .choices = (uint32_t)m->choices,
        .whole = (uint32_t)m->whole_victim,
        .streams = (uint32_t)m->streams,
        .frontiers = (uint32_t)m->frontiers,
        .hot = (uint32_t)m->hot,
        .levelling = (uint32_t)m->levelling,
        .threshold = (uint32_t)m->threshold,
        .dies = (uint32_t)m->domain_dies,
        .stripe = (uint32_t)m->program_units,
        .parity = (uint32_t)m->parity,
        .wear_limit = (uint32_t)m->wear_erases,
        .grown = (uint32_t)m->grown,
        .spares = (uint32_t)m->spares,
        .factory_bad = (uint32_t)m->factory_bad_blocks,
        .slc_room = slc_room(m, fixed),
        .slc_fixed = (uint32_t)fixed,
        .slc_share = (uint32_t)m->slc_dynamic,
        .slc_bits = (uint32_t)m->slc_bits,
        .log_room = m->timing ? log_room(m) : 0,
        .seed = m->seed,
    };
    s->heap = malloc(m->queue * sizeof *s->heap);
    s->writes.room = power_of_two(m->queue);
    s->writes.items = malloc(s->writes.room * sizeof *s->writes.items);
    if (!s->heap || !s->writes.items || ftl_init(&s->ftl, &shape) ||
        cache_init(&s->cache, m->map_pages, m->cached_map_pages))
        return sim_no_memory(m);
    s->scratch = malloc(3 * m->unit_bytes);
    if (!s->scratch)
        return sim_no_memory(m);
    content_init(&s->content, (uint32_t)m->unit_bytes);
    timing_init(&s->timing, m);
    s->limit_bytes = m->units * m->unit_bytes;
    s->unit_shift = (uint32_t)__builtin_ctzll(m->unit_bytes);
    s->heat_uc = (int64_t)m->ambient_uc;
    target_init(s);
    return 0;
}

void sim_drop(struct sim *s)
{
    set_free(s->set);
    ftl_free(&s->ftl);
    cache_free(&s->cache);
    content_free(&s->content);
    free(s->scratch);
    file_unlock(s->lock);
    free(s->heap);
    free(s->waiting.items);
    free(s->writes.items);
    free(s->model_text);
    free(s->keys);
    free(s->state_path);
    free(s);
}

static void copy_text(char *out, size_t room, const char *text)
{
    snprintf(out, room, "%s", text);
}

void sim_identify(const struct sim *s, struct sated_identity *out)
{
    static const struct {
        const char *name;
        uint32_t protocol;
    } protocols[] = {{"scsi", SATED_PROTOCOL_SCSI}, {"ata", SATED_PROTOCOL_ATA}, {"nvme", SATED_PROTOCOL_NVME}};
    const struct model *m = &s->model;
    struct random r;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++)
        if (!strcmp(m->protocol, protocols[i].name))
            out->protocol = protocols[i].protocol;
    out->flags = SATED_IDENTITY_SIMULATED | SATED_IDENTITY_ROTATION_KNOWN | SATED_IDENTITY_RAW_KNOWN;
    out->capacity_bytes = s->limit_bytes;
    out->native_capacity_bytes = sim_native_capacity(s);
    out->raw_bytes = m->raw_bytes;
    out->logical_block_bytes = MODEL_LOGICAL_BLOCK;
    out->physical_block_bytes = (uint32_t)m->unit_bytes;
    out->scale = (uint32_t)m->scale;
    copy_text(out->vendor, sizeof out->vendor, m->vendor);
    copy_text(out->model, sizeof out->model, m->product);
    copy_text(out->firmware, sizeof out->firmware, m->firmware);
    copy_text(out->transport, sizeof out->transport, m->transport);
    copy_text(out->link, sizeof out->link, m->link);
    random_seed(&r, m->seed, 1);
    snprintf(out->serial, sizeof out->serial, "SIM%012llX", (unsigned long long)(random_next(&r) >> 16));
    snprintf(out->raw_source, sizeof out->raw_source, "model %s, %s", m->name,
             m->blocks ? "blocks x pages_per_block x page and the reserve" : "capacity.raw_bytes");
    if (s->set)
        set_identify(s, out);
    if (s->state_path)
        copy_text(out->path, sizeof out->path, s->state_path);
    target_identify(s, out);
}

int64_t sim_now_ns(const struct sim *s)
{
    return __atomic_load_n(&s->now, __ATOMIC_RELAXED);
}

uint32_t sim_scale(const struct sim *s)
{
    return (uint32_t)s->model.scale;
}

void sim_idle_until(struct sim *s, int64_t t_ns)
{
    if (s->set) {
        set_idle_until(s, t_ns);
        return;
    }
    queue_run_until(s, t_ns);
    if (s->done && s->heap[0].done_ns < t_ns)
        t_ns = s->heap[0].done_ns;
    if (!s->model.timing && s->waiting.n && untimed_end(s) < t_ns)
        t_ns = untimed_end(s);
    if (t_ns <= s->now)
        return;
    int64_t flush = s->last_command + (int64_t)s->model.flush_ns;
    if (s->model.timing && !sim_outstanding(s) && flush <= t_ns) {
        sim_power_to(s, flush);
        timing_flush(&s->timing, &s->model, &s->ftl, flush);
    }
    idle_until(s, t_ns);
    sim_power_to(s, t_ns);
    sim_at(s, t_ns);
    if (s->model.heat_ns)
        power_heat(s);
}

int sim_submit_at(struct sim *s, uint32_t tag, enum sated_op op, uint64_t offset, uint32_t bytes)
{
    if (!s->set)
        ftl_expect(&s->ftl, (uint32_t)(offset >> s->unit_shift));
    struct command c = {.offset = offset, .bytes = bytes, .tag = tag, .op = (uint16_t)op};
    int rc = fifo_put(&s->waiting, &c);
    if (rc)
        return error_set(rc, SATED_LAYER_DRIVE, "sim:%s: not enough memory for %u outstanding commands", s->model.name,
                         sim_outstanding(s));
    if (s->set) {
        set_admit(s);
        return 0;
    }
    if (!s->model.timing) {
        untimed_admit(s);
        return 0;
    }
    s->waiting.n--; /* until now it drew power as before */
    sim_power_to(s, s->now);
    if (s->model.sleeps && !sim_outstanding(s))
        power_wake(s);
    s->waiting.n++;
    queue_admit(s);
    return 0;
}

static inline bool fits(const struct sim *s, enum sated_op op, uint64_t offset, uint32_t bytes)
{
    return (bytes || op == SATED_FLUSH) && !((offset | bytes) % MODEL_LOGICAL_BLOCK) && offset <= s->limit_bytes &&
           bytes <= s->limit_bytes - offset;
}

int sim_check(const struct sim *s, enum sated_op op, uint64_t offset, uint32_t bytes)
{
    if (!fits(s, op, offset, bytes))
        return error_set(-EINVAL, SATED_LAYER_DRIVE,
                         "sim:%s: %u bytes at %llu are refused: whole blocks of %d bytes below %llu can be addressed",
                         s->model.name, bytes, (unsigned long long)offset, MODEL_LOGICAL_BLOCK,
                         (unsigned long long)s->limit_bytes);
    return s->target.blocked || s->target.off ? target_refuse(s) : 0;
}

int sim_submit(struct sim *s, uint32_t tag, enum sated_op op, uint64_t offset, uint32_t bytes)
{
    if (!fits(s, op, offset, bytes) || s->target.blocked || s->target.off)
        return sim_check(s, op, offset, bytes);
    return sim_submit_at(s, tag, op, s->base_bytes + offset, bytes);
}

void sim_stall(struct sim *s, int64_t at_ns, int64_t for_ns)
{
    for (uint32_t n = 0; s->set && n < set_members(s); n++)
        sim_stall(set_member(s, n), at_ns, for_ns);
    s->stall_at = at_ns;
    s->stall_ns = for_ns;
}

bool sim_peek_until(struct sim *s, int64_t t_ns, int64_t *done_ns)
{
    if (s->set)
        return set_peek(s, t_ns, done_ns);
    return sim_peek(s, done_ns) && *done_ns <= t_ns;
}

bool sim_peek(struct sim *s, int64_t *done_ns)
{
    if (s->set)
        return set_peek(s, INT64_MAX, done_ns);
    if (!s->model.timing) {
        *done_ns = untimed_end(s);
        return s->waiting.n != 0;
    }
    queue_run(s);
    if (s->done)
        *done_ns = s->heap[0].done_ns;
    return s->done != 0;
}

bool sim_next(struct sim *s, uint32_t *tag, int64_t *done_ns, int *status)
{
    if (s->set)
        return set_next(s, tag, done_ns, status);
    struct completion c;
    if (!s->model.timing) {
        if (!s->waiting.n)
            return false;
        untimed_take(s, &c);
    } else {
        queue_run(s);
        if (!s->done)
            return false;
        sim_power_to(s, s->heap[0].done_ns);
        queue_take(s, &c);
    }
    sim_at(s, c.done_ns);
    s->last_command = c.done_ns;
    if (s->model.heat_ns)
        power_heat(s);
    s->served.commands[c.command.op]++;
    s->served.bytes[c.command.op] += c.command.status ? 0 : c.command.bytes;
    *tag = c.command.tag;
    *done_ns = c.done_ns;
    *status = c.command.status;
    if (s->model.timing)
        queue_admit(s);
    return true;
}

void sim_rest(struct sim *s)
{
    timing_init(&s->timing, &s->model);
    s->timing.busy = s->timing.firmware = s->now;
}

void sim_forget(struct sim *s)
{
    ftl_purge(&s->ftl);
    cache_clear(&s->cache);
    content_clear(&s->content);
    sim_rest(s);
}

int sim_purge(struct sim *s)
{
    if (sim_outstanding(s))
        return sim_refuse_while_busy(s, "a purge");
    if (s->target.off)
        return target_refuse(s);
    if (s->set)
        return set_purge(s);
    sim_power_to(s, s->now);
    sim_forget(s);
    sim_at(s, s->now + (int64_t)s->model.purge_ns);
    sim_rest(s);
    sim_power_to(s, s->now);
    return 0;
}

int sim_set_capacity(struct sim *s, uint64_t bytes)
{
    if (sim_outstanding(s))
        return sim_refuse_while_busy(s, "setting the capacity");
    if (!bytes || bytes % MODEL_LOGICAL_BLOCK || bytes > target_capacity(s))
        return error_set(-EINVAL, SATED_LAYER_DRIVE,
                         "sim:%s: a capacity of %llu bytes is refused: it is a multiple of %d, up to the %llu that the "
                         "drive offers; where that is less than it has, it hides the rest itself, until the command "
                         "that hid it gives it back (ATA: SET MAX ADDRESS, SET ACCESSIBLE MAX ADDRESS or DCO RESTORE; "
                         "SCSI: MODE SELECT and FORMAT UNIT; NVMe: Namespace Management)",
                         s->model.name, (unsigned long long)bytes, MODEL_LOGICAL_BLOCK,
                         (unsigned long long)target_capacity(s));
    s->limit_bytes = bytes;
    if (s->set)
        set_limit(s);
    return 0;
}

uint64_t sim_capacity(const struct sim *s)
{
    return s->limit_bytes;
}

uint64_t sim_native_capacity(const struct sim *s)
{
    return s->model.units * s->model.unit_bytes;
}

uint64_t sim_mapped_beyond(const struct sim *s)
{
    if (s->set)
        return set_mapped_beyond(s);
    uint64_t n = 0, first = s->base_bytes / s->model.unit_bytes,
             end = (s->base_bytes + s->limit_bytes + s->model.unit_bytes - 1) / s->model.unit_bytes;
    for (uint64_t unit = 0; unit < s->model.units; unit++)
        n += (unit < first || unit >= end) && ftl_page(&s->ftl, (uint32_t)unit) != FTL_NONE;
    return n;
}

void sim_power_cut(struct sim *s)
{
    struct completion c;
    while (s->done) /* commands that were outstanding are never answered */
        queue_take(s, &c);
    s->inside = s->waiting.n = s->writes.n = 0;
    s->last_command = s->now;
    sim_power_to(s, s->now);
    if (s->model.timing)
        timing_power_cut(&s->timing, &s->model, &s->ftl, s->now);
    cache_power_cut(&s->cache);
}

void sim_power_cycle(struct sim *s)
{
    if (s->set)
        set_power_cycle(s);
    else
        sim_power_cut(s);
    target_power_on(s);
}
