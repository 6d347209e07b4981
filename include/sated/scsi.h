/* SPDX-License-Identifier: MIT */
#ifndef SATED_SCSI_H
#define SATED_SCSI_H

#include <sated/drive.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifndef SATED_STATIC
#pragma GCC visibility push(default)
#endif

/* cdef: begin */

/* SCSI commands as bytes, and what drives answer. Nothing here sends anything. Clauses of SPC-5 are cited by their titles,
 * those of SBC-4 by the numbers of its last drafts, in which FORMAT WITH PRESET is 5.5.
 *
 * Builders fill *c whole and return 0, or SATED_PARSE for an argument that its field cannot hold. Builders of parameter
 * lists fill buf, of which there are cap bytes, and return the length.
 *
 * Decoders fill *out whole from the n bytes at data and return 0, or SATED_PARSE for bytes that are not what they
 * should be. They read no further than the shorter of n and the length that the answer states. A struct that begins
 * with `known` has bit i of it set if its i-th member, `known` being the 0th, holds something. `truncated` says that
 * the answer states more than there is, or that the struct has no room for all of it. Thread: any. */

enum sated_direction {
    SATED_DATA_NONE = 0,
    SATED_DATA_IN = 1,  /* from the drive */
    SATED_DATA_OUT = 2, /* to the drive */
};

struct sated_scsi_command {
    uint8_t cdb[32];
    uint32_t cdb_len;
    uint32_t direction;  /* enum sated_direction */
    uint32_t data_len;   /* bytes */
    uint32_t timeout_ms; /* 0 = choose */
};

/* TEST UNIT READY (SPC-5). */
int sated_scsi_build_test_unit_ready(struct sated_scsi_command *c);

/* REQUEST SENSE (SPC-5). @param desc true for the descriptor format; @param alloc bytes of room, up to 255. */
int sated_scsi_build_request_sense(struct sated_scsi_command *c, bool desc, uint32_t alloc);

/* INQUIRY (SPC-5). @param vpd_page 0 to FFh, or -1 for the standard data; @param alloc bytes of room, up to 65535. */
int sated_scsi_build_inquiry(struct sated_scsi_command *c, int vpd_page, uint32_t alloc);

/* READ CAPACITY(10) (SBC-4 5.20) and (16) (SBC-4 5.21). @param alloc bytes of room. */
int sated_scsi_build_read_capacity_10(struct sated_scsi_command *c);
int sated_scsi_build_read_capacity_16(struct sated_scsi_command *c, uint32_t alloc);

/* LOG SENSE (SPC-5). @param pc 0 threshold, 1 cumulative, 2 default threshold, 3 default cumulative;
 * @param parameter the first one wanted; @param alloc bytes of room, up to 65535. */
int sated_scsi_build_log_sense(struct sated_scsi_command *c, uint32_t pc, uint32_t page, uint32_t subpage,
                               uint32_t parameter, uint32_t alloc);

/* MODE SENSE(6) (SPC-5) and (10) (SPC-5). @param pc 0 current, 1 changeable, 2 default, 3 saved;
 * @param page 3Fh for all; @param dbd true leaves out block descriptors; @param llbaa true allows 16-byte ones;
 * @param alloc bytes of room, up to 255 or 65535. */
int sated_scsi_build_mode_sense_6(struct sated_scsi_command *c, uint32_t pc, uint32_t page, uint32_t subpage, bool dbd,
                                  uint32_t alloc);
int sated_scsi_build_mode_sense_10(struct sated_scsi_command *c, uint32_t pc, uint32_t page, uint32_t subpage, bool dbd,
                                   bool llbaa, uint32_t alloc);

/* MODE SELECT(6) (SPC-5) and (10) (SPC-5), always with PF. @param sp true saves the pages;
 * @param list_len bytes of the parameter list. */
int sated_scsi_build_mode_select_6(struct sated_scsi_command *c, bool sp, uint32_t list_len);
int sated_scsi_build_mode_select_10(struct sated_scsi_command *c, bool sp, uint32_t list_len);

/* A MODE SELECT parameter list that sets WCE (caching page, SBC-4 6.5) and leaves the rest of the page as it is.
 * @param sense the n bytes that MODE SENSE answered for page 08h; @param ten true for the (10) form of both;
 * @param wce write cache enable. Return: bytes of the list; SATED_PARSE if there is no whole caching page in it. */
int sated_scsi_build_wce_list(void *buf, size_t cap, const void *sense, size_t n, bool ten, bool wce);

/* A MODE SELECT(10) parameter list with one block descriptor and no page: resizes the medium or, with another block
 * length, prepares it for FORMAT UNIT. @param blocks number of logical blocks; 0 leaves the number as it is, UINT64_MAX
 * takes all there are; @param block_bytes of a logical block; @param llbaa true for the 16-byte descriptor (SBC-4
 * 6.5), false for 8 bytes. Return: bytes of the list. */
int sated_scsi_build_resize_list(void *buf, size_t cap, uint64_t blocks, uint32_t block_bytes, bool llbaa);

/* Service actions of SANITIZE (SBC-4 5.30). */
enum sated_scsi_sanitize {
    SATED_SANITIZE_OVERWRITE = 1,
    SATED_SANITIZE_BLOCK_ERASE = 2,
    SATED_SANITIZE_CRYPTO_ERASE = 3,
    SATED_SANITIZE_EXIT_FAILURE = 31,
};

/* SANITIZE. @param action enum sated_scsi_sanitize; @param immed true returns at once; @param znr zoned no reset;
 * @param ause allow unrestricted exit from a failure; @param list_len of the overwrite list, else 0. */
int sated_scsi_build_sanitize(struct sated_scsi_command *c, uint32_t action, bool immed, bool znr, bool ause,
                              uint32_t list_len);

/* The overwrite list (SBC-4 5.30.2.2). @param passes 1 to 31; @param invert between passes; @param test 0 to 3;
 * @param pattern pattern_len bytes, 1 to 65531. Return: bytes of the list. */
int sated_scsi_build_overwrite_list(void *buf, size_t cap, uint32_t passes, bool invert, uint32_t test,
                                    const void *pattern, size_t pattern_len);

/* FORMAT UNIT (SBC-4 5.4). @param fmtpinfo 0 to 3; @param ffmt 0 to 3 (fast format); @param cmplst complete list;
 * @param longlist the header is the long one; @param list_len of the parameter list; 0 = no list (FMTDATA 0). */
int sated_scsi_build_format_unit(struct sated_scsi_command *c, uint32_t fmtpinfo, uint32_t ffmt, bool cmplst,
                                 bool longlist, uint32_t list_len);

/* Flags of byte 1 of the FORMAT UNIT parameter list header (SBC-4 5.4.2.2). */
#define SATED_FORMAT_IMMED 0x02
#define SATED_FORMAT_STPF 0x10
#define SATED_FORMAT_DCRT 0x20
#define SATED_FORMAT_DPRY 0x40
#define SATED_FORMAT_FOV 0x80

/* The parameter list of FORMAT UNIT: a header and no defects. @param flags SATED_FORMAT_*; @param protection field
 * usage 0 to 7; @param exponent protection interval exponent 0 to 15, other than 0 only in the long header.
 * Return: 4 or 8. */
int sated_scsi_build_format_list(void *buf, size_t cap, uint32_t flags, uint32_t protection, uint32_t exponent,
                                 bool longlist);

/* FORMAT WITH PRESET (SBC-4 5.5). @param preset identifier; @param fmtmaxlba format to the preset's largest LBA. */
int sated_scsi_build_format_with_preset(struct sated_scsi_command *c, uint32_t preset, bool immed, bool fmtmaxlba);

struct sated_scsi_range {
    uint64_t lba;
    uint32_t blocks;
    uint32_t reserved;
};

/* UNMAP (SBC-4 5.35). @param list_len as sated_scsi_build_unmap_list returned it. */
int sated_scsi_build_unmap(struct sated_scsi_command *c, bool anchor, uint32_t group, uint32_t list_len);

/* The UNMAP parameter list (SBC-4 5.35.2). @param ranges n of them, up to 4095. Return: bytes of the list. */
int sated_scsi_build_unmap_list(void *buf, size_t cap, const struct sated_scsi_range *ranges, size_t n);

/* WRITE SAME(10) (SBC-4 5.52) and (16) (SBC-4 5.53). @param blocks 0 = to the last one; @param block_bytes of the one
 * block that is sent; @param wrprotect 0 to 7; @param ndob no data is sent. */
int sated_scsi_build_write_same_10(struct sated_scsi_command *c, uint64_t lba, uint32_t blocks, uint32_t block_bytes,
                                   uint32_t wrprotect, bool unmap, bool anchor, uint32_t group);
int sated_scsi_build_write_same_16(struct sated_scsi_command *c, uint64_t lba, uint32_t blocks, uint32_t block_bytes,
                                   uint32_t wrprotect, bool unmap, bool anchor, bool ndob, uint32_t group);

/* READ(10), READ(16), WRITE(10), WRITE(16) (SBC-4 5.16, 5.18, 5.40, 5.42). @param protect 0 to 7 (RDPROTECT,
 * WRPROTECT); @param dpo @param fua; @param block_bytes of a logical block, for the length of the data. */
int sated_scsi_build_read_10(struct sated_scsi_command *c, uint64_t lba, uint32_t blocks, uint32_t block_bytes,
                             uint32_t protect, bool dpo, bool fua);
int sated_scsi_build_read_16(struct sated_scsi_command *c, uint64_t lba, uint32_t blocks, uint32_t block_bytes,
                             uint32_t protect, bool dpo, bool fua);
int sated_scsi_build_write_10(struct sated_scsi_command *c, uint64_t lba, uint32_t blocks, uint32_t block_bytes,
                              uint32_t protect, bool dpo, bool fua);
int sated_scsi_build_write_16(struct sated_scsi_command *c, uint64_t lba, uint32_t blocks, uint32_t block_bytes,
                              uint32_t protect, bool dpo, bool fua);

/* VERIFY(10) and (16) (SBC-4 5.36, 5.38) without data: the drive reads the blocks itself. @param vrprotect 0 to 7. */
int sated_scsi_build_verify_10(struct sated_scsi_command *c, uint64_t lba, uint32_t blocks, uint32_t vrprotect,
                               bool dpo);
int sated_scsi_build_verify_16(struct sated_scsi_command *c, uint64_t lba, uint32_t blocks, uint32_t vrprotect,
                               bool dpo);

/* SYNCHRONIZE CACHE(10) and (16) (SBC-4 5.33, 5.34). @param blocks 0 = to the last one. */
int sated_scsi_build_synchronize_cache_10(struct sated_scsi_command *c, uint64_t lba, uint32_t blocks, bool immed);
int sated_scsi_build_synchronize_cache_16(struct sated_scsi_command *c, uint64_t lba, uint32_t blocks, bool immed);

/* GET LBA STATUS(16) (SBC-4 5.6). @param report 0 to 15 (REPORT TYPE); @param alloc bytes of room. */
int sated_scsi_build_get_lba_status(struct sated_scsi_command *c, uint64_t lba, uint32_t report, uint32_t alloc);

/* REPORT SUPPORTED OPERATION CODES (SPC-5). @param options 0 all, 1 one opcode, 2 one opcode with service action,
 * 3 either; @param rctd true asks for the timeouts; @param alloc bytes of room. */
int sated_scsi_build_report_opcodes(struct sated_scsi_command *c, uint32_t options, uint32_t opcode,
                                    uint32_t service_action, bool rctd, uint32_t alloc);

/* REPORT LUNS (SPC-5). @param select 0 to FFh (SELECT REPORT); @param alloc bytes of room, 16 or more. */
int sated_scsi_build_report_luns(struct sated_scsi_command *c, uint32_t select, uint32_t alloc);

/* START STOP UNIT (SBC-4 5.31). @param power_condition 0 to 15, where other than 0 start and loej are ignored;
 * @param modifier of the power condition, 0 to 15; @param no_flush. */
int sated_scsi_build_start_stop_unit(struct sated_scsi_command *c, uint32_t power_condition, uint32_t modifier,
                                     bool immed, bool no_flush, bool loej, bool start);

/* SEND DIAGNOSTIC (SPC-5). @param self_test_code 0 to 7 (1 background short, 2 background extended, 4 abort, 5
 * foreground short, 6 foreground extended), must be 0 with self_test; @param self_test the default self-test;
 * @param devoffl @param unitoffl; @param list_len of a diagnostic page to send. */
int sated_scsi_build_send_diagnostic(struct sated_scsi_command *c, uint32_t self_test_code, bool self_test,
                                     bool devoffl, bool unitoffl, uint32_t list_len);

/* RECEIVE DIAGNOSTIC RESULTS (SPC-5). @param page 0 to FFh, or -1 for the results of the last SEND DIAGNOSTIC. */
int sated_scsi_build_receive_diagnostic(struct sated_scsi_command *c, int page, uint32_t alloc);

/* ---- Sense data (SPC-5, sense data) ---- */

/* Where a descriptor stands; those of a type that is not decoded can be read from there. */
struct sated_scsi_sense_descriptor {
    uint8_t type;
    uint8_t truncated; /* 1: it states more bytes than there are */
    uint16_t offset;   /* of its type byte in the sense data */
    uint16_t length;   /* bytes there are, type and length byte included */
    uint16_t reserved;
};

/* Another progress indication (SPC-5, sense data descriptor 0Ah). */
struct sated_scsi_sense_progress {
    uint8_t key;
    uint8_t asc;
    uint8_t ascq;
    uint8_t reserved;
    uint32_t progress; /* of 65536 */
};

struct sated_scsi_target_group {
    uint16_t group;
    uint8_t state; /* asymmetric access state */
    uint8_t reserved;
};

/* One segment of a user data segment referral (SBC-4 4.26). */
struct sated_scsi_sense_segment {
    uint64_t first_lba;
    uint64_t last_lba;
    uint32_t n_groups;
    struct sated_scsi_target_group groups[16];
};

struct sated_scsi_sense {
    uint64_t known;
    uint8_t response_code;  /* 70h to 73h */
    bool descriptor_format; /* 72h, 73h */
    bool deferred;          /* 71h, 73h: of an earlier command */
    uint8_t key;            /* SENSE KEY */
    uint8_t asc;            /* ADDITIONAL SENSE CODE */
    uint8_t ascq;           /* ADDITIONAL SENSE CODE QUALIFIER */
    bool filemark;          /* stream commands */
    bool eom;               /* stream commands */
    bool ili;               /* incorrect length indicator, also of the block commands descriptor */
    bool sdat_ovfl;         /* there was more sense data than room for it */
    uint8_t fru;            /* FIELD REPLACEABLE UNIT CODE, unless 0 */
    uint64_t information;   /* where VALID is set */
    uint64_t command_specific;
    uint32_t progress;            /* PROGRESS INDICATION, of 65536 (SKSV; keys 0 and 2) */
    uint16_t field_pointer;       /* SKSV; key 5: the byte in error */
    bool field_in_cdb;            /* C/D: in the CDB, not in the parameter list */
    uint8_t bit_pointer;          /* where BPV is set */
    uint16_t retry_count;         /* ACTUAL RETRY COUNT (SKSV; keys 1, 3 and 4) */
    uint16_t segment_pointer;     /* SKSV; key Ah: the byte in error */
    bool segment_descriptor;      /* SD: counted from the segment descriptor */
    bool unit_attention_overflow; /* SKSV; key 6 */
    uint8_t forwarded_source;     /* SENSE DATA SOURCE of the forwarded sense data (SPC-5, sense data descriptor 0Ch) */
    bool forwarded_fsdt;          /* forwarded sense data truncated */
    uint8_t forwarded_status;     /* FORWARDED STATUS */
    uint32_t n_forwarded;
    uint8_t forwarded[256]; /* sense data within: decode it like any other */
    bool not_all_referrals; /* NOT_ALL_R of the user data segment referral */
    uint32_t n_segments;
    struct sated_scsi_sense_segment segments[8];
    uint32_t n_other_progress;
    struct sated_scsi_sense_progress other_progress[8];
    uint32_t n_descriptors;
    struct sated_scsi_sense_descriptor descriptors[32];
    uint32_t length; /* bytes of sense data by its own ADDITIONAL SENSE LENGTH */
    bool truncated;
    char key_text[32];
    char text[96]; /* what asc and ascq mean */
};

/* Decodes sense data in either format; SATED_PARSE if the response code is none of 70h to 73h. */
int sated_scsi_decode_sense(const void *data, size_t n, struct sated_scsi_sense *out);

/* What a sense key means, such as "Medium error". Return: a static string. */
const char *sated_scsi_key_text(uint32_t key);

/* What an additional sense code means (T10's list). @param text cap bytes. Return: true if T10's list has it; else
 * the text says that it is the vendor's or reserved, with the numbers. */
bool sated_scsi_asc_text(uint32_t asc, uint32_t ascq, char *text, size_t cap);

/* The name of a command (T10's list), such as "READ CAPACITY(16)". @param service_action where the opcode has them;
 * Return: a static string, NULL if it is not in the list. */
const char *sated_scsi_opcode_text(uint32_t opcode, uint32_t service_action);

/* ---- INQUIRY (SPC-5) ---- */

struct sated_scsi_inquiry {
    uint64_t known;
    uint8_t peripheral_qualifier;
    uint8_t peripheral_device_type;
    bool rmb;
    bool lu_cong;
    uint8_t hot_pluggable; /* 1 can, 2 cannot be */
    uint8_t version;
    bool aerc;
    bool trmtsk;
    bool normaca;
    bool hisup;
    uint8_t response_data_format;
    uint8_t additional_length;
    bool sccs;
    bool acc;
    uint8_t tpgs;
    bool third_party_copy; /* 3PC */
    bool protect;
    bool bque;
    bool encserv;
    bool vs6; /* VS, byte 6 bit 5 */
    bool multip;
    bool mchngr;
    bool ackreqq;
    bool addr16;
    bool reladr;
    bool wbus16;
    bool sync;
    bool linked;
    bool trandis;
    bool cmdque;
    bool vs7; /* VS, byte 7 bit 0 */
    char vendor[9];
    char product[17];
    char revision[5];
    char vendor_specific[21]; /* bytes 36 to 55: often the serial number */
    uint8_t clocking;
    bool qas;
    bool ius;
    uint32_t n_versions;
    uint16_t versions[8]; /* VERSION DESCRIPTORs that are not 0 */
    uint32_t length;      /* bytes by its own ADDITIONAL LENGTH */
    bool truncated;
};

/* Decodes the standard INQUIRY data; SATED_PARSE if there are fewer than 5 bytes. */
int sated_scsi_decode_inquiry(const void *data, size_t n, struct sated_scsi_inquiry *out);

/* ---- Vital product data (SPC-5, SBC-4 6.6) ---- */

/* 00h: supported VPD pages. */
struct sated_scsi_vpd_supported {
    uint64_t known;
    uint8_t peripheral;
    uint32_t n_pages;
    uint8_t pages[256];
    bool truncated;
};

/* Decodes VPD page 00h; SATED_PARSE if it is another page. */
int sated_scsi_decode_vpd_supported(const void *data, size_t n, struct sated_scsi_vpd_supported *out);

/* 80h: unit serial number. */
struct sated_scsi_vpd_serial {
    uint64_t known;
    char serial[256]; /* unknown where all of it is blank */
    bool truncated;
};

/* Decodes VPD page 80h; SATED_PARSE if it is another page. */
int sated_scsi_decode_vpd_serial(const void *data, size_t n, struct sated_scsi_vpd_serial *out);

enum sated_scsi_designator_type {
    SATED_DESIGNATOR_VENDOR = 0,
    SATED_DESIGNATOR_T10 = 1,
    SATED_DESIGNATOR_EUI64 = 2,
    SATED_DESIGNATOR_NAA = 3,
    SATED_DESIGNATOR_PORT = 4,
    SATED_DESIGNATOR_PORT_GROUP = 5,
    SATED_DESIGNATOR_UNIT_GROUP = 6,
    SATED_DESIGNATOR_MD5 = 7,
    SATED_DESIGNATOR_NAME = 8,
    SATED_DESIGNATOR_PROTOCOL = 9,
    SATED_DESIGNATOR_UUID = 10,
};

/* A designation descriptor (SPC-5). */
struct sated_scsi_designator {
    uint64_t known;
    uint8_t protocol;    /* PROTOCOL IDENTIFIER, where PIV is set for a port or a target */
    uint8_t code_set;    /* 1 binary, 2 ASCII, 3 UTF-8 */
    uint8_t association; /* 0 logical unit, 1 target port, 2 target device */
    uint8_t type;        /* enum sated_scsi_designator_type */
    uint32_t n_designator;
    uint8_t designator[256];
    char text[520]; /* without padding: text as it is, binary as 0x and hexadecimal digits, a UUID as it is written */
};

/* 83h: device identification. */
struct sated_scsi_vpd_device_id {
    uint64_t known;
    uint8_t peripheral;
    uint32_t n_designators;
    struct sated_scsi_designator designators[24];
    bool truncated;
};

/* Decodes VPD page 83h; SATED_PARSE if it is another page. */
int sated_scsi_decode_vpd_device_id(const void *data, size_t n, struct sated_scsi_vpd_device_id *out);

/* 86h: extended INQUIRY data (SPC-5). */
struct sated_scsi_vpd_extended {
    uint64_t known;
    uint8_t activate_microcode;
    uint8_t spt; /* SUPPORTED PROTECTION TYPE */
    bool grd_chk;
    bool app_chk;
    bool ref_chk;
    bool uask_sup;
    bool group_sup;
    bool prior_sup;
    bool headsup;
    bool ordsup;
    bool simpsup;
    bool wu_sup;
    bool crd_sup;
    bool nv_sup; /* there is a nonvolatile cache */
    bool v_sup;  /* there is a volatile cache */
    bool no_pi_chk;
    bool p_i_i_sup;
    bool luiclr;
    uint8_t lu_coll_type;
    bool r_sup;
    bool rtd_sup;
    bool hssrelef; /* a reset ends a reservation's history */
    uint8_t multi_it_nexus_microcode;
    uint16_t extended_self_test_minutes; /* unless 0 */
    bool poa_sup;
    bool hra_sup;
    bool vsa_sup;
    bool dms_valid;
    uint8_t maximum_sense_length; /* bytes, unless 0 */
    bool ibs;
    bool ias;
    bool sac;
    bool nrd1;
    bool nrd0;
    uint16_t maximum_inquiry_change_logs;
    uint16_t maximum_mode_page_change_logs;
    bool truncated;
};

/* Decodes VPD page 86h; SATED_PARSE if it is another page. */
int sated_scsi_decode_vpd_extended(const void *data, size_t n, struct sated_scsi_vpd_extended *out);

struct sated_scsi_mode_policy {
    uint8_t page; /* 3Fh with subpage FFh: all that are not listed */
    uint8_t subpage;
    bool mlus;      /* shared by several logical units */
    uint8_t policy; /* 0 one for all, 1 one for each target port, 3 one for each I_T nexus */
};

/* 87h: mode page policy (SPC-5). */
struct sated_scsi_vpd_mode_policy {
    uint64_t known;
    uint32_t n_policies;
    struct sated_scsi_mode_policy policies[64];
    bool truncated;
};

/* Decodes VPD page 87h; SATED_PARSE if it is another page. */
int sated_scsi_decode_vpd_mode_policy(const void *data, size_t n, struct sated_scsi_vpd_mode_policy *out);

struct sated_scsi_port {
    uint64_t known;
    uint16_t relative_port;
    uint16_t initiator_offset; /* of the initiator port's TransportID in the page */
    uint16_t initiator_length; /* bytes of it, 0 for none */
    uint32_t n_designators;
    struct sated_scsi_designator designators[2]; /* of the target port */
};

/* 88h: SCSI ports (SPC-5). */
struct sated_scsi_vpd_ports {
    uint64_t known;
    uint32_t n_ports;
    struct sated_scsi_port ports[8];
    bool truncated;
};

/* Decodes VPD page 88h; SATED_PARSE if it is another page. */
int sated_scsi_decode_vpd_ports(const void *data, size_t n, struct sated_scsi_vpd_ports *out);

/* 89h: ATA information (SAT-4). */
struct sated_scsi_vpd_ata {
    uint64_t known;
    char sat_vendor[9];
    char sat_product[17];
    char sat_revision[5];
    uint8_t signature[20]; /* DEVICE SIGNATURE: the FIS that a device sends after a reset */
    bool sata;             /* the signature is a register FIS (34h) */
    uint8_t command_code;  /* ECh IDENTIFY DEVICE, A1h IDENTIFY PACKET DEVICE */
    uint8_t identify[512];
    bool truncated;
};

/* Decodes VPD page 89h; SATED_PARSE if it is another page. */
int sated_scsi_decode_vpd_ata(const void *data, size_t n, struct sated_scsi_vpd_ata *out);

/* 8Ah: power condition (SPC-5). What takes 0 ms is not told. */
struct sated_scsi_vpd_power {
    uint64_t known;
    bool standby_y; /* which of them START STOP UNIT and timers may choose */
    bool standby_z;
    bool idle_c;
    bool idle_b;
    bool idle_a;
    uint16_t stopped_recovery_ms; /* back to active */
    uint16_t standby_z_recovery_ms;
    uint16_t standby_y_recovery_ms;
    uint16_t idle_a_recovery_ms;
    uint16_t idle_b_recovery_ms;
    uint16_t idle_c_recovery_ms;
    bool truncated;
};

/* Decodes VPD page 8Ah; SATED_PARSE if it is another page. */
int sated_scsi_decode_vpd_power(const void *data, size_t n, struct sated_scsi_vpd_power *out);

/* B0h: block limits (SBC-4 6.6.4). Lengths are logical blocks; what is 0 for "not reported" is unknown. */
struct sated_scsi_vpd_limits {
    uint64_t known;
    bool wsnz;
    uint8_t maximum_compare_and_write_length;
    uint16_t optimal_transfer_length_granularity;
    uint32_t maximum_transfer_length;
    uint32_t optimal_transfer_length;
    uint32_t maximum_prefetch_length;
    uint32_t maximum_unmap_lba_count;              /* 0 = UNMAP is not supported, FFFFFFFFh = no limit */
    uint32_t maximum_unmap_block_descriptor_count; /* 0 = UNMAP is not supported, FFFFFFFFh = no limit */
    uint32_t optimal_unmap_granularity;
    bool ugavalid;
    uint32_t unmap_granularity_alignment; /* where UGAVALID is set */
    uint64_t maximum_write_same_length;
    uint32_t maximum_atomic_transfer_length;
    uint32_t atomic_alignment;
    uint32_t atomic_transfer_length_granularity;
    uint32_t maximum_atomic_transfer_length_with_boundary;
    uint32_t maximum_atomic_boundary_size;
    bool truncated;
};

/* Decodes VPD page B0h; SATED_PARSE if it is another page. */
int sated_scsi_decode_vpd_limits(const void *data, size_t n, struct sated_scsi_vpd_limits *out);

/* B1h: block device characteristics (SBC-4 6.6.2). */
struct sated_scsi_vpd_characteristics {
    uint64_t known;
    uint16_t medium_rotation_rate; /* per minute; 1 = does not rotate */
    uint8_t product_type;
    uint8_t wabereq;
    uint8_t wacereq;
    uint8_t nominal_form_factor; /* 1 5.25", 2 3.5", 3 2.5", 4 1.8", 5 less */
    bool mact;
    uint8_t zoned;
    bool rbwz;
    bool bocs;
    bool fuab;
    bool vbuls;
    uint32_t depopulation_time; /* seconds */
    bool truncated;
};

/* Decodes VPD page B1h; SATED_PARSE if it is another page. */
int sated_scsi_decode_vpd_characteristics(const void *data, size_t n, struct sated_scsi_vpd_characteristics *out);

/* B2h: logical block provisioning (SBC-4 6.6). */
struct sated_scsi_vpd_provisioning {
    uint64_t known;
    uint8_t threshold_exponent; /* 0 = no threshold sets */
    bool lbpu;
    bool lbpws;
    bool lbpws10;
    uint8_t lbprz;
    bool anc_sup;
    bool dp;
    uint8_t minimum_percentage;
    uint8_t provisioning_type; /* 0 not known or fully, 1 resource, 2 thin provisioned */
    uint8_t threshold_percentage;
    uint32_t n_group;                      /* 1 where DP is set and the descriptor is whole */
    struct sated_scsi_designator group[1]; /* PROVISIONING GROUP DESCRIPTOR */
    bool truncated;
};

/* Decodes VPD page B2h; SATED_PARSE if it is another page. */
int sated_scsi_decode_vpd_provisioning(const void *data, size_t n, struct sated_scsi_vpd_provisioning *out);

/* B6h: zoned block device characteristics (ZBC). */
struct sated_scsi_vpd_zoned {
    uint64_t known;
    uint8_t zoned_extension;
    bool aaorb;
    bool urswrz;                                /* reads of sequential write required zones are unrestricted */
    uint32_t optimal_open_sequential_preferred; /* unknown where all ones */
    uint32_t optimal_non_sequential_preferred;  /* unknown where all ones */
    uint32_t maximum_open_sequential_required;  /* FFFFFFFFh = no limit */
    uint8_t zone_alignment_method;              /* unless 0 */
    uint64_t zone_starting_lba_granularity;     /* unless 0 */
    bool truncated;
};

/* Decodes VPD page B6h; SATED_PARSE if it is another page. */
int sated_scsi_decode_vpd_zoned(const void *data, size_t n, struct sated_scsi_vpd_zoned *out);

/* B7h: block limits extension (SBC-4). Lengths are logical blocks; what is 0 for "not reported" is unknown. */
struct sated_scsi_vpd_limits_extension {
    uint64_t known;
    bool rscs;                          /* reduced stream control */
    uint16_t maximum_number_of_streams; /* 0 = no stream control */
    uint16_t optimal_stream_write_size;
    uint32_t stream_granularity_size; /* in optimal stream write sizes */
    uint32_t maximum_scattered_range_transfer_length;
    uint16_t maximum_scattered_range_descriptors;
    uint32_t maximum_scattered_transfer_length;
    bool truncated;
};

/* Decodes VPD page B7h; SATED_PARSE if it is another page. */
int sated_scsi_decode_vpd_limits_extension(const void *data, size_t n, struct sated_scsi_vpd_limits_extension *out);

/* ---- Capacity (SBC-4 5.20.2, 5.21.2) ---- */

struct sated_scsi_capacity {
    uint64_t known;
    uint64_t last_lba; /* RETURNED LOGICAL BLOCK ADDRESS; unknown where READ CAPACITY(10) cannot tell */
    uint32_t block_bytes;
    bool prot_en;
    uint8_t p_type; /* the type of protection less 1 */
    uint8_t p_i_exponent;
    uint8_t rc_basis;
    uint8_t lbppbe; /* logical blocks per physical block exponent */
    uint32_t physical_block_bytes;
    bool lbpme;
    bool lbprz;
    uint16_t lowest_aligned_lba;
    uint64_t blocks; /* last_lba + 1 */
    uint64_t bytes;  /* unknown where it does not fit in 64 bits, or where either factor is unknown */
};

/* Decode the data of READ CAPACITY(10) and (16); SATED_PARSE if there are fewer than 8 and 12 bytes. */
int sated_scsi_decode_capacity_10(const void *data, size_t n, struct sated_scsi_capacity *out);
int sated_scsi_decode_capacity_16(const void *data, size_t n, struct sated_scsi_capacity *out);

/* ---- Mode pages (SPC-5, SBC-4 6.5) ---- */

struct sated_scsi_mode_block {
    uint64_t known;
    uint64_t number_of_blocks; /* unknown where the 4 bytes are all ones: it does not fit in them */
    uint8_t density_code;      /* 8-byte descriptors */
    uint32_t block_bytes;      /* LOGICAL BLOCK LENGTH */
};

struct sated_scsi_mode_page {
    uint8_t page;
    uint8_t subpage; /* 0 where the page has none */
    bool spf;
    bool ps;         /* parameters can be saved */
    uint16_t offset; /* in the answer */
    uint16_t length; /* bytes there are, header included */
    bool truncated;
    uint8_t reserved[7];
};

struct sated_scsi_mode {
    uint64_t known;
    uint32_t mode_data_length; /* as stated: the bytes that follow the field */
    uint8_t medium_type;
    bool wp;      /* write protected */
    bool dpofua;  /* DPO and FUA are supported */
    bool longlba; /* 16-byte block descriptors */
    uint16_t block_descriptor_length;
    uint32_t n_blocks;
    struct sated_scsi_mode_block blocks[8];
    uint32_t n_pages;
    struct sated_scsi_mode_page pages[96];
    bool truncated;
};

/* The answer to MODE SENSE. @param ten true for the (10) form. */
int sated_scsi_decode_mode(const void *data, size_t n, bool ten, struct sated_scsi_mode *out);

/* Caching mode page 08h (SBC-4 6.5). */
struct sated_scsi_mode_caching {
    uint64_t known;
    bool ps;
    bool ic;
    bool abpf;
    bool cap;
    bool disc;
    bool size;
    bool wce; /* write cache enable */
    bool mf;
    bool rcd; /* read cache disable */
    uint8_t demand_read_retention_priority;
    uint8_t write_retention_priority;
    uint16_t disable_prefetch_transfer_length;
    uint16_t minimum_prefetch;
    uint16_t maximum_prefetch;
    uint16_t maximum_prefetch_ceiling;
    bool fsw;
    bool lbcss;
    bool dra;
    uint8_t sync_prog;
    bool nv_dis;
    uint8_t number_of_cache_segments;
    uint16_t cache_segment_size;
    bool truncated;
};

/* @param data the page itself, from its page code on. */
int sated_scsi_decode_mode_caching(const void *data, size_t n, struct sated_scsi_mode_caching *out);

/* Control mode page 0Ah (SPC-5). */
struct sated_scsi_mode_control {
    uint64_t known;
    bool ps;
    uint8_t tst;
    bool tmf_only;
    bool dpicz;
    bool d_sense; /* sense data is in the descriptor format */
    bool gltsd;
    bool rlec;
    uint8_t queue_algorithm_modifier;
    bool nuar;
    uint8_t qerr;
    bool rac;
    uint8_t ua_intlck_ctrl;
    bool swp; /* software write protect */
    bool ato;
    bool tas;
    bool atmpe;
    bool rwwp;
    bool sblp;
    uint8_t autoload_mode;
    uint16_t busy_timeout_period;                /* of 100 ms; FFFFh = no limit */
    uint16_t extended_self_test_completion_time; /* seconds, FFFFh = that or more; unknown where 0 */
    bool truncated;
};

/* @param data the page itself, from its page code on. */
int sated_scsi_decode_mode_control(const void *data, size_t n, struct sated_scsi_mode_control *out);

/* Power condition mode page 1Ah (SPC-5). Timers count 100 ms; one that is not enabled does not run. */
struct sated_scsi_mode_power {
    uint64_t known;
    bool ps;
    uint8_t pm_bg_precedence; /* 0 vendor's choice, 1 background work first, 2 power first */
    bool standby_y;
    bool idle_c;
    bool idle_b;
    bool idle_a;
    bool standby_z;
    uint32_t idle_a_timer;
    uint32_t standby_z_timer;
    uint32_t idle_b_timer;
    uint32_t idle_c_timer;
    uint32_t standby_y_timer;
    uint8_t ccf_idle; /* CHECK CONDITION while leaving it: 1 no, 2 yes, unless 0 */
    uint8_t ccf_standby;
    uint8_t ccf_stopped;
    bool truncated;
};

/* @param data the page itself, from its page code on. */
int sated_scsi_decode_mode_power(const void *data, size_t n, struct sated_scsi_mode_power *out);

/* ---- Log pages (SPC-5, SBC-4 6.4) ---- */

struct sated_scsi_log_parameter {
    uint16_t code;
    uint8_t control; /* DU TSD ETC TMC FORMAT AND LINKING */
    uint8_t truncated;
    uint32_t offset; /* of the value in the answer */
    uint32_t length; /* bytes of the value that there are */
    uint32_t reserved;
};

/* Any log page of parameters. */
struct sated_scsi_log {
    uint64_t known;
    uint8_t page;
    uint8_t subpage; /* 0 where SPF is not set */
    bool spf;
    bool ds; /* disable save */
    uint32_t n_parameters;
    struct sated_scsi_log_parameter parameters[512];
    bool truncated;
};

/* Decodes any log page of parameters; SATED_PARSE if there are fewer than 4 bytes. */
int sated_scsi_decode_log(const void *data, size_t n, struct sated_scsi_log *out);

struct sated_scsi_log_page {
    uint8_t page;
    uint8_t subpage;
};

/* 00h: supported log pages; 00h/FFh: supported pages and subpages; any page's FFh: its subpages. */
struct sated_scsi_log_supported {
    uint64_t known;
    uint32_t n_pages;
    struct sated_scsi_log_page pages[512];
    bool truncated;
};

/* Decodes log page 00h, or any page with subpage FFh; SATED_PARSE if it is another page. */
int sated_scsi_decode_log_supported(const void *data, size_t n, struct sated_scsi_log_supported *out);

/* 02h write, 03h read, 05h verify error counters. */
struct sated_scsi_log_errors {
    uint64_t known;
    uint8_t page; /* which of them */
    uint64_t corrected_without_substantial_delay;
    uint64_t corrected_with_possible_delays;
    uint64_t total_rewrites_or_rereads;
    uint64_t total_errors_corrected;
    uint64_t total_times_correction_algorithm_processed;
    uint64_t total_bytes_processed;
    uint64_t total_uncorrected_errors;
    bool truncated;
};

/* Decodes log page 02h, 03h or 05h; SATED_PARSE if it is another page. */
int sated_scsi_decode_log_errors(const void *data, size_t n, struct sated_scsi_log_errors *out);

/* 0Dh: temperature. */
struct sated_scsi_log_temperature {
    uint64_t known;
    uint8_t temperature_c;           /* 0 = that or below */
    uint8_t reference_temperature_c; /* the largest at which it works without degradation */
    bool truncated;
};

/* Decodes log page 0Dh; SATED_PARSE if it is another page. */
int sated_scsi_decode_log_temperature(const void *data, size_t n, struct sated_scsi_log_temperature *out);

/* 0Eh: start-stop cycle counter. */
struct sated_scsi_log_start_stop {
    uint64_t known;
    char manufacture_year[5];
    char manufacture_week[3];
    uint32_t specified_cycle_count;
    uint32_t accumulated_start_stop_cycles;
    uint32_t specified_load_unload_count;
    uint32_t accumulated_load_unload_cycles;
    bool truncated;
};

/* Decodes log page 0Eh; SATED_PARSE if it is another page. */
int sated_scsi_decode_log_start_stop(const void *data, size_t n, struct sated_scsi_log_start_stop *out);

struct sated_scsi_self_test {
    uint64_t known;
    uint8_t code;               /* SELF-TEST CODE */
    uint8_t result;             /* 0 passed, 1 and 2 aborted, 3 to 7 failed, 15 in progress */
    uint8_t number;             /* SELF-TEST NUMBER: the segment that failed, unless 0 */
    uint16_t power_on_hours;    /* FFFFh = that or more */
    uint64_t first_failure_lba; /* unknown where all ones */
    uint8_t key;
    uint8_t asc;
    uint8_t ascq;
};

/* 10h: self-test results, newest first; entries never used are left out. */
struct sated_scsi_log_self_tests {
    uint64_t known;
    uint32_t n_tests;
    struct sated_scsi_self_test tests[20];
    bool truncated;
};

/* Decodes log page 10h; SATED_PARSE if it is another page. */
int sated_scsi_decode_log_self_tests(const void *data, size_t n, struct sated_scsi_log_self_tests *out);

/* 11h: solid state media. */
struct sated_scsi_log_endurance {
    uint64_t known;
    uint8_t percentage_used; /* 255 = that or more */
    bool truncated;
};

/* Decodes log page 11h; SATED_PARSE if it is another page. */
int sated_scsi_decode_log_endurance(const void *data, size_t n, struct sated_scsi_log_endurance *out);

struct sated_scsi_scan_result {
    uint64_t known;
    uint16_t code; /* PARAMETER CODE */
    uint32_t power_on_minutes;
    uint8_t reassign_status;
    uint8_t key;
    uint8_t asc;
    uint8_t ascq;
    uint64_t lba;
};

/* 15h: background scan. */
struct sated_scsi_log_background_scan {
    uint64_t known;
    uint32_t power_on_minutes;
    uint8_t status; /* BACKGROUND SCANNING STATUS */
    uint16_t scans_performed;
    uint32_t progress; /* of 65536 */
    uint16_t medium_scans_performed;
    uint32_t n_results;
    struct sated_scsi_scan_result results[256];
    bool truncated;
};

/* Decodes log page 15h; SATED_PARSE if it is another page. */
int sated_scsi_decode_log_background_scan(const void *data, size_t n, struct sated_scsi_log_background_scan *out);

/* One phy of a SAS port. */
struct sated_scsi_phy {
    uint64_t known;
    uint16_t port; /* RELATIVE TARGET PORT IDENTIFIER */
    uint8_t phy;
    uint8_t attached_type; /* 0 none, 1 SAS device, 2 expander, 3 fan-out expander */
    uint8_t reason;        /* of the last link reset */
    uint8_t rate;          /* 8 1.5, 9 3, 10 6, 11 12, 12 22.5 Gbit/s; below: why there is none */
    uint8_t attached_phy;
    uint64_t sas_address;
    uint64_t attached_sas_address;
    uint32_t invalid_dwords;
    uint32_t disparity_errors;
    uint32_t sync_losses;
    uint32_t reset_problems;
};

/* 18h: protocol specific port, for SAS (SPL-4). */
struct sated_scsi_log_phys {
    uint64_t known;
    uint32_t n_phys;
    struct sated_scsi_phy phys[16];
    bool truncated;
};

/* Decodes log page 18h, whose ports of other protocols are passed over; SATED_PARSE if it is another page. */
int sated_scsi_decode_log_phys(const void *data, size_t n, struct sated_scsi_log_phys *out);

/* 2Fh: informational exceptions. */
struct sated_scsi_log_exceptions {
    uint64_t known;
    uint8_t asc; /* 5Dh with an ascq = the drive foresees its failure */
    uint8_t ascq;
    uint8_t temperature_c;
    uint8_t threshold_temperature_c; /* a common extension */
    char text[96];
    bool truncated;
};

/* Decodes log page 2Fh; SATED_PARSE if it is another page. */
int sated_scsi_decode_log_exceptions(const void *data, size_t n, struct sated_scsi_log_exceptions *out);

/* ---- Reports (SPC-5) ---- */

struct sated_scsi_opcode {
    uint64_t known;
    uint8_t opcode;
    uint16_t service_action; /* where SERVACTV is set */
    uint8_t cdlp;
    uint16_t cdb_length;
    uint8_t command_specific;       /* of the timeouts descriptor */
    uint32_t nominal_timeout_s;     /* NOMINAL COMMAND PROCESSING TIMEOUT, unless 0 */
    uint32_t recommended_timeout_s; /* RECOMMENDED COMMAND TIMEOUT, unless 0 */
    char name[48];
};

/* All commands. */
struct sated_scsi_opcodes {
    uint64_t known;
    uint32_t n_commands;
    struct sated_scsi_opcode commands[400];
    bool truncated;
};

/* Decodes REPORT SUPPORTED OPERATION CODES data for REPORTING OPTIONS 0; SATED_PARSE below 4 bytes. */
int sated_scsi_decode_opcodes(const void *data, size_t n, struct sated_scsi_opcodes *out);

/* One command. */
struct sated_scsi_one_opcode {
    uint64_t known;
    uint8_t support; /* 0 unknown, 1 not supported, 3 as the standard says, 5 in a vendor's way */
    uint8_t cdlp;
    uint32_t n_cdb_usage;
    uint8_t cdb_usage[260]; /* CDB USAGE DATA */
    uint8_t command_specific;
    uint32_t nominal_timeout_s;
    uint32_t recommended_timeout_s;
    bool truncated;
};

/* Decodes REPORT SUPPORTED OPERATION CODES data for other REPORTING OPTIONS; SATED_PARSE below 4 bytes. */
int sated_scsi_decode_one_opcode(const void *data, size_t n, struct sated_scsi_one_opcode *out);

struct sated_scsi_luns {
    uint64_t known;
    uint32_t n_luns;
    uint64_t luns[256];
    bool truncated;
};

/* Decodes REPORT LUNS data; SATED_PARSE if there are fewer than 8 bytes. */
int sated_scsi_decode_luns(const void *data, size_t n, struct sated_scsi_luns *out);

/* ---- Sending (everything above only makes and reads bytes) ---- */

/* Sends a command and waits for its answer. Without consent (sated_drive_permit) only what sated_read_only_list() has is
 * sent to real drives. ATA PASS-THROUGH is taken as the ATA command within.
 * @param data c->data_len bytes to send or to fill, NULL without data; what did not come is zeroed;
 * @param reply filled as far as things went, may be NULL. Return: 0; SATED_SENSE, SATED_ATA, SATED_STALLED and their
 * kin by what the drive or the way to it says (asked in the order errno, host, driver, status, sense); SATED_UNSAFE
 * for what needs consent; SATED_UNSUPPORTED where the drive takes no such commands; SATED_STATE where a replayed drive
 * expects another one. Thread: the handle's. */
int sated_scsi_raw(struct sated_drive *d, const struct sated_scsi_command *c, void *data, struct sated_reply *reply);

/* Whether the table of read-only commands has it. Return: 0, or SATED_UNSAFE with a sentence. Thread: any. */
int sated_scsi_check_read_only(const struct sated_scsi_command *c);

/* How long to wait by the timeouts that a drive reports of a command: the recommended one, else the greater of twice the
 * nominal one and ten minutes more than it; where the two contradict each other, the longer. @param otherwise_ms the usual
 * time, which the result is never shorter than. Return: ms, at most 4294967295. Thread: any. */
uint32_t sated_scsi_timeout_ms(uint32_t nominal_s, uint32_t recommended_s, uint32_t otherwise_ms);

/* Asks the drive by REPORT SUPPORTED OPERATION CODES with RCTD how long a command may take. Commands that may take long
 * (FORMAT UNIT, SANITIZE, WRITE SAME, self-tests ...) and are sent without a timeout of their own ask by themselves, once
 * for each opcode. @param of the command;
 * @param timeout_ms receives its answer, or the usual time where that is longer or the call fails.
 * Return: 0 or an error. Thread: the handle's. */
int sated_scsi_timeout_get(struct sated_drive *d, const struct sated_scsi_command *of, uint32_t *timeout_ms);

/* cdef: end */

#ifndef SATED_STATIC
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
