# SPDX-License-Identifier: MIT
"""The cost of zvmlab itself: CPU time of a command as a multiple of Python's start.

Everything is warm: what a guest runs has been built, its checkpoint is there, and what was decided
for it stands in the cache.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence

from benchmark import Benchmark, Budget, Pairs
from zvmlab.base.errors import ZvmlabError
from zvmlab.base.tree import TREE

SECONDS = 120.0
# The least of so many is taken: other work on the machine only adds.
RUNS = 5
ZVMLAB = str(TREE / "zvmlab")
# Of a quiet machine; one on which Python starts in 0.015 s needs 0.15 s for RUN.
VERSION = Budget(2.0, at_most=True)
HELP = Budget(3.5, at_most=True)
RUN = Budget(10.0, at_most=True)
# Whoever forbids it to keep what it has compiled makes it compile all of zvmlab each time.
_ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
# CPU time of the process up to its end, without that of programs that it started, and their names.
_IN_A_PROCESS = """
import json, sys, time
started = []
sys.addaudithook(lambda event, args: started.append(str(args[0])) if event == "subprocess.Popen" else None)
sys.path.insert(0, sys.argv.pop(1))
from zvmlab.cli.main import main
code = main()
print(json.dumps([code, time.process_time(), started]), file=sys.stderr)
"""


def _benchmarks() -> Pairs:
    what = "CPU time ÷ that of python3 -c pass"
    return Pairs(
        Benchmark("version", f"zvmlab --version: {what}", "ratio", VERSION),
        Benchmark("help", f"zvmlab --help: {what}", "ratio", HELP),
        Benchmark("run", f"zvmlab run -- true, without QEMU: {what}", "ratio", RUN),
        Benchmark("python", "python3 -c pass: CPU time", "ms"),
        Benchmark("run_ms", "zvmlab run -- true, without QEMU: CPU time", "ms"),
    )


def _whole(argv: Sequence[str]) -> float:
    """CPU time of a program, from its first instruction to its end, with all that it starts."""
    process = subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=_ENVIRONMENT
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise ZvmlabError(f"'{' '.join(argv)}' ended with exit code {process.returncode}")
    return float(used.ru_utime + used.ru_stime)


def _harness(kernel: str) -> float:
    """CPU time of `zvmlab run` without that of the emulator, the only program that it starts."""
    words = ["run", "--kernel", kernel, "--", "true"]
    argv = [sys.executable, "-c", _IN_A_PROCESS, str(TREE / "harness"), *words]
    done = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env=_ENVIRONMENT,
    )
    try:
        code, seconds, started = json.loads(done.stderr.splitlines()[-1])
    except (IndexError, ValueError):
        raise ZvmlabError(f"'zvmlab {' '.join(words)}' said: {done.stderr.strip()}") from None
    if code or len(started) != 1:
        raise ZvmlabError(
            f"'zvmlab {' '.join(words)}' ended with {code} and started {', '.join(started)}"
        )
    return float(seconds)


def measure(kernel: str, pairs: int) -> list[Benchmark]:
    """Each run takes the least of several, one after the other."""
    _whole([ZVMLAB, "run", "--kernel", kernel, "--", "true"])
    _whole([ZVMLAB, "run", "--kernel", kernel, "--", "true"])

    def run(_swapped: bool) -> dict[str, float]:
        python, version, text, harness = [], [], [], []
        for _ in range(RUNS):
            python.append(_whole([sys.executable, "-c", "pass"]))
            version.append(_whole([ZVMLAB, "--version"]))
            text.append(_whole([ZVMLAB, "--help"]))
            harness.append(_harness(kernel))
        least = min(python)
        return {
            "version": min(version) / least,
            "help": min(text) / least,
            "run": min(harness) / least,
            "python": 1000 * least,
            "run_ms": 1000 * min(harness),
        }

    return _benchmarks().repeat(pairs, run)
