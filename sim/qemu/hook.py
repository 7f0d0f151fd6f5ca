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


def _write(file: Path, text: str) -> None:
    """Write, but leave an equal file's time stamp alone: ninja goes by it."""
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_name(f"{file.name}.new")
        new.write_text(text, encoding="utf-8")
        new.replace(file)


def _kept(folder: Path | None) -> dict[str, str]:
    """The files of *folder* that were kept, by their names in the tree."""
    files = folder.rglob("*") if folder else ()
    return {
        str(file.relative_to(folder)): file.read_text(encoding="utf-8")
        for file in files
        if folder and file.is_file() and file.suffix != ".new"
    }


def apply(tree: Path, all_hooks: list[Hook], pristine: Path | None = None) -> None:
    """Insert all, or change nothing if one of them does not fit.

    *pristine*: a folder that keeps each file as it was before it had hooks.  With it, all hooks
    that the tree has are replaced by these, and a file that stays the same is not written.
    """
    kept = _kept(pristine)
    texts: dict[str, str] = {}
    for hook in all_hooks:
        if hook.file not in texts:
            texts[hook.file] = kept.get(hook.file) or _without_hooks(tree, hook.file)
            kept.setdefault(hook.file, texts[hook.file])
        texts[hook.file] = insert(texts[hook.file], hook)
    if pristine:
        for file, text in kept.items():
            _write(pristine / file, text)
        texts = {**kept, **texts}
    for file, text in texts.items():
        _write(tree / file, text)


def _without_hooks(tree: Path, file: str) -> str:
    try:
        text = (tree / file).read_text(encoding="utf-8")
    except OSError as error:
        raise HookError(f"{tree / file} cannot be read: {error.strerror}") from error
    if "zvmlab" in text:
        raise HookError(f"{tree / file} has the hooks already")
    return text
