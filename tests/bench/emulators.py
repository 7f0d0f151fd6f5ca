# SPDX-License-Identifier: MIT
"""The two emulators beside each other: boot, a system call, sets, bytes, memory.

Both guests are there all the time and work in turn; the one that waits costs nothing.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from driver import BULK, SEGMENT, SMALL_SET, sets_a_second, zero_reads_a_second
from figures import Figure, Pairs, both
from zvmlab.guest import Guest
from zvmlab.guest_config import BACKENDS, HERCULES, QEMU, GuestConfig
from zvmlab.monitor import DataSets
from zvmlab.products import prepare
from zvmlab.progress import Progress

# A cold boot in Hercules takes most of a minute.
BOOTS = 3
CALLS = 20_000
_MB = 1e6


@dataclass(frozen=True)
class _Side:
    """A booted guest with the driver open."""

    guest: Guest
    reader: DataSets
    zero: int


def _resident(guest: Guest) -> float:
    """MB of memory that the emulator's process uses."""
    for line in Path(f"/proc/{guest.emulator.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024 / _MB
    raise AssertionError("proc(5): a process that runs has VmRSS")


def _boot(config: GuestConfig, progress: Progress) -> float:
    """Seconds from the emulator's start until the agent answers."""
    config = replace(config, cold=True)
    with Guest(config, products=prepare(config, progress)) as guest:
        guest.configure()
        begun = time.monotonic()
        guest.boot()
        return time.monotonic() - begun


@contextlib.contextmanager
def _side(config: GuestConfig, progress: Progress) -> Iterator[_Side]:
    with Guest(config, products=prepare(config, progress)) as guest:
        guest.boot()
        guest.agent.insmod("monreader").check()
        with DataSets(guest.agent) as reader:
            yield _Side(guest, reader, guest.agent.open("/dev/zero").check())
        guest.shut_down()


def _work(side: _Side) -> dict[str, float]:
    call = 1e6 / zero_reads_a_second(side.guest, side.zero, 1, CALLS)
    sets = sets_a_second(side.guest, side.reader, *SMALL_SET)
    bulk = sets_a_second(side.guest, side.reader, *BULK) * BULK[0] / _MB
    return {"call": call, "sets": sets, "bulk": bulk, "memory": _resident(side.guest)}


_UNITS = {
    "call": ("a system call: read() of one byte of /dev/zero", "µs"),
    "sets": ("monreader, 84-byte sets", "sets/s"),
    "bulk": ("monreader, 4 MiB sets, 4 MiB reads", "MB/s"),
    "memory": ("memory of the process, 128 MiB guest at work", "MB"),
}


def _figures(units: dict[str, tuple[str, str]]) -> Pairs:
    figures = []
    for key, (what, unit) in units.items():
        figures += [Figure(f"{key}-{name}", f"{name}: {what}", unit) for name in BACKENDS]
        figures.append(Figure(f"{key}-ratio", f"{HERCULES} ÷ {QEMU}: {what}", "ratio"))
    return Pairs(*figures)


def _paired(first: dict[str, float], second: dict[str, float]) -> dict[str, float]:
    """Values of qemu and of hercules, as the figures are called."""
    values: dict[str, float] = {}
    for key in first:
        values |= {f"{key}-{QEMU}": first[key], f"{key}-{HERCULES}": second[key]}
        values[f"{key}-ratio"] = second[key] / first[key]
    return values


def measure(config: GuestConfig, pairs: int, progress: Progress) -> list[Figure]:
    """BOOTS boots of each, then as many pairs of work as asked for; one is thrown away."""
    first, second = (replace(config, backend=name) for name in (QEMU, HERCULES))

    def boots(swapped: bool) -> dict[str, float]:
        seconds = both(swapped, lambda: _boot(first, progress), lambda: _boot(second, progress))
        return _paired(*({"boot": value} for value in seconds))

    figures = _figures({"boot": ("boot until the agent answers", "s")}).repeat(BOOTS, boots)
    first, second = (replace(one, segments=(SEGMENT,)) for one in (first, second))
    with _side(first, progress) as qemu, _side(second, progress) as hercules:

        def work(swapped: bool) -> dict[str, float]:
            return _paired(*both(swapped, lambda: _work(qemu), lambda: _work(hercules)))

        work(False)
        return figures + _figures(_UNITS).repeat(pairs, work)
