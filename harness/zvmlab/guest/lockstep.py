# SPDX-License-Identifier: MIT
"""Guest and harness take turns, so that the same calls give the same trace.

A deterministic guest counts its instructions instead of time.  Whatever comes from
outside would still come at another instruction in each run, for the harness runs
on the host's time.  So the machine stops at each event that CP reports: what
the harness then does, however long that takes, happens between the same two
instructions.  The guest runs only while the harness waits for an event.
"""

from __future__ import annotations

import threading

from zvmlab.base.limit import Limit
from zvmlab.guest.qmp import Qmp

_CP = "/objects/cp"


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
