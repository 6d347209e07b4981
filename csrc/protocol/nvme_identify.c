/* SPDX-License-Identifier: MIT */
/* What Identify returns (NVM Express Base 2.0c 5.17, NVM Command Set 1.0c 4.1.5). */
#include <sated/nvme.h>

#include <string.h>

#include "core/bytes.h"
#include "core/error.h"
#include "protocol/fields.h"
#include "protocol/known_nvme.h"
#include "protocol/nvme_inside.h"

#define G(member, byte, bits) FIELD(nvme_id_ctrl_general, member, byte, 0, bits)
#define G_UNLESS_0(member, byte, bits) FIELD_UNLESS_0(nvme_id_ctrl_general, member, byte, 0, bits)
#define A(member, byte, bits) FIELD(nvme_id_ctrl_admin, member, byte, 0, bits)
#define A_UNLESS_0(member, byte, bits) FIELD_UNLESS_0(nvme_id_ctrl_admin, member, byte, 0, bits)
#define N(member, byte, bits) FIELD(nvme_id_ctrl_nvm, member, byte, 0, bits)
#define NS(member, byte, bits) FIELD(nvme_id_ns, member, byte, 0, bits)

static const struct field general[] = {
    FIELD_CHARS(nvme_id_ctrl_general, sn, 4, 20),
    FIELD_CHARS(nvme_id_ctrl_general, mn, 24, 40),
    FIELD_CHARS(nvme_id_ctrl_general, fr, 64, 8),
    FIELD_BLOB(nvme_id_ctrl_general, fguid, 112, 16),
    G_UNLESS_0(ver, 80, 32), /* "non-zero" since 1.2 */
    G_UNLESS_0(rtd3r, 84, 32),
    G_UNLESS_0(rtd3e, 88, 32),
    G(oaes, 92, 32),
    G(ctratt, 96, 32),
    G_UNLESS_0(ieee, 73, 24),
    G(vid, 0, 16),
    G(ssvid, 2, 16),
    G(cntlid, 78, 16),
    G(rrls, 100, 16),
    G(crdt1, 128, 16),
    G(crdt2, 130, 16),
    G(crdt3, 132, 16),
    G(rab, 72, 8),
    G(cmic, 76, 8),
    G(mdts, 77, 8),
    G_UNLESS_0(cntrltype, 111, 8),
    G(nvmsr, 253, 8),
    G(vwci, 254, 8),
    G(mec, 255, 8),
};

static const struct field admin[] = {
    FIELD_U128(nvme_id_ctrl_admin, tnvmcap, 280),
    FIELD_U128(nvme_id_ctrl_admin, unvmcap, 296),
    FIELD_U128(nvme_id_ctrl_admin, megcap, 368),
    A(hmpre, 272, 32),
    A(hmmin, 276, 32),
    A(rpmbs, 312, 32),
    A(sanicap, 328, 32),
    A(hmminds, 332, 32),
    A(anagrpmax, 344, 32),
    A(nanagrpid, 348, 32),
    A(pels, 352, 32),
    A(oacs, 256, 16),
    A_UNLESS_0(wctemp, 266, 16),
    A_UNLESS_0(cctemp, 268, 16),
    A(mtfa, 270, 16),
    A(edstt, 316, 16),
    A(kas, 320, 16),
    A(hctma, 322, 16),
    A_UNLESS_0(mntmt, 324, 16),
    A_UNLESS_0(mxtmt, 326, 16),
    A(hmmaxd, 336, 16),
    A(nsetidmax, 338, 16),
    A(endgidmax, 340, 16),
    A(domainid, 356, 16),
    A(acl, 258, 8),
    A(aerl, 259, 8),
    A(frmw, 260, 8),
    A(lpa, 261, 8),
    A(elpe, 262, 8),
    A(npss, 263, 8),
    A(avscc, 264, 8),
    A(apsta, 265, 8),
    A(dsto, 318, 8),
    A(fwug, 319, 8),
    A(anatt, 342, 8),
    A(anacap, 343, 8),
};

static const struct field nvm[] = {
    FIELD_U128(nvme_id_ctrl_nvm, maxdna, 544),
    FIELD_CHARS(nvme_id_ctrl_nvm, subnqn, 768, 256),
    N(nn, 516, 32),
    N(sgls, 536, 32),
    N(mnan, 540, 32),
    N(maxcna, 560, 32),
    N(ioccsz, 1792, 32),
    N(iorcsz, 1796, 32),
    N(oncs, 520, 16),
    N(maxcmd, 514, 16),
    N(fuses, 522, 16),
    N(awun, 526, 16),
    N(awupf, 528, 16),
    N(acwu, 532, 16),
    N(ocfs, 534, 16),
    N(icdoff, 1800, 16),
    N(ofcs, 1804, 16),
    N(sqes, 512, 8),
    N(cqes, 513, 8),
    N(fna, 524, 8),
    N(vwc, 525, 8),
    N(icsvscc, 530, 8),
    N(nwpc, 531, 8),
    N(fcatt, 1802, 8),
    N(msdbd, 1803, 8),
};

/* Power State Descriptor; maximum power and latencies of 0 are "not reported". */
static void decode_power_state(const uint8_t *p, struct sated_nvme_power_state *out)
{
    /* Scales: MXPS 0 is 0.01 W and 1 is 0.0001 W; IPS and APS 1 is 0.0001 W, 2 is 0.01 W, 0 is "not reported". */
    static const uint32_t scale_uw[4] = {0, 100, 10000, 0};
    uint32_t mp = bytes_le16(p), idle = scale_uw[p[18] >> 6], active = scale_uw[p[22] >> 6];
    if (mp)
        KNOW(nvme_power_state, out, mp_uw, mp * (p[3] & 1 ? 100 : 10000));
    if (idle)
        KNOW(nvme_power_state, out, idlp_uw, bytes_le16(p + 16) * idle);
    if (active) {
        KNOW(nvme_power_state, out, actp_uw, bytes_le16(p + 20) * active);
        KNOW(nvme_power_state, out, apw, p[22] & 7);
    }
    if (bytes_le32(p + 4))
        KNOW(nvme_power_state, out, enlat_us, bytes_le32(p + 4));
    if (bytes_le32(p + 8))
        KNOW(nvme_power_state, out, exlat_us, bytes_le32(p + 8));
    KNOW(nvme_power_state, out, nops, p[3] >> 1 & 1);
    KNOW(nvme_power_state, out, rrt, p[12] & 31);
    KNOW(nvme_power_state, out, rrl, p[13] & 31);
    KNOW(nvme_power_state, out, rwt, p[14] & 31);
    KNOW(nvme_power_state, out, rwl, p[15] & 31);
}

/* Blanks and zeros where something should stand: the controller does not say. */
static void forget_empty(struct sated_nvme_id_ctrl *out)
{
    FORGET_IF(!out->general.sn[0], nvme_id_ctrl_general, &out->general, sn);
    FORGET_IF(!out->general.mn[0], nvme_id_ctrl_general, &out->general, mn);
    FORGET_IF(!out->general.fr[0], nvme_id_ctrl_general, &out->general, fr);
    FORGET_IF(!out->nvm.subnqn[0], nvme_id_ctrl_nvm, &out->nvm, subnqn);
    FORGET_ZERO(nvme_id_ctrl_general, &out->general, fguid);
    FORGET_ZERO(nvme_id_ctrl_admin, &out->admin, megcap);
    /* No drive has a capacity of nothing: the pair is there with namespace management only. */
    FORGET_ZERO(nvme_id_ctrl_admin, &out->admin, tnvmcap);
    FORGET_IF(!IS_KNOWN(nvme_id_ctrl_admin, &out->admin, tnvmcap), nvme_id_ctrl_admin, &out->admin, unvmcap);
}

int sated_nvme_decode_id_ctrl(const void *data, size_t n, struct sated_nvme_id_ctrl *out)
{
    memset(out, 0, sizeof *out);
    if (!n)
        return nvme_short("Identify Controller", n, 1);
    fields_decode_le(general, FIELDS(general), data, n, &out->general);
    fields_decode_le(admin, FIELDS(admin), data, n, &out->admin);
    fields_decode_le(nvm, FIELDS(nvm), data, n, &out->nvm);
    forget_empty(out);
    if (out->general.known)
        out->known |= KNOWN_BIT(nvme_id_ctrl, general);
    if (out->admin.known)
        out->known |= KNOWN_BIT(nvme_id_ctrl, admin);
    if (out->nvm.known)
        out->known |= KNOWN_BIT(nvme_id_ctrl, nvm);
    /* NPSS is 0 to 31; a larger number lists what there is room for. */
    while (IS_KNOWN(nvme_id_ctrl_admin, &out->admin, npss) && out->n_psd <= out->admin.npss && out->n_psd < 32 &&
           2048 + 32 * (out->n_psd + 1u) <= n) {
        decode_power_state((const uint8_t *)data + 2048 + 32 * out->n_psd, &out->psd[out->n_psd]);
        out->n_psd++;
    }
    if (out->n_psd)
        KNOW_LIST(nvme_id_ctrl, out, n_psd, psd);
    return 0;
}

static const struct field namespace[] = {
    NS(nsze, 0, 64),
    NS(ncap, 8, 64),
    NS(nuse, 16, 64),
    FIELD_U128(nvme_id_ns, nvmcap, 48),
    FIELD_BLOB(nvme_id_ns, nguid, 104, 16),
    FIELD_BLOB(nvme_id_ns, eui64, 120, 8),
    NS(mcl, 76, 32),
    NS(anagrpid, 92, 32),
    NS(nawun, 34, 16),
    NS(nawupf, 36, 16),
    NS(nacwu, 38, 16),
    NS(nabsn, 40, 16),
    NS(nabo, 42, 16),
    NS(nabspf, 44, 16),
    NS(noiob, 46, 16),
    NS(npwg, 64, 16),
    NS(npwa, 66, 16),
    NS(npdg, 68, 16),
    NS(npda, 70, 16),
    NS(nows, 72, 16),
    NS(mssrl, 74, 16),
    NS(nvmsetid, 100, 16),
    NS(endgid, 102, 16),
    NS(nsfeat, 24, 8),
    NS(nlbaf, 25, 8),
    NS(flbas, 26, 8),
    NS(mc, 27, 8),
    NS(dpc, 28, 8),
    NS(dps, 29, 8),
    NS(nmic, 30, 8),
    NS(rescap, 31, 8),
    NS(fpi, 32, 8),
    NS(dlfeat, 33, 8),
    NS(msrc, 80, 8),
    NS(nulbaf, 82, 8),
    NS(nsattr, 99, 8),
    FIELD(nvme_id_ns, extended, 26, 4, 1),
};

int sated_nvme_decode_flbas(uint32_t flbas, uint32_t formats, uint32_t *format, bool *extended)
{
    /* Format index 3:0 and, around the bit for extended LBAs, 6:5. */
    *format = (flbas & 15) | (flbas >> 5 & 3) << 4;
    *extended = flbas >> 4 & 1;
    if (*format >= formats)
        return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                         "FLBAS %02Xh selects LBA format %u, but the namespace lists %u: the block size is not known",
                         (unsigned)flbas, (unsigned)*format, (unsigned)formats);
    return 0;
}

static void decode_lba_format(const uint8_t *p, struct sated_nvme_lba_format *out)
{
    KNOW(nvme_lba_format, out, ms, bytes_le16(p));
    KNOW(nvme_lba_format, out, lbads, p[2]);
    KNOW(nvme_lba_format, out, rp, p[3] & 3);
    /* "If the value reported is less than 9, then the LBA format is not supported"; 31 is what 32 bits hold. */
    if (p[2] >= 9 && p[2] <= 31)
        KNOW(nvme_lba_format, out, block_bytes, UINT32_C(1) << p[2]);
}

/* What follows from the format in use: the block, and the sizes in bytes. */
static void decode_sizes(struct sated_nvme_id_ns *out)
{
    const struct sated_nvme_lba_format *f = &out->lbaf[out->format];
    KNOW(nvme_id_ns, out, metadata_bytes, f->ms);
    if (!IS_KNOWN(nvme_lba_format, f, block_bytes))
        return;
    KNOW(nvme_id_ns, out, block_bytes, f->block_bytes);
    if (out->nsze && out->nsze <= UINT64_MAX / f->block_bytes)
        KNOW(nvme_id_ns, out, capacity_bytes, out->nsze * f->block_bytes);
    if (out->nuse <= UINT64_MAX / f->block_bytes)
        KNOW(nvme_id_ns, out, used_bytes, out->nuse * f->block_bytes);
}

int sated_nvme_decode_id_ns(const void *data, size_t n, struct sated_nvme_id_ns *out)
{
    uint32_t formats, format;
    bool extended;
    int rc;
    memset(out, 0, sizeof *out);
    if (!n)
        return nvme_short("Identify Namespace", n, 1);
    fields_decode_le(namespace, FIELDS(namespace), data, n, out);
    FORGET_ZERO(nvme_id_ns, out, nguid);
    FORGET_ZERO(nvme_id_ns, out, eui64);
    FORGET_ZERO(nvme_id_ns, out, nvmcap);
    if (!IS_KNOWN(nvme_id_ns, out, flbas))
        return 0;
    /* NLBAF counts from zero, NULBAF (formats with their own attributes, after the others) from one. */
    formats = out->nlbaf + 1u + (out->nlbaf < 63 ? out->nulbaf : 0);
    formats = formats < 64 ? formats : 64;
    while (out->n_lbaf < formats && 128 + 4 * (out->n_lbaf + 1u) <= n) {
        decode_lba_format((const uint8_t *)data + 128 + 4 * out->n_lbaf, &out->lbaf[out->n_lbaf]);
        out->n_lbaf++;
    }
    if (out->n_lbaf)
        KNOW_LIST(nvme_id_ns, out, n_lbaf, lbaf);
    rc = sated_nvme_decode_flbas(out->flbas, formats, &format, &extended);
    if (rc)
        return rc;
    KNOW(nvme_id_ns, out, format, format);
    if (format < out->n_lbaf)
        decode_sizes(out);
    return 0;
}

static const struct field independent[] = {
    FIELD(nvme_independent_ns, nsfeat, 0, 0, 8),     FIELD(nvme_independent_ns, nmic, 1, 0, 8),
    FIELD(nvme_independent_ns, rescap, 2, 0, 8),     FIELD(nvme_independent_ns, fpi, 3, 0, 8),
    FIELD(nvme_independent_ns, anagrpid, 4, 0, 32),  FIELD(nvme_independent_ns, nsattr, 8, 0, 8),
    FIELD(nvme_independent_ns, nvmsetid, 10, 0, 16), FIELD(nvme_independent_ns, endgid, 12, 0, 16),
    FIELD(nvme_independent_ns, nstat, 14, 0, 8),
};

int sated_nvme_decode_independent_ns(const void *data, size_t n, struct sated_nvme_independent_ns *out)
{
    memset(out, 0, sizeof *out);
    if (!n)
        return nvme_short("I/O Command Set Independent Identify Namespace", n, 1);
    fields_decode_le(independent, FIELDS(independent), data, n, out);
    return 0;
}

static const struct field nvm_ns[] = {
    FIELD(nvme_nvm_ns, lbstm, 0, 0, 64),
    FIELD(nvme_nvm_ns, pic, 8, 0, 8),
};

int sated_nvme_decode_nvm_ns(const void *data, size_t n, struct sated_nvme_nvm_ns *out)
{
    memset(out, 0, sizeof *out);
    if (!n)
        return nvme_short("NVM Command Set Identify Namespace", n, 1);
    fields_decode_le(nvm_ns, FIELDS(nvm_ns), data, n, out);
    for (; out->n_elbaf < 64 && 12 + 4 * (out->n_elbaf + 1u) <= n; out->n_elbaf++) {
        uint32_t bits = bytes_le32((const uint8_t *)data + 12 + 4 * out->n_elbaf);
        struct sated_nvme_elba_format *f = &out->elbaf[out->n_elbaf];
        f->sts = bits & 127;
        f->pif = bits >> 7 & 3;
        f->qpif = bits >> 9 & 15;
    }
    if (out->n_elbaf)
        KNOW_LIST(nvme_nvm_ns, out, n_elbaf, elbaf);
    return 0;
}

static const struct field nvm_ctrl[] = {
    FIELD(nvme_nvm_ctrl, vsl, 0, 0, 8),  FIELD(nvme_nvm_ctrl, wzsl, 1, 0, 8),   FIELD(nvme_nvm_ctrl, wusl, 2, 0, 8),
    FIELD(nvme_nvm_ctrl, dmrl, 3, 0, 8), FIELD(nvme_nvm_ctrl, dmrsl, 4, 0, 32), FIELD(nvme_nvm_ctrl, dmsl, 8, 0, 64),
};

int sated_nvme_decode_nvm_ctrl(const void *data, size_t n, struct sated_nvme_nvm_ctrl *out)
{
    memset(out, 0, sizeof *out);
    if (!n)
        return nvme_short("NVM Command Set Identify Controller", n, 1);
    fields_decode_le(nvm_ctrl, FIELDS(nvm_ctrl), data, n, out);
    return 0;
}

int sated_nvme_decode_granularity_list(const void *data, size_t n, struct sated_nvme_granularity_list *out)
{
    const uint8_t *p = data;
    uint32_t told;
    memset(out, 0, sizeof *out);
    if (n < 5)
        return nvme_short("Namespace Granularity List", n, 5);
    told = p[4] + 1u; /* 0-based */
    if (told > 16)
        return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                         "Namespace Granularity List: byte 4 says %u descriptors, but 16 are the most (NVM 4.1.5)",
                         (unsigned)told);
    KNOW(nvme_granularity_list, out, attributes, bytes_le32(p));
    for (; out->n_granularity < told && 32 + 16 * (out->n_granularity + 1u) <= n; out->n_granularity++) {
        out->granularity[out->n_granularity].nsze = bytes_le64(p + 32 + 16 * out->n_granularity);
        out->granularity[out->n_granularity].ncap = bytes_le64(p + 40 + 16 * out->n_granularity);
    }
    KNOW(nvme_granularity_list, out, truncated, out->n_granularity < told);
    KNOW_LIST(nvme_granularity_list, out, n_granularity, granularity);
    return 0;
}

int sated_nvme_decode_uuid_list(const void *data, size_t n, struct sated_nvme_uuid_list *out)
{
    const uint8_t *p = data;
    memset(out, 0, sizeof *out);
    if (n < 64)
        return nvme_short("UUID List", n, 64);
    KNOW_LIST(nvme_uuid_list, out, n_uuids, uuids);
    KNOW(nvme_uuid_list, out, truncated, 0);
    for (; out->n_uuids < 127 && 32 * (out->n_uuids + 2u) <= n; out->n_uuids++) {
        const uint8_t *entry = p + 32 * (out->n_uuids + 1u);
        if (nvme_zero(entry + 16, 16)) /* the end of the list */
            return 0;
        out->uuids[out->n_uuids].association = entry[0] & 3;
        memcpy(out->uuids[out->n_uuids].uuid, entry + 16, 16);
    }
    out->truncated = out->n_uuids < 127;
    return 0;
}

int sated_nvme_decode_ns_list(const void *data, size_t n, struct sated_nvme_ns_list *out)
{
    const uint8_t *p = data;
    uint32_t nsid = 1;
    memset(out, 0, sizeof *out);
    if (n < 4)
        return nvme_short("a namespace list", n, 4);
    out->known = KNOWN_BIT(nvme_ns_list, truncated) | KNOWN_BIT(nvme_ns_list, n_nsid) | KNOWN_BIT(nvme_ns_list, nsid);
    /* The log of changed namespaces begins with FFFFFFFFh where more changed than it holds (5.16.1.5). */
    if (bytes_le32(p) == SATED_NVME_ALL_NAMESPACES) {
        out->truncated = 1;
        return 0;
    }
    for (; out->n_nsid < 1024 && 4 * (out->n_nsid + 1u) <= n; out->n_nsid++) {
        nsid = bytes_le32(p + 4 * out->n_nsid);
        if (!nsid)
            return 0;
        if (out->n_nsid && nsid <= out->nsid[out->n_nsid - 1])
            return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                             "namespace list: entry %u is %Xh after %Xh; identifiers increase (4.4.2)",
                             (unsigned)out->n_nsid, (unsigned)nsid, (unsigned)out->nsid[out->n_nsid - 1]);
        out->nsid[out->n_nsid] = nsid;
    }
    out->truncated = out->n_nsid < 1024;
    return 0;
}

int sated_nvme_decode_ctrl_list(const void *data, size_t n, struct sated_nvme_ctrl_list *out)
{
    const uint8_t *p = data;
    uint32_t told;
    memset(out, 0, sizeof *out);
    if (n < 2)
        return nvme_short("a controller list", n, 2);
    told = bytes_le16(p);
    if (told > 2047)
        return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                         "controller list: bytes 1:0 say %u identifiers, but 4096 bytes hold 2047 (4.4.1)",
                         (unsigned)told);
    for (; out->n_cntlid < told && 2 * (out->n_cntlid + 2u) <= n; out->n_cntlid++)
        out->cntlid[out->n_cntlid] = bytes_le16(p + 2 * (out->n_cntlid + 1u));
    out->truncated = out->n_cntlid < told;
    out->known =
        KNOWN_BIT(nvme_ctrl_list, truncated) | KNOWN_BIT(nvme_ctrl_list, n_cntlid) | KNOWN_BIT(nvme_ctrl_list, cntlid);
    return 0;
}

int sated_nvme_decode_ns_descs(const void *data, size_t n, struct sated_nvme_ns_descs *out)
{
    static const uint8_t lengths[] = {0, 8, 16, 16, 1}; /* of the types EUI64, NGUID, UUID, CSI */
    const uint8_t *p = data;
    size_t at = 0;
    memset(out, 0, sizeof *out);
    if (!n)
        return nvme_short("Namespace Identification Descriptors", n, 1);
    for (; at + 4 <= n; at += 4u + p[at + 1]) {
        uint32_t type = p[at], length = p[at + 1];
        if (!length) { /* the end of the list */
            KNOW(nvme_ns_descs, out, truncated, 0);
            return 0;
        }
        if (type >= 1 && type <= 4 && length != lengths[type])
            return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                             "namespace descriptor of type %u at byte %zu has length %u, expected %u (5.17.2.3)",
                             (unsigned)type, at, (unsigned)length, (unsigned)lengths[type]);
        if (at + 4 + length > n)
            break;
        switch (type) {
        case 1:
            memcpy(out->eui64, p + at + 4, 8);
            out->known |= KNOWN_BIT(nvme_ns_descs, eui64);
            break;
        case 2:
            memcpy(out->nguid, p + at + 4, 16);
            out->known |= KNOWN_BIT(nvme_ns_descs, nguid);
            break;
        case 3:
            memcpy(out->uuid, p + at + 4, 16);
            out->known |= KNOWN_BIT(nvme_ns_descs, uuid);
            break;
        case 4: KNOW(nvme_ns_descs, out, csi, p[at + 4]); break;
        default: break; /* a type that is not known is passed over */
        }
    }
    /* 4096 bytes may be full to the last one. */
    KNOW(nvme_ns_descs, out, truncated, n < 4096);
    return 0;
}
