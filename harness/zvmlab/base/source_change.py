# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes of other projects' sources: what a file that describes one says, and what it makes of a tree.

Each file is one change, written in the language of the lines that it inserts.  It begins with a
comment: the licence, then the subject and the text of its patch.  After that, lines that begin
with ``//@`` (or ``#@``) say where the lines below them go:

    //@ file: PATH           in this file of the project's
    //@ for: SERIES...       up to the next "file": in these versions only
    //@ include: HEADER      includes the header, unless the file does already, behind that which
                             all files of the project include first
    //@ in: PIECE            up to the next "in" or "file": only between the one line that
                             contains PIECE and the next line that is "}"
    //@ before: PIECE        insert before the one line that contains PIECE
    //@ after: PIECE         insert after it
    //@ replace: PIECE       insert in its place; "replace 3": and of the two lines below it

A function that is inserted before another one gets an empty line behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_DIRECTIVE = re.compile(r"(?://|#)@ (\w+)(?: (\d+))?: *(.+)")
_INSERTS = ("before", "after", "replace")
_MARKS = re.compile(r"^(?:/\*| \*/| ?\*|#)(?: |$)")
_LICENCE = "SPDX-License" "-Identifier: "


class ChangeError(Exception):
    """A change is not written as it should be, or does not fit the tree."""


@dataclass(frozen=True)
class Project:
    """Whose source it is."""

    name: str
    series: tuple[str, ...]
    """Versions that the changes are for."""
    rules: str
    """The file of ours that says how a change is written."""
    first_header: str = ""
    """A line that every file of the project's has; a header is included behind it."""


@dataclass(frozen=True)
class Place:
    """Where lines go; "include" has the header as its piece, and no lines."""

    project: Project
    source: str
    """The change's file, and the line in it that says so."""
    file: str
    series: tuple[str, ...]
    """Empty: all."""
    inside: str
    kind: str
    count: int
    """Of lines that are replaced."""
    piece: str
    text: str


@dataclass(frozen=True)
class Change:
    """Places that belong together."""

    name: str
    kind: str
    subject: str
    text: str
    places: list[Place]

    def within(self, series: str) -> list[Place]:
        """Those in this version of the project."""
        return [place for place in self.places if not place.series or series in place.series]


class _Reader:
    """What has been read of one file."""

    def __init__(self, path: Path, project: Project) -> None:
        self._path, self._project = path, project
        self._lines = path.read_text(encoding="utf-8").splitlines()
        self._file = self._inside = ""
        self._series: tuple[str, ...] = ()

    def change(self) -> Change:
        """All of it."""
        starts = [i for i, line in enumerate(self._lines) if re.match(r"(?://|#)@", line)]
        licence, subject, *text = self._comment(self._lines[: min(starts, default=None)])
        if not licence.startswith(_LICENCE):
            raise self._wrong(0, "does not begin with its licence")
        places = [
            place
            for start, end in zip(starts, [*starts[1:], len(self._lines)])
            for place in self._directive(start, self._lines[start + 1 : end])
        ]
        if not places:
            raise self._wrong(0, "inserts nothing")
        body = "\n".join(text).strip("\n")
        return Change(self._path.stem, self._path.parent.name, subject, body, places)

    def _wrong(self, number: int, why: str) -> ChangeError:
        return ChangeError(f"{self._path}:{number + 1}: {why}; {self._project.rules} has the rules")

    def _comment(self, lines: list[str]) -> list[str]:
        """Licence, subject and text, without what makes a comment of them."""
        text = [_MARKS.sub("", line).removesuffix("*/").rstrip() for line in lines]
        found = [line for i, line in enumerate(text) if line or (i > 3 and text[i - 1])]
        if len(found) < 3:
            raise self._wrong(0, "does not say what is changed, and why")
        return found

    def _directive(self, number: int, below: list[str]) -> Iterator[Place]:
        match = _DIRECTIVE.fullmatch(self._lines[number])
        key, value = (match[1], match[3]) if match else ("", "")
        text = "\n".join(below).strip("\n")
        count = int(match[2] or 0) if match else 0
        if key not in _INSERTS and match and (text or count):
            raise self._wrong(number, "only 'before', 'after' and 'replace' have lines below them")
        if key == "file":
            self._file, self._series, self._inside = value, (), ""
        elif key == "for" and self._file and set(value.split()) <= set(self._project.series):
            self._series = tuple(value.split())
        elif key == "in" and self._file:
            self._inside = value
        elif key == "include" and not self._project.first_header:
            raise self._wrong(
                number,
                f"{self._project.name} has no header behind which all others go; use 'after'",
            )
        elif key == "include" and self._file:
            yield self._place(number, key, value, "", 0)
        elif key == "replace" and self._file:
            yield self._place(number, key, value, text, count or 1)
        elif key in _INSERTS and self._file and text and not count:
            end = "\n" if key == "before" and text.splitlines()[-1].startswith("}") else ""
            yield self._place(number, key, value, text + end, 0)
        else:
            raise self._wrong(number, f"'{self._lines[number]}' cannot stand here")

    def _place(self, number: int, kind: str, piece: str, text: str, count: int) -> Place:
        source = f"{self._path}:{number + 1}"
        where = (self._file, self._series, self._inside)
        text = f"{text}\n" if text else ""
        return Place(self._project, source, *where, kind, count, piece, text)


def read_changes(files: Sequence[Path], project: Project) -> list[Change]:
    """The changes of these files, in this order."""
    try:
        changes = [_Reader(file, project).change() for file in files]
    except OSError as error:
        raise ChangeError(f"{error.filename} cannot be read: {error.strerror}") from error
    names = [change.name for change in changes]
    for file, name in zip(files, names):
        if names.count(name) > 1:
            folder = file.parent.parent
            raise ChangeError(f"{folder}: two changes are called '{name}'; rename one")
    return changes


def _only(place: Place, lines: list[str], piece: str, span: range) -> int:
    """The one line of *span* that contains *piece*."""
    found = [i for i in span if piece in lines[i]]
    if len(found) != 1:
        raise ChangeError(
            f"{place.source}: '{piece}' is in {len(found)} lines of {place.project.name}'s"
            f" {place.file} instead of"
            " one; see what that file has there now, and change the place, or remove the change"
            f" if {place.project.name} does not need it any more"
        )
    return found[0]


def insert(text: str, place: Place) -> str:
    """The text of a file with the place's lines in it."""
    if place.kind == "include":
        line = f'#include "{place.piece}"\n'
        if f"\n{line}" in text:
            return text
        first = f"{place.project.first_header}\n"
        return text.replace(first, first + line, 1)
    lines = text.splitlines(keepends=True)
    span = range(len(lines))
    if place.inside:
        first_line = _only(place, lines, place.inside, span)
        ends = (i for i in span[first_line:] if lines[i].rstrip() == "}")
        span = range(first_line, next(ends, len(lines)))
    at = _only(place, lines, place.piece, span) + (place.kind == "after")
    return "".join([*lines[:at], place.text, *lines[at + place.count :]])


def changed(tree: Path, places: Iterable[Place], texts: dict[str, str]) -> dict[str, str]:
    """What the places make of *texts*, or of the tree's files where these are not known."""
    result = dict(texts)
    for place in places:
        if place.file not in result:
            result[place.file] = _read(tree, place)
        result[place.file] = insert(result[place.file], place)
    return result


def _read(tree: Path, place: Place) -> str:
    try:
        text = (tree / place.file).read_text(encoding="utf-8")
    except OSError as error:
        raise ChangeError(
            f"{place.source}: {tree / place.file} cannot be read: {error.strerror};"
            f" see where {place.project.name} has it now, and change the line with 'file'"
        ) from error
    if "zvmlab" in text:
        raise ChangeError(f"{tree / place.file} has our changes already")
    return text
