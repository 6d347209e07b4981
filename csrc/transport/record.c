/* SPDX-License-Identifier: MIT */
#include "transport/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "transport/exchange.h"
#include "transport/scrub.h"

struct kept {
    enum sated_command_set set;
    struct sated_scsi_command scsi;
    struct sated_nvme_command nvme;
    int error; /* as the command returned it, 0 if it was answered */
    struct sated_reply reply;
    uint8_t *data, *out;
    uint32_t data_len, out_len;
};

struct record {
    struct kept *list;
    size_t n, room;
    bool lost; /* there was no memory for one */
};

static uint8_t *copy_of(const void *from, uint32_t n)
{
    uint8_t *to = n ? malloc(n) : NULL;
    if (to)
        memcpy(to, from, n);
    return to;
}

void record_add(struct sated_drive *d, const struct command *c, int rc, const struct sated_reply *reply)
{
    struct record *r = d->record;
    if (!r)
        return;
    if (r->n == r->room) {
        size_t room = r->room ? r->room * 2 : 64;
        struct kept *list = realloc(r->list, room * sizeof *list);
        if (!list) {
            r->lost = true;
            return;
        }
        r->list = list;
        r->room = room;
    }
    struct kept *k = &r->list[r->n];
    memset(k, 0, sizeof *k);
    k->set = c->nvme ? c->set : SATED_COMMANDS_SCSI;
    if (c->nvme)
        k->nvme = *c->nvme;
    else
        k->scsi = *c->scsi;
    k->reply = *reply;
    k->error = rc < 0 ? rc : 0;
    if (c->direction == SATED_DATA_IN && !rc) {
        k->data_len = reply->data_len;
        k->data = copy_of(c->data, k->data_len);
        r->lost = r->lost || (k->data_len && !k->data);
    } else if (c->direction == SATED_DATA_OUT) {
        k->out_len = c->data_len;
        k->out = copy_of(c->data, k->out_len);
        r->lost = r->lost || (k->out_len && !k->out);
    }
    r->n++;
}

void record_free(struct record *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n; i++) {
        free(r->list[i].data);
        free(r->list[i].out);
    }
    free(r->list);
    free(r);
}

static struct command command_of(const struct kept *k)
{
    return (struct command){.set = k->set,
                            .scsi = k->set == SATED_COMMANDS_SCSI ? &k->scsi : NULL,
                            .nvme = k->set == SATED_COMMANDS_SCSI ? NULL : &k->nvme};
}

/* Bytes, 32 in a line; zeros at the end are left to a length. */
static void say_bytes(struct text *t, const char *name, const uint8_t *bytes, size_t n, bool trim)
{
    size_t shown = n;
    while (trim && shown && !bytes[shown - 1])
        shown--;
    if (trim && n)
        text_say(t, ",\n     \"data_len\": %zu", n);
    if (!shown)
        return;
    text_say(t, ",\n     \"%s\": [", name);
    for (size_t at = 0; at < shown; at += 32) {
        text_say(t, "%s\"", at ? ",\n       " : "");
        for (size_t i = at; i < shown && i < at + 32; i++)
            text_say(t, "%s%02x", i > at ? " " : "", bytes[i]);
        text_say(t, "\"");
    }
    text_say(t, "]");
}

static void say_hex(struct text *t, const char *name, uint64_t value)
{
    if (value)
        text_say(t, ", \"%s\": \"0x%" PRIx64 "\"", name, value);
}

static void say_command(struct text *t, const struct kept *k)
{
    if (k->set == SATED_COMMANDS_SCSI) {
        text_say(t, "    {\"command\": \"scsi\", \"cdb\": \"");
        for (uint32_t i = 0; i < k->scsi.cdb_len; i++)
            text_say(t, "%s%02x", i ? " " : "", k->scsi.cdb[i]);
        text_say(t, "\"");
    } else {
        uint32_t dwords[EXCHANGE_DWORDS];
        exchange_dwords(dwords, &k->nvme);
        text_say(t, "    {\"command\": \"%s\", \"opcode\": \"0x%02x\"",
                 k->set == SATED_COMMANDS_NVME_ADMIN ? "nvme-admin" : "nvme-io", k->nvme.opcode);
        say_hex(t, "flags", k->nvme.flags);
        for (size_t i = 0; i < EXCHANGE_DWORDS; i++)
            say_hex(t, exchange_dword_names[i], dwords[i]);
    }
    if (k->out_len)
        say_bytes(t, "data_out", k->out, k->out_len, false);
}

static void say_answer(struct text *t, const struct kept *k)
{
    const struct sated_reply *r = &k->reply;
    if (k->error >= -4095 && k->error < 0) {
        text_say(t, ", \"errno\": %d}", -k->error);
        return;
    }
    if (k->error) {
        text_say(t, ", \"failure\": \"%s\"}", sated_error_name(k->error));
        return;
    }
    text_say(t, ",\n     \"duration_ns\": %" PRId64, r->duration_ns);
    say_hex(t, "status", r->scsi_status);
    say_hex(t, "host_status", r->host_status);
    if (r->driver_status != (r->sense_len ? 8 : 0))
        text_say(t, ", \"driver_status\": %u", r->driver_status);
    say_hex(t, "nvme_status", r->nvme_status);
    say_hex(t, "result", r->result);
    if (r->flags & SATED_REPLY_RESIDUAL_WRONG)
        text_say(t, ", \"residual\": %d", r->residual);
    say_bytes(t, "sense", r->sense, r->sense_len, false);
    say_bytes(t, "data", k->data, k->data_len, true);
    text_say(t, "}");
}

static void say_identity(struct text *t, const struct sated_identity *id, const struct scrub *s)
{
    static const char *const protocols[] = {"", "scsi", "ata", "nvme"};
    struct sated_identity shown = *id;
    scrub_text(s, shown.serial);
    scrub_text(s, shown.model);
    if (id->protocol)
        text_say(t, "  \"protocol\": \"%s\",\n", protocols[id->protocol & 3]);
    text_say(t, "  \"identity\": {");
    text_say_json(t, "vendor", shown.vendor);
    text_say(t, ", ");
    text_say_json(t, "model", shown.model);
    text_say(t, ",\n    ");
    text_say_json(t, "serial", strcmp(shown.serial, id->serial) || !id->serial[0] ? shown.serial : "SATED0000");
    text_say(t, ", ");
    text_say_json(t, "firmware", shown.firmware);
    text_say(t, ", ");
    text_say_json(t, "transport", shown.transport);
    text_say(t, ", ");
    text_say_json(t, "link", shown.link);
    text_say(t, ",\n    \"capacity_bytes\": %" PRIu64, id->capacity_bytes);
    if (id->native_capacity_bytes)
        text_say(t, ", \"native_capacity_bytes\": %" PRIu64, id->native_capacity_bytes);
    text_say(t, ", \"logical_block_bytes\": %u, \"physical_block_bytes\": %u", id->logical_block_bytes,
             id->physical_block_bytes);
    if (id->flags & SATED_IDENTITY_ROTATION_KNOWN)
        text_say(t, ", \"rotation_rpm\": %u", id->rotation_rpm);
    text_say(t, "},\n");
}

static int write_file(const struct sated_drive *d, struct record *r, const char *path)
{
    struct scrub *s = calloc(1, sizeof *s);
    struct text t = {.failed = s == NULL};
    for (size_t i = 0; s && i < r->n; i++) {
        struct command c = command_of(&r->list[i]);
        scrub_learn(s, &c, r->list[i].data, r->list[i].data_len);
    }
    if (s) {
        text_say(&t, "{\n  \"sated_replay\": %d,\n", EXCHANGE_SCHEMA);
        say_identity(&t, &d->identity, s);
        text_say(&t, "  \"exchanges\": [\n");
        for (size_t i = 0; i < r->n; i++) {
            struct kept *k = &r->list[i];
            struct command c = command_of(k);
            scrub_apply(s, &c, k->data, k->data_len);
            scrub_apply(s, &c, k->out, k->out_len);
            say_command(&t, k);
            say_answer(&t, k);
            text_say(&t, "%s\n", i + 1 < r->n ? "," : "");
        }
        text_say(&t, "  ]\n}\n");
    }
    free(s);
    int rc;
    if (t.failed)
        rc = error_set(-ENOMEM, SATED_LAYER_FILE, "%s: no memory for %zu recorded commands", path, r->n);
    else
        rc = file_create(path, &(struct file_part){t.data, t.used}, 1);
    free(t.data);
    return rc;
}

int sated_drive_record_start(struct sated_drive *d)
{
    int rc = command_face_find(d);
    if (rc)
        return rc;
    if (d->record)
        return error_set(SATED_STATE, SATED_LAYER_DRIVE, "%s: is recorded already; stop that first", d->path);
    d->record = calloc(1, sizeof *d->record);
    return d->record ? 0 : error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for a record", d->path);
}

int sated_drive_record_stop(struct sated_drive *d, const char *path)
{
    struct record *r = d->record;
    if (!r)
        return error_set(SATED_STATE, SATED_LAYER_DRIVE, "%s: is not recorded; start that first", d->path);
    int n = (int)r->n, rc = 0;
    if (path && r->lost)
        rc = error_set(-ENOMEM, SATED_LAYER_FILE, "%s: not all of %zu commands could be kept; record less at once",
                       path, r->n);
    else if (path)
        rc = write_file(d, r, path);
    d->record = NULL;
    record_free(r);
    return rc ? rc : n;
}
