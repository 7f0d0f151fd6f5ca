# SPDX-License-Identifier: MIT
"""Which tests a series needs: those that run the functions that it touches.

`guest/linux_map.json` says which test runs which functions of which file.  Where it does not know a
file, the tests of the requirements that the file's driver has (guest/linux_files.toml) are taken.
Tests that show old bugs of the file come in addition.  Costly tests (tests/costs.toml, and what
tests/speeds.toml leaves out) come last, unless no other test runs one of the functions.
"""

from __future__ import annotations

import ast
import functools
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.base.json_file import parse
from zvmlab.base.tree import TREE
from zvmlab.builder.linux_files import linux_files
from zvmlab.builder.tree_name import nearest
from zvmlab.pytest_plugin import costs, speeds
from zvmlab.verdict.applied import Applied
from zvmlab.verdict.diffs import FileDiff, ranges
from zvmlab.verdict.functions import at_line, functions_of
from zvmlab.verdict.parts import is_document, text_of

MAP = TREE / "guest" / "linux_map.json"
TESTS = TREE / "tests" / "e2e"
SPEEDS = TREE / "tests" / "speeds.toml"
MOST_TESTS = 10
COSTLY = 1.0
"""CPU seconds of a case; the tests of a trial run twice on each kernel."""
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
    """The map's part for that series, else for the nearest; empty if there is no map yet.

    UsageError if the file is none.
    """
    if not path.exists():
        return {}
    data = parse(path, str(path), _MOST_BYTES)
    try:
        assert isinstance(data, dict)
        part = data[nearest(series, data)]
        tests = [
            f"{file}::{name}" if file else str(name)
            for file, names in part["tests"].items()
            for name in names
        ]
        return {
            str(source): {
                str(name): [tests[place] for place in _places(ranges, len(tests))]
                for name, ranges in functions.items()
            }
            for source, functions in part["files"].items()
        }
    except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise UsageError(f"{path} is no map of tests; make linux-coverage writes it") from None


def _places(ranges: str, total: int) -> Iterator[int]:
    """The numbers of "0 3-5"; ValueError if one of them is not below *total*."""
    for word in ranges.split():
        first, dash, last = word.partition("-")
        begin, end = int(first), int(last if dash else first)
        if not begin <= end < total:
            raise ValueError(f"{word} of {total}")
        yield from range(begin, end + 1)


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


def choose(
    applied: Applied,
    known: Map,
    most: int | None = MOST_TESTS,
    museum: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Choice:
    """The tests for what differs between the sides; at most so many.

    *museum*: by file of the tree, the tests that show its old bugs, which come in addition.
    """
    if not TESTS.is_dir():
        raise CannotRun(f"{TESTS} is missing; only a clone of zvmlab has the tests of the drivers")
    choice, found = Choice(), _Found(speeds.load(SPEEDS))
    old_bugs: list[str] = []
    for name in applied.changed:
        diff = applied.diffs.get(name)
        if diff is None or is_document(name):
            continue
        old_bugs += museum.get(name, ())
        functions = known.get(name)
        if functions is None:
            by_driver = _by_requirements(name)
            found.add(by_driver)
            choice.unknown += [] if by_driver or name in museum else [name]
            continue
        old, new = text_of(applied.base[name]), text_of(applied.patched[name])
        touched = touched_functions(diff, old, new)
        for tests in functions.values():
            found.whole.update(_plain(tests))
        for function in sorted(touched.keys() & functions.keys() or functions.keys()):
            of_boot = set(functions[function]) == {_BOOT}
            found.add(sorted(found.whole if of_boot else _plain(functions[function])))
        choice.not_run += _not_run(name, touched, functions)
    ranked = found.ranked()
    best = ranked if most is None else ranked[:most]
    choice.tests = list(dict.fromkeys([*old_bugs, *best]))
    choice.left = len(set(ranked) - set(choice.tests))
    return choice


def newer_tests(applied: Applied, known: Map) -> list[str]:
    """Tests of the files' drivers that the map knows nothing of: they are newer than the map."""
    in_map: set[str] = set()
    for functions in known.values():
        in_map.update(*map(_plain, functions.values()))
    named = [test for name in applied.changed if name in known for test in _by_requirements(name)]
    return [test for test in dict.fromkeys(named) if test not in in_map]


class _Found:
    """Tests that run what is touched."""

    def __init__(self, rules: speeds.Speeds) -> None:
        self._rules = rules
        self._costs = costs.load(rules.costs) if rules.costs is not None else {}
        self._groups: list[Sequence[str]] = []
        self.whole: Counter[str] = Counter()
        """Functions of the touched files that a test runs."""

    def add(self, tests: Sequence[str]) -> None:
        """The tests of one function, or of one driver."""
        self._groups.append(tests)

    def ranked(self) -> list[str]:
        """All, the most useful first: each function has one among the first ones."""
        touching = Counter(test for group in self._groups for test in group)
        turns = _turns(touching)

        def rank(test: str) -> tuple[object, ...]:
            cost = self._cost(test)
            used = (-touching[test], -self.whole[test])
            return (cost > COSTLY, *used, turns[test], cost, test)

        of_each = [min(group, key=rank) for group in self._groups if group]
        return list(dict.fromkeys([*of_each, *sorted(touching, key=rank)]))

    def _cost(self, test: str) -> float:
        file, _, function = test.removeprefix("tests/").partition("::")
        if self._rules.of(file, function).left:
            return math.inf
        return self._costs.get(file, {}).get(function, 0.0)


def _turns(tests: Iterable[str]) -> dict[str, int]:
    """Which test of its file each is: a file has a subject, and each subject has its turn."""
    seen, turns = Counter[str](), {}
    for test in tests:
        file = test.partition("::")[0]
        turns[test] = seen[file]
        seen[file] += 1
    return turns


def _plain(tests: Iterable[str]) -> set[str]:
    """The functions of tests, without their parameters, that are still there."""
    return set(filter(_is_there, {test.partition("[")[0] for test in tests} - {_BOOT}))


def _is_there(test: str) -> bool:
    """Has nobody removed it since the map was written?  One that is gone would end pytest at once."""
    file, _, function = test.partition("::")
    path = TREE / file
    return path.parent != TESTS or function in _words(path)


@functools.cache
def _words(path: Path) -> frozenset[str]:
    """All words of a file; none if there is no such file."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return frozenset(re.findall(r"\w+", text))


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
                if letters & {row.rstrip("0123456789") for row in _rows(node)} and not _full(node):
                    found.append(f"{path.relative_to(TREE)}::{node.name}")
    return found


def _full(node: ast.FunctionDef) -> bool:
    """Does it run with pytest's --full alone?"""
    return any(ast.unparse(mark).endswith("mark.full") for mark in node.decorator_list)


def _rows(node: ast.FunctionDef) -> list[str]:
    """The requirements that a test is marked with."""
    calls = [mark for mark in node.decorator_list if isinstance(mark, ast.Call)]
    marks = [mark for mark in calls if ast.unparse(mark.func).endswith("mark.requirement")]
    words = (argument for mark in marks for argument in mark.args)
    return [word.value for word in words if isinstance(word, ast.Constant) and word.value]
