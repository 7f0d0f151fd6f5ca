# SPDX-License-Identifier: MIT
"""A test run of a minute or more says at its end how busy the machine was."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from zvmlab.pytest_plugin import machine_load
from zvmlab.pytest_plugin.machine_load import Used, sentence, used

pytest_plugins = ["pytester"]


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (Used(59.9, 10, 119), None),
        (Used(100, 30, None), "100 s, with 30 s of CPU time"),
        (
            Used(100, 60, 80),
            "100 s, with 60 s of CPU time; the machine was busy for 40% of that time",
        ),
        (
            Used(640, 320, 1216),
            "640 s, with 320 s of CPU time; the machine was busy for 95% of that time, 74% of it with"
            " other programs, which made this run slower",
        ),
        # Clocks are read one after the other.
        (
            Used(100, 201, 200.5),
            "100 s, with 201 s of CPU time; the machine was busy for 100% of that time",
        ),
    ],
)
def test_sentence(run: Used, said: str | None) -> None:
    assert sentence(run, 2) == said


def test_cpu_time_of_programs_that_have_ended_counts() -> None:
    """A program that takes a quarter of a second: of this run, and of the machine."""
    before = used()
    code = "import time\nwhile time.process_time() < 0.25: pass"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)
    found = used().since(before)
    assert found.own >= 0.25 - 2 / os.sysconf("SC_CLK_TCK")
    assert found.all is not None and found.all >= 0.2 and found.elapsed > 0.2


@pytest.mark.parametrize("text", [None, "", "intr 5\n", "cpu a b c d e f g\n", "cpu 1\n"])
def test_kernel_that_does_not_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    file = tmp_path / "stat"
    if text is not None:
        file.write_text(text, encoding="ascii")
    monkeypatch.setattr(machine_load, "STAT", str(file))
    assert used().all is None


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_last_line_of_a_run(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    """Once, also with pytest-xdist."""
    monkeypatch.setattr(machine_load, "LEAST_SECONDS", 0.0)
    pytester.makepyfile("def test_nothing(): pass")
    done = pytester.runpytest_inprocess("-p", "zvmlab.pytest_plugin.machine_load", *workers)
    done.assert_outcomes(passed=1)
    shown = [line for line in done.outlines if "s of CPU time" in line]
    assert len(shown) == 1
    below = done.outlines[done.outlines.index(shown[0]) + 1 :]
    assert all(not line or line.startswith("=") for line in below)
