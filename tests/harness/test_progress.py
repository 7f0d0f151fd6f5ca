# SPDX-License-Identifier: MIT
"""What progress prints where there is no terminal."""

from __future__ import annotations

import io

import pytest

from zvmlab.base import progress
from zvmlab.base.progress import Progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time that progress sees, as the only member."""
    now = [100.0]
    monkeypatch.setattr("zvmlab.base.progress.time.monotonic", lambda: now[0])
    return now


def steps(shown: Progress, clock: list[float]) -> None:
    """One that takes a second, and one that takes 25, with a line in it that stays."""
    with shown.step("fetching") as step:
        clock[0] += 1
        step.update(1, 2)
    with shown.step("building") as step:
        for done in range(1, 6):
            clock[0] += 5
            step.update(done, 5)
        shown.say("built anew")


def test_every_step_has_a_line(clock: list[float]) -> None:
    stream = io.StringIO()
    steps(Progress(stream), clock)
    assert stream.getvalue().splitlines() == [
        "fetching ...",
        "building ...",
        "building: 2/5",
        "building: 4/5",
        "built anew",
        "building: 25 s",
    ]


def test_brief_tells_of_what_lasts(clock: list[float]) -> None:
    stream = io.StringIO()
    steps(Progress(stream, brief=True), clock)
    assert progress.PLAIN_SECONDS == 10
    assert stream.getvalue().splitlines() == ["building: 2/5", "building: 4/5", "building: 25 s"]


def test_quiet_says_nothing(clock: list[float]) -> None:
    stream = io.StringIO()
    steps(Progress(stream, quiet=True), clock)
    assert stream.getvalue() == ""
