# SPDX-License-Identifier: MIT
"""A sweep in two shards on two hosts, against the same sweep in one piece on one host.

A host is a processor of this machine.  The efficiency is the time of one host ÷ (2 × that of two hosts, of
which the slower counts).  Time by the clock is right only if nothing else uses the processors; CPU time
of harness and emulators is what would be spent on hosts that do nothing else.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmark import Benchmark, Budget, Pairs, both
from zvmlab.base.errors import CannotRun, ZvmlabError
from zvmlab.base.tree import TREE

HOSTS = 2
SECONDS = 3600
SWEEP = ("read-one-set", "--seed", "7", "--jobs", "1", "--fresh")
EFFICIENCY = Budget(0.9, at_most=False)


@dataclass(frozen=True)
class Took:
    """Seconds by the clock, and CPU seconds of all its processes."""

    clock: float
    cpu: float


def _benchmarks() -> Pairs:
    return Pairs(
        Benchmark("cpu", "efficiency of a sweep on 2 hosts, CPU time", "ratio", EFFICIENCY),
        Benchmark("clock", "efficiency of a sweep on 2 hosts, elapsed time", "ratio"),
        Benchmark("one", "the sweep on one host", "s CPU"),
        Benchmark("shard", "the longer of its two shards", "s CPU"),
        Benchmark("load", "processes that wanted a processor before", "processes"),
    )


def _sweep(kernel: str, output: Path, processor: int, *shard: str) -> subprocess.Popen[bytes]:
    argv = ["taskset", "--cpu-list", str(processor), str(TREE / "zvmlab"), "sweep", *SWEEP]
    argv += ["--kernel", kernel, "--output", str(output), *shard]
    with open(output.with_suffix(".log"), "wb") as log:
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def _wait(process: subprocess.Popen[bytes], output: Path, begun: float) -> Took:
    """Until it ends; its children are counted when it has waited for them."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    took = Took(time.monotonic() - begun, used.ru_utime + used.ru_stime)
    if process.returncode:
        end = output.with_suffix(".log").read_text(errors="replace")[-500:]
        raise ZvmlabError(f"the sweep ended with {process.returncode}: {end}")
    return took


def _one(kernel: str, folder: Path, processors: list[int]) -> list[Took]:
    output = folder / "whole"
    begun = time.monotonic()
    return [_wait(_sweep(kernel, output, processors[0]), output, begun)]


def _two(kernel: str, folder: Path, processors: list[int]) -> list[Took]:
    begun = time.monotonic()
    started = []
    for number in range(1, HOSTS + 1):
        output = folder / f"{number}-of-{HOSTS}"
        shard = ("--shard", f"{number}/{HOSTS}")
        started.append((_sweep(kernel, output, processors[number - 1], *shard), output))
    return [_wait(process, output, begun) for process, output in started]


def _same(folder: Path) -> None:
    """The whole is the same, or the comparison would be of something else."""
    for name, parts in (("a", ["whole"]), ("b", [f"{n}-of-{HOSTS}" for n in range(1, HOSTS + 1)])):
        argv = [str(TREE / "zvmlab"), "merge", *parts, "--output", name]
        subprocess.run(argv, cwd=folder, check=True, capture_output=True, timeout=SECONDS)
    if (folder / "a/report.json").read_bytes() != (folder / "b/report.json").read_bytes():
        raise ZvmlabError("the sweep in shards has found something else than the one in one piece")


def measure(kernel: str, pairs: int) -> list[Benchmark]:
    """A pair is the sweep in one piece, and in shards."""
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) < HOSTS:
        raise CannotRun(f"this needs {HOSTS} processors, one for each host")
    with tempfile.TemporaryDirectory(prefix="zvmlab-bench-") as name:
        folder = Path(name)

        def pair(swapped: bool) -> dict[str, float]:
            load = os.getloadavg()[0]
            (one,), two = both(
                swapped,
                lambda: _one(kernel, folder, processors),
                lambda: _two(kernel, folder, processors),
            )
            _same(folder)
            longest = max(took.cpu for took in two)
            return {
                "cpu": one.cpu / (HOSTS * longest),
                "clock": one.clock / (HOSTS * max(took.clock for took in two)),
                "one": one.cpu,
                "shard": longest,
                "load": load,
            }

        return _benchmarks().repeat(pairs, pair)
