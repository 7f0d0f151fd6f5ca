# SPDX-License-Identifier: MIT
"""Find the commands for a shell and the programs in Python that documents show."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.errors import UsageError

_FENCE = "```"
_INDENT = "    "
_PROMPT = "$ "
# Typed in a guest, by the scene of the command that comes next.
_GUEST = "guest# "
_COMMENT = re.compile(r"\s+#\s.*$")
_BEGINS = ("make ", "./zvmlab ", "zvmlab ", "PYTHONPATH=", "ZVMLAB_")
_TRANSLATED = re.compile(r"\.[a-z]{2}(_[A-Z]{2})?\.md$")
_SECONDS = 30


@dataclass(frozen=True)
class Shown:
    """A piece of a page: where it begins, its *kind* ("sh", "python") and its text."""

    page: str
    line: int
    kind: str
    text: str

    @property
    def place(self) -> str:
        """Page and line, as compilers write it."""
        return f"{self.page}:{self.line}"

    @property
    def first(self) -> str:
        """Its first line without a comment, for one line of a report."""
        return _COMMENT.sub("", self.text.split("\n", 1)[0]).strip()


def pages(root: Path) -> list[str]:
    """The pages of the tree that are Markdown, by name; translations have the same commands."""
    found = [*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("driver/*.md")]
    names = (path.relative_to(root).as_posix() for path in found)
    return sorted(name for name in names if not _TRANSLATED.search(name))


def shown(root: Path, page: str) -> list[Shown]:
    """All commands and programs of a page, from its first line to its last."""
    text = (root / page).read_text(encoding="utf-8")
    found: list[Shown] = []
    for kind, line, lines in _blocks(page, text):
        if kind in ("sh", "indented"):
            found += [
                Shown(page, line + offset, "sh", command)
                for offset, command in _commands(f"{page}:{line}", lines)
                if kind == "sh" or command.startswith(_BEGINS)
            ]
        elif kind == "python":
            found.append(Shown(page, line, kind, "\n".join(lines) + "\n"))
        elif kind == "":
            found += [
                Shown(page, line + offset, "sh", said.removeprefix(_PROMPT))
                for offset, said in enumerate(lines)
                if said.startswith(_PROMPT)
            ]
    return found


def _blocks(page: str, text: str) -> Iterator[tuple[str, int, Sequence[str]]]:
    """Kind, number of the first line, and lines of each block."""
    kind: str | None = None
    begin, held = 0, list[str]()
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(_FENCE):
            if kind is not None and kind != "indented":
                yield kind, begin, held
                kind, held = None, []
                continue
            if kind == "indented":
                yield kind, begin, held
            kind, begin, held = line.removeprefix(_FENCE).strip(), number + 1, []
        elif kind is not None and kind != "indented":
            held.append(line)
        elif line.startswith(_INDENT) and line.strip():
            if kind is None:
                kind, begin, held = "indented", number, []
            held.append(line.removeprefix(_INDENT))
        elif kind == "indented":
            yield kind, begin, held
            kind, held = None, []
    if kind == "indented":
        yield kind, begin, held
    elif kind is not None:
        raise UsageError(f"{page}:{begin - 1}: the block that begins here has no end; add {_FENCE}")


def _commands(place: str, lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The commands of a block, each with its line's offset: a command ends where bash says so."""
    held: list[str] = []
    for offset, line in enumerate(lines):
        if not held and (not line.strip() or line.startswith(_GUEST)):
            continue
        held.append(line)
        text = "\n".join(held)
        if not line.endswith("\\") and _is_whole(text):
            yield offset - len(held) + 1, text
            held = []
    if held:
        raise UsageError(f"{place}: bash does not understand: {held[0].strip()}")


def _is_whole(text: str) -> bool:
    checked = subprocess.run(
        ["bash", "-n"], input=text, text=True, capture_output=True, check=False, timeout=_SECONDS
    )
    # A here-document without an end is a warning only.
    return checked.returncode == 0 and not checked.stderr
