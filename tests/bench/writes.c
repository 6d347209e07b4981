/* SPDX-License-Identifier: MIT */
/* What a host write costs the simulated drive: 4 KiB at random in a closed loop over csrc/sim itself, beside the loop that
 * none can do without, an increment at a random place of an array with a number for each unit.
 * Usage: writes SPEC DEPTH WRITES [INCREMENTS]; SPEC is what stands behind sim:, DEPTH 0 goes to the translation layer
 * without commands. Prints amplification, and CPU nanoseconds of a write and of an increment. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "../c/closed_loop.h"
#include "core/buffer.h"
#include "sim/whole.h"

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    struct random r;
    if (argc < 4)
        return 2;
    struct sim *s = loop_open(argv[1]);
    uint32_t depth = (uint32_t)strtoul(argv[2], NULL, 10);
    uint64_t units = sim_capacity(s) / 4096, writes = strtoull(argv[3], NULL, 10),
             increments = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
    random_seed(&r, 1, 0);
    uint64_t placed = s->ftl.placed, host = placed - s->ftl.moved;
    double begun = cpu_ns();
    if (depth)
        loop_run(s, &r, (struct loop){SATED_WRITE, 4096, writes, depth, false});
    else
        ftl_write_random(&s->ftl, 0, units, writes);
    double written = cpu_ns();
    placed = s->ftl.placed - placed;
    host = s->ftl.placed - s->ftl.moved - host;
    sim_free(s);
    uint32_t *array = buffer_new(units * sizeof *array);
    for (uint64_t i = 0; array && increments && i < units; i++)
        array[i] = 1;
    double made = cpu_ns();
    for (uint64_t i = 0; array && i < increments; i++)
        array[random_below(&r, units)]++;
    double done = cpu_ns();
    printf("%.4f %.3f %.3f\n", (double)placed / (double)host, (written - begun) / (double)writes,
           increments ? (done - made) / (double)increments : 0);
    buffer_free(array, units * sizeof *array);
    return 0;
}
