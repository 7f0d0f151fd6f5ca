# SPDX-License-Identifier: MIT
"""Unified diffs: which files and lines they change; those that zvmlab does not apply are refused.

    for file in parse(text, "patch 1"):
        print(file.name, file.changed)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from zvmlab.base.errors import UsageError
from zvmlab.base.plain import harmless, shortened

NONE = "/dev/null"
_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)")
_MOST_DIGITS = 9
_GIT = re.compile(rb"^diff --git a/(.{1,4000}) b/\1$")
_MODE = re.compile(rb"^(new file mode|deleted file mode|new mode|old mode) (\d{6})$")
_INDEX = re.compile(rb"^(index) [0-9a-f]+\.\.[0-9a-f]+ (\d{6})$")
_MOST_LINES = 10**7
_LINK, _MODULE = "120000", "160000"


@dataclass
class Hunk:
    """A hunk: its place in the old file, and the new file's lines that it changes."""

    old: int
    new: int
    context: str
    """What diff says behind the second @@: the function's head."""
    added: list[int] = field(default_factory=list)
    """Numbers of lines in the new file."""
    removed: list[int] = field(default_factory=list)
    """Numbers of lines in the old file."""


@dataclass
class FileDiff:
    """What a diff does to one file."""

    old: str
    """NONE: the file is new."""
    new: str
    """NONE: the file goes."""
    hunks: list[Hunk] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The file's name in the tree, after the patch if it has one then."""
        return self.new if self.new != NONE else self.old

    @property
    def names(self) -> set[str]:
        """Its names before and after."""
        return {self.old, self.new} - {NONE}


def _name(text: bytes, where: str) -> str:
    """The name of a file in the tree, from a line of a diff with its a/ or b/."""
    word = text.split(b"\t")[0].rstrip(b"\r\n ").decode("utf-8", "surrogateescape")
    if word == NONE:
        return NONE
    shown = repr(shortened(harmless(word, lines=False)))
    if word.startswith("/"):
        raise UsageError(f"{where} names the absolute path {shown}")
    if word.startswith('"') or not word.isprintable():
        raise UsageError(f"{where} names a file {shown}, as no file of Linux is named")
    parts = word.split("/")
    if ".." in parts or ".git" in (part.lower() for part in parts):
        raise UsageError(f"{where} names {shown}, which leads out of the tree")
    if len(parts) < 2:
        raise UsageError(f"{where} names {shown} without a folder before it, such as a/ or b/")
    if not all(parts):
        raise UsageError(f"{where} names {shown}, which is no path")
    return str(PurePosixPath(*parts[1:]))


class _Parser:
    """Reads a diff line by line; what stands before and between its parts is skipped."""

    def __init__(self, text: bytes, where: str) -> None:
        self._lines = text.split(b"\n")
        if len(self._lines) > _MOST_LINES:
            raise UsageError(f"{where} has more than {_MOST_LINES} lines")
        self._where = where
        self._at = 0
        self.files: list[FileDiff] = []
        self._rename: list[str] = []
        self._same = b""
        """The file of the last line "diff --git" that names one file only."""

    def parse(self) -> list[FileDiff]:
        while self._at < len(self._lines):
            self._header(self._lines[self._at])
            self._at += 1
        return self.files

    def _header(self, line: bytes) -> None:
        where = self._where
        if line.startswith((b"GIT binary patch", b"Binary files ")):
            raise UsageError(f"{where} has a binary hunk; Linux for guests is built from text")
        if line.startswith((b"diff --cc ", b"diff --combined ")):
            raise UsageError(f"{where} has the combined diff of a merge, which fits no single tree")
        if line.startswith(b"diff --git "):
            same = _GIT.match(line)
            self._same = same[1] if same is not None else b""
        mode = _MODE.match(line) or _INDEX.match(line)
        if mode is not None:
            self._mode(mode[1], mode[2].decode())
        elif line.startswith((b"rename from ", b"copy from ")):
            self._rename = [_name(b"a/" + line.split(b" ", 2)[2], where)]
        elif line.startswith((b"rename to ", b"copy to ")) and self._rename:
            new = _name(b"b/" + line.split(b" ", 2)[2], where)
            self.files.append(FileDiff(self._rename[0], new))
            self._rename = []
        elif line.startswith(b"--- ") and self._follows(b"+++ "):
            old = _name(line[4:], where)
            new = _name(self._lines[self._at + 1][4:], where)
            self._at += 1
            last = self.files[-1] if self.files else None
            if last is None or (last.old, last.new) != (old, new) or last.hunks:
                self.files.append(FileDiff(old, new))
        elif self.files and (hunk := _HUNK.match(line)) is not None:
            self._hunk(hunk)

    def _mode(self, what: bytes, mode: str) -> None:
        """A file's mode; git shows one that is empty, or changes in its mode alone, by nothing else."""
        if mode == _LINK:
            raise UsageError(
                f"{self._where} makes or changes a symbolic link, which zvmlab refuses"
            )
        if mode == _MODULE:
            raise UsageError(f"{self._where} changes a submodule, which Linux does not have")
        if self._same and what != b"index":
            name = _name(b"a/" + self._same, self._where)
            old = NONE if what.startswith(b"new file") else name
            self.files.append(FileDiff(old, NONE if what.startswith(b"deleted") else name))
            self._same = b""

    def _follows(self, word: bytes) -> bool:
        after = self._lines[self._at + 1 : self._at + 2]
        return bool(after) and after[0].startswith(word)

    def _hunk(self, head: re.Match[bytes]) -> None:
        if any(len(number or b"") > _MOST_DIGITS for number in head.groups()[:4]):
            raise UsageError(
                f"{self._where} is damaged: hunk {len(self.files[-1].hunks) + 1} of"
                f" {self.files[-1].name} has a number of more than {_MOST_DIGITS} digits"
            )
        old, new = int(head[1]), int(head[3])
        left = [int(head[2] or 1), int(head[4] or 1)]
        context = head[5].decode("utf-8", "replace").strip()
        hunk = Hunk(old, new, context)
        self.files[-1].hunks.append(hunk)
        while left[0] > 0 or left[1] > 0:
            self._at += 1
            line = self._lines[self._at] if self._at < len(self._lines) else None
            if line is None or not (line == b"" or line[:1] in b" +-\\\r"):
                raise UsageError(
                    f"{self._where} is cut off or damaged: hunk {len(self.files[-1].hunks)} of"
                    f" {self.files[-1].name} has fewer lines than it says"
                )
            kind = line[:1]
            if kind == b"\\":
                continue
            if kind != b"+":
                if kind == b"-":
                    hunk.removed.append(old)
                old, left[0] = old + 1, left[0] - 1
            if kind != b"-":
                if kind == b"+":
                    hunk.added.append(new)
                new, left[1] = new + 1, left[1] - 1


def parse(text: bytes, where: str) -> list[FileDiff]:
    """The files of a diff; UsageError, which *where* begins, if it is none that can be applied."""
    return _Parser(text, where).parse()


def ranges(lines: list[int]) -> str:
    """Numbers of lines as text: 7, 12-14."""
    parts: list[list[int]] = []
    for line in sorted(set(lines)):
        if parts and line == parts[-1][1] + 1:
            parts[-1][1] = line
        else:
            parts.append([line, line])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
