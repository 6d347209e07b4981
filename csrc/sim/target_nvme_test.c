/* SPDX-License-Identifier: MIT */
/* Device Self-test (5.9, 8.6). */
#include "sim/target_nvme_inside.h"

#define SHORT_SECONDS 60

void end_self_test(struct sim *s, uint8_t result, uint8_t segment)
{
    struct nvme_state *n = &s->target.nvme;
    const struct operation *o = &s->target.operation;
    n->self_test[n->self_tests++ % NVME_SELF_TESTS] = (struct nvme_self_test){.hours = target_hours(s),
                                                                              .nsid = (uint32_t)o->argument[1],
                                                                              .code = (uint8_t)o->argument[0],
                                                                              .result = result,
                                                                              .segment = segment};
    operation_stop(s);
}

uint32_t nvme_self_test(struct nvme_call *x)
{
    struct sim *s = x->s;
    uint32_t code = x->c->cdw10 & 15, nsid = x->c->nsid;
    struct nvme_namespace *ns;
    uint32_t status = nsid && nsid != ALL ? namespace_active(x, nsid, &ns) : NVME_OK;
    if (status)
        return status;
    bool runs = s->target.operation.kind == OPERATION_SELF_TEST;
    switch (code) {
    case SATED_NVME_SELF_TEST_ABORT:
        if (runs)
            end_self_test(s, 1, 0);
        return NVME_OK;
    case SATED_NVME_SELF_TEST_SHORT:
    case SATED_NVME_SELF_TEST_EXTENDED: break;
    default: return invalid(x, DWORD(10));
    }
    if (runs)
        return NVME_SELF_TESTING;
    operation_start(s, OPERATION_SELF_TEST,
                    own_ns(s, code == SATED_NVME_SELF_TEST_SHORT ? SHORT_SECONDS : EXTENDED_MINUTES * 60));
    s->target.operation.argument[0] = code;
    s->target.operation.argument[1] = nsid;
    return NVME_OK;
}
