# SPDX-License-Identifier: MIT
"""Folders that one process of a run fills, and all that run tests read."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path

import pytest


def run_folder(request: pytest.FixtureRequest, factory: pytest.TempPathFactory) -> Path:
    """A folder of this run, the same one in all workers of pytest-xdist."""
    folder = factory.getbasetemp()
    return folder.parent if hasattr(request.config, "workerinput") else folder


def made_once(
    request: pytest.FixtureRequest,
    factory: pytest.TempPathFactory,
    name: str,
    make: Callable[[Path], None],
) -> Path:
    """The folder *name*, filled by who needs it first; others wait."""
    place = run_folder(request, factory)
    folder = place / name
    with open(place / f"{name}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            part = place / f"{name}.part"
            part.mkdir(exist_ok=True)
            make(part)
            part.rename(folder)
    return folder
