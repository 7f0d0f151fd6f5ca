# SPDX-License-Identifier: MIT
"""The guest's console: logged always, never parsed for results, watched for accidents.

A panic, oops, BUG or WARNING ends the run, and so does what a debug kernel reports:
KASAN and sleeping in the wrong place begin with BUG, lockdep with WARNING, UBSAN
and hung tasks have words of their own.  (kmemleak says nothing here: `zvmlab.leaks`
asks it.)  A guest that merely stops answering
says nothing here; that is a time-out and reported as one.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from zvmlab.errors import GuestPanic, UsageError

POLL_SECONDS = 0.05
# How long the kernel may go on printing before the accident is reported.
SETTLE_SECONDS = 0.4
TAIL_LINES = 60
_LINE_MAX = 16 * 1024

# The time stamp keeps programs that print such words from being taken for the kernel.
_STAMP = r"^\[ *\d+\.\d+\](?:\[[^\]]*\])? +"
_PATTERNS: dict[str, re.Pattern[str]] = {
    "panic": re.compile(r"Kernel panic - not syncing"),
    # arch/s390/kernel/dumpstack.c prints "CAUSE: CODE ilc:N [#COUNT]" for every die().
    "oops": re.compile(
        _STAMP + r"(?:.*\bilc:\d+ \[#\d+\]|Unable to handle kernel |Oops: |Kernel stack overflow)"
    ),
    # "BUG kmalloc-64 (Tainted: G): Poison overwritten" is SLUB's; a key that is not
    # registered turns lockdep off, which is as bad as what it might have found.
    "bug": re.compile(
        _STAMP + r"(?:(?:\[ )?BUG:? |kernel BUG at |INFO: trying to register non-static key)"
    ),
    "warning": re.compile(_STAMP + r"WARNING: "),
    "ubsan": re.compile(_STAMP + r"UBSAN: "),
    "hang": re.compile(_STAMP + r"INFO: task .* blocked for more than \d+ seconds"),
}
ACCIDENTS = tuple(_PATTERNS)


@dataclass(frozen=True)
class Accident:
    """What was noticed, and the line that gave it away."""

    kind: str
    line: str


def classify(line: str, kinds: Iterable[str] = ACCIDENTS) -> Accident | None:
    """The accident that a line of the console announces, if it is one of *kinds*."""
    for kind in kinds:
        if _PATTERNS[kind].search(line):
            return Accident(kind, line.strip())
    return None


class Console:
    """Follows a console's log file in a thread of its own.

    *kinds* are the accidents that end the run; a test of a driver that may warn
    leaves ``"warning"`` out.
    """

    def __init__(self, path: Path, kinds: Iterable[str] = ACCIDENTS) -> None:
        self.path = path
        self.kinds = tuple(kinds)
        unknown = sorted(set(self.kinds) - set(ACCIDENTS))
        if unknown:
            raise UsageError(
                f"{unknown[0]!r} is not an accident of the console; known: {', '.join(ACCIDENTS)}"
            )
        self.on_accident: Callable[[], None] | None = None
        self._accident: Accident | None = None
        self._noticed = threading.Event()
        self._stop = threading.Event()
        self._settled = threading.Event()
        self._rest = ""
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to follow the file, which may not exist yet."""
        assert self._thread is None
        self._thread = threading.Thread(target=self._follow, name="zvmlab-console", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Read what is left and end the thread; harmless the second time."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def finish(self, seconds: float) -> None:
        """The guest is gone: wait until all that it has printed is known.

        Unlike stop(), this waits for nobody whom an accident is being reported to.
        """
        self._stop.set()
        if self._thread is not None:
            self._settled.wait(seconds)

    def _follow(self) -> None:
        log: IO[bytes] | None = None
        try:
            while True:
                last = self._stop.is_set()
                if log is None and self.path.exists():
                    log = open(self.path, "rb")
                if log is not None:
                    self._take(log.read())
                if last:
                    break
                self._stop.wait(POLL_SECONDS)
        finally:
            self._settled.set()
            if log is not None:
                log.close()

    def _take(self, data: bytes) -> None:
        *lines, rest = (self._rest + data.decode("latin-1")).split("\n")
        self._rest = rest[-_LINE_MAX:]
        for line in lines:
            if self._accident is None:
                self._accident = classify(line, self.kinds)
                if self._accident is not None:
                    self._announce()

    def _announce(self) -> None:
        """Let the kernel print the rest, then end every wait."""
        self._stop.wait(SETTLE_SECONDS)
        self._noticed.set()
        self._settled.set()
        if self.on_accident is not None:
            self.on_accident()

    @property
    def accident(self) -> Accident | None:
        """What was noticed so far."""
        return self._accident if self._noticed.is_set() else None

    def wait_accident(self, seconds: float) -> Accident | None:
        """Wait for an accident for at most that time."""
        self._noticed.wait(seconds)
        return self.accident

    def check(self) -> None:
        """Raise GuestPanic if something was noticed."""
        found = self.accident
        if found is not None:
            raise GuestPanic(
                f"the guest's kernel reported a {found.kind} ({found.line})", self.tail()
            )

    def text(self) -> str:
        """All that the console has shown."""
        try:
            return self.path.read_bytes().decode("latin-1").replace("\r", "")
        except FileNotFoundError:
            return ""

    def tail(self, lines: int = TAIL_LINES) -> str:
        """The last lines."""
        return "\n".join(self.text().splitlines()[-lines:])
