/* SPDX-License-Identifier: MIT */
/* SCSI commands as bytes. */
#include <sated/scsi.h>

#include <string.h>

#include "core/bytes.h"
#include "core/error.h"

#define REFUSE(...) return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, __VA_ARGS__)

/* Refuses a number that its field cannot hold. */
#define FITS(command, field, value, most) \
    do { \
        if ((uint64_t)(value) > (uint64_t)(most)) \
            REFUSE("%s: %s is %llu, where %llu is the most", command, field, (unsigned long long)(value), \
                   (unsigned long long)(most)); \
    } while (0)

static uint8_t *begin(struct sated_scsi_command *c, uint8_t opcode, uint32_t cdb_len)
{
    memset(c, 0, sizeof *c);
    c->cdb[0] = opcode;
    c->cdb_len = cdb_len;
    return c->cdb;
}

static int transfers(struct sated_scsi_command *c, uint32_t direction, uint64_t data_len)
{
    c->data_len = (uint32_t)data_len;
    c->direction = data_len ? direction : SATED_DATA_NONE;
    return 0;
}

static uint8_t bit(bool set, unsigned at)
{
    return (uint8_t)(set ? 1u << at : 0);
}

int sated_scsi_build_test_unit_ready(struct sated_scsi_command *c)
{
    begin(c, 0x00, 6);
    return 0;
}

int sated_scsi_build_request_sense(struct sated_scsi_command *c, bool desc, uint32_t alloc)
{
    uint8_t *b = begin(c, 0x03, 6);
    FITS("REQUEST SENSE", "the allocation length", alloc, 0xff);
    b[1] = bit(desc, 0);
    b[4] = (uint8_t)alloc;
    return transfers(c, SATED_DATA_IN, alloc);
}

int sated_scsi_build_inquiry(struct sated_scsi_command *c, int vpd_page, uint32_t alloc)
{
    uint8_t *b = begin(c, 0x12, 6);
    if (vpd_page < -1 || vpd_page > 0xff)
        REFUSE("INQUIRY: VPD page %d, where 0 to 255 was expected, or -1 for the standard data", vpd_page);
    FITS("INQUIRY", "the allocation length", alloc, 0xffff);
    b[1] = bit(vpd_page >= 0, 0);
    b[2] = vpd_page >= 0 ? (uint8_t)vpd_page : 0;
    bytes_put_be16(b + 3, (uint16_t)alloc);
    return transfers(c, SATED_DATA_IN, alloc);
}

int sated_scsi_build_read_capacity_10(struct sated_scsi_command *c)
{
    begin(c, 0x25, 10);
    return transfers(c, SATED_DATA_IN, 8);
}

int sated_scsi_build_read_capacity_16(struct sated_scsi_command *c, uint32_t alloc)
{
    uint8_t *b = begin(c, 0x9e, 16);
    b[1] = 0x10;
    bytes_put_be32(b + 10, alloc);
    return transfers(c, SATED_DATA_IN, alloc);
}

/* PC and page code in byte 2, subpage code in byte 3: of LOG SENSE and of both forms of MODE SENSE. */
static int select_page(uint8_t *b, const char *name, uint32_t pc, uint32_t page, uint32_t subpage)
{
    FITS(name, "PC", pc, 3);
    FITS(name, "the page code", page, 0x3f);
    FITS(name, "the subpage code", subpage, 0xff);
    b[2] = (uint8_t)(pc << 6 | page);
    b[3] = (uint8_t)subpage;
    return 0;
}

int sated_scsi_build_log_sense(struct sated_scsi_command *c, uint32_t pc, uint32_t page, uint32_t subpage,
                               uint32_t parameter, uint32_t alloc)
{
    uint8_t *b = begin(c, 0x4d, 10);
    int rc = select_page(b, "LOG SENSE", pc, page, subpage);
    if (rc)
        return rc;
    FITS("LOG SENSE", "the parameter pointer", parameter, 0xffff);
    FITS("LOG SENSE", "the allocation length", alloc, 0xffff);
    bytes_put_be16(b + 5, (uint16_t)parameter);
    bytes_put_be16(b + 7, (uint16_t)alloc);
    return transfers(c, SATED_DATA_IN, alloc);
}

int sated_scsi_build_mode_sense_6(struct sated_scsi_command *c, uint32_t pc, uint32_t page, uint32_t subpage, bool dbd,
                                  uint32_t alloc)
{
    uint8_t *b = begin(c, 0x1a, 6);
    int rc = select_page(b, "MODE SENSE(6)", pc, page, subpage);
    if (rc)
        return rc;
    FITS("MODE SENSE(6)", "the allocation length", alloc, 0xff);
    b[1] = bit(dbd, 3);
    b[4] = (uint8_t)alloc;
    return transfers(c, SATED_DATA_IN, alloc);
}

int sated_scsi_build_mode_sense_10(struct sated_scsi_command *c, uint32_t pc, uint32_t page, uint32_t subpage, bool dbd,
                                   bool llbaa, uint32_t alloc)
{
    uint8_t *b = begin(c, 0x5a, 10);
    int rc = select_page(b, "MODE SENSE(10)", pc, page, subpage);
    if (rc)
        return rc;
    FITS("MODE SENSE(10)", "the allocation length", alloc, 0xffff);
    b[1] = bit(llbaa, 4) | bit(dbd, 3);
    bytes_put_be16(b + 7, (uint16_t)alloc);
    return transfers(c, SATED_DATA_IN, alloc);
}

int sated_scsi_build_mode_select_6(struct sated_scsi_command *c, bool sp, uint32_t list_len)
{
    uint8_t *b = begin(c, 0x15, 6);
    FITS("MODE SELECT(6)", "the parameter list length", list_len, 0xff);
    b[1] = 0x10 | bit(sp, 0);
    b[4] = (uint8_t)list_len;
    return transfers(c, SATED_DATA_OUT, list_len);
}

int sated_scsi_build_mode_select_10(struct sated_scsi_command *c, bool sp, uint32_t list_len)
{
    uint8_t *b = begin(c, 0x55, 10);
    FITS("MODE SELECT(10)", "the parameter list length", list_len, 0xffff);
    b[1] = 0x10 | bit(sp, 0);
    bytes_put_be16(b + 7, (uint16_t)list_len);
    return transfers(c, SATED_DATA_OUT, list_len);
}

int sated_scsi_build_sanitize(struct sated_scsi_command *c, uint32_t action, bool immed, bool znr, bool ause,
                              uint32_t list_len)
{
    uint8_t *b = begin(c, 0x48, 10);
    switch (action) {
    case SATED_SANITIZE_OVERWRITE:
        if (list_len < 5)
            REFUSE("SANITIZE, overwrite: a parameter list of %u bytes, where at least 5 are needed (SBC-4 5.30.2.1)",
                   list_len);
        break;
    case SATED_SANITIZE_BLOCK_ERASE:
    case SATED_SANITIZE_CRYPTO_ERASE:
    case SATED_SANITIZE_EXIT_FAILURE:
        if (list_len)
            REFUSE("SANITIZE, service action %02Xh: a parameter list of %u bytes, where none is allowed "
                   "(SBC-4 5.30.2.1)",
                   action, list_len);
        break;
    default: REFUSE("SANITIZE: service action %u, where 1, 2, 3 or 31 was expected; ask for all of it", action);
    }
    FITS("SANITIZE", "the parameter list length", list_len, 0xffff);
    b[1] = (uint8_t)(bit(immed, 7) | bit(znr, 6) | bit(ause, 5) | action);
    bytes_put_be16(b + 7, (uint16_t)list_len);
    return transfers(c, SATED_DATA_OUT, list_len);
}

int sated_scsi_build_format_unit(struct sated_scsi_command *c, uint32_t fmtpinfo, uint32_t ffmt, bool cmplst,
                                 bool longlist, uint32_t list_len)
{
    uint8_t *b = begin(c, 0x04, 6);
    FITS("FORMAT UNIT", "FMTPINFO", fmtpinfo, 3);
    FITS("FORMAT UNIT", "FFMT", ffmt, 3);
    if (list_len && list_len < (longlist ? 8u : 4u))
        REFUSE("FORMAT UNIT: a parameter list of %u bytes, shorter than its header", list_len);
    if (!list_len && (longlist || cmplst))
        REFUSE("FORMAT UNIT: LONGLIST and CMPLST need a parameter list, and there is none");
    b[1] = (uint8_t)(fmtpinfo << 6 | bit(longlist, 5) | bit(list_len != 0, 4) | bit(cmplst, 3));
    b[4] = (uint8_t)ffmt;
    return transfers(c, SATED_DATA_OUT, list_len);
}

int sated_scsi_build_format_with_preset(struct sated_scsi_command *c, uint32_t preset, bool immed, bool fmtmaxlba)
{
    uint8_t *b = begin(c, 0x38, 10);
    b[1] = bit(immed, 7) | bit(fmtmaxlba, 6);
    bytes_put_be32(b + 2, preset);
    return 0;
}

int sated_scsi_build_unmap(struct sated_scsi_command *c, bool anchor, uint32_t group, uint32_t list_len)
{
    uint8_t *b = begin(c, 0x42, 10);
    FITS("UNMAP", "the group number", group, 0x3f);
    FITS("UNMAP", "the parameter list length", list_len, 0xffff);
    b[1] = bit(anchor, 0);
    b[6] = (uint8_t)group;
    bytes_put_be16(b + 7, (uint16_t)list_len);
    return transfers(c, SATED_DATA_OUT, list_len);
}

/* The 10- and the 16-byte form that most block commands share: LBA from byte 2 on, then length and group number. */
static int block_10(struct sated_scsi_command *c, const char *name, uint8_t opcode, uint8_t flags, uint64_t lba,
                    uint32_t blocks, uint32_t group)
{
    uint8_t *b = begin(c, opcode, 10);
    FITS(name, "the LBA", lba, 0xffffffff);
    FITS(name, "the number of blocks", blocks, 0xffff);
    FITS(name, "the group number", group, 0x3f);
    b[1] = flags;
    bytes_put_be32(b + 2, (uint32_t)lba);
    b[6] = (uint8_t)group;
    bytes_put_be16(b + 7, (uint16_t)blocks);
    return 0;
}

static int block_16(struct sated_scsi_command *c, const char *name, uint8_t opcode, uint8_t flags, uint64_t lba,
                    uint32_t blocks, uint32_t group)
{
    uint8_t *b = begin(c, opcode, 16);
    FITS(name, "the group number", group, 0x3f);
    b[1] = flags;
    bytes_put_be64(b + 2, lba);
    bytes_put_be32(b + 10, blocks);
    b[14] = (uint8_t)group;
    return 0;
}

int sated_scsi_build_write_same_10(struct sated_scsi_command *c, uint64_t lba, uint32_t blocks, uint32_t block_bytes,
                                   uint32_t wrprotect, bool unmap, bool anchor, uint32_t group)
{
    int rc = block_10(c, "WRITE SAME(10)", 0x41, (uint8_t)(wrprotect << 5 | bit(anchor, 4) | bit(unmap, 3)), lba,
                      blocks, group);
    if (rc)
        return rc;
    FITS("WRITE SAME(10)", "WRPROTECT", wrprotect, 7);
    if (!block_bytes)
        REFUSE("WRITE SAME(10): a block of 0 bytes");
    if (anchor && !unmap)
        REFUSE("WRITE SAME(10): ANCHOR without UNMAP (SBC-4 5.52)");
    return transfers(c, SATED_DATA_OUT, block_bytes);
}

int sated_scsi_build_write_same_16(struct sated_scsi_command *c, uint64_t lba, uint32_t blocks, uint32_t block_bytes,
                                   uint32_t wrprotect, bool unmap, bool anchor, bool ndob, uint32_t group)
{
    int rc = block_16(c, "WRITE SAME(16)", 0x93,
                      (uint8_t)(wrprotect << 5 | bit(anchor, 4) | bit(unmap, 3) | bit(ndob, 0)), lba, blocks, group);
    if (rc)
        return rc;
    FITS("WRITE SAME(16)", "WRPROTECT", wrprotect, 7);
    if (!block_bytes == !ndob)
        REFUSE("WRITE SAME(16): a block of %u bytes with NDOB %d", block_bytes, ndob);
    if (anchor && !unmap)
        REFUSE("WRITE SAME(16): ANCHOR without UNMAP (SBC-4 5.53)");
    return transfers(c, SATED_DATA_OUT, block_bytes);
}

/* READ and WRITE: the data's length is a number of blocks. */
static int move(struct sated_scsi_command *c, const char *name, uint8_t opcode, uint32_t direction, uint64_t lba,
                uint32_t blocks, uint32_t block_bytes, uint32_t protect, bool dpo, bool fua)
{
    uint8_t flags = (uint8_t)(protect << 5 | bit(dpo, 4) | bit(fua, 3));
    int rc = opcode & 0x80 ? block_16(c, name, opcode, flags, lba, blocks, 0)
                           : block_10(c, name, opcode, flags, lba, blocks, 0);
    if (rc)
        return rc;
    FITS(name, "the protection field", protect, 7);
    if (blocks && !block_bytes)
        REFUSE("%s: a block of 0 bytes", name);
    FITS(name, "the length in bytes", (uint64_t)blocks * block_bytes, UINT32_MAX);
    return transfers(c, direction, (uint64_t)blocks * block_bytes);
}

int sated_scsi_build_read_10(struct sated_scsi_command *c, uint64_t lba, uint32_t blocks, uint32_t block_bytes,
                             uint32_t protect, bool dpo, bool fua)
{
    return move(c, "READ(10)", 0x28, SATED_DATA_IN, lba, blocks, block_bytes, protect, dpo, fua);
}

int sated_scsi_build_read_16(struct sated_scsi_command *c, uint64_t lba, uint32_t blocks, uint32_t block_bytes,
                             uint32_t protect, bool dpo, bool fua)
{
    return move(c, "READ(16)", 0x88, SATED_DATA_IN, lba, blocks, block_bytes, protect, dpo, fua);
}

int sated_scsi_build_write_10(struct sated_scsi_command *c, uint64_t lba, uint32_t blocks, uint32_t block_bytes,
                              uint32_t protect, bool dpo, bool fua)
{
    return move(c, "WRITE(10)", 0x2a, SATED_DATA_OUT, lba, blocks, block_bytes, protect, dpo, fua);
}

int sated_scsi_build_write_16(struct sated_scsi_command *c, uint64_t lba, uint32_t blocks, uint32_t block_bytes,
                              uint32_t protect, bool dpo, bool fua)
{
    return move(c, "WRITE(16)", 0x8a, SATED_DATA_OUT, lba, blocks, block_bytes, protect, dpo, fua);
}

int sated_scsi_build_verify_10(struct sated_scsi_command *c, uint64_t lba, uint32_t blocks, uint32_t vrprotect,
                               bool dpo)
{
    FITS("VERIFY(10)", "VRPROTECT", vrprotect, 7);
    return block_10(c, "VERIFY(10)", 0x2f, (uint8_t)(vrprotect << 5 | bit(dpo, 4)), lba, blocks, 0);
}

int sated_scsi_build_verify_16(struct sated_scsi_command *c, uint64_t lba, uint32_t blocks, uint32_t vrprotect,
                               bool dpo)
{
    FITS("VERIFY(16)", "VRPROTECT", vrprotect, 7);
    return block_16(c, "VERIFY(16)", 0x8f, (uint8_t)(vrprotect << 5 | bit(dpo, 4)), lba, blocks, 0);
}

int sated_scsi_build_synchronize_cache_10(struct sated_scsi_command *c, uint64_t lba, uint32_t blocks, bool immed)
{
    return block_10(c, "SYNCHRONIZE CACHE(10)", 0x35, bit(immed, 1), lba, blocks, 0);
}

int sated_scsi_build_synchronize_cache_16(struct sated_scsi_command *c, uint64_t lba, uint32_t blocks, bool immed)
{
    return block_16(c, "SYNCHRONIZE CACHE(16)", 0x91, bit(immed, 1), lba, blocks, 0);
}

int sated_scsi_build_get_lba_status(struct sated_scsi_command *c, uint64_t lba, uint32_t report, uint32_t alloc)
{
    uint8_t *b = begin(c, 0x9e, 16);
    FITS("GET LBA STATUS(16)", "the report type", report, 15);
    b[1] = 0x12;
    bytes_put_be64(b + 2, lba);
    bytes_put_be32(b + 10, alloc);
    b[14] = (uint8_t)report;
    return transfers(c, SATED_DATA_IN, alloc);
}

int sated_scsi_build_report_opcodes(struct sated_scsi_command *c, uint32_t options, uint32_t opcode,
                                    uint32_t service_action, bool rctd, uint32_t alloc)
{
    uint8_t *b = begin(c, 0xa3, 12);
    FITS("REPORT SUPPORTED OPERATION CODES", "REPORTING OPTIONS", options, 3);
    FITS("REPORT SUPPORTED OPERATION CODES", "the operation code", opcode, options ? 0xff : 0);
    FITS("REPORT SUPPORTED OPERATION CODES", "the service action", service_action, options > 1 ? 0xffff : 0);
    b[1] = 0x0c;
    b[2] = (uint8_t)(bit(rctd, 7) | options);
    b[3] = (uint8_t)opcode;
    bytes_put_be16(b + 4, (uint16_t)service_action);
    bytes_put_be32(b + 6, alloc);
    return transfers(c, SATED_DATA_IN, alloc);
}

int sated_scsi_build_report_luns(struct sated_scsi_command *c, uint32_t select, uint32_t alloc)
{
    uint8_t *b = begin(c, 0xa0, 12);
    FITS("REPORT LUNS", "SELECT REPORT", select, 0xff);
    if (alloc < 16)
        REFUSE("REPORT LUNS: an allocation length of %u bytes, where at least 16 are needed (SPC-5)", alloc);
    b[2] = (uint8_t)select;
    bytes_put_be32(b + 6, alloc);
    return transfers(c, SATED_DATA_IN, alloc);
}

int sated_scsi_build_start_stop_unit(struct sated_scsi_command *c, uint32_t power_condition, uint32_t modifier,
                                     bool immed, bool no_flush, bool loej, bool start)
{
    uint8_t *b = begin(c, 0x1b, 6);
    FITS("START STOP UNIT", "POWER CONDITION", power_condition, 15);
    FITS("START STOP UNIT", "POWER CONDITION MODIFIER", modifier, 15);
    b[1] = bit(immed, 0);
    b[3] = (uint8_t)modifier;
    b[4] = (uint8_t)(power_condition << 4 | bit(no_flush, 2) | bit(loej, 1) | bit(start, 0));
    return 0;
}

int sated_scsi_build_send_diagnostic(struct sated_scsi_command *c, uint32_t self_test_code, bool self_test,
                                     bool devoffl, bool unitoffl, uint32_t list_len)
{
    uint8_t *b = begin(c, 0x1d, 6);
    FITS("SEND DIAGNOSTIC", "SELF-TEST CODE", self_test_code, 7);
    FITS("SEND DIAGNOSTIC", "the parameter list length", list_len, 0xffff);
    if (self_test_code && (self_test || list_len))
        REFUSE("SEND DIAGNOSTIC: SELF-TEST CODE %u goes neither with SELFTEST nor with a parameter list (SPC-5)",
               self_test_code);
    if (self_test && list_len)
        REFUSE("SEND DIAGNOSTIC: SELFTEST does not go with a parameter list of %u bytes (SPC-5)", list_len);
    /* PF says that a list, if any, is a page of the standard. */
    b[1] =
        (uint8_t)(self_test_code << 5 | bit(list_len != 0, 4) | bit(self_test, 2) | bit(devoffl, 1) | bit(unitoffl, 0));
    bytes_put_be16(b + 3, (uint16_t)list_len);
    return transfers(c, SATED_DATA_OUT, list_len);
}

int sated_scsi_build_receive_diagnostic(struct sated_scsi_command *c, int page, uint32_t alloc)
{
    uint8_t *b = begin(c, 0x1c, 6);
    if (page < -1 || page > 0xff)
        REFUSE("RECEIVE DIAGNOSTIC RESULTS: page %d, where 0 to 255 was expected, or -1 for the last results", page);
    FITS("RECEIVE DIAGNOSTIC RESULTS", "the allocation length", alloc, 0xffff);
    b[1] = bit(page >= 0, 0);
    b[2] = page >= 0 ? (uint8_t)page : 0;
    bytes_put_be16(b + 3, (uint16_t)alloc);
    return transfers(c, SATED_DATA_IN, alloc);
}
