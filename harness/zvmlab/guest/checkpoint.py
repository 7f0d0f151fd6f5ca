# SPDX-License-Identifier: MIT
"""Checkpoints: guests in Hercules that go on where one like them stood after its boot.

    checkpoint-KEY/machine        the machine, as the CP's module saves it
    checkpoint-KEY/console.log    what it had written to its console

KEY is a hash of all that went in: what the guest runs, what it consists of,
Hercules itself.  The agent had been connected and was let go, so the guest does
nothing but try to connect again.  Its TOD clock goes on where it stood; its wall
clock is set when the agent is there.  The cache keeps the checkpoints used last.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from zvmlab.agent.agent import Agent
from zvmlab.agent.calls import Out
from zvmlab.agent.wire import Call
from zvmlab.base.cache import digest, entries, entry, locked
from zvmlab.base.errors import EmulatorError
from zvmlab.base.owned import MARK, discard
from zvmlab.build.herculesbuild import program
from zvmlab.guest.config import HERCULES, Channels, GuestConfig, Artifacts
from zvmlab.guest.hercules import Panel, configuration, folder
from zvmlab.guest.run_dir import cannot_write

KIND = "checkpoint"
MACHINE = "machine"
CONSOLE = "console.log"
LIMIT_BYTES = 6 << 30
"""The cache keeps no more of them than this, and at least the one used last."""
_LINK = "checkpoint"
_VERSION = "1"
_CLOCK_REALTIME = 0
_NS = 10**9


def why_cold(config: GuestConfig) -> str | None:
    """Why a guest of this configuration boots from its first instruction on; None: it need not."""
    if config.backend != HERCULES:
        return f"{config.backend} has no checkpoints"
    if config.cold:
        return "its configuration asks for a cold boot"
    if config.fault_rules():
        return "its faults are armed before the first instruction"
    if config.trace_data != "short":
        return "its trace is to be replayed from the beginning"
    if config.devices:
        return "the state of its devices cannot be saved"
    if "zvmlab.attach=" in config.command_line:
        return "it sets its own time limit for the connection to the agent"
    return None


@functools.cache
def _hercules() -> str:
    """Hash of Hercules: program and libraries."""
    libraries = [Path("/usr/lib/hercules")]
    return digest(program(), *(path for path in libraries if path.is_dir()))


def key(config: GuestConfig, artifacts: Artifacts) -> str:
    """Changes with everything that a guest's state after its boot depends on."""
    options = config.cp_options() | {"segment": ";".join(map(_contents, config.segments))}
    return digest(
        *(_VERSION, _hercules(), artifacts.emulator, artifacts.kernel, artifacts.image),
        *(configuration(config), config.kernel_parameters(), repr(sorted(options.items()))),
        *(repr(config.crashes), repr(config.trace)),
    )


def _contents(segment: str) -> str:
    """A segment's definition, with what is in its file for the file's name."""
    rest, found, path = segment.partition("FILE=")
    if not found or not Path(path).is_file():
        return segment
    return f"{rest}FILE={digest(Path(path).read_bytes())}"


def find(config: GuestConfig, artifacts: Artifacts, make: Callable[[Path], None]) -> Path:
    """The checkpoint's folder; *make* fills a new one if it does not exist yet."""
    found = entry(KIND, key(config, artifacts), make)
    with contextlib.suppress(FileNotFoundError):  # another process removes the oldest, too
        os.utime(found)
    _tidy(found)
    return found


def _tidy(keep: Path) -> None:
    """Remove those that have not been used for the longest time."""
    with locked(KIND):
        total = 0
        for folder_, size, _ in sorted(_sizes(), key=lambda found: -found[2]):
            total += size
            if total > LIMIT_BYTES and folder_ != keep:
                discard(folder_)


def _sizes() -> list[tuple[Path, int, float]]:
    """Folder, bytes and time of the last use of all checkpoints."""
    found = []
    for path in entries(KIND):
        with contextlib.suppress(FileNotFoundError):  # as above
            size = sum(file.stat().st_size for file in path.iterdir() if file.name != MARK)
            found.append((path, size, path.stat().st_mtime))
    return found


def _link(channels: Channels, to: Path) -> str:
    """A checkpoint's file as the panel knows it, where a path has no blanks."""
    link = folder(channels) / _LINK
    link.unlink(missing_ok=True)
    link.symlink_to(to.absolute())
    return f"{_LINK}/{MACHINE}"


def save(panel: Panel, channels: Channels, into: Path) -> None:
    """Save a guest whose agent has been let go; its CPUs are held afterwards."""
    try:
        panel.save(_link(channels, into))
        shutil.copyfile(channels.console_log, into / CONSOLE)
    except OSError as error:
        raise cannot_write(into, error) from error


def restore(panel: Panel, channels: Channels, found: Path) -> None:
    """Let a new Hercules take its place: the CPUs are held, the console's log has its beginning.

    A checkpoint that is refused leaves the cache.
    """
    try:
        panel.restore(_link(channels, found))
        said = (found / CONSOLE).read_bytes()
        with open(channels.console_log, "ab") as log:
            log.write(said)
    except (EmulatorError, FileNotFoundError) as error:
        with locked(found.name):
            removed = discard(found)
        then = "it has been removed from the cache, the next start makes a new one"
        if not removed:
            then = f"remove {found}, which does not carry zvmlab's mark"
        raise EmulatorError(f"{error}; {then}") from error
    except OSError as error:
        raise cannot_write(channels.console_log, error) from error


def set_clock(agent: Agent) -> None:
    """Set the guest's wall clock to the time of day."""
    now = time.time_ns()
    value = agent.pack("qq", now // _NS, now % _NS)
    agent.call(Call.CLOCK_SETTIME, _CLOCK_REALTIME, value).check()


def clock(agent: Agent, which: int = _CLOCK_REALTIME) -> float:
    """One of the guest's clocks, in seconds."""
    result = agent.call(Call.CLOCK_GETTIME, which, Out(16, whole=True))
    result.check()
    seconds, ns = agent.unpack("qq", result.data)
    return seconds + ns / _NS
