# SPDX-License-Identifier: MIT
"""A time limit for a whole action, shared by all of its waits."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

FIRST_PAUSE_SECONDS, PAUSE_SECONDS = 0.0005, 0.01


class Limit:
    """The caller's limit in seconds; all waits of one call share it, and errors name it."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds from now to its end; 0 when it is over."""
        return max(0.0, self._end - time.monotonic())

    @property
    def over(self) -> bool:
        """Has its end come?"""
        return self.left() == 0

    def look(self, at: Callable[[], T], enough: Callable[[T], object] = bool) -> T:
        """Look again and again, at least once, until it is *enough* or the end has come.

        The pauses in between get longer, since what comes mostly comes soon.  Return: what was seen last.
        """
        pause = FIRST_PAUSE_SECONDS
        while True:
            seen = at()
            if enough(seen) or self.over:
                return seen
            time.sleep(pause)
            pause = min(2 * pause, PAUSE_SECONDS)

    def __str__(self) -> str:
        return f"{self.seconds:g} s"


class FairLimit(Limit):
    """Seconds in which what is waited for could have run.

    *starved* tells for how many seconds it has been ready to run, and was given no CPU.  That time
    does not count, but no wait gets longer than LONGEST times what the caller allowed.
    """

    LONGEST = 10
    _UNASKED = 0.1

    def __init__(self, seconds: float, starved: Callable[[], float], soon: bool = False) -> None:
        """*soon*: most waits of the kind end so soon that asking *starved* would take as long.

        Then it is asked when a tenth of the time is over, and left() tells the time until then.
        Whoever comes later than that had no CPU itself, and what it missed does not count either.
        """
        super().__init__(seconds)
        self._last = self._end + (self.LONGEST - 1) * seconds
        self._starved = starved
        self._before = None if soon else starved()
        self._first = self._end - (1 - self._UNASKED) * seconds

    def left(self) -> float:
        """Seconds until it is over if there is a CPU from now on, or until it has to be asked again."""
        now = time.monotonic()
        if now >= self._last:
            return 0.0
        if self._before is None:
            if now < self._first:
                return self._first - now
            self._before = self._starved()
            self._end += now - self._first
        more = max(0.0, self._starved() - self._before)
        return max(0.0, min(self._end + more, self._last) - now)
