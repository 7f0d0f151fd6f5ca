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
from typing import IO, NamedTuple

from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.base.hints import did_you_mean
from zvmlab.base.owned import MARK, claim, discard, is_ours, mark

# sizeof(sockaddr_un.sun_path), unix(7); the terminating NUL needs one byte.
SOCKET_PATH_MAX = 107
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
_FACTS = "guest.json"
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
        root = Path(named).expanduser().absolute()
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


def check_name(name: str | None) -> None:
    """UsageError if a guest cannot be called that; None: it gets one."""
    if name is not None and not _NAME.fullmatch(name):
        raise UsageError(
            f"the guest's name {name!r} is not 1 to 32 letters, digits, - and _,"
            " beginning with a letter or digit"
        )


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
    def create(cls, name: str | None = None) -> RunDir:
        """Make a directory; without a name one that nobody else has."""
        check_name(name)
        root = run_root()
        try:
            with _alone(root):
                remove_stale(root)
                while (final := root / (name or f"g{os.urandom(3).hex()}")).exists():
                    if name is not None:
                        what = "a guest named {} is running" if is_ours(final) else "{} is there"
                        raise UsageError(f"{what.format(name)} already; choose another name")
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


def _running(path: Path) -> RunningGuest | None:
    try:
        if path.name.startswith(".") or not is_ours(path):
            return None  # one in the making is left alone
        lock = _lock(path)
        if lock is not None:
            lock.close()
            return None
        facts = json.loads((path / _FACTS).read_text(encoding="utf-8"))
        return RunningGuest(
            path.name,
            str(facts["control"]),
            str(facts["kernel"]),
            int(facts["cpus"]),
            int(facts["pid"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def running_guests() -> list[RunningGuest]:
    """All guests that run now, by name."""
    root = run_root()
    # One who looks holds a mark for a moment, and would be taken for a guest by another who looks.
    with _alone(root):
        found = [_running(path) for path in sorted(root.iterdir())]
    return [guest for guest in found if guest is not None]


def find_guest(name: str | None = None) -> RunningGuest:
    """The running guest of that name; without a name, the only one."""
    guests = running_guests()
    if name is not None:
        for guest in guests:
            if guest.name == name:
                return guest
        hint = did_you_mean(name, [guest.name for guest in guests])
        raise UsageError(f"no such running guest: {name}; 'zvmlab list' lists them{hint}")
    if not guests:
        raise UsageError("no guest is running; start one with zvmlab shell")
    if len(guests) > 1:
        names = ", ".join(guest.name for guest in guests)
        raise UsageError(f"several guests are running ({names}); choose one with --guest")
    return guests[0]
