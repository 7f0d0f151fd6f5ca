# SPDX-License-Identifier: MIT
"""A list of requirements, and the rows of it that a test shows.

The list is a TOML file; tests/e2e/requirements.toml says what is in it.  A marker of the
test names the rows: ``@pytest.mark.requirement("M18", "M23")``.
"""

from __future__ import annotations

import errno
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from zvmlab.base.errors import UsageError
from zvmlab.guest.config import BACKENDS

MARKER = "requirement"
ERRNOS = frozenset(errno.errorcode.values())
_GROUP = re.compile(r"[A-Z]")
_NUMBER = re.compile(r"[1-9][0-9]{0,5}")
_TEXTS = ("title", "text", "shown")
_ROW = re.compile(r"[A-Z][1-9][0-9]{0,5}")


@dataclass(frozen=True)
class Requirement:
    """One row of the list."""

    row: str
    """Letter of the group and number, as in M15."""
    title: str
    text: str
    shown: str
    errnos: tuple[str, ...] = ()
    emulators: tuple[str, ...] = BACKENDS
    """Those that have what the row is about."""
    kernels: tuple[str, ...] = ()
    """Names of the kernels that have it; none: all."""

    def is_about(self, kernel: str, backend: str) -> bool:
        """Must a test show it there?"""
        return backend in self.emulators and (not self.kernels or kernel in self.kernels)


@dataclass(frozen=True)
class Requirements:
    """The rows in the order of the file, and the groups by their letter."""

    groups: Mapping[str, str]
    rows: Mapping[str, Requirement]

    def errnos_of(self, rows: tuple[str, ...], name: str) -> tuple[str, ...]:
        """Error numbers a test is about: those of its rows, and those in its name or parameters."""
        words = re.split(r"[^A-Z0-9]+", name.upper())
        of_rows = [e for row in rows if row in self.rows for e in self.rows[row].errnos]
        return tuple(sorted({*of_rows, *(word for word in words if word in ERRNOS)}))


def rows_of_marker(arguments: Sequence[object]) -> tuple[str, ...]:
    """The rows in a marker's arguments; UsageError for what can be none.

    A row that the list does not have is none of our business here: a run says so.
    """
    for row in arguments:
        if not isinstance(row, str) or not _ROW.fullmatch(row):
            raise UsageError(f"mark.requirement: invalid row: {row!r} (for example M15)")
    if not arguments:
        raise UsageError("mark.requirement: no row given (for example M15)")
    return tuple(dict.fromkeys(map(str, arguments)))


def rows_of(item: pytest.Item) -> tuple[str, ...]:
    """The rows in the test's markers, those of its module and class first."""
    marks = reversed(list(item.iter_markers(MARKER)))
    try:
        rows = [row for mark in marks for row in rows_of_marker(mark.args)]
    except UsageError as error:
        raise pytest.UsageError(f"{item.nodeid}: {error}") from None
    return tuple(dict.fromkeys(rows))


def sentence_of(function: str, doc: str | None) -> str:
    """Describe a test: its docstring's first line, or its name in words."""
    lines = (doc or "").strip().splitlines()
    return lines[0].strip() if lines else " ".join(function.removeprefix("test_").split("_"))


def load(path: Path) -> Requirements:
    """The list in a file; UsageError if it is none."""
    try:
        with path.open("rb") as file:
            tables = tomllib.load(file)
    except OSError as error:
        raise UsageError(f"requirements {path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"requirements {path} are not TOML: {error}") from None
    groups: dict[str, str] = {}
    rows: dict[str, Requirement] = {}
    for letter, table in tables.items():
        if not _GROUP.fullmatch(letter) or not isinstance(table, dict):
            raise UsageError(f"requirements {path}: invalid group: {letter!r} (one letter A–Z)")
        title = table.pop("title", None)
        if not isinstance(title, str):
            raise UsageError(f"requirements {path}: group {letter} needs a title")
        groups[letter] = title
        for number, fields in table.items():
            row = _row(path, letter, number, fields)
            rows[row.row] = row
    if not rows:
        raise UsageError(f"requirements {path}: the list has no rows")
    return Requirements(groups, rows)


def _row(path: Path, letter: str, number: str, fields: Any) -> Requirement:
    name = f"{letter}{number}"
    where = f"requirements {path}: row {name}"
    if not _NUMBER.fullmatch(number) or not isinstance(fields, dict):
        raise UsageError(
            f"requirements {path}: invalid row: [{letter}.{number}] (a number from 1 on)"
        )
    for key in fields.keys() - {*_TEXTS, "errnos", "emulators", "kernels"}:
        raise UsageError(f"{where} has a field {key!r}, which no row has")
    for key in _TEXTS:
        if not isinstance(fields.get(key), str):
            raise UsageError(f"{where} needs a text {key!r}")
    errnos = fields.get("errnos", [])
    if not isinstance(errnos, list) or not ERRNOS.issuperset(map(str, errnos)):
        raise UsageError(f"{where}: errnos must be a list of names such as EIO")
    emulators = fields.get("emulators", list(BACKENDS))
    known = isinstance(emulators, list) and set(BACKENDS).issuperset(map(str, emulators))
    if not known or not emulators:
        raise UsageError(f"{where}: emulators must be a list of {' and '.join(BACKENDS)}")
    kernels = fields.get("kernels")
    if kernels is not None and not _are_names(kernels):
        raise UsageError(f"{where}: kernels must be a list of their names, such as coverage")
    texts = {key: fields[key] for key in _TEXTS}
    return Requirement(
        name,
        **texts,
        errnos=tuple(errnos),
        emulators=tuple(emulators),
        kernels=tuple(kernels or ()),
    )


def _are_names(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(text, str) for text in value)
