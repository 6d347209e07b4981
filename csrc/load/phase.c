/* SPDX-License-Identifier: MIT */
/* When a load's phases begin and end: by time, by limits, by answers, by failures. */
#include "load/job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "transport/handle.h"

void load_end_at(struct member *m, int64_t end_ns, int64_t end_t_ns)
{
    if (end_ns < m->end_ns) {
        m->end_ns = end_ns;
        m->end_t_ns = end_t_ns;
    }
}

void load_measure_from(struct sated_load *l, uint64_t k)
{
    int64_t begin_t_ns = (int64_t)k * l->options.interval_ns, end_t_ns;
    l->settle_k = k;
    if (l->options.duration_ns < 0 || __builtin_add_overflow(begin_t_ns, l->options.duration_ns, &end_t_ns))
        return;
    for (uint32_t i = 0; i < l->n; i++)
        load_end_at(&l->members[i], load_drive_ns(&l->members[i], end_t_ns), end_t_ns);
}

static bool take(_Atomic int64_t *left, int64_t n)
{
    if (atomic_fetch_sub_explicit(left, n, memory_order_relaxed) > 0)
        return true;
    atomic_fetch_add_explicit(left, n, memory_order_relaxed);
    return false;
}

bool load_limit_take(struct member *m, uint32_t bytes)
{
    const struct sated_load_options *o = &m->load->options;
    if (o->ios && !take(&m->ios_left, 1))
        return false;
    if (o->bytes && !take(&m->bytes_left, bytes)) {
        atomic_fetch_add_explicit(&m->ios_left, 1, memory_order_relaxed);
        return false;
    }
    return true;
}

void load_limit_give_back(struct member *m, uint32_t bytes)
{
    atomic_fetch_add_explicit(&m->ios_left, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&m->bytes_left, bytes, memory_order_relaxed);
}

void load_limit_charge(struct member *m, uint32_t n, uint32_t bytes)
{
    atomic_fetch_sub_explicit(&m->ios_left, n, memory_order_relaxed);
    atomic_fetch_sub_explicit(&m->bytes_left, (int64_t)n * bytes, memory_order_relaxed);
}

void load_limit_begin(struct member *m, const struct recorder *r)
{
    for (uint32_t i = 0; i < m->load->mix.n; i++)
        load_limit_charge(m, r->outstanding[i], m->load->mix.bytes[i]);
}

void load_failed(struct sated_load *l)
{
    struct sated_detail d;
    sated_detail_get(&d);
    pthread_mutex_lock(&l->lock);
    if (!l->detail.code)
        l->detail = d;
    atomic_store(&l->stop, 1);
    pthread_cond_broadcast(&l->go);
    pthread_mutex_unlock(&l->lock);
}

static const char *advice(int code)
{
    switch (-code) {
    case ENOSPC:
    case EDQUOT: return "; its file system is full: free some space, or make the file whole first";
    case ENODATA: return "; the drive has unreadable sectors: look at its health";
    case EOPNOTSUPP: return "; this kind of I/O is not supported there";
    default: return "";
    }
}

void load_io_failed(struct member *m, uint32_t class, uint64_t offset, int code)
{
    static const char *const ops[] = {"read", "write", "trim"};
    struct sated_load *l = m->load;
    pthread_mutex_lock(&l->lock);
    if (l->errors_kept < LOAD_ERRORS) {
        l->error_offset[l->errors_kept] = offset;
        l->error_code[l->errors_kept++] = code;
    }
    uint64_t n = ++l->errors;
    pthread_mutex_unlock(&l->lock);
    if (n != (l->options.max_errors ? l->options.max_errors : 1))
        return;
    error_set(code, SATED_LAYER_DRIVE,
              "%s: the load has ended after %" PRIu64 " failed I/Os, the last a %s of %" PRIu32 " bytes at offset "
              "%" PRIu64 ": %s%s",
              m->name, n, ops[l->mix.op[class]], l->mix.bytes[class], offset, strerror(-code), advice(code));
    load_failed(l);
}

void load_ask(struct sated_load *l, uint64_t tick)
{
    l->tick = tick;
    l->progress.tick = tick;
    pthread_cond_broadcast(&l->changed);
}

void load_ended(struct sated_load *l)
{
    pthread_mutex_lock(&l->lock);
    for (uint32_t i = 0; i < l->n; i++)
        __atomic_store_n(&l->members[i].drive->load, NULL, __ATOMIC_RELEASE);
    l->progress.running = 0;
    l->progress.tick = 0;
    l->progress.iops = 0;
    l->ended = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}
