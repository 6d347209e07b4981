/* SPDX-License-Identifier: MIT */
/* Our own files: replacing is atomic and on stable storage, a lock names its holder. */
#define _GNU_SOURCE 1
#include <sated/base.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "core/file.h"

#define BIG ((size_t)1 << 20)

static char folder[160];
static char trace[64]; /* what was done to the disk, in order: f = fsync of a file, d = of a folder, r = rename */

/* These stand before libc's. */
int fsync(int fd)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && strlen(trace) + 1 < sizeof trace)
        strcat(trace, S_ISDIR(st.st_mode) ? "d" : "f");
    return (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to)
{
    if (strlen(trace) + 1 < sizeof trace)
        strcat(trace, "r");
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static const char *in(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int entries(void)
{
    int n = 0;
    DIR *d = opendir(folder);
    while (d && readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

/* Empties the folder. */
static void remove_all(void)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
}

/* Whether the file is BIG times the same letter. Return: that letter, 0 if it is anything else. */
static char whole(const char *path)
{
    void *data;
    size_t bytes;
    if (file_read(path, &data, &bytes))
        return 0;
    const char *text = data;
    char letter = bytes == BIG ? text[0] : 0;
    for (size_t i = 0; i < bytes && letter; i++)
        if (text[i] != letter)
            letter = 0;
    free(data);
    return letter;
}

static void test_parts(void)
{
    struct file_part parts[] = {{"abc", 3}, {"", 0}, {"defg", 4}};
    struct stat st;
    void *data;
    size_t bytes;
    trace[0] = '\0';
    CHECK_EQ(file_replace(in("parts"), parts, 3), 0);
    CHECK(!strcmp(trace, "frd")); /* the data before it gets its name, the name before success is told */
    CHECK_EQ(file_read(in("parts"), &data, &bytes), 0);
    CHECK_EQ(bytes, 7);
    CHECK(!strcmp(data, "abcdefg"));
    free(data);

    CHECK_EQ(chmod(in("parts"), 0600), 0);
    CHECK_EQ(file_replace(in("parts"), NULL, 0), 0);
    CHECK(stat(in("parts"), &st) == 0 && st.st_size == 0 && (st.st_mode & 0777) == 0600);

    char link_path[280];
    snprintf(link_path, sizeof link_path, "%s", in("link"));
    CHECK_EQ(symlink("parts", link_path), 0);
    CHECK_EQ(file_replace(link_path, parts, 1), 0);
    CHECK(lstat(link_path, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(stat(in("parts"), &st) == 0 && st.st_size == 3);
    unlink(in("parts"));
    CHECK_EQ(file_replace(link_path, parts, 3), 0); /* also one that leads to nothing yet */
    CHECK(lstat(link_path, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(stat(in("parts"), &st) == 0 && st.st_size == 7);
    unlink(link_path);
    CHECK_EQ(symlink("link", link_path), 0);
    CHECK_EQ(file_replace(link_path, parts, 3), -ELOOP);
    unlink(link_path);

    CHECK_EQ(file_begins(in("parts"), "abc", 3), 1);
    CHECK_EQ(file_begins(in("parts"), "abd", 3), 0);
    CHECK_EQ(file_begins(in("parts"), "abcdefgh", 8), 0);
    CHECK_EQ(file_begins(in("absent"), "abc", 3), 1);
    CHECK_EQ(file_begins(folder, "abc", 3), -EISDIR);
    unlink(in("parts"));
    CHECK_EQ(entries(), 0);
}

/* The one name of a file, whatever leads to it. */
static void test_real(void)
{
    char *real = NULL, *want = realpath(folder, NULL), text[300];
    snprintf(text, sizeof text, "%s/file", want);
    for (int there = 0; there < 2; there++) {
        static const char *const names[] = {"file", "./file", "link", "link2", "sub/../file"};
        mkdir(in("sub"), 0755);
        CHECK_EQ(symlink("file", in("link")), 0);
        CHECK_EQ(symlink("sub/../link", in("link2")), 0);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            CHECK_EQ(file_real(in(names[i]), &real), 0);
            CHECK(real && !strcmp(real, text));
            free(real);
        }
        CHECK_EQ(chdir(folder), 0);
        CHECK_EQ(file_real("link2", &real), 0);
        CHECK(real && !strcmp(real, text));
        free(real);
        CHECK_EQ(file_real("no/such", &real), -ENOENT);
        CHECK(real == NULL);
        CHECK_EQ(chdir("/"), 0);
        remove_all();
        rmdir(in("sub"));
        CHECK_EQ(file_replace(in("file"), NULL, 0), 0);
    }
    free(want);
    remove_all();
}

/* What a killed process left is removed by the next one; what a running one is about to finish, and others' files, stay. */
static void test_stale(void)
{
    char text[40], name[300];
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0); /* its pid is nobody's now */
    const char *const stay[] = {"a.new", "b.4-4.new", "a.4-x.new", "a.4-4.new2", "a.0-1.new", "aa.4-4.new"};
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        CHECK_EQ(file_replace(in(stay[i]), NULL, 0), 0);
    snprintf(text, sizeof text, "a.%d-0.new", (int)getppid());
    CHECK_EQ(file_replace(in(text), NULL, 0), 0);
    snprintf(text, sizeof text, "a.%d-17.new", (int)child);
    snprintf(name, sizeof name, "%s", in(text));
    CHECK_EQ(file_replace(name, NULL, 0), 0);
    CHECK_EQ(entries(), 8);
    CHECK_EQ(file_replace(in("a"), NULL, 0), 0);
    CHECK(access(name, F_OK) != 0);
    CHECK_EQ(entries(), 8);
    remove_all();
}

static void test_atomic(void)
{
    char *a = malloc(BIG), *b = malloc(BIG);
    memset(a, 'a', BIG);
    memset(b, 'b', BIG);
    CHECK_EQ(file_replace(in("big"), &(struct file_part){a, BIG}, 1), 0);
    pid_t child = fork();
    if (child == 0) {
        for (;;) {
            file_replace(in("big"), &(struct file_part){b, BIG}, 1);
            file_replace(in("big"), &(struct file_part){a, BIG}, 1);
        }
    }
    int seen_a = 0, seen_b = 0, torn = 0;
    for (int i = 0; i < 200000 && (!seen_a || !seen_b || i < 200); i++) {
        char letter = whole(in("big"));
        seen_a += letter == 'a';
        seen_b += letter == 'b';
        torn += letter != 'a' && letter != 'b';
    }
    kill(child, SIGKILL); /* in the middle of it, most of the time */
    waitpid(child, NULL, 0);
    CHECK(seen_a > 0);
    CHECK(seen_b > 0);
    CHECK_EQ(torn, 0);
    CHECK(whole(in("big")) != 0);
    CHECK_EQ(file_replace(in("big"), NULL, 0), 0);
    CHECK_EQ(entries(), 1); /* nothing of the killed one is left */
    free(a);
    free(b);
    remove_all();
}

/* A write that fails half way leaves the old file, and nothing beside it. */
static void test_fails(void)
{
    struct sated_detail detail;
    char *a = malloc(BIG);
    memset(a, 'a', BIG);
    CHECK_EQ(file_replace(in("old"), &(struct file_part){a, BIG}, 1), 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){BIG / 2, BIG / 2});
        memset(a, 'b', BIG);
        int rc = file_replace(in("old"), &(struct file_part){a, BIG}, 1);
        sated_detail_get(&detail);
        _exit(rc == -EFBIG && detail.code == rc && detail.layer == SATED_LAYER_FILE ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    CHECK_EQ(whole(in("old")), 'a');
    CHECK_EQ(entries(), 1);
    free(a);
    unlink(in("old"));

    CHECK_EQ(file_replace(in("no/such/folder"), NULL, 0), -ENOENT);
    CHECK_EQ(file_replace(folder, NULL, 0), -EISDIR);
    void *data;
    size_t bytes;
    CHECK_EQ(file_read(in("absent"), &data, &bytes), -ENOENT);
    CHECK(data == NULL);
    CHECK_EQ(file_read(folder, &data, &bytes), -EISDIR);
    sated_detail_get(&detail);
    CHECK_EQ(detail.layer, SATED_LAYER_FILE);
    CHECK_TEXT(detail.text, folder);
    CHECK_EQ(sated_error_exit_code(-ENOSPC, SATED_LAYER_FILE), 8); /* conventions: what is written is kept */
}

static void test_lock(void)
{
    struct file_lock *lock, *second;
    struct sated_detail detail;
    char pid[64];
    int up[2], down[2];
    CHECK(pipe(up) == 0 && pipe(down) == 0);
    pid_t child = fork();
    if (child == 0) {
        char byte = file_lock(&lock, in("state")) ? 'n' : 'y';
        if (write(up[1], &byte, 1) != 1 || read(down[0], &byte, 1) != 1)
            _exit(1);
        file_unlock(lock);
        _exit(0);
    }
    char byte = 0;
    CHECK(read(up[0], &byte, 1) == 1 && byte == 'y');
    CHECK_EQ(file_lock(&lock, in("state")), -EBUSY);
    CHECK(lock == NULL);
    sated_detail_get(&detail);
    snprintf(pid, sizeof pid, "process %d", (int)child);
    CHECK_TEXT(detail.text, pid);
    CHECK_EQ(detail.layer, SATED_LAYER_FILE);
    CHECK_EQ(sated_error_exit_code(detail.code, detail.layer), 7);
    CHECK(write(down[1], "x", 1) == 1);
    waitpid(child, NULL, 0);

    CHECK_EQ(file_lock(&lock, in("state")), 0);
    CHECK_EQ(file_lock(&second, in("state")), -EBUSY); /* also within one process */
    file_unlock(lock);
    CHECK_EQ(entries(), 0);

    /* A killed holder leaves its file behind, but not its lock. */
    child = fork();
    if (child == 0) {
        byte = file_lock(&lock, in("state")) ? 'n' : 'y';
        if (write(up[1], &byte, 1) != 1)
            _exit(1);
        pause();
    }
    CHECK(read(up[0], &byte, 1) == 1 && byte == 'y');
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    CHECK_EQ(entries(), 1);
    CHECK_EQ(file_lock(&lock, in("state")), 0);
    file_unlock(lock);
    file_unlock(NULL);
    CHECK_EQ(file_lock(&lock, in("no/such")), -ENOENT);

    /* What stands where the lock belongs is touched only if it can have been one: no link, one name, a number. */
    static const char *const foreign[] = {
        "precious data", "12", "12\n\n", "12 \n", "\n", "12\n34\n", "1234567890123456789012345678901234567890\n"};
    struct stat st;
    char target[280];
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        struct file_part part = {foreign[i], strlen(foreign[i])};
        CHECK_EQ(file_replace(in("state.lock"), &part, 1), 0);
        CHECK_EQ(file_lock(&lock, in("state")), SATED_UNSAFE);
        CHECK(lock == NULL);
        CHECK(stat(in("state.lock"), &st) == 0 && st.st_size == (off_t)part.bytes);
    }
    sated_detail_get(&detail);
    CHECK_TEXT(detail.text, "state.lock is there and is no lock of ours");
    for (int hard = 0; hard < 2; hard++) {
        remove_all();
        snprintf(target, sizeof target, "%s", in("victim"));
        CHECK_EQ(file_replace(target, &(struct file_part){"77\n", 3}, 1), 0);
        CHECK_EQ(hard ? link(target, in("state.lock")) : symlink("victim", in("state.lock")), 0);
        CHECK_EQ(file_lock(&lock, in("state")), SATED_UNSAFE);
        CHECK(stat(target, &st) == 0 && st.st_size == 3);
    }
    remove_all();
    CHECK_EQ(symlink("nothing", in("state.lock")), 0);
    CHECK_EQ(file_lock(&lock, in("state")), SATED_UNSAFE);
    remove_all();
    CHECK_EQ(mkfifo(in("state.lock"), 0600), 0);
    CHECK_EQ(file_lock(&lock, in("state")), SATED_UNSAFE); /* and does not hang */
    remove_all();
    CHECK_EQ(file_replace(in("state.lock"), NULL, 0), 0); /* of one that was killed before it could say who it is */
    CHECK_EQ(file_lock(&lock, in("state")), 0);
    file_unlock(lock);
    for (int i = 0; i < 2; i++) {
        close(up[i]);
        close(down[i]);
    }
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/sated-file-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        return 1;
    test_parts();
    test_real();
    test_stale();
    test_atomic();
    test_fails();
    test_lock();
    CHECK_EQ(entries(), 0);
    rmdir(folder);
    return check_done();
}
