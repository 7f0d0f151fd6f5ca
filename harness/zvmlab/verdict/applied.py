# SPDX-License-Identifier: MIT
"""A series on a tree: the contents of each file that it touches, before and after it.

It is applied in a repository of ours that has these files alone, so the tree that the user has
named is only read, and a file that a patch names is never followed out of it.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.errors import UsageError
from zvmlab.base.plain import shortened
from zvmlab.verdict.diffs import FileDiff, parse
from zvmlab.verdict.git import environment, git, init_repository, run, try_git
from zvmlab.verdict.series import Patch, Series

_FAILED = re.compile(r"^error: patch failed: (.+):(\d+)$", re.MULTILINE)
_MISSING = re.compile(r"^error: (.+): No such file or directory$", re.MULTILINE)
_EXISTS = re.compile(r"^error: (.+): already exists in (?:index|working directory)$", re.MULTILINE)


@dataclass(frozen=True)
class File:
    """A file's contents, and whether it can be executed."""

    data: bytes
    executable: bool = False


Files = Mapping[str, File | None]
"""Files of a tree by their names; None: it has no such file."""


@dataclass(frozen=True)
class Applied:
    """Both sides of a series on one tree: what differs from the tree, or from each other."""

    base: Files
    patched: Files
    diffs: Mapping[str, FileDiff]
    """All patches together, by the files' names: places in the patched files."""
    text: bytes = b""
    """The same as git shows it."""

    @property
    def changed(self) -> list[str]:
        """Names of the files that the two sides have differently."""
        return sorted(name for name in self.patched if self.base.get(name) != self.patched[name])


def tree_file(tree: Path, name: str) -> File | None:
    """A file of the tree as it is; links are not followed."""
    path = tree
    for part in Path(name).parts:
        path = path / part
        if path.is_symlink():
            raise UsageError(f"{name} of {tree} is, or lies behind, a symbolic link")
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode):
            raise UsageError(f"{name} of {tree} is no file")
        return File(path.read_bytes(), bool(found.st_mode & stat.S_IXUSR))
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise UsageError(f"{tree} has no folder for {name}: a file is in its place") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None


def commit_files(tree: Path, commit: str, names: set[str]) -> dict[str, File | None]:
    """Files of a commit, and what differs from it in the tree that is checked out."""
    words = ["diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", commit, "--"]
    differs = {os.fsdecode(name) for name in git(words, tree).split(b"\0") if name}
    entries: dict[str, list[bytes]] = {}
    for line in git(["ls-tree", "-r", "-z", commit], tree).split(b"\0")[:-1]:
        head, _, raw = line.partition(b"\t")
        entries[os.fsdecode(raw)] = head.split()
    found: dict[str, File | None] = dict.fromkeys(sorted(differs | names))
    files = [name for name in found if name in entries and entries[name][0].startswith(b"100")]
    asked = b"".join(entries[name][2] + b"\n" for name in files)
    said = git(["cat-file", "--batch"], tree, asked)
    for name, data in zip(files, _contents(said, tree), strict=True):
        found[name] = File(data, entries[name][0] == b"100755")
    return found


def _contents(said: bytes, tree: Path) -> Iterator[bytes]:
    """The contents that cat-file --batch tells: a line with the size, so many bytes, a newline."""
    at = 0
    while at < len(said):
        end = said.index(b"\n", at)
        object_, *what = said[at:end].decode("ascii", "replace").split()
        if len(what) != 2:
            raise UsageError(f"{tree} has not all of its files: git says {object_} is {what[0]}")
        size = int(what[1])
        at = end + 1 + size + 1
        yield said[end + 1 : at - 1]


def apply(tree: Path, series: Series, on_top: Series | None, scratch: Path) -> Applied:
    """Both sides; UsageError names the first patch that does not apply, and its hunk.

    *on_top* goes to both sides, before the series; *scratch* is an empty folder of ours.
    """
    names = series.names | (on_top.names if on_top is not None else set())
    base: dict[str, File | None]
    if series.base is not None and series.tree is not None and series.tree == tree.resolve():
        base = commit_files(tree, series.base, names)
    else:
        base = {name: tree_file(tree, name) for name in sorted(names)}
    if not any(base[name] is not None for name in names) and not _is_new(series):
        some = ", ".join(sorted(names)[:3])
        bare = next((name for name in sorted(names) if _is_below(tree, name)), None)
        hint = "" if bare is None else "; its names need a/ and b/ before them (diff.noprefix)"
        raise UsageError(f"the series touches no file of {tree} (it names {some}){hint}")
    init_repository(scratch)
    for name, file in base.items():
        if name in names and file is not None:
            _put(scratch / name, file)
    git(["add", "--all", "--force", "."], scratch)
    if on_top is not None:
        for patch in on_top.patches:
            _apply(patch, len(on_top.patches), scratch, "of --on-top ")
        base |= _state(scratch, names)
    git(["commit", "--quiet", "--allow-empty", "--message=base"], scratch)
    for patch in series.patches:
        _apply(patch, len(series.patches), scratch, "")
    patched = base | _state(scratch, names)
    words = ["diff", "--cached", "--no-renames", "--no-ext-diff", "--no-textconv", "HEAD", "--"]
    text = git(words, scratch)
    diffs = {file.name: file for file in parse(text, "the series")}
    if not diffs:
        raise UsageError(
            "the series changes nothing: what its patches do is undone by others of it"
        )
    return Applied(base, patched, diffs, text)


def _is_below(tree: Path, name: str) -> bool:
    """Does a folder of the tree have it, whose name was taken for the one before the tree?"""
    return any((folder / name).is_file() for folder in tree.iterdir() if folder.is_dir())


def _is_new(series: Series) -> bool:
    """Does it only make files?"""
    return all(file.old == "/dev/null" for patch in series.patches for file in patch.files)


def _put(path: Path, file: File) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(file.data)
    path.chmod(0o755 if file.executable else 0o644)


def _state(scratch: Path, names: set[str]) -> dict[str, File | None]:
    return {name: tree_file(scratch, name) for name in names}


def _apply(patch: Patch, total: int, scratch: Path, whose: str) -> None:
    words = ["apply", "--index", "--whitespace=nowarn", "-p1", "-"]
    done = try_git(words, scratch, patch.diff)
    if done.returncode == 0:
        return
    said = done.stderr.decode("utf-8", "replace")
    which = f"patch {patch.number} of {total} {whose}".rstrip()
    if patch.subject:
        which += f" ('{shortened(patch.subject, 100)}')"
    if try_git([*words[:-1], "--check", "--reverse", "-"], scratch, patch.diff).returncode == 0:
        raise UsageError(f"{which} is in this tree already")
    hint = _by_fuzz(patch, scratch) if _FAILED.search(said) else ""
    raise UsageError(f"{which} does not apply: {_why(patch, said)}{hint}")


def _why(patch: Patch, said: str) -> str:
    """Which file and hunk, in words."""
    missing = _MISSING.search(said)
    if missing is not None:
        return f"the tree has no {missing[1]}"
    exists = _EXISTS.search(said)
    if exists is not None:
        return f"the tree has {exists[1]} already"
    failed = _FAILED.search(said)
    if failed is None:
        lines = [line.removeprefix("error: ") for line in said.splitlines() if line]
        return shortened(lines[0]) if lines else "git says nothing"
    for file in patch.files:
        places = [hunk.old for hunk in file.hunks]
        if failed[1] in file.names and int(failed[2]) in places:
            number = places.index(int(failed[2])) + 1
            return f"hunk {number} of {len(places)} of {failed[1]}, at line {failed[2]}"
    return f"{failed[1]}, at line {failed[2]}"


def _by_fuzz(patch: Patch, scratch: Path) -> str:
    """What to do about a hunk; patch(1) may be able to guess where it belongs."""
    if shutil.which("patch") is None:
        return ""
    argv = ["patch", "-p1", "--dry-run", "--batch", "--force", "--fuzz=2", "--silent"]
    done: subprocess.CompletedProcess[bytes]
    done = run(argv, scratch, environment(), patch.diff, 60)
    if done.returncode != 0:
        return ""
    return "; it applies with fuzz only, which may be the wrong place: rebase it onto this tree"
