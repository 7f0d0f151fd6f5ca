# SPDX-License-Identifier: MIT
"""One side of a differential run: a guest, and what a scenario showed in it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from zvmlab.base.errors import GuestPanic
from zvmlab.base.owned import discard, renew
from zvmlab.cp.tracefmt import read_part
from zvmlab.differ.trace_lines import TraceLines, trace_lines
from zvmlab.guest.config import GuestConfig, Artifacts
from zvmlab.guest.guest import Guest
from zvmlab.guest.pool import Pool, numbered
from zvmlab.monitor.monitor import CapturedSet
from zvmlab.monitor.steps import settle
from zvmlab.scenarios.context import Context, FoundSet, Scenario, Stuck
from zvmlab.scenarios.outcome import Outcome
from zvmlab.sweep.run import crash

_CONSOLE_SECONDS = 20.0
_NOT_IN_A_NAME = re.compile(r"[^\w.-]")


@dataclass
class Observed:
    """The observations of one run of a scenario."""

    outcome: Outcome
    sets: list[FoundSet] = field(default_factory=list)
    stored: list[CapturedSet] = field(default_factory=list)
    trace: TraceLines = field(default_factory=TraceLines)
    ended: str = ""
    """What ended the scenario early; log and trace are not there then."""

    def lines(self) -> Iterator[str]:
        """Everything that is compared, as lines for people and diff(1)."""
        if self.ended:
            yield f"end: {self.ended}"
        yield from (f"step {number}: {step}" for number, step in enumerate(self.outcome.steps, 1))
        yield from (f"log: {line}" for line in self.outcome.log)
        yield from (f"{track}: {text}" for track, text in self.trace.entries)

    def which(self, found: FoundSet) -> str:
        """The set whose bytes were read: "set N" of the scenario, or another origin."""
        if not found.complete:
            return "no end"
        if not found.stream:
            return "nothing"
        for number, stored in enumerate(self.stored, 1):
            if stored.stream == found.stream:
                return f"set {number}"
        return f"{len(found.stream)} bytes that are not a set of CP's"


class Side:
    """A guest that runs one scenario after the other; another where one needs more.

    A scenario that leaves something behind, or its end early, costs a new guest.
    *folder* takes the logs, and what each scenario showed as text.
    """

    def __init__(
        self, config: GuestConfig, artifacts: Artifacts, folder: Path, seed: int, params: str
    ) -> None:
        self.kernel_version = artifacts.kernel_version
        self._config = config
        self._folder = folder
        self._seed = seed
        self._params = params
        renew(folder)
        # What a scenario needs has other artifacts.
        self._pool = Pool(numbered(folder), limit=1, keep_logs=True)

    def run(self, scenario: Scenario) -> Observed:
        """Everything that the scenario shows on this side."""
        if scenario.boots:
            self.close()
        cold = scenario.boots or self._config.cold
        config = scenario.config(self._config)._replace(cold=cold)
        guest = self._pool.get(config)
        context = Context(guest, guest.logs, f"{self._seed} {scenario.name}", self._params)
        if scenario.boots:
            context.log_from_boot()
        try:
            with context:
                found = self._play(guest, context, scenario)
            if found.ended:
                self._pool.drop(guest)
            else:
                self._pool.put_back(guest)
        except GuestPanic as error:
            # A call that never returned may have been noted before the console was read.
            steps = [step for step in context.steps if not step.result.get("stuck")]
            ended = crash(guest, error)
            found = Observed(Outcome(scenario.name, tuple(steps), ()), ended=ended)
            self.close()
        text = "".join(f"{line}\n" for line in found.lines())
        (self._folder / f"{_NOT_IN_A_NAME.sub('_', scenario.name)}.txt").write_text(text)
        return found

    def _play(self, guest: Guest, context: Context, scenario: Scenario) -> Observed:
        trace = guest.channels.trace
        assert trace is not None, "a guest has a trace unless its configuration says no"
        begin = 0 if scenario.boots else trace.stat().st_size
        try:
            scenario.run(context)
        except Stuck as stuck:
            guest.console.wait_crash(_CONSOLE_SECONDS)
            guest.check()
            return Observed(Outcome(scenario.name, tuple(context.steps), ()), ended=str(stuck))
        settle(guest)
        outcome = context.outcome(scenario.name)
        if scenario.boots:
            # The kernel's threads log when they come to it.
            outcome = dataclasses.replace(outcome, log=tuple(sorted(outcome.log)))
        found = Observed(outcome, context.sets, context.stored_sets())
        found.trace = trace_lines(read_part(trace, begin, trace.stat().st_size))
        return found

    def close(self) -> None:
        """Stop the guest."""
        self._pool.stop()

    def forget(self) -> None:
        """Stop the guest and remove all logs."""
        self.close()
        discard(self._folder)
