# SPDX-License-Identifier: MIT
"""A record of a complete folder, to check later that nothing has changed.

    write(folder)
    is_whole(folder)     # same files, sizes and times; where a time differs, the same contents
                         # and no file that others could have written

The manifest is the mark of zvmlab.base.owned, so only folders of ours have one.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from zvmlab.base.owned import MARK, mark
from zvmlab.base.trust import objection

NOTHING = "{}\n"
"""The manifest of a folder that is ours, of whose contents nothing is known."""
_VERSION = 1
# How the hash of a file with holes begins, and the parts that it is made of.
_PARTS = "parts:"
_PART = 1 << 16
_ZEROS = bytes(_PART)
_checked: dict[Path, tuple[int, int]] = {}
"""Manifests that this process has found to be right: inode and time."""


def _hash(file: Path | str) -> str:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _hash_of_parts(file: Path | str) -> str:
    """Hash the parts of a file that are not zero, and their positions; holes are not read."""
    digest = hashlib.sha256()
    with open(file, "rb", buffering=0) as stream:
        at, end = 0, os.fstat(stream.fileno()).st_size
        while at < end:
            try:
                at = os.lseek(stream.fileno(), at, os.SEEK_DATA) // _PART * _PART
            except OSError as error:
                if error.errno == errno.ENXIO:
                    break  # the rest is a hole
                raise
            part = os.pread(stream.fileno(), _PART, at)
            if part != _ZEROS[: len(part)]:
                digest.update(at.to_bytes(8, "big") + part)
            at += _PART
    return digest.hexdigest()


def _has_holes(found: os.stat_result) -> bool:
    return found.st_blocks * 512 < found.st_size


def _hash_as(file: Path | str, kind: str) -> str:
    """Its hash, of the same kind as one that begins so."""
    if kind.startswith(_PARTS):
        return _PARTS + _hash_of_parts(file)
    return _hash(file)


def _note(path: Path, found: os.stat_result) -> list[Any] | str:
    """A link's target; a file's size, time, whether it can be executed, and hash."""
    if stat.S_ISLNK(found.st_mode):
        return os.readlink(path)
    executable = bool(found.st_mode & stat.S_IXUSR)
    kind = _PARTS if _has_holes(found) else ""
    return [found.st_size, found.st_mtime_ns, executable, _hash_as(path, kind)]


def _files(folder: Path) -> Iterator[Path]:
    for top, folders, files in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(top, name))]
        yield from (Path(top, name) for name in [*files, *links])


def write(folder: Path, place: Path | None = None, all_files: bool = True) -> None:
    """Note what is in *folder*, which is right only at *place* if that is given.

    Without *all_files* it is whole as long as it is there.
    """
    files = {
        str(path.relative_to(folder)): _note(path, path.lstat())
        for path in (_files(folder) if all_files else ())
        if path != folder / MARK
    }
    noted = {"version": _VERSION, "place": None if place is None else str(place), "files": files}
    mark(folder, json.dumps(noted, separators=(",", ":")) + "\n")


def is_whole(folder: Path) -> bool | None:
    """Is everything there as it was noted?  None: nothing has been noted."""
    try:
        found = (folder / MARK).lstat()
        if _checked.get(folder) == (found.st_ino, found.st_mtime_ns):
            return True
        text = (folder / MARK).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    if text == NOTHING:
        return None
    try:
        noted = json.loads(text)
        if noted["version"] != _VERSION or noted["place"] not in (None, str(folder)):
            return False
        files = noted["files"].items()
        touched = [_compare(os.path.join(folder, name), note) for name, note in files]
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):
        return False
    if None in touched:
        return False
    if any(touched):
        _renew(folder, noted["place"])
        found = (folder / MARK).lstat()
    _checked[folder] = (found.st_ino, found.st_mtime_ns)
    return True


def _compare(path: str, note: list[Any] | str) -> bool | None:
    """None if it is another one; True if the time is another and the contents are not."""
    found = os.lstat(path)
    if objection(found):
        return None
    if isinstance(note, str):
        return False if os.readlink(path) == note else None
    size, time, executable, sha256 = note
    if not stat.S_ISREG(found.st_mode) or found.st_size != size:
        return None
    if bool(found.st_mode & stat.S_IXUSR) != executable:
        return None
    if found.st_mtime_ns == time:
        return False
    return True if _hash_as(path, sha256) == sha256 else None


def _renew(folder: Path, place: str | None) -> None:
    """Note the new times, so that nobody has to read the files again."""
    try:
        write(folder, None if place is None else Path(place))
    except OSError:
        pass  # a cache that is only read is compared again each time
