# SPDX-License-Identifier: MIT
"""Our build of QEMU beside Debian's: boot, system calls, processes, by CPU time.

Both run the same machine without a CP, and the same first process, which works in phases.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from benchmark import Benchmark, Budget, Pairs, both
from boot import LIMIT, STOCK, stock_arguments
from guest_program import guest_program
from pairs import emulator_seconds
from zvmlab.base.errors import CannotRun, Timeout, ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import Artifacts, GuestConfig
from zvmlab.guest.emulator import Emulator

# As guest/calls.c has them.
CALLS, PROCESSES = 200_000, 100
PROGRAM = "/bench"
_SETTLES = 0.1  # s; the program rests for 0.2 s between phases
_POLL = 0.002
PHASES = {
    "boot": ("boot to the first process", "s"),
    "call": ("a system call", "µs"),
    "process": ("fork, exec, exit and wait", "ms"),
}
_BUDGETS = {"call": Budget(0.30, at_most=True)}


def _benchmarks() -> Pairs:
    benchmarks = []
    for key, (text, unit) in PHASES.items():
        benchmarks.append(Benchmark(f"{key}-ours", f"qemu: {text}", unit))
        benchmarks.append(Benchmark(f"{key}-stock", f"Debian's QEMU: {text}", unit))
        what = f"qemu ÷ Debian's: {text}"
        benchmarks.append(Benchmark(f"{key}-ratio", what, "ratio", _BUDGETS.get(key)))
    return Pairs(*benchmarks)


def _await(line: str, console: Path, emulator: Emulator) -> float:
    """CPU seconds of the emulator when the program has said *line* and rests."""
    limit = time.monotonic() + LIMIT
    while f"bench: {line}\n" not in (said := _text(console)):
        emulator.check()
        if "bench: failed" in said:
            raise ZvmlabError(f"a system call of the guest's failed before '{line}'")
        if time.monotonic() > limit:
            raise Timeout(f"the guest did not say '{line}' within {LIMIT:g} s")
        time.sleep(_POLL)
    time.sleep(_SETTLES)
    return emulator_seconds(emulator)


def _text(console: Path) -> str:
    return console.read_text(errors="replace").replace("\r", "") if console.exists() else ""


def _phases(argv: list[str], console: Path) -> dict[str, float]:
    emulator = Emulator(argv, console.with_name("emulator.log"), kept=False)
    try:
        begins, calls, ends = (
            _await(line, console, emulator) for line in ("begins", "calls", "processes")
        )
    finally:
        emulator.stop()
    return {
        "boot": begins,
        "call": (calls - begins) / CALLS * 1e6,
        "process": (ends - calls) / PROCESSES * 1e3,
    }


def with_program(config: GuestConfig) -> GuestConfig:
    """The guest with the program in its image."""
    return config._replace(files={PROGRAM: str(guest_program("calls"))})


def measured_phases(config: GuestConfig, artifacts: Artifacts) -> dict[str, float]:
    """CPU time of the emulator in each of PHASES, in a machine without a CP."""
    with tempfile.TemporaryDirectory(prefix="zvmlab-bench-") as folder:
        console = Path(folder) / "console.log"
        _, *words = stock_arguments(config, artifacts, console)
        at = words.index("-append") + 1
        words[at] = words[at].replace("rdinit=/init", f"rdinit={PROGRAM}")
        return _phases([str(artifacts.emulator), *words], console)


def measure(config: GuestConfig, pairs: int, progress: Progress) -> list[Benchmark]:
    """One pair is thrown away, for the files to be in memory."""
    if not os.access(STOCK, os.X_OK):
        raise CannotRun(f"{STOCK} is missing; install the Debian package qemu-system-misc")
    config = with_program(config)
    artifacts = prepare(config, progress)

    def pair(swapped: bool) -> dict[str, float]:
        ours, stock = both(
            swapped,
            lambda: measured_phases(config, artifacts),
            lambda: measured_phases(config, artifacts._replace(emulator=STOCK)),
        )
        values: dict[str, float] = {}
        for key in PHASES:
            values |= {f"{key}-ours": ours[key], f"{key}-stock": stock[key]}
            values[f"{key}-ratio"] = ours[key] / stock[key]
        return values

    pair(False)
    return _benchmarks().repeat(pairs, pair)
