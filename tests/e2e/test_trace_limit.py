# SPDX-License-Identifier: MIT
"""The trace of a guest that repeats itself, one at its limit, and one that cannot be kept."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from waiting import run_within

from zvmlab.base.errors import EXIT_CANNOT_RUN
from zvmlab.base.progress import Progress
from zvmlab.base.tree import TREE
from zvmlab.cp.replay import program
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

TIMES = 300_000  # as in bare/waiting.c
MIB = 1 << 20


@pytest.fixture
def guest_config(bare: Build, request: pytest.FixtureRequest) -> GuestConfig:
    return GuestConfig(kernel=str(bare("waiting")), trace_data="full", **request.param)


def waited(guest: Guest) -> list[dict[str, object]]:
    """Run the program; the records of its trace."""
    guest.start()
    guest.emulator.expect_exit()
    guest.resume()
    said = guest.control.wait_event("console", 300, user="OPERATOR").data["text"]
    assert said.endswith("WAITED")
    guest.stop()
    assert guest.channels.trace is not None
    return [json.loads(line) for line in guest.channels.trace.read_text("ascii").splitlines()]


@pytest.mark.parametrize("guest_config", [{}], indirect=True, ids=("default",))
def test_repeated_calls_are_counted_and_replay(made_guest: Guest) -> None:
    """Each call is told of, by a record or by a count, and the file stays small."""
    records = waited(made_guest)
    assert made_guest.channels.trace is not None
    assert made_guest.channels.trace.stat().st_size < TIMES
    calls = 0
    for before, record in zip(records, records[1:]):
        assert record["seq"] == int(str(before["seq"])) + int(str(record.get("times", 1)))
        if record["call"] == "diag.44":
            calls += 1
        elif record["call"] == "repeat":
            calls += int(str(record["times"]))
    assert calls == TIMES
    replay = [program(Progress(quiet=True)), made_guest.channels.trace]
    done = run_within(300, replay, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def keep(folder: Path, kernel: str, backend: str, *words: str) -> subprocess.CompletedProcess[str]:
    """zvmlab run --keep in a process of its own."""
    folder.mkdir(exist_ok=True)
    argv = [sys.executable, TREE / "zvmlab", "run", "--kernel", kernel, "--backend", backend]
    argv += ["--keep", folder, *words, "--", "head", "-c", "4000000", "/dev/zero"]
    return run_within(400, argv, text=True)


@pytest.mark.first_kernel
def test_trace_that_cannot_be_kept_fails_the_run(
    zvmlab_kernel: str, zvmlab_backend: str, tmp_path: Path
) -> None:
    """The disk is full from the first record on."""
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "trace.jsonl").symlink_to("/dev/full")
    done = keep(folder, zvmlab_kernel, zvmlab_backend)
    assert done.returncode == EXIT_CANNOT_RUN
    expected = f"zvmlab: {folder}/trace.jsonl is not complete: No space left on device"
    assert done.stderr.splitlines()[-1] == expected


@pytest.mark.first_kernel
def test_trace_ends_at_its_limit_and_says_so(
    zvmlab_kernel: str, zvmlab_backend: str, tmp_path: Path
) -> None:
    """With all its data: what the guest has printed alone is longer than 1 MiB."""
    words = ("--trace-limit", "1", "--trace-data", "full", "--cold")
    done = keep(tmp_path, zvmlab_kernel, zvmlab_backend, *words)
    assert done.returncode == 0, done.stderr
    trace = tmp_path / "trace.jsonl"
    last = json.loads(trace.read_text("ascii").splitlines()[-1])
    assert (last["call"], last["limit"]) == ("trace.limit", MIB)
    assert MIB // 2 < trace.stat().st_size <= MIB
    assert "ends here: its limit of 1 MiB is reached" in (tmp_path / "emulator.log").read_text()
