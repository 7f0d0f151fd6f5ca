# SPDX-License-Identifier: MIT
"""A long run on a busy machine says why it took so long; others say nothing."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from zvmlab.base import busy
from zvmlab.base.busy import Busy


@pytest.fixture(name="pressure")
def _pressure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the kernel says of waiting programs, as the test has it."""
    path = tmp_path / "cpu"
    monkeypatch.setattr(busy, "PRESSURE", path)
    return path


def say(path: Path, microseconds: int) -> None:
    """As /proc/pressure/cpu has it."""
    path.write_text(
        f"some avg10=0.00 avg60=1.50 avg300=2.00 total={microseconds}\n"
        "full avg10=0.00 avg60=0.00 avg300=0.00 total=99999999999\n"
    )


@pytest.mark.parametrize(
    ("seconds", "waited", "said"),
    [
        (640, 557_000_000, "in 87% of the 640 s of this run, programs on it waited for a CPU"),
        (60, 30_000_000, "in 50% of the 60 s of this run"),
        (60, 90_000_000, "in 100% of the 60 s of this run"),
        (60, 29_000_000, None),
        (59, 59_000_000, None),
    ],
)
def test_explanation(
    pressure: Path, monkeypatch: pytest.MonkeyPatch, seconds: int, waited: int, said: str | None
) -> None:
    times = iter((100.0, 100.0 + seconds))
    monkeypatch.setattr(busy, "time", SimpleNamespace(monotonic=lambda: next(times)))
    say(pressure, 5_000_000)
    run = Busy()
    say(pressure, 5_000_000 + waited)
    found = run.explanation()
    assert found is None if said is None else found is not None and said in found
    assert found is None or found.startswith("the machine was busy: ")


@pytest.mark.parametrize("text", [None, "", "nothing of that kind\n"])
def test_kernel_that_does_not_say(
    pressure: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    monkeypatch.setattr(busy, "LEAST_SECONDS", 0.0)
    if text is not None:
        pressure.write_text(text)
    assert Busy().explanation() is None
