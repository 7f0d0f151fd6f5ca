# SPDX-License-Identifier: MIT
"""Saving a machine that may be busy at the first attempt."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from zvmlab.base.errors import EmulatorError
from zvmlab.base.limit import Limit

# Devices are idle nearly always; what is going on there ends soon.
SECONDS = 60.0
_PAUSE_SECONDS = 0.05


class NotNow(EmulatorError):
    """The machine cannot be saved at present; another moment may be better."""


class Held(Protocol):
    """A machine whose CPUs can be held."""

    def go_on(self) -> None:
        """Let the CPUs run."""

    def pause(self) -> None:
        """Stop the CPUs between two instructions."""


def save(machine: Held, emulator: str, attempt: Callable[[], None]) -> None:
    """Hold the machine and save it by *attempt*, which raises NotNow, or another EmulatorError.

    It is held afterwards.  EmulatorError if it cannot be saved, or is busy for SECONDS.
    """
    limit = Limit(SECONDS)
    while True:
        machine.pause()
        try:
            return attempt()
        except EmulatorError as error:
            if not isinstance(error, NotNow) or limit.over:
                raise EmulatorError(f"{emulator} cannot save the guest: {error}") from error
        machine.go_on()
        time.sleep(_PAUSE_SECONDS)
