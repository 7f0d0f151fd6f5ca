# SPDX-License-Identifier: MIT
"""Waiting for what the guest's kernel does in its own time; nothing is judged by how long it takes."""

from __future__ import annotations

import time
from collections.abc import Callable

LIMIT = 120
_PAUSE = 0.02


def wait_until(
    true: Callable[[], bool],
    what: str,
    found: Callable[[], object] | None = None,
    limit: float = LIMIT,
) -> None:
    """Until *true* says so; AssertionError after *limit* seconds, with what there is instead."""
    deadline = time.monotonic() + limit
    while not true():
        instead = "" if found is None else f", but {found()}"
        assert time.monotonic() < deadline, f"{what}: not within {limit:g} s{instead}"
        time.sleep(_PAUSE)
