/* SPDX-License-Identifier: MIT */
/* Purging NVMe drives: Sanitize (NVMe Base 2.0, 5.24), Format NVM (5.14), Dataset Management and Write Zeroes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sated/nvme.h>

#include "core/buffer.h"
#include "drive/purge.h"
#include "protocol/known_nvme.h"

#define SC_SANITIZE_FAILED 0x1c /* of the generic status codes */
#define SC_SANITIZE_IN_PROGRESS 0x1d
#define SC_NOT_READY 0x82
#define SC_FORMAT_IN_PROGRESS 0x84
#define RANGE_BLOCKS ((uint64_t)1 << 22) /* of one range: what drives of all sizes take */
#define ZEROES_BLOCKS 65536              /* NLB has 16 bits */

static bool generic(int rc, uint8_t sc)
{
    return rc == SATED_NVME && error_last()->nvme_sct == 0 && error_last()->nvme_sc == sc;
}

static int ask(struct sated_drive *d, const struct sated_nvme_command *c, void *data, uint32_t *n)
{
    struct sated_reply reply;
    int rc = c->admin ? sated_nvme_admin_raw(d, c, data, &reply) : sated_nvme_io_raw(d, c, data, &reply);
    if (n)
        *n = reply.data_len;
    return rc;
}

static int get_sanitize(struct sated_drive *d, struct sated_nvme_sanitize_log *out)
{
    struct sated_nvme_command c;
    uint8_t *data = buffer_new(PURGE_PAGE);
    uint32_t n = 0;
    int rc = data ? sated_nvme_build_get_log(&c, SATED_NVME_LID_SANITIZE, SATED_NVME_ALL_NAMESPACES, 512, 0, 0, 0, true,
                                             0, 0)
                  : error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for a log", d->path);
    if (!rc)
        rc = ask(d, &c, data, &n);
    if (!rc)
        rc = sated_nvme_decode_sanitize_log(data, n, out);
    buffer_free(data, PURGE_PAGE);
    return rc;
}

/* ---- Looking ---- */

static int64_t seconds(bool known, uint32_t s)
{
    return known ? (int64_t)s * PURGE_SECOND : -1;
}
#define ESTIMATE(log, member) seconds(IS_KNOWN(nvme_sanitize_log, log, member), (log)->member)

static void take_sanitize(struct purge_look *l, uint32_t sanicap, const struct sated_nvme_sanitize_log *log)
{
    static const struct {
        uint32_t method, bit;
    } ways[] = {{SATED_PURGE_SANITIZE_BLOCK, SATED_NVME_SANICAP_BLOCK},
                {SATED_PURGE_SANITIZE_CRYPTO, SATED_NVME_SANICAP_CRYPTO},
                {SATED_PURGE_SANITIZE_OVERWRITE, SATED_NVME_SANICAP_OVERWRITE}};
    const int64_t estimates[] = {ESTIMATE(log, etbe), ESTIMATE(log, etce), ESTIMATE(log, eto)};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (sanicap & ways[i].bit)
            purge_has(l, ways[i].method, SATED_PURGE_PURGE, estimates[i], true);
        else
            purge_has_not(l, ways[i].method, SATED_UNSUPPORTED, "the drive does not have it (SANICAP %08Xh)", sanicap);
}

static void take_format(struct purge_look *l, const struct sated_nvme_id_ctrl *ctrl)
{
    bool all = ctrl->nvm.fna & SATED_NVME_FNA_ERASE_ALL;
    if (!(ctrl->admin.oacs & SATED_NVME_OACS_FORMAT)) {
        purge_has_not(l, SATED_PURGE_FORMAT, SATED_UNSUPPORTED, "the drive has no Format NVM (OACS bit 1)");
        purge_has_not(l, SATED_PURGE_FORMAT_CRYPTO, SATED_UNSUPPORTED, "the drive has no Format NVM (OACS bit 1)");
        return;
    }
    purge_has(l, SATED_PURGE_FORMAT, SATED_PURGE_CLEAR, -1, all);
    if (ctrl->nvm.fna & SATED_NVME_FNA_CRYPTO)
        purge_has(l, SATED_PURGE_FORMAT_CRYPTO, SATED_PURGE_CLEAR, -1, all);
    else
        purge_has_not(l, SATED_PURGE_FORMAT_CRYPTO, SATED_UNSUPPORTED,
                      "the drive's Format NVM has no cryptographic erase (FNA bit 2)");
}

static void take_advisory(struct purge_look *l, uint32_t oncs)
{
    if (oncs & SATED_NVME_ONCS_DSM)
        purge_has(l, SATED_PURGE_DEALLOCATE, SATED_PURGE_ADVISORY, -1, false);
    else
        purge_has_not(l, SATED_PURGE_DEALLOCATE, SATED_UNSUPPORTED, "the drive has no Dataset Management (ONCS bit 2)");
    if (oncs & SATED_NVME_ONCS_WRITE_ZEROES)
        purge_has(l, SATED_PURGE_WRITE_SAME, SATED_PURGE_ADVISORY, -1, false);
    else
        purge_has_not(l, SATED_PURGE_WRITE_SAME, SATED_UNSUPPORTED, "the drive has no Write Zeroes (ONCS bit 3)");
}

static int look_controller(struct sated_drive *d, struct purge_look *l, uint8_t *data, uint32_t *sanicap)
{
    struct sated_nvme_command c;
    struct sated_nvme_id_ctrl *ctrl = malloc(sizeof *ctrl);
    uint32_t n = 0;
    int rc = ctrl ? sated_nvme_build_identify(&c, SATED_NVME_CNS_CTRL, 0, 0, 0, 0)
                  : error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for its identity", d->path);
    if (!rc)
        rc = ask(d, &c, data, &n);
    if (!rc)
        rc = sated_nvme_decode_id_ctrl(data, n, ctrl);
    if (!rc) {
        *sanicap = ctrl->admin.sanicap;
        l->nvme.flushes = ctrl->nvm.vwc & SATED_NVME_VWC_PRESENT;
        take_format(l, ctrl);
        take_advisory(l, ctrl->nvm.oncs);
    }
    free(ctrl);
    return rc;
}

/* The namespace that is read, written and formatted; without one, or with metadata in the way, nothing is marked. */
static int look_namespace(struct sated_drive *d, struct purge_look *l, uint8_t *data)
{
    struct sated_nvme_command c;
    struct sated_nvme_id_ns *ns = malloc(sizeof *ns);
    uint32_t n = 0;
    l->nvme.nsid = handle_namespace(d);
    int rc = ns ? sated_nvme_build_identify(&c, SATED_NVME_CNS_NS, l->nvme.nsid, 0, 0, 0)
                : error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for its identity", d->path);
    if (!rc)
        rc = ask(d, &c, data, &n);
    if (!rc)
        rc = sated_nvme_decode_id_ns(data, n, ns);
    if (!rc && ns->nsze) {
        l->nvme.lbaf = ns->format;
        l->nvme.pi = ns->dps & 7;
        l->nvme.pil = ns->dps >> 3 & 1;
        l->nvme.mset = ns->extended;
        l->blocks = ns->nsze;
        l->block_bytes = ns->metadata_bytes ? 0 : ns->block_bytes;
    } else if (!rc || purge_is_answer(rc)) {
        static const uint32_t in_it[] = {SATED_PURGE_FORMAT, SATED_PURGE_FORMAT_CRYPTO, SATED_PURGE_DEALLOCATE,
                                         SATED_PURGE_WRITE_SAME};
        for (size_t i = 0; i < sizeof in_it / sizeof *in_it; i++)
            if (l->way[in_it[i]].supported)
                purge_has_not(l, in_it[i], SATED_UNSUPPORTED, "there is no namespace %u here", l->nvme.nsid);
        rc = 0;
    }
    free(ns);
    return rc;
}

static int read_block(struct sated_drive *d, const struct purge_look *l, uint64_t lba, void *data)
{
    struct sated_nvme_command c;
    int rc = sated_nvme_build_read(&c, l->nvme.nsid, lba, 1, l->block_bytes, 0);
    return rc ? rc : ask(d, &c, data, NULL);
}

/* A failure that was left stays in the log as that of the most recent sanitize; what a read gets tells the two apart. */
static void look_state(struct sated_drive *d, struct purge_look *l, const struct sated_nvme_sanitize_log *log,
                       uint8_t *data)
{
    if (log->state == SATED_NVME_SANITIZE_RUNNING) {
        l->progress = log->progress;
        purge_finds(l, SATED_PURGE_RUNNING, "a sanitize operation goes on in it (%u of 65536)", log->progress);
        return;
    }
    int rc = l->block_bytes ? read_block(d, l, 0, data) : 0;
    if (generic(rc, SC_SANITIZE_FAILED) || (log->state == SATED_NVME_SANITIZE_FAILED && !l->block_bytes))
        purge_finds(l, SATED_PURGE_FAILED, "a sanitize operation failed in it");
    else if (generic(rc, SC_SANITIZE_IN_PROGRESS))
        purge_finds(l, SATED_PURGE_RUNNING, "a sanitize operation goes on in it");
    else if (generic(rc, SC_FORMAT_IN_PROGRESS))
        purge_finds(l, SATED_PURGE_RUNNING, "a format goes on in it");
    else if (generic(rc, SC_NOT_READY))
        purge_finds(l, SATED_PURGE_UNFORMATTED, "a format of its namespace %u failed or was broken off", l->nvme.nsid);
    l->formats = generic(rc, SC_FORMAT_IN_PROGRESS);
}

static int look(struct sated_drive *d, struct purge_look *l, bool usb, bool password)
{
    struct sated_nvme_sanitize_log log = {0};
    uint32_t sanicap = 0;
    uint8_t *data = buffer_new(PURGE_PAGE);
    (void)usb;
    (void)password;
    int rc = data ? look_controller(d, l, data, &sanicap)
                  : error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for its identity", d->path);
    if (!rc)
        rc = look_namespace(d, l, data);
    if (!rc && sanicap & (SATED_NVME_SANICAP_CRYPTO | SATED_NVME_SANICAP_BLOCK | SATED_NVME_SANICAP_OVERWRITE))
        rc = get_sanitize(d, &log);
    if (!rc) {
        take_sanitize(l, sanicap, &log);
        look_state(d, l, &log, data);
    }
    buffer_free(data, PURGE_PAGE);
    return rc;
}

/* ---- Sanitize ---- */

static int ask_sanitize(struct sated_purge *p, uint32_t *progress)
{
    struct sated_nvme_sanitize_log log;
    int rc = get_sanitize(p->d, &log);
    if (rc)
        return rc;
    *progress = IS_KNOWN(nvme_sanitize_log, &log, progress) ? log.progress : UINT32_MAX;
    switch (log.state) {
    case SATED_NVME_SANITIZE_RUNNING: return 1;
    case SATED_NVME_SANITIZE_OK:
    case SATED_NVME_SANITIZE_OK_NO_DEALLOCATE:
        purge_says(p, "the sanitize operation ended well (log 81h, SSTAT %04Xh)", log.sstat);
        p->settled = (log.scdw10 & 7) == SATED_NVME_SANACT_CRYPTO_ERASE ? SATED_PURGE_SANITIZE_CRYPTO
                     : (log.scdw10 & 7) == SATED_NVME_SANACT_OVERWRITE  ? SATED_PURGE_SANITIZE_OVERWRITE
                                                                        : SATED_PURGE_SANITIZE_BLOCK;
        return 0;
    default:
        return error_set(
            SATED_NVME, SATED_LAYER_DRIVE,
            "%s: the sanitize operation failed (log 81h, SSTAT %04Xh); `sated purge %s --resume` leaves the "
            "failure and erases again, by --method format if you say so",
            p->d->path, log.sstat, p->d->path);
    }
}

/* AUSE: a failure can be left by anything that sanitizes, or by SANACT 1. A failure in the restricted mode, which somebody
 * else chose, is left by another sanitize in that mode only. */
static int sanitize(struct sated_purge *p)
{
    static const struct {
        uint32_t sanact;
        const char *step;
    } actions[SATED_PURGE_LAST + 1] = {
        [SATED_PURGE_SANITIZE_BLOCK] = {SATED_NVME_SANACT_BLOCK_ERASE, "Sanitize, block erase"},
        [SATED_PURGE_SANITIZE_CRYPTO] = {SATED_NVME_SANACT_CRYPTO_ERASE, "Sanitize, cryptographic erase"},
        [SATED_PURGE_SANITIZE_OVERWRITE] = {SATED_NVME_SANACT_OVERWRITE, "Sanitize, overwrite"},
    };
    struct sated_nvme_command c;
    uint32_t sanact = actions[p->result.method].sanact;
    int rc = sated_nvme_build_sanitize(&c, sanact, !p->restricted, sanact == SATED_NVME_SANACT_OVERWRITE, false, 0,
                                       false, false);
    if (!rc)
        rc = purge_step(p, actions[p->result.method].step);
    if (!rc)
        rc = ask(p->d, &c, NULL, NULL);
    return rc ? rc : purge_poll(p, "the sanitize operation", ask_sanitize);
}

/* ---- Format NVM ---- */

static int format(struct sated_purge *p, uint32_t ses)
{
    const struct purge_look *l = &p->look;
    struct sated_nvme_command c;
    int rc = sated_nvme_build_format(&c, l->nvme.nsid, l->nvme.lbaf, l->nvme.mset, l->nvme.pi, l->nvme.pil, ses);
    if (!rc)
        rc = purge_step(p, ses == SATED_NVME_SES_CRYPTO ? "Format NVM, cryptographic erase"
                                                        : "Format NVM, user data erase");
    if (!rc)
        rc = ask(p->d, &c, NULL, NULL);
    if (!rc)
        purge_says(p, "Format NVM of namespace %u ended without an error", l->nvme.nsid);
    return rc;
}

static int ask_format(struct sated_purge *p, uint32_t *progress)
{
    *progress = UINT32_MAX;
    int rc = read_block(p->d, &p->look, 0, p->page);
    return generic(rc, SC_FORMAT_IN_PROGRESS) ? 1 : rc && !purge_is_answer(rc) ? rc : 0;
}

/* ---- What the drive may leave alone ---- */

static int send_deallocate(struct sated_purge *p, uint64_t at, uint64_t blocks)
{
    struct sated_nvme_range range = {.slba = at, .nlb = (uint32_t)blocks};
    struct sated_nvme_command c;
    int rc = sated_nvme_build_dsm(&c, p->look.nvme.nsid, 1, SATED_NVME_DSM_DEALLOCATE);
    if (!rc && sated_nvme_build_dsm_ranges(p->page, PURGE_PAGE, &range, 1) < 0)
        rc = error_last()->code;
    return rc ? rc : ask(p->d, &c, p->page, NULL);
}

static int deallocate(struct sated_purge *p)
{
    int rc = purge_sweep(p, "Dataset Management, deallocate", RANGE_BLOCKS, send_deallocate);
    if (!rc)
        purge_says(p, "it took the hint for all of its %llu blocks", (unsigned long long)p->look.blocks);
    return rc;
}

static int send_zeroes(struct sated_purge *p, uint64_t at, uint64_t blocks)
{
    struct sated_nvme_command c;
    int rc = sated_nvme_build_write_zeroes(&c, p->look.nvme.nsid, at, (uint32_t)blocks, true, 0);
    return rc ? rc : ask(p->d, &c, NULL, NULL);
}

static int write_zeroes(struct sated_purge *p)
{
    int rc = purge_sweep(p, "Write Zeroes, deallocate", ZEROES_BLOCKS, send_zeroes);
    if (!rc)
        purge_says(p, "it wrote zeros to all of its %llu blocks", (unsigned long long)p->look.blocks);
    return rc;
}

static int erase(struct sated_purge *p)
{
    switch (p->result.method) {
    case SATED_PURGE_FORMAT: return format(p, SATED_NVME_SES_USER_DATA);
    case SATED_PURGE_FORMAT_CRYPTO: return format(p, SATED_NVME_SES_CRYPTO);
    case SATED_PURGE_DEALLOCATE: return deallocate(p);
    case SATED_PURGE_WRITE_SAME: return write_zeroes(p);
    default: return sanitize(p);
    }
}

/* ---- What was left ---- */

/* SANACT 1 ends a failure, where the operation had allowed that (5.24). */
static int leave_failure(struct sated_purge *p)
{
    struct sated_nvme_command c;
    int rc = sated_nvme_build_sanitize(&c, SATED_NVME_SANACT_EXIT_FAILURE, false, 0, false, 0, false, false);
    if (!rc)
        rc = purge_step(p, "Sanitize, exit failure mode");
    if (!rc)
        rc = ask(p->d, &c, NULL, NULL);
    p->restricted = generic(rc, SC_SANITIZE_FAILED);
    return p->restricted ? 0 : rc;
}

static int settle(struct sated_purge *p)
{
    int rc = 0;
    switch (p->look.state) {
    case SATED_PURGE_RUNNING:
        rc = p->look.formats ? purge_poll(p, "the format", ask_format)
                             : purge_poll(p, "the sanitize operation", ask_sanitize);
        break;
    case SATED_PURGE_FAILED: rc = leave_failure(p); break;
    case SATED_PURGE_UNFORMATTED:
        rc =
            format(p, p->result.method == SATED_PURGE_FORMAT_CRYPTO ? SATED_NVME_SES_CRYPTO : SATED_NVME_SES_USER_DATA);
        p->settled = rc                                              ? 0
                     : p->result.method == SATED_PURGE_FORMAT_CRYPTO ? SATED_PURGE_FORMAT_CRYPTO
                                                                     : SATED_PURGE_FORMAT;
        break;
    default: break;
    }
    return rc;
}

static int move(struct sated_purge *p, bool writes, uint64_t lba)
{
    struct sated_nvme_command c;
    if (!writes)
        return read_block(p->d, &p->look, lba, p->page);
    int rc = sated_nvme_build_write(&c, p->look.nvme.nsid, lba, 1, p->look.block_bytes, 0);
    return rc ? rc : ask(p->d, &c, p->page, NULL);
}

static int flush(struct sated_purge *p)
{
    struct sated_nvme_command c;
    int rc = p->look.nvme.flushes ? sated_nvme_build_flush(&c, p->look.nvme.nsid) : 0;
    return rc || !p->look.nvme.flushes ? rc : ask(p->d, &c, NULL, NULL);
}

/* No command of NVMe hides blocks of a namespace. */
static uint64_t hidden(struct sated_purge *p)
{
    (void)p;
    return 0;
}

const struct purge_protocol purge_nvme = {
    .look = look, .settle = settle, .erase = erase, .move = move, .flush = flush, .hidden = hidden};
