/* SPDX-License-Identifier: MIT */
/* Metadata and protection information beside the blocks of a drive: a load on it says who makes and checks it, or why
 * there can be none. What the kernel writes into sysfs is by Documentation/ABI/stable/sysfs-block and by sd(4). */
#define _GNU_SOURCE 1
#include "disks.h"
#include "file_loads.h"
#include "transport/integrity.h"

static const char *told(const char *name)
{
    static char text[256];
    CHECK_EQ(integrity_tell(text, sizeof text, name), text[0] != '\0');
    return text;
}

static void profile(const char *disk, const char *format, const char *verify, const char *generate)
{
    disks_new();
    put_attribute("m", disk, "integrity/format", format);
    put_attribute("m", disk, "integrity/read_verify", verify);
    put_attribute("m", disk, "integrity/write_generate", generate);
    put_attribute("m", disk, "integrity/tag_size", "0\n");
    put_attribute("m", disk, "integrity/device_is_integrity_capable", "1\n");
}

static void carried_by_the_kernel(void)
{
    profile("nvme0n1", "T10-DIF-TYPE1-CRC\n", "1\n", "1\n");
    CHECK_TEXT(told("nvme0n1"), "protection information (T10-DIF-TYPE1-CRC): the kernel makes guard and reference tag");
    CHECK_TEXT(told("nvme0n1"), "checks them of what is read");
    CHECK_EQ(strlen(told("nvme0n2")), 0);
    profile("nvme0n1", "T10-DIF-TYPE3-CRC\n", "1\n", "1\n"); /* whose reference tag means nothing: SBC-4, 4.22.2.5 */
    CHECK_TEXT(told("nvme0n1"), "the kernel makes the guard of what is written");
    profile("sda", "T10-DIF-TYPE1-IP\n", "0\n", "1\n");
    CHECK_TEXT(told("sda"), "makes it of what is written, and leaves the rest to the controller");
    profile("sda", "T10-DIF-TYPE1-IP\n", "1\n", "0\n");
    CHECK_TEXT(told("sda"), "checks it of what is read, and leaves the rest to the controller");
    profile("sda", "EXT-DIF-TYPE1-CRC64\n", "0\n", "0\n");
    CHECK_TEXT(told("sda"), "(EXT-DIF-TYPE1-CRC64): the kernel neither makes nor checks it, and leaves both to");
    profile("sda", "nop\n", "1\n", "1\n");
    CHECK_TEXT(told("sda"), "metadata without protection information, which the kernel fills and nobody checks");
    profile("sda", "none\n", "0\n", "0\n");
    CHECK_EQ(strlen(told("sda")), 0);
    profile("sda", "T10-DIF-TYPE1-CRC\n", "1\n", "1\n"); /* of the disk that a partition is part of */
    partition();
    CHECK_TEXT(told("sda1"), "T10-DIF-TYPE1-CRC");
}

static void carried_by_others(void)
{
    disks_new();
    put_attribute("m", "nvme0n1", "metadata_bytes", "8\n");
    CHECK_TEXT(told("nvme0n1"), "8 bytes of protection information, which the controller makes, checks and takes off");
    put_attribute("m", "nvme0n2", "metadata_bytes", "0\n");
    CHECK_EQ(strlen(told("nvme0n2")), 0);
    put_attribute("m", "sda", "device/scsi_disk/0:0:0:0/protection_type", "0\n");
    put_attribute("m", "sda", "device/scsi_disk/0:0:0:0/protection_mode", "none\n");
    CHECK_EQ(strlen(told("sda")), 0);
    put_attribute("m", "sda", "device/scsi_disk/0:0:0:0/protection_type", "1\n");
    CHECK_TEXT(told("sda"), "of type 1, which the drive keeps to itself: its host adapter has none to send");
    put_attribute("m", "sda", "device/scsi_disk/0:0:0:0/protection_mode", "dif1\n");
    CHECK_TEXT(told("sda"), "of type 1, which the host adapter makes and takes off, and the drive checks");
}

/* It is said of a load, as it is then, and of the drive. */
static void said_of_a_load(void)
{
    profile("sda", "T10-DIF-TYPE1-CRC\n", "1\n", "1\n");
    struct sated_drive *d = disk_open("sda");
    struct sated_identity id;
    CHECK_EQ(sated_drive_get_identity(d, &id), 0);
    CHECK_TEXT(id.note, "T10-DIF-TYPE1-CRC");
    struct outcome o = run(d, work("randread", "4k", 1, 1), with(SATED_ENGINE_THREADS, 10, 0, 0.1));
    CHECK_EQ(o.totals[0].ios, 10);
    CHECK_TEXT(o.note, "sda: blocks have protection information (T10-DIF-TYPE1-CRC): the kernel makes guard");
    outcome_free(&o);
    put_attribute("m", "sda", "integrity/read_verify", "0\n");
    o = run(d, work("randread", "4k", 1, 1), with(SATED_ENGINE_THREADS, 10, 0, 0.1));
    CHECK_TEXT(o.note, "makes it of what is written, and leaves the rest to the controller");
    outcome_free(&o);
    sated_drive_close(d);
    disks_new();
    d = disk_open("sda");
    o = run(d, work("randread", "4k", 1, 1), with(SATED_ENGINE_THREADS, 10, 0, 0.1));
    CHECK(!strstr(o.note, "blocks have"));
    outcome_free(&o);
    sated_drive_close(d);
}

static void empty(int ms, int flbas, int dps, const char *attribute, int code, const char *sentence)
{
    struct sated_drive *d;
    disks_new();
    put_attribute("m", "nvme0n1", "size", "0\n");
    if (attribute)
        put_attribute("m", "nvme0n1", "metadata_bytes", attribute);
    disks[NS1].ms = (uint8_t)ms;
    disks[NS1].flbas = (uint8_t)flbas;
    disks[NS1].dps = (uint8_t)dps;
    CHECK_EQ(sated_drive_open(&d, in("m/dev/nvme0n1"), NULL), code);
    sated_detail_get(&detail);
    CHECK_TEXT(detail.text, sentence);
}

/* Linux sets the capacity of a namespace to 0 whose metadata it cannot carry (nvme_update_ns_info_block). */
static void refused(void)
{
    empty(8, 0x10, 0, NULL, SATED_UNSUPPORTED,
          "each of its blocks has 8 bytes of metadata at its end, which it does not");
    empty(64, 0, 0, NULL, SATED_UNSUPPORTED, "each of its blocks has 64 bytes of metadata, which it does not carry");
    empty(64, 0x10, 1, NULL, SATED_UNSUPPORTED,
          "64 bytes of metadata at its end that are more than protection information, which it does not carry");
    empty(0, 0, 0, "16\n", SATED_UNSUPPORTED, "each of its blocks has 16 bytes of metadata, which it does not carry");
    empty(0, 0, 0, "0\n", -ENOMEDIUM, "has no capacity");
    empty(0, 0, 0, NULL, -ENOMEDIUM, "has no capacity");
}

static unsigned open_files(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += opened_as[fd].disk != NULL;
    return n;
}

/* The controller of such a namespace stands alone, and what was opened to find that out is closed. */
static void by_its_controller(void)
{
    disks_new();
    put_attribute("m", "nvme0n1", "size", "0\n");
    forget_tree(in("m/sys/devices/pci0/nvme/nvme0/nvme0n2"));
    disks[NS1].ms = 64;
    struct sated_drive *d = disk_open("nvme0");
    CHECK_EQ(d->kind, HANDLE_COMMANDS);
    CHECK_EQ(open_files(), 1);
    sated_drive_close(d);
    CHECK_EQ(open_files(), 0);
}

int main(void)
{
    if (tree_begin())
        return 1;
    disks_begin();
    carried_by_the_kernel();
    carried_by_others();
    said_of_a_load();
    refused();
    by_its_controller();
    tree_end();
    return check_done();
}
