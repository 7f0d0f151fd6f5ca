# SPDX-License-Identifier: MIT
"""Saving a machine that may be busy at the first attempt."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from zvmlab.base.errors import EmulatorError
from zvmlab.base.limit import Limit

# How both ports begin to say that another moment may be better.
_NOT_NOW = "cannot be saved now"
# Devices are idle nearly always; what is going on there ends soon.
SECONDS = 60.0
_PAUSE_SECONDS = 0.05


class Held(Protocol):
    """A machine whose CPUs can be held."""

    def go_on(self) -> None:
        """Let the CPUs run."""

    def pause(self) -> None:
        """Stop the CPUs between two instructions."""


def save(machine: Held, emulator: str, attempt: Callable[[], str]) -> None:
    """Hold the machine and save it by *attempt*, which returns why that was refused, or nothing.

    It is held afterwards.  EmulatorError if it cannot be saved, or is busy for SECONDS.
    """
    limit = Limit(SECONDS)
    while True:
        machine.pause()
        refused = attempt()
        if not refused:
            return
        if _NOT_NOW not in refused or limit.over:
            raise EmulatorError(f"{emulator} cannot save the guest: {refused}")
        machine.go_on()
        time.sleep(_PAUSE_SECONDS)
