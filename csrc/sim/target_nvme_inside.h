/* SPDX-License-Identifier: MIT */
/* For the files of the NVMe target among themselves. Clauses without a name are the NVM Express Base Specification's
 * (2.0c); "NVM" is the NVM Command Set Specification (1.0c). */
#ifndef SATED_SIM_TARGET_NVME_INSIDE_H
#define SATED_SIM_TARGET_NVME_INSIDE_H

#include <sated/nvme.h>

#include "core/bytes.h"
#include "sim/sim.h"
#include "sim/target_inside.h"

#define PAGE 4096
#define ALL SATED_NVME_ALL_NAMESPACES
#define ENDURANCE_GROUP 1
#define LAST_POWER_STATE 3
#define LAST_OPERATIONAL 2
#define SENSORS 2
#define WARNING_KELVIN 343
#define CRITICAL_KELVIN 353
#define THERMAL_LEAST_KELVIN 313 /* for the two steps of host controlled thermal management */
#define EVENTS (0xff | SATED_NVME_OAES_NS_CHANGE)
#define EXTENDED_MINUTES 10
#define BAD_PLACE 0xffff /* an error of no parameter in particular */

/* Status codes, with the type in bits 10:8 (3.3.3.2.1, NVM 3.1.2). */
enum nvme_status {
    NVME_OK = 0,
    NVME_INVALID_OPCODE = 0x01,
    NVME_INVALID_FIELD = 0x02,
    NVME_DATA_TRANSFER = 0x04,
    NVME_INTERNAL = 0x06,
    NVME_INVALID_NAMESPACE = 0x0b,
    NVME_SEQUENCE = 0x0c,
    NVME_SANITIZE_FAILED = 0x1c,
    NVME_SANITIZING = 0x1d,
    NVME_LBA_RANGE = 0x80,
    NVME_NOT_READY = 0x82,
    NVME_FORMATTING = 0x84,
    NVME_INVALID_QUEUE = 0x101,
    NVME_EVENT_LIMIT = 0x105,
    NVME_INVALID_LOG = 0x109,
    NVME_INVALID_FORMAT = 0x10a,
    NVME_NOT_SAVEABLE = 0x10d,
    NVME_NOT_CHANGEABLE = 0x10e,
    NVME_NOT_NAMESPACE_SPECIFIC = 0x10f,
    NVME_NO_CAPACITY = 0x115,
    NVME_NO_IDENTIFIER = 0x116,
    NVME_ALREADY_ATTACHED = 0x118,
    NVME_PRIVATE = 0x119,
    NVME_NOT_ATTACHED = 0x11a,
    NVME_THIN = 0x11b,
    NVME_CONTROLLER_LIST = 0x11c,
    NVME_SELF_TESTING = 0x11d,
    NVME_COMMAND_SET = 0x129,
    NVME_READ_ONLY = 0x182, /* Attempted Write to Read Only Range */
    NVME_UNRECOVERED = 0x281,
    NVME_COMPARE_FAILURE = 0x285,
    NVME_HOST_ABORTED = 0x371,
};

/* One command on its way. */
struct nvme_call {
    struct sim *s;
    struct nvme_state *n;
    uint32_t controller;
    const struct sated_nvme_command *c;
    uint8_t *data; /* NULL without any */
    struct sated_reply *reply;
    /* For the error log: */
    uint64_t lba, specific;
    uint16_t location;
};

static inline struct nvme_controller *own(const struct nvme_call *x)
{
    return &x->n->controller[x->controller];
}

/* A field that cannot be, and where it is: the byte of the submission queue entry, dword 10 being at byte 40. */
static inline uint32_t invalid(struct nvme_call *x, uint32_t byte)
{
    x->location = (uint16_t)byte;
    return NVME_INVALID_FIELD;
}

#define DWORD(n) (4 * (n))

static inline uint64_t nvme_place(uint32_t bytes_log2)
{
    return (uint64_t)1 << bytes_log2;
}

/* ---- target_nvme.c ---- */

/* The LBA formats: 0 has blocks of 512 bytes, 1 of 4096. */
#define FORMATS 2
static inline uint32_t format_shift(uint32_t format)
{
    return format ? 12 : 9;
}

static inline uint64_t namespace_blocks(const struct nvme_namespace *ns)
{
    return ns->size_bytes >> format_shift(ns->format);
}

/* The namespace that an identifier stands for, NULL where there is none. */
struct nvme_namespace *namespace_at(struct nvme_state *n, uint32_t nsid);

/* The active one, for a command that needs one. Return: NVME_OK, or how it is refused (3.2.1). */
uint32_t namespace_active(struct nvme_call *x, uint32_t nsid, struct nvme_namespace **out);

/* Gives the host so much of a page, from its beginning. @param page all PAGE bytes of it, of which a drive may send more
 * than it was asked for. Return: NVME_OK, or why it cannot be. */
uint32_t give(struct nvme_call *x, const uint8_t page[PAGE], uint32_t bytes);

/* Lets loads address what the viewing controller shows. */
void show(struct sim *s);

/* Notes that controllers see other namespaces than before. @param controllers a bit for each. */
void note_change(struct nvme_state *n, uint32_t controllers, const struct nvme_namespace *ns);

bool nvme_has_cache(const struct sim *s);

/* What was just written has to stay: where the cache is off for this controller, or the model has capacitors. */
void keep_written(struct nvme_call *x, bool through);

/* Milliseconds, as the host's clock has it. */
static inline uint64_t reported_ms(const struct sim *s)
{
    return (uint64_t)s->now * s->model.scale / 1000000;
}

/* Nanoseconds of the drive for so many seconds of the host's. */
static inline int64_t own_ns(const struct sim *s, uint64_t seconds)
{
    return (int64_t)(seconds * 1000000000 / s->model.scale);
}

/* ---- Commands ---- */

uint32_t nvme_identify(struct nvme_call *x);
uint32_t nvme_get_log(struct nvme_call *x);
uint32_t nvme_get_features(struct nvme_call *x);
uint32_t nvme_set_features(struct nvme_call *x);
uint32_t nvme_manage(struct nvme_call *x);
uint32_t nvme_attach(struct nvme_call *x);
uint32_t nvme_format(struct nvme_call *x);
uint32_t nvme_sanitize(struct nvme_call *x);
uint32_t nvme_self_test(struct nvme_call *x);
uint32_t nvme_io(struct nvme_call *x);

/* Which commands there are: their words of the Commands Supported and Effects log, 0 for those that there are not. */
uint32_t admin_effects(uint8_t opcode);
uint32_t io_effects(uint8_t opcode);

/* ---- target_nvme_identify.c, for the logs ---- */

uint64_t free_bytes(const struct sim *s);
uint64_t used_units(const struct sim *s, const struct nvme_namespace *ns);

/* ---- target_nvme_features.c ---- */

void features_init(struct nvme_features *f);
void features_power_on(struct sim *s);
/* The word of the Feature Identifiers Supported and Effects log. */
uint32_t feature_effects(const struct sim *s, uint32_t fid);

/* ---- target_nvme_namespace.c ---- */

/* What namespaces are a multiple of. */
uint64_t chunk_bytes(const struct sim *s);

/* ---- target_nvme_erase.c ---- */

void finish_format(struct sim *s, const struct operation *o);
void finish_sanitize(struct sim *s, const struct operation *o);
/* How long, in the drive's own time. */
int64_t sanitize_ns(const struct sim *s, uint32_t sanact, uint32_t passes);
bool nothing_written(const struct sim *s); /* GDE: since all user data was erased */

/* ---- target_nvme_test.c ---- */

void end_self_test(struct sim *s, uint8_t result, uint8_t segment);

/* ---- target_nvme_io.c ---- */

/* Forgets which blocks of a span are uncorrectable. Return: whether there was room for what is left of them. */
bool clear_bad(struct nvme_state *n, uint64_t begin, uint64_t end);

#endif
