/* SPDX-License-Identifier: MIT */
#include "sim/media.h"

#include <errno.h>
#include <string.h>

#include "core/bytes.h"
#include "sim/flaw.h"
#include "sim/set.h"
#include "sim/sim.h"

/* A long span goes to the map in commands that end at multiples of so many bytes: no unit lies in two of them. */
#define PIECE ((uint32_t)1 << 20)

/* One command to its end. Return: 0, or its status. */
static int run(struct sim *s, enum sated_op op, uint64_t offset, uint32_t bytes)
{
    uint32_t tag;
    int64_t done_ns;
    int status, rc;
    rc = sim_submit_at(s, 0, op, offset, bytes);
    while (sim_next(s, &tag, &done_ns, &status))
        rc = rc ? rc : status;
    return rc;
}

static uint32_t piece_of(uint64_t offset, uint64_t bytes)
{
    uint32_t most = PIECE - (uint32_t)(offset % PIECE);
    return bytes < most ? (uint32_t)bytes : most;
}

static int run_all(struct sim *s, enum sated_op op, uint64_t offset, uint64_t bytes)
{
    int rc = 0;
    for (uint32_t n; bytes && !rc; offset += n, bytes -= n) {
        n = piece_of(offset, bytes);
        rc = run(s, op, offset, n);
    }
    return rc;
}

/* Part of one unit. */
struct part {
    uint32_t unit, at, bytes;
};

static struct part first_part(const struct sim *s, uint64_t offset, uint64_t bytes)
{
    uint32_t unit_bytes = (uint32_t)s->model.unit_bytes;
    struct part p = {.unit = (uint32_t)(offset / unit_bytes), .at = (uint32_t)(offset % unit_bytes)};
    p.bytes = bytes < unit_bytes - p.at ? (uint32_t)bytes : unit_bytes - p.at;
    return p;
}

void media_unit(const struct sim *s, uint32_t unit, uint8_t *out)
{
    if (ftl_page(&s->ftl, unit) >= FTL_LOST)
        memset(out, 0, s->model.unit_bytes);
    else
        content_get(&s->content, unit, out);
}

int media_read(struct sim *s, uint64_t offset, void *out, uint32_t bytes)
{
    uint8_t *unit = s->scratch, *to = out;
    int rc = run_all(s, SATED_READ, offset, bytes);
    while (bytes && !rc) {
        struct part p = first_part(s, offset, bytes);
        media_unit(s, p.unit, unit);
        memcpy(to, unit + p.at, p.bytes);
        to += p.bytes;
        offset += p.bytes;
        bytes -= p.bytes;
    }
    return rc;
}

int media_verify(struct sim *s, uint64_t offset, uint64_t bytes)
{
    if (flaw_first_lost(s, offset, bytes) == UINT64_MAX)
        return 0;
    s->uncorrectable++;
    return -ENODATA;
}

int sim_read(struct sim *s, uint64_t offset, void *out, uint32_t bytes)
{
    int rc = sim_check(s, SATED_READ, offset, bytes);
    if (rc)
        return rc;
    return s->set ? set_read_bytes(s, offset, out, bytes) : media_read(s, s->base_bytes + offset, out, bytes);
}

int sim_write(struct sim *s, uint64_t offset, const void *data, uint32_t bytes)
{
    int rc = sim_check(s, SATED_WRITE, offset, bytes);
    if (rc)
        return rc;
    return s->set ? set_write_bytes(s, offset, data, bytes) : media_write(s, s->base_bytes + offset, data, bytes);
}

/* Where the bytes of a write come from: the host's buffer, or a word again and again. */
static void take(uint8_t *out, uint32_t bytes, const uint8_t **data, uint64_t word)
{
    if (*data) {
        memcpy(out, *data, bytes);
        *data += bytes;
    } else {
        for (uint32_t i = 0; i < bytes; i += 8)
            bytes_put_le64(out + i, word);
    }
}

/* The units' contents are worked out before the write, which drops them: the rest of a unit stays as it was. */
static int write_piece(struct sim *s, uint64_t offset, uint32_t bytes, const uint8_t **data, uint64_t word)
{
    uint32_t unit_bytes = (uint32_t)s->model.unit_bytes;
    uint8_t *head = s->scratch, *tail = head + unit_bytes, *between = tail + unit_bytes;
    uint64_t end = offset + bytes;
    uint32_t first = (uint32_t)(offset / unit_bytes), last = (uint32_t)((end - 1) / unit_bytes);
    media_unit(s, first, head);
    media_unit(s, last, tail);
    int rc = run(s, SATED_WRITE, offset, bytes);
    while (!rc && offset < end) {
        struct part p = first_part(s, offset, end - offset);
        uint8_t *unit = p.unit == first ? head : p.unit == last ? tail : between;
        take(unit + p.at, p.bytes, data, word);
        rc = content_put(&s->content, p.unit, unit);
        offset += p.bytes;
    }
    return rc;
}

static int write_all(struct sim *s, uint64_t offset, uint64_t bytes, const uint8_t *data, uint64_t word)
{
    int rc = 0;
    for (uint32_t n; bytes && !rc; offset += n, bytes -= n) {
        n = piece_of(offset, bytes);
        rc = write_piece(s, offset, n, &data, word);
    }
    return rc;
}

int media_write(struct sim *s, uint64_t offset, const void *data, uint32_t bytes)
{
    return write_all(s, offset, bytes, data, 0);
}

int media_fill(struct sim *s, uint64_t offset, uint64_t bytes, uint64_t word)
{
    return write_all(s, offset, bytes, NULL, word);
}

/* Zeroes part of a unit that holds data. */
static int zero_part(struct sim *s, struct part p)
{
    uint8_t *unit = s->scratch;
    if (p.bytes == s->model.unit_bytes || !p.bytes || ftl_page(&s->ftl, p.unit) >= FTL_LOST)
        return 0;
    media_unit(s, p.unit, unit);
    memset(unit + p.at, 0, p.bytes);
    return content_put(&s->content, p.unit, unit);
}

int media_trim(struct sim *s, uint64_t offset, uint64_t bytes)
{
    if (!bytes)
        return 0;
    uint64_t end = offset + bytes, tail = end % s->model.unit_bytes;
    struct part first = first_part(s, offset, bytes), last = first_part(s, tail < bytes ? end - tail : offset, tail);
    int rc = run_all(s, SATED_TRIM, offset, bytes);
    if (!rc)
        rc = zero_part(s, first);
    return rc || last.unit == first.unit ? rc : zero_part(s, last);
}

void media_flush(struct sim *s)
{
    if (!s->model.timing)
        return;
    timing_flush(&s->timing, &s->model, &s->ftl, s->now);
    if (s->timing.busy > s->now)
        sim_idle_until(s, s->timing.busy);
    timing_settle(&s->timing, &s->model, &s->ftl, s->now);
}

bool media_is_mapped(const struct sim *s, uint64_t offset)
{
    return ftl_page(&s->ftl, (uint32_t)(offset / s->model.unit_bytes)) != FTL_NONE;
}

void media_erase(struct sim *s)
{
    sim_forget(s);
}

void media_erase_span(struct sim *s, uint64_t offset, uint64_t bytes)
{
    uint64_t unit = (offset + s->model.unit_bytes - 1) / s->model.unit_bytes,
             end = (offset + bytes) / s->model.unit_bytes;
    for (; unit < end; unit++) {
        ftl_trim(&s->ftl, (uint32_t)unit);
        content_drop(&s->content, (uint32_t)unit);
    }
}

void media_overwrite(struct sim *s, uint64_t word)
{
    sim_forget(s);
    /* What can no longer be written is erased at least. */
    for (uint32_t unit = 0; !(s->ftl.sick & SICK_READ_ONLY) && unit < s->ftl.units; unit++) {
        if (s->model.timing)
            timing_gather(&s->timing, &s->model, &s->ftl, true);
        ftl_write(&s->ftl, unit);
        if (s->model.timing)
            timing_program(&s->timing, &s->model, &s->ftl, s->now);
    }
    if (s->model.timing)
        ftl_log_retire(&s->ftl, s->ftl.log_at);
    sim_rest(s);
    s->content.fill = word;
    s->content.overwritten = 1;
}

int64_t media_erase_ns(const struct sim *s)
{
    return (int64_t)s->model.purge_ns;
}

void media_spend(struct sim *s, int64_t ns)
{
    sim_idle_until(s, s->now + ns);
}
