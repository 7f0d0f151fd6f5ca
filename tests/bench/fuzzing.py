# SPDX-License-Identifier: MIT
"""What a case of the kernel fuzzer costs, against a scenario in a guest of its own.

Time is CPU time of emulator and harness.  A case is ten calls of a program and a data set of CP's,
with putting the guest back; it is judged, too, if the fuzzer runs it.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmark import Benchmark, Budget, Pairs, both
from pairs import emulator_seconds
from scenario_rate import new_scenario
from zvmlab.base.errors import ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.fuzz.case import Case
from zvmlab.fuzz.grammar import find
from zvmlab.fuzz.runner import Runner
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import Artifacts, GuestConfig
from zvmlab.guest.cover import EDGES, NEW
from zvmlab.guest.guest import Guest
from zvmlab.guest.kasan import watch_accesses
from zvmlab.scenarios.player import Player

TARGET = "monreader"
TIMES = 50
READS = 8
SETS = 5
COVERS = (
    ("cover-new", NEW, "modules", 1.02),
    ("cover-edges", EDGES, "modules", 1.05),
    ("cover-kernel", EDGES, "kernel", 1.25),
)
"""Modes of cover, of which code, and what they may cost."""
COVERED_SETS, COVER_TURNS = 40, 15
TURNS = 50
"""Other work on the machine changes the CPU time of a set from one second to the next: so few sets with
KASAN and as few without take turns so often for a value."""


def _call(name: str, *args: Any, **more: Any) -> dict[str, Any]:
    return {"do": "call", "call": name, "args": list(args), **more}


def _steps() -> list[dict[str, Any]]:
    """Open, a data set, eight reads that take it, close."""
    opens = _call("openat", -100, {"text": "/dev/monreader"}, 0x800, 0, **{"as": "f1"})
    element = {"domains": 0x8000, "fill": {"seed": 1, "length": 300}}
    arguments = {"kind": "sample", "elements": [element]}
    delivery = {"do": "request", "execute": "monitor-deliver", "arguments": arguments}
    reads = [_call("read", "f1", {"out": 4096}, 4096) for _ in range(READS)]
    return [opens, delivery, *reads, _call("close", "f1")]


def _spent(guest: Callable[[], Guest], work: Callable[[], None]) -> float:
    """CPU seconds of one of TIMES times."""
    before = emulator_seconds(guest().emulator) + time.process_time()
    for _ in range(TIMES):
        work()
    return (emulator_seconds(guest().emulator) + time.process_time() - before) / TIMES


def _accesses(runner: Runner, pairs: int) -> list[Benchmark]:
    """What it costs to hold CP's accesses against KASAN's shadow; nothing of a kernel without it."""
    guest = runner.guest
    if not watch_accesses(guest.control, guest.artifacts.kernel):
        return []
    opens, delivery, *reads, _ = _steps()
    guest.put_back()
    player = Player(guest)
    player.play([opens])
    player.wait()

    def sets(watched: bool) -> float:
        """CPU seconds of the emulator for some data sets.

        Both have the same requests before them: each makes what follows it slower for a moment.
        """
        if watched:
            guest.control.execute("kasan-watch")
        watch_accesses(guest.control, guest.artifacts.kernel)
        if not watched:
            guest.control.execute("kasan-watch")
        before = emulator_seconds(guest.emulator)
        played = player.play([delivery, *reads[:3]] * SETS)
        player.wait()
        spent = emulator_seconds(guest.emulator) - before
        if [one.ret for one in played[-3:]] != [12, 300, 0]:
            raise ZvmlabError(f"the last set was not read: {played[-3:]}")
        return spent

    def turn(swapped: bool) -> float:
        watched, free = both(swapped, lambda: sets(True), lambda: sets(False))
        return watched / free

    def pair(_swapped: bool) -> dict[str, float]:
        return {"kasan": statistics.median(turn(number % 2 == 1) for number in range(TURNS))}

    pair(False)
    what = f"CPU time: {SETS} sets with KASAN for CP ÷ without"
    return Pairs(Benchmark("kasan", what, "ratio", Budget(1.05, True))).repeat(pairs, pair)


def _covers(config: GuestConfig, artifacts: Artifacts, folder: Path, pairs: int) -> list[Benchmark]:
    """What it costs to see which code is executed; modules are what the guest has loaded."""
    opens, delivery, *reads, _ = _steps()
    found = Pairs(
        *(
            Benchmark(name, f"CPU time: sets with {mode} of {code} covered ÷ without", "ratio",
                      Budget(most, True))
            for name, mode, code, most in COVERS
        )
    )  # fmt: skip
    with Guest(config, folder / "covered", artifacts) as guest:
        guest.boot()
        guest.agent.modprobe("monreader").check()
        player = Player(guest)
        player.play([opens])
        player.wait()

        def sets() -> float:
            """CPU seconds of the emulator, after as many that have it translate the guest's code again."""
            for _ in range(2):
                before = emulator_seconds(guest.emulator)
                played = player.play([delivery, *reads[:3]] * COVERED_SETS)
                player.wait()
                if [one.ret for one in played[-3:]] != [12, 300, 0]:
                    raise ZvmlabError(f"the last set was not read: {played[-3:]}")
            return emulator_seconds(guest.emulator) - before

        def covered(mode: str, code: str) -> float:
            with guest.cover(code, mode=mode):
                return sets()

        def turn(mode: str, code: str, swapped: bool) -> float:
            seen, free = both(swapped, lambda: covered(mode, code), sets)
            return seen / free

        def pair(_swapped: bool) -> dict[str, float]:
            return {
                name: statistics.median(turn(mode, code, n % 2 == 1) for n in range(COVER_TURNS))
                for name, mode, code, _ in COVERS
            }

        return found.repeat(pairs, pair)


def measure(config: GuestConfig, pairs: int, progress: Progress) -> list[Benchmark]:
    """One pair is thrown away, for the emulator to have translated the guest's code."""
    artifacts = prepare(config, progress)
    target = find(TARGET)
    case = Case(TARGET, tuple(_steps()), tuple(target.mark))
    figures = Pairs(
        Benchmark("case", "CPU time: a case of ten calls ÷ read-one-set in a new process", "ratio",
                  Budget(0.05, True)),
        Benchmark("judged", "the same, judged as the fuzzer does", "ratio"),
        Benchmark("cases", "cases that are judged", "1/s and core"),
    )  # fmt: skip
    with (
        tempfile.TemporaryDirectory(prefix="zvmlab-bench-") as folder,
        Runner(target, config.kernel, Path(folder) / "guests") as runner,
    ):
        stacks: dict[str, int] = {}

        def bare() -> None:
            runner.guest.put_back()
            player = Player(runner.guest, stacks=stacks)
            player.play(case.steps)
            player.end()
            if player.played[2].ret != 12 or player.played[3].ret != 300:
                raise ZvmlabError(f"the case read no set: {player.played[2:4]}")

        def judged() -> None:
            if found := runner.run(case).findings:
                raise ZvmlabError(f"the case shows {found[0].key}")

        def guest() -> Guest:
            return runner.guest

        judged()

        def pair(swapped: bool) -> dict[str, float]:
            new = new_scenario(config, artifacts, Path(folder))
            first, second = both(
                swapped, lambda: _spent(guest, bare), lambda: _spent(guest, judged)
            )
            return {"case": first / new, "judged": second / new, "cases": 1 / second}

        pair(False)
        found = [*figures.repeat(pairs, pair), *_accesses(runner, pairs)]
    with tempfile.TemporaryDirectory(prefix="zvmlab-bench-") as folder:
        return [*found, *_covers(config, artifacts, Path(folder), pairs)]
