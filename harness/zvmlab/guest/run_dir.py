# SPDX-License-Identifier: MIT
"""The folder of running guests' sockets, where other processes find them.

Every guest has a directory of its own with a short path, because a UNIX socket's
path must fit into 108 bytes.  The directory belongs to a living process as long
as its mark (zvmlab.base.owned) is locked; the kernel drops the lock when the process
ends, however it ends, so nothing is ever mistaken for a running guest, and what
carries no mark is never removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.base.hints import did_you_mean
from zvmlab.base.home import from_home
from zvmlab.base.owned import MARK, claim, discard, is_ours, mark

# sizeof(sockaddr_un.sun_path), unix(7); the terminating NUL needs one byte.
SOCKET_PATH_MAX = 107
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
_FACTS = "guest.json"
AGENT_SOCKET = "agent"
_EARLIER_LOCK = "lock"


def cannot_write(path: Path, error: OSError) -> CannotRun:
    """The sentence for a file of a run that cannot be written."""
    return CannotRun(
        f"cannot write {path} ({error.strerror or error});"
        " free some space or choose another place with ZVMLAB_RUN or --keep"
    )


def free_bytes(folder: Path) -> int:
    """What this user can still write to the folder's disk; OSError if nobody knows."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def run_root() -> Path:
    """The directory of all run directories (``ZVMLAB_RUN``), private to the user."""
    named = os.environ.get("ZVMLAB_RUN")
    # Names of ours, whatever an earlier version has left there.
    ours: Callable[[Path], bool] = lambda _: True
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if named:
        root = from_home(named).absolute()
        ours = _was_a_guest
    elif runtime and os.access(runtime, os.W_OK | os.X_OK):
        root = Path(runtime) / "zvmlab"
    else:
        root = Path("/tmp") / f"zvmlab-{os.getuid()}"
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = root.lstat()
    except OSError as error:
        raise cannot_write(root, error) from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise CannotRun(f"{root} is not a directory of yours; remove it or set ZVMLAB_RUN")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise CannotRun(
            f"{root} can be written to by others (mode {stat.S_IMODE(found.st_mode):o});"
            f" run chmod go-w {root}, or set ZVMLAB_RUN"
        )
    try:
        claim(root, ours, "set ZVMLAB_RUN to")
    except OSError as error:
        raise cannot_write(root, error) from error
    return root


def _was_a_guest(path: Path) -> bool:
    """Is this the directory of a guest of an earlier version, which had no mark?"""
    try:
        facts = json.loads((path / _FACTS).read_text(encoding="utf-8"))
        lock = (path / _EARLIER_LOCK).lstat()
    except (OSError, ValueError, RecursionError):
        return False
    return lock.st_size == 0 and isinstance(facts, dict) and {"control", "pid"} <= facts.keys()


def _lock(folder: Path) -> IO[bytes] | None:
    """The open mark of a folder, locked, or None if a living process holds it."""
    handle = open(folder / MARK, "rb+")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        handle.close()
        return None
    return handle


def check_name(name: str | None, what: str = "guest") -> None:
    """UsageError if a guest, or a *what*, cannot be called that; None: it gets one."""
    if name is not None and not _NAME.fullmatch(name):
        raise UsageError(
            f"the {what}'s name {name!r} is not 1 to 32 letters, digits, - and _,"
            " beginning with a letter or digit"
        )


def _taken(path: Path) -> str:
    """Who has that name, for the sentence that refuses it."""
    if not is_ours(path):
        return f"{path.name} is there"
    facts = _facts(path)
    if "file" in facts:
        return f"the system {path.name} of {facts['file']} is up (process {facts.get('pid')})"
    return f"a guest named {path.name} is running"


class RunDir:
    """The directory of one guest, from creation to removal."""

    def __init__(self, path: Path, lock: IO[bytes]) -> None:
        self.path = path
        self._lock = lock

    @property
    def name(self) -> str:
        """The guest's name, as ``zvmlab list`` shows it."""
        return self.path.name

    @classmethod
    def create(cls, name: str | None = None, what: str = "guest") -> RunDir:
        """Make a directory of a guest, or of a *what*; without a name one that nobody else has."""
        check_name(name, what)
        root = run_root()
        try:
            with _alone(root):
                remove_stale(root)
                while (final := root / (name or f"g{os.urandom(3).hex()}")).exists():
                    if name is not None:
                        raise UsageError(f"{_taken(final)} already; choose another name")
                scratch = root / f".{final.name}.{os.getpid()}"
                scratch.mkdir(mode=0o700)
                mark(scratch)
                lock = _lock(scratch)
                assert lock is not None, "nobody else knows the directory yet"
                scratch.rename(final)
                return cls(final, lock)
        except OSError as error:
            raise cannot_write(root, error) from error

    def socket(self, name: str) -> Path:
        """Path for a socket; refused if it is longer than the system allows."""
        path = self.path / name
        length = len(os.fsencode(path))
        if length > SOCKET_PATH_MAX:
            raise UsageError(
                f"the socket path {path} is too long: {length} bytes (at most {SOCKET_PATH_MAX});"
                " set ZVMLAB_RUN to a directory with a shorter path"
            )
        return path

    def describe(self, **facts: str | int) -> None:
        """Write what ``zvmlab list`` shows and ``zvmlab cp`` needs."""
        scratch = self.path / f".{_FACTS}"
        try:
            scratch.write_text(json.dumps(facts), encoding="utf-8")
            scratch.rename(self.path / _FACTS)
        except OSError as error:
            raise cannot_write(scratch, error) from error

    def remove(self) -> None:
        """Remove the directory and let go of it; harmless the second time."""
        discard(self.path)
        self._lock.close()


class RunningGuest(NamedTuple):
    """A guest of some process of this user."""

    name: str
    control: str
    kernel: str
    cpus: int
    pid: int
    system: str = ""
    """Name of the system that it is a member of, …"""
    userid: str = ""
    """… and its user ID there."""
    trace: str = ""
    """Its trace, if it is a member and has one."""

    @property
    def agent(self) -> Path:
        """Socket at which other processes reach its agent, if that is shared."""
        return Path(self.control).with_name(AGENT_SOCKET)

    @property
    def shown(self) -> str:
        """What its user calls it."""
        return self.userid or self.name


class RunningSystem(NamedTuple):
    """A system that some process of this user has started from a file."""

    name: str
    file: str
    pid: int


@contextlib.contextmanager
def _alone(root: Path) -> Iterator[None]:
    """No other process makes a guest's directory, or looks at them, meanwhile."""
    with open(root / MARK, "rb+") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def remove_stale(root: Path) -> None:
    """Remove directories whose process has ended without doing so."""
    for path in root.iterdir():
        with contextlib.suppress(OSError):
            lock = _lock(path) if is_ours(path) else None
            if lock is not None:
                discard(path)
                lock.close()


def _facts(path: Path) -> dict[str, Any]:
    """What describe() has written; nothing if it has not, or somebody else has."""
    try:
        facts = json.loads((path / _FACTS).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return facts if isinstance(facts, dict) else {}


def _living(path: Path) -> dict[str, Any]:
    """The facts of a directory whose process is alive."""
    try:
        if path.name.startswith(".") or not is_ours(path):
            return {}  # one in the making is left alone
        lock = _lock(path)
    except OSError:
        return {}
    if lock is not None:
        lock.close()
        return {}
    return _facts(path)


def _guest(name: str, facts: dict[str, Any]) -> RunningGuest | None:
    try:
        return RunningGuest(
            name,
            str(facts["control"]),
            str(facts["kernel"]),
            int(facts["cpus"]),
            int(facts["pid"]),
            *(str(facts.get(key, "")) for key in ("system", "userid", "trace")),
        )
    except (ValueError, KeyError, TypeError):
        return None


def _system(name: str, facts: dict[str, Any]) -> RunningSystem | None:
    try:
        return RunningSystem(name, str(facts["file"]), int(facts["pid"]))
    except (ValueError, KeyError, TypeError):
        return None


def _all_living() -> dict[str, dict[str, Any]]:
    """The facts of all that runs now, by name."""
    root = run_root()
    # One who looks holds a mark for a moment, and would be taken for a guest by another who looks.
    with _alone(root):
        return {path.name: _living(path) for path in sorted(root.iterdir())}


def running_guests() -> list[RunningGuest]:
    """All guests that run now, by name."""
    found = [_guest(name, facts) for name, facts in _all_living().items()]
    return [guest for guest in found if guest is not None]


def running_systems() -> list[RunningSystem]:
    """All systems that are up now, by name."""
    found = [_system(name, facts) for name, facts in _all_living().items()]
    return [system for system in found if system is not None]


def members_of(system: str) -> list[RunningGuest]:
    """The members of a running system, by user ID; UsageError if there is none of that name."""
    names = [found.name for found in running_systems()]
    if system not in names:
        hint = did_you_mean(system, names)
        raise UsageError(f"no such running system: {system}; 'zvmlab list' lists them{hint}")
    members = [guest for guest in running_guests() if guest.system == system]
    return sorted(members, key=lambda guest: guest.userid)


def find_guest(name: str | None = None, system: str | None = None) -> RunningGuest:
    """The running guest of that name, or of that user ID in a system; without a name, the only one.

    With *system* only that system's members count.
    """
    guests = running_guests() if system is None else members_of(system)
    if name is not None:
        named = [guest for guest in guests if guest.name == name]
        named = named or [guest for guest in guests if guest.userid == name.upper()]
        if not named:
            hint = did_you_mean(name, [guest.shown for guest in guests])
            raise UsageError(f"no such running guest: {name}; 'zvmlab list' lists them{hint}")
        if len(named) > 1:
            systems = ", ".join(guest.system for guest in named)
            raise UsageError(
                f"several systems have a guest {name} ({systems}); choose one with --system"
            )
        return named[0]
    if not guests:
        raise UsageError("no guest is running; start one with zvmlab shell")
    if len(guests) > 1:
        names = ", ".join(guest.shown for guest in guests)
        raise UsageError(f"several guests are running ({names}); choose one with --guest")
    return guests[0]
