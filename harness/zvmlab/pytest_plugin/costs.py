# SPDX-License-Identifier: MIT
"""What tests cost: a file with the CPU time of costly ones, and what writes it.

The file is TOML, a table for each file of tests, and in it the CPU seconds of a case of each test:
those of the process that runs it, and of all that it started.  They hardly depend on what else the
machine does.  A test that the file does not name costs little.

``--write-costs`` writes the file at the end of a run.  A run with ``--junitxml`` keeps the times in its
report, as the property ``cpu_seconds`` of a test that has passed, and

    python3 -m zvmlab.pytest_plugin.costs tests/speeds.toml REPORT.xml…

writes the file from such reports.
"""

from __future__ import annotations

import contextlib
import os
import re
import statistics
import sys
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from zvmlab.base.errors import EXIT_PASS, UsageError, exit_code

Costs = Mapping[str, Mapping[str, float]]
"""CPU seconds by file of tests and function."""
WORTH = 0.5
"""CPU seconds; a test whose cases together need less is not named."""
_LEAST = 0.01
_TICKS = os.sysconf("SC_CLK_TCK")
_TEST = re.compile(r"^[ \t]*(?:async )?def (test\w*)", re.MULTILINE)
_PROPERTY = "cpu_seconds"
Seen = Mapping[tuple[str, str], list[float]]
"""What was measured: CPU seconds of the cases, by file and function."""


def tests_in(path: Path) -> list[str]:
    """The functions of a file that are tests, by their names."""
    return _TEST.findall(path.read_text(encoding="utf-8"))


def load(path: Path) -> Costs:
    """The file; UsageError if it cannot be one."""
    try:
        with path.open("rb") as file:
            table = tomllib.load(file)
    except OSError as error:
        raise UsageError(f"costs {path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"costs {path} is not TOML: {error}") from None
    for name, tests in table.items():
        if not isinstance(tests, dict):
            raise UsageError(f"costs {path}: {name} must be a table, as of a file of tests")
        for test, seconds in tests.items():
            number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
            if not number or not _LEAST <= seconds < float("inf"):
                raise UsageError(
                    f"costs {path}: {name}, {test}: {seconds!r} is no time (from {_LEAST} s)"
                )
    return table


def text_of(costs: Costs, old: str) -> str:
    """The file's text, with the comment that stood at its beginning."""
    comment = re.match(r"(?:#.*\n)*", old)
    lines = [comment[0].rstrip("\n")] if comment and comment[0] else []
    for file in sorted(costs):
        if costs[file]:
            lines += ["", f'["{file}"]']
            lines += [f"{test} = {costs[file][test]:.2f}" for test in sorted(costs[file])]
    return "\n".join(lines) + "\n"


def merged(old: Costs, seen: Seen, folder: Path, all_cases: bool) -> Costs:
    """What was known, with what was measured: the lower median of all cases, on all kernels.

    A case that pays for others, because it is the first one that needs something, does not count so.
    Tests that are no longer in *folder* go, and those that cost little, if *all_cases* have run.
    """
    found: dict[str, dict[str, float]] = {}
    for file in sorted({*old, *(file for file, _ in seen)}):
        there = tests_in(folder / file) if (folder / file).is_file() else []
        known = {test: seconds for test, seconds in old.get(file, {}).items() if test in there}
        for test in there:
            if times := seen.get((file, test)):
                kept = known.pop(test, None) is not None and not all_cases
                cost = round(statistics.median_low(times), 2)
                if kept or cost >= _LEAST and cost * len(times) >= WORTH:
                    known[test] = max(cost, _LEAST)
        found[file] = known
    return found


def used() -> float:
    """CPU seconds of this process and all below it, with those that have ended."""
    total, todo = 0, [os.getpid()]
    while todo:
        process = todo.pop()
        try:
            words = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
            tasks = os.listdir(f"/proc/{process}/task")
        except OSError:
            continue  # has ended meanwhile
        # proc(5): what follows the name; the four times of it and its children
        total += sum(map(int, words.rpartition(")")[2].split()[11:15]))
        for task in tasks:
            with contextlib.suppress(OSError):
                text = Path(f"/proc/{process}/task/{task}/children").read_text(encoding="ascii")
                todo += map(int, text.split())
    return total / _TICKS


class Meter:
    """Measures each test where it runs; the time of one that has passed is a property of it."""

    def __init__(self, represented: str | None) -> None:
        self._represented = represented
        self._before = 0.0
        self._passes = True

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)  # type: ignore[misc]  # pluggy 1.0 has no types
    def pytest_runtest_setup(self) -> Iterator[None]:
        """Begin to measure a test."""
        self._before, self._passes = used(), True
        yield

    @pytest.hookimpl(hookwrapper=True)  # type: ignore[misc]  # as above
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Iterator[None]:
        """After its last phase, note the time; workers send it to the main process."""
        params = getattr(getattr(item, "callspec", None), "params", {})
        if call.when == "teardown" and self._passes and call.excinfo is None:
            if self._represented is None or self._represented not in params.values():
                item.user_properties.append((_PROPERTY, f"{used() - self._before:.2f}"))
        outcome: Any = yield
        report = outcome.get_result()
        known = hasattr(report, "wasxfail")
        self._passes = self._passes and (report.passed or report.skipped and known)


class Writer:
    """Writes the file where the run ends."""

    def __init__(self, path: Path, folder: Path) -> None:
        load(path)
        self._path, self._folder = path, folder
        self._seen: dict[tuple[str, str], list[float]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up what arrives."""
        if report.when == "teardown":
            file, _, test = report.nodeid.partition("::")
            for name, value in report.user_properties:
                if name == _PROPERTY:
                    self._seen.setdefault((file, _function(test)), []).append(float(str(value)))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write what is now known, in the main process."""
        config = session.config
        if not hasattr(config, "workerinput"):
            all_cases = not config.getoption("--short")
            _write(self._path, self._folder, self._seen, config.rootpath, all_cases)


def _write(path: Path, folder: Path, seen: Seen, root: Path, all_cases: bool) -> None:
    """*folder*: where the tests of the file *path* are; files of *seen* are relative to *root*."""
    inside = {
        ((root / file).relative_to(folder).as_posix(), function): times
        for (file, function), times in seen.items()
        if (root / file).is_relative_to(folder)
    }
    known = merged(load(path), inside, folder, all_cases)
    text = text_of(known, path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")


def in_reports(reports: Iterable[Path]) -> Seen:
    """What reports in JUnit's format have; UsageError if one has nothing."""
    seen: dict[tuple[str, str], list[float]] = {}
    for path in reports:
        before = sum(map(len, seen.values()))
        try:
            cases = ET.parse(path).getroot().iter("testcase")
        except OSError as error:
            raise UsageError(f"report {path} cannot be read: {error.strerror}") from None
        except ET.ParseError as error:
            raise UsageError(f"report {path} is not XML: {error}") from None
        for case in cases:
            file = f"{case.get('classname', '').replace('.', '/')}.py"
            function = _function(case.get("name", ""))
            for found in case.iterfind(f"properties/property[@name='{_PROPERTY}']"):
                seen.setdefault((file, function), []).append(_seconds(path, found.get("value")))
        if sum(map(len, seen.values())) == before:
            raise UsageError(f"report {path} has no test with the property {_PROPERTY}")
    return seen


def _function(test: str) -> str:
    """The function of a test's name, without its case, and the group that pytest-xdist adds."""
    return test.partition("[")[0].partition("@")[0].rpartition("::")[2]


def _seconds(path: Path, value: str | None) -> float:
    try:
        found = float(value or "")
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise UsageError(f"report {path}: {value!r} is no {_PROPERTY}")
    return found


def main() -> int:
    """``SPEEDS REPORT…``: write the costs that the rules SPEEDS name, from reports."""
    if len(sys.argv) < 3:
        raise UsageError("usage: python3 -m zvmlab.pytest_plugin.costs SPEEDS REPORT…")
    speeds, *reports = map(Path, sys.argv[1:])
    try:
        named = tomllib.loads(speeds.read_text(encoding="utf-8")).get("costs")
    except (OSError, ValueError) as error:
        raise UsageError(f"speeds {speeds} cannot be read: {error}") from None
    if not isinstance(named, str):
        raise UsageError(f"speeds {speeds} has no costs, the file to write")
    folder = speeds.resolve().parent
    # They may be of "make check", which leaves some cases out.
    _write(folder / named, folder, in_reports(reports), Path.cwd(), all_cases=False)
    return EXIT_PASS


if __name__ == "__main__":
    sys.exit(exit_code(main, "costs"))
