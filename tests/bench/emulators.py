# SPDX-License-Identifier: MIT
"""The two emulators beside each other: start, a system call, sets, bytes, memory.

Time is CPU time of the emulator's process, so that what else the machine does matters
little; how long a start takes is given as well.  The guests work in turn.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from driver import SMALL_SET, read_sets
from benchmark import Benchmark, Pairs, both
from zvmlab.base.progress import Progress
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import BACKENDS, HERCULES, QEMU, GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import MCE_SIZE
from zvmlab.monitor.monitor import DataSets

CALLS = 20_000
# As many as are outstanding fit into the usual segment.
BUFFER = 128 * 1024
BULK = (BUFFER + MCE_SIZE, 2000, BUFFER)
_MB = 1e6
_START = {
    "start": ("start until the agent answers", "s"),
    "start-cpu": ("the same, CPU time", "s"),
}
_WORK = {
    "call": ("a system call: read() of one byte of /dev/zero", "µs"),
    "sets": ("monreader, 84-byte sets", "sets/s"),
    "bulk": ("monreader, 128 KiB sets, 128 KiB reads", "MB/s"),
    "memory": ("memory of the process, guest of 128 MiB at work", "MB"),
}


@dataclass(frozen=True)
class _Side:
    """A booted guest with the driver open."""

    guest: Guest
    reader: DataSets
    zero: int


def cpu_seconds(guest: Guest) -> float:
    """CPU time of the emulator, of threads that have ended, too: clock_getcpuclockid(3)."""
    return time.clock_gettime(~guest.emulator.pid << 3 | 2)


def _resident(guest: Guest) -> float:
    """MB of memory that the emulator's process uses."""
    for line in Path(f"/proc/{guest.emulator.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024 / _MB
    raise AssertionError("proc(5): a process that runs has VmRSS")


def _start(config: GuestConfig, progress: Progress) -> dict[str, float]:
    """Start a guest from a checkpoint, as every guest starts that is not cold."""
    with Guest(config, artifacts=prepare(config, progress)) as guest:
        guest.configure()
        begun = time.monotonic()
        guest.boot()
        return {"start": time.monotonic() - begun, "start-cpu": cpu_seconds(guest)}


@contextlib.contextmanager
def _side(config: GuestConfig, progress: Progress) -> Iterator[_Side]:
    with Guest(config, artifacts=prepare(config, progress)) as guest:
        guest.boot()
        guest.agent.insmod("monreader").check()
        with DataSets(guest.agent) as reader:
            yield _Side(guest, reader, guest.agent.open("/dev/zero").check())
        guest.shut_down()


def _work(side: _Side) -> dict[str, float]:
    guest = side.guest

    def seconds(work: Callable[[], object]) -> float:
        before = cpu_seconds(guest)
        work()
        return cpu_seconds(guest) - before

    calls = seconds(lambda: guest.agent.drain(side.zero, 1, reads=CALLS))
    small = seconds(lambda: read_sets(guest, side.reader, *SMALL_SET))
    bulk = seconds(lambda: read_sets(guest, side.reader, *BULK))
    return {
        "call": calls / CALLS * 1e6,
        "sets": SMALL_SET[1] / small,
        "bulk": BULK[0] * BULK[1] / bulk / _MB,
        "memory": _resident(guest),
    }


def _benchmarks(what: dict[str, tuple[str, str]]) -> Pairs:
    benchmarks = []
    for key, (text, unit) in what.items():
        benchmarks += [Benchmark(f"{key}-{name}", f"{name}: {text}", unit) for name in BACKENDS]
        benchmarks.append(Benchmark(f"{key}-ratio", f"{HERCULES} ÷ {QEMU}: {text}", "ratio"))
    return Pairs(*benchmarks)


def _paired(first: dict[str, float], second: dict[str, float]) -> dict[str, float]:
    """Values of qemu and of hercules, as the benchmarks are called."""
    values: dict[str, float] = {}
    for key in first:
        values |= {f"{key}-{QEMU}": first[key], f"{key}-{HERCULES}": second[key]}
        values[f"{key}-ratio"] = second[key] / first[key]
    return values


def measure(config: GuestConfig, pairs: int, progress: Progress) -> list[Benchmark]:
    """Pairs of starts, then of work; the first of each is thrown away: it makes the checkpoint."""
    first, second = (config._replace(backend=name) for name in (QEMU, HERCULES))

    def starts(swapped: bool) -> dict[str, float]:
        return _paired(
            *both(swapped, lambda: _start(first, progress), lambda: _start(second, progress))
        )

    starts(False)
    benchmarks = _benchmarks(_START).repeat(pairs, starts)
    with _side(first, progress) as qemu, _side(second, progress) as hercules:

        def work(swapped: bool) -> dict[str, float]:
            return _paired(*both(swapped, lambda: _work(qemu), lambda: _work(hercules)))

        work(False)
        return benchmarks + _benchmarks(_WORK).repeat(pairs, work)
