# SPDX-License-Identifier: MIT
"""``zvmlab up``: the guests of a file on one CP, until they or the user end."""

from __future__ import annotations

import argparse
import contextlib
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zvmlab.base.errors import (
    EXIT_PASS,
    EXIT_PANIC,
    EmulatorError,
    GuestPanic,
    UsageError,
    ZvmlabError,
)
from zvmlab.base.plain import harmless
from zvmlab.base.progress import Progress
from zvmlab.cli.options import top_command

if TYPE_CHECKING:
    from rich.table import Table

    from zvmlab.guest.config import Artifacts, GuestConfig
    from zvmlab.guest.guest import Guest
    from zvmlab.guest.system import System
    from zvmlab.guest.system_file import SystemFile

TERMINALS = 4
"""Of hvc_iucv in each guest, with a shell on each."""
_LOOK_SECONDS = 0.5
# Less than a kernel takes to boot again.
_LEAVE_SECONDS = 3.0
_END_SECONDS = 60.0


def add_commands(commands: Any) -> None:
    """up."""
    up = top_command(
        commands,
        "up",
        "  zvmlab up examples/three-guests.toml\n"
        "and meanwhile, in another terminal:\n"
        "  zvmlab list\n"
        "  zvmlab run --guest ALICE -- cat /proc/sysinfo\n"
        "  zvmlab shell --guest BOB\n"
        "  zvmlab cp --guest BOB 'QUERY NAMES'\n"
        "  zvmlab trace --guest ALICE --call 'iucv.*'",
    )
    add = up.add_argument
    add("file", type=Path, metavar="FILE", help="the system's file, zvmlab-system(5)")
    add(
        "--name",
        metavar="NAME",
        help="name of the system, for --system (default: that in the file, or the file's own)",
    )
    add(
        "--keep",
        type=Path,
        metavar="DIR",
        help="keep each guest's console, trace and emulator log in a folder of this folder",
    )
    up.set_defaults(command=run_up)


def run_up(arguments: argparse.Namespace) -> int:
    """Start all, or none; 255 if a kernel has crashed."""
    from zvmlab.guest.system import System, program
    from zvmlab.guest.system_file import read_system

    found = read_system(arguments.file, arguments.name)
    found.check_memory()
    progress = Progress(brief=True)
    with System(
        found.segments,
        arguments.keep,
        found.options,
        found.name,
        found.path.absolute(),
        found.users,
    ) as system:
        program(progress)
        prepared = {userid: _prepared(found, userid, progress) for userid in found.users}
        try:
            system.start()
        except UsageError as error:
            _say_where(error, str(found.path))
            raise
        return _Up(system, prepared, found).run()


Prepared = tuple["GuestConfig", "Artifacts"]


def _prepared(found: SystemFile, userid: str, progress: Progress) -> Prepared:
    """A user's guest with shells on its terminals; all that it needs is there."""
    from zvmlab.guest.artifacts import prepare, with_built_modules
    from zvmlab.guest.devices import check_devices

    config = found.users[userid]
    words = f"hvc_iucv={TERMINALS} zvmlab.shell=1 zvmlab.stays=1 {config.command_line}"
    config = config._replace(busybox=True, command_line=words.strip())
    try:
        config = with_built_modules(config, progress)
        artifacts = prepare(config, progress)
        check_devices(config, artifacts.emulator)
        return config, artifacts
    except ZvmlabError as error:
        _say_where(error, found.where(userid))
        raise


def _say_where(error: ZvmlabError, where: str) -> None:
    """Begin its sentence with that."""
    error.args = (f"{where}: {error.args[0]}", *error.args[1:])


@dataclass
class _User:
    """What is shown of one."""

    userid: str
    guest: Guest
    state: str = "logs on"
    text: str = ""
    since: float = 0.0
    up: bool = False
    over: bool = False
    error: ZvmlabError | None = None
    gone: threading.Event = field(default_factory=threading.Event)


class _Up:
    """The users of a system that is up, each watched by a thread."""

    def __init__(self, system: System, prepared: dict[str, Prepared], file: SystemFile) -> None:
        self._system = system
        self._prepared = prepared
        self._autolog = file.autolog
        self._users: dict[str, _User] = {}
        self._news: queue.SimpleQueue[tuple[str, str] | None] = queue.SimpleQueue()
        self._panicked = False
        self._threads: list[threading.Thread] = []
        self._ending = False
        self._standing = threading.Event()
        self._began = time.monotonic()

    def run(self) -> int:
        """Until no guest is left, or Ctrl-C when all are up."""
        try:
            with _shown(self) as show:
                self._start(show)
                with contextlib.suppress(KeyboardInterrupt):
                    while not self._all(lambda user: user.over):
                        self._take_news(show)
        finally:
            self._end()
        return EXIT_PANIC if self._panicked else EXIT_PASS

    def _start(self, show: _Show) -> None:
        """All but those who wait log on, in their order, then all boot; whoever cannot ends all."""
        from zvmlab.guest import checkpoint

        for userid in self._prepared:
            if userid not in self._autolog:
                user = self._user(userid)
                show.line(userid, user.state)
        system = self._system
        key = system.key("modules are loaded")
        with checkpoint.system_in_use(key):
            found = checkpoint.find_system(key)
            if found is None:
                system.start_guests()
            else:
                system.restore(found)
            self._await_all(show, restored=found is not None)
            if found is None and system.can_be_saved:
                self._save(show, key)
        self._standing.set()
        self._begin(self._serve_autolog)

    def _save(self, show: _Show, key: str) -> None:
        """The next start goes on from here; one that cannot has to boot again, and says why."""
        from zvmlab.guest import checkpoint

        try:
            checkpoint.find_system(key, self._system.save)
        except GuestPanic:
            raise
        except ZvmlabError as error:
            show.line(self._system.name, f"cannot be saved for the next start: {error}")

    def _await_all(self, show: _Show, restored: bool) -> None:
        """All that have been started are up; whoever is not ends all."""
        for user in list(self._users.values()):
            self._begin(self._watch, user, restored)
        while not self._all(lambda user: user.up):
            self._take_news(show)
            for userid, user in list(self._users.items()):
                if user.error is not None:
                    _say_where(user.error, userid)
                    raise user.error
                if user.over:
                    raise EmulatorError(f"{userid} has logged off before all guests were up")

    def _user(self, userid: str) -> _User:
        config, artifacts = self._prepared[userid]
        guest = self._system.guest(userid, config, artifacts)
        user = self._users[userid] = _User(userid, guest, since=time.monotonic())
        return user

    def _begin(self, run: Callable[..., None], *words: object) -> None:
        thread = threading.Thread(target=run, args=words)
        self._threads.append(thread)
        thread.start()

    def _serve_autolog(self) -> None:
        """Start whom CP asks for."""
        while not self._ending:
            userid = self._system.next_start(_LOOK_SECONDS)
            if userid is None:
                if not self._system.process.alive:
                    return
                continue
            self._log_on(userid)

    def _log_on(self, userid: str) -> None:
        """Start a user's machine when the last one has ended, which has logged off already."""
        last = self._users.get(userid)
        if last is not None:
            if not last.up and not last.over:
                return  # it is on its way
            if not last.gone.wait(_END_SECONDS):
                self._news.put((userid, "cannot log on: its last machine has not ended"))
                return
            last.guest.stop()
        user = self._user(userid)
        self._tell(user, user.state)
        try:
            user.guest.restore()
            user.guest.start()
        except ZvmlabError as error:
            self._has_ended(user, error)
            return
        self._begin(self._watch, user)

    def _all(self, is_so: Any) -> bool:
        return all(map(is_so, list(self._users.values())))

    def _take_news(self, show: _Show) -> None:
        """What has happened, or that nothing has for a while."""
        with contextlib.suppress(queue.Empty):
            news = self._news.get(timeout=_LOOK_SECONDS)
            if news is not None:
                show.line(*news)
        # CP for all of them, which nobody can do without.
        if not self._system.process.alive and not self._ending:
            self._system.process.check()
        show.renew()

    def _tell(self, user: _User, state: str, text: str = "") -> None:
        user.state, user.text, user.since = state, text, time.monotonic()
        self._news.put((user.userid, f"{state}: {text}" if text else state))

    def _has_ended(self, user: _User, error: ZvmlabError) -> None:
        """By a fault; one that could not start has not been there."""
        user.error = error
        self._panicked |= isinstance(error, GuestPanic)
        self._tell(user, "has ended", str(error))
        user.over = True
        user.gone.set()

    def _watch(self, user: _User, restored: bool = False) -> None:
        """A guest's life: boots, unless it is *restored* with its system, restarts, and one end."""
        guest = user.guest
        try:
            while True:
                if restored:
                    guest.emulator.expect_exit()
                else:
                    self._boot(guest)
                restored = False
                user.up = True
                self._news.put(None)
                # Nobody uses its agent while all are saved.
                self._standing.wait()
                self._tell(user, "is up", f"Linux {guest.agent.info.release}")
                self._serve(guest)
                if not guest.emulator.alive:
                    guest.check()
                    self._tell(user, "has logged off")
                    return
                self._tell(user, "restarts")
        except ZvmlabError as error:
            if self._ending:
                return
            if _has_left(guest):
                self._tell(user, "has logged off")
            else:
                self._has_ended(user, error)
        finally:
            user.over = True
            user.gone.set()

    @staticmethod
    def _boot(guest: Guest) -> None:
        from zvmlab.cli.guest import load_modules
        from zvmlab.guest.guest import Stage

        if guest.stage is Stage.READY:
            guest.await_agent()  # it has restarted
        else:
            guest.boot()
        guest.emulator.expect_exit()
        load_modules(guest)

    def _serve(self, guest: Guest) -> None:
        """Let others use its agent until that goes, by a restart or with the guest."""
        from zvmlab.agent.shared import SharedAgent

        with SharedAgent(guest.agent_socket, guest.agent):
            while not guest.agent.channel.lost and guest.emulator.alive:
                guest.agent.channel.await_end(_LOOK_SECONDS)
        # An emulator that is about to end has closed the agent's connection first.
        with contextlib.suppress(ZvmlabError):
            guest.emulator.wait(_LEAVE_SECONDS)

    def _end(self) -> None:
        """Nothing is left afterwards, whatever the threads are waiting for."""
        self._ending = True
        self._standing.set()
        # One that starts meanwhile ends with the process.
        for user in list(self._users.values()):
            user.guest.kill()
        for thread in list(self._threads):
            thread.join(_END_SECONDS)

    def rows(self) -> Iterator[tuple[str, ...]]:
        """User ID, state, CPUs, kernel, CPU seconds, and for how long it has been so."""
        now = time.monotonic()
        for userid in self._prepared:
            user = self._users.get(userid)
            config, artifacts = self._prepared[userid]
            machine = (str(config.cpus), artifacts.kernel_version)
            if user is None:
                yield userid, "waits", *machine, "", ""
                continue
            with contextlib.suppress(ZvmlabError):
                used = f"{user.guest.emulator.cpu_seconds():.1f} s" if not user.over else ""
                yield userid, user.state, *machine, used, f"{now - user.since:.0f} s"

    @property
    def title(self) -> str:
        """Above the rows."""
        up = sum(user.up and not user.over for user in self._users.values())
        return f"{self._system.name}: {up} of {len(self._prepared)} guests are up; Ctrl-C ends all"


def _has_left(guest: Guest) -> bool:
    """Has it ended as it may?  Whoever still waited for its agent knows of an error only."""
    with contextlib.suppress(ZvmlabError):
        guest.check()
        return guest.emulator.may_end and not guest.emulator.alive
    return False


class _Show:
    """Plain lines, as for a file."""

    def line(self, userid: str, text: str) -> None:
        """Something has happened."""
        print(harmless(f"{userid:<8} {text}", lines=False), flush=True)

    def renew(self) -> None:
        """Time has passed."""


class _LiveShow(_Show):
    """A table that is renewed in place, below the lines."""

    def __init__(self, up: _Up) -> None:
        from rich.console import Console
        from rich.live import Live

        self._up = up
        self._console = Console(file=sys.stdout)
        self.live = Live(_table(up), console=self._console, auto_refresh=False)

    def line(self, userid: str, text: str) -> None:
        shown = harmless(f"{userid:<8} {text}", lines=False)
        self._console.print(shown, markup=False, highlight=False, soft_wrap=True)

    def renew(self) -> None:
        self.live.update(_table(self._up), refresh=True)


def _table(up: _Up) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(up.title), title_justify="left")
    for name in ("user", "state", "CPUs", "kernel", "CPU time", "since"):
        table.add_column(name, justify="right" if name in ("CPUs", "CPU time", "since") else "left")
    for row in up.rows():
        table.add_row(*(Text(harmless(word, lines=False)) for word in row))
    return table


@contextlib.contextmanager
def _shown(up: _Up) -> Iterator[_Show]:
    """How the user is told: live on a terminal."""
    if not sys.stdout.isatty():
        yield _Show()
        return
    show = _LiveShow(up)
    with show.live:
        yield show
