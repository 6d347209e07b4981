/* SPDX-License-Identifier: MIT */
/* A machine of device nodes, with the kernel played by a table. */
#ifndef SATED_TESTS_MACHINE_H
#define SATED_TESTS_MACHINE_H

#include <sated/sated.h>

#include "check.h"
#include "devices.h"
#include "transport/node.h"
#include "tree.h"

static struct sated_detail detail;
static struct sated_reply reply;
static uint8_t data[8192];

static struct device machine[] = {
    {"sda", S_IFBLK, 8, 0, 0},        {"sda1", S_IFBLK, 8, 1, 0},       {"sg0", S_IFCHR, 21, 0, 0},
    {"0:0:0:0", S_IFCHR, 245, 0, 0},  {"host0", S_IFCHR, 245, 1, 0},    {"sg1", S_IFCHR, 21, 1, 0},
    {"nvme1n1", S_IFBLK, 259, 1, 0},  {"nvme4n1", S_IFBLK, 259, 4, 0},  {"nvme1", S_IFCHR, 240, 1, 0},
    {"nvme4", S_IFCHR, 240, 4, 0},    {"ng1n1", S_IFCHR, 241, 1, 0},    {"nvme7", S_IFCHR, 240, 7, 0},
    {"nvme7n1", S_IFBLK, 259, 71, 0}, {"nvme7n2", S_IFBLK, 259, 72, 0}, {"vda", S_IFBLK, 252, 0, 0},
    {"console0", S_IFCHR, 1, 3, 0},
};

/* A character device of a class, as sysfs shows it. */
static void put_node(const char *class, const char *place, unsigned major, unsigned minor)
{
    const char *name = strrchr(place, '/') + 1;
    put_folder(in("m/sys/devices/%s", place));
    put_folder(in("m/sys/class/%s", class));
    put_link(in("m/sys/class/%s/%s", class, name), in("m/sys/devices/%s", place));
    put_link(in("m/sys/devices/%s/subsystem", place), in("m/sys/class/%s", class));
    put_link(in("m/sys/dev/char/%u:%u", major, minor), in("m/sys/devices/%s", place));
    put(in("m/dev/%s", name), "");
}

#define SCSI "pci0/ata1/host0/target0:0:0/0:0:0:0"

/* Two multipath subsystems whose numbers are not those of their controllers, one controller with two namespaces. */
static void put_machine(void)
{
    put_device("m", SCSI "/block/sda", "8:0", 0, 1000000);
    put_device("m", SCSI "/block/sda/sda1", "8:1", 1, 1000);
    put_attribute("m", "sda", "device/scsi_level", "6\n");
    put(in("m/sys/devices/" SCSI "/scsi_level"), "6\n");
    put(in("m/sys/devices/" SCSI "/vendor"), "ATA\n");
    put_node("scsi_generic", SCSI "/scsi_generic/sg0", 21, 0);
    put_link(in("m/sys/devices/" SCSI "/scsi_generic/sg0/device"), in("m/sys/devices/" SCSI));
    put_node("bsg", SCSI "/bsg/0:0:0:0", 245, 0);
    put_link(in("m/sys/devices/" SCSI "/bsg/0:0:0:0/device"), in("m/sys/devices/" SCSI));
    put_node("bsg", "pci0/ata1/host0/bsg/host0", 245, 1);
    put_link(in("m/sys/devices/pci0/ata1/host0/bsg/host0/device"), in("m/sys/devices/pci0/ata1/host0"));
    put(in("m/sys/devices/pci0/ses/scsi_level"), "6\n"); /* an enclosure: no disk */
    put(in("m/sys/devices/pci0/ses/vendor"), "ACME\n");
    put_node("scsi_generic", "pci0/ses/scsi_generic/sg1", 21, 1);
    put_link(in("m/sys/devices/pci0/ses/scsi_generic/sg1/device"), in("m/sys/devices/pci0/ses"));

    put_device("m", "virtual/nvme-subsystem/nvme-subsys1/nvme1n1", "259:1", 0, 2000000);
    put_device("m", "virtual/nvme-subsystem/nvme-subsys4/nvme4n1", "259:4", 0, 4000000);
    put_node("nvme", "pci0/0000:01/nvme/nvme1", 240, 1);
    put_node("nvme", "pci0/0000:02/nvme/nvme4", 240, 4);
    put_folder(in("m/sys/class/nvme/nvme1/nvme4c1n1"));
    put_folder(in("m/sys/class/nvme/nvme4/nvme1c4n1"));
    put_node("nvme-generic", "virtual/nvme-subsystem/nvme-subsys1/ng1n1", 241, 1);
    put_node("nvme", "pci0/0000:07/nvme/nvme7", 240, 7);
    put_device("m", "pci0/0000:07/nvme/nvme7/nvme7n1", "259:71", 0, 7000);
    put_device("m", "pci0/0000:07/nvme/nvme7/nvme7n2", "259:72", 0, 7000);
    put_device("m", "pci0/virtio1/block/vda", "252:0", 0, 7000);
    put_node("mem", "virtual/mem/console0", 1, 3);
    static const char *const blocks[] = {"sda", "sda1", "nvme1n1", "nvme4n1", "nvme7n1", "nvme7n2", "vda"};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        put(in("m/dev/%s", blocks[i]), "");
}

static void quiet(void)
{
    memset(&kernel, 0, sizeof kernel);
}

static struct sated_drive *opened(const char *name)
{
    struct sated_drive *d;
    int rc = sated_drive_open(&d, in("m/dev/%s", name), NULL);
    sated_detail_get(&detail);
    if (rc)
        printf("%s\n", detail.text);
    CHECK_EQ(rc, 0);
    return d;
}

static const uint8_t illegal[] = {0x70, 0, 5, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x24, 0, 0, 0, 0, 0};

static inline int inquiry(struct sated_drive *d)
{
    struct sated_scsi_command c;
    sated_scsi_build_inquiry(&c, -1, 96);
    int rc = sated_scsi_raw(d, &c, data, &reply);
    sated_detail_get(&detail);
    return rc;
}

static int machine_begin(void)
{
    if (tree_begin())
        return 1;
    put_machine();
    node_set_root(in("m"));
    devices_begin(machine, sizeof machine / sizeof *machine);
    return 0;
}

#endif
