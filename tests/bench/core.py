# SPDX-License-Identifier: MIT
"""Message round trips of the core alone, by build/bench_iucv."""

from __future__ import annotations

from pathlib import Path

from benchmark import Benchmark, Budget, Pairs
from program import Row, rows
from zvmlab.base.errors import ZvmlabError

SECONDS = 0.5
TIMEOUT = 60.0
RATE = Budget(5e6, at_most=False)
# "Equal", as far as a shared machine can tell.
EQUAL = Budget(0.95, at_most=False)
NONE = Budget(0, at_most=True)
FEW, MANY = 10, 65535


def _benchmarks() -> Pairs:
    unit = "round trips/s"
    return Pairs(
        Benchmark("few", f"core: one of {FEW} paths", unit, RATE),
        Benchmark("many", f"core: one of {MANY:,} paths", unit, RATE),
        Benchmark("ratio", f"core: one of {MANY:,} paths ÷ one of {FEW}", "ratio", EQUAL),
        Benchmark("few-turn", f"core: {FEW} paths in turn", unit, RATE),
        Benchmark("many-turn", f"core: {MANY:,} paths in turn", unit, RATE),
        Benchmark("ratio-turn", f"core: {MANY:,} paths in turn ÷ {FEW} in turn", "ratio", EQUAL),
        Benchmark("allocations", "core: allocations in all round trips", "calls", NONE),
    )


def _run(program: Path, paths: tuple[int, int]) -> dict[tuple[int, bool], Row]:
    found = {
        (int(row["paths"]), bool(row["rotate"])): row
        for row in rows(program, TIMEOUT, SECONDS, *paths)
    }
    if found.keys() != {(FEW, False), (FEW, True), (MANY, False), (MANY, True)}:
        raise ZvmlabError(f"{program} measured something else than expected: {found!r:.200}")
    return found


def measure(program: Path, pairs: int) -> list[Benchmark]:
    """Every run of the program measures few paths and many."""

    def pair(swapped: bool) -> dict[str, float]:
        found = _run(program, (MANY, FEW) if swapped else (FEW, MANY))
        rate = {key: row["per_second"] for key, row in found.items()}
        return {
            "few": rate[FEW, False],
            "many": rate[MANY, False],
            "ratio": rate[MANY, False] / rate[FEW, False],
            "few-turn": rate[FEW, True],
            "many-turn": rate[MANY, True],
            "ratio-turn": rate[MANY, True] / rate[FEW, True],
            "allocations": sum(row["allocations"] for row in found.values()),
        }

    return _benchmarks().repeat(pairs, pair)
