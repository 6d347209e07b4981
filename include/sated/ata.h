/* SPDX-License-Identifier: MIT */
#ifndef SATED_ATA_H
#define SATED_ATA_H

#include <sated/scsi.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifndef SATED_STATIC
#pragma GCC visibility push(default)
#endif

/* cdef: begin */

/* ATA commands as bytes, and what drives answer. Everything here is pure: nothing is sent, allocated or kept, and every
 * call may be made from any thread. "w" is a word of IDENTIFY DEVICE data (ACS-4), "w128.3" its bit. Clauses of ACS and
 * SAT are cited by their titles, which are the commands' names: from draft to draft their numbers differ.
 *
 * A decoded struct begins with `known`: bit i is set when its i-th member holds what the drive told (`known` itself is
 * member 0). A member that is not known is 0 and means nothing. */

/* How the data of a command moves: the PROTOCOL field of ATA PASS-THROUGH (SAT-4). */
enum sated_ata_protocol {
    SATED_ATA_HARD_RESET = 0,
    SATED_ATA_SOFT_RESET = 1,
    SATED_ATA_NON_DATA = 3,
    SATED_ATA_PIO_IN = 4,
    SATED_ATA_PIO_OUT = 5,
    SATED_ATA_DMA = 6,
    SATED_ATA_DMA_QUEUED = 7,
    SATED_ATA_DIAGNOSTIC = 8,
    SATED_ATA_DEVICE_RESET = 9,
    SATED_ATA_UDMA_IN = 10,
    SATED_ATA_UDMA_OUT = 11,
    SATED_ATA_FPDMA = 12,
    SATED_ATA_RETURN_RESPONSE = 15,
};

enum sated_ata_direction {
    SATED_ATA_NO_DATA = 0,
    SATED_ATA_IN = 1,  /* from the drive */
    SATED_ATA_OUT = 2, /* to the drive */
};

/* One command as its registers. The length of the data stands in COUNT, for SATED_ATA_FPDMA in FEATURES. */
struct sated_ata_command {
    uint8_t command;
    uint8_t device;    /* DEVICE without LBA 27:24 */
    uint8_t protocol;  /* enum sated_ata_protocol */
    uint8_t direction; /* enum sated_ata_direction */
    uint8_t ext;       /* 1: a 48-bit command (EXTEND) */
    uint8_t ck_cond;   /* 1: the registers are the answer (CK_COND) */
    uint8_t t_type;    /* what the length counts: 0 blocks of 512 bytes, 1 logical sectors (T_TYPE) */
    uint8_t icc;       /* only in a 32-byte CDB */
    uint16_t features;
    uint16_t count;
    uint32_t auxiliary;  /* only in a 32-byte CDB */
    uint64_t lba;        /* 48 bits where ext is 1; else 28, of which bits 27:24 go into DEVICE 3:0 */
    uint32_t data_len;   /* bytes to or from the drive */
    uint32_t timeout_ms; /* 0: the transport chooses */
};

/* Where registers were found in the sense data. */
enum sated_ata_registers_source {
    SATED_ATA_REGISTERS_NONE = 0,       /* nowhere: nothing is known, which is never a success */
    SATED_ATA_REGISTERS_DESCRIPTOR = 1, /* ATA Status Return sense data descriptor (SAT-4) */
    SATED_ATA_REGISTERS_FIXED = 2,      /* fixed format sense data (SAT-4): LBA and COUNT are cut */
    SATED_ATA_REGISTERS_LEGACY = 3,     /* fixed format of Linux before 6.11: the same fields from byte 8 on */
    SATED_ATA_REGISTERS_LOG = 4,        /* ATA PASS-THROUGH Results log page (SAT-4): whole */
};

/* The registers after a command. */
struct sated_ata_registers {
    uint64_t known;
    uint64_t lba;          /* whole; not known where upper bits were cut */
    uint64_t lba_low;      /* the low bits that were told, and how many */
    uint32_t lba_low_bits; /* 48, 24, 8 or less */
    uint16_t count;        /* whole; not known where upper bits were cut */
    uint8_t count_low;     /* COUNT 7:0 */
    uint8_t error;
    uint8_t status;
    uint8_t device;
    uint8_t extend;    /* 1: the upper bytes belong to the answer */
    uint8_t source;    /* enum sated_ata_registers_source; always known */
    uint8_t log_index; /* fixed format: where the whole registers stand in the results log, 1 to 15 */
    uint8_t reserved[3];
};

/* Makes the CDB of ATA PASS-THROUGH(12), (16) or (32) (SAT-4). @param c the command; @param cdb_len 12 (28-bit commands
 * only), 16 or 32; @param out the SCSI command, with direction, length and timeout. Return: 0, or SATED_PARSE for what
 * such a CDB cannot carry. */
int sated_ata_build_cdb(const struct sated_ata_command *c, uint32_t cdb_len, struct sated_scsi_command *out);

/* Finds the registers in sense data. @param sense as received, @param n bytes of it. Return: 0, also where nothing was
 * found: then nothing but `source` is known; SATED_PARSE for sense data that is none. */
int sated_ata_decode_registers(const void *sense, size_t n, struct sated_ata_registers *out);

/* Finds the registers in the ATA PASS-THROUGH Results log page, 16h (SAT-4), which keeps what fixed format cuts.
 * @param data n bytes of LOG SENSE data; @param log_index as the sense data had it, 1 to 15. Return: 0, also where that
 * index is not there: then nothing but `source` is known; SATED_PARSE for another page or index. */
int sated_ata_decode_results_log(const void *data, size_t n, uint32_t log_index, struct sated_ata_registers *out);

/* What a command's registers say. Every answer is unknown where the registers are, and where BSY is set. `failed` is 1
 * when the drive set ERR or DF: then nothing else is known but what belongs to the failure. */

/* CHECK POWER MODE (ACS-4): COUNT 7:0. */
enum sated_ata_power {
    SATED_ATA_STANDBY_Z = 0x00,
    SATED_ATA_STANDBY_Y = 0x01,
    SATED_ATA_NV_CACHE_SPUN_DOWN = 0x40,
    SATED_ATA_NV_CACHE_SPUN_UP = 0x41,
    SATED_ATA_IDLE = 0x80,
    SATED_ATA_IDLE_A = 0x81,
    SATED_ATA_IDLE_B = 0x82,
    SATED_ATA_IDLE_C = 0x83,
    SATED_ATA_ACTIVE_OR_IDLE = 0xff,
};

struct sated_ata_power_mode {
    uint64_t known;
    uint32_t failed;
    uint32_t mode; /* enum sated_ata_power; not known where COUNT is none of them */
};

/* SMART RETURN STATUS (ACS-4): LBA 23:8 is C24Fh or 2CF4h. */
struct sated_ata_smart_status {
    uint64_t known;
    uint32_t failed;
    uint32_t exceeded; /* 1: the drive says that a threshold was exceeded */
};

/* READ NATIVE MAX ADDRESS (EXT), GET NATIVE MAX ADDRESS EXT (ATA8-ACS, ACS-4). */
struct sated_ata_native_max {
    uint64_t known;
    uint32_t failed;
    uint32_t reserved;
    uint64_t max_lba;
    uint64_t sectors; /* max_lba + 1 */
};

/* SANITIZE STATUS EXT and every other command of Sanitize Device (ACS-4). */
enum sated_ata_sanitize_reason {
    SATED_ATA_SANITIZE_NOT_REPORTED = 0,
    SATED_ATA_SANITIZE_UNSUCCESSFUL = 1,
    SATED_ATA_SANITIZE_UNSUPPORTED = 2,
    SATED_ATA_SANITIZE_FROZEN = 3,
};

struct sated_ata_sanitize_status {
    uint64_t known;
    uint32_t failed;
    uint32_t completed;   /* COUNT 15: the last one ended without error */
    uint32_t in_progress; /* COUNT 14 */
    uint32_t frozen;      /* COUNT 13 */
    uint32_t antifreeze;  /* COUNT 12 */
    uint32_t progress;    /* LBA 15:0 of 65536; known only while in progress */
    uint32_t reason;      /* enum sated_ata_sanitize_reason; known only when failed */
    uint32_t reserved;
};

/* What each of these commands answered. @param r the registers after it. Return: 0, also where nothing is known. */
int sated_ata_decode_power_mode(const struct sated_ata_registers *r, struct sated_ata_power_mode *out);
int sated_ata_decode_smart_status(const struct sated_ata_registers *r, struct sated_ata_smart_status *out);
int sated_ata_decode_native_max(const struct sated_ata_registers *r, struct sated_ata_native_max *out);
int sated_ata_decode_sanitize_status(const struct sated_ata_registers *r, struct sated_ata_sanitize_status *out);

/* Builders. Each fills *c for one command and returns 0, or SATED_PARSE for an argument that the command cannot carry,
 * with the value and what was expected. What does not move data, and the Security set, asks for the registers
 * (CK_COND); data-in commands never do, because some USB bridges then report nothing at all. */

/* IDENTIFY DEVICE ECh (ACS-4). */
int sated_ata_build_identify_device(struct sated_ata_command *c);

/* READ LOG EXT 2Fh, or READ LOG DMA EXT 47h where dma is 1 (ACS-4). @param log the log's address, @param page
 * its first page, @param pages how many, 1 to 65535, @param features as the log defines them. */
int sated_ata_build_read_log(struct sated_ata_command *c, uint32_t log, uint32_t page, uint32_t pages,
                             uint32_t features, bool dma);

/* The SMART set B0h (ACS-4; READ DATA as in ATA8-ACS, READ ATTRIBUTE THRESHOLDS as in ATA-3). */
int sated_ata_build_smart_read_data(struct sated_ata_command *c);
int sated_ata_build_smart_read_thresholds(struct sated_ata_command *c);
int sated_ata_build_smart_return_status(struct sated_ata_command *c);
int sated_ata_build_smart_enable(struct sated_ata_command *c);
int sated_ata_build_smart_disable(struct sated_ata_command *c);
int sated_ata_build_smart_read_log(struct sated_ata_command *c, uint32_t log, uint32_t pages);
int sated_ata_build_smart_write_log(struct sated_ata_command *c, uint32_t log, uint32_t pages);

/* Subcommands of SMART EXECUTE OFF-LINE IMMEDIATE; with SATED_ATA_TEST_CAPTIVE added the command lasts as long as the
 * test. */
enum sated_ata_self_test {
    SATED_ATA_TEST_OFFLINE = 0,
    SATED_ATA_TEST_SHORT = 1,
    SATED_ATA_TEST_EXTENDED = 2,
    SATED_ATA_TEST_CONVEYANCE = 3,
    SATED_ATA_TEST_SELECTIVE = 4,
    SATED_ATA_TEST_ABORT = 0x7f,
    SATED_ATA_TEST_CAPTIVE = 0x80,
};

/* SMART EXECUTE OFF-LINE IMMEDIATE. @param subcommand as above, or one of the maker's own (40h-7Eh, 90h-FFh). */
int sated_ata_build_smart_offline(struct sated_ata_command *c, uint32_t subcommand);

/* The Security set F1h to F6h (ACS-4). ERASE PREPARE must come directly before ERASE UNIT, whose @param timeout_ms
 * comes from sated_ata_erase_timeout_ms(). The 512 bytes of data come from sated_ata_build_security_data(). */
int sated_ata_build_security_set_password(struct sated_ata_command *c);
int sated_ata_build_security_unlock(struct sated_ata_command *c);
int sated_ata_build_security_erase_prepare(struct sated_ata_command *c);
int sated_ata_build_security_erase_unit(struct sated_ata_command *c, uint32_t timeout_ms);
int sated_ata_build_security_freeze_lock(struct sated_ata_command *c);
int sated_ata_build_security_disable_password(struct sated_ata_command *c);

struct sated_ata_security_data {
    uint32_t command;  /* F1h SET PASSWORD, F2h UNLOCK, F4h ERASE UNIT or F6h DISABLE PASSWORD */
    uint32_t master;   /* IDENTIFIER: 0 user, 1 master password */
    uint32_t maximum;  /* only SET PASSWORD of the user: level 0 high, 1 maximum */
    uint32_t enhanced; /* only ERASE UNIT */
    uint32_t revision; /* only SET PASSWORD of the master: 1 to FFFEh, 0 leaves it as it is */
    uint32_t n_password;
    uint8_t password[32]; /* n_password bytes, the rest is sent as zero */
};

/* The data of a Security command. @param buf where to, @param cap bytes there are, at least 512. Return: 512. */
int sated_ata_build_security_data(void *buf, size_t cap, const struct sated_ata_security_data *in);

/* How long SECURITY ERASE UNIT may take. @param word w89 or w90 as it is. Return: ms: the greater of twice the estimate
 * and ten minutes more than it, twelve hours at least where the drive gives none or only a lower bound; at most the
 * 4294967295 ms (49 days) that a command can be given. */
int64_t sated_ata_erase_timeout_ms(uint32_t word);

/* Sanitize Device B4h (ACS-4). @param failure_mode 1: after a failure SANITIZE STATUS EXT with clear ends it;
 * @param zoned_no_reset 1: zones keep their write pointers. */
int sated_ata_build_sanitize_status(struct sated_ata_command *c, bool clear);
int sated_ata_build_sanitize_crypto_scramble(struct sated_ata_command *c, bool failure_mode, bool zoned_no_reset);
int sated_ata_build_sanitize_block_erase(struct sated_ata_command *c, bool failure_mode, bool zoned_no_reset);
int sated_ata_build_sanitize_freeze_lock(struct sated_ata_command *c);
int sated_ata_build_sanitize_antifreeze_lock(struct sated_ata_command *c);

/* OVERWRITE EXT. @param passes 1 to 16; @param invert 1: every pass writes the complement of the one before;
 * @param definitive_ending 1: the last pass ends with the pattern itself. */
int sated_ata_build_sanitize_overwrite(struct sated_ata_command *c, uint32_t pattern, uint32_t passes, bool invert,
                                       bool definitive_ending, bool failure_mode, bool zoned_no_reset);

/* Host Protected Area: READ NATIVE MAX ADDRESS and SET MAX ADDRESS, (EXT) (ATA8-ACS). SET MAX ADDRESS must come directly after READ NATIVE MAX
 * ADDRESS of the same form. @param ext 1: the 48-bit form; @param max_lba the last address that stays reachable;
 * @param keep 1: the new size survives power off (VV). */
int sated_ata_build_read_native_max(struct sated_ata_command *c, bool ext);
int sated_ata_build_set_max(struct sated_ata_command *c, bool ext, uint64_t max_lba, bool keep);
int sated_ata_build_set_max_password(struct sated_ata_command *c);
int sated_ata_build_set_max_lock(struct sated_ata_command *c);
int sated_ata_build_set_max_unlock(struct sated_ata_command *c);
int sated_ata_build_set_max_freeze_lock(struct sated_ata_command *c);

/* The data of SET MAX SET PASSWORD and UNLOCK. @param password n bytes, at most 32. Return: 512. */
int sated_ata_build_set_max_data(void *buf, size_t cap, const void *password, size_t n);

/* Accessible Max Address Configuration 78h (ACS-4). */
int sated_ata_build_get_native_max(struct sated_ata_command *c);
int sated_ata_build_set_accessible_max(struct sated_ata_command *c, uint64_t max_lba);
int sated_ata_build_freeze_accessible_max(struct sated_ata_command *c);

/* Device Configuration Overlay B1h (ACS-2). */
int sated_ata_build_dco_identify(struct sated_ata_command *c);
int sated_ata_build_dco_restore(struct sated_ata_command *c);
int sated_ata_build_dco_freeze_lock(struct sated_ata_command *c);
int sated_ata_build_dco_set(struct sated_ata_command *c);

/* The data of DEVICE CONFIGURATION SET: what IDENTIFY answered, with another size. @param identify that answer, n =
 * 512 bytes with a good checksum; @param max_lba at most the one it tells. Return: 512. */
int sated_ata_build_dco_data(void *buf, size_t cap, const void *identify, size_t n, uint64_t max_lba);

/* Makes the DMA form of a command that was built for PIO: of SET MAX SET PASSWORD and SET MAX UNLOCK (w69.9), DEVICE
 * CONFIGURATION IDENTIFY and SET (w69.12) (ACS-2). Return: 0, or SATED_PARSE for a command that has no such form. */
int sated_ata_dma_form(struct sated_ata_command *c);

/* DATA SET MANAGEMENT 06h with TRIM (ACS-4). @param blocks of 512 bytes of ranges, 1 to w105. */
int sated_ata_build_trim(struct sated_ata_command *c, uint32_t blocks);

struct sated_ata_range {
    uint64_t lba;
    uint64_t sectors;
};

/* The most sectors that one entry of a TRIM list is given. An entry may have 65535 (ACS-4 table 46), but then the next
 * one begins in the middle of 4 KiB, and a drive keeps what neither of the two covers wholly. */
#define SATED_ATA_TRIM_SECTORS 65528

/* The data of TRIM: entries of 8 bytes, 64 in a block, SATED_ATA_TRIM_SECTORS each at most; longer ranges take several. The last
 * block is filled with zeros. Return: the length, a multiple of 512; SATED_PARSE where cap is too small. */
int sated_ata_build_trim_list(void *buf, size_t cap, const struct sated_ata_range *ranges, size_t n);

/* CHECK POWER MODE E5h, IDLE E3h, IDLE IMMEDIATE E1h, STANDBY E2h, STANDBY IMMEDIATE E0h, SLEEP E6h (ACS-4).
 * @param timer the standby timer's code, 0 = off. */
int sated_ata_build_check_power_mode(struct sated_ata_command *c);
int sated_ata_build_idle(struct sated_ata_command *c, uint32_t timer);
int sated_ata_build_idle_immediate(struct sated_ata_command *c);
int sated_ata_build_standby(struct sated_ata_command *c, uint32_t timer);
int sated_ata_build_standby_immediate(struct sated_ata_command *c);
int sated_ata_build_sleep(struct sated_ata_command *c);

/* SET FEATURES EFh (ACS-4): as registers, and the subcommands that a test needs. @param level 1 to FEh, 0 switches
 * APM off; @param feature 02h DMA auto-activation, 03h DIPM, 06h software settings preservation, 09h DevSleep;
 * @param parameter LBA 27:4 of an EPC subcommand. */
int sated_ata_build_set_features(struct sated_ata_command *c, uint32_t subcommand, uint32_t count, uint64_t lba);
int sated_ata_build_set_write_cache(struct sated_ata_command *c, bool on);
int sated_ata_build_set_look_ahead(struct sated_ata_command *c, bool on);
int sated_ata_build_set_apm(struct sated_ata_command *c, uint32_t level);
int sated_ata_build_set_epc(struct sated_ata_command *c, uint32_t subcommand, uint32_t condition, uint32_t parameter);
int sated_ata_build_set_sata_feature(struct sated_ata_command *c, uint32_t feature, bool on);

/* FLUSH CACHE E7h, FLUSH CACHE EXT EAh where ext is 1 (ACS-4). */
int sated_ata_build_flush_cache(struct sated_ata_command *c, bool ext);

/* READ and WRITE DMA C8h CAh, EXT 25h 35h, SECTOR(S) 20h 30h, EXT 24h 34h (ACS-4).
 * @param sectors logical, 1 to 256, or 65536 where ext is 1; @param block_bytes of a logical sector. */
int sated_ata_build_read(struct sated_ata_command *c, uint64_t lba, uint32_t sectors, uint32_t block_bytes, bool dma,
                         bool ext);
int sated_ata_build_write(struct sated_ata_command *c, uint64_t lba, uint32_t sectors, uint32_t block_bytes, bool dma,
                          bool ext);

/* IDENTIFY DEVICE data. */

/* Of a checksum byte: that of IDENTIFY may be absent (w255 without its signature A5h). */
enum sated_ata_checksum {
    SATED_ATA_CHECKSUM_ABSENT = 0,
    SATED_ATA_CHECKSUM_OK = 1,
    SATED_ATA_CHECKSUM_BAD = 2,
};

struct sated_ata_capacity {
    uint64_t known;
    uint64_t logical_block_bytes;  /* w106.12, w117-118 */
    uint64_t physical_block_bytes; /* w106 */
    uint64_t offset_bytes;         /* w209: of LBA 0 in its physical block */
    uint64_t lba28_sectors;        /* w60-61 */
    uint64_t lba48_sectors;        /* w100-103 */
    uint64_t sectors;              /* addressable by the widest command there is (w230-233 with w69.3) */
    uint64_t bytes;
};

struct sated_ata_geometry {
    uint64_t known;
    uint32_t cylinders;         /* w1 */
    uint32_t heads;             /* w3 */
    uint32_t sectors_per_track; /* w6 */
    uint32_t current_cylinders; /* w54 */
    uint32_t current_heads;
    uint32_t current_sectors_per_track;
    uint32_t current_sectors; /* w57-58 */
    uint32_t reserved;
};

/* A mode that is selected is a number, modes that are supported are a mask of numbers. */
struct sated_ata_transfer {
    uint64_t known;
    uint32_t lba;                    /* w49.9 */
    uint32_t iordy;                  /* w49.11 */
    uint32_t iordy_can_be_disabled;  /* w49.10 */
    uint32_t standby_timer_standard; /* w49.13 */
    uint32_t standby_timer_minimum;  /* w50.0: the drive has a minimum of its own */
    uint32_t multiple_max;           /* w47 7:0 */
    uint32_t multiple_current;       /* w59 7:0 */
    uint32_t pio_modes;              /* w51, w64 */
    uint32_t single_dma_modes;       /* w62 */
    uint32_t single_dma_selected;
    uint32_t multi_dma_modes; /* w63 */
    uint32_t multi_dma_selected;
    uint32_t ultra_dma_modes; /* w88 */
    uint32_t ultra_dma_selected;
    uint32_t multi_dma_min_ns;         /* w65 */
    uint32_t multi_dma_recommended_ns; /* w66 */
    uint32_t pio_min_ns;               /* w67 */
    uint32_t pio_iordy_min_ns;         /* w68 */
    uint32_t buffer_bytes;             /* w21; retired, 0 is not known */
    uint32_t buffer_type;              /* w20; retired */
    uint32_t cblid_above_vih;          /* w93.13 */
    uint32_t device_number;            /* w93.0 */
};

/* Switches, and what they are set to. */
struct sated_ata_settings {
    uint64_t known;
    uint32_t smart_supported;       /* w82.0 */
    uint32_t smart_enabled;         /* w85.0 */
    uint32_t write_cache_supported; /* w82.5 */
    uint32_t write_cache_enabled;   /* w85.5 */
    uint32_t look_ahead_supported;  /* w82.6 */
    uint32_t look_ahead_enabled;    /* w85.6 */
    uint32_t apm_supported;         /* w83.3 */
    uint32_t apm_enabled;           /* w86.3 */
    uint32_t apm_level;             /* w91 7:0, where enabled */
    uint32_t aam_level;             /* w94 7:0, where w83.9 */
    uint32_t aam_recommended;       /* w94 15:8 */
    uint32_t epc_supported;         /* w119.7 */
    uint32_t epc_enabled;           /* w120.7 */
    uint32_t dipm_supported;        /* w78.3 */
    uint32_t dipm_enabled;          /* w79.3 */
    uint32_t devsleep_supported;    /* w78.8 */
    uint32_t devsleep_enabled;      /* w79.8 */
    uint32_t puis_supported;        /* w83.5: power-up in standby */
    uint32_t puis_enabled;          /* w86.5 */
    uint32_t gpl_supported;         /* w84.5 */
    uint32_t self_test_supported;   /* w84.1 */
    uint32_t error_log_supported;   /* w84.0 */
    uint32_t read_log_dma;          /* w119.3 */
    uint32_t sct_supported;         /* w206.0 */
};

struct sated_ata_link {
    uint64_t known;
    uint32_t type;             /* w222 15:12: 0 parallel, 1 serial, Eh PCIe */
    uint32_t versions;         /* w222 11:0 */
    uint32_t minor_version;    /* w223 */
    uint32_t speed_max;        /* w76 3:1: the fastest generation, 1 to 3 (1.5, 3.0, 6.0 Gb/s) */
    uint32_t speed_current;    /* w77 3:1 */
    uint32_t ncq;              /* w76.8 */
    uint32_t queue_depth;      /* w75 + 1, where w76.8 or w83.1 */
    uint32_t phy_counters;     /* w76.10 */
    uint32_t ncq_priority;     /* w76.12 */
    uint32_t ncq_streaming;    /* w77.4 */
    uint32_t ncq_management;   /* w77.5 */
    uint32_t ncq_send_receive; /* w77.6 */
    uint32_t ncq_autosense;    /* w78.7 */
    uint32_t reserved;
    char version[24]; /* the newest of `versions`, such as "SATA 3.1" */
};

/* The Security set: w128, which w82.1 and w85.1 must not contradict. */
struct sated_ata_security {
    uint64_t known;
    uint32_t supported;
    uint32_t enabled;
    uint32_t locked;
    uint32_t frozen;
    uint32_t count_expired;
    uint32_t enhanced_erase;
    uint32_t level;            /* w128.8: 0 high, 1 maximum */
    uint32_t master_revision;  /* w92; not known where it is 0 or FFFFh */
    uint32_t erase_minutes;    /* w89 in either format; not known where the drive gives none */
    uint32_t erase_at_least;   /* 1: it takes longer than that, and no more is said */
    uint32_t enhanced_minutes; /* w90 */
    uint32_t enhanced_at_least;
};

/* w59. The methods are not known where they contradict `supported`. */
struct sated_ata_sanitize {
    uint64_t known;
    uint32_t supported;       /* .12 */
    uint32_t crypto_scramble; /* .13 */
    uint32_t overwrite;       /* .14 */
    uint32_t block_erase;     /* .15 */
    uint32_t antifreeze_lock; /* .10 */
    uint32_t acs3_commands;   /* .11: what is allowed meanwhile is as in ACS-3 */
};

/* What can hide sectors. */
struct sated_ata_areas {
    uint64_t known;
    uint32_t hpa_supported;      /* w82.10 */
    uint32_t hpa_enabled;        /* w85.10 */
    uint32_t set_max_security;   /* w83.8 */
    uint32_t set_max_locked;     /* w86.8: SET MAX SET PASSWORD was used */
    uint32_t set_max_dma;        /* w69.9 */
    uint32_t amac_supported;     /* w119.8 */
    uint32_t dco_supported;      /* w83.11 */
    uint32_t dco_enabled;        /* w86.11 */
    uint32_t dco_dma;            /* w69.12 */
    uint32_t extended_addresses; /* w69.3: the size stands in w230-233 */
};

struct sated_ata_trim {
    uint64_t known;
    uint32_t supported;     /* w169.0 */
    uint32_t max_blocks;    /* w105; 0 is not known */
    uint32_t deterministic; /* w69.14: a trimmed sector always reads the same */
    uint32_t zeroed;        /* w69.5: and that is zero */
};

/* A feature that the drive supports. */
struct sated_ata_feature {
    uint64_t known;
    uint32_t word; /* where IDENTIFY says so */
    uint32_t bit;
    uint32_t enabled; /* not known where no word tells */
    uint32_t reserved;
    char name[48];
};

#define SATED_ATA_FEATURES 112

struct sated_ata_identify {
    uint64_t known;
    uint16_t words[256];
    char serial[24];         /* w10-19 */
    char firmware[16];       /* w23-26 */
    char model[48];          /* w27-46 */
    char product[16];        /* w170-173, additional product identifier */
    char media_serial[64];   /* w176-205 */
    uint64_t wwn;            /* w108-111, where w84.8 */
    uint32_t atapi;          /* w0.15 */
    uint32_t removable;      /* w0.7 */
    uint32_t incomplete;     /* w0.2: the drive must spin up before the rest is right */
    uint32_t checksum;       /* enum sated_ata_checksum of w255 */
    uint32_t major_versions; /* w80: bit 8 is ATA8-ACS, bit 11 ACS-4 */
    uint32_t minor_version;  /* w81 */
    char version[48];        /* what w81 names, else the newest of w80 */
    uint32_t rotation_rpm;   /* w217: 0 is not rotating */
    uint32_t form_factor;  /* w168 3:0: 1 5.25, 2 3.5, 3 2.5, 4 1.8 inch, 5 less, 6 mSATA, 7 M.2, 8 MicroSSD, 9 CFast */
    uint32_t encrypts_all; /* w69.4 */
    uint32_t trusted;      /* w48.0: Trusted Computing */
    struct sated_ata_capacity capacity;
    struct sated_ata_geometry geometry;
    struct sated_ata_transfer transfer;
    struct sated_ata_settings settings;
    struct sated_ata_link link;
    struct sated_ata_security security;
    struct sated_ata_sanitize sanitize;
    struct sated_ata_areas areas;
    struct sated_ata_trim trim;
    uint32_t n_features;
    uint32_t reserved;
    struct sated_ata_feature features[SATED_ATA_FEATURES];
};

/* @param data n bytes of IDENTIFY DEVICE; what lies beyond 512 is not looked at, and what is missing is not known.
 * Return: 0, or SATED_PARSE for less than one word, or for an answer that is all 00h or all FFh. */
int sated_ata_decode_identify(const void *data, size_t n, struct sated_ata_identify *out);

/* SMART data, thresholds and self-test logs. */

#define SATED_ATA_ATTRIBUTES 30

struct sated_ata_smart_attribute {
    uint64_t known;
    uint32_t id;
    uint32_t flags; /* bit 0: a failure is imminent when it fails, bit 1: updated always */
    uint32_t value;
    uint32_t worst;
    uint8_t raw[6];
    uint8_t reserved[2];
    uint64_t raw48; /* the raw bytes as one number */
};

struct sated_ata_smart {
    uint64_t known;
    uint32_t revision;
    uint32_t offline_status;   /* byte 362 */
    uint32_t self_test_result; /* byte 363 7:4: 0 none or good, 1 aborted, 2 reset, 3 fatal, 4-8 failed, 15 running */
    uint32_t self_test_remaining;  /* byte 363 3:0: percent */
    uint32_t offline_seconds;      /* bytes 364-365 */
    uint32_t offline_capabilities; /* byte 367 */
    uint32_t capabilities;         /* bytes 368-369 */
    uint32_t error_logging;        /* byte 370.0 */
    uint32_t short_minutes;        /* byte 372: recommended polling time */
    uint32_t extended_minutes;     /* byte 373, or 375-376 */
    uint32_t conveyance_minutes;   /* byte 374 */
    uint32_t checksum;             /* enum sated_ata_checksum */
    uint32_t n_attributes;
    uint32_t reserved;
    struct sated_ata_smart_attribute attributes[SATED_ATA_ATTRIBUTES];
};

struct sated_ata_smart_threshold {
    uint32_t id;
    uint32_t threshold;
};

struct sated_ata_smart_thresholds {
    uint64_t known;
    uint32_t revision;
    uint32_t checksum;
    uint32_t n_thresholds;
    uint32_t reserved;
    struct sated_ata_smart_threshold thresholds[SATED_ATA_ATTRIBUTES];
};

#define SATED_ATA_SELF_TESTS 21

struct sated_ata_self_test_entry {
    uint64_t known;
    uint32_t subcommand; /* of SMART EXECUTE OFF-LINE IMMEDIATE */
    uint32_t result;     /* as self_test_result */
    uint32_t remaining;  /* percent */
    uint32_t hours;      /* of the drive's life when it ended; wraps at 65536 */
    uint32_t checkpoint;
    uint32_t reserved;
    uint64_t lba; /* the first that failed; not known where none did */
};

struct sated_ata_self_test_log {
    uint64_t known;
    uint32_t revision;
    uint32_t checksum;
    uint32_t n_entries; /* newest first */
    uint32_t reserved;
    struct sated_ata_self_test_entry entries[SATED_ATA_SELF_TESTS];
};

/* @param data n bytes of the answer; what is missing is not known. Return: 0, or SATED_PARSE where not even the revision
 * is there. A bad checksum is told, not refused. */
int sated_ata_decode_smart(const void *data, size_t n, struct sated_ata_smart *out);
int sated_ata_decode_smart_thresholds(const void *data, size_t n, struct sated_ata_smart_thresholds *out);

/* SMART log 06h; with extended = 1 the first page of log 07h by READ LOG EXT. */
int sated_ata_decode_self_test_log(const void *data, size_t n, bool extended, struct sated_ata_self_test_log *out);

#define SATED_ATA_ERRORS 5

/* An error, and the command that it ended. */
struct sated_ata_error_entry {
    uint64_t known;
    uint32_t command;
    uint32_t features; /* of the command */
    uint32_t status;
    uint32_t error;
    uint32_t count;
    uint32_t device;
    uint64_t lba;
    uint32_t state; /* of the drive: 0 unknown, 1 sleep, 2 standby, 3 active or idle, 4 self-test; 11-15 the maker's */
    uint32_t hours; /* of the drive's life */
};

struct sated_ata_error_log {
    uint64_t known;
    uint32_t version;
    uint32_t checksum;
    uint32_t total;     /* errors in the drive's life, up to 65535 */
    uint32_t n_entries; /* newest first */
    struct sated_ata_error_entry entries[SATED_ATA_ERRORS];
};

/* SMART log 01h, summary error log; with extended = 1 the first page of log 03h by READ LOG EXT. */
int sated_ata_decode_error_log(const void *data, size_t n, bool extended, struct sated_ata_error_log *out);

/* What attributes mean. The standards leave it to the maker: names and layouts are what drive families are known for,
 * and a unit is known only where the family is. */

/* How the six raw bytes r0 to r5 are to be read. */
enum sated_ata_raw_format {
    SATED_ATA_RAW48 = 0,       /* one number */
    SATED_ATA_RAW24_RAW8 = 1,  /* number of 24 bits, others above it */
    SATED_ATA_RAW16_RAW16 = 2, /* number of 16 bits, others above it */
    SATED_ATA_RAW16_AVG16 = 3, /* number of 16 bits and its average */
    SATED_ATA_RAW16_PAIR = 4,  /* two counts: r4-r5 and r0-r1 */
    SATED_ATA_TEMPERATURE = 5, /* Celsius, with the lowest and highest where the layout shows them */
};

enum sated_ata_meaning {
    SATED_ATA_MEANS_NOTHING = 0, /* that is known */
    SATED_ATA_MEANS_TEMPERATURE = 1,
    SATED_ATA_MEANS_POWER_ON_HOURS = 2,
    SATED_ATA_MEANS_POWER_CYCLES = 3,
    SATED_ATA_MEANS_UNSAFE_SHUTDOWNS = 4,
    SATED_ATA_MEANS_HOST_WRITES = 5,
    SATED_ATA_MEANS_HOST_READS = 6,
    SATED_ATA_MEANS_MEDIA_WRITES = 7,
    SATED_ATA_MEANS_REALLOCATED = 8,
    SATED_ATA_MEANS_UNCORRECTABLE = 9,
    SATED_ATA_MEANS_PROGRAM_FAILS = 10,
    SATED_ATA_MEANS_ERASE_FAILS = 11,
    SATED_ATA_MEANS_LIFE_LEFT = 12,   /* the normalised value is the percent of life left */
    SATED_ATA_MEANS_SPARE_LEFT = 13,  /* the normalised value is the percent of spare blocks left */
    SATED_ATA_MEANS_ERASE_COUNT = 14, /* the raw value is the average */
    SATED_ATA_MEANS_LINK_ERRORS = 15,
    SATED_ATA_MEANS_PENDING = 16,
    SATED_ATA_MEANS_LIFE_LEFT_RAW = 17, /* the raw value is the percent of life left */
};

struct sated_ata_attribute_info {
    uint64_t known;
    uint32_t format;     /* enum sated_ata_raw_format */
    uint32_t meaning;    /* enum sated_ata_meaning */
    uint64_t unit_bytes; /* of one count */
    char name[32];
    char family[48]; /* of drives from which all this is known */
};

/* @param model as IDENTIFY has it, or NULL; @param rotating 0 SSD, 1 disk, -1 not known; @param id 1 to 255. */
int sated_ata_attribute_info(const char *model, int32_t rotating, uint32_t id, struct sated_ata_attribute_info *out);

struct sated_ata_attribute_raw {
    uint64_t known;
    uint64_t value;
    uint64_t second; /* the average, or the other count; not known where it says nothing */
    int32_t temperature_c;
    int32_t min_c;
    int32_t max_c;
    int32_t reserved;
};

/* @param raw six bytes as in SMART data; @param format enum sated_ata_raw_format. */
int sated_ata_decode_attribute_raw(const void *raw, size_t n, uint32_t format, struct sated_ata_attribute_raw *out);

/* The unit of a counter, found by writing a known amount. */
struct sated_ata_calibration {
    uint64_t known;
    uint64_t unit_bytes;     /* not known where the experiment does not decide */
    double step_bytes;       /* bytes written for each count */
    double error;            /* of step_bytes against unit_bytes, as a fraction */
    uint64_t lifetime_bytes; /* the counter after, in bytes */
    uint32_t n_candidates;   /* units that agree with the experiment */
    uint32_t reserved;
    uint64_t candidates[8];
};

/* @param before, after the counter, @param bytes_written in between. Units that drives are known to use are tried: 512,
 * 4096 bytes, 512,000 bytes, 1, 16, 32 and 64 MiB, 1 GiB, 1 GB. One agrees when the counts differ from the amount by no
 * more than one count and 1 %. */
int sated_ata_calibration(uint64_t before, uint64_t after, uint64_t bytes_written, struct sated_ata_calibration *out);

/* Logs read with READ LOG EXT. */

#define SATED_ATA_STATISTICS 63

/* Device statistics, log 04h (ACS-4 9.5). */
struct sated_ata_statistic {
    uint64_t known;
    uint32_t offset;
    uint32_t normalized;
    uint32_t condition_met; /* a condition that the drive watches */
    uint32_t reserved;
    int64_t value; /* not known where the drive says that it is not valid */
    char name[64];
};

struct sated_ata_statistics {
    uint64_t known;
    uint32_t revision;
    uint32_t page;
    uint32_t n_statistics; /* that the drive supports */
    uint32_t reserved;
    struct sated_ata_statistic statistics[SATED_ATA_STATISTICS];
};

/* @param data n bytes of one page. Return: 0, or SATED_PARSE where the revision is 0 or the header is missing. */
int sated_ata_decode_statistics(const void *data, size_t n, struct sated_ata_statistics *out);

/* Page 00h of logs 04h and 30h: which pages there are. */
struct sated_ata_log_pages {
    uint64_t known;
    uint32_t revision;
    uint32_t n_pages;
    uint8_t pages[248];
};

/* @param data n bytes of that page. Return: 0, or SATED_PARSE where it is another one. */
int sated_ata_decode_log_pages(const void *data, size_t n, struct sated_ata_log_pages *out);

/* Log 00h: how many pages each log has; 0 is not supported. */
struct sated_ata_log_directory {
    uint64_t known;
    uint32_t version;
    uint32_t reserved;
    uint16_t pages[256];
};

/* @param data n bytes of the directory. Return: 0, or SATED_PARSE where not even the version is there. */
int sated_ata_decode_log_directory(const void *data, size_t n, struct sated_ata_log_directory *out);

struct sated_ata_pending_defect {
    uint64_t known;
    uint64_t lba;
    uint32_t hours; /* of the drive's life when it was found */
    uint32_t reserved;
};

#define SATED_ATA_PENDING_DEFECTS 127

/* Log 0Ch, pending defects (ACS-4 9.26). */
struct sated_ata_pending_defects {
    uint64_t known;
    uint32_t total;     /* that the drive has */
    uint32_t truncated; /* 1: more than there are here */
    uint32_t n_defects;
    uint32_t reserved;
    struct sated_ata_pending_defect defects[SATED_ATA_PENDING_DEFECTS];
};

/* @param data n bytes of the log from its first page on. Return: 0, or SATED_PARSE where not even the number is there. */
int sated_ata_decode_pending_defects(const void *data, size_t n, struct sated_ata_pending_defects *out);

/* Log 10h, NCQ command error (ACS-4): the queued command that failed. Reading it ends the error. */
struct sated_ata_ncq_error {
    uint64_t known;
    uint32_t queued; /* 0: the command that failed was none of NCQ */
    uint32_t tag;    /* of the command, where queued */
    uint32_t status;
    uint32_t error;
    uint32_t count;
    uint32_t device;
    uint64_t lba;
    uint32_t key; /* with asc and ascq, where the drive tells sense data */
    uint32_t asc;
    uint32_t ascq;
    uint32_t checksum;
};

/* @param data n bytes of the log. Return: 0, or SATED_PARSE for less than 512. */
int sated_ata_decode_ncq_error(const void *data, size_t n, struct sated_ata_ncq_error *out);

/* Page 00h of logs 24h and 25h, internal status of now and as saved (ACS-4): what the maker wants to see. The areas
 * begin at page 1 and each holds those before it. */
struct sated_ata_internal_status {
    uint64_t known;
    uint32_t log;          /* 24h or 25h */
    uint32_t organization; /* ORGANIZATION IDENTIFIER, the maker's OUI */
    uint32_t area1_last;   /* page, 0 for none */
    uint32_t area2_last;
    uint32_t area3_last;
    uint32_t saved;      /* 1: log 25h holds something */
    uint32_t generation; /* of what is saved */
    uint32_t reserved;
    uint8_t reason[128];
};

/* @param data n bytes of page 00h. Return: 0, or SATED_PARSE where it is of another log. */
int sated_ata_decode_internal_status(const void *data, size_t n, struct sated_ata_internal_status *out);

/* IDENTIFY DEVICE data log 30h (ACS-4 9.11): a field is known where its quad word says that it is valid. */

/* Page 03h. */
struct sated_ata_log_capabilities {
    uint64_t known;
    uint64_t capabilities;      /* quad word 8, bits 62:0 */
    uint32_t definitive_ending; /* .51: OVERWRITE EXT */
    uint32_t dsm_xl;            /* .50 */
    uint32_t zero_ext;          /* .48 */
    uint32_t dsn;               /* .44 */
    uint32_t amac;              /* .41 */
    uint32_t drat;              /* .39 */
    uint32_t rzat;              /* .31 */
    uint32_t look_ahead;        /* .25 */
    uint32_t write_cache;       /* .24 */
    uint32_t smart;             /* .23 */
    uint32_t lba48;             /* .20 */
    uint32_t puis;              /* .17 */
    uint32_t apm;               /* .16 */
    uint32_t fua;               /* .12 */
    uint32_t gpl;               /* .11 */
    uint32_t self_test;         /* .8 */
    uint32_t error_log;         /* .7 */
    uint32_t epc;               /* .6 */
    uint32_t sense_data;        /* .5 */
    uint32_t gpl_dma;           /* .2 */
    uint32_t rotation_rpm;      /* quad word 24; 0 is not rotating */
    uint32_t form_factor;       /* quad word 32 */
    uint32_t trim;              /* quad word 72.0 */
    uint32_t queue_depth;       /* quad word 136, + 1 */
};

/* Page 06h. */
struct sated_ata_log_security {
    uint64_t known;
    uint32_t master_revision;
    uint32_t supported;
    uint32_t level;
    uint32_t enhanced_erase;
    uint32_t count_expired;
    uint32_t frozen;
    uint32_t locked;
    uint32_t enabled;
    uint32_t erase_minutes;
    uint32_t erase_at_least;
    uint32_t enhanced_minutes;
    uint32_t enhanced_at_least;
    uint32_t trusted;
    uint32_t sanitize_overrides; /* a restricted SANITIZE works on a locked drive and ends the lock */
    uint32_t acs3_commands;
    uint32_t antifreeze_lock;
    uint32_t block_erase;
    uint32_t overwrite;
    uint32_t crypto_scramble;
    uint32_t sanitize;
    uint32_t encrypts_all;
    uint32_t reserved;
};

/* Page 08h. */
struct sated_ata_log_sata {
    uint64_t known;
    uint64_t capabilities; /* quad word 8, bits 62:0 */
    uint64_t settings;     /* quad word 16, bits 62:0 */
    uint32_t speed_max;    /* generation, 1 to 3 */
    uint32_t speed_current;
    uint32_t ncq;
    uint32_t phy_counters;
    uint32_t ncq_priority;
    uint32_t read_log_dma_equivalent;
    uint32_t ncq_streaming;
    uint32_t ncq_management;
    uint32_t ncq_send_receive;
    uint32_t dipm;
    uint32_t settings_preservation;
    uint32_t ncq_autosense;
    uint32_t devsleep;
    uint32_t devsleep_to_reduced;
};

/* Return: 0, or SATED_PARSE for another page than this one. */
int sated_ata_decode_log_capabilities(const void *data, size_t n, struct sated_ata_log_capabilities *out);
int sated_ata_decode_log_security(const void *data, size_t n, struct sated_ata_log_security *out);
int sated_ata_decode_log_sata(const void *data, size_t n, struct sated_ata_log_sata *out);

/* DEVICE CONFIGURATION IDENTIFY (ACS-2). Nothing but `checksum` is known where it is bad. */
struct sated_ata_dco {
    uint64_t known;
    uint64_t max_lba;       /* words 3-6: the largest that can be configured */
    uint64_t sectors;       /* max_lba + 1 */
    uint32_t revision;      /* word 0 */
    uint32_t multi_dma;     /* word 1 */
    uint32_t ultra_dma;     /* word 2 */
    uint32_t features;      /* word 7: commands and feature sets that can be hidden */
    uint32_t sata_features; /* word 8 */
    uint32_t checksum;      /* enum sated_ata_checksum */
};

/* @param data n bytes of the answer. Return: 0, or SATED_PARSE for less than 512. */
int sated_ata_decode_dco(const void *data, size_t n, struct sated_ata_dco *out);

/* Which sectors the drive has and does not show. */
struct sated_ata_hidden {
    uint64_t known;
    uint64_t accessible_sectors; /* as IDENTIFY says */
    uint64_t native_sectors;     /* as READ or GET NATIVE MAX ADDRESS says */
    uint64_t overlay_sectors;    /* the largest that DCO could restore */
    uint64_t hpa_sectors;        /* native - accessible: hidden by HPA or AMAC */
    uint64_t dco_sectors;        /* overlay - native; 0 where the drive has no DCO */
    uint64_t hidden_sectors;     /* both; known only when both are */
    uint64_t hidden_bytes;
    uint64_t hidden_at_least_sectors; /* what is known of it */
};

/* From the numbers alone, whatever a feature bit or a text says. @param id decoded IDENTIFY data; @param native the
 * registers of the native max command, or NULL where it was not sent; @param dco what DEVICE CONFIGURATION IDENTIFY
 * told, or NULL where it was not sent or was aborted: then unknown, unless IDENTIFY says that there is no DCO. */
int sated_ata_hidden(const struct sated_ata_identify *id, const struct sated_ata_registers *native,
                     const struct sated_ata_dco *dco, struct sated_ata_hidden *out);

/* ---- Sending (everything above only makes and reads bytes) ---- */

/* Sends a command by ATA PASS-THROUGH and waits for its answer; see sated_scsi_raw().
 * @param data c->data_len bytes to send or to fill, NULL without data; @param registers what the sense data has of them,
 * may be NULL; @param reply may be NULL. Return: 0; SATED_ATA where the registers say that it failed; SATED_UNSUPPORTED
 * where a command without data was to be answered by its registers (ck_cond) and none came: that is not a success; else
 * as sated_scsi_raw(). Thread: the handle's. */
int sated_ata_raw(struct sated_drive *d, const struct sated_ata_command *c, void *data,
                  struct sated_ata_registers *registers, struct sated_reply *reply);

/* Whether the table of read-only commands has it. Return: 0, SATED_UNSAFE with a sentence, or SATED_PARSE for what no CDB
 * can carry. Thread: any. */
int sated_ata_check_read_only(const struct sated_ata_command *c);

/* cdef: end */

#ifndef SATED_STATIC
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
