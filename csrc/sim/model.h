/* SPDX-License-Identifier: MIT */
/* What a simulated drive is made of: numbers from a model's text, changed by the keys of a URI. */
#ifndef SATED_SIM_MODEL_H
#define SATED_SIM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_LOGICAL_BLOCK 512

/* A URI behind "sim:", taken apart. */
struct spec {
    char *text;       /* own copy, cut up */
    const char *name; /* a model, or the path of a state file */
    bool is_file;
    const char *state; /* state=FILE, or NULL */
    bool lba_given;
    double lba; /* accessible fraction of what the device lets be addressed when it is opened */
    struct {
        const char *key, *value;
    } keys[64]; /* the others */
    size_t n;
};

/* Return: 0 or SATED_PARSE; spec_free is right after either. */
int spec_parse(struct spec *out, const char *text);
void spec_free(struct spec *s);

/* Whole numbers only: times in ns, energies in nJ, powers in mW, shares in 10^-9. It is zeroed before it is filled, so
 * that two models can be compared as bytes. */
struct model {
    char name[48];
    char vendor[32];
    char product[64];
    char firmware[32];
    char transport[16];
    char link[32];
    char protocol[8];
    char size_name[16];
    /* The parameters of the table in model.c, in its order. */
    uint64_t channels, dies; /* dies of a channel */
    uint64_t unit_bytes, np, blocks, op, per_channel, least_scale;
    uint64_t read_ns, program_ns, erase_ns, transfer_ns, erase_units, endurance, program_units, wide_program_units;
    uint64_t queue, command_write_ns, command_read_ns, command_trim_ns, extra_read_ns, wide_units, wide_read_ns,
        wide_write_ns, buffer_stripes, capacitors, flush_ns, purge_ns, timing;
    uint64_t coverage, entries, miss_read_ns, miss_write_ns;
    uint64_t policy, choices, streams;
    uint64_t fna, sanitize, inhibit; /* NVMe: as Identify Controller tells them, and NDI */
    uint64_t idle_mw, active_mw, program_nj, read_nj;
    uint64_t amac; /* ATA: the accessible size is set by AMAC, else by HPA */
    /* Worked out from them. */
    uint64_t seed, scale;
    uint64_t raw_bytes;            /* at this scale */
    uint64_t units;                /* U: that the host can address */
    uint64_t domains, domain_dies; /* garbage collection chooses a victim in each */
    uint64_t per_domain, reserve;  /* blocks of a domain; see ftl.h */
    uint64_t cached_map_pages, map_pages;
    uint64_t slice_ns; /* of erasing, for each program */
};

/* Makes the numbers from a model's text and a URI's keys. Return: 0 or SATED_PARSE. */
int model_build(struct model *m, const char *name, const char *text, const struct spec *spec);

/* Checks a text by itself: every key known, every value with its origin. Return: 0 or SATED_PARSE. */
int model_check(const char *name, const char *text);

/* A copy of the text of a model built in or added, which the caller frees. Return: 0, or SATED_PARSE naming the
 * nearest. */
int models_copy(const char *name, char **text);

#endif
