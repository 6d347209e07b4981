"""A virtual machine that runs one command and ends. No KVM is needed: QEMU interprets, and a boot takes 4 to 10 s."""

from __future__ import annotations

import contextlib
import json
import shlex
import shutil
import socket
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import image
from machines import Machine, content

REPOSITORY = Path(__file__).resolve().parents[2]
PYTHON = REPOSITORY / ".venv/bin/python"


class GuestFailed(Exception):
    """The guest ended without the command's exit status: it did not boot, crashed, or took too long."""


@dataclass(frozen=True)
class Result:
    """@param status the exit status of the command; @param output what it wrote to both streams"""

    status: int
    output: str
    seconds: float


def share(name: str, path: Path, options: str) -> tuple[str, str]:
    return "-virtfs", f"local,path={path},mount_tag={name},security_model=none,multidevs=remap{options}"


class Guest:
    """One machine, with its disks as sparse files. Usage: `with Guest(machine) as guest: guest.run(["lsblk"])`.

    What the guest leaves in /vm is in `folder` afterwards, and so is what its console said; the disks are removed. When
    it makes a file /vm/unplug-NAME, the device that machines.py gives this id is pulled out of it; with /vm/plug-NAME
    one of the machine's spares is plugged in."""

    def __init__(self, machine: Machine, *, folder: Path | None = None) -> None:
        self.machine = machine
        self.image = image.build()
        self.folder = folder or REPOSITORY / "build/vm" / machine.name
        self.out = self.folder / "out"
        self.console = self.folder / "console.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.began = 0.0
        self.lock = image.locked(self.folder.with_suffix(".lock"))

    def __enter__(self) -> Self:
        self.lock.__enter__()  # another run has the same folder
        shutil.rmtree(self.folder, ignore_errors=True)
        self.out.mkdir(parents=True)
        for name, size in self.machine.disks.items():
            if name in self.machine.volatile:
                self.make_volatile(name, size)
                continue
            with self.disk(name).open("wb") as disk:
                disk.write(content(name))
                disk.truncate(size << 20)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill()
        for name in self.machine.disks:
            self.disk(name).unlink(missing_ok=True)
        self.lock.__exit__(kind, error, traceback)

    def disk(self, name: str) -> Path:
        return self.folder / f"{name}.disk"

    def make_volatile(self, name: str, size: int) -> None:
        """QEMU tells a qcow2 file only at a flush where it put what was written: until then a kill loses it, as a
        drive's cache loses what is in it."""
        create = [self.image.root / "usr/bin/qemu-img", "create", "-q", "-f", "qcow2", self.disk(name), f"{size}M"]
        subprocess.run(create, check=True, timeout=60, env=self.image.environment())

    def cut_power(self, limit_s: float) -> None:
        """Boots, runs the machine's `cut`, and kills the guest when that says so; the disks stay for the next boot."""
        self.start(["sh", "-c", "\n".join(self.machine.cut)])
        assert self.process
        end = time.monotonic() + limit_s
        while not (self.out / "now").exists():
            if time.monotonic() > end or self.process.poll() is not None:
                self.kill()
                raise self.failed(f"did not come to where its power was to be cut within {limit_s:.0f} s")
            time.sleep(0.1)
        self.kill()

    def start(self, command: Sequence[str | Path]) -> None:
        """Boots, and runs a command once the machine's own set-up is done. It sees the host's files at their places,
        read-only below a layer in memory."""
        lines = [
            "ip link set lo up 2>/dev/null",
            *(f"modprobe {name} || exit 125" for name in self.machine.modules),
            *("set -e", *self.machine.setup, "set +e") * bool(self.machine.setup),
            'read -r up rest </proc/uptime; echo "init[$up]: set up" >/dev/console',
            f"cd {shlex.quote(str(REPOSITORY))}",
            "export PYTHONDONTWRITEBYTECODE=1 PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 LANG=C.UTF-8 HOME=/root",
            # The package of this checkout, also where .venv is that of another (mutate.py).
            f"export PYTHONPATH={shlex.quote(str(REPOSITORY / 'python'))}",
            shlex.join(map(str, command)),
        ]
        (self.out / "status").unlink(missing_ok=True)
        (self.out / "command").write_text("\n".join(lines) + "\n")
        self.monitor, theirs = socket.socketpair()  # not by a path, which may be too long for a socket's
        qemu = [
            # Whatever ends this process, and be it killed, ends the guest.
            *("setpriv", "--pdeathsig", "KILL"),
            *self.image.qemu(),
            *("-nodefaults", "-no-user-config", "-nographic", "-no-reboot", "-machine", "q35,sata=off", "-cpu", "max"),
            # One processor: with two, one boot of ten lost the wake-up of a timer, and none was faster.
            *("-accel", "tcg", "-smp", "1", "-m", "1024", "-serial", "stdio"),
            # As in a server: PCIe slots that the kernel serves itself (pciehp), in place of QEMU's by ACPI.
            *("-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off"),
            *("-chardev", f"socket,id=monitor,fd={theirs.fileno()}", "-mon", "chardev=monitor,mode=control"),
            *("-kernel", str(self.image.kernel), "-initrd", str(self.image.initramfs)),
            *("-append", self.kernel_command_line()),
            *("-device", "isa-debug-exit,iobase=0xf4,iosize=0x1"),
            *share("host", Path("/"), ",readonly=on"),
            *share("image", self.image.root, ",readonly=on"),
            *share("out", self.out, ""),
            *(part for name in self.machine.disks for part in ("-blockdev", self.drive(name))),
            *(part for device in self.machine.devices for part in ("-device", device)),
        ]
        self.began = time.monotonic()
        with self.console.open("wb") as console:
            self.process = subprocess.Popen(
                qemu,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                env=self.image.environment(),
                pass_fds=[theirs.fileno()],
            )
        theirs.close()

    def drive(self, name: str) -> str:
        faults = self.machine.blkdebug.get(name)
        file = f"driver=file,filename={self.disk(name)}"
        if faults:
            file = f"driver=blkdebug,image.driver=file,image.filename={self.disk(name)},{faults}"
        below = ",".join(f"file.{part}" for part in file.split(","))
        driver = "qcow2" if name in self.machine.volatile else "raw"
        return f"node-name={name},driver={driver},discard=unmap,detect-zeroes=unmap,{below}"

    def kernel_command_line(self) -> str:
        fixed = (
            "console=ttyS0 quiet loglevel=4 mitigations=off tsc=reliable no_timer_check random.trust_cpu=on panic=-1"
        )
        return f"{fixed} {self.machine.kernel_arguments}"

    def wait(self, limit_s: float) -> Result:
        assert self.process, "start() comes first"
        end = time.monotonic() + limit_s
        done: set[Path] = set()  # a file that went while the guest still makes it would fail there
        while self.process.poll() is None:
            if time.monotonic() > end:
                self.kill()
                raise self.failed(f"was stopped after {limit_s:.0f} s")
            for asked in {*self.out.glob("unplug-*"), *self.out.glob("plug-*")} - done:
                verb, _, device = asked.name.partition("-")
                self.unplug(device) if verb == "unplug" else self.plug(device)
                done.add(asked)
            time.sleep(0.05)
        seconds = time.monotonic() - self.began
        status = self.out / "status"
        if not status.exists():
            raise self.failed(
                f"ended without a result (QEMU's exit status: {self.process.returncode}); if it does not boot at all, "
                f"remove {self.image.root.parent}, and it is made anew"
            )
        return Result(int(status.read_text()), self.output(), seconds)

    def run(self, command: Sequence[str | Path], *, limit_s: float = 120) -> Result:
        self.start(command)
        return self.wait(limit_s)

    def kill(self) -> None:
        """The power cut."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(10)

    def unplug(self, device: str) -> None:
        # QEMU's UAS device must not go while a request of it is on its way (hw/usb/dev-uas.c, usb_uas_cancel_io, ends
        # QEMU then): a machine that is stopped has none. The guest, which goes on afterwards, still has.
        if stopped := device == "uas":
            self.ask("stop")
        self.ask("device_del", {"id": device})
        if stopped:
            self.ask("cont")

    def plug(self, device: str) -> None:
        driver, *properties = self.machine.spares[device].split(",")
        texts = dict(each.split("=", 1) for each in properties)
        values = {name: int(text) if text.isdecimal() else text for name, text in texts.items()}
        self.ask("device_add", {"driver": driver, **values})

    def ask(self, wanted: str, given: dict[str, Any] | None = None) -> None:
        """By QMP: one JSON object in a line each way, after a greeting and between events (QEMU's
        docs/interop/qmp-spec.rst)."""
        asked = " ".join([wanted, *([given["id"]] if given else [])])
        self.monitor.settimeout(30)
        try:
            with self.monitor.makefile("rw") as lines:
                # Leave to give commands may be asked for again.
                for command, arguments in (("qmp_capabilities", {}), (wanted, given or {})):
                    lines.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
                    lines.flush()
                    answer = next(told for told in map(json.loads, lines) if not {"return", "error"}.isdisjoint(told))
                    if "error" in answer and command == wanted:
                        self.kill()
                        raise self.failed(f"could not do {asked}: {answer['error']['desc']}")
        except (OSError, StopIteration) as error:  # QEMU has ended, or says nothing for half a minute
            self.kill()
            raise self.failed(f"did not answer {asked}") from error

    def output(self) -> str:
        path = self.out / "output"
        return path.read_text(errors="replace") if path.exists() else ""

    def failed(self, what: str) -> GuestFailed:
        said = self.console.read_text(errors="replace").strip()[-2000:]
        return GuestFailed(
            f"the guest {self.machine.name} {what}; look at {self.console} and {self.out}/output\n"
            f"the console's end:\n{said}\nthe output's end:\n{self.output().strip()[-2000:]}"
        )
