# SPDX-License-Identifier: MIT
"""A guest in Hercules: the files it is started with, and its panel's commands.

Hercules has no options beyond its configuration, loads relative to a .ins file
and reads commands from standard input.  All its files are in the guest's run
directory, which is its working directory, so that none of them holds a path.

``python3 -m zvmlab.guest.hercules [KERNEL [PARAMETER…]]`` puts what is loaded into this
folder, for Hercules started by hand (hercules-conf/README.md).
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from zvmlab.base.errors import EmulatorError, Timeout, UsageError, ZvmlabError
from zvmlab.cp.control import Control
from zvmlab.guest import saving
from zvmlab.guest.config import MIB, Channels, GuestConfig, Artifacts
from zvmlab.guest.emulator import Emulator
from zvmlab.guest.herculesload import LOAD, write_load
from zvmlab.guest.run_dir import cannot_write

CONFIGURATION = "guest.cnf"
OPTIONS = "guest.options"
MODULE = "zvmcp.so"
# Hercules executes the commands of a file of this name when it has started.
_SCRIPT = "hercules.rc"
CONSOLE = 0x0009
TIMER_MICROSECONDS = 1000
# What the module writes when it takes a command.
_READY = b"zvmlab: ready\n"
# How it begins to say that it could not do it, or not now (sim/hercules/checkpoint.h).
_REFUSED = re.compile(rb"^zvmcp: (not now: )?(.*)$", re.MULTILINE)
# What it says when a CPU is there, and of its registers.
_CPU = re.compile(rb"^HHCCP002I CPU([0-9A-F]{4}) thread started", re.MULTILINE)
_REGISTERS = re.compile(r"(?:PSW=|CPU[0-9A-F]{4}: R)")
# Of the kernel's configuration: a machine that Hercules 3.13 is not.
_LEVEL = re.compile(r"^CONFIG_MARCH_(Z1[3-9]|Z[2-9][0-9])=y$", re.MULTILINE)
_LOG_SECONDS = 60.0
_POLL_SECONDS = 0.005
_LINK = "checkpoint"


def _program() -> str:
    from zvmlab.builder.herculesbuild import program  # guests in QEMU do without

    return str(program())


def check_program() -> None:
    """Raise CannotRun if Hercules is not installed."""
    _program()


def _device_line(device: str) -> str:
    """A device of the user's; its files are found from any folder."""
    words = device.split()
    if len(words) < 2 or not re.fullmatch(r"[0-9A-Fa-f]{4}", words[0]) or "\n" in device:
        raise UsageError(
            f"device {device!r} is not a line of Hercules' configuration;"
            " use ADDRESS TYPE [ARGUMENT…], for example '0120 3390 disk.cckd'"
        )
    if int(words[0], 16) == CONSOLE:
        raise UsageError(f"device {device!r}: {words[0]} is the console's address; take another")
    files = (str(Path(word).absolute()) if Path(word).is_file() else word for word in words[2:])
    return " ".join([*words[:2], *files])


def configuration(config: GuestConfig, nice: int = 0) -> str:
    """Hercules' own configuration; *nice*: what all its threads are to others."""
    lines = (
        "ARCHMODE z/Arch",
        f"MAINSIZE {config.emulated_storage() // MIB}",
        f"NUMCPU {config.cpus}",
        f"MAXCPU {config.cpus}",
        # By itself Hercules is nice to all others but for its clock, which it looks at
        # every 50 microseconds; on a busy machine a guest would starve.
        f"HERCPRIO {nice}",
        f"CPUPRIO {nice}",
        f"DEVPRIO {nice}",
        f"TODPRIO {nice}",
        f"TIMERINT {TIMER_MICROSECONDS}",
        "OSTAILOR QUIET",
        "LOGOPT NOTIMESTAMP",
        f"LDMOD ./{MODULE}",
        f"{CONSOLE:04X} ZVMCP {OPTIONS}",
        *map(_device_line, config.devices),
    )
    return "".join(f"{line}\n" for line in lines)


def too_new(kernel: Path) -> str | None:
    """The machine that the kernel of this image is built for, if Hercules 3.13 is none such.

    The kernel's decompressor looks for its facilities, and stops in a disabled wait.
    """
    beside = kernel.with_name(kernel.name.replace("vmlinuz", "config"))
    try:
        level = _LEVEL.search(beside.read_text("ascii"))
    except (OSError, UnicodeDecodeError):  # a user's own image: it will say
        return None
    return None if level is None else level[1].lower()


def folder(channels: Channels) -> Path:
    """The folder of all files of the guest."""
    return channels.control.parent.absolute()


def _with_path(segment: str) -> str:
    """A segment's definition; its file is found from any folder."""
    rest, found, path = segment.partition("FILE=")
    return f"{rest}FILE={Path(path).absolute()}" if found else rest


def options(config: GuestConfig, channels: Channels) -> str:
    """The module's options: the CP's, and where its files and sockets are."""
    words = {**config.cp_options(), "segment": ";".join(map(_with_path, config.segments))}
    paths = {
        "control": channels.control,
        "log": channels.console_log,
        "trace": channels.trace,
        "socket": channels.console_socket,
        "system": config.system,
    }
    words |= {key: str(path.absolute()) for key, path in paths.items() if path is not None}
    if channels.trace is not None:
        words["trace-limit"] = str(config.trace_limit)
    for key, value in words.items():
        if "\n" in value:
            raise UsageError(f"the CP option {key} has more than one line: {value!r}")
    return "".join(f"{key} {value}\n" for key, value in words.items())


def prepare(config: GuestConfig, artifacts: Artifacts, channels: Channels) -> list[str]:
    """Write all files; the command line, to be run in their folder."""
    into = folder(channels)
    level = too_new(artifacts.kernel)
    if level is not None:
        raise UsageError(
            f"Hercules cannot run {config.kernel}, which is built for a {level} and later;"
            " take a kernel of Debian's, such as --kernel bookworm, or TREE:full"
        )
    try:
        (into / MODULE).symlink_to(artifacts.emulator)
        # Run by root, Hercules would else take back what nice(1) has said.
        nice = os.getpriority(os.PRIO_PROCESS, 0)
        (into / CONFIGURATION).write_text(configuration(config, nice), encoding="utf-8")
        (into / OPTIONS).write_text(options(config, channels), encoding="utf-8")
        write_load(into, config, artifacts)
    except OSError as error:
        raise cannot_write(into, error) from error
    return [_program(), "-d", "-f", CONFIGURATION]


def prepare_stock(config: GuestConfig, artifacts: Artifacts, into: Path) -> list[str]:
    """The same machine without the CP: write its files; the command line, to be run there.

    It loads the guest by itself; the console is Hercules' own and shows in its log.
    """
    ours = configuration(config, os.getpriority(os.PRIO_PROCESS, 0)).splitlines()
    lines = [line for line in ours if not line.startswith("LDMOD") and " ZVMCP " not in line]
    lines.append(f"{CONSOLE:04X} 3215-C / noprompt")
    (into / CONFIGURATION).write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
    # Without the module nobody reads commands from standard input.
    (into / _SCRIPT).write_text(f"ipl {LOAD}\n", encoding="ascii")
    # Only CP tells Linux where its console is.
    words = f"{config.command_line} condev={CONSOLE:#06x}".strip()
    write_load(into, config._replace(command_line=words), artifacts)
    return [_program(), "-d", "-f", CONFIGURATION]


class Panel:
    """Commands by standard input; the module says when one has been executed."""

    clocks_stop = True
    clocks_jump = False
    can_go_back = False

    def __init__(
        self, emulator: Emulator, into: Path, seconds: float, check: Callable[[], None]
    ) -> None:
        self._emulator = emulator
        self._folder = into
        self._seconds = seconds
        self._check = check
        self._seen = 0
        self._loaded = False
        self.held = True
        self._await()

    def _await(self) -> EmulatorError | None:
        """Wait until Hercules is ready for the next command; why it refused the last one."""
        limit = self._emulator.limit(self._seconds)
        while (end := self._ready_at()) < 0:
            try:
                self._check()
            except ZvmlabError:
                # Not before what Hercules said at its end has been read.
                if self._ready_at() >= 0:
                    continue
                raise
            if limit.over:
                raise Timeout(f"Hercules was not ready within {limit}")
            time.sleep(_POLL_SECONDS)
        said = self._said()[: end - self._seen]
        self._seen = end + len(_READY)
        refused = _REFUSED.search(said)
        if refused is None:
            return None
        kind = saving.NotNow if refused[1] else EmulatorError
        return kind(refused[2].decode("utf-8", "replace"))

    def _ready_at(self) -> int:
        """The position in the log that shows the end of the last command; negative: not yet."""
        at = self._said().find(_READY)
        return at if at < 0 else self._seen + at

    def _said(self, since: int | None = None) -> bytes:
        """The log from a place on: by default what followed the answer to the last command."""
        with open(self._emulator.log, "rb") as log:
            log.seek(self._seen if since is None else since)
            return log.read()

    def _try(self, text: str) -> None:
        """Give a command; EmulatorError says why it was refused."""
        self._emulator.command(text)
        refused = self._await()
        if refused is not None:
            raise refused

    def _command(self, text: str) -> None:
        try:
            self._try(text)
        except EmulatorError as error:
            raise EmulatorError(f"Hercules cannot {text}: {error}") from error

    def go_on(self) -> None:
        """Load the machine, or let its CPUs go on."""
        self._command("zvmcp go" if self._loaded else f"ipl {LOAD}")
        self._loaded = True
        self.held = False

    def begin_to_go_on(self) -> None:
        """It does not take turns."""
        self.go_on()

    def pause(self) -> None:
        """Hold the CPUs between two instructions."""
        self._command("zvmcp hold")
        self.held = True

    def pass_time(self, seconds: float) -> None:
        """Time passes by itself only."""

    def time_to_pass(self) -> float:
        """Do nothing: no time is jumped over."""
        return 0.0

    def _link(self, file: Path) -> str:
        """A checkpoint's file as the panel knows it, where a path has no blanks."""
        link = self._folder / _LINK
        link.unlink(missing_ok=True)
        link.symlink_to(file.parent.absolute())
        return f"{_LINK}/{file.name}"

    def save(self, file: Path) -> None:
        """Save the machine, which is held afterwards."""
        path = self._link(file)
        saving.save(self, "Hercules", lambda: self._try(f"zvmcp save {path}"))

    def restore(self, file: Path) -> None:
        """Restore a machine that was saved, instead of loading one; its CPUs are held."""
        assert not self._loaded, "a machine can be restored only into a new Hercules"
        self._command(f"zvmcp restore {self._link(file)}")
        self._loaded = True

    def begin_restore(self, file: Path) -> Callable[[], None]:
        """Return what restores it: nothing is done meanwhile."""
        return lambda: self.restore(file)

    def put_back(self, file: Path) -> None:
        """Raise: only a new Hercules can take a saved machine's place."""
        raise UsageError(f"Hercules cannot put its machine back to {file}")

    def use(self, control: Control) -> None:
        """It is asked by its panel only."""

    def crash(self) -> None:
        """Whatever Hercules says is in its log, which the console's thread follows."""

    def registers(self) -> str:
        """PSW and general registers of every CPU."""
        before = self._said(0)
        cpus = sorted(set(_CPU.findall(before)))
        for cpu in cpus:
            for command in (f"cpu {int(cpu, 16):x}", "psw", "gpr"):
                self._command(command)
        # A thread of its own writes what Hercules says to its log.
        limit = self._emulator.limit(_LOG_SECONDS)
        while True:
            said = self._said(len(before)).decode("ascii", "replace")
            if said.count("RF=") >= len(cpus) or limit.over:
                return "\n".join(line for line in said.splitlines() if _REGISTERS.match(line))
            time.sleep(_POLL_SECONDS)

    def close(self) -> None:
        """Do nothing: only the emulator's standard input is open."""
