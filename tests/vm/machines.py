"""The guests, as data: which disks there are, on which of QEMU's devices, and what is built of them before a command
runs. Drives are found by their serial numbers, never by a number that the kernel gave."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Machine:
    """@param disks name -> MiB; @param blkdebug name -> what QEMU's driver blkdebug does to it; @param volatile disks
    with a cache that a power cut empties; @param devices QEMU's -device arguments; @param spares id -> the same, of a
    device that is plugged in when a test asks for it; @param modules what is loaded first;
    @param setup shell lines that run in the guest, each of which must succeed; @param cut shell lines of a first boot,
    which make /vm/now when the power is to go; @param expected of a machine that is recorded:
    "{SERIAL} ? MEMBER TEXT", what a list must say"""

    name: str
    about: str
    disks: dict[str, int] = field(default_factory=dict)
    blkdebug: dict[str, str] = field(default_factory=dict)
    volatile: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    spares: dict[str, str] = field(default_factory=dict)
    modules: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    kernel_arguments: str = ""


# Makes the links in /dev/disk. What the devices need is loaded by name: all that matches would take longer than a boot.
UDEV = (
    "/usr/lib/systemd/systemd-udevd --daemon --resolve-names=never 2>/dev/null",
    "udevadm trigger --action=add --subsystem-match=block --subsystem-match=nvme",
    "udevadm settle --timeout=60",
)
SETTLE = "udevadm settle --timeout=60"
# It would read of what changes and of what the tests build, while they count. Nothing waits for it once all is settled,
# so that it need not be asked: its workers go with it.
NO_MORE_UDEV = (
    SETTLE,
    "pkill -KILL udev",
    "for again in $(seq 100); do pgrep udev >/dev/null || break; sleep 0.1; done",
    "! pgrep udev",
)


def wait_for(condition: str) -> str:
    """A shell line that waits for what the kernel finds in its own time; what comes after it fails when it does not."""
    return f"for again in $(seq 200); do {condition} && break; sleep 0.1; done"


def by_serial(serial: str) -> str:
    """A shell expression for the node of a drive."""
    return f"$(lsblk --nodeps --noheadings --paths --output NAME,SERIAL | awk '$2 == \"{serial}\" {{ print $1 }}')"


def content(name: str) -> bytes:
    """What the first MiB of each disk holds: its name, and the number of each 512 bytes."""
    return b"".join(f"{name} {number}\n".encode().ljust(512, b".") for number in range(2048))


SATA_AHCI = Machine(
    name="sata-ahci",
    about="An SSD on AHCI, its second partition mounted, and one that no partition is on.",
    disks={"first": 96, "second": 64},
    devices=(
        "ahci,id=ahci,addr=5",
        "ide-hd,drive=first,bus=ahci.2,serial=SATA0001,model=QEMU SSD,ver=1.0,rotation_rate=1,wwn=0x5000c50000000001",
        "ide-hd,drive=second,bus=ahci.3,serial=SATA0002,model=QEMU SSD,rotation_rate=1,physical_block_size=4096",
    ),
    modules=("ahci", "sd_mod", "sg"),
    setup=(
        *UDEV,
        f"disk={by_serial('SATA0001')}",
        "printf '2048,40960\\n43008,40960\\n' | sfdisk --quiet $disk",
        SETTLE,
        "mkfs.ext4 -q ${disk}2",
        "mount ${disk}2 /srv",
        SETTLE,
    ),
    expected=(
        "{SATA0001} ? hba 0000:00:05.0 (8086:2922)",
        "{SATA0001} ? driver ahci",
        "{SATA0001} ? path /dev/disk/by-id/ata-QEMU_SSD_SATA0001",
        "{SATA0001} ? token SATA0001",
        "{SATA0002} ? path /dev/disk/by-id/ata-QEMU_SSD_SATA0002",
        "{SATA0002} ? members",
    ),
)

SAS_HBA = Machine(
    name="sas-hba",
    about="A SAS disk behind a MegaRAID adapter, and one with blocks of 4 KiB on virtio-scsi.",
    disks={"raid": 64, "virtio": 64},
    devices=(
        "megasas-gen2,id=raid,addr=5",
        "scsi-hd,drive=raid,bus=raid.0,serial=RAID0001,vendor=ACME,product=SAS SSD,ver=A1,rotation_rate=1",
        "virtio-scsi-pci,id=virtio,addr=7",
        "scsi-hd,drive=virtio,bus=virtio.0,serial=VSCSI001,vendor=ACME,product=SCSI SSD,ver=A2,rotation_rate=1,"
        "logical_block_size=4096,physical_block_size=4096",
    ),
    modules=("megaraid_sas", "virtio_scsi", "sd_mod", "sg"),
    setup=UDEV,
    expected=(
        "{RAID0001} ? hba 0000:00:05.0 (1000:0079)",
        "{RAID0001} ? driver megaraid_sas",
        "{RAID0001} ? vendor ACME",
        "{RAID0001} ? token RAID0001",
        "{VSCSI001} ? driver virtio_scsi",
        "{VSCSI001} ? transport virtio",
    ),
)

NVME_PATHS = Machine(
    name="nvme-paths",
    about="A subsystem of two controllers that share two of three namespaces, and a plain drive.",
    disks={"one": 64, "two": 64, "three": 64, "plain": 64},
    devices=(
        "nvme-subsys,id=subsystem,nqn=dual",
        "pcie-root-port,id=port1,chassis=1,addr=5,x-speed=16,x-width=4",
        "pcie-root-port,id=port2,chassis=2,addr=6,x-speed=16,x-width=4",
        "pcie-root-port,id=port3,chassis=3,addr=7",
        "nvme,id=left,bus=port1,serial=DUAL0001,subsys=subsystem",
        "nvme,id=right,bus=port2,serial=DUAL0001,subsys=subsystem",
        "nvme-ns,drive=one,bus=left,nsid=1,shared=on,detached=on",
        "nvme-ns,drive=two,bus=left,nsid=2,shared=on,detached=on,logical_block_size=4096,physical_block_size=4096",
        "nvme-ns,drive=three,bus=left,nsid=3,shared=off,detached=on",
        "nvme,id=plain,bus=port3,serial=PLAIN001,drive=plain",
    ),
    # The kernel probes controllers, and scans namespaces, all at once: one after the other they are called the same in
    # each recording. The second namespace comes first, so that no name has the number of its namespace in it.
    setup=(
        "echo 0 >/sys/bus/pci/drivers_autoprobe && modprobe nvme",
        "for each in 01 02 03; do echo 0000:$each:00.0 >/sys/bus/pci/drivers/nvme/bind; done",
        *UDEV,
        "for each in 2:0 2:1 1:0 1:1 3:0; do",
        "    space=${each%:*} controller=${each#*:}",
        "    nvme attach-ns /dev/nvme$controller --namespace-id=$space --controllers=$controller",
        "    " + wait_for("grep -qsx $space /sys/class/block/nvme0c${controller}n*/nsid"),
        f"    {SETTLE}",
        "done",
    ),
    expected=(
        "{DUAL0001-1} ? token DUAL0001:1",
        "{DUAL0001-2} ? token DUAL0001:2",
        "{DUAL0001-3} ? token DUAL0001:3",
        "{DUAL0001-3} ? hba 0000:01:00.0 (1b36:0010)",
        "{DUAL0001-1} ? driver nvme",
        "{PLAIN001} ? hba 0000:03:00.0 (1b36:0010)",
        "{PLAIN001} ? token PLAIN001",
        "{PLAIN001} ? driver nvme",
        "{PLAIN001} ? path /dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_PLAIN001_1",
    ),
)

USB_BRIDGE = Machine(
    name="usb-bridge",
    about="Two drives on USB: one by the bulk-only protocol, one by UAS.",
    disks={"bulk": 64, "uas": 64},
    devices=(
        "qemu-xhci,id=usb,addr=5",
        "usb-storage,bus=usb.0,drive=bulk,serial=BULK0001",
        "usb-uas,bus=usb.0,id=uas,serial=UASB0001",
        "scsi-hd,drive=uas,bus=uas.0,serial=UAS00001,rotation_rate=1",
    ),
    modules=("xhci_pci", "usb_storage", "uas", "sd_mod", "sg"),
    setup=UDEV,
    expected=(
        "{BULK0001} ? driver usb-storage",
        "{BULK0001} ? hba QEMU USB HARDDRIVE at 2-1:1.0 (46f4:0001)",
        "{BULK0001} ? link 5000 Mbit/s",
        "{BULK0001} ? path /dev/disk/by-id/usb-QEMU_QEMU_HARDDISK_BULK0001-0:0",
        "{BULK0001} ? token QEMU HARDDISK@pci-0000:00:05.0-usb-0:1:1.0-scsi-0:0:0:0",
        "{UASB0001} ? driver uas",
        "{UASB0001} ? link 5000 Mbit/s",
    ),
)

VIRTIO = Machine(
    name="virtio",
    about="A disk on virtio-blk, swapped to.",
    disks={"swap": 64},
    devices=("virtio-blk-pci,drive=swap,serial=SWAP0001,addr=5",),
    modules=("virtio_blk",),
    setup=(*UDEV, f"disk={by_serial('SWAP0001')}", "mkswap -q $disk", "swapon $disk"),
    expected=(
        "{SWAP0001} ? transport virtio",
        "{SWAP0001} ? driver virtio_blk",
        "{SWAP0001} ? token SWAP0001",
        "{SWAP0001} ? mounted yes",
        "{SWAP0001} ? reasons {SWAP0001} is swap space; swapoff it first",
    ),
)

MD_SET = Machine(
    name="md-set",
    about="A mirror of a partition on NVMe and a whole SATA drive, which has failed in it, mounted.",
    disks={"nvme": 96, "sata": 64},
    devices=(
        "nvme,drive=nvme,serial=MDNVME01,addr=5",
        "ahci,id=ahci,addr=6",
        "ide-hd,drive=sata,bus=ahci.0,serial=MDSATA01,model=QEMU SSD,rotation_rate=1",
    ),
    modules=("nvme", "ahci", "sd_mod", "raid1"),
    setup=(
        *UDEV,
        f"nvme={by_serial('MDNVME01')} sata={by_serial('MDSATA01')}",
        "printf '2048,126976\\n' | sfdisk --quiet $nvme",
        SETTLE,
        "mdadm --create /dev/md127 --run --quiet --assume-clean --metadata=1.2 --level=1 --raid-devices=2 "
        "--uuid=8f1e7a52:00000000:00000000:0000beef ${nvme}p1 $sata",
        SETTLE,
        "mkfs.ext4 -q /dev/md127",
        "mount /dev/md127 /srv",
        "mdadm --quiet /dev/md127 --fail $sata",
        SETTLE,
        wait_for("grep -q clean /sys/block/md127/md/array_state"),
    ),
    expected=(
        "md127 ? transport md",
        "md127 ? model md raid1",
        "md127 ? hba",
        "md127 ? token 8f1e7a52-0000-0000-0000-00000000beef",
        "md127 ? members {MDNVME01}p1 in_sync|{MDSATA01} faulty",
        "{MDSATA01} ? driver ahci",
        "{MDSATA01} ? reasons {MDSATA01} is part of md127; take it out of there first|"
        "md127 is mounted on /srv (ext4); unmount it first",
        "{MDNVME01} ? reasons {MDNVME01}p1 is part of md127; take it out of there first|"
        "md127 is mounted on /srv (ext4); unmount it first|"
        "{MDNVME01} has 1 partition ({MDNVME01}p1); where nothing of it is wanted any more, --wipe-signatures "
        "of sated purge or review takes it away",
    ),
)

MAPPED = Machine(
    name="mapped",
    about="A logical volume of LVM over two drives, and a drive encrypted by dm-crypt, both mounted.",
    disks={"one": 64, "two": 64, "crypt": 64},
    devices=(
        "virtio-scsi-pci,id=scsi,addr=5",
        "scsi-hd,drive=one,bus=scsi.0,serial=LVM00001,rotation_rate=1",
        "scsi-hd,drive=two,bus=scsi.0,serial=LVM00002,rotation_rate=1",
        "nvme,drive=crypt,serial=CRYPT001,addr=6",
    ),
    modules=("virtio_scsi", "nvme", "sd_mod", "dm_mod", "dm_crypt"),
    setup=(
        *UDEV,
        f"one={by_serial('LVM00001')} two={by_serial('LVM00002')} crypt={by_serial('CRYPT001')}",
        "vgcreate --quiet --quiet group $one $two",
        "lvcreate --quiet --quiet --yes --extents 100%FREE --stripes 2 --name volume group",
        "mkfs.ext4 -q /dev/group/volume",
        "mount /dev/group/volume /srv",
        "printf secret | cryptsetup open --type plain --cipher aes-xts-plain64 --key-size 256 --hash sha256 "
        "--key-file - $crypt secret",
        SETTLE,
        "mkfs.ext4 -q /dev/mapper/secret",
        "mount /dev/mapper/secret /mnt",
    ),
    expected=(
        "{LVM00001} ? transport virtio",
        "{CRYPT001} ? driver nvme",
        "{LVM00001} ? reasons {LVM00001} is part of dm-0; take it out of there first|"
        "dm-0 is mounted on /srv (ext4); unmount it first",
        "{CRYPT001} ? reasons {CRYPT001} is part of dm-1; take it out of there first|"
        "dm-1 is mounted on /mnt (ext4); unmount it first",
        "{CRYPT001} ? namespaces {CRYPT001}",
    ),
)

# The same disk on two host adapters, as a SAS drive with two ports is on two HBAs.
TWO_PATHS = (
    "virtio-scsi-pci,id=left",
    "virtio-scsi-pci,id=right",
    *(
        f"scsi-hd,drive=paths,bus={side}.0,share-rw=on,serial=PATHS001,wwn=0x5000c50000000011,vendor=ACME,"
        "product=DUAL SSD,rotation_rate=1"
        for side in ("left", "right")
    ),
)
# As multipathd would have it (Documentation/admin-guide/device-mapper/dm-multipath): one group that holds each path.
JOIN_PATHS = (
    f"paths={by_serial('PATHS001')}; set -- $paths; dmsetup create mpatha --uuid mpath-35000c50000000011 --table "
    '"0 $(blockdev --getsz $1) multipath 0 0 1 1 round-robin 0 2 1 $1 1 $2 1"'
)

MULTIPATH = Machine(
    name="multipath",
    about="One SAS disk that is on two host adapters, put together by dm-multipath, and mounted.",
    disks={"paths": 64},
    devices=TWO_PATHS,
    modules=("sd_mod", "sg", "virtio_scsi", "dm_mod", "dm_multipath"),
    kernel_arguments="scsi_mod.scan=sync",  # so that the first is called sda
    setup=(*UDEV, JOIN_PATHS, SETTLE, "mkfs.ext4 -q /dev/mapper/mpatha", "mount /dev/mapper/mpatha /srv", SETTLE),
    expected=(
        *(
            f"{node} ? {member}"
            for node, other, slot in (("sda", "sdb", 4), ("sdb", "sda", 5))
            for member in (
                "driver virtio_scsi",
                # The serial number is that of two nodes: it does not say which.
                f"token DUAL SSD@pci-0000:00:{slot:02}.0-scsi-0:0:0:0",
                f"reasons {node} is a path of the multipath device dm-0; take that apart first (multipath -f)|"
                "dm-0 is mounted on /srv (ext4); unmount it first|"
                f"{other} may be the same drive by another path: its serial number or name, PATHS001, is that of "
                f"{node}; take all paths but one away",
            )
        ),
    ),
)

RECORDED = (SATA_AHCI, SAS_HBA, NVME_PATHS, USB_BRIDGE, VIRTIO, MD_SET, MAPPED, MULTIPATH)

NVME = Machine(
    name="nvme",
    about="Two controllers with three namespaces, one of 4 KiB blocks; one with protection, one with other metadata; a "
    "plain one; nvme-loop.",
    disks={"one": 64, "two": 64, "three": 64, "protected": 64, "extended": 64, "plain": 64, "loop": 64},
    devices=(
        "nvme-subsys,id=subsystem,nqn=dual",
        "nvme,id=left,serial=DUAL0001,subsys=subsystem",
        "nvme,id=right,serial=DUAL0001,subsys=subsystem",
        "nvme-ns,drive=one,bus=left,nsid=1,shared=on",
        "nvme-ns,drive=two,bus=left,nsid=2,shared=on,logical_block_size=4096,physical_block_size=4096",
        "nvme-ns,drive=three,bus=left,nsid=3,shared=off",
        "nvme,id=protected,serial=PROT0001",
        "nvme-ns,drive=protected,bus=protected,nsid=1,ms=8,pi=1",
        "nvme,id=extended,serial=EXTD0001",
        "nvme-ns,drive=extended,bus=extended,nsid=1,ms=8,mset=1",
        "nvme,id=plain,serial=PLAIN001,drive=plain",
        "virtio-blk-pci,drive=loop,serial=BACK0001",
    ),
    modules=("nvme", "virtio_blk", "configfs", "nvme_loop"),
    setup=(
        # What was never written has no protection that a read could be checked against.
        f"blkdiscard --force --zeroout {by_serial('PROT0001')}",
        # Documentation/nvme/nvmet: a target of the kernel's own, and the host that it is connected to is this one.
        "mount -t configfs configfs /sys/kernel/config",
        "cd /sys/kernel/config/nvmet && mkdir subsystems/loop subsystems/loop/namespaces/1 ports/1",
        "echo 1 >subsystems/loop/attr_allow_any_host && echo LOOP0001 >subsystems/loop/attr_serial",
        "backing=/dev/$(basename $(dirname $(grep -l BACK0001 /sys/block/*/serial)))",
        "echo $backing >subsystems/loop/namespaces/1/device_path",
        "echo 1 >subsystems/loop/namespaces/1/enable",
        "echo loop >ports/1/addr_trtype && ln -s $PWD/subsystems/loop ports/1/subsystems/loop",
        "nvme connect --transport=loop --nqn=loop --hostnqn=guest",
        wait_for(f'[ -n "{by_serial("LOOP0001")}" ]'),
    ),
)

SCSI = Machine(
    name="scsi",
    about="Disks on virtio-scsi with blocks of 512 and 4096 bytes, on AHCI, and on USB by both protocols.",
    disks={"plain": 64, "large": 64, "sata": 64, "bulk": 64, "uas": 64},
    devices=(
        "virtio-scsi-pci,id=scsi",
        "scsi-hd,drive=plain,bus=scsi.0,lun=1,serial=VSCSI512,vendor=ACME,product=SCSI SSD,ver=A1,rotation_rate=1",
        "scsi-hd,drive=large,bus=scsi.0,lun=2,serial=VSCSI4096,vendor=ACME,product=SCSI SSD,ver=A2,rotation_rate=1,"
        "logical_block_size=4096,physical_block_size=4096",
        "ahci,id=ahci",
        "ide-hd,drive=sata,bus=ahci.0,serial=SATA0001,model=QEMU SSD,ver=1.0,rotation_rate=1",
        "qemu-xhci,id=usb",
        "usb-storage,bus=usb.0,drive=bulk,serial=BULK0001",
        "usb-uas,bus=usb.0,id=uas,serial=UASB0001",
        "scsi-hd,drive=uas,bus=uas.0,serial=UAS00001,rotation_rate=1",
    ),
    modules=("virtio_scsi", "ahci", "sd_mod", "sg", "xhci_pci", "usb_storage", "uas"),
    setup=(*UDEV, *NO_MORE_UDEV),
)

FAULTS = Machine(
    name="faults",
    about="Drives that fail, are slow or are pulled: NVMe, virtio-scsi, USB, blkdebug, scsi_debug, null_blk, dm-*.",
    disks={"bad": 64, "reset": 64, "pulled": 64, "port": 64, "scsi": 64, "bulk": 64, "uas": 64},
    # Every read that touches the first of these sectors of 512 bytes fails, every write that touches the second.
    blkdebug={
        "bad": "inject-error.0.event=read_aio,inject-error.0.sector=2048,inject-error.0.errno=5,"
        "inject-error.1.event=write_aio,inject-error.1.sector=65536,inject-error.1.errno=5"
    },
    devices=(
        "nvme,serial=BAD00001,drive=bad",
        "nvme,serial=RESET001,drive=reset",
        "nvme,serial=PULLED01,drive=pulled",
        "pcie-root-port,id=bay,chassis=1",
        "nvme,id=nvme,bus=bay,serial=UNPLUG01,drive=port",
        "virtio-scsi-pci,id=virtio",
        "scsi-hd,id=scsi,drive=scsi,bus=virtio.0,serial=UNPLUG02,rotation_rate=1",
        "qemu-xhci,id=usb",
        "usb-storage,id=bulk,bus=usb.0,drive=bulk,serial=UNPLUG03",
        "usb-uas,id=uas,bus=usb.0,serial=UNPLUG04",
        "scsi-hd,drive=uas,bus=uas.0,rotation_rate=1",
    ),
    modules=(
        "nvme",
        "virtio_scsi",
        "xhci_pci",
        "usb_storage",
        "uas",
        "sd_mod",
        "sg",
        "configfs",
        "dm_mod",
        "dm_flakey",
        "dm_delay",
        "null_blk nr_devices=0 poll_queues=1",
    ),
    setup=(
        "modprobe scsi_debug dev_size_mb=64 delay=0 max_luns=1",
        "mount -t configfs configfs /sys/kernel/config",
        "cd /sys/kernel/config/nullb && mkdir nullb0 && cd nullb0",
        "echo 64 >size && echo 1 >memory_backed && echo '+800-815' >badblocks && echo 1 >power",
        "mkdir ../nullb1 && cd ../nullb1",
        "echo 64 >size && echo 1 >memory_backed && echo 1 >poll_queues",
        "echo 2 >irqmode && echo 20000000 >completion_nsec && echo 1 >power",
        "mkdir ../nullb2 && cd ../nullb2",
        "echo 64 >size && echo 1 >memory_backed && echo 1 >power",
        wait_for("[ $(ls -d /sys/block/sd* | wc -l) = 4 ]"),
        *UDEV,
        *NO_MORE_UDEV,
    ),
)

STACKS = Machine(
    name="stacks",
    about="A mirror over NVMe and SATA, a logical volume, dm-crypt, two paths to a disk, swap; file systems on them.",
    disks={"nvme": 96, "sata": 96, "one": 64, "two": 64, "crypt": 64, "swap": 64, "paths": 64},
    devices=(
        "nvme,drive=nvme,serial=MDNVME01",
        "ahci,id=ahci",
        "ide-hd,drive=sata,bus=ahci.0,serial=MDSATA01,model=QEMU SSD,rotation_rate=1",
        "virtio-blk-pci,drive=one,serial=LVM00001",
        "virtio-blk-pci,drive=two,serial=LVM00002",
        "nvme,drive=crypt,serial=CRYPT001",
        "virtio-blk-pci,drive=swap,serial=SWAP0001",
        *TWO_PATHS,
    ),
    modules=("nvme", "ahci", "virtio_scsi", "sd_mod", "virtio_blk", "raid1", "dm_mod", "dm_crypt", "dm_multipath"),
    setup=(
        *UDEV,
        f"nvme={by_serial('MDNVME01')} sata={by_serial('MDSATA01')} crypt={by_serial('CRYPT001')}",
        f"one={by_serial('LVM00001')} two={by_serial('LVM00002')} swap={by_serial('SWAP0001')}",
        "mdadm --create /dev/md127 --run --quiet --assume-clean --metadata=1.2 --level=1 --raid-devices=2 $nvme $sata",
        "vgcreate --quiet --quiet group $one $two",
        "lvcreate --quiet --quiet --yes --extents 100%FREE --stripes 2 --name volume group",
        "printf secret | cryptsetup open --type plain --cipher aes-xts-plain64 --key-size 256 --hash sha256 "
        "--key-file - $crypt secret",
        JOIN_PATHS,
        SETTLE,
        # Nothing is left to write for later, when writes are counted.
        "for each in md127 group/volume mapper/secret mapper/mpatha; do",
        "    mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 /dev/$each",
        "done",
        "mkdir /run/md /run/lvm2 /run/crypt /run/paths",
        "mount /dev/md127 /run/md && mount /dev/group/volume /run/lvm2 && mount /dev/mapper/secret /run/crypt",
        "mount /dev/mapper/mpatha /run/paths",
        "mkswap -q $swap && swapon $swap",
        *NO_MORE_UDEV,
    ),
)

# What a token is for: each has its own serial number, but for two that have the same.
CHANGES = Machine(
    name="changes",
    about="Drives to be written to and erased, and such that must not be: NVMe with two namespaces, SATA, virtio-scsi.",
    disks=dict.fromkeys(
        ("one", "two", "nvme", "sata", "scsi", "victim", "lvm", "moved", "twin", "other", "old", "new", "boot"), 24
    ),
    devices=(
        "nvme-subsys,id=subsystem,nqn=multi",
        "nvme,id=left,serial=MULTI001,subsys=subsystem",
        "nvme,id=right,serial=MULTI001,subsys=subsystem",
        "nvme-ns,drive=one,bus=left,nsid=1,shared=on",
        "nvme-ns,drive=two,bus=left,nsid=2,shared=on",
        "nvme,serial=NVME0001,drive=nvme",
        "ahci,id=ahci",
        "ide-hd,drive=sata,bus=ahci.0,serial=SATA0001,model=QEMU SSD,ver=1.0,rotation_rate=1",
        "virtio-scsi-pci,id=hba",
        *(
            f"scsi-hd,id={drive},drive={drive},bus=hba.0,scsi-id={number},serial={serial},vendor=ACME,"
            "product=SCSI SSD,rotation_rate=1"
            for number, (drive, serial) in enumerate(
                {
                    "scsi": "SCSI0001",
                    "victim": "VICTIM01",
                    "lvm": "LVM00001",
                    "moved": "MOVED001",
                    "twin": "TWIN0001",
                    "other": "TWIN0001",
                    "old": "OLD00001",
                }.items()
            )
        ),
        "virtio-blk-pci,drive=boot,serial=BOOT0001",
    ),
    spares={
        "new": "scsi-hd,id=new,drive=new,bus=hba.0,scsi-id=6,serial=NEW00001,vendor=ACME,product=SCSI SSD,"
        "rotation_rate=1"
    },
    modules=(
        *("nvme", "ahci", "virtio_scsi", "virtio_blk", "sd_mod", "sg", "loop", "ext4", "raid1", "dm_mod", "dm_crypt"),
        "dm_multipath",
    ),
    setup=(
        *UDEV,
        f"vgcreate --quiet --quiet group {by_serial('LVM00001')}",
        "lvcreate --quiet --quiet --yes --extents 100%FREE --name volume group",
        *NO_MORE_UDEV,
    ),
    kernel_arguments="root=/dev/disk/by-id/virtio-BOOT0001",  # its own root is in memory, and does not ask for this
)

# Nothing else than what is measured, so that little comes between.
TIMING = Machine(
    name="timing",
    about="null_blk that a timer of the kernel's completes, quickly and slowly, and one with few places in its queue.",
    modules=("configfs", "dm_mod", "ext4", "null_blk nr_devices=0 poll_queues=0"),
    setup=(
        "mount -t configfs configfs /sys/kernel/config",
        "cd /sys/kernel/config/nullb",
        "for each in 0:4000000 1:30000000; do",
        "    mkdir nullb${each%:*} && cd nullb${each%:*}",
        "    echo 64 >size && echo 1 >memory_backed && echo 2 >irqmode && echo ${each#*:} >completion_nsec",
        "    echo 1 >power && cd ..",
        "done",
        "mkdir nullb2 && cd nullb2",
        "echo 64 >size && echo 1 >memory_backed && echo 16 >hw_queue_depth && echo 1 >power",
        "echo none >/sys/block/nullb2/queue/scheduler",  # which would have a queue of its own
    ),
)

RESUME = Machine(
    name="resume",
    about="A file system on a disk that outlives a power cut in the middle of a plan.",
    disks={"work": 192},
    volatile=("work",),
    devices=("virtio-blk-pci,drive=work,serial=WORK0001",),
    modules=("virtio_blk", "ext4"),
    setup=(
        "disk=/dev/$(basename $(dirname $(grep -l WORK0001 /sys/block/*/serial)))",
        "mkdir /run/work",
        "blkid -t TYPE=ext4 $disk >/dev/null || mkfs.ext4 -q $disk",
        "mount -t ext4 $disk /run/work",
    ),
    cut=(
        ".venv/bin/python tests/vm/resume/plan.py /run/work &",
        "until grep -qs 'started.*0003' /run/work/run/journal.jsonl; do sleep 0.2; kill -0 $! || exit 1; done",
        "sleep 2; touch /vm/now; wait",
    ),
)

# Two run at a time: in this order they end together.
TESTED = (RESUME, CHANGES, STACKS, SCSI, FAULTS, NVME, TIMING)
