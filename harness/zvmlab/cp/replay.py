# SPDX-License-Identifier: MIT
"""Replaying a CP's trace: the core alone gets what came from outside once more (docs/trace.md)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from zvmlab.base.errors import UsageError
from zvmlab.base.progress import Progress
from zvmlab.builder import hostbuild


def program(progress: Progress) -> Path:
    """The replayer, built into the cache if need be."""
    return hostbuild.program(progress, "the replayer", "zvmlab-replay", "sim/replay")


def replay(trace: str | os.PathLike[str], progress: Progress) -> int:
    """Replay *trace*; 0: the same again, 1: it differs, 2: it cannot be replayed.

    UsageError if it cannot be read, before anything is built.
    """
    try:
        with open(trace, "rb") as file:
            file.peek()
    except OSError as error:
        raise UsageError(f"{trace} cannot be read: {error.strerror}") from error
    return subprocess.run([program(progress), os.fspath(trace)], check=False).returncode
