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
    uint64_t parity_units;           /* programmed beside nand_write_units, of full rows */
    uint64_t slc_write_units;        /* written into the quick cache */
    uint64_t folded_units;           /* programmed again from there, and counted in nand_write_units */
    uint64_t slc_held_units;         /* in it now, with what was overwritten since */
    uint64_t bad_blocks;             /* now, as all below: blocks no longer used */
    uint64_t spare_blocks;           /* kept for those that fail */
    uint64_t lost_units;             /* whose data is gone until they are written again */
    uint64_t degraded_units;         /* that can only be read with the help of parity */
    uint64_t uncorrectable_commands; /* that came upon lost data, ever */
    uint64_t wear_sum;               /* erases of the blocks in use */
    uint32_t wear_least;             /* of one of them */
    uint32_t wear_most;
    uint32_t failed_dies;
    uint32_t read_only; /* 1: it takes no more writes, for want of blocks */
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

/* What a drive can be made to hold, at once and without a write: in time that goes with its size only. */
enum sated_sim_filling {
    SATED_FILL_FRESH = 0,      /* nothing: every block is erased */
    SATED_FILL_SEQUENTIAL = 1, /* the lowest addresses, as one sequential pass leaves them */
    SATED_FILL_RANDOM = 2,     /* addresses all over, each written once, in random order */
    SATED_FILL_STEADY = 3,     /* all, as uniform random writes leave it that went on for ever: the first write already
                                      meets the amplification of steady state. By the stationary distribution of greedy,
                                      fifo, random and d-choices; of cost-benefit by fifo's, which is near to it, and
                                      of windowed by that and two capacities of writes more */
    SATED_FILL_LAST = 3,
};

/* Forgets what the drive holds, as a purge does, and fills what can be addressed. It takes none of the drive's time and
 * counts as no write; served counters, energy and wear go on. @param filling enum sated_sim_filling; @param share of
 * what can be addressed, from 0 to 1, for SEQUENTIAL and RANDOM; else 1.
 * Return: as sated_sim_get_counters; SATED_PARSE for another filling or share, SATED_STATE or what the drive answers
 * where its medium cannot be written now, -ENOMEM. */
int sated_sim_fill(struct sated_drive *d, uint32_t filling, double share);

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

/* A die fails, for ever. With parity (the model's, or parity=on) what it held is told from the other dies of its rows, at
 * their cost, and relocated when the drive is idle and beside the host's writes; data of rows that miss two dies is lost,
 * and without parity all that the die held: reading it is a media error until it is written or trimmed. The dies that are
 * left make fewer blocks; where those are too few, the drive takes no more writes.
 * @param die from 0 on: the dies of the first channel where each channel collects its own garbage, else one of each
 * channel in turn. Return: as sated_sim_get_counters, SATED_PARSE for a die that it has not, SATED_STATE for one that has
 * failed already or without which no block can be laid out. */
int sated_sim_fail_die(struct sated_drive *d, uint32_t die);

/* NVMe: later commands go through this controller of the subsystem. @param controller 0 or 1.
 * Return: as sated_sim_get_counters, SATED_UNSUPPORTED for what has no such controller. */
int sated_sim_set_controller(struct sated_drive *d, uint32_t controller);

/* What a member of a set is in. */
enum sated_sim_member_state {
    SATED_MEMBER_ONLINE = 0,
    SATED_MEMBER_FAILED = 1,     /* what it held is worked out from the others, or read from its mirror */
    SATED_MEMBER_REBUILDING = 2, /* a spare that has taken its place, and is in use as far as it is filled */
};

/* A drive of a RAID set of simulated drives, such as sim:raid5,members=3,of=710. */
struct sated_sim_member {
    uint64_t capacity_bytes; /* that the set lets it address */
    uint64_t native_bytes;
    uint64_t raw_bytes;
    uint64_t rebuilt_bytes; /* while it is being rebuilt */
    uint32_t state;         /* enum sated_sim_member_state */
    uint32_t reserved;
    char model[64];
    char serial[64];
    struct sated_sim_counters counters; /* its own */
};

/* How many members a simulated drive has. @param out 0 for one that is no set. Return: as sated_sim_get_counters. */
int sated_sim_count_members(struct sated_drive *d, uint32_t *out);

/* @param index from 0 on. Return: as sated_sim_get_counters; SATED_PARSE where there is no such member. */
int sated_sim_get_member(struct sated_drive *d, uint32_t index, struct sated_sim_member *out);

/* A member is lost. Return: as sated_sim_get_member; SATED_STATE where the set cannot miss it. */
int sated_sim_fail_member(struct sated_drive *d, uint32_t index);

/* A spare takes the place of a member that has failed, and is filled while the set goes on, in its own time.
 * @param bytes_per_s the most of the spare that is filled in a second, 1e6 to 1e12.
 * Return: as sated_sim_get_member; SATED_STATE where it has not failed, or another one is being rebuilt. */
int sated_sim_replace_member(struct sated_drive *d, uint32_t index, uint64_t bytes_per_s);

/* Bytes of a simulated drive or set, as one command after another moves them. A set's cache is written out first. What
 * a load wrote reads as a filler. @param offset, @param bytes multiples of 512, within what can be addressed.
 * Return: as sated_sim_get_counters; SATED_PARSE outside that, SATED_STATE where its medium is closed, -ENOMEM. */
int sated_sim_read(struct sated_drive *d, uint64_t offset, void *out, uint32_t bytes);
int sated_sim_write(struct sated_drive *d, uint64_t offset, const void *data, uint32_t bytes);

/* cdef: end */

#ifndef SATED_STATIC
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
