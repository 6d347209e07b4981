"""What a guest consists of, built once and kept outside the tree: Debian's kernel and QEMU from its backports, tools
for the guest, and an initramfs that mounts the host's file system. Nothing is installed: apt downloads with a
configuration of its own, and the packages are unpacked, so that neither root nor a change to the machine is needed."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import io
import lzma
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent

# The kernel that the tests were written with. An archive drops old ones: then the newest takes its place, with a word.
KERNEL = "linux-image-6.12.95+deb12-amd64"
QEMU = ["qemu-system-x86", "qemu-utils", "seabios"]
TOOLS = [
    *("busybox-static", "cryptsetup-bin", "dmsetup", "e2fsprogs", "fdisk", "hdparm", "kmod", "lsscsi", "lvm2"),
    *("mdadm", "nvme-cli", "sg3-utils", "smartmontools", "udev", "util-linux"),
]
# Of these the host's root can be mounted; everything else is loaded from there.
FIRST_MODULES = ["virtio_pci", "9pnet_virtio", "9p", "overlay"]


class Missing(Exception):
    """Something that a guest needs cannot be had on this machine."""


@dataclass(frozen=True)
class Image:
    """@param root what was unpacked, as a root file system; @param modules the folder of kernel modules in it"""

    root: Path
    kernel: Path
    initramfs: Path
    release: str

    @property
    def modules(self) -> Path:
        return self.root / "usr/lib/modules" / self.release

    def environment(self) -> dict[str, str]:
        """For programs out of the image that run on the host."""
        return {**os.environ, "LD_LIBRARY_PATH": str(self.root / "usr/lib/x86_64-linux-gnu")}

    def qemu(self) -> list[str]:
        data = [flag for name in ("qemu", "seabios") for flag in ("-L", str(self.root / "usr/share" / name))]
        return [str(self.root / "usr/bin/qemu-system-x86_64"), *data]

    def qemu_version(self) -> str:
        line = run([*self.qemu(), "--version"], env=self.environment()).splitlines()[0]
        return line.removeprefix("QEMU emulator version ")


def say(text: str) -> None:
    print(f"sated: {text}", file=sys.stderr, flush=True)


def run(command: list[str], *, timeout: float = 300, **options: Any) -> str:
    """@param options of subprocess.run()"""
    try:
        ran = subprocess.run(
            command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=timeout, **options
        )
    except FileNotFoundError:
        raise Missing(f"{command[0]}: not on this machine; the guest is made from Debian's packages with it") from None
    except subprocess.TimeoutExpired:
        raise Missing(
            f"{shlex.join(command)}: nothing after {timeout:.0f} s; is the package archive reachable?"
        ) from None
    if ran.returncode:
        raise Missing(f"{shlex.join(command)}: exit {ran.returncode}: {(ran.stderr or ran.stdout).strip()[-1500:]}")
    return str(ran.stdout)


class Archive:
    """apt with the machine's sources and Debian's backports beside them, all of its state in a folder of ours."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {**os.environ, "APT_CONFIG": str(folder / "apt.conf"), "LC_ALL": "C.UTF-8"}
        self.backports: list[str] = []  # the option that prefers them
        self.complaint = ""  # why the list of packages may not be whole
        sources = folder / "sources.list.d"
        for made in (sources, folder / "lists/partial", folder / "cache/archives/partial"):
            made.mkdir(parents=True)
        (folder / "apt.conf").write_text(
            f'Dir::Etc::sourceparts "{sources}";\nDir::State::lists "{folder}/lists";\nDir::Cache "{folder}/cache";\n'
            'Debug::NoLocking "true";\nAPT::Sandbox::User "";\nAcquire::Languages "none";\n'
        )
        for source in Path("/etc/apt/sources.list.d").glob("*"):
            if source.suffix in (".list", ".sources"):
                (sources / source.name).symlink_to(source)
        self.update()
        release = {key: value.strip('"') for key, _, value in self.os_release()}
        if release.get("VERSION_CODENAME") == "bookworm":  # later ones have both in the suite itself
            self.add_backports(sources / "backports.list", "bookworm")

    @staticmethod
    def os_release() -> list[tuple[str, str, str]]:
        return [line.partition("=") for line in Path("/etc/os-release").read_text().splitlines()]

    def update(self) -> None:
        # A source of somebody else's that does not answer is no concern of ours; what is missing is said later.
        try:
            run(["apt-get", "-q", "-o", "APT::Update::Error-Mode=any", "update"], env=self.env, timeout=300)
        except Missing as error:
            self.complaint = f"; {error}"

    def add_backports(self, path: Path, codename: str) -> None:
        wanted = ["Created-By: Packages", "Origin: Debian", "Label: Debian", f"Suite: {codename}"]
        found = run(["apt-get", "indextargets", "--format", "$(REPO_URI)", *wanted], env=self.env).split()
        if not found:
            found = run(["apt-get", "indextargets", "--format", "$(REPO_URI)", *wanted[:3]], env=self.env).split()
        if not found:
            raise Missing(
                "none of the machine's package sources that answers is Debian's; the guest's kernel comes from its "
                f"backports{self.complaint}"
            )
        keyring = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
        option = f"[signed-by={keyring}] " if keyring.exists() else ""
        path.write_text(f"deb {option}{found[0]} {codename}-backports main\n")
        self.backports = ["-t", f"{codename}-backports"]
        self.update()

    def take(self, packages: list[str], *options: str) -> None:
        """Downloads packages and what they need that this machine has not installed."""
        install = ["apt-get", "-q", "-y", "--download-only", "--reinstall", "--no-install-recommends", *options]
        run([*install, "install", *packages], env=self.env, timeout=900)

    def take_kernel(self) -> None:
        # Not with what it needs: that would be the tools to install it.
        get = ["apt-get", "-q", "download"]
        where = self.folder / "cache/archives"
        try:
            run([*get, KERNEL], env=self.env, cwd=where, timeout=900)
        except Missing:
            shown = run(["apt-cache", *self.backports, "show", "--no-all-versions", "linux-image-amd64"], env=self.env)
            depends = next((line for line in shown.splitlines() if line.startswith("Depends: ")), "")
            newest = depends.removeprefix("Depends: ").split(" ")[0].rstrip(",")
            if not newest.startswith("linux-image-"):
                raise Missing(f"{KERNEL}: not in the archive, and linux-image-amd64 names no other kernel") from None
            say(f"{KERNEL} is no longer in the archive; taking {newest}")
            run([*get, newest], env=self.env, cwd=where, timeout=900)

    def packages(self) -> list[Path]:
        return sorted((self.folder / "cache/archives").glob("*.deb"))


def unpack(packages: list[Path], root: Path) -> None:
    """As on a machine whose /bin and /lib lead to /usr: some packages still say /lib."""
    for name in ("bin", "sbin", "lib"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    for package in packages:
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as tar:
            extract = ["tar", "-x", "--keep-directory-symlink", "--no-same-owner", "-C", str(root)]
            subprocess.run(extract, stdin=tar.stdout, check=True, timeout=600)
        if tar.returncode:
            raise Missing(f"{package}: dpkg-deb cannot read it")
    shutil.rmtree(root / "usr/share/doc", ignore_errors=True)


def modules_in_order(folder: Path, wanted: list[str]) -> list[Path]:
    """The files of modules with what each depends on before it, by modules.dep of depmod(8)."""
    depends: dict[str, list[str]] = {}
    paths: dict[str, str] = {}
    for line in (folder / "modules.dep").read_text().splitlines():
        path, _, others = line.partition(":")
        depends[path] = others.split()
        paths[Path(path).name.split(".")[0].replace("-", "_")] = path
    builtin = {Path(line).stem.replace("-", "_") for line in (folder / "modules.builtin").read_text().splitlines()}
    order: list[str] = []
    for name in wanted:
        if name in builtin:
            continue
        if name not in paths:
            raise Missing(f"{folder}: the kernel has no module {name}; a newer one may have it under another name")
        # The last dependency of a line is what must be loaded first.
        order += [path for path in [*reversed(depends[paths[name]]), paths[name]] if path not in order]
    return [folder / path for path in order]


def write_cpio(out: io.BufferedIOBase, files: dict[str, tuple[int, bytes]]) -> None:
    """The format `newc` of cpio(5), which the kernel takes as an initramfs. @param files name -> mode, contents"""
    for number, (name, (mode, data)) in enumerate([*files.items(), ("TRAILER!!!", (0, b""))], 1):
        fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        for part in (head, data):
            out.write(part + b"\0" * (-len(part) % 4))


def make_initramfs(image: Image) -> None:
    folders = ("bin", "dev", "proc", "sys", "host", "image", "out", "rw", "new", "modules")
    files: dict[str, tuple[int, bytes]] = dict.fromkeys(folders, (0o040755, b""))
    files["bin/busybox"] = (0o100755, (image.root / "usr/bin/busybox").read_bytes())
    files["init"] = (0o100755, (HERE / "init.sh").read_bytes())
    for path in modules_in_order(image.modules, FIRST_MODULES):
        data = path.read_bytes()
        name = path.name.removesuffix(".xz")
        # The names sort as they are to be loaded.
        files[f"modules/{len(files):03d}-{name}"] = (0o100644, lzma.decompress(data) if path.suffix == ".xz" else data)
    begun = image.initramfs.with_suffix(".begun")
    with begun.open("wb") as out:
        write_cpio(out, files)
    begun.rename(image.initramfs)


# What is unpacked changes with these; the initramfs is cheap and made anew for each other text of init.sh.
RECIPE = " ".join([KERNEL, *QEMU, *TOOLS])


def of_folder(folder: Path) -> Image:
    release = (folder / "release").read_text().strip()
    root = folder / "root"
    version = hashlib.sha256((HERE / "init.sh").read_bytes() + repr(FIRST_MODULES).encode()).hexdigest()[:16]
    return Image(root, root / f"boot/vmlinuz-{release}", folder / f"initramfs-{version}.cpio", release)


def make(folder: Path) -> None:
    say(f"building the guest in {folder.parent}: downloading about 135 MB of Debian packages, 310 MB when unpacked")
    archive = Archive(folder / "apt")
    archive.take(QEMU, *archive.backports)
    archive.take(TOOLS)
    archive.take_kernel()
    unpack(archive.packages(), folder / "root")
    shutil.rmtree(folder / "apt")
    releases = [path.name for path in (folder / "root/usr/lib/modules").iterdir()]
    (folder / "release").write_text(f"{releases[0]}\n")
    image = of_folder(folder)
    # One program under many names, to which the package has absolute links.
    depmod = ["depmod", "-b", str(image.root), image.release]
    run(depmod, executable=image.root / "usr/bin/kmod", env=image.environment(), timeout=300)
    (folder / "recipe").write_text(RECIPE)


def is_whole(folder: Path) -> bool:
    """Whether what was unpacked is of this recipe, and nobody took away what a boot begins with."""
    try:
        image = of_folder(folder)
        programs = [image.root / "usr/bin" / name for name in ("busybox", "kmod", "qemu-img", "qemu-system-x86_64")]
        needed = [image.kernel, image.modules / "modules.dep", *programs]
        return (folder / "recipe").read_text() == RECIPE and all(path.stat().st_size for path in needed)
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """For one process at a time; the others wait. @param path of a file that is made for it, and stays"""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build() -> Image:
    """The image, made at the first call on a machine. Raises Missing with what to do about it."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sated-vm"
    try:
        base.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Missing(f"{base}: no place for the guest: {error.strerror}; XDG_CACHE_HOME names another") from None
    folder = base / "image"
    with locked(base / "lock"):
        if not is_whole(folder):
            begun = base / "begun"
            for old in (begun, folder):
                shutil.rmtree(old, ignore_errors=True)
            begun.mkdir()
            make(begun)
            os.sync()  # a machine that crashes now has all of it or none
            begun.rename(folder)
        image = of_folder(folder)
        if not image.initramfs.exists():
            make_initramfs(image)
    return image


if __name__ == "__main__":
    try:
        built = build()
    except Missing as error:
        say(str(error))
        sys.exit(7)
    print(f"{built.root.parent}: Linux {built.release}, QEMU {built.qemu_version()}")
