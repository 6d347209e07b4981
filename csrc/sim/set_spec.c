/* SPDX-License-Identifier: MIT */
/* What a URI says of a set: raid5,members=3,of=(710,lba=80%),chunk=128k. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/size.h"
#include "sim/set_inside.h"
#include "sim/sim.h"

static const struct {
    const char *name;
    uint32_t least;
} levels[] = {
    [SET_RAID0] = {"raid0", 2}, [SET_RAID1] = {"raid1", 2}, [SET_RAID5] = {"raid5", 3}, [SET_RAID10] = {"raid10", 4}};

/* The controller of a set whose URI says nothing of it: the parity's cost is fitted to the review of the Intel SSD 710
 * behind a MegaRAID 9260-8i, the others are of that kind of controller, and assumed. */
#define DEFAULT_QUEUE 256
#define DEFAULT_COMMAND_NS 6000
#define DEFAULT_PARITY_NS 88000
#define DEFAULT_LINK ((uint64_t)2800000000)
#define DEFAULT_CACHE ((uint64_t)512 << 20)
#define DEFAULT_AGE_NS ((uint64_t)4000000000)
#define DEFAULT_CHUNK ((uint64_t)128 << 10)

static const char *const keys[] = {"members", "of",         "chunk",     "cache",     "cache_size",
                                   "queue",   "command_us", "parity_us", "link_mb_s", "age_s",
                                   "failed",  "seed",       "scale",     "lba",       "state"};

static int level_of(const char *name)
{
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (!strcmp(name, levels[i].name))
            return (int)i;
    return -1;
}

bool set_is_name(const char *name)
{
    return level_of(name) >= 0;
}

static int whole(const char *key, const char *value, uint64_t least, uint64_t most, uint64_t *out)
{
    int rc = size_parse_whole(key, value, out);
    if (!rc && (*out < least || *out > most))
        rc = error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "%s = %s is out of range; give %llu to %llu", key, value,
                       (unsigned long long)least, (unsigned long long)most);
    return rc;
}

/* A number times a factor, rounded. */
static int number(const char *key, const char *value, double least, double most, double factor, uint64_t *out)
{
    double v;
    int rc = size_parse_number(key, value, &v);
    if (!rc && !(v >= least && v <= most)) {
        char from[SIZE_NUMBER], to[SIZE_NUMBER];
        size_print_number(from, sizeof from, least, 9);
        size_print_number(to, sizeof to, most, 9);
        rc = error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "%s = %s is out of range; give %s to %s", key, value, from,
                       to);
    }
    if (!rc)
        *out = (uint64_t)(v * factor + 0.5);
    return rc;
}

static int put_members(struct set_shape *p, const char *name, const char *value)
{
    uint64_t n;
    int rc = size_parse_whole("members", value, &n);
    if (rc)
        return rc;
    if (n < levels[p->level].least || n > SET_MEMBERS_MAX)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "sim:%s: members = %s is not possible: it has %u to %d",
                         name, value, levels[p->level].least, SET_MEMBERS_MAX);
    if (p->level == SET_RAID10 && n % 2)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s: members = %s is an odd number, and raid10 is made of pairs; give one more or less",
                         name, value);
    p->n = (uint32_t)n;
    return 0;
}

static int put_chunk(struct set_shape *p, const char *name, const char *value)
{
    int rc = size_parse_io(value, &p->chunk);
    if (!rc && (p->chunk & (p->chunk - 1) || p->chunk < 4096 || p->chunk > 1 << 20))
        rc = error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                       "sim:%s: chunk = %s is no power of two from 4k to 1m; give such as 64k or 128k", name, value);
    return rc;
}

static int put_cache(struct set_shape *p, const char *name, const char *value)
{
    p->write_back = !strcmp(value, "write-back");
    return p->write_back || !strcmp(value, "write-through")
               ? 0
               : error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                           "sim:%s: cache = %s is not known; give write-back or write-through", name, value);
}

static int put(struct set_shape *p, const char *name, const char *key, const char *value)
{
    if (!strcmp(key, "members"))
        return put_members(p, name, value);
    if (!strcmp(key, "chunk"))
        return put_chunk(p, name, value);
    if (!strcmp(key, "cache"))
        return put_cache(p, name, value);
    if (!strcmp(key, "cache_size")) {
        int rc = size_parse_io(value, &p->cache_bytes);
        return rc || p->cache_bytes <= (uint64_t)1 << 40
                   ? rc
                   : error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                               "sim:%s: cache_size = %s is more than 1 TiB; give less", name, value);
    }
    if (!strcmp(key, "queue"))
        return whole(key, value, 1, 65536, &p->queue);
    if (!strcmp(key, "command_us"))
        return number(key, value, 0, 1e6, 1e3, &p->command_ns);
    if (!strcmp(key, "parity_us"))
        return number(key, value, 0, 1e6, 1e3, &p->parity_ns);
    if (!strcmp(key, "link_mb_s"))
        return number(key, value, 1, 1e6, 1e6, &p->link_bytes_s);
    if (!strcmp(key, "age_s"))
        return number(key, value, 0, 3600, 1e9, &p->age_ns);
    if (!strcmp(key, "failed"))
        return whole(key, value, 0, SET_MEMBERS_MAX - 1, &p->failed);
    if (!strcmp(key, "seed"))
        return size_parse_whole(key, value, &p->seed);
    if (!strcmp(key, "of") || !strcmp(key, "scale"))
        return 0;
    if (!strcmp(key, "capacity"))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s: a set takes no capacity, its members do: of=(MODEL,capacity=%s)", name, value);
    const char *near = size_nearest(key, keys, sizeof keys / sizeof *keys);
    return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                     "sim:%s has no key \"%s\"%s%s%s; a member's own stand in parentheses: of=(MODEL,%s=...)", name,
                     key, near ? "; did you mean " : "", near ? near : "", near ? "?" : "", key);
}

static const char *value_of(const struct spec *spec, const char *key)
{
    for (size_t i = 0; i < spec->n; i++)
        if (!strcmp(spec->keys[i].key, key))
            return spec->keys[i].value;
    return NULL;
}

/* What stands behind of=, without its parentheses, and with what the set gives all of its members. */
static int member_text(const struct spec *spec, const char *of, char **out)
{
    size_t n = strlen(of);
    const char *scale = value_of(spec, "scale");
    bool brackets = n > 1 && of[0] == '(' && of[n - 1] == ')';
    size_t room = n + (scale ? strlen(scale) : 0) + 16;
    *out = malloc(room);
    if (!*out)
        return error_set(-ENOMEM, SATED_LAYER_DRIVE, "sim:%s: not enough memory", spec->name);
    snprintf(*out, room, "%.*s%s%s", (int)(brackets ? n - 2 : n), brackets ? of + 1 : of, scale ? ",scale=" : "",
             scale ? scale : "");
    return 0;
}

/* What a member cannot be. */
static int check_member(const struct spec *spec, const char *of)
{
    struct spec member;
    int rc = spec_parse(&member, of);
    if (!rc && (set_is_name(member.name) || member.name[0] == '('))
        rc = error_set(
            SATED_PARSE, SATED_LAYER_ARGUMENT,
            "sim:%s: of = %s is a set itself, and a set has drives for members; raid10 is the one of both kinds",
            spec->name, member.name);
    else if (!rc && (member.is_file || member.state))
        rc =
            error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                      "sim:%s: a member has no state file of its own: all of the set is in one, which state=FILE names",
                      spec->name);
    else if (!rc && value_of(&member, "seed"))
        rc = error_set(
            SATED_PARSE, SATED_LAYER_ARGUMENT,
            "sim:%s: seed belongs to the set, which gives each member another; put it outside the parentheses",
            spec->name);
    spec_free(&member);
    return rc;
}

int set_shape_read(struct set_shape *p, char **of, const struct spec *spec)
{
    const char *given = value_of(spec, "of");
    int rc = 0;
    *of = NULL;
    memset(p, 0, sizeof *p);
    p->level = (uint32_t)level_of(spec->name);
    p->chunk = DEFAULT_CHUNK;
    p->queue = DEFAULT_QUEUE;
    p->command_ns = DEFAULT_COMMAND_NS;
    p->parity_ns = DEFAULT_PARITY_NS;
    p->link_bytes_s = DEFAULT_LINK;
    p->cache_bytes = DEFAULT_CACHE;
    p->age_ns = DEFAULT_AGE_NS;
    p->write_back = 1;
    p->seed = 1;
    p->failed = SET_NONE;
    for (size_t i = 0; !rc && i < spec->n; i++)
        rc = put(p, spec->name, spec->keys[i].key, spec->keys[i].value);
    if (rc)
        return rc;
    if (!p->n || !given || !*given)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s needs %s; write it like sim:%s,members=%u,of=710,chunk=128k", spec->name,
                         p->n ? "of=, the model of its members" : "members=, how many there are", spec->name,
                         levels[p->level].least);
    if (p->failed != SET_NONE && p->failed >= p->n)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "sim:%s: there is no member %llu; they are 0 to %u",
                         spec->name, (unsigned long long)p->failed, p->n - 1);
    if (p->failed != SET_NONE && p->level == SET_RAID0)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:raid0 has no member that can be lost; leave failed out, or choose another level");
    static const uint32_t mirrors[] = {[SET_RAID0] = 1, [SET_RAID1] = 0, [SET_RAID5] = 1, [SET_RAID10] = 2};
    p->copies = mirrors[p->level] ? mirrors[p->level] : p->n;
    p->data = p->level == SET_RAID5 ? p->n - 1 : p->n / p->copies;
    rc = member_text(spec, given, of);
    return rc ? rc : check_member(spec, *of);
}
