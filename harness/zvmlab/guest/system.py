# SPDX-License-Identifier: MIT
"""Several guests on one CP, which is a process of its own (sim/system).

    with System() as system:
        alice, bob = (system.guest(name) for name in ("ALICE", "BOB"))
        for guest in (alice, bob):
            guest.boot()
        ...  # a socket of AF_IUCV from ALICE to BOB

A guest logs on when it starts, and off when it ends, however it ends.  All end with the system.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType

from zvmlab.base.errors import EmulatorError, UsageError
from zvmlab.base.limit import Limit
from zvmlab.base.progress import Progress
from zvmlab.builder import hostbuild
from zvmlab.guest.config import DEFAULT_SEGMENTS, Artifacts, GuestConfig
from zvmlab.guest.emulator import Emulator
from zvmlab.guest.guest import Guest
from zvmlab.guest.run_dir import RunDir

START_SECONDS = 60.0
_LOG = "system.log"


def program(progress: Progress) -> Path:
    """The process, built into the cache if need be."""
    return hostbuild.program(progress, "the process of a system", "zvmlab-system", "sim/system")


class System:
    """A CP for several guests; *logs* has a folder for each of them (default: temporary).

    *segments* are those of the system, for all guests; a guest's own do not count.  *options* are
    further ones of the process: level and machine.  With a *name*, other processes find it and
    its members; *file* is what they are told it was made from.  *users* are in CP's directory,
    logged on or not: next_start() says whom XAUTOLOG asks for.
    """

    def __init__(
        self,
        segments: Sequence[str] = DEFAULT_SEGMENTS,
        logs: Path | None = None,
        options: Mapping[str, str] = MappingProxyType({}),
        name: str | None = None,
        file: Path | None = None,
        users: Mapping[str, GuestConfig] = MappingProxyType({}),
    ) -> None:
        self.users = users
        self._segments = tuple(segments)
        self._options = options
        self._undo = contextlib.ExitStack()
        self._run_dir = RunDir.create(name, "system")
        self._undo.callback(self._run_dir.remove)
        self._kept = logs is not None
        self.logs = logs or self._run_dir.path / "logs"
        try:
            self.socket = self._run_dir.socket("system")
            if file is not None:
                self._run_dir.describe(file=str(file), pid=os.getpid())
        except BaseException:
            self._undo.close()
            raise
        self.guests: dict[str, Guest] = {}
        """All that were made, by their user IDs."""
        self._made: dict[str, int] = {}
        self._process: Emulator | None = None

    @property
    def process(self) -> Emulator:
        """The process that has CP; from start() on."""
        if self._process is None:
            raise UsageError("the system has not been started; call start() first")
        return self._process

    def start(self) -> None:
        """Start the process, unless it is there; guests can log on then."""
        if self._process is not None:
            return
        self.logs.mkdir(parents=True, exist_ok=True)
        argv = [str(program(Progress())), str(self.socket), f"segment={';'.join(self._segments)}"]
        argv += [f"{key}={value}" for key, value in self._options.items()]
        argv += [f"user={userid}" for userid in self.users]
        self._process = Emulator(argv, self.logs / _LOG, tells=True)
        self._undo.callback(self._process.stop)
        if not Limit(START_SECONDS).look(lambda: self.socket.exists() or not self.process.alive):
            raise EmulatorError(f"the system did not start within {START_SECONDS:g} s")
        if not self.process.alive:
            said = (self.logs / _LOG).read_text("utf-8", "replace").strip()
            raise UsageError(said.removeprefix("zvmlab-system: "))

    def next_start(self, seconds: float) -> str | None:
        """The user of whom XAUTOLOG wants a guest; None if nobody is asked for so long."""
        line = self.process.next_line(seconds)
        return None if line is None else line.removeprefix("start ")

    @property
    def name(self) -> str:
        """What other processes call it."""
        return self._run_dir.name

    def guest(
        self,
        userid: str,
        config: GuestConfig | None = None,
        artifacts: Artifacts | None = None,
    ) -> Guest:
        """A guest of that user ID, which has not started yet; it ends with the system.

        Of one that has ended there can be another, with a folder of its own.  *artifacts*: see
        Guest.
        """
        self.start()
        earlier = self.guests.get(userid)
        if earlier is not None and earlier.alive:
            raise UsageError(f"{userid} is logged on already")
        config = config or GuestConfig()
        config = config._replace(
            cp={**config.cp, "userid": userid},
            segments=self._segments,
            system=self.socket,
        )
        self._made[userid] = self._made.get(userid, 0) + 1
        folder = userid if earlier is None else f"{userid}.{self._made[userid]}"
        guest = Guest(config, self.logs / folder, artifacts, self._kept)
        self._undo.callback(guest.stop)
        self.guests[userid] = guest
        return guest

    def stop(self) -> None:
        """End all guests, then the process; harmless the second time."""
        self._undo.close()

    def __enter__(self) -> System:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
