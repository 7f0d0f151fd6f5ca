# SPDX-License-Identifier: MIT
"""The configuration of a guest, and the emulator's command line that follows from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from zvmlab.base.errors import UsageError
from zvmlab.base.hints import did_you_mean
from zvmlab.builder.kernel import has_checks, is_debug, is_large, judges
from zvmlab.builder.tree_name import tree_name
from zvmlab.guest.console import CRASHES
from zvmlab.guest.names import BACKENDS as BACKENDS, HERCULES as HERCULES, MAX_CPUS as MAX_CPUS
from zvmlab.guest.names import OUR_DRIVER as OUR_DRIVER, QEMU as QEMU
from zvmlab.guest.names import UPSTREAM_DRIVER as UPSTREAM_DRIVER

if TYPE_CHECKING:
    from zvmlab.cp.faults import Fault

MIB = 1 << 20
PAGE = 4096
DEFAULT_STORAGE = "default"
_USUAL_STORAGE = "0.128M"
# Such a kernel alone takes 97 MiB; the default segment lies between the two extents.
_LARGE_KERNEL_STORAGE = "0.144M 152M.104M"
DEFAULT_SEGMENTS = ("MONDCSS 9000-97FF SC RSTD",)
TRACE_DATA = ("short", "full")
CP_OPTIONS = ("userid", "class", "level", "machine", "directory", "console", "conmode", "seed")
"""Of the CP's configuration, what has no option of its own."""
# z/VM storage above this is possible, a host's memory behind it hardly.
MAX_STORAGE = 1 << 40
# Read SCLP Info counts storage increments in 16 bits; QEMU keeps to 1020 of them.
_MAX_INCREMENTS = 1020
_UNITS = {"K": 1 << 10, "M": MIB, "G": 1 << 30, "T": 1 << 40}
_LATER = ("STANDBY", "RESERVED")
_SIZE = re.compile(r"(\d+)([KMGT])", re.IGNORECASE)
_EXTENT = re.compile(r"(\d+)([KMGT]?)\.(\d+)([KMGT])", re.IGNORECASE)
_PAGES = re.compile(r"([0-9A-F]+)-([0-9A-F]+)", re.IGNORECASE)
_CONSOLE_LEVEL = 5
# The kernel's own tests of its ciphers take a third of the boot under emulation.
# Nothing here needs the 128 MiB that a kernel of 2026 sets apart for DMA, and would miss.
_KERNEL_PARAMETERS = ("rdinit=/init", "panic=-1", "cryptomgr.notests", "cma=0")
BASE_USERID = "ZVMBASE"
"""CP_BASE_USERID of the core: the guest is to be saved, and others go on from there as it."""
# For its agent (guest/agent/init.c).
_BASE_WORD = "zvmlab.base"
# A guest is the same each time, and so are addresses in its logs; this word lets it move.
_SAME_PLACE, ANY_PLACE = "nokaslr", "kaslr"
# In an object that was free there is the address of the next free one.  If nothing is written
# over it, kmemleak takes that one for used, also when it has leaked.
_NO_OLD_ADDRESSES = "init_on_alloc=1"
# A boot takes 27 MiB, some hundred programs 76 (docs/choices.md).
TRANSLATIONS = 128
# A date, and a seed, that are the same for all; any would do.
DETERMINISTIC = ("-rtc", "base=2026-01-01T00:00:00,clock=vm", "-seed", "1")
_NOTHING: Mapping[str, str] = MappingProxyType({})
_CONSOLE = {QEMU: "console=ttysclp0", HERCULES: "conmode=3215 console=ttyS0"}
# CP tells the kernel what it has, by QUERY TERMINAL.
_CONSOLE_3215 = "console=ttyS0"


def storage_end(storage: str) -> int:
    """First address behind the storage extents, and what may become storage later.

    They are written as for DEF STOR CONFIG, with ``STANDBY SIZE`` and ``RESERVED SIZE`` behind.
    """
    end = later = 0
    words = storage.split()
    if not words:
        raise UsageError("the storage has no extent; write for example --storage 128M")
    while words:
        word = words.pop(0)
        if word.upper() in _LATER:
            later += _size(word, words.pop(0) if words else "")
        else:
            end = max(end, _extent_end(word))
    return end + later


def _size(word: str, text: str) -> int:
    match = _SIZE.fullmatch(text)
    if match is None and text != "0":
        raise UsageError(
            f"storage: a size has to follow {word}, as in {word} 256M; {text!r} is none"
        )
    return int(match.group(1)) * _UNITS[match.group(2).upper()] if match else 0


def first_extent_end(storage: str) -> int:
    """First address behind the extent that begins at 0, which comes first."""
    return _extent_end(storage.split()[0])


def _extent_end(word: str) -> int:
    match = _EXTENT.fullmatch(word)
    if match is None:
        raise UsageError(f"storage extent {word!r} is not START.SIZE, as in 0.140M or 200M.200M")
    start, start_unit, size, size_unit = match.groups()
    first = int(start) * _UNITS.get(start_unit.upper(), 1)
    return first + int(size) * _UNITS[size_unit.upper()]


def normal_storage(text: str) -> str:
    """Storage as a user writes it: ``128M`` is short for ``0.128M``; commas may part extents."""
    words = text.replace(",", " ").split()
    for at, word in enumerate(words):
        if _SIZE.fullmatch(word) and (at == 0 or words[at - 1].upper() not in _LATER):
            words[at] = f"0.{word}"
    return " ".join(words)


def segment_end(segment: str) -> int:
    """First address behind a segment: ``NAME FIRST-LAST TYPE [FIRST-LAST TYPE …] [RSTD]``."""
    words = segment.split()
    ranges = [match for match in map(_PAGES.fullmatch, words[1:]) if match is not None]
    if not ranges:
        raise UsageError(
            f"segment {segment!r} is not NAME FIRST-LAST TYPE with hexadecimal page numbers,"
            " as in 'MONDCSS 9000-97FF SC RSTD'"
        )
    return max((int(match.group(2), 16) + 1) * PAGE for match in ranges)


class _Fields(NamedTuple):
    """Those of GuestConfig, as they were given."""

    kernel: str = "bookworm"
    cpus: int = 1
    storage: str = DEFAULT_STORAGE
    segments: tuple[str, ...] = DEFAULT_SEGMENTS
    cp: Mapping[str, str] = _NOTHING
    modules: tuple[str, ...] = ()
    driver: str = UPSTREAM_DRIVER
    files: Mapping[str, Path | str] = _NOTHING
    command_line: str = ""
    devices: tuple[str, ...] = ()
    busybox: bool = False
    interactive: bool = False
    trace: bool = True
    trace_data: str = "short"
    trace_limit: int = 1024
    crashes: tuple[str, ...] = CRASHES
    boot_seconds: float = 300.0
    name: str | None = None
    faults: Sequence[Fault] | Path | str = ()
    backend: str = QEMU
    cold: bool = False
    count_instructions: bool = False
    translations: int = TRANSLATIONS
    deterministic: bool = False
    schedule: int = 0
    system: Path | None = None


class GuestConfig(_Fields):
    """Everything that makes one guest differ from another.

    *cp* holds further options of the CP by the names of ``zvmlab run --cp``
    (userid, class, level, machine, directory, console, conmode, seed); with conmode 3215 the
    guest's console in QEMU is a 3215 of CP's, and not QEMU's own.  The *storage* ``default`` is
    0.128M, or what a larger kernel needs to start.  *files* maps paths in the
    guest to local files, *modules* are names or .ko files put into the guest's
    image (the command and ``mark.zvmlab`` also take folders, with a "/", and build them).  *driver* says which monreader the image has: the kernel's own
    (``upstream``), that of driver/ (``zvmlab``), or a .ko file.  *trace_data* is
    ``full`` for a trace that can be replayed (docs/trace.md), *trace_limit* the
    MiB that it may have.  *interactive* adds
    busybox and connects the console to a shell.  *faults* are rules, or a file of
    them, that are armed before the first instruction.  *backend* is the emulator.
    A guest that is *cold* boots from its kernel's first instruction on, though a
    checkpoint might save that (zvmlab.guest.checkpoint).
    *devices* are further devices of the machine, in the words of its emulator: for
    QEMU those of its option -device, with ``,file=PATH`` last for a disk's raw image;
    for Hercules a line of its configuration, as ``0120 3390 PATH``.
    With *count_instructions* the guest's clocks count its instructions, a
    nanosecond each, and stand for nothing else (QEMU only).  QEMU keeps *translations*
    MiB of translated code, then it begins anew; 0 leaves the number to QEMU, which takes 1 GiB.  A *deterministic*
    guest counts instructions from a fixed date on, has fixed random numbers, and
    stops whenever it is the harness' turn (zvmlab.guest.lockstep): the same calls give the
    same trace.  A *schedule* is a seed that decides after how many instructions the next CPU has
    its turn, for a guest that counts them; 0: QEMU decides.
    *system* is the socket of the system that the guest is a member of (zvmlab.guest.system).
    """

    __slots__ = ()

    if not TYPE_CHECKING:

        def __new__(cls, *values: object, **fields: object) -> GuestConfig:
            return cls._make(_Fields(*values, **fields))

    @classmethod
    def _make(cls, iterable: Iterable[object], **_: object) -> GuestConfig:
        """A valid one of the values of all fields; _replace() calls this, too."""
        given = _Fields._make(iterable)
        if given.storage == DEFAULT_STORAGE:
            needed = _LARGE_KERNEL_STORAGE if is_large(given.kernel) else _USUAL_STORAGE
            given = given._replace(storage=needed)
        made = tuple.__new__(cls, given)
        made._check()
        return made

    def __getnewargs__(self) -> tuple[object, ...]:
        """For pickle, which takes no mappingproxy: configurations are given to other processes."""
        return tuple(dict(value) if isinstance(value, Mapping) else value for value in self)

    def _check(self) -> None:
        """UsageError if no guest can be like that."""
        if self.backend not in BACKENDS:
            raise UsageError(f"unknown backend: {self.backend!r} ({' or '.join(BACKENDS)})")
        if self.counts and self.backend != QEMU:
            raise UsageError(f"instructions are counted in {QEMU} only, not in {self.backend}")
        if self.system is not None and self.count_instructions:
            raise UsageError(
                "a member of a system counts its instructions if, and only if, its system is"
                " deterministic"
            )
        if self.deterministic and self.interactive:
            raise UsageError("a guest with a person at its console cannot be deterministic")
        if not 0 <= self.schedule < 1 << 63:
            raise UsageError(f"invalid seed of a schedule: {self.schedule} (0 to 2^63 - 1)")
        if self.schedule and not self.counts:
            raise UsageError(
                "a schedule needs a guest that counts its instructions"
                " (count_instructions, or deterministic)"
            )
        most = MAX_CPUS[self.backend]
        if not 1 <= self.cpus <= most:
            raise UsageError(
                f"invalid number of CPUs: {self.cpus} ({self.backend} supports 1 to {most})"
            )
        for key in ("cpus", "storage", "segment", "trace-data", "trace-limit"):
            if key in self.cp:
                raise UsageError(f"the CP option {key} has an option of its own, --{key}")
        for key in self.cp:
            if key not in CP_OPTIONS:
                raise UsageError(
                    f"unknown CP option: {key} (possible: {', '.join(CP_OPTIONS)})"
                    f"{did_you_mean(key, CP_OPTIONS)}"
                )
        if self.has_3215 and self.backend != QEMU:
            raise UsageError(
                f"the CP option conmode is for {QEMU}; in {self.backend} the console is always a 3215"
            )
        if self.driver not in (UPSTREAM_DRIVER, OUR_DRIVER) and not Path(self.driver).is_file():
            raise UsageError(f"no such driver: {self.driver} (upstream, zvmlab, or a .ko file)")
        if self.trace_data not in TRACE_DATA:
            raise UsageError(f"invalid trace data: {self.trace_data!r} ({' or '.join(TRACE_DATA)})")
        if not 1 <= self.trace_limit <= 1 << 20:
            raise UsageError(f"invalid trace limit: {self.trace_limit} MiB (1 to 1048576)")
        if self.emulated_storage() > MAX_STORAGE:
            raise UsageError(
                f"storage and segments reach up to {self.emulated_storage() // MIB} MiB,"
                f" at most {MAX_STORAGE // MIB} MiB are possible"
            )
        self.fault_rules()

    @property
    def has_3215(self) -> bool:
        """The guest's console is a 3215 of CP's."""
        return self.cp.get("conmode") == "3215"

    @property
    def has_keyboard(self) -> bool:
        """Somebody may type at the console, by its socket."""
        return self.interactive or self.has_3215

    @property
    def counts(self) -> bool:
        """The guest's clocks count its instructions."""
        return self.count_instructions or self.deterministic

    def fault_rules(self) -> tuple[Fault, ...]:
        """The rules of *faults*, read from its file if it names one."""
        if not self.faults:
            return ()
        from zvmlab.cp import fault_points, faults_file  # which few guests have to import

        if isinstance(self.faults, (str, Path)):
            return faults_file.load(self.faults)
        for fault in self.faults:
            fault_points.check(fault)
        return tuple(self.faults)

    def emulated_storage(self) -> int:
        """Bytes that the emulator must have: all extents and segments, in whole increments."""
        end = max([storage_end(self.storage), *map(segment_end, self.segments)])
        increment = MIB
        while end > increment * _MAX_INCREMENTS:
            increment *= 2
        return -(-end // increment) * increment

    def base(self) -> GuestConfig:
        """Of the guest alone whose checkpoint members of a system go on from, whatever their names."""
        words = f"{self.command_line} {_BASE_WORD}={BASE_USERID}"
        cp = {**self.cp, "userid": BASE_USERID}
        return self._replace(name=None, system=None, cp=cp, command_line=words.strip())

    @property
    def is_base(self) -> bool:
        """It is such a guest: its agent waits for another name, and answers nobody."""
        return f"{_BASE_WORD}={BASE_USERID}" in self.command_line.split()

    def kernel_parameters(self) -> str:
        """The guest's kernel command line."""
        level = 7 if self.interactive else _CONSOLE_LEVEL
        # Under z/VM the kernel prepares for 64 CPUs; more than there are cannot come here.
        words = [
            *_KERNEL_PARAMETERS,
            _CONSOLE_3215 if self.has_3215 else _CONSOLE[self.backend],
            f"possible_cpus={self.cpus}",
            f"loglevel={level}",
        ]
        tree = tree_name(self.kernel) if has_checks(self.kernel) else None
        if ANY_PLACE not in self.command_line.split() and not (tree and tree.moves):
            words.append(_SAME_PLACE)
        if tree:
            words += tree.parameters
        if judges(self.kernel):
            words.append(_NO_OLD_ADDRESSES)
        if is_debug(self.kernel):
            # Of what lies between the end of storage and what SCLP calls possible, KASAN
            # has no shadow; a segment there would be read once.  Above this limit it has.
            words.append(f"mem={storage_end(self.storage)}")
        if self.interactive:
            words.append("zvmlab.shell=1")
        if self.command_line:
            words.append(self.command_line)
        return " ".join(words)

    def cp_options(self) -> dict[str, str]:
        """Options of the CP object, without its files."""
        options = {"storage": self.storage, "segment": ";".join(self.segments), **self.cp}
        if self.trace_data != "short":
            options["trace-data"] = self.trace_data
        return options


class Artifacts(NamedTuple):
    """The files fetched or built for a guest."""

    emulator: Path
    """QEMU with the CP, or the CP as a module for Hercules."""
    kernel: Path
    kernel_version: str
    image: Path
    late: tuple[Path, ...] = ()
    """Modules that are put into the guest when its agent answers, in place of the image's."""
    digests: tuple[tuple[str, str], ...] = ()
    """Signatures of these files, and their hashes (base.cache), as far as they are known."""


class Channels(NamedTuple):
    """The sockets and files where emulator and harness meet."""

    control: Path
    qmp: Path
    console_log: Path
    console_socket: Path | None
    trace: Path | None


def _option(words: Mapping[str, str]) -> str:
    """QEMU's key=value list; a comma within a value is doubled."""
    return ",".join(f"{key}={value.replace(',', ',,')}" for key, value in words.items())


def _device_arguments(number: int, device: str) -> list[str]:
    """QEMU's options for a device; ``file=`` comes last, and is a drive that the device gets."""
    words, given, image = device.partition(",file=")
    if not given:
        return ["-device", device]
    if not Path(image).is_file():
        raise UsageError(f"device {device!r}: no such image: {image!r}")
    drive = {"id": f"drive{number}", "if": "none", "format": "raw", "file": image}
    return ["-drive", _option(drive), "-device", f"{words},drive={drive['id']}"]


def device_arguments(config: GuestConfig) -> list[str]:
    """QEMU's options for the devices that the user adds."""
    devices = enumerate(config.devices)
    return [word for at, text in devices for word in _device_arguments(at, text)]


def emulator_arguments(
    config: GuestConfig, artifacts: Artifacts, channels: Channels, restored: bool = False
) -> list[str]:
    """The command line; the machine waits for ``cont`` before its first instruction.

    With *restored* it expects to be restored, and loads nothing.
    """
    cp = {"id": "cp", **config.cp_options(), "control": str(channels.control)}
    # The device of the console sets it.
    cp.pop("conmode", None)
    if channels.trace is not None:
        cp |= {"trace": str(channels.trace), "trace-limit": str(config.trace_limit)}
    storage = f"{config.emulated_storage() // MIB}M"
    if config.system is not None:
        cp["system"] = str(config.system)
    log = str(channels.console_log)
    if channels.console_socket is None:
        console = {"id": "console", "path": log, "append": "on"}
        backend = "file"
    else:
        console = {"id": "console", "path": str(channels.console_socket)}
        console |= {"server": "on", "wait": "off", "logfile": log, "logappend": "on"}
        backend = "socket"
    qmp = {"path": str(channels.qmp), "server": "on", "wait": "off"}
    return [
        str(artifacts.emulator),
        "-nodefaults",
        "-no-user-config",
        *("-display", "none"),
        *(("-object", f"memory-backend-memfd,id=ram,size={storage}") if config.system else ()),
        *("-machine", "s390-ccw-virtio" + (",memory-backend=ram" if config.system else "")),
        *("-accel", f"tcg,tb-size={config.translations}" if config.translations else "tcg"),
        *(("-icount", "shift=0,sleep=off") if config.counts else ()),
        *(DETERMINISTIC if config.deterministic else ()),
        *("-cpu", "max"),
        *("-smp", str(config.cpus)),
        *("-m", storage),
        *("-object", f"zvmlab-cp,{_option(cp)}"),
        *("-chardev", f"{backend},{_option(console)}"),
        # The 3215 comes before all other channel devices, for CP tells the guest its place.
        *("-device", f"{'zvmlab-3215' if config.has_3215 else 'sclpconsole'},chardev=console"),
        *("-device", "zvmlab-cpi"),
        *device_arguments(config),
        *("-qmp", f"unix:{_option(qmp).removeprefix('path=')}"),
        *("-kernel", str(artifacts.kernel)),
        *("-initrd", str(artifacts.image)),
        *("-append", config.kernel_parameters()),
        *(("-incoming", "defer") if restored else ()),
        "-S",
    ]
