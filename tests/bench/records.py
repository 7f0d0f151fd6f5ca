# SPDX-License-Identifier: MIT
"""Monitor records that the model makes a second, by build/bench_records."""

from __future__ import annotations

from pathlib import Path

from benchmark import Benchmark, Budget, Pairs
from program import Row, rows
from zvmlab.base.errors import ZvmlabError

SECONDS = 1.0
TIMEOUT = 120.0
RATE = Budget(500.0, at_most=False)
NONE = Budget(0, at_most=True)
FEW, MANY = 100, 1000


def _benchmarks() -> Pairs:
    return Pairs(
        Benchmark("few", f"model: records of {FEW} users", "MB/s", RATE),
        Benchmark("many", f"model: records of {MANY:,} users", "MB/s", RATE),
        Benchmark("records", f"model: records of {MANY:,} users", "records/s"),
        Benchmark("allocations", "model: allocations in all sets", "calls", NONE),
    )


def _run(program: Path, users: tuple[int, int]) -> dict[int, Row]:
    found = {int(row["users"]): row for row in rows(program, TIMEOUT, SECONDS, *users)}
    if found.keys() != set(users):
        raise ZvmlabError(f"{program} measured something else than expected: {found!r:.200}")
    return found


def measure(program: Path, pairs: int) -> list[Benchmark]:
    """Every run of the program measures few users and many."""

    def pair(swapped: bool) -> dict[str, float]:
        found = _run(program, (MANY, FEW) if swapped else (FEW, MANY))
        return {
            "few": found[FEW]["bytes_per_second"] / 1e6,
            "many": found[MANY]["bytes_per_second"] / 1e6,
            "records": found[MANY]["records_per_second"],
            "allocations": sum(row["allocations"] for row in found.values()),
        }

    return _benchmarks().repeat(pairs, pair)
