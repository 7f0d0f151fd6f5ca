# SPDX-License-Identifier: MIT
"""The messages of a guest's kernel since the last call, and how many were lost.

The kernel's log overwrites its oldest records when it is full.  What the lost ones said nobody
knows, but of most crashes the kernel remembers that it had one: it is tainted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from zvmlab.agent.results import LogLine, Settled
from zvmlab.base.errors import ZvmlabError
from zvmlab.guest.console import Crash, classify

# Bits of /proc/sys/kernel/tainted, the letters that an oops shows for them, and crashes
# (Documentation/admin-guide/tainted-kernels.rst of Linux).
_TAINTS = ((5, "B", "bug"), (7, "D", "oops"), (9, "W", "warning"), (14, "L", "lockup"))


_WARNING = 4
"""Of the kernel's levels."""
_MOST_WARNINGS = 100


class KernelLog:
    """Keeps what was read of it until somebody has looked at it."""

    def __init__(self, position: int = 0) -> None:
        self.position = position
        """The first record that has not been read."""
        self._lines: list[LogLine] = []
        self._warnings: list[str] = []
        self._lost = 0
        self._taints = 0

    def take(self, found: Settled) -> None:
        """The agent has read from *position* on."""
        self.position = found.position
        self._lines += found.lines
        bad = [line.text for line in found.lines if line.level <= _WARNING]
        self._warnings += bad[: _MOST_WARNINGS - len(self._warnings)]
        self._lost += found.lost
        self._taints = found.taints

    def warnings(self) -> list[str]:
        """The first lines of the level "warning", or worse, that were read since the last call."""
        found, self._warnings = self._warnings, []
        return found

    def crashes(self, kinds: Iterable[str]) -> Iterator[Crash]:
        """The first crash of each of these *kinds*."""
        lines, self._lines = self._lines, []
        wanted = set(kinds)
        for line in lines:
            found = classify(line.stamped, wanted)
            if found is not None:
                wanted.discard(found.kind)
                yield found
        for bit, letter, kind in _TAINTS:
            if self._taints >> bit & 1 and kind in wanted:
                yield Crash(kind, f"its line is lost, but the kernel is tainted: {letter}")

    def check(self) -> None:
        """Raise if there were records that nobody has read; once."""
        lost, self._lost = self._lost, 0
        if lost:
            raise ZvmlabError(
                f"the guest's kernel has logged more than its log holds: {lost} records were"
                " overwritten before they could be read, and one may have been a warning; give it"
                " a larger log, with the kernel parameter log_buf_len=4M"
            )
