/* SPDX-License-Identifier: MIT */
/* What the drive has counted. */
#include <string.h>

#include "sim/set.h"
#include "sim/sim.h"
#include "sim/whole.h"

uint64_t sim_parity_units(const struct sim *s, uint64_t placed)
{
    return s->model.parity ? placed / s->model.data_dies : 0;
}

uint64_t sim_programmed(const struct sim *s)
{
    uint64_t pages = s->ftl.placed + s->ftl.slc.folded;
    return pages + sim_parity_units(s, pages);
}

/* Units that can only be read with the help of parity. */
static uint64_t missing_units(const struct ftl *f)
{
    uint64_t n = 0;
    for (uint32_t block = 0; f->sick & SICK_REBUILD && block < f->blocks; block++)
        for (uint32_t at = 0; f->count[block] && at < f->np; at++)
            n += *ftl_word(f, f->valid, block, at) >> at % 64 & 1 && parity_is_missing(f, block, at);
    return n;
}

static void put_losses(const struct sim *s, struct sated_sim_counters *out)
{
    const struct ftl *f = &s->ftl;
    for (uint32_t n = 0; n < f->domains; n++) {
        out->bad_blocks += f->domain[n].loss.bad;
        out->spare_blocks += f->domain[n].loss.spares;
        out->failed_dies += f->domain[n].loss.dead;
    }
    out->parity_units = sim_parity_units(s, f->placed + f->slc.folded);
    out->slc_write_units = f->slc.written;
    out->folded_units = f->slc.folded;
    out->slc_held_units = slc_held(&f->slc);
    out->lost_units = f->lost;
    out->degraded_units = missing_units(f);
    out->uncorrectable_commands = s->uncorrectable;
    out->read_only = f->sick & SICK_READ_ONLY ? 1 : 0;
    uint64_t erases = 0;
    out->wear_least = UINT32_MAX;
    for (uint32_t block = 0; block < f->blocks; block++) {
        if (f->state[block] >= BLOCK_SPARE)
            continue;
        erases += f->wear[block];
        out->wear_most = f->wear[block] > out->wear_most ? f->wear[block] : out->wear_most;
        out->wear_least = f->wear[block] < out->wear_least ? f->wear[block] : out->wear_least;
    }
    out->wear_sum = erases;
}

void sim_get_counters(const struct sim *s, struct sated_sim_counters *out)
{
    *out = (struct sated_sim_counters){
        .host_write_units = s->ftl.placed - s->ftl.moved,
        .nand_write_units = s->ftl.placed + s->ftl.slc.folded,
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
    if (s->set) {
        set_get_counters(s, out);
        return;
    }
    for (uint32_t n = 0; n < s->ftl.domains; n++)
        out->free_blocks += s->ftl.domain[n].free_blocks;
    put_losses(s, out);
}

void sim_get_life(const struct sim *s, struct life *out)
{
    *out = s->life;
    out->read_commands += s->served.commands[SATED_READ];
    out->write_commands += s->served.commands[SATED_WRITE];
    out->read_bytes += s->served.bytes[SATED_READ];
    out->written_bytes += s->served.bytes[SATED_WRITE];
    out->trimmed_bytes += s->served.bytes[SATED_TRIM];
    out->placed_units += s->ftl.placed + s->ftl.slc.folded;
    out->moved_units += s->ftl.moved;
    out->erased_blocks += s->ftl.erased;
}

void sim_reset_counters(struct sim *s)
{
    if (s->set)
        set_reset_counters(s);
    sim_get_life(s, &s->life);
    sim_power_to(s, s->now);
    if (s->model.heat_ns)
        power_heat(s);
    s->heat_nj = 0;
    s->ftl.placed = s->ftl.moved = s->ftl.erased = 0;
    s->ftl.slc.written = s->ftl.slc.folded = 0;
    s->cache.hits = s->cache.misses = 0;
    s->read_units = s->base_nj = s->base_pj = 0;
    memset(&s->served, 0, sizeof s->served);
}
