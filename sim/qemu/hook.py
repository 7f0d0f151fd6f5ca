# SPDX-License-Identifier: GPL-2.0-or-later
"""Inserting lines into QEMU's source, each next to one line that is found by a piece of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

TCG = "target/s390x/tcg"
INCLUDE = '#include "hw/s390x/zvmlab.h"\n'


class HookError(Exception):
    """The tree is not the QEMU that the hooks are made for."""


@dataclass(frozen=True)
class Hook:
    """Insert *text* before or after the one line of *file* that contains *anchor*.

    *instead*: put it in the place of so many lines, of which this is the first.  *inside*:
    look for the line only in what begins with the one line that contains this, and ends
    with the next "}" on its own.
    """

    file: str
    anchor: str
    text: str
    after: bool = False
    instead: int = 0
    inside: str = ""


@dataclass(frozen=True)
class Change:
    """Hooks that belong together, and the word by which a build or a patch names them."""

    name: str
    hooks: list[Hook]


def _only(file: str, lines: list[str], piece: str, span: range) -> int:
    """The one line of *span* that contains *piece*."""
    places = [i for i in span if piece in lines[i]]
    if len(places) != 1:
        raise HookError(
            f"{file}: the line with '{piece}' occurs {len(places)} times instead of"
            " once; this is not the QEMU that the hooks are made for"
        )
    return places[0]


def insert(text: str, hook: Hook) -> str:
    """The text of a file with the hook's lines in it."""
    lines = text.splitlines(keepends=True)
    span = range(len(lines))
    if hook.inside:
        first = _only(hook.file, lines, hook.inside, span)
        ends = (i for i in span[first:] if lines[i].rstrip() == "}")
        span = range(first, next(ends, len(lines)))
    at = _only(hook.file, lines, hook.anchor, span) + hook.after
    return "".join([*lines[:at], hook.text, *lines[at + hook.instead :]])


def apply(tree: Path, all_hooks: list[Hook]) -> None:
    """Insert all, or change nothing if one of them does not fit."""
    texts: dict[str, str] = {}
    for hook in all_hooks:
        try:
            text = texts.get(hook.file) or (tree / hook.file).read_text(encoding="utf-8")
        except OSError as error:
            raise HookError(f"{tree / hook.file} cannot be read: {error.strerror}") from error
        if hook.file not in texts and "zvmlab" in text:
            raise HookError(f"{tree / hook.file} has the hooks already")
        texts[hook.file] = insert(text, hook)
    for file, text in texts.items():
        (tree / file).write_text(text, encoding="utf-8")
