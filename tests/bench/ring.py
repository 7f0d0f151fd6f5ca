# SPDX-License-Identifier: MIT
"""64 members of one system in a ring: how long they take to start, a token's way, memory.

Each has a program that sends on what the one before it sends.  The token goes round a hundred times,
and then again in new connections: what all processes have more by then has grown.
"""

from __future__ import annotations

import time
from pathlib import Path

from benchmark import Benchmark, Budget, Pairs
from guest_program import guest_program, number
from start import shared
from systems import PROGRAM
from zvmlab.base.progress import Progress
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.system import System, program

MEMBERS = 64
ROUNDS = 100
# Starting and ending so many takes a minute where nothing else runs.
MOST_PAIRS = 3
_LIMIT = 600.0
_NS = 1e9
_MIB = 1 << 20


def _benchmarks() -> Pairs:
    return Pairs(
        Benchmark(
            "start", f"ring: {MEMBERS} members to their first replies", "s", Budget(20, True)
        ),
        Benchmark("memory", "the same: memory of all processes", "MiB", Budget(5120, True)),
        Benchmark("trip", f"a token that {MEMBERS} members send on, once round", "ms"),
        Benchmark("growth", "CP's process after as many rounds once more", "MiB", Budget(1, True)),
        Benchmark("descriptors", "the same: descriptors", "", Budget(0, True)),
    )


def _round(system: System) -> float:
    """Milliseconds of one."""
    names = list(system.guests)
    # The last one first: each finds the one that it connects to.
    passing = [
        system.guests[userid].agent.spawn([PROGRAM, "pass", following])
        for userid, following in reversed([*zip(names[1:], names[2:] + names[:1])])
    ]
    spent = number(system.guests[names[0]], PROGRAM, "ring", names[1], str(ROUNDS))
    for one in passing:
        one.wait(_LIMIT).check()
    return spent / _NS / ROUNDS * 1000


def _memory(system: System) -> float:
    guests = system.guests.values()
    pids = [system.process.pid, *(guest.emulator.pid for guest in guests)]
    return sum(map(shared, pids)) / _MIB


def _descriptors(system: System) -> int:
    return len(list(Path(f"/proc/{system.process.pid}/fd").iterdir()))


def measure(config: GuestConfig, pairs: int, progress: Progress) -> list[Benchmark]:
    """The checkpoint is made beforehand."""
    config = config._replace(files={PROGRAM: guest_program("iucv_pace")})
    artifacts = prepare(config, progress)
    program(progress)
    with System() as system:
        system.guest("FIRST", config, artifacts).boot()

    def once(_swapped: bool) -> dict[str, float]:
        with System() as system:
            begun = time.monotonic()
            for member in range(MEMBERS):
                system.guest(f"MEMBER{member:02}", config, artifacts)
            system.boot()
            started = time.monotonic() - begun
            trip = _round(system)
            before = shared(system.process.pid), _descriptors(system)
            memory = _memory(system)
            _round(system)
            after = shared(system.process.pid), _descriptors(system)
            for guest in system.guests.values():
                guest.kill()
        return {
            "start": started,
            "memory": memory,
            "trip": trip,
            "growth": (after[0] - before[0]) / _MIB,
            "descriptors": after[1] - before[1],
        }

    return _benchmarks().repeat(min(pairs, MOST_PAIRS), once)
