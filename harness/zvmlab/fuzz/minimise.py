# SPDX-License-Identifier: MIT
"""Cases made small: fewer steps, smaller values, the same finding.

    small, tries = minimise(case, lambda candidate: shows(candidate), most=500)
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.fuzz.case import Case
from zvmlab.scenarios.steps import THREADS, check_step

MOST = 500
"""So many candidates are run at most."""

Shows = Callable[[Case], bool]
"""Does a case still show what it is about?"""


class _Enough(Exception):
    """No more candidates are to be run."""


class _Minimiser:
    def __init__(self, case: Case, shows: Shows, most: int) -> None:
        self.case = case
        self.tries = 0
        self._shows = shows
        self._most = most

    def _take(self, candidate: Case) -> bool:
        """Go on from it if it shows the same."""
        if self.tries >= self._most:
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

    def smaller_values(self) -> bool:
        """Make each value of each step simpler, one at a time; has that helped?"""
        helped = False
        for at in range(len(self.case.steps)):
            for candidate in _simpler(dict(self.case.steps[at])):
                try:
                    check_step("", candidate, self.case.cpus)
                except UsageError:
                    continue
                steps = list(self.case.steps)
                steps[at] = candidate
                helped |= self._take(self.case.with_steps(steps))
        return helped


def minimise(case: Case, shows: Shows, most: int = MOST) -> tuple[Case, int]:
    """The smallest case found that shows the same, and how many candidates were run for that."""
    found = _Minimiser(case, shows, most)
    try:
        while found.fewer_steps() | found.smaller_values():
            pass
    except _Enough:
        pass
    return found.case, found.tries


def _simpler(step: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The step with one thing of it simpler."""
    if step.get("thread", THREADS[0]) != THREADS[0]:
        yield {key: value for key, value in step.items() if key != "thread"}
    for where in list(_numbers(step, ())):
        value = _at(step, where)
        for smaller in dict.fromkeys((0, 1, value // 2)):
            if 0 <= smaller < abs(value):
                yield _with(step, where, smaller)


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


def _with(step: dict[str, Any], where: tuple[Any, ...], number: int) -> dict[str, Any]:
    made = copy.deepcopy(step)
    _at(made, where[:-1])[where[-1]] = number
    return made
