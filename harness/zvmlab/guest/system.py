# SPDX-License-Identifier: MIT
"""Several guests on one CP, which is a process of its own (sim/system).

    with System() as system:
        alice, bob = (system.guest(name) for name in ("ALICE", "BOB"))
        system.boot()
        ...  # a socket of AF_IUCV from ALICE to BOB

A guest logs on when it starts, and off when it ends, however it ends.  All end with the system.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product, zip_longest
from pathlib import Path
from types import MappingProxyType, TracebackType

from zvmlab.base.errors import EmulatorError, UsageError, ZvmlabError
from zvmlab.base.limit import Limit
from zvmlab.base.progress import Progress
from zvmlab.builder import hostbuild
from zvmlab.guest import checkpoint
from zvmlab.guest.backends import at_once, save_together
from zvmlab.guest.checkpoint import MACHINE
from zvmlab.guest.config import DEFAULT_SEGMENTS, QEMU, Artifacts, GuestConfig
from zvmlab.guest.emulator import Emulator
from zvmlab.guest.guest import Guest, Stage
from zvmlab.guest.lockstep import Turns
from zvmlab.guest.run_dir import RunDir

START_SECONDS = 60.0
ORDER_SECONDS = 60.0
_SIDE_BY_SIDE = 4
"""How many guests boot at a time."""
TURN_US = 1000
"""Of the guest's time, if machines take turns."""
_LOG = "system.log"
# How the process asks for a user's machine.
_START = "start "
# Of a mark: what the process has saved, beside a folder for each guest.
_CP = "cp"


def program(progress: Progress) -> Path:
    """The process, built into the cache if need be."""
    return hostbuild.program(progress, "the process of a system", "zvmlab-system", "sim/system")


@functools.cache
def _program() -> Path:
    """The same, looked for once: a clone does not change below a process that starts systems."""
    return program(Progress())


@contextlib.contextmanager
def _said_of(userid: str) -> Iterator[None]:
    """Errors within the block begin with the user's name."""
    try:
        yield
    except ZvmlabError as error:
        error.args = (f"{userid}: {error.args[0]}", *error.args[1:])
        raise


def _entry(userid: str, config: GuestConfig) -> str:
    """A user of the directory, and what the user's machine will tell CP, which is checked before."""
    return "\n".join([f"user={userid}", *(f"{key}={value}" for key, value in config.cp.items())])


class System:
    """A CP for several guests; *logs* has a folder for each of them (default: temporary).

    *segments* are those of the system, for all guests; a guest's own do not count.  *options* are
    further ones of the process: level and machine.  With a *name*, other processes find it and
    its members; *file* is what they are told it was made from.  *users* are in CP's directory,
    logged on or not: next_start() says whom XAUTOLOG asks for.  In a *deterministic* one all guests
    are so, and take turns of a millisecond: the same calls give the same traces.
    """

    def __init__(
        self,
        segments: Sequence[str] = DEFAULT_SEGMENTS,
        logs: Path | None = None,
        options: Mapping[str, str] = MappingProxyType({}),
        name: str | None = None,
        file: Path | None = None,
        users: Mapping[str, GuestConfig] = MappingProxyType({}),
        deterministic: bool = False,
    ) -> None:
        self.users = users
        self._turns: Turns | None = None
        if deterministic:
            self._turns = Turns(
                lambda order: self.process.command(order), self._answer, ORDER_SECONDS
            )
        self._starts: deque[str] = deque()
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
        self.marks = 0
        """How often mark() has been called."""
        self._marked: tuple[Path, dict[str, Guest]] | None = None
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
        argv = [str(_program()), str(self.socket), f"segment={';'.join(self._segments)}"]
        argv += [f"{key}={value}" for key, value in self._options.items()]
        argv += [_entry(userid, config) for userid, config in self.users.items()]
        if self._turns is not None:
            argv.append(f"turn={TURN_US}")
        self._process = Emulator(argv, self.logs / _LOG, tells=True)
        self._undo.callback(self._process.stop)
        if not self.process.limit(START_SECONDS).look(
            lambda: self.socket.exists() or not self.process.alive
        ):
            raise EmulatorError(f"the system did not start within {START_SECONDS:g} s")
        if not self.process.alive:
            said = (self.logs / _LOG).read_text("utf-8", "replace").strip()
            raise UsageError(said.removeprefix("zvmlab-system: "))

    def next_start(self, seconds: float) -> str | None:
        """The user of whom XAUTOLOG wants a guest; None if nobody is asked for so long."""
        if self._starts:
            return self._starts.popleft()
        line = self.process.next_line(seconds)
        return None if line is None else line.removeprefix(_START)

    def _answer(self, seconds: float) -> str | None:
        """What the process says to an order; None if it says nothing for so long, or has ended."""
        limit = Limit(seconds)
        while (line := self.process.next_line(limit.left())) is not None:
            if not line.startswith(_START):
                return line
            self._starts.append(line.removeprefix(_START))
        self.process.check()
        return None

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
            cp={**config.cp, **self._options, "userid": userid},
            segments=self._segments,
            system=self.socket,
            deterministic=self._turns is not None,
        )
        self._made[userid] = self._made.get(userid, 0) + 1
        folder = userid if earlier is None else f"{userid}.{self._made[userid]}"
        guest = Guest(config, self.logs / folder, artifacts, self._kept, self._turns)
        self._undo.callback(guest.stop)
        self.guests[userid] = guest
        return guest

    def start_guests(self) -> None:
        """All guests that have been made and not started are PAUSED, and have logged on in that order.

        Those that can begin at a checkpoint of a guest alone do, which is made if there is none.
        """
        guests = {name: guest for name, guest in self.guests.items() if guest.stage < Stage.PAUSED}
        founds = {}
        for userid, guest in guests.items():
            with _said_of(userid):
                founds[userid] = guest.find_checkpoint()
        self._launch(guests, founds)

    def _launch(self, guests: Mapping[str, Guest], founds: Mapping[str, Path | None]) -> None:
        """Start their emulators side by side: each has a part of its own to do at each step.

        Where machines take turns, one after the other: what CP does for a machine that logs on, or
        that goes on from its checkpoint, comes before the next one's.
        """
        steps: Sequence[Callable[[str, Guest], None]] = (
            lambda userid, guest: guest.launch(founds[userid]),
            lambda _, guest: guest.connect(),
            lambda _, guest: guest.start(),
        )
        self._expect(*guests)
        together = [list(guests)] if self._turns is None else [[userid] for userid in guests]
        try:
            for userids, step in product(together, steps):
                for userid in userids:
                    with _said_of(userid):
                        step(userid, guests[userid])
        except BaseException:
            with contextlib.suppress(EmulatorError):
                self._expect()
            raise

    def _expect(self, *userids: str) -> None:
        """Have the process log them on in this order."""
        self.process.command(f"expect {' '.join(userids)}")

    def boot(self) -> None:
        """All guests READY: they log on in the order in which they were made, and boot side by side."""
        guests = {name: guest for name, guest in self.guests.items() if guest.stage < Stage.READY}
        if any(guest.stage < Stage.PAUSED for guest in guests.values()):
            self.start_guests()
        # An agent waits seconds for its connection, which it gets after those of the guests before it.
        waiting = list(guests.values())
        ahead = len(waiting) if self._turns is not None else _SIDE_BY_SIDE
        for guest in waiting[:ahead]:
            guest.resume()
        begun = {}
        for (userid, guest), following in zip_longest(guests.items(), waiting[ahead:]):
            with _said_of(userid):
                begun[userid] = guest.begin_boot()
            if following is not None:
                following.resume()
        for userid, complete in begun.items():
            with _said_of(userid):
                complete()

    def key(self, since: str = "") -> str:
        """Where in the cache a system like this is saved (checkpoint.system_key), once it has booted."""
        for guest in self.guests.values():
            guest.configure()
        members = {name: (guest.config, guest.artifacts) for name, guest in self.guests.items()}
        others = [userid for userid in self.users if userid not in members]
        since += _program().parent.name
        return checkpoint.system_key(members, others, self._segments, self._options, since)

    @property
    def can_be_saved(self) -> bool:
        """Could another system go on from where this one has booted?"""
        if not self.can_be_marked:
            return False
        # What virtual disks hold is saved with all of CP.
        configs = [guest.config._replace(system=None) for guest in self.guests.values()]
        return not any(map(checkpoint.why_cold, configs))

    def boot_saved(self) -> None:
        """boot(), but from where a system like this one had booted; it is saved if there is none.

        That is the mark to which put_back() goes.  One that cannot be saved only boots.
        """
        if not self.can_be_saved:
            self.boot()
            return
        key = self.key()
        self._undo.enter_context(checkpoint.system_in_use(key))
        found = checkpoint.find_system(key)
        if found is not None:
            self.restore(found)
            self._keep_translations(found)
        else:
            self.boot()
            found = checkpoint.find_system(key, self.save)
            assert found is not None
        self.marks += 1
        self._marked = found, dict(self.guests)

    def _keep_translations(self, found: Path) -> None:
        """The first system that has been restored from there leaves what its guests have translated."""
        for userid, guest in self.guests.items():
            known = found / userid / checkpoint.TRANSLATIONS
            if checkpoint.has_translations(guest.config) and not known.exists():
                guest.save_translations(found / userid)

    @property
    def can_be_marked(self) -> bool:
        """mark() is possible once all are up: their emulator is QEMU, and they take no turns."""
        all_go_back = all(guest.config.backend == QEMU for guest in self.guests.values())
        return self._turns is None and all_go_back

    def save(self, into: Path) -> None:
        """Save all that are up, for a system with the same guests to go on from there by restore()."""
        self._save(into, dict(self.guests))

    def restore(self, found: Path) -> None:
        """Instead of boot(): the guests, which have been made in the same order, are READY as saved."""
        self._launch(self.guests, {userid: found / userid for userid in self.guests})
        self._order("load", found / _CP)
        for userid, guest in self.guests.items():
            guest.take_agent(found / userid)
        self.boot()

    def mark(self) -> None:
        """From now on put_back() comes here: all guests are READY, and are connected as they are now."""
        guests = dict(self.guests)
        if not self.can_be_marked:
            raise UsageError(
                f"a system can be marked only if all its guests run in {QEMU}, and take no turns"
            )
        if not all(guest.is_quiet for guest in guests.values()):
            raise UsageError("a system can be marked only when all its guests are up")
        for guest in guests.values():
            guest.check_not_held()
        self.marks += 1
        folder = self._run_dir.path / f"mark-{self.marks}"
        self._save(folder, guests)
        if self._marked is not None and self._marked[0].is_relative_to(self._run_dir.path):
            shutil.rmtree(self._marked[0])
        self._marked = folder, guests

    def _save(self, folder: Path, guests: Mapping[str, Guest]) -> None:
        """All guests, and CP, as they are at one moment; they go on."""
        agents = {userid: guest.about_to_be_saved() for userid, guest in guests.items()}
        for userid in guests:
            (folder / userid).mkdir(mode=0o700, parents=True)
        files = {folder / userid / MACHINE: guest.machine for userid, guest in guests.items()}
        try:
            save_together(files)
            self._order("save", folder / _CP)
        except BaseException:
            for machine in files.values():
                with contextlib.suppress(EmulatorError):  # whose guest has ended
                    machine.go_on()
            raise
        for userid, guest in guests.items():
            guest.has_been_saved(agents[userid], folder / userid)

    def _order(self, what: str, file: Path) -> None:
        """Have the process do it with all of CP."""
        self.process.command(f"{what} {file}")
        line = self._answer(ORDER_SECONDS)
        # Whoever was to be started before that is of another time.
        self._starts.clear()
        if line is None:
            raise EmulatorError(f"the system did not {what} its state within {ORDER_SECONDS:g} s")
        if line.startswith("failed "):
            raise EmulatorError(f"the system cannot {what} its state: {line[7:]}")

    @property
    def can_go_back(self) -> bool:
        """put_back() is possible: there is a mark, and the same guests are up as then, without a crash."""
        if self._marked is None or self._marked[1] != self.guests or not self.process.alive:
            return False
        return all(guest.is_quiet for guest in self.guests.values())

    def put_back(self) -> None:
        """Everything is as it was at the last mark(): all guests, and what they have of CP."""
        if not self.can_go_back or self._marked is None:
            raise UsageError("the system cannot be put back to a mark")
        folder, guests = self._marked
        for guest in guests.values():
            guest.machine.pause()
        at_once([guest.begin_to_stand_at(folder / userid) for userid, guest in guests.items()])
        self._order("load", folder / _CP)
        for userid, guest in guests.items():
            guest.take_agent(folder / userid)
        self.boot()

    def stop(self) -> None:
        """End all guests, then the process; harmless the second time."""
        if self._turns is not None and self._process is not None:
            # A machine that waits for its turn ends with the process, and not by itself.
            self._process.stop()
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
