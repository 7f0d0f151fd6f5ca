# SPDX-License-Identifier: MIT
"""Guest and harness take turns, so that the same calls give the same trace.

A deterministic guest counts its instructions instead of time.  Whatever comes from
outside would still come at another instruction in each run, for the harness runs
on the host's time.  So the machine stops at each event that CP reports: what
the harness then does, however long that takes, happens between the same two
instructions.  The guest runs only while the harness waits for an event.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Protocol

from zvmlab.base.errors import EmulatorError, Timeout
from zvmlab.base.limit import Limit
from zvmlab.guest.qmp import Qmp

_CP = "/objects/cp"
# What the process says of a machine that is not logged on any more.
_GONE = "gone"


# Turns that are cut off soon would hardly get on where the host has no time.
_LONG_SECONDS = 2.0


class Stepper(Protocol):
    """Runs what stands, a guest or a system of them, while an event is waited for."""

    def set(self, on: bool) -> None:
        """Does the machine, which stands still, take turns with whoever asks?"""

    def step(self, seconds: float) -> None:
        """Let the guest run until it has stopped at its next event; Timeout if none comes."""

    def let_run(self, seconds: float) -> None:
        """After end(): some time passes."""

    def await_machine(self, userid: str) -> None:
        """That machine has been told to run, and waits for its turn; or for nothing, if it is alone."""

    def has_gone(self, userid: str) -> bool:
        """Has that machine logged off?  One that is alone is there as long as its emulator."""

    def end(self) -> None:
        """Expect no more input: let the guest run to its power-off."""


class Lockstep:
    """Runs a machine from event to event; it stands when this is made."""

    def __init__(self, qmp: Qmp) -> None:
        self._qmp = qmp
        self._turn = threading.Lock()
        self.set(True)

    def set(self, on: bool) -> None:
        """Does the machine, which stands still, take turns with whoever asks?"""
        self._qmp.execute("qom-set", {"path": _CP, "property": "lockstep", "value": on})

    def step(self, seconds: float) -> None:
        """Let the guest run until it has stopped at its next event; Timeout if none comes."""
        limit = Limit(seconds)
        with self._turn:
            self._qmp.execute("cont")
            self._qmp.wait_event("STOP", timeout=limit.left())

    def end(self) -> None:
        """Expect no more input: let the guest run freely, to its power-off."""
        with self._turn:
            self.set(False)
            self._qmp.order("cont")

    def let_run(self, seconds: float) -> None:
        """It runs by itself."""
        time.sleep(seconds)

    def await_machine(self, userid: str) -> None:
        """It is told when to run."""

    def has_gone(self, userid: str) -> bool:
        """Its emulator knows."""
        return False


class Turns:
    """The same for a system whose machines take turns: its process gives them (sim/system/turns.c).

    *order* has the process carry out an order; *answer* gives a line of its within so many seconds, or None.
    """

    def __init__(
        self, order: Callable[[str], None], answer: Callable[[float], str | None], seconds: float
    ) -> None:
        self._order = order
        self._answer = answer
        self._seconds = seconds
        self._lock = threading.Lock()

    def set(self, on: bool) -> None:
        """They do from the beginning on."""

    def step(self, seconds: float) -> None:
        """Let all of them run until somebody has been told of an event, to the end of that turn."""
        with self._lock:
            self._order("run")
            if self._answer(seconds) is not None:
                return
            self._order("stand")
            if self._answer(self._seconds) is None:
                raise EmulatorError(
                    f"no turn of the system's machines ended in {self._seconds:g} s"
                )
            raise Timeout(f"no event came within {seconds:g} s")

    def await_machine(self, userid: str) -> None:
        """It has been told to run, and waits for its turn: the next one counts it."""
        self.has_gone(userid)

    def has_gone(self, userid: str) -> bool:
        """It has, or waits for its turn."""
        with self._lock:
            self._order(f"await {userid}")
            answer = self._answer(self._seconds)
        if answer is None:
            raise Timeout(f"{userid} did not wait for its turn within {self._seconds:g} s")
        return answer == _GONE

    def let_run(self, seconds: float) -> None:
        """They run up to the next event, which a guest's end is."""
        with contextlib.suppress(Timeout):
            self.step(max(seconds, _LONG_SECONDS))

    def end(self) -> None:
        """Whoever waits for the guest's end lets all of them run."""
