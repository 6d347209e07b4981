/* SPDX-License-Identifier: MIT */
/* What a load may be asked for, and what each drive can take of it. */
#include "load/real.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "core/error.h"
#include "load/options.h"
#include "transport/handle.h"
#include "transport/integrity.h"

#define SECOND INT64_C(1000000000)
#define INTERVAL_MIN (SECOND / 1000)
#define LOG_LEAST (UINT64_C(4) << 20)
#define INTERVAL_MAX (3600 * SECOND)

#define refused(...) error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, __VA_ARGS__)

void sated_load_options_init(struct sated_load_options *opt)
{
    memset(opt, 0, sizeof *opt);
    opt->size = sizeof *opt;
    opt->duration_ns = -1;
    opt->interval_ns = SECOND;
    opt->max_errors = 100;
}

static int multiple(const char *what, int64_t ns, int64_t interval_ns)
{
    if (ns < 0 || ns % interval_ns)
        return refused("%s = %" PRId64 " is not a multiple of interval_ns = %" PRId64, what, ns, interval_ns);
    return 0;
}

int options_take(struct sated_load *l, const struct sated_load_options *given)
{
    struct sated_load_options *o = &l->options;
    sated_load_options_init(o);
    if (given) {
        if (given->size < offsetof(struct sated_load_options, duration_ns) || given->size > sizeof *o)
            return refused("the load options are not of this version: size %" PRIu32 " is not %zu", given->size,
                           sizeof *o);
        memcpy(o, given, given->size);
        o->size = sizeof *o;
    }
    if (o->engine > SATED_ENGINE_THREADS)
        return refused("engine %" PRIu32 " cannot be chosen; it is auto, io_uring, libaio or threads", o->engine);
    if (o->interval_ns < INTERVAL_MIN || o->interval_ns > INTERVAL_MAX)
        return refused("interval_ns = %" PRId64 ": it is between 1 ms and 1 h", o->interval_ns);
    if (o->duration_ns == 0 || o->duration_ns < -1)
        return refused("duration_ns = %" PRId64 ": give a time, or -1 for no limit", o->duration_ns);
    if (o->without & ~(uint32_t)(SATED_WITHOUT_ENVIRONMENT | SATED_WITHOUT_HISTOGRAMS))
        return refused("without = %" PRIu32 " has unknown bits; it is made of environment = 1 and histograms = 2",
                       o->without);
    if (o->flags & ~(uint32_t)(SATED_LOAD_ACCURATE | SATED_LOAD_MAX_IOPS | SATED_LOAD_SQPOLL | SATED_LOAD_IOPOLL |
                               SATED_LOAD_ADDRESSES))
        return refused("flags = %" PRIu32 " has unknown bits", o->flags);
    if (o->flags & SATED_LOAD_ACCURATE && (o->flags & SATED_LOAD_MAX_IOPS || o->batch > 1))
        return refused("accurate submits one I/O at a time, which contradicts max-iops and batches; leave one out");
    if (o->log_bytes && o->log_bytes < LOG_LEAST)
        return refused("log_bytes = %" PRIu64 ": at least 4 MiB of a log may wait, or none is kept", o->log_bytes);
    if (o->ios > INT64_MAX / 2 || o->bytes > INT64_MAX / 2)
        return refused("the limit of I/Os or bytes does not fit 62 bits");
    if (!o->histogram_ns)
        o->histogram_ns = (60 * SECOND + o->interval_ns - 1) / o->interval_ns * o->interval_ns;
    int rc = multiple("histogram_ns", o->histogram_ns, o->interval_ns);
    if (!rc)
        rc = multiple("ramp_ns", o->ramp_ns, o->interval_ns);
    if (!rc)
        rc = multiple("check_every_ns", o->check_every_ns, o->interval_ns);
    if (rc)
        return rc;
    if (o->settle && !o->check_every_ns)
        return refused("settle without check_every_ns would never end; set check_every_ns, such as to 60 s");
    l->histogram_k = (uint64_t)(o->histogram_ns / o->interval_ns);
    l->check_k = (uint64_t)(o->check_every_ns / o->interval_ns);
    l->ramp_k = (uint64_t)(o->ramp_ns / o->interval_ns);
    l->settle_k = UINT64_MAX;
    l->limited = o->ios || o->bytes;
    l->log.most = (size_t)(o->log_bytes / sizeof(struct log_block));
    return 0;
}

int options_take_workload(struct sated_load *l, const struct sated_workload *w)
{
    int rc = sated_workload_check(w);
    if (rc)
        return rc;
    memcpy(&l->workload, w, w->size < sizeof *w ? w->size : sizeof *w);
    mix_init(&l->mix, &l->workload);
    rates_init(&l->rates, &l->workload, &l->mix);
    if (l->options.flags & SATED_LOAD_MAX_IOPS && (l->workload.think_ns || l->rates.n))
        return refused("max-iops is for loads that are as fast as can be; leave it out, or rate and think");
    if (supply_is_on(&l->options) && spread_is_needed(&l->workload))
        return refused(
            "addresses of the caller's contradict access, streams, zones, active and segments; leave one out");
    if (supply_is_on(&l->options) && !l->mix.max_bytes)
        return refused("a load that only flushes never uses its addresses up; leave them out");
    if (l->options.bytes && !l->mix.max_bytes)
        return refused("a limit of bytes never ends a load that only flushes; limit its time or its I/Os");
    return 0;
}

/* Every size has to be a multiple of what the drive, or direct I/O on it, works in. */
static int check_sizes(const struct mix *mix, const struct member *m, uint32_t block_bytes, uint32_t alignment)
{
    for (uint32_t i = 0; i < mix->n; i++) {
        if (mix->op[i] == SATED_FLUSH)
            continue;
        if (mix->bytes[i] % block_bytes)
            return refused("size %" PRIu32 " on %s: its logical blocks have %" PRIu32 " bytes, and an I/O is a "
                           "multiple of that; use size=4k or a drive with 512-byte blocks",
                           mix->bytes[i], m->name, block_bytes);
        if (mix->bytes[i] % alignment)
            return refused("size %" PRIu32 " on %s: direct I/O there needs multiples of %" PRIu32 "; use size=4k or a "
                           "device with 512-byte blocks",
                           mix->bytes[i], m->name, alignment);
    }
    return 0;
}

int options_take_drive(struct sated_load *l, struct member *m)
{
    const struct sated_identity *id = &m->drive->identity;
    bool writing = false;
    uint32_t block = id->logical_block_bytes ? id->logical_block_bytes : 512, alignment = block;
    for (uint32_t i = 0; i < l->mix.n; i++)
        writing |= l->mix.op[i] != SATED_READ;
    m->scale = id->scale ? id->scale : 1;
    m->end_ns = m->end_t_ns = LOAD_NEVER;
    atomic_store(&m->ios_left,
                 l->options.ios ? (int64_t)l->options.ios : INT64_MAX / 2); /* the half: some are given back */
    atomic_store(&m->bytes_left, (int64_t)l->options.bytes);
    int rc = handle_need_idle(m->drive, "no other load can be started");
    if (rc)
        return rc;
    if (m->drive->kind == HANDLE_SIMULATED) {
        rc = writing ? handle_need_permit(m->drive, HANDLE_BLOCKS, "writing") : 0;
        if (!rc && writing && m->drive->interrupted)
            rc = handle_unfinished(m->drive);
        if (rc)
            return rc;
    } else {
        m->direct = true;
        rc = handle_lend(m->drive, writing, &m->direct, &alignment, &m->fd);
        if (rc)
            return rc;
        struct stat st;
        m->is_block = !fstat(m->fd, &st) && S_ISBLK(st.st_mode);
        char beside[256];
        if (m->drive->node[0] && integrity_tell(beside, sizeof beside, m->drive->node))
            load_note(l, "%s: %s", m->name, beside);
    }
    rc = check_sizes(&l->mix, m, block, alignment);
    if (rc)
        return rc;
    return address_range_init(&m->range, &l->workload, &l->mix, id->capacity_bytes,
                              alignment > block ? alignment : block, l->options.seed ^ m->index, m->name);
}
