# SPDX-License-Identifier: MIT
"""The fuzzer's loop: cases by seed, in several guests, with a corpus and findings in a folder.

    CORPUS/NAME.json                    a case that has reached something new
    FOLDER/findings/NAME/               a finding (zvmlab.fuzz.found)
    FOLDER/refused.json                 the first case that the agent has refused
    FOLDER/run.json                     figures and findings of all runs of this folder
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from zvmlab.base.errors import UsageError
from zvmlab.base.json_file import parse
from zvmlab.base.owned import claim
from zvmlab.base.plain import harmless
from zvmlab.base.progress import Progress
from zvmlab.base.results import sense
from zvmlab.base.shard import Shard
from zvmlab.fuzz.case import Case, load, save
from zvmlab.fuzz.finding import Finding, Known, reason
from zvmlab.fuzz.found import CASE, FINDINGS, Found, from_data, keep, number
from zvmlab.fuzz.grammar import Target
from zvmlab.fuzz.minimise import minimise
from zvmlab.fuzz.mutate import make
from zvmlab.fuzz.runner import Ran
from zvmlab.guest.names import UPSTREAM_DRIVER

MAX_SEED = (1 << 32) - 1
MAX_JOBS = 16
GUESTS = "guests"
RUN = "run.json"
REFUSED = "refused.json"
RUN_BYTES = 256 << 20
_SMALL_TRIES = 150
"""So many candidates a finding is made smaller with at the end of a run."""
SMALL_SECONDS = 300.0
"""So long all findings of a run together are made small, or as long as the run has taken."""
_PROGRESS_SECONDS = 1.0
_RUNS = 3
"""A candidate shows the finding if one of so many runs does."""
_TIMES = 10
"""And so often the small case is run, to say how often it shows the finding."""


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Within the block no other run works in the folder; UsageError if one does."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"another run works in {folder}; wait for its end, or name another --output"
            ) from None
        yield
    finally:
        os.close(opened)


class Runs(Protocol):
    """What runs cases (zvmlab.fuzz.runner.Runner)."""

    booted: int
    driver: str

    def run(self, case: Case) -> Ran:
        """Run one."""

    def where(self, address: int) -> str:
        """The name of a place that a case has reached; the same in all guests."""

    def cpu_seconds(self) -> float:
        """CPU time of the emulator."""

    def keep_counts(self, case: Case) -> None:
        """Keep which lines the last case has run, if they are counted."""

    def kill(self) -> None:
        """End the case that runs."""

    def close(self) -> None:
        """Stop."""


@dataclass(frozen=True)
class Plan:
    """What is fuzzed, for how long."""

    target: Target
    folder: Path
    corpus: Path
    seconds: float
    seed: int
    jobs: int
    shard: Shard = Shard()
    cases: int = 0
    """0: as many as there is time for."""
    schedules: bool = False
    """Each case has a seed of when the next CPU has its turn."""
    kernel: str = ""
    driver: str = UPSTREAM_DRIVER
    bug: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.jobs <= MAX_JOBS:
            raise UsageError(f"invalid number of jobs: {self.jobs} (1 to {MAX_JOBS})")
        if not 0 <= self.seed <= MAX_SEED:
            raise UsageError(f"the seed {self.seed} is not a number from 0 to {MAX_SEED}")

    def begin(self) -> None:
        """Make its folders; UsageError if they are somebody else's."""
        try:
            for folder in (self.folder, self.corpus):
                folder.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryFile(dir=folder):
                    pass
        except OSError as error:
            raise UsageError(f"{folder} cannot be written to: {error.strerror}") from error
        for job in range(1, self.jobs + 1):
            claim(self.folder / GUESTS / str(job), lambda path: path.name.isdigit())

    def place_of(self, found: Found) -> Path:
        """Where its case is."""
        return self.folder / FINDINGS / found.finding.name / CASE

    @property
    def run(self) -> dict[str, str]:
        """What all runs of a folder have in common whose figures are added up."""
        return {
            "target": self.target.name,
            "kernel": self.kernel,
            "driver": self.driver,
            "bug": self.bug,
        }


@dataclass
class Campaign:
    """What has been done so far in a folder."""

    plan: Plan
    cases: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    guests: int = 0
    runs: int = 1
    places: set[str] = field(default_factory=set)
    """Names of the blocks that were reached, by this run."""
    pairs: set[tuple[str, str]] = field(default_factory=set)
    most_blocks: int = 0
    most_pairs: int = 0
    """So many an earlier run has reached: a run that ends early has not run all of the corpus."""
    corpus: list[Case] = field(default_factory=list)
    found: dict[str, Found] = field(default_factory=dict)
    refused: int = 0
    """So many cases the agent has not taken."""
    refusal: str = ""
    """Why, of the first one."""

    @property
    def new(self) -> list[Found]:
        """Findings that are not known."""
        return [one for one in self.found.values() if one.defect is None]

    @property
    def blocks(self) -> int:
        """So many blocks are reached."""
        return max(self.most_blocks, len(self.places))

    @property
    def pair_count(self) -> int:
        """So many pairs of them are."""
        return max(self.most_pairs, len(self.pairs))

    def line(self) -> str:
        """One line about it."""
        return (
            f"{self.cases} cases, {rate(self.cases, self.seconds)} a second,"
            f" {rate(self.cases, self.cpu_seconds)} a CPU second, {self.blocks} blocks,"
            f" {self.pair_count} pairs of them, corpus {len(self.corpus)},"
            f" findings {len(self.found)} ({len(self.new)} new)"
            + (f", refused {self.refused}" if self.refused else "")
        )


def rate(number: int, seconds: float) -> str:
    """A number for each of so many seconds, for people."""
    return f"{number / seconds:.1f}" if seconds else "0"


def begun(plan: Plan, known: Sequence[Known]) -> Campaign:
    """What earlier runs have done in the folder; of another target, kernel or driver they do not count."""
    file = plan.folder / RUN
    if not file.exists():
        return Campaign(plan)
    noted: Any = parse(file, str(file), RUN_BYTES)
    with sense(file):
        if any(noted.get(name) != value for name, value in plan.run.items()):
            return Campaign(plan)
        done = Campaign(
            plan,
            number(noted["cases"]),
            float(noted["seconds"]),
            float(noted["cpu-seconds"]),
            number(noted["guests"]),
            number(noted["runs"]) + 1,
            most_blocks=number(noted["blocks"]),
            most_pairs=number(noted["pairs"]),
            refused=number(noted.get("refused", 0)),
            refusal=harmless(str(noted.get("refusal", "")), lines=False),
        )
        for data in noted["findings"]:
            found = from_data(file, plan.target.name, data)
            found.defect = reason(found.case, found.finding, known, plan.driver) or found.defect
            done.found[found.finding.key] = found
    return done


def load_corpus(folder: Path, target: Target) -> list[Case]:
    """The cases in a folder, in the order of their names; UsageError names one that is none."""
    cases = []
    for file in sorted(folder.glob("*.json")):
        case = load(file)
        if case.target != target.name:
            raise UsageError(f"the case {file} is of the target '{case.target}', not {target.name}")
        cases.append(case)
    return cases


class _Loop:
    """What the jobs share."""

    def __init__(self, plan: Plan, known: Sequence[Known], runners: Sequence[Runs]) -> None:
        self.done = begun(plan, known)
        self._before = replace(self.done)
        self._known = known
        self._runners = runners
        self._lock = threading.Lock()
        self._number = plan.shard.number - 1
        self._begun = time.monotonic()
        self._cpu = time.process_time()
        self._emulators: dict[int, tuple[float, float]] = {}
        self._seen: dict[tuple[int, int], set[tuple[int, int]]] = {}
        self.stop = threading.Event()

    @property
    def over(self) -> bool:
        """Has somebody ended it, or is its time up?"""
        seconds = time.monotonic() - self._begun
        return self.stop.is_set() or seconds >= self.done.plan.seconds

    def seeds(self) -> list[Case]:
        """What the corpus has from earlier runs."""
        plan = self.done.plan
        return load_corpus(plan.corpus, plan.target)

    def next(self) -> Case | None:
        """The next case of this shard; None: enough."""
        plan = self.done.plan
        with self._lock:
            enough = 0 < plan.cases <= self._number // plan.shard.count
            if self.over or enough:
                return None
            number, self._number = self._number, self._number + plan.shard.count
            corpus = list(self.done.corpus)
        return make(plan.target, corpus, f"{plan.seed} {number}", plan.schedules)

    def take(self, job: int, runner: Runs, case: Case, ran: Ran) -> None:
        """What became of a case."""
        with self._lock:
            done = self.done
            done.cases += 1
            if ran.refused:
                self._refuse(case, ran.refused)
            elif self._is_new(job, runner, ran):
                done.corpus.append(case)
                runner.keep_counts(case)
                save(case, done.plan.corpus / f"{case.name}.json")
            for finding in ran.findings:
                self._find(runner, case, finding)
            self._count(job, runner)

    def _refuse(self, case: Case, why: str) -> None:
        """What could not be run is no case to change further; the first one is kept to be looked at."""
        done = self.done
        done.refused += 1
        if not done.refusal:
            done.refusal = why
            save(case, done.plan.folder / REFUSED)

    def _is_new(self, job: int, runner: Runs, ran: Ran) -> bool:
        """Has the case reached something that none has before?"""
        new = False
        # An address is the same place as long as the guest is the same.
        seen = self._seen.setdefault((job, runner.booted), set())
        fresh = [pair for pair in ran.reached if pair not in seen]
        seen.update(fresh)
        for pair in fresh:
            before, after = (runner.where(address) for address in pair)
            if (before, after) not in self.done.pairs:
                self.done.pairs.add((before, after))
                self.done.places.add(after)
                new = True
        return new

    def _find(self, runner: Runs, case: Case, finding: Finding) -> None:
        defect = reason(case, finding, self._known, runner.driver)
        known = self.done.found.get(finding.key)
        if known is not None and defect is not None and known.defect != defect:
            # Two defects that are known may show the same.
            number = defect.partition(":")[0]
            finding = replace(finding, where=f"{finding.where} ({number})".lstrip())
            known = self.done.found.get(finding.key)
        if known is not None:
            known.times += 1
            return
        found = Found(finding, case, defect)
        self.done.found[finding.key] = found
        keep(found, self.done.plan.folder)

    def _count(self, job: int, runner: Runs) -> None:
        before = self._before
        self.done.seconds = before.seconds + time.monotonic() - self._begun
        # An emulator that has ended took its time along; the last that was known counts.
        ended, last = self._emulators.get(job, (0.0, 0.0))
        now = runner.cpu_seconds()
        self._emulators[job] = (ended + last, now) if now < last else (ended, now)
        used = sum(ended + last for ended, last in self._emulators.values())
        used += time.process_time() - self._cpu
        self.done.cpu_seconds = before.cpu_seconds + used
        self.done.guests = before.guests + sum(one.booted for one in self._runners)


def lines(done: Campaign) -> Iterator[str]:
    """What it has found, for people."""
    yield done.line()
    if done.refused:
        yield f"{done.refused} × refused: {done.refusal}"
        if (file := done.plan.folder / REFUSED).exists():
            yield f"  {file}"
    for found in done.found.values():
        said = f"known: {found.defect}" if found.defect else "new"
        yield f"{found.times} × {found.finding.key}: {said}"
        yield f"  {found.finding.text}"
        yield f"  {done.plan.place_of(found)}"
        yield from (f"  {note}" for note in found.notes)


def shows(runner: Runs, key: str, runs: int = _RUNS) -> Callable[[Case], bool]:
    """Does a case show that finding, in one of so many runs?"""

    def look(case: Case) -> bool:
        for _ in range(runs):
            if any(finding.key == key for finding in runner.run(case).findings):
                return True
        return False

    return look


def fuzz(
    plan: Plan,
    runners: Sequence[Runs],
    known: Sequence[Known],
    progress: Progress,
    without: Runs | None = None,
) -> Campaign:
    """Run cases for as long as the plan says, then make what is new small.

    *without*: a guest that has not got the bug that is looked for: what it shows, too, is not new.
    """
    loop = _Loop(plan, known, runners)
    seeds = loop.seeds()
    with progress.step(f"fuzzing {plan.target.name}") as step:
        ending = threading.Event()

        def say() -> None:
            while not ending.wait(_PROGRESS_SECONDS):
                step.text = f"fuzzing {plan.target.name}: {loop.done.line()}"
                step.update(loop.done.cases)

        def work(job: int) -> None:
            runner = runners[job]
            for case in seeds[job :: len(runners)]:
                if loop.over:
                    return
                loop.take(job, runner, case, runner.run(case))
            while (case_ := loop.next()) is not None:
                ran = runner.run(case_)
                if not loop.stop.is_set():
                    loop.take(job, runner, case_, ran)

        teller = threading.Thread(target=say, daemon=True)
        teller.start()
        try:
            _run_all(work, loop, runners)
        except BaseException:
            # Of Ctrl-C, or of a guest that does not start: what was found until then is kept.
            note(loop.done)
            for line in lines(loop.done):
                progress.say(line)
            raise
        finally:
            ending.set()
            teller.join()
    if without is not None:
        compare(loop.done, without, progress)
    note(loop.done)  # for whoever ends what follows
    _make_small(loop.done, runners[0], progress)
    note(loop.done)
    return loop.done


def _run_all(work: Callable[[int], None], loop: _Loop, runners: Sequence[Runs]) -> None:
    with ThreadPoolExecutor(len(runners)) as pool:
        jobs = [pool.submit(work, job) for job in range(len(runners))]
        try:
            wait(jobs, return_when=FIRST_EXCEPTION)
        finally:
            if not all(job.done() for job in jobs):
                loop.stop.set()
                for runner in runners:
                    runner.kill()
    errors = [error for job in jobs if (error := job.exception()) is not None]
    if errors:
        raise errors[0]


def _make_small(done: Campaign, runner: Runs, progress: Progress) -> None:
    """What is new and has not been made small yet, as long as there is time."""
    end = time.monotonic() + max(done.plan.seconds, SMALL_SECONDS)

    def over() -> bool:
        return time.monotonic() >= end

    for found in [one for one in done.new if not one.small]:
        if over():
            return
        with progress.step(f"making {found.finding.key} small"):
            look = shows(runner, found.finding.key)
            if look(found.case):
                found.case, found.tries = minimise(found.case, look, _SMALL_TRIES, over)
                found.small = not over()
                once = shows(runner, found.finding.key, 1)
                found.shown = sum(once(found.case) for _ in range(_TIMES)), _TIMES
                keep(found, done.plan.folder)


def confirm(done: Campaign, judge: Runs, known: Sequence[Known], progress: Progress) -> None:
    """Run what is new or has failed again, in a guest of another kernel."""
    plan = done.plan
    with progress.step("running it again on the second kernel", len(done.corpus)) as step:
        for found in list(done.found.values()):
            ran = judge.run(found.case)
            keys = [finding.key for finding in ran.findings]
            found.note(f"on the second kernel: {'; '.join(keys) or 'nothing'}")
        for at, case in enumerate(done.corpus, 1):
            for finding in judge.run(case).findings:
                if finding.key not in done.found:
                    defect = reason(case, finding, known, judge.driver)
                    found = Found(finding, case, defect, notes=["on the second kernel only"])
                    done.found[finding.key] = found
                    keep(found, plan.folder)
            step.update(at)
    note(done)


def compare(done: Campaign, without: Runs, progress: Progress) -> None:
    """Run what is new on the same kernel without a bug: what that shows, too, is none of the bug's."""
    with progress.step("running it again without the bug"):
        for found in done.new:
            if shows(without, found.finding.key)(found.case):
                found.defect = "the kernel without the bug shows it, too"
            else:
                found.note("without the bug: nothing")
    note(done)


def note(done: Campaign) -> None:
    """The figures of all runs of the folder, for programs and for the next run."""
    text: dict[str, Any] = {
        **done.plan.run,
        "seed": done.plan.seed,
        "shard": str(done.plan.shard),
        "runs": done.runs,
        "cases": done.cases,
        "refused": done.refused,
        "refusal": done.refusal,
        "seconds": round(done.seconds, 1),
        "cpu-seconds": round(done.cpu_seconds, 1),
        "guests": done.guests,
        "blocks": done.blocks,
        "pairs": done.pair_count,
        "corpus": len(done.corpus),
        "findings": [{"key": one.finding.key, **one.to_json()} for one in done.found.values()],
    }
    write(done.plan.folder / RUN, text)


def write(file: Path, noted: Mapping[str, Any]) -> None:
    """Write run.json, at once and whole."""
    part = file.with_name(f".{file.name}.part")
    part.write_text(json.dumps(noted, indent=1) + os.linesep, encoding="utf-8")
    part.replace(file)
