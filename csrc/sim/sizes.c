/* SPDX-License-Identifier: MIT */
/* The capacities that a drive is sold in: [capacity] of a model's text, and capacity= of a URI. */
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/params.h"
#include "core/size.h"
#include "sim/model.h"

int model_sizes(const struct model *m, const struct params *params, struct model_sizes *s)
{
    size_t raw = 0;
    int rc = params_get_numbers(params, "capacity.bytes.value", s->bytes, MODEL_SIZES_MAX, &s->n);
    if (rc <= 0)
        return rc;
    rc = params_get_numbers(params, "capacity.raw_bytes.value", s->raw_bytes, MODEL_SIZES_MAX, &raw);
    if (rc < 0)
        return rc;
    bool good = s->n && s->n <= MODEL_SIZES_MAX && raw == s->n;
    for (size_t i = 0; good && i < s->n; i++) {
        char path[64];
        snprintf(path, sizeof path, "capacity.names.value.%zu", i);
        rc = params_get_string(params, path, &s->names[i]);
        if (rc < 0)
            return rc;
        good = rc == 1 && s->bytes[i] > 0 && s->bytes[i] < 1e15 && s->raw_bytes[i] >= s->bytes[i] &&
               s->raw_bytes[i] < 1e15;
    }
    return good ? 0
                : error_set(
                      SATED_PARSE, SATED_LAYER_ARGUMENT,
                      "%s: capacity.names, bytes and raw_bytes need one element for each size, and raw_bytes >= bytes",
                      m->name);
}

int model_choose_size(const struct model *m, const struct model_sizes *s, const char *text, size_t *index)
{
    uint64_t wanted, known;
    if (!s->n)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s takes no capacity: it follows from blocks, pages_per_block, page and op", m->name);
    int rc = size_parse_capacity(text, 0, &wanted);
    if (rc)
        return rc;
    char list[160] = "";
    for (size_t i = 0; i < s->n; i++) {
        rc = size_parse_capacity(s->names[i], 0, &known);
        if (rc)
            return rc;
        if (known == wanted) {
            *index = i;
            return 0;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", s->names[i]);
    }
    return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "sim:%s: there is none of capacity %s; the sizes are %s",
                     m->name, text, list);
}
