/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* realpath */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"
#include "core/log.h"
#include "core/size.h"
#include "sim/sim.h"
#include "transport/block.h"
#include "transport/calls.h"
#include "transport/command.h"
#include "transport/device.h"
#include "transport/hold.h"
#include "transport/node.h"
#include "transport/record.h"
#include "transport/regular.h"
#include "transport/replay.h"
#include "transport/simulated.h"

void sated_drive_options_init(struct sated_drive_options *opt)
{
    memset(opt, 0, sizeof *opt);
    opt->size = sizeof *opt;
}

static int take_options(struct sated_drive_options *out, const struct sated_drive_options *opt)
{
    sated_drive_options_init(out);
    if (!opt)
        return 0;
    if (opt->size < 2 * sizeof(uint32_t) || opt->size > sizeof *out)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sated_drive_options: size is %u, this library knows up to %zu; fill it by "
                         "sated_drive_options_init()",
                         opt->size, sizeof *out);
    memcpy(out, opt, opt->size);
    return 0;
}

/* How long the scheme at the beginning of a URI is, without its colon; 0 for a path. */
static size_t scheme_length(const char *uri)
{
    size_t n = 0;
    if (!isalpha((unsigned char)uri[0]))
        return 0;
    while (isalnum((unsigned char)uri[n]) || uri[n] == '+' || uri[n] == '-' || uri[n] == '.')
        n++;
    return uri[n] == ':' ? n : 0;
}

static int refuse_scheme(const char *uri, size_t n)
{
    static const char *const known[] = {"sim", "serial", "replay"};
    char scheme[32];
    snprintf(scheme, sizeof scheme, "%.*s", (int)(n < sizeof scheme ? n : sizeof scheme - 1), uri);
    const char *near = size_nearest(scheme, known, sizeof known / sizeof *known);
    return error_set(
        SATED_PARSE, SATED_LAYER_ARGUMENT,
        "\"%s\": unknown scheme %s:%s%s%s; there are PATH, serial:TEXT, replay:FILE and sim:NAME, and a file of that "
        "name is written ./%s",
        uri, scheme, near ? ", did you mean " : "", near ? near : "", near ? ":" : "", uri);
}

static int refuse_missing(const char *path)
{
    const char *name;
    for (size_t i = 0; (name = sated_sim_model_name(i)); i++)
        if (!strcmp(name, path))
            return error_set(-ENOENT, SATED_LAYER_DRIVE,
                             "%s: there is no such file; the simulated drive of that name is sim:%s", path, path);
    if (!strncmp(path, "/dev/", 5) && strncmp(path, "/dev/shm/", 9))
        return error_set(-ENOENT, SATED_LAYER_DRIVE, "%s: there is no such device; `sated list` shows what there is",
                         path);
    return error_set(-ENOENT, SATED_LAYER_DRIVE, "%s: there is no such file; create= (--create 1GiB) makes one", path);
}

static int unreachable(const char *path, int error)
{
    return error_set(-error, SATED_LAYER_DRIVE, "%s: cannot be reached: %s; check each folder of the path", path,
                     error_text(error));
}

static int resolve(struct sated_drive *d, const char *path)
{
    char real[PATH_MAX];
    if (!realpath(path, real)) {
        int error = errno;
        if (error == ENOENT)
            return refuse_missing(path);
        return unreachable(path, error);
    }
    if ((size_t)snprintf(d->path, sizeof d->path, "%s", real) >= sizeof d->path)
        return error_set(-ENAMETOOLONG, SATED_LAYER_DRIVE,
                         "%s: its real path has %zu bytes, more than %zu; take one that is nearer to /", path,
                         strlen(real), sizeof d->path - 1);
    return 0;
}

static int open_path(struct sated_drive *d, const char *path)
{
    struct stat st;
    int rc = resolve(d, path);
    if (rc)
        return rc;
    rc = calls.stat(d->path, &st);
    if (rc == -ENOENT)
        return refuse_missing(path);
    if (rc)
        return unreachable(path, -rc);
    if (S_ISREG(st.st_mode))
        return regular_open(d);
    if (S_ISBLK(st.st_mode))
        return block_open(d);
    if (S_ISDIR(st.st_mode))
        return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                         "%s: is a directory; name a file in it, and create= (--create 1GiB) makes a new one", d->path);
    if (S_ISCHR(st.st_mode))
        return device_open(d, st.st_rdev);
    return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                     "%s: is a pipe or a socket, not a drive; give a file or a block device", d->path);
}

static int open_new(struct sated_drive *d, const char *path, uint64_t bytes)
{
    bool sparse;
    int fd, rc = regular_create(path, bytes, &sparse, &fd);
    if (rc)
        return rc;
    rc = open_path(d, path);
    if (rc)
        regular_remove(path, fd); /* nobody could have put anything of worth into it */
    else if (!regular_is(d, fd))
        rc = error_set(SATED_UNSAFE, SATED_LAYER_DRIVE,
                       "%s: leads to something else than the file that was made under this name just now; find out who "
                       "replaced it, then try again",
                       path);
    close(fd);
    if (rc)
        return rc;
    d->created = true;
    if (sparse) {
        size_t used = strlen(d->identity.note);
        snprintf(d->identity.note + used, sizeof d->identity.note - used,
                 "%s%s: cannot reserve blocks, so the file is sparse until it is written", used ? "; " : "",
                 d->identity.model);
    }
    return 0;
}

struct wanted {
    const char *serial;
    char names[3][NODE_NAME];
    int n;
};

static int visit_serial(const char *name, void *user)
{
    struct wanted *w = user;
    char serial[64];
    if (!block_serial(serial, sizeof serial, name) || strcmp(serial, w->serial))
        return 0;
    if (w->n < 3)
        snprintf(w->names[w->n], NODE_NAME, "%s", name);
    w->n++;
    return 0;
}

static int open_serial(struct sated_drive *d, const char *serial)
{
    struct wanted w = {.serial = serial};
    char path[PATH_MAX];
    if (!serial[0])
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "\"serial:\": the serial number is missing; `sated list` shows them");
    node_each_disk(visit_serial, &w);
    if (w.n == 0)
        return error_set(-ENOENT, SATED_LAYER_DRIVE,
                         "serial:%s: no drive has this serial number; `sated list` shows what there is", serial);
    if (w.n > 1)
        return error_set(SATED_PARSE, SATED_LAYER_DRIVE,
                         "serial:%s: %d drives have this serial number, such as /dev/%s and /dev/%s; give the path of "
                         "one",
                         serial, w.n, w.names[0], w.names[1]);
    node_device_path(path, sizeof path, w.names[0]);
    return open_path(d, path);
}

static int open_uri(struct sated_drive *d, const char *uri, uint64_t create_bytes)
{
    struct stat st;
    size_t n = scheme_length(uri);
    if (!uri[0])
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "the drive's name is empty; give PATH, serial:TEXT, replay:FILE or sim:NAME");
    bool sim = n == 3 && !strncmp(uri, "sim", n), serial = n == 6 && !strncmp(uri, "serial", n);
    bool replay = n == 6 && !strncmp(uri, "replay", n);
    if ((sim || serial || replay) && create_bytes)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "\"%s\": create= makes files only; leave it out%s", uri,
                         sim ? ", or make a state file by state=FILE" : "");
    if (sim) {
        snprintf(d->path, sizeof d->path, "%s", uri);
        return simulated_open(d, uri + 4);
    }
    if (replay && !uri[7])
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "\"replay:\": the file is missing; `sated doctor --record` makes one");
    if (replay) {
        snprintf(d->path, sizeof d->path, "%s", uri);
        return replay_open(d, uri + 7);
    }
    if (serial)
        return open_serial(d, uri + 7);
    if (n && lstat(uri, &st))
        return refuse_scheme(uri, n);
    return create_bytes ? open_new(d, uri, create_bytes) : open_path(d, uri);
}

int sated_drive_open(struct sated_drive **out, const char *uri, const struct sated_drive_options *opt)
{
    struct sated_drive_options options;
    *out = NULL;
    int rc = take_options(&options, opt);
    if (rc)
        return rc;
    struct sated_drive *d = calloc(1, sizeof *d);
    if (!d)
        return error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for a handle", uri);
    d->opener = getpid();
    d->fd = d->write_fd = d->command_fd = -1;
    rc = open_uri(d, uri, options.create_bytes);
    if (rc) {
        sated_drive_close(d);
        return rc;
    }
    if (d->identity.note[0])
        log_say(SATED_LOG_INFO, "%s: %s", d->path, d->identity.note);
    *out = d;
    return 0;
}

int sated_drive_close(struct sated_drive *d)
{
    int rc = 0;
    if (!d)
        return 0;
    if (d->busy)
        return handle_need_idle(d, "it cannot be closed");
    if (d->face && d->face->close)
        d->face->close(d);
    record_free(d->record);
    if (d->sim)
        rc = sim_free(d->sim);
    calls.close(d->command_fd);
    calls.close(d->fd);
    hold_drop(d);
    free(d->not_whole);
    free(d->untold);
    for (size_t i = 0; i < sizeof d->unfinished / sizeof *d->unfinished; i++)
        free(d->unfinished[i]);
    free(d);
    return rc;
}
