/* SPDX-License-Identifier: MIT */
/* What a set holds, byte by byte. The bytes are the members' own: mirrors have them twice, parity is their sum, and those
 * of a member that is lost are worked out from the others. A load's writes carry no bytes: such a unit reads as a filler,
 * and has a parity in bytes only where a unit beside it in the row has bytes; without any, what is lost reads as a filler
 * wherever its row has a parity at all, so that a unit never written reads as one, too, beside one that a load wrote. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/media.h"
#include "sim/set_inside.h"
#include "sim/sim.h"

static uint32_t unit_bytes_of(const struct set *t)
{
    return (uint32_t)t->member[0]->model.unit_bytes;
}

static bool held(const struct sim *m, uint32_t unit)
{
    return ftl_page(&m->ftl, unit) != FTL_NONE;
}

static bool kept(const struct sim *m, uint32_t unit)
{
    return content_has(&m->content, unit);
}

static void add(uint8_t *sum, const uint8_t *bytes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        sum[i] ^= bytes[i];
}

static bool bytes_kept(const struct set *t)
{
    for (uint32_t m = 0; m < t->shape.n; m++)
        if (t->member[m]->content.n)
            return true;
    return false;
}

/* What a member that is not there held of RAID 5. `out` and `other`: room for a unit. */
static void work_out(const struct set *t, uint64_t row, uint32_t lost, uint32_t unit, uint8_t *out, uint8_t *other)
{
    uint32_t n = unit_bytes_of(t), parity = set_parity(t, row);
    memset(out, 0, n);
    if (lost != parity && !kept(t->member[parity], unit)) {
        if (held(t->member[parity], unit))
            content_filler(&t->member[lost]->content, unit, out);
        return;
    }
    for (uint32_t m = 0; m < t->shape.n; m++) {
        if (m == lost)
            continue;
        media_unit(t->member[m], unit, other);
        add(out, other, n);
    }
}

/* The first member that has a chunk of data; SET_NONE where it has to be worked out. */
static uint32_t holder(const struct set *t, uint64_t row, uint32_t k)
{
    for (uint32_t copy = 0; copy < t->shape.copies; copy++)
        if (set_has(t, set_place(t, row, k, copy), row))
            return set_place(t, row, k, copy);
    return SET_NONE;
}

/* A unit of a chunk of data, as the host sees it. */
static void look(const struct set *t, uint64_t row, uint32_t k, uint32_t unit, uint8_t *out, uint8_t *other)
{
    uint32_t member = holder(t, row, k);
    if (member != SET_NONE)
        media_unit(t->member[member], unit, out);
    else
        work_out(t, row, set_place(t, row, k, 0), unit, out, other);
}

static bool row_keeps(const struct set *t, uint64_t row, uint32_t unit)
{
    for (uint32_t m = 0; m < t->shape.n; m++)
        if (set_has(t, m, row) && kept(t->member[m], unit))
            return true;
    return false;
}

/* Whether a write without bytes touches a unit of a chunk. */
static bool touches(const uint64_t *bits, uint32_t u, uint32_t sectors)
{
    uint32_t from = u * sectors, n;
    return bits_run(bits, (u + 1) * sectors, &from, &n);
}

/* Called when all is read and nothing is written: later the old bytes are gone. */
void bytes_row_parity(struct sim *s, struct line *l)
{
    struct set *t = s->set;
    uint32_t n = unit_bytes_of(t), units = (uint32_t)(t->shape.chunk / n), parity = set_parity(t, l->row);
    if (l->mode == MODE_PLAIN || l->mode == MODE_REBUILD || !bytes_kept(t))
        return;
    uint8_t *sum = calloc(1, t->shape.chunk + units), *room = malloc(2 * (size_t)n);
    for (uint32_t u = 0; sum && room && u < units; u++) {
        uint32_t unit = (uint32_t)(l->row * units + u);
        bool any = false;
        for (uint32_t k = 0; k < t->shape.data; k++)
            any |= touches(line_flying(t, l, k), u, n / (uint32_t)SET_SECTOR);
        if (!any || !row_keeps(t, l->row, unit))
            continue;
        sum[t->shape.chunk + u] = 1;
        for (uint32_t k = 0; k < t->shape.data; k++) {
            if (touches(line_flying(t, l, k), u, n / (uint32_t)SET_SECTOR))
                content_filler(&t->member[parity]->content, unit, room);
            else
                look(t, l->row, k, unit, room, room + n);
            add(sum + (size_t)u * n, room, n);
        }
    }
    free(room);
    l->parity = sum;
}

void bytes_row_landed(struct sim *s, struct line *l)
{
    struct set *t = s->set;
    uint32_t n = unit_bytes_of(t), units = (uint32_t)(t->shape.chunk / n);
    for (uint32_t u = 0; l->parity && u < units; u++)
        if (l->parity[t->shape.chunk + u])
            content_put(&t->member[set_parity(t, l->row)]->content, (uint32_t)(l->row * units + u),
                        l->parity + (size_t)u * n);
    free(l->parity);
    l->parity = NULL;
}

void bytes_rebuilt(struct sim *s, uint64_t row, uint32_t member, const uint64_t *bits)
{
    struct set *t = s->set;
    uint32_t n = unit_bytes_of(t), units = (uint32_t)(t->shape.chunk / n);
    uint8_t *room = bytes_kept(t) ? malloc(2 * (size_t)n) : NULL;
    for (uint32_t u = 0; room && u < units; u++) {
        uint32_t unit = (uint32_t)(row * units + u), k = 0;
        if (!touches(bits, u, n / (uint32_t)SET_SECTOR) || !row_keeps(t, row, unit))
            continue;
        if (t->shape.level == SET_RAID5)
            work_out(t, row, member, unit, room, room + n);
        else {
            k = member / t->shape.copies;
            look(t, row, k, unit, room, room + n);
        }
        content_put(&t->member[member]->content, unit, room);
    }
    free(room);
}

/* ---- One command at a time ---- */

static void go_on(struct sim *s)
{
    struct set *t = s->set;
    int64_t now = s->now;
    for (uint32_t m = 0; m < t->shape.n; m++)
        now = t->member[m]->now > now ? t->member[m]->now : now;
    for (uint32_t m = 0; m < t->shape.n; m++)
        sim_idle_until(t->member[m], now);
    t->at = now;
    sim_at(s, now);
    set_go_on(s);
}

int set_read_bytes(struct sim *s, uint64_t offset, void *out, uint32_t bytes)
{
    struct set *t = s->set;
    uint32_t n = unit_bytes_of(t), per_chunk = (uint32_t)(t->shape.chunk / n);
    uint8_t *to = out, *room = malloc(2 * (size_t)n);
    int rc = room ? 0 : -ENOMEM;
    set_write_out(s);
    for (uint32_t done = 0, take; !rc && done < bytes; done += take) {
        struct piece p = set_piece(t, offset + done, bytes - done);
        uint32_t at = p.at % n, unit = (uint32_t)(p.row * per_chunk + p.at / n);
        take = p.bytes < n - at ? p.bytes : n - at;
        uint32_t member = holder(t, p.row, p.k);
        if (member != SET_NONE) {
            rc = media_read(t->member[member], (uint64_t)unit * n + at, to + done, take);
            continue;
        }
        for (uint32_t m = 0; m < t->shape.n && !rc; m++) /* they take the time that it takes */
            if (m != set_place(t, p.row, p.k, 0))
                rc = media_read(t->member[m], (uint64_t)unit * n + at, room, take);
        look(t, p.row, p.k, unit, room, room + n);
        memcpy(to + done, room + at, take);
    }
    go_on(s);
    free(room);
    return rc;
}

/* A part of one unit: the parity is worked out from the whole row before, then both are written. */
static int write_part(struct sim *s, struct piece p, uint32_t unit, const uint8_t *data, uint8_t *room)
{
    struct set *t = s->set;
    uint32_t n = unit_bytes_of(t), at = p.at % n, parity = set_parity(t, p.row);
    uint8_t *sum = room, *one = room + n, *other = room + 2 * (size_t)n;
    memset(sum, 0, n);
    for (uint32_t k = 0; parity != SET_NONE && k < t->shape.data; k++) {
        look(t, p.row, k, unit, one, other);
        if (k == p.k)
            memcpy(one + at, data, p.bytes);
        add(sum, one, n);
    }
    int rc = 0;
    for (uint32_t copy = 0; copy < t->shape.copies && !rc; copy++) {
        uint32_t m = set_place(t, p.row, p.k, copy);
        if (set_has(t, m, p.row))
            rc = media_write(t->member[m], (uint64_t)unit * n + at, data, p.bytes);
    }
    if (!rc && parity != SET_NONE && set_has(t, parity, p.row))
        rc = media_write(t->member[parity], (uint64_t)unit * n, sum, n);
    return rc;
}

int set_write_bytes(struct sim *s, uint64_t offset, const void *data, uint32_t bytes)
{
    struct set *t = s->set;
    uint32_t n = unit_bytes_of(t), per_chunk = (uint32_t)(t->shape.chunk / n);
    const uint8_t *from = data;
    uint8_t *room = malloc(3 * (size_t)n);
    int rc = room ? 0 : -ENOMEM;
    set_write_out(s);
    for (uint32_t done = 0; !rc && done < bytes;) {
        struct piece p = set_piece(t, offset + done, bytes - done);
        uint32_t most = n - p.at % n;
        p.bytes = p.bytes < most ? p.bytes : most;
        rc = write_part(s, p, (uint32_t)(p.row * per_chunk + p.at / n), from + done, room);
        done += p.bytes;
    }
    go_on(s);
    free(room);
    return rc;
}

/* ---- For tests ---- */

static bool unit_is_consistent(const struct set *t, uint64_t row, uint32_t unit, uint8_t *room)
{
    uint32_t n = unit_bytes_of(t), parity = set_parity(t, row);
    if (parity != SET_NONE) {
        if (!kept(t->member[parity], unit)) /* then nothing beside it has bytes */
            return !row_keeps(t, row, unit);
        work_out(t, row, parity, unit, room, room + n);
        media_unit(t->member[parity], unit, room + n);
        return !memcmp(room, room + n, n);
    }
    for (uint32_t m = 0; m + 1 < t->shape.n; m++) {
        if (m / t->shape.copies != (m + 1) / t->shape.copies)
            continue;
        media_unit(t->member[m], unit, room);
        media_unit(t->member[m + 1], unit, room + n);
        if (memcmp(room, room + n, n))
            return false;
    }
    return true;
}

bool set_is_consistent(const struct sim *s)
{
    const struct set *t = s->set;
    uint64_t per_chunk = t->shape.chunk / unit_bytes_of(t);
    uint8_t *room = malloc(2 * (size_t)unit_bytes_of(t));
    bool good = room != NULL;
    for (uint64_t row = 0; good && row < t->rows; row++) {
        for (uint32_t m = 0; m < t->shape.n; m++)
            if (!set_has(t, m, row))
                good = false;
        for (uint64_t u = 0; good && u < per_chunk; u++)
            good = unit_is_consistent(t, row, (uint32_t)(row * per_chunk + u), room);
    }
    free(room);
    return good;
}
