# SPDX-License-Identifier: MIT
"""Small programs for the guest: tests/bench/guest/NAME.c, or those of the tests in guests."""

from __future__ import annotations

import subprocess
from pathlib import Path

from zvmlab.base.cache import digest, entry
from zvmlab.builder.image import COMPILER, compiler_version
from zvmlab.guest.guest import Guest

_TESTS = Path(__file__).parents[1]
_FOLDERS = (_TESTS / "bench/guest", _TESTS / "e2e/programs")
_SECONDS = 300.0


def guest_program(name: str) -> Path:
    """The executable, static, from the cache."""
    found = (folder / f"{name}.c" for folder in _FOLDERS)
    source = next(path for path in found if path.exists())

    def build(folder: Path) -> None:
        command = [COMPILER, "-static", "-O2", "-Wall", "-o", str(folder / name), str(source)]
        subprocess.run(command, check=True, timeout=_SECONDS)

    return entry("program", digest(name, compiler_version(), source), build, name)


def number(guest: Guest, *argv: str) -> int:
    """The number that a program prints."""
    return int(guest.agent.run(list(argv), timeout=_SECONDS).check().stdout)
