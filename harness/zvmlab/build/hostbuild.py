# SPDX-License-Identifier: MIT
"""Small things made for this machine out of the clone's C files, when they are needed first."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from zvmlab.base.cache import digest, entry
from zvmlab.base.errors import CannotRun
from zvmlab.base.progress import Progress
from zvmlab.base.tree import TREE

COMPILER = "gcc"
_SECONDS = 600
_FLAGS = ("-std=gnu11", "-O2", "-w")


def built(
    progress: Progress,
    what: str,
    artifact: str,
    sources: Sequence[Path],
    includes: Sequence[Path],
    flags: Sequence[str] = (),
) -> Path:
    """The file *artifact* out of the C files that *sources* are or contain, from the cache.

    *includes* are folders of headers; a change of anything in them makes another
    artifact.  *what* is the word for it in what the user is told: "the replayer".
    """

    def build(folder: Path) -> None:
        files = [str(file) for source in sources for file in _c_files(source)]
        argv = [COMPILER, *_FLAGS, *(f"-I{include}" for include in includes), *files]
        argv += [*flags, "-o", str(folder / artifact)]
        with progress.step(f"building {what}"):
            try:
                done = subprocess.run(
                    argv, capture_output=True, text=True, timeout=_SECONDS, check=False
                )
            except FileNotFoundError as error:
                raise CannotRun(
                    f"missing compiler: {COMPILER}; run 'make setup' in the clone"
                ) from error
        if done.returncode != 0:
            raise CannotRun(
                f"{what} cannot be built; 'make setup' in the clone installs what it needs:"
                f"\n{done.stderr[-2000:]}"
            )

    key = digest(COMPILER, *_FLAGS, *flags, *sources, *includes)
    return entry(Path(artifact).stem, key, build, artifact)


def _c_files(source: Path) -> list[Path]:
    return sorted(source.glob("*.c")) if source.is_dir() else [source]
