# SPDX-License-Identifier: MIT
"""Restored guests in QEMU beside booted ones: time, how many a second, memory of many at once.

A start ends with the answer to the harness' first request.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from benchmark import Benchmark, Budget, Pairs, both
from pairs import emulator_seconds
from zvmlab.base.errors import ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import Artifacts, GuestConfig
from zvmlab.guest.guest import Guest

CPUS = {1: Budget(1 / 40, True), 4: Budget(1 / 25, True)}
# One after another, of which the best counts for what the work itself takes.
STARTS = 5
WORKERS = 2
BATCH = 40
COLD_BATCH = 8
MANY = 64
_MIB = 1 << 20


@dataclass(frozen=True)
class Spent:
    """Seconds from before the emulator's process starts; CPU time of emulator and harness."""

    elapsed: float
    cpu: float


def _guest_start(config: GuestConfig, artifacts: Artifacts) -> Spent:
    with Guest(config, artifacts=artifacts) as guest:
        guest.configure()
        begun, own = time.monotonic(), time.process_time()
        guest.boot()
        elapsed = time.monotonic() - begun
        if guest.restored == config.cold:
            raise ZvmlabError("the guest did not start as it was asked to")
        return Spent(elapsed, emulator_seconds(guest.emulator) + time.process_time() - own)


def _benchmarks() -> Pairs:
    found = []
    for cpus, budget in CPUS.items():
        of = f"start, CPUs {cpus}"
        found += [
            Benchmark(f"cold-{cpus}", f"{of}: cold, to the first reply", "s"),
            Benchmark(f"restored-{cpus}", f"{of}: restored", "s"),
            Benchmark(f"ratio-{cpus}", f"{of}: restored ÷ cold", "ratio", budget),
            Benchmark(f"cpu-ratio-{cpus}", f"{of}: restored ÷ cold, CPU time", "ratio"),
        ]
    return Pairs(
        *found,
        Benchmark("rate", f"guests started and ended, workers {WORKERS}", "1/s", Budget(20, False)),
        Benchmark("cold-rate", "the same, cold", "1/s"),
        Benchmark("rate-ratio", "restored ÷ cold, guests a second", "ratio", Budget(25, False)),
        Benchmark("memory", f"memory of {MANY} guests at once", "MiB", Budget(3072, True)),
    )


def _starts(config: GuestConfig, artifacts: Artifacts) -> dict[str, float]:
    """A cold start, and the median of several restored ones."""
    cold = _guest_start(config._replace(cold=True), artifacts)
    restored = [_guest_start(config, artifacts) for _ in range(STARTS)]
    elapsed = sorted(one.elapsed for one in restored)[STARTS // 2]
    cpu = sorted(one.cpu for one in restored)[STARTS // 2]
    return {
        f"cold-{config.cpus}": cold.elapsed,
        f"restored-{config.cpus}": elapsed,
        f"ratio-{config.cpus}": elapsed / cold.elapsed,
        f"cpu-ratio-{config.cpus}": cpu / cold.cpu,
    }


def _several(config: GuestConfig, artifacts: Artifacts, count: int) -> None:
    for _ in range(count):
        with Guest(config, artifacts=artifacts) as guest:
            guest.boot()


def _rate(config: GuestConfig, artifacts: Artifacts, batch: int) -> float:
    """Guests a second, of so many; the workers' own start is not counted."""
    with ProcessPoolExecutor(WORKERS, get_context("spawn")) as workers:

        def all_workers(count: int) -> None:
            ends = [workers.submit(_several, config, artifacts, count) for _ in range(WORKERS)]
            for end in ends:
                end.result()

        all_workers(1)
        begun = time.monotonic()
        all_workers(batch // WORKERS)
        return batch / (time.monotonic() - begun)


def shared(pid: int) -> int:
    """Bytes of a process, each page divided by how many share it (proc(5), smaps_rollup)."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("proc(5): smaps_rollup has Pss")


def _memory(config: GuestConfig, artifacts: Artifacts) -> float:
    """MiB of all emulators while each guest has answered."""
    with contextlib.ExitStack() as end:
        guests = []
        for _ in itertools.repeat(None, MANY):
            guests.append(end.enter_context(Guest(config, artifacts=artifacts)))
            guests[-1].boot()
            guests[-1].rest()
        total = sum(shared(guest.emulator.pid) for guest in guests)
        for guest in guests:
            guest.stop()
    return total / _MIB


def measure(small: GuestConfig, pairs: int, progress: Progress) -> list[Benchmark]:
    """The checkpoints are made beforehand."""
    configs = [small._replace(cpus=cpus) for cpus in CPUS]
    artifacts = prepare(small, progress)
    for config in configs:
        _guest_start(config, artifacts)

    def pair(swapped: bool) -> dict[str, float]:
        one, four = both(
            swapped, lambda: _starts(configs[0], artifacts), lambda: _starts(configs[1], artifacts)
        )
        rate = _rate(configs[0], artifacts, BATCH)
        cold = _rate(configs[0]._replace(cold=True), artifacts, COLD_BATCH)
        return {
            **one,
            **four,
            "rate": rate,
            "cold-rate": cold,
            "rate-ratio": rate / cold,
            "memory": _memory(configs[0], artifacts),
        }

    return _benchmarks().repeat(pairs, pair)
