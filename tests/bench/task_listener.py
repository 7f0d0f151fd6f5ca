# SPDX-License-Identifier: MIT
"""``taskmon listen`` beside a bare loop of recv(): exit records a second, none lost.

Children are created and exit one after the other, as fast as can be, while somebody listens.  The
guest's clock counts instructions.  Start and end of the programs are not in it.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmark import Benchmark, Budget, Pairs, both
from guest_program import guest_program, number
from zvmlab.base.progress import Progress
from zvmlab.builder.guesttools import tool
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

FEW, MANY = 100, 1100
PROGRAM = "/bin/exit_rate"
_NS = 1e9


def _benchmarks() -> Pairs:
    return Pairs(
        Benchmark("loop", "a bare loop of recv()", "records/s"),
        Benchmark("table", "taskmon listen, a table", "records/s"),
        Benchmark("json", "taskmon listen, JSON lines", "records/s"),
        Benchmark("ratio-table", "taskmon listen ÷ the loop", "ratio", Budget(0.9, False)),
        Benchmark("ratio-json", "taskmon listen, JSON lines ÷ the loop", "ratio"),
    )


def _rate(nanoseconds: Callable[[int], int]) -> float:
    """The rate of the exits that one run has more than the other."""
    few, many = (nanoseconds(count) for count in (FEW, MANY))
    return (MANY - FEW) * _NS / (many - few)


def _loop(guest: Guest) -> float:
    return _rate(lambda count: number(guest, PROGRAM, "listen", str(count)))


def _taskmon(guest: Guest, form: str) -> float:
    """Its exit status is 1 if a record was lost."""
    words = (PROGRAM, "run", "/bin/taskmon", "listen", "--format", form, "--", PROGRAM, "exits")
    return _rate(lambda count: number(guest, *words, str(count)))


def _pair(guest: Guest, swapped: bool) -> dict[str, float]:
    loop, table = both(swapped, lambda: _loop(guest), lambda: _taskmon(guest, "table"))
    lines = _taskmon(guest, "json")
    return {
        "loop": loop,
        "table": table,
        "json": lines,
        "ratio-table": table / loop,
        "ratio-json": lines / loop,
    }


def measure(config: GuestConfig, pairs: int, progress: Progress) -> list[Benchmark]:
    """One guest; one pair is thrown away."""
    config = config._replace(
        count_instructions=True,
        files={**tool("taskmon", progress), PROGRAM: guest_program("exit_rate")},
    )
    with Guest(config, artifacts=prepare(config, progress)) as guest:
        guest.boot()
        _pair(guest, False)
        return _benchmarks().repeat(pairs, lambda swapped: _pair(guest, swapped))
