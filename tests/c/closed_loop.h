/* SPDX-License-Identifier: MIT */
/* A closed loop over the simulated drive's own interface: so many commands are outstanding, and each that completes is
 * followed by the next at once. For the tests of csrc/sim, below the load engine. */
#ifndef SATED_TESTS_CLOSED_LOOP_H
#define SATED_TESTS_CLOSED_LOOP_H

#include <stdlib.h>

#include "core/random.h"
#include "sim/sim.h"

#define LOOP_DEPTH_MAX 256

struct loop {
    enum sated_op op;
    uint32_t bytes;
    uint64_t ios;
    uint32_t depth;
    bool sequential;
};

struct loop_result {
    double iops, watts, write_amplification, seconds;
    double latency_sum_s; /* of all commands, from submission to completion */
    double latency_max_s;
    uint64_t digest; /* of every tag and completion time: equal runs have equal ones */
};

static inline struct sim *loop_open(const char *spec)
{
    struct sim *s;
    if (sim_new(&s, spec)) {
        struct sated_detail d;
        sated_detail_get(&d);
        printf("%s: %s\n", spec, d.text);
        exit(1);
    }
    return s;
}

/* Runs from a drive at rest to a drive at rest, and counts this span only. */
static inline struct loop_result loop_run(struct sim *s, struct random *r, struct loop l)
{
    int64_t begun[LOOP_DEPTH_MAX], start = sim_now_ns(s), now = start, latencies = 0, longest = 0;
    uint64_t slots = sim_capacity(s) / l.bytes, submitted = 0, digest = 0;
    struct sated_sim_counters c;
    sim_reset_counters(s);
    for (uint64_t done = 0; done < l.ios;) {
        uint32_t tag = (uint32_t)submitted;
        if (submitted >= l.depth || submitted == l.ios) {
            int status;
            if (!sim_next(s, &tag, &now, &status) || status)
                exit(1);
            latencies += now - begun[tag];
            longest = now - begun[tag] > longest ? now - begun[tag] : longest;
            digest = (digest ^ (uint64_t)now ^ (uint64_t)tag << 48) * 0x9e3779b97f4a7c15ULL;
            done++;
        }
        if (submitted < l.ios) {
            uint64_t slot = l.sequential ? submitted % slots : random_below(r, slots);
            begun[tag] = now;
            if (sim_submit(s, tag, l.op, slot * l.bytes, l.bytes))
                exit(1);
            submitted++;
        }
    }
    sim_get_counters(s, &c);
    double seconds = (double)(now - start) / 1e9;
    return (struct loop_result){
        .iops = (double)l.ios / seconds,
        .watts = (double)c.energy_nj / 1e9 / seconds,
        .write_amplification = c.host_write_units ? (double)c.nand_write_units / (double)c.host_write_units : 0,
        .seconds = seconds,
        .latency_sum_s = (double)latencies / 1e9,
        .latency_max_s = (double)longest / 1e9,
        .digest = digest,
    };
}

/* Fills the accessible capacity twice, 128 KiB sequential; the last piece may be shorter. */
static inline void loop_fill(struct sim *s, struct random *r)
{
    uint64_t capacity = sim_capacity(s), rest = capacity % 131072;
    loop_run(s, r, (struct loop){SATED_WRITE, 131072, 2 * (capacity / 131072), 32, true});
    if (rest) {
        uint32_t tag;
        int64_t now;
        int status;
        if (sim_submit(s, 0, SATED_WRITE, capacity - rest, (uint32_t)rest) || !sim_next(s, &tag, &now, &status))
            exit(1);
    }
}

#endif
