"""Two namespaces of one subsystem: what reaches both needs both, and the other is never touched for the one."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import attempts
import pytest
import sated
from attempts import EXT4, WHERE, sh
from sated import cli, nvme


@pytest.fixture
def one(nodes: dict[str, str]) -> str:
    return f"/dev/{nodes['MULTI001-1']}"


@pytest.fixture
def two(nodes: dict[str, str]) -> str:
    return f"/dev/{nodes['MULTI001-2']}"


@pytest.fixture
def mounted(two: str) -> Iterator[str]:
    """The second namespace, mounted."""
    sh(f"{EXT4} {two}; mkdir -p {WHERE}; mount -t ext4 -o ro {two} {WHERE}")
    yield two
    sh(f"umount {WHERE}")
    attempts.blank(two)


def test_the_whole_device_is_refused_for_the_other_namespace(
    one: str, mounted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 3, and neither of the two is another than before."""
    nodes = [Path(each).name for each in (one, mounted)]
    before = [attempts.state(each) for each in nodes]
    why = f"{nodes[1]} is mounted on {WHERE}"
    assert cli.main(["purge", one, "--confirm", "MULTI001:all"]) == 3
    assert why in capsys.readouterr().err
    with sated.open(one) as drive:
        assert drive.guard().safe
        whole = drive.guard(whole=True)
        assert not whole.safe and any(why in reason for reason in whole.reasons)
        assert all(f"/dev/{each}" in whole.scope for each in nodes)
        attempts.refuses(drive, ["MULTI001:all"], why)
        for wrong in ("MULTI001", "MULTI001:2", "MULTI001:3"):
            with pytest.raises(sated.UnsafeError, match=r"type MULTI001:1 \(or MULTI001:all"):
                drive.permit(wrong)
    assert [attempts.state(each) for each in nodes] == before


def test_consent_to_one_namespace_does_not_reach_the_other(one: str, mounted: str) -> None:
    """With SERIAL:nsid the namespace itself may be written to and formatted, as QEMU's drive formats one alone (bits 0
    and 1 of FNA are clear); whatever reaches further is refused."""
    node = Path(mounted).name
    before = attempts.state(node)
    beyond = [
        nvme.build_format(nsid=nvme.ALL, lbaf=0),
        nvme.build_format(nsid=2, lbaf=0),
        nvme.build_sanitize("block"),
        nvme.build_ns_delete(1),
        nvme.build_ns_delete(2),
        nvme.build_set_write_cache(False),
    ]
    with sated.open(one) as drive:
        drive.permit("MULTI001:1")
        for command in beyond:
            with pytest.raises(sated.UnsafeError):
                drive.nvme_admin(command)
        with pytest.raises(sated.UnsafeError):
            drive.nvme_io(nvme.build_write(nsid=2, slba=0, blocks=1, block_bytes=512), data_out=attempts.BLOCK)
        with pytest.raises(sated.UnsafeError):
            drive.set(write_cache=False)
        with pytest.raises(sated.UnsafeError):
            drive.set_capacity(fraction=0.5, method="namespace")
        sated.load(drive, attempts.RANDOM, ios=64)
        result = drive.purge()  # the first method that reaches no further
        assert (result.method, result.verified) == ("format", True)
    assert not any(attempts.read(one, 0, 1 << 20))
    assert attempts.state(node) == before
    assert "ext4" in subprocess.run(["blkid", "-p", mounted], capture_output=True, text=True, check=True).stdout


def test_consent_to_all_holds_both(one: str, two: str) -> None:
    """Neither can be mounted meanwhile (open(2), O_EXCL), and what reaches both is done to both."""
    with sated.open(one) as drive:
        drive.permit("MULTI001:all")
        for each in (one, two):
            ran = subprocess.run(["blockdev", "--rereadpt", each], capture_output=True, text=True, check=False)
            assert ran.returncode and "busy" in ran.stderr, each
        for nsid in (1, 2):
            drive.nvme_admin(nvme.build_format(nsid=nsid, lbaf=0, ses="user-data"))
    assert not any(attempts.read(one, 0, 65536)) and not any(attempts.read(two, 0, 65536))
    for each in (one, two):
        sh(f"blockdev --rereadpt {each}")
