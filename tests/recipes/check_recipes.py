# SPDX-License-Identifier: MIT
"""The recipes of docs/shards.md, run on this machine as root.

``check_recipes.py [--part parallel]`` runs a small sweep in one piece, and then in shards as each recipe has it, on hosts
that are made for it.  The reports must be the same, also when a host has failed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import on_parallel
import on_slurm

from work import Work, prepare

from zvmlab.base.errors import exit_code
from zvmlab.base.progress import Progress

PARTS: dict[str, Callable[[Work, Path, Progress], None]] = {
    "parallel": on_parallel.check,
    "slurm": on_slurm.check,
}


def check(parts: Sequence[str], progress: Progress) -> None:
    """All of them; the folder with their logs is kept if one fails."""
    folder = Path(tempfile.mkdtemp(prefix="zvmlab-recipes-"))
    try:
        with progress.step("a sweep in one piece"):
            work = prepare(folder)
        for part in parts:
            PARTS[part](work, folder, progress)
            print(f"{part}: the reports are the same", flush=True)
    except BaseException:
        print(f"{folder} has the logs", file=sys.stderr)
        raise
    shutil.rmtree(folder)
    print(f"{len(parts)} passed, 0 failed")


def main(words: Sequence[str]) -> None:
    """Run the recipes that are named."""
    options = argparse.ArgumentParser(allow_abbrev=False)
    options.add_argument("--part", action="append", choices=PARTS, help="may be repeated")
    arguments = options.parse_args(words)
    check(arguments.part or tuple(PARTS), Progress())


if __name__ == "__main__":
    sys.exit(exit_code(lambda: main(sys.argv[1:]), "make check-recipes"))
