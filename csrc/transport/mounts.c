/* SPDX-License-Identifier: MIT */
#include "transport/mounts.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/node.h"

void mounts_unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; to++) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' && from[2] <= '7' && from[3] >= '0' &&
            from[3] <= '7') {
            *to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + from[3] - '0');
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* Takes a line of mountinfo apart (proc(5)): "36 35 98:0 /root /point options optional... - type source". */
static bool parse(char *line, struct mount *m)
{
    char *separator = strstr(line, " - "), *save = NULL;
    if (!separator)
        return false;
    *separator = '\0';
    char *fields[5];
    for (int i = 0; i < 5; i++) {
        fields[i] = strtok_r(i ? NULL : line, " ", &save);
        if (!fields[i])
            return false;
    }
    if (sscanf(fields[2], "%u:%u", &m->major, &m->minor) != 2)
        return false;
    m->type = strtok_r(separator + 3, " ", &save);
    char *source = m->type ? strtok_r(NULL, " ", &save) : NULL;
    if (!source)
        return false;
    mounts_unescape(fields[4]);
    mounts_unescape(source);
    m->point = fields[4];
    m->source = source;
    return true;
}

static void *grown(void *list, size_t n, size_t each)
{
    return n & (n - 1) ? list : realloc(list, (n ? 2 * n : 1) * each); /* at powers of two */
}

/* @param text taken over. Return: false without memory. */
static bool add(struct mounts *m, char *text, long pid)
{
    char *save = NULL;
    void *texts = grown(m->texts, m->n_texts, sizeof *m->texts);
    if (!texts) {
        free(text);
        return false;
    }
    m->texts = texts;
    m->texts[m->n_texts++] = text;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        struct mount one = {.pid = pid};
        if (!parse(line, &one))
            continue;
        void *list = grown(m->list, m->n, sizeof *m->list);
        if (!list)
            return false;
        m->list = list;
        m->list[m->n++] = one;
    }
    return true;
}

struct reading {
    struct mounts *to;
    char (*seen)[40]; /* namespaces, such as "mnt:[4026531840]" */
    size_t n;
    bool failed;
};

/* Whether a namespace is new. What has no such link, as in a recorded tree, is looked at. */
static bool is_new(struct reading *r, const char *process)
{
    char path[PATH_MAX], name[40];
    ssize_t length =
        node_path(path, sizeof path, "/proc/%s/ns/mnt", process) ? readlink(path, name, sizeof name - 1) : -1;
    if (length <= 0)
        return true;
    name[length] = '\0';
    for (size_t i = 0; i < r->n; i++)
        if (!strcmp(r->seen[i], name))
            return false;
    void *seen = grown(r->seen, r->n, sizeof *r->seen);
    if (!seen)
        return true;
    r->seen = seen;
    memcpy(r->seen[r->n++], name, sizeof name);
    return true;
}

static int visit_process(const char *name, void *user)
{
    struct reading *r = user;
    char path[64];
    if (!isdigit((unsigned char)name[0]) || !is_new(r, name))
        return 0;
    snprintf(path, sizeof path, "/proc/%.20s/mountinfo", name);
    char *text = node_slurp(path); /* a process that has ended since has none */
    if (text && !add(r->to, text, atol(name)))
        r->failed = true;
    return 0;
}

void mounts_read(struct mounts *out, bool everywhere)
{
    struct reading r = {.to = out};
    memset(out, 0, sizeof *out);
    char *text = node_slurp("/proc/self/mountinfo");
    if (!text)
        return;
    is_new(&r, "self");
    r.failed = !add(out, text, 0);
    if (everywhere)
        node_each("/proc", visit_process, &r);
    free(r.seen);
    out->told = !r.failed;
}

void mounts_free(struct mounts *m)
{
    for (size_t i = 0; i < m->n_texts; i++)
        free(m->texts[i]);
    free(m->texts);
    free(m->list);
    memset(m, 0, sizeof *m);
}
