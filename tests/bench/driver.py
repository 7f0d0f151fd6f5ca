# SPDX-License-Identifier: MIT
"""Upstream's driver at full speed, beside /dev/zero in the same guest."""

from __future__ import annotations

from zvmlab.agent.results import DrainResult
from zvmlab.base.errors import ZvmlabError
from zvmlab.guest.config import GuestConfig, Artifacts
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import MCE_SIZE
from zvmlab.monitor.monitor import DataSets

from benchmark import Benchmark, Pairs, both

MIB = 1 << 20
# Half of it, less its configuration area, holds a few sets of 4 MiB.
SEGMENT = "MONDCSS 9000-CFFF SC RSTD"
SMALL, SMALL_SETS, SMALL_READS = 84, 4000, 20000
LARGE, LARGE_SETS = 4 * MIB, 200
SMALL_SET = (SMALL, SMALL_SETS, SMALL)
"""Of what size a set is (its control element included), how many, read with what buffer."""
BULK = (LARGE + MCE_SIZE, LARGE_SETS, LARGE)
OUTSTANDING = 16
# Control element, records, and the 0-byte read that ends the set.
READS_PER_SET = 3
USER_DOMAIN = 0x8000 >> 4


def _benchmarks() -> Pairs:
    return Pairs(
        Benchmark("sets", f"monreader: {SMALL}-byte sets", "sets/s"),
        Benchmark(
            "set-reads", f"monreader: {SMALL}-byte sets, {READS_PER_SET} reads each", "reads/s"
        ),
        Benchmark("zero-reads", f"/dev/zero: {SMALL}-byte reads", "reads/s"),
        Benchmark("reads-ratio", "monreader ÷ /dev/zero, reads/s", "ratio"),
        Benchmark("set-bytes", "monreader: 4 MiB sets, 4 MiB reads", "MB/s"),
        Benchmark("zero-bytes", "/dev/zero: 4 MiB reads", "MB/s"),
        Benchmark("bytes-ratio", "monreader ÷ /dev/zero, MB/s", "ratio"),
    )


def _rate(amount: float, result: DrainResult) -> float:
    if result.errno or result.timed_out or result.overflows:
        raise ZvmlabError(f"reading in the guest was disturbed: {result}")
    return amount * 1e9 / result.elapsed_ns


def read_sets(guest: Guest, reader: DataSets, size: int, sets: int, read_size: int) -> DrainResult:
    """Store and read this number of sets of that size; *size* includes the control element."""
    element = {"domains": USER_DOMAIN, "fill": {"length": size - MCE_SIZE, "seed": 1}}
    guest.control.execute(
        "monitor-repeat", kind="sample", elements=[element], outstanding=OUTSTANDING, times=sets
    )
    result = guest.agent.drain(reader.fd, read_size, sets=sets)
    if (result.sets, result.reads, result.bytes) != (sets, sets * READS_PER_SET, sets * size):
        raise ZvmlabError(f"{sets} sets of {size} bytes were to be read, not {result}")
    return result


def _sets(guest: Guest, reader: DataSets, kind: tuple[int, int, int]) -> float:
    """Sets a second."""
    return _rate(kind[1], read_sets(guest, reader, *kind))


def _zeros(guest: Guest, zero: int, size: int, reads: int) -> float:
    """Reads a second."""
    return _rate(reads, guest.agent.drain(zero, size, reads=reads))


def _pair(guest: Guest, reader: DataSets, zero: int, swapped: bool) -> dict[str, float]:
    sets, zero_reads = both(
        swapped,
        lambda: _sets(guest, reader, SMALL_SET),
        lambda: _zeros(guest, zero, SMALL, SMALL_READS),
    )
    large_sets, large_zeros = both(
        swapped,
        lambda: _sets(guest, reader, BULK),
        lambda: _zeros(guest, zero, LARGE, LARGE_SETS),
    )
    return {
        "sets": sets,
        "set-reads": sets * READS_PER_SET,
        "zero-reads": zero_reads,
        "reads-ratio": sets * READS_PER_SET / zero_reads,
        "set-bytes": large_sets * BULK[0] / 1e6,
        "zero-bytes": large_zeros * LARGE / 1e6,
        "bytes-ratio": large_sets * BULK[0] / (large_zeros * LARGE),
    }


def measure(config: GuestConfig, artifacts: Artifacts, pairs: int) -> list[Benchmark]:
    """One pair is thrown away, for the emulator to have translated the guest's code."""
    with Guest(config, artifacts=artifacts) as guest:
        guest.boot()
        guest.agent.insmod("monreader").check()
        zero = guest.agent.open("/dev/zero").check()
        with DataSets(guest.agent) as reader:
            _pair(guest, reader, zero, False)
            benchmarks = _benchmarks().repeat(
                pairs, lambda swapped: _pair(guest, reader, zero, swapped)
            )
        guest.shut_down()
    return benchmarks
