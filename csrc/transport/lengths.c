/* SPDX-License-Identifier: MIT */
#include "transport/lengths.h"

#include <inttypes.h>

#include "core/error.h"

#define LEAST_BLOCK 512 /* LBADS of less than 9 is not allowed (NVM Command Set 1.0, 4.1.5.1) */

/* What is moved, and by which field. */
struct moved {
    uint64_t bytes;
    const char *by;
};

/* Base 2.0 5.27.1: the features that come with a data structure. */
static struct moved feature(const struct sated_nvme_command *n, bool set)
{
    uint32_t fid = n->cdw10 & 0xff;
    if (!set && (n->cdw10 >> 8 & 7) == SATED_NVME_SEL_SUPPORTED)
        return (struct moved){0, ""};
    switch (fid) {
    case 0x03: return (struct moved){set ? 64 * ((n->cdw11 & 0x3f) + 1u) : 4096, "the LBA ranges"};
    case 0x0c: return (struct moved){256, "the table of power state transitions"};
    case 0x0d: return (struct moved){set ? 0 : 4096, "the host memory buffer's attributes"};
    case 0x0e: return (struct moved){8, "the timestamp"};
    case 0x13: return (struct moved){512, "the predictable latency configuration"};
    case 0x16: return (struct moved){512, "the host behaviour support"};
    case 0x81: return (struct moved){n->cdw11 & 1 ? 16 : 8, "EXHID"};
    default: return (struct moved){0, ""};
    }
}

/* Base 2.0 clause 5; NVM Command Set 1.0 4.2.1 (Get LBA Status). */
static struct moved moved_by_admin(const struct sated_nvme_command *n)
{
    switch (n->opcode) {
    case 0x02: return (struct moved){(((uint64_t)(n->cdw11 & 0xffff) << 16 | n->cdw10 >> 16) + 1) * 4, "NUMD"};
    case 0x06: return (struct moved){4096, "the length of every Identify data structure"};
    case 0x09: return feature(n, true);
    case 0x0a: return feature(n, false);
    case 0x0d: return (struct moved){(n->cdw10 & 15) == 0 ? 4096 : 0, "the namespace to be made"};
    case 0x11: return (struct moved){((uint64_t)n->cdw10 + 1) * 4, "NUMD"};
    case 0x15: return (struct moved){4096, "the list of controllers"};
    case 0x1a: /* of Streams, Allocate Resources moves nothing */
        return (struct moved){(n->cdw11 & 0xffff) == 0x0103 ? 0 : ((uint64_t)n->cdw10 + 1) * 4, "NUMD"};
    case 0x81: return (struct moved){n->cdw11, "TL"};
    case 0x82: return (struct moved){n->cdw11, "AL"};
    case 0x86: return (struct moved){((uint64_t)n->cdw12 + 1) * 4, "MNDW"};
    default: return (struct moved){0, ""};
    }
}

/* NVM Command Set 1.0 clause 3, Base 2.0 clause 7, Zoned Namespace Command Set 1.1 clause 3. */
static struct moved moved_by_io(const struct sated_nvme_command *n, uint32_t block)
{
    switch (n->opcode) {
    case 0x01: /* Write */
    case 0x02: /* Read */
    case 0x05: /* Compare */
    case 0x7d: /* Zone Append */ return (struct moved){(uint64_t)((n->cdw12 & 0xffff) + 1) * block, "NLB"};
    case 0x09: return (struct moved){((n->cdw10 & 0xff) + 1u) * 16, "NR"};
    case 0x0d: /* Reservation Register */
    case 0x11: /* Reservation Acquire */ return (struct moved){16, "its two keys"};
    case 0x0e: return (struct moved){((uint64_t)n->cdw10 + 1) * 4, "NUMD"};
    case 0x15: return (struct moved){8, "its key"};
    case 0x19: return (struct moved){((n->cdw12 & 0xff) + 1u) * ((n->cdw12 >> 8 & 15) % 2 ? 40 : 32), "NR"};
    case 0x7a: return (struct moved){((uint64_t)n->cdw12 + 1) * 4, "NDW"};
    default: return (struct moved){0, ""};
    }
}

int lengths_check(const struct command *c, const char *path, uint32_t block)
{
    char text[200];
    struct moved m = c->set == SATED_COMMANDS_NVME_ADMIN
                         ? moved_by_admin(c->nvme)
                         : moved_by_io(c->nvme, block > LEAST_BLOCK ? block : LEAST_BLOCK);
    if (m.bytes <= c->data_len)
        return 0;
    command_text(text, sizeof text, c);
    return error_set(SATED_PARSE, path ? SATED_LAYER_DRIVE : SATED_LAYER_ARGUMENT,
                     "%s%s%s moves %" PRIu64
                     " bytes (by %s), and its data has room for %u: the rest would go beyond the "
                     "buffer; give it as many bytes as it moves",
                     path ? path : "", path ? ": " : "", text, m.bytes, m.by, c->data_len);
}
