/* SPDX-License-Identifier: MIT */
#include <sated/workload.h>

#include <stdio.h>
#include <string.h>

#include "core/size.h"
#include "load/schedule.h"
#include "load/workload.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

const char *const workload_op_names[SATED_OPS] = {"read", "write", "trim", "write_zeroes", "flush"};
static const uint32_t op_given[SATED_OPS] = {SATED_GIVEN_READ, SATED_GIVEN_WRITE, SATED_GIVEN_TRIM,
                                             SATED_GIVEN_WRITE_ZEROES, SATED_GIVEN_FLUSH};

void sated_workload_init(struct sated_workload *w)
{
    memset(w, 0, sizeof *w);
    w->size = sizeof *w;
    w->access = SATED_RANDOM;
    w->threads = 1;
    w->depth = 1;
    w->share[SATED_READ] = 1;
    w->n_sizes = 1;
    w->size_bytes[0] = 4096;
    w->size_share[0] = 1;
}

/* The index of `text` in `names`; -1 with a sentence that names the nearest. */
static int choose(const char *key, const char *text, const char *const *names, size_t n)
{
    char all[320] = "";
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(text, names[i]))
            return (int)i;
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = size_nearest(text, names, n);
    if (near)
        refused("%s \"%s\" is unknown; did you mean \"%s\"? (%s)", key, text, near, all);
    else
        refused("%s \"%s\" is unknown; it is one of %s", key, text, all);
    return -1;
}

static int set_op(struct sated_workload *w, const char *text)
{
    static const char *const names[] = {"read",     "write",     "trim",     "write_zeroes",    "flush",
                                        "randread", "randwrite", "randtrim", "randwrite_zeroes"};
    int i = choose("op", text, names, COUNT(names));
    if (i < 0)
        return SATED_PARSE;
    uint32_t op = (uint32_t)i % SATED_OPS, random = i >= SATED_OPS;
    char given[48];
    snprintf(given, sizeof given, "op = \"%s\"", text);
    if (random && w->given & SATED_GIVEN_ACCESS && w->access == SATED_SEQUENTIAL)
        return workload_contradiction(given, "access = \"sequential\"");
    if (w->given & WORKLOAD_GIVEN_SHARES) {
        for (uint32_t other = 0; other < SATED_OPS; other++) {
            char text_of_share[48], number[SIZE_NUMBER];
            size_print_number(number, sizeof number, w->share[other], 6);
            snprintf(text_of_share, sizeof text_of_share, "%s = %s", workload_op_names[other], number);
            bool fits = other == op ? w->share[other] == 1 || w->share[other] == 100 : w->share[other] == 0;
            if (w->given & op_given[other] && !fits)
                return workload_contradiction(given, text_of_share);
        }
    }
    memset(w->share, 0, sizeof w->share);
    w->share[op] = 1;
    if (!(w->given & SATED_GIVEN_ACCESS))
        w->access = random ? SATED_RANDOM : SATED_SEQUENTIAL;
    w->given = (w->given & ~(uint32_t)SATED_GIVEN_OP_RANDOM) | SATED_GIVEN_OP | (random ? SATED_GIVEN_OP_RANDOM : 0);
    return 0;
}

/* random goes with zones, which are random within. */
static int set_access(struct sated_workload *w, const char *text)
{
    static const char *const names[] = {"random", "sequential", "permutation", "zipf", "pareto", "normal", "zones"};
    char given[64];
    int i = choose("access", text, names, COUNT(names));
    if (i < 0)
        return SATED_PARSE;
    snprintf(given, sizeof given, "access = \"%s\"", text);
    if (i == SATED_SEQUENTIAL && w->given & SATED_GIVEN_OP_RANDOM)
        return workload_contradiction(given, "an op that begins with \"rand\"");
    if (w->given & SATED_GIVEN_ZONES && i != SATED_RANDOM && i != SATED_ZONES)
        return workload_contradiction(given, "zones");
    w->access = w->given & SATED_GIVEN_ZONES ? SATED_ZONES : (uint32_t)i;
    w->given |= SATED_GIVEN_ACCESS;
    return 0;
}

static int set_share(struct sated_workload *w, uint32_t op, const char *text)
{
    double v;
    int rc = size_parse_share(workload_op_names[op], text, &v);
    if (rc)
        return rc;
    char given[64];
    snprintf(given, sizeof given, "%s = %.20s", workload_op_names[op], text);
    if (v > 1 && v < 2)
        return refused("%s has two readings: write a fraction up to 1, or a percentage with its sign such as 1.5%%",
                       given);
    if (v > 100)
        return refused("%s is more than the whole; write a fraction such as 0.7 or a percentage such as 70", given);
    if (w->given & SATED_GIVEN_OP) {
        uint32_t direction = 0;
        while (!(w->share[direction] > 0))
            direction++;
        char by_op[48];
        snprintf(by_op, sizeof by_op, "op = \"%s%s\"", w->given & SATED_GIVEN_OP_RANDOM ? "rand" : "",
                 workload_op_names[direction]);
        if (direction == op ? v != 1 && v != 100 : v > 0)
            return workload_contradiction(given, by_op);
        w->given |= op_given[op];
        return 0;
    }
    w->given |= op_given[op];
    w->share[op] = v;
    for (uint32_t other = 0; other < SATED_OPS; other++)
        if (!(w->given & op_given[other]))
            w->share[other] = 0;
    /* read alone leaves the rest to writes and the other way round; what trims alone leave is anybody's guess. */
    uint32_t shares = w->given & WORKLOAD_GIVEN_SHARES;
    if (shares == SATED_GIVEN_READ || shares == SATED_GIVEN_WRITE)
        w->share[op == SATED_READ ? SATED_WRITE : SATED_READ] = (v > 1 ? 100 : 1) - v;
    return 0;
}

static int set_size(struct sated_workload *w, const char *text)
{
    uint64_t bytes;
    if (w->given & SATED_GIVEN_SIZES)
        return workload_contradiction("size", "sizes");
    int rc = size_parse_io(text, &bytes);
    if (!rc)
        rc = workload_check_size(bytes);
    if (rc)
        return rc;
    memset(w->size_bytes, 0, sizeof w->size_bytes);
    memset(w->size_share, 0, sizeof w->size_share);
    w->n_sizes = 1;
    w->size_bytes[0] = (uint32_t)bytes;
    w->size_share[0] = 1;
    w->given |= SATED_GIVEN_SIZE;
    return 0;
}

/* In the struct 0 stands for the default, which nobody means who writes it. */
static int need_some(int rc, const char *key, const double *value)
{
    return rc || *value != 0 ? rc : refused("%s = 0: it is above 0; without it the default holds", key);
}

static int set_whole(uint32_t *field, const char *key, const char *text, uint32_t max)
{
    uint64_t v;
    int rc = size_parse_whole(key, text, &v);
    if (rc)
        return rc;
    if (v < 1 || v > max)
        return refused("%s = %s: it is between 1 and %u", key, text, max);
    *field = (uint32_t)v;
    return 0;
}

static int set_data(struct sated_workload *w, const char *text)
{
    static const char *const names[] = {"random", "zeros"};
    int i = choose("data", text, names, COUNT(names));
    if (i < 0)
        return SATED_PARSE;
    w->data = (uint32_t)i;
    return 0;
}

static int set_arrival(struct sated_workload *w, const char *text)
{
    static const char *const names[] = {"fixed", "poisson"};
    int i = choose("arrival", text, names, COUNT(names));
    if (i < 0)
        return SATED_PARSE;
    w->arrival = (uint32_t)i;
    return 0;
}

/* A share up to 1, or the percentage that it is where it is more. */
static int set_fraction(double *field, const char *key, const char *text)
{
    double v;
    int rc = size_parse_share(key, text, &v);
    if (!rc)
        *field = v > 1 ? v / 100 : v;
    return rc;
}

int sated_workload_set(struct sated_workload *w, const char *key, const char *text)
{
    enum {
        OP,
        ACCESS,
        READ,
        FLUSH = READ + SATED_OPS - 1,
        SIZE,
        SIZES,
        THREADS,
        DEPTH,
        OFFSET,
        LENGTH,
        DATA,
        STREAMS,
        THETA,
        H,
        STDDEV,
        ZONES,
        READ_ZONES,
        WRITE_ZONES,
        ACTIVE,
        SEGMENTS,
        COMPRESS,
        DEDUPE,
        RATE,
        ARRIVAL,
        THINK,
    };
    static const char *const keys[] = {
        "op",      "access",   "read",     "write",  "trim",   "write_zeroes", "flush",
        "size",    "sizes",    "threads",  "depth",  "offset", "length",       "data",
        "streams", "theta",    "h",        "stddev", "zones",  "read_zones",   "write_zones",
        "active",  "segments", "compress", "dedupe", "rate",   "arrival",      "think",
    };
    int i = choose("workload key", key, keys, COUNT(keys));
    switch (i) {
    case -1: return SATED_PARSE;
    case OP: return set_op(w, text);
    case ACCESS: return set_access(w, text);
    default: return set_share(w, (uint32_t)(i - READ), text);
    case SIZE: return set_size(w, text);
    case SIZES: return workload_set_sizes(w, text);
    case THREADS: return set_whole(&w->threads, key, text, 256);
    case DEPTH: return set_whole(&w->depth, key, text, 4096);
    case OFFSET: return sated_workload_capacity(text, 0, &w->offset_bytes);
    case LENGTH: return sated_workload_capacity(text, 0, &w->length_bytes);
    case DATA: return set_data(w, text);
    case STREAMS: return set_whole(&w->streams, key, text, SATED_STREAMS_MAX);
    case THETA: return need_some(size_parse_number(key, text, &w->theta), key, &w->theta);
    case H: return need_some(size_parse_share(key, text, &w->h), key, &w->h);
    case STDDEV: return need_some(size_parse_share(key, text, &w->stddev), key, &w->stddev);
    case ZONES: return workload_set_zones(w, key, text, true, true);
    case READ_ZONES: return workload_set_zones(w, key, text, true, false);
    case WRITE_ZONES: return workload_set_zones(w, key, text, false, true);
    case ACTIVE: return workload_set_active(w, text);
    case SEGMENTS: return set_whole(&w->segments, key, text, SATED_SEGMENTS_MAX);
    case COMPRESS: return set_fraction(&w->compress, key, text);
    case DEDUPE: return set_fraction(&w->dedupe, key, text);
    case RATE: return schedule_set_rate(w, text);
    case ARRIVAL: return set_arrival(w, text);
    case THINK: return schedule_set_think(w, text);
    }
}

/* What belongs to one access only. */
static int check_access(const struct sated_workload *w)
{
    const struct {
        const char *key;
        bool given;
        uint32_t access;
        const char *needs;
    } parts[] = {
        {"streams", w->streams > 1, SATED_SEQUENTIAL, "sequential"},
        {"theta", w->theta != 0, SATED_ZIPF, "zipf"},
        {"h", w->h != 0, SATED_PARETO, "pareto"},
        {"stddev", w->stddev != 0, SATED_NORMAL, "normal"},
        {"zones", w->n_zones[0] || w->n_zones[1], SATED_ZONES, "zones"},
    };
    for (size_t i = 0; i < COUNT(parts); i++)
        if (parts[i].given && w->access != parts[i].access)
            return refused("%s is of access = \"%s\"; give that too, or leave it out", parts[i].key, parts[i].needs);
    if (w->access == SATED_ZONES && !w->n_zones[0] && !w->n_zones[1])
        return refused("access = \"zones\" needs zones, such as zones = \"50:5,30:15,20:80\"");
    if (!(w->theta >= 0 && w->theta <= 10))
        return refused("theta: Zipf's exponent is above 0, and 10 at most");
    if (!(w->h >= 0 && w->h < 0.5))
        return refused("h: it is above 0 and below 0.5; with 0.2, four fifths of the I/Os go to one fifth of the "
                       "addresses");
    if (!(w->stddev >= 0 && w->stddev <= 10))
        return refused("stddev: it is a fraction of the range above 0, such as 0.1, and 10 at most");
    if (w->streams > SATED_STREAMS_MAX || w->segments > SATED_SEGMENTS_MAX)
        return refused("%u streams, %u segments: there are up to %d and %d", w->streams, w->segments, SATED_STREAMS_MAX,
                       SATED_SEGMENTS_MAX);
    if (!(w->active_fraction >= 0 && w->active_fraction <= 1))
        return refused("active: it is up to 100%% of the range, or bytes such as 16GiB");
    if (w->segments > 1 && !w->active_bytes && !(w->active_fraction > 0))
        return refused("segments are parts of the active range; give active too, such as 16GiB or 10%%");
    return 0;
}

static int check_data(const struct sated_workload *w)
{
    if (!(w->compress >= 0 && w->compress <= 0.98))
        return refused("compress: it is a share of the data between 0 and 0.98; what is left marks each block as new");
    if (!(w->dedupe >= 0 && w->dedupe <= 1))
        return refused("dedupe: it is a share of the writes between 0 and 1");
    if (w->data == SATED_DATA_ZEROS && (w->compress > 0 || w->dedupe > 0))
        return workload_contradiction("data = \"zeros\"", "compress and dedupe, which are of random data");
    return 0;
}

int sated_workload_check(const struct sated_workload *w)
{
    if (w->size != sizeof *w || w->access > SATED_ZONES || w->data > SATED_DATA_ZEROS)
        return refused("the workload was not made by sated_workload_init");
    if (w->threads < 1 || w->threads > 256)
        return refused("threads = %u: it is between 1 and 256", w->threads);
    if (w->depth < 1 || w->depth > 4096)
        return refused("depth = %u: it is between 1 and 4096", w->depth);
    if (w->n_sizes < 1 || w->n_sizes > SATED_SIZES_MAX)
        return refused("%u I/O sizes: there are between 1 and %d", w->n_sizes, SATED_SIZES_MAX);
    int rc = workload_check_sum("the shares of the operations", w->share, SATED_OPS);
    if (!rc)
        rc = workload_check_sum("the shares of sizes", w->size_share, w->n_sizes);
    for (uint32_t i = 0; !rc && i < w->n_sizes; i++) {
        rc = workload_check_size(w->size_bytes[i]);
        for (uint32_t j = 0; !rc && j < i; j++)
            if (w->size_bytes[i] == w->size_bytes[j])
                rc = refused("size %u is there twice; give it one share", w->size_bytes[i]);
    }
    if (!rc)
        rc = check_access(w);
    if (!rc)
        rc = schedule_check(w);
    for (uint32_t d = 0; !rc && d < 2; d++)
        rc = workload_check_zones(w, d);
    return rc ? rc : check_data(w);
}

int sated_workload_size(const char *text, uint64_t *bytes)
{
    return size_parse_io(text, bytes);
}

int sated_workload_capacity(const char *text, uint64_t whole_bytes, uint64_t *bytes)
{
    return size_parse_capacity(text, whole_bytes, bytes);
}
