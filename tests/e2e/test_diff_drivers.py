# SPDX-License-Identifier: MIT
"""Differential runs: the kernel's own driver and ours see the same, or it is known why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from zvmlab.base.progress import Progress
from zvmlab.differ import report as differ_report
from zvmlab.differ.differ import Differential, Plan, differ
from zvmlab.differ.known_drivers import CATALOGUE, DRIVERS, driver_pair

pytestmark = pytest.mark.first_kernel

SEED = 20260101
FEW = ("read-one-set", "sever-with-sets-queued", "reads-of-no-bytes", "bad-buffers")
QUIET = Progress(quiet=True)


def told(done: Differential) -> list[str]:
    """The lines of the report that say what is wrong."""
    return [line for line in differ_report.lines(done) if "explain" in line][:-1]


def test_drivers_differ_only_where_it_is_explained(
    zvmlab_kernel: str, zvmlab_backend: str, zvmlab_dir: Path
) -> None:
    """Some scenarios and 40 sets made up from a seed: bytes, sizes, errors, polls, calls, log."""
    pair = driver_pair(zvmlab_kernel, backend=zvmlab_backend)
    plan = Plan(pair, FEW, zvmlab_dir / "diff", 40, SEED)
    done = differ(plan, QUIET)
    assert told(done) == [] and done.passed
    counts = {scenario.scenario: len(scenario.found) for scenario in done.scenarios}
    assert counts["read-one-set"] == 1 and counts["bad-buffers"] == 0
    assert counts["random-streams"] > 20 and counts["sever-with-sets-queued"] == 14
    reasons = {
        why.reason.split(":")[0] for scenario in done.scenarios for _, why in scenario.found if why
    }
    assert {"whole-stream read", "defect 1", "defect 6", "defect 11"} <= reasons


@pytest.mark.full
def test_unexplained_differences_are_found(
    zvmlab_kernel: str, zvmlab_backend: str, zvmlab_dir: Path
) -> None:
    """The same drivers in the other order: the table does not apply, and nothing is missed."""
    pair = driver_pair(zvmlab_kernel, (DRIVERS[1], DRIVERS[0]), zvmlab_backend)
    plan = Plan(pair, FEW[:1], zvmlab_dir / "diff", 0, SEED)
    done = differ(plan, QUIET)
    assert not done.passed
    assert told(done) == [
        "  unexplained: step 4 read, read sizes: zvmlab [92,0], upstream [12,80,0]"
    ]
    assert sorted(path.name for path in plan.output.iterdir()) == [
        "guests-1-zvmlab",
        "guests-2-upstream",
        "results.jsonl",
    ]


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_whole_catalogue_is_explained(
    zvmlab_kernel: str, zvmlab_backend: str, zvmlab_dir: Path
) -> None:
    """Every scenario and 1,000 sets: every difference has its entry, every entry a difference."""
    pair = driver_pair(zvmlab_kernel, backend=zvmlab_backend)
    plan = Plan(pair, list(CATALOGUE), zvmlab_dir / "diff", 1000, SEED)
    assert plan.whole
    done = differ(plan, QUIET)
    assert told(done) == [] and done.passed


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_driver_does_not_differ_from_itself(
    zvmlab_kernel: str, zvmlab_driver: str, zvmlab_backend: str, zvmlab_dir: Path
) -> None:
    """Differences between the drivers are no chance: two runs of one driver are equal."""
    pair = driver_pair(zvmlab_kernel, (zvmlab_driver, zvmlab_driver), zvmlab_backend)
    plan = Plan(pair, list(CATALOGUE), zvmlab_dir / "diff", 100, SEED)
    done = differ(plan, QUIET)
    assert [found for scenario in done.scenarios for found in scenario.found] == []
