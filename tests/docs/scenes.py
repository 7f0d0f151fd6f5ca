# SPDX-License-Identifier: MIT
"""scenes.toml: what the commands of a page need beside them, and which are not run, with the reason."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from shown import Shown

from zvmlab.base.errors import UsageError

Table = TypeVar("Table", "Page", "Command")


@dataclass(frozen=True)
class Page:
    """The folder of a page's commands, and its contents before the first one."""

    folder: str = ""
    """An empty folder of this name, whose user has the clone in his home; "" is the clone itself."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Files and folders of the tree that are put there: the new name, and the one in the tree."""
    programs: Mapping[str, str] = field(default_factory=dict)
    """The page's Python: a word that only one of its blocks has, and the file this becomes."""
    before: Mapping[str, str] = field(default_factory=dict)
    """Lines that such a file begins with, which the page has elsewhere or leaves out."""


@dataclass(frozen=True)
class Command:
    """How one command is run that needs more than itself."""

    page: str
    shown: str
    """How the command begins."""
    instead: Sequence[Sequence[str]] = ()
    """Words that stand for something, or for a longer time, and what is run in their place."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that make less of it, or name something."""
    input: str = ""
    """What is typed."""
    beside: str = ""
    """A command that runs meanwhile, until it says *ready*; it gets the end of its input afterwards."""
    ready: str = ""
    typed: str = ""
    """What is typed into it before that."""
    before: str = ""
    """A command that makes what this one needs."""
    exit: int = 0
    says: Sequence[str] = ()
    """What its output has, each of them."""
    seconds: int = 900
    not_run: str = ""
    """The reason, if it is not run."""

    @property
    def shortened(self) -> bool:
        """Something else is run than what the page shows."""
        return bool(self.instead or self.environment)


@dataclass
class Scenes:
    """The contents of the file."""

    pages: dict[str, Page]
    commands: list[Command]

    def command(self, shown: Shown) -> Command:
        """How to run this one; as it is, if nothing is said of it."""
        found = [
            command
            for command in self.commands
            if command.page == shown.page and shown.text.startswith(command.shown)
        ]
        if not found:
            return Command(shown.page, shown.text)
        return max(found, key=lambda command: len(command.shown))

    def unused(self, shown: Sequence[Shown]) -> list[str]:
        """Entries that no page has anything for, in words."""
        used = {id(self.command(scene)) for scene in shown if scene.kind == "sh"}
        there = {scene.page for scene in shown}
        return [
            f"{command.page} does not show a command that begins with: {command.shown}"
            for command in self.commands
            if id(command) not in used
        ] + [f"{page} shows nothing to run" for page in self.pages if page not in there]


def read(path: Path) -> Scenes:
    """UsageError with file and entry, if it is not as it should be."""
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}") from None
    pages = {
        name: _table(f"{path}: page {name}", Page, table)
        for name, table in said.pop("page", {}).items()
    }
    commands = [
        _table(f"{path}: command {number}", Command, table)
        for number, table in enumerate(said.pop("command", []), 1)
    ]
    if said:
        raise UsageError(f"{path}: {next(iter(said))} is not known; there are page and command")
    return Scenes(pages, commands)


def _table(place: str, kind: type[Table], table: Mapping[str, Any]) -> Table:
    known = {one.name for one in fields(kind)}
    for key in table:
        if key not in known:
            raise UsageError(f"{place}: {key} is not known; there are {', '.join(sorted(known))}")
    try:
        return kind(**table)
    except TypeError as error:
        raise UsageError(f"{place}: {error}") from None
