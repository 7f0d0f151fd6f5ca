# SPDX-License-Identifier: MIT
"""What the recipes are tried with: a clone of the tree, a small sweep, and what it finds in one piece."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hosts import run

from zvmlab.base.errors import EXIT_PASS, Timeout, ZvmlabError
from zvmlab.base.tree import TREE

STEP_SECONDS = 1800
SCENARIO = "read-one-set"
# Four points of thirteen, one of them as a pattern that a shell must not take for names of files.
SWEEP = (
    *(SCENARIO, "--seed", "7", "--jobs", "1"),
    *("--point", "iucv.sever", "--point", "diag64.l*", "--point", "segment.*"),
)
RESULTS = "results.jsonl"
REPORTS = ("report.json", "report.md")


@dataclass(frozen=True)
class Work:
    """A clone in *tree*, where *whole* has the reports of the sweep in one piece."""

    tree: Path
    whole: Path

    def same(self, folder: Path) -> None:
        """ZvmlabError unless these are the same reports, byte for byte."""
        for name in REPORTS:
            if (folder / name).read_bytes() != (self.whole / name).read_bytes():
                raise ZvmlabError(f"{folder / name} is not what the sweep in one piece has")

    def shard(self, number: int, count: int, tree: Path | None = None) -> Path:
        """The results of a shard, here or on a host."""
        return (tree or self.tree) / f"zvmlab-sweep/{SCENARIO}-{number}-of-{count}" / RESULTS


def clone(into: Path) -> None:
    """This tree as it is committed."""
    run("git", "clone", "--quiet", "--no-hardlinks", TREE, into)
    # A small one, for hosts to have copies.
    shutil.rmtree(into / ".git")


def prepare(folder: Path) -> Work:
    """The clone, and the sweep as one machine runs it."""
    tree = folder / "work"
    clone(tree)
    zvmlab = str(tree / "zvmlab")
    whole, merged = folder / "in-one-piece", folder / "whole"
    run(zvmlab, "sweep", *SWEEP, "--output", whole, seconds=STEP_SECONDS)
    run(zvmlab, "merge", whole, "--output", merged)
    return Work(tree, merged)


def hold(tree: Path, condition: str) -> None:
    """Where the shell finds *condition* true, a sweep there never ends: it waits to be killed."""
    program = tree / "zvmlab"
    program.rename(tree / "zvmlab.py")
    script = f'#!/bin/sh\n"${{0%/*}}/zvmlab.py" "$@"\nstatus=$?\n'
    script += f'if {condition} && [ "$1" = sweep ]; then exec sleep infinity; fi\nexit $status\n'
    program.write_text(script, encoding="utf-8")
    program.chmod(0o755)


def begun(tree: Path, count: int) -> set[int]:
    """Numbers of the shards that have results there."""
    found = set()
    for file in tree.glob(f"zvmlab-sweep/{SCENARIO}-*-of-{count}/{RESULTS}"):
        if '"case"' in file.read_text(encoding="utf-8"):
            found.add(int(file.parent.name.split("-")[-3]))
    return found


def until(what: str, come: Callable[[], bool], ended: Callable[[], object] = lambda: None) -> None:
    """Wait for that; Timeout if it does not come, ZvmlabError if what it is to come of has *ended*."""
    end = time.monotonic() + STEP_SECONDS
    while not come():
        if ended() is not None:
            raise ZvmlabError(f"all has ended before {what}")
        if time.monotonic() > end:
            raise Timeout(f"within {STEP_SECONDS} s there was not: {what}")
        time.sleep(0.05)


def start(work: Work, log: Path, *argv: str, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """A recipe, in the clone; what it says is in *log*."""
    with open(log, "wb") as file:
        return subprocess.Popen(
            argv,
            cwd=work.tree,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def must_end(process: subprocess.Popen[bytes], log: Path, code: int = EXIT_PASS) -> str:
    """With that exit code; what it has said."""
    try:
        ended = process.wait(STEP_SECONDS)
    except subprocess.TimeoutExpired:
        raise Timeout(f"it did not end within {STEP_SECONDS} s; the log is {log}") from None
    said = log.read_text(encoding="utf-8", errors="replace")
    if ended != code:
        raise ZvmlabError(f"it ended with {ended}, not with {code}:\n{said[-2000:]}")
    return said
