/* SPDX-License-Identifier: MIT */
/* Purges that are interrupted after every single command, by kill -9 and by a cut of power, with and without what the
 * journal knows: whatever the point, `resume` brings the drive to an erased, unlocked state. */
#define _GNU_SOURCE 1
#include "purges.h"

#include <signal.h>
#include <sys/wait.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static uint32_t canaries = 2; /* one more is one more point of the same kind */

/* The flash of a seventh of the built-in NVMe drive, behind each protocol: little is saved after each command then. */
#define ATA "sim:walk-ata,scale=1/1024"
#define SAS "sim:walk-sas,scale=1/1024"
#define NVME "sim:walk-nvme,scale=1/1024"

static struct {
    const char *uri;
    uint32_t method;
} targets[] = {
    {ATA, SATED_PURGE_AUTO},
    {ATA, SATED_PURGE_DEALLOCATE},
    {ATA, SATED_PURGE_SANITIZE_BLOCK},
    {ATA, SATED_PURGE_SANITIZE_CRYPTO},
    {ATA, SATED_PURGE_SANITIZE_OVERWRITE},
    {ATA, SATED_PURGE_SECURITY_ENHANCED},
    {ATA, SATED_PURGE_SECURITY},
    {SAS, SATED_PURGE_AUTO},
    {SAS, SATED_PURGE_DEALLOCATE},
    {SAS, SATED_PURGE_WRITE_SAME},
    {SAS, SATED_PURGE_SANITIZE_BLOCK},
    {SAS, SATED_PURGE_SANITIZE_CRYPTO},
    {SAS, SATED_PURGE_SANITIZE_OVERWRITE},
    {SAS, SATED_PURGE_FORMAT},
    {NVME, SATED_PURGE_AUTO},
    {NVME, SATED_PURGE_DEALLOCATE},
    {NVME, SATED_PURGE_WRITE_SAME},
    {NVME, SATED_PURGE_SANITIZE_BLOCK},
    {NVME, SATED_PURGE_SANITIZE_CRYPTO},
    {NVME, SATED_PURGE_SANITIZE_OVERWRITE},
    {NVME, SATED_PURGE_FORMAT},
    {NVME, SATED_PURGE_FORMAT_CRYPTO},
};
#define TARGETS (sizeof targets / sizeof *targets)

/* A process that is killed loses nothing that the kernel has, and nobody here cuts the power of this machine. */
int fsync(int fd)
{
    (void)fd;
    return 0;
}

/* ---- A face that counts, and dies after the n-th command ---- */

static const struct command_face *behind;
static unsigned sent, dies_after;

static int count(struct sated_drive *d, const struct command *c, struct sated_reply *reply)
{
    int rc = behind->send(d, c, reply);
    if (++sent == dies_after)
        kill(getpid(), SIGKILL);
    return rc;
}

static const struct command_face counting = {.send = count};

static void put_between(struct sated_drive *d, unsigned after)
{
    behind = d->face;
    d->face = &counting;
    sent = 0;
    dies_after = after;
}

/* ---- What is there before, and has to be afterwards ---- */

static void write_first(struct sated_drive *d, uint8_t value)
{
    static uint8_t page[4096];
    struct sated_scsi_command s;
    struct sated_ata_command a;
    struct sated_nvme_command n;
    uint32_t block = d->identity.logical_block_bytes;
    memset(page, value, sizeof page);
    switch (d->identity.protocol) {
    case SATED_PROTOCOL_SCSI:
        CHECK_EQ(sated_scsi_build_write_16(&s, 0, 1, block, 0, false, true), 0);
        CHECK_EQ(command_ask(d, &s, page, NULL), 0);
        break;
    case SATED_PROTOCOL_ATA:
        CHECK_EQ(sated_ata_build_write(&a, 0, 1, block, true, false), 0);
        CHECK_EQ(sated_ata_raw(d, &a, page, NULL, NULL), 0);
        CHECK_EQ(sated_ata_build_flush_cache(&a, true), 0);
        CHECK_EQ(sated_ata_raw(d, &a, NULL, NULL, NULL), 0);
        break;
    default:
        CHECK_EQ(sated_nvme_build_write(&n, 1, 0, 1, block, SATED_NVME_FUA), 0);
        CHECK_EQ(sated_nvme_io_raw(d, &n, page, NULL), 0);
    }
}

/* Erased, unlocked, nothing pending. */
static bool is_clean(struct sated_drive *d, uint32_t method)
{
    struct sated_purge_pending pending;
    int value = -1, failed = check_failed;
    CHECK_EQ(sated_purge_get_pending(d, &pending), 0);
    CHECK_EQ(read_first(d, &value), 0);
    CHECK_EQ(value, 0); /* zeros, as these drives read what was erased, and as overwriting writes them */
    if (d->identity.protocol == SATED_PROTOCOL_ATA) {
        const struct sated_ata_security *s = &ata_identity(d)->security;
        CHECK(!s->enabled && !s->locked && !s->count_expired);
    }
    if (method != SATED_PURGE_SANITIZE_OVERWRITE)
        CHECK_EQ(mapped(d), 0); /* which leaves flash full */
    return check_failed == failed;
}

/* Of a journal that is lost the method is lost too, which says nothing of the state that has to be reached. */
static bool resume(struct sated_drive *d, uint32_t method, bool forgets)
{
    want(forgets ? SATED_PURGE_AUTO : method);
    options.canaries = canaries;
    options.resume = 1;
    if (PURGED(d))
        return false;
    CHECK_EQ(outcome.done, 1);
    CHECK(outcome.verified != SATED_PURGE_STILL_THERE);
    return is_clean(d, method);
}

static void prepare(struct sated_drive *d, uint32_t method)
{
    write_first(d, 0xab);
    want(method);
    options.canaries = canaries;
}

/* How many commands it takes when nothing is in the way. */
static unsigned commands_of(const char *uri, uint32_t method)
{
    struct sated_drive *d = open_drive(uri);
    prepare(d, method);
    put_between(d, 0);
    PURGED(d);
    CHECK_EQ(outcome.canaries, canaries);
    CHECK_EQ(outcome.verified, SATED_PURGE_GONE);
    unsigned n = sent;
    CHECK(is_clean(d, method));
    sated_drive_close(d);
    return n;
}

/* ---- Power ---- */

static bool lost_power(struct sated_drive *d)
{
    struct sated_identity id;
    CHECK_EQ(sated_drive_get_identity(d, &id), 0);
    return strstr(id.reasons, "no power") != NULL;
}

static unsigned walk_cuts(const char *uri, uint32_t method, uint32_t outcome_of_cut, bool forgets)
{
    for (unsigned n = 0;; n++) {
        struct sated_drive *d = open_drive(uri);
        prepare(d, method);
        ruin(d, SATED_FAULT_POWER_CUT, n, -1, 1, outcome_of_cut);
        int rc = purge(d);
        bool cut = lost_power(d);
        CHECK(rc == 0 || cut);
        CHECK_EQ(sated_sim_power_cycle(d), 0);
        CHECK_EQ(sated_sim_clear_faults(d), 0);
        if (forgets) {
            free(d->unfinished[0]);
            d->unfinished[0] = NULL;
        }
        /* What it is asked at last (whether an area is hidden) it need not answer. */
        bool good = rc ? resume(d, method, forgets) : is_clean(d, method);
        if (!good)
            printf("%s, method %u, power cut %u after %u commands, journal %s\n", uri, method, outcome_of_cut, n,
                   forgets ? "lost" : "there");
        CHECK(good);
        sated_drive_close(d);
        if (!cut)
            return n;
    }
}

/* ---- Death ---- */

static void copy(const char *from, const char *to)
{
    static char data[1 << 16];
    int in_fd = open(from, O_RDONLY), out_fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ssize_t n;
    CHECK(in_fd >= 0 && out_fd >= 0);
    while ((n = read(in_fd, data, sizeof data)) > 0)
        CHECK_EQ(write(out_fd, data, (size_t)n), n);
    close(in_fd);
    close(out_fd);
}

/* In a child: purges until it is killed. It exits with 0 where nothing kills it. */
static bool dies(const char *uri, uint32_t method, unsigned after)
{
    int status;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        struct sated_drive *d = open_drive(uri);
        want(method);
        options.canaries = canaries;
        put_between(d, after);
        int rc = purge(d);
        if (rc)
            printf("child: %s\n", told(rc));
        _exit(rc != 0);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

static unsigned walk_kills(const char *model, uint32_t method, bool forgets)
{
    char *master = strdup(in("master.sim")), *state = strdup(in("walk.sim")),
         *journal = strdup(in("walk.sim.purge.json"));
    char *uri = strdup(in("x")), text[700];
    unsigned n = 0;
    unlink(master);
    CHECK_EQ(sated_sim_create(model, master), 0);
    snprintf(text, sizeof text, "sim:%s", master);
    struct sated_drive *d = open_drive(text);
    write_first(d, 0xab);
    CHECK_EQ(sated_drive_close(d), 0);
    snprintf(text, sizeof text, "sim:%s", state);
    for (bool died = true; died;) {
        unlink(journal);
        copy(master, state);
        died = dies(text, method, n + 1);
        if (forgets)
            unlink(journal);
        d = open_drive(text);
        bool good = died ? resume(d, method, forgets) : is_clean(d, method);
        if (!good)
            printf("%s, method %u, killed after %u commands, journal %s\n", model, method, n + 1,
                   forgets ? "lost" : "there");
        CHECK(good);
        CHECK_EQ(sated_drive_close(d), 0);
        n += died;
    }
    free(master);
    free(state);
    free(journal);
    free(uri);
    return n;
}

static void add_model(const char *name, const char *protocol)
{
    static char text[1 << 16], next[1 << 16];
    const char *pairs[][2] = {{"1920383410176", "137170452480"},
                              {"2199023255552", "157073088512"},
                              {"protocol = { value = \"nvme\"", protocol}};
    snprintf(text, sizeof text, "%s", sated_sim_model_text("generic-tlc-nvme"));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *at = strstr(text, pairs[i][0]);
        CHECK(at != NULL);
        if (!at)
            return;
        snprintf(next, sizeof next, "%.*s%s%s", (int)(at - text), text, pairs[i][1], at + strlen(pairs[i][0]));
        memcpy(text, next, sizeof text);
    }
    int rc = sated_sim_add_model(name, text);
    if (rc)
        printf("%s\n", told(rc));
    CHECK_EQ(rc, 0);
}

int main(void)
{
    unsigned points = 0, expected = 0;
    if (tree_begin())
        return 1;
    add_model("walk-ata", "protocol = { value = \"ata\"");
    add_model("walk-sas", "protocol = { value = \"scsi\"");
    add_model("walk-nvme", "protocol = { value = \"nvme\"");
    for (size_t i = 0; i < TARGETS; i++) {
        const char *uri = targets[i].uri;
        uint32_t method = targets[i].method;
        unsigned n = commands_of(uri, method), walked = 0;
        CHECK(n > 10);
        for (int forgets = 0; forgets < 2; forgets++) {
            for (uint32_t how = SATED_FAULT_BEFORE; how <= SATED_FAULT_HALF; how++) {
                unsigned cuts = walk_cuts(uri, method, how, forgets);
                CHECK_EQ(cuts, n);
                walked += cuts;
            }
            /* A child under the sanitizers takes seconds: there what nobody names is enough. */
            if (SANITIZED && method != SATED_PURGE_AUTO)
                continue;
            unsigned kills = walk_kills(uri, method, forgets);
            CHECK_EQ(kills, n);
            walked += kills;
        }
        printf("%s, method %u: %u commands, %u points\n", uri, method, n, walked);
        points += walked;
        expected += (SANITIZED && method != SATED_PURGE_AUTO ? 6 : 8) * n;
    }
    /* Four ways to be interrupted after each command, each with the journal and without. */
    CHECK_EQ(points, expected);
    CHECK(points > 2500);
    printf("%u points\n", points);

    /* And once with all that is marked where nobody says how much. */
    canaries = 64;
    points = walk_cuts(NVME, SATED_PURGE_AUTO, SATED_FAULT_AFTER, false);
    CHECK_EQ(points, commands_of(NVME, SATED_PURGE_AUTO));
    CHECK(points > 3 * canaries);
    tree_end();
    return check_done();
}
