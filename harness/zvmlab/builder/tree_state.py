# SPDX-License-Identifier: MIT
"""The state of a kernel source tree: which files it has, and what is in them.

    state = tree_state(tree)                     # looks at every file, reads none
    files = read_files(tree, state, known)       # reads those that may have changed since *known*

What has changed follows from contents.  Times only tell which files need not be read.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.signature import is_settled, signature

# Of what guests are not built from.
_OUTSIDE = frozenset({".git", "Documentation", "LICENSES"})
_ARCH = "arch"
_OURS = "s390"
_MOST_READ = 64 << 20
"""No source file is larger; of one that is, the signature stands for the contents."""
UNKNOWN = ""
"""In place of a hash: objects may have been made of any contents of this file."""

Files = Mapping[str, tuple[str, str]]
"""Signature ("": look again in any case) and hash of each file, by its name in the tree."""


@dataclass(frozen=True)
class TreeState:
    """The state of a tree at one moment."""

    all: str
    """Hash of all signatures; "" if a change from now on might leave them as they are."""
    files: Mapping[str, os.stat_result]
    settled: frozenset[str]
    """Files of which every change from now on is seen."""

    @property
    def kconfigs(self) -> tuple[str, ...]:
        """Names of the files that describe options."""
        return tuple(name for name in self.files if os.path.basename(name).startswith("Kconfig"))


def tree_state(tree: Path) -> TreeState:
    """Read the tree's current state."""
    now = time.time_ns()
    files = dict(_walk(str(tree)))
    settled = frozenset(name for name, found in files.items() if is_settled(found, now))
    whole = hashlib.sha256()
    for name, found in files.items():
        whole.update(f"{name}\0{signature(found)}\0".encode("utf-8", "surrogateescape"))
    is_all = len(settled) == len(files)
    return TreeState(whole.hexdigest()[:16] if is_all else "", files, settled)


def _walk(tree: str) -> Iterator[tuple[str, os.stat_result]]:
    """Names in the tree, in a fixed order, and what they are.

    A link to something outside counts as what it leads to: make follows it.  One to another link of
    the tree does not, because that one counts.
    """
    waiting, arch = [tree], os.path.join(tree, _ARCH)
    inside = os.path.join(os.path.realpath(tree), "")
    followed: set[str] = set()
    places: dict[str, str] = {}
    while waiting:
        folder = waiting.pop()
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                top = folder == tree and entry.name in _OUTSIDE
                other = folder == arch and entry.name != _OURS
                if not (top or other):
                    waiting.append(entry.path)
                continue
            state = entry.stat(follow_symlinks=False)
            if stat.S_ISLNK(state.st_mode):
                real = _leads_to(entry.path, places)
                if not real.startswith(inside) and os.path.exists(real):
                    if os.path.islink(real):
                        real = os.path.realpath(real)
                    state = os.stat(real)
                    if stat.S_ISDIR(state.st_mode):
                        if real not in followed:
                            followed.add(real)
                            waiting.append(entry.path)
                        continue
            yield entry.path[len(tree) + 1 :], state


def _leads_to(link: str, places: dict[str, str]) -> str:
    """The real path of the folder that a link names, and the name in it, which may be a link again.

    *places*: the real paths of such folders, as far as they are known.
    """
    folder, name = os.path.split(os.path.join(os.path.dirname(link), os.readlink(link)))
    if folder not in places:
        places[folder] = os.path.realpath(folder)
    return os.path.normpath(os.path.join(places[folder], name))


def read_files(tree: Path, state: TreeState, known: Files) -> Files:
    """Hash each file, except those whose signature *known* has."""
    files = {}
    for name, found in state.files.items():
        now = signature(found)
        before, contents = known.get(name, ("", UNKNOWN))
        if before != now or contents == UNKNOWN:
            contents = _contents(os.path.join(tree, name), found)
        files[name] = (now if name in state.settled else "", contents)
    return files


def _contents(path: str, found: os.stat_result) -> str:
    """A hash of the contents, or what stands for that."""
    try:
        if stat.S_ISLNK(found.st_mode):
            return f"link {os.readlink(path)}"
        if stat.S_ISREG(found.st_mode) and found.st_size <= _MOST_READ:
            with open(path, "rb") as stream:
                return hashlib.sha256(stream.read(_MOST_READ)).hexdigest()[:32]
    except OSError:
        pass  # It has gone, or is nobody's to read: make will say what that means.
    return f"signature {signature(found)}"


def hash_of(files: Files, names: Iterable[str] | None = None) -> str:
    """Hash of the contents of these files, or of all."""
    whole = hashlib.sha256()
    for name in sorted(files if names is None else names):
        whole.update(f"{name}\0{files[name][1]}\0".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()[:16]


@dataclass(frozen=True)
class Changes:
    """Between two states of a tree."""

    changed: frozenset[str]
    """Files with other contents, or of which nothing is known."""
    new: frozenset[str]
    gone: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.changed or self.new or self.gone)


def changes(known: Files, files: Files) -> Changes:
    """The differences from *known*."""
    changed = (name for name in files.keys() & known.keys() if files[name][1] != known[name][1])
    gone, new = known.keys() - files.keys(), files.keys() - known.keys()
    return Changes(frozenset(changed), frozenset(new), frozenset(gone))


def without(files: Files, names: Iterable[str]) -> Files:
    """The same with nothing known of these files."""
    return {**files, **{name: ("", UNKNOWN) for name in names}}
