/* SPDX-License-Identifier: MIT */
/* Replay files (schema 1): commands and what was answered to them. */
#ifndef SATED_TRANSPORT_EXCHANGE_H
#define SATED_TRANSPORT_EXCHANGE_H

#include "transport/command.h"

#define EXCHANGE_SCHEMA 1
#define EXCHANGE_DWORDS 9 /* of an NVMe command: NSID, dwords 2, 3, 10 to 15 */

struct exchange {
    enum sated_command_set set; /* never ATA: that is recorded as it goes out, in a CDB */
    unsigned line;              /* in the file */
    bool used;
    uint8_t cdb[32], cdb_mask[32];
    uint32_t cdb_len;
    uint8_t opcode, flags;
    uint32_t dwords[EXCHANGE_DWORDS], dword_masks[EXCHANGE_DWORDS];
    bool checks_out; /* the data that goes out is compared */
    uint8_t *out;
    size_t out_len;
    /* The answer. */
    int error;   /* an errno that the kernel gave, else 0 */
    int failure; /* what the command failed with where that has no errno, such as SATED_STALLED; else 0 */
    struct sated_reply reply;
    bool has_residual;
    uint8_t *data;
    size_t data_len;
};

struct exchanges {
    struct sated_identity identity; /* what the file says, and what its answers say */
    bool strict;                    /* they come in this order and no other */
    char node[64], root[4096];      /* the machine that the guard judges, if any */
    uint32_t nsid;                  /* the namespace that was asked about; 0 unknown */
    size_t n;
    struct exchange *list;
};

/* Reads a replay file. Return: 0, SATED_PARSE with the line, or an errno. Owner: the caller frees by exchanges_free. */
int exchanges_read(struct exchanges *out, const char *path);
void exchanges_free(struct exchanges *e);

/* The NVMe dwords of a command, in the order of the file's. */
void exchange_dwords(uint32_t out[EXCHANGE_DWORDS], const struct sated_nvme_command *c);
extern const char *const exchange_dword_names[EXCHANGE_DWORDS];

#endif
