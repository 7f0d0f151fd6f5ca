# SPDX-License-Identifier: MIT
"""Which tests a series needs: those that run the functions that it touches.

`guest/linux_map.json` says which test runs which functions of which file.  Where it does not know a
file, the tests of the requirements that the file's driver has (guest/linux_files.toml) are taken.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.base.json_file import parse
from zvmlab.base.tree import TREE
from zvmlab.builder.linux_files import linux_files
from zvmlab.builder.tree_name import number_of
from zvmlab.verdict.applied import Applied
from zvmlab.verdict.diffs import FileDiff, ranges
from zvmlab.verdict.functions import at_line, functions_of
from zvmlab.verdict.parts import is_document, text_of

MAP = TREE / "guest" / "linux_map.json"
TESTS = TREE / "tests" / "e2e"
MOST_TESTS = 40
_MOST_BYTES = 64 << 20
_OUTSIDE = "(outside of functions)"
_BOOT = "(boot)"
"""What guests run before any test."""

Map = Mapping[str, Mapping[str, Sequence[str]]]
"""Tests by function by file of the tree."""


@dataclass
class Choice:
    """The tests for a series."""

    tests: list[str] = field(default_factory=list)
    """FILE::FUNCTION from the clone's top, the most useful first."""
    left: int = 0
    """So many more run one of the functions."""
    unknown: list[str] = field(default_factory=list)
    """Files of which no test is known."""
    not_run: list[str] = field(default_factory=list)
    """Changed lines that no test runs, as FILE LINES (FUNCTION)."""


def read_map(series: str, path: Path = MAP) -> Map:
    """The map's part for that series, else for the newest; empty if there is no map yet.

    UsageError if the file is none.
    """
    if not path.exists():
        return {}
    data = parse(path, str(path), _MOST_BYTES)
    try:
        assert isinstance(data, dict)
        part = data[series if series in data else max(data, key=number_of)]
        tests = [str(test) for test in part["tests"]]
        return {
            str(source): {
                str(name): [tests[int(place)] for place in places]
                for name, places in functions.items()
            }
            for source, functions in part["files"].items()
        }
    except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise UsageError(f"{path} is no map of tests; make linux-coverage writes it") from None


def touched_functions(diff: FileDiff, old: str, new: str) -> dict[str, list[int]]:
    """Functions that a diff changes, each with the changed lines of the new file.

    Where lines only go, their function is there with no line.
    """
    touched: dict[str, list[int]] = {}
    after, before = functions_of(new), functions_of(old)
    for hunk in diff.hunks:
        for line in hunk.added:
            function = at_line(after, line)
            touched.setdefault(function.name if function else _OUTSIDE, []).append(line)
        for line in hunk.removed:
            function = at_line(before, line)
            touched.setdefault(function.name if function else _OUTSIDE, [])
    return touched


def choose(applied: Applied, known: Map, most: int | None = MOST_TESTS) -> Choice:
    """The tests for what differs between the sides; at most so many."""
    if not TESTS.is_dir():
        raise CannotRun(f"{TESTS} is missing; only a clone of zvmlab has the tests of the drivers")
    choice = Choice()
    touching, whole = Counter[str](), Counter[str]()
    for name in applied.changed:
        diff = applied.diffs.get(name)
        if diff is None or is_document(name):
            continue
        functions = known.get(name)
        if functions is None:
            by_driver = _by_requirements(name)
            touching.update(by_driver)
            choice.unknown += [] if by_driver else [name]
            continue
        old, new = text_of(applied.base[name]), text_of(applied.patched[name])
        touched = touched_functions(diff, old, new)
        for tests in functions.values():
            whole.update(_plain(tests))
        for function in touched.keys() & functions.keys() or functions.keys():
            touching.update(_plain(functions[function]))
        choice.not_run += _not_run(name, touched, functions)
    # Of those that run what is touched, those that run most of the files come first.
    ranked = sorted(touching, key=lambda test: (-touching[test], -whole[test], test))
    choice.tests = ranked if most is None else ranked[:most]
    choice.left = len(ranked) - len(choice.tests)
    return choice


def _plain(tests: Iterable[str]) -> set[str]:
    """The functions of tests, without their parameters."""
    return {test.partition("[")[0] for test in tests} - {_BOOT}


def _not_run(
    name: str, touched: Mapping[str, list[int]], functions: Mapping[str, Sequence[str]]
) -> list[str]:
    """Changed lines in functions that no test runs."""
    return [
        f"{name} {ranges(lines)} ({function})"
        for function, lines in touched.items()
        if lines and function != _OUTSIDE and not functions.get(function)
    ]


def _by_requirements(name: str) -> list[str]:
    """Tests that show a requirement of the driver that the file is of."""
    rows = {file.rows for file in linux_files() if str(file.path) == name and file.rows}
    letters = {letter for row in rows for letter in row.split()}
    if not letters:
        return []
    found = []
    for path in sorted(TESTS.glob("test_*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        for node in module.body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                if letters & {row.rstrip("0123456789") for row in _rows(node)}:
                    found.append(f"{path.relative_to(TREE)}::{node.name}")
    return found


def _rows(node: ast.FunctionDef) -> list[str]:
    """The requirements that a test is marked with."""
    calls = [mark for mark in node.decorator_list if isinstance(mark, ast.Call)]
    marks = [mark for mark in calls if ast.unparse(mark.func).endswith("mark.requirement")]
    words = (argument for mark in marks for argument in mark.args)
    return [word.value for word in words if isinstance(word, ast.Constant) and word.value]
