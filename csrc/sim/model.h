/* SPDX-License-Identifier: MIT */
/* What a simulated drive is made of: numbers from a model's text, changed by the keys of a URI. */
#ifndef SATED_SIM_MODEL_H
#define SATED_SIM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_LOGICAL_BLOCK 512
#define MODEL_PLANES_MAX 4096
#define MODEL_SLEEPS 2 /* slumber, devslp */
#define MODEL_THROTTLES 2

/* A URI behind "sim:", taken apart. */
struct spec {
    char *text;       /* own copy, cut up */
    const char *name; /* a model, or the path of a state file */
    bool is_file;
    const char *state; /* state=FILE, or NULL */
    const char *fill;  /* what a new drive holds, or NULL */
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
    uint64_t behind; /* of reads: in 1/1000 programs */
    uint64_t behind_most_ns;
    uint64_t planes, suspend_ns, suspend_most;
    uint64_t queue, command_write_ns, command_read_ns, command_trim_ns, extra_read_ns, wide_units, wide_read_ns,
        wide_write_ns, modify_ns, move_ns, read_latency_ns, link_kb_s, buffer_stripes, capacitors, flush_ns, purge_ns,
        timing;
    uint64_t coverage, entries, miss_read_ns, miss_write_ns, fetch_ns;
    uint64_t policy, choices, streams, hot, levelling, threshold, idle_gc_ns, idle_free, whole_victim;
    uint64_t slc_static, slc_dynamic, slc_bits, slc_program_ns, slc_read_ns, slc_idle_ns;
    uint64_t parity, spare, factory_bad, grown, wear_limit;
    uint64_t fna, sanitize, inhibit; /* NVMe: as Identify Controller tells them, and NDI */
    uint64_t idle_mw, active_mw, program_nj, read_nj;
    struct {
        uint64_t mw, after_ns, enter_ns, exit_ns;
    } sleep[MODEL_SLEEPS];
    uint64_t ambient_uc, resistance_mk, heat_ns; /* C, K/W and the time constant of the drive's temperature */
    struct {
        uint64_t uc, percent;
    } throttle[MODEL_THROTTLES];
    uint64_t amac; /* ATA: the accessible size is set by AMAC, else by HPA */
    /* Worked out from them. */
    uint64_t seed, scale;
    uint64_t raw_bytes;            /* at this scale */
    uint64_t units;                /* U: that the host can address */
    uint64_t domains, domain_dies; /* garbage collection chooses a victim in each */
    uint64_t per_domain, reserve;  /* blocks of a domain; see ftl.h */
    uint64_t data_dies;            /* dies of a domain, less one for parity */
    uint64_t spares;               /* blocks of a domain beside those, before some of them were bad */
    uint64_t factory_bad_blocks;   /* of a domain */
    uint64_t wear_erases;          /* after which a block fails; 0: none does */
    uint64_t frontiers;            /* open blocks of a domain */
    uint64_t idle_pages;           /* free pages of a domain up to which garbage is collected in idle */
    uint64_t cached_map_pages, map_pages;
    uint64_t slice_ns; /* of erasing, for each program */
    uint64_t sleeps;   /* there is a state of less power than idle */
};

/* Of [capacity], whose values are arrays with one element for each size; none where it has no such table. */
#define MODEL_SIZES_MAX 16
struct model_sizes {
    size_t n;
    const char *names[MODEL_SIZES_MAX];
    double bytes[MODEL_SIZES_MAX], raw_bytes[MODEL_SIZES_MAX];
};

struct params;
int model_sizes(const struct model *m, const struct params *params, struct model_sizes *s);
int model_choose_size(const struct model *m, const struct model_sizes *s, const char *text, size_t *index);

/* Makes the numbers from a model's text and a URI's keys. Return: 0 or SATED_PARSE. */
int model_build(struct model *m, const char *name, const char *text, const struct spec *spec);

/* model_life.c: blocks in reserve and parity, for work_out(). Return: 0 or SATED_PARSE. */
int model_spares(struct model *m);
/* Bytes of flash under so many pages, with parity and the fixed part of the quick cache. */
uint64_t model_flash_bytes(const struct model *m, uint64_t pages);

/* Checks a text by itself: every key known, every value with its origin. Return: 0 or SATED_PARSE. */
int model_check(const char *name, const char *text);

/* The presets that nand= chooses from. */
extern const char sim_nand_presets[] __attribute__((visibility("hidden")));

/* A copy of the text of a model built in or added, which the caller frees. Return: 0, or SATED_PARSE naming the
 * nearest. */
int models_copy(const char *name, char **text);

#endif
