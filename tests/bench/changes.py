# SPDX-License-Identifier: MIT
"""What each of the changes that make our QEMU faster is worth: builds without it, side by side.

A guest in each build does the same work in turn.  Time is CPU time of the emulator's process, and
each value is the best of several passes: what else the machine does only ever adds to it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmark import Benchmark, Budget, Pairs
from driver import SMALL_SET, read_sets
from pairs import emulator_seconds
from zvmlab.base.progress import Progress
from zvmlab.build.qemubuild import WITHOUT, build_qemu
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.monitor.monitor import DataSets

# As sim/qemu/speed.py calls them; a name that it does not know is refused by the build.
CHANGES = ("lowcore", "sizes", "slots", "lowprot", "bear")
ALL = "any"
CALLS = 20_000
PASSES = 3


def _build(without: Sequence[str], progress: Progress) -> Path:
    """QEMU without these changes."""
    before = os.environ.get(WITHOUT)
    os.environ[WITHOUT] = " ".join(without)
    try:
        return build_qemu(progress)
    finally:
        if before is None:
            del os.environ[WITHOUT]
        else:
            os.environ[WITHOUT] = before


class _Side:
    """A guest in one build, with the driver open."""

    def __init__(self, guest: Guest, reader: DataSets) -> None:
        self._guest = guest
        self._reader = reader
        self._zero = guest.agent.open("/dev/zero").check()

    def once(self) -> tuple[float, float]:
        """CPU time of a system call, and of a set of 84 bytes."""
        begun = emulator_seconds(self._guest.emulator)
        self._guest.agent.drain(self._zero, 1, reads=CALLS)
        called = emulator_seconds(self._guest.emulator)
        read_sets(self._guest, self._reader, *SMALL_SET)
        ended = emulator_seconds(self._guest.emulator)
        return (called - begun) / CALLS, (ended - called) / SMALL_SET[1]


@contextlib.contextmanager
def _sides(config: GuestConfig, progress: Progress) -> Iterator[dict[str, _Side]]:
    artifacts = prepare(config, progress)
    builds = {"": artifacts.emulator, ALL: _build(CHANGES, progress)}
    builds |= {name: _build([name], progress) for name in CHANGES}
    with contextlib.ExitStack() as rest:
        sides = {}
        for name, emulator in builds.items():
            guest = Guest(config, artifacts=replace(artifacts, emulator=emulator))
            rest.enter_context(guest)
            guest.boot()
            guest.agent.insmod("monreader").check()
            sides[name] = _Side(guest, rest.enter_context(DataSets(guest.agent)))
        yield sides


def _benchmarks() -> Pairs:
    made = [
        Benchmark("call", "a system call", "µs"),
        Benchmark("sets", "monreader, 84-byte sets", "sets/s"),
    ]
    for name in (ALL, *CHANGES):
        more = Budget(2.5, at_most=False) if name == ALL else None
        made.append(Benchmark(f"call-{name}", f"a system call without {name} ÷ with", "ratio"))
        what = f"84-byte sets/s ÷ those without {name}"
        made.append(Benchmark(f"sets-{name}", what, "ratio", more))
    return Pairs(*made)


def _best(sides: dict[str, _Side], swapped: bool) -> dict[str, tuple[float, float]]:
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    for _ in range(PASSES):
        for name in sorted(sides, reverse=swapped):
            found[name].append(sides[name].once())
    return {
        name: (min(call for call, _ in passes), min(one for _, one in passes))
        for name, passes in found.items()
    }


def measure(config: GuestConfig, pairs: int, progress: Progress) -> list[Benchmark]:
    """Missing builds are made first; one pair is thrown away, for the code to be translated."""
    with _sides(config, progress) as sides:

        def pair(swapped: bool) -> dict[str, float]:
            best = _best(sides, swapped)
            call, one = best.pop("")
            values = {"call": call * 1e6, "sets": 1 / one}
            for name, (other_call, other) in best.items():
                values |= {f"call-{name}": other_call / call, f"sets-{name}": other / one}
            return values

        pair(False)
        return _benchmarks().repeat(pairs, pair)
