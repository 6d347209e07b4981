/* SPDX-License-Identifier: MIT */
/* A workload as text, between the files that read it. Each returns 0, or SATED_PARSE with a sentence. */
#ifndef SATED_LOAD_WORKLOAD_H
#define SATED_LOAD_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>

#include <sated/workload.h>

#include "core/error.h"

#define refused(...) error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, __VA_ARGS__)

#define WORKLOAD_GIVEN_SHARES \
    (SATED_GIVEN_READ | SATED_GIVEN_WRITE | SATED_GIVEN_TRIM | SATED_GIVEN_WRITE_ZEROES | SATED_GIVEN_FLUSH)

extern const char *const workload_op_names[SATED_OPS];

int workload_contradiction(const char *a, const char *b);

/* Whether n values sum to 1 or 100. */
int workload_check_sum(const char *what, const double *share, size_t n);
int workload_check_size(uint64_t bytes);
int workload_check_zones(const struct sated_workload *w, uint32_t direction);

int workload_set_sizes(struct sated_workload *w, const char *text);
int workload_set_zones(struct sated_workload *w, const char *key, const char *text, bool reads, bool writes);
int workload_set_active(struct sated_workload *w, const char *text);

#endif
