# SPDX-License-Identifier: MIT
"""Replaying a CP's traces: the core alone gets what came from outside once more (docs/trace.md)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from zvmlab.base.errors import UsageError
from zvmlab.base.progress import Progress
from zvmlab.builder import hostbuild


def program(progress: Progress) -> Path:
    """The replayer, built into the cache if need be."""
    return hostbuild.program(progress, "the replayer", "zvmlab-replay", "sim/replay")


def replay(traces: Sequence[str | os.PathLike[str]], progress: Progress) -> int:
    """Replay *traces*, one or those of a system; 0: the same again, 1: it differs, 2: it cannot be.

    UsageError if one cannot be read, before anything is built.
    """
    for trace in traces:
        try:
            with open(trace, "rb") as file:
                file.peek()
        except OSError as error:
            raise UsageError(f"{trace} cannot be read: {error.strerror}") from error
    return subprocess.run(
        [program(progress), *(os.fspath(trace) for trace in traces)], check=False
    ).returncode
