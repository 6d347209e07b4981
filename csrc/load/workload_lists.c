/* SPDX-License-Identifier: MIT */
/* The lists in a workload: sizes and zones with their shares; and the active range. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/size.h"
#include "load/workload.h"

#define SIZE_MAX_BYTES (1u << 30)

int workload_contradiction(const char *a, const char *b)
{
    return refused("%s contradicts %s; leave one of them out", a, b);
}

int workload_check_sum(const char *what, const double *share, size_t n)
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

int workload_check_size(uint64_t bytes)
{
    if (bytes < 512 || bytes % 512 || bytes > SIZE_MAX_BYTES)
        return refused("size %llu: an I/O has a multiple of 512 bytes, 1 GiB at most", (unsigned long long)bytes);
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

int workload_set_sizes(struct sated_workload *w, const char *text)
{
    struct sated_workload next = *w;
    if (w->given & SATED_GIVEN_SIZE)
        return workload_contradiction("sizes", "size");
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
            rc = workload_check_size(bytes);
        if (!rc)
            rc = size_parse_share("share", share, &next.size_share[next.n_sizes]);
        if (rc)
            return rc;
        next.size_bytes[next.n_sizes++] = (uint32_t)bytes;
    }
    int rc = workload_check_sum("the shares of sizes", next.size_share, next.n_sizes);
    if (rc)
        return rc;
    next.given |= SATED_GIVEN_SIZES;
    *w = next;
    return 0;
}

/* A part of the range: "5%", "4k" and "1GiB" with a unit, "" for the rest. @param bare whether a number without a unit
 * is a percentage, or bytes */
static int parse_part(const char *what, const char *text, bool bare, double *fraction, uint64_t *bytes)
{
    size_t number = strspn(text, "0123456789.");
    *fraction = 0;
    *bytes = 0;
    if (!*text)
        return 0;
    if (!strcmp(text + number, "%") || (bare && !text[number])) {
        char digits[32];
        snprintf(digits, sizeof digits, "%.*s", (int)number, text);
        int rc = size_parse_number(what, digits, fraction);
        *fraction /= 100;
        if (!rc && !(*fraction > 0 && *fraction <= 1))
            rc = refused("%s \"%s\" is not between 0 and 100 %% of the range; bytes need a unit, such as 4k or 1GiB",
                         what, text);
        return rc;
    }
    int rc = size_parse_io(text, bytes);
    if (rc)
        rc = size_parse_capacity(text, 0, bytes);
    if (!rc && !*bytes)
        rc = refused("%s \"%s\" is nothing; give a part of the range such as 5%% or 1GiB", what, text);
    return rc;
}

int workload_set_active(struct sated_workload *w, const char *text)
{
    if (!*text)
        return refused("active is empty; give a part of the range such as 16GiB or 10%%");
    return parse_part("active", text, false, &w->active_fraction, &w->active_bytes);
}

int workload_set_zones(struct sated_workload *w, const char *key, const char *text, bool reads, bool writes)
{
    struct sated_zone zones[SATED_ZONES_MAX];
    uint32_t n = 0;
    memset(zones, 0, sizeof zones);
    if (w->given & SATED_GIVEN_ACCESS && w->access != SATED_RANDOM && w->access != SATED_ZONES)
        return workload_contradiction(key, "another access than random");
    if (reads && writes ? w->n_zones[0] || w->n_zones[1] : w->n_zones[writes] != 0)
        return workload_contradiction(key, "zones of the same direction that are there already");
    for (const char *at = text, *end; at; at = *end ? end + 1 : NULL) {
        char share[32], part[32];
        end = at + strcspn(at, ",");
        const char *colon = memchr(at, ':', (size_t)(end - at));
        if (!colon || !piece(share, sizeof share, at, colon) || !piece(part, sizeof part, colon + 1, end))
            return refused("%s \"%.*s\" is no share with its part of the range; write them like 50:5,30:15,20:80 or "
                           "50:4k,50:",
                           key, (int)(end - at), at);
        if (n == SATED_ZONES_MAX)
            return refused("%s: more than %d of them", key, SATED_ZONES_MAX);
        int rc = size_parse_share("share", share, &zones[n].share);
        if (!rc)
            rc = parse_part(key, part, true, &zones[n].fraction, &zones[n].bytes);
        if (rc)
            return rc;
        n++;
    }
    for (uint32_t d = 0; d < 2; d++) {
        if (d ? !writes : !reads)
            continue;
        memcpy(w->zones[d], zones, sizeof zones);
        w->n_zones[d] = n;
    }
    w->access = SATED_ZONES;
    w->given |= SATED_GIVEN_ZONES | SATED_GIVEN_ACCESS;
    return 0;
}

int workload_check_zones(const struct sated_workload *w, uint32_t direction)
{
    const char *what = direction ? "zones of writes" : "zones of reads";
    double share[SATED_ZONES_MAX], fraction = 0;
    uint32_t n = w->n_zones[direction], rests = 0, bytes = 0;
    if (n > SATED_ZONES_MAX)
        return refused("%u %s: there are up to %d", n, what, SATED_ZONES_MAX);
    if (!n)
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct sated_zone *z = &w->zones[direction][i];
        if (!(z->fraction >= 0 && z->fraction <= 1) || (z->fraction > 0 && z->bytes))
            return refused("%s: a zone has a fraction of the range, bytes, or neither", what);
        share[i] = z->share;
        fraction += z->fraction;
        bytes += z->bytes != 0;
        rests += !(z->fraction > 0) && !z->bytes;
    }
    if (rests > 1)
        return refused("%s: only one of them can have what the others leave", what);
    if (fraction > 1 + 1e-9 || (!rests && !bytes && fraction < 1 - 1e-9)) {
        char number[SIZE_NUMBER];
        size_print_number(number, sizeof number, 100 * fraction, 10);
        return refused("%s: their parts sum to %s %% of the range; let them sum to 100, or leave the last one's empty, "
                       "which is the rest",
                       what, number);
    }
    return workload_check_sum(direction ? "the shares of the zones of writes" : "the shares of the zones of reads",
                              share, n);
}
