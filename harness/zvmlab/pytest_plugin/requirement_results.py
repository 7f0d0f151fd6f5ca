# SPDX-License-Identifier: MIT
"""The results of a run: of tests, and of requirements per kernel, driver and emulator."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from zvmlab.base.plain import shortened
from zvmlab.base.results import Head
from zvmlab.base.shard import Shard
from zvmlab.guest.config import QEMU
from zvmlab.pytest_plugin.requirements import Requirement, Requirements
from zvmlab.pytest_plugin.speeds import Left

KIND = "tests"


class Outcome(enum.StrEnum):
    """The outcome of a test."""

    PASSED = "passed"
    DEVIATES = "deviates"
    """The driver failed as mark.upstream_defect says that it does."""
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Case:
    """One test with its parameters, as it is known before it runs.

    It travels from a worker of pytest-xdist as a dictionary of plain values.
    """

    test: str
    """pytest's name of it: file, function, parameters in brackets."""
    function: str
    sentence: str
    rows: tuple[str, ...]
    errnos: tuple[str, ...]
    kernel: str | None
    """None: the test needs no guest, or makes its own; it counts for every kernel."""
    driver: str | None
    """None: the test does without a driver; it counts for every one."""
    backend: str | None
    """The emulator.  None: the test needs no guest, or makes its own."""
    parameters: Mapping[str, str]
    defect: int | None
    """Number of the defect of the kernel's own driver that the test is marked with."""
    first_kernel: bool = False
    """In this run it need not be there on other kernels than the first."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Case:
        """From a dictionary of its fields, and more."""
        return cls(
            test=str(data["test"]),
            function=str(data["function"]),
            sentence=str(data["sentence"]),
            rows=tuple(map(str, data["rows"])),
            errnos=tuple(map(str, data["errnos"])),
            kernel=_text(data["kernel"]),
            driver=_text(data["driver"]),
            backend=_text(data["backend"]),
            parameters={str(name): str(value) for name, value in data["parameters"].items()},
            defect=None if data["defect"] is None else int(data["defect"]),
            first_kernel=bool(data["first_kernel"]),
        )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


@dataclass(frozen=True)
class TraceCut:
    """The part of a guest's trace that belongs to one test: bytes of the file."""

    guest: str
    path: str
    begin: int
    end: int

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TraceCut:
        """From a dictionary of its fields."""
        begin, end = int(data["begin"]), int(data["end"])
        return cls(str(data["guest"]), str(data["path"]), begin, end)


@dataclass
class Result:
    """The result of a case; its outcome is None until it ends."""

    case: Case
    outcome: Outcome | None = None
    reason: str = ""
    """Why it was skipped or deviates."""
    seconds: float = 0.0
    """Set-up, test and tear-down together."""
    failure: str = ""
    """The text of the failure; of a deviation, too."""
    console: str = ""
    logs: list[str] = field(default_factory=list)
    """Folders with console.log, trace.jsonl and emulator.log, kept after a failure."""
    cuts: list[TraceCut] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    """What the kernel has logged as a warning, or as worse, in a test that has come to its end."""

    @property
    def cause(self) -> str:
        """Why it did not pass, in one line: the first that pytest marks, or that there is."""
        if self.reason:
            return self.reason
        lines = [line.strip() for line in self.failure.splitlines() if line.strip()]
        marked = (line[1:].strip() for line in lines if line.startswith("E "))
        return shortened(next(marked, lines[0] if lines else ""))

    def to_json(self) -> dict[str, Any]:
        """Plain data, as docs/report.md describes it; from_json() gives an equal result."""
        return {
            **asdict(self.case),
            "result": self.outcome,
            "reason": self.reason,
            "seconds": round(self.seconds, 3),
            "failure": self.failure,
            "console": self.console,
            "logs": self.logs,
            "traces": [asdict(cut) for cut in self.cuts],
            "warnings": self.warnings,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Result:
        """From what to_json() gave."""
        return cls(
            Case.from_json(data),
            Outcome(data["result"]),
            str(data["reason"]),
            float(data["seconds"]),
            str(data["failure"]),
            str(data["console"]),
            list(map(str, data["logs"])),
            [TraceCut.from_json(cut) for cut in data["traces"]],
            list(map(str, data.get("warnings", []))),
        )


class Column(NamedTuple):
    """A column of the results: kernel, driver and emulator."""

    kernel: str
    driver: str
    backend: str = QEMU
    part: bool = False
    """Do only the tests marked representative run there?"""

    @property
    def place(self) -> str:
        """In words; the usual emulator goes without saying."""
        text = f"{self.kernel} with {self.driver}"
        return text if self.backend == QEMU else f"{text} in {self.backend}"


@dataclass(frozen=True)
class Cell:
    """The results of a row in a column."""

    counts: Mapping[Outcome, int]
    part: bool = False
    """Need there be no test?"""
    left: int = 0
    """Tests of it that the whole run has in addition."""

    @property
    def outcome(self) -> Outcome | None:
        """The worst that matters; None if no test ran."""
        for outcome in (Outcome.FAILED, Outcome.DEVIATES, Outcome.PASSED, Outcome.SKIPPED):
            if self.counts.get(outcome):
                return outcome
        return None

    @property
    def shown(self) -> bool:
        """Does at least one test show the row, and none fail, not even as is known?"""
        return self.outcome is Outcome.PASSED

    @property
    def deviates(self) -> bool:
        """Is the row broken just as is known of the driver, and not otherwise?"""
        return self.outcome is Outcome.DEVIATES

    @property
    def missing(self) -> bool:
        """Should there have been a test?"""
        return self.outcome is None and not self.part and not self.left

    @property
    def text(self) -> str:
        """A few characters for a table."""
        if self.outcome is None:
            return f"left {self.left}" if self.left else "no test" if self.missing else "–"
        total = sum(self.counts.values())
        number = self.counts[self.outcome]
        word = {Outcome.FAILED: "FAILED", Outcome.SKIPPED: "skipped"}.get(
            self.outcome, str(self.outcome)
        )
        text = f"{word} {number}" if number == total else f"{word} {number}/{total}"
        return f"{text} (+{self.left})" if self.left else text


@dataclass(frozen=True)
class Row:
    """A requirement, the tests that show it, and what they said."""

    requirement: Requirement
    tests: tuple[str, ...]
    """Names of functions, in the order of the alphabet."""
    cells: Mapping[Column, Cell]

    @property
    def untested(self) -> bool:
        """Was there no test of it at all, where the run had a kernel and emulator that it is about?"""
        about = self.requirement.is_about
        there = any(about(column.kernel, column.backend) for column in self.cells)
        return there and all(cell.outcome is None for cell in self.cells.values())

    @property
    def shown(self) -> bool:
        """Was it shown wherever there should be a test, and wherever there was one?"""
        wanted = self._wanted
        return bool(wanted) and all(cell.shown for cell in wanted)

    @property
    def deviates(self) -> bool:
        """Was it shown, or broken as is known, and the latter at least once?"""
        wanted = self._wanted
        known = all(cell.shown or cell.deviates for cell in wanted)
        return known and any(cell.deviates for cell in wanted)

    @property
    def in_part(self) -> bool:
        """Was it shown, and has the whole run more tests of it?"""
        return self.shown and any(cell.left for cell in self.cells.values())

    @property
    def _wanted(self) -> list[Cell]:
        """Cells where there should be a test, or was one."""
        return [cell for cell in self.cells.values() if cell.missing or cell.outcome is not None]


@dataclass(frozen=True)
class Run:
    """A whole run."""

    requirements: Requirements
    columns: tuple[Column, ...]
    results: tuple[Result, ...]
    """In the order of their names."""
    kernels: Mapping[str, str]
    """Versions of the kernels by their names, as far as a guest has run."""
    started: float
    """Seconds since 1970."""
    seconds: float
    whole: str = ""
    """The command that runs all tests, if this run has left some out."""
    left: Mapping[Left, int] = field(default_factory=dict)
    """The tests that this run has left to it."""

    def rows(self) -> tuple[Row, ...]:
        """Every row of the list, tested or not."""
        return self._rows

    @cached_property
    def _rows(self) -> tuple[Row, ...]:
        results: dict[str, list[Result]] = {}
        for result in self.results:
            for row in dict.fromkeys(result.case.rows):
                results.setdefault(row, []).append(result)
        left: dict[str, list[tuple[Left, int]]] = {}
        for one, number in self.left.items():
            for row in dict.fromkeys(one.rows):
                left.setdefault(row, []).append((one, number))
        return tuple(
            self._row(requirement, results.get(row, []), left.get(row, []))
            for row, requirement in self.requirements.rows.items()
        )

    def _row(
        self, requirement: Requirement, mine: Sequence[Result], left_of: Sequence[tuple[Left, int]]
    ) -> Row:
        """*mine*: its results; *left_of*: its tests that this run has left."""
        tests = tuple(sorted({result.case.function for result in mine}))
        first_only = bool(mine) and all(result.case.first_kernel for result in mine)
        cells: dict[Column, Cell] = {}
        for column in self.columns:
            if not requirement.is_about(column.kernel, column.backend):
                cells[column] = Cell({}, part=True)
                continue
            other_kernel = first_only and column.kernel != self.columns[0].kernel
            left = sum(number for one, number in left_of if _is_in(column, one))
            cells[column] = Cell(_count(mine, column), column.part or other_kernel, left)
        return Row(requirement, tests, cells)

    def counts(self) -> Mapping[Outcome, int]:
        """Number of tests by outcome."""
        return Counter(result.outcome for result in self.results if result.outcome is not None)

    def complaints(self) -> list[str]:
        """Sentences that say why the run does not show every requirement; failed tests are no part."""
        said: list[str] = []
        rows = self.rows()
        untested = [row.requirement.row for row in rows if row.untested]
        if untested:
            said.append(f"no test shows {', '.join(untested)}")
        tested = [row for row in rows if not row.untested]
        for state, text in ((Outcome.SKIPPED, "skipped"), (None, "not run")):
            where: dict[tuple[str, ...], list[str]] = {}
            for column in self.columns:
                cells = ((row.requirement.row, row.cells[column]) for row in tested)
                names = tuple(
                    name for name, c in cells if c.outcome is state and (state or c.missing)
                )
                where.setdefault(names, []).append(column.place)
            for names, columns in where.items():
                if names:
                    said.append(
                        f"all tests of {', '.join(names)} were {text} on {', '.join(columns)}"
                    )
        unknown = sorted(
            f"{result.case.function} ({row})"
            for result in self.results
            for row in result.case.rows
            if row not in self.requirements.rows
        )
        if unknown:
            said.append(
                "tests name rows that the list does not have: " + ", ".join(dict.fromkeys(unknown))
            )
        return said


def head_of(shard: Shard, run: Run, strict: bool) -> Head:
    """The identity of the run that a results file belongs to.

    *strict*: does a requirement that is not shown fail it?
    """
    rows = run.requirements.rows.values()
    return Head(
        KIND,
        shard,
        {
            "columns": [list(column) for column in run.columns],
            "groups": dict(run.requirements.groups),
            "requirements": [
                {name: list(value) if isinstance(value, tuple) else value for name, value in one}
                for one in (asdict(row).items() for row in rows)
            ],
            "strict": strict,
        },
    )


def _count(results: Iterable[Result], column: Column) -> Counter[Outcome]:
    return Counter(r.outcome for r in results if r.outcome is not None and _is_in(column, r.case))


def _is_in(column: Column, case: Case | Left) -> bool:
    own = (case.kernel, case.driver, case.backend)
    return all(mine in (None, theirs) for mine, theirs in zip(own, column[:3], strict=True))


class Collector:
    """Gathers the reports of a run; each test has up to three."""

    def __init__(self) -> None:
        self._results: dict[str, Result] = {}
        self.kernels: dict[str, str] = {}

    def add(
        self, report: Any, case: Case, cuts: Sequence[TraceCut], warnings: Sequence[str] = ()
    ) -> None:
        """A report of pytest's (set-up, call or tear-down) of *case*."""
        result = self._results.setdefault(case.test, Result(case))
        result.warnings += warnings
        result.seconds += report.duration
        if report.failed:
            result.outcome, result.reason = Outcome.FAILED, ""
            result.failure += ("\n\n" if result.failure else "") + report.longreprtext
            result.cuts += cuts
            result.logs += sorted({cut.path.rpartition("/")[0] for cut in cuts} - {*result.logs})
            result.console = _section(report, "zvmlab console") or result.console
        elif result.outcome is Outcome.FAILED:
            return
        elif report.skipped:
            result.outcome, result.reason = _skipped(report, case)
            if result.outcome is Outcome.DEVIATES:
                result.failure = report.longreprtext
        elif report.when == "call":
            result.outcome = Outcome.PASSED

    def result(self, case: Case) -> Result:
        """The result of a case so far; an unfinished one has failed."""
        result = self._results[case.test]
        return result if result.outcome is not None else replace(result, outcome=Outcome.FAILED)

    def results(self) -> tuple[Result, ...]:
        """All results, sorted by name; unfinished cases have failed."""
        for result in self._results.values():
            if result.outcome is None:
                result.outcome = Outcome.FAILED
                result.failure = "the test began and did not end"
        return tuple(self._results[name] for name in sorted(self._results))


def _section(report: Any, title: str) -> str:
    return "\n".join(text for name, text in report.sections if name == title)


def _skipped(report: Any, case: Case) -> tuple[Outcome, str]:
    expected = getattr(report, "wasxfail", None)
    if expected is None:
        where = report.longrepr
        text = where[2] if isinstance(where, tuple) else str(where)
        return Outcome.SKIPPED, text.removeprefix("Skipped: ")
    reason = expected.removeprefix("reason: ")
    if case.defect is not None:
        return Outcome.DEVIATES, reason
    return Outcome.SKIPPED, f"expected to fail: {reason}"
