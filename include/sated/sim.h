/* SPDX-License-Identifier: MIT */
#ifndef SATED_SIM_H
#define SATED_SIM_H

#include <sated/drive.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifndef SATED_STATIC
#pragma GCC visibility push(default)
#endif

/* cdef: begin */

/* The simulated drive. */
struct sated_sim_counters {
    uint64_t host_write_units; /* mapping units written by the host */
    uint64_t nand_write_units; /* programmed, host and garbage collection */
    uint64_t gc_write_units;   /* programmed by garbage collection */
    uint64_t erases;           /* of erase blocks */
    uint64_t served_reads;     /* commands */
    uint64_t served_writes;
    uint64_t served_trims;
    uint64_t read_bytes;
    uint64_t written_bytes;
    uint64_t trimmed_bytes;
    uint64_t map_hits;
    uint64_t map_misses;
    uint64_t energy_nj;    /* nanojoule, of the drive at its scale, since the counters were set back */
    uint64_t mapped_units; /* that hold data now */
    uint64_t free_blocks;
    uint32_t unit_bytes; /* of a mapping unit */
    uint32_t scale;      /* 1/scale of the blocks */
};

/* The names of the models built in. Return: a name, NULL behind the last. Thread: any. Owner: the
 * library, for ever. */
const char *sated_sim_model_name(size_t index);

/* The text of a model: TOML with the origin of each value. Return: NULL if there is none of that name.
 * Thread: any. Owner: the library, for ever. */
const char *sated_sim_model_text(const char *name);

/* Adds a model by text, or replaces one that was added; a built-in one cannot be replaced.
 * Return: 0, or SATED_PARSE with line and key. Thread: any; open drives keep what they have. */
int sated_sim_add_model(const char *name, const char *text);

/* Makes a state file. @param uri sim:NAME[,key=value]...; @param path must not exist.
 * Return: 0, SATED_PARSE for a URI that is none of a simulated drive, -EEXIST, or another errno. Thread: any. */
int sated_sim_create(const char *uri, const char *path);

/* The counters of a simulated drive. Return: 0, SATED_UNSUPPORTED for another drive, SATED_STATE while a load runs.
 * Thread: the handle's, as of all calls below. */
int sated_sim_get_counters(struct sated_drive *d, struct sated_sim_counters *out);

/* Sets back served counters and energy, so that a span can be measured; wear and contents stay.
 * Return: as sated_sim_get_counters. */
int sated_sim_reset_counters(struct sated_drive *d);

/* Writes the whole state to a file, atomically. @param path NULL for its state= file, if it has one.
 * Return: 0, SATED_UNSUPPORTED for another drive, SATED_STATE while a load runs, SATED_UNSAFE if the file holds anything
 * but such a state, or an errno. */
int sated_sim_save(struct sated_drive *d, const char *path);

/* Puts a saved state back. @param path written by sated_sim_save for the same model and keys.
 * Return: 0; SATED_STATE for one of another drive, a damaged one, or while a load runs; SATED_UNSUPPORTED for another
 * drive; or an errno. Whenever it fails the drive is as it was. */
int sated_sim_restore(struct sated_drive *d, const char *path);

/* Switches power off and on: what the write buffer held is kept only if the model has capacitors.
 * Return: as sated_sim_get_counters. */
int sated_sim_power_cycle(struct sated_drive *d);

/* cdef: end */

#ifndef SATED_STATIC
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
