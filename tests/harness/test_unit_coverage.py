# SPDX-License-Identifier: MIT
"""ci/coverage.py measures once, and says the same as long as everything is the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from zvmlab.base.tree import TREE

PROGRAM = "built/unit/test_base:tests/unit/lib/base/test_base.c"
MEASURE = """#!/bin/sh
echo measured >>{0}/runs
echo compiled
echo 'well:'
echo 'lines: 96 %'
echo table >{0}/table
exit $(cat {0}/code)
"""


class Measured:
    """A command that measures, and how often it did."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.command = folder / "measure"
        self.command.write_text(MEASURE.format(folder), encoding="utf-8")
        self.command.chmod(0o755)
        self.end_with(0)

    def end_with(self, code: int) -> None:
        """From now on."""
        (self.folder / "code").write_text(str(code), encoding="utf-8")

    def run(self, options: str = "gcc --coverage", *words: str) -> tuple[int, str, int]:
        """Return the exit code, what was said, and how often it was measured."""
        argv = [sys.executable, str(TREE / "ci/coverage.py"), *words, "--options", options]
        argv += ["--measure", str(self.command), "--first", "well:", PROGRAM]
        argv += ["--text", str(self.folder / "table")]
        cache = {"ZVMLAB_CACHE": str(self.folder / "cache"), "PYTHONPATH": str(TREE / "harness")}
        done = subprocess.run(
            argv,
            cwd=TREE,
            env={**os.environ, **cache},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert not done.stderr
        runs = (self.folder / "runs").read_text(encoding="utf-8").splitlines()
        return done.returncode, done.stdout, len(runs)


@pytest.fixture
def measured(tmp_path: Path) -> Measured:
    """Nothing has been measured."""
    return Measured(tmp_path)


def test_what_is_the_same_is_not_measured_again(measured: Measured) -> None:
    assert measured.run() == (0, "compiled\nwell:\nlines: 96 %\n", 1)
    table = measured.folder / "table"
    table.unlink()
    code, said, runs = measured.run()
    assert (code, runs) == (0, 1)
    assert said.startswith("well:\nlines: 96 %\ncoverage: not measured again: ")
    assert table.read_text(encoding="utf-8") == "table\n"
    assert measured.run("gcc --coverage", "--again")[2] == 2
    assert measured.run("gcc --coverage -O1")[2] == 3


def test_gate_that_was_not_passed_is_measured_again(measured: Measured) -> None:
    measured.end_with(2)
    for runs in (1, 2):
        assert measured.run() == (2, "compiled\nwell:\nlines: 96 %\n", runs)
