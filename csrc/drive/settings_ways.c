/* SPDX-License-Identifier: MIT */
/* How ATA (ACS-4 7.43), SCSI (SBC-4 6.5.5, the caching page) and NVMe (Base 2.0 5.27) tell and take their settings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/error.h"
#include "drive/settings_inside.h"
#include "protocol/known_ata.h"
#include "protocol/known_nvme.h"
#include "protocol/known_scsi.h"
#include "transport/command.h"

#define PAGE 4096

static void *page_new(const struct sated_drive *d)
{
    void *page = buffer_new(PAGE);
    if (!page)
        error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for its settings", d->path);
    return page;
}

static void tell(struct sated_settings *out, uint32_t which, bool changeable)
{
    out->known |= which;
    out->changeable |= changeable ? which : 0;
}

/* ---- ATA ---- */

static int get_ata(struct sated_drive *d, struct sated_settings *out)
{
    struct sated_ata_command c;
    struct sated_ata_identify *id = malloc(sizeof *id);
    struct sated_reply reply;
    uint8_t *page = page_new(d);
    int rc = page && id ? sated_ata_build_identify_device(&c) : -ENOMEM;
    if (!rc)
        rc = sated_ata_raw(d, &c, page, NULL, &reply);
    if (!rc)
        rc = sated_ata_decode_identify(page, reply.data_len, id);
    if (!rc) {
        const struct sated_ata_settings *s = &id->settings;
        out->write_cache = s->write_cache_enabled;
        out->look_ahead = s->look_ahead_enabled;
        out->apm = s->apm_enabled ? s->apm_level : 0;
        if (s->write_cache_supported)
            tell(out, SATED_SETTING_WRITE_CACHE, true);
        if (s->look_ahead_supported)
            tell(out, SATED_SETTING_LOOK_AHEAD, true);
        if (s->apm_supported)
            tell(out, SATED_SETTING_APM, true);
    }
    buffer_free(page, PAGE);
    free(id);
    return rc;
}

static int set_ata(struct sated_drive *d, uint32_t which, const struct sated_settings *wanted)
{
    struct sated_ata_command c;
    int rc = which == SATED_SETTING_WRITE_CACHE  ? sated_ata_build_set_write_cache(&c, wanted->write_cache)
             : which == SATED_SETTING_LOOK_AHEAD ? sated_ata_build_set_look_ahead(&c, wanted->look_ahead)
             : wanted->apm                       ? sated_ata_build_set_apm(&c, wanted->apm)
                                                 : sated_ata_build_set_features(&c, 0x85, 0, 0);
    return rc ? rc : sated_ata_raw(d, &c, NULL, NULL, NULL);
}

const struct settings_way settings_ata = {get_ata, NULL, set_ata};

/* ---- SCSI ---- */

#define CACHING 0x08
#define CHANGEABLE 1 /* page control: a mask of what can be set */

static int ask_caching(struct sated_drive *d, uint32_t pc, uint8_t *page, uint32_t *n,
                       struct sated_scsi_mode_caching *out)
{
    struct sated_scsi_command c;
    struct sated_scsi_mode *mode = malloc(sizeof *mode);
    struct sated_reply reply;
    int rc = mode ? sated_scsi_build_mode_sense_10(&c, pc, CACHING, 0, true, false, PAGE) : -ENOMEM;
    if (!rc)
        rc = command_ask(d, &c, page, &reply);
    if (!rc)
        rc = sated_scsi_decode_mode(page, reply.data_len, true, mode);
    if (!rc && !mode->n_pages)
        rc = error_set(SATED_UNSUPPORTED, SATED_LAYER_DRIVE, "%s: has no caching page among its mode pages", d->path);
    if (!rc)
        rc = sated_scsi_decode_mode_caching(page + mode->pages[0].offset, mode->pages[0].length, out);
    *n = rc ? 0 : reply.data_len;
    free(mode);
    return rc;
}

static int get_scsi(struct sated_drive *d, struct sated_settings *out)
{
    struct sated_scsi_mode_caching now, can;
    uint32_t n;
    uint8_t *page = page_new(d);
    int rc = page ? ask_caching(d, 0, page, &n, &now) : -ENOMEM;
    if (!rc && ask_caching(d, CHANGEABLE, page, &n, &can))
        memset(&can, 0, sizeof can);
    if (!rc) {
        out->write_cache = now.wce;
        out->look_ahead = !now.dra;
        tell(out, SATED_SETTING_WRITE_CACHE, can.wce);
        if (IS_KNOWN(scsi_mode_caching, &now, dra))
            tell(out, SATED_SETTING_LOOK_AHEAD, can.dra);
    }
    buffer_free(page, PAGE);
    return rc;
}

/* Without SP: what is saved stays, and power-on brings it back. */
static int set_scsi(struct sated_drive *d, uint32_t which, const struct sated_settings *wanted)
{
    struct sated_scsi_command c;
    struct sated_scsi_mode_caching now;
    uint32_t n;
    uint8_t *page = page_new(d), *list = page_new(d);
    int length = page && list ? ask_caching(d, 0, page, &n, &now) : -ENOMEM;
    if (!length)
        length = sated_scsi_build_wce_list(list, PAGE, page, n, true,
                                           which == SATED_SETTING_WRITE_CACHE ? wanted->write_cache : now.wce);
    int rc = length < 0 ? length : 0;
    if (!rc && which == SATED_SETTING_LOOK_AHEAD && length >= 8 + 13)
        list[8 + 12] = (uint8_t)((list[8 + 12] & ~0x20) | (wanted->look_ahead ? 0 : 0x20)); /* DRA */
    if (!rc)
        rc = sated_scsi_build_mode_select_10(&c, false, (uint32_t)length);
    if (!rc)
        rc = command_ask(d, &c, list, NULL);
    buffer_free(page, PAGE);
    buffer_free(list, PAGE);
    return rc;
}

const struct settings_way settings_scsi = {get_scsi, NULL, set_scsi};

/* ---- NVMe ---- */

#define APST_BYTES 256

static int get_feature(struct sated_drive *d, uint32_t fid, uint32_t bytes, void *data, uint32_t *value)
{
    struct sated_nvme_command c;
    struct sated_reply reply;
    int rc = sated_nvme_build_get_features(&c, fid, 0, SATED_NVME_SEL_CURRENT, 0, bytes);
    if (!rc)
        rc = sated_nvme_admin_raw(d, &c, data, &reply);
    *value = rc ? 0 : (uint32_t)reply.result;
    return rc;
}

static int identify_nvme(struct sated_drive *d, void *page, struct sated_nvme_id_ctrl *id)
{
    struct sated_nvme_command c;
    int rc = sated_nvme_build_identify(&c, SATED_NVME_CNS_CTRL, 0, 0, 0, 0);
    if (!rc)
        rc = sated_nvme_admin_raw(d, &c, page, NULL);
    return rc ? rc : sated_nvme_decode_id_ctrl(page, PAGE, id);
}

static int get_nvme(struct sated_drive *d, struct sated_settings *out)
{
    struct sated_nvme_id_ctrl *id = malloc(sizeof *id);
    uint8_t *page = page_new(d);
    uint32_t value;
    int rc = page && id ? identify_nvme(d, page, id) : -ENOMEM;
    if (!rc && id->nvm.vwc & SATED_NVME_VWC_PRESENT && !get_feature(d, SATED_NVME_FID_WRITE_CACHE, 0, NULL, &value)) {
        out->write_cache = value & 1;
        tell(out, SATED_SETTING_WRITE_CACHE, true);
    }
    if (!rc && !get_feature(d, SATED_NVME_FID_POWER, 0, NULL, &value)) {
        out->power_state = value & 31;
        tell(out, SATED_SETTING_POWER_STATE, id->admin.npss > 0);
    }
    if (!rc && id->admin.apsta & 1 && !get_feature(d, SATED_NVME_FID_APST, APST_BYTES, page, &value)) {
        out->apst = value & 1;
        tell(out, SATED_SETTING_APST, true);
    }
    buffer_free(page, PAGE);
    free(id);
    return rc;
}

static int check_nvme(struct sated_drive *d, const struct sated_settings *wanted)
{
    if (!(wanted->known & SATED_SETTING_POWER_STATE))
        return 0;
    struct sated_nvme_id_ctrl *id = malloc(sizeof *id);
    uint8_t *page = page_new(d);
    int rc = page && id ? identify_nvme(d, page, id) : -ENOMEM;
    if (!rc && wanted->power_state > id->admin.npss)
        rc = error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                       "%s: power_state %u: the drive has the states 0 to %u; give one "
                       "of them",
                       d->path, wanted->power_state, id->admin.npss);
    buffer_free(page, PAGE);
    free(id);
    return rc;
}

/* The table of transitions stays as it is (5.27.1.9). */
static int set_apst(struct sated_drive *d, bool on)
{
    struct sated_nvme_command c;
    uint32_t value;
    uint8_t *table = page_new(d);
    int rc = table ? get_feature(d, SATED_NVME_FID_APST, APST_BYTES, table, &value) : -ENOMEM;
    if (!rc)
        rc = sated_nvme_build_set_apst(&c, on, false);
    if (!rc)
        rc = sated_nvme_admin_raw(d, &c, table, NULL);
    buffer_free(table, PAGE);
    return rc;
}

static int set_nvme(struct sated_drive *d, uint32_t which, const struct sated_settings *wanted)
{
    struct sated_nvme_command c;
    if (which == SATED_SETTING_APST)
        return set_apst(d, wanted->apst);
    int rc = which == SATED_SETTING_WRITE_CACHE ? sated_nvme_build_set_write_cache(&c, wanted->write_cache, false)
                                                : sated_nvme_build_set_power_state(&c, wanted->power_state, 0, false);
    return rc ? rc : sated_nvme_admin_raw(d, &c, NULL, NULL);
}

const struct settings_way settings_nvme = {get_nvme, check_nvme, set_nvme};
