/* SPDX-License-Identifier: MIT */
/* The state of a set in one file: what it is, what changes of the set itself, the rows that its cache still holds, a
 * checksum of all that, and then each member as a state file of its own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/bytes.h"
#include "core/error.h"
#include "sim/set_inside.h"
#include "sim/sim.h"

#define MAGIC "SATEDSET"
#define SCHEMA 1
/* Magic 8, schema 4, bytes of name 4 and keys 4, members 4, of the whole file 8, in use 8, rows in the cache 8. */
#define HEADER 48
#define IN_USE 32 /* changed in place, as in the file of a drive; the checksum leaves it out */

/* What is neither the members' nor the cache's; no padding. */
struct fixed {
    int64_t now, last_command;
    uint64_t limit_bytes, rows;
    struct served served;
    struct set_state k;
};

bool set_is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_size >= HEADER && file_begins(path, MAGIC, 8) == 1;
}

static size_t line_bytes(const struct set *t)
{
    return 16 + (size_t)t->shape.data * t->words * 8;
}

static void put_lines(struct set *t, const struct line_queue *q, uint8_t **to)
{
    for (struct line *l = q->first; l; l = l->newer, *to += line_bytes(t)) {
        bytes_put_le64(*to, l->row);
        bytes_put_le64(*to + 8, (uint64_t)l->since);
        memcpy(*to + 16, l->bits, line_bytes(t) - 16);
    }
}

/* The set's own part, in memory that the caller frees. */
static uint8_t *own_part(struct sim *s, bool in_use, size_t *bytes)
{
    struct set *t = s->set;
    struct fixed f = {s->now, s->last_command, s->limit_bytes, t->rows, s->served, t->k};
    size_t name = strlen(s->model.name), keys = strlen(s->keys);
    *bytes = HEADER + name + keys + sizeof f + t->n_lines * line_bytes(t) + 8;
    uint8_t *text = calloc(1, *bytes), *at = text + HEADER;
    if (!text)
        return NULL;
    memcpy(text, MAGIC, 8);
    bytes_put_le32(text + 8, SCHEMA);
    bytes_put_le32(text + 12, (uint32_t)name);
    bytes_put_le32(text + 16, (uint32_t)keys);
    bytes_put_le32(text + 20, t->shape.n);
    bytes_put_le64(text + IN_USE, in_use);
    bytes_put_le64(text + 40, t->n_lines);
    memcpy(at, s->model.name, name);
    memcpy(at += name, s->keys, keys);
    memcpy(at += keys, &f, sizeof f);
    at += sizeof f;
    put_lines(t, &t->urgent, &at);
    put_lines(t, &t->aging, &at);
    return text;
}

static void put_sum(uint8_t *own, size_t bytes, uint64_t whole)
{
    bytes_put_le64(own + 24, whole);
    struct file_part hashed[] = {{own, IN_USE}, {own + HEADER - 8, bytes - HEADER}};
    bytes_put_le64(own + bytes - 8, state_hash(hashed, 2));
}

/* All parts, one behind the other, in `part`; how many. */
static size_t join(struct file_part *part, uint8_t *own, size_t own_bytes, struct state_text *member,
                   uint8_t (*length)[8], uint32_t n)
{
    size_t at = 0;
    uint64_t whole = own_bytes;
    part[at++] = (struct file_part){own, own_bytes};
    for (uint32_t m = 0; m < n; m++) {
        bytes_put_le64(length[m], member[m].parts.bytes);
        part[at++] = (struct file_part){length[m], 8};
        memcpy(&part[at], member[m].parts.part, member[m].parts.n * sizeof *part);
        at += member[m].parts.n;
        whole += 8 + member[m].parts.bytes;
    }
    put_sum(own, own_bytes, whole);
    return at;
}

int set_save(struct sim *s, const char *path, bool in_use)
{
    struct set *t = s->set;
    size_t own_bytes = 0;
    int rc = file_begins(path, MAGIC, 8);
    if (rc <= 0)
        return rc ? rc
                  : error_set(
                        SATED_UNSAFE, SATED_LAYER_FILE,
                        "%s holds something else than the state of a set of simulated drives, which would be lost; "
                        "give another name, or remove it first",
                        path);
    rc = 0;
    set_settle(s);
    struct state_text *member = calloc(t->shape.n, sizeof *member);
    struct file_part *part = malloc((1 + t->shape.n * (STATE_PARTS_MAX + 1)) * sizeof *part);
    uint8_t length[SET_MEMBERS_MAX][8], *own = own_part(s, in_use, &own_bytes);
    if (!member || !part || !own)
        rc = error_set(-ENOMEM, SATED_LAYER_FILE, "%s: not enough memory to write it", path);
    for (uint32_t m = 0; !rc && m < t->shape.n; m++)
        rc = state_text(t->member[m], path, false, &member[m]);
    if (!rc)
        rc = file_replace(path, part, join(part, own, own_bytes, member, length, t->shape.n));
    for (uint32_t m = 0; member && m < t->shape.n; m++)
        state_text_free(&member[m]);
    free(member);
    free(part);
    free(own);
    set_go_on(s);
    return rc;
}

/* ---- Reading: nothing is taken for granted ---- */

static int damaged(const char *path, const char *how)
{
    return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                     "%s is not a whole state of a set of simulated drives: %s; use a copy of it", path, how);
}

/* A file, taken apart as it is read. */
struct reading {
    const char *path;
    uint8_t *data;
    size_t bytes, at;
};

static bool has(const struct reading *r, uint64_t bytes)
{
    return bytes <= r->bytes - r->at;
}

static int read_header(struct reading *r, char **text)
{
    const uint8_t *p = r->data;
    if (r->bytes < HEADER || memcmp(p, MAGIC, 8))
        return damaged(r->path, "it does not begin like one");
    if (bytes_le32(p + 8) != SCHEMA)
        return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                         "%s was written by another sated: its schema is %u, and this one reads %d; make it anew",
                         r->path, bytes_le32(p + 8), SCHEMA);
    if (bytes_le64(p + 24) != r->bytes)
        return damaged(r->path, "its length is not the one it states");
    uint64_t name = bytes_le32(p + 12), keys = bytes_le32(p + 16);
    r->at = HEADER;
    if (!has(r, name + keys) || memchr(p + HEADER, 0, name + keys))
        return damaged(r->path, "it does not say what it is");
    *text = malloc(name + keys + 2);
    if (!*text)
        return error_set(-ENOMEM, SATED_LAYER_FILE, "%s: not enough memory to read it", r->path);
    memcpy(*text, p + HEADER, name);
    (*text)[name] = ',';
    memcpy(*text + name + 1, p + HEADER + name, keys);
    (*text)[name + 1 + keys] = '\0';
    r->at += name + keys;
    return 0;
}

/* What holds of a set whose members and cache are not read yet. */
static const char *check_fixed(const struct set *t, const struct fixed *f)
{
    uint32_t lost[SET_MEMBERS_MAX] = {0}, rebuilt = 0;
    if (f->now < 0 || f->now > SIM_TIME_MAX || f->last_command < 0 || f->last_command > f->now || f->k.firmware < 0 ||
        f->k.firmware > SIM_TIME_MAX || f->k.link < 0 || f->k.link > SIM_TIME_MAX || f->k.rebuild_due < 0 ||
        f->k.rebuild_due > SIM_TIME_MAX)
        return "its clock is out of range";
    for (uint32_t m = 0; m < t->shape.n; m++) {
        if (f->k.state[m] > SATED_MEMBER_REBUILDING || f->k.replaced[m] > 1000000)
            return "a member is in no known state";
        rebuilt += f->k.state[m] == SATED_MEMBER_REBUILDING;
        lost[m / t->shape.copies] += f->k.state[m] != SATED_MEMBER_ONLINE;
    }
    if (rebuilt > 1 || (rebuilt && (f->k.rebuild_bytes_s < 1000000 || f->k.rebuild_bytes_s > 1000000000000)))
        return "its rebuild cannot be";
    uint32_t sum = 0;
    for (uint32_t group = 0; group < t->shape.n / t->shape.copies; group++) {
        sum += lost[group];
        if (t->shape.level != SET_RAID5 && lost[group] >= t->shape.copies)
            return "more members have failed than it can miss";
    }
    if (t->shape.level == SET_RAID5 && sum > 1)
        return "more members have failed than it can miss";
    return NULL;
}

static int read_lines(struct reading *r, struct set *t, uint64_t n, int64_t now)
{
    uint64_t sectors = t->shape.chunk / SET_SECTOR, beyond = sectors % 64 ? ~(uint64_t)0 << sectors % 64 : 0;
    size_t each = line_bytes(t);
    if (n > t->rows || n > r->bytes / each || !has(r, n * each))
        return damaged(r->path, "its cache is longer than the file");
    for (; n; n--, r->at += each) {
        const uint8_t *p = r->data + r->at;
        uint64_t row = bytes_le64(p), since = bytes_le64(p + 8);
        if (row >= t->rows || since > (uint64_t)now || cache_line(t, row))
            return damaged(r->path, "a row in its cache cannot be");
        struct line *l = cache_need(t, row);
        if (!l)
            return error_set(-ENOMEM, SATED_LAYER_FILE, "%s: not enough memory to read it", r->path);
        l->since = (int64_t)since;
        memcpy(l->bits, p + 16, each - 16);
        for (uint32_t k = 0; k < t->shape.data; k++)
            if (line_dirty(t, l, k)[t->words - 1] & beyond)
                return damaged(r->path, "a row in its cache is longer than it can be");
        l->n_dirty = bits_count(l->bits, t->shape.data * t->words);
        t->used += l->n_dirty * SET_SECTOR;
        if (!l->n_dirty)
            return damaged(r->path, "a row in its cache holds nothing");
        cache_put_back(t, l);
    }
    return 0;
}

static int read_member(struct reading *r, struct set *t, uint32_t m)
{
    uint64_t n = has(r, 8) ? bytes_le64(r->data + r->at) : UINT64_MAX;
    r->at += has(r, 8) ? 8 : 0;
    if (!has(r, n))
        return damaged(r->path, "a member is missing");
    int rc = sim_of_text(&t->member[m], r->path, r->data + r->at, n);
    r->at += n;
    return rc;
}

/* The members fit each other, and what the set says of them. */
static const char *check_members(const struct set *t, const struct fixed *f)
{
    const struct model *first = &t->member[0]->model;
    uint64_t row = set_row_bytes(t), native = sim_native_capacity(t->member[0]);
    if (!f->rows || f->rows > native / t->shape.chunk || !f->limit_bytes || f->limit_bytes > f->rows * row ||
        f->limit_bytes % MODEL_LOGICAL_BLOCK)
        return "it addresses more than its members have";
    for (uint32_t m = 0; m < t->shape.n; m++) {
        const struct sim *s = t->member[m];
        if (s->set || strcmp(s->model.name, first->name) || s->model.unit_bytes != first->unit_bytes ||
            s->model.units != first->units || s->model.scale != first->scale || s->base_bytes)
            return "its members are not alike";
        if (s->limit_bytes < (f->limit_bytes + row - 1) / row * t->shape.chunk || s->now > f->now)
            return "a member does not fit the set";
    }
    return NULL;
}

/* Makes the set of a new handle from a file's bytes. */
static int take(struct sim *s, struct reading *r)
{
    struct spec spec = {0};
    struct fixed f;
    char *text = NULL;
    const char *wrong = NULL;
    int rc = read_header(r, &text);
    if (!rc)
        rc = spec_parse(&spec, text);
    if (!rc && !set_is_name(spec.name))
        rc = damaged(r->path, "it is no kind of set that is known");
    struct set *t = rc ? NULL : calloc(1, sizeof *t);
    s->set = t;
    if (!rc)
        rc = t ? set_shape_read(&t->shape, &t->of, &spec)
               : error_set(-ENOMEM, SATED_LAYER_FILE, "%s: not enough memory to read it", r->path);
    if (!rc && (bytes_le32(r->data + 20) != t->shape.n || !has(r, sizeof f)))
        rc = damaged(r->path, "it is not of the set that it says");
    if (!rc) {
        memcpy(s->model.name, spec.name, strlen(spec.name) + 1);
        s->keys = strdup(text + strlen(spec.name) + 1);
        memcpy(&f, r->data + r->at, sizeof f);
        r->at += sizeof f;
        wrong = check_fixed(t, &f);
        rc = wrong     ? damaged(r->path, wrong)
             : s->keys ? 0
                       : error_set(-ENOMEM, SATED_LAYER_FILE, "%s: not enough memory to read it", r->path);
    }
    if (!rc) { /* the cache lies before the members, and its rows are known by theirs: it is read again below */
        t->words = (uint32_t)((t->shape.chunk / SET_SECTOR + 63) / 64);
        uint64_t lines = bytes_le64(r->data + 40), each = line_bytes(t), at = r->at;
        if (lines > r->bytes / each || !has(r, lines * each + 8))
            rc = damaged(r->path, "its cache is longer than the file");
        if (!rc) {
            r->at += lines * each;
            struct file_part hashed[] = {{r->data, IN_USE}, {r->data + HEADER - 8, r->at - (HEADER - 8)}};
            if (state_hash(hashed, 2) != bytes_le64(r->data + r->at))
                rc = damaged(r->path, "its checksum is wrong");
            r->at += 8;
        }
        for (uint32_t m = 0; !rc && m < t->shape.n; m++)
            rc = read_member(r, t, m);
        if (!rc && (wrong = check_members(t, &f)) != NULL)
            rc = damaged(r->path, wrong);
        if (!rc)
            rc = set_work_out(s, f.rows);
        r->at = at;
        if (!rc)
            rc = read_lines(r, t, lines, f.now);
    }
    if (!rc) {
        t->k = f.k;
        t->at = s->now = f.now;
        s->last_command = f.last_command;
        s->limit_bytes = f.limit_bytes;
        s->served = f.served;
        if (t->k.rebuild_row > t->rows)
            rc = damaged(r->path, "its rebuild is beyond its end");
    }
    spec_free(&spec);
    free(text);
    return rc;
}

int set_open(struct sim *s, const char *path, bool *in_use)
{
    struct reading r = {.path = path};
    void *data;
    int rc = file_read(path, &data, &r.bytes);
    if (rc)
        return rc;
    r.data = data;
    rc = take(s, &r);
    *in_use = !rc && state_was_in_use(data);
    if (!rc)
        set_go_on(s);
    free(data);
    return rc;
}

static bool same(const struct set *a, const struct set *b)
{
    if (memcmp(&a->shape, &b->shape, sizeof a->shape) || a->rows != b->rows)
        return false;
    for (uint32_t m = 0; m < a->shape.n; m++) {
        struct model x = a->member[m]->model, y = b->member[m]->model;
        x.seed = y.seed; /* a spare has another */
        if (memcmp(&x, &y, sizeof x))
            return false;
    }
    return true;
}

int set_load(struct sim *s, const char *path, bool *in_use)
{
    struct sim *new = calloc(1, sizeof *new);
    if (!new)
        return error_set(-ENOMEM, SATED_LAYER_FILE, "%s: not enough memory to read it", path);
    int rc = set_open(new, path, in_use);
    if (!rc && !same(s->set, new->set))
        rc =
            error_set(SATED_STATE, SATED_LAYER_DRIVE,
                      "%s holds the state of another set than this one (sim:%s,%s); open it by its path, as sim:./FILE",
                      path, s->model.name, s->keys);
    if (!rc) {
        struct set *old = s->set;
        s->set = new->set;
        new->set = old;
        sim_at(s, new->now);
        s->last_command = new->last_command;
        s->limit_bytes = new->limit_bytes;
        s->served = new->served;
    }
    sim_drop(new);
    return rc;
}
