/* SPDX-License-Identifier: MIT */
/* Loads on a new regular file, in a folder of its own. */
#ifndef SATED_TESTS_FILE_LOADS_H
#define SATED_TESTS_FILE_LOADS_H

#include <unistd.h>

#include "load/kernel.h"
#include "loads.h"

#define MIB (UINT64_C(1) << 20)

static char folder[] = "/tmp/sated-load-XXXXXX";
static char path[128];
static struct kernel real_kernel;

/* A new file of `bytes`, open and permitted. */
static inline struct sated_drive *fresh(uint64_t bytes)
{
    struct sated_drive *d;
    struct sated_drive_options opt;
    unlink(path);
    sated_drive_options_init(&opt);
    opt.create_bytes = bytes;
    CHECK_EQ(sated_drive_open(&d, path, &opt), 0);
    return d;
}

static inline struct sated_workload work(const char *op, const char *size, uint32_t threads, uint32_t depth)
{
    struct sated_workload w;
    sated_workload_init(&w);
    CHECK_EQ(sated_workload_set(&w, "op", op), 0);
    CHECK_EQ(sated_workload_set(&w, strchr(size, ':') ? "sizes" : "size", size), 0);
    w.threads = threads;
    w.depth = depth;
    return w;
}

static inline struct sated_load_options with(int engine, uint64_t ios, double seconds, double interval)
{
    struct sated_load_options o;
    sated_load_options_init(&o);
    o.engine = (uint32_t)engine;
    o.ios = ios;
    o.duration_ns = seconds > 0 ? SECONDS(seconds) : -1;
    o.interval_ns = SECONDS(interval);
    return o;
}

static inline struct outcome run(struct sated_drive *d, struct sated_workload w, struct sated_load_options opt)
{
    struct sated_load *l;
    struct outcome o = {.rc = sated_load_start(&l, &d, 1, &w, &opt)};
    CHECK_EQ(o.rc, 0);
    if (o.rc)
        printf("%s\n", last_text());
    else
        outcome_run(l, &o, NULL, NULL, NULL);
    return o;
}

static inline void check_sums(const struct outcome *o)
{
    uint64_t measured = 0;
    for (int i = 0; i < o->n_totals; i++)
        measured += o->totals[i].ios;
    CHECK_EQ(outcome_ios(o, SATED_MEASURED, -1, -1), measured);
    CHECK_EQ(sated_histogram_count(o->histograms), outcome_ios(o, -1, -1, -1));
}

/* Makes the folder; whether io_uring works here. */
static inline bool files_begin(void)
{
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/drive", folder);
    real_kernel = kernel;
    struct sated_drive *d = fresh(MIB);
    struct outcome o = run(d, work("randread", "4k", 1, 1), with(SATED_ENGINE_AUTO, 10, 0, 0.1));
    bool has_uring = o.totals[0].engine == SATED_ENGINE_IO_URING;
    if (!has_uring)
        printf("# io_uring skipped: %s\n", o.note);
    outcome_free(&o);
    sated_drive_close(d);
    return has_uring;
}

static inline void files_end(void)
{
    char command[160];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK_EQ(system(command), 0);
}

#endif
