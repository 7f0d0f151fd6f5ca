# SPDX-License-Identifier: MIT
"""Hercules with the CP, restored and cold, beside Debian's Hercules as it is."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from boot import await_init, read_first_set
from benchmark import Benchmark, Budget, Pairs, both
from pairs import emulator_seconds
from zvmlab.base.errors import ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.guest import hercules
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import HERCULES, GuestConfig, Artifacts
from zvmlab.guest.emulator import Emulator
from zvmlab.guest.guest import Guest

PAIRS = 3
LIMIT = 600.0


@dataclass(frozen=True)
class Spent:
    """Time from the start of the emulator's process on."""

    elapsed: float
    cpu: float
    """CPU time of all its threads."""


def _benchmarks() -> Pairs:
    return Pairs(
        Benchmark("stock", "hercules: Debian's to /init", "s"),
        Benchmark("stock-cpu", "hercules: Debian's to /init, CPU time", "s"),
        Benchmark("cold", "hercules: zvmlab, cold, to /init", "s"),
        Benchmark("cold-cpu", "hercules: zvmlab, cold, to /init, CPU time", "s"),
        Benchmark("restored", "hercules: zvmlab, restored, to first data set", "s"),
        Benchmark("restored-cpu", "hercules: zvmlab, restored, to first data set, CPU time", "s"),
        Benchmark("restored-ratio", "hercules: restored ÷ Debian's", "ratio", Budget(0.05, True)),
        Benchmark("restored-cpu-ratio", "hercules: restored ÷ Debian's, CPU time", "ratio"),
        Benchmark("cold-ratio", "hercules: cold ÷ Debian's", "ratio"),
        Benchmark(
            "cold-cpu-ratio", "hercules: cold ÷ Debian's, CPU time", "ratio", Budget(1.05, True)
        ),
    )


def _spent(emulator: Emulator, begun: float) -> Spent:
    return Spent(time.monotonic() - begun, emulator_seconds(emulator))


def _cold(config: GuestConfig, artifacts: Artifacts) -> Spent:
    with Guest(config._replace(cold=True), artifacts=artifacts) as guest:
        guest.configure()
        begun = time.monotonic()
        guest.resume()
        await_init(guest.channels.console_log, guest.check, LIMIT)
        return _spent(guest.emulator, begun)


def _restored(config: GuestConfig, artifacts: Artifacts) -> Spent:
    with Guest(config, artifacts=artifacts) as guest:
        guest.configure()
        begun = time.monotonic()
        if not guest.restore():
            raise ZvmlabError("the guest has no checkpoint to be restored from")
        guest.boot()
        read_first_set(guest)
        return _spent(guest.emulator, begun)


def _stock(config: GuestConfig, artifacts: Artifacts) -> Spent:
    with tempfile.TemporaryDirectory(prefix="zvmlab-bench-") as name:
        folder = Path(name)
        argv = hercules.prepare_stock(config, artifacts, folder)
        begun = time.monotonic()
        emulator = Emulator(argv, folder / "emulator.log", kept=False, folder=folder)
        try:
            await_init(emulator.log, emulator.check, LIMIT)
            return _spent(emulator, begun)
        finally:
            emulator.stop()


def measure(small: GuestConfig, pairs: int, progress: Progress) -> list[Benchmark]:
    """The checkpoint is made beforehand; that is the boot that is thrown away."""
    config = small._replace(backend=HERCULES)
    artifacts = prepare(config, progress)
    _restored(config, artifacts)

    def pair(swapped: bool) -> dict[str, float]:
        cold, stock = both(
            swapped, lambda: _cold(config, artifacts), lambda: _stock(config, artifacts)
        )
        restored = _restored(config, artifacts)
        return {
            "stock": stock.elapsed,
            "stock-cpu": stock.cpu,
            "cold": cold.elapsed,
            "cold-cpu": cold.cpu,
            "restored": restored.elapsed,
            "restored-cpu": restored.cpu,
            "restored-ratio": restored.elapsed / stock.elapsed,
            "restored-cpu-ratio": restored.cpu / stock.cpu,
            "cold-ratio": cold.elapsed / stock.elapsed,
            "cold-cpu-ratio": cold.cpu / stock.cpu,
        }

    return _benchmarks().repeat(min(pairs, PAIRS), pair)
