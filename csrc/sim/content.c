/* SPDX-License-Identifier: MIT */
#include "sim/content.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

static uint32_t hash(uint32_t unit)
{
    return (uint32_t)((unit * 0x9e3779b97f4a7c15ULL) >> 32);
}

void content_init(struct content *c, uint32_t unit_bytes)
{
    *c = (struct content){.unit_bytes = unit_bytes};
}

static void free_entries(struct content *c)
{
    for (uint32_t i = 0; i < c->room; i++)
        free(c->entries[i].data);
    free(c->entries);
    c->entries = NULL;
    c->n = c->room = 0;
}

void content_free(struct content *c)
{
    free_entries(c);
}

void content_clear(struct content *c)
{
    free_entries(c);
    c->fill = c->overwritten = 0;
}

/* Where a unit is, or the free place where it belongs; there is always a free one. */
static uint32_t place(const struct content_entry *entries, uint32_t room, uint32_t unit)
{
    uint32_t at = hash(unit) & (room - 1);
    while (entries[at].data && entries[at].unit != unit)
        at = (at + 1) & (room - 1);
    return at;
}

static int grow(struct content *c)
{
    uint32_t room = c->room ? 2 * c->room : 64;
    struct content_entry *entries = calloc(room, sizeof *entries);
    if (!entries)
        return -ENOMEM;
    for (uint32_t i = 0; i < c->room; i++)
        if (c->entries[i].data)
            entries[place(entries, room, c->entries[i].unit)] = c->entries[i];
    free(c->entries);
    c->entries = entries;
    c->room = room;
    return 0;
}

void content_drop_kept(struct content *c, uint32_t unit)
{
    uint32_t at = place(c->entries, c->room, unit), mask = c->room - 1;
    if (!c->entries[at].data)
        return;
    free(c->entries[at].data);
    c->n--;
    /* Those behind move up, so that a search never ends at a hole before its goal. */
    for (uint32_t next = (at + 1) & mask; c->entries[next].data; next = (next + 1) & mask) {
        uint32_t home = hash(c->entries[next].unit) & mask;
        if (((next - home) & mask) < ((next - at) & mask))
            continue;
        c->entries[at] = c->entries[next];
        at = next;
    }
    c->entries[at].data = NULL;
}

void content_get(const struct content *c, uint32_t unit, uint8_t *out)
{
    uint32_t at = c->room ? place(c->entries, c->room, unit) : 0;
    if (c->room && c->entries[at].data) {
        memcpy(out, c->entries[at].data, c->unit_bytes);
        return;
    }
    content_filler(c, unit, out);
}

bool content_has(const struct content *c, uint32_t unit)
{
    return c->n && c->entries[place(c->entries, c->room, unit)].data;
}

void content_filler(const struct content *c, uint32_t unit, uint8_t *out)
{
    uint64_t word = c->overwritten ? c->fill : (unit + 1) * 0x9e3779b97f4a7c15ULL;
    for (uint32_t i = 0; i < c->unit_bytes; i += 8)
        bytes_put_le64(out + i, word);
}

int content_put(struct content *c, uint32_t unit, const uint8_t *data)
{
    if (c->n >= c->room / 4 * 3 && grow(c))
        return -ENOMEM;
    struct content_entry *e = &c->entries[place(c->entries, c->room, unit)];
    if (!e->data) {
        e->data = malloc(c->unit_bytes);
        if (!e->data)
            return -ENOMEM;
        e->unit = unit;
        c->n++;
    }
    memcpy(e->data, data, c->unit_bytes);
    return 0;
}

uint64_t content_bytes(const struct content *c)
{
    return 16 + (uint64_t)c->n * (4 + c->unit_bytes);
}

static int by_unit(const void *a, const void *b)
{
    uint32_t x = ((const struct content_entry *)a)->unit, y = ((const struct content_entry *)b)->unit;
    return (x > y) - (x < y);
}

uint8_t *content_store(const struct content *c)
{
    struct content_entry *sorted = malloc(((size_t)c->n + 1) * sizeof *sorted);
    uint8_t *out = malloc(content_bytes(c)), *at = out;
    if (!sorted || !out) {
        free(sorted);
        free(out);
        return NULL;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->room; i++)
        if (c->entries[i].data)
            sorted[n++] = c->entries[i];
    qsort(sorted, n, sizeof *sorted, by_unit);
    bytes_put_le64(at, c->fill);
    bytes_put_le64(at + 8, c->overwritten);
    at += 16;
    for (uint32_t i = 0; i < n; i++, at += 4 + c->unit_bytes) {
        bytes_put_le32(at, sorted[i].unit);
        memcpy(at + 4, sorted[i].data, c->unit_bytes);
    }
    free(sorted);
    return out;
}

bool content_load(struct content *c, const uint8_t *data, uint64_t bytes, uint32_t units)
{
    uint64_t each = 4 + (uint64_t)c->unit_bytes;
    struct content fresh;
    if (bytes < 16 || (bytes - 16) % each || (bytes - 16) / each > units || bytes_le64(data + 8) > 1)
        return false;
    content_init(&fresh, c->unit_bytes);
    fresh.fill = bytes_le64(data);
    fresh.overwritten = bytes_le64(data + 8);
    int64_t last = -1;
    for (const uint8_t *at = data + 16; at < data + bytes; at += each) {
        uint32_t unit = bytes_le32(at);
        if (unit >= units || unit <= last || content_put(&fresh, unit, at + 4)) {
            content_free(&fresh);
            return false;
        }
        last = unit;
    }
    content_free(c);
    *c = fresh;
    return true;
}
