/* SPDX-License-Identifier: MIT */
/* A load on /dev/zero, where the kernel answers at once: what is left is the cost of the loop itself.
 * Usage: loop IOS [KEY=VALUE of a workload]... [batch=N] [engine=io_uring|libaio|threads] [addresses=N]; the last: chunks of
 * N offsets from outside. Prints I/Os and nanoseconds. */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "transport/calls.h"
#include "transport/handle.h"

#include <sated/sated.h>

#define WHOLE ((uint64_t)1 << 30)

/* Only regular files and block devices are loaded; the table of system calls tells that /dev/zero is one. */
static int told(const char *path, struct stat *out)
{
    (void)path;
    memset(out, 0, sizeof *out);
    out->st_mode = S_IFREG;
    return 0;
}

static int failed(void)
{
    struct sated_detail why;
    sated_detail_get(&why);
    fprintf(stderr, "%s\n", why.text);
    return 1;
}

static struct sated_address *make_chunk(size_t n)
{
    struct sated_address *a = calloc(n ? n : 1, sizeof *a);
    uint64_t x = 1;
    for (size_t i = 0; a && i < n; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        a[i] = (struct sated_address){.offset_bytes = (x >> 33) % (WHOLE / 8192) * 4096, .op = SATED_OP_ANY};
    }
    return a;
}

int main(int argc, char **argv)
{
    char path[64], made[] = "/tmp/sated-loop-XXXXXX";
    struct sated_drive *d;
    struct sated_drive_options opt;
    struct sated_workload w;
    struct sated_load_options o;
    struct sated_load *l;
    size_t chunk = 0;
    sated_drive_options_init(&opt);
    opt.create_bytes = 1 << 20;
    if (argc < 2 || !mkdtemp(made))
        return 2;
    snprintf(path, sizeof path, "%s/zero", made);
    if (sated_drive_open(&d, path, &opt))
        return failed();
    unlink(path);
    rmdir(made);
    calls.stat = told;
    int zero = open("/dev/zero", O_RDWR | O_CLOEXEC);
    dup2(zero, d->fd);
    close(zero);
    d->device = d->inode = 0;
    d->direct = false;
    d->permitted = true;
    d->identity.capacity_bytes = WHOLE;
    d->identity.native_capacity_bytes = 0; /* nobody tells how long it is */
    sated_workload_init(&w);
    sated_load_options_init(&o);
    o.ios = strtoull(argv[1], NULL, 10);
    o.interval_ns = o.histogram_ns =
        60 * INT64_C(1000000000); /* one row: what is made of intervals is no cost of an I/O */
    for (int i = 2; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (!value)
            return 2;
        *value++ = '\0';
        if (!strcmp(argv[i], "batch"))
            o.batch = (uint32_t)strtoul(value, NULL, 10);
        else if (!strcmp(argv[i], "engine"))
            o.engine = !strcmp(value, "threads")  ? SATED_ENGINE_THREADS
                       : !strcmp(value, "libaio") ? SATED_ENGINE_LIBAIO
                                                  : SATED_ENGINE_IO_URING;
        else if (!strcmp(argv[i], "addresses")) {
            chunk = strtoul(value, NULL, 10);
            o.flags |= SATED_LOAD_ADDRESSES;
        } else if (!strcmp(argv[i], "seconds")) {
            o.ios = 0;
            o.duration_ns = (int64_t)(strtod(value, NULL) * 1e9);
        } else if (sated_workload_set(&w, argv[i], value))
            return failed();
    }
    struct sated_address *addresses = make_chunk(chunk);
    if (!addresses || sated_load_start(&l, &d, 1, &w, &o))
        return failed();
    struct sated_row rows[64];
    uint64_t ios = 0;
    int64_t ns = 0;
    for (int running = 1; running > 0;) {
        while (chunk && sated_load_wait_addresses(l, 0) > 0)
            sated_load_add_addresses(l, addresses, chunk, false);
        running = sated_load_wait(l, chunk ? 1000000 : -1);
        if (running < 0)
            return failed();
        for (int n; (n = sated_load_take_rows(l, rows, 64)) > 0;)
            for (int i = 0; i < n; i++) {
                ios += rows[i].ios;
                ns = rows[i].t_ns;
            }
    }
    printf("%" PRIu64 " %" PRId64 "\n", ios, ns);
    sated_load_free(l);
    free(addresses);
    return 0;
}
