# SPDX-License-Identifier: MIT
"""The speed of monread --tables for a week in seven files, against the same week in one file."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchmark import Benchmark, Budget, Pairs
from zvmlab.base.errors import ZvmlabError
from zvmlab.base.tree import TREE

DAYS = 7
SECONDS = 1800.0
SPEED = Budget(0.8, at_most=False)


def _benchmarks() -> Pairs:
    return Pairs(
        Benchmark(
            "speed", f"tables of a week: speed of {DAYS} files ÷ that of one", "ratio", SPEED
        ),
        Benchmark("one", "tables of a week: one file", "MB/s CPU"),
        Benchmark("several", f"tables of a week: {DAYS} files", "MB/s CPU"),
    )


def _workload() -> dict[str, Any]:
    """The system of the example with few users."""
    found: dict[str, Any] = json.loads((TREE / "examples/busy-day.json").read_text())
    for user in found["users"]:
        user["count"] = min(int(user.get("count", 1)), 5)
    # They are of users that are left out.
    found["events"] = []
    return found


def _prepare(program: Path, folder: Path) -> tuple[Path, list[Path]]:
    """The week, and the same by days."""
    (folder / "workload.json").write_text(json.dumps(_workload()))
    week = folder / "week"
    argv = [str(TREE / "zvmlab"), "fabricate", "--workload", str(folder / "workload.json")]
    argv += ["--hours", str(24 * DAYS), "--out", str(week)]
    subprocess.run(argv, check=True, capture_output=True, timeout=SECONDS)
    argv = [str(program), "--check", "--write-monwrite", str(folder / "day")]
    argv += ["--rotate-time", "24h", str(week)]
    subprocess.run(argv, check=True, capture_output=True, timeout=SECONDS)
    days = sorted(folder.glob("day*"))
    if len(days) != DAYS:
        raise ZvmlabError(f"the week is in {len(days)} files, not {DAYS}")
    return week, days


def _tables(program: Path, files: list[Path]) -> tuple[float, bytes]:
    """Seconds of CPU time, and the tables."""
    with tempfile.TemporaryFile() as out:
        argv = [str(program), "--tables", *map(str, files)]
        process = subprocess.Popen(argv, stdout=out, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise ZvmlabError(f"{program} ends with exit code {process.returncode}")
        out.seek(0)
        return used.ru_utime + used.ru_stime, out.read()


def measure(program: Path, pairs: int) -> list[Benchmark]:
    """Every pair reads the week both ways; the tables are the same."""
    with tempfile.TemporaryDirectory() as name:
        week, days = _prepare(program, Path(name))
        size = week.stat().st_size / 1e6

        def pair(swapped: bool) -> dict[str, float]:
            ways = {"one": [week], "several": days}
            found = {way: _tables(program, ways[way]) for way in sorted(ways, reverse=swapped)}
            if found["one"][1] != found["several"][1]:
                raise ZvmlabError("the tables of several files are not those of one")
            one, several = found["one"][0], found["several"][0]
            return {"speed": one / several, "one": size / one, "several": size / several}

        return _benchmarks().repeat(pairs, pair)
