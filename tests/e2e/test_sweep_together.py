# SPDX-License-Identifier: MIT
"""Sweeps of two guests that talk to each other: calls of either fail, and machines end."""

from __future__ import annotations

from pathlib import Path

import pytest

from zvmlab.base.errors import UsageError
from zvmlab.base.progress import Progress
from zvmlab.sweep import report as sweep_report
from zvmlab.sweep.sweep import Plan, Sweep, sweep

pytestmark = [pytest.mark.first_kernel, pytest.mark.requirement("S20")]

SEED = 20260101
QUIET = Progress(quiet=True)


def swept(kernel: str, folder: Path, *patterns: str, jobs: int = 1) -> Sweep:
    """The sweep of a conversation, at these points."""
    return sweep(
        Plan("conversation", folder / "sweep", kernel, seed=SEED, patterns=patterns, jobs=jobs),
        QUIET,
    )


def test_calls_of_either_guest_fail(zvmlab_kernel: str, zvmlab_dir: Path) -> None:
    """Each user's calls are counted by themselves; a refused SEND is seen by the program that sends."""
    done = swept(zvmlab_kernel, zvmlab_dir, "ALICE iucv.send#1:rc=0x0[34]", "BOB iucv.accept#1:cc*")
    steps = [str(step) for step in done.counted.outcome.steps]
    assert 'BOB receives returned=1 errno=null data="question"' in steps
    assert 'ALICE receives returned=1 errno=null data="answer"' in steps
    calls = done.counted.calls
    assert calls["ALICE iucv.connect"] == calls["BOB iucv.accept"] == 1
    assert "BOB iucv.connect" not in calls and "ALICE iucv.accept" not in calls
    found = sweep_report.verdicts(done)
    assert [(str(v.case), v.word) for v in found] == [
        ("ALICE iucv.send#1:rc=0x03", sweep_report.OK),
        ("ALICE iucv.send#1:rc=0x04", sweep_report.OK),
        ("BOB iucv.accept#1:cc=2", sweep_report.OK),
        ("BOB iucv.accept#1:cc=3", sweep_report.OK),
    ]
    said = [sweep_report.effect(v.result, done.counted.outcome) for v in found]
    assert all(text.startswith("ALICE sends E") for text in said[:2]), said
    assert all(text.startswith("ALICE connects E") for text in said[2:]), said


def test_machine_ends_in_the_midst(zvmlab_kernel: str, zvmlab_dir: Path) -> None:
    """At its connection's break; the other guest talks to the next one of that user."""
    done = swept(zvmlab_kernel, zvmlab_dir, "BOB machine.link#1:*", "ALICE machine.link#32:*")
    found = sweep_report.verdicts(done)
    assert [(str(v.case), v.word) for v in found] == [
        ("ALICE machine.link#32:sever=0x00", sweep_report.OK),
        ("BOB machine.link#1:sever=0x00", sweep_report.OK),
    ]
    assert sweep_report.effect(found[1].result, done.counted.outcome) == "BOB ends"


def test_what_no_emulator_can_do(zvmlab_kernel: str, zvmlab_dir: Path) -> None:
    """Members of a system are in QEMU."""
    plan = Plan("conversation", zvmlab_dir / "sweep", zvmlab_kernel, backend="hercules")
    with pytest.raises(UsageError, match="hercules cannot run scenario conversation; qemu can"):
        sweep(plan, QUIET)


@pytest.mark.full
@pytest.mark.timeout(2400)
def test_whole_sweep(zvmlab_kernel: str, zvmlab_dir: Path) -> None:
    """Every fault at every call of both: both talk afterwards, or it is known why they do not."""
    done = swept(zvmlab_kernel, zvmlab_dir, jobs=2)
    found = sweep_report.verdicts(done)
    sweep_report.write(done, found, 0.0)
    assert len(found) == len(done.cases) >= 200
    assert [(str(v.case), v.blame) for v in found if v.blame] == []
