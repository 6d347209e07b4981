/* SPDX-License-Identifier: MIT */
/* The simulated drive from outside: opening, time, counters, energy, capacity, purge. */
#include "sim/sim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "sim/target.h"
#include "sim/whole.h"

static int no_memory(const struct model *m)
{
    return error_set(-ENOMEM, SATED_LAYER_DRIVE,
                     "sim:%s: not enough memory for %llu mapping units; use a scale such as 1/64", m->name,
                     (unsigned long long)m->units);
}

static int refuse_while_busy(const struct sim *s, const char *what)
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

/* All parts, empty, for s->model. */
static int make(struct sim *s)
{
    const struct model *m = &s->model;
    struct ftl_shape shape = {
        .units = (uint32_t)m->units,
        .np = (uint32_t)m->np,
        .domains = (uint32_t)m->domains,
        .per_domain = (uint32_t)m->per_domain,
        .reserve = (uint32_t)m->reserve,
        .policy = (uint32_t)m->policy,
        .choices = (uint32_t)m->choices,
        .log_room = m->timing ? log_room(m) : 0,
        .seed = m->seed,
    };
    s->heap = malloc(m->queue * sizeof *s->heap);
    s->writes.room = power_of_two(m->queue);
    s->writes.items = malloc(s->writes.room * sizeof *s->writes.items);
    if (!s->heap || !s->writes.items || ftl_init(&s->ftl, &shape) ||
        cache_init(&s->cache, m->map_pages, m->cached_map_pages))
        return no_memory(m);
    s->scratch = malloc(3 * m->unit_bytes);
    if (!s->scratch)
        return no_memory(m);
    content_init(&s->content, (uint32_t)m->unit_bytes);
    timing_init(&s->timing, m);
    s->limit_bytes = m->units * m->unit_bytes;
    target_init(s);
    return 0;
}

static void drop(struct sim *s)
{
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

/* The keys again as text, for the state file. */
static char *join_keys(const struct spec *spec)
{
    size_t bytes = 1;
    for (size_t i = 0; i < spec->n; i++)
        bytes += strlen(spec->keys[i].key) + strlen(spec->keys[i].value) + 2;
    char *text = malloc(bytes), *at = text;
    if (!text)
        return NULL;
    *at = '\0';
    for (size_t i = 0; i < spec->n; i++)
        at += sprintf(at, "%s%s=%s", i ? "," : "", spec->keys[i].key, spec->keys[i].value);
    return text;
}

/* A file that two names lead to is locked under its one real name, which is also where it is written. */
static int lock_state(struct sim *s, const char *path)
{
    int rc = file_real(path, &s->state_path);
    return rc ? rc : file_lock(&s->lock, s->state_path);
}

/* Name and keys of a state file as one text, as stands behind "sim:", and the model that they make of its text.
 * @param spec the caller frees; NULL on failure. */
static int model_of_file(struct model *m, const char *name, const char *model_text, const char *keys, char **spec)
{
    struct spec from = {0};
    size_t room = strlen(name) + strlen(keys) + 2;
    *spec = malloc(room);
    if (!*spec)
        return error_set(-ENOMEM, SATED_LAYER_FILE, "sim:%s: not enough memory to read its state", name);
    snprintf(*spec, room, "%s%s%s", name, *keys ? "," : "", keys);
    int rc = spec_parse(&from, *spec);
    if (!rc)
        rc = model_build(m, name, model_text, &from);
    spec_free(&from);
    return rc;
}

/* A state that nobody closed is that of a drive whose process ended: its power was cut. */
static int take_in_use(struct sim *s, bool was_in_use)
{
    target_set_controller(s, 0); /* which one is asked is the process's choice, not the drive's */
    if (was_in_use) {
        s->target.unsafe_shutdowns++;
        sim_power_cycle(s);
    }
    return state_mark_in_use(s->state_path);
}

/* A drive whose state file knows all about it. */
static int open_file(struct sim *s, const struct spec *spec)
{
    void *data;
    size_t bytes;
    char *name, *text;
    int rc = lock_state(s, spec->name);
    if (rc)
        return rc;
    rc = state_read(s->state_path, &data, &bytes, &name, &s->model_text, &s->keys);
    if (rc)
        return rc;
    rc = model_of_file(&s->model, name, s->model_text, s->keys, &text);
    if (!rc)
        rc = make(s);
    bool in_use = !rc && state_was_in_use(data);
    if (!rc)
        rc = state_load(s, s->state_path, data, bytes);
    if (!rc)
        rc = take_in_use(s, in_use);
    free(text);
    free(name);
    free(data);
    return rc;
}

static int restore(struct sim *s, const char *path, bool *in_use)
{
    void *data;
    size_t bytes;
    char *name, *text, *keys;
    if (sim_outstanding(s))
        return refuse_while_busy(s, "restoring a state");
    int rc = state_read(path, &data, &bytes, &name, &text, &keys);
    if (rc)
        return rc;
    struct model model;
    char *spec;
    rc = model_of_file(&model, name, text, keys, &spec);
    if (!rc && memcmp(&model, &s->model, sizeof model))
        rc = error_set(
            SATED_STATE, SATED_LAYER_DRIVE,
            "%s holds the state of sim:%s, which is not this drive (sim:%s%s%s); open it by its path, as sim:./FILE",
            path, spec, s->model.name, *s->keys ? "," : "", s->keys);
    *in_use = !rc && state_was_in_use(data);
    if (!rc)
        rc = state_load(s, path, data, bytes);
    free(spec);
    free(name);
    free(text);
    free(keys);
    free(data);
    return rc;
}

/* A drive of a model, with a state file that may exist already. */
static int open_model(struct sim *s, const struct spec *spec)
{
    int rc = models_copy(spec->name, &s->model_text);
    if (!rc)
        rc = model_build(&s->model, spec->name, s->model_text, spec);
    if (rc)
        return rc;
    s->keys = join_keys(spec);
    rc = s->keys ? make(s) : no_memory(&s->model);
    if (rc || !spec->state)
        return rc;
    rc = lock_state(s, spec->state);
    if (rc)
        return rc;
    /* A new file is written at once: better refused now than after the work. */
    if (access(s->state_path, F_OK))
        return state_save(s, s->state_path, true);
    bool in_use;
    rc = restore(s, s->state_path, &in_use);
    return rc ? rc : take_in_use(s, in_use);
}

/* lba=: the accessible share of the native capacity. */
static int set_share(struct sim *s, double share, const char *text)
{
    /* Of what the device itself lets be addressed. */
    uint64_t limit = (uint64_t)((double)(target_capacity(s) / s->model.unit_bytes) * share) * s->model.unit_bytes;
    if (!limit)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s: lba leaves not one mapping unit; choose a greater fraction", text);
    s->limit_bytes = limit;
    return 0;
}

int sim_new(struct sim **out, const char *text)
{
    struct spec spec;
    *out = NULL;
    int rc = spec_parse(&spec, text);
    struct sim *s = rc ? NULL : calloc(1, sizeof *s);
    if (!rc)
        rc = !s             ? error_set(-ENOMEM, SATED_LAYER_DRIVE, "sim:%s: not enough memory", text)
             : spec.is_file ? open_file(s, &spec)
                            : open_model(s, &spec);
    bool opened = !rc;
    if (!rc && spec.lba_given)
        rc = set_share(s, spec.lba, text);
    spec_free(&spec);
    if (rc && opened)
        sim_free(s); /* nothing happened to it: its file is not left in use */
    else if (rc && s)
        drop(s);
    if (!rc)
        *out = s;
    return rc;
}

int sim_free(struct sim *s)
{
    int rc = 0;
    if (!s)
        return 0;
    if (s->state_path && file_lock_is_ours(s->lock)) {
        uint32_t tag;
        int64_t done_ns;
        int status;
        while (sim_next(s, &tag, &done_ns, &status)) /* what was submitted is still carried out */
            ;
        rc = state_save(s, s->state_path, false);
    }
    drop(s);
    return rc;
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

/* Energy of the controller from power_at on: active while a command is outstanding or a program runs. In pJ, which fill
 * 64 bits in a year of idleness. */
static unsigned __int128 base_since(const struct sim *s, int64_t t_ns)
{
    int64_t active = t_ns - s->power_at;
    if (!sim_outstanding(s)) {
        int64_t end = s->timing.busy < t_ns ? s->timing.busy : t_ns;
        active = end > s->power_at ? end - s->power_at : 0;
    }
    int64_t idle = t_ns - s->power_at - active;
    return (unsigned __int128)active * s->model.active_mw + (unsigned __int128)idle * s->model.idle_mw;
}

void sim_power_to(struct sim *s, int64_t t_ns)
{
    if (t_ns <= s->power_at)
        return;
    unsigned __int128 pj = s->base_pj + base_since(s, t_ns);
    s->base_nj += (uint64_t)(pj / 1000);
    s->base_pj = (uint64_t)(pj % 1000);
    s->power_at = t_ns;
}

uint64_t sim_energy_nj(struct sim *s, int64_t t_ns)
{
    uint64_t base = s->base_nj + (t_ns > s->power_at ? (uint64_t)((s->base_pj + base_since(s, t_ns)) / 1000) : 0);
    return base + s->ftl.placed * s->model.program_nj + s->read_units * s->model.read_nj;
}

void sim_idle_until(struct sim *s, int64_t t_ns)
{
    queue_run_until(s, t_ns);
    if (s->done && s->heap[0].done_ns < t_ns)
        t_ns = s->heap[0].done_ns;
    if (t_ns <= s->now)
        return;
    int64_t flush = s->last_command + (int64_t)s->model.flush_ns;
    if (s->model.timing && !sim_outstanding(s) && flush <= t_ns) {
        sim_power_to(s, flush);
        timing_flush(&s->timing, &s->model, &s->ftl, flush);
    }
    sim_power_to(s, t_ns);
    sim_at(s, t_ns);
}

int sim_submit_at(struct sim *s, uint32_t tag, enum sated_op op, uint64_t offset, uint32_t bytes)
{
    ftl_expect(&s->ftl, (uint32_t)(offset >> __builtin_ctzll(s->model.unit_bytes)));
    struct command c = {.offset = offset, .bytes = bytes, .tag = tag, .op = (uint32_t)op};
    int rc = fifo_put(&s->waiting, &c);
    if (rc)
        return error_set(rc, SATED_LAYER_DRIVE, "sim:%s: not enough memory for %u outstanding commands", s->model.name,
                         sim_outstanding(s));
    s->waiting.n--; /* until now it drew power as before */
    sim_power_to(s, s->now);
    s->waiting.n++;
    queue_admit(s);
    return 0;
}

int sim_submit(struct sim *s, uint32_t tag, enum sated_op op, uint64_t offset, uint32_t bytes)
{
    if ((!bytes && op != SATED_FLUSH) || (offset | bytes) % MODEL_LOGICAL_BLOCK || offset > s->limit_bytes ||
        bytes > s->limit_bytes - offset)
        return error_set(-EINVAL, SATED_LAYER_DRIVE,
                         "sim:%s: %u bytes at %llu are refused: whole blocks of %d bytes below %llu can be addressed",
                         s->model.name, bytes, (unsigned long long)offset, MODEL_LOGICAL_BLOCK,
                         (unsigned long long)s->limit_bytes);
    if (s->target.blocked || s->target.off)
        return target_refuse(s);
    return sim_submit_at(s, tag, op, s->base_bytes + offset, bytes);
}

void sim_stall(struct sim *s, int64_t at_ns, int64_t for_ns)
{
    s->stall_at = at_ns;
    s->stall_ns = for_ns;
}

bool sim_peek(struct sim *s, int64_t *done_ns)
{
    queue_run(s);
    if (s->done)
        *done_ns = s->heap[0].done_ns;
    return s->done != 0;
}

bool sim_next(struct sim *s, uint32_t *tag, int64_t *done_ns, int *status)
{
    queue_run(s);
    if (!s->done)
        return false;
    struct completion c;
    sim_power_to(s, s->heap[0].done_ns);
    queue_take(s, &c);
    sim_at(s, c.done_ns);
    s->last_command = c.done_ns;
    s->served.commands[c.command.op]++;
    s->served.bytes[c.command.op] += c.command.bytes;
    *tag = c.command.tag;
    *done_ns = c.done_ns;
    *status = 0;
    queue_admit(s);
    return true;
}

void sim_get_counters(const struct sim *s, struct sated_sim_counters *out)
{
    *out = (struct sated_sim_counters){
        .host_write_units = s->ftl.placed - s->ftl.moved,
        .nand_write_units = s->ftl.placed,
        .gc_write_units = s->ftl.moved,
        .erases = s->ftl.erased,
        .served_reads = s->served.commands[SATED_READ],
        .served_writes = s->served.commands[SATED_WRITE],
        .served_trims = s->served.commands[SATED_TRIM],
        .read_bytes = s->served.bytes[SATED_READ],
        .written_bytes = s->served.bytes[SATED_WRITE],
        .trimmed_bytes = s->served.bytes[SATED_TRIM],
        .served_write_zeroes = s->served.commands[SATED_WRITE_ZEROES],
        .served_flushes = s->served.commands[SATED_FLUSH],
        .zeroed_bytes = s->served.bytes[SATED_WRITE_ZEROES],
        .map_hits = s->cache.hits,
        .map_misses = s->cache.misses,
        .energy_nj = sim_energy_nj((struct sim *)s, s->now),
        .mapped_units = s->ftl.mapped,
        .unit_bytes = (uint32_t)s->model.unit_bytes,
        .scale = (uint32_t)s->model.scale,
    };
    for (uint32_t n = 0; n < s->ftl.domains; n++)
        out->free_blocks += s->ftl.domain[n].free_blocks;
}

void sim_get_life(const struct sim *s, struct life *out)
{
    *out = s->life;
    out->read_commands += s->served.commands[SATED_READ];
    out->write_commands += s->served.commands[SATED_WRITE];
    out->read_bytes += s->served.bytes[SATED_READ];
    out->written_bytes += s->served.bytes[SATED_WRITE];
    out->trimmed_bytes += s->served.bytes[SATED_TRIM];
    out->placed_units += s->ftl.placed;
    out->moved_units += s->ftl.moved;
    out->erased_blocks += s->ftl.erased;
}

void sim_reset_counters(struct sim *s)
{
    sim_get_life(s, &s->life);
    sim_power_to(s, s->now);
    s->ftl.placed = s->ftl.moved = s->ftl.erased = 0;
    s->cache.hits = s->cache.misses = 0;
    s->read_units = s->base_nj = s->base_pj = 0;
    memset(&s->served, 0, sizeof s->served);
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
        return refuse_while_busy(s, "a purge");
    if (s->target.off)
        return target_refuse(s);
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
        return refuse_while_busy(s, "setting the capacity");
    if (!bytes || bytes % MODEL_LOGICAL_BLOCK || bytes > target_capacity(s))
        return error_set(-EINVAL, SATED_LAYER_DRIVE,
                         "sim:%s: a capacity of %llu bytes is refused: it is a multiple of %d, up to the %llu that the "
                         "drive offers; where that is less than it has, it hides the rest itself, until the command "
                         "that hid it gives it back (ATA: SET MAX ADDRESS, SET ACCESSIBLE MAX ADDRESS or DCO RESTORE; "
                         "SCSI: MODE SELECT and FORMAT UNIT; NVMe: Namespace Management)",
                         s->model.name, (unsigned long long)bytes, MODEL_LOGICAL_BLOCK,
                         (unsigned long long)target_capacity(s));
    s->limit_bytes = bytes;
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
    sim_power_cut(s);
    target_power_on(s);
}

/* Whether a path, by whatever name, is that of its state file. */
static bool is_own(const struct sim *s, const char *path)
{
    char *real = NULL;
    bool own = s->state_path && file_real(path, &real) == 0 && !strcmp(real, s->state_path);
    free(real);
    return own;
}

const char *sim_state_path(const struct sim *s)
{
    return s->state_path;
}

int sim_save(struct sim *s, const char *path)
{
    if (sim_outstanding(s))
        return refuse_while_busy(s, "saving the state");
    bool own = !path || is_own(s, path);
    if (own && !s->state_path)
        return 0;
    if (own && !file_lock_is_ours(s->lock))
        return error_set(SATED_STATE, SATED_LAYER_FILE,
                         "%s: is the state of a drive that another process has open, of which this one is a fork; open "
                         "it here after that one has closed it",
                         s->state_path);
    return state_save(s, own ? s->state_path : path, own);
}

int sim_restore(struct sim *s, const char *path)
{
    bool in_use;
    return restore(s, path, &in_use);
}
