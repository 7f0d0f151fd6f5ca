# SPDX-License-Identifier: MIT
"""Both drivers by the instructions that a guest executes, which no other work on the machine changes.

An instruction is not a time: one of them may copy a page.  But of two ways to do the same,
the one with fewer instructions that copy as much is the shorter one.
"""

from __future__ import annotations


from benchmark import Benchmark, Budget, Pairs, both
from pairs import BUFFER, OURS, PART, SIZES, booted, drain, loaded
from zvmlab.base.progress import Progress
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import MCE_SIZE

COUNTS = {1: 2000, 10: 1000}


def _benchmarks() -> Pairs:
    benchmarks = []
    for count in COUNTS:
        what = f"a set of {count} control element{'s' if count > 1 else ''} of {PART} bytes"
        benchmarks += _compared(f"set-{count}", what, 1.2)
    for size in SIZES:
        benchmarks += _compared(f"size-{size}", f"a read, {size}-byte buffer", 1.0)
    return Pairs(*benchmarks)


def _compared(key: str, what: str, least: float) -> list[Benchmark]:
    return [
        Benchmark(f"upstream-{key}", f"upstream: {what}", "instructions"),
        Benchmark(f"zvmlab-{key}", f"zvmlab: {what}", "instructions"),
        Benchmark(f"ratio-{key}", f"upstream ÷ zvmlab: {what}", "ratio", Budget(least, False)),
    ]


def _pass(guest: Guest, module: str) -> dict[str, float]:
    """Instructions of what each benchmark's key names."""
    found = {}
    with loaded(guest, module) as reader:
        drain(guest, reader.fd, 100, [PART - MCE_SIZE], BUFFER)
        for count, sets in COUNTS.items():
            seconds = drain(guest, reader.fd, sets, [PART - MCE_SIZE] * count, BUFFER)
            found[f"set-{count}"] = seconds * 1e9 / sets
        for size, (length, sets) in SIZES.items():
            seconds = drain(guest, reader.fd, sets, [length], size)
            # The element and the end of the set are part of what these reads cost.
            found[f"size-{size}"] = seconds * 1e9 / (sets * length / size)
    return found


def _pair(guest: Guest, swapped: bool) -> dict[str, float]:
    upstream, ours = both(swapped, lambda: _pass(guest, "monreader"), lambda: _pass(guest, OURS))
    values = {}
    for key, instructions in ours.items():
        values[f"upstream-{key}"] = upstream[key]
        values[f"zvmlab-{key}"] = instructions
        values[f"ratio-{key}"] = upstream[key] / instructions
    return values


def measure(config: GuestConfig, pairs: int, progress: Progress) -> list[Benchmark]:
    """Both drivers in one guest; one pair is thrown away."""
    with booted(config._replace(count_instructions=True), progress) as guest:
        _pair(guest, False)
        return _benchmarks().repeat(pairs, lambda swapped: _pair(guest, swapped))
