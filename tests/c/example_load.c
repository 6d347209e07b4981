/* SPDX-License-Identifier: MIT */
/* A simulated SanDisk X210 under 4 KiB random writes: ten reported seconds, and what its slowest per cent took.
 *
 *   cc example_load.c $(pkg-config --cflags --libs sated) -o example_load && ./example_load */
#include <sated/sated.h>

#include <inttypes.h>
#include <stdio.h>

static int failed(void)
{
    struct sated_detail why;
    sated_detail_get(&why);
    fprintf(stderr, "%s\n", why.text);
    return sated_error_exit_code(why.code, why.layer);
}

int main(void)
{
    struct sated_drive *drive;
    struct sated_workload workload;
    struct sated_load_options options;
    struct sated_load *load;
    struct sated_histogram *latency;
    struct sated_row rows[64];
    int running, code = 0;

    if (sated_drive_open(&drive, "sim:x210,scale=1/64", NULL))
        return failed();
    sated_workload_init(&workload);
    sated_load_options_init(&options);
    options.duration_ns = 10 * INT64_C(1000000000);
    if (sated_workload_set(&workload, "op", "randwrite") || sated_workload_set(&workload, "size", "4k") ||
        sated_workload_set(&workload, "depth", "32") || sated_histogram_new(&latency)) {
        sated_drive_close(drive);
        return failed();
    }
    if (sated_load_start(&load, &drive, 1, &workload, &options) == 0) {
        do {
            running = sated_load_wait(load, -1);
            for (int n; (n = sated_load_take_rows(load, rows, 64)) > 0;)
                for (int i = 0; i < n && rows[i].phase == SATED_MEASURED; i++)
                    printf("%5.1f s  %8.0f IOPS\n", (double)rows[i].t_ns / 1e9,
                           (double)rows[i].ios * 1e9 / (double)rows[i].duration_ns);
        } while (running > 0);
        if (running < 0 || sated_load_get_histogram(load, SATED_WRITE, SATED_SERVICE, latency))
            code = failed();
        else
            printf("p99 %.1f us of %" PRIu64 " writes\n", (double)sated_histogram_percentile(latency, 99) / 1000,
                   sated_histogram_count(latency));
        sated_load_free(load);
    } else {
        code = failed();
    }
    sated_histogram_free(latency);
    sated_drive_close(drive);
    return code;
}
