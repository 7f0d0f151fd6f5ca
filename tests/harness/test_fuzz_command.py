# SPDX-License-Identifier: MIT
"""What make fuzz says of its variables, before it builds anything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from zvmlab.base.tree import TREE


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--seconds", "2"], 0, ""),
        (["--seconds", "1"], 2, "fuzz: SECONDS must be at least 2, JOBS at least 1\n"),
        (
            ["--seconds", "3", "--shard", "1/2"],
            2,
            "fuzz: SECONDS must be at least 4, JOBS at least 1\n",
        ),
        (
            ["--seconds", "2", "--jobs", "0"],
            2,
            "fuzz: SECONDS must be at least 2, JOBS at least 1\n",
        ),
    ],
)
def test_options_are_looked_at_before_the_programs_are_there(
    tmp_path: Path, options: list[str], code: int, said: str
) -> None:
    argv = [sys.executable, str(TREE / "tests/fuzz/fuzz.py"), "--build", str(tmp_path), "--check"]
    done = subprocess.run(
        [*argv, *options, "dm_stats", "taskstats"],
        env={**os.environ, "PYTHONPATH": str(TREE / "harness")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stderr, done.stdout) == (code, said, "")
    assert list(tmp_path.iterdir()) == []
