/* SPDX-License-Identifier: MIT */
/* What the kernel is asked once a drive was changed, in which order, and that the drive is followed by its serial
 * number: on a machine of files, with the kernel's system calls played by a table. */
#define _GNU_SOURCE 1 /* nftw */
#include <linux/fs.h>

#include "core/bytes.h"
#include "machine.h"
#include "transport/refresh.h"

static char said[1024]; /* what sysfs and the nodes were asked, in order */
static uint8_t identify[512];

static void say(const char *what)
{
    size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, "%s%s", used ? ", " : "", what);
}

static void remove_disk(const char *name)
{
    char *link = in("m/sys/class/block/%s", name);
    CHECK_EQ(unlink(link), 0);
    CHECK_EQ(unlink(in("m/sys/block/%s", name)), 0);
}

static void add_disk(const char *place, const char *number, long sectors, const char *serial)
{
    put_device("m", place, number, 0, sectors);
    const char *name = strrchr(place, '/') + 1;
    put_attribute("m", name, "device/serial", serial);
    put_attribute("m", name, "queue/logical_block_size", "512\n");
    if (!strncmp(name, "sd", 2))
        put_attribute("m", name, "device/vendor", "ATA\n");
}

#define AGAIN "pci0/ata1/host0/target0:0:0/0:0:0:1/block/sdb"

/* The kernel's side of taking an ATA disk out and finding it again, under another name. */
static int told_sysfs(const char *path, const char *text)
{
    say(strrchr(path, '/') + 1);
    if (strstr(path, "vda"))
        return -ENOENT;
    if (strstr(path, "/delete")) {
        CHECK(!strcmp(text, "1"));
        remove_disk("sda");
    }
    if (strstr(path, "/scan")) {
        CHECK(!strcmp(text, "- - -"));
        CHECK(strstr(path, "/sys/class/scsi_host/host0/scan") != NULL);
        add_disk(AGAIN, "8:16", 800000, "S1\n");
    }
    return 0;
}

static int asked_node(int fd, unsigned long request)
{
    (void)fd;
    if (request == BLKRRPART)
        say("BLKRRPART");
    else if (request == _IO('N', 0x46))
        say("NVME_IOCTL_RESCAN");
    else
        return 1;
    return 0;
}

/* As the guard leaves it: consent was given, and the disk is this process's alone. */
static struct sated_drive *held(const char *name)
{
    struct sated_drive *d = opened(name);
    d->permitted = true;
    d->write_fd = d->fd;
    said[0] = '\0';
    return d;
}

/* What an ATA drive of 1000000 sectors says once an HPA hides a fifth of them. */
static void make_identify(uint64_t sectors)
{
    memset(identify, 0, sizeof identify);
    bytes_put_le16(identify + 49 * 2, 1 << 9); /* LBA */
    bytes_put_le16(identify + 83 * 2, 1 << 14 | 1 << 10);
    bytes_put_le16(identify + 86 * 2, 1 << 10);
    bytes_put_le16(identify + 106 * 2, 1 << 14); /* sectors of 512 bytes */
    bytes_put_le32(identify + 60 * 2, (uint32_t)sectors);
    bytes_put_le64(identify + 100 * 2, sectors);
}

static void test_ata(void)
{
    put_attribute("m", "sda", "device/vendor", "ATA\n");
    put_attribute("m", "sda", "device/serial", "S1\n");
    put_attribute("m", "sda", "queue/logical_block_size", "512\n");
    struct sated_drive *d = held("sda");
    CHECK_EQ(d->identity.capacity_bytes, 512000000);
    quiet();
    make_identify(1000000);
    kernel.data = identify;
    kernel.data_len = sizeof identify;
    CHECK_EQ(handle_refresh(d), 0);
    CHECK(!strcmp(said, "rescan, BLKRRPART")); /* the kernel's size is the drive's: it need not go */
    CHECK(!strcmp(d->node, "sda"));

    said[0] = '\0';
    make_identify(800000);
    CHECK_EQ(handle_refresh(d), 0);
    if (strcmp(said, "rescan, delete, scan, BLKRRPART"))
        printf("%s\n", said);
    CHECK(!strcmp(said, "rescan, delete, scan, BLKRRPART"));
    CHECK(!strcmp(d->node, "sdb"));
    CHECK_TEXT(d->path, "/dev/sdb");
    CHECK_EQ(d->identity.capacity_bytes, 800000 * 512);
    CHECK(is_device(d->fd, "sdb") && is_device(d->write_fd, "sdb"));
    CHECK(d->permitted);
    CHECK_EQ(handle_check_same(d), 0);

    /* An LBA limit outlasts it, as long as there is more than that. */
    struct sated_provision p;
    CHECK_EQ(sated_provision_set(d, 4096 * 1000, NULL), 0);
    CHECK_EQ(handle_refresh(d), 0);
    CHECK_EQ(d->identity.capacity_bytes, 4096 * 1000);
    CHECK_EQ(sated_provision_get(d, &p), 0);
    CHECK_EQ(p.device_bytes, 800000 * 512);
    CHECK(p.limits & 1u << SATED_PROVISION_LBA);

    /* Something else took it while it was away: then what was permitted is not any more. */
    d->write_fd = d->fd;
    remove_disk("sdb");
    add_disk("pci0/ata1/host0/target0:0:0/0:0:0:2/block/sdc", "8:32", 800000, "S1\n");
    devices_may_hold = false;
    CHECK_EQ(handle_refresh(d), SATED_UNSAFE);
    sated_detail_get(&detail);
    CHECK_TEXT(detail.text, "it is in use");
    CHECK(!d->permitted);
    devices_may_hold = true;
    CHECK_EQ(sated_drive_close(d), 0);
}

static void test_replaced(void)
{
    struct sated_drive *d = held("sdc");
    put_attribute("m", "sdc", "device/serial", "S2\n");
    said[0] = '\0';
    CHECK_EQ(handle_refresh(d), -ENODEV);
    sated_detail_get(&detail);
    CHECK_TEXT(detail.text, "serial number S1");
    CHECK(!said[0]); /* the other drive is not even asked */
    CHECK_EQ(sated_drive_close(d), 0);
}

static int busy_node(int fd, unsigned long request)
{
    (void)fd;
    devices_asked_rc = request == BLKRRPART ? -EBUSY : 0;
    return request != BLKRRPART;
}

static void test_partitions_in_use(void)
{
    struct sated_drive *d = held("vda");
    devices_asked = busy_node;
    CHECK_EQ(handle_refresh(d), SATED_UNSAFE);
    sated_detail_get(&detail);
    CHECK_TEXT(detail.text, "one of them is in use");
    devices_asked = asked_node;
    devices_asked_rc = 0;
    said[0] = '\0';
    CHECK_EQ(handle_refresh(d), 0);
    CHECK(!strcmp(said, "BLKRRPART")); /* no SCSI device: nothing to scan */
    CHECK_EQ(sated_drive_close(d), 0);
}

/* A read-only handle makes the kernel do nothing. */
static void test_read_only(void)
{
    struct sated_drive *d = opened("vda");
    said[0] = '\0';
    CHECK_EQ(sated_drive_refresh(d), 0);
    CHECK(!said[0]);
    CHECK_EQ(sated_drive_close(d), 0);
}

static int rescan_node(int fd, unsigned long request)
{
    int rc = asked_node(fd, request);
    if (request == _IO('N', 0x46)) { /* it was deleted, and created anew with half of its blocks */
        remove_disk("nvme7n1");
        add_disk("pci0/0000:07/nvme/nvme7/nvme7n3", "259:73", 3500, "S7\n");
        put_attribute("m", "nvme7n3", "nsid", "1\n");
    }
    return rc;
}

static void test_nvme(void)
{
    put_attribute("m", "nvme7n1", "device/serial", "S7\n");
    put_attribute("m", "nvme7n1", "nsid", "1\n");
    put_attribute("m", "nvme7n2", "device/serial", "S7\n");
    put_attribute("m", "nvme7n2", "nsid", "2\n");
    struct sated_drive *d = held("nvme7n1");
    CHECK_EQ(d->nsid, 1);
    devices_asked = rescan_node;
    CHECK_EQ(handle_refresh(d), 0);
    if (strcmp(said, "NVME_IOCTL_RESCAN, BLKRRPART"))
        printf("%s\n", said);
    CHECK(!strcmp(said, "NVME_IOCTL_RESCAN, BLKRRPART"));
    CHECK(!strcmp(d->node, "nvme7n3")); /* its namespace by its number, and not the other one of that serial number */
    CHECK_EQ(d->identity.capacity_bytes, 3500 * 512);
    CHECK_EQ(sated_drive_close(d), 0);
}

int main(void)
{
    if (machine_begin())
        return 1;
    static struct device more[sizeof machine / sizeof *machine + 3];
    memcpy(more, machine, sizeof machine);
    const struct device added[] = {{"sdb", S_IFBLK, 8, 16, 0},
                                   {"sdc", S_IFBLK, 8, 32, 0},
                                   {"nvme7n3", S_IFBLK, 259, 73, 0}};
    memcpy(more + sizeof machine / sizeof *machine, added, sizeof added);
    devices_begin(more, sizeof more / sizeof *more);
    put(in("m/dev/sdb"), "");
    put(in("m/dev/sdc"), "");
    put(in("m/dev/nvme7n3"), "");
    devices_told = told_sysfs;
    devices_asked = asked_node;
    devices_may_hold = true;
    test_ata();
    test_replaced();
    test_partitions_in_use();
    test_read_only();
    test_nvme();
    tree_end();
    return check_done();
}
