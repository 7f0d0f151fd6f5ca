# SPDX-License-Identifier: MIT
"""The museum's bugs: tests/museum/bugs.toml as Python sees it.

    bugs = load(default_table())
    bug = find(bugs, "peek-leak")
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.base.hints import did_you_mean
from zvmlab.base.tree import TREE
from zvmlab.museum.pattern_edit import PatternEdit

TABLE = Path("tests/museum/bugs.toml")
FIRST_YEAR, LAST_YEAR = 2006, 2100
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TEXTS = ("id", "subject", "author", "file", "how", "judge")
_OPTIONAL = ("module", "kernel", "seen", "missing")
_LISTS = ("tests", "options", "named")
_EDIT = {"file", "place", "becomes", "times"}


@dataclass(frozen=True)
class Bug:
    """One bug, how it is brought back, and what shows it."""

    id: str
    subject: str
    """Of the commit that mended it."""
    year: int
    author: str
    """Of that commit."""
    file: str
    edits: tuple[PatternEdit, ...]
    how: str
    """What provokes it."""
    judge: str
    """What sees it."""
    module: str = ""
    """"" if the file is part of the kernel itself."""
    kernel: str = ""
    """The kernel that it is shown on."""
    tests: tuple[str, ...] = ()
    """Words of pytest, relative to the clone."""
    options: tuple[str, ...] = ()
    """Further ones, which are no tests."""
    seen: str = ""
    """A regular expression that the failure's text has."""
    missing: str = ""
    """Why no test shows it, and what that would take."""

    named: tuple[str, ...] = ()
    """Partners and segments that the tests are about: all others stay as they are."""

    @property
    def shown(self) -> bool:
        """Does a test show it?"""
        return not self.missing


def default_table() -> Path:
    """The table of this clone."""
    table = TREE / TABLE
    if not table.is_file():
        raise CannotRun(f"{table} is missing; only a clone of zvmlab has the museum")
    return table


def load(table: Path) -> list[Bug]:
    """The bugs of a table; UsageError says which entry is wrong."""
    try:
        found = tomllib.loads(table.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{table} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{table} is not TOML: {error}") from None
    entries = found.get("bug", [])
    if set(found) - {"bug"} or not isinstance(entries, list):
        raise UsageError(f"{table} has something besides [[bug]]")
    bugs = [_bug(table, number, entry) for number, entry in enumerate(entries, 1)]
    for bug in bugs:
        if sum(other.id == bug.id for other in bugs) > 1:
            raise UsageError(f"{table}: there are two bugs called {bug.id}")
    return bugs


def tests_by_file(bugs: Iterable[Bug]) -> dict[str, list[str]]:
    """The tests that show the bugs of each file of Linux."""
    found: dict[str, list[str]] = {}
    for bug in bugs:
        tests = found.setdefault(bug.file, [])
        tests += [test for test in bug.tests if test not in tests]
    return {file: tests for file, tests in found.items() if tests}


def find(bugs: Iterable[Bug], name: str) -> Bug:
    """The bug of that ID."""
    known = {bug.id: bug for bug in bugs}
    if name not in known:
        raise UsageError(
            f"the museum has no bug '{name}'; 'zvmlab museum list' names all"
            f"{did_you_mean(name, list(known))}"
        )
    return known[name]


def _bug(table: Path, number: int, entry: object) -> Bug:
    name = entry.get("id", number) if isinstance(entry, dict) else number
    what = f"{table}: bug {name}"
    if not isinstance(entry, dict):
        raise UsageError(f"{what} is no table")
    _check(what, entry)
    edits = tuple(_edit(what, entry["file"], edit) for edit in entry["edit"])
    texts: dict[str, Any] = {key: entry[key] for key in (*_TEXTS, *_OPTIONAL) if key in entry}
    texts |= {key: tuple(entry.get(key, ())) for key in _LISTS}
    bug = Bug(**texts, year=entry["year"], edits=edits)
    if not _ID.fullmatch(bug.id):
        raise UsageError(f"{what}: an ID consists of small letters, digits and '-'")
    if bug.shown == (not bug.tests):
        raise UsageError(f"{what} needs either tests or a text that says what is missing")
    if bug.shown and not (bug.seen and bug.kernel):
        raise UsageError(f"{what} has tests, and needs 'seen' and 'kernel'")
    try:
        re.compile(bug.seen)
    except re.error as error:
        raise UsageError(f"{what}: seen is no regular expression: {error}") from None
    return bug


def _check(what: str, entry: dict[str, Any]) -> None:
    known = {*_TEXTS, *_OPTIONAL, *_LISTS, "year", "edit"}
    strange = sorted(set(entry) - known)
    if strange:
        raise UsageError(f"{what} has {strange[0]!r}, which is unknown")
    for key in (*_TEXTS, "year", "edit"):
        if key not in entry:
            raise UsageError(f"{what} has no {key!r}")
    for key in (*_TEXTS, *_OPTIONAL):
        if key in entry and not isinstance(entry[key], str):
            raise UsageError(f"{what}: {key} must be a text")
    for key in _LISTS:
        words = entry.get(key, [])
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise UsageError(f"{what}: {key} must be a list of texts")
    year = entry["year"]
    if type(year) is not int or not FIRST_YEAR <= year <= LAST_YEAR:
        raise UsageError(f"{what}: year must be a number from {FIRST_YEAR} to {LAST_YEAR}")
    if not isinstance(entry["edit"], list):
        raise UsageError(f"{what}: write [[bug.edit]]")


def _edit(what: str, file: str, edit: object) -> PatternEdit:
    if not isinstance(edit, dict) or set(edit) - _EDIT or not {"place", "becomes"} <= set(edit):
        raise UsageError(f"{what}: an edit has place, becomes, and perhaps times and file")
    times = edit.get("times", 1)
    name, place, becomes = edit.get("file", file), edit["place"], edit["becomes"]
    if type(times) is not int or not all(isinstance(text, str) for text in (name, place, becomes)):
        raise UsageError(f"{what}: times is a number; place, becomes and file are texts")
    try:
        return PatternEdit(name, place, becomes, times)
    except UsageError as error:
        raise UsageError(f"{what}: {error}") from None
