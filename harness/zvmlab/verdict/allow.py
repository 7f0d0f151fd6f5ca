# SPDX-License-Identifier: MIT
"""Differences that a user allows: patterns, each with a reason and a last date.

    [[allow]]
    test = "sockets.severed_*"
    reason = "the peer is too slow in this laboratory"
    until = 2027-03-01

An entry that is past its date, or that nothing needed, is an error.
"""

from __future__ import annotations

import datetime
import fnmatch
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zvmlab.base.errors import UsageError

_FIELDS = {"test", "report", "reason", "until"}


@dataclass(frozen=True)
class Entry:
    """One allowed difference; of the two patterns, one is there."""

    number: int
    test: str
    report: str
    reason: str
    until: datetime.date

    @property
    def shown(self) -> str:
        """The entry in sentences."""
        return f"entry {self.number} ({self.test or self.report})"


def read_allowed(path: Path | None, today: datetime.date) -> list[Entry]:
    """The entries of a file; UsageError if one of them is none, or is past its date."""
    if path is None:
        return []
    try:
        with path.open("rb") as file:
            tables = tomllib.load(file)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path} is not TOML: {error}") from None
    found = tables.pop("allow", None)
    if tables or not isinstance(found, list):
        raise UsageError(f"{path} has to be a list of tables [[allow]]")
    entries = [_entry(path, number, table) for number, table in enumerate(found, 1)]
    for entry in entries:
        if entry.until < today:
            raise UsageError(
                f"{path}: {entry.shown} ended on {entry.until}; look at it again, and remove it or"
                " give it another date"
            )
    return entries


def _entry(path: Path, number: int, table: Any) -> Entry:
    where = f"{path}: entry {number}"
    if not isinstance(table, dict) or table.keys() - _FIELDS:
        raise UsageError(f"{where} has other fields than {', '.join(sorted(_FIELDS))}")
    texts = {}
    for name in ("test", "report", "reason"):
        texts[name] = table.get(name, "")
        if not isinstance(texts[name], str):
            raise UsageError(f"{where}: {name} has to be a text")
    until = table.get("until")
    if not texts["reason"].strip():
        raise UsageError(f"{where} needs a reason")
    if not isinstance(until, datetime.date) or isinstance(until, datetime.datetime):
        raise UsageError(f"{where} needs a last date, as in until = 2027-03-01")
    if bool(texts["test"]) == bool(texts["report"]):
        raise UsageError(f"{where} needs a pattern: test, or report")
    return Entry(number, texts["test"], texts["report"], texts["reason"], until)


class Allowed:
    """The entries, and which of them were needed."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = list(entries)
        self._needed: set[int] = set()

    def test(self, name: str) -> bool:
        """Is a difference of this test allowed?"""
        return self._find(name, "test")

    def report(self, text: str) -> bool:
        """Is this report of the kernel allowed?"""
        return self._find(text, "report")

    def _find(self, text: str, field: str) -> bool:
        fits = [
            entry
            for entry in self._entries
            if getattr(entry, field) and fnmatch.fnmatchcase(text, getattr(entry, field))
        ]
        self._needed |= {entry.number for entry in fits}
        return bool(fits)

    def unneeded(self) -> list[str]:
        """A sentence for each entry that nothing needed."""
        left = (entry for entry in self._entries if entry.number not in self._needed)
        return [f"--allow: {entry.shown} was not needed; remove it" for entry in left]
