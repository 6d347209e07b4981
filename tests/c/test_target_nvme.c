/* SPDX-License-Identifier: MIT */
/* The simulated NVMe drive, asked through the library's builders and decoders; statuses are those of NVM Express Base
 * 2.0c 3.3.3.2.1 and NVM Command Set 1.0c 3.1.2, with the type in bits 10:8. */
#include "nvme_target.h"

static void check_controllers(void)
{
    struct sated_drive *d = open_drive(SMALL);
    struct sated_identity id = identity(d);
    for (uint32_t i = 0; i < 2; i++) {
        via(d, i);
        const struct sated_nvme_id_ctrl *c = id_ctrl(d);
        CHECK_EQ(c->general.cntlid, i + 1);
        CHECK(!strcmp(c->general.sn, id.serial) && !strcmp(c->general.mn, id.model) &&
              !strcmp(c->general.fr, id.firmware));
        CHECK_EQ(c->general.ver, 0x20000);
        CHECK_EQ(c->general.mdts, 8);
        CHECK_EQ(c->general.cmic, 3);
        CHECK_EQ(c->admin.oacs, SATED_NVME_OACS_FORMAT | SATED_NVME_OACS_NS_MANAGEMENT | SATED_NVME_OACS_SELF_TEST);
        CHECK_EQ(c->admin.tnvmcap[0], id.capacity_bytes);
        CHECK_EQ(c->admin.unvmcap[0], 0);
        CHECK_EQ(c->nvm.nn, 16);
        CHECK_EQ(c->nvm.fna, SATED_NVME_FNA_CRYPTO);
        CHECK_EQ(c->admin.sanicap, 0x40000007u);
        CHECK_EQ(c->nvm.vwc, SATED_NVME_VWC_FLUSH_ALL); /* capacitors: nothing in its cache is volatile */
        CHECK_EQ(c->admin.npss, 3);
        CHECK_EQ(c->n_psd, 4);
        CHECK_EQ(c->psd[0].mp_uw, 12000000);
        CHECK(!c->psd[2].nops && c->psd[3].nops && c->psd[3].exlat_us == 10000);
        CHECK_TEXT(c->nvm.subnqn, "nqn.2014-08.org.nvmexpress:uuid:");
        CHECK_EQ(ns_list(d, SATED_NVME_CNS_NS_LIST), 1);
    }
    CHECK_EQ(ctrl_list(d, SATED_NVME_CNS_CTRL_LIST, 0, 0), 3);
    CHECK_EQ(ctrl_list(d, SATED_NVME_CNS_CTRL_LIST, 0, 2), 2);
    CHECK_EQ(ctrl_list(d, SATED_NVME_CNS_NS_CTRL_LIST, 1, 0), 3);
    CHECK_EQ(identify(d, SATED_NVME_CNS_PRIMARY_CAPS, 0, 0), 0x02);
    CHECK(dnr && more);
    sated_drive_close(d);
    d = open_drive(SMALL ",capacitors=off,fna=3,sanitize=2,no_deallocate_inhibited=on");
    CHECK_EQ(id_ctrl(d)->nvm.vwc, SATED_NVME_VWC_FLUSH_ALL | SATED_NVME_VWC_PRESENT);
    CHECK_EQ(id_ctrl(d)->nvm.fna, 3);
    CHECK_EQ(id_ctrl(d)->admin.sanicap, 0x60000002u);
    sated_drive_close(d);
}

static void check_namespace(void)
{
    struct sated_drive *d = open_drive(SMALL);
    uint64_t bytes = identity(d).capacity_bytes;
    const struct sated_nvme_id_ns *ns = id_ns(d, SATED_NVME_CNS_NS, 1);
    CHECK_EQ(ns->block_bytes, 512);
    CHECK_EQ(ns->capacity_bytes, bytes);
    CHECK_EQ(ns->nsze, ns->ncap);
    CHECK_EQ(ns->nuse, 0);
    CHECK_EQ(ns->n_lbaf, 2);
    CHECK(ns->lbaf[0].block_bytes == 512 && ns->lbaf[1].block_bytes == 4096 && ns->lbaf[1].rp < ns->lbaf[0].rp);
    CHECK_EQ(ns->dlfeat, 9);
    CHECK_EQ(ns->nmic, 1);
    uint8_t eui64[8], nguid[16];
    memcpy(eui64, ns->eui64, 8);
    memcpy(nguid, ns->nguid, 16);
    CHECK_EQ(identify(d, SATED_NVME_CNS_NS_DESCS, 1, 0), 0);
    struct sated_nvme_ns_descs descs;
    CHECK_EQ(sated_nvme_decode_ns_descs(buffer, 4096, &descs), 0);
    CHECK(!memcmp(descs.eui64, eui64, 8) && !memcmp(descs.nguid, nguid, 16) && descs.uuid[6] >> 4 == 4);
    CHECK_EQ(identify(d, SATED_NVME_CNS_NS_DESCS, 2, 0), 0x02);
    /* An inactive one reads as zeros, one that cannot be is refused (5.17.2.2). */
    CHECK_EQ(identify(d, SATED_NVME_CNS_NS, 2, 0), 0);
    CHECK(buffer[0] == 0 && !memcmp(buffer, buffer + 1, 4095));
    CHECK_EQ(identify(d, SATED_NVME_CNS_NS, 17, 0), 0x0b);
    CHECK_EQ(identify(d, SATED_NVME_CNS_NS, 0, 0), 0x0b);
    CHECK_EQ(identify(d, SATED_NVME_CNS_NS_LIST, 0xfffffffe, 0), 0x0b);
    CHECK_EQ(identify(d, SATED_NVME_CNS_NS, ALL, 0), 0);
    CHECK(buffer[25] == 1 && buffer[128 + 2] == 9 && buffer[128 + 6] == 12);
    CHECK_EQ(identify(d, SATED_NVME_CNS_INDEPENDENT_NS, 1, 0), 0);
    CHECK(buffer[1] == 1 && buffer[14] == 1);
    CHECK_EQ(write_block(d, 1, 3, 512, 0x5a), 0);
    CHECK_EQ(id_ns(d, SATED_NVME_CNS_NS, 1)->nuse, 8); /* a mapping unit of 4 KiB */
    sated_drive_close(d);
}

static void check_management(void)
{
    struct sated_drive *d = open_drive(SMALL);
    static struct sated_nvme_ns_list changed;
    uint64_t all = identity(d).capacity_bytes;
    CHECK_EQ(write_block(d, 1, 0, 512, 0x77), 0);
    CHECK_EQ(create(d, 8, 8, 0, false), 0x115); /* there is no room */
    CHECK_EQ(get_log(d, SATED_NVME_LID_ERROR, 64, 0), 0);
    static struct sated_nvme_error_log errors;
    CHECK_EQ(sated_nvme_decode_error_log(buffer, 64, &errors), 0);
    CHECK_EQ(errors.entries[0].cs, 4096); /* bytes that would be needed */
    CHECK_EQ(delete_ns(d, 1), 0);
    CHECK_EQ(mapped(d), 0);
    CHECK_EQ(delete_ns(d, 1), 0x02);
    CHECK_EQ(delete_ns(d, 0), 0x0b);
    CHECK_EQ(delete_ns(d, 17), 0x0b);
    CHECK_EQ(ns_list(d, SATED_NVME_CNS_ALLOCATED_LIST), 0);
    CHECK_EQ(identity(d).capacity_bytes, 0);
    CHECK_EQ(get_log(d, SATED_NVME_LID_CHANGED_NS, 4096, 0), 0);
    CHECK_EQ(sated_nvme_decode_ns_list(buffer, 4096, &changed), 0);
    CHECK(changed.n_nsid == 1 && changed.nsid[0] == 1);
    CHECK_EQ(get_log(d, SATED_NVME_LID_CHANGED_NS, 4096, 0), 0);
    CHECK_EQ(buffer[0], 0);

    CHECK_EQ(create(d, 0, 0, 0, false), 0x02);
    CHECK_EQ(create(d, 100, 99, 0, false), 0x11b); /* thin */
    CHECK_EQ(create(d, 99, 100, 0, false), 0x02);
    CHECK_EQ(create(d, 100, 100, 2, false), 0x10a);
    CHECK_EQ(create(d, all / 512 + 1, all / 512 + 1, 0, false), 0x115);
    CHECK_EQ(create(d, UINT64_MAX, UINT64_MAX, 1, false), 0x115);
    CHECK_EQ(identify(d, SATED_NVME_CNS_NS_GRANULARITY, 0, 0), 0);
    uint64_t chunk = 0;
    memcpy(&chunk, buffer + 32, 8);
    CHECK(chunk >= 4096 && all / chunk >= 1024);
    CHECK_EQ(create(d, 1, 1, 1, false), 0);
    CHECK_EQ(result, 1);
    CHECK_EQ(id_ns(d, SATED_NVME_CNS_ALLOCATED_NS, 1)->nvmcap[0], chunk);
    CHECK_EQ(id_ctrl(d)->admin.unvmcap[0], all - chunk);
    CHECK_EQ(create(d, 2 * chunk / 512, 2 * chunk / 512, 0, true), 0);
    CHECK_EQ(result, 2);
    CHECK_EQ(ns_list(d, SATED_NVME_CNS_ALLOCATED_LIST), 3);
    CHECK_EQ(ns_list(d, SATED_NVME_CNS_NS_LIST), 0);
    for (uint32_t i = 3; i <= 16; i++) {
        CHECK_EQ(create(d, 10, 10, 0, false), 0);
        CHECK_EQ(result, i);
    }
    CHECK_EQ(create(d, 10, 10, 0, false), 0x116); /* no identifier is left */
    CHECK_EQ(delete_ns(d, 1), 0);
    CHECK_EQ(create(d, 2 * chunk / 512, 2 * chunk / 512, 0, true), 0); /* not in the gap of one chunk */
    CHECK_EQ(result, 1);
    CHECK_EQ(id_ctrl(d)->admin.unvmcap[0], all - 18 * chunk);
    CHECK_EQ(delete_ns(d, ALL), 0);
    CHECK_EQ(ns_list(d, SATED_NVME_CNS_ALLOCATED_LIST), 0);
    CHECK_EQ(id_ctrl(d)->admin.unvmcap[0], all);
    sated_drive_close(d);
}

static void check_attachment(void)
{
    struct sated_drive *d = open_drive(SMALL);
    struct sated_nvme_command c;
    CHECK_EQ(delete_ns(d, ALL), 0);
    CHECK_EQ(create(d, 1000, 1000, 0, false), 0);
    CHECK_EQ(create(d, 1000, 1000, 1, true), 0);
    CHECK_EQ(attach(d, 1, 3, true), 0x119); /* private */
    CHECK_EQ(attach(d, 1, 1, false), 0x11a);
    CHECK_EQ(attach(d, 1, 2, true), 0);
    CHECK_EQ(attach(d, 1, 1, true), 0x119);
    CHECK_EQ(attach(d, 1, 2, true), 0x118);
    CHECK_EQ(attach(d, 2, 1, true), 0);
    CHECK_EQ(attach(d, 2, 3, true), 0x118);
    CHECK_EQ(attach(d, 2, 2, true), 0);
    CHECK_EQ(attach(d, 3, 1, true), 0x02);
    CHECK_EQ(attach(d, 0, 1, true), 0x0b);
    CHECK_EQ(attach(d, ALL, 1, true), 0x0b);
    static const uint8_t lists[][6] = {{0, 0}, {1, 0, 0, 0}, {1, 0, 3, 0}, {2, 0, 2, 0, 1, 0}, {2, 0, 1, 0, 1, 0}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        CHECK_EQ(sated_nvme_build_ns_attach(&c, 2), 0);
        memset(buffer, 0, 4096);
        memcpy(buffer, lists[i], 6);
        CHECK_EQ(send(d, &c, buffer), 0x11c);
    }
    CHECK_EQ(ns_list(d, SATED_NVME_CNS_NS_LIST), 2);
    CHECK_EQ(identity(d).capacity_bytes, 1000 * 4096);
    CHECK_EQ(identity(d).logical_block_bytes, 4096);
    CHECK_EQ(write_block(d, 2, 999, 4096, 1), 0);
    CHECK_EQ(write_block(d, 1, 0, 512, 1), 0x02); /* the other controller's */
    CHECK_EQ(format(d, 1, 0, 0), 0x02);
    CHECK_EQ(identify(d, SATED_NVME_CNS_ALLOCATED_NS, 1, 0), 0);
    CHECK(buffer[0] == 1000 % 256 && buffer[1] == 1000 / 256);
    via(d, 1);
    CHECK_EQ(ns_list(d, SATED_NVME_CNS_NS_LIST), 3);
    CHECK_EQ(write_block(d, 1, 999, 512, 2), 0);
    CHECK_EQ(identity(d).capacity_bytes, 512000);
    CHECK_EQ(read_block(d, 2, 999, 4096), 1);
    CHECK_EQ(attach(d, 1, 2, false), 0);
    CHECK_EQ(identity(d).capacity_bytes, 1000 * 4096);
    CHECK_EQ(delete_ns(d, 2), 0);
    CHECK_EQ(attach(d, 1, 1, true), 0);
    via(d, 0);
    CHECK_EQ(read_block(d, 1, 999, 512), 2);
    sated_drive_close(d);
}

/* A load addresses the lowest namespace of the controller, and nothing else. */
static void check_loads(void)
{
    struct sated_drive *d = open_drive(SMALL);
    CHECK_EQ(delete_ns(d, ALL), 0);
    CHECK_EQ(create(d, 8192, 8192, 0, false), 0);
    CHECK_EQ(create(d, 4096, 4096, 1, false), 0);
    CHECK_EQ(attach(d, 2, 1, true), 0);
    struct sated_identity id = identity(d);
    CHECK_EQ(id.capacity_bytes, 4096 * 4096);
    struct sated_workload w;
    struct sated_load_options o;
    struct sated_load *load;
    sated_workload_init(&w);
    sated_load_options_init(&o);
    CHECK_EQ(sated_workload_set(&w, "op", "randwrite"), 0);
    CHECK_EQ(sated_workload_set(&w, "size", "4k"), 0);
    o.bytes = 3000 * 4096;
    CHECK_EQ(sated_load_start(&load, &d, 1, &w, &o), 0);
    while (sated_load_wait(load, -1) > 0)
        ;
    sated_load_free(load);
    CHECK(mapped(d) > 1000 && mapped(d) <= 4096);
    CHECK_EQ(id_ns(d, SATED_NVME_CNS_NS, 2)->nuse, mapped(d));
    CHECK_EQ(id_ns(d, SATED_NVME_CNS_ALLOCATED_NS, 1)->nuse, 0);
    CHECK_EQ(format(d, 2, 1, SATED_NVME_SES_USER_DATA), 0);
    CHECK_EQ(mapped(d), 0);
    sated_drive_close(d);
}

static void check_blocks(const char *uri, uint32_t block)
{
    struct sated_drive *d = open_drive(uri);
    struct sated_nvme_command c;
    struct sated_nvme_range ranges[2] = {{.slba = 8, .nlb = 16}, {.slba = 40, .nlb = 1}};
    CHECK_EQ(format(d, 1, block == 4096, 0), 0);
    uint64_t blocks = id_ns(d, SATED_NVME_CNS_NS, 1)->nsze;
    CHECK_EQ(identity(d).logical_block_bytes, block);
    for (uint64_t lba = 0; lba < 48; lba++)
        CHECK_EQ(write_block(d, 1, lba, block, (uint8_t)(lba + 1)), 0);
    CHECK_EQ(write_block(d, 1, blocks - 1, block, 0x99), 0);
    CHECK_EQ(write_block(d, 1, blocks, block, 0x99), 0x80);
    CHECK(dnr);
    CHECK_EQ(sated_nvme_build_write(&c, 1, blocks - 1, 2, block, 0), 0);
    CHECK_EQ(send(d, &c, buffer), 0x80);
    CHECK_EQ(write_block(d, 0, 0, block, 1), 0x0b);
    CHECK_EQ(write_block(d, 17, 0, block, 1), 0x0b);
    CHECK_EQ(write_block(d, 2, 0, block, 1), 0x02);
    CHECK_EQ(sated_nvme_build_read(&c, 1, 0, (1 << 20) / block + 1, block, 0), 0);
    static uint8_t large[(1 << 20) + 4096];
    CHECK_EQ(send(d, &c, large), 0x02); /* beyond MDTS */
    CHECK_EQ(sated_nvme_build_read(&c, 1, 0, 2, block, 0), 0);
    c.data_len = block;
    CHECK_EQ(send(d, &c, buffer), 0x04); /* the host has less room than the command says */
    CHECK_EQ(read_block(d, 1, blocks - 1, block), 0x99);

    CHECK_EQ(sated_nvme_build_compare(&c, 1, 5, 1, block, 0), 0);
    memset(buffer, 6, block);
    CHECK_EQ(send(d, &c, buffer), 0);
    buffer[block - 1] = 7;
    CHECK_EQ(send(d, &c, buffer), 0x285);

    CHECK_EQ(sated_nvme_build_dsm(&c, 1, 2, SATED_NVME_DSM_DEALLOCATE), 0);
    CHECK_EQ(sated_nvme_build_dsm_ranges(buffer, sizeof buffer, ranges, 2), 32);
    CHECK_EQ(send(d, &c, buffer), 0);
    CHECK_EQ(read_block(d, 1, 7, block), 8);
    CHECK_EQ(read_block(d, 1, 8, block), 0); /* DLFEAT */
    CHECK_EQ(read_block(d, 1, 23, block), 0);
    CHECK_EQ(read_block(d, 1, 24, block), 25);
    CHECK_EQ(read_block(d, 1, 40, block), 0);
    ranges[1].slba = blocks;
    CHECK_EQ(sated_nvme_build_dsm_ranges(buffer, sizeof buffer, ranges, 2), 32);
    CHECK_EQ(send(d, &c, buffer), 0x80);
    CHECK_EQ(sated_nvme_build_dsm(&c, 1, 1, SATED_NVME_DSM_READ_HINT), 0);
    ranges[0].slba = 0;
    CHECK_EQ(sated_nvme_build_dsm_ranges(buffer, sizeof buffer, ranges, 1), 16);
    CHECK_EQ(send(d, &c, buffer), 0);
    CHECK_EQ(read_block(d, 1, 0, block), 1);

    uint64_t before = mapped(d);
    CHECK_EQ(sated_nvme_build_write_zeroes(&c, 1, 16, 8, false, 0), 0);
    CHECK_EQ(send(d, &c, NULL), 0);
    CHECK(mapped(d) > before && read_block(d, 1, 16, block) == 0);
    CHECK_EQ(sated_nvme_build_write_zeroes(&c, 1, 16, 8, true, 0), 0);
    CHECK_EQ(send(d, &c, NULL), 0);
    CHECK_EQ(mapped(d), before);
    CHECK_EQ(sated_nvme_build_write_zeroes(&c, 1, blocks, 1, true, 0), 0);
    CHECK_EQ(send(d, &c, NULL), 0x80);
    CHECK_EQ(sated_nvme_build_flush(&c, ALL), 0);
    CHECK_EQ(send(d, &c, NULL), 0);
    CHECK_EQ(sated_nvme_build_flush(&c, 1), 0);
    CHECK_EQ(send(d, &c, NULL), 0);
    c.nsid = 2;
    CHECK_EQ(send(d, &c, NULL), 0x02);
    sated_drive_close(d);
}

/* NVM 3.2.7: such blocks cannot be read until they are written or deallocated. */
static void check_uncorrectable(void)
{
    struct sated_drive *d = open_drive(SMALL);
    struct sated_nvme_command spoil, verify;
    uint32_t cdw[6] = {10, 0, 9};
    CHECK_EQ(sated_nvme_build_raw(&spoil, false, 0x04, 1, cdw, 0), 0);
    CHECK_EQ(send(d, &spoil, NULL), 0);
    CHECK_EQ(read_block(d, 1, 9, 512), 0);
    CHECK_EQ(read_block(d, 1, 10, 512), -2);
    CHECK_EQ(result, 0x281);
    CHECK_EQ(sated_nvme_build_verify(&verify, 1, 0, 20, 0), 0);
    CHECK_EQ(send(d, &verify, NULL), 0x281);
    CHECK_EQ(write_block(d, 1, 15, 512, 0x44), 0); /* splits them */
    CHECK_EQ(read_block(d, 1, 15, 512), 0x44);
    CHECK_EQ(read_block(d, 1, 14, 512), -2);
    CHECK_EQ(read_block(d, 1, 16, 512), -2);
    CHECK_EQ(read_block(d, 1, 19, 512), -2);
    CHECK_EQ(read_block(d, 1, 20, 512), 0);
    CHECK_EQ(sated_sim_power_cycle(d), 0);
    CHECK_EQ(read_block(d, 1, 14, 512), -2);
    CHECK_EQ(get_log(d, SATED_NVME_LID_SMART, 512, 0), 0);
    struct sated_nvme_smart_log smart;
    CHECK_EQ(sated_nvme_decode_smart_log(buffer, 512, &smart), 0);
    CHECK_EQ(smart.media_errors[0], 6);
    /* As many spans as it has room for, and then no more: what was said to be done is done. */
    unsigned status = 0, spans = 2;
    for (; !status && spans < 1000; spans++) {
        spoil.cdw10 = 100 + 2 * spans;
        spoil.cdw12 = 0;
        status = send(d, &spoil, NULL);
    }
    CHECK(status == 0x06 && !dnr && spans > 32);
    CHECK_EQ(read_block(d, 1, 14, 512), -2);
    CHECK_EQ(format(d, 1, 0, 0), 0);
    CHECK_EQ(send(d, &verify, NULL), 0);
    sated_drive_close(d);
}

static unsigned get_feature(struct sated_drive *d, uint32_t fid, uint32_t sel, uint32_t cdw11, uint32_t bytes)
{
    struct sated_nvme_command c;
    CHECK_EQ(sated_nvme_build_get_features(&c, fid, 0, sel, cdw11, bytes), 0);
    return send(d, &c, buffer);
}

static unsigned set_feature(struct sated_drive *d, uint32_t fid, bool save, uint32_t cdw11, uint32_t bytes)
{
    struct sated_nvme_command c;
    CHECK_EQ(sated_nvme_build_set_features(&c, fid, 0, save, cdw11, 0, bytes), 0);
    return send(d, &c, buffer);
}

static uint64_t value_of(struct sated_drive *d, uint32_t fid, uint32_t sel)
{
    CHECK_EQ(get_feature(d, fid, sel, 0, fid == SATED_NVME_FID_APST ? 256 : 0), 0);
    return result;
}

static void check_features(void)
{
    struct sated_drive *d = open_drive(SMALL ",capacitors=off");
    struct sated_nvme_command c;
    CHECK_EQ(value_of(d, SATED_NVME_FID_POWER, SATED_NVME_SEL_SUPPORTED), 5);
    CHECK_EQ(value_of(d, 0x05, SATED_NVME_SEL_SUPPORTED), 6);
    CHECK_EQ(value_of(d, 0x09, SATED_NVME_SEL_SUPPORTED), 0);
    CHECK_EQ(set_feature(d, SATED_NVME_FID_POWER, false, 4, 0), 0x02);
    CHECK_EQ(set_feature(d, SATED_NVME_FID_POWER, true, 1, 0), 0);
    CHECK_EQ(set_feature(d, SATED_NVME_FID_POWER, false, 2, 0), 0);
    CHECK_EQ(value_of(d, SATED_NVME_FID_POWER, SATED_NVME_SEL_CURRENT), 2);
    CHECK_EQ(value_of(d, SATED_NVME_FID_POWER, SATED_NVME_SEL_SAVED), 1);
    CHECK_EQ(value_of(d, SATED_NVME_FID_POWER, SATED_NVME_SEL_DEFAULT), 0);
    via(d, 1);
    CHECK_EQ(value_of(d, SATED_NVME_FID_POWER, SATED_NVME_SEL_CURRENT), 0);
    via(d, 0);
    CHECK_EQ(set_feature(d, SATED_NVME_FID_POWER, false, 3, 0), 0);
    CHECK_EQ(value_of(d, SATED_NVME_FID_POWER, SATED_NVME_SEL_CURRENT), 3);
    CHECK_EQ(read_block(d, 1, 0, 512), 0);
    CHECK_EQ(value_of(d, SATED_NVME_FID_POWER, SATED_NVME_SEL_CURRENT), 2); /* no I/O in state 3 */
    CHECK_EQ(sated_sim_power_cycle(d), 0);
    CHECK_EQ(value_of(d, SATED_NVME_FID_POWER, SATED_NVME_SEL_CURRENT), 1);

    CHECK_EQ(set_feature(d, 0x01, true, 0, 0), 0x10d);
    CHECK_EQ(set_feature(d, 0x09, false, 0, 0), 0x10e);
    CHECK_EQ(set_feature(d, 0x07, false, 0, 0), 0x0c);
    CHECK_EQ(value_of(d, 0x07, SATED_NVME_SEL_CURRENT), 63 << 16 | 63);
    CHECK_EQ(get_feature(d, 0x0d, 0, 0, 0), 0x02); /* it takes no host memory */
    CHECK_EQ(get_feature(d, 0x84, 0, 0, 0), 0x02);
    CHECK_EQ(sated_nvme_build_set_features(&c, SATED_NVME_FID_POWER, 1, false, 0, 0, 0), 0);
    CHECK_EQ(send(d, &c, NULL), 0x10f);

    CHECK_EQ(sated_nvme_build_get_temperature_threshold(&c, 0, false, SATED_NVME_SEL_CURRENT), 0);
    CHECK_EQ(send(d, &c, NULL), 0);
    CHECK_EQ(result, id_ctrl(d)->admin.wctemp);
    CHECK_EQ(set_feature(d, SATED_NVME_FID_TEMPERATURE, false, 300, 0), 0);
    struct sated_nvme_smart_log smart;
    CHECK_EQ(get_log(d, SATED_NVME_LID_SMART, 512, 0), 0);
    CHECK_EQ(sated_nvme_decode_smart_log(buffer, 512, &smart), 0);
    CHECK_EQ(smart.critical_warning, SATED_NVME_WARNING_TEMPERATURE);
    CHECK_EQ(set_feature(d, SATED_NVME_FID_TEMPERATURE, false, 3 << 16 | 300, 0), 0x02); /* there are two sensors */

    struct sated_nvme_transition steps[3] = {{500, 3}, {500, 3}, {500, 3}};
    CHECK_EQ(sated_nvme_build_apst_table(buffer, sizeof buffer, steps, 3), 256);
    CHECK_EQ(set_feature(d, SATED_NVME_FID_APST, true, 1, 256), 0);
    steps[1].state = 2;
    CHECK_EQ(sated_nvme_build_apst_table(buffer, sizeof buffer, steps, 3), 256);
    CHECK_EQ(set_feature(d, SATED_NVME_FID_APST, true, 1, 256), 0x02); /* a state that does I/O */
    CHECK_EQ(sated_sim_power_cycle(d), 0);
    CHECK_EQ(value_of(d, SATED_NVME_FID_APST, SATED_NVME_SEL_CURRENT), 1);
    CHECK_EQ(bytes_le64(buffer + 8), 500 << 8 | 3 << 3);

    bytes_put_le64(buffer, 1700000000000);
    CHECK_EQ(set_feature(d, 0x0e, false, 0, 8), 0);
    CHECK_EQ(sated_drive_sleep(d, 5000000000), 0);
    CHECK_EQ(get_feature(d, 0x0e, 0, 0, 8), 0);
    uint64_t ms = bytes_le64(buffer) & 0xffffffffffff;
    CHECK(ms >= 1700000005000 && ms < 1700000006000 && buffer[6] == 2);
    CHECK_EQ(sated_sim_power_cycle(d), 0);
    CHECK_EQ(get_feature(d, 0x0e, 0, 0, 8), 0);
    CHECK(bytes_le64(buffer) < 1000);

    CHECK_EQ(set_feature(d, 0x10, false, 330u << 16 | 320, 0), 0x02);
    CHECK_EQ(set_feature(d, 0x10, false, 320u << 16 | 330, 0), 0);
    CHECK_EQ(set_feature(d, 0x80, false, 7, 0), 0);
    CHECK_EQ(set_feature(d, SATED_NVME_FID_SANITIZE_CONFIG, false, 1, 0), 0);
    via(d, 1);
    CHECK_EQ(value_of(d, SATED_NVME_FID_SANITIZE_CONFIG, SATED_NVME_SEL_CURRENT), 1); /* the subsystem's */
    via(d, 0);
    CHECK_EQ(sated_sim_power_cycle(d), 0);
    CHECK_EQ(value_of(d, 0x10, SATED_NVME_SEL_CURRENT), 0);
    CHECK_EQ(value_of(d, 0x80, SATED_NVME_SEL_CURRENT), 7);
    sated_drive_close(d);
}

/* With the cache on, what was answered may be lost with the power; with it off, by FUA and after Flush it is not. */
static void check_cache(void)
{
    struct sated_drive *d = open_drive(SMALL ",capacitors=off");
    struct sated_nvme_command c;
    CHECK_EQ(value_of(d, SATED_NVME_FID_WRITE_CACHE, SATED_NVME_SEL_CURRENT), 1);
    CHECK_EQ(write_block(d, 1, 0, 512, 1), 0);
    CHECK_EQ(sated_nvme_build_write(&c, 1, 8, 1, 512, SATED_NVME_FUA), 0);
    memset(buffer, 2, 512);
    CHECK_EQ(send(d, &c, buffer), 0);
    CHECK_EQ(write_block(d, 1, 16, 512, 3), 0);
    CHECK_EQ(sated_sim_power_cycle(d), 0);
    CHECK_EQ(read_block(d, 1, 8, 512), 2);
    CHECK_EQ(read_block(d, 1, 16, 512), 0);
    CHECK_EQ(sated_nvme_build_set_write_cache(&c, false, false), 0);
    CHECK_EQ(send(d, &c, NULL), 0);
    CHECK_EQ(write_block(d, 1, 16, 512, 3), 0);
    CHECK_EQ(sated_sim_power_cycle(d), 0);
    CHECK_EQ(read_block(d, 1, 16, 512), 3);
    CHECK_EQ(value_of(d, SATED_NVME_FID_WRITE_CACHE, SATED_NVME_SEL_CURRENT), 1); /* it was not saved */
    sated_drive_close(d);
    d = open_drive(SMALL);
    CHECK_EQ(get_feature(d, SATED_NVME_FID_WRITE_CACHE, 0, 0, 0), 0x02); /* VWC says that there is none */
    CHECK_EQ(write_block(d, 1, 0, 512, 1), 0);
    CHECK_EQ(sated_sim_power_cycle(d), 0);
    CHECK_EQ(read_block(d, 1, 0, 512), 1);
    sated_drive_close(d);
}

static void check_logs(void)
{
    struct sated_drive *d = open_drive(SMALL);
    struct sated_nvme_command c;
    static struct sated_nvme_error_log errors;
    static struct sated_nvme_effects_log effects;
    struct sated_nvme_smart_log smart;
    struct sated_nvme_firmware_log firmware;
    struct sated_nvme_endurance_group_log group;
    struct sated_nvme_ocp_smart_log ocp;
    struct sated_nvme_telemetry_header telemetry;
    CHECK_EQ(get_log(d, SATED_NVME_LID_ERROR, 4096, 0), 0);
    CHECK_EQ(sated_nvme_decode_error_log(buffer, 4096, &errors), 0);
    CHECK(errors.n_entries == 64 && errors.entries[0].error_count == 0);
    for (int i = 0; i < 70; i++)
        CHECK_EQ(write_block(d, 1, UINT64_MAX / 2 + (uint64_t)i, 512, 0), 0x80);
    CHECK_EQ(identify(d, 0xff, 5, 0), 0x02);
    CHECK_EQ(get_log(d, SATED_NVME_LID_ERROR, 4096, 0), 0);
    CHECK_EQ(sated_nvme_decode_error_log(buffer, 4096, &errors), 0);
    CHECK(errors.entries[0].error_count == 71 && errors.entries[0].nsid == 5 && errors.entries[0].sqid == 0);
    CHECK_EQ(errors.entries[0].status_field, 0x6002);
    CHECK_EQ(errors.entries[0].parm_err_loc, 40); /* dword 10 */
    CHECK(errors.entries[1].error_count == 70 && errors.entries[1].lba == UINT64_MAX / 2 + 69 &&
          errors.entries[1].sqid == 1 && errors.entries[1].status_field == 0x6080);
    CHECK_EQ(errors.entries[63].error_count, 8);
    via(d, 1); /* each controller has its own */
    CHECK_EQ(get_log(d, SATED_NVME_LID_ERROR, 64, 0), 0);
    CHECK_EQ(bytes_le64(buffer), 0);
    via(d, 0);
    CHECK_EQ(sated_sim_power_cycle(d), 0);
    CHECK_EQ(get_log(d, SATED_NVME_LID_ERROR, 64, 0), 0);
    CHECK_EQ(bytes_le64(buffer), 0);

    for (uint64_t i = 0; i < 3; i++)
        CHECK_EQ(write_block(d, 1, i, 512, 1), 0);
    CHECK_EQ(get_log(d, SATED_NVME_LID_SMART, 512, 0), 0);
    CHECK_EQ(sated_nvme_decode_smart_log(buffer, 512, &smart), 0);
    CHECK_EQ(smart.data_units_written[0], 4); /* 3 x 512 x 1024 bytes, rounded up to 512,000 */
    CHECK_EQ(smart.host_writes[0], 3 * 1024);
    CHECK(smart.power_cycles[0] == 2 && smart.num_err_log_entries[0] == 71 && smart.critical_warning == 0);
    CHECK(smart.avail_spare == 100 && smart.n_sensors == 2 && smart.temperature > 290);
    CHECK_EQ(sated_drive_sleep(d, 3 * 3600 * INT64_C(1000000000)), 0);
    CHECK_EQ(get_log(d, SATED_NVME_LID_SMART, 512, 0), 0);
    CHECK_EQ(sated_nvme_decode_smart_log(buffer, 512, &smart), 0);
    CHECK_EQ(smart.power_on_hours[0], 3);
    CHECK_EQ(sated_nvme_build_get_log(&c, SATED_NVME_LID_SMART, 1, 512, 0, 0, 0, false, 0, 0), 0);
    CHECK_EQ(send(d, &c, buffer), 0x02); /* LPA bit 0 is 0: none of a namespace's own */

    CHECK_EQ(get_log(d, SATED_NVME_LID_FIRMWARE, 512, 0), 0);
    CHECK_EQ(sated_nvme_decode_firmware_log(buffer, 512, &firmware), 0);
    CHECK(firmware.active == 1 && firmware.n_slots == 1 && !strcmp(firmware.slots[0].revision, "SIM1"));
    CHECK_EQ(get_log(d, SATED_NVME_LID_ENDURANCE_GROUP, 512, 0), 0);
    CHECK_EQ(sated_nvme_decode_endurance_group_log(buffer, 512, &group), 0);
    CHECK(group.data_units_written[0] == 1 && group.tegcap[0] == identity(d).capacity_bytes);
    CHECK_EQ(sated_nvme_build_get_log(&c, SATED_NVME_LID_ENDURANCE_GROUP, 0, 512, 0, 0, 2, false, 0, 0), 0);
    CHECK_EQ(send(d, &c, buffer), 0x02);
    CHECK_EQ(get_log(d, SATED_NVME_LID_OCP_SMART, 512, 0), 0);
    CHECK_EQ(sated_nvme_decode_ocp_smart_log(buffer, 512, &ocp), 0);
    CHECK_EQ(ocp.physical_media_units_written[0], 3 * 4096 * 1024);
    CHECK_EQ(get_log(d, SATED_NVME_LID_TELEMETRY_CTRL, 512, 0), 0);
    CHECK_EQ(sated_nvme_decode_telemetry_header(buffer, 512, &telemetry), 0);
    CHECK(telemetry.ieee == 0x5a71d0 && telemetry.area1_last == 1 && telemetry.area3_last == 1);
    CHECK_EQ(get_log(d, SATED_NVME_LID_TELEMETRY_CTRL, 512, 4), 0x02);
    CHECK_EQ(get_log(d, SATED_NVME_LID_PERSISTENT_EVENT, 512, 0), 0x109);

    /* Every command that is there does something, and no other. */
    CHECK_EQ(get_log(d, SATED_NVME_LID_EFFECTS, 4096, 0), 0);
    CHECK_EQ(sated_nvme_decode_effects_log(buffer, 4096, &effects), 0);
    for (uint32_t i = 0; i < 512; i++) {
        uint32_t cdw[6] = {0};
        bool admin = i < 256, there = (admin ? effects.acs : effects.iocs)[i & 255] & SATED_NVME_EFFECT_SUPPORTED;
        CHECK_EQ(sated_nvme_build_raw(&c, admin, i & 255, 0xfffffffe, cdw, 0), 0);
        CHECK_EQ(send(d, &c, NULL) == 0x01, !there);
    }
    CHECK_EQ(get_log(d, SATED_NVME_LID_SUPPORTED, 1024, 0), 0);
    uint8_t there[256];
    for (uint32_t i = 0; i < 256; i++)
        there[i] = buffer[4 * i] & 1;
    for (uint32_t i = 0; i < 256; i++)
        CHECK_EQ(get_log(d, i, 512, 0) == 0x109, !there[i]);

    /* Parts of a page, and one that goes beyond what was asked for. */
    static uint8_t whole[4096];
    CHECK_EQ(get_log(d, SATED_NVME_LID_EFFECTS, 4096, 0), 0);
    memcpy(whole, buffer, 4096);
    CHECK_EQ(get_log(d, SATED_NVME_LID_EFFECTS, 256, 1024 + 4), 0);
    CHECK(!memcmp(buffer, whole + 1028, 256));
    CHECK_EQ(get_log(d, SATED_NVME_LID_EFFECTS, 4, 4100), 0x02);
    sated_drive_close(d);
}

int main(void)
{
    check_controllers();
    check_namespace();
    check_management();
    check_attachment();
    check_loads();
    check_blocks(SMALL, 512);
    check_blocks(SMALL, 4096);
    check_blocks(SMALL ",page=16k", 4096);
    check_blocks(SMALL ",page=2k,timing=off", 4096);
    check_uncorrectable();
    check_features();
    check_cache();
    check_logs();
    return check_done();
}
