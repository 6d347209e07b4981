/* SPDX-License-Identifier: MIT */
/* What a permit reaches: one namespace or all of a device, by which controller; what is no target; drives that were found
 * again, interrupted, or recorded with their machine. */
#define _GNU_SOURCE 1
#include "disks.h"

#include "drive/journal.h"
#include "transport/hold.h"

/* NVMe Base 2.0, FNA: a format of one namespace reaches all of them, or only where it erases (SES). */
static void test_format(void)
{
    for (unsigned fna = 0; fna < 4; fna++)
        for (unsigned ses = 0; ses < 3; ses++) {
            disks_new();
            disks[CTRL].fna = (uint8_t)fna;
            struct sated_drive *d = disk_open("nvme0n1");
            struct sated_nvme_command format = {.admin = true, .opcode = 0x80, .nsid = 1, .cdw10 = ses << 9};
            CHECK_EQ(sated_drive_permit(d, "SERIALN3:1"), 0);
            bool reaches_all = fna & 1 || (ses && fna & 2);
            CHECK_EQ(sated_nvme_admin_raw(d, &format, NULL, NULL), reaches_all ? SATED_UNSAFE : 0);
            CHECK_EQ(disks[CTRL].changed, reaches_all ? 0 : 1);
            format.nsid = 0xffffffff;
            CHECK_EQ(sated_nvme_admin_raw(d, &format, NULL, NULL), SATED_UNSAFE);
            format.nsid = 2;
            CHECK_EQ(sated_nvme_admin_raw(d, &format, NULL, NULL), SATED_UNSAFE);
            sated_drive_close(d);
        }
}

/* Partitions, mappings and loop devices of disks are no targets; a set is. */
static void test_targets(void)
{
    struct sated_guard guard;
    disks_new();
    partition();
    disks[LOOP] = (struct disk){.file = disks[SDA].file, .name = "sda1", .major = 8, .minor = 1, .sequence = 100};
    put(in("m/dev/sda1"), "");
    struct sated_drive *d = disk_open("sda1");
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK_TEXT(guard.reasons, "sda1 is a partition, and only whole disks are written to; open /dev/sda");
    CHECK_EQ(sated_drive_permit(d, "SERIALA1"), SATED_UNSAFE);
    CHECK_EQ(try_everything(d), 0);
    sated_drive_close(d);

    disks_new();
    put_block(DM, "virtual/block/dm-0", 253, 0);
    put_attribute("m", "dm-0", "dm/name", "vg-lv\n");
    d = disk_open("dm-0");
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK_TEXT(guard.reasons, "is a mapping");
    CHECK_EQ(try_everything(d), 0);
    sated_drive_close(d);

    put_block(LOOP, "virtual/block/loop3", 7, 3);
    put_attribute("m", "loop3", "loop/backing_file", "/dev/sdb\n");
    d = disk_open("loop3");
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK_TEXT(guard.reasons, "loop device of the block device sdb; open that");
    CHECK_EQ(try_everything(d), 0);
    sated_drive_close(d);

    put_block(MD, "virtual/block/md0", 9, 0);
    put_attribute("m", "md0", "md/uuid", "8f1e7a52-beef\n");
    put_attribute("m", "md0", "md/level", "raid0\n");
    d = disk_open("md0");
    CHECK_EQ(sated_drive_permit(d, "8f1e7a52-beef"), 0);
    CHECK_EQ(disks[MD].holders, 1);
    sated_drive_close(d);
}

/* Case C41 of the field cases: the number of a controller is not that of a namespace. The purge of nvme1 would hit
 * nvme4n1, and says so; a controller with two namespaces needs an explicit "all". */
static void test_controllers(void)
{
    struct sated_guard guard;
    disks_new();
    forget_tree(in("m/sys"));
    put_folder(in("m/sys/class/nvme"));
    put_block(NS1, "virtual/nvme-subsystem/nvme-subsys4/nvme4n1", 259, 4);
    put_block(NS2, "virtual/nvme-subsystem/nvme-subsys1/nvme1n1", 259, 1);
    put_serial("nvme4n1", "SERIALOFX\n");
    put_serial("nvme1n1", "SERIALOFY\n");
    put_attribute("m", "nvme4n1", "device/model", "Drive X\n");
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "nvme4" : "nvme1";
        put(in("m/sys/devices/pci0/nvme/%s/serial", name), i ? "SERIALOFY\n" : "SERIALOFX\n");
        put_folder(in("m/sys/devices/pci0/nvme/%s/%s", name, i ? "nvme1c4n1" : "nvme4c1n1"));
        put_link(in("m/sys/class/nvme/%s", name), in("m/sys/devices/pci0/nvme/%s", name));
        put_link(in("m/sys/devices/pci0/nvme/%s/subsystem", name), in("m/sys/class/nvme"));
        put_link(in("m/sys/dev/char/240:%d", i ? 4 : 1), in("m/sys/devices/pci0/nvme/%s", name));
        put(in("m/dev/%s", name), "");
    }
    snprintf(disks[CTRL].name, sizeof disks[CTRL].name, "nvme1");
    disks[CTRL].minor = 1;
    disks[DM] = (struct disk){.file = disks[DM].file, .name = "nvme4", .major = 240, .minor = 4, .character = true};

    struct sated_drive *d = disk_open("nvme1n1");
    CHECK_EQ(sated_drive_guard_whole(d, &guard), 0);
    CHECK_TEXT(guard.paths, "nvme4");
    CHECK(!strstr(guard.scope, "nvme4n1"));
    sated_drive_close(d);
    d = disk_open("nvme1");
    CHECK(!strcmp(d->node, "nvme4n1"));
    CHECK_EQ(sated_drive_guard_whole(d, &guard), 0);
    CHECK_TEXT(guard.scope, "/dev/nvme4n1 (Drive X, 0.0 GB, serial number SERIALOFX)");
    CHECK_EQ(sated_drive_permit(d, "SERIALOFY"), SATED_UNSAFE);
    CHECK_EQ(sated_drive_permit(d, "SERIALOFX"), 0);
    CHECK_EQ(disks[NS1].holders, 1);
    CHECK_EQ(disks[NS2].holders, 0);
    CHECK_EQ(try_everything(d), 6);
    CHECK_EQ(disks[DM].changed, 0);
    sated_drive_close(d);

    disks_new();
    d = disk_open("nvme0");
    struct sated_identity id;
    CHECK_EQ(sated_drive_get_identity(d, &id), 0);
    CHECK(!strcmp(id.token, "SERIALN3:all"));
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK_TEXT(guard.scope, "/dev/nvme0n1 (0.0 GB, serial number SERIALN3), /dev/nvme0n2");
    CHECK_EQ(sated_drive_permit(d, "SERIALN3"), SATED_UNSAFE);
    sated_detail_get(&detail);
    CHECK_TEXT(detail.text, "type SERIALN3:all");
    CHECK_EQ(try_everything(d), 0);
    CHECK_EQ(sated_drive_permit(d, "SERIALN3:all"), 0);
    CHECK_EQ(disks[NS1].holders + disks[NS2].holders, 2);
    sated_drive_close(d);
    mounted_as("self/mountinfo", "259:1", "/dev/nvme0n2");
    d = disk_open("nvme0");
    CHECK_EQ(sated_drive_permit(d, "SERIALN3:all"), SATED_UNSAFE);
    CHECK_EQ(try_everything(d), 0);
    CHECK_EQ(disks[CTRL].changed, 0);
    sated_drive_close(d);
}

/* Case C08: the whole disk by sysfs and never by the digits of a name, as the guard sees it. */
static void test_digits(void)
{
    static const struct {
        const char *disk, *partition, *number;
    } pairs[] = {
        {"pci0/nvme/nvme10/nvme10n1", "nvme10n1p6", "259:36"},
        {"platform/mmc_host/mmc0/block/mmcblk0", "mmcblk0p1", "179:1"},
        {"pci0/ata1/host9/block/sdp", "sdp21", "65:5"},
        {"virtual/block/loop12", "loop12p3", "259:20"},
        {"virtual/block/md127", "md127p1", "259:21"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct sated_guard guard;
        char place[200];
        disks_new();
        put_block(LOOP, pairs[i].disk, 300, (unsigned)i);
        if (!strcmp(disks[LOOP].name, "loop12"))
            put_attribute("m", "loop12", "loop/backing_file", "/srv/image\n");
        snprintf(place, sizeof place, "%s/%s", pairs[i].disk, pairs[i].partition);
        put_device("m", place, pairs[i].number, 1, 2048);
        mounted_as("self/mountinfo", pairs[i].number, "/dev/root");
        struct sated_drive *d = disk_open(disks[LOOP].name);
        CHECK_EQ(sated_drive_guard(d, &guard), 0);
        CHECK(!guard.safe);
        CHECK_TEXT(guard.reasons, pairs[i].partition);
        CHECK_TEXT(guard.reasons, "is mounted on /srv");
        CHECK_EQ(try_everything(d), 0);
        sated_drive_close(d);
    }
}

static ssize_t no_read(int fd, void *data, size_t n, uint64_t offset)
{
    (void)fd, (void)data, (void)n, (void)offset;
    return -EIO;
}

static int no_blkid(int fd, void (*found)(const char *name, void *user), void *user)
{
    (void)fd, (void)found, (void)user;
    return -EIO;
}

/* Unsure means refused: a disk that cannot be read, or a library that fails. */
static void test_unsure(void)
{
    struct sated_guard guard;
    disks_new();
    struct calls before = calls;
    struct sated_drive *d = disk_open("sda");
    calls.read = no_read;
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(!guard.safe && !guard.wipeable);
    CHECK_TEXT(guard.reasons, "cannot be looked into");
    CHECK_EQ(sated_drive_permit(d, "SERIALA1"), SATED_UNSAFE);
    calls = before;
    calls.blkid = no_blkid;
    CHECK_EQ(sated_drive_permit(d, "SERIALA1"), SATED_UNSAFE);
    calls = before;
    CHECK_EQ(sated_drive_permit(d, "SERIALA1"), 0);
    sated_drive_close(d);
}

/* Root file system on nvme0n1, purge asked on nvme0n2: a replayed drive with a recorded machine. No command is sent: the
 * file has no exchange at all, so any would fail otherwise than by the guard. */
static void test_replay(void)
{
    struct sated_drive *d;
    struct sated_guard guard;
    struct sated_reply reply;
    disks_new();
    mounted_as("self/mountinfo", "259:0", "/dev/nvme0n1");
    forget_tree(in("recorded"));
    CHECK_EQ(rename(in("m"), in("recorded")), 0);
    char from[700], command[2000];
    snprintf(from, sizeof from, "%s", in("m"));
    snprintf(command, sizeof command,
             "cd '%s' && find . -type l | while read l; do t=$(readlink \"$l\"); case \"$t\" in "
             "'%s'/*) ln -sfn \"%s${t#'%s'}\" \"$l\";; esac; done",
             in("recorded"), from, in("recorded"), from);
    CHECK_EQ(system(command), 0);
    put(in("replay.json"),
        "{\"sated_replay\": 1, \"protocol\": \"nvme\", \"node\": \"nvme0n2\", \"root\": \"recorded\","
        " \"exchanges\": []}");
    char uri[700];
    snprintf(uri, sizeof uri, "replay:%s", in("replay.json"));
    CHECK_EQ(sated_drive_open(&d, uri, NULL), 0);
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(guard.safe && !guard.needs_token);
    CHECK_EQ(sated_drive_guard_whole(d, &guard), 0);
    CHECK(!guard.safe);
    CHECK_TEXT(guard.reasons, "nvme0n1 is mounted on /srv");
    struct sated_nvme_command sanitize = {.admin = true, .opcode = 0x84, .cdw10 = 2};
    CHECK_EQ(sated_nvme_admin_raw(d, &sanitize, NULL, &reply), SATED_UNSAFE); /* the guard has not been asked yet */
    CHECK_EQ(handle_need_permit(d, HANDLE_BLOCKS, "writing"), SATED_UNSAFE);
    CHECK_EQ(sated_drive_permit(d, NULL), 0);
    CHECK_EQ(handle_need_permit(d, HANDLE_BLOCKS, "writing"), 0);
    CHECK_EQ(handle_need_permit(d, HANDLE_DRIVE, "erasing"), SATED_UNSAFE);
    sated_detail_get(&detail);
    CHECK_TEXT(detail.text, "nvme0n1 is mounted on /srv");
    CHECK_EQ(sated_nvme_admin_raw(d, &sanitize, NULL, &reply), SATED_UNSAFE);
    sated_drive_close(d);

    /* The drive of the root file system itself, and a machine in which nothing uses either. */
    put(in("replay.json"),
        "{\"sated_replay\": 1, \"protocol\": \"nvme\", \"node\": \"nvme0n1\", \"root\": \"recorded\","
        " \"exchanges\": []}");
    CHECK_EQ(sated_drive_open(&d, uri, NULL), 0);
    CHECK_EQ(sated_drive_permit(d, NULL), SATED_UNSAFE);
    CHECK_EQ(handle_need_permit(d, HANDLE_DRIVE, "erasing"), SATED_UNSAFE);
    sated_drive_close(d);
    put(in("recorded/proc/self/mountinfo"), "22 1 0:20 / / rw - tmpfs none rw\n");
    CHECK_EQ(sated_drive_open(&d, uri, NULL), 0);
    CHECK_EQ(sated_drive_permit(d, NULL), 0);
    CHECK_EQ(handle_need_permit(d, HANDLE_DRIVE, "erasing"), 0);
    sated_drive_close(d);

    static const char *const wrong[] = {"\"node\": \"nvme0n2\"", "\"root\": \"recorded\"",
                                        "\"node\": \"sdq\", \"root\": \"recorded\"",
                                        "\"node\": \"nvme0n2\", \"root\": \"nowhere\""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[300];
        snprintf(text, sizeof text, "{\"sated_replay\": 1, \"protocol\": \"nvme\", %s, \"exchanges\": []}", wrong[i]);
        put(in("replay.json"), text);
        CHECK(sated_drive_open(&d, uri, NULL) < 0);
    }
}

/* An interrupted purge: what would finish it is permitted, a load is not, until it is finished. */
static void test_unfinished(void)
{
    struct journal *j;
    struct sated_guard guard;
    bool direct = false;
    uint32_t alignment;
    int fd;
    static const char *const operations[] = {"purge", "capacity", "settings"};
    for (int i = 0; i < 3; i++) {
        disks_new();
        struct sated_drive *d = disk_open("sda");
        CHECK_EQ(journal_start(&j, d, operations[i], "{}"), 0);
        CHECK_EQ(journal_step(j, "SANITIZE"), 0);
        journal_leave(j); /* and the process ends */
        sated_drive_close(d);
        d = disk_open("sda");
        CHECK_EQ(sated_drive_guard(d, &guard), 0);
        CHECK_EQ(guard.safe, i == 2); /* settings are told elsewhere, and stand against nothing */
        CHECK(!guard.wipeable);
        if (i < 2) {
            char says[60];
            snprintf(says, sizeof says, "sated %s DRIVE --resume first", operations[i]);
            CHECK_TEXT(guard.reasons, says);
        }
        CHECK_EQ(sated_drive_permit(d, "SERIALA1"), 0);
        CHECK_EQ(handle_need_permit(d, HANDLE_DRIVE, "erasing"), 0);
        CHECK_EQ(handle_lend(d, true, &direct, &alignment, &fd), i < 2 ? SATED_UNSAFE : 0);
        handle_return(i < 2 ? -1 : fd);
        CHECK_EQ(journal_find(&j, d, operations[i]), 1);
        CHECK_EQ(journal_finish(j), 0);
        CHECK_EQ(handle_lend(d, true, &direct, &alignment, &fd), 0);
        handle_return(fd);
        CHECK_EQ(sated_drive_guard(d, &guard), 0);
        CHECK(guard.safe);
        sated_drive_close(d);
    }
}

/* Found again under another name, as after a rescan: held anew if it is the same drive, and let go if it is not. */
static void test_renewed(void)
{
    for (int same = 0; same < 2; same++) {
        disks_new();
        struct sated_drive *d = disk_open("sda");
        CHECK_EQ(sated_drive_permit(d, "SERIALA1"), 0);
        disks[SDA].name[0] = '\0';
        put_block(LOOP, "pci0/host0/target0:0:0/0:0:0:0/block/sdc", 8, 32);
        disks[LOOP].file = disks[SDA].file;
        put_serial("sdc", same ? "SERIALA1\n" : "SERIALX9\n");
        calls.close(d->fd);
        d->fd = calls.open(in("m/dev/sdc"), O_RDONLY);
        d->device = makedev(8, 32);
        snprintf(d->node, sizeof d->node, "sdc");
        snprintf(d->path, sizeof d->path, "%s", in("m/dev/sdc"));
        CHECK_EQ(hold_renew(d, hold_terms(d)), same ? 0 : SATED_UNSAFE);
        CHECK_EQ(disks[LOOP].holders, same);
        CHECK_EQ(disks[SDA].holders, 0);
        CHECK_EQ(handle_need_permit(d, HANDLE_DRIVE, "erasing"), same ? 0 : SATED_UNSAFE);
        CHECK_EQ(try_everything(d), same ? 6 : 0);
        sated_drive_close(d);
    }
}

int main(void)
{
    if (tree_begin())
        return 1;
    setenv("SATED_STATE_DIR", in("state"), 1);
    disks_begin();
    test_format();
    test_targets();
    test_controllers();
    test_digits();
    test_unsure();
    test_unfinished();
    test_renewed();
    test_replay();
    tree_end();
    return check_done();
}
