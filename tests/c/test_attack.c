/* SPDX-License-Identifier: MIT */
/* Attempts to make it write to a bystander: the machine changes at each moment between opening and use, tokens are wrong
 * or someone else's, commands name other namespaces. Each must fail, and every byte of the bystander stays as it is. */
#define _GNU_SOURCE 1
#include "disks.h"

#include <sated/load.h>
#include <sated/workload.h>

/* ---- What changes ---- */

/* The node now leads to the bystander. */
static void node_swapped(void)
{
    snprintf(disks[SDA].name, sizeof disks[SDA].name, "gone");
    snprintf(disks[SDB].name, sizeof disks[SDB].name, "sda");
}

/* sda is gone, and the bystander has its name and numbers, as after a reset of the bus. */
static void renumber(const char *serial, bool same_sequence)
{
    char sequence[24];
    snprintf(disks[SDA].name, sizeof disks[SDA].name, "%s", "");
    snprintf(disks[SDB].name, sizeof disks[SDB].name, "sda");
    disks[SDB].major = 8;
    disks[SDB].minor = 0;
    if (same_sequence)
        disks[SDB].sequence = disks[SDA].sequence;
    snprintf(sequence, sizeof sequence, "%d\n", (int)disks[SDB].sequence);
    put_attribute("m", "sda", "diskseq", sequence);
    put_serial("sda", serial);
}

static void renumbered(void)
{
    renumber("SERIALB2\n", false);
}
static void renumbered_same_sequence(void)
{
    renumber("SERIALB2\n", true);
}
static void renumbered_same_serial(void)
{
    renumber("SERIALA1\n", false);
} /* a twin */
static void renumbered_no_serial(void)
{
    renumber("\n", false);
}

/* The kernel is older than diskseq, so that only numbers and serial number can tell. */
static void renumbered_old_kernel(void)
{
    for (int i = 0; i < N_DISKS; i++)
        disks[i].sequence = 0;
    renumber("SERIALB2\n", true);
    unlink(in("m/sys/class/block/sda/diskseq"));
}

static void sequence_changed(void)
{
    disks[SDA].sequence = 4711;
    put_attribute("m", "sda", "diskseq", "4711\n");
}

/* The kernel knows, sysfs does not yet. */
static void sequence_changed_behind(void)
{
    disks[SDA].sequence = 4711;
}

static void serial_changed(void)
{
    put_serial("sda", "SERIALX9\n");
}
static void sysfs_gone(void)
{
    unlink(in("m/sys/class/block/sda")), unlink(in("m/sys/dev/block/8:0"));
}

/* sysfs has another disk under the numbers. */
static void sysfs_swapped(void)
{
    unlink(in("m/sys/dev/block/8:0"));
    put_link(in("m/sys/dev/block/8:0"), in("m/sys/devices/pci0/host1/target1:0:0/1:0:0:0/block/sdb"));
}

static void node_gone(void)
{
    disks[SDA].name[0] = '\0', unlink(in("m/dev/sda"));
}

static void mounted(void)
{
    put(in("m/proc/self/mountinfo"), "22 1 0:20 / / rw - tmpfs none rw\n36 22 8:0 / /srv rw - ext4 /dev/sda rw\n");
}

static void became_member(void)
{
    put_device("m", "virtual/block/md127", "9:127", 0, SECTORS);
    put_folder(in("m/sys/class/block/sda/holders/md127"));
}

static void got_signature(void)
{
    disk_put(SDA, 0, "XFSB", 4);
}
static void write_protected(void)
{
    disks[SDA].error = EROFS;
}
static void taken(void)
{
    disks[SDA].error = EBUSY;
}

static const struct change {
    const char *name;
    void (*make)(void);
    bool until_held; /* the kernel lets it happen only while nobody holds the disk */
} changes[] = {
    {"the node leads to the bystander", node_swapped, false},
    {"the bystander has its numbers", renumbered, false},
    {"the bystander has its numbers and sequence", renumbered_same_sequence, false},
    {"the bystander has its numbers and serial number", renumbered_same_serial, false},
    {"the bystander has its numbers and no serial number", renumbered_no_serial, false},
    {"the bystander has its numbers, before diskseq", renumbered_old_kernel, false},
    {"another sequence", sequence_changed, false},
    {"another sequence, not in sysfs", sequence_changed_behind, false},
    {"another serial number", serial_changed, false},
    {"sysfs without it", sysfs_gone, false},
    {"sysfs has another under its numbers", sysfs_swapped, false},
    {"the node is gone", node_gone, false},
    {"mounted", mounted, true},
    {"member of a set", became_member, true},
    {"a file system", got_signature, true},
    {"write-protected", write_protected, true},
    {"opened exclusively", taken, true},
};

/* ---- When ---- */

static const struct change *now;
static int moment; /* which open of the disk, from its opening for writing on */

static void change(void)
{
    const struct change *c = now;
    now = NULL;
    if (c)
        c->make();
}

static void at_write(const char *path, int flags)
{
    (void)path;
    if ((flags & O_ACCMODE) != O_RDONLY && --moment < 0)
        change();
}

enum when { BEFORE_PERMIT, BEFORE_HOLD, AFTER_HOLD, AFTER_PERMIT, BEFORE_LEND, AFTER_LEND, WHENS };
static const char *const when_names[] = {"before the permit", "at the exclusive open", "right after it",
                                         "after the permit",  "at the load's open",    "right after that"};

static void start_load(struct sated_drive *d)
{
    struct sated_workload w;
    struct sated_load_options opt;
    struct sated_load *l = NULL;
    sated_workload_init(&w);
    sated_load_options_init(&opt);
    opt.ios = 16;
    opt.engine = SATED_ENGINE_THREADS;
    opt.without = SATED_WITHOUT_ENVIRONMENT | SATED_WITHOUT_HISTOGRAMS;
    CHECK_EQ(sated_workload_set(&w, "op", "randwrite"), 0);
    if (sated_load_start(&l, &d, 1, &w, &opt) == 0)
        while (sated_load_wait(l, 1000000000) == 1)
            ;
    sated_load_free(l);
}

/* Of each change at each moment: nothing of the bystander changes, no command reaches it, and where the machine is not
 * what it was, nothing at all goes through. */
static int test_moments(void)
{
    int attempts = 0;
    for (size_t c = 0; c < sizeof changes / sizeof *changes; c++)
        for (int when = 0; when < WHENS; when++) {
            int failed = check_failed, rc = 0;
            if (changes[c].until_held && when >= AFTER_PERMIT)
                continue;
            if (changes[c].make == taken && when == AFTER_HOLD)
                continue; /* it is ours already */
            attempts++;
            disks_new();
            struct sated_drive *d = disk_open("sda");
            now = &changes[c];
            moment = 0;
            if (when == BEFORE_PERMIT)
                change();
            before_open = when == BEFORE_HOLD ? at_write : NULL;
            after_open = when == AFTER_HOLD ? at_write : NULL;
            rc = sated_drive_permit(d, "SERIALA1");
            bool late =
                changes[c].make == write_protected && when == AFTER_HOLD; /* it was opened for writing by then */
            CHECK_EQ(rc == 0, when >= AFTER_PERMIT || late);
            before_open = after_open = NULL;
            if (when == AFTER_PERMIT)
                change();
            before_open = when == BEFORE_LEND ? at_write : NULL;
            after_open = when == AFTER_LEND ? at_write : NULL;
            if (when < BEFORE_LEND && !late)
                CHECK_EQ(try_everything(d), 0);
            if (when >= BEFORE_LEND) {
                bool direct = false;
                uint32_t alignment;
                int fd;
                /* What is held leads to the disk itself, whatever its node is by then. */
                bool same = changes[c].make == node_swapped || changes[c].make == node_gone;
                int lent = handle_lend(d, true, &direct, &alignment, &fd);
                CHECK(lent < 0 || (same && opened_as[fd].disk == &disks[SDA]));
                handle_return(lent < 0 ? -1 : fd);
                CHECK_EQ(try_everything(d), 0);
            }
            start_load(d);
            before_open = after_open = NULL;
            CHECK(disk_is(SDB, BYSTANDER));
            CHECK_EQ(disks[SDB].changed, 0);
            CHECK(late || disks[SDA].changed == 0);
            if (check_failed > failed)
                printf("# %s, %s: permit %d\n", changes[c].name, when_names[when], rc);
            sated_drive_close(d);
        }
    return attempts;
}

/* The drive is gone, and when it is looked for a bystander has its serial number, as many a USB bridge gives the same one to
 * each drive. */
static int test_same_bridge(void)
{
    static const char *const places[] = {"usb1/1-1/1-1:1.0/host0/target0:0:0/0:0:0:0/block/",
                                         "usb1/1-2/1-2:1.0/host1/target1:0:0/1:0:0:0/block/"};
    int attempts = 0;
    for (int same_name = 0; same_name < 2; same_name++, attempts++) {
        char place[100];
        disks_new();
        sysfs_gone();
        unlink(in("m/sys/block/sda"));
        snprintf(place, sizeof place, "%ssda", places[0]);
        put_block(SDA, place, 8, 0);
        put_serial("sda", "0123456789AB\n");
        struct sated_drive *d = disk_open("sda");
        CHECK(!strcmp(d->identity.transport, "usb"));
        CHECK_EQ(sated_drive_permit(d, "0123456789AB"), 0);
        sysfs_gone();
        disks[SDA].name[0] = '\0';
        snprintf(place, sizeof place, "%s%s", places[1], same_name ? "sda" : "sdb");
        unlink(in("m/sys/class/block/sdb")), unlink(in("m/sys/block/sdb")), unlink(in("m/sys/dev/block/8:16"));
        unlink(in("m/sys/block/sda"));
        put_block(SDB, place, 8, same_name ? 0 : 16);
        put_serial(same_name ? "sda" : "sdb", "0123456789AB\n");
        CHECK_EQ(sated_drive_refresh(d), SATED_UNSAFE);
        sated_detail_get(&detail);
        CHECK_TEXT(detail.text, "open it anew");
        CHECK(!d->permitted && !d->permitted_whole);
        CHECK_EQ(try_everything(d), 0);
        CHECK(disk_is(SDB, BYSTANDER));
        CHECK_EQ(disks[SDB].changed, 0);
        sated_drive_close(d);
    }
    return attempts;
}

/* The bystander is a namespace that only another host's controller has: nothing in sysfs tells of it. */
static int test_unseen_namespace(void)
{
    static const struct sated_nvme_command sanitize = {.admin = true, .opcode = 0x84, .cdw10 = 2},
                                           format = {.admin = true, .opcode = 0x80, .nsid = 1, .cdw10 = 1 << 9};
    for (int attached = 0; attached < 2; attached++) {
        disks_new();
        disks[CTRL].oacs = 8;
        disks[CTRL].unseen = 7;
        disks[CTRL].attached = (uint8_t)attached;
        struct sated_drive *d = disk_open("nvme0n1");
        CHECK_EQ(sated_drive_permit(d, "SERIALN3:1"), 0); /* its own blocks are its own */
        CHECK_EQ(sated_nvme_admin_raw(d, &sanitize, NULL, NULL), SATED_UNSAFE);
        CHECK_EQ(sated_drive_permit(d, "SERIALN3:all"), attached ? SATED_UNSAFE : 0);
        sated_detail_get(&detail);
        if (attached)
            CHECK_TEXT(detail.text, "namespace 7 too");
        CHECK_EQ(sated_nvme_admin_raw(d, &sanitize, NULL, NULL), attached ? SATED_UNSAFE : 0);
        disks[CTRL].fna = 3;
        CHECK_EQ(sated_nvme_admin_raw(d, &format, NULL, NULL), attached ? SATED_UNSAFE : 0);
        sated_drive_close(d);
    }
    return 3;
}

/* A set is confirmed with the members that it has then: the bystander becomes one, or takes a member's name. */
static int test_set_grows(void)
{
    for (int added = 0; added < 2; added++) {
        disks_new();
        put_block(MD, "virtual/block/md127", 9, 127);
        put_attribute("m", "md127", "md/level", "raid0\n");
        put_attribute("m", "md127", "md/uuid", "01234567-89ab-cdef-0123-456789abcdef\n");
        put_folder(in("m/sys/class/block/md127/slaves/sda"));
        struct sated_drive *d = disk_open("md127");
        CHECK_EQ(sated_drive_permit(d, "01234567-89ab-cdef-0123-456789abcdef"), 0);
        CHECK_EQ(handle_check_same(d), 0);
        if (added)
            put_folder(in("m/sys/class/block/md127/slaves/sdb"));
        else
            put_attribute("m", "sda", "diskseq", "4711\n");
        CHECK_EQ(try_everything(d), 0);
        CHECK_EQ(handle_check_same(d), SATED_UNSAFE);
        sated_detail_get(&detail);
        CHECK_TEXT(detail.text, "its members are no longer");
        sated_drive_close(d);
    }
    return 2;
}

/* ---- Consent ---- */

static int test_tokens(void)
{
    static const char *const wrong[] = {
        NULL,           "",           "SERIALB2",   "seriala1",
        "SERIALA",      "SERIALA1 ",  " SERIALA1",  "SERIALA1\n",
        "SERIALA11",    "SERIALA1:1", "SERIALN3:1", "SERIALN3",
        "SERIALN3:all", "sda",        "/dev/sda",   "*",
        "all",          ":all",       "SERIALA1:",  "naa.500000000",
        "SERIALA1\xff", "S?RIALA1",   "yes",        "serial:SERIALA1",
    };
    int attempts = 0;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++, attempts++) {
        disks_new();
        struct sated_drive *d = disk_open("sda");
        CHECK_EQ(sated_drive_permit(d, wrong[i]), SATED_UNSAFE);
        CHECK_EQ(sated_drive_wipe_signatures(d, wrong[i]), SATED_UNSAFE);
        CHECK_EQ(try_everything(d), 0);
        CHECK_EQ(disks[SDA].changed + disks[SDB].changed, 0);
        CHECK(disk_is(SDA, 0) && disk_is(SDB, BYSTANDER));
        sated_drive_close(d);
    }
    /* A permit is of a handle: another handle of the same drive, or of the bystander, gets nothing of it. */
    disks_new();
    struct sated_drive *d = disk_open("sda"), *other = disk_open("sdb"), *again = disk_open("sda");
    CHECK_EQ(sated_drive_permit(d, "SERIALA1"), 0);
    CHECK_EQ(try_everything(other), 0);
    CHECK_EQ(try_everything(again), 0);
    CHECK_EQ(sated_drive_permit(other, "SERIALA1"), SATED_UNSAFE);
    CHECK_EQ(sated_drive_permit(again, "SERIALA1"), SATED_UNSAFE); /* held by the first */
    CHECK_EQ(sated_drive_permit(d, "SERIALB2"), SATED_UNSAFE);     /* a second, wrong token is not overlooked */
    CHECK(disk_is(SDB, BYSTANDER));
    CHECK_EQ(disks[SDB].changed, 0);
    attempts += 5;
    sated_drive_close(again);
    sated_drive_close(other);
    sated_drive_close(d);
    return attempts;
}

/* ---- The other namespace is the bystander ---- */

static void no_path(void)
{
    mounted();
    put(in("m/proc/self/mountinfo"), "36 22 259:1 / / rw - ext4 /dev/nvme0n2 rw\n");
}

static int test_namespaces(void)
{
    static const struct sated_nvme_command reaching[] = {
        {.admin = true, .opcode = 0x84, .cdw10 = 2},         /* Sanitize, block erase */
        {.admin = true, .opcode = 0x84, .cdw10 = 4},         /* crypto erase */
        {.admin = true, .opcode = 0x84, .cdw10 = 1},         /* exit failure mode */
        {.admin = true, .opcode = 0x80, .nsid = 0xffffffff}, /* Format of all */
        {.admin = true, .opcode = 0x80, .nsid = 2},          /* of the other */
        {.admin = true, .opcode = 0x80, .nsid = 0},
        {.admin = true, .opcode = 0x0d, .nsid = 2, .cdw10 = 1}, /* delete it */
        {.admin = true, .opcode = 0x0d, .nsid = 1, .cdw10 = 1}, /* and our own: it takes room from all */
        {.admin = true, .opcode = 0x0d, .nsid = 0xffffffff, .cdw10 = 1},
        {.admin = true,
         .opcode = 0x15,
         .nsid = 2,
         .cdw10 = 1,
         .direction = SATED_DATA_OUT,
         .data_len = 4096},                                                                /* detach */
        {.admin = true, .opcode = 0x10, .cdw10 = 8},                                       /* commit a firmware */
        {.admin = true, .opcode = 0x09, .nsid = 2, .cdw10 = 6},                            /* Set Features */
        {.admin = true, .opcode = 0x81},                                                   /* Security Send */
        {.admin = true, .opcode = 0xc1},                                                   /* the vendor's */
        {.opcode = 0x08, .nsid = 2},                                                       /* Write Zeroes */
        {.opcode = 0x09, .nsid = 0xffffffff, .direction = SATED_DATA_OUT, .data_len = 16}, /* Dataset Management */
        {.opcode = 0x04, .nsid = 2},                                                       /* Write Uncorrectable */
        {.opcode = 0x00, .nsid = 0xffffffff},                                              /* Flush */
        {.opcode = 0x11, .nsid = 1, .direction = SATED_DATA_OUT, .data_len = 16},          /* Reservation Acquire */
        {.opcode = 0xff, .nsid = 1},
    };
    int attempts = 0;
    for (size_t i = 0; i < sizeof reaching / sizeof *reaching; i++, attempts++)
        for (int fna = 0; fna < 4; fna += 3) {
            disks_new();
            no_path();
            disks[CTRL].fna = (uint8_t)fna;
            struct sated_drive *d = disk_open("nvme0n1");
            CHECK_EQ(sated_drive_permit(d, "SERIALN3:1"), 0);
            static uint8_t out[4096];
            int rc = reaching[i].admin ? sated_nvme_admin_raw(d, &reaching[i], out, NULL)
                                       : sated_nvme_io_raw(d, &reaching[i], out, NULL);
            if (rc != SATED_UNSAFE) {
                sated_detail_get(&detail);
                printf("# command %zu: %s\n", i, detail.text);
            }
            CHECK_EQ(rc, SATED_UNSAFE);
            CHECK_EQ(disks[CTRL].changed + disks[NS1].changed + disks[NS2].changed, 0);
            CHECK_EQ(sated_drive_permit(d, "SERIALN3:all"), SATED_UNSAFE); /* the other is mounted */
            CHECK_EQ(disks[NS2].holders, 0);
            CHECK_EQ(disks[NS1].holders, 1); /* what was permitted before stays */
            sated_drive_close(d);
        }

    /* It appears once all of the device is permitted: on a drive whose only namespace that was, and on one of two. */
    disks_new();
    forget_tree(in("m/sys/devices/pci0/nvme/nvme0/nvme0n2"));
    unlink(in("m/sys/class/block/nvme0n2"));
    unlink(in("m/sys/block/nvme0n2"));
    unlink(in("m/sys/dev/block/259:1"));
    struct sated_nvme_command sanitize = {.admin = true, .opcode = 0x84, .cdw10 = 2};
    struct sated_drive *d = disk_open("nvme0n1");
    CHECK_EQ(sated_drive_permit(d, "SERIALN3"), 0); /* alone, it has no number in its token */
    CHECK_EQ(sated_nvme_admin_raw(d, &sanitize, NULL, NULL), 0);
    CHECK_EQ(disks[CTRL].changed, 1);
    put_block(NS2, "pci0/nvme/nvme0/nvme0n2", 259, 1);
    put_serial("nvme0n2", "SERIALN3\n");
    CHECK_EQ(sated_nvme_admin_raw(d, &sanitize, NULL, NULL), SATED_UNSAFE);
    sated_detail_get(&detail);
    CHECK_TEXT(detail.text, "/dev/nvme0n2 has appeared on the same device");
    CHECK_EQ(disks[CTRL].changed, 1);
    sated_drive_close(d);
    attempts++;

    /* The other one of two is replaced while both are held. */
    disks_new();
    d = disk_open("nvme0n1");
    CHECK_EQ(sated_drive_permit(d, "SERIALN3:all"), 0);
    put_attribute("m", "nvme0n2", "diskseq", "4711\n");
    CHECK_EQ(sated_nvme_admin_raw(d, &sanitize, NULL, NULL), SATED_UNSAFE);
    CHECK_EQ(disks[CTRL].changed, 0);
    sated_drive_close(d);

    /* Its node leads elsewhere, so that the wrong disk would be held for it. */
    disks_new();
    d = disk_open("nvme0n1");
    disks[NS2].minor = 9;
    CHECK_EQ(sated_drive_permit(d, "SERIALN3:all"), SATED_UNSAFE);
    CHECK_EQ(disks[NS1].holders + disks[NS2].holders, 0);
    sated_drive_close(d);
    return attempts + 2;
}

/* ---- Logical units of one target ---- */

static int test_units(void)
{
    struct sated_scsi_command format = {.cdb = {0x04}, .cdb_len = 6}, sanitize = {.cdb = {0x48, 2}, .cdb_len = 10},
                              stop = {.cdb = {0x1b}, .cdb_len = 6}, vendor = {.cdb = {0xc0}, .cdb_len = 6},
                              ata = {.cdb = {0x85, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf4}, .cdb_len = 16},
                              unmap = {.cdb = {0x42}, .cdb_len = 10};
    const struct sated_scsi_command *const reaching[] = {&format, &sanitize, &stop, &vendor, &ata};
    int attempts = 0;
    disks_new();
    put_block(LOOP, "pci0/host0/target0:0:0/0:0:0:1/block/sdc", 8, 32);
    put_link(in("m/sys/devices/pci0/host0/target0:0:0/0:0:0:1/block/sdc/device"),
             in("m/sys/devices/pci0/host0/target0:0:0/0:0:0:1"));
    put(in("m/sys/devices/pci0/host0/target0:0:0/0:0:0:1/scsi_level"), "6\n");
    put_serial("sdc", "SERIALC1\n");
    put(in("m/proc/self/mountinfo"), "36 22 8:32 / / rw - ext4 /dev/sdc rw\n");
    struct sated_drive *d = disk_open("sda");
    CHECK_EQ(sated_drive_permit(d, "SERIALA1"), 0);
    CHECK_EQ(sated_scsi_raw(d, &unmap, NULL, NULL), 0); /* of its own blocks */
    for (size_t i = 0; i < sizeof reaching / sizeof *reaching; i++, attempts++)
        CHECK_EQ(sated_scsi_raw(d, reaching[i], NULL, NULL), SATED_UNSAFE);
    CHECK_EQ(disks[SDA].changed, 1);
    CHECK_EQ(sated_drive_permit(d, "SERIALA1:all"), SATED_UNSAFE);
    sated_detail_get(&detail);
    CHECK_TEXT(detail.text, "sdc is mounted on /");
    sated_drive_close(d);
    return attempts + 1;
}

int main(void)
{
    if (tree_begin())
        return 1;
    setenv("SATED_STATE_DIR", in("state"), 1);
    disks_begin();
    int attempts = test_moments() + test_same_bridge() + test_set_grows() + test_unseen_namespace() + test_tokens() +
                   test_namespaces() + test_units();
    printf("# %d attempts\n", attempts);
    CHECK(attempts >= 50);
    tree_end();
    return check_done();
}
