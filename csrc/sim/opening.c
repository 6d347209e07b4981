/* SPDX-License-Identifier: MIT */
/* A simulated drive, or a set of them, is opened, saved, put back and closed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "sim/set.h"
#include "sim/sim.h"
#include "sim/target.h"
#include "sim/whole.h"

/* The keys again as text, for the state file. */
static char *join_keys(const struct spec *spec)
{
    size_t bytes = 1;
    for (size_t i = 0; i < spec->n; i++)
        bytes += strlen(spec->keys[i].key) + strlen(spec->keys[i].value) + 2;
    char *text = malloc(bytes), *at = text;
    if (!text)
        return NULL;
    *at = '\0';
    for (size_t i = 0; i < spec->n; i++)
        at += sprintf(at, "%s%s=%s", i ? "," : "", spec->keys[i].key, spec->keys[i].value);
    return text;
}

/* A file that two names lead to is locked under its one real name, which is also where it is written. */
static int lock_state(struct sim *s, const char *path)
{
    int rc = file_real(path, &s->state_path);
    return rc ? rc : file_lock(&s->lock, s->state_path);
}

/* Name and keys of a state file as one text, as stands behind "sim:", and the model that they make of its text.
 * @param spec the caller frees; NULL on failure. */
static int model_of_file(struct model *m, const char *name, const char *model_text, const char *keys, char **spec)
{
    struct spec from = {0};
    size_t room = strlen(name) + strlen(keys) + 2;
    *spec = malloc(room);
    if (!*spec)
        return error_set(-ENOMEM, SATED_LAYER_FILE, "sim:%s: not enough memory to read its state", name);
    snprintf(*spec, room, "%s%s%s", name, *keys ? "," : "", keys);
    int rc = spec_parse(&from, *spec);
    if (!rc)
        rc = model_build(m, name, model_text, &from);
    spec_free(&from);
    return rc;
}

/* A state that nobody closed is that of a drive whose process ended: its power was cut. */
static int take_in_use(struct sim *s, bool was_in_use)
{
    target_set_controller(s, 0); /* which one is asked is the process's choice, not the drive's */
    if (was_in_use) {
        s->target.unsafe_shutdowns++;
        sim_power_cycle(s);
    }
    return state_mark_in_use(s->state_path);
}

/* The rest of a new drive, whose bytes say of which model it is. */
static int fill(struct sim *s, const char *path, void *data, size_t bytes, const char *name)
{
    char *text;
    int rc = model_of_file(&s->model, name, s->model_text, s->keys, &text);
    if (!rc)
        rc = sim_make(s);
    if (!rc)
        rc = state_load(s, path, data, bytes);
    free(text);
    return rc;
}

int sim_of_text(struct sim **out, const char *path, void *data, size_t bytes)
{
    char *name = NULL;
    struct sim *s = calloc(1, sizeof *s);
    if (!s)
        return error_set(-ENOMEM, SATED_LAYER_FILE, "%s: not enough memory to read it", path);
    int rc = state_take(path, data, bytes, &name, &s->model_text, &s->keys);
    if (!rc)
        rc = fill(s, path, data, bytes, name);
    free(name);
    if (rc)
        sim_drop(s);
    *out = rc ? NULL : s;
    return rc;
}

/* A drive, or a set, whose state file knows all about it. */
static int open_file(struct sim *s, const struct spec *spec)
{
    void *data;
    size_t bytes;
    char *name;
    bool in_use;
    int rc = lock_state(s, spec->name);
    if (rc)
        return rc;
    if (set_is_file(s->state_path)) {
        rc = set_open(s, s->state_path, &in_use);
        return rc ? rc : take_in_use(s, in_use);
    }
    rc = state_read(s->state_path, &data, &bytes, &name, &s->model_text, &s->keys);
    if (rc)
        return rc;
    in_use = state_was_in_use(data);
    rc = fill(s, s->state_path, data, bytes, name);
    if (!rc)
        rc = take_in_use(s, in_use);
    free(name);
    free(data);
    return rc;
}

static int save(struct sim *s, const char *path, bool in_use)
{
    return s->set ? set_save(s, path, in_use) : state_save(s, path, in_use);
}

static int restore(struct sim *s, const char *path, bool *in_use)
{
    void *data;
    size_t bytes;
    char *name, *text, *keys;
    if (sim_outstanding(s))
        return sim_refuse_while_busy(s, "restoring a state");
    if (s->set)
        return set_load(s, path, in_use);
    int rc = state_read(path, &data, &bytes, &name, &text, &keys);
    if (rc)
        return rc;
    struct model model;
    char *spec;
    rc = model_of_file(&model, name, text, keys, &spec);
    if (!rc && memcmp(&model, &s->model, sizeof model))
        rc = error_set(
            SATED_STATE, SATED_LAYER_DRIVE,
            "%s holds the state of sim:%s, which is not this drive (sim:%s%s%s); open it by its path, as sim:./FILE",
            path, spec, s->model.name, *s->keys ? "," : "", s->keys);
    *in_use = !rc && state_was_in_use(data);
    if (!rc)
        rc = state_load(s, path, data, bytes);
    free(spec);
    free(name);
    free(text);
    free(keys);
    free(data);
    return rc;
}

/* A drive of a model, with a state file that may exist already. */
static int open_model(struct sim *s, const struct spec *spec, bool *was_there)
{
    int rc = set_is_name(spec->name) ? set_make(s, spec) : models_copy(spec->name, &s->model_text);
    if (!rc && !s->set)
        rc = model_build(&s->model, spec->name, s->model_text, spec);
    if (rc)
        return rc;
    s->keys = join_keys(spec);
    rc = !s->keys ? sim_no_memory(&s->model) : s->set ? 0 : sim_make(s);
    if (rc || !spec->state)
        return rc;
    rc = lock_state(s, spec->state);
    if (rc)
        return rc;
    /* A new file is written at once: better refused now than after the work. */
    if (access(s->state_path, F_OK))
        return save(s, s->state_path, true);
    bool in_use;
    *was_there = true;
    rc = restore(s, s->state_path, &in_use);
    return rc ? rc : take_in_use(s, in_use);
}

/* lba=: the accessible share of the native capacity. */
static int set_share(struct sim *s, double share, const char *text)
{
    /* Of what the device itself lets be addressed. */
    uint64_t limit = (uint64_t)((double)(target_capacity(s) / s->model.unit_bytes) * share) * s->model.unit_bytes;
    if (!limit)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sim:%s: lba leaves not one mapping unit; choose a greater fraction", text);
    s->limit_bytes = limit;
    if (s->set)
        set_limit(s);
    return 0;
}

int sim_new(struct sim **out, const char *text)
{
    struct spec spec;
    bool was_there = false;
    *out = NULL;
    int rc = spec_parse(&spec, text);
    struct sim *s = rc ? NULL : calloc(1, sizeof *s);
    if (!rc)
        rc = !s             ? error_set(-ENOMEM, SATED_LAYER_DRIVE, "sim:%s: not enough memory", text)
             : spec.is_file ? open_file(s, &spec)
                            : open_model(s, &spec, &was_there);
    bool opened = !rc;
    if (!rc && spec.lba_given)
        rc = set_share(s, spec.lba, text);
    if (!rc && spec.fill && !was_there)
        rc = fill_new(s, spec.fill);
    spec_free(&spec);
    if (rc && opened)
        sim_free(s); /* nothing happened to it: its file is not left in use */
    else if (rc && s)
        sim_drop(s);
    if (!rc)
        *out = s;
    return rc;
}

int sim_free(struct sim *s)
{
    int rc = 0;
    if (!s)
        return 0;
    if (s->state_path && file_lock_is_ours(s->lock)) {
        uint32_t tag;
        int64_t done_ns;
        int status;
        while (sim_next(s, &tag, &done_ns, &status)) /* what was submitted is still carried out */
            ;
        rc = save(s, s->state_path, false);
    }
    sim_drop(s);
    return rc;
}

/* Whether a path, by whatever name, is that of its state file. */
static bool is_own(const struct sim *s, const char *path)
{
    char *real = NULL;
    bool own = s->state_path && file_real(path, &real) == 0 && !strcmp(real, s->state_path);
    free(real);
    return own;
}

const char *sim_state_path(const struct sim *s)
{
    return s->state_path;
}

int sim_save(struct sim *s, const char *path)
{
    if (sim_outstanding(s))
        return sim_refuse_while_busy(s, "saving the state");
    bool own = !path || is_own(s, path);
    if (own && !s->state_path)
        return 0;
    if (own && !file_lock_is_ours(s->lock))
        return error_set(SATED_STATE, SATED_LAYER_FILE,
                         "%s: is the state of a drive that another process has open, of which this one is a fork; open "
                         "it here after that one has closed it",
                         s->state_path);
    return save(s, own ? s->state_path : path, own);
}

int sim_restore(struct sim *s, const char *path)
{
    bool in_use;
    return restore(s, path, &in_use);
}
