# SPDX-License-Identifier: MIT
"""Functions of a C source in the kernel's style: which one a line is in."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(r"([A-Za-z_]\w*)\s*\(")
_HEAD_LINES = 12


@dataclass(frozen=True)
class Function:
    """A function, from its head to its closing brace."""

    name: str
    first: int
    last: int


def functions_of(text: str) -> list[Function]:
    """The functions that a source defines: their braces are alone at the beginning of a line."""
    lines = text.split("\n")
    found: list[Function] = []
    begun: tuple[str, int] | None = None
    for at, line in enumerate(lines):
        if begun is None and line.startswith("{"):
            begun = _head(lines, at)
        elif begun is not None and line.startswith("}"):
            found.append(Function(begun[0], begun[1], at + 1))
            begun = None
    return found


def _head(lines: list[str], brace: int) -> tuple[str, int] | None:
    """The function's name and its first line, from the lines before its brace."""
    first = brace
    for at in range(brace - 1, max(-1, brace - _HEAD_LINES), -1):
        line = lines[at]
        if not line.strip() or line.rstrip().endswith((";", "}", "*/")) or line.startswith("#"):
            break
        first = at
    name = _NAME.search(" ".join(lines[first:brace]))
    return None if name is None else (name[1], first + 1)


def at_line(functions: list[Function], line: int) -> Function | None:
    """The function that has the line."""
    return next((one for one in functions if one.first <= line <= one.last), None)
