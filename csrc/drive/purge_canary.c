/* SPDX-License-Identifier: MIT */
/* Blocks that are marked before an erase and looked for afterwards. What is in one follows from the purge, its LBA and a
 * digest of both, so that nothing but that very mark looks like it. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/random.h"
#include "drive/purge.h"

#define CANARIES_MAX 64
#define PIECE 64 /* bytes: even one of them left is a mark left */

static const char magic[16] = "sated canary\r\n";

static uint64_t mix(uint64_t seed, uint64_t value)
{
    struct random r;
    random_seed(&r, seed, value);
    return random_next(&r);
}

/* Of a simulated drive all is by its seed and its clock, so that the same plan leaves the same bytes. */
static uint64_t identifier(struct sated_drive *d)
{
    uint64_t id = 0xcbf29ce484222325;
    for (const char *p = d->identity.serial; *p; p++)
        id = mix(id, (uint8_t)*p);
    id = mix(id, (uint64_t)handle_now_ns(d));
    if (d->kind == HANDLE_SIMULATED || d->kind == HANDLE_REPLAY)
        return id;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return mix(mix(id, (uint64_t)t.tv_sec), (uint64_t)t.tv_nsec ^ (uint64_t)getpid() << 32);
}

void canaries_init(struct canaries *c, struct sated_drive *d, const struct purge_look *l, uint32_t n)
{
    *c =
        (struct canaries){.blocks = l->blocks, .block_bytes = l->block_bytes, .n = n < CANARIES_MAX ? n : CANARIES_MAX};
    if (!l->block_bytes || l->block_bytes > PURGE_PAGE || l->blocks < c->n)
        c->n = 0;
    else
        c->id = identifier(d);
}

/* One in each of n parts: the first block in the first, the last one in the last, and anywhere in between. */
uint64_t canary_lba(const struct canaries *c, uint32_t i)
{
    uint64_t part = c->blocks / c->n;
    if (i == 0)
        return 0;
    return i + 1 == c->n ? c->blocks - 1 : i * part + mix(c->id, i) % part;
}

static void compose(const struct canaries *c, uint64_t lba, uint8_t *out)
{
    struct random r;
    random_seed(&r, c->id, lba);
    for (uint32_t at = 0; at < c->block_bytes; at += 8)
        bytes_put_le64(out + at, random_next(&r));
    memcpy(out, magic, sizeof magic);
    bytes_put_le64(out + 16, c->id);
    bytes_put_le64(out + 24, lba);
    uint64_t digest = 0xcbf29ce484222325; /* FNV-1a, of all but itself */
    for (uint32_t at = 0; at < c->block_bytes; at++)
        digest = at >= 32 && at < 40 ? digest : (digest ^ out[at]) * 0x100000001b3;
    bytes_put_le64(out + 32, digest);
}

static bool holds_any(const struct canaries *c, const uint8_t *read, const uint8_t *expected)
{
    for (uint32_t at = 0; at < c->block_bytes; at += PIECE)
        if (!memcmp(read + at, expected + at, PIECE))
            return true;
    return false;
}

static bool holds_all(const struct canaries *c, const uint8_t *read, const uint8_t *expected)
{
    return !memcmp(read, expected, c->block_bytes);
}

/* @param found receives which of `mask` hold theirs, @param unreadable which cannot be read. */
static int look_for(struct sated_purge *p, uint64_t mask,
                    bool (*holds)(const struct canaries *, const uint8_t *, const uint8_t *), uint64_t *found,
                    uint64_t *unreadable)
{
    const struct canaries *c = &p->canaries;
    uint8_t *expected = p->page + PURGE_PAGE;
    *found = *unreadable = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        if (!(mask >> i & 1))
            continue;
        if (p->stop)
            return purge_pause(p, 0);
        uint64_t lba = canary_lba(c, i), bit = UINT64_C(1) << i;
        compose(c, lba, expected);
        int rc = p->protocol->move(p, false, lba);
        if (rc && !purge_is_answer(rc))
            return rc;
        *unreadable |= rc ? bit : 0;
        *found |= !rc && holds(c, p->page, expected) ? bit : 0;
    }
    return 0;
}

int canaries_mark(struct sated_purge *p)
{
    struct canaries *c = &p->canaries;
    uint64_t written = 0, unreadable;
    for (uint32_t i = 0; i < c->n; i++) {
        if (p->stop)
            return purge_pause(p, 0);
        compose(c, canary_lba(c, i), p->page);
        int rc = p->protocol->move(p, true, canary_lba(c, i));
        if (rc && !purge_is_answer(rc))
            return rc;
        written |= rc ? 0 : UINT64_C(1) << i;
    }
    int rc = written ? p->protocol->flush(p) : 0;
    return rc && !purge_is_answer(rc) ? rc : look_for(p, written, holds_all, &c->mask, &unreadable);
}

int canaries_check(struct sated_purge *p)
{
    struct sated_purge_result *r = &p->result;
    uint64_t found, unreadable;
    int rc = look_for(p, p->canaries.mask, holds_any, &found, &unreadable);
    if (rc)
        return rc;
    r->canaries = (uint32_t)__builtin_popcountll(p->canaries.mask);
    r->still_there = (uint32_t)__builtin_popcountll(found);
    r->unreadable = (uint32_t)__builtin_popcountll(unreadable);
    r->verified = !r->canaries ? SATED_PURGE_NOT_VERIFIED : found ? SATED_PURGE_STILL_THERE : SATED_PURGE_GONE;
    return 0;
}
