# SPDX-License-Identifier: MIT
"""Scenarios a second and core, and what it takes to give each a guest as after its boot.

Time is CPU time of emulator and harness: a core that does nothing else has so much in a second.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmark import Benchmark, Pairs, both
from pairs import emulator_seconds
from zvmlab.base.errors import ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import Artifacts, GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.scenarios import find
from zvmlab.scenarios.context import Context

SCENARIO = "read-one-set"
TIMES = 20


class _Bench:
    """A guest, and what was spent on it."""

    def __init__(self, config: GuestConfig, artifacts: Artifacts, folder: Path) -> None:
        self._config = config
        self._artifacts = artifacts
        self._folder = folder
        self.guest = Guest(config, artifacts=artifacts)

    def spent(self, work: Callable[[], None]) -> float:
        """CPU seconds of one of TIMES times."""
        before = emulator_seconds(self.guest.emulator) + time.process_time()
        for _ in range(TIMES):
            work()
        return (emulator_seconds(self.guest.emulator) + time.process_time() - before) / TIMES

    def scenario(self, guest: Guest | None = None) -> None:
        """Load the driver, read a set, unload it."""
        with Context(guest or self.guest, self._folder, "seed") as context:
            find(SCENARIO).run(context)
            if not context.sets[-1].complete:
                raise ZvmlabError(f"{SCENARIO} did not read a whole set")

    def back(self) -> None:
        """The same guest, put back in place before the scenario."""
        self.guest.put_back()
        self.scenario()

    def new(self) -> float:
        """CPU seconds of one in a guest of its own: a process that is started and ended."""
        before = time.process_time()
        cpu = 0.0
        for _ in range(TIMES):
            with Guest(self._config, artifacts=self._artifacts) as guest:
                guest.boot()
                self.scenario(guest)
                cpu += emulator_seconds(guest.emulator)
        return (cpu + time.process_time() - before) / TIMES


def new_scenario(config: GuestConfig, artifacts: Artifacts, folder: Path) -> float:
    """CPU seconds of the scenario in a guest of its own."""
    return _Bench(config, artifacts, folder).new()


def _benchmarks() -> Pairs:
    return Pairs(
        Benchmark("same", f"{SCENARIO} in one guest, one after the other", "1/s and core"),
        Benchmark("back", "each in the guest put back in place", "1/s and core"),
        Benchmark("new", "each in a new process", "1/s and core"),
        Benchmark("put-back", "CPU time: putting back ÷ a new process", "ratio"),
    )


def measure(config: GuestConfig, pairs: int, progress: Progress) -> list[Benchmark]:
    """One pair is thrown away, for the emulator to have translated the guest's code."""
    artifacts = prepare(config, progress)
    with tempfile.TemporaryDirectory(prefix="zvmlab-bench-") as folder:
        bench = _Bench(config, artifacts, Path(folder))
        with bench.guest as guest:
            guest.boot()

            def pair(swapped: bool) -> dict[str, float]:
                same = bench.spent(bench.scenario)
                back, new = both(swapped, lambda: bench.spent(bench.back), bench.new)
                return {
                    "same": 1 / same,
                    "back": 1 / back,
                    "new": 1 / new,
                    "put-back": (back - same) / (new - same),
                }

            pair(False)
            return _benchmarks().repeat(pairs, pair)
