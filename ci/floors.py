# SPDX-License-Identifier: MIT
"""Floors within a folder of C: who uses whose symbols, against ``ci/layers.toml``.

``floors.py [--circles] OBJECTS [FOLDER]`` reads the object files below OBJECTS (``make objects`` puts
them into build/plain) and the sources below FOLDER (default: this clone).  It prints a line for each
symbol and each header of a part that a lower part, or one on the same floor, uses, and one for each
circle: a set of files that use each other's symbols, unless the table gives a reason for it.  With
``--circles`` it prints instead all circles, also those with a reason.
Exit code: 0 if there is nothing to say, 1 for findings, 2 if the table itself is wrong.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from layers import TABLE, Folders, WrongTable, c_uses

from zvmlab.base.errors import ZvmlabError

_DEFINED = frozenset("TDBRVWC")
_SECONDS = 60

Symbols = Mapping[str, Mapping[str, frozenset[str]]]
"""For each file the files that it uses, and the symbols that it uses of them."""


@dataclass(frozen=True)
class Floors:
    """The parts of one folder, each with the number of its floor."""

    folder: str
    number: Mapping[str, int]

    @classmethod
    def of(cls, folder: str, floors: Sequence[Sequence[str]]) -> Floors:
        """Raises WrongTable for a part that is named twice."""
        number: dict[str, int] = {}
        for floor, parts in enumerate(floors):
            for part in parts:
                if part in number:
                    raise WrongTable(f'{TABLE}: [floors] "{folder}" names {part} twice')
                number[part] = floor
        return cls(folder, number)

    def part(self, file: str) -> str:
        """The part of a source: its folder, or at the top what its name begins with."""
        inner = Path(file).relative_to(self.folder)
        if len(inner.parts) > 1:
            return inner.parts[0]
        words = inner.stem.split("_")
        names = ["_".join(words[:count]) for count in range(len(words), 0, -1)]
        return next((name for name in names if name in self.number), inner.stem)

    def check(self, files: Sequence[str]) -> None:
        """Raises WrongTable unless each part has a floor, and each name a source."""
        there = {self.part(file): file for file in files}
        for part in sorted(there.keys() - self.number.keys()):
            raise WrongTable(
                f'{TABLE}: [floors] "{self.folder}" has no floor for {part} ({there[part]})'
            )
        for part in sorted(self.number.keys() - there.keys()):
            raise WrongTable(f'{TABLE}: [floors] "{self.folder}" names {part}, which has no source')

    def allows(self, file: str, used: str) -> bool:
        """May a file use that other one?"""
        mine, other = self.part(file), self.part(used)
        return mine == other or self.number[other] < self.number[mine]


def _names(objects: Path, file: str) -> tuple[set[str], set[str]]:
    """The symbols that an object defines for others, and those that it takes from others."""
    path = objects / Path(file).with_suffix(".o")
    argv = ["nm", "-P", "-g", str(path)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode:
        raise WrongTable(f"{path} cannot be read; run 'make objects': {done.stderr.strip()}")
    rows = [line.split() for line in done.stdout.splitlines()]
    own = {row[0] for row in rows if row[1] in _DEFINED}
    return own, {row[0] for row in rows if row[1] == "U"}


def symbols(found: Mapping[str, tuple[set[str], set[str]]]) -> Symbols:
    """List users of symbols; of two definitions, that of another folder counts less."""
    owners: dict[str, list[str]] = {}
    for file, (own, _) in found.items():
        for name in own:
            owners.setdefault(name, []).append(file)
    uses: dict[str, dict[str, frozenset[str]]] = {}
    for file, (_, taken) in found.items():
        mine = uses.setdefault(file, {})
        for name in taken & owners.keys():
            owner = _nearest(file, owners[name])
            mine[owner] = mine.get(owner, frozenset()) | {name}
    return uses


def _twice(folders: Folders, found: Mapping[str, tuple[set[str], set[str]]]) -> Iterator[str]:
    """A sentence for each symbol of which a linker would take the one or the other definition."""

    def below(name: str) -> set[str]:
        used = folders.modules[name].uses
        return set(used).union(*(below(part) for part in used))

    owners: dict[tuple[str, str], str] = {}
    for name, module in folders.modules.items():
        owners |= {(name, s): f for f in module.sources for s in found.get(f, (set(), set()))[0]}
    for (name, symbol), file in sorted(owners.items()):
        for used in sorted(below(name)):
            if (used, symbol) in owners:
                yield (
                    f"{file}:1: {symbol} is defined in {owners[used, symbol]} as well, which {name}"
                    " is linked with; rename one of the two"
                )


def _nearest(file: str, owners: Sequence[str]) -> str:
    """Programs have symbols of the same name, such as main's helpers; each uses its own."""
    folder = str(Path(file).parent)
    return next((owner for owner in owners if str(Path(owner).parent) == folder), owners[0])


def knots(uses: Mapping[str, Mapping[str, object]]) -> list[list[str]]:
    """Sets of files each of which uses each other one, however far around (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(file: str) -> None:
        index[file] = low[file] = len(index)
        stack.append(file)
        for used in sorted(uses.get(file, {})):
            if used not in index:
                visit(used)
                low[file] = min(low[file], low[used])
            elif used in stack:
                low[file] = min(low[file], index[used])
        if low[file] == index[file]:
            knot = stack[stack.index(file) :]
            del stack[stack.index(file) :]
            if len(knot) > 1:
                found.append(sorted(knot))

    sys.setrecursionlimit(10_000)
    for file in sorted(uses):
        if file not in index:
            visit(file)
    return sorted(found)


def _circles(table: Mapping[str, object], found: Sequence[Sequence[str]]) -> Iterator[str]:
    """A sentence for each circle without a reason, and for each reason without a circle."""
    reasons = table.get("circles", [])
    if not isinstance(reasons, list):
        raise WrongTable(f"{TABLE}: [[circles]] is not a list")
    excused: list[list[str]] = []
    for reason in reasons:
        if not isinstance(reason, dict) or not reason.get("why") or not reason.get("files"):
            raise WrongTable(f"{TABLE}: a row of [[circles]] needs files and why")
        excused.append(sorted(reason["files"]))
    for circle in found:
        if list(circle) not in excused:
            yield (
                f"{circle[0]}:1: {len(circle)} files use each other: {' '.join(circle)};"
                f" separate what they share, or give a reason in [[circles]] of {TABLE}"
            )
    for files in excused:
        if files not in [list(circle) for circle in found]:
            yield f"{TABLE}: [[circles]] has a reason for no circle: {' '.join(files)}"


def _line(root: Path, file: str, name: str) -> int:
    """The line where the file first names a symbol."""
    text = (root / file).read_text(encoding="utf-8")
    match = re.search(rf"\b{re.escape(name)}\b", text)
    return 1 if match is None else text.count("\n", 0, match.start()) + 1


def _against(floors: Floors, root: Path, uses: Symbols, folders: Folders) -> Iterator[str]:
    """A sentence for each symbol and each header that is used against the floors."""
    ours = f"{floors.folder}/"
    for file, used in uses.items():
        for other, names in used.items():
            if file.startswith(ours) and other.startswith(ours) and not floors.allows(file, other):
                for name in sorted(names):
                    yield (
                        f"{file}:{_line(root, file, name)}: {floors.part(file)} may not use {name}"
                        f" of {floors.part(other)} ({other}), which is not below it; {TABLE} has"
                        " the floors"
                    )
    for use in c_uses(folders):
        if not (use.file.startswith(ours) and use.used_file.startswith(ours)):
            continue
        inner = Path(use.used_file).relative_to(floors.folder).parts
        # Headers at the top, and the public ones, are everybody's.
        if len(inner) == 1 or inner[0] not in floors.number:
            continue
        if Path(use.file).suffix == ".c" and not floors.allows(use.file, use.used_file):
            yield (
                f"{use.file}:{use.line}: {floors.part(use.file)} may not include {use.used_file}"
                f" of {inner[0]}, which is not below it; {TABLE} has the floors"
            )


def check(root: Path, objects: Path, circles: bool) -> list[str]:
    """All findings of a tree, or its circles of files.  Raises WrongTable."""
    with open(root / TABLE, "rb") as file:
        table = tomllib.load(file)
    folders = Folders.of(root)
    skipped = table.get("without_objects", {})
    files = [
        source
        for name, module in sorted(folders.modules.items())
        if name not in skipped
        for source in (*module.sources, *module.main)
    ]
    names = {file: _names(objects, file) for file in files}
    uses = symbols(names)
    found = knots(uses)
    if circles:
        return [f"{len(knot)} files use each other: {' '.join(knot)}" for knot in found]
    said = list(_twice(folders, names))
    for folder, levels in table.get("floors", {}).items():
        floors = Floors.of(folder, levels)
        floors.check([name for name in files if name.startswith(f"{folder}/")])
        said += _against(floors, root, uses, folders)
    return said + list(_circles(table, found))


def main(arguments: Sequence[str]) -> int:
    """Return: exit code."""
    words = [word for word in arguments if word != "--circles"]
    if len(words) not in (1, 2):
        print("usage: floors.py [--circles] OBJECTS [FOLDER]", file=sys.stderr)
        return 2
    root = Path(words[1]) if len(words) > 1 else Path(__file__).resolve().parent.parent
    try:
        said = check(root, Path(words[0]), "--circles" in arguments)
    except (WrongTable, ZvmlabError, tomllib.TOMLDecodeError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    for line in said:
        print(line)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
