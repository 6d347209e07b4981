"""ATA as bytes: builders make commands, decoders turn what a drive answered into frozen dataclasses.

Nothing here talks to a drive. `build_*` return a `Command`; `decode_*` take the answer's bytes (or, for results in
registers, the sense data), in anything that holds bytes, such as a memoryview or a numpy array, and return a dataclass
in which None is unknown, never 0. Layouts and names are those of ACS-4 and SAT-4. All raise `ParseError` for arguments
that a command cannot carry and for answers that are none.

>>> build_identify_device().cdb.hex(" ")
'85 08 0e 00 00 00 01 00 00 00 00 00 00 40 ec 00'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sated import _plugins
from sated._decode import Family, convert, octets, unsigned
from sated._ffi import c_enum, ffi, lib, text
from sated.errors import ParseError, check

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "Attribute",
    "AttributeRule",
    "Checksum",
    "Command",
    "Meaning",
    "Power",
    "Protocol",
    "RawFormat",
    "RegistersSource",
    "SanitizeReason",
    "SelfTest",
    "attribute_raw",
    "attribute_rule",
    "attributes",
    "build_check_power_mode",
    "build_dco_freeze_lock",
    "build_dco_identify",
    "build_dco_restore",
    "build_dco_set",
    "build_flush_cache",
    "build_freeze_accessible_max",
    "build_get_native_max",
    "build_identify_device",
    "build_idle",
    "build_idle_immediate",
    "build_read",
    "build_read_log",
    "build_read_native_max",
    "build_sanitize_antifreeze_lock",
    "build_sanitize_block_erase",
    "build_sanitize_crypto_scramble",
    "build_sanitize_freeze_lock",
    "build_sanitize_overwrite",
    "build_sanitize_status",
    "build_security_disable_password",
    "build_security_erase_prepare",
    "build_security_erase_unit",
    "build_security_freeze_lock",
    "build_security_set_password",
    "build_security_unlock",
    "build_set_accessible_max",
    "build_set_apm",
    "build_set_epc",
    "build_set_features",
    "build_set_look_ahead",
    "build_set_max",
    "build_set_max_freeze_lock",
    "build_set_max_lock",
    "build_set_max_password",
    "build_set_max_unlock",
    "build_set_sata_feature",
    "build_set_write_cache",
    "build_sleep",
    "build_smart_disable",
    "build_smart_enable",
    "build_smart_offline",
    "build_smart_read_data",
    "build_smart_read_log",
    "build_smart_read_thresholds",
    "build_smart_return_status",
    "build_smart_write_log",
    "build_standby",
    "build_standby_immediate",
    "build_trim",
    "build_write",
    "calibrate",
    "decode_dco",
    "decode_error_log",
    "decode_identify",
    "decode_internal_status",
    "decode_log_capabilities",
    "decode_log_directory",
    "decode_log_pages",
    "decode_log_sata",
    "decode_log_security",
    "decode_native_max",
    "decode_ncq_error",
    "decode_pending_defects",
    "decode_power_mode",
    "decode_registers",
    "decode_results_log",
    "decode_sanitize_status",
    "decode_self_test_log",
    "decode_smart",
    "decode_smart_status",
    "decode_smart_thresholds",
    "decode_statistics",
    "erase_timeout_ms",
    "hidden",
    "register_attributes",
]

Protocol = c_enum("sated_ata_protocol", "SATED_ATA_")
Power = c_enum("sated_ata_power", "SATED_ATA_")
SelfTest = c_enum("sated_ata_self_test", "SATED_ATA_TEST_")
SanitizeReason = c_enum("sated_ata_sanitize_reason", "SATED_ATA_SANITIZE_")
RegistersSource = c_enum("sated_ata_registers_source", "SATED_ATA_REGISTERS_")
Checksum = c_enum("sated_ata_checksum", "SATED_ATA_CHECKSUM_")
RawFormat = c_enum("sated_ata_raw_format", "SATED_ATA_")
Meaning = c_enum("sated_ata_meaning", "SATED_ATA_MEANS_")


@dataclass(frozen=True, kw_only=True)
class Command:
    """One ATA command as its registers; `data` is what goes to the drive with it.

    `protocol` as `Protocol`, `direction` 0 none, 1 from, 2 to the drive, `data_len` in bytes, `timeout_ms` 0 = choose.
    """

    command: int
    device: int
    protocol: int
    direction: int
    ext: int
    ck_cond: int
    t_type: int
    icc: int
    features: int
    count: int
    auxiliary: int
    lba: int
    data_len: int
    timeout_ms: int
    data: bytes = b""

    def pass_through(self, length: int) -> bytes:
        """The CDB of ATA PASS-THROUGH of 12 (28-bit commands only), 16 or 32 bytes. Raises ParseError."""
        c = _ATA.new("pass through", "command *", {name: getattr(self, name) for name in _REGISTERS})
        out = ffi.new("struct sated_scsi_command *")
        check(lib.sated_ata_build_cdb(c, length, out))
        return bytes(ffi.buffer(out.cdb)[0 : out.cdb_len])

    @property
    def cdb(self) -> bytes:
        """The CDB of ATA PASS-THROUGH(16)."""
        return self.pass_through(16)


_REGISTERS = tuple(name for name, _ in ffi.typeof("struct sated_ata_command").fields)


_ATA = Family("ata")


def _build(name: str, *arguments: Any, data: bytes = b"") -> Command:
    c = _ATA.command(name, *arguments)
    return Command(**{name: int(getattr(c, name)) for name in _REGISTERS}, data=data)


# ---- commands --------------------------------------------------------------------------------------------------------


def build_identify_device() -> Command:
    """IDENTIFY DEVICE; the answer is 512 bytes for `decode_identify`."""
    return _build("identify_device")


def build_read_log(log: int, *, page: int = 0, pages: int = 1, features: int = 0, dma: bool = False) -> Command:
    """READ LOG EXT, or READ LOG DMA EXT: `pages` of 512 bytes from `page` on."""
    return _build("read_log", log, page, pages, features, dma)


def build_smart_read_data() -> Command:
    """SMART READ DATA; the answer is 512 bytes for `decode_smart`."""
    return _build("smart_read_data")


def build_smart_read_thresholds() -> Command:
    """SMART READ THRESHOLDS; the answer is 512 bytes for `decode_smart_thresholds`."""
    return _build("smart_read_thresholds")


def build_smart_return_status() -> Command:
    """SMART RETURN STATUS; the answer is in the registers: `decode_smart_status`."""
    return _build("smart_return_status")


def build_smart_enable() -> Command:
    """SMART ENABLE OPERATIONS."""
    return _build("smart_enable")


def build_smart_disable() -> Command:
    """SMART DISABLE OPERATIONS."""
    return _build("smart_disable")


def build_smart_offline(subcommand: int) -> Command:
    """SMART EXECUTE OFF-LINE IMMEDIATE. `subcommand` as `SelfTest`, plus `SelfTest.CAPTIVE` to wait for its end."""
    return _build("smart_offline", subcommand)


def build_smart_read_log(log: int, *, pages: int = 1) -> Command:
    """SMART READ LOG: `pages` of 512 bytes, at most 255."""
    return _build("smart_read_log", log, pages)


def build_smart_write_log(log: int, data: Buffer) -> Command:
    """SMART WRITE LOG. `data`: a multiple of 512 bytes."""
    held = octets(data)
    if len(held) % 512:
        raise ParseError(f"SMART WRITE LOG: {len(held)} bytes of data; give a multiple of 512")
    return _build("smart_write_log", log, len(held) // 512, data=held)


def _password(given: Buffer) -> bytes:
    held = octets(given)
    if not 1 <= len(held) <= 32:
        raise ParseError(f"a password of {len(held)} bytes: give 1 to 32, and bytes(32) where zeros are meant")
    return held


def _security_data(
    command: int,
    password: Buffer,
    *,
    master: bool = False,
    maximum: bool = False,
    enhanced: bool = False,
    revision: int = 0,
) -> bytes:
    if master and maximum:
        raise ParseError("security data: maximum=True goes with the user's password only; leave out master=True")
    held = _password(password)
    told = {"command": command, "master": master, "maximum": maximum, "enhanced": enhanced, "revision": revision}
    c = _ATA.new("security data", "security_data *", {**told, "n_password": len(held)})
    ffi.memmove(c.password, held, len(held))
    return _ATA.data("security_data", 512, c)


def build_security_set_password(
    password: Buffer, *, master: bool = False, maximum: bool = False, revision: int = 0
) -> Command:
    """SECURITY SET PASSWORD with its data. `password`: 1 to 32 bytes, the rest becomes zero; `maximum`: the level,
    only with a user password; `revision`: 1 to FFFEh, only with a master password."""
    data = _security_data(0xF1, password, master=master, maximum=maximum, revision=revision)
    return _build("security_set_password", data=data)


def build_security_unlock(password: Buffer, *, master: bool = False) -> Command:
    """SECURITY UNLOCK with its data."""
    return _build("security_unlock", data=_security_data(0xF2, password, master=master))


def build_security_erase_prepare() -> Command:
    """SECURITY ERASE PREPARE, which must come directly before SECURITY ERASE UNIT."""
    return _build("security_erase_prepare")


def build_security_erase_unit(
    password: Buffer, *, master: bool = False, enhanced: bool = False, timeout_ms: int
) -> Command:
    """SECURITY ERASE UNIT with its data; `timeout_ms` from `erase_timeout_ms`."""
    data = _security_data(0xF4, password, master=master, enhanced=enhanced)
    return _build("security_erase_unit", timeout_ms, data=data)


def build_security_freeze_lock() -> Command:
    """SECURITY FREEZE LOCK."""
    return _build("security_freeze_lock")


def build_security_disable_password(password: Buffer, *, master: bool = False) -> Command:
    """SECURITY DISABLE PASSWORD with its data."""
    return _build("security_disable_password", data=_security_data(0xF6, password, master=master))


def erase_timeout_ms(word: int) -> int:
    """How long SECURITY ERASE UNIT may take, ms, at most what a command can be given (49 days). `word`: IDENTIFY word
    89, or 90 for an enhanced erase, as it is.

    >>> erase_timeout_ms(0x0020)  # 64 minutes, by the drive's estimate
    7680000
    """
    return min(int(lib.sated_ata_erase_timeout_ms(unsigned("erase timeout: word", word, 16))), 0xFFFFFFFF)


def build_sanitize_status(*, clear: bool = False) -> Command:
    """SANITIZE STATUS EXT; `clear` ends the failed state."""
    return _build("sanitize_status", clear)


def build_sanitize_crypto_scramble(*, failure_mode: bool = False, zoned_no_reset: bool = False) -> Command:
    """CRYPTO SCRAMBLE EXT."""
    return _build("sanitize_crypto_scramble", failure_mode, zoned_no_reset)


def build_sanitize_block_erase(*, failure_mode: bool = False, zoned_no_reset: bool = False) -> Command:
    """BLOCK ERASE EXT."""
    return _build("sanitize_block_erase", failure_mode, zoned_no_reset)


def build_sanitize_overwrite(
    pattern: int,
    *,
    passes: int = 1,
    invert: bool = False,
    definitive_ending: bool = False,
    failure_mode: bool = False,
    zoned_no_reset: bool = False,
) -> Command:
    """OVERWRITE EXT with a 32-bit `pattern` in 1 to 16 `passes`."""
    return _build("sanitize_overwrite", pattern, passes, invert, definitive_ending, failure_mode, zoned_no_reset)


def build_sanitize_freeze_lock() -> Command:
    """SANITIZE FREEZE LOCK EXT."""
    return _build("sanitize_freeze_lock")


def build_sanitize_antifreeze_lock() -> Command:
    """SANITIZE ANTIFREEZE LOCK EXT."""
    return _build("sanitize_antifreeze_lock")


def build_read_native_max(*, ext: bool = True) -> Command:
    """READ NATIVE MAX ADDRESS (EXT); the answer is in the registers: `decode_native_max`."""
    return _build("read_native_max", ext)


def build_set_max(max_lba: int, *, keep: bool, ext: bool = True) -> Command:
    """SET MAX ADDRESS (EXT): `max_lba` is the last address that stays; `keep`: over a power cycle."""
    return _build("set_max", ext, max_lba, keep)


def _set_max_data(password: Buffer) -> bytes:
    held = _password(password)
    return _ATA.data("set_max_data", 512, held, len(held))


def build_set_max_password(password: Buffer) -> Command:
    """SET MAX SET PASSWORD with its data."""
    return _build("set_max_password", data=_set_max_data(password))


def build_set_max_lock() -> Command:
    """SET MAX LOCK."""
    return _build("set_max_lock")


def build_set_max_unlock(password: Buffer) -> Command:
    """SET MAX UNLOCK with its data."""
    return _build("set_max_unlock", data=_set_max_data(password))


def build_set_max_freeze_lock() -> Command:
    """SET MAX FREEZE LOCK."""
    return _build("set_max_freeze_lock")


def build_get_native_max() -> Command:
    """GET NATIVE MAX ADDRESS EXT; the answer is in the registers: `decode_native_max`."""
    return _build("get_native_max")


def build_set_accessible_max(max_lba: int) -> Command:
    """SET ACCESSIBLE MAX ADDRESS EXT: always kept over a power cycle, and once in each."""
    return _build("set_accessible_max", max_lba)


def build_freeze_accessible_max() -> Command:
    """FREEZE ACCESSIBLE MAX ADDRESS EXT."""
    return _build("freeze_accessible_max")


def build_dco_identify() -> Command:
    """DEVICE CONFIGURATION IDENTIFY; the answer is 512 bytes for `decode_dco`."""
    return _build("dco_identify")


def build_dco_restore() -> Command:
    """DEVICE CONFIGURATION RESTORE."""
    return _build("dco_restore")


def build_dco_freeze_lock() -> Command:
    """DEVICE CONFIGURATION FREEZE LOCK."""
    return _build("dco_freeze_lock")


def build_dco_set(identify: Buffer, *, max_lba: int) -> Command:
    """DEVICE CONFIGURATION SET. `identify`: what DEVICE CONFIGURATION IDENTIFY answered; all but the size stays."""
    held = octets(identify)
    data = _ATA.data("dco_data", 512, held, len(held), max_lba)
    return _build("dco_set", data=data)


def build_trim(ranges: Iterable[tuple[int, int]], *, max_blocks: int = 1) -> Command:
    """DATA SET MANAGEMENT with TRIM. `ranges`: (first LBA, sectors); `max_blocks`: of 512 bytes, IDENTIFY word 105."""
    c = _ATA.new("trim", "range[]", [{"lba": lba, "sectors": sectors} for lba, sectors in ranges])
    data = _ATA.data("trim_list", 512 * unsigned("max_blocks", max_blocks, 16), c, len(c))
    return _build("trim", len(data) // 512, data=data)


def build_check_power_mode() -> Command:
    """CHECK POWER MODE; the answer is in the registers: `decode_power_mode`."""
    return _build("check_power_mode")


def build_idle(timer: int = 0) -> Command:
    """IDLE. `timer`: the standby timer's code, 0 = off."""
    return _build("idle", timer)


def build_idle_immediate() -> Command:
    """IDLE IMMEDIATE."""
    return _build("idle_immediate")


def build_standby(timer: int = 0) -> Command:
    """STANDBY. `timer`: the standby timer's code, 0 = off."""
    return _build("standby", timer)


def build_standby_immediate() -> Command:
    """STANDBY IMMEDIATE."""
    return _build("standby_immediate")


def build_sleep() -> Command:
    """SLEEP; only a reset ends it."""
    return _build("sleep")


def build_set_features(subcommand: int, *, count: int = 0, lba: int = 0) -> Command:
    """SET FEATURES as registers."""
    return _build("set_features", subcommand, count, lba)


def build_set_write_cache(on: bool) -> Command:
    """SET FEATURES: the volatile write cache."""
    return _build("set_write_cache", on)


def build_set_look_ahead(on: bool) -> Command:
    """SET FEATURES: read look-ahead."""
    return _build("set_look_ahead", on)


def build_set_apm(level: int) -> Command:
    """SET FEATURES: advanced power management, 1 to FEh; 0 switches it off."""
    return _build("set_apm", level)


def build_set_epc(subcommand: int, *, condition: int, parameter: int = 0) -> Command:
    """SET FEATURES: extended power conditions. `parameter`: LBA 27:4."""
    return _build("set_epc", subcommand, condition, parameter)


def build_set_sata_feature(feature: int, on: bool) -> Command:
    """SET FEATURES: a SATA feature, such as 03h DIPM or 09h DevSleep."""
    return _build("set_sata_feature", feature, on)


def build_flush_cache(*, ext: bool = True) -> Command:
    """FLUSH CACHE (EXT)."""
    return _build("flush_cache", ext)


def build_read(lba: int, sectors: int, *, block_bytes: int = 512, dma: bool = True, ext: bool = True) -> Command:
    """READ DMA or READ SECTORS (EXT): `sectors` logical sectors of `block_bytes`."""
    return _build("read", lba, sectors, block_bytes, dma, ext)


def build_write(lba: int, data: Buffer, *, block_bytes: int = 512, dma: bool = True, ext: bool = True) -> Command:
    """WRITE DMA or WRITE SECTORS (EXT). `data`: a multiple of `block_bytes`."""
    held = octets(data)
    if block_bytes < 1 or len(held) % block_bytes:
        raise ParseError(f"WRITE: {len(held)} bytes of data; give a multiple of block_bytes={block_bytes}")
    return _build("write", lba, len(held) // block_bytes, block_bytes, dma, ext, data=held)


# ---- what registers say ----------------------------------------------------------------------------------------------


def _in_registers(name: str, sense: Buffer) -> Any:
    return convert(_ATA.result(f"decode_{name}", _ATA.struct("registers", sense), struct=name))


def decode_registers(sense: Buffer) -> Any:
    """The ATA registers in sense data (`AtaRegisters`); `source` says where they were found, 0 = nowhere."""
    return _ATA.decode("registers", sense)


def decode_results_log(data: Buffer, *, log_index: int) -> Any:
    """The registers in SCSI log page 16h, which keeps what fixed-format sense data cuts (`AtaRegisters`).
    `log_index`: as `decode_registers` told it, 1 to 15."""
    return _ATA.decode("results_log", data, log_index, struct="registers")


def decode_power_mode(sense: Buffer) -> Any:
    """What CHECK POWER MODE answered: `AtaPowerMode(failed, mode)`, `mode` as `Power`."""
    return _in_registers("power_mode", sense)


def decode_smart_status(sense: Buffer) -> Any:
    """What SMART RETURN STATUS answered: `AtaSmartStatus(failed, exceeded)`."""
    return _in_registers("smart_status", sense)


def decode_native_max(sense: Buffer) -> Any:
    """What READ or GET NATIVE MAX ADDRESS answered: `AtaNativeMax(failed, max_lba, sectors)`."""
    return _in_registers("native_max", sense)


def decode_sanitize_status(sense: Buffer) -> Any:
    """What a SANITIZE command answered: `AtaSanitizeStatus`; `progress` is of 65536, `reason` as `SanitizeReason`."""
    return _in_registers("sanitize_status", sense)


# ---- what the data says ----------------------------------------------------------------------------------------------


def decode_identify(data: Buffer) -> Any:
    """IDENTIFY DEVICE data: `AtaIdentify`, with the groups capacity, geometry, transfer, settings, link, security,
    sanitize, areas and trim, and the tuple of features that the drive supports."""
    return _ATA.decode("identify", data)


def decode_smart(data: Buffer) -> Any:
    """SMART data: `AtaSmart`. What the attributes mean is told by `attributes`."""
    return _ATA.decode("smart", data)


def decode_smart_thresholds(data: Buffer) -> Any:
    """SMART thresholds: `AtaSmartThresholds`."""
    return _ATA.decode("smart_thresholds", data)


def decode_self_test_log(data: Buffer, *, extended: bool = False) -> Any:
    """SMART log 06h, or the first page of log 07h (`extended`): `AtaSelfTestLog`, newest first."""
    return _ATA.decode("self_test_log", data, extended)


def decode_error_log(data: Buffer, *, extended: bool = False) -> Any:
    """SMART log 01h, or the first page of log 03h (`extended`): `AtaErrorLog`."""
    return _ATA.decode("error_log", data, extended)


def decode_pending_defects(data: Buffer) -> Any:
    """Log 0Ch from its first page on: `AtaPendingDefects`."""
    return _ATA.decode("pending_defects", data)


def decode_ncq_error(data: Buffer) -> Any:
    """Log 10h: `AtaNcqError`, the queued command that failed."""
    return _ATA.decode("ncq_error", data)


def decode_internal_status(data: Buffer) -> Any:
    """Page 00h of logs 24h and 25h: `AtaInternalStatus`."""
    return _ATA.decode("internal_status", data)


def decode_statistics(data: Buffer) -> Any:
    """A page of log 04h: `AtaStatistics`."""
    return _ATA.decode("statistics", data)


def decode_log_pages(data: Buffer) -> Any:
    """Page 00h of logs 04h and 30h: `AtaLogPages`."""
    return _ATA.decode("log_pages", data)


def decode_log_directory(data: Buffer) -> Any:
    """Log 00h: `AtaLogDirectory`, the number of pages of each log."""
    return _ATA.decode("log_directory", data)


def decode_log_capabilities(data: Buffer) -> Any:
    """Page 03h of log 30h: `AtaLogCapabilities`."""
    return _ATA.decode("log_capabilities", data)


def decode_log_security(data: Buffer) -> Any:
    """Page 06h of log 30h: `AtaLogSecurity`."""
    return _ATA.decode("log_security", data)


def decode_log_sata(data: Buffer) -> Any:
    """Page 08h of log 30h: `AtaLogSata`."""
    return _ATA.decode("log_sata", data)


def decode_dco(data: Buffer) -> Any:
    """What DEVICE CONFIGURATION IDENTIFY answered: `AtaDco`."""
    return _ATA.decode("dco", data)


def hidden(identify: Buffer, *, native: Buffer | None = None, dco: Buffer | None = None) -> Any:
    """Which sectors the drive has and does not show, from the numbers alone: `AtaHidden`.

    `identify`: IDENTIFY DEVICE data; `native`: the sense data of READ or GET NATIVE MAX ADDRESS, None = not sent;
    `dco`: what DEVICE CONFIGURATION IDENTIFY answered, None = not sent or aborted.
    """
    told = (
        _ATA.struct("identify", identify),
        ffi.NULL if native is None else _ATA.struct("registers", native),
        ffi.NULL if dco is None else _ATA.struct("dco", dco),
    )
    return convert(_ATA.result("hidden", *told, struct="hidden"))


def calibrate(before: int, after: int, bytes_written: int) -> Any:
    """The unit of a counter, found by writing a known amount: `AtaCalibration`.

    `before`, `after`: the counter; `bytes_written`: in between. `unit_bytes` is None where nothing was counted or more
    than one of the units that drives are known to use agrees; `candidates` are those.

    >>> calibrate(50_108, 50_749, 20 << 30).unit_bytes == 32 << 20
    True
    """
    return convert(_ATA.result("calibration", before, after, bytes_written, struct="calibration"))


# ---- SMART attributes ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class AttributeRule:
    """What an attribute of a drive family is called and means.

    `format` as `RawFormat`, `meaning` as `Meaning`, `unit_bytes`: bytes of one count, None = not known.
    """

    name: str
    format: int = 0
    meaning: int = 0
    unit_bytes: int | None = None
    family: str | None = None


def register_attributes(match: _plugins.Match, names: Mapping[int, str | AttributeRule]) -> None:
    """Teaches attribute names of a drive family; the latest that matches comes first, the built-in ones last.

    `match`: a pattern with `*` and `?` for the model, or a callable that takes it; `names`: by attribute id, a name or
    an `AttributeRule`. `Drive.health` takes from a rule what it means and counts where nothing else tells that.
    Packages do so from an entry point of the group `sated.decoders`: a callable without arguments, called before
    attributes are first looked up. Raises ParseError for what is no attribute's number.
    """
    for number in names:
        if not 1 <= number <= 255:
            raise ParseError(f"attribute {number}: an identifier is 1 to 255")
    rules = {k: v if isinstance(v, AttributeRule) else AttributeRule(name=v) for k, v in names.items()}
    _plugins.attribute_rules.insert(0, (match, rules))


def attribute_rule(number: int, *, model: str | None = None, rotating: bool | None = None) -> AttributeRule:
    """What attribute `number` of a drive is. `model` as IDENTIFY has it, `rotating`: a disk, None = not known.

    Raises ParseError for a number that is not 1 to 255, StateError where a registered `match` fails.

    >>> attribute_rule(241, model="INTEL SSDSA2BZ200G3").unit_bytes == 32 << 20
    True
    """
    _plugins.load()
    for match, rules in _plugins.attribute_rules:
        if number in rules and model is not None and _plugins.matches(match, model):
            return rules[number]
    c = _ATA.result(
        "attribute_info",
        ffi.NULL if model is None else ffi.new("char[]", model.encode()),
        -1 if rotating is None else int(rotating),
        number,
        struct="attribute_info",
    )
    info = convert(c)
    return AttributeRule(
        name=text(c.name), format=info.format, meaning=info.meaning, unit_bytes=info.unit_bytes, family=info.family
    )


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """A SMART attribute with all that is known of it.

    `value`, `worst`, `threshold` are normalised; `raw` are the six bytes, `raw_value` what they count; `second` is an
    average or another count; temperatures are Celsius. `failed`: "now", "past" or "".
    """

    id: int
    name: str
    flags: int
    value: int
    worst: int
    threshold: int | None
    raw: bytes
    raw_value: int | None
    second: int | None
    temperature_c: int | None
    min_c: int | None
    max_c: int | None
    meaning: int
    unit_bytes: int | None
    family: str | None

    @property
    def prefailure(self) -> bool:
        return bool(self.flags & 1)

    @property
    def failed(self) -> str:
        if not self.threshold:
            return ""
        if self.value <= self.threshold:
            return "now"
        return "past" if self.worst <= self.threshold else ""

    @property
    def total_bytes(self) -> int | None:
        """The raw value in bytes, None where the unit is not known."""
        if self.unit_bytes is None or self.raw_value is None:
            return None
        return self.raw_value * self.unit_bytes


def attribute_raw(raw: Buffer, format: int) -> Any:
    """Six raw bytes as their `RawFormat` says: `AtaAttributeRaw(value, second, temperature_c, min_c, max_c)`."""
    return _ATA.decode("attribute_raw", raw, int(format))


def attributes(
    smart: Any, thresholds: Any = None, *, model: str | None = None, rotating: bool | None = None
) -> tuple[Attribute, ...]:
    """The attributes of `decode_smart` with their names, thresholds and meanings.

    `thresholds`: from `decode_smart_thresholds`; `model`, `rotating`: from IDENTIFY, because the maker decides.
    """
    limits = {t.id: t.threshold for t in thresholds.thresholds or ()} if thresholds is not None else {}
    found = []
    for a in smart.attributes or ():
        rule = attribute_rule(a.id, model=model, rotating=rotating)
        raw = attribute_raw(a.raw, rule.format)
        found.append(
            Attribute(
                id=a.id,
                name=rule.name,
                flags=a.flags,
                value=a.value,
                worst=a.worst,
                threshold=limits.get(a.id),
                raw=a.raw,
                raw_value=raw.value,
                second=raw.second,
                temperature_c=raw.temperature_c,
                min_c=raw.min_c,
                max_c=raw.max_c,
                meaning=rule.meaning,
                unit_bytes=rule.unit_bytes,
                family=rule.family,
            )
        )
    return tuple(found)
