# SPDX-License-Identifier: MIT
"""Differential runs: the same scenarios on two sides, every difference explained.

The sides are guests of one kernel that differ in one thing, their driver
(zvmlab.differ.known_drivers) or their emulator (zvmlab.differ.known_emulators).  Both get the same
seed, sets, faults and calls of CP, one scenario after the other.  What is
compared is in zvmlab.differ.compare.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.base.progress import Progress
from zvmlab.base.results import NAME, Head, ResultsFile
from zvmlab.base.shard import Shard
from zvmlab.differ.compare import Difference, differences
from zvmlab.differ.explain import Explained
from zvmlab.differ.run import Side
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import GuestConfig
from zvmlab.scenarios import find
from zvmlab.scenarios.context import Scenario
from zvmlab.scenarios.streams import random_streams
from zvmlab.sweep.sweep import MAX_SEED

KIND = "diff"
MAX_SETS = 1_000_000


@dataclass(frozen=True)
class Pair:
    """Two sides, and what is known of them."""

    kind: str
    """What they differ in: "drivers", "emulators"."""
    common: tuple[str, str]
    """What they have in common besides the kernel: "backend" and "qemu", "driver" and "zvmlab"."""
    names: tuple[str, str]
    """As reports call them."""
    configs: tuple[GuestConfig, GuestConfig]
    params: tuple[str, str]
    """What their drivers are loaded with."""
    catalogue: Mapping[str, Scenario]
    """All scenarios that have a name."""
    tracks: tuple[str, ...]
    """Tracks of the trace (zvmlab.differ.trace_lines) that must be the same."""
    explained: tuple[Explained, ...] = ()
    """Made for the whole catalogue."""

    def explain(self, difference: Difference) -> Explained | None:
        """The entry that covers it, the first one; None: unexplained."""
        return next((entry for entry in self.explained if entry.covers(difference)), None)


@dataclass(frozen=True)
class Plan:
    """The comparison: scenarios by name or FILE.py:NAME, then a number of made-up sets.

    With *keep* the logs stay even if everything is explained.
    """

    pair: Pair
    scenarios: Sequence[str]
    output: Path
    sets: int = 0
    seed: int = 0
    keep: bool = False
    shard: Shard = Shard()
    """Which of the scenarios are run."""

    def __post_init__(self) -> None:
        if not self.scenarios and not self.sets:
            raise UsageError("nothing to compare given; name scenarios, or use --all or --sets")
        if not 0 <= self.sets <= MAX_SETS:
            raise UsageError(f"invalid number of sets: {self.sets} (0 to {MAX_SETS})")
        if not 0 <= self.seed <= MAX_SEED:
            raise UsageError(f"the seed {self.seed} is not a number from 0 to {MAX_SEED}")

    def runs(self) -> list[Scenario]:
        """The scenarios in their order."""
        found = [find(name, self.pair.catalogue) for name in self.scenarios]
        return self.shard.share(found + ([random_streams(self.sets)] if self.sets else []))

    @property
    def whole(self) -> bool:
        """Does it have everything that the table of explanations is made for?"""
        named = set(self.pair.catalogue) <= set(self.scenarios)
        return bool(self.pair.explained) and named and self.shard.whole

    def identity(self, kernel_version: str) -> dict[str, Any]:
        """Values that must be equal for results to belong together."""
        pair = self.pair
        return {
            "kernel": kernel_version,
            pair.common[0]: pair.common[1],
            pair.kind: list(pair.names),
            "params": list(pair.params),
            "seed": self.seed,
            "sets": self.sets,
            "scenarios": list(self.scenarios),
        }


@dataclass(frozen=True)
class Compared:
    """A scenario on both sides: steps, bytes read, and what differs, each with its reason."""

    scenario: str
    steps: int
    size: int
    """Bytes that were read on the first side."""
    found: list[tuple[Difference, Explained | None]]

    def to_json(self) -> dict[str, Any]:
        """Plain data, without the reasons: those are found anew."""
        return {
            "scenario": self.scenario,
            "steps": self.steps,
            "bytes": self.size,
            "differences": [[d.where, d.aspect, d.first, d.second] for d, _ in self.found],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], pair: Pair) -> Compared:
        """From what to_json() gave."""
        name = str(data["scenario"])
        texts = [map(str, one) for one in data["differences"]]
        found = [Difference(name, *one) for one in texts]
        explained = [(one, pair.explain(one)) for one in found]
        return cls(name, int(data["steps"]), int(data["bytes"]), explained)

    @property
    def unexplained(self) -> list[Difference]:
        """The differences without an explanation."""
        return [difference for difference, why in self.found if why is None]


@dataclass
class Differential:
    """A differential run."""

    plan: Plan
    kernel_version: str
    scenarios: list[Compared] = field(default_factory=list)
    seconds: float | None = None
    """None: not of one machine, and not of one run."""

    @property
    def unused(self) -> list[Explained]:
        """Explanations that nothing needed, though everything they are made for was run."""
        used = {why for compared in self.scenarios for _, why in compared.found}
        return (
            [why for why in self.plan.pair.explained if why not in used] if self.plan.whole else []
        )

    @property
    def passed(self) -> bool:
        """Is every difference explained, and every explanation needed?"""
        return not self.unused and not any(scenario.unexplained for scenario in self.scenarios)


def differ(plan: Plan, progress: Progress) -> Differential:
    """Run all of it; logs of the guests are kept below the plan's folder unless it passes."""
    runs = plan.runs()
    sides = [_side(plan, number, progress) for number in (0, 1)]
    done = Differential(plan, sides[0].kernel_version)
    state = ResultsFile(plan.output / NAME)
    state.begin(Head(KIND, plan.shard, plan.identity(done.kernel_version)))
    started = time.monotonic()
    try:
        with progress.step(f"scenarios with both {plan.pair.kind}", len(runs)) as step:
            for number, scenario in enumerate(runs, 1):
                done.scenarios.append(_compare(plan.pair, scenario, sides))
                state.add(done.scenarios[-1].to_json())
                step.update(number)
        state.finish(len(runs))
    finally:
        for side in sides:
            side.close()
    done.seconds = time.monotonic() - started
    if done.passed and not plan.keep:
        for side in sides:
            side.forget()
    return done


def _side(plan: Plan, number: int, progress: Progress) -> Side:
    # CP's own seed stays as it is: what is probable is no matter of comparisons, and a guest
    # of the same configuration can go on from a checkpoint.
    config = plan.pair.configs[number]
    artifacts = prepare(config, progress)
    folder = plan.output / f"guests-{number + 1}-{Path(plan.pair.names[number]).stem}"
    return Side(config, artifacts, folder, plan.seed, plan.pair.params[number])


def _compare(pair: Pair, scenario: Scenario, sides: Sequence[Side]) -> Compared:
    first, second = (side.run(scenario) for side in sides)
    found = [
        (difference, pair.explain(difference))
        for difference in differences(first, second, pair.tracks)
    ]
    size = sum(len(difference.stream) for difference in first.sets)
    return Compared(scenario.name, len(first.outcome.steps), size, found)
