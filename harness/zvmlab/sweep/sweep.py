# SPDX-License-Identifier: MIT
"""Sweeps: a scenario again and again, with every fault at every call of CP it makes.

A run without a fault, twice, gives the calls; then each of them fails in each
way that its point allows.  The folder of a sweep has what became of each case
as soon as it is known, so that an interrupted sweep goes on where it was.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zvmlab.base.errors import UsageError, ZvmlabError
from zvmlab.base.owned import claim, renew
from zvmlab.base.progress import Progress
from zvmlab.base.results import NAME, Head, ResultsFile, sense
from zvmlab.base.shard import Shard
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import OUR_DRIVER, QEMU, UPSTREAM_DRIVER, GuestConfig, Artifacts
from zvmlab.guest.kernel_lines import Counts
from zvmlab.scenarios import to_sweep
from zvmlab.scenarios.together import TogetherScenario
from zvmlab.sweep.cases import Case, cases
from zvmlab.sweep.run import Counted, Result, Runner
from zvmlab.sweep.together import TogetherRunner

KIND = "sweep"
_GUESTS = "guests-"
# A step that takes longer than scenarios.context.STEP_SECONDS sleeps for good.
PARAMETERS: Mapping[str, str] = {OUR_DRIVER: "open_timeout=1"}
"""What drivers are loaded with, by name, for their waits to be shorter than that."""
MAX_JOBS = 16
# Guests also wait, for ticks of their clocks and for the harness.
_JOBS_PER_CPU = 2
MAX_SEED = (1 << 32) - 1


def default_jobs() -> int:
    """The number of guests that keep this machine's CPUs busy."""
    return min(MAX_JOBS, _JOBS_PER_CPU * len(os.sched_getaffinity(0)))


@dataclass(frozen=True)
class Plan:
    """The sweep: *patterns* choose points, or cases as they are printed (none: all)."""

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
    shard: Shard = Shard()
    """Which of the cases are run."""
    coverage: Path | None = None
    """Folder for counts of the lines of Linux that each case runs."""

    def __post_init__(self) -> None:
        if not 1 <= self.jobs <= MAX_JOBS:
            raise UsageError(f"invalid number of jobs: {self.jobs} (1 to {MAX_JOBS})")
        if not 0 <= self.seed <= MAX_SEED:
            raise UsageError(f"the seed {self.seed} is not a number from 0 to {MAX_SEED}")

    @property
    def parameters(self) -> str:
        """The parameters that the driver is loaded with."""
        return PARAMETERS.get(self.driver, "") if self.params is None else self.params

    def identity(self, artifacts: Artifacts) -> dict[str, Any]:
        """Values that must be equal for results to belong together."""
        return {
            "scenario": self.scenario,
            "kernel": artifacts.kernel_version,
            "image": artifacts.image.parent.name,  # in the cache, named after all that is in it
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


def state_of(output: Path) -> ResultsFile:
    """The results of the sweep in that folder."""
    return ResultsFile(output / NAME)


def seed_of(output: Path) -> int | None:
    """The seed of the sweep in that folder, if there is one."""
    found = state_of(output).read()
    with sense(state_of(output).path):
        return None if found is None else int(found.head.run["seed"])


def remembered(plan: Plan, head: Head, resume: bool | None) -> dict[str, Result]:
    """Results to go on from.  *resume*: True, False (begin anew) or None (ask if it matters)."""
    state = state_of(plan.output)
    if resume is not False:
        found = state.read()
        if resume is None and found is not None and not found.finished:
            raise UsageError(
                f"{plan.output} has an interrupted sweep; --resume continues it,"
                " --fresh starts again"
            )
        if resume:
            if found is None:
                raise UsageError(f"{plan.output} has no sweep to continue; leave out --resume")
            if found.head != head:
                raise UsageError(
                    f"{plan.output} has another sweep (scenario, kernel, driver, emulator, seed,"
                    " shard or points differ); --fresh starts again"
                )
            with sense(state.path):
                results = [Result.from_json(line) for line in found.lines if "case" in line]
            state.mend(found)
            return {result.case: result for result in results}
    for folder in plan.output.glob(f"{_GUESTS}*"):
        renew(folder)
    state.begin(head)
    return {}


def sweep(plan: Plan, progress: Progress, resume: bool | None = None) -> Sweep:
    """Run all cases that have no result yet."""
    scenario = to_sweep(plan.scenario)
    # CP's seed is its default, for the guests of all sweeps to start from one checkpoint.
    usual = GuestConfig(kernel=plan.kernel, driver=plan.driver, backend=plan.backend)
    if isinstance(scenario, TogetherScenario):
        configs = list(scenario.configs(usual).values())
    else:
        configs = [scenario.config(usual)]
    artifacts = [prepare(config, progress) for config in configs][0]
    head = Head(KIND, plan.shard, plan.identity(artifacts))
    plan.output.mkdir(parents=True, exist_ok=True)
    results = remembered(plan, head, resume)
    state = state_of(plan.output)
    folders = [plan.output / f"{_GUESTS}{job}" for job in range(1, plan.jobs + 1)]
    for folder in folders:
        claim(folder, lambda path: path.name.isdigit())
    counts = None if plan.coverage is None else Counts(plan.coverage)
    runners: list[Runner | TogetherRunner]
    if isinstance(scenario, TogetherScenario):
        runners = [TogetherRunner(scenario, usual, folder, counts) for folder in folders]
    else:
        seed = str(plan.seed)
        runners = [
            Runner(scenario, configs[0], artifacts, folder, seed, plan.parameters, counts)
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
        state.add({"counted": counted.to_json()})
        done = Sweep(plan, artifacts.kernel_version, counted, plan.shard.share(made))
        names = {str(case) for case in done.cases}
        done.results = {name: found for name, found in results.items() if name in names}
        with progress.step(f"faults in {scenario.name}", len(done.cases)) as step:
            step.update(len(done.results))

            def take(result: Result) -> None:
                state.add(result.to_json())
                done.results[result.case] = result
                step.update(len(done.results))

            run_all(runners, [one for one in done.cases if str(one) not in done.results], take)
        state.finish(len(done.cases))
    finally:
        for runner in runners:
            runner.close()
    done.guests = sum(runner.booted for runner in runners)
    return done


def _counted(runner: Runner | TogetherRunner) -> Counted:
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
    runners: Sequence[Runner | TogetherRunner], todo: Sequence[Case], take: Callable[[Result], None]
) -> None:
    """Every case on one of the runners; *take* gets the results, one at a time.

    Whatever ends it early ends the cases that run, too; they have no results.
    """
    queue = deque(todo)
    stop = threading.Event()
    lock = threading.Lock()

    def work(runner: Runner | TogetherRunner) -> None:
        while queue and not stop.is_set():
            try:
                case = queue.popleft()
            except IndexError:
                return  # the other job was quicker
            result = runner.run(case)
            with lock:
                if not stop.is_set():
                    take(result)

    with ThreadPoolExecutor(len(runners)) as pool:
        jobs = [pool.submit(work, runner) for runner in runners]
        try:
            wait(jobs, return_when=FIRST_EXCEPTION)
        finally:
            with lock:
                stop.set()
            if not all(job.done() for job in jobs):
                for runner in runners:
                    runner.abandon()
    for job in jobs:
        job.result()
