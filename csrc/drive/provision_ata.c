/* SPDX-License-Identifier: MIT */
/* What hides sectors of an ATA drive: Host Protected Area (ATA8-ACS 4.10), Accessible Max Address Configuration
 * (ACS-4 7.2), Device Configuration Overlay (ACS-2 4.8). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/buffer.h"
#include "core/error.h"
#include "drive/provision_inside.h"
#include "protocol/known_ata.h"
#include "transport/command.h"

#define SECTOR 512 /* of IDENTIFY and overlay data */

/* What the drive says of its sizes. */
struct sizes {
    struct sated_ata_identify id;
    struct sated_ata_hidden hidden;
    struct sated_ata_dco dco;
    bool ext;      /* 48-bit addresses */
    uint8_t *page; /* the overlay's data at the end */
};

static bool has_amac(const struct sizes *z)
{
    return IS_KNOWN(ata_areas, &z->id.areas, amac_supported) && z->id.areas.amac_supported;
}

static bool has_hpa(const struct sizes *z)
{
    return IS_KNOWN(ata_areas, &z->id.areas, hpa_supported) && z->id.areas.hpa_supported;
}

static bool has_dco(const struct sizes *z)
{
    return IS_KNOWN(ata_areas, &z->id.areas, dco_supported) && z->id.areas.dco_supported;
}

static int ask_identify(struct sated_drive *d, struct sizes *z)
{
    struct sated_ata_command c;
    struct sated_reply reply;
    int rc = sated_ata_build_identify_device(&c);
    if (!rc)
        rc = sated_ata_raw(d, &c, z->page, NULL, &reply);
    return rc ? rc : sated_ata_decode_identify(z->page, reply.data_len, &z->id);
}

static int ask_native(struct sated_drive *d, const struct sizes *z, struct sated_ata_registers *out)
{
    struct sated_ata_command c;
    int rc = has_amac(z) ? sated_ata_build_get_native_max(&c) : sated_ata_build_read_native_max(&c, z->ext);
    return rc ? rc : sated_ata_raw(d, &c, NULL, out, NULL);
}

static int ask_overlay(struct sated_drive *d, struct sizes *z)
{
    struct sated_ata_command c;
    struct sated_reply reply;
    int rc = sated_ata_build_dco_identify(&c);
    if (!rc)
        rc = sated_ata_raw(d, &c, z->page, NULL, &reply);
    if (!rc)
        rc = sated_ata_decode_dco(z->page, reply.data_len, &z->dco);
    if (!rc && z->dco.checksum != SATED_ATA_CHECKSUM_OK)
        rc = error_set(-EIO, SATED_LAYER_DRIVE,
                       "%s: DEVICE CONFIGURATION IDENTIFY came with a bad checksum; suspect the bridge in front of it",
                       d->path);
    return rc;
}

/* All of it; what is refused stays unknown. Return: 0, or why there is not even IDENTIFY data. */
static int ask(struct sated_drive *d, struct sizes *z)
{
    struct sated_ata_registers native;
    memset(&z->dco, 0, sizeof z->dco);
    int rc = ask_identify(d, z);
    if (rc)
        return rc;
    z->ext = IS_KNOWN(ata_capacity, &z->id.capacity, lba48_sectors) && z->id.capacity.lba48_sectors;
    bool told = (has_amac(z) || has_hpa(z)) && !ask_native(d, z, &native);
    bool overlay = has_dco(z) && !ask_overlay(d, z);
    return sated_ata_hidden(&z->id, told ? &native : NULL, overlay ? &z->dco : NULL, &z->hidden);
}

static int with_sizes(struct sated_drive *d, int (*do_it)(struct sated_drive *, struct sizes *, void *), void *user)
{
    struct sizes z = {.page = buffer_new(SECTOR)};
    if (!z.page)
        return error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for its IDENTIFY data", d->path);
    int rc = ask(d, &z);
    if (!rc)
        rc = do_it(d, &z, user);
    buffer_free(z.page, SECTOR);
    return rc;
}

/* ---- Looking ---- */

static int look_at(struct sated_drive *d, struct sizes *z, void *user)
{
    struct sated_provision *out = user;
    const struct sated_ata_hidden *h = &z->hidden;
    uint64_t block = z->id.capacity.logical_block_bytes;
    (void)d;
    if (!IS_KNOWN(ata_hidden, h, accessible_sectors) || !block)
        return 0;
    out->device_bytes = h->accessible_sectors * block;
    if (IS_KNOWN(ata_hidden, h, hpa_sectors) && h->hpa_sectors)
        out->limits |= 1u << (has_amac(z) ? SATED_PROVISION_AMAC : SATED_PROVISION_HPA);
    if (IS_KNOWN(ata_hidden, h, dco_sectors) && h->dco_sectors)
        out->limits |= 1u << SATED_PROVISION_DCO;
    out->hidden_at_least_bytes = h->hidden_at_least_sectors * block;
    out->native_bytes = out->device_bytes + out->hidden_at_least_bytes;
    if (IS_KNOWN(ata_hidden, h, hidden_bytes)) {
        out->hidden_bytes = h->hidden_bytes;
        out->native_bytes = out->device_bytes + h->hidden_bytes;
        out->flags |= SATED_PROVISION_HIDDEN_KNOWN | SATED_PROVISION_NATIVE_KNOWN;
    }
    return 0;
}

static void look(struct sated_drive *d, struct sated_provision *out)
{
    with_sizes(d, look_at, out);
}

/* ---- What it has ---- */

static int lacks(const struct sated_drive *d, const char *what, const char *instead)
{
    return error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE, "%s: %s; %s", d->path, what, instead);
}

/* Its native maximum is not told then either (ACS-4 4.18, "Command actions"), so that nothing is known to be left. */
static int not_locked(const struct sated_drive *d, const struct sizes *z)
{
    if (!z->id.security.locked)
        return 0;
    return error_set(SATED_LOCKED, SATED_LAYER_DRIVE,
                     "%s: is locked by a password (IDENTIFY word 128 is %04Xh), and takes no other size meanwhile; "
                     "`sated purge %s --resume` erases and unlocks it, with --password where it is not sated's own",
                     d->path, z->id.words[128], d->path);
}

static int is_able(struct sated_drive *d, struct sizes *z, void *user)
{
    uint32_t method = *(const uint32_t *)user;
    const struct sated_ata_hidden *h = &z->hidden;
    bool native = IS_KNOWN(ata_hidden, h, native_sectors);
    if (method == SATED_PROVISION_HPA && !has_hpa(z))
        return lacks(d, "has no Host Protected Area (IDENTIFY word 82 bit 10)",
                     has_amac(z) ? "it has AMAC in its place: take the method amac" : "take the method lba");
    if (method == SATED_PROVISION_AMAC && !has_amac(z))
        return lacks(d, "has no Accessible Max Address Configuration (IDENTIFY word 119 bit 8)",
                     has_hpa(z) ? "it is of the time of the Host Protected Area: take the method hpa"
                                : "take the method lba");
    if (method == SATED_PROVISION_DCO && !has_dco(z))
        return lacks(d, "has no Device Configuration Overlay (IDENTIFY word 83 bit 11)",
                     has_amac(z) ? "take the method amac" : "take the method hpa or lba");
    int rc = not_locked(d, z);
    if (rc)
        return rc;
    if (method == SATED_PROVISION_DCO && !IS_KNOWN(ata_hidden, h, overlay_sectors))
        return lacks(d, "does not tell its Device Configuration Overlay, so that none can be set",
                     "if firmware froze it, switch its power off and on while the machine runs, else take hpa or lba");
    if (!native)
        return lacks(d, "does not tell its native maximum, as where a bridge hands no registers back",
                     "attach it to a SATA port, or take the method lba");
    return 0;
}

static int able(struct sated_drive *d, uint32_t method)
{
    return with_sizes(d, is_able, &method);
}

/* ---- Planning ---- */

struct planning {
    struct change *c;
    uint64_t bytes;
};

static int plan_it(struct sated_drive *d, struct sizes *z, void *user)
{
    struct change *c = ((struct planning *)user)->c;
    uint64_t bytes = ((struct planning *)user)->bytes;
    const struct sated_ata_hidden *h = &z->hidden;
    bool overlay = c->method == SATED_PROVISION_DCO;
    int rc = not_locked(d, z);
    if (rc)
        return rc;
    c->block_bytes = c->before_block_bytes = (uint32_t)z->id.capacity.logical_block_bytes;
    c->before_blocks = overlay ? h->native_sectors : h->accessible_sectors;
    uint64_t most = overlay ? h->overlay_sectors : h->native_sectors;
    if (c->method == SATED_PROVISION_EVERY) {
        c->blocks = ALL_BLOCKS;
        return h->hidden_at_least_sectors == 0;
    }
    if (overlay && h->hpa_sectors)
        return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                         "%s: an HPA hides %" PRIu64
                         " sectors, and while it does no overlay can be set (ACS-2 7.7); lift "
                         "it first: `sated capacity %s --restore --method hpa`",
                         d->path, h->hpa_sectors, d->path);
    if (bytes == UINT64_MAX)
        c->blocks = most;
    else {
        rc = provision_blocks(c, bytes, most * c->block_bytes);
        if (rc)
            return rc;
    }
    return c->blocks == c->before_blocks;
}

static int plan(struct change *c, uint64_t bytes)
{
    if (c->method == CHANGE_BLOCK)
        return lacks(c->d, "its sector size is set by SET SECTOR CONFIGURATION, which this version does not send",
                     "use the maker's tool");
    return with_sizes(c->d, plan_it, &(struct planning){c, bytes});
}

/* ---- Changing ---- */

/* Both are refused for other reasons too, which the drive does not tell apart. */
static int explain_once(struct change *c, int rc)
{
    if (rc != SATED_ATA)
        return rc;
    struct sated_detail detail = *error_last();
    c->power_cycle = true;
    error_set(
        SATED_STATE, SATED_LAYER_DRIVE,
        "%s: refused to set its size (ATA status %02Xh, error %02Xh): it takes one such change between two "
        "power-ons, and none at all while its size is frozen or locked by a password; switch its power off and on",
        c->d->path, detail.ata_status, detail.ata_error);
    error_last()->ata_status = detail.ata_status;
    error_last()->ata_error = detail.ata_error;
    return SATED_STATE;
}

static int set_max(struct change *c, const struct sizes *z, uint64_t sectors)
{
    struct sated_ata_command command;
    struct sated_ata_registers registers;
    char step[96];
    bool amac = has_amac(z), ext = z->ext;
    snprintf(step, sizeof step, "%s, last LBA %" PRIu64,
             amac  ? "SET ACCESSIBLE MAX ADDRESS EXT"
             : ext ? "SET MAX ADDRESS EXT"
                   : "SET MAX ADDRESS",
             sectors - 1);
    int rc = change_step(c, step);
    if (rc)
        return rc;
    /* ATA8-ACS 7.52: directly after READ NATIVE MAX ADDRESS of the same form; VV keeps it over a cut of power. */
    rc = amac ? sated_ata_build_set_accessible_max(&command, sectors - 1) : ask_native(c->d, z, &registers);
    if (!rc && !amac)
        rc = sated_ata_build_set_max(&command, ext, sectors - 1, true);
    if (rc)
        return rc;
    return explain_once(c, change_sent(c, sated_ata_raw(c->d, &command, NULL, &registers, NULL)));
}

static int overlay_step(struct change *c, const char *step, const struct sated_ata_command *command, void *data)
{
    int rc = change_step(c, step);
    if (!rc)
        rc = change_sent(c, sated_ata_raw(c->d, command, data, NULL, NULL));
    if (rc != SATED_ATA)
        return rc;
    struct sated_detail detail = *error_last();
    return error_set(
        SATED_ATA, SATED_LAYER_DRIVE,
        "%s: %s was refused (ATA status %02Xh, error %02Xh): so it is while the overlay is frozen, which "
        "lasts to the next power-on and which firmware does at boot; switch its power off and on while the "
        "machine runs",
        c->d->path, step, detail.ata_status, detail.ata_error);
}

static int restore_overlay(struct change *c)
{
    struct sated_ata_command command;
    int rc = sated_ata_build_dco_restore(&command);
    return rc ? rc : overlay_step(c, "DEVICE CONFIGURATION RESTORE", &command, NULL);
}

/* The data is what IDENTIFY told, with another size and its checksum anew (ACS-2 7.7.6). */
static int set_overlay(struct change *c, uint64_t sectors, struct sizes *z)
{
    struct sated_ata_command command;
    uint8_t identify[SECTOR];
    char step[96];
    int rc = ask_overlay(c->d, z);
    if (rc)
        return rc;
    memcpy(identify, z->page, SECTOR);
    rc = sated_ata_build_dco_data(z->page, SECTOR, identify, SECTOR, sectors - 1);
    if (rc > 0)
        rc = sated_ata_build_dco_set(&command);
    if (rc)
        return rc;
    snprintf(step, sizeof step, "DEVICE CONFIGURATION SET, last LBA %" PRIu64, sectors - 1);
    return overlay_step(c, step, &command, z->page);
}

static int run_overlay(struct change *c, struct sizes *z)
{
    const struct sated_ata_hidden *h = &z->hidden;
    int rc = 0;
    if (h->native_sectors == c->blocks)
        return 0;
    if (h->native_sectors != h->overlay_sectors) /* no overlay goes on top of another one */
        rc = restore_overlay(c);
    if (!rc && c->blocks != h->overlay_sectors)
        rc = set_overlay(c, c->blocks, z);
    return rc;
}

/* HPA or AMAC first: no overlay can be changed beneath them. */
static int run_every(struct change *c, struct sizes *z)
{
    const struct sated_ata_hidden *h = &z->hidden;
    int rc = h->hpa_sectors ? set_max(c, z, h->native_sectors) : 0;
    return rc || !h->dco_sectors ? rc : restore_overlay(c);
}

static int run_it(struct sated_drive *d, struct sizes *z, void *user)
{
    struct change *c = user;
    const struct sated_ata_hidden *h = &z->hidden;
    (void)d;
    if (c->method == SATED_PROVISION_DCO)
        return run_overlay(c, z);
    if (c->method != SATED_PROVISION_EVERY)
        return h->accessible_sectors == c->blocks ? 0 : set_max(c, z, c->blocks);
    return c->blocks == ALL_BLOCKS ? run_every(c, z) : 0; /* restoring is taken back by nothing */
}

static int came_to(struct sated_drive *d, struct sizes *z, void *user)
{
    const struct change *c = user;
    const struct sated_ata_hidden *h = &z->hidden;
    uint64_t now = c->method == SATED_PROVISION_DCO ? h->native_sectors : h->accessible_sectors;
    if (c->method == SATED_PROVISION_EVERY ? h->hidden_at_least_sectors == 0 : now == c->blocks)
        return 0;
    return error_set(-EIO, SATED_LAYER_DRIVE,
                     "%s: said that its size was set, but tells %" PRIu64 " sectors, and not %" PRIu64
                     "; switch its power off and on, and look again",
                     d->path, now, c->blocks);
}

static int run(struct change *c)
{
    int rc = with_sizes(c->d, run_it, c);
    bool undone = c->method == SATED_PROVISION_EVERY && c->blocks != ALL_BLOCKS;
    return rc || undone ? rc : with_sizes(c->d, came_to, c);
}

const struct provision_way provision_ata = {look, able, plan, run};
