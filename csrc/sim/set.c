/* SPDX-License-Identifier: MIT */
/* A set of simulated drives as one: its members, what it says of itself, what it sums, and what befalls a member. */
#include "sim/set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/random.h"
#include "sim/set_inside.h"
#include "sim/sim.h"

static int no_memory(const struct sim *s)
{
    return error_set(-ENOMEM, SATED_LAYER_DRIVE, "sim:%s: not enough memory for its members; use a scale such as 1/64",
                     s->model.name);
}

/* A member, or the spare that takes its place: each is another drive of the model. */
int set_new_member(const struct set *t, uint32_t n, uint32_t replaced, struct sim **out)
{
    size_t room = strlen(t->of) + 32;
    char *text = malloc(room);
    if (!text)
        return error_set(-ENOMEM, SATED_LAYER_DRIVE, "sim:%s: not enough memory", t->of);
    snprintf(text, room, "%s,seed=%llu", t->of,
             (unsigned long long)(t->shape.seed + n + (uint64_t)replaced * SET_MEMBERS_MAX));
    int rc = sim_new(out, text);
    free(text);
    return rc;
}

/* What the set's own handle has of a model: what a drive has, as far as a set has it, too. */
static void fill_model(struct sim *s)
{
    const struct set *t = s->set;
    const struct model *m = &t->member[0]->model;
    s->model.unit_bytes = m->unit_bytes;
    s->model.units = t->rows * set_row_bytes(t) / m->unit_bytes;
    s->model.raw_bytes = m->raw_bytes * t->shape.n;
    s->model.scale = m->scale;
    s->model.seed = t->shape.seed;
    s->model.queue = t->shape.queue;
    snprintf(s->model.vendor, sizeof s->model.vendor, "%s", m->vendor);
    snprintf(s->model.product, sizeof s->model.product, "%.8s set of %u %.34s", s->model.name, t->shape.n,
             m->product[0] ? m->product : m->name);
    snprintf(s->model.transport, sizeof s->model.transport, "sim");
    snprintf(s->model.link, sizeof s->model.link, "%llu MB/s", (unsigned long long)(t->shape.link_bytes_s / 1000000));
}

/* What follows from the members. */
int set_work_out(struct sim *s, uint64_t rows)
{
    struct set *t = s->set;
    const struct model *m = &t->member[0]->model;
    uint64_t per_row = t->shape.chunk / m->unit_bytes;
    if (!per_row)
        return error_set(
            SATED_PARSE, SATED_LAYER_ARGUMENT,
            "sim:%s: chunk = %llu is less than the members' mapping unit of %llu bytes; give that, or more",
            s->model.name, (unsigned long long)t->shape.chunk, (unsigned long long)m->unit_bytes);
    t->rows = rows;
    if (!t->rows)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "sim:%s: a member has not one chunk; give a smaller one",
                         s->model.name);
    t->words = (uint32_t)((t->shape.chunk / SET_SECTOR + 63) / 64);
    t->shape.cache_bytes /= m->scale;
    t->shape.age_ns /= m->scale;
    if (t->shape.write_back && t->shape.cache_bytes < 2 * set_row_bytes(t))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s: cache_size leaves %llu bytes at scale 1/%llu, and two rows of %llu are needed; give "
                         "more, or cache=write-through",
                         s->model.name, (unsigned long long)t->shape.cache_bytes, (unsigned long long)m->scale,
                         (unsigned long long)set_row_bytes(t));
    t->orders = calloc(t->shape.queue, sizeof *t->orders);
    t->room_events = (uint32_t)t->shape.queue + SET_DESTAGE_MAX + 4;
    t->heap = calloc(t->room_events, sizeof *t->heap);
    t->rebuild_bits = calloc(t->words, sizeof *t->rebuild_bits);
    if (!t->orders || !t->heap || !t->rebuild_bits)
        return no_memory(s);
    t->free_part = SET_NONE;
    set_forget_run(s);
    fill_model(s);
    s->limit_bytes = sim_native_capacity(s);
    return 0;
}

void set_identify(const struct sim *s, struct sated_identity *out)
{
    snprintf(out->raw_source, sizeof out->raw_source, "the sum of %u members, each of model %s", s->set->shape.n,
             s->set->member[0]->model.name);
}

int set_make(struct sim *s, const struct spec *spec)
{
    struct set *t = calloc(1, sizeof *t);
    snprintf(s->model.name, sizeof s->model.name, "%s", spec->name);
    s->set = t;
    if (!t)
        return no_memory(s);
    int rc = set_shape_read(&t->shape, &t->of, spec);
    for (uint32_t n = 0; !rc && n < t->shape.n; n++)
        rc = set_new_member(t, n, 0, &t->member[n]);
    if (!rc)
        rc = set_work_out(s, sim_capacity(t->member[0]) / t->shape.chunk);
    if (!rc && t->shape.failed != SET_NONE)
        t->k.state[t->shape.failed] = SATED_MEMBER_FAILED;
    return rc;
}

void set_free(struct set *t)
{
    if (!t)
        return;
    cache_clear_lines(t);
    for (uint32_t n = 0; n < t->shape.n; n++)
        sim_free(t->member[n]);
    free(t->hash);
    free(t->heap);
    free(t->orders);
    free(t->parts);
    free(t->rebuild_bits);
    free(t->of);
    free(t);
}

uint32_t set_members(const struct sim *s)
{
    return s->set->shape.n;
}

struct sim *set_member(const struct sim *s, uint32_t n)
{
    return s->set->member[n];
}

/* ---- Sums ---- */

uint64_t set_energy_nj(struct sim *s, int64_t t_ns)
{
    uint64_t sum = 0;
    for (uint32_t n = 0; n < s->set->shape.n; n++)
        sum += sim_energy_nj(s->set->member[n], t_ns);
    return sum;
}

void set_get_counters(const struct sim *s, struct sated_sim_counters *out)
{
    const struct set *t = s->set;
    for (uint32_t n = 0; n < t->shape.n; n++) {
        struct sated_sim_counters c;
        sim_get_counters(t->member[n], &c);
        out->host_write_units += c.host_write_units;
        out->nand_write_units += c.nand_write_units;
        out->gc_write_units += c.gc_write_units;
        out->erases += c.erases;
        out->map_hits += c.map_hits;
        out->map_misses += c.map_misses;
        out->mapped_units += c.mapped_units;
        out->free_blocks += c.free_blocks;
        out->parity_units += c.parity_units;
        out->bad_blocks += c.bad_blocks;
        out->spare_blocks += c.spare_blocks;
        out->failed_dies += c.failed_dies;
        out->lost_units += c.lost_units;
        out->degraded_units += c.degraded_units;
        out->uncorrectable_commands += c.uncorrectable_commands;
        out->read_only |= c.read_only;
        out->slc_write_units += c.slc_write_units;
        out->folded_units += c.folded_units;
        out->slc_held_units += c.slc_held_units;
        out->wear_sum += c.wear_sum;
        out->wear_most = c.wear_most > out->wear_most ? c.wear_most : out->wear_most;
        out->wear_least = !n || c.wear_least < out->wear_least ? c.wear_least : out->wear_least;
    }
    out->energy_nj = set_energy_nj((struct sim *)s, s->now);
}

void set_reset_counters(struct sim *s)
{
    for (uint32_t n = 0; n < s->set->shape.n; n++)
        sim_reset_counters(s->set->member[n]);
}

uint64_t set_mapped_beyond(const struct sim *s)
{
    uint64_t n = 0;
    for (uint32_t m = 0; m < s->set->shape.n; m++)
        n += sim_mapped_beyond(s->set->member[m]);
    return n;
}

/* ---- All members ---- */

/* Each keeps what the set no longer addresses as spare area, once that holds no data. */
void set_limit(struct sim *s)
{
    struct set *t = s->set;
    uint64_t row = set_row_bytes(t), rows = (s->limit_bytes + row - 1) / row;
    set_write_out(s);
    for (uint32_t n = 0; n < t->shape.n; n++)
        t->member[n]->limit_bytes = rows * t->shape.chunk;
    set_go_on(s);
}

/* At the same time, so that it takes as long as one does. A member that is being rebuilt has nothing to be rebuilt from. */
int set_purge(struct sim *s)
{
    struct set *t = s->set;
    int64_t now = s->now;
    set_settle(s);
    cache_clear_lines(t);
    for (uint32_t n = 0; n < t->shape.n; n++) {
        sim_idle_until(t->member[n], s->now);
        int rc = t->k.state[n] == SATED_MEMBER_FAILED ? 0 : sim_purge(t->member[n]);
        if (rc)
            return rc;
        now = t->member[n]->now > now ? t->member[n]->now : now;
        if (t->k.state[n] == SATED_MEMBER_REBUILDING)
            t->k.rebuild_row = t->rows;
    }
    for (uint32_t n = 0; n < t->shape.n; n++)
        sim_idle_until(t->member[n], now);
    t->at = now;
    sim_at(s, now);
    set_go_on(s);
    return 0;
}

/* Each member alike. Mirrors would not agree on which units hold data where chance chooses a part of them. */
int set_fill(struct sim *s, const struct filling *how)
{
    struct set *t = s->set;
    int rc = 0;
    if (how->share < 1 && (how->how == SATED_FILL_RANDOM || how->how == SATED_FILL_STEADY))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s: a set is filled random or steady as a whole; give no share, or fill it sequential",
                         s->model.name);
    set_write_out(s);
    for (uint32_t n = 0; n < t->shape.n && !rc; n++)
        if (t->k.state[n] != SATED_MEMBER_FAILED)
            rc = sim_fill(t->member[n], how);
    set_go_on(s);
    return rc;
}

/* The controller's battery keeps its cache: rows that were on their way are written out again. */
void set_power_cycle(struct sim *s)
{
    struct set *t = s->set;
    int64_t now = t->at > s->now ? t->at : s->now;
    for (uint32_t n = 0; n < t->shape.n; n++) {
        sim_power_cycle(t->member[n]);
        now = t->member[n]->now > now ? t->member[n]->now : now;
    }
    t->at = now;
    sim_at(s, now);
    s->last_command = now;
    cache_after_cut(t);
    set_forget_run(s);
    set_go_on(s);
}

/* ---- One member ---- */

static int check_index(const struct sim *s, uint32_t n)
{
    return n < s->set->shape.n
               ? 0
               : error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "sim:%s: there is no member %u; they are 0 to %u",
                           s->model.name, n, s->set->shape.n - 1);
}

int set_get_member(const struct sim *s, uint32_t n, struct sated_sim_member *out)
{
    const struct set *t = s->set;
    struct sated_identity id;
    int rc = check_index(s, n);
    if (rc)
        return rc;
    sim_identify(t->member[n], &id);
    *out = (struct sated_sim_member){
        .capacity_bytes = id.capacity_bytes,
        .native_bytes = id.native_capacity_bytes,
        .raw_bytes = id.raw_bytes,
        .rebuilt_bytes = t->k.state[n] == SATED_MEMBER_REBUILDING ? t->k.rebuild_row * t->shape.chunk : 0,
        .state = t->k.state[n],
    };
    snprintf(out->model, sizeof out->model, "%s", id.model);
    snprintf(out->serial, sizeof out->serial, "%s", id.serial);
    sim_get_counters(t->member[n], &out->counters);
    out->counters.energy_nj = sim_energy_nj(t->member[n], s->now); /* its own clock may stand at its last command */
    return 0;
}

/* Whether what a member holds is held by others, too. */
static bool can_miss(const struct set *t, uint32_t n)
{
    uint32_t others = 0;
    for (uint32_t m = 0; m < t->shape.n; m++)
        others += t->k.state[m] == SATED_MEMBER_ONLINE && set_helps(t, n, m);
    return t->shape.level == SET_RAID5 ? others == t->shape.n - 1 : others > 0;
}

int set_fail_member(struct sim *s, uint32_t n)
{
    struct set *t = s->set;
    int rc = check_index(s, n);
    if (rc)
        return rc;
    if (t->k.state[n] == SATED_MEMBER_FAILED)
        return error_set(SATED_STATE, SATED_LAYER_DRIVE, "sim:%s: member %u has failed already; replace it",
                         s->model.name, n);
    if (t->k.state[n] != SATED_MEMBER_REBUILDING && !can_miss(t, n))
        return error_set(
            SATED_STATE, SATED_LAYER_DRIVE,
            "sim:%s: member %u cannot fail: with what has failed already its data would be lost, and of that "
            "a set cannot go on; replace the failed ones first, or choose a level with more copies",
            s->model.name, n);
    set_settle(s);
    t->k.state[n] = SATED_MEMBER_FAILED;
    set_go_on(s);
    return 0;
}

int set_replace_member(struct sim *s, uint32_t n, uint64_t bytes_per_s)
{
    struct set *t = s->set;
    struct sim *spare;
    int rc = check_index(s, n);
    if (rc)
        return rc;
    if (t->k.state[n] != SATED_MEMBER_FAILED)
        return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                         "sim:%s: member %u has not failed; a spare takes the place of one that has", s->model.name, n);
    for (uint32_t m = 0; m < t->shape.n; m++)
        if (t->k.state[m] == SATED_MEMBER_REBUILDING)
            return error_set(
                SATED_STATE, SATED_LAYER_DRIVE,
                "sim:%s: member %u is being rebuilt, and one is at a time; let it be idle until that is done",
                s->model.name, m);
    if (bytes_per_s < 1000000 || bytes_per_s > 1000000000000)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s: a rebuild at %llu bytes/s is not possible; give 1 MB/s to 1 TB/s", s->model.name,
                         (unsigned long long)bytes_per_s);
    rc = set_new_member(t, n, t->k.replaced[n] + 1, &spare);
    if (rc)
        return rc;
    set_settle(s);
    sim_idle_until(spare, s->now);
    spare->limit_bytes = t->member[n]->limit_bytes;
    sim_free(t->member[n]);
    t->member[n] = spare;
    t->k.replaced[n]++;
    t->k.state[n] = SATED_MEMBER_REBUILDING;
    t->k.rebuild_row = 0;
    t->k.rebuild_bytes_s = bytes_per_s;
    t->k.rebuild_due = s->now;
    set_go_on(s);
    return 0;
}
