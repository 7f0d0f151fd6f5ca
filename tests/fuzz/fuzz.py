# SPDX-License-Identifier: MIT
"""``make fuzz``: runs fuzz targets for a time, counts executions and findings, measures coverage.

Every target begins with its corpus of ``tests/fuzz/corpus``, which make unpacks into
``build/inputs``, and what earlier runs of this working tree have added in the build folder.  Executions are added up over runs, as long as
neither target nor what it tests has changed.

Shards of a run (``--shard I/N``) get an N-th of its time each, and random numbers of their own;
``zvmlab merge`` adds up what they write to ``DIR/results.jsonl``.

``fuzz.py --build DIR [--seconds N] [--jobs N] [--shard I/N] [--minimise] TARGET…``
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path

from zvmlab.base.errors import (
    EXIT_FAILED,
    EXIT_PASS,
    Timeout,
    UsageError,
    ZvmlabError,
    exit_code,
)
from zvmlab.base.results import NAME, Head, ResultsFile
from zvmlab.base.shard import Shard, shard_of
from zvmlab.builder import module_mk

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
GRACE_SECONDS = 60
"""Beyond the time limit of a run, for starting and ending; whoever needs more hangs."""
INPUT_SECONDS = 10
"""An input that takes longer is a finding."""
REPLAY_SECONDS = 300
SHA1_DIGITS = 40
"""libFuzzer names an input by its SHA-1."""
_EXECUTED = re.compile(r"^stat::number_of_executed_units: (\d+)$", re.MULTILINE)
_WRITTEN = re.compile(r"Test unit written to (\S+)")
# Nearly nothing is allocated: a quarantine and the callers of malloc() cost, and find nothing.
_SANITIZERS = {"ASAN_OPTIONS": "quarantine_size_mb=1:malloc_context_size=2"}


@dataclass(frozen=True)
class Target:
    """A fuzz target: its program is called as it is, its corpus, too."""

    share: int
    """Of the time there is, as a ratio."""
    longest: int
    """Bytes of an input."""
    modules: tuple[str, ...]
    """What it tests, and is made of with all that these use: folders with a module.mk."""
    sources: tuple[str, ...]
    """What it is made of beside them, as patterns below the repository's folder."""
    covered: str
    """Those whose line coverage is told, as gcovr's filter."""
    least: float
    """Per cent of these that must be covered."""


TARGETS = {
    "mon_stream": Target(
        share=10,
        longest=84,
        modules=("driver",),
        sources=(
            "tests/fuzz/*mon_stream.[ch]",
            "tests/fuzz/machine_read.[ch]",
            "tests/fuzz/operation.h",
            "tests/fuzz/read.h",
        ),
        covered="driver/",
        least=100.0,
    ),
    "trace_replay": Target(
        share=1,
        longest=16384,
        modules=("sim/replay",),
        sources=(
            "tests/fuzz/fuzz_trace_replay.c",
            "tests/fuzz/mutate_lines.[ch]",
        ),
        covered="sim/replay/",
        least=90.0,
    ),
    "dm_stats": Target(
        share=1,
        longest=4096,
        modules=("tools/dmmon",),
        sources=("tests/fuzz/fuzz_dm_stats.c",),
        covered="tools/dmmon/dms_(region|counts|message|delta)",
        # Messages that the target has no use for are written there, too.
        least=85.0,
    ),
    "monrec": Target(
        share=2,
        longest=16384,
        modules=("lib/monrec",),
        sources=("tests/fuzz/fuzz_monrec.c",),
        covered="lib/monrec/",
        least=90.0,
    ),
    "taskstats": Target(
        share=1,
        longest=4096,
        modules=("tools/taskmon",),
        sources=("tests/fuzz/fuzz_taskstats.c",),
        covered="tools/taskmon/(stats|layout|message_count|recording)",
        # Recordings are read here, not written.
        least=78.0,
    ),
    "guest": Target(
        share=5,
        longest=1160,
        modules=("sim/control",),
        sources=(
            "tests/fuzz/fuzz_guest.c",
            "tests/fuzz/world*.[ch]",
            "tests/fuzz/model_iucv.[ch]",
        ),
        covered="sim/cp/",
        # Configurations are not varied, and segments have no files.
        least=85.0,
    ),
    "control": Target(
        share=3,
        longest=8192,
        modules=("sim/control",),
        sources=(
            "tests/fuzz/*control.c",
            "tests/fuzz/files.[ch]",
            "tests/fuzz/mutate_lines.[ch]",
            "tests/fuzz/world*.[ch]",
            "tests/fuzz/model_iucv.[ch]",
        ),
        covered="sim/control/",
        # The trace's file is a port's, and storage does not run out.
        least=80.0,
    ),
}


@dataclass(frozen=True)
class Count:
    """Counts of executions, by one run or several."""

    executions: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def __add__(self, other: Count) -> Count:
        return Count(
            self.executions + other.executions,
            self.seconds + other.seconds,
            self.cpu_seconds + other.cpu_seconds,
        )

    @property
    def rate(self) -> int:
        """Executions per second of one core."""
        return round(self.executions / self.cpu_seconds) if self.cpu_seconds else 0


class Totals:
    """Executions of all runs, in a file, by target and by what it was made of."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._counts: dict[str, list[float]] = {}
        if path.exists():
            self._counts = json.loads(path.read_text())

    def add(self, name: str, count: Count) -> Count:
        """Adds a run and gives back the sum."""
        key = f"{name} {_digest(name)}"
        executions, seconds, cpu_seconds = self._counts.get(key, [0, 0.0, 0.0])
        total = Count(int(executions), seconds, cpu_seconds) + count
        self._counts[key] = [total.executions, total.seconds, total.cpu_seconds]
        self._path.write_text(json.dumps(self._counts, indent=1) + "\n")
        return total


def _digest(name: str) -> str:
    """Hash all sources of a target: other sources are another target."""
    digest = hashlib.sha256()
    target = TARGETS[name]
    paths = list(module_mk.files(ROOT, module_mk.closure(ROOT, *target.modules)))
    paths += [path for pattern in target.sources for path in sorted(ROOT.glob(pattern))]
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


class Fuzzer:
    """One target, in the build folder."""

    def __init__(self, name: str, build: Path, shard: Shard) -> None:
        self.name = name
        self._shard = shard
        self.target = TARGETS[name]
        self.program = build / name
        self.corpus = ROOT / "build/inputs" / name
        self.grown = build / "corpus" / name
        self.findings = build / "findings" / name
        self._replay = build / "gcov"
        self._logs = build / "logs"
        for folder in (self.grown, self.findings, self._logs):
            folder.mkdir(parents=True, exist_ok=True)

    def _start(self, job: int, seconds: int) -> subprocess.Popen[bytes]:
        argv = [
            str(self.program),
            f"-max_total_time={seconds}",
            f"-max_len={self.target.longest}",
            f"-timeout={INPUT_SECONDS}",
            "-len_control=0",
            "-reload=10",
            "-print_final_stats=1",
            *self._seed(job),
            f"-artifact_prefix={self.findings}/",
            str(self.grown),
            str(self.corpus),
        ]
        with self.log(job).open("wb") as log:
            return subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **_SANITIZERS},
            )

    def _seed(self, job: int) -> list[str]:
        """Machines that begin at the same moment must not do the same."""
        if self._shard.whole:
            return []
        return [f"-seed={zlib.crc32(f'{self._shard} {job} {time.time_ns()}'.encode()) | 1}"]

    def log(self, job: int) -> Path:
        """The output of a process."""
        return self._logs / f"{self.name}-{job}.log"

    def run(self, seconds: int, jobs: int) -> tuple[Count, list[str]]:
        """Fuzzes; gives back what was executed and the findings, each a line."""
        began, used = time.monotonic(), _cpu_seconds()
        started = [self._start(job, seconds) for job in range(jobs)]
        try:
            _wait_all(started, seconds + GRACE_SECONDS)
        finally:
            _stop(started)
        executions, findings, failures = 0, [], []
        for job, process in enumerate(started):
            text = self.log(job).read_text(errors="replace")
            executed, written = _EXECUTED.search(text), _WRITTEN.search(text)
            executions += int(executed.group(1)) if executed else 0
            if written:
                findings.append(f"{self.name}: {written.group(1)} ({self.log(job)})")
            elif process.returncode or not executed:
                failures.append(f"{self.program} ended with {process.returncode}: {self.log(job)}")
        # Those that a finding of another process has ended have not failed.
        if failures and not findings:
            raise ZvmlabError("; ".join(failures))
        spent = Count(executions, time.monotonic() - began, _cpu_seconds() - used)
        return spent, findings

    def coverage(self) -> float:
        """Per cent of lines that the corpus covers, replayed by a program that gcc has made."""
        for data in self._replay.rglob("*.gcda"):
            data.unlink()
        program = self._replay / "unit" / f"replay_{self.name}"
        folders = [str(self.corpus), *([str(self.grown)] if any(self.grown.iterdir()) else [])]
        _checked([str(program), *folders])
        # Elsewhere below the root are other builds, of other times.
        argv = ["gcovr", str(self._replay), "--root", str(ROOT)]
        argv += ["--object-directory", str(self._replay)]
        argv += ["--filter", str(ROOT / self.target.covered), "--json-summary", "-"]
        return float(json.loads(_checked(argv))["line_percent"])

    def minimise(self) -> int:
        """Renews the committed corpus: inputs that cover something; how many there are then.

        Inputs that were given a name stay.
        """
        written = HERE / "corpus" / self.name
        archive = HERE / "corpus" / f"{self.name}.tar.xz"
        merged = self.findings.parent / f"merged-{self.name}"
        shutil.rmtree(merged, ignore_errors=True)
        merged.mkdir()
        argv = [str(self.program), "-set_cover_merge=1", "-use_counters=0", str(merged)]
        _checked([*argv, str(self.grown), str(self.corpus)])
        for path in self.corpus.iterdir():
            if len(path.name) != SHA1_DIGITS and not (written / path.name).exists():
                shutil.copy(path, merged)
        # The same inputs make the same archive.
        argv = ["tar", "--create", "--xz", "--sort=name", "--format=ustar", "--mtime=@0"]
        argv += ["--owner=0", "--group=0", "--numeric-owner", "--mode=644"]
        _checked([*argv, f"--file={archive}", f"--directory={merged}", *sorted(os.listdir(merged))])
        return len(list(merged.iterdir()))


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _wait_all(started: Sequence[subprocess.Popen[bytes]], limit: float) -> None:
    """Until all have ended, or one of them with a finding."""
    deadline = time.monotonic() + limit
    with ThreadPoolExecutor(len(started)) as pool:
        pending: set[Future[int]] = {pool.submit(p.wait, limit) for p in started}
        while pending:
            done, pending = wait(pending, deadline - time.monotonic(), FIRST_COMPLETED)
            if not done or any(f.exception() for f in done):
                raise Timeout(f"a fuzzer has not ended {GRACE_SECONDS} s after its time")
            if any(f.result() for f in done):
                _stop(started)


def _stop(started: Sequence[subprocess.Popen[bytes]]) -> None:
    """Ends what still runs; the processes say how far they have come if they can."""
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
    for process in started:
        try:
            process.wait(GRACE_SECONDS / 4)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _checked(argv: list[str]) -> str:
    """Output of a program that must succeed."""
    try:
        done = subprocess.run(argv, capture_output=True, timeout=REPLAY_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Timeout(f"{argv[0]} did not end within {REPLAY_SECONDS} s") from None
    if done.returncode:
        tail = done.stderr.decode(errors="replace")[-2000:]
        raise ZvmlabError(f"{argv[0]} ended with {done.returncode}: {tail}")
    return done.stdout.decode(errors="replace")


def fuzz(fuzzer: Fuzzer, totals: Totals, results: ResultsFile, seconds: int, jobs: int) -> bool:
    """Runs a target and prints its line; true if all is well."""
    count, findings = fuzzer.run(seconds, jobs)
    results.add({"target": fuzzer.name, **asdict(count), "findings": findings})
    total = totals.add(fuzzer.name, count)
    for finding in findings:
        print(f"finding: {finding}")
    if findings:
        covered = "coverage not measured"
        enough = False
    else:
        lines = fuzzer.coverage()
        enough = lines >= fuzzer.target.least
        covered = f"{lines:.1f} % of the lines of {fuzzer.target.covered} covered"
    print(
        f"{fuzzer.name}: {count.executions:,} executions in {count.seconds:.0f} s "
        f"({count.rate:,}/s of a core), {len(findings)} findings, {covered}; "
        f"{total.executions:,} executions of these sources in all"
    )
    if not findings and not enough:
        print(f"{fuzzer.name}: at least {fuzzer.target.least:g} % must be covered")
    return enough


def _run(args: argparse.Namespace) -> int:
    shard = shard_of(args.shard)
    shares = sum(TARGETS[name].share for name in args.targets)
    seconds = args.seconds // shard.count
    if seconds < shares or args.jobs < 1:
        raise UsageError(f"SECONDS must be at least {shares * shard.count}, JOBS at least 1")
    if args.check:
        return EXIT_PASS
    fuzzers = [Fuzzer(name, args.build, shard) for name in args.targets]
    if args.minimise:
        for fuzzer in fuzzers:
            print(f"{fuzzer.name}: {fuzzer.minimise()} inputs")
        return EXIT_PASS
    totals = Totals(args.build / "totals.json")
    results = ResultsFile(args.build / NAME)
    run = {"targets": {name: _digest(name) for name in args.targets}, "seconds": args.seconds}
    results.begin(Head("fuzz", shard, run))
    passed = [
        fuzz(fuzzer, totals, results, seconds * fuzzer.target.share // shares, args.jobs)
        for fuzzer in fuzzers
    ]
    results.finish(len(passed))
    return EXIT_PASS if all(passed) else EXIT_FAILED


def main(argv: Sequence[str] | None = None) -> int:
    """The command; its exit code."""
    parser = argparse.ArgumentParser(description="Run fuzz targets (see make fuzz).")
    parser.add_argument("--build", type=Path, required=True, help="folder with the programs")
    parser.add_argument("--seconds", type=int, default=600, help="for all targets together")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--shard", default="1/1", help="I/N: an N-th of the time")
    parser.add_argument("--check", action="store_true", help="look at the options, run nothing")
    parser.add_argument("--minimise", action="store_true", help="renew the committed corpus")
    parser.add_argument("targets", nargs="+", metavar="TARGET", choices=TARGETS)
    args = parser.parse_args(argv)
    return exit_code(lambda: _run(args), "fuzz")


if __name__ == "__main__":
    sys.exit(main())
