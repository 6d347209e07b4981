/* SPDX-License-Identifier: MIT */
#include "load/data.h"

#include <errno.h>
#include <string.h>

#include "core/buffer.h"
#include "core/bytes.h"

#define PAGE 4096u
#define POOL_BYTES (16u << 20)
#define SECTOR 512u
#define TWINS 64u /* pages at which a duplicate may begin */

static uint64_t pages(uint64_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* Random bytes, of which the last part of each sector is zeros. */
static void fill(uint8_t *p, uint64_t bytes, struct random *r, double zeros)
{
    uint32_t random = (uint32_t)((1 - zeros) * SECTOR) & ~7u; /* the stamp is in it: zeros are 0.98 at most */
    for (uint64_t i = 0; i < bytes; i += 8)
        bytes_put_le64(p + i, i % SECTOR < random ? random_next(r) : 0);
}

int data_init(struct data *d, const struct sated_workload *w, const struct mix *m, uint32_t slots, uint64_t all_slots,
              uint64_t seed, uint32_t stream)
{
    memset(d, 0, sizeof *d);
    for (uint32_t i = 0; i < m->n; i++)
        if (m->op[i] == SATED_READ && m->bytes[i] > d->read_bytes)
            d->read_bytes = pages(m->bytes[i]);
    d->zeros = w->data == SATED_DATA_ZEROS;
    if (m->write_bytes) {
        uint64_t slack = d->zeros ? 0 : pages(POOL_BYTES / all_slots);
        d->stripe_bytes = pages(m->write_bytes) + slack;
        d->places = slack / PAGE + 1;
    }
    d->pool = slots * d->read_bytes;
    d->twins = d->bytes = d->pool + slots * d->stripe_bytes;
    if (w->dedupe > 0 && m->write_bytes) {
        d->twin_below = w->dedupe < 1 ? (uint32_t)(w->dedupe * 4294967296.0) : UINT32_MAX;
        d->bytes += pages(m->write_bytes) + (TWINS - 1) * PAGE;
    }
    d->unmarked = d->zeros || d->twin_below;
    if (!d->bytes)
        return 0;
    d->memory = buffer_new(d->bytes);
    if (!d->memory)
        return -ENOMEM;
    /* Touched once, so that no page fault falls into a measurement. */
    for (uint64_t i = 0; i < d->pool; i += PAGE)
        d->memory[i] = 0;
    struct random r;
    random_seed(&r, seed ^ 0x64617461u, stream);
    d->key = random_next(&r);
    d->stamp = (uint64_t)stream << 48;
    fill(d->memory + d->pool, d->twins - d->pool, &r, d->zeros ? 1 : w->compress);
    random_seed(&r, seed ^ 0x7477696eu, UINT64_MAX);
    fill(d->memory + d->twins, d->bytes - d->twins, &r, w->compress);
    return 0;
}

void data_free(struct data *d)
{
    buffer_free(d->memory, d->bytes);
    d->memory = NULL;
}

void data_leak(struct data *d)
{
    d->memory = NULL;
}

uint8_t *data_write(struct data *d, uint64_t drawn, uint8_t *stripe, uint32_t bytes)
{
    if (d->unmarked && (d->zeros || (uint32_t)drawn < d->twin_below))
        return d->zeros ? stripe : d->memory + d->twins + (drawn >> 32) % TWINS * PAGE;
    stripe += (uint64_t)((unsigned __int128)drawn * d->places >> 64) * PAGE;
    /* An odd factor is a bijection of 64 bits: stamps differ as their numbers do, and look like the rest. */
    const uint64_t factor = 0x9e3779b97f4a7c15u, key = d->key;
    uint64_t stamp = d->stamp * factor;
    d->stamp += (bytes + SECTOR - 1) / SECTOR;
    for (uint8_t *p = stripe, *end = p + bytes; p < end; p += SECTOR, stamp += factor)
        bytes_put_le64(p, stamp ^ key);
    return stripe;
}
