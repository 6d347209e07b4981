/* SPDX-License-Identifier: MIT */
#include "drive/journal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sated/sim.h>

#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "transport/simulated.h"

#define SCHEMA 1
#define STEPS "\n\"steps\": [" /* opens the last member: no string of JSON holds a line feed */
#define OPERATIONS 3

struct journal {
    struct sated_drive *drive;
    size_t operation;
    char *path; /* NULL: of a drive that nothing outlasts */
    struct file_lock *lock;
    struct text text; /* what is in the file, less the end of it */
    char *read;       /* what the document was read from */
    struct json_document *document;
    const struct json *plan;
    const char *began, *last;
};

static const char *const operations[OPERATIONS] = {"purge", "capacity", "settings"};

static size_t operation_of(const char *name)
{
    size_t i = 0;
    while (i + 1 < OPERATIONS && strcmp(operations[i], name))
        i++;
    return i;
}

static void journal_free(struct journal *j)
{
    file_unlock(j->lock);
    json_free(j->document);
    free(j->read);
    free(j->text.data);
    free(j->path);
    free(j);
}

static int no_memory(const struct sated_drive *d)
{
    return error_set(-ENOMEM, SATED_LAYER_FILE, "%s: no memory for its journal", d->path);
}

/* ---- Where ---- */

/* SATED_STATE_DIR; else of root /var/lib/sated, of others the folder that the XDG base directories name. */
static int folder_of(struct text *out)
{
    const char *told = getenv("SATED_STATE_DIR"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (told && told[0])
        text_say(out, "%s", told);
    else if (geteuid() == 0)
        text_say(out, "/var/lib/sated");
    else if (state && state[0] == '/')
        text_say(out, "%s/sated", state);
    else if (home && home[0] == '/')
        text_say(out, "%s/.local/state/sated", home);
    else
        return error_set(
            -ENOENT, SATED_LAYER_FILE,
            "there is no folder for journals: set SATED_STATE_DIR, or HOME, to one that can be written to");
    return 0;
}

/* What the drive is known by, whichever node it is found at: its serial number with vendor and model, else its place. */
static void name_of(struct text *out, struct sated_drive *d)
{
    struct sated_identity id;
    if (d->kind == HANDLE_FILE || sated_drive_get_identity(d, &id))
        text_say(out, "%s", d->path);
    else
        text_say(out, "%s %s %s", id.vendor, id.model, id.serial[0] ? id.serial : id.token[0] ? id.token : id.path);
}

static uint64_t fnv_1a(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        hash = (hash ^ *p) * 0x100000001b3;
    return hash;
}

/* "purge-ACME-SSD-S123-0123456789abcdef.json": to be read by people, and distinct by the number. */
static int path_by_name(struct text *out, struct sated_drive *d, const char *operation)
{
    struct text name = {0};
    name_of(&name, d);
    int rc = name.failed ? no_memory(d) : folder_of(out);
    if (!rc && !out->failed)
        rc = file_folder(out->data, 0700);
    if (!rc && !out->failed)
        rc = file_folder_check(out->data);
    if (rc) {
        free(name.data);
        return rc;
    }
    text_say(out, "/%s-", operation);
    for (size_t i = 0; name.data[i] && i < 80; i++) {
        unsigned char c = (unsigned char)name.data[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' || c == '_';
        text_say(out, "%c", plain ? c : '-');
    }
    text_say(out, "-%016llx.json", (unsigned long long)fnv_1a(name.data));
    free(name.data);
    return 0;
}

static int path_of(struct journal *j)
{
    struct sated_drive *d = j->drive;
    struct text path = {0};
    const char *operation = operations[j->operation], *state = NULL;
    int rc = 0;
    if (d->kind == HANDLE_SIMULATED) {
        state = simulated_state_path(d);
        if (state)
            text_say(&path, "%s.%s.json", state, operation); /* beside it: both are moved, or removed, together */
    } else if (d->kind != HANDLE_REPLAY && !(d->kind == HANDLE_CALLBACK && d->simulated)) {
        rc = path_by_name(&path, d, operation);
    }
    j->path = path.data;
    return path.failed ? no_memory(d) : rc;
}

/* Finds out where it is, and locks that. */
static int take(struct journal **out, struct sated_drive *d, const char *operation)
{
    struct journal *j = calloc(1, sizeof *j);
    *out = NULL;
    if (!j)
        return no_memory(d);
    j->drive = d;
    j->operation = operation_of(operation);
    int rc = path_of(j);
    if (!rc && j->path)
        rc = file_lock(&j->lock, j->path);
    if (rc) {
        journal_free(j);
        return rc;
    }
    *out = j;
    return 0;
}

/* Which drive it is of, up to the path, which may be another one by now. */
static void say_drive(struct text *out, const struct sated_identity *id)
{
    text_say(out, "\n\"drive\": {");
    text_say_json(out, "vendor", id->vendor);
    text_say(out, ", ");
    text_say_json(out, "model", id->model);
    text_say(out, ", ");
    text_say_json(out, "serial", id->serial);
    text_say(out, ", ");
}

/* ---- Reading ---- */

static int damaged(const struct journal *j, const char *why)
{
    static const char *const then[OPERATIONS] = {
        "let `sated purge --resume` go by what the drive itself says",
        "let `sated capacity` say what the drive itself says",
        "set by `sated settings` what is to be set",
    };
    return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                     "%s: is no journal of this version of sated: %s; look at it, move it away, and %s",
                     j->path ? j->path : j->drive->path, why, then[j->operation]);
}

static const char *text_of(const struct json *object, const char *name)
{
    const struct json *at = json_get(object, name);
    return at && at->kind == JSON_TEXT ? at->text : NULL;
}

/* What was begun on another drive is not finished on this one, whoever gave it the name of this one's journal. Compared as
 * it was written, since a drive's words need not be text. Return: 1, 0 or an error. */
static int is_of_drive(const struct journal *j)
{
    struct sated_identity id;
    struct text drive = {0};
    int rc = sated_drive_get_identity(j->drive, &id);
    if (rc)
        return rc;
    say_drive(&drive, &id);
    rc = drive.failed ? no_memory(j->drive) : strstr(j->text.data, drive.data) != NULL;
    free(drive.data);
    return rc;
}

static int understand(struct journal *j)
{
    const struct json *root = json_root(j->document);
    const struct json *schema = root->kind == JSON_OBJECT ? json_get(root, "sated_journal") : NULL;
    if (!schema || schema->kind != JSON_NUMBER || !schema->whole)
        return damaged(j, "it has no \"sated_journal\": 1 at its top");
    if (schema->negative || schema->value != SCHEMA)
        return damaged(j, "it is of another schema");
    const char *operation = text_of(root, "operation");
    const struct json *steps = json_get(root, "steps");
    j->plan = json_get(root, "plan");
    j->began = text_of(root, "began");
    if (!operation || strcmp(operation, operations[j->operation]) || !j->began || !j->plan ||
        j->plan->kind != JSON_OBJECT || !steps || steps->kind != JSON_ARRAY)
        return damaged(j, "it lacks what one has");
    int rc = is_of_drive(j);
    if (rc <= 0)
        return rc ? rc : damaged(j, "it is of another drive");
    for (const struct json *step = steps->first; step; step = step->next) {
        if (step->kind != JSON_TEXT)
            return damaged(j, "a step is no text");
        j->last = step->text;
    }
    return 0;
}

/* @param from what was read, which the journal owns from now on. */
static int parse(struct journal *j, char *from, size_t n)
{
    j->read = from;
    char *end = strstr(from, STEPS), *close = end ? strrchr(end, ']') : NULL;
    if (!close || strlen(from) != n)
        return damaged(j, "it is torn");
    text_say(&j->text, "%.*s", (int)(close - from), from);
    if (j->text.failed)
        return no_memory(j->drive);
    int rc = json_read(&j->document, from, n, j->path ? j->path : j->drive->path);
    if (rc == SATED_PARSE) {
        struct sated_detail detail;
        sated_detail_get(&detail);
        return damaged(j, detail.text);
    }
    return rc ? rc : understand(j);
}

/* Return: 1 and its text, which ends with a NUL, 0 where there is none, or an error. */
static int load(const struct journal *j, char **out, size_t *n)
{
    const char *kept = j->drive->unfinished[j->operation];
    void *data;
    *out = NULL;
    if (!j->path) {
        *n = kept ? strlen(kept) : 0;
        *out = kept ? strdup(kept) : NULL;
        return kept && !*out ? no_memory(j->drive) : *out != NULL;
    }
    int rc = file_read(j->path, &data, n);
    if (rc)
        return rc == -ENOENT ? 0 : rc;
    *out = realloc(data, *n + 1);
    if (!*out) {
        free(data);
        return no_memory(j->drive);
    }
    (*out)[*n] = '\0';
    return 1;
}

int journal_find(struct journal **out, struct sated_drive *d, const char *operation)
{
    char *text = NULL;
    size_t n = 0;
    int rc = take(out, d, operation);
    if (rc)
        return rc;
    rc = load(*out, &text, &n);
    if (rc > 0) {
        int bad = parse(*out, text, n);
        rc = bad ? bad : rc;
    }
    if (rc <= 0) {
        journal_free(*out);
        *out = NULL;
    }
    return rc;
}

const struct json *journal_plan(const struct journal *j)
{
    return j->plan;
}

const char *journal_last_step(const struct journal *j)
{
    return j->last ? j->last : "";
}

const char *journal_began(const struct journal *j)
{
    return j->began ? j->began : "";
}

/* ---- Writing ---- */

static int save(const struct journal *j)
{
    static const char end[] = "]}\n";
    if (j->text.failed)
        return no_memory(j->drive);
    if (j->path) {
        const struct file_part parts[] = {{j->text.data, j->text.used}, {end, sizeof end - 1}};
        return file_replace(j->path, parts, 2);
    }
    struct text whole = {0};
    text_say(&whole, "%s%s", j->text.data, end);
    if (whole.failed)
        return no_memory(j->drive);
    free(j->drive->unfinished[j->operation]);
    j->drive->unfinished[j->operation] = whole.data;
    return 0;
}

static int begin(struct journal *j, const char *plan)
{
    struct sated_identity id;
    time_t now = time(NULL);
    struct tm utc;
    char began[32];
    int rc = sated_drive_get_identity(j->drive, &id);
    if (rc)
        return rc;
    gmtime_r(&now, &utc);
    strftime(began, sizeof began, "%Y-%m-%dT%H:%M:%SZ", &utc);
    text_say(&j->text, "{\"sated_journal\": %d, \"operation\": \"%s\", \"began\": \"%s\", \"pid\": %ld,", SCHEMA,
             operations[j->operation], began, (long)getpid());
    say_drive(&j->text, &id);
    text_say_json(&j->text, "path", id.path);
    text_say(&j->text, "},\n\"plan\": %s," STEPS, plan);
    return save(j);
}

int journal_start(struct journal **out, struct sated_drive *d, const char *operation, const char *plan)
{
    char *text = NULL;
    size_t n = 0;
    int rc = take(out, d, operation);
    if (rc)
        return rc;
    struct journal *j = *out;
    rc = load(j, &text, &n);
    free(text);
    if (rc > 0)
        rc = error_set(SATED_STATE, SATED_LAYER_DRIVE,
                       "%s: an earlier operation on it (%s) was interrupted, as %s says; `sated %s --resume` first",
                       d->path, operations[j->operation], j->path ? j->path : "its journal", operations[j->operation]);
    else if (!rc)
        rc = begin(j, plan);
    if (rc) {
        journal_free(j);
        *out = NULL;
    }
    return rc;
}

int journal_step(struct journal *j, const char *step)
{
    text_say(&j->text, j->text.data[j->text.used - 1] == '[' ? "\n" : ",\n");
    text_say_string(&j->text, step);
    return save(j);
}

int journal_finish(struct journal *j)
{
    int rc = j->path ? file_remove(j->path) : 0;
    free(j->drive->unfinished[j->operation]);
    j->drive->unfinished[j->operation] = NULL;
    j->drive->interrupted &= (uint8_t) ~(1U << j->operation);
    journal_free(j);
    return rc;
}

void journal_leave(struct journal *j)
{
    if (j)
        journal_free(j);
}

/* ---- Undone ---- */

/* What was begun after that moment was not begun on this drive, and what was under way in it then it says by itself. Its
 * settings may be those of a run: the journal of how they were before stays. */
int sated_sim_restore(struct sated_drive *d, const char *path)
{
    static const char *const undone[] = {"purge", "capacity"};
    int rc = simulated_restore(d, path);
    for (size_t i = 0; !rc && i < 2; i++) {
        struct journal *j;
        rc = take(&j, d, undone[i]);
        if (!rc)
            rc = journal_finish(j);
    }
    return rc;
}
