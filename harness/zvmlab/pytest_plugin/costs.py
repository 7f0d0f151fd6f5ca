# SPDX-License-Identifier: MIT
"""What tests cost: a file with the CPU time of costly ones, and ``--write-costs``, which writes it.

The file is TOML, a table for each file of tests, and in it the CPU seconds of a case of each test:
those of the process that runs it, and of all that it started.  They hardly depend on what else the
machine does.  A test that the file does not name costs little.
"""

from __future__ import annotations

import os
import re
import statistics
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from zvmlab.base.errors import UsageError

Costs = Mapping[str, Mapping[str, float]]
"""CPU seconds by file of tests and function."""
WORTH = 0.5
"""CPU seconds; a test whose cases together need less is not named."""
_LEAST = 0.01
_TICKS = os.sysconf("SC_CLK_TCK")
_TEST = re.compile(r"^[ \t]*(?:async )?def (test\w*)", re.MULTILINE)
_SEEN = "zvmlab_cost"


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


def merged(old: Costs, seen: Mapping[tuple[str, str], list[float]], folder: Path) -> Costs:
    """What was known, with what was measured: the lower median of all cases, on all kernels.

    A case that pays for others, because it is the first one that needs something, does not count so.
    Tests that are no longer in *folder* go.
    """
    found: dict[str, dict[str, float]] = {}
    for file in sorted({*old, *(file for file, _ in seen)}):
        there = tests_in(folder / file) if (folder / file).is_file() else []
        known = {test: seconds for test, seconds in old.get(file, {}).items() if test in there}
        for test in there:
            if times := seen.get((file, test)):
                known.pop(test, None)
                cost = round(statistics.median_low(times), 2)
                if cost >= _LEAST and cost * len(times) >= WORTH:
                    known[test] = cost
        found[file] = known
    return found


def used() -> float:
    """CPU seconds of this process and all below it, with those that have ended."""
    seconds: dict[int, int] = {}
    below: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path("/proc", name, "stat").read_text(encoding="ascii", errors="replace")
        except OSError:
            continue  # has ended meanwhile
        # proc(5): what follows the name; the parent, and the four times of it and its children
        fields = words.rpartition(")")[2].split()
        below.setdefault(int(fields[1]), []).append(int(name))
        seconds[int(name)] = sum(map(int, fields[11:15]))
    todo, total = [os.getpid()], 0
    while todo:
        one = todo.pop()
        total += seconds.get(one, 0)
        todo += below.get(one, ())
    return total / _TICKS


class Writer:
    """Measures each test where it runs, and writes the file where the run ends."""

    def __init__(self, path: Path, folder: Path, represented: str | None) -> None:
        load(path)
        self._path, self._folder, self._represented = path, folder, represented
        self._before = 0.0
        self._running: dict[str, float] = {}
        self._seen: dict[tuple[str, str], list[float]] = {}

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)  # type: ignore[misc]  # pluggy 1.0 has no types
    def pytest_runtest_setup(self) -> Iterator[None]:
        """Begin to measure a test."""
        self._before = used()
        yield

    @pytest.hookimpl(hookwrapper=True)  # type: ignore[misc]  # as above
    def pytest_runtest_makereport(self, item: pytest.Item) -> Iterator[None]:
        """Put the time of a phase into its report, which workers send to the main process."""
        outcome: Any = yield
        now = used()
        params = getattr(getattr(item, "callspec", None), "params", {})
        inside = item.path.is_relative_to(self._folder)
        if inside and (self._represented is None or self._represented not in params.values()):
            file = item.path.relative_to(self._folder).as_posix()
            setattr(outcome.get_result(), _SEEN, [file, now - self._before])
        self._before = now

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up the phases of a test."""
        file, seconds = getattr(report, _SEEN, (None, 0.0))
        if file is None:
            return
        total = self._running.pop(report.nodeid, 0.0) + seconds
        if report.when != "teardown":
            self._running[report.nodeid] = total
            return
        function = report.nodeid.partition("[")[0].rpartition("::")[2]
        self._seen.setdefault((file, function), []).append(total)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write what is now known, in the main process."""
        if hasattr(session.config, "workerinput"):
            return
        known = merged(load(self._path), self._seen, self._folder)
        text = text_of(known, self._path.read_text(encoding="utf-8"))
        self._path.write_text(text, encoding="utf-8")
