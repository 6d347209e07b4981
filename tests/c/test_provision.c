/* SPDX-License-Identifier: MIT */
/* Capacity by each method of each simulated drive, interrupted at every point. */
#define _GNU_SOURCE 1 /* nftw */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sated/sated.h>

#include "core/file.h"
#include "drives.h"
#include "transport/command.h"

/* In memory where that can be had: each command is on disk before the next one is sent, and there are thousands. */
static char state_file[64], start_file[64];

static struct sated_provision now;

/* As small as a drive can be, so that thousands of them are opened and saved in seconds. */
static void add_tiny(const char *protocol)
{
    const char *from = sated_sim_model_text("generic"), *blocks = strstr(from, "blocks = { value = 2048"),
               *none = strstr(from, "{ value = \"none\"");
    char text[16384], name[32];
    snprintf(text, sizeof text, "%.*s{ value = \"%s\"%.*sblocks = { value = 64%s", (int)(none - from), from, protocol,
             (int)(blocks - none - 16), none + 16, blocks + 23);
    snprintf(name, sizeof name, "tiny-%s", protocol);
    CHECK_EQ(sated_sim_add_model(name, text), 0);
}

static const struct sated_provision *look(struct sated_drive *d)
{
    CHECK_EQ(sated_provision_get(d, &now), 0);
    return &now;
}

/* ---- What is asked for, by a method or by another block size ---- */

struct wish {
    const char *name, *uri;
    uint32_t method;
    uint32_t block_bytes;  /* other than 0: that is asked for */
    uint32_t commands_set; /* how many commands it is, by which a point of interruption is known not to be left out */
    uint32_t commands_restore;
};

static const struct wish wishes[] = {
    {"hpa", "sim:tiny-ata", SATED_PROVISION_HPA, 0, 14, 14},
    {"amac", "sim:tiny-ata,max_address=amac", SATED_PROVISION_AMAC, 0, 9, 9},
    {"dco", "sim:tiny-ata", SATED_PROVISION_DCO, 0, 14, 13},
    {"mode-select", "sim:tiny-scsi", SATED_PROVISION_MODE_SELECT, 0, 10, 12},
    {"namespace", "sim:tiny-nvme", SATED_PROVISION_NAMESPACE, 0, 15, 15},
    {"SCSI format", "sim:tiny-scsi", 0, 4096, 19, 19},
    {"NVMe format", "sim:tiny-nvme", 0, 4096, 12, 12},
};

static bool once(const struct wish *w)
{
    return w->method == SATED_PROVISION_HPA || w->method == SATED_PROVISION_AMAC;
}

/* @param restore back to what it is when it is new. */
static int change(struct sated_drive *d, const struct wish *w, bool restore)
{
    struct sated_provision_options opt;
    if (w->block_bytes) {
        struct sated_settings wanted = {.known = SATED_SETTING_BLOCK, .logical_block_bytes = restore ? 512 : 4096};
        return sated_drive_set_settings(d, &wanted, false);
    }
    sated_provision_options_init(&opt);
    opt.method = w->method;
    look(d);
    return sated_provision_set(d, restore ? UINT64_MAX : now.native_bytes / 5 * 4 / 1048576 * 1048576, &opt);
}

static int go_on(struct sated_drive *d, bool undo)
{
    int rc = sated_provision_wait(d, undo, -1);
    if (rc == SATED_STATE && look(d)->flags & SATED_PROVISION_NEEDS_POWER_CYCLE) {
        CHECK_EQ(sated_sim_power_cycle(d), 0);
        rc = sated_provision_wait(d, undo, -1);
    }
    if (rc) {
        sated_detail_get(&detail);
        printf("wait: %d %s\n", rc, detail.text);
    }
    return rc;
}

/* What it is to be afterwards: as wished, or as new. */
static bool is_so(struct sated_drive *d, const struct wish *w, bool new)
{
    struct sated_identity id;
    uint64_t bytes = look(d)->native_bytes;
    CHECK_EQ(sated_drive_get_identity(d, &id), 0);
    CHECK(!(now.flags & SATED_PROVISION_INTERRUPTED));
    CHECK_EQ(now.accessible_bytes, now.device_bytes);
    if (w->block_bytes)
        return id.logical_block_bytes == (new ? 512 : 4096);
    if (!new)
        bytes = bytes / 5 * 4 / 1048576 * 1048576;
    return now.device_bytes == bytes && now.limits == (new ? 0u : 1u << w->method) &&
           now.hidden_bytes == now.native_bytes - bytes && now.flags & SATED_PROVISION_HIDDEN_KNOWN;
}

/* Whether it can be used: what is written is read back. */
static void check_usable(struct sated_drive *d)
{
    CHECK(sated_drive_guard(d, &(struct sated_guard){.safe = false}) == 0);
    struct sated_guard guard;
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(guard.safe);
}

/* ---- One after the other ---- */

static void test_set_and_restore(void)
{
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        const struct wish *w = &wishes[i];
        struct sated_drive *d = open_drive(w->uri);
        CHECK(is_so(d, w, true));
        int rc = change(d, w, false);
        if (rc < 0) {
            sated_detail_get(&detail);
            printf("%s: %d %s\n", w->name, rc, detail.text);
        }
        CHECK(rc == 0 || (rc == 1 && go_on(d, false) == 0));
        CHECK(is_so(d, w, false));
        check_usable(d);
        if (once(w)) {
            REFUSED(change(d, w, true), SATED_STATE, "switch its power off and on");
            CHECK(look(d)->flags & SATED_PROVISION_NEEDS_POWER_CYCLE);
            CHECK_EQ(now.interrupted, w->method);
            REFUSED(change(d, w, true), SATED_STATE, "--resume");
            CHECK_EQ(go_on(d, false), 0);
        } else {
            rc = change(d, w, true);
            CHECK(rc == 0 || (rc == 1 && go_on(d, false) == 0));
        }
        CHECK(is_so(d, w, true));
        check_usable(d);
        CHECK_EQ(sated_provision_wait(d, false, 0), 0); /* there is none */
        CHECK_EQ(sated_drive_close(d), 0);
    }
}

/* ---- Interrupted at every point ---- */

static const struct command_face *through;
static unsigned sent, last; /* commands so far, and the one at which the process is killed; 0: none */
static bool before;         /* it is killed before that one is sent, when its step is on disk */

static int counting(struct sated_drive *d, const struct command *c, struct sated_reply *reply)
{
    sent++;
    if (before && sent == last)
        raise(SIGKILL);
    int rc = through->send(d, c, reply);
    if (sent == last)
        raise(SIGKILL);
    return rc;
}

static void count(struct sated_drive *d, unsigned at, bool early)
{
    static struct command_face face;
    through = d->face;
    face = *through;
    face.send = counting;
    d->face = &face;
    sent = 0;
    last = at;
    before = early;
}

/* Through to its end, as a caller does it. */
static int whole(struct sated_drive *d, const struct wish *w, bool restore, uint64_t bytes)
{
    struct sated_provision_options opt;
    struct sated_settings block = {.known = SATED_SETTING_BLOCK, .logical_block_bytes = restore ? 512 : 4096};
    sated_provision_options_init(&opt);
    opt.method = w->method;
    int rc = w->block_bytes ? sated_drive_set_settings(d, &block, false) : sated_provision_set(d, bytes, &opt);
    return rc == 1 ? sated_provision_wait(d, false, -1) : rc;
}

/* A drive that a change can begin on. @param bytes receives what is to be asked for. */
static struct sated_drive *fresh(const char *uri, const struct wish *w, bool restore, uint64_t *bytes)
{
    struct sated_drive *d = open_drive(uri);
    *bytes = UINT64_MAX;
    if (restore) {
        int rc = change(d, w, false);
        CHECK(rc == 0 || (rc == 1 && go_on(d, false) == 0));
        CHECK_EQ(sated_sim_power_cycle(d), 0);
        CHECK(is_so(d, w, false));
    } else {
        *bytes = look(d)->native_bytes / 5 * 4 / 1048576 * 1048576;
    }
    return d;
}

/* After an interruption: a journal leads to one of both ends, the one that is asked for; without any the drive is
 * already at one. */
static void check_end(struct sated_drive *d, const struct wish *w, bool restore, bool undo)
{
    bool unfinished = look(d)->flags & SATED_PROVISION_INTERRUPTED;
    CHECK_EQ(go_on(d, undo), 0);
    bool was = is_so(d, w, !restore), is = is_so(d, w, restore);
    CHECK(unfinished ? (undo ? was : is) : was || is);
    if (!(unfinished ? (undo ? was : is) : was || is))
        printf("%s: restore %d undo %d unfinished %d: %llu of %llu bytes, limits %x, at command %u\n", w->name, restore,
               undo, unfinished, (unsigned long long)now.device_bytes, (unsigned long long)now.native_bytes, now.limits,
               sent);
    check_usable(d);
}

/* How many commands it takes when nothing interrupts it. */
static unsigned commands_of(const struct wish *w, bool restore)
{
    uint64_t bytes;
    struct sated_drive *d = fresh(w->uri, w, restore, &bytes);
    count(d, 0, false);
    CHECK_EQ(whole(d, w, restore, bytes), 0);
    d->face = through;
    CHECK(is_so(d, w, restore));
    CHECK_EQ(sated_drive_close(d), 0);
    return sent;
}

static unsigned walk_cuts(const struct wish *w, bool restore, unsigned commands)
{
    unsigned points = 0;
    uint64_t bytes;
    for (unsigned at = 0; at < commands; at++)
        for (uint32_t outcome = SATED_FAULT_BEFORE; outcome <= SATED_FAULT_OUTCOME_LAST; outcome++)
            for (int undo = 0; undo < 2; undo++, points++) {
                struct sated_drive *d = fresh(w->uri, w, restore, &bytes);
                struct sated_sim_fault f;
                sated_sim_fault_init(&f);
                f.kind = SATED_FAULT_POWER_CUT;
                f.after = at;
                f.count = 1;
                f.outcome = outcome;
                CHECK_EQ(sated_sim_fail(d, &f), 0);
                count(d, 0, false);
                whole(d, w, restore, bytes);
                d->face = through;
                CHECK(sent > at); /* it was met */
                CHECK_EQ(sated_sim_power_cycle(d), 0);
                check_end(d, w, restore, undo);
                CHECK_EQ(sated_drive_close(d), 0);
            }
    return points;
}

static void keep_start(const struct wish *w, bool restore, uint64_t *bytes)
{
    char uri[256];
    unlink(start_file);
    snprintf(uri, sizeof uri, "%s,state=%s", w->uri, start_file);
    CHECK_EQ(sated_drive_close(fresh(uri, w, restore, bytes)), 0);
}

static void copy_start(void)
{
    char journal[80];
    void *data;
    size_t n;
    snprintf(journal, sizeof journal, "%s.capacity.json", state_file);
    unlink(journal);
    unlink(state_file);
    CHECK_EQ(file_read(start_file, &data, &n), 0);
    CHECK_EQ(file_create(state_file, &(struct file_part){data, n}, 1), 0);
    free(data);
}

static unsigned walk_kills(const struct wish *w, bool restore, unsigned commands)
{
    unsigned points = 0;
    uint64_t bytes;
    char uri[256];
    snprintf(uri, sizeof uri, "%s,state=%s", w->uri, state_file);
    keep_start(w, restore, &bytes);
    for (unsigned at = 1; at <= commands; at++)
        for (int early = 0; early < 2; early++)
            for (int undo = 0; undo < 2; undo++, points++) {
                int status;
                copy_start();
                pid_t child = fork();
                if (!child) {
                    struct sated_drive *d = open_drive(uri);
                    count(d, at, early);
                    whole(d, w, restore, bytes);
                    _exit(0);
                }
                CHECK(waitpid(child, &status, 0) == child);
                CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
                struct sated_drive *d = open_drive(uri);
                check_end(d, w, restore, undo);
                CHECK_EQ(sated_drive_close(d), 0);
            }
    return points;
}

static void test_every_point(void)
{
    unsigned cuts = 0, kills = 0, expected = 0;
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++)
        for (int restore = 0; restore < 2; restore++) {
            const struct wish *w = &wishes[i];
            unsigned commands = commands_of(w, restore);
            if (commands != (restore ? w->commands_restore : w->commands_set))
                printf("%s, %s: %u commands\n", w->name, restore ? "restored" : "set", commands);
            CHECK_EQ(commands, restore ? w->commands_restore : w->commands_set);
            cuts += walk_cuts(w, restore, commands);
            kills += walk_kills(w, restore, commands);
            expected += restore ? w->commands_restore : w->commands_set;
        }
    printf("%u points of power cuts, %u of kills\n", cuts, kills);
    CHECK_EQ(cuts, expected * 6);
    CHECK_EQ(kills, expected * 4);
}

/* An HPA over an overlay: both are lifted, the HPA first, for beneath it no overlay can be restored (ACS-2 7.7.5). */
static struct sated_drive *both_set(void)
{
    static const uint32_t order[] = {SATED_PROVISION_DCO, SATED_PROVISION_HPA};
    struct sated_drive *d = open_drive("sim:tiny-ata");
    struct sated_provision_options opt;
    sated_provision_options_init(&opt);
    for (unsigned i = 0; i < 2; i++) {
        opt.method = order[i];
        CHECK_EQ(sated_provision_set(d, look(d)->native_bytes / (i + 2) / 4096 * 4096, &opt), 0);
        CHECK_EQ(sated_sim_power_cycle(d), 0);
    }
    CHECK_EQ(look(d)->limits, 1u << SATED_PROVISION_DCO | 1u << SATED_PROVISION_HPA);
    return d;
}

static void test_everything_restored(void)
{
    struct sated_provision_options opt;
    unsigned commands = 0, points = 0;
    sated_provision_options_init(&opt);
    opt.method = SATED_PROVISION_EVERY;
    for (unsigned at = 0; at == 0 || at <= commands; at++)
        for (uint32_t outcome = SATED_FAULT_BEFORE; outcome <= SATED_FAULT_OUTCOME_LAST; outcome++, points++) {
            struct sated_drive *d = both_set();
            struct sated_sim_fault f;
            sated_sim_fault_init(&f);
            f.kind = SATED_FAULT_POWER_CUT;
            f.after = at - 1; /* the first time none is met, to see how many there are */
            f.count = 1;
            f.outcome = outcome;
            CHECK_EQ(sated_sim_fail(d, &f), 0);
            count(d, 0, false);
            int rc = sated_provision_set(d, UINT64_MAX, &opt);
            d->face = through;
            commands = at ? commands : sent;
            CHECK(at ? sent >= at : rc == 0);
            CHECK_EQ(sated_sim_clear_faults(d), 0);
            CHECK_EQ(sated_sim_power_cycle(d), 0);
            CHECK_EQ(go_on(d, false), 0);
            if (look(d)->limits) /* it was cut before there was a plan */
                CHECK_EQ(sated_provision_set(d, UINT64_MAX, &opt), 0);
            CHECK_EQ(look(d)->limits, 0u);
            CHECK_EQ(now.device_bytes, now.native_bytes);
            check_usable(d);
            CHECK_EQ(sated_drive_close(d), 0);
        }
    printf("%u commands, %u points of both limits together\n", commands, points);
    CHECK_EQ(points, 3 * (commands + 1));
}

int main(void)
{
    const char *folder = access("/dev/shm", W_OK) ? "." : "/dev/shm";
    snprintf(state_file, sizeof state_file, "%s/test_provision.%d.state", folder, (int)getpid());
    snprintf(start_file, sizeof start_file, "%s/test_provision.%d.start", folder, (int)getpid());
    add_tiny("ata");
    add_tiny("scsi");
    add_tiny("nvme");
    test_set_and_restore();
    test_everything_restored();
    test_every_point();
    char line[256];
    snprintf(line, sizeof line, "rm -f %s* %s*", state_file, start_file);
    CHECK_EQ(system(line), 0);
    return check_done();
}
