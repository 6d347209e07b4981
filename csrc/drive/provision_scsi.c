/* SPDX-License-Identifier: MIT */
/* The number and the size of a SCSI drive's blocks: MODE SELECT's block descriptor (SBC-4 6.5.2), and FORMAT UNIT
 * (SBC-4 5.4) where the drive takes them only by being formatted. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/buffer.h"
#include "core/error.h"
#include "drive/provision_inside.h"
#include "protocol/known_scsi.h"
#include "transport/command.h"

#define ROOM 4096
#define NOT_READY 2
#define MEDIUM_ERROR 3
#define FORMAT_IN_PROGRESS 0x0404
#define FORMAT_CORRUPT 0x31 /* additional sense code: of a format that was broken off or failed */

/* What the drive has, and what it was told to have: the same, but for a format that is still to come. */
struct blocks {
    uint64_t now, told; /* `told` is ALL_BLOCKS where the descriptor cannot say it */
    uint32_t now_bytes, told_bytes;
    bool corrupt; /* it has to be formatted before it has any (`now` is 0) */
};

static bool is_corrupt(int rc)
{
    return rc == SATED_SENSE && error_last()->sense_key == MEDIUM_ERROR && error_last()->asc == FORMAT_CORRUPT;
}

static int ask_capacity(struct sated_drive *d, struct blocks *b, uint8_t *page)
{
    struct sated_scsi_command c;
    struct sated_scsi_capacity capacity;
    struct sated_reply reply;
    int rc = sated_scsi_build_read_capacity_16(&c, 32);
    if (!rc)
        rc = command_ask(d, &c, page, &reply);
    b->corrupt = is_corrupt(rc);
    if (b->corrupt)
        return 0;
    if (!rc)
        rc = sated_scsi_decode_capacity_16(page, reply.data_len, &capacity);
    if (rc)
        return rc;
    b->now = capacity.blocks;
    b->now_bytes = capacity.block_bytes;
    return 0;
}

static int ask_descriptor(struct sated_drive *d, struct blocks *b, uint8_t *page)
{
    struct sated_scsi_command c;
    struct sated_scsi_mode *mode = buffer_new(sizeof *mode);
    struct sated_reply reply;
    int rc = mode ? sated_scsi_build_mode_sense_10(&c, 0, 0x3f, 0, false, true, ROOM)
                  : error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for its mode pages", d->path);
    if (!rc)
        rc = command_ask(d, &c, page, &reply);
    if (!rc)
        rc = sated_scsi_decode_mode(page, reply.data_len, true, mode);
    if (!rc && !mode->n_blocks)
        rc = error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                       "%s: has no block descriptor in its mode pages, by which its capacity could be set; take the "
                       "method lba",
                       d->path);
    if (!rc) {
        const struct sated_scsi_mode_block *block = &mode->blocks[0];
        b->told = IS_KNOWN(scsi_mode_block, block, number_of_blocks) ? block->number_of_blocks : ALL_BLOCKS;
        b->told_bytes = block->block_bytes;
    }
    buffer_free(mode, sizeof *mode);
    return rc;
}

static int ask(struct sated_drive *d, struct blocks *b)
{
    uint8_t *page = buffer_new(ROOM);
    memset(b, 0, sizeof *b);
    if (!page)
        return error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for its mode pages", d->path);
    int rc = ask_descriptor(d, b, page);
    if (!rc)
        rc = ask_capacity(d, b, page);
    buffer_free(page, ROOM);
    return rc;
}

/* Only a simulated drive knows what it was made with: no command asks for it. */
static void look(struct sated_drive *d, struct sated_provision *out)
{
    struct blocks b;
    uint64_t native = d->identity.native_capacity_bytes;
    if (!ask(d, &b) && !b.corrupt)
        out->device_bytes = b.now * b.now_bytes;
    if (native < out->device_bytes) {
        out->native_bytes = out->device_bytes;
        return;
    }
    out->native_bytes = native / (b.now_bytes ? b.now_bytes : 1) * (b.now_bytes ? b.now_bytes : 1);
    out->hidden_bytes = out->hidden_at_least_bytes = out->native_bytes - out->device_bytes;
    out->flags |= SATED_PROVISION_NATIVE_KNOWN | SATED_PROVISION_HIDDEN_KNOWN;
    if (out->hidden_bytes)
        out->limits |= 1u << SATED_PROVISION_MODE_SELECT;
}

static int able(struct sated_drive *d, uint32_t method)
{
    struct blocks b;
    (void)method;
    return ask(d, &b);
}

static int plan(struct change *c, uint64_t bytes)
{
    struct blocks b;
    int rc = ask(c->d, &b);
    if (rc)
        return rc;
    if (b.corrupt)
        return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                         "%s: a format of it was broken off or failed (sense 3/31), so that it has no capacity now; "
                         "format it first: `sated purge`, or sg_format",
                         c->d->path);
    c->before_blocks = b.now;
    c->before_block_bytes = b.now_bytes;
    if (c->method == CHANGE_BLOCK) {
        c->blocks = ALL_BLOCKS;
        return c->block_bytes == b.now_bytes && c->block_bytes == b.told_bytes;
    }
    c->block_bytes = b.now_bytes;
    if (bytes != UINT64_MAX) {
        uint64_t native = c->d->identity.native_capacity_bytes;
        rc = provision_blocks(c, bytes, native ? native / b.now_bytes * b.now_bytes : UINT64_MAX / 4096 * 4096);
        return rc ? rc : c->blocks == b.now && c->blocks == b.told;
    }
    struct sated_provision now = {.device_bytes = b.now * b.now_bytes};
    look(c->d, &now);
    c->blocks = ALL_BLOCKS;
    return now.flags & SATED_PROVISION_HIDDEN_KNOWN && !now.hidden_bytes && b.told == b.now;
}

/* ---- Changing ---- */

static int select_blocks(struct change *c)
{
    struct sated_scsi_command command;
    char step[96];
    uint8_t *list = buffer_new(64);
    if (!list)
        return error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for a parameter list", c->d->path);
    int rc = sated_scsi_build_resize_list(list, 64, c->blocks, c->block_bytes, true);
    /* Without SP: the number of blocks is kept whatever it says, and the pages are not to be (SBC-4 6.5.2). */
    if (rc > 0)
        rc = sated_scsi_build_mode_select_10(&command, false, (uint32_t)rc);
    if (c->blocks == ALL_BLOCKS)
        snprintf(step, sizeof step, "MODE SELECT, all blocks of %" PRIu32 " bytes", c->block_bytes);
    else
        snprintf(step, sizeof step, "MODE SELECT, %" PRIu64 " blocks of %" PRIu32 " bytes", c->blocks, c->block_bytes);
    if (!rc)
        rc = change_step(c, step);
    if (!rc)
        rc = change_sent(c, command_ask(c->d, &command, list, NULL));
    buffer_free(list, 64);
    return rc;
}

/* Without FOV and with IMMED: the drive's own defaults, and an answer at once. Return: 1. */
static int format(struct change *c)
{
    struct sated_scsi_command command;
    uint8_t list[8];
    if (c->formats++)
        return error_set(SATED_SENSE, SATED_LAYER_DRIVE,
                         "%s: was formatted, and is still not what it was to be; look at its health, and at what "
                         "sg_readcap and sg_requests say",
                         c->d->path);
    int n = sated_scsi_build_format_list(list, sizeof list, SATED_FORMAT_IMMED, 0, 0, false);
    int rc = n < 0 ? n : sated_scsi_build_format_unit(&command, 0, 0, false, false, (uint32_t)n);
    if (!rc)
        rc = change_step(c, "FORMAT UNIT");
    if (!rc)
        rc = change_sent(c, command_ask(c->d, &command, list, NULL));
    return rc ? rc : 1;
}

/* Return: 1 where it is formatting itself now, 0 where it is ready or has to be formatted, or the error it is in. */
static int state(struct sated_drive *d)
{
    struct sated_scsi_command command;
    int rc = sated_scsi_build_test_unit_ready(&command);
    if (!rc)
        rc = command_ask(d, &command, NULL, NULL);
    const struct sated_detail *detail = error_last();
    if (rc == SATED_SENSE && detail->sense_key == NOT_READY && (detail->asc << 8 | detail->ascq) == FORMAT_IN_PROGRESS)
        return 1;
    return is_corrupt(rc) ? 0 : rc;
}

static bool is_told(const struct change *c, const struct blocks *b)
{
    bool any = c->blocks == ALL_BLOCKS && c->method == CHANGE_BLOCK;
    return b->told_bytes == c->block_bytes && (any || b->told == c->blocks);
}

static int run(struct change *c)
{
    struct blocks b;
    int rc = state(c->d);
    if (!rc)
        rc = ask(c->d, &b);
    if (!rc && !is_told(c, &b)) { /* where all blocks are wanted nobody knows whether it has them: told once more */
        rc = select_blocks(c);
        if (!rc)
            rc = ask(c->d, &b);
        if (!rc && c->blocks != ALL_BLOCKS && !is_told(c, &b))
            rc = error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE,
                           "%s: took %" PRIu64 " blocks of %" PRIu32 " bytes by MODE SELECT, but made %" PRIu64
                           " of %" PRIu32 " of it; give a capacity that it can have, or take the method lba",
                           c->d->path, c->blocks, c->block_bytes, b.told, b.told_bytes);
    }
    if (rc)
        return rc;
    bool same = b.now_bytes == b.told_bytes && (b.told == ALL_BLOCKS || b.now == b.told);
    return b.corrupt || !same ? format(c) : 0;
}

const struct provision_way provision_scsi = {look, able, plan, run};
