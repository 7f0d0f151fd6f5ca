# SPDX-License-Identifier: MIT
"""Sweeps: a scenario again and again, with every fault at every call of CP it makes.

A run without a fault, twice, gives the calls; then each of them fails in each
way that its point allows.  The folder of a sweep has what became of each case
as soon as it is known, so that an interrupted sweep goes on where it was.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zvmlab.base.errors import UsageError, ZvmlabError
from zvmlab.base.owned import claim, renew
from zvmlab.base.progress import Progress
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import OUR_DRIVER, QEMU, UPSTREAM_DRIVER, GuestConfig, Artifacts
from zvmlab.scenarios import find
from zvmlab.sweep.cases import Case, cases
from zvmlab.sweep.run import Counted, Result, Runner

STATE = "state.jsonl"
_GUESTS = "guests-"
# A step that takes longer than scenarios.context.STEP_SECONDS sleeps for good.
PARAMETERS: Mapping[str, str] = {OUR_DRIVER: "open_timeout=1"}
"""What drivers are loaded with, by name, for their waits to be shorter than that."""
MAX_JOBS = 16
# Guests also wait, for ticks of their clocks and for the harness.
_JOBS_PER_CPU = 2
MAX_SEED = (1 << 32) - 1


def default_jobs() -> int:
    """How many guests at once keep this machine's CPUs busy."""
    return min(MAX_JOBS, _JOBS_PER_CPU * len(os.sched_getaffinity(0)))


@dataclass(frozen=True)
class Plan:
    """What is swept; *patterns* choose points, or cases as they are printed (none: all)."""

    scenario: str
    output: Path
    kernel: str = "bookworm"
    driver: str = UPSTREAM_DRIVER
    seed: int = 0
    patterns: tuple[str, ...] = ()
    jobs: int = field(default_factory=default_jobs)
    params: str | None = None
    """What the driver is loaded with; None: what makes its waits short enough for a sweep."""
    backend: str = QEMU

    def __post_init__(self) -> None:
        if not 1 <= self.jobs <= MAX_JOBS:
            raise UsageError(f"invalid number of jobs: {self.jobs} (1 to {MAX_JOBS})")
        if not 0 <= self.seed <= MAX_SEED:
            raise UsageError(f"the seed {self.seed} is not a number from 0 to {MAX_SEED}")

    @property
    def parameters(self) -> str:
        """What the driver is loaded with."""
        return PARAMETERS.get(self.driver, "") if self.params is None else self.params

    def identity(self, artifacts: Artifacts) -> dict[str, Any]:
        """What must be the same for results to belong together."""
        return {
            "scenario": self.scenario,
            "kernel": artifacts.kernel_version,
            "image": str(artifacts.image),  # in the cache, named after all that is in it
            "driver": self.driver,
            "params": self.parameters,
            "seed": self.seed,
            "patterns": list(self.patterns),
            "backend": self.backend,
        }


@dataclass
class Sweep:
    """A sweep and what became of its cases, in the order of the cases."""

    plan: Plan
    kernel_version: str
    counted: Counted
    cases: list[Case]
    results: dict[str, Result] = field(default_factory=dict)
    guests: int = 0


class State:
    """The results so far, in a file: a line for the sweep, one for each case."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / STATE
        self._lock = threading.Lock()

    def load(self, identity: dict[str, Any]) -> dict[str, Result] | None:
        """What an earlier sweep found; None if there is none, UsageError if it was another."""
        lines = self._lines()
        if not lines:
            return None
        if lines[0].get("sweep") != identity:
            raise UsageError(
                f"{self.path.parent} has another sweep (scenario, kernel, driver, emulator, seed or"
                " points differ); --fresh starts again"
            )
        whole = "".join(f"{json.dumps(line)}\n" for line in lines)
        self.path.write_text(whole, encoding="utf-8")  # what a kill has cut is gone
        with self._sense():
            results = [Result.from_json(line) for line in lines[1:] if "case" in line]
            return {result.case: result for result in results}

    def finished(self) -> bool:
        """Did the sweep whose file it is come to its end?"""
        lines = self._lines()
        return bool(lines) and "finished" in lines[-1]

    def seed(self) -> int | None:
        """The seed of the sweep whose file it is."""
        lines = self._lines()
        with self._sense():
            return int(lines[0]["sweep"]["seed"]) if lines and "sweep" in lines[0] else None

    def begin(self, identity: dict[str, Any]) -> None:
        """Forget what was there."""
        self.path.write_text(json.dumps({"sweep": identity}) + "\n", encoding="utf-8")

    def add(self, line: dict[str, Any]) -> None:
        """One more line."""
        with self._lock, open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def _lines(self) -> list[dict[str, Any]]:
        if not self.path.exists():
            return []
        with self._sense():
            text = self.path.read_text(encoding="utf-8")
            whole = text[: text.rfind("\n") + 1].split("\n")[:-1]
            return [dict(json.loads(line)) for line in whole]

    @contextlib.contextmanager
    def _sense(self) -> Iterator[None]:
        """UsageError if the file is not what this class writes."""
        try:
            yield
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            raise UsageError(
                f"{self.path} is not the state of a sweep; --fresh starts again"
            ) from None


def remembered(plan: Plan, identity: dict[str, Any], resume: bool | None) -> dict[str, Result]:
    """Results to go on from.  *resume*: True, False (begin anew) or None (ask if it matters)."""
    state = State(plan.output)
    if resume is None and state.path.exists() and not state.finished():
        raise UsageError(
            f"{plan.output} has an interrupted sweep; --resume continues it, --fresh starts again"
        )
    if resume:
        found = state.load(identity)
        if found is None:
            raise UsageError(f"{plan.output} has no sweep to continue; leave out --resume")
        return found
    for folder in plan.output.glob(f"{_GUESTS}*"):
        renew(folder)
    state.begin(identity)
    return {}


def sweep(plan: Plan, progress: Progress, resume: bool | None = None) -> Sweep:
    """Run all cases that have no result yet."""
    scenario = find(plan.scenario)
    # CP's seed is its default, for the guests of all sweeps to start from one checkpoint.
    config = GuestConfig(
        kernel=plan.kernel, driver=plan.driver, backend=plan.backend, modules=scenario.modules
    )
    artifacts = prepare(config, progress)
    identity = plan.identity(artifacts)
    plan.output.mkdir(parents=True, exist_ok=True)
    results = remembered(plan, identity, resume)
    folders = [plan.output / f"{_GUESTS}{job}" for job in range(1, plan.jobs + 1)]
    for folder in folders:
        claim(folder, lambda path: path.name.isdigit())
    runners = [
        Runner(scenario, config, artifacts, folder, str(plan.seed), plan.parameters)
        for folder in folders
    ]
    try:
        with progress.step(f"{scenario.name} without a fault"):
            counted = _counted(runners[0])
        made = list(cases(counted.points, counted.calls, str(plan.seed), plan.patterns))
        if not made:
            raise UsageError(
                f"no call of {scenario.name} fits --point {' '.join(plan.patterns) or '(none)'};"
                f" it calls {', '.join(counted.calls)}"
            )
        whole = Sweep(plan, artifacts.kernel_version, counted, made)
        names = {str(case) for case in made}
        whole.results = {name: found for name, found in results.items() if name in names}
        with progress.step(f"faults in {scenario.name}", len(made)) as step:
            step.update(len(whole.results))

            def take(result: Result) -> None:
                State(plan.output).add(result.to_json())
                whole.results[result.case] = result
                step.update(len(whole.results))

            run_all(runners, [case for case in made if str(case) not in whole.results], take)
        State(plan.output).add({"finished": len(made)})
    finally:
        for runner in runners:
            runner.close()
    whole.guests = sum(runner.booted for runner in runners)
    return whole


def _counted(runner: Runner) -> Counted:
    """Twice, because a scenario that is not the same each time has no n-th call."""
    first, second = runner.count(), runner.count()
    different = first.outcome.differences(second.outcome)
    different += [
        f"{first.calls.get(name, 0)} calls of {name} against {second.calls.get(name, 0)}"
        for name in dict.fromkeys([*first.calls, *second.calls])
        if first.calls.get(name, 0) != second.calls.get(name, 0)
    ]
    if different:
        raise ZvmlabError(
            f"scenario {first.outcome.scenario} is not the same in two runs, so it cannot be"
            f" swept: {different[0]}"
        )
    return first


def run_all(
    runners: Sequence[Runner], todo: Sequence[Case], take: Callable[[Result], None]
) -> None:
    """Every case on one of the runners; *take* gets the results, one at a time."""
    queue = deque(todo)
    stop = threading.Event()
    lock = threading.Lock()

    def work(runner: Runner) -> None:
        while queue and not stop.is_set():
            try:
                case = queue.popleft()
            except IndexError:
                return  # the other job was quicker
            result = runner.run(case)
            with lock:
                take(result)

    with ThreadPoolExecutor(len(runners)) as pool:
        jobs = [pool.submit(work, runner) for runner in runners]
        try:
            wait(jobs, return_when=FIRST_EXCEPTION)
        finally:
            stop.set()
    for job in jobs:
        job.result()
