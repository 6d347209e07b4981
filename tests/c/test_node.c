/* SPDX-License-Identifier: MIT */
/* Nodes: block devices as recorded trees of sysfs, procfs and /dev show them. */
#define _GNU_SOURCE 1
#include <sated/sated.h>

#include <sys/sysmacros.h>

#include "check.h"
#include "transport/block.h"
#include "transport/handle.h"
#include "transport/node.h"
#include "transport/use.h"
#include "tree.h"

#define GB(n) ((n)*1000000000L / 512)

static struct sated_detail detail;

/* Case C08 of the field cases: each name gives exactly that whole disk, by the tree and not by its digits. */
static void test_whole_disk(void)
{
    static const struct {
        const char *place, *number;
        int partition;
    } devices[] = {
        {"pci0/nvme/nvme0/nvme0n1", "259:0", 0},
        {"pci0/nvme/nvme0/nvme0n1/nvme0n1p6", "259:6", 6},
        {"pci0/nvme/nvme10/nvme10n1", "259:10", 0},
        {"platform/mmc_host/mmc0/block/mmcblk0", "179:0", 0},
        {"platform/mmc_host/mmc0/block/mmcblk0/mmcblk0p1", "179:1", 1},
        {"pci0/ata1/host0/block/sda", "8:0", 0},
        {"pci0/ata1/host0/block/sda/sda21", "65:5", 21},
        {"pci0/ata2/host1/block/sdp", "8:240", 0},
        {"virtual/block/loop12", "7:12", 0},
        {"virtual/block/loop12/loop12p3", "259:20", 3},
        {"virtual/block/loop123", "7:123", 0},
        {"virtual/block/md127", "9:127", 0},
        {"virtual/block/md127/md127p1", "259:21", 1},
        {"virtual/block/dm-3", "253:3", 0},
    };
    static const struct {
        const char *name, *whole;
    } want[] = {
        {"nvme0n1p6", "nvme0n1"}, {"nvme10n1", "nvme10n1"}, {"mmcblk0p1", "mmcblk0"}, {"sda21", "sda"},
        {"sdp", "sdp"},           {"loop12p3", "loop12"},   {"md127p1", "md127"},     {"md127", "md127"},
        {"nvme0n1", "nvme0n1"},   {"loop123", "loop123"},
    };
    char name[NODE_NAME], beneath[4][NODE_NAME];
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        put_device("c08", devices[i].place, devices[i].number, devices[i].partition, GB(100));
    put_attribute("c08", "dm-3", "dm/name", "vg-lv\n");
    put_folder(in("c08/sys/class/block/dm-3/slaves/sda21"));
    put_folder(in("c08/sys/class/block/dm-3/slaves/sdp"));
    node_set_root(in("c08"));

    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        CHECK_EQ(node_whole(name, want[i].name), 0);
        CHECK(!strcmp(name, want[i].whole));
        CHECK_EQ(node_beneath(beneath, 4, want[i].name), 1);
        CHECK(!strcmp(beneath[0], want[i].whole));
    }
    CHECK_EQ(node_beneath(beneath, 4, "dm-3"), 2);
    CHECK(!strcmp(beneath[0], "sda21") && !strcmp(beneath[1], "sdp"));

    struct sated_identity id;
    block_identify("dm-3", &id);
    CHECK(!strcmp(id.note, "a mapping onto /dev/sda21 and others"));

    /* And by its numbers, as a node is opened, a partition is itself, with its disk in the note. */
    CHECK_EQ(node_of(name, makedev(259, 20)), 0);
    CHECK(!strcmp(name, "loop12p3"));
    block_identify(name, &id);
    CHECK(!strcmp(id.note, "a partition of /dev/loop12"));

    static const char *const unknown[] = {"sdz", "sda2", "loop12p4", "nvme0", "", ".", "..", "../block/sda"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        CHECK_EQ(node_whole(name, unknown[i]), -ENOENT);
        CHECK(name[0] == '\0');
    }
    CHECK_EQ(node_of(name, makedev(65, 5)), 0); /* a second node with the same numbers is the same device */
    CHECK(!strcmp(name, "sda21"));
    CHECK_EQ(node_of(name, makedev(99, 99)), SATED_UNSUPPORTED);
    node_set_root(NULL);
}

static const struct sated_identity *find(const struct sated_identity *list, int n, const char *model)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(list[i].model, model))
            return &list[i];
    return NULL;
}

/* A machine: a SATA disk that is mounted, an NVMe subsystem with two namespaces, a RAID, twins without a serial. */
static void put_machine(void)
{
    /* SPC-6, 7.7.20: page 80h, 20 bytes of ASCII, blanks in front. */
    static const unsigned char page_80[] = "\x00\x80\x00\x14       S1X2NEADA1234";
    put_device("pc", "pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda", "8:0", 0, GB(256));
    put_device("pc", "pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda/sda1", "8:1", 1, GB(128));
    put_attribute("pc", "sda", "device/vendor", "ATA     \n");
    put_attribute("pc", "sda", "device/model", "SanDisk SD6SB2M2\n");
    put_attribute("pc", "sda", "device/rev", "2000\n");
    put_attribute("pc", "sda", "device/scsi_level", "6\n");
    put_bytes(in("pc/sys/class/block/sda/device/vpd_pg80"), page_80, sizeof page_80 - 1);
    put_attribute("pc", "sda", "queue/rotational", "0\n");
    put_attribute("pc", "sda", "queue/logical_block_size", "512\n");
    put_attribute("pc", "sda", "queue/physical_block_size", "4096\n");
    put_link(in("pc/dev/disk/by-id/ata-SanDisk_SD6SB2M2_S1X2NEADA1234"), "../../sda");
    put_link(in("pc/dev/disk/by-id/ata-SanDisk_SD6SB2M2_S1X2NEADA1234-part1"), "../../sda1");
    put_link(in("pc/dev/disk/by-id/wwn-0x5001b44"), "../../sda");
    /* systemd#31448: the link without the namespace's number goes to whichever came last. */
    put_link(in("pc/dev/disk/by-id/nvme-First_NS_NVME77"), "../../nvme4n1");
    put_link(in("pc/dev/disk/by-id/nvme-First_NS_NVME77_1"), "../../nvme4n1");
    put_link(in("pc/dev/disk/by-id/nvme-eui.0025385191b00001"), "../../nvme4n1");

    for (int ns = 1; ns <= 2; ns++) {
        char place[80], number[8], name[16], nsid[4];
        snprintf(name, sizeof name, "nvme4n%d", ns);
        snprintf(place, sizeof place, "pci0000:00/0000:01:00.0/nvme/nvme4/%s", name);
        snprintf(number, sizeof number, "259:%d", ns);
        snprintf(nsid, sizeof nsid, "%d\n", ns);
        put_device("pc", place, number, 0, GB(400));
        put_attribute("pc", name, "device/model", ns == 1 ? "First NS\n" : "Second NS\n");
        put_attribute("pc", name, "device/serial", "NVME77              \n");
        put_attribute("pc", name, "device/firmware_rev", "1.0\n");
        put_attribute("pc", name, "nsid", nsid);
        put_attribute("pc", name, "queue/rotational", "0\n");
        put_attribute("pc", name, "queue/logical_block_size", "4096\n");
        put_attribute("pc", name, "queue/physical_block_size", "4096\n");
    }
    put_attribute("pc", "nvme4n1", "device/device/current_link_speed", "8.0 GT/s PCIe\n");
    put_attribute("pc", "nvme4n1", "device/device/current_link_width", "4\n");

    put_device("pc", "pci0000:00/usb2/2-1/host6/block/sdb", "8:16", 0, GB(32));
    put_attribute("pc", "sdb", "device/model", "Twin\n");
    put_attribute("pc", "sdb", "queue/rotational", "1\n");
    put_link(in("pc/dev/disk/by-path/pci-0000:00:14.0-usb-0:1:1.0-scsi-0:0:0:0"), "../../sdb");
    put_device("pc", "pci0000:00/usb2/2-2/host7/block/sdc", "8:32", 0, GB(32));
    put_attribute("pc", "sdc", "device/model", "Other twin\n");

    put_device("pc", "pci0000:00/virtio1/block/vda", "254:0", 0, GB(10));
    put_attribute("pc", "vda", "serial", "overlay\n");
    put_attribute("pc", "vda", "device/vendor", "0x1af4\n");
    put_device("pc", "virtual/block/md127", "9:127", 0, GB(64));
    put_attribute("pc", "md127", "md/level", "raid1\n");
    put_attribute("pc", "md127", "md/uuid", "8f1e7a52-0000-0000-0000-00000000beef\n");
    put_folder(in("pc/sys/class/block/vda/holders/md127"));

    /* None of these is a drive to be reviewed. */
    static const char *const others[] = {"ram0", "zram0", "dm-0", "sr0", "fd0", "loop0"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char place[80], number[8];
        snprintf(place, sizeof place, "virtual/block/%s", others[i]);
        snprintf(number, sizeof number, "1:%zu", i);
        put_device("pc", place, number, 0, GB(1));
    }
    put_device("pc", "pci0000:00/usb2/2-3/host8/block/sdd", "8:48", 0, 0); /* a card reader without a card */
    put_device("pc", "virtual/nvme-subsystem/nvme4c4n1", "259:9", 0, GB(400));
    put_attribute("pc", "nvme4c4n1", "hidden", "1\n");
    put_device("pc", "virtual/block/loop1", "7:1", 0, GB(2));
    put_attribute("pc", "loop1", "loop/backing_file", "/var/disk.img\n");
}

static void test_list(void)
{
    static struct sated_identity list[32];
    put_machine();
    node_set_root(in("pc"));
    int n = sated_drive_list(list, 32);
    static const char *const order[] = {"loop device",      "md raid1", "First NS",   "Second NS",
                                        "SanDisk SD6SB2M2", "Twin",     "Other twin", ""};
    CHECK_EQ(n, 8);
    for (int i = 0; i < 8 && i < n; i++)
        CHECK(!strcmp(list[i].model, order[i]));
    CHECK_EQ(sated_drive_list(NULL, 0), 8);
    memset(list, 0, sizeof list);
    CHECK_EQ(sated_drive_list(list, 3), 8);
    CHECK(!strcmp(list[2].token, "NVME77:1")); /* the namespace that was not told counts, too */
    CHECK(list[3].model[0] == '\0');
    n = sated_drive_list(list, 32);

    const struct sated_identity *id = find(list, n, "SanDisk SD6SB2M2");
    CHECK(id != NULL);
    if (id) {
        CHECK_EQ(id->protocol, SATED_PROTOCOL_ATA);
        CHECK_EQ(id->flags, SATED_IDENTITY_BLOCK | SATED_IDENTITY_ROTATION_KNOWN);
        CHECK_EQ(id->capacity_bytes, 256000000000 / 512 * 512);
        CHECK_EQ(id->logical_block_bytes, 512);
        CHECK_EQ(id->physical_block_bytes, 4096);
        CHECK(!strcmp(id->vendor, "ATA") && !strcmp(id->firmware, "2000") && !strcmp(id->transport, "sata"));
        CHECK(!strcmp(id->serial, "S1X2NEADA1234") && !strcmp(id->token, "S1X2NEADA1234"));
        CHECK(!strcmp(id->path, "/dev/disk/by-id/ata-SanDisk_SD6SB2M2_S1X2NEADA1234"));
    }
    id = find(list, n, "Second NS");
    CHECK(id && id->protocol == SATED_PROTOCOL_NVME && id->logical_block_bytes == 4096);
    CHECK(id && !strcmp(id->serial, "NVME77") && !strcmp(id->token, "NVME77:2") && !strcmp(id->path, "/dev/nvme4n2"));
    id = find(list, n, "First NS");
    CHECK(id && !strcmp(id->link, "8.0 GT/s PCIe x4"));
    CHECK(id && !strcmp(id->path, "/dev/disk/by-id/nvme-First_NS_NVME77_1"));
    id = find(list, n, "Twin");
    CHECK(id && !strcmp(id->transport, "usb") && !(id->flags & SATED_IDENTITY_ROTATION_KNOWN));
    CHECK(id && !strcmp(id->token, "Twin@pci-0000:00:14.0-usb-0:1:1.0-scsi-0:0:0:0"));
    id = find(list, n, "Other twin");
    CHECK(id && !strcmp(id->token, "Other twin@sdc"));
    id = find(list, n, "md raid1");
    CHECK(id && !strcmp(id->token, "8f1e7a52-0000-0000-0000-00000000beef"));
    id = find(list, n, "");
    CHECK(id && !strcmp(id->transport, "virtio") && !strcmp(id->serial, "overlay") && id->vendor[0] == '\0');
    for (int i = 0; i < n; i++)
        CHECK(!(list[i].flags & SATED_IDENTITY_MOUNTED)); /* without procfs nothing is known to be in use */

    /* A serial number that two disks share consents to neither. */
    put_attribute("pc", "sdb", "device/serial", "SAME\n");
    put_attribute("pc", "sdc", "device/serial", "SAME\n");
    n = sated_drive_list(list, 32);
    id = find(list, n, "Other twin");
    CHECK(id && !strcmp(id->serial, "SAME") && !strcmp(id->token, "Other twin@sdc"));
    struct sated_drive *d;
    CHECK_EQ(sated_drive_open(&d, "serial:SAME", NULL), SATED_PARSE);
    sated_detail_get(&detail);
    CHECK_TEXT(detail.text, "/dev/sdb");
    CHECK_TEXT(detail.text, "/dev/sdc");

    node_set_root(in("nothing-here"));
    CHECK_EQ(sated_drive_list(list, 32), SATED_UNSUPPORTED);
    node_set_root(NULL);
    CHECK(sated_drive_list(NULL, 0) >= 0 || access("/sys/block", R_OK)); /* this machine, whatever it has */
}

/* Whatever stands in sysfs, it is bounded, printable and no reason to divide by 0. */
static void test_garbage(void)
{
    struct sated_identity id;
    static char huge[300000];
    memset(huge, 'A', sizeof huge - 1);
    node_set_root(in("odd"));
    put_device("odd", "pci0/host1/block/sda", "8:0", 0, 1000);
    put_attribute("odd", "sda", "device/model", "Disk\x1b[2J\x07 \xff one\n");
    put_attribute("odd", "sda", "device/vendor", huge);
    put_bytes(in("odd/sys/class/block/sda/device/rev"), "1\0002\n", 4);
    put_attribute("odd", "sda", "device/serial", "  \n");
    put_attribute("odd", "sda", "queue/logical_block_size", "0\n");
    put_attribute("odd", "sda", "queue/physical_block_size", "4294967808\n"); /* 2^32 + 512 */
    put_attribute("odd", "sda", "queue/rotational", "-1\n");
    put_attribute("odd", "sda", "size", "36028797018963969\n"); /* 2^55 + 1: of 512 bytes, more than 2^64 */
    block_identify("sda", &id);
    CHECK(!strcmp(id.model, "Disk?[2J? \xff one"));
    CHECK_EQ(strlen(id.vendor), sizeof id.vendor - 1);
    CHECK(!strcmp(id.firmware, "1") && id.serial[0] == '\0');
    CHECK_EQ(id.capacity_bytes, 0u);
    CHECK(id.logical_block_bytes == 0 && id.physical_block_bytes == 0); /* nobody told */
    CHECK_EQ(id.native_capacity_bytes, 0u);
    CHECK(!(id.flags & SATED_IDENTITY_ROTATION_KNOWN));

    /* Links that lead to themselves, and devices that hold each other: all comes to an end. */
    put_link(in("odd/sys/block/sdz"), "sdz");
    put_link(in("odd/sys/class/block/sdz"), "sdz");
    for (int i = 1; i <= 8; i++) {
        char place[40], number[8];
        snprintf(place, sizeof place, "virtual/block/md%d", i);
        snprintf(number, sizeof number, "9:%d", i);
        put_device("odd", place, number, 0, 1000);
        for (int k = 1; k <= 8; k++)
            put_folder(in("odd/sys/class/block/md%d/holders/md%d", i, k));
    }
    CHECK_EQ(sated_drive_list(NULL, 0), 10);
    char text[512] = "";
    struct use_report r = {.text = text, .n = sizeof text};
    use_of_device(&r, "md1");
    CHECK(r.count > 0 && r.count < 1000);
    node_set_root(NULL);
}

static bool in_use(const char *name, const char *part)
{
    char text[512] = "";
    struct use_report r = {.text = text, .n = sizeof text};
    use_of_device(&r, name);
    if (part)
        CHECK_TEXT(text, part);
    else
        CHECK_EQ(r.count, 0);
    return r.mounted;
}

static void test_use(void)
{
    struct sated_identity id;
    node_set_root(in("pc"));
    put(in("pc/proc/self/mountinfo"), "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
                                      "23 22 0:21 / /proc rw - proc proc rw\n"
                                      "24 22 0:45 /sub /with\\040blank rw shared:7 master:2 - btrfs /dev/nvme4n1 rw\n"
                                      "25 22 9:127 / /srv rw - xfs /dev/md127 rw\n"
                                      "a line that is cut off\n");
    put(in("pc/proc/swaps"), "Filename Type Size Used Priority\n/dev/sdb partition 1 0 -2\n");
    CHECK(in_use("sda1", "sda1 is mounted on / (ext4)"));
    CHECK(in_use("sda", "sda1 is mounted on / (ext4)"));        /* by a partition of it */
    CHECK(in_use("nvme4n1", "mounted on /with blank (btrfs)")); /* by its source, as its number is btrfs' own */
    CHECK(!in_use("nvme4n2", NULL));
    /* The other device of a mounted btrfs, which no mount names. */
    put_link(in("pc/sys/fs/btrfs/0f3a/devices/nvme4n1"), in("pc/sys/class/block/nvme4n1"));
    put_link(in("pc/sys/fs/btrfs/0f3a/devices/nvme4n2"), in("pc/sys/class/block/nvme4n2"));
    put_folder(in("pc/sys/fs/btrfs/features"));
    CHECK(in_use("nvme4n2", "nvme4n2 is part of the mounted btrfs 0f3a"));
    CHECK(in_use("vda", "vda is part of md127")); /* by what it is a part of */
    CHECK(in_use("vda", "md127 is mounted on /srv"));
    CHECK(in_use("sdb", "sdb is swap space"));
    CHECK(!in_use("sdc", NULL));
    block_identify("sda", &id);
    CHECK(id.flags & SATED_IDENTITY_MOUNTED);
    block_identify("sdc", &id);
    CHECK(!(id.flags & SATED_IDENTITY_MOUNTED));
    block_identify("sda1", &id);
    CHECK_EQ(id.capacity_bytes, 128000000000 / 512 * 512); /* its own size, its disk's names */
    CHECK(!strcmp(id.serial, "S1X2NEADA1234") && !strcmp(id.model, "SanDisk SD6SB2M2"));
    CHECK_TEXT(id.note, "/dev/sda");
    node_set_root(NULL);
}

int main(void)
{
    if (tree_begin())
        return 1;
    test_whole_disk();
    test_list();
    test_garbage();
    test_use();
    tree_end();
    return check_done();
}
