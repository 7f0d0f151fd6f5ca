# SPDX-License-Identifier: MIT
"""QEMU and Hercules show a guest the same CP, or it is known why not."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from zvmlab.base.progress import Progress
from zvmlab.differ import report as differ_report
from zvmlab.differ.known_emulators import CATALOGUE, EMULATORS, emulator_pair
from zvmlab.differ.differ import Differential, Plan, differ
from zvmlab.guest.config import HERCULES, QEMU
from zvmlab.scenarios import possible

SEED = 20260101
FEW = ("commands", "read-one-set", "sever-with-sets-queued")
QUIET = Progress(quiet=True)


@pytest.fixture
def both(zvmlab_backend: str) -> None:
    """The test runs guests in both emulators, by itself: once, where Hercules is tested."""
    if zvmlab_backend != HERCULES:
        pytest.skip("compares both emulators; runs with --backend hercules")


def told(done: Differential) -> list[str]:
    """The lines of the report that say what is wrong."""
    return [line for line in differ_report.lines(done) if "explain" in line][:-1]


@pytest.mark.representative
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("both")
def test_emulators_agree(zvmlab_kernel: str, zvmlab_driver: str, zvmlab_dir: Path) -> None:
    """Commands, faults, sets: calls of CP and their results, bytes, errors, log."""
    plan = Plan(emulator_pair(zvmlab_kernel, zvmlab_driver), FEW, zvmlab_dir / "c", 20, SEED)
    done = differ(plan, QUIET)
    assert told(done) == [] and done.passed
    assert [scenario.found for scenario in done.scenarios] == [[]] * (len(FEW) + 1)
    assert all(scenario.steps > 0 for scenario in done.scenarios)
    report = json.loads(differ_report.write(done).read_text())
    assert report["emulators"] == list(EMULATORS) and report["driver"] == zvmlab_driver


@pytest.mark.representative
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("both")
def test_boots_differ_only_where_it_is_explained(zvmlab_kernel: str, zvmlab_dir: Path) -> None:
    """From the first instruction on: what the kernel asks of CP, what it says of its machine."""
    done = differ(Plan(emulator_pair(zvmlab_kernel), ("boot",), zvmlab_dir / "c", 0, SEED), QUIET)
    assert told(done) == [] and done.passed
    reasons = [why.reason for _, why in done.scenarios[0].found if why is not None]
    assert any(reason.startswith("the console is SCLP's in QEMU, a 3215") for reason in reasons)


@pytest.mark.full
@pytest.mark.first_kernel
def test_another_cp_is_found(zvmlab_kernel: str, zvmlab_dir: Path) -> None:
    """The second side's CP has another user ID and fewer messages: no rule hides that."""
    pair = emulator_pair(zvmlab_kernel)
    directory = "IUCV ALLOW;IUCV ANY;IUCV *MONITOR MSGLIMIT 100;IUCV *MSG;NAMESAVE MONDCSS"
    other = {"userid": "LINUX002", "directory": directory}
    plain = pair.configs[EMULATORS.index(QEMU)]
    second = plain._replace(cp={**plain.cp, **other})
    pair = dataclasses.replace(pair, configs=(plain, second), names=("one", "other"))
    plan = Plan(pair, ("boot", "open-close"), zvmlab_dir / "c", 0, SEED)
    done = differ(plan, QUIET)
    assert not done.passed
    boot, opened = (
        [
            (difference.aspect, difference.first, difference.second)
            for difference in compared.unexplained
        ]
        for compared in done.scenarios
    )
    assert {"sysinfo lines", "calls and CP"} <= {aspect for aspect, _, _ in boot}
    granted = [(first, second) for aspect, first, second in opened if aspect == "interruptions"]
    ours = [first for first, second in granted if " limit 255 " in first and not second]
    theirs = [second for first, second in granted if " limit 100 " in second and not first]
    assert len(ours) == len(theirs) == 2 and len(granted) == 4
    kept = zvmlab_dir / "c" / "guests-2-other" / "open-close.txt"
    assert "calls: connect *MONITOR limit 255 " in kept.read_text()


@pytest.mark.full
@pytest.mark.representative
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("both")
def test_emulators_agree_in_all_scenarios(
    zvmlab_kernel: str, zvmlab_driver: str, zvmlab_dir: Path
) -> None:
    """Every scenario and 200 sets: every difference has its entry, every entry a difference."""
    pair = emulator_pair(zvmlab_kernel, zvmlab_driver)
    pair = dataclasses.replace(pair, catalogue=possible(CATALOGUE, zvmlab_kernel))
    plan = Plan(pair, list(pair.catalogue), zvmlab_dir / "c", 200, SEED)
    assert plan.whole
    done = differ(plan, QUIET)
    assert told(done) == [] and done.passed
