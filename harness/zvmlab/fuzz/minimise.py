# SPDX-License-Identifier: MIT
"""Cases made small: fewer steps, smaller values, the same finding.

    small, tries = minimise(case, lambda candidate: shows(candidate), most=500)
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.fuzz.case import Case
from zvmlab.scenarios.steps import THREADS, check_step

_HALVED = 1 << 16
"""Numbers above that are addresses rather than sizes."""
_OF_A_THREAD = ("signal", "out")
"""Steps that are about a thread, not of one."""
MOST = 500
"""So many candidates are run at most."""

Shows = Callable[[Case], bool]
"""Does a case still show what it is about?"""
Over = Callable[[], bool]
"""Is there no time for more?"""


class _Enough(Exception):
    """No more candidates are to be run."""


class _Minimiser:
    def __init__(self, case: Case, shows: Shows, most: int, over: Over) -> None:
        self.case = case
        self.tries = 0
        self._shows = shows
        self._most = most
        self._over = over

    def _take(self, candidate: Case) -> bool:
        """Go on from it if it shows the same."""
        if self.tries >= self._most or self._over():
            raise _Enough
        self.tries += 1
        if not self._shows(candidate):
            return False
        self.case = candidate
        return True

    def fewer_steps(self) -> bool:
        """Leave out halves, quarters … and single steps; has that helped?"""
        before = len(self.case.steps)
        size = max(1, before // 2)
        while True:
            at = 0
            while at < len(self.case.steps):
                steps = self.case.steps
                if not self._take(self.case.with_steps(steps[:at] + steps[at + size :])):
                    at += size
            if size == 1:
                return len(self.case.steps) < before
            size //= 2

    def simpler_steps(self) -> bool:
        """Leave the thread out of each step, and make its numbers smaller; has that helped?"""
        before = self.case
        for at in range(len(self.case.steps)):
            self._without_thread(at)
            for where in list(_numbers(self.case.steps[at], ())):
                self._smaller(at, where)
        return self.case != before

    def _without_thread(self, at: int) -> None:
        """The first thread does it, which a step need not say."""
        step = dict(self.case.steps[at])
        thread = step.pop("thread", None)
        if thread is None or step["do"] in _OF_A_THREAD:
            return
        if thread == THREADS[0]:
            steps = list(self.case.steps)
            steps[at] = step
            self.case = self.case.with_steps(steps)
        else:
            self._put(at, step)

    def _smaller(self, at: int, where: tuple[Any, ...]) -> None:
        """One number: none, one, or half of it and again half of that."""
        step = self.case.steps[at]
        value = _at(step, where)
        for small in (0, 1):
            if small < abs(value) and self._put(at, _with(step, where, small)):
                return
        while 2 < value <= _HALVED and self._put(at, _with(step, where, value // 2)):
            value //= 2

    def _put(self, at: int, step: Mapping[str, Any]) -> bool:
        """Put a step in place of another, if it is one and shows the same."""
        try:
            check_step("", step, self.case.cpus)
        except UsageError:
            return False
        steps = list(self.case.steps)
        steps[at] = step
        return self._take(self.case.with_steps(steps))


def minimise(
    case: Case, shows: Shows, most: int = MOST, over: Over = lambda: False
) -> tuple[Case, int]:
    """The smallest case found that shows the same, and how many candidates were run for that."""
    found = _Minimiser(case, shows, most, over)
    try:
        while found.fewer_steps() | found.simpler_steps():
            pass
    except _Enough:
        pass
    return found.case, found.tries


def _numbers(value: Any, where: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Where there are numbers within a value."""
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        yield where
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, (*where, key))
    elif isinstance(value, list):
        for key, inner in enumerate(value):
            yield from _numbers(inner, (*where, key))


def _at(value: Any, where: tuple[Any, ...]) -> Any:
    for key in where:
        value = value[key]
    return value


def _with(step: Mapping[str, Any], where: tuple[Any, ...], number: int) -> dict[str, Any]:
    made = copy.deepcopy(dict(step))
    _at(made, where[:-1])[where[-1]] = number
    return made
