# SPDX-License-Identifier: MIT
"""Small programs for the guest, tests/bench/guest/NAME.c."""

from __future__ import annotations

import subprocess
from pathlib import Path

from zvmlab.base.cache import digest, entry
from zvmlab.builder.image import COMPILER, compiler_version
from zvmlab.guest.guest import Guest

_SOURCES = Path(__file__).parent / "guest"
_SECONDS = 300.0


def guest_program(name: str) -> Path:
    """The executable, static, from the cache."""
    source = _SOURCES / f"{name}.c"

    def build(folder: Path) -> None:
        command = [COMPILER, "-static", "-O2", "-Wall", "-o", str(folder / name), str(source)]
        subprocess.run(command, check=True, timeout=_SECONDS)

    return entry("program", digest(name, compiler_version(), source), build, name)


def number(guest: Guest, *argv: str) -> int:
    """The number that a program prints."""
    return int(guest.agent.run(list(argv), timeout=_SECONDS).check().stdout)
