/* SPDX-License-Identifier: MIT */
#ifndef SATED_NVME_H
#define SATED_NVME_H

#include <sated/drive.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifndef SATED_STATIC
#pragma GCC visibility push(default)
#endif

/* cdef: begin */

/* NVMe commands as bytes, and what drives answer. Everything here is pure: nothing is sent, allocated or kept, and every
 * call may be made from any thread. Clauses without a name are the NVM Express Base Specification's (revision 2.0c),
 * "NVM" is the NVM Command Set Specification (1.0c), "OCP" the Datacenter NVMe SSD Specification (2.0).
 *
 * A decoded struct begins with `known`: bit i is set when its i-th member holds what the drive told (`known` itself is
 * member 0). A member that is not known is 0 and means nothing. Not known is what lies past the end of the answer, what
 * the standard calls "not reported", and what cannot be; a counter of 128 bits is two halves, the low one first. */

#define SATED_NVME_ALL_NAMESPACES 0xffffffff

/* One command. The transport adds the identifier and the pointers. */
struct sated_nvme_command {
    uint8_t opcode;
    uint8_t flags; /* FUSE 1:0, PSDT 7:6; 0 for all commands built here */
    uint16_t rsvd;
    uint32_t nsid;
    uint32_t cdw2;
    uint32_t cdw3;
    uint32_t cdw10;
    uint32_t cdw11;
    uint32_t cdw12;
    uint32_t cdw13;
    uint32_t cdw14;
    uint32_t cdw15;
    uint32_t data_len;   /* bytes to or from the drive */
    uint32_t direction;  /* 0 none, 1 from the drive, 2 to the drive */
    uint32_t timeout_ms; /* 0: the transport chooses */
    bool admin;          /* on the admin queue */
    uint8_t reserved[3];
};

enum sated_nvme_admin_opcode {
    SATED_NVME_ADMIN_GET_LOG_PAGE = 0x02,
    SATED_NVME_ADMIN_IDENTIFY = 0x06,
    SATED_NVME_ADMIN_SET_FEATURES = 0x09,
    SATED_NVME_ADMIN_GET_FEATURES = 0x0a,
    SATED_NVME_ADMIN_NS_MANAGEMENT = 0x0d,
    SATED_NVME_ADMIN_FIRMWARE_COMMIT = 0x10,
    SATED_NVME_ADMIN_SELF_TEST = 0x14,
    SATED_NVME_ADMIN_NS_ATTACHMENT = 0x15,
    SATED_NVME_ADMIN_DIRECTIVE_RECEIVE = 0x1a,
    SATED_NVME_ADMIN_FORMAT = 0x80,
    SATED_NVME_ADMIN_SECURITY_SEND = 0x81,
    SATED_NVME_ADMIN_SECURITY_RECEIVE = 0x82,
    SATED_NVME_ADMIN_SANITIZE = 0x84,
};

enum sated_nvme_io_opcode {
    SATED_NVME_IO_FLUSH = 0x00,
    SATED_NVME_IO_WRITE = 0x01,
    SATED_NVME_IO_READ = 0x02,
    SATED_NVME_IO_COMPARE = 0x05,
    SATED_NVME_IO_WRITE_ZEROES = 0x08,
    SATED_NVME_IO_DSM = 0x09,
    SATED_NVME_IO_VERIFY = 0x0c,
};

/* What Identify returns (5.17.1). */
enum sated_nvme_cns {
    SATED_NVME_CNS_NS = 0x00,
    SATED_NVME_CNS_CTRL = 0x01,
    SATED_NVME_CNS_NS_LIST = 0x02, /* active namespaces above NSID */
    SATED_NVME_CNS_NS_DESCS = 0x03,
    SATED_NVME_CNS_NVM_SET_LIST = 0x04, /* from cns_specific on */
    SATED_NVME_CNS_CSI_NS = 0x05,
    SATED_NVME_CNS_CSI_CTRL = 0x06,
    SATED_NVME_CNS_CSI_NS_LIST = 0x07,
    SATED_NVME_CNS_INDEPENDENT_NS = 0x08,
    SATED_NVME_CNS_ALLOCATED_LIST = 0x10,
    SATED_NVME_CNS_ALLOCATED_NS = 0x11,
    SATED_NVME_CNS_NS_CTRL_LIST = 0x12, /* controllers attached to NSID, from CNTID on */
    SATED_NVME_CNS_CTRL_LIST = 0x13,
    SATED_NVME_CNS_PRIMARY_CAPS = 0x14,
    SATED_NVME_CNS_SECONDARY_LIST = 0x15,
    SATED_NVME_CNS_NS_GRANULARITY = 0x16,
    SATED_NVME_CNS_UUID_LIST = 0x17,
    SATED_NVME_CNS_DOMAIN_LIST = 0x18,
    SATED_NVME_CNS_ENDURANCE_GROUP_LIST = 0x19,
    SATED_NVME_CNS_CSI_ALLOCATED_LIST = 0x1a,
    SATED_NVME_CNS_CSI_ALLOCATED_NS = 0x1b,
    SATED_NVME_CNS_IO_COMMAND_SETS = 0x1c,
};

enum sated_nvme_lid {
    SATED_NVME_LID_SUPPORTED = 0x00,
    SATED_NVME_LID_ERROR = 0x01,
    SATED_NVME_LID_SMART = 0x02,
    SATED_NVME_LID_FIRMWARE = 0x03,
    SATED_NVME_LID_CHANGED_NS = 0x04,
    SATED_NVME_LID_EFFECTS = 0x05,
    SATED_NVME_LID_SELF_TEST = 0x06,
    SATED_NVME_LID_TELEMETRY_HOST = 0x07,
    SATED_NVME_LID_TELEMETRY_CTRL = 0x08,
    SATED_NVME_LID_ENDURANCE_GROUP = 0x09,
    SATED_NVME_LID_PERSISTENT_EVENT = 0x0d,
    SATED_NVME_LID_SANITIZE = 0x81,
    SATED_NVME_LID_OCP_SMART = 0xc0,
};

enum sated_nvme_fid {
    SATED_NVME_FID_POWER = 0x02,
    SATED_NVME_FID_TEMPERATURE = 0x04,
    SATED_NVME_FID_WRITE_CACHE = 0x06,
    SATED_NVME_FID_APST = 0x0c,
    SATED_NVME_FID_SANITIZE_CONFIG = 0x17,
};

/* Which value of a feature (5.15). */
enum sated_nvme_sel {
    SATED_NVME_SEL_CURRENT = 0,
    SATED_NVME_SEL_DEFAULT = 1,
    SATED_NVME_SEL_SAVED = 2,
    SATED_NVME_SEL_SUPPORTED = 3, /* capabilities: 0 saveable, 1 per namespace, 2 changeable */
};

enum sated_nvme_ses {
    SATED_NVME_SES_NONE = 0,
    SATED_NVME_SES_USER_DATA = 1,
    SATED_NVME_SES_CRYPTO = 2,
};

enum sated_nvme_sanact {
    SATED_NVME_SANACT_EXIT_FAILURE = 1,
    SATED_NVME_SANACT_BLOCK_ERASE = 2,
    SATED_NVME_SANACT_OVERWRITE = 3,
    SATED_NVME_SANACT_CRYPTO_ERASE = 4,
    SATED_NVME_SANACT_EXIT_VERIFICATION = 5,
};

/* Bits 31:26 of dword 12 of Read, Write, Compare, Verify and Write Zeroes (NVM 3.2). */
enum sated_nvme_io_flag {
    SATED_NVME_PRCHK_REF = 1,
    SATED_NVME_PRCHK_APP = 2,
    SATED_NVME_PRCHK_GUARD = 4,
    SATED_NVME_PRACT = 8,
    SATED_NVME_FUA = 16,
    SATED_NVME_LIMITED_RETRY = 32,
};

enum sated_nvme_dsm {
    SATED_NVME_DSM_READ_HINT = 1,
    SATED_NVME_DSM_WRITE_HINT = 2,
    SATED_NVME_DSM_DEALLOCATE = 4,
};

enum sated_nvme_self_test_code {
    SATED_NVME_SELF_TEST_SHORT = 1,
    SATED_NVME_SELF_TEST_EXTENDED = 2,
    SATED_NVME_SELF_TEST_VENDOR = 14,
    SATED_NVME_SELF_TEST_ABORT = 15,
};

/* Bits of Identify Controller (5.17.2.1). */
enum sated_nvme_oacs {
    SATED_NVME_OACS_SECURITY = 0x1,
    SATED_NVME_OACS_FORMAT = 0x2,
    SATED_NVME_OACS_FIRMWARE = 0x4,
    SATED_NVME_OACS_NS_MANAGEMENT = 0x8,
    SATED_NVME_OACS_SELF_TEST = 0x10,
    SATED_NVME_OACS_DIRECTIVES = 0x20,
    SATED_NVME_OACS_MI = 0x40,
    SATED_NVME_OACS_VIRTUALIZATION = 0x80,
    SATED_NVME_OACS_DOORBELL = 0x100,
    SATED_NVME_OACS_LBA_STATUS = 0x200,
    SATED_NVME_OACS_LOCKDOWN = 0x400,
};

enum sated_nvme_oncs {
    SATED_NVME_ONCS_COMPARE = 0x1,
    SATED_NVME_ONCS_WRITE_UNCORRECTABLE = 0x2,
    SATED_NVME_ONCS_DSM = 0x4,
    SATED_NVME_ONCS_WRITE_ZEROES = 0x8,
    SATED_NVME_ONCS_SAVE_SELECT = 0x10,
    SATED_NVME_ONCS_RESERVATIONS = 0x20,
    SATED_NVME_ONCS_TIMESTAMP = 0x40,
    SATED_NVME_ONCS_VERIFY = 0x80,
    SATED_NVME_ONCS_COPY = 0x100,
};

enum sated_nvme_fna {
    SATED_NVME_FNA_FORMAT_ALL = 0x1, /* a format changes all namespaces */
    SATED_NVME_FNA_ERASE_ALL = 0x2,  /* a secure erase hits all namespaces */
    SATED_NVME_FNA_CRYPTO = 0x4,
    SATED_NVME_FNA_NO_BROADCAST = 0x8, /* NSID FFFFFFFFh is not supported */
};

enum sated_nvme_sanicap {
    SATED_NVME_SANICAP_CRYPTO = 0x1,
    SATED_NVME_SANICAP_BLOCK = 0x2,
    SATED_NVME_SANICAP_OVERWRITE = 0x4,
    SATED_NVME_SANICAP_VERIFICATION = 0x8,
    SATED_NVME_SANICAP_NDI = 0x20000000, /* no-deallocate is inhibited; bits 31:30 are NODMMAS */
};

enum sated_nvme_lpa {
    SATED_NVME_LPA_SMART_PER_NS = 0x1,
    SATED_NVME_LPA_EFFECTS = 0x2,
    SATED_NVME_LPA_EXTENDED = 0x4, /* the log page offset and NUMDU */
    SATED_NVME_LPA_TELEMETRY = 0x8,
    SATED_NVME_LPA_PERSISTENT_EVENT = 0x10,
    SATED_NVME_LPA_SCOPE = 0x20,
    SATED_NVME_LPA_TELEMETRY_AREA_4 = 0x40,
};

enum sated_nvme_oaes {
    SATED_NVME_OAES_NS_CHANGE = 0x100,
    SATED_NVME_OAES_FIRMWARE = 0x200,
    SATED_NVME_OAES_ANA = 0x800,
    SATED_NVME_OAES_PREDICTABLE_LATENCY = 0x1000,
    SATED_NVME_OAES_LBA_STATUS = 0x2000,
    SATED_NVME_OAES_ENDURANCE_GROUP = 0x4000,
    SATED_NVME_OAES_SHUTDOWN = 0x8000,
    SATED_NVME_OAES_ZONE = 0x8000000,
};

enum sated_nvme_vwc {
    SATED_NVME_VWC_PRESENT = 0x1,
    SATED_NVME_VWC_FLUSH_NOT_ALL = 0x4, /* bits 2:1: 10b Flush of all namespaces is not supported, 11b it is */
    SATED_NVME_VWC_FLUSH_ALL = 0x6,
};

/* Critical warnings of the SMART log (5.16.1.3) and of an endurance group (5.16.1.10: bits 0, 2 and 3). */
enum sated_nvme_warning {
    SATED_NVME_WARNING_SPARE = 0x1,
    SATED_NVME_WARNING_TEMPERATURE = 0x2,
    SATED_NVME_WARNING_RELIABILITY = 0x4,
    SATED_NVME_WARNING_READ_ONLY = 0x8,
    SATED_NVME_WARNING_BACKUP = 0x10,
    SATED_NVME_WARNING_PMR = 0x20,
};

/* Values that cannot be taken as they stand. */
enum sated_nvme_doubt {
    SATED_NVME_DOUBT_SPARE = 0x1,           /* available spare above 100 %: not known */
    SATED_NVME_DOUBT_SPARE_THRESHOLD = 0x2, /* threshold above 100 %: not known */
    SATED_NVME_DOUBT_USED_SATURATED = 0x4,  /* percentage used 255: at least that much */
    SATED_NVME_DOUBT_TEMPERATURE = 0x8,     /* a temperature of FFFFh: not known */
    SATED_NVME_DOUBT_ZERO_UNITS = 0x10,     /* data units 0: none or not reported, so not known */
};

enum sated_nvme_effect {
    SATED_NVME_EFFECT_SUPPORTED = 0x1,
    SATED_NVME_EFFECT_LBA_CONTENT = 0x2,
    SATED_NVME_EFFECT_NS_CAPABILITY = 0x4,
    SATED_NVME_EFFECT_NS_INVENTORY = 0x8,
    SATED_NVME_EFFECT_CTRL_CAPABILITY = 0x10,
    SATED_NVME_EFFECT_ONE_PER_NS = 0x10000, /* bits 18:16 are a number */
    SATED_NVME_EFFECT_ALONE = 0x20000,
};

/* The state of the most recent sanitize operation (5.16.1.25). */
enum sated_nvme_sanitize_state {
    SATED_NVME_SANITIZE_NEVER = 0,
    SATED_NVME_SANITIZE_OK = 1,
    SATED_NVME_SANITIZE_RUNNING = 2,
    SATED_NVME_SANITIZE_FAILED = 3,
    SATED_NVME_SANITIZE_OK_NO_DEALLOCATE = 4,
};

/* Identify (5.17). @param cns enum sated_nvme_cns; @param nsid, @param cntid, @param csi (command set) and
 * @param cns_specific (dword 11 15:0) as the CNS wants them, else 0. Return: 0 or SATED_PARSE. */
int sated_nvme_build_identify(struct sated_nvme_command *c, uint32_t cns, uint32_t nsid, uint32_t cntid, uint32_t csi,
                              uint32_t cns_specific);

/* Get Log Page (5.16). @param data_len bytes, a multiple of 4; @param offset bytes, a multiple of 4; @param lsp 0 to 127;
 * @param lsi 16 bits, such as the endurance group; @param rae leave the asynchronous event pending; @param csi command
 * set; @param uuid_index 0 to 127. Return: 0 or SATED_PARSE. */
int sated_nvme_build_get_log(struct sated_nvme_command *c, uint32_t lid, uint32_t nsid, uint32_t data_len,
                             uint64_t offset, uint32_t lsp, uint32_t lsi, bool rae, uint32_t csi, uint32_t uuid_index);

/* Get Features (5.15) and Set Features (5.27). @param fid 0 to 255; @param sel enum sated_nvme_sel; @param save also for
 * after a reset; @param data_len bytes of the feature's data, 0 for most. Return: 0 or SATED_PARSE. */
int sated_nvme_build_get_features(struct sated_nvme_command *c, uint32_t fid, uint32_t nsid, uint32_t sel,
                                  uint32_t cdw11, uint32_t data_len);
int sated_nvme_build_set_features(struct sated_nvme_command *c, uint32_t fid, uint32_t nsid, bool save, uint32_t cdw11,
                                  uint32_t cdw12, uint32_t data_len);

/* Set Features of one kind (5.27.1): power state (@param ps 0 to 31, @param workload_hint 0 to 7), volatile write cache,
 * autonomous power state transitions (256 bytes of data), sanitize configuration (@param nodrm: a no-deallocate that is
 * inhibited is a warning, not an error). Return: 0 or SATED_PARSE. */
int sated_nvme_build_set_power_state(struct sated_nvme_command *c, uint32_t ps, uint32_t workload_hint, bool save);
int sated_nvme_build_set_write_cache(struct sated_nvme_command *c, bool enable, bool save);
int sated_nvme_build_set_apst(struct sated_nvme_command *c, bool enable, bool save);
int sated_nvme_build_set_sanitize_config(struct sated_nvme_command *c, bool nodrm, bool save);

/* Get Features of a temperature threshold (5.27.1). @param sensor 0 composite, 1 to 8; @param under the lower one. */
int sated_nvme_build_get_temperature_threshold(struct sated_nvme_command *c, uint32_t sensor, bool under, uint32_t sel);

/* One transition of the APST table: from the state that it stands for, after so long, to this one. */
struct sated_nvme_transition {
    uint32_t idle_ms; /* 0: none */
    uint32_t state;   /* a non-operational power state */
};

/* The data of sated_nvme_build_set_apst. @param cap at least 256; @param n transitions, at most 32, for the states from 0
 * on. Return: 256 or SATED_PARSE. */
int sated_nvme_build_apst_table(void *buf, size_t cap, const struct sated_nvme_transition *transitions, size_t n);

/* Format NVM (5.14). @param lbaf index of the format, 0 to 63; @param mset metadata in the extended LBA; @param pi type 0
 * to 3; @param pil protection information first; @param ses enum sated_nvme_ses. Return: 0 or SATED_PARSE. */
int sated_nvme_build_format(struct sated_nvme_command *c, uint32_t nsid, uint32_t lbaf, bool mset, uint32_t pi,
                            bool pil, uint32_t ses);

/* Sanitize (5.24; media verification as of revision 2.1), of the whole subsystem. @param sanact enum sated_nvme_sanact; @param ause unrestricted exit after a
 * failure; for overwrite @param passes 1 to 16, @param oipbp inverted between passes, @param pattern (else 0);
 * @param ndas no deallocation afterwards; @param emvs enter media verification. Return: 0 or SATED_PARSE. */
int sated_nvme_build_sanitize(struct sated_nvme_command *c, uint32_t sanact, bool ause, uint32_t passes, bool oipbp,
                              uint32_t pattern, bool ndas, bool emvs);

/* What a new namespace is to be (5.23, NVM 4.1.6). */
struct sated_nvme_ns_create {
    uint64_t nsze; /* in blocks of the format */
    uint64_t ncap;
    uint32_t lbaf; /* index of the format, 0 to 63 */
    uint32_t dps;
    uint32_t anagrpid;
    uint16_t nvmsetid;
    uint16_t endgid;
    bool extended; /* metadata in the extended LBA */
    bool shared;   /* may be attached to several controllers (NMIC) */
    uint8_t reserved[6];
};

/* Namespace Management (5.23): create (the new NSID is in dword 0 of the answer) and delete.
 * @param nsid SATED_NVME_ALL_NAMESPACES deletes all. Return: 0 or SATED_PARSE. */
int sated_nvme_build_ns_create(struct sated_nvme_command *c, uint32_t csi);
int sated_nvme_build_ns_delete(struct sated_nvme_command *c, uint32_t nsid);

/* The data of sated_nvme_build_ns_create. @param cap at least 4096. Return: 4096 or SATED_PARSE. */
int sated_nvme_build_ns_data(void *buf, size_t cap, const struct sated_nvme_ns_create *ns);

/* Namespace Attachment (5.22). Return: 0 or SATED_PARSE. */
int sated_nvme_build_ns_attach(struct sated_nvme_command *c, uint32_t nsid);
int sated_nvme_build_ns_detach(struct sated_nvme_command *c, uint32_t nsid);

/* The data of an attachment: a Controller List (4.4.1). @param cap at least 4096; @param ids ascending controller
 * identifiers, @param n 1 to 2047 of them. Return: 4096 or SATED_PARSE. */
int sated_nvme_build_ctrl_list(void *buf, size_t cap, const uint16_t *ids, size_t n);

/* Dataset Management (NVM 3.2.3). @param ranges 1 to 256; @param attributes enum sated_nvme_dsm. Return: 0 or
 * SATED_PARSE. */
int sated_nvme_build_dsm(struct sated_nvme_command *c, uint32_t nsid, uint32_t ranges, uint32_t attributes);

struct sated_nvme_range {
    uint64_t slba;
    uint32_t nlb;        /* blocks, from 1 */
    uint32_t attributes; /* context attributes; 0 */
};

/* The data of sated_nvme_build_dsm: 16 bytes a range. Return: 16 x n or SATED_PARSE. */
int sated_nvme_build_dsm_ranges(void *buf, size_t cap, const struct sated_nvme_range *ranges, size_t n);

/* Flush (7.1). @param nsid SATED_NVME_ALL_NAMESPACES where VWC says that it is supported. Return: 0 or SATED_PARSE. */
int sated_nvme_build_flush(struct sated_nvme_command *c, uint32_t nsid);

/* Read, Write, Compare, Verify, Write Zeroes (NVM 3.2). @param slba first block; @param blocks 1 to 65536;
 * @param block_bytes of one block with its interleaved metadata; @param flags enum sated_nvme_io_flag; @param deac
 * deallocate. Return: 0 or SATED_PARSE. */
int sated_nvme_build_read(struct sated_nvme_command *c, uint32_t nsid, uint64_t slba, uint32_t blocks,
                          uint32_t block_bytes, uint32_t flags);
int sated_nvme_build_write(struct sated_nvme_command *c, uint32_t nsid, uint64_t slba, uint32_t blocks,
                           uint32_t block_bytes, uint32_t flags);
int sated_nvme_build_compare(struct sated_nvme_command *c, uint32_t nsid, uint64_t slba, uint32_t blocks,
                             uint32_t block_bytes, uint32_t flags);
int sated_nvme_build_verify(struct sated_nvme_command *c, uint32_t nsid, uint64_t slba, uint32_t blocks,
                            uint32_t flags);
int sated_nvme_build_write_zeroes(struct sated_nvme_command *c, uint32_t nsid, uint64_t slba, uint32_t blocks,
                                  bool deac, uint32_t flags);

/* Device Self-test (5.9). @param nsid 0 the controller only, SATED_NVME_ALL_NAMESPACES, or one;
 * @param code enum sated_nvme_self_test_code. Return: 0 or SATED_PARSE. */
int sated_nvme_build_self_test(struct sated_nvme_command *c, uint32_t nsid, uint32_t code);

/* Security Send (5.26) and Receive (5.25). @param secp protocol; @param spsp 16 bits of its own; @param nssf 8 bits;
 * @param data_len bytes. Return: 0 or SATED_PARSE. */
int sated_nvme_build_security_send(struct sated_nvme_command *c, uint32_t nsid, uint32_t secp, uint32_t spsp,
                                   uint32_t nssf, uint32_t data_len);
int sated_nvme_build_security_receive(struct sated_nvme_command *c, uint32_t nsid, uint32_t secp, uint32_t spsp,
                                      uint32_t nssf, uint32_t data_len);

/* Firmware Commit (5.12). @param slot 0 to 7; @param action 0 to 3, 6 or 7; @param boot_partition 0 or 1. */
int sated_nvme_build_firmware_commit(struct sated_nvme_command *c, uint32_t slot, uint32_t action,
                                     uint32_t boot_partition);

/* Directive Receive (5.10). @param data_len bytes, 0 or a multiple of 4. Return: 0 or SATED_PARSE. */
int sated_nvme_build_directive_receive(struct sated_nvme_command *c, uint32_t nsid, uint32_t dtype, uint32_t doper,
                                       uint32_t dspec, uint32_t data_len);

/* Any command. The direction is that of the opcode's bits 1:0. @param cdw dwords 10 to 15. Return: 0 or
 * SATED_PARSE. */
int sated_nvme_build_raw(struct sated_nvme_command *c, bool admin, uint32_t opcode, uint32_t nsid, const uint32_t *cdw,
                         uint32_t data_len);

/* The submission queue entry (3.3.3.1) without identifier and pointers. @param cap at least 64. Return: 64 or
 * SATED_PARSE. */
int sated_nvme_build_sqe(void *buf, size_t cap, const struct sated_nvme_command *c);

/* A completion's status: the 15 bits above the phase bit (3.3.3.2.1), as the kernel returns them. */
struct sated_nvme_status {
    uint8_t sct;  /* status code type */
    uint8_t sc;   /* status code */
    uint8_t crd;  /* command retry delay: 0, or which of the three of Identify Controller */
    uint8_t more; /* the error log tells more */
    uint8_t dnr;  /* do not retry */
    uint8_t reserved[3];
};

/* @param status above the phase bit. Return: 0, or SATED_PARSE where it has more than 15 bits. */
int sated_nvme_decode_status(uint32_t status, struct sated_nvme_status *out);

/* The names of a status code type and of a status code, such as "Invalid Field in Command". Return: a static string,
 * "unknown ..." where there is none. */
const char *sated_nvme_sct_name(uint32_t sct);
const char *sated_nvme_sc_name(uint32_t sct, uint32_t sc);

/* Identify Controller (5.17.2.1) in the standard's own parts: bytes 0 to 255, 256 to 511, 512 to 1023, the power states.
 * Temperatures are in kelvin. */
struct sated_nvme_id_ctrl_general {
    uint64_t known;
    char sn[24], mn[48], fr[16];
    uint8_t fguid[16];
    uint32_t ver;          /* major 31:16, minor 15:8, tertiary 7:0; not known before 1.2 */
    uint32_t rtd3r, rtd3e; /* microseconds to resume and to enter RTD3 */
    uint32_t oaes;         /* enum sated_nvme_oaes, and bit 31 */
    uint32_t ctratt, ieee;
    uint16_t vid, ssvid, cntlid, rrls;
    uint16_t crdt1, crdt2, crdt3; /* command retry delays in 100 ms */
    uint8_t rab, cmic;
    uint8_t mdts;      /* largest transfer: 2^mdts smallest pages; 0 no limit */
    uint8_t cntrltype; /* 1 I/O, 2 discovery, 3 administrative */
    uint8_t nvmsr, vwci, mec;
};

struct sated_nvme_id_ctrl_admin {
    uint64_t known;
    uint64_t tnvmcap[2], unvmcap[2], megcap[2]; /* bytes */
    uint32_t hmpre, hmmin;                      /* host memory buffer, in 4 KiB */
    uint32_t rpmbs;
    uint32_t sanicap; /* enum sated_nvme_sanicap, and NODMMAS in bits 31:30 */
    uint32_t hmminds, anagrpmax, nanagrpid, pels;
    uint16_t oacs; /* enum sated_nvme_oacs */
    uint16_t wctemp, cctemp;
    uint16_t mtfa;  /* in 100 ms */
    uint16_t edstt; /* minutes of the extended self-test */
    uint16_t kas, hctma, mntmt, mxtmt, hmmaxd, nsetidmax, endgidmax, domainid;
    uint8_t acl, aerl, frmw;
    uint8_t lpa;  /* enum sated_nvme_lpa */
    uint8_t elpe; /* entries of the error log, less one */
    uint8_t npss; /* power states, less one */
    uint8_t avscc, apsta, dsto, fwug, anatt, anacap;
};

struct sated_nvme_id_ctrl_nvm {
    uint64_t known;
    uint64_t maxdna[2];
    char subnqn[256];
    uint32_t nn; /* largest NSID */
    uint32_t sgls, mnan, maxcna;
    uint32_t ioccsz, iorcsz; /* fabrics */
    uint16_t oncs;           /* enum sated_nvme_oncs */
    uint16_t maxcmd, fuses, awun, awupf, acwu, ocfs, icdoff, ofcs;
    uint8_t sqes, cqes;
    uint8_t fna; /* enum sated_nvme_fna */
    uint8_t vwc; /* enum sated_nvme_vwc */
    uint8_t icsvscc, nwpc, fcatt, msdbd;
};

struct sated_nvme_power_state {
    uint64_t known;
    uint32_t mp_uw;              /* at most, in microwatts */
    uint32_t idlp_uw, actp_uw;   /* idle, active */
    uint32_t enlat_us, exlat_us; /* to enter and to leave */
    uint8_t nops;                /* 1: non-operational, no I/O */
    uint8_t rrt, rrl, rwt, rwl;  /* relative throughput and latency, 0 best */
    uint8_t apw;                 /* workload of the active power */
};

struct sated_nvme_id_ctrl {
    uint64_t known;
    struct sated_nvme_id_ctrl_general general;
    struct sated_nvme_id_ctrl_admin admin;
    struct sated_nvme_id_ctrl_nvm nvm;
    uint32_t n_psd;
    struct sated_nvme_power_state psd[32];
};

/* @param n up to 4096 bytes. Return: 0; SATED_PARSE without a byte. */
int sated_nvme_decode_id_ctrl(const void *data, size_t n, struct sated_nvme_id_ctrl *out);

struct sated_nvme_lba_format {
    uint64_t known;
    uint32_t block_bytes; /* not known where LBADS is below 9: the format is not available */
    uint16_t ms;          /* bytes of metadata a block */
    uint8_t lbads;
    uint8_t rp; /* relative performance, 0 best */
};

/* Identify Namespace (NVM 4.1.5.1). */
struct sated_nvme_id_ns {
    uint64_t known;
    uint64_t nsze, ncap, nuse; /* in blocks of the format in use */
    uint64_t nvmcap[2];        /* bytes of media; its own number */
    uint8_t nguid[16], eui64[8];
    uint32_t mcl, anagrpid;
    uint16_t nawun, nawupf, nacwu, nabsn, nabo, nabspf, noiob, npwg, npwa, npdg, npda, nows, mssrl, nvmsetid, endgid;
    uint8_t nsfeat, nlbaf, flbas, mc, dpc, dps;
    uint8_t nmic; /* 1: may be attached to several controllers */
    uint8_t rescap, fpi;
    uint8_t dlfeat; /* 2:0 deallocated blocks read as 1 zeros, 2 ones; 3 Write Zeroes deallocates; 4 guard FFFFh */
    uint8_t msrc, nulbaf, nsattr;
    uint8_t extended;                     /* 1: the metadata is part of the block that is transferred */
    uint32_t format;                      /* index of the format in use */
    uint32_t block_bytes, metadata_bytes; /* of the format in use */
    uint64_t capacity_bytes, used_bytes;  /* nsze and nuse of such blocks */
    uint32_t n_lbaf;
    struct sated_nvme_lba_format lbaf[64];
};

/* @param n up to 4096 bytes. Return: 0; SATED_PARSE without a byte, or where the format in use is none of those listed
 * (`out` holds the rest all the same). */
int sated_nvme_decode_id_ns(const void *data, size_t n, struct sated_nvme_id_ns *out);

/* I/O Command Set Independent Identify Namespace (CNS 08h, 5.17.2). */
struct sated_nvme_independent_ns {
    uint64_t known;
    uint32_t anagrpid;
    uint16_t nvmsetid, endgid;
    uint8_t nsfeat, nmic, rescap, fpi, nsattr;
    uint8_t nstat; /* bit 0: ready */
};

/* Return: 0; SATED_PARSE without a byte. */
int sated_nvme_decode_independent_ns(const void *data, size_t n, struct sated_nvme_independent_ns *out);

/* Extended LBA format. */
struct sated_nvme_elba_format {
    uint8_t sts;  /* bits of the storage tag */
    uint8_t pif;  /* protection information format: 0 16-bit, 1 32-bit, 2 64-bit guard */
    uint8_t qpif; /* of a format that `pif` = 3 leaves to it */
    uint8_t reserved;
};

/* NVM Command Set Identify Namespace (CNS 05h, CSI 0; NVM 4.1.5). */
struct sated_nvme_nvm_ns {
    uint64_t known;
    uint64_t lbstm; /* mask of the storage tag */
    uint8_t pic;    /* protection information capabilities */
    uint32_t n_elbaf;
    struct sated_nvme_elba_format elbaf[64];
};

/* Return: 0; SATED_PARSE without a byte. */
int sated_nvme_decode_nvm_ns(const void *data, size_t n, struct sated_nvme_nvm_ns *out);

/* NVM Command Set Identify Controller (CNS 06h, CSI 0; NVM 4.1.5). Sizes are 2^x smallest pages; 0 is no limit. */
struct sated_nvme_nvm_ctrl {
    uint64_t known;
    uint8_t vsl;    /* Verify */
    uint8_t wzsl;   /* Write Zeroes */
    uint8_t wusl;   /* Write Uncorrectable */
    uint8_t dmrl;   /* ranges of Dataset Management; 0 no limit */
    uint32_t dmrsl; /* blocks of one range; 0 no limit */
    uint64_t dmsl;  /* blocks of all ranges; 0 no limit */
};

/* Return: 0; SATED_PARSE without a byte. */
int sated_nvme_decode_nvm_ctrl(const void *data, size_t n, struct sated_nvme_nvm_ctrl *out);

struct sated_nvme_granularity {
    uint64_t nsze; /* bytes that a new namespace's size should be a multiple of; 0 is not told */
    uint64_t ncap;
};

/* Namespace Granularity List (CNS 16h, NVM 4.1.5). */
struct sated_nvme_granularity_list {
    uint64_t known;
    uint32_t attributes; /* bit 0: descriptor i is of LBA format i, else one is for all */
    uint32_t truncated;  /* 1: it says more descriptors than came */
    uint32_t n_granularity;
    uint32_t reserved;
    struct sated_nvme_granularity granularity[16];
};

/* Return: 0; SATED_PARSE where it says more than 16 descriptors, or without their number. */
int sated_nvme_decode_granularity_list(const void *data, size_t n, struct sated_nvme_granularity_list *out);

struct sated_nvme_uuid {
    uint8_t association; /* 0 none, 1 of the PCI vendor, 2 of the subsystem's vendor */
    uint8_t uuid[16];
};

/* UUID List (CNS 17h, 5.17.2); an entry's index in it, from 1, is the UUID index of other commands. */
struct sated_nvme_uuid_list {
    uint64_t known;
    uint32_t truncated; /* 1: the list does not end within the answer */
    uint32_t n_uuids;
    struct sated_nvme_uuid uuids[127];
};

/* Return: 0; SATED_PARSE without the first entry. */
int sated_nvme_decode_uuid_list(const void *data, size_t n, struct sated_nvme_uuid_list *out);

/* FLBAS taken apart (NVM 4.1.5.1). @param formats how many there are; @param format receives the index, @param extended
 * whether metadata is part of the block. Return: 0, or SATED_PARSE for an index that is not below `formats`. */
int sated_nvme_decode_flbas(uint32_t flbas, uint32_t formats, uint32_t *format, bool *extended);

/* Namespace list (4.4.2) of Identify, and the Changed Namespace List log. */
struct sated_nvme_ns_list {
    uint64_t known;
    uint32_t truncated; /* 1: more than 1024 changed (the log), or the answer ended before the list did */
    uint32_t n_nsid;
    uint32_t nsid[1024];
};

/* Return: 0; SATED_PARSE without a whole identifier. */
int sated_nvme_decode_ns_list(const void *data, size_t n, struct sated_nvme_ns_list *out);

/* Controller list (4.4.1). */
struct sated_nvme_ctrl_list {
    uint64_t known;
    uint32_t truncated; /* 1: it says more identifiers than came */
    uint32_t n_cntlid;
    uint16_t cntlid[2048];
};

/* Return: 0; SATED_PARSE without its count. */
int sated_nvme_decode_ctrl_list(const void *data, size_t n, struct sated_nvme_ctrl_list *out);

/* Namespace Identification Descriptors (5.17.2.3). */
struct sated_nvme_ns_descs {
    uint64_t known;
    uint8_t eui64[8], nguid[16], uuid[16];
    uint8_t csi;       /* command set: 0 NVM, 1 key value, 2 zoned */
    uint8_t truncated; /* 1: the list does not end within the answer */
};

/* Return: 0; SATED_PARSE for a descriptor of a wrong length (`out` holds those before it). */
int sated_nvme_decode_ns_descs(const void *data, size_t n, struct sated_nvme_ns_descs *out);

/* An entry of the Error Information log (5.16.1.2), newest first. */
struct sated_nvme_error {
    uint64_t known;                /* only error_count where it is 0: the entry is empty */
    uint64_t error_count, lba, cs; /* cs: command specific information */
    uint32_t nsid;
    uint16_t sqid, cmdid;
    uint16_t status_field; /* above the phase bit: what sated_nvme_decode_status takes */
    uint16_t parm_err_loc; /* byte 7:0, bit 10:8; not known (FFFFh): none in particular */
    uint16_t trtype_spec_info;
    uint8_t phase_tag, vs, trtype;
};

struct sated_nvme_error_log {
    uint64_t known;
    uint32_t truncated; /* 1: a part of an entry, or more than 256 entries, were left out */
    uint32_t n_entries;
    struct sated_nvme_error entries[256];
};

/* Return: 0; SATED_PARSE without a whole entry. */
int sated_nvme_decode_error_log(const void *data, size_t n, struct sated_nvme_error_log *out);

struct sated_nvme_sensor {
    uint64_t known;
    uint16_t sensor; /* 1 to 8 */
    uint16_t kelvin;
};

/* SMART / Health Information (5.16.1.3). Data units are 512,000 bytes, rounded up. */
struct sated_nvme_smart_log {
    uint64_t known;
    uint8_t critical_warning;                        /* enum sated_nvme_warning */
    uint8_t avail_spare, spare_thresh, percent_used; /* percent */
    uint8_t endu_grp_crit_warn_sumry;
    uint8_t doubts;       /* enum sated_nvme_doubt */
    uint16_t temperature; /* composite, kelvin */
    uint64_t data_units_read[2], data_units_written[2], host_reads[2], host_writes[2];
    uint64_t ctrl_busy_time[2]; /* minutes */
    uint64_t power_cycles[2], power_on_hours[2], unsafe_shutdowns[2], media_errors[2], num_err_log_entries[2];
    uint32_t warning_temp_time, critical_comp_time; /* minutes */
    uint32_t thm_temp1_trans_count, thm_temp2_trans_count;
    uint32_t thm_temp1_total_time, thm_temp2_total_time; /* seconds */
    uint32_t n_sensors;                                  /* those that report */
    struct sated_nvme_sensor sensors[8];
};

/* Return: 0; SATED_PARSE without a byte. */
int sated_nvme_decode_smart_log(const void *data, size_t n, struct sated_nvme_smart_log *out);

/* The data of Get Features for feature 0Ch (5.27.1): from which state, after how long, to which one. */
struct sated_nvme_apst {
    uint64_t known;
    uint32_t n_transitions; /* one for each state from 0 on */
    uint32_t reserved;
    struct sated_nvme_transition transitions[32];
};

/* Return: 0; SATED_PARSE without a whole entry. */
int sated_nvme_decode_apst(const void *data, size_t n, struct sated_nvme_apst *out);

/* A temperature threshold as Get Features returns it in dword 0. @param kelvin receives it.
 * Return: 1 where one is set, 0 where none is (0 and FFFFh). */
int sated_nvme_decode_temperature_threshold(uint32_t dw0, uint32_t *kelvin);

struct sated_nvme_firmware_slot {
    uint64_t known;
    uint32_t slot; /* 1 to 7 */
    char revision[16];
};

/* Firmware Slot Information (5.16.1.4). */
struct sated_nvme_firmware_log {
    uint64_t known;
    uint8_t afi, active; /* the slot that runs */
    uint8_t next;        /* the slot of the next controller level reset, if another was chosen */
    uint32_t n_slots;    /* those that hold a revision */
    struct sated_nvme_firmware_slot slots[7];
};

/* Return: 0; SATED_PARSE without a byte. */
int sated_nvme_decode_firmware_log(const void *data, size_t n, struct sated_nvme_firmware_log *out);

/* Commands Supported and Effects (5.16.1.6): by opcode, enum sated_nvme_effect. */
struct sated_nvme_effects_log {
    uint64_t known;
    uint32_t acs[256], iocs[256];
};

/* Return: 0; SATED_PARSE without a byte. */
int sated_nvme_decode_effects_log(const void *data, size_t n, struct sated_nvme_effects_log *out);

struct sated_nvme_self_test_result {
    uint64_t known;
    uint64_t poh;  /* power-on hours when it ended */
    uint64_t flba; /* first LBA that failed */
    uint32_t nsid;
    uint8_t code;   /* enum sated_nvme_self_test_code */
    uint8_t result; /* 0 passed, 1 aborted by a command, 2 by a reset, 3 by a removed namespace, 4 by a format, 5 fatal
                     * error, 6 an unknown segment failed, 7 segments failed, 8 aborted otherwise, 9 by a sanitize */
    uint8_t segment, sct, sc;
    uint8_t reserved[3];
};

/* Device Self-test (5.16.1.7), newest first. */
struct sated_nvme_self_test_log {
    uint64_t known;
    uint8_t operation;  /* what runs: 0 none, else as `code` */
    uint8_t completion; /* percent of what runs */
    uint8_t truncated;  /* 1: the answer ended before the twentieth result */
    uint32_t n_results; /* those that are used */
    struct sated_nvme_self_test_result results[20];
};

/* Return: 0; SATED_PARSE without a byte. */
int sated_nvme_decode_self_test_log(const void *data, size_t n, struct sated_nvme_self_test_log *out);

/* The header of a telemetry log (5.16.1.8 and 9); the last block of each area, in blocks of 512 bytes. */
struct sated_nvme_telemetry_header {
    uint64_t known;
    uint8_t lid;             /* 07h host, 08h controller initiated */
    uint8_t host_generation; /* of LID 07h */
    uint8_t ctrl_available, ctrl_generation;
    uint32_t ieee, area1_last, area2_last, area3_last, area4_last;
    uint8_t reason[128];
};

/* Return: 0; SATED_PARSE without a byte. */
int sated_nvme_decode_telemetry_header(const void *data, size_t n, struct sated_nvme_telemetry_header *out);

/* Endurance Group Information (5.16.1.10). Data and media units are 10^9 bytes, rounded up. */
struct sated_nvme_endurance_group_log {
    uint64_t known;
    uint8_t critical_warning; /* enum sated_nvme_warning */
    uint8_t features, avl_spare, avl_spare_threshold, percent_used;
    uint8_t doubts; /* enum sated_nvme_doubt */
    uint16_t domainid;
    uint64_t endurance_estimate[2], data_units_read[2], data_units_written[2], media_units_written[2];
    uint64_t host_read_cmds[2], host_write_cmds[2], media_data_integrity_err[2], num_err_info_log_entries[2];
    uint64_t tegcap[2], uegcap[2]; /* bytes */
};

/* Return: 0; SATED_PARSE without a byte. */
int sated_nvme_decode_endurance_group_log(const void *data, size_t n, struct sated_nvme_endurance_group_log *out);

/* The header of the Persistent Event log (5.16.1.14). */
struct sated_nvme_persistent_event_header {
    uint64_t known;
    uint64_t tll;       /* bytes of the whole log */
    uint64_t timestamp; /* milliseconds 47:0, origin and synchronisation above (feature 0Eh) */
    uint64_t poh[2], pcc;
    uint32_t tnev; /* events */
    uint32_t rci;
    uint16_t lhl, vid, ssvid, generation;
    uint8_t lid, revision;
    char sn[24], mn[48], subnqn[256];
    uint8_t supported[32]; /* bit map of event types */
};

/* Return: 0; SATED_PARSE without a byte. */
int sated_nvme_decode_persistent_event_header(const void *data, size_t n,
                                              struct sated_nvme_persistent_event_header *out);

/* Sanitize Status (5.16.1.25). Estimates in seconds. */
struct sated_nvme_sanitize_log {
    uint64_t known;
    uint16_t sprog, sstat;
    uint8_t state;                                   /* enum sated_nvme_sanitize_state */
    uint8_t passes;                                  /* overwrite passes done */
    uint8_t global_data_erased;                      /* 1: nothing was written since the last one that succeeded */
    uint32_t progress;                               /* of 65536; known while one runs */
    uint32_t scdw10;                                 /* dword 10 of the command */
    uint32_t eto, etbe, etce, etond, etbend, etcend; /* overwrite, block erase, crypto erase; without deallocation */
    uint32_t etpvds;                                 /* deallocation after verification (2.1), unless 0 */
    uint8_t sans;  /* sanitize state (2.1), unless 0: 1 and 2 restricted, 3 and 4 unrestricted, of which the first is
                    * processing and the second failure, 5 media verification, 6 deallocation after it */
    uint8_t fails; /* in which state it failed (2.1), unless 0 */
};

/* Return: 0; SATED_PARSE without a byte. */
int sated_nvme_decode_sanitize_log(const void *data, size_t n, struct sated_nvme_sanitize_log *out);

/* SMART / Health Information Extended, log C0h (OCP). Physical media units are bytes. */
struct sated_nvme_ocp_smart_log {
    uint64_t known;
    uint64_t physical_media_units_written[2], physical_media_units_read[2];
    uint64_t bad_user_nand_blocks_raw, bad_system_nand_blocks_raw;
    uint16_t bad_user_nand_blocks_normalized, bad_system_nand_blocks_normalized;
    uint64_t xor_recovery_count, uncorrectable_read_error_count, soft_ecc_error_count;
    uint32_t end_to_end_detected_errors, end_to_end_corrected_errors;
    uint8_t system_data_percent_used;
    uint64_t refresh_counts;
    uint32_t max_user_data_erase_count, min_user_data_erase_count;
    uint8_t thermal_throttling_events, thermal_throttling_status;
    uint8_t dssd_errata_version, dssd_major_version;
    uint16_t dssd_point_version, dssd_minor_version;
    uint64_t pcie_correctable_error_count;
    uint32_t incomplete_shutdowns;
    uint8_t percent_free_blocks;
    uint16_t capacitor_health;
    uint64_t unaligned_io, security_version_number, total_nuse;
    uint64_t plp_start_count[2], endurance_estimate[2];
    uint64_t pcie_link_retraining_count, power_state_change_count;
    uint16_t log_page_version;
};

/* Return: 0; SATED_PARSE where the page does not carry OCP's GUID: C0h is a vendor's own page then. */
int sated_nvme_decode_ocp_smart_log(const void *data, size_t n, struct sated_nvme_ocp_smart_log *out);

/* ---- Sending (everything above only makes and reads bytes) ---- */

/* Send a command, on the admin queue to the controller or on an I/O queue to the namespace, whatever c->admin says, and
 * wait for its answer; see sated_scsi_raw(). @param data c->data_len bytes to send or to fill, NULL without data;
 * @param reply may be NULL. Return: 0; SATED_NVME with the drive's status; SATED_STALLED where the kernel cancelled it;
 * else as sated_scsi_raw(). Thread: the handle's. */
int sated_nvme_admin_raw(struct sated_drive *d, const struct sated_nvme_command *c, void *data,
                         struct sated_reply *reply);
int sated_nvme_io_raw(struct sated_drive *d, const struct sated_nvme_command *c, void *data, struct sated_reply *reply);

/* Whether the table of read-only commands has it. Return: 0, or SATED_UNSAFE with a sentence. Thread: any. */
int sated_nvme_check_read_only(const struct sated_nvme_command *c);

/* How long to wait for a command by default: 600 s for Format NVM, which the kernel must not cut short, 60 s for most.
 * Return: ms. Thread: any. */
uint32_t sated_nvme_timeout_ms(const struct sated_nvme_command *c);

/* cdef: end */

#ifndef SATED_STATIC
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
