# SPDX-License-Identifier: MIT
"""examples/shards/parallel.sh on two hosts, of which one fails in the midst of a shard."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from hosts import Host, hosts, ssh_of
from work import SWEEP, Work, begun, hold, must_end, start, until

from zvmlab.base.errors import EXIT_FAILED, ZvmlabError
from zvmlab.base.progress import Progress

COUNT = 6
RECIPE = "examples/shards/parallel.sh"


def _failed_host(work: Work, folder: Path, first: Host, second: Host) -> None:
    """What the second host had begun, the first one runs again; the reports are the same."""
    hold(second.tree, "true")
    log = folder / "parallel.log"
    env = {"PARALLEL_SSH": " ".join(ssh_of(folder / "hosts"))}
    argv = [RECIPE, str(COUNT), f"{first.name},{second.name}", *SWEEP]
    process = start(work, log, *argv, env=env)
    try:
        what = "results of a shard on the second host"
        until(what, lambda: bool(begun(second.tree, COUNT)), process.poll)
        second.kill()
        must_end(process, log)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    if begun(first.tree, COUNT) != set(range(1, COUNT + 1)):
        raise ZvmlabError(f"not all shards were run on {first.name}: {begun(first.tree, COUNT)}")
    work.same(work.tree / f"zvmlab-sweep/{SWEEP[0]}")


def _again(work: Work, folder: Path, first: Host, second: Host) -> None:
    """A shard that is not here is all that --again runs; one that no host can run is named."""
    env = {"PARALLEL_SSH": " ".join(ssh_of(folder / "hosts"))}
    before = {n: work.shard(n, COUNT).stat().st_mtime_ns for n in range(1, COUNT + 1)}
    work.shard(3, COUNT).unlink()
    log = folder / "parallel-again.log"
    words = [str(COUNT), second.name, *SWEEP]
    said = must_end(start(work, log, RECIPE, "--again", *words, env=env), log, EXIT_FAILED)
    if "shard 3/6 is missing" not in said:
        raise ZvmlabError(f"a shard that no host could run is not named: {said[-500:]}")
    words[1] = first.name
    must_end(start(work, log, RECIPE, "--again", *words, env=env), log)
    after = {n: work.shard(n, COUNT).stat().st_mtime_ns for n in range(1, COUNT + 1)}
    if [n for n in after if after[n] != before[n]] != [3]:
        raise ZvmlabError("--again has run more than the shard that was lost")
    work.same(work.tree / f"zvmlab-sweep/{SWEEP[0]}")


def check(work: Work, folder: Path, progress: Progress) -> None:
    """Both; ZvmlabError for what is not as it should be."""
    with progress.step("GNU parallel: making two hosts"):
        made = hosts(folder / "hosts", work.tree, ("host-1", "host-2"))
    with made as (first, second):
        with progress.step("GNU parallel: a sweep on two hosts, of which one fails"):
            _failed_host(work, folder, first, second)
        with progress.step("GNU parallel: a shard that was lost"):
            _again(work, folder, first, second)
