# SPDX-License-Identifier: MIT
"""The cache of expensive products, outside the source tree.

Every entry is a directory named ``KIND-KEY``, where KEY is a hash of all that
went into it.  An entry appears under its name only when it is complete, and two
processes that want the same one build it once.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from zvmlab.errors import CannotRun


def cache_root() -> Path:
    """The cache's directory (``ZVMLAB_CACHE``), created if need be."""
    named = os.environ.get("ZVMLAB_CACHE")
    if named:
        root = Path(named).expanduser().absolute()
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        root = Path(base) / "zvmlab"
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotRun(
            f"the cache {root} cannot be created ({error.strerror});"
            " set ZVMLAB_CACHE to a folder you can write to"
        ) from error
    return root


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


def entry(kind: str, key: str, build: Callable[[Path], None]) -> Path:
    """The entry's directory; *build* fills a new one if it does not exist yet."""
    final = cache_root() / f"{kind}-{key}"
    if final.is_dir():
        return final
    with locked(f"{kind}-{key}"):
        if final.is_dir():
            return final
        # The lock is ours: what others have begun, they did not live to end.
        for begun in cache_root().glob(f".{kind}-{key}.[0-9]*"):
            shutil.rmtree(begun, ignore_errors=True)
        scratch = cache_root() / f".{kind}-{key}.{os.getpid()}"
        scratch.mkdir()
        try:
            build(scratch)
            scratch.rename(final)
        except OSError as error:
            raise CannotRun(
                f"cannot write to the cache {cache_root()} ({error.strerror or error})"
            ) from error
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return final
