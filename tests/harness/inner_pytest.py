# SPDX-License-Identifier: MIT
"""A run of pytest within a test, as a foreign repository uses the plugin, on a fake emulator."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import pytest
from fake_guest import Fake
from preloaded import HARNESS, run_pytest

__all__ = ["HARNESS", "inner", "run", "run_here"]


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
    return run_here(pytester, *base, *kernel, *options)


def run_here(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    """Run the tests that the pytester has."""
    arguments = ["-p", "zvmlab.pytest_plugin", *options]
    print("running: pytest", *arguments)
    done = run_pytest(pytester.path, arguments, os.environ)
    sys.stdout.write(done.out)
    sys.stderr.write(done.err)
    code: int | pytest.ExitCode = done.code
    with suppress(ValueError):
        code = pytest.ExitCode(done.code)
    return pytest.RunResult(code, done.out.splitlines(), done.err.splitlines(), done.seconds)
