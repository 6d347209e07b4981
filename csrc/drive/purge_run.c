/* SPDX-License-Identifier: MIT */
/* The one procedure: settle what was left, mark, erase, look again. Everything it does to the drive is in the journal
 * before. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "drive/purge.h"
#include "transport/refresh.h"
#include "transport/regular.h"
#include "transport/simulated.h"

#define STALL_LEAST_NS (1800 * PURGE_SECOND)
#define POLL_LONGEST_NS (30 * PURGE_SECOND)
#define SLICE_NS (PURGE_SECOND / 5) /* so soon a real drive's purge notices that it is to stop */

bool purge_is_answer(int rc)
{
    return rc == SATED_SENSE || rc == SATED_NVME || rc == SATED_ATA || rc == SATED_UNSUPPORTED || rc == SATED_PARSE;
}

static int stopped(const struct sated_purge *p)
{
    return error_set(SATED_STATE, SATED_LAYER_DRIVE,
                     "%s: the purge was stopped; what the drive has begun goes on in it, and `sated purge %s --resume` "
                     "finishes it",
                     p->d->path, p->d->path);
}

int purge_pause(struct sated_purge *p, int64_t ns)
{
    bool slices = p->d->kind != HANDLE_SIMULATED && p->d->kind != HANDLE_REPLAY;
    int rc = 0;
    while (!rc && ns > 0 && !p->stop) {
        int64_t now = slices && ns > SLICE_NS ? SLICE_NS : ns;
        rc = sated_drive_sleep(p->d, now);
        ns -= now;
    }
    return rc || !p->stop ? rc : stopped(p);
}

/* ---- The journal ---- */

/* Where the canaries are goes with each step, so that the last one is enough to look for them. */
static void write_step(const struct sated_purge *p, const char *step, char *out, size_t n)
{
    const struct canaries *c = &p->canaries;
    if (c->n)
        snprintf(out, n,
                 "%s | %" PRIu32 " canaries in %" PRIu64 " blocks of %" PRIu32 ", id %016" PRIx64 " mask %016" PRIx64,
                 step, c->n, c->blocks, c->block_bytes, c->id, c->mask);
    else
        snprintf(out, n, "%s", step);
}

/* What the last step of an earlier run says. A mask of 0: they were being written. */
static void read_step(struct sated_purge *p)
{
    struct canaries c = {0};
    const char *at = strstr(journal_last_step(p->journal), " | ");
    if (!at || sscanf(at, " | %" SCNu32 " canaries in %" SCNu64 " blocks of %" SCNu32 ", id %" SCNx64 " mask %" SCNx64,
                      &c.n, &c.blocks, &c.block_bytes, &c.id, &c.mask) != 5)
        return;
    if (!c.mask || !c.n || c.n > 64 || c.blocks < c.n || !c.block_bytes || c.block_bytes > PURGE_PAGE ||
        c.block_bytes % 64)
        return;
    p->canaries = c;
    p->marked = true;
}

int purge_step(struct sated_purge *p, const char *step)
{
    char text[256];
    if (p->stop)
        return stopped(p);
    int rc = handle_check_same(p->d);
    if (rc)
        return rc;
    write_step(p, step, text, sizeof text);
    log_say(SATED_LOG_INFO, "%s: purge: %s", p->d->path, step);
    return journal_step(p->journal, text);
}

/* ---- What is told meanwhile ---- */

void purge_tell(struct sated_purge *p, uint64_t done, uint64_t of)
{
    pthread_mutex_lock(&p->lock);
    p->progress.fraction = of ? (double)done / (double)of : NAN;
    pthread_mutex_unlock(&p->lock);
}

static void enter(struct sated_purge *p, uint32_t phase)
{
    pthread_mutex_lock(&p->lock);
    p->progress.phase = phase;
    p->progress.method = p->result.method;
    p->progress.fraction = phase > SATED_PURGE_ERASING ? 1 : NAN;
    p->erasing_ns = handle_now_ns(p->d);
    pthread_mutex_unlock(&p->lock);
}

void purge_notice(struct sated_purge *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&p->lock);
    vsnprintf(p->progress.notice, sizeof p->progress.notice, format, args);
    log_say(SATED_LOG_INFO, "%s", p->progress.notice);
    pthread_mutex_unlock(&p->lock);
    va_end(args);
}

void purge_says(struct sated_purge *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->result.device_says, sizeof p->result.device_says, format, args);
    va_end(args);
    p->result.done = 1;
}

static int64_t stall_ns(const struct sated_purge *p)
{
    if (p->options.stall_ns > 0)
        return p->options.stall_ns;
    return p->estimate_ns > STALL_LEAST_NS / 2 && p->estimate_ns < INT64_MAX / 4 ? 2 * p->estimate_ns : STALL_LEAST_NS;
}

/* A quarter of what is left, by how far it has come since: soon where it ends soon. */
static int64_t until_next(uint32_t progress, int64_t since_ns)
{
    if (progress == 0 || progress > 65536)
        return since_ns < POLL_LONGEST_NS ? PURGE_SECOND : PURGE_SECOND * 5;
    int64_t left = (int64_t)((double)since_ns * (65536.0 - progress) / progress / 4);
    return left < PURGE_SECOND ? PURGE_SECOND : left < POLL_LONGEST_NS ? left : POLL_LONGEST_NS;
}

int purge_poll(struct sated_purge *p, const char *what, int (*ask)(struct sated_purge *p, uint32_t *progress))
{
    uint32_t progress = UINT32_MAX, before = UINT32_MAX;
    int64_t begin = handle_now_ns(p->d), since = begin;
    int rc;
    while ((rc = ask(p, &progress)) > 0) {
        int64_t now = handle_now_ns(p->d);
        if (progress != before)
            since = now;
        before = progress;
        purge_tell(p, progress, progress == UINT32_MAX ? 0 : 65536);
        if (now - since >= stall_ns(p))
            return error_set(SATED_STALLED, SATED_LAYER_DRIVE,
                             "%s: %s has made no progress for %" PRId64 " s (%" PRIu32 " of 65536); leave the drive "
                             "switched on, or power-cycle it, then `sated purge %s --resume`",
                             p->d->path, what, (now - since) / PURGE_SECOND, progress == UINT32_MAX ? 0 : progress,
                             p->d->path);
        rc = purge_pause(p, until_next(progress, now - begin));
        if (rc)
            return rc;
    }
    return rc;
}

int purge_sweep(struct sated_purge *p, const char *step, uint64_t most,
                int (*send)(struct sated_purge *p, uint64_t at, uint64_t blocks))
{
    uint64_t all = p->look.blocks;
    int rc = purge_step(p, step);
    for (uint64_t at = 0; !rc && at < all; at += most) {
        rc = purge_pause(p, 0);
        if (!rc)
            rc = send(p, at, all - at < most ? all - at : most);
        purge_tell(p, at, all);
    }
    return rc;
}

/* ---- Of what takes no commands ---- */

static int run_simulated(struct sated_purge *p)
{
    bool empty = false;
    int rc = simulated_need_open(p->d, "a purge");
    if (!rc)
        rc = simulated_purge(p->d, &empty);
    if (rc)
        return rc;
    p->result.verified = empty ? SATED_PURGE_GONE : SATED_PURGE_STILL_THERE;
    purge_says(p, empty ? "all blocks erased, no unit is mapped" : "erased, but units are still mapped");
    return 0;
}

static int run_file(struct sated_purge *p)
{
    struct sated_drive *d = p->d;
    int rc = handle_check_same(d);
    if (!rc)
        rc = regular_deallocate(d);
    if (rc)
        return rc;
    p->result.verified = regular_holds_data(d, 0) ? SATED_PURGE_STILL_THERE : SATED_PURGE_GONE;
    purge_says(p,
               p->result.verified == SATED_PURGE_GONE
                   ? "all blocks given back to %s; what is written next is allocated anew"
                   : "%s took the holes, but does not say that the file is empty",
               d->identity.model);
    return 0;
}

/* ---- Of drives with commands ---- */

static int look_again(struct sated_purge *p)
{
    struct sated_purge_options opt = p->options;
    opt.resume = 1; /* what has been unlocked by now is ours */
    return purge_look(p->d, &opt, &p->look);
}

static int settle(struct sated_purge *p)
{
    enter(p, SATED_PURGE_ERASING);
    purge_notice(p, "%s: %s", p->d->path, p->look.what);
    int rc = p->protocol->settle(p);
    if (!rc)
        rc = look_again(p);
    /* A method that nobody named goes by what the drive can do now. */
    if (!rc && p->options.method == SATED_PURGE_AUTO)
        rc = p->settled ? (p->result.method = p->settled, 0)
                        : purge_choose(p->d, &p->look, &p->options, &p->result.method);
    return rc;
}

static int mark(struct sated_purge *p)
{
    enter(p, SATED_PURGE_MARKING);
    canaries_init(&p->canaries, p->d, &p->look, p->options.canaries);
    if (!p->canaries.n || p->look.state == SATED_PURGE_FAILED)
        return p->canaries.n = 0, 0;
    int rc = purge_step(p, "mark blocks");
    return rc ? rc : canaries_mark(p);
}

/* Nothing of it is left in the drive, whatever became of it, or it was somebody else's lock that nothing opened: then
 * nothing has to be resumed either. */
static void forget_refused(struct sated_purge *p)
{
    struct sated_detail detail = *error_last();
    bool over = detail.code == SATED_LOCKED
                    ? !p->found
                    : purge_is_answer(detail.code) && !look_again(p) && p->look.state == SATED_PURGE_NOTHING;
    if (over) {
        journal_finish(p->journal);
        p->journal = NULL;
    }
    error_copy(&detail);
}

/* What stands has to be finished, whatever the command's own failure suggests. Not of a drive that is another one now, or
 * that waits for somebody's password. */
static void say_resume(const struct sated_purge *p)
{
    struct sated_detail detail = *error_last();
    char whole[sizeof detail.text * 2];
    if (!p->journal || detail.code == SATED_UNSAFE || detail.code == SATED_LOCKED || strstr(detail.text, "--resume"))
        return;
    snprintf(whole, sizeof whole, "%.800s; what has begun stands: `sated purge %.100s --resume` finishes it",
             detail.text, p->d->path);
    snprintf(detail.text, sizeof detail.text, "%.1000s", whole);
    error_copy(&detail);
}

static int erase(struct sated_purge *p)
{
    int rc = p->marked ? 0 : mark(p);
    if (rc)
        return rc;
    enter(p, SATED_PURGE_ERASING);
    p->estimate_ns = p->look.way[p->result.method].estimate_ns;
    rc = p->protocol->erase(p);
    /* Hints may lie in a volatile cache still, and with them what they were to take away. */
    if (!rc && p->look.way[p->result.method].level == SATED_PURGE_ADVISORY)
        rc = p->protocol->flush(p);
    return rc;
}

static int check(struct sated_purge *p)
{
    enter(p, SATED_PURGE_CHECKING);
    int rc = purge_step(p, "look for the marks");
    if (!rc)
        rc = canaries_check(p);
    if (!rc)
        rc = handle_refresh(p->d);
    if (!rc)
        p->result.hidden_bytes = p->protocol->hidden(p);
    return rc;
}

static int run_drive(struct sated_purge *p)
{
    read_step(p);
    int rc = p->look.state ? settle(p) : 0;
    if (!rc && p->settled != p->result.method)
        rc = erase(p);
    if (rc)
        forget_refused(p);
    else
        rc = check(p);
    if (rc) {
        say_resume(p);
        return rc;
    }
    struct journal *j = p->journal;
    p->journal = NULL;
    return journal_finish(j);
}

/* ---- The report ---- */

static void say(struct sated_purge *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct sated_purge *p, const char *format, ...)
{
    char *text = p->result.text;
    size_t used = strlen(text), room = sizeof p->result.text;
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, room - used, format, args);
    va_end(args);
}

static void say_verified(struct sated_purge *p)
{
    const struct sated_purge_result *r = &p->result;
    switch (r->verified) {
    case SATED_PURGE_GONE:
        say(p, " Of %" PRIu32 " blocks marked before, none holds its mark any more", r->canaries);
        say(p, r->unreadable ? " (%" PRIu32 " cannot be read)." : ".", r->unreadable);
        break;
    case SATED_PURGE_STILL_THERE:
        say(p, " Of %" PRIu32 " blocks marked before, %" PRIu32 " still hold their marks: the drive is not erased.",
            r->canaries, r->still_there);
        break;
    default: say(p, " Nothing verifies that: no block was marked before.");
    }
    say(p, " What a host reads says nothing of the spare area, which only the drive itself reaches.");
}

static void report(struct sated_purge *p)
{
    struct sated_purge_result *r = &p->result;
    if (!p->protocol || r->method == SATED_PURGE_EXTERNAL) {
        say(p, "%s: %s.", purge_names[r->method], r->device_says);
        return;
    }
    say(p, "%s: the drive says: %s (%" PRId64 ".%" PRId64 " s).", purge_names[r->method], r->device_says,
        r->duration_ns / PURGE_SECOND, r->duration_ns % PURGE_SECOND / (PURGE_SECOND / 10));
    if (p->look.way[r->method].why[0])
        say(p, " Not the best that it has: %s.", p->look.way[r->method].why);
    if (r->level == SATED_PURGE_ADVISORY)
        say(p, " It is advisory: the drive may keep what it was told to drop.");
    say_verified(p);
    if (r->hidden_bytes == UINT64_MAX && p->protocol == &purge_ata)
        say(p, " Whether an LBA limit hides an area, the drive does not say.");
    else if (r->hidden_bytes && r->hidden_bytes != UINT64_MAX)
        say(p, " Hidden area: %" PRIu64 " B%s.", r->hidden_bytes,
            r->method == SATED_PURGE_SECURITY ? ", which this method does not reach" : "");
    if (r->resumed)
        say(p, " An interrupted purge was finished.");
}

int purge_run(struct sated_purge *p)
{
    int rc;
    if (p->result.method == SATED_PURGE_EXTERNAL) {
        snprintf(p->result.device_says, sizeof p->result.device_says, "recorded as told: %.230s", p->options.note);
        rc = handle_refresh(p->d);
    } else if (!p->protocol) {
        rc = p->d->kind == HANDLE_FILE ? run_file(p) : run_simulated(p);
    } else {
        rc = run_drive(p);
    }
    p->result.level = p->look.way[p->result.method].level;
    p->result.duration_ns = handle_now_ns(p->d) - p->start_ns;
    if (!rc)
        report(p);
    return rc;
}
