# SPDX-License-Identifier: MIT
"""Monitor records that the model makes a second, by build/bench_records."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from figures import Budget, Figure, Pairs
from zvmlab.errors import CannotRun, ZvmlabError

SECONDS = 1.0
TIMEOUT = 120.0
RATE = Budget(500.0, at_most=False)
NONE = Budget(0, at_most=True)
FEW, MANY = 100, 1000


def _figures() -> Pairs:
    return Pairs(
        Figure("few", f"model: records of {FEW} users", "MB/s", RATE),
        Figure("many", f"model: records of {MANY:,} users", "MB/s", RATE),
        Figure("records", f"model: records of {MANY:,} users", "records/s"),
        Figure("allocations", "model: allocations in all sets", "calls", NONE),
    )


def _run(program: Path, users: tuple[int, int]) -> dict[int, dict[str, float]]:
    try:
        done = subprocess.run(
            [program, str(SECONDS), *map(str, users)],
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
        )
    except FileNotFoundError as error:
        raise CannotRun(f"{program} is missing; run make {program}") from error
    if done.returncode != 0:
        raise ZvmlabError(f"{program} failed: {done.stderr.strip()}")
    found = {row["users"]: row for row in map(json.loads, done.stdout.splitlines())}
    if found.keys() != set(users):
        raise ZvmlabError(f"{program} measured something else than expected: {done.stdout!r:.200}")
    return found


def measure(program: Path, pairs: int) -> list[Figure]:
    """Every run of the program measures few users and many."""

    def pair(swapped: bool) -> dict[str, float]:
        rows = _run(program, (MANY, FEW) if swapped else (FEW, MANY))
        return {
            "few": rows[FEW]["bytes_per_second"] / 1e6,
            "many": rows[MANY]["bytes_per_second"] / 1e6,
            "records": rows[MANY]["records_per_second"],
            "allocations": sum(row["allocations"] for row in rows.values()),
        }

    return _figures().repeat(pairs, pair)
