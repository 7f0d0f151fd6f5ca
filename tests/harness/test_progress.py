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
        "building: 2/5, about 15 s left",
        "building: 4/5, about 5 s left",
        "built anew",
        "building: 25 s",
    ]


def test_brief_tells_of_what_lasts(clock: list[float]) -> None:
    stream = io.StringIO()
    steps(Progress(stream, brief=True), clock)
    assert progress.PLAIN_SECONDS == 10
    assert stream.getvalue().splitlines() == [
        "building: 2/5, about 15 s left",
        "building: 4/5, about 5 s left",
        "building: 25 s",
    ]


@pytest.mark.parametrize(
    ("done", "total", "said"),
    [
        (40, 1000, "building: 40/1000"),
        (50, 1000, "building: 50/1000, about 19 min left"),
        (1000, 1000, "building: 1000/1000"),
        (1001, 1000, "building: 1001/1000"),
        (7, None, "building: 7/?"),
    ],
)
def test_time_left_is_told_once_it_can_be_known(
    clock: list[float], done: int, total: int | None, said: str
) -> None:
    stream = io.StringIO()
    with Progress(stream).step("building", total) as step:
        clock[0] += 60
        step.update(done)
    assert stream.getvalue().splitlines()[1] == said


def test_quiet_says_nothing(clock: list[float]) -> None:
    stream = io.StringIO()
    steps(Progress(stream, quiet=True), clock)
    assert stream.getvalue() == ""
