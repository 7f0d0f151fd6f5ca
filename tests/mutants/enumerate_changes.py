# SPDX-License-Identifier: MIT
"""All changes of the sources in the table; those of changed lines; some chosen by chance."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import changes_c
import changes_python
from change import Change, Kind, Mutant
from table import Row, row_of
from zvmlab.base.errors import UsageError

_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")
_GIT_SECONDS = 60


def changes_of(file: str, text: str) -> list[Change]:
    """All changes of one file."""
    return changes_python.changes(text) if file.endswith(".py") else changes_c.changes(text)


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *arguments],
        capture_output=True,
        text=True,
        timeout=_GIT_SECONDS,
        check=False,
    )
    if done.returncode:
        raise UsageError(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout


def tracked(root: Path) -> list[str]:
    """Files of the tree: those that git knows, and new ones it does not ignore."""
    listed = _git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return sorted({name for name in listed.split("\0") if name and (root / name).is_file()})


def changed_lines(root: Path, base: str) -> dict[str, set[int]]:
    """Lines of each file that differ from where the branch left *base*."""
    common = _git(root, "merge-base", base, "HEAD").strip()
    lines: dict[str, set[int]] = {}
    file = ""
    for line in _git(root, "diff", "-U0", "--no-ext-diff", common).splitlines():
        if line.startswith("+++ "):
            file = line[4:].removeprefix("b/")
        match = _HUNK.match(line)
        if match:
            first, count = int(match[1]), int(match[2] or "1")
            lines.setdefault(file, set()).update(range(first, first + count))
    return lines


def all_mutants(root: Path, rows: list[Row], folders: Iterable[str]) -> dict[str, list[Mutant]]:
    """Every change that can be made, by the folder it counts for."""
    wanted = set(folders)
    known = {row.folder for row in rows}
    if not wanted <= known:
        unknown = ", ".join(sorted(wanted - known))
        raise UsageError(f"no folder is {unknown} (there are {', '.join(sorted(known))})")
    found: dict[str, list[Mutant]] = {}
    for file in tracked(root):
        row = row_of(rows, file)
        if row is None or (wanted and row.folder not in wanted):
            continue
        text = (root / file).read_text(encoding="utf-8")
        made = [Mutant(file, change, text) for change in changes_of(file, text)]
        found.setdefault(row.folder, []).extend(made)
    return found


def on_lines(mutants: dict[str, list[Mutant]], lines: dict[str, set[int]]) -> list[Mutant]:
    """Those that touch one of the lines."""
    return [
        mutant
        for group in mutants.values()
        for mutant in group
        if not lines.get(mutant.file, set()).isdisjoint(mutant.change.lines(mutant.text))
    ]


def in_chosen_order(mutants: list[Mutant], chance: random.Random) -> list[Mutant]:
    """The changes in an order in which every kind comes as often as any other, while it lasts:
    constants are many and would be most of what is chosen."""
    kinds: dict[Kind, list[Mutant]] = {kind: [] for kind in Kind}
    for mutant in mutants:
        kinds[mutant.change.kind].append(mutant)
    for group in kinds.values():
        chance.shuffle(group)
    chosen = []
    while any(kinds.values()):
        chosen.append(kinds[chance.choice([kind for kind in Kind if kinds[kind]])].pop())
    return chosen


def shares(sizes: dict[str, int], number: int) -> dict[str, int]:
    """How many of *number* each folder gives: half evenly, half by what it has."""
    total = sum(sizes.values())
    number = min(number, total)
    if not number:
        return {folder: 0 for folder in sizes}
    wanted = {
        folder: min(size, int(number / 2 / len(sizes) + number / 2 * size / total))
        for folder, size in sizes.items()
    }
    while sum(wanted.values()) < number:
        # The folder that is furthest below its size takes the next one.
        folder = max(sorted(sizes), key=lambda name: (sizes[name] - wanted[name]) / sizes[name])
        wanted[folder] += 1
    return wanted
