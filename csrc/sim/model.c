/* SPDX-License-Identifier: MIT */
/* From a model's text and a URI's keys to the numbers of a drive. Floating point is only used here. */
#include "sim/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/params.h"
#include "core/size.h"
#include "sim/ftl.h"

#define WHOLE_SHARE 1000000000ULL
#define RESERVE_BLOCKS 2            /* beside the open ones: the victim in progress, and one to spare */
#define SUSPENSIONS 4               /* of a program, where a model does not say */
#define WEAR_THRESHOLD 64           /* erases, where a model does not say */
#define IDLE_FREE (WHOLE_SHARE / 2) /* of the spare pages, where a model does not say */
#define WINDOW_MAX ((uint64_t)1 << 28)
#define LEAST_BLOCKS 256 /* of a domain, where a drive is scaled: with fewer the closed forms bend */

static const char *const policies[] = {"greedy", "fifo", "random", "d-choices", "cost-benefit", "windowed", NULL};
static const char *const domains[] = {"drive", "channel", NULL};
static const char *const off_on[] = {"off", "on", NULL};
static const char *const levellings[] = {"off", "dynamic", "static", NULL};
static const char *const on_off[] = {"on", "off", NULL};
static const char *const max_address[] = {"hpa", "amac", NULL};

enum kind {
    KIND_NUMBER, /* times factor, rounded */
    KIND_SHARE,  /* the same, but a URI may also say 28% */
    KIND_WHOLE,
    KIND_BYTES, /* a whole number of bytes; in a URI also 4k */
    KIND_WORD,  /* one of a list; stored is its place there */
};

/* Every parameter there is. The key is also what a URI calls it. */
struct parameter {
    const char *table, *key;
    size_t offset;
    enum kind kind;
    double factor, least, most;
    const char *const *words;
    bool optional;
};

#define AT(field) offsetof(struct model, field)
#define US(table, key, field) \
    { \
        table, key, AT(field), KIND_NUMBER, 1e3, 0, 1e7, NULL, false \
    }
#define MAY_US(table, key, field) \
    { \
        table, key, AT(field), KIND_NUMBER, 1e3, 0, 1e7, NULL, true \
    }
#define WHOLE(table, key, field, least, most) \
    { \
        table, key, AT(field), KIND_WHOLE, 1, least, most, NULL, false \
    }
#define SLEEP(name, n) \
    {"power", name "_w", AT(sleep[n].mw), KIND_NUMBER, 1e3, 0, 1000, NULL, true}, \
        {"power", name "_after_ms", AT(sleep[n].after_ns), KIND_NUMBER, 1e6, 0, 1e9, NULL, true}, \
        {"power", name "_enter_ms", AT(sleep[n].enter_ns), KIND_NUMBER, 1e6, 0, 1e6, NULL, true}, \
    { \
        "power", name "_exit_ms", AT(sleep[n].exit_ns), KIND_NUMBER, 1e6, 0, 1e6, NULL, true \
    }
#define WORD(table, key, field, words) \
    { \
        table, key, AT(field), KIND_WORD, 1, 0, 0, words, false \
    }

static const struct parameter parameters[] = {
    WHOLE("geometry", "channels", channels, 1, 64),
    WHOLE("geometry", "dies", dies, 1, 64),
    {"geometry", "page", AT(unit_bytes), KIND_BYTES, 1, 512, 1 << 20, NULL, false},
    WHOLE("geometry", "pages_per_block", np, 8, 65536),
    {"geometry", "blocks", AT(blocks), KIND_WHOLE, 1, 64, 1 << 28, NULL, true},
    {"geometry", "op", AT(op), KIND_SHARE, 1e9, 0, 100, NULL, false},
    WORD("geometry", "domain", per_channel, domains),
    {"geometry", "parity", AT(parity), KIND_WORD, 1, 0, 0, off_on, true},
    {"slc", "slc_static", AT(slc_static), KIND_SHARE, 1e9, 0, 0.5, NULL, true},
    {"slc", "slc_dynamic", AT(slc_dynamic), KIND_SHARE, 1e9, 0, 1, NULL, true},
    {"slc", "slc_bits", AT(slc_bits), KIND_WHOLE, 1, 2, 5, NULL, true},
    MAY_US("slc", "slc_program_us", slc_program_ns),
    MAY_US("slc", "slc_read_us", slc_read_ns),
    {"slc", "slc_idle_ms", AT(slc_idle_ns), KIND_NUMBER, 1e6, 0, 1e7, NULL, true},
    {"spare", "spare_blocks", AT(spare), KIND_SHARE, 1e9, 0, 1, NULL, true},
    {"spare", "factory_bad", AT(factory_bad), KIND_SHARE, 1e9, 0, 0.5, NULL, true},
    {"spare", "grown_bad", AT(grown), KIND_WHOLE, 1, 0, UINT32_MAX, NULL, true},
    {"spare", "wear_limit", AT(wear_limit), KIND_SHARE, 1e9, 0, 100, NULL, true},
    WHOLE("geometry", "min_scale", least_scale, 1, 1 << 20),
    US("flash", "read_us", read_ns),
    US("flash", "program_us", program_ns),
    US("flash", "erase_us", erase_ns),
    US("flash", "transfer_us", transfer_ns),
    WHOLE("flash", "erase_pages", erase_units, 1, 1 << 20),
    {"flash", "endurance", AT(endurance), KIND_WHOLE, 1, 1, 1e7, NULL, true},
    WHOLE("flash", "program_pages", program_units, 1, 1024),
    WHOLE("flash", "wide_program_pages", wide_program_units, 1, 1024),
    {"flash", "planes", AT(planes), KIND_WHOLE, 1, 1, 16, NULL, true},
    MAY_US("flash", "suspend_us", suspend_ns),
    {"flash", "suspend_limit", AT(suspend_most), KIND_WHOLE, 1, 1, 255, NULL, true},
    {"flash", "read_behind", AT(behind), KIND_NUMBER, 1e3, 0, 1000, NULL, true},
    {"flash", "read_behind_ms", AT(behind_most_ns), KIND_NUMBER, 1e6, 0, 1e4, NULL, true},
    WHOLE("controller", "queue", queue, 1, 65535),
    US("controller", "command_write_us", command_write_ns),
    US("controller", "command_read_us", command_read_ns),
    US("controller", "command_trim_us", command_trim_ns),
    US("controller", "extra_read_us", extra_read_ns),
    WHOLE("controller", "wide_pages", wide_units, 2, 1 << 20),
    US("controller", "wide_read_us", wide_read_ns),
    US("controller", "wide_write_us", wide_write_ns),
    MAY_US("controller", "modify_us", modify_ns),
    MAY_US("controller", "move_us", move_ns),
    MAY_US("controller", "read_latency_us", read_latency_ns),
    {"controller", "link_mb_s", AT(link_kb_s), KIND_NUMBER, 1e3, 1, 1e6, NULL, true},
    WHOLE("controller", "buffer_stripes", buffer_stripes, 1, 64),
    WORD("controller", "capacitors", capacitors, off_on),
    {"controller", "flush_ms", AT(flush_ns), KIND_NUMBER, 1e6, 0, 1e6, NULL, false},
    {"controller", "purge_s", AT(purge_ns), KIND_NUMBER, 1e9, 0, 1e6, NULL, false},
    WORD("controller", "timing", timing, off_on),
    {"controller", "max_address", AT(amac), KIND_WORD, 1, 0, 0, max_address, true},
    {"map", "coverage", AT(coverage), KIND_SHARE, 1e9, 0.001, 1, NULL, false},
    WHOLE("map", "entries", entries, 1, 1 << 20),
    US("map", "miss_read_us", miss_read_ns),
    US("map", "miss_write_us", miss_write_ns),
    MAY_US("map", "fetch_us", fetch_ns),
    WORD("collection", "gc", policy, policies),
    WHOLE("collection", "streams", streams, 1, FTL_FRONTIERS_MAX - 1),
    {"collection", "idle_gc_ms", AT(idle_gc_ns), KIND_NUMBER, 1e6, 0, 1e7, NULL, true},
    {"collection", "idle_gc_free", AT(idle_free), KIND_SHARE, 1e9, 0, 1, NULL, true},
    {"collection", "hot", AT(hot), KIND_SHARE, 1e9, 0, 1, NULL, true},
    {"collection", "wear_levelling", AT(levelling), KIND_WORD, 1, 0, 0, levellings, true},
    {"collection", "wear_threshold", AT(threshold), KIND_WHOLE, 1, 1, 1e6, NULL, true},
    {"collection", "incremental", AT(whole_victim), KIND_WORD, 1, 0, 0, on_off, true},
    {"nvme", "fna", AT(fna), KIND_WHOLE, 1, 0, 15, NULL, true},
    {"nvme", "sanitize", AT(sanitize), KIND_WHOLE, 1, 0, 7, NULL, true},
    {"nvme", "no_deallocate_inhibited", AT(inhibit), KIND_WORD, 1, 0, 0, off_on, true},
    {"power", "idle_w", AT(idle_mw), KIND_NUMBER, 1e3, 0, 1000, NULL, false},
    {"power", "active_w", AT(active_mw), KIND_NUMBER, 1e3, 0, 1000, NULL, false},
    {"power", "program_uj", AT(program_nj), KIND_NUMBER, 1e3, 0, 1e6, NULL, false},
    {"power", "read_uj", AT(read_nj), KIND_NUMBER, 1e3, 0, 1e6, NULL, false},
    SLEEP("slumber", 0),
    SLEEP("devslp", 1),
    {"thermal", "ambient_c", AT(ambient_uc), KIND_NUMBER, 1e6, 0, 100, NULL, true},
    {"thermal", "resistance_k_w", AT(resistance_mk), KIND_NUMBER, 1e3, 0, 100, NULL, true},
    {"thermal", "time_constant_s", AT(heat_ns), KIND_NUMBER, 1e9, 0, 1e5, NULL, true},
    {"thermal", "throttle_1_c", AT(throttle[0].uc), KIND_NUMBER, 1e6, 0, 200, NULL, true},
    {"thermal", "throttle_1_percent", AT(throttle[0].percent), KIND_WHOLE, 1, 0, 10000, NULL, true},
    {"thermal", "throttle_2_c", AT(throttle[1].uc), KIND_NUMBER, 1e6, 0, 200, NULL, true},
    {"thermal", "throttle_2_percent", AT(throttle[1].percent), KIND_WHOLE, 1, 0, 10000, NULL, true},
};

#define PARAMETERS (sizeof parameters / sizeof *parameters)

/* Texts of [identity], and the keys of [capacity], whose values are arrays with one element for each size. */
static const struct {
    const char *key;
    size_t offset, bytes;
} texts[] = {
    {"vendor", AT(vendor), sizeof((struct model *)0)->vendor},
    {"product", AT(product), sizeof((struct model *)0)->product},
    {"firmware", AT(firmware), sizeof((struct model *)0)->firmware},
    {"transport", AT(transport), sizeof((struct model *)0)->transport},
    {"link", AT(link), sizeof((struct model *)0)->link},
    {"protocol", AT(protocol), sizeof((struct model *)0)->protocol},
};

#define TEXTS (sizeof texts / sizeof *texts)

static const char *const capacity_keys[] = {"names", "bytes", "raw_bytes"};

/* Messages about a model's text begin with NAME:LINE, those about a URI with sim:NAME. */
struct reading {
    const struct params *params;
    const char *name;
    int rc;
};

static int wrong_text(const char *name, int line, const char *path, const char *what, const char *near)
{
    return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "%s:%d: %s %s%s%s%s", name, line, path, what,
                     near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static bool part_is(const char *path, size_t n, const char *table, const char *key)
{
    size_t t = strlen(table);
    return n == t + 1 + strlen(key) && !strncmp(path, table, t) && path[t] == '.' &&
           !strncmp(path + t + 1, key, n - t - 1);
}

static bool key_is_known(const char *path, size_t n)
{
    for (size_t i = 0; i < PARAMETERS; i++)
        if (part_is(path, n, parameters[i].table, parameters[i].key))
            return true;
    for (size_t i = 0; i < TEXTS; i++)
        if (part_is(path, n, "identity", texts[i].key))
            return true;
    for (size_t i = 0; i < sizeof capacity_keys / sizeof *capacity_keys; i++)
        if (part_is(path, n, "capacity", capacity_keys[i]))
            return true;
    return false;
}

static const char *nearest_key(const char *text)
{
    const char *known[PARAMETERS];
    for (size_t i = 0; i < PARAMETERS; i++)
        known[i] = parameters[i].key;
    return size_nearest(text, known, PARAMETERS);
}

/* Holds a text to its form: table.key.value with its origin beside it, and nothing that nobody reads. */
static void check_leaf(const char *path, int line, void *user)
{
    static const char *const parts[] = {"value", "origin", "source", "note"};
    struct reading *r = user;
    if (r->rc || !strncmp(path, "expected.", 9) || !strncmp(path, "workload.", 9))
        return;
    const char *dot = strchr(path, '.'), *second = dot ? strchr(dot + 1, '.') : NULL;
    if (!second) {
        r->rc = wrong_text(r->name, line, path, "is no { value = ..., origin = ... } in a [table]", NULL);
        return;
    }
    size_t n = (size_t)(second - path), end = strcspn(second + 1, ".");
    if (!key_is_known(path, n)) {
        char key[64];
        snprintf(key, sizeof key, "%.*s", (int)(second - dot - 1), dot + 1);
        r->rc = wrong_text(r->name, line, path, "is not a parameter", nearest_key(key));
        return;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strlen(parts[i]) == end && !strncmp(second + 1, parts[i], end)) {
            char origin[300];
            const char *text;
            snprintf(origin, sizeof origin, "%.*s.origin", (int)n, path);
            int rc = params_get_string(r->params, origin, &text);
            if (rc < 0)
                r->rc = rc;
            else if (!rc || (strcmp(text, "published") && strcmp(text, "inferred") && strcmp(text, "fitted")))
                r->rc = wrong_text(r->name, line, path, "needs an origin: published, inferred or fitted", NULL);
            return;
        }
    r->rc = wrong_text(r->name, line, path, "has a part that is none of value, origin, source, note", NULL);
}

static int wrong_value(const struct parameter *p, const char *name, const char *text)
{
    char range[128] = "";
    if (p->kind != KIND_WORD) {
        char least[SIZE_NUMBER], most[SIZE_NUMBER];
        size_print_number(least, sizeof least, p->least, 15);
        size_print_number(most, sizeof most, p->most, 15);
        snprintf(range, sizeof range, "a number from %s to %s", least, most);
    }
    for (size_t i = 0; p->kind == KIND_WORD && p->words[i]; i++)
        snprintf(range + strlen(range), sizeof range - strlen(range), "%s%s%s", i ? ", " : "one of ", p->words[i],
                 p->words != policies ? ""
                 : i == GC_D_CHOICES  ? ":N"
                 : i == GC_WINDOWED   ? ":W"
                                      : "");
    return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "sim:%s: %s = %s has no meaning; it is %s", name, p->key, text,
                     range);
}

static int put_number(struct model *m, const struct parameter *p, double v, const char *text)
{
    if (!(v >= p->least && v <= p->most) ||
        (p->kind != KIND_NUMBER && p->kind != KIND_SHARE && v != (double)(uint64_t)v))
        return wrong_value(p, m->name, text);
    *(uint64_t *)((char *)m + p->offset) = (uint64_t)(v * p->factor + 0.5);
    return 0;
}

static int put_word(struct model *m, const struct parameter *p, const char *text)
{
    size_t n = strcspn(text, ":");
    for (uint64_t i = 0; p->words[i]; i++) {
        if (strlen(p->words[i]) != n || strncmp(text, p->words[i], n))
            continue;
        uint64_t most = p->words != policies ? 0 : i == GC_D_CHOICES ? 1024 : i == GC_WINDOWED ? WINDOW_MAX : 0;
        if ((most != 0) != (text[n] == ':'))
            break;
        if (most && (size_parse_whole(p->key, text + n + 1, &m->choices) || !m->choices || m->choices > most))
            break;
        *(uint64_t *)((char *)m + p->offset) = i;
        return 0;
    }
    return wrong_value(p, m->name, text);
}

/* One parameter from the text. @param size which element, where the value is an array with one for each size. */
static int read_parameter(struct model *m, const struct params *params, const struct parameter *p, size_t size)
{
    char path[128], shown[SIZE_NUMBER];
    snprintf(path, sizeof path, "%s.%s.value", p->table, p->key);
    int rc;
    if (p->kind == KIND_WORD) {
        const char *text;
        rc = params_get_string(params, path, &text);
        if (rc == 1)
            return put_word(m, p, text);
    } else {
        double v, each[MODEL_SIZES_MAX];
        size_t n = 0;
        if (params_get_numbers(params, path, each, MODEL_SIZES_MAX, &n) == 1 && size < n) {
            v = each[size];
            rc = 1;
        } else {
            rc = params_get_number(params, path, &v);
        }
        if (rc == 1) {
            size_print_number(shown, sizeof shown, v, 15);
            return put_number(m, p, v, shown);
        }
    }
    if (rc < 0 || p->optional)
        return rc;
    return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "%s: the model has no %s.%s", m->name, p->table, p->key);
}

static int parse_scale(const char *name, const char *text, uint64_t *scale)
{
    const char *n = !strncmp(text, "1/", 2) ? text + 2 : !strcmp(text, "1") ? text : NULL;
    if (!n || size_parse_whole("scale", n, scale) || !*scale || *scale > 1 << 20)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s: scale = %s has no meaning; write 1/N, such as 1/64", name, text);
    return 0;
}

/* A key that is a parameter of the model. */
static int override(struct model *m, const struct params *params, const char *key, const char *text)
{
    for (size_t i = 0; i < PARAMETERS; i++) {
        const struct parameter *p = &parameters[i];
        double v;
        uint64_t bytes;
        int rc;
        if (strcmp(key, p->key) || p->offset == AT(least_scale))
            continue;
        if (p->offset == AT(blocks) && params_get_number(params, "geometry.blocks.value", &v) != 1)
            return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                             "sim:%s takes no blocks: its sizes are chosen by capacity", m->name);
        switch (p->kind) {
        case KIND_WORD: return put_word(m, p, text);
        case KIND_BYTES: rc = size_parse_io(text, &bytes); return rc ? rc : put_number(m, p, (double)bytes, text);
        case KIND_WHOLE:
            rc = size_parse_whole(key, text, &bytes);
            return rc ? rc : put_number(m, p, (double)bytes, text);
        case KIND_SHARE: rc = size_parse_share(key, text, &v); return rc ? rc : put_number(m, p, v, text);
        default: rc = size_parse_number(key, text, &v); return rc ? rc : put_number(m, p, v, text);
        }
    }
    const char *known[PARAMETERS + 7] = {"seed", "capacity", "lba", "scale", "state", "fill", "nand"};
    for (size_t i = 0; i < PARAMETERS; i++)
        known[i + 7] = parameters[i].key;
    const char *near = size_nearest(key, known, PARAMETERS + 7);
    return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "sim:%s has no key \"%s\"%s%s%s", m->name, key,
                     near ? "; did you mean " : "; common ones are seed, capacity, lba, scale, fill and state",
                     near ? near : "", near ? "?" : "");
}

/* nand=PRESET: the times of a kind of flash. */
static int choose_nand(struct model *m, const char *preset)
{
    struct params *presets;
    int rc = params_parse(&presets, "nand", sim_nand_presets), found = 0;
    for (size_t i = 0; !rc && i < PARAMETERS; i++) {
        char path[96], shown[SIZE_NUMBER];
        double v;
        snprintf(path, sizeof path, "%.40s.%s.value", preset, parameters[i].key);
        if (strcmp(parameters[i].table, "flash") || params_get_number(presets, path, &v) != 1)
            continue;
        size_print_number(shown, sizeof shown, v, 15);
        rc = put_number(m, &parameters[i], v, shown);
        found++;
    }
    params_free(presets);
    return rc || found
               ? rc
               : error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                           "sim:%s: there is no nand = %s; `sated sim show nand` prints the presets", m->name, preset);
}

/* T of one domain and U of the drive, in pages, at a scale. */
static uint64_t usable_at(const struct model *m, uint64_t native_bytes, uint64_t scale, uint64_t *units)
{
    if (native_bytes) {
        *units = native_bytes / m->unit_bytes / scale;
        return (uint64_t)((unsigned __int128)*units * (WHOLE_SHARE + m->op) / WHOLE_SHARE) / m->domains;
    }
    uint64_t usable = m->blocks / scale / m->domains * m->np;
    *units = (uint64_t)((unsigned __int128)usable * m->domains * WHOLE_SHARE / (WHOLE_SHARE + m->op));
    return usable;
}

static int check_scale(const struct model *m, uint64_t native_bytes, uint64_t usable)
{
    uint64_t units, most = usable_at(m, native_bytes, 1, &units) / m->np / LEAST_BLOCKS;
    most = most < m->least_scale ? most : m->least_scale;
    if (m->scale == 1 || m->scale <= most)
        return 0;
    if (most <= 1)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s: a drive of this size cannot be scaled down: its domains of garbage collection have "
                         "fewer than %d blocks then; leave scale out",
                         m->name, LEAST_BLOCKS);
    return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                     "sim:%s: scale = 1/%llu leaves %llu blocks in a domain of garbage collection; %d are needed, and "
                     "the smallest scale of this model is 1/%llu",
                     m->name, (unsigned long long)m->scale, (unsigned long long)(usable / m->np), LEAST_BLOCKS,
                     (unsigned long long)most);
}

/* The numbers that follow from the others. */
static int work_out(struct model *m, uint64_t native_bytes, uint64_t raw_bytes)
{
    m->domains = m->per_channel ? m->channels : 1;
    m->domain_dies = m->channels * m->dies / m->domains;
    uint64_t usable = usable_at(m, native_bytes, m->scale, &m->units);
    char op[SIZE_NUMBER];
    size_print_number(op, sizeof op, (double)m->op / 1e9, 9);
    if (m->unit_bytes & (m->unit_bytes - 1))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "sim:%s: page = %llu is not a power of two", m->name,
                         (unsigned long long)m->unit_bytes);
    if (m->hot && m->streams > 2)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s: streams = %llu tells hot from cold itself: leave hot out, or give 1 or 2 streams",
                         m->name, (unsigned long long)m->streams);
    m->frontiers = m->streams * (m->hot ? 2 : 1) + (m->levelling == LEVELLING_STATIC);
    m->hot = (uint64_t)((unsigned __int128)m->units * m->hot / WHOLE_SHARE);
    if (!m->threshold)
        m->threshold = WEAR_THRESHOLD;
    int rc = check_scale(m, native_bytes, usable);
    if (rc)
        return rc;
    uint64_t spare = usable * m->domains - m->units, needed = (m->frontiers + 1) * m->np * m->domains;
    if (usable * m->domains < m->units || spare < needed)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s: with op = %s only T - U = %llu pages are spare (T = %llu, U = %llu), and garbage "
                         "collection needs %llu, %llu blocks in each domain; choose a greater op or more blocks",
                         m->name, op, (unsigned long long)spare, (unsigned long long)(usable * m->domains),
                         (unsigned long long)m->units, (unsigned long long)needed,
                         (unsigned long long)(m->frontiers + 1));
    m->per_domain = (usable + (m->frontiers + RESERVE_BLOCKS) * m->np + m->np - 1) / m->np;
    m->reserve = m->per_domain * m->np - usable;
    rc = model_spares(m);
    if (rc)
        return rc;
    uint64_t pages = m->per_domain * m->domains * m->np;
    if (pages >= FTL_PAGES_MAX)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s: %llu pages are more than 2^31; choose fewer or greater ones", m->name,
                         (unsigned long long)pages);
    m->raw_bytes = raw_bytes ? raw_bytes / m->scale : model_flash_bytes(m, pages);
    if (model_flash_bytes(m, pages) > m->raw_bytes)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s: op = %s needs %llu bytes of flash, and there are %llu", m->name, op,
                         (unsigned long long)(model_flash_bytes(m, pages)), (unsigned long long)m->raw_bytes);
    m->map_pages = (m->units + m->entries - 1) / m->entries;
    m->cached_map_pages = (m->map_pages * m->coverage + WHOLE_SHARE / 2) / WHOLE_SHARE;
    if (!m->cached_map_pages)
        m->cached_map_pages = 1;
    m->slice_ns = m->erase_ns * m->program_units / m->erase_units;
    m->purge_ns /= m->scale;
    if (m->idle_gc_ns)
        m->idle_gc_ns = m->idle_gc_ns > m->scale ? m->idle_gc_ns / m->scale : 1;
    m->idle_pages = m->reserve + (uint64_t)((unsigned __int128)(usable - m->units / m->domains) *
                                            (m->idle_free ? m->idle_free : IDLE_FREE) / WHOLE_SHARE);
    m->heat_ns = m->heat_ns && m->heat_ns < m->scale ? 1 : m->heat_ns / m->scale;
    for (int i = 0; i < MODEL_SLEEPS; i++) {
        uint64_t *after = &m->sleep[i].after_ns;
        *after = *after && *after < m->scale ? 1 : *after / m->scale;
        m->sleeps |= *after != 0;
    }
    if (!m->fetch_ns)
        m->fetch_ns = m->miss_read_ns;
    if (!m->planes)
        m->planes = 1;
    if (!m->suspend_most)
        m->suspend_most = SUSPENSIONS;
    if (m->program_units % m->planes || m->channels * m->dies * m->planes > MODEL_PLANES_MAX)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s: planes = %llu does not divide the program_pages = %llu of a die's program, or makes "
                         "more than %d planes; choose fewer",
                         m->name, (unsigned long long)m->planes, (unsigned long long)m->program_units,
                         MODEL_PLANES_MAX);
    return 0;
}

static void copy_text(char *out, size_t room, const char *text)
{
    size_t n = strlen(text);
    n = n < room ? n : room - 1;
    memcpy(out, text, n);
    out[n] = '\0';
}

static int read_texts(struct model *m, const struct params *params)
{
    for (size_t i = 0; i < TEXTS; i++) {
        char path[64];
        const char *text;
        snprintf(path, sizeof path, "identity.%s.value", texts[i].key);
        int rc = params_get_string(params, path, &text);
        if (rc < 0)
            return rc;
        if (!rc)
            return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "%s: the model has no identity.%s", m->name,
                             texts[i].key);
        char *out = (char *)m + texts[i].offset;
        const char *brace = strstr(text, "{capacity}");
        if (brace) {
            char filled[128];
            snprintf(filled, sizeof filled, "%.*s%s%s", (int)(brace - text), text, m->size_name, brace + 10);
            copy_text(out, texts[i].bytes, filled);
        } else {
            copy_text(out, texts[i].bytes, text);
        }
    }
    return 0;
}

static int fill(struct model *m, const struct params *params, const struct spec *spec)
{
    struct model_sizes sizes = {0};
    struct reading reading = {params, m->name, 0};
    size_t size = 0;
    params_each(params, check_leaf, &reading);
    int rc = reading.rc ? reading.rc : model_sizes(m, params, &sizes);
    m->seed = m->scale = 1;
    for (size_t i = 0; !rc && i < spec->n; i++) {
        if (!strcmp(spec->keys[i].key, "capacity"))
            rc = model_choose_size(m, &sizes, spec->keys[i].value, &size);
        else if (!strcmp(spec->keys[i].key, "seed"))
            rc = size_parse_whole("seed", spec->keys[i].value, &m->seed);
        else if (!strcmp(spec->keys[i].key, "scale"))
            rc = parse_scale(m->name, spec->keys[i].value, &m->scale);
    }
    for (size_t i = 0; !rc && i < PARAMETERS; i++)
        rc = read_parameter(m, params, &parameters[i], size);
    for (size_t i = 0; !rc && i < spec->n; i++) /* other keys of the URI say more than a preset */
        if (!strcmp(spec->keys[i].key, "nand"))
            rc = choose_nand(m, spec->keys[i].value);
    for (size_t i = 0; !rc && i < spec->n; i++) {
        const char *key = spec->keys[i].key;
        if (strcmp(key, "capacity") && strcmp(key, "seed") && strcmp(key, "scale") && strcmp(key, "nand"))
            rc = override(m, params, key, spec->keys[i].value);
    }
    if (rc)
        return rc;
    if (sizes.n)
        copy_text(m->size_name, sizeof m->size_name, sizes.names[size]);
    rc = read_texts(m, params);
    if (rc)
        return rc;
    if (!sizes.n && !m->blocks)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "%s: the model needs [capacity] or geometry.blocks",
                         m->name);
    return work_out(m, sizes.n ? (uint64_t)sizes.bytes[size] : 0, sizes.n ? (uint64_t)sizes.raw_bytes[size] : 0);
}

int model_build(struct model *m, const char *name, const char *text, const struct spec *spec)
{
    struct params *params;
    memset(m, 0, sizeof *m);
    copy_text(m->name, sizeof m->name, name);
    int rc = params_parse(&params, name, text);
    if (rc)
        return rc;
    rc = fill(m, params, spec);
    params_free(params);
    return rc < 0 ? rc : 0;
}

int model_check(const char *name, const char *text)
{
    struct model m;
    struct spec none = {0};
    return model_build(&m, name, text, &none);
}
