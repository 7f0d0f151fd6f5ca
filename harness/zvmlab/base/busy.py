# SPDX-License-Identifier: MIT
"""Tells why a run took so long, if the machine had too much to do.

The kernel adds up for how long programs were ready and had no CPU (PSI, cpu.some;
Documentation/accounting/psi.rst of Linux); where it does not, nothing is told.
"""

from __future__ import annotations

import time

PRESSURE = "/proc/pressure/cpu"
LEAST_SECONDS, LEAST_SHARE = 60.0, 0.5
"""A shorter run, or one that had to wait less, needs no explanation."""
_SOME, _TOTAL = "some ", " total="


def waited() -> float | None:
    """Seconds since the machine was started in which some program waited for a CPU."""
    try:
        with open(PRESSURE, encoding="ascii") as file:
            some = next((line for line in file if line.startswith(_SOME)), "")
    except OSError:
        return None
    total = some.partition(_TOTAL)[2].strip()
    return int(total) / 1e6 if total.isdecimal() else None


class Busy:
    """Load of the machine since this object was made."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._before = waited()

    def explanation(self) -> str | None:
        """A sentence, if it was so much that it has to be told."""
        seconds, now = time.monotonic() - self._began, waited()
        if self._before is None or now is None or seconds < LEAST_SECONDS:
            return None
        share = min(1.0, (now - self._before) / seconds)
        if share < LEAST_SHARE:
            return None
        return (
            f"the machine was busy: in {share:.0%} of the {seconds:.0f} s of this run,"
            " programs on it waited for a CPU"
        )
