# SPDX-License-Identifier: MIT
"""What all Python tests share."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester"]

# Jobs in the background of a shell ignore SIGINT; the tests ask what it does at a terminal.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Examples are the same in every run, so what fails here fails again: --hypothesis-profile explore
# takes new ones, and prints what reproduces a failure.  How long an example takes, or is looked for,
# depends on what else the machine does.  A short run takes a fifth of them: tests/harness/examples.py.
_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", _PATIENT, derandomize=True)
settings.register_profile("few", _PATIENT, derandomize=True, max_examples=20)
settings.register_profile("explore", _PATIENT, print_blob=True)
settings.load_profile("same")


def pytest_configure(config: pytest.Config) -> None:
    """Few examples for --short, unless a profile was asked for."""
    if config.getoption("--short", False) and not config.getoption("--hypothesis-profile", None):
        settings.load_profile("few")


_collected = False


@pytest.hookimpl(hookwrapper=True)  # type: ignore[misc]  # pluggy 1.0 has no types
def pytest_collection() -> Iterator[None]:
    """Nobody looks whether the tests are garbage: they stay, and it takes a tenth of the CPU time.

    Once a process: some tests run a pytest within theirs, and what that one leaves is garbage.
    """
    global _collected  # pylint: disable=global-statement
    first, _collected = not _collected, True
    if first:
        gc.disable()
    yield
    if first:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's settings must not change what a test sees."""
    for name in ("ZVMLAB_DEBUG", "NO_COLOR", "FORCE_COLOR", "LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
