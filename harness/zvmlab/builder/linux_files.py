# SPDX-License-Identifier: MIT
"""Linux' sources that are there for z/VM, whose lines the coverage kernel counts.

    for file in linux_files():
        print(file.path, file.uses)

`guest/linux_files.toml` says what they are.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.base.tree import TREE
from zvmlab.builder.kernel import Kernel

LIST = TREE / "guest" / "linux_files.toml"
NOTES = ".gcno"
"""Suffix of the compiler's notes of a source, which say what it counts."""
COUNTS = ".gcda"
"""Suffix of the counts of a source."""
GCOV = "gcov"
"""Folder of a kernel's cache entry with the notes."""
BUILT_IN = "tree"
"""File in it that names the folders in which the sources were compiled, a line each."""
_TEXTS = frozenset({"path", "uses", "rows", "functions", "without", "missing"})
_NEEDED = ("path", "uses")


@dataclass(frozen=True)
class LinuxFile:
    """A source of Linux."""

    path: PurePosixPath
    uses: str
    """What of CP, in words."""
    rows: str = ""
    """Letters of the groups of requirements that are about it."""
    functions: str = ""
    """Regular expression: only these functions count; "" for all."""
    without: str = ""
    """Regular expression: these do not; "" for none."""
    missing: str = ""
    """Why lines do not run."""

    def counts(self, function: str) -> bool:
        """Does this function of the file count?"""
        if self.without and re.search(self.without, function):
            return False
        return re.search(self.functions, function) is not None


def linux_files(path: Path = LIST) -> list[LinuxFile]:
    """The list in a file; UsageError if it is none."""
    try:
        with path.open("rb") as file:
            tables = tomllib.load(file)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path} is not TOML: {error}") from None
    found = tables.pop("file", None)
    if tables or not isinstance(found, list) or not found:
        raise UsageError(f"{path} has to be a list of tables [[file]]")
    files = [_file(path, number, table) for number, table in enumerate(found, 1)]
    doubles = {str(file.path) for file in files if [f.path for f in files].count(file.path) > 1}
    for name in sorted(doubles):
        raise UsageError(f"{path} names {name} twice")
    return files


def _file(path: Path, number: int, table: Any) -> LinuxFile:
    where = f"{path}: file {number}"
    if not isinstance(table, dict):
        raise UsageError(f"{where} is no table")
    for key, value in table.items():
        if key not in _TEXTS:
            raise UsageError(f"{where} has a field {key!r}, which no file has")
        if not isinstance(value, str):
            raise UsageError(f"{where}: {key} has to be a text")
    for key in _NEEDED:
        if key not in table:
            raise UsageError(f"{where} needs a field {key}")
    source = PurePosixPath(table["path"])
    if source.suffix != ".c" or source.is_absolute() or ".." in source.parts:
        raise UsageError(f"{where}: {source} is no C source in Linux' tree")
    for key in ("functions", "without"):
        try:
            re.compile(table.get(key, ""))
        except re.error as error:
            raise UsageError(f"{where}: {key} is no regular expression: {error}") from None
    texts = {key: value for key, value in table.items() if key != "path"}
    return LinuxFile(path=source, **texts)


def counting(sources: Iterable[PurePosixPath]) -> list[str]:
    """Settings of make with which the kernel's build counts these sources, by their names."""
    return [f"GCOV_PROFILE_{path.stem}.o=y" for path in sources]


def keep_notes(
    sources: Iterable[PurePosixPath], tree: Path, built: Sequence[Path], gcov: Path
) -> list[PurePosixPath]:
    """Keep in *gcov* sources of a tree with the compiler's notes, and where they were *built*.

    The first of the folders has the notes; objects may have come from the others.
    Return: the sources of which there are no notes, because they were not compiled.
    """
    left = []
    gcov.mkdir()
    for path in sources:
        notes, kept = built[0] / path.with_suffix(NOTES), gcov / path.with_suffix(NOTES)
        if notes.is_file():
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(notes, kept)
            shutil.copyfile(tree / path, gcov / path)
        else:
            left.append(path)
    (gcov / BUILT_IN).write_text("".join(f"{folder}\n" for folder in built), encoding="utf-8")
    return left


def gcov_folder(kernel: Kernel) -> Path | None:
    """The folder with a kernel's notes; None for kernels that count no lines."""
    folder = kernel.image.parent.parent / GCOV
    return folder if (folder / BUILT_IN).is_file() else None
