/* SPDX-License-Identifier: MIT */
#include <sated/workload.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/size.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define SIZE_MAX_BYTES (1u << 30)

static const char *const op_names[] = {"read", "write", "trim"};
static const uint32_t op_given[] = {SATED_GIVEN_READ, SATED_GIVEN_WRITE, SATED_GIVEN_TRIM};
#define GIVEN_SHARES (SATED_GIVEN_READ | SATED_GIVEN_WRITE | SATED_GIVEN_TRIM)

#define refused(...) error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, __VA_ARGS__)

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
    char all[128] = "";
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

static int contradiction(const char *a, const char *b)
{
    return refused("%s contradicts %s; leave one of them out", a, b);
}

static int set_op(struct sated_workload *w, const char *text)
{
    static const char *const names[] = {"read", "write", "trim", "randread", "randwrite", "randtrim"};
    int i = choose("op", text, names, COUNT(names));
    if (i < 0)
        return SATED_PARSE;
    uint32_t op = (uint32_t)i % 3, random = i >= 3;
    char given[48];
    snprintf(given, sizeof given, "op = \"%s\"", text);
    if (random && w->given & SATED_GIVEN_ACCESS && w->access == SATED_SEQUENTIAL)
        return contradiction(given, "access = \"sequential\"");
    if (w->given & GIVEN_SHARES) {
        for (uint32_t other = 0; other < 3; other++) {
            char text_of_share[48], number[SIZE_NUMBER];
            size_print_number(number, sizeof number, w->share[other], 6);
            snprintf(text_of_share, sizeof text_of_share, "%s = %s", op_names[other], number);
            bool fits = other == op ? w->share[other] == 1 || w->share[other] == 100 : w->share[other] == 0;
            if (w->given & op_given[other] && !fits)
                return contradiction(given, text_of_share);
        }
    }
    memset(w->share, 0, sizeof w->share);
    w->share[op] = 1;
    if (!(w->given & SATED_GIVEN_ACCESS))
        w->access = random ? SATED_RANDOM : SATED_SEQUENTIAL;
    w->given = (w->given & ~(uint32_t)SATED_GIVEN_OP_RANDOM) | SATED_GIVEN_OP | (random ? SATED_GIVEN_OP_RANDOM : 0);
    return 0;
}

static int set_access(struct sated_workload *w, const char *text)
{
    static const char *const names[] = {"random", "sequential"};
    int i = choose("access", text, names, COUNT(names));
    if (i < 0)
        return SATED_PARSE;
    if (i == SATED_SEQUENTIAL && w->given & SATED_GIVEN_OP_RANDOM)
        return contradiction("access = \"sequential\"", "an op that begins with \"rand\"");
    w->access = (uint32_t)i;
    w->given |= SATED_GIVEN_ACCESS;
    return 0;
}

static int set_share(struct sated_workload *w, uint32_t op, const char *text)
{
    double v;
    int rc = size_parse_share(op_names[op], text, &v);
    if (rc)
        return rc;
    char given[64];
    snprintf(given, sizeof given, "%s = %.20s", op_names[op], text);
    if (v > 1 && v < 2)
        return refused("%s has two readings: write a fraction up to 1, or a percentage with its sign such as 1.5%%",
                       given);
    if (v > 100)
        return refused("%s is more than the whole; write a fraction such as 0.7 or a percentage such as 70", given);
    if (w->given & SATED_GIVEN_OP) {
        uint32_t direction = w->share[SATED_READ] > 0 ? 0 : w->share[SATED_WRITE] > 0 ? 1 : 2;
        char by_op[48];
        snprintf(by_op, sizeof by_op, "op = \"%s%s\"", w->given & SATED_GIVEN_OP_RANDOM ? "rand" : "",
                 op_names[direction]);
        if (direction == op ? v != 1 && v != 100 : v > 0)
            return contradiction(given, by_op);
        w->given |= op_given[op];
        return 0;
    }
    w->given |= op_given[op];
    w->share[op] = v;
    for (uint32_t other = 0; other < 3; other++)
        if (!(w->given & op_given[other]))
            w->share[other] = 0;
    /* read alone leaves the rest to writes and the other way round; what trims alone leave is anybody's guess. */
    uint32_t shares = w->given & GIVEN_SHARES;
    if (shares == SATED_GIVEN_READ || shares == SATED_GIVEN_WRITE)
        w->share[op == SATED_READ ? SATED_WRITE : SATED_READ] = (v > 1 ? 100 : 1) - v;
    return 0;
}

/* 0 where n values sum to 1 or 100. */
static int check_sum(const char *what, const double *share, size_t n)
{
    char number[SIZE_NUMBER];
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(share[i] >= 0 && share[i] <= 100)) {
            size_print_number(number, sizeof number, share[i], 6);
            return refused("%s: a share of %s is not between 0 and 1 (or 100)", what, number);
        }
        sum += share[i];
    }
    if (fabs(sum - 1) > 1e-9 && fabs(sum - 100) > 1e-7) {
        size_print_number(number, sizeof number, sum, 10);
        return refused("%s sum to %s; they have to sum to 1 or to 100", what, number);
    }
    return 0;
}

static int check_size(uint64_t bytes)
{
    if (bytes < 512 || bytes % 512 || bytes > SIZE_MAX_BYTES)
        return refused("size %llu: an I/O has a multiple of 512 bytes, 1 GiB at most", (unsigned long long)bytes);
    return 0;
}

static int set_size(struct sated_workload *w, const char *text)
{
    uint64_t bytes;
    if (w->given & SATED_GIVEN_SIZES)
        return contradiction("size", "sizes");
    int rc = size_parse_io(text, &bytes);
    if (!rc)
        rc = check_size(bytes);
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

/* Copies [from, to) without blanks around it. False: too long. */
static bool piece(char *out, size_t n, const char *from, const char *to)
{
    while (from < to && *from == ' ')
        from++;
    while (to > from && to[-1] == ' ')
        to--;
    if ((size_t)(to - from) >= n)
        return false;
    memcpy(out, from, (size_t)(to - from));
    out[to - from] = 0;
    return true;
}

static int set_sizes(struct sated_workload *w, const char *text)
{
    struct sated_workload next = *w;
    if (w->given & SATED_GIVEN_SIZE)
        return contradiction("sizes", "size");
    memset(next.size_bytes, 0, sizeof next.size_bytes);
    memset(next.size_share, 0, sizeof next.size_share);
    next.n_sizes = 0;
    for (const char *at = text, *end; at; at = *end ? end + 1 : NULL) {
        char size[32], share[32];
        uint64_t bytes;
        end = at + strcspn(at, ",");
        const char *colon = memchr(at, ':', (size_t)(end - at));
        if (!colon || !piece(size, sizeof size, at, colon) || !piece(share, sizeof share, colon + 1, end))
            return refused("sizes \"%.*s\" is no size with its share; write them like 512:10,4k:60,64k:30",
                           (int)(end - at), at);
        if (next.n_sizes == SATED_SIZES_MAX)
            return refused("sizes: more than %d of them", SATED_SIZES_MAX);
        int rc = size_parse_io(size, &bytes);
        if (!rc)
            rc = check_size(bytes);
        if (!rc)
            rc = size_parse_share("share", share, &next.size_share[next.n_sizes]);
        if (rc)
            return rc;
        next.size_bytes[next.n_sizes++] = (uint32_t)bytes;
    }
    int rc = check_sum("the shares of sizes", next.size_share, next.n_sizes);
    if (rc)
        return rc;
    next.given |= SATED_GIVEN_SIZES;
    *w = next;
    return 0;
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

int sated_workload_set(struct sated_workload *w, const char *key, const char *text)
{
    static const char *const keys[] = {"op",    "access",  "read",  "write",  "trim",   "size",
                                       "sizes", "threads", "depth", "offset", "length", "data"};
    static const char *const data[] = {"random", "zeros"};
    int i = choose("workload key", key, keys, COUNT(keys));
    if (i < 0)
        return SATED_PARSE;
    switch (i) {
    case 0: return set_op(w, text);
    case 1: return set_access(w, text);
    case 2:
    case 3:
    case 4: return set_share(w, (uint32_t)i - 2, text);
    case 5: return set_size(w, text);
    case 6: return set_sizes(w, text);
    case 7: return set_whole(&w->threads, key, text, 256);
    case 8: return set_whole(&w->depth, key, text, 4096);
    case 9: return sated_workload_capacity(text, 0, &w->offset_bytes);
    case 10: return sated_workload_capacity(text, 0, &w->length_bytes);
    default:
        i = choose(key, text, data, COUNT(data));
        if (i >= 0)
            w->data = (uint32_t)i;
        return i < 0 ? SATED_PARSE : 0;
    }
}

int sated_workload_check(const struct sated_workload *w)
{
    if (w->size < offsetof(struct sated_workload, given) || w->access > SATED_SEQUENTIAL || w->data > SATED_DATA_ZEROS)
        return refused("the workload was not made by sated_workload_init");
    if (w->threads < 1 || w->threads > 256)
        return refused("threads = %u: it is between 1 and 256", w->threads);
    if (w->depth < 1 || w->depth > 4096)
        return refused("depth = %u: it is between 1 and 4096", w->depth);
    if (w->n_sizes < 1 || w->n_sizes > SATED_SIZES_MAX)
        return refused("%u I/O sizes: there are between 1 and %d", w->n_sizes, SATED_SIZES_MAX);
    int rc = check_sum("the shares of read, write and trim", w->share, 3);
    if (!rc)
        rc = check_sum("the shares of sizes", w->size_share, w->n_sizes);
    for (uint32_t i = 0; !rc && i < w->n_sizes; i++) {
        rc = check_size(w->size_bytes[i]);
        for (uint32_t j = 0; !rc && j < i; j++)
            if (w->size_bytes[i] == w->size_bytes[j])
                rc = refused("size %u is there twice; give it one share", w->size_bytes[i]);
    }
    return rc;
}

int sated_workload_size(const char *text, uint64_t *bytes)
{
    return size_parse_io(text, bytes);
}

int sated_workload_capacity(const char *text, uint64_t whole_bytes, uint64_t *bytes)
{
    return size_parse_capacity(text, whole_bytes, bytes);
}
