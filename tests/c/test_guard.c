/* SPDX-License-Identifier: MIT */
/* The guard: situations of a machine in each of which nothing may change a drive, and the same machine without them, in
 * which it may, given the token. */
#define _GNU_SOURCE 1
#include "disks.h"

#include <sys/wait.h>

#include "transport/signature.h"

static void holder(const char *of, const char *name, const char *number, const char *dm_uuid)
{
    char place[100];
    snprintf(place, sizeof place, "virtual/block/%s", name);
    put_device("m", place, number, 0, SECTORS);
    put_folder(in("m/sys/class/block/%s/holders/%s", of, name));
    if (dm_uuid)
        put_attribute("m", name, "dm/uuid", dm_uuid);
}

/* ---- The situations ---- */

static void mounted_disk(void)
{
    mounted_as("self/mountinfo", "8:0", "/dev/sda");
}
static void mounted_partition(void)
{
    partition(), mounted_as("self/mountinfo", "8:1", "/dev/sda1");
}
static void mounted_by_source(void)
{
    mounted_as("self/mountinfo", "0:40", "/dev/sda");
}
static void mounted_by_link(void)
{
    put_link(in("m/dev/disk/by-uuid/1234"), "../../sda");
    mounted_as("self/mountinfo", "0:40", "/dev/disk/by-uuid/1234");
}
static void mounted_of_several(void)
{
    mounted_as("self/mountinfo", "0:40", "/dev/sdz:/dev/sda");
}
static void mounted_elsewhere(void)
{
    mounted_as("4711/mountinfo", "8:0", "/dev/sda");
}
static void mounted_in_namespace(void)
{
    put_link(in("m/proc/self/ns/mnt"), "mnt:[1]");
    put_link(in("m/proc/1/ns/mnt"), "mnt:[1]");
    put_link(in("m/proc/77/ns/mnt"), "mnt:[2]");
    put(in("m/proc/1/mountinfo"), "22 1 0:20 / / rw - tmpfs none rw\n");
    mounted_as("77/mountinfo", "8:0", "/dev/sda");
}
static void no_proc(void)
{
    unlink(in("m/proc/self/mountinfo"));
}
static void swap_disk(void)
{
    put(in("m/proc/swaps"), "Filename Type Size Used Priority\n/dev/sda partition 9 0 -2\n");
}
static void swap_partition(void)
{
    partition();
    put(in("m/proc/swaps"), "Filename Type Size Used Priority\n/dev/sda1 partition 9 0 -2\n");
}
static void btrfs_second(void)
{
    put_folder(in("m/sys/fs/btrfs/0f0f-77/devices/sda"));
}
static void md_member(void)
{
    holder("sda", "md127", "9:127", NULL);
}
static void md_of_partition(void)
{
    partition(), holder("sda1", "md127", "9:127", NULL);
}
static void mounted_md(void)
{
    md_member(), mounted_as("self/mountinfo", "9:127", "/dev/md127");
}
static void lvm(void)
{
    holder("sda", "dm-0", "253:0", "LVM-abcdef\n");
}
static void encrypted(void)
{
    holder("sda", "dm-1", "253:1", "CRYPT-LUKS2-abc\n");
}
static void multipath(void)
{
    holder("sda", "dm-2", "253:2", "mpath-3500\n");
}
static void stacked(void)
{
    md_of_partition();
    holder("md127", "dm-0", "253:0", "LVM-abcdef\n");
    mounted_as("self/mountinfo", "253:0", "/dev/mapper/vg-lv");
}
static void bcache(void)
{
    put_folder(in("m/sys/class/block/sda/bcache"));
}
static void loop_backing(void)
{
    put_device("m", "virtual/block/loop3", "7:3", 0, SECTORS);
    put_attribute("m", "loop3", "loop/backing_file", "/dev/sda\n");
}
static void loop_of_partition(void)
{
    partition();
    put_device("m", "virtual/block/loop3", "7:3", 0, SECTORS);
    put_attribute("m", "loop3", "loop/backing_file", "/dev/sda1\n");
}
static void boot_by_path(void)
{
    put(in("m/proc/cmdline"), "quiet root=/dev/sda ro\n");
}
static void boot_by_uuid(void)
{
    partition();
    put_link(in("m/dev/disk/by-partuuid/aa-01"), "../../sda1");
    put(in("m/proc/cmdline"), "root=PARTUUID=aa-01\n");
}
static void boot_ancestor(void)
{
    partition();
    holder("sda1", "dm-0", "253:0", "LVM-abcdef\n");
    put_link(in("m/dev/mapper/vg-root"), "../dm-0");
    put(in("m/dev/dm-0"), "");
    put(in("m/proc/cmdline"), "root=/dev/mapper/vg-root\n");
}
static void resume_of_swap(void)
{
    put(in("m/proc/cmdline"), "root=/dev/sdz resume=/dev/sda\n");
}
static void read_only(void)
{
    put_attribute("m", "sda", "ro", "1\n");
}
static void refuses_writing(void)
{
    disks[SDA].error = EROFS;
}
static void held_by_other(void)
{
    disks[SDA].error = EBUSY;
}
static void no_right(void)
{
    disks[SDA].error = EACCES;
}
static void same_serial(void)
{
    put_serial("sdb", "SERIALA1\n");
}
static void same_name(void)
{
    put(in("m/sys/devices/pci0/host1/target1:0:0/1:0:0:0/wwid"), "naa.5000000000000001\n");
}
static void partitions_only(void)
{
    partition();
}
static void reserved(void)
{
    disks[SDA].keys = 2;
}
static void vanished(void)
{
    unlink(in("m/sys/dev/block/8:0")), unlink(in("m/sys/class/block/sda"));
}
static void node_gone(void)
{
    disks[SDA].name[0] = '\0', unlink(in("m/dev/sda"));
}
static void other_number(void)
{
    disks[SDA].minor = 32;
}
static void other_sequence(void)
{
    disks[SDA].sequence++;
    put_attribute("m", "sda", "diskseq", "101\n");
}
static void other_serial(void)
{
    put_serial("sda", "SERIALX9\n");
}
static void came_back_renamed(void)
{
    vanished();
    disks[SDA].name[0] = '\0';
    unlink(in("m/dev/sda"));
    put_block(LOOP, "pci0/host0/target0:0:0/0:0:0:0/block/sdc", 8, 32);
}
static void ext4(void)
{
    disk_put(SDA, 0x438, "\x53\xef", 2);
}
static void xfs(void)
{
    disk_put(SDA, 0, "XFSB", 4);
}
static void btrfs(void)
{
    disk_put(SDA, 0x10040, "_BHRfS_M", 8);
}
static void vfat(void)
{
    disk_put(SDA, 0x36, "FAT16", 5);
}
static void ntfs(void)
{
    disk_put(SDA, 3, "NTFS    ", 8);
}
static void lvm_label(void)
{
    disk_put(SDA, 0x200, "LABELONE", 8);
}

#define GROUP_ID "t7EThRpk7UGz2HgBl1Ky2Ck995pueuY2" /* as dm has it */
#define GROUP_TEXT "spare {\nid = \"t7EThR-pk7U-Gz2H-gBl1-Ky2C-k995-pueuY2\"\nseqno = 1\n"

/* What pvcreate and vgcreate of LVM 2.03.16 wrote to a disk of 32 MiB, as far as it tells of the group: the label, the
 * head of the metadata area, and the beginning of the text, at 200h of the area's FF000h bytes. */
static void volume(long at)
{
    static const char label[] = "LABELONE\1\0\0\0\0\0\0\0\xf0\x15\x9b\x6d\x20\0\0\0LVM2 001"
                                "KznFy5cvWFzawZ3GHbgqNtHumjJYhJCZ\0\0\0\2\0\0\0\0"
                                "\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                "\0\x10\0\0\0\0\0\0\0\xf0\x0f\0\0\0\0\0";
    static const char head[] = "\x5b\x33\xee\x2c LVM2 x[5A%r0N*>\1\0\0\0\0\x10\0\0\0\0\0\0\0\xf0\x0f\0\0\0\0\0"
                               "\0\2\0\0\0\0\0\0\xbd\2\0\0\0\0\0\0\x63\x65\1\x3f\0\0\0\0";
    disk_put(SDA, at + 0x200, label, sizeof label - 1);
    disk_put(SDA, at + 0x1000, head, sizeof head - 1);
    disk_put(SDA, at + 0x1200, GROUP_TEXT, sizeof GROUP_TEXT - 1);
}
/* A logical volume, which has no extents on sda. */
static void active(const char *uuid)
{
    put_device("m", "virtual/block/dm-3", "253:3", 0, SECTORS);
    put_attribute("m", "dm-3", "dm/uuid", uuid);
    put_attribute("m", "dm-3", "dm/name", "spare-root\n");
}
static void volume_of_active(void)
{
    volume(0), active("LVM-" GROUP_ID "9cGZQ2YfQ0p3Zq1Yc7bCkQ1oJ5x0aV7s\n");
}
static void volume_in_partition(void)
{
    partition(), volume(2048 * 512), active("LVM-" GROUP_ID "9cGZQ2YfQ0p3Zq1Yc7bCkQ1oJ5x0aV7s-real\n");
}
/* The text begins 20 bytes before the end of the area and goes on behind its head. */
static void volume_of_ring(void)
{
    volume_of_active();
    disk_put(SDA, 0x1000 + 40, "\xec\xef\x0f", 3);
    disk_put(SDA, 0x1200, GROUP_TEXT + 20, sizeof GROUP_TEXT - 1 - 20);
    disk_put(SDA, 0x1000 + 0xfefec, GROUP_TEXT, 20);
}
/* A copy of the metadata that is not kept up to date. */
static void volume_ignored(void)
{
    volume_of_active(), disk_put(SDA, 0x1000 + 60, "\1", 1);
}
static void volume_torn(void)
{
    volume_of_active(), disk_put(SDA, 0x1208, "damaged", 7);
}
static void volume_without_metadata(void)
{
    lvm_label(), active("LVM-anything\n");
}
static void volume_of_other(void)
{
    volume(0), active("LVM-pueuY2t7EThRpk7UGz2HgBl1Ky2Ck9959cGZQ2YfQ0p3Zq1Yc7bCkQ1oJ5x0aV7s\n");
}
static void volume_beside_other(void)
{
    volume(0), active("CRYPT-LUKS2-" GROUP_ID "\n");
}
/* Of no group yet: its text has no place. */
static void volume_of_none(void)
{
    volume_of_active(), disk_put(SDA, 0x1000 + 40, "\0\0\0\0\0\0\0\0\0\0\0\0", 12);
}
static void md_12(void)
{
    disk_put(SDA, 0x1000, "\xfc\x4e\x2b\xa9", 4);
}
static void md_10(void)
{
    disk_put(SDA, -8192, "\xfc\x4e\x2b\xa9", 4);
}
static void md_090(void)
{
    disk_put(SDA, -65536, "\xfc\x4e\x2b\xa9", 4);
}
static void luks(void)
{
    disk_put(SDA, 0, "LUKS\xba\xbe\0\2", 8);
}
static void zfs(void)
{
    disk_put(SDA, 128 * 1024 + 5 * 1024, "\x0c\xb1\xba\0\0\0\0\0", 8);
}
static void zfs_at_end(void)
{
    disk_put(SDA, -128 * 1024, "\0\0\0\0\0\xba\xb1\x0c", 8);
}
static void swap_label(void)
{
    disk_put(SDA, 0xff6, "SWAPSPACE2", 10);
}
static void bcache_label(void)
{
    disk_put(SDA, 0x1018, "\xc6\x85\x73\xf6\x4e\x1a\x45\xca", 8);
}
static void gpt(void)
{
    disk_put(SDA, 0x200, "EFI PART", 8);
}
static void gpt_backup(void)
{
    disk_put(SDA, -512, "EFI PART", 8);
}
static void mbr(void)
{
    disk_put(SDA, 0x1fe, "\x55\xaa", 2);
}

/* Of NVMe. */
static void root_on_sibling(void)
{
    mounted_as("self/mountinfo", "259:1", "/dev/nvme0n2");
}
static void sibling_signature(void)
{
    disk_put(NS2, 0x438, "\x53\xef", 2);
}
static void other_host(void)
{
    disks[NS1].cmic = disks[CTRL].cmic = 2, disks[NS1].nmic = disks[CTRL].nmic = 1, disks[CTRL].attached = 2;
}
static void reservations(void)
{
    other_host(), disks[CTRL].attached = 1, disks[CTRL].rescap = 1, disks[NS1].keys = 1;
}
static void fabrics(void)
{
    put(in("m/sys/devices/pci0/nvme/nvme0/transport"), "tcp\n");
}
static void same_namespace_twice(void)
{
    put_attribute("m", "nvme0n1", "wwid", "eui.0025385191b00001\n");
    put_attribute("m", "sdb", "wwid", "eui.0025385191b00001\n");
}
static void own_root(void)
{
    mounted_as("self/mountinfo", "259:0", "/dev/nvme0n1");
}

static const struct situation {
    const char *disk, *token;
    void (*put)(void);
    const char *says;
    bool opened_before; /* it comes about between opening and use */
    bool wipeable, whole_only;
} situations[] = {
#define SDA_IS(what, says) \
    { \
        "sda", "SERIALA1", what, says, false, false, false \
    }
#define SDA_HOLDS(what, says) \
    { \
        "sda", "SERIALA1", what, says, false, true, false \
    }
#define SDA_BECOMES(what, says) \
    { \
        "sda", "SERIALA1", what, says, true, false, false \
    }
    SDA_IS(mounted_disk, "sda is mounted on /srv"),
    SDA_IS(mounted_partition, "sda1 is mounted on /srv"),
    SDA_IS(mounted_by_source, "sda is mounted on /srv"),
    SDA_IS(mounted_by_link, "sda is mounted on /srv"),
    SDA_IS(mounted_of_several, "sda is mounted on /srv"),
    SDA_IS(mounted_elsewhere, "in the mount namespace of process 4711"),
    SDA_IS(mounted_in_namespace, "in the mount namespace of process 77"),
    SDA_IS(no_proc, "mount /proc"),
    SDA_IS(swap_disk, "sda is swap space"),
    SDA_IS(swap_partition, "sda1 is swap space"),
    SDA_IS(btrfs_second, "part of the mounted btrfs 0f0f-77"),
    SDA_IS(md_member, "sda is part of md127"),
    SDA_IS(md_of_partition, "sda1 is part of md127"),
    SDA_IS(mounted_md, "md127 is mounted on /srv"),
    SDA_IS(lvm, "sda is part of dm-0"),
    SDA_IS(encrypted, "sda is part of dm-1"),
    SDA_IS(multipath, "a path of the multipath device dm-2"),
    SDA_IS(stacked, "dm-0 is mounted on /srv"),
    SDA_IS(bcache, "registered with bcache"),
    SDA_IS(loop_backing, "backs the loop device /dev/loop3"),
    SDA_IS(loop_of_partition, "sda1 backs the loop device /dev/loop3"),
    SDA_IS(boot_by_path, "booted from"),
    SDA_IS(boot_by_uuid, "sda1 is what this machine was booted from"),
    SDA_IS(boot_ancestor, "dm-0 is what this machine was booted from"),
    SDA_IS(resume_of_swap, "booted from"),
    SDA_IS(read_only, "sda is read-only"),
    SDA_IS(refuses_writing, "write-protected"),
    SDA_IS(held_by_other, "it is in use, says the kernel"),
    SDA_IS(no_right, "run as root"),
    SDA_IS(same_serial, "sdb may be the same drive by another path"),
    SDA_IS(same_name, "sdb may be the same drive by another path"),
    SDA_IS(reserved, "2 registered reservation keys"),
    SDA_HOLDS(partitions_only, "sda has 1 partition (sda1)"),
    SDA_BECOMES(vanished, ""),
    SDA_BECOMES(node_gone, "no longer what was opened"),
    SDA_BECOMES(other_number, "no longer what was opened"),
    SDA_BECOMES(other_sequence, "its sequence number (diskseq) is 101, not 100"),
    SDA_BECOMES(other_serial, "its serial number is SERIALX9, not SERIALA1"),
    SDA_BECOMES(came_back_renamed, "no longer what was opened"),
    SDA_BECOMES(mounted_partition, "sda1 is mounted"),
    SDA_BECOMES(md_member, "sda is part of md127"),
    SDA_HOLDS(ext4, "signatures (ext"),
    SDA_HOLDS(xfs, "xfs"),
    SDA_HOLDS(btrfs, "btrfs"),
    SDA_HOLDS(vfat, "vfat"),
    SDA_HOLDS(ntfs, "ntfs"),
    SDA_HOLDS(lvm_label, "LVM2_member"),
    SDA_IS(volume_of_active, "sda is a physical volume of the LVM group spare, which is active (dm-3, spare-root)"),
    SDA_IS(volume_in_partition, "sda1 is a physical volume of the LVM group spare, which is active (dm-3, spare-root)"),
    SDA_IS(volume_of_ring, "sda is a physical volume of the LVM group spare, which is active"),
    SDA_IS(volume_ignored, "sda is a physical volume of LVM that does not tell its group"),
    SDA_IS(volume_torn, "sda is a physical volume of LVM that does not tell its group"),
    SDA_IS(volume_without_metadata, "sda is a physical volume of LVM that does not tell its group"),
    SDA_HOLDS(volume_of_other, "LVM2_member"),
    SDA_HOLDS(volume_beside_other, "LVM2_member"),
    SDA_HOLDS(volume_of_none, "LVM2_member"),
    SDA_HOLDS(md_12, "linux_raid_member"),
    SDA_HOLDS(md_10, "linux_raid_member"),
    SDA_HOLDS(md_090, "linux_raid_member"),
    SDA_HOLDS(luks, "crypto_LUKS"),
    SDA_HOLDS(zfs, "zfs_member"),
    SDA_HOLDS(zfs_at_end, "zfs_member"),
    SDA_HOLDS(swap_label, "swap"),
    SDA_HOLDS(bcache_label, "bcache"),
    SDA_HOLDS(gpt, "gpt"),
    SDA_HOLDS(gpt_backup, "gpt"),
    SDA_HOLDS(mbr, "dos"),
    {"nvme0n1", "SERIALN3:1", own_root, "nvme0n1 is mounted", false, false, false},
    {"nvme0n1", "SERIALN3:all", root_on_sibling, "nvme0n2 is mounted on /srv", false, false, true},
    {"nvme0n1", "SERIALN3:all", sibling_signature, "nvme0n2 holds signatures (ext", false, true, true},
    {"nvme0n1", "SERIALN3:1", other_host, "attached to 2 controllers, and this host sees 1", false, false, false},
    {"nvme0n1", "SERIALN3:1", reservations, "registered for reservations by 1", false, false, false},
    {"nvme0n1", "SERIALN3:1", fabrics, "reached over a network", false, false, false},
    {"nvme0n1", "SERIALN3:1", same_namespace_twice, "sdb may be the same drive", false, false, false},
};

static int changed(void)
{
    int n = 0;
    for (int i = 0; i < N_DISKS; i++)
        n += disks[i].changed;
    return n;
}

/* One after the other: the guard says no, the permit is refused, and nothing goes through; also with the token. */
static void test_situations(void)
{
    struct sated_guard guard;
    const size_t n = sizeof situations / sizeof *situations;
    CHECK(n >= 40);
    for (size_t i = 0; i < n; i++) {
        const struct situation *s = &situations[i];
        int failed = check_failed;
        disks_new();
        if (!s->opened_before)
            s->put();
        struct sated_drive *d = disk_open(s->disk);
        if (s->opened_before)
            s->put();
        CHECK_EQ(s->whole_only ? sated_drive_guard_whole(d, &guard) : sated_drive_guard(d, &guard), 0);
        bool told_later =
            s->put == refuses_writing || s->put == held_by_other || s->put == no_right; /* by the kernel */
        CHECK_EQ(guard.safe, told_later);
        CHECK(guard.needs_token);
        CHECK_EQ(guard.wipeable, s->wipeable);
        if (!told_later)
            CHECK_TEXT(guard.reasons, s->says);
        int rc = sated_drive_permit(d, s->token);
        sated_detail_get(&detail);
        CHECK(rc == SATED_UNSAFE || (rc == -EACCES && s->put == no_right));
        CHECK_TEXT(detail.text, s->says);
        CHECK_EQ(try_everything(d), 0);
        CHECK_EQ(changed(), 0);
        for (int k = 0; k < N_DISKS; k++)
            CHECK_EQ(disks[k].holders, 0);
        if (check_failed > failed)
            printf("# situation %zu (\"%s\"): %d, \"%s\", \"%s\"\n", i, s->says, rc, detail.text, guard.reasons);
        sated_drive_close(d);
    }
    printf("# %zu situations\n", n);
}

/* The same machine without any: what every refusal above is measured against. */
static void test_permitted(void)
{
    struct sated_guard guard;
    disks_new();
    struct sated_drive *d = disk_open("sda");
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(guard.safe && guard.needs_token && !guard.reasons[0]);
    CHECK_TEXT(guard.scope, "/dev/sda (0.0 GB, serial number SERIALA1)");
    CHECK_TEXT(guard.paths, "0:0:0:0");
    CHECK_EQ(sated_drive_permit(d, "SERIALA1"), 0);
    CHECK_EQ(disks[SDA].holders, 1);
    CHECK_EQ(try_everything(d), 6);
    CHECK_EQ(disks[SDA].changed, 3);
    CHECK(!disk_is(SDA, 0) && disk_is(SDB, BYSTANDER));
    struct sated_drive *second = disk_open("sda"); /* nobody else, not even ourselves */
    CHECK_EQ(sated_drive_permit(second, "SERIALA1"), SATED_UNSAFE);
    sated_drive_close(second);
    sated_drive_close(d);
    CHECK_EQ(disks[SDA].holders, 0);

    /* One namespace of two: its blocks, and with SERIAL:all everything, both held. */
    d = disk_open("nvme0n1");
    CHECK_EQ(sated_drive_guard_whole(d, &guard), 0);
    CHECK(guard.safe);
    CHECK_TEXT(guard.scope, "/dev/nvme0n1 (0.0 GB, serial number SERIALN3), /dev/nvme0n2");
    CHECK_TEXT(guard.paths, "nvme0");
    CHECK_EQ(sated_drive_permit(d, "SERIALN3:1"), 0);
    CHECK_EQ(disks[NS1].holders, 1);
    CHECK_EQ(disks[NS2].holders, 0);
    CHECK_EQ(handle_need_permit(d, HANDLE_BLOCKS, "writing"), 0);
    CHECK_EQ(handle_need_permit(d, HANDLE_DRIVE, "sanitizing"), SATED_UNSAFE);
    sated_detail_get(&detail);
    CHECK_TEXT(detail.text, "sanitizing reaches all of the device, and consent covers nvme0n1 alone");
    CHECK_TEXT(detail.text, "SERIAL:all");
    CHECK_EQ(sated_drive_permit(d, "SERIALN3:all"), 0);
    CHECK_EQ(disks[NS2].holders, 1);
    CHECK_EQ(try_everything(d), 6);
    sated_drive_close(d);
    CHECK_EQ(disks[NS1].holders + disks[NS2].holders, 0);
}

static bool says_fork(const struct sated_drive *d, int rc)
{
    char text[80];
    sated_detail_get(&detail);
    snprintf(text, sizeof text, "was opened by process %d, of which this one (%d) is a fork", (int)d->opener,
             (int)getpid());
    if (rc == SATED_STATE && strstr(detail.text, text))
        return true;
    printf("# in a fork: %d, \"%s\"\n", rc, detail.text);
    return false;
}

/* A child has the descriptors and the permit of its parent, and may not use them. */
static void test_fork(void)
{
    static uint8_t junk[4096];
    struct sated_scsi_command format = {.cdb = {0x04}, .cdb_len = 6}, ready = {.cdb_len = 6};
    struct sated_load_options opt;
    struct sated_workload w;
    struct sated_load *load;
    struct sated_purge *purge;
    struct sated_reply reply;
    int status = -1;
    disks_new();
    struct sated_drive *d = disk_open("sda");
    CHECK_EQ(sated_drive_permit(d, "SERIALA1"), 0);
    CHECK_EQ(handle_need_permit(d, HANDLE_DRIVE, "erasing"), 0);
    sated_workload_init(&w);
    sated_load_options_init(&opt);
    opt.ios = 1;
    CHECK_EQ(sated_workload_set(&w, "op", "randwrite"), 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        bool ok = says_fork(d, sated_drive_permit(d, "SERIALA1"));
        ok = says_fork(d, sated_scsi_raw(d, &format, junk, &reply)) && ok;
        ok = says_fork(d, sated_load_start(&load, &d, 1, &w, &opt)) && ok;
        ok = says_fork(d, sated_purge_start(&purge, d, NULL)) && ok;
        ok = says_fork(d, sated_provision_set(d, 1 << 20, NULL)) && ok;
        ok = try_everything(d) == 0 && disks[SDA].changed == 0 && ok;
        ok = sated_scsi_raw(d, &ready, NULL, &reply) == 0 && ok; /* looking is no harm */
        fflush(stdout);
        _exit(!ok);
    }
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    CHECK(disk_is(SDA, 0));
    CHECK_EQ(try_everything(d), 6);
    sated_drive_close(d);
}

/* With a folder for journals that everybody may write to nobody knows what stands: that is the reason, and what helps. */
static void test_journals_of_others(void)
{
    struct sated_guard guard;
    bool direct = false;
    uint32_t alignment;
    int fd;
    disks_new();
    struct sated_drive *d = disk_open("sda");
    put_folder(in("state"));
    CHECK_EQ(chmod(in("state"), 0777), 0);
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(!guard.safe && !guard.wipeable);
    CHECK_TEXT(guard.reasons, "every user may write to this folder (mode 0777)");
    CHECK_TEXT(guard.reasons, "chmod 700");
    CHECK_EQ(sated_drive_permit(d, "SERIALA1"), 0); /* a permit is what an interrupted purge is finished with */
    CHECK_EQ(handle_lend(d, true, &direct, &alignment, &fd), SATED_UNSAFE);
    sated_detail_get(&detail);
    CHECK_TEXT(detail.text, "chmod 700");
    CHECK_EQ(chmod(in("state"), 0700), 0);
    CHECK_EQ(sated_drive_guard(d, &guard), 0);
    CHECK(guard.safe);
    CHECK_EQ(handle_lend(d, true, &direct, &alignment, &fd), 0);
    handle_return(fd);
    sated_drive_close(d);
}

/* What stands there as signatures and partitions alone is wiped by the held descriptor, and then permitted. */
static void test_wipe(void)
{
    size_t wiped = 0;
    for (size_t i = 0; i < sizeof situations / sizeof *situations; i++) {
        const struct situation *s = &situations[i];
        if (s->opened_before)
            continue;
        disks_new();
        s->put();
        if (s->put == partitions_only)
            continue; /* the kernel of this test does not take partitions away */
        struct sated_drive *d = disk_open(s->disk);
        int rc = sated_drive_wipe_signatures(d, s->token);
        sated_detail_get(&detail);
        CHECK_EQ(rc == 0, s->wipeable);
        if ((rc == 0) != s->wipeable)
            printf("# \"%s\": %s\n", s->says, detail.text);
        wiped += rc == 0;
        CHECK_EQ(reread > 0, s->wipeable);
        reread = 0;
        CHECK(disk_is(SDB, BYSTANDER));
        if (!rc)
            CHECK(disk_is(SDA, 0) && disk_is(NS1, 0) && disk_is(NS2, 0));
        sated_drive_close(d);
    }
    CHECK(wiped >= 16);

    /* Without the right token nothing is wiped, and what is mounted meanwhile stays. */
    disks_new();
    ext4();
    struct sated_drive *d = disk_open("sda");
    CHECK_EQ(sated_drive_wipe_signatures(d, "SERIALB2"), SATED_UNSAFE);
    CHECK(!disk_is(SDA, 0));
    mounted_disk();
    CHECK_EQ(sated_drive_wipe_signatures(d, "SERIALA1"), SATED_UNSAFE);
    CHECK(!disk_is(SDA, 0));
    sated_drive_close(d);

    /* The ends of a partition are cleared with it, and what lies between them is left alone. */
    disks_new();
    put_device("m", SCSI_SDA "/block/sda/sda1", "8:1", 1, 2048);
    put_attribute("m", "sda1", "start", "14336\n"); /* 7 MiB to 8 MiB: between what is cleared at the disk's own ends */
    disk_put(SDA, 7 << 20, "XFSB", 4);
    disk_put(SDA, 6 << 20, "left", 4);
    d = disk_open("sda");
    CHECK_EQ(sated_drive_wipe_signatures(d, "SERIALA1"), SATED_UNSAFE); /* this kernel still has the partition */
    sated_detail_get(&detail);
    CHECK_TEXT(detail.text, "sda has 1 partition");
    char read_back[4];
    FILE *f = fopen(disks[SDA].file, "r");
    CHECK(f && !fseek(f, 6 << 20, SEEK_SET) && fread(read_back, 1, 4, f) == 4 && !memcmp(read_back, "left", 4));
    CHECK(!fseek(f, 7 << 20, SEEK_SET) && fread(read_back, 1, 4, f) == 4 && !memcmp(read_back, "\0\0\0", 4));
    fclose(f);
    sated_drive_close(d);
}

static void collect(const char *name, void *user)
{
    strcat(strcat(user, name), " ");
}

/* Our own table and libblkid agree about what each signature is called. */
static void test_names(void)
{
    int compared = 0;
    for (size_t i = 0; i < sizeof situations / sizeof *situations; i++) {
        const struct situation *s = &situations[i];
        if (!s->wipeable || strcmp(s->disk, "sda") || s->put == partitions_only)
            continue;
        char own[256], theirs[512] = "";
        disks_new();
        s->put();
        int fd = open(disks[SDA].file, O_RDONLY | O_CLOEXEC);
        with_blkid = false;
        CHECK_EQ(signature_find(own, sizeof own, fd, SECTORS * 512), 0);
        with_blkid = true;
        if (real_calls.blkid(fd, collect, theirs) == 0 && theirs[0])
            CHECK_TEXT(theirs, strncmp(own, "ext", 3) ? own : "ext"); /* a magic number alone is nothing to libblkid */
        close(fd);
        CHECK_TEXT(s->says, strncmp(own, "ext", 3) ? own : "ext");
        compared += theirs[0] != '\0';
    }
    printf("# %d signatures are libblkid's too\n", compared);
}

int main(void)
{
    if (tree_begin())
        return 1;
    setenv("SATED_STATE_DIR", in("state"), 1);
    disks_begin();
    test_permitted();
    test_fork();
    test_journals_of_others();
    test_situations();
    with_blkid = false; /* and without that library all of it is the same */
    test_situations();
    with_blkid = true;
    test_wipe();
    test_names();
    tree_end();
    return check_done();
}
