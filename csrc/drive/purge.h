/* SPDX-License-Identifier: MIT */
/* A purge from within: the job, what a drive says of its erases, and the one procedure that all protocols share. */
#ifndef SATED_DRIVE_PURGE_H
#define SATED_DRIVE_PURGE_H

#include <pthread.h>

#include <sated/purge.h>

#include "core/error.h"
#include "drive/journal.h"
#include "transport/handle.h"

#define PURGE_PAGE 4096 /* bytes of the buffers that blocks and pages come in */
#define PURGE_SECOND INT64_C(1000000000)
#define PURGE_PASSWORD "sated-erase" /* of ATA Security, filled up by zeros; documented, so that it cannot be lost */

/* What a drive says of itself. */
struct purge_look {
    struct sated_purge_way way[SATED_PURGE_LAST + 1];
    int refusal[SATED_PURGE_LAST +
                1];       /* the code that goes with why_not; 0: it does not say, so that it can be tried */
    uint32_t state;       /* enum sated_purge_state, by the drive alone */
    uint32_t progress;    /* RUNNING: of 65536 */
    bool formats;         /* RUNNING: a format, not a sanitize operation */
    char what[160];       /* the state in words */
    uint64_t blocks;      /* that can be addressed here; 0: none, or nobody told */
    uint32_t block_bytes; /* 0: they cannot be read and written by plain commands */
    union {
        struct {
            uint32_t nsid, lbaf, pi, pil, mset, flushes, range_blocks, ranges;
        } nvme;
        struct {
            bool enabled, locked, maximum, lba48;
            uint32_t trim_blocks;
            uint16_t erase_word[2]; /* IDENTIFY words 89, 90 */
        } ata;
        struct {
            uint32_t fmtpinfo, protection, unmap_blocks;
            uint64_t same_blocks;
        } scsi;
    };
};

/* Marks that are written before and looked for afterwards. */
struct canaries {
    uint64_t id;   /* of the purge */
    uint64_t mask; /* which of them were written and read back */
    uint64_t blocks;
    uint32_t block_bytes;
    uint32_t n;
};

struct purge_protocol;

struct sated_purge {
    struct sated_drive *d;
    const struct purge_protocol *protocol; /* NULL: a file, or a simulated drive without commands */
    struct sated_purge_options options;
    struct purge_look look;
    struct canaries canaries;
    struct journal *journal;
    bool found;       /* the journal is of an earlier run */
    bool marked;      /* the journal says that all canaries were written */
    uint32_t settled; /* the method that an operation found in the drive had, once that ended well; 0: none */
    bool restricted;  /* a sanitize that failed can be left only by another one of its kind */
    uint8_t *page;    /* PURGE_PAGE bytes twice: what moves, and what is expected */
    struct sated_purge_result result;
    struct sated_detail detail;
    int64_t start_ns;
    int64_t estimate_ns; /* of what the drive does now; -1: not known */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    _Atomic bool stop;
    bool started, ended;                  /* ended, and what follows: under the lock */
    struct sated_purge_progress progress; /* elapsed_ns and eta_ns are filled when it is asked for */
    int64_t erasing_ns;                   /* since when the drive erases */
};

struct purge_protocol {
    /* Asks what there is, by commands that only read. @param usb ATA Security may be used behind a USB bridge.
     * @param password there is one: of a lock, ours or given. */
    int (*look)(struct sated_drive *d, struct purge_look *l, bool usb, bool password);
    /* Leads out of what was left: waits for it, leaves a failure, unlocks, formats; sets `settled` where that erased. */
    int (*settle)(struct sated_purge *p);
    /* Erases by p->result.method, and says what the drive told of its end. */
    int (*erase)(struct sated_purge *p);
    /* Reads or writes one block; its bytes are in p->page. */
    int (*move)(struct sated_purge *p, bool writes, uint64_t lba);
    int (*flush)(struct sated_purge *p);
    /* Bytes behind an LBA limit; UINT64_MAX: not known. */
    uint64_t (*hidden)(struct sated_purge *p);
};

extern const struct purge_protocol purge_nvme, purge_ata, purge_scsi;

/* ---- Ways (purge_ways.c) ---- */

extern const char *const purge_names[SATED_PURGE_LAST + 1];

/* How to speak with it; NULL for what takes no commands. */
const struct purge_protocol *purge_protocol_of(const struct sated_drive *d);

/* Asks the drive; fills all of *l. Return: 0 or an error. */
int purge_look(struct sated_drive *d, const struct sated_purge_options *opt, struct purge_look *l);

/* For looks: a method that the drive has, and one that it has not, with its code. */
void purge_has(struct purge_look *l, uint32_t method, uint32_t level, int64_t estimate_ns, bool whole);
void purge_has_not(struct purge_look *l, uint32_t method, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void purge_finds(struct purge_look *l, uint32_t state, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The method to take, of what was looked at; a named one, or the first of the protocol's order that reaches no further
 * than consent. Return: 0, or the refusal that says most. */
int purge_choose(struct sated_drive *d, struct purge_look *l, const struct sated_purge_options *opt, uint32_t *method);

/* ---- The procedure (purge_run.c) ---- */

/* All of it, from the journal on; the calling thread works for the drive. Return: 0 or an error. */
int purge_run(struct sated_purge *p);

/* What is done next: on disk before it is done. The drive has to be the one that it was, and nobody must have stopped
 * the purge. Return: 0 or an error: then the command must not be sent. */
int purge_step(struct sated_purge *p, const char *step);

/* Says how far the erase is. @param done of `of`, 0 of 0: not known. */
void purge_tell(struct sated_purge *p, uint64_t done, uint64_t of);

/* Says something to whoever waits. */
void purge_notice(struct sated_purge *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says what the drive told of the end of it. */
void purge_says(struct sated_purge *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Asks until it is over, and gives up where nothing moves. @param ask 1 while it goes on, with its progress of 65536 (or
 * UINT32_MAX: not told), 0 when it is over, else an error. @param what for the sentence. Return: 0 or an error. */
int purge_poll(struct sated_purge *p, const char *what, int (*ask)(struct sated_purge *p, uint32_t *progress));

/* Leaves the drive alone for so long by its clock, unless the purge is stopped. */
int purge_pause(struct sated_purge *p, int64_t ns);

/* Sends a command for all blocks, one after the other for at most so many. @param step for the journal;
 * @param send builds it and sends it. Return: 0 or the first error. */
int purge_sweep(struct sated_purge *p, const char *step, uint64_t most,
                int (*send)(struct sated_purge *p, uint64_t at, uint64_t blocks));

/* Whether a failed command says something of that command alone, so that the next one may be better. */
bool purge_is_answer(int rc);

/* ---- Canaries (purge_canary.c) ---- */

/* Chooses an identifier, and where they go. */
void canaries_init(struct canaries *c, struct sated_drive *d, const struct purge_look *l, uint32_t n);
uint64_t canary_lba(const struct canaries *c, uint32_t i);

/* Writes them, reads them back, and keeps which of them are there. */
int canaries_mark(struct sated_purge *p);

/* Looks for them. */
int canaries_check(struct sated_purge *p);

#endif
