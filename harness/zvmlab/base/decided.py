# SPDX-License-Identifier: MIT
"""Decisions kept in the cache, beside the inputs that they depend on.

    now = state_of(paths)
    answer = recall("guest", key, now)
    if answer is None:
        answer = …
        keep("guest", key, now, answer)

A state is made of the signatures of all files that the decision looks at.  It is not made where
a change could go unseen, and then nothing is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from zvmlab.base.cache import cache_root
from zvmlab.base.owned import is_ours, mark_once
from zvmlab.base.signature import is_settled, signature

FOLDER = "decided"
MOST = 64
"""So many decisions of a kind are kept, those that were made last."""


def state_of(paths: Iterable[Path]) -> str | None:
    """Hash of these files, and of all below these folders; None if a change might leave it as it is.

    That one of them does not exist is a part of the state.
    """
    now = time.time_ns()
    whole = hashlib.sha256()
    for path in paths:
        for name, found in _files(str(path)):
            if found is not None and not is_settled(found, now):
                return None
            sign = "" if found is None else f"{found.st_mode:o} {signature(found)}"
            whole.update(f"{name}\0{sign}\0".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()[:32]


def _files(path: str) -> Iterator[tuple[str, os.stat_result | None]]:
    """The file, or what is below the folder, without what Python has compiled and hidden files."""
    try:
        found = os.stat(path)
    except OSError:
        yield path, None
        return
    if not stat.S_ISDIR(found.st_mode):
        yield path, found
        return
    with os.scandir(path) as inside:
        entries = sorted(inside, key=lambda entry: entry.name)
    for entry in entries:
        if entry.name == "__pycache__" or entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _files(entry.path)
        else:
            yield entry.path, _stat(entry)


def _stat(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat()
    except OSError:
        return None


def recall(what: str, key: str, state: str | None) -> Any:
    """Return the decision for *key* at that state; None if there is none."""
    if state is None:
        return None
    try:
        noted = json.loads(_file(what, key).read_text(encoding="utf-8"))
        return noted["answer"] if noted["state"] == state else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def keep(what: str, key: str, state: str | None, answer: object) -> None:
    """Note what has been decided; a cache that can only be read stays as it is."""
    if state is None:
        return
    file = _file(what, key)
    with contextlib.suppress(OSError):
        file.parent.mkdir(exist_ok=True)
        if not is_ours(file.parent):
            mark_once(file.parent)
        scratch = file.with_name(f".{file.name}.{os.getpid()}")
        scratch.write_text(json.dumps({"state": state, "answer": answer}), encoding="utf-8")
        scratch.replace(file)
        _forget(file.parent, what)


def _file(what: str, key: str) -> Path:
    return cache_root() / FOLDER / f"{what}-{key}.json"


def _forget(folder: Path, what: str) -> None:
    """Remove the oldest decisions of a kind."""
    found = list(folder.glob(f"{what}-*.json"))
    for path in sorted(found, key=lambda path: path.stat().st_mtime)[:-MOST]:
        path.unlink(missing_ok=True)
