# SPDX-License-Identifier: MIT
"""Limits that several waits share (zvmlab.base.limit), by a clock that the test sets."""

from __future__ import annotations

import time

import pytest

from zvmlab.base.limit import FIRST_PAUSE_SECONDS, PAUSE_SECONDS, FairLimit, Limit


class Clock:
    """Stands still but for sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.slept: list[float] = []
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "sleep", self._sleep)

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_what_is_left(clock: Clock) -> None:
    """It is over at its end, not before, and less than nothing is never left."""
    limit = Limit(2.5)
    clock.now += 2.25
    assert (limit.left(), limit.over) == (0.25, False)
    clock.now += 0.25
    assert (limit.left(), limit.over) == (0.0, True)
    clock.now += 100
    assert (limit.left(), limit.over, str(limit)) == (0.0, True, "2.5 s")


def test_looks_until_it_is_true(clock: Clock) -> None:
    """As often as need be, with a pause between two looks that gets longer, and then no more."""
    looks = iter([0, 3, 5, 7, 9])
    assert Limit(10).look(lambda: next(looks)) == 3
    assert Limit(10).look(lambda: next(looks), lambda seen: seen > 5) == 7
    assert clock.slept == [FIRST_PAUSE_SECONDS] * 2


def test_looks_until_the_end(clock: Clock) -> None:
    """What never happens is looked for to the end, and once even if there is no time at all."""
    pauses = [0.0005, 0.001, 0.002, 0.004, 0.008, PAUSE_SECONDS, PAUSE_SECONDS]
    last = Limit(sum(pauses) - PAUSE_SECONDS / 2).look(lambda: clock.now, lambda _: False)
    assert last == clock.now == pytest.approx(1000 + sum(pauses))
    assert clock.slept == pytest.approx(pauses)
    assert Limit(0).look(lambda: "once", lambda seen: seen == "twice") == "once"
    assert len(clock.slept) == len(pauses)


def test_time_without_a_cpu_does_not_count(clock: Clock) -> None:
    starved = 40.0

    def told() -> float:
        return starved

    limit = FairLimit(10, told)
    clock.now += 9
    assert (limit.left(), limit.over) == (1.0, False)
    starved += 6
    clock.now += 6
    assert (limit.left(), limit.over, str(limit)) == (1.0, False, "10 s")
    clock.now += 1
    assert limit.over


def test_nothing_waits_for_a_cpu_for_ever(clock: Clock) -> None:
    """Ten times what was allowed, and not a moment longer; what has ended has waited for nothing."""
    starved = 0.0

    def told() -> float:
        return starved

    limit = FairLimit(10, told)
    starved = 1e6
    clock.now += 99
    assert limit.left() == 1.0
    clock.now += 1
    assert limit.over
    limit = FairLimit(10, told)
    starved = 0.0
    clock.now += 9
    assert limit.left() == 1.0


def test_a_short_wait_asks_nobody(clock: Clock) -> None:
    """Not before a tenth of the time; what was missing before that counts."""
    asked: list[float] = []
    starved = 5.0

    def told() -> float:
        asked.append(clock.now)
        return starved

    limit = FairLimit(10, told, soon=True)
    assert (limit.left(), asked) == (1.0, [])
    clock.now += 0.75
    starved = 5.5
    assert (limit.left(), limit.over, asked) == (0.25, False, [])
    clock.now += 0.25
    assert (limit.left(), limit.over) == (9.0, False)
    assert asked
    starved = 9.5
    clock.now += 9
    assert (limit.left(), str(limit)) == (4.0, "10 s")
    clock.now += 4
    assert limit.over
    asked.clear()
    starved = 1e6
    clock.now += 86
    assert (limit.over, asked) == (True, [])
    limit = FairLimit(0, told, soon=True)
    assert (limit.over, asked) == (True, [])


def test_whoever_waits_may_be_late_itself(clock: Clock) -> None:
    """Nothing was asked before it had no CPU for longer than all of its time."""
    limit = FairLimit(10, lambda: 0.0, soon=True)
    assert limit.left() == 1.0
    clock.now += 31
    assert limit.left() == 9.0
    clock.now += 8.75
    assert limit.left() == 0.25
    clock.now += 0.25
    assert limit.over
    late = FairLimit(10, lambda: 0.0, soon=True)
    clock.now += 95
    assert late.left() == 5.0
    clock.now += 5
    assert late.over
