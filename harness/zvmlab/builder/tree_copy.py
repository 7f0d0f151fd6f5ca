# SPDX-License-Identifier: MIT
"""Begin the first build of a tree with what was built of one that is almost the same.

    taken = take(work, tree, files, kinds, recipe, say)
    if taken is not None:
        remove_outdated(tree, work / "out", changes(taken.files, files), …)

A patched copy of a tree, a worktree of another commit, or another configuration differs in a few
files or options.  The copy of the other build's folder is what that tree's own build would have
left before these changes: kbuild compares the commands and the times, which stay, and the commands
name the tree, whose path is put in.  The rest is the same as in a tree that changes in its place.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.cache import cache_root, locked_within
from zvmlab.builder.tree_notes import last_build, last_files
from zvmlab.builder.tree_state import Files, changes

WAIT_SECONDS = 3600
BEGUN = "begun"
"""In a build's folder as long as make is at work."""
ORIGINS = "origins"
"""In a build's folder: those of other builds whose objects it began with, a line each."""
MOST_DIFFERENT = 0.05
"""Of a tree in which more files differ, most objects would be compiled anyway."""
# Files of kbuild with the commands, and with what they have read.
_NAMES_TREE = (".cmd", ".d")


@dataclass(frozen=True)
class Taken:
    """What the folder of a build has got from another one."""

    files: Files
    """What was in that build's tree."""
    ended: int
    """When that build had ended, in nanoseconds."""


def take(
    work: Path,
    tree: Path,
    files: Files,
    kinds: Collection[str],
    recipe: str,
    say: Callable[[str], None],
) -> Taken | None:
    """Fill *work*/out with the nearest build's; None if there is none that helps.

    *files*: what is in the tree; *kinds*: builds of others have nothing in common with it;
    *recipe*: those of the same one have all.
    """
    ranked = [
        (last_build(other).get("recipe") != recipe, different, other)
        for other in sorted(cache_root().glob("linux-build-*"))
        if other != work and _fits(other, kinds)
        for different in [_different(last_files(other), files)]
        if different <= MOST_DIFFERENT * len(files)
    ]
    if not ranked:
        return None
    _, different, other = min(ranked)
    name = last_build(other)["tree"]
    with locked_within(other.name, WAIT_SECONDS, f"the kernel of {name}", say):
        known = last_files(other)
        if not _fits(other, kinds) or _different(known, files) != different:
            return None  # it has been built again meanwhile
        ended = other.stat().st_mtime_ns
        shutil.copytree(other / "out", work / "out", symlinks=True, dirs_exist_ok=True)
        origins = [str(folder) for folder in built_in(other)]
        (work / ORIGINS).write_text("".join(f"{name}\n" for name in origins), encoding="utf-8")
    _rename(work / "out", name, str(tree))
    return Taken(known, ended)


def built_in(work: Path) -> list[Path]:
    """The folders in which objects of this build may have been compiled."""
    try:
        names = (work / ORIGINS).read_text(encoding="utf-8").splitlines()
    except OSError:
        names = []
    return [work / "out", *map(Path, names)]


def _fits(work: Path, kinds: Collection[str]) -> bool:
    """Is it a build of one of these kinds, which ended well?"""
    state = last_build(work)
    there = "entry" in state and "tree" in state and not (work / BEGUN).exists()
    return there and state.get("kind") in kinds and (work / "out/vmlinux").exists()


def _different(known: Files, files: Files) -> int:
    found = changes(known, files)
    return len(found.changed) + len(found.new) + len(found.gone)


def _rename(out: Path, old: str, new: str) -> None:
    """Let the files of kbuild name another tree; their times stay."""
    for file in (out / "Makefile", *_naming(out)):
        if file.is_symlink() or not file.is_file():
            continue
        text = file.read_bytes()
        named = renamed(text, old, new)
        if named != text:
            times = file.stat()
            file.write_bytes(named)
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def renamed(text: bytes, old: str, new: str) -> bytes:
    """The text with the path of a tree put in for another, and left as it is within a longer one."""
    path = rb"(?:(?<=-I)|(?<![\w./+-]))%s(?![\w.+-])" % re.escape(os.fsencode(old))
    return re.sub(path, lambda _: os.fsencode(new), text)


def _naming(out: Path) -> Iterator[Path]:
    for top, _, names in os.walk(out):
        yield from (Path(top, name) for name in names if name.endswith(_NAMES_TREE))
