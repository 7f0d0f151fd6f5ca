# SPDX-License-Identifier: MIT
"""A list of promises, and the rows of it that a test shows.

The list is a TOML file; tests/e2e/requirements.toml says what is in it.  The name of a
test function begins with the rows: ``test_m15_ioctl_is_refused`` shows M15,
``test_m18_m23_every_buffer_size`` shows M18 and M23; leading zeros do not count.
"""

from __future__ import annotations

import errno
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zvmlab.base.errors import UsageError

ERRNOS = frozenset(errno.errorcode.values())
_ROW_WORD = re.compile(r"([a-z])([0-9]{1,6})")
_GROUP = re.compile(r"[A-Z]")
_NUMBER = re.compile(r"[1-9][0-9]{0,5}")
_TEXTS = ("title", "promise", "shown")


@dataclass(frozen=True)
class Promise:
    """One row of the list."""

    row: str
    """Letter of the group and number, as in M15."""
    title: str
    promise: str
    shown: str
    errnos: tuple[str, ...] = ()


@dataclass(frozen=True)
class Promises:
    """The rows in the order of the file, and the groups by their letter."""

    groups: Mapping[str, str]
    rows: Mapping[str, Promise]

    def rows_of(self, function: str) -> tuple[str, ...]:
        """The rows a test function shows; among them may be one that the list does not have.

        A letter that is no group's ends the rows: ``test_v2_…`` may be a version.
        """
        rows: list[str] = []
        for word in function.removeprefix("test_").split("_"):
            found = _ROW_WORD.fullmatch(word)
            if found is None or found[1].upper() not in self.groups:
                break
            rows.append(f"{found[1].upper()}{int(found[2])}")
        return tuple(dict.fromkeys(rows))

    def sentence_of(self, function: str, doc: str | None) -> str:
        """What a test shows, in words: its docstring's first line, else its name."""
        lines = (doc or "").strip().splitlines()
        if lines:
            return lines[0].strip()
        words = function.removeprefix("test_").split("_")
        return " ".join(words[len(self.rows_of(function)) :])

    def errnos_of(self, rows: tuple[str, ...], name: str) -> tuple[str, ...]:
        """Error numbers a test is about: those of its rows, and those in its name or parameters."""
        words = re.split(r"[^A-Z0-9]+", name.upper())
        of_rows = [e for row in rows if row in self.rows for e in self.rows[row].errnos]
        return tuple(sorted({*of_rows, *(word for word in words if word in ERRNOS)}))


def load(path: Path) -> Promises:
    """The list in a file; UsageError if it is none."""
    try:
        with path.open("rb") as file:
            tables = tomllib.load(file)
    except OSError as error:
        raise UsageError(f"promises {path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"promises {path} are no TOML: {error}") from None
    groups: dict[str, str] = {}
    rows: dict[str, Promise] = {}
    for letter, table in tables.items():
        if not _GROUP.fullmatch(letter) or not isinstance(table, dict):
            raise UsageError(f"promises {path}: {letter!r} is no group; name it by one letter A–Z")
        title = table.pop("title", None)
        if not isinstance(title, str):
            raise UsageError(f"promises {path}: group {letter} needs a title")
        groups[letter] = title
        for number, fields in table.items():
            row = _row(path, letter, number, fields)
            rows[row.row] = row
    if not rows:
        raise UsageError(f"promises {path}: there is no row in it")
    return Promises(groups, rows)


def _row(path: Path, letter: str, number: str, fields: Any) -> Promise:
    name = f"{letter}{number}"
    where = f"promises {path}: row {name}"
    if not _NUMBER.fullmatch(number) or not isinstance(fields, dict):
        raise UsageError(f"promises {path}: [{letter}.{number}] is no row; use a number from 1 on")
    for key in fields.keys() - {*_TEXTS, "errnos"}:
        raise UsageError(f"{where} has a field {key!r}, which no row has")
    for key in _TEXTS:
        if not isinstance(fields.get(key), str):
            raise UsageError(f"{where} needs a text {key!r}")
    errnos = fields.get("errnos", [])
    if not isinstance(errnos, list) or not ERRNOS.issuperset(map(str, errnos)):
        raise UsageError(f"{where}: errnos must be a list of names such as EIO")
    texts = {key: fields[key] for key in _TEXTS}
    return Promise(row=name, errnos=tuple(errnos), **texts)
