# SPDX-License-Identifier: MIT
"""Rounds of tests beside busy programs: tests/stress.py."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

from zvmlab.base.tree import TREE

COMMAND = """
import os, sys
(half,) = [word for word in sys.argv if word.startswith(("--random-half=", "--build"))]
parent = os.getppid()
busy = []
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        stat = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
        if int(stat[1]) == parent and int(pid) != os.getpid():
            busy.append(pid)
    except OSError:
        pass
print(half, len(busy))
sys.exit(half.endswith("=5"))
"""


def test_each_round_has_a_seed_and_busy_programs(tmp_path: Path) -> None:
    """The middle one of three fails; what it needs is built before anything computes."""
    (tmp_path / "command.py").write_text(COMMAND, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(TREE / "tests/stress.py"), "--seed", "4", "--rounds", "3"]
        + ["--load", "2", "--", sys.executable, str(tmp_path / "command.py")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("--")] == [
        "--build-only 0",
        *(f"--random-half={seed} 2" for seed in (4, 5, 6)),
    ]
    assert lines[-1] == "stress: seed 5 failed; again: make check-stress SEED=5 ROUNDS=1"
    assert done.returncode == 1


LAST_WORDS = """
import sys, time
if "--build-only" in sys.argv:
    sys.exit()
try:
    print("it runs", flush=True)
    time.sleep(600)
except KeyboardInterrupt:
    # Longer than who starts it would wait by itself.
    time.sleep(1)
    print("its last words", flush=True)
    sys.exit(2)
"""


def test_round_that_is_interrupted_has_time_for_its_last_words(tmp_path: Path) -> None:
    """Ctrl-C goes to all of them; no round comes after it."""
    (tmp_path / "command.py").write_text(LAST_WORDS, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, str(TREE / "tests/stress.py"), "--seed", "4", "--load", "1"]
        + ["--", sys.executable, str(tmp_path / "command.py")],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout is not None
            lines = [process.stdout.readline(), process.stdout.readline()]
            os.killpg(process.pid, signal.SIGINT)
            lines += process.communicate(timeout=300)[0].splitlines(keepends=True)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert "".join(lines) == (
        "stress: seed 4\nit runs\nits last words\n"
        "stress: interrupted; what the last round has found stands above\n"
    )
    assert process.returncode == 128 + signal.SIGINT
