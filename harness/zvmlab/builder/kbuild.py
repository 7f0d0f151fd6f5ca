# SPDX-License-Identifier: MIT
"""Parameters of Linux builds: programs, words of make, environment."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Generator, Sequence
from pathlib import Path

from zvmlab.base.errors import CannotRun
from zvmlab.base.progress import Step
from zvmlab.base.tree import TREE
from zvmlab.builder.buildstep import Ending, run_step
from zvmlab.builder.image import COMPILER

CONFIGS = TREE / "guest"
"""Folder of the configurations."""
COMMON = "kernel.config"
TOOLS = {
    "bc": "bc",
    "bison": "bison",
    "flex": "flex",
    "gcc": "gcc",
    "make": "make",
    "xz": "xz-utils",
    COMPILER: "gcc-s390x-linux-gnu",
}
# The same sources give the same kernel, whoever builds it and when.
MAKE = (
    *("make", "ARCH=s390", f"CROSS_COMPILE={COMPILER.removesuffix('gcc')}", "LOCALVERSION="),
    *("KBUILD_BUILD_USER=zvmlab", "KBUILD_BUILD_HOST=zvmlab", "KBUILD_BUILD_VERSION=1"),
    "KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970",
)
TARGETS = ("bzImage", "modules")
CONFIG_SECONDS = 300
BUILD_SECONDS = 3 * 3600


def need_tools(what: str) -> None:
    """CannotRun with the packages that *what*, as "building Linux", needs and that are missing."""
    missing = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
    if missing:
        raise CannotRun(f"{what} needs: apt-get install {' '.join(missing)}")


def cpus() -> int:
    """The number of jobs for make."""
    return len(os.sched_getaffinity(0))


def steps(
    what: str,
    argv: Sequence[str],
    cwd: Path,
    log: Path,
    seconds: int,
    ending: Ending = Ending(),
    keeps: Sequence[int] = (),
) -> Generator[str, None, None]:
    """A step in an environment in which no setting of the user's reaches make."""
    env = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return run_step(what, argv, cwd, log, seconds, env, ending, keeps)


def run(
    what: str, argv: Sequence[str], cwd: Path, log: Path, seconds: int, step: Step | None = None
) -> None:
    """Such a step; *step* counts its lines."""
    with contextlib.closing(steps(what, argv, cwd, log, seconds)) as lines:
        for done, _ in enumerate(lines, 1):
            if step is not None:
                step.update(done)


def lost_lines(wanted: str, made: str) -> list[str]:
    """Settings of *wanted* that the configuration *made* does not have."""
    have = set(made.splitlines())
    lines = [line for line in wanted.splitlines() if line.startswith(("CONFIG_", "# CONFIG_"))]
    return [
        line
        for line in lines
        # What depends on something that is off is not mentioned: it is off, too.
        if line not in have
        and not (line.startswith("#") and f"\n{line.split()[1]}=" not in f"\n{made}")
    ]
