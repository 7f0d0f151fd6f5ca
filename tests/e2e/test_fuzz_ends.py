# SPDX-License-Identifier: MIT
"""zvmlab fuzz is ended from outside: what is left of it, and that the next run goes on from there."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from children import alive, children
from waiting import exit_code, run_within, wait_until

from zvmlab.base.tree import TREE
from zvmlab.guest.config import QEMU

pytestmark = pytest.mark.first_kernel
SECONDS = 300.0
JOBS = 2
# As a shell says it of what handles the signal.
HANDLED = {signal.SIGINT: 130, signal.SIGTERM: 143}
ENOUGH = 3


def command(kernel: str, folder: Path, *options: str) -> list[str]:
    """Of monreader, with a corpus and findings in the folder."""
    argv = [sys.executable, str(TREE / "zvmlab"), "fuzz", "monreader", "--kernel", kernel]
    argv += ["--corpus", str(folder / "corpus"), "--output", str(folder / "output")]
    return [*argv, "--seed", "7", "--jobs", str(JOBS), *options]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_killed_run_leaves_cases_that_the_next_one_takes(
    zvmlab_kernel: str, zvmlab_backend: str, tmp_path: Path, number: signal.Signals
) -> None:
    """No guest outlives it.  Ctrl-C and SIGTERM have it say what it has found, and add to it later."""
    if zvmlab_backend != QEMU:
        pytest.skip("only QEMU tells which code is executed, and puts guests back")
    corpus, log = tmp_path / "corpus", tmp_path / "log"
    # What runs the tests may ignore a signal, and its children with it.
    argv = ["env", "--default-signal=INT,TERM"]
    argv += command(zvmlab_kernel, tmp_path, "--seconds", str(SECONDS))
    with open(log, "wb") as said, subprocess.Popen(argv, stdout=said, stderr=said) as process:
        try:

            def has_cases() -> bool:
                assert process.poll() is None, log.read_text()
                return len(list(corpus.glob("*.json"))) >= ENOUGH

            wait_until(has_cases, "a few cases", log.read_text)
            guests = children(process)
            assert len(guests) == JOBS
            process.send_signal(number)
            assert exit_code(process, SECONDS) == HANDLED.get(number, -number)
        finally:
            process.kill()
        wait_until(lambda: not any(map(alive, guests)), "the end of its guests")
    figures = re.findall(r"^(\d+) cases,.* corpus (\d+),", log.read_text(), re.MULTILINE)
    kept = sorted(corpus.glob("*.json"))
    for file in kept:
        json.loads(file.read_text())
    before = 0
    if number in HANDLED:
        before = int(figures[-1][0])
        assert int(figures[-1][1]) == len(kept)

    done = run_within(SECONDS, command(zvmlab_kernel, tmp_path, "--cases", "1"), env=os.environ)
    assert done.returncode == 0, done.stderr
    (cases, size) = re.findall(rb"^(\d+) cases,.* corpus (\d+),", done.stdout, re.MULTILINE)[-1]
    assert int(cases) == before + len(kept) + 1
    assert set(kept) <= set(corpus.glob("*.json"))
    assert 0 < int(size) <= len(kept) + 1
