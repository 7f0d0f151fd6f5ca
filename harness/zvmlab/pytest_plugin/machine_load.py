# SPDX-License-Identifier: MIT
"""The last line of a run of a minute or more: its CPU time, and how busy the machine was.

Whoever wonders why the tests took so long learns whether other programs have slowed them down.
"""

from __future__ import annotations

import os
import time
from typing import Any, NamedTuple

import pytest

LEAST_SECONDS = 60.0
"""A shorter run needs no explanation."""
LEAST_OTHERS = 0.2
"""Share of the machine's processors that others had, from which on that is said."""
STAT = "/proc/stat"
# Of the line "cpu" (proc(5)): user, nice, system, irq, softirq.
_BUSY = (1, 2, 3, 6, 7)


class Used(NamedTuple):
    """Seconds since some time: elapsed, of CPU time of this run, of CPU time of all programs."""

    elapsed: float
    own: float
    all: float | None

    def since(self, before: Used) -> Used:
        """The difference."""
        unknown = self.all is None or before.all is None
        every = None if unknown else (self.all or 0.0) - (before.all or 0.0)
        return Used(self.elapsed - before.elapsed, self.own - before.own, every)


def used() -> Used:
    """Up to now.  A program that runs counts as this run's when it has ended."""
    times = os.times()
    own = times.user + times.system + times.children_user + times.children_system
    return Used(time.monotonic(), own, _machine())


def _machine() -> float | None:
    """CPU time of all programs; None if the kernel does not say."""
    try:
        with open(STAT, encoding="ascii") as file:
            words = file.readline().split()
        if words[0] != "cpu":
            return None
        return sum(int(words[at]) for at in _BUSY) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


def sentence(run: Used, processors: int) -> str | None:
    """Say what a run used; None if it was short."""
    if run.elapsed < LEAST_SECONDS:
        return None
    text = f"{run.elapsed:.0f} s, with {run.own:.0f} s of CPU time"
    if not run.all:
        return text
    there = run.elapsed * processors
    busy = min(1.0, run.all / there)
    others = max(0.0, run.all - run.own)
    text += f"; the machine was busy for {busy:.0%} of that time"
    if others > LEAST_OTHERS * there:
        text += f", {others / run.all:.0%} of it with other programs, which made this run slower"
    return text


class _Reporter:
    def __init__(self) -> None:
        self._began = used()

    @pytest.hookimpl(trylast=True)  # type: ignore[misc]  # pluggy 1.0 has no types
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Below all else that is reported."""
        found = sentence(used().since(self._began), os.cpu_count() or 1)
        if found is not None:
            terminalreporter.line(found)


def pytest_configure(config: pytest.Config) -> None:
    """Measure the whole run, in the process that reports it."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Reporter(), "zvmlab-load")
