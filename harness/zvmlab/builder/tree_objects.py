# SPDX-License-Identifier: MIT
"""Objects in a tree that make would not build again, although it should.

make compiles what has a later time than its object.  A file that gets an older time back, as from
``cp -p``, goes unnoticed, and so does one that is no longer there: kbuild lets its object stay.  Such
objects are removed here, so that make has to compile them.

For each file that kbuild makes, as ``x.o``, it leaves ``.x.o.cmd`` beside it, with the command and with the
sources and headers that the compiler has read.  Some rules leave none.  Their makefiles name
what they use, or a suffix of it; then nobody can tell what has to go.

A make that is killed leaves objects half written, which the next one would take for finished.  The note
tells: kbuild writes it when the object is complete, and then removes the compiler's list of headers,
``.x.o.d``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Set
from pathlib import Path

from zvmlab.builder.tree_state import Changes

_COMPILED = (".c", ".h", ".S")
_NOTE, _HEADERS = ".cmd", ".d"
# kbuild reads them in each build, whatever their times are.
_READ_ALWAYS = re.compile(r"(?:Makefile|Kbuild|Kconfig)(?:[.\-_].*)?|.*\.mk")
# Nothing is built from them.
_TEXTS = re.compile(r"\..*|.*\.(?:rst|md)|README.*|MAINTAINERS|COPYING|CREDITS|TODO")
_WORD = re.compile(r"[\w.+-]+")


def older(tree: Path, names: Iterable[str], ended_ns: int) -> frozenset[str]:
    """The files of the tree that are no newer than the end of a build."""
    found = set()
    for name in names:
        try:
            if os.stat(tree / name).st_mtime_ns <= ended_ns:
                found.add(name)
        except OSError:
            continue  # It has just gone; make will say what that means.
    return frozenset(found)


def remove_outdated(
    tree: Path, out: Path, changes: Changes, older_ones: Set[str], makefiles: Iterable[str]
) -> str | None:
    """Remove from *out* what was made of changed files, as far as make would not make it again.

    *older_ones*: the changed files that it would not notice; *makefiles*: all that the tree has.
    Return: a file of which nobody can tell what was made of it, or None.
    """
    lost = older_ones | changes.gone
    # It may be found now in the place of one of the same name elsewhere.
    headers = {os.path.basename(name) for name in changes.new if name.endswith(".h")}
    if not lost and not headers:
        return None
    wanted = {str(tree / name): name for name in lost}
    known: set[str] = set()
    for note, made in _notes(out):
        words = set(_words(note.read_text(encoding="utf-8", errors="replace")))
        hit = words & wanted.keys()
        known.update(wanted[word] for word in hit)
        if hit or (headers and any(os.path.basename(word) in headers for word in words)):
            made.unlink(missing_ok=True)
            note.unlink()
    return _not_told(tree, older_ones, known, makefiles)


def remove_unfinished(out: Path) -> None:
    """Remove from *out* what a make that was killed had begun to write."""
    unfinished = {made for note, made in _notes(out) if _time(made) > _time(note)}
    unfinished |= {made for _, made in _notes(out, _HEADERS)}
    for made in unfinished:
        for suffix in (_NOTE, _HEADERS):
            made.with_name(f".{made.name}{suffix}").unlink(missing_ok=True)
        made.unlink(missing_ok=True)


def all_files(out: Path) -> Iterator[Path]:
    """Every file in *out*; links are left out."""
    for top, _, names in os.walk(out):
        yield from (file for name in names if not (file := Path(top, name)).is_symlink())


def _time(file: Path) -> int:
    """When it was written; 0 if it is not there."""
    try:
        return file.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _words(text: str) -> Iterator[str]:
    """The words of a .cmd file; a header's name shows how it was included, as in "a/../b.h"."""
    return (os.path.normpath(word) if "/../" in word else word for word in text.split())


def _notes(out: Path, suffix: str = _NOTE) -> Iterator[tuple[Path, Path]]:
    """Each .cmd file, or other note, and the file that it is about."""
    for top, _, names in os.walk(out):
        for name in names:
            if name.startswith(".") and name.endswith(suffix):
                yield Path(top, name), Path(top, name[1 : -len(suffix)])


def _not_told(
    tree: Path, older_ones: Set[str], known: Set[str], makefiles: Iterable[str]
) -> str | None:
    """The first file that a rule may use which leaves no .cmd file."""
    asked = [
        name
        for name in sorted(older_ones)
        if not _READ_ALWAYS.fullmatch(os.path.basename(name))
        and not _TEXTS.fullmatch(os.path.basename(name))
    ]
    for name in asked:
        if name not in known and not name.endswith(_COMPILED):
            return name
    if asked:
        named = _named(tree, makefiles)
        return next((name for name in asked if os.path.basename(name) in named), None)
    return None


def _named(tree: Path, makefiles: Iterable[str]) -> set[str]:
    """All words of the makefiles."""
    found: set[str] = set()
    for name in makefiles:
        try:
            text = (tree / name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # As above.
        found.update(_WORD.findall(text))
    return found


def is_makefile(name: str) -> bool:
    """Is it one of those that say how the tree is built?"""
    return bool(_READ_ALWAYS.fullmatch(os.path.basename(name))) and "Kconfig" not in name
