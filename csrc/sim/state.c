/* SPDX-License-Identifier: MIT */
/* The state file: a header that says of which drive it is, then everything that changes, then a checksum. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/error.h"
#include "sim/whole.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "a state file holds arrays as they lie in the memory of a little-endian machine"
#endif

#define MAGIC "SATEDSIM"
#define SCHEMA 6
/* Magic 8, schema 4, bytes of name 4, of the model's text 4, of the keys 4, of the whole file 8, in use 8. */
#define HEADER 40
#define IN_USE 32 /* changed in place, so that the checksum leaves it out */

/* A multiply-xor hash of the 64-bit words of the whole file, whatever parts it came in, so that it is verified before
 * anything of it is made use of; it finds damage, it is no signature. */
struct hash {
    uint64_t h;
    uint8_t rest[8];
    size_t n; /* bytes of rest: not a word yet */
};

static void hash_word(struct hash *s, const uint8_t word[8])
{
    s->h = (s->h ^ bytes_le64(word)) * 0x9e3779b97f4a7c15ULL;
    s->h ^= s->h >> 32;
}

static void hash_add(struct hash *s, const void *data, uint64_t bytes)
{
    const uint8_t *p = data;
    for (; s->n && bytes; bytes--) {
        s->rest[s->n++] = *p++;
        if (s->n == 8) {
            hash_word(s, s->rest);
            s->n = 0;
        }
    }
    for (; bytes >= 8; p += 8, bytes -= 8)
        hash_word(s, p);
    for (; bytes; bytes--)
        s->rest[s->n++] = *p++;
}

static uint64_t hash_end(struct hash *s)
{
    uint64_t n = s->n;
    memset(s->rest + n, 0, 8 - n);
    uint64_t h = (s->h ^ bytes_le64(s->rest) ^ n << 56) * 0x9e3779b97f4a7c15ULL;
    return h ^ h >> 29;
}

static void add(void *data, uint64_t bytes, void *user)
{
    struct state_parts *p = user;
    p->part[p->n++] = (struct file_part){data, bytes};
    p->bytes += bytes;
}

void state_parts(struct sim *s, struct state_parts *p)
{
    ftl_walk(&s->ftl, add, p);
    cache_walk(&s->cache, add, p);
    timing_walk(&s->timing, &s->model, add, p);
    add(&s->now, sizeof s->now, p);
    add(&s->last_command, sizeof s->last_command, p);
    add(&s->limit_bytes, sizeof s->limit_bytes, p);
    add(&s->number, sizeof s->number, p);
    add(&s->read_units, sizeof s->read_units, p);
    add(&s->base_nj, sizeof s->base_nj, p);
    add(&s->base_pj, sizeof s->base_pj, p);
    add(&s->power_at, sizeof s->power_at, p);
    add(&s->heat_uc, sizeof s->heat_uc, p);
    add(&s->heat_at, sizeof s->heat_at, p);
    add(&s->heat_nj, sizeof s->heat_nj, p);
    add(&s->slower, sizeof s->slower, p);
    add(&s->base_bytes, sizeof s->base_bytes, p);
    add(&s->uncorrectable, sizeof s->uncorrectable, p);
    add(&s->served, sizeof s->served, p);
    add(&s->life, sizeof s->life, p);
    add(&s->target, sizeof s->target, p);
}

uint64_t state_hash(const struct file_part *part, size_t n)
{
    struct hash hash = {0};
    for (size_t i = 0; i < n; i++)
        hash_add(&hash, part[i].data, part[i].bytes);
    return hash_end(&hash);
}

_Static_assert(sizeof((struct state_text *)0)->header == HEADER, "the header");

int state_text(struct sim *s, const char *path, bool in_use, struct state_text *out)
{
    *out = (struct state_text){0};
    struct state_parts *p = &out->parts;
    uint8_t *header = out->header;
    uint32_t name = (uint32_t)strlen(s->model.name), text = (uint32_t)strlen(s->model_text),
             keys = (uint32_t)strlen(s->keys);
    add(header, HEADER, p);
    add(s->model.name, name, p);
    add(s->model_text, text, p);
    add(s->keys, keys, p);
    state_parts(s, p);
    out->content = content_store(&s->content);
    if (!out->content)
        return error_set(-ENOMEM, SATED_LAYER_FILE, "%s: not enough memory to write it", path);
    add(out->content, content_bytes(&s->content), p);
    add(out->sum, sizeof out->sum, p);
    memcpy(header, MAGIC, 8);
    bytes_put_le32(header + 8, SCHEMA);
    bytes_put_le32(header + 12, name);
    bytes_put_le32(header + 16, text);
    bytes_put_le32(header + 20, keys);
    bytes_put_le64(header + 24, p->bytes);
    bytes_put_le64(header + IN_USE, in_use);
    struct hash hash = {0};
    hash_add(&hash, header, IN_USE);
    for (size_t i = 1; i + 1 < p->n; i++)
        hash_add(&hash, p->part[i].data, p->part[i].bytes);
    bytes_put_le64(out->sum, hash_end(&hash));
    return 0;
}

void state_text_free(struct state_text *t)
{
    free(t->content);
}

int state_save(struct sim *s, const char *path, bool in_use)
{
    struct state_text t;
    int rc = file_begins(path, MAGIC, 8);
    if (rc <= 0)
        return rc ? rc
                  : error_set(SATED_UNSAFE, SATED_LAYER_FILE,
                              "%s holds something else than the state of a simulated drive, which would be lost; give "
                              "another name, or remove it first",
                              path);
    rc = state_text(s, path, in_use, &t);
    if (!rc)
        rc = file_replace(path, t.parts.part, t.parts.n);
    state_text_free(&t);
    return rc;
}

int state_mark_in_use(const char *path)
{
    uint8_t in_use[8];
    bytes_put_le64(in_use, 1);
    return file_patch(path, IN_USE, in_use, sizeof in_use);
}

bool state_was_in_use(const void *data)
{
    return bytes_le64((const uint8_t *)data + IN_USE) != 0;
}

static char *text_of(const uint8_t *data, size_t bytes)
{
    char *text = malloc(bytes + 1);
    if (text) {
        memcpy(text, data, bytes);
        text[bytes] = '\0';
    }
    return text;
}

static int damaged(const char *path, const char *how)
{
    return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                     "%s is not a whole state of a simulated drive: %s; use a copy of it", path, how);
}

static bool is_whole(const uint8_t *data, size_t bytes)
{
    struct hash hash = {0};
    hash_add(&hash, data, IN_USE);
    hash_add(&hash, data + HEADER, bytes - HEADER - 8);
    return hash_end(&hash) == bytes_le64(data + bytes - 8);
}

int state_take(const char *path, const void *data, size_t bytes, char **name, char **model_text, char **keys)
{
    const uint8_t *p = data;
    int rc = 0;
    *name = *model_text = *keys = NULL;
    if (bytes < HEADER || memcmp(p, MAGIC, 8))
        rc = damaged(path, "it does not begin like one");
    else if (bytes_le32(p + 8) < SCHEMA)
        rc = error_set(SATED_STATE, SATED_LAYER_DRIVE,
                       "%s was written by an older sated: its schema is %u, and this one reads %d; make it anew", path,
                       bytes_le32(p + 8), SCHEMA);
    else if (bytes_le32(p + 8) > SCHEMA)
        rc = error_set(SATED_STATE, SATED_LAYER_DRIVE,
                       "%s was written by a newer sated: its schema is %u, and this one reads up to %d; update sated",
                       path, bytes_le32(p + 8), SCHEMA);
    else if (bytes_le64(p + 24) != bytes)
        rc = damaged(path, "its length is not the one it states");
    uint64_t at = HEADER, n[3];
    for (int i = 0; !rc && i < 3; i++) {
        n[i] = bytes_le32(p + 12 + 4 * i);
        at += n[i];
    }
    if (!rc && at + 8 > bytes)
        rc = damaged(path, "its header is longer than the file");
    if (!rc && !is_whole(p, bytes))
        rc = damaged(path, "its checksum is wrong");
    if (!rc) {
        *name = text_of(p + HEADER, n[0]);
        *model_text = text_of(p + HEADER + n[0], n[1]);
        *keys = text_of(p + HEADER + n[0] + n[1], n[2]);
        if (!*name || !*model_text || !*keys)
            rc = error_set(-ENOMEM, SATED_LAYER_FILE, "%s: not enough memory to read it", path);
    }
    if (rc) {
        free(*name);
        free(*model_text);
        free(*keys);
        *name = *model_text = *keys = NULL;
    }
    return rc;
}

int state_read(const char *path, void **data, size_t *bytes, char **name, char **model_text, char **keys)
{
    *name = *model_text = *keys = NULL;
    int rc = file_read(path, data, bytes);
    if (rc)
        return rc;
    rc = state_take(path, *data, *bytes, name, model_text, keys);
    if (rc) {
        free(*data);
        *data = NULL;
    }
    return rc;
}

static void exchange(uint8_t *a, uint8_t *b, uint64_t bytes)
{
    uint8_t held[4096];
    for (uint64_t n; bytes; a += n, b += n, bytes -= n) {
        n = bytes < sizeof held ? bytes : sizeof held;
        memcpy(held, a, n);
        memcpy(a, b, n);
        memcpy(b, held, n);
    }
}

static void exchange_all(const struct state_parts *p, uint8_t *data)
{
    for (size_t i = 0; i < p->n; i++) {
        exchange((uint8_t *)p->part[i].data, data, p->part[i].bytes);
        data += p->part[i].bytes;
    }
}

int state_load(struct sim *s, const char *path, void *data, size_t bytes)
{
    uint8_t *from = data;
    struct state_parts p = {0};
    uint64_t at = HEADER;
    state_parts(s, &p);
    for (int i = 0; i < 3; i++)
        at += bytes_le32(from + 12 + 4 * i);
    uint8_t *begin = from + at;
    if (at + p.bytes + 8 > bytes)
        return damaged(path, "its size is not that of this drive's state");
    at += p.bytes;
    uint64_t kept = bytes - 8 - at;
    struct content content;
    content_init(&content, (uint32_t)s->model.unit_bytes);
    if (!content_load(&content, from + at, kept, (uint32_t)s->model.units))
        return damaged(path, "what its units hold is not that of this drive");
    /* In place, as there may not be memory for a second one. */
    exchange_all(&p, begin);
    const char *wrong = state_check(s);
    if (!wrong) {
        ftl_log_mark(&s->ftl);
        content_free(&s->content);
        s->content = content;
        return 0;
    }
    exchange_all(&p, begin);
    content_free(&content);
    return damaged(path, wrong);
}
