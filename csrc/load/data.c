/* SPDX-License-Identifier: MIT */
#include "load/data.h"

#include <errno.h>
#include <string.h>

#include "core/buffer.h"
#include "core/bytes.h"

#define PAGE 4096u
#define POOL_BYTES (16u << 20)
#define SECTOR 512u

static uint64_t pages(uint64_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
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
    d->bytes = d->pool + slots * d->stripe_bytes;
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
    for (uint64_t i = d->pool; i < d->bytes; i += 8)
        bytes_put_le64(d->memory + i, d->zeros ? 0 : random_next(&r));
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

uint8_t *data_write(struct data *d, struct random *r, uint32_t slot, uint32_t bytes)
{
    uint8_t *stripe = d->memory + d->pool + slot * d->stripe_bytes;
    if (d->zeros)
        return stripe;
    uint8_t *p = stripe + random_below(r, d->places) * PAGE;
    /* An odd factor is a bijection of 64 bits: stamps differ as their numbers do, and look like the rest. */
    for (uint32_t i = 0; i < bytes; i += SECTOR)
        bytes_put_le64(p + i, (d->stamp++ * 0x9e3779b97f4a7c15u) ^ d->key);
    return p;
}
