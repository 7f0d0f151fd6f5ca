# SPDX-License-Identifier: MIT
"""Which unit test programs come past a line: measured by running each with gcov once."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from table import Row, asked, programs
from tree import Tree
from zvmlab.base.errors import ZvmlabError

COVERAGE = "build/coverage"
# Without sanitizers and not optimised: quick to build, and every line is where it was written.
_FLAGS = ("CI=", "SANITIZE=", "G=1", "D=1", f"BUILD={COVERAGE}")
_SECONDS = 300


@dataclass
class Functions:
    """What a program does of a file: first and last line of the functions that it enters, and the
    lines it comes past in them."""

    entered: list[tuple[int, int]] = field(default_factory=list)
    lines: set[int] = field(default_factory=set)


@dataclass
class Reached:
    """Of every program: how long it takes, and what it does of each file."""

    seconds: dict[str, float] = field(default_factory=dict)
    files: dict[str, dict[str, Functions]] = field(default_factory=dict)

    functions: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """All functions of each file, entered or not."""
    code: dict[str, set[int]] = field(default_factory=dict)
    """Lines of each file that the compiler counts by themselves."""

    def order(self, names: Iterable[str], file: str, lines: range) -> list[str]:
        """Those of the programs that can notice a change of *lines*: first those that are named
        after the file, then the quickest.

        A line that is not counted by itself is a part of a statement of its function.  One outside
        all functions is part of a table, and whoever enters the file may read it; a file without
        functions is read by anyone.
        """
        known = self.files.get(file, {})
        if not self.code.get(file, set()).isdisjoint(lines):
            able = {name for name, done in known.items() if not done.lines.isdisjoint(lines)}
        elif _within(self.functions.get(file, []), lines):
            able = {name for name, done in known.items() if _within(done.entered, lines)}
        else:
            able = set(known) or set(names)
        ordered = [name for name in names if name in able]
        words = set(Path(file).stem.split("_"))
        return sorted(
            ordered,
            key=lambda name: (-len(words & set(name.split("_"))), self.seconds.get(name, 0)),
        )


def _within(functions: list[tuple[int, int]], lines: range) -> bool:
    return any(first <= line <= last for first, last in functions for line in lines)


def _gcov(tree: Tree) -> list[dict[str, Any]]:
    """What gcov says of all that was counted since the last time, and forgets."""
    folder = tree.folder / COVERAGE
    counted = sorted(folder.rglob("*.gcda"))
    if not counted:
        return []
    done = subprocess.run(
        ["gcov", "--json-format", "--stdout", *map(str, counted)],
        cwd=tree.folder,
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode:
        raise ZvmlabError(f"gcov failed: {done.stderr.decode()[-500:]}")
    for path in counted:
        path.unlink()
    reports = [json.loads(line) for line in done.stdout.splitlines() if line.strip()]
    return [file for report in reports for file in report["files"]]


def _take(reached: Reached, program: str, told: list[dict[str, Any]]) -> None:
    for file in told:
        spans = [(int(f["start_line"]), int(f["end_line"])) for f in file["functions"]]
        name = str(file["file"])
        if len(spans) > len(reached.functions.get(name, [])):
            reached.functions[name] = spans
        numbers = {int(line["line_number"]) for line in file["lines"]}
        reached.code.setdefault(name, set()).update(numbers)
        entered = [
            span for span, f in zip(spans, file["functions"]) if int(f["execution_count"]) > 0
        ]
        if not entered:
            continue
        done = reached.files.setdefault(name, {}).setdefault(program, Functions())
        done.entered += entered
        done.lines |= {int(ln["line_number"]) for ln in file["lines"] if int(ln["count"]) > 0}


def _cached(path: Path, key: str) -> dict[str, Any] | None:
    try:
        held: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return held if held.get("key") == key else None


def _key(tree: Tree, program: str, arguments: list[str]) -> str:
    """What a program's way through the sources depends on."""
    digest = hashlib.sha256((tree.folder / COVERAGE / "unit" / program).read_bytes())
    for folder in arguments:
        for path in sorted((tree.folder / folder).iterdir()):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def measure(tree: Tree, rows: list[Row], jobs: int) -> Reached:
    """Builds the programs of the rows with counters and runs each."""
    reached = Reached()
    wanted = asked(rows, tree.folder)
    if not wanted:
        return reached
    tree.must_make(*_FLAGS, *(f"{COVERAGE}/unit/{name}" for name in wanted), jobs=jobs)
    held = tree.folder / "reach"
    held.mkdir(exist_ok=True)
    for path in (tree.folder / COVERAGE).rglob("*.gcda"):
        path.unlink()
    for name in wanted:
        arguments = programs(tree.folder)[name]
        key = _key(tree, name, arguments)
        found = _cached(held / name, key)
        if found is None:
            done = tree.unchanged([f"{COVERAGE}/unit/{name}", *arguments], _SECONDS)
            # Whether it fails is no question here: it does not when it is asked without a change.
            found = {"key": key, "seconds": done.seconds, "told": _gcov(tree)}
            (held / name).write_text(json.dumps(found), encoding="utf-8")
        reached.seconds[name] = found["seconds"]
        _take(reached, name, found["told"])
    return reached
