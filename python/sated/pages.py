"""Vendor log pages as tables: what stands where, and what it counts.

The standards' pages have decoders in `sated.scsi`, `sated.ata` and `sated.nvme`. What a maker adds is a `Page`, a table
of `Field`s; `register` makes `Drive.health` read the page, too, and show it in `Health.vendor`.

>>> page = Page(
...     protocol="nvme",
...     log=0xCA,
...     title="ACME wear",
...     match="ACME *",
...     fields=[Field("flash_written", 0, 8, unit="bytes", scale=1 << 25), Field("wear", 8, 2, unknown=[0xFFFF])],
... )
>>> page.decode(bytes.fromhex("0200000000000000 ffff")).values
{'flash_written': 67108864, 'wear': None}
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from sated import _plugins, _text, ata, nvme, scsi
from sated._decode import octets
from sated.errors import ParseError, SatedError, StateError

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Decoded", "Field", "Page", "register", "tables"]

Value = int | float | str | bytes | None

_KINDS = ("uint", "int", "text", "bytes")
# Of each protocol: the last log, the last page of a log, and what a length is a multiple of and ends with.
_LIMITS = {"nvme": (0xFF, 0, 4, 4096), "ata": (0xFF, 0xFFFF, 512, 512 * 255), "scsi": (0x3F, 0xFF, 1, 0xFFFF)}


@dataclass(frozen=True)
class Field:
    """A field of a page: `size` bytes from byte `at` on.

    `kind`: "uint", "int" (two's complement), "text" (ASCII, blanks and zeros around it left out, "?" for what cannot be
    printed) or "bytes".
    `scale`, `unit`: what one count is, such as 512000 "bytes"; `unknown`: counts that stand for "not reported".
    `parameter`: SCSI only: `at` is a place in the value of this parameter (SPC-5 7.3.2) and not in the page.
    `order`: "little" or "big"; by default the standard's: big for SCSI, little for ATA and NVMe.
    """

    name: str
    at: int
    size: int
    _: KW_ONLY
    kind: str = "uint"
    scale: int | float = 1
    unit: str = ""
    unknown: Sequence[int] = ()
    parameter: int | None = None
    order: str | None = None


def _shown(value: Value, unit: str | None) -> str | None:
    if value is None:
        return None
    told = value.hex(" ") if isinstance(value, bytes) else f"{value:,}" if isinstance(value, int) else str(value)
    return f"{told} {unit}" if unit else told


@dataclass(frozen=True, kw_only=True)
class Decoded:
    """A page as its table reads it: values by the names of fields, None where the drive does not tell them."""

    page: str
    """Such as "log-CAh": under this name its bytes are in `Health.raw`."""
    title: str
    values: dict[str, Value]
    units: dict[str, str]
    """Of the values that have one."""

    def lines(self) -> list[tuple[str, str | None]]:
        """Names and values with their units, as a person reads them; bytes in hexadecimal."""
        return [(name, _shown(value, self.units.get(name))) for name, value in self.values.items()]

    def _repr_html_(self) -> str:
        return _text.html_table(self.lines())


@dataclass(frozen=True, kw_only=True)
class Page:
    """A vendor page.

    `protocol`: "nvme", "ata" or "scsi". `log`: the log identifier of NVMe, the log address of ATA, the page code of
    SCSI; `page`: the page of an ATA log or the subpage of a SCSI one. `match`: which drives have it: a pattern with `*`
    and `?` for the model, or a callable that takes it. `length`: bytes to ask for; 0: none, the page is decoded where
    `Drive.health` reads it anyway. `fields`: the table, or, where none can say it, a function from the page's bytes to
    values by name. `signature`: (byte, bytes that must stand there), by which other pages at the same address are told
    apart. `optional`: many of the drives meant do not have it, so nothing is said where one has not.

    Raises ParseError for what cannot be, naming the field.
    """

    protocol: str
    log: int
    title: str
    fields: Sequence[Field] | Callable[[bytes], Mapping[str, Value]]
    match: _plugins.Match = "*"
    page: int = 0
    length: int = 512
    signature: tuple[int, bytes] | None = None
    optional: bool = False

    def __post_init__(self) -> None:
        if self.protocol not in _LIMITS:
            raise ParseError(f'{self.title}: protocol "{self.protocol}" is unknown: use {", ".join(_LIMITS)}')
        last_log, last_page, multiple, longest = _LIMITS[self.protocol]
        for what, value, last in (("log", self.log, last_log), ("page", self.page, last_page)):
            if not 0 <= value <= last:
                raise ParseError(f"{self.title}: {what} {value:#x}: {self.protocol} has 0 to {last:#x}")
        if not 0 <= self.length <= longest or self.length % multiple:
            raise ParseError(
                f"{self.title}: length {self.length}: give 0 to {longest} bytes, a multiple of {multiple} for "
                f"{self.protocol}"
            )
        if callable(self.fields):
            return
        names = [field.name for field in self.fields]
        for field in self.fields:
            _check(self, field)
            if names.count(field.name) > 1:
                raise ParseError(f"{self.title}: two fields are called {field.name}")

    @property
    def name(self) -> str:
        """Such as "log-CAh", "log-A0h-page-01h" or "log-30h-subpage-02h": as `Health.raw` calls its bytes."""
        of = {"ata": f"-page-{self.page:02X}h", "scsi": f"-subpage-{self.page:02X}h" if self.page else "", "nvme": ""}
        return f"log-{self.log:02X}h{of[self.protocol]}"

    @property
    def command(self) -> nvme.Command | ata.Command | scsi.Command:
        """What asks for it."""
        if self.protocol == "nvme":
            return nvme.build_get_log(self.log, length=self.length, rae=True)
        if self.protocol == "ata":
            return ata.build_read_log(self.log, page=self.page, pages=self.length // 512)
        return scsi.build_log_sense(self.log, subpage=self.page, alloc=self.length)

    def decode(self, data: Buffer) -> Decoded:
        """The page from its bytes, which may end early: what lies behind the end is None. Raises ParseError where they
        are another page, by its signature or by the header of a SCSI page."""
        held = octets(data)
        if self.signature is not None:
            at, wanted = self.signature
            if held[at : at + len(wanted)] != wanted:
                raise ParseError(f"{self.name}: is not the page {self.title}: its signature is not at byte {at}")
        parameters = _parameters(self, held) if self.protocol == "scsi" else {}
        if callable(self.fields):
            values, units = self._by_function(self.fields, held), {}
        else:
            values = {}
            for field in self.fields:
                of = held if field.parameter is None else parameters.get(field.parameter, b"")
                values[field.name] = _value(self, field, of)
            units = {field.name: field.unit for field in self.fields if field.unit}
        return Decoded(page=self.name, title=self.title, values=values, units=units)

    def _by_function(self, function: Callable[[bytes], Mapping[str, Value]], held: bytes) -> dict[str, Value]:
        try:
            return dict(function(held))
        except SatedError:
            raise
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
            raise StateError(f"{self.name} ({self.title}): its function raised {told}; mend it") from error


def _check(page: Page, field: Field) -> None:
    def wrong(sentence: str) -> ParseError:
        return ParseError(f"{page.title}, field {field.name}: {sentence}")

    if field.kind not in _KINDS:
        raise wrong(f'kind "{field.kind}" is unknown: use {", ".join(_KINDS)}')
    if field.order not in (None, "little", "big"):
        raise wrong(f'order "{field.order}" is unknown: use little or big')
    if field.at < 0 or field.size < 1 or (field.kind in ("uint", "int") and field.size > 16):
        raise wrong(f"{field.size} bytes from byte {field.at} on: a number has 1 to 16, and none stands before byte 0")
    if field.parameter is None and page.length and field.at + field.size > page.length:
        raise wrong(f"ends at byte {field.at + field.size}, the page has {page.length}")
    if field.parameter is not None and page.protocol != "scsi":
        raise wrong(f"parameter {field.parameter:04X}h: only SCSI pages have parameters")


def _parameters(page: Page, data: bytes) -> dict[int, bytes]:
    """The values of a SCSI page by parameter code."""
    told = scsi.decode_log(data)
    if (told.page, told.subpage) != (page.log, page.page):
        raise ParseError(f"{page.name}: is not the page {page.title}: it says that it is {told.page:02X}h")
    return {p.code: data[p.offset : p.offset + p.length] for p in told.parameters or ()}


def _value(page: Page, field: Field, data: bytes) -> Value:
    held = data[field.at : field.at + field.size]
    if len(held) < field.size:
        return None
    if field.kind == "bytes":
        return held
    if field.kind == "text":
        shown = held.decode("ascii", "replace").strip(" \0")
        return "".join(each if " " <= each <= "~" else "?" for each in shown) or None  # it goes to terminals
    big = field.order == "big" if field.order else page.protocol == "scsi"
    count = int.from_bytes(held, "big" if big else "little", signed=field.kind == "int")
    return None if count in field.unknown else count * field.scale


def register(page: Page) -> None:
    """Teaches a vendor page: `Drive.health` asks the drives that it is for, and shows it in `Health.vendor`.

    Of two pages with one address the latest that is for a drive counts. Packages register from an entry point of the
    group `sated.decoders`, a callable without arguments.
    """
    if not isinstance(page, Page):
        raise TypeError(f"a sated.pages.Page expected, got {type(page).__name__}")
    _plugins.pages.insert(0, page)


def _ocp(data: bytes) -> dict[str, Value]:
    told = nvme.decode_ocp_smart_log(data)
    return {field.name: getattr(told, field.name) for field in dataclasses.fields(told)}


# What C has a decoder for and asks for itself.
_BUILT_IN = (
    Page(
        protocol="nvme",
        log=nvme.Lid["OCP_SMART"],
        title="OCP SMART / Health Information Extended",
        fields=_ocp,
        length=0,
        optional=True,
    ),
)


def tables(protocol: str | None, model: str | None) -> list[Page]:
    """The pages for a drive, one for each address; a model that nobody told is "" to a `match`. Raises StateError where
    a `match` of one fails."""
    _plugins.load()
    found: dict[str, Page] = {}
    for page in (*_plugins.pages, *_BUILT_IN):
        if page.protocol == protocol and page.name not in found and _plugins.matches(page.match, model or ""):
            found[page.name] = page
    return [*found.values()]
