# SPDX-License-Identifier: MIT
"""Replaying a CP's trace: the core alone gets what came from outside once more (docs/trace.md)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from zvmlab.cache import digest, entry
from zvmlab.errors import CannotRun
from zvmlab.progress import Progress

COMPILER = "gcc"
_ROOT = Path(__file__).resolve().parents[2]
_PARTS = ("cp", "record", "control", "replay")
_BUILD_SECONDS = 600
_FLAGS = ("-std=gnu11", "-O2", "-w")


def program(progress: Progress) -> Path:
    """The replayer, built into the cache if need be."""
    sources = [_ROOT / "sim" / part for part in _PARTS]

    def build(folder: Path) -> None:
        files = sorted(str(file) for source in sources for file in source.glob("*.c"))
        includes = [f"-I{source}" for source in (*sources, _ROOT / "sim/cp/include")]
        out = ["-o", str(folder / "zvmlab-replay"), "-ljansson"]
        with progress.step("building the replayer"):
            try:
                done = subprocess.run(
                    [COMPILER, *_FLAGS, *includes, *files, *out],
                    capture_output=True,
                    text=True,
                    timeout=_BUILD_SECONDS,
                    check=False,
                )
            except FileNotFoundError as error:
                raise CannotRun(
                    f"there is no compiler {COMPILER}; run 'make setup' in the clone"
                ) from error
        if done.returncode != 0:
            raise CannotRun(
                "the replayer cannot be built; 'make setup' in the clone installs what it needs:"
                f"\n{done.stderr[-2000:]}"
            )

    key = digest(COMPILER, *_FLAGS, *sources)
    return entry("replay", key, build) / "zvmlab-replay"


def replay(trace: str | os.PathLike[str], progress: Progress) -> int:
    """Replay *trace*; 0: the same again, 1: it differs, 2: it cannot be replayed."""
    return subprocess.run([program(progress), os.fspath(trace)], check=False).returncode
