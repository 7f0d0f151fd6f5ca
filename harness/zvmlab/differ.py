# SPDX-License-Identifier: MIT
"""Differential runs: the same scenarios with two drivers, every difference explained.

Both drivers get guests of the same kernel, the same seed, the same sets, faults
and calls of CP, one scenario after the other.  What is compared is in
zvmlab.differ_compare, what differences are known in zvmlab.differ_known.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from zvmlab.differ_compare import Difference, differences
from zvmlab.differ_known import EXPLAINED, Explained, explain
from zvmlab.differ_run import Side
from zvmlab.errors import UsageError
from zvmlab.guest_config import OUR_DRIVER, QEMU, UPSTREAM_DRIVER, GuestConfig
from zvmlab.products import prepare
from zvmlab.progress import Progress
from zvmlab.scenario_context import Scenario
from zvmlab.scenarios import BUILT_IN, EDGES, find
from zvmlab.scenarios.streams import random_streams
from zvmlab.sweep import MAX_SEED, PARAMETERS

MAX_SETS = 1_000_000
DRIVERS = (UPSTREAM_DRIVER, OUR_DRIVER)
CATALOGUE: dict[str, Scenario] = BUILT_IN | EDGES
"""All scenarios that a differential run has by name."""


@dataclass(frozen=True)
class Plan:
    """What is compared: scenarios by name or FILE.py:NAME, then so many sets made up."""

    scenarios: Sequence[str]
    output: Path
    sets: int = 0
    kernel: str = "bookworm"
    drivers: tuple[str, str] = DRIVERS
    seed: int = 0
    backend: str = QEMU

    def __post_init__(self) -> None:
        if not self.scenarios and not self.sets:
            raise UsageError("there is nothing to compare; name scenarios, or say --all or --sets")
        if not 0 <= self.sets <= MAX_SETS:
            raise UsageError(f"{self.sets} sets are not possible; 0 to {MAX_SETS} are")
        if not 0 <= self.seed <= MAX_SEED:
            raise UsageError(f"the seed {self.seed} is not a number from 0 to {MAX_SEED}")

    def runs(self) -> list[Scenario]:
        """The scenarios in their order."""
        found = [find(name, CATALOGUE) for name in self.scenarios]
        return found + ([random_streams(self.sets)] if self.sets else [])

    @property
    def whole(self) -> bool:
        """Does it have everything that the table of explanations is made for?"""
        return self.drivers == DRIVERS and set(CATALOGUE) <= set(self.scenarios)


@dataclass(frozen=True)
class Compared:
    """A scenario with both drivers: steps, bytes read, and what differs, each with its reason."""

    scenario: str
    steps: int
    size: int
    """Bytes that the first driver gave."""
    found: list[tuple[Difference, Explained | None]]

    @property
    def unexplained(self) -> list[Difference]:
        """What nothing is known of."""
        return [difference for difference, why in self.found if why is None]


@dataclass
class Differential:
    """A differential run."""

    plan: Plan
    kernel_version: str
    scenarios: list[Compared] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def unused(self) -> list[Explained]:
        """Explanations that nothing needed, though everything they are made for was run."""
        used = {why for compared in self.scenarios for _, why in compared.found}
        return [why for why in EXPLAINED if why not in used] if self.plan.whole else []

    @property
    def passed(self) -> bool:
        """Is every difference explained, and every explanation needed?"""
        return not self.unused and not any(one.unexplained for one in self.scenarios)


def differ(plan: Plan, progress: Progress) -> Differential:
    """Run all of it; logs of the guests are kept below the plan's folder unless it passes."""
    runs = plan.runs()
    sides = [_side(plan, number, progress) for number in (0, 1)]
    done = Differential(plan, sides[0].kernel_version)
    started = time.monotonic()
    try:
        with progress.step("scenarios with both drivers", len(runs)) as step:
            for number, scenario in enumerate(runs, 1):
                done.scenarios.append(_compare(plan, scenario, sides))
                step.update(number)
    finally:
        for side in sides:
            side.close()
    done.seconds = time.monotonic() - started
    if done.passed:
        for side in sides:
            side.forget()
    return done


def _side(plan: Plan, number: int, progress: Progress) -> Side:
    driver = plan.drivers[number]
    config = GuestConfig(
        kernel=plan.kernel, driver=driver, cp={"seed": str(plan.seed)}, backend=plan.backend
    )
    products = prepare(config, progress)
    folder = plan.output / f"guests-{number + 1}-{Path(driver).stem}"
    return Side(config, products, folder, plan.seed, PARAMETERS.get(driver, ""))


def _compare(plan: Plan, scenario: Scenario, sides: Sequence[Side]) -> Compared:
    first, second = (side.run(scenario) for side in sides)
    found = [(one, explain(one, plan.drivers)) for one in differences(first, second)]
    size = sum(len(one.stream) for one in first.sets)
    return Compared(scenario.name, len(first.outcome.steps), size, found)
