/* SPDX-License-Identifier: MIT */
/* Journals: what was begun is found again, whoever was killed at whatever point; nobody else's is touched. */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "core/file.h"
#include "drive/journal.h"
#include "drives.h"

static const char plan[] = "{\"method\": \"sanitize-block\", \"lbas\": [1, 2]}";

/* Begins an operation of three steps and is killed before the step of this number. */
static void killed_at(const char *uri, int point)
{
    pid_t child = fork();
    if (child == 0) {
        struct sated_drive *d = open_drive(uri);
        struct journal *j;
        if (journal_start(&j, d, "purge", plan))
            _exit(1);
        static const char *const steps[] = {"one", "two \"quoted\"\n", "three"};
        for (int i = 0; i < 3 && i < point; i++)
            if (journal_step(j, steps[i]))
                _exit(2);
        raise(SIGKILL);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void check_survives(const char *uri)
{
    static const char *const last[] = {"", "one", "two \"quoted\"\n", "three"};
    for (int point = 0; point < 4; point++) {
        killed_at(uri, point);
        struct sated_drive *d = open_drive(uri);
        struct journal *j;
        REFUSED(journal_start(&j, d, "purge", plan), SATED_STATE, "--resume");
        CHECK(!j);
        CHECK_EQ(journal_find(&j, d, "capacity"), 0);
        CHECK_EQ(journal_find(&j, d, "purge"), 1);
        CHECK(j && !strcmp(journal_last_step(j), last[point]));
        CHECK(j && !strcmp(json_get(journal_plan(j), "method")->text, "sanitize-block"));
        CHECK(j && strlen(journal_began(j)) == strlen("2026-01-01T00:00:00Z"));
        /* Whoever finds it can go on with it, and be interrupted in turn. */
        CHECK_EQ(journal_step(j, "again"), 0);
        struct journal *second;
        REFUSED(journal_find(&second, d, "purge"), -EBUSY, "this very process");
        journal_leave(j);
        CHECK_EQ(journal_find(&j, d, "purge"), 1);
        CHECK(!strcmp(journal_last_step(j), "again"));
        CHECK_EQ(journal_finish(j), 0);
        CHECK_EQ(journal_find(&j, d, "purge"), 0);
        CHECK(!j);
        sated_drive_close(d);
    }
}

static void test_a_killed_process_is_found_again(void)
{
    char *uri = in("drive");
    make_file("drive", MIB);
    check_survives(uri);
    snprintf(uri, 600, "sim:generic,blocks=64,state=%s", in("my.sim"));
    check_survives(uri);
    struct stat st;
    CHECK(stat(in("state"), &st) == 0 && (st.st_mode & 07777) == 0700);
}

static void test_one_that_nothing_outlasts_is_in_its_handle(void)
{
    struct sated_drive *d = open_drive("sim:generic,blocks=64"), *other = open_drive("sim:generic,blocks=64");
    struct journal *j;
    CHECK_EQ(journal_start(&j, d, "capacity", plan), 0);
    CHECK_EQ(journal_step(j, "one"), 0);
    journal_leave(j);
    CHECK_EQ(journal_find(&j, other, "capacity"), 0);
    CHECK_EQ(journal_find(&j, d, "capacity"), 1);
    CHECK(!strcmp(journal_last_step(j), "one"));
    CHECK_EQ(journal_finish(j), 0);
    CHECK_EQ(journal_find(&j, d, "capacity"), 0);
    CHECK_EQ(journal_start(&j, d, "settings", plan), 0);
    journal_leave(j); /* closed with one standing: its memory goes with the handle */
    sated_drive_close(d);
    sated_drive_close(other);
}

static void write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static void test_what_cannot_be_read_is_told(void)
{
    static const char *const bad[] = {
        "",
        "nonsense",
        "{}\n\"steps\": []}",
        "{\"sated_journal\": 2, \"operation\": \"purge\", \"began\": \"x\",\n\"plan\": {},\n\"steps\": []}\n",
        "{\"sated_journal\": 1, \"operation\": \"capacity\", \"began\": \"x\",\n\"plan\": {},\n\"steps\": []}\n",
        "{\"sated_journal\": 1, \"operation\": \"purge\", \"began\": \"x\",\n\"plan\": [],\n\"steps\": []}\n",
        "{\"sated_journal\": 1, \"operation\": \"purge\", \"began\": \"x\",\n\"plan\": {},\n\"steps\": [1]}\n",
        "{\"sated_journal\": 1, \"operation\": \"purge\", \"began\": \"x\",\n\"plan\": {},\n\"steps\": [\"a\"\n",
    };
    char uri[700];
    snprintf(uri, sizeof uri, "sim:generic,blocks=64,state=%s", in("bad.sim"));
    struct sated_drive *d = open_drive(uri);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct journal *j;
        write_text(in("bad.sim.purge.json"), bad[i]);
        REFUSED(journal_find(&j, d, "purge"), SATED_STATE, "sated purge --resume");
        CHECK_EQ(sated_error_exit_code(detail.code, detail.layer), 4); /* of the drive's state, and no bug */
        CHECK(!j);
    }
    /* A pipe in its place is not waited for. */
    struct journal *j;
    CHECK_EQ(unlink(in("bad.sim.purge.json")), 0);
    CHECK_EQ(mkfifo(in("bad.sim.purge.json"), 0600), 0);
    alarm(20);
    REFUSED(journal_find(&j, d, "purge"), -EINVAL, "bad.sim.purge.json");
    alarm(0);
    CHECK(!j);
    sated_drive_close(d);
}

/* A journal under the name of another drive's: what it would restore or finish is not that drive's. */
static void test_of_another_drive(void)
{
    char uri[700], text[2000] = "";
    struct journal *j;
    snprintf(uri, sizeof uri, "sim:x210,state=%s", in("one.sim"));
    struct sated_drive *one = open_drive(uri);
    snprintf(uri, sizeof uri, "sim:710,state=%s", in("two.sim"));
    struct sated_drive *two = open_drive(uri);
    CHECK_EQ(journal_start(&j, one, "purge", plan), 0);
    journal_leave(j);
    FILE *f = fopen(in("one.sim.purge.json"), "r");
    CHECK(f && fread(text, 1, sizeof text - 1, f) > 0);
    if (f)
        fclose(f);
    write_text(in("two.sim.purge.json"), text);
    REFUSED(journal_find(&j, two, "purge"), SATED_STATE, "of another drive");
    CHECK(!j);
    CHECK_EQ(journal_find(&j, one, "purge"), 1);
    CHECK_EQ(journal_finish(j), 0);
    sated_drive_close(one);
    sated_drive_close(two);
}

/* The state of a moment before them knows nothing of a purge and a change of capacity; how a run found the settings is
 * still to be known. */
static void test_undone_with_the_state(void)
{
    static const char *const operations[] = {"purge", "capacity", "settings"};
    char uri[700];
    snprintf(uri, sizeof uri, "sim:generic,blocks=64,state=%s", in("undone.sim"));
    for (int outlasts = 0; outlasts < 2; outlasts++) {
        struct sated_drive *d = open_drive(outlasts ? uri : "sim:generic,blocks=64");
        struct journal *j;
        CHECK_EQ(sated_sim_save(d, in("before")), 0);
        for (int i = 0; i < 3; i++) {
            CHECK_EQ(journal_start(&j, d, operations[i], plan), 0);
            journal_leave(j);
        }
        CHECK_EQ(sated_sim_restore(d, in("before")), 0);
        CHECK_EQ(journal_find(&j, d, "purge"), 0);
        CHECK_EQ(journal_find(&j, d, "capacity"), 0);
        CHECK_EQ(journal_find(&j, d, "settings"), 1);
        CHECK_EQ(journal_finish(j), 0);
        sated_drive_close(d);
    }
}

static void test_no_folder_for_it(void)
{
    struct journal *j;
    struct sated_drive *d = open_drive(in("drive"));
    write_text(in("plain"), "no folder");
    setenv("SATED_STATE_DIR", in("plain/x"), 1);
    REFUSED(journal_start(&j, d, "purge", plan), -ENOTDIR, "plain");
    CHECK(!j);
    sated_drive_close(d);
}

/* Whoever may write to the folder could say what is done to the drive next. */
static void test_a_folder_of_others(void)
{
    struct journal *j;
    struct sated_drive *d = open_drive(in("drive"));
    char *folder = strdup(in("shared"));
    setenv("SATED_STATE_DIR", folder, 1);
    CHECK_EQ(journal_start(&j, d, "purge", plan), 0);
    CHECK_EQ(journal_finish(j), 0);
    struct stat st;
    CHECK(stat(folder, &st) == 0 && (st.st_mode & 0777) == 0700);
    static const mode_t open_to_all[] = {0777, 01777, 0702};
    for (size_t i = 0; i < 3; i++) {
        CHECK_EQ(chmod(folder, open_to_all[i]), 0);
        REFUSED(journal_start(&j, d, "purge", plan), SATED_UNSAFE, "chmod 700");
        CHECK(!j);
        REFUSED(journal_find(&j, d, "purge"), SATED_UNSAFE, "every user may write to this folder");
        CHECK(!j);
    }
    CHECK_EQ(chmod(folder, 0755), 0);
    CHECK_EQ(journal_find(&j, d, "purge"), 0);
    if (geteuid() == 0) { /* nobody else can give a folder away */
        CHECK_EQ(chown(folder, 1234, 0), 0);
        REFUSED(journal_start(&j, d, "purge", plan), SATED_UNSAFE, "belongs to another user (uid 1234)");
        pid_t child = fork(); /* to others what is root's is as good as their own */
        if (child == 0) {
            bool ok = chown(folder, 0, 0) == 0 && chmod(tree_root, 0755) == 0 && chdir(tree_root) == 0 &&
                      seteuid(1234) == 0 && file_folder_check("shared") == 0;
            _exit(!ok);
        }
        int status = -1;
        waitpid(child, &status, 0);
        CHECK_EQ(status, 0);
    }
    free(folder);
    sated_drive_close(d);
}

int main(void)
{
    if (tree_begin())
        return 1;
    setenv("SATED_STATE_DIR", in("state"), 1);
    test_a_killed_process_is_found_again();
    test_one_that_nothing_outlasts_is_in_its_handle();
    test_what_cannot_be_read_is_told();
    test_of_another_drive();
    test_undone_with_the_state();
    test_no_folder_for_it();
    test_a_folder_of_others();
    tree_end();
    return check_done();
}
