/* SPDX-License-Identifier: MIT */
/* The public face of a purge: what may be started, and the job that it is then. */
#include "drive/purge.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/buffer.h"
#include "core/clock.h"
#include "core/text.h"
#include "core/thread.h"

void sated_purge_options_init(struct sated_purge_options *opt)
{
    memset(opt, 0, sizeof *opt);
    opt->size = sizeof *opt;
    opt->canaries = 64;
}

/* Of what has no meaning for the method the first is named: it may have been meant for another. */
static int check_meaning(const struct sated_purge_options *o)
{
    const uint32_t one = 1u << o->method;
    const uint32_t security = 1u << SATED_PURGE_AUTO | 1u << SATED_PURGE_SECURITY | 1u << SATED_PURGE_SECURITY_ENHANCED;
    const uint32_t at_once = 1u << SATED_PURGE_SIMULATED | 1u << SATED_PURGE_DEALLOCATE | 1u << SATED_PURGE_WRITE_SAME |
                             1u << SATED_PURGE_SECURITY | 1u << SATED_PURGE_SECURITY_ENHANCED |
                             1u << SATED_PURGE_FORMAT_CRYPTO;
    const bool external = o->method == SATED_PURGE_EXTERNAL;
    const char *none = o->master && !o->n_password                  ? "master, without a password,"
                       : o->note[0] && !external                    ? "a note"
                       : o->resume && external                      ? "resume"
                       : o->n_password && external                  ? "a password"
                       : o->allow_usb_security && !(one & security) ? "allow_usb_security (--allow-usb-security)"
                       : o->stall_ns && external                    ? "a limit of stalling (--stall)"
                       : o->stall_ns && one & at_once && !o->resume ? "a limit of stalling (--stall)"
                                                                    : NULL;
    return none
               ? error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                           "%s has no meaning for a purge by the method %s; leave it out", none, purge_names[o->method])
               : 0;
}

static int check_protocol(const struct sated_drive *d, const struct sated_purge_options *o)
{
    if (purge_protocol_of(d) == &purge_ata || (!o->n_password && !o->allow_usb_security))
        return 0;
    return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                     "%s: %s is of ATA Security, and it is no ATA drive; leave it out", d->path,
                     o->n_password ? "a password (--password)" : "allow_usb_security (--allow-usb-security)");
}

static int take_options(const struct sated_drive *d, const struct sated_purge_options *given,
                        struct sated_purge_options *out)
{
    sated_purge_options_init(out);
    if (given && (given->size < sizeof(uint32_t) || given->size > sizeof *out))
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "sated_purge_options: size is %u, this library knows up to %zu; fill it by "
                         "sated_purge_options_init()",
                         given->size, sizeof *out);
    if (given)
        memcpy(out, given, given->size);
    out->note[sizeof out->note - 1] = '\0';
    if (out->method > SATED_PURGE_LAST)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "purge method %u: there is none; give auto, or one that `sated purge DRIVE --list` shows",
                         out->method);
    if (out->canaries > 64)
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT, "%u canaries: give 0 to 64", out->canaries);
    if (out->n_password > sizeof out->password || out->stall_ns < 0)
        return error_set(
            SATED_PARSE, SATED_LAYER_ARGUMENT,
            "a password of %u bytes, %lld ns until a purge counts as stalled: give at most 32 bytes, and 0 "
            "or more",
            out->n_password, (long long)out->stall_ns);
    if (out->method == SATED_PURGE_EXTERNAL && !out->note[0])
        return error_set(SATED_PARSE, SATED_LAYER_ARGUMENT,
                         "the method external records an erase that somebody else did; give a note that says with "
                         "which tool, and when (--external NOTE)");
    int rc = check_meaning(out);
    return rc ? rc : check_protocol(d, out);
}

int sated_purge_list(struct sated_drive *d, struct sated_purge_way *out, size_t cap)
{
    struct purge_look l;
    int rc = purge_look(d, NULL, &l);
    for (size_t i = 0; !rc && i < cap && i < SATED_PURGE_LAST; i++)
        out[i] = l.way[i + 1];
    return rc ? rc : SATED_PURGE_LAST;
}

/* ---- What was left ---- */

static uint32_t method_of(const struct journal *j)
{
    const struct json *at = json_get(journal_plan(j), "method");
    for (uint32_t m = 1; at && at->kind == JSON_TEXT && m <= SATED_PURGE_LAST; m++)
        if (!strcmp(at->text, purge_names[m]))
            return m;
    return SATED_PURGE_AUTO;
}

static void take_journal(struct sated_purge_pending *out, const struct journal *j)
{
    const char *step = journal_last_step(j), *end = strstr(step, " | ");
    out->journaled = 1;
    out->method = method_of(j);
    snprintf(out->began, sizeof out->began, "%s", journal_began(j));
    snprintf(out->step, sizeof out->step, "%.*s", (int)(end ? end - step : (long)strlen(step)), step);
}

static void describe(const struct sated_drive *d, const struct purge_look *l, struct sated_purge_pending *out)
{
    char when[320] = "";
    out->state = l->state ? l->state : out->journaled ? SATED_PURGE_BEGUN : SATED_PURGE_NOTHING;
    out->progress = l->state == SATED_PURGE_RUNNING ? l->progress : 0;
    if (out->journaled)
        snprintf(when, sizeof when, "a purge (%s) that began %s was interrupted%s%s", purge_names[out->method],
                 out->began, out->step[0] ? " at: " : "", out->step);
    if (out->state)
        snprintf(out->text, sizeof out->text, "%.200s: %s%s%s; %s`sated purge %.200s --resume` %s", d->path, when,
                 when[0] && l->what[0] ? "; " : "", l->what,
                 out->state == SATED_PURGE_UNCLEAR ? "attach the drive to a SATA port, where it is told, or wait: "
                                                   : "",
                 d->path, out->state == SATED_PURGE_UNCLEAR ? "goes on once it reads" : "finishes it");
}

/* @param j receives the journal where there is one, and stays open; NULL: it is not wanted. */
static int find_pending(struct sated_drive *d, const struct purge_look *l, struct sated_purge_pending *out,
                        struct journal **j)
{
    struct journal *found = NULL;
    memset(out, 0, sizeof *out);
    int rc = purge_protocol_of(d) ? journal_find(&found, d, "purge") : 0;
    if (rc < 0)
        return rc;
    if (found)
        take_journal(out, found);
    describe(d, l, out);
    if (j)
        *j = found;
    else
        journal_leave(found);
    return out->state != SATED_PURGE_NOTHING;
}

int sated_purge_get_pending(struct sated_drive *d, struct sated_purge_pending *out)
{
    struct purge_look l;
    int rc = purge_look(d, NULL, &l);
    if (rc)
        memset(out, 0, sizeof *out);
    return rc ? rc : find_pending(d, &l, out, NULL);
}

/* ---- What may be started ---- */

/* A purge that finds something left goes no further unless it is told to. A lock that somebody else set is none of ours:
 * with its password given it is not asked for twice. */
static int may_begin(const struct sated_purge_options *opt, const struct sated_purge_pending *pending)
{
    bool lock = pending->state == SATED_PURGE_PASSWORD || pending->state == SATED_PURGE_LOCKED;
    if (!pending->state || opt->resume || (lock && !pending->journaled && opt->n_password))
        return 0;
    return error_set(lock ? SATED_LOCKED : SATED_STATE, SATED_LAYER_DRIVE, "%s%s", pending->text,
                     lock && !pending->journaled ? ", where an interrupted purge set the password; else give the "
                                                   "password that was set (--password)"
                                                 : "");
}

/* Looks, and decides. @param j receives the journal of an earlier one, open. */
static int decide(struct sated_drive *d, struct sated_purge_options *opt, struct purge_look *l,
                  struct sated_purge_pending *pending, uint32_t *method, struct journal **j)
{
    *j = NULL;
    int rc = purge_look(d, opt, l);
    if (rc)
        return rc;
    if (opt->method == SATED_PURGE_EXTERNAL) {
        *method = opt->method;
        memset(pending, 0, sizeof *pending);
        return 0;
    }
    rc = find_pending(d, l, pending, j);
    if (rc >= 0)
        rc = may_begin(opt, pending);
    if (!rc && opt->method == SATED_PURGE_AUTO)
        opt->method = pending->method;
    if (!rc)
        rc = purge_choose(d, l, opt, method);
    /* What is left may keep the drive from saying what it has: that is asked again once it is settled. */
    bool settles =
        l->state == SATED_PURGE_RUNNING || l->state == SATED_PURGE_FAILED || l->state == SATED_PURGE_UNFORMATTED;
    if (rc == SATED_UNSUPPORTED && settles) {
        *method = opt->method ? opt->method : SATED_PURGE_AUTO;
        rc = 0;
    }
    if (rc) {
        struct sated_detail detail = *error_last();
        journal_leave(*j);
        *j = NULL;
        error_copy(&detail);
    }
    return rc;
}

int sated_purge_check(struct sated_drive *d, const struct sated_purge_options *given, struct sated_purge_way *out)
{
    struct sated_purge_options opt;
    struct sated_purge_pending pending;
    struct purge_look l;
    struct journal *j = NULL;
    uint32_t method = SATED_PURGE_AUTO;
    memset(out, 0, sizeof *out);
    int rc = take_options(d, given, &opt);
    if (!rc)
        rc = handle_need_idle(d, "it cannot be purged");
    if (!rc)
        rc = decide(d, &opt, &l, &pending, &method, &j);
    if (!rc)
        *out = l.way[method];
    journal_leave(j);
    return rc;
}

/* How far it reaches at least, before a single command is sent; of NVMe it is asked about when its reach is known. */
static int need_permit(struct sated_drive *d, const struct sated_purge_options *opt)
{
    static const uint32_t blocks = 1u << SATED_PURGE_SIMULATED | 1u << SATED_PURGE_DEALLOCATE |
                                   1u << SATED_PURGE_WRITE_SAME | 1u << SATED_PURGE_EXTERNAL;
    bool nvme = d->identity.protocol == SATED_PROTOCOL_NVME;
    bool may_be_one = opt->method == SATED_PURGE_FORMAT || opt->method == SATED_PURGE_FORMAT_CRYPTO ||
                      opt->method == SATED_PURGE_AUTO;
    bool narrow = !purge_protocol_of(d) || blocks >> opt->method & 1 || (nvme && may_be_one);
    return handle_need_permit(d, narrow ? HANDLE_BLOCKS : HANDLE_DRIVE, "purging");
}

/* ---- The job ---- */

static void *work(void *argument)
{
    struct sated_purge *p = argument;
    handle_work_on(p->d);
    int rc = purge_run(p);
    if (rc)
        sated_detail_get(&p->detail);
    journal_leave(p->journal);
    p->journal = NULL;
    pthread_mutex_lock(&p->lock);
    p->ended = true;
    p->progress.phase = SATED_PURGE_ENDED;
    p->progress.method = p->result.method;
    p->d->busy = HANDLE_IDLE;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void release(struct sated_purge *p)
{
    journal_leave(p->journal);
    buffer_free(p->page, 2 * PURGE_PAGE);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    memset(&p->options, 0, sizeof p->options); /* a password may be in it */
    free(p);
}

static struct sated_purge *make(struct sated_drive *d, const struct sated_purge_options *opt)
{
    pthread_condattr_t attributes;
    struct sated_purge *p = calloc(1, sizeof *p);
    uint8_t *page = p ? buffer_new(2 * PURGE_PAGE) : NULL;
    if (!page) {
        free(p);
        return NULL;
    }
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    p->d = d;
    p->page = page;
    p->options = *opt;
    p->protocol = purge_protocol_of(d);
    p->estimate_ns = -1;
    p->progress.fraction = NAN;
    return p;
}

/* The journal, unless an earlier one is gone on with. */
static int begin(struct sated_purge *p, const struct sated_purge_pending *pending)
{
    struct text plan = {0};
    p->result.resumed = pending->state != SATED_PURGE_NOTHING && p->options.resume;
    p->found = p->journal != NULL;
    if (p->found || !p->protocol || p->result.method == SATED_PURGE_EXTERNAL)
        return 0;
    text_say(&plan, "{");
    text_say_json(&plan, "method", purge_names[p->result.method]);
    text_say(&plan, ", ");
    text_say_json(&plan, "unlock",
                  "hdparm --user-master u --security-unlock " PURGE_PASSWORD " DEVICE, if it is locked");
    text_say(&plan, "}");
    int rc = plan.failed ? error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for its journal", p->d->path)
                         : journal_start(&p->journal, p->d, "purge", plan.data);
    free(plan.data);
    return rc;
}

static int prepare(struct sated_purge *p)
{
    struct sated_purge_pending pending;
    int rc = decide(p->d, &p->options, &p->look, &pending, &p->result.method, &p->journal);
    if (!rc && (p->look.way[p->result.method].whole || p->look.state == SATED_PURGE_FAILED)) /* all of it has failed */
        rc = handle_need_permit(p->d, HANDLE_DRIVE, "purging all of it");
    if (!rc)
        rc = begin(p, &pending);
    p->start_ns = p->erasing_ns = handle_now_ns(p->d);
    p->result.hidden_bytes = UINT64_MAX;
    p->progress.method = p->result.method;
    return rc;
}

int sated_purge_start(struct sated_purge **out, struct sated_drive *d, const struct sated_purge_options *given)
{
    struct sated_purge_options opt;
    *out = NULL;
    int rc = take_options(d, given, &opt);
    if (!rc)
        rc = need_permit(d, &opt);
    if (!rc)
        rc = handle_need_idle(d, "it cannot be purged");
    if (rc)
        return rc;
    struct sated_purge *p = make(d, &opt);
    memset(&opt, 0, sizeof opt);
    if (!p)
        return error_set(-ENOMEM, SATED_LAYER_DRIVE, "%s: no memory for purging it", d->path);
    rc = prepare(p);
    if (!rc) {
        d->busy = HANDLE_PURGE;
        rc = thread_start(&p->thread, 0, work, p);
    }
    if (rc) {
        struct sated_detail detail = *error_last();
        d->busy = HANDLE_IDLE;
        release(p);
        return error_copy(&detail);
    }
    p->started = true;
    *out = p;
    return 0;
}

int sated_purge_wait(struct sated_purge *p, int64_t timeout_ns, struct sated_purge_result *result)
{
    int64_t end_ns = 0;
    bool for_ever = timeout_ns < 0 || __builtin_add_overflow(clock_now_ns(), timeout_ns, &end_ns);
    struct timespec end = {.tv_sec = end_ns / PURGE_SECOND, .tv_nsec = end_ns % PURGE_SECOND};
    int rc = 0;
    pthread_mutex_lock(&p->lock);
    while (!p->ended && !rc)
        rc = for_ever ? pthread_cond_wait(&p->changed, &p->lock) : pthread_cond_timedwait(&p->changed, &p->lock, &end);
    rc = p->ended ? (p->detail.code ? error_copy(&p->detail) : 0) : 1;
    if (p->ended && result)
        *result = p->result;
    pthread_mutex_unlock(&p->lock);
    return rc;
}

/* Where the drive does not say how far it is, what it said that it takes has to do. */
static void estimate(const struct sated_purge *p, int64_t now, struct sated_purge_progress *out)
{
    int64_t since = now - p->erasing_ns;
    out->eta_ns = -1;
    if (out->phase != SATED_PURGE_ERASING)
        return;
    if (out->fraction >= 0 && out->fraction <= 1) {
        if (out->fraction > 0.001)
            out->eta_ns = (int64_t)((double)since * (1 - out->fraction) / out->fraction);
        else if (p->estimate_ns >= 0)
            out->eta_ns = p->estimate_ns > since ? p->estimate_ns - since : 0;
    } else if (p->estimate_ns > 0) {
        out->eta_ns = p->estimate_ns > since ? p->estimate_ns - since : 0;
        double fraction = (double)since / (double)p->estimate_ns;
        out->fraction = fraction < 0.99 ? fraction : 0.99;
    }
}

void sated_purge_get_progress(struct sated_purge *p, struct sated_purge_progress *out)
{
    int64_t now = handle_now_ns(p->d);
    pthread_mutex_lock(&p->lock);
    *out = p->progress;
    out->elapsed_ns = p->ended ? p->result.duration_ns : now - p->start_ns;
    estimate(p, now, out);
    pthread_mutex_unlock(&p->lock);
}

void sated_purge_stop(struct sated_purge *p)
{
    p->stop = true;
}

void sated_purge_free(struct sated_purge *p)
{
    if (!p)
        return;
    sated_purge_stop(p);
    if (p->started)
        pthread_join(p->thread, NULL);
    release(p);
}
