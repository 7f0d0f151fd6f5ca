# SPDX-License-Identifier: MIT
"""Waiting for what another program does in its own time; nothing is judged by how long it takes.

Time in which programs waited for a CPU does not count, up to ten times a limit.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any

from zvmlab.base.busy import waited
from zvmlab.base.limit import FairLimit, Limit

LIMIT = 120
_PAUSE = 0.02


def fair(seconds: float) -> Limit:
    """A limit for what this machine does."""
    return FairLimit(seconds, lambda: waited() or 0.0)


def wait_until(
    true: Callable[[], bool],
    what: str,
    found: Callable[[], object] | None = None,
    limit: float = LIMIT,
) -> None:
    """Until *true* says so; AssertionError after *limit* seconds, with what there is instead."""
    end = fair(limit)
    while not true():
        instead = "" if found is None else f", but {found()}"
        assert not end.over, f"{what}: not within {end}{instead}"
        time.sleep(_PAUSE)


def finish(process: subprocess.Popen[Any], typed: Any = None, seconds: float = LIMIT) -> Any:
    """Its output and errors (communicate()) when it has ended; TimeoutExpired at the limit."""
    limit = fair(seconds)
    while True:
        try:
            return process.communicate(typed, limit.left())
        except subprocess.TimeoutExpired:
            if limit.over:
                raise
            typed = None  # which is on its way


def exit_code(process: subprocess.Popen[Any], seconds: float = LIMIT) -> int:
    """Likewise, what it has ended with."""
    finish(process, seconds=seconds)
    return int(process.returncode)


def run_within(
    seconds: float, argv: Sequence[object], stdin: Any = None, **options: Any
) -> subprocess.CompletedProcess[Any]:
    """subprocess.run() with all output, within a fair limit."""
    with subprocess.Popen(
        [str(word) for word in argv],
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    ) as process:
        try:
            out, err = finish(process, stdin, seconds)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)
