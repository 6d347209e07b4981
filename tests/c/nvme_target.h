/* SPDX-License-Identifier: MIT */
/* For the tests of the simulated NVMe drive: one command of the library's builders, and the status that it gets. */
#ifndef SATED_TESTS_NVME_TARGET_H
#define SATED_TESTS_NVME_TARGET_H

#include <stdlib.h>
#include <unistd.h>

#include <sated/sated.h>

#include "check.h"
#include "core/bytes.h"

#define SMALL "sim:generic-tlc-nvme,capacity=960GB,scale=1/1024"
#define ALL SATED_NVME_ALL_NAMESPACES

static uint8_t buffer[1 << 20];
static uint64_t result; /* dword 0 of the last answer */
static bool dnr, more;

static inline struct sated_drive *open_drive(const char *uri)
{
    struct sated_drive *d;
    int rc = sated_drive_open(&d, uri, NULL);
    if (rc) {
        struct sated_detail detail;
        sated_detail_get(&detail);
        printf("%s: %s\n", uri, detail.text);
        exit(1);
    }
    return d;
}

/* Type and code of the status; 0xffff where there was no answer. */
static inline unsigned send(struct sated_drive *d, const struct sated_nvme_command *c, void *data)
{
    struct sated_reply reply;
    void *to = c->data_len ? data : NULL;
    int rc = c->admin ? sated_nvme_admin_raw(d, c, to, &reply) : sated_nvme_io_raw(d, c, to, &reply);
    result = reply.result;
    dnr = reply.nvme_status >> 14 & 1;
    more = reply.nvme_status >> 13 & 1;
    if (rc && rc != SATED_NVME && !reply.nvme_status)
        return 0xffff;
    return reply.nvme_status & 0x7ff;
}

static inline unsigned identify(struct sated_drive *d, uint32_t cns, uint32_t nsid, uint32_t cntid)
{
    struct sated_nvme_command c;
    CHECK_EQ(sated_nvme_build_identify(&c, SATED_NVME_CNS_CTRL, 0, 0, 0, 0), 0);
    c.nsid = nsid; /* the builder makes none that cannot be right */
    c.cdw10 = cns | cntid << 16;
    return send(d, &c, buffer);
}

static inline unsigned get_log(struct sated_drive *d, uint32_t lid, uint32_t bytes, uint64_t offset)
{
    struct sated_nvme_command c;
    CHECK_EQ(sated_nvme_build_get_log(&c, lid, ALL, bytes, offset, 0, lid == 9, false, 0, 0), 0);
    return send(d, &c, buffer);
}

static inline const struct sated_nvme_id_ctrl *id_ctrl(struct sated_drive *d)
{
    static struct sated_nvme_id_ctrl out;
    CHECK_EQ(identify(d, SATED_NVME_CNS_CTRL, 0, 0), 0);
    CHECK_EQ(sated_nvme_decode_id_ctrl(buffer, 4096, &out), 0);
    return &out;
}

static inline const struct sated_nvme_id_ns *id_ns(struct sated_drive *d, uint32_t cns, uint32_t nsid)
{
    static struct sated_nvme_id_ns out;
    CHECK_EQ(identify(d, cns, nsid, 0), 0);
    CHECK_EQ(sated_nvme_decode_id_ns(buffer, 4096, &out), 0);
    return &out;
}

/* A list of namespaces as one number: bit i for namespace i + 1. */
static inline unsigned ns_list(struct sated_drive *d, uint32_t cns)
{
    static struct sated_nvme_ns_list list;
    unsigned set = 0;
    CHECK_EQ(identify(d, cns, 0, 0), 0);
    CHECK_EQ(sated_nvme_decode_ns_list(buffer, 4096, &list), 0);
    for (uint32_t i = 0; i < list.n_nsid; i++)
        set |= 1u << (list.nsid[i] - 1);
    return set;
}

static inline unsigned ctrl_list(struct sated_drive *d, uint32_t cns, uint32_t nsid, uint32_t from)
{
    static struct sated_nvme_ctrl_list list;
    unsigned set = 0;
    CHECK_EQ(identify(d, cns, nsid, from), 0);
    CHECK_EQ(sated_nvme_decode_ctrl_list(buffer, 4096, &list), 0);
    for (uint32_t i = 0; i < list.n_cntlid; i++)
        set |= 1u << (list.cntlid[i] - 1);
    return set;
}

static inline unsigned create(struct sated_drive *d, uint64_t nsze, uint64_t ncap, uint32_t lbaf, bool shared)
{
    struct sated_nvme_command c;
    struct sated_nvme_ns_create ns = {.nsze = 1, .ncap = 1, .lbaf = lbaf, .shared = shared};
    CHECK_EQ(sated_nvme_build_ns_create(&c, 0), 0);
    CHECK_EQ(sated_nvme_build_ns_data(buffer, sizeof buffer, &ns), 4096);
    bytes_put_le64(buffer, nsze);
    bytes_put_le64(buffer + 8, ncap);
    return send(d, &c, buffer);
}

static inline unsigned delete_ns(struct sated_drive *d, uint32_t nsid)
{
    struct sated_nvme_command c;
    CHECK_EQ(sated_nvme_build_ns_delete(&c, 1), 0);
    c.nsid = nsid;
    return send(d, &c, NULL);
}

/* @param set bit i for controller i + 1. */
static inline unsigned attach(struct sated_drive *d, uint32_t nsid, unsigned set, bool attaches)
{
    struct sated_nvme_command c;
    uint16_t ids[2];
    size_t n = 0;
    for (uint16_t id = 1; id <= 2; id++)
        if (set >> (id - 1) & 1)
            ids[n++] = id;
    CHECK_EQ(attaches ? sated_nvme_build_ns_attach(&c, 1) : sated_nvme_build_ns_detach(&c, 1), 0);
    c.nsid = nsid;
    CHECK_EQ(sated_nvme_build_ctrl_list(buffer, sizeof buffer, ids, n), 4096);
    return send(d, &c, buffer);
}

static inline unsigned format(struct sated_drive *d, uint32_t nsid, uint32_t lbaf, uint32_t ses)
{
    struct sated_nvme_command c;
    CHECK_EQ(sated_nvme_build_format(&c, 1, lbaf, false, 0, false, ses), 0);
    c.nsid = nsid;
    return send(d, &c, NULL);
}

static inline unsigned sanitize(struct sated_drive *d, uint32_t sanact, bool ause, uint32_t passes, bool oipbp,
                                uint32_t pattern, bool ndas)
{
    struct sated_nvme_command c;
    passes = sanact == SATED_NVME_SANACT_OVERWRITE ? passes : 0;
    CHECK_EQ(sated_nvme_build_sanitize(&c, sanact, ause, passes, oipbp, pattern, ndas, false), 0);
    return send(d, &c, NULL);
}

static inline const struct sated_nvme_sanitize_log *sanitize_log(struct sated_drive *d)
{
    static struct sated_nvme_sanitize_log out;
    CHECK_EQ(get_log(d, SATED_NVME_LID_SANITIZE, 512, 0), 0);
    CHECK_EQ(sated_nvme_decode_sanitize_log(buffer, 512, &out), 0);
    return &out;
}

/* `block` bytes of one value, at one block. */
static inline unsigned write_block(struct sated_drive *d, uint32_t nsid, uint64_t slba, uint32_t block, uint8_t value)
{
    struct sated_nvme_command c;
    CHECK_EQ(sated_nvme_build_write(&c, 1, slba, 1, block, 0), 0);
    c.nsid = nsid;
    memset(buffer, value, block);
    return send(d, &c, buffer);
}

/* The value that all of a block has, or -1; -2 where it cannot be read, and then `result` is the status. */
static inline int read_block(struct sated_drive *d, uint32_t nsid, uint64_t slba, uint32_t block)
{
    struct sated_nvme_command c;
    CHECK_EQ(sated_nvme_build_read(&c, nsid, slba, 1, block, 0), 0);
    memset(buffer, 0xee, block);
    unsigned status = send(d, &c, buffer);
    if (status) {
        result = status;
        return -2;
    }
    for (uint32_t i = 1; i < block; i++)
        if (buffer[i] != buffer[0])
            return -1;
    return buffer[0];
}

static inline uint64_t mapped(struct sated_drive *d)
{
    struct sated_sim_counters c;
    CHECK_EQ(sated_sim_get_counters(d, &c), 0);
    return c.mapped_units;
}

static inline void fault(struct sated_drive *d, uint32_t kind, int opcode, uint32_t outcome, uint32_t count)
{
    struct sated_sim_fault f;
    sated_sim_fault_init(&f);
    f.kind = kind;
    f.opcode = opcode;
    f.outcome = outcome;
    f.count = count;
    CHECK_EQ(sated_sim_fail(d, &f), 0);
}

static inline void via(struct sated_drive *d, uint32_t controller)
{
    CHECK_EQ(sated_sim_set_controller(d, controller), 0);
}

static inline struct sated_identity identity(struct sated_drive *d)
{
    struct sated_identity id;
    CHECK_EQ(sated_drive_get_identity(d, &id), 0);
    return id;
}

#endif
