# SPDX-License-Identifier: MIT
"""Our driver beside upstream's in one guest, in turn, and a device with plain storage.

Time is CPU time of the emulator's process: the guest's only CPU is never idle here,
and what else the machine does matters least that way.  It still matters, for
processors share caches and units with others, and a machine that is itself a
guest sees nothing of that.  As it only ever adds time, every value is the best
of several passes, and those of all that is compared take turns.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from driver import LARGE, MIB, OUTSTANDING, SEGMENT, USER_DOMAIN
from benchmark import Benchmark, Budget, Pairs, both
from zvmlab.agent.agent import Worker
from zvmlab.agent.results import DrainResult
from zvmlab.base.errors import ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.builder.modulebuild import built_module, driver_module
from zvmlab.builder.kernels import resolve
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.emulator import Emulator
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import MCE_SIZE
from zvmlab.monitor.monitor import DataSets
from zvmlab.monitor.steps import thread_of

OURS = "/lib/zvmlab/monreader.ko"
RAMCHAR = "/lib/zvmlab/ramchar.ko"
PART = 84
BUFFER = 64 * 1024
PASSES = 10
SETS = {1: 3000, 10: 1500}
# What fits into the sample area of the segment at least twice, and what nearly fills it.
BULK = {4: 75, 28: 12}
# Through so much of the segment go the sets of such a size, one after another: as many as fit.
AREA = {4: 60, 28: 56}
# Buffer size: bytes of records of a set, sets.
SIZES = {
    12: (4 * 1024, 8),
    100: (16 * 1024, 16),
    1000: (64 * 1024, 40),
    4096: (256 * 1024, 60),
    65536: (MIB, 120),
    MIB: (4 * MIB, 60),
    4 * MIB: (4 * MIB, 60),
}
NOT_SLOWER = Budget(1.0, at_most=False)


@dataclass(frozen=True)
class Pass:
    """The results of one driver."""

    sets: dict[int, float]
    """Sets a second, by control elements of a set."""
    cpu: dict[int, float]
    """Microseconds of the reading thread's CPU time for each of those sets."""
    bulk: dict[int, float]
    """MB a second with 4 MiB reads, by MiB of a set."""
    sizes: dict[int, float]
    """MB a second, by buffer size."""


def _benchmarks() -> Pairs:
    benchmarks = []
    for count in SETS:
        what = f"{count} control element{'s' if count > 1 else ''} of {PART} bytes"
        benchmarks += [
            Benchmark(f"upstream-{count}", f"upstream: sets, {what}", "sets/s"),
            Benchmark(f"zvmlab-{count}", f"zvmlab: sets, {what}", "sets/s"),
            Benchmark(
                f"ratio-{count}", f"zvmlab ÷ upstream: {what}", "ratio", Budget(1.2, at_most=False)
            ),
            Benchmark(f"cpu-upstream-{count}", f"upstream: CPU time of a set, {what}", "µs"),
            Benchmark(f"cpu-zvmlab-{count}", f"zvmlab: CPU time of a set, {what}", "µs"),
            Benchmark(f"cpu-{count}", "zvmlab ÷ upstream: CPU time", "ratio", Budget(1.0, True)),
        ]
    for mib in BULK:
        what = f"{mib} MiB sets, 4 MiB reads"
        benchmarks += [
            Benchmark(f"bulk-upstream-{mib}", f"upstream: {what}", "MB/s"),
            Benchmark(f"bulk-zvmlab-{mib}", f"zvmlab: {what}", "MB/s"),
            Benchmark(
                f"bulk-ramchar-{mib}",
                f"{mib} MiB storage as a character device, 4 MiB reads",
                "MB/s",
            ),
            Benchmark(
                f"area-ramchar-{mib}",
                f"{AREA[mib]} MiB storage as a character device, 4 MiB reads",
                "MB/s",
            ),
            Benchmark(f"bulk-{mib}", f"zvmlab ÷ upstream: {what}", "ratio", NOT_SLOWER),
            Benchmark(
                f"bulk-ram-{mib}",
                f"zvmlab ÷ storage: {what}",
                "ratio",
                Budget(0.95, at_most=False),
            ),
            Benchmark(
                f"area-ram-{mib}",
                f"zvmlab ÷ {AREA[mib]} MiB storage: {what}",
                "ratio",
                Budget(0.95, at_most=False),
            ),
        ]
    benchmarks += [
        Benchmark(f"size-{size}", f"zvmlab ÷ upstream: {size}-byte buffer", "ratio", NOT_SLOWER)
        for size in SIZES
    ]
    return Pairs(*benchmarks)


def emulator_seconds(emulator: Emulator) -> float:
    """CPU time of all threads of the emulator so far."""
    tasks = Path(f"/proc/{emulator.pid}/task")
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / 1e9


def _timed(guest: Guest, drain: Callable[[], DrainResult]) -> tuple[float, DrainResult]:
    """Seconds that it took, and what it found; of instructions if the guest's clock counts them."""
    before = emulator_seconds(guest.emulator)
    result = drain()
    seconds = emulator_seconds(guest.emulator) - before
    if guest.config.count_instructions:
        seconds = result.elapsed_ns / 1e9
    if result.errno or result.timed_out or result.overflows:
        raise ZvmlabError(f"reading in the guest was disturbed: {result}")
    return seconds, result


def drain(guest: Guest, fd: int, sets: int, lengths: list[int], buffer: int) -> float:
    """Seconds for so many sets whose elements have records of these lengths."""
    elements = [
        {"domains": USER_DOMAIN, "fill": {"length": length, "seed": n + 1}}
        for n, length in enumerate(lengths)
    ]
    guest.control.execute(
        "monitor-repeat", kind="sample", elements=elements, outstanding=OUTSTANDING, times=sets
    )
    seconds, result = _timed(guest, lambda: _worker(guest).drain(fd, buffer, sets=sets))
    wanted = sets * (sum(lengths) + MCE_SIZE * len(lengths))
    if (result.sets, result.bytes) != (sets, wanted):
        raise ZvmlabError(f"{sets} sets, {wanted} bytes were to be read, not {result}")
    return seconds


def _worker(guest: Guest) -> Worker:
    return guest.agent.worker("bench")


def _cpu_seconds(guest: Guest, thread: str) -> float:
    """CPU time of a thread in the guest so far, as the guest's kernel sees it."""
    return int(guest.agent.read_file(f"{thread}/schedstat").split()[0]) / 1e9


@contextlib.contextmanager
def loaded(guest: Guest, module: str) -> Iterator[DataSets]:
    guest.agent.insmod(module).check()
    with DataSets(guest.agent) as reader:
        yield reader
    guest.agent.rmmod("monreader").check()


def _pass(guest: Guest, module: str) -> Pass:
    thread = thread_of(_worker(guest))
    found = Pass({}, {}, {}, {})
    with loaded(guest, module) as reader:
        # The emulator translates the module's code once more after every load.
        drain(guest, reader.fd, 500, [PART - MCE_SIZE], BUFFER)
        for count, sets in SETS.items():
            lengths = [PART - MCE_SIZE] * count
            before = _cpu_seconds(guest, thread)
            seconds = drain(guest, reader.fd, sets, lengths, BUFFER)
            found.sets[count] = sets / seconds
            found.cpu[count] = (_cpu_seconds(guest, thread) - before) * 1e6 / sets
        for mib, sets in BULK.items():
            seconds = drain(guest, reader.fd, sets, [mib * MIB], LARGE)
            found.bulk[mib] = sets * mib * MIB / seconds / 1e6
        for size, (length, sets) in SIZES.items():
            seconds = drain(guest, reader.fd, sets, [length], size)
            found.sizes[size] = sets * length / seconds / 1e6
    return found


def _storage(guest: Guest, mib: int, sets: int) -> float:
    """MB a second of a plain device with so much storage."""
    reads = sets * mib * MIB // LARGE
    agent = _worker(guest)
    guest.agent.insmod(RAMCHAR, {"mib": mib}).check()
    fd = agent.open("/dev/ramchar").check()
    # Once through, as the drivers' sets have been when they are measured.
    agent.drain(fd, LARGE, reads=mib * MIB // LARGE)
    seconds, _ = _timed(guest, lambda: agent.drain(fd, LARGE, reads=reads))
    agent.close(fd).check()
    guest.agent.rmmod("ramchar").check()
    return reads * LARGE / seconds / 1e6


def _best(found: list[Pass]) -> Pass:
    return Pass(
        {count: max(one.sets[count] for one in found) for count in SETS},
        {count: min(one.cpu[count] for one in found) for count in SETS},
        {mib: max(one.bulk[mib] for one in found) for mib in BULK},
        {size: max(one.sizes[size] for one in found) for size in SIZES},
    )


def _pair(guest: Guest, swapped: bool) -> dict[str, float]:
    passes: list[tuple[Pass, Pass]] = []
    stored: list[dict[int, tuple[float, float]]] = []
    for _ in range(PASSES):
        passes.append(both(swapped, lambda: _pass(guest, "monreader"), lambda: _pass(guest, OURS)))
        stored.append(
            {
                mib: (
                    _storage(guest, mib, sets),
                    _storage(guest, AREA[mib], sets * mib // AREA[mib]),
                )
                for mib, sets in BULK.items()
            }
        )
    upstream, ours = (_best(list(found)) for found in zip(*passes))
    values = {}
    for mib in BULK:
        storage, area = (max(found) for found in zip(*(one[mib] for one in stored)))
        values[f"bulk-upstream-{mib}"] = upstream.bulk[mib]
        values[f"bulk-zvmlab-{mib}"] = ours.bulk[mib]
        values[f"bulk-ramchar-{mib}"] = storage
        values[f"bulk-{mib}"] = ours.bulk[mib] / upstream.bulk[mib]
        values[f"bulk-ram-{mib}"] = ours.bulk[mib] / storage
        values[f"area-ramchar-{mib}"] = area
        values[f"area-ram-{mib}"] = ours.bulk[mib] / area
    for count in SETS:
        values[f"upstream-{count}"] = upstream.sets[count]
        values[f"zvmlab-{count}"] = ours.sets[count]
        values[f"ratio-{count}"] = ours.sets[count] / upstream.sets[count]
        values[f"cpu-upstream-{count}"] = upstream.cpu[count]
        values[f"cpu-zvmlab-{count}"] = ours.cpu[count]
        values[f"cpu-{count}"] = ours.cpu[count] / upstream.cpu[count]
    for size in SIZES:
        values[f"size-{size}"] = ours.sizes[size] / upstream.sizes[size]
    return values


@contextlib.contextmanager
def booted(config: GuestConfig, progress: Progress) -> Iterator[Guest]:
    """A guest with both drivers and the plain storage in its image."""
    kernel = resolve(config.kernel, progress=progress)
    source = Path(__file__).parent / "ramchar"
    files = {
        OURS: driver_module(kernel, progress),
        RAMCHAR: built_module(source, "ramchar.ko", kernel, progress),
    }
    config = config._replace(files=files, segments=(SEGMENT,))
    with Guest(config, artifacts=prepare(config, progress)) as guest:
        guest.boot()
        # Nothing is configured here: the room is for the records.
        if guest.cp("MONITOR SAMPLE CONFIG SIZE 241").rc != 0:
            raise ZvmlabError("CP does not make the sample configuration area smaller")
        yield guest
        guest.shut_down()


def measure(config: GuestConfig, pairs: int, progress: Progress) -> list[Benchmark]:
    """Both drivers in one guest; one pair is thrown away."""
    with booted(config, progress) as guest:
        _pair(guest, False)
        return _benchmarks().repeat(pairs, lambda swapped: _pair(guest, swapped))
