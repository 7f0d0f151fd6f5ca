# SPDX-License-Identifier: MIT
"""How long a call that waits several times may take in all."""

from __future__ import annotations

import time


class Limit:
    """What the caller allowed, in seconds; all waits of one call share it, and errors name it."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds from now to its end; 0 when it is over."""
        return max(0.0, self._end - time.monotonic())

    def __str__(self) -> str:
        return f"{self.seconds:g} s"
