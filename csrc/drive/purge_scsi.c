/* SPDX-License-Identifier: MIT */
/* Purging SCSI drives: SANITIZE (SBC-4 4.11, 5.30), FORMAT UNIT (5.4), UNMAP and WRITE SAME. */
#include <string.h>

#include <sated/scsi.h>

#include "drive/purge.h"
#include "protocol/known_scsi.h"
#include "transport/command.h"

#define KEY_NOT_READY 2
#define KEY_MEDIUM 3
#define KEY_ILLEGAL 5
#define ANSWER 512 /* bytes of an answer that is asked for */
#define UNMAP_BLOCKS \
    ((uint64_t)1 << 22) /* of one command, where the drive sets no limit: what drives of all sizes take */

enum { SANITIZE = 0x48, FORMAT_UNIT = 0x04 };

/* A unit attention comes in place of the command, which was not carried out (SAM-5): so it is sent once more. */
static int ask(struct sated_drive *d, int built, const struct sated_scsi_command *c, void *data, uint32_t *n)
{
    struct sated_reply reply;
    int rc = built < 0 ? built : command_ask(d, c, data, &reply);
    if (n)
        *n = built < 0 ? 0 : reply.data_len;
    return rc;
}

/* ---- Looking ---- */

static bool is_sense(uint8_t key, uint8_t asc, uint8_t ascq)
{
    const struct sated_detail *e = error_last();
    return e->code == SATED_SENSE && e->sense_key == key && e->asc == asc && e->ascq == ascq;
}

/* What REQUEST SENSE tells of an operation (SPC-5, REQUEST SENSE; SBC-4 4.11, 5.4). */
static int poll_sense(struct sated_drive *d, struct sated_scsi_sense *out)
{
    struct sated_scsi_command c;
    uint8_t data[252];
    uint32_t n = 0;
    int rc = ask(d, sated_scsi_build_request_sense(&c, false, sizeof data), &c, data, &n);
    return rc ? rc : sated_scsi_decode_sense(data, n, out);
}

static bool sanitizes(const struct sated_scsi_sense *s)
{
    return s->key == KEY_NOT_READY && s->asc == 0x04 && s->ascq == 0x1b;
}

static bool formats(const struct sated_scsi_sense *s)
{
    return s->key == KEY_NOT_READY && s->asc == 0x04 && s->ascq == 0x04;
}

static int look_state(struct sated_drive *d, struct purge_look *l)
{
    struct sated_scsi_command c;
    struct sated_scsi_sense s;
    int rc = ask(d, sated_scsi_build_test_unit_ready(&c), &c, NULL, NULL);
    if (rc != SATED_SENSE)
        return rc;
    if (is_sense(KEY_MEDIUM, 0x31, 0x03)) {
        purge_finds(l, SATED_PURGE_FAILED, "a sanitize operation failed in it (sense 3/31/03)");
        return 0;
    }
    if (is_sense(KEY_MEDIUM, 0x31, 0x00) || is_sense(KEY_MEDIUM, 0x31, 0x01)) {
        purge_finds(l, SATED_PURGE_UNFORMATTED, "a format of it failed or was broken off (sense 3/31/%02X)",
                    error_last()->ascq);
        return 0;
    }
    bool format = is_sense(KEY_NOT_READY, 0x04, 0x04);
    if (is_sense(KEY_NOT_READY, 0x04, 0x02))
        return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                         "%s: it is stopped (sense 2/04/02); start it (START STOP UNIT, sg_start), then try again",
                         d->path);
    if (!format && !is_sense(KEY_NOT_READY, 0x04, 0x1b))
        return rc;
    l->progress = !poll_sense(d, &s) && IS_KNOWN(scsi_sense, &s, progress) ? s.progress : 0;
    l->formats = format;
    purge_finds(l, SATED_PURGE_RUNNING, "a %s goes on in it (%u of 65536)", format ? "format" : "sanitize operation",
                l->progress);
    return 0;
}

static void look_capacity(struct sated_drive *d, struct purge_look *l)
{
    struct sated_scsi_command c;
    struct sated_scsi_capacity capacity = {0};
    uint8_t data[32];
    uint32_t n = 0;
    int rc = ask(d, sated_scsi_build_read_capacity_16(&c, sizeof data), &c, data, &n);
    if (!rc)
        rc = sated_scsi_decode_capacity_16(data, n, &capacity);
    if (rc && purge_is_answer(rc)) {
        rc = ask(d, sated_scsi_build_read_capacity_10(&c), &c, data, &n);
        if (!rc)
            rc = sated_scsi_decode_capacity_10(data, n, &capacity);
    }
    if (rc || !IS_KNOWN(scsi_capacity, &capacity, blocks))
        return;
    l->blocks = capacity.blocks;
    l->block_bytes = capacity.block_bytes;
    /* SBC-4 table 47: the protection that it is formatted with stays. */
    l->scsi.fmtpinfo = !capacity.prot_en ? 0 : capacity.p_type == 0 ? 2 : 3;
    l->scsi.protection = capacity.prot_en && capacity.p_type == 2;
}

/* Asks whether it has a command. @param unknown how a drive counts that does not tell. */
static int look_command(struct sated_drive *d, struct purge_look *l, uint32_t method, uint32_t level, uint32_t opcode,
                        int action, bool unknown)
{
    struct sated_scsi_command c;
    struct sated_scsi_one_opcode one = {0};
    uint8_t data[ANSWER];
    uint32_t n = 0;
    int rc = ask(d,
                 sated_scsi_build_report_opcodes(&c, action >= 0 ? 2 : 1, opcode, action >= 0 ? (uint32_t)action : 0,
                                                 true, sizeof data),
                 &c, data, &n);
    if (!rc)
        rc = sated_scsi_decode_one_opcode(data, n, &one);
    if (rc && !purge_is_answer(rc))
        return rc; /* it may have said anything: nothing is concluded from silence */
    bool told = !rc && one.support != 0;
    int64_t estimate = IS_KNOWN(scsi_one_opcode, &one, nominal_timeout_s) ? one.nominal_timeout_s * PURGE_SECOND : -1;
    if (told ? one.support >= 3 : unknown) {
        purge_has(l, method, level, estimate, true);
    } else {
        purge_has(l, method, level, -1, true); /* keeps the level */
        purge_has_not(l, method, told ? SATED_UNSUPPORTED : 0,
                      told ? "the drive does not have it (REPORT SUPPORTED OPERATION CODES)"
                           : "the drive does not say whether it has it (REPORT SUPPORTED OPERATION CODES is refused); "
                             "it is tried where it is named");
    }
    return 0;
}

static int vpd(struct sated_drive *d, int page, uint8_t *data, uint32_t *n)
{
    struct sated_scsi_command c;
    return ask(d, sated_scsi_build_inquiry(&c, page, ANSWER), &c, data, n);
}

static void look_provisioning(struct sated_drive *d, struct purge_look *l)
{
    struct sated_scsi_vpd_provisioning p = {0};
    struct sated_scsi_vpd_limits limits = {0};
    uint8_t data[ANSWER];
    uint32_t n = 0;
    bool told = !vpd(d, 0xb2, data, &n) && !sated_scsi_decode_vpd_provisioning(data, n, &p);
    if (vpd(d, 0xb0, data, &n) || sated_scsi_decode_vpd_limits(data, n, &limits))
        memset(&limits, 0, sizeof limits);
    l->scsi.unmap_blocks = limits.maximum_unmap_lba_count && limits.maximum_unmap_lba_count < UNMAP_BLOCKS
                               ? limits.maximum_unmap_lba_count
                               : (uint32_t)UNMAP_BLOCKS;
    l->scsi.same_blocks = limits.maximum_write_same_length && limits.maximum_write_same_length < UNMAP_BLOCKS
                              ? limits.maximum_write_same_length
                              : UNMAP_BLOCKS;
    if (told && p.lbpu)
        purge_has(l, SATED_PURGE_DEALLOCATE, SATED_PURGE_ADVISORY, -1, false);
    else
        purge_has_not(l, SATED_PURGE_DEALLOCATE, SATED_UNSUPPORTED, "the drive has no UNMAP (VPD page B2h, LBPU)");
    if (told && p.lbpws)
        purge_has(l, SATED_PURGE_WRITE_SAME, SATED_PURGE_ADVISORY, -1, false);
    else
        purge_has_not(l, SATED_PURGE_WRITE_SAME, SATED_UNSUPPORTED,
                      "the drive has no WRITE SAME(16) with UNMAP (VPD page B2h, LBPWS)");
}

static int look(struct sated_drive *d, struct purge_look *l, bool usb, bool password)
{
    (void)usb;
    (void)password;
    int rc = look_state(d, l);
    if (rc)
        return rc;
    look_capacity(d, l);
    rc = look_command(d, l, SATED_PURGE_SANITIZE_BLOCK, SATED_PURGE_PURGE, SANITIZE, SATED_SANITIZE_BLOCK_ERASE, false);
    if (!rc)
        rc = look_command(d, l, SATED_PURGE_SANITIZE_CRYPTO, SATED_PURGE_PURGE, SANITIZE, SATED_SANITIZE_CRYPTO_ERASE,
                          false);
    if (!rc)
        rc = look_command(d, l, SATED_PURGE_SANITIZE_OVERWRITE, SATED_PURGE_PURGE, SANITIZE, SATED_SANITIZE_OVERWRITE,
                          false);
    if (!rc)
        rc = look_command(d, l, SATED_PURGE_FORMAT, SATED_PURGE_CLEAR, FORMAT_UNIT, -1, true);
    if (rc)
        return rc;
    look_provisioning(d, l);
    return 0;
}

/* ---- SANITIZE and FORMAT UNIT, both answered at once and polled ---- */

static int ask_end(struct sated_purge *p, uint32_t *progress)
{
    struct sated_scsi_sense s;
    int rc = poll_sense(p->d, &s);
    if (rc)
        return rc;
    *progress = IS_KNOWN(scsi_sense, &s, progress) ? s.progress : UINT32_MAX;
    if (sanitizes(&s) || formats(&s))
        return 1;
    if (s.key != KEY_MEDIUM || s.asc != 0x31)
        return 0;
    error_set(SATED_SENSE, SATED_LAYER_DRIVE,
              "%s: the %s failed (sense 3/31/%02X); `sated purge %s --resume` leaves the failure and erases again, by "
              "--method format if you say so",
              p->d->path, s.ascq == 0x03 ? "sanitize operation" : "format", s.ascq, p->d->path);
    error_last()->sense_key = s.key;
    error_last()->asc = s.asc;
    error_last()->ascq = s.ascq;
    return SATED_SENSE;
}

/* AUSE: a failure can be left. A failure in the restricted mode, which somebody else chose, only by another sanitize in
 * that mode (5.30.1). */
static int sanitize(struct sated_purge *p)
{
    static const struct {
        uint32_t action;
        const char *step;
    } actions[SATED_PURGE_LAST + 1] = {
        [SATED_PURGE_SANITIZE_BLOCK] = {SATED_SANITIZE_BLOCK_ERASE, "SANITIZE, block erase"},
        [SATED_PURGE_SANITIZE_CRYPTO] = {SATED_SANITIZE_CRYPTO_ERASE, "SANITIZE, cryptographic erase"},
        [SATED_PURGE_SANITIZE_OVERWRITE] = {SATED_SANITIZE_OVERWRITE, "SANITIZE, overwrite"},
    };
    static const uint8_t zeros[4];
    struct sated_scsi_command c;
    uint32_t action = actions[p->result.method].action;
    int n = action == SATED_SANITIZE_OVERWRITE
                ? sated_scsi_build_overwrite_list(p->page, PURGE_PAGE, 1, false, 0, zeros, sizeof zeros)
                : 0;
    int rc = n < 0 ? n : sated_scsi_build_sanitize(&c, action, true, false, !p->restricted, (uint32_t)n);
    if (!rc)
        rc = purge_step(p, actions[p->result.method].step);
    if (!rc)
        rc = ask(p->d, 0, &c, n ? p->page : NULL, NULL);
    if (!rc)
        rc = purge_poll(p, "the sanitize operation", ask_end);
    if (!rc)
        purge_says(p, "REQUEST SENSE: no sanitize operation goes on any more, and none failed");
    return rc;
}

static int format(struct sated_purge *p)
{
    struct sated_scsi_command c;
    int n = sated_scsi_build_format_list(p->page, PURGE_PAGE, SATED_FORMAT_IMMED, p->look.scsi.protection, 0, false);
    int rc = n < 0 ? n : sated_scsi_build_format_unit(&c, p->look.scsi.fmtpinfo, 0, false, false, (uint32_t)n);
    if (!rc)
        rc = purge_step(p, "FORMAT UNIT");
    if (!rc)
        rc = ask(p->d, 0, &c, p->page, NULL);
    if (!rc)
        rc = purge_poll(p, "the format", ask_end);
    if (!rc)
        purge_says(p, "REQUEST SENSE: no format goes on any more, and none failed");
    return rc;
}

/* ---- What the drive may leave alone ---- */

static int send_unmap(struct sated_purge *p, uint64_t at, uint64_t blocks)
{
    struct sated_scsi_range range = {.lba = at, .blocks = (uint32_t)blocks};
    struct sated_scsi_command c;
    int n = sated_scsi_build_unmap_list(p->page, PURGE_PAGE, &range, 1);
    int rc = n < 0 ? n : sated_scsi_build_unmap(&c, false, 0, (uint32_t)n);
    return rc ? rc : ask(p->d, 0, &c, p->page, NULL);
}

static int unmap(struct sated_purge *p)
{
    int rc = purge_sweep(p, "UNMAP", p->look.scsi.unmap_blocks, send_unmap);
    if (!rc)
        purge_says(p, "it took the hint for all of its %llu blocks", (unsigned long long)p->look.blocks);
    return rc;
}

static int send_same(struct sated_purge *p, uint64_t at, uint64_t blocks)
{
    struct sated_scsi_command c;
    memset(p->page, 0, PURGE_PAGE);
    int rc = sated_scsi_build_write_same_16(&c, at, (uint32_t)blocks, p->look.block_bytes, 0, true, false, false, 0);
    return rc ? rc : ask(p->d, 0, &c, p->page, NULL);
}

static int write_same(struct sated_purge *p)
{
    int rc = purge_sweep(p, "WRITE SAME(16), UNMAP", p->look.scsi.same_blocks, send_same);
    if (!rc)
        purge_says(p, "it wrote zeros to all of its %llu blocks", (unsigned long long)p->look.blocks);
    return rc;
}

static int erase(struct sated_purge *p)
{
    switch (p->result.method) {
    case SATED_PURGE_FORMAT: return format(p);
    case SATED_PURGE_DEALLOCATE: return unmap(p);
    case SATED_PURGE_WRITE_SAME: return write_same(p);
    default: return sanitize(p);
    }
}

/* ---- What was left ---- */

static int leave_failure(struct sated_purge *p)
{
    struct sated_scsi_command c;
    int rc = sated_scsi_build_sanitize(&c, SATED_SANITIZE_EXIT_FAILURE, false, false, false, 0);
    if (!rc)
        rc = purge_step(p, "SANITIZE, exit failure mode");
    if (!rc)
        rc = ask(p->d, 0, &c, NULL, NULL);
    p->restricted = rc == SATED_SENSE && error_last()->sense_key == KEY_ILLEGAL;
    return p->restricted ? 0 : rc;
}

static int settle(struct sated_purge *p)
{
    int rc = 0;
    switch (p->look.state) {
    case SATED_PURGE_RUNNING:
        rc = purge_poll(p, p->look.formats ? "the format" : "the sanitize operation", ask_end);
        if (rc)
            return rc;
        purge_says(p, "REQUEST SENSE: what went on in it ended, and did not fail");
        /* Which sanitize operation it was, it does not say. */
        p->settled = p->look.formats     ? SATED_PURGE_FORMAT
                     : p->options.method ? p->options.method
                                         : SATED_PURGE_SANITIZE_BLOCK;
        break;
    case SATED_PURGE_FAILED: rc = leave_failure(p); break;
    case SATED_PURGE_UNFORMATTED:
        rc = format(p);
        p->settled = rc ? 0 : SATED_PURGE_FORMAT;
        break;
    default: break;
    }
    return rc;
}

static int move(struct sated_purge *p, bool writes, uint64_t lba)
{
    struct sated_scsi_command c;
    uint32_t bytes = p->look.block_bytes;
    int rc = writes ? sated_scsi_build_write_16(&c, lba, 1, bytes, 0, false, false)
                    : sated_scsi_build_read_16(&c, lba, 1, bytes, 0, false, false);
    return ask(p->d, rc, &c, p->page, NULL);
}

static int flush(struct sated_purge *p)
{
    struct sated_scsi_command c;
    return ask(p->d, sated_scsi_build_synchronize_cache_10(&c, 0, 0, false), &c, NULL, NULL);
}

/* What a smaller number of blocks hides is nowhere to be read. */
static uint64_t hidden(struct sated_purge *p)
{
    (void)p;
    return UINT64_MAX;
}

const struct purge_protocol purge_scsi = {
    .look = look, .settle = settle, .erase = erase, .move = move, .flush = flush, .hidden = hidden};
