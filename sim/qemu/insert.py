#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Make our changes in QEMU's source: insert.py [--without NAME] [--pristine FOLDER] TREE

qemu_change.py says what a change is.  All are made, or none if one does not fit.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from qemu_change import ChangeError, changed, load, version_of


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


def _arguments(argv: list[str], names: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Make our changes in QEMU's source.")
    parser.add_argument("--without", action="append", default=[], choices=names, metavar="NAME",
                        help=f"leave out this change: {', '.join(names)}")  # fmt: skip
    parser.add_argument("--pristine", type=Path, metavar="FOLDER",
                        help="keep each file there as it was, and undo what was changed in TREE"
                        " before")  # fmt: skip
    parser.add_argument("tree", type=Path)
    return parser.parse_args(argv)


def _insert(argv: list[str]) -> None:
    changes = load()
    arguments = _arguments(argv, [change.name for change in changes if change.kind == "speed"])
    tree, pristine = arguments.tree, arguments.pristine
    series = version_of(tree)
    kept = _kept(pristine)
    places = [
        place
        for change in changes
        if change.name not in arguments.without
        for place in change.within(series)
    ]
    texts = changed(tree, places, kept)
    if pristine:
        for file in texts.keys() - kept.keys():
            _write(pristine / file, (tree / file).read_text(encoding="utf-8"))
    for file, text in texts.items():
        _write(tree / file, text)


def main(argv: list[str]) -> int:
    """Return: exit code."""
    try:
        _insert(argv[1:])
    except ChangeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
