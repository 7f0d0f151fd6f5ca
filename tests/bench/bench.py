# SPDX-License-Identifier: MIT
"""Benchmarks: the core, the boot, the drivers, the emulators; docs/bench.md explains them.

    make bench
    make bench-driver
    PYTHONPATH=harness python3 tests/bench/bench.py --kernel trixie --pairs 9
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import application
import boot
import changes
import command
import core
import dm_watch
import driver
import emulators
import export
import fuzzing
import hercules_boot
import instructions
import loop
import pairs
import qemu_speed
import recording
import records
import ring
import scenario_rate
import shards
import start
import systems
import task_listener
import trying
from benchmark import Benchmark, show
from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, exit_code
from zvmlab.base.progress import Progress
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import GuestConfig, Artifacts

MIN_PAIRS = 5
PARTS = (
    "core",
    "records",
    "export",
    "recording",
    "command",
    "boot",
    "start",
    "loop",
    "scenarios",
    "bench",
    "qemu",
    "changes",
    "hercules",
    "driver",
    "application",
    "pairs",
    "instructions",
    "emulators",
    "shards",
    "system",
    "ring",
    "dmstats",
    "taskstats",
)
NO_GUEST = {"core", "records", "export", "recording"}


def _pairs(text: str) -> int:
    value = int(text)
    if value < MIN_PAIRS:
        raise argparse.ArgumentTypeError(f"at least {MIN_PAIRS} pairs are needed, not {value}")
    return value


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--build", type=Path, default=Path("build"), metavar="DIR")
    parser.add_argument("--kernel", default="bookworm", metavar="SUITE|PATH")
    parser.add_argument(
        "--pairs", type=_pairs, default=MIN_PAIRS, metavar="N", help=f"{MIN_PAIRS} or more"
    )
    parser.add_argument(
        "--part", action="append", choices=PARTS, help="measure only this; may be repeated"
    )
    parser.add_argument("--strict", action="store_true", help="exit code 1 if a budget is missed")
    return parser.parse_args()


def _measure(arguments: argparse.Namespace, report: dict[str, Any]) -> list[Benchmark]:
    progress = Progress()
    small = GuestConfig(kernel=arguments.kernel, trace=False)

    parts = arguments.part or PARTS

    @functools.cache
    def artifacts() -> Artifacts:
        return prepare(small, progress)

    report["kernel"] = "no guest" if NO_GUEST.issuperset(parts) else artifacts().kernel_version
    large = small._replace(segments=(driver.SEGMENT,))
    count = arguments.pairs
    measures: dict[str, Callable[[], list[Benchmark]]] = {
        "core": lambda: core.measure(arguments.build / "bench_iucv", count),
        "records": lambda: records.measure(arguments.build / "bench_records", count),
        "export": lambda: export.measure(arguments.build / "monread", count),
        "recording": lambda: recording.measure(arguments.build / "monread", count),
        "command": lambda: command.measure(arguments.kernel, count),
        "boot": lambda: boot.measure(small, artifacts(), count),
        "start": lambda: start.measure(small, count, progress),
        "loop": lambda: loop.measure(small, count, progress),
        "qemu": lambda: qemu_speed.measure(small, count, progress),
        "scenarios": lambda: scenario_rate.measure(small, count, progress),
        "bench": lambda: [*fuzzing.measure(small, count, progress), *trying.measure()],
        "changes": lambda: changes.measure(small, count, progress),
        "hercules": lambda: hercules_boot.measure(small, count, progress),
        "driver": lambda: driver.measure(large, artifacts(), count),
        "application": lambda: application.measure(small, count, progress),
        "pairs": lambda: pairs.measure(small, count, progress),
        "instructions": lambda: instructions.measure(small, count, progress),
        "emulators": lambda: emulators.measure(small, count, progress),
        "shards": lambda: shards.measure(arguments.kernel, count),
        "system": lambda: systems.measure(small, arguments.build / "bench_iucv", count, progress),
        "ring": lambda: ring.measure(small, count, progress),
        "dmstats": lambda: dm_watch.measure(small, count, progress),
        "taskstats": lambda: task_listener.measure(small, count, progress),
    }
    benchmarks: dict[str, list[Benchmark]] = {}
    for part in parts:
        with progress.step(f"{part}: {count} pairs"):
            benchmarks[part] = measures[part]()
    report["benchmarks"] = {
        part: {benchmark.key: benchmark.json() for benchmark in found}
        for part, found in benchmarks.items()
    }
    return [benchmark for found in benchmarks.values() for benchmark in found]


def _run(arguments: argparse.Namespace) -> int:
    begun = time.monotonic()
    report: dict[str, Any] = {
        "pairs": arguments.pairs,
        "machine": {"architecture": platform.machine(), "processors": os.cpu_count()},
    }
    benchmarks = _measure(arguments, report)
    report["seconds"] = round(time.monotonic() - begun, 1)
    arguments.build.mkdir(parents=True, exist_ok=True)
    file = arguments.build / "bench.json"
    file.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    show(benchmarks, f"{report['kernel']}, {arguments.pairs} pairs, {report['seconds']} s")
    print(f"All values are in {file}.")
    missed = any(not benchmark.met for benchmark in benchmarks)
    return EXIT_FAILED if missed and arguments.strict else EXIT_PASS


if __name__ == "__main__":
    sys.exit(exit_code(lambda: _run(_arguments()), "bench"))
