/* SPDX-License-Identifier: MIT */
/* NVMe commands as bytes (NVM Express Base 2.0c 5, NVM Command Set 1.0c 3.2). */
#include <sated/nvme.h>

#include <string.h>

#include "core/bytes.h"
#include "core/error.h"
#include "protocol/known_nvme.h"
#include "protocol/nvme_inside.h"

void nvme_begin(struct sated_nvme_command *c, bool admin, uint32_t opcode, uint32_t nsid, uint32_t data_len)
{
    memset(c, 0, sizeof *c);
    c->admin = admin;
    c->opcode = (uint8_t)opcode;
    c->nsid = nsid;
    c->data_len = data_len;
    c->direction = !data_len ? 0 : opcode & 1 ? 2 : 1;
}

int nvme_fits(const char *name, uint32_t value, unsigned bits)
{
    if (bits < 32 && value >> bits)
        return REFUSE("%s is %u, expected 0 to %u", name, (unsigned)value, (1u << bits) - 1);
    return 0;
}

int nvme_one_namespace(const char *command, uint32_t nsid, bool all)
{
    if (!nsid || (nsid == SATED_NVME_ALL_NAMESPACES && !all))
        return REFUSE("%s: NSID is %Xh, expected one namespace, 1 to FFFFFFFEh%s", command, (unsigned)nsid,
                      all ? ", or FFFFFFFFh for all" : "");
    return 0;
}

static int dwords(const char *command, uint32_t bytes)
{
    if (!bytes || bytes % 4)
        return REFUSE("%s: length is %u bytes, expected a multiple of 4 and at least 4: it is counted in dwords",
                      command, (unsigned)bytes);
    return 0;
}

/* Which NSID a CNS takes: none (0), one namespace, one or all, or the one below the first of a list. */
enum nsid_use { NSID_NONE = 1, NSID_ONE, NSID_ONE_OR_ALL, NSID_ABOVE };

static const uint8_t nsid_of_cns[] = {
    [SATED_NVME_CNS_NS] = NSID_ONE_OR_ALL,
    [SATED_NVME_CNS_CTRL] = NSID_NONE,
    [SATED_NVME_CNS_NS_LIST] = NSID_ABOVE,
    [SATED_NVME_CNS_NS_DESCS] = NSID_ONE,
    [SATED_NVME_CNS_NVM_SET_LIST] = NSID_NONE,
    [SATED_NVME_CNS_CSI_NS] = NSID_ONE_OR_ALL,
    [SATED_NVME_CNS_CSI_CTRL] = NSID_NONE,
    [SATED_NVME_CNS_CSI_NS_LIST] = NSID_ABOVE,
    [SATED_NVME_CNS_INDEPENDENT_NS] = NSID_ONE_OR_ALL,
    [SATED_NVME_CNS_ALLOCATED_LIST] = NSID_ABOVE,
    [SATED_NVME_CNS_ALLOCATED_NS] = NSID_ONE,
    [SATED_NVME_CNS_NS_CTRL_LIST] = NSID_ONE,
    [SATED_NVME_CNS_CTRL_LIST] = NSID_NONE,
    [SATED_NVME_CNS_PRIMARY_CAPS] = NSID_NONE,
    [SATED_NVME_CNS_SECONDARY_LIST] = NSID_NONE,
    [SATED_NVME_CNS_NS_GRANULARITY] = NSID_NONE,
    [SATED_NVME_CNS_UUID_LIST] = NSID_NONE,
    [SATED_NVME_CNS_DOMAIN_LIST] = NSID_NONE,
    [SATED_NVME_CNS_ENDURANCE_GROUP_LIST] = NSID_NONE,
    [SATED_NVME_CNS_CSI_ALLOCATED_LIST] = NSID_ABOVE,
    [SATED_NVME_CNS_CSI_ALLOCATED_NS] = NSID_ONE,
    [SATED_NVME_CNS_IO_COMMAND_SETS] = NSID_NONE,
};

static int nsid_of_identify(uint32_t cns, uint32_t nsid)
{
    uint8_t use = cns < sizeof nsid_of_cns ? nsid_of_cns[cns] : 0;
    switch (use) {
    case NSID_NONE:
        return nsid ? REFUSE("Identify with CNS %02Xh: NSID is %Xh, expected 0: drives log an error for another",
                             (unsigned)cns, (unsigned)nsid)
                    : 0;
    case NSID_ONE: return nvme_one_namespace("Identify", nsid, false);
    case NSID_ONE_OR_ALL: return nvme_one_namespace("Identify", nsid, true);
    case NSID_ABOVE:
        return nsid >= 0xfffffffe ? REFUSE("Identify with CNS %02Xh: the list begins above NSID %Xh, expected 0 to "
                                           "FFFFFFFDh",
                                           (unsigned)cns, (unsigned)nsid)
                                  : 0;
    default:
        return REFUSE("Identify: CNS %02Xh is not one of those known here (00h to 08h, 10h to 1Ch): build it raw",
                      (unsigned)cns);
    }
}

int sated_nvme_build_identify(struct sated_nvme_command *c, uint32_t cns, uint32_t nsid, uint32_t cntid, uint32_t csi,
                              uint32_t cns_specific)
{
    int rc = nsid_of_identify(cns, nsid);
    if (rc || (rc = nvme_fits("Identify: CNTID", cntid, 16)) || (rc = nvme_fits("Identify: CSI", csi, 8)) ||
        (rc = nvme_fits("Identify: CNS specific identifier", cns_specific, 16)))
        return rc;
    nvme_begin(c, true, SATED_NVME_ADMIN_IDENTIFY, nsid, 4096);
    c->cdw10 = cntid << 16 | cns;
    c->cdw11 = csi << 24 | cns_specific;
    return 0;
}

int sated_nvme_build_get_log(struct sated_nvme_command *c, uint32_t lid, uint32_t nsid, uint32_t data_len,
                             uint64_t offset, uint32_t lsp, uint32_t lsi, bool rae, uint32_t csi, uint32_t uuid_index)
{
    uint32_t numd = data_len / 4 - 1; /* 0-based */
    int rc = dwords("Get Log Page", data_len);
    if (rc || (rc = nvme_fits("Get Log Page: LID", lid, 8)) || (rc = nvme_fits("Get Log Page: LSP", lsp, 7)) ||
        (rc = nvme_fits("Get Log Page: LSI", lsi, 16)) || (rc = nvme_fits("Get Log Page: CSI", csi, 8)) ||
        (rc = nvme_fits("Get Log Page: UUID index", uuid_index, 7)))
        return rc;
    if (offset % 4)
        return REFUSE("Get Log Page: offset is %llu bytes, expected a multiple of 4", (unsigned long long)offset);
    nvme_begin(c, true, SATED_NVME_ADMIN_GET_LOG_PAGE, nsid, data_len);
    c->cdw10 = (numd & 0xffff) << 16 | (uint32_t)rae << 15 | lsp << 8 | lid;
    c->cdw11 = lsi << 16 | numd >> 16;
    c->cdw12 = (uint32_t)offset;
    c->cdw13 = (uint32_t)(offset >> 32);
    c->cdw14 = csi << 24 | uuid_index;
    return 0;
}

static int feature_data(const char *command, uint32_t data_len)
{
    return data_len ? dwords(command, data_len) : 0;
}

int sated_nvme_build_get_features(struct sated_nvme_command *c, uint32_t fid, uint32_t nsid, uint32_t sel,
                                  uint32_t cdw11, uint32_t data_len)
{
    int rc = feature_data("Get Features", data_len);
    if (rc || (rc = nvme_fits("Get Features: FID", fid, 8)))
        return rc;
    if (sel > SATED_NVME_SEL_SUPPORTED)
        return REFUSE("Get Features: SEL is %u, expected 0 current, 1 default, 2 saved or 3 supported", (unsigned)sel);
    nvme_begin(c, true, SATED_NVME_ADMIN_GET_FEATURES, nsid, sel == SATED_NVME_SEL_SUPPORTED ? 0 : data_len);
    c->cdw10 = sel << 8 | fid;
    c->cdw11 = cdw11;
    return 0;
}

int sated_nvme_build_set_features(struct sated_nvme_command *c, uint32_t fid, uint32_t nsid, bool save, uint32_t cdw11,
                                  uint32_t cdw12, uint32_t data_len)
{
    int rc = feature_data("Set Features", data_len);
    if (rc || (rc = nvme_fits("Set Features: FID", fid, 8)))
        return rc;
    nvme_begin(c, true, SATED_NVME_ADMIN_SET_FEATURES, nsid, data_len);
    c->cdw10 = (uint32_t)save << 31 | fid;
    c->cdw11 = cdw11;
    c->cdw12 = cdw12;
    return 0;
}

int sated_nvme_build_set_power_state(struct sated_nvme_command *c, uint32_t ps, uint32_t workload_hint, bool save)
{
    int rc = nvme_fits("Set Features: power state", ps, 5);
    if (rc || (rc = nvme_fits("Set Features: workload hint", workload_hint, 3)))
        return rc;
    return sated_nvme_build_set_features(c, SATED_NVME_FID_POWER, 0, save, workload_hint << 5 | ps, 0, 0);
}

int sated_nvme_build_set_write_cache(struct sated_nvme_command *c, bool enable, bool save)
{
    return sated_nvme_build_set_features(c, SATED_NVME_FID_WRITE_CACHE, 0, save, enable, 0, 0);
}

int sated_nvme_build_set_apst(struct sated_nvme_command *c, bool enable, bool save)
{
    return sated_nvme_build_set_features(c, SATED_NVME_FID_APST, 0, save, enable, 0, 256);
}

int sated_nvme_build_set_sanitize_config(struct sated_nvme_command *c, bool nodrm, bool save)
{
    return sated_nvme_build_set_features(c, SATED_NVME_FID_SANITIZE_CONFIG, 0, save, nodrm, 0, 0);
}

int sated_nvme_build_get_temperature_threshold(struct sated_nvme_command *c, uint32_t sensor, bool under, uint32_t sel)
{
    if (sensor > 8)
        return REFUSE("Get Features: temperature sensor %u, expected 0 (composite) to 8", (unsigned)sensor);
    return sated_nvme_build_get_features(c, SATED_NVME_FID_TEMPERATURE, 0, sel, (uint32_t)under << 20 | sensor << 16,
                                         0);
}

int sated_nvme_build_apst_table(void *buf, size_t cap, const struct sated_nvme_transition *transitions, size_t n)
{
    if (cap < 256 || n > 32)
        return REFUSE("APST table: %zu transitions into %zu bytes, expected at most 32 into 256", n, cap);
    memset(buf, 0, 256);
    for (size_t i = 0; i < n; i++) {
        if (transitions[i].idle_ms > 0xffffff || transitions[i].state > 31)
            return REFUSE("APST table: transition %zu is to state %u after %u ms, expected a state to 31 and at most "
                          "16777215 ms",
                          i, (unsigned)transitions[i].state, (unsigned)transitions[i].idle_ms);
        /* ITPT 31:8, ITPS 7:3 */
        bytes_put_le32((uint8_t *)buf + 8 * i, transitions[i].idle_ms << 8 | transitions[i].state << 3);
    }
    return 256;
}

int sated_nvme_decode_apst(const void *data, size_t n, struct sated_nvme_apst *out)
{
    memset(out, 0, sizeof *out);
    if (n < 8)
        return nvme_short("APST table", n, 8);
    for (; out->n_transitions < 32 && 8 * (out->n_transitions + 1u) <= n; out->n_transitions++) {
        uint32_t bits = bytes_le32((const uint8_t *)data + 8 * out->n_transitions);
        out->transitions[out->n_transitions].idle_ms = bits >> 8;
        out->transitions[out->n_transitions].state = bits >> 3 & 31;
    }
    KNOW_LIST(nvme_apst, out, n_transitions, transitions);
    return 0;
}

int sated_nvme_build_format(struct sated_nvme_command *c, uint32_t nsid, uint32_t lbaf, bool mset, uint32_t pi,
                            bool pil, uint32_t ses)
{
    int rc = nvme_one_namespace("Format NVM", nsid, true);
    if (rc || (rc = nvme_fits("Format NVM: LBA format", lbaf, 6)))
        return rc;
    if (pi > 3)
        return REFUSE("Format NVM: protection information type %u, expected 0 (none) to 3", (unsigned)pi);
    if (ses > SATED_NVME_SES_CRYPTO)
        return REFUSE("Format NVM: SES is %u, expected 0 none, 1 user data or 2 cryptographic", (unsigned)ses);
    nvme_begin(c, true, SATED_NVME_ADMIN_FORMAT, nsid, 0);
    /* LBAFU 13:12, SES 11:9, PIL 8, PI 7:5, MSET 4, LBAFL 3:0 */
    c->cdw10 = lbaf >> 4 << 12 | ses << 9 | (uint32_t)pil << 8 | pi << 5 | (uint32_t)mset << 4 | (lbaf & 15);
    c->timeout_ms = 600000; /* more than a minute was seen; the drive answers at its end only */
    return 0;
}

int sated_nvme_build_sanitize(struct sated_nvme_command *c, uint32_t sanact, bool ause, uint32_t passes, bool oipbp,
                              uint32_t pattern, bool ndas, bool emvs)
{
    bool exits = sanact == SATED_NVME_SANACT_EXIT_FAILURE || sanact == SATED_NVME_SANACT_EXIT_VERIFICATION;
    if (sanact < SATED_NVME_SANACT_EXIT_FAILURE || sanact > SATED_NVME_SANACT_EXIT_VERIFICATION)
        return REFUSE(
            "Sanitize: SANACT is %u, expected 1 exit failure, 2 block erase, 3 overwrite, 4 crypto erase or 5 "
            "exit media verification",
            (unsigned)sanact);
    if (sanact == SATED_NVME_SANACT_OVERWRITE && (passes < 1 || passes > 16))
        return REFUSE("Sanitize: %u overwrite passes, expected 1 to 16", (unsigned)passes);
    if (sanact != SATED_NVME_SANACT_OVERWRITE && (passes || oipbp || pattern))
        return REFUSE("Sanitize: passes, inversion and pattern belong to an overwrite (SANACT 3), not to SANACT %u",
                      (unsigned)sanact);
    if (exits && (ause || ndas || emvs))
        return REFUSE("Sanitize: AUSE, NDAS and EMVS have no meaning when a state is left (SANACT %u)",
                      (unsigned)sanact);
    nvme_begin(c, true, SATED_NVME_ADMIN_SANITIZE, 0, 0);
    /* EMVS 10, NDAS 9, OIPBP 8, OWPASS 7:4 (0 is 16), AUSE 3, SANACT 2:0 */
    c->cdw10 = (uint32_t)emvs << 10 | (uint32_t)ndas << 9 | (uint32_t)oipbp << 8 | (passes & 15) << 4 |
               (uint32_t)ause << 3 | sanact;
    c->cdw11 = pattern;
    return 0;
}

int sated_nvme_build_self_test(struct sated_nvme_command *c, uint32_t nsid, uint32_t code)
{
    if (code != SATED_NVME_SELF_TEST_SHORT && code != SATED_NVME_SELF_TEST_EXTENDED &&
        code != SATED_NVME_SELF_TEST_VENDOR && code != SATED_NVME_SELF_TEST_ABORT)
        return REFUSE("Device Self-test: code %u, expected 1 short, 2 extended, 14 vendor specific or 15 abort",
                      (unsigned)code);
    nvme_begin(c, true, SATED_NVME_ADMIN_SELF_TEST, nsid, 0);
    c->cdw10 = code;
    return 0;
}

static int security(struct sated_nvme_command *c, uint32_t opcode, uint32_t nsid, uint32_t secp, uint32_t spsp,
                    uint32_t nssf, uint32_t data_len)
{
    int rc = nvme_fits("Security: SECP", secp, 8);
    if (rc || (rc = nvme_fits("Security: SPSP", spsp, 16)) || (rc = nvme_fits("Security: NSSF", nssf, 8)))
        return rc;
    nvme_begin(c, true, opcode, nsid, data_len);
    c->cdw10 = secp << 24 | spsp << 8 | nssf;
    c->cdw11 = data_len;
    return 0;
}

int sated_nvme_build_security_send(struct sated_nvme_command *c, uint32_t nsid, uint32_t secp, uint32_t spsp,
                                   uint32_t nssf, uint32_t data_len)
{
    return security(c, SATED_NVME_ADMIN_SECURITY_SEND, nsid, secp, spsp, nssf, data_len);
}

int sated_nvme_build_security_receive(struct sated_nvme_command *c, uint32_t nsid, uint32_t secp, uint32_t spsp,
                                      uint32_t nssf, uint32_t data_len)
{
    return security(c, SATED_NVME_ADMIN_SECURITY_RECEIVE, nsid, secp, spsp, nssf, data_len);
}

int sated_nvme_build_firmware_commit(struct sated_nvme_command *c, uint32_t slot, uint32_t action,
                                     uint32_t boot_partition)
{
    int rc = nvme_fits("Firmware Commit: slot", slot, 3);
    if (rc || (rc = nvme_fits("Firmware Commit: boot partition", boot_partition, 1)))
        return rc;
    if (action > 7 || action == 4 || action == 5)
        return REFUSE("Firmware Commit: action %u, expected 0 to 3, 6 or 7", (unsigned)action);
    nvme_begin(c, true, SATED_NVME_ADMIN_FIRMWARE_COMMIT, 0, 0);
    c->cdw10 = boot_partition << 31 | action << 3 | slot;
    return 0;
}

int sated_nvme_build_directive_receive(struct sated_nvme_command *c, uint32_t nsid, uint32_t dtype, uint32_t doper,
                                       uint32_t dspec, uint32_t data_len)
{
    int rc = feature_data("Directive Receive", data_len);
    if (rc || (rc = nvme_fits("Directive Receive: DTYPE", dtype, 8)) ||
        (rc = nvme_fits("Directive Receive: DOPER", doper, 8)) ||
        (rc = nvme_fits("Directive Receive: DSPEC", dspec, 16)))
        return rc;
    nvme_begin(c, true, SATED_NVME_ADMIN_DIRECTIVE_RECEIVE, nsid, data_len);
    c->cdw10 = data_len ? data_len / 4 - 1 : 0;
    c->cdw11 = dspec << 16 | dtype << 8 | doper;
    return 0;
}

int sated_nvme_build_raw(struct sated_nvme_command *c, bool admin, uint32_t opcode, uint32_t nsid, const uint32_t *cdw,
                         uint32_t data_len)
{
    int rc = nvme_fits("NVMe command: opcode", opcode, 8);
    if (rc)
        return rc;
    if (data_len && ((opcode & 3) == 0 || (opcode & 3) == 3))
        return REFUSE("NVMe command %02Xh: %u bytes of data, but bits 1:0 of its opcode say %s", (unsigned)opcode,
                      (unsigned)data_len, opcode & 3 ? "both ways" : "none");
    nvme_begin(c, admin, opcode, nsid, data_len);
    c->cdw10 = cdw[0];
    c->cdw11 = cdw[1];
    c->cdw12 = cdw[2];
    c->cdw13 = cdw[3];
    c->cdw14 = cdw[4];
    c->cdw15 = cdw[5];
    return 0;
}

int sated_nvme_build_sqe(void *buf, size_t cap, const struct sated_nvme_command *c)
{
    uint8_t *p = buf;
    if (cap < 64)
        return REFUSE("submission queue entry: %zu bytes of room, expected 64", cap);
    memset(p, 0, 64);
    p[0] = c->opcode;
    p[1] = c->flags;
    bytes_put_le32(p + 4, c->nsid);
    bytes_put_le32(p + 8, c->cdw2);
    bytes_put_le32(p + 12, c->cdw3);
    bytes_put_le32(p + 40, c->cdw10);
    bytes_put_le32(p + 44, c->cdw11);
    bytes_put_le32(p + 48, c->cdw12);
    bytes_put_le32(p + 52, c->cdw13);
    bytes_put_le32(p + 56, c->cdw14);
    bytes_put_le32(p + 60, c->cdw15);
    return 64;
}
