#!/bin/busybox sh
# The first process of a guest: mounts the host's root (read-only, the tools of the image above it, a tmpfs above both),
# goes there, runs /vm/command, and leaves through QEMU's isa-debug-exit. The command's exit status is in /vm/status.

# Said on the console, which the host shows when something fails.
step() { read -r up rest </proc/uptime; echo "init[$up]: $*"; }
leave() {
    step "leaving with $1"
    echo "$1" >"$2/status"
    sync
    printf '\0' | dd of=/dev/port bs=1 seek=244 conv=notrunc 2>/dev/null
    busybox poweroff -f
}
fail() { step "FAILED: $*"; leave 125 "$out"; }

if [ "$1" = inside ]; then
    export PATH=/usr/sbin:/usr/bin:/sbin:/bin
    out=/vm
    step "running the command"
    /bin/sh /vm/command </dev/null >/vm/output 2>&1
    leave $? "$out"
fi

export PATH=/bin
out=/out
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
step begin
for module in /modules/*; do insmod "$module" || fail "insmod $module"; done
share() { mount -t 9p -o "trans=virtio,version=9p2000.L,msize=$2" "$1" "/$1" || fail "mounting /$1"; }
share out 262144
share host 1048576,ro,cache=loose
share image 1048576,ro,cache=loose
mount -t tmpfs -o size=512m tmpfs /rw
mkdir /rw/upper /rw/work
mount -t overlay -o "lowerdir=/image:/host,upperdir=/rw/upper,workdir=/rw/work" overlay /new || fail "the overlay"
mount -t proc proc /new/proc
mount -t sysfs sysfs /new/sys
mount -t devtmpfs dev /new/dev
mkdir -p /new/dev/shm /new/dev/pts /new/vm
mount -t tmpfs tmpfs /new/dev/shm
mount -t devpts devpts /new/dev/pts
mount -t tmpfs tmpfs /new/run
mount -t debugfs debugfs /new/sys/kernel/debug
mount --bind /out /new/vm
cp /init /new/init
# The kernel looks for modprobe where this process has its root.
exec chroot /new /bin/sh /init inside
