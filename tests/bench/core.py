# SPDX-License-Identifier: MIT
"""Message round trips of the core alone, by build/bench_iucv."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from figures import Budget, Figure, Pairs
from zvmlab.errors import CannotRun, ZvmlabError

SECONDS = 0.5
TIMEOUT = 60.0
RATE = Budget(5e6, at_most=False)
# "Equal", as far as a shared machine can tell.
EQUAL = Budget(0.95, at_most=False)
NONE = Budget(0, at_most=True)
FEW, MANY = 10, 65535


def _figures() -> Pairs:
    unit = "round trips/s"
    return Pairs(
        Figure("few", f"core: one of {FEW} paths", unit, RATE),
        Figure("many", f"core: one of {MANY:,} paths", unit, RATE),
        Figure("ratio", f"core: one of {MANY:,} paths ÷ one of {FEW}", "ratio", EQUAL),
        Figure("few-turn", f"core: {FEW} paths in turn", unit, RATE),
        Figure("many-turn", f"core: {MANY:,} paths in turn", unit, RATE),
        Figure("ratio-turn", f"core: {MANY:,} paths in turn ÷ {FEW} in turn", "ratio", EQUAL),
        Figure("allocations", "core: allocations in all round trips", "calls", NONE),
    )


def _run(program: Path, paths: tuple[int, int]) -> dict[tuple[int, bool], dict[str, float]]:
    try:
        done = subprocess.run(
            [program, str(SECONDS), *map(str, paths)],
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
        )
    except FileNotFoundError as error:
        raise CannotRun(f"{program} is missing; run make {program}") from error
    if done.returncode != 0:
        raise ZvmlabError(f"{program} failed: {done.stderr.strip()}")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    found = {(row["paths"], row["rotate"]): row for row in rows}
    if found.keys() != {(FEW, False), (FEW, True), (MANY, False), (MANY, True)}:
        raise ZvmlabError(f"{program} measured something else than expected: {done.stdout!r:.200}")
    return found


def measure(program: Path, pairs: int) -> list[Figure]:
    """Every run of the program measures few paths and many."""

    def pair(swapped: bool) -> dict[str, float]:
        rows = _run(program, (MANY, FEW) if swapped else (FEW, MANY))
        rate = {key: row["per_second"] for key, row in rows.items()}
        return {
            "few": rate[FEW, False],
            "many": rate[MANY, False],
            "ratio": rate[MANY, False] / rate[FEW, False],
            "few-turn": rate[FEW, True],
            "many-turn": rate[MANY, True],
            "ratio-turn": rate[MANY, True] / rate[FEW, True],
            "allocations": sum(row["allocations"] for row in rows.values()),
        }

    return _figures().repeat(pairs, pair)
