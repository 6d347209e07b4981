/* SPDX-License-Identifier: MIT */
/* When a load's phases begin and end: by time, by limits, by answers, by failures. */
#include "load/job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "load/workload.h"
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

void load_begin(struct member *m, struct recorder *r, struct sheet *s, uint64_t k, int64_t from_ns)
{
    struct sated_load *l = m->load;
    int64_t edge_ns = load_edge_ns(m, k);
    r->submitting = from_ns < m->end_ns;
    if (r->submitting && m->end_ns < edge_ns)
        edge_ns = m->end_ns;
    uint32_t phase = r->submitting ? load_phase(l, k) : SATED_AFTER_STOP;
    r->limited = l->limited && phase == SATED_MEASURED;
    if (r->limited && !r->charged) {
        for (uint32_t i = 0; i < l->mix.n; i++)
            load_limit_charge(m, r->outstanding[i], l->mix.bytes[i]);
        r->charged = true;
    }
    recorder_begin(r, s, k, phase, from_ns, edge_ns);
}

/* The last one may reach beyond the limit. */
bool load_limit_take_bytes(struct member *m, uint32_t bytes)
{
    int64_t now = atomic_load(&m->bytes_left);
    while (now > 0)
        if (atomic_compare_exchange_weak(&m->bytes_left, &now, now - bytes))
            return true;
    return false;
}

bool load_limit_take(struct member *m, uint32_t bytes)
{
    if (!load_limit_take_ios(m, 1))
        return false;
    if (!m->load->options.bytes || load_limit_take_bytes(m, bytes))
        return true;
    load_limit_return_ios(m, 1);
    return false;
}

/* In the reverse order, so that whoever gets the I/O back gets its bytes too. */
void load_limit_give_back(struct member *m, uint32_t bytes)
{
    atomic_fetch_add(&m->bytes_left, bytes);
    atomic_fetch_add(&m->ios_left, 1);
}

void load_limit_charge(struct member *m, uint32_t n, uint32_t bytes)
{
    atomic_fetch_sub(&m->ios_left, n);
    atomic_fetch_sub(&m->bytes_left, (int64_t)n * bytes);
}

void load_unsent(struct member *m, struct pace *p, int64_t now_ns)
{
    const struct sated_load_options *o = &m->load->options;
    if ((o->ios && atomic_load(&m->ios_left) <= 0) || (o->bytes && atomic_load(&m->bytes_left) <= 0))
        return;
    pace_due(p, now_ns < m->end_ns ? now_ns : m->end_ns - 1, 0);
    m->unsent += p->backlog;
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

int load_no_memory(void)
{
    return error_set(-ENOMEM, SATED_LAYER_NONE,
                     "no memory for the load; use a smaller depth, fewer threads or fewer I/O sizes, and take its rows "
                     "while it runs");
}

void load_note(struct sated_load *l, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pthread_mutex_lock(&l->lock);
    size_t n = strlen(l->note);
    if (!strstr(l->note, text))
        snprintf(l->note + n, sizeof l->note - n, "%s%s", n ? "; " : "", text);
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

void load_io_failed(struct member *m, uint32_t class, uint64_t offset, int64_t result)
{
    struct sated_load *l = m->load;
    int code = result < 0 ? (int)result : -EIO;
    char why[160];
    pthread_mutex_lock(&l->lock);
    if (l->errors_kept < LOAD_ERRORS) {
        l->error_offset[l->errors_kept] = offset;
        l->error_code[l->errors_kept++] = code;
    }
    uint64_t n = ++l->errors;
    pthread_mutex_unlock(&l->lock);
    if (l->options.max_errors == SATED_ERRORS_ANY || n != (l->options.max_errors ? l->options.max_errors : 1))
        return;
    if (result < 0)
        snprintf(why, sizeof why, "%s%s", error_text(-code), advice(code));
    else
        snprintf(why, sizeof why, "only %" PRId64 " of %" PRIu32 " bytes came through", result, l->mix.bytes[class]);
    error_set(code, SATED_LAYER_DRIVE,
              "%s: the load has ended after %" PRIu64 " failed I/Os, the last a %s of %" PRIu32 " bytes at offset "
              "%" PRIu64 ": %s",
              m->name, n, workload_op_names[l->mix.op[class]], l->mix.bytes[class], offset, why);
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
        atomic_store(&l->members[i].drive->busy, HANDLE_IDLE);
    l->progress.running = 0;
    l->progress.tick = 0;
    l->progress.iops = 0;
    l->ended = true;
    pthread_cond_broadcast(&l->changed);
    pthread_cond_broadcast(&l->supply.wanted);
    pthread_mutex_unlock(&l->lock);
}
