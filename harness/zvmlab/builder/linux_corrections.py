# SPDX-License-Identifier: GPL-2.0-or-later
"""Our corrections of Linux, which are in corrections/linux: what they are for, and trees with them.

    found = corrections()                       # in the order in which they are made
    found[0].defects                            # ("af_iucv-1",), as docs/defects.md counts them
    corrected_tree(tree, Path("build/copy"))    # a copy made of links; the tree stays as it is

A file is corrections/linux/PART/NUMBER-SUBJECT.c, or NUMBER+NUMBER-SUBJECT.c if one change corrects
two defects.  zvmlab.base.source_change has the language.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.source_change import Change, ChangeError, Project, changed, read_changes
from zvmlab.base.tree import TREE
from zvmlab.builder.tree_name import series_of

FOLDER = TREE / "corrections" / "linux"
LINUX = Project("Linux", ("6.1", "6.12", "7.2"), "harness/zvmlab/base/source_change.py")
OWN_PAGE = ("dcssblk", "monreader", "monwriter", "vmlogrdr")
"""Parts that count their defects on their own; the others count together."""
KERNEL = "kernel"
_NAME = re.compile(r"(\d+(?:\+\d+)*)-[a-z0-9-]+")


@dataclass(frozen=True)
class Correction:
    """A change, and what it corrects."""

    change: Change
    file: Path
    numbers: tuple[int, ...]

    @property
    def part(self) -> str:
        """The driver, as docs/defects.md calls it."""
        return self.file.parent.name

    @property
    def defects(self) -> tuple[str, ...]:
        """Such as "af_iucv-1"."""
        return tuple(f"{self.part}-{number}" for number in self.numbers)

    @property
    def files(self) -> frozenset[str]:
        """Those that it changes, in any series."""
        return frozenset(place.file for place in self.change.places)


def corrections(folder: Path = FOLDER, project: Project = LINUX) -> list[Correction]:
    """All of them; ChangeError if one is not written as it should be."""
    try:
        files = [
            file
            for part in sorted(folder.iterdir())
            if part.is_dir()
            for file in sorted(part.iterdir())
            if not file.name.startswith(".")
        ]
    except OSError as error:
        raise ChangeError(f"{error.filename} cannot be read: {error.strerror}") from error
    return [
        Correction(change, file, _numbers(file))
        for change, file in zip(read_changes(files, project), files)
    ]


def _numbers(file: Path) -> tuple[int, ...]:
    match = _NAME.fullmatch(file.stem)
    if match is None:
        raise ChangeError(
            f"{file}: a correction's file is called NUMBER-SUBJECT.c, with the number of the defect"
            " in docs/defects.md"
        )
    return tuple(int(number) for number in match[1].split("+"))


def supported(tree: Path) -> str:
    """The series of a tree; ChangeError if there are no corrections for it."""
    series = series_of(tree)
    if series not in LINUX.series:
        known = ", ".join(LINUX.series)
        raise ChangeError(f"{tree} is Linux {series}; there are corrections for {known}")
    return series


def corrected_texts(tree: Path, series: str, found: Iterable[Correction]) -> dict[str, str]:
    """The files that the corrections change, as they are then; ChangeError if one does not fit."""
    texts: dict[str, str] = {}
    for correction in found:
        texts = changed(tree, correction.change.within(series), texts)
    return texts


def corrected_tree(tree: Path, copy: Path, found: Iterable[Correction]) -> None:
    """Make *copy* the tree with the corrections: links to its files, but for the corrected ones.

    A copy that is there becomes that, and what is right already keeps its times.
    """
    texts = corrected_texts(tree, supported(tree), found)
    tree = tree.resolve()
    for place, folders, files in os.walk(tree):
        folders[:] = [name for name in folders if name != ".git"]
        inside = Path(place).relative_to(tree)
        if (copy / inside).is_symlink():
            _remove(copy / inside)
        (copy / inside).mkdir(parents=True, exist_ok=True)
        there = {entry.name for entry in os.scandir(copy / inside)}
        for name in there - {*folders, *files}:
            _remove(copy / inside / name)
        for name in [*files, *(name for name in folders if Path(place, name).is_symlink())]:
            link, text = copy / inside / name, texts.get(str(inside / name))
            if text is not None:
                _write(link, text)
            else:
                _link(link, _target(Path(place, name)))


def _target(path: Path) -> str:
    """A link of the tree's own stays what it is: builds of tree and copy differ in nothing else."""
    return os.readlink(path) if path.is_symlink() else str(path)


def _link(link: Path, target: str) -> None:
    if link.is_symlink() and os.readlink(link) == target:
        return
    if os.path.lexists(link):
        _remove(link)
    link.symlink_to(target)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _write(file: Path, text: str) -> None:
    if file.is_symlink() or not file.exists() or file.read_text(encoding="utf-8") != text:
        file.unlink(missing_ok=True)
        file.write_text(text, encoding="utf-8")


def defect_of(mark: str, number: int, reason: str) -> str:
    """Which defect a mark is about: "monreader-5", "dcssblk-2", or "kernel-9".

    A reason that begins with "dcssblk: " is about the defect of that number on that driver's page.
    """
    if mark == "upstream_defect":
        return f"monreader-{number}"
    part = reason.partition(": ")[0]
    return f"{part}-{number}" if part in OWN_PAGE else f"{KERNEL}-{number}"


def named(defects: Iterable[str]) -> frozenset[str]:
    """The same names as *defect_of* gives them."""
    names = set()
    for defect in defects:
        part, _, number = defect.rpartition("-")
        names.add(defect if part in OWN_PAGE else f"{KERNEL}-{number}")
    return frozenset(names)
