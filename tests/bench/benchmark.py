# SPDX-License-Identifier: MIT
"""Measured values, their spread, and the budgets they are held to."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rich.console import Console
from rich.table import Table

T = TypeVar("T")
U = TypeVar("U")
_DIGITS = 3


def text(value: float) -> str:
    """A number for people: digits behind the point only where they matter."""
    whole = value == int(value) or abs(value) >= 100
    return f"{value:,.0f}" if whole else f"{value:,.{_DIGITS}f}"


@dataclass(frozen=True)
class Budget:
    """The limit that the median must keep."""

    limit: float
    at_most: bool

    def met(self, value: float) -> bool:
        return value <= self.limit if self.at_most else value >= self.limit

    def __str__(self) -> str:
        return f"{'≤' if self.at_most else '≥'} {text(self.limit)}"


@dataclass
class Benchmark:
    """One value of each pair."""

    key: str
    what: str
    unit: str
    budget: Budget | None = None
    values: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def met(self) -> bool:
        return self.budget is None or self.budget.met(self.median)

    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "what": self.what,
            "unit": self.unit,
            "median": self.median,
            "min": min(self.values),
            "max": max(self.values),
            "values": self.values,
        }
        if self.budget is not None:
            found["budget"] = {
                "limit": self.budget.limit,
                "at_most": self.budget.at_most,
                "met": self.met,
            }
        return found


class Pairs:
    """Figures of one subject; every pair adds one value to each."""

    def __init__(self, *benchmarks: Benchmark) -> None:
        self.benchmarks = list(benchmarks)

    def add(self, values: dict[str, float]) -> None:
        assert values.keys() == {benchmark.key for benchmark in self.benchmarks}
        for benchmark in self.benchmarks:
            benchmark.values.append(values[benchmark.key])

    def repeat(self, count: int, measure: Callable[[bool], dict[str, float]]) -> list[Benchmark]:
        """Take *count* pairs; what comes first changes with every pair."""
        for number in range(count):
            self.add(measure(number % 2 == 1))
        return self.benchmarks


def both(swapped: bool, first: Callable[[], T], second: Callable[[], U]) -> tuple[T, U]:
    """The results of *first* and *second*, of which the latter runs first if *swapped*."""
    if swapped:
        late = second()
        return first(), late
    return first(), second()


def show(benchmarks: list[Benchmark], title: str) -> None:
    """The table, and a plain sentence for each budget that was missed."""
    table = Table(title=title)
    table.add_column("benchmark")
    table.add_column("unit")
    for name in ("median", "min–max", "budget"):
        table.add_column(name, justify="right")
    table.add_column("")
    for benchmark in benchmarks:
        spread = f"{text(min(benchmark.values))}–{text(max(benchmark.values))}"
        budget = "" if benchmark.budget is None else str(benchmark.budget)
        verdict = "" if benchmark.budget is None else "met" if benchmark.met else "MISSED"
        table.add_row(
            benchmark.what, benchmark.unit, text(benchmark.median), spread, budget, verdict
        )
    console = Console()
    # A file or pipe has no width; lines that wrap help nobody there.
    if not console.is_terminal:
        console = Console(width=132)
    console.print(table)
    for benchmark in benchmarks:
        if not benchmark.met:
            print(
                f"Budget missed: {benchmark.what}: {text(benchmark.median)}, wanted {benchmark.budget}."
            )
