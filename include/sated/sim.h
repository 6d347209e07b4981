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
    uint64_t served_write_zeroes;
    uint64_t served_flushes;
    uint64_t zeroed_bytes;
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
 * Return: 0, SATED_UNSUPPORTED for another drive, SATED_STATE while a load runs or in a fork, whose copy is not the
 * drive, SATED_UNSAFE if the file holds anything but such a state, or an errno. */
int sated_sim_save(struct sated_drive *d, const char *path);

/* Puts a saved state back, and saves it to the drive's own state file at once, if it has one. A purge and a change of
 * capacity that were interrupted are undone by that: nothing of them is left to be resumed. @param path written by
 * sated_sim_save for the same model and keys.
 * Return: 0; SATED_STATE for one of another drive, a damaged one, or while a load runs; SATED_UNSUPPORTED for another
 * drive; or an errno. Whenever it fails the drive is as it was, but where only its own file could not be
 * written, or a journal beside that not be removed. */
int sated_sim_restore(struct sated_drive *d, const char *path);

/* Switches power off and on: what the write buffer held is kept only if the model has capacitors; locks, freezes and
 * what else the standards call volatile are as after power-on. Return: as sated_sim_get_counters. */
int sated_sim_power_cycle(struct sated_drive *d);

/* What can be made to go wrong. */
enum sated_sim_fault_kind {
    SATED_FAULT_FAIL = 1, /* a command is answered with the given sense data, error or status, and does nothing; what
                                  a load does is no command of these, and never meets one */
    SATED_FAULT_POWER_CUT = 2,       /* during a command; no command is answered until sated_sim_power_cycle */
    SATED_FAULT_OPERATION_FAILS = 3, /* the next sanitize, format or self-test to be started ends in a failure */
    SATED_FAULT_STALL = 4,           /* what goes on makes no progress */
    SATED_FAULT_NO_REGISTERS = 5,    /* ATA: the bridge returns none */
    SATED_FAULT_FIXED_SENSE = 6,     /* fixed-format sense data, whatever was asked for */
    SATED_FAULT_LEGACY_SENSE = 7,    /* ATA: a failing command's registers as Linux before 6.11 lays them out */
    SATED_FAULT_TWELVE_ONLY = 8,     /* ATA: the bridge takes the 12-byte pass-through only */
    SATED_FAULT_NO_ERASE = 9,        /* ATA: the bridge carries SECURITY SET PASSWORD, but not SECURITY ERASE UNIT */
    SATED_FAULT_BRIDGE_LOCK = 10,    /* the bridge has a lock of its own: media access answers 07/74/71 */
    SATED_FAULT_DMA_4K = 11,         /* NVMe: data comes in pieces of 4 KiB, whatever length was asked for */
    SATED_FAULT_LAST = 11,
};

/* How far a command was when power was cut, or a format that a cut broke off. */
enum sated_sim_fault_outcome {
    SATED_FAULT_BEFORE = 0, /* it had no effect: old data */
    SATED_FAULT_AFTER = 1,  /* it was carried out, but not answered */
    SATED_FAULT_HALF = 2,   /* as AFTER, and half of what it started is done */
    SATED_FAULT_OUTCOME_LAST = 2,
};

struct sated_sim_fault {
    uint32_t size;    /* of this struct */
    uint32_t kind;    /* enum sated_sim_fault_kind */
    uint32_t after;   /* so many matching commands are let through first */
    uint32_t count;   /* so many are met; 0 = all, until the faults are cleared */
    int32_t opcode;   /* of the commands it is for: SCSI operation code, ATA command, NVMe opcode; -1 = all */
    uint32_t outcome; /* POWER_CUT: enum sated_sim_fault_outcome */
    uint8_t key;      /* FAIL, SCSI: sense key, additional sense code and qualifier */
    uint8_t asc;
    uint8_t ascq;
    uint8_t ata_error;    /* FAIL, ATA: the ERROR register, such as 04h for ABRT */
    uint16_t nvme_status; /* FAIL, NVMe: 15 bits, as in struct sated_reply; not of success */
    uint16_t host_status; /* FAIL, SCSI and ATA: the host adapter's, DID_* of the kernel, in place of an answer */
};

/* Sets all members: of no kind, all commands, for ever. */
void sated_sim_fault_init(struct sated_sim_fault *f);

/* Orders a fault; up to 16 at a time. They are kept in the drive's state, with how many commands each has met.
 * Return: as sated_sim_get_counters, or SATED_PARSE. */
int sated_sim_fail(struct sated_drive *d, const struct sated_sim_fault *f);

/* Takes all faults away; a stalled operation goes on. Return: as sated_sim_get_counters. */
int sated_sim_clear_faults(struct sated_drive *d);

/* The drive takes no command for `for_ns` of its own time, `in_ns` from now, once: what comes meanwhile waits, as where
 * garbage collection, a retry or a heat limit gets in the way. A later call takes the place of one before; not kept in a
 * state. @param for_ns 0 = not at all. Return: as sated_sim_get_counters, or SATED_PARSE for a negative time or one of
 * more than an hour. */
int sated_sim_stall(struct sated_drive *d, int64_t in_ns, int64_t for_ns);

/* NVMe: later commands go through this controller of the subsystem. @param controller 0 or 1.
 * Return: as sated_sim_get_counters, SATED_UNSUPPORTED for what has no such controller. */
int sated_sim_set_controller(struct sated_drive *d, uint32_t controller);

/* cdef: end */

#ifndef SATED_STATIC
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
