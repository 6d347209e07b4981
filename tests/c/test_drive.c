/* SPDX-License-Identifier: MIT */
/* Drives: opening by URI, identity, capacity, purge, clock. Consent is in test_consent.c, nodes are in test_node.c. */
#define _GNU_SOURCE 1
#include <time.h>

#include "drives.h"
#include "transport/handle.h"

static void test_uris(void)
{
    char wrong[64] = "smi:x210";
    REFUSED(open_code("", 0), SATED_PARSE, "empty");
    REFUSED(open_code(wrong, 0), SATED_PARSE, "did you mean sim:");
    REFUSED(open_code("serail:S1X", 0), SATED_PARSE, "did you mean serial:");
    REFUSED(open_code("https://example.org/", 0), SATED_PARSE, "unknown scheme https:");
    REFUSED(open_code("replay:nowhere.json", 0), -ENOENT, "nowhere.json");
    REFUSED(open_code("serial:", 0), SATED_PARSE, "missing");
    REFUSED(open_code("serial:NOBODY-HAS-THIS-1", 0), -ENOENT, "sated list");
    REFUSED(open_code("x210", 0), -ENOENT, "sim:x210");
    REFUSED(open_code("/dev/nosuchdrive", 0), -ENOENT, "sated list");
    REFUSED(open_code(in("missing"), 0), -ENOENT, "--create 1GiB");
    CHECK_EQ(sated_error_exit_code(detail.code, detail.layer), 2);
    REFUSED(open_code(tree_root, 0), SATED_PARSE, "is a directory");
    REFUSED(open_code("/dev/null", 0), SATED_PARSE, "character device");
    CHECK_EQ(mkfifo(in("pipe"), 0600), 0);
    REFUSED(open_code(in("pipe"), 0), SATED_PARSE, "pipe"); /* and does not hang */
    put(in("empty"), "");
    REFUSED(open_code(in("empty"), 0), SATED_PARSE, "is empty");
    CHECK_TEXT(detail.text, "create=");
    put(in("small"), "a few bytes");
    REFUSED(open_code(in("small"), 0), SATED_PARSE, "too small with 11 bytes");
    put_link(in("dangling"), "nowhere");
    REFUSED(open_code(in("dangling"), 0), -ENOENT, "no such file");
    REFUSED(open_code(in("small/below"), 0), -ENOTDIR, "folder");
    REFUSED(open_code("sim:x210", MIB), SATED_PARSE, "files only");
    CHECK_EQ(open_code("sim:x210,scale=1/64", 0), 0);

    /* A file whose name looks like a URI is found, as its name is there. */
    CHECK_EQ(chdir(tree_root), 0);
    make_file("odd:name", 8192);
    CHECK_EQ(open_code("odd:name", 0), 0);
    CHECK_EQ(open_code("./odd:name", 0), 0);

    struct sated_drive *d;
    struct sated_drive_options opt = {.size = 8}; /* of an older caller */
    CHECK_EQ(sated_drive_open(&d, "odd:name", &opt), 0);
    sated_drive_close(d);
    opt.size = sizeof opt + 8;
    REFUSED(sated_drive_open(&d, "odd:name", &opt), SATED_PARSE, "size");
    CHECK(d == NULL);
    sated_drive_close(NULL);
}

static void test_identity(void)
{
    struct sated_identity id;
    char *path = make_file("drive", MIB + 4096 + 700), type[64] = "";
    put_link(in("link"), "drive");
    struct sated_drive *d = open_drive("./link");
    CHECK_EQ(sated_drive_get_identity(d, &id), 0);
    CHECK_EQ(id.protocol, SATED_PROTOCOL_NONE);
    CHECK_EQ(id.flags, SATED_IDENTITY_FILE);
    CHECK_EQ(id.capacity_bytes, MIB + 4096); /* rounded down to 4096 */
    CHECK_EQ(id.native_capacity_bytes, MIB + 4096);
    CHECK(!strcmp(id.transport, "file"));
    CHECK(!strcmp(id.path, in("drive"))); /* the real path, not the link */
    CHECK(!strcmp(id.token, in("drive")));
    CHECK(id.serial[0] == '\0');
    CHECK_EQ(id.scale, 1);

    /* The file system by name: util-linux's findmnt is the witness. */
    char command[700];
    snprintf(command, sizeof command, "findmnt -no FSTYPE -T '%s' 2>/dev/null", path);
    FILE *f = popen(command, "r");
    if (f && fscanf(f, "%63s", type) == 1)
        CHECK(!strcmp(id.model, type));
    else
        printf("# skipped: findmnt is not there to compare the file system's name with\n");
    pclose(f);

    /* Direct I/O: what open(2) says, and statx(2)'s alignment is a power of two from 512 to 4096. */
    int fd = open(path, O_RDONLY | O_DIRECT);
    if (fd < 0)
        CHECK_TEXT(id.note, "page cache");
    CHECK(id.logical_block_bytes == 512 || id.logical_block_bytes == 1024 || id.logical_block_bytes == 2048 ||
          id.logical_block_bytes == 4096);
    CHECK_EQ(id.physical_block_bytes, 4096);
    if (fd >= 0)
        close(fd);

    bool direct = true;
    uint32_t alignment;
    CHECK_EQ(handle_lend(d, false, &direct, &alignment, &fd), 0);
    CHECK((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY);
    CHECK_EQ(!!(fcntl(fd, F_GETFL) & O_DIRECT), direct);
    CHECK_EQ(direct, id.note[0] == '\0' || strstr(id.note, "memory"));
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    if (direct) { /* the alignment is enough for an I/O */
        void *block = aligned_alloc(4096, 4096);
        CHECK_EQ(pread(fd, block, alignment, alignment), (ssize_t)alignment);
        free(block);
    }
    handle_return(fd);
    direct = false;
    CHECK_EQ(handle_lend(d, false, &direct, &alignment, &fd), 0);
    CHECK(!direct && !(fcntl(fd, F_GETFL) & O_DIRECT));
    handle_return(fd);

    /* What is lent is what was opened: another file under the same name is refused. */
    CHECK_EQ(rename(in("drive"), in("aside")), 0);
    REFUSED(handle_lend(d, false, &direct, &alignment, &fd), SATED_UNSAFE, "no longer what was opened");
    make_file("drive", MIB);
    REFUSED(handle_lend(d, false, &direct, &alignment, &fd), SATED_UNSAFE, "no longer what was opened");
    CHECK_EQ(fd, -1);
    struct sated_guard guard;
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(!guard.safe);
    REFUSED(sated_drive_permit(d, in("drive")), SATED_UNSAFE, "no longer what was opened");
    sated_drive_close(d);
}

/* How much of a file is data and not holes, by lseek(2). */
static uint64_t data_bytes(const char *path)
{
    int fd = open(path, O_RDONLY);
    off_t at = 0, end;
    uint64_t sum = 0;
    while ((at = lseek(fd, at, SEEK_DATA)) >= 0) {
        end = lseek(fd, at, SEEK_HOLE);
        sum += (uint64_t)(end - at);
        at = end;
    }
    close(fd);
    return sum;
}

static int purge(struct sated_drive *d, uint32_t method, struct sated_purge_result *result)
{
    struct sated_purge *p;
    struct sated_purge_options opt;
    sated_purge_options_init(&opt);
    opt.method = method;
    int rc = sated_purge_start(&p, d, &opt);
    CHECK((rc == 0) == (p != NULL));
    if (!rc)
        rc = sated_purge_wait(p, -1, result);
    sated_purge_free(p);
    return rc;
}

static void test_purge(void)
{
    struct sated_purge_result result;
    struct sated_provision provision;
    char *path = strdup(make_file("purged", MIB + 700));
    struct sated_drive *d = open_drive(path);
    REFUSED(purge(d, SATED_PURGE_AUTO, &result), SATED_UNSAFE, path);
    CHECK_EQ(data_bytes(path), MIB + 700);
    CHECK_EQ(sated_drive_permit(d, path), 0);
    REFUSED(purge(d, SATED_PURGE_SIMULATED, &result), SATED_UNSUPPORTED, "only simulated drives");
    REFUSED(purge(d, SATED_PURGE_LAST + 1, &result), SATED_PARSE, "12");
    d->busy = HANDLE_LOAD;
    REFUSED(purge(d, SATED_PURGE_AUTO, &result), SATED_STATE, "while a load runs");
    REFUSED(sated_provision_set(d, MIB / 2, NULL), SATED_STATE, "while a load runs");
    d->busy = HANDLE_IDLE;
    CHECK_EQ(data_bytes(path), MIB + 700);

    int rc = purge(d, SATED_PURGE_AUTO, &result);
    if (rc == SATED_UNSUPPORTED) {
        printf("# skipped: this file system cannot punch holes\n");
    } else {
        CHECK_EQ(rc, 0);
        CHECK_EQ(result.method, SATED_PURGE_DEALLOCATE);
        CHECK_EQ(result.verified, 1);
        CHECK(result.duration_ns > 0);
        CHECK_EQ(data_bytes(path), 0);
        struct stat st;
        CHECK(stat(path, &st) == 0 && st.st_size == (off_t)(MIB + 700)); /* as long as before */

        CHECK_EQ(sated_provision_set(d, MIB / 2, NULL), 0);
        CHECK_EQ(sated_provision_get(d, &provision), 0);
        CHECK_EQ(provision.purged_beyond, 1);
        int fd = open(path, O_WRONLY);
        CHECK(pwrite(fd, "x", 1, (off_t)(MIB / 2 - 1)) == 1); /* within the limit */
        fsync(fd);
        CHECK_EQ(sated_provision_get(d, &provision), 0);
        CHECK_EQ(provision.purged_beyond, 1);
        CHECK(pwrite(fd, "x", 1, (off_t)(MIB - 1)) == 1);
        fsync(fd);
        close(fd);
        CHECK_EQ(sated_provision_get(d, &provision), 0);
        CHECK_EQ(provision.purged_beyond, 0); /* an address range only */
        CHECK_EQ(purge(d, SATED_PURGE_DEALLOCATE, &result), 0);
        CHECK_EQ(data_bytes(path), 0); /* the whole drive, whatever its limit is */
    }
    sated_drive_close(d);
    free(path);

    d = open_drive("sim:x210,scale=1/64");
    CHECK_EQ(purge(d, SATED_PURGE_AUTO, &result), 0);
    CHECK_EQ(result.method, SATED_PURGE_SANITIZE_BLOCK);
    CHECK_EQ(result.verified, SATED_PURGE_GONE);
    REFUSED(purge(d, SATED_PURGE_SIMULATED, &result), SATED_UNSUPPORTED, "without commands");
    sated_drive_close(d);

    d = open_drive("sim:generic");
    CHECK_EQ(purge(d, SATED_PURGE_AUTO, &result), 0);
    CHECK_EQ(result.method, SATED_PURGE_SIMULATED);
    CHECK_EQ(result.verified, SATED_PURGE_GONE);
    REFUSED(purge(d, SATED_PURGE_DEALLOCATE, &result), SATED_UNSUPPORTED, "takes no commands");
    sated_drive_close(d);
    sated_purge_free(NULL);
}

static void test_provision(void)
{
    struct sated_provision p;
    struct sated_identity id;
    char *path = strdup(make_file("provisioned", MIB));
    struct sated_drive *d = open_drive(path);
    CHECK_EQ(sated_provision_get(d, &p), 0);
    CHECK_EQ(p.accessible_bytes, MIB);
    CHECK_EQ(p.native_bytes, MIB);
    CHECK_EQ(p.purged_beyond, 1);
    CHECK(p.lba_removed == 0 && isnan(p.op_of_user) && isnan(p.op_of_raw)); /* nobody knows a file's raw capacity */
    REFUSED(sated_provision_set(d, MIB / 2, NULL), SATED_UNSAFE, path);
    CHECK_EQ(sated_drive_permit(d, path), 0);
    REFUSED(sated_provision_set(d, 0, NULL), SATED_PARSE, "4096");
    REFUSED(sated_provision_set(d, 4097, NULL), SATED_PARSE, "4096");
    REFUSED(sated_provision_set(d, MIB + 4096, NULL), SATED_PARSE, "1048576");
    CHECK_EQ(sated_provision_set(d, MIB / 4 * 3, NULL), 0);
    CHECK_EQ(sated_provision_get(d, &p), 0);
    CHECK_EQ(p.accessible_bytes, MIB / 4 * 3);
    CHECK_EQ(p.native_bytes, MIB);
    CHECK_NEAR(p.lba_removed, 0.25, 1e-12);
    CHECK_EQ(p.purged_beyond, 0); /* the file is full */
    CHECK_EQ(sated_drive_get_identity(d, &id), 0);
    CHECK_EQ(id.capacity_bytes, MIB / 4 * 3);
    CHECK_EQ(id.native_capacity_bytes, MIB);
    CHECK_EQ(sated_provision_set(d, MIB, NULL), 0);
    CHECK_EQ(sated_provision_get(d, &p), 0);
    CHECK_EQ(p.accessible_bytes, MIB);
    sated_drive_close(d);
    free(path);

    d = open_drive("sim:x210,scale=1/64");
    CHECK_EQ(sated_drive_get_identity(d, &id), 0);
    uint64_t limit = id.native_capacity_bytes / 10 * 8 / 4096 * 4096;
    CHECK_EQ(sated_provision_set(d, limit, NULL), 0);
    CHECK_EQ(sated_provision_get(d, &p), 0);
    CHECK_EQ(p.accessible_bytes, limit);
    d->busy = HANDLE_LOAD; /* whose thread changes what would be looked at */
    REFUSED(sated_provision_get(d, &p), SATED_STATE, "while a load runs");
    d->busy = HANDLE_IDLE;
    CHECK_EQ(sated_provision_get(d, &p), 0);
    CHECK_EQ(p.purged_beyond, 1); /* nothing was written yet */
    CHECK_EQ(p.raw_bytes, id.raw_bytes);
    /* Case C46: two meanings, (T - U) / U and (T - U) / T; they differ by the factor T / U. */
    CHECK_NEAR(p.op_of_user, ((double)id.raw_bytes - (double)limit) / (double)limit, 1e-12);
    CHECK_NEAR(p.op_of_user / p.op_of_raw, (double)id.raw_bytes / (double)limit, 1e-12);
    sated_drive_close(d);
}

static void test_clock(void)
{
    struct timespec before, after;
    struct sated_drive *d = open_drive("sim:x210,scale=1/64");
    int64_t start = sated_drive_now_ns(d);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    CHECK_EQ(sated_drive_sleep(d, 40LL * 60 * 1000000000), 0); /* forty minutes, none of them ours */
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    int64_t slept = sated_drive_now_ns(d) - start;
    CHECK(slept >= 2400000000000 && slept < 2400000000000 + 64); /* to the drive's own nanosecond, times the scale */
    CHECK(after.tv_sec - before.tv_sec < 2);
    CHECK_EQ(sated_drive_sleep(d, -1), -EINVAL);
    CHECK_EQ(sated_drive_sleep(d, INT64_MAX), -EINVAL);
    d->busy = HANDLE_LOAD;
    REFUSED(sated_drive_sleep(d, 1), SATED_STATE, "load");
    struct sated_sim_counters counters;
    REFUSED(sated_sim_get_counters(d, &counters), SATED_STATE, "load");
    d->busy = HANDLE_IDLE;
    CHECK_EQ(sated_sim_get_counters(d, &counters), 0);
    CHECK_EQ(counters.scale, 64);

    CHECK_EQ(sated_sim_save(d, in("saved.sim")), 0);
    int64_t saved = sated_drive_now_ns(d);
    CHECK_EQ(sated_drive_sleep(d, 1000000000), 0);
    CHECK_EQ(sated_sim_restore(d, in("saved.sim")), 0);
    CHECK_EQ(sated_drive_now_ns(d), saved);
    put(in("notes.txt"), "a week of work");
    REFUSED(sated_sim_save(d, in("notes.txt")), SATED_UNSAFE, "holds something else");
    CHECK_EQ(access(in("notes.txt"), F_OK), 0);
    put(in("notes.txt"), "");
    CHECK_EQ(sated_sim_save(d, in("notes.txt")), 0);
    CHECK_EQ(sated_sim_save(d, in("notes.txt")), 0);
    CHECK_EQ(sated_sim_reset_counters(d), 0);
    CHECK_EQ(sated_sim_power_cycle(d), 0);
    sated_drive_close(d);

    CHECK_EQ(sated_sim_create("sim:x210,scale=1/64", in("made.sim")), 0);
    CHECK(access(in("made.sim"), R_OK) == 0);
    REFUSED(sated_sim_create("sim:x210,scale=1/64", in("made.sim")), -EEXIST, "exists already");
    REFUSED(sated_sim_create("x210", in("other.sim")), SATED_PARSE, "sim:x210");
    CHECK(access(in("other.sim"), F_OK) != 0);

    d = open_drive(make_file("awake", MIB));
    start = sated_drive_now_ns(d);
    CHECK_EQ(sated_drive_sleep(d, 3000000), 0);
    CHECK(sated_drive_now_ns(d) - start >= 3000000);
    REFUSED(sated_sim_get_counters(d, &counters), SATED_UNSUPPORTED, "simulated");
    REFUSED(sated_sim_save(d, in("x")), SATED_UNSUPPORTED, "simulated");
    REFUSED(sated_sim_power_cycle(d), SATED_UNSUPPORTED, "simulated");
    sated_drive_close(d);
}

int main(void)
{
    if (tree_begin())
        return 1;
    int before = descriptors();
    test_uris();
    test_identity();
    test_purge();
    test_provision();
    test_clock();
    CHECK_EQ(descriptors(), before);
    CHECK_EQ(chdir("/"), 0);
    tree_end();
    return check_done();
}
