# SPDX-License-Identifier: MIT
"""Changes that no test can notice, because the program means the same: judged.toml.

An entry names its place by the source's text, so that it follows what moves and goes stale with
what changes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from change import Mutant
from enumerate_changes import changes_of
from zvmlab.base.errors import UsageError


JUDGED = Path("tests/mutants/judged.toml")
HARMLESS, LINUX = "harmless", "linux"
"""Sections: changes of this tree, changes of Linux."""


@dataclass(frozen=True)
class Entry:
    """*right* stands once in *file*; *wrong* in its place is harmless because of *why*."""

    file: str
    right: str
    wrong: str
    why: str

    def changed(self, root: Path) -> str:
        """The file's text with the change made; UsageError says why it cannot be."""
        try:
            text = (root / self.file).read_text(encoding="utf-8")
        except OSError:
            raise UsageError(f"{self.file}: there is no such file") from None
        count = text.count(self.right)
        if count != 1:
            times = "not" if count == 0 else f"{count} times"
            raise UsageError(f"{self.file}: its text is {times} there: {self.right!r}")
        return text.replace(self.right, self.wrong)


def load(path: Path, section: str = HARMLESS) -> list[Entry]:
    """All entries of a section of a file."""
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get(section, [])
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}") from None
    words = ("file", "right", "wrong", "why")
    found = []
    for number, entry in enumerate(entries, 1):
        if set(entry) != set(words) or not all(isinstance(entry[word], str) for word in words):
            raise UsageError(f"{path.name}: entry {number} needs {', '.join(words)}, all texts")
        found.append(Entry(*(entry[word] for word in words)))
    return found


def mutant_of(entry: Entry, root: Path) -> Mutant:
    """The change that an entry means; UsageError if the runner makes no such change."""
    changed = entry.changed(root)
    text = (root / entry.file).read_text(encoding="utf-8")
    for change in changes_of(entry.file, text):
        if change.applied(text) == changed:
            return Mutant(entry.file, change, text)
    raise UsageError(f"{entry.file}: no change makes {entry.wrong!r} of {entry.right!r}")


def findings(entries: list[Entry], root: Path) -> Iterator[str]:
    """What is wrong with the entries, held against the sources."""
    seen = set()
    for entry in entries:
        if not entry.why.strip():
            yield f"judged.toml: {entry.file}: {entry.right!r} has no reason"
        try:
            mutant = mutant_of(entry, root)
        except UsageError as error:
            yield f"judged.toml: {error}"
            continue
        if (entry.file, mutant.change) in seen:
            yield f"judged.toml: {mutant.place}: judged twice"
        seen.add((entry.file, mutant.change))


def reasons(entries: list[Entry], root: Path) -> dict[tuple[str, str], str]:
    """Why a file may have a text, by the file and its changed text."""
    return {(entry.file, entry.changed(root)): entry.why for entry in entries}
