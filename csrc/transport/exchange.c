/* SPDX-License-Identifier: MIT */
#include "transport/exchange.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/file.h"
#include "core/json.h"
#include "core/size.h"
#include "transport/learn.h"

#define LARGEST ((size_t)64 << 20) /* of one answer */
#define GET_LOG_RAE 0x8000         /* Retain Asynchronous Event, of CDW10 */
#define EXCHANGE_CDW10 3           /* its place among the dwords */

const char *const exchange_dword_names[EXCHANGE_DWORDS] = {"nsid",  "cdw2",  "cdw3",  "cdw10", "cdw11",
                                                           "cdw12", "cdw13", "cdw14", "cdw15"};

void exchange_dwords(uint32_t out[EXCHANGE_DWORDS], const struct sated_nvme_command *c)
{
    const uint32_t from[EXCHANGE_DWORDS] = {c->nsid,  c->cdw2,  c->cdw3,  c->cdw10, c->cdw11,
                                            c->cdw12, c->cdw13, c->cdw14, c->cdw15};
    memcpy(out, from, sizeof from);
}

static int refuse(const char *path, const struct json *at, const char *what)
{
    return error_set(SATED_PARSE, SATED_LAYER_FILE, "%s:%u: \"%s\": %s, not %s", path, at->line,
                     at->name ? at->name : "exchanges", what, json_kind_name(at->kind));
}

/* Refuses a member that nobody asks for, naming the nearest that there is. */
static int check_names(const char *path, const struct json *object, const char *const *known, size_t n)
{
    for (const struct json *m = object->first; m; m = m->next) {
        size_t i = 0;
        while (i < n && strcmp(known[i], m->name))
            i++;
        if (i < n)
            continue;
        const char *near = size_nearest(m->name, known, n);
        return error_set(SATED_PARSE, SATED_LAYER_FILE, "%s:%u: unknown \"%s\"%s%s%s; see the schema of replay files",
                         path, m->line, m->name, near ? ", did you mean \"" : "", near ? near : "", near ? "\"" : "");
    }
    return 0;
}

static int nibble(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* A whole number, in decimal or as "0x..."; `any`, where given, receives whether the text was "any". One above INT64_MAX
 * arrives as the bits that it has. */
static int read_number(const char *path, const struct json *at, int64_t low, uint64_t high, int64_t *out, bool *any)
{
    uint64_t value = 0;
    bool negative = false, good = at->kind == JSON_NUMBER && at->whole;
    if (any)
        *any = at->kind == JSON_TEXT && !strcmp(at->text, "any");
    if (any && *any)
        return 0;
    if (good) {
        value = at->value;
        negative = at->negative;
    } else if (at->kind == JSON_TEXT && !strncmp(at->text, "0x", 2) && at->text[2]) {
        good = strlen(at->text) <= 18;
        for (const char *p = at->text + 2; good && *p; p++) {
            good = nibble(*p) >= 0;
            value = value << 4 | (uint64_t)(nibble(*p) & 15);
        }
    }
    if (!good)
        return refuse(path, at,
                      any ? "give a whole number, \"0x\" and hexadecimal digits, or \"any\""
                          : "give a whole number, or \"0x\" and hexadecimal digits");
    if (negative ? low >= 0 || value > (uint64_t)-low : value > high)
        return error_set(SATED_PARSE, SATED_LAYER_FILE,
                         "%s:%u: \"%s\" is %s%" PRIu64 "; give a number from %" PRId64 " to %" PRIu64, path, at->line,
                         at->name, negative ? "-" : "", value, low, high);
    *out = negative ? -(int64_t)value : (int64_t)value;
    return 0;
}

/* Takes a member that may be missing. */
static int take_number(const char *path, const struct json *object, const char *name, int64_t low, uint64_t high,
                       int64_t *out)
{
    const struct json *at = json_get(object, name);
    return at ? read_number(path, at, low, high, out, NULL) : 0;
}

/* Hexadecimal digits in pairs, blanks between them, in one text or a list of them. @param mask where not NULL, "xx" is
 * a byte of which nothing is asked. @param out NULL only counts. */
static int read_bytes(const char *path, const struct json *at, uint8_t *out, uint8_t *mask, size_t cap, size_t *n)
{
    const struct json *text = at->kind == JSON_ARRAY ? at->first : at;
    *n = 0;
    for (; text; text = at->kind == JSON_ARRAY ? text->next : NULL) {
        if (text->kind != JSON_TEXT)
            return refuse(path, at, "give hexadecimal digits as a text, or a list of such texts");
        for (const char *p = text->text; *p;) {
            if (*p == ' ') {
                p++;
                continue;
            }
            bool any = mask && p[0] == 'x' && p[1] == 'x';
            int high = nibble(p[0]), low = high < 0 ? -1 : nibble(p[1]);
            if (!any && low < 0)
                return error_set(SATED_PARSE, SATED_LAYER_FILE,
                                 "%s:%u: \"%s\": byte %zu is not two hexadecimal digits%s", path, text->line,
                                 at->name ? at->name : "", *n, mask ? " (or xx)" : "");
            if (*n >= cap)
                return error_set(SATED_PARSE, SATED_LAYER_FILE, "%s:%u: \"%s\" has more than %zu bytes", path,
                                 text->line, at->name ? at->name : "", cap);
            if (out)
                out[*n] = any ? 0 : (uint8_t)(high << 4 | low);
            if (mask)
                mask[*n] = any ? 0 : 0xff;
            ++*n;
            p += 2;
        }
    }
    return 0;
}

/* Bytes into memory of their own; "length" beyond them is zeros. */
static int take_bytes(const char *path, const struct json *object, const char *name, size_t length, uint8_t **out,
                      size_t *n)
{
    const struct json *at = json_get(object, name);
    size_t given = 0;
    int rc = at ? read_bytes(path, at, NULL, NULL, LARGEST, &given) : 0;
    *n = given > length ? given : length;
    if (rc || !*n)
        return rc;
    *out = calloc(1, *n);
    if (!*out)
        return error_set(-ENOMEM, SATED_LAYER_FILE, "%s: no memory for %zu bytes", path, *n);
    return at ? read_bytes(path, at, *out, NULL, given, &given) : 0;
}

static int read_command(const char *path, const struct json *object, struct exchange *e)
{
    const struct json *cdb = json_get(object, "cdb");
    size_t n;
    if (e->set == SATED_COMMANDS_SCSI) {
        if (!cdb)
            return error_set(SATED_PARSE, SATED_LAYER_FILE, "%s:%u: a SCSI command without \"cdb\"; give its bytes",
                             path, object->line);
        int rc = read_bytes(path, cdb, e->cdb, e->cdb_mask, sizeof e->cdb, &n);
        e->cdb_len = (uint32_t)n;
        return rc;
    }
    int64_t opcode = 0, flags = 0;
    if (!json_get(object, "opcode"))
        return error_set(SATED_PARSE, SATED_LAYER_FILE, "%s:%u: an NVMe command without \"opcode\"; give its number",
                         path, object->line);
    int rc = take_number(path, object, "opcode", 0, 0xff, &opcode);
    if (!rc)
        rc = take_number(path, object, "flags", 0, 0xff, &flags);
    e->opcode = (uint8_t)opcode;
    e->flags = (uint8_t)flags;
    for (size_t i = 0; !rc && i < EXCHANGE_DWORDS; i++) {
        const struct json *at = json_get(object, exchange_dword_names[i]);
        int64_t value = 0;
        bool any = false;
        rc = at ? read_number(path, at, 0, UINT32_MAX, &value, &any) : 0;
        e->dwords[i] = (uint32_t)value;
        e->dword_masks[i] = any ? 0 : UINT32_MAX;
    }
    /* Whether the event of a log stays is no part of what the log says. */
    if (e->set == SATED_COMMANDS_NVME_ADMIN && e->opcode == SATED_NVME_ADMIN_GET_LOG_PAGE)
        e->dword_masks[EXCHANGE_CDW10] &= ~(uint32_t)GET_LOG_RAE;
    return rc;
}

/* What failed without an errno, by its name. */
static int take_failure(const char *path, const struct json *object, int *out)
{
    const struct json *at = json_get(object, "failure");
    if (!at)
        return 0;
    for (int code = SATED_PARSE; at->kind == JSON_TEXT && code >= SATED_STATE; code--)
        if (!strcmp(sated_error_name(code), at->text)) {
            *out = code;
            return 0;
        }
    return refuse(path, at, "give the name of an error, such as \"STALLED\"");
}

static int read_answer(const char *path, const struct json *object, struct exchange *e)
{
    int64_t status = 0, host = 0, driver = -1, nvme = 0, result = 0, duration = 0, residual = 0, error = 0, length = 0;
    struct sated_reply *r = &e->reply;
    const struct json *sense = json_get(object, "sense"), *out = json_get(object, "data_out");
    size_t n = 0;
    int rc = take_number(path, object, "status", 0, 0xff, &status);
    if (!rc)
        rc = take_number(path, object, "host_status", 0, 0xffff, &host);
    if (!rc)
        rc = take_number(path, object, "driver_status", 0, 0xffff, &driver);
    if (!rc)
        rc = take_number(path, object, "nvme_status", 0, 0x7fff, &nvme);
    if (!rc)
        rc = take_number(path, object, "result", 0, UINT64_MAX, &result);
    if (!rc)
        rc = take_number(path, object, "duration_ns", 0, INT64_MAX, &duration);
    if (!rc)
        rc = take_number(path, object, "residual", INT32_MIN, INT32_MAX, &residual);
    if (!rc)
        rc = take_number(path, object, "errno", 1, 4095, &error);
    if (!rc)
        rc = take_failure(path, object, &e->failure);
    if (!rc)
        rc = take_number(path, object, "data_len", 0, LARGEST, &length);
    if (!rc && sense)
        rc = read_bytes(path, sense, r->sense, NULL, sizeof r->sense, &n);
    if (!rc)
        rc = take_bytes(path, object, "data", (size_t)length, &e->data, &e->data_len);
    if (!rc && out)
        rc = take_bytes(path, object, "data_out", 0, &e->out, &e->out_len);
    e->checks_out = out != NULL;
    r->sense_len = (uint32_t)n;
    r->scsi_status = (uint8_t)status;
    r->host_status = (uint16_t)host;
    r->driver_status = driver >= 0 ? (uint16_t)driver : n ? 8 : 0; /* as the kernel tells that there is sense data */
    r->nvme_status = (uint16_t)nvme;
    r->result = (uint64_t)result;
    r->duration_ns = duration;
    r->residual = (int32_t)residual;
    e->has_residual = json_get(object, "residual") != NULL;
    e->error = (int)error;
    return rc;
}

static int read_exchange(const char *path, const struct json *object, struct exchange *e)
{
    static const char *const scsi[] = {"command", "cdb",         "data_out",      "data",   "data_len",
                                       "status",  "sense",       "residual",      "errno",  "duration_ns",
                                       "note",    "host_status", "driver_status", "failure"};
    static const char *const nvme[] = {"command",     "opcode",      "flags",  "nsid",  "cdw2",     "cdw3",
                                       "cdw10",       "cdw11",       "cdw12",  "cdw13", "cdw14",    "cdw15",
                                       "data_out",    "data",        "errno",  "note",  "data_len", "result",
                                       "duration_ns", "nvme_status", "failure"};
    if (object->kind != JSON_OBJECT)
        return refuse(path, object, "give an object for each exchange");
    const struct json *command = json_get(object, "command");
    const char *name = command && command->kind == JSON_TEXT ? command->text : "";
    e->line = object->line;
    if (!strcmp(name, "scsi"))
        e->set = SATED_COMMANDS_SCSI;
    else if (!strcmp(name, "nvme-admin"))
        e->set = SATED_COMMANDS_NVME_ADMIN;
    else if (!strcmp(name, "nvme-io"))
        e->set = SATED_COMMANDS_NVME_IO;
    else
        return error_set(SATED_PARSE, SATED_LAYER_FILE,
                         "%s:%u: an exchange begins with \"command\": \"scsi\", \"nvme-admin\" or \"nvme-io\"", path,
                         object->line);
    bool is_scsi = e->set == SATED_COMMANDS_SCSI;
    int rc = check_names(path, object, is_scsi ? scsi : nvme,
                         is_scsi ? sizeof scsi / sizeof *scsi : sizeof nvme / sizeof *nvme);
    if (!rc)
        rc = read_command(path, object, e);
    return rc ? rc : read_answer(path, object, e);
}

/* What the answers of the file say of the drive. */
static void learn_all(struct exchanges *x)
{
    for (size_t i = 0; i < x->n; i++) {
        const struct exchange *e = &x->list[i];
        struct sated_scsi_command scsi = {.cdb_len = e->cdb_len};
        struct sated_nvme_command nvme = {.opcode = e->opcode, .nsid = e->dwords[0], .cdw10 = e->dwords[3]};
        memcpy(scsi.cdb, e->cdb, sizeof scsi.cdb);
        bool good = !e->error && !e->failure && !e->reply.host_status && !e->reply.nvme_status && e->data_len &&
                    (e->reply.scsi_status == 0 || e->reply.scsi_status == 2);
        if (good && !x->nsid)
            x->nsid = learn_nsid(&nvme, e->set);
        if (good)
            learn(&x->identity,
                  &(struct command){.set = e->set,
                                    .scsi = e->set == SATED_COMMANDS_SCSI ? &scsi : NULL,
                                    .nvme = e->set == SATED_COMMANDS_SCSI ? NULL : &nvme},
                  e->data, e->data_len);
    }
}

static int take_text(const char *path, const struct json *object, const char *name, char *out, size_t n)
{
    const struct json *at = json_get(object, name);
    if (!at)
        return 0;
    if (at->kind != JSON_TEXT || strlen(at->text) >= n)
        return error_set(SATED_PARSE, SATED_LAYER_FILE, "%s:%u: \"%s\": give a text of less than %zu bytes", path,
                         at->line, name, n);
    snprintf(out, n, "%s", at->text);
    for (char *p = out; *p; p++) /* it goes to terminals: as what decoders make of a drive's bytes */
        if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f)
            *p = '?';
    return 0;
}

/* What the file itself says of the drive goes before its answers. */
static int read_identity(const char *path, const struct json *object, struct sated_identity *id)
{
    static const char *const known[] = {"vendor",         "model",
                                        "serial",         "firmware",
                                        "transport",      "link",
                                        "capacity_bytes", "native_capacity_bytes",
                                        "rotation_rpm",   "logical_block_bytes",
                                        "note",           "physical_block_bytes"};
    int64_t capacity = 0, native = 0, rotation = -1, logical = 0, physical = 0;
    if (object->kind != JSON_OBJECT)
        return refuse(path, object, "give an object");
    int rc = check_names(path, object, known, sizeof known / sizeof *known);
    if (!rc)
        rc = take_text(path, object, "vendor", id->vendor, sizeof id->vendor);
    if (!rc)
        rc = take_text(path, object, "model", id->model, sizeof id->model);
    if (!rc)
        rc = take_text(path, object, "serial", id->serial, sizeof id->serial);
    if (!rc)
        rc = take_text(path, object, "firmware", id->firmware, sizeof id->firmware);
    if (!rc)
        rc = take_text(path, object, "transport", id->transport, sizeof id->transport);
    if (!rc)
        rc = take_text(path, object, "link", id->link, sizeof id->link);
    if (!rc)
        rc = take_text(path, object, "note", id->note, sizeof id->note);
    if (!rc)
        rc = take_number(path, object, "capacity_bytes", 0, UINT64_MAX, &capacity);
    if (!rc)
        rc = take_number(path, object, "native_capacity_bytes", 0, UINT64_MAX, &native);
    if (!rc)
        rc = take_number(path, object, "rotation_rpm", 0, 100000, &rotation);
    if (!rc)
        rc = take_number(path, object, "logical_block_bytes", 0, UINT32_MAX, &logical);
    if (!rc)
        rc = take_number(path, object, "physical_block_bytes", 0, UINT32_MAX, &physical);
    if (capacity)
        id->capacity_bytes = (uint64_t)capacity;
    if (native)
        id->native_capacity_bytes = (uint64_t)native;
    if (logical)
        id->logical_block_bytes = id->physical_block_bytes = (uint32_t)logical;
    if (physical)
        id->physical_block_bytes = (uint32_t)physical;
    if (rotation >= 0) {
        id->rotation_rpm = (uint32_t)rotation;
        id->flags |= SATED_IDENTITY_ROTATION_KNOWN;
    }
    return rc;
}

static int check_schema(const char *path, const struct json *root)
{
    const struct json *schema = root->kind == JSON_OBJECT ? json_get(root, "sated_replay") : NULL;
    if (!schema || schema->kind != JSON_NUMBER || !schema->whole || schema->negative || !schema->value)
        return error_set(SATED_PARSE, SATED_LAYER_FILE,
                         "%s: is not a replay file: it has no \"sated_replay\": %d at its top; `sated doctor --record` "
                         "makes one",
                         path, EXCHANGE_SCHEMA);
    if (schema->value > EXCHANGE_SCHEMA)
        return error_set(SATED_PARSE, SATED_LAYER_FILE,
                         "%s: is a replay file of schema %" PRIu64 ", and this version knows up to %d; use a newer "
                         "sated",
                         path, schema->value, EXCHANGE_SCHEMA);
    return 0;
}

static int read_root(struct exchanges *x, const char *path, const struct json *root)
{
    static const char *const known[] = {"sated_replay", "order", "protocol", "identity",
                                        "exchanges",    "note",  "node",     "root"};
    static const char *const protocols[] = {"scsi", "ata", "nvme"};
    int rc = check_schema(path, root);
    if (!rc)
        rc = check_names(path, root, known, sizeof known / sizeof *known);
    char order[16] = "match", protocol[16] = "";
    if (!rc)
        rc = take_text(path, root, "order", order, sizeof order);
    if (!rc)
        rc = take_text(path, root, "protocol", protocol, sizeof protocol);
    if (!rc)
        rc = take_text(path, root, "node", x->node, sizeof x->node);
    if (!rc)
        rc = take_text(path, root, "root", x->root, sizeof x->root);
    if (rc)
        return rc;
    x->strict = !strcmp(order, "strict");
    if (!x->strict && strcmp(order, "match"))
        return error_set(SATED_PARSE, SATED_LAYER_FILE, "%s: \"order\" is \"%s\"; give \"match\" or \"strict\"", path,
                         order);
    for (size_t i = 0; i < 3; i++)
        if (!strcmp(protocol, protocols[i]))
            x->identity.protocol = SATED_PROTOCOL_SCSI + (uint32_t)i;
    if (protocol[0] && !x->identity.protocol)
        return error_set(SATED_PARSE, SATED_LAYER_FILE,
                         "%s: \"protocol\" is \"%s\"; give \"scsi\", \"ata\" or \"nvme\"", path, protocol);
    const struct json *list = json_get(root, "exchanges"), *identity = json_get(root, "identity");
    if (!list || list->kind != JSON_ARRAY)
        return error_set(SATED_PARSE, SATED_LAYER_FILE,
                         "%s: \"exchanges\" is missing, or not a list; give [] for a drive that answers nothing", path);
    for (const struct json *e = list->first; e; e = e->next)
        x->n++;
    x->list = calloc(x->n ? x->n : 1, sizeof *x->list);
    if (!x->list)
        return error_set(-ENOMEM, SATED_LAYER_FILE, "%s: no memory for %zu exchanges", path, x->n);
    size_t i = 0;
    for (const struct json *e = list->first; e && !rc; e = e->next)
        rc = read_exchange(path, e, &x->list[i++]);
    if (rc)
        return rc;
    learn_all(x);
    return identity ? read_identity(path, identity, &x->identity) : 0;
}

int exchanges_read(struct exchanges *out, const char *path)
{
    struct json_document *document = NULL;
    void *data;
    size_t n;
    memset(out, 0, sizeof *out);
    int rc = file_read(path, &data, &n);
    if (rc)
        return rc;
    rc = json_read(&document, data, n, path);
    if (!rc)
        rc = read_root(out, path, json_root(document));
    json_free(document);
    free(data);
    if (rc)
        exchanges_free(out);
    return rc;
}

void exchanges_free(struct exchanges *e)
{
    for (size_t i = 0; e->list && i < e->n; i++) {
        free(e->list[i].out);
        free(e->list[i].data);
    }
    free(e->list);
    memset(e, 0, sizeof *e);
}
