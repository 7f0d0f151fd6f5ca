# SPDX-License-Identifier: MIT
"""Replaying a CP's trace: the core alone gets what came from outside once more (docs/trace.md)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from zvmlab.base.progress import Progress
from zvmlab.base.tree import TREE
from zvmlab.build.hostbuild import built

_PARTS = ("lib/base", "sim/cp", "sim/record", "sim/control", "sim/replay")


def program(progress: Progress) -> Path:
    """The replayer, built into the cache if need be."""
    folders = [TREE / part for part in _PARTS]
    includes = [*folders, TREE / "sim/cp/include"]
    sources = [*folders, *(folder for folder in (TREE / "sim/cp").iterdir() if folder.is_dir())]
    return built(progress, "the replayer", "zvmlab-replay", sources, includes, ["-ljansson"])


def replay(trace: str | os.PathLike[str], progress: Progress) -> int:
    """Replay *trace*; 0: the same again, 1: it differs, 2: it cannot be replayed."""
    return subprocess.run([program(progress), os.fspath(trace)], check=False).returncode
