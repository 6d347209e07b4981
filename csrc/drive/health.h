/* SPDX-License-Identifier: MIT */
/* Gathering what drives tell of their health: one file per protocol fills the same struct. */
#ifndef SATED_DRIVE_HEALTH_H
#define SATED_DRIVE_HEALTH_H

#include <sated/ata.h>
#include <sated/health.h>
#include <sated/nvme.h>
#include <sated/scsi.h>

#include "protocol/known_health.h"

#define HEALTH_PAGE 4096 /* bytes of h->page: no page that is asked for is longer */

struct health {
    struct sated_drive *d;
    struct sated_health *out;
    struct sated_health_pages *pages; /* NULL: nobody wants them */
    uint8_t *page;                    /* the answer to the last command */
    size_t n;                         /* bytes of it */
    struct sated_reply reply;         /* what came with it, also where it was refused */
    unsigned answers;                 /* pages that came */
    uint64_t unit;                    /* bytes of the coarsest count that bytes were made from */
    int first;                        /* error of the first page that did not come, */
    struct sated_detail first_detail; /* and its sentence */
    bool over;                        /* the drive is gone or may not be asked: nothing more is */
};

#define TELL(h, member, value) KNOW(health, (h)->out, member, value)
#define TOLD(h, member) IS_KNOWN(health, (h)->out, member)

/* Sentences for a person. */
void health_warn(struct health *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
void health_doubt(struct health *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Asks for a page. @param optional: many drives do not have it, so nothing is said where it is refused.
 * Return: whether it came; it is then in h->page, h->n bytes long, and kept under its name. */
bool health_ask_scsi(struct health *h, const char *name, bool optional, const struct sated_scsi_command *c);
bool health_ask_ata(struct health *h, const char *name, bool optional, const struct sated_ata_command *c,
                    struct sated_ata_registers *registers);
bool health_ask_nvme(struct health *h, const char *name, bool optional, const struct sated_nvme_command *c);

/* Says why a page did not come, by the calling thread's detail. */
void health_refused(struct health *h, const char *name);

/* A counter times the bytes of one count. @param what for the sentence where that is 0, which stands for none or not
 * reported, or has more than 64 bits. Return: whether it can be taken. */
bool health_bytes(struct health *h, const char *what, const uint64_t count[2], uint64_t unit, uint64_t *bytes);

/* Whether a counter of so many bits counts: all of them set is what a page that was never filled, or a bus that nobody
 * drives, reads as. @param what for the sentence. */
bool health_count(struct health *h, const char *what, uint64_t value, unsigned bits);

/* A temperature that a drive could have, else says so: no drive works below -100 degrees Celsius, or above 200.
 * @param out receives it. Return: whether it could. */
bool health_celsius(struct health *h, const char *what, double celsius, double *out);
#define TELL_CELSIUS(h, member, what, celsius) \
    do { \
        if (health_celsius(h, what, celsius, &(h)->out->member)) \
            (h)->out->known |= KNOWN_BIT(health, member); \
    } while (0)

/* Conditions that the drive told of. @param which enum sated_health_condition; @param hold whether they do; what has been
 * said to hold once does. */
void health_conditions(struct health *h, uint32_t which, bool hold);

/* How far a sanitize or a format is. @param done of 65536. */
void health_progress(struct health *h, uint32_t done);

/* Result codes of self-tests, as sets of bits; 0 is "passed", and what is in neither is reserved. */
struct health_results {
    uint16_t aborted, failed;
};

/* How the last self-test ended, by its code; says so where that has no meaning. Return: whether it has one. */
bool health_self_test(struct health *h, uint32_t code, struct health_results of);

void health_scsi(struct health *h);
/* Return: whether an ATA drive answered at all. */
bool health_ata(struct health *h);
void health_nvme(struct health *h);

#endif
