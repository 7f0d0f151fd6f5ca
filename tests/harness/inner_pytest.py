# SPDX-License-Identifier: MIT
"""A run of pytest within a test, as a foreign repository uses the plugin, on a fake emulator."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_guest import Fake

HARNESS = Path(__file__).resolve().parents[2] / "harness"


@pytest.fixture
def inner(fake: Fake, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Other plugins and this run's options stay out of the inner run."""
    monkeypatch.setenv("PYTHONPATH", str(HARNESS))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    return fake


def run(fake: Fake, pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    """Run the tests that the pytester has, on a kernel called "kernel"."""
    kernel = ("--kernel", str(fake.folder / "kernel"))
    base = ("--basetemp", str(fake.folder / "inner"))
    return pytester.runpytest_subprocess("-p", "zvmlab.pytest_plugin", *base, *kernel, *options)
