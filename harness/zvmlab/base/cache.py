# SPDX-License-Identifier: MIT
"""The cache of expensive artifacts, outside the source tree.

Every entry is a folder named ``KIND-KEY``, where KEY is a hash of all that went
into it.  An entry appears under its name only when it is complete, together with
a manifest of what it consists of; one that is not as it was noted is made again.
Two processes that want the same one build it once.

The cache's folder and its entries carry the mark of zvmlab.base.owned: nothing else is
ever removed.  ``python3 -m zvmlab.base.cache remove`` removes what is ours; ``… compiled`` says where
ccache keeps what it has compiled.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from zvmlab.base import manifest, shipped
from zvmlab.base.errors import CannotRun, StepFailed, Timeout, UsageError, exit_code
from zvmlab.base.home import from_home
from zvmlab.base.owned import MARK, discard, is_ours, mark, mark_once, others, some
from zvmlab.base.signature import is_settled, signature
from zvmlab.base.trust import first_objection, keep_others_out, objection

# Neither make, nor QEMU's configure, nor a kernel's build takes these in a folder's path.
UNFIT = re.compile(r"[\s:;#$%&*?'\"\\<>|()\[\]{}`]")
_ENTRY = re.compile(
    r"[a-z][a-z0-9.-]*-(?:.+-)?[0-9a-f]{16}"
    r"|(?:kernel|headers)-(?:bookworm|trixie|sid)-\d.+"
    r"|(?:qemu-data|meson)-trixie|apt|decided|compiled"
)
_BEGUN = re.compile(r"\.[a-z].*\.\d+|\.debs-\w+")
_FILE = re.compile(
    r"\.[a-z].*\.(?:lock|\d+)|(?:kernel|debug-source)-of-[a-z-]+|[a-z].*-[0-9a-f]{16}\.log"
)
_trusted: set[Path] = set()
"""Caches that this process has looked at."""


def _place() -> tuple[Path, bool]:
    """The cache's folder, and whether its name says that it is ours."""
    named = os.environ.get("ZVMLAB_CACHE")
    if named:
        return from_home(named).absolute(), False
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base).absolute() / "zvmlab", True


def cache_root() -> Path:
    """The cache's directory (``ZVMLAB_CACHE``), created if need be, and marked."""
    root, by_name = _place()
    unfit = UNFIT.search(str(root))
    if unfit:
        raise UsageError(
            f"the cache's path {str(root)!r} contains {unfit[0]!r}; QEMU and kernel modules cannot"
            " be built in such a folder; set ZVMLAB_CACHE to a path without it"
        )
    try:
        keep_others_out()
        root.mkdir(parents=True, exist_ok=True)
        _check_trust(root)
        if not is_ours(root):
            _adopt(root, by_name)
    except OSError as error:
        raise CannotRun(
            f"the cache {root} cannot be created ({error.strerror});"
            " set ZVMLAB_CACHE to a folder you can write to"
        ) from error
    return root


def _check_trust(root: Path) -> None:
    """CannotRun if others could have put something there: programs of the cache are run."""
    if root in _trusted:
        return
    why = objection(root.lstat()) or objection(root.stat())
    if why and why.startswith("can"):
        raise CannotRun(
            f"the cache {root} {why}, and zvmlab runs programs from there; remove it, or run"
            f" chmod -R go-w {root} if nobody else has written to it, or set ZVMLAB_CACHE"
        )
    if why:
        raise CannotRun(
            f"the cache {root} {why}, and zvmlab runs programs from there;"
            " set ZVMLAB_CACHE to a folder of your own, or of root's"
        )
    _look_at_all(root)
    _trusted.add(root)


def _look_at_all(root: Path) -> None:
    """CannotRun if anything directly in the cache is a stranger's.

    A cache has thousands of entries, so it is noted that all were looked at, and when the folder
    had last changed: nobody can put anything there, or exchange it, and set that time back.
    """
    found = root.stat()
    state = f"{found.st_dev} {signature(found)} {os.environ.get('SUDO_UID')}"
    with _note_of(root) as note:
        if note is not None and note.read() == state:
            return
        strange = first_objection(root)
        if strange is not None:
            path, why = strange
            raise CannotRun(f"{path}, in zvmlab's cache, {why}; remove it if it is not yours")
        if note is not None and is_settled(found, time.time_ns()):
            note.seek(0)
            note.truncate()
            note.write(state)


@contextlib.contextmanager
def _note_of(root: Path) -> Iterator[TextIO | None]:
    """This user's note about a cache of ours; None if there can be none."""
    how = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with contextlib.ExitStack() as stack:
        note = None
        # A cache that can only be read has none.
        with contextlib.suppress(OSError):
            if is_ours(root):
                descriptor = os.open(root / f".looked.{os.geteuid()}", how, 0o644)
                note = stack.enter_context(open(descriptor, "r+", encoding="ascii"))
        yield note if note is not None and objection(os.fstat(note.fileno())) is None else None


def _recognised(path: Path) -> bool:
    """Is this, by name and kind, what zvmlab puts into its cache?"""
    if path.name.startswith(MARK):
        return True
    if path.is_dir() and not path.is_symlink():
        return bool(_ENTRY.fullmatch(path.name) or _BEGUN.fullmatch(path.name))
    return bool(_FILE.fullmatch(path.name))


def _adopt(root: Path, by_name: bool) -> None:
    """Mark a new cache, or one that an earlier version has made."""
    strange = others(root, _recognised)
    # Another process may have marked it meanwhile, and have put something there.
    if strange and not by_name and not is_ours(root):
        raise UsageError(
            f"{root} is not a cache of zvmlab: it has other contents ({some(strange)});"
            " set ZVMLAB_CACHE to an empty folder, or to one that does not exist"
        )
    # A cache that can only be read is used as it is.
    with contextlib.suppress(PermissionError):
        for path in root.iterdir():
            if path.is_dir() and _recognised(path) and not is_ours(path):
                mark(path, manifest.NOTHING)
        mark(root)


def digest(*parts: bytes | str | Path) -> str:
    """Hash of strings, bytes and the contents of files and directories (recursively)."""
    state = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path):
            files = sorted(p for p in part.rglob("*") if p.is_file()) if part.is_dir() else [part]
            for file in files:
                name = str(file.relative_to(part)) if part.is_dir() else file.name
                data = file.read_bytes()
                state.update(f"F{len(name)}:{name}{len(data)}:".encode())
                state.update(data)
        else:
            data = part.encode() if isinstance(part, str) else part
            state.update(f"B{len(data)}:".encode())
            state.update(data)
    return state.hexdigest()[:16]


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the cache's lock of that name; waits for other processes' builds."""
    path = cache_root() / f".{name}.lock"
    with open(path, "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def in_use(name: str) -> Iterator[None]:
    """Within the block no process takes the entry of that name for one that it may remove.

    It may be there already, or be made within the block.
    """
    with contextlib.ExitStack() as stack:
        # From a cache that can only be read nobody removes anything.
        with contextlib.suppress(PermissionError):
            lock = stack.enter_context(open(_use_of(name), "a", encoding="ascii"))
            fcntl.flock(lock, fcntl.LOCK_SH)
        yield


def discard_unused(folder: Path) -> None:
    """Remove an entry, unless a process uses it (in_use) or it is not ours."""
    with open(_use_of(folder.name), "a", encoding="ascii") as lock:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            discard(folder)


def _use_of(name: str) -> Path:
    return cache_root() / f".{name}.use.lock"


@contextlib.contextmanager
def locked_within(name: str, seconds: int, what: str, say: Callable[[str], None]) -> Iterator[int]:
    """Like locked(), for long builds: say that it waits for another process, up to a limit.

    *what* is being built.  Yields the lock's file: whoever else has it open keeps the lock.
    """
    path = cache_root() / f".{name}.lock"
    with open(path, "a+", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting until {_holder(lock)} has built {what}, for at most {seconds} s")
            # It waits in our place, with a limit, and the lock that it gets is ours as well.
            waiting = ["flock", "--timeout", str(seconds), str(lock.fileno())]
            done = subprocess.run(waiting, pass_fds=[lock.fileno()], check=False)
            if done.returncode != 0:
                raise Timeout(
                    f"{_holder(lock)} is still building {what} after {seconds} s, and holds {path}"
                ) from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield lock.fileno()


def _holder(lock: TextIO) -> str:
    """The process that noted that it holds a lock."""
    lock.seek(0)
    pid = lock.read(20).strip()
    return f"process {pid}" if pid.isdigit() else "another process"


def entry(
    kind: str,
    key: str | Callable[[], str],
    build: Callable[[Path], None],
    artifact: str = "",
    fixed: bool = False,
    made_with: Callable[[], bytes | str] | None = None,
    vast: bool = False,
) -> Path:
    """The entry's directory, or the file *artifact* in it; *build* fills a new one.

    An entry is made again if it is incomplete or altered, or if it is *fixed* (it
    has its own path in it) and not where it was made.  One that came with a package is taken
    as it is; *made_with* tells what goes into the key unless it did: which compiler there is.
    A *key* that is a function is asked for again after the build: UsageError if the sources have
    changed meanwhile, since nobody knows what was built then.
    One that is *vast* has so many files that nobody looks whether they are as they were made.
    """
    ask = key if callable(key) else None
    key = key() if callable(key) else key
    name = f"{kind}-{key}"
    came = shipped.find(name, artifact)
    if came is not None:
        return came
    final = cache_root() / (name if made_with is None else f"{kind}-{digest(key, made_with())}")
    shipped.note(shipped.Used(kind, name, final, artifact))
    if not usable(final, artifact, fixed):
        with locked(final.name):
            if not usable(final, artifact, fixed):
                _make(final, _checked(build, kind, key, ask), artifact, fixed, vast)
    return final / artifact


def _checked(
    build: Callable[[Path], None], kind: str, key: str, ask: Callable[[], str] | None
) -> Callable[[Path], None]:
    """The same, but it fails if the key has become another one."""

    def checked(folder: Path) -> None:
        build(folder)
        if ask is not None and ask() != key:
            raise UsageError(
                f"the sources of {kind} have changed while it was being built; start again"
            )

    return checked


def usable(final: Path, artifact: str = "", fixed: bool = False) -> bool:
    """Is the entry there, as it was when it was made, and can nobody else write to it?"""
    try:
        found = final.lstat()
        return objection(found) is None and final.is_dir() and _is_whole(final, artifact, fixed)
    except FileNotFoundError:  # another process removes it
        return False


def _is_whole(final: Path, artifact: str, fixed: bool) -> bool:
    whole = manifest.is_whole(final)
    if whole is None and _filled(final, artifact):
        # An earlier version has made it.
        with contextlib.suppress(PermissionError):
            manifest.write(final, final if fixed else None)
        return True
    return bool(whole) and _filled(final, artifact)


def _filled(folder: Path, artifact: str) -> bool:
    """Is the artifact there, or anything if there is none?"""
    if artifact:
        file = folder / artifact
        return file.is_file() and file.stat().st_size > 0
    return any(path.name != MARK for path in folder.iterdir())


def _make(
    final: Path, build: Callable[[Path], None], artifact: str, fixed: bool, vast: bool
) -> None:
    """Build the entry in the place of what is there; the lock is held."""
    root = final.parent
    if final.exists() and not discard(final):
        raise CannotRun(
            f"{final} was not made by zvmlab, which needs this place in its cache; move it away"
        )
    _tidy(root, final.name)
    scratch = root / f".{final.name}.{os.getpid()}"
    try:
        scratch.mkdir()
        mark(scratch)
        build(scratch)
        if not _filled(scratch, artifact):
            raise CannotRun(f"what was built for {final} is not there ({artifact or 'nothing'})")
        manifest.write(scratch, final if fixed else None, not vast)
        scratch.rename(final)
        _log_of(final).unlink(missing_ok=True)
    except StepFailed as error:
        if error.log.is_relative_to(scratch):
            with contextlib.suppress(OSError):  # what went wrong matters more
                error.log = error.log.replace(_log_of(final))
        raise
    except OSError as error:
        raise CannotRun(f"cannot write to the cache {root} ({error.strerror or error})") from error
    finally:
        discard(scratch)


def _log_of(final: Path) -> Path:
    """The path of a failed build's log, kept until the entry exists."""
    return final.with_name(f"{final.name}.log")


def _tidy(root: Path, name: str) -> None:
    """Remove what others have begun and did not live to end; the lock of *name* is ours."""
    for begun in root.glob(".*.[0-9]*"):
        of = begun.name[1:].rpartition(".")[0]
        if not is_ours(begun):
            continue
        if of == name:
            discard(begun)
            continue
        with contextlib.suppress(OSError), open(root / f".{of}.lock", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            discard(begun)


def entries(kind: str) -> Iterator[Path]:
    """Our entries of that kind, in no order."""
    return (path for path in cache_root().glob(f"{kind}-*") if is_ours(path))


def remove() -> list[str]:
    """Remove the cache; names of what is not ours and stays.  UsageError if it is no cache."""
    if not _place()[0].exists():
        return []
    root = cache_root()
    for path in root.iterdir():
        if path.is_dir() and not path.is_symlink():
            discard(path)
        elif _FILE.fullmatch(path.name):
            path.unlink(missing_ok=True)
    left = [name for name in others(root, lambda path: path.name.startswith(MARK))]
    if not left:
        discard(root)
    return left


def compiled() -> Path | None:
    """Where ccache keeps what it has compiled; None if nothing can be put there."""
    folder = cache_root() / "compiled"
    try:
        folder.mkdir(exist_ok=True)
        mark_once(folder)
    except PermissionError:
        return None
    return folder


def main(arguments: list[str]) -> int:
    """Return: exit code."""

    def program() -> None:
        if arguments == ["compiled"]:
            folder = compiled()
            if folder is not None:
                print(folder)
            return
        if arguments != ["remove"]:
            raise UsageError("usage: python3 -m zvmlab.base.cache remove|compiled")
        left = remove()
        if left:
            print(f"left in {_place()[0]}, because zvmlab did not put it there: {some(left)}")

    return exit_code(program)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
