# SPDX-License-Identifier: MIT
"""Was a test lost when tests were renamed?  Two lists of tests, held against each other.

``test_names.py BEFORE AFTER [TABLE]`` reads what ``pytest --collect-only -q`` printed on the two
sides, and a table of names (default: ``tests/renamed.tsv``): a line has the old name, a tab
and the new one, of a test function (``tests/e2e/test_x.py::test_y``) or of a file.  It prints each test that is
gone and each that is new, and how many there are.  A function with as many tests as before, some of
them with other parameters, is said in one line, because ids follow the texts of parameters.
Exit code: 0 if none is gone, 1 if one is, 2 if a list or the table cannot be right.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

TABLE = Path(__file__).resolve().parents[1] / "tests" / "renamed.tsv"


class Wrong(Exception):
    """A list that has no tests, or a table that does not say one thing."""


def table(text: str) -> dict[str, str]:
    """Old names with their new ones; lines that begin with # are comments."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split("\t")
        if len(words) != 2 or not all(words):
            raise Wrong(f"line {number} of the table is not an old name, a tab and a new name")
        old, new = words
        if old in found:
            raise Wrong(f"line {number} of the table names {old} a second time")
        if new in found.values() and "::" in new:
            raise Wrong(f"line {number} of the table gives two tests the name {new}")
        found[old] = new
    return found


def tests(text: str) -> Counter[str]:
    """The tests in pytest's output, each with how often it is there."""
    found = Counter(line for line in text.splitlines() if "::" in line.partition("[")[0])
    if not found:
        raise Wrong("a list without tests; make it with pytest --collect-only -q")
    return found


def renamed(test: str, names: Mapping[str, str]) -> str:
    """The new name of a test: that of its function, or else of its file."""
    function, bracket, parameters = test.partition("[")
    file, colons, rest = function.partition("::")
    new = names.get(function) or names.get(file, file) + colons + rest
    return new + bracket + parameters


def by_function(found: Counter[str]) -> dict[str, list[str]]:
    """Tests, in their order, by the function that they run."""
    functions: dict[str, list[str]] = {}
    for test in sorted(found.elements()):
        functions.setdefault(test.partition("[")[0], []).append(test)
    return functions


def differences(
    before: Counter[str], after: Counter[str], names: Mapping[str, str]
) -> tuple[list[str], list[str], dict[str, int]]:
    """What is gone, in its old name and its new one if it has one; what is new; other parameters.

    The last is the number of a function's tests that have other parameters than before.
    """
    wanted: Counter[str] = Counter()
    old: dict[str, str] = {}
    for test, count in before.items():
        name = renamed(test, names)
        wanted[name] += count
        old[name] = test if test == name else f"{test}, now {name}"
    gone, new = by_function(wanted - after), by_function(after - wanted)
    other = {}
    for function in gone.keys() & new.keys():
        pairs = min(len(gone[function]), len(new[function]))
        other[function] = pairs
        gone[function], new[function] = gone[function][pairs:], new[function][pairs:]
    lost = sorted(old[test] for those in gone.values() for test in those)
    return lost, sorted(test for those in new.values() for test in those), other


def main(arguments: list[str]) -> int:
    """Compare the files that were named."""
    if len(arguments) not in (2, 3):
        print("usage: test_names.py BEFORE AFTER [TABLE]", file=sys.stderr)
        return 2
    path = Path(arguments[0])
    try:
        before = tests(path.read_text(encoding="utf-8"))
        path = Path(arguments[1])
        after = tests(path.read_text(encoding="utf-8"))
        path = Path(arguments[2]) if len(arguments) == 3 else TABLE
        names = table(path.read_text(encoding="utf-8"))
    except OSError as error:
        print(f"{path}: {error.strerror}", file=sys.stderr)
        return 2
    except (Wrong, UnicodeDecodeError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 2
    gone, new, other = differences(before, after, names)
    said = [f"gone: {test}" for test in gone] + [f"new: {test}" for test in new]
    said += [f"other parameters: {count} of {name}" for name, count in sorted(other.items())]
    for line in said:
        print(line)
    print(f"{before.total()} tests before, {after.total()} after: {len(gone)} gone, {len(new)} new")
    return 1 if gone else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
