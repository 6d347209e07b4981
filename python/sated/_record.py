"""The questions by which `sated doctor --record` gets to know a drive, none of which changes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sated import ata, nvme, pages, scsi
from sated._commands import send
from sated.errors import DriveError, UnsupportedError, is_over

if TYPE_CHECKING:
    from sated._drive import Drive

__all__ = ["Recorded", "questions", "record"]

_VPD = (0x00, 0x80, 0x83, 0x86, 0x89, 0xB0, 0xB1, 0xB2)
_MODE_PAGES = (0x08, 0x0A, 0x1A, 0x3F)
_SCSI_LOGS = (0x00, 0x02, 0x03, 0x05, 0x0D, 0x0E, 0x10, 0x11, 0x15, 0x2F)
_ATA_LOGS = ((0x00, 0), (0x04, 0), (0x04, 1), (0x04, 4), (0x04, 5), (0x04, 7), *((0x30, page) for page in range(9)))
_NVME_LOGS = ((0x01, 4096), (0x02, 512), (0x03, 512), (0x05, 4096), (0x06, 564), (0x81, 512), (0xC0, 512))


@dataclass(frozen=True)
class Recorded:
    """What became of one drive's questions."""

    path: Path
    asked: int
    answered: int
    stopped: str
    """Why not all were asked, "" if they were."""


def _scsi() -> Iterator[Any]:
    yield scsi.build_inquiry()
    for page in _VPD:
        yield scsi.build_inquiry(page=page, alloc=1024 if page == 0x89 else 252)
    yield scsi.build_test_unit_ready()
    yield scsi.build_request_sense()
    yield scsi.build_read_capacity()
    yield scsi.build_read_capacity(long=False)
    for page in _MODE_PAGES:
        yield scsi.build_mode_sense(page)
    yield scsi.build_report_opcodes()


def _ata() -> Iterator[Any]:
    yield ata.build_identify_device()
    yield ata.build_check_power_mode()
    yield ata.build_smart_read_data()
    yield ata.build_smart_read_thresholds()
    yield ata.build_smart_return_status()
    yield ata.build_smart_read_log(0x06)
    for log, page in _ATA_LOGS:
        yield ata.build_read_log(log, page=page)
    yield ata.build_read_native_max()
    yield ata.build_read_native_max(ext=False)
    yield ata.build_get_native_max()
    yield ata.build_sanitize_status()


def _nvme(nsid: int) -> Iterator[Any]:
    yield nvme.build_identify(nvme.Cns["CTRL"])
    yield nvme.build_identify(nvme.Cns["NS_LIST"])
    yield nvme.build_identify(nvme.Cns["NS"], nsid=nsid)
    yield nvme.build_identify(nvme.Cns["NS_DESCS"], nsid=nsid)
    for lid, length in _NVME_LOGS:
        yield nvme.build_get_log(lid, length=length, rae=True)
    for fid in (nvme.Fid["POWER"], nvme.Fid["TEMPERATURE"], nvme.Fid["WRITE_CACHE"]):
        yield nvme.build_get_features(fid)
    yield nvme.build_get_features(nvme.Fid["APST"], length=256)


def _first_namespace(drive: Drive) -> int:
    try:
        listed = drive.nvme_admin(nvme.build_identify(nvme.Cns["NS_LIST"])).data
    except DriveError:
        return 1
    return int.from_bytes(listed[:4], "little") or 1


def questions(drive: Drive) -> Iterator[Any]:
    """The commands to ask a drive with, by its protocol."""
    protocol = drive.identity.protocol
    if protocol == "nvme":
        yield from _nvme(_first_namespace(drive))
    else:
        yield from _scsi()
    if protocol == "ata":
        yield from _ata()
    elif protocol == "scsi":
        for log in _SCSI_LOGS:
            yield scsi.build_log_sense(log)
    for page in pages.tables(protocol, drive.identity.model):
        if page.length:
            yield page.command


def record(drive: Drive, path: Path) -> Recorded:
    """Asks a drive how it is and all questions, and writes what came as a replay file.

    What the drive refuses is recorded as refused; where the drive vanishes, may not be asked, or no longer answers,
    asking ends, and what there is is written. Raises UnsupportedError for what takes no commands.
    """
    asked = answered = 0
    stopped = ""
    with drive.record(path):
        with suppress(DriveError, UnsupportedError):  # the first question meets the same
            drive.health()  # what it asks depends on the answers
        for command in questions(drive):
            asked += 1
            try:
                send(drive, command)
                answered += 1
            except (DriveError, UnsupportedError) as error:
                if is_over(error):
                    stopped = str(error)
                    break
    return Recorded(path, asked, answered, stopped)
