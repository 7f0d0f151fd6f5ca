# SPDX-License-Identifier: MIT
"""One small change of a source file, and what kinds of them there are."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

_SHORT = 100


class Kind(StrEnum):
    """Kinds of changes, by the names that reports use."""

    COMPARISON = "comparison"
    AND_OR = "and/or"
    ARITHMETIC = "arithmetic"
    CONSTANT = "constant"
    SWAPPED = "constant swapped"
    FALSE = "condition false"
    TRUE = "condition true"
    RETURN = "return removed"
    STATEMENT = "statement removed"
    JUMP = "jump removed"


@dataclass(frozen=True)
class Change:
    """Where *was* stands in a text, *became* takes its place."""

    kind: Kind
    start: int
    was: str
    became: str

    def applied(self, text: str) -> str:
        """The text with the change made."""
        end = self.start + len(self.was)
        assert text[self.start : end] == self.was
        return text[: self.start] + self.became + text[end:]

    def line(self, text: str) -> int:
        """Number of the line it begins in."""
        return text.count("\n", 0, self.start) + 1

    def lines(self, text: str) -> range:
        """Numbers of all lines it touches."""
        first = self.line(text)
        return range(first, first + self.was.count("\n") + 1)


@dataclass(frozen=True)
class Mutant:
    """A change of a file, *file* as seen from the tree's root."""

    file: str
    change: Change
    text: str

    @property
    def changed(self) -> str:
        """The file's text with the change made."""
        return self.change.applied(self.text)

    @property
    def place(self) -> str:
        """FILE:LINE"""
        return f"{self.file}:{self.change.line(self.text)}"


def short(text: str) -> str:
    """Text on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _SHORT else line[: _SHORT - 1] + "…"


def successor(literal: str) -> str | None:
    """An integer's literal plus one, in its base and with its suffix; None if it is none."""
    digits = literal.rstrip("uUlL")
    try:
        if digits[:2] in ("0x", "0X"):
            value = f"0x{int(digits, 16) + 1:x}"
        elif len(digits) > 1 and digits[0] == "0" and digits.isdigit():
            value = f"0{int(digits, 8) + 1:o}"
        else:
            value = str(int(digits, 10) + 1)
    except ValueError:
        return None
    return value + literal[len(digits) :]


def partners(names: list[str]) -> dict[str, str]:
    """For each name of a constant the next one of the same family: what is before the first _.

    Only what begins alike is swapped: a page's size for a path's flag is noticed by anyone.
    """
    families: dict[str, list[str]] = {}
    for name in sorted(set(names)):
        families.setdefault(name.partition("_")[0], []).append(name)
    return {
        name: family[(index + 1) % len(family)]
        for family in families.values()
        if len(family) > 1
        for index, name in enumerate(family)
    }
