# SPDX-License-Identifier: MIT
"""The value of each change that makes our QEMU faster: builds without it, side by side.

Each build does the same work in turn: the phases of qemu_speed.py, and a guest that reads sets.
Time is CPU time of the emulator's process, and each value is the best of several passes: what
else the machine does only ever adds to it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from benchmark import Benchmark, Budget, Pairs
from driver import SMALL_SET, read_sets
from pairs import emulator_seconds
from qemu_speed import PHASES, measured_phases, with_program
from zvmlab.base.progress import Progress
from zvmlab.builder.qemubuild import WITHOUT, build_qemu
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import Artifacts, GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.monitor.monitor import DataSets

# The files of sim/qemu/changes/speed; a name that is none of them is refused by the build.
CHANGES = ("lowcore", "slots", "lowprot", "bear", "translator")
# "bear" leaves little for it to do: what it is worth shows where "bear" is left out, too.
HIDDEN_BY_BEAR = "lowcore"
PASSES = 2
_SETS = "set"
_WHAT = {**PHASES, _SETS: ("a set of 84 bytes", "µs")}
_FASTER = Budget(2.5, at_most=False)

Build = tuple[str, ...]
"""What is left out."""
# Each build, and the build that it is compared with.
COMPARED: dict[Build, Build] = {
    CHANGES: (),
    **{(name,): () for name in CHANGES},
    (HIDDEN_BY_BEAR, "bear"): ("bear",),
}


def _name(build: Build) -> str:
    return "any" if build == CHANGES else " and ".join(build)


def _made(build: Build, progress: Progress) -> Path:
    """QEMU without these changes."""
    before = os.environ.get(WITHOUT)
    os.environ[WITHOUT] = " ".join(build)
    try:
        return build_qemu(progress)
    finally:
        if before is None:
            del os.environ[WITHOUT]
        else:
            os.environ[WITHOUT] = before


class _Side:
    """One build: a machine without a CP, whose program has phases, and a guest that reads sets."""

    def __init__(self, config: GuestConfig, artifacts: Artifacts, guest: Guest) -> None:
        self._machine = (config, artifacts)
        self._guest = guest
        guest.boot()
        guest.agent.insmod("monreader").check()
        self.reader = DataSets(guest.agent)

    def once(self) -> dict[str, float]:
        """CPU time of each phase, and of a set of 84 bytes, in µs."""
        values = measured_phases(*self._machine)
        begun = emulator_seconds(self._guest.emulator)
        read_sets(self._guest, self.reader, *SMALL_SET)
        ended = emulator_seconds(self._guest.emulator)
        return {**values, _SETS: (ended - begun) / SMALL_SET[1] * 1e6}


@contextlib.contextmanager
def _sides(config: GuestConfig, progress: Progress) -> Iterator[dict[Build, _Side]]:
    programs = with_program(config)
    artifacts, phases = prepare(config, progress), prepare(programs, progress)
    with contextlib.ExitStack() as rest:
        sides = {}
        for build in [(), *COMPARED]:
            emulator = _made(build, progress)
            guest = rest.enter_context(
                Guest(config, artifacts=artifacts._replace(emulator=emulator))
            )
            sides[build] = _Side(programs, phases._replace(emulator=emulator), guest)
            rest.enter_context(sides[build].reader)
        yield sides


def _benchmarks() -> Pairs:
    made = [Benchmark(key, f"all changes: {text}", unit) for key, (text, unit) in _WHAT.items()]
    for build, other in COMPARED.items():
        than = "with all" if other == () else f"without {_name(other)}"
        for key, (text, _) in _WHAT.items():
            budget = _FASTER if (build, key) == (CHANGES, _SETS) else None
            what = f"without {_name(build)} ÷ {than}: {text}"
            made.append(Benchmark(f"{key}-{'-'.join(build)}", what, "ratio", budget))
    return Pairs(*made)


def _best(sides: dict[Build, _Side], swapped: bool) -> dict[Build, dict[str, float]]:
    found: dict[Build, dict[str, float]] = {build: {} for build in sides}
    for _ in range(PASSES):
        for build in sorted(sides, reverse=swapped):
            for key, value in sides[build].once().items():
                found[build][key] = min(value, found[build].get(key, value))
    return found


def measure(config: GuestConfig, pairs: int, progress: Progress) -> list[Benchmark]:
    """Missing builds are made first; one pass is thrown away, for the code to be translated."""
    with _sides(config, progress) as sides:

        def pair(swapped: bool) -> dict[str, float]:
            best = _best(sides, swapped)
            values = dict(best[()])
            for build, other in COMPARED.items():
                for key, value in best[build].items():
                    values[f"{key}-{'-'.join(build)}"] = value / best[other][key]
            return values

        for side in sides.values():
            side.once()
        return _benchmarks().repeat(pairs, pair)
